//! [`XmlToken`]: what stands where in an XML document.

use std::collections::HashSet;
use std::ops::Range;

use quick_xml::NsReader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

use crate::sanitize::format::markup::entity;
use crate::sanitize::format::markup::tag::Tag;
use crate::sanitize::{Rejection, Work};

/// Elements within elements that are followed.
const DEPTH: usize = 1000;

/// A part of a document, and the bytes where it stands.
#[derive(Debug)]
pub(super) struct XmlToken {
    pub(super) range: Range<usize>,
    pub(super) what: XmlTokenKind,
}

#[derive(Debug)]
pub(super) enum XmlTokenKind {
    Declaration,
    /// Whether it declares more than the document's type: entities, or where to read on.
    Doctype {
        acts: bool,
    },
    Comment,
    /// A processing instruction and its target.
    Instruction(String),
    /// The end tag of an empty element is in its start tag.
    Start {
        element: XmlElement,
        empty: bool,
    },
    End,
    Text,
    /// With its marks.
    Cdata,
}

/// An element's start tag.
#[derive(Debug)]
pub(super) struct XmlElement {
    /// As it is written, with prefixes.
    pub(super) tag: Tag,
    /// Its name without prefix, in lower case.
    pub(super) name: String,
    pub(super) family: Family,
}

/// Whose an element is, by its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// What browsers draw or show.
    Shown,
    /// It runs, or reads other files: XInclude, scripts in style sheets (XSLT), code in XAML.
    Acting,
    /// A program's whole document with what acts in it, in one file: OpenDocument, Office, Visio, XAML.
    Program,
    /// It has no namespace.
    Nobody,
    Other,
}

/// Splits up a document. References to entities that it declares itself are refused: no bomb goes off, and nothing is
/// read that only some readers see.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::OverLimit`].
pub(super) fn read(xml: &str, work: &mut Work<'_>) -> Result<Vec<XmlToken>, Rejection> {
    let mut reader = NsReader::from_str(xml);
    reader.config_mut().check_comments = true;
    let mut tokens: Vec<XmlToken> = Vec::new();
    let (mut depth, mut roots) = (0_usize, 0_usize);
    loop {
        let from = position(reader.buffer_position());
        let (namespace, event) = reader.read_resolved_event().map_err(|_| Rejection::Malformed)?;
        let name = match &event {
            Event::Start(tag) | Event::Empty(tag) => tag.name().0.rsplit(':').next().unwrap_or_default(),
            _ => "",
        };
        let family = family(&namespace, name);
        let what = match event {
            Event::Eof => break,
            Event::Start(tag) => {
                roots = roots.saturating_add(usize::from(depth == 0));
                depth = depth.saturating_add(1);
                XmlTokenKind::Start { element: element(&tag, family)?, empty: false }
            }
            Event::Empty(tag) => {
                roots = roots.saturating_add(usize::from(depth == 0));
                XmlTokenKind::Start { element: element(&tag, family)?, empty: true }
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                XmlTokenKind::End
            }
            Event::Text(text) if depth == 0 && !text.trim().is_empty() => return Err(Rejection::Malformed),
            Event::Text(_) => XmlTokenKind::Text,
            Event::GeneralRef(name) => {
                let known = name.starts_with('#') || ["amp", "lt", "gt", "quot", "apos"].contains(&&*name);
                if !known || depth == 0 {
                    let own = |token: &XmlToken| matches!(token.what, XmlTokenKind::Doctype { acts: true });
                    let declared = tokens.iter().any(own);
                    return Err(if declared { Rejection::Doctype } else { Rejection::Malformed });
                }
                XmlTokenKind::Text
            }
            Event::CData(_) => XmlTokenKind::Cdata,
            Event::Comment(_) => XmlTokenKind::Comment,
            Event::Decl(_) if from == 0 => XmlTokenKind::Declaration,
            Event::Decl(_) => return Err(Rejection::Malformed),
            Event::PI(text) => XmlTokenKind::Instruction(
                text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase(),
            ),
            Event::DocType(text) => XmlTokenKind::Doctype { acts: text.contains('[') },
        };
        if depth > DEPTH {
            return Err(Rejection::OverLimit);
        }
        work.items(1)?;
        let range = from..position(reader.buffer_position());
        match tokens.last_mut() {
            // A text and the references in it.
            Some(XmlToken { range: before, what: XmlTokenKind::Text })
                if matches!(what, XmlTokenKind::Text) =>
            {
                before.end = range.end
            }
            _ => tokens.push(XmlToken { range, what }),
        }
    }
    if depth != 0 || roots != 1 { Err(Rejection::Malformed) } else { Ok(tokens) }
}

