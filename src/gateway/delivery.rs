//! [`Delivery`]: how much of its answer a caller has had. Clients of event streams leave at the event that says so, before
//! the body ends.

use crate::gateway::llm::is_final_event;

/// More bytes than a final event has with spaces and line breaks.
const TAIL: usize = 48;

/// How an answer's body has ended so far, as its caller sees it.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    tail: Vec<u8>,
    ended: bool,
    cut_short: bool,
}

impl Delivery {
    /// A piece is sent to the caller; `end`: nothing comes after it.
    pub(super) fn sent(&mut self, piece: &[u8], end: bool) {
        // A write may be lost: only the end that follows it shows that it was taken.
        self.ended = end && piece.is_empty();
        let kept = piece.get(piece.len().saturating_sub(TAIL)..).unwrap_or(piece);
        self.tail.extend_from_slice(kept);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }

    /// The answer ends here, before its own end: nothing more may follow.
    pub(super) fn cut_short(&mut self) {
        self.cut_short = true;
    }

    /// Whether the answer was cut short.
    pub(super) fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// Whether nothing that matters comes after what was sent.
    pub(super) fn is_complete(&self) -> bool {
        if self.cut_short {
            return false;
        }
        if self.ended {
            return true;
        }
        let ends_a_line = self.tail.ends_with(b"\n") || self.tail.ends_with(b"\r");
        let shown: Vec<u8> = self.tail.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
        ends_a_line && is_final_event(&shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_is_known_however_it_is_cut() {
        let rows: [(&str, bool); 7] = [
            ("data: {\"choices\":[]}\n\ndata: [DONE]\n\n", true),
            ("data:[DONE]\r\n\r\n", true),
            ("event: message_stop\ndata: {\"type\": \"message_stop\"}\n\n", true),
            ("data: [DONE]", false),
            ("data: {\"choices\":[]}\n\n", false),
            ("data: [DONE]\n\ndata: {}\n\n", false),
            ("", false),
        ];
        for (body, all) in rows {
            for size in 1..=body.len().max(1) {
                let mut delivery = Delivery::default();
                body.as_bytes().chunks(size).for_each(|piece| delivery.sent(piece, false));
                assert_eq!(delivery.is_complete(), all, "{body:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_end_that_brings_nothing_needs_nobody() {
        let mut delivery = Delivery::default();
        delivery.sent(b"{}", true);
        assert!(!delivery.is_complete());
        delivery.sent(b"", true);
        assert!(delivery.is_complete());
    }

    #[test]
    fn an_answer_that_was_cut_short_is_never_complete() {
        let mut delivery = Delivery::default();
        delivery.sent(b"data: [DONE]\n\n", false);
        assert!(delivery.is_complete());
        delivery.cut_short();
        assert!(!delivery.is_complete());
        delivery.sent(b"", true);
        assert!(!delivery.is_complete());
    }
}
