//! Bytes that may still be held: one [`MemoryBudget`] for the process, one under it for each request, a [`MemoryCharge`] for
//! each buffer. A buffer that would grow past either is refused, so memory is bounded by what is written here
//! and not by what a caller sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says that a buffer may not grow: some budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exhausted {
    /// This request holds as much as one request may.
    #[error("the request holds more than its limit of {limit} bytes")]
    Request {
        /// The limit in bytes.
        limit: usize,
    },
    /// All requests together hold as much as the process may.
    #[error("all requests together hold more than the limit of {limit} bytes")]
    Process {
        /// The limit in bytes.
        limit: usize,
    },
}

#[derive(Debug)]
struct Pool {
    limit: usize,
    used: AtomicUsize,
    parent: Option<Arc<Pool>>,
}

impl Pool {
    fn take(&self, bytes: usize) -> Result<(), Exhausted> {
        let fits = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            let limit = self.limit;
            return Err(match self.parent {
                Some(_) => Exhausted::Request { limit },
                None => Exhausted::Process { limit },
            });
        }
        let Some(parent) = &self.parent else { return Ok(()) };
        parent.take(bytes).inspect_err(|_| {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.give(bytes);
        }
    }
}

/// A limit on held bytes, shared by everything that holds some. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<Pool>);

impl MemoryBudget {
    /// The process's budget, in bytes.
    pub fn process(limit: usize) -> Self {
        Self(Arc::new(Pool { limit, used: AtomicUsize::new(0), parent: None }))
    }

    /// A request's budget under this one, in bytes.
    pub fn request(&self, limit: usize) -> Self {
        Self(Arc::new(Pool { limit, used: AtomicUsize::new(0), parent: Some(Arc::clone(&self.0)) }))
    }

    /// No limit: for one-shot work on text that is in memory already, and for tests.
    pub fn unlimited() -> Self {
        Self::process(usize::MAX)
    }

    /// Bytes held now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Whether all requests together hold half of what they may: time to leave out what can be done without.
    pub fn is_half_used(&self) -> bool {
        let process = self.0.parent.as_ref().unwrap_or(&self.0);
        process.used.load(Ordering::Relaxed) >= process.limit / 2
    }

    /// A charge of no bytes yet, to be kept beside a buffer.
    pub fn charge(&self) -> MemoryCharge {
        MemoryCharge { pool: Arc::clone(&self.0), bytes: 0 }
    }
}

/// What one buffer holds of a [`MemoryBudget`]; given back on drop.
#[derive(Debug)]
pub struct MemoryCharge {
    pool: Arc<Pool>,
    bytes: usize,
}

impl MemoryCharge {
    /// Sets the charge to the buffer's size. On refusal the charge stays what it was.
    pub fn set(&mut self, bytes: usize) -> Result<(), Exhausted> {
        if bytes > self.bytes {
            self.pool.take(bytes - self.bytes)?;
        } else if bytes < self.bytes {
            self.pool.give(self.bytes - bytes);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.pool.give(self.bytes);
    }
}

/// What a piece of work holds of a [`MemoryBudget`] beside its buffers, as it goes on. It grows until the last of its holders is
/// gone, and all of it is given back then. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorkCharge(Arc<WorkChargeState>);

#[derive(Debug)]
struct WorkChargeState {
    pool: Arc<Pool>,
    bytes: AtomicUsize,
}

impl MemoryBudget {
    /// A tally of no bytes yet.
    pub fn tally(&self) -> WorkCharge {
        WorkCharge(Arc::new(WorkChargeState { pool: Arc::clone(&self.0), bytes: AtomicUsize::new(0) }))
    }
}

impl WorkCharge {
    /// The work holds so much more.
    ///
    /// # Errors
    /// A budget is used up; the tally stays what it was.
    pub fn add(&self, bytes: usize) -> Result<(), Exhausted> {
        self.0.pool.take(bytes)?;
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for WorkChargeState {
    fn drop(&mut self) {
        self.pool.give(*self.bytes.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_stopped_by_its_own_limit_first() {
        let all = MemoryBudget::process(100);
        let mut charge = all.request(10).charge();
        assert_eq!(charge.set(11), Err(Exhausted::Request { limit: 10 }));
        assert_eq!(all.used(), 0);
    }

    #[test]
    fn half_of_it_is_half_of_what_all_may_hold() {
        let all = MemoryBudget::process(100);
        let (one, mut charge) = (all.request(60), all.request(60).charge());
        for (bytes, half) in [(49, false), (50, true), (10, false)] {
            charge.set(bytes).unwrap();
            assert_eq!((all.is_half_used(), one.is_half_used()), (half, half), "{bytes}");
        }
        assert!(!MemoryBudget::unlimited().is_half_used());
    }

    #[test]
    fn a_tally_grows_and_is_given_back_by_its_last_holder() {
        let all = MemoryBudget::process(15);
        let tally = all.request(10).tally();
        let other = tally.clone();
        assert_eq!((tally.add(4), other.add(4)), (Ok(()), Ok(())));
        assert_eq!(tally.add(3), Err(Exhausted::Request { limit: 10 }));
        drop(tally);
        assert_eq!(all.used(), 8);
        drop(other);
        assert_eq!(all.used(), 0);
    }

    #[test]
    fn requests_share_the_process_limit_and_give_back() {
        let all = MemoryBudget::process(15);
        let (a, b) = (all.request(10), all.request(10));
        let (mut first, mut second) = (a.charge(), b.charge());
        assert_eq!(first.set(10), Ok(()));
        assert_eq!(second.set(6), Err(Exhausted::Process { limit: 15 }));
        assert_eq!(b.used(), 0);
        drop(first);
        assert_eq!(second.set(6), Ok(()));
        assert_eq!(second.set(2), Ok(()));
        assert_eq!(all.used(), 2);
    }
}
