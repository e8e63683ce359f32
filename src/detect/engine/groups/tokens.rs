//! Values that are tokens: long runs of letters, digits, `_` and `-`, or of base64 characters. From each start a
//! walk through the automaton of all such rules.

use std::ops::Range;

use super::super::automaton::Automaton;
use super::super::group::Group;
use super::super::mask::{Class, Runs};
use super::super::pass::{Candidates, WindowPass};
use super::super::track::Track;
use super::super::view::View;
use super::shapes::Shapes;

/// The shortest token with a digit, in bytes.
const SHORT: usize = 8;
/// The shortest token without one.
const LONG: usize = 16;
/// The shortest run of base64 characters that counts whatever is in it, in bytes.
const WHOLE: usize = 32;

/// Lengths of codes of capital letters alone (ISO 9362), in bytes.
const CODES: [usize; 2] = [8, 11];

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The rules whose values are tokens.
pub(crate) struct TokenGroup {
    shapes: Shapes,
    /// For what is not a shape.
    automaton: Option<Automaton>,
}

impl TokenGroup {
    /// The group of these shapes, and of an automaton for the other patterns.
    pub(crate) const fn new(shapes: Shapes, automaton: Option<Automaton>) -> Self {
        Self { shapes, automaton }
    }

    fn try_token(
        &self,
        pass: &WindowPass<'_>,
        track: &mut Track,
        start: usize,
        found: &mut Candidates,
    ) -> bool {
        let kept = found.len();
        let automaton = self.automaton.as_ref();
        let decided = self.shapes.try_start(pass, start, found)
            && automaton.is_none_or(|automaton| pass.try_start(automaton, &mut track.walk, start, found));
        if !decided {
            found.truncate(kept);
        }
        decided
    }
}

impl Group for TokenGroup {
    fn memory(&self) -> usize {
        self.shapes.memory() + self.automaton.as_ref().map_or(0, Automaton::memory)
    }

    fn scan(&self, pass: &WindowPass<'_>, track: &mut Track, found: &mut Candidates) {
        let (view, from) = (&pass.view, track.at);
        for (start, end) in Runs::new(pass.masks, from, Class::Base64, SHORT as u32) {
            if end == view.len() && !view.complete && end - start < WHOLE {
                track.at = start.max(from);
                return;
            }
            let split = memchr::memchr2(b'+', b'/', view.slice(start, end)).is_some();
            let mut at = start;
            while at < end {
                let rest = view.slice(at, end);
                let token =
                    if split { rest.iter().take_while(|&&byte| is_token(byte)).count() } else { rest.len() };
                let whole = at == start && end - start >= WHOLE;
                if let Some(begin) = token_start(view, at..at + token, whole)
                    && begin >= from
                    && !self.try_token(pass, track, begin, found)
                {
                    track.at = begin;
                    return;
                }
                if at + token == view.len() && !view.complete && token < LONG {
                    track.at = at.max(from);
                    return;
                }
                at += token.max(1);
            }
        }
        track.at = view.len().max(from);
        if !view.complete {
            let tail = view.slice(view.len().saturating_sub(WHOLE), view.len());
            let open = tail.iter().rev().take_while(|&&byte| Class::Base64.has(byte)).count();
            track.at = if open < SHORT { (view.len() - open).max(from) } else { track.at };
        }
    }
}

/// Where the value begins that the token at `range` may be: a token of its own, or, if `whole`, the beginning of a long
/// run of base64.
fn token_start(view: &View<'_>, range: Range<usize>, whole: bool) -> Option<usize> {
    let token = view.slice(range.start, range.end);
    let digit = || token.len() >= SHORT && token.iter().any(u8::is_ascii_digit);
    let code = || CODES.contains(&token.len()) && token.iter().all(u8::is_ascii_uppercase);
    if !(whole || token.len() >= LONG || digit() || code()) {
        return None;
    }
    view.after_escape(range.start).filter(|&begin| begin < range.end)
}
