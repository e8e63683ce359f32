//! [`UpstreamSockets`]: how many connections to upstreams there may be at once: each takes a file descriptor, and an HTTP/2
//! connection of a caller may ask for a hundred.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counts requests that have a connection to an upstream, or are about to, all upstreams' together. Clones share the count.
#[derive(Clone, Default)]
pub struct UpstreamSockets(Option<Arc<Semaphore>>);

/// One of them, until it is dropped.
pub(super) struct SocketPermit {
    _place: Option<OwnedSemaphorePermit>,
}

impl UpstreamSockets {
    /// At most so many. By default there may be any number.
    pub fn at_most(most: usize) -> Self {
        Self(Some(Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)))))
    }

    /// One more; `None`: there are as many as there may be.
    pub(super) fn take(&self) -> Option<SocketPermit> {
        let Some(places) = &self.0 else { return Some(SocketPermit { _place: None }) };
        Arc::clone(places).try_acquire_owned().ok().map(|place| SocketPermit { _place: Some(place) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_than_there_may_be_until_one_is_over() {
        let sockets = UpstreamSockets::at_most(2);
        let other = sockets.clone();
        let (first, second) = (sockets.take(), other.take());
        assert!(first.is_some() && second.is_some() && sockets.take().is_none());
        drop(first);
        assert!(sockets.take().is_some());
        assert!((0..1000).map(|_| UpstreamSockets::default().take()).all(|one| one.is_some()));
    }
}
