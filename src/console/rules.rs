//! The rules that run: what each looks for, what it takes for a value and what not, and a way to try it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use maud::{Markup, html};

use crate::config::Config;
use crate::console::routes::looks_for;
use crate::console::running::RunningConfig;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::detect::{Rule, RuleSet};

/// Rules on a page.
const PAGE: usize = 100;

/// The section of the rules.
pub(super) struct RulePages {
    /// What runs.
    pub(super) running: Arc<RunningConfig>,
}

impl RulePages {
    fn show(&self, visit: &Visit<'_>) -> PageReply {
        let Some(config) = self.running.config() else { return PageReply::NotFound };
        match visit.rest {
            "" => PageReply::Page(PageContext::plain("Rules", all(&config, visit))),
            name => match config.catalogue.find(name).and_then(|id| config.catalogue.rule(id)) {
                Some(rule) => PageReply::Page(PageContext::plain(
                    rule.name().to_owned(),
                    one(rule, &ActiveRoutes::of(&config)),
                )),
                None => PageReply::NotFound,
            },
        }
    }
}

impl Section for RulePages {
    fn path(&self) -> &'static str {
        "/rules"
    }

    fn name(&self) -> &'static str {
        "Rules"
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        let reply = match visit.asked {
            PageRequest::Show => self.show(&visit),
            PageRequest::Do => PageReply::NotFound,
        };
        Box::pin(async move { reply })
    }
}

/// Whether a rule has all of these words in what is said of it.
fn has(rule: &Rule, words: &[String]) -> bool {
    let said = [rule.name(), rule.description(), rule.family().name(), rule.category().name(), rule.region()];
    let said = said.join(" ").to_lowercase();
    words.iter().all(|word| said.contains(word.as_str()))
}

fn all(config: &Config, visit: &Visit<'_>) -> Markup {
    let (wanted, set) = (visit.query.text("q"), visit.query.text("set"));
    let from: usize = visit.query.text("from").parse().unwrap_or(0);
    let words: Vec<String> = wanted.split_whitespace().map(str::to_lowercase).collect();
    let in_set = RuleSet::named(if set.is_empty() { "all" } else { set });
    let here = ActiveRoutes::of(config);
    let route = visit.query.text("route");
    let found: Vec<&Rule> = config
        .catalogue
        .rules()
        .filter(|rule| in_set.is_some_and(|set| set.has(rule)) && has(rule, &words))
        .filter(|rule| route.is_empty() || here.routes(rule).contains(&route))
        .collect();
    let page: Vec<&Rule> = found.iter().skip(from).take(PAGE).copied().collect();
    let link = |from: usize| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("q", wanted).append_pair("set", set).append_pair("route", route);
        query.append_pair("from", &from.to_string());
        format!("/rules?{}", query.finish())
    };
    html! {
        header { div { h1 { "Rules" } p { "What is looked for. A value counts from a rule's threshold on; words near it help or speak against." } } }
        section.card aria-label="Rules" {
            form method="get" action="/rules" role="search" {
                div.row {
                    div.field { label for="q" { "Words" } input #q name="q" value=(wanted) placeholder="passport, aws, us"; }
                    div.field {
                        label for="set" { "Set" }
                        select #set name="set" {
                            option value="" { "all" }
                            @for known in RuleSet::all().iter().filter(|known| known.name() != "all") {
                                option value=(known.name()) selected[known.name() == set] { (known.name()) }
                            }
                        }
                    }
                    @if !here.0.is_empty() {
                        div.field {
                            label for="route" { "On route" }
                            select #route name="route" {
                                option value="" { "any or none" }
                                @for (name, _) in &here.0 { option value=(name) selected[name.as_str() == route] { (name) } }
                            }
                        }
                    }
                    button.first { "Find" }
                    span.quiet role="status" { (found.len()) " of " (config.catalogue.rules().count()) }
                }
            }
            div.scroll tabindex="0" role="group" aria-label="Rules found" {
                table.stack {
                    thead { tr { th { "Name" } th { "What" } th { "Family" } th { "Region" } th { "Severity" } th.number { "From" } th { "By default" } th { "On here" } } }
                    tbody { @for rule in page { (row(rule, &here)) } }
                }
            }
            div.row {
                @if from > 0 { a.button href=(link(from.saturating_sub(PAGE))) { "Before" } }
                @if from + PAGE < found.len() { a.button href=(link(from + PAGE)) { "More" } }
            }
        }
    }
}

/// The routes that look for anything, each with the rules it looks for.
struct ActiveRoutes(Vec<(String, Vec<String>)>);

impl ActiveRoutes {
    fn of(config: &Config) -> Self {
        let routes = config.routes.iter().filter_map(|route| {
            let selection = looks_for(route, &config.catalogue)?;
            let names = selection.iter().filter_map(|id| config.catalogue.rule(id));
            Some((route.name.to_string(), names.map(|rule| rule.name().to_owned()).collect()))
        });
        Self(routes.collect())
    }

    /// Those that look for a rule.
    fn routes(&self, rule: &Rule) -> Vec<&str> {
        let on = self.0.iter().filter(|(_, rules)| rules.iter().any(|name| name == rule.name()));
        on.map(|(route, _)| route.as_str()).collect()
    }
}

