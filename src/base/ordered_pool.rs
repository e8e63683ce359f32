//! [`OrderedPool`]: jobs that threads do side by side, and whose results come in the order of the jobs.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// A job came to no result: it has panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a thread has failed: this is a fault of the program")]
pub struct JobPanic;

/// A job, and who waits for its result.
struct Task<J, R> {
    job: J,
    done: SyncSender<R>,
}

/// What is done with each job.
type Work<J, R> = Arc<dyn Fn(J) -> R + Send + Sync>;

/// Jobs at work and their results. Threads are started as they are needed, and end with it.
pub struct OrderedPool<J, R> {
    work: Work<J, R>,
    tasks: Sender<Task<J, R>>,
    queue: Arc<Mutex<Receiver<Task<J, R>>>>,
    /// Results that nobody has taken, in the order of the jobs.
    results: VecDeque<Receiver<R>>,
    threads: usize,
    started: usize,
    most: usize,
}

impl<J: Send + 'static, R: Send + 'static> OrderedPool<J, R> {
    /// So many threads at most do `work`, with no more than `most` jobs whose results are not taken.
    pub fn new(threads: usize, most: usize, work: impl Fn(J) -> R + Send + Sync + 'static) -> Self {
        let (tasks, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        Self { work: Arc::new(work), tasks, queue, results: VecDeque::new(), threads, started: 0, most }
    }

    /// Gives it the next job.
    ///
    /// # Errors
    /// The job comes back: there are as many as there may be, or no thread can be started.
    pub fn submit(&mut self, job: J) -> Result<(), J> {
        if self.results.len() >= self.most {
            return Err(job);
        }
        if self.started < self.threads && self.started <= self.results.len() {
            self.start();
        }
        if self.started == 0 {
            return Err(job);
        }
        let (done, result) = sync_channel(1);
        self.tasks.send(Task { job, done }).map_err(|refused| refused.0.job)?;
        self.results.push_back(result);
        Ok(())
    }

    /// Waits for the result of the first job whose result is not taken; `None` if there is no such job.
    pub fn take(&mut self) -> Option<Result<R, JobPanic>> {
        let result = self.results.pop_front()?;
        Some(result.recv().map_err(|_| JobPanic))
    }

    /// Starts one more thread. It ends with the pool, and is not waited for.
    fn start(&mut self) {
        let (work, queue) = (Arc::clone(&self.work), Arc::clone(&self.queue));
        let run = move || {
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(Task { job, done }) = next else { return };
                // Who waits learns of a panic by `done`, which is dropped; the thread does the next job.
                if let Ok(result) = catch_unwind(AssertUnwindSafe(|| work(job))) {
                    // Nobody waits for it any more.
                    let _ = done.send(result);
                }
            }
        };
        match std::thread::Builder::new().name("pool".to_owned()).spawn(run) {
            Ok(_) => self.started += 1,
            // Those that there are have to do.
            Err(_) => self.threads = self.started,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 7] {
            let slow_first = |n: u64| {
                std::thread::sleep(Duration::from_millis(if n.is_multiple_of(5) { 12 } else { 1 }));
                n * n
            };
            let mut pool = OrderedPool::new(threads, 6, slow_first);
            let (mut next, mut results) = (0, Vec::new());
            while results.len() < 30 {
                while next < 30 && pool.submit(next).is_ok() {
                    next += 1;
                }
                results.push(pool.take().unwrap().unwrap());
            }
            assert_eq!(results, (0..30).map(|n| n * n).collect::<Vec<u64>>(), "{threads} threads");
            assert!(pool.take().is_none());
        }
    }

    #[test]
    fn no_more_jobs_are_taken_than_there_may_be() {
        static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let work = |n: usize| {
            MOST.fetch_max(AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            AT_ONCE.fetch_sub(1, Ordering::SeqCst);
            n
        };
        let mut pool = OrderedPool::new(2, 3, work);
        assert_eq!(
            (0..5).map(|n| pool.submit(n)).collect::<Vec<_>>(),
            [Ok(()), Ok(()), Ok(()), Err(3), Err(4)]
        );
        assert_eq!(pool.take(), Some(Ok(0)));
        assert_eq!((pool.submit(3), pool.submit(4)), (Ok(()), Err(4)));
        assert_eq!(std::iter::from_fn(|| pool.take()).collect::<Vec<_>>(), [Ok(1), Ok(2), Ok(3)]);
        assert!(MOST.load(Ordering::SeqCst) <= 2);
        // Without a thread a job comes back as well.
        assert_eq!(OrderedPool::new(0, 3, |n: usize| n).submit(7), Err(7));
    }

    #[test]
    fn an_error_comes_behind_the_results_before_it() {
        let mut pool = OrderedPool::new(3, 9, |n: usize| {
            std::thread::sleep(Duration::from_millis(9 - n as u64));
            if n == 4 { Err("four") } else { Ok(n) }
        });
        (0..9).for_each(|n| pool.submit(n).unwrap());
        let results = std::iter::from_fn(|| pool.take().map(Result::unwrap));
        assert_eq!(results.collect::<Result<Vec<usize>, _>>(), Err("four"));
    }

    #[test]
    fn a_panic_is_an_error_of_its_job_and_nothing_hangs() {
        let mut pool = OrderedPool::new(1, 9, |n: usize| {
            assert!(n != 1, "told to");
            n
        });
        (0..4).for_each(|n| pool.submit(n).unwrap());
        let results: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(results, [Ok(0), Err(JobPanic), Ok(2), Ok(3)]);
    }
}
