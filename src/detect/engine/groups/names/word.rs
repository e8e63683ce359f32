//! A word of a sequence, and the name that words make.

use std::ops::Deref;

use super::lexicon::{Classes, look_up};
use super::roles::Roles;
use super::spelling::WordCase;
use crate::detect::naming;
use crate::detect::rules::NameTag;

/// Joins the names of one company: `Schmidt & Weber KG`.
pub(super) const JOINT: &str = "&";

/// What a look at one place found.
pub(super) enum NameLook {
    /// Nothing is decided before more of the text has come.
    NeedMore,
    Nobody,
    Name(Tagged),
}

/// A name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tagged {
    pub(super) tag: NameTag,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) score: f32,
}

/// A word of a sequence.
#[derive(Clone, Debug)]
pub(super) struct NameWord {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lower: String,
    pub(super) classes: Classes,
    pub(super) roles: Roles,
    pub(super) spelling: WordCase,
    /// A particle in lower case.
    pub(super) particle: bool,
}

/// Words that stand together.
#[derive(Default)]
pub(super) struct Sequence {
    words: Vec<NameWord>,
    /// Memory of words before.
    spare: Vec<String>,
}

impl Sequence {
    /// Takes all words out.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.words.drain(..).map(|word| word.lower));
    }

    /// A text in lower case.
    pub(super) fn lower(&mut self, text: &str) -> String {
        let mut lower = self.spare.pop().unwrap_or_default();
        lower.clear();
        naming::lower_into(text, &mut lower);
        lower
    }

    pub(super) fn push(&mut self, word: NameWord) {
        self.words.push(word);
    }

    pub(super) fn pop(&mut self) {
        self.spare.extend(self.words.pop().map(|word| word.lower));
    }
}

impl Deref for Sequence {
    type Target = [NameWord];

    fn deref(&self) -> &[NameWord] {
        &self.words
    }
}

impl NameWord {
    /// What joins two names at `start`.
    pub(super) fn joint(start: usize) -> Self {
        Self {
            start,
            end: start + JOINT.len(),
            lower: JOINT.to_owned(),
            classes: look_up(JOINT),
            roles: Roles::default(),
            spelling: WordCase::Name,
            particle: true,
        }
    }
}
