//! Style sheets (CSS Syntax Level 3): what they load from elsewhere becomes a target, what runs or imports is taken
//! out, strings are texts. Comments go; what is left holds no `<`, and no `&` that could begin a reference, so that it
//! reads alike as raw text and as markup.

use std::ops::Range;

use crate::sanitize::format::markup::uri::{AfterAddress, is_safe};

/// A style sheet, or the declarations of a `style` attribute.
#[derive(Debug, Default)]
pub(in crate::sanitize::format) struct Sheet {
    pub(in crate::sanitize::format) pieces: Vec<CssPiece>,
    /// What was taken out that loads or runs.
    pub(in crate::sanitize::format) removed: u64,
}

/// A piece of it.
#[derive(Debug)]
pub(in crate::sanitize::format) enum CssPiece {
    /// As it stands.
    Raw(Range<usize>),
    /// Something written anew.
    Fixed(&'static str),
    /// A string: where it stands, what it reads.
    Text(Range<usize>, String),
    /// `url(…)`: where it stands, where it leads.
    Address(Range<usize>, String),
}

/// Properties that run what they name.
const RUNNING: &[&str] = &["behavior", "-ms-behavior", "-moz-binding", "-o-link", "-o-link-source", "progid"];

/// Functions whose strings are addresses.
const LOADING: &[&str] = &["image-set", "-webkit-image-set", "image", "src"];

/// Reads it.
pub(in crate::sanitize::format) fn read(css: &str) -> Sheet {
    let mut reader =
        CssReader { css, at: 0, loading: None, depth: 0, joint: false, last: None, sheet: Sheet::default() };
    while reader.at < css.len() {
        let before = reader.at;
        reader.step();
        if reader.at <= before {
            // Never reached: every step reads on.
            break;
        }
    }
    reader.sheet
}

/// A string as CSS spells it, with its quotes.
pub(in crate::sanitize::format) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '<' | '&' | '>' => out.push_str(&format!("\\{:x} ", u32::from(c))),
            _ if c.is_control() => out.push_str(&format!("\\{:x} ", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a string may stay as it is spelled.
pub(in crate::sanitize::format) fn is_plain(raw: &str) -> bool {
    let closed = raw.len() > 1 && raw.ends_with(['"', '\'', ')']);
    closed && !raw.contains(['<', '&', '\0', '`'])
}

struct CssReader<'c> {
    css: &'c str,
    at: usize,
    /// Depth of the parentheses within which strings are addresses.
    loading: Option<u32>,
    depth: u32,
    /// Something was left out here.
    joint: bool,
    /// The last character that was kept.
    last: Option<char>,
    sheet: Sheet,
}

impl CssReader<'_> {
    fn rest(&self) -> &str {
        self.css.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.css.len());
    }

    /// Where something was left out, what stood on either side of it does not become one word.
    fn put(&mut self, piece: CssPiece) {
        let (first, last) = match &piece {
            CssPiece::Fixed(text) => (text.chars().next(), text.chars().next_back()),
            CssPiece::Raw(range) | CssPiece::Text(range, _) | CssPiece::Address(range, _) => {
                let raw = self.css.get(range.clone()).unwrap_or_default();
                (raw.chars().next(), raw.chars().next_back())
            }
        };
        let before = self.last.is_some_and(|c| is_name(c) || c == '\\');
        if std::mem::take(&mut self.joint) && before && first.is_some_and(|c| is_name(c) || "\\(".contains(c))
        {
            self.sheet.pieces.push(CssPiece::Fixed(" "));
        }
        self.last = last;
        self.sheet.pieces.push(piece);
    }

    fn keep(&mut self, from: usize) {
        match self.sheet.pieces.last_mut() {
            Some(CssPiece::Raw(last)) if last.end == from => {
                last.end = self.at;
                self.last = self.css.get(..self.at).and_then(|css| css.chars().next_back());
            }
            _ => self.put(CssPiece::Raw(from..self.at)),
        }
    }

    fn removed(&mut self) {
        self.joint = true;
        self.sheet.removed = self.sheet.removed.saturating_add(1);
    }

