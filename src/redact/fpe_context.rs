//! The way back for whoever holds the key: what one call issued. Of what FF1 alone undoes it keeps a short print of
//! each surrogate and no original; the rest travels with its original, so what holds a context must be sealed.
//!
//! A surrogate is known again by its print, never by its shape: what a model made up would decrypt to somebody's
//! number.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::base::reader::Reader;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::redact::alphabet::Alphabet;
use crate::redact::answer::Answer;
use crate::redact::encrypt::Permuted;
use crate::redact::error::RedactError;
use crate::redact::index::joined;
use crate::redact::surrogate_log;
use crate::redact::undo::{Issued, Ledger, Limits, Spelling, Undo};
use crate::stream::{Edit, Editor};

/// The longest surrogate that is looked for by its print, in bytes.
pub(super) const LONGEST: usize = 255;

/// The form of what [`FpeContext::to_bytes`] writes. A file of [`SurrogateLog`](crate::redact::SurrogateLog) has form 1.
const FORM: u8 = 3;

/// The form before, which does not say what it was made with.
const UNSAID: u8 = 2;

/// Bytes of a print: with a million words in a text and ten thousand prints, one in a hundred thousand texts has a
/// word that looks like a surrogate.
const PRINT: usize = 7;

/// Bytes other than letters and digits that may stand between two groups of a number.
const GAP: usize = 3;

/// The key that was used: an item of the vault and its version; without one, the store's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyName {
    /// The item's id; empty for the store's own key.
    pub id: String,
    /// Its version, from 1; 0 for the store's own key.
    pub version: u32,
}

/// What a call was made with, so that whoever undoes it can be asked for the same rights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The id of its config, of at most 255 bytes; `None` without one.
    pub config: Option<String>,
    /// Whether the call itself named the vault's key, and its config did not.
    pub names_key: bool,
}

/// What one call issued.
pub struct FpeContext {
    /// The key it was issued with.
    pub key: KeyName,
    /// What it was made with; `None` for what a version before sealed, which did not say.
    pub made: Option<Made>,
    groups: Vec<Group>,
    issued: Vec<Issued>,
    ledger: Ledger,
}

/// Surrogates that are undone alike.
struct Group {
    permuted: Permuted,
    spelling: Spelling,
    prints: HashSet<u64>,
    /// The most bytes, in canonical form, that one of them has.
    longest: usize,
}

impl FpeContext {
    pub(super) fn new(limits: Limits) -> Self {
        let ledger = Ledger::new(limits);
        Self { key: KeyName::default(), made: None, groups: Vec::new(), issued: Vec::new(), ledger }
    }

