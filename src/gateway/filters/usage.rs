//! What requests to models take: a token narrowed to models asks no others, budgets bound what is spent, and what was used
//! is counted by token, route and model.
//!
//! A request is judged when its body is there, before anything is sent: by what it asks for, at the most. What it has used
//! is what the provider says in the answer, which is read along; where it says nothing, it is estimated.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method};
use pingora::http::ResponseHeader;

use crate::api::token::TokenBounds;
use crate::api::{ApiError, CpuPool, CpuTask};
use crate::base::calendar::CalendarPeriod;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, Metering, RequestOutcome, RequestUse};
use crate::gateway::filter::{Filter, Flow, RequestDocument, Stage};
use crate::gateway::filters::usage_report::{asked_for, taken_out};
use crate::gateway::layer::{Layer, UnscannedPolicy};
use crate::gateway::llm::{
    ANY_BOUND, LONGEST_ANSWER, ModelRequest, ModelRequestSource, ProtocolChoice, UNKNOWN, estimated,
    is_ambiguous, is_blind, is_free, is_idle, is_uncounted,
};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::telemetry::{TokenKind, UsageMetrics};
use crate::usage::{
    Account, BudgetMode, Cost, Ledger, ModelPattern, OverBudget, PriceTable, Remaining, Spend, SpendBudget,
    Spender, TokenUsage, UsageKey, UsageTotals, model_name,
};

/// Says what is left of budgets: `name;usd=1.25;tokens=500;requests=3;reset=3600;period=day`, one after the other.
const REMAINING: HeaderName = HeaderName::from_static("portcullis-budget-remaining");

/// Tokens that an answer may have whose request does not bound it, as far as a budget reserves them.
const UNBOUNDED_OUTPUT: u64 = 4096;

/// Faults by which nobody learns what an upstream took of a request that it got.
const UNANSWERED: [&str; 3] = ["caller_gone", "timeout", "broken"];

/// Headers by which servers behind this one are told another model than a body's (Portkey; Azure Machine Learning).
const ROUTES: [&str; 2] = ["x-portkey-config", "azureml-model-deployment"];

const OTHER_MODEL: &str = "The token does not cover this model";
const NO_MODEL: &str = "The token is for some models, and it cannot be told which one this request asks; name it as the provider's API says";
const NO_COUNT: &str =
    "What this asks is not counted when it is taken, so that a caller with a budget may not ask it";
const UNREAD: &str =
    "the body is not what this path takes, so that it cannot be counted; send one JSON document in UTF-8";
const NO_SESSION: &str = "The token is for some models or has a budget, and what is asked over a WebSocket is not counted: it opens none";

/// What the filter is made from.
pub struct UsageParts {
    /// What was spent.
    pub ledger: Arc<Ledger>,
    /// What models cost.
    pub prices: Arc<PriceTable>,
    /// Budgets of the configuration.
    pub budgets: Arc<[Arc<SpendBudget>]>,
    /// Whether all requests are counted, also those that nothing bounds.
    pub counts_all: bool,
    /// Whether streams are asked for a report at their end where their clients did not.
    pub asks_for_report: bool,
    /// The largest body that is read whole, in bytes.
    pub collected: usize,
    /// Where long bodies are read.
    pub cpu: CpuPool,
    /// The metrics.
    pub metrics: UsageMetrics,
}

/// Bounds and counts what requests to models take.
pub struct UsageFilter(UsageParts);

impl UsageFilter {
    /// Makes the filter.
    pub fn new(parts: UsageParts) -> Self {
        Self(parts)
    }

    /// Whether anything bounds or counts this request.
    fn minds(&self, x: &Exchange) -> bool {
        self.0.counts_all || self.bounds(x)
    }

    /// Whether anything bounds it.
    fn bounds(&self, x: &Exchange) -> bool {
        let own = |bounds: &TokenBounds| bounds.models.is_some() || !bounds.budgets.is_empty();
        !self.0.budgets.is_empty() || x.facts.principal.as_ref().is_some_and(|who| own(who.bounds()))
    }

