//! What is found, beside the built-in rules, and what may pass.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::At;
use crate::detect::Rule;

/// `[detect]`. It holds for every route and for our own endpoints, and is read again on a reload.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Detect {
    /// Rule files, or folders whose files `*.toml` are rule files.
    pub rule_files: Vec<At<PathBuf>>,
    /// Rules as in a rule file; see [`Catalogue::extend`](crate::detect::Catalogue::extend).
    pub rule: Vec<At<Rule>>,
    /// Values that pass though a rule finds them.
    pub allow: Vec<At<Allowed>>,
    /// Scores from 0 to 1 below which a rule's findings do not count, in place of the rule's own.
    pub thresholds: BTreeMap<At<String>, At<f32>>,
}

/// `[[detect.allow]]`: whole values, never parts of them.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allowed {
    /// These values.
    pub values: Vec<String>,
    /// Whether upper and lower case are one in `values`.
    pub any_case: bool,
    /// Values that this regular expression matches from end to end.
    pub pattern: Option<At<String>>,
    /// Only where one of these rules finds them. `None`: whichever does.
    pub rules: Option<Vec<At<String>>>,
    /// Why; for people.
    pub reason: String,
}

// Allowed values are nobody's business either.
impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allowed({} values)", self.values.len())
    }
}
