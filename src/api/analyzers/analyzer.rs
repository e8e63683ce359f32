//! [`Analyzer`]: one program that knows what texts hold, and how it is asked about one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Semaphore;

use crate::api::analyzers::answer::{AnalyzerFault, Counting};
use crate::base::clock::SharedClock;
use crate::base::generations::{Generations, Timed};
use crate::base::secret::Secret;
use crate::crypto::kdf::MacKey;
use crate::detect::{Finding, RuleId};
use crate::net::{CallBody, Client, NetError, OutboundCall, ProviderAnswer, Url};
use crate::telemetry::{AnalyzerAnswer, AnalyzerMetrics};

/// The longest answer, in bytes.
const LONGEST_ANSWER: usize = 4 << 20;

/// Between two lines in the log about an analyzer that does not answer.
const QUIET: Duration = Duration::from_secs(10);

/// What becomes of a request of which an analyzer does not say what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It is refused.
    Refuse,
    /// It goes on with what others found.
    Pass,
}

/// What an [`Analyzer`] is made from.
pub struct AnalyzerParts {
    /// Its name in the configuration.
    pub name: String,
    /// Goes there.
    pub client: Client,
    /// Where it is asked.
    pub url: Url,
    /// Fields of the head, such as a key.
    pub headers: Vec<(String, Secret<String>)>,
    /// What language it is told that texts are in.
    pub language: String,
    /// The rules that its findings are of, by its names for what it is asked for.
    pub rules: BTreeMap<String, RuleId>,
    /// From which score on they count.
    pub threshold: f64,
    /// How long all texts of one request may take together.
    pub timeout: Duration,
    /// Questions under way at once.
    pub concurrency: usize,
    /// What becomes of a request where it does not answer.
    pub on_failure: OnFailure,
    /// The longest text that it is asked about, in bytes.
    pub max_text: usize,
    /// How long an answer is kept.
    pub cache_for: Duration,
    /// Random; under it answers are kept, so that nobody can look for texts in what is kept.
    pub key: [u8; 32],
    /// Reads time.
    pub clock: SharedClock,
    /// What is counted.
    pub metrics: AnalyzerMetrics,
}

/// The most bytes that a generation of what was said is charged for.
const GENERATION: usize = 4 << 20;

/// What an entry takes besides its findings, about, in bytes.
const ENTRY: usize = 128;

/// Knows what texts hold.
pub struct Analyzer {
    pub(super) parts: AnalyzerParts,
    key: MacKey,
    /// What it said before.
    kept: Mutex<Generations<Timed<Arc<[Finding]>>>>,
    turns: Semaphore,
    complained: Mutex<Option<Instant>>,
}

impl Analyzer {
    /// Makes one that has been asked nothing yet.
    pub fn new(parts: AnalyzerParts) -> Self {
        Self {
            key: MacKey::new(&parts.key),
            kept: Mutex::new(Generations::new(GENERATION)),
            turns: Semaphore::new(parts.concurrency),
            complained: Mutex::default(),
            parts,
        }
    }

    /// What a text holds, as it says now or said before.
    ///
    /// # Errors
    /// It says nothing that can be used before `deadline`.
    pub(super) async fn findings(
        &self,
        text: &str,
        deadline: Instant,
    ) -> Result<Arc<[Finding]>, AnalyzerFault> {
        let digest = self.key.digest(&[text.as_bytes()]);
        let since = self.parts.clock.instant();
        if let Some(findings) = unlocked(&self.kept).current(&digest, since) {
            self.parts.metrics.texts.inc(AnalyzerAnswer::Remembered);
            return Ok(findings);
        }
        if text.len() > self.parts.max_text {
            return Err(self.failed(AnalyzerFault::TooLong));
        }
        let left = deadline.saturating_duration_since(since);
        let asked = tokio::time::timeout(left, self.ask(text)).await.unwrap_or(Err(AnalyzerFault::Late));
        match asked {
            Ok(findings) => {
                self.parts.metrics.texts.inc(AnalyzerAnswer::Answered);
                let findings: Arc<[Finding]> = findings.into();
                if !self.parts.cache_for.is_zero() {
                    let until = since + self.parts.cache_for;
                    let charge = ENTRY + std::mem::size_of_val::<[Finding]>(&findings);
                    unlocked(&self.kept).put(digest, Timed { value: Arc::clone(&findings), until }, charge);
                }
                Ok(findings)
            }
            Err(why) => Err(self.failed(why)),
        }
    }

    async fn ask(&self, text: &str) -> Result<Vec<Finding>, AnalyzerFault> {
        let AnalyzerParts { language, rules, threshold, .. } = &self.parts;
        let _turn = self.turns.acquire().await.map_err(|_| AnalyzerFault::Gone)?;
        let begun = self.parts.clock.instant();
        let question = json!({
            "text": text,
            "language": language,
            "entities": rules.keys().collect::<Vec<_>>(),
            "score_threshold": threshold,
        });
        let question = question.to_string();
        let answer = match self.call(question.clone()).await {
            // A connection that was kept may have been closed just now, and asking again changes nothing.
            Err(NetError::Inaccessible) => self.call(question).await?,
            first => first?,
        };
        if answer.status != 200 {
            return Err(AnalyzerFault::Status(answer.status));
        }
        let findings = Counting { rules, threshold: *threshold }.read(&answer.body, text)?;
        let took = self.parts.clock.instant().saturating_duration_since(begun);
        self.parts.metrics.took(took.as_secs_f64());
        Ok(findings)
    }

    async fn call(&self, question: String) -> Result<ProviderAnswer, NetError> {
        let call = OutboundCall {
            url: &self.parts.url,
            headers: &self.parts.headers,
            body: Some(CallBody::Json(question)),
            // The whole request has no longer.
            timeout: self.parts.timeout,
            most: LONGEST_ANSWER,
        };
        self.parts.client.call(call).await
    }

    fn failed(&self, why: AnalyzerFault) -> AnalyzerFault {
        let AnalyzerParts { name, clock, metrics, on_failure, .. } = &self.parts;
        metrics.texts.inc(if why == AnalyzerFault::Late {
            AnalyzerAnswer::Timeout
        } else {
            AnalyzerAnswer::Failed
        });
        let now = clock.instant();
        let mut complained = unlocked(&self.complained);
        if complained.is_none_or(|last| now.duration_since(last) >= QUIET) {
            *complained = Some(now);
            let then = match on_failure {
                OnFailure::Refuse => "requests are refused",
                OnFailure::Pass => "requests pass without its findings",
            };
            tracing::warn!(target: "portcullis::analyzers", analyzer = name.as_str(), "{why}: {then}");
        }
        why
    }
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyzer").field("name", &self.parts.name).finish_non_exhaustive()
    }
}

/// What is in a lock. None is held while anybody waits for something else.
fn unlocked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
