//! A chat request as a route to an LLM treats it: what the model sees, what one that plays along answers, and what the program gets.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bytes::BytesMut;
use serde::Serialize;
use serde_json::Value;

use crate::base::budget::MemoryBudget;
use crate::base::checkpoint::Checkpoint;
use crate::console::playground::engines::PlaygroundEngine;
use crate::console::playground::look::{LookError, not_json};
use crate::console::playground::redacting::redactor;
use crate::console::playground::request::{MethodChoice, PlaygroundChoice, PlaygroundRequest, RedactedAs};
use crate::console::playground::script::{AnswerPiece, Script, SeenValue, TOOL};
use crate::console::playground::units::CodeUnits;
use crate::gateway::llm::{CompiledProtocol, EditorFactory, ProtocolChoice, WholeAnswer};
use crate::redact::{
    AnnotatedText, AnswerTreatment, FindingLimits, Keys, Method, Placement, RedactError, RedactionCounts,
    Redactor, RestoreInUrls, SurrogateMap, UrlPolicy,
};
use crate::stream::Rewriter;
use crate::stream::json::Decoded;

/// What an answer is written in, in bytes, at the most.
const HELD: usize = 16 << 20;

/// What a marked place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PlaceKind {
    /// The caller's own value.
    Own,
    /// What stands for one.
    Surrogate,
    /// The caller's own value, which is back.
    Restored,
    /// A value that the model made up.
    Invented,
    /// One that was, and is masked.
    Masked,
}

/// A place in a text, in UTF-16 code units.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct ChatMark {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: PlaceKind,
    /// The rule, where it is known.
    pub(super) rule: String,
}

/// A text, and what is in it.
#[derive(Debug, Serialize)]
pub(super) struct ChatText {
    pub(super) label: &'static str,
    pub(super) text: String,
    pub(super) marks: Vec<ChatMark>,
}

/// What becomes of a chat request and of its answer.
#[derive(Debug, Default, Serialize)]
pub(super) struct ChatPreview {
    /// Of the request as it is sent.
    pub(super) sent: Vec<ChatMark>,
    /// The request as the model sees it.
    pub(super) seen: Vec<ChatText>,
    /// What it answers.
    pub(super) answer: Vec<ChatText>,
    /// What the program gets.
    pub(super) got: Vec<ChatText>,
    /// What is wrong with the request, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

/// Has a request redacted, answered, and the answer restored.
///
/// # Errors
/// [`LookError`].
pub(super) fn chat(
    engine: &PlaygroundEngine,
    wanted: &PlaygroundRequest,
    keys: &Keys,
    checkpoint: &Checkpoint,
) -> Result<ChatPreview, LookError> {
    let wrong = |why: &str| LookError::Wrong(why.to_owned());
    let ProtocolChoice::Always(protocol) = ProtocolChoice::OPENAI else {
        return Err(wrong("the protocol of chats is not there"));
    };
    let protocol =
        CompiledProtocol::new(protocol).map_err(|_| wrong("the protocol of chats is not there"))?;
    // A chat goes along a route.
    let choice = PlaygroundChoice { road: RedactedAs::Route, ..wanted.choice.clone() };
    let chat = Chat { engine, choice, keys, checkpoint, protocol: Arc::new(protocol) };
    chat.run(&wanted.text)
}

struct Chat<'c> {
    engine: &'c PlaygroundEngine,
    choice: PlaygroundChoice,
    keys: &'c Keys,
    checkpoint: &'c Checkpoint,
    protocol: Arc<CompiledProtocol>,
}

