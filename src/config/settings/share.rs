//! The share service.

use serde::Deserialize;

use crate::config::Spanned;

/// `[share]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Share {
    /// Who takes mails with links. Default: nobody, and none are sent.
    pub mail: Option<Mail>,
}

/// `[share.mail]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// A program and its arguments: it gets a mail (RFC 5322), whose `To` says to whom, at its standard input.
    pub command: Spanned<Vec<String>>,
    /// The address that mails come from.
    pub from: Spanned<String>,
}
