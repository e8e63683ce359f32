//! What widgets and media annotations show, written into their pages (ISO 32000-2, 12.5.5), so that a form that goes
//! leaves its values behind, and a film its picture.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::sanitize::format::pdf::{appearance, census, graph};
use crate::sanitize::{Rejection, Work};

/// Flags of an annotation that is not seen: hidden, and not viewed.
const UNSEEN: i64 = 0b10_0010;

/// How many nodes lie above a page at most.
const ABOVE: usize = 60;

/// Something to be painted on a page.
struct Painted {
    form: ObjectId,
    /// From the form's space to the page's.
    matrix: [f64; 6],
}

/// Paints what all widgets and media annotations show.
///
/// # Errors
/// [`Rejection::OverLimit`].
pub(super) fn flatten(doc: &mut Document, pages: &[ObjectId], work: &mut Work<'_>) -> Result<(), Rejection> {
    for page in pages {
        let Some(dict) = doc.objects.get(page).and_then(graph::dict) else { continue };
        let annotations: Vec<Dictionary> = graph::array(doc, dict, b"Annots")
            .iter()
            .filter_map(|annotation| graph::dict(graph::resolve(doc, annotation)))
            .filter(|dict| census::media(doc, dict) || census::annotation(doc, dict) == b"Widget")
            .cloned()
            .collect();
        work.items(annotations.len())?;
        let mut painted = Vec::new();
        for annotation in annotations {
            painted.extend(shown(doc, &annotation, work)?);
        }
        if !painted.is_empty() {
            paint(doc, *page, &painted)?;
        }
    }
    Ok(())
}

