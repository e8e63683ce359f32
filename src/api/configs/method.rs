//! The redaction method as the API writes it: [`MethodSpec`], in stored configs and as an override of a call. Source:
//! the vendor's OpenAPI schema `redact-redaction`; what it leaves open is decided in this project's wire contract.

use std::fmt;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::error::Code;
use crate::api::fields::{Faults, ObjectFields};
use crate::base::pointer::Pointer;
use crate::redact::Alphabet;

/// The longest replacement, in characters: it is written once for each finding.
const REPLACEMENT: usize = 1024;

/// The longest tweak, in bytes.
const TWEAK: usize = 32;

/// Bytes of a tweak that is given as plain letters and digits.
const PLAIN_TWEAK: usize = 7;

/// The most characters that a partial mask may leave alone.
const IGNORED: usize = 256;

/// Where a method is written, which decides what it may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodPlace {
    /// In a call: `replacement` says with what.
    InRequest,
    /// In a stored config: `replacement` by itself is `<RULE>`, with the rule's name.
    InConfig,
}

/// What becomes of a rule's findings, as data. Read from a request with [`MethodSpec::read`]; serde's reading is for
/// what was stored, and checks no bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "redaction_type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MethodSpec {
    /// One masking character for each character.
    Mask,
    /// A text in place of each value.
    Replacement {
        /// The text; `None` for the rule's name in angle brackets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redaction_value: Option<String>,
    },
    /// Some characters masked and some not.
    PartialMasking {
        /// Which ones.
        partial_masking: PartialMasking,
    },
    /// A salted hash in hex.
    Hash {
        /// Which one.
        #[serde(default)]
        hash: HashSpec,
    },
    /// The value stays and is reported.
    DetectOnly,
    /// A surrogate of the same format, by format-preserving encryption.
    Fpe {
        /// The characters that are encrypted; others stay.
        #[serde(default)]
        fpe_alphabet: Alphabet,
        /// Given openly; `None`: from the vault, or derived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fpe_tweak: Option<FpeTweak>,
        /// The id of the vault's secret that is the tweak.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fpe_tweak_vault_secret_id: Option<String>,
    },
}

/// Which characters of a value are masked. Counts are of characters that are not ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartialMasking {
    /// Whether the counts that hold are those of what stays or of what is masked.
    pub masking_type: MaskingType,
    /// Characters that stay at the beginning, with [`MaskingType::Unmask`].
    #[serde(skip_serializing_if = "is_zero")]
    pub unmasked_from_left: u32,
    /// Characters that stay at the end, with [`MaskingType::Unmask`].
    #[serde(skip_serializing_if = "is_zero")]
    pub unmasked_from_right: u32,
    /// Characters masked at the beginning, with [`MaskingType::Mask`].
    #[serde(skip_serializing_if = "is_zero")]
    pub masked_from_left: u32,
    /// Characters masked at the end, with [`MaskingType::Mask`].
    #[serde(skip_serializing_if = "is_zero")]
    pub masked_from_right: u32,
    /// Characters that always stay, and are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chars_to_ignore: Vec<char>,
    /// Stands for each masked character.
    pub masking_char: char,
}

impl Default for PartialMasking {
    fn default() -> Self {
        Self {
            masking_type: MaskingType::Unmask,
            unmasked_from_left: 0,
            unmasked_from_right: 0,
            masked_from_left: 0,
            masked_from_right: 0,
            chars_to_ignore: Vec::new(),
            masking_char: '*',
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What a [`PartialMasking`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskingType {
    /// All is masked but what is counted.
    #[default]
    Unmask,
    /// Only what is counted is masked.
    Mask,
}

/// A hash method's own settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HashSpec {
    /// The hash below the HMAC.
    pub hash_type: HashType,
}

/// A hash function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HashType {
    /// RFC 1321.
    Md5,
    /// FIPS 180-4.
    #[default]
    Sha256,
}

/// A tweak as it was given: seven letters and digits, or base64 (RFC 4648 section 4) of 1 to 32 bytes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FpeTweak(String);

impl FpeTweak {
    /// `None` if the text is neither of the two forms.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = decoded(text)?;
        (1..=TWEAK).contains(&bytes.len()).then(|| Self(text.to_owned()))
    }

    /// The tweak: 1 to 32 bytes.
    pub fn bytes(&self) -> Vec<u8> {
        // It was decoded before.
        decoded(&self.0).unwrap_or_default()
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    if text.len() == PLAIN_TWEAK && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Some(text.as_bytes().to_vec());
    }
    BASE64.decode(text.as_bytes()).ok()
}

impl TryFrom<String> for FpeTweak {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a tweak")
    }
}

impl From<FpeTweak> for String {
    fn from(tweak: FpeTweak) -> Self {
        tweak.0
    }
}

// Not a key, but nobody's business either.
impl fmt::Debug for FpeTweak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FpeTweak(..)")
    }
}

#[derive(Clone, Copy)]
enum Type {
    Mask,
    Replacement,
    PartialMasking,
    Hash,
    DetectOnly,
    Fpe,
}

const TYPES: &[(&str, Type)] = &[
    ("mask", Type::Mask),
    ("replacement", Type::Replacement),
    ("partial_masking", Type::PartialMasking),
    ("hash", Type::Hash),
    ("detect_only", Type::DetectOnly),
    ("fpe", Type::Fpe),
];

