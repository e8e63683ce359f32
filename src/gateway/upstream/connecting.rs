//! A connection to a peer that is not kept: whoever asks for it goes to another address where one cannot be reached.

use pingora::Error;
use pingora::connectors::http::Connector;
use pingora::protocols::http::client::HttpSession;

use crate::gateway::upstream::failure_times::is_ours;
use crate::gateway::upstream::pool::Upstream;
use crate::gateway::upstream::selected::{DialedAddress, SelectedPeer};
use crate::gateway::upstream::tried::TriedPeers;

/// Why there is no connection.
pub enum ConnectFailure {
    /// No address is known.
    NoAddress,
    /// The last of the addresses that were tried, and why it could not be connected to.
    Failed(Box<SelectedPeer>, Box<Error>),
}

impl Upstream {
    /// Connects to the peer at `place`, or to any that takes requests; to one of its addresses after another.
    ///
    /// # Errors
    /// [`ConnectFailure`].
    pub async fn connect(
        &self,
        connector: &Connector,
        place: Option<usize>,
    ) -> Result<(HttpSession, SelectedPeer), ConnectFailure> {
        let (mut tried, mut attempts) = (TriedPeers::default(), 0);
        loop {
            attempts += 1;
            let chosen = match place {
                Some(place) => self.reach(place, 0, &mut tried).await,
                None => self.choose(&mut tried).await,
            };
            let chosen = chosen.map_err(|_| ConnectFailure::NoAddress)?;
            let peer = chosen.dial().ok_or(ConnectFailure::NoAddress)?;
            let mut dialing = UnconnectedDial { upstream: self, dialed: chosen.dialed(), rests: true };
            let got = Box::pin(connector.get_http_session(peer)).await;
            dialing.rests = got.as_ref().is_err_and(|error| !is_ours(error));
            drop(dialing);
            let most = place.map_or_else(|| self.attempts(false), |place| self.addresses_of(place));
            match got {
                Ok((session, _)) => {
                    self.reached(&chosen.dialed());
                    return Ok((session, chosen));
                }
                Err(error) if attempts >= most || is_ours(&error) => {
                    return Err(ConnectFailure::Failed(Box::new(chosen), error));
                }
                Err(_) => {}
            }
        }
    }
}

/// An address that is being connected to. It rests if that fails, or is given up because it takes too long.
struct UnconnectedDial<'a> {
    upstream: &'a Upstream,
    dialed: DialedAddress,
    rests: bool,
}

impl Drop for UnconnectedDial<'_> {
    fn drop(&mut self) {
        if self.rests {
            self.upstream.unreachable(&self.dialed);
        }
    }
}
