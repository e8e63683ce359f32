//! JSONPath (RFC 9535): from the caller's queries to the places of their document.

use serde_json::Value;
use serde_json_path::{JsonPath, PathElement};

use crate::api::block_in_place;
use crate::api::redact::path_shape::PathShape;
use crate::detect::states;
use crate::redact::{PathTree, Selection};
use crate::stream::json::Segment;

/// The longest query, in bytes.
const LONGEST: usize = 4096;

/// Steps that the queries of one call may take together, by estimate: some seconds.
const STEPS: f64 = 3e8;

/// A query.
pub(super) struct Query {
    path: JsonPath,
    /// Descendant segments, and absolute queries within filters: each makes a query dearer.
    descendants: u32,
    absolutes: u32,
    /// Steps for each node that is tested: `search` and `match` compile their pattern each time.
    tests: f64,
    /// How many times it may find each place.
    multiplicity: f64,
    /// How many values its filters look at.
    operands: f64,
}

/// Queries that are lighter to read than this are read where they come.
const LIGHT: f64 = 64.0;

/// Steps that comparing a value takes beside walking over it.
const COMPARED: f64 = 4.0;

/// Places that a query may find which finds some several times.
const PLACES: f64 = 5e5;

/// Steps that compiling a pattern takes beside those for its states, and for each of those.
const PATTERN: f64 = 3e3;
const STATE: f64 = 1e2;
/// The same for a pattern that is not in the query, or is too large.
const UNKNOWN: f64 = 7e5;

/// What testing one node costs at the most, in steps.
fn tests(query: &str) -> f64 {
    let functions = query.matches("search").count() + query.matches("match").count();
    if functions == 0 {
        return 1.0;
    }
    let quoted = |quote: char| query.split(quote).skip(1).step_by(2);
    let literals: Vec<&str> = quoted('\'').chain(quoted('"')).collect();
    let cost = |literal: &&str| {
        let escaped = literal.replace("\\\\", "\\");
        states(&escaped).map_or(UNKNOWN, |states| PATTERN + STATE * states as f64)
    };
    let known: f64 = literals.iter().map(cost).sum();
    // A pattern may stand in the document, where there are fewer literals than functions.
    let unknown = functions.saturating_sub(literals.len()) as f64 * UNKNOWN;
    1.0 + known + unknown
}

/// A document is too large for a query of this kind.
pub(super) struct TooCostly;

impl Query {
    /// `None` for what is no query.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let PathShape { weight, multiplicity, operands } = PathShape::of(text)?;
        let parse = || JsonPath::parse(text).ok();
        let path = if weight > LIGHT { block_in_place(parse)? } else { parse()? };
        let descendants = u32::try_from(text.matches("..").count()).unwrap_or(u32::MAX);
        let absolutes = u32::try_from(text.matches('$').count().saturating_sub(1)).unwrap_or(u32::MAX);
        Some(Self { path, descendants, absolutes, tests: tests(text) * operands, multiplicity, operands })
    }

    /// Chooses what the query finds in `document`, a value of `nodes` nodes, for the redactor `part`.
    pub(super) fn choose(
        &self,
        document: &Value,
        size: &mut Size,
        part: usize,
        chosen: &mut PathTree,
    ) -> Result<(), TooCostly> {
        // A second descent visits each node once for each that holds it; an absolute query in a filter looks through
        // the document at each node that is tested.
        let (nodes, depth) = (size.nodes as f64, size.depth as f64);
        let again = f64::from(self.descendants.saturating_sub(1).min(64));
        if self.multiplicity > 1.0 && nodes * self.multiplicity > PLACES {
            return Err(TooCostly);
        }
        let steps = nodes
            * self.multiplicity
            * self.tests
            * depth.powf(again)
            * nodes.powf(f64::from(self.absolutes.min(8)));
        // A filter may compare what holds much: with a descent each value is looked through once for each that holds it.
        let compared = if self.operands > 1.0 && self.descendants > 0 { COMPARED * depth } else { 1.0 };
        let steps = steps * compared;
        size.steps += steps;
        if size.steps > STEPS {
            return Err(TooCostly);
        }
        for location in self.path.query_located(document).locations() {
            let segments = location.iter().map(|element| match element {
                PathElement::Name(name) => Segment::Key(name),
                PathElement::Index(index) => Segment::Index(*index),
            });
            chosen.choose(segments, part);
        }
        Ok(())
    }
}

