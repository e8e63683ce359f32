//! [`PartRole`]: what a part is to the document, by its content type, its path and the relationships that name it. The
//! worst of the three decides: each can be chosen by who writes the file, and readers go by any of them.

use crate::sanitize::Options;

/// Why a part or a relationship does not stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum PartRole {
    /// Belongs to a part that goes: counted with it.
    Appendix,
    /// A file within the file, or one that no reader needs.
    Attachment,
    /// Something that acts, or fetches from elsewhere.
    Active,
}

impl PartRole {
    /// Whether these options take it out.
    pub(super) fn goes(self, options: Options) -> bool {
        match self {
            Self::Attachment => options.attachments,
            Self::Active | Self::Appendix => options.interactive,
        }
    }
}

/// Content types by what their last words are, in lower case.
const TYPES: &[(&str, PartRole)] = &[
    ("vbaproject", PartRole::Active),
    ("vbaprojectsignature", PartRole::Appendix),
    ("vbaprojectsignatureagile", PartRole::Appendix),
    ("vbaprojectsignaturev3", PartRole::Appendix),
    ("vbadata+xml", PartRole::Appendix),
    ("activex+xml", PartRole::Active),
    ("activex", PartRole::Appendix),
    ("macrosheet+xml", PartRole::Active),
    ("intlmacrosheet+xml", PartRole::Active),
    ("dialogsheet+xml", PartRole::Active),
    ("externallink+xml", PartRole::Active),
    ("controlproperties+xml", PartRole::Active),
    ("keymapcustomizations+xml", PartRole::Active),
    ("attachedtoolbars", PartRole::Active),
    ("webextension+xml", PartRole::Active),
    ("webextensiontaskpanes+xml", PartRole::Active),
    ("mailmergerecipientdata+xml", PartRole::Active),
    ("customui+xml", PartRole::Active),
    ("oleobject", PartRole::Attachment),
];

/// What parts that are not XML may be, by a beginning or an end of their content type.
const DATA: &[&str] = &[
    "image/",
    "audio/",
    "video/",
    "font/",
    "application/x-font",
    "application/vnd.ms-opentype",
    ".obfuscatedfont",
    ".printersettings",
    ".vmldrawing",
    ".customproperty",
    ".model+data",
    ".digital-signature-origin",
    "/x-fontdata",
];

/// What a content type says.
pub(super) fn of_type(content_type: &str) -> Option<PartRole> {
    let all = content_type.to_ascii_lowercase();
    let all = all.split(';').next().unwrap_or_default().trim();
    let last = all.rsplit(['.', '/', '-']).next().unwrap_or_default();
    if let Some((_, role)) = TYPES.iter().find(|(name, _)| *name == last) {
        return Some(*role);
    }
    let xml = all.ends_with("+xml") || all.ends_with("/xml");
    let known = DATA.iter().any(|data| all.starts_with(data) || all.ends_with(data));
    // A page in HTML comes with `altChunk`; readers hand it to a browser's engine.
    let page = all == "application/xhtml+xml";
    ((!xml && !known) || page).then_some(PartRole::Attachment)
}

/// What a path says.
pub(super) fn of_path(path: &str) -> Option<PartRole> {
    let path = format!("/{}", path.to_lowercase());
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let ends = |ends: &[&str]| ends.iter().any(|end| file.ends_with(end));
    let within = |folder: &str| folders.split('/').any(|part| part == folder);
    if file.contains("vbaproject") && ends(&[".bin"]) {
        return Some(if file.contains("signature") { PartRole::Appendix } else { PartRole::Active });
    }
    if file == "vbadata.xml" || within("activex") && ends(&[".bin"]) {
        return Some(PartRole::Appendix);
    }
    let active =
        ["activex", "customui", "externallinks", "macrosheets", "dialogsheets", "webextensions", "ctrlprops"];
    if active.iter().any(|folder| within(folder)) && !ends(&[".rels"])
        || file.contains("attachedtoolbars")
        || file.contains("customui")
    {
        return Some(PartRole::Active);
    }
    const RUN: &[&str] = &[
        ".exe", ".dll", ".js", ".jse", ".vbs", ".vbe", ".wsf", ".hta", ".bat", ".cmd", ".ps1", ".scr",
        ".com", ".lnk", ".msi", ".jar", ".html", ".htm", ".mht",
    ];
    (within("embeddings") && !ends(&[".rels"])
        || file.starts_with("oleobject") && ends(&[".bin"])
        || ends(RUN))
    .then_some(PartRole::Attachment)
}

