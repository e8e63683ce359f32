//! [`Playground`]: the section.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use crate::api::{CpuPool, CpuTask, PoolError};
use crate::base::checkpoint::Checkpoint;
use crate::base::secret::Secret;
use crate::console::address::address;
use crate::console::playground::chat::chat;
use crate::console::playground::engines::{EngineError, Engines, PlaygroundEngine};
use crate::console::playground::file::{self, Cleaner, FILE, NotCleaned};
use crate::console::playground::look::{LookError, look};
use crate::console::playground::page::{self, GatewaySummary, RuleToTry};
use crate::console::playground::request::{PlaygroundRequest, WantedError};
use crate::console::playground::route;
use crate::console::playground::route_redactor::RouteRedactors;
use crate::console::running::RunningConfig;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::crypto::fpe::FpeKey;
use crate::crypto::random;
use crate::redact::Keys;

/// What stands before a file that is sent, in bytes.
const HEAD: usize = 64 << 10;

/// What the section is made from.
pub(in crate::console) struct PlaygroundParts {
    /// The configuration that runs.
    pub(in crate::console) running: Arc<RunningConfig>,
    /// Places for long work.
    pub(in crate::console) cpu: CpuPool,
    /// Cleans files.
    pub(in crate::console) cleaner: Arc<dyn Cleaner>,
    /// Redactors of the configuration's routes.
    pub(in crate::console) route_redactors: RouteRedactors,
}

/// The section.
pub(in crate::console) struct Playground {
    engines: Engines,
    cpu: CpuPool,
    cleaner: Arc<dyn Cleaner>,
    /// Made when the process starts, and for this page alone: whoever may look here cannot have surrogates made of values that a
    /// route or the API has.
    keys: Keys,
}

/// Why a script gets no outcome.
enum Failure {
    Wanted(WantedError),
    Engine(EngineError),
    Look(LookError),
    Busy,
}

