//! Where in a document a value is ([`Path`]), and what is done with it ([`Treatment`]).
//!
//! Keys are decoded: a key written with `\u` escapes is the same key.

use std::cell::Cell;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::base::pointer::Pointer;

/// How many levels a [`Path`] follows.
pub const MAX_DEPTH: usize = 128;

/// Bytes of a key that a path keeps; no pattern may name a longer one.
pub(super) const MAX_KEY: usize = 256;

/// The longest text that is of a type, but for opaque ones, in bytes: a signed URL.
pub(super) const MAX_TYPED: usize = 8 << 10;

/// What a string is: asked together with its [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonToken {
    /// A string value.
    Text,
    /// A member's name; its path is the object's.
    Key,
    /// A number of at least [`LONG_NUMBER`] digits; its text is without the sign.
    Number,
    /// All that follows the first byte that cannot be JSON; its path is the root.
    Rest,
}

impl JsonToken {
    /// Whether it is a member's value, or an element.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Text | Self::Number)
    }
}

/// From this many digits on a number is looked at: shorter ones identify nobody and are everywhere.
pub const LONG_NUMBER: usize = 7;

/// One step from a value to a value within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment<'a> {
    /// A member of an object, by its decoded name (its first 256 bytes).
    Key(&'a str),
    /// An element of an array, from 0.
    Index(usize),
}

/// The way from a document's root to a value.
#[derive(Clone, Copy)]
pub struct Path<'a> {
    trail: &'a PathTracker,
    /// How many segments at its beginning are left out.
    from: usize,
}

impl<'a> Path<'a> {
    /// The number of segments; 0 at the root.
    pub fn len(&self) -> usize {
        let length = match self.trail.steps.as_slice() {
            [above @ .., PathSegment::Unnamed(_)] => above.len(),
            steps => steps.len(),
        };
        length.saturating_sub(self.from)
    }

    /// The same place without the first segments, as if what they lead to were the document.
    #[must_use]
    pub fn below(&self, segments: usize) -> Self {
        Self { trail: self.trail, from: self.from + segments }
    }

    /// Whether this is the root.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the value lies deeper than [`MAX_DEPTH`], and the path ends above it.
    pub fn is_cut(&self) -> bool {
        self.trail.beyond > 0
    }

    /// The segment at `at`, counted from the root.
    pub fn segment(&self, at: usize) -> Option<Segment<'a>> {
        match *self.trail.steps.get(self.from + at)? {
            PathSegment::Index(index) => Some(Segment::Index(index)),
            PathSegment::Key(from, to) => Some(Segment::Key(self.trail.keys.get(from..to)?)),
            PathSegment::Unnamed(_) => None,
        }
    }

    /// The segment that leads to the value itself; `None` at the root.
    pub fn last(&self) -> Option<Segment<'a>> {
        self.segment(self.len().checked_sub(1)?)
    }

    /// All segments, from the root.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        let path = *self;
        (0..self.len()).filter_map(move |at| path.segment(at))
    }

    /// A number for the first `length` segments (for all of them, where there are fewer): the same for the same segments;
    /// others have another, but for chance. It is kept while the document is read, so that each segment is hashed once,
    /// however many values are in it. Of a place below another, the segments that lead to that one count too.
    pub fn fingerprint(&self, length: usize) -> u64 {
        self.trail.fingerprint(self.from + length.min(self.len()))
    }

    /// What stands before the value, where that says something of it.
    pub fn before(&self) -> &'a str {
        &self.trail.before
    }

    /// The same place as a JSON Pointer.
    pub fn pointer(&self) -> Pointer {
        self.segments().fold(Pointer::root(), |pointer, segment| match segment {
            Segment::Key(key) => pointer.key(key),
            Segment::Index(index) => pointer.index(index),
        })
    }
}

/// As a JSON Pointer.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pointer().fmt(f)
    }
}

impl fmt::Debug for Path<'_> {
    // Keys come from outside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({} segments)", self.len())
    }
}

/// What encloses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nesting {
    Array,
    Object,
}

#[derive(Clone, Copy)]
enum PathSegment {
    Index(usize),
    /// An object whose next key has not been read; its keys' text begins there.
    Unnamed(usize),
    /// Where the key's text lies.
    Key(usize, usize),
}

/// The path of what a lexer reads, kept as it goes.
#[derive(Default)]
pub(super) struct PathTracker {
    steps: Vec<PathSegment>,
    keys: String,
    beyond: usize,
    /// Text that a reader has seen before the value.
    before: String,
    /// The fingerprints of the first steps, as many as have been asked for and still hold.
    fingerprints: Cell<Vec<u64>>,
}

impl PathTracker {
    /// To a member of the root, which is an object.
    pub(super) fn to(name: &str) -> Self {
        Self::through([name])
    }

