//! Names of models of one's own: a request that asks for one is answered by one of the models that stand for it. Keys that callers
//! send their provider stay here on such a route.

use std::sync::Arc;

use async_trait::async_trait;

use crate::api::ApiError;
use crate::crypto::random;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, RequestDocument, Stage};
use crate::gateway::filters::head_tokens::take_keys_off;
use crate::gateway::llm::model_member;
use crate::gateway::model_alias::{ModelAlias, ModelPlan};
use crate::gateway::plan::RequestPlan;

/// Chooses the models that answer.
pub struct ModelFilter {
    aliases: Vec<Arc<ModelAlias>>,
    /// The largest body that is read whole, in bytes.
    collected: usize,
}

impl ModelFilter {
    /// For these names.
    pub fn new(aliases: Vec<Arc<ModelAlias>>, collected: usize) -> Self {
        Self { aliases, collected }
    }

    /// Whether requests to this path say in a member which model they ask.
    fn applies(x: &Exchange) -> bool {
        x.sends_body() && x.protocol().is_some_and(|protocol| protocol.model.in_member)
    }
}

#[async_trait]
impl Filter for ModelFilter {
    fn name(&self) -> &'static str {
        "models"
    }

    fn stage(&self) -> Stage {
        Stage::Limit
    }

    async fn request(&self, x: &mut Exchange, plan: &mut RequestPlan) -> Result<Flow, GatewayError> {
        // A key for one provider is not for the next: each upstream has its own.
        take_keys_off(x.head_mut())?;
        if Self::applies(x) {
            plan.collect_anyway(x, self.collected);
        }
        Ok(Flow::Next)
    }

    async fn collected(
        &self,
        x: &mut Exchange,
        document: &mut RequestDocument,
    ) -> Result<Flow, GatewayError> {
        if !Self::applies(x) {
            return Ok(Flow::Next);
        }
        let asked = model_member(document.current());
        let alias = asked.and_then(|member| self.aliases.iter().find(|alias| alias.name == member.name));
        if let Some(alias) = alias {
            let chance = random::bytes().map_err(|_| ApiError::Internal("randomness"))?;
            let plan = ModelPlan::new(Arc::clone(alias), u32::from_be_bytes(chance));
            x.facts.models = Some(Box::new(plan));
        }
        Ok(Flow::Next)
    }
}
