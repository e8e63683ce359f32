//! Fields of heads that the file sets: their names and values.

use http::{HeaderName, HeaderValue};

use crate::config::credential::Credential;
use crate::config::diagnostics::Diagnostics;
use crate::config::spanned::Spanned;
use crate::config::supplied::Supplied;

/// Fields that belong to one connection or to the body's framing (RFC 9110 sections 7.6.1 and 8.6, RFC 9112
/// section 6): the gateway writes them itself.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A name as many servers read it, for which an underscore is a hyphen: to them, two that are alike then are one.
pub(super) fn plain(name: &HeaderName) -> String {
    name.as_str().replace('_', "-")
}

/// The name of a field that may be set; what is wrong with any other is said.
pub(super) fn name(written: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<HeaderName> {
    let place = written.span().start;
    match HeaderName::from_bytes(written.as_bytes()) {
        Ok(name) if OURS.contains(&plain(&name).as_str()) => {
            diagnostics.say(place, format!("`{name}` is written by the gateway itself"));
            None
        }
        Ok(name) => Some(name),
        Err(_) => {
            diagnostics.say(place, "not a field name (RFC 9110 section 5.1)");
            None
        }
    }
}

/// Says what is wrong with a field's value.
pub(super) fn value(value: &Spanned<Supplied>, diagnostics: &mut Diagnostics) {
    text(value.value().expose(), value.span().start, diagnostics);
}

/// The same of a value that may be in the vault: then of what stands before it.
pub(super) fn credential(value: &Spanned<Credential>, diagnostics: &mut Diagnostics) {
    let written = match &**value {
        Credential::Supplied(supplied) => supplied.value().expose(),
        Credential::Vault { prefix, .. } => prefix,
    };
    text(written, value.span().start, diagnostics);
}

fn text(text: &str, place: usize, diagnostics: &mut Diagnostics) {
    if HeaderValue::from_str(text).is_err() {
        diagnostics.say(place, "not a field value: line breaks and control characters are refused");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_how_a_message_is_read_is_not_set_under_any_spelling() {
        for (name, fine) in [
            ("x-user", true),
            ("x_user", true),
            ("content-length", false),
            ("Content_Length", false),
            ("TRANSFER_ENCODING", false),
            ("te", false),
            ("keep_alive", false),
            ("x y", false),
            ("", false),
            ("x:y", false),
            ("x\r\ny", false),
        ] {
            let mut diagnostics = Diagnostics::default();
            assert_eq!(
                super::name(&Spanned::new(name.to_owned()), &mut diagnostics).is_some(),
                fine,
                "{name:?}"
            );
        }
    }
}
