//! [`PlaygroundRequest`]: what a script of ours asks, as JSON.

use serde::Deserialize;

use crate::detect::{RuleSet, Score};
use crate::redact::Method;

/// The longest text, in bytes.
pub(super) const TEXT: usize = 1 << 20;

/// The most values that somebody lets pass.
const PASSES: usize = 50;

/// The longest rule file, in bytes.
pub(super) const RULES: usize = 64 << 10;

/// What surrounds them in JSON, and how much longer they may be there than they are.
const SPELLED: usize = 6 * (TEXT + RULES) + (16 << 10);

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReadAs {
    /// As a text, as `/v1/redact` reads it.
    Text,
    /// As a JSON document, as a route reads the body of a request.
    Json,
    /// As the request of a chat, as a route to an LLM reads it.
    Chat,
}

/// What becomes of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MethodChoice {
    /// A surrogate of the same format.
    Encrypt,
    /// The name of the rule.
    Replace,
    /// Asterisks.
    Mask,
    /// A digest.
    Hash,
    /// Nothing.
    Report,
}

impl MethodChoice {
    /// The method.
    pub(super) fn method(self) -> Method {
        match self {
            Self::Encrypt => Method::Encrypt,
            Self::Replace => Method::Replace,
            Self::Mask => Method::Mask,
            Self::Hash => Method::Digest,
            Self::Report => Method::DetectOnly,
        }
    }

    /// What configurations call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Replace => "replace",
            Self::Mask => "mask",
            Self::Hash => "hash",
            Self::Report => "report",
        }
    }
}

/// As what a text is redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RedactedAs {
    /// As along a route, where it does not say otherwise: what is nobody's passes, and public names where it encrypts.
    Route,
    /// As by a call of the API.
    Call,
}

/// A value that shall pass where a rule finds it.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AllowedValue {
    pub(super) value: String,
    pub(super) rule: String,
}

/// Which rules, and what becomes of their findings.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaygroundChoice {
    /// As what it is redacted.
    pub(super) road: RedactedAs,
    /// As requests along this route of the configuration, which then says all but what passes here besides.
    pub(super) route: Option<String>,
    /// What becomes of findings.
    pub(super) method: MethodChoice,
    /// This rule alone; `None`: those of the sets.
    pub(super) only: Option<String>,
    /// What passes.
    pub(super) pass: Vec<AllowedValue>,
    /// The rules of these sets, which are there.
    pub(super) sets: Vec<String>,
    /// From which score on findings count, 0 to 1; `None`: as each rule says.
    pub(super) threshold: Option<f32>,
    /// Rules besides, as a rule file has them.
    pub(super) rules: String,
    /// Whether the names model reads too, where there is one.
    pub(super) model: bool,
}

impl PlaygroundChoice {
    /// Of a route nothing is chosen but the route, and chats go along one that is made for them.
    fn settled(self, read_as: ReadAs) -> Self {
        match self.route {
            _ if read_as == ReadAs::Chat => Self { route: None, ..self },
            None => self,
            Some(_) => Self {
                road: RedactedAs::Route,
                only: None,
                sets: Vec::new(),
                threshold: None,
                rules: String::new(),
                model: true,
                ..self
            },
        }
    }

    /// From which score on findings count.
    pub(super) fn floor(&self) -> Option<Score> {
        self.threshold.map(Score::new)
    }
}

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaygroundRequest {
    /// The text, or the document.
    pub(super) text: String,
    /// How it is read.
    #[serde(rename = "as")]
    pub(super) read_as: ReadAs,
    /// With what.
    pub(super) choice: PlaygroundChoice,
}

impl std::fmt::Debug for PlaygroundRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wanted({} bytes)", self.text.len())
    }
}

/// What is wrong with what was asked, for the person who did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WantedError {
    /// The text is too long.
    #[error("The text has {0} bytes; the playground takes 1 MiB (1,048,576 bytes).")]
    TextTooLong(usize),
    /// The rules are too long.
    #[error("Your rules have {0} bytes; the playground takes 64 KiB.")]
    RulesTooLong(usize),
    /// There is no such set.
    #[error("There is no rule set of that name.")]
    UnknownSet,
    /// Too much shall pass.
    #[error("The playground lets {PASSES} values pass.")]
    TooManyPass,
    /// No rules are chosen.
    #[error("Choose a rule set, or write a rule of your own.")]
    NoRules,
    /// Not from the page.
    #[error("This is not what the page sends. Load it anew.")]
    NotOurs,
}

