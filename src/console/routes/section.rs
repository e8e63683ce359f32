//! [`RoutePages`]: a page of all routes.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use maud::{Markup, html};

use crate::config::Config;
use crate::config::settings::Route;
use crate::console::routes::words;
use crate::console::running::RunningConfig;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};

/// The section of the routes.
pub(in crate::console) struct RoutePages {
    /// What runs.
    pub(in crate::console) running: Arc<RunningConfig>,
}

impl Section for RoutePages {
    fn path(&self) -> &'static str {
        "/routes"
    }

    fn name(&self) -> &'static str {
        "Routes"
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        let reply = match (visit.asked, visit.rest, self.running.config()) {
            (PageRequest::Show, "", Some(config)) => {
                PageReply::Page(PageContext::plain("Routes", all(&config)))
            }
            _ => PageReply::NotFound,
        };
        Box::pin(async move { reply })
    }
}

fn all(config: &Config) -> Markup {
    html! {
        header {
            div {
                h1 { "Routes" }
                p { "What becomes of requests and answers, by the route that they take. A request takes the first route that fits." }
            }
        }
        @if config.routes.is_empty() { p.note { "There are no routes: only the gateway's own API is served." } }
        @for (number, route) in config.routes.iter().enumerate() { (one(config, route, number)) }
    }
}

fn one(config: &Config, route: &Route, number: usize) -> Markup {
    let name = route.name.as_str();
    let rules: String = form_urlencoded::Serializer::new(String::new()).append_pair("route", name).finish();
    let selection = words::looks_for(route, &config.catalogue);
    let count = selection.iter().flat_map(|selection| selection.iter()).count();
    html! {
        section.card aria-labelledby={ "route-" (number) } id=(name) {
            header {
                h2 id={ "route-" (number) } { (name) }
                @if route.redact.is_some() && count > 0 { span.tag.good { "✓ " (count) " rules on" } }
                @else { span.tag.look { "! passes everything" } }
                @if route.redact.is_some() { a.small href={ "/playground?" (rules) } { "Try a text" } }
            }
            dl.facts {
                dt { "Clients call" } dd { code { (words::called_at(config, route)) } }
                dt { "It leads to" } dd { (words::leads_to(config, route)) }
                dt { "Who may call" } dd { (words::callers(route)) }
                @match &route.redact {
                    None => { dt { "Bodies" } dd { "They pass as they are: the route has no " code { "redact" } "." } }
                    Some(redact) => {
                        dt { "Upstream sees" } dd { (words::goes_out(redact)) }
                        dt { "Caller gets" } dd { (words::comes_back(redact)) }
                        dt { "Looked for" }
                        dd { a href={ "/rules?" (rules) } { (words::rules(redact, count)) } }
                        @if !redact.methods.is_empty() { dt { "Otherwise" } dd { (words::own_methods(redact).join("; ")) } }
                    }
                }
            }
            @if route.redact.is_some() {
                details {
                    summary { "To switch off a rule here" }
                    p {
                        "In this route's part of the file, which is read again some seconds after it is saved: where it says "
                        code { "redact = { … }" } ", in those braces; where it has a table, below that. Where it lists " code { "rules" } ", take it out there."
                    }
                    pre tabindex="0" { "redact = { without = [\"PERSON\"] }\n\n# or\n[routes.redact]\nwithout = [\"PERSON\"]" }
                }
            }
        }
    }
}
