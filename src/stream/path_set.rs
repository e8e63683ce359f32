//! [`PathSet`]: which places of a document are ours.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::stream::path::{MAX_KEY, Path, Segment, Treatment};

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
#[non_exhaustive]
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
    fn name(&self) -> Option<&str> {
        match self {
            Self::Key(name) => Some(name),
            _ => None,
        }
    }

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
    /// The names of members that the patterns have.
    names: BTreeSet<Box<str>>,
    /// The patterns that may fit a path, in order: by the key that it begins with, and the one that it ends with.
    tried: ByKey<ByKey<Vec<usize>>>,
    /// Places of documents within the document, and what those are read by.
    nested: Vec<(Arc<[PatternPart]>, Arc<Self>)>,
    otherwise: Treatment,
    /// Whether these are places that documents of any kind may have, and nothing else is known of this one.
    of_any: bool,
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
        let nested = self.nested.clone();
        let tried = tried(&patterns);
        let names = patterns.iter().flat_map(|(parts, _)| parts.iter()).filter_map(PatternPart::name);
        let names = names.map(Box::from).collect();
        Ok(Self { patterns, names, nested, tried, otherwise: self.otherwise, of_any: self.of_any })
    }

    /// What stands at `place` is a document of its own, and `by` says what to do in it. In a place `**` is one segment, as `*`
    /// is.
    ///
    /// # Errors
    /// A place that cannot be read.
    pub fn nested(mut self, place: &str, by: Arc<Self>) -> Result<Self, PatternError> {
        let parts = parse(place).map_err(|(offset, fault)| PatternError { pattern: 0, offset, fault })?;
        self.nested.push((parts.into(), by));
        Ok(self)
    }

    /// Every place is text.
    pub const fn everything() -> Self {
        Self {
            patterns: Vec::new(),
            names: BTreeSet::new(),
            tried: ByKey {
                named: BTreeMap::new(),
                other: ByKey { named: BTreeMap::new(), other: Vec::new() },
            },
            nested: Vec::new(),
            otherwise: Treatment::Text,
            of_any: false,
        }
    }

    /// The same places in documents of which nothing else is known.
    #[must_use]
    pub fn of_any_document(self) -> Self {
        Self { of_any: true, ..self }
    }

    /// Whether a protocol says what the document is.
    pub fn is_of_protocol(&self) -> bool {
        !self.of_any && !self.is_everything()
    }

    /// Whether every place is text, since nothing is known of the document.
    pub fn is_everything(&self) -> bool {
        self.patterns.is_empty() && self.nested.is_empty() && self.otherwise == Treatment::Text
    }

    /// Whether a member's name is one of the patterns': whoever writes such documents knows it, and it is nobody's.
    pub fn has_name(&self, name: &str) -> bool {
        self.names.contains(name) || self.nested.iter().any(|(_, by)| by.has_name(name))
    }

    /// What to do at `path`.
    pub fn take(&self, path: &Path<'_>) -> Treatment {
        if let Some((place, by)) = self.nested.iter().find(|(place, _)| begins(place, path)) {
            return by.take(&path.below(place.len()));
        }
        if self.patterns.is_empty() {
            return self.otherwise;
        }
        let tried = self.tried.at(path.segment(0)).at(path.last());
        let mut tried = tried.iter().filter_map(|&n| self.patterns.get(n));
        let fitting = tried.find(|(parts, _)| matches(parts, path));
        fitting.map_or(self.otherwise, |(_, take)| *take)
    }
}

/// What there is by the key at one end of a path.
#[derive(Debug)]
struct ByKey<T> {
    named: BTreeMap<Box<str>, T>,
    /// For paths that have another segment there, or none.
    other: T,
}

impl<T> ByKey<T> {
    /// Sorts patterns by the key that `end` finds in them, and makes of those that may fit alike what is kept for them, in order.
    /// What has no key there may fit with any.
    fn of(which: &[usize], end: impl Fn(usize) -> Option<Box<str>>, make: impl Fn(Vec<usize>) -> T) -> Self {
        let keys: Vec<(usize, Option<Box<str>>)> = which.iter().map(|&n| (n, end(n))).collect();
        let fitting = |wanted: Option<&str>| {
            let fits = |key: &Option<Box<str>>| key.as_deref().is_none_or(|key| Some(key) == wanted);
            make(keys.iter().filter(|(_, key)| fits(key)).map(|(n, _)| *n).collect())
        };
        let names: BTreeSet<&Box<str>> = keys.iter().filter_map(|(_, key)| key.as_ref()).collect();
        let named = names.into_iter().map(|name| (name.clone(), fitting(Some(name)))).collect();
        Self { named, other: fitting(None) }
    }

    fn at(&self, segment: Option<Segment<'_>>) -> &T {
        let named = match segment {
            Some(Segment::Key(key)) => self.named.get(key),
            _ => None,
        };
        named.unwrap_or(&self.other)
    }
}

/// Most patterns differ in their first name or in their last one: only those that have a path's are tried on it.
fn tried(patterns: &[(Arc<[PatternPart]>, Treatment)]) -> ByKey<ByKey<Vec<usize>>> {
    let key = |part: Option<&PatternPart>| part.and_then(PatternPart::name).map(Box::from);
    let parts = |n: usize| patterns.get(n).map(|(parts, _)| &**parts).unwrap_or_default();
    let all: Vec<usize> = (0..patterns.len()).collect();
    ByKey::of(
        &all,
        |n| key(parts(n).first()),
        |some| ByKey::of(&some, |n| key(parts(n).last()), |fitting| fitting),
    )
}

/// Whether a path leads to this place, or through it.
fn begins(place: &[PatternPart], path: &Path<'_>) -> bool {
    let mut parts = place.iter().enumerate();
    path.len() >= place.len()
        && parts.all(|(at, part)| path.segment(at).is_some_and(|segment| part.fits(segment)))
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
