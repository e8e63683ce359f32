//! [`AuditEvent`]: what a line of the audit log says. No field is for text from a body, for a secret, or for
//! a request's path.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::base::clock::{Timestamp, micros};
use crate::base::id::{RequestId, TokenId};

/// Every text is cut at so many characters.
const CHARACTERS: usize = 256;

/// The most bytes that the labels take in a line, and the findings. With the limit on texts it keeps every
/// line below the length up to which lines are read back.
const MAP_BYTES: usize = 16 << 10;

/// Billionths of a dollar in a dollar.
const DOLLAR: u64 = 1_000_000_000;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditKind {
    /// A request that passed the gateway or was refused by it.
    Request,
    /// An administrative act, such as a token that was made, changed, rotated or revoked.
    Change,
}

impl AuditKind {
    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Change => "change",
        }
    }
}

/// How an event ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It was allowed and done.
    Passed,
    /// It was not allowed.
    Refused,
    /// It was allowed, and something went wrong.
    Failed,
}

impl Decision {
    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// The tokens that a language model counted, or that were estimated in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditTokens {
    /// Of the request.
    pub input: u64,
    /// Of the request, from a cache.
    pub cached_input: u64,
    /// Of the answer.
    pub output: u64,
    /// Of the answer, for reasoning.
    pub reasoning: u64,
    /// Whether the numbers are the gateway's estimate and not the provider's count.
    pub estimated: bool,
}

impl AuditTokens {
    fn json(self) -> String {
        let Self { input, cached_input, output, reasoning, estimated } = self;
        let prompt = format!(r#""input":{input},"cached_input":{cached_input}"#);
        format!(r#"{{{prompt},"output":{output},"reasoning":{reasoning},"estimated":{estimated}}}"#)
    }
}

/// One event. What is `None` or empty is left out of the line; texts are cut at 256 characters.
#[derive(Clone, Debug)]
pub struct AuditEvent<'a> {
    /// When it began.
    pub time: Timestamp,
    /// What it is about.
    pub kind: AuditKind,
    /// The request's id, where there was a request.
    pub request_id: Option<&'a RequestId>,
    /// The id of the API token that was proved.
    pub token: Option<&'a TokenId>,
    /// That token's name.
    pub token_name: Option<&'a str>,
    /// The subject of the JWT that was verified.
    pub subject: Option<&'a str>,
    /// The beginning of the fingerprint of the client certificate that was verified.
    pub certificate: Option<&'a str>,
    /// The caller's address, as far as the configuration lets it be shown.
    pub client: Option<&'a str>,
    /// What operators and callers put on a request, by name. Members that do not fit into 16 KiB of JSON are
    /// left out, and `labels_left_out` says how many those are.
    pub labels: &'a BTreeMap<String, String>,
    /// The method; empty when it is not a registered one.
    pub method: &'a str,
    /// The route's name; empty when none matched.
    pub route: &'a str,
    /// The name of the LLM protocol that the path belongs to.
    pub path_protocol: Option<&'a str>,
    /// The model that was asked for.
    pub model: Option<&'a str>,
    /// The name of the upstream that answered.
    pub upstream: Option<&'a str>,
    /// The HTTP status that was sent; 0 when there was none.
    pub status: u16,
    /// How it ended.
    pub decision: Decision,
    /// Why, as a fixed word such as `over_budget`.
    pub reason: Option<&'a str>,
    /// How many values each rule found. Members that do not fit into 16 KiB of JSON are left out, and
    /// `findings_left_out` says how many those are.
    pub findings: &'a BTreeMap<String, u64>,
    /// How many values were replaced, in request and answer together.
    pub redacted: u64,
    /// How many values were restored in the answer.
    pub restored: u64,
    /// The tokens that were used.
    pub tokens: Option<AuditTokens>,
    /// What they cost, in billionths of a US dollar. Written in dollars, exactly, as `cost_usd`.
    pub cost_nanodollars: Option<u64>,
    /// How long it took. Written in whole microseconds, as `took_us`.
    pub took: Duration,
    /// What was done in a change, such as `token.revoke`.
    pub act: Option<&'a str>,
    /// The id of what was changed.
    pub target: Option<&'a str>,
}

static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();
static NO_FINDINGS: BTreeMap<String, u64> = BTreeMap::new();

impl AuditEvent<'_> {
    /// An event of which nothing else is known; it passed.
    pub fn of(kind: AuditKind, time: Timestamp) -> Self {
        Self {
            time,
            kind,
            request_id: None,
            token: None,
            token_name: None,
            subject: None,
            certificate: None,
            client: None,
            labels: &NO_LABELS,
            method: "",
            route: "",
            path_protocol: None,
            model: None,
            upstream: None,
            status: 0,
            decision: Decision::Passed,
            reason: None,
            findings: &NO_FINDINGS,
            redacted: 0,
            restored: 0,
            tokens: None,
            cost_nanodollars: None,
            took: Duration::ZERO,
            act: None,
            target: None,
        }
    }