    /// Whether nothing was issued.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.issued.is_empty()
    }

    pub(super) fn permuted(
        &mut self,
        permuted: &Permuted,
        spelling: Spelling,
        surrogate: &str,
    ) -> Result<(), RedactError> {
        self.ledger.count(PRINT)?;
        // A permutation does not know other letter case.
        let spelling = if spelling == Spelling::Grouped { spelling } else { Spelling::Exact };
        let same = |group: &Group| group.permuted == *permuted && group.spelling == spelling;
        let known = self.groups.iter().position(same);
        if known.is_none() {
            let permuted = permuted.clone();
            self.groups.push(Group { permuted, spelling, prints: HashSet::new(), longest: 0 });
        }
        let group = known.unwrap_or(self.groups.len() - 1);
        if let Some(group) = self.groups.get_mut(group) {
            let canonical = spelling.canonical(surrogate);
            group.longest = group.longest.max(canonical.len());
            group.prints.insert(canonical.iter().fold(Print::default(), Print::with).value());
        }
        Ok(())
    }

    pub(super) fn issued(&mut self, issued: Issued) -> Result<(), RedactError> {
        self.ledger.count(issued.surrogate.len() + issued.original.len())?;
        self.issued.push(issued);
        Ok(())
    }

    /// What [`FpeContext::from_bytes`] reads. To be sealed at once: it may hold originals.
    pub fn to_bytes(&self) -> Secret<Vec<u8>> {
        let mut out = Vec::new();
        match &self.made {
            None => out.push(UNSAID),
            Some(Made { config, names_key }) => {
                out.push(FORM);
                short(config.as_deref().unwrap_or_default().as_bytes(), &mut out);
                out.push(u8::from(*names_key));
            }
        }
        short(self.key.id.as_bytes(), &mut out);
        out.extend_from_slice(&self.key.version.to_be_bytes());
        out.extend_from_slice(&(self.groups.len() as u32).to_be_bytes());
        for Group { permuted, spelling, prints, longest } in &self.groups {
            let alphabet = Alphabet::ALL.iter().position(|one| *one == permuted.alphabet).unwrap_or_default();
            out.extend_from_slice(&[alphabet as u8, *spelling as u8, (*longest).min(LONGEST) as u8]);
            short(&permuted.tweak, &mut out);
            out.extend_from_slice(&(prints.len() as u32).to_be_bytes());
            let mut sorted: Vec<u64> = prints.iter().copied().collect();
            sorted.sort_unstable();
            for print in sorted {
                out.extend(print.to_be_bytes().iter().skip(8 - PRINT));
            }
        }
        for Issued { surrogate, original, spelling } in &self.issued {
            surrogate_log::write(*spelling, surrogate, original, &mut out);
        }
        Secret::new(out)
    }

    /// Reads what [`FpeContext::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let made = match reader.byte()? {
            UNSAID => None,
            FORM => {
                let config = String::from_utf8(reader.short()?.to_vec()).ok()?;
                let names_key = match reader.byte()? {
                    0 => false,
                    1 => true,
                    _ => return None,
                };
                Some(Made { config: (!config.is_empty()).then_some(config), names_key })
            }
            _ => return None,
        };
        let id = String::from_utf8(reader.short()?.to_vec()).ok()?;
        let mut context = Self::new(Limits::default());
        context.made = made;
        context.key = KeyName { id, version: reader.u32()? };
        for _ in 0..reader.u32()? {
            let alphabet = *Alphabet::ALL.get(usize::from(reader.byte()?))?;
            let spelling = Spelling::ALL.into_iter().nth(usize::from(reader.byte()?))?;
            let longest = usize::from(reader.byte()?);
            let tweak = reader.short()?.to_vec();
            let mut prints = HashSet::new();
            for _ in 0..reader.u32()? {
                let mut print = [0; 8];
                print.get_mut(8 - PRINT..)?.copy_from_slice(reader.take(PRINT)?);
                prints.insert(u64::from_be_bytes(print));
            }
            context.groups.push(Group { permuted: Permuted { alphabet, tweak }, spelling, prints, longest });
        }
        context.issued = surrogate_log::read(reader)?;
        Some(context)
    }

    /// Makes it ready to restore; `key` is the one it names.
    pub fn restorer(self, key: Arc<FpeKey>) -> Restorer {
        let undo = Arc::new(Undo::of(self.issued));
        Restorer { groups: self.groups.into(), undo, key }
    }
}

impl std::fmt::Debug for FpeContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FpeContext({} groups, {} values)", self.groups.len(), self.issued.len())
    }
}

/// Puts originals back where surrogates stand that were issued. Cheap to clone.
#[derive(Clone)]
pub struct Restorer {
    groups: Arc<[Group]>,
    undo: Arc<Undo>,
    key: Arc<FpeKey>,
}

impl std::fmt::Debug for Restorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Restorer({} groups)", self.groups.len())
    }
}

