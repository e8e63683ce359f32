//! Names in small letters behind words that introduce them, as in chat: `my name is maria lopez`, `i'm from madrid`, `ask
//! frau schmidt`.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};

use super::super::super::group::Group;
use super::super::super::pass::{Candidates, WindowPass};
use super::super::super::track::Track;
use super::super::super::view::View;
use super::correspondence::HONORIFICS;
use super::group::NameRules;
use super::letters::{text, word_end};
use super::lexicon::{Classes, look_up};
use super::roles::{NameList, roles};
use super::word::Tagged;
use crate::detect::rules::NameTag;

/// What words introduce.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CueSubject {
    /// A person.
    Person,
    /// A person, or a model that speaks.
    Speaker,
    /// A person, or what one is: `i'm tired`.
    PersonOrState,
    /// Who is called so, by the surname or the whole name.
    Titled,
    /// A place.
    Place,
}

/// Words that introduce somebody. A sentence may begin with them, so that their first letter may be a capital.
struct IntroductionCue {
    /// In either case.
    begin: &'static str,
    /// As they go on.
    rest: &'static str,
    introduces: CueSubject,
}

const fn cue(begin: &'static str, rest: &'static str, introduces: CueSubject) -> IntroductionCue {
    IntroductionCue { begin, rest, introduces }
}

const CUES: [IntroductionCue; 14] = [
    cue("n", "ame is ", CueSubject::Person),
    cue("n", "ame's ", CueSubject::Person),
    cue("t", "his is ", CueSubject::Speaker),
    cue("c", "all me ", CueSubject::Person),
    cue("i", "'m ", CueSubject::PersonOrState),
    cue("i", "\u{2019}m ", CueSubject::PersonOrState),
    cue("i ", "am ", CueSubject::PersonOrState),
    cue("f", "rom ", CueSubject::Place),
    cue("l", "ive in ", CueSubject::Place),
    cue("w", "ohne in ", CueSubject::Place),
    cue("v", "ivo en ", CueSubject::Place),
    cue("m", "oro em ", CueSubject::Place),
    cue("v", "ivo a ", CueSubject::Place),
    cue("a", "bito a ", CueSubject::Place),
];

/// Titles that are also words, or units, in small letters: `i miss paris`, `5 ms`. With a dot behind them they are titles.
const ALSO_WORDS: [&str; 3] = ["miss", "ms", "mx"];

/// A cue as it is looked for: what must stand before it, itself, and what it introduces.
struct SoughtCue {
    begin: &'static str,
    text: Cow<'static, str>,
    introduces: CueSubject,
}

/// All cues. Titles are those in small letters: behind one with a capital the names by their capitals are looked for.
fn cues() -> Vec<SoughtCue> {
    let written = CUES.iter().map(|cue| SoughtCue {
        begin: cue.begin,
        text: cue.rest.into(),
        introduces: cue.introduces,
    });
    let titled = |text: String| SoughtCue { begin: "", text: text.into(), introduces: CueSubject::Titled };
    let plain =
        HONORIFICS.iter().filter(|title| !ALSO_WORDS.contains(title)).map(|title| format!("{title} "));
    let dotted = HONORIFICS.iter().map(|title| format!("{title}. "));
    written.chain(plain.chain(dotted).map(titled)).collect()
}

/// The longest of them, with what stands before it.
const LONGEST: usize = 16;

/// What a cue costs, in steps.
const CUE: usize = 32;

/// Finds such names for the rules that want them.
pub(crate) struct Introductions {
    takers: NameRules,
    cues: Vec<SoughtCue>,
    search: AhoCorasick,
}

/// What a cue is followed by.
enum AfterCue {
    NeedMore,
    Nobody,
    Name(Tagged),
}

