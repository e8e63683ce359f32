//! [`rewrite`]: all text of a document, read and rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::sanitize::format::pdf::text::plan::{PageTextPlan, SourceChange};
use crate::sanitize::format::pdf::text::reading::GlyphText;
use crate::sanitize::format::pdf::text::record::{ContentSource, PageRecord};
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::format::pdf::text::{draws, splice, walk};
use crate::sanitize::format::pdf::{graph, strings};
use crate::sanitize::values::Needles;
use crate::sanitize::{Note, RedactionMode, Rejection, Work};

/// How many dots a letter has at most that is drawn: an inch of 512 dots.
const LETTER: u64 = 512 * 512;

/// Reads every page, asks what is to change, and takes it out of the streams: redacted text is gone and covered with
/// black, links have become others. What was redacted anywhere, in strings as well, is then removed wherever else it
/// is written. The values that were removed. Nothing is read of pages that draw more than any reader finishes.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn rewrite(
    doc: &mut Document,
    work: &mut Work<'_>,
) -> Result<Needles, Rejection> {
    let options = work.options();
    if options.redaction == RedactionMode::Off && !options.links {
        draws::bound(&mut ContentStreams::new(doc), work)?;
        return Needles::new(work.values());
    }
    let (plan, contents, needles) = planned(doc, work)?;
    for ((source, change), content) in plan.changes.iter().zip(contents) {
        let covers = match source {
            ContentSource::Page(page) => plan.covers.get(page).map(|quads| splice::covers(quads)),
            ContentSource::Stream(_) => None,
        };
        make(doc, *source, change, &content, covers)?;
    }
    // Forms that hold all text of a page leave its own content as it is.
    for (page, quads) in &plan.covers {
        if !plan.changes.contains_key(&ContentSource::Page(*page)) {
            cover(doc, *page, &splice::covers(quads))?;
        }
    }
    strings::remove(doc, &needles, work);
    Ok(needles)
}

/// What sources unfold to.
type Contents = Vec<Rc<Vec<u8>>>;

/// What is to change, the content that each change is for, and the values that go.
fn planned(doc: &Document, work: &mut Work<'_>) -> Result<(PageTextPlan, Contents, Needles), Rejection> {
    let mut streams = ContentStreams::new(doc);
    draws::bound(&mut streams, work)?;
    let mut plan = PageTextPlan::default();
    let (glyphs, mut pictures) = (streams.glyphs(), BTreeSet::new());
    let mut sources: Vec<(ContentSource, Option<&Dictionary>)> =
        streams.pages().into_iter().map(|page| (page, None)).collect();
    for (page, resources) in &sources {
        let record = walk::read(&mut streams, *page, *resources, work)?;
        note(&record, work, true)?;
        pictures.extend(inline(&record, &glyphs));
        ask(&mut plan, *page, &record, work)?;
    }
    let stray = streams.stray();
    for (source, resources) in &stray {
        let record = walk::read(&mut streams, *source, *resources, work)?;
        note(&record, work, false)?;
        pictures.extend(inline(&record, &glyphs));
        ask(&mut plan, *source, &record, work)?;
    }
    work.stats().note(Note::Undecodable, streams.broken.len() as u64);
    work.stats().note(Note::Images, pictures.len() as u64);
    sources.extend(stray);
    let needles = Needles::new(work.values())?;
    if !needles.is_empty() {
        for (source, resources) in sources {
            let record = walk::read(&mut streams, source, resources, work)?;
            search(&mut plan, source, &record, &needles, work);
        }
    }
    let contents =
        plan.changes.keys().map(|source| streams.content(*source, work)).collect::<Result<_, _>>()?;
    Ok((plan, contents, needles))
}

/// Notes what could not be read.
fn note(record: &PageRecord<'_>, work: &mut Work<'_>, page: bool) -> Result<(), Rejection> {
    work.items(record.glyphs.len() / 64)?;
    let unknown = record.glyphs.iter().filter(|glyph| glyph.text.is_none()).count();
    work.stats().note(Note::Undecodable, unknown as u64);
    if page && record.images > 0 && unknown == record.glyphs.len() {
        work.stats().note(Note::ImageOnly, 1);
    }
    Ok(())
}

