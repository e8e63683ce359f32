//! [`ConfigurationPages`]: what runs, and a place to try a change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::api::scope::ConsoleRole;
use crate::api::{CpuPool, CpuTask, block_in_place};
use crate::base::clock::{SharedClock, Timestamp};
use crate::config::{
    Config, Problem, ProcessEnv, SOON, ShownCertificate, check_text, days, shown_certificates,
};
use crate::console::configuration::difference::Difference;
use crate::console::configuration::expiry;
use crate::console::configuration::shown::shown;
use crate::console::running::{Attempt, RunningConfig};
use crate::console::time::minute;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::detect::Catalogue;
use crate::vault::items::{Items, ListedItem};

/// The largest text that is checked, in bytes: that of a configuration file.
const LARGEST: usize = 4 << 20;

/// What checking takes at the least, as bytes of a text.
const WORK: usize = 1 << 20;

/// The section of the configuration.
pub(in crate::console) struct ConfigurationPages {
    /// What runs.
    pub(in crate::console) running: Arc<RunningConfig>,
    /// Callers' keys.
    pub(in crate::console) items: Items,
    /// Places for long work.
    pub(in crate::console) cpu: CpuPool,
    /// Reads time.
    pub(in crate::console) clock: SharedClock,
}

/// What a script sends to have a text checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckRequest {
    text: String,
}

/// One thing to put right.
#[derive(Serialize)]
struct ShownProblem {
    line: usize,
    column: usize,
    message: String,
    hint: Option<String>,
}

/// What came of checking a text.
#[derive(Serialize)]
struct ConfigCheck {
    /// What keeps it from being used.
    problems: Vec<ShownProblem>,
    /// What may not be meant, and what it points to that is not here.
    warnings: Vec<ShownProblem>,
    /// What it would change; only of one without problems.
    difference: Option<Difference>,
}

impl From<&Problem> for ShownProblem {
    fn from(problem: &Problem) -> Self {
        let Problem { line, column, message, hint, .. } = problem;
        Self { line: *line, column: *column, message: message.clone(), hint: hint.clone() }
    }
}