impl MethodSpec {
    /// The id of the vault's item that it names, if it does.
    pub fn tweak_item(&self) -> Option<&str> {
        match self {
            Self::Fpe { fpe_tweak_vault_secret_id, .. } => fpe_tweak_vault_secret_id.as_deref(),
            _ => None,
        }
    }

    /// Whether a value, or a part of it, stays readable.
    pub fn leaves_something(&self) -> bool {
        match self {
            Self::DetectOnly | Self::PartialMasking { .. } => true,
            Self::Mask | Self::Replacement { .. } | Self::Hash { .. } | Self::Fpe { .. } => false,
        }
    }

    /// Reads the method object `value` at the place `at` of a body. Members that are null are as good as absent, and
    /// those that belong to another type of method are checked and left out. `None` with a fault in `faults`
    /// where there is no method to speak of; a method with any other fault may come back, for the caller to drop.
    pub fn read(value: &Value, at: &Pointer, faults: &mut Faults, written: MethodPlace) -> Option<Self> {
        ObjectFields::within(value, at, faults, |fields| {
            fields.nulls_are_absent();
            Self::of(fields, written)
        })
        .flatten()
    }

    /// Reads all that a method may have, beside whatever else the object has.
    pub fn of(fields: &mut ObjectFields<'_>, written: MethodPlace) -> Option<Self> {
        const TYPE: &str = "redaction_type";
        let kind = fields.required(TYPE).and_then(|_| fields.one_of(TYPE, TYPES));
        let value = fields.text_within("redaction_value", 0..=REPLACEMENT).map(str::to_owned);
        let partial = fields.object("partial_masking", PartialMasking::of);
        let hash = fields.object("hash", HashSpec::of).unwrap_or_default();
        let alphabets = Alphabet::ALL.map(|alphabet| (alphabet.name(), alphabet));
        let fpe_alphabet = fields.one_of("fpe_alphabet", &alphabets).unwrap_or_default();
        let fpe_tweak = tweak(fields);
        let secret = fields.text_within("fpe_tweak_vault_secret_id", 1..=64).map(str::to_owned);
        let needs = |fields: &mut ObjectFields<'_>, name: &'static str| {
            if fields.member(name).is_none() {
                fields.fault(Code::FieldRequired, fields.at(name), "this type of redaction needs it");
            }
        };
        match kind? {
            Type::Mask => Some(Self::Mask),
            Type::Replacement => {
                if written == MethodPlace::InRequest {
                    needs(fields, "redaction_value");
                }
                Some(Self::Replacement { redaction_value: value })
            }
            Type::PartialMasking => {
                needs(fields, "partial_masking");
                partial.map(|partial_masking| Self::PartialMasking { partial_masking })
            }
            Type::Hash => Some(Self::Hash { hash }),
            Type::DetectOnly => Some(Self::DetectOnly),
            Type::Fpe => Some(Self::Fpe { fpe_alphabet, fpe_tweak, fpe_tweak_vault_secret_id: secret }),
        }
    }
}

fn tweak(fields: &mut ObjectFields<'_>) -> Option<FpeTweak> {
    let tweak = FpeTweak::parse(fields.text("fpe_tweak")?);
    if tweak.is_none() {
        let detail = "must be 7 letters and digits, or base64 of at most 32 bytes";
        fields.fault(Code::BadFormatBase64, fields.at("fpe_tweak"), detail);
    }
    tweak
}

impl HashSpec {
    fn of(fields: &mut ObjectFields<'_>) -> Self {
        let types = [("md5", HashType::Md5), ("sha256", HashType::Sha256)];
        Self { hash_type: fields.one_of("hash_type", &types).unwrap_or_default() }
    }
}

impl PartialMasking {
    fn of(fields: &mut ObjectFields<'_>) -> Self {
        let types = [("unmask", MaskingType::Unmask), ("mask", MaskingType::Mask)];
        Self {
            masking_type: fields.one_of("masking_type", &types).unwrap_or_default(),
            unmasked_from_left: fields.integer("unmasked_from_left", 0).unwrap_or_default(),
            unmasked_from_right: fields.integer("unmasked_from_right", 0).unwrap_or_default(),
            masked_from_left: fields.integer("masked_from_left", 0).unwrap_or_default(),
            masked_from_right: fields.integer("masked_from_right", 0).unwrap_or_default(),
            chars_to_ignore: fields.array("chars_to_ignore", IGNORED, one_char).unwrap_or_default(),
            masking_char: masking_char(fields).unwrap_or('*'),
        }
    }
}

/// Some clients write the one character as a list of one.
fn masking_char(fields: &mut ObjectFields<'_>) -> Option<char> {
    const NAME: &str = "masking_char";
    let value = fields.member(NAME)?;
    if !value.is_array() {
        let at = fields.at(NAME);
        return one_char(value, at, fields.faults());
    }
    let chars = fields.array(NAME, 1, one_char)?;
    if value.as_array().is_some_and(Vec::is_empty) {
        fields.fault(Code::BelowMinItems, fields.at(NAME), "must have one item");
    }
    chars.first().copied()
}

fn one_char(value: &Value, at: Pointer, faults: &mut Faults) -> Option<char> {
    let Some(text) = value.as_str() else {
        faults.wrong(value, at, Code::InvalidString, "must be a string of one character");
        return None;
    };
    faults.length(text, at, &(1..=1)).then(|| text.chars().next()).flatten()
}

#[cfg(test)]
#[path = "method_tests.rs"]
mod tests;
