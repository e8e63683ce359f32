//! What a key is for, and the algorithm it is for.

use crate::crypto::jws::{JwsAlgorithm, KeyKind};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// A pair of keys.
    AsymmetricKey,
    /// A key that both sides have.
    SymmetricKey,
    /// Text that is nobody else's business.
    Secret,
    /// What items lie in.
    Folder,
}

impl ItemKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::AsymmetricKey, Self::SymmetricKey, Self::Secret, Self::Folder];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsymmetricKey => "asymmetric_key",
            Self::SymmetricKey => "symmetric_key",
            Self::Secret => "secret",
            Self::Folder => "folder",
        }
    }

    /// Whether it is a key of either sort.
    pub const fn is_key(self) -> bool {
        matches!(self, Self::AsymmetricKey | Self::SymmetricKey)
    }
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// To sign tokens.
    Jwt,
    /// Format-preserving encryption.
    Fpe,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 2] = [Self::Jwt, Self::Fpe];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jwt => "jwt",
            Self::Fpe => "fpe",
        }
    }
}

/// The algorithm of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// FF1 (SP 800-38G) with AES.
    Fpe(FpeAlgorithm),
    /// A signature of tokens.
    Jws(JwsAlgorithm),
}

/// FF1 by the length of its AES key. The clients know it by the name of FF3-1, which NIST withdrew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FpeAlgorithm {
    /// `AES-FF1-128`.
    Aes128,
    /// `AES-FF1-256`.
    Aes256,
    /// `AES-FF3-1-128-BETA`, which is [`FpeAlgorithm::Aes128`].
    Aes128Beta,
    /// `AES-FF3-1-256-BETA`, which is [`FpeAlgorithm::Aes256`].
    Aes256Beta,
}

impl FpeAlgorithm {
    const ALL: [Self; 4] = [Self::Aes128, Self::Aes256, Self::Aes128Beta, Self::Aes256Beta];

    const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "AES-FF1-128",
            Self::Aes256 => "AES-FF1-256",
            Self::Aes128Beta => "AES-FF3-1-128-BETA",
            Self::Aes256Beta => "AES-FF3-1-256-BETA",
        }
    }

    /// Bytes of a key.
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 | Self::Aes128Beta => 16,
            Self::Aes256 | Self::Aes256Beta => 32,
        }
    }
}

impl Algorithm {
    /// Those that there are for keys of this kind and purpose.
    pub fn all(kind: ItemKind, purpose: Purpose) -> Vec<Self> {
        let shared = |algorithm: &JwsAlgorithm| matches!(algorithm.key(), KeyKind::Secret(_));
        let all = JwsAlgorithm::ALL.into_iter();
        match (kind, purpose) {
            (ItemKind::SymmetricKey, Purpose::Fpe) => FpeAlgorithm::ALL.map(Self::Fpe).to_vec(),
            (ItemKind::SymmetricKey, Purpose::Jwt) => all.filter(shared).map(Self::Jws).collect(),
            (ItemKind::AsymmetricKey, Purpose::Jwt) => {
                all.filter(|one| !shared(one)).map(Self::Jws).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fpe(fpe) => fpe.name(),
            Self::Jws(jws) => jws.name(),
        }
    }
}
