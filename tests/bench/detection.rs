//! What detection costs: `cargo bench --bench detection [-- FILE]`. Text as a gateway sees it (chat and JSON logs with
//! one byte in a hundred of values), or the file's; megabytes in a second of the thread's own processor time, the best
//! of several rounds. Nothing here fails on a slow machine.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where something is wrong"
)]

#[path = "rules.rs"]
mod rules;

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;

use portcullis::base::clock::{Clock, SystemClock};
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use regex::bytes::{RegexBuilder, RegexSetBuilder};
use regex_automata::meta;
use regex_automata::util::syntax;

use rules::rules;

const ROUNDS: usize = 3;
/// How long a round lasts at least, in seconds: the system tells a thread's time in steps of some milliseconds.
const ROUND: f64 = 0.4;
/// Enough of a slow engine's work, in seconds.
const ENOUGH: f64 = 2.0;
/// Text a peer is given at a time, in bytes: all at once would need all its captures at once.
const PIECE: usize = 4096;

/// Seconds this thread has run; where the system does not tell, seconds that passed.
fn spent() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanos.map_or_else(wall, |nanos| nanos / 1e9)
}

fn wall() -> f64 {
    SystemClock.instant().elapsed().as_secs_f64()
}

/// Seconds of one call.
fn once<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = spent();
    let made = work();
    (made, spent() - start)
}

/// Bytes this process has in memory.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|pages| pages.split(' ').nth(1)?.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// One row: megabytes in a second, nanoseconds a byte, findings.
fn show(what: &str, bytes: usize, (found, seconds): (usize, f64)) {
    let (rate, each) = (bytes as f64 / seconds / 1e6, seconds * 1e9 / bytes as f64);
    println!("| {what:<48} | {rate:>8.1} | {each:>8.2} | {found:>8} |");
}

fn head(what: &str) {
    println!("\n| {what:<48} | {:>8} | {:>8} | {:>8} |\n|---|---:|---:|---:|", "MB/s", "ns/byte", "findings");
}

/// What `work` found, and the seconds of one call in the best round.
fn best(mut work: impl FnMut() -> usize) -> (usize, f64) {
    let mut round = || {
        let (mut calls, start) = (0.0, spent());
        loop {
            let found = work();
            calls += 1.0;
            let seconds = spent() - start;
            if seconds >= ROUND || calls >= 1e6 {
                return (found, seconds / calls);
            }
        }
    };
    let rounds = (0..ROUNDS).map(|_| round());
    rounds.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are rounds")
}

fn whole(detector: &Detector, text: &str) -> (usize, f64) {
    let mut cache = detector.cache();
    best(|| black_box(detector.find_with(&mut cache, text)).len())
}

/// Pieces that end on character boundaries, `size` bytes or a little more.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.ceil_char_boundary(size));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

fn streamed(detector: &Detector, text: &str, size: usize) -> (usize, f64) {
    let pieces = pieces(text, size);
    best(|| {
        let (mut scanner, mut found) = (detector.scanner(), 0);
        for piece in &pieces {
            scanner.feed(piece, &mut |_| found += 1);
        }
        scanner.end(&mut |_| found += 1);
        found
    })
}

/// The rules with other names and without examples, as a file.
fn renamed(rules: &[toml::Table]) -> String {
    let mut file = toml::Table::new();
    let rename = |rule: &toml::Table| {
        let mut rule = rule.clone();
        let name = rule.get("name").and_then(toml::Value::as_str).expect("a name").to_owned();
        rule.insert("name".to_owned(), format!("{name}_2").into());
        rule.retain(|key, _| key != "matches" && key != "misses");
        toml::Value::Table(rule)
    };
    file.insert("rule".to_owned(), rules.iter().map(rename).collect::<Vec<_>>().into());
    toml::to_string(&file).expect("TOML")
}

/// All patterns that the rule files write out.
fn patterns(rules: &[toml::Table]) -> Vec<String> {
    let lists = rules.iter().filter_map(|rule| rule.get("patterns")?.as_array());
    lists.flatten().filter_map(|pattern| Some(pattern.get("regex")?.as_str()?.to_owned())).collect()
}

/// Goes through the pieces until that took long enough; bytes, findings, seconds.
fn sampled(text: &str, mut work: impl FnMut(&[u8]) -> usize) -> (usize, (usize, f64)) {
    let (mut bytes, mut found, start) = (0, 0, spent());
    for piece in pieces(text, PIECE) {
        found += work(piece.as_bytes());
        bytes += piece.len();
        if spent() - start > ENOUGH {
            break;
        }
    }
    (bytes, (found, spent() - start))
}

