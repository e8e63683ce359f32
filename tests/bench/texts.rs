//! Texts that cost the most: every rule's prefixes and examples, repeated, cut and joined by what joins values, and long
//! runs of every class of characters.

#[path = "rules.rs"]
mod rules;

use std::collections::BTreeSet;

use rules::rules;

/// What stands between two values.
const JOINTS: [&str; 7] = ["", " ", "-", ".", "/", "=", "\""];

/// A text and how it was made.
pub(crate) struct Sample {
    pub(crate) name: String,
    unit: String,
    /// What stands once, before the units.
    head: String,
}

impl Sample {
    pub(crate) fn new(name: String, head: &str, unit: &str) -> Self {
        Self { name, unit: unit.to_owned(), head: head.to_owned() }
    }

    pub(crate) fn text(&self, size: usize) -> String {
        let mut text = self.head.clone();
        while text.len() < size {
            text.push_str(&self.unit);
        }
        text
    }
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
        ("1 and line breaks", "1\n".into()),
        ("a and line breaks", "a\n".into()),
        ("no-break spaces", "1\u{a0}".into()),
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

pub(crate) fn samples() -> Vec<Sample> {
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
