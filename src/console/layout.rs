//! The frame around every page: navigation, who is signed in, and the one place that writes a document's head.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::api::scope::ConsoleRole;
use crate::console::assets;
use crate::console::session::Visitor;
use crate::console::visit::PageContext;

/// Where a section is, and what it is called.
#[derive(Clone, Copy)]
pub(super) struct SectionLink {
    pub(super) path: &'static str,
    pub(super) name: &'static str,
}

const GATE: &str = "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" stroke-linecap=\"round\"><path d=\"M4 21V10a8 8 0 0 1 16 0v11M4 21h16M9 21V6.5M15 21V6.5M4 14h16\"/></svg>";

/// The name of the program beside its mark.
pub(super) fn brand() -> Markup {
    html! { a.brand href="/" { (PreEscaped(GATE)) "Portcullis" } }
}

/// What a form sends along, so that it counts as one of ours.
pub(super) fn csrf(visitor: &Visitor) -> Markup {
    html! { input type="hidden" name="csrf" value=(visitor.csrf.expose()); }
}

/// A page within the frame; `here` is the path of its section.
pub(super) fn framed(page: &PageContext, links: &[SectionLink], here: &str, visitor: &Visitor) -> Markup {
    let frame = html! {
        a.skip href="#content" { "Skip to the content" }
        div.frame {
            header.side {
                (brand())
                nav aria-label="Sections" {
                    ul {
                        @for link in links {
                            li { a href=(link.path) aria-current=[(link.path == here).then_some("page")] { (link.name) } }
                        }
                    }
                }
                div.who {
                    span { "Signed in as " b { (visitor.who.name()) } @if visitor.role == ConsoleRole::Viewer { ", who may look" } }
                    form.inline method="post" action="/sign-out" { (csrf(visitor)) button.small { "Sign out" } }
                }
            }
            main #content tabindex="-1" { (page.content) }
        }
    };
    let scripts = std::iter::once(&"console.js").chain(page.scripts);
    document(&page.title, visitor.csrf.expose(), scripts, &frame)
}

/// A page without the frame, for whoever has not signed in.
pub(super) fn bare(title: &str, content: &Markup, scripts: &[&'static str]) -> Markup {
    document(title, "", scripts.iter(), content)
}

fn document<'s>(
    title: &str,
    csrf: &str,
    scripts: impl Iterator<Item = &'s &'static str>,
    body: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if !csrf.is_empty() { meta name="csrf" content=(csrf); }
                title { (title) " · Portcullis" }
                link rel="icon" href=(assets::url("icon.svg"));
                link rel="stylesheet" href=(assets::url("console.css"));
                @for script in scripts { script src=(assets::url(script)) defer {} }
            }
            body { (body) }
        }
    }
}
