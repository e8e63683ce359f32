//! Collected event streams and forms, redacted so that it can be undone. Their texts are read as the elements of one
//! document, so that what is found in one of them is replaced in all.

use std::vec::IntoIter;

use bytes::BytesMut;
use serde_json::value::RawValue;

use crate::base::budget::Budget;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::redactor::Redactor;
use crate::redact::report::{Redacted, Report};
use crate::redact::undo::{Limits, Undo};
use crate::stream::json::{Decoded, JsonError, JsonFault, PathSet, Token, encoded, walk};
use crate::stream::sse::{Event, Events, Sse, Verdict};
use crate::stream::{Rewriter, SHORT, StreamError, form};

/// Each element as it was and as it is.
type Pairs = IntoIter<(Vec<u8>, Vec<u8>)>;

impl Redactor {
    /// Redacts an event stream: data as the JSON or the text that it is, and all other lines.
    pub fn events(
        &self,
        body: &[u8],
        keys: &Keys,
        limits: Limits,
    ) -> Result<(Redacted<Vec<u8>>, Undo), RedactError> {
        let mut seen = Seen(Vec::new());
        pass(&mut seen, body)?;
        let (elements, report, undo) = self.elements(&seen.0, keys, limits)?;
        let pairs: Vec<_> = seen.0.into_iter().zip(elements).collect();
        let out = pass(&mut Written(pairs.into_iter()), body)?;
        Ok((Redacted::new(out, report), undo))
    }

    /// Redacts a form: its values, each under its name, and its names.
    pub fn form(
        &self,
        body: &[u8],
        keys: &Keys,
        limits: Limits,
    ) -> Result<(Redacted<Vec<u8>>, Undo), RedactError> {
        let element = |(name, value): (String, Option<String>)| match value {
            Some(value) => format!("{{\"{}\":\"{}\"}}", encoded(&name), encoded(&value)).into_bytes(),
            None => format!("\"{}\"", encoded(&name)).into_bytes(),
        };
        let fields = || body.split(|b| *b == b'&');
        let before: Vec<Vec<u8>> = fields().map(|field| element(form::read(field))).collect();
        let (after, report, undo) = self.elements(&before, keys, limits)?;
        let mut out = Vec::with_capacity(body.len());
        for (at, ((field, before), after)) in fields().zip(&before).zip(&after).enumerate() {
            if at > 0 {
                out.push(b'&');
            }
            if before == after { out.extend_from_slice(field) } else { respelled(field, after, &mut out) }
        }
        Ok((Redacted::new(out, report), undo))
    }

    /// Redacts JSON values together.
    fn elements(
        &self,
        values: &[Vec<u8>],
        keys: &Keys,
        limits: Limits,
    ) -> Result<(Vec<Vec<u8>>, Report, Undo), RedactError> {
        let array = [b"[".as_slice(), &values.join(&b','), b"]"].concat();
        let (redacted, undo) = self.document(&array, &PathSet::everything(), keys, limits)?;
        let report = redacted.report().clone();
        let array = redacted.into_value();
        let elements: Vec<&RawValue> = serde_json::from_slice(&array).map_err(|_| MISCOUNTED)?;
        if elements.len() != values.len() {
            return Err(MISCOUNTED);
        }
        Ok((elements.into_iter().map(|element| element.get().into()).collect(), report, undo))
    }
}

/// An edit that left its element would spoil all behind it.
const MISCOUNTED: RedactError = RedactError::Json(JsonError { offset: 0, fault: JsonFault::Unexpected });

/// Writes a field of which the JSON element says what is in it now. A part that says what it said keeps its spelling.
fn respelled(field: &[u8], element: &[u8], out: &mut Vec<u8>) {
    let mut now = Vec::with_capacity(2);
    let texts = walk(element, &mut |_, leaf| {
        if leaf.token != Token::Number {
            now.push(Decoded::of(element.get(leaf.span).unwrap_or_default()).text().to_owned());
        }
    });
    debug_assert_eq!(texts, Ok(()), "it is an element of a document");
    for (at, (part, now)) in field.splitn(2, |b| *b == b'=').zip(now).enumerate() {
        if at > 0 {
            out.push(b'=');
        }
        if form::read(part).0 == now {
            out.extend_from_slice(part);
        } else {
            out.extend_from_slice(form::encoded(&now).as_bytes());
        }
    }
}

/// Shows the events of a whole stream to `visitor`; returns what became of it.
fn pass(visitor: &mut dyn Events, body: &[u8]) -> Result<Vec<u8>, RedactError> {
    let mut out = BytesMut::with_capacity(body.len());
    let mut events = Sse::new(visitor, usize::MAX, &Budget::unlimited());
    let passed = events.write(body, &mut out).and_then(|()| events.finish(&mut out));
    // Neither visitor fails, and nothing is too large.
    passed.map_err(|_| MISCOUNTED)?;
    Ok(out.to_vec())
}

/// A text of a stream as an element: the JSON that it is, or a string.
fn element(text: &[u8]) -> Vec<u8> {
    let text = text.trim_ascii();
    let within = [b"[", text, b"]"].concat();
    let is_json = |bytes: &[u8]| walk(bytes, &mut |_, _| {}).is_ok();
    if is_json(text) && is_json(&within) {
        return text.to_vec();
    }
    format!("\"{}\"", encoded(&String::from_utf8_lossy(text))).into_bytes()
}

/// Gathers the texts of a stream.
struct Seen(Vec<Vec<u8>>);

impl Events for Seen {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<Verdict, StreamError> {
        self.0.push(element(event.data()));
        Ok(Verdict::Keep)
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        if text.len() > SHORT {
            self.0.push(element(text));
        }
        Ok(None)
    }

    fn end(&mut self, rest: &[u8], _: &mut BytesMut) -> Result<(), StreamError> {
        self.0.push(element(Event::parse(rest).data()));
        Ok(())
    }
}

/// Writes them as they are now, in the same order.
struct Written(Pairs);

impl Written {
    fn next(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let (before, after) = self.0.next()?;
        if before == after {
            return None;
        }
        let trimmed = text.trim_ascii();
        let now = match before == trimmed {
            true => after,
            false => serde_json::from_slice::<String>(&after).unwrap_or_default().into_bytes(),
        };
        let (head, tail) = text.split_at(text.len() - text.trim_ascii_start().len());
        Some([head, &now, tail.get(trimmed.len()..).unwrap_or_default()].concat())
    }
}

impl Events for Written {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<Verdict, StreamError> {
        Ok(self.next(event.data()).map_or(Verdict::Keep, Verdict::Data))
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(if text.len() > SHORT { self.next(text) } else { None })
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let event = Event::parse(rest);
        let verdict = self.next(event.data()).map_or(Verdict::Keep, Verdict::Data);
        event.write(&verdict, out);
        Ok(())
    }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
