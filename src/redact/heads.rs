//! [`Heads`]: what the columns of a table in JSON are called, whose rows are arrays: `{"columns": ["name", "ssn"], "rows": [["…",
//! "…"]]}`, or with the heads for a first row.

use crate::redact::document_value::DocumentValue;
use crate::redact::table::{CELLS, is_head};
use crate::stream::json::{Decoded, Segment};

/// What members are called that hold the heads, without signs and in lower case.
const MEMBERS: &[&str] = &[
    "columns",
    "columnnames",
    "cols",
    "header",
    "headers",
    "heads",
    "fields",
    "fieldnames",
    "names",
    "keys",
    "schema",
];

/// The heads seen last.
#[derive(Debug, Default)]
pub(super) struct Heads {
    names: Vec<String>,
    /// Whether one of them is none.
    odd: bool,
    /// Whether a member held them: then the first row is one like others.
    of_member: bool,
}

impl Heads {
    /// What the column is called that the value lies in; a head is kept for the rows behind it.
    pub(super) fn of(&mut self, at: DocumentValue<'_>) -> Option<&str> {
        let last = at.path.len().checked_sub(1)?;
        let Some(Segment::Index(column)) = at.path.segment(last) else { return None };
        match last.checked_sub(1).and_then(|above| at.path.segment(above))? {
            Segment::Key(name) if is_member(name) => {
                self.keep(column, at);
                self.of_member = true;
            }
            Segment::Index(0) if !self.of_member => self.keep(column, at),
            Segment::Index(_) if !self.odd && self.names.len() >= 2 => {
                return self.names.get(column).map(String::as_str);
            }
            _ => {}
        }
        None
    }

    /// Another document begins.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        (self.odd, self.of_member) = (false, false);
    }

    fn keep(&mut self, column: usize, at: DocumentValue<'_>) {
        if column == 0 {
            self.clear();
        }
        let spelled = at.doc.get(at.start..at.end).unwrap_or_default();
        let decoded = Decoded::of(spelled);
        let name = decoded.text();
        // The same may be asked more than once.
        if column < self.names.len() {
            return;
        }
        self.odd |= column != self.names.len() || column >= CELLS || !is_head(name);
        if !self.odd {
            self.names.push(name.to_owned());
        }
    }
}

fn is_member(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    MEMBERS.contains(&plain.as_str())
}

#[cfg(test)]
mod tests {
    use crate::redact::fixture;
    use crate::redact::{FindingLimits, Keys, Method};
    use crate::stream::json::PathSet;

    fn masked(doc: &str) -> String {
        let redactor = fixture::redactor(Method::Replace);
        let done = redactor.document(
            doc.as_bytes(),
            &PathSet::everything(),
            &Keys::default(),
            FindingLimits::default(),
        );
        String::from_utf8(done.unwrap().0.into_value()).unwrap()
    }

    #[test]
    fn cells_have_their_heads_for_names() {
        let row = r#"["7","536228741","k7%Vq2x"]"#;
        for doc in [
            format!(r#"{{"columns":["id","ssn","password"],"rows":[{row},{row}]}}"#),
            format!(r#"{{"fields":["id","ssn","password"],"data":{{"rows":[{row}]}}}}"#),
            format!(r#"[["id","ssn","password"],{row},{row}]"#),
        ] {
            let masked = masked(&doc);
            assert!(!masked.contains("536228741") && !masked.contains("k7%Vq2x"), "{masked}");
            assert!(masked.contains("<US_SSN>") && masked.contains("<PASSWORD>"), "{masked}");
        }
        for doc in [
            r#"{"columns":["id","order"],"rows":[["7","536228741"]]}"#,
            r#"[["7","ssn"],["8","536228741"]]"#,
            r#"[{"columns":["id","ssn"]}]"#,
        ] {
            assert_eq!(masked(doc), doc);
        }
    }

    #[test]
    fn values_are_called_by_the_names_beside_them() {
        let doc = r#"{"env":[{"name":"DB_PASSWORD","value":"k7%Vq2x"},{"name":"REGION","value":"k7%Vq2x9"}],"id":{"system":"https://fhir.nhs.uk/Id/nhs-number","value":"9434765919"},"form":[{"value":"536228741","label":"SSN"},{"value":"536228742","label":"Order"}]}"#;
        let masked = masked(doc);
        for gone in ["9434765919", "536228741"] {
            assert!(!masked.contains(gone), "{masked}");
        }
        assert!(
            masked.contains(r#""DB_PASSWORD","value":"<PASSWORD>""#) && masked.contains("k7%Vq2x9"),
            "{masked}"
        );
        assert!(masked.contains("536228742"), "{masked}");
    }
}
