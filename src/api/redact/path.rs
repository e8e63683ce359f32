//! JSONPath (RFC 9535): from the caller's queries to the places of their document.

use serde_json::Value;
use serde_json_path::{JsonPath, PathElement};

use crate::redact::Chosen;
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
}

/// A document is too large for a query of this kind.
pub(super) struct TooCostly;

impl Query {
    /// `None` for what is no query.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let path = JsonPath::parse(text).ok()?;
        let descendants = u32::try_from(text.matches("..").count()).unwrap_or(u32::MAX);
        let absolutes = u32::try_from(text.matches('$').count().saturating_sub(1)).unwrap_or(u32::MAX);
        Some(Self { path, descendants, absolutes })
    }

    /// Chooses what the query finds in `document`, a value of `nodes` nodes, for the redactor `part`.
    pub(super) fn choose(
        &self,
        document: &Value,
        (nodes, depth): (usize, usize),
        (part, chosen): (usize, &mut Chosen),
    ) -> Result<(), TooCostly> {
        // A second descent visits each node once for each that holds it; an absolute query in a filter looks through
        // the document at each node that is tested.
        let (nodes, depth) = (nodes as f64, depth as f64);
        let again = f64::from(self.descendants.saturating_sub(1).min(64));
        let steps = nodes * depth.powf(again) * nodes.powf(f64::from(self.absolutes.min(8)));
        if steps > STEPS {
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

/// How many values a document has, and how deep they lie at the most.
pub(super) fn measure(document: &Value) -> (usize, usize) {
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
