//! The page: places for charts and requests, which its script fills. What is not counted is said.

use maud::{Markup, html};

use crate::config::Config;
use crate::config::settings::CountedRequests;
use crate::console::live::window::RANGES;

/// A chart.
struct Chart {
    title: &'static str,
    hint: &'static str,
    /// Whose figures it draws: names of groups, with spaces between.
    groups: &'static str,
    /// What they are in: `rate`, `seconds`, `bytes`, `money`, `cores` or `count`.
    unit: &'static str,
    /// Whether it is left out as long as there is nothing to draw.
    rare: bool,
}

const fn chart(title: &'static str, hint: &'static str, groups: &'static str, unit: &'static str) -> Chart {
    Chart { title, hint, groups, unit, rare: false }
}

const fn rare(title: &'static str, hint: &'static str, groups: &'static str, unit: &'static str) -> Chart {
    Chart { title, hint, groups, unit, rare: true }
}

const TRAFFIC: &[Chart] = &[
    chart("Requests by route", "finished, a second", "route", "rate"),
    chart("Requests by status", "finished, a second", "status", "rate"),
    chart("Requests by protocol", "of those that speak to a model", "protocol", "rate"),
    chart("Turned away", "refused or failed, by reason", "fault", "rate"),
    rare("Overload and budgets", "connections and requests, by reason and budget", "refused budget", "rate"),
];

const FINDINGS: &[Chart] = &[
    chart("Findings by action", "on routes with one action for a rule", "action", "rate"),
    rare("Bodies that passed unseen", "by route, as its policy allows", "unseen", "rate"),
];

const TIMES: &[Chart] = &[
    chart("Latency", "first byte of the request to last of the answer", "latency", "seconds"),
    chart("Time to first token", "to the first byte of a model's answer", "first_byte", "seconds"),
    chart("p95 by route", "95 % of requests took less", "route_p95", "seconds"),
    chart("Text held back in streams", "until it is decided", "held_back", "bytes"),
];

const MODELS: &[Chart] = &[
    chart("Model tokens", "read and written by models, a second", "tokens", "rate"),
    chart("Cost by route", "US dollars, as an hour of this would be", "cost", "money"),
];

const UPSTREAMS: &[Chart] = &[
    chart("Attempts", "by upstream, a second", "attempts", "rate"),
    chart("Failures", "attempts that failed, and requests not sent", "failures unsent", "rate"),
    chart("Time to the answer's head", "95th percentile, by upstream", "upstream_p95", "seconds"),
];

const PROCESS: &[Chart] = &[
    chart("Under way", "requests, and connections by state", "in_flight connections", "count"),
    chart("Memory", "bodies held, and all that is resident", "held resident", "bytes"),
    chart("CPU", "of one core", "cpu", "cores"),
    chart("Waiting for a thread", "works on bodies", "waiting", "count"),
    chart("Store", "95th percentile, by what it is asked", "store", "seconds"),
    rare("What the store could not do", "a second", "store_errors", "rate"),
    rare("Names model", "tokens new to it, and those from its cache", "names", "rate"),
];

/// The page, as this configuration counts.
pub(super) fn page(config: Option<&Config>) -> Markup {
    html! {
        header {
            div {
                h1 { "Live" }
                p {
                    "What becomes of personal data and secrets on each route stands at " a href="/routes" { "Routes" } ". "
                    "Below are counts, names and times of the last hour's requests, never their text."
                }
            }
            div.row.state {
                span.quiet #state { "…" }
                button #pause type="button" aria-pressed="false" { "Pause" }
            }
        }
        noscript { p.note.look { "Charts and requests are drawn by a script of this console. The same figures are at " code { "/metrics" } "." } }
        p.unseen #said aria-live="polite" {}
        div.health #health role="status" { p { "…" } }
        (tiles())
        (charts("traffic", "Traffic", TRAFFIC, &html! {}, &html! {}))
        (requests())
        (charts("findings", "Findings", FINDINGS, &html! {}, &rules()))
        (charts("times", "Times", TIMES, &html! {}, &html! {}))
        (charts("models", "Models", MODELS, &counted(config), &html! {}))
        (charts("upstreams", "Upstreams", UPSTREAMS, &upstreams(), &html! {}))
        (charts("process", "This node", PROCESS, &node(), &html! {}))
    }
}

fn tiles() -> Markup {
    let tiles = [
        ("requests", "Requests"),
        ("errors", "Errors (5xx)"),
        ("latency", "Latency, p95"),
        ("first", "First token, p95"),
        ("findings", "Findings"),
        ("tokens", "Model tokens"),
        ("cost", "Cost"),
        ("way", "Under way now"),
    ];
    html! {
        section.card.tiles aria-label="Figures over a range of time" {
            div.field {
                label.quiet for="range" { "Over the last" }
                select #range {
                    @for (samples, name) in RANGES { option value=(samples) selected[samples == 180] { (name) } }
                }
            }
            @for (id, name) in tiles {
                div.figure { span.quiet.small { (name) } b id={ "tile-" (id) } { "–" } span.quiet.small id={ "more-" (id) } {} }
            }
        }
    }
}

/// A section: what stands above its charts, and a card that stands first among them.
fn charts(id: &str, title: &str, charts: &[Chart], more: &Markup, first: &Markup) -> Markup {
    html! {
        section.charts aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (more)
            div.grid {
                (first)
                @for chart in charts {
                    figure.card.chart data-groups=(chart.groups) data-unit=(chart.unit) hidden[chart.rare] {
                        figcaption { h3 { (chart.title) } span.hint { (chart.hint) } }
                    }
                }
            }
        }
    }
}

