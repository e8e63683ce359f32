//! Parse, don't validate: reads the members of a JSON object into typed values and collects *all* faults, each with
//! its JSON Pointer. One fault for each place: a wrong type ends the checks there.

use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::ops::RangeInclusive;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::api::error::{ApiError, Code, Invalid, MAX_FAULTS};
use crate::api::json;
use crate::base::clock::Timestamp;
use crate::base::listing::{Order, TimeBounds};
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;

/// A fault of one member of the body.
pub(super) fn invalid(code: Code, member: &'static str, detail: &str) -> ApiError {
    ApiError::Validation(vec![Invalid::new(code, Pointer::root().key(member), detail)])
}

/// What is wrong with a body, as far as it was read; at most [`MAX_FAULTS`].
#[derive(Debug, Default)]
pub struct Faults(Vec<Invalid>);

impl Faults {
    /// Adds one.
    pub fn add(&mut self, code: Code, at: Pointer, detail: impl Into<String>) {
        if self.0.len() < MAX_FAULTS {
            self.0.push(Invalid::new(code, at, detail));
        }
    }

    /// Adds that `value` is not of the kind that `code` and `detail` say; null has a code of its own.
    pub fn wrong(&mut self, value: &Value, at: Pointer, code: Code, detail: &str) {
        match value {
            Value::Null => self.add(Code::InvalidNull, at, format!("must not be null; {detail}")),
            _ => self.add(code, at, detail),
        }
    }

    /// Whether `text` has so many characters; a fault if not.
    pub fn length(&mut self, text: &str, at: Pointer, length: &RangeInclusive<usize>) -> bool {
        let count = text.chars().count();
        if count < *length.start() {
            let detail = format!("must have at least {} characters", length.start());
            self.add(Code::BelowMinLength, at, detail);
        } else if count > *length.end() {
            self.add(Code::AboveMaxLength, at, format!("must have at most {} characters", length.end()));
        } else {
            return true;
        }
        false
    }

    /// A string; a fault if it is none.
    pub fn text<'a>(&mut self, value: &'a Value, at: Pointer) -> Option<&'a str> {
        let text = value.as_str();
        if text.is_none() {
            self.wrong(value, at, Code::InvalidString, "must be a string");
        }
        text
    }

    /// A time with an offset or `Z` (ISO 8601); a fault if it is none.
    pub fn time(&mut self, value: &Value, at: Pointer) -> Option<Timestamp> {
        let time = Timestamp::parse_iso8601(self.text(value, at.clone())?);
        if time.is_none() {
            self.add(Code::BadFormatDateTime, at, "must be a time like 2027-01-31T12:00:00Z");
        }
        time
    }

    /// Ends the collecting.
    ///
    /// # Errors
    /// All faults, in the order of their places.
    pub fn close(mut self) -> Result<(), ApiError> {
        if self.0.is_empty() {
            return Ok(());
        }
        self.0.sort_by(|a, b| a.source.cmp(&b.source));
        Err(ApiError::Validation(self.0))
    }
}

/// Reads one object's members.
pub struct ObjectFields<'a> {
    members: &'a Map<String, Value>,
    kept: &'a [(String, &'a RawValue)],
    at: Pointer,
    known: Vec<&'static str>,
    faults: Faults,
    nulls_are_absent: bool,
}

impl<'a> ObjectFields<'a> {
    /// Reads `body`, which must be an object.
    ///
    /// # Errors
    /// [`Code::InvalidObject`] at the whole body.
    pub fn of(body: &'a Value) -> Result<Self, ApiError> {
        Self::keeping(body, &[])
    }

