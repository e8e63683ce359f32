//! Writing a [`SourceChange`] into a stream: its operators are written anew, all other bytes stay.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::edit::{self, Edit};
use crate::sanitize::format::pdf::appearance;
use crate::sanitize::format::pdf::text::metrics;
use crate::sanitize::format::pdf::text::plan::{Overlay, Quad, SourceChange};
use crate::sanitize::format::pdf::text::record::{Show, ShowItem};

/// The content with the change made; `font` is what the stream calls the font of links.
pub(super) fn spliced(content: &[u8], change: &SourceChange, font: &str) -> Vec<u8> {
    let mut operators: BTreeMap<usize, (Range<usize>, String)> = change.marks.clone();
    operators.extend(change.emptied.iter().map(|(start, range)| (*start, (range.clone(), "()".to_owned()))));
    // What is shown takes what stands before it along.
    for (start, show) in &change.shows {
        operators.insert(*start, (show.range.clone(), operator(*start, show, change, font)));
    }
    // What is written stays apart from what stands around it.
    let edit = |(range, operator): (Range<usize>, String)| Edit { range, with: format!(" {operator} ") };
    edit::spliced(content, &edit::settled(operators.into_values().map(edit).collect()))
}

/// An operand list in the making.
struct OperandList {
    out: String,
    codes: Vec<u8>,
    gap: f64,
}

impl OperandList {
    /// Writes the codes that were collected, after the gap before them.
    fn flush(&mut self) {
        if self.codes.is_empty() {
            return;
        }
        self.flush_gap();
        self.out.push_str(&hexadecimal(&std::mem::take(&mut self.codes)));
    }

    fn flush_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if gap != 0.0 {
            self.out.push_str(&format!("{} ", number(gap)));
        }
    }
}

fn operator(start: usize, show: &Show, change: &SourceChange, font: &str) -> String {
    let mut line = OperandList { out: format!("{}[", show.before), codes: Vec::new(), gap: 0.0 };
    for (n, piece) in show.pieces.iter().enumerate() {
        let codes = match piece {
            ShowItem::Gap(gap) => {
                line.flush();
                line.gap += gap;
                continue;
            }
            ShowItem::Codes(codes) => codes,
        };
        let mut at = 0;
        while let Some(byte) = codes.get(at) {
            let Some((length, gap)) = change.gone.get(&(start, n, at)) else {
                line.codes.push(*byte);
                at += 1;
                continue;
            };
            line.flush();
            if let Some(overlay) = change.overlays.get(&(start, n, at)) {
                line.flush_gap();
                line.out.push_str(&linked(show, overlay, font));
                line.gap += overlay.width;
            }
            line.gap += gap;
            at += (*length).max(1);
        }
        line.flush();
    }
    line.flush_gap();
    line.out.push_str("]TJ");
    line.out
}

/// A link in Helvetica, as wide as what it takes the place of; then the operands go on as before.
fn linked(show: &Show, overlay: &Overlay, font: &str) -> String {
    let text = appearance::latin(&overlay.text);
    let natural: f64 = text.iter().map(|byte| metrics::width("Helvetica", char::from(*byte))).sum();
    let scale = if natural > 0.0 { overlay.width / natural * show.scale } else { show.scale };
    let own = show.font.as_ref().map(|(_, name)| name_of(name)).unwrap_or_default();
    let size = number(show.size);
    format!(
        "]TJ /{font} {size} Tf 0 Tc 0 Tw {} Tz {}Tj {own} {size} Tf {} Tc {} Tw {} Tz [",
        number(scale * 100.0),
        hexadecimal(&text),
        number(show.characters),
        number(show.words),
        number(show.scale * 100.0),
    )
}

/// What covers parts of a page.
pub(super) fn covers(quads: &[Quad]) -> String {
    let mut out = "q 0 g\n".to_owned();
    for [a, b, c, d] in quads {
        let point = |[x, y]: &[f64; 2]| format!("{} {}", number(*x), number(*y));
        out.push_str(&format!("{} m {} l {} l {} l h f\n", point(a), point(b), point(c), point(d)));
    }
    out.push_str("Q\n");
    out
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut out = "<".to_owned();
    bytes.iter().for_each(|byte| out.push_str(&format!("{byte:02x}")));
    out.push('>');
    out
}

fn name_of(name: &[u8]) -> String {
    let mut out = "/".to_owned();
    for byte in name {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'+' => {
                out.push(char::from(*byte))
            }
            byte => out.push_str(&format!("#{byte:02x}")),
        }
    }
    out
}

/// A number as content streams write it.
fn number(number: f64) -> String {
    let number = if number.is_finite() { number.clamp(-1e9, 1e9) } else { 0.0 };
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" || text.is_empty() { "0".to_owned() } else { text.to_owned() }
}
