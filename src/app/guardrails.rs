//! Guardrails: routes that look through texts for whoever asks, by what their `redact` says.

use std::sync::Arc;

use crate::api::Handler;
use crate::api::guardrail::agentgateway::AgentGateway;
use crate::api::guardrail::litellm::LiteLlm;
use crate::api::guardrail::moderations::Moderations;
use crate::api::guardrail::presidio::Presidio;
use crate::api::guardrail::{AnswerMode, Guardrail, GuardrailParts, IssuedMemory, Traffic, TrafficParts};
use crate::app::policy::{self, RoutePolicy, actions};
use crate::app::services::Services;
use crate::config::settings::{Answers, Endpoint, Media, Redact, Requests, Route, TweakScopeSetting};
use crate::config::{Config, Spanned};
use crate::gateway::filters::FileTreatment;
use crate::gateway::memory::CallMemory;
use crate::redact::{FileClass, RestoreInUrls, UrlPolicy};
use crate::telemetry::Direction;

/// What a route of this endpoint ends at.
///
/// # Errors
/// A rule that is not there, which checking has made sure of; rules that are too large together.
pub(super) fn handler(
    endpoint: Endpoint,
    route: &Route,
    config: &Config,
    parts: &Services,
) -> Result<Arc<dyn Handler>, String> {
    // What programs that keep what stands for what expect of values of which nobody says more.
    let requests = if endpoint.sees_answers() { Requests::Encrypt } else { Requests::Replace };
    let plain = Redact { requests: Spanned::new(requests), ..Redact::default() };
    let from = Inputs { setting: route.redact.as_deref().unwrap_or(&plain), route, config, parts };
    Ok(match endpoint {
        Endpoint::LiteLlm => Arc::new(LiteLlm(from.traffic()?)),
        Endpoint::AgentGateway => Arc::new(AgentGateway(from.traffic()?)),
        Endpoint::Moderations => Arc::new(Moderations(from.guardrail()?)),
        _ => Arc::new(Presidio(from.guardrail()?)),
    })
}

/// What guardrails are made from.
struct Inputs<'i> {
    setting: &'i Redact,
    route: &'i Route,
    config: &'i Config,
    parts: &'i Services,
}

impl Inputs<'_> {
    fn guardrail(&self) -> Result<Guardrail, String> {
        let Self { setting, route, config, parts } = *self;
        let rules = &config.catalogue;
        let redactor = RoutePolicy::new(setting, rules, &config.allow)?.requests()?;
        let redactor = redactor.ok_or("its `redact` looks for nothing")?;
        let words = actions(Some(&redactor), rules);
        Ok(Guardrail::new(GuardrailParts {
            route: route.name.to_string(),
            by_caller: *setting.tweak == TweakScopeSetting::Caller,
            catalogue: rules.clone(),
            redactor,
            counts: parts.policy_counts(&route.name, Direction::Request, rules, words),
            vault: Arc::clone(&parts.vault),
            cpu: parts.cpu.clone(),
            distinct: parts.distinct(&config.limits),
            prefix: route.prefix(),
            limit: config.limits.body.bytes(),
        }))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        let Self { setting, route, config, parts } = *self;
        let rules = &config.catalogue;
        let policy = RoutePolicy::new(setting, rules, &config.allow)?;
        let (answers, looks) = match (setting.answers(), policy.answers()?) {
            (Answers::Restore, _) => {
                let invented = policy.invented()?;
                (AnswerMode::Restore(invented.clone()), invented)
            }
            (_, Some(redactor)) => (AnswerMode::Redact(redactor.clone()), Some(redactor)),
            (_, None) => (AnswerMode::Off, None),
        };
        let words = actions(looks.as_ref(), rules);
        let memory = |remember| -> Arc<dyn IssuedMemory> {
            let (memory, route) = (Arc::clone(&parts.memory), route.name.to_string());
            Arc::new(CallMemory { memory, route, remember })
        };
        Ok(Traffic::new(TrafficParts {
            guardrail: self.guardrail()?,
            answers,
            urls: urls(setting),
            answer_counts: parts.policy_counts(&route.name, Direction::Answer, rules, words),
            refused: refused(setting),
            memory: setting.remember().map(memory),
        }))
    }
}

/// In which URLs of what a model wrote values are restored.
fn urls(setting: &Redact) -> UrlPolicy {
    let rules = policy::urls(setting);
    UrlPolicy {
        texts: rules.texts.unwrap_or(RestoreInUrls::SameHost),
        arguments: rules.arguments,
        kept: Arc::default(),
    }
}

/// Files that no request may hold.
fn refused(setting: &Redact) -> Vec<FileClass> {
    let media = (setting.media == Media::Refuse).then_some(FileClass::Media);
    let others = (setting.files() != FileTreatment::Pass).then_some(FileClass::Other);
    media.into_iter().chain(others).collect()
}
