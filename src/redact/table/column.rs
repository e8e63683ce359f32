//! [`with_cells`]: what is found in cells, each under its head. The cells of a column are looked through together, one a line,
//! each behind its head. Tables and all else are also read in lines without what stands before each of them.

use std::ops::Range;

use crate::base::checkpoint::Stopped;
use crate::detect::{Detector, Family, Finding, Label, Span};
use crate::redact::table::row::RowReader;
use crate::redact::table::unprefixed_lines::UnprefixedLines;
use crate::redact::table::{delimited, html, manifest, segments, snapshot, sql};

/// How much is looked through for the cells of a text, in its bytes: heads stand before each of their cells.
const SHARE: usize = 4;
const LEAST: usize = 64 << 10;
/// From which length on the cells of a column are looked through, in bytes.
const BATCH: usize = 16 << 10;
/// How often that is taken off from lines which stands before them, one behind another.
const LEVELS: usize = 3;
/// What the text of a cell may stand in.
const QUOTES: [&str; 3] = ["\"", "'", "`"];
/// What members of manifests are called that are secrets whatever their names are.
const SECRET: &str = "password";
/// The longest cell, in bytes.
const CELL: usize = 4 << 10;

/// What was `found` in a text, with what is found in the cells of its tables under their heads: a head says more than words that
/// happen to stand near.
///
/// # Errors
/// The detector's checkpoint said so.
pub(in crate::redact) fn with_cells(
    detector: &Detector,
    text: &str,
    found: Vec<Finding>,
) -> Result<Vec<Finding>, Stopped> {
    let found = with_tables(detector, text, found)?;
    with_unprefixed_lines(detector, text, found, LEVELS)
}

/// Whether a text has a table in which a column is called so that its values are known by that.
pub(in crate::redact) fn has_columns(text: &str) -> bool {
    let mut heads = KnownHeads { text, any: false };
    delimited::read(text, &mut heads);
    sql::read(text, &mut heads);
    heads.any
}

/// Looks whether heads say something.
struct KnownHeads<'t> {
    text: &'t str,
    any: bool,
}

impl RowReader for KnownHeads<'_> {
    fn heads(&mut self, row: &[Range<usize>]) {
        let text = self.text;
        self.any |=
            row.iter().any(|head| text.get(head.clone()).is_some_and(|head| Label::of([head]).is_some()));
    }

    fn row(&mut self, _: &[Range<usize>]) {}
}

/// What was `found` in a text, with what is found in its lines without what stands before each of them, so many times.
fn with_unprefixed_lines(
    detector: &Detector,
    text: &str,
    found: Vec<Finding>,
    levels: usize,
) -> Result<Vec<Finding>, Stopped> {
    let Some(levels) = levels.checked_sub(1) else { return Ok(found) };
    let Some(lines) = UnprefixedLines::of(text) else { return Ok(found) };
    let mut within = Vec::new();
    // Of a comment only secrets count: it says much in few words.
    let mut keep = |one: Finding| {
        if !lines.is_comment(one.span.start) || detector.rule(one.rule).family() == Family::Secret {
            within.push(one);
        }
    };
    let mut scanner = detector.scanner();
    scanner.feed_all(&lines.text, &mut keep)?;
    scanner.end(&mut keep);
    let within = with_tables(detector, &lines.text, within)?;
    let within = with_unprefixed_lines(detector, &lines.text, within, levels)?;
    Ok(merged(found, lines.in_source(within)))
}

/// What was `found` in a text, with what is found in the cells of its tables.
fn with_tables(detector: &Detector, text: &str, found: Vec<Finding>) -> Result<Vec<Finding>, Stopped> {
    let mut columns = TableColumns {
        detector,
        text,
        columns: Vec::new(),
        left: text.len().saturating_mul(SHARE).saturating_add(LEAST),
        found: Vec::new(),
        outcome: Ok(()),
    };
    delimited::read(text, &mut columns);
    sql::read(text, &mut columns);
    html::read(text, &mut columns);
    columns.look();
    if manifest::may_be_in(text) {
        columns.columns = vec![Column::under(SECRET)];
        manifest::read(text, &mut |value| columns.row(&[value]));
        columns.look();
    }
    if segments::may_be_in(text) {
        columns.columns = segments::HEADS.into_iter().map(Column::under).collect();
        segments::read(text, &mut |head, field| columns.cell(head, &field));
        columns.look();
    }
    if snapshot::may_be_in(text) {
        columns.columns.clear();
        snapshot::read(text, &mut |head, value| {
            columns.columns.push(Column::under(head));
            columns.cell(columns.columns.len() - 1, &value);
        });
        columns.look();
    }
    columns.outcome?;
    Ok(merged(found, columns.found))
}

