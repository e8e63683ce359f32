//! Text in a format whose readers see less than its bytes: tables (CSV, TSV) and markup (XML, HTML). What a column, an
//! element or an attribute is called says what its value is, as a member's name does in JSON.
//!
//! A body is taken apart unit by unit: a row of a table; of markup a tag, or the text between two tags that part text. A
//! unit is judged whole. What is none within a megabyte, or by the end of the body, is text as it stands, and so is all
//! that follows.
//!
//! | file | noun |
//! |---|---|
//! | `text` | [`FormattedText`]: one text, and how what is written in it is spelled |
//! | `reader` | takes a body of one format apart |
//! | `table` | tables |
//! | `markup`, `lexer`, `tag` | markup: its texts, its tokens, what a tag says |
//! | `place` | what the values of a document in markup are called |

mod lexer;
mod markup;
mod place;
mod reader;
mod table;
mod tag;
mod text;

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::edit::spliced;
use crate::stream::formatted::markup::Markup;
use crate::stream::formatted::reader::FormatReader;
use crate::stream::formatted::table::TableReader;
use crate::stream::json::Embedded;
use crate::stream::path::{Path, PathTracker};
use crate::stream::{Edit, Editor, Rewriter, StreamError, TextBody};

pub use text::FormattedText;

/// The largest unit, in bytes.
const MOST: usize = 1 << 20;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// A table whose cells are parted by commas, or by semicolons, tabs or bars if its first row is (RFC 4180).
    Csv,
    /// A table whose cells are parted by tabs.
    Tsv,
    /// XML, whose elements and attributes are called after what they hold.
    Xml,
    /// HTML, whose elements are not.
    Html,
}

impl TextFormat {
    /// The format of this media type.
    pub fn of(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "text/csv" | "application/csv" | "text/comma-separated-values" => Some(Self::Csv),
            "text/tab-separated-values" | "text/tsv" => Some(Self::Tsv),
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/xml" | "application/xml" => Some(Self::Xml),
            other => other.ends_with("+xml").then_some(Self::Xml),
        }
    }

    /// The format of a file of this media type and name, either of which may be empty.
    pub fn of_file(media_type: &str, name: &str) -> Option<Self> {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        let by_name = match ending.as_deref() {
            Some("csv") => Some(Self::Csv),
            Some("tsv" | "tab") => Some(Self::Tsv),
            Some("html" | "htm" | "xhtml") => Some(Self::Html),
            Some("xml" | "svg" | "plist" | "xsd" | "rss" | "atom") => Some(Self::Xml),
            _ => None,
        };
        Self::of(media_type).or(by_name)
    }

    fn reader(self) -> Box<dyn FormatReader> {
        match self {
            Self::Csv => Box::new(TableReader::new(None)),
            Self::Tsv => Box::new(TableReader::new(Some(b'\t'))),
            Self::Xml => Box::new(Markup::new(false)),
            Self::Html => Box::new(Markup::new(true)),
        }
    }
}

/// What is at the beginning of bytes that came.
enum Prefix {
    /// A unit of this length.
    Unit(usize),
    /// More will tell.
    More,
    /// No unit.
    Text,
}

fn next(reader: &mut dyn FormatReader, held: &[u8], ended: bool) -> Prefix {
    // Never more than this is looked at, so that it makes no difference how much came at once.
    let view = held.get(..MOST).unwrap_or(held);
    match reader.unit(view, ended && view.len() == held.len()) {
        Some(length) => Prefix::Unit(length),
        None if ended || held.len() > MOST => Prefix::Text,
        None => Prefix::More,
    }
}

/// The edits of a unit, in order; `edit` says what changes in a text.
fn edits_of(
    reader: &mut dyn FormatReader,
    unit: &[u8],
    edit: &mut dyn FnMut(&Path<'_>, &str) -> Vec<Edit>,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    reader.texts(unit, &mut |path, text| {
        if !text.text().trim_ascii().is_empty() {
            edits.extend(text.in_source(edit(path, text.text())));
        }
    });
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// The edits of a whole body, in order; `edit` says what changes in each of its texts, which come in an order that is the
/// same each time.
pub fn edits(
    format: TextFormat,
    body: &[u8],
    edit: &mut dyn FnMut(&Path<'_>, &str) -> Vec<Edit>,
) -> Vec<Edit> {
    let (mut reader, mut at, mut all) = (format.reader(), 0, Vec::new());
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        match next(&mut *reader, rest, true) {
            Prefix::Unit(length) => {
                let unit = rest.get(..length).unwrap_or(rest);
                all.extend(edits_of(&mut *reader, unit, edit).into_iter().map(|edit| edit.behind(at)));
                at += length.max(1);
            }
            Prefix::More | Prefix::Text => {
                let text = FormattedText::plain(rest);
                let edits = text.in_source(edit(&PathTracker::default().path(), text.text()));
                all.extend(edits.into_iter().map(|edit| edit.behind(at)));
                break;
            }
        }
    }
    all
}

