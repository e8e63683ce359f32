//! Calls that are answered later: 202, and `GET /request/{id}` until there is an answer.
//!
//! | file | noun |
//! |---|---|
//! | `job` | [`Job`]: a call as it waits, and its [`JobStage`]; [`JobOutcome`], its answer |
//! | `jobs` | [`Jobs`]: jobs as sealed rows with leases, so that a process that dies loses none |
//! | `poll` | [`Poll`]: `GET /request/{id}` |
//! | `work_gate` | [`WorkGate`]: whether this process takes work; when it ends, what is under way is handed back |
//! | `uploads` | [`Uploads`]: what goes on once a granted upload is there |

mod job;
mod jobs;
mod poll;
mod uploads;
mod work_gate;

pub use job::{Job, JobOutcome, JobStage};
pub use jobs::{JobClaim, Jobs, ReadJob, Retention};
pub use poll::{AcceptedAnswer, BaseUrlSource, JobResumer, Poll, Polls};
pub use uploads::{AwaitedUpload, JobHandler, Uploads, awaited, target};
pub use work_gate::WorkGate;
