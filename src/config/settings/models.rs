//! Names of models of one's own, and the models that stand for them.

use serde::Deserialize;

use crate::config::Spanned;

/// `[models.NAME]`: a name that callers may ask for on routes that say so.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Models that stand for it, of one API; at least one. The first is chosen by weight, the others follow in this order.
    pub targets: Spanned<Vec<ModelTarget>>,
    /// When the next is tried. Default: on 429. What could not be sent always goes on.
    #[serde(default = "rate_limited")]
    pub fallback: Vec<FallbackOn>,
}

/// A model that stands for a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTarget {
    /// What its provider calls it.
    pub model: Spanned<String>,
    /// Where it is. Default: where the route leads.
    #[serde(default)]
    pub upstream: Option<Spanned<String>>,
    /// Its share of first tries; 0: it is only tried after others. Default 1.
    #[serde(default = "one")]
    pub weight: u32,
}

/// When the next model is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum FallbackOn {
    /// The provider has refused the request: 429.
    #[serde(rename = "429")]
    RateLimited,
    /// The provider failed, or its connection broke before it answered: the request may have been acted upon.
    #[serde(rename = "5xx")]
    ServerError,
    /// No byte of an answer came in time: the same.
    #[serde(rename = "timeout")]
    Timeout,
}

fn rate_limited() -> Vec<FallbackOn> {
    vec![FallbackOn::RateLimited]
}

fn one() -> u32 {
    1
}
