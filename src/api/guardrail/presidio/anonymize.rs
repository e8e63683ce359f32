//! `POST anonymize`: other words in the place of values that an analyzer found, whichever.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::api::call::{ApiAnswer, ApiCall};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::guardrail::answer::shown;
use crate::api::guardrail::engine::Guardrail;
use crate::api::guardrail::presidio::operator::{DEFAULT, OPERATORS, Operator, bracketed};
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;
use crate::detect::offset::{bytes, code_points};
use crate::detect::{Catalogue, Finding, Score, Span};
use crate::edit::{Edit, spliced_text};
use crate::redact::{Keys, Method, RedactError, Redactor};

/// The most values in one call.
const VALUES: usize = 100_000;

/// The most that may stand for the values of one call, beside four times its text, in bytes: a call says it once for many.
const MOST_WRITTEN: usize = 16 << 20;

/// A value that somebody found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AnalyzedValue {
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
    values: Vec<AnalyzedValue>,
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
pub(super) async fn anonymize(guardrail: &Guardrail, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
    let request = guardrail.request(call, parse).await?;
    let (keys, bytes) = (guardrail.keys(&call.caller, call.who).await?, request.text.len());
    let salt = guardrail.digest_salt(&keys, &call.caller)?;
    let (redactor, rules) = (guardrail.redactor.clone(), guardrail.catalogue.clone());
    let work = move |checkpoint: &Checkpoint| {
        let redactor = redactor.with_checkpoint(checkpoint.clone());
        let substitutes = request.substitutes(&redactor, &rules, &keys, &salt)?;
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
        salt: &Secret<Vec<u8>>,
    ) -> Result<Vec<Substitute>, RedactError> {
        self.block(redactor, rules, keys)?;
        let most = MOST_WRITTEN + 4 * self.text.len();
        let mut written = 0;
        let (mut substitutes, mut by_route) = (Vec::new(), Vec::new());
        for group in resolved(&self.values, |entity| self.leaves(entity, redactor, rules)) {
            redactor.go_on()?;
            let OverlappingValues { span, entity, score, several } = group;
            let text = self.text.get(span.start..span.end).unwrap_or_default();
            let mut operator = self.operator(&entity);
            if several && !operator.hides_all() && !self.leaves(&entity, redactor, rules) {
                operator = &Operator::Replace(None);
            }
            if operator.tells_equals() {
                keys.quota.take(text)?;
            }
            let with = match (operator.apply(&entity, text, salt), rules.find(&entity)) {
                (Some(with), _) => with,
                (None, Some(rule)) => {
                    let score = Score::new(score as f32);
                    by_route.push(Finding { rule, span, score, near: None });
                    continue;
                }
                // Nobody here knows how such values look.
                (None, None) => bracketed(&entity),
            };
            written += with.len();
            if written > most {
                return Err(RedactError::TooManyValues { values: VALUES, bytes: most });
            }
            substitutes.push(Substitute { span, entity, with, operator: operator.name() });
        }
        let made = redactor.replace(&self.text, &by_route, keys)?;
        let mut rest = by_route.as_slice();
        substitutes.extend(made.into_iter().map(|made| {
            // A surrogate takes along the rest of a word, which may be another value.
            let covered = rest.iter().take_while(|one| one.span.start < made.span.end).count();
            let alone = rest.iter().take(covered).filter(|one| one.span.overlaps(made.span)).count() == 1;
            rest = rest.get(covered..).unwrap_or_default();
            let entity = redactor.rule_name(made.rule).to_owned();
            let with = if alone && made.whole { made.with } else { bracketed(&entity) };
            Substitute { span: made.span, entity, with, operator: Operator::Route.name() }
        }));
        Ok(apart(substitutes))
    }

    /// What becomes of an entity's values.
    fn operator(&self, entity: &str) -> &Operator {
        let own = self.operators.get(entity).or_else(|| self.operators.get(DEFAULT));
        own.unwrap_or(&Operator::Route)
    }

    /// Whether an entity's values stay as they are.
    fn leaves(&self, entity: &str, redactor: &Redactor, rules: &Catalogue) -> bool {
        match self.operator(entity) {
            Operator::Keep => true,
            Operator::Route => rules.find(entity).is_some_and(|rule| redactor.method(rule).leaves()),
            _ => false,
        }
    }

    /// What the route blocks does not pass, whatever else is said of the same place.
    fn block(&self, redactor: &Redactor, rules: &Catalogue, keys: &Keys) -> Result<(), RedactError> {
        let blocked = self.values.iter().find_map(|value| {
            let rule = rules.find(&value.entity).filter(|rule| *redactor.method(*rule) == Method::Block)?;
            let by_route = matches!(self.operator(&value.entity), Operator::Route);
            by_route.then_some(Finding { rule, span: value.span, score: Score::new(1.0), near: None })
        });
        match blocked {
            Some(blocked) => redactor.replace(&self.text, &[blocked], keys).map(drop),
            None => Ok(()),
        }
    }
}

