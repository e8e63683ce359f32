//! Attributes that may hold what somebody wrote: those that readers show, and all others but those that are known to say
//! something else.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::sanitize::format::ooxml::silent::{self, AttributeUse};
use crate::sanitize::format::ooxml::{labels, names};
use crate::sanitize::format::passage::{Passage, PiecePlace, is_worth};
use crate::sanitize::format::xml_editor::XmlEditor;
use crate::sanitize::format::xml_tree::{Tree, TreeAttribute};
use crate::sanitize::{NamedText, Rejection, Work};

/// Attributes that are shown, or name people, whatever they hold.
const SHOWN: &[&str] = &[
    "descr",
    "title",
    "alt",
    "tooltip",
    "author",
    "initials",
    "userId",
    "display",
    "prompt",
    "promptTitle",
    "error",
    "errorTitle",
    "comment",
    "description",
    "displayText",
    "caption",
    "string",
    "userName",
    "lastModifiedBy",
    "providerId",
    "v",
    "screenTip",
    "location",
];

/// Elements whose `val` is shown.
const VALUED: &[&str] =
    &["alias", "tag", "docVar", "default", "listEntry", "statusText", "helpText", "placeholder", "caption"];

/// How many typed values of a package are kept.
const MOST: usize = 1 << 16;

/// A part whose texts are looked at.
#[derive(Clone, Copy)]
pub(super) struct TextPart<'t> {
    /// The document.
    pub(super) tree: &'t Tree,
    /// Whether it holds anybody's data, and every name in it may say what a value is.
    pub(super) data: bool,
}

/// Numbers and identifiers of a package's attributes, in which no rule looks for anything: they go only where they are
/// values that were found elsewhere.
#[derive(Debug, Default)]
pub(super) struct TypedValues(BTreeSet<String>);

impl TypedValues {
    fn keep(&mut self, value: &str) {
        if self.0.len() < MOST && !self.0.contains(value) {
            self.0.insert(value.to_owned());
        }
    }

    /// Shows those that were found elsewhere, so that it is known that some are left.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn show(&self, work: &mut Work<'_>) -> Result<(), Rejection> {
        let found = self.0.iter().filter(|value| work.values().contains_key(*value));
        let found: Vec<NamedText<&str>> = found.map(|value| NamedText::nowhere(value)).collect();
        if !found.is_empty() {
            work.named(&found)?;
        }
        Ok(())
    }
}

/// A value that is one word.
struct AttributeWord<'t> {
    at: usize,
    attribute: TreeAttribute<'t>,
    text: String,
}

/// What the attributes of a part hold.
#[derive(Default)]
pub(super) struct AttributeTexts<'t> {
    passages: Vec<Passage<'t>>,
    /// In these no link is looked for: `Sales.US` is the name of a table.
    words: Vec<AttributeWord<'t>>,
}

impl<'t> AttributeTexts<'t> {
    /// Reads a part. With `again`, typed values are words like others: only what is known goes.
    pub(super) fn of(
        part: TextPart<'t>,
        editor: &XmlEditor<'_>,
        typed: &mut TypedValues,
        again: bool,
    ) -> Self {
        let mut texts = Self::default();
        for at in (0..part.tree.len()).filter(|at| !editor.is_gone(*at)) {
            let attributes = part.tree.attributes(at);
            for attribute in attributes.filter(|attribute| !is_declaration(attribute)) {
                let text: Cow<'t, str> = if attribute.raw.contains('&') {
                    Cow::Owned(attribute.value())
                } else {
                    Cow::Borrowed(attribute.raw)
                };
                if !is_worth(&text) {
                    continue;
                }
                match use_of(part, at, &attribute, &text) {
                    AttributeUse::Looks => {}
                    AttributeUse::Typed if !silent::may_be_known(&text) => {}
                    AttributeUse::Typed if !again => typed.keep(&text),
                    AttributeUse::Typed => {
                        texts.words.push(AttributeWord { at, attribute, text: text.into_owned() })
                    }
                    AttributeUse::Words => texts.push(part, at, attribute, text.into_owned()),
                }
            }
        }
        texts
    }

    fn push(&mut self, part: TextPart<'t>, at: usize, attribute: TreeAttribute<'t>, text: String) {
        let (tree, name) = (part.tree, attribute.name);
        if part.data {
            let head = labels::of_attribute(tree, at, name);
            self.passages.push(Passage { head, ..Passage::one(PiecePlace::Value(attribute), text) });
            return;
        }
        let given = matches!(name, "name" | "val") && names::is_given(&text);
        if given || names::is_font(tree, at, name) {
            return;
        }
        if !is_shown(tree.name(at), name) && !has_words(&text) {
            return self.words.push(AttributeWord { at, attribute, text });
        }
        // Numbers and dates of a pivot table's cache, which become words; names of sheets.
        let typed = (name == "v" && matches!(tree.name(at), "n" | "d"))
            || (name == "name" && tree.name(at) == "sheet");
        let place = if typed { PiecePlace::Own(at, attribute.span) } else { PiecePlace::Value(attribute) };
        self.passages.push(Passage::one(place, text));
    }

    /// Those that are read as texts are.
    pub(super) fn passages(&mut self) -> Vec<Passage<'t>> {
        std::mem::take(&mut self.passages)
    }

    /// Has the others looked at, and writes what they become.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn redact_words(
        &self,
        tree: &Tree,
        editor: &mut XmlEditor<'_>,
        work: &mut Work<'_>,
    ) -> Result<(), Rejection> {
        let texts: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        for (word, new) in self.words.iter().zip(work.names(&texts)?) {
            let Some(new) = new else { continue };
            let named = matches!(
                (tree.name(word.at), word.attribute.name),
                ("definedName", "name") | ("table", "name" | "displayName")
            );
            let new = if named { identifier(tree, word.at, &new) } else { new };
            editor.set_attribute(&word.attribute, &new);
        }
        Ok(())
    }
}

/// Whether an attribute says what a prefix means.
fn is_declaration(attribute: &TreeAttribute<'_>) -> bool {
    attribute.prefix == "xmlns" || attribute.name == "xmlns"
}

fn use_of(part: TextPart<'_>, at: usize, attribute: &TreeAttribute<'_>, text: &str) -> AttributeUse {
    let (element, name) = (part.tree.name(at), attribute.name);
    if part.data {
        let looks = name.ends_with("chemaLocation") || silent::is_namespace(text);
        return if looks { AttributeUse::Looks } else { AttributeUse::Words };
    }
    if is_shown(element, name) { AttributeUse::Words } else { silent::use_of(element, name, text) }
}

fn is_shown(element: &str, attribute: &str) -> bool {
    let named = ["docPr", "cNvPr", "cmAuthor", "sheet", "tableColumn", "docVar", "cacheField"];
    SHOWN.contains(&attribute)
        || (attribute == "val" && VALUED.contains(&element))
        || (attribute == "name" && named.contains(&element))
}

/// Whether a value is more than one word, or an address.
fn has_words(text: &str) -> bool {
    text.contains([' ', '@']) || text.contains("://") || text.contains("www.")
}

/// A name as formulas have it, and of nothing else: letters, digits and little besides (ECMA-376 part 1, 18.2.5 and 18.5.1.2).
fn identifier(tree: &Tree, at: usize, name: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let name: String = name.chars().map(|c| if part(c) { c } else { '_' }).collect();
    let start = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    let number = tree.attribute(at, "id").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    format!("{start}{name}_{}", number.unwrap_or_else(|| at.to_string()))
}
