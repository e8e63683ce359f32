//! [`fitting`]: the name that a file of a kind has. A program goes by a name's ending, whatever the bytes are: what was
//! cleaned as one kind must not be opened as another.

use crate::sanitize::link::LinkText;
use crate::sanitize::{FileKind, Options, ScriptPolicy, script};

/// Endings by kind; the first is what a file gets whose own does not fit. A kind without a row is released only where its
/// files pass as they are.
const ENDINGS: &[(FileKind, &[&str])] = &[
    (FileKind::Pdf, &["pdf", "ai"]),
    (
        FileKind::Ooxml,
        &[
            "docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xltx", "xltm", "xlam", "pptx", "pptm", "ppsx",
            "ppsm", "potx", "potm", "ppam", "sldx", "sldm", "thmx", "vsdx", "vsdm", "vssx", "vstx",
        ],
    ),
    (
        FileKind::Odf,
        &["odt", "ott", "odm", "oth", "ods", "ots", "odp", "otp", "odg", "otg", "odf", "odb", "odi"],
    ),
    (FileKind::Rtf, &["rtf", "doc", "dot"]),
    (FileKind::Html, &["html", "htm", "xhtml", "xht", "shtml"]),
    (FileKind::Svg, &["svg"]),
    (FileKind::Xml, &["xml"]),
    (FileKind::Json, &["json", "jsonl", "ndjson", "geojson", "har", "webmanifest", "map", "txt", "log"]),
    (FileKind::Csv, &["csv", "tsv", "tab"]),
    (FileKind::Markdown, &["md", "markdown", "mdown", "mkd", "mkdn", "mdx"]),
    (FileKind::Calendar, &["ics", "ifb", "ical", "icalendar", "vcf", "vcard", "vcs", "txt"]),
    (FileKind::Text, TEXTS),
    (FileKind::Script, &["txt"]),
    (FileKind::Mail, &["eml", "mht", "mhtml", "txt"]),
    (FileKind::Mailbox, &["mbox", "mbx", "txt"]),
    (FileKind::Image, &["png", "jpg", "jpeg", "jpe", "jfif", "gif", "webp", "bmp", "dib", "tif", "tiff"]),
    (FileKind::Zip, &["zip", "epub", "kmz", "cbz"]),
    (FileKind::Tar, &["tar"]),
    (FileKind::Gzip, &["gz", "tgz", "svgz"]),
];

/// What is opened as text, and by nothing that acts on it.
const TEXTS: &[&str] = &[
    "txt",
    "text",
    "log",
    "asc",
    "nfo",
    "me",
    "1st",
    "lst",
    "list",
    "out",
    "err",
    "trace",
    "diff",
    "patch",
    "rst",
    "adoc",
    "asciidoc",
    "org",
    "tex",
    "latex",
    "bib",
    "srt",
    "vtt",
    "sub",
    "sbv",
    "lrc",
    "po",
    "pot",
    "properties",
    "ini",
    "cfg",
    "conf",
    "config",
    "env",
    "hjson",
    "json",
    "ndjson",
    "jsonl",
    "csv",
    "tsv",
    "xml",
    "gitignore",
    "gitattributes",
    "editorconfig",
    "lock",
    "license",
    "md5",
    "sha1",
    "sha256",
    "sig",
    "pem",
    "crt",
    "cer",
    "pub",
    "key",
    "csr",
    "ldif",
    "gpx",
    "kml",
    "wkt",
    "fasta",
    "fa",
    "fastq",
    "gff",
    "bed",
    "sam",
    "dat",
    "data",
    "tab",
    "dic",
    "aff",
    "srx",
    "har",
    "bak",
    "orig",
    "tmp",
    "sum",
    "plist",
    "service",
    "timer",
    "cnf",
];

/// What programmers write, of which nothing runs when it is opened.
const SOURCES: &[&str] = &[
    "sql",
    "ddl",
    "graphql",
    "gql",
    "proto",
    "thrift",
    "avsc",
    "idl",
    "c",
    "h",
    "cc",
    "cpp",
    "cxx",
    "hh",
    "hpp",
    "hxx",
    "m",
    "mm",
    "cs",
    "fs",
    "java",
    "kt",
    "kts",
    "scala",
    "clj",
    "go",
    "rs",
    "swift",
    "ts",
    "tsx",
    "jsx",
    "vue",
    "svelte",
    "css",
    "scss",
    "sass",
    "less",
    "dart",
    "hs",
    "ml",
    "mli",
    "ex",
    "exs",
    "erl",
    "hrl",
    "elm",
    "zig",
    "nim",
    "jl",
    "f",
    "f90",
    "for",
    "pas",
    "ada",
    "asm",
    "s",
    "v",
    "vhdl",
    "sv",
    "cob",
    "cbl",
    "lisp",
    "el",
    "scm",
    "tf",
    "tfvars",
    "hcl",
    "gradle",
    "sbt",
    "cmake",
    "mk",
    "dockerfile",
    "r",
    "ipynb",
    "vb",
    "pyi",
    "pyx",
    "yaml",
    "yml",
    "toml",
    "jsonc",
    "json5",
];

