//! Byte offsets to Unicode code points, as the API's `start` and `end` count them.

use super::finding::Span;

/// `spans` (sorted by start, on character boundaries of `text`, not nested) counted in code points. One pass over
/// the text; an offset past its end counts as its end.
pub fn code_points(text: &str, spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let bytes = text.as_bytes();
    let (mut at, mut count) = (0, 0);
    let mut upto = |offset: usize| {
        let piece = bytes.get(at..offset.min(bytes.len())).unwrap_or_default();
        count += piece.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        at += piece.len();
        count
    };
    spans.into_iter().map(|span| Span { start: upto(span.start), end: upto(span.end) }).collect()
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
    fn ascii_is_unchanged() {
        let spans = [Span::new(1, 2), Span::new(2, 5)];
        assert_eq!(code_points("abcdef", spans), spans);
    }
}
