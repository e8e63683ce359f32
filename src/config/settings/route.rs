//! Which requests go where, and through which filters. Filters are tables under the route; their order belongs to
//! the code.

use std::net::Ipv6Addr;
use std::num::NonZeroU32;

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;
use crate::config::settings::{
    AddressBlock, Compression, Cors, HeaderRules, HttpMethod, Introspection, Jwt, Provider, Redact,
    RouteCertificate, Sign,
};
use crate::config::{Period, Size, Spanned};

/// One `[[routes]]`.
///
/// Routes are tried in the order of the file. A route matches if all of `host`, path and `method` do, and exactly
/// one of `upstream`, `respond` and `endpoint` says where it ends ([`Route::terminal`]).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Route {
    /// What logs and metrics call it; required, unique.
    pub name: Spanned<String>,
    /// Any of these hosts; empty is any host at all.
    pub host: Vec<Spanned<Host>>,
    /// A prefix of the path by whole segments; not together with `pattern`. See [`Route::path`].
    pub path: Option<Spanned<String>>,
    /// An expression for the whole path; not together with `path`.
    pub pattern: Option<Spanned<Pattern>>,
    /// Whether `path` is left out of what the upstream is asked for; needs `path`.
    pub strip_prefix: Spanned<bool>,
    /// What stands in the place of `path` in what the upstream is asked for; needs `path`, and not together with `strip_prefix`.
    pub replace_prefix: Option<Spanned<String>>,
    /// Any of these methods; empty is any method at all.
    pub method: Vec<Spanned<HttpMethod>>,
    /// Ends at the upstream of this name.
    pub upstream: Option<Spanned<String>>,
    /// Whose API it leads to.
    pub provider: Spanned<Provider>,
    /// Ends here, with a fixed answer.
    pub respond: Option<Spanned<Respond>>,
    /// Ends at our own endpoints.
    pub endpoint: Option<Spanned<Endpoint>>,
    /// Addresses that may call it, by themselves or in blocks. `None`: all.
    pub allow_clients: Option<Spanned<Vec<AddressBlock>>>,
    /// Addresses that may not, whatever `allow_clients` says.
    pub deny_clients: Option<Spanned<Vec<AddressBlock>>>,
    /// Which pages of other origins may call it from a browser; none unless the file has the table.
    pub cors: Option<Spanned<Cors>>,
    /// Who may pass; required with `upstream`. See [`Route::auth`].
    pub auth: Option<Spanned<Auth>>,
    /// Who may pass by a client certificate, and what the upstream is told of it.
    pub certificate: Option<Spanned<RouteCertificate>>,
    /// Who may pass by a signed token.
    pub jwt: Option<Spanned<Jwt>>,
    /// Where the authorization server is asked about tokens, with `auth = "introspection"`.
    pub introspection: Option<Spanned<Introspection>>,
    /// A signed token for the upstream.
    pub sign: Option<Spanned<Sign>>,
    /// Headers of what goes to the upstream; what the upstream itself sets counts for more.
    pub request_headers: Option<Spanned<HeaderRules>>,
    /// Headers of what callers get, errors among it.
    pub answer_headers: Option<Spanned<HeaderRules>>,
    /// Answers are compressed for callers that accept it; none are unless the file has the table.
    pub compression: Option<Spanned<Compression>>,
    /// How often.
    pub rate: Option<Spanned<Rate>>,
    /// The largest body that passes, collected or streamed. `None`: only the limits bound it.
    pub max_body: Option<Spanned<Size>>,
    /// Names of models, by `[models]`, that callers of this route may ask for beside those of the provider; needs
    /// `auth = "token"`: keys that callers send stay here.
    pub models: Vec<Spanned<String>>,
    /// Whether streams are asked for a report of tokens at their end (`stream_options.include_usage`) where their clients did
    /// not and usage is counted; it is taken out of the answer again. Default: where `provider` is one that is known to
    /// take it, `openai` or `azure`.
    pub ask_usage: Option<bool>,
    /// What WebSocket sessions may take up.
    pub websocket: Spanned<WebSocket>,
    /// Where callers of this route reach us, `https://host[:port][/path]`: URLs in answers that lead to the provider itself
    /// begin with it instead, and with the prefix that the route strips or replaces. `None`: `api.public_url`, else the host that a request asks for.
    pub public_url: Option<Spanned<String>>,
    /// What happens to the bodies.
    pub redact: Option<Spanned<Redact>>,
}

/// `[routes.websocket]`: bounds on upgraded connections, each of which is a session of messages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSocket {
    /// A message that is scanned, all its fragments together. Default 16 MiB; beyond it the session ends with code 1009.
    pub message: Spanned<Size>,
    /// How long neither side may send anything. Default 15 min; the session ends then with code 1001.
    pub idle: Spanned<Period>,
    /// How long a session may last. Default 1 d; it ends then with code 1001.
    pub longest: Spanned<Period>,
}

