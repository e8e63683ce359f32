//! What the worst texts cost: `cargo bench --bench cost [-- WORD…]`. Every rule's prefixes and examples, repeated, cut
//! and joined by what joins values, and long runs of every class of characters; each text's cost a byte beside that of
//! English prose. With words, only texts whose names hold one of them. What seems dear is taken again, by turns with
//! English of the same length, since a machine that others use is not always as fast. The dearest are printed, and
//! longer once more, so that what grows faster than its text is seen. Nothing here fails on a slow machine.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where something is wrong"
)]

#[path = "texts.rs"]
mod texts;

use std::collections::BTreeSet;
use std::hint::black_box;

use portcullis::base::clock::{Clock, SystemClock};
use portcullis::detect::{Catalogue, Detector, RuleSelection};

use texts::{Sample, samples};

/// Bytes of each text in the first round, and of the dearest in the second and the third.
const SIZES: [usize; 3] = [8 << 10, 64 << 10, 256 << 10];
/// Texts of the second and third round.
const DEAREST: usize = 40;
/// Times English: what costs more is taken again, with more care.
const SEEMS_DEAR: f64 = 8.5;

/// Seconds that a call takes, by the wall: the system tells a thread's own time in steps that are longer than most
/// calls here.
fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = SystemClock.instant();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// Nanoseconds a byte, the least of some tries, and steps a byte.
fn cost(detector: &Detector, text: &str, tries: usize) -> (f64, f64) {
    let mut cache = detector.cache();
    let one = |cache: &mut _| seconds(|| detector.find_with(cache, text)) * 1e9 / text.len() as f64;
    let least = (0..tries).map(|_| one(&mut cache)).fold(f64::MAX, f64::min);
    (least, cache.steps() as f64 / (tries * text.len()) as f64)
}

/// How many times as much as English a text costs: the least of some tries of each, by turns.
fn beside(detector: &Detector, text: &str, english: &str, tries: usize) -> (f64, f64) {
    let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
    for _ in 0..tries {
        theirs = theirs.min(cost(detector, english, 1).0);
        ours = ours.min(cost(detector, text, 1).0);
    }
    (ours, ours / theirs)
}

/// What a text costs.
struct Cost<'s> {
    sample: &'s Sample,
    /// Nanoseconds a byte.
    time: f64,
    /// Times English.
    times: f64,
    steps: f64,
}

const ENGLISH: &str = "On Monday, 3 March, Anna Bell wrote to Mr Okafor in Leeds that the second invoice, for 1,240 \
    pounds, had not been paid, and that Hollis & Sons would wait until April. He called back at ten: order 88213 had \
    been sent to the old address, 14 Quay Street, and nobody had told Marta. The committee met on a cold morning in the old library by the harbour, and for most of an hour \
    nobody said anything worth writing down. Then the youngest of them asked why the bridge had never been built, and \
    whether it was true that the money had been there all along. There was a silence; somebody laughed, and the clerk \
    went on with the minutes as though the question had been about the weather. It is easy to see now what should \
    have been done, but they had other things to think of, and the winter was long. ";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|one| !one.starts_with("--")).collect();
    let catalogue = Catalogue::builtin().expect("the built-in rules load");
    let all = Detector::new(&catalogue, &RuleSelection::all(&catalogue)).expect("an engine");
    let default = all.with(RuleSelection::defaults(&catalogue)).expect("an engine");
    let english = Sample::new("English".into(), "", ENGLISH);
    let samples: Vec<Sample> = samples()
        .into_iter()
        .filter(|one| words.is_empty() || words.iter().any(|word| one.name.contains(word.as_str())))
        .collect();
    for (which, detector) in [("all rules", &all), ("default rules", &default)] {
        let [first, rest @ ..] = SIZES;
        let short = english.text(first);
        let (base, steps) = cost(detector, &short, 50);
        println!(
            "\n{which}: English costs {base:.1} ns and {steps:.2} steps a byte; {} texts",
            samples.len()
        );
        let mut costs: Vec<Cost> = samples
            .iter()
            .map(|sample| {
                let text = sample.text(first);
                let (mut time, steps) = cost(detector, &text, 1);
                let mut times = time / base;
                for tries in [6, 40] {
                    if times > SEEMS_DEAR {
                        (time, times) = beside(detector, &text, &short, tries);
                    }
                }
                Cost { sample, time, times, steps }
            })
            .collect();
        costs.sort_by(|a, b| b.steps.total_cmp(&a.steps));
        println!("most steps a byte:");
        for one in costs.iter().take(10) {
            println!("  {:.0} {}", one.steps, one.sample.name);
        }
        costs.sort_by(|a, b| b.times.total_cmp(&a.times));
        println!(
            "{} cost more than ten times as much\n",
            costs.iter().filter(|one| one.times > 10.0).count()
        );
        println!("| ns/byte at 8 KiB | × English | 64 KiB | 256 KiB | steps/byte | text |");
        println!("|---:|---:|---:|---:|---:|---|");
        // The dearest of each rule.
        let mut shown = BTreeSet::new();
        costs.retain(|one| {
            let name = &one.sample.name;
            shown.insert(name.split(' ').next().unwrap_or("").to_owned()) || name.starts_with("run")
        });
        for Cost { sample, time, times, steps } in costs.iter().take(DEAREST) {
            let [second, third] = rest.map(|size| match time * size as f64 > 2e9 {
                true => f64::NAN,
                false => beside(detector, &sample.text(size), &english.text(size), 5).1,
            });
            println!("| {time:.0} | {times:.1} | {second:.1} | {third:.1} | {steps:.1} | {} |", sample.name);
        }
    }
}