/// Both in order. A finding in a cell stands in place of those within it, and not where one goes beyond it.
fn merged(mut found: Vec<Finding>, mut cells: Vec<Finding>) -> Vec<Finding> {
    if cells.is_empty() {
        return found;
    }
    cells.sort_by_key(|one| one.span.start);
    cells.dedup_by(|next, last| next.span.overlaps(last.span));
    let overlapping = |all: &[Finding], span: Span| {
        let first = all.partition_point(|one| one.span.end <= span.start);
        let count = all.iter().skip(first).take_while(|one| one.span.start < span.end).count();
        first..first + count
    };
    cells.retain(|one| {
        let others = found.get(overlapping(&found, one.span)).unwrap_or_default();
        others.iter().all(|other| other.span.start >= one.span.start && other.span.end <= one.span.end)
    });
    found.retain(|one| overlapping(&cells, one.span).is_empty());
    found.extend(cells);
    found.sort_by_key(|one| one.span.start);
    found
}

/// A column whose head says something.
struct Column {
    /// What stands before each cell.
    before: String,
    /// Whether each stands in quotes.
    quoted: bool,
    /// Its cells, each behind its head.
    text: String,
    /// Where in that each cell begins, and where it stands.
    cells: Vec<(usize, Range<usize>)>,
}

impl Column {
    fn under(head: &str) -> Option<Self> {
        let label = Label::of([head])?;
        let (before, quoted) = match label.assigned() {
            Some(name) => (format!("{name}: "), true),
            None => (label.text().to_owned(), false),
        };
        Some(Self { before, quoted, text: String::new(), cells: Vec::new() })
    }

    /// What a cell stands in: quotes that it does not have itself; `None` if it has all.
    fn quote(&self, cell: &str) -> Option<&'static str> {
        if self.quoted { QUOTES.into_iter().find(|quote| !cell.contains(quote)) } else { Some("") }
    }

    fn push(&mut self, cell: &str, quote: &str, at: Range<usize>) {
        self.text.extend([self.before.as_str(), quote]);
        self.cells.push((self.text.len(), at));
        // One line here, as long.
        self.text.extend(cell.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        self.text.extend([quote, "\n"]);
    }

    /// What is found in its cells, as places of the whole text; then there are none.
    fn find(&mut self, detector: &Detector, found: &mut Vec<Finding>) {
        let mut in_source = |one: Finding| {
            let at = self.cells.partition_point(|(start, _)| *start <= one.span.start);
            let Some((start, cell)) = at.checked_sub(1).and_then(|at| self.cells.get(at)) else { return };
            if one.span.end <= start + cell.len() {
                let place = |at: usize| cell.start + (at - start);
                found.push(Finding { span: Span::new(place(one.span.start), place(one.span.end)), ..one });
            }
        };
        let mut scanner = detector.scanner();
        scanner.feed(&self.text, &mut in_source);
        scanner.end(&mut in_source);
        self.text.clear();
        self.cells.clear();
    }
}

/// The columns of the table that is read.
struct TableColumns<'t> {
    detector: &'t Detector,
    text: &'t str,
    /// By their places in a row.
    columns: Vec<Option<Column>>,
    /// How much more may be looked through.
    left: usize,
    found: Vec<Finding>,
    outcome: Result<(), Stopped>,
}

