//! The rules and the allow-list that `[detect]` describes: the one part of the configuration that lies in files of
//! its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::config::diagnostics::Diagnostics;
use crate::config::names;
use crate::config::resolve;
use crate::config::settings::{AllowedValues, Analyzer, Detect, Settings};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::detect::{Allow, Catalogue, Rule, RuleFile, RuleSelection};

/// The largest rule file.
const FILE: u64 = 4 << 20;

/// The most files of one folder.
const FILES: usize = 1000;

/// What is said of what held rules and holds none any more.
const EMPTIED: &str = "it holds no rules, and the running configuration has some of it: is it whole? A restart takes it as it is";

/// A file's rules, and where the configuration names it.
struct RulesText {
    name: String,
    text: String,
    place: usize,
}

impl RulesText {
    /// Whether it says anything, but for comments.
    fn has_rules(&self) -> bool {
        let mut lines = self.text.trim_start_matches('\u{feff}').lines().map(str::trim);
        lines.any(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// Rules that one configuration was loaded with, for the next one to use again where they are the same: to compile
/// them takes a processor for a second or more.
#[derive(Clone, Debug)]
pub struct CompiledRules {
    /// As they were read: these held their examples.
    read: Catalogue,
    /// With the configuration's thresholds.
    catalogue: Catalogue,
    /// The files and folders that hold some of them.
    sources: BTreeSet<String>,
}

impl PartialEq for CompiledRules {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl CompiledRules {
    /// Rules that no configuration has changed.
    pub(crate) fn unchanged(catalogue: Catalogue) -> Self {
        Self { read: catalogue.clone(), catalogue, sources: BTreeSet::new() }
    }

    /// Whether these are the same, not only alike: nothing was compiled anew.
    pub fn is_same(&self, other: &Self) -> bool {
        self.catalogue.is(&other.catalogue)
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }
}

/// The rules that a configuration adds its own to.
#[derive(Clone, Copy)]
pub(crate) struct BaseRules<'a> {
    /// The built-in ones.
    pub(crate) base: &'a Catalogue,
    /// Those of the configuration that runs, if one does.
    pub(crate) known: Option<&'a CompiledRules>,
}

/// The base and the configuration's own rules, and what is allowed to pass; `None` if rules are at fault. Relative paths
/// begin at `folder`. Rules that are `known` are used again.
pub(crate) fn build(
    settings: &Settings,
    before: BaseRules<'_>,
    folder: &Path,
    diagnostics: &mut Diagnostics,
) -> Option<(CompiledRules, Allow)> {
    let detect = &settings.detect;
    let (read, sources) = extended(settings, before, folder, diagnostics)?;
    let mut catalogue = read.clone();
    for (rule, threshold) in &detect.thresholds {
        let known = known(rule, &catalogue, diagnostics);
        if !(0.0..=1.0).contains(&**threshold) {
            diagnostics.say(threshold.span().start, "a threshold is a score from 0 to 1");
        } else if let Some(id) = known {
            catalogue.set_threshold(id, **threshold);
        }
    }
    let running = before.known.map(|known| &known.catalogue);
    if let Some(known) = running {
        catalogue = catalogue.or_known(known);
    }
    let catalogue = names::with_model(catalogue, &detect.names, folder, running, diagnostics);
    let mut allow = Allow::default();
    for allowed in &detect.allow {
        add(allowed, &mut allow, &catalogue, diagnostics);
    }
    if !detect.rule_files.is_empty() || !detect.rule.is_empty() {
        // Now, rather than at the first request that names rules of its own.
        if let Err(error) = catalogue.compile() {
            diagnostics.say(0, error.to_string());
        }
    }
    Some((CompiledRules { read, catalogue, sources }, allow))
}

/// The rules, and the files and folders that hold some of them.
fn extended(
    settings: &Settings,
    before: BaseRules<'_>,
    folder: &Path,
    diagnostics: &mut Diagnostics,
) -> Option<(Catalogue, BTreeSet<String>)> {
    let detect: &Detect = &settings.detect;
    let mut texts = Vec::new();
    let mut sources = BTreeSet::new();
    let mut sound = true;
    for path in &detect.rule_files {
        let place = folder.join(&**path);
        match files(&place).and_then(|files| read(files, path.span().start)) {
            Ok(more) => {
                let name = place.display().to_string();
                if let Some(file) = emptied(&name, &more, before.known) {
                    sound = false;
                    diagnostics.say(path.span().start, format!("{file}: {EMPTIED}"));
                }
                let holding = more.iter().filter(|file| file.has_rules());
                let holding: BTreeSet<String> = holding.map(|file| file.name.clone()).collect();
                if !holding.is_empty() {
                    sources.insert(name);
                    sources.extend(holding);
                }
                texts.extend(more);
            }
            Err(error) => {
                sound = false;
                diagnostics.say(path.span().start, resolve::unreadable(&error));
            }
        }
    }
    let named: Vec<RuleFile<'_>> =
        texts.iter().map(|text| RuleFile { name: &text.name, toml: &text.text }).collect();
    let mut inline: Vec<Rule> = detect.rule.iter().map(|rule| (**rule).clone()).collect();
    let mut places: Vec<usize> = detect.rule.iter().map(|rule| rule.span().start).collect();
    for (rule, place) in reported(&settings.analyzers, before.base) {
        inline.push(rule);
        places.push(place);
    }
    let mut catalogue = before.base.clone();
    if let Err(faults) = catalogue.extend_as(&named, inline, before.known.map(|known| &known.read)) {
        sound = false;
        for fault in faults {
            match texts.iter().find(|text| text.name == fault.origin) {
                Some(file) => diagnostics.say(file.place, fault.placed(&file.text)),
                None => {
                    let place = fault.number.checked_sub(1).and_then(|n| places.get(n));
                    diagnostics.say(place.copied().unwrap_or_default(), fault.fault.to_string());
                }
            }
        }
    }
    sound.then_some((catalogue, sources))
}

/// The file or folder that holds no rules any more, of what the configuration calls `name`: a file that was emptied, or is not
/// written to its end, and a volume that is not there, look the same.
fn emptied<'t>(name: &'t str, texts: &'t [RulesText], known: Option<&CompiledRules>) -> Option<&'t str> {
    let held = |name: &&str| known.is_some_and(|known| known.sources.contains(*name));
    if !texts.iter().any(RulesText::has_rules) && held(&name) {
        return Some(name);
    }
    let empty = texts.iter().filter(|file| !file.has_rules());
    empty.map(|file| file.name.as_str()).find(held)
}

/// The rules that analyzers' findings are of where they have no other, each once, and where the file speaks of them.
fn reported(
    analyzers: &BTreeMap<Spanned<String>, Spanned<Analyzer>>,
    base: &Catalogue,
) -> impl Iterator<Item = (Rule, usize)> {
    let (mut rules, mut known) = (Vec::new(), BTreeSet::new());
    for (name, analyzer) in analyzers {
        for entity in analyzer.entities.iter() {
            let rule = analyzer.rule_of(name, entity);
            if Analyzer::is_own(name, &rule) && known.insert(rule.clone()) {
                let like = base.find(entity).and_then(|like| base.rule(like));
                rules.push((Rule::reported(rule, like), entity.span().start));
            }
        }
    }
    rules.into_iter()
}

/// The file itself, or the rule files of the folder in the order of their names.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !std::fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
        if files.len() > FILES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
    }
    files.sort();
    Ok(files)
}

fn read(files: Vec<PathBuf>, place: usize) -> io::Result<Vec<RulesText>> {
    let text = |path: PathBuf| {
        Ok(RulesText { name: path.display().to_string(), text: resolve::text(&path, FILE)?, place })
    };
    files.into_iter().map(text).collect()
}

fn add(
    allowed: &Spanned<AllowedValues>,
    allow: &mut Allow,
    catalogue: &Catalogue,
    diagnostics: &mut Diagnostics,
) {
    let begin = allowed.span().start;
    if allowed.values.is_empty() && allowed.pattern.is_none() && !diagnostics.lost(begin, "values") {
        diagnostics.say(begin, "an allow-list needs `values` or a `pattern`");
    }
    let rules = allowed.rules.as_ref().map(|rules| {
        let known = rules.iter().filter_map(|rule| known(rule, catalogue, diagnostics));
        known.collect::<RuleSelection>()
    });
    if !allowed.values.is_empty() {
        let values = allowed.values.iter().map(String::as_str);
        if let Err(error) = allow.values(rules.clone(), values, allowed.any_case) {
            diagnostics.say(begin, error.to_string());
        }
    }
    if let Some(pattern) = &allowed.pattern
        && let Err(error) = allow.pattern(rules, pattern)
    {
        diagnostics.say(pattern.span().start, error.to_string());
    }
}

fn known(
    rule: &Spanned<String>,
    catalogue: &Catalogue,
    diagnostics: &mut Diagnostics,
) -> Option<crate::detect::RuleId> {
    let id = catalogue.find(rule);
    if id.is_none() {
        let message = format!("there is no rule `{}`", **rule);
        match similar::did_you_mean(rule, catalogue.names()) {
            Some(hint) => diagnostics.hint(rule.span().start, message, hint),
            None => diagnostics.say(rule.span().start, message),
        }
    }
    id
}
