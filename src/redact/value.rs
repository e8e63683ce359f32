//! [`FoundValue`]: a value that was found, and what stands for it; and where one stands.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::detect::RuleId;
use crate::redact::encrypt::{Ff1Inverse, in_plain_letters};
use crate::redact::surrogate_map::SurrogateMap;
use crate::redact::written::with_escapes_of;

/// Where values are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ValueSite {
    /// Which of the redactors looks there.
    pub(super) redactor: usize,
    /// Whether it is a JSON number, and must be one afterwards if it can.
    pub(super) number: bool,
    /// Whether it must be one afterwards in any case: what cannot be undone is 0 then.
    pub(super) fixed: bool,
    /// Whether a value in ASCII must stay so, as in a name by which a program tells who speaks.
    pub(super) plain: bool,
    /// Whether only its label says that it is somebody's name, so that it may be a word elsewhere.
    pub(super) local: bool,
}

impl ValueSite {
    /// Whether `with` can stand there.
    pub(super) fn admits(self, with: &str) -> bool {
        !self.number || !with.starts_with('0')
    }
}

/// A value that was found.
pub(super) struct FoundValue {
    /// Which redactor found it, and in what.
    pub(super) place: ValueSite,
    pub(super) rule: RuleId,
    pub(super) original: Zeroizing<String>,
    /// How it reads, if not as it is written.
    pub(super) read: Option<Zeroizing<String>>,
    /// Whether it also stands where a number must stay one.
    pub(super) numeric: bool,
    pub(super) with: String,
    /// Whether parts of `with` may stand for parts of the original.
    pub(super) parts: bool,
    /// Whether `with` is what it has in its conversation.
    pub(super) reused: bool,
    /// How FF1 alone turns `with` into the original again.
    pub(super) permuted: Option<Ff1Inverse>,
}

impl FoundValue {
    /// What people read there.
    pub(super) fn read(&self) -> &str {
        self.read.as_deref().unwrap_or(&self.original)
    }

    /// What stands for what it reads, with the escapes that it is written with.
    pub(super) fn spelled<'w>(&self, with: &'w str) -> Cow<'w, str> {
        let spelled = self.read.as_deref().and_then(|read| with_escapes_of(&self.original, read, with));
        match spelled {
            Some(spelled) => Cow::Owned(spelled),
            None if self.is_plain() => in_plain_letters(with),
            None => Cow::Borrowed(with),
        }
    }

    /// Whether nothing but ASCII can stand for it.
    pub(super) fn is_plain(&self) -> bool {
        self.place.plain && self.original.is_ascii()
    }

    /// Whether `with` can stand in all its places.
    pub(super) fn admits(&self, with: &str) -> bool {
        self.place.admits(with)
            && (!self.numeric || !with.starts_with('0'))
            && (!self.is_plain() || with.is_ascii() && (is_word(with) || !is_word(&self.original)))
    }

    /// Whether it stands where a number must stay one.
    pub(super) fn is_number(&self) -> bool {
        self.place.number || self.numeric
    }

    /// Whether a number stays one with it. As a string it would come back as a string, which is another value.
    pub(super) fn stays_number(&self, with: &str) -> bool {
        !self.is_number() || with.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    }
}

/// Whether a text is one word of ASCII, as servers want names.
fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A place where a value stands.
#[derive(Clone)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) value: u32,
}

/// Values to be found in other spellings.
#[derive(Clone)]
pub(super) struct Reversed {
    /// Of how many values.
    pub(super) of: usize,
    /// The number of the value that each entry is of.
    pub(super) numbers: Arc<[u32]>,
    /// Each original with what stands for it.
    pub(super) undo: Arc<SurrogateMap>,
}
