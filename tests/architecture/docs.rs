//! The pages for readers, `README.md` and `docs`: what they link to, name and claim is there, and what is made from the
//! code is fresh.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::metrics::{self, Metric};
use crate::none;
use crate::page::{Page, named_paths, pages, read};
use crate::parts::{DOORS, PARTS};
use crate::settings::{self, Section};
use crate::source::{files, regex, root, shown};

/// The longest that the README may be, in lines.
const README: usize = 150;

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README, "README.md: {lines} lines, {README} are enough");
}

#[test]
fn links_lead_somewhere() {
    let pages: BTreeMap<String, Page> = pages().into_iter().map(|page| (page.path.clone(), page)).collect();
    let mut wrong = Vec::new();
    for page in pages.values() {
        for (line, link) in page.links() {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = page.resolve(file);
            let there = root().join(&target).exists();
            let anchored =
                anchor.is_empty() || pages.get(&target).is_some_and(|page| page.anchors().contains(anchor));
            if !there || !anchored {
                wrong.push(format!("{}:{line}: `{link}` leads nowhere", page.path));
            }
        }
    }
    none(&wrong);
}

/// Whether `test` is one: a path, or `path::function` in a file or in any file of a folder.
fn is_test(test: &str) -> bool {
    let (path, function) = test.split_once("::").unwrap_or((test, ""));
    let defined = regex(&format!(r"\b(fn|def) {}\b", regex::escape(function)));
    let has = |path: &Path| fs::read_to_string(path).is_ok_and(|text| defined.is_match(&text));
    let place = root().join(path);
    match function {
        "" => place.is_file(),
        _ if place.is_dir() => files(path, &[".rs", ".py"]).iter().any(|file| has(file)),
        _ => has(&place),
    }
}

#[test]
fn claims_name_tests_that_exist() {
    let mut wrong = Vec::new();
    for page in pages() {
        for section in page.sections() {
            if section.tests.is_empty() {
                wrong.push(format!("{}:{}: no test holds this section", page.path, section.line));
            }
            for test in section.tests.iter().filter(|test| !is_test(test)) {
                wrong.push(format!("{}:{}: there is no `{test}`", page.path, section.line));
            }
        }
    }
    none(&wrong);
}

#[test]
fn a_test_is_found_by_its_name() {
    for test in ["tests/run", "tests/architecture/docs.rs::is_test", "tests::the_readme_is_short"] {
        assert!(is_test(test), "{test}");
    }
    for none in ["tests/walk", "tests", "tests/architecture/docs.rs::is_tes", "src/lib.rs::is_test"] {
        assert!(!is_test(none), "{none}");
    }
}

#[test]
fn files_that_are_named_exist() {
    let mut wrong = Vec::new();
    for page in pages() {
        for (line, path) in page.spans().filter(|(_, span)| named_paths().is_match(span)) {
            if !root().join(path).exists() {
                wrong.push(format!("{}:{line}: there is no `{path}`", page.path));
            }
        }
    }
    none(&wrong);
}

/// How a page names a function: by its file under `src`, and by itself.
const FUNCTION: &str = r"^([a-z0-9_/]+\.rs)::([a-z_0-9]+)$";

#[test]
fn functions_of_the_walks_exist() {
    let function = regex(FUNCTION);
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages().iter().filter(|page| page.path.ends_with("architecture.md")) {
        for (line, span) in page.spans() {
            let Some(found) = function.captures(span) else { continue };
            seen += 1;
            let text = fs::read_to_string(root().join("src").join(&found[1])).unwrap_or_default();
            if !regex(&format!(r"\bfn {}\b", &found[2])).is_match(&text) {
                wrong.push(format!("{}:{line}: there is no `{span}`", page.path));
            }
        }
    }
    none(&wrong);
    assert!(seen > 80, "only {seen} functions are named");
}

/// A walk begins with a line in bold type.
#[test]
fn no_walk_goes_in_circles() {
    let path = "docs/architecture.md";
    let page = Page { path: path.to_owned(), text: read(path) };
    let lines = (1_usize..).zip(page.text.lines());
    let begins: Vec<usize> = lines.filter(|(_, line)| line.starts_with("**")).map(|(n, _)| n).collect();
    let (function, mut passed, mut wrong) = (regex(FUNCTION), BTreeSet::new(), Vec::new());
    for (line, span) in page.spans().filter(|(_, span)| function.is_match(span)) {
        let walk = begins.partition_point(|begin| *begin <= line);
        if !passed.insert((walk, span)) {
            wrong.push(format!("{path}:{line}: `{span}` is passed a second time"));
        }
    }
    none(&wrong);
    assert_eq!(begins.len(), 4, "walks");
}