/// Two ways to look for many patterns with the regex crates, without validators, context or streaming.
fn peers(rules: &[toml::Table], text: &str) {
    let patterns = patterns(rules);
    let set =
        RegexSetBuilder::new(&patterns).unicode(false).size_limit(1 << 30).dfa_size_limit(1 << 26).build();
    let each: Result<Vec<_>, _> = patterns
        .iter()
        .map(|one| RegexBuilder::new(one).unicode(false).size_limit(1 << 30).build())
        .collect();
    if let (Ok(set), Ok(each)) = (set, each) {
        let (bytes, cost) = sampled(text, |piece| {
            set.matches(piece)
                .into_iter()
                .filter_map(|n| each.get(n))
                .map(|one| one.find_iter(piece).count())
                .sum()
        });
        show(&format!("RegexSet, then each of {} patterns", patterns.len()), bytes, cost);
    }
    let config = meta::Config::new().utf8_empty(false).nfa_size_limit(None).hybrid_cache_capacity(1 << 26);
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    if let Ok(many) = meta::Builder::new().configure(config).syntax(syntax).build_many(&patterns) {
        let (bytes, cost) = sampled(text, |piece| many.find_iter(piece).count());
        show(&format!("meta::Regex of {} patterns, find_iter", patterns.len()), bytes, cost);
    }
}

/// What each group of rules costs when nothing else is on.
fn groups(catalogue: &Catalogue, all: &Detector, rules: &[toml::Table], text: &str, lines: &str) {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for rule in rules {
        let field = |key: &str| rule.get(key).and_then(toml::Value::as_str);
        groups.entry(field("anchor").unwrap_or("free")).or_default().extend(field("name"));
    }
    head("one group of rules on, whole text");
    for (anchor, names) in &groups {
        let names: Vec<&str> = names.iter().copied().filter(|name| catalogue.find(name).is_some()).collect();
        let Ok(selection) = RuleSelection::only(catalogue, names.iter().copied()) else { continue };
        let detector = all.with(selection).expect("an engine");
        show(&format!("{anchor}: {} rules", names.len()), text.len(), whole(&detector, text));
        show("  lines not beginning with `{`", lines.len(), whole(&detector, lines));
    }
}

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let text = file.map_or_else(|| text::mixed(10_000_000), |file| fs::read_to_string(file).expect("a text"));
    let lines: String = text.split_inclusive('\n').filter(|line| !line.starts_with('{')).collect();
    let letters: String = lines.chars().filter(|c| !c.is_ascii_digit()).collect();

    let before = resident();
    let (catalogue, seconds) = once(|| Catalogue::builtin().expect("the built-in rules load"));
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!("{} bytes of text, {} of them in lines not beginning with `{{`", text.len(), lines.len());
    let count = catalogue.rules().count();
    let (compiled, more) = once(|| catalogue.compile());
    compiled.expect("the built-in rules compile");
    println!("{count} rules: {:.0} ms to read, {:.0} ms to compile", seconds * 1e3, more * 1e3);
    println!(
        "{:.1} MiB of automata, {:.1} MiB more resident",
        mib(catalogue.memory().expect("an engine")),
        mib(resident().saturating_sub(before))
    );

    let all = Detector::new(&catalogue, &RuleSelection::all(&catalogue)).expect("an engine");
    let default = all.with(RuleSelection::defaults(&catalogue)).expect("an engine");
    head("whole text");
    show("all rules", text.len(), whole(&all, &text));
    show("all rules, lines not beginning with `{`", lines.len(), whole(&all, &lines));
    show("all rules, those lines without digits", letters.len(), whole(&all, &letters));
    show("default rules", text.len(), whole(&default, &text));
    show("default rules, lines not beginning with `{`", lines.len(), whole(&default, &lines));

    head("as a stream, all rules");
    for size in [64 << 10, 16 << 10, 4 << 10, 1 << 10, 128] {
        show(&format!("pieces of {size} bytes"), text.len(), streamed(&all, &text, size));
    }

    let rules = rules();
    head("other engines, the same patterns");
    peers(&rules, &text);
    show("ours, all rules, the same pieces", text.len(), {
        let mut cache = all.cache();
        let pieces = pieces(&text, PIECE);
        best(|| pieces.iter().map(|piece| all.find_with(&mut cache, piece).len()).sum())
    });

    groups(&catalogue, &all, &rules, &text, &lines);

    head("every rule twice");
    let mut doubled = catalogue.clone();
    let (loaded, seconds) = once(|| doubled.extend(&renamed(&affordable(&catalogue, rules)), "renamed"));
    match loaded {
        Ok(()) => {
            let all = Detector::new(&doubled, &RuleSelection::all(&doubled)).expect("an engine");
            show(&format!("{} rules", doubled.rules().count()), text.len(), whole(&all, &text));
            println!(
                "\n{:.1} MiB of automata, {:.0} ms to read and to compile with their examples",
                mib(doubled.memory().expect("an engine")),
                seconds * 1e3
            );
        }
        Err(faults) => faults.iter().for_each(|fault| println!("did not load: {fault}")),
    }
}

