//! [`GroupAction`]: what a group's text is for, by its control word.

use crate::sanitize::ObjectKind;
use crate::sanitize::format::markup::uri::{AfterAddress, is_safe, of_web};

/// What is to be done with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupAction {
    /// Its text is the document's, or about it.
    Text,
    /// The text that a field shows, or an object: it runs on with what is around it.
    Shown,
    /// Bytes in hexadecimal, and numbers.
    Data,
    /// Names that programs give to styles and lists, and to themselves.
    Names,
    /// Names of fonts.
    Fonts,
    Field,
    /// What a field does.
    Instruction,
    /// Where a shape leads, or what links that do not say more begin with.
    Target,
    Object,
    /// An object's bytes.
    ObjectData,
    /// What kind of object it is.
    ObjectClass,
    /// The name of a shape's property.
    Property,
    /// A picture's bytes, in hexadecimal.
    Picture,
    /// It goes, and is counted as this.
    Gone(Option<ObjectKind>),
}

impl GroupAction {
    /// Whether its text is read.
    pub(super) fn is_read(self) -> bool {
        matches!(self, Self::Text | Self::Shown | Self::Instruction | Self::Target) || self.is_named()
    }

    /// Whether its text is its own and no part of the sentence around it.
    pub(super) fn is_apart(self) -> bool {
        matches!(self, Self::Text | Self::Instruction | Self::Target) || self.is_named()
    }

    /// Whether its text is what programs call things.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Names | Self::Fonts)
    }
}

/// What acts.
const ACTS: GroupAction = GroupAction::Gone(Some(ObjectKind::Action));

/// What leads out of the file.
const LEADS: GroupAction = GroupAction::Gone(Some(ObjectKind::Reference));

/// Places by control word. What is not here changes nothing, or, behind `\*`, holds text.
const PLACES: &[(&str, GroupAction)] = &[
    ("object", GroupAction::Object),
    ("objdata", GroupAction::ObjectData),
    ("objclass", GroupAction::ObjectClass),
    ("result", GroupAction::Shown),
    ("field", GroupAction::Field),
    ("fldinst", GroupAction::Instruction),
    ("fldrslt", GroupAction::Shown),
    ("fonttbl", GroupAction::Fonts),
    ("falt", GroupAction::Fonts),
    ("hlsrc", GroupAction::Target),
    ("hlloc", GroupAction::Target),
    ("hlinkbase", GroupAction::Target),
    ("hlfr", GroupAction::Text),
    ("sn", GroupAction::Property),
    ("sv", GroupAction::Text),
    // Another document's macros, connections to data bases, files elsewhere, HTML that some programs show instead.
    ("template", ACTS),
    ("mailmerge", ACTS),
    ("mmconnectstr", ACTS),
    ("nextfile", ACTS),
    ("filetbl", ACTS),
    ("formfield", ACTS),
    ("objalias", ACTS),
    ("objsect", ACTS),
    ("oleclsid", ACTS),
    ("hlinkfr", LEADS),
    ("hlinksrc", LEADS),
    ("hlinkloc", LEADS),
    ("datastore", GroupAction::Gone(None)),
    ("htmltag", GroupAction::Gone(None)),
    ("mhtmltag", GroupAction::Gone(None)),
    ("pict", GroupAction::Picture),
    ("fontemb", GroupAction::Data),
    ("themedata", GroupAction::Data),
    ("colorschememapping", GroupAction::Data),
    ("panose", GroupAction::Data),
    ("blipuid", GroupAction::Data),
    ("wgrffmtfilter", GroupAction::Data),
    ("passwordhash", GroupAction::Data),
    ("password", GroupAction::Data),
    ("colortbl", GroupAction::Names),
    ("stylesheet", GroupAction::Names),
    ("listtable", GroupAction::Names),
    ("listoverridetable", GroupAction::Names),
    ("rsidtbl", GroupAction::Names),
    ("latentstyles", GroupAction::Names),
    ("generator", GroupAction::Names),
    ("xmlnstbl", GroupAction::Names),
    ("pgptbl", GroupAction::Names),
    ("mmathpr", GroupAction::Names),
    ("fchars", GroupAction::Names),
    ("lchars", GroupAction::Names),
    ("picprop", GroupAction::Names),
    ("pnseclvl", GroupAction::Names),
];