/// Types of relationships by their last segment, in lower case. Strict documents have other names before it
/// (ECMA-376 part 1, annex A and part 4).
const RELATIONS: &[(&str, PartRole)] = &[
    ("vbaproject", PartRole::Active),
    ("wordvbadata", PartRole::Appendix),
    ("vbaprojectsignature", PartRole::Appendix),
    ("vbaprojectsignatureagile", PartRole::Appendix),
    ("vbaprojectsignaturev3", PartRole::Appendix),
    ("activexcontrolbinary", PartRole::Appendix),
    ("attachedtemplate", PartRole::Active),
    ("control", PartRole::Active),
    ("ctrlprop", PartRole::Active),
    ("xlmacrosheet", PartRole::Active),
    ("xlintlmacrosheet", PartRole::Active),
    ("dialogsheet", PartRole::Active),
    ("extensibility", PartRole::Active),
    ("usercustomization", PartRole::Active),
    ("customui", PartRole::Active),
    ("keymapcustomizations", PartRole::Active),
    ("attachedtoolbars", PartRole::Active),
    ("webextension", PartRole::Active),
    ("webextensiontaskpanes", PartRole::Active),
    ("externallink", PartRole::Active),
    ("externallinkpath", PartRole::Active),
    ("externallinklongpath", PartRole::Active),
    ("xlstartup", PartRole::Active),
    ("xlalternatestartup", PartRole::Active),
    ("xlpathmissing", PartRole::Active),
    ("xllibrary", PartRole::Active),
    ("subdocument", PartRole::Active),
    ("frame", PartRole::Active),
    ("mailmergesource", PartRole::Active),
    ("mailmergeheadersource", PartRole::Active),
    ("recipientdata", PartRole::Active),
    ("oleobject", PartRole::Attachment),
    ("vmloleobject", PartRole::Attachment),
    ("package", PartRole::Attachment),
    ("afchunk", PartRole::Attachment),
];

/// What a relationship's type says. One that leads out of the package (`fetches`) acts, whatever it is called; links that
/// wait for a click are looked at by themselves.
pub(super) fn of_relation(kind: &str, fetches: bool) -> Option<PartRole> {
    let known = RELATIONS.iter().find(|(name, _)| *name == kind).map(|(_, role)| *role);
    if fetches { Some(PartRole::Active) } else { known }
}

/// The document of Power Query's programs, which fetch data ([MS-QDEFF] 2.2), whatever part it is in.
const PROGRAM: &str = "DataMashup";

/// Whether a part may be such a document, in any encoding of XML.
pub(super) fn may_be_program(content: &[u8]) -> bool {
    let found = |name: &[u8]| memchr::memmem::find(content, name).is_some();
    let wide: Vec<u8> = PROGRAM.bytes().flat_map(|byte| [0, byte]).skip(1).collect();
    found(PROGRAM.as_bytes()) || found(&wide)
}

/// Whether a document with this element around all others is one.
pub(super) fn is_program(root: &str) -> bool {
    root == PROGRAM
}

/// What a document with macros is without them.
const PLAIN: &[(&str, &str)] = &[
    (
        "application/vnd.ms-word.document.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
    (
        "application/vnd.ms-word.template.macroenabledtemplate.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ),
    (
        "application/vnd.ms-excel.sheet.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    ),
    (
        "application/vnd.ms-excel.template.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml",
    ),
    (
        "application/vnd.ms-excel.addin.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.presentation.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.slideshow.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.template.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.template.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.addin.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    ),
];

/// The content type that a main part gets when macros are out.
pub(super) fn without_macros(content_type: &str) -> Option<&'static str> {
    let name = content_type.trim().to_ascii_lowercase();
    PLAIN.iter().find(|(macros, _)| *macros == name).map(|(_, plain)| *plain)
}