/// The parts of a JSON document that any of `queries` finds; without one, every string.
///
/// # Errors
/// In words, which of the queries cannot be used, or that the document is not JSON.
pub fn select(json: &str, queries: &[String]) -> Result<Selection, String> {
    if queries.is_empty() {
        return Ok(Selection::Everything);
    }
    let document: Value = serde_json::from_str(json)
        .map_err(|error| format!("not a JSON document (line {}, column {})", error.line(), error.column()))?;
    let mut size = Size::of(&document);
    let mut chosen = PathTree::default();
    for (query, n) in queries.iter().zip(1..) {
        let parsed =
            Query::parse(query).ok_or_else(|| format!("path {n} is not a JSONPath query (RFC 9535)"))?;
        let found = parsed.choose(&document, &mut size, 0, &mut chosen);
        found.map_err(|_| format!("path {n} is too costly for a document of this size"))?;
    }
    Ok(Selection::Chosen(chosen))
}

/// A document's size, and what its queries have cost so far.
pub(super) struct Size {
    nodes: usize,
    /// How deep values lie at the most.
    depth: usize,
    steps: f64,
}

impl Size {
    /// Of a document that no query was asked of.
    pub(super) fn of(document: &Value) -> Self {
        let (nodes, depth) = measure(document);
        Self { nodes, depth, steps: 0.0 }
    }
}

