//! Patterns that are one class of characters, so and so many of them: most keys are. They need no automaton: the
//! classes that a token's characters are all of, and its length, say which of them it matches. Hundreds of rules
//! share a few dozen such shapes.

use std::collections::HashMap;

use super::super::context::Supported;
use super::super::group_id::GroupId;
use super::super::mask::{Class, Masks};
use super::super::pass::{Candidates, StartOutcome, WindowPass};
use super::super::pattern::{CompiledPattern, Match, Matches, Traits};
use super::super::view::View;
use crate::detect::rules::Edge;

/// The longest value of a shape, in bytes.
const MOST: usize = 64;

/// A class and how many characters of it.
struct ClassRun {
    /// The bit of the class.
    class: u32,
    least: usize,
    most: usize,
    /// The patterns that can count alone, and the others, by their rules.
    alone: Vec<CompiledPattern>,
    needy: Vec<CompiledPattern>,
}

/// The patterns of a group that are shapes.
pub(crate) struct Shapes {
    /// The classes that a byte is of, a bit for each.
    classes: Vec<u32>,
    shapes: Vec<ClassRun>,
    /// What each length can be.
    by_length: Vec<OfLength>,
    /// The shapes with patterns that can count alone, a bit for each, and those with patterns of each rule.
    alone: ShapeSet,
    by_rule: Vec<ShapeSet>,
}

/// The shapes that one length can be of.
#[derive(Clone, Default)]
struct OfLength {
    places: Vec<usize>,
    /// The same, to see at once that none of some is among them.
    set: ShapeSet,
    /// The bits of their classes, each once, and what the patterns of it have in common.
    classes: Vec<(u32, Traits)>,
}

/// Some of the shapes, a bit for each; all from the last bit on share it.
#[derive(Clone, Copy, Default)]
struct ShapeSet(u128);

impl ShapeSet {
    const ALL: Self = Self(u128::MAX);

    const fn bit(shape: usize) -> u128 {
        1 << if shape < 127 { shape } else { 127 }
    }

