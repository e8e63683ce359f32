//! [`Heads`]: what the columns of a document's tables are called, whose rows are arrays: `{"columns": ["name", "ssn"], "rows":
//! [["…", "…"]]}`, with objects for heads (`{"columns": [{"name": "ssn"}], "rows": …}`), or with the heads for a first row. Heads
//! and rows may lie in objects of their own, and so may cells.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::redact::document_value::DocumentValue;
use crate::redact::members::{Holder, head_rank, plain};
use crate::redact::name_place::NamePlace;
use crate::redact::table::{CELLS, FirstRow, is_head};
use crate::stream::json::{Decoded, Path, Segment};

/// What members are called that hold the heads, without signs and in lower case.
const MEMBERS: &[&str] = &[
    "columns",
    "columnnames",
    "columnheaders",
    "columnheadings",
    "columnlabels",
    "columntitles",
    "cols",
    "colnames",
    "header",
    "headers",
    "headerrow",
    "tableheaders",
    "headings",
    "heads",
    "thead",
    "fields",
    "fieldnames",
    "names",
    "keys",
    "schema",
    "detailcolumns",
];
/// The same, where the heads are objects.
const OBJECTS: &[&str] = &[
    "meta",
    "metadata",
    "columnmetadata",
    "columninfo",
    "columndefs",
    "columndefinitions",
    "rowtype",
    "dimensionheaders",
    "metricheaders",
    "attributes",
    "variables",
];
/// What is in the names of members that hold rows, and in those of one row.
const ROWS: &[&str] = &["row", "data", "value", "record", "result", "item", "tuple", "entr", "body", "table"];
const ROW: &[&str] = &["row", "data", "value", "cell", "column", "field", "item", "record", "tuple"];
/// What the names of members end in that hold heads, behind what says which.
const STEM_ENDS: &[&str] =
    &["headers", "header", "columns", "cols", "fields", "names", "metadata", "info", "meta"];

/// The most lists of heads of a document.
const LISTS: usize = 10_000;
/// In how many objects around theirs heads count, and how many lists before a value, and behind it, are asked.
const OUT: usize = 3;
const NEAR: usize = 4;
/// In how many objects a cell lies.
const HELD: usize = 2;

/// The heads of a document.
#[derive(Debug, Default)]
pub(super) struct Heads {
    lists: Vec<HeadList>,
    /// The list of an array of heads, or of an array of rows that begins with them, by the way there.
    arrays: HashMap<u64, usize>,
    /// The lists whose rows may lie in an object, by the way there, in order; each with how far it is from there.
    scopes: HashMap<u64, Vec<(usize, usize)>>,
}

/// The heads of one table.
#[derive(Debug)]
struct HeadList {
    /// The way to the array that holds them, and its length.
    way: u64,
    depth: usize,
    start: usize,
    /// Where the name of each column stands, and how much its member says: the less, the more.
    names: Vec<Option<(u8, NamePlace)>>,
    /// What the name of its member begins with.
    stem: String,
    /// Whether heads are strings.
    bare: bool,
    /// Whether one of those is none.
    odd: bool,
    /// What two of them are that nothing but their row says; once that was asked.
    first: OnceLock<Option<FirstRow>>,
}

/// A head, where it stands.
struct FoundHead<'s> {
    /// How many segments lead to the array of heads, or of the rows that begin with them.
    depth: usize,
    column: usize,
    /// How much its member says: the less, the more.
    rank: u8,
    span: &'s Range<usize>,
}

/// What a column is called.
#[derive(Debug)]
pub(super) struct Head {
    /// The name.
    pub(super) name: String,
    /// Whether the member is called so that holds its rows.
    pub(super) of_rows: bool,
}

impl Head {
    fn at(doc: &[u8], place: NamePlace, of_rows: bool) -> Option<Self> {
        Some(Self { name: Decoded::of(place.text(doc)?).text().to_owned(), of_rows })
    }
}

/// Where a cell stands.
struct JsonCell<'p> {
    column: usize,
    /// The row's number; `None` where there is one row only.
    row: Option<usize>,
    /// How many segments lead to the array of rows, or to the row where there is only one.
    rows: usize,
    /// What the member is called that holds the rows, and that which holds one.
    member: Option<&'p str>,
    inner: Option<&'p str>,
}

