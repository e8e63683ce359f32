//! Every kind of check-digit vectors has a check of that name, which says of each value what the vectors say.

use std::fs;

use portcullis::detect::{Catalogue, Detector, RuleFault, RuleSelection, Span};

use crate::corpora::{rows, vectors};

/// A detector that takes any text for a value that `check` takes for one.
fn asking(check: &str) -> Option<Detector> {
    let rule = format!(
        "[[rule]]\nname = 'ASKED'\ncheck = '{check}'\nscore = 1.0\nthreshold = 0.0\nreach = 256\n\
         patterns = [{{ regex = '[\\x20-\\x7E]{{1,250}}', edge = 'open' }}]"
    );
    let mut catalogue = Catalogue::empty();
    match catalogue.extend(&rule, "asking") {
        Ok(()) => Some(Detector::new(&catalogue, &RuleSelection::all(&catalogue)).unwrap()),
        Err(faults) => {
            assert!(faults.iter().all(|error| error.fault == RuleFault::Check), "{faults:?}");
            None
        }
    }
}

#[test]
fn the_checks_agree_with_the_vectors() {
    let Some(folder) = vectors() else { return };
    let mut files: Vec<_> =
        fs::read_dir(folder.join("checksums")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for file in files {
        let kind = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let Some(detector) = asking(&kind) else {
            wrong.push(format!("{kind}: there is no check of that name"));
            continue;
        };
        let mut cache = detector.cache();
        for row in rows(&file) {
            let (value, valid) = (row["value"].as_str().unwrap(), row["valid"].as_bool().unwrap());
            let whole = Span::new(0, value.len());
            let taken = detector.candidates_with(&mut cache, value).iter().any(|one| one.span == whole);
            asked += 1;
            if taken != valid {
                wrong.push(format!("{kind}: {value:?} is {}", if valid { "valid" } else { "not valid" }));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
}
