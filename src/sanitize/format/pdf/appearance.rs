//! What a field shows that brings no appearance: its value, in Helvetica (ISO 32000-2, 12.7.4.3).

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::sanitize::format::pdf::{fields, graph, parts, strings};
use crate::sanitize::{Rejection, Work};

/// Flags of text fields: several lines, and a password.
const LINES: i64 = 1 << 12;
const PASSWORD: i64 = 1 << 13;

/// The mean width of a letter of Helvetica, in its size; near enough to place a line.
const LETTER: f64 = 0.5;

/// Whether a widget shows nothing of its value by itself: it has no appearance, or is told to make one anew and the
/// one it has is empty.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn wanted(
    doc: &Document,
    widget: &Dictionary,
    own: Option<ObjectId>,
    work: &mut Work<'_>,
) -> Result<bool, Rejection> {
    let Some(Object::Stream(stream)) = own.and_then(|id| doc.objects.get(&id)) else { return Ok(true) };
    let anew = matches!(fields::inherited(doc, widget, b"NeedAppearances"), Object::Boolean(true));
    if !anew || value(doc, widget).is_none() {
        return Ok(false);
    }
    let content = parts::unfold(stream, work)?;
    let content = content.as_deref().unwrap_or(&stream.content);
    let writes = |operator: &[u8]| memchr::memmem::find(content, operator).is_some();
    Ok(!writes(b"Tj") && !writes(b"TJ") && !writes(b"Do"))
}

/// An appearance for a text or choice field with a value.
pub(super) fn of(doc: &Document, widget: &Dictionary, width: f64, height: f64) -> Option<Stream> {
    let text = value(doc, widget)?;
    let several = flags(doc, widget) & LINES != 0;
    let (size, colour) = style(&strings::text(fields::inherited(doc, widget, b"DA")).unwrap_or_default());
    let size = match size {
        Some(size) => size,
        None if several => 12.0,
        None => (height * 0.7).clamp(4.0, 12.0),
    };
    let room = ((width - 4.0) / (size * LETTER)).max(1.0);
    let lines = if several { wrapped(&text, room as usize) } else { vec![text.replace(['\r', '\n'], " ")] };
    let first = if several { height - size - 2.0 } else { ((height - size) / 2.0 + size * 0.2).max(1.0) };
    let side = match fields::inherited(doc, widget, b"Q") {
        Object::Integer(side @ (1 | 2)) => *side as f64 / 2.0,
        _ => 0.0,
    };
    let mut content = format!(
        "/Tx BMC q 0 0 {} {} re W n BT /Helv {} Tf {colour} ",
        number(width),
        number(height),
        number(size)
    )
    .into_bytes();
    let mut below = first;
    for line in lines {
        let bytes = latin(&line);
        let left = 2.0 + side * (width - 4.0 - bytes.len() as f64 * size * LETTER).max(0.0);
        content.extend_from_slice(format!("1 0 0 1 {} {} Tm <", number(left), number(below)).as_bytes());
        bytes.iter().for_each(|byte| content.extend_from_slice(format!("{byte:02x}").as_bytes()));
        content.extend_from_slice(b"> Tj ");
        below -= size * 1.15;
    }
    content.extend_from_slice(b"ET Q EMC");
    Some(Stream::new(form(width, height), content))
}

/// The dictionary of a form that writes in Helvetica.
fn form(width: f64, height: f64) -> Dictionary {
    let name = |name: &str| Object::Name(name.as_bytes().to_vec());
    let dict = |entries: Vec<(&str, Object)>| Object::Dictionary(entries.into_iter().collect());
    let font = dict(vec![
        ("Type", name("Font")),
        ("Subtype", name("Type1")),
        ("BaseFont", name("Helvetica")),
        ("Encoding", name("WinAnsiEncoding")),
    ]);
    let bbox =
        vec![Object::Integer(0), Object::Integer(0), Object::Real(width as f32), Object::Real(height as f32)];
    let entries = vec![
        ("Type", name("XObject")),
        ("Subtype", name("Form")),
        ("BBox", Object::Array(bbox)),
        ("Resources", dict(vec![("Font", dict(vec![("Helv", font)]))])),
    ];
    entries.into_iter().collect()
}