impl<'p> JsonCell<'p> {
    fn of(path: &Path<'p>) -> Option<Self> {
        let mut at = path.len().checked_sub(1)?;
        for _ in 0..HELD {
            match path.segment(at)? {
                Segment::Key(key) if Holder::is_of_cell(key) => at = at.checked_sub(1)?,
                _ => break,
            }
        }
        let Segment::Index(column) = path.segment(at)? else { return None };
        let at = at.checked_sub(1)?;
        let (row, rows, inner) = match (path.segment(at)?, at.checked_sub(1).and_then(|at| path.segment(at)))
        {
            (Segment::Index(row), _) => (Some(row), at, None),
            (Segment::Key(key), Some(Segment::Index(row))) if is_row(key) => (Some(row), at - 1, Some(key)),
            (Segment::Key(_), _) => (None, at + 1, None),
        };
        let member = rows.checked_sub(1).and_then(|at| path.segment(at));
        let member = member.and_then(|member| if let Segment::Key(key) = member { Some(key) } else { None });
        Some(Self { column, row, rows, member, inner })
    }

    /// Whether its member is called as those are that hold rows.
    fn is_named(&self) -> bool {
        self.member.map(plain).is_some_and(|name| ROWS.iter().any(|part| name.contains(part)))
    }
}

fn is_row(key: &str) -> bool {
    let name = plain(key);
    matches!(name.as_str(), "f" | "c") || ROW.iter().any(|part| name.contains(part))
}

impl Heads {
    /// Shows the next string of the document.
    pub(super) fn follow(&mut self, path: &Path<'_>, doc: &[u8], span: &Range<usize>) {
        let Some(last) = path.len().checked_sub(1) else { return };
        let before = |count: usize| last.checked_sub(count).and_then(|at| path.segment(at));
        let text = doc.get(span.clone()).unwrap_or_default();
        let found = |depth, column, rank| FoundHead { depth, column, rank, span };
        match (path.segment(last), before(1), before(2)) {
            (Some(Segment::Index(column)), Some(Segment::Key(member)), _) if is_member(member, true) => {
                self.keep(path, member, &found(last, column, 0), Some(text));
            }
            (Some(Segment::Key(own)), Some(Segment::Index(column)), Some(Segment::Key(member)))
                if is_member(member, false) =>
            {
                if let Some(rank) = head_rank(own, text).filter(|_| is_head(Decoded::of(text).text())) {
                    self.keep(path, member, &found(last - 1, column, rank), None);
                }
            }
            _ => {}
        }
        let Some(cell) = JsonCell::of(path).filter(|cell| cell.row == Some(0)) else { return };
        let heads = match path.segment(last) {
            Some(Segment::Key(key)) => Holder::may_be_of_head(key),
            Some(Segment::Index(_)) => cell.inner.is_none(),
            None => false,
        };
        if heads {
            self.keep(path, "", &found(cell.rows, cell.column, 0), Some(text));
        }
    }

    /// What the column is called that the value lies in.
    pub(super) fn of(&self, at: DocumentValue<'_>) -> Option<Head> {
        let cell = JsonCell::of(at.path).filter(|_| !self.lists.is_empty())?;
        let named = cell.is_named();
        for length in (0..cell.rows).rev() {
            let beside = length + 1 == cell.rows;
            if cell.row.is_none() && !(beside && named) {
                break;
            }
            let Some(lists) = self.scopes.get(&at.path.fingerprint(length)) else { continue };
            let begins = |(list, _): &(usize, usize)| self.lists.get(*list).map_or(0, |list| list.start);
            let next = lists.partition_point(|one| begins(one) <= at.start);
            let near = lists.iter().take(next + NEAR).skip(next.saturating_sub(NEAR));
            let usable = near.filter_map(|(list, out)| {
                let list = self.lists.get(*list)?;
                let fits = named || list.bare && list.names.len() >= 2;
                let within = at.path.len() > list.depth && at.path.fingerprint(list.depth) == list.way;
                let name = list.name(list.column(&cell, at.path)).filter(|_| fits && !within)?;
                let of_row = !list.stem.is_empty()
                    && cell.inner.or(cell.member).is_some_and(|inner| plain(inner).starts_with(&list.stem));
                let before = list.start <= at.start;
                let far =
                    if before { Reverse(at.start - list.start) } else { Reverse(list.start - at.start) };
                (cell.row.is_some() || *out == 0).then_some(((of_row, Reverse(*out), before, far), name))
            });
            if let Some((_, name)) = usable.max_by_key(|(key, _)| *key) {
                return Head::at(at.doc, name, named);
            }
        }
        let first = self.arrays.get(&at.path.fingerprint(cell.rows)).and_then(|list| self.lists.get(*list));
        let first = first.filter(|list| list.stem.is_empty() && list.bare && list.names.len() >= 2);
        let first = first.filter(|_| cell.row.is_some_and(|row| row > 0))?;
        let head = Head::at(at.doc, first.name(cell.column)?, named)?;
        let value = at.doc.get(at.start..at.end).unwrap_or_default();
        first.may_head(cell.column, Decoded::of(value).text(), at.doc).then_some(head)
    }

