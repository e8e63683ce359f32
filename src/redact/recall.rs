//! What was issued before this request: to its caller, and in its conversation. A surrogate that stands in the caller's
//! own text stays as it is, so that there is never a surrogate of a surrogate; and what has one in this conversation
//! keeps it, also under another key.
//!
//! A surrogate looks like any other value of its format, so that whether one was issued is remembered and not seen.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::redact::issued::{IssuedSurrogate, IssuedSurrogates, SurrogateIdentity};
use crate::redact::parts_index::PartsIndex;
use crate::redact::surrogate_log;
use crate::redact::surrogate_map::{FindingLimits, IssuedPair, Ledger, SurrogateMap};

/// The fewest letters and digits of a surrogate that is known again: values of shorter ones are so few that a genuine one
/// soon equals a surrogate, and would leave as it is.
const SHORTEST: usize = 8;

/// Which surrogates a caller has had. It reads no text but the one it is asked about, and never waits.
pub trait IssuedToCaller: Send + Sync {
    /// Whether a surrogate of this canonical form was issued to the caller.
    fn has(&self, canonical: &[u8]) -> bool;

    /// One of this canonical form is issued now.
    fn add(&self, canonical: &[u8]);
}

/// What was issued before. Cheap to clone; the default knows nothing.
#[derive(Clone, Default)]
pub struct Recall {
    /// To the caller, in whatever request.
    pub caller: Option<Arc<dyn IssuedToCaller>>,
    /// In the conversation that the request belongs to.
    pub conversation: Option<Arc<SurrogateMap>>,
}

/// What a caller has had, for whoever only tries what would be issued.
struct Unchanged(Arc<dyn IssuedToCaller>);

impl IssuedToCaller for Unchanged {
    fn has(&self, canonical: &[u8]) -> bool {
        self.0.has(canonical)
    }

    fn add(&self, _: &[u8]) {}
}

impl Recall {
    /// The same, but what is issued with it is not noted: it leaves nowhere.
    pub(super) fn unchanged(&self) -> Self {
        let unchanged = |caller: &Arc<dyn IssuedToCaller>| Arc::new(Unchanged(Arc::clone(caller))) as Arc<_>;
        Self { caller: self.caller.as_ref().map(unchanged), conversation: self.conversation.clone() }
    }

    /// Whether `range` of `text` is a surrogate that the caller has had, or a part of one that a rule has taken for a value.
    pub(super) fn covers(&self, text: &str, range: &Range<usize>) -> bool {
        if self.caller.is_none() {
            return false;
        }
        let knows = |range: Range<usize>| text.get(range).is_some_and(|text| self.knows(text));
        let (starts, ends) = (starts(text.as_bytes(), range.start), ends(text.as_bytes(), range.end));
        starts.iter().any(|start| ends.iter().any(|end| knows(*start..*end)))
    }

    /// Whether `text` is a surrogate that the caller has had, however its letters and separators are written.
    pub(super) fn knows(&self, text: &str) -> bool {
        let Some(caller) = &self.caller else { return false };
        canonical(text).is_some_and(|canonical| caller.has(&canonical))
    }

    /// Notes that a surrogate is issued.
    pub(super) fn note(&self, surrogate: &str) {
        if let (Some(caller), Some(canonical)) = (&self.caller, canonical(surrogate)) {
            caller.add(&canonical);
        }
    }
}

impl std::fmt::Debug for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recall(..)")
    }
}

/// What is the same in all spellings of one surrogate; `None` for what is too short to be known again.
fn canonical(text: &str) -> Option<Vec<u8>> {
    let kept = text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let canonical: Vec<u8> = kept.map(|byte| byte.to_ascii_lowercase()).collect();
    (canonical.len() >= SHORTEST).then_some(canonical)
}

/// The most words on each side of a finding that may be of one surrogate with it.
const WORDS: usize = 6;

/// What may stand between two words of a surrogate, at most two of them.
const BETWEEN: &[u8] = b" -._@+()/:";