    /// The accounts that a request spends from; `any_model` if it may ask any, since it names none.
    fn accounts(&self, x: &Exchange, models: &[String], any_model: bool) -> Vec<Account> {
        let now = x.clock().now();
        let labels = x.facts.principal.as_ref().map(|who| &who.bounds().labels);
        let nothing = std::collections::BTreeMap::new();
        let token = x.facts.principal.as_ref().map(|who| who.id().to_string());
        let route = x.route().name.as_str();
        let labels = labels.unwrap_or(&nothing);
        let by = Spender { token: token.as_deref(), labels, route, models, any_model };
        let shared = self.0.budgets.iter().flat_map(|budget| budget.accounts(by, now));
        let own = x.facts.principal.iter().flat_map(|who| who.bounds().budgets.iter());
        let own = own.filter_map(|budget| Some(Account::of_token(budget, token.as_deref()?, now)));
        shared.chain(own).collect()
    }

    /// Judges a request by what it asks for.
    async fn judge(&self, x: &mut Exchange, asked: ModelRequest, body: usize) -> Result<(), GatewayError> {
        if let Some(models) = narrowed(x) {
            models_allowed(x, &asked, models)?;
        }
        let any_model = asks_any(x, &asked);
        let accounts = self.accounts(x, &asked.models, any_model);
        if is_uncounted(x.protocol(), x.asked_path())
            && runs_model(x)
            && accounts.iter().any(Account::bounds_what_is_taken)
        {
            return Err(ApiError::OutOfScope(NO_COUNT).into());
        }
        let mut most = TokenUsage::default();
        if takes(x) {
            most.input = estimated(body as u64);
            most.output = self.longest_answer(x, &asked).saturating_mul(asked.answers.unwrap_or(1));
        }
        let priced = any_model || may_answer(x, &asked).next().is_some();
        let cost = priced.then(|| self.0.prices.most(may_answer(x, &asked), most.input, most.output));
        let cost = cost.flatten().unwrap_or_default();
        let spend = Spend { requests: 1, tokens: most.total(), cost };
        let reservation = match accounts.is_empty() {
            true => None,
            false => Some(self.0.ledger.reserve(accounts, spend).await.map_err(|over| self.over(x, &over))?),
        };
        if let Some(reservation) = &reservation {
            self.tell_of_passed(x, &reservation.remaining(x.clock().now()));
        }
        x.facts.metering = Some(Box::new(Metering { asked, reservation, most, ..Metering::default() }));
        Ok(())
    }

    /// The most tokens that one answer may have: what the request asks for, as far as a model that may answer writes so much.
    fn longest_answer(&self, x: &Exchange, asked: &ModelRequest) -> u64 {
        let longest = |model| self.0.prices.longest_answer(model).unwrap_or(LONGEST_ANSWER);
        let longest = may_answer(x, asked).map(longest).max().unwrap_or(LONGEST_ANSWER);
        asked.most_output.unwrap_or(UNBOUNDED_OUTPUT).min(longest)
    }

    /// What tokens cost: of the model that answers, where that is ours to say; else of the dearest that is named, or that there is
    /// where none is.
    fn cost(&self, x: &Exchange, asked: &ModelRequest, tokens: TokenUsage) -> Option<Cost> {
        let target = x.facts.models.as_ref().and_then(|plan| plan.target());
        match target {
            Some(target) => self.0.prices.cost(&target.model, tokens),
            None if asks_any(x, asked) => self.0.prices.dearest(tokens),
            None => asked.dearest(|model| self.0.prices.cost(model, tokens)),
        }
    }

    /// Says of which budgets a request passes though they are used up.
    fn tell_of_passed(&self, x: &Exchange, left: &[Remaining]) {
        let (route, request_id) = (&x.route().name, &x.id);
        for Remaining { budget, .. } in
            left.iter().filter(|one| one.used_up && one.budget.mode == BudgetMode::Soft)
        {
            let budget = &budget.name;
            tracing::info!(target: "portcullis::usage", route, budget, %request_id, "a soft budget is used up, and lets pass");
            self.0.metrics.passed(budget);
        }
    }

