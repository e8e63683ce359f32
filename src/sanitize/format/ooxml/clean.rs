//! One package's way: read and shown to scanners part by part, planned, disarmed and redacted part by part, written.

use std::collections::{HashMap, HashSet};

use crate::sanitize::format::content::FileContent;
use crate::sanitize::format::image;
use crate::sanitize::format::ooxml::attributes::TextPart;
use crate::sanitize::format::ooxml::heads::Heads;
use crate::sanitize::format::ooxml::plan::{OoxmlPlan, is_own};
use crate::sanitize::format::ooxml::relations::{Relations, Types, source_of};
use crate::sanitize::format::ooxml::text::PackageTexts;
use crate::sanitize::format::ooxml::{active, fields, fonts, role, sheets, text};
use crate::sanitize::format::package::{NewPackage, Package};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Doctype, Tree};
use crate::sanitize::{ChangedObject, Note, ObjectAction, ObjectKind, RedactionMode, Rejection, Work};

/// What is known of a package before its parts are changed.
struct OpenPackage {
    // Names of the parts in lower case, in the order of the directory; empty for a folder.
    parts: Vec<String>,
    types: Types,
    relations: Vec<Relations>,
    // Their places, by source.
    sources: HashMap<String, usize>,
    // Parts that are programs by what their document is.
    programs: HashSet<String>,
    // Parts that hold anybody's data.
    data: HashSet<String>,
}

/// Cleans a package.
///
/// # Errors
/// [`Rejection::Malformed`] for what is no package or has a document type declaration; [`Rejection::Unsupported`] for a
/// workbook in binary, or of macro sheets only; the host's.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut package = Package::open(file, work)?;
    let opened = open(&mut package, work)?;
    let main = main_part(&opened)?;
    let binary = opened.types.of(&main).is_some_and(|main| main.to_ascii_lowercase().contains("binary"));
    if binary {
        return work.pass(file);
    }
    let before = work.stats().clone();
    let mut plan = OoxmlPlan::new(&opened.parts, &opened.types, &opened.relations, &opened.programs, work)?;
    if plan.gone.contains(&main) {
        return Err(Rejection::Malformed);
    }
    if is_empty_book(&opened, &plan, &main) {
        return Err(Rejection::Unsupported);
    }
    let written = parts(&mut package, &opened, &plan, work)?;
    let counted = work.stats().counts_other_than(&before);
    let changed = counted || !plan.gone.is_empty() || written.iter().any(Option::is_some);
    if plan.signed && changed {
        plan.unsign(&opened.parts, &opened.relations);
        work.unsign(1);
    }
    write(package, &opened, &plan, written, work)
}

/// What all parts become. Texts that cells share come last: what their columns are called stands in the sheets.
fn parts(
    package: &mut Package<'_>,
    opened: &OpenPackage,
    plan: &OoxmlPlan,
    work: &mut Work<'_>,
) -> Result<Vec<Option<Vec<u8>>>, Rejection> {
    let shared = opened.parts.iter().position(|name| {
        opened.types.of(name).is_some_and(|kind| kind.to_ascii_lowercase().ends_with("sharedstrings+xml"))
    });
    let wanted = work.options().redaction != RedactionMode::Off;
    let shared = shared.filter(|_| wanted);
    let strings = match shared {
        Some(at) => Some(Tree::read(&package.again(at)?, Doctype::Refused, work)?),
        None => None,
    };
    let heads = if wanted { Heads::new(strings.as_ref()) } else { Heads::default() };
    drop(strings);
    let mut texts = PackageTexts::new(heads);
    let mut written: Vec<Option<Vec<u8>>> = vec![None; opened.parts.len()];
    let order = (0..opened.parts.len()).filter(|at| Some(*at) != shared).chain(shared);
    for at in order {
        let new = part(package, KeptPart { opened, plan, at }, &mut texts, work)?;
        if let Some(slot) = written.get_mut(at) {
            *slot = new;
        }
    }
    work.enter("");
    texts.show_typed(work)?;
    Ok(written)
}

/// Reads all parts once: each is shown to the scanners, and what holds the package together is kept.
fn open(package: &mut Package<'_>, work: &mut Work<'_>) -> Result<OpenPackage, Rejection> {
    let (mut parts, mut relations, mut types, mut programs) = (Vec::new(), Vec::new(), None, HashSet::new());
    for at in 0..package.entries().len() {
        let Some(entry) = package.entries().get(at).filter(|entry| !entry.folder).cloned() else {
            parts.push(String::new());
            continue;
        };
        let content = package.read(at, work)?;
        work.part(&entry.name, &content)?;
        let name = entry.name.to_lowercase();
        if let Some(source) = source_of(&name) {
            relations.push(Relations::read(source, Tree::read(&content, Doctype::Refused, work)?)?);
        } else if name == "[content_types].xml" {
            types = Some(Types::read(Tree::read(&content, Doctype::Refused, work)?)?);
        } else if role::may_be_program(&content)
            && Tree::read(&content, Doctype::Refused, work).is_ok_and(|tree| role::is_program(tree.name(0)))
        {
            programs.insert(name.clone());
        }
        parts.push(name);
    }
    look_up_links(package, &parts, &mut relations, work)?;
    let sources =
        relations.iter().enumerate().map(|(at, of): (usize, &Relations)| (of.source.clone(), at)).collect();
    let data = data_parts(&parts, &relations);
    Ok(OpenPackage { parts, types: types.ok_or(Rejection::Malformed)?, relations, sources, programs, data })
}

