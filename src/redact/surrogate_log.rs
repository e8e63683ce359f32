//! Surrogates issued while text passes, kept for a file: the way back for text that is redacted and restored at
//! different times. In memory until it is sealed; wiped when dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroizing;

use crate::base::reader::ByteReader;
use crate::base::secret::Secret;
use crate::redact::error::RedactError;
use crate::redact::issued::{IssuedSurrogate, IssuedSurrogates, SurrogateIdentity};
use crate::redact::surrogate_map::{FindingLimits, Ledger, SurrogateMap};

/// The form of what [`SurrogateLog::to_bytes`] writes: this byte, then for each surrogate its spelling, and the surrogate
/// and the original, each behind its length (4 bytes, big-endian).
const FORM: u8 = 1;

/// Added to the spelling where parts of the surrogate may stand for parts of the original.
const PARTS: u8 = 0x80;

/// What was issued so far. Clones share it.
#[derive(Clone, Default)]
pub struct SurrogateLog(Arc<Mutex<SurrogateOwners>>);

#[derive(Default)]
struct SurrogateOwners {
    /// By canonical surrogate.
    owners: HashMap<Vec<u8>, IssuedSurrogate>,
    bytes: usize,
}

impl SurrogateLog {
    /// Whether a surrogate stands for another value already.
    pub(super) fn refuses(&self, surrogate: &str, original: &str, spelling: SurrogateIdentity) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = kept.owners.get(&spelling.canonical(surrogate));
        owner.is_some_and(|entry| spelling.owner(&entry.original) != spelling.owner(original))
    }

    /// Keeps what was issued; the first spelling of a value stays.
    pub(super) fn keep(
        &self,
        surrogate: &str,
        original: &str,
        spelling: SurrogateIdentity,
    ) -> Result<(), RedactError> {
        let (surrogate, original) = (surrogate.to_owned(), Zeroizing::new(original.to_owned()));
        // What else the text says is not known.
        self.keep_issued(IssuedSurrogate { surrogate, original, spelling, parts: false })
    }

    /// The same of what was issued for a text that is known whole.
    fn keep_issued(&self, issued: IssuedSurrogate) -> Result<(), RedactError> {
        let FindingLimits { values, bytes, .. } = FindingLimits::default();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let canonical = issued.spelling.canonical(&issued.surrogate);
        if kept.owners.contains_key(&canonical) {
            return Ok(());
        }
        kept.bytes += issued.surrogate.len() + issued.original.len();
        if kept.owners.len() >= values || kept.bytes > bytes {
            return Err(RedactError::TooManyValues { values, bytes });
        }
        kept.owners.insert(canonical, issued);
        Ok(())
    }

    /// The same of all of these.
    pub(super) fn keep_all(
        &self,
        mut issued: impl Iterator<Item = IssuedSurrogate>,
    ) -> Result<(), RedactError> {
        issued.try_for_each(|one| self.keep_issued(one))
    }

    /// What is kept is taken.
    pub(super) fn add_to(&self, taken: &mut IssuedSurrogates) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (canonical, entry) in &kept.owners {
            taken.insert(canonical.clone(), entry.spelling.owner(&entry.original));
        }
    }

    /// All that is kept.
    pub(super) fn issued(&self) -> Vec<IssuedSurrogate> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let issued = kept.owners.values().map(|entry| IssuedSurrogate {
            surrogate: entry.surrogate.clone(),
            original: entry.original.clone(),
            spelling: entry.spelling,
            parts: entry.parts,
        });
        issued.collect()
    }

    /// What [`SurrogateMap::from_bytes`] reads. To be sealed at once: it holds the originals.
    pub fn to_bytes(&self) -> Secret<Vec<u8>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = begun();
        for entry in kept.owners.values() {
            write(entry, &mut bytes);
        }
        Secret::new(bytes)
    }
}

impl std::fmt::Debug for SurrogateLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "SurrogateLog({} values)", kept.owners.len())
    }
}

impl SurrogateMap {
    /// Reads what [`SurrogateLog::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        if reader.byte()? != FORM {
            return None;
        }
        let mut ledger = Ledger::new(FindingLimits::default());
        for issued in read(reader)? {
            ledger.issue(issued).ok()?;
        }
        Some(ledger.close())
    }
}

/// What goes before all that [`write`] writes, in a file.
pub(super) fn begun() -> Vec<u8> {
    vec![FORM]
}

/// Writes one surrogate and what it stands for.
pub(super) fn write(issued: &IssuedSurrogate, out: &mut Vec<u8>) {
    let IssuedSurrogate { surrogate, original, spelling, parts } = issued;
    out.push(*spelling as u8 | if *parts { PARTS } else { 0 });
    for text in [surrogate, &**original] {
        out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

/// Reads all that [`write`] wrote; `None` for anything else.
pub(super) fn read(mut reader: ByteReader<'_>) -> Option<Vec<IssuedSurrogate>> {
    let mut all = Vec::new();
    while !reader.is_empty() {
        let first = reader.byte()?;
        let spelling = SurrogateIdentity::ALL.into_iter().nth(usize::from(first & !PARTS))?;
        let surrogate = std::str::from_utf8(reader.long()?).ok()?.to_owned();
        let original = Zeroizing::new(std::str::from_utf8(reader.long()?).ok()?.to_owned());
        all.push(IssuedSurrogate { surrogate, original, spelling, parts: first & PARTS != 0 });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_nothing_else_does() {
        let record = SurrogateLog::default();
        record.keep("4012 8888 8888 1881", "4111 1111 1111 1111", SurrogateIdentity::Grouped).unwrap();
        record.keep("4012-8888-8888-1881", "4111-1111-1111-1111", SurrogateIdentity::Grouped).unwrap();
        assert!(record.refuses("4012888888881881", "5555", SurrogateIdentity::Grouped));
        assert!(!record.refuses("4012888888881881", "4111111111111111", SurrogateIdentity::Grouped));
        let bytes = record.to_bytes();
        assert_eq!(SurrogateMap::from_bytes(bytes.expose()).unwrap().len(), 1);
        for cut in 0..bytes.expose().len() {
            let short = SurrogateMap::from_bytes(&bytes.expose()[..cut]);
            assert!(cut == 1 || short.is_none(), "{cut}");
        }
        assert!(SurrogateMap::from_bytes(b"\x02").is_none());
        assert_eq!(format!("{record:?}"), "SurrogateLog(1 values)");
    }
}