/// The same of files without an ending, in lower case.
const SOURCE_NAMES: &[&str] = &[
    "dockerfile",
    "containerfile",
    "makefile",
    "gnumakefile",
    "jenkinsfile",
    "vagrantfile",
    "rakefile",
    "gemfile",
    "procfile",
    "justfile",
    "brewfile",
    "podfile",
    "cmakelists.txt",
    "requirements.txt",
];

/// Whether a file is what programmers write, by its name.
pub(super) fn is_source(name: &str) -> bool {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    SOURCE_NAMES.contains(&base.as_str())
        || ending(name).is_some_and(|(_, ending)| SOURCES.contains(&ending.as_str()))
}

/// What a system runs or opens as something that acts, beside scripts.
const PROGRAMS: &[&str] = &[
    "exe", "com", "scr", "cpl", "dll", "ocx", "sys", "drv", "msi", "msp", "mst", "msix", "appx", "jar",
    "class", "war", "apk", "ipa", "app", "dmg", "pkg", "deb", "rpm", "run", "bin", "elf", "so", "dylib",
    "hta", "chm", "hlp", "crx", "xpi", "vsix", "xll", "wll", "xla", "ppa", "ade", "adp", "mde", "accde",
    "accdr", "iso", "img", "vhd", "vhdx", "one", "onepkg", "swf", "air", "xap", "pyc", "pyo", "ocm", "vxd",
    "grp", "mam", "maf", "mag", "mar", "mas", "mat", "mau", "mav", "maw", "mda", "mdb", "mdt", "mdw", "mdz",
    "prf", "scx", "shb", "shs", "vsmacros", "vsw",
];

/// What Office documents are called that have lost their macros.
const WITHOUT_MACROS: &[(&str, &str)] = &[
    ("docm", "docx"),
    ("dotm", "dotx"),
    ("xlsm", "xlsx"),
    ("xltm", "xltx"),
    ("xlam", "xlsx"),
    ("pptm", "pptx"),
    ("ppsm", "ppsx"),
    ("potm", "potx"),
    ("ppam", "pptx"),
];

fn is_text(ending: &str) -> bool {
    TEXTS.contains(&ending) || SOURCES.contains(&ending)
}

/// Whether a file of this name acts when it is opened, whatever it is.
pub(super) fn acts(name: &str) -> bool {
    ending(name).is_some_and(|(_, ending)| is_acting(&ending))
}

fn is_acting(ending: &str) -> bool {
    script::is_ending(ending) || PROGRAMS.contains(&ending)
}

/// What a system starts when somebody follows a link to it from a file beside it. What sites have (`index.php`, `example.com`)
/// is not among them.
const STARTED: &[&str] = &[
    "exe",
    "scr",
    "cpl",
    "msi",
    "msp",
    "mst",
    "bat",
    "cmd",
    "ps1",
    "vbs",
    "vbe",
    "jse",
    "wsf",
    "wsh",
    "sct",
    "hta",
    "lnk",
    "pif",
    "jar",
    "reg",
    "scf",
    "msc",
    "chm",
    "application",
    "appref-ms",
    "gadget",
    "xll",
    "settingcontent-ms",
    "library-ms",
    "search-ms",
    "url",
    "website",
    "desktop",
    "command",
    "terminal",
];

/// Whether a link without a scheme leads to a program.
pub(super) fn starts(link: &str) -> bool {
    let link: String = link.trim().chars().filter(|c| !c.is_control()).collect();
    let path = link.split(['?', '#']).next().unwrap_or_default();
    let first = path.split(['/', '\\']).next().unwrap_or_default();
    // A host is asked over the web (`//host/…`), and what has a scheme is looked at by that.
    if first.contains(':') || path.starts_with("//") {
        return false;
    }
    let plain = LinkText::of(path);
    let path = plain.as_ref().map_or(path, LinkText::text);
    ending(path).is_some_and(|(_, ending)| STARTED.contains(&ending.as_str()))
}

/// The ending of a name's last part, in lower case, and what stands before it.
pub(super) fn ending(name: &str) -> Option<(&str, String)> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    // Windows drops these at the end of a name.
    let trimmed = base.trim_end_matches(['.', ' ']);
    let (stem, ending) = trimmed.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
    Some((stem, ending.to_ascii_lowercase()))
}