/// Looks up what refers to links that lead out, in the parts that have any.
fn look_up_links(
    package: &mut Package<'_>,
    parts: &[String],
    relations: &mut [Relations],
    work: &mut Work<'_>,
) -> Result<(), Rejection> {
    let named = parts.iter().enumerate().filter(|(_, part)| !part.is_empty());
    let places: HashMap<&str, usize> = named.map(|(at, part)| (part.as_str(), at)).collect();
    for of in relations.iter_mut().filter(|of| of.have_links()) {
        let source = match places.get(of.source.as_str()) {
            Some(at) => Tree::read(&package.again(*at)?, Doctype::Refused, work).ok(),
            None => None,
        };
        of.look_up_links(source.as_ref());
    }
    Ok(())
}

/// The parts that nothing leads to but as to anybody's data (ECMA-376 part 1, 15.2): what is also called a sheet is read as
/// one.
fn data_parts(parts: &[String], relations: &[Relations]) -> HashSet<String> {
    let mut only: HashMap<&str, bool> = HashMap::new();
    for relation in relations.iter().flat_map(|of| &of.all) {
        let Some(part) = relation.part.as_deref() else { continue };
        let data = relation.kind == "customxml";
        only.entry(part).and_modify(|only| *only &= data).or_insert(data);
    }
    let is_data = |part: &&String| {
        only.get(part.as_str()).copied().unwrap_or_else(|| part.starts_with("customxml/") && !is_own(part))
    };
    parts.iter().filter(is_data).cloned().collect()
}

/// The part that the package is about.
fn main_part(opened: &OpenPackage) -> Result<String, Rejection> {
    let root = opened.relations.iter().find(|of| of.source.is_empty()).ok_or(Rejection::Malformed)?;
    let main = root.all.iter().find(|relation| relation.kind == "officedocument");
    let main = main.or_else(|| root.all.iter().find(|relation| relation.kind.ends_with("representation")));
    let part = main.and_then(|main| main.part.clone()).filter(|part| opened.parts.contains(part));
    part.ok_or(Rejection::Malformed)
}

/// Whether all of a workbook's sheets go: readers take one without any for broken.
fn is_empty_book(opened: &OpenPackage, plan: &OoxmlPlan, main: &str) -> bool {
    let of = opened.sources.get(main).and_then(|at| opened.relations.get(*at));
    let sheets = of.iter().flat_map(|of| &of.all).filter(|relation| relation.kind.ends_with("sheet"));
    let dead: Vec<bool> = sheets.map(|sheet| plan.is_dead(main, &sheet.id)).collect();
    !dead.is_empty() && dead.iter().all(|dead| *dead)
}

/// A part of a package, by its place among the entries, and what is to become of it.
struct KeptPart<'p> {
    opened: &'p OpenPackage,
    plan: &'p OoxmlPlan,
    at: usize,
}

/// What a part becomes; `None` if it stays as it is, or goes.
fn part(
    package: &mut Package<'_>,
    wanted: KeptPart<'_>,
    texts: &mut PackageTexts,
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    let KeptPart { opened, plan, at } = wanted;
    let name = opened.parts.get(at).map_or("", String::as_str);
    if name.is_empty() || is_own(name) || plan.gone.contains(name) {
        return Ok(None);
    }
    work.enter(name);
    let kind = opened.types.of(name).unwrap_or_default().to_ascii_lowercase();
    let extension = name.rsplit('.').next().unwrap_or_default();
    let file = role::of_type(&kind).max(role::of_path(name)) == Some(role::PartRole::Attachment);
    if file {
        let content = package.again(at)?;
        return work.attachment(name, &content);
    }
    if kind.starts_with("image/") {
        return image::shown(name, &package.again(at)?, work);
    }
    if kind.starts_with("audio/") || kind.starts_with("video/") {
        return media(name, &package.again(at)?, work);
    }
    let xml = kind.ends_with("xml") || kind.ends_with(".vmldrawing") || matches!(extension, "xml" | "vml");
    if !xml {
        let signs = name.starts_with("_xmlsignatures/");
        if fonts::is_called(&kind) {
            return font(name, &kind, &package.again(at)?, work);
        }
        let unread = !signs && work.options().redaction != RedactionMode::Off;
        work.stats().note(Note::Passed, u64::from(unread));
        return Ok(None);
    }
    let tree = Tree::read(&package.again(at)?, Doctype::Refused, work)?;
    let part = TextPart { tree: &tree, data: opened.data.contains(name) };
    document(part, plan.dead.get(name), texts, work)
}

