//! Surnames of the persons that were found by their whole names: who is `Rosalyn Abernathy` is `Abernathy`, too, also where
//! no rule knows the word.

use crate::detect::{Family, surname};
use crate::redact::redactor::Redactor;
use crate::redact::value::FoundValue;

/// The texts by which values are known, each with the number of its value.
pub(super) fn known_by(
    redactors: &[Redactor],
    values: &[FoundValue],
) -> impl Iterator<Item = (Box<[u8]>, u32)> {
    let texts = |(value, n): (&FoundValue, u32)| {
        let surname = surname_of(redactors, value).map(|surname| (surname.as_bytes().into(), n));
        [Some((value.original.as_bytes().into(), n)), surname].into_iter().flatten()
    };
    values.iter().zip(0..).flat_map(texts)
}

/// The surname by which a value is known, if it is a person's whole name.
fn surname_of<'v>(redactors: &[Redactor], value: &'v FoundValue) -> Option<&'v str> {
    let redactor = redactors.get(value.place.redactor)?;
    let person = redactor.detector.rule(value.rule).family() == Family::Person;
    if person && !value.place.number { surname(&value.original) } else { None }
}
