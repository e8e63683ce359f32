//! [`Rejection`]: why there is no clean file.

use serde::{Deserialize, Serialize};

/// Why a file is not released. It never holds a word of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// A scanner knows it, or a part of it, to be malicious.
    #[error("the file is malicious")]
    Malicious,
    /// It cannot be opened without a password.
    #[error("the file is encrypted")]
    Encrypted,
    /// It does not open with the password that was given.
    #[error("the password does not open the file")]
    WrongPassword,
    /// It is not what it should be, or too broken to be rewritten.
    #[error("the file cannot be read")]
    #[serde(rename = "broken")]
    Malformed,
    /// A name in it leads out of the folder to which it is unpacked (CWE-22).
    #[error("a name in the archive leads out of it")]
    Traversal,
    /// A member of it is a link to another file, which may lie anywhere (CWE-59).
    #[error("a member of the archive is a link")]
    Symlink,
    /// Two of its members have one name, letter case aside.
    #[error("two members of the archive have one name")]
    DuplicateName,
    /// It declares a document type or entities of its own, which only some readers see.
    #[error("the document declares entities of its own")]
    Doctype,
    /// No format here rewrites files of its kind.
    #[error("files of this kind are not rewritten")]
    Unsupported,
    /// It is a script, and scripts are not released: see [`ScriptPolicy`](crate::sanitize::ScriptPolicy).
    #[error("scripts are not released")]
    Script,
    /// It unfolds to more than it may: see [`UnfoldBounds`](crate::sanitize::UnfoldBounds).
    #[error("the file unfolds to more than the limits allow")]
    #[serde(rename = "too_large")]
    OverLimit,
    /// The result was read again and still holds what should have gone.
    #[error("the rewritten file did not stand its check")]
    Unproven,
    /// A scanner could not look at it, and files that are not scanned are not wanted.
    #[error("the file could not be scanned")]
    NotScanned,
    /// Something in it was not read, and redacted files are to be read whole: see [`UnreadPolicy`](crate::sanitize::UnreadPolicy).
    #[error("the file could not be read whole")]
    Unread,
    /// Whoever had to be asked gave no answer.
    #[error("a provider gave no answer")]
    Provider,
    /// Its owner has had as many different values encrypted or hashed as it may, and may have others after so many
    /// seconds.
    #[error("too many different values are encrypted or hashed for its owner")]
    Spent(u64),
}

impl Rejection {
    /// One word for it, which programs go by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Malicious => "malicious",
            Self::Encrypted => "encrypted",
            Self::WrongPassword => "wrong_password",
            Self::Malformed => "broken",
            Self::Traversal => "traversal",
            Self::Symlink => "symlink",
            Self::DuplicateName => "duplicate_name",
            Self::Doctype => "doctype",
            Self::Unsupported => "unsupported",
            Self::Script => "script",
            Self::OverLimit => "too_large",
            Self::Unproven => "unproven",
            Self::NotScanned => "not_scanned",
            Self::Unread => "unread",
            Self::Provider => "provider",
            Self::Spent(_) => "spent",
        }
    }

    /// Whether a file within another is left out for that reason, and the other is released: it is at fault in itself, or of
    /// a kind that is not released.
    pub fn leaves_out(self) -> bool {
        matches!(
            self,
            Self::Malformed
                | Self::Traversal
                | Self::Symlink
                | Self::DuplicateName
                | Self::Doctype
                | Self::Unsupported
                | Self::Script
        )
    }
}
