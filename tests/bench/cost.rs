//! What the worst texts cost: `cargo bench --bench cost [-- WORD…]`. Every rule's prefixes and examples, repeated, cut
//! and joined by what joins values, and long runs of every class of characters; each text's cost a byte beside that of
//! English prose. With words, only texts whose names hold one of them. The dearest are printed, and twice as long once
//! more, so that what grows faster than its text is seen. Nothing here fails on a slow machine.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where something is wrong"
)]

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use portcullis::base::clock::{Clock, SystemClock};
use portcullis::detect::{Catalogue, Choice, Detector};

/// Bytes of each text in the first round, and of the dearest in the second and the third.
const SIZES: [usize; 3] = [8 << 10, 64 << 10, 256 << 10];
/// Texts of the second and third round.
const DEAREST: usize = 40;
/// What stands between two values.
const JOINTS: [&str; 7] = ["", " ", "-", ".", "/", "=", "\""];

/// Seconds that a call takes, by the wall: the system tells a thread's own time in steps that are longer than most
/// calls here.
fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = SystemClock.instant();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// A text and how it was made.
struct Sample {
    name: String,
    unit: String,
    /// What stands once, before the units.
    head: String,
}

impl Sample {
    fn new(name: String, head: &str, unit: &str) -> Self {
        Self { name, unit: unit.to_owned(), head: head.to_owned() }
    }

    fn text(&self, size: usize) -> String {
        let mut text = self.head.clone();
        while text.len() < size {
            text.push_str(&self.unit);
        }
        text
    }
}

/// The rules as their files say them.
fn rules() -> Vec<toml::Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/detect/rules");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("rules").flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let tables = files.into_iter().map(|file| {
        let table: toml::Table = fs::read_to_string(file).expect("a rule file").parse().expect("TOML");
        table.get("rule").and_then(toml::Value::as_array).cloned().unwrap_or_default()
    });
    tables.flatten().filter_map(|rule| rule.as_table().cloned()).collect()
}

fn texts_of<'t>(rule: &'t toml::Table, key: &str) -> impl Iterator<Item = &'t str> {
    let list = rule.get(key).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(toml::Value::as_str)
}

/// Runs of the classes that values are made of.
fn runs() -> Vec<(&'static str, String)> {
    let mut dice: u64 = 11;
    let mut random = |alphabet: &str, length: usize| -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut next = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            letters.get(usize::try_from(dice >> 33).unwrap_or(0) % letters.len()).copied().unwrap_or('a')
        };
        (0..length).map(|_| next()).collect()
    };
    let (lower, upper, digits) = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789");
    let long = 4096;
    vec![
        ("A", "A".into()),
        ("a", "a".into()),
        ("0", "0".into()),
        ("1", "1".into()),
        ("a1", "a1".into()),
        ("1 ", "1 ".into()),
        ("1-", "1-".into()),
        ("1.", "1.".into()),
        ("A.", "A.".into()),
        ("a-", "a-".into()),
        ("a_", "a_".into()),
        ("A ", "A ".into()),
        ("Ab ", "Ab ".into()),
        ("@", "@".into()),
        ("a@", "a@".into()),
        ("a@b.", "a@b.".into()),
        (":", ":".into()),
        ("1:", "1:".into()),
        ("%", "%".into()),
        ("%40", "%40".into()),
        ("+", "+".into()),
        ("+1", "+1".into()),
        ("(1", "(1".into()),
        ("((", "((".into()),
        ("/", "/".into()),
        ("a/", "a/".into()),
        ("://", "://".into()),
        ("\\", "\\".into()),
        ("\\n", "\\n".into()),
        ("\\u0041", "\\u0041".into()),
        ("\"", "\"".into()),
        ("{\"", "{\"".into()),
        ("=", "=".into()),
        ("é", "é".into()),
        ("花", "花".into()),
        ("digits", random(digits, long)),
        ("digits in groups", random("0123456789 ", long)),
        ("digits with hyphens", random("0123456789-", long)),
        ("digits with dots", random("0123456789.", long)),
        ("hexadecimal", random("0123456789abcdef", long)),
        ("lower case", random(lower, long)),
        ("capitals", random(upper, long)),
        ("capitals and digits", random(&format!("{upper}{digits}"), long)),
        ("base62", random(&format!("{lower}{upper}{digits}"), long)),
        ("base64", random(&format!("{lower}{upper}{digits}+/"), long)),
        ("base64url", random(&format!("{lower}{upper}{digits}-_"), long)),
        ("links", random(&format!("{lower}{upper}{digits}-_./:=+"), long)),
        ("signs", random("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", long)),
        ("all of ASCII", random(&(' '..='~').collect::<String>(), long)),
        ("words of capitals", random("ABCDEFGHIJKLMNOPQRSTUVWXYZ ", long)),
        ("short words", random("abcde ABCDE 01234 ", long)),
    ]
}

