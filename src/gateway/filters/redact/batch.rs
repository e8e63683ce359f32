//! [`BatchLines`]: batches of requests, one a line, each by the protocol of the path that it names (OpenAI API reference,
//! "The request input object"), or as its members say (Mistral's, "Batch"; Gemini's, "Batch API").

use std::sync::Arc;

use crate::base::path::RequestPath;
use crate::gateway::llm::{CompiledProtocol, Protocol, ProtocolChoice};
use crate::redact::TextFields;
use crate::stream::json::{Decoded, JsonToken, PathSet, PatternError, Segment, Treatment, Type, walk};

/// The members around a request.
const AROUND: [(&str, Treatment); 3] = [
    ("custom_id", Treatment::Typed(Type::Id)),
    ("method", Treatment::Typed(Type::Name)),
    ("url", Treatment::Text),
];

/// Lines that name no path.
const UNNAMED: [Unnamed; 2] = [
    Unnamed { beside: "custom_id", request: BODY, path: "/v1/chat/completions" },
    Unnamed { beside: "key", request: "request", path: "/models/m:generateContent" },
];

/// The member of a line that its request is, where it names a path.
const BODY: &str = "body";

/// How a line is known that names no path.
struct Unnamed {
    /// A member that it has.
    beside: &'static str,
    /// The member that its request is.
    request: &'static str,
    /// A path of that request's protocol.
    path: &'static str,
}

/// Which strings of a batch's lines are text.
pub(super) struct BatchLines {
    /// By the protocol of the request in the line.
    known: Vec<(&'static Protocol, PathSet)>,
    /// The same of [`UNNAMED`].
    unnamed: Vec<(&'static Unnamed, PathSet)>,
    everything: PathSet,
}

impl BatchLines {
    /// Of requests of these protocols.
    ///
    /// # Errors
    /// A pattern that is wrong, which would be a bug in the data.
    pub(super) fn new(protocols: &[Arc<CompiledProtocol>]) -> Result<Self, PatternError> {
        let around = PathSet::new(&AROUND, Treatment::Text)?;
        // Cheap: what a request is read by is shared.
        let with =
            |request: &str, of: &CompiledProtocol| around.then(&[])?.nested(request, Arc::clone(&of.request));
        let known = protocols.iter().map(|of| Ok((of.protocol, with(BODY, of)?)));
        let unnamed = UNNAMED.iter().filter_map(|unnamed| {
            let protocol = spoken_at(unnamed.path)?;
            let of = protocols.iter().find(|of| std::ptr::eq(of.protocol, protocol))?;
            Some(with(unnamed.request, of).map(|fields| (unnamed, fields)))
        });
        Ok(Self {
            known: known.collect::<Result<_, PatternError>>()?,
            unnamed: unnamed.collect::<Result<_, _>>()?,
            everything: PathSet::everything(),
        })
    }
}

impl TextFields for BatchLines {
    fn of(&self, line: &[u8]) -> &PathSet {
        let BatchLine { url, members } = BatchLine::of(line);
        let known = match url {
            Some(url) => spoken_at(&url).and_then(|protocol| {
                self.known.iter().find(|(known, _)| std::ptr::eq(*known, protocol)).map(|(_, fields)| fields)
            }),
            None => {
                let has = |name: &str| members.iter().any(|member| member == name);
                let mut unnamed = self.unnamed.iter();
                unnamed.find(|(line, _)| has(line.beside) && has(line.request)).map(|(_, fields)| fields)
            }
        };
        known.unwrap_or(&self.everything)
    }
}

/// The protocol of requests to a path.
fn spoken_at(path: &str) -> Option<&'static Protocol> {
    let path = RequestPath::parse(path.split(['?', '#']).next().unwrap_or_default()).ok()?;
    ProtocolChoice::Auto.of(&path)
}

/// The most members of a line whose names are kept; requests in batches have four.
const MOST_MEMBERS: usize = 16;

/// What a line says of itself.
#[derive(Default)]
struct BatchLine {
    /// The path that it names.
    url: Option<String>,
    /// The names of its members.
    members: Vec<String>,
}

impl BatchLine {
    fn of(line: &[u8]) -> Self {
        let mut said = Self::default();
        let walked = walk(line, &mut |path, leaf| {
            let text = || Decoded::of(line.get(leaf.span.clone()).unwrap_or_default()).text().to_owned();
            match leaf.token {
                JsonToken::Key if path.is_empty() && said.members.len() < MOST_MEMBERS => {
                    said.members.push(text())
                }
                JsonToken::Text if path.len() == 1 && path.segment(0) == Some(Segment::Key("url")) => {
                    said.url = Some(text());
                }
                _ => {}
            }
        });
        walked.map(|()| said).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_by_the_protocol_that_it_names() {
        let batch = BatchLines::new(&CompiledProtocol::all().unwrap()).unwrap();
        for (line, known) in [
            (r#"{"url":"/v1/chat/completions","body":{}}"#, true),
            (r#"{"body":{"url":"/v1/chat/completions"}}"#, false),
            (r#"{"\u0075rl":"/v1/chat\/completions?x=y"}"#, true),
            (r#"{"url":"/v1/unknown"}"#, false),
            (r#"{"url":7}"#, false),
            (r#"{"custom_id":"a","body":{"messages":[]}}"#, true),
            (r#"{"body":{},"custom_id":"a","url":"/v1/unknown"}"#, false),
            (r#"{"k\u0065y":"a","request":{"contents":[]}}"#, true),
            (r#"{"key":"a","body":{}}"#, false),
            (r#"{"a":{"custom_id":"a","body":{}}}"#, false),
            ("nonsense", false),
        ] {
            assert_eq!(!batch.of(line.as_bytes()).is_everything(), known, "{line}");
        }
    }

    #[test]
    fn a_request_in_a_line_is_read_as_it_is_alone() {
        let batch = BatchLines::new(&CompiledProtocol::all().unwrap()).unwrap();
        let tools = r#"{"tools":[{"function":{"name":"Jordan","description":"TEXT","parameters":{"enum":["KEEP"],
            "properties":{"KEEP":{"default":"TEXT"}}}}},{"authorization":"KEEP"}],"messages":[{"enum":["TEXT"]}]}"#
            .replace('\n', "");
        for line in [
            format!(r#"{{"custom_id":"a","url":"/v1/chat/completions","body":{tools}}}"#),
            format!(r#"{{"body":{tools},"url":"/v1/responses"}}"#),
            format!(r#"{{"custom_id":"a","body":{tools}}}"#),
            format!(r#"{{"key":"a","request":{tools}}}"#),
        ] {
            let (fields, mut seen) = (batch.of(line.as_bytes()), 0);
            walk(line.as_bytes(), &mut |path, leaf| {
                let want = match line.get(leaf.span.clone()).unwrap_or_default().trim_matches('"') {
                    "TEXT" => Treatment::Text,
                    "KEEP" => Treatment::Skip,
                    _ => return,
                };
                seen += 1;
                assert_eq!(fields.take(path), want, "{path} of {line}");
            })
            .unwrap();
            assert_eq!(seen, 6);
        }
        // The same beside a request is text.
        let beside = br#"{"url":"/v1/responses","tools":[{"enum":["TEXT"]}],"body":{}}"#;
        let fields = batch.of(beside);
        walk(beside, &mut |path, leaf| {
            assert!(leaf.token != JsonToken::Text || fields.take(path) != Treatment::Skip, "{path}");
        })
        .unwrap();
    }
}
