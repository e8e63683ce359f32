//! The page. What is on it moves by a script; without one there is nothing to see here, and it says so.

use maud::{Markup, html};

use crate::console::playground::examples;
use crate::console::playground::route::ChatsRoute;
use crate::detect::{Rule, RuleSet};

/// What of the gateway the page says.
pub(super) struct GatewaySummary {
    /// Where callers reach it.
    pub(super) api: String,
    /// Where chats go to.
    pub(super) chats: ChatsRoute,
    /// The routes that look through what passes.
    pub(super) routes: Vec<String>,
    /// The one that somebody came to try; empty: none.
    pub(super) route: String,
    /// Whether a names model reads.
    pub(super) has_model: bool,
    /// The rule that somebody came to try.
    pub(super) rule: Option<RuleToTry>,
}

/// A rule that is tried alone.
pub(super) struct RuleToTry {
    name: String,
    /// What it takes for a value, and what not.
    text: String,
}

impl RuleToTry {
    pub(super) fn of(rule: &Rule) -> Self {
        let values = rule.matches.iter().take(5).map(|example| match Rule::marked(example) {
            Some((head, value, tail)) => [head, value, tail].concat(),
            None => example.clone(),
        });
        let lines: Vec<String> = values.chain(rule.misses.iter().take(5).cloned()).collect();
        Self { name: rule.name().to_owned(), text: lines.join("\n") }
    }
}

const TABS: [(&str, &str); 4] = [("text", "Text"), ("json", "JSON"), ("chat", "Chat"), ("file", "File")];

const METHODS: [(&str, &str); 5] = [
    ("encrypt", "encrypt: comes back"),
    ("replace", "replace: the name of the rule"),
    ("mask", "mask: asterisks"),
    ("hash", "hash: a digest"),
    ("report", "report: nothing, it stays"),
];

/// The page.
pub(super) fn page(around: &GatewaySummary) -> Markup {
    html! {
        header {
            div {
                h1 { "Playground" }
                p { "What is found, why, and what becomes of it: by the rules and the code that run here. Nothing of it is kept or logged." }
            }
        }
        noscript { p.note.look { "This page works by a script, which your browser does not run." } }
        div #playground data-api=(around.api) data-chats=(around.chats.url)
            data-chats-route=(around.chats.name) data-model[around.has_model] data-chats-token[around.chats.takes_token] {
            div.tabs role="tablist" aria-label="What you have" {
                @for (id, name) in TABS {
                    button #{ "tab-" (id) } role="tab" type="button" aria-controls={ "panel-" (id) }
                        aria-selected=(if id == "text" { "true" } else { "false" })
                        tabindex=(if id == "text" { "0" } else { "-1" }) { (name) }
                }
            }
            (choices(around))
            (looking("text", "Your text", "As it leaves", around.rule.as_ref().map_or(examples::TEXT, |rule| &rule.text)))
            (looking("json", "Your document", "As it leaves", examples::JSON))
            (chat())
            (file())
            (copy())
        }
    }
}

