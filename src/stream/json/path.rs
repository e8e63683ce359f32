//! Where in a document a value is ([`Path`]), and which places are ours ([`PathSet`]).
//!
//! Keys are decoded: a key written with `\u` escapes is the same key.

use std::fmt;

use crate::base::pointer::Pointer;
use crate::stream::json::lexer::Nesting;

/// How many levels a [`Path`] follows.
pub const MAX_DEPTH: usize = 128;

/// Bytes of a key that a path keeps; no pattern may name a longer one.
const MAX_KEY: usize = 256;

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
pub(in crate::stream) struct Trail {
    steps: Vec<Step>,
    keys: String,
    beyond: usize,
}

impl Trail {
    /// To a member of the root, which is an object.
    pub(in crate::stream) fn to(name: &str) -> Self {
        let mut trail = Self::default();
        trail.open(Nesting::Object);
        trail.named(name);
        trail.end_name();
        trail
    }

    pub(in crate::stream) fn path(&self) -> Path<'_> {
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
        self.beyond = 0;
    }
}

/// What to do with the strings of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Take {
    /// Text for people: scan it.
    Text,
    /// A string that holds JSON itself, such as a tool call's arguments.
    Embedded,
    /// Not ours if it has this type; else text.
    Typed(Type),
    /// Not ours.
    Skip,
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
}

impl Take {
    /// What to do with what stands there: what has not the type that it must have is text.
    #[must_use]
    pub fn of(self, token: Token, text: &str) -> Self {
        match self {
            Self::Typed(of) if of.fits(token, text) => Self::Skip,
            Self::Typed(_) => Self::Text,
            other => other,
        }
    }
}

impl Type {
    fn fits(self, token: Token, text: &str) -> bool {
        let (digit, letter) = (|b: u8| b.is_ascii_digit(), |b: u8| b.is_ascii_alphabetic());
        if self == Self::Number {
            return token == Token::Number
                || token == Token::Key && text.len() <= 7 && text.bytes().all(digit);
        }
        // A number, or groups of one, are looked at: they may be somebody's. Those of a UUID are not.
        let uuid =
            text.len().checked_sub(UUID).filter(|at| is_uuid(text.as_bytes().get(*at..).unwrap_or_default()));
        let numbers: usize = text
            .get(..uuid.unwrap_or(text.len()))
            .unwrap_or_default()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|part| part.bytes().all(digit))
            .map(str::len)
            .sum();
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':' | b'/');
        let shaped = text.len() <= MAX_KEY && text.bytes().all(plain) && numbers < LONG_NUMBER;
        let typed = match self {
            Self::Id => text.len() >= 8 && text.bytes().any(digit) && text.bytes().any(letter),
            _ => text.bytes().next().is_some_and(letter),
        };
        token == Token::Text && shaped && typed
    }
}

/// The length of a UUID's text.
const UUID: usize = 36;

