//! The built-in rules as tables, for texts and rules that are made of them.

use std::fs;
use std::path::Path;

/// Each rule as its file says it, the file's defaults laid under it.
pub(crate) fn rules() -> Vec<toml::Table> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/detect/rules")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("rules").flatten().map(|entry| entry.path()) {
            match path.extension() {
                None => folders.push(path),
                Some(ending) if ending == "toml" => files.push(path),
                Some(_) => {}
            }
        }
    }
    files.sort();
    let mut rules = Vec::new();
    for file in files {
        let table: toml::Table = fs::read_to_string(file).expect("a rule file").parse().expect("TOML");
        let own = table.get("rule").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        for rule in own {
            let mut rule = rule.as_table().cloned().expect("a rule");
            if let Some(defaults) = table.get("defaults").and_then(toml::Value::as_table) {
                lay_under(&mut rule, defaults);
            }
            rules.push(rule);
        }
    }
    rules
}

fn lay_under(table: &mut toml::Table, defaults: &toml::Table) {
    for (key, value) in defaults {
        match (table.get_mut(key).and_then(toml::Value::as_table_mut), value.as_table()) {
            (Some(own), Some(value)) => lay_under(own, value),
            _ => drop(table.entry(key.clone()).or_insert_with(|| value.clone())),
        }
    }
}
