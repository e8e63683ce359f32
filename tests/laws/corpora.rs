//! The laws over recorded bodies, where `PORTCULLIS_CORPORA` names a folder of them, or one that has them in `llm`.

use crate::censor::{Censor, Silent};
use crate::rewriters::{REWRITERS, pass};

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not run")]
fn the_laws_hold_on_recorded_bodies() {
    let Some(folder) = std::env::var_os("PORTCULLIS_CORPORA") else {
        return eprintln!("skipped: PORTCULLIS_CORPORA names no folder of recorded bodies");
    };
    let folder = std::path::PathBuf::from(folder);
    let within = Some(folder.join("llm")).filter(|within| within.is_dir());
    let mut files: Vec<_> =
        std::fs::read_dir(within.unwrap_or(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    if files.is_empty() {
        return eprintln!("skipped: PORTCULLIS_CORPORA has no recorded bodies");
    }
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for (name, make) in REWRITERS.into_iter().filter(|(name, _)| !matches!(*name, "channel" | "embedded"))
        {
            let whole = pass(make, Box::<Censor>::default(), &[&bytes]);
            for step in [1, 7, 61, 1021] {
                let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
                let place = format!("{name} on {} by {step}", file.display());
                assert!(pass(make, Box::<Censor>::default(), &pieces) == whole, "cut: {place}");
                assert!(pass(make, Box::<Silent>::default(), &pieces) == bytes, "identity: {place}");
            }
        }
    }
}
