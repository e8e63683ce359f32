//! [`Job`]: a call as it waits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::error::ApiError;
use crate::base::clock::Timestamp;

/// A call that is answered later. Its row is sealed: what is asked, and what was found, is the caller's.
#[derive(Clone, Serialize, Deserialize)]
pub struct Job {
    /// The id of the token that may ask for the answer.
    pub owner: String,
    /// Whose data it is about.
    pub tenant: String,
    /// When the call came, in milliseconds since 1970.
    pub received: u64,
    /// What is to be done, as the service wrote it.
    pub order: Value,
    /// How far it is.
    pub stage: JobStage,
    /// How often somebody began with it.
    pub tries: u32,
}

/// How far a job is.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStage {
    /// The caller has yet to upload a file.
    Upload {
        /// Members of an accepted answer that say where to.
        target: Value,
    },
    /// Somebody should begin.
    Ready,
    /// Somebody works on it, until this time; from then on anybody may begin again.
    Running {
        /// Which process.
        by: String,
        /// Milliseconds since 1970.
        until: u64,
    },
    /// It is answered.
    Ended(JobOutcome),
}

/// A job's answer, before it is worded for whoever asks.
#[derive(Clone, Serialize, Deserialize)]
pub struct JobOutcome {
    /// The HTTP status.
    pub http: u16,
    /// The status of an error; `None` for a success.
    pub status: Option<String>,
    /// A short text for people.
    pub summary: String,
    /// The result.
    pub result: Option<Value>,
    /// After how many seconds the same call may succeed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

impl Job {
    /// When the call came.
    pub fn received(&self) -> Timestamp {
        Timestamp::from_millis(self.received)
    }
}

impl JobStage {
    /// Whether anybody may begin with it at this time: nobody does, or whoever did is gone.
    pub(super) fn waits(&self, now: Timestamp) -> bool {
        match self {
            Self::Upload { .. } | Self::Ready => true,
            Self::Running { until, .. } => *until <= now.as_millis(),
            Self::Ended(_) => false,
        }
    }
}

impl JobOutcome {
    /// A success.
    pub fn success(summary: String, result: Value) -> Self {
        Self { http: 200, status: None, summary, result: Some(result), after: None }
    }
}

impl From<ApiError> for JobOutcome {
    fn from(error: ApiError) -> Self {
        let (http, status, summary, result) = error.told();
        let after = match error {
            ApiError::TooManyRequests(after) | ApiError::TooManyValues(after) => Some(after),
            _ => None,
        };
        Self {
            http: http.as_u16(),
            status: Some(status.to_owned()),
            summary: summary.to_owned(),
            result,
            after,
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stage = match self.stage {
            JobStage::Upload { .. } => "upload",
            JobStage::Ready => "ready",
            JobStage::Running { .. } => "running",
            JobStage::Ended(_) => "ended",
        };
        f.debug_struct("Job").field("stage", &stage).field("tries", &self.tries).finish_non_exhaustive()
    }
}
