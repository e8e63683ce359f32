//! JSON Schemas in requests and lists of tools: what a model must be given as it is, since it answers in these names and
//! values and the caller's program compares them. Descriptions, titles, defaults and examples are text.

use std::sync::OnceLock;

use crate::stream::json::{PathSet, PatternError, Treatment};

/// Where schemas stand, in any protocol: below these.
const ROOTS: [&str; 16] = [
    // OpenAI, Anthropic, Gemini, Ollama, Cohere, Mistral.
    "tools[*]",
    "functions[*]",
    "response_format",
    "text.format",
    "format",
    "output_format",
    "output_config",
    "generationConfig",
    "generation_config",
    "guided_json",
    // Bedrock, Realtime, Live.
    "toolConfig",
    "session.tools[*]",
    "response.tools[*]",
    "setup.tools[*]",
    // The Model Context Protocol.
    "result.tools[*]",
    "params.requestedSchema",
];

/// Members whose strings, or whose names, are the program's (JSON Schema 2020-12, Core and Validation).
const KEYWORDS: [&str; 19] = [
    "enum[*]",
    "const",
    "required[*]",
    "properties",
    "patternProperties",
    "dependentRequired",
    "dependentRequired.*[*]",
    "$defs",
    "definitions",
    "pattern",
    "format",
    "type",
    "type[*]",
    "$ref",
    "$id",
    "$anchor",
    "$schema",
    "propertyOrdering[*]",
    "property_ordering[*]",
];

/// Members that hold any value, also beside a schema, in which those names mean nothing, unless they are themselves names of properties.
const VALUES: [&str; 6] = ["default", "examples", "example", "input_examples", "x-examples", "headers"];

/// The patterns of a protocol, behind those of schemas.
///
/// # Errors
/// A pattern that is wrong.
pub(super) fn with_schemas(patterns: &[(&'static str, Treatment)]) -> Result<PathSet, PatternError> {
    static SCHEMAS: OnceLock<Result<PathSet, PatternError>> = OnceLock::new();
    SCHEMAS.get_or_init(schemas).as_ref().map_err(|error| *error)?.then(patterns)
}

fn schemas() -> Result<PathSet, PatternError> {
    let mut schemas: Vec<(String, Treatment)> = Vec::new();
    for root in ROOTS {
        for value in VALUES {
            let named = |keyword| (format!("{root}.**.properties.{value}.**.{keyword}"), Treatment::Skip);
            schemas.extend(KEYWORDS.map(named));
        }
        schemas.extend(VALUES.map(|value| (format!("{root}.**.properties.{value}.**"), Treatment::Text)));
        schemas.extend(VALUES.map(|value| (format!("{root}.**.{value}.**"), Treatment::Text)));
        schemas.extend(KEYWORDS.map(|keyword| (format!("{root}.**.{keyword}"), Treatment::Skip)));
    }
    let schemas: Vec<_> = schemas.iter().map(|(pattern, take)| (pattern.as_str(), *take)).collect();
    PathSet::new(&schemas, Treatment::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::json::walk;

    #[test]
    fn names_and_values_of_schemas_are_not_text_and_descriptions_are() {
        let document = br#"{"messages":[{"content":"TEXT","enum":["TEXT"],"properties":{"TEXT":"TEXT"}}],
            "tools":[{"function":{"name":"TEXT","description":"TEXT","parameters":{"type":"KEEP","properties":
            {"KEEP":{"type":"KEEP","description":"TEXT","enum":["KEEP"],"default":"TEXT","examples":["TEXT"]},
            "default":{"description":"TEXT","enum":["KEEP"]},"pattern":{"title":"TEXT","pattern":"KEEP"}},
            "required":["KEEP"],"$defs":{"KEEP":{"const":"KEEP","format":"KEEP","default":{"enum":["TEXT"],"TEXT":"TEXT"}}}}}}],
            "functions":[{"input_examples":[{"pattern":"TEXT","enum":["TEXT"]}],"headers":{"const":"TEXT"}}],
            "response_format":{"json_schema":{"name":"TEXT","schema":{"properties":{"KEEP":{"enum":["KEEP"]}}}}},
            "generationConfig":{"responseSchema":{"propertyOrdering":["KEEP"]}}}"#;
        let set = with_schemas(&[]).unwrap();
        let mut seen = 0;
        walk(document, &mut |path, leaf| {
            let text = &document[leaf.span.clone()];
            let want = match text.trim_ascii() {
                text if text.ends_with(b"TEXT") || text == b"\"TEXT\"" => Treatment::Text,
                text if text == b"KEEP" || text == b"\"KEEP\"" => Treatment::Skip,
                _ => return,
            };
            seen += 1;
            assert_eq!(set.take(path), want, "{path}");
        })
        .unwrap();
        assert_eq!(seen, 31);
    }
}
