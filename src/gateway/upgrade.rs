//! A request for a WebSocket: sent as a collected one is, and carried as a session once the upstream agrees. While that
//! lasts, its route is looked up again: a configuration that takes the place of another holds for it too.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, StatusCode};
use pingora::Result;
use pingora::proxy::Session;

use crate::base::clock::Timestamp;
use crate::base::path::RequestPath;
use crate::gateway::dialer::{Dialer, PoolDialer};
use crate::gateway::error::GatewayError;
use crate::gateway::native;
use crate::gateway::proxy::Gateway;
use crate::gateway::receive::host_of;
use crate::gateway::relay::finish;
use crate::gateway::route::{RouteMatch, RouteTable};
use crate::gateway::route_info::RouteInfo;
use crate::gateway::sending::{SendPath, Upgrade, send};
use crate::gateway::session_proof::SessionProof;
use crate::gateway::state::{ActiveRequest, RequestState};
use crate::gateway::websocket::{TunnelParts, check_answer, tunnel};

impl Gateway {
    /// Asks the upstream for a WebSocket, and carries its messages to its end.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn websocket(
        &self,
        session: &mut Session,
        request: &mut ActiveRequest,
        dialer: &mut PoolDialer,
    ) -> Result<()> {
        match Box::pin(self.upgrade(session, request, dialer)).await {
            Ok(()) => Ok(()),
            Err(error) => Box::pin(native::send_error(session, request, error)).await,
        }
    }

    /// Asks for a WebSocket and carries its messages. An upstream that does not agree has its answer brought back.
    ///
    /// # Errors
    /// An error before the first byte of the answer, or a caller that left.
    async fn upgrade(
        &self,
        session: &mut Session,
        request: &mut ActiveRequest,
        dialer: &mut dyn Dialer,
    ) -> Result<(), GatewayError> {
        request.state = RequestState::Collected;
        let plan = request.chain.messages(&mut request.x).await?;
        let reads = plan.reads();
        let mut via = SendPath { dialer, connector: &self.connector, upgrade: Some(Upgrade { reads }) };
        let mut sent = Box::pin(send(session, &mut request.x, &mut via, &Bytes::new())).await?;
        if sent.head.status != StatusCode::SWITCHING_PROTOCOLS {
            return finish(session, request, sent, via).await;
        }
        let mut head = sent.head.clone();
        if let Err(error) = check_answer(&mut head, reads) {
            sent.up.shutdown().await;
            return Err(error);
        }
        via.dialer.answer_head(session, &mut head).await?;
        request.answer(&mut head).await?;
        session.write_response_header(Box::new(head), false).await.map_err(|_| GatewayError::Gone)?;
        let route = RouteProof {
            routes: Arc::clone(&self.routes),
            method: session.req_header().method.clone(),
            host: host_of(session.req_header()),
            path: request.x.path().clone(),
            taken: Arc::clone(request.x.route()),
            known: Mutex::default(),
        };
        request.x.facts.proofs.push(Box::new(route));
        let (drain, read) = (self.in_flight.drain_watch(), self.bounds.read);
        let parts = TunnelParts { session, upstream: &mut sent.up, x: &mut request.x, plan, read, drain };
        tunnel(parts).await;
        Ok(())
    }
}

/// Proves that a session's request would take the route now that it took, under the same policy.
struct RouteProof {
    routes: Arc<ArcSwap<RouteTable>>,
    method: Method,
    host: String,
    path: RequestPath,
    /// The route that it took.
    taken: Arc<RouteInfo>,
    /// The table by which that was found last: it is asked once.
    known: Mutex<Weak<RouteTable>>,
}

#[async_trait]
impl SessionProof for RouteProof {
    async fn prove(&self) -> Result<Option<Timestamp>, GatewayError> {
        let table = self.routes.load_full();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ptr() == Arc::as_ptr(&table) {
            return Ok(None);
        }
        match table.find(&self.method, &self.host, &self.path, None) {
            RouteMatch::Route(now) if now.info().is_same(&self.taken) => {
                *known = Arc::downgrade(&table);
                Ok(None)
            }
            _ => Err(GatewayError::RouteChanged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Endpoints;
    use crate::gateway::route::{Match, PathMatch, Route, RouteParts, TableParts};
    use crate::gateway::route_info::PolicyIdentity;
    use crate::gateway::testing::fixed;
    use crate::telemetry::Metrics;

    /// A route of this name below a path, under a policy.
    fn route(name: &str, path: &str, policy: u8) -> Arc<Route> {
        let metrics = Metrics::new().unwrap().route(name, &[]);
        let policy = PolicyIdentity::of(policy);
        let info = RouteInfo { policy, ..RouteInfo::generic(name, fixed(), metrics) };
        let matches = Match { path: PathMatch::Prefix(path.to_owned()), ..Match::default() };
        Arc::new(Route::new(RouteParts { matches, filters: Vec::new(), info }).unwrap())
    }

    fn table(routes: Vec<Arc<Route>>) -> Arc<RouteTable> {
        let parts = TableParts {
            endpoints: Endpoints::default(),
            native: Vec::new(),
            led: Vec::new(),
            probes: Vec::new(),
            routes,
            processed: Vec::new(),
            unmatched: route("-", "/", 0),
            shed: None,
        };
        Arc::new(parts.into())
    }

    #[tokio::test]
    async fn a_session_ends_where_its_request_would_go_another_way_and_only_there() {
        let taken = route("r", "/a", 1);
        let routes = Arc::new(ArcSwap::new(table(vec![Arc::clone(&taken)])));
        let proof = RouteProof {
            routes: Arc::clone(&routes),
            method: Method::GET,
            host: "h".to_owned(),
            path: RequestPath::parse("/a/ws").unwrap(),
            taken: Arc::clone(taken.info()),
            known: Mutex::default(),
        };
        assert!(proof.prove().await.is_ok() && proof.prove().await.is_ok());
        let rows = [
            (vec![route("r", "/a", 1)], true),
            (vec![route("other", "/b", 2), route("r", "/a", 1)], true),
            (vec![route("r", "/a", 2)], false),
            (vec![route("r", "/", 1)], true),
            (vec![route("s", "/a", 1)], false),
            (vec![route("new", "/a/ws", 1), route("r", "/a", 1)], false),
            (vec![route("r", "/b", 1)], false),
            (Vec::new(), false),
        ];
        for (n, (now, goes_on)) in rows.into_iter().enumerate() {
            routes.store(table(now));
            let code = proof.prove().await.err().map(|error| error.close_code());
            assert_eq!(code, (!goes_on).then_some(1012), "{n}");
        }
    }
}
