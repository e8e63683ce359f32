//! What a route does to the bodies that pass it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::config::{Period, Spanned};
use crate::detect::{Catalogue, Rule, RuleId, RuleSelection, RuleSet};
use crate::gateway::filters::FileTreatment;
use crate::gateway::layer::UnscannedPolicy;
use crate::redact::RestoreInUrls;

const DAY: Duration = Duration::from_secs(86_400);

/// The longest time for which surrogates are remembered.
pub(crate) const MOST_REMEMBERED: Duration = DAY.saturating_mul(90);

/// `[routes.redact]`: bodies are scanned, and what is found does not pass as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redact {
    /// What happens to findings in requests.
    pub requests: Spanned<Requests>,
    /// What happens in answers. `None`: `restore` where requests are encrypted, else what requests get; see
    /// [`Redact::answers`].
    pub answers: Option<Spanned<Answers>>,
    /// What happens to values in restored answers that the request did not have. `None`: `mask` in LLM protocols, else
    /// `keep`.
    pub invented: Option<Spanned<Invented>>,
    /// In which URLs, within texts of answers, values are restored. `None`: `same_host` where a model wrote the
    /// answer, else `on`.
    pub restore_in_urls: Option<Spanned<RestoreInUrls>>,
    /// The same of arguments of tools. `None`: `on`.
    pub restore_in_tool_urls: Option<Spanned<RestoreInUrls>>,
    /// Where the words are in a body.
    pub protocol: Spanned<ProtocolSetting>,
    /// What happens to a body that cannot be scanned.
    pub unknown: UnscannedPolicy,
    /// What happens to requests for sessions beside us: Realtime over WebRTC or SIP, and keys with which a client calls
    /// the provider itself.
    pub direct: Direct,
    /// What happens to files in requests that are neither text nor media: documents, archives, and what nobody knows. `None`:
    /// they pass where `unknown` bodies do; see [`Redact::files`].
    pub files: Option<Spanned<FileTreatment>>,
    /// What happens to images, sound and films in requests.
    pub media: Media,
    /// Which of `[analyzers]` are asked about the texts of requests.
    pub analyzers: Vec<Spanned<String>>,
    /// Only these rules, or sets of rules, by short name. `None`: the default set.
    pub rules: Option<Spanned<Vec<Spanned<String>>>>,
    /// The default set and these rules, or sets of rules; not together with `rules`.
    pub with: Vec<Spanned<String>>,
    /// The default set without these rules, or sets of rules; what `with` names counts for more. Not together with `rules`.
    pub without: Vec<Spanned<String>>,
    /// Rules, and sets of rules, that get another method than `requests` and `answers` say; a rule counts for more than a
    /// set, and a set that is named later for more than one before.
    pub methods: BTreeMap<Spanned<String>, Spanned<Methods>>,
    /// From which score on a rule's findings count on this route, in place of its own threshold; no lower than that.
    pub thresholds: BTreeMap<Spanned<String>, Spanned<f32>>,
    /// What happens to addresses and host names that are nobody's.
    pub special_use: SpecialUse,
    /// What happens to names that name nobody. `None`: they pass where requests are encrypted, else they are redacted.
    pub public_names: Option<PublicNames>,
    /// Whether values in the query are redacted as the body's are, but for credentials.
    pub query: bool,
    /// Headers whose values are.
    pub headers: Vec<Spanned<String>>,
    /// Cookies whose values are.
    pub cookies: Vec<Spanned<String>>,
    /// What happens to a request when a budget of redaction is used up.
    pub exhausted: UnscannedPolicy,
    /// Whether answers say in a header what was found in their requests: rules and counts.
    pub findings_header: bool,
    /// Within what equal values get equal surrogates.
    pub tweak: Spanned<TweakScopeSetting>,
    /// How long surrogates are remembered that were issued; see [`Redact::remember`].
    pub remember: Option<Spanned<Period>>,
    /// The header that names a conversation; needs `tweak = "conversation"`.
    pub conversation_header: Option<Spanned<String>>,
}

/// The rule of this name, or those of the set of this name.
fn rules_of(name: &Spanned<String>, catalogue: &Catalogue) -> Option<Vec<RuleId>> {
    if let Some(rule) = catalogue.find(name) {
        return Some(vec![rule]);
    }
    RuleSelection::sets(catalogue, [name.as_str()]).ok().map(|set| set.iter().collect())
}

impl Redact {
    /// The rules that are looked for, of those of `catalogue`: the default set with and without what is named, or only what is.
    ///
    /// # Errors
    /// The name of one that is not there.
    pub fn selection(&self, catalogue: &Catalogue) -> Result<RuleSelection, String> {
        let named = |names: &[Spanned<String>]| -> Result<Vec<RuleId>, String> {
            let one = |name| rules_of(name, catalogue).ok_or_else(|| name.to_string());
            Ok(names.iter().map(one).collect::<Result<Vec<_>, String>>()?.concat())
        };
        if let Some(rules) = &self.rules {
            return Ok(named(rules)?.into_iter().collect());
        }
        let mut selection = RuleSelection::defaults(catalogue);
        for rule in named(&self.without)? {
            selection = selection.without(rule);
        }
        for rule in named(&self.with)? {
            selection = selection.with(rule);
        }
        Ok(selection)
    }

    /// The method that a rule has one way, by its own name, or else by the last of its sets.
    pub fn own_method(&self, rule: &Rule, way: fn(&Methods) -> Option<Method>) -> Option<Method> {
        let mut by_set: Option<(usize, Method)> = None;
        for (named, methods) in &self.methods {
            let Some(method) = way(methods) else { continue };
            if named.as_str() == rule.name() {
                return Some(method);
            }
            let start = named.span().start;
            if RuleSet::named(named).is_some_and(|set| set.has(rule))
                && by_set.is_none_or(|(last, _)| last < start)
            {
                by_set = Some((start, method));
            }
        }
        by_set.map(|(_, method)| method)
    }

