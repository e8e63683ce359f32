//! A corpus of files with a manifest, in the folder that `PORTCULLIS_SANITIZE` names. Clean files and what was done are
//! left in the folder that `PORTCULLIS_SANITIZE_OUT` names, where `tests/sanitize/corpus` judges them.

use std::io::Write;
use std::path::PathBuf;

use portcullis::sanitize::{FileKind, Options, Rejection, identify};
use serde_json::{Value, json};

use crate::host::{clean, malicious};

/// Actions that stay.
const STAY: &[&str] = &["GoTo", "Named", "URI"];
/// Annotations that play something.
const MEDIA: &[&str] = &["RichMedia", "3D", "Screen", "Movie", "Sound"];
/// Files whose manifest counts otherwise, with what there is.
const OTHERWISE: &[(&str, u64, &str)] = &[
    ("qpdf__kept-some-fields.pdf", 3, "a field of three buttons is one field, not four"),
    ("gen__actions-everywhere.pdf", 19, "a link to a script and the named action that prints go as well"),
];

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not run")]
fn files_of_the_corpus_come_out_clean_or_not_at_all() {
    let Some(folder) = std::env::var_os("PORTCULLIS_SANITIZE").map(PathBuf::from) else {
        return eprintln!("skipped: PORTCULLIS_SANITIZE names no folder of files");
    };
    let out = std::env::var_os("PORTCULLIS_SANITIZE_OUT").map(PathBuf::from);
    let only = std::env::var("PORTCULLIS_SANITIZE_ONLY").unwrap_or_default();
    let mut results = out.as_ref().map(|out| {
        std::fs::create_dir_all(out).unwrap();
        std::fs::File::create(out.join("results.jsonl")).unwrap()
    });
    let mut wrong = Vec::new();
    for line in std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let name = row["path"].as_str().unwrap();
        if !name.contains(&only) {
            continue;
        }
        let file = std::fs::read(folder.join(name)).unwrap();
        let (result, stats) = clean(name, &file, Options::default());
        let verdict = match &result {
            Ok(bytes) => {
                if let Some(out) = &out {
                    std::fs::write(out.join(name), bytes).unwrap();
                }
                let (again, more) = clean(name, bytes, Options::default());
                let stays = again.as_ref() == Ok(bytes);
                if !stays || !more.untouched() {
                    wrong.push(format!("{name}: cleaning again: same {stays}, {more:?}"));
                }
                "clean".to_owned()
            }
            Err(rejection) => format!("{rejection:?}"),
        };
        if malicious(&file) && result != Err(Rejection::Malicious) {
            wrong.push(format!("{name}: {verdict}, but it is malicious"));
        }
        if identify(&file, name) == FileKind::Pdf {
            wrong.extend(as_stated(name, &row, &verdict, stats.attachments, stats.interactive));
        }
        if let Some(results) = &mut results {
            let line =
                json!({ "path": name, "verdict": verdict, "kind": identify(&file, name), "stats": stats });
            writeln!(results, "{line}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Broken PDFs of the corpus are cleaned or refused, and what comes out is clean.
#[test]
fn broken_files_of_the_corpus_never_stop_it() {
    let Some(folder) = std::env::var_os("PORTCULLIS_SANITIZE").map(PathBuf::from) else { return };
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = std::fs::read(&path).unwrap();
        if identify(&file, "") != FileKind::Pdf || file.len() > 60_000 {
            continue;
        }
        for _ in 0..12 {
            let mut broken = file.clone();
            for _ in 0..1 + next() % 12 {
                let at = usize::try_from(next()).unwrap() % broken.len();
                broken[at] = u8::try_from(next() & 0xff).unwrap();
            }
            if next() % 4 == 0 {
                broken.truncate(usize::try_from(next()).unwrap() % file.len());
            }
            if let (Ok(out), _) = clean("a.pdf", &broken, Options::default()) {
                let (again, stats) = clean("a.pdf", &out, Options::default());
                assert!(again == Ok(out) && stats.untouched(), "{}: {stats:?}", path.display());
            }
        }
    }
}

/// What is wrong with the counts of a PDF, going by its manifest. Scripts are one thing there and here, but the manifest
/// tells actions, triggers and keys apart: each action is counted once here.
fn as_stated(name: &str, row: &Value, verdict: &str, attachments: u64, interactive: u64) -> Vec<String> {
    let count = |key: &str| row[key].as_u64().unwrap_or(0);
    let sum = |map: &str, of: &dyn Fn(&str) -> bool| -> u64 {
        let entries = row[map].as_object().into_iter().flatten();
        entries.filter(|(key, _)| of(key)).filter_map(|(_, n)| n.as_u64()).sum()
    };
    let mut wrong = Vec::new();
    if row["expect"]["needs_password"] == true && verdict != "Encrypted" {
        wrong.push(format!("{name}: {verdict}, but it needs a password"));
    }
    if row["opens"] == true && !["clean", "Malicious"].contains(&verdict) {
        wrong.push(format!("{name}: {verdict}, but other readers open it"));
    }
    if verdict != "clean" {
        return wrong;
    }
    if attachments != row["expect"]["attachments"].as_u64().unwrap_or(0) {
        wrong.push(format!("{name}: {attachments} attachments, stated {}", row["expect"]["attachments"]));
    }
    let actions = sum("actions", &|kind| !STAY.contains(&kind));
    let stated = actions
        + count("fields")
        + count("xfa")
        + count("external_streams")
        + sum("annots", &|kind| MEDIA.contains(&kind));
    let otherwise = OTHERWISE.iter().find(|(file, ..)| *file == name).map(|(_, count, _)| *count);
    let stated = otherwise.unwrap_or(stated);
    if interactive != stated {
        wrong.push(format!("{name}: {interactive} act, stated {stated} ({})", row["expect"]["active"]));
    }
    wrong
}
