//! No rule, example, word list or allow-list holds a value of the corpora: what is measured on must not be known.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use aho_corasick::AhoCorasick;

use crate::corpora::{files, root, rows};

/// Values shorter than this say nothing.
const SHORTEST: usize = 8;

/// A value of letters only is a word up to this length.
const LONGEST_WORD: usize = 10;

/// Entities whose values are words: names, places and titles are in every lexicon.
const WORDS: &[&str] = &[
    "PERSON",
    "LOCATION",
    "ORGANIZATION",
    "NRP",
    "TITLE",
    "DATE_TIME",
    "JOB_TITLE",
    "NATIONALITY",
    "ETHNICITY",
    "RELIGIOUS_BELIEF",
    "POLITICAL_OPINION",
    "HEALTH_CONDITION",
    "MEDICATION_NAME",
    "PROCEDURE_NAME",
    "VEHICLE_MODEL",
    "EDUCATION_LEVEL",
    "MARITAL_STATUS",
];

/// Values that a public document gives as its own example, in lower case, and that document.
const SAMPLES: &[(&str, &str)] = &[
    ("4111111111111111", "card networks' published test numbers"),
    ("4111 1111 1111 1111", "card networks' published test numbers"),
    ("4111-1111-1111-1111", "card networks' published test numbers"),
    ("4012888888881881", "card networks' published test numbers"),
    ("4012 8888 8888 1881", "card networks' published test numbers"),
    ("4012-8888-8888-1881", "card networks' published test numbers"),
    ("5555555555554444", "card networks' published test numbers"),
    ("378282246310005", "card networks' published test numbers"),
    ("6011111111111117", "card networks' published test numbers"),
    ("administrator", "a common word"),
    (
        "bedrock-api-key-ymvkcm9jay5hbwf6b25hd3muy29t",
        "constant beginning of the format: base64 of a host's name",
    ),
    ("akiaiosfodnn7example", "AWS IAM user guide"),
    ("wjalrxutnfemi/k7mdeng/bpxrficyexamplekey", "AWS IAM user guide"),
    ("fr1420041010050500013m02606", "ISO 13616 registry, example of FR"),
    ("fr14 2004 1010 0505 0001 3m02 606", "ISO 13616 registry, example of FR"),
    ("mt84malt011000012345mtlcast001s", "ISO 13616 registry, example of MT"),
    ("ch9300762011623852957", "ISO 13616 registry, example of CH"),
    ("nl91abna0417164300", "ISO 13616 registry, example of NL"),
    ("gb29nwbk60161331926819", "ISO 13616 registry, example of GB"),
    ("gb29 nwbk 6016 1331 9268 19", "ISO 13616 registry, example of GB"),
    ("de89370400440532013000", "ISO 13616 registry, example of DE"),
    ("de89 3704 0044 0532 0130 00", "ISO 13616 registry, example of DE"),
    ("mu17 bomm 0101 1010 3030 0200 000m ur", "ISO 13616 registry, example of MU"),
    ("us0378331005", "an ISIN its issuer publishes"),
    ("de000bay0017", "an ISIN its issuer publishes"),
    ("021000021", "FedACH participant directory"),
    ("1a1zp1ep5qgefi2dmptftl5slmv7divfna", "Bitcoin's first block"),
    ("1eg4-te5-mk73", "CMS, the Medicare Beneficiary Identifier's example"),
    ("qwxhzgrpbjpvcgvuihnlc2ftzq==", "RFC 7617"),
    ("file:///", "RFC 8089, a scheme without a path"),
    ("aa:bb:cc:dd:ee:ff", "letters in a row"),
    ("127.0.0.1", "RFC 1122"),
    ("255.255.255.255", "RFC 919"),
    ("123e4567-e89b-12d3-a456-426614174000", "RFC 9562's well-known example"),
    ("550e8400-e29b-41d4-a716-446655440000", "RFC 4122's well-known example"),
    ("localhost", "RFC 6761"),
    ("+44 20 7946 0958", "Ofcom's numbers for drama"),
    ("-----begin rsa private key-----", "RFC 7468, a label without a key"),
];

/// What values begin with or hold that a document sets aside for examples and private use, and that document.
const RESERVED: &[(&str, &str)] = &[
    ("10.", "RFC 1918"),
    ("192.168.", "RFC 1918"),
    ("192.0.2.", "RFC 5737"),
    ("198.51.100.", "RFC 5737"),
    ("203.0.113.", "RFC 5737"),
    ("2001:db8:", "RFC 3849"),
    ("@example.com", "RFC 2606"),
    ("@example.net", "RFC 2606"),
    ("@example.org", "RFC 2606"),
    ("//example.com", "RFC 2606"),
    ("//example.net", "RFC 2606"),
    ("//example.org", "RFC 2606"),
    ("example.com", "RFC 2606"),
    ("example.net", "RFC 2606"),
    ("example.org", "RFC 2606"),
];

