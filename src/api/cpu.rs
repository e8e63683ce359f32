//! Long work on the CPU, off the threads that move bytes, and in turns: a second spent on one caller's body is neither a
//! second that every other connection of a thread waits, nor one that every other caller's body waits. Work runs for a
//! slice of time at its places; then the next caller's is let on. It stops when nobody waits for it any more.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use crate::base::checkpoint::{Checkpoint, GoOn, Stopped};
use crate::base::clock::SharedClock;
use crate::base::id::TokenId;

/// Work on more bytes than this leaves the thread that moves bytes: prose of this length takes a tenth of a millisecond,
/// the dearest text known a millisecond and a half.
const INLINE: usize = 4 << 10;
/// How long work runs while others wait.
const SLICE: Duration = Duration::from_millis(5);
/// How long one work may take, its waiting between slices included.
const LONGEST: Duration = Duration::from_secs(60);
/// Work of one caller that may wait to begin.
const LINE: usize = 256;
/// Work that has begun and waits for its next slice keeps a thread: of a few hundred that the runtime has.
const BEGUN: usize = 64;

/// Why there is no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The process ends, or the work panicked.
    #[error("the work was given up")]
    GivenUp,
    /// Too much of this caller's work waits already.
    #[error("too much work of one caller waits")]
    Full,
}

/// Whose work it is: callers take turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The holder of a token.
    Token(TokenId),
    /// The holder of a client certificate, by the SHA-256 of whom it names.
    Certificate([u8; 32]),
    /// Whoever calls without one from an address, of IPv6 from a /64; `None` where it is not known.
    Address(Option<IpAddr>),
    /// The gateway's own.
    Own,
}

impl Caller {
    /// The same bytes for the same caller only, on every node.
    pub fn name(&self) -> Vec<u8> {
        match self {
            Self::Token(id) => [b"token ", id.to_string().as_bytes()].concat(),
            Self::Certificate(subject) => [&b"certificate "[..], subject].concat(),
            Self::Address(Some(address)) => [b"address ", address.to_string().as_bytes()].concat(),
            Self::Address(None) => b"address".to_vec(),
            Self::Own => b"own".to_vec(),
        }
    }
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct CpuTask {
    /// For whom.
    pub caller: Caller,
    /// On how many bytes: what little work there is on a few is done at once.
    pub bytes: usize,
}

/// A bounded number of places for long work. Cheap to clone.
#[derive(Clone)]
pub struct CpuPool(Arc<Pool>);

struct Pool {
    clock: SharedClock,
    state: Mutex<PoolState>,
    /// Work in the lines, so that what runs need not take the lock to know that nobody waits.
    waiting: AtomicUsize,
    /// Whether a few bytes are much work too.
    slow: AtomicBool,
}

struct PoolState {
    free: usize,
    /// Works that have begun and have not ended, and how many may: as many as there are places at least, or places would be
    /// free while works wait.
    begun: usize,
    most: usize,
    /// The callers that have work waiting, the next one first.
    lines: VecDeque<CallerQueue>,
}

/// One caller's waiting work, what has begun before what has not.
struct CallerQueue {
    caller: Caller,
    works: VecDeque<WaitingWork>,
}

struct WaitingWork {
    begun: bool,
    grant: oneshot::Sender<CpuPermit>,
}

/// Leave to run; given back when dropped.
struct CpuPermit(Option<Arc<Pool>>);

impl Drop for CpuPermit {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            pool.pass_on();
        }
    }
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, when it is this work's turn.
    fn place(
        self: &Arc<Self>,
        caller: &Caller,
        begun: bool,
    ) -> Result<oneshot::Receiver<CpuPermit>, PoolError> {
        let (grant, granted) = oneshot::channel();
        let mut state = self.state();
        if state.free > 0 && !begun {
            state.free -= 1;
            drop(state);
            // The receiver is still here.
            drop(grant.send(CpuPermit(Some(Arc::clone(self)))));
            return Ok(granted);
        }
        let known = state.lines.iter().position(|line| line.caller == *caller);
        let waiting = WaitingWork { begun, grant };
        match known.and_then(|at| state.lines.get_mut(at)) {
            Some(line) if !begun && line.works.len() >= LINE => return Err(PoolError::Full),
            Some(line) if !begun => line.works.push_back(waiting),
            _ => {
                // Whoever has just had a slice stands behind all others.
                let line = known.and_then(|at| state.lines.remove(at));
                let mut works = line.map(|line| line.works).unwrap_or_default();
                works.push_front(waiting);
                state.lines.push_back(CallerQueue { caller: caller.clone(), works });
            }
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Ok(granted)
    }

    /// Gives a place that was given back to the next caller in turn.
    fn pass_on(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.state();
                let next = state.next();
                state.free += usize::from(next.is_none());
                next
            };
            let Some(next) = next else { return };
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match next.send(CpuPermit(Some(Arc::clone(self)))) {
                Ok(()) => return,
                // It left while it waited: the place is still to be given.
                Err(mut place) => place.0 = None,
            }
        }
    }
}