impl Restorer {
    /// The text with originals where surrogates stood.
    pub fn text(&self, text: &str) -> Result<String, RedactError> {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for Edit { range, with } in self.edits(text)? {
            out.push_str(text.get(done..range.start).unwrap_or_default());
            out.push_str(&with);
            done = range.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Ok(out)
    }

    /// What is to be changed in a text, in order.
    pub(super) fn edits(&self, text: &str) -> Result<Vec<Edit>, RedactError> {
        let mut edits = Vec::new();
        if !self.undo.is_empty() {
            let mut answer = Answer::restore(Arc::clone(&self.undo));
            // What is held back is decided at the end; neither step can fail.
            let _ = answer.feed(text, &mut edits);
            let _ = answer.end(&mut edits);
        }
        let mut from = 0;
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut permuted = Vec::new();
        while at < bytes.len() {
            while edits.get(from).is_some_and(|edit| edit.range.end <= at) {
                from += 1;
            }
            // What travels with its original goes before what only looks like a print.
            if let Some(edit) = edits.get(from).filter(|edit| edit.range.contains(&at)) {
                at = edit.range.end;
                continue;
            }
            let limit = edits.get(from).map_or(bytes.len(), |edit| edit.range.start);
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let starts =
                bytes.get(at).is_some_and(|byte| begins(*byte) && before.is_none_or(|a| !joined(*a, *byte)));
            let found = if starts { self.seek(bytes, at, limit) } else { None };
            match found {
                Some((end, group)) => {
                    let with = self.decrypt(group, text, at..end)?;
                    permuted.push(Edit { range: at..end, with });
                    at = end;
                }
                None => at += 1,
            }
        }
        edits.extend(permuted);
        edits.sort_by_key(|edit| edit.range.start);
        Ok(edits)
    }

    /// The longest surrogate that begins at `at`: where it ends, and how it is undone.
    fn seek(&self, text: &[u8], at: usize, limit: usize) -> Option<(usize, &Group)> {
        let longest = |group| Some((seek(group, text, at, limit)?, group));
        self.groups.iter().filter_map(longest).max_by_key(|(end, _)| *end)
    }

    fn decrypt(&self, group: &Group, text: &str, range: Range<usize>) -> Result<String, RedactError> {
        let surrogate = text.get(range).unwrap_or_default();
        let Permuted { alphabet, tweak } = &group.permuted;
        let mut numbers = alphabet.numbers(surrogate);
        self.key.decrypt(alphabet.radix(), tweak, &mut numbers)?;
        Ok(alphabet.write(surrogate, &numbers))
    }
}

/// Where the longest of the group's surrogates ends that begins at `at`, before `limit`.
fn seek(group: &Group, text: &[u8], at: usize, limit: usize) -> Option<usize> {
    let (mut print, mut count, mut gap, mut best) = (Print::default(), 0, 0, None);
    let grouped = group.spelling == Spelling::Grouped;
    for (place, byte) in text.iter().enumerate().take(limit).skip(at) {
        if grouped && !byte.is_ascii_alphanumeric() {
            gap += 1;
            if count == 0 || gap > GAP || *byte == b'\n' {
                break;
            }
            continue;
        }
        gap = 0;
        print = print.with(byte);
        count += 1;
        if count > group.longest {
            break;
        }
        let ends = text.get(place + 1).is_none_or(|next| !joined(*byte, *next) && begins(*next));
        if ends && group.prints.contains(&print.value()) {
            best = Some(place + 1);
        }
    }
    best
}

/// Whether a character begins with this byte.
const fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// FNV-1a over the bytes, stirred at the end so that its upper bits are as good as its lower ones.
#[derive(Clone, Copy)]
struct Print(u64);

impl Default for Print {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Print {
    fn with(self, byte: &u8) -> Self {
        Self((self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
    }

    fn value(self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ mixed >> 29) >> (64 - 8 * PRINT)
    }
}

/// Writes bytes behind their length in one byte; what is longer is cut, which no id or tweak is.
fn short(bytes: &[u8], out: &mut Vec<u8>) {
    let length = bytes.len().min(255);
    out.push(length as u8);
    out.extend_from_slice(bytes.get(..length).unwrap_or_default());
}
