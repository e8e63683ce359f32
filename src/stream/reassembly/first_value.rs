//! [`FirstValue`]: whether what a body begins with may be the document of a line.

/// How far the first value of a body has come.
#[derive(Default)]
pub(super) struct FirstValue {
    /// How many objects and arrays are open.
    depth: usize,
    in_string: bool,
    /// Whether the byte before was one that escapes the next.
    escapes: bool,
    /// Whether it has ended.
    is_whole: bool,
}

impl FirstValue {
    /// Takes the next bytes of the line in; returns whether nothing but space has come behind the value.
    pub(super) fn goes_on(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| self.next(*byte))
    }

    fn next(&mut self, byte: u8) -> bool {
        if self.is_whole {
            return byte.is_ascii_whitespace();
        }
        let escaped = std::mem::take(&mut self.escapes);
        match byte {
            _ if escaped => {}
            b'\\' if self.in_string => self.escapes = true,
            b'"' => {
                self.in_string = !self.in_string;
                self.is_whole = !self.in_string && self.depth == 0;
            }
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_whole = self.depth == 0;
            }
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_space_follows_the_document_of_a_line() {
        let rows = [
            ("{\"a\":\"b\"} \r", true),
            ("{\"a\":\"}{\\\"{\",\"b\":[{}]}", true),
            ("\"a\\\"b\"\t", true),
            ("0:[1,2]", true),
            ("{\"a\":\"b\"}{", false),
            ("{\"a\":\"b\"}\u{1e}", false),
            ("\"a\" ,", false),
            ("{}x", false),
        ];
        for (text, goes_on) in rows {
            for step in [1, 2, 99] {
                let mut first = FirstValue::default();
                assert_eq!(text.as_bytes().chunks(step).all(|piece| first.goes_on(piece)), goes_on, "{text}");
            }
        }
    }
}