/// Groups whose text is their own and no part of the sentence around them.
const APART: &[&str] = &[
    "bkmkstart",
    "bkmkend",
    "listname",
    "header",
    "headerl",
    "headerr",
    "headerf",
    "footer",
    "footerl",
    "footerr",
    "footerf",
    "footnote",
    "annotation",
    "atnid",
    "atnauthor",
    "atndate",
    "info",
    "title",
    "subject",
    "author",
    "manager",
    "company",
    "operator",
    "category",
    "keywords",
    "comment",
    "doccomm",
    "revtbl",
    "userprops",
    "propname",
    "staticval",
    "linkval",
    "docvar",
    "shptxt",
    "pntext",
    "pntxta",
    "pntxtb",
    "listtext",
    "xe",
    "tc",
    "protusertbl",
    "background",
    "shpinst",
    "ffname",
    "ffdeftext",
    "ffformat",
    "ffhelptext",
    "ffstattext",
    "ffentrymcr",
    "ffexitmcr",
    "ffl",
];

/// Groups that consist of others, each with a text of its own: a name and its value, persons.
const TABLES: &[&str] = &["docvar", "revtbl", "protusertbl"];

/// Whether each group within a group of this control word is a text of its own.
pub(super) fn is_table(word: &str) -> bool {
    TABLES.contains(&word)
}

/// Properties of a shape ([MS-ODRAW] 2.3), in lower case, that name what lies elsewhere, or a program: pictures, film, links,
/// scripts, applets, parts of web pages, who signs; and a package of drawings, which has relationships of its own.
const LEADING: &[&str] = &[
    "pibname",
    "pibflags",
    "pibprintname",
    "pibprintflags",
    "movie",
    "pihlshape",
    "hlinkfr",
    "hlinksrc",
    "hlinkloc",
    "wzscript",
    "wzscriptextattr",
    "wzscriptidattr",
    "wzscriptlangattr",
    "scriptlang",
    "wzapplet",
    "wzappletarg",
    "wzframetrgtunused",
    "wzwebbot",
    "webcomponentwzhtml",
    "webcomponentwzname",
    "webcomponentwzurl",
    "wzsigsetupprovurl",
    "metroblob",
];

/// How many digits are in the name of a property at most.
const DIGITS: usize = 4;

/// The ends of further ones: each fill and each line of a shape may be a picture elsewhere.
const LEADING_ENDS: &[&str] = &["blipname", "blipflags"];

/// Whether programs call a property of a shape so: in letters, with few digits.
pub(super) fn is_property(name: &[u8]) -> bool {
    let digits = name.iter().filter(|b| b.is_ascii_digit()).count();
    digits <= DIGITS && name.iter().all(|b| b.is_ascii_alphanumeric() || b.is_ascii_whitespace())
}

/// What a property of a shape is counted as that goes; `None` for one that stays.
pub(super) fn property(name: &[u8]) -> Option<ObjectKind> {
    let name: String = String::from_utf8_lossy(name).chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    if LEADING.contains(&name.as_str()) || LEADING_ENDS.iter().any(|end| name.ends_with(end)) {
        return Some(ObjectKind::Reference);
    }
    // A shape whose list of vertices overruns (CVE-2010-3333); no program writes it to RTF.
    (name == "pfragments").then_some(ObjectKind::Action)
}

/// What a control word makes of its group.
pub(super) fn place(word: &str) -> Option<GroupAction> {
    let known = PLACES.iter().find(|(known, _)| *known == word).map(|(_, place)| *place);
    known.or_else(|| APART.contains(&word).then_some(GroupAction::Text))
}

/// Fields that show what the document holds, and do nothing else.
const FIELDS: &[&str] = &[
    "HYPERLINK",
    "PAGE",
    "NUMPAGES",
    "DATE",
    "TIME",
    "TOC",
    "TOA",
    "REF",
    "PAGEREF",
    "NOTEREF",
    "STYLEREF",
    "SEQ",
    "MERGEFIELD",
    "AUTHOR",
    "TITLE",
    "SUBJECT",
    "KEYWORDS",
    "COMMENTS",
    "CREATEDATE",
    "SAVEDATE",
    "PRINTDATE",
    "EDITTIME",
    "FILENAME",
    "FILESIZE",
    "LASTSAVEDBY",
    "NUMWORDS",
    "NUMCHARS",
    "REVNUM",
    "SECTION",
    "SECTIONPAGES",
    "SYMBOL",
    "XE",
    "TC",
    "INDEX",
    "LISTNUM",
    "ADVANCE",
    "EQ",
    "DOCPROPERTY",
    "USERNAME",
    "USERINITIALS",
    "USERADDRESS",
    "TA",
    "AUTONUM",
    "AUTONUMLGL",
    "AUTONUMOUT",
    "BIBLIOGRAPHY",
    "CITATION",
    "BARCODE",
    "=",
];

