//! Bodies: what is found in a request does not reach the upstream, and the answer is restored or redacted.
//!
//! A request that will be restored, and every request of an LLM protocol, is collected and rewritten as a document, so
//! that a value found by its context in one place is found in all. Others are rewritten as they pass.

mod analyzed;
mod batch;
mod files;
mod reading;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use pingora::http::ResponseHeader;

use crate::api::analyzers::Analyzers;
use crate::api::token::{Principal, Tenant};
use crate::api::{ApiError, CpuTask};
use crate::base::checkpoint::Checkpoint;
use crate::crypto::fpe::FpeKey;
use crate::gateway::body::BodyFormat;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, ExchangeFacts, RequestOutcome};
use crate::gateway::filter::{Filter, Flow, RequestDocument, Stage};
use crate::gateway::filters::answers::{AnswerEditing, IssuedBefore, OneWay, PlannedAnswers, nothing_issued};
use crate::gateway::filters::caller_identity::CallerIdentity;
use crate::gateway::filters::direct::leads_around;
use crate::gateway::filters::endpoint_events;
use crate::gateway::filters::file_policy::FileTreatment;
use crate::gateway::filters::findings;
use crate::gateway::filters::head_values::{HeadFault, HeadRedaction};
use crate::gateway::filters::readable_answer::readable_answer;
use crate::gateway::filters::redact::analyzed::QuestionedBody;
use crate::gateway::filters::redact::batch::BatchLines;
use crate::gateway::filters::redact::files::DocumentRedaction;
use crate::gateway::filters::redact::reading::{BodyFault, ReadAs, Readings, is_multipart, is_upload};
use crate::gateway::filters::redact_parts::{AnswerMode, RedactParts};
use crate::gateway::filters::remember;
use crate::gateway::filters::scope::of_conversation;
use crate::gateway::filters::session::{SessionParts, SessionRedactor};
use crate::gateway::layer::{Layer, UnscannedPolicy};
use crate::gateway::llm::{
    CompiledProtocol, ProtocolChoice, Repeats, conversation, enumerated, is_mcp, of_any_server, open_blocks,
    results,
};
use crate::gateway::media_type::{DeclaredFormat, is_foreign, is_sound};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::websocket::{MessagePlan, ServerPlan};
use crate::redact::{
    BlockSeal, FindingLimits, Keys, RedactError, RedactionCounts, Redactor, Report, RequestWords,
    SurrogateLog,
};
use crate::stream::json::{PathSet, PatternError};
use crate::telemetry::trace::SpanKind;
use crate::telemetry::{BodyScan, Direction, Unscanned};

/// How paths end whose answers are spoken (OpenAI API reference, "Create speech").
const SPEECH: &str = "/audio/speech";

const SESSIONS: &str =
    "messages of a WebSocket are not shown to analyzers, which this route asks about all that passes";

/// Redacts and restores bodies.
pub struct RedactFilter {
    parts: RedactParts,
    /// What a request is read by of whose server nothing is known.
    readings: Readings,
    results: Arc<PathSet>,
    /// Of callers without a token.
    tenant: Tenant,
}

impl RedactFilter {
    /// Makes the filter.
    ///
    /// # Errors
    /// A pattern of a protocol that is wrong, which would be a bug in the data.
    pub fn new(parts: RedactParts) -> Result<Self, PatternError> {
        let (batch, fields) = (Arc::new(BatchLines::new(&parts.protocols)?), Arc::new(of_any_server()?));
        let readings = Readings { fields, everything: Arc::new(PathSet::everything()), batch };
        let results = Arc::new(results::fields()?);
        Ok(Self { parts, readings, results, tenant: Tenant::default() })
    }

    fn protocol(&self, x: &Exchange) -> Option<&Arc<CompiledProtocol>> {
        let protocol = match x.route().protocols {
            // A WebSocket has a protocol of its own, whatever is spoken over HTTP.
            ProtocolChoice::Always(_) if x.is_websocket() => ProtocolChoice::Auto.of(x.path()),
            _ => x.protocol(),
        };
        let protocol = protocol?;
        self.parts.protocols.iter().find(|compiled| std::ptr::eq(compiled.protocol, protocol))
    }

    async fn fpe_key(&self) -> Result<Arc<FpeKey>, GatewayError> {
        let key = self.parts.vault.default_fpe_key().await;
        key.map_err(|error| GatewayError::Api(ApiError::vault(&error)))
    }