impl Default for WebSocket {
    fn default() -> Self {
        Self {
            message: Spanned::new(Size::mib(16)),
            idle: Spanned::new(Period::secs(15 * 60)),
            longest: Spanned::new(Period::secs(24 * 60 * 60)),
        }
    }
}

/// Where a route ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Terminal<'a> {
    /// The upstream of this name; checking has made sure there is one.
    Upstream(&'a str),
    /// A fixed answer.
    Respond(&'a Respond),
    /// Our own endpoints.
    Endpoint(Endpoint),
}

/// Which paths a route takes.
#[derive(Clone, Copy, Debug)]
pub enum PathMatch<'a> {
    /// Paths that are it or go on below it: `/v1` takes `/v1` and `/v1/x`, not `/v1x`; `/v1/` takes only what is
    /// below; `/` takes all.
    Prefix(&'a str),
    /// Paths that the expression matches from end to end.
    Pattern(&'a Pattern),
}

impl Route {
    /// Where it ends. Checking has made sure that exactly one of the three is said.
    pub fn terminal(&self) -> Terminal<'_> {
        match (&self.upstream, &self.respond, &self.endpoint) {
            (Some(name), _, _) => Terminal::Upstream(name),
            (None, Some(respond), _) => Terminal::Respond(respond),
            (None, None, endpoint) => Terminal::Endpoint(endpoint.as_deref().copied().unwrap_or_default()),
        }
    }

    /// Whether it goes on to somebody else: an upstream, or whoever has requests go through the chain.
    pub fn forwards(&self) -> bool {
        let others = [Endpoint::Host, Endpoint::ExtProc];
        self.upstream.is_some() || self.endpoint.as_ref().is_some_and(|endpoint| others.contains(endpoint))
    }

    /// Whether another proxy has its requests processed by it.
    pub fn is_processed(&self) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| **endpoint == Endpoint::ExtProc)
    }

    /// How many segments `path` has.
    pub fn prefix(&self) -> usize {
        let path = self.path.as_deref().map(String::as_str).unwrap_or_default();
        path.split('/').filter(|segment| !segment.is_empty()).count()
    }

    /// The guardrail that it ends at, if it does.
    pub fn guardrail(&self) -> Option<Endpoint> {
        self.endpoint.as_deref().copied().filter(|endpoint| endpoint.is_guardrail())
    }

    /// Which paths it takes; all, if the file does not say.
    pub fn path(&self) -> PathMatch<'_> {
        match (&self.pattern, &self.path) {
            (Some(pattern), _) => PathMatch::Pattern(pattern),
            (None, Some(prefix)) => PathMatch::Prefix(prefix),
            (None, None) => PathMatch::Prefix("/"),
        }
    }

    /// Who may pass the chain's own check. Checking has made sure that routes with an upstream say it; endpoints ask
    /// for a token themselves.
    pub fn auth(&self) -> Auth {
        self.auth.as_deref().copied().unwrap_or(Auth::None)
    }

    /// Whether callers are asked who they are before they pass: for a token, a signed token or a certificate.
    pub fn asks_callers(&self) -> bool {
        self.auth() != Auth::None || self.jwt.is_some() || self.needs_certificate()
    }

    /// Headers in which claims of the caller's token go on.
    pub fn claim_headers(&self) -> impl Iterator<Item = &Spanned<String>> {
        let of_jwt = self.jwt.iter().flat_map(|jwt| jwt.headers.values());
        of_jwt.chain(self.introspection.iter().flat_map(|table| table.headers.values()))
    }

    /// Whether only callers with a client certificate may pass.
    pub fn needs_certificate(&self) -> bool {
        self.certificate.is_some() || self.auth() == Auth::Certificate
    }
}

/// A host to match, lower-cased, without port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// This host.
    Exact(String),
    /// `*.suffix`: any host that ends in `.suffix`; holds the suffix without `*.`.
    Suffix(String),
}

/// Says that a text is not a host to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a host, write one such as \"example.com\" or \"*.example.com\", without a port")]
pub struct HostPatternError;

impl Host {
    /// Reads the written form; letters are lower-cased.
    pub fn parse(text: &str) -> Result<Self, HostPatternError> {
        let text = text.to_ascii_lowercase();
        let (name, make): (_, fn(String) -> Self) = match text.strip_prefix("*.") {
            Some(suffix) => (suffix, Self::Suffix),
            None => (text.as_str(), Self::Exact),
        };
        // RFC 3986 section 3.2.2, without what only percent-encoding could say.
        let bracketed = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        let name = name.strip_suffix('.').unwrap_or(name);
        let fine = match bracketed {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
            }
        };
        if fine { Ok(make(name.to_owned())) } else { Err(HostPatternError) }
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a host such as \"example.com\"", parse: Self::parse }.read(deserializer)
    }
}

/// A regular expression for a whole path.
#[derive(Clone, Debug)]
pub struct Pattern {
    written: String,
    whole: regex::Regex,
}

