//! One channel of text within bytes: [`TextChannel`] shows an editor the text and turns its edits into edits of the bytes.

use crate::edit::SourceMap;
use crate::stream::{Edit, Editor, StreamError};

/// How a replacement is written.
pub(crate) type Respell = fn(String) -> String;

/// As it is.
pub(crate) fn plain(text: String) -> String {
    text
}

/// One channel of text within bytes. Offsets of bytes are counted from wherever the owner counts them.
#[derive(Debug)]
pub(crate) struct TextChannel {
    map: SourceMap,
    spelling: Respell,
    decided: usize,
    edits: Vec<Edit>,
}

impl TextChannel {
    /// A channel whose first text is spelled at byte `code`.
    pub(crate) fn at(code: usize, spelling: Respell) -> Self {
        Self { map: SourceMap::at(code), spelling, decided: code, edits: Vec::new() }
    }

    /// Begins another channel.
    pub(crate) fn begin(&mut self, code: usize, spelling: Respell) {
        self.map.restart(0, code);
        self.spelling = spelling;
        self.decided = code;
    }

    /// Text that spells itself comes next.
    pub(crate) fn plain(&mut self, length: usize) {
        self.map.plain(length);
    }

    /// A character of `width` bytes comes next, spelled by `length` bytes.
    pub(crate) fn escape(&mut self, width: usize, length: usize) {
        self.map.spelled(width, length);
    }

    /// Up to which byte all is decided.
    pub(crate) fn decided(&self) -> usize {
        self.decided
    }

    /// Bytes of memory that grow with what is not decided.
    pub(crate) fn weight(&self) -> usize {
        self.map.weight()
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
        self.decided = self.decided.max(self.map.floor(decided.min(self.map.text_end())));
        self.map.forget(decided);
        Ok(())
    }

    /// The same, and ends the channel.
    pub(crate) fn last<E: Editor>(
        &mut self,
        editor: &mut E,
        text: &str,
        out: &mut Vec<Edit>,
    ) -> Result<(), StreamError> {
        editor.last(text, &mut self.edits)?;
        self.close(out);
        Ok(())
    }

    /// Ends the channel: all of it is decided.
    pub(crate) fn end<E: Editor>(&mut self, editor: &mut E, out: &mut Vec<Edit>) -> Result<(), StreamError> {
        editor.end(&mut self.edits)?;
        self.close(out);
        Ok(())
    }

    fn close(&mut self, out: &mut Vec<Edit>) {
        self.translate(out);
        self.begin(self.map.source_end(), self.spelling);
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
            if self.map.text_end() > 0 {
                self.end(editor, out)?;
            }
            self.begin(self.map.source_end() + invalid, self.spelling);
            rest = behind.get(invalid..).unwrap_or_default();
        }
    }

    fn translate(&mut self, out: &mut Vec<Edit>) {
        if self.edits.is_empty() {
            return;
        }
        out.extend(self.edits.drain(..).map(|edit| edit.through(&self.map, self.spelling)));
    }
}