fn choices(around: &GatewaySummary) -> Markup {
    html! {
        section.card.choices #choices aria-label="Rules and method" {
            div.row {
                div.field {
                    label for="method" { "Method" }
                    select #method { @for (name, words) in METHODS { option value=(name) { (words) } } }
                }
                div.field #roads {
                    label for="road" { "Sent by" }
                    select #road {
                        option value="route" { "new route: nobody's values pass" }
                        option value="call" { "API call: nothing passes" }
                        @if !around.routes.is_empty() {
                            optgroup label="A route that runs" {
                                @for name in &around.routes { option value="along" data-route=(name) selected[*name == around.route] { (name) } }
                            }
                        }
                    }
                }
                div.field {
                    label for="threshold" { "Threshold " output.hint #threshold-says for="threshold" { "as each rule says" } }
                    input #threshold type="range" min="0" max="1" step="0.05" value="0" aria-describedby="threshold-says";
                }
                div.checks {
                    label { input #model type="checkbox" checked[around.has_model] disabled[!around.has_model]; "Names model" }
                    @if !around.has_model { span.hint { "none is configured" } }
                }
            }
            @if let Some(rule) = &around.rule {
                div.checks { label { input #only type="checkbox" value=(rule.name) checked; "Only the rule " code { (rule.name) } } }
            }
            details {
                summary { "Rule sets: " span #sets-say { "DEFAULT" } }
                fieldset #sets {
                    legend.unseen { "Rule sets" }
                    div.checks {
                        @for set in RuleSet::all() {
                            label title=(set.description()) {
                                input type="checkbox" name="set" value=(set.name()) checked[set.name() == "DEFAULT"];
                                (set.name())
                            }
                        }
                    }
                }
            }
            details #own {
                summary { "Rules of your own" span #own-says {} }
                div.field {
                    label for="rules" { "As a rule file has them" }
                    textarea #rules rows="7" spellcheck="false" autocomplete="off" autocapitalize="off" placeholder=(examples::RULES) {}
                    div.row {
                        button.small #rules-example type="button" { "Use the example" }
                        a.small href="/docs/detection#values-that-may-pass" { "What a rule can say" }
                    }
                    ul.faults #faults role="alert" hidden {}
                }
            }
            p.hint #along hidden { "As the route says: its method, its rules, its thresholds. Surrogates are others than the route's own." }
            p.hint #surrogates { "Surrogates are made here with a key of this page, which is gone when the gateway stops: no others are made so." }
        }
    }
}

fn looking(id: &str, own: &str, leaves: &str, example: &str) -> Markup {
    html! {
        div.panel #{ "panel-" (id) } role="tabpanel" aria-labelledby={ "tab-" (id) } hidden[id != "text"] {
            div.pair {
                section.card aria-labelledby={ "own-" (id) } {
                    header {
                        h2 #{ "own-" (id) } { (own) }
                        span.quiet.small #{ "state-" (id) } role="status" {}
                    }
                    (editor(id, own, example))
                    p.note.look #{ "problem-" (id) } role="alert" hidden {}
                }
                section.card aria-labelledby={ "leaves-" (id) } {
                    header {
                        h2 #{ "leaves-" (id) } { (leaves) }
                        button.small type="button" data-copy={ "out-" (id) } { "Copy" }
                    }
                    pre.out.wrap #{ "out-" (id) } tabindex="0" aria-labelledby={ "leaves-" (id) } {}
                }
            }
            section.card aria-labelledby={ "found-" (id) } {
                header { h2 #{ "found-" (id) } { "Found" } span.quiet #{ "count-" (id) } {} }
                div.scroll tabindex="0" role="group" aria-labelledby={ "found-" (id) } {
                    table.stack {
                        thead {
                            tr {
                                th { "Value" } th { "Rule" }
                                @if id == "json" { th { "Where" } }
                                th.number { "Score" } th { "Why" } th { "Becomes" } th { "Pass" }
                            }
                        }
                        tbody #{ "rows-" (id) } {}
                    }
                }
            }
            details.card #{ "pass-" (id) } {
                summary { "To let a value pass" span #{ "passes-" (id) } {} }
                p {
                    "Choose “let it pass” beside what is found: it is tried here at once. What then stands below goes into the gateway's file, "
                    "which is in use some seconds after it is saved; this page saves nothing. It holds on every route, for that spelling alone. "
                    a href="/docs/detection#values-that-may-pass" { "More of that" }
                }
                pre #{ "allow-" (id) } tabindex="0" { "[[detect.allow]]\nvalues = [\"a value that is nobody's\"]\nrules = [\"PERSON\"]" }
                div.row {
                    button.small type="button" data-copy={ "allow-" (id) } { "Copy" }
                    a.button.small href="/configuration" data-carry={ "allow-" (id) } { "Check it with the configuration" }
                    button.small #{ "forget-" (id) } type="button" hidden { "Take all back" }
                }
            }
            section.card aria-labelledby={ "not-" (id) } {
                header { h2 #{ "not-" (id) } { "Looked at, and not found" } span.quiet #{ "nots-" (id) } {} }
                p.hint {
                    "A word that no rule knows, such as a project's name, is replaced by a rule of your own: try "
                    code { "[[rule]] name = \"PROJECT\" patterns = [{ regex = 'Kestrel' }]" } " under “Rules of your own”, one line each. "
                    a href="/docs/detection#rules-of-your-own" { "More of that" }
                }
                div.scroll tabindex="0" role="group" aria-labelledby={ "not-" (id) } {
                    table.stack {
                        thead { tr { th { "Value" } th { "Nearest rule" } th.number { "Score" } th { "Why not" } th { "Others that know the form" } } }
                        tbody #{ "misses-" (id) } {}
                    }
                }
            }
        }
    }
}

fn editor(id: &str, label: &str, example: &str) -> Markup {
    html! {
        div.editor #{ "editor-" (id) } {
            div.back aria-hidden="true" { div.lines {} }
            textarea #{ "in-" (id) } aria-label=(label) spellcheck="false" autocomplete="off" autocapitalize="off" { "\n" (example) }
        }
    }
}

fn chat() -> Markup {
    html! {
        div.panel #panel-chat role="tabpanel" aria-labelledby="tab-chat" hidden {
            div.pair {
                section.card aria-labelledby="own-chat" {
                    header { h2 #own-chat { "1 · What your program sends" } span.quiet.small #state-chat role="status" {} }
                    (editor("chat", "What your program sends", examples::CHAT))
                    p.note.look #problem-chat role="alert" hidden {}
                }
                section.card aria-labelledby="sees" {
                    header { h2 #sees { "2 · What the model sees" } }
                    pre.out.wrap #seen-chat tabindex="0" aria-labelledby="sees" {}
                }
                section.card aria-labelledby="says" {
                    header { h2 #says { "3 · What the model answers" } span.hint { "A script plays the model: it knows nothing but pane 2." } }
                    div.answers #answer-chat {}
                }
                section.card aria-labelledby="gets" {
                    header { h2 #gets { "4 · What your program gets" } span.hint { "Your values again; what the model made up is masked." } }
                    div.answers #got-chat {}
                }
            }
            p.legend {
                mark { "a value of yours, sent or back again" } " " mark.ours { "what stands for one" } " "
                mark.new { "made up by the model" } " " mark.gone { "so it is masked" }
            }
        }
    }
}

fn file() -> Markup {
    html! {
        div.panel #panel-file role="tabpanel" aria-labelledby="tab-file" hidden {
            section.card aria-labelledby="own-file" {
                header { h2 #own-file { "A file to clean" } span.hint { "Up to 16 MiB: PDF, Office, mail, pictures, archives, web pages, tables, text" } }
                div.drop #drop {
                    div.field {
                        label for="upload" { "File" }
                        input #upload type="file";
                    }
                    div.checks { label { input #redact type="checkbox" checked; "Redact values in it" } }
                    button.first #clean type="button" disabled { "Clean it" }
                }
                p.quiet { "It is taken apart in a process of its own that reaches nothing. Scripts, attachments and what else acts are left out." }
                p.note.look #problem-file role="alert" hidden {}
                p.quiet #state-file role="status" {}
            }
            section.card #cleaned aria-labelledby="clean-file" hidden {
                header { h2 #clean-file { "The clean file" } a.button #download { "Save it" } }
                p #summary-file {}
                dl.facts #facts-file {}
            }
        }
    }
}

fn copy() -> Markup {
    html! {
        section.card aria-labelledby="copy-as" {
            header { h2 #copy-as { "Do the same from your program" } button.small type="button" data-copy="copied" { "Copy" } }
            div.tabs role="tablist" aria-labelledby="copy-as" {
                @for (id, name, first) in [("curl", "curl", true), ("python", "Python", false), ("route", "Configuration", false)] {
                    button.small #{ "as-" (id) } role="tab" type="button" aria-controls="panel-copy"
                        aria-selected=(if first { "true" } else { "false" }) tabindex=(if first { "0" } else { "-1" }) { (name) }
                }
            }
            div #panel-copy role="tabpanel" aria-labelledby="as-curl" {
                pre #copied tabindex="0" aria-label="What to copy" {}
                p.hint #copy-hint {}
            }
        }
    }
}
