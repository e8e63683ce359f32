//! The house rules that no lint can hold: who may import whom, one door for each external crate, what pure parts do
//! without, how long files and functions are, and what lies at the top of the repository.

#![expect(clippy::print_stdout, reason = "the report of sizes is for whoever asks with --nocapture")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[path = "architecture/docs.rs"]
mod docs;
#[path = "architecture/metrics.rs"]
mod metrics;
#[path = "architecture/module_tables.rs"]
mod module_tables;
#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/page.rs"]
mod page;
#[path = "architecture/parts.rs"]
mod parts;
#[path = "architecture/settings.rs"]
mod settings;
#[path = "architecture/source.rs"]
mod source;

use modules::Modules;
use parts::{DOORS, IMPURE, PARTS, PURE};
use source::{Source, code, files, ident, root, shown, sources, words};

/// The owner's crates: each a normal dependency, used in this place as soon as that exists.
const OWNERS: &[(&str, &str)] = &[
    ("pingora", "src/gateway"),
    ("tokio", "src/gateway"),
    ("serde_json", "src/api"),
    ("http", "src/api"),
    ("regex", "src/gateway"),
    ("aho-corasick", "src/detect"),
    ("fpe", "src/crypto"),
    ("dashmap", "src/gateway"),
    ("prometheus", "src/telemetry"),
    ("jsonwebtoken", "src/vault/jwt"),
];

/// The longest a file may be, in lines, tests included.
const FILE: usize = 500;

/// The longest a function may be, in lines from `fn` to its closing brace.
const FUNCTION: usize = 80;

/// Files and functions (`path` or `path::function`) that may be longer, each with its reason.
const LONGER: &[(&str, &str)] = &[];

/// All that lies at the top of the repository, besides files whose name begins with a dot.
const TOP: &[&str] = &[
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "conf",
    "docs",
    "examples",
    "src",
    "tests",
];

/// Fails with all complaints at once.
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Parts that there are: folders and files of `src`, without the crate's own two roots.
fn parts() -> BTreeSet<String> {
    let all = sources("src");
    all.iter().map(Source::part).filter(|part| !["lib", "main"].contains(part)).map(str::to_owned).collect()
}

/// What is compiled in, or applied in order, counts only if code names it.
#[test]
fn data_beside_the_source_is_named_by_it() {
    let code: BTreeMap<_, _> = files("src", &[".rs"])
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap_or_default()))
        .collect();
    let data = files("src", &[".toml", ".sql", ".json", ".txt", ".js", ".css", ".svg", ".bin"]);
    assert!(data.len() > 60, "only {} files", data.len());
    let mut unnamed = Vec::new();
    for path in data {
        let part =
            |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (name, folder) = (part(&path), path.parent().expect("a folder"));
        let (beside, from_above) = (format!("\"{name}\""), format!("{}/{name}\"", part(folder)));
        let named = |(source, text): (&std::path::PathBuf, &String)| {
            let near = source.parent().is_some_and(|place| place == folder || Some(place) == folder.parent());
            text.contains(&from_above) || near && text.contains(&beside)
        };
        if !code.iter().any(named) {
            unnamed.push(format!("{}: no source names it", shown(&path)));
        }
    }
    none(&unnamed);
}

#[test]
fn every_part_has_a_row_and_rows_point_upwards() {
    let mut wrong: Vec<String> = parts()
        .iter()
        .filter(|part| PARTS.iter().all(|(row, _)| row != part))
        .map(|part| format!("`{part}` has no row in PARTS"))
        .collect();
    for (n, (part, imports)) in PARTS.iter().enumerate() {
        for import in *imports {
            if PARTS.iter().take(n).all(|(above, _)| above != import) {
                wrong.push(format!("`{part}` may not come before `{import}`"));
            }
        }
    }
    none(&wrong);
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for source in sources("src") {
        let Some((part, allowed)) = PARTS.iter().find(|(part, _)| *part == source.part()) else { continue };
        for (n, line) in source.lines() {
            for path in line.split("crate::").skip(1) {
                let to = ident(path);
                if path.starts_with('{') {
                    wrong.push(format!("{}:{n}: write one `use crate::part` for each part", source.path));
                } else if to != *part && !allowed.contains(&to) {
                    wrong.push(format!("{}:{n}: `{part}` may not import `{to}`", source.path));
                }
            }
        }
    }
    none(&wrong);
}

