//! What a route does to the bodies that pass it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::config::{At, Period};

const DAY: Duration = Duration::from_secs(86_400);

/// The longest time for which surrogates are remembered.
pub(crate) const MOST_REMEMBERED: Duration = DAY.saturating_mul(90);

/// `[routes.redact]`: bodies are scanned, and what is found does not pass as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redact {
    /// What happens to findings in requests.
    pub requests: At<Requests>,
    /// What happens in answers. `None`: `restore` where requests are encrypted, else what requests get; see
    /// [`Redact::answers`].
    pub answers: Option<At<Answers>>,
    /// What happens to values in restored answers that the request did not have. `None`: `mask` in LLM protocols, else
    /// `keep`.
    pub invented: Option<At<Invented>>,
    /// Where the words are in a body.
    pub protocol: Protocol,
    /// What happens to a body that cannot be scanned.
    pub unknown: Unknown,
    /// Only these rules, by short name. `None`: the default set.
    pub rules: Option<At<Vec<At<String>>>>,
    /// The default set and these; not together with `rules`.
    pub with: Vec<At<String>>,
    /// The default set without these; not together with `rules`.
    pub without: Vec<At<String>>,
    /// Rules that get another method than `requests` and `answers` say.
    pub methods: BTreeMap<At<String>, Method>,
    /// Within what equal values get equal surrogates.
    pub tweak: At<Tweak>,
    /// How long surrogates are remembered that were issued; see [`Redact::remember`].
    pub remember: Option<At<Period>>,
    /// The header that names a conversation; needs `tweak = "conversation"`.
    pub conversation_header: Option<At<String>>,
}

impl Redact {
    /// Whether any finding gets a surrogate.
    pub fn encrypts(&self) -> bool {
        *self.requests == Requests::Encrypt || self.methods.values().any(|method| *method == Method::Encrypt)
    }

    /// How long surrogates are remembered that were issued, 24 h if nothing is said: in the answer to a later request that
    /// names what the provider keeps of this one they are restored, and in its caller's own text they stay as they are.
    /// At most [`MOST_REMEMBERED`]; `None`: not at all.
    pub fn remember(&self) -> Option<Duration> {
        let said = self.remember.as_ref().map_or(DAY, |said| said.get());
        (self.encrypts() && !said.is_zero()).then_some(said)
    }

    /// What happens in answers, the default worked out.
    pub fn answers(&self) -> Answers {
        match (&self.answers, *self.requests) {
            (Some(said), _) => **said,
            (None, Requests::Encrypt) => Answers::Restore,
            (None, Requests::Replace) => Answers::Replace,
            (None, Requests::Mask) => Answers::Mask,
            (None, Requests::Off) => Answers::Off,
        }
    }
}

/// What happens to findings in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requests {
    /// A surrogate of the same format (FF1, SP 800-38G); can be restored in the answer.
    #[default]
    Encrypt,
    /// The rule's name in angle brackets.
    Replace,
    /// One `*` for each character.
    Mask,
    /// Requests are not scanned.
    Off,
}

/// Within what equal values get equal surrogates, always on one route: what their tweak is derived from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tweak {
    /// All of the route, which is known by its name.
    #[default]
    Route,
    /// One caller: by its token, else by the subject of its signed token, else by the key that it sends the provider, else
    /// by its address (of IPv6 the /64).
    Caller,
    /// One conversation: by the id that the provider gave it before its first turn, else by `conversation_header`, else as
    /// for `caller`.
    Conversation,
}

/// What happens in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// Surrogates issued in the request become the caller's own values again.
    Restore,
    /// One `*` for each character of a finding.
    Mask,
    /// The rule's name in angle brackets for each finding.
    Replace,
    /// Answers are not scanned.
    Off,
}

/// What happens to values that a model says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Invented {
    /// One `*` for each character.
    Mask,
    /// The rule's name in angle brackets.
    Replace,
    /// They pass.
    Keep,
}

/// What happens to one rule's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A surrogate of the same format.
    Encrypt,
    /// The rule's name in angle brackets.
    Replace,
    /// One `*` for each character.
    Mask,
    /// Counted and reported, left as it is.
    DetectOnly,
}

/// Where the words are in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// By path and content type: an LLM protocol where it is one, else generic.
    #[default]
    Auto,
    /// OpenAI's chat completions.
    OpenAi,
    /// Every string of JSON or NDJSON, every word of text.
    Generic,
}

/// What happens to a body whose content type or encoding cannot be scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// It does not pass.
    #[default]
    Refuse,
    /// It passes as it is, and the log says so.
    Pass,
}
