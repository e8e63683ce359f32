//! The documentation, as it is in this program: always that of the version that runs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::console::address::address;
use crate::console::running::RunningConfig;
use crate::console::visit::{PageContext, PageReply, Section, Visit};

/// One page: its name in URLs, and its text.
struct Chapter {
    name: &'static str,
    title: &'static str,
    text: &'static str,
}

macro_rules! chapters {
    ($($name:literal $title:literal,)*) => {
        const CHAPTERS: &[Chapter] = &[
            $(Chapter { name: $name, title: $title, text: include_str!(concat!("../../docs/", $name, ".md")) },)*
        ];
    };
}

chapters! {
    "llm" "LLM APIs",
    "detection" "Detection",
    "console" "The console",
    "teams" "Teams",
    "api" "The API",
    "files" "Files",
    "keys" "Keys",
    "operations" "Operations",
    "metrics" "Metrics",
    "configuration" "Every setting",
    "architecture" "Architecture",
    "benchmarks" "Benchmarks",
}

/// The address that the pages' examples have.
const EXAMPLE: &str = "http://127.0.0.1:8080";

/// The section of the documentation.
pub(super) struct Docs {
    /// What runs: examples have its address.
    pub(super) running: Arc<RunningConfig>,
}

impl Section for Docs {
    fn path(&self) -> &'static str {
        "/docs"
    }

    fn name(&self) -> &'static str {
        "Docs"
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        let name = if visit.rest.is_empty() { "llm" } else { visit.rest };
        let reply = CHAPTERS
            .iter()
            .find(|chapter| chapter.name == name)
            .map(|chapter| PageReply::Page(PageContext::plain(chapter.title, self.page(chapter))));
        Box::pin(async move { reply.unwrap_or(PageReply::NotFound) })
    }
}

impl Docs {
    fn page(&self, chapter: &Chapter) -> Markup {
        let here = self.running.config().map(|config| address(&config));
        let text = chapter.text.replace(EXAMPLE, here.as_deref().unwrap_or(EXAMPLE));
        html! {
            nav aria-label="Chapters" {
                div.tabs {
                    @for other in CHAPTERS {
                        a.button href={ "/docs/" (other.name) } aria-current=[(other.name == chapter.name).then_some("page")] { (other.title) }
                    }
                }
            }
            p.quiet { "Addresses of the gateway in examples are this one's. What stands for each of its routes is on " a href="/routes" { "Routes" } "." }
            article.prose { (rendered(&text)) }
        }
    }
}

/// Markdown as HTML: without markup of its own, and with links that lead to what there is here.
fn rendered(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES;
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut heading: Option<(usize, String)> = None;
    let mut unlinked = 0;
    for event in Parser::new_ext(text, options) {
        let event = match event {
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Start(Tag::HtmlBlock)
            | Event::End(TagEnd::HtmlBlock) => continue,
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => match target(&dest_url) {
                Some(dest_url) => Event::Start(Tag::Link { link_type, dest_url: dest_url.into(), title, id }),
                None => {
                    unlinked += 1;
                    continue;
                }
            },
            Event::End(TagEnd::Link) if unlinked > 0 => {
                unlinked -= 1;
                continue;
            }
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => continue,
            Event::Start(Tag::Heading { .. }) => {
                heading = Some((events.len(), String::new()));
                event
            }
            Event::Text(ref words) | Event::Code(ref words) => {
                if let Some((_, known)) = &mut heading {
                    known.push_str(words);
                }
                event
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some((at, words)) = heading.take() {
                    named(&mut events, at, level, &words);
                }
                event
            }
            event => event,
        };
        events.push(event);
    }
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events.into_iter());
    // What can be scrolled can be reached; a head without words is none.
    let reached = html.replace("<pre>", "<pre tabindex=\"0\">").replace("<table>", "<table tabindex=\"0\">");
    PreEscaped(reached.replace("<th></th>", "<td></td>"))
}

fn named(events: &mut [Event<'_>], at: usize, level: HeadingLevel, words: &str) {
    if let Some(event) = events.get_mut(at) {
        let id = Some(CowStr::from(anchor(words)));
        *event = Event::Start(Tag::Heading { level, id, classes: Vec::new(), attrs: Vec::new() });
    }
}

/// What links to a heading name it by.
fn anchor(words: &str) -> String {
    let kept = words.to_lowercase();
    kept.chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
            _ => None,
        })
        .collect()
}

/// Where a link of the documentation leads here; `None` where it leads to files of the source.
fn target(link: &str) -> Option<String> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, rest) =
        link.split_once('#').map_or((link, String::new()), |(file, anchor)| (file, format!("#{anchor}")));
    let name = file.strip_suffix(".md")?;
    CHAPTERS.iter().any(|chapter| chapter.name == name).then(|| format!("/docs/{name}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chapter_of_the_folder_is_there() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).unwrap();
        let files = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> =
            files.filter_map(|file| file.strip_suffix(".md").map(str::to_owned)).collect();
        let mut known: Vec<&str> = CHAPTERS.iter().map(|chapter| chapter.name).collect();
        files.sort();
        known.sort_unstable();
        assert_eq!(files, known);
    }

    #[test]
    fn links_lead_to_headings_that_are_there_and_nothing_is_markup_but_ours() {
        for chapter in CHAPTERS {
            let html = rendered(chapter.text).into_string();
            assert!(!html.contains("<!--") && !html.contains("<script"), "{}", chapter.name);
            for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
                let name = page.strip_prefix("/docs/").unwrap_or(chapter.name);
                let Some(other) = CHAPTERS.iter().find(|other| other.name == name) else { continue };
                let there = anchor.is_empty()
                    || rendered(other.text).into_string().contains(&format!("id=\"{anchor}\""));
                assert!(there, "{}: {link}", chapter.name);
            }
        }
    }

    #[test]
    fn markup_in_texts_is_shown() {
        let html =
            rendered("a <script>alert(1)</script> `<b>`\n\n[x](javascript:alert(1)) [y](../src/lib.rs)")
                .into_string();
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("href"), "{html}");
    }
}