#[test]
fn files_of_a_part_import_one_way() {
    let all = sources("src");
    let modules = Modules::of(&all);
    none(&parts().iter().flat_map(|part| modules.complaints(part)).collect::<Vec<_>>());
}

#[test]
fn circles_and_upward_imports_are_seen_through_re_exports() {
    let rows: &[(&[(&str, &str)], usize)] = &[
        // Siblings, one way: by their own paths, and through what their parent re-exports.
        (&[("mod", "mod a; mod b; pub use a::A;"), ("a", "pub struct A;"), ("b", "use super::A;")], 0),
        // Siblings, both ways; one of them by a path in its code.
        (
            &[
                ("mod", "mod a; mod b; use b::B;"),
                ("a", "struct A; fn f() -> super::B {}"),
                ("b", "use super::a::A;"),
            ],
            1,
        ),
        // Through a third, and through a module that is imported by itself.
        (
            &[
                ("mod", "mod a; mod b; mod c;"),
                ("a", "use super::b; fn f() { b::B::new() }"),
                ("b", "use crate::p::c::{D, C as E};"),
                ("c", "use super::a::*; use super::a::A;"),
            ],
            1,
        ),
        // Files of two folders.
        (
            &[
                ("mod", "mod a; mod b;"),
                ("a/mod", "mod x; mod y; pub use y::Y;"),
                ("a/x", "use super::super::b::B;"),
                ("a/y", "pub struct Y;"),
                ("b", "use super::a::Y;"),
            ],
            1,
        ),
        // Upward: what the parent defines itself. What it only declares or re-exports is not that.
        (&[("mod", "mod a; struct P;"), ("a", "use super::P;")], 1),
        (&[("mod", "mod a; mod b; fn f() { a::A }"), ("a", "use super::b::B;"), ("b", "struct B;")], 0),
        // A module within a file, and tests.
        (&[("mod", "mod a;"), ("a", "struct A; mod inner { use super::A; }")], 0),
        (&[("mod", "mod a; struct P;"), ("a", "#[cfg(test)]\nmod tests { use super::super::P; }")], 0),
        (&[("mod", "mod a; struct P;"), ("a", "#[cfg(test)]\nuse super::P;\nstruct A;")], 0),
    ];
    for (files, expected) in rows {
        let source =
            |(name, text): &(&str, &str)| Source { path: format!("src/p/{name}.rs"), code: code(text) };
        let files: Vec<Source> = files.iter().map(source).collect();
        let complaints = Modules::of(&files).complaints("p");
        assert_eq!(complaints.len(), *expected, "{complaints:?}");
    }
}

