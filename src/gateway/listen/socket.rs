//! Listening sockets. They are bound before the server starts, so that an address in use is an error with a name, and
//! they outlive it: a successor process takes them over with [`Sockets::adopt`] what [`Sockets::hand_out`] gave, and no
//! connection is refused in between, since both have the same queue.
//!
//! Sockets travel as [`OwnedFd`], each with the address as it was configured; how they get from one process to the
//! other (`SCM_RIGHTS` of unix(7)) is not this file's business.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpSocket;

use crate::gateway::listen::error::ListenError;

/// Connections that may wait to be accepted; the kernel allows no more than `net.core.somaxconn`.
const WAITING: u32 = 4096;

/// The listening sockets of this process, by configured address. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Sockets(Arc<Mutex<Vec<(SocketAddr, TcpListener)>>>, Arc<AtomicUsize>);

impl Sockets {
    /// Sockets that listen already, from a predecessor: each with the address it was configured with.
    pub fn adopt(inherited: impl IntoIterator<Item = (SocketAddr, OwnedFd)>) -> Self {
        let sockets = inherited.into_iter().map(|(address, fd)| (address, TcpListener::from(fd))).collect();
        Self(Arc::new(Mutex::new(sockets)), Arc::default())
    }

    /// Listens at `addresses`: sockets that are there are kept, the others are bound, and what was inherited for any
    /// other address is closed. To be called within a runtime.
    ///
    /// # Errors
    /// The first address that cannot be bound.
    pub fn open(&self, addresses: &[SocketAddr]) -> Result<(), ListenError> {
        let mut sockets = self.lock();
        sockets.retain(|(address, _)| addresses.contains(address));
        for &address in addresses {
            // Port 0 is another port each time; tests have several of them.
            if address.port() != 0 && sockets.iter().any(|(there, _)| *there == address) {
                continue;
            }
            let bound = bind(address).map_err(|why| ListenError::Bind { address, why })?;
            sockets.push((address, bound));
        }
        Ok(())
    }

    /// Another handle to each socket, for a successor. This process keeps its own until it has drained.
    ///
    /// # Errors
    /// The system's, when there are no file descriptors left.
    pub fn hand_out(&self) -> io::Result<Vec<(SocketAddr, OwnedFd)>> {
        let each = |(address, socket): &(SocketAddr, TcpListener)| Ok((*address, socket.try_clone()?.into()));
        self.lock().iter().map(each).collect()
    }

    /// Where a socket listens really: the same as `address` but for port 0. `None` without such a socket.
    pub fn local(&self, address: SocketAddr) -> Option<SocketAddr> {
        self.lock().iter().find(|(there, _)| *there == address)?.1.local_addr().ok()
    }

    /// Whether every socket has an accept loop: what connects is answered, not only queued.
    pub fn are_served(&self) -> bool {
        self.1.load(Ordering::Acquire) >= self.lock().len()
    }

    /// Whether all are closed, and what had waited in their queues is accepted.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// A handle for the accept loop. To be called within a runtime.
    pub(super) fn listener(&self, address: SocketAddr) -> io::Result<tokio::net::TcpListener> {
        let sockets = self.lock();
        let found = sockets.iter().find(|(there, _)| *there == address);
        let (_, socket) = found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let own = socket.try_clone()?;
        own.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(own)?;
        self.1.fetch_add(1, Ordering::AcqRel);
        Ok(listener)
    }

    /// Closes our handle to a socket: without a successor its port refuses connections from now on.
    pub(super) fn close(&self, address: SocketAddr) {
        self.lock().retain(|(there, _)| *there != address);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(SocketAddr, TcpListener)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of a predecessor that linger in TIME_WAIT do not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)?.into_std()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    #[tokio::test]
    async fn a_successor_accepts_what_was_queued_before_it_was_there() {
        let ours = Sockets::default();
        ours.open(&[ANY]).unwrap();
        let place = ours.local(ANY).unwrap();
        let waiting = TcpStream::connect(place).await.unwrap();
        let theirs = Sockets::adopt(ours.hand_out().unwrap());
        theirs.open(&[ANY]).unwrap();
        ours.close(ANY);
        drop(ours);
        let (_, peer) = theirs.listener(ANY).unwrap().accept().await.unwrap();
        assert_eq!(peer, waiting.local_addr().unwrap());
    }

    #[tokio::test]
    async fn an_address_in_use_is_named() {
        let ours = Sockets::default();
        ours.open(&[ANY]).unwrap();
        let taken = ours.local(ANY).unwrap();
        let error = Sockets::default().open(&[taken]).unwrap_err();
        assert!(error.to_string().starts_with(&taken.to_string()), "{error}");
    }

    #[tokio::test]
    async fn inherited_sockets_that_nobody_listens_at_are_closed() {
        let ours = Sockets::default();
        ours.open(&[ANY]).unwrap();
        let place = ours.local(ANY).unwrap();
        let other = SocketAddr::from(([127, 0, 0, 2], 0));
        ours.open(&[other]).unwrap();
        assert!(TcpStream::connect(place).await.is_err());
        assert!(ours.local(other).is_some());
    }
}
