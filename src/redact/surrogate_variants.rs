//! The forms in which a model writes a surrogate again: in other letter case, with escapes, hyphens and separators of its
//! own, in part. What is found so is replaced by the original in the same form.
//!
//! | of | what may differ |
//! |---|---|
//! | every value | letter case; escapes of HTML, URLs, JSON, JavaScript and Markdown; no-break spaces, typographic hyphens, full-width characters; more blanks than one, and a shell's backslash before one; soft hyphens and zero-width characters within; Markdown around words |
//! | numbers | separators, parentheses, groups; of phone numbers also what is dialled before; the last four digits where the text says that they are (see [`preceding`](super::preceding)) |
//! | names | the genitive's `s`; one half of a double name |
//! | persons | an initial of one name beside the other, with a dot, a blank or a sign between them; the surname first; no middle names; both names as one word, and an initial before the surname |
//! | several words | `+`, `-`, `_`, `.` or the end of a line between them; a single word |
//! | marks in every value | as programs quote them (see [`quoted`](super::quoted)) |
//! | `user:password`, mail addresses | what stands before the sign, or behind it, alone |
//! | secrets | long pieces that stand alone (see [`fragments`](super::fragments)) |
//! | keys of several lines | where they break, and what stands before and behind each: blanks, quotes, commas, backslashes, numbers, the marks of diffs, quotations and comments |
//!
//! A form that two originals may be meant by is not known.

use zeroize::Zeroizing;

use crate::redact::case::lower;
use crate::redact::form_search::{Complete, FormSearch, Gap, Matched};
use crate::redact::index::{CaseComparison, Index, IndexStep, More};
use crate::redact::issued::IssuedSurrogate;
use crate::redact::parts::{LAST, PartKey, SurrogatePart, is_layout, is_of_mailbox, keys_of};
use crate::redact::pem::{LineStart, line_start};
use crate::redact::preceding::PrecedingContext;
use crate::redact::units::{NestedBreak, TextUnits};
use crate::redact::written::{is_blank, original};

/// The shortest user's name that is told from other words by the digits or signs in it, in bytes.
const MARKED_USER: usize = 6;

/// Units in a row that lay out lines.
const LAYOUT: u8 = 100;

/// What a surrogate is known by beside its own bytes.
pub(super) struct SurrogateVariants {
    surrogates: Vec<Option<Box<str>>>,
    forms: Vec<SurrogateForm>,
    /// Characters as read, in lower case.
    words: Index,
    /// Letters and digits as read, in lower case.
    numbers: Index,
    /// Last digits.
    ends: Index,
    /// Characters as read, but for those that lay out lines.
    lines: Index,
    /// Names that are one word, in lower case.
    joined: Index,
    /// Whether a form may begin with a byte.
    begins: [bool; 256],
}

/// One form: what it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SurrogateForm {
    pub(super) entry: u32,
    pub(super) part: SurrogatePart,
    /// Whether it is a name's, which has a genitive.
    inflects: bool,
}

