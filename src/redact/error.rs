//! Why something could not be redacted. Nothing here holds a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::budget::Exhausted;
use crate::base::checkpoint::Stopped;
use crate::base::quota::QuotaExceeded;
use crate::crypto::fpe::FpeError;
use crate::stream::StreamError;
use crate::stream::json::{JsonError, MAX_DEPTH};

/// Why something could not be redacted. What fails is refused, never passed on as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The plan encrypts, and no key was handed in.
    #[error("no key to encrypt found values with")]
    NoKey,
    /// More distinct values than one document's `SurrogateMap` may hold.
    #[error("more found values than the limit of {values} or {bytes} bytes")]
    TooManyValues {
        /// The limit on distinct values.
        values: usize,
        /// The limit on their bytes, surrogates included.
        bytes: usize,
    },
    /// What was found may not pass.
    #[error("it holds what may not pass: {0}")]
    Blocked(BlockedRules),
    /// Not a JSON document; holds where and what kind of fault, no byte of it.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Documents within strings, or text in base64, one in another and each to be read: more than these.
    #[error(
        "JSON within strings, or text in base64, is nested deeper than {levels} levels, or JSON deeper than {MAX_DEPTH}"
    )]
    TooDeep {
        /// How many are opened.
        levels: usize,
    },
    /// An event stream that cannot be taken apart.
    #[error("not an event stream")]
    Events,
    /// A multipart body whose parts cannot be told apart.
    #[error("not a multipart body")]
    Multipart,
    /// The cipher refused.
    #[error("a found value cannot be encrypted: {0}")]
    Cipher(#[from] FpeError),
    /// Nobody waits for it any more, or it took too long.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// More of its text is new than a names model reads for one request.
    #[error("more text is new than the names model reads for one request")]
    Unread,
    /// A budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The caller has had as many different values encrypted or hashed as it may.
    #[error(transparent)]
    Spent(#[from] QuotaExceeded),
}

/// What was found that may not pass: how often, by rule. Shown, it names the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedRules(BTreeMap<Arc<str>, usize>);

impl BlockedRules {
    /// One finding of the rule of this name.
    pub(super) fn of(rule: &str) -> Self {
        Self([(rule.into(), 1)].into())
    }

    /// One more finding of the rule of this name.
    pub(super) fn add(&mut self, rule: &str) {
        *self.0.entry(rule.into()).or_default() += 1;
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules by name, in order, and how many findings they have.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(rule, count)| (&**rule, *count))
    }
}

impl std::fmt::Display for BlockedRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.0.keys().map(|name| &**name).collect();
        f.write_str(&names.join(", "))
    }
}

/// Why a body in whose strings too many encodings lie within one another is refused.
pub(super) const TOO_DEEP: &str = "an encoding in a string lies too deep within others";

impl From<RedactError> for StreamError {
    fn from(error: RedactError) -> Self {
        match error {
            RedactError::NoKey => Self::Replace("no key"),
            RedactError::TooManyValues { .. } => Self::Replace("too many different values"),
            RedactError::Blocked(rules) => Self::Blocked(rules.to_string()),
            RedactError::Json(_) => Self::Replace("not a JSON document"),
            RedactError::Multipart => Self::Replace("not a multipart body"),
            RedactError::Events => Self::Replace("not an event stream"),
            RedactError::TooDeep { .. } => Self::NotText(TOO_DEEP),
            RedactError::Cipher(_) => Self::Replace("the cipher refused"),
            RedactError::Stopped(_) => Self::Replace("stopped"),
            RedactError::Unread => Self::Replace("unread"),
            RedactError::Exhausted(exhausted) => Self::Exhausted(exhausted),
            RedactError::Spent(spent) => Self::Spent(spent),
        }
    }
}