    /// To a member of a member, by their names from the root.
    pub(super) fn through<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut trail = Self::default();
        for name in names {
            trail.open(Nesting::Object);
            trail.named(name);
            trail.end_name();
        }
        trail
    }

    /// To a value that stands behind this text.
    #[must_use]
    pub(super) fn behind(self, before: &str) -> Self {
        Self { before: before.to_owned(), ..self }
    }

    pub(super) fn path(&self) -> Path<'_> {
        Path { trail: self, from: 0 }
    }

    /// The fingerprint of the first `length` steps.
    fn fingerprint(&self, length: usize) -> u64 {
        let mut known = self.fingerprints.take();
        while known.len() < length
            && let Some(segment) = self.path().segment(known.len())
        {
            let mut hasher = DefaultHasher::new();
            (known.last().copied().unwrap_or_default(), segment).hash(&mut hasher);
            known.push(hasher.finish());
        }
        let asked = length.min(known.len()).checked_sub(1).and_then(|at| known.get(at).copied());
        self.fingerprints.set(known);
        asked.unwrap_or_default()
    }

    /// The steps from this one on are others now.
    fn changed(&mut self, from: usize) {
        self.fingerprints.get_mut().truncate(from);
    }

    pub(super) fn open(&mut self, nesting: Nesting) {
        if self.steps.len() == MAX_DEPTH {
            self.beyond += 1;
            return;
        }
        self.steps.push(match nesting {
            Nesting::Array => PathSegment::Index(0),
            Nesting::Object => PathSegment::Unnamed(self.keys.len()),
        });
    }

    pub(super) fn close(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            if let Some(PathSegment::Unnamed(from) | PathSegment::Key(from, _)) = self.steps.pop() {
                self.keys.truncate(from);
            }
            self.changed(self.steps.len());
        }
    }

    pub(super) fn comma(&mut self) {
        if self.beyond == 0
            && let Some(PathSegment::Index(index)) = self.steps.last_mut()
        {
            *index += 1;
            self.changed(self.steps.len() - 1);
        }
    }

    /// A key begins: until it ends, the path is the object's.
    pub(super) fn name(&mut self) {
        if self.beyond == 0
            && let Some(step @ PathSegment::Key(..)) = self.steps.last_mut()
            && let PathSegment::Key(from, _) = *step
        {
            *step = PathSegment::Unnamed(from);
            self.keys.truncate(from);
            self.changed(self.steps.len() - 1);
        }
    }

    pub(super) fn named(&mut self, piece: &str) {
        if self.beyond == 0
            && let Some(PathSegment::Unnamed(from)) = self.steps.last()
        {
            let room = MAX_KEY.saturating_sub(self.keys.len() - from);
            self.keys.push_str(piece.get(..piece.floor_char_boundary(room)).unwrap_or_default());
        }
    }

    pub(super) fn end_name(&mut self) {
        if self.beyond == 0
            && let Some(step @ PathSegment::Unnamed(_)) = self.steps.last_mut()
            && let PathSegment::Unnamed(from) = *step
        {
            *step = PathSegment::Key(from, self.keys.len());
        }
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.keys.clear();
        self.before.clear();
        self.changed(0);
        self.beyond = 0;
    }
}

/// What a value must be of that a protocol has no text in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number; of a member's name, one of at most 7 digits, such as a token's id.
    Number,
    /// The id of something: letters and digits, both of them, with no number standing alone in it.
    Id,
    /// The name of a model or of a kind of object: it begins with a letter, and otherwise is as an id is.
    Name,
    /// The name of a tool or of a voice: as that of a model, with no part so long that it may be a key.
    Word,
    /// What a provider signed or encrypted for itself, or bytes: base64 (RFC 4648, also for URLs) of at least 16
    /// characters, with letters. What in it decodes to text is none.
    Opaque,
    /// The URL of something that its owner has signed, so that a program may fetch it for a time: any change makes it worthless. Its
    /// query has a signature and what belongs to one, and nothing else.
    SignedUrl,
    /// What a client shows a server to come in, alone or behind the name of a scheme: one long word, with no number standing
    /// alone in it.
    Credential,
    /// A URL that somebody else is to call: text, but for the credentials in it.
    CredentialUrl,
    /// The name of somebody who speaks, which programs take in ASCII only: text, in which what stands for a value is written so.
    PlainName,
}

/// What to do with the strings of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Treatment {
    /// Text for people: scan it.
    Text,
    /// A string that holds JSON itself, such as a tool call's arguments.
    Embedded,
    /// Text that a tool gets as it is.
    Argument,
    /// Not ours if it has this type; else text.
    Typed(Type),
    /// Not ours.
    Skip,
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
