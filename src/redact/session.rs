//! [`Session`]: messages that come one after the other and belong together. A value has one surrogate in all of them, and
//! what was found in one is replaced in every later one.

use std::sync::Arc;

use crate::redact::carrier::Carrier;
use crate::redact::document::JsonDocument;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::pass::{PassResult, RedactionPass, ReplaceScope};
use crate::redact::plain::BodyText;
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::redact::urls::Hosts;
use crate::redact::values::PassValues;
use crate::stream::json::PathSet;

/// What the messages of a session have had replaced so far. In memory only, bounded by the limits of its messages, wiped
/// when dropped.
///
/// A message takes it and gives it back. One that cannot be redacted does not: what it has found is known to nobody, and
/// no other message may follow.
pub struct Session {
    known: PassValues,
    undo: Arc<SurrogateMap>,
    hosts: Hosts,
    limits: FindingLimits,
    bytes: usize,
}

impl Session {
    /// No message has come yet. `limits` counts the values of all of them together.
    pub fn new(limits: FindingLimits) -> Self {
        Self {
            known: PassValues::default(),
            undo: Arc::new(SurrogateMap::nothing()),
            hosts: Hosts::default(),
            limits,
            bytes: 0,
        }
    }

    /// The way back for all messages so far.
    pub fn undo(&self) -> &Arc<SurrogateMap> {
        &self.undo
    }

    /// What it takes to remember them, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Distinct values so far.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing was found yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Redactor {
    /// Redacts a message that is a JSON document, as [`Redactor::document`] does one. Every message of a session must come
    /// to the same redactor, with the same keys.
    ///
    /// # Errors
    /// As of [`Redactor::document`].
    pub fn document_in(
        &self,
        session: Session,
        message: &[u8],
        which: &PathSet,
        keys: &Keys,
    ) -> Result<(Redacted<Vec<u8>>, Session), RedactError> {
        let mut document = JsonDocument::new(message, which, session.limits);
        self.message(session, &mut document, keys)
    }

    /// The same with a message that is text, as [`Redactor::plain`] does one.
    ///
    /// # Errors
    /// As of [`Redactor::plain`].
    pub fn plain_in(
        &self,
        session: Session,
        message: &[u8],
        keys: &Keys,
    ) -> Result<(Redacted<Vec<u8>>, Session), RedactError> {
        self.message(session, &mut BodyText(message), keys)
    }

    fn message<C: Carrier>(
        &self,
        Session { known, mut undo, mut hosts, limits, mut bytes }: Session,
        carrier: &mut C,
        keys: &Keys,
    ) -> Result<(Redacted<C::Written>, Session), RedactError> {
        let passed = RedactionPass::by(self, keys, ReplaceScope::Everywhere).run_after(known, carrier)?;
        let PassResult { redacted, values, hosts: more } = passed;
        let before = hosts.len();
        hosts.extend(&more);
        if values.changed() || hosts.len() > before {
            undo = Arc::new(values.close(limits)?.among(&hosts));
            bytes = values.bytes();
        }
        Ok((redacted, Session { known: values.keep(), undo, hosts, limits, bytes }))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({} values)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture::{keys, redactor};
    use crate::redact::{AnswerEditor, Method};
    use crate::stream::{Editor, StreamError};

    /// The messages, one after the other, as they leave, and what the session knows then.
    fn sent(method: Method, messages: &[&str]) -> (Vec<String>, Session) {
        let (redactor, mut session) = (redactor(method), Session::new(FindingLimits::default()));
        let mut all = Vec::new();
        for message in messages {
            let done = match message.starts_with(['{', '[']) {
                true => redactor.document_in(session, message.as_bytes(), &PathSet::everything(), &keys()),
                false => redactor.plain_in(session, message.as_bytes(), &keys()),
            };
            let (redacted, next) = done.unwrap();
            all.push(String::from_utf8(redacted.into_value()).unwrap());
            session = next;
        }
        (all, session)
    }

    fn restored(session: &Session, text: &str) -> Result<String, StreamError> {
        let (mut editor, mut edits) = (AnswerEditor::restore(Arc::clone(session.undo())), Vec::new());
        editor.feed(text, &mut edits)?;
        editor.end(&mut edits)?;
        Ok(crate::edit::spliced_text(text, &edits))
    }

    #[test]
    fn a_value_has_one_surrogate_in_all_messages_and_all_come_back() {
        let messages = [
            r#"{"a":"mail jo@ab.de"}"#,
            "nothing here",
            r#"["jo@ab.de","call +1 212 736 5000","jo@ab.de"]"#,
            "once more: jo@ab.de",
        ];
        let (all, session) = sent(Method::Encrypt, &messages);
        let surrogate = all[0].trim_start_matches(r#"{"a":"mail "#).trim_end_matches(r#""}"#);
        assert!(surrogate.contains('@') && surrogate != "jo@ab.de", "{surrogate}");
        assert_eq!(all[1], messages[1]);
        assert_eq!(all[2].matches(surrogate).count(), 2, "{}", all[2]);
        assert_eq!(all[3], format!("once more: {surrogate}"));
        assert_eq!((session.len(), session.undo().len()), (2, 2));
        assert!(session.bytes() > messages[2].len());
        for (message, left) in messages.iter().zip(&all) {
            assert_eq!(restored(&session, left).unwrap(), **message);
        }
    }

    #[test]
    fn what_was_found_by_its_context_is_known_without_it_later() {
        for method in [Method::Encrypt, Method::Mask] {
            let (all, _) =
                sent(method, &[r#"["account no. 12345678"]"#, r#"{"n":12345678,"t":"12345678?"}"#]);
            assert!(!all.concat().contains("12345678"), "{all:?}");
            assert!(serde_json::from_str::<serde_json::Value>(&all[1]).is_ok(), "{all:?}");
        }
    }

    #[test]
    fn a_surrogate_that_comes_back_in_a_message_is_not_taken_for_its_original() {
        let (first, _) = sent(Method::Encrypt, &["mail jo@ab.de"]);
        let (all, session) = sent(Method::Encrypt, &["mail jo@ab.de", &first[0]]);
        assert_ne!(all[0], all[1], "two values never share a surrogate");
        assert_eq!(restored(&session, &all[1]).unwrap(), first[0]);
        assert_eq!(restored(&session, &all[0]).unwrap(), "mail jo@ab.de");
    }

    #[test]
    fn a_session_is_bounded() {
        let session = Session::new(FindingLimits { values: 1, ..FindingLimits::default() });
        let redactor = redactor(Method::Encrypt);
        let (_, session) = redactor.plain_in(session, b"jo@ab.de", &keys()).unwrap();
        let (_, session) = redactor.plain_in(session, b"jo@ab.de again", &keys()).unwrap();
        let refused = redactor.plain_in(session, b"and mo@ab.de", &keys()).unwrap_err();
        assert!(matches!(refused, RedactError::TooManyValues { values: 1, .. }));
    }
}
