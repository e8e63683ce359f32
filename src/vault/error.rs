//! Why a key or secret could not be had. Never holds one, nor any byte of a row.

use std::path::PathBuf;

use crate::crypto::aead::AeadError;
use crate::crypto::fpe::FpeError;
use crate::crypto::jws::JwsError;
use crate::crypto::kdf::KdfError;
use crate::crypto::passphrase::CostError;
use crate::crypto::random::RandomError;
use crate::store::StoreError;
use crate::vault::hook::HookError;
use crate::vault::jwt::JwtError;
use crate::vault::origin::KeyOrigin;

/// Why a key or secret could not be had.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The store was sealed with another master key. Nothing was written.
    #[error(
        "{0} is not the master key that this store was sealed with; put the right one there, or name the store \
         that belongs to it"
    )]
    WrongKey(KeyOrigin),
    /// The store is sealed, and the file that should hold its master key is missing. None was made, since a new
    /// one could not open it.
    #[error("{path}: this store's master key is missing; restore the file from a copy", path = .0.display())]
    KeyMissing(PathBuf),
    /// There is a master key in this file, and nothing in the store was ever sealed with it: it is not the store that was
    /// there. Nothing was written.
    #[error(
        "{path} is a master key that was in use, but there is nothing in the store: it is another one, or was not copied whole \
         (its -wal belongs to it); restore the store from a copy, or remove the key to begin anew",
        path = .0.display()
    )]
    StoreMissing(PathBuf),
    /// What should be a master key is not one.
    #[error("{0} does not hold a master key: 32 bytes, written as 64 hexadecimal digits or as base64")]
    KeyFormat(KeyOrigin),
    /// The program that should write the master key did not.
    #[error("vault.master_key_command: {program}: {error}")]
    Command {
        /// The program, as the operator named it.
        program: String,
        /// What is wrong with it.
        error: HookError,
    },
    /// A row does not open at its place: damaged, changed, or moved there from another place.
    #[error("a sealed row is damaged or was moved; restore the store from a copy")]
    Damaged,
    /// There is no such item, or it has no such version.
    #[error("there is no such item or version")]
    Unknown,
    /// What the item is, or its state, does not allow that; why, for the caller.
    #[error("{0}")]
    Forbidden(&'static str),
    /// What should be a key does not fit; why, for the caller.
    #[error("{0}")]
    Unfit(&'static str),
    /// There is a folder of this name already.
    #[error("there is a folder of this name already")]
    Taken,
    /// A token cannot be made or read.
    #[error(transparent)]
    Token(#[from] JwtError),
    /// A row was sealed by a later version of this program.
    #[error("a row was sealed by a later version of this program; upgrade it")]
    Newer,
    /// A cryptographic operation failed that cannot fail on a healthy machine.
    #[error("cryptography failed: {0}")]
    Crypto(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

macro_rules! from_crypto {
    ($($error:ty)*) => {$(
        impl From<$error> for VaultError {
            fn from(error: $error) -> Self {
                Self::Crypto(Box::new(error))
            }
        }
    )*};
}

from_crypto! { AeadError CostError FpeError JwsError KdfError RandomError }
