//! [`DocumentPlace`]: what the values of a document in markup are called: by elements, by attributes, by the head of a column, by
//! a text before them that names them (a label, a term); and what stands before them.

use crate::stream::formatted::tag::{Attribute, MarkupTag};
use crate::stream::path::PathTracker;

/// How many elements within one another are followed.
const DEPTH: usize = 256;

/// How many tables within one another, and columns of each.
const TABLES: usize = 16;
const COLUMNS: usize = 256;

/// How much of a name is kept, and of a text before a value, in bytes.
const NAME: usize = 64;
const BEFORE: usize = 48;

/// From this many digits on a text names nothing.
const DIGITS: usize = 5;

/// Attributes that name what their element holds, in XML and in HTML; and what an input of HTML holds.
const NAMES: &[&str] = &["name", "key", "id", "field", "label", "property", "k"];
const HTML_NAMES: &[&str] = &["data-label", "data-name", "data-field", "data-key", "itemprop"];
const INPUT_NAMES: &[&str] =
    &["name", "property", "itemprop", "autocomplete", "id", "aria-label", "placeholder", "data-label"];

/// Attributes that hold what others name.
const VALUES: &[&str] = &["value", "val", "v", "content", "text", "default", "data-value"];

/// Elements whose text names what follows; in XML only where the next element is a value.
const SAYING: &[&str] = &["th", "dt", "label", "key"];
const SAYING_XML: &[&str] = &["name", "field"];
const VALUE_ELEMENTS: &[&str] = &["value", "val", "v", "content", "data", "string", "text"];

/// Elements of HTML that hold what a form asks for.
const INPUTS: &[&str] = &["input", "textarea", "select", "option", "output", "meta", "data", "param"];

/// An element that is open.
struct Element {
    name: String,
    /// What an attribute calls its content.
    own: String,
}

/// The columns of a table.
#[derive(Default)]
struct Columns {
    heads: Vec<String>,
    column: usize,
}

/// Where in a document a reader is.
pub(super) struct DocumentPlace {
    html: bool,
    open: Vec<Element>,
    /// Elements that are open and not followed.
    beyond: usize,
    tables: Vec<Columns>,
    /// What the text before says that comes next, and whether only where that is called a value.
    said: String,
    for_value: bool,
    /// The end of the text before.
    before: String,
}

impl DocumentPlace {
    pub(super) fn new(html: bool) -> Self {
        Self {
            html,
            open: Vec::new(),
            beyond: 0,
            tables: Vec::new(),
            said: String::new(),
            for_value: false,
            before: String::new(),
        }
    }

    /// A tag that parts texts.
    pub(super) fn tag(&mut self, tag: &MarkupTag) {
        if tag.closes {
            self.close(&tag.name);
            return;
        }
        if self.html {
            self.table(&tag.name);
        }
        if self.for_value && !VALUE_ELEMENTS.contains(&tag.name.as_str()) {
            self.said.clear();
        }
        if tag.is_empty {
            return;
        }
        if self.open.len() >= DEPTH {
            self.beyond += 1;
            return;
        }
        let own = cut(self.naming(tag).unwrap_or_default());
        self.open.push(Element { name: cut(&tag.name), own });
    }