/// The rules that a customer could have: those whose patterns would cost too much are left out.
fn affordable(catalogue: &Catalogue, mut rules: Vec<toml::Table>) -> Vec<toml::Table> {
    let faults = catalogue.clone().extend(&renamed(&rules), "renamed").err().unwrap_or_default();
    let costly: Vec<usize> = faults.iter().map(|fault| fault.number).collect();
    let mut number = 0;
    rules.retain(|_| {
        number += 1;
        !costly.contains(&number)
    });
    rules
}

/// Text to search through, always the same.
mod text {
    use std::fmt::Write;

    const WORDS: &str = "the of and to in is that for it as was with be by on not this are at from but have an they \
        which one you were all there would their we been has when who will no more if out so up said what its about \
        than into them can only other time new some could these two may first then do any like my now over such our \
        me even most made after also did many off before must well back through years much where your way down \
        should because long each just those people how little good world make very year still see own work order \
        ticket refund invoice shipping account manager meeting report quarter revenue customer service latency \
        request response cache deploy server client function variable queue index schema retry timeout pipeline";

    struct Writer {
        words: Vec<&'static str>,
        dice: u64,
        out: String,
    }

    impl Writer {
        fn below(&mut self, bound: u64) -> u64 {
            self.dice =
                self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.dice >> 33) % bound
        }

        fn put(&mut self, text: &str) {
            self.out.push_str(text);
        }

        fn some(&mut self, alphabet: &str, length: usize) {
            for _ in 0..length {
                let at = usize::try_from(self.below(alphabet.len() as u64)).unwrap_or(0);
                self.out.extend(alphabet.get(at..=at));
            }
        }

        fn words(&mut self, least: u64, more: u64) {
            for n in 0..least + self.below(more) {
                let at = usize::try_from(self.below(self.words.len() as u64)).unwrap_or(0);
                let word = self.words.get(at).copied().unwrap_or_default();
                self.put(if n == 0 { "" } else { " " });
                self.put(word);
            }
        }

        fn number(&mut self, least: u64, bound: u64) {
            let number = least + self.below(bound - least);
            write!(self.out, "{number}").unwrap_or_default();
        }

        fn value(&mut self) {
            const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
            const DIGITS: &str = "0123456789";
            const BOTH: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
            match self.below(9) {
                0 => {
                    self.put(" mail ");
                    self.some(LOWER, 9);
                    self.put("@example.com");
                }
                1 => {
                    self.put(" call +1 ");
                    self.number(201, 989);
                    self.put("-867-");
                    self.some(DIGITS, 4);
                }
                2 => self.put(" card 4012 8888 8888 1881"),
                3 => {
                    self.put(" ssn ");
                    self.number(100, 665);
                    self.put("-22-");
                    self.number(1000, 9999);
                }
                4 => {
                    self.put(" host 10.");
                    self.number(0, 255);
                    self.put(".7.");
                    self.number(0, 255);
                }
                5 => self.put(" iban DE89370400440532013000"),
                6 => {
                    self.put(" key AKIA");
                    self.some(BOTH, 16);
                }
                7 => {
                    self.put(" token sk-proj-");
                    self.some(BOTH, 48);
                }
                _ => {
                    self.put(" see https://");
                    self.some(LOWER, 8);
                    self.put(".example.org/a");
                }
            }
        }

        fn chat(&mut self) {
            let who = if self.below(2) == 0 { "User: So " } else { "Assistant: Well " };
            self.put(who);
            for _ in 0..2 + self.below(5) {
                self.words(6, 16);
                if self.below(8) == 0 {
                    self.put(" ");
                    self.number(0, 99_999);
                }
                if self.below(20) == 0 {
                    self.value();
                }
                self.put(". ");
            }
            self.put("\n\n");
        }

        fn log(&mut self) {
            const HEX: &str = "0123456789abcdef";
            self.put("{\"ts\":\"2026-08-");
            self.number(10, 29);
            self.put("T22:");
            self.number(10, 60);
            self.put(":56.684Z\",\"level\":\"info\",\"trace_id\":\"");
            self.some(HEX, 32);
            self.put("\",\"span\":");
            self.number(0, 1_000_000);
            self.put(",\"latency_ms\":");
            self.number(0, 900);
            self.put(".25,\"bytes\":");
            self.number(0, 10_000_000);
            self.put(",\"path\":\"/api/v2/orders/");
            self.number(0, 1_000_000);
            self.put("\",\"msg\":\"");
            self.words(4, 10);
            if self.below(9) == 0 {
                self.value();
            }
            self.put("\",\"uuid\":\"");
            for length in [8, 4, 4, 4, 12] {
                self.put(if length == 8 { "" } else { "-" });
                self.some(HEX, length);
            }
            self.put("\"}\n");
        }
    }

    /// About `size` bytes, in lines of chat and of logs.
    pub(super) fn mixed(size: usize) -> String {
        let words = WORDS.split_ascii_whitespace().collect();
        let mut writer = Writer { words, dice: 7, out: String::with_capacity(size + 4096) };
        while writer.out.len() < size {
            match writer.below(2) {
                0 => writer.chat(),
                _ => (0..3).for_each(|_| writer.log()),
            }
        }
        writer.out
    }
}
