//! [`Operator`]: what becomes of a value, as a call says it (Presidio REST API, "Anonymize").

use std::sync::Arc;

use data_encoding::BASE64URL;
use serde_json::Value;

use crate::api::error::Code;
use crate::api::fields::{Faults, ObjectFields};
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;
use crate::crypto::cbc::CbcKey;
use crate::redact::{Digest, Salted};

/// The longest text that stands for a value, in bytes, and the longest salt.
const LONGEST: usize = 4096;

/// The most operators in one call.
pub(super) const OPERATORS: usize = 1_000;

/// Whose operator is that of all entities without one of their own.
pub(super) const DEFAULT: &str = "DEFAULT";

/// What becomes of a value.
#[derive(Clone, Debug)]
pub(super) enum Operator {
    /// What the route's methods say.
    Route,
    /// Another text; without one the entity's name in angle brackets.
    Replace(Option<Arc<str>>),
    /// Nothing stands there.
    Redact,
    /// So many of its characters, from its beginning or end, are this one.
    Mask { with: Arc<str>, count: usize, from_end: bool },
    /// A digest under a salt; without one, under a key of the route's.
    Hash { digest: Digest, salt: Option<Secret<Vec<u8>>> },
    /// AES in CBC mode, in base64.
    Encrypt(CbcKey),
    /// It stays.
    Keep,
}

impl Operator {
    /// As answers name it. A surrogate that the route makes replaces the value: nothing that a caller has decrypts it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Route | Self::Replace(_) => "replace",
            Self::Redact => "redact",
            Self::Mask { .. } => "mask",
            Self::Hash { .. } => "hash",
            Self::Encrypt(_) => "encrypt",
            Self::Keep => "keep",
        }
    }

    /// What stands for `value`, whose digest goes by the salt `own` where the call has none; `None` where that is not said here.
    pub(super) fn apply(&self, entity: &str, value: &str, own: &Secret<Vec<u8>>) -> Option<String> {
        Some(match self {
            Self::Route => return None,
            Self::Replace(Some(text)) => text.to_string(),
            Self::Replace(None) => bracketed(entity),
            Self::Redact => String::new(),
            Self::Mask { with, count, from_end } => masked(value, with, *count, *from_end),
            Self::Hash { digest, salt } => {
                let salt = salt.as_ref().unwrap_or(own).clone();
                Salted { digest: *digest, salt }.apply(value)
            }
            Self::Encrypt(key) => BASE64URL.encode(&key.encrypt(value.as_bytes()).ok()?),
            Self::Keep => value.to_owned(),
        })
    }

    /// Whether nothing of a value is left, whatever it is.
    pub(super) fn hides_all(&self) -> bool {
        matches!(self, Self::Replace(_) | Self::Redact | Self::Hash { .. } | Self::Encrypt(_))
    }

    /// Whether equal values can be told by what stands for them.
    pub(super) fn tells_equals(&self) -> bool {
        matches!(self, Self::Hash { .. })
    }

    /// Reads one.
    pub(super) fn read(value: &Value, at: Pointer, faults: &mut Faults) -> Option<Self> {
        ObjectFields::within(value, &at, faults, |fields| {
            fields.nulls_are_absent();
            let kinds = [
                ("replace", Self::replace as OperatorReader),
                ("redact", |_| Self::Redact),
                ("mask", Self::mask),
                ("hash", Self::hash),
                ("encrypt", Self::encrypt),
                ("keep", |_| Self::Keep),
            ];
            fields.required("type");
            fields.one_of("type", &kinds).map(|read| read(fields))
        })
        .flatten()
    }

    fn replace(fields: &mut ObjectFields<'_>) -> Self {
        let text = fields.text_within("new_value", 0..=LONGEST);
        // An empty one is as good as none (Presidio, operator `replace`).
        Self::Replace(text.filter(|text| !text.is_empty()).map(Arc::from))
    }

    fn mask(fields: &mut ObjectFields<'_>) -> Self {
        let with = fields.text_within("masking_char", 1..=1).unwrap_or("*");
        // Any number, also one beyond a value's length.
        let count = fields.integer("chars_to_mask", 0);
        let count = count.map_or(usize::MAX, |count| count as usize);
        let from_end = fields.flag("from_end").unwrap_or(false);
        Self::Mask { with: Arc::from(with), count, from_end }
    }

    fn hash(fields: &mut ObjectFields<'_>) -> Self {
        let kinds = [("sha256", Digest::Sha256), ("sha512", Digest::Sha512)];
        let digest = fields.one_of("hash_type", &kinds).unwrap_or(Digest::Sha256);
        let salt = fields.text_within("salt", 0..=LONGEST).filter(|salt| !salt.is_empty());
        Self::Hash { digest, salt: salt.map(|salt| Secret::new(salt.as_bytes().to_vec())) }
    }

    fn encrypt(fields: &mut ObjectFields<'_>) -> Self {
        cbc_key(fields).map_or(Self::Redact, Self::Encrypt)
    }
}