/// What an annotation shows, and where.
fn shown(
    doc: &mut Document,
    annotation: &Dictionary,
    work: &mut Work<'_>,
) -> Result<Option<Painted>, Rejection> {
    let Some([x0, y0, x1, y1]) = graph::numbers::<4>(doc, annotation, b"Rect") else { return Ok(None) };
    let (left, bottom, width, height) = (x0.min(x1), y0.min(y1), (x1 - x0).abs(), (y1 - y0).abs());
    if graph::integer(doc, annotation, b"F").unwrap_or(0) & UNSEEN != 0 || width == 0.0 || height == 0.0 {
        return Ok(None);
    }
    let own = normal(doc, annotation);
    if appearance::wanted(doc, annotation, own, work)?
        && let Some(made) = appearance::of(doc, annotation, width, height)
    {
        let form = graph::add(doc, Object::Stream(made))?;
        return Ok(Some(Painted { form, matrix: [1.0, 0.0, 0.0, 1.0, left, bottom] }));
    }
    let Some(form) = own else { return Ok(None) };
    let Some(Object::Stream(stream)) = doc.objects.get(&form) else { return Ok(None) };
    let bbox = graph::numbers::<4>(doc, &stream.dict, b"BBox").unwrap_or([0.0, 0.0, width, height]);
    let inner = graph::numbers::<6>(doc, &stream.dict, b"Matrix").unwrap_or([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let Some(matrix) = fit(bbox, inner, [left, bottom, width, height]) else { return Ok(None) };
    let layer = annotation.get(b"OC").ok().cloned();
    if let Some(Object::Stream(stream)) = doc.objects.get_mut(&form) {
        stream.dict.set("Type", Object::Name(b"XObject".to_vec()));
        stream.dict.set("Subtype", Object::Name(b"Form".to_vec()));
        if !stream.dict.has(b"BBox") {
            stream.dict.set("BBox", bbox.iter().map(|n| Object::Real(*n as f32)).collect::<Vec<_>>());
        }
        if let Some(layer) = layer {
            stream.dict.set("OC", layer);
        }
    }
    Ok(Some(Painted { form, matrix }))
}

/// The stream of the normal appearance, in the annotation's state if there are several.
fn normal(doc: &Document, annotation: &Dictionary) -> Option<ObjectId> {
    let looks = graph::sub(doc, annotation, b"AP")?;
    let normal = looks.get(b"N").ok()?;
    let normal = match graph::resolve(doc, normal) {
        Object::Dictionary(states) => states.get(graph::name(doc, annotation, b"AS")).ok()?,
        _ => normal,
    };
    let id = graph::target(doc, normal)?;
    matches!(doc.objects.get(&id), Some(Object::Stream(_))).then_some(id)
}

/// The matrix that fits a box, as its form's own matrix turns it, into a rectangle (left, bottom, width, height):
/// ISO 32000-2, 12.5.5, algorithm 8.
fn fit(
    bbox: [f64; 4],
    [a, b, c, d, e, f]: [f64; 6],
    [left, bottom, width, height]: [f64; 4],
) -> Option<[f64; 6]> {
    let [x0, y0, x1, y1] = bbox;
    let corners =
        [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(x, y)| (a * x + c * y + e, b * x + d * y + f));
    let min = |all: [f64; 4]| all.into_iter().fold(f64::INFINITY, f64::min);
    let max = |all: [f64; 4]| all.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let (xs, ys) = (corners.map(|(x, _)| x), corners.map(|(_, y)| y));
    let (sx, sy) = (width / (max(xs) - min(xs)), height / (max(ys) - min(ys)));
    let matrix = [sx, 0.0, 0.0, sy, left - min(xs) * sx, bottom - min(ys) * sy];
    matrix.iter().all(|n| n.is_finite()).then_some(matrix)
}

/// Appends to a page's content, and names what it paints in the page's resources.
fn paint(doc: &mut Document, page: ObjectId, painted: &[Painted]) -> Result<(), Rejection> {
    let Some(dict) = doc.objects.get(&page).and_then(graph::dict) else { return Ok(()) };
    let mut resources = resources(doc, dict);
    let mut forms = graph::sub(doc, &resources, b"XObject").cloned().unwrap_or_default();
    let mut contents: Vec<Object> = match dict.get(b"Contents") {
        Ok(contents) => match graph::resolve(doc, contents) {
            Object::Array(items) => items.clone(),
            Object::Stream(_) => vec![contents.clone()],
            _ => Vec::new(),
        },
        Err(_) => Vec::new(),
    };
    let mut tail = if contents.is_empty() { String::new() } else { "\nQ\n".to_owned() };
    let mut n = 0_usize;
    for Painted { form, matrix } in painted {
        while forms.has(format!("Flat{n}").as_bytes()) {
            n = n.saturating_add(1);
        }
        let numbers: Vec<String> = matrix.iter().map(|n| appearance::number(*n)).collect();
        tail.push_str(&format!("q {} cm /Flat{n} Do Q\n", numbers.join(" ")));
        forms.set(format!("Flat{n}"), Object::Reference(*form));
    }
    if !contents.is_empty() {
        let head = graph::add(doc, Object::Stream(Stream::new(Dictionary::new(), b"q\n".to_vec())))?;
        contents.insert(0, Object::Reference(head));
    }
    let tail = graph::add(doc, Object::Stream(Stream::new(Dictionary::new(), tail.into_bytes())))?;
    contents.push(Object::Reference(tail));
    resources.set("XObject", forms);
    if let Some(dict) = doc.objects.get_mut(&page).and_then(graph::dict_mut) {
        dict.set("Resources", resources);
        dict.set("Contents", contents);
    }
    Ok(())
}

/// A page's resources: its own, or those of the nearest node above it.
fn resources(doc: &Document, page: &Dictionary) -> Dictionary {
    let mut node = page;
    for _ in 0..ABOVE {
        if let Some(resources) = graph::sub(doc, node, b"Resources") {
            return resources.clone();
        }
        match graph::sub(doc, node, b"Parent") {
            Some(parent) => node = parent,
            None => break,
        }
    }
    Dictionary::new()
}
