//! Asks every peer of a pool how it is, again and again, as long as there is the pool.

use std::num::NonZeroU32;
use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use http::header::{HeaderValue, USER_AGENT};
use pingora::Error;
use pingora::connectors::http::Connector;
use pingora::http::RequestHeader;
use serde::Deserialize;

use crate::base::units::Period;
use crate::gateway::upstream::connecting::ConnectFailure;
use crate::gateway::upstream::credentials::Credentials;
use crate::gateway::upstream::failure_times::reason;
use crate::gateway::upstream::pool::Upstream;

/// `[upstreams.NAME.health]`: what every peer is asked, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// `GET` this path, under the pool's base.
    pub path: String,
    /// How often. Default 10 s.
    #[serde(default = "Probe::interval")]
    pub interval: Period,
    /// How long an answer may take, connecting included. Default 2 s.
    #[serde(default = "Probe::timeout")]
    pub timeout: Period,
    /// Good answers in a row that bring a peer back. Default 2.
    #[serde(default = "Probe::healthy")]
    pub healthy: NonZeroU32,
    /// Bad ones in a row that take it out. Default 3.
    #[serde(default = "Probe::unhealthy")]
    pub unhealthy: NonZeroU32,
    /// Statuses that are good. Default none, which is every 2xx.
    #[serde(default)]
    pub status: Vec<u16>,
}

impl Probe {
    fn interval() -> Period {
        Period::secs(10)
    }

    fn timeout() -> Period {
        Period::secs(2)
    }

    fn healthy() -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(1)
    }

    fn unhealthy() -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(2)
    }
}

/// Asks until the pool is gone.
pub async fn watch(upstream: Weak<Upstream>, probe: Probe) {
    // Connections of its own, and new ones: whether one can be made is part of the question.
    let connector = Connector::new(None);
    let mut ticks = tokio::time::interval(probe.interval.get());
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(upstream) = upstream.upgrade() else { return };
        // Without what proves who asks, an answer says nothing of a peer.
        let Ok(credentials) = upstream.credentials().await else { continue };
        let rounds = (0..upstream.size()).map(|place| {
            let (upstream, probe, connector) = (&upstream, &probe, &connector);
            let credentials = &credentials;
            async move {
                let asked = tokio::time::timeout(
                    probe.timeout.get(),
                    ask(upstream, place, probe, connector, credentials),
                )
                .await;
                let (well, why) = match asked {
                    Ok(Ok(())) => (true, String::new()),
                    Ok(Err(why)) => (false, why),
                    Err(_) => (false, "no answer in time".to_owned()),
                };
                let needed = if well { probe.healthy } else { probe.unhealthy }.get();
                upstream.checked(place, well, needed, &why);
            }
        });
        join_all(rounds).await;
    }
}

fn unconnected(failure: ConnectFailure) -> String {
    match failure {
        ConnectFailure::NoAddress => "no address for its name".to_owned(),
        ConnectFailure::Failed(_, error) => reason(&error),
    }
}

/// Asks one peer.
///
/// # Errors
/// Why it is not well, in words for the log.
async fn ask(
    upstream: &Arc<Upstream>,
    place: usize,
    probe: &Probe,
    connector: &Connector,
    credentials: &Credentials,
) -> Result<(), String> {
    let failed = |error: Box<Error>| reason(&error);
    let (mut session, chosen) = upstream.connect(connector, Some(place)).await.map_err(unconnected)?;
    let mut head = RequestHeader::build("GET", probe.path.as_bytes(), None).map_err(failed)?;
    upstream.apply_headers(&mut head, &chosen.authority, credentials).map_err(failed)?;
    head.insert_header(USER_AGENT, HeaderValue::from_static("portcullis-health")).map_err(failed)?;
    session.write_request_header(Box::new(head)).await.map_err(failed)?;
    session.finish_request_body().await.map_err(failed)?;
    let status = loop {
        session.read_response_header().await.map_err(failed)?;
        let status = session.response_header().ok_or("no answer")?.status;
        if !status.is_informational() || status == 101 {
            break status;
        }
    };
    session.shutdown().await;
    let good = match probe.status.as_slice() {
        [] => status.is_success(),
        statuses => statuses.contains(&status.as_u16()),
    };
    if good { Ok(()) } else { Err(format!("status {}", status.as_u16())) }
}
