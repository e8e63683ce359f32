//! Reads JSON as it passes, shows chosen strings to a visitor, and says what to change in the bytes. It copies and
//! holds nothing but a cut token: whoever carries the bytes applies the edits.

use crate::edit::spliced;
use crate::stream::json::document::{digits_of, is_long, with_digits};
use crate::stream::json::escape::encoded;
use crate::stream::json::lexer::{Cursor, JsonLexer, Lexeme, StringRole};
use crate::stream::json::record_numbers::numbers_record;
use crate::stream::json::tail::Tail;
use crate::stream::path::{JsonToken, Path, PathTracker};
use crate::stream::text_channel::{TextChannel, plain};
use crate::stream::utf8::complete;
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// Decides which strings are ours, and edits them, one at a time.
///
/// After an `open` that said yes, the text of that string comes through [`Editor::feed`], decoded, with offsets from
/// its beginning, and [`Editor::end`] ends it. A byte that is not UTF-8 splits a string into two channels, without
/// another `open`. Half a surrogate pair is shown as U+FFFD, and leaves as it came unless it is edited.
pub trait Slots: Editor {
    /// Whether the string at `path` is ours.
    fn open(&mut self, path: &Path<'_>, token: JsonToken) -> bool;
}

impl<S: Slots + ?Sized> Slots for Box<S> {
    fn open(&mut self, path: &Path<'_>, token: JsonToken) -> bool {
        (**self).open(path, token)
    }
}

/// The state between two chunks of a body, or of a text that is JSON itself.
pub(crate) struct JsonScan<S> {
    slots: S,
    lexer: JsonLexer,
    trail: PathTracker,
    channel: TextChannel,
    within: BytesWithin,
    /// Decoded text of the open string that has not been shown to the visitor.
    decoded: String,
    /// The edits of one number.
    digits: Vec<Edit>,
    /// A cut token: the last bytes that came.
    carry: Vec<u8>,
    /// Where the first byte after what has been read lies.
    at: usize,
}

/// What the bytes belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BytesWithin {
    /// Structure, or a string that is not ours.
    Other,
    /// A key that is not ours; the path needs it.
    Name,
    /// A string that is ours.
    Taken(StringRole),
    /// What follows the first byte that cannot be JSON.
    Rest,
    /// The same, if it is not ours.
    Lost,
}

impl<S: Slots> JsonScan<S> {
    pub(crate) fn new(slots: S) -> Self {
        Self {
            slots,
            lexer: JsonLexer::new(),
            trail: PathTracker::default(),
            channel: TextChannel::at(0, plain),
            within: BytesWithin::Other,
            decoded: String::new(),
            digits: Vec::new(),
            carry: Vec::new(),
            at: 0,
        }
    }

    pub(crate) fn slots(&mut self) -> &mut S {
        &mut self.slots
    }

    pub(super) fn slots_ref(&self) -> &S {
        &self.slots
    }

    /// Bytes of memory that grow with what has come.
    pub(crate) fn weight(&self) -> usize {
        self.lexer.weight() + self.channel.weight()
    }

    /// Reads on. Edits and the offset returned, up to which all is decided, are in bytes from the first that came.
    pub(crate) fn feed(&mut self, bytes: &[u8], edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let mut carry = std::mem::take(&mut self.carry);
        if carry.is_empty() {
            let read = self.run(bytes, Tail::Open, edits)?;
            carry.extend_from_slice(bytes.get(read..).unwrap_or_default());
        } else {
            carry.extend_from_slice(bytes);
            let read = self.run(&carry, Tail::Open, edits)?;
            // A long chunk behind a cut token is not kept for the token's sake.
            carry = if carry.capacity() > KEEP { carry.split_off(read) } else { rest(carry, read) };
        }
        self.carry = carry;
        Ok(match self.within {
            BytesWithin::Taken(_) | BytesWithin::Rest => self.channel.decided(),
            BytesWithin::Other | BytesWithin::Name | BytesWithin::Lost => self.at,
        })
    }

