//! What the model says, merged with what rules found.
//!
//! - A structured rule's finding stays, and cuts a name that overlaps it.
//! - A person by the lexicon falls where the model read it and gives none of its words a tenth, unless the lexicon is sure.
//! - Findings of one kind that overlap become one.
//! - Of two kinds the longer stays, and cuts the other.
//! - A room or a flat behind a place is of the same address.
//!
//! What is left of a cut name counts if it still has a letter.

use std::collections::BTreeMap;

use super::surroundings::{
    Fences, in_identifier, in_mail_address, is_publication, is_small_in_sentence, room_end,
};
use super::word::ModelWord;
use crate::detect::engine::WordKnowledge;
use crate::detect::{Finding, RuleId, Score, Span};

/// Below this the model refutes a person by the lexicon.
const VETO: f32 = 0.1;

/// From this score on a person by the lexicon stays whatever the model says: a given name and a surname, or a title and a
/// name. Of a text that repeats itself the model takes hardly any word for a name.
const SURE: f32 = 0.8;

/// How sure it must be where words are mostly something else: in code.
const IN_CODE: f32 = 0.7;

/// How sure it must be of a word in small letters that is no known name, in a sentence that begins with a capital: who
/// writes so writes most names with one.
const IN_SMALL_LETTERS: f32 = 0.85;

/// How much of the threshold is enough for a word in small letters that is a known name, and nothing else.
const KNOWN: f32 = 0.6;

/// What rules found in a text, and which of them find names.
pub(crate) struct RuleFindings<'a> {
    pub(crate) text: &'a str,
    /// In order, sharing no byte.
    pub(crate) findings: Vec<Finding>,
    /// The rule for persons, if it is on.
    pub(crate) person: Option<RuleId>,
    /// The rule for places, if it is on.
    pub(crate) place: Option<RuleId>,
    /// The rule for organisations: by the lexicon too.
    pub(crate) organisation: Option<RuleId>,
}

/// The findings of a text of which the model read `words`: in order, sharing no byte. What only the model found has to
/// be as sure as `threshold`, and as `counts` wants it.
pub(crate) fn merge(
    found: RuleFindings<'_>,
    words: &[ModelWord],
    threshold: f32,
    counts: &dyn Fn(&Finding) -> bool,
) -> Vec<Finding> {
    let RuleFindings { text, findings, person, place, organisation } = found;
    let is = |one: &Finding, rule: Option<RuleId>| rule == Some(one.rule);
    let (mut persons, mut places, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut taken = DisjointFindings { text, taken: BTreeMap::new() };
    for one in findings {
        if is(&one, person) {
            if one.score.value() >= SURE || !refuted(words, one.span) {
                persons.push(one);
            }
        } else if is(&one, place) {
            places.push(one);
        } else if is(&one, organisation) {
            rest.push(one);
        } else {
            taken.put(one);
        }
    }
    let read = names(text, words, threshold);
    for (kind, rule, into) in
        [(EntityKind::Person, person, &mut persons), (EntityKind::Place, place, &mut places)]
    {
        let Some(rule) = rule else { continue };
        let of = read.iter().filter(|name| name.kind == kind);
        let findings =
            of.map(|name| Finding { rule, span: name.span, score: Score::new(name.score), near: None });
        into.extend(findings.filter(|one| counts(one)));
    }
    let mut places = united(places);
    for place in &mut places {
        place.span.end = room_end(text, place.span.end).unwrap_or(place.span.end);
    }
    let mut all = [united(persons), places, rest].concat();
    // The longest first; of the same length, as sure as it is.
    all.sort_by(|a, b| {
        let score = b.score.value().total_cmp(&a.score.value());
        b.span.len().cmp(&a.span.len()).then(score).then(a.span.start.cmp(&b.span.start))
    });
    all.into_iter().for_each(|one| taken.fit(one));
    taken.taken.into_values().collect()
}

/// Whether the model read what a finding covers, and takes none of it for a person's.
fn refuted(words: &[ModelWord], span: Span) -> bool {
    let first = words.partition_point(|word| word.end <= span.start);
    let own = words.iter().skip(first).take_while(|word| word.start < span.end);
    own.clone().next().is_some() && own.into_iter().all(|word| word.person < VETO)
}

/// Findings of one kind, those that overlap made one.
fn united(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|one| (one.span.start, one.span.end));
    let mut all: Vec<Finding> = Vec::new();
    for one in findings {
        match all.last_mut() {
            Some(last) if last.span.overlaps(one.span) => {
                last.span.end = last.span.end.max(one.span.end);
                if one.score > last.score {
                    last.score = one.score;
                }
                last.near = last.near.or(one.near);
            }
            _ => all.push(one),
        }
    }
    all
}