/// The longest word that is looked at, in bytes.
const LONGEST_WORD: usize = 128;

/// Where a surrogate may begin of which a part begins at `at`.
fn starts(text: &[u8], at: usize) -> Vec<usize> {
    let before = |distance: usize| text.get(at.checked_sub(distance + 1)?).copied();
    steps(&before).into_iter().map(|step| at - step).collect()
}

/// Where one may end of which a part ends at `at`.
fn ends(text: &[u8], at: usize) -> Vec<usize> {
    let behind = |distance: usize| text.get(at + distance).copied();
    steps(&behind).into_iter().map(|step| at + step).collect()
}

/// How far words reach from a place on, the nearest first; `byte` is the one at a distance. Prose ends them: beyond a space
/// only words with a digit count.
fn steps(byte: &dyn Fn(usize) -> Option<u8>) -> Vec<usize> {
    let run = |from: usize, fits: &dyn Fn(&u8) -> bool| {
        let run = (from..from + LONGEST_WORD).map_while(byte).take_while(fits);
        run.collect::<Vec<u8>>()
    };
    let mut at = run(0, &u8::is_ascii_alphanumeric).len();
    let mut steps = if at > 0 { vec![0, at] } else { vec![0] };
    while steps.len() <= WORDS {
        let gap = run(at, &|byte| BETWEEN.contains(byte));
        let word = run(at + gap.len(), &u8::is_ascii_alphanumeric);
        let prose = gap.contains(&b' ') && !word.iter().any(u8::is_ascii_digit);
        if !(1..=2).contains(&gap.len()) || word.is_empty() || prose {
            break;
        }
        at += gap.len() + word.len();
        steps.push(at);
    }
    steps
}

/// What a conversation has issued, to be looked up.
#[derive(Default)]
pub(super) struct ConversationRecall<'u> {
    by_original: HashMap<&'u str, (&'u str, SurrogateIdentity)>,
    taken: IssuedSurrogates,
}

impl<'u> ConversationRecall<'u> {
    pub(super) fn of(undo: &'u SurrogateMap) -> Self {
        let mut earlier = Self::default();
        for IssuedPair { surrogate, original, spelling, .. } in undo.pairs() {
            earlier.by_original.entry(original).or_insert((surrogate, spelling));
            earlier.taken.insert(spelling.canonical(surrogate), spelling.owner(original));
        }
        earlier
    }

    /// The surrogate that stands for an original.
    pub(super) fn surrogate_of(&self, original: &str, spelling: SurrogateIdentity) -> Option<&'u str> {
        let (surrogate, known) = self.by_original.get(original)?;
        // What persons were told apart by before there were names for them.
        (*known == spelling || known.is_words() && spelling.is_words()).then_some(surrogate)
    }

    /// What no other value may have.
    pub(super) fn into_taken(self) -> IssuedSurrogates {
        self.taken
    }
}

fn issued(pair: IssuedPair<'_>) -> IssuedSurrogate {
    let IssuedPair { surrogate, original, spelling, parts } = pair;
    IssuedSurrogate {
        surrogate: surrogate.to_owned(),
        original: Zeroizing::new(original.to_owned()),
        spelling,
        parts,
    }
}

impl SurrogateMap {
    /// The same, and what was issued earlier. Where both have a surrogate, its original is the one of this; of what does
    /// not fit the limits of one request the earlier part is left out, and is not restored.
    #[must_use]
    pub fn with_earlier(&self, earlier: &Self) -> Self {
        let mut ledger = Ledger::new(FindingLimits::default());
        let mut known = HashSet::new();
        let earlier_hosts = earlier.hosts();
        for pair in self.pairs().chain(earlier.pairs()) {
            if known.insert(pair.spelling.canonical(pair.surrogate)) && ledger.issue(issued(pair)).is_err() {
                break;
            }
        }
        ledger.close().among(self.hosts()).among(earlier_hosts)
    }

