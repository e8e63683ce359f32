//! Results of batches in files and jobs, whose paths say nothing of a protocol: what of the answers in them is no text. OpenAI API
//! reference, "The request output object"; Mistral's, "Batch"; Gemini's, "Batch API".

use std::sync::Arc;

use crate::base::path::RequestPath;
use crate::gateway::llm::protocol::{Protocol, path_ends};
use crate::gateway::llm::schema::with_schemas;
use crate::gateway::llm::{gemini, openai, responses};
use crate::stream::json::{PathSet, PatternError, Treatment};

/// How the paths end of files and jobs.
const PATHS: [&str; 3] = ["/files/*/content", "/files/*:download", "/batch/jobs/*"];

/// What answers in such lines speak where a status stands beside them.
static WITH_STATUS: [&Protocol; 4] =
    [&openai::CHAT, &responses::RESPONSES, &openai::COMPLETIONS, &openai::SINGLE];

/// Where answers stand, and what they speak. Of a job, Mistral's may have its results in it. The first that fits counts.
static PLACES: [(&str, &[&Protocol]); 3] = [
    ("response.body", &WITH_STATUS),
    ("outputs[*].response.body", &WITH_STATUS),
    ("response", &[&gemini::GENERATE]),
];

/// Whether results may come from a path.
pub fn may_come(path: &RequestPath) -> bool {
    let path = path.compared().trim_end_matches('/');
    PATHS.iter().any(|end| path_ends(path, end))
}

/// Which strings in them are text: what is no answer is all text.
///
/// # Errors
/// A pattern that is wrong, which would be a bug in the data.
pub fn fields() -> Result<PathSet, PatternError> {
    PLACES.iter().try_fold(PathSet::everything(), |fields, (place, protocols)| {
        let patterns = protocols.iter().flat_map(|protocol| protocol.answer);
        let patterns: Vec<(&'static str, Treatment)> = patterns.copied().collect();
        fields.nested(place, Arc::new(with_schemas(&patterns)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::{JsonToken, walk};

    #[test]
    fn files_and_jobs_have_results() {
        for (path, may) in [
            ("/v1/files/file-1/content", true),
            ("/openai/files/file-1/content", true),
            ("/download/v1beta/files/f:download", true),
            ("/v1/batch/jobs/j", true),
            ("/v1/files/file-1", false),
            ("/v1/files", false),
            ("/v1/chat/completions", false),
        ] {
            assert_eq!(may_come(&RequestPath::parse(path).unwrap()), may, "{path}");
        }
    }

    #[test]
    fn answers_in_lines_are_read_as_alone_and_what_is_beside_them_is_text() {
        let fields = fields().unwrap();
        let chat = r#"{"id":"KEEP-12345","model":"KEEP-4o","choices":[{"message":{"content":"TEXT","tool_calls":
            [{"id":"KEEP-12345","function":{"name":"KEEP"}}]}}]}"#;
        for line in [
            format!(r#"{{"custom_id":"TEXT","response":{{"request_id":"TEXT","body":{chat}}}}}"#),
            format!(r#"{{"outputs":[{{"custom_id":"TEXT","response":{{"body":{chat}}}}}]}}"#),
            r#"{"response":{"body":{"id":"KEEP-12345","output":[{"name":"KEEP","content":[{"text":"TEXT"}]}]}}}"#.to_owned(),
            r#"{"key":"TEXT","response":{"responseId":"KEEP-12345","candidates":[{"content":{"parts":[{"text":"TEXT"},{"functionCall":{"name":"KEEP"}}]}}]}}"#.to_owned(),
            r#"{"id":"TEXT-12345","model":"TEXT","choices":[{"message":{"tool_calls":[{"function":{"name":"TEXT"}}]}}]}"#.to_owned(),
        ] {
            walk(line.as_bytes(), &mut |path, leaf| {
                let text = line.get(leaf.span.clone()).unwrap().trim_matches('"');
                if leaf.token == JsonToken::Text {
                    let taken = fields.take(path).of(JsonToken::Text, text);
                    assert_eq!(taken == Treatment::Skip, text.starts_with("KEEP"), "{path} of {line}");
                }
            })
            .unwrap();
        }
    }
}
