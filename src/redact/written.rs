//! An original in the form that a model wrote its surrogate in.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::redact::case::{LetterCase, lower};
use crate::redact::escapes::{TextStart, begins, respelled};
use crate::redact::index::More;
use crate::redact::parts::{LAST, SurrogatePart, alphanumeric, bare};
use crate::redact::pem::{LineStart, line_start, without_layout};
use crate::redact::quoted::quoted;
use crate::redact::small_letters::is_name_in_small_letters;
use crate::redact::unescaped::read;
use crate::redact::units::{NestedBreak, NextUnit, TextUnit, TextUnits, read_alike};

/// What the original is where `written` stands for this part of the surrogate; `None` where an original cannot be
/// written so.
pub(super) fn original(
    part: SurrogatePart,
    surrogate: &str,
    original: &str,
    written: &str,
) -> Option<String> {
    if part == SurrogatePart::Lines {
        return lines(surrogate, &read(original), written);
    }
    let [surrogate, original] = read_alike(surrogate, original)?;
    let surrogate = surrogate.as_str();
    match part {
        SurrogatePart::End => {
            let digits = alphanumeric(&original);
            Some(digits.get(digits.len().checked_sub(LAST)?..)?.to_owned())
        }
        SurrogatePart::Number { from, behind, .. } => number(from, behind, surrogate, &original, written),
        SurrogatePart::Lines => None,
        SurrogatePart::Whole { strict } => text(strict, surrogate, &original, written),
        SurrogatePart::Named { form, .. } => {
            let (surrogate, original) = (form.of(surrogate)?, Zeroizing::new(form.of(&original)?));
            match form.is_joined() {
                true => joined(&surrogate, &original, written),
                false => text(false, &surrogate, &original, written),
            }
        }
        SurrogatePart::Side { sign, behind } => {
            let of = |text: &str| {
                let (before, after) = text.split_once(sign)?;
                Some(Zeroizing::new(if behind { after } else { before }.to_owned()))
            };
            text(!behind, &of(surrogate)?, &of(&original)?, written)
        }
        SurrogatePart::Word(at) => text(true, word(surrogate, at)?, word(&original, at)?, written),
        SurrogatePart::Half { word, half } => {
            text(true, half_of(surrogate, word, half)?, half_of(&original, word, half)?, written)
        }
    }
}

/// `with`, which stands for what `original` reads, with the escapes that the original has: who repeats it repeats them, so that
/// the original comes back as it was written. `None` where that cannot be, or where there is no escape.
pub(super) fn with_escapes_of(original: &str, read: &str, with: &str) -> Option<String> {
    if !TextUnits::all(original).any(|unit| unit.is_escaped()) {
        return None;
    }
    Some(with_letter_of(original, text(false, read, with, original)?))
}

/// `with`, which stands for `original`, with a letter that is escaped if the original has one beyond ASCII that is.
pub(super) fn with_letter_of(original: &str, with: String) -> String {
    let is_letter = |c: char| !c.is_ascii() && c.is_alphanumeric();
    let escaped = |unit: &TextUnit| unit.is_escaped() && unit.read.is_some_and(is_letter);
    match TextUnits::all(original).find(escaped) {
        Some(unit) => with_an_escape(with, unit.source(original)),
        None => with,
    }
}

/// `text` with a letter escaped as `like` is, if no letter of it is: it stands for a text that has such.
pub(super) fn with_an_escape(text: String, like: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric();
    if TextUnits::all(&text).any(|unit| unit.is_escaped() && unit.read.is_some_and(is_letter)) {
        return text;
    }
    let small = |unit: &TextUnit| unit.read.is_some_and(|c| c.is_ascii_lowercase());
    let letters: Vec<TextUnit> =
        TextUnits::all(&text).filter(|unit| unit.is_plain() && small(unit)).collect();
    // The number of some has a digit that is a letter, which shows in which case those are.
    let telling = letters.iter().rev().find(|unit| matches!(unit.read, Some('j'..='o' | 'z')));
    let Some(letter) = telling.or(letters.last()) else { return text };
    let (before, behind) = (text.get(..letter.start), text.get(letter.start + letter.len..));
    let escaped = letter.read.map(|c| letter_like(like, c));
    [before, escaped.as_deref(), behind].into_iter().flatten().collect()
}