/// The name that a file of this kind has instead of `name`; `None` where that fits. A name without an ending fits.
/// Scripts that pass keep theirs.
pub(super) fn fitting(name: &str, kind: FileKind, options: Options) -> Option<String> {
    if !options.fit_names || kind == FileKind::Script && options.policy.scripts == ScriptPolicy::Pass {
        return None;
    }
    let (stem, ending) = ending(name)?;
    if kind == FileKind::Ooxml && options.interactive {
        let plain = WITHOUT_MACROS.iter().find(|(with, _)| *with == ending);
        if let Some((_, plain)) = plain {
            let folder = name.rfind(['/', '\\']).and_then(|at| name.get(..=at)).unwrap_or_default();
            return Some(format!("{folder}{stem}.{plain}"));
        }
    }
    let acts = is_acting(&ending);
    let of = |kind: FileKind| ENDINGS.iter().find(|(known, _)| *known == kind).map(|(_, endings)| *endings);
    let endings = of(kind)?;
    if endings.contains(&ending.as_str()) || kind == FileKind::Text && SOURCES.contains(&ending.as_str()) {
        return None;
    }
    let others = || ENDINGS.iter().any(|(_, endings)| endings.contains(&ending.as_str()));
    let wrong = match kind {
        FileKind::Text | FileKind::Script => true,
        // Of data in XML the name says what it is for.
        FileKind::Xml => acts,
        // Text of a kind under the name of a text is opened as one.
        FileKind::Html
        | FileKind::Svg
        | FileKind::Json
        | FileKind::Csv
        | FileKind::Markdown
        | FileKind::Mail
        | FileKind::Mailbox => acts || !is_text(&ending) && others(),
        _ => acts || others(),
    };
    let own = endings.first().copied().unwrap_or("txt");
    wrong.then(|| format!("{}.{own}", name.trim_end_matches(['.', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::ReleasePolicy;

    #[test]
    fn names_fit_what_files_are() {
        for (name, kind, want) in [
            ("photo.jpg", FileKind::Text, "photo.jpg.txt"),
            ("notes.txt", FileKind::Text, ""),
            ("README", FileKind::Text, ""),
            (".bashrc", FileKind::Text, ""),
            ("a.b/c", FileKind::Text, ""),
            ("x.exe. ", FileKind::Text, "x.exe.txt"),
            ("x.bat", FileKind::Pdf, "x.bat.pdf"),
            ("x.PDF", FileKind::Pdf, ""),
            ("x.html", FileKind::Pdf, "x.html.pdf"),
            ("x.unheard", FileKind::Pdf, ""),
            ("page.hta", FileKind::Html, "page.hta.html"),
            ("a/Report.DOCM", FileKind::Ooxml, "a/Report.docx"),
            ("a.docx", FileKind::Ooxml, ""),
            ("a.js", FileKind::Ooxml, "a.js.docx"),
            ("a.html", FileKind::Ooxml, "a.html.docx"),
            ("a.svg", FileKind::Odf, "a.svg.odt"),
            ("a.xlsx", FileKind::Ooxml, ""),
            ("a.jar", FileKind::Zip, "a.jar.zip"),
            ("feed.rss", FileKind::Xml, ""),
            ("a.jnlp", FileKind::Xml, "a.jnlp.xml"),
            ("run.ps1", FileKind::Script, "run.ps1.txt"),
            ("x.jpg", FileKind::Image, ""),
            ("x.txt", FileKind::Json, ""),
            ("x.txt", FileKind::Html, ""),
            ("x.pdf", FileKind::Html, "x.pdf.html"),
            ("x.txt", FileKind::Pdf, "x.txt.pdf"),
            ("x.eml", FileKind::Text, "x.eml.txt"),
            ("x.mbox", FileKind::Json, "x.mbox.json"),
            ("x.mbox", FileKind::Mail, "x.mbox.eml"),
            ("x.eml", FileKind::Mailbox, "x.eml.mbox"),
            ("x.MHT", FileKind::Mail, ""),
            ("Inbox", FileKind::Mailbox, ""),
            ("x", FileKind::Unknown, ""),
        ] {
            assert_eq!(fitting(name, kind, Options::default()).unwrap_or_default(), want, "{name} {kind:?}");
        }
        let armed = Options { interactive: false, ..Options::default() };
        assert_eq!(fitting("a.docm", FileKind::Ooxml, armed), None);
        let passed = Options {
            policy: ReleasePolicy { scripts: ScriptPolicy::Pass, ..ReleasePolicy::default() },
            ..Options::default()
        };
        assert_eq!(fitting("a.ps1", FileKind::Script, passed), None);
    }

    #[test]
    fn links_to_programs_start_them() {
        for link in [
            "setup.exe",
            "./a/b.EXE?x#y",
            "..\\x.lnk",
            "a b.hta ",
            "set\nup.bat",
            "x%2Eexe",
            "x.exe. ",
            "/x.msi",
        ] {
            assert!(starts(link), "{link}");
        }
        for link in [
            "index.php?a=b.exe",
            "example.com",
            "page.html#x.exe",
            "https://a.example/x.exe",
            "//a.example/x.exe",
            "mailto:a@b.exe",
            "exe",
            ".exe",
            "",
            "a.exe/b",
        ] {
            assert!(!starts(link), "{link}");
        }
    }

    #[test]
    fn no_text_is_called_like_what_acts() {
        for ending in TEXTS.iter().chain(SOURCES) {
            assert!(!script::is_ending(ending) && !PROGRAMS.contains(ending), "{ending}");
        }
        for (_, endings) in ENDINGS {
            for ending in *endings {
                assert!(!script::is_ending(ending) && !PROGRAMS.contains(ending), "{ending}");
            }
        }
    }
}