    /// Whether any finding gets a surrogate.
    pub fn encrypts(&self) -> bool {
        *self.requests == Requests::Encrypt || self.methods.values().any(|own| own.any(Method::Encrypt))
    }

    /// Whether a finding in requests gets a surrogate, so that answers can be restored.
    pub fn restorable(&self) -> bool {
        let own = |own: &Spanned<Methods>| own.requests == Some(Method::Encrypt);
        *self.requests == Requests::Encrypt
            || *self.requests != Requests::Off && self.methods.values().any(own)
    }

    /// Whether any finding gets something that takes the vault's key: a surrogate or a digest.
    pub fn needs_key(&self) -> bool {
        self.encrypts()
            || *self.requests == Requests::Hash
            || self.methods.values().any(|own| own.any(Method::Hash))
    }

    /// How long surrogates are remembered that were issued, 24 h if nothing is said: in the answer to a later request that
    /// names what the provider keeps of this one they are restored, and in its caller's own text they stay as they are.
    /// At most 90 days; `None`: not at all.
    pub fn remember(&self) -> Option<Duration> {
        let said = self.remember.as_ref().map_or(DAY, |said| said.get());
        (self.encrypts() && !said.is_zero()).then_some(said)
    }

    /// What happens to files, the default worked out.
    pub fn files(&self) -> FileTreatment {
        match (&self.files, self.unknown) {
            (Some(said), _) => **said,
            (None, UnscannedPolicy::Refuse) => FileTreatment::Refuse,
            (None, UnscannedPolicy::Pass) => FileTreatment::Pass,
        }
    }

    /// What happens in answers, the default worked out.
    pub fn answers(&self) -> Answers {
        match (&self.answers, *self.requests) {
            (Some(said), _) => **said,
            (None, Requests::Encrypt) => Answers::Restore,
            (None, Requests::Replace) => Answers::Replace,
            (None, Requests::Mask) => Answers::Mask,
            (None, Requests::Hash) => Answers::Hash,
            (None, Requests::Block) => Answers::Block,
            (None, Requests::Report) => Answers::Report,
            (None, Requests::Allow) => Answers::Allow,
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
    /// A digest under the vault's key, the same for equal values.
    Hash,
    /// A request that holds one is refused; the error names rules.
    Block,
    /// Counted and logged, left as it is.
    Report,
    /// Not looked for, but for rules that have a method of their own.
    Allow,
    /// Requests are not scanned.
    Off,
}

/// Within what equal values get equal surrogates, always on one route: what their tweak is derived from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TweakScopeSetting {
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
    /// A digest under the vault's key, the same for equal values.
    Hash,
    /// An answer that holds one is refused, or ends before it; the error names rules.
    Block,
    /// Counted and logged, left as it is.
    Report,
    /// Not looked for, but for rules that have a method of their own.
    Allow,
    /// Answers are not scanned.
    Off,
}

/// What happens to requests that open a way to the provider past us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direct {
    /// They do not pass: what is said on such a way nobody scans.
    #[default]
    Refuse,
    /// They pass, and what they lead to is not scanned.
    Pass,
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
    /// A digest under the vault's key, the same for equal values.
    Hash,
    /// What holds one is refused; the error names rules.
    Block,
    /// Counted and logged, left as it is.
    #[serde(alias = "detect_only")]
    Report,
    /// Not looked for.
    Allow,
}

/// What happens to one rule's findings each way; `None`: what the rest gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    /// In requests.
    pub requests: Option<Method>,
    /// In answers.
    pub answers: Option<Method>,
}

impl Methods {
    fn any(self, method: Method) -> bool {
        self.requests == Some(method) || self.answers == Some(method)
    }
}

impl<'de> Deserialize<'de> for Methods {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrBoth)
    }
}

/// A method for both ways, or a table with one for each.
struct OneOrBoth;

impl<'de> Visitor<'de> for OneOrBoth {
    type Value = Methods;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a method, or a table of `requests` and `answers`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Methods, E> {
        let method = Method::deserialize(text.into_deserializer())?;
        Ok(Methods { requests: Some(method), answers: Some(method) })
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Methods, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Both {
            requests: Option<Method>,
            answers: Option<Method>,
        }
        let Both { requests, answers } = Both::deserialize(MapAccessDeserializer::new(table))?;
        Ok(Methods { requests, answers })
    }
}

/// What happens to addresses and host names that are nobody's: loopback, private and documentation addresses, masks of networks,
/// public resolvers, object identifiers, `localhost`, `*.internal`, `*.example` and the like, the `git@` of remote repositories and
/// `noreply@` at any host; where a model made them up, also to mail addresses at such names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecialUse {
    /// They pass, unless `methods` names their rule.
    #[default]
    Pass,
    /// They are redacted as all others.
    Redact,
}

/// What happens to names that name nobody: countries and states, large cities, persons of history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublicNames {
    /// They pass, unless `methods` names their rule.
    Pass,
    /// They are redacted as all others.
    Redact,
}

/// Where the words are in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProtocolSetting {
    /// By path and content type: an LLM protocol where it is one, else generic.
    #[default]
    Auto,
    /// OpenAI's chat completions.
    OpenAi,
    /// Every string of JSON or NDJSON, every word of text.
    Generic,
}

/// What happens to images, sound and films in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Media {
    /// They pass as they are, and are counted.
    #[default]
    Pass,
    /// They do not pass.
    Refuse,
}
