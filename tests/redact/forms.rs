//! However a model writes a surrogate, the original comes back in that form: forms of twelve people's values, whole and
//! cut at every place. And a text without surrogates stays.

use portcullis::stream::Editor;

use super::*;

/// What the model does to a value; a text around it has `@` in its place.
struct Written {
    name: &'static str,
    /// Which of [`People`]'s values.
    kinds: &'static [ValueKind],
    value: fn(&str) -> String,
    text: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Email,
    Phone,
    International,
    Ssn,
    Card,
    Iban,
    Ip,
    Key,
}

use ValueKind::{Card, Email, Iban, International, Ip, Key, Phone, Ssn};

const KINDS: [ValueKind; 8] = [Email, Phone, International, Ssn, Card, Iban, Ip, Key];
const NUMBERS: &[ValueKind] = &[Phone, International, Ssn, Card, Iban];

fn same(value: &str) -> String {
    value.to_owned()
}

fn compact(value: &str) -> String {
    value.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '+').collect()
}

/// With this between the groups.
fn grouped(value: &str, separator: &str) -> String {
    let groups =
        value.split(|c: char| !c.is_ascii_alphanumeric() && c != '+').filter(|group| !group.is_empty());
    groups.collect::<Vec<_>>().join(separator)
}

fn title(value: &str) -> String {
    let mut before = false;
    let title = |c: char| {
        let begins = !std::mem::replace(&mut before, c.is_alphabetic());
        if begins { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    };
    value.chars().map(title).collect()
}

/// All but letters and digits, each spelled.
fn spelled(value: &str, spell: fn(char) -> String) -> String {
    value.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { spell(c) }).collect()
}

fn within(value: &str, what: &str) -> String {
    let (head, tail) = value.split_at(value.len() / 2);
    format!("{head}{what}{tail}")
}

fn last_four(value: &str) -> String {
    value[value.len() - 4..].to_owned()
}

fn parenthesised(value: &str) -> String {
    let digits = compact(value);
    format!("({}) {}-{}", &digits[..3], &digits[3..6], &digits[6..])
}

const fn written(
    name: &'static str,
    kinds: &'static [ValueKind],
    value: fn(&str) -> String,
    text: &'static str,
) -> Written {
    Written { name, kinds, value, text }
}

