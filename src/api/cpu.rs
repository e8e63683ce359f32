//! Long work on the CPU, off the threads that move bytes: a second spent on one caller's body should not be a second
//! that every other connection of the thread waits.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// Work on more bytes than this leaves the thread that moves bytes.
const INLINE: usize = 64 << 10;

/// A bounded number of places for long work. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CpuPool(Arc<Semaphore>);

/// The work was given up, because the process ends or because it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was given up")]
pub struct GivenUp;

impl CpuPool {
    /// At most `places` long works at once.
    pub fn new(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places.max(1))))
    }

    /// Does `work` on `bytes` bytes: here if they are few, else in a place of the pool, when one is free.
    ///
    /// # Errors
    /// [`GivenUp`].
    pub async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, GivenUp> {
        if bytes <= INLINE {
            return Ok(work());
        }
        let place = Arc::clone(&self.0).acquire_owned().await.map_err(|_| GivenUp)?;
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(|_| GivenUp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_work_runs_elsewhere_and_short_work_here() {
        let pool = CpuPool::new(1);
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        assert_eq!(pool.run(INLINE, thread).await, Ok(here));
        assert_ne!(pool.run(INLINE + 1, thread).await, Ok(here));
    }
}