    pub(super) fn members(&self) -> EventMembers {
        let mut to = EventMembers::default();
        to.text("time", &self.time.iso8601());
        to.text("kind", self.kind.as_str());
        to.text("request_id", &self.request_id.map(ToString::to_string).unwrap_or_default());
        to.text("token", &self.token.map(ToString::to_string).unwrap_or_default());
        to.text("token_name", self.token_name.unwrap_or_default());
        to.text("subject", self.subject.unwrap_or_default());
        to.text("certificate", self.certificate.unwrap_or_default());
        to.text("client", self.client.unwrap_or_default());
        to.map("labels", &self.shown_labels());
        to.text("method", self.method);
        to.text("route", self.route);
        to.text("path_protocol", self.path_protocol.unwrap_or_default());
        to.text("model", self.model.unwrap_or_default());
        to.text("upstream", self.upstream.unwrap_or_default());
        to.number("status", u64::from(self.status));
        to.text("decision", self.decision.as_str());
        to.text("reason", self.reason.unwrap_or_default());
        to.map("findings", &self.shown_findings());
        to.number("redacted", self.redacted);
        to.number("restored", self.restored);
        if let Some(tokens) = self.tokens {
            to.json("tokens", &tokens.json());
        }
        if let Some(cost) = self.cost_nanodollars {
            to.text("cost_usd", &format!("{}.{:09}", cost / DOLLAR, cost % DOLLAR));
        }
        to.number("took_us", micros(self.took));
        to.text("act", self.act.unwrap_or_default());
        to.text("target", self.target.unwrap_or_default());
        to
    }

    /// Of names that are the same once they are cut, the last counts.
    fn shown_labels(&self) -> Vec<(&str, String)> {
        let labels: BTreeMap<&str, &str> =
            self.labels.iter().map(|(name, text)| (cut(name), cut(text))).collect();
        labels.into_iter().map(|(name, text)| (name, quoted(text))).collect()
    }

    /// Counts of names that are the same once they are cut are added up.
    fn shown_findings(&self) -> Vec<(&str, String)> {
        let mut findings: BTreeMap<&str, u64> = BTreeMap::new();
        for (rule, count) in self.findings {
            let sum = findings.entry(cut(rule)).or_default();
            *sum = sum.saturating_add(*count);
        }
        findings.into_iter().map(|(rule, count)| (rule, count.to_string())).collect()
    }
}

/// An event's members as JSON, in the order of a line, each with a comma before it.
#[derive(Default)]
pub(super) struct EventMembers(String);

impl EventMembers {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds what is JSON already.
    fn json(&mut self, name: &str, value: &str) {
        for piece in [",\"", name, "\":", value] {
            self.0.push_str(piece);
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.json(name, &quoted(text));
        }
    }

    fn number(&mut self, name: &str, number: u64) {
        self.json(name, &number.to_string());
    }

    /// Adds an object whose values are JSON already, as far as its members fit.
    fn map(&mut self, name: &str, members: &[(&str, String)]) {
        let (mut object, mut left_out) = (String::new(), 0);
        for (member, value) in members {
            let member = format!("{}:{value}", quoted(member));
            if object.len() + member.len() >= MAP_BYTES {
                left_out += 1;
                continue;
            }
            if !object.is_empty() {
                object.push(',');
            }
            object.push_str(&member);
        }
        if !object.is_empty() {
            self.json(name, &format!("{{{object}}}"));
        }
        if left_out > 0 {
            self.number(&format!("{name}_left_out"), left_out);
        }
    }
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(CHARACTERS).map(|(at, _)| at);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// A text as JSON, cut. Control characters are escaped, so that it cannot begin another line.
pub(super) fn quoted(text: &str) -> String {
    Value::from(cut(text)).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(event: &AuditEvent<'_>) -> Value {
        serde_json::from_str(&format!("{{\"seq\":1{}}}", event.members().as_str())).unwrap()
    }

    fn request() -> AuditEvent<'static> {
        AuditEvent::of(AuditKind::Request, Timestamp::from_millis(0))
    }