#[test]
fn pages_that_are_named_exist() {
    let pages: BTreeMap<String, Page> = pages().into_iter().map(|page| (page.path.clone(), page)).collect();
    let named = regex(r"\bdocs/[a-z]+\.md(#[a-z0-9-]+)?");
    let mut wrong = Vec::new();
    for folder in ["src", "conf", "examples", "tests"] {
        for path in files(folder, &[""]) {
            for found in named.find_iter(&fs::read_to_string(&path).unwrap_or_default()) {
                let (page, anchor) = found.as_str().split_once('#').unwrap_or((found.as_str(), ""));
                let there =
                    pages.get(page).is_some_and(|page| anchor.is_empty() || page.anchors().contains(anchor));
                if !there {
                    wrong.push(format!("{}: there is no {}", shown(&path), found.as_str()));
                }
            }
        }
    }
    none(&wrong);
}

/// All that a table of TOML sets, as section and key. Tables within tables are sections where the configuration has
/// them, and values elsewhere.
fn set(table: &toml::Table, section: &str, known: &[Section], found: &mut BTreeSet<(String, String)>) {
    for (key, value) in table {
        let inner =
            settings::normal(&if section.is_empty() { key.clone() } else { format!("{section}.{key}") });
        let tables: Vec<&toml::Table> = match value {
            toml::Value::Table(table) => vec![table],
            toml::Value::Array(items) => items.iter().filter_map(toml::Value::as_table).collect(),
            _ => Vec::new(),
        };
        let is_section =
            |known: &&Section| known.name == inner || known.name.starts_with(&format!("{inner}."));
        if !tables.is_empty() && known.iter().any(|one| is_section(&one)) {
            for table in tables {
                set(table, &inner, known, found);
            }
        } else {
            found.insert((section.to_owned(), key.clone()));
        }
    }
}

#[test]
fn settings_that_are_named_exist() {
    let known = settings::sections(&read("conf/portcullis.toml"));
    // Fields of a rule are explained in a file of their own.
    let rules = read("conf/rules.d/example.toml");
    let has = |section: &str, key: &str| {
        let fields = section == "detect.rule" && rules.contains(&format!("{key} = "));
        fields || known.iter().any(|one| one.name == section && (key.is_empty() || one.has(key)))
    };
    let named = regex(r"^\[\[?([A-Za-z_.]+)\]\]?(?: ([a-z_]+))?");
    let mut wrong = Vec::new();
    for page in pages() {
        for (line, span) in page.spans() {
            let Some(found) = named.captures(span) else { continue };
            let part = |n| found.get(n).map(|part| part.as_str()).unwrap_or_default();
            if !has(part(1), part(2)) {
                wrong.push(format!("{}:{line}: there is no setting `{span}`", page.path));
            }
        }
        for block in page.blocks().iter().filter(|block| block.language == "toml") {
            let mut found = BTreeSet::new();
            match block.text.parse() {
                Ok(table) => set(&table, "", &known, &mut found),
                Err(error) => wrong.push(format!("{}:{}: {error}", page.path, block.line)),
            }
            for (section, key) in found.iter().filter(|(section, key)| !has(section, key)) {
                wrong.push(format!("{}:{}: there is no `{key}` in [{section}]", page.path, block.line));
            }
        }
    }
    none(&wrong);
}

#[test]
fn every_setting_is_explained() {
    let sections = settings::sections(&read("conf/portcullis.toml"));
    assert!(sections.len() > 30, "{} tables", sections.len());
    let silent = sections.iter().flat_map(|section| section.unexplained().map(|key| (&section.name, key)));
    none(&silent.map(|(section, key)| format!("[{section}] {key}: no word about it")).collect::<Vec<_>>());
}

#[test]
fn every_path_of_the_api_is_in_its_page() {
    let api: serde_json::Value = serde_json::from_str(&read("tests/api/openapi.json")).unwrap_or_default();
    let page = read("docs/api.md");
    let paths = api.get("paths").and_then(serde_json::Value::as_object).cloned().unwrap_or_default();
    assert!(paths.len() > 40, "{} paths", paths.len());
    let named =
        |path: &String| page.contains(&format!("`{path}`")) || page.contains(&format!("`GET {path}`"));
    let missing = paths.keys().filter(|path| !named(path));
    none(&missing.map(|path| format!("docs/api.md: `{path}` is not there")).collect::<Vec<_>>());
}

