//! [`FilterChain`]: the filters of one request's route, and how many of them it has entered.

use std::sync::Arc;

use http::HeaderMap;
use pingora::http::ResponseHeader;

use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, RequestOutcome};
use crate::gateway::filter::{Filter, Flow, RequestDocument};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::request_trace::TraceEnd;
use crate::gateway::route::Route;
use crate::gateway::websocket::MessagePlan;
use crate::telemetry::Filtered;
use crate::telemetry::trace::{SpanKind, SpanWord};

/// Runs the filters of one request.
pub struct FilterChain {
    route: Arc<Route>,
    entered: usize,
}

impl FilterChain {
    /// Of a request that has entered none yet.
    pub fn new(route: Arc<Route>) -> Self {
        Self { route, entered: 0 }
    }

    fn filters(&self) -> &[Arc<dyn Filter>] {
        self.route.filters()
    }

    /// Whether a filter looks through the bodies of answers.
    pub fn edits_answers(&self) -> bool {
        self.filters().iter().any(|filter| filter.edits_answers())
    }

    /// Shows the request's head to every filter, in the order of their stages, until one answers, refuses or wants to see
    /// the body, from which on it is shown when this is called again.
    ///
    /// # Errors
    /// A filter's.
    pub async fn request(&mut self, x: &mut Exchange, plan: &mut RequestPlan) -> Result<Flow, GatewayError> {
        for filter in self.route.filters().iter().skip(self.entered) {
            self.entered += 1;
            let mut span = x.trace.place().begin("filter", SpanKind::Internal);
            span.say("portcullis.filter", SpanWord::Known(filter.name()));
            let flow = filter.request(x, plan).await;
            let outcome = match &flow {
                Ok(Flow::Next) => Filtered::Passed,
                Ok(Flow::Answer(_)) => Filtered::Answered,
                Ok(Flow::Read(limit)) => {
                    self.entered -= 1;
                    return Ok(Flow::Read(*limit));
                }
                Err(_) => Filtered::Refused,
            };
            x.route().metrics.filtered(filter.name(), outcome);
            if let Flow::Answer(answer) = flow? {
                return Ok(Flow::Answer(answer));
            }
        }
        Ok(Flow::Next)
    }

    /// Has every filter plan what is done with the messages of a WebSocket.
    ///
    /// # Errors
    /// A filter's.
    pub async fn messages(&self, x: &mut Exchange) -> Result<MessagePlan, GatewayError> {
        let mut plan = MessagePlan::default();
        for filter in self.filters() {
            filter.messages(x, &mut plan).await?;
        }
        Ok(plan)
    }

    /// Counts the request as refused by the filter at `index`, which was not run.
    pub fn refused_at(&mut self, x: &Exchange, index: usize) {
        for (at, filter) in self.route.filters().iter().enumerate().take(index + 1) {
            let outcome = if at == index { Filtered::Refused } else { Filtered::Passed };
            x.route().metrics.filtered(filter.name(), outcome);
            self.entered = at + 1;
        }
    }

    /// Shows the collected body to every filter, in order.
    ///
    /// # Errors
    /// A filter's.
    pub async fn collected(
        &self,
        x: &mut Exchange,
        document: &mut RequestDocument,
    ) -> Result<Flow, GatewayError> {
        for filter in self.filters() {
            if let Flow::Answer(answer) = filter.collected(x, document).await? {
                return Ok(Flow::Answer(answer));
            }
        }
        Ok(Flow::Next)
    }

    /// Shows the answer's head (never a 1xx) to every filter that was entered, innermost first.
    ///
    /// # Errors
    /// A filter's.
    pub async fn response(
        &self,
        x: &mut Exchange,
        head: &mut ResponseHeader,
    ) -> Result<AnswerPlan, GatewayError> {
        let mut plan = AnswerPlan::default();
        for filter in self.filters().iter().take(self.entered).rev() {
            filter.response(x, head, &mut plan).await?;
        }
        Ok(plan)
    }

    /// Shows the head of an error's answer to every filter, innermost first.
    pub fn error(&self, x: &Exchange, headers: &mut HeaderMap) {
        for filter in self.filters().iter().rev() {
            filter.error(x, headers);
        }
    }

    /// Ends the request, whatever came of it; the first filter, which logs, sees it even if none was entered.
    pub async fn done(&self, x: &mut Exchange, mut outcome: RequestOutcome) {
        outcome.took = x.elapsed();
        for filter in self.filters().iter().take(self.entered.max(1)).rev() {
            filter.done(x, &outcome).await;
        }
        let trace = std::mem::take(&mut x.trace);
        let end = TraceEnd { method: &x.head().method, status: outcome.status, error: x.error_word };
        trace.end(&x.route().name, end);
    }
}
