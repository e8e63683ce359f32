//! Byte offsets to Unicode code points, as the API's `start` and `end` count them.

use super::finding::Span;

/// `spans` (sorted by start, on character boundaries of `text`, not nested) counted in code points. One pass over
/// the text; an offset past its end counts as its end.
pub fn code_points(text: &str, spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut points = CodePointCursor::new(text);
    spans.into_iter().map(|span| points.of(span)).collect()
}

/// Spans in code points as spans in bytes of `text`, in the order in which they came. One pass over the text, however they lie;
/// `None` for a span that begins or ends behind the text's end, or ends before it begins.
pub fn bytes(text: &str, spans: &[Span]) -> Vec<Option<Span>> {
    // Each border once, in order, with where it is.
    let mut borders: Vec<(usize, Option<usize>)> =
        spans.iter().flat_map(|span| [(span.start, None), (span.end, None)]).collect();
    borders.sort_unstable();
    borders.dedup();
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let mut next = 0;
    for (point, at) in &mut borders {
        *at = places.nth(*point - next);
        if at.is_none() {
            break;
        }
        next = *point + 1;
    }
    let place = |point: usize| {
        let found = borders.binary_search_by_key(&point, |(point, _)| *point).ok()?;
        borders.get(found)?.1
    };
    let each = |span: &Span| {
        let (start, end) = (place(span.start)?, place(span.end)?);
        (start <= end).then_some(Span { start, end })
    };
    spans.iter().map(each).collect()
}

/// A place in a text, in bytes and in code points. What is asked costs the way from what was asked before, to either
/// side.
#[derive(Debug)]
pub struct CodePointCursor<'t> {
    bytes: &'t [u8],
    at: usize,
    count: usize,
}

impl<'t> CodePointCursor<'t> {
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
        assert_eq!(bytes(text, &points), there);
        assert_eq!(bytes(text, &[]), []);
        let beyond = [Span::new(0, 9), Span::new(9, 10), Span::new(4, 3), Span::new(usize::MAX, usize::MAX)];
        assert_eq!(bytes(text, &beyond), vec![None; 4]);
        assert_eq!(bytes(text, &[Span::new(0, usize::MAX)]), [None]);
    }

    #[test]
    fn a_place_is_found_from_either_side() {
        let mut points = CodePointCursor::new("é🦀ab日本cd");
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
