//! [`Told`]: whether a caller that leaves has had all of its answer. Clients of event streams leave at the event that
//! says so, before the body ends.

/// What the last event of a stream is at its end, spaces left out: OpenAI's, and Anthropic's.
const LAST: [&[u8]; 2] = [b"data:[DONE]", b"{\"type\":\"message_stop\"}"];

/// More than such an event has with spaces and line breaks.
const TAIL: usize = 48;

/// How an answer's body has ended so far, as its caller sees it.
#[derive(Debug, Default)]
pub(super) struct Told {
    tail: Vec<u8>,
    ended: bool,
}

impl Told {
    /// A piece is on its way to the caller; `end`: nothing comes after it.
    pub(super) fn pass(&mut self, piece: &[u8], end: bool) {
        // What is written last may be lost, and then the caller was not told.
        self.ended = end && piece.is_empty();
        let kept = piece.get(piece.len().saturating_sub(TAIL)..).unwrap_or(piece);
        self.tail.extend_from_slice(kept);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }

    /// Whether nothing that matters comes after what was passed.
    pub(super) fn all(&self) -> bool {
        if self.ended {
            return true;
        }
        let ends_a_line = self.tail.ends_with(b"\n") || self.tail.ends_with(b"\r");
        let shown: Vec<u8> = self.tail.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
        ends_a_line && LAST.iter().any(|last| shown.ends_with(last))
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
                let mut told = Told::default();
                body.as_bytes().chunks(size).for_each(|piece| told.pass(piece, false));
                assert_eq!(told.all(), all, "{body:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_end_that_brings_nothing_needs_nobody() {
        let mut told = Told::default();
        told.pass(b"{}", true);
        assert!(!told.all());
        told.pass(b"", true);
        assert!(told.all());
    }
}
