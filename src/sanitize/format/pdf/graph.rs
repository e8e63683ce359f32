//! Looking things up among objects. References lead anywhere, in circles too, and an entry may be of any type: what
//! is not there, or not of its type, reads as nothing.

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::sanitize::Rejection;

/// How deep arrays and dictionaries lie within each other at most; what lies deeper is dropped.
pub(super) const DEPTH: usize = 120;

static NULL: Object = Object::Null;

/// The object that a reference leads to.
pub(super) fn resolve<'a>(doc: &'a Document, object: &'a Object) -> &'a Object {
    doc.dereference(object).map_or(&NULL, |(_, object)| object)
}

/// An entry, resolved.
pub(super) fn entry<'a>(doc: &'a Document, dict: &'a Dictionary, key: &[u8]) -> &'a Object {
    dict.get(key).map_or(&NULL, |object| resolve(doc, object))
}

/// The dictionary of an object, a stream's too.
pub(super) fn dict(object: &Object) -> Option<&Dictionary> {
    match object {
        Object::Dictionary(dict) => Some(dict),
        Object::Stream(stream) => Some(&stream.dict),
        _ => None,
    }
}

/// The same, to be changed.
pub(super) fn dict_mut(object: &mut Object) -> Option<&mut Dictionary> {
    match object {
        Object::Dictionary(dict) => Some(dict),
        Object::Stream(stream) => Some(&mut stream.dict),
        _ => None,
    }
}

/// An entry that is a dictionary or a stream.
pub(super) fn sub<'a>(doc: &'a Document, holder: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
    dict(entry(doc, holder, key))
}

/// An entry that is a name; empty if it is none.
pub(super) fn name<'a>(doc: &'a Document, dict: &'a Dictionary, key: &[u8]) -> &'a [u8] {
    match entry(doc, dict, key) {
        Object::Name(name) => name,
        _ => b"",
    }
}

/// An entry that is a number.
pub(super) fn integer(doc: &Document, dict: &Dictionary, key: &[u8]) -> Option<i64> {
    match entry(doc, dict, key) {
        Object::Integer(n) => Some(*n),
        _ => None,
    }
}

/// An entry that is an array; empty if it is none.
pub(super) fn array<'a>(doc: &'a Document, dict: &'a Dictionary, key: &[u8]) -> &'a [Object] {
    match entry(doc, dict, key) {
        Object::Array(items) => items,
        _ => &[],
    }
}

/// An entry that is an array of `N` numbers.
pub(super) fn numbers<const N: usize>(doc: &Document, dict: &Dictionary, key: &[u8]) -> Option<[f64; N]> {
    let mut out = [0.0; N];
    let items = array(doc, dict, key);
    if items.len() != N {
        return None;
    }
    for (to, item) in out.iter_mut().zip(items) {
        *to = match resolve(doc, item) {
            Object::Integer(n) => *n as f64,
            Object::Real(n) => f64::from(*n),
            _ => return None,
        };
    }
    out.iter().all(|n| n.is_finite()).then_some(out)
}

/// The object at the end of a reference, by its number.
pub(super) fn target(doc: &Document, object: &Object) -> Option<ObjectId> {
    doc.dereference(object).ok().and_then(|(id, _)| id)
}

/// Adds an object under a number of its own.
///
/// # Errors
/// [`Rejection::OverLimit`] when there are no more numbers.
pub(super) fn add(doc: &mut Document, object: Object) -> Result<ObjectId, Rejection> {
    doc.try_add_object(object).map_err(|_| Rejection::OverLimit)
}

/// Every dictionary within an object, streams' own and nested ones, each with the key it stands under (none for the
/// object's own).
pub(super) fn each<'a>(
    object: &'a Object,
    key: &'a [u8],
    depth: usize,
    see: &mut dyn FnMut(&'a [u8], &'a Dictionary),
) {
    if depth == 0 {
        return;
    }
    if let Object::Array(items) = object {
        items.iter().for_each(|item| each(item, key, depth - 1, see));
    }
    if let Some(dict) = dict(object) {
        see(key, dict);
        dict.iter().for_each(|(key, value)| each(value, key, depth - 1, see));
    }
}

/// How much an object holds: the objects within it, and its text in units of a small one.
pub(super) fn weight(object: &Object) -> usize {
    let of = |dict: &Dictionary| dict.iter().map(|(_, value)| weight(value)).sum::<usize>();
    let within = match object {
        Object::Array(items) => items.iter().map(weight).sum(),
        Object::Dictionary(dict) => of(dict),
        Object::Stream(stream) => of(&stream.dict),
        Object::String(bytes, _) | Object::Name(bytes) => bytes.len() / 64,
        _ => 0,
    };
    within.saturating_add(1)
}