    /// The same for a request with this body: what stands in it is no part of a surrogate. It is read as it is written: what
    /// it says in escapes or base64, and what was said in other requests, is not known here.
    #[must_use]
    pub fn beside(&self, body: &[u8]) -> Self {
        let all = || self.pairs().map(issued).enumerate();
        let present = PartsIndex::new(self.len(), all()).present(body);
        let issued =
            all().map(|(n, one)| IssuedSurrogate { parts: one.parts && !present.contains(&n), ..one });
        Self::of(issued.collect()).among(self.hosts())
    }

    /// The same where it is not known what stands beside it.
    #[must_use]
    pub fn without_parts(&self) -> Self {
        let issued = self.pairs().map(|pair| issued(IssuedPair { parts: false, ..pair }));
        Self::of(issued.collect()).among(self.hosts())
    }

    /// Bytes of the surrogates and the originals together.
    pub fn size(&self) -> usize {
        self.pairs().map(|pair| pair.surrogate.len() + pair.original.len()).sum()
    }

    /// Whether all that `other` has issued was issued here too, for the same originals.
    pub fn covers(&self, other: &Self) -> bool {
        let mine: HashMap<&str, &str> = self.pairs().map(|pair| (pair.surrogate, pair.original)).collect();
        other.pairs().all(|pair| mine.get(pair.surrogate) == Some(&pair.original))
    }

