//! The kept inputs of the fuzzer, run as a test: `corpus/ENTRY/*`. `./tests/run --fuzz` looks for more.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, also in what the fuzzer shares"
)]

use std::fs;
use std::path::Path;

mod entries;

use entries::{ENTRIES, run};

#[test]
fn the_kept_inputs_hold_the_laws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for (name, _) in ENTRIES {
        let mut files: Vec<_> =
            fs::read_dir(folder.join(name)).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has no inputs");
        for file in files {
            let data = fs::read(&file).unwrap();
            let ran = std::panic::catch_unwind(|| run(name, &data));
            assert!(ran.is_ok(), "{}", file.display());
        }
    }
}

#[test]
fn no_input_and_little_input_are_inputs() {
    for (_, entry) in ENTRIES {
        for length in 0..40 {
            entry(&b"0123456789abcdefghijklmnopqrstuvwxyz{\"a\""[..length]);
        }
    }
}

#[test]
fn the_fuzzer_builds_with_the_gateways_dependencies() {
    let read = |file: &str| -> toml::Table {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        table["dependencies"].as_table().unwrap().clone()
    };
    let (fuzzed, gateway) = (read("tests/fuzz/Cargo.toml"), read("Cargo.toml"));
    for (name, wanted) in
        fuzzed.iter().filter(|(name, _)| !["libfuzzer-sys", "portcullis"].contains(&name.as_str()))
    {
        let version = |of: &toml::Value| of.get("version").unwrap_or(of).clone();
        assert_eq!(gateway.get(name).map(version), Some(version(wanted)), "{name}");
    }
}
