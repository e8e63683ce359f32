//! Elements and attributes that act, or that refer to what is not there any more. An element goes with what would be
//! empty without it; a readable text or picture within it stays.

use std::collections::HashSet;

use crate::sanitize::format::link_target;
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Tree, TreeAttribute};

/// Elements that may not be empty, or say nothing when they are.
const HOLDERS: &[&str] = &[
    "controls",
    "oleObjects",
    "externalReferences",
    "hyperlinks",
    "ext",
    "extLst",
    "custDataLst",
    "definedNames",
    "webExtensionRefs",
    "frameset",
    "dataValidations",
    "conditionalFormatting",
    "sparklines",
    "sparklineGroup",
    "sparklineGroups",
];

/// Elements beside an object that are looked at: its shape and what that is made of.
const MAX_SHAPES: usize = 64;

/// Elements that show something else when the picture that they refer to is gone.
const PAINTED: &[&str] = &["blip", "imagedata", "fill", "stroke", "background", "worksheetSource", "svgBlip"];

/// Elements that show a picture, or paint with one: in VML the sides of a frame, too.
const PICTURED: &[&str] = &[
    "imagedata",
    "image",
    "fill",
    "stroke",
    "background",
    "blip",
    "svgBlip",
    "imgUrl",
    "left",
    "top",
    "right",
    "bottom",
    "column",
];

/// Attributes that name where something is to be had, or what to set up for it, by their elements: no reader needs it.
const PLACES: &[(&str, &str)] = &[
    ("Schema", "SchemaRef"),
    ("schema", "manifestLocation"),
    ("schema", "schemaLocation"),
    ("smartTagType", "url"),
    ("signatureline", "sigprovurl"),
    ("signatureLine", "sigProvUrl"),
];

/// Takes out what holds nothing any more. A branch of alternatives may be empty, as long as another is not: the reader
/// that takes it shows nothing there.
pub(super) fn tidy(tree: &Tree, editor: &mut XmlEditor<'_>) {
    // Inner elements come behind outer ones.
    for at in (0..tree.len()).rev() {
        let alternatives = tree.name(at) == "AlternateContent";
        if editor.is_gone(at) || !(alternatives || HOLDERS.contains(&tree.name(at))) {
            continue;
        }
        let held = |at: usize, editor: &XmlEditor<'_>| {
            tree.children(at).fold(None, |state: Option<bool>, child| {
                let gone = (child..tree.within(child).end).all(|inner| editor.is_gone(inner));
                Some(state.unwrap_or(true) && gone)
            })
        };
        let empty = if alternatives {
            let branches: Vec<Option<bool>> = tree.children(at).map(|branch| held(branch, editor)).collect();
            branches.contains(&Some(true)) && !branches.contains(&Some(false))
        } else {
            held(at, editor) == Some(true)
        };
        if empty {
            editor.cut(at);
        }
    }
}

/// Takes out what refers to relationships that are gone: their targets are counted already.
pub(super) fn drop_dangling(tree: &Tree, editor: &mut XmlEditor<'_>, dead: &HashSet<String>) {
    if dead.is_empty() {
        return;
    }
    for at in 0..tree.len() {
        for attribute in tree.attributes(at) {
            let refers =
                !matches!(attribute.prefix, "" | "xmlns" | "xml") && dead.contains(&attribute.value());
            if editor.is_gone(at) {
                break;
            }
            if refers {
                drop_reference(tree, editor, at, &attribute);
            }
        }
    }
}

fn drop_reference(tree: &Tree, editor: &mut XmlEditor<'_>, at: usize, attribute: &TreeAttribute<'_>) {
    match tree.name(at) {
        "hyperlink" if tree.children(at).next().is_some() => {
            editor.unwrap(at);
        }
        "oleObj" => drop_frame(tree, editor, at),
        // Its picture is a shape beside it, which says that it shows an object.
        "OLEObject" => {
            editor.cut(at);
            let beside = tree.parent(at).map(|around| tree.within(around)).unwrap_or_default();
            for shape in beside.take(MAX_SHAPES) {
                for mark in
                    tree.attributes(shape).filter(|mark| mark.name == "ole" && !mark.prefix.is_empty())
                {
                    editor.drop_attribute(shape, &mark);
                }
            }
        }
        name if PAINTED.contains(&name) => editor.drop_attribute(at, attribute),
        _ => {
            editor.cut(at);
        }
    }
}

