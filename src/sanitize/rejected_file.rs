//! [`RejectedFile`]: why a file is not released, and where in it that lies.

use crate::sanitize::{ContentLocation, FileKind, Rejection};

/// Why a file is not released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedFile {
    /// What it is, as far as it was looked at.
    pub kind: Option<FileKind>,
    /// Why.
    pub rejection: Rejection,
    /// Where what is at fault lies in it.
    pub spot: ContentLocation,
    /// Who says that it is malicious.
    pub threat: Option<Threat>,
}

/// What a scanner knows a file, or a part of one, by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threat {
    /// The rule or signature.
    pub rule: String,
    /// The scanner.
    pub scanner: &'static str,
    /// What the scanner was told that it is called.
    pub part: String,
}

impl RejectedFile {
    /// Of a file of this kind, for this reason, wherever that lies.
    pub fn new(kind: Option<FileKind>, rejection: Rejection) -> Self {
        Self { kind, rejection, spot: ContentLocation::default(), threat: None }
    }
}
