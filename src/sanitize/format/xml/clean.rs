//! A document, asked about and written: a drawing ([`clean_drawing`]), or data ([`clean_data`]).

use crate::sanitize::format::charset::{self, Decoded};
use crate::sanitize::format::markup::{data, entity, tag};
use crate::sanitize::format::xml::plan::{Literal, XmlOptions, XmlPlan};
use crate::sanitize::format::xml::token;
use crate::sanitize::{ChangedObject, NamedText, ObjectAction, ObjectKind, RedactionMode, Rejection, Work};

/// Cleans a drawing.
///
/// # Errors
/// See [`clean`].
pub(in crate::sanitize::format) fn clean_drawing(
    file: &[u8],
    work: &mut Work<'_>,
) -> Result<Vec<u8>, Rejection> {
    clean(file, true, work)
}

/// Cleans a document that is data.
///
/// # Errors
/// See [`clean`].
pub(in crate::sanitize::format) fn clean_data(
    file: &[u8],
    work: &mut Work<'_>,
) -> Result<Vec<u8>, Rejection> {
    clean(file, false, work)
}

/// Cleans a document; a drawing, or data. It is written as UTF-8, unless nothing has to change.
///
/// # Errors
/// [`Rejection::Malformed`] where it is not well-formed, or refers to entities of its own; [`Rejection::Unsupported`] for
/// documents of Office programs in one XML file; [`Rejection::OverLimit`]; the host's.
fn clean(file: &[u8], drawing: bool, work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let Decoded { text: xml, encoding, bom } = charset::of_xml(file);
    let options = work.options();
    let tokens = token::read(&xml, work)?;
    let comments = options.redaction == RedactionMode::Apply || drawing && options.interactive;
    let plan = XmlPlan::of(&xml, &tokens, XmlOptions { drawing, strict: options.interactive, comments });
    let XmlPlan {
        mut patches,
        blocks,
        called,
        asking,
        tags,
        sheets,
        literal,
        declaration,
        removed,
        foreign,
        ..
    } = plan;
    if foreign && options.interactive {
        return Err(Rejection::Unsupported);
    }
    let texts = blocks.iter().zip(&called);
    let texts: Vec<NamedText<&str>> =
        texts.map(|(block, name)| NamedText { name: name.as_str(), text: block.text() }).collect();
    let (edits, answers) = asking.ask(&texts, work)?;
    for (block, edits) in blocks.iter().zip(edits) {
        for edit in edits {
            work.applied(&edit);
            let place = block.place(edit.range.start);
            let next = literal.partition_point(|(range, _)| range.end <= place);
            let within =
                literal.get(next).filter(|(range, _)| range.start <= place).map(|(_, within)| *within);
            patches.edit(block, &edit, |text| spelled(text, within));
        }
    }
    tag::write(&xml, tags, sheets, &answers, &mut patches);
    if drawing && !options.interactive {
        data::clean_pictures(&xml, &mut patches, work)?;
    }
    work.acting(ChangedObject::new(ObjectKind::Markup, ObjectAction::Removed, removed));
    if patches.is_empty() {
        return Ok(file.to_vec());
    }
    let utf8 = encoding == encoding_rs::UTF_8;
    if let Some(range) = declaration.filter(|_| !utf8) {
        patches.put(range, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    }
    let mut out = if bom && utf8 { charset::BOM.to_vec() } else { Vec::new() };
    out.extend(patches.apply(xml.as_bytes()));
    Ok(out)
}

/// Text as it is spelled `within` what stands as it is.
fn spelled(text: &str, within: Option<Literal>) -> String {
    match within {
        Some(Literal::Section) => text.replace("]]>", "]]]]><![CDATA[>"),
        Some(Literal::Instruction) => text.replace("?>", "? >"),
        None => entity::escaped(text),
    }
}
