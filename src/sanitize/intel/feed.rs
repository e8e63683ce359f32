//! The shapes of feeds: URLhaus, ThreatFox, MISP, plain lists.
//!
//! A row that cannot be read is skipped and counted. A file with more such rows than good ones is refused: it is not
//! what it is taken for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::regular_file;
use crate::sanitize::intel::csv::fields;
use crate::sanitize::intel::{Canonical, Score};

/// The largest JSON file, which is read whole.
const JSON: u64 = 512 << 20;

/// The longest line; what is longer counts as bad.
const LINE: u64 = 256 << 10;

/// What a list says of a host that it names.
const HOST: Score = Score::LISTED.wider();

/// Something that a feed lists.
pub(super) enum FeedEntry {
    Url(Canonical, Score),
    Host(Canonical, Score),
}

/// What became of the rows of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Rows that count.
    pub taken: u64,
    /// Rows of another kind (digests, mail addresses), or that their feed marks as nothing to act on.
    pub passed: u64,
    /// Rows that cannot be read.
    pub skipped: u64,
}

/// Why a feed is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// It cannot be read.
    #[error("{file}: {why}")]
    Unreadable {
        /// Its path.
        file: String,
        /// The kind of failure.
        why: io::ErrorKind,
    },
    /// It is not what its name's ending says.
    #[error("{file}:{line}: not a row of a feed, and so are most others")]
    Shape {
        /// Its path.
        file: String,
        /// The first bad line, from 1.
        line: usize,
    },
    /// It is no JSON.
    #[error("{file}:{line}: not JSON")]
    Json {
        /// Its path.
        file: String,
        /// From 1.
        line: usize,
    },
}

/// Takes what a feed lists.
type EntrySink<'a> = &'a mut dyn FnMut(FeedEntry);

/// What is made of a row: nothing bad (a comment), an entry of another kind, or one that counts.
enum FeedRow {
    Blank,
    Other,
    Bad,
    Good(FeedEntry),
}

/// Reads a feed, or those in a folder.
pub(super) fn load(path: &Path, take: EntrySink<'_>) -> Result<Loaded, FeedError> {
    let mut all = Loaded::default();
    for path in files(path)? {
        let loaded = match kind(&path).as_str() {
            "csv" => {
                let mut columns = None;
                lines(&path, &mut |line| csv(line, &mut columns), take)?
            }
            "json" => json(&path, take)?,
            _ => lines(&path, &mut plain, take)?,
        };
        all.taken += loaded.taken;
        all.passed += loaded.passed;
        all.skipped += loaded.skipped;
    }
    Ok(all)
}

/// Reads a list of common hosts: lines, or a warning list of MISP's (`{"list": [...]}`).
pub(super) fn warnings(path: &Path, take: &mut dyn FnMut(&str) -> bool) -> Result<Loaded, FeedError> {
    if kind(path) != "json" {
        return lines(path, &mut |line| if take(line) { FeedRow::Other } else { FeedRow::Bad }, &mut |_| {});
    }
    let value = parsed(path)?;
    let mut loaded = Loaded::default();
    for host in value.get("list").and_then(Value::as_array).into_iter().flatten() {
        let fine = host.as_str().is_some_and(&mut *take);
        *(if fine { &mut loaded.passed } else { &mut loaded.skipped }) += 1;
    }
    Ok(loaded)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, FeedError> {
    let failed = |error: io::Error| unreadable(path, &error);
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<_> =
        paths.filter(|path| ["csv", "json", "txt"].contains(&kind(path).as_str())).collect();
    paths.sort();
    Ok(paths)
}

fn kind(path: &Path) -> String {
    path.extension().map(|kind| kind.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn unreadable(path: &Path, error: &io::Error) -> FeedError {
    FeedError::Unreadable { file: path.display().to_string(), why: error.kind() }
}

/// A feed that is a file: whatever else has its name is not waited for.
fn opened(path: &Path) -> io::Result<File> {
    regular_file::open(path, OpenOptions::new().read(true))
}

/// Reads a file by lines.
fn lines(
    path: &Path,
    each: &mut dyn FnMut(&str) -> FeedRow,
    take: EntrySink<'_>,
) -> Result<Loaded, FeedError> {
    let failed = |error: io::Error| unreadable(path, &error);
    let mut file = BufReader::new(opened(path).map_err(failed)?);
    let (mut loaded, mut first, mut line) = (Loaded::default(), None, Vec::new());
    for n in 1.. {
        line.clear();
        let read = file.by_ref().take(LINE).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            break;
        }
        match each(&String::from_utf8_lossy(&line)) {
            FeedRow::Blank => {}
            FeedRow::Other => loaded.passed += 1,
            FeedRow::Good(entry) => {
                loaded.taken += 1;
                take(entry);
            }
            FeedRow::Bad => {
                loaded.skipped += 1;
                first = first.or(Some(n));
            }
        }
    }
    match first {
        Some(line) if loaded.skipped > loaded.taken + loaded.passed => {
            Err(FeedError::Shape { file: path.display().to_string(), line })
        }
        _ => Ok(loaded),
    }
}

fn blank(line: &str) -> bool {
    line.is_empty() || line.starts_with(['#', ';', '!']) || line.starts_with("//")
}

/// A line of a list: a URL, a host, or a row of a hosts file.
fn plain(line: &str) -> FeedRow {
    let line = line.trim();
    if blank(line) {
        return FeedRow::Blank;
    }
    let line = line.split(" #").next().unwrap_or_default().trim();
    let mut words = line.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(what), None, _) if what.contains('/') => url(what, Score::LISTED),
        (Some(what), None, _) | (Some("0.0.0.0" | "127.0.0.1" | "::1" | "::"), Some(what), None) => {
            host(what, HOST)
        }
        _ => FeedRow::Bad,
    }
}