/// How many values a document has, and how deep they lie at the most.
fn measure(document: &Value) -> (usize, usize) {
    let within = |children: &mut dyn Iterator<Item = &Value>| {
        children
            .map(measure)
            .fold((1, 1), |(nodes, depth), (more, below)| (nodes + more, depth.max(below + 1)))
    };
    match document {
        Value::Array(items) => within(&mut items.iter()),
        Value::Object(members) => within(&mut members.values()),
        _ => (1, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places that a query finds, as normalized paths.
    fn found(query: &str, document: &Value) -> Option<Vec<String>> {
        let query = Query::parse(query)?;
        let located = query.path.query_located(document);
        Some(
            located
                .locations()
                .map(|location| location.iter().map(normalized).collect())
                .map(|path: String| format!("${path}"))
                .collect(),
        )
    }

    /// RFC 9535 section 2.7.
    fn normalized(element: &PathElement<'_>) -> String {
        let name = match element {
            PathElement::Index(index) => return format!("[{index}]"),
            PathElement::Name(name) => *name,
        };
        let spelled = name.chars().map(|c| match c {
            '\'' | '\\' => format!("\\{c}"),
            '\u{8}' => "\\b".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            c if c < ' ' => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        });
        format!("['{}']", spelled.collect::<String>())
    }

    #[test]
    fn queries_find_places() {
        let document = serde_json::json!({"a": [{"b": 1}, {"b": 2, "c": null}], "d.e": "x"});
        let rows: &[(&str, Option<&[&str]>)] = &[
            ("$.a[*].b", Some(&["$['a'][0]['b']", "$['a'][1]['b']"])),
            ("$..b", Some(&["$['a'][0]['b']", "$['a'][1]['b']"])),
            ("$['d.e']", Some(&["$['d.e']"])),
            ("$.a[?@.c == null].b", Some(&["$['a'][1]['b']"])),
            ("$.a[-1].b", Some(&["$['a'][1]['b']"])),
            ("$.none", Some(&[])),
            ("$[", None),
            ("a.b", None),
            ("$.a[?count(@.*)]", None),
            (" $", None),
        ];
        for (query, places) in rows {
            let places: Option<Vec<String>> =
                places.map(|places| places.iter().map(|&place| place.to_owned()).collect());
            assert_eq!(found(query, &document), places, "{query}");
        }
        assert!(Query::parse(&format!("${}", ".a".repeat(LONGEST))).is_none());
        // What would take the stack, or twice as long with each level.
        for (begins, ends, count) in
            [("(", ")", 900), ("!(", ")", 1000), ("(", "", 4000), ("@[?", "]", 1300), ("value(@[?", "])", 22)]
        {
            assert!(
                Query::parse(&format!("$[?{}@.a{}]", begins.repeat(count), ends.repeat(count))).is_none()
            );
        }
    }

    #[test]
    fn a_query_that_would_take_for_ever_is_refused() {
        let document = Value::Array(vec![serde_json::json!([[1]]); 100_000]);
        assert_eq!(measure(&document), (300_001, 4));
        let choose = |query: &str| {
            let query = Query::parse(query).unwrap();
            query.choose(&document, &mut Size::of(&document), 0, &mut PathTree::default()).is_ok()
        };
        assert!(choose("$..*") && choose("$[?@[0]]"));
        assert!(!choose("$[?$[?@[0]]]"));
        assert!(!choose("$..*..*..*..*..*..*..*"));
        // Selectors that find the same, and filters that look at much.
        assert!(choose("$[0,1][0]") && !choose("$[*,*]") && !choose(&format!("$[{}*]", "*,".repeat(1299))));
        let query = Query::parse(&format!("$[?@==1{}]", "||@==1".repeat(600))).unwrap();
        let (mut size, mut chosen) = (Size::of(&document), PathTree::default());
        size.steps = STEPS / 2.0;
        assert!(query.choose(&document, &mut size, 0, &mut chosen).is_err());
        let small = serde_json::json!([[[[1]]]]);
        let query = Query::parse(&format!("${}", "[*,*]".repeat(40))).unwrap();
        assert!(query.choose(&small, &mut Size::of(&small), 0, &mut PathTree::default()).is_err());
        // A pattern is compiled for each of the nodes.
        assert!(!choose(r"$[?search(@[0], '\\p{L}{9}')]") && !choose("$[?match(@[0], $[0])]"));
        let query = Query::parse("$..*").unwrap();
        let (mut size, mut chosen) = (Size::of(&document), PathTree::default());
        size.steps = STEPS - 1.0;
        assert!(query.choose(&document, &mut size, 0, &mut chosen).is_err(), "all of a call count together");
    }

    /// The compliance suite of RFC 9535, where `PORTCULLIS_VECTORS` says where it is.
    #[test]
    fn the_compliance_suite_agrees() {
        let Ok(folder) = std::env::var("PORTCULLIS_VECTORS") else {
            #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
            {
                eprintln!("skipped: PORTCULLIS_VECTORS is not set");
            }
            return;
        };
        let rows = std::fs::read_to_string(format!("{folder}/jsonpath/cts.jsonl")).unwrap();
        let mut count = 0;
        for row in rows.lines() {
            let row: Value = serde_json::from_str(row).unwrap();
            let (name, selector) = (&row["name"], row["selector"].as_str().unwrap());
            let found = found(selector, &row["document"]);
            if row["invalid_selector"] == true {
                assert!(found.is_none(), "{name}");
            } else {
                let any = [
                    vec![row["result_paths"].clone()],
                    row["results_paths"].as_array().cloned().unwrap_or_default(),
                ]
                .concat();
                let found = Value::from(found.expect("a valid selector"));
                assert!(any.contains(&found), "{name}: {found} is none of {any:?}");
            }
            count += 1;
        }
        assert!(count > 100);
    }
}