    /// The keys of a request; those of its answer are in the same scope.
    async fn keys(&self, x: &Exchange) -> Result<Keys, GatewayError> {
        if !self.parts.encrypts {
            return Ok(Keys::default());
        }
        // Its head is no more as the caller sent it once other filters have been at it; and the default is too wide.
        let scope = x.facts.scope.ok_or(GatewayError::Api(ApiError::Internal("scope")))?;
        let key = self.fpe_key().await?;
        let quota = self.parts.distinct.of(x.caller());
        let recall = x.facts.memory.as_ref().map(|memory| memory.recall()).unwrap_or_default();
        let tenant = x.facts.principal.as_ref().map_or(&self.tenant, Principal::tenant).shared();
        Ok(Keys { fpe: Some(key), tenant, scope, quota, recall })
    }

    /// The same once the body is there, which may name its conversation.
    async fn keys_of(&self, x: &mut Exchange, body: &Bytes) -> Result<Keys, GatewayError> {
        let mut keys = self.keys(x).await?;
        let Some(key) = keys.fpe.clone().filter(|_| self.parts.tweak.is_in_body(x)) else { return Ok(keys) };
        let (path, body) = (x.path().clone(), body.clone());
        let job = CpuTask { caller: x.caller(), bytes: body.len() };
        let id = self.parts.cpu.run(job, move |_| conversation::in_body(&path, &body)).await;
        if let Some(id) = id.map_err(ApiError::from).map_err(GatewayError::Api)? {
            keys.scope = of_conversation(&key, &x.route().name, &id);
            x.facts.scope = Some(keys.scope);
        }
        Ok(keys)
    }

    /// What a request's body is read by.
    fn readings(&self, x: &Exchange) -> Readings {
        let any = self.readings.clone();
        let known = self.protocol(x).map(|known| Arc::clone(&known.request));
        Readings { fields: known.unwrap_or(any.fields), ..any }
    }

    /// Has the documents in a request redacted; how many there are.
    async fn documents(
        &self,
        x: &mut Exchange,
        document: &mut RequestDocument,
        by: DocumentRedaction<'_>,
    ) -> Result<usize, GatewayError> {
        let done = by.run(document.current().clone()).await?;
        for report in &done.reports {
            findings::found(x, &self.parts, report);
            x.facts.redacted.fetch_add(report.count() as u64, Ordering::Relaxed);
        }
        x.facts.request_unscanned.fetch_add(done.unread, Ordering::Relaxed);
        if done.documents > 0 {
            document.rewritten = Some(done.body);
        }
        Ok(done.documents)
    }

    /// What is installed on a request's body, or refused.
    async fn plan_request(
        &self,
        x: &mut Exchange,
        plan: &mut RequestPlan,
        redactor: &Redactor,
    ) -> Result<(), GatewayError> {
        if !x.sends_body() {
            return Ok(());
        }
        let known = self.protocol(x).is_some();
        let format = match BodyFormat::of(&x.head().headers, known) {
            Ok(format) => format,
            Err(why) if self.parts.unknown == UnscannedPolicy::Pass => {
                x.passes_unscanned(Direction::Request, why);
                return Ok(());
            }
            Err(_) => {
                return Err(GatewayError::Api(ApiError::UnsupportedMediaType(
                    "Send the body in gzip, deflate, br, zstd or no content coding",
                )));
            }
        };
        // A client of a known protocol speaks JSON, whatever it says; but not in a charset that reads otherwise.
        let takes_files = is_multipart(&x.head().headers) || is_upload(&x.head().headers);
        if known && !takes_files && is_foreign(&x.head().headers) {
            return Err(GatewayError::Api(ApiError::UnsupportedMediaType("Send the body in UTF-8")));
        }
        if !known && !takes_files && !matches!(format.declared, DeclaredFormat::As(_)) {
            plan.require_known_kind(self.parts.unknown);
            plan.rule_media(self.parts.files.media);
        }
        x.request_scan = BodyScan::Scanned;
        let restored = matches!(self.parts.answers, AnswerMode::Restore(_));
        // Where it names its conversation is not known before all of it is there.
        let named = self.parts.encrypts && self.parts.tweak.is_in_body(x);
        let documents = self.parts.files.files == FileTreatment::Redact;
        let analyzed = self.parts.analyzers.is_some();
        if known || restored || named || takes_files || documents || analyzed {
            plan.collect(x, self.parts.collected);
            return Ok(());
        }
        let keys = self.keys(x).await?;
        let one_way = OneWay {
            redactor: redactor.clone(),
            keys,
            protocol: None,
            fields: None,
            counts: Arc::clone(&self.parts.counts),
            unscanned: Arc::clone(&x.facts.request_unscanned),
            refused: self.parts.files.refused_in_strings(),
        };
        plan.rewrite(Layer::Text(one_way.layer(x, self.parts.rules.len(), None)));
        Ok(())
    }

