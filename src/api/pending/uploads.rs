//! [`Uploads`]: what goes on once a granted upload is there, or nobody goes on.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::api::error::ApiError;
use crate::api::grant::{ArrivalObserver, GrantedFile, Grants, Verb};
use crate::api::incoming::stored;
use crate::api::pending::{Job, JobClaim, JobOutcome, JobStage, Jobs, ReadJob};
use crate::base::id::{RequestId, TokenId};
use crate::store::{Area, Blob, BlobDigests, Blobs, blobs};
use crate::telemetry::trace::{here, within};

/// What a job does once it may begin.
pub trait JobHandler: Send + Sync + 'static {
    /// Whether the job is one of its own, by what it is to do.
    fn takes(&self, order: &Value) -> bool;

    /// Does it. The job's file is `blob`, if it has one, in [`Area::Passing`]; it is removed afterwards unless it was
    /// moved.
    fn run<'a>(
        &'a self,
        job: &'a Job,
        blob: &'a Blob,
        facts: Option<&'a BlobDigests>,
    ) -> BoxFuture<'a, JobOutcome>;
}

/// The file that the job of this request waits for.
pub fn awaited(id: &RequestId) -> Blob {
    Blob::new(Area::Passing, id.twin())
}

/// An upload that a job waits for.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedUpload<'u> {
    /// The call that began the job.
    pub call: &'u RequestId,
    /// The token that made the call.
    pub by: &'u TokenId,
    /// Whether the file comes in a form, or raw.
    pub form: bool,
    /// The file's name.
    pub name: &'u str,
    /// The most bytes that it may have.
    pub limit: u64,
}

/// Members of an accepted answer that say where to upload the file that the job waits for.
pub fn target(grants: &Grants, upload: AwaitedUpload<'_>) -> Value {
    let AwaitedUpload { call, by, form, name, limit } = upload;
    let blob = awaited(call);
    let file = GrantedFile { blob: &blob, name, limit };
    if form {
        let url = grants.upload(Verb::Post, file, by);
        // The URL says all; some clients refuse an answer without these, or send them as they are.
        json!({ "post_url": url, "post_form_data": { "key": blob.id().to_string() } })
    } else {
        json!({ "put_url": grants.upload(Verb::Put, file, by) })
    }
}

/// How often jobs are looked for that nobody works on.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long an upload's answer waits for what was begun with it.
const PROMPT: Duration = Duration::from_secs(1);

/// Begins with jobs: as soon as their files have come, and with those that a process left behind.
pub struct Uploads {
    jobs: Jobs,
    blobs: Arc<dyn Blobs>,
    handlers: Vec<Arc<dyn JobHandler>>,
    /// What has begun outlives the call that brought its file.
    me: Weak<Self>,
    runtime: Handle,
}

impl Uploads {
    /// Begins with `jobs` of these kinds of work, on `runtime`.
    pub fn new(
        jobs: Jobs,
        blobs: Arc<dyn Blobs>,
        handlers: Vec<Arc<dyn JobHandler>>,
        runtime: Handle,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self { jobs, blobs, handlers, me: Weak::clone(me), runtime })
    }

    /// Begins with a job, unless somebody else works on it or has done so. Its answer, if it was given here.
    ///
    /// # Errors
    /// The store's.
    pub async fn begin(
        &self,
        read: ReadJob,
        facts: Option<&BlobDigests>,
    ) -> Result<Option<JobOutcome>, ApiError> {
        if self.handler(&read.job).is_none() {
            return Ok(None);
        }
        // Of several uploads by one grant the first is taken.
        let Some(claim) = self.jobs.claim(read).await? else { return Ok(None) };
        self.go_on(claim, facts).await
    }

    fn handler(&self, job: &Job) -> Option<&dyn JobHandler> {
        self.handlers.iter().find(|handler| handler.takes(&job.order)).map(Arc::as_ref)
    }

    async fn go_on(
        &self,
        claim: JobClaim,
        facts: Option<&BlobDigests>,
    ) -> Result<Option<JobOutcome>, ApiError> {
        let (job, blob) = (claim.job().clone(), awaited(claim.id()));
        let Some(work) = self.handler(&job) else { return Ok(None) };
        let ended = self.jobs.work(claim, work.run(&job, &blob, facts)).await?;
        if ended.is_some() {
            self.blobs.remove(&blob).await.map_err(|error| stored(&error))?;
        }
        Ok(ended)
    }

    /// Keeps the job of this call and begins with it. Its answer, if it is there within `patience`.
    ///
    /// # Errors
    /// The store's: the job is not kept.
    pub async fn start(
        &self,
        id: &RequestId,
        job: &Job,
        facts: Option<BlobDigests>,
        patience: Duration,
    ) -> Result<Option<JobOutcome>, ApiError> {
        let uploads = self.me.upgrade().ok_or(ApiError::Internal("jobs"))?;
        let (id, job) = (id.clone(), job.clone());
        let (tell, kept) = oneshot::channel();
        let going = self.aside(async move {
            let (told, claim) = match uploads.jobs.create_claimed(&id, &job).await {
                Ok(claim) => (Ok(()), claim),
                Err(error) => (Err(error), None),
            };
            // Its caller may have left; the job has not.
            drop(tell.send(told));
            match claim {
                Some(claim) => uploads.go_on(claim, facts.as_ref()).await,
                None => Ok(None),
            }
        });
        kept.await.map_err(|_| ApiError::Internal("jobs"))??;
        Ok(within_patience(going, patience).await)
    }

    /// Begins with the job of this request. Its answer, if it is there within `patience`.
    async fn soon(
        &self,
        id: RequestId,
        facts: Option<BlobDigests>,
        patience: Duration,
    ) -> Option<JobOutcome> {
        let uploads = self.me.upgrade()?;
        let begun = async move {
            match uploads.jobs.get(&id).await? {
                Some(read) => uploads.begin(read, facts.as_ref()).await,
                None => Ok(None),
            }
        };
        within_patience(self.aside(begun), patience).await
    }

    /// The work goes on by itself: neither a caller who leaves nor one who comes back later finds it half done.
    fn aside(
        &self,
        begun: impl Future<Output = Result<Option<JobOutcome>, ApiError>> + Send + 'static,
    ) -> JoinHandle<Option<JobOutcome>> {
        self.runtime.spawn(within(here(), async move { told(begun.await) }))
    }

    /// Looks again and again for jobs that nobody works on: of a process that died, or whose file came through
    /// another, or from the file store itself. Ends when nobody else holds `uploads` any more.
    pub async fn tend(uploads: Weak<Self>) {
        let mut after = String::new();
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let Some(uploads) = uploads.upgrade() else { return };
            let (idle, next) = uploads.jobs.idle(&after).await.unwrap_or_default();
            for read in idle {
                uploads.look(read).await;
            }
            after = next;
        }
    }

    /// One after the other: what has been left behind should not crowd out what comes.
    async fn look(&self, read: ReadJob) {
        let facts = blobs::facts(self.blobs.as_ref(), &awaited(&read.id)).await.ok().flatten();
        if !matches!(read.job.stage, JobStage::Upload { .. }) || facts.is_some() {
            told(self.begin(read, facts.as_ref()).await);
        }
    }
}