    fn over(&self, x: &Exchange, over: &OverBudget) -> GatewayError {
        let (route, budget, request_id) = (&x.route().name, &over.budget.name, &x.id);
        if over.is_reserved {
            tracing::info!(target: "portcullis::usage", route, budget, %request_id, "what is under way may use a budget up");
            self.0.metrics.waits(budget);
            return ApiError::BudgetReserved(over.after).into();
        }
        tracing::info!(target: "portcullis::usage", route, budget, %request_id, "a budget is used up");
        self.0.metrics.refused(budget);
        ApiError::OverBudget(over.after).into()
    }

    /// What a request has used in the end.
    fn used(&self, x: &Exchange, metering: &Metering, status: u16) -> RequestUse {
        let answered = (200..300).contains(&status);
        let unanswered =
            x.error_word.is_some_and(|word| UNANSWERED.contains(&word)) && x.trace.attempts() > 0;
        let (tokens, estimated) = match x.facts.taken {
            _ if !takes(x) => (TokenUsage::default(), false),
            Some(taken) if answered => taken.usage(metering.most, x.delivery.is_complete(x.protocol())),
            // In a coding that nobody can take off.
            None if answered && metering.reads => (metering.most, true),
            // It was sent, and may have been answered to nobody: once, however much it asked for, or a caller that leaves would
            // use up what others have.
            _ if !answered && unanswered => (metering.one_answer(), true),
            _ => (TokenUsage::default(), false),
        };
        // Whatever else stands there is nobody's to see.
        let model = answers(x, &metering.asked).filter(|_| answered).and_then(model_name).map(str::to_owned);
        let cost = (!tokens.is_empty()).then(|| self.cost(x, &metering.asked, tokens)).flatten();
        RequestUse { model, tokens, estimated, cost }
    }

    /// Adds what was used to the sums, and to the metrics.
    fn count(&self, x: &Exchange, used: &RequestUse) {
        let RequestUse { model, tokens, estimated, cost } = used;
        if tokens.is_empty() {
            return;
        }
        let route = x.route().name.as_str();
        let token = x.facts.principal.as_ref().map(|who| who.id().to_string()).unwrap_or_default();
        let day = CalendarPeriod::Day.around(x.received).day();
        let model = model.clone().unwrap_or_default();
        let totals = UsageTotals {
            requests: 1,
            estimated: u64::from(*estimated),
            tokens: *tokens,
            cost: cost.unwrap_or_default(),
        };
        for (kind, count) in [
            (TokenKind::Input, tokens.input - tokens.cached_input),
            (TokenKind::CachedInput, tokens.cached_input),
            (TokenKind::Output, tokens.output),
        ] {
            self.0.metrics.tokens(route, kind, count);
        }
        if let Some(cost) = cost {
            self.0.metrics.spent(route, cost.nanodollars());
        }
        self.0.ledger.report().add(UsageKey { day, token, route: route.to_owned(), model }, totals);
    }
}

/// Whether a request may ask any model, since it names none.
fn asks_any(x: &Exchange, asked: &ModelRequest) -> bool {
    asked.models.is_empty() && x.facts.models.is_none() && runs_model(x) && speaks_of_models(x)
}

/// Whether models are asked where a request goes, as far as its route or its path says.
fn speaks_of_models(x: &Exchange) -> bool {
    x.protocol().is_some() || matches!(x.route().protocols, ProtocolChoice::Of(_))
}

/// The models that may answer: of an alias those that are left; else those that are named.
fn may_answer<'x>(x: &'x Exchange, asked: &'x ModelRequest) -> impl Iterator<Item = &'x str> {
    let targets = x.facts.models.iter().flat_map(|plan| plan.left()).map(|target| target.model.as_str());
    let named = asked.models.iter().filter(|_| x.facts.models.is_none()).map(String::as_str);
    targets.chain(named)
}

