//! Files made to overwhelm or to break whoever reads them: bombs, each answered within seconds, and mutants of good
//! files, none of which makes a format panic. `PORTCULLIS_MUTANTS` says how many mutants, and `PORTCULLIS_SEED` which.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::sanitize::bench::Bench;
use crate::sanitize::format::FORMATS;
use crate::sanitize::format::package::NewPackage;
use crate::sanitize::format::sample_tests::{gif, gzip, pdf, seeds, stream, tar, zip, zlib};
use crate::sanitize::{Rejection, UnfoldBounds, Work, identify};

/// How long an answer may take, where the formats are compiled without optimisation and the machine is shared.
const TIMEOUT: Duration = Duration::from_secs(20);

fn chunk(name: &[u8], data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32).to_be_bytes(), name, data, &[0; 4]].concat()
}

fn png(side: u32, pixels: &[u8]) -> Vec<u8> {
    let header = [&side.to_be_bytes()[..], &side.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let parts = [chunk(b"IHDR", &header), chunk(b"IDAT", pixels), chunk(b"IEND", b"")].concat();
    [b"\x89PNG\r\n\x1a\n".as_slice(), &parts].concat()
}

fn tiff(side: u32) -> Vec<u8> {
    let entry = |tag: u16, value: u32| {
        [&tag.to_le_bytes()[..], &4_u16.to_le_bytes(), &1_u32.to_le_bytes(), &value.to_le_bytes()].concat()
    };
    let tags =
        [(256, side), (257, side), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, side), (279, 1)];
    let entries: Vec<u8> = tags.iter().flat_map(|(tag, value)| entry(*tag, *value)).collect();
    [b"II*\0\x08\0\0\0\x09\0".as_slice(), &entries, &[0; 4]].concat()
}

fn nested(open: &str, close: &str, depth: usize) -> Vec<u8> {
    (open.repeat(depth) + &close.repeat(depth)).into_bytes()
}

fn deep(mut file: Vec<u8>, levels: usize, pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    for _ in 0..levels {
        file = pack(&file);
    }
    file
}

/// Two entries of the directory that lead to the same bytes.
fn overlapping() -> Vec<u8> {
    let mut file = zip("x", &[b'y'; 5000], 2);
    let last = memchr::memmem::rfind(&file, b"PK\x01\x02").expect("a directory");
    file.get_mut(last + 42..last + 46).expect("an offset").fill(0);
    file
}

fn mime(depth: usize) -> Vec<u8> {
    let part = |n: usize| format!("Content-Type: multipart/mixed; boundary=x{n}x\n\n--x{n}x\n");
    let parts: String = (0..depth).map(part).collect();
    format!("From: a\nSubject: b\n{parts}").into_bytes()
}

fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let zeros = vec![0_u8; 4 << 20];
    let spaces = vec![b' '; 4 << 20];
    let entities: String =
        (1..12).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
    let mut office = NewPackage::new();
    office.put("[Content_Types].xml", &spaces, false).expect("an entry");
    (0..20).for_each(|n| office.put(&format!("word/{n}.xml"), &spaces, false).expect("an entry"));
    vec![
        ("zip, flat", zip(".txt", &spaces, 24)),
        ("zip, nested wide", deep(zip(".txt", &spaces, 4), 4, |file| zip(".zip", file, 8))),
        ("zip, nested deep", deep(b"x".to_vec(), 200, |file| zip(".zip", file, 1))),
        ("zip, overlapping", overlapping()),
        ("zip, many entries", zip("", b"", 60_000)),
        (
            "zip, huge directory",
            [b"PK\x03\x04".as_slice(), &b"PK\x01\x02".repeat(2 << 20), b"PK\x05\x06"].concat(),
        ),
        ("gzip, deep", deep(b"x".to_vec(), 200, gzip)),
        ("gzip, many members", gzip(&zeros).repeat(24)),
        ("gzip, empty members", gzip(b"").repeat(100_000)),
        ("gzip of zip of gzip", gzip(&zip("", &gzip(&zeros).repeat(24), 1))),
        ("tar, huge", tar(b'0', b"77777777777\0")),
        ("tar, sparse", tar(b'S', b"77777777777\0")),
        ("tar, long name", tar(b'L', b"77777777777\0")),
        ("png, sides", png(65_000, &zlib(b"x"))),
        ("png, pixels", png(4, &zlib(&zeros))),
        ("gif, sides", gif(65_535, 1)),
        ("gif, frames", gif(4000, 5000)),
        ("tiff, sides", tiff(60_000)),
        ("tiff, loop", [b"II*\0\x08\0\0\0\0\0\x08\0\0\0".as_slice(), &[0; 64]].concat()),
        (
            "xml, entities",
            format!("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e0 'x'>{entities}]><a>&e11;</a>").into(),
        ),
        ("xml, deep", [b"<?xml version='1.0'?>".as_slice(), &nested("<a>", "</a>", 300_000)].concat()),
        ("svg, deep", [b"<svg>".as_slice(), &nested("<g>", "</g>", 300_000)].concat()),
        ("html, deep", nested("<div>", "</div>", 300_000)),
        ("html, unclosed", b"<div <".repeat(300_000)),
        ("json, deep", nested("[", "]", 500_000)),
        ("rtf, deep", [b"{\\rtf1".as_slice(), &nested("{\\b ", "}", 300_000), b"}"].concat()),
        ("mail, deep", mime(5_000)),
        (
            "mail, many parts",
            [&b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n"[..], &b"--b\n\nx\n".repeat(100_000)]
                .concat(),
        ),
        ("mail, many fields", [b"From: a\n".as_slice(), &b"To: b\n".repeat(200_000), b"\nx"].concat()),
        ("mailbox, many messages", b"From a Mon Jan  1 00:00:00 2020\nTo: b\nFrom: c\n\nx\n\n".repeat(9_000)),
        (
            "mailbox, many lines",
            [b"From a\nFrom: a\nTo: b\n\n".as_slice(), &b"\nFrom a\n>From a\n\n".repeat(200_000)].concat(),
        ),
        ("pdf, stream", pdf(&stream(&zeros))),
        ("pdf, arrays", pdf(&nested("[", "]", 100_000))),
        (
            "pdf, objects",
            pdf(&(4..100_000).flat_map(|n| format!("{n} 0 obj[]endobj\n").into_bytes()).collect::<Vec<_>>()),
        ),
        ("docx, parts", office.finish().expect("a package")),
    ]
}

