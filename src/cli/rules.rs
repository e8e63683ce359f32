//! `portcullis rules`: what the rules are, and whether one's own hold.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::app::AppError;
use crate::cli::args::{NamesModelArg, RuleArgs, RulesCommand};
use crate::cli::failure::Failure;
use crate::cli::streams::{at, complaint, message, result};
use crate::cli::{page, wanted};
use crate::detect::{Catalogue, Detector, Rule, RuleError, RuleFile};

pub(super) fn run(command: &RulesCommand) -> Result<(), Failure> {
    match command {
        RulesCommand::List { wanted, names_model, json } => list(wanted, names_model, *json),
        RulesCommand::Show { name } => show(name),
        RulesCommand::Test { config, files } => test(config.as_deref(), files),
        RulesCommand::Page => {
            std::io::stdout().lock().write_all(page::markdown(&wanted::known(None)?.0).as_bytes())?;
            Ok(())
        }
    }
}

/// A rule in a list.
#[derive(Serialize)]
struct RuleRow<'a> {
    name: &'a str,
    family: &'a str,
    category: &'a str,
    region: &'a str,
    severity: &'a str,
    threshold: f64,
    default_on: bool,
    hold: usize,
    description: &'a str,
}

fn list(wanted: &RuleArgs, names: &NamesModelArg, json: bool) -> Result<(), Failure> {
    let (catalogue, selection) = wanted::rules(wanted)?;
    let catalogue = wanted::reading_names(catalogue, names)?;
    let hold = |selection| Detector::new(&catalogue, selection).map(|detector| detector.reach());
    let wrong = |error: RuleError| AppError::Rules(error.to_string());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if !json {
        writeln!(
            out,
            "{:<40} {:<14} {:<9} {:<2} {:<8} {:>4} {:<3} {:>5}",
            "NAME", "FAMILY", "CATEGORY", "IN", "SEVERITY", "FROM", "ON", "REACH"
        )?;
    }
    let mut count = 0;
    for rule in catalogue.ids().filter(|id| selection.has(*id)).filter_map(|id| catalogue.rule(id)) {
        count += 1;
        let row = RuleRow {
            name: rule.name(),
            family: rule.family().name(),
            category: rule.category().name(),
            region: rule.region(),
            severity: rule.severity().name(),
            threshold: (f64::from(rule.threshold()) * 1000.0).round() / 1000.0,
            default_on: rule.default_on(),
            hold: rule.reach(),
            description: rule.description(),
        };
        if json {
            serde_json::to_writer(&mut out, &row).map_err(std::io::Error::from)?;
            writeln!(out)?;
            continue;
        }
        let RuleRow { name, family, category, region, severity, threshold, default_on, hold, .. } = row;
        let on = if default_on { "yes" } else { "no" };
        let region = if region.is_empty() { "-" } else { region };
        writeln!(
            out,
            "{name:<40} {family:<14} {category:<9} {region:<2} {severity:<8} {threshold:>4} {on:<3} {hold:>5}"
        )?;
    }
    out.flush()?;
    if !json {
        let held = hold(&selection).map_err(wrong)?;
        message(&format!("{count} rules; together they hold back at most {held} bytes of a stream"));
        message(&names_found_by(&catalogue));
    }
    Ok(())
}

/// What finds persons and places.
fn names_found_by(catalogue: &Catalogue) -> String {
    match catalogue.names_model() {
        Some(model) => {
            format!(
                "persons and places: by the lexicon and the names model whose SHA256SUMS has the digest {}",
                model.digest()
            )
        }
        None => "persons and places: by the lexicon alone, without a names model".to_owned(),
    }
}

fn show(name: &str) -> Result<(), Failure> {
    let (catalogue, _) = wanted::known(None)?;
    let unknown =
        || Failure::Usage(format!("there is no rule `{name}`; see `portcullis rules list --rulesets all`"));
    let rule = catalogue.find(name).and_then(|id| catalogue.rule(id)).ok_or_else(unknown)?;
    result(text(rule).trim_end())
}

/// All that a rule says.
fn text(rule: &Rule) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name:<12} {value}");
        }
    };
    line("name", rule.name());
    line("", rule.description());
    line("source", rule.source());
    line("family", rule.family().name());
    line("category", rule.category().name());
    line("region", rule.region());
    line("severity", rule.severity().name());
    line("default", if rule.default_on() { "on" } else { "off" });
    line("score", &rule.score.to_string());
    line("threshold", &rule.threshold().to_string());
    line("reach", &rule.reach().to_string());
    line("anchor", &format!("{:?}", rule.anchor).to_lowercase());
    line("prefixes", &rule.prefixes.join(" "));
    for pattern in &rule.patterns {
        let score = pattern.score.map(|score| format!("  score {score}")).unwrap_or_default();
        let check = pattern.check.as_ref().map(|check| format!("  check {check}")).unwrap_or_default();
        line("pattern", &format!("{}{score}{check}", pattern.regex));
    }
    line("check", rule.check.as_deref().unwrap_or_default());
    for (language, words) in &rule.context {
        for (side, words) in
            [("before", &words.before), ("after", &words.after), ("against", &words.negative)]
        {
            line(if words.is_empty() { "" } else { side }, &words_of(language, words));
        }
    }
    for example in &rule.matches {
        line("match", example);
    }
    for example in &rule.misses {
        line("no match", example);
    }
    out
}

fn words_of(language: &str, words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("{language}: {}", words.join(", ")) }
}

/// Loads a configuration's rules and the files on top of the built-in rules; that runs the examples of what is loaded.
fn test(config: Option<&Path>, files: &[PathBuf]) -> Result<(), Failure> {
    let (mut catalogue, _) = wanted::known(config)?;
    let mut texts = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(path).map_err(|error| at(path, &error))?;
        texts.push((path.display().to_string(), text));
    }
    let named: Vec<RuleFile<'_>> = texts.iter().map(|(name, toml)| RuleFile { name, toml }).collect();
    if let Err(faults) = catalogue.extend_all(&named) {
        for fault in &faults {
            let text = texts.iter().find(|(name, _)| *name == fault.origin).map_or("", |(_, text)| text);
            complaint(&fault.placed(text));
        }
        return Err(
            AppError::Io(format!("{} rules at fault; none of the files is used", faults.len())).into()
        );
    }
    if let Some(fault) = catalogue.failing().map_err(|error| AppError::Rules(error.to_string()))?.first() {
        return Err(AppError::Rules(fault.to_string()).into());
    }
    let examples: usize = catalogue.rules().map(|rule| rule.matches.len() + rule.misses.len()).sum();
    result(&format!("{} rules, {examples} examples: all hold", catalogue.rules().count()))
}