async fn within_patience(going: JoinHandle<Option<JobOutcome>>, patience: Duration) -> Option<JobOutcome> {
    tokio::time::timeout(patience, going).await.ok()?.ok()?
}

/// What came of it, if anything; a failure goes to the log.
fn told(begun: Result<Option<JobOutcome>, ApiError>) -> Option<JobOutcome> {
    begun.unwrap_or_else(|error| {
        tracing::error!(target: "portcullis::api", %error, "a job could not be done");
        None
    })
}

impl ArrivalObserver for Uploads {
    /// Of one that did not fail the same file may come again, from a client that did not hear that it had arrived.
    fn is_over<'a>(&'a self, blob: &'a Blob) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let read = self.jobs.get(&blob.id().twin()).await;
            let ended = read.ok().flatten().map(|read| read.job.stage);
            matches!(ended, Some(JobStage::Ended(JobOutcome { status: Some(_), .. })))
        })
    }

    fn arrived<'a>(&'a self, blob: &'a Blob, facts: BlobDigests) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // Who asks as soon as the upload is answered then finds most files done.
            self.soon(blob.id().twin(), Some(facts), PROMPT).await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::pending::WorkGate;
    use crate::api::pending::jobs::tests::{TestJobs, job};
    use crate::store::Objects;

    struct Quick;

    impl JobHandler for Quick {
        fn takes(&self, _: &Value) -> bool {
            true
        }

        fn run<'a>(
            &'a self,
            _: &'a Job,
            _: &'a Blob,
            _: Option<&'a BlobDigests>,
        ) -> BoxFuture<'a, JobOutcome> {
            Box::pin(std::future::ready(JobOutcome::success("done".to_owned(), Value::Null)))
        }
    }

    #[tokio::test]
    async fn a_caller_who_leaves_as_his_job_is_written_leaves_it_to_be_done() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = TestJobs::new(folder.path()).await.process(&WorkGate::default());
        let blobs: Arc<dyn Blobs> = Arc::new(Objects::local(&folder.path().join("files")).unwrap());
        let uploads = Uploads::new(jobs.clone(), blobs, vec![Arc::new(Quick)], Handle::current());
        let id = RequestId::from_random([7; _]);
        let (order, patience) = (job(), Duration::from_secs(60));
        tokio::select! {
            biased;
            _ = uploads.start(&id, &order, None, patience) => panic!("the store cannot have answered yet"),
            () = std::future::ready(()) => {}
        }
        // He is gone; no lease ran out.
        let mut turns = 0;
        loop {
            match jobs.get(&id).await.unwrap() {
                Some(ReadJob { job: Job { stage: JobStage::Ended(ended), tries: 1, .. }, .. }) => {
                    assert_eq!(ended.summary, "done");
                    return;
                }
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
            turns += 1;
            assert!(turns < 2_000, "nobody went on");
        }
    }
}