/// A letter of ASCII spelled as `like` spells one beyond ASCII.
fn letter_like(like: &str, c: char) -> String {
    let backslashes = like.bytes().take_while(|byte| *byte == b'\\').count();
    let (before, shape) = like.split_at(backslashes);
    let upper = shape.bytes().any(|byte| matches!(byte, b'A'..=b'F'));
    let number = |width: usize| match upper {
        true => format!("{:0width$X}", u32::from(c)),
        false => format!("{:0width$x}", u32::from(c)),
    };
    match shape.as_bytes() {
        [b'u', b'{', ..] => format!("{before}u{{{}}}", number(1)),
        [b'u', ..] => format!("{before}u{}", number(4)),
        [b'U', ..] => format!("{before}U{}", number(8)),
        _ => c.to_string(),
    }
}

/// Whether an escape is the number of a letter or digit.
fn is_of_letter(like: &str) -> bool {
    matches!(begins(like.as_bytes(), More::No), TextStart::Escape(c, length) if c.is_alphanumeric() && length > 2)
}

/// One of the words that blanks part, without what stands around it.
fn word(text: &str, at: usize) -> Option<&str> {
    text.split(' ').nth(at).map(bare)
}

/// One half of such a word.
fn half_of(text: &str, at: usize, half: usize) -> Option<&str> {
    word(text, at)?.split('-').nth(half)
}

/// Letters and digits in the places of those that were written; what stands between them stays.
fn number(from: usize, behind: usize, surrogate: &str, original: &str, written: &str) -> Option<String> {
    let units: Vec<TextUnit> = TextUnits::all(written).collect();
    let is_part = |c: &char| c.is_ascii_alphanumeric();
    let there: Vec<char> = units.iter().filter_map(|unit| unit.read).filter(is_part).collect();
    let with = |text: &str| {
        let prefix = there.iter().take(behind).copied();
        prefix.chain(alphanumeric(text).chars().skip(from)).collect::<Vec<char>>()
    };
    let (surrogate, original) = (with(surrogate), with(original));
    if surrogate.len() != there.len() || original.len() != there.len() {
        return None;
    }
    let case = LetterCase::between(&surrogate, &there).unwrap_or(LetterCase::Kept);
    let mut original = case.changed(&original).into_iter();
    let mut out = String::with_capacity(written.len());
    for unit in &units {
        match unit.read.filter(is_part) {
            Some(_) => unit.spell(written, original.next()?, &mut out),
            None => out.push_str(unit.source(written)),
        }
    }
    Some(out)
}

/// Characters in the places of those that were written; what lays them out stays.
fn lines(surrogate: &str, original: &str, written: &str) -> Option<String> {
    let (surrogate, original) = (without_layout(&read(surrogate)), without_layout(original));
    let mut places = surrogate.chars().zip(original.chars()).peekable();
    let mut out = String::with_capacity(written.len());
    let mut nested = NestedBreak::default();
    let mut units = TextUnits::of(written.as_bytes(), More::No);
    while let NextUnit::Unit(unit) = units.step() {
        let layout = nested.is_break(&unit, written.as_bytes());
        match places.next_if(|(c, _)| unit.read == Some(*c) && !layout) {
            Some((_, c)) => unit.spell(written, c, &mut out),
            None => out.push_str(unit.source(written)),
        }
        if unit.breaks_line() {
            let rest = places.clone();
            let goes_on = |run: &[u8]| {
                let mut rest = rest.clone().map(|(c, _)| c);
                run.iter().all(|&byte| rest.next() == Some(char::from(byte)))
            };
            if let LineStart::Behind(length) = line_start(units.rest(), true, &goes_on) {
                out.push_str(written.get(units.skip(length)).unwrap_or_default());
            }
        }
    }
    places.next().is_none().then_some(out)
}

