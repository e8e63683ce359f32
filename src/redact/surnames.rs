//! Surnames of the persons that were found by their whole names: who is `Rosalyn Abernathy` is `Abernathy`, too, also where
//! no rule knows the word.

use std::collections::HashSet;

use crate::detect::{Family, surname};
use crate::redact::redactor::Redactor;
use crate::redact::value::FoundValue;

/// The texts by which values are known, each with the number of its value; not those that are no names elsewhere.
pub(super) fn known_by(
    redactors: &[Redactor],
    values: &[FoundValue],
) -> impl Iterator<Item = (Box<[u8]>, u32)> {
    let texts = |(value, n): (&FoundValue, u32)| {
        let surname = surname_of(redactors, value).map(|surname| (surname.as_bytes().into(), n));
        [Some((value.original.as_bytes().into(), n)), surname].into_iter().flatten()
    };
    values.iter().zip(0..).filter(|(value, _)| !value.place.local).flat_map(texts)
}

/// The numbers of the values that are names only where they were found, and were not found elsewhere by more than a label.
pub(super) fn local(values: &[FoundValue]) -> HashSet<u32> {
    if !values.iter().any(|value| value.place.local) {
        return HashSet::new();
    }
    let others = values.iter().filter(|value| !value.place.local);
    let others: HashSet<&str> = others.map(|value| value.original.as_str()).collect();
    let local = |value: &FoundValue| value.place.local && !others.contains(value.original.as_str());
    values.iter().zip(0..).filter(|(value, _)| local(value)).map(|(_, number)| number).collect()
}

/// The surname by which a value is known, if it is a person's whole name.
fn surname_of<'v>(redactors: &[Redactor], value: &'v FoundValue) -> Option<&'v str> {
    let redactor = redactors.get(value.place.redactor)?;
    let person = redactor.detector.rule(value.rule).family() == Family::Person;
    if person && !value.place.number { surname(&value.original) } else { None }
}

#[cfg(test)]
mod tests {
    use crate::redact::fixture::{document, restored};
    use crate::stream::json::PathSet;

    #[test]
    fn a_surname_that_only_a_name_tells_is_replaced_there_alone() {
        for (doc, stays) in [
            (r#"{"jobs":[{"name":"Jenkins"}],"note":"Jenkins is down"}"#, true),
            (r#"{"jobs":[{"last_name":"Jenkins"}],"note":"Jenkins is down"}"#, false),
            (r#"{"jobs":[{"customer_name":"Jenkins"}],"note":"Jenkins is down"}"#, false),
            (r#"{"jobs":[{"name":"Jenkins"}],"by":"Mr. Jenkins","note":"Jenkins is down"}"#, false),
        ] {
            let (sent, _, undo) = document(doc, &PathSet::everything());
            assert!(!sent.contains(r#""Jenkins""#), "{sent}");
            assert_eq!(sent.contains("Jenkins is down"), stays, "{sent}");
            assert_eq!(restored(&sent, undo), doc);
        }
    }
}