    fn step(&mut self) {
        let from = self.at;
        let Some(c) = self.next() else { return };
        match c {
            _ if self.rest().starts_with("/*") => self.comment(),
            '"' | '\'' => {
                let text = self.string(c);
                let piece = if self.loading.is_some() {
                    self.address(from, text)
                } else {
                    CssPiece::Text(from..self.at, text)
                };
                self.put(piece);
            }
            '@' => {
                self.pass(1);
                let name = self.name();
                if name == "import" {
                    self.skip_to(&[';']);
                    self.pass(1);
                    self.removed();
                } else {
                    self.keep(from);
                }
            }
            '<' => {
                let length = if self.rest().starts_with("<!--") { 4 } else { 1 };
                self.leave_out(length);
            }
            '-' if self.rest().starts_with("-->") => self.leave_out(3),
            '&' => {
                self.pass(1);
                if !self.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '#') {
                    self.keep(from);
                } else {
                    self.joint = true;
                }
            }
            _ if is_name(c) || c == '\\' => self.word(from),
            '\0' => self.leave_out(1),
            _ => {
                match c {
                    '(' => self.depth = self.depth.saturating_add(1),
                    ')' => {
                        self.depth = self.depth.saturating_sub(1);
                        self.loading = self.loading.filter(|within| *within <= self.depth);
                    }
                    _ => {}
                }
                self.pass(c.len_utf8());
                self.keep(from);
            }
        }
    }

    fn comment(&mut self) {
        let length = self.rest().get(2..).and_then(|rest| rest.find("*/"));
        self.leave_out(length.map_or(self.css.len(), |end| end.saturating_add(4)));
    }

    fn leave_out(&mut self, bytes: usize) {
        self.pass(bytes);
        self.joint = true;
    }

    fn word(&mut self, from: usize) {
        let name = self.name();
        if self.at == from {
            self.pass(1);
            return;
        }
        let behind = self.rest();
        if behind.starts_with('(') {
            match name.as_str() {
                "url" | "src" => return self.url(from),
                _ if name.ends_with("expression") || name == "include-source" => {
                    self.balanced();
                    self.removed();
                    return self.put(CssPiece::Fixed("none"));
                }
                _ if LOADING.contains(&name.as_str()) => {
                    self.depth = self.depth.saturating_add(1);
                    self.pass(1);
                    self.loading = self.loading.or(Some(self.depth));
                }
                _ => {}
            }
        } else if RUNNING.contains(&name.as_str()) && behind.trim_start().starts_with([':', '/']) {
            self.skip_to(&[';', '}']);
            return self.removed();
        }
        self.keep(from);
    }

    /// `url(…)`; the cursor is at the bracket.
    fn url(&mut self, from: usize) {
        self.pass(1);
        self.space();
        let text = match self.next() {
            Some(quote @ ('"' | '\'')) => {
                let text = self.string(quote);
                self.skip_to(&[')']);
                text
            }
            _ => {
                let mut text = String::new();
                while let Some(c) = self.next().filter(|c| *c != ')') {
                    text.push(if c == '\\' { self.escape() } else { c });
                    self.pass(if c == '\\' { 0 } else { c.len_utf8() });
                }
                text.truncate(text.trim_end().len());
                text
            }
        };
        self.pass(1);
        let piece = self.address(from, text);
        self.put(piece);
    }

    fn address(&mut self, from: usize, text: String) -> CssPiece {
        if is_safe(&text, AfterAddress::Load) {
            return CssPiece::Address(from..self.at, text);
        }
        self.removed();
        CssPiece::Fixed(if self.loading.is_some() { "\"\"" } else { "none" })
    }

    /// A name in lower case, its escapes read.
    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.next() {
            if c == '\\' && !self.rest().starts_with("\\\n") {
                name.push(self.escape());
            } else if is_name(c) {
                name.push(c);
                self.pass(c.len_utf8());
            } else {
                break;
            }
        }
        name.to_lowercase()
    }

    fn string(&mut self, quote: char) -> String {
        self.pass(1);
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '\n' => break,
                _ if c == quote => {
                    self.pass(1);
                    break;
                }
                '\\' if self.rest().starts_with("\\\n") => self.pass(2),
                '\\' => text.push(self.escape()),
                _ => {
                    text.push(c);
                    self.pass(c.len_utf8());
                }
            }
        }
        text
    }

    /// What stands at a reverse solidus.
    fn escape(&mut self) -> char {
        self.pass(1);
        let digits = self.rest().bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        let Some(number) = self.rest().get(..digits).filter(|number| !number.is_empty()) else {
            let c = self.next().unwrap_or(char::REPLACEMENT_CHARACTER);
            self.pass(c.len_utf8());
            return c;
        };
        let code = u32::from_str_radix(number, 16).unwrap_or(0);
        self.pass(digits);
        if let Some(space) = self.next().filter(char::is_ascii_whitespace) {
            self.pass(space.len_utf8());
        }
        char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn space(&mut self) {
        let length = self.rest().len().saturating_sub(self.rest().trim_start().len());
        self.pass(length);
    }

    /// Passes a function's brackets and what is in them.
    fn balanced(&mut self) {
        let mut depth = 0_u32;
        while let Some(c) = self.next() {
            match c {
                '"' | '\'' => {
                    self.string(c);
                    continue;
                }
                '(' => depth = depth.saturating_add(1),
                ')' => depth = depth.saturating_sub(1),
                '{' | '}' if depth > 0 => return,
                _ => {}
            }
            self.pass(c.len_utf8());
            if depth == 0 {
                return;
            }
        }
    }

    /// Passes all up to one of these, outside of strings.
    fn skip_to(&mut self, ends: &[char]) {
        while let Some(c) = self.next().filter(|c| !ends.contains(c)) {
            match c {
                '"' | '\'' => drop(self.string(c)),
                _ => self.pass(c.len_utf8()),
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(css: &str) -> (String, u64) {
        let sheet = read(css);
        let piece = |piece: &CssPiece| match piece {
            CssPiece::Raw(range) | CssPiece::Text(range, _) => {
                css.get(range.clone()).expect("a range of it").to_owned()
            }
            CssPiece::Fixed(text) => (*text).to_owned(),
            CssPiece::Address(_, text) => format!("[{text}]"),
        };
        (sheet.pieces.iter().map(piece).collect(), sheet.removed)
    }

    #[test]
    fn what_loads_and_runs_is_told() {
        for (css, want, removed) in [
            ("a{color:red}", "a{color:red}", 0),
            ("a{background:url(x.png) no-repeat}", "a{background:[x.png] no-repeat}", 0),
            ("background:url( 'http://a.example/b' )", "background:[http://a.example/b]", 0),
            ("background:\\75\\72 l(javascript:x)", "background:none", 1),
            ("background:u\\rl(x)", "background:[x]", 0),
            ("width:expression(alert(1));color:red", "width:none;color:red", 1),
            ("width:exp/**/ression(alert(1))", "width:exp ression(alert(1))", 0),
            ("width:expres<sion(alert(1));a<<b&#38;c\0d", "width:expres sion(alert(1));a b#38;c d", 0),
            ("u/**//**/rl(x) a@import x;b{} .a/**/.b", "u rl(x) a b{} .a.b", 1),
            ("-moz-binding:url(x);color:red", ";color:red", 1),
            ("beh\\61vior : url(x)}b{}", "}b{}", 1),
            ("@import 'x.css';a{}", "a{}", 1),
            ("@\\69mport url(x)", "", 1),
            ("<!-- a{} --> b<i>{}", " a{}  b i>{}", 0),
            ("a::after{content:'\\3cscript>'}", "a::after{content:'\\3cscript>'}", 0),
            (
                "background:image-set('a.png' 1x, 'javascript:x' 2x);content:'a'",
                "background:image-set([a.png] 1x, \"\" 2x);content:'a'",
                1,
            ),
            ("&#x75;rl(x) a & b &:hover", "#x75;rl(x) a & b &:hover", 0),
            ("background:url(data:text/html,x)", "background:none", 1),
            ("background:url(data:image/png;base64,AA==)", "background:[data:image/png;base64,AA==]", 0),
            ("url(x", "[x]", 0),
            ("\"x", "\"x", 0),
            ("\\", "\\", 0),
        ] {
            assert_eq!(shown(css), (want.to_owned(), removed), "{css}");
        }
        assert_eq!(quoted("a\"<\n"), "\"a\\\"\\3c \\a \"");
    }
}