    /// What an attribute calls what its element holds.
    fn naming<'t>(&self, tag: &'t MarkupTag) -> Option<&'t str> {
        match self.html {
            false => tag.attribute(NAMES),
            true if INPUTS.contains(&tag.name.as_str()) => {
                let password =
                    || tag.attribute(&["type"]).filter(|kind| kind.eq_ignore_ascii_case("password"));
                tag.attribute(INPUT_NAMES).or_else(password)
            }
            true => tag.attribute(HTML_NAMES),
        }
    }

    fn close(&mut self, name: &str) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if self.html && name == "table" {
            self.tables.pop();
        }
        if let Some(at) = self.open.iter().rposition(|element| element.name == name) {
            self.open.truncate(at);
        }
    }

    /// Rows and cells of tables; a cell ends the one before it, and a row the one before.
    fn table(&mut self, name: &str) {
        match name {
            "table" if self.tables.len() < TABLES => self.tables.push(Columns::default()),
            "tr" => {
                self.said.clear();
                self.shut(&["td", "th", "tr"]);
                if let Some(columns) = self.tables.last_mut() {
                    columns.column = 0;
                }
            }
            "td" | "th" => {
                self.shut(&["td", "th"]);
                if let Some(columns) = self.tables.last_mut() {
                    columns.column += 1;
                }
            }
            "dt" | "dd" => self.shut(&["dt", "dd"]),
            "p" | "li" | "option" => self.shut(&[name]),
            _ => {}
        }
    }

    /// Ends the innermost of these elements, which need not be closed.
    fn shut(&mut self, names: &[&str]) {
        while let Some(last) = self.open.last()
            && names.contains(&last.name.as_str())
        {
            self.open.pop();
        }
    }

    /// The head of the column, where there is one.
    fn head(&self) -> &str {
        let cell =
            self.open.iter().rev().find(|element| matches!(element.name.as_str(), "td" | "th" | "table"));
        let columns = self.tables.last().filter(|_| cell.is_some_and(|cell| cell.name == "td"));
        let head = columns.and_then(|columns| columns.heads.get(columns.column.checked_sub(1)?));
        head.map_or("", String::as_str)
    }

    /// The way to the text that comes next.
    pub(super) fn text(&self) -> PathTracker {
        let mut names = vec![self.head(), self.said.as_str()];
        if let Some((last, above)) = self.open.split_last() {
            let above = above.last().map_or("", |above| self.name(&above.name));
            names.splice(0..0, [above, self.name(&last.name)]);
            names.push(&last.own);
        }
        self.through(&names)
    }

    /// The way to the value of an attribute.
    pub(super) fn attribute(&self, tag: &MarkupTag, attribute: &Attribute) -> PathTracker {
        let (name, element) = (attribute.name.as_str(), self.name(&tag.name));
        if VALUES.contains(&name) {
            let naming = self.naming(tag).unwrap_or_default();
            let own = if naming.is_empty() && self.said.is_empty() && !self.html { name } else { "" };
            return self.through(&[element, &self.said, own, naming]);
        }
        let names = INPUT_NAMES.contains(&name) || NAMES.contains(&name) || HTML_NAMES.contains(&name);
        match name.strip_prefix("data-").filter(|_| self.html) {
            _ if names => PathTracker::default(),
            Some(name) => PathTracker::through([name]),
            None if self.html => PathTracker::default(),
            None => PathTracker::through([element, name]),
        }
    }

    fn through(&self, names: &[&str]) -> PathTracker {
        let names: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
        let nearest = names.get(names.len().saturating_sub(2)..).unwrap_or_default();
        let before = if self.said.is_empty() { self.before.as_str() } else { "" };
        PathTracker::through(nearest.iter().copied()).behind(before)
    }

    /// The name of an element, where it says something: those of HTML do not.
    fn name<'n>(&self, name: &'n str) -> &'n str {
        if self.html && !name.contains('-') && name.len() <= LONGEST_OF_HTML && HTML.contains(&name) {
            ""
        } else {
            name
        }
    }

    /// A text has been seen.
    pub(super) fn seen(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let names = text.len() <= NAME
            && !text.contains('@')
            && text.bytes().filter(u8::is_ascii_digit).count() < DIGITS
            && text.contains(char::is_alphabetic);
        let element = self.open.last().map_or("", |element| element.name.as_str());
        let says = SAYING.contains(&element) || text.ends_with([':', '\u{ff1a}']);
        self.for_value = !says && !self.html && SAYING_XML.contains(&element);
        if element == "th"
            && let Some(columns) = self.tables.last_mut()
            && columns.heads.len() < columns.column.min(COLUMNS)
        {
            columns.heads.resize(columns.column.min(COLUMNS) - 1, String::new());
            columns.heads.push(if names { cut(text) } else { String::new() });
        }
        self.said.clear();
        if names && (says || self.for_value) {
            self.said.push_str(text);
        }
        let from = text.ceil_char_boundary(text.len().saturating_sub(BEFORE));
        text.get(from..).unwrap_or_default().clone_into(&mut self.before);
    }
}

fn cut(name: &str) -> String {
    name.get(..name.floor_char_boundary(NAME)).unwrap_or_default().to_owned()
}

/// How long the names of HTML's own elements are at most.
const LONGEST_OF_HTML: usize = 10;

/// HTML's own elements, which are not called after what they hold.
const HTML: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "basefont",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "math",
    "menu",
    "meta",
    "meter",
    "nav",
    "nobr",
    "noframes",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "output",
    "p",
    "param",
    "picture",
    "pre",
    "progress",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "script",
    "search",
    "section",
    "select",
    "slot",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
];
