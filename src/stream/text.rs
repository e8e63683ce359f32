//! Text as it passes: a whole body of it ([`TextBody`]), or what many carriers bring piece by piece ([`Channel`]).

use bytes::BytesMut;

use crate::base::budget::MemoryBudget;
use crate::stream::text_channel::{TextChannel, plain};
use crate::stream::utf8::complete;
use crate::stream::window::Window;
use crate::stream::{Edit, Editor, Rewriter, StreamError};

/// A text body in UTF-8.
///
/// A byte that is not UTF-8 passes as it is; the editor's channel ends before it and another begins behind it. A
/// sequence that a chunk cuts is held (at most 3 bytes).
pub struct TextBody<E> {
    editor: E,
    channel: TextChannel,
    window: Window,
    edits: Vec<Edit>,
    /// The beginning of a sequence, not shown to the editor yet; also among the window's bytes.
    cut: Vec<u8>,
    /// Whether a pause ends a text.
    pauses: bool,
}

impl<E: Editor> TextBody<E> {
    /// Shows the body's text to `editor`; what is held back is charged to `budget`.
    pub fn new(editor: E, budget: &MemoryBudget) -> Self {
        Self {
            editor,
            channel: TextChannel::at(0, plain),
            window: Window::new(budget),
            edits: Vec::new(),
            cut: Vec::new(),
            pauses: false,
        }
    }

    /// The same, but where nothing comes for a while, all leaves, and what comes then is a text of its own. For editors that
    /// take nothing out: of others half a value would leave.
    pub fn pausing(self) -> Self {
        Self { pauses: true, ..self }
    }

    /// Shows a chunk to the editor, except for a sequence that is cut at its end.
    fn show(&mut self, chunk: &[u8]) -> Result<(), StreamError> {
        let mut rest = chunk;
        while !self.cut.is_empty()
            && let [first, behind @ ..] = rest
        {
            self.cut.push(*first);
            rest = behind;
            let whole = complete(&self.cut);
            if whole > 0 {
                let behind = self.cut.split_off(whole);
                self.channel.bytes(&mut self.editor, &self.cut, &mut self.edits)?;
                self.cut = behind;
            }
        }
        let (whole, cut) = rest.split_at(complete(rest));
        self.cut.extend_from_slice(cut);
        self.channel.bytes(&mut self.editor, whole, &mut self.edits)
    }
}

impl<E: Editor> Rewriter for TextBody<E> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.show(chunk)?;
        let put = &mut |piece: &[u8]| out.extend_from_slice(piece);
        self.window.advance(chunk, self.channel.decided(), &mut self.edits, put)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        if !self.pauses || self.window.held() <= self.cut.len() {
            return Ok(());
        }
        self.channel.end(&mut self.editor, &mut self.edits)?;
        let put = &mut |piece: &[u8]| out.extend_from_slice(piece);
        self.window.advance(&[], self.channel.decided(), &mut self.edits, put)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        // What is cut now is no text: it leaves as it is.
        self.cut.clear();
        self.channel.end(&mut self.editor, &mut self.edits)?;
        self.window.finish(&mut self.edits, &mut |piece| out.extend_from_slice(piece))
    }

    fn held(&self) -> usize {
        self.window.held()
    }
}

/// Text that comes in pieces which others carry: the deltas of one choice over many events.
pub struct Channel {
    editor: Box<dyn Editor>,
    channel: TextChannel,
    window: Window,
    edits: Vec<Edit>,
}

impl Channel {
    /// A channel with its own editor; what is held back is charged to `budget`.
    pub fn new(editor: Box<dyn Editor>, budget: &MemoryBudget) -> Self {
        Self { editor, channel: TextChannel::at(0, plain), window: Window::new(budget), edits: Vec::new() }
    }

    /// Takes the next piece and appends what is decided to `out`.
    pub fn push(&mut self, piece: &str, out: &mut String) -> Result<(), StreamError> {
        self.channel.plain(piece.len());
        self.channel.feed(&mut self.editor, piece, &mut self.edits)?;
        let put = &mut |piece: &[u8]| out.push_str(&String::from_utf8_lossy(piece));
        self.window.advance(piece.as_bytes(), self.channel.decided(), &mut self.edits, put)
    }

    /// The text has ended: appends the rest. Another text may follow, from offset 0.
    pub fn finish(&mut self, out: &mut String) -> Result<(), StreamError> {
        self.channel.end(&mut self.editor, &mut self.edits)?;
        self.channel.begin(0, plain);
        let put = &mut |piece: &[u8]| out.push_str(&String::from_utf8_lossy(piece));
        self.window.finish(&mut self.edits, put)
    }

    /// Bytes taken in and not yet given out.
    pub fn held(&self) -> usize {
        self.window.held()
    }

    /// Its editor, to ask what it did.
    pub fn editor(&self) -> &dyn Editor {
        &*self.editor
    }
}
