//! Files, cleaned on the command line (`portcullis sanitize IN OUT`), and what a server cleans them with.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::api::redact::Entities;
use crate::api::sanitize::{self, DEFAULT_PROVIDER, LookedUp, data, refusal, summary, why};
use crate::app::configured_providers::ConfiguredProviders;
use crate::app::error::AppError;
use crate::base::clock::{SharedClock, SystemClock};
use crate::base::secret::Secret;
use crate::config::Config;
use crate::config::settings::{self, SandboxMode, ScriptFiles, UnknownFiles, UnreadFiles};
use crate::detect::{Detector, RuleSelection};
use crate::redact::{Keys, Method, MethodPlan, Redactor};
use crate::sanitize::intel::{IndicatorType, Reputation};
use crate::sanitize::sandbox::confinement::{self, Confinement};
use crate::sanitize::sandbox::{Sandbox, SandboxError, SandboxLimits};
use crate::sanitize::scan::{ScanItem, Scanner};
use crate::sanitize::{
    FileKind, Options, RedactionMode, ReleasePolicy, ScanProviders, ScriptPolicy, UnfoldBounds, UnreadPolicy,
    sanitize,
};

/// What became of a file.
pub enum CleaningOutcome {
    /// There is a clean one.
    Released(Released),
    /// There is none.
    Refused(CleaningRefusal),
}

/// Why there is no clean file.
pub struct CleaningRefusal {
    /// What it is, as far as it was looked at.
    pub kind: Option<FileKind>,
    /// Why, in words for its owner.
    pub why: Cow<'static, str>,
    /// The same for programs, as the API tells it.
    pub data: Value,
}

/// A cleaned file as a command line gets it.
pub struct Released {
    /// What it is.
    pub kind: FileKind,
    /// The file.
    pub bytes: Bytes,
    /// What it must be called, where its own name does not fit.
    pub name: Option<String>,
    /// A sentence for people.
    pub summary: String,
    /// What was done, as the API tells it.
    pub data: Value,
}

/// What a command line wants of a file.
#[derive(Clone, Debug)]
pub struct CleaningRequest {
    /// What is to be done.
    pub options: Options,
    /// From which score on links are defanged.
    pub threshold: u8,
    /// Whether what cannot be scanned is refused.
    pub block_unable: bool,
    /// What opens encrypted files.
    pub password: Option<Secret<String>>,
}

/// Children of this binary with the limits of the settings.
pub(super) fn sandbox(settings: &settings::Sanitize) -> Sandbox {
    let limits = &settings.limits;
    let program = PathBuf::from("/proc/self/exe");
    let program = if program.exists() { program } else { std::env::current_exe().unwrap_or(program) };
    let unfolded = limits.unfolded.bytes() as u64;
    let limits = SandboxLimits {
        children: limits.processes.get(),
        memory: limits.memory.bytes() as u64,
        time: limits.time.get(),
        bounds: UnfoldBounds { depth: limits.depth, bytes: unfolded, ..UnfoldBounds::default() },
        output: limits.unfolded.bytes(),
        confined: settings.sandbox == SandboxMode::Required,
    };
    Sandbox::new(program, limits)
}

/// That processes which read files have as little as the settings want.
///
/// # Errors
/// A kernel that cannot take away what they must not have.
pub(super) fn enclosed(mode: SandboxMode) -> Result<(), AppError> {
    match (mode, confinement::probe()) {
        (_, Confinement { paths: true, calls: true }) => Ok(()),
        (SandboxMode::Required, _) => {
            let why = "sanitize.sandbox is \"required\", and this kernel has no Landlock (Linux 5.13) or no seccomp";
            Err(AppError::Sanitize(why.to_owned()))
        }
        (SandboxMode::Available, Confinement { paths, calls }) => {
            tracing::warn!(target: "portcullis::sanitize", landlock = paths, seccomp = calls,
                "processes that read files keep what this kernel cannot take away");
            Ok(())
        }
    }
}

/// What is released by the settings.
pub fn release_policy(settings: &settings::Sanitize) -> ReleasePolicy {
    ReleasePolicy {
        pass_unknown: settings.unknown == UnknownFiles::Pass,
        scripts: match settings.scripts {
            ScriptFiles::Refuse => ScriptPolicy::Refuse,
            ScriptFiles::Text => ScriptPolicy::Text,
            ScriptFiles::Pass => ScriptPolicy::Pass,
        },
        unread: match settings.on_unread {
            UnreadFiles::Note => UnreadPolicy::Note,
            UnreadFiles::Refuse => UnreadPolicy::Refuse,
        },
    }
}

/// Cleans files on the command line, one after the other.
pub struct Cleaner {
    runtime: Runtime,
    cleaning: FileCleaning,
}

