//! [`Poll`]: `GET /request/{id}` (wire contract 1.6): 202 while there is no answer, then the answer, as often as it is
//! asked for.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use serde_json::{Map, Value, json};

use crate::api::call::{Answer, BoxFuture, Call, Handler};
use crate::api::envelope::{Dialect, DialectChoice, Stamp};
use crate::api::error::ApiError;
use crate::api::pending::{Ended, Job, Jobs, Read, Stage};
use crate::base::id::RequestId;

/// What a caller of somebody's is told while it waits.
const WAIT: &str = "Your request is in progress. Use 'result.location' to poll for results.";

/// Says where this service is reached: the beginning of absolute URLs.
pub type Located = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;

/// Looks whether a job that waits for an upload can begin, and has it begun.
pub type Nudge = Arc<dyn Fn(Read) -> BoxFuture<'static, ()> + Send + Sync>;

/// `GET /request/{id}`.
pub struct Poll {
    /// The jobs.
    pub jobs: Jobs,
    /// How answers are worded.
    pub dialect: DialectChoice,
    /// Where polls go.
    pub located: Located,
    /// Begins with jobs that can begin.
    pub nudge: Nudge,
}

/// The answer of a call that waits.
pub struct Accepted<'a> {
    /// The job's id and the times of this answer.
    pub stamp: Stamp<'a>,
    /// How it is worded.
    pub dialect: Dialect,
    /// Where this service is reached.
    pub base: &'a str,
    /// How long the answer will be kept.
    pub minutes: u64,
}

impl Accepted<'_> {
    /// 202, with the members that say where to upload, if that is waited for.
    pub fn answer(&self, job: &Job) -> Answer {
        let mut result = Map::new();
        result.insert("ttl_mins".to_owned(), json!(self.minutes));
        result.insert("retry_counter".to_owned(), json!(job.tries));
        let location = format!("{}/request/{}", self.base, self.stamp.id);
        result.insert("location".to_owned(), json!(location));
        if let Stage::Upload { target: Value::Object(target) } = &job.stage {
            result.extend(target.clone());
        }
        self.stamp.answer(StatusCode::ACCEPTED, self.dialect.accepted(), WAIT, Some(result))
    }
}

impl Ended {
    /// The answer as this caller's client expects it.
    pub fn answer(&self, stamp: &Stamp<'_>, dialect: Dialect) -> Answer {
        let status = StatusCode::from_u16(self.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let word = self.status.as_deref().unwrap_or(dialect.success());
        stamp.answer(status, word, &self.summary, self.result.as_ref())
    }
}

impl Poll {
    async fn run(&self, call: &mut Call<'_>) -> Result<Answer, ApiError> {
        let who = call.who.ok_or(ApiError::Unauthorized)?;
        let path = call.head.uri.path().trim_end_matches('/');
        let id = path.rsplit('/').next().and_then(RequestId::parse).ok_or(ApiError::NotFound)?;
        let read = self.jobs.get(&id).await?.ok_or(ApiError::NotFound)?;
        if read.job.owner != who.id().to_string() {
            return Err(ApiError::Unauthorized);
        }
        let read = match read.job.stage {
            Stage::Upload { .. } => {
                (self.nudge)(read).await;
                self.jobs.get(&id).await?.ok_or(ApiError::NotFound)?
            }
            _ => read,
        };
        let stamp = Stamp { id: &id, received: read.job.received(), answered: call.clock.now() };
        let dialect = self.dialect.of(&call.head.headers);
        if let Stage::Ended(ended) = &read.job.stage {
            return Ok(ended.answer(&stamp, dialect));
        }
        let base = (self.located)(call.head).ok_or(ApiError::BadRequest("the request names no host"))?;
        let minutes = self.jobs.kept().answer.as_secs() / 60;
        Ok(Accepted { stamp, dialect, base: &base, minutes }.answer(&read.job))
    }
}

impl Handler for Poll {
    fn call<'a>(&'a self, mut call: Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            let stamp = Stamp { id: call.id, received: call.received, answered: call.clock.now() };
            outcome.unwrap_or_else(|error| error.answer(&stamp))
        })
    }
}
