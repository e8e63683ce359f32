//! The settings that `conf/portcullis.toml` shows, with its words about them, and the reference that is made of them.

/// A table of the configuration.
#[derive(Default)]
pub(crate) struct Section {
    /// Its path, with `NAME` for what its owner names; empty at the top of the file.
    pub(crate) name: String,
    /// Whether there may be several.
    many: bool,
    /// Paragraphs about it.
    about: Vec<String>,
    /// What it may say.
    rows: Vec<Row>,
}

/// Settings that one comment is about.
#[derive(Default)]
struct Row {
    /// Key, value, and whether that is an example.
    keys: Vec<(String, String, bool)>,
    about: String,
}

impl Section {
    /// Settings without a word about them.
    pub(crate) fn unexplained(&self) -> impl Iterator<Item = &str> {
        let rows = self.rows.iter().filter(|row| row.about.is_empty());
        rows.flat_map(|row| &row.keys).map(|(key, _, _)| key.as_str())
    }

    /// Whether it has this setting.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.rows.iter().flat_map(|row| &row.keys).any(|(known, _, _)| known == key)
    }
}

/// A table's path with `NAME` for what its owner names.
pub(crate) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    for (parent, named) in
        [(&["upstreams"][..], 1), (&["models"][..], 1), (&["sanitize", "intel", "remote"][..], 3)]
    {
        if parts.starts_with(parent)
            && let Some(name) = parts.get_mut(named)
        {
            *name = "NAME";
        }
    }
    parts.join(".")
}

