//! Where the text of one channel lies in the bytes that spell it: [`Map`], and [`Strand`], which shows an editor
//! the text and turns its edits into edits of the bytes.

use crate::stream::json::encoded;
use crate::stream::{Edit, Editor, StreamError};

/// Text that is spelled by another number of bytes than it has.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Where it ends in the text, and how long it is there.
    text: usize,
    width: usize,
    /// Where it ends in the bytes, and how long it is there.
    code: usize,
    length: usize,
}

/// Offsets in a text ↔ offsets in the bytes that spell it. Text spelled by itself costs nothing; what is spelled
/// otherwise (an escape, a byte that is no UTF-8) costs a mark.
#[derive(Debug)]
pub(crate) struct Map {
    /// Before the first mark, text from here on is spelled from there on.
    origin: (usize, usize),
    marks: Vec<Mark>,
    /// The ends so far.
    text: usize,
    code: usize,
}

impl Map {
    /// No text yet; it begins at byte `code`.
    pub(crate) fn at(code: usize) -> Self {
        Self { origin: (0, code), marks: Vec::new(), text: 0, code }
    }

    /// Text that spells itself.
    pub(crate) fn plain(&mut self, length: usize) {
        self.text += length;
        self.code += length;
    }

    /// A character of `width` bytes that is spelled by `length` bytes.
    pub(crate) fn escape(&mut self, width: usize, length: usize) {
        self.text += width;
        self.code += length;
        self.marks.push(Mark { text: self.text, width, code: self.code, length });
    }

    /// Where the text at `text` begins in the bytes; within a mark, the mark's beginning.
    pub(crate) fn floor(&self, text: usize) -> usize {
        self.place(text, |mark| mark.code - mark.length)
    }

    /// As [`floor`](Self::floor), but within a mark its end.
    pub(crate) fn ceil(&self, text: usize) -> usize {
        self.place(text, |mark| mark.code)
    }

    /// Where the next text will be spelled.
    fn end(&self) -> usize {
        self.code
    }

    /// Drops the marks of text before `text`, which will not be asked for again.
    fn forget(&mut self, text: usize) {
        let passed = self.marks.partition_point(|mark| mark.text <= text);
        if let Some(mark) = passed.checked_sub(1).and_then(|last| self.marks.get(last)) {
            self.origin = (mark.text, mark.code);
            self.marks.drain(..passed);
        }
    }

    fn place(&self, text: usize, within: impl Fn(&Mark) -> usize) -> usize {
        let behind = self.marks.partition_point(|mark| mark.text <= text);
        if let Some(mark) = self.marks.get(behind)
            && text > mark.text - mark.width
        {
            return within(mark);
        }
        let before = behind.checked_sub(1).and_then(|at| self.marks.get(at));
        let (from, code) = before.map_or(self.origin, |mark| (mark.text, mark.code));
        code + text.saturating_sub(from)
    }
}

/// How a replacement is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As it is.
    Plain,
    /// As a part of a JSON string.
    Json,
}

/// One channel of text within bytes. Offsets of bytes are counted from wherever the owner counts them.
#[derive(Debug)]
pub(crate) struct Strand {
    map: Map,
    spelling: Spelling,
    decided: usize,
    edits: Vec<Edit>,
}

impl Strand {
    /// A channel whose first text is spelled at byte `code`.
    pub(crate) fn at(code: usize, spelling: Spelling) -> Self {
        Self { map: Map::at(code), spelling, decided: code, edits: Vec::new() }
    }

    /// Begins another channel.
    pub(crate) fn begin(&mut self, code: usize, spelling: Spelling) {
        self.map.marks.clear();
        self.map = Map { origin: (0, code), marks: std::mem::take(&mut self.map.marks), text: 0, code };
        self.spelling = spelling;
        self.decided = code;
    }

    /// Text that spells itself comes next.
    pub(crate) fn plain(&mut self, length: usize) {
        self.map.plain(length);
    }

    /// A character of `width` bytes comes next, spelled by `length` bytes.
    pub(crate) fn escape(&mut self, width: usize, length: usize) {
        self.map.escape(width, length);
    }

    /// Up to which byte all is decided.
    pub(crate) fn decided(&self) -> usize {
        self.decided
    }

    /// Bytes of memory that grow with what is not decided.
    pub(crate) fn weight(&self) -> usize {
        self.map.marks.len() * size_of::<Mark>()
    }

    /// Shows `editor` text whose spelling has been told before.
    pub(crate) fn feed<E: Editor>(
        &mut self,
        editor: &mut E,
        text: &str,
        out: &mut Vec<Edit>,
    ) -> Result<(), StreamError> {
        let decided = editor.feed(text, &mut self.edits)?;
        self.translate(out);
        self.decided = self.decided.max(self.map.floor(decided.min(self.map.text)));
        self.map.forget(decided);
        Ok(())
    }

    /// Ends the channel: all of it is decided.
    pub(crate) fn end<E: Editor>(&mut self, editor: &mut E, out: &mut Vec<Edit>) -> Result<(), StreamError> {
        editor.end(&mut self.edits)?;
        self.translate(out);
        self.begin(self.map.end(), self.spelling);
        Ok(())
    }

    /// Shows `editor` bytes that spell themselves. A byte that is not UTF-8 ends the channel and passes; another
    /// channel begins behind it.
    pub(crate) fn bytes<E: Editor>(
        &mut self,
        editor: &mut E,
        bytes: &[u8],
        out: &mut Vec<Edit>,
    ) -> Result<(), StreamError> {
        let mut rest = bytes;
        loop {
            let (valid, invalid) = match std::str::from_utf8(rest) {
                Ok(_) => (rest.len(), 0),
                Err(error) => {
                    let valid = error.valid_up_to();
                    (valid, error.error_len().unwrap_or(rest.len() - valid))
                }
            };
            let (text, behind) = rest.split_at(valid);
            if let Ok(text) = std::str::from_utf8(text)
                && !text.is_empty()
            {
                self.plain(text.len());
                self.feed(editor, text, out)?;
            }
            if invalid == 0 {
                return Ok(());
            }
            if self.map.text > 0 {
                self.end(editor, out)?;
            }
            self.begin(self.map.end() + invalid, self.spelling);
            rest = behind.get(invalid..).unwrap_or_default();
        }
    }

    fn translate(&mut self, out: &mut Vec<Edit>) {
        if self.edits.is_empty() {
            return;
        }
        out.extend(self.edits.drain(..).map(|edit| Edit {
            range: self.map.floor(edit.range.start)..self.map.ceil(edit.range.end),
            with: match self.spelling {
                Spelling::Plain => edit.with,
                Spelling::Json => encoded(&edit.with),
            },
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_to_bytes_also_after_forgetting() {
        let mut map = Map::at(10);
        map.plain(2);
        map.escape(2, 6);
        map.plain(3);
        map.escape(1, 2);
        let floors = [10, 11, 12, 12, 18, 19, 20, 21, 23, 24];
        let ceils = [10, 11, 12, 18, 18, 19, 20, 21, 23, 24];
        for forgotten in 0..9 {
            map.forget(forgotten);
            for text in forgotten..10 {
                assert_eq!((map.floor(text), map.ceil(text)), (floors[text], ceils[text]), "{text}");
            }
        }
    }
}
