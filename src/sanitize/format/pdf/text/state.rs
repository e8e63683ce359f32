//! The state in which text is shown (ISO 32000-2, 8.4 and 9.3), and where that puts it.

use std::rc::Rc;

use crate::sanitize::format::pdf::text::font::Font;

/// A transformation: `[a b c d e f]`.
pub(super) type Matrix = [f64; 6];

/// What leaves everything where it is.
pub(super) const UNIT: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// The first, then the second.
pub(super) fn then(a: &Matrix, b: &Matrix) -> Matrix {
    let [a0, a1, a2, a3, a4, a5] = *a;
    let [b0, b1, b2, b3, b4, b5] = *b;
    [
        a0 * b0 + a1 * b2,
        a0 * b1 + a1 * b3,
        a2 * b0 + a3 * b2,
        a2 * b1 + a3 * b3,
        a4 * b0 + a5 * b2 + b4,
        a4 * b1 + a5 * b3 + b5,
    ]
}

/// A shift.
pub(super) fn shift(x: f64, y: f64) -> Matrix {
    [1.0, 0.0, 0.0, 1.0, x, y]
}

/// What `q` keeps and `Q` brings back.
#[derive(Clone, Debug)]
pub(super) struct GraphicsState {
    /// To the space of the page.
    pub(super) space: Matrix,
    /// The font, with what its stream calls it: empty if it does not.
    pub(super) font: Option<(Rc<Font>, Rc<[u8]>)>,
    /// Its size.
    pub(super) size: f64,
    /// Spacing between characters and between words.
    pub(super) characters: f64,
    pub(super) words: f64,
    /// Horizontal scaling; 1 is none.
    pub(super) scale: f64,
    pub(super) leading: f64,
    pub(super) rise: f64,
}

impl GraphicsState {
    /// The state at the beginning of a page.
    pub(super) fn new() -> Self {
        Self {
            space: UNIT,
            font: None,
            size: 1.0,
            characters: 0.0,
            words: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

/// The matrices of a text object.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPosition {
    text: Matrix,
    line: Matrix,
}

impl TextPosition {
    /// The place at the beginning of a text object.
    pub(super) fn new() -> Self {
        Self { text: UNIT, line: UNIT }
    }

    /// `Tm`
    pub(super) fn set(&mut self, matrix: Matrix) {
        *self = Self { text: matrix, line: matrix };
    }

    /// `Td`
    pub(super) fn line(&mut self, x: f64, y: f64) {
        self.set(then(&shift(x, y), &self.line));
    }

    /// On by so much, in the direction of writing.
    pub(super) fn advance(&mut self, by: f64, vertical: bool) {
        let by = if vertical { shift(0.0, by) } else { shift(by, 0.0) };
        self.text = then(&by, &self.text);
    }

    /// Where a glyph is drawn, on the page: its place, and the size of its letters.
    pub(super) fn on_page(&self, state: &GraphicsState) -> ([f64; 2], f64) {
        let glyph = [state.size * state.scale, 0.0, 0.0, state.size, 0.0, state.rise];
        let [_, _, c, d, x, y] = then(&glyph, &then(&self.text, &state.space));
        ([x, y], c.hypot(d))
    }
}