/// In order, sharing no byte. Of two that reach into each other nobody could say which part is whose: all of it goes.
fn apart(mut substitutes: Vec<Substitute>) -> Vec<Substitute> {
    substitutes.sort_by_key(|one| (one.span.start, Reverse(one.span.end)));
    substitutes.dedup_by(|next, last| {
        let overlap = next.span.start < last.span.end;
        if overlap {
            last.span.end = last.span.end.max(next.span.end);
            last.with = bracketed(&last.entity);
            last.operator = Operator::Replace(None).name();
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
    let mut fields = ObjectFields::of(body)?;
    fields.nulls_are_absent();
    let text = fields.required_text("text").to_owned();
    let operators =
        fields.map("anonymizers", OPERATORS, |_, value, at, faults| Operator::read(value, at, faults));
    let values = named(&mut fields, "analyzer_results", &text);
    fields.member("conflict_resolution");
    fields.close()?;
    Ok(AnonymizeRequest { text, values, operators: operators.unwrap_or_default() })
}

/// The values that a call names.
pub(super) fn named(fields: &mut ObjectFields<'_>, name: &'static str, text: &str) -> Vec<AnalyzedValue> {
    if fields.members().get(name).is_none() {
        fields.required(name);
    }
    let base = fields.at(name);
    let read = |value, at: Pointer, faults: &mut Faults| {
        ObjectFields::within(value, &at, faults, |fields| {
            fields.nulls_are_absent();
            let place = |fields: &mut ObjectFields<'_>, name| {
                fields.required(name);
                fields.integer(name, 0).map(|place| place as usize)
            };
            let (start, end) = (place(fields, "start"), place(fields, "end"));
            let entity = fields.required_text("entity_type").to_owned();
            let score = fields.number("score", 0.0..=1.0).unwrap_or(1.0);
            // What analyzers and anonymizers say besides.
            for other in ["analysis_explanation", "recognition_metadata", "operator", "text"] {
                fields.member(other);
            }
            Some(AnalyzedValue { entity, span: Span::new(start?, end?), score })
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

/// Values that overlap, and are replaced as one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OverlappingValues {
    /// All of them.
    pub(super) span: Span,
    /// What it counts as: the surest of those that do not stay, and of equals the longest.
    pub(super) entity: String,
    /// How sure that one is.
    pub(super) score: f64,
    /// Whether they differ in what they are or where.
    pub(super) several: bool,
}

/// In order, sharing no byte. `leaves` says whose values stay as they are.
pub(super) fn resolved(values: &[AnalyzedValue], leaves: impl Fn(&str) -> bool) -> Vec<OverlappingValues> {
    let mut order: Vec<&AnalyzedValue> = values.iter().collect();
    order.sort_by_key(|value| (value.span.start, Reverse(value.span.end)));
    let mut groups: Vec<(OverlappingValues, (bool, f64, usize))> = Vec::with_capacity(order.len());
    for value in order {
        let of = value.span;
        let rank = (!leaves(&value.entity), value.score, of.len());
        match groups.last_mut() {
            Some((group, winner)) if of.start < group.span.end => {
                group.several |= group.span != of || group.entity != value.entity;
                group.span.end = group.span.end.max(of.end);
                if rank > *winner {
                    *winner = rank;
                    group.entity.clone_from(&value.entity);
                    group.score = value.score;
                }
            }
            _ => {
                let (entity, score) = (value.entity.clone(), value.score);
                groups.push((OverlappingValues { span: of, entity, score, several: false }, rank));
            }
        }
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_becomes_one_value_that_covers_all() {
        let named = |entity: &str, start, end, score| AnalyzedValue {
            entity: entity.to_owned(),
            span: Span::new(start, end),
            score,
        };
        let rows = [
            (
                vec![named("A", 5, 9, 0.5), named("B", 0, 3, 0.5)],
                vec![("B", 0, 3, false), ("A", 5, 9, false)],
            ),
            (vec![named("A", 0, 5, 0.5), named("B", 3, 9, 0.9)], vec![("B", 0, 9, true)]),
            (vec![named("A", 0, 9, 0.5), named("B", 3, 5, 0.5)], vec![("A", 0, 9, true)]),
            (vec![named("A", 0, 3, 0.5), named("B", 1, 9, 0.5)], vec![("B", 0, 9, true)]),
            (
                vec![named("A", 0, 3, 0.5), named("B", 3, 5, 0.5)],
                vec![("A", 0, 3, false), ("B", 3, 5, false)],
            ),
            (vec![named("A", 0, 3, 0.9), named("A", 0, 3, 0.5)], vec![("A", 0, 3, false)]),
            // What stays decides nothing about what does not.
            (vec![named("kept", 0, 9, 1.0), named("B", 3, 5, 0.1)], vec![("B", 0, 9, true)]),
            (vec![named("kept", 0, 9, 1.0), named("kept", 3, 12, 0.1)], vec![("kept", 0, 12, true)]),
        ];
        for (given, want) in rows {
            let done = resolved(&given, |entity| entity == "kept");
            let done: Vec<_> = done
                .iter()
                .map(|one| (one.entity.as_str(), one.span.start, one.span.end, one.several))
                .collect();
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