/// Findings that share no byte, by where they start.
struct DisjointFindings<'a> {
    text: &'a str,
    taken: BTreeMap<usize, Finding>,
}

impl DisjointFindings<'_> {
    fn put(&mut self, one: Finding) {
        self.taken.insert(one.span.start, one);
    }

    /// Puts what of `one` is free.
    fn fit(&mut self, one: Finding) {
        let mut free = Vec::new();
        let mut end = one.span.end;
        for other in self.taken.range(..one.span.end).rev().map(|(_, other)| other.span) {
            if other.end <= one.span.start {
                break;
            }
            free.push(Span::new(other.end.max(one.span.start), end));
            end = other.start;
        }
        let whole = free.is_empty();
        free.push(Span::new(one.span.start, end));
        for span in free {
            let Some(span) = (if whole { Some(span) } else { self.trimmed(span) }) else { continue };
            self.put(Finding { span, ..one });
        }
    }

    /// What is left of a name without marks and blanks at its ends, if it has a letter.
    fn trimmed(&self, span: Span) -> Option<Span> {
        let text = self.text.get(span.start..span.end)?;
        let start = span.start + text.find(char::is_alphanumeric)?;
        let kept = text.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
        text.contains(char::is_alphabetic).then_some(Span::new(start, span.start + kept))
    }
}

/// Whose name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntityKind {
    Person,
    Place,
}

/// A name by the model.
#[derive(Clone, Copy, Debug)]
struct ModelEntity {
    kind: EntityKind,
    span: Span,
    score: f32,
}

/// Words above the threshold, joined where only blanks, dots, hyphens (or commas, for places) part them. Each has a
/// letter.
fn names(text: &str, words: &[ModelWord], threshold: f32) -> Vec<ModelEntity> {
    let mut all: Vec<ModelEntity> = Vec::new();
    let mut open = false;
    let mut fences = Fences::of(text);
    for word in words {
        let (kind, score) = match word.person >= word.place {
            true => (EntityKind::Person, word.person),
            false => (EntityKind::Place, word.place),
        };
        let in_code = fences.is_code(word.start) || in_identifier(text, word);
        let least = if in_code { threshold.max(IN_CODE) } else { threshold * KNOWN };
        let sure = score >= threshold.max(IN_SMALL_LETTERS);
        if score < least
            || !sure && score < wanted(text, word, kind, threshold)
            || in_mail_address(text, word)
        {
            open = false;
            continue;
        }
        // What the lexicon vouches for is as sure as any.
        let score = score.max(threshold);
        match all.last_mut() {
            Some(last) if open && last.kind == kind && joins(text, last.span.end, word.start, kind) => {
                last.span.end = word.end;
                last.score = last.score.max(score);
            }
            _ => all.push(ModelEntity { kind, span: Span::new(word.start, word.end), score }),
        }
        open = true;
    }
    let lettered = |name: &ModelEntity| {
        text.get(name.span.start..name.span.end).is_some_and(|name| name.contains(char::is_alphabetic))
    };
    all.retain(|name| {
        lettered(name) && !(name.kind == EntityKind::Person && is_publication(text, name.span))
    });
    all
}