/// The models to which a request's token is narrowed, if it is.
fn narrowed(x: &Exchange) -> Option<&[ModelPattern]> {
    x.facts.principal.as_ref().and_then(|who| who.bounds().models.as_deref())
}

/// Whether a request asks something of a model, as far as its head says: what has no body only reads.
fn runs_model(x: &Exchange) -> bool {
    let of_model = x.protocol().is_none_or(|protocol| protocol.is_of_model());
    let only_reads = [Method::GET, Method::HEAD, Method::OPTIONS, Method::DELETE].contains(&x.head().method);
    let rewrite = &x.route().rewrite;
    let strip = if rewrite.replaces() { 0 } else { rewrite.strip };
    of_model && (x.sends_body() || !only_reads) && !is_idle(x.protocol(), x.asked_path(), strip)
}

/// Whether it takes tokens of it.
fn takes(x: &Exchange) -> bool {
    runs_model(x) && !is_free(x.protocol(), x.asked_path())
}

/// Whether a token that is narrowed to models may ask this: what nobody can tell is refused.
fn models_allowed(x: &Exchange, asked: &ModelRequest, models: &[ModelPattern]) -> Result<(), GatewayError> {
    let refused = |why| Err(ApiError::OutOfScope(why).into());
    // By its path alone anything may be taken for what has no models.
    let guessed = x.route().protocols.is_guess(x.path());
    let of_tools = x.protocol().is_some_and(|protocol| !protocol.is_of_model()) && guessed;
    if runs_model(x) || of_tools {
        let unknown = x.protocol().is_none()
            || is_ambiguous(x.asked_path())
            || is_blind(x.protocol(), x.asked_path())
            || ROUTES.iter().any(|header| x.head().headers.contains_key(*header));
        if unknown || of_tools || asked.models.is_empty() {
            return refused(NO_MODEL);
        }
    }
    if asked.models.is_empty() || asked.is_within(models) { Ok(()) } else { refused(OTHER_MODEL) }
}

/// The model that answers: one of ours has another name there.
fn answers<'a>(x: &'a Exchange, asked: &'a ModelRequest) -> Option<&'a str> {
    let target = x.facts.models.as_ref().and_then(|plan| plan.target());
    target.map(|target| target.model.as_str()).or(asked.model())
}

#[async_trait]
impl Filter for UsageFilter {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn stage(&self) -> Stage {
        Stage::Limit
    }

    async fn request(&self, x: &mut Exchange, plan: &mut RequestPlan) -> Result<Flow, GatewayError> {
        if !self.minds(x) {
            return Ok(Flow::Next);
        }
        if x.is_websocket() {
            let bound = narrowed(x).is_some() || !self.accounts(x, &[], speaks_of_models(x)).is_empty();
            return if bound { Err(ApiError::OutOfScope(NO_SESSION).into()) } else { Ok(Flow::Next) };
        }
        let reads = self.bounds(x) || x.protocol().is_some_and(|protocol| !protocol.usage.is_empty());
        if x.sends_body() && reads && runs_model(x) {
            plan.collect_anyway(x, self.0.collected);
            return Ok(Flow::Next);
        }
        let asked = ModelRequest::of(&request_of(x)).unwrap_or_default();
        self.judge(x, asked, 0).await?;
        Ok(Flow::Next)
    }

    async fn collected(
        &self,
        x: &mut Exchange,
        document: &mut RequestDocument,
    ) -> Result<Flow, GatewayError> {
        if x.facts.metering.is_some() || !self.minds(x) {
            return Ok(Flow::Next);
        }
        let body = document.current().clone();
        let length = body.len();
        let request = ModelRequestSource { body, ..request_of(x) };
        let job = CpuTask { caller: x.caller(), bytes: length };
        let asked = self.0.cpu.run(job, move |_| ModelRequest::of(&request)).await;
        let asked = match asked.map_err(ApiError::from)? {
            Ok(asked) => asked,
            Err(_) if narrowed(x).is_some() => return Err(ApiError::OutOfScope(NO_MODEL).into()),
            // What no server of models reads is nothing to count; what some may, is.
            Err(error) if self.bounds(x) && x.protocol().is_some() => {
                tracing::debug!(target: "portcullis::usage", request_id = %x.id, "{error}");
                return Err(GatewayError::BadBody(UNREAD));
            }
            Err(_) => ModelRequest::default(),
        };
        self.judge(x, asked, length).await?;
        self.ask_for_report(x, document);
        Ok(Flow::Next)
    }

