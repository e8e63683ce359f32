//! What the lists of this service have in common: which texts and numbers a filter takes, and a page of what it took.

use data_encoding::BASE64URL_NOPAD;

use crate::api::error::Code;
use crate::api::fields::ObjectFields;

/// The most texts of one member of a filter.
const TEXTS: usize = 1000;

/// The most rows on one page.
const SIZE: usize = 1000;

/// What a text has to be: this, one of these, with each of these in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    equal: Option<String>,
    one_of: Option<Vec<String>>,
    contains: Vec<String>,
}

/// Where a number has to lie: at, after, from, before, to.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers([Option<u64>; 5]);

/// Which rows of an ordered list.
#[derive(Clone, Debug, Default)]
pub(super) struct PageBounds {
    last: Option<String>,
    descending: bool,
    size: Option<u32>,
}

impl Texts {
    pub(super) fn read(fields: &mut ObjectFields<'_>, equal: &'static str, more: [&'static str; 2]) -> Self {
        let [one_of, contains] = more;
        Self {
            equal: fields.text(equal).map(str::to_owned),
            one_of: texts(fields, one_of),
            contains: texts(fields, contains).unwrap_or_default(),
        }
    }

    /// Whether a text that may be absent is it: one that is is none that is said.
    pub(super) fn take_any(&self, text: Option<&str>) -> bool {
        let any = self.equal.is_none() && self.one_of.is_none() && self.contains.is_empty();
        text.map_or(any, |text| self.take(text))
    }

    pub(super) fn take(&self, text: &str) -> bool {
        self.equal.as_ref().is_none_or(|equal| equal == text)
            && self.one_of.as_ref().is_none_or(|texts| texts.iter().any(|one| one == text))
            && self.contains.iter().all(|part| text.contains(part.as_str()))
    }
}

impl Numbers {
    pub(super) fn take(&self, number: u64) -> bool {
        let [equal, after, from, before, to] = self.0;
        equal.is_none_or(|equal| number == equal)
            && after.is_none_or(|after| number > after)
            && from.is_none_or(|from| number >= from)
            && before.is_none_or(|before| number < before)
            && to.is_none_or(|to| number <= to)
    }

    pub(super) fn integers(fields: &mut ObjectFields<'_>, names: [&'static str; 5]) -> Self {
        Self(names.map(|name| fields.integer(name, 0).map(u64::from)))
    }

    /// Whether a number that may be absent lies there: one that is lies nowhere that is said.
    pub(super) fn take_any(&self, number: Option<u64>) -> bool {
        number.map_or(self.0 == [None; 5], |number| self.take(number))
    }

    pub(super) fn times(fields: &mut ObjectFields<'_>, names: [&'static str; 5]) -> Self {
        Self(names.map(|name| fields.time(name).map(|time| time.as_millis())))
    }
}

/// An array of texts.
pub(super) fn texts(fields: &mut ObjectFields<'_>, name: &'static str) -> Option<Vec<String>> {
    fields.array(name, TEXTS, |value, at, faults| {
        if !value.is_string() {
            faults.wrong(value, at, Code::InvalidString, "must be a string");
        }
        value.as_str().map(str::to_owned)
    })
}

impl PageBounds {
    /// `last`, `order` and `size`.
    pub(super) fn read(fields: &mut ObjectFields<'_>) -> Self {
        let last = fields.text("last").filter(|text| !text.is_empty()).map(|text| {
            BASE64URL_NOPAD.decode(text.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        });
        if matches!(last, Some(None)) {
            fields.fault(Code::BadFormat, fields.at("last"), "must be `last` of the page before");
        }
        Self {
            last: last.flatten(),
            descending: fields.one_of("order", &[("asc", false), ("desc", true)]).unwrap_or_default(),
            size: fields.integer("size", 1),
        }
    }

    /// The page of these rows, each with its place, and what [`PageBounds::read`] has to read as `last` for the next one.
    pub(super) fn of<T>(&self, mut placed: Vec<(String, T)>) -> (Vec<T>, Option<String>) {
        placed.sort_by(|a, b| if self.descending { b.0.cmp(&a.0) } else { a.0.cmp(&b.0) });
        placed.retain(|(place, _)| {
            self.last.as_ref().is_none_or(|last| if self.descending { place < last } else { place > last })
        });
        let size = self.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(SIZE).min(SIZE);
        let more = placed.len() > size;
        placed.truncate(size);
        let last = placed.last().filter(|_| more).map(|(place, _)| BASE64URL_NOPAD.encode(place.as_bytes()));
        (placed.into_iter().map(|(_, row)| row).collect(), last)
    }
}