/// The images that stand in the content itself, each once, however often that is drawn. Letters are none: those that fonts draw
/// are read by their codes.
fn inline(
    record: &PageRecord<'_>,
    glyphs: &BTreeMap<ObjectId, Option<&Dictionary>>,
) -> impl Iterator<Item = (ContentSource, usize)> {
    let letter = move |source: ContentSource, dots: u64| match source {
        ContentSource::Stream(id) => dots <= LETTER && glyphs.contains_key(&id),
        ContentSource::Page(_) => false,
    };
    let all = record.inline.iter().filter(move |((source, _), dots)| !letter(*source, **dots));
    all.map(|(place, _)| *place)
}

/// The readings of a page that differ.
fn readings(record: &PageRecord<'_>) -> Vec<GlyphText> {
    let glyphs = &record.glyphs;
    let mut all = vec![GlyphText::as_written(glyphs), GlyphText::as_seen(glyphs)];
    let combed: Vec<GlyphText> = all.iter().filter_map(|reading| reading.combed(glyphs)).collect();
    all.extend(combed);
    let mut readings: Vec<GlyphText> = Vec::new();
    for reading in all {
        if readings.iter().all(|known| known.text != reading.text) {
            readings.push(reading);
        }
    }
    readings
}

fn ask(
    plan: &mut PageTextPlan,
    source: ContentSource,
    record: &PageRecord<'_>,
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let readings = readings(record);
    let mut texts: Vec<&str> = readings.iter().map(|reading| reading.text.as_str()).collect();
    texts.extend(record.marks.iter().map(|mark| mark.text.as_str()));
    texts.extend(record.unshown.values().map(|unshown| unshown.text.as_str()));
    if texts.iter().all(|text| text.trim().is_empty()) {
        return Ok(());
    }
    let mut edits = work.edits(&texts)?;
    let mut of_marks = edits.split_off(readings.len().min(edits.len()));
    let of_unshown = of_marks.split_off(record.marks.len().min(of_marks.len()));
    // What is redacted is no link any more, in whichever reading it is found.
    for links in [false, true] {
        for (reading, edits) in readings.iter().zip(&edits) {
            for edit in edits.iter().filter(|edit| edit.with.rule.is_none() == links) {
                let which: Vec<usize> = reading.glyphs(&edit.range).collect();
                let news = if links {
                    plan.relink(record, &which, &edit.with.text)
                } else {
                    plan.redact(source, record, &which)
                };
                if news {
                    work.applied(edit);
                }
            }
        }
    }
    for (mark, edits) in record.marks.iter().zip(&of_marks).filter(|(_, edits)| !edits.is_empty()) {
        plan.bare(mark);
        for edit in edits.iter().filter(|edit| edit.with.rule.is_some()) {
            // Nobody can tell whether the glyphs show more than the value.
            let within = mark.glyphs.clone();
            let unknown = |n: &usize| record.glyphs.get(*n).is_some_and(|glyph| glyph.text.is_none());
            let which: Vec<usize> = within.filter(unknown).collect();
            if plan.redact(source, record, &which) {
                work.applied(edit);
            }
        }
    }
    for (((place, _), unshown), mut edits) in record.unshown.iter().zip(of_unshown) {
        // Nobody follows a link there.
        edits.retain(|edit| edit.with.rule.is_some());
        if !edits.is_empty() && plan.empty(*place, unshown) {
            edits.iter().for_each(|edit| work.applied(edit));
        }
    }
    Ok(())
}

