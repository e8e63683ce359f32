//! The way back: which surrogate was issued for which original. In memory only, bounded, wiped when dropped.
//!
//! A surrogate is known again by its exact bytes, else by its canonical form: for numbers the letters and digits
//! with other separators between the groups, for e-mail addresses without regard to case. It is never known by its
//! shape: what a model invented looks just like a surrogate and would decrypt to somebody's number.

use zeroize::Zeroizing;

use crate::detect::Format;
use crate::redact::error::RedactError;
use crate::redact::escapes::read;
use crate::redact::index::{Case, Index, More, Seen, Walk, joined};

/// How a surrogate may be written differently and still be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Not at all.
    Exact,
    /// In other letter case.
    Folded,
    /// With other separators.
    Grouped,
}

impl Spelling {
    /// All, in the order of their numbers in a file.
    pub(super) const ALL: [Self; 3] = [Self::Exact, Self::Folded, Self::Grouped];

    pub(super) fn of(format: Format) -> Self {
        match format {
            Format::Email => Self::Folded,
            Format::Card | Format::Ssn | Format::Itin | Format::Phone | Format::Iban | Format::Digits => {
                Self::Grouped
            }
            Format::Ip | Format::Url | Format::Key | Format::Pem | Format::Text => Self::Exact,
        }
    }

    /// The form in which two spellings of one value are equal.
    pub(super) fn canonical(self, text: &str) -> Vec<u8> {
        match self {
            Self::Exact => text.as_bytes().to_vec(),
            Self::Folded => text.to_ascii_lowercase().into_bytes(),
            Self::Grouped => text.bytes().filter(u8::is_ascii_alphanumeric).collect(),
        }
    }
}

impl Spelling {
    /// What an original is known by among those that surrogates were issued for. Two that differ in separators only
    /// may share a surrogate, since its own separators tell them apart; one that does not read as it is written may
    /// not, since its surrogate is made of what it reads.
    pub(super) fn owner(self, original: &str) -> Vec<u8> {
        if read(original) == original { self.canonical(original) } else { original.as_bytes().to_vec() }
    }
}

/// How much one document's findings may be: a bound on memory, not on what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Distinct values.
    pub values: usize,
    /// Bytes of the values and their surrogates together.
    pub bytes: usize,
    /// JSON documents within strings within strings, and text in base64 there: how deep they are opened. Deeper ones
    /// are looked through as text where that is all there is to them, and else refused. Each level of documents takes
    /// twice the backslashes of the one before.
    pub levels: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { values: 65_536, bytes: 16 << 20, levels: 8 }
    }
}

/// One surrogate on its way into an [`Undo`].
pub(super) struct Issued {
    pub(super) surrogate: String,
    pub(super) original: Zeroizing<String>,
    pub(super) spelling: Spelling,
}

/// The surrogates issued in one document, and what they stand for.
pub struct Undo {
    originals: Vec<Zeroizing<String>>,
    /// Entries whose surrogate begins with `+`.
    plus: Vec<bool>,
    exact: Index,
    folded: Index,
    grouped: Index,
}

impl Undo {
    /// Nothing was issued.
    pub fn nothing() -> Self {
        Self::of(Vec::new())
    }

    pub(super) fn of(issued: Vec<Issued>) -> Self {
        let keys = |spelling: Option<Spelling>| {
            let chosen = issued.iter().zip(0..).filter(move |(issue, _)| match spelling {
                Some(wanted) => issue.spelling == wanted,
                None => true,
            });
            Index::new(chosen.map(move |(issue, entry)| {
                (spelling.unwrap_or(Spelling::Exact).canonical(&issue.surrogate).into(), entry)
            }))
        };
        let (exact, folded, grouped) =
            (keys(None), keys(Some(Spelling::Folded)), keys(Some(Spelling::Grouped)));
        let plus: Vec<bool> = issued.iter().map(|issue| issue.surrogate.starts_with('+')).collect();
        let originals = issued.into_iter().map(|issue| issue.original).collect();
        Self { originals, plus, exact, folded, grouped }
    }

    /// Distinct originals.
    pub fn len(&self) -> usize {
        self.originals.len()
    }

    /// Whether nothing was issued, so that nothing needs to be looked for.
    pub fn is_empty(&self) -> bool {
        self.originals.is_empty()
    }

