//! [`Poll`]: `GET /request/{id}` (wire contract 1.6): 202 while there is no answer, then the answer, as often as it is
//! asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use http::header::RETRY_AFTER;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::envelope::{Dialect, DialectChoice, Stamp};
use crate::api::error::ApiError;
use crate::api::pending::{Job, JobOutcome, JobStage, Jobs, ReadJob};
use crate::base::id::RequestId;

/// What a caller of somebody's is told while it waits.
const WAIT: &str = "Your request is in progress. Use 'result.location' to poll for results.";

/// Says where this service is reached: the beginning of absolute URLs.
pub type BaseUrlSource = Arc<dyn Fn(&Parts) -> Option<String> + Send + Sync>;

/// Looks whether a job that waits for an upload can begin, and has it begun.
pub type JobResumer = Arc<dyn Fn(ReadJob) -> BoxFuture<'static, ()> + Send + Sync>;

/// Calls whose polls are counted, at the most.
const COUNTED: usize = 10_000;

/// How often callers of this process have asked for answers that were not there. Clients show it to people, and nothing
/// depends on it, so it is not kept any longer than the process.
#[derive(Default)]
pub struct Polls(Mutex<PollCounts>);

#[derive(Default)]
struct PollCounts {
    times: HashMap<RequestId, u32>,
    /// The oldest first.
    order: VecDeque<RequestId>,
}

impl Polls {
    /// Counts one; how many there have been with it.
    fn count(&self, id: &RequestId) -> u32 {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let PollCounts { times, order } = &mut *counted;
        if let Some(times) = times.get_mut(id) {
            *times = times.saturating_add(1);
            return *times;
        }
        if order.len() >= COUNTED
            && let Some(oldest) = order.pop_front()
        {
            times.remove(&oldest);
        }
        order.push_back(id.clone());
        times.insert(id.clone(), 1);
        1
    }
}

/// `GET /request/{id}`.
pub struct Poll {
    /// How often it was asked.
    pub polls: Polls,
    /// The jobs.
    pub jobs: Jobs,
    /// How answers are worded.
    pub dialect: DialectChoice,
    /// Where polls go.
    pub located: BaseUrlSource,
    /// Begins with jobs that can begin.
    pub resume: JobResumer,
}

/// The answer of a call that waits.
pub struct AcceptedAnswer<'a> {
    /// The job's id and the times of this answer.
    pub stamp: Stamp<'a>,
    /// How it is worded.
    pub dialect: Dialect,
    /// Where this service is reached.
    pub base: &'a str,
    /// How long the answer will be kept.
    pub minutes: u64,
    /// How often it was asked for before.
    pub polls: u32,
}

impl AcceptedAnswer<'_> {
    /// 202, with the members that say where to upload, if that is waited for.
    pub fn answer(&self, job: &Job) -> ApiAnswer {
        let mut result = Map::new();
        result.insert("ttl_mins".to_owned(), json!(self.minutes));
        result.insert("retry_counter".to_owned(), json!(self.polls));
        let location = format!("{}/request/{}", self.base, self.stamp.id);
        result.insert("location".to_owned(), json!(location));
        if let JobStage::Upload { target: Value::Object(target) } = &job.stage {
            result.extend(target.clone());
        }
        self.stamp.answer(StatusCode::ACCEPTED, self.dialect.accepted(), WAIT, Some(result))
    }
}

impl JobOutcome {
    /// The answer as this caller's client expects it.
    pub fn answer(&self, stamp: &Stamp<'_>, dialect: Dialect) -> ApiAnswer {
        let status = StatusCode::from_u16(self.http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let word = self.status.as_deref().unwrap_or(dialect.success());
        let mut answer = stamp.answer(status, word, &self.summary, self.result.as_ref());
        if let Some(after) = self.after {
            answer.headers.insert(RETRY_AFTER, HeaderValue::from(after));
        }
        answer
    }
}

impl Poll {
    async fn run(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let who = call.who.ok_or(ApiError::Unauthorized)?;
        let path = call.head.uri.path().trim_end_matches('/');
        let id = path.rsplit('/').next().and_then(RequestId::parse).ok_or(ApiError::NotFound)?;
        let read = self.jobs.get(&id).await?.ok_or(ApiError::NotFound)?;
        if read.job.owner != who.id().to_string() {
            return Err(ApiError::Unauthorized);
        }
        let read = match read.job.stage {
            JobStage::Upload { .. } => {
                (self.resume)(read).await;
                self.jobs.get(&id).await?.ok_or(ApiError::NotFound)?
            }
            _ => read,
        };
        let stamp = Stamp { id: &id, received: read.job.received(), answered: call.clock.now() };
        let dialect = self.dialect.of(&call.head.headers);
        if let JobStage::Ended(ended) = &read.job.stage {
            return Ok(ended.answer(&stamp, dialect));
        }
        let base = (self.located)(call.head).ok_or(ApiError::BadRequest("the request names no host"))?;
        let minutes = self.jobs.kept().answer.as_secs() / 60;
        let polls = self.polls.count(&id);
        Ok(AcceptedAnswer { stamp, dialect, base: &base, minutes, polls }.answer(&read.job))
    }
}

impl Handler for Poll {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| error.answer(&Stamp::of(&call)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_counted_for_each_call_and_forgotten_in_time() {
        let polls = Polls::default();
        let id = |n: u32| {
            RequestId::from_random(
                [n.to_be_bytes(), [0; 4], [0; 4], [0; 4], [0; 4]].concat().try_into().unwrap(),
            )
        };
        assert_eq!([0, 1, 0, 0].map(|n| polls.count(&id(n))), [1, 1, 2, 3]);
        (2..=COUNTED as u32).for_each(|n| assert_eq!(polls.count(&id(n)), 1));
        assert_eq!(polls.count(&id(0)), 1);
        assert_eq!(polls.0.lock().unwrap().times.len(), COUNTED);
    }
}
