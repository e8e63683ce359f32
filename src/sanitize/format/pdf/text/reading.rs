//! [`GlyphText`]: a page's text in one order, with the way back to its glyphs.

use std::ops::Range;

use crate::sanitize::format::pdf::text::record::Glyph;

/// A gap between glyphs that reads as a blank, in the size of the letters.
const BLANK: f64 = 0.2;

/// A step back that begins something new.
const BACK: f64 = -1.5;

/// A step across that reads as the end of a line.
const LINE: f64 = 0.5;

/// How many characters stand in a comb at least: the boxes of a form, with a character in each (ISO 32000-2, 12.7.5.3).
const COMB: usize = 6;

/// How much the steps of a comb differ at most from the first, as a part of it.
const PITCH: f64 = 0.1;

/// How wide a step of a comb is at most, and a gap between its groups, in the size of the letters.
const STEP: f64 = 3.0;

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

/// How far a character stands from the one before: from beginning to beginning, and from middle to middle, since some programs put
/// each in the middle of its box.
type Step = [f64; 2];

/// Characters that stand one step from each other, in one group or in several.
#[derive(Debug, Default)]
struct Comb {
    /// The first step.
    pitch: f64,
    /// The parts that stand one step from the one before.
    parts: Vec<usize>,
    /// A part that stands further from the one before: another group may begin with it.
    gap: Option<(usize, f64)>,
}

impl Comb {
    fn begin(part: usize, step: f64) -> Self {
        Self { pitch: step, parts: vec![part], gap: None }
    }

    /// Takes the next part, if it stands one step from the one before, or may begin another group.
    fn take(&mut self, part: usize, step: f64) -> bool {
        if self.parts.is_empty() {
            return false;
        }
        if (step - self.pitch).abs() <= self.pitch * PITCH {
            self.parts.push(part);
            self.gap = None;
            return true;
        }
        let begins = self.gap.is_none() && step > self.pitch;
        if begins {
            self.gap = Some((part, step));
        }
        begins
    }
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

    /// The same without the blanks between the characters of combs; `None` if there are none.
    pub(super) fn combed(&self, glyphs: &[Glyph]) -> Option<Self> {
        let goes_on = self.combs(glyphs);
        if !goes_on.contains(&true) {
            return None;
        }
        let (mut combed, mut end) = (Self::default(), 0);
        for ((part, n), goes_on) in self.parts.iter().zip(goes_on) {
            if !goes_on {
                combed.text.push_str(self.text.get(end..part.start).unwrap_or_default());
            }
            let start = combed.text.len();
            combed.text.push_str(self.text.get(part.clone()).unwrap_or_default());
            combed.parts.push((start..combed.text.len(), *n));
            end = part.end;
        }
        Some(combed)
    }

    /// Of each part, whether it goes on with a comb, behind a blank.
    fn combs(&self, glyphs: &[Glyph]) -> Vec<bool> {
        let steps: Vec<Option<Step>> = (1..self.parts.len()).map(|part| self.step(glyphs, part)).collect();
        let mut goes_on = vec![false; self.parts.len()];
        let measures: [fn(Step) -> f64; 2] = [|[starts, _]| starts, |[_, middles]| middles];
        for measure in measures {
            let mut comb = Comb::default();
            for (part, step) in (1_usize..).zip(&steps) {
                let Some(step) = step.map(measure) else {
                    self.settle(&std::mem::take(&mut comb), &mut goes_on);
                    continue;
                };
                if comb.take(part, step) {
                    continue;
                }
                // What a gap begins is no group of this comb, but may be one of another.
                if let Some((first, gap)) = comb.gap {
                    self.settle(&std::mem::replace(&mut comb, Comb::begin(first, gap)), &mut goes_on);
                    if comb.take(part, step) {
                        continue;
                    }
                }
                self.settle(&std::mem::replace(&mut comb, Comb::begin(part, step)), &mut goes_on);
            }
            self.settle(&comb, &mut goes_on);
        }
        goes_on
    }

    /// Marks the parts of a comb that is long enough.
    fn settle(&self, comb: &Comb, goes_on: &mut [bool]) {
        let mut parts = comb.parts.as_slice();
        // A letter that goes on with a word beside the comb is none of it.
        if let Some((first, rest)) = parts.split_first()
            && self.is_glued(first.saturating_sub(1))
        {
            parts = rest;
        }
        if let Some((last, rest)) = parts.split_last()
            && self.is_glued(last.saturating_add(1))
        {
            parts = rest;
        }
        let is_letter = |part: &&usize| self.character(**part).is_some_and(char::is_alphanumeric);
        if parts.iter().filter(is_letter).count().saturating_add(1) < COMB {
            return;
        }
        for part in parts {
            if let Some(slot) = goes_on.get_mut(*part) {
                *slot |= !self.is_glued(*part);
            }
        }
    }

    /// How far a part stands from the one before, if both are characters of one line and not too far apart.
    fn step(&self, glyphs: &[Glyph], part: usize) -> Option<Step> {
        let (before, this) = (self.parts.get(part.checked_sub(1)?)?, self.parts.get(part)?);
        let between = self.text.get(before.0.end..this.0.start)?;
        if !matches!(between, "" | " ") || self.character(part.checked_sub(1)?).is_none() {
            return None;
        }
        self.character(part)?;
        let (first, second) = (glyphs.get(before.1)?, glyphs.get(this.1)?);
        let middle = |glyph: &Glyph| {
            let ([x, y], [to_x, to_y]) = (glyph.from, glyph.to);
            [f64::midpoint(x, to_x), f64::midpoint(y, to_y)]
        };
        let [starts, _] = offset(direction(first), first.from, second.from);
        let [middles, _] = offset(direction(first), middle(first), middle(second));
        let most = first.size.max(second.size).max(0.1) * STEP;
        let fits = |width: f64| width > 0.0 && width <= most;
        (fits(starts) && fits(middles)).then_some([starts, middles])
    }

    /// The character that a part is; `None` for a blank, and for what is several.
    fn character(&self, part: usize) -> Option<char> {
        let (range, _) = self.parts.get(part)?;
        let mut characters = self.text.get(range.clone())?.chars();
        characters.next().filter(|c| !c.is_whitespace() && characters.next().is_none())
    }

    /// Whether nothing stands between a part and the one before, both characters.
    fn is_glued(&self, part: usize) -> bool {
        let before = part.checked_sub(1).filter(|before| self.character(*before).is_some());
        let end = before.and_then(|before| self.parts.get(before)).map(|(range, _)| range.end);
        let start = self.parts.get(part).map(|(range, _)| range.start);
        end.is_some() && end == start && self.character(part).is_some()
    }

    /// The glyphs that make up this part of the text.
    pub(super) fn glyphs(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        let first = self.parts.partition_point(|(part, _)| part.end <= range.start);
        let end = range.end;
        let rest = self.parts.get(first..).unwrap_or_default();
        rest.iter().take_while(move |(part, _)| part.start < end).map(|(_, n)| *n)
    }
}