impl From<WantedError> for Failure {
    fn from(error: WantedError) -> Self {
        Self::Wanted(error)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<PoolError> for Failure {
    fn from(_: PoolError) -> Self {
        Self::Busy
    }
}

impl From<Failure> for PageReply {
    fn from(failure: Failure) -> Self {
        let busy = "Too much is asked of the playground at once. Try again in a moment.";
        match failure {
            Failure::Wanted(error) => {
                let status = match error {
                    WantedError::TextTooLong(_) | WantedError::RulesTooLong(_) => {
                        StatusCode::PAYLOAD_TOO_LARGE
                    }
                    _ => StatusCode::UNPROCESSABLE_ENTITY,
                };
                told(status, &error.to_string())
            }
            Failure::Engine(EngineError::Rules(faults)) => {
                let said = json!({ "error": "Your rules cannot be used.", "faults": faults });
                Self::Json(StatusCode::UNPROCESSABLE_ENTITY, said.to_string())
            }
            Failure::Engine(EngineError::Route(why)) => told(StatusCode::UNPROCESSABLE_ENTITY, &why),
            Failure::Engine(EngineError::Starting) => {
                told(StatusCode::SERVICE_UNAVAILABLE, "No configuration is in use yet.")
            }
            Failure::Look(LookError::Wrong(why)) => {
                told(StatusCode::UNPROCESSABLE_ENTITY, &format!("It cannot be redacted: {why}."))
            }
            Failure::Look(LookError::Stopped) | Failure::Busy | Failure::Engine(EngineError::Busy) => {
                told(StatusCode::SERVICE_UNAVAILABLE, busy)
            }
        }
    }
}

fn told(status: StatusCode, error: &str) -> PageReply {
    PageReply::Json(status, json!({ "error": error }).to_string())
}

impl Playground {
    /// Made of these. Where there are no random bits, nothing is encrypted here.
    pub(in crate::console) fn new(parts: PlaygroundParts) -> Self {
        let PlaygroundParts { running, cpu, cleaner, route_redactors } = parts;
        let bits = random::bytes::<32>().ok();
        let key = bits.and_then(|bits| FpeKey::new(Secret::new(bits.to_vec())).ok());
        let keys = Keys { fpe: key.map(Arc::new), tenant: Arc::from("playground"), ..Keys::default() };
        Self { engines: Engines::new(running, cpu.clone(), route_redactors), cpu, cleaner, keys }
    }

    fn show(&self, visit: &Visit<'_>) -> PageReply {
        let Some(config) = self.engines.config() else {
            return Failure::Engine(EngineError::Starting).into();
        };
        let rule = config.catalogue.find(visit.query.text("rule"));
        let around = GatewaySummary {
            api: address(&config),
            chats: route::chats(&config),
            routes: config
                .routes
                .iter()
                .filter(|route| route.redact.is_some())
                .map(|route| route.name.as_str().to_owned())
                .collect(),
            route: visit.query.text("route").to_owned(),
            has_model: config.catalogue.names_model().is_some(),
            rule: rule.and_then(|rule| config.catalogue.rule(rule)).map(RuleToTry::of),
        };
        PageReply::Page(PageContext {
            title: "Playground".to_owned(),
            content: page::page(&around),
            scripts: &["editor.js", "playground.js"],
        })
    }

    /// Has something made of what is wanted, in the pool.
    async fn work<T: Serialize>(
        &self,
        visit: &Visit<'_>,
        work: impl FnOnce(&PlaygroundEngine, &PlaygroundRequest, &Keys, &Checkpoint) -> Result<T, LookError>
        + Send
        + 'static,
    ) -> Result<PageReply, Failure> {
        let wanted = PlaygroundRequest::read(&visit.body)?;
        let engine = self.engines.of(&wanted.choice, &visit.caller).await?;
        let keys = self.keys.clone();
        // What does not count takes some times as long to find as what does.
        let job = CpuTask { caller: visit.caller.clone(), bytes: wanted.text.len().saturating_mul(5) };
        let done = self.cpu.run(job, move |checkpoint| {
            let made = work(&engine, &wanted, &keys, checkpoint)?;
            serde_json::to_string(&made).map_err(|_| LookError::Stopped)
        });
        done.await?.map(|json| PageReply::Json(StatusCode::OK, json)).map_err(Failure::Look)
    }

    async fn clean(&self, visit: &Visit<'_>) -> PageReply {
        let Some(config) = self.engines.config() else {
            return Failure::Engine(EngineError::Starting).into();
        };
        let Some(sent) = file::sent(&visit.body) else { return Failure::Wanted(WantedError::NotOurs).into() };
        if sent.bytes.len() > FILE {
            return told(StatusCode::PAYLOAD_TOO_LARGE, "The playground takes files of up to 16 MiB.");
        }
        if sent.bytes.is_empty() {
            return told(StatusCode::UNPROCESSABLE_ENTITY, "The file is empty.");
        }
        match self.cleaner.clean(&config, sent).await {
            Ok(clean) => PageReply::File {
                media_type: "application/octet-stream",
                name: "clean".to_owned(),
                bytes: file::given(&clean),
            },
            Err(NotCleaned::Refused(why)) => {
                told(StatusCode::UNPROCESSABLE_ENTITY, &format!("The file is not released: {why}."))
            }
            Err(error @ NotCleaned::Unavailable) => {
                told(StatusCode::SERVICE_UNAVAILABLE, &format!("{error}."))
            }
        }
    }

    async fn act(&self, visit: &Visit<'_>) -> PageReply {
        let done = match visit.rest {
            "look" => self.work(visit, look).await,
            "chat" => self.work(visit, chat).await,
            "route" => self.work(visit, configured).await,
            "clean" => return self.clean(visit).await,
            _ => return PageReply::NotFound,
        };
        done.unwrap_or_else(PageReply::from)
    }
}

/// A configuration, for a script.
#[derive(Serialize)]
struct Configured {
    toml: String,
}

fn configured(
    engine: &PlaygroundEngine,
    wanted: &PlaygroundRequest,
    keys: &Keys,
    checkpoint: &Checkpoint,
) -> Result<Configured, LookError> {
    let looked = look(engine, wanted, keys, checkpoint)?;
    let met: Vec<&str> = looked.rules.keys().map(String::as_str).collect();
    Ok(Configured { toml: route::configured(engine, &wanted.choice, &met) })
}

impl Section for Playground {
    fn path(&self) -> &'static str {
        "/playground"
    }

    fn name(&self) -> &'static str {
        "Playground"
    }

    fn limit(&self) -> usize {
        FILE + HEAD
    }

    fn only_looks(&self, rest: &str) -> bool {
        ["look", "chat", "route", "clean"].contains(&rest)
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        Box::pin(async move {
            match (visit.asked, visit.rest) {
                (PageRequest::Show, "") => self.show(&visit),
                (PageRequest::Show, _) => PageReply::NotFound,
                (PageRequest::Do, _) => self.act(&visit).await,
            }
        })
    }
}

impl std::fmt::Debug for Playground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Playground(..)")
    }
}