    /// What is done with answers; `issued` has what was issued, if anything was or may yet be.
    async fn answers(
        &self,
        x: &mut Exchange,
        issued: Option<IssuedBefore>,
    ) -> Result<Option<PlannedAnswers>, GatewayError> {
        let protocol = self.protocol(x).cloned();
        let keys = match self.parts.answers {
            AnswerMode::Redact(_) | AnswerMode::Restore(_) => self.keys(x).await?,
            AnswerMode::Off => Keys::default(),
        };
        let fields = results::may_come(x.path()).then(|| Arc::clone(&self.results));
        Ok(AnswerEditing { parts: &self.parts, keys, protocol, fields, issued }.plan(x))
    }

    /// Redacts chosen values of the head.
    async fn redact_head(&self, x: &mut Exchange, redactor: &Redactor) -> Result<(), GatewayError> {
        let keys = self.keys(x).await?;
        let redaction = HeadRedaction { values: &self.parts.head, redactor, keys: &keys };
        let (mut head, mut replaced) = (x.head().clone(), 0);
        let done = redaction.apply(&mut head, &mut |report| {
            findings::found(x, &self.parts, report);
            replaced += report.count() as u64;
        });
        if let Err(HeadFault::Redact(RedactError::Blocked(rules))) = &done {
            findings::blocked(x, &self.parts, rules);
        }
        done?;
        x.facts.redacted.fetch_add(replaced, Ordering::Relaxed);
        *x.head_mut() = head;
        Ok(())
    }

    /// A budget is used up; what is to pass then passes as it came, and the log says so.
    fn passes(&self, x: &mut Exchange, error: &GatewayError) -> bool {
        let spent = matches!(
            error,
            GatewayError::Api(ApiError::TooManyValues(_) | ApiError::Overloaded | ApiError::TooLarge(_))
        );
        if !spent || self.parts.exhausted == UnscannedPolicy::Refuse {
            return false;
        }
        let (route, why, request_id) = (&x.route().name, error.word(), &x.id);
        tracing::warn!(target: "portcullis::gateway", route, why, %request_id, "a request passes unscanned");
        x.passes_unscanned(Direction::Request, Unscanned::Budget);
        true
    }

    /// How a collected body is looked through; `None` if it passes as it is.
    fn reading(&self, x: &mut Exchange, body: &[u8]) -> Result<Option<ReadAs>, GatewayError> {
        let known = self.protocol(x).is_some();
        let reading = ReadAs::of(x, known, body)?;
        if reading.is_none() {
            if self.parts.unknown != UnscannedPolicy::Pass {
                return Err(GatewayError::UNKNOWN_TYPE);
            }
            x.passes_unscanned(Direction::Request, Unscanned::ContentType);
        }
        Ok(reading)
    }

    /// What looks through what the caller says, which the answer may repeat.
    fn noting(&self, x: &mut Exchange, redactor: &Redactor) -> Redactor {
        let redactor = redactor.clone().for_caller(x.facts.sender);
        if !matches!(self.parts.answers, AnswerMode::Restore(Some(_))) {
            return redactor;
        }
        let words = RequestWords::holding(x.budget.tally());
        x.facts.said = Some(words.clone());
        redactor.with_request_words(words)
    }

    /// Counts what was found in a request's body, whose documents were read by themselves; how much was replaced.
    fn counted(&self, x: &mut Exchange, report: &Report, documents: usize) -> usize {
        findings::found(x, &self.parts, report);
        let (replaced, unread) = (report.count(), report.unscanned().saturating_sub(documents));
        x.facts.redacted.fetch_add(replaced as u64, Ordering::Relaxed);
        x.facts.request_unscanned.fetch_add(unread as u64, Ordering::Relaxed);
        replaced
    }
}