    /// What [`SurrogateMap::from_bytes`] reads. To be sealed at once: it holds the originals.
    pub fn to_bytes(&self) -> Secret<Vec<u8>> {
        let mut bytes = surrogate_log::begun();
        for pair in self.pairs() {
            surrogate_log::write(&issued(pair), &mut bytes);
        }
        Secret::new(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture::restored;

    fn undo(pairs: &[(&str, &str, SurrogateIdentity)]) -> SurrogateMap {
        let mut ledger = Ledger::new(FindingLimits::default());
        for (surrogate, original, spelling) in pairs {
            let original = Zeroizing::new((*original).to_owned());
            ledger
                .issue(IssuedSurrogate {
                    surrogate: (*surrogate).to_owned(),
                    original,
                    spelling: *spelling,
                    parts: false,
                })
                .unwrap();
        }
        ledger.close()
    }

    fn pairs(undo: &SurrogateMap) -> Vec<(&str, &str)> {
        undo.pairs().map(|pair| (pair.surrogate, pair.original)).collect()
    }

    #[test]
    fn own_goes_before_earlier() {
        let own =
            undo(&[("4012 8888", "own", SurrogateIdentity::Grouped), ("x", "new", SurrogateIdentity::Exact)]);
        let earlier = undo(&[
            ("4012-8888", "earlier", SurrogateIdentity::Grouped),
            ("y", "old", SurrogateIdentity::Exact),
        ]);
        let both = own.with_earlier(&earlier);
        assert_eq!(pairs(&both), [("4012 8888", "own"), ("x", "new"), ("y", "old")]);
        assert!(both.covers(&own) && !both.covers(&earlier) && !own.covers(&both));
        assert!(own.covers(&SurrogateMap::nothing()));
    }

    #[test]
    fn parts_of_what_is_earlier_count_where_nothing_is_spelled_so() {
        let mut ledger = Ledger::new(FindingLimits::default());
        let (surrogate, original) =
            ("4012888888881881".to_owned(), Zeroizing::new("4111111111111112".to_owned()));
        ledger
            .issue(IssuedSurrogate { surrogate, original, spelling: SurrogateIdentity::Grouped, parts: true })
            .unwrap();
        let earlier = SurrogateMap::from_bytes(ledger.close().to_bytes().expose()).unwrap();
        let last = |earlier: &SurrogateMap| {
            let all = SurrogateMap::nothing().with_earlier(earlier);
            restored("It ends in 1881.", all)
        };
        assert_eq!(last(&earlier.beside(b"Say it again")), "It ends in 1112.");
        for other in [earlier.beside(b"in 1881, too"), earlier.without_parts()] {
            assert_eq!(last(&other), "It ends in 1881.");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let undo = undo(&[
            ("4012 8888", "4111 1111", SurrogateIdentity::Grouped),
            ("a@b.example", "c@d.example", SurrogateIdentity::Folded),
        ]);
        let read = SurrogateMap::from_bytes(undo.to_bytes().expose()).unwrap();
        assert!(read.covers(&undo) && undo.covers(&read));
        assert!(SurrogateMap::from_bytes(SurrogateMap::nothing().to_bytes().expose()).unwrap().is_empty());
    }

    #[test]
    fn what_does_not_fit_is_the_earlier_part() {
        let many: Vec<(String, String)> =
            (0..40_000).map(|n| (format!("surrogate{n}"), format!("original{n}"))).collect();
        let half = |from: usize| {
            let list: Vec<_> = many[from..]
                .iter()
                .take(40_000)
                .map(|(s, o)| (s.as_str(), o.as_str(), SurrogateIdentity::Exact))
                .collect();
            undo(&list)
        };
        let other: Vec<(String, String)> =
            (0..40_000).map(|n| (format!("other{n}"), format!("value{n}"))).collect();
        let other = undo(
            &other
                .iter()
                .map(|(s, o)| (s.as_str(), o.as_str(), SurrogateIdentity::Exact))
                .collect::<Vec<_>>(),
        );
        let own = half(0);
        let both = own.with_earlier(&other);
        assert_eq!(both.len(), FindingLimits::default().values);
        assert!(both.covers(&own) && !both.covers(&other));
    }

    /// Knows one surrogate.
    struct One(&'static str);

    impl IssuedToCaller for One {
        fn has(&self, canonical: &[u8]) -> bool {
            canonical == self.0.as_bytes()
        }

        fn add(&self, _: &[u8]) {}
    }

    #[test]
    fn a_part_of_a_surrogate_is_none_of_the_callers_values() {
        let cases = [
            ("8872738932821070", "and 8872 [7389 3282 1070] and", true),
            ("8872738932821070", "and 8872 [7389 3282] 1070.", true),
            ("8872738932821070", "and 8872-73[89-3282-]1070.", true),
            ("8872738932821070", "and [8872 7389 3282 1070] 5", true),
            ("8872738932821070", "and [8872 7389 3282 1071]", false),
            ("8872738932821070", "and 8872 [7389 3282 1070 and 536-22-8726]", false),
            ("8872738932821070", "8872\n[7389 3282 1070]", false),
            ("x7qkdohwrvbntpostcom", "<x7q.[kdoh@wrvbnt]-post.com>", true),
            ("x7qkdohwrvbntpostcom", "x7q.[kdoh@wrvbnt] post.com", false),
            ("17254418260", "call +1 (725) [441-8260]", true),
        ];
        for (known, marked, want) in cases {
            let start = marked.find('[').unwrap();
            let text = marked.replace(['[', ']'], "");
            let range = start..marked.find(']').unwrap() - 1;
            let recall = Recall { caller: Some(Arc::new(One(known))), conversation: None };
            assert_eq!(recall.covers(&text, &range), want, "{marked}");
            assert!(!Recall::default().covers(&text, &range));
        }
    }

    #[test]
    fn short_texts_are_never_known() {
        struct All;
        impl IssuedToCaller for All {
            fn has(&self, _: &[u8]) -> bool {
                true
            }
            fn add(&self, _: &[u8]) {}
        }
        let recall = Recall { caller: Some(Arc::new(All)), conversation: None };
        for (text, known) in
            [("1.2.3.4", false), ("12-34-56-7", false), ("12-34-56-78", true), ("Zo\u{eb} Li", false)]
        {
            assert_eq!(recall.knows(text), known, "{text}");
        }
        assert!(!Recall::default().knows("4012 8888 8888 1881"));
    }
}
