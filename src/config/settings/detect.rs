//! What is found, beside the built-in rules, and what may pass.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::{Size, Spanned};
use crate::detect::{OverLength, Rule};

/// `[detect]`. It holds for every route and for our own endpoints, and is read again on a reload.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Detect {
    /// Rule files, or folders whose files `*.toml` are rule files.
    pub rule_files: Vec<Spanned<PathBuf>>,
    /// Rules as in a rule file; see [`Catalogue::extend`](crate::detect::Catalogue::extend).
    pub rule: Vec<Spanned<Rule>>,
    /// Values that pass though a rule finds them.
    pub allow: Vec<Spanned<AllowedValues>>,
    /// Scores from 0 to 1 below which a rule's findings do not count, in place of the rule's own.
    pub thresholds: BTreeMap<Spanned<String>, Spanned<f32>>,
    /// The model that finds persons and places beside the lexicon.
    pub names: Names,
}

/// `[detect.names]`: off without a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Names {
    /// The folder that `examples/names-model` brings the model into, or the model's file in it.
    pub model: Option<Spanned<PathBuf>>,
    /// How sure the model must be of a name, from 0 to 1. In small letters three fifths of it do for a name that the
    /// lexicon has; for any other word, where the sentence begins with a capital, it is 0.85 at the least.
    pub threshold: Spanned<f32>,
    /// What is kept of what it said of texts, in bytes; what no entry fits into keeps nothing. Never the texts.
    pub cache: Size,
    /// Tokens of text not seen before that one request may have read.
    pub max_tokens: usize,
    /// What becomes of a request on a route with more new text than that: it is refused with 413, or the lexicon stands alone.
    pub beyond: OverLength,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            model: None,
            threshold: Spanned::new(0.5),
            cache: Size::mib(16),
            max_tokens: 16_384,
            beyond: OverLength::Refuse,
        }
    }
}

/// `[[detect.allow]]`: whole values, never parts of them.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AllowedValues {
    /// These values.
    pub values: Vec<String>,
    /// Whether upper and lower case are one in `values`.
    pub any_case: bool,
    /// Values that this regular expression matches from end to end.
    pub pattern: Option<Spanned<String>>,
    /// Only where one of these rules finds them. `None`: whichever does.
    pub rules: Option<Vec<Spanned<String>>>,
    /// Why; for people.
    pub reason: String,
}

// Allowed values are nobody's business either.
impl fmt::Debug for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allowed({} values)", self.values.len())
    }
}