#[test]
#[ignore = "minutes without optimisation: run with --release"]
#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "figures, and how long it took")]
fn bombs_are_answered() {
    // A sixteenth of the usual bytes: the bombs are packed without optimisation, too.
    let bounds = UnfoldBounds { bytes: 64 << 20, ..UnfoldBounds::default() };
    let only = env::var("PORTCULLIS_BOMB").unwrap_or_default();
    for (name, file) in bombs().into_iter().filter(|(name, _)| name.contains(&only)) {
        let kind = identify(&file, "x");
        let begun = Instant::now();
        let answer = {
            let mut bench = Bench::redacting("Jane");
            let mut work = Work::new(&FORMATS, bench.options, bounds, &mut bench);
            work.clean(kind, &file).map(|clean| clean.len())
        };
        let took = begun.elapsed();
        println!("{name}: {kind:?}, {} bytes, {answer:?}, {} ms", file.len(), took.as_millis());
        assert!(took < TIMEOUT, "{name}");
    }
    let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
}

/// Numbers that are the same for the same seed (Marsaglia, "Xorshift RNGs").
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    fn mutant(&mut self, file: &[u8], other: &[u8]) -> Vec<u8> {
        let mut file = file.to_vec();
        for _ in 0..=self.below(6) {
            let (at, to) = (self.below(file.len()), self.below(file.len()));
            let span = at.min(to)..at.max(to);
            match self.below(6) {
                0 => file.truncate(at.max(8)),
                1 => drop(file.drain(span.start..span.end.min(span.start + 40))),
                2 => {
                    let copy =
                        file.get(span.start..span.end.min(span.start + 200)).unwrap_or_default().to_vec();
                    file.splice(at..at, copy);
                }
                3 => {
                    let from = self.below(other.len());
                    let piece = other.get(from..(from + 30).min(other.len())).unwrap_or_default().to_vec();
                    file.splice(at..at, piece);
                }
                _ => {
                    let byte = [0, 0xff, 0x7f, 0x80, self.below(256) as u8];
                    let byte = byte.get(self.below(5)).copied().unwrap_or(0);
                    file.get_mut(at).into_iter().for_each(|place| *place = byte);
                }
            }
        }
        file
    }
}

#[test]
#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "the seed, and how long it took")]
fn mutants_break_nothing() {
    let number =
        |name: &str, default: u64| env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (count, seed) = (number("PORTCULLIS_MUTANTS", 300), number("PORTCULLIS_SEED", 0x5eed_1234_abcd));
    let seeds = seeds();
    let mut dice = Dice(seed);
    let (mut cleaned, mut refused, mut unfixed, mut slowest) = (0, 0, Vec::new(), Duration::ZERO);
    let mut broken = Vec::new();
    for n in 0..count {
        let (name, file) = seeds.get(n as usize % seeds.len()).expect("a seed");
        let (_, other) = seeds.get(dice.below(seeds.len())).expect("a seed");
        let file = dice.mutant(file, other);
        let begun = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| {
            let kind = identify(&file, name);
            let answer = Bench::redacting("Jane").clean(kind, &file);
            answer.map(|(clean, _)| {
                let again = Bench::redacting("Jane").clean(kind, &clean);
                (kind, again.is_ok_and(|(again, _)| again == clean))
            })
        }));
        slowest = slowest.max(begun.elapsed());
        assert!(begun.elapsed() < TIMEOUT, "mutant {n} of {name} with seed {seed}");
        match answer {
            Ok(Ok((kind, fixed))) => {
                cleaned += 1;
                if !fixed {
                    unfixed.push(format!("{n} {kind:?}"));
                }
            }
            Ok(Err(Rejection::Malicious | Rejection::Provider)) => {
                broken.push(format!("{n} of {name}: asked in vain"))
            }
            Ok(Err(_)) => refused += 1,
            Err(_) => broken.push(format!("{n} of {name}")),
        }
    }
    println!("seed {seed}: {cleaned} clean, {refused} refused, slowest {} ms", slowest.as_millis());
    println!("no fixed point: {} {unfixed:?}", unfixed.len());
    assert!(broken.is_empty(), "panics with seed {seed}: {broken:#?}");
}
