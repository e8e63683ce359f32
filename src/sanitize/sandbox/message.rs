//! What parent and child say to each other. The parent believes nothing of what the child says: a parser that was
//! taken over may say anything.

use serde::{Deserialize, Serialize};

use crate::sanitize::{Bounds, Edit, Kind, Link, Named, Options, Rejection, Stats};

/// The parent's first words; the file follows as the frame's bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) options: Options,
    pub(super) bounds: Bounds,
    /// What the file is called.
    pub(super) name: String,
}

/// What the child says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    /// Look at the frame's bytes, called so. Nothing is answered: who refuses a part refuses the file.
    Part(String),
    /// Which of these links are to be defanged?
    Links(Vec<Link>),
    /// What is to change in these texts?
    Texts(Vec<Named>),
    /// The frame's bytes are the clean file.
    Done(Kind, Stats),
    /// There is none.
    Rejected(Kind, Rejection),
}

/// What the parent answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Links(Vec<bool>),
    Texts(Vec<Vec<Edit>>),
    Rejected(Rejection),
}