impl PoolState {
    /// The next work in turn. Its caller goes behind the others.
    fn next(&mut self) -> Option<oneshot::Sender<CpuPermit>> {
        let room = self.begun < self.most;
        let ready = |line: &CallerQueue| line.works.front().is_some_and(|first| first.begun || room);
        let at = self.lines.iter().position(ready)?;
        let mut line = self.lines.remove(at)?;
        let next = line.works.pop_front();
        if !line.works.is_empty() {
            self.lines.push_back(line);
        }
        next.map(|waiting| waiting.grant)
    }
}

/// One work that has begun.
struct RunningWork {
    pool: Arc<Pool>,
    caller: Caller,
    stopped: AtomicBool,
    deadline: Instant,
    slice: Mutex<Slice>,
}

/// The place that a work has now, and since when.
struct Slice {
    place: Option<CpuPermit>,
    began: Instant,
}

impl RunningWork {
    fn slice(&self) -> MutexGuard<'_, Slice> {
        self.slice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GoOn for RunningWork {
    fn go_on(&self) -> Result<(), Stopped> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        let now = self.pool.clock.instant();
        if now >= self.deadline {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Stopped);
        }
        if self.pool.waiting.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let mut slice = self.slice();
        if now.saturating_duration_since(slice.began) < SLICE {
            return Ok(());
        }
        let granted = self.pool.place(&self.caller, true).map_err(|_| Stopped)?;
        slice.place = None;
        slice.place = Some(granted.blocking_recv().map_err(|_| Stopped)?);
        slice.began = self.pool.clock.instant();
        if self.stopped.load(Ordering::Relaxed) { Err(Stopped) } else { Ok(()) }
    }
}

/// Whoever waits for a work: the work stops when this is dropped.
struct Waiter(Arc<RunningWork>);

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

/// A work on its thread: when it ends, however it does, its place is given back.
struct OnThread(Arc<RunningWork>);

impl Drop for OnThread {
    fn drop(&mut self) {
        self.0.pool.state().begun -= 1;
        self.0.slice().place = None;
    }
}

impl CpuPool {
    /// At most `places` long works run at once.
    pub fn new(places: usize, clock: SharedClock) -> Self {
        let free = places.max(1);
        let state = PoolState { free, begun: 0, most: BEGUN.max(free), lines: VecDeque::new() };
        let slow = AtomicBool::new(false);
        Self(Arc::new(Pool { clock, state: Mutex::new(state), waiting: AtomicUsize::new(0), slow }))
    }

    /// How many works wait for a place.
    pub fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// Whether a few bytes are much work too: then all of it is done at a place of the pool.
    pub fn set_slow(&self, slow: bool) {
        self.0.slow.store(slow, Ordering::Relaxed);
    }

    /// Does the work: here if it is on few bytes and [not slow](Self::set_slow), else at a place of the pool, when it is its caller's turn. It is
    /// stopped at its next checkpoint when the future is dropped, or after a minute.
    ///
    /// # Errors
    /// [`PoolError`].
    pub async fn run<T: Send + 'static>(
        &self,
        job: CpuTask,
        work: impl FnOnce(&Checkpoint) -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        if job.bytes <= INLINE && !self.0.slow.load(Ordering::Relaxed) {
            return Ok(work(&Checkpoint::default()));
        }
        let place = self.0.place(&job.caller, false)?.await.map_err(|_| PoolError::GivenUp)?;
        let now = self.0.clock.instant();
        let running = Arc::new(RunningWork {
            pool: Arc::clone(&self.0),
            caller: job.caller,
            stopped: AtomicBool::new(false),
            deadline: now + LONGEST,
            slice: Mutex::new(Slice { place: Some(place), began: now }),
        });
        self.0.state().begun += 1;
        let thread = OnThread(Arc::clone(&running));
        let _wanted = Waiter(Arc::clone(&running));
        let done = tokio::task::spawn_blocking(move || {
            let _thread = thread;
            work(&Checkpoint::new(running))
        });
        done.await.map_err(|_| PoolError::GivenUp)
    }
}

/// Does work that cannot move to the pool on this thread, which leaves its other tasks to another one meanwhile where
/// its runtime has several. For some milliseconds at the most.
pub fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

