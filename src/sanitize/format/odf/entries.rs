//! What an entry of a package is to the document, by its path and by what the manifest says of it.

use std::collections::HashMap;

use crate::sanitize::Options;
use crate::sanitize::format::content::FileContent;
use crate::sanitize::format::xml_tree::Tree;

/// Why an entry does not stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryRole {
    /// A file within the file.
    Attachment,
    /// Something that acts.
    Active,
    /// Belongs to something that acts: counted with it.
    Appendix,
    /// A signature of the document.
    Signature,
    /// A picture of the document as it was.
    Preview,
}

impl EntryRole {
    /// Whether these options take it out, whatever else changes.
    pub(super) fn goes(self, options: Options) -> bool {
        match self {
            Self::Attachment => options.attachments,
            Self::Active | Self::Appendix => options.interactive,
            Self::Signature | Self::Preview => false,
        }
    }
}

/// What is said of the entries (ODF part 2, 4).
pub(super) struct Manifest {
    /// The document that says it.
    pub(super) tree: Tree,
    kinds: HashMap<String, String>,
}

impl Manifest {
    /// Reads it.
    pub(super) fn read(tree: Tree) -> Self {
        let mut kinds = HashMap::new();
        for at in (0..tree.len()).filter(|at| tree.name(*at) == "file-entry") {
            let say = |name| tree.attribute(at, name).unwrap_or_default();
            kinds.insert(say("full-path"), say("media-type").to_lowercase());
        }
        Self { tree, kinds }
    }

    /// Whether an entry is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        (0..self.tree.len()).any(|at| self.tree.name(at) == "encryption-data")
    }

    /// The media type of an entry; `None` if nothing is said of it.
    pub(super) fn kind(&self, name: &str) -> Option<&str> {
        self.kinds.get(name).map(String::as_str)
    }
}

/// What an entry is; `None` if it stays.
pub(super) fn role(name: &str, content: FileContent, manifest: &Manifest) -> Option<EntryRole> {
    let path = name.to_lowercase();
    let folder = path.split('/').next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    match folder {
        "mimetype" => return None,
        "meta-inf" if file == "macrosignatures.xml" => return Some(EntryRole::Appendix),
        "meta-inf" if file.ends_with("signatures.xml") => return Some(EntryRole::Signature),
        "meta-inf" if file == "manifest.xml" => return None,
        // Nothing else lies there (ODF part 2, 3.2).
        "meta-inf" => return Some(EntryRole::Attachment),
        "basic" | "dialogs"
            if matches!(file, "script-lc.xml" | "script-lb.xml" | "dialog-lc.xml" | "dialog-lb.xml") =>
        {
            return Some(EntryRole::Appendix);
        }
        "basic" | "scripts" | "dialogs" => return Some(EntryRole::Active),
        // Empty ones are written by default.
        "configurations2" => return (content != FileContent::Empty).then_some(EntryRole::Active),
        "versions" | "versionlist.xml" => return Some(EntryRole::Attachment),
        "thumbnails" if content != FileContent::Other => return Some(EntryRole::Preview),
        "thumbnails" => return Some(EntryRole::Attachment),
        _ => {}
    }
    let kind = manifest.kind(name)?;
    let document = path.ends_with(".xml") && kind.is_empty();
    // An image is cleaned as one, or another takes its place.
    if is_xml(kind) || document || kind.starts_with("image/") {
        return None;
    }
    let begins = ["audio/", "video/", "font/", "application/x-font", "application/x-openoffice-"];
    let known = begins.iter().any(|begin| kind.starts_with(begin))
        || kind == "application/binary"
        || (kind.is_empty() && matches!(folder, "pictures" | "objectreplacements" | "media" | "fonts"));
    let shown = match content {
        FileContent::Empty
        | FileContent::Picture
        | FileContent::Drawing
        | FileContent::Font
        | FileContent::Media => true,
        FileContent::Layout => path == "layout-cache",
        FileContent::Other => false,
    };
    (!known || !shown).then_some(EntryRole::Attachment)
}

/// Whether a media type is one of XML.
pub(super) fn is_xml(kind: &str) -> bool {
    kind.ends_with("/xml") || kind.ends_with("+xml") && !kind.starts_with("image/")
}

/// Whether nothing is said of an entry: no reader needs it.
pub(super) fn is_unlisted(name: &str, manifest: &Manifest) -> bool {
    !name.starts_with("META-INF/") && name != "mimetype" && manifest.kind(name).is_none()
}