    const fn has(self, shape: usize) -> bool {
        self.0 & Self::bit(shape) != 0
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The class of bytes, the least and the most count that `regex` asks for, if that is all it does.
fn parse(regex: &str) -> Option<(Vec<bool>, usize, usize)> {
    let (class, count) = regex.strip_prefix('[')?.rsplit_once("]{")?;
    let count = count.strip_suffix('}')?;
    let (least, most) = count.split_once(',').unwrap_or((count, count));
    let (least, most) = (least.parse().ok()?, most.parse().ok()?);
    let mut has = vec![false; 256];
    let mut rest = class.bytes().peekable();
    while let Some(byte) = rest.next() {
        let from = match byte {
            b'\\' => rest.next().filter(u8::is_ascii_punctuation)?,
            b'[' | b']' | b'&' | b'^' => return None,
            byte => byte,
        };
        let mut ahead = rest.clone();
        let ranged = ahead.next() == Some(b'-') && ahead.peek().is_some();
        let to = if ranged {
            rest.next();
            rest.next().filter(|&to| to != b'\\' && to >= from)?
        } else {
            from
        };
        has.get_mut(usize::from(from)..=usize::from(to))?.fill(true);
    }
    (least > 0 && least <= most && most <= MOST).then_some((has, least, most))
}

impl Shapes {
    /// Takes from `patterns` those that are shapes, and gives back the others.
    pub(crate) fn take(patterns: Vec<(String, CompiledPattern)>) -> (Self, Vec<(String, CompiledPattern)>) {
        let mut shapes = Self {
            classes: vec![0; 256],
            shapes: Vec::new(),
            by_length: vec![OfLength::default(); MOST + 1],
            alone: ShapeSet::default(),
            by_rule: Vec::new(),
        };
        let mut bits: HashMap<Vec<bool>, u32> = HashMap::new();
        let mut others = Vec::new();
        for (regex, pattern) in patterns {
            let parsed = parse(&regex).filter(|_| pattern.edge != Edge::Open);
            let Some((has, least, most)) =
                parsed.filter(|(has, ..)| bits.len() < 32 || bits.contains_key(has))
            else {
                others.push((regex, pattern));
                continue;
            };
            let next = 1 << bits.len().min(31);
            let class = *bits.entry(has).or_insert_with_key(|has| {
                let of = shapes.classes.iter_mut().zip(has).filter(|(_, has)| **has);
                of.for_each(|(classes, _)| *classes |= next);
                next
            });
            shapes.add(pattern, class, least, most);
        }
        (shapes, others)
    }

    fn add(&mut self, pattern: CompiledPattern, class: u32, least: usize, most: usize) {
        let same = |shape: &ClassRun| (shape.class, shape.least, shape.most) == (class, least, most);
        let place = self.shapes.iter().position(same).unwrap_or(self.shapes.len());
        if place == self.shapes.len() {
            self.shapes.push(ClassRun { class, least, most, alone: Vec::new(), needy: Vec::new() });
            for of_length in self.by_length.get_mut(least..=most).unwrap_or_default() {
                of_length.places.push(place);
                of_length.set.0 |= ShapeSet::bit(place);
            }
        }
        for of_length in self.by_length.get_mut(least..=most).unwrap_or_default() {
            match of_length.classes.iter_mut().find(|(known, _)| *known == class) {
                Some((_, traits)) => *traits = traits.or(Traits::of(&pattern)),
                None => of_length.classes.push((class, Traits::of(&pattern))),
            }
        }
        if let Some(shape) = self.shapes.get_mut(place) {
            let patterns = if pattern.alone { &mut shape.alone } else { &mut shape.needy };
            patterns.push(pattern);
        }
        let rule = pattern.rule.index();
        if self.by_rule.len() <= rule {
            self.by_rule.resize(rule + 1, ShapeSet::default());
        }
        if pattern.alone {
            self.alone.0 |= ShapeSet::bit(place);
        } else if let Some(shapes) = self.by_rule.get_mut(rule) {
            shapes.0 |= ShapeSet::bit(place);
        }
    }

    /// The shapes with patterns of which a match can count.
    fn fitting(&self, supported: &Supported) -> ShapeSet {
        if supported.is_unknown() {
            return ShapeSet::ALL;
        }
        let known = supported.before.iter().chain(supported.behind.iter());
        let of_rules = known.filter_map(|rule| self.by_rule.get(rule.index()));
        ShapeSet(of_rules.fold(self.alone.0, |all, shapes| all | shapes.0))
    }

    /// Bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let patterns: usize = self.shapes.iter().map(|shape| shape.alone.len() + shape.needy.len()).sum();
        self.classes.len() * 4 + patterns * size_of::<CompiledPattern>()
    }

    /// Where values may end that begin at `start`, each with the classes that all their characters are of. `None`
    /// if the text ends before that is known.
    fn cuts(&self, view: &View<'_>, masks: &Masks, start: usize, cuts: &mut Vec<(usize, u32)>) -> Option<()> {
        cuts.clear();
        let of = |byte: &u8| self.classes.get(usize::from(*byte)).copied().unwrap_or(0);
        let (mut classes, mut at) = (u32::MAX, start);
        while at <= start + MOST && classes != 0 {
            // Values end only where a word does.
            let end = (at + masks.run(Class::Word, at)).min(start + MOST + 1);
            classes = view.slice(at, end).iter().fold(classes, |all, byte| all & of(byte));
            if classes == 0 || end > start + MOST {
                break;
            }
            let Some(byte) = view.get(end) else {
                cuts.push((end, classes));
                return view.complete.then_some(());
            };
            if end > start {
                cuts.push((end, classes));
            }
            classes &= of(&byte);
            at = end + 1;
        }
        Some(())
    }

    /// The shapes of what lies between `start` and each of `cuts`, the longest first; of these only.
    fn matches<'s>(
        &'s self,
        start: usize,
        cuts: &'s [(usize, u32)],
        of: ShapeSet,
    ) -> impl Iterator<Item = (usize, &'s ClassRun)> {
        cuts.iter().rev().flat_map(move |&(end, classes)| {
            let of_length = self.by_length.get(end - start).filter(|one| one.set.meets(of));
            let shapes = of_length.map(|one| one.places.as_slice()).unwrap_or_default().iter();
            let shapes = shapes.filter(move |&&n| of.has(n)).filter_map(|&n| self.shapes.get(n));
            let fitting = shapes.filter(move |shape| shape.class & classes != 0);
            fitting.map(move |shape| (end, shape))
        })
    }
}

