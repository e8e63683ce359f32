//! A page of Markdown, as far as its readers' tests need it: prose, blocks of code, headings, links and comments.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

use crate::source::{files, regex, root, shown};

/// A page.
pub(crate) struct Page {
    /// Where, from the crate's root.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
}

/// A fenced block of code.
pub(crate) struct Block {
    /// The line of its fence.
    pub(crate) line: usize,
    /// The word behind the fence.
    pub(crate) language: String,
    /// What is in it.
    pub(crate) text: String,
}

/// What is under one heading, up to the next.
pub(crate) struct SectionOfPage {
    /// The heading's line.
    pub(crate) line: usize,
    /// The tests that are named in its comments.
    pub(crate) tests: Vec<String>,
}

/// A file's text, by its path from the crate's root.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// The README and all of `docs`.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = vec!["README.md".to_owned()];
    paths.extend(files("docs", &[".md"]).iter().map(|path| shown(path)));
    assert!(paths.len() > 1, "there are no pages in docs");
    paths.into_iter().map(|path| Page { text: read(&path), path }).collect()
}

/// A code span that is a path of this repository.
pub(crate) fn named_paths() -> Regex {
    regex(r"^(src|tests|conf|examples|docs)/[A-Za-z0-9_./-]+$")
}

impl Page {
    /// Numbered lines outside of blocks of code.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut inside = false;
        self.text.lines().enumerate().filter_map(move |(n, line)| {
            let fence = line.starts_with("```");
            inside ^= fence;
            (!inside && !fence).then_some((n + 1, line))
        })
    }

    /// Blocks of code.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut inside = false;
        for (n, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), blocks.last_mut()) {
                (Some(language), _) if !inside => {
                    blocks.push(Block { line: n + 1, language: language.to_owned(), text: String::new() });
                    inside = true;
                }
                (Some(_), _) => inside = false,
                (None, Some(block)) if inside => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                _ => {}
            }
        }
        blocks
    }

    /// Code spans of the prose, comments left out, each with its line.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (usize, &str)> {
        self.prose().filter(|(_, line)| !line.starts_with("<!--")).flat_map(|(n, line)| {
            line.split('`').enumerate().filter(|(at, _)| at % 2 == 1).map(move |(_, span)| (n, span))
        })
    }

    /// Targets of links that stay in the repository, each with its line.
    pub(crate) fn links(&self) -> Vec<(usize, String)> {
        let (span, link) = (regex("`[^`]*`"), regex(r"\]\(([^)\s]+)\)"));
        let mut found = Vec::new();
        for (n, line) in self.prose() {
            for link in link.captures_iter(&span.replace_all(line, "")) {
                let target = link.get(1).map(|target| target.as_str().to_owned()).unwrap_or_default();
                if !target.starts_with("http") {
                    found.push((n, target));
                }
            }
        }
        found
    }

    /// A link's file from the crate's root: this page's own for none.
    pub(crate) fn resolve(&self, file: &str) -> String {
        if file.is_empty() {
            return self.path.clone();
        }
        let mut parts: Vec<&str> = self.path.split('/').collect();
        parts.pop();
        for part in file.split('/') {
            match part {
                ".." => drop(parts.pop()),
                "." => {}
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// Headings, with line and level.
    fn headings(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        self.prose().filter_map(|(n, line)| {
            let text = line.trim_start_matches('#');
            let level = line.len() - text.len();
            (level > 0 && text.starts_with(' ')).then(|| (n, level, text.trim()))
        })
    }

    /// What links may name behind a `#`, as GitHub makes them of headings.
    pub(crate) fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for (_, _, heading) in self.headings() {
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
            let slug: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
            let again = (1..).map(|n| format!("{slug}-{n}"));
            let free = std::iter::once(slug.clone()).chain(again).find(|slug| !anchors.contains(slug));
            anchors.extend(free);
        }
        anchors
    }

    /// The sections below the page's title that say something, but for those that are made from the code; and what
    /// stands before them, if it names tests.
    pub(crate) fn sections(&self) -> Vec<SectionOfPage> {
        let test = regex("<!-- test: (.*) -->");
        let headings: BTreeSet<usize> =
            self.headings().filter(|(_, level, _)| *level > 1).map(|(n, _, _)| n).collect();
        let (mut sections, mut made, mut says) = (Vec::new(), false, false);
        let mut section = SectionOfPage { line: 0, tests: Vec::new() };
        for (n, line) in self.prose() {
            made = (made || line.starts_with("<!-- made: ")) && !line.starts_with("<!-- end -->");
            if headings.contains(&n) && !made {
                let next = SectionOfPage { line: n, tests: Vec::new() };
                let last = std::mem::replace(&mut section, next);
                if !last.tests.is_empty() || (says && last.line > 0) {
                    sections.push(last);
                }
                says = false;
                continue;
            }
            let named = test.captures(line).and_then(|found| found.get(1));
            section
                .tests
                .extend(named.into_iter().flat_map(|tests| tests.as_str().split(", ")).map(str::to_owned));
            says |= !line.is_empty() && !line.starts_with("<!--");
        }
        if says {
            sections.push(section);
        }
        sections
    }
}

#[test]
fn a_page_is_read_as_markdown() {
    let text = "# T\n\nIn [a `b](c)` d](x.md#y-z).\n\n## `[a.b]` and, C\n\nSays `d`.\n<!-- test: e, f::g -->\n\n## A\n\n\
                ```sh\n# no heading\n[a](b)\n```\n## A\nsays\n";
    let page = Page { path: "pages/p.md".to_owned(), text: text.to_owned() };
    assert_eq!(page.links(), [(3, "x.md#y-z".to_owned())]);
    assert_eq!(page.resolve("../src/x"), "src/x");
    assert_eq!(page.anchors().into_iter().collect::<Vec<_>>(), ["a", "a-1", "ab-and-c", "t"]);
    let sections: Vec<(usize, usize)> =
        page.sections().iter().map(|section| (section.line, section.tests.len())).collect();
    assert_eq!(sections, [(5, 2), (16, 0)]);
    let blocks = page.blocks();
    assert_eq!(blocks.len(), 1);
    assert!(blocks.iter().all(|block| block.language == "sh" && block.text == "# no heading\n[a](b)\n"));
}
