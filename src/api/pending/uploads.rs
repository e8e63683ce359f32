//! [`Uploads`]: what goes on once a granted upload is there.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::call::BoxFuture;
use crate::api::error::ApiError;
use crate::api::grant::{Arrivals, Grants, Verb};
use crate::api::pending::{Ended, Job, Jobs};
use crate::base::id::RequestId;
use crate::store::{Area, Blob, Blobs, Facts};

/// What a job does once its file is there.
pub trait Work: Send + Sync + 'static {
    /// Whether the job is one of its own, by what it is to do.
    fn takes(&self, order: &Value) -> bool;

    /// Does it. The file is in [`Area::Passing`], and is removed afterwards unless it was moved.
    fn run<'a>(&'a self, job: &'a Job, blob: &'a Blob, facts: &'a Facts) -> BoxFuture<'a, Ended>;
}

/// The file that the job of this request waits for.
pub fn awaited(id: &RequestId) -> Blob {
    Blob::new(Area::Passing, id.twin())
}

/// Members of an accepted answer that say where to upload the file that the job waits for, as a form or raw.
pub fn target(grants: &Grants, id: &RequestId, form: bool, (name, limit): (&str, u64)) -> Value {
    let blob = awaited(id);
    if form {
        let url = grants.upload(Verb::Post, &blob, (name, limit));
        // The URL says all; some clients refuse an answer without these, or send them as they are.
        json!({ "post_url": url, "post_form_data": { "key": blob.id().to_string() } })
    } else {
        json!({ "put_url": grants.upload(Verb::Put, &blob, (name, limit)) })
    }
}

/// Begins with the jobs whose files have come.
pub struct Uploads {
    jobs: Jobs,
    blobs: Arc<dyn Blobs>,
    works: Vec<Arc<dyn Work>>,
}

impl Uploads {
    /// Begins with `jobs` of these kinds of work.
    pub fn new(jobs: Jobs, blobs: Arc<dyn Blobs>, works: Vec<Arc<dyn Work>>) -> Self {
        Self { jobs, blobs, works }
    }

    async fn begin(&self, blob: &Blob, facts: &Facts) -> Result<(), ApiError> {
        let Some(read) = self.jobs.get(&blob.id().twin()).await? else { return Ok(()) };
        let Some(work) = self.works.iter().find(|work| work.takes(&read.job.order)) else { return Ok(()) };
        // Of several uploads by one grant the first is taken.
        let Some(claim) = self.jobs.claim(read).await? else { return Ok(()) };
        let job = claim.job().clone();
        self.jobs.work(claim, work.run(&job, blob, facts)).await?;
        self.blobs.remove(blob).await.map_err(|_| ApiError::Internal("files"))
    }
}

impl Arrivals for Uploads {
    fn arrived<'a>(&'a self, blob: &'a Blob, facts: Facts) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Err(error) = self.begin(blob, &facts).await {
                tracing::error!(target: "portcullis::api", %error, "an upload could not be taken");
            }
        })
    }
}
