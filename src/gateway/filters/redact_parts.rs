//! What the redact filter is made from.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::api::analyzers::Analyzers;
use crate::api::sanitize::Documents;
use crate::api::{CpuPool, DistinctLimit};
use crate::gateway::filters::file_policy::FilePolicy;
use crate::gateway::filters::head_values::HeadValues;
use crate::gateway::filters::remember::RememberPolicy;
use crate::gateway::filters::scope::TweakScope;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::llm::CompiledProtocol;
use crate::redact::{FindingsCache, RedactionCounts, Redactor, RestoreInUrls, UrlPolicy};
use crate::vault::Vault;

/// What happens in answers.
#[derive(Clone)]
pub enum AnswerMode {
    /// Nothing.
    Off,
    /// Surrogates issued in the request become the caller's own values again; and what the model says by itself may be
    /// redacted.
    Restore(Option<Invented>),
    /// What is found is redacted, one way.
    Redact(Redactor),
}

impl AnswerMode {
    /// What looks through answers.
    pub fn redactor(&self) -> Option<&Redactor> {
        match self {
            Self::Off => None,
            Self::Restore(invented) => invented.as_ref().map(|invented| &invented.redactor),
            Self::Redact(redactor) => Some(redactor),
        }
    }
}

/// What becomes of values in answers that were not issued in the request: the model's own.
#[derive(Clone)]
pub struct Invented {
    /// Redacts them.
    pub redactor: Redactor,
    /// Also in answers of no LLM protocol, which may be about anybody.
    pub everywhere: bool,
}

/// In which URLs values are restored.
#[derive(Clone, Copy, Debug)]
pub struct UrlRules {
    /// Within texts; `None`: where a model wrote them, those of hosts that stand in the request, else all.
    pub texts: Option<RestoreInUrls>,
    /// Within arguments of tools.
    pub arguments: RestoreInUrls,
}

impl UrlRules {
    /// The rules for an answer of this protocol; `kept` takes how many values were not restored.
    pub(super) fn policy(self, protocol: Option<&CompiledProtocol>, kept: &Arc<AtomicU64>) -> UrlPolicy {
        let by_model = protocol.is_some_and(|protocol| protocol.protocol.is_of_model());
        let otherwise = if by_model { RestoreInUrls::SameHost } else { RestoreInUrls::On };
        let Self { texts, arguments } = self;
        UrlPolicy { texts: texts.unwrap_or(otherwise), arguments, kept: Arc::clone(kept) }
    }
}

/// What the filter is made from.
pub struct RedactParts {
    /// Rewrites requests; `None`: they pass as they are.
    pub requests: Option<Redactor>,
    /// What it found before.
    pub findings: Arc<FindingsCache>,
    /// Who else is asked what requests hold.
    pub analyzers: Option<Analyzers>,
    /// What happens in answers.
    pub answers: AnswerMode,
    /// In which URLs of restored answers values are.
    pub urls: UrlRules,
    /// Whether requests get surrogates, which takes the vault's key.
    pub encrypts: bool,
    /// What happens to bodies that cannot be scanned.
    pub unknown: UnscannedPolicy,
    /// Whether requests pass that open a way to the provider past us.
    pub direct: bool,
    /// What happens to files in them.
    pub files: FilePolicy,
    /// Who redacts documents.
    pub documents: Documents,
    /// The protocols compiled.
    pub protocols: Vec<Arc<CompiledProtocol>>,
    /// The largest request that is collected, in bytes.
    pub collected: usize,
    /// Which values of heads are redacted too.
    pub head: HeadValues,
    /// What happens to requests when a budget of redaction is used up.
    pub exhausted: UnscannedPolicy,
    /// Whether answers say in their heads what was found in their requests.
    pub findings_header: bool,
    /// Where findings in requests are counted.
    pub counts: Arc<RedactionCounts>,
    /// Where findings in answers are counted.
    pub answer_counts: Arc<RedactionCounts>,
    /// The names of the rules that they are of, in order.
    pub rules: Arc<[String]>,
    /// Keeps the key of surrogates.
    pub vault: Arc<Vault>,
    /// Within what they are the same.
    pub tweak: TweakScope,
    /// What is remembered of surrogates, if anything.
    pub remember: Option<RememberPolicy>,
    /// How many different values a caller may have encrypted.
    pub distinct: DistinctLimit,
    /// Places for long documents.
    pub cpu: CpuPool,
}