/// Edits the texts of a body as it passes, each a channel of its own and whole; one that is JSON is edited within.
pub struct FormattedBody<E> {
    state: BodyState<E>,
    budget: MemoryBudget,
}

enum BodyState<E> {
    Units(UnitBody<E>),
    /// No units any more.
    Text(TextBody<Embedded<E>>),
    Ended,
}

/// A body that is made of units so far.
struct UnitBody<E> {
    reader: Box<dyn FormatReader>,
    editor: Embedded<E>,
    /// What is no unit yet.
    held: Vec<u8>,
    charge: MemoryCharge,
}

impl<E: Editor> FormattedBody<E> {
    /// Shows the texts of a body to `editor`; what is held back is charged to `budget`.
    pub fn new(format: TextFormat, editor: E, budget: &MemoryBudget) -> Self {
        let (reader, editor) = (format.reader(), Embedded::new(editor));
        let units = UnitBody { reader, editor, held: Vec::new(), charge: budget.charge() };
        Self { state: BodyState::Units(units), budget: budget.clone() }
    }

    /// Takes the next piece. What is no unit goes on as text.
    fn take(&mut self, chunk: &[u8], ended: bool, out: &mut BytesMut) -> Result<(), StreamError> {
        match &mut self.state {
            BodyState::Units(units) => {
                if units.take(chunk, ended, out)? {
                    return Ok(());
                }
            }
            BodyState::Text(text) => return text.write(chunk, out),
            BodyState::Ended => return Ok(()),
        }
        if let BodyState::Units(units) = std::mem::replace(&mut self.state, BodyState::Ended) {
            let UnitBody { editor, held, mut charge, .. } = units;
            let mut text = TextBody::new(editor, &self.budget);
            text.write(&held, out)?;
            charge.set(0)?;
            self.state = BodyState::Text(text);
        }
        Ok(())
    }
}

impl<E: Editor> UnitBody<E> {
    /// Gives out the units that are there; whether what is held may yet be one.
    fn take(&mut self, chunk: &[u8], ended: bool, out: &mut BytesMut) -> Result<bool, StreamError> {
        self.charge.set(self.held.len() + chunk.len())?;
        self.held.extend_from_slice(chunk);
        let (mut at, mut units) = (0, true);
        while let Some(rest) = self.held.get(at..).filter(|rest| !rest.is_empty()) {
            match next(&mut *self.reader, rest, ended) {
                Prefix::More => break,
                Prefix::Text => {
                    units = false;
                    break;
                }
                Prefix::Unit(length) => {
                    let unit = rest.get(..length).unwrap_or(rest);
                    let (editor, mut outcome) = (&mut self.editor, Ok(()));
                    let edits = edits_of(&mut *self.reader, unit, &mut |path, text| {
                        let mut edits = Vec::new();
                        if outcome.is_ok() {
                            editor.under(Some(path));
                            outcome = editor.last(text, &mut edits);
                        }
                        edits
                    });
                    outcome?;
                    out.extend_from_slice(&spliced(unit, &edits));
                    at += length.max(1);
                }
            }
        }
        self.held.drain(..at.min(self.held.len()));
        self.charge.set(self.held.len())?;
        Ok(units)
    }
}

impl<E: Editor> Rewriter for FormattedBody<E> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.take(chunk, false, out)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.take(&[], true, out)?;
        match &mut self.state {
            BodyState::Text(text) => text.finish(out),
            BodyState::Units(_) | BodyState::Ended => Ok(()),
        }
    }

    fn held(&self) -> usize {
        match &self.state {
            BodyState::Units(units) => units.held.len(),
            BodyState::Text(text) => text.held(),
            BodyState::Ended => 0,
        }
    }
}
