//! [`Selector`]: which versions of an item a call means. Source: the specification's `version` of `/v2/jwk/get` and
//! the wire contract's table of its forms.

/// Which versions a call means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selector {
    /// The newest.
    #[default]
    Current,
    /// All.
    All,
    /// This one, from 1.
    Number(u32),
    /// The nth from the end, from 1.
    FromEnd(u32),
    /// The last n, or all if there are fewer.
    Last(u32),
}

impl Selector {
    /// Reads the form in a string; the empty one means the newest. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" => return Some(Self::Current),
            "all" => return Some(Self::All),
            _ => {}
        }
        let (text, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
        let (text, range) = text.strip_suffix(':').map_or((text, false), |rest| (rest, true));
        let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        // No item has as many versions as do not fit: such a number is as good as the largest.
        let number = text.parse().unwrap_or(u32::MAX);
        match (plain && !text.is_empty(), negative, range) {
            (true, false, false) => Some(Self::Number(number)),
            (true, true, false) => Some(Self::FromEnd(number)),
            (true, true, true) => Some(Self::Last(number)),
            _ => None,
        }
    }

    /// Reads the form of an integer: a version, or below zero one from the end.
    pub fn of_integer(number: i64) -> Option<Self> {
        let size = u32::try_from(number.unsigned_abs()).unwrap_or(u32::MAX);
        match number {
            0 => None,
            1.. => Some(Self::Number(size)),
            _ => Some(Self::FromEnd(size)),
        }
    }

    /// Whether it can only mean one version.
    pub fn is_single(self) -> bool {
        !matches!(self, Self::All | Self::Last(_))
    }

    /// The first and the last version of `count` that it means. `None` if it means one that is not there.
    pub fn of(self, count: u32) -> Option<(u32, u32)> {
        let (first, last) = match self {
            Self::Current => (count, count),
            Self::All => (1, count),
            Self::Number(number) => (number, number),
            Self::FromEnd(back) => {
                let number = (count + 1).checked_sub(back)?;
                (number, number)
            }
            Self::Last(some) => ((count + 1).saturating_sub(some).max(1), count),
        };
        (first >= 1 && last <= count).then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_means_what_the_table_says() {
        let rows = [
            ("", Some(Some((5, 5)))),
            ("all", Some(Some((1, 5)))),
            ("1", Some(Some((1, 1)))),
            ("5", Some(Some((5, 5)))),
            ("6", Some(None)),
            ("99999999999999999999", Some(None)),
            ("-1", Some(Some((5, 5)))),
            ("-5", Some(Some((1, 1)))),
            ("-6", Some(None)),
            ("-2:", Some(Some((4, 5)))),
            ("-99:", Some(Some((1, 5)))),
            ("-99999999999999999999:", Some(Some((1, 5)))),
            ("0", None),
            ("-0", None),
            ("01", None),
            ("1:", None),
            ("-", None),
            (":", None),
            ("-:", None),
            ("+1", None),
            ("--1", None),
            ("1 ", None),
            ("ALL", None),
            ("abc", None),
            ("\u{661}", None),
        ];
        for (text, meant) in rows {
            assert_eq!(Selector::parse(text).map(|selector| selector.of(5)), meant, "{text:?}");
        }
        assert_eq!(Selector::of_integer(-2), Selector::parse("-2"));
        assert_eq!(Selector::of_integer(3), Selector::parse("3"));
        assert_eq!(Selector::of_integer(0), None);
        assert_eq!(Selector::of_integer(i64::MIN).and_then(|selector| selector.of(5)), None);
    }
}