impl PlaygroundRequest {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(body: &[u8]) -> Result<Self, WantedError> {
        if body.len() > SPELLED {
            return Err(WantedError::TextTooLong(body.len()));
        }
        let wanted: Self = serde_json::from_slice(body).map_err(|_| WantedError::NotOurs)?;
        let wanted = Self { choice: wanted.choice.settled(wanted.read_as), ..wanted };
        let choice = &wanted.choice;
        if wanted.text.len() > TEXT {
            return Err(WantedError::TextTooLong(wanted.text.len()));
        }
        if choice.rules.len() > RULES {
            return Err(WantedError::RulesTooLong(choice.rules.len()));
        }
        let known = choice.sets.len() <= RuleSet::all().len();
        if !known || choice.sets.iter().any(|set| RuleSet::named(set).is_none()) {
            return Err(WantedError::UnknownSet);
        }
        if choice.pass.len() > PASSES {
            return Err(WantedError::TooManyPass);
        }
        let looks = choice.route.is_some() || choice.only.is_some() || !choice.sets.is_empty();
        if !looks && choice.rules.trim().is_empty() {
            return Err(WantedError::NoRules);
        }
        if choice.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(WantedError::NotOurs);
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(change: impl FnOnce(&mut serde_json::Value)) -> Result<PlaygroundRequest, WantedError> {
        let choice = json!({
            "road": "route", "route": null, "method": "mask", "only": null, "pass": [], "sets": ["DEFAULT"], "threshold": null, "rules": "",
            "model": true,
        });
        let mut value = json!({"text": "a", "as": "text", "choice": choice});
        change(&mut value);
        PlaygroundRequest::read(value.to_string().as_bytes())
    }

    #[test]
    fn what_the_page_does_not_send_is_refused() {
        assert!(read(|_| {}).is_ok());
        let pass = json!({"value": "a", "rule": "PERSON"});
        let cases: [(&str, serde_json::Value, WantedError); 12] = [
            ("/as", json!("yaml"), WantedError::NotOurs),
            ("/text", json!(7), WantedError::NotOurs),
            ("/text", json!("x".repeat(TEXT + 1)), WantedError::TextTooLong(TEXT + 1)),
            ("/choice/rules", json!("x".repeat(RULES + 1)), WantedError::RulesTooLong(RULES + 1)),
            ("/choice/sets", json!(["NARNIA"]), WantedError::UnknownSet),
            ("/choice/sets", json!(vec!["PII"; 1000]), WantedError::UnknownSet),
            ("/choice/sets", json!([]), WantedError::NoRules),
            ("/choice/threshold", json!(1.5), WantedError::NotOurs),
            ("/choice/method", json!("block"), WantedError::NotOurs),
            ("/choice/road", json!("rail"), WantedError::NotOurs),
            ("/choice/pass", json!(vec![&pass; PASSES + 1]), WantedError::TooManyPass),
            ("/choice/pass", json!([{"value": "a"}]), WantedError::NotOurs),
        ];
        for (at, value, error) in cases {
            let got = read(|wanted| *wanted.pointer_mut(at).unwrap() = value);
            assert_eq!(got.err(), Some(error), "{at}");
        }
        assert_eq!(read(|wanted| wanted["more"] = json!(1)).err(), Some(WantedError::NotOurs));
        let along = read(|wanted| {
            for (at, value) in [("route", json!("chats")), ("sets", json!([])), ("threshold", json!(0.9))] {
                wanted["choice"][at] = value;
            }
        });
        assert_eq!(along.unwrap().choice.threshold, None);
        assert_eq!(
            PlaygroundRequest::read(&vec![b' '; SPELLED + 1]).err(),
            Some(WantedError::TextTooLong(SPELLED + 1))
        );
        assert_eq!(PlaygroundRequest::read(br#"{"text": "\ud800""#).err(), Some(WantedError::NotOurs));
    }

    #[test]
    fn what_is_debugged_has_no_text() {
        assert_eq!(format!("{:?}", read(|_| {}).unwrap()), "Wanted(1 bytes)");
    }
}
