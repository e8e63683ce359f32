//! [`LineValue`]: how far the document of a line has come, and where it ends.

/// What a line ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// The last byte of its document; what is behind it is of no line.
    Value,
    /// Its line end.
    Feed,
}

/// How far the document of a line has come: an object, an array or a string of JSON, behind a label or not.
#[derive(Default)]
pub(super) struct LineValue {
    /// How many objects and arrays are open.
    depth: usize,
    in_string: bool,
    /// Whether the byte before was one that escapes the next.
    escapes: bool,
    /// Whether it has ended.
    is_whole: bool,
}

impl LineValue {
    /// Takes bytes in up to the end of the line; returns how many, and with what it ends, if it does. Only where `by_value`,
    /// it ends with its document.
    pub(super) fn take(&mut self, bytes: &[u8], by_value: bool) -> (usize, Option<LineEnd>) {
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' {
                return (at + 1, Some(LineEnd::Feed));
            }
            let was_whole = self.is_whole;
            self.next(*byte);
            if by_value && self.is_whole && !was_whole {
                return (at + 1, Some(LineEnd::Value));
            }
        }
        (bytes.len(), None)
    }

    fn next(&mut self, byte: u8) {
        let escaped = std::mem::take(&mut self.escapes);
        match byte {
            _ if escaped => {}
            b'\\' if self.in_string => self.escapes = true,
            b'"' => {
                self.in_string = !self.in_string;
                self.is_whole |= !self.in_string && self.depth == 0;
            }
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_whole |= self.depth == 0;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_its_document_or_with_its_line_end() {
        let rows = [
            ("{\"a\":\"b\"} \r\n", 9, Some(LineEnd::Value)),
            ("{\"a\":\"}{\\\"{\",\"b\":[{}]}x", 22, Some(LineEnd::Value)),
            ("\"a\\\"b\"\t", 6, Some(LineEnd::Value)),
            ("0:[1,2]\n", 7, Some(LineEnd::Value)),
            ("12\n", 3, Some(LineEnd::Feed)),
            ("{\n", 2, Some(LineEnd::Feed)),
            ("{\"a\":", 5, None),
        ];
        for (text, length, end) in rows {
            assert_eq!(LineValue::default().take(text.as_bytes(), true), (length, end), "{text}");
            let whole = LineValue::default().take(text.as_bytes(), false);
            let feed = text.find('\n').map(|at| at + 1);
            assert_eq!(whole, (feed.unwrap_or(text.len()), feed.map(|_| LineEnd::Feed)), "{text}");
            // However it is cut.
            let mut value = LineValue::default();
            let mut taken = 0;
            let cut = text.as_bytes().chunks(1).find_map(|piece| {
                taken += 1;
                value.take(piece, true).1
            });
            assert_eq!((taken, cut), (length, end), "{text}");
        }
    }
}