    /// Whether a surrogate, or another spelling of one, may begin with this byte.
    pub(super) fn may_begin(&self, byte: u8) -> bool {
        self.exact.may_begin(byte)
            || self.folded.may_begin(byte.to_ascii_lowercase())
            || self.grouped.may_begin(byte)
            || byte == b'(' && !self.grouped.is_empty()
    }

    pub(super) fn original(&self, entry: u32) -> &str {
        self.originals.get(entry as usize).map_or("", |original| original.as_str())
    }

    /// What is issued at the beginning of `text`. Exact bytes go before another spelling of the same length.
    pub(super) fn seek(&self, text: &[u8], more: More) -> Seen {
        let looks = [
            self.exact.longest(text, Case::Exact, more),
            self.folded.longest(text, Case::Folded, more),
            self.regrouped(text, more),
        ];
        let better = |best: Seen, look: Seen| match (best, look) {
            (Seen::Wait, _) | (_, Seen::Wait) => Seen::Wait,
            (Seen::Found { len: known, .. }, Seen::Found { len, .. }) if known >= len => best,
            (_, Seen::Found { .. }) => look,
            (best, Seen::No) => best,
        };
        looks.into_iter().fold(Seen::No, better)
    }

    /// Finds groups of letters and digits with any separators of [`Gap`] between them.
    fn regrouped(&self, text: &[u8], more: More) -> Seen {
        if self.grouped.is_empty() {
            return Seen::No;
        }
        let plus = text.first() == Some(&b'+');
        let mut walk = self.grouped.walk();
        let mut gap = Gap::opening();
        let mut best = Seen::No;
        let mut at = usize::from(plus);
        while let Some(&byte) = text.get(at) {
            if !byte.is_ascii_alphanumeric() {
                match gap.take(text.get(at..).unwrap_or_default()) {
                    0 => return best,
                    taken => at += taken,
                }
                continue;
            }
            if !walk.step(byte) {
                return best;
            }
            at += 1;
            gap.group();
            let Some(entry) = self.complete(&walk, plus).filter(|_| !gap.within_parentheses()) else {
                continue;
            };
            match text.get(at) {
                Some(&next) if joined(byte, next) => {}
                None if more == More::Yes => return Seen::Wait,
                Some(_) | None => best = Seen::Found { len: at, entry },
            }
        }
        if more == More::Yes && walk.longer() { Seen::Wait } else { best }
    }

    /// A `+` in the text must have been in the surrogate, or it would stay in front of the original.
    fn complete(&self, walk: &Walk<'_>, plus: bool) -> Option<u32> {
        walk.complete().filter(|&entry| !plus || self.plus.get(entry as usize).copied().unwrap_or(false))
    }
}

impl std::fmt::Debug for Undo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Undo({} values)", self.len())
    }
}

/// What may stand between two groups: `)`, one separator, `(`, in this order, each at most once; parentheses in
/// pairs. Separators beyond ASCII are those that models like to write: no-break spaces and typographic hyphens.
struct Gap {
    stage: u8,
    open: bool,
}

const SEPARATORS: [&[u8]; 11] = [
    b" ",
    b"-",
    b".",
    "\u{a0}".as_bytes(),
    "\u{2007}".as_bytes(),
    "\u{2009}".as_bytes(),
    "\u{2010}".as_bytes(),
    "\u{2011}".as_bytes(),
    "\u{2012}".as_bytes(),
    "\u{2013}".as_bytes(),
    "\u{202f}".as_bytes(),
];

impl Gap {
    /// Before the first group only `(` may stand.
    fn opening() -> Self {
        Self { stage: 2, open: false }
    }

    /// A group has gone on.
    fn group(&mut self) {
        self.stage = 0;
    }

    fn within_parentheses(&self) -> bool {
        self.open
    }

    /// Takes one separator at the beginning of `text`: its length, or 0 where none may stand.
    fn take(&mut self, text: &[u8]) -> usize {
        let (stage, len) = match text.first() {
            Some(b')') if self.open => (1, 1),
            Some(b'(') if !self.open => (3, 1),
            _ => (2, SEPARATORS.iter().find(|sep| text.starts_with(sep)).map_or(0, |sep| sep.len())),
        };
        if stage <= self.stage {
            return 0;
        }
        self.stage = stage;
        self.open = match stage {
            1 => false,
            3 => true,
            _ => self.open,
        };
        len
    }
}

/// Collects what is issued, within the limits.
pub(super) struct Ledger {
    issued: Vec<Issued>,
    limits: Limits,
    values: usize,
    bytes: usize,
}