    /// Reads `body`, of which some members were left as they are written.
    ///
    /// # Errors
    /// As [`ObjectFields::of`].
    pub fn keeping(body: &'a Value, kept: &'a [(String, &'a RawValue)]) -> Result<Self, ApiError> {
        match body {
            Value::Object(members) => {
                Ok(Self { kept, ..Self::new(members, Pointer::root(), Faults::default()) })
            }
            _ => Err(ApiError::Validation(vec![Invalid::body(
                Code::InvalidObject,
                "the body must be a JSON object",
            )])),
        }
    }

    fn new(members: &'a Map<String, Value>, at: Pointer, faults: Faults) -> Self {
        Self { members, kept: &[], at, known: Vec::new(), faults, nulls_are_absent: false }
    }

    /// Reads the object `value` at the place `at` of a body with `read`, members that it does not ask for included
    /// in `faults`. `None` if it is no object.
    pub fn within<R>(
        value: &'a Value,
        at: &Pointer,
        faults: &mut Faults,
        read: impl FnOnce(&mut Self) -> R,
    ) -> Option<R> {
        let Value::Object(members) = value else {
            faults.wrong(value, at.clone(), Code::InvalidObject, "must be an object");
            return None;
        };
        let mut fields = Self::new(members, at.clone(), mem::take(faults));
        let read = read(&mut fields);
        *faults = fields.finish();
        Some(read)
    }

    /// From now on members that are null are as good as absent: clients write out what they do not set.
    pub fn nulls_are_absent(&mut self) {
        self.nulls_are_absent = true;
    }

    /// The place of the member `name`.
    pub fn at(&self, name: &str) -> Pointer {
        self.at.key(name)
    }

    /// All members as they are; reading them asks for none.
    pub fn members(&self) -> &'a Map<String, Value> {
        self.members
    }

    /// The faults so far, to add to.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// A string that must be there. The value returned on a fault is never used: [`ObjectFields::close`] fails.
    pub fn required_text(&mut self, name: &'static str) -> &'a str {
        let value = self.required(name);
        value.and_then(|value| self.text_of(name, value)).unwrap_or_default()
    }

    /// Any JSON that must be there, as it is written; its endpoint keeps it ([`Endpoint::RAW`](super::Endpoint::RAW)).
    pub fn required_raw(&mut self, name: &'static str) -> &'a str {
        #[cfg(test)]
        crate::api::openapi::asked::note(&self.at, name);
        let found = self.kept.iter().find(|(key, _)| key == name);
        if found.is_none() {
            self.fault(Code::FieldRequired, self.at(name), format!("`{name}` is required"));
        }
        found.map_or("null", |(_, raw)| raw.get())
    }

    /// A secret that may be absent; its endpoint keeps it ([`Endpoint::RAW`](super::Endpoint::RAW)), and no copy of it is
    /// left behind.
    pub fn secret(&mut self, name: &'static str) -> Option<Secret<String>> {
        #[cfg(test)]
        crate::api::openapi::asked::note(&self.at, name);
        let (_, raw) = self.kept.iter().find(|(key, _)| key == name)?;
        // As long as it can be: a text that grows leaves copies behind.
        let mut text = String::with_capacity(raw.get().len());
        match raw.get() {
            "null" if self.nulls_are_absent => return None,
            "null" => self.fault(Code::InvalidNull, self.at(name), "must not be null; must be a string"),
            written => match json::unescape(written, |piece| text.push_str(piece)) {
                Some(()) => return Some(Secret::new(text)),
                None => self.fault(Code::InvalidString, self.at(name), "must be a string"),
            },
        }
        None
    }

    /// A secret that must be there.
    pub fn required_secret(&mut self, name: &'static str) -> Option<Secret<String>> {
        #[cfg(test)]
        crate::api::openapi::asked::note(&self.at, name);
        let there = self.kept.iter().find(|(key, _)| key == name).map(|(_, raw)| raw.get());
        match there {
            None => self.fault(Code::FieldRequired, self.at(name), format!("`{name}` is required")),
            Some("null") => self.fault(Code::InvalidNull, self.at(name), "must not be null"),
            Some(_) => return self.secret(name),
        }
        None
    }

    /// A string that may be absent.
    pub fn text(&mut self, name: &'static str) -> Option<&'a str> {
        let value = self.member(name)?;
        self.text_of(name, value)
    }

    /// A string of so many characters that may be absent.
    pub fn text_within(&mut self, name: &'static str, length: RangeInclusive<usize>) -> Option<&'a str> {
        let text = self.text(name)?;
        let at = self.at(name);
        self.faults.length(text, at, &length).then_some(text)
    }

    /// A boolean that may be absent.
    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        let value = self.member(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.wrong(name, value, Code::InvalidBool, "must be true or false");
        }
        flag
    }

    /// A whole number of at least `least` that may be absent.
    pub fn integer(&mut self, name: &'static str, least: u32) -> Option<u32> {
        let value = self.member(name)?;
        // JSON does not tell 3.0 from 3.
        let whole = value.as_f64().filter(|number| number.fract() == 0.0);
        let Some(number) = whole else {
            self.wrong(name, value, Code::InvalidInteger, "must be a whole number");
            return None;
        };
        let at = self.at(name);
        if number < f64::from(least) {
            self.faults.add(Code::IsTooSmall, at, format!("must be at least {least}"));
            return None;
        }
        let fits = value.as_u64().and_then(|number| u32::try_from(number).ok());
        // A fraction of zero: exact, since it is at most 2^32.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        let fits = fits.or_else(|| (number <= f64::from(u32::MAX)).then_some(number as u32));
        if fits.is_none() {
            self.faults.add(Code::IsTooBig, at, format!("must be at most {}", u32::MAX));
        }
        fits
    }

    /// A number within `range` that may be absent.
    pub fn number(&mut self, name: &'static str, range: RangeInclusive<f64>) -> Option<f64> {
        let value = self.member(name)?;
        let Some(number) = value.as_f64() else {
            self.wrong(name, value, Code::InvalidNumber, "must be a number");
            return None;
        };
        if !range.contains(&number) {
            let detail = format!("must lie between {} and {}", range.start(), range.end());
            self.fault(Code::NotWithinRange, self.at(name), detail);
            return None;
        }
        Some(number)
    }

    /// One of these words, by what it stands for, that may be absent.
    pub fn one_of<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        #[cfg(test)]
        crate::api::openapi::asked::words(&self.at(name), words);
        let text = self.text(name)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
        if found.is_none() {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.fault(Code::NotEnumMember, self.at(name), format!("must be one of {}", words.join(", ")));
        }
        found
    }

    /// A time with an offset or `Z` (ISO 8601) that may be absent.
    pub fn time(&mut self, name: &'static str) -> Option<Timestamp> {
        let value = self.member(name)?;
        self.faults.time(value, self.at.key(name))
    }

    /// Where a time has to lie: members for the same time, after it, from it on, before it, and up to it, each of
    /// which may be absent.
    pub fn bounds(&mut self, [equal, after, from, before, to]: &[&'static str; 5]) -> TimeBounds {
        TimeBounds {
            equal: self.time(equal),
            after: self.time(after),
            from: self.time(from),
            before: self.time(before),
            to: self.time(to),
        }
    }

    /// `order`, the way a list goes; the smallest first if it is absent.
    pub fn order(&mut self) -> Order {
        let orders = [("asc", Order::Ascending), ("desc", Order::Descending)];
        self.one_of("order", &orders).unwrap_or_default()
    }

    /// `last`, where the page before ended, read by `parse`. That of the last page is empty, which is the beginning
    /// again.
    pub fn last<T>(&mut self, parse: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let text = self.text("last").filter(|text| !text.is_empty())?;
        let last = parse(text);
        if last.is_none() {
            self.fault(Code::BadFormat, self.at("last"), "must be `last` of the page before");
        }
        last
    }

    /// An array of strings without repetition that may be absent. The index is each string's place in the body.
    pub fn names(&mut self, name: &'static str) -> Option<Vec<(usize, &'a str)>> {
        let value = self.member(name)?;
        let at = self.at(name);
        let Value::Array(items) = value else {
            self.wrong(name, value, Code::InvalidArray, "must be an array of strings");
            return None;
        };
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                None => self.faults.wrong(item, at.index(index), Code::InvalidString, "must be a string"),
                Some(text) if !seen.insert(text) => {
                    self.fault(Code::ItemNotUnique, at.index(index), "the same item twice");
                }
                Some(text) => names.push((index, text)),
            }
        }
        Some(names)
    }

    /// An array of at most `most` items, each read by `read`, that may be absent.
    pub fn array<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut read: impl FnMut(&'a Value, Pointer, &mut Faults) -> Option<T>,
    ) -> Option<Vec<T>> {
        let value = self.member(name)?;
        let at = self.at(name);
        let Value::Array(items) = value else {
            self.wrong(name, value, Code::InvalidArray, "must be an array");
            return None;
        };
        if items.len() > most {
            self.fault(Code::AboveMaxItems, at, format!("must have at most {most} items"));
            return None;
        }
        let faults = &mut self.faults;
        let items = items.iter().enumerate();
        Some(items.filter_map(|(index, item)| read(item, at.index(index), faults)).collect())
    }

    /// An object of any names, at most `most`, each member read by `read`, that may be absent.
    pub fn map<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut read: impl FnMut(&'a str, &'a Value, Pointer, &mut Faults) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let value = self.member(name)?;
        let at = self.at(name);
        let Value::Object(members) = value else {
            self.wrong(name, value, Code::InvalidObject, "must be an object");
            return None;
        };
        if members.len() > most {
            self.fault(Code::AboveMaxProperties, at, format!("must have at most {most} members"));
            return None;
        }
        let faults = &mut self.faults;
        let read = members
            .iter()
            .filter_map(|(key, value)| read(key, value, at.key(key), faults).map(|read| (key.clone(), read)));
        Some(read.collect())
    }

    /// An object with members of its own, read by `read`, that may be absent.
    pub fn object<R>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut ObjectFields<'a>) -> R,
    ) -> Option<R> {
        let value = self.member(name)?;
        let at = self.at(name);
        let nulls_are_absent = self.nulls_are_absent;
        Self::within(value, &at, &mut self.faults, |fields| {
            fields.nulls_are_absent = nulls_are_absent;
            read(fields)
        })
    }

