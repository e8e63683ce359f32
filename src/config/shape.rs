//! Table in, settings out, with all that serde objects to.
//!
//! Serde stops at the first error. So what it stopped at is taken out of the table, and it reads again.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use crate::config::diagnostics::{Diagnostic, Diagnostics};
use crate::config::message::{self, SerdeMessage};
use crate::config::settings::Settings;

/// Errors looked for in one file; nobody reads more at once.
const ROUNDS: usize = 100;

/// Where a table must stand (`*` is any key or element). Derived code would take an array there too, as the fields
/// in their order, which nobody means by `[[log]]`.
const TABLES: &[&[&str]] = &[
    &["admin"],
    &["vault"],
    &["log"],
    &["limits"],
    &["api"],
    &["jwks"],
    &["detect"],
    &["detect", "thresholds"],
    &["detect", "names"],
    &["detect", "rule", "*"],
    &["detect", "allow", "*"],
    &["listen", "*"],
    &["listen", "*", "tls"],
    &["upstreams", "*"],
    &["upstreams", "*", "tls"],
    &["upstreams", "*", "timeouts"],
    &["routes", "*"],
    &["routes", "*", "respond"],
    &["routes", "*", "cors"],
    &["routes", "*", "request_headers"],
    &["routes", "*", "request_headers", "set"],
    &["routes", "*", "request_headers", "add"],
    &["routes", "*", "answer_headers"],
    &["routes", "*", "answer_headers", "set"],
    &["routes", "*", "answer_headers", "add"],
    &["routes", "*", "rate"],
    &["routes", "*", "redact"],
    &["routes", "*", "jwt"],
    &["routes", "*", "jwt", "keys"],
    &["routes", "*", "jwt", "token"],
    &["routes", "*", "introspection"],
    &["routes", "*", "introspection", "token"],
    &["routes", "*", "compression"],
    &["routes", "*", "sign"],
    &["routes", "*", "sign", "claims"],
];

/// Reads settings from a table, and takes out of it what is wrong. `None`: there were too many errors to go on.
pub(crate) fn settings(table: &mut DeTable<'_>, diagnostics: &mut Diagnostics) -> Option<Settings> {
    while let Some(span) = TABLES.iter().find_map(|path| array(table, path)) {
        diagnostics.say(span.start, "expected a table, found an array");
        cut(table, 0, &span, diagnostics)?;
    }
    for _ in 0..ROUNDS {
        let document = Deserializer::from(Spanned::new(0..0, table.clone()));
        let error = match Settings::deserialize(document) {
            Ok(settings) => return Some(settings),
            Err(error) => error,
        };
        let span = error.span()?;
        let SerdeMessage { message, hint, missing, meant } = message::said(&error);
        // A whole lacks what was wrong in it.
        let consequence =
            diagnostics.within(&span) || missing.is_some_and(|key| diagnostics.lost(span.start, &key));
        if !consequence {
            diagnostics.push(Diagnostic { at: span.start, message, hint });
        }
        let begin = cut(table, 0, &span, diagnostics)?;
        if let Some(meant) = meant {
            diagnostics.lose(begin, &meant);
        }
    }
    None
}

/// Where an array stands at the end of this path.
fn array(table: &DeTable<'_>, path: &[&str]) -> Option<Range<usize>> {
    let (head, rest) = path.split_first()?;
    let mut entries = table.iter().filter(|(key, _)| *head == "*" || key.get_ref() == head);
    entries.find_map(|(_, value)| array_within(value, rest))
}

fn array_within(value: &Spanned<DeValue<'_>>, path: &[&str]) -> Option<Range<usize>> {
    match (value.get_ref(), path) {
        (DeValue::Array(_), []) => Some(value.span()),
        (DeValue::Array(elements), ["*", rest @ ..]) => elements.iter().find_map(|e| array_within(e, rest)),
        (DeValue::Table(table), path) => array(table, path),
        _ => None,
    }
}

/// Takes out the entry whose key or value has this span; the deepest one, since an array of tables begins where its
/// first table does. It and all that it lies in count as lost. `begin` is where the table begins;
/// where the one begins that lost the entry comes back.
fn cut(
    table: &mut DeTable<'_>,
    begin: usize,
    span: &Range<usize>,
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    for (key, value) in &mut *table {
        if let Some(within) = cut_within(value, span, diagnostics) {
            diagnostics.lose(begin, key.get_ref());
            return Some(within);
        }
    }
    let hit = table.iter().find(|(key, value)| key.span() == *span || value.span() == *span);
    let key = hit.map(|(key, _)| key.clone())?;
    diagnostics.lose(begin, key.get_ref());
    table.remove(&key).map(|_| begin)
}

fn cut_within(
    value: &mut Spanned<DeValue<'_>>,
    span: &Range<usize>,
    diagnostics: &mut Diagnostics,
) -> Option<usize> {
    let begin = value.span().start;
    match value.get_mut() {
        DeValue::Table(table) => cut(table, begin, span, diagnostics),
        DeValue::Array(array) => {
            if let Some(within) = array.iter_mut().find_map(|element| cut_within(element, span, diagnostics))
            {
                return Some(within);
            }
            let before = array.len();
            let kept = std::mem::replace(array, DeArray::new()).into_iter().filter(|e| e.span() != *span);
            *array = kept.collect();
            (array.len() < before).then_some(begin)
        }
        _ => None,
    }
}
