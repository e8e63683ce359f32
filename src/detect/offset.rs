//! Byte offsets to Unicode code points, as the API's `start` and `end` count them.

use super::finding::Span;

/// `spans` (sorted by start, on character boundaries of `text`, not nested) counted in code points. One pass over
/// the text; an offset past its end counts as its end.
pub fn code_points(text: &str, spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut points = Points::new(text);
    spans.into_iter().map(|span| points.of(span)).collect()
}

/// Spans in code points (sorted by start) as spans in bytes of `text`. One pass over the text for ascending places; `None` for a
/// span that begins or ends behind the text's end, or ends before it begins.
pub fn bytes(text: &str, spans: impl IntoIterator<Item = Span>) -> Vec<Option<Span>> {
    // Where the last span began, in code points and in bytes.
    let (mut count, mut at) = (0, 0);
    let behind = |from: usize, points: usize| match points {
        0 => Some(from),
        _ => {
            let rest = text.get(from..)?;
            let (last, character) = rest.char_indices().nth(points - 1)?;
            Some(from + last + character.len_utf8())
        }
    };
    let each = |span: Span| {
        if span.start < count {
            (count, at) = (0, 0);
        }
        let start = behind(at, span.start - count)?;
        (count, at) = (span.start, start);
        let end = behind(start, span.end.checked_sub(span.start)?)?;
        Some(Span { start, end })
    };
    spans.into_iter().map(each).collect()
}

/// A place in a text, in bytes and in code points. What is asked costs the way from what was asked before, to either
/// side.
#[derive(Debug)]
pub struct Points<'t> {
    bytes: &'t [u8],
    at: usize,
    count: usize,
}

impl<'t> Points<'t> {
    /// Begins at the text's beginning.
    pub fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, count: 0 }
    }

    /// A span on character boundaries, in code points; an offset past the text's end counts as its end.
    pub fn of(&mut self, span: Span) -> Span {
        Span { start: self.to(span.start), end: self.to(span.end) }
    }

    fn to(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.bytes.len());
        let way = self.bytes.get(self.at.min(offset)..self.at.max(offset)).unwrap_or_default();
        let between = way.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        self.count = if offset < self.at { self.count - between } else { self.count + between };
        self.at = offset;
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_not_bytes() {
        let text = "é🦀ab日本cd";
        let spans = [Span::new(0, 2), Span::new(6, 8), Span::new(14, 16)];
        let expected = [Span::new(0, 1), Span::new(2, 4), Span::new(6, 8)];
        assert_eq!(code_points(text, spans), expected);
    }

    #[test]
    fn code_points_lead_back_to_bytes() {
        let text = "é🦀ab日本cd";
        let spans = [Span::new(0, 2), Span::new(6, 8), Span::new(14, 16), Span::new(0, 16), Span::new(2, 2)];
        let points = [Span::new(0, 1), Span::new(2, 4), Span::new(6, 8), Span::new(0, 8), Span::new(1, 1)];
        let there: Vec<Option<Span>> = spans.into_iter().map(Some).collect();
        assert_eq!(bytes(text, points), there);
        let beyond = [Span::new(0, 9), Span::new(9, 10), Span::new(4, 3), Span::new(usize::MAX, usize::MAX)];
        assert_eq!(bytes(text, beyond), vec![None; 4]);
    }

    #[test]
    fn a_place_is_found_from_either_side() {
        let mut points = Points::new("é🦀ab日本cd");
        for (span, want) in
            [((14, 16), (6, 8)), ((0, 2), (0, 1)), ((6, 8), (2, 4)), ((8, 99), (4, 8)), ((2, 6), (1, 2))]
        {
            assert_eq!(points.of(Span::new(span.0, span.1)), Span::new(want.0, want.1));
        }
    }

    #[test]
    fn ascii_is_unchanged() {
        let spans = [Span::new(1, 2), Span::new(2, 5)];
        assert_eq!(code_points("abcdef", spans), spans);
    }
}