impl SurrogateVariants {
    pub(super) fn of(issued: &[IssuedSurrogate]) -> Self {
        let keys = issued
            .iter()
            .zip(0..)
            .flat_map(|(issue, entry)| keys_of(issue).into_iter().map(move |key| (key, entry)));
        let mut keys: Vec<(PartKey, u32)> = keys.collect();
        keys.sort_by(|(a, one), (b, other)| {
            let order = (a.view, &a.text, a.part.is_signed(), one);
            order.cmp(&(b.view, &b.text, b.part.is_signed(), other))
        });
        let mut used = vec![false; issued.len()];
        let mut forms = Vec::new();
        let mut chosen = [const { Vec::new() }; 5];
        for alike in keys.chunk_by(|(a, _), (b, _)| a.view == b.view && a.text == b.text) {
            let Some(((first, entry), others)) = alike.split_first() else { continue };
            if others.iter().any(|(other, _)| other.meaning != first.meaning) {
                continue;
            }
            // A word that stands for itself: a particle, `Street`.
            if matches!(first.part, SurrogatePart::Word(_) | SurrogatePart::Half { .. })
                && *first.meaning == first.text
            {
                continue;
            }
            if let Some(used) = used.get_mut(*entry as usize) {
                *used = true;
            }
            // What any of them may be written as.
            let part = others.iter().fold(first.part, |part, (other, _)| part.or(other.part));
            if let Some(chosen) = chosen.get_mut(first.view as usize) {
                chosen.push((first.text.as_bytes().into(), forms.len() as u32));
            }
            let of = issued.get(*entry as usize);
            forms.push(SurrogateForm {
                entry: *entry,
                part,
                inflects: of.is_some_and(|of| of.spelling.is_name()),
            });
        }
        let [words, numbers, ends, lines, joined] =
            chosen.map(|keys: Vec<(Box<[u8]>, u32)>| Index::new(keys.into_iter()));
        let surrogates = issued.iter().zip(used);
        let surrogates =
            surrogates.map(|(issue, used)| used.then(|| issue.surrogate.as_str().into())).collect();
        let mut begins = [false; 256];
        let mut begin = |byte: u8| {
            if let Some(begins) = begins.get_mut(usize::from(byte)) {
                *begins = true;
            }
        };
        if !forms.is_empty() {
            // Escapes, and characters that read as others.
            [b'%', b'\\', b'&'].into_iter().chain(0xc0..=u8::MAX).for_each(&mut begin);
        }
        if !numbers.is_empty() {
            [b'(', b'+'].into_iter().for_each(&mut begin);
        }
        for first in [&words, &numbers, &ends, &lines, &joined].into_iter().flat_map(Index::first_bytes) {
            begin(first);
            begin(first.to_ascii_uppercase());
        }
        Self { surrogates, forms, words, numbers, ends, lines, joined, begins }
    }

    /// Whether a form may begin with this byte.
    pub(super) fn may_begin(&self, byte: u8) -> bool {
        self.begins.get(usize::from(byte)).copied().unwrap_or(false)
    }

    /// The longest form at the beginning of `text`.
    pub(super) fn seek(&self, before: PrecedingContext<'_>, text: &[u8], more: More) -> Matched {
        let Some(&first) = text.first() else { return Matched::No };
        let admitted = before.admits(first);
        let whole = match admitted {
            true => {
                let word = self.apart(self.word(text, more), before, text, more);
                let word = self.joined(text, more).or_longer(word);
                word.or_longer(self.number(text, more)).or_longer(self.lines(text, more))
            }
            false => Matched::No,
        };
        // Few digits are last ones of what was issued, and only then is it worth looking back.
        match self.ends.may_begin(first) && (admitted || before.may_be_mask()) {
            true => match self.last_digits(text, more) {
                Matched::No => whole,
                last if before.announces_last_digits() => whole.or_longer(last),
                _ => whole,
            },
            false => whole,
        }
    }

    /// What `written`, which is of this form, stands for, and of which entry; `None` where it is written as no original can be.
    pub(super) fn restored(
        &self,
        form: u32,
        written: &str,
        originals: &[Zeroizing<String>],
    ) -> Option<(String, u32)> {
        let SurrogateForm { entry, part, .. } = *self.forms.get(form as usize)?;
        let surrogate = self.surrogates.get(entry as usize)?.as_deref()?;
        Some((original(part, surrogate, originals.get(entry as usize)?, written)?, entry))
    }

