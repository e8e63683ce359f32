//! Programs that are asked what texts hold.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::config::settings::RemoteUrl;
use crate::config::{Period, Size, Spanned, Supplied};

/// `[analyzers.NAME]`: a program with the API of Presidio's analyzer, which is asked what texts hold where
/// `routes.redact.analyzers` or `api.analyzers` names it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analyzer {
    /// Where it is; it is asked at `/analyze` below that.
    pub url: Spanned<RemoteUrl>,
    /// Fields of the head, such as a key.
    #[serde(default)]
    pub headers: BTreeMap<String, Spanned<Supplied>>,
    /// What it is asked for, by its own names; what else it finds does not count.
    pub entities: Spanned<Vec<Spanned<String>>>,
    /// Rules that its findings are of, by its names for them. Default: the analyzer's name and the entity's, such as
    /// `PRESIDIO_PERSON`.
    #[serde(default)]
    pub rules: BTreeMap<Spanned<String>, Spanned<String>>,
    /// What language it is told that texts are in. Default `en`.
    #[serde(default = "english")]
    pub language: Spanned<String>,
    /// From which score on its findings count, 0 to 1. Default 0.4.
    #[serde(default = "likely")]
    pub threshold: Spanned<f64>,
    /// How long all texts of one request may take it together. Default 5 s.
    #[serde(default = "five_seconds")]
    pub timeout: Spanned<Period>,
    /// Questions under way at once, of all requests together. Default 8.
    #[serde(default = "eight")]
    pub concurrency: Spanned<usize>,
    /// What becomes of a request where it gives no answer that can be used.
    #[serde(default)]
    pub on_failure: AfterFailure,
    /// The longest text that it is asked about; a longer one is one that it does not answer. Default 1 MiB.
    #[serde(default = "mebibyte")]
    pub max_text: Spanned<Size>,
    /// How long its answers are kept in memory, without the texts; `0s`: not at all. Default 1 h.
    #[serde(default = "hour")]
    pub cache_for: Spanned<Period>,
}

/// What becomes of a request of which an analyzer does not say what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterFailure {
    /// It is refused.
    #[default]
    Refuse,
    /// It goes on with what the gateway's own detector found.
    Pass,
}

impl Analyzer {
    /// The rule that findings of `entity` are of.
    pub fn rule_of(&self, name: &str, entity: &str) -> String {
        match self.rules.get(entity) {
            Some(rule) => rule.to_string(),
            None => format!("{}{}", prefix(name), upper(entity)),
        }
    }

    /// Whether a rule has a name of those that only the analyzer `name` reports.
    pub fn is_own(name: &str, rule: &str) -> bool {
        rule.starts_with(&prefix(name))
    }
}

/// How names of rules begin that the analyzer `name` reports.
pub(crate) fn prefix(name: &str) -> String {
    format!("{}_", upper(name))
}

/// In upper snake case.
fn upper(name: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(upper).collect()
}

fn english() -> Spanned<String> {
    Spanned::new("en".to_owned())
}

fn likely() -> Spanned<f64> {
    Spanned::new(0.4)
}

fn five_seconds() -> Spanned<Period> {
    Spanned::new(Period::secs(5))
}

fn eight() -> Spanned<usize> {
    Spanned::new(8)
}

fn mebibyte() -> Spanned<Size> {
    Spanned::new(Size::mib(1))
}

fn hour() -> Spanned<Period> {
    Spanned::new(Period::secs(3600))
}
