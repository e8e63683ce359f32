//! The way back for whoever holds the key: what one call issued. Of what FF1 alone undoes it keeps a short print of
//! each surrogate and no original; the rest travels with its original, so what holds a context must be sealed.
//!
//! A surrogate is known again by its print, never by its shape: what a model made up would decrypt to somebody's
//! number.

use std::collections::HashSet;

use crate::base::reader::ByteReader;
use crate::base::secret::Secret;
use crate::redact::alphabet::Alphabet;
use crate::redact::encrypt::{Ff1Inverse, LONGEST};
use crate::redact::error::RedactError;
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::surrogate_log;
use crate::redact::surrogate_map::{FindingLimits, Ledger};

/// The form of what [`FpeContext::to_bytes`] writes. A file of [`SurrogateLog`](crate::redact::SurrogateLog) has form 1.
const FORM: u8 = 3;

/// The form before, which does not say what it was made with.
const UNSAID: u8 = 2;

/// Bytes of a print: with a million words in a text and ten thousand prints, one in a hundred thousand texts has a
/// word that looks like a surrogate.
const PRINT: usize = 7;

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
pub struct CallRights {
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
    pub made: Option<CallRights>,
    pub(super) groups: Vec<ContextGroup>,
    pub(super) issued: Vec<IssuedSurrogate>,
    ledger: Ledger,
}

/// Surrogates that are undone alike.
pub(super) struct ContextGroup {
    pub(super) permuted: Ff1Inverse,
    pub(super) spelling: SurrogateIdentity,
    pub(super) prints: HashSet<u64>,
    /// The most bytes, in canonical form, that one of them has.
    pub(super) longest: usize,
}

impl FpeContext {
    pub(super) fn new(limits: FindingLimits) -> Self {
        let ledger = Ledger::new(limits);
        Self { key: KeyName::default(), made: None, groups: Vec::new(), issued: Vec::new(), ledger }
    }

    /// Whether nothing was issued.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.issued.is_empty()
    }

    pub(super) fn permuted(
        &mut self,
        permuted: &Ff1Inverse,
        spelling: SurrogateIdentity,
        surrogate: &str,
    ) -> Result<(), RedactError> {
        self.ledger.count(PRINT)?;
        // A permutation does not know other letter case.
        let spelling =
            if spelling.is_number() { SurrogateIdentity::Grouped } else { SurrogateIdentity::Exact };
        let same = |group: &ContextGroup| group.permuted == *permuted && group.spelling == spelling;
        let known = self.groups.iter().position(same);
        if known.is_none() {
            let permuted = permuted.clone();
            self.groups.push(ContextGroup { permuted, spelling, prints: HashSet::new(), longest: 0 });
        }
        let group = known.unwrap_or(self.groups.len() - 1);
        if let Some(group) = self.groups.get_mut(group) {
            let canonical = spelling.canonical(surrogate);
            group.longest = group.longest.max(canonical.len());
            group.prints.insert(canonical.iter().fold(Print::default(), Print::with).value());
        }
        Ok(())
    }

    pub(super) fn issued(&mut self, issued: IssuedSurrogate) -> Result<(), RedactError> {
        self.ledger.count(issued.surrogate.len() + issued.original.len())?;
        self.issued.push(issued);
        Ok(())
    }

    /// What [`FpeContext::from_bytes`] reads. To be sealed at once: it may hold originals.
    pub fn to_bytes(&self) -> Secret<Vec<u8>> {
        let mut out = Vec::new();
        match &self.made {
            None => out.push(UNSAID),
            Some(CallRights { config, names_key }) => {
                out.push(FORM);
                short(config.as_deref().unwrap_or_default().as_bytes(), &mut out);
                out.push(u8::from(*names_key));
            }
        }
        short(self.key.id.as_bytes(), &mut out);
        out.extend_from_slice(&self.key.version.to_be_bytes());
        out.extend_from_slice(&(self.groups.len() as u32).to_be_bytes());
        for ContextGroup { permuted, spelling, prints, longest } in &self.groups {
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
        for issued in &self.issued {
            surrogate_log::write(issued, &mut out);
        }
        Secret::new(out)
    }

    /// Reads what [`FpeContext::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let made = match reader.byte()? {
            UNSAID => None,
            FORM => {
                let config = String::from_utf8(reader.short()?.to_vec()).ok()?;
                let names_key = match reader.byte()? {
                    0 => false,
                    1 => true,
                    _ => return None,
                };
                Some(CallRights { config: (!config.is_empty()).then_some(config), names_key })
            }
            _ => return None,
        };
        let id = String::from_utf8(reader.short()?.to_vec()).ok()?;
        let mut context = Self::new(FindingLimits::default());
        context.made = made;
        context.key = KeyName { id, version: reader.u32()? };
        for _ in 0..reader.u32()? {
            let alphabet = *Alphabet::ALL.get(usize::from(reader.byte()?))?;
            let spelling = SurrogateIdentity::ALL.into_iter().nth(usize::from(reader.byte()?))?;
            let longest = usize::from(reader.byte()?);
            let tweak = reader.short()?.to_vec();
            let mut prints = HashSet::new();
            for _ in 0..reader.u32()? {
                let mut print = [0; 8];
                print.get_mut(8 - PRINT..)?.copy_from_slice(reader.take(PRINT)?);
                prints.insert(u64::from_be_bytes(print));
            }
            context.groups.push(ContextGroup {
                permuted: Ff1Inverse { alphabet, tweak },
                spelling,
                prints,
                longest,
            });
        }
        context.issued = surrogate_log::read(reader)?;
        Some(context)
    }
}

impl std::fmt::Debug for FpeContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FpeContext({} groups, {} values)", self.groups.len(), self.issued.len())
    }
}

/// FNV-1a over the bytes, stirred at the end so that its upper bits are as good as its lower ones.
#[derive(Clone, Copy)]
pub(super) struct Print(u64);

impl Default for Print {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Print {
    pub(super) fn with(self, byte: &u8) -> Self {
        Self((self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
    }

    pub(super) fn value(self) -> u64 {
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
