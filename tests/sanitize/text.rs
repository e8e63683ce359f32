//! Words that PDFs and Office files of the corpus show are removed: they are gone from all that is read of the clean
//! file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use portcullis::sanitize::format::FORMATS;
use portcullis::sanitize::{
    Edit, FileKind, Host, HostRequest, NewText, Note, Options, RedactionMode, Rejection, Response, Stats,
    UnfoldBounds, Work, identify,
};

/// Remembers all texts, and redacts words.
#[derive(Default)]
struct Words {
    words: Vec<String>,
    texts: Vec<String>,
}

impl Host for Words {
    fn ask(&mut self, request: HostRequest<'_>) -> Result<Response, Rejection> {
        let texts = match request {
            HostRequest::Part { .. } => return Ok(Response::Part),
            HostRequest::Links(links) => return Ok(Response::Links(vec![false; links.len()])),
            HostRequest::Password => return Ok(Response::Password(None)),
            HostRequest::Texts(texts) => texts,
        };
        let edits = |text: &str| {
            let found = self.words.iter().flat_map(|word| text.match_indices(word.as_str()));
            let edit = |(at, word): (usize, &str)| Edit {
                range: at..at + word.len(),
                with: NewText {
                    text: "gone".to_owned(),
                    rule: Some("word".to_owned()),
                    ..NewText::default()
                },
            };
            let mut edits: Vec<Edit> = found.map(edit).collect();
            edits.sort_by_key(|edit| edit.range.start);
            edits
        };
        let edits = texts.iter().map(|named| edits(&named.text)).collect();
        self.texts.extend(texts.into_iter().map(|named| named.text.into_owned()));
        Ok(Response::Texts(edits))
    }
}

fn clean(kind: FileKind, file: &[u8], host: &mut Words) -> (Result<Vec<u8>, Rejection>, Stats) {
    let options = Options { redaction: RedactionMode::Apply, links: false, ..Options::default() };
    let mut work = Work::new(&FORMATS, options, UnfoldBounds::default(), host);
    let clean = work.clean(kind, file);
    (clean, work.into_stats())
}

/// Two words of a text, always the same ones.
fn chosen(texts: &[String], mut seed: u64) -> Vec<String> {
    let word = |word: &&str| word.len() >= 6 && word.chars().all(|c| c.is_ascii_alphabetic());
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split_whitespace()).filter(word).collect();
    let words: Vec<&str> = words.into_iter().collect();
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap() % words.len().max(1)
    };
    let mut out: Vec<String> =
        (0..2).filter_map(|_| words.get(next()).map(|word| (*word).to_owned())).collect();
    // One that holds the other would be found in two ways.
    if let [a, b] = out.as_slice()
        && (a.contains(b.as_str()) || b.contains(a.as_str()))
    {
        out.truncate(1);
    }
    out
}

/// How often words are drawn for each file.
const ROUNDS: u64 = 4;

/// What came out.
#[derive(Default)]
struct Sums {
    files: u64,
    removed: u64,
    unknown: u64,
    wrong: Vec<String>,
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests should know what was not run, and what came out"
)]
fn words_of_the_corpus_are_removed() {
    let Some(folder) = std::env::var_os("PORTCULLIS_SANITIZE").map(PathBuf::from) else {
        return eprintln!("skipped: PORTCULLIS_SANITIZE names no folder of files");
    };
    let out = std::env::var_os("PORTCULLIS_SANITIZE_OUT").map(PathBuf::from);
    let only = std::env::var("PORTCULLIS_SANITIZE_ONLY").unwrap_or_default();
    if let Some(out) = &out {
        std::fs::create_dir_all(out).unwrap();
    }
    let mut sums = Sums::default();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for (n, path) in paths.iter().enumerate() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = std::fs::read(path).unwrap();
        let kind = identify(&file, &name);
        let read = matches!(kind, FileKind::Pdf | FileKind::Ooxml | FileKind::Odf | FileKind::Html);
        let mut reads = Words::default();
        if !read || !name.contains(&only) || clean(kind, &file, &mut reads).0.is_err() {
            continue;
        }
        sums.files += 1;
        for round in 0..ROUNDS {
            let seed = 0x2545_f491_4f6c_dd1d ^ (n as u64) << 20 ^ round << 40;
            let words = chosen(&reads.texts, seed);
            let Some(bytes) = sums.removed(kind, (&name, &file), &words) else { continue };
            if let Some(out) = &out {
                std::fs::write(out.join(format!("{round}-{name}")), &bytes).unwrap();
                std::fs::write(out.join(format!("{round}-{name}.words")), words.join("\n")).unwrap();
            }
        }
    }
    eprintln!(
        "{} files, {} removed, {} with glyphs that cannot be told",
        sums.files, sums.removed, sums.unknown
    );
    assert!(sums.wrong.is_empty(), "\n{}\n", sums.wrong.join("\n"));
}

impl Sums {
    /// Removes words from a file, and looks whether they are gone.
    fn removed(&mut self, kind: FileKind, (name, file): (&str, &[u8]), words: &[String]) -> Option<Vec<u8>> {
        if words.is_empty() {
            return None;
        }
        let mut host = Words { words: words.to_vec(), ..Words::default() };
        let (result, stats) = clean(kind, file, &mut host);
        let count = stats.redacted.values().sum::<u64>();
        self.removed += count;
        self.unknown += u64::from(stats.notes.contains_key(&Note::Undecodable));
        let bytes = match result {
            Ok(bytes) if count > 0 => bytes,
            other => {
                self.wrong.push(format!("{name}: {words:?}: {:?}, {count} removed", other.err()));
                return None;
            }
        };
        let mut host = Words { words: words.to_vec(), ..Words::default() };
        let (again, more) = clean(kind, &bytes, &mut host);
        let left = host.texts.iter().any(|text| words.iter().any(|word| text.contains(word)));
        if left || !more.untouched() || again.as_ref() != Ok(&bytes) {
            let same = again.as_ref() == Ok(&bytes);
            self.wrong.push(format!("{name}: {words:?}: left {left}, {more:?}, same {same}"));
        }
        Some(bytes)
    }
}