/// A row of URLhaus's or ThreatFox's CSV. Which column is what the row of names says; it may be a comment.
fn csv(line: &str, columns: &mut Option<Vec<String>>) -> FeedRow {
    let line = line.trim();
    let names = line.trim_start_matches('#').trim_start();
    if columns.is_none() || line.starts_with('#') {
        let row = fields(names).unwrap_or_default();
        if row.iter().any(|name| matches!(name.as_str(), "url" | "ioc_value")) {
            *columns = Some(row);
            return FeedRow::Blank;
        }
    }
    if blank(line) {
        return FeedRow::Blank;
    }
    let (Some(row), Some(columns)) = (fields(line), columns.as_ref()) else { return FeedRow::Bad };
    let column = |name: &str| {
        let at = columns.iter().position(|column| column == name)?;
        row.get(at).map(String::as_str)
    };
    match (column("url"), column("ioc_type"), column("ioc_value")) {
        (_, Some(kind), Some(what)) => {
            indicator(kind, what, column("confidence_level").and_then(|level| level.parse().ok()))
        }
        (Some(what), ..) => url(what, Score::LISTED),
        _ => FeedRow::Bad,
    }
}

/// A ThreatFox indicator; without a confidence it is taken for half sure.
fn indicator(kind: &str, what: &str, confidence: Option<u8>) -> FeedRow {
    let score = Score::new(confidence.unwrap_or(50));
    match kind {
        "url" => url(what, score),
        "domain" | "ip:port" => host(what, score),
        _ => FeedRow::Other,
    }
}

/// An attribute of MISP's.
fn attribute(kind: &str, what: &str, act: bool) -> FeedRow {
    let first = what.split('|').next().unwrap_or_default();
    match kind {
        _ if !act => FeedRow::Other,
        "url" | "uri" => url(what, Score::LISTED),
        "domain" | "hostname" | "domain|ip" | "hostname|port" | "ip-dst" | "ip-dst|port" => host(first, HOST),
        _ => FeedRow::Other,
    }
}

fn url(what: &str, score: Score) -> FeedRow {
    Canonical::url(&fanged(what)).map_or(FeedRow::Bad, |url| FeedRow::Good(FeedEntry::Url(url, score)))
}

fn host(what: &str, score: Score) -> FeedRow {
    let what = fanged(what);
    let below = what.strip_prefix("*.").unwrap_or(&what);
    Canonical::domain(below).map_or(FeedRow::Bad, |host| FeedRow::Good(FeedEntry::Host(host, score)))
}

/// As it was before someone defanged it.
fn fanged(what: &str) -> String {
    let what = what.trim().replace("[.]", ".").replace("[:]", ":").replace("[://]", "://");
    match what.get(..4) {
        Some(begin) if begin.eq_ignore_ascii_case("hxxp") => {
            format!("http{}", what.get(4..).unwrap_or_default())
        }
        _ => what,
    }
}

fn parsed(path: &Path) -> Result<Value, FeedError> {
    let mut text = Vec::new();
    let file = opened(path).map_err(|error| unreadable(path, &error))?;
    let read = file.take(JSON + 1).read_to_end(&mut text).map_err(|error| unreadable(path, &error))?;
    if read as u64 > JSON {
        return Err(unreadable(path, &io::ErrorKind::FileTooLarge.into()));
    }
    serde_json::from_slice(&text)
        .map_err(|error| FeedError::Json { file: path.display().to_string(), line: error.line() })
}

/// JSON of ThreatFox, URLhaus or MISP: rows are told by their members, wherever they are.
fn json(path: &Path, take: EntrySink<'_>) -> Result<Loaded, FeedError> {
    let value = parsed(path)?;
    let mut loaded = Loaded::default();
    let mut todo = vec![&value];
    while let Some(value) = todo.pop() {
        match value {
            Value::Array(items) => todo.extend(items),
            Value::Object(members) => match object(members) {
                Some(FeedRow::Good(entry)) => {
                    loaded.taken += 1;
                    take(entry);
                }
                Some(FeedRow::Bad) => loaded.skipped += 1,
                Some(_) => loaded.passed += 1,
                None => todo.extend(members.values()),
            },
            _ => {}
        }
    }
    if loaded.skipped > loaded.taken + loaded.passed {
        return Err(FeedError::Shape { file: path.display().to_string(), line: 1 });
    }
    Ok(loaded)
}

/// An object, if it is a row.
fn object(members: &serde_json::Map<String, Value>) -> Option<FeedRow> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if let Some(kind) = text("ioc_type") {
        let confidence = members.get("confidence_level").and_then(Value::as_u64);
        let confidence = confidence.and_then(|level| u8::try_from(level).ok());
        return text("ioc").or(text("ioc_value")).map(|what| indicator(kind, what, confidence));
    }
    if let (Some(kind), Some(what)) = (text("type"), text("value")) {
        let act = members.get("to_ids").and_then(Value::as_bool).unwrap_or(false);
        return Some(attribute(kind, what, act));
    }
    text("url").filter(|_| members.contains_key("url_status")).map(|what| url(what, Score::LISTED))
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
