//! Where in a document a value is ([`Path`]), and which places are ours ([`PathSet`]).
//!
//! Keys are decoded: a key written with `\u` escapes is the same key.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::base::pointer::Pointer;

/// How many levels a [`Path`] follows.
pub const MAX_DEPTH: usize = 128;

/// Bytes of a key that a path keeps; no pattern may name a longer one.
pub(super) const MAX_KEY: usize = 256;

/// What a string is: asked together with its [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// A string value.
    Text,
    /// A member's name; its path is the object's.
    Key,
    /// A number of at least [`LONG_NUMBER`] digits; its text is without the sign.
    Number,
    /// All that follows the first byte that cannot be JSON; its path is the root.
    Rest,
}

impl Token {
    /// Whether it is a member's value, or an element.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Text | Self::Number)
    }
}

/// From this many digits on a number is looked at: shorter ones identify nobody and are everywhere.
pub const LONG_NUMBER: usize = 7;

/// One step from a value to a value within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// A member of an object, by its decoded name (its first 256 bytes).
    Key(&'a str),
    /// An element of an array, from 0.
    Index(usize),
}

/// The way from a document's root to a value.
#[derive(Clone, Copy)]
pub struct Path<'a> {
    trail: &'a Trail,
}

impl<'a> Path<'a> {
    /// The number of segments; 0 at the root.
    pub fn len(&self) -> usize {
        match self.trail.steps.as_slice() {
            [above @ .., Step::Unnamed(_)] => above.len(),
            steps => steps.len(),
        }
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
        match *self.trail.steps.get(at)? {
            Step::Index(index) => Some(Segment::Index(index)),
            Step::Key(from, to) => Some(Segment::Key(self.trail.keys.get(from..to)?)),
            Step::Unnamed(_) => None,
        }
    }

    /// All segments, from the root.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'a>> + use<'a> {
        let path = *self;
        (0..self.len()).filter_map(move |at| path.segment(at))
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
enum Step {
    Index(usize),
    /// An object whose next key has not been read; its keys' text begins there.
    Unnamed(usize),
    /// Where the key's text lies.
    Key(usize, usize),
}

/// The path of what a lexer reads, kept as it goes.
#[derive(Default)]
pub(super) struct Trail {
    steps: Vec<Step>,
    keys: String,
    beyond: usize,
    /// Text that a reader has seen before the value.
    before: String,
}

impl Trail {
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
        Path { trail: self }
    }

    pub(super) fn open(&mut self, nesting: Nesting) {
        if self.steps.len() == MAX_DEPTH {
            self.beyond += 1;
            return;
        }
        self.steps.push(match nesting {
            Nesting::Array => Step::Index(0),
            Nesting::Object => Step::Unnamed(self.keys.len()),
        });
    }

    pub(super) fn close(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if let Some(Step::Unnamed(from) | Step::Key(from, _)) = self.steps.pop() {
            self.keys.truncate(from);
        }
    }

    pub(super) fn comma(&mut self) {
        if self.beyond == 0
            && let Some(Step::Index(index)) = self.steps.last_mut()
        {
            *index += 1;
        }
    }

    /// A key begins: until it ends, the path is the object's.
    pub(super) fn name(&mut self) {
        if self.beyond == 0
            && let Some(step @ Step::Key(..)) = self.steps.last_mut()
            && let Step::Key(from, _) = *step
        {
            *step = Step::Unnamed(from);
            self.keys.truncate(from);
        }
    }

    pub(super) fn named(&mut self, piece: &str) {
        if self.beyond == 0
            && let Some(Step::Unnamed(from)) = self.steps.last()
        {
            let room = MAX_KEY.saturating_sub(self.keys.len() - from);
            self.keys.push_str(piece.get(..piece.floor_char_boundary(room)).unwrap_or_default());
        }
    }

