//! [`GlyphText`]: a page's text in one order, with the way back to its glyphs.

use std::ops::Range;

use crate::sanitize::format::pdf::text::record::Glyph;

/// A gap between glyphs that reads as a blank, in the size of the letters.
const BLANK: f64 = 0.2;

/// A step back that begins something new.
const BACK: f64 = -1.5;

/// A step across that reads as the end of a line.
const LINE: f64 = 0.5;

/// What stands for a glyph that cannot be told.
const UNKNOWN: &str = "\u{fffd}";

/// A text, and which glyph each part of it is.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GlyphText {
    pub(super) text: String,
    parts: Vec<(Range<usize>, usize)>,
}

/// The direction in which a glyph is written; to the right if it takes no room.
pub(super) fn direction(glyph: &Glyph) -> [f64; 2] {
    let ([x, y], [to_x, to_y]) = (glyph.from, glyph.to);
    let (along, up) = (to_x - x, to_y - y);
    let length = along.hypot(up);
    if length.is_finite() && length > 1e-6 { [along / length, up / length] } else { [1.0, 0.0] }
}

/// How far along and across a direction a point lies from another.
pub(super) fn offset(direction: [f64; 2], from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
    let ([ux, uy], [x, y]) = (direction, [to[0] - from[0], to[1] - from[1]]);
    [x * ux + y * uy, y * ux - x * uy]
}

impl GlyphText {
    /// In the order of the content.
    pub(super) fn as_written(glyphs: &[Glyph]) -> Self {
        Self::of(glyphs, 0..glyphs.len())
    }

    /// In the order in which it is seen: by direction, line, and place in the line.
    pub(super) fn as_seen(glyphs: &[Glyph]) -> Self {
        let mut sizes: Vec<f64> =
            glyphs.iter().map(|glyph| glyph.size).filter(|size| size.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        let line = sizes.get(sizes.len() / 2).copied().unwrap_or(10.0).max(0.5) * 0.4;
        let mut keys: Vec<([f64; 3], usize)> = Vec::with_capacity(glyphs.len());
        for (n, glyph) in glyphs.iter().enumerate() {
            let direction = direction(glyph);
            let [ux, uy] = direction;
            let angle = (uy.atan2(ux) * 10.0).round() + 0.0;
            let [along, across] = offset(direction, [0.0, 0.0], glyph.from);
            keys.push(([angle, -(across / line).round() + 0.0, along], n));
        }
        keys.sort_by(|(a, _), (b, _)| {
            let order = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
            order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        Self::of(glyphs, keys.into_iter().map(|(_, n)| n))
    }

    fn of(glyphs: &[Glyph], order: impl Iterator<Item = usize>) -> Self {
        let mut reading = Self::default();
        let mut last: Option<&Glyph> = None;
        for n in order {
            let Some(glyph) = glyphs.get(n) else { continue };
            let text = glyph.text.as_deref().unwrap_or(UNKNOWN);
            if let Some(last) = last {
                let size = last.size.max(glyph.size).max(0.1);
                let [along, across] = offset(direction(last), last.to, glyph.from);
                let between = match (along / size, across.abs() / size) {
                    (_, across) if across > LINE => "\n",
                    (along, _) if !(BACK..=BLANK).contains(&along) => " ",
                    _ => "",
                };
                let blank = reading.text.ends_with([' ', '\n']) || text.starts_with(' ');
                if !(between == " " && blank) {
                    reading.text.push_str(between);
                }
            }
            let start = reading.text.len();
            reading.text.push_str(text);
            reading.parts.push((start..reading.text.len(), n));
            last = Some(glyph);
        }
        reading
    }

    /// The glyphs that make up this part of the text.
    pub(super) fn glyphs(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        let first = self.parts.partition_point(|(part, _)| part.end <= range.start);
        let end = range.end;
        let rest = self.parts.get(first..).unwrap_or_default();
        rest.iter().take_while(move |(part, _)| part.start < end).map(|(_, n)| *n)
    }
}