impl Pattern {
    /// As the file has it.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Compiled, anchored at both ends.
    pub fn regex(&self) -> &regex::Regex {
        &self.whole
    }

    /// Compiles.
    pub fn parse(written: &str) -> Result<Self, PatternError> {
        // By itself first: `a)|(b` would compile between the anchors and escape them.
        regex::Regex::new(written)?;
        let whole = regex::Regex::new(&format!(r"\A(?:{written})\z"))?;
        Ok(Self { written: written.to_owned(), whole })
    }
}

/// Says why a text is not a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a regular expression: {0}")]
pub struct PatternError(String);

impl From<regex::Error> for PatternError {
    fn from(error: regex::Error) -> Self {
        // The compiler draws the expression over several lines; the last one alone says what is wrong.
        let drawn = error.to_string();
        let why = drawn.lines().last().unwrap_or_default();
        Self(why.strip_prefix("error: ").unwrap_or(why).to_owned())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Pattern {}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a regular expression", parse: Self::parse }.read(deserializer)
    }
}

/// A fixed answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// 200 to 599.
    pub status: Spanned<u16>,
    /// Sent as `text/plain; charset=utf-8`. Default empty.
    #[serde(default)]
    pub body: String,
}

/// Which of our own endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Endpoint {
    /// The API's table of endpoints.
    #[default]
    Api,
    /// The server that embeds the chain; `portcullis serve` has no such end.
    Host,
    /// Another proxy, which carries exchanges itself and has them processed here: Envoy's external processing.
    #[serde(rename = "ext_proc")]
    ExtProc,
    /// The API of Presidio's analyzer and anonymizer, by the rules and methods of the route's `redact`.
    Presidio,
    /// What LiteLLM's proxy asks about requests and answers, by the same.
    LiteLlm,
    /// What agentgateway asks about them.
    AgentGateway,
    /// OpenAI's moderations.
    Moderations,
}

impl Endpoint {
    /// Whether it looks through texts for whoever asks, by what the route's `redact` says.
    pub fn is_guardrail(self) -> bool {
        matches!(self, Self::Presidio | Self::LiteLlm | Self::AgentGateway | Self::Moderations)
    }

    /// Whether it is asked about answers too.
    pub fn sees_answers(self) -> bool {
        matches!(self, Self::LiteLlm | Self::AgentGateway)
    }

    /// Whether its callers can say who they are in nothing but a URL. LiteLLM has a setting for a key of this guardrail, and tells
    /// its clients the URL where something fails.
    pub fn takes_token_in_path(self) -> bool {
        matches!(self, Self::Presidio | Self::AgentGateway)
    }
}

/// Who may pass a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// Whoever presents one of our API tokens that covers the route; it does not travel on.
    Token,
    /// Whoever's connection has proved a certificate that a `client_ca` has issued; see [`Route::certificate`].
    Certificate,
    /// Whoever has a token that its authorization server calls active; see [`Route::introspection`].
    Introspection,
    /// Anyone; the caller's own credentials travel on, a token of ours does not.
    None,
}

/// `[routes.rate]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How many requests, at least 1.
    pub requests: NonZeroU32,
    /// In which time. Default 1 s.
    #[serde(default = "second")]
    pub per: Spanned<Period>,
    /// Counted for each of what.
    #[serde(default)]
    pub by: Spanned<RateBy>,
}

fn second() -> Spanned<Period> {
    Spanned::new(Period::secs(1))
}

/// What a rate is counted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateBy {
    /// Each address that connects.
    #[default]
    Address,
    /// Each API token; needs `auth = "token"`.
    Token,
    /// Whomever each client certificate names; needs `auth = "certificate"`, or `[routes.certificate]`.
    Certificate,
}

#[cfg(test)]
mod tests {
    use super::{Host, Pattern};

    #[test]
    fn a_pattern_matches_the_whole_path() {
        let cases = [
            ("/a|/b", "/b", true),
            ("/a|/b", "/a/b", false),
            ("/v1/.*", "/v1/x/y", true),
            ("/v1/.*", "/x/v1/y", false),
            ("(?m)/a$", "/a\n/b", false),
        ];
        for (pattern, path, want) in cases {
            assert_eq!(Pattern::parse(pattern).unwrap().regex().is_match(path), want, "{pattern} {path}");
        }
        assert!(Pattern::parse("/a)|(/b").is_err());
    }

    #[test]
    fn hosts_are_names_or_suffixes_in_small_letters() {
        let cases = [
            ("Example.COM", Some(Host::Exact("example.com".to_owned()))),
            ("*.Example.com", Some(Host::Suffix("example.com".to_owned()))),
            ("[::1]", Some(Host::Exact("[::1]".to_owned()))),
            ("example.com.", Some(Host::Exact("example.com".to_owned()))),
            ("*", None),
            ("*.", None),
            ("a.*", None),
            ("a:80", None),
            ("[::g]", None),
        ];
        for (text, want) in cases {
            assert_eq!(Host::parse(text).ok(), want, "{text}");
        }
    }
}
