//! Pieces of secrets: the beginning by which a key is named, its end behind what was cut off, one line of a key that is broken
//! in two. Each stands for the same piece of the original. In requests the same finds pieces of secrets that stand whole elsewhere.
//!
//! A piece is known where it is a word by itself and long enough that nobody writes it by chance. Of two values that it may be of
//! it is none's on the way back; where it is to be hidden, it is the first one's. It is found along a list of all that secrets end
//! with, in order: as a walk through an [`Index`](super::index::Index), at no cost of memory but the places.

use std::cmp::Ordering;
use std::ops::Range;

use zeroize::Zeroizing;

use crate::redact::index::{More, joined};
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};

/// The shortest secret of which pieces are known, and the longest, in bytes.
const SHORTEST: usize = 16;
const LONGEST: usize = 512;

/// The shortest piece of any kind, in bytes.
const LEAST: usize = 8;

/// From this length on a piece is one wherever it stood; a shorter one must be a beginning or an end that looks drawn at random.
const LONG: usize = 16;

/// Behind a beginning that all keys of a kind share, so many characters and more are enough.
const FEW: usize = 4;

/// The most places that are kept, so that many secrets cost no more than one request may.
const MOST: usize = 1 << 16;

/// The most places that a piece may stand for and be looked at.
const CANDIDATES: usize = 32;

/// A secret, and what stands for it, of the same length.
struct Secret {
    entry: u32,
    surrogate: Box<[u8]>,
    original: Zeroizing<Vec<u8>>,
    /// How many bytes both begin with alike.
    shared: usize,
}

/// Where a piece may begin: within which secret, and where there.
#[derive(Clone, Copy)]
struct FragmentStart {
    secret: u32,
    at: u32,
}

/// What a look for a piece said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FragmentMatch {
    No,
    /// So many bytes stand for this piece of the original of an entry.
    Found {
        len: usize,
        with: String,
        entry: u32,
    },
    Wait,
}

/// The pieces that issued surrogates are known by.
pub(super) struct Fragments {
    secrets: Vec<Secret>,
    /// In the order of what stands from them on.
    places: Vec<FragmentStart>,
    /// Where those begin that stand for this byte, or a later one.
    starts: [u32; 257],
    /// Whether a piece that several values have is the first one's, since it must not leave as it is.
    hides: bool,
}

impl Fragments {
    /// Of originals, each with what stands for it.
    pub(super) fn hiding(originals: &[IssuedSurrogate]) -> Self {
        Self { hides: true, ..Self::of(originals) }
    }

    /// Of what stands for originals.
    pub(super) fn of(issued: &[IssuedSurrogate]) -> Self {
        let mut all = Self { secrets: Vec::new(), places: Vec::new(), starts: [0; 257], hides: false };
        for (issue, entry) in issued.iter().zip(0..) {
            let Some(secret) = secret(issue, entry) else { continue };
            let last = secret.surrogate.len() - LEAST;
            if all.places.len() + last >= MOST {
                break;
            }
            let number = all.secrets.len() as u32;
            all.places.extend((0..=last as u32).map(|at| FragmentStart { secret: number, at }));
            all.secrets.push(secret);
        }
        let Self { secrets, places, starts, .. } = &mut all;
        places.sort_unstable_by(|one, other| rest(secrets, *one).cmp(rest(secrets, *other)));
        for first in places.iter().filter_map(|place| rest(secrets, *place).first()) {
            starts[usize::from(*first) + 1] += 1;
        }
        let mut sum = 0;
        for start in starts {
            sum += *start;
            *start = sum;
        }
        all
    }

    /// Whether originals are to be hidden, and not to be brought back.
    pub(super) fn hides(&self) -> bool {
        self.hides
    }

    /// Whether a piece may begin with this byte.
    pub(super) fn may_begin(&self, byte: u8) -> bool {
        !self.starting(byte).is_empty()
    }

