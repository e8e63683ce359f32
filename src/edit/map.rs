//! [`SourceMap`]: where a text lies in what spells it.

use std::ops::Range;

/// Text that is spelled by another number of bytes than it has.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Where it ends in the text, and how long it is there.
    text: usize,
    width: usize,
    /// Where it ends in the source, and how long it is there.
    source: usize,
    length: usize,
}

/// Offsets in a text ↔ offsets in the source that spells it, all in bytes. Text that spells itself costs nothing;
/// what is spelled otherwise (an escape, a full-width digit, a character that is left out) costs a mark.
///
/// It is made in order, and what lies behind can be [forgotten](Self::forget), so that it serves streams.
#[derive(Debug, Default)]
pub struct SourceMap {
    /// Before the first mark, text from here on is spelled from there on.
    origin: (usize, usize),
    marks: Vec<Mark>,
    /// The ends so far.
    text: usize,
    source: usize,
}

impl SourceMap {
    /// No text yet; it begins at `source`.
    pub fn at(source: usize) -> Self {
        Self::between(0, source)
    }

    /// No text yet; what begins at `text` is spelled from `source` on. What is before `text` has no source: it leads
    /// to `source`.
    pub fn between(text: usize, source: usize) -> Self {
        Self { origin: (text, source), marks: Vec::new(), text, source }
    }

    /// Begins anew at `source`; the room for marks stays.
    pub fn restart(&mut self, text: usize, source: usize) {
        self.marks.clear();
        (self.origin, self.text, self.source) = ((text, source), text, source);
    }

    /// Text that spells itself comes next.
    pub fn plain(&mut self, length: usize) {
        self.text += length;
        self.source += length;
    }

    /// `width` bytes of text come next that `length` bytes spell, and only all of them together.
    pub fn spelled(&mut self, width: usize, length: usize) {
        self.text += width;
        self.source += length;
        self.marks.push(Mark { text: self.text, width, source: self.source, length });
    }

    /// Where the text ends so far.
    pub fn text_end(&self) -> usize {
        self.text
    }

    /// Where the source ends so far.
    pub fn source_end(&self) -> usize {
        self.source
    }

    /// Where the text at `text` begins in the source: behind what is left out there, and within a mark at the mark's
    /// beginning.
    pub fn floor(&self, text: usize) -> usize {
        let behind = self.marks.partition_point(|mark| mark.text <= text);
        match self.marks.get(behind) {
            Some(mark) if text > mark.text - mark.width => mark.source - mark.length,
            _ => self.from(behind, text),
        }
    }

    /// Where the text before `text` ends in the source: before what is left out there, and within a mark at the
    /// mark's end.
    pub fn ceil(&self, text: usize) -> usize {
        let behind =
            self.marks.partition_point(|mark| mark.text < text || mark.text == text && mark.width > 0);
        match self.marks.get(behind) {
            Some(mark) if text > mark.text - mark.width => mark.source,
            _ => self.from(behind, text),
        }
    }

    /// What spells `range` of the text; a range that begins or ends within a mark takes all of it.
    pub fn range(&self, range: Range<usize>) -> Range<usize> {
        let start = self.floor(range.start);
        start..self.ceil(range.end).max(start)
    }

    /// The pieces of the source that spell `range` of the text, in order: without what is left out between them, and
    /// all of each mark that is touched.
    pub fn pieces(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        let mut put = |piece: Range<usize>| match pieces.last_mut() {
            _ if piece.is_empty() => {}
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => pieces.push(piece),
        };
        let first = self.marks.partition_point(|mark| mark.text <= range.start);
        let mut at = range.start;
        for (passed, mark) in self.marks.iter().enumerate().skip(first) {
            let begin = mark.text - mark.width;
            if at < begin {
                put(self.from(passed, at)..self.from(passed, begin.min(range.end)));
            }
            if begin >= range.end {
                return pieces;
            }
            if mark.width > 0 {
                put(mark.source - mark.length..mark.source);
            }
            at = at.max(mark.text);
        }
        if at < range.end {
            let all = self.marks.len();
            put(self.from(all, at)..self.from(all, range.end));
        }
        pieces
    }

    /// Drops the marks of text before `text`, which will not be asked for again.
    pub fn forget(&mut self, text: usize) {
        let passed = self.marks.partition_point(|mark| mark.text <= text);
        if let Some(mark) = passed.checked_sub(1).and_then(|last| self.marks.get(last)) {
            self.origin = (mark.text, mark.source);
            self.marks.drain(..passed);
        }
    }

