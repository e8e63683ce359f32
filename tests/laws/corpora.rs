//! The laws over recorded bodies, where `PORTCULLIS_CORPORA` names a folder of them.

use crate::censor::{Censor, Silent};
use crate::rewriters::{REWRITERS, pass};

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not run")]
fn the_laws_hold_on_recorded_bodies() {
    let Some(folder) = std::env::var_os("PORTCULLIS_CORPORA") else {
        return eprintln!("skipped: PORTCULLIS_CORPORA names no folder of recorded bodies");
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    assert!(!files.is_empty());
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
