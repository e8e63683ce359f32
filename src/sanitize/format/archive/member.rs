//! [`member`]: one member of an archive.

use crate::sanitize::{ChangedObject, FileKind, ObjectKind, Rejection, Work};

/// A member that is clean.
pub(super) struct Clean {
    pub(super) content: Vec<u8>,
    kind: FileKind,
}

/// Cleans a member; `None`: it is left out, which is noted.
///
/// # Errors
/// What makes the whole archive unfit.
pub(super) fn member(name: &str, content: &[u8], work: &mut Work<'_>) -> Result<Option<Clean>, Rejection> {
    match work.file_of(name, content) {
        Ok((kind, content)) => Ok(Some(Clean { content, kind })),
        Err(rejection) if rejection.leaves_out() => {
            work.leave_out(ChangedObject::left_out(ObjectKind::File).in_part(name).because(rejection));
            Ok(None)
        }
        Err(rejection) => Err(rejection),
    }
}

impl Clean {
    /// What it must be called instead of `written`, where that does not fit what it is; which is noted.
    pub(super) fn fitting(&self, written: &str, work: &mut Work<'_>) -> Option<String> {
        work.fitting(written, self.kind)
    }

    /// Whether it may be run.
    pub(super) fn is_script(&self) -> bool {
        self.kind == FileKind::Script
    }
}
