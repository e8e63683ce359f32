//! Values that are tokens: long runs of letters, digits, `_` and `-`, or of base64 characters. From each start a
//! walk through the automaton of all such rules.

use super::automaton::Automaton;
use super::mask::{Class, Runs};
use super::shape::Shapes;
use super::{Found, Pass, Track, group};

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
pub(crate) struct Tokens {
    pub(crate) shapes: Shapes,
    /// For what is not a shape.
    pub(crate) automaton: Option<Automaton>,
}

impl Tokens {
    /// Bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.shapes.memory() + self.automaton.as_ref().map_or(0, Automaton::memory)
    }
}

impl Pass<'_> {
    fn try_token(&self, tokens: &Tokens, track: &mut Track, start: usize, found: &mut Found) -> bool {
        let kept = found.len();
        let automaton = tokens.automaton.as_ref();
        let decided = self.try_shapes(&tokens.shapes, start, found)
            && automaton
                .is_none_or(|automaton| self.try_start((automaton, group::TOKENS), track, start, found));
        if !decided {
            found.truncate(kept);
        }
        decided
    }

    /// Scans for tokens.
    pub(crate) fn tokens(&self, tokens: &Tokens, track: &mut Track, found: &mut Found) {
        let (view, from) = (&self.view, track.at);
        for (start, end) in Runs::new(self.masks, from, Class::Base64, SHORT as u32) {
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
                if let Some(begin) = self.token_start(at, at + token, whole)
                    && begin >= from
                    && !self.try_token(tokens, track, begin, found)
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

    /// Where the value begins that the token `start..end` may be: a token of its own, or the beginning of a long
    /// run of base64.
    fn token_start(&self, start: usize, end: usize, whole: bool) -> Option<usize> {
        let token = self.view.slice(start, end);
        let digit = || token.len() >= SHORT && token.iter().any(u8::is_ascii_digit);
        let code = || CODES.contains(&token.len()) && token.iter().all(u8::is_ascii_uppercase);
        if !(whole || token.len() >= LONG || digit() || code()) {
            return None;
        }
        self.view.after_escape(start).filter(|&begin| begin < end)
    }
}