fn row(rule: &Rule, here: &ActiveRoutes) -> Markup {
    html! {
        tr {
            td { a.mono href={ "/rules/" (rule.name()) } { (rule.name()) } }
            td { (rule.description()) }
            td data-label="Family" { (rule.family().name()) }
            td data-label=[(!rule.region().is_empty()).then_some("Region")] { (rule.region()) }
            td data-label="Severity" { (rule.severity().name()) }
            td.number data-label="From" { (score(rule.threshold())) }
            td data-label="By default" { @if rule.default_on() { "on" } @else { span.quiet { "off" } } }
            td data-label="On here" { (on_routes(here, rule)) }
        }
    }
}

/// On which routes a rule is on, in few words.
fn on_routes(here: &ActiveRoutes, rule: &Rule) -> Markup {
    let on = here.routes(rule);
    html! {
        @match (on.len(), here.0.len()) {
            (_, 0) => { span.quiet { "no route looks for anything" } }
            (0, _) => { span.quiet { "off" } }
            (some, all) if some == all => { "on every route" }
            _ => { (on.join(", ")) }
        }
    }
}

/// Two decimals: a score says no more than that.
fn score(value: f32) -> String {
    format!("{value:.2}")
}

fn one(rule: &Rule, here: &ActiveRoutes) -> Markup {
    html! {
        header {
            div { h1.mono { (rule.name()) } p { (rule.description()) } p { a href="/rules" { "All rules" } } }
            a.button href={ "/playground?rule=" (rule.name()) } { "Try it" }
        }
        section.card aria-labelledby="facts" {
            h2 #facts { "What it is" }
            dl.facts {
                dt { "Family" } dd { (rule.family().name()) }
                dt { "Category" } dd { (rule.category().name()) }
                @if !rule.region().is_empty() { dt { "Region" } dd { (rule.region()) } }
                dt { "Severity" } dd { (rule.severity().name()) }
                dt { "By default" } dd { @if rule.default_on() { "on" } @else { "off" } }
                dt { "On here" } dd { (on_routes(here, rule)) ", " a href="/routes" { "what they do" } }
                dt { "Score" } dd { (score(rule.score)) ", counts from " (score(rule.threshold())) }
                @if let Some(check) = &rule.check { dt { "Check" } dd { code { (check) } } }
                @if !rule.source().is_empty() { dt { "Source" } dd { (rule.source()) } }
            }
        }
        (patterns(rule))
        (context(rule))
        section.card aria-labelledby="pass" {
            header { h2 #pass { "To let a value pass" } button.small type="button" data-copy="allow" { "Copy" } }
            p {
                "Say so in the configuration, which is read again some seconds after it is saved. "
                a href={ "/playground?rule=" (rule.name()) } { "Try it with a text" } " or "
                a href="/docs/detection#values-that-may-pass" { "read more of that" } "."
            }
            pre #allow tabindex="0" { "[[detect.allow]]\nvalues = [\"a value that is nobody's\"]\nrules = [\"" (rule.name()) "\"]" }
        }
        section.card aria-labelledby="off" {
            h2 #off { "To switch it off, or on, along a route" }
            p { "Name it in the table " code { "redact" } " of the route." }
            pre tabindex="0" { @if rule.default_on() { "without" } @else { "with" } " = [\"" (rule.name()) "\"]" }
        }
        section.pair aria-label="Examples" {
            (examples("Taken for a value", &rule.matches, marked))
            (examples("Not taken for a value", &rule.misses, |text| html! { (text) }))
        }
    }
}

fn patterns(rule: &Rule) -> Markup {
    html! {
        @if !rule.patterns.is_empty() || !rule.prefixes.is_empty() {
            section.card aria-labelledby="patterns" {
                h2 #patterns { "Patterns" }
                @if !rule.prefixes.is_empty() { p { "Begins with " code { (rule.prefixes.join("  ")) } } }
                @for pattern in &rule.patterns {
                    pre tabindex="0" { (pattern.regex) }
                    p.quiet {
                        @if let Some(value) = pattern.score { "Score " (score(value)) ". " }
                        @if let Some(check) = &pattern.check { "Proved by " code { (check) } "." }
                    }
                }
            }
        }
    }
}

fn context(rule: &Rule) -> Markup {
    html! {
        @if !rule.context.is_empty() {
            section.card aria-labelledby="words" {
                h2 #words { "Words near it" }
                p.quiet { "By language: a word before or after a value adds to its score, a word against it takes off." }
                dl.facts {
                    @for (language, words) in &rule.context {
                        @for (side, words) in [("before", &words.before), ("after", &words.after), ("against", &words.negative)] {
                            @if !words.is_empty() { dt { (language) ", " (side) } dd { (words.join(", ")) } }
                        }
                    }
                }
            }
        }
    }
}

/// An example with its value marked.
fn marked(example: &str) -> Markup {
    html! {
        @match Rule::marked(example) {
            Some((head, value, tail)) => { (head) mark { (value) } (tail) }
            None => { (example) }
        }
    }
}

fn examples(title: &str, texts: &[String], shown: fn(&str) -> Markup) -> Markup {
    html! {
        div.card {
            h2 { (title) }
            @if texts.is_empty() { p.quiet { "No examples." } }
            @else { ul { @for text in texts { li { code { (shown(text)) } } } } }
        }
    }
}