impl Ledger {
    pub(super) fn new(limits: Limits) -> Self {
        Self { issued: Vec::new(), limits, values: 0, bytes: 0 }
    }

    pub(super) fn issue(&mut self, issued: Issued) -> Result<(), RedactError> {
        self.count(issued.surrogate.len() + issued.original.len())?;
        self.issued.push(issued);
        Ok(())
    }

    /// Counts a value of so many bytes.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), RedactError> {
        self.bytes += bytes;
        if self.values >= self.limits.values || self.bytes > self.limits.bytes {
            let Limits { values, bytes, .. } = self.limits;
            return Err(RedactError::TooManyValues { values, bytes });
        }
        self.values += 1;
        Ok(())
    }

    pub(super) fn close(self) -> Undo {
        Undo::of(self.issued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undo() -> Undo {
        let entries = [
            ("+1 650 253 0000", "+1 212 555 0100", Format::Phone),
            ("4012 8888 8888 1881", "4111 1111 1111 1111", Format::Card),
            ("xkq.w9@pq7.example.com", "jane.doe@acme.example.com", Format::Email),
            ("ghp_abcDEF", "ghp_secret", Format::Key),
            ("415 555 2671", "212 555 0199", Format::Phone),
        ];
        Undo::of(
            entries
                .map(|(surrogate, original, format)| Issued {
                    surrogate: surrogate.into(),
                    original: Zeroizing::new(original.into()),
                    spelling: Spelling::of(format),
                })
                .into(),
        )
    }

    /// The length found, and the entry.
    fn seek(text: &str, more: More) -> Result<(usize, u32), Seen> {
        match undo().seek(text.as_bytes(), more) {
            Seen::Found { len, entry } => Ok((len, entry)),
            other => Err(other),
        }
    }

    #[test]
    fn other_spellings_are_known() {
        let cases = [
            ("+1 650 253 0000", 15, 0),
            ("+1-650-253-0000.", 15, 0),
            ("+1 (650) 253-0000", 17, 0),
            ("+1(650)253.0000", 15, 0),
            ("16502530000", 11, 0),
            ("1\u{202f}650\u{2011}253\u{2011}0000", 20, 0),
            ("4012888888881881", 16, 1),
            ("4012-8888-8888-1881)", 19, 1),
            ("XKQ.w9@PQ7.Example.COM,", 22, 2),
            ("ghp_abcDEF", 10, 3),
            ("(415) 555-2671", 14, 4),
        ];
        for (text, len, entry) in cases {
            assert_eq!(seek(text, More::No), Ok((len, entry)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        let cases = [
            "+1 650 253 0001",
            "+1 650 253 00001",
            "4012  8888 8888 1881",
            "4012, 8888 8888 1881",
            "(4012 8888 8888 1881",
            "415) 555-2671",
            "+415 555 2671",
            "GHP_ABCDEF",
            "xkq.w9@pq7.example.come",
            "401288888888188",
        ];
        for text in cases {
            assert_eq!(seek(text, More::No), Err(Seen::No), "{text}");
        }
    }

    #[test]
    fn waits_only_while_it_could_become_one() {
        let wait = ["+", "+1", "4012 ", "4012 8888-", "4012888888881881", "(", "(415", "xk", "ghp_abcDEF"];
        for text in wait {
            assert_eq!(seek(text, More::Yes), Err(Seen::Wait), "{text}");
        }
        for text in ["+2", "4013", "4012  ", "(a", "xa", "5"] {
            assert_eq!(seek(text, More::Yes), Err(Seen::No), "{text}");
        }
    }

    #[test]
    fn a_ledger_is_bounded() {
        let issued = |n: usize| Issued {
            surrogate: format!("s{n}"),
            original: Zeroizing::new(format!("o{n}")),
            spelling: Spelling::Exact,
        };
        let limits = Limits { values: 2, bytes: 100, levels: 4 };
        let refused = Err(RedactError::TooManyValues { values: 2, bytes: 100 });
        let mut ledger = Ledger::new(limits);
        assert_eq!([0, 1].map(|n| ledger.issue(issued(n))), [Ok(()), Ok(())]);
        assert_eq!(ledger.issue(issued(2)), refused);
        let mut ledger = Ledger::new(Limits { values: 100, bytes: 7, ..limits });
        assert!(ledger.issue(issued(0)).is_ok());
        assert!(ledger.issue(issued(1)).is_err());
        assert_eq!(format!("{:?}", ledger.close()), "Undo(1 values)");
    }
}
