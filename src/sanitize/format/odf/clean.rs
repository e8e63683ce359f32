//! One package's way: read and shown to scanners entry by entry, disarmed and redacted, written.

use std::collections::HashSet;

use crate::sanitize::format::content::FileContent;
use crate::sanitize::format::image;
use crate::sanitize::format::odf::entries::{EntryRole, Manifest, is_unlisted, is_xml, role};
use crate::sanitize::format::odf::{active, text};
use crate::sanitize::format::package::{NewPackage, Package};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Doctype, Tree};
use crate::sanitize::{ChangedObject, ObjectKind, RedactionMode, Rejection, Work};

/// Where the manifest lies (ODF part 2, 3.2).
const MANIFEST: &str = "META-INF/manifest.xml";

/// Cleans a package.
///
/// # Errors
/// [`Rejection::Malformed`] for what is no package; [`Rejection::Encrypted`]; [`Rejection::Unsupported`] for a database; the
/// host's.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut package = Package::open(file, work)?;
    let names: Vec<String> = package.entries().iter().map(|entry| entry.name.clone()).collect();
    let (mut contents, mut manifest) = (Vec::with_capacity(names.len()), None);
    for (at, name) in names.iter().enumerate() {
        if name.ends_with('/') {
            contents.push(FileContent::Empty);
            continue;
        }
        let content = package.read(at, work)?;
        work.part(name, &content)?;
        contents.push(FileContent::of(name, &content, work));
        if name == MANIFEST {
            manifest = Some(Manifest::read(Tree::read(&content, Doctype::Dropped, work)?));
        } else if name == "mimetype" {
            kind(&content)?;
        }
    }
    let manifest = manifest.ok_or(Rejection::Malformed)?;
    if manifest.is_encrypted() {
        return Err(Rejection::Encrypted);
    }
    let before = work.stats().clone();
    let (mut gone, signatures) = judged(&names, &contents, &manifest, work);
    let mut written: Vec<Option<Vec<u8>>> = Vec::with_capacity(names.len());
    for (at, (name, content)) in names.iter().zip(contents).enumerate() {
        let stays = !name.ends_with('/') && !gone.contains(name) && name != MANIFEST;
        let wanted = KeptEntry { at, name, content, manifest: &manifest, gone: &gone };
        written.push(if stays { entry(&mut package, wanted, work)? } else { None });
    }
    let counted = work.stats().counts_other_than(&before);
    let changed = counted || !gone.is_empty() || written.iter().any(Option::is_some);
    if changed && !signatures.is_empty() {
        work.enter("");
        work.unsign(1);
        gone.extend(signatures);
    }
    write(package, &names, &manifest, &gone, written)
}

/// Whether this is a kind of document that is rewritten here.
fn kind(mimetype: &[u8]) -> Result<(), Rejection> {
    let kind = mimetype.strip_prefix(b"application/vnd.oasis.opendocument.").ok_or(Rejection::Unsupported)?;
    if kind.starts_with(b"base") || kind.starts_with(b"database") {
        Err(Rejection::Unsupported)
    } else {
        Ok(())
    }
}

/// The entries that go, counted, and the signatures that go with any change.
fn judged(
    names: &[String],
    contents: &[FileContent],
    manifest: &Manifest,
    work: &mut Work<'_>,
) -> (HashSet<String>, Vec<String>) {
    let options = work.options();
    let (mut gone, mut signatures) = (HashSet::new(), Vec::new());
    for (name, content) in names.iter().zip(contents).filter(|(name, _)| !name.ends_with('/')) {
        let unlisted = is_unlisted(name, manifest).then_some(EntryRole::Attachment);
        let Some(role) = role(name, *content, manifest).or(unlisted) else { continue };
        match role {
            EntryRole::Signature => signatures.push(name.clone()),
            EntryRole::Preview if options.redaction == RedactionMode::Apply => {
                work.leave_out(ChangedObject::left_out(ObjectKind::Preview).in_part(name));
                gone.insert(name.clone());
            }
            _ if !role.goes(options) => {}
            _ => {
                let object = |what| ChangedObject::removed(what).in_part(name);
                match role {
                    EntryRole::Attachment => work.detached(object(ObjectKind::Attachment)),
                    EntryRole::Active => work.acting(object(ObjectKind::ActivePart)),
                    _ => {}
                }
                gone.insert(name.clone());
            }
        }
    }
    (gone, signatures)
}

/// An entry that stays, by its place.
struct KeptEntry<'e> {
    at: usize,
    name: &'e str,
    content: FileContent,
    manifest: &'e Manifest,
    gone: &'e HashSet<String>,
}

/// What an entry becomes; `None` if it stays as it is.
fn entry(
    package: &mut Package<'_>,
    wanted: KeptEntry<'_>,
    work: &mut Work<'_>,
) -> Result<Option<Vec<u8>>, Rejection> {
    let KeptEntry { at, name, content, manifest, gone } = wanted;
    work.enter(name);
    let kind = manifest.kind(name).unwrap_or_default();
    let role = role(name, content, manifest);
    if role == Some(EntryRole::Attachment) {
        let content = package.again(at)?;
        return work.attachment(name, &content);
    }
    let extension = name.rsplit('.').next().unwrap_or_default();
    let xml = is_xml(kind) || matches!(extension, "xml" | "rdf" | "xba" | "xlb");
    if kind.starts_with("image/") || (!xml && matches!(content, FileContent::Picture | FileContent::Drawing))
    {
        return image::shown(name, &package.again(at)?, work);
    }
    let content = if xml && role != Some(EntryRole::Signature) { package.again(at)? } else { Vec::new() };
    if content.is_empty() {
        return Ok(None);
    }
    let tree = Tree::read(&content, Doctype::Dropped, work)?;
    let mut editor = XmlEditor::new(&tree);
    active::disarm(&tree, &mut editor, gone, work);
    active::defang(&tree, &mut editor, work)?;
    text::edit(&tree, &mut editor, work)?;
    Ok(editor.finish().map(String::into_bytes))
}

/// Writes what stays. `mimetype` stays first and plain (ODF part 2, 3.3).
fn write(
    mut package: Package<'_>,
    names: &[String],
    manifest: &Manifest,
    gone: &HashSet<String>,
    written: Vec<Option<Vec<u8>>>,
) -> Result<Vec<u8>, Rejection> {
    let mut fresh = NewPackage::new();
    for (at, (name, written)) in names.iter().zip(written).enumerate() {
        if name.ends_with('/') || gone.contains(name) {
            continue;
        }
        let own = if name == MANIFEST { listing(manifest, gone).map(String::into_bytes) } else { None };
        match own.or(written) {
            Some(content) => fresh.put(name, &content, false)?,
            None => {
                let bare = package.entries().get(at).is_some_and(|entry| entry.bare);
                let content = if bare { Vec::new() } else { package.again(at)? };
                fresh.keep(&mut package, at, &content)?;
            }
        }
    }
    fresh.finish()
}

/// The manifest without what is gone.
fn listing(manifest: &Manifest, gone: &HashSet<String>) -> Option<String> {
    let tree = &manifest.tree;
    let mut editor = XmlEditor::new(tree);
    for at in (0..tree.len()).filter(|at| tree.name(*at) == "file-entry") {
        if tree.attribute(at, "full-path").is_some_and(|path| gone.contains(&path)) {
            editor.cut(at);
        }
    }
    editor.finish()
}