impl std::fmt::Debug for CpuPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CpuPool({} waiting)", self.0.waiting.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::SystemClock;

    fn pool(places: usize) -> CpuPool {
        CpuPool::new(places, Arc::new(SystemClock))
    }

    fn job(name: &str, bytes: usize) -> CpuTask {
        CpuTask { caller: Caller::Address(Some([127, 0, 0, name.as_bytes()[0]].into())), bytes }
    }

    /// Works until it is stopped, or `slices` have passed; how often it was asked.
    fn long(checkpoint: &Checkpoint, slices: u32) -> Result<u32, Stopped> {
        for _ in 0..slices {
            std::thread::sleep(SLICE);
            checkpoint.pass()?;
        }
        Ok(slices)
    }

    #[tokio::test]
    async fn long_work_runs_elsewhere_and_short_work_here() {
        let pool = pool(1);
        let here = std::thread::current().id();
        let thread = |_: &Checkpoint| std::thread::current().id();
        assert_eq!(pool.run(job("a", INLINE), thread).await, Ok(here));
        assert_ne!(pool.run(job("a", INLINE + 1), thread).await, Ok(here));
        // Few bytes may be long work.
        pool.set_slow(true);
        assert_ne!(pool.run(job("a", 1), thread).await, Ok(here));
        pool.set_slow(false);
        assert_eq!(pool.run(job("a", 1), thread).await, Ok(here));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn callers_take_turns() {
        let pool = pool(1);
        let ended = Arc::new(Mutex::new(Vec::new()));
        let run = |name: &'static str, slices| {
            let (pool, ended) = (pool.clone(), Arc::clone(&ended));
            tokio::spawn(async move {
                let done = pool.run(job(name, usize::MAX), move |checkpoint| long(checkpoint, slices)).await;
                ended.lock().unwrap().push(name);
                done
            })
        };
        let greedy: Vec<_> = (0..4).map(|_| run("greedy", 40)).collect();
        tokio::time::sleep(SLICE * 2).await;
        let modest = run("modest", 3);
        assert_eq!(modest.await.unwrap(), Ok(Ok(3)));
        assert_eq!(*ended.lock().unwrap(), ["modest"]);
        for one in greedy {
            assert_eq!(one.await.unwrap(), Ok(Ok(40)));
        }
        let state = pool.0.state();
        assert_eq!((state.free, state.begun, state.lines.len()), (1, 0, 0));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_place_is_free_while_works_wait() {
        let places = BEGUN + 8;
        let pool = pool(places);
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let run = || {
            let (pool, ended) = (pool.clone(), Arc::clone(&ended));
            tokio::spawn(async move {
                pool.run(job("a", usize::MAX), move |_| ended.lock().unwrap().recv().is_ok()).await
            })
        };
        let works: Vec<_> = (0..places + 4).map(|_| run()).collect();
        let settled = async {
            while pool.waiting() != 4 || pool.0.state().begun != places {
                tokio::task::yield_now().await;
            }
        };
        settled.await;
        for _ in 0..4 {
            end.send(()).unwrap();
        }
        while pool.waiting() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.0.state().free, 0);
        (0..places).for_each(|_| end.send(()).unwrap());
        for work in works {
            assert_eq!(work.await.unwrap(), Ok(true));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_that_nobody_waits_for_stops() {
        let pool = pool(1);
        let (tell, told) = std::sync::mpsc::channel();
        let work = {
            let pool = pool.clone();
            tokio::spawn(async move {
                pool.run(job("a", usize::MAX), move |checkpoint| tell.send(long(checkpoint, 10_000))).await
            })
        };
        tokio::time::sleep(SLICE * 3).await;
        // One that still waits to begin leaves as well.
        let waiting = {
            let pool = pool.clone();
            tokio::spawn(async move { pool.run(job("b", usize::MAX), |_| ()).await })
        };
        tokio::time::sleep(SLICE).await;
        waiting.abort();
        work.abort();
        let outcome = tokio::task::spawn_blocking(move || told.recv_timeout(Duration::from_secs(10)));
        assert_eq!(outcome.await.unwrap(), Ok(Err(Stopped)));
        assert_eq!(pool.run(job("c", usize::MAX), |_| 7).await, Ok(7));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_that_panics_gives_its_place_back() {
        let pool = pool(1);
        let failed: Result<(), PoolError> =
            pool.run(job("a", usize::MAX), |_| std::panic::resume_unwind(Box::new(()))).await;
        assert_eq!(failed, Err(PoolError::GivenUp));
        assert_eq!(pool.run(job("a", usize::MAX), |_| 7).await, Ok(7));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_callers_line_is_bounded() {
        let pool = pool(1);
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let hold = {
            let pool = pool.clone();
            tokio::spawn(async move { pool.run(job("a", usize::MAX), move |_| gate.recv().is_ok()).await })
        };
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut waiting: Vec<_> =
            (0..LINE).map(|_| Box::pin(pool.run(job("b", usize::MAX), |_| ()))).collect();
        for one in &mut waiting {
            assert!(tokio::time::timeout(Duration::ZERO, one).await.is_err());
        }
        assert_eq!(pool.run(job("b", usize::MAX), |_| ()).await, Err(PoolError::Full));
        drop(open);
        for one in waiting {
            assert_eq!(one.await, Ok(()));
        }
        assert_eq!(hold.await.unwrap(), Ok(false));
    }
}