fn forms() -> [Written; 40] {
    let any = &KINDS;
    // The surrogate of an address has a length of its own.
    let but_address: &[ValueKind] = &[Email, Phone, International, Ssn, Card, Iban, Key];
    let last: &[ValueKind] = &[Phone, International, Ssn, Card];
    [
        written("unchanged", any, same, "It is @, yes"),
        written("with a full stop", any, same, "It is @."),
        written("in quotes", any, same, "\"@\", she said"),
        written("possessive", any, same, "@'s owner"),
        written("bold", any, same, "It is **@**!"),
        written("as code", any, same, "Use `@`."),
        written("as a link", &[Email], same, "[mail](mailto:@) or <@>"),
        written("upper case", &[Email, Iban, Key], |value| value.to_uppercase(), "IT IS @"),
        written("lower case", &[Email, Iban, Key], |value| value.to_lowercase(), "it is @"),
        written("title case", &[Email], title, "@ It Is"),
        written("HTML, decimal", any, |value| spelled(value, |c| format!("&#{};", u32::from(c))), "is @ <b>"),
        written(
            "HTML, hexadecimal",
            any,
            |value| spelled(value, |c| format!("&#x{:X};", u32::from(c))),
            "is @",
        ),
        written(
            "HTML, named",
            &[Email],
            |value| value.replace('@', "&commat;").replace('.', "&period;"),
            "@",
        ),
        written(
            "URL",
            any,
            |value| spelled(value, |c| format!("%{:02X}", u32::from(c))),
            "https://a.b/?q=@&c=d",
        ),
        written("URL, at", &[Email], |value| value.replace('@', "%40"), "https://a.b/?q=@&c=d"),
        written("URL, plus", &[Phone, Card, Ssn], |value| grouped(value, "+"), "https://a.b/?q=@&c=d"),
        written("JSON", any, |value| spelled(value, |c| format!("\\u{:04x}", u32::from(c))), r#"{"a":"@"}"#),
        written(
            "JavaScript",
            any,
            |value| spelled(value, |c| format!("\\x{:02x}", u32::from(c))),
            "let a = '@';",
        ),
        written(
            "Markdown escapes",
            &[Email, Key],
            |value| value.replace('_', "\\_").replace('.', "\\."),
            "It is @",
        ),
        written("soft hyphen", but_address, |value| within(value, "\u{ad}"), "It is @."),
        written("zero-width space", but_address, |value| within(value, "\u{200b}"), "It is @."),
        written("typographic hyphens", &[Phone, Ssn], |value| value.replace('-', "\u{2011}"), "It is @."),
        written("no-break spaces", NUMBERS, |value| value.replace(' ', "\u{a0}"), "It is @."),
        written("entity spaces", NUMBERS, |value| value.replace(' ', "&nbsp;"), "It is @."),
        written("blanks", NUMBERS, |value| grouped(value, " "), "It is @."),
        written("dots", NUMBERS, |value| grouped(value, "."), "It is @."),
        written("hyphens", NUMBERS, |value| grouped(value, "-"), "It is @."),
        written("slashes", &[Phone, International], |value| grouped(value, "/"), "It is @."),
        written("nothing between", NUMBERS, compact, "It is @."),
        written("another grouping", &[Ssn, Card], |value| within(&compact(value), " "), "It is @."),
        written("parentheses", &[Phone], parenthesised, "Call @."),
        written("with the country", &[Phone], |value| format!("+1 {}", grouped(value, " ")), "Call @."),
        written("as a call", &[Phone], |value| format!("tel:+1{}", compact(value)), "[call](@)"),
        written("from abroad", &[International], |value| compact(value).replace('+', "00"), "Call @."),
        written(
            "within the country",
            &[International],
            |value| format!("0{}", grouped(&value[4..], " ")),
            "Call @.",
        ),
        written("ending in", last, last_four, "the one ending in @."),
        written("last four", last, last_four, "The last four digits are **@**."),
        written("stars", last, last_four, "**** **** **** @"),
        written("crosses", last, last_four, "xxxx-xxxx-xxxx-@ is it"),
        written("bullets", last, last_four, "It is •••• @,"),
    ]
}

/// A person's value of each of [`KINDS`].
fn people() -> Vec<[String; 8]> {
    let names = [
        "maria.lopez",
        "Jane_Doe",
        "j-smith",
        "ana+rx",
        "O.Brien",
        "li.wei88",
        "k_l_m",
        "Zoe",
        "max.m",
        "eva",
        "tom.h",
        "r2d2",
    ];
    let person = |(n, name): (usize, &str)| {
        let n = n as u32 + 3;
        let card = with_luhn(format!(
            "4{:03}{:04}{:04}{:03}",
            100 + n * 7,
            2000 + n * 61,
            3000 + n * 97,
            400 + n * 13
        ));
        let card: Vec<&str> = (0..4).map(|at| &card[at * 4..at * 4 + 4]).collect();
        let account = format!("NWBK{:06}{:08}", 601_613 + n, 31_926_819 + n * 7919);
        [
            format!("{name}@corp-{n}.example.com"),
            format!("({}) 8{:02}-{:04}", 412 + n, 10 + n, 5309 + n * 37),
            format!("+44 20 7{:03} {:04}", 300 + n * 11, 958 + n * 173),
            format!("{:03}-{:02}-{:04}", 530 + n, 20 + n, 8726 - n * 59),
            card.join(" "),
            iban(&account),
            format!("81.2.{}.{}", 60 + n, 100 + n * 3),
            format!("ghp_{}", key(n)),
        ]
    };
    names.into_iter().enumerate().map(person).collect()
}

/// 36 letters and digits.
fn key(seed: u32) -> String {
    let symbols: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        symbols[(state >> 16) as usize % symbols.len()]
    };
    (0..36).map(|_| next()).collect()
}

/// The British IBAN of an account, with its check digits.
fn iban(account: &str) -> String {
    let digit = |c: char| c.to_digit(36).unwrap().to_string();
    let number: String = format!("{account}GB00").chars().map(digit).collect();
    let rest = number.chars().fold(0, |rest, c| (rest * 10 + c.to_digit(10).unwrap()) % 97);
    format!("GB{:02}{account}", 98 - rest)
}