    pub(super) fn end_name(&mut self) {
        if self.beyond == 0
            && let Some(step @ Step::Unnamed(_)) = self.steps.last_mut()
            && let Step::Unnamed(from) = *step
        {
            *step = Step::Key(from, self.keys.len());
        }
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.keys.clear();
        self.before.clear();
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

/// Why a pattern is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("path pattern {pattern}, byte {offset}: {fault}")]
pub struct PatternError {
    /// Which pattern, from 0.
    pub pattern: usize,
    /// Where in it, in bytes from 0.
    pub offset: usize,
    /// What is wrong.
    pub fault: PatternFault,
}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// Nothing stands where a segment must.
    #[error("a segment is empty (the root is `$`)")]
    Empty,
    /// A bracket holds something else than `*`, an index or a quoted key, or has no end.
    #[error("expected `[*]`, `[0]` or `[\"key\"]`")]
    Bracket,
    /// A `*` within a name.
    #[error("`*` and `**` must be whole segments; a key that holds one is written `[\"key\"]`")]
    Star,
    /// Something follows a bracket without a dot.
    #[error("expected `.` or `[`")]
    Separator,
    /// A key longer than a path keeps.
    #[error("a key is longer than 256 bytes")]
    TooLong,
}

#[derive(Debug)]
enum PatternPart {
    Key(Box<str>),
    Index(usize),
    AnyIndex,
    Any,
    Deep,
}

impl PatternPart {
    fn fits(&self, segment: Segment<'_>) -> bool {
        match (self, segment) {
            (Self::Key(name), Segment::Key(key)) => **name == *key,
            (Self::Index(wanted), Segment::Index(index)) => *wanted == index,
            (Self::AnyIndex, Segment::Index(_)) | (Self::Any | Self::Deep, _) => true,
            _ => false,
        }
    }
}

/// Ordered patterns over paths; the first that fits decides.
///
/// A pattern is segments joined by dots: `messages[*].content`, `**.arguments`, `usage.*`. A name is that key,
/// `[0]` that element, `[*]` any element, `*` any one segment, `**` any number of them (also none), and
/// `["a.b"]` a key that holds dots, brackets or stars. `$` is the root; a leading `$.` is allowed.
#[derive(Debug)]
pub struct PathSet {
    patterns: Vec<(Arc<[PatternPart]>, Treatment)>,
    /// By the key that a path begins with, the patterns that may fit it, in order.
    named: BTreeMap<Box<str>, Vec<usize>>,
    /// Those that may fit a path which begins otherwise.
    others: Vec<usize>,
    otherwise: Treatment,
}

impl PathSet {
    /// Reads patterns; a path that none fits gets `otherwise`.
    ///
    /// # Errors
    /// The first pattern that cannot be read.
    pub fn new(patterns: &[(&str, Treatment)], otherwise: Treatment) -> Result<Self, PatternError> {
        Self { otherwise, ..Self::everything() }.then(patterns)
    }

    /// These patterns, and behind them others.
    ///
    /// # Errors
    /// The first pattern that cannot be read.
    pub fn then(&self, patterns: &[(&str, Treatment)]) -> Result<Self, PatternError> {
        let read = |(pattern, &(text, take)): (usize, &(&str, Treatment))| match parse(text) {
            Ok(parts) => Ok((parts.into(), take)),
            Err((offset, fault)) => Err(PatternError { pattern, offset, fault }),
        };
        let behind = patterns.iter().enumerate().map(read);
        let patterns = self.patterns.iter().cloned().map(Ok).chain(behind).collect::<Result<Vec<_>, _>>()?;
        let mut set = Self { patterns, otherwise: self.otherwise, ..Self::everything() };
        set.index();
        Ok(set)
    }

    /// Most patterns differ in their first name: only those that have a path's are tried on it.
    fn index(&mut self) {
        let first = |parts: &[PatternPart]| match parts.first() {
            Some(PatternPart::Key(name)) => Some(name.clone()),
            _ => None,
        };
        let firsts: Vec<Option<Box<str>>> = self.patterns.iter().map(|(parts, _)| first(parts)).collect();
        for name in firsts.iter().flatten() {
            self.named.entry(name.clone()).or_default();
        }
        for (n, first) in firsts.into_iter().enumerate() {
            match first {
                Some(name) => self.named.entry(name).or_default().push(n),
                None => {
                    self.named.values_mut().for_each(|list| list.push(n));
                    self.others.push(n);
                }
            }
        }
    }

    /// Every place is text.
    pub const fn everything() -> Self {
        Self { patterns: Vec::new(), named: BTreeMap::new(), others: Vec::new(), otherwise: Treatment::Text }
    }

