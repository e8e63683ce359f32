//! [`Jobs`]: jobs as rows. Who works on one holds a lease and renews it; a lease that ran out belongs to whoever
//! takes it next, in this process or another. Every change is a compare-and-set on the row's version. A job that is
//! answered goes to rows of another kind, in the same write: there may be very many, and who looks for work looks often.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;

use crate::api::error::ApiError;
use crate::api::pending::work_gate::{WorkGate, WorkGuard};
use crate::api::pending::{Job, JobOutcome, JobStage};
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::RequestId;
use crate::crypto::random;
use crate::store::{Key, NewRow, Precondition, Records, Row, StoreError};
use crate::vault::{ENDED, PENDING, Vault};

/// How long a lease lasts; it is renewed at a third of that.
const LEASE: Duration = Duration::from_secs(15);

/// A job that was begun so often and never ended kills whoever works on it.
const TRIES: u32 = 5;

/// Rows read at once: very many jobs that wait make the look at each of them rarer, not dearer.
const PAGE: u32 = 200;

/// How long jobs are kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// While a file is yet to be uploaded.
    pub upload: Duration,
    /// From the beginning on, and again from the answer on.
    pub answer: Duration,
}

/// All jobs. Cheap to clone.
#[derive(Clone)]
pub struct Jobs(Arc<SharedJobs>);

struct SharedJobs {
    records: Arc<dyn Records>,
    vault: Arc<Vault>,
    clock: SharedClock,
    /// Names this process in leases.
    me: String,
    kept: Retention,
    work_gate: WorkGate,
}

/// A job as it was read.
#[derive(Debug)]
pub struct ReadJob {
    /// Which.
    pub id: RequestId,
    /// The job.
    pub job: Job,
    version: u64,
}

/// A job that this process works on.
#[derive(Debug)]
pub struct JobClaim(ReadJob, WorkGuard);

impl JobClaim {
    /// Which.
    pub fn id(&self) -> &RequestId {
        &self.0.id
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.0.job
    }
}

fn key(kind: &'static str, id: &RequestId) -> Key {
    Key::new(kind, id.to_string())
}

fn internal<E>(_: E) -> ApiError {
    ApiError::Internal("jobs")
}

fn stored(error: StoreError) -> ApiError {
    ApiError::store(&error, "jobs")
}

impl Jobs {
    /// Jobs in this store.
    ///
    /// # Errors
    /// No randomness.
    pub fn new(
        records: Arc<dyn Records>,
        vault: Arc<Vault>,
        clock: SharedClock,
        kept: Retention,
        work_gate: WorkGate,
    ) -> Result<Self, ApiError> {
        let me = HEXLOWER.encode(&random::bytes::<8>().map_err(internal)?);
        Ok(Self(Arc::new(SharedJobs { records, vault, clock, me, kept, work_gate })))
    }

    /// How long an answer can be asked for.
    pub fn kept(&self) -> Retention {
        self.0.kept
    }

    fn in_millis(&self, time: Duration) -> u64 {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.clock.now().as_millis().saturating_add(millis)
    }

    /// What the row of this job is to hold.
    fn entry(&self, key: &Key, version: u64, job: &Job) -> Result<NewRow, StoreError> {
        let time = match job.stage {
            JobStage::Upload { .. } => self.0.kept.upload,
            _ => self.0.kept.answer,
        };
        let text = serde_json::to_vec(job).unwrap_or_default();
        let value = self.0.vault.seal_row(key, version, &text).map_err(|_| StoreError::Corrupt)?;
        Ok(NewRow { value, expires: Some(Timestamp::from_millis(self.in_millis(time))) })
    }

    async fn write(&self, id: &RequestId, expected: Precondition, job: &Job) -> Result<u64, StoreError> {
        let key = key(PENDING, id);
        let entry = self.entry(&key, expected.next(), job)?;
        self.0.records.put_if(&key, expected, entry).await
    }

    async fn end(&self, id: &RequestId, version: u64, job: &Job) -> Result<u64, StoreError> {
        let entry = self.entry(&key(ENDED, id), Precondition::Version(version).next(), job)?;
        self.0.records.move_if(&key(PENDING, id), version, ENDED, entry).await
    }

    fn leased(&self) -> JobStage {
        JobStage::Running { by: self.0.me.clone(), until: self.in_millis(LEASE) }
    }