impl ConfigurationPages {
    async fn page(&self, role: ConsoleRole) -> PageReply {
        let Some(config) = self.running.config() else { return PageReply::NotFound };
        let (text, certificates) = block_in_place(|| (shown(&config), shown_certificates(&config)));
        let keys = expiry::keys(&self.items).await;
        let now = self.clock.now();
        let content = html! {
            header { div { h1 { "Configuration" } p { "What runs on this node, what of it ends when, and what a change would do." } } }
            (self.runs(&config))
            @if role == ConsoleRole::Admin { (try_out(text.is_some(), file_of(&config))) }
            section.card aria-labelledby="ends" {
                h2 #ends { "What expires when" }
                (certificate_rows(&certificates, now))
                @match &keys {
                    Ok(keys) => { (key_rows(keys, now)) }
                    Err(error) => { p.note.look { "The vault's items cannot be listed now: " (error) } }
                }
            }
            section.card aria-labelledby="text" {
                header { h2 #text { "The file" } span.quiet { "values that may be secret are hidden" } }
                @match (&text, role) {
                    (None, _) => { p.quiet { "This gateway was started without a file." } }
                    (Some(_), ConsoleRole::Viewer) => { p.quiet { "It is shown to whoever may change things." } }
                    (Some(text), ConsoleRole::Admin) => { pre #running-text tabindex="0" { (text) } }
                }
            }
        };
        PageReply::Page(PageContext {
            title: "Configuration".to_owned(),
            content,
            scripts: &["configuration.js"],
        })
    }

    fn runs(&self, config: &Config) -> Markup {
        let attempts = self.running.attempts();
        let listen =
            config.listen.iter().map(|listen| listen.address.to_string()).collect::<Vec<_>>().join(", ");
        html! {
            section.card aria-labelledby="runs" {
                h2 #runs { "What runs" }
                dl.facts {
                    dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
                    dt { "File" } dd { code { (file_of(config).map_or_else(|| "none".to_owned(), |file| file.display().to_string())) } }
                    dt { "Listens at" } dd { code { (listen) } }
                    dt { "Routes" } dd { (config.routes.len()) }
                    dt { "Upstreams" } dd { (config.upstreams.len()) }
                    dt { "Rules" } dd { (config.catalogue.rules().count()) ", " a href="/rules" { "all of them" } }
                }
                @if !config.warnings.is_empty() {
                    div.note.look { b { "May not be meant:" } ul { @for warning in &config.warnings { li { (warning) } } } }
                }
                h3 { "Reloads" }
                div.scroll tabindex="0" role="group" aria-label="Reloads" { (attempt_rows(&attempts)) }
            }
        }
    }

    /// What a text would do as a configuration.
    async fn check(&self, visit: &Visit<'_>) -> PageReply {
        let wrong = |why: &str| {
            PageReply::Json(StatusCode::UNPROCESSABLE_ENTITY, serde_json::json!({ "error": why }).to_string())
        };
        let Ok(CheckRequest { text }) = serde_json::from_slice(&visit.body) else {
            return wrong("That is no JSON with a text.");
        };
        let Some(running) = self.running.config() else { return PageReply::NotFound };
        let name = match running.text {
            Some(_) => running.files.first().map(|file| file.display().to_string()),
            None => None,
        };
        let name = name.unwrap_or_else(|| "portcullis.toml".to_owned());
        // The rules are read anew, which is more work than their text says.
        let job = CpuTask { caller: visit.caller.clone(), bytes: text.len().max(WORK) };
        let checked = self.cpu.run(job, move |_| checked(&text, &name, &running)).await;
        match checked {
            Ok(checked) => {
                PageReply::Json(StatusCode::OK, serde_json::to_string(&checked).unwrap_or_default())
            }
            Err(_) => wrong("There is no room for that now. Try again in a moment."),
        }
    }
}

fn checked(text: &str, name: &str, running: &Config) -> ConfigCheck {
    let all = |problems: &[Problem]| problems.iter().map(ShownProblem::from).collect::<Vec<_>>();
    let said = |message: &str| ShownProblem { line: 0, column: 0, message: message.to_owned(), hint: None };
    let Ok(rules) = Catalogue::builtin() else {
        return ConfigCheck {
            problems: vec![said("the rules cannot be read")],
            warnings: Vec::new(),
            difference: None,
        };
    };
    match check_text(text, name, &ProcessEnv, &rules) {
        Ok(config) => {
            let warnings = all(&config.warnings).into_iter().chain(all(&config.missing)).collect();
            ConfigCheck {
                problems: Vec::new(),
                warnings,
                difference: Some(Difference::between(running, &config)),
            }
        }
        Err(problems) => {
            let problems = problems.iter().map(ShownProblem::from).collect();
            ConfigCheck { problems, warnings: Vec::new(), difference: None }
        }
    }
}

/// The file of what runs, if it was read from one.
fn file_of(config: &Config) -> Option<&Path> {
    config.files.first().filter(|_| config.text.is_some()).map(PathBuf::as_path)
}

fn try_out(has_text: bool, file: Option<&Path>) -> Markup {
    let file = file.map(|file| file.display().to_string());
    html! {
        section.card aria-labelledby="try" {
            header { h2 #try { "Try a change" } span.quiet { "checked only, never put into use" } }
            div.field {
                label for="draft" { "Configuration " span.hint { "TOML; start from what runs, or paste yours" } }
                textarea #draft rows="12" spellcheck="false" data-file=[file] {}
            }
            div.row {
                button.first #check type="button" { "Check" }
                button #from-running type="button" hidden[!has_text] { "Start from what runs" }
            }
            div #outcome role="status" aria-live="polite" {}
        }
    }
}

fn attempt_rows(attempts: &[Attempt]) -> Markup {
    html! {
        table {
            thead { tr { th { "When, UTC" } th { "Why" } th { "Result" } } }
            tbody {
                @for Attempt { at, why, failed } in attempts {
                    tr {
                        td { (minute(*at)) }
                        td { (why) }
                        td {
                            @match failed {
                                None => { span.tag.good { "✓ in use" } }
                                Some(why) => { span.tag.look { "✕ not used" } pre.wrap tabindex="0" { (why) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Days that are left, with a word where they are few.
fn left(now: Timestamp, until: Timestamp) -> Markup {
    let days = days(now, until);
    html! {
        @if days < 0 { span.tag.look { "✕ ended" } }
        @else if days < SOON { span.tag.look { "! " (days) " days" } }
        @else { (days) " days" }
    }
}

fn certificate_rows(certificates: &[ShownCertificate], now: Timestamp) -> Markup {
    html! {
        h3 { "Certificates" }
        @if certificates.is_empty() { p.quiet { "No listener speaks TLS." } }
        @else {
            div.scroll tabindex="0" role="group" aria-label="Certificates" {
                table {
                    thead { tr { th { "Listener" } th { "Names" } th { "File" } th.number { "Left" } } }
                    tbody {
                        @for ShownCertificate { at, file, subject, .. } in certificates {
                            tr {
                                td { code { (at) } }
                                @match subject {
                                    Some(subject) => {
                                        td { (subject.names.join(", ")) } td { code { (file) } }
                                        td.number { (left(now, subject.not_after)) }
                                    }
                                    None => { td { span.tag.look { "✕ cannot be read" } } td { code { (file) } } td.number {} }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn key_rows(keys: &[ListedItem], now: Timestamp) -> Markup {
    html! {
        h3 { "Keys and secrets in the vault" }
        @if keys.is_empty() { p.quiet { "There are none." } }
        @else {
            div.scroll tabindex="0" role="group" aria-label="Keys and secrets" {
                table {
                    thead { tr { th { "Name" } th { "Kind" } th { "State" } th.number { "Versions" } th.number { "Rotated in" } } }
                    tbody {
                        @for key in keys {
                            tr {
                                td { (key.label.name) " " code.quiet { (key.id) } }
                                td { (key.kind.name()) @if let Some(facts) = key.key { " " (facts.algorithm.name()) } }
                                td { @if key.is_enabled(now) { "on" } @else { span.tag.look { "✕ off" } } }
                                td.number { (key.versions) }
                                td.number { @match key.next_rotation { Some(at) => { (days(now, at).max(0)) " days" } None => { "never" } } }
                            }
                        }
                    }
                }
            }
        }
        @if keys.len() == expiry::MOST { p.quiet { "The first " (expiry::MOST) " are shown." } }
    }
}

impl Section for ConfigurationPages {
    fn path(&self) -> &'static str {
        "/configuration"
    }

    fn name(&self) -> &'static str {
        "Configuration"
    }

    fn limit(&self) -> usize {
        // In JSON a character may take six.
        LARGEST * 2
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        Box::pin(async move {
            match (visit.asked, visit.rest) {
                (PageRequest::Show, "") => self.page(visit.visitor.role).await,
                (PageRequest::Do, "check") => self.check(&visit).await,
                _ => PageReply::NotFound,
            }
        })
    }
}
