//! [`MadeText`]: a text that a formula makes, as far as it is known.

use crate::sanitize::format::link_target;

/// How many texts an argument may become that are told apart.
const TEXTS: usize = 64;

/// From how many bytes on nothing is added to a text: what it begins with is known, and no path is longer (`PATH_MAX`).
const LENGTH: usize = 4096;

/// What settles whether a target has a scheme, and which: behind these none begins.
const SETTLING: &[char] = &[':', '/', '\\', '#', '?'];

/// What codes of numbers and dates consist of, but for texts in them (ECMA-376 part 1, 18.8.31).
const NUMBER_CODES: &str = "0123456789#?.,;%+-_*@()$:/yYmMdDhHsSeE";

/// A text that an argument may become. What is not known of it is left out, and so are blanks, which no target has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MadeText {
    text: String,
    /// Whether it stands behind something that is not known.
    behind: bool,
    /// Whether it begins with what was cut from a text, or made of numbers: that may be anything.
    cut: bool,
}

impl MadeText {
    /// A string of the formula.
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.chars().filter(|c| *c > ' ').take(LENGTH).collect(), ..Self::default() }
    }

    /// A cell, a name, what a function finds.
    pub(super) fn unknown() -> Self {
        Self { behind: true, ..Self::default() }
    }

    /// What may be anything.
    pub(super) fn cut() -> Self {
        Self { cut: true, ..Self::unknown() }
    }

    /// Notes that it stands behind something that is not known.
    pub(super) fn put_behind(&mut self) {
        self.behind = true;
    }

    /// How much of it is kept, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>().saturating_add(self.text.len())
    }

    /// Whether nothing is known of it.
    pub(super) fn is_unknown(&self) -> bool {
        *self == Self::unknown()
    }

    /// Whether nothing that stands behind it changes where it leads: it has a scheme, or leads into the file.
    fn is_settled(&self) -> bool {
        let front = self.text.split(['/', '\\', '#', '?']).next().unwrap_or_default();
        self.cut || (!self.behind && (self.text.starts_with('#') || front.contains(':')))
    }

    /// Whether it leads where it led, whatever is cut off its end.
    pub(super) fn is_fixed(&self) -> bool {
        !self.cut && (self.behind || self.text.is_empty() || self.is_settled())
    }

    /// Whether it is known, and nothing else than signs that part nothing in a target.
    pub(super) fn is_sign(&self) -> bool {
        let part = |c: char| c.is_alphanumeric() || SETTLING.contains(&c);
        !self.behind && !self.cut && !self.text.contains(part)
    }

    /// Whether it is known, and no target acts for having it in it: `%20`.
    pub(super) fn is_harmless(&self) -> bool {
        let part = |c: char| c.is_alphabetic() || c == '.' || SETTLING.contains(&c);
        !self.behind && !self.cut && !self.text.contains(part)
    }

    /// Whether a number or a date that is written as this says has no words in it but names of days and months.
    pub(super) fn is_number_code(&self) -> bool {
        !self.cut && self.text.chars().all(|c| NUMBER_CODES.contains(c))
    }

    /// Whether what stands behind it is looked at.
    fn is_open(&self) -> bool {
        self.text.len() < LENGTH && !self.is_settled()
    }

    /// Puts another one behind it.
    fn append(&mut self, other: &Self) {
        if self.is_open() {
            self.cut |= other.cut && !self.text.contains(SETTLING);
            self.behind |= self.text.is_empty() && other.behind;
            self.text.push_str(&other.text);
        }
    }

    /// Whether it is a target that acts.
    pub(super) fn acts(&self) -> bool {
        let read = if self.behind { link_target::acts_by_itself } else { link_target::acts };
        self.cut || read(&self.text)
    }
}

/// Each of the first with each of the others behind it; `None` if they are too many.
pub(super) fn joined(mut first: Vec<MadeText>, others: &[MadeText]) -> Option<Vec<MadeText>> {
    if let [other] = others {
        first.iter_mut().for_each(|text| text.append(other));
        return Some(first);
    }
    let mut all = Vec::new();
    for text in &first {
        // Else all would be the same.
        let others = if text.is_open() { others } else { others.get(..1).unwrap_or_default() };
        for other in others {
            if all.len() >= TEXTS {
                return None;
            }
            let mut text = text.clone();
            text.append(other);
            all.push(text);
        }
    }
    Some(all)
}

/// All of these, each once; `None` if they are too many.
pub(super) fn united(mut first: Vec<MadeText>, others: Vec<MadeText>) -> Option<Vec<MadeText>> {
    for other in others {
        if !first.contains(&other) {
            first.push(other);
        }
    }
    (first.len() <= TEXTS).then_some(first)
}