#[async_trait]
impl Filter for RedactFilter {
    fn name(&self) -> &'static str {
        "redact"
    }

    fn stage(&self) -> Stage {
        Stage::Rewrite
    }

    fn edits_answers(&self) -> bool {
        !matches!(self.parts.answers, AnswerMode::Off)
    }

    async fn request(&self, x: &mut Exchange, plan: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let in_answers = self.edits_answers();
        let in_head = !self.parts.head.is_nothing_of(x.head());
        if !self.parts.direct && leads_around(x) {
            return Err(GatewayError::LeadsAround);
        }
        // Its messages are looked through as they pass, and an analyzer that must be asked cannot be.
        if x.is_websocket() && self.parts.analyzers.as_ref().is_some_and(Analyzers::must_answer) {
            return Err(GatewayError::NotBuilt(SESSIONS));
        }
        if self.parts.encrypts && (x.sends_body() || x.is_websocket() || in_answers || in_head) {
            let key = self.fpe_key().await?;
            x.facts.scope = Some(self.parts.tweak.of_head(x, &key));
        }
        if self.parts.requests.is_some() && x.sends_body() {
            x.facts.sender = CallerIdentity::of(x).among(&self.parts.findings);
        }
        if let Some(redactor) = self.parts.requests.as_ref().filter(|_| in_head) {
            self.redact_head(x, redactor).await?;
        }
        if let Some(remember) = &self.parts.remember {
            remember.begin(x, matches!(self.parts.answers, AnswerMode::Restore(_)), plan).await;
        }
        if let Some(redactor) = &self.parts.requests {
            self.plan_request(x, plan, redactor).await?;
        }
        if !matches!(self.parts.answers, AnswerMode::Off) {
            readable_answer(x.head_mut());
        }
        Ok(Flow::Next)
    }

    async fn collected(
        &self,
        x: &mut Exchange,
        document: &mut RequestDocument,
    ) -> Result<Flow, GatewayError> {
        let Some(redactor) = self.parts.requests.as_ref().filter(|_| x.request_scan == BodyScan::Scanned)
        else {
            return Ok(Flow::Next);
        };
        if matches!(self.parts.answers, AnswerMode::Restore(_)) {
            remember::find_in_body(x, document.current()).await;
        }
        let Some(reading) = self.reading(x, document.current())? else { return Ok(Flow::Next) };
        let keys = self.keys_of(x, document.current()).await?;
        let readings = self.readings(x);
        x.route().metrics.scanned(Direction::Request, document.current().len() as u64);
        let mut redactor = self.noting(x, redactor);
        let mut policy = self.parts.files;
        let mut documents = 0;
        if policy.files == FileTreatment::Redact {
            redactor = redactor.with_surrogate_log(SurrogateLog::default());
            let by = DocumentRedaction {
                documents: &self.parts.documents,
                redactor: redactor.clone(),
                keys: keys.clone(),
                reading: &reading,
                readings: &readings,
            };
            documents = self.documents(x, document, by).await?;
            policy.files = FileTreatment::Pass;
        }
        if let Some(analyzers) = &self.parts.analyzers {
            let asked = QuestionedBody { reading: &reading, readings: &readings, body: document.current() };
            redactor = redactor.with_reported(asked.ask(x, analyzers, &self.parts.cpu).await?);
        }
        let lenient = self.parts.unknown == UnscannedPolicy::Pass && self.protocol(x).is_none();
        let may_pass = lenient && matches!(reading, ReadAs::Parts { .. });
        let body = document.current().clone();
        let words = x.facts.said.clone();
        let work = move |checkpoint: &Checkpoint| {
            let redactor = redactor.with_checkpoint(checkpoint.clone());
            let parsed = reading.parse(&body, &readings)?;
            policy.check(&parsed.files)?;
            let redacted = redactor.content(&body, &parsed.content, &keys, FindingLimits::default())?;
            policy.check_strings(redacted.0.report().files())?;
            if let Some(words) = &words {
                enumerated(&body, &readings.fields, &mut |value| words.keep(value));
            }
            // What its provider signed goes back as it came, whatever the caller was shown.
            let opened = open_blocks(redacted.0.value(), BlockSeal::new(&keys));
            Ok::<_, BodyFault>((redacted, opened))
        };
        let span = x.trace.place().begin("redact", SpanKind::Internal);
        let job = CpuTask { caller: x.caller(), bytes: document.current().len() };
        let done = self.parts.cpu.run(job, work).await;
        drop(span);
        if let Ok(Err(BodyFault::Redact(RedactError::Blocked(rules)))) = &done {
            findings::blocked(x, &self.parts, rules);
        }
        if matches!(&done, Ok(Err(BodyFault::Form(_)))) && may_pass {
            x.passes_unscanned(Direction::Request, Unscanned::ContentType);
            return Ok(Flow::Next);
        }
        let done = done.map_err(ApiError::from).map_err(GatewayError::Api);
        let ((redacted, undo), opened) = match done.and_then(|done| done.map_err(GatewayError::from)) {
            Ok(done) => done,
            Err(error) if self.passes(x, &error) => return Ok(Flow::Next),
            Err(error) => return Err(error),
        };
        let replaced = self.counted(x, redacted.report(), documents);
        let changed = (replaced > 0).then(|| Bytes::from(redacted.into_value()));
        let rewritten = opened.map(Bytes::from).or(changed);
        if self.protocol(x).is_some_and(|protocol| is_mcp(protocol.protocol)) {
            let rewritten = rewritten.as_ref().unwrap_or(document.current());
            Repeats { original: document.current(), rewritten }.agree(x.head_mut())?;
        }
        x.facts.undo = Some(remember::issued(x, Arc::new(undo), document.current()).await);
        document.rewritten = rewritten.or(document.rewritten.take());
        Ok(Flow::Next)
    }

    async fn response(
        &self,
        x: &mut Exchange,
        head: &mut ResponseHeader,
        plan: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        if self.parts.findings_header {
            findings::head(x, &self.parts, head);
        }
        if x.is_websocket() && head.status == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(());
        }
        // What a model speaks is not spelled in letters.
        if matches!(self.parts.answers, AnswerMode::Redact(_))
            && x.path().compared().ends_with(SPEECH)
            && self.parts.files.media == UnscannedPolicy::Pass
            && is_sound(&head.headers)
        {
            x.passes_unscanned(Direction::Answer, Unscanned::ContentType);
            return Ok(());
        }
        if matches!(self.parts.answers, AnswerMode::Restore(_)) {
            remember::watch(x, head, plan).await;
        }
        if endpoint_events::may_be_in(x, head) && self.edits_answers() {
            plan.rewrite(endpoint_events::noting(x), UnscannedPolicy::Pass);
        }
        let issued = remember::restored(x);
        if let Some(PlannedAnswers { layer, policy }) = self.answers(x, issued).await? {
            plan.rewrite(Layer::Text(layer), policy);
        }
        Ok(())
    }

    async fn messages(&self, x: &mut Exchange, plan: &mut MessagePlan) -> Result<(), GatewayError> {
        let issued = self.parts.requests.as_ref().map(|_| nothing_issued());
        if let (Some(redactor), Some(issued)) = (&self.parts.requests, &issued) {
            let keys = self.keys(x).await?;
            let counts = Arc::new(RedactionCounts::new(self.parts.rules.len()));
            x.facts.counted.push((Arc::clone(&counts), Arc::clone(&self.parts.counts)));
            x.request_scan = BodyScan::Scanned;
            let session = SessionParts {
                redactor: self.noting(x, redactor),
                words: x.facts.said.clone(),
                keys,
                known: self.protocol(x).map(|protocol| Arc::clone(&protocol.request)),
                issued: Arc::clone(issued),
                counts,
                unscanned: Arc::clone(&x.facts.request_unscanned),
                unknown: self.parts.unknown,
                cpu: self.parts.cpu.clone(),
                caller: x.caller(),
                route: Arc::clone(x.route()),
                charge: x.budget.charge(),
            };
            plan.client = Some(Box::new(SessionRedactor::from(session)));
        }
        if let Some(PlannedAnswers { layer, policy }) = self.answers(x, issued).await? {
            x.answer_scan = BodyScan::Scanned;
            let unscanned = Arc::clone(&x.facts.answer_unscanned);
            plan.server = Some(ServerPlan { layer, policy, unscanned });
        }
        Ok(())
    }

    async fn done(&self, x: &mut Exchange, _: &RequestOutcome) {
        findings::settle(x, &self.parts);
        if let Some(memory) = &mut x.facts.memory {
            memory.flush();
        }
        let ExchangeFacts { request_unscanned, answer_unscanned, .. } = &x.facts;
        for (direction, strings) in
            [(Direction::Request, request_unscanned), (Direction::Answer, answer_unscanned)]
        {
            x.route().metrics.unscanned_strings(direction, strings.load(Ordering::Relaxed));
        }
    }
}
