//! [`Role`]: what a part is to the document, by its content type, its path and the relationships that name it. The
//! worst of the three decides: each can be chosen by who writes the file, and readers go by any of them.

use crate::sanitize::Options;

/// Why a part or a relationship does not stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    /// Belongs to a part that goes: counted with it.
    Appendix,
    /// A file within the file, or one that no reader needs.
    Attachment,
    /// Something that acts, or fetches from elsewhere.
    Active,
}

impl Role {
    /// Whether these options take it out.
    pub(super) fn goes(self, options: Options) -> bool {
        match self {
            Self::Attachment => options.attachments,
            Self::Active | Self::Appendix => options.interactive,
        }
    }
}

/// Content types by what their last words are, in lower case.
const TYPES: &[(&str, Role)] = &[
    ("vbaproject", Role::Active),
    ("vbaprojectsignature", Role::Appendix),
    ("vbaprojectsignatureagile", Role::Appendix),
    ("vbaprojectsignaturev3", Role::Appendix),
    ("vbadata+xml", Role::Appendix),
    ("activex+xml", Role::Active),
    ("activex", Role::Appendix),
    ("macrosheet+xml", Role::Active),
    ("intlmacrosheet+xml", Role::Active),
    ("dialogsheet+xml", Role::Active),
    ("externallink+xml", Role::Active),
    ("controlproperties+xml", Role::Active),
    ("keymapcustomizations+xml", Role::Active),
    ("attachedtoolbars", Role::Active),
    ("webextension+xml", Role::Active),
    ("webextensiontaskpanes+xml", Role::Active),
    ("mailmergerecipientdata+xml", Role::Active),
    ("customui+xml", Role::Active),
    ("oleobject", Role::Attachment),
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
pub(super) fn of_type(content_type: &str) -> Option<Role> {
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
    ((!xml && !known) || page).then_some(Role::Attachment)
}

/// What a path says.
pub(super) fn of_path(path: &str) -> Option<Role> {
    let path = format!("/{}", path.to_lowercase());
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let ends = |ends: &[&str]| ends.iter().any(|end| file.ends_with(end));
    let within = |folder: &str| folders.split('/').any(|part| part == folder);
    if file.contains("vbaproject") && ends(&[".bin"]) {
        return Some(if file.contains("signature") { Role::Appendix } else { Role::Active });
    }
    if file == "vbadata.xml" || within("activex") && ends(&[".bin"]) {
        return Some(Role::Appendix);
    }
    let active =
        ["activex", "customui", "externallinks", "macrosheets", "dialogsheets", "webextensions", "ctrlprops"];
    if active.iter().any(|folder| within(folder)) && !ends(&[".rels"])
        || file.contains("attachedtoolbars")
        || file.contains("customui")
    {
        return Some(Role::Active);
    }
    const RUN: &[&str] = &[
        ".exe", ".dll", ".js", ".jse", ".vbs", ".vbe", ".wsf", ".hta", ".bat", ".cmd", ".ps1", ".scr",
        ".com", ".lnk", ".msi", ".jar", ".html", ".htm", ".mht",
    ];
    (within("embeddings") && !ends(&[".rels"])
        || file.starts_with("oleobject") && ends(&[".bin"])
        || ends(RUN))
    .then_some(Role::Attachment)
}

/// Types of relationships by their last segment, in lower case. Strict documents have other names before it
/// (ECMA-376 part 1, annex A and part 4).
const RELATIONS: &[(&str, Role)] = &[
    ("vbaproject", Role::Active),
    ("wordvbadata", Role::Appendix),
    ("vbaprojectsignature", Role::Appendix),
    ("vbaprojectsignatureagile", Role::Appendix),
    ("vbaprojectsignaturev3", Role::Appendix),
    ("activexcontrolbinary", Role::Appendix),
    ("attachedtemplate", Role::Active),
    ("control", Role::Active),
    ("ctrlprop", Role::Active),
    ("xlmacrosheet", Role::Active),
    ("xlintlmacrosheet", Role::Active),
    ("dialogsheet", Role::Active),
    ("extensibility", Role::Active),
    ("usercustomization", Role::Active),
    ("customui", Role::Active),
    ("keymapcustomizations", Role::Active),
    ("attachedtoolbars", Role::Active),
    ("webextension", Role::Active),
    ("webextensiontaskpanes", Role::Active),
    ("externallink", Role::Active),
    ("externallinkpath", Role::Active),
    ("externallinklongpath", Role::Active),
    ("xlstartup", Role::Active),
    ("xlalternatestartup", Role::Active),
    ("xlpathmissing", Role::Active),
    ("xllibrary", Role::Active),
    ("subdocument", Role::Active),
    ("frame", Role::Active),
    ("mailmergesource", Role::Active),
    ("mailmergeheadersource", Role::Active),
    ("recipientdata", Role::Active),
    ("oleobject", Role::Attachment),
    ("vmloleobject", Role::Attachment),
    ("package", Role::Attachment),
    ("afchunk", Role::Attachment),
];

/// What a relationship's type says. One that leads out of the package acts, whatever it is called; links that wait
/// for a click are looked at by themselves.
pub(super) fn of_relation(kind: &str, external: bool) -> Option<Role> {
    let known = RELATIONS.iter().find(|(name, _)| *name == kind).map(|(_, role)| *role);
    if external && kind != "hyperlink" { Some(Role::Active) } else { known }
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