/// How sure the model must be of a word, by what the lexicon knows of it and by how its sentence is written.
fn wanted(text: &str, word: &ModelWord, kind: EntityKind, threshold: f32) -> f32 {
    let written = text.get(word.start..word.end).unwrap_or_default();
    let known = WordKnowledge::of(written);
    let of_kind = match kind {
        EntityKind::Person => known.is_person,
        EntityKind::Place => known.is_place,
    };
    if known.is_grammar || !known.is_person && is_small_in_sentence(text, word) {
        threshold.max(IN_SMALL_LETTERS)
    } else if of_kind && !written.contains(char::is_uppercase) {
        threshold * KNOWN
    } else {
        threshold
    }
}

/// Whether what stands between two words of a kind leaves them one name.
fn joins(text: &str, from: usize, to: usize, kind: EntityKind) -> bool {
    let marks = match kind {
        EntityKind::Person => ".-'’·",
        EntityKind::Place => ",.-'’/#",
    };
    let between = text.get(from..to);
    between.is_some_and(|gap| {
        gap.chars().count() < 4 && gap.chars().all(|c| c.is_whitespace() || marks.contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: RuleId = RuleId::new(0);
    const PLACE: RuleId = RuleId::new(1);
    const ORGANISATION: RuleId = RuleId::new(2);
    const STRUCTURED: RuleId = RuleId::new(3);

    fn rule(name: &str) -> RuleId {
        match name {
            "P" => PERSON,
            "L" => PLACE,
            "O" => ORGANISATION,
            _ => STRUCTURED,
        }
    }

    fn at(text: &str, part: &str) -> Span {
        let start = text.find(part).unwrap();
        Span::new(start, start + part.len())
    }

    /// What becomes of `lexicon` (rule:text, `P!` where it is sure) and `model` (text, person, place), as rule:text.
    fn merged(text: &str, lexicon: &[&str], model: &[(&str, f32, f32)]) -> Vec<String> {
        let findings = lexicon.iter().map(|one| {
            let (name, part) = one.split_once(':').unwrap();
            let (name, score) = name.strip_suffix('!').map_or((name, 0.6), |name| (name, 0.85));
            Finding { rule: rule(name), span: at(text, part), score: Score::new(score), near: None }
        });
        let words: Vec<ModelWord> = model
            .iter()
            .map(|&(part, person, place)| {
                let span = at(text, part);
                ModelWord { start: span.start, end: span.end, person, place }
            })
            .collect();
        let found = RuleFindings {
            text,
            findings: findings.collect(),
            person: Some(PERSON),
            place: Some(PLACE),
            organisation: Some(ORGANISATION),
        };
        let out = merge(found, &words, 0.5, &|_| true);
        assert!(out.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        let letter = |one: &Finding| ["P", "L", "O", "S"][one.rule.index()];
        out.iter()
            .map(|one| format!("{}:{}", letter(one), text.get(one.span.start..one.span.end).unwrap()))
            .collect()
    }

    #[test]
    fn the_lexicon_and_the_model_become_one() {
        type Case<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, f32, f32)], &'a [&'a str]);
        let cases: &[Case<'_>] = &[
            ("hi maria lopez", &[], &[("maria", 0.9, 0.0), ("lopez", 0.6, 0.1)], &["P:maria lopez"]),
            ("hi maria zorblax", &[], &[("maria", 0.9, 0.0), ("zorblax", 0.4, 0.1)], &["P:maria"]),
            // In small letters the lexicon vouches for a name, and grammar is none; of a sentence less is one.
            ("hi maria lopez", &[], &[("maria", 0.9, 0.0), ("lopez", 0.4, 0.1)], &["P:maria lopez"]),
            ("hi Maria Lopez", &[], &[("Maria", 0.9, 0.0), ("Lopez", 0.4, 0.1)], &["P:Maria"]),
            ("hi maria lopez", &[], &[("maria", 0.9, 0.0), ("lopez", 0.2, 0.1)], &["P:maria"]),
            ("to oslo or", &[], &[("oslo", 0.0, 0.4), ("or", 0.0, 0.6)], &["L:oslo"]),
            ("A zorblax of it", &[], &[("zorblax", 0.8, 0.0)], &[]),
            ("a zorblax of it", &[], &[("zorblax", 0.8, 0.0)], &["P:zorblax"]),
            ("to zorblax@example.com", &[], &[("zorblax", 0.9, 0.0)], &[]),
            ("for Vorpal Weekly", &[], &[("Vorpal", 0.9, 0.0), ("Weekly", 0.9, 0.0)], &[]),
            // A room is of the address before it.
            ("12 Oak St, Suite 7", &[], &[("Oak", 0.0, 0.9), ("St", 0.0, 0.9)], &["L:Oak St, Suite 7"]),
            // The veto, and where nothing was read.
            ("Mark the date", &["P:Mark"], &[("Mark", 0.05, 0.0)], &[]),
            ("Mark the date", &["P:Mark"], &[("Mark", 0.2, 0.0)], &["P:Mark"]),
            ("Mark the date", &["P:Mark"], &[], &["P:Mark"]),
            ("Mark the date", &["P:Mark"], &[("date", 0.0, 0.0)], &["P:Mark"]),
            ("Ana Ruiz again", &["P!:Ana Ruiz"], &[("Ana", 0.05, 0.0), ("Ruiz", 0.0, 0.0)], &["P:Ana Ruiz"]),
            ("in Lima", &["L:Lima"], &[("Lima", 0.0, 0.0)], &["L:Lima"]),
            // One kind: both together.
            ("Dr Ana Ruiz", &["P:Dr Ana"], &[("Ana", 0.9, 0.0), ("Ruiz", 0.9, 0.0)], &["P:Dr Ana Ruiz"]),
            // Two kinds: the longer, and what is left of the other.
            (
                "Maria Lopez Madrid",
                &["L:Lopez Madrid"],
                &[("Maria", 0.9, 0.0)],
                &["P:Maria", "L:Lopez Madrid"],
            ),
            (
                "Anna Lee Rome",
                &["L:Lee Rome"],
                &[("Anna", 0.9, 0.0), ("Lee", 0.9, 0.0)],
                &["P:Anna Lee", "L:Rome"],
            ),
            ("Lopez GmbH", &["O:Lopez GmbH"], &[("Lopez", 0.9, 0.0)], &["O:Lopez GmbH"]),
            // Structured rules win and cut; a rest needs a letter.
            ("at 1.2.3.4", &["S:1.2.3.4"], &[("1.2.3.4", 0.0, 0.9)], &["S:1.2.3.4"]),
            (
                "12 Oak St, Rye 10580",
                &["S:10580"],
                &[
                    ("12", 0.0, 0.9),
                    ("Oak", 0.0, 0.9),
                    ("St", 0.0, 0.9),
                    ("Rye", 0.0, 0.9),
                    ("10580", 0.0, 0.9),
                ],
                &["L:12 Oak St, Rye", "S:10580"],
            ),
            // A place needs a letter; code needs more.
            ("error 4711 here", &[], &[("4711", 0.0, 0.9)], &[]),
            ("len(x) of", &[], &[("len", 0.6, 0.0)], &[]),
            ("max_value", &[], &[("max", 0.6, 0.0)], &[]),
            ("```\nmax\n```", &[], &[("max", 0.6, 0.0)], &[]),
            ("```\nmax\n```", &[], &[("max", 0.8, 0.0)], &["P:max"]),
            ("``` x ``` max", &[], &[("max", 0.6, 0.0)], &["P:max"]),
        ];
        for (text, lexicon, model, wanted) in cases {
            assert_eq!(&merged(text, lexicon, model), wanted, "{text}");
        }
    }
}