/// What is not counted, and how it would be.
fn counted(config: Option<&Config>) -> Markup {
    let Some(usage) = config.map(|config| &config.usage) else { return html! {} };
    html! {
        @if usage.count == CountedRequests::Bounded {
            p.note {
                "Tokens and cost are counted only for requests that a budget bounds, or a token that is narrowed to models: all others are missing here. "
                code { "count = \"all\"" } " under " code { "[usage]" } " counts all."
            }
        }
        @if usage.prices.is_empty() {
            p.note { "No model has a price, so nothing has a cost: see " code { "[[usage.prices]]" } "." }
        }
        p.hint { "What is left of the budgets of tokens stands at " a href="/tokens" { "Tokens" } "." }
    }
}

fn upstreams() -> Markup {
    html! {
        div.card {
            p.quiet #no-upstreams { "No upstream is in use." }
            div.scroll tabindex="0" role="group" aria-label="Upstreams" {
                table #upstream-states hidden {
                    thead { tr { th { "Upstream" } th { "State" } th.number { "Attempts" } th.number { "Failed" } th { "Breaker" } th.number { "Healthy peers" } th.number { "Failing checks" } th.number { "Ejected" } th.number { "Under way" } } }
                    tbody {}
                }
            }
            p.hint { "Attempts and failures are of the last five minutes. An upstream that is called down, is full or has an open breaker is not tried." }
        }
    }
}

fn rules() -> Markup {
    html! {
        div.card.chart.ranked {
            div.caption { h3 { "Findings by rule" } span.hint { "values found over the chosen range, both ways" } }
            p.quiet.small #no-findings { "Nothing within this time." }
            table.bars #rule-counts hidden {
                thead { tr { th { "Rule" } th.number { "Count" } th.number { "Share" } } }
                tbody {}
            }
        }
    }
}

fn node() -> Markup {
    let facts = [
        ("version", "Version"),
        ("uptime", "Up since"),
        ("held", "Memory limit for bodies"),
        ("callers", "Tokens in use"),
        ("shared", "Limits shared with other nodes"),
    ];
    html! {
        div.card {
            dl.facts { @for (id, name) in facts { dt { (name) } dd id={ "fact-" (id) } { "–" } } }
            p.hint { "Figures are of this process alone. Each node has a console of its own." }
        }
    }
}

fn requests() -> Markup {
    html! {
        section.charts aria-labelledby="requests" {
            h2 #requests { "Requests" }
            div.card {
                div.row #filters {
                    div.field { label for="by-route" { "Route" } select #by-route { option value="" { "all" } } }
                    div.field {
                        label for="by-status" { "Status" }
                        select #by-status {
                            option value="" { "all" }
                            @for class in ["2xx", "3xx", "4xx", "5xx"] { option value=(class.get(..1).unwrap_or_default()) { (class) } }
                            option value="0" { "none: the caller left" }
                        }
                    }
                    div.checks {
                        label { input #by-errors type="checkbox"; "errors only" }
                        label { input #by-findings type="checkbox"; "with findings" }
                    }
                    span.quiet.small #newer {}
                }
                p.quiet #no-requests { "No request yet." }
                div.scroll.tall tabindex="0" role="group" aria-labelledby="requests" {
                    table #recent hidden {
                        thead {
                            tr {
                                th { "Time" } th { "Decision" } th.number { "Status" } th { "Route" } th { "Model" } th { "Protocol" }
                                th { "Findings" } th.number { "Model tokens" } th.number { "First byte" } th.number { "Took" }
                            }
                        }
                        tbody {}
                    }
                }
                div.row {
                    button.small #more type="button" hidden { "More" }
                    span.quiet.small #count {}
                }
                p.hint { "The last 300 that the access log would show, newest first; probes and this console are not among them. A row opens what is known of its request." }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::live::group::{Figure, GROUPS};

    #[test]
    fn every_group_is_drawn_once_in_a_unit_that_fits() {
        let all: Vec<&Chart> =
            [TRAFFIC, FINDINGS, TIMES, MODELS, UPSTREAMS, PROCESS].into_iter().flatten().collect();
        let drawn = all.iter().flat_map(|chart| chart.groups.split(' '));
        // Findings by rule are a list.
        let mut drawn: Vec<&str> = drawn.chain(["rule"]).collect();
        let mut known: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
        drawn.sort_unstable();
        known.sort_unstable();
        assert_eq!(drawn, known);
        for chart in all {
            for group in GROUPS.iter().filter(|group| chart.groups.split(' ').any(|name| name == group.name))
            {
                let fits: &[&str] = match group.figure {
                    Figure::Rate => &["rate", "money", "cores"],
                    Figure::Level => &["count", "bytes"],
                    Figure::Percentiles | Figure::P95 => &["seconds", "bytes"],
                };
                assert!(fits.contains(&chart.unit), "{}", group.name);
            }
        }
    }

    #[test]
    fn nothing_on_the_page_has_a_style_or_a_script_of_its_own() {
        let shown = page(None).into_string();
        for forbidden in ["style=", "<script", "<style", " onclick"] {
            assert!(!shown.contains(forbidden), "{forbidden}");
        }
    }
}
