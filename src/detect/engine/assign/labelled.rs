//! Values that are all of a text, which a label says are secrets: `{"password": "…"}`.

use super::super::super::label;
use super::super::{Found, Pass, Track};
use super::given::{self, Form};
use super::text::is_dense;
use super::{Assigned, Given, VALUE};

impl Pass<'_> {
    /// Offers the text to the rules of what its label says it is; whether that is decided.
    pub(super) fn labelled(&self, group: &Assigned, track: &mut Track, found: &mut Found) -> bool {
        let Some(meaning) = track.assigned.labelled else { return true };
        let (view, start) = (&self.view, track.at);
        if !view.complete && view.len() < start + VALUE {
            return false;
        }
        track.assigned.labelled = None;
        let cut = view.len() >= start + VALUE;
        let end = if cut { self.boundary(start + VALUE) } else { view.len() };
        let text = view.slice(start, end);
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let tail = text.iter().rev().take_while(blank).count();
        let head = text.iter().take_while(blank).count();
        if head + tail >= text.len() {
            return true;
        }
        let (start, end) = (start + head, end - tail);
        let text = view.slice(start, end);
        // What is longer than a piece is a key, or none of these.
        let whole = if cut { text.iter().all(|&byte| is_dense(byte)) } else { !text.contains(&b'\n') };
        if label::is_name(text) {
            return true;
        }
        let form = Form::Assigned { tight: true, first: true, colon: true };
        let Some(gives) = given::kind(meaning, text, form).filter(|_| whole) else { return true };
        if let Some(rule) = self.offer(group, Given { gives, start, end, doubt: 0.0, cut }, found) {
            track.at = end;
            track.assigned.rest = Some(rule).filter(|_| cut);
        }
        true
    }
}