    #[test]
    fn every_member_is_in_the_line() {
        let (id, token) = (RequestId::from_random([1; 20]), TokenId::from_random([2; 20]));
        let labels = [("team".to_owned(), "a \"b\"\n\u{1b}c".to_owned())].into();
        let findings = [("EMAIL_ADDRESS".to_owned(), 3)].into();
        let event = AuditEvent {
            time: Timestamp::from_millis(1_663_781_073_105),
            kind: AuditKind::Change,
            request_id: Some(&id),
            token: Some(&token),
            token_name: Some("billing"),
            subject: Some("user@issuer"),
            certificate: Some("0123456789abcdef"),
            client: Some("192.0.2.0"),
            labels: &labels,
            method: "POST",
            route: "chat",
            path_protocol: Some("openai_chat"),
            model: Some("a-model"),
            upstream: Some("provider"),
            status: 429,
            decision: Decision::Refused,
            reason: Some("over_budget"),
            findings: &findings,
            redacted: 4,
            restored: 5,
            tokens: Some(AuditTokens { input: 6, cached_input: 7, output: 8, reasoning: 9, estimated: true }),
            cost_nanodollars: Some(123_400),
            took: Duration::from_micros(10),
            act: Some("token.revoke"),
            target: Some("pti_x"),
        };
        let expected = json!({
            "seq": 1,
            "time": "2022-09-21T17:24:33.105Z",
            "kind": "change",
            "request_id": id.to_string(),
            "token": token.to_string(),
            "token_name": "billing",
            "subject": "user@issuer",
            "certificate": "0123456789abcdef",
            "client": "192.0.2.0",
            "labels": { "team": "a \"b\"\n\u{1b}c" },
            "method": "POST",
            "route": "chat",
            "path_protocol": "openai_chat",
            "model": "a-model",
            "upstream": "provider",
            "status": 429,
            "decision": "refused",
            "reason": "over_budget",
            "findings": { "EMAIL_ADDRESS": 3 },
            "redacted": 4,
            "restored": 5,
            "tokens": { "input": 6, "cached_input": 7, "output": 8, "reasoning": 9, "estimated": true },
            "cost_usd": "0.000123400",
            "took_us": 10,
            "act": "token.revoke",
            "target": "pti_x",
        });
        assert_eq!(read(&event), expected);
        assert!(!event.members().as_str().contains(char::is_control));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let event = request();
        let expected = concat!(
            r#","time":"1970-01-01T00:00:00.000Z","kind":"request","status":0,"decision":"passed""#,
            r#","redacted":0,"restored":0,"took_us":0"#
        );
        assert_eq!(event.members().as_str(), expected);
    }

    #[test]
    fn costs_are_exact() {
        for (cost, expected) in [(0, "0.000000000"), (1, "0.000000001"), (12_000_000_034, "12.000000034")] {
            let event = AuditEvent { cost_nanodollars: Some(cost), ..request() };
            assert_eq!(read(&event)["cost_usd"], expected);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "ä".repeat(300);
        let event = AuditEvent { model: Some(&long), ..request() };
        assert_eq!(read(&event)["model"], "ä".repeat(256));
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn maps_are_bounded_and_say_what_is_missing() {
        let labels: BTreeMap<String, String> =
            (0..100).map(|n| (format!("{n:03}{}", "\u{1}".repeat(300)), "\u{2}".repeat(300))).collect();
        let event = AuditEvent { labels: &labels, ..request() };
        let line = read(&event);
        let kept = line["labels"].as_object().unwrap().len() as u64;
        assert_eq!((kept, line["labels_left_out"].as_u64()), (5, Some(95)));
        assert!(event.members().as_str().len() < MAP_BYTES + 1024);
    }
}
