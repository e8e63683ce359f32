//! What callers say of a list in the same way everywhere: [`TimeBounds`] of times, and in which [`Order`].

use crate::base::clock::Timestamp;

/// Where a time has to lie, in milliseconds. Without any bound it may lie anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeBounds {
    /// At this time.
    pub equal: Option<Timestamp>,
    /// After it.
    pub after: Option<Timestamp>,
    /// At or after it.
    pub from: Option<Timestamp>,
    /// Before it.
    pub before: Option<Timestamp>,
    /// At or before it.
    pub to: Option<Timestamp>,
}

/// Which way a list goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The smallest or earliest first.
    #[default]
    Ascending,
    /// The largest or latest first.
    Descending,
}

impl TimeBounds {
    /// The bound that a filter's suffix names: none, `gt`, `gte`, `lt` or `lte`; `None` for another.
    pub fn named(&mut self, suffix: &str) -> Option<&mut Option<Timestamp>> {
        Some(match suffix {
            "" => &mut self.equal,
            "gt" => &mut self.after,
            "gte" => &mut self.from,
            "lt" => &mut self.before,
            "lte" => &mut self.to,
            _ => return None,
        })
    }

    /// Whether a time lies there.
    pub fn takes(&self, time: Timestamp) -> bool {
        self.equal.is_none_or(|equal| time == equal)
            && self.after.is_none_or(|after| time > after)
            && self.from.is_none_or(|from| time >= from)
            && self.before.is_none_or(|before| time < before)
            && self.to.is_none_or(|to| time <= to)
    }
}

impl Order {
    /// Whether `place` comes behind `last`, the place where a page ended; every place is behind none.
    pub fn is_behind<T: Ord>(self, place: &T, last: Option<&T>) -> bool {
        last.is_none_or(|last| match self {
            Self::Ascending => place > last,
            Self::Descending => place < last,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_take_what_lies_within_all_of_them() {
        let rows = [("", [false, true, false]), ("gt", [false, false, true]), ("gte", [false, true, true])];
        let more = [("lt", [true, false, false]), ("lte", [true, true, false])];
        for (suffix, taken) in rows.into_iter().chain(more) {
            let mut bounds = TimeBounds::default();
            *bounds.named(suffix).unwrap() = Some(Timestamp::from_millis(5));
            assert_eq!([4, 5, 6].map(|time| bounds.takes(Timestamp::from_millis(time))), taken, "{suffix}");
        }
        assert!(TimeBounds::default().takes(Timestamp::from_millis(0)));
        assert_eq!(TimeBounds::default().named("eq"), None);
        let time = Timestamp::from_millis;
        let both = TimeBounds { after: Some(time(1)), to: Some(time(3)), ..TimeBounds::default() };
        assert_eq!([1, 2, 3, 4].map(|at| both.takes(time(at))), [false, true, true, false]);
    }

    #[test]
    fn a_page_begins_behind_the_one_before() {
        for (order, behind) in
            [(Order::Ascending, [false, false, true]), (Order::Descending, [true, false, false])]
        {
            assert_eq!([1, 2, 3].map(|place| order.is_behind(&place, Some(&2))), behind);
            assert!(order.is_behind(&1, None));
        }
    }
}