    /// The bytes have ended; others may follow, from offset 0.
    pub(crate) fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        let carry = std::mem::take(&mut self.carry);
        self.run(&carry, Tail::Closed, edits)?;
        if matches!(self.within, BytesWithin::Taken(_) | BytesWithin::Rest) {
            self.channel.end(&mut self.slots, edits)?;
        }
        self.lexer = JsonLexer::new();
        self.trail.clear();
        self.within = BytesWithin::Other;
        self.at = 0;
        Ok(())
    }

    /// All that comes is text and not JSON: one value, of which the visitor knows what it was told.
    pub(crate) fn text(&mut self) {
        self.trail.clear();
        self.within = BytesWithin::Rest;
        self.channel.begin(self.at, plain);
    }

    fn break_off(&mut self, at: usize) {
        self.trail.clear();
        let ours = self.slots.open(&self.trail.path(), JsonToken::Rest);
        self.within = if ours { BytesWithin::Rest } else { BytesWithin::Lost };
        self.channel.begin(at, plain);
    }

    /// Reads as far as it can be told what the bytes are; returns how many those were.
    fn run(&mut self, bytes: &[u8], tail: Tail, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let mut cursor = Cursor { bytes, at: 0, tail };
        let read = loop {
            if matches!(self.within, BytesWithin::Rest | BytesWithin::Lost) {
                break self.rest(&cursor, edits)?;
            }
            match self.lexer.next(&mut cursor) {
                Lexeme::More => break cursor.at,
                Lexeme::Open(nesting) => self.trail.open(nesting),
                Lexeme::Close => self.trail.close(),
                Lexeme::Comma => self.trail.comma(),
                Lexeme::Colon | Lexeme::Literal => {}
                Lexeme::Number { from } => self.number(cursor.since(from), self.at + from, edits)?,
                Lexeme::Begin(role) => self.begin(role, self.at + cursor.at),
                Lexeme::Run { from } | Lexeme::Stray { from } => self.plain(&cursor, from, edits)?,
                Lexeme::Escape { from, decoded } => self.escape(decoded, cursor.at - from, edits)?,
                Lexeme::End(role) => self.close(role, edits)?,
                Lexeme::Broken => self.break_off(self.at + cursor.at),
            }
        };
        self.show(edits)?;
        self.at += read;
        Ok(read)
    }

    fn rest(&mut self, cursor: &Cursor<'_>, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        let bytes = cursor.bytes.get(cursor.at..).unwrap_or_default();
        let length = if cursor.tail == Tail::Open { complete(bytes) } else { bytes.len() };
        if self.within == BytesWithin::Rest {
            let whole = bytes.get(..length).unwrap_or_default();
            self.channel.bytes(&mut self.slots, whole, edits)?;
        }
        Ok(cursor.at + length)
    }

    fn begin(&mut self, role: StringRole, at: usize) {
        let token = match role {
            StringRole::Key => {
                self.trail.name();
                JsonToken::Key
            }
            StringRole::Value => JsonToken::Text,
        };
        self.within = match role {
            _ if self.slots.open(&self.trail.path(), token) => BytesWithin::Taken(role),
            StringRole::Key => BytesWithin::Name,
            StringRole::Value => BytesWithin::Other,
        };
        self.channel.begin(at, |text| encoded(&text));
    }

    fn plain(&mut self, cursor: &Cursor<'_>, from: usize, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        if self.within == BytesWithin::Other {
            return Ok(());
        }
        let run = cursor.since(from);
        let text = std::str::from_utf8(run);
        if matches!(self.within, BytesWithin::Name | BytesWithin::Taken(StringRole::Key)) {
            self.trail.named(text.map_or_else(|_| String::from_utf8_lossy(run), Into::into).as_ref());
        }
        if !matches!(self.within, BytesWithin::Taken(_)) {
            return Ok(());
        }
        let Ok(text) = text else {
            self.show(edits)?;
            return self.channel.bytes(&mut self.slots, run, edits);
        };
        self.channel.plain(text.len());
        // What an escape goes on with is gathered, and what ends here is shown with its end.
        let gathered = text.len() < GATHER && matches!(cursor.peek(), Some(b'\\' | b'"'));
        if self.decoded.is_empty() && !gathered {
            return self.channel.feed(&mut self.slots, text, edits);
        }
        self.decoded.push_str(text);
        self.show_if_long(edits)
    }

    fn escape(&mut self, decoded: char, length: usize, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        if matches!(self.within, BytesWithin::Name | BytesWithin::Taken(StringRole::Key)) {
            self.trail.named(decoded.encode_utf8(&mut [0; 4]));
        }
        if !matches!(self.within, BytesWithin::Taken(_)) {
            return Ok(());
        }
        self.channel.escape(decoded.len_utf8(), length);
        self.decoded.push(decoded);
        self.show_if_long(edits)
    }

    fn close(&mut self, role: StringRole, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        if matches!(self.within, BytesWithin::Taken(_)) {
            match self.decoded.is_empty() {
                true => self.channel.end(&mut self.slots, edits)?,
                false => self.channel.last(&mut self.slots, &self.decoded, edits)?,
            }
            self.decoded.clear();
        }
        if role == StringRole::Key {
            self.trail.end_name();
        }
        self.within = BytesWithin::Other;
        Ok(())
    }

    /// Escapes are gathered, so that the visitor is not called for each.
    fn show(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        if !self.decoded.is_empty() {
            self.channel.feed(&mut self.slots, &self.decoded, edits)?;
            self.decoded.clear();
        }
        Ok(())
    }

    fn show_if_long(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        if self.decoded.len() < GATHER { Ok(()) } else { self.show(edits) }
    }

    fn number(&mut self, spelled: &[u8], at: usize, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        if !is_long(spelled) || !self.slots.open(&self.trail.path(), JsonToken::Number) {
            return Ok(());
        }
        let Ok(text) = std::str::from_utf8(spelled) else { return Ok(()) };
        let digits = digits_of(text);
        if numbers_record(&self.trail.path(), spelled) {
            self.slots.used_as(TextUse::Record);
        }
        self.slots.last(digits, &mut self.digits)?;
        if !self.digits.is_empty() {
            let edited = spliced(digits.as_bytes(), &self.digits);
            let with = with_digits(text, &String::from_utf8_lossy(&edited));
            edits.push(Edit { range: at..at + spelled.len(), with });
            self.digits.clear();
        }
        Ok(())
    }
}