/// Removes values wherever else a page shows them.
fn search(
    plan: &mut PageTextPlan,
    source: ContentSource,
    record: &PageRecord<'_>,
    needles: &Needles,
    work: &mut Work<'_>,
) {
    for reading in readings(record) {
        for edit in needles.edits(&reading.text) {
            let which: Vec<usize> = reading.glyphs(&edit.range).collect();
            if plan.redact(source, record, &which) {
                work.applied(&edit);
            }
        }
    }
    for mark in &record.marks {
        if needles.stand_in(&mark.text) {
            plan.bare(mark);
        }
    }
    for ((place, _), unshown) in &record.unshown {
        let edits = needles.edits(&unshown.text);
        if !edits.is_empty() && plan.empty(*place, unshown) {
            edits.iter().for_each(|edit| work.applied(edit));
        }
    }
}

/// Makes a change to a source.
fn make(
    doc: &mut Document,
    source: ContentSource,
    change: &SourceChange,
    content: &[u8],
    covers: Option<String>,
) -> Result<(), Rejection> {
    let font = if change.overlays.is_empty() { String::new() } else { lend(doc, source, change)? };
    let mut out = splice::spliced(content, change, &font);
    match source {
        ContentSource::Stream(id) => {
            if let Some(Object::Stream(stream)) = doc.objects.get_mut(&id) {
                stream.set_plain_content(out);
                stream.dict.remove(b"DecodeParms");
            }
        }
        ContentSource::Page(page) => {
            if let Some(covers) = covers {
                out.splice(..0, *b"q\n");
                out.extend_from_slice(b"\nQ\n");
                out.extend_from_slice(covers.as_bytes());
            }
            let content = graph::add(doc, Object::Stream(Stream::new(Dictionary::new(), out)))?;
            if let Some(page) = doc.objects.get_mut(&page).and_then(graph::dict_mut) {
                page.set("Contents", Object::Reference(content));
            }
        }
    }
    Ok(())
}

/// Covers parts of a page whose own content stays.
fn cover(doc: &mut Document, page: ObjectId, covers: &str) -> Result<(), Rejection> {
    let Some(dict) = doc.objects.get(&page).and_then(graph::dict) else { return Ok(()) };
    let mut contents = match (graph::entry(doc, dict, b"Contents"), dict.get(b"Contents")) {
        (Object::Array(all), _) => all.clone(),
        (_, Ok(one)) => vec![one.clone()],
        _ => Vec::new(),
    };
    let stream = |text: String| Object::Stream(Stream::new(Dictionary::new(), text.into_bytes()));
    let before = graph::add(doc, stream("q\n".to_owned()))?;
    let after = graph::add(doc, stream(format!("\nQ\n{covers}")))?;
    contents.insert(0, Object::Reference(before));
    contents.push(Object::Reference(after));
    if let Some(page) = doc.objects.get_mut(&page).and_then(graph::dict_mut) {
        page.set("Contents", contents);
    }
    Ok(())
}

/// Adds the font of links to the resources that a source goes by; what it is called there.
fn lend(doc: &mut Document, source: ContentSource, change: &SourceChange) -> Result<String, Rejection> {
    let mut resources = change.resources.clone().unwrap_or_default();
    let mut fonts = graph::sub(doc, &resources, b"Font").cloned().unwrap_or_default();
    let names = (0_u32..).map(|n| format!("PcLink{n}"));
    let name = names.into_iter().find(|name| !fonts.has(name.as_bytes())).unwrap_or_default();
    let entry = |text: &str| Object::Name(text.as_bytes().to_vec());
    let mut font = Dictionary::new();
    font.set("Type", entry("Font"));
    font.set("Subtype", entry("Type1"));
    font.set("BaseFont", entry("Helvetica"));
    font.set("Encoding", entry("WinAnsiEncoding"));
    fonts.set(name.as_bytes(), graph::add(doc, Object::Dictionary(font))?);
    resources.set("Font", fonts);
    let (ContentSource::Page(id) | ContentSource::Stream(id)) = source;
    if let Some(dict) = doc.objects.get_mut(&id).and_then(graph::dict_mut) {
        dict.set("Resources", resources);
    }
    Ok(name)
}