    /// Exactly four digits.
    fn last_digits(&self, text: &[u8], more: More) -> Matched {
        let mut walk = self.ends.walk();
        for at in 0..LAST {
            match text.get(at) {
                Some(byte) if walk.step(*byte) => {}
                None if more == More::Yes => return Matched::Wait,
                _ => return Matched::No,
            }
        }
        let Some(form) = walk.complete() else { return Matched::No };
        // Not the beginning of a longer number.
        let goes_on = match (text.get(LAST), text.get(LAST + 1)) {
            (None, _) if more == More::Yes => return Matched::Wait,
            (Some(b'.' | b','), None) if more == More::Yes => return Matched::Wait,
            (Some(b'.' | b','), Some(next)) => next.is_ascii_digit(),
            (next, _) => next.is_some_and(u8::is_ascii_alphanumeric),
        };
        if goes_on { Matched::No } else { Matched::Found { len: LAST, form } }
    }

    /// A name that is one word.
    fn joined(&self, text: &[u8], more: More) -> Matched {
        match self.joined.longest(text, CaseComparison::Folded, more) {
            IndexStep::No => Matched::No,
            IndexStep::Wait => Matched::Wait,
            IndexStep::Found { len, entry } => Matched::Found { len, form: entry },
        }
    }

    /// A text of which every character is read.
    fn word(&self, text: &[u8], more: More) -> Matched {
        if !self.words.may_stand(text) {
            return Matched::No;
        }
        let mut either = false;
        let found = self.word_by(SignReading::Itself, text, more, &mut either);
        // What begins with a sign of its own, such as `E. Ruiz`, does not hide what has a blank there, such as `e.ruiz`.
        match either {
            true => self.word_by(SignReading::Blank, text, more, &mut false).or_longer(found),
            false => found,
        }
    }

    /// The same where a sign that may stand for a blank is read as one of both first; `either` becomes true where it might be
    /// read as both.
    fn word_by(&self, first: SignReading, text: &[u8], more: More, either: &mut bool) -> Matched {
        let mut search = FormSearch::new(self.words.walk());
        let mut units = TextUnits::of(text, more);
        loop {
            let (c, unit) = match search.next(&mut units) {
                Ok(next) => next,
                Err(matched) => return matched,
            };
            let both =
                is_blank(c) && search.goes_on(b" ") && search.goes_on(c.encode_utf8(&mut [0; 4]).as_bytes());
            *either |= both;
            let as_blank = both && first == SignReading::Blank;
            if !as_blank && search.step(lower(c)) || is_blank(c) && search.step(' ') {
                search.took(c, &unit);
                search.pending = search.pending.filter(|found| self.is_written_so(*found, text));
            } else if let Some(owner) = search.owner.take().filter(|_| c == 's') {
                return if self.inflects(owner) { search.inflected(owner, &mut units) } else { search.best };
            } else if !((is_markup(c) || widens(search.last, c)) && search.extra()) {
                return search.best;
            }
        }
    }

    /// Whether a person's name may be written so in its form.
    fn is_written_so(&self, found: Complete, text: &[u8]) -> bool {
        let part = self.forms.get(found.form as usize).map(|form| form.part);
        let Some(SurrogatePart::Named { form, signed }) = part else { return true };
        let written = text.get(..found.len).and_then(|written| std::str::from_utf8(written).ok());
        written.is_some_and(|written| form.admits(signed, written))
    }

    /// What was found, unless it is a domain behind a piece of its mailbox, a mailbox before another domain, which is another address, or a user's name that may be any word
    /// or a part of one, where nothing says that one stands there.
    fn apart(&self, found: Matched, before: PrecedingContext<'_>, text: &[u8], more: More) -> Matched {
        let Matched::Found { len, form } = found else { return found };
        if self.is_beside_own_piece(form, before) {
            return Matched::No;
        }
        let Some(SurrogatePart::Side { sign, behind: false }) =
            self.forms.get(form as usize).map(|form| form.part)
        else {
            return found;
        };
        match (sign, text.get(len)) {
            (':', next) if !before.names_user() => match next {
                _ if may_be_word(text.get(..len).unwrap_or_default()) || before.in_identifier() => {
                    Matched::No
                }
                Some(b'_' | b'-') => Matched::No,
                None if more == More::Yes => Matched::Wait,
                _ => found,
            },
            ('@', Some(b'@')) => Matched::No,
            ('@', None) if more == More::Yes => Matched::Wait,
            _ => found,
        }
    }