    /// A member that a caller may not set.
    pub fn read_only(&mut self, name: &'static str) {
        if self.member(name).is_some() {
            self.fault(Code::IsReadOnly, self.at(name), "is set by the service");
        }
    }

    /// The member `name` as it is, if it is there: for what is read in no common way.
    pub fn member(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.members.get(name).filter(|value| !(self.nulls_are_absent && value.is_null()))
    }

    /// The member `name`, a fault if it is not there or null.
    pub fn required(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        let value = self.members.get(name);
        match value {
            Some(Value::Null) => self.fault(Code::InvalidNull, self.at(name), "must not be null"),
            Some(_) => return value,
            None => self.fault(Code::FieldRequired, self.at(name), format!("`{name}` is required")),
        }
        None
    }

    /// Adds a fault that only the caller can see.
    pub fn fault(&mut self, code: Code, at: Pointer, detail: impl Into<String>) {
        self.faults.add(code, at, detail);
    }

    /// Ends the reading: members that nobody asked for are faults too.
    ///
    /// # Errors
    /// All faults, in the order of their places.
    pub fn close(self) -> Result<(), ApiError> {
        self.finish().close()
    }

    /// Ends the reading as [`ObjectFields::close`] does, for who has more to check.
    pub fn finish(mut self) -> Faults {
        #[cfg(test)]
        self.known.iter().for_each(|name| crate::api::openapi::asked::note(&self.at, name));
        let strange = self.members.keys().filter(|key| !self.known.contains(&key.as_str()));
        for key in strange.take(MAX_FAULTS) {
            self.faults.add(Code::UnexpectedProperty, self.at.key(key), "there is no such property");
        }
        self.faults
    }

    fn text_of(&mut self, name: &'static str, value: &'a Value) -> Option<&'a str> {
        self.faults.text(value, self.at.key(name))
    }

    fn wrong(&mut self, name: &str, value: &Value, code: Code, detail: &str) {
        self.faults.wrong(value, self.at.key(name), code, detail);
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