/// The key of `encrypt` and `decrypt`.
pub(super) fn cbc_key(fields: &mut ObjectFields<'_>) -> Option<CbcKey> {
    let text = fields.required_text("key");
    let key = CbcKey::new(Secret::new(text.as_bytes().to_vec())).ok();
    if key.is_none() {
        fields.fault(Code::BadFormat, fields.at("key"), "must have 16, 24 or 32 bytes");
    }
    key
}

/// How a kind of operator is read.
type OperatorReader = fn(&mut ObjectFields<'_>) -> Operator;

/// An entity's name in angle brackets.
pub(super) fn bracketed(entity: &str) -> String {
    format!("<{entity}>")
}

fn masked(value: &str, with: &str, count: usize, from_end: bool) -> String {
    let length = value.chars().count();
    let count = count.min(length);
    let stays = if from_end { 0..length - count } else { count..length };
    let each = value.chars().enumerate();
    let mut text = String::with_capacity(value.len());
    for (at, character) in each {
        if stays.contains(&at) { text.push(character) } else { text.push_str(with) }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key() -> Secret<Vec<u8>> {
        Secret::new(vec![7; 32])
    }

    fn read(value: &Value) -> Result<Operator, usize> {
        let mut faults = Faults::default();
        let read = Operator::read(value, Pointer::root(), &mut faults);
        match (read, faults.close()) {
            (Some(operator), Ok(())) => Ok(operator),
            (_, Err(crate::api::ApiError::Validation(faults))) => Err(faults.len()),
            _ => Err(0),
        }
    }

    #[test]
    fn operators_do_what_their_members_say() {
        let rows = [
            (json!({ "type": "replace", "new_value": "BIP" }), "BIP"),
            (json!({ "type": "replace" }), "<E>"),
            (json!({ "type": "replace", "new_value": "" }), "<E>"),
            (json!({ "type": "redact" }), ""),
            (json!({ "type": "keep" }), "Zöe 1"),
            (json!({ "type": "mask", "masking_char": "#", "chars_to_mask": 3, "from_end": false }), "### 1"),
            (json!({ "type": "mask", "masking_char": "é", "chars_to_mask": 2, "from_end": true }), "Zöeéé"),
            (json!({ "type": "mask", "masking_char": "*", "chars_to_mask": 99, "from_end": true }), "*****"),
            (json!({ "type": "mask" }), "*****"),
        ];
        for (written, want) in rows {
            let done = read(&written).unwrap().apply("E", "Zöe 1", &key());
            assert_eq!(done.as_deref(), Some(want), "{written}");
        }
    }

    #[test]
    fn digests_differ_by_salt_and_never_go_by_the_value_alone() {
        let of = |written: Value| read(&written).unwrap().apply("E", "Zöe", &key()).unwrap();
        let texts = [
            of(json!({ "type": "hash" })),
            of(json!({ "type": "hash", "salt": "0123456789abcdef" })),
            of(json!({ "type": "hash", "salt": "0123456789abcdeg" })),
            of(json!({ "type": "hash", "hash_type": "sha512" })),
        ];
        assert_eq!(texts.each_ref().map(String::len), [64, 64, 64, 128]);
        for (at, one) in texts.iter().enumerate() {
            assert!(texts.iter().skip(at + 1).all(|other| other != one));
        }
        assert_eq!(of(json!({ "type": "hash" })), texts[0]);
    }

    #[test]
    fn what_is_no_operator_is_said_with_its_place() {
        for (written, faults) in [
            (json!({}), 1),
            (json!({ "type": "shred" }), 1),
            (json!({ "type": "custom", "lambda": "lambda x: x" }), 2),
            (json!({ "type": "encrypt" }), 2),
            (json!({ "type": "encrypt", "key": "short" }), 1),
            (json!({ "type": "mask", "masking_char": "ab" }), 1),
            (json!({ "type": "hash", "hash_type": "md5" }), 1),
            (json!({ "type": "mask", "chars_to_mask": -4 }), 1),
            (json!({ "type": "mask", "chars_to_mask": 0.9 }), 1),
            (json!("replace"), 1),
        ] {
            assert_eq!(read(&written).err(), Some(faults), "{written}");
        }
    }
}
