//! [`BatchLines`]: batches of requests, one a line, each by the protocol of the path that it names (OpenAI API reference,
//! "The request input object").

use std::sync::Arc;

use crate::base::path::RequestPath;
use crate::gateway::llm::{CompiledProtocol, ProtocolChoice};
use crate::redact::Fields;
use crate::stream::json::{Decoded, PathSet, PatternError, Segment, Token, Treatment, Type, walk};

/// The members around a request.
const AROUND: [(&str, Treatment); 3] = [
    ("custom_id", Treatment::Typed(Type::Id)),
    ("method", Treatment::Typed(Type::Name)),
    ("url", Treatment::Text),
];

/// Which strings of a batch's lines are text.
pub(super) struct BatchLines {
    /// By the protocol of the request in the line.
    known: Vec<(Arc<CompiledProtocol>, PathSet)>,
    everything: PathSet,
}

impl BatchLines {
    /// Of requests of these protocols.
    ///
    /// # Errors
    /// A pattern that is wrong, which would be a bug in the data.
    pub(super) fn new(protocols: &[Arc<CompiledProtocol>]) -> Result<Self, PatternError> {
        let known = protocols.iter().map(|protocol| {
            let inner = protocol.protocol.request.iter();
            let inner: Vec<(String, Treatment)> =
                inner.map(|(at, take)| (format!("body.{at}"), *take)).collect();
            let inner = inner.iter().map(|(at, take)| (at.as_str(), *take));
            let patterns: Vec<(&str, Treatment)> = AROUND.into_iter().chain(inner).collect();
            Ok((Arc::clone(protocol), PathSet::new(&patterns, Treatment::Text)?))
        });
        Ok(Self { known: known.collect::<Result<_, PatternError>>()?, everything: PathSet::everything() })
    }
}

impl Fields for BatchLines {
    fn of(&self, line: &[u8]) -> &PathSet {
        let path = |url: String| RequestPath::parse(url.split(['?', '#']).next().unwrap_or_default()).ok();
        let protocol = url(line).and_then(|url| ProtocolChoice::Auto.of(&path(url)?));
        let known = protocol.and_then(|protocol| {
            self.known.iter().find(|(compiled, _)| std::ptr::eq(compiled.protocol, protocol))
        });
        known.map_or(&self.everything, |(_, fields)| fields)
    }
}

/// The path that a line names.
fn url(line: &[u8]) -> Option<String> {
    let mut url = None;
    let walked = walk(line, &mut |path, leaf| {
        if leaf.token == Token::Text && path.len() == 1 && path.segment(0) == Some(Segment::Key("url")) {
            url = Some(Decoded::of(line.get(leaf.span).unwrap_or_default()).text().to_owned());
        }
    });
    walked.ok().and(url)
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
            ("nonsense", false),
        ] {
            assert_eq!(!batch.of(line.as_bytes()).is_everything(), known, "{line}");
        }
    }
}