/// What each part holds, in the words of the crate's documentation.
fn held(library: &str) -> BTreeMap<String, String> {
    let rows = library.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    rows.filter_map(|row| {
        let (part, rest) = row.split_once("`] | ")?;
        Some((part.to_owned(), rest.split(" | ").next()?.to_owned()))
    })
    .collect()
}

/// The crate's documentation with the imports of each part as `PARTS` has them.
fn library(text: &str) -> String {
    let held = held(text);
    let is_row = |line: &&str| line.starts_with("//! | [`");
    let row = |(part, imports): &(&str, &[&str])| {
        let imports = if imports.is_empty() { "–".to_owned() } else { imports.join(" ") };
        let holds = held.get(*part).map(String::as_str).unwrap_or_default();
        format!("//! | [`{part}`] | {holds} | {imports} |\n")
    };
    let mut rows = Some(PARTS.iter().map(row).collect::<String>());
    let line = |line: &str| {
        if is_row(&line) { rows.take().unwrap_or_default() } else { format!("{line}\n") }
    };
    text.lines().map(line).collect()
}

/// The map of the parts, as a page shows it.
fn map(library: &str) -> String {
    let held = held(library);
    let mut out =
        "| part | holds | may import | crates kept to it (and to) |\n|---|---|---|---|\n".to_owned();
    for (part, imports) in PARTS {
        let crates = DOORS.iter().filter(|(_, doors)| doors.contains(part));
        let crates: Vec<String> = crates
            .map(|(krate, doors)| {
                let others: Vec<&str> = doors.iter().filter(|door| *door != part).copied().collect();
                let others =
                    if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
                format!("`{krate}`{others}")
            })
            .collect();
        let holds = held.get(*part).map(String::as_str).unwrap_or_default();
        let imports = imports.join(", ");
        out.push_str(&format!(
            "| [`{part}`](../src/{part}) | {holds} | {imports} | {} |\n",
            crates.join(", ")
        ));
    }
    out
}

/// `text` with what is between the two comments of `name` replaced.
fn with_made(text: &str, name: &str, made: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- made: {name} -->\n"), "<!-- end -->");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n{made}\n{end}{after}"))
}

/// Every metric, by name.
fn all_metrics() -> Vec<Metric> {
    let mut all = Vec::new();
    for path in files("src/telemetry/metrics", &[".rs"]) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let found = metrics::metrics(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        assert_eq!(found.len(), metrics::registrations(&text), "{}", path.display());
        all.extend(found);
    }
    all.sort();
    all
}

/// The pages, the dashboard and the chart name no metric that nobody counts.
#[test]
fn metrics_that_are_named_exist() {
    let known: BTreeSet<String> = all_metrics().into_iter().map(|metric| metric.name).collect();
    assert!(known.len() > 40, "{} metrics", known.len());
    let name =
        regex(r"\bportcullis_[a-z0-9_]+_(?:total|seconds|bytes|info|available|requests|works|tokens)\b");
    let mut paths = files("docs", &[".md"]);
    paths.extend(files("conf", &[".json", ".yml", ".yaml", ".toml"]));
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let named = name.find_iter(&text).map(|found| found.as_str()).filter(|name| !known.contains(*name));
        wrong.extend(named.map(|name| format!("{}: nobody counts `{name}`", shown(&path))));
    }
    none(&wrong);
}

#[test]
fn what_is_made_is_fresh() {
    let lib = read("src/lib.rs");
    let reference = settings::page(&settings::sections(&read("conf/portcullis.toml")));
    let made = [
        ("src/lib.rs", Some(library(&lib))),
        ("docs/architecture.md", with_made(&read("docs/architecture.md"), "parts", &map(&lib))),
        ("docs/configuration.md", with_made(&read("docs/configuration.md"), "settings", &reference)),
        ("docs/metrics.md", with_made(&read("docs/metrics.md"), "metrics", &metrics::page(&all_metrics()))),
    ];
    let mut stale = Vec::new();
    for (path, made) in made {
        let (kept, made) = (read(path), made.unwrap_or_default());
        if kept == made {
            continue;
        }
        if std::env::var_os("PORTCULLIS_UPDATE").is_some() && !made.is_empty() {
            fs::write(root().join(path), &made).unwrap_or_else(|error| panic!("{path}: {error}"));
            continue;
        }
        let other = made.lines().zip(kept.lines()).find(|(made, kept)| made != kept);
        stale.push(format!(
            "{path} is stale from {:?} on: PORTCULLIS_UPDATE=1 cargo test --test architecture",
            other.map(|(made, _)| made)
        ));
    }
    none(&stale);
}