    fn starting(&self, byte: u8) -> Range<usize> {
        let at = usize::from(byte);
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// The piece at the beginning of `text`.
    pub(super) fn seek(&self, text: &[u8], more: More) -> FragmentMatch {
        let Some(&first) = text.first() else { return FragmentMatch::No };
        let (mut range, mut depth) = (self.starting(first), 1);
        while !range.is_empty() {
            let Some(&byte) = text.get(depth) else {
                return if more == More::Yes { FragmentMatch::Wait } else { self.piece(range, text) };
            };
            let next = self.narrowed(range.clone(), depth, byte);
            if next.is_empty() {
                let piece = text.get(..depth).unwrap_or_default();
                return match ends(piece, text.get(depth..).unwrap_or_default(), more) {
                    Some(true) => self.piece(range, piece),
                    Some(false) => FragmentMatch::No,
                    // Few words get so far.
                    None if depth >= LEAST => FragmentMatch::Wait,
                    None => FragmentMatch::No,
                };
            }
            (range, depth) = (next, depth + 1);
        }
        FragmentMatch::No
    }

    /// Those of `range`, which are alike up to `depth`, that go on with `byte`.
    fn narrowed(&self, range: Range<usize>, depth: usize, byte: u8) -> Range<usize> {
        let places = self.places.get(range.clone()).unwrap_or_default();
        let here = |place: &FragmentStart| rest(&self.secrets, *place).get(depth).copied();
        let from = places.partition_point(|place| here(place).is_none_or(|b| b < byte));
        let behind = places.get(from..).unwrap_or_default();
        let count = behind.partition_point(|place| here(place).is_some_and(|b| b <= byte));
        range.start + from..range.start + from + count
    }

    /// What `piece` stands for, which may stand at any of the places of `range`.
    fn piece(&self, range: Range<usize>, piece: &[u8]) -> FragmentMatch {
        if piece.len() < LEAST || range.len() > CANDIDATES {
            return FragmentMatch::No;
        }
        // A beginning goes before an end, and an end before what stands between.
        let (mut best, mut found) = (0, None);
        for place in self.places.get(range).unwrap_or_default() {
            let Some(secret) = self.secrets.get(place.secret as usize) else { continue };
            let rank = secret.rank(place.at as usize, piece);
            let with = secret.original.get(place.at as usize..place.at as usize + piece.len());
            match (rank.cmp(&best), &found) {
                (Ordering::Greater, _) => (best, found) = (rank, with.map(|with| (with, secret.entry))),
                (Ordering::Equal, Some((_, known))) if self.hides && *known <= secret.entry => {}
                (Ordering::Equal, Some(_)) if self.hides => found = with.map(|with| (with, secret.entry)),
                (Ordering::Equal, Some((known, _))) if Some(*known) != with => found = None,
                _ => {}
            }
        }
        let with = found.and_then(|(with, entry)| Some((std::str::from_utf8(with).ok()?, entry)));
        match with {
            Some((with, entry)) => FragmentMatch::Found { len: piece.len(), with: with.to_owned(), entry },
            None => FragmentMatch::No,
        }
    }
}

impl Secret {
    /// How surely `piece`, which stands at `at`, is one of it; 0: not at all.
    fn rank(&self, at: usize, piece: &[u8]) -> u8 {
        let drawn = piece.len() - self.shared.saturating_sub(at).min(piece.len());
        let ends = at + piece.len() == self.surrogate.len();
        if drawn < FEW {
            return 0;
        }
        // As much of both, so that what comes back is known again when it is sent.
        let original = self.original.get(at..at + piece.len()).unwrap_or_default();
        let turns = turns(piece).min(turns(original));
        let (random, long) = (turns >= 2, turns >= 3 && piece.len() >= LONG && drawn >= LEAST);
        match at {
            0 if self.shared >= FEW || long || random && drawn >= LEAST => 3,
            _ if ends && (long || random) => 2,
            _ if long => 1,
            _ => 0,
        }
    }
}

/// The secret that was issued, if pieces of it are to be known.
fn secret(issued: &IssuedSurrogate, entry: u32) -> Option<Secret> {
    let (surrogate, original) = (issued.surrogate.as_bytes(), issued.original.as_bytes());
    let fits = |text: &[u8]| {
        (SHORTEST..=LONGEST).contains(&text.len())
            && text.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\')
            && text.iter().any(u8::is_ascii_digit)
            && text.iter().any(u8::is_ascii_alphabetic)
            && memchr::memmem::find(text, b"://").is_none()
            // What signed tokens begin with is alike in many.
            && !text.starts_with(b"eyJ")
    };
    let alike = issued.spelling == SurrogateIdentity::Exact && surrogate.len() == original.len();
    if !(alike && fits(surrogate) && fits(original)) {
        return None;
    }
    let shared = surrogate.iter().zip(original).take_while(|(ours, theirs)| ours == theirs).count();
    Some(Secret { entry, surrogate: surrogate.into(), original: Zeroizing::new(original.to_vec()), shared })
}

/// What stands from a place on.
fn rest(secrets: &[Secret], place: FragmentStart) -> &[u8] {
    let secret = secrets.get(place.secret as usize);
    secret.and_then(|secret| secret.surrogate.get(place.at as usize..)).unwrap_or_default()
}

/// Whether a piece ends before what is `behind` it; `None` while more text must be seen.
fn ends(piece: &[u8], behind: &[u8], more: More) -> Option<bool> {
    let (Some(&last), Some(&next)) = (piece.last(), behind.first()) else { return Some(true) };
    if joined(last, next) {
        return Some(false);
    }
    // Another word of one that hyphens or the like join.
    match behind.get(1) {
        _ if !b"-_+=~".contains(&next) => Some(true),
        Some(second) => Some(!second.is_ascii_alphanumeric()),
        None if more == More::Yes => None,
        None => Some(true),
    }
}

/// How often a word turns from letters to digits or back, or to a capital in its middle.
fn turns(text: &[u8]) -> usize {
    let turns = |one: u8, next: u8| {
        let digits = (one.is_ascii_digit(), next.is_ascii_digit());
        joined(one, next) && (digits.0 != digits.1 || one.is_ascii_lowercase() && next.is_ascii_uppercase())
    };
    text.iter().zip(text.iter().skip(1)).filter(|(one, next)| turns(**one, **next)).count()
}

#[cfg(test)]
#[path = "fragments_tests.rs"]
mod tests;
