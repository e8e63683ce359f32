//! Files in a request: which of them pass unread, are redacted by who knows their format, or are refused.

use std::ops::Range;

use crate::gateway::error::GatewayError;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::plan::REFUSED_MEDIA;
use crate::redact::{FileClass, UnreadFile};

/// What happens to files that are no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePolicy {
    /// To images, sound and films.
    pub media: UnscannedPolicy,
    /// To documents, archives, and what nobody knows.
    pub files: FileTreatment,
}

/// What happens to files in requests that are neither text nor media: parts of multipart bodies, base64 in strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileTreatment {
    /// They do not pass, and the answer says where they are.
    #[default]
    Refuse,
    /// Documents (PDF, Office, mail) are redacted within `sanitize.limits`; what cannot be does not pass.
    Redact,
    /// They pass as they are, and are counted.
    Pass,
}

/// A file that is not read, and may not pass.
#[derive(Debug)]
pub(in crate::gateway::filters) struct RefusedFile {
    class: FileClass,
    place: FilePlace,
}

/// Where a file is in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway::filters) enum FilePlace {
    /// All of it.
    Body,
    /// A part, counted from 1.
    Part(usize),
    /// A string, by its JSON pointer.
    String(String),
}

/// A part of a body, or all of it, that is a file and no text.
#[derive(Debug)]
pub(in crate::gateway::filters) struct BodyFile {
    pub(in crate::gateway::filters) class: FileClass,
    pub(in crate::gateway::filters) place: FilePlace,
    pub(in crate::gateway::filters) range: Range<usize>,
    /// Where the body says how long it is, if it does.
    pub(in crate::gateway::filters) length: Option<Range<usize>>,
    pub(in crate::gateway::filters) name: String,
}

impl std::fmt::Display for FilePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Body => f.write_str("the body"),
            Self::Part(number) => write!(f, "part {number} of the body"),
            Self::String(at) => write!(f, "the string at {at}"),
        }
    }
}

impl FilePolicy {
    fn refuses(self, class: FileClass) -> bool {
        match class {
            FileClass::Text => false,
            FileClass::Media => self.media == UnscannedPolicy::Refuse,
            FileClass::Other => self.files != FileTreatment::Pass,
        }
    }

    /// Whether no string of a document may hold a file of these classes.
    pub(in crate::gateway::filters) fn refused_in_strings(self) -> Vec<FileClass> {
        [FileClass::Media, FileClass::Other].into_iter().filter(|class| self.refuses(*class)).collect()
    }

    /// Lets parts of a body pass.
    pub(in crate::gateway::filters) fn check(self, files: &[BodyFile]) -> Result<(), RefusedFile> {
        match files.iter().find(|file| self.refuses(file.class)) {
            Some(file) => Err(RefusedFile { class: file.class, place: file.place.clone() }),
            None => Ok(()),
        }
    }

    /// Lets files in strings pass.
    pub(in crate::gateway::filters) fn check_strings(self, files: &[UnreadFile]) -> Result<(), RefusedFile> {
        match files.iter().find(|file| self.refuses(file.class)) {
            Some(file) => Err(RefusedFile { class: file.class, place: FilePlace::String(file.at.clone()) }),
            None => Ok(()),
        }
    }
}

impl From<RefusedFile> for GatewayError {
    fn from(RefusedFile { class, place }: RefusedFile) -> Self {
        Self::UnreadFile(match class {
            FileClass::Media => format!("{place} {REFUSED_MEDIA}"),
            _ => format!(
                "{place} is a file whose text is not read here (a document, an archive, or of no known kind); \
                 `files = \"redact\"` has documents redacted, `files = \"pass\"` lets all of them through unread"
            ),
        })
    }
}