/// Whether a document gives the value, or its range, for examples.
fn documented(value: &str) -> bool {
    let digits: Vec<u8> = value.bytes().filter(u8::is_ascii_digit).collect();
    // 555-0100 to 555-0199 in any area: the North American plan's numbers for fiction.
    let fiction =
        digits.len() >= 10 && digits.len() <= 11 && digits[digits.len() - 7..].starts_with(b"55501");
    let range = |(text, _): &(&str, &str)| {
        value.starts_with(text) || text.starts_with(['@', '/']) && value.contains(text)
    };
    fiction || SAMPLES.iter().any(|(sample, _)| *sample == value) || RESERVED.iter().any(range)
}

/// Whether the value is mostly one character, characters in a row or two, or a plain word: no collection owns those.
fn trivial(value: &str) -> bool {
    // A word that someone took for a password.
    let word = value.len() <= LONGEST_WORD && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let value: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if value.is_empty() {
        return false;
    }
    let most = value.iter().map(|c| value.iter().filter(|other| *other == c).count()).max().unwrap_or(0);
    let hex = "0123456789abcdef".repeat(value.len() / 16 + 2);
    // A telephone number's subscriber that nobody has.
    let dialled = value.len() > SHORTEST && value.ends_with(b"12345678");
    let steps = [0_u8, 1, 255, 0_u8.wrapping_sub(9), 9];
    let (mut rows, mut at) = (0, 0);
    while at < value.len() {
        let step = |pair: &[u8]| pair[1].wrapping_sub(pair[0]);
        let first = value.get(at..at + 2).map(step).filter(|step| steps.contains(step));
        let longer = value[at..].windows(2).take_while(|pair| first == Some(step(pair))).count();
        (rows, at) = (rows + 1, at + longer + 1);
    }
    let row = hex.as_bytes().windows(value.len()).any(|row| row == value);
    most * 5 >= value.len() * 4 || rows <= 2 || dialled || word || row
}

/// The corpora's values that must not be known, in lower case, each with a row that has it.
fn values(corpora: &[PathBuf]) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for row in corpora.iter().flat_map(|file| rows(file)) {
        let text: Vec<char> = row["text"].as_str().unwrap().chars().collect();
        for span in row["spans"].as_array().unwrap() {
            if WORDS.contains(&span["entity"].as_str().unwrap()) || span["whole_line"].as_bool() == Some(true)
            {
                continue;
            }
            let at = |key: &str| usize::try_from(span[key].as_u64().unwrap()).unwrap();
            let value: String = text[at("start")..at("end")].iter().collect();
            let value = value.to_ascii_lowercase();
            let known = documented(&value) || trivial(&value);
            if value.chars().count() >= SHORTEST && !known {
                values.entry(value).or_insert_with(|| row["id"].as_str().unwrap().to_owned());
            }
        }
    }
    values
}

/// Every file below a folder.
fn below(folder: PathBuf) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![folder], Vec::new());
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
fn no_value_of_the_corpora_stands_in_the_detector() {
    let corpora = files();
    if corpora.is_empty() {
        return;
    }
    let values = values(&corpora);
    let (all, rows): (Vec<&String>, Vec<&String>) = values.iter().unzip();
    let search = AhoCorasick::new(&all).unwrap();
    let mut known = Vec::new();
    for file in ["src/detect", "conf"].into_iter().flat_map(|folder| below(root().join(folder))) {
        let text = fs::read(&file).unwrap().to_ascii_lowercase();
        for found in search.find_overlapping_iter(&text) {
            let beside = [found.start().checked_sub(1), Some(found.end())];
            let beside = beside.into_iter().flatten().filter_map(|at| text.get(at));
            // A part of a longer word or number is another value.
            if beside.clone().any(u8::is_ascii_alphanumeric) {
                continue;
            }
            let line = text[..found.start()].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let (value, row) = (all[found.pattern().as_usize()], rows[found.pattern().as_usize()]);
            let file = file.strip_prefix(root()).unwrap().display();
            known.push(format!("{file}:{line}: {value:?}, as in {row}"));
        }
    }
    known.sort();
    known.dedup();
    assert!(
        known.is_empty(),
        "of {} values, {} stand there:\n{}",
        values.len(),
        known.len(),
        known.join("\n")
    );
}
