//! What a protocol is: data. Paths of values are written as for [`PathSet`]; those of a [`StreamProtocol`] name members
//! (`a.b`) and each element of an array (`a[*]`), and nothing else.

use std::sync::Arc;

use crate::base::path::RequestPath;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::offsets::{CompiledOffsets, Offsets};
use crate::gateway::llm::place::{CompiledKey, PlaceError, ValuePlace};
use crate::gateway::llm::schema::with_schemas;
use crate::gateway::llm::turn_rule::{CompiledTurn, TurnRule};
use crate::stream::json::{PathSet, PatternError, Treatment};

/// One LLM protocol. Patterns are tried in order; a string that none names is text all the same, since an unknown
/// field may hold a value as well as a known one.
pub struct Protocol {
    /// Its name in the log.
    pub name: &'static str,
    /// How its paths end: whole segments, in which a `*` stands for any text.
    pub paths: &'static [&'static str],
    /// How it spells an error.
    pub shape: ErrorShape,
    /// The strings of a request that are not plain text.
    pub request: &'static [(&'static str, Treatment)],
    /// The strings of an answer, or of one event, that are not plain text.
    pub answer: &'static [(&'static str, Treatment)],
    /// Where such requests and answers stand within others.
    pub nested: Nested,
    /// How texts go on over the events of a stream.
    pub stream: StreamProtocol,
    /// How a request asks a model.
    pub model: ModelNaming,
    /// Where an answer, or an event of one, says how many tokens it took: members of members (`a.b`).
    pub usage: &'static [(&'static str, TokenCount)],
}

/// Places of whole requests and answers within others: below these, all that is said of one by itself holds as well.
#[derive(Clone, Copy)]
pub struct Nested {
    /// In a request, such as one that makes a batch.
    pub requests: &'static [&'static str],
    /// In an answer.
    pub answers: &'static [&'static str],
}

impl Nested {
    /// There are none.
    pub const NONE: Self = Self { requests: &[], answers: &[] };
}

/// How requests ask models.
#[derive(Clone, Copy)]
pub struct ModelNaming {
    /// Whether a member `model` says which, at the top of a body.
    pub in_member: bool,
    /// How those of its paths end at which no model is asked: what the provider keeps.
    pub idle: &'static [&'static str],
    /// How those of its paths end at which a model is named and nothing is taken of it: counting, judging.
    pub free: &'static [&'static str],
    /// How those of its paths end at which what is asked stands elsewhere: in a file, or in what comes later.
    pub blind: &'static [&'static str],
    /// Places of the members that bound the length of an answer, in tokens; in small letters.
    pub bounds: &'static [&'static str],
}

/// All that are, of whatever provider: where it is not known whose server answers.
pub const ANY_BOUND: &[&str] = &[
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "max_tokens_to_sample",
    "generationconfig.maxoutputtokens",
    "inferenceconfig.maxtokens",
    "options.num_predict",
    "max_gen_len",
    "n_predict",
    "parameters.max_new_tokens",
];

impl ModelNaming {
    /// No member says it.
    pub const NONE: Self = Self { in_member: false, idle: &[], free: &[], blind: &[], bounds: ANY_BOUND };
    /// The member does.
    pub const MEMBER: Self = Self { in_member: true, ..Self::NONE };
}

/// What a number of tokens counts. Providers draw the lines differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenCount {
    /// All that was read.
    Input,
    /// What was read without what the provider's cache gave or took.
    FreshInput,
    /// More that was read, beside all that.
    OtherInput,
    /// What its cache gave.
    CachedInput,
    /// What its cache took.
    CacheWrite,
    /// All that was written.
    Output,
    /// What was written without reasoning.
    VisibleOutput,
    /// Reasoning.
    Reasoning,
    /// All that was read and written.
    Total,
}

impl Protocol {
    /// Whether a model writes its answers: those of MCP are a tool's.
    pub fn is_of_model(&self) -> bool {
        self.shape != ErrorShape::JsonRpc
    }
}

impl std::fmt::Debug for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Protocol({})", self.name)
    }
}