/// Characters in the places of those that were written, or as they were written.
fn text(strict: bool, surrogate: &str, original: &str, written: &str) -> Option<String> {
    let is_name = || [surrogate, original].into_iter().all(is_name_in_small_letters);
    let (surrogate, original): (Vec<char>, Vec<char>) =
        (surrogate.chars().collect(), original.chars().collect());
    // Which unit is which character's; all others are no part of the value.
    let mut placed = Vec::with_capacity(surrogate.len());
    let mut there = Vec::with_capacity(surrogate.len());
    let units: Vec<TextUnit> = TextUnits::all(written).collect();
    for (at, unit) in units.iter().enumerate() {
        let (Some(&wanted), Some(c)) = (surrogate.get(placed.len()), unit.read) else { continue };
        if lower(c) == lower(wanted) {
            there.push(c);
            placed.push(at);
        } else if wanted == ' ' && is_blank(c) {
            there.push(' ');
            placed.push(at);
        }
    }
    if placed.len() != surrogate.len() {
        return None;
    }
    // In small letters it may be any word, unless both are names then, too: what comes back so must go out as it was.
    if strict
        && !LetterCase::between(&surrogate, &there).is_some_and(|case| case.keeps_capitals() || is_name())
    {
        return None;
    }
    let original = LetterCase::transferred(&surrogate, &there, &original).unwrap_or(original);
    let writing = TextWriting::of(written, &units);
    let (mut words, mut others) = (words_of(&surrogate), words_of(&original));
    if words.len() != others.len() {
        words = std::iter::once(0..surrogate.len()).collect();
        others = std::iter::once(0..original.len()).collect();
    }
    let (mut out, mut at) = (String::with_capacity(written.len()), 0);
    for (word, other) in words.into_iter().zip(others) {
        let (placed, word, other) = (placed.get(word.clone())?, surrogate.get(word)?, original.get(other)?);
        let (Some(&first), Some(&last)) = (placed.first(), placed.last()) else {
            if other.is_empty() { continue } else { return None }
        };
        writing.push(at..first, &mut out);
        match alike(word, other) {
            true => writing.in_place(first..last + 1, placed, other, &mut out),
            false => writing.anew(first..last + 1, placed, other, &mut out)?,
        }
        at = last + 1;
    }
    Some(out)
}

/// The words of a name that is written as one, each in the letter case of that in its place; `None` where no such case is known,
/// so that it would not come back as it was.
fn joined(surrogate: &str, original: &str, written: &str) -> Option<String> {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    let (mut out, mut rest) = (String::with_capacity(original.len()), written);
    for (word, other) in surrogate.split(' ').zip(original.split(' ')) {
        let end = rest.char_indices().nth(word.chars().count()).map_or(rest.len(), |(at, _)| at);
        let (own, behind) = rest.split_at_checked(end)?;
        let case = LetterCase::between(&letters(word), &letters(own))?;
        out.extend(case.changed(&letters(other)));
        rest = behind;
    }
    rest.is_empty().then_some(out)
}

/// Where the words of a text lie, of which there is one more than blanks.
fn words_of(text: &[char]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for word in text.split(|c| *c == ' ') {
        let from = words.last().map_or(0, |last| last.end + 1);
        words.push(from..from + word.len());
    }
    words
}

/// Whether each character of one has its own place in the other.
fn alike(one: &[char], other: &[char]) -> bool {
    let same = |(a, b): (&char, &char)| a == b || a.is_alphanumeric() && b.is_alphanumeric();
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// Whether a blank of a value may be written so.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, '+' | '-' | '_' | '.' | '\n' | '\t')
}

