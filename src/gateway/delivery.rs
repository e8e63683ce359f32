//! [`Delivery`]: how much of its answer a caller has had. Clients of event streams leave at the event that says so, before
//! the body ends.

use crate::gateway::llm::{Protocol, is_final_line};

/// How much of a line's beginning, and of its end, is kept, in bytes: what says that it is the last stands there.
const KEPT: usize = 512;

/// How an answer's body has ended so far, as its caller sees it.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// The last line that is not blank, without its middle.
    line: Vec<u8>,
    /// Whether that line has ended.
    line_ended: bool,
    ended: bool,
    cut_short: bool,
}

impl Delivery {
    /// A piece is sent to the caller; `end`: nothing comes after it.
    pub(super) fn sent(&mut self, piece: &[u8], end: bool) {
        // A write may be lost: only the end that follows it shows that it was taken.
        self.ended = end && piece.is_empty();
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let Some(last) = piece.iter().rposition(|byte| !byte.is_ascii_whitespace()) else {
            self.line_ended |= piece.iter().any(is_end);
            return;
        };
        let (shown, blank) = piece.split_at(last + 1);
        let begin = shown.iter().rposition(is_end).map_or(0, |at| at + 1);
        if begin > 0 || self.line_ended {
            self.line.clear();
        }
        self.line.extend_from_slice(shown.get(begin..).unwrap_or_default());
        if self.line.len() > 2 * KEPT {
            self.line.drain(KEPT..self.line.len() - KEPT);
        }
        self.line_ended = blank.iter().any(is_end);
    }

    /// The answer ends here, before its own end: nothing more may follow.
    pub(super) fn cut_short(&mut self) {
        self.cut_short = true;
    }

    /// Whether the answer was cut short.
    pub(super) fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// Whether nothing that matters comes after what was sent, as this protocol has it; without one, as any has.
    pub(super) fn is_complete(&self, protocol: Option<&Protocol>) -> bool {
        if self.cut_short {
            return false;
        }
        if self.ended {
            return true;
        }
        let shown: Vec<u8> = self.line.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
        self.line_ended && is_final_line(protocol, &shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_is_known_however_it_is_cut() {
        let long = "x".repeat(5000);
        let done = format!("{{\"response\":\"\",\"done\":true,\"context\":[\"{long}\"]}}\n");
        let completed = format!(
            "event: response.completed\ndata: {{\"type\":\"response.completed\",\"response\":\"{long}\"}}\n\n"
        );
        let rows: [(&str, bool); 14] = [
            (&done, true),
            (&completed, true),
            ("{\"message\":{\"content\":\"\\\"done\\\":true\"},\"done\":false}\n", false),
            ("{\"done\": true}", false),
            ("event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{}}\n\n", true),
            ("data: {\"candidates\":[{\"finishReason\": \"STOP\"}]}\r\n\r\n", true),
            ("data: {\"type\":\"response.failed\"}\n\n: keep\n", false),
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
                assert_eq!(delivery.is_complete(None), all, "{body:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_end_that_brings_nothing_needs_nobody() {
        let mut delivery = Delivery::default();
        delivery.sent(b"{}", true);
        assert!(!delivery.is_complete(None));
        delivery.sent(b"", true);
        assert!(delivery.is_complete(None));
    }

    #[test]
    fn an_answer_that_was_cut_short_is_never_complete() {
        let mut delivery = Delivery::default();
        delivery.sent(b"data: [DONE]\n\n", false);
        assert!(delivery.is_complete(None));
        delivery.cut_short();
        assert!(!delivery.is_complete(None));
        delivery.sent(b"", true);
        assert!(!delivery.is_complete(None));
    }
}
