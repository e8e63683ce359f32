//! Office files of a corpus (`PORTCULLIS_SANITIZE`), cleaned twice. With `PORTCULLIS_SANITIZE_OUT`, what comes out is
//! written there, for whoever judges it.

use std::path::Path;
use std::{env, fs};

use crate::sanitize::bench::Bench;
use crate::sanitize::{FileKind, Rejection};

fn kind(file: &[u8]) -> Option<FileKind> {
    let has = |word: &[u8]| memchr::memmem::find(file, word).is_some();
    if file.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        Some(FileKind::Ole2)
    } else if !file.starts_with(b"PK") {
        None
    } else if has(b"mimetypeapplication/vnd.oasis.opendocument") {
        Some(FileKind::Odf)
    } else {
        has(b"[Content_Types].xml").then_some(FileKind::Ooxml)
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "says that it skips, and what became of each file")]
fn office_files_of_the_corpus() {
    let Ok(folder) = env::var("PORTCULLIS_SANITIZE") else {
        println!("skipped: PORTCULLIS_SANITIZE names no corpus");
        return;
    };
    let word = env::var("PORTCULLIS_SANITIZE_WORD").unwrap_or_default().leak();
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("the corpus").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let file = fs::read(&path).expect("a file");
        let Some(kind) = kind(&file) else { continue };
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let mut bench = if word.is_empty() { Bench::disarming() } else { Bench::redacting(word) };
        match bench.clean(kind, &file) {
            Ok((clean, stats)) => {
                println!("{name}: {} -> {} {stats:?}", file.len(), clean.len());
                let (again, rest) = bench.clean(kind, &clean).expect("a clean file");
                let same = clean == again && rest.untouched();
                if let Ok(out) = env::var("PORTCULLIS_SANITIZE_OUT") {
                    fs::write(Path::new(&out).join(&name), clean).expect("written");
                }
                assert!(same, "{name} is no fixed point: {rest:?}");
            }
            Err(rejection) => {
                println!("{name}: {rejection}");
                assert!(
                    matches!(rejection, Rejection::Malformed | Rejection::Encrypted | Rejection::Unsupported),
                    "{name}"
                );
            }
        }
    }
}
