//! What is found in a text: one line for each finding, with its place in bytes, its score and its rule.
//!
//! `echo 'mail jane@example.com' | cargo run --no-default-features --features detect --example detect`
//!
//! Names of rules as arguments choose what is looked for; without one, what is on by default.

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};

use portcullis::detect::{Catalogue, Detector, RuleSelection};

fn main() -> Result<(), Box<dyn Error>> {
    let rules = Catalogue::builtin()?;
    let names: Vec<String> = std::env::args().skip(1).collect();
    let chosen = match names.is_empty() {
        true => RuleSelection::defaults(&rules),
        false => RuleSelection::only(&rules, names.iter().map(String::as_str))?,
    };
    let detector = Detector::new(&rules, &chosen)?;

    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let mut out = stdout().lock();
    for finding in detector.find(&text) {
        let (span, rule) = (finding.span, detector.rule(finding.rule));
        writeln!(out, "{}-{}\t{:.2}\t{}", span.start, span.end, finding.score.value(), rule.name())?;
    }
    Ok(())
}