/// Whether a text is a UUID (RFC 9562), and not of digits alone.
fn is_uuid(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == UUID && text.iter().enumerate().all(fits) && text.iter().any(u8::is_ascii_alphabetic)
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
enum Part {
    Key(Box<str>),
    Index(usize),
    AnyIndex,
    Any,
    Deep,
}

impl Part {
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
    patterns: Vec<(Vec<Part>, Take)>,
    otherwise: Take,
}

impl PathSet {
    /// Reads patterns; a path that none fits gets `otherwise`.
    pub fn new(patterns: &[(&str, Take)], otherwise: Take) -> Result<Self, PatternError> {
        let read = |(pattern, &(text, take)): (usize, &(&str, Take))| match parse(text) {
            Ok(parts) => Ok((parts, take)),
            Err((offset, fault)) => Err(PatternError { pattern, offset, fault }),
        };
        Ok(Self { patterns: patterns.iter().enumerate().map(read).collect::<Result<_, _>>()?, otherwise })
    }

    /// Every place is text.
    pub const fn everything() -> Self {
        Self { patterns: Vec::new(), otherwise: Take::Text }
    }

    /// Whether every place is text, since nothing is known of the document.
    pub fn is_everything(&self) -> bool {
        self.patterns.is_empty() && self.otherwise == Take::Text
    }

    /// What to do at `path`.
    pub fn take(&self, path: &Path<'_>) -> Take {
        let fitting = self.patterns.iter().find(|(parts, _)| matches(parts, path));
        fitting.map_or(self.otherwise, |(_, take)| *take)
    }
}

/// Glob matching: going back to the last `**` is enough.
fn matches(parts: &[Part], path: &Path<'_>) -> bool {
    let length = path.len();
    // Most patterns differ in their last name: this spares the walk.
    if let (Some(Part::Key(_) | Part::Index(_)), Some(last)) = (parts.last(), length.checked_sub(1))
        && !parts.last().zip(path.segment(last)).is_some_and(|(part, segment)| part.fits(segment))
    {
        return false;
    }
    let (mut part, mut at) = (0, 0);
    let mut back = None;
    while at < length {
        match (parts.get(part), path.segment(at)) {
            (Some(Part::Deep), _) => {
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
    parts.iter().skip(part).all(|part| matches!(part, Part::Deep))
}

fn parse(pattern: &str) -> Result<Vec<Part>, (usize, PatternFault)> {
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

fn segment(text: &str) -> Result<(Part, &str), PatternFault> {
    if let Some(quoted) = text.strip_prefix("[\"") {
        let (name, behind) = quoted.split_once("\"]").ok_or(PatternFault::Bracket)?;
        return Ok((key(name)?, behind));
    }
    if let Some(bracket) = text.strip_prefix('[') {
        let (index, behind) = bracket.split_once(']').ok_or(PatternFault::Bracket)?;
        let part = match index {
            "*" => Part::AnyIndex,
            digits => Part::Index(digits.parse().map_err(|_| PatternFault::Bracket)?),
        };
        return Ok((part, behind));
    }
    let (name, behind) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    let part = match name {
        "" => return Err(PatternFault::Empty),
        "*" => Part::Any,
        "**" => Part::Deep,
        name if name.contains('*') => return Err(PatternFault::Star),
        name => key(name)?,
    };
    Ok((part, behind))
}

fn key(name: &str) -> Result<Part, PatternFault> {
    if name.len() < MAX_KEY { Ok(Part::Key(name.into())) } else { Err(PatternFault::TooLong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trail to `path`, in which numbers are indices.
    fn trail(path: &str) -> Trail {
        let mut trail = Trail::default();
        for segment in path.split('/').filter(|s| !s.is_empty()) {
            if let Ok(index) = segment.parse() {
                trail.open(Nesting::Array);
                (0..index).for_each(|_| trail.comma());
            } else {
                trail.open(Nesting::Object);
                trail.name();
                trail.named(segment);
                trail.end_name();
            }
        }
        trail
    }

    #[test]
    fn patterns_fit_paths() {
        let cases: &[(&str, &str, bool)] = &[
            ("messages[*].content", "messages/3/content", true),
            ("messages[*].content", "messages/3/content/0/text", false),
            ("messages[*].content", "messages/x/content", false),
            ("messages[*].content", "content", false),
            ("**.arguments", "a/1/arguments", true),
            ("**.arguments", "arguments", true),
            ("**.arguments", "arguments/x", false),
            ("**", "", true),
            ("**", "a/b/0", true),
            ("$", "", true),
            ("$", "a", false),
            ("*", "a", true),
            ("*", "3", true),
            ("*", "", false),
            ("*", "a/b", false),
            ("$.input.**", "input", true),
            ("$.input.**", "input/a/1", true),
            ("a.**.b.**.c", "a/b/b/x/c", true),
            ("a.**.b.**.c", "a/x/c", false),
            ("**.b.c", "b/b/c", true),
            ("[*].parts[1]", "0/parts/1", true),
            ("[*].parts[1]", "0/parts/2", false),
            ("a[\"b.c[*]\"].d", "a/b.c[*]/d", true),
        ];
        for (pattern, path, fits) in cases {
            let set = PathSet::new(&[(*pattern, Take::Text)], Take::Skip).unwrap();
            let expected = if *fits { Take::Text } else { Take::Skip };
            assert_eq!(set.take(&trail(path).path()), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn what_has_another_type_is_text() {
        let (number, id, name) = (Take::Typed(Type::Number), Take::Typed(Type::Id), Take::Typed(Type::Name));
        let cases: &[(Take, Token, &str, bool)] = &[
            (number, Token::Number, "1234567890", true),
            (number, Token::Text, "1234567890", false),
            (number, Token::Text, "jane@example.com", false),
            (number, Token::Key, "50256", true),
            (number, Token::Key, "4111111111111111", false),
            (number, Token::Key, "jane", false),
            (id, Token::Text, "chatcmpl-AbC123xyz", true),
            (id, Token::Text, "call_Zk3Jx91LmQpV8sTn2Rw7Yb4K", true),
            (id, Token::Text, "550e8400-e29b-41d4-a716-446655440000", true),
            (id, Token::Text, "chatcmpl-550e8400-e29b-41d4-a716-446655440000", true),
            (id, Token::Text, "55508400-1129-4114-9716-446655440000", false),
            (id, Token::Text, "functions.get_weather:0", true),
            (id, Token::Text, "536-22-8726", false),
            (id, Token::Text, "call_5551234567", false),
            (id, Token::Text, "call_555-123-4567", false),
            (id, Token::Text, "call_4111-1111-1111-1111", false),
            (id, Token::Text, "4111111111111111", false),
            (id, Token::Text, "jane.doe", false),
            (id, Token::Text, "jane@example.com", false),
            (id, Token::Text, "it is 12 Main Street", false),
            (id, Token::Number, "1234567890", false),
            (name, Token::Text, "gpt-4o", true),
            (name, Token::Text, "chat.completion.chunk", true),
            (name, Token::Text, "meta-llama/Llama-3:free", true),
            (name, Token::Text, "ask jane@example.com", false),
            (name, Token::Text, "536-22-8726", false),
            (Take::Embedded, Token::Text, "x", false),
        ];
        for (take, token, text, skipped) in cases {
            assert_eq!(take.of(*token, text) == Take::Skip, *skipped, "{take:?} {token:?} {text}");
        }
    }

    #[test]
    fn the_first_pattern_decides() {
        let set = PathSet::new(&[("a.id", Take::Skip), ("a.*", Take::Embedded)], Take::Text).unwrap();
        assert_eq!(set.take(&trail("a/id").path()), Take::Skip);
        assert_eq!(set.take(&trail("a/x").path()), Take::Embedded);
        assert_eq!(set.take(&trail("b").path()), Take::Text);
        assert_eq!(PathSet::everything().take(&trail("").path()), Take::Text);
    }

    #[test]
    fn faulty_patterns_are_refused_with_their_place() {
        let long = "k".repeat(256);
        let cases: &[(&str, usize, PatternFault)] = &[
            ("", 0, PatternFault::Empty),
            ("a..b", 2, PatternFault::Empty),
            ("a.", 2, PatternFault::Empty),
            ("a[", 1, PatternFault::Bracket),
            ("a[x]", 1, PatternFault::Bracket),
            ("a[\"x]", 1, PatternFault::Bracket),
            ("a.b*", 2, PatternFault::Star),
            ("a[0]b", 4, PatternFault::Separator),
            (&long, 0, PatternFault::TooLong),
        ];
        for (text, offset, fault) in cases {
            let error = PathSet::new(&[("ok", Take::Text), (*text, Take::Text)], Take::Skip).unwrap_err();
            assert_eq!(error, PatternError { pattern: 1, offset: *offset, fault: *fault }, "{text}");
        }
    }

    #[test]
    fn a_trail_follows_what_is_read() {
        let mut trail = trail("a/2/b~c");
        assert_eq!(trail.path().to_string(), "/a/2/b~0c");
        trail.name();
        assert_eq!(trail.path().to_string(), "/a/2");
        trail.named("lö");
        trail.named("ng");
        trail.end_name();
        assert_eq!(trail.path().segment(2), Some(Segment::Key("löng")));
        trail.close();
        trail.comma();
        assert_eq!(trail.path().to_string(), "/a/3");
        trail.close();
        trail.close();
        assert!(trail.path().is_empty() && trail.keys.is_empty());
    }

    #[test]
    fn deeper_levels_are_counted_not_kept() {
        let mut trail = Trail::default();
        (0..200).for_each(|_| trail.open(Nesting::Array));
        assert_eq!((trail.path().len(), trail.path().is_cut()), (MAX_DEPTH, true));
        trail.comma();
        (0..72).for_each(|_| trail.close());
        assert!(!trail.path().is_cut());
        assert!(trail.path().segments().all(|s| s == Segment::Index(0)));
        trail.comma();
        assert_eq!(trail.path().segment(MAX_DEPTH - 1), Some(Segment::Index(1)));
    }
}