impl Chat<'_> {
    fn run(&self, request: &str) -> Result<ChatPreview, LookError> {
        if let Some(problem) = problem(request) {
            return Ok(ChatPreview { problem: Some(problem), ..ChatPreview::default() });
        }
        let redactor = self.redactor(self.choice.method.method());
        let done = redactor.document_marked(
            request.as_bytes(),
            &self.protocol.request,
            self.keys,
            FindingLimits::default(),
        );
        let (redacted, undo) = match done {
            Ok(done) => done,
            Err(RedactError::Json(error)) => {
                return Ok(ChatPreview { problem: Some(not_json(request, error)), ..ChatPreview::default() });
            }
            Err(error) => return Err(error.into()),
        };
        let AnnotatedText { value, places } = redacted.into_value();
        let seen = String::from_utf8_lossy(&value).into_owned();
        let script = Script::of(&values(&seen, &places));
        let answer = script.answer();
        let got = self.restored(&answer, undo)?;
        Ok(ChatPreview {
            sent: marks(request, places.iter().map(|place| (place, &place.before)), PlaceKind::Own),
            answer: texts(&script, &answer, false),
            got: texts(&script, &got, true),
            seen: vec![ChatText {
                label: "The request",
                marks: marks(&seen, places.iter().map(|place| (place, &place.after)), PlaceKind::Surrogate),
                text: seen,
            }],
            problem: None,
        })
    }

    fn redactor(&self, method: Method) -> Redactor {
        redactor(self.engine, &self.choice, method, self.checkpoint)
    }

    /// The answer as the program gets it.
    fn restored(&self, answer: &str, undo: SurrogateMap) -> Result<String, LookError> {
        let counts = Arc::new(RedactionCounts::new(self.engine.catalogue.rules().count()));
        let (keys, undo) = (self.keys.clone(), Arc::new(undo));
        let urls = UrlPolicy { texts: RestoreInUrls::SameHost, ..UrlPolicy::default() };
        let editor: EditorFactory = match self.choice.method {
            MethodChoice::Encrypt => {
                let redactor = self.redactor(Method::Mask);
                Arc::new(move || {
                    let (undo, keys, counts) = (Arc::clone(&undo), keys.clone(), Arc::clone(&counts));
                    let restored = Arc::new(AtomicU64::new(0));
                    let answering = AnswerTreatment::Both { undo, keys, counts, restored };
                    Box::new(redactor.answer(answering).with_urls(urls.clone()))
                })
            }
            choice => {
                let redactor = self.redactor(choice.method());
                Arc::new(move || {
                    let answering = AnswerTreatment::Mask { keys: keys.clone(), counts: Arc::clone(&counts) };
                    Box::new(redactor.answer(answering))
                })
            }
        };
        let mut whole = WholeAnswer::new(Arc::clone(&self.protocol), editor, &MemoryBudget::process(HELD));
        let mut out = BytesMut::new();
        let done = whole.write(answer.as_bytes(), &mut out).and_then(|()| whole.finish(&mut out));
        done.map_err(|_| LookError::Wrong("the answer cannot be restored".to_owned()))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

/// What makes a document no chat request; `None` where it may be one, or is no document.
fn problem(request: &str) -> Option<String> {
    let read: Value = serde_json::from_str(request).ok()?;
    let messages = read.get("messages").and_then(Value::as_array);
    match messages {
        Some(messages) if messages.iter().all(Value::is_object) => None,
        _ => Some("A chat request is an object with a list `messages`, each an object.".to_owned()),
    }
}

fn marks<'p>(
    text: &str,
    places: impl Iterator<Item = (&'p Placement, &'p std::ops::Range<usize>)> + Clone,
    kind: PlaceKind,
) -> Vec<ChatMark> {
    let units = CodeUnits::of(text, places.clone().flat_map(|(_, range)| [range.start, range.end]));
    let mark = |(place, range): (&Placement, &std::ops::Range<usize>)| ChatMark {
        start: units.at(range.start),
        end: units.at(range.end),
        kind,
        rule: place.rule.as_deref().unwrap_or_default().to_owned(),
    };
    places.map(mark).collect()
}

/// The distinct values that a model sees.
fn values(seen: &str, places: &[Placement]) -> Vec<SeenValue> {
    let mut values: Vec<SeenValue> = Vec::new();
    for place in places {
        let spelled = seen.get(place.after.clone()).unwrap_or_default();
        let text = Decoded::of(spelled.as_bytes()).text().to_owned();
        let known = values.iter().any(|value| value.text == text);
        if !known && place.rule.is_some() && values.len() < 64 {
            values.push(SeenValue { rule: place.rule.as_deref().unwrap_or_default().to_owned(), text });
        }
    }
    values
}

/// The texts of an answer by the script, with its values marked.
fn texts(script: &Script, answer: &str, got: bool) -> Vec<ChatText> {
    let read: Value = serde_json::from_str(answer).unwrap_or_default();
    let at = |pointer: &str| read.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let message = at("/choices/0/message/content");
    let arguments = at("/choices/0/message/tool_calls/0/function/arguments");
    vec![
        ChatText { label: "Its message", marks: aligned(&script.message, &message, got), text: message },
        ChatText { label: TOOL, marks: aligned(&script.arguments, &arguments, got), text: arguments },
    ]
}

