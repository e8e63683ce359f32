//! [`Received`] and [`Routed`]: a request before and after its filters have seen its head.

use pingora::proxy::Session;

use crate::api::{ApiAnswer, ApiError, BufferedBody};
use crate::gateway::bounds::RequestBounds;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::Flow;
use crate::gateway::filter_chain::FilterChain;
use crate::gateway::head_check::check_head;
use crate::gateway::plan::RequestPlan;
use crate::gateway::route::RouteMatch;
use crate::gateway::session_body::{SessionBody, peek};
use crate::gateway::websocket::check_request;

/// Why a request that a proxy shows piece by piece is refused where a filter has to see its body first.
const SIGNED: &str = "a request whose body is signed has to come to the gateway itself";

/// The head was read, and its route looked up.
pub(in crate::gateway) struct Received {
    found: RouteMatch,
}

/// The filters have seen the head and passed it: it may go where its route ends.
pub(in crate::gateway) struct Routed {
    /// What they want done with the body.
    pub(in crate::gateway) plan: RequestPlan,
    /// The body, where one of them had to see it.
    pub(in crate::gateway) read: Option<BufferedBody>,
}

impl Routed {
    /// Reads how a request's body begins, if its head does not say what it is.
    ///
    /// # Errors
    /// A body that cannot be read, or that the route does not pass.
    pub(in crate::gateway) async fn peek(
        &mut self,
        session: &mut Session,
        x: &mut Exchange,
    ) -> Result<(), GatewayError> {
        match &self.read {
            None => peek(session, x, &mut self.plan).await,
            Some(read) => self.plan.has_begun(x, read.bytes.clone()),
        }
    }
}

/// What comes of a request once the filters have seen its head.
#[must_use]
pub(in crate::gateway) enum Routing {
    /// It goes to the end of its route.
    Forward(Routed),
    /// A filter has answered.
    Answer(ApiAnswer),
}

impl Received {
    /// With what the table of routes has for it.
    pub(in crate::gateway) fn new(found: RouteMatch) -> Self {
        Self { found }
    }

    /// Checks the head and shows it to the filters; from `session` a body is read that one of them has to see. A request that no route takes is refused after they have seen it.
    ///
    /// # Errors
    /// Why it is refused.
    pub(in crate::gateway) async fn filter(
        self,
        x: &mut Exchange,
        chain: &mut FilterChain,
        bounds: &RequestBounds,
        session: Option<&mut Session>,
    ) -> Result<Routing, GatewayError> {
        check_head(x.head(), bounds)?;
        x.websocket = check_request(x.head())?;
        let (mut plan, mut read) = (RequestPlan::default(), None);
        let mut flow = chain.request(x, &mut plan).await?;
        if let Flow::Read(limit) = flow {
            let Some(session) = session else { return Err(GatewayError::Api(ApiError::BadRequest(SIGNED))) };
            let limit = x.route().max_body.map_or(limit, |most| most.min(limit));
            let mut body = SessionBody::new(session, limit, x.body_rate());
            let body = BufferedBody::read(&mut body, limit, &x.budget).await?;
            x.facts.read = Some(body.bytes.clone());
            flow = chain.request(x, &mut plan).await?;
            x.facts.read = None;
            // Pingora has no body any more that it could send on.
            plan.collect_anyway(x, limit);
            read = Some(body);
        }
        let bad = |why| Err(GatewayError::Api(ApiError::BadRequest(why)));
        match self.found {
            RouteMatch::Route(_) => {}
            RouteMatch::OtherMethod(allow, _) => {
                return Err(GatewayError::Api(ApiError::MethodNotAllowed(allow)));
            }
            RouteMatch::Nothing => return Err(GatewayError::Api(ApiError::NotFound)),
            RouteMatch::BadPath(error) => return bad(error.why()),
            RouteMatch::TwoPaths => {
                return bad(
                    "the path has an encoded separator or a parameter by which it could be another route's",
                );
            }
        }
        Ok(match flow {
            Flow::Answer(answer) => Routing::Answer(answer),
            Flow::Next => Routing::Forward(Routed { plan, read }),
            Flow::Read(_) => return Err(GatewayError::Api(ApiError::Internal("a body was read twice"))),
        })
    }
}