fn rest(mut bytes: Vec<u8>, read: usize) -> Vec<u8> {
    bytes.drain(..read);
    bytes
}

/// Every string, key and long number of a document is for one editor, and what is not JSON as well.
pub(crate) struct EveryString<E> {
    pub(crate) editor: E,
    /// What all texts are for, but for a number that is a record's.
    used_as: TextUse,
    /// Whether the editor was last told of such a number.
    told: bool,
}

impl<E: Editor> EveryString<E> {
    pub(crate) fn new(editor: E) -> Self {
        Self { editor, used_as: TextUse::Text, told: false }
    }
}

impl<E: Editor> Editor for EveryString<E> {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.editor.under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.told = text == TextUse::Record;
        if !self.told {
            self.used_as = text;
        }
        self.editor.used_as(text);
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.editor.feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.editor.end(edits)
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.editor.last(piece, edits)
    }
}

impl<E: Editor> Slots for EveryString<E> {
    fn open(&mut self, path: &Path<'_>, token: JsonToken) -> bool {
        if std::mem::take(&mut self.told) {
            self.editor.used_as(self.used_as);
        }
        self.editor.under(token.is_value().then_some(path));
        true
    }
}

/// Decoded text gathered before the visitor sees it, in bytes.
const GATHER: usize = 4096;

/// A carry's capacity that is kept for the next cut token.
const KEEP: usize = 4096;
