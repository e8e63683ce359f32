//! `POST anonymize`: other words in the place of values that an analyzer found, whichever.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::api::call::{Answer, Call};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, Fields};
use crate::api::guardrail::engine::Guardrail;
use crate::api::guardrail::presidio::answer::shown;
use crate::api::guardrail::presidio::operator::{DEFAULT, OPERATORS, Operator, bracketed};
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;
use crate::detect::offset::{bytes, code_points};
use crate::detect::{Catalogue, Finding, Score, Span};
use crate::edit::{Edit, spliced_text};
use crate::redact::{Keys, RedactError, Redactor};

/// The most values in one call.
const VALUES: usize = 100_000;

/// The most that may stand for the values of one call, beside four times its text, in bytes: a call says it once for many.
const MOST_WRITTEN: usize = 16 << 20;

/// A value that somebody found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    /// What it is.
    pub(super) entity: String,
    /// Where, in bytes.
    pub(super) span: Span,
    /// How sure whoever found it is.
    pub(super) score: f64,
}

/// What a call asks.
struct AnonymizeRequest {
    text: String,
    /// In order, sharing no byte.
    values: Vec<Named>,
    operators: BTreeMap<String, Operator>,
}

/// A text with other words in it (Presidio REST API, `AnonymizeResponse`).
#[derive(Serialize)]
pub(super) struct EngineResult {
    pub(super) text: String,
    /// The last one first.
    pub(super) items: Vec<Item>,
}

/// What stands for a value (Presidio REST API, `OperatorResult`).
#[derive(Serialize)]
pub(super) struct Item {
    /// In code points of the text that came of it.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) entity_type: String,
    pub(super) text: String,
    pub(super) operator: &'static str,
}

/// What takes the place of a span of the text.
pub(super) struct Substitute {
    /// In bytes.
    pub(super) span: Span,
    pub(super) entity: String,
    pub(super) with: String,
    pub(super) operator: &'static str,
}

/// Answers a call.
pub(super) async fn anonymize(guardrail: &Guardrail, call: &mut Call<'_>) -> Result<Answer, ApiError> {
    let request = guardrail.request(call, parse).await?;
    let (keys, bytes) = (guardrail.keys(&call.caller).await?, request.text.len());
    let (redactor, rules) = (guardrail.redactor.clone(), guardrail.catalogue.clone());
    let work = move |checkpoint: &Checkpoint| {
        let redactor = redactor.passing(checkpoint.clone());
        let substitutes = request.substitutes(&redactor, &rules, &keys)?;
        Ok(substituted(&request.text, substitutes))
    };
    shown(&guardrail.work(call, bytes, work).await?)
}

impl AnonymizeRequest {
    /// What takes the place of each value, in order.
    fn substitutes(
        &self,
        redactor: &Redactor,
        rules: &Catalogue,
        keys: &Keys,
    ) -> Result<Vec<Substitute>, RedactError> {
        let key = keys.fpe.as_deref().ok_or(RedactError::NoKey)?;
        let most = MOST_WRITTEN + 4 * self.text.len();
        let mut written = 0;
        let (mut substitutes, mut by_route) = (Vec::new(), Vec::new());
        for value in &self.values {
            let Named { entity, span, score } = value;
            let text = self.text.get(span.start..span.end).unwrap_or_default();
            let operator = self.operator(entity);
            if operator.tells_equals() {
                keys.quota.take(text)?;
            }
            let with = match (operator.apply(entity, text, key), rules.find(entity)) {
                (Some(with), _) => with,
                (None, Some(rule)) => {
                    let score = Score::new(*score as f32);
                    by_route.push(Finding { rule, span: *span, score, near: None });
                    continue;
                }
                // Nobody here knows how such values look.
                (None, None) => bracketed(entity),
            };
            written += with.len();
            if written > most {
                return Err(RedactError::TooManyValues { values: VALUES, bytes: most });
            }
            let (entity, operator) = (entity.clone(), operator.name());
            substitutes.push(Substitute { span: *span, entity, with, operator });
        }
        let made = redactor.replace(&self.text, &by_route, keys)?;
        substitutes.extend(made.into_iter().map(|made| Substitute {
            span: made.span,
            entity: redactor.rule_name(made.rule).to_owned(),
            with: made.with,
            operator: Operator::Route.name(),
        }));
        Ok(apart(substitutes))
    }

    /// What becomes of an entity's values.
    fn operator(&self, entity: &str) -> &Operator {
        let own = self.operators.get(entity).or_else(|| self.operators.get(DEFAULT));
        own.unwrap_or(&Operator::Route)
    }
}

/// In order, sharing no byte: a surrogate takes along the rest of a word, which may be another value's.
fn apart(mut substitutes: Vec<Substitute>) -> Vec<Substitute> {
    substitutes.sort_by_key(|one| (one.span.start, Reverse(one.span.end)));
    substitutes.dedup_by(|next, last| {
        let overlap = next.span.start < last.span.end;
        if overlap {
            last.span.end = last.span.end.max(next.span.end);
        }
        overlap
    });
    substitutes
}