#[test]
fn originals_come_back_however_they_are_written() {
    let (mut tried, mut failed) = (0, Vec::new());
    for person in people() {
        let (redacted, undo) = redact(&json!(person));
        for Written { name, kinds, value, text } in forms() {
            for kind in kinds {
                let at = KINDS.iter().position(|known| known == kind).unwrap();
                let surrogate = redacted[at].as_str().unwrap();
                assert_ne!(surrogate, person[at], "{kind:?}");
                let [said, expected] =
                    [surrogate, &person[at]].map(|text_of| text.replace('@', &value(text_of)));
                let cuts = (0..said.len()).filter(|cut| said.is_char_boundary(*cut));
                let right =
                    cuts.map(|cut| restore(&undo, &said, &[cut])).filter(|out| *out == expected).count();
                let all = (0..said.len()).filter(|cut| said.is_char_boundary(*cut)).count();
                tried += 1;
                if right != all {
                    failed.push(format!(
                        "{name}, {kind:?}: {said} became {}, not {expected}",
                        restore(&undo, &said, &[])
                    ));
                }
            }
        }
    }
    assert!(tried > 12 * 120, "{tried}");
    assert!(failed.is_empty(), "{} of {tried}: {failed:#?}", failed.len());
}

/// An answer that was restored is part of the next request: upstream, it must be what the model wrote.
#[test]
fn what_came_back_goes_out_as_it_was() {
    let (mut tried, mut failed) = (0, Vec::new());
    for person in people() {
        let (redacted, undo) = redact(&json!(person));
        let (mut said, mut names) = (Vec::new(), Vec::new());
        for Written { name, kinds, value, text } in forms() {
            for kind in kinds {
                let at = KINDS.iter().position(|known| known == kind).unwrap();
                said.push(text.replace('@', &value(redacted[at].as_str().unwrap())));
                names.push(name);
            }
        }
        let restored: Vec<String> = said.iter().map(|said| restore(&undo, said, &[])).collect();
        let (again, _) = redact(&json!([person, restored]));
        for ((said, name), again) in said.iter().zip(names).zip(again[1].as_array().unwrap()) {
            tried += 1;
            // A document within a string says the same without its escapes.
            let decoded = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(json!(text));
            // An original without capitals does not tell that the model wrote none.
            let folded =
                |text: &str| if name == "lower case" { text.to_lowercase() } else { text.to_owned() };
            if decoded(&folded(said)) != decoded(&folded(again.as_str().unwrap())) {
                failed.push(format!("{name}: {said} became {again}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {tried}: {failed:#?}", failed.len());
}

#[test]
fn last_digits_that_the_caller_wrote_too_stay() {
    let card = &people()[0][4];
    let (redacted, _) = redact(&json!([card]));
    let last = last_four(redacted[0].as_str().unwrap());
    let said = format!("the one ending in {last}");
    let (_, undo) = redact(&json!([card, "a note"]));
    assert_eq!(restore(&undo, &said, &[]), format!("the one ending in {}", last_four(card)));
    let (_, undo) = redact(&json!([card, format!("room {last}")]));
    assert_eq!(restore(&undo, &said, &[]), said);
}

/// Prose, code and tables with numbers and words of all kinds, none of them issued.
const PROSE: &str = include_str!("prose.txt");

#[test]
fn a_text_without_surrogates_stays() {
    let everyone: Vec<String> = people().into_iter().flatten().collect();
    let (_, undo) = redact(&json!(everyone));
    assert_eq!(undo.len(), 96);
    let corpora = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut texts = vec![PROSE.to_owned()];
    for file in ["clients/spellings.py", "detect/texts.txt", "bench/texts.rs"] {
        texts.push(std::fs::read_to_string(corpora.join(file)).unwrap());
    }
    for text in texts {
        let mut edits = Vec::new();
        let mut answer = redactor().answer(AnswerTreatment::Restore(Arc::clone(&undo)));
        answer.feed(&text, &mut edits).unwrap();
        answer.end(&mut edits).unwrap();
        assert_eq!(edits, []);
    }
}
