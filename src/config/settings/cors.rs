//! Which pages of other origins may call a route from a browser.

use serde::Deserialize;

use crate::config::settings::HttpMethod;
use crate::config::{Period, Spanned};
use crate::gateway::origin::OriginRule;

/// `[routes.cors]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cors {
    /// At least one: these, those below a name (`https://*.example.com`), or `*` alone: all.
    pub origins: Spanned<Vec<Spanned<OriginRule>>>,
    /// Methods that pages may use. `None`: those that the route takes.
    #[serde(default)]
    pub methods: Option<Spanned<Vec<Spanned<HttpMethod>>>>,
    /// Headers that pages may send. `None`: any.
    #[serde(default)]
    pub headers: Option<Spanned<Vec<Spanned<String>>>>,
    /// Headers of answers that pages may read, besides those that they always may; or `*` alone: all.
    #[serde(default)]
    pub expose: Vec<Spanned<String>>,
    /// Whether browsers send cookies and client certificates along; then no `*` means all.
    #[serde(default)]
    pub credentials: Spanned<bool>,
    /// How long browsers remember this. Default 10 min.
    #[serde(default = "ten_minutes")]
    pub max_age: Spanned<Period>,
}

fn ten_minutes() -> Spanned<Period> {
    Spanned::new(Period::secs(10 * 60))
}