/// How texts go on over the events of a stream.
pub struct StreamProtocol {
    /// The member of each event, and of a whole answer, below which all of this and what [`Protocol::usage`] names stands; empty:
    /// the event is it.
    pub within: &'static str,
    /// The strings whose text goes on in later events.
    pub deltas: &'static [DeltaRule],
    /// What ends texts.
    pub closes: &'static [CloseRule],
    /// Values that repeat a text.
    pub echoes: &'static [EchoRule],
    /// Numbers that point into texts.
    pub offsets: &'static [Offsets],
    /// JSON values of which nothing is known, such as the arguments of a call: names of members and long numbers in them may be
    /// somebody's as well. Patterns as for [`PathSet`], of the whole event.
    pub free_form: &'static [&'static str],
    /// Signatures of texts, which must go back as they came.
    pub signed: &'static [SignedRule],
    /// Texts with one first value of their key of which only one kind goes on at a time.
    pub in_turn: &'static [TurnRule],
    /// What an event says that brings text, and the next one says again: one of whose text nothing leaves yet is left out if it
    /// says no more. Members' names with dots between, `[*]` for the elements of an array. Empty: all events leave.
    pub repeated: &'static [&'static str],
    /// Whether clients count on each event's number (`sequence_number`): none can be added then, so one that has left
    /// text behind waits for the next.
    pub numbered: bool,
    /// Whether a stream may be one array of documents.
    pub in_array: bool,
    /// Whether a stream says how many tokens it took only if it is asked to (`stream_options.include_usage`).
    pub reports_if_asked: bool,
    /// The data of the event that ends a stream, where that is no document; empty: none is.
    pub end_data: &'static [u8],
    /// What the last line of a complete stream has in it, spaces left out: one of these. None: clients read to the end.
    pub final_events: &'static [&'static [u8]],
}

impl StreamProtocol {
    /// No text goes on in another event.
    pub const NONE: Self = Self {
        within: "",
        deltas: &[],
        closes: &[],
        echoes: &[],
        offsets: &[],
        free_form: &[],
        signed: &[],
        in_turn: &[],
        repeated: &[],
        numbered: false,
        in_array: false,
        reports_if_asked: false,
        end_data: b"",
        final_events: &[],
    };
}

/// Strings whose text goes on in later events.
pub struct DeltaRule {
    /// Where they are.
    pub at: &'static str,
    /// What they hold.
    pub treatment: Treatment,
    /// What else an event of this kind has.
    pub when: Option<EventCondition>,
    /// What texts are told apart by, outermost first.
    pub key: &'static [ChannelRule],
}

/// What texts are told apart by.
pub enum ChannelRule {
    /// A number or a string. Where one of an array's elements has none, its position counts.
    Value(&'static str),
    /// Whether there is a value, and which: an element without one is like all others without one.
    Mark(&'static str),
    /// The first value, or the second where there is no first.
    Either(&'static str, &'static str),
}

/// A condition on an event.
pub struct EventCondition {
    /// Where the value is.
    pub at: &'static str,
    /// The string that it is.
    pub is: &'static str,
}

/// A value that ends texts.
pub struct CloseRule {
    /// Where it is; `null` ends nothing.
    pub at: &'static str,
    /// The string that it is; `None`: any value.
    pub is: Option<&'static str>,
    /// What the texts are known by, as for [`DeltaRule::key`]: those end whose key begins so.
    pub key: &'static [ChannelRule],
}

/// A value that repeats a text, token by token or byte by byte. Where that text was changed, it is replaced.
pub struct EchoRule {
    /// Where it is; it repeats texts of the innermost element on its way.
    pub at: &'static str,
    /// What stands there instead, as JSON.
    pub with: &'static str,
}

/// A signature. Where what it covers was redacted beyond undoing, the caller gets one of ours, which brings it back.
pub struct SignedRule {
    /// Where it is.
    pub at: &'static str,
    /// What it covers.
    pub covers: SignedScope,
}

/// What a signature covers.
pub enum SignedScope {
    /// These members of the object that it is in, by their whole places.
    Beside(&'static [&'static str]),
    /// A text that came in earlier events, and is a member of the block in which the caller sends both back.
    Channel {
        /// Where the text is, as of a [`DeltaRule`].
        delta: &'static str,
        /// What it is known by, as for [`DeltaRule::key`].
        key: &'static [ChannelRule],
        /// The member's name.
        member: &'static str,
    },
}

/// How requests name a conversation to which its provider gave an id before the first turn.
pub struct ConversationNaming {
    /// How the paths end of requests whose body may name one.
    pub body_paths: &'static [&'static str],
    /// The member of such a body that names it: its id, or an object with one.
    pub member: &'static str,
    /// The segment of a path behind which its id may stand.
    pub collection: &'static str,
    /// The segment that follows the id there.
    pub items: &'static str,
}

/// A protocol with its patterns compiled.
pub struct CompiledProtocol {
    /// The data it is made from.
    pub protocol: &'static Protocol,
    /// Which strings of a request are text.
    pub request: Arc<PathSet>,
    /// Which strings of an answer are text.
    pub answer: Arc<PathSet>,
    pub(super) stream: CompiledStream,
}