/// The text with all of them in it, and where they are there.
pub(super) fn substituted(text: &str, substitutes: Vec<Substitute>) -> EngineResult {
    let edits: Vec<Edit<&str>> = substitutes
        .iter()
        .map(|one| Edit { range: one.span.start..one.span.end, with: one.with.as_str() })
        .collect();
    let written = spliced_text(text, &edits);
    let mut shift = 0_isize;
    let there: Vec<Span> = substitutes
        .iter()
        .map(|one| {
            let start = one.span.start.wrapping_add_signed(shift);
            shift += one.with.len() as isize - one.span.len() as isize;
            Span::new(start, start + one.with.len())
        })
        .collect();
    let places = code_points(&written, there);
    let items = substitutes.into_iter().zip(places).map(|(one, place)| Item {
        start: place.start,
        end: place.end,
        entity_type: one.entity,
        text: one.with,
        operator: one.operator,
    });
    let mut items: Vec<Item> = items.collect();
    items.reverse();
    EngineResult { text: written, items }
}

fn parse(body: &Value) -> Result<AnonymizeRequest, ApiError> {
    let mut fields = Fields::of(body)?;
    fields.nulls_are_absent();
    let text = fields.required_text("text").to_owned();
    let operators =
        fields.map("anonymizers", OPERATORS, |_, value, at, faults| Operator::read(value, at, faults));
    let values = named(&mut fields, "analyzer_results", &text);
    fields.member("conflict_resolution");
    fields.close()?;
    Ok(AnonymizeRequest { text, values: resolved(values), operators: operators.unwrap_or_default() })
}

/// The values that a call names.
pub(super) fn named(fields: &mut Fields<'_>, name: &'static str, text: &str) -> Vec<Named> {
    if fields.members().get(name).is_none() {
        fields.required(name);
    }
    let base = fields.at(name);
    let read = |value, at: Pointer, faults: &mut Faults| {
        Fields::within(value, &at, faults, |fields| {
            fields.nulls_are_absent();
            let place = |fields: &mut Fields<'_>, name| {
                fields.required(name);
                fields.integer(name, 0).map(|place| place as usize)
            };
            let (start, end) = (place(fields, "start")?, place(fields, "end")?);
            let entity = fields.required_text("entity_type").to_owned();
            let score = fields.number("score", 0.0..=1.0).unwrap_or(1.0);
            // What analyzers and anonymizers say besides.
            for other in ["analysis_explanation", "recognition_metadata", "operator", "text"] {
                fields.member(other);
            }
            Some(Named { entity, span: Span::new(start, end), score })
        })
        .flatten()
    };
    let mut values = fields.array(name, VALUES, read).unwrap_or_default();
    let spans: Vec<Span> = values.iter().map(|value| value.span).collect();
    for (at, (value, there)) in values.iter_mut().zip(bytes(text, &spans)).enumerate() {
        match there.filter(|span| span.start < span.end) {
            Some(span) => value.span = span,
            None => {
                let detail = "must begin before it ends, and end within `text`: places are in code points";
                fields.fault(Code::NotWithinRange, base.index(at), detail);
            }
        }
    }
    values
}

/// In order, sharing no byte: of those that overlap, one that covers them all, as what is surest, and of equals the longest.
pub(super) fn resolved(mut values: Vec<Named>) -> Vec<Named> {
    values.sort_by_key(|value| (value.span.start, Reverse(value.span.end)));
    let mut apart: Vec<(Named, Span)> = Vec::with_capacity(values.len());
    for value in values {
        let of = value.span;
        match apart.last_mut() {
            Some((last, winner)) if of.start < last.span.end => {
                last.span.end = last.span.end.max(of.end);
                if (value.score, of.len()) > (last.score, winner.len()) {
                    *winner = of;
                    last.entity = value.entity;
                    last.score = value.score;
                }
            }
            _ => apart.push((value, of)),
        }
    }
    apart.into_iter().map(|(value, _)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_becomes_one_value_that_covers_all() {
        let named = |entity: &str, start, end, score| Named {
            entity: entity.to_owned(),
            span: Span::new(start, end),
            score,
        };
        let rows = [
            (vec![named("A", 5, 9, 0.5), named("B", 0, 3, 0.5)], vec![("B", 0, 3), ("A", 5, 9)]),
            (vec![named("A", 0, 5, 0.5), named("B", 3, 9, 0.9)], vec![("B", 0, 9)]),
            (vec![named("A", 0, 9, 0.5), named("B", 3, 5, 0.5)], vec![("A", 0, 9)]),
            (vec![named("A", 0, 3, 0.5), named("B", 1, 9, 0.5)], vec![("B", 0, 9)]),
            (vec![named("A", 0, 3, 0.5), named("B", 3, 5, 0.5)], vec![("A", 0, 3), ("B", 3, 5)]),
            (vec![named("A", 0, 3, 0.9), named("A", 0, 3, 0.5)], vec![("A", 0, 3)]),
        ];
        for (given, want) in rows {
            let done = resolved(given);
            let done: Vec<_> =
                done.iter().map(|one| (one.entity.as_str(), one.span.start, one.span.end)).collect();
            assert_eq!(done, want);
        }
    }

    #[test]
    fn items_say_where_they_are_in_what_came_of_it() {
        let substitute = |start, end, with: &str| Substitute {
            span: Span::new(start, end),
            entity: "E".to_owned(),
            with: with.to_owned(),
            operator: "replace",
        };
        let text = "é Zöe at 555, ok";
        let done = substituted(text, vec![substitute(3, 7, "<PERSON>"), substitute(11, 14, "")]);
        assert_eq!(done.text, "é <PERSON> at , ok");
        let places: Vec<_> = done.items.iter().map(|item| (item.start, item.end)).collect();
        assert_eq!(places, [(14, 14), (2, 10)]);
    }
}