impl Introductions {
    /// Offers what it finds to these. `None` if the cues cannot be looked for.
    pub(crate) fn new(takers: NameRules) -> Option<Self> {
        // None stands within another, so that each is found wherever the search begins.
        let cues = cues();
        let texts = cues.iter().map(|cue| cue.text.as_ref());
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok()?;
        Some(Self { takers, cues, search })
    }
}

impl Group for Introductions {
    fn memory(&self) -> usize {
        0
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let view = &pass.view;
        // A name begins behind its cue, which may have been seen already.
        let from = track.at.saturating_sub(LONGEST);
        let (mut known, mut names) = (view.len(), Vec::new());
        for one in self.search.find_iter(view.slice(from, view.len())) {
            let Some(cue) = self.cues.get(one.pattern().as_usize()) else { continue };
            let start = from + one.end();
            if start < track.at || start >= view.len() || !begins(view, from + one.start(), cue.begin) {
                continue;
            }
            pass.step(CUE);
            match introduced(view, start, cue.introduces) {
                AfterCue::NeedMore => known = known.min(start),
                AfterCue::Nobody => {}
                AfterCue::Name(name) => names.push(name),
            }
        }
        names
            .into_iter()
            .filter(|name| name.start < known)
            .for_each(|name| self.takers.offer(pass, name, found));
        track.at = known;
    }
}

/// Whether `begin`, and a boundary before it, stand before `at`.
fn begins(view: &View<'_>, at: usize, begin: &str) -> bool {
    let Some(start) = at.checked_sub(begin.len()) else { return false };
    view.slice(start, at).eq_ignore_ascii_case(begin.as_bytes())
        && view.before(start, 1).is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
}

fn introduced(view: &View<'_>, start: usize, introduces: CueSubject) -> AfterCue {
    let Some((end, lower, classes)) = small_word(view, start) else { return AfterCue::NeedMore };
    let name = |tag, end, score| AfterCue::Name(Tagged { tag, start, end, score });
    if lower.len() < 3 || classes.is_common() {
        return AfterCue::Nobody;
    }
    if introduces == CueSubject::Place {
        let place = classes.is_place() && (!classes.is_given() || roles(&lower).has(NameList::LargePlace));
        return if place { name(NameTag::Location, end, 0.6) } else { AfterCue::Nobody };
    }
    let person = match introduces {
        CueSubject::Person | CueSubject::Speaker | CueSubject::Titled => classes.is_person(),
        _ => classes.is_given(),
    };
    if !person {
        return AfterCue::Nobody;
    }
    // `mr bean`: the names model may know better.
    let alone = if introduces == CueSubject::Titled { 0.75 } else { 0.65 };
    // The surname, if one follows.
    let more = match view.get(end) {
        Some(b' ') => small_word(view, end + 1),
        None if !view.complete => None,
        _ => Some((end, String::new(), Classes::default())),
    };
    match more {
        None => AfterCue::NeedMore,
        Some((last, next, classes)) if next.len() > 2 && classes.is_person() && !classes.is_common() => {
            name(NameTag::Person, last, 0.8)
        }
        // A model that says what it is, or of which somebody does.
        Some(_)
            if matches!(introduces, CueSubject::Speaker | CueSubject::PersonOrState)
                && roles(&lower).has(NameList::Model) =>
        {
            AfterCue::Nobody
        }
        Some(_)
            if introduces == CueSubject::PersonOrState
                && (roles(&lower).has(NameList::Adjective) || roles(&lower).has(NameList::Group)) =>
        {
            AfterCue::Nobody
        }
        Some(_) => name(NameTag::Person, end, alone),
    }
}