/// What a field's value reads like; nothing for buttons, signatures, passwords and empty ones.
fn value(doc: &Document, widget: &Dictionary) -> Option<String> {
    let kind = fields::inherited(doc, widget, b"FT");
    let Object::Name(kind) = kind else { return None };
    if (kind != b"Tx" && kind != b"Ch") || (kind == b"Tx" && flags(doc, widget) & PASSWORD != 0) {
        return None;
    }
    let read = |object: &Object| match graph::resolve(doc, object) {
        Object::Stream(stream) => Some(String::from_utf8_lossy(&stream.content).into_owned()),
        other => strings::text(other),
    };
    let text = match fields::inherited(doc, widget, b"V") {
        Object::Array(chosen) => chosen.iter().filter_map(read).collect::<Vec<_>>().join(", "),
        chosen => shown(doc, widget, read(chosen)?),
    };
    (!text.is_empty()).then_some(text)
}

/// What a choice is called that is exported under another name.
fn shown(doc: &Document, widget: &Dictionary, chosen: String) -> String {
    let Object::Array(options) = fields::inherited(doc, widget, b"Opt") else { return chosen };
    let called = options.iter().find_map(|option| match graph::resolve(doc, option) {
        Object::Array(pair) => {
            let mut pair = pair.iter().map(|side| strings::text(graph::resolve(doc, side)));
            (pair.next()?? == chosen).then(|| pair.next().flatten())?
        }
        _ => None,
    });
    called.unwrap_or(chosen)
}

fn flags(doc: &Document, widget: &Dictionary) -> i64 {
    match fields::inherited(doc, widget, b"Ff") {
        Object::Integer(flags) => *flags,
        _ => 0,
    }
}

/// The size and the colour operator in a default appearance; no size where it is to fit.
fn style(appearance: &str) -> (Option<f64>, String) {
    let words: Vec<&str> = appearance.split_ascii_whitespace().collect();
    let before = |operator: &str, n: usize| {
        let at = words.iter().rposition(|word| *word == operator)?;
        let numbers = words.get(at.checked_sub(n)?..at)?.iter().map(|word| word.parse::<f64>().ok());
        numbers.collect::<Option<Vec<f64>>>().filter(|numbers| numbers.iter().all(|n| n.is_finite()))
    };
    let size =
        before("Tf", 1).and_then(|size| size.first().copied()).filter(|size| (1.0..=200.0).contains(size));
    let colour = [("k", 4), ("rg", 3), ("g", 1)].iter().find_map(|(operator, n)| {
        let numbers: Vec<String> = before(operator, *n)?.into_iter().map(number).collect();
        Some(format!("{} {operator}", numbers.join(" ")))
    });
    (size, colour.unwrap_or_else(|| "0 g".to_owned()))
}

/// Lines of about so many letters, broken at blanks.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.replace("\r\n", "\n").replace('\r', "\n").split('\n') {
        let mut current = String::new();
        for word in line.split(' ') {
            let long = current.chars().count().saturating_add(word.chars().count()) >= room;
            if long && !current.is_empty() {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

/// WinAnsiEncoding, with `?` for what it lacks.
pub(super) fn latin(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut buffer = [0; 4];
    for c in text.chars() {
        match encoding_rs::WINDOWS_1252.encode(c.encode_utf8(&mut buffer)) {
            (bytes, _, false) => out.extend_from_slice(&bytes),
            _ => out.push(b'?'),
        }
    }
    out
}

/// A number as content streams write it: no exponent.
pub(super) fn number(n: f64) -> String {
    let text = format!("{n:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".to_owned() } else { text.to_owned() }
}