/// What one line of the file is.
enum Line<'a> {
    Title,
    Header(&'a str),
    Setting { key: &'a str, value: &'a str, example: bool, about: &'a str },
    Comment(&'a str),
    Nothing,
}

/// `#key = value` and `#[table]` are settings too, `# text` is not.
fn line(line: &str) -> Line<'_> {
    let (bare, example) = match line.strip_prefix('#') {
        Some(rest) if rest.starts_with("─") || rest.starts_with(" ──") => return Line::Title,
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => (rest, true),
        Some(rest) => return Line::Comment(rest.strip_prefix(' ').unwrap_or(rest)),
        None => (line, false),
    };
    if bare.starts_with('[') {
        return Line::Header(bare.trim_matches(['[', ']']));
    }
    let Some((key, value)) = bare.split_once(" = ") else { return Line::Nothing };
    // A comment behind a value: no value of the file has these characters in it.
    let (value, about) = value.split_once(" # ").unwrap_or((value, ""));
    Line::Setting { key, value: value.trim(), example, about: about.trim() }
}

/// Reads the file. What is said before its first title is about the file itself and is left out.
pub(crate) fn sections(text: &str) -> Vec<Section> {
    let mut reading = Reading { sections: vec![Section::default()], ..Reading::default() };
    let mut begun = false;
    for text in text.lines() {
        let line = line(text);
        begun |= matches!(line, Line::Title);
        if begun {
            reading.line(line, text.contains("[["));
        }
    }
    reading.sections
}

/// How far the file is read.
#[derive(Default)]
struct Reading {
    sections: Vec<Section>,
    /// The section that settings are of.
    at: usize,
    /// The comment that nothing has followed yet.
    comment: String,
    /// Paragraphs that stand before the first table of a topic.
    before: Vec<String>,
    /// Whether a topic has begun and no table has.
    topic: bool,
    /// Whether the next setting shares the comment of the last.
    shared: bool,
    /// What was said before a table that was there already: it is about its first new setting.
    again: String,
}

impl Reading {
    fn line(&mut self, line: Line<'_>, many: bool) {
        match line {
            Line::Title => (self.topic, self.shared) = (true, false),
            Line::Comment(text) => {
                // An item of a list begins in its third column, and goes on further in.
                let indent = text.len() - text.trim_start().len();
                let lasts = self.comment.rsplit("<br>").next().is_some_and(|last| last.starts_with("– "));
                match indent {
                    _ if text.is_empty() => self.comment.push_str("<br>"),
                    2 => self.comment.push_str("<br>– "),
                    0 if lasts => self.comment.push_str("<br>"),
                    _ if self.comment.is_empty() || self.comment.ends_with("<br>") => {}
                    _ => self.comment.push(' '),
                }
                // Of an item, its name and what it means stand in columns.
                let (name, means) = text.trim().split_once("  ").unwrap_or((text.trim(), ""));
                self.comment.push_str(name);
                if !means.is_empty() {
                    self.comment.push_str(&format!(": {}", means.trim_start()));
                }
                self.shared = false;
            }
            Line::Nothing => {
                self.shared = false;
                let about = std::mem::take(&mut self.comment);
                if about.is_empty() {
                } else if self.topic {
                    self.before.push(about);
                } else if let Some(section) = self.sections.get_mut(self.at) {
                    section.about.push(about);
                }
            }
            Line::Header(path) => self.header(&normal(path), many),
            Line::Setting { key, value, example, about } => {
                if !about.is_empty() {
                    (self.comment, self.shared) = (about.to_owned(), false);
                }
                self.setting((key.to_owned(), value.to_owned(), example));
                self.shared &= about.is_empty();
            }
        }
    }

    fn header(&mut self, name: &str, many: bool) {
        let mut about = std::mem::take(&mut self.before);
        let said = std::mem::take(&mut self.comment);
        (self.topic, self.shared) = (false, false);
        if let Some(at) = self.sections.iter().position(|section| section.name == name) {
            (self.at, self.again) = (at, said);
            return;
        }
        about.extend((!said.is_empty()).then_some(said));
        self.at = self.sections.len();
        self.sections.push(Section { name: name.to_owned(), many, about, rows: Vec::new() });
    }

    fn setting(&mut self, setting: (String, String, bool)) {
        let about = std::mem::take(&mut self.comment);
        if self.topic {
            // Settings at the top of the file stand under a title and in no table.
            self.topic = false;
            self.at = 0;
        }
        let again = std::mem::take(&mut self.again);
        let Some(section) = self.sections.get_mut(self.at) else { return };
        if section.has(&setting.0) {
            self.again = again;
            return;
        }
        match section.rows.last_mut().filter(|_| self.shared && about.is_empty()) {
            Some(row) => row.keys.push(setting),
            None => {
                let about = if about.is_empty() { again } else { about };
                section.rows.push(Row { keys: vec![setting], about });
            }
        }
        self.shared = true;
    }
}

/// The reference: a heading and a table for each section.
pub(crate) fn page(sections: &[Section]) -> String {
    let mut out = String::new();
    for section in sections {
        let heading = match (section.name.as_str(), section.many) {
            ("", _) => "### At the top of the file".to_owned(),
            (name, true) => format!("### `[[{name}]]`"),
            (name, false) => format!("### `[{name}]`"),
        };
        out.push_str(&format!("{heading}\n\n"));
        for about in &section.about {
            out.push_str(&format!("{}\n\n", escaped(about)));
        }
        if !section.rows.is_empty() {
            out.push_str("| setting | default | |\n|---|---|---|\n");
        }
        for row in &section.rows {
            let keys: Vec<String> = row.keys.iter().map(|(key, _, _)| format!("`{key}`")).collect();
            let values: Vec<String> =
                row.keys.iter().map(|(_, value, example)| shown(value, *example)).collect();
            let (keys, values) = (keys.join("<br>"), values.join("<br>"));
            out.push_str(&format!("| {keys} | {values} | {} |\n", escaped(&row.about)));
        }
        out.push('\n');
    }
    out
}

fn shown(value: &str, example: bool) -> String {
    let value = format!("`{}`", value.replace('|', "\\|"));
    if example { format!("*{value}*") } else { value }
}

/// Text whose characters mean nothing to Markdown outside of code spans.
fn escaped(text: &str) -> String {
    let escape = |text: &str| {
        text.replace("<br>", "\n")
            .replace('<', "&lt;")
            .replace('*', "\\*")
            .replace('|', "\\|")
            .replace('\n', "<br>")
    };
    let pieces = text.split('`').enumerate();
    let pieces = pieces.map(|(n, piece)| if n % 2 == 0 { escape(piece) } else { piece.replace('|', "\\|") });
    pieces.collect::<Vec<_>>().join("`")
}

#[test]
fn the_file_is_read_with_its_words() {
    let text = "# About the file.\n\n# ── Top ──\n# A folder.\n#data = \"d\"\n\n# ── More ──\n# Any number of them.\n\n[[listen]]\n\
                # Where:\n#   \"a\"    one\n#        way\n#   \"b\"  another\na = 1\nb = 2 # its own\nc = 3\n\n# With more.\n#[[listen]]\n\
                #a = 1\n#d = 4\n\n[upstreams.mine.tls]\n# First\n# second <x>.\ne = \"*|*\"\nf = 5\n";
    let want = "### At the top of the file\n\n| setting | default | |\n|---|---|---|\n| `data` | *`\"d\"`* | A folder. |\n\n\
                ### `[[listen]]`\n\nAny number of them.\n\n| setting | default | |\n|---|---|---|\n\
                | `a` | `1` | Where:<br>– \"a\": one way<br>– \"b\": another |\n| `b` | `2` | its own |\n| `c` | `3` |  |\n\
                | `d` | *`4`* | With more. |\n\n\
                ### `[upstreams.NAME.tls]`\n\n| setting | default | |\n|---|---|---|\n\
                | `e`<br>`f` | `\"*\\|*\"`<br>`5` | First second &lt;x>. |\n\n";
    assert_eq!(page(&sections(text)), want);
}