    /// Whether a domain stands behind a piece of the surrogate's own mailbox: with the true domain that is somebody else's address.
    fn is_beside_own_piece(&self, form: u32, before: PrecedingContext<'_>) -> bool {
        const DOMAIN: SurrogatePart = SurrogatePart::Side { sign: '@', behind: true };
        let form = self.forms.get(form as usize).filter(|form| form.part == DOMAIN);
        let surrogate = form.and_then(|form| self.surrogates.get(form.entry as usize)?.as_deref());
        surrogate
            .is_some_and(|surrogate| before.mailbox().is_some_and(|piece| is_of_mailbox(&piece, surrogate)))
    }

    /// Whether it may have the `s` of a genitive behind it, as in `Petras Brief`.
    fn inflects(&self, owner: Complete) -> bool {
        self.forms.get(owner.form as usize).is_some_and(|form| form.inflects)
    }

    /// Lines of which every character is read, but for those that lay them out.
    fn lines(&self, text: &[u8], more: More) -> Matched {
        if !text.first().is_some_and(|first| self.lines.may_begin(*first)) {
            return Matched::No;
        }
        let mut search = FormSearch::new(self.lines.walk());
        let mut units = TextUnits::of(text, more);
        let mut between = 0;
        let mut nested = NestedBreak::default();
        loop {
            let (c, unit) = match search.next(&mut units) {
                Ok(next) => next,
                Err(matched) => return matched,
            };
            let layout = nested.is_break(&unit, text) || is_layout(c);
            if layout && search.begun() && between < LAYOUT {
                between += 1;
                if unit.breaks_line() {
                    match line_start(units.rest(), more == More::No, &|run| search.goes_on(run)) {
                        LineStart::Behind(length) => drop(units.skip(length)),
                        LineStart::Wait => return Matched::Wait,
                    }
                }
            } else if search.step(c) {
                search.took(c, &unit);
                between = 0;
            } else {
                return search.best;
            }
        }
    }

    /// Letters and digits with separators between them.
    fn number(&self, text: &[u8], more: More) -> Matched {
        if !self.numbers.may_stand(text) {
            return Matched::No;
        }
        let mut search = FormSearch::new(self.numbers.walk());
        let mut units = TextUnits::of(text, more);
        let mut gap = Gap::default();
        loop {
            let (c, unit) = match search.next(&mut units) {
                Ok(next) => next,
                Err(matched) => return matched,
            };
            if c.is_ascii_alphanumeric() {
                if !search.step(lower(c)) {
                    return search.best;
                }
                gap.count = 0;
                search.took(c, &unit);
                search.pending = search.pending.filter(|found| !gap.open && self.admits(*found, gap.plus));
            } else if is_markup(c) && search.begun() {
                if !search.extra() {
                    return search.best;
                }
            } else if !gap.take(c, search.begun()) {
                return search.best;
            }
        }
    }

    /// A `+` in front of a number must be the surrogate's, or belong to what is dialled before it.
    fn admits(&self, found: Complete, plus: bool) -> bool {
        let form = self.forms.get(found.form as usize);
        !plus || form.is_some_and(|form| matches!(form.part, SurrogatePart::Number { plus: true, .. }))
    }
}

/// Whether a user's name may be any word.
fn may_be_word(user: &[u8]) -> bool {
    user.len() < MARKED_USER || user.iter().all(u8::is_ascii_alphabetic)
}

fn is_markup(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~')
}

/// Whether a character goes on with the gap between two words: one more blank, or the backslash of a shell before it.
fn widens(last: char, c: char) -> bool {
    c == '\\' || last.is_whitespace() && c.is_whitespace()
}

/// As what a sign is read first that may stand for a blank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignReading {
    Itself,
    Blank,
}

#[cfg(test)]
#[path = "surrogate_variants_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "sides_tests.rs"]
mod sides_tests;
