//! [`CallerId`]: whose something is.

use data_encoding::HEXLOWER;

use crate::crypto::kdf::hmac_sha256;

/// Under which the log tells what goes wrong with what is remembered.
pub(super) const TARGET: &str = "portcullis::memory";

/// A caller by a keyed digest of what it is known by: the same in every process on one store, and nothing can be told from
/// it about the caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallerId(String);

/// Bytes of a digest that names something.
const NAME: usize = 20;

/// A name for `parts`, whose borders count.
pub(super) fn name_of<'p>(key: &[u8], parts: impl IntoIterator<Item = &'p [u8]>) -> String {
    let parts: Vec<&[u8]> = parts.into_iter().collect();
    let lengths: Vec<[u8; 8]> = parts.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
    let framed: Vec<&[u8]> =
        lengths.iter().zip(&parts).flat_map(|(length, part)| [length.as_slice(), *part]).collect();
    HEXLOWER.encode(hmac_sha256(key, &framed).get(..NAME).unwrap_or_default())
}

impl CallerId {
    /// The caller that is known by these parts, whose borders count.
    pub(super) fn new<'p>(key: &[u8], parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        Self(name_of(key, std::iter::once(b"caller".as_slice()).chain(parts)))
    }

    /// All callers together: no caller's own.
    pub(super) fn everybody() -> Self {
        Self("*".to_owned())
    }

    /// As it stands in ids of rows.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// What the ids of all rows of the caller begin with.
    pub(super) fn prefix(&self) -> String {
        if self.0 == "*" { String::new() } else { format!("{}/", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_of_parts_count() {
        let name = |parts: &[&[u8]]| name_of(&[7; 32], parts.iter().copied());
        assert_eq!(name(&[b"a", b"b"]), name(&[b"a", b"b"]));
        let all = [name(&[b"a", b"b"]), name(&[b"ab"]), name(&[b"ab", b""]), name(&[b"", b"ab"]), name(&[])];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| other != one), "{at}");
        }
        assert_ne!(name_of(&[8; 32], [b"ab".as_slice()]), all[1]);
    }
}
