//! XML documents that act when they are opened. Those with a namespace of their own are known by it, where the document is
//! read (`Family::Program` of `format/xml/token.rs`); these have none, or one that tells nothing.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::settings::leads_to_share;

/// What a document acts by. Names are without prefix, in lower case.
enum ActiveMark {
    /// An element of this name.
    Element(&'static str),
    /// An attribute of this name.
    Attribute(&'static str),
    /// An element whose text is this, in any case.
    Text(&'static str),
    /// A value of any attribute, or any element's text, that leads to a share or is of this machine.
    Share,
}

use ActiveMark::{Attribute, Element, Share, Text};

/// Roots of such documents, and of what one must stand in them: script hosts', starters of programs, settings, lists of
/// players, projects.
const ACTING: &[(&str, &[ActiveMark])] = &[
    ("job", HOSTED),
    ("package", HOSTED),
    ("component", HOSTED),
    ("scriptlet", HOSTED),
    ("registration", HOSTED),
    (
        "jnlp",
        &[
            Attribute("codebase"),
            Element("jar"),
            Element("j2se"),
            Element("application-desc"),
            Element("applet-desc"),
            Element("installer-desc"),
            Element("component-desc"),
        ],
    ),
    ("softpkg", &[Element("codebase"), Element("implementation")]),
    ("pcsettings", &[Element("deeplink"), Element("searchablecontent")]),
    ("asx", &[Element("ref"), Element("entryref"), Element("base")]),
    ("smil", &[Share]),
    ("playlist", &[Share]),
    ("kml", &[Share]),
    ("plist", &[Text("commandstring"), Text("payloadcontent"), Text("programarguments"), Share]),
    ("project", &[Element("exec"), Element("usingtask"), Element("sdk"), Attribute("sdk")]),
    ("appinstaller", &[Element("mainbundle"), Element("mainpackage"), Attribute("uri")]),
];

/// What script hosts run.
const HOSTED: &[ActiveMark] = &[Element("script"), Element("registration")];

/// Whether an XML document with this root, in lower case, is one that acts when it is opened. So does one that cannot be
/// read: what opens it may read it otherwise.
pub(in crate::sanitize) fn acts(root: &str, text: &str) -> bool {
    let marks = ACTING.iter().find(|(known, _)| *known == root).map(|(_, marks)| *marks);
    marks.is_some_and(|marks| read(marks, text).unwrap_or(true))
}

/// Reads a document as whoever opens it may, faults or not. `None` if it cannot be read.
fn read(marks: &[ActiveMark], text: &str) -> Option<bool> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    // What an element's text is so far: references and sections part it.
    let mut value = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) | Event::Empty(tag) => {
                if is_mark_text(marks, &value) || is_mark(marks, &tag)? {
                    return Some(true);
                }
                value.clear();
            }
            Event::End(_) | Event::Eof if is_mark_text(marks, &value) => return Some(true),
            Event::End(_) => value.clear(),
            Event::Eof => return Some(false),
            Event::Text(text) => value.push_str(&text),
            Event::CData(text) => value.push_str(&text),
            Event::GeneralRef(name) => value.push_str(&plain(&format!("&{};", &*name))),
            _ => {}
        }
    }
}

/// Whether an element, by its start tag, is what a document acts by.
fn is_mark(marks: &[ActiveMark], tag: &BytesStart<'_>) -> Option<bool> {
    let is = |written: &str, name: &str| {
        written.rsplit(':').next().is_some_and(|written| written.eq_ignore_ascii_case(name))
    };
    if marks.iter().any(|mark| matches!(mark, Element(name) if is(tag.name().0, name))) {
        return Some(true);
    }
    for attribute in tag.html_attributes().with_checks(false) {
        let attribute = attribute.ok()?;
        let acts = marks.iter().any(|mark| match mark {
            Attribute(name) => is(attribute.key.0, name),
            Share => leads_to_share(&plain(&attribute.value)),
            Element(_) | Text(_) => false,
        });
        if acts {
            return Some(true);
        }
    }
    Some(false)
}

fn is_mark_text(marks: &[ActiveMark], value: &str) -> bool {
    let value = value.trim();
    marks.iter().any(|mark| match mark {
        Text(text) => value.eq_ignore_ascii_case(text),
        Share => leads_to_share(value),
        Element(_) | Attribute(_) => false,
    })
}

/// Text without references; as it is written where one names nothing.
fn plain(written: &str) -> Cow<'_, str> {
    unescape(written).unwrap_or(Cow::Borrowed(written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_act_by_their_root_and_what_is_in_them() {
        for (root, text) in [
            ("job", "<job><script language='VBScript'>x</script></job>"),
            ("job", "<p:job xmlns:p='a'><p:Script>x</p:Script></p:job>"),
            ("job", "<job><title"),
            ("plist", "<plist><key>CommandString</key><string>id</string></plist>"),
            ("plist", "<plist><key>\n Command<!-- a --><![CDATA[String]]> </key></plist>"),
            ("project", "<Project><Target><Exec Command='id'/></Target></Project>"),
            ("project", "<Project>a & b</x><Import Sdk = 'Microsoft.NET.Sdk'/></Project>"),
            ("playlist", "<p:playlist><p:location>&#92;&#x5c;evil.example\\x</p:location></p:playlist>"),
            ("playlist", "<playlist><location>\n <![CDATA[\\\\evil.example\\x]]></location></playlist>"),
            ("smil", "<smil><media src = ' //evil.example/x'/></smil>"),
            ("kml", "<kml><href> FILE:///x"),
        ] {
            assert!(acts(root, text), "{text}");
        }
        for (root, text) in [
            ("job", "<job><title>Baker of scripts</title></job>"),
            ("svg", "<svg><script/></svg>"),
            ("plist", "<plist><key>Name</key><string>Jane</string></plist>"),
            ("project", "<project><name>a &amp; b</name><executions><execution/></executions></project>"),
            (
                "playlist",
                "<playlist xmlns='http://xspf.org/ns/0/'><location>https://a.example/1</location></playlist>",
            ),
            ("kml", "<kml><href>https://a.example/x//y</href><name>a // b</name></kml>"),
        ] {
            assert!(!acts(root, text), "{text}");
        }
    }
}
