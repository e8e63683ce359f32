//! [`KeySource`]: where public keys are fetched from: a path of an upstream, or wherever an issuer says that its keys are.

use std::sync::Arc;

use http::header::{ACCEPT, HeaderValue};
use pingora::Error;
use pingora::connectors::http::Connector;
use pingora::http::RequestHeader;
use pingora::upstreams::peer::Peer;

use crate::gateway::discovery::Discovery;
use crate::gateway::key_set::{MAX_SET, TOO_LARGE};
use crate::gateway::upstream::{ConnectFailure, SelectedPeer, Upstream};
use crate::telemetry::UpstreamFailure;

/// Where keys are fetched from.
pub enum KeySource {
    /// An upstream of the configuration.
    Upstream(Box<UpstreamKeys>),
    /// An issuer, which says where its keys are.
    Issuer(Discovery),
}

/// A path of an upstream.
pub struct UpstreamKeys {
    upstream: Arc<Upstream>,
    path: String,
    connector: Connector,
}

impl KeySource {
    /// What the log calls it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Upstream(keys) => keys.upstream.name(),
            Self::Issuer(discovery) => discovery.issuer(),
        }
    }

    /// Fetches a set.
    ///
    /// # Errors
    /// Why none came, in words for the operator.
    pub(super) async fn fetch(&self) -> Result<Vec<u8>, &'static str> {
        match self {
            Self::Upstream(keys) => keys.fetch().await,
            Self::Issuer(discovery) => discovery.fetch().await,
        }
    }
}

impl UpstreamKeys {
    /// Those that `upstream` serves at `path`.
    pub fn new(upstream: Arc<Upstream>, path: String) -> Self {
        Self { upstream, path, connector: Connector::new(None) }
    }

    async fn fetch(&self) -> Result<Vec<u8>, &'static str> {
        let failed = |chosen: &SelectedPeer, kind, error: &Error| {
            let address = chosen.dial().map(|peer| peer.address().to_string());
            self.upstream.tell(&address.unwrap_or_default(), error);
            self.upstream.failed(kind);
            "the upstream of keys does not answer"
        };
        let got = self.upstream.connect(&self.connector, None).await;
        let (mut session, chosen) = got.map_err(|failure| match failure {
            ConnectFailure::NoAddress => "the upstream of keys has no address",
            ConnectFailure::Failed(chosen, error) => failed(&chosen, UpstreamFailure::Connect, &error),
        })?;
        let head = RequestHeader::build("GET", self.path.as_bytes(), None);
        let mut head = head.map_err(|_| "the path of keys cannot be asked for")?;
        let credentials = self.upstream.credentials().await;
        let credentials = credentials.map_err(|_| "the vault has no credential for the upstream of keys")?;
        let applied = self.upstream.apply_headers(&mut head, &chosen.authority, &credentials);
        applied.map_err(|_| "the path of keys cannot be asked for")?;
        let asked = head.insert_header(ACCEPT, HeaderValue::from_static("application/json"));
        asked.map_err(|_| "the path of keys cannot be asked for")?;
        let gone = |error: Box<Error>| failed(&chosen, UpstreamFailure::Broken, &error);
        session.write_request_header(Box::new(head)).await.map_err(gone)?;
        session.finish_request_body().await.map_err(gone)?;
        session.read_response_header().await.map_err(gone)?;
        if session.response_header().is_none_or(|head| head.status != 200) {
            return Err("the upstream of keys does not answer 200");
        }
        let mut body = Vec::new();
        while let Some(piece) = session.read_response_body().await.map_err(gone)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_SET {
                return Err(TOO_LARGE);
            }
        }
        Ok(body)
    }
}
