//! No text costs much more than any other: counted in steps, which are the same on every machine. `cargo bench --bench
//! cost` takes the time of the same texts.

#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

use portcullis::detect::{Catalogue, Detector, RuleSelection};

#[path = "bench/texts.rs"]
mod texts;

use texts::samples;

/// The most steps that a byte of a text may cost, those that are saved up for its beginning among them.
const MOST_STEPS: usize = 96;
/// Bytes of each text.
const SIZE: usize = 4096;
/// One of so many of the texts, all of which the benchmark tries.
const SHARE: usize = 96;

#[test]
fn no_text_takes_many_steps_a_byte() {
    let catalogue = Catalogue::builtin().expect("the built-in rules load");
    let all = Detector::new(&catalogue, &RuleSelection::all(&catalogue)).expect("an engine");
    let default = all.with(RuleSelection::defaults(&catalogue)).expect("an engine");
    let samples = samples();
    assert!(samples.len() > 100_000, "{}", samples.len());
    for detector in [all, default] {
        for sample in samples.iter().step_by(SHARE) {
            let mut cache = detector.cache();
            let text = sample.text(SIZE);
            detector.find_with(&mut cache, &text);
            assert!(cache.steps() <= MOST_STEPS * text.len(), "{}: {} steps", sample.name, cache.steps());
        }
    }
}

#[test]
fn twice_the_text_takes_twice_the_steps() {
    let catalogue = Catalogue::builtin().expect("the built-in rules load");
    let all = Detector::new(&catalogue, &RuleSelection::all(&catalogue)).expect("an engine");
    let steps = |text: &str| {
        let mut cache = all.cache();
        all.find_with(&mut cache, text);
        cache.steps()
    };
    let units = [
        "SG.",
        "sk-",
        "y0_",
        "xoxb-",
        "GB82 WEST ",
        "https://",
        "A",
        "-----BEGIN ",
        "eyJ",
        "a1-",
        "password=",
    ];
    for unit in units {
        let (half, whole) = (steps(&unit.repeat(20_000)), steps(&unit.repeat(40_000)));
        assert!(whole <= 2 * half + half / 8 + (128 << 10), "{unit}: {half}, then {whole}");
    }
}