    /// Keeps a new job. Once this returns it is not lost.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn create(&self, id: &RequestId, job: &Job) -> Result<(), ApiError> {
        self.write(id, Precondition::Absent, job).await.map(drop).map_err(stored)
    }

    /// Keeps a new job, to be worked on here and now: nobody else finds it waiting. `None` if this process takes no work
    /// any more; another will. Once this returns it is not lost.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn create_claimed(&self, id: &RequestId, job: &Job) -> Result<Option<JobClaim>, ApiError> {
        let Some(hand) = self.0.work_gate.begin() else { return self.create(id, job).await.map(|()| None) };
        let job = Job { stage: self.leased(), tries: job.tries.saturating_add(1), ..job.clone() };
        let version = self.write(id, Precondition::Absent, &job).await.map_err(stored)?;
        Ok(Some(JobClaim(ReadJob { id: id.clone(), job, version }, hand)))
    }

    /// A job, if there is one.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn get(&self, id: &RequestId) -> Result<Option<ReadJob>, ApiError> {
        let mut row = self.0.records.get(&key(PENDING, id)).await.map_err(stored)?;
        if row.is_none() {
            row = self.0.records.get(&key(ENDED, id)).await.map_err(stored)?;
        }
        let Some(row) = row else { return Ok(None) };
        let text = self.0.vault.open_row(&row).map_err(internal)?;
        let job = serde_json::from_slice(text.expose()).map_err(internal)?;
        Ok(Some(ReadJob { id: id.clone(), job, version: row.version }))
    }

    /// Takes a job to work on, if it waits for somebody. `None` if somebody else has it, or it is answered, or this
    /// process takes no work any more.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn claim(&self, read: ReadJob) -> Result<Option<JobClaim>, ApiError> {
        let ReadJob { id, mut job, version } = read;
        let free = job.stage.waits(self.0.clock.now());
        let Some(hand) = self.0.work_gate.begin().filter(|_| free) else { return Ok(None) };
        job.tries = job.tries.saturating_add(1);
        if job.tries > TRIES {
            job.stage = JobStage::Ended(ApiError::Internal("job").into());
            return match self.end(&id, version, &job).await {
                Ok(_) | Err(StoreError::Conflict) => Ok(None),
                Err(error) => Err(stored(error)),
            };
        }
        job.stage = self.leased();
        match self.write(&id, Precondition::Version(version), &job).await {
            Ok(version) => Ok(Some(JobClaim(ReadJob { id, job, version }, hand))),
            Err(StoreError::Conflict) => Ok(None),
            Err(error) => Err(stored(error)),
        }
    }

    /// Does `work` on a claimed job under a lease that is renewed meanwhile, and writes what it returns. `None`: the
    /// lease was lost to another, whose answer counts, or handed back as this process ends.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn work(
        &self,
        JobClaim(mut claim, mut hand): JobClaim,
        work: impl Future<Output = JobOutcome> + Send,
    ) -> Result<Option<JobOutcome>, ApiError> {
        tokio::pin!(work);
        let ended = loop {
            tokio::select! {
                ended = &mut work => break ended,
                () = tokio::time::sleep(LEASE / 3) => {}
                () = hand.over() => return self.hand_back(claim).await,
            }
            claim.job.stage = self.leased();
            match self.write(&claim.id, Precondition::Version(claim.version), &claim.job).await {
                Ok(version) => claim.version = version,
                Err(StoreError::Conflict) => return Ok(None),
                // The next renewal may succeed; the lease allows for two that do not.
                Err(_) => {}
            }
        };
        claim.job.stage = JobStage::Ended(ended.clone());
        // What was asked is no longer needed, and may name what is secret.
        claim.job.order = serde_json::Value::Null;
        match self.end(&claim.id, claim.version, &claim.job).await {
            Ok(_) => Ok(Some(ended)),
            Err(StoreError::Conflict) => Ok(None),
            Err(error) => Err(stored(error)),
        }
    }

    /// Leaves a job to whoever takes it next, at once; that it was begun here is no fault of its own.
    async fn hand_back(&self, mut claim: ReadJob) -> Result<Option<JobOutcome>, ApiError> {
        claim.job.stage = JobStage::Ready;
        claim.job.tries = claim.job.tries.saturating_sub(1);
        match self.write(&claim.id, Precondition::Version(claim.version), &claim.job).await {
            Ok(_) | Err(StoreError::Conflict) => Ok(None),
            Err(error) => Err(stored(error)),
        }
    }

    /// Jobs that wait: for their files, for somebody to begin, or for somebody in the place of one who died. Those among
    /// the next 200 jobs after the id `after`, and the id to go on after: empty once there are no more, as at first.
    ///
    /// # Errors
    /// A store that fails.
    pub async fn idle(&self, after: &str) -> Result<(Vec<ReadJob>, String), ApiError> {
        let rows = self.0.records.scan(PENDING, after, PAGE).await.map_err(stored)?;
        let whole = rows.len() == PAGE as usize;
        let next = rows.last().filter(|_| whole).map(|row| row.key.id().to_owned()).unwrap_or_default();
        // A row that does not open waits for its expiry; it must not keep the others from being done.
        let idle = rows.iter().filter_map(|row| self.waiting(row));
        Ok((idle.collect(), next))
    }

    fn waiting(&self, row: &Row) -> Option<ReadJob> {
        let text = self.0.vault.open_row(row).ok()?;
        let id = RequestId::parse(row.key.id())?;
        let job: Job = serde_json::from_slice(text.expose()).ok()?;
        job.stage.waits(self.0.clock.now()).then_some(ReadJob { id, job, version: row.version })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::base::clock::FixedClock;
    use crate::store::EmbeddedRecords;
    use crate::vault::MasterKey;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const KEPT: Retention = Retention { upload: Duration::from_secs(60), answer: Duration::from_secs(60) };

    pub(in crate::api::pending) struct TestJobs {
        records: Arc<dyn Records>,
        vault: Arc<Vault>,
        clock: SharedClock,
    }

    impl TestJobs {
        pub(in crate::api::pending) async fn new(folder: &std::path::Path) -> Self {
            let clock: SharedClock = Arc::new(FixedClock::at(START));
            let opened = EmbeddedRecords::open(&folder.join("a.sqlite"), Arc::clone(&clock)).await;
            let records: Arc<dyn Records> = Arc::new(opened.unwrap());
            let master = MasterKey::load_or_create(&folder.join("master.key")).unwrap();
            let vault = Vault::open(Arc::clone(&records), &master, Arc::clone(&clock)).await.unwrap();
            Self { records, vault: Arc::new(vault), clock }
        }

        pub(in crate::api::pending) fn process(&self, work_gate: &WorkGate) -> Jobs {
            let (records, vault) = (Arc::clone(&self.records), Arc::clone(&self.vault));
            Jobs::new(records, vault, Arc::clone(&self.clock), KEPT, work_gate.clone()).unwrap()
        }
    }

    pub(in crate::api::pending) fn job() -> Job {
        let (owner, tenant) = ("pti_x".to_owned(), "t".to_owned());
        let order = serde_json::Value::Null;
        Job { owner, tenant, received: START.as_millis(), order, stage: JobStage::Ready, tries: 0 }
    }

    #[tokio::test]
    async fn what_a_process_has_not_done_when_it_ends_another_does_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = TestJobs::new(folder.path()).await;
        let work_gate = WorkGate::default();
        let (ours, theirs) = (store.process(&work_gate), store.process(&WorkGate::default()));
        let id = RequestId::from_random([7; _]);
        ours.create(&id, &job()).await.unwrap();
        let claim = ours.claim(ours.get(&id).await.unwrap().unwrap()).await.unwrap().unwrap();
        let working = tokio::spawn({
            let ours = ours.clone();
            async move { ours.work(claim, std::future::pending()).await.map(|ended| ended.is_some()) }
        });
        // It is ours, and nobody else's to begin.
        assert!(theirs.claim(theirs.get(&id).await.unwrap().unwrap()).await.unwrap().is_none());
        work_gate.end().await;
        assert!(!working.await.unwrap().unwrap());
        let read = theirs.get(&id).await.unwrap().unwrap();
        assert_eq!(read.job.tries, 0, "no fault of its own");
        assert!(ours.claim(ours.get(&id).await.unwrap().unwrap()).await.unwrap().is_none(), "no more");
        let claim = theirs.claim(read).await.unwrap().unwrap();
        let done = async { JobOutcome::success("done".to_owned(), serde_json::Value::Null) };
        assert!(theirs.work(claim, done).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_is_worked_on_from_its_beginning_never_waits_and_what_is_answered_is_looked_at_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let store = TestJobs::new(folder.path()).await;
        let work_gate = WorkGate::default();
        let jobs = store.process(&work_gate);
        let ids = [1, 2].map(|byte| RequestId::from_random([byte; _]));
        let claim = jobs.create_claimed(&ids[0], &job()).await.unwrap().unwrap();
        assert!(jobs.idle("").await.unwrap().0.is_empty());
        assert!(jobs.claim(jobs.get(&ids[0]).await.unwrap().unwrap()).await.unwrap().is_none());
        let done = async { JobOutcome::success("done".to_owned(), serde_json::Value::Null) };
        assert!(jobs.work(claim, done).await.unwrap().is_some());
        assert!(store.records.scan(PENDING, "", 1).await.unwrap().is_empty());
        let read = jobs.get(&ids[0]).await.unwrap().unwrap();
        assert!(matches!(&read.job.stage, JobStage::Ended(ended) if ended.summary == "done"));
        assert!(jobs.claim(read).await.unwrap().is_none());
        // A process that ends leaves what comes to others.
        work_gate.end().await;
        assert!(jobs.create_claimed(&ids[1], &job()).await.unwrap().is_none());
        assert_eq!(jobs.idle("").await.unwrap().0.len(), 1);
    }

    #[tokio::test]
    async fn very_many_that_wait_are_looked_at_in_turns() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = TestJobs::new(folder.path()).await.process(&WorkGate::default());
        let many = PAGE as usize + 3;
        for n in 0..many {
            let mut bytes = [0; 20];
            bytes[..2].copy_from_slice(&u16::try_from(n).unwrap().to_be_bytes());
            let id = RequestId::from_random(bytes);
            jobs.create(&id, &job()).await.unwrap();
        }
        let (first, after) = jobs.idle("").await.unwrap();
        assert_eq!(first.len(), PAGE as usize);
        let (rest, end) = jobs.idle(&after).await.unwrap();
        assert_eq!((rest.len(), end.as_str()), (3, ""));
        let ids: BTreeSet<String> = first.iter().chain(&rest).map(|read| read.id.to_string()).collect();
        assert_eq!(ids.len(), many);
    }
}