/// The word in small letters that begins at `start`: where it ends, and what is known of it. An empty one where none begins;
/// `None` while it may go on.
fn small_word(view: &View<'_>, start: usize) -> Option<(usize, String, Classes)> {
    let end = word_end(view, start);
    if end + 4 > view.len() && !view.complete {
        return None;
    }
    let word = text(view, start, end);
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word);
    if word.chars().any(|letter| letter.is_uppercase()) {
        return Some((start, String::new(), Classes::default()));
    }
    Some((start + word.len(), word.to_owned(), look_up(word)))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::detect::{Catalogue, Detector, RuleSelection};

    pub(in super::super) fn found(text: &str) -> Vec<String> {
        let catalogue = Catalogue::builtin().unwrap();
        let selection = RuleSelection::only(&catalogue, ["PERSON", "LOCATION"]).unwrap();
        let detector = Detector::new(&catalogue, &selection).unwrap();
        let whole = detector.find(text);
        for size in [1, 2, 5] {
            let (mut scanner, mut split) = (detector.scanner(), Vec::new());
            let ends = (1..=text.len())
                .filter(|end| text.is_char_boundary(*end) && (end % size == 0 || *end == text.len()));
            let mut from = 0;
            for end in ends {
                scanner.feed(text.get(from..end).unwrap(), &mut |one| split.push(one));
                from = end;
            }
            scanner.end(&mut |one| split.push(one));
            assert_eq!(split, whole, "{text} in pieces of {size}");
        }
        let name = |span: crate::detect::Span| text.get(span.start..span.end).unwrap().to_owned();
        whole.iter().map(|one| format!("{} {}", detector.rule(one.rule).name(), name(one.span))).collect()
    }

    #[test]
    fn no_cue_stands_within_another() {
        let cues = super::cues();
        for (n, cue) in cues.iter().enumerate() {
            let within = |other: &super::SoughtCue| cue.text.contains(other.text.as_ref());
            let mut others = cues.iter().enumerate().filter(|(m, _)| *m != n);
            assert!(!others.any(|(_, other)| within(other)), "{}", cue.text);
            assert!(cue.begin.len() + cue.text.len() < super::LONGEST, "{}", cue.text);
        }
    }

    #[test]
    fn who_introduces_himself_in_small_letters_is_found() {
        let rows: &[(&str, &[&str])] = &[
            ("my name is maria lopez", &["PERSON maria lopez"]),
            ("My name is maria, and you?", &["PERSON maria"]),
            ("hi i'm rupert from leeds", &["PERSON rupert", "LOCATION leeds"]),
            ("I\u{2019}m jürgen", &["PERSON jürgen"]),
            ("I am yolanda fischer's sister", &["PERSON yolanda fischer"]),
            ("this is delia, call me rupert", &["PERSON delia", "PERSON rupert"]),
            ("i moved here from rotterdam.", &["LOCATION rotterdam"]),
            ("From leeds. Name is delia", &["LOCATION leeds", "PERSON delia"]),
            ("i'm tired of work from home", &[]),
            ("i'm happy, i am frank about it, i'm german", &[]),
            ("i am frank miller", &["PERSON frank miller"]),
            ("this is fine and the name is too long", &[]),
            ("the file name is maria", &["PERSON maria"]),
            ("xname is maria, exam delia, xfrom leeds", &[]),
            ("my name is Maria Lopez", &["PERSON Maria Lopez"]),
            ("my name is ", &[]),
            ("ask mr. fischer or frau schmidt", &["PERSON fischer", "PERSON schmidt"]),
            ("la señora lucía garcía y el dr. lopez", &["PERSON lucía garcía", "PERSON lopez"]),
            ("i'm dr. yolanda fischer", &["PERSON yolanda fischer"]),
            ("the dr is in, mr fox", &["PERSON fox"]),
            ("i miss paris, 5 ms fischer, ask ms. fischer", &["PERSON fischer"]),
            ("ms. it is, madame tussauds, xmr. fischer", &[]),
            ("moro em curitiba, wohne in rosenheim", &["LOCATION curitiba", "LOCATION rosenheim"]),
            ("we live in harmony and live in rotterdam", &["LOCATION rotterdam"]),
            ("from", &[]),
        ];
        for (text, names) in rows {
            assert_eq!(found(text), *names, "{text}");
        }
    }
}