/// What a font becomes: what is none does not stay.
fn font(name: &str, kind: &str, content: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    if work.is_again() || fonts::is_one(name, kind, content, work) {
        return Ok(None);
    }
    work.leave_out(ChangedObject::left_out(ObjectKind::Picture));
    Ok(Some(Vec::new()))
}

/// What sound or film becomes; what is none does not stay.
fn media(name: &str, content: &[u8], work: &mut Work<'_>) -> Result<Option<Vec<u8>>, Rejection> {
    match FileContent::of(name, content, work) {
        FileContent::Empty | FileContent::Media => Ok(None),
        // Films begin like some of them.
        FileContent::Picture => image::picture(content, work),
        _ => {
            work.leave_out(ChangedObject::left_out(ObjectKind::Picture));
            Ok(Some(Vec::new()))
        }
    }
}

/// What a part in XML becomes.
fn document(
    part: TextPart<'_>,
    dead: Option<&HashSet<String>>,
    texts: &mut PackageTexts,
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    let tree = part.tree;
    let (mut editor, mut shared) = (XmlEditor::new(tree), sheets::SharedFormulas::new(tree));
    if let Some(dead) = dead {
        active::drop_dangling(tree, &mut editor, dead);
    }
    if work.options().interactive {
        let removed = |what, count| ChangedObject::new(what, ObjectAction::Removed, count);
        work.acting(removed(ObjectKind::Markup, active::disarm(tree, &mut editor)));
        work.acting(removed(ObjectKind::Action, fields::disarm(tree, &mut editor)));
        work.acting(removed(ObjectKind::Formula, sheets::disarm(tree, &mut editor, &mut shared)));
    }
    text::edit(part, &mut editor, &mut shared, texts, work)?;
    active::tidy(tree, &mut editor);
    Ok(editor.finish().map(String::into_bytes))
}

/// Writes what stays.
fn write(
    mut package: Package<'_>,
    opened: &OpenPackage,
    plan: &OoxmlPlan,
    mut written: Vec<Option<Vec<u8>>>,
    work: &Work<'_>,
) -> Result<Vec<u8>, Rejection> {
    let mut fresh = NewPackage::new();
    let entries = package.entries().to_vec();
    for (at, ((entry, name), written)) in entries.iter().zip(&opened.parts).zip(&mut written).enumerate() {
        if name.is_empty() || plan.gone.contains(name) {
            continue;
        }
        let own = if name == "[content_types].xml" {
            types(opened, plan, work)
        } else {
            let of = source_of(name).and_then(|source| opened.relations.get(*opened.sources.get(&source)?));
            of.and_then(|of| relations(of, plan))
        };
        match own.map(String::into_bytes).or_else(|| written.take()) {
            Some(content) => fresh.put(&entry.name, &content, false)?,
            None => {
                let content = if entry.bare { Vec::new() } else { package.again(at)? };
                fresh.keep(&mut package, at, &content)?;
            }
        }
    }
    fresh.finish()
}

/// What is said of the parts that stay.
fn types(opened: &OpenPackage, plan: &OoxmlPlan, work: &Work<'_>) -> Option<String> {
    let tree = &opened.types.tree;
    let mut editor = XmlEditor::new(tree);
    for at in 0..tree.len() {
        let Some(said) = tree.attributes(at).find(|attribute| attribute.name == "ContentType") else {
            continue;
        };
        let gone = opened.types.part(at).is_some_and(|part| plan.gone.contains(&part));
        // Parts that had no other type are gone with it.
        let of_gone = tree.name(at) == "Default"
            && role::of_type(&said.value()).is_some_and(|role| role.goes(work.options()));
        if gone || of_gone {
            editor.cut(at);
        } else if let Some(plain) = role::without_macros(&said.value()).filter(|_| work.options().interactive)
        {
            editor.set_attribute(&said, plain);
        }
    }
    editor.finish()
}

/// The relationships that stay.
fn relations(of: &Relations, plan: &OoxmlPlan) -> Option<String> {
    let mut editor = XmlEditor::new(&of.tree);
    for relation in &of.all {
        if plan.is_dead(&of.source, &relation.id) {
            editor.cut(relation.at);
        } else if let Some(target) = plan.links.get(&(of.source.clone(), relation.id.clone())) {
            let written = of.tree.attributes(relation.at).find(|attribute| attribute.name == "Target");
            written.iter().for_each(|written| editor.set_attribute(written, target));
        }
    }
    editor.finish()
}