#[test]
fn the_map_in_the_crate_documentation_names_every_part() {
    let map = fs::read_to_string(root().join("src/lib.rs")).unwrap_or_default();
    let rows: Vec<&str> = map.lines().filter(|line| line.starts_with("//! |")).collect();
    let missing = |part: &String| !rows.iter().any(|row| row.contains(&format!("[`{part}`]")));
    none(
        &parts()
            .into_iter()
            .filter(missing)
            .map(|part| format!("`{part}` is not on the map"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn external_crates_have_one_door() {
    let mut wrong = Vec::new();
    for source in sources("src") {
        for (krate, doors) in DOORS {
            // What a part's tests compare with need not come through its door.
            let tested = source.path.ends_with("tests.rs");
            if source.uses(krate) && !doors.contains(&source.part()) && !tested {
                wrong.push(format!("{}: `{krate}` lives in {}", source.path, doors.join(" and ")));
            }
        }
    }
    none(&wrong);
}

#[test]
fn pure_parts_only_compute() {
    let mut wrong = Vec::new();
    for source in sources("src").iter().filter(|source| PURE.contains(&source.part())) {
        for (n, line) in source.lines() {
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                wrong.push(format!("{}:{n}: `{word}` in a pure part", source.path));
            }
        }
    }
    none(&wrong);
}

#[test]
fn functions_take_no_tuples() {
    let mut wrong = Vec::new();
    for source in sources("src") {
        for at in words(&source.code, "fn ") {
            let head = source.code.get(at..).unwrap_or_default();
            let head = head.get(..head.find('{').unwrap_or(head.len())).unwrap_or_default();
            if tuple_parameter(head) {
                let line = source.code.get(..at).unwrap_or_default().matches('\n').count() + 1;
                wrong.push(format!("{}:{line}: give what travels together a name", source.path));
            }
        }
    }
    none(&wrong);
}

/// Whether a parameter of this signature is taken apart as a tuple of several: `(a, b): (A, B)`.
fn tuple_parameter(head: &str) -> bool {
    head.match_indices("): (").any(|(at, _)| {
        let inside = head.get(..at).and_then(|before| before.rsplit('(').next()).unwrap_or_default();
        inside.contains(',') && !inside.contains(':')
    })
}

#[test]
fn tuples_in_signatures_are_seen() {
    for (head, expected) in [
        ("pub fn f((a, b): (A, B))", true),
        ("pub fn f(\n    x: X,\n    (a, b): (&A, B),\n)", true),
        ("pub fn f(a: A, b: (A, B))", false),
        ("pub fn f(Port(port): Port) -> (A, B)", false),
    ] {
        assert_eq!(tuple_parameter(head), expected, "{head}");
    }
}

/// A name that means a third thing means nothing any more: whoever reads it has to look up which of them it is.
#[test]
fn no_type_name_means_three_things() {
    let all = sources("src");
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in all.iter().filter(|source| !source.path.ends_with("tests.rs")) {
        source.types().for_each(|name| named.entry(name).or_default().push(&source.path));
    }
    let known = ["ActiveRequest", "FindingLimits", "Rewriter", "TextUnits"];
    assert!(known.iter().all(|name| named.contains_key(name)), "types are not found where they are");
    let wrong = named.iter().filter(|(_, places)| places.len() > 2);
    let wrong: Vec<_> = wrong.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect();
    none(&wrong);
}

#[test]
fn relaxations_say_why() {
    let mut wrong = Vec::new();
    for source in sources("src").iter().chain(&sources("tests")) {
        for (at, _) in source.code.match_indices('#') {
            let attribute = source.code.get(at..).unwrap_or_default().trim_start_matches(['#', '!']);
            let end = attribute.find(']').unwrap_or(attribute.len());
            let line = source.code.get(..at).unwrap_or_default().matches('\n').count() + 1;
            if attribute.starts_with("[allow(") {
                wrong.push(format!("{}:{line}: write `expect`, which ends when its cause does", source.path));
            }
            let bare = !attribute.get(..end).unwrap_or_default().contains("reason");
            if attribute.starts_with("[expect(") && bare {
                wrong.push(format!("{}:{line}: this `expect` says no reason", source.path));
            }
        }
    }
    none(&wrong);
}

#[test]
fn files_and_functions_stay_short() {
    let mut sizes: Vec<(usize, usize, String)> = Vec::new();
    for folder in ["src", "tests", "examples"] {
        for path in files(folder, &[".rs", ".py", "run", "quickstart"]) {
            let length = fs::read_to_string(&path).unwrap_or_default().lines().count();
            sizes.push((length, FILE, shown(&path)));
        }
        for source in sources(folder) {
            for (name, line, length) in source.functions() {
                sizes.push((length, FUNCTION, format!("{}:{line}::{name}", source.path)));
            }
        }
    }
    sizes.sort_by(|a, b| b.cmp(a));
    for limit in [FILE, FUNCTION] {
        for (length, _, name) in sizes.iter().filter(|size| size.1 == limit).take(5) {
            println!("{length:4} of {limit} lines: {name}");
        }
    }
    let allowed = |name: &str| LONGER.iter().any(|(longer, _)| *longer == name);
    let long = sizes.iter().filter(|(length, limit, name)| length > limit && !allowed(name));
    none(
        &long
            .map(|(length, limit, name)| format!("{name}: {length} lines, {limit} are enough"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_owners_crates_are_used() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
    let manifest: toml::Table = manifest.parse().unwrap_or_default();
    let normal = manifest.get("dependencies").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let all = sources("src");
    let mut wrong = Vec::new();
    for (krate, place) in OWNERS {
        let here = |source: &&Source| {
            source.path.strip_prefix(place).is_some_and(|rest| rest.starts_with(['/', '.']))
        };
        let mut inside = all.iter().filter(here).peekable();
        if inside.peek().is_none() {
            continue;
        }
        if !normal.contains_key(*krate) {
            wrong.push(format!("`{krate}` is not a normal dependency"));
        }
        if !inside.any(|source| source.uses(&krate.replace('-', "_"))) {
            wrong.push(format!("`{krate}` is not used in {place}"));
        }
    }
    let unused =
        normal.keys().filter(|krate| !all.iter().any(|source| source.uses(&krate.replace('-', "_"))));
    wrong.extend(unused.map(|krate| format!("`{krate}` is a dependency that nothing uses")));
    none(&wrong);
}

#[test]
fn the_top_of_the_repository_is_small() {
    let ignored = fs::read_to_string(root().join(".gitignore")).unwrap_or_default();
    let ignored: Vec<&str> = ignored.lines().map(|line| line.trim_matches('/')).collect();
    let names = fs::read_dir(root()).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let strange = |name: &String| {
        !name.starts_with('.') && !TOP.contains(&name.as_str()) && !ignored.contains(&name.as_str())
    };
    none(&names.filter(strange).map(|name| format!("`{name}` does not belong there")).collect::<Vec<_>>());
}

#[test]
fn code_is_told_from_words_about_it() {
    let rows = [
        ("a // use crate::b\nc", "a c"),
        ("a /* x /* y */ z */ b", "a b"),
        (r#"f("crate::\"x", 'c', '\'', '{')"#, "f( , , , )"),
        ("let x: &'static str = r#\"a\"b\"#;", "let x: &'static str = ;"),
        ("bar\"s\" + br\"t\\\" + 'a: 1", "bar + + 'a: 1"),
    ];
    for (text, want) in rows {
        let got = code(text);
        assert!(got.split_whitespace().eq(want.split_whitespace()), "{text}\n{got}\n{want}");
        assert_eq!(got.lines().count(), text.lines().count(), "{text}");
    }
}

#[test]
fn functions_are_measured_from_their_name_to_their_brace() {
    let text = "fn a(x: [u8; 2]) -> u8 {\n    \"}\";\n    1\n}\ntrait T {\n    fn b(&self);\n}\nfn c() {}\n";
    let source = Source { path: "src/x.rs".to_owned(), code: code(text) };
    assert_eq!(source.functions(), [("a", 1, 4), ("c", 8, 1)]);
}

#[test]
fn a_crate_is_known_by_its_paths() {
    let uses = |text: &str| Source { path: "src/x.rs".to_owned(), code: code(text) }.uses("fpe");
    let rows = [
        ("use fpe::ff1;", true),
        ("use fpe;", true),
        ("use fpe as f;", true),
        ("let x = fpe::ff1(&key);", true),
        ("use crate::crypto::fpe::Key;", false),
        ("my_fpe::x();", false),
        ("// fpe::x", false),
        ("self.fpe.is_some()", false),
    ];
    for (text, used) in rows {
        assert_eq!(uses(text), used, "{text}");
    }
}