/// Where the values of a script are in a text that it became: its own words are in it as they are, so that what is between them is
/// what the values became.
fn aligned(pieces: &[AnswerPiece], text: &str, got: bool) -> Vec<ChatMark> {
    let mut found: Vec<(std::ops::Range<usize>, PlaceKind)> = Vec::new();
    let mut at = 0;
    for (n, piece) in pieces.iter().enumerate() {
        if let AnswerPiece::Words(words) = piece {
            if !text.get(at..).is_some_and(|rest| rest.starts_with(words.as_str())) {
                return Vec::new();
            }
            at += words.len();
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let end = match pieces.get(n + 1) {
            Some(next) => rest.find(next.text()),
            None => Some(rest.len()),
        };
        let Some(end) = end else { return Vec::new() };
        let becomes = rest.get(..end).unwrap_or_default();
        let kind = match (piece, got) {
            (AnswerPiece::Invented(own), true) if own != becomes => PlaceKind::Masked,
            (AnswerPiece::Invented(_), _) => PlaceKind::Invented,
            (own, true) if own.text() != becomes => PlaceKind::Restored,
            _ => PlaceKind::Surrogate,
        };
        found.push((at..at + end, kind));
        at += end;
    }
    let units = CodeUnits::of(text, found.iter().flat_map(|(range, _)| [range.start, range.end]));
    let mark = |(range, kind): &(std::ops::Range<usize>, PlaceKind)| ChatMark {
        start: units.at(range.start),
        end: units.at(range.end),
        kind: *kind,
        rule: String::new(),
    };
    found.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::secret::Secret;
    use crate::console::playground::examples;
    use crate::crypto::fpe::FpeKey;
    use crate::detect::{Allow, Catalogue, Detector, RuleSelection};

    fn chatted(request: &str, method: &str) -> ChatPreview {
        let catalogue = Catalogue::builtin().unwrap();
        let detector = Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap();
        let engine = PlaygroundEngine {
            detector,
            route: None,
            catalogue,
            allow: Allow::default(),
            address: String::new(),
        };
        let wanted = json!({"text": request, "as": "chat", "choice": {
            "road": "call", "route": null, "method": method, "only": null, "pass": [], "sets": ["DEFAULT"], "threshold": null, "rules": "", "model": false,
        }});
        let wanted = PlaygroundRequest::read(wanted.to_string().as_bytes()).unwrap();
        let key = Arc::new(FpeKey::new(Secret::new(vec![7; 32])).unwrap());
        let keys = Keys { fpe: Some(key), ..Keys::default() };
        chat(&engine, &wanted, &keys, &Checkpoint::default()).unwrap()
    }

    fn of(text: &ChatText, kind: PlaceKind) -> Vec<String> {
        let units: Vec<u16> = text.text.encode_utf16().collect();
        let marks = text.marks.iter().filter(|mark| mark.kind == kind);
        marks.map(|mark| String::from_utf16(&units[mark.start..mark.end]).unwrap()).collect()
    }

    #[test]
    fn what_the_model_repeats_comes_back_and_what_it_makes_up_does_not() {
        let chatted = chatted(examples::CHAT, "encrypt");
        assert!(chatted.problem.is_none());
        let (seen, message, got) = (&chatted.seen[0], &chatted.answer[0], &chatted.got[0]);
        for own in ["Elena", "elena.ruiz@harbour-post.com", "4111"] {
            assert!(examples::CHAT.contains(own), "{own}");
            assert!(!seen.text.contains(own) && !message.text.contains(own), "{own}");
            assert!(got.text.contains(own), "{own}: {}", got.text);
        }
        let restored = of(got, PlaceKind::Restored);
        for form in ["Elena", "ELENA RUIZ", "elena.ruiz@harbour-post.com"] {
            assert!(restored.iter().any(|text| text == form), "{form}: {restored:?}");
        }
        assert_eq!(of(message, PlaceKind::Invented).len(), 1);
        let masked = of(got, PlaceKind::Masked);
        assert!(masked.len() == 1 && masked[0].chars().all(|c| c == '*'), "{masked:?}");
        let arguments: Value = serde_json::from_str(&chatted.got[1].text).unwrap();
        assert!(arguments.to_string().contains("Elena Ruiz"), "{arguments}");
    }

    #[test]
    fn other_methods_have_no_way_back() {
        for method in ["mask", "replace", "hash"] {
            let chatted = chatted(examples::CHAT, method);
            assert!(!chatted.got[0].text.contains("Elena Ruiz"), "{method}");
            assert!(!chatted.seen[0].text.contains("Elena Ruiz"), "{method}");
        }
    }

    #[test]
    fn what_is_no_chat_request_is_told() {
        for (request, starts) in [
            ("", "Not JSON"),
            ("{\"messages\": [", "Not JSON at line 1"),
            ("{\"messages\": 7}", "A chat request is"),
            ("[]", "A chat request is"),
        ] {
            let problem = chatted(request, "encrypt").problem.unwrap_or_default();
            assert!(problem.starts_with(starts), "{request}: {problem}");
        }
    }
}
