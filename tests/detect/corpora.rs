//! Where the corpora are, and the texts to try laws on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use portcullis::detect::{Catalogue, Detector, RuleSelection};
use serde_json::Value;

/// Texts of our own: where there are no corpora, and beside them.
const OWN: &str = include_str!("texts.txt");

/// All rules on. Built once: it takes a while in a debug build.
pub(crate) fn detector() -> Detector {
    static BUILT: OnceLock<Detector> = OnceLock::new();
    let build = || {
        let catalogue = Catalogue::builtin().unwrap();
        Detector::new(&catalogue, &RuleSelection::all(&catalogue)).unwrap()
    };
    BUILT.get_or_init(build).clone()
}

/// The folder that has `file`: one of these, in the folder that a variable names.
fn folder(variables: &[&str], within: &[&str], file: &str) -> Option<PathBuf> {
    let named = variables.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut folders = named.flat_map(|named| within.iter().map(move |name| named.join(name)));
    let found = folders.find(|folder| folder.join(file).exists());
    if found.is_none() {
        eprintln!("skipped: {} leads to no {file}", variables.join(" or "));
    }
    found
}

/// The folder of `checksums/`.
pub(crate) fn vectors() -> Option<PathBuf> {
    folder(&["PORTCULLIS_VECTORS", "PORTCULLIS_CORPORA"], &["", "vectors", "vectors-dev"], "checksums")
}

/// The rows of a JSON Lines file.
pub(crate) fn rows(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The corpora's files, in order; none where there are no corpora.
pub(crate) fn files() -> Vec<PathBuf> {
    let Some(folder) = folder(&["PORTCULLIS_CORPORA"], &["", "detect", "detect-dev"], "pii_anon.jsonl")
    else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    files
}

/// Whether everything is tried.
pub(crate) fn thorough() -> bool {
    std::env::var_os("PORTCULLIS_THOROUGH").is_some_and(|value| value == "1")
}

/// A text to try a law on.
pub(crate) struct Sample {
    /// Where it is from: a corpus row's id, or a paragraph of ours.
    pub(crate) id: String,
    /// The text.
    pub(crate) text: String,
}

/// Our own texts and about `most` of the corpora's, the same ones each time and some of each corpus.
pub(crate) fn samples(most: usize) -> Vec<Sample> {
    let mut samples = own();
    let files = files();
    for file in &files {
        let rows = rows(file);
        let step = if thorough() { 1 } else { (rows.len() * files.len()).div_ceil(most).max(1) };
        let sample = |row: &Value| {
            let field = |key: &str| row[key].as_str().unwrap().to_owned();
            Sample { id: field("id"), text: field("text") }
        };
        samples.extend(rows.iter().step_by(step).map(sample));
    }
    samples
}

/// Paragraphs of `texts.txt`, and what the rules give as examples of themselves.
fn own() -> Vec<Sample> {
    let paragraphs = OWN.split("\n\n").map(|text| text.trim_end().to_owned());
    let sample = |(text, n): (String, usize)| Sample { id: format!("own {n}"), text };
    paragraphs.chain(examples()).zip(1..).map(sample).collect()
}

/// The examples in the built-in rule files, a few to a text; one text of five where not all are asked for.
fn examples() -> Vec<String> {
    let mut folders = vec![root().join("src/detect/rules")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let (more, own): (Vec<PathBuf>, Vec<PathBuf>) =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
        folders.extend(more);
        files.extend(own.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "toml")));
    }
    files.sort();
    let mut examples = Vec::new();
    for file in files {
        let table: toml::Table = fs::read_to_string(file).unwrap().parse().unwrap();
        let rules = table.get("rule").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        for list in rules.iter().flat_map(|rule| [rule.get("matches"), rule.get("misses")]).flatten() {
            let texts = list.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
            examples.extend(texts.map(|text| text.replace(['«', '»'], "")));
        }
    }
    let step = if thorough() { 1 } else { 5 };
    examples.chunks(3).step_by(step).map(|texts| texts.join(" ")).collect()
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    /// Thrown by a text, so that a text's numbers do not depend on what else is tried.
    pub(crate) fn of(text: &str) -> Self {
        let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    /// A number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound.max(1)
    }
}
