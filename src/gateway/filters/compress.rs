//! Answers are compressed for callers that accept it, after everything else was done to them. It happens where their bodies
//! pass ([`compression`](crate::gateway::compression)); here is who may have it.

use async_trait::async_trait;
use pingora::http::ResponseHeader;

use crate::api::accept_encoding::preferred;
use crate::gateway::compression::Compression;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::stream::codec::Coding;

/// Has answers compressed.
pub struct CompressFilter {
    offered: Vec<Coding>,
    min: usize,
}

impl CompressFilter {
    /// Puts bodies of at least `min` bytes into one of these codings, of which the first are preferred.
    pub fn new(offered: Vec<Coding>, min: usize) -> Self {
        Self { offered, min }
    }
}

#[async_trait]
impl Filter for CompressFilter {
    fn name(&self) -> &'static str {
        "compression"
    }

    // Before others ask the upstream for codings that they can take off.
    fn stage(&self) -> Stage {
        Stage::Preflight
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        x.facts.coding = preferred(&x.head().headers, &self.offered);
        Ok(Flow::Next)
    }

    async fn response(
        &self,
        x: &mut Exchange,
        _: &mut ResponseHeader,
        plan: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        plan.compress(Compression { coding: x.facts.coding, min: self.min });
        Ok(())
    }
}
