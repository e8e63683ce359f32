//! Headers that a route sets, adds and removes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::config::{Spanned, Supplied};

/// `[routes.request_headers]` and `[routes.answer_headers]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeaderRules {
    /// Taken out, however often they are there.
    pub remove: Vec<Spanned<String>>,
    /// Put in the place of all that are there.
    pub set: BTreeMap<Spanned<String>, Spanned<Supplied>>,
    /// Put beside those that are there.
    pub add: BTreeMap<Spanned<String>, Spanned<Supplied>>,
}