impl Cleaner {
    /// What cleans as the configuration says.
    ///
    /// # Errors
    /// A configuration that cannot be used, and a kernel that lacks what it wants.
    pub fn new(config: &Config, wish: CleaningRequest) -> Result<Self, AppError> {
        let clock: SharedClock = Arc::new(SystemClock);
        let providers = ConfiguredProviders::new(&config.sanitize, &clock)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| AppError::Io(format!("the runtime: {error}")))?;
        enclosed(config.sanitize.sandbox)?;
        Ok(Self { runtime, cleaning: FileCleaning::new(config, &providers, wish)? })
    }

    /// The largest file, in bytes.
    pub fn most(&self) -> u64 {
        self.cleaning.most as u64
    }

    /// Cleans one file.
    ///
    /// # Errors
    /// No process to read it in.
    pub fn clean(&self, file: ScanItem<'_>) -> Result<CleaningOutcome, AppError> {
        self.runtime.block_on(self.cleaning.clean(file))
    }
}

/// What files are cleaned with, all by the same wish.
pub(super) struct FileCleaning {
    sandbox: Sandbox,
    wish: CleaningRequest,
    scanner: Arc<dyn Scanner>,
    urls: Option<Arc<dyn Reputation>>,
    domains: Option<Arc<dyn Reputation>>,
    redactor: Option<Redactor>,
    most: usize,
}

impl FileCleaning {
    /// By the settings, with those whom they ask.
    ///
    /// # Errors
    /// A configuration that cannot be used.
    pub(super) fn new(
        config: &Config,
        asked: &ConfiguredProviders,
        wish: CleaningRequest,
    ) -> Result<Self, AppError> {
        let disabled =
            || AppError::Sanitize(format!("no engine is behind the provider `{DEFAULT_PROVIDER}`"));
        let intel = |of| asked.intel.get(of, DEFAULT_PROVIDER).ok();
        Ok(Self {
            sandbox: sandbox(&config.sanitize),
            scanner: asked.scan.get(DEFAULT_PROVIDER).map_err(|_| disabled())?,
            urls: intel(IndicatorType::Urls),
            domains: intel(IndicatorType::Domains),
            redactor: redactor(config, wish.options.redaction)?,
            most: config.sanitize.limits.file.bytes(),
            wish,
        })
    }

    /// Cleans one file.
    ///
    /// # Errors
    /// No process to read it in.
    pub(super) async fn clean(&self, file: ScanItem<'_>) -> Result<CleaningOutcome, AppError> {
        let Self { wish, most, .. } = self;
        if file.bytes.len() > *most {
            let why = format!("it is larger than sanitize.limits.file, {most} bytes");
            let data = json!({ "reason": "too_large" });
            return Ok(CleaningOutcome::Refused(CleaningRefusal { kind: None, why: why.into(), data }));
        }
        let providers = ScanProviders {
            scanner: Arc::clone(&self.scanner),
            block_unable: wish.block_unable,
            urls: self.urls.clone(),
            domains: self.domains.clone(),
            defang: wish.options.links,
            threshold: wish.threshold,
            redactor: self.redactor.clone().map(|redactor| (redactor, Keys::default())),
            redaction: wish.options.redaction,
            password: wish.password.clone(),
        };
        let asked = sanitize::SanitizeTerms {
            options: wish.options,
            urls: LookedUp::by(providers.urls.as_deref()),
            domains: LookedUp::by(providers.domains.as_deref()),
            entities: &Entities::default(),
        };
        match sanitize(&self.sandbox, wish.options, file, providers).await {
            Ok(sanitized) => Ok(CleaningOutcome::Released(Released {
                kind: sanitized.cleaned.kind,
                summary: summary(&asked, &sanitized),
                data: data(&asked, &sanitized),
                bytes: sanitized.cleaned.bytes,
                name: sanitized.name,
            })),
            Err(SandboxError::Start(error)) => {
                Err(AppError::Io(format!("a process to read the file in: {error}")))
            }
            Err(error) => {
                let kind = match &error {
                    SandboxError::Rejected(refusal) => refusal.kind,
                    _ => None,
                };
                Ok(CleaningOutcome::Refused(CleaningRefusal {
                    kind,
                    why: why(&error).into(),
                    data: refusal(&error),
                }))
            }
        }
    }
}

fn redactor(config: &Config, redaction: RedactionMode) -> Result<Option<Redactor>, AppError> {
    if redaction == RedactionMode::Off {
        return Ok(None);
    }
    let rules = &config.catalogue;
    let detector = Detector::new(rules, &RuleSelection::defaults(rules));
    let detector = detector.map_err(|error| AppError::Rules(error.to_string()))?;
    Ok(Some(Redactor::new(detector.allowing(config.allow.clone()), MethodPlan::all(Method::Replace))))
}