impl TableColumns<'_> {
    /// A cell of this column.
    fn cell(&mut self, column: usize, at: &Range<usize>) {
        let column = self.columns.get_mut(column).and_then(Option::as_mut);
        let Some(column) = column.filter(|_| !at.is_empty() && at.len() <= CELL) else { return };
        let cell = self.text.get(at.clone()).unwrap_or_default();
        let Some(quote) = column.quote(cell) else { return };
        let cost = column.before.len() + cell.len() + 2 * quote.len() + 1;
        if self.left < cost || self.outcome.is_err() {
            return;
        }
        self.left -= cost;
        column.push(cell, quote, at.clone());
        if column.text.len() >= BATCH {
            self.outcome = self.detector.checkpoint().pass();
            if self.outcome.is_ok() {
                column.find(self.detector, &mut self.found);
            }
        }
    }

    /// Looks through what has been gathered.
    fn look(&mut self) {
        let columns = self.columns.iter_mut().flatten();
        for column in columns.filter(|column| !column.cells.is_empty()) {
            self.outcome = self.outcome.and_then(|()| self.detector.checkpoint().pass());
            if self.outcome.is_ok() {
                column.find(self.detector, &mut self.found);
            }
        }
    }
}

impl RowReader for TableColumns<'_> {
    fn heads(&mut self, row: &[Range<usize>]) {
        self.look();
        let head = |head: &Range<usize>| Column::under(self.text.get(head.clone())?);
        self.columns = row.iter().map(head).collect();
    }

    fn row(&mut self, row: &[Range<usize>]) {
        for (n, at) in row.iter().enumerate() {
            self.cell(n, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture;

    fn found(text: &str) -> Vec<(String, String)> {
        let detector = fixture::detector();
        let found = detector.find(text);
        let found = with_cells(&detector, text, found).unwrap();
        let one = |one: &Finding| {
            (
                detector.rule(one.rule).name().to_owned(),
                text.get(one.span.start..one.span.end).unwrap().to_owned(),
            )
        };
        found.iter().map(one).collect()
    }

    #[test]
    fn every_row_has_its_heads_for_context() {
        let rows: String = (0..200).map(|n| format!("{n},5362287{:02},k{n}-Vq2x%\n", n % 100)).collect();
        for text in
            [format!("id,ssn,password\n{rows}"), format!("a;ssn;password\n{}", rows.replace(',', ";"))]
        {
            let found = found(&text);
            assert_eq!(found.iter().filter(|(rule, _)| rule == "US_SSN").count(), 200);
            assert_eq!(found.iter().filter(|(rule, _)| rule == "PASSWORD").count(), 200);
        }
    }

    #[test]
    fn cells_may_have_quotes_and_line_ends() {
        for (text, value) in [
            ("id,note,password\n1,\"a\nb\",Xk9mQ7zLw2\n", "Xk9mQ7zLw2"),
            ("id,password\n1,\"x9\"\"Lq2z\"\n", "x9\"\"Lq2z"),
            ("user\tpassword\njoan\tkT7m\"Qz4vRw9bLd\n", "kT7m\"Qz4vRw9bLd"),
            ("| user | password |\n|---|---|\n| joan | kT7m\"Qz4 |\n", "kT7m\"Qz4"),
            ("INSERT INTO u (id, password) VALUES (1, 'kT7m\"Qz4');", "kT7m\"Qz4"),
        ] {
            assert_eq!(found(text), [("PASSWORD".to_owned(), value.to_owned())], "{text}");
        }
    }

    #[test]
    fn what_stands_before_lines_hides_nothing() {
        let bare = [
            "user,password\njoan,Xk9mQ7zLw2\n",
            "| user | password |\n|---|---|\n| joan | Xk9mQ7zLw2 |\n",
            "user\tpassword\njoan\tXk9mQ7zLw2\n",
            "INSERT INTO u (id, password) VALUES\n(1, 'Xk9mQ7zLw2');\n",
            "temporary password:\nXk9mQ7zLw2\n",
        ];
        let prefixes: [&dyn Fn(usize) -> String; 12] = [
            &|_| "> ".to_owned(),
            &|_| "> > ".to_owned(),
            &|_| "+".to_owned(),
            &|_| "# ".to_owned(),
            &|_| "// ".to_owned(),
            &|_| " * ".to_owned(),
            &|n| format!("{n:6}\u{2192}"),
            &|n| format!("{n}\t"),
            &|n| format!("{n}:"),
            &|n| format!("conf/a.env:{n}:"),
            &|_| "web-1  | ".to_owned(),
            &|n| format!("2026-03-02T11:04:2{n}.123456789Z "),
        ];
        for lines in bare {
            for prefix in prefixes {
                for inner in ["", "# "] {
                    let numbered = lines.lines().enumerate();
                    let text: String =
                        numbered.map(|(n, line)| format!("{}{inner}{line}\n", prefix(n + 1))).collect();
                    let found = found(&text);
                    let known =
                        |(rule, value): &(String, String)| rule == "PASSWORD" && value.contains("Xk9mQ7zLw2");
                    assert!(found.iter().any(known), "{text}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn of_comments_only_secrets_are_found() {
        let text = "extraction of numbers (+41 79\n123 45 67 / 68).\n";
        assert_eq!(found(text), [("PHONE_NUMBER".to_owned(), "+41 79\n123 45 67".to_owned())]);
        let text = " * extraction of numbers (+41 79\n * 123 45 67 / 68).\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn members_of_manifests_of_secrets_are_found_whatever_they_are_called() {
        let text =
            "apiVersion: v1\nkind: Secret\ndata:\n  password: aFQ1dlJxOFprMldu\n  ci.txt: Z2hwX0VRQkt1eks4\n";
        let found = found(text);
        let values: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["aFQ1dlJxOFprMldu", "Z2hwX0VRQkt1eks4"]);
        assert_eq!(super::tests::found(&text.replace("Secret", "ConfigMap").replace("password", "note")), []);
    }

    #[test]
    fn fields_of_messages_are_found_by_their_places() {
        let rows = [
            (
                "PID|1||00482917^^^HOSP^MR||KOWALSKI^MARIA^A||19800312|F|||417 MAPLE ST^^BOSTON^MA^02110||(617)555-1212||||||401532219",
                ["00482917", "KOWALSKI", "MARIA", "417 MAPLE ST", "(617)555-1212", "401532219"].as_slice(),
            ),
            ("NM1*IL*1*KOWALSKI*MARIA*A***MI*H40~N3*417 MAPLE ST~", &["KOWALSKI", "MARIA", "417 MAPLE ST"]),
            ("BEGIN:VCARD\nN:Kowalski;Maria;;;\nEND:VCARD", &["Kowalski", "Maria"]),
        ];
        for (text, values) in rows {
            let found = found(text);
            for value in values {
                assert!(found.iter().any(|(_, one)| one.contains(value)), "{value} of {text}: {found:?}");
            }
        }
    }

    #[test]
    fn doubtful_heads_have_values_that_nobody_writes_by_chance() {
        let text = "parola,utente\ncasa1,bob\nGx7!kkpw,amy\n";
        assert_eq!(found(text), [("PASSWORD".to_owned(), "Gx7!kkpw".to_owned())]);
    }

    #[test]
    fn what_heads_do_not_name_stays() {
        for text in [
            "order,amount\n536228741,12\n536228742,13\n",
            "id,password_hash,note\n1,5f4dcc3b,k7-Vq2x\n",
            "| User | Role |\n|---|---|\n| mo | k7-Vq2x |\n",
            "parola,significato\ncasa1,house\nciao!,hello\n",
            "| parola | significato |\n|---|---|\n| casa1 | house |\n",
            "| Κωδικός | Ποσότητα |\n|---|---|\n| 00123-A | 12 |\n",
            "| Heslo | Význam |\n|---|---|\n| Praha2 | město |\n",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn the_look_is_bounded() {
        let text = format!("password,account_number_of_the_customer\n{}", "a,b\n".repeat(50_000));
        let detector = fixture::detector();
        let mut columns = TableColumns {
            detector: &detector,
            text: &text,
            columns: Vec::new(),
            left: 1000,
            found: Vec::new(),
            outcome: Ok(()),
        };
        delimited::read(&text, &mut columns);
        assert!(
            columns.left < 64 && columns.columns.iter().flatten().all(|column| column.text.len() <= 1000)
        );
    }
}