/// Takes an object on a slide out, and leaves its picture in its place.
fn drop_frame(tree: &Tree, editor: &mut XmlEditor<'_>, at: usize) {
    let Some(frame) = tree.ancestors(at).find(|around| tree.name(*around) == "graphicFrame") else {
        editor.cut(at);
        return;
    };
    let Some(picture) = tree.within(frame).find(|inner| tree.name(*inner) == "pic") else {
        editor.cut(frame);
        return;
    };
    let named = |from: usize| tree.within(from).find(|inner| tree.name(*inner) == "cNvPr");
    let id = named(frame).and_then(|frame| tree.attribute(frame, "id"));
    editor.lift(frame, picture);
    // The picture's own number is not unique on its slide.
    let own =
        named(picture).and_then(|inner| tree.attributes(inner).find(|attribute| attribute.name == "id"));
    if let Some((own, id)) = own.zip(id).filter(|(own, id)| own.raw != id) {
        editor.set_attribute(&own, &id);
    }
}

/// Takes out what acts without any part of its own: how many things that were.
pub(super) fn disarm(tree: &Tree, editor: &mut XmlEditor<'_>) -> u64 {
    let mut count = 0_u64;
    for at in 0..tree.len() {
        if editor.is_gone(at) {
            continue;
        }
        let acts = match tree.name(at) {
            "entryMacro" | "exitMacro" | "FmlaMacro" | "mailMerge" | "ddeLink" | "oleLink" | "webVideoPr" => {
                true
            }
            // Pages that are written whenever the book is, and data that are read whenever it is opened.
            "webPublishItems" | "webPublishObjects" => true,
            "DataBinding" => tree.name(0) == "MapInfo",
            // What links in a sheet of properties are relative to.
            "HyperlinkBase" => link_target::acts(&tree.text(at)),
            name => name.starts_with("hlink") && is_action(tree, at),
        };
        if acts {
            count = count.saturating_add(u64::from(editor.cut(at)));
            continue;
        }
        for attribute in tree.attributes(at) {
            count = count.saturating_add(u64::from(disarm_attribute(tree, editor, at, &attribute)));
        }
    }
    for span in tree.remarks() {
        if tree.slice(*span).starts_with("<?xml-stylesheet") {
            editor.set_markup(*span, String::new());
            count = count.saturating_add(1);
        }
    }
    count
}

/// Whether a link on a slide does more than go somewhere (ECMA-376 part 1, 21.1.2.3.5).
fn is_action(tree: &Tree, at: usize) -> bool {
    const GOES: &[&str] =
        &["hlinksldjump", "hlinkshowjump", "media", "customshow", "noaction", "hlinkpres", "hlinkfile"];
    let Some(action) = tree.attribute(at, "action") else { return false };
    let action = action.trim().to_ascii_lowercase();
    let verb = action.strip_prefix("ppaction://").map(|rest| rest.split('?').next().unwrap_or_default());
    !action.is_empty() && !verb.is_some_and(|verb| GOES.contains(&verb))
}

fn disarm_attribute(
    tree: &Tree,
    editor: &mut XmlEditor<'_>,
    at: usize,
    attribute: &TreeAttribute<'_>,
) -> bool {
    match attribute.name {
        "macro" | "fmlaMacro" if !attribute.raw.trim().is_empty() && attribute.prefix.is_empty() => {
            editor.set_attribute(attribute, "");
            true
        }
        // Pictures and links of VML, which name their targets themselves.
        "src" | "href" | "althref" if PICTURED.contains(&tree.name(at)) => {
            drop_outside(editor, at, attribute)
        }
        "href" if link_target::acts(&attribute.value()) => {
            editor.drop_attribute(at, attribute);
            true
        }
        name if PLACES.contains(&(tree.name(at), name)) => drop_outside(editor, at, attribute),
        _ => false,
    }
}

/// Takes an attribute out that leads out of the package: whether it did.
fn drop_outside(editor: &mut XmlEditor<'_>, at: usize, attribute: &TreeAttribute<'_>) -> bool {
    let value = attribute.value();
    let outside = link_target::leads_out(&value) || link_target::acts(&value) || value.contains("//");
    if outside {
        editor.drop_attribute(at, attribute);
    }
    outside
}