    /// Keeps a head, to which `path` leads, of the array that is the value of a member of this name, or that is the first row of
    /// a table; `bare` is the head itself, if that is a string.
    fn keep(&mut self, path: &Path<'_>, member: &str, head: &FoundHead<'_>, bare: Option<&[u8]>) {
        let FoundHead { depth, column, rank, span } = *head;
        let way = path.fingerprint(depth);
        let known = self.arrays.get(&way).copied();
        if known.is_none() && self.lists.len() >= LISTS || column >= CELLS {
            return;
        }
        let count = self.lists.len();
        let number = *self.arrays.entry(way).or_insert(count);
        if number == count {
            let name = plain(member);
            let stem = STEM_ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or_default().to_owned();
            let (start, names, bare) = (span.start, Vec::new(), bare.is_some());
            let first = OnceLock::new();
            self.lists.push(HeadList { way, depth, start, names, stem, bare, odd: false, first });
            for out in 0..=OUT {
                let Some(length) = depth.checked_sub(out + 1).filter(|_| !member.is_empty()) else { break };
                self.scopes.entry(path.fingerprint(length)).or_default().push((number, out));
            }
        }
        let Some(list) = self.lists.get_mut(number) else { return };
        if let Some(text) = bare {
            // Of a cell that says it twice, the first counts.
            list.odd |= match column.cmp(&list.names.len()) {
                Ordering::Less => false,
                Ordering::Equal => !is_head(Decoded::of(text).text()),
                Ordering::Greater => true,
            };
        }
        if list.odd {
            return;
        }
        if list.names.len() <= column {
            list.names.resize(column + 1, None);
        }
        if let Some(name) = list.names.get_mut(column)
            && name.is_none_or(|(known, _)| rank < known)
        {
            *name = NamePlace::of(span).map(|place| (rank, place));
        }
    }
}

impl HeadList {
    /// Where the name of a column stands.
    fn name(&self, column: usize) -> Option<NamePlace> {
        let name = self.names.get(column).filter(|_| !self.odd)?;
        name.map(|(_, place)| place)
    }

    /// Whether the value may stand under the head of its column: of two columns without a member's name for heads, the first row
    /// may be a pair like all others.
    fn may_head(&self, column: usize, value: &str, doc: &[u8]) -> bool {
        let said = |column| Some(Decoded::of(self.name(column)?.text(doc)?).text().to_owned());
        let read = || Some(FirstRow::of(&said(0)?, &said(1)?)).filter(|_| self.names.len() == 2);
        self.first.get_or_init(read).is_none_or(|row| row.may_head(column, value))
    }

    /// The number of the column that a cell lies in: frames have a list for each column (`data.values` of Grafana).
    fn column(&self, cell: &JsonCell<'_>, path: &Path<'_>) -> usize {
        let outer = cell.rows.checked_sub(2).and_then(|at| path.segment(at));
        let framed = cell.member == Some("values") && outer == Some(Segment::Key("data"));
        cell.row.filter(|_| framed && !self.bare).unwrap_or(cell.column)
    }
}

/// Whether a member of this name holds heads, which are strings or objects.
pub(super) fn is_member(name: &str, bare: bool) -> bool {
    let name = plain(name);
    MEMBERS.contains(&name.as_str()) || !bare && OBJECTS.contains(&name.as_str())
}

#[cfg(test)]
#[path = "heads_tests.rs"]
mod tests;