fn samples() -> Vec<Sample> {
    let runs = runs();
    let mut all: Vec<Sample> =
        runs.iter().map(|(name, run)| Sample::new(format!("run of {name}"), "", run)).collect();
    let rules = rules();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for rule in &rules {
        let name = rule.get("name").and_then(toml::Value::as_str).unwrap_or("?");
        // What stands between « and » is what is found.
        let plain = |example: &str| example.replace(['«', '»'], "");
        let examples: Vec<String> =
            texts_of(rule, "matches").chain(texts_of(rule, "misses")).map(plain).collect();
        let prefixes: Vec<&str> = texts_of(rule, "prefixes").collect();
        let mut units: Vec<(String, String)> = Vec::new();
        for prefix in &prefixes {
            units.push((format!("{name} prefix"), (*prefix).to_owned()));
            for run in ["a1", "A-", "A."] {
                let made = format!("{prefix}{}", run.repeat(6));
                units.push((format!("{name} prefix and {run}"), made));
            }
            for (run_name, run) in &runs {
                if known.insert(format!("{prefix}\0{run_name}")) {
                    all.push(Sample::new(format!("{name} prefix, then {run_name}"), prefix, run));
                }
            }
        }
        for example in examples {
            units.push((format!("{name} example"), example.clone()));
            for (cut, part) in [("half", 2), ("three quarters", 4)] {
                let length = example.floor_char_boundary(example.len() - example.len() / part);
                let length = if part == 2 { example.floor_char_boundary(example.len() / 2) } else { length };
                units
                    .push((format!("{name} example, {cut}"), example.get(..length).unwrap_or("").to_owned()));
            }
            let last = example.char_indices().next_back().map_or(0, |(at, _)| at);
            units.push((
                format!("{name} example, all but the end"),
                example.get(..last).unwrap_or("").to_owned(),
            ));
        }
        for (what, unit) in units {
            for joint in JOINTS {
                let unit = format!("{unit}{joint}");
                if !unit.is_empty() && known.insert(unit.clone()) {
                    all.push(Sample::new(format!("{what}, {joint:?}"), "", &unit));
                }
            }
        }
    }
    all
}

/// Nanoseconds a byte, the least of some tries.
fn cost(detector: &Detector, text: &str, tries: usize) -> f64 {
    let mut cache = detector.cache();
    let one = |_| seconds(|| detector.find(&mut cache, text)) * 1e9 / text.len() as f64;
    (0..tries).map(one).fold(f64::MAX, f64::min)
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
    let all = Detector::new(&catalogue, &Choice::all(&catalogue)).expect("an engine");
    let default = all.with(Choice::defaults(&catalogue)).expect("an engine");
    let english = Sample::new("English".into(), "", ENGLISH);
    let samples: Vec<Sample> = samples()
        .into_iter()
        .filter(|one| words.is_empty() || words.iter().any(|word| one.name.contains(word.as_str())))
        .collect();
    for (which, detector) in [("all rules", &all), ("default rules", &default)] {
        let [first, rest @ ..] = SIZES;
        let base = cost(detector, &english.text(SIZES[1]), 9);
        println!("\n{which}: English costs {base:.1} ns a byte; {} texts", samples.len());
        let mut costs: Vec<(f64, &Sample)> =
            samples.iter().map(|one| (cost(detector, &one.text(first), 1), one)).collect();
        costs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let over = costs.iter().filter(|(cost, _)| *cost > 10.0 * base).count();
        println!("{over} cost more than ten times as much\n");
        println!("| ns/byte at 8 KiB | 64 KiB | 256 KiB | × English | text |\n|---:|---:|---:|---:|---|");
        // The dearest of each rule.
        let mut shown = BTreeSet::new();
        costs.retain(|(_, one)| {
            shown.insert(one.name.split(' ').next().unwrap_or("").to_owned()) || one.name.starts_with("run")
        });
        for (least, sample) in costs.iter().take(DEAREST) {
            let longer = rest.map(|size| match *least * size as f64 > 2e9 {
                true => f64::NAN,
                false => cost(detector, &sample.text(size), 3),
            });
            let worst = longer.iter().copied().fold(*least, f64::max);
            let [second, third] = longer;
            println!("| {least:.0} | {second:.0} | {third:.0} | {:.1} | {} |", worst / base, sample.name);
        }
    }
}