/// A [`StreamProtocol`] with its places compiled.
pub(super) struct CompiledStream {
    pub(super) deltas: Vec<CompiledDelta>,
    pub(super) closes: Vec<CompiledClose>,
    pub(super) echoes: Vec<CompiledEcho>,
    pub(super) offsets: Vec<CompiledOffsets>,
    /// The places of names and numbers that are looked at.
    pub(super) free_form: PathSet,
    pub(super) signed: Vec<CompiledSigned>,
    pub(super) in_turn: Vec<CompiledTurn>,
    pub(super) numbered: bool,
}

pub(super) struct CompiledDelta {
    pub(super) at: ValuePlace,
    pub(super) treatment: Treatment,
    pub(super) when: Option<(ValuePlace, &'static str)>,
    pub(super) key: Vec<CompiledKey>,
}

pub(super) struct CompiledClose {
    pub(super) at: ValuePlace,
    pub(super) is: Option<&'static str>,
    pub(super) key: Vec<CompiledKey>,
}

pub(super) struct CompiledEcho {
    pub(super) at: ValuePlace,
    pub(super) with: &'static str,
}

pub(super) struct CompiledSigned {
    pub(super) at: ValuePlace,
    pub(super) covers: CompiledCovers,
}

pub(super) enum CompiledCovers {
    Beside(Vec<ValuePlace>),
    Channel { delta: usize, key: Vec<CompiledKey>, member: &'static str },
}

/// What is wrong in a protocol's data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A place in an event.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A text is named that no delta is.
    #[error("{0} is no delta")]
    NoDelta(&'static str),
}

/// Which of `protocols` is spoken at a path. Where two have it, the one that names more of it counts, else the first.
pub(super) fn at(protocols: &[&'static Protocol], path: &RequestPath) -> Option<&'static Protocol> {
    let path = path.compared().trim_end_matches('/');
    let fitting = protocols.iter().rev().filter_map(|protocol| Some((protocol.fits(path)?, *protocol)));
    fitting.max_by_key(|(segments, _)| *segments).map(|(_, protocol)| protocol)
}

impl Protocol {
    /// How many segments of this path say that requests to it speak this protocol.
    fn fits(&self, path: &str) -> Option<usize> {
        let fitting = self.paths.iter().filter(|end| path_ends(path, end));
        fitting.map(|end| end.matches('/').count()).max()
    }
}

/// Whether the last segments of a path are these, in which a `*` stands for any text that is not empty.
pub(super) fn path_ends(path: &str, end: &str) -> bool {
    // Nearly none is the path's, which the last byte tells of most.
    if !end.ends_with('*') && end.as_bytes().last() != path.as_bytes().last() {
        return false;
    }
    let (mut path, mut end) = (path.as_bytes(), end.strip_prefix('/').unwrap_or(end).as_bytes());
    loop {
        let ((before, segment), (rest, want)) = (last_segment(path), last_segment(end));
        let fits = match want.iter().position(|&byte| byte == b'*') {
            None => segment == want,
            Some(star) => {
                let (head, tail) = (want.get(..star), want.get(star + 1..));
                segment.len() >= want.len()
                    && segment.starts_with(head.unwrap_or_default())
                    && segment.ends_with(tail.unwrap_or_default())
            }
        };
        (path, end) = match (fits, before, rest) {
            (true, _, None) => return true,
            (true, Some(before), Some(rest)) => (before, rest),
            _ => return false,
        };
    }
}

/// What stands before the last slash of a path, if there is one, and what behind it. Paths are short.
fn last_segment(path: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (path.get(..slash), path.get(slash + 1..).unwrap_or_default()),
        None => (None, path),
    }
}

impl CompiledProtocol {
    /// Compiles a protocol's patterns.
    ///
    /// # Errors
    /// A pattern that is wrong, which would be a bug in the data.
    pub fn new(protocol: &'static Protocol) -> Result<Self, ProtocolError> {
        Ok(Self {
            protocol,
            request: with_nested(protocol.request, protocol.nested.requests)?,
            answer: with_nested(protocol.answer, protocol.nested.answers)?,
            stream: CompiledStream::new(&protocol.stream)?,
        })
    }

    /// Whether the provider signs what its models say, and takes it back only as it was.
    pub fn signs(&self) -> bool {
        !self.stream.signed.is_empty()
    }
}

/// Patterns behind those that all protocols have, and the same again at each of these places.
fn with_nested(
    patterns: &[(&'static str, Treatment)],
    places: &[&str],
) -> Result<Arc<PathSet>, PatternError> {
    let alone = Arc::new(with_schemas(patterns)?);
    if places.is_empty() {
        return Ok(alone);
    }
    let all = places.iter().try_fold(alone.then(&[])?, |all, place| all.nested(place, Arc::clone(&alone)))?;
    Ok(Arc::new(all))
}

impl CompiledStream {
    fn new(stream: &'static StreamProtocol) -> Result<Self, ProtocolError> {
        let place = |at| ValuePlace::within(stream.within, at);
        let keys = |key: &'static [ChannelRule]| -> Result<Vec<CompiledKey>, PlaceError> {
            let compiled = key.iter().map(|key| match key {
                ChannelRule::Value(at) => place(at).map(CompiledKey::Value),
                ChannelRule::Mark(at) => place(at).map(CompiledKey::Mark),
                ChannelRule::Either(first, second) => Ok(CompiledKey::Either(place(first)?, place(second)?)),
            });
            compiled.collect()
        };
        let delta = |delta: &'static DeltaRule| -> Result<_, PlaceError> {
            let when = delta.when.as_ref().map(|when| Ok((place(when.at)?, when.is))).transpose()?;
            let (at, key) = (place(delta.at)?, keys(delta.key)?);
            Ok(CompiledDelta { at, treatment: delta.treatment, when, key })
        };
        let close = |close: &'static CloseRule| -> Result<_, PlaceError> {
            Ok(CompiledClose { at: place(close.at)?, is: close.is, key: keys(close.key)? })
        };
        // An error stands in the place of what would be there.
        let outside = |close: &&CloseRule| !stream.within.is_empty() && close.key.is_empty();
        let close_outside = |close: &'static CloseRule| -> Result<_, PlaceError> {
            Ok(CompiledClose { at: ValuePlace::parse(close.at)?, is: close.is, key: Vec::new() })
        };
        let echo = |echo: &'static EchoRule| -> Result<_, PlaceError> {
            Ok(CompiledEcho { at: place(echo.at)?, with: echo.with })
        };
        let position = |at: &'static str| {
            stream.deltas.iter().position(|known| known.at == at).ok_or(ProtocolError::NoDelta(at))
        };
        let turn = |turn: &'static TurnRule| -> Result<_, ProtocolError> {
            let of = turn.of.iter().map(|at| position(at)).collect::<Result<_, _>>()?;
            let begins = turn.begins.iter().map(|at| place(at)).collect::<Result<_, _>>()?;
            Ok(CompiledTurn { of, begins, by_key: turn.by_key })
        };
        let signed = |signed: &'static SignedRule| -> Result<_, ProtocolError> {
            let covers = match &signed.covers {
                SignedScope::Beside(places) => {
                    let places = places.iter().map(|at| place(at));
                    CompiledCovers::Beside(places.collect::<Result<_, _>>()?)
                }
                SignedScope::Channel { delta, key, member } => {
                    CompiledCovers::Channel { delta: position(delta)?, key: keys(key)?, member }
                }
            };
            Ok(CompiledSigned { at: place(signed.at)?, covers })
        };
        let within: Vec<String> = stream.free_form.iter().map(|at| format!("{at}.**")).collect();
        let free_form: Vec<(&str, Treatment)> =
            within.iter().map(|at| (at.as_str(), Treatment::Text)).collect();
        Ok(Self {
            in_turn: stream.in_turn.iter().map(turn).collect::<Result<_, _>>()?,
            signed: stream.signed.iter().map(signed).collect::<Result<_, _>>()?,
            deltas: stream.deltas.iter().map(delta).collect::<Result<_, _>>()?,
            closes: (stream.closes.iter().map(close))
                .chain(stream.closes.iter().filter(outside).map(close_outside))
                .collect::<Result<_, _>>()?,
            free_form: PathSet::new(&free_form, Treatment::Skip)?,
            echoes: stream.echoes.iter().map(echo).collect::<Result<_, _>>()?,
            offsets: (stream.offsets.iter())
                .map(|offsets| CompiledOffsets::new(offsets, place))
                .collect::<Result<_, _>>()?,
            numbered: stream.numbered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_in_whole_segments() {
        for (path, end, fits) in [
            ("/v1/chat/completions", "/chat/completions", true),
            ("/v1/xchat/completions", "/chat/completions", false),
            ("/chat/completions", "/chat/completions", true),
            ("/completions", "/chat/completions", false),
            ("/model/anthropic.claude-3/converse", "/model/*/converse", true),
            ("/model//converse", "/model/*/converse", false),
            ("/v1beta/models/gemini-3:generateContent", "/models/*:generateContent", true),
            ("/v1beta/models/:generateContent", "/models/*:generateContent", false),
            ("/v1/responses/resp_1", "/responses/*", true),
        ] {
            assert_eq!(path_ends(path, end), fits, "{path} {end}");
        }
    }
}