/// How a text is written.
struct TextWriting<'w> {
    written: &'w str,
    units: &'w [TextUnit],
    /// The first escape.
    like: Option<&'w str>,
    /// Whether one letter of ASCII is escaped and no other is: it stands for one beyond ASCII.
    beyond: bool,
}

impl<'w> TextWriting<'w> {
    fn of(written: &'w str, units: &'w [TextUnit]) -> Self {
        let like = units.iter().find(|unit| unit.is_escaped()).map(|unit| unit.source(written));
        let letters = || units.iter().filter(|unit| unit.read.is_some_and(|c| c.is_ascii_alphanumeric()));
        let mut escaped = letters().filter(|unit| unit.is_escaped());
        let one = escaped.next().filter(|_| escaped.next().is_none() && letters().nth(1).is_some());
        let beyond = one.is_some_and(|unit| unit.source(written).starts_with('\\'));
        Self { written, units, like, beyond }
    }

    /// These units as they are.
    fn push(&self, units: Range<usize>, out: &mut String) {
        for unit in self.units.get(units).unwrap_or_default() {
            out.push_str(unit.source(self.written));
        }
    }

    /// Each character as the one in its place is written; units that are no character's stay.
    fn in_place(&self, units: Range<usize>, placed: &[usize], original: &[char], out: &mut String) {
        let mut values = placed.iter().zip(original).peekable();
        for (at, unit) in units.clone().zip(self.units.get(units).unwrap_or_default()) {
            match values.next_if(|(place, _)| **place == at) {
                None => out.push_str(unit.source(self.written)),
                Some((_, &c)) if unit.is_plain() => self.plain(unit, c, out),
                Some((_, &c)) if self.beyond && c.is_ascii_alphanumeric() => out.push(c),
                Some((_, &c)) => unit.spell(self.written, c, out),
            }
        }
    }

    /// Each character as one like it is written, if there is one. Nothing may stand between but what nobody reads.
    fn anew(&self, units: Range<usize>, placed: &[usize], original: &[char], out: &mut String) -> Option<()> {
        let units = self.units.get(units)?;
        if units.iter().filter(|unit| unit.read.is_some()).count() != placed.len() {
            return None;
        }
        let is_part = |unit: &&TextUnit| unit.read.is_some_and(|c| c.is_ascii_alphanumeric());
        let mut parts = units.iter().filter(is_part);
        let escaped = parts.next().filter(|first| first.is_escaped() && parts.all(TextUnit::is_escaped));
        for &c in original {
            let plainly = self.beyond && c.is_ascii_alphanumeric();
            let same = units.iter().find(|unit| unit.read == Some(c) && !(plainly && unit.is_escaped()));
            match (same, escaped) {
                (Some(unit), _) => out.push_str(unit.source(self.written)),
                (None, Some(first)) => first.spell(self.written, c, out),
                (None, None) => self.unlike(c, out),
            }
        }
        Some(())
    }

    /// Writes what takes the place of a character that spells itself.
    fn plain(&self, unit: &TextUnit, c: char, out: &mut String) {
        if unit.read == Some(c) { out.push(c) } else { self.unlike(c, out) }
    }

    /// Writes a character that the surrogate does not have, so that it is read as itself beside the escapes there.
    fn unlike(&self, c: char, out: &mut String) {
        let escape = |like: &str| match like.as_bytes().first() {
            _ if quoted(like.as_bytes()).is_some_and(|(mark, _)| mark == c) => true,
            Some(b'$' | b'[' | b'\'') => false,
            Some(b'\\') if is_of_letter(like) => matches!(c, '"' | '\\') || c.is_control() || !c.is_ascii(),
            Some(b'%') => !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~')),
            Some(b'&') => matches!(c, '&' | '<' | '>' | '"' | '\''),
            _ => matches!(c, '"' | '\\' | '_' | '*') || c.is_control(),
        };
        match self.like.filter(|like| escape(like)) {
            Some(like) => out.push_str(&respelled(like, c)),
            None => out.push(c),
        }
    }
}