    /// Whether every place is text, since nothing is known of the document.
    pub fn is_everything(&self) -> bool {
        self.patterns.is_empty() && self.otherwise == Treatment::Text
    }

    /// What to do at `path`.
    pub fn take(&self, path: &Path<'_>) -> Treatment {
        if self.patterns.is_empty() {
            return self.otherwise;
        }
        // Nor do many have the same last name: this spares the walk.
        let (first, last) = (path.segment(0), path.len().checked_sub(1).and_then(|last| path.segment(last)));
        let ends_fit = |parts: &[PatternPart]| fits_end(parts.first(), first) && fits_end(parts.last(), last);
        let named = first.and_then(|first| match first {
            Segment::Key(key) => self.named.get(key),
            Segment::Index(_) => None,
        });
        let mut tried = named.unwrap_or(&self.others).iter().filter_map(|&n| self.patterns.get(n));
        let fitting = tried.find(|(parts, _)| ends_fit(parts) && matches(parts, path));
        fitting.map_or(self.otherwise, |(_, take)| *take)
    }
}

/// Whether a name or index at an end of a pattern is the segment at that end of a path.
fn fits_end(part: Option<&PatternPart>, segment: Option<Segment<'_>>) -> bool {
    match (part, segment) {
        (Some(part @ (PatternPart::Key(_) | PatternPart::Index(_))), Some(segment)) => part.fits(segment),
        _ => true,
    }
}

/// Glob matching: going back to the last `**` is enough.
fn matches(parts: &[PatternPart], path: &Path<'_>) -> bool {
    let length = path.len();
    let (mut part, mut at) = (0, 0);
    let mut back = None;
    while at < length {
        match (parts.get(part), path.segment(at)) {
            (Some(PatternPart::Deep), _) => {
                back = Some((part, at));
                part += 1;
            }
            (Some(this), Some(segment)) if this.fits(segment) => {
                part += 1;
                at += 1;
            }
            _ => {
                let Some((deep, from)) = back else { return false };
                back = Some((deep, from + 1));
                (part, at) = (deep + 1, from + 1);
            }
        }
    }
    parts.iter().skip(part).all(|part| matches!(part, PatternPart::Deep))
}

fn parse(pattern: &str) -> Result<Vec<PatternPart>, (usize, PatternFault)> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    if let Some(behind) = rest.strip_prefix('$') {
        if behind.is_empty() {
            return Ok(parts);
        }
        rest = behind.strip_prefix('.').unwrap_or(behind);
    }
    loop {
        let (part, behind) = segment(rest).map_err(|fault| (pattern.len() - rest.len(), fault))?;
        parts.push(part);
        rest = match (behind.strip_prefix('.'), behind.as_bytes().first()) {
            (_, None) => return Ok(parts),
            (Some(behind), _) => behind,
            (None, Some(b'[')) => behind,
            _ => return Err((pattern.len() - behind.len(), PatternFault::Separator)),
        };
    }
}

fn segment(text: &str) -> Result<(PatternPart, &str), PatternFault> {
    if let Some(quoted) = text.strip_prefix("[\"") {
        let (name, behind) = quoted.split_once("\"]").ok_or(PatternFault::Bracket)?;
        return Ok((key(name)?, behind));
    }
    if let Some(bracket) = text.strip_prefix('[') {
        let (index, behind) = bracket.split_once(']').ok_or(PatternFault::Bracket)?;
        let part = match index {
            "*" => PatternPart::AnyIndex,
            digits => PatternPart::Index(digits.parse().map_err(|_| PatternFault::Bracket)?),
        };
        return Ok((part, behind));
    }
    let (name, behind) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    let part = match name {
        "" => return Err(PatternFault::Empty),
        "*" => PatternPart::Any,
        "**" => PatternPart::Deep,
        name if name.contains('*') => return Err(PatternFault::Star),
        name => key(name)?,
    };
    Ok((part, behind))
}

fn key(name: &str) -> Result<PatternPart, PatternFault> {
    if name.len() < MAX_KEY { Ok(PatternPart::Key(name.into())) } else { Err(PatternFault::TooLong) }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