impl ClassRun {
    /// The patterns of which a match can count: where it is known which rules are supported, those are looked up,
    /// since hundreds of rules can have one shape.
    fn patterns<'s>(&'s self, supported: &'s Supported) -> impl Iterator<Item = &'s CompiledPattern> {
        let all = if supported.is_unknown() { self.needy.as_slice() } else { &[] };
        let known = supported.before.iter().chain(supported.behind.iter()).filter(|_| all.is_empty());
        let of_rule = |rule| {
            let first = self.needy.partition_point(|pattern| pattern.rule < rule);
            let rest = self.needy.get(first..).unwrap_or_default();
            rest.iter().take_while(move |pattern| pattern.rule == rule)
        };
        self.alone.iter().chain(all).chain(known.flat_map(of_rule))
    }
}

impl Shapes {
    /// Whether all shapes that begin at `start` are decided; then what was found is in `found`.
    pub(super) fn try_start(&self, pass: &WindowPass<'_>, start: usize, found: &mut Candidates) -> bool {
        let mut cuts = pass.cuts.borrow_mut();
        if self.cuts(&pass.view, pass.masks, start, &mut cuts).is_none() {
            return false;
        }
        pass.step(cuts.last().map_or(0, |(end, _)| end - start) + cuts.len());
        let mut all = Matches::at(start);
        for &(end, classes) in cuts.iter() {
            let known = self.by_length.get(end - start).map(|one| one.classes.as_slice()).unwrap_or_default();
            let fitting = known.iter().filter(|(class, _)| class & classes != 0);
            fitting.for_each(|&(_, traits)| all.note(end, traits));
        }
        if all.is_empty() {
            return true;
        }
        let supported = &mut *pass.supported.borrow_mut();
        pass.look_up(&all, GroupId::Tokens, supported);
        if !supported.any() && !all.alone {
            return true;
        }
        let matches = self.matches(start, &cuts, self.fitting(supported));
        let matches = matches
            .flat_map(|(end, shape)| shape.patterns(supported).map(move |pattern| Match { end, pattern }));
        pass.settle_all(start, matches, supported, found) != StartOutcome::NeedMore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_class_and_a_count_are_a_shape() {
        for regex in ["[a-f0-9]{32}", r"[A-Za-z0-9_\-]{20,64}", "[0-9a-z+/=-]{1,2}"] {
            assert!(parse(regex).is_some(), "{regex}");
        }
        for regex in [
            "[a-f0-9]{32,}",
            "[^a]{3}",
            "[a]{2}b",
            "x[a]{2}",
            "[a-z]{3}[a]{2}",
            r"[\d]{3}",
            "[a]{70}",
            "[a]+",
        ] {
            assert!(parse(regex).is_none(), "{regex}");
        }
    }

    #[test]
    fn shapes_mean_what_the_expression_means() {
        for regex in ["[a-f0-9]{3}", r"[A-Za-z0-9_\-]{2,4}", "[0-9a-z+/=-]{3,5}", "[A-Z]{1,2}"] {
            let (has, least, most) = parse(regex).unwrap();
            let whole = regex_automata::meta::Regex::new(&format!("^(?:{regex})$")).unwrap();
            for byte in 1..128u8 {
                for length in 1..8 {
                    let text = vec![byte; length];
                    let ours = has[usize::from(byte)] && (least..=most).contains(&length);
                    assert_eq!(ours, whole.is_match(&text), "{regex} on {length} of {byte}");
                }
            }
        }
    }
}
