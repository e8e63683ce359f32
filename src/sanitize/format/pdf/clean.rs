//! [`clean`]: one file's way.

use crate::sanitize::format::pdf::{
    census::Census, flatten, graph, open, pages, parts, pictures, profile, strings, strip, text, write,
};
use crate::sanitize::{Note, Rejection, Work};

/// A clean PDF for a PDF. Cleaning the clean one changes nothing.
///
/// # Errors
/// Why there is no clean file.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    work.with_own_values(|work| cleaned(file, work))
}

fn cleaned(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut doc = open::open(file, work)?;
    parts::show(&doc, work)?;
    // What is not reachable is not written, and numbers that a file chose could leave none for what is added.
    write::renumber(&mut doc)?;
    let pages = pages::settle(&mut doc, work)?;
    strings::links(&mut doc, work)?;
    let options = work.options();
    let census = Census::take(&doc, options, &pages);
    work.unsign(census.signatures);
    census.tell(options, work);
    if options.interactive {
        flatten::flatten(&mut doc, &pages, work)?;
    }
    strip::strip(&mut doc, &census, options);
    doc.prune_objects();
    pictures::strip(&mut doc, work)?;
    profile::strip(&mut doc, work)?;
    text::strip_inline(&mut doc, work)?;
    if !options.attachments {
        parts::keep(&mut doc, work)?;
    }
    strings::rewrite(&mut doc, work)?;
    text::redact_unseen(&mut doc, work)?;
    let removed = text::rewrite(&mut doc, work)?;
    images(&doc, work);
    let clean = write::write(&mut doc)?;
    write::prove(&clean, pages.len(), work)?;
    if !text::absent(&clean, &removed, work)? {
        return Err(Rejection::Unproven);
    }
    Ok(clean)
}

/// Notes the images that are objects, into which nobody looks; those within content are noted as it is read.
fn images(doc: &lopdf::Document, work: &mut Work<'_>) {
    let images = doc.objects.values().filter(|object| {
        graph::dict(object).is_some_and(|dict| graph::name(doc, dict, b"Subtype") == b"Image")
    });
    work.stats().note(Note::Images, images.count() as u64);
}