    /// So much text, and so much of the source, stands before what it had so far.
    pub fn shift(&mut self, text: usize, source: usize) {
        self.origin = (self.origin.0 + text, self.origin.1 + source);
        (self.text, self.source) = (self.text + text, self.source + source);
        for mark in &mut self.marks {
            mark.text += text;
            mark.source += source;
        }
    }

    /// Bytes of memory that grow with the text that is kept.
    pub fn weight(&self) -> usize {
        self.marks.len() * size_of::<Mark>()
    }

    /// The source of `text`, which lies behind the first `behind` marks and in no mark.
    fn from(&self, behind: usize, text: usize) -> usize {
        let before = behind.checked_sub(1).and_then(|at| self.marks.get(at));
        let (from, source) = before.map_or(self.origin, |mark| (mark.text, mark.source));
        source + text.saturating_sub(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_to_the_source_also_after_forgetting() {
        let mut map = SourceMap::at(10);
        map.plain(2);
        map.spelled(2, 6);
        map.plain(3);
        map.spelled(1, 2);
        let floors = [10, 11, 12, 12, 18, 19, 20, 21, 23, 24];
        let ceils = [10, 11, 12, 18, 18, 19, 20, 21, 23, 24];
        for forgotten in 0..9 {
            map.forget(forgotten);
            for text in forgotten..10 {
                assert_eq!((map.floor(text), map.ceil(text)), (floors[text], ceils[text]), "{text}");
            }
        }
    }

    #[test]
    fn what_is_left_out_is_a_part_of_what_stands_around_it_only() {
        // "a" and "b", with four bytes before, between and behind them that nobody reads.
        let mut map = SourceMap::at(0);
        map.spelled(0, 4);
        map.plain(1);
        map.spelled(0, 4);
        map.spelled(1, 3);
        map.spelled(0, 4);
        assert_eq!((map.text_end(), map.source_end()), (2, 16));
        let cases = [(0..1, 4..5), (1..2, 9..12), (0..2, 4..12)];
        for (text, source) in cases {
            assert_eq!(map.range(text.clone()), source, "{text:?}");
        }
    }

    #[test]
    fn pieces_leave_out_what_nobody_reads() {
        // `..ab[x]c&amp;d[y]e`: between brackets is what nobody reads, `&amp;` spells one character.
        let mut map = SourceMap::at(2);
        map.plain(2);
        map.spelled(0, 3);
        map.plain(1);
        map.spelled(1, 5);
        map.plain(1);
        map.spelled(0, 3);
        map.plain(1);
        for (text, expected) in [
            (0..6, "2-4 7-14 17-18"),
            (0..2, "2-4"),
            (1..3, "3-4 7-8"),
            (2..4, "7-13"),
            (3..4, "8-13"),
            (4..5, "13-14"),
            (5..6, "17-18"),
            (2..2, ""),
        ] {
            let pieces = map.pieces(text.clone());
            let shown: Vec<String> =
                pieces.iter().map(|piece| format!("{}-{}", piece.start, piece.end)).collect();
            assert_eq!(shown.join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn what_stands_before_moves_both_sides() {
        let mut map = SourceMap::at(0);
        map.plain(2);
        map.spelled(1, 3);
        map.plain(2);
        let before: Vec<usize> = (0..6).map(|text| map.floor(text)).collect();
        map.shift(10, 14);
        map.plain(1);
        let behind: Vec<usize> = (10..16).map(|text| map.floor(text) - 14).collect();
        assert_eq!((before, map.text_end(), map.source_end()), (behind, 16, 22));
    }

    #[test]
    fn text_before_the_beginning_has_no_source() {
        let mut map = SourceMap::between(6, 0);
        map.plain(3);
        assert_eq!((map.range(6..9), map.range(0..4), map.floor(2)), (0..3, 0..0, 0));
    }

    #[test]
    fn maps_lead_one_through_another() {
        // `1` in full width within a JSON string that writes it as an escape.
        let (mut read, mut string) = (SourceMap::at(0), SourceMap::at(1));
        read.spelled(1, 3);
        string.spelled(3, 6);
        assert_eq!(string.range(read.range(0..1)), 1..7);
    }
}
