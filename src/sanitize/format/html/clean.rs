//! [`clean`]: a document, asked about and written.

use crate::sanitize::format::charset::{self, Decoded};
use crate::sanitize::format::html::plan::HtmlPlan;
use crate::sanitize::format::html::token;
use crate::sanitize::format::markup::{data, entity, tag};
use crate::sanitize::{ChangedObject, NamedText, ObjectAction, ObjectKind, RedactionMode, Rejection, Work};

/// Cleans a document. It is written as UTF-8, unless nothing has to change.
///
/// # Errors
/// [`Rejection::OverLimit`], the host's.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let Decoded { text: html, encoding, bom } = charset::of_html(file);
    let options = work.options();
    let tokens = token::read(&html, work)?;
    let comments = options.interactive || options.redaction == RedactionMode::Apply;
    let plan = HtmlPlan::of(&html, &tokens, options.interactive, comments);
    let HtmlPlan { mut patches, blocks, asking, tags, sheets, charsets, removed, .. } = plan;
    let texts: Vec<NamedText<&str>> =
        blocks.iter().map(|block| NamedText::nowhere(block.text.text())).collect();
    let (edits, answers) = asking.ask(&texts, work)?;
    for (block, edits) in blocks.iter().zip(edits) {
        for edit in edits {
            work.applied(&edit);
            patches.edit(
                &block.text,
                &edit,
                |text| if block.raw { text.to_owned() } else { entity::escaped(text) },
            );
        }
    }
    tag::write(&html, tags, sheets, &answers, &mut patches);
    if !options.interactive {
        data::clean_pictures(&html, &mut patches, work)?;
    }
    work.acting(ChangedObject::new(ObjectKind::Markup, ObjectAction::Removed, removed));
    let utf8 = encoding == encoding_rs::UTF_8;
    if !utf8 && patches.is_empty() && encoding != encoding_rs::ISO_2022_JP {
        return Ok(file.to_vec());
    }
    for (range, known) in charsets {
        if !(utf8 && known) && options.interactive | !utf8 {
            patches.cut(range);
        }
    }
    let mut out = if bom || !utf8 { charset::BOM.to_vec() } else { Vec::new() };
    out.extend(patches.apply(html.as_bytes()));
    Ok(out)
}