fn position(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// `name` is without its prefix.
fn family(namespace: &ResolveResult<'_>, name: &str) -> Family {
    match namespace {
        ResolveResult::Unbound => Family::Nobody,
        ResolveResult::Bound(Namespace(uri)) => match uri.trim() {
            "http://www.w3.org/2000/svg" | "http://www.w3.org/1999/xhtml" => Family::Shown,
            "http://www.w3.org/2001/XInclude"
            | "urn:schemas-microsoft-com:xslt"
            | "http://xml.apache.org/xalan"
            | "http://xml.apache.org/xslt" => Family::Acting,
            "http://schemas.microsoft.com/winfx/2006/xaml"
            | "http://schemas.microsoft.com/winfx/2009/xaml"
                if name.eq_ignore_ascii_case("code") =>
            {
                Family::Acting
            }
            // The parts of such documents use the namespace, too.
            "urn:oasis:names:tc:opendocument:xmlns:office:1.0" if name == "document" => Family::Program,
            "http://schemas.microsoft.com/office/2006/xmlPackage"
            | "http://schemas.microsoft.com/office/word/2003/wordml"
            | "urn:schemas-microsoft-com:office:spreadsheet"
            | "urn:schemas-microsoft-com:office:powerpoint"
            | "http://schemas.microsoft.com/visio/2003/core"
            | "http://schemas.microsoft.com/visio/2006/extension"
            | "http://schemas.microsoft.com/winfx/2006/xaml/presentation"
            | "http://schemas.microsoft.com/xps/2005/06"
            | "http://schemas.openxps.org/oxps/v1.0"
            | "http://schemas.microsoft.com/office/infopath/2003/solutionDefinition"
            | "http://ns.adobe.com/xdp/"
            | "http://schemas.microsoft.com/windows/2009/library"
            | "http://schemas.microsoft.com/windows/2009/searchConnector"
            | "http://schemas.microsoft.com/Search/2013/SettingContent"
            | "http://schemas.microsoft.com/Contact"
            | "http://schemas.microsoft.com/windows/2004/02/mit/task"
            | "http://schemas.microsoft.com/developer/msbuild/2003" => Family::Program,
            // Of what is installed by a click (ClickOnce); every program of Windows has such a manifest, without these.
            "urn:schemas-microsoft-com:asm.v1" | "urn:schemas-microsoft-com:asm.v2"
                if matches!(name, "deployment" | "entryPoint") =>
            {
                Family::Program
            }
            _ => Family::Other,
        },
        ResolveResult::Unknown(_) => Family::Other,
    }
}

fn element(tag: &BytesStart<'_>, family: Family) -> Result<XmlElement, Rejection> {
    let mut attributes = Vec::new();
    let mut seen = HashSet::new();
    // Its own check for names that come twice takes the square of their number.
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|_| Rejection::Malformed)?;
        let twice = !seen.insert(attribute.key.0.to_owned());
        if twice || attribute.value.contains('<') || !references(&attribute.value) {
            return Err(Rejection::Malformed);
        }
        attributes.push((attribute.key.0.to_owned(), attribute.value.into_owned()));
    }
    let written = tag.name().0;
    let name = written.rsplit(':').next().unwrap_or_default().to_lowercase();
    Ok(XmlElement {
        tag: Tag { name: written.to_owned(), closed: false, math: false, attributes },
        name,
        family,
    })
}

/// Whether all references of a value are ones that any reader knows.
fn references(value: &str) -> bool {
    value.match_indices('&').all(|(at, _)| {
        let rest = value.get(at..).unwrap_or_default();
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#"];
        let rest = rest.get(..rest.floor_char_boundary(16)).unwrap_or_default();
        let end = rest.find(';').map_or(0, |end| end.saturating_add(1));
        let whole = rest.get(..end).unwrap_or_default();
        end > 0 && known.iter().any(|known| rest.starts_with(known)) && entity::is_plain(whole)
    })
}