    async fn response(
        &self,
        x: &mut Exchange,
        head: &mut ResponseHeader,
        plan: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        head.remove_header(&REMAINING);
        let Some(metering) = &x.facts.metering else { return Ok(()) };
        if let Some(reservation) = &metering.reservation {
            let left = reservation.remaining(x.clock().now());
            if let Some(value) = shown(&left) {
                drop(head.insert_header(REMAINING, value));
            }
        }
        let protocol = x.protocol().unwrap_or(&UNKNOWN);
        if protocol.usage.is_empty() || !head.status.is_success() || !takes(x) {
            return Ok(());
        }
        plan.read_usage(protocol);
        if metering.asked_for_report {
            let budget = x.budget.clone();
            let take_out = move || taken_out(&budget);
            plan.rewrite(Layer::Bytes(Arc::new(take_out)), UnscannedPolicy::Pass);
        }
        if let Some(metering) = &mut x.facts.metering {
            metering.reads = true;
        }
        Ok(())
    }

    async fn done(&self, x: &mut Exchange, outcome: &RequestOutcome) {
        let Some(mut metering) = x.facts.metering.take() else { return };
        let used = self.used(x, &metering, outcome.status);
        if let Some(reservation) = metering.reservation.take() {
            let (tokens, cost) = (used.tokens.total(), used.cost.unwrap_or_default());
            reservation.settle(Spend { requests: 1, tokens, cost });
        }
        self.count(x, &used);
        x.facts.used = Some(used);
    }
}

impl UsageFilter {
    /// Has a stream say in its end what it took, if it was not asked to.
    fn ask_for_report(&self, x: &mut Exchange, document: &mut RequestDocument) {
        let asks =
            self.0.asks_for_report && x.protocol().is_some_and(|protocol| protocol.stream.reports_if_asked);
        let Some(metering) = x.facts.metering.as_mut().filter(|_| asks) else { return };
        if !metering.asked.streams {
            return;
        }
        if let Some(changed) = asked_for(document.current()) {
            document.rewritten = Some(Bytes::from(changed));
            metering.asked_for_report = !metering.asked.includes_usage;
        }
    }
}

/// A request of which only the head is there.
fn request_of(x: &Exchange) -> ModelRequestSource {
    let content_type = x.head().headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    ModelRequestSource {
        bounds: x.protocol().map_or(ANY_BOUND, |protocol| protocol.model.bounds),
        path: x.asked_path().clone(),
        query: x.head().uri.query().unwrap_or_default().to_owned(),
        content_type: content_type.unwrap_or_default().to_owned(),
        body: Bytes::new(),
    }
}

/// What is left, for the caller. Names of budgets are the operator's, and need not be fit for a header.
fn shown(left: &[Remaining]) -> Option<HeaderValue> {
    let one = |Remaining { budget, left, after, .. }: &Remaining| {
        let name: String = budget
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
            .collect();
        let mut text = name;
        if let Some(cost) = left.cost {
            text += &format!(";usd={cost}");
        }
        if let Some(tokens) = left.tokens {
            text += &format!(";tokens={tokens}");
        }
        if let Some(requests) = left.requests {
            text += &format!(";requests={requests}");
        }
        text + &format!(";reset={after};period={}", budget.period.as_str())
    };
    let all: Vec<String> = left.iter().filter(|one| !one.budget.hidden).map(one).collect();
    HeaderValue::from_str(&all.join(", ")).ok().filter(|value| !value.is_empty())
}
