//! What parent and child say to each other. The parent believes nothing of what the child says: a parser that was
//! taken over may say anything.
//!
//! A request is answered with a [`Response`](crate::sanitize::Response); a child whose request is rejected is ended.

use serde::{Deserialize, Serialize};

use crate::sanitize::{ContentLocation, FileKind, HostRequest, Options, Rejection, Stats, UnfoldBounds};

/// The parent's first message; the file follows as the frame's bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) options: Options,
    pub(super) bounds: UnfoldBounds,
    /// What the file is called.
    pub(super) name: String,
}

/// What the child says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ChildMessage<'a> {
    /// The bytes of a part are the frame's. A part is not answered: one that is rejected ends the child.
    Request(HostRequest<'a>),
    /// The frame's bytes are the clean file.
    Done(FileKind, Stats),
    /// There is none, for what lies there.
    Rejected(FileKind, Rejection, ContentLocation),
}