/// Whether a field may stay, by what it is told to do.
pub(super) fn is_field(instruction: &str) -> bool {
    let text = instruction.trim_start();
    let name =
        text.get(..text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len())).unwrap_or_default();
    let name = if text.starts_with('=') { "=" } else { name };
    // Nothing that stays names another program.
    let dde = text.to_ascii_uppercase().contains("DDE");
    FIELDS.contains(&name.to_ascii_uppercase().as_str()) && !(dde && name == "=") || text.is_empty()
}

/// Where a `HYPERLINK` leads; `None` for other fields, and within the document.
pub(super) fn link(instruction: &str) -> Option<String> {
    let text = instruction.trim_start();
    let rest =
        text.get(..9).filter(|name| name.eq_ignore_ascii_case("HYPERLINK")).and_then(|_| text.get(9..))?;
    let mut rest = rest.trim_start();
    loop {
        let (argument, behind, quoted) = argument(rest)?;
        if quoted || !argument.starts_with('\\') || argument.starts_with("\\\\") {
            return Some(argument.replace("\\\\", "\\"));
        }
        // `\l`, `\o`, `\t` have an argument of their own.
        let own = ["\\l", "\\o", "\\t", "\\s"].iter().any(|switch| argument.eq_ignore_ascii_case(switch));
        rest = if own { self::argument(behind).map_or("", |(_, behind, _)| behind) } else { behind };
    }
}

/// Whether a link may be followed: it leads to a page or within the document. Of a document from a disk, a host without a
/// scheme is one nearby.
pub(super) fn is_followed(address: &str) -> bool {
    is_safe(address, AfterAddress::Link) && of_web(address).is_none()
}

fn argument(text: &str) -> Option<(&str, &str, bool)> {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix(['"', '\u{201c}']) {
        let end = inner.find(['"', '\u{201d}']).unwrap_or(inner.len());
        let (argument, behind) = inner.split_at_checked(end)?;
        return Some((argument, behind.trim_start_matches(['"', '\u{201d}']), true));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(argument, _)| !argument.is_empty()).map(|(a, b)| (a, b, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_known_by_their_name() {
        for good in [" PAGE ", "HYPERLINK \"x\"", "toc \\o", "= 1 + 2", ""] {
            assert!(is_field(good), "{good}");
        }
        for bad in [
            "DDEAUTO c:\\\\x",
            " dde x",
            "INCLUDETEXT x",
            "INCLUDEPICTURE x",
            "QUOTE 68 68",
            "MACROBUTTON x",
            "IF x",
            "?",
        ] {
            assert!(!is_field(bad), "{bad}");
        }
    }

    #[test]
    fn properties_of_shapes_that_lead_elsewhere_go() {
        for leads in
            ["pibName", " pibflags", "PIBPRINTNAME", "fillBlipName", "lineLeftFillBlipFlags", "pihlShape"]
        {
            assert_eq!(property(leads.as_bytes()), Some(ObjectKind::Reference), "{leads}");
        }
        assert_eq!(property(b"pFragments"), Some(ObjectKind::Action));
        for stays in
            ["pib", "fillBlip", "wzName", "wzDescription", "shapeType", "pictureId", "pVerticies", ""]
        {
            assert_eq!(property(stays.as_bytes()), None, "{stays}");
        }
    }

    #[test]
    fn a_link_is_found_among_its_switches() {
        for (field, want) in [
            ("HYPERLINK \"http://a.example/x y\" \\o \"tip\"", Some("http://a.example/x y")),
            (" hyperlink http://a.example ", Some("http://a.example")),
            ("HYPERLINK \\l \"mark\"", None),
            ("HYPERLINK \\o \"tip\" \\n \"x\"", Some("x")),
            ("HYPERLINK \\\\\\\\host\\\\share", Some("\\\\host\\share")),
            ("HYPERLINK", None),
            ("PAGE", None),
        ] {
            assert_eq!(link(field).as_deref(), want, "{field}");
        }
    }
}
