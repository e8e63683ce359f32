//! The law of the group: any split of a text gives the findings of the whole. What the rules' examples cannot say: texts with
//! several values, and each word of each language.

use proptest::prelude::*;

use crate::detect::naming::{KEYS, PASSWORDS};
use crate::detect::{Anchor, Catalogue, Detector, Finding, RuleSelection};

fn detector() -> Detector {
    let catalogue = Catalogue::builtin().unwrap();
    let ours = |id: &_| catalogue.rule(*id).is_some_and(|rule| rule.anchor == Anchor::Assign);
    Detector::new(&catalogue, &catalogue.ids().filter(ours).collect::<RuleSelection>()).unwrap()
}

fn examples() -> Vec<String> {
    let catalogue = Catalogue::builtin().unwrap();
    let rules = catalogue.rules().filter(|rule| rule.anchor == Anchor::Assign);
    let texts = rules.flat_map(|rule| rule.matches.iter().chain(&rule.misses));
    texts.map(|text| text.replace(['«', '»'], "")).collect()
}

fn scanned(detector: &Detector, text: &str, cuts: &[usize]) -> Vec<Finding> {
    let (mut scanner, mut findings, mut from) = (detector.scanner(), Vec::new(), 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        let Some(piece) = text.get(from..cut) else { continue };
        scanner.feed(piece, &mut |finding| findings.push(finding));
        assert!(scanner.held() <= detector.reach(), "{} held", scanner.held());
        from = cut;
    }
    scanner.end(&mut |finding| findings.push(finding));
    findings
}

/// What is found, as it stands in the text.
fn found<'t>(detector: &Detector, text: &'t str) -> Vec<&'t str> {
    detector.find(text).iter().filter_map(|one| text.get(one.span.start..one.span.end)).collect()
}

#[test]
fn words_of_all_languages_are_given_values() {
    let detector = detector();
    for (words, value) in [(PASSWORDS, "Gx7!kkpw"), (KEYS, "Zk3Jx91LmQpV8sTn2")] {
        for word in words {
            let word = word.replace('_', " ");
            let mut letters = word.chars();
            let first = letters.next();
            let capital: String = first.into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            for name in [&word, &capital] {
                for sign in [": ", " : ", " = ", "=", "：", ":  "] {
                    let text = format!("{name}{sign}{value}");
                    assert_eq!(found(&detector, &text), [value], "{text}");
                }
            }
        }
    }
}

#[test]
fn words_of_other_languages_stand_among_others() {
    let detector = detector();
    let rows: &[(&str, &[&str])] = &[
        ("您的密码：Gx7!kkpw", &["Gx7!kkpw"]),
        ("Ваш новый пароль: Gx7!kkpw", &["Gx7!kkpw"]),
        ("Mot de passe : sunflower7", &["sunflower7"]),
        ("Hasło:\n  Gx7!kkpw\n", &["Gx7!kkpw"]),
        ("superparola: Gx7!kkpw", &[]),
        ("включить: Gx7!kkpw", &[]),
        ("parola\nnuova", &[]),
        ("Пароль: не менее 8 символов", &[]),
        ("Schlüssel: Zk3Jx91LmQpV8sTn2", &[]),
    ];
    for (text, values) in rows {
        assert_eq!(found(&detector, text), *values, "{text}");
    }
}

#[test]
fn every_item_of_a_list_is_found_in_any_pieces() {
    let detector = detector();
    let rows: &[(&str, &[&str])] = &[
        (
            "passwords:\n  - Gx7!kkpw # bob\n  - changeme\n  - sunflower7\n\nusers:\n  - bob12\n",
            &["Gx7!kkpw", "sunflower7"],
        ),
        (
            "{\"passwords\": [\"Gx7!kkpw\",\n  \"Hq8?mmrt\"], \"names\": [\"bob12\"]}",
            &["Gx7!kkpw", "Hq8?mmrt"],
        ),
        ("passwords = [Gx7!kkpw, 'Hq8?mmrt']", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("password:\n  - Wq7#mLp2xZ9\n  - Kx9mQz7!\n", &["Wq7#mLp2xZ9", "Kx9mQz7!"]),
        ("{'password': ['Wq7#mLp2xZ9', 'min:8']}", &["Wq7#mLp2xZ9"]),
        ("passwords:\n  - password=Gx7!kkpw\n", &["Gx7!kkpw"]),
        (
            "api_keys: [a83hf92hdkq02jd8fh2kd92f, b94ig03ielr13ke9gi3le03g]",
            &["a83hf92hdkq02jd8fh2kd92f", "b94ig03ielr13ke9gi3le03g"],
        ),
    ];
    for (text, values) in rows {
        let whole = detector.find(text);
        assert_eq!(found(&detector, text), *values, "{text}");
        for cut in 1..text.len() {
            assert_eq!(scanned(&detector, text, &[cut]), whole, "{text} at {cut}");
        }
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, text, &bytes), whole, "{text}");
    }
}

#[test]
fn every_example_in_every_two_pieces_and_byte_by_byte() {
    let detector = detector();
    for text in examples() {
        let whole = detector.find(&text);
        for cut in 1..text.len() {
            assert_eq!(scanned(&detector, &text, &[cut]), whole, "{text} at {cut}");
        }
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, &text, &bytes), whole, "{text}");
    }
}

#[test]
fn a_long_value_is_covered_to_its_end() {
    let detector = detector();
    let secret = "Zk3Jx91LmQpV8sTn2é".repeat(90);
    for text in [format!("x\npassword={secret} and"), format!("\"db_password\": \"{secret}\"}}")] {
        let whole = detector.find(&text);
        let start = text.find(&secret).unwrap();
        let ends = (whole.first().unwrap().span.start, whole.last().unwrap().span.end);
        assert_eq!(ends, (start, start + secret.len()), "{text}");
        assert!(whole.windows(2).all(|pair| pair[0].span.end == pair[1].span.start));
        for step in [1, 7, 300] {
            let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % step == 0).collect();
            assert_eq!(scanned(&detector, &text, &cuts), whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn any_examples_in_any_pieces(
        picks in proptest::collection::vec((any::<usize>(), 0..80usize, "[ -~]{0,3}|\n| |\u{e9}"), 1..12),
        mut cuts in proptest::collection::vec(0..900usize, 0..12),
    ) {
        let (detector, examples) = (detector(), examples());
        let part = |(pick, cut, gap): (usize, usize, String)| {
            let example = &examples[pick % examples.len()];
            // A third of the parts are whole, the others are cut short.
            let kept = if pick % 3 == 0 { usize::MAX } else { cut };
            example.chars().take(kept).chain(gap.chars()).collect::<String>()
        };
        let text: String = picks.into_iter().map(part).collect();
        let whole = detector.find(&text);
        cuts.sort_unstable();
        cuts.retain(|&cut| cut <= text.len());
        prop_assert_eq!(&scanned(&detector, &text, &cuts), &whole, "{}", text);
        let bytes: Vec<usize> = (1..text.len()).collect();
        prop_assert_eq!(&scanned(&detector, &text, &bytes), &whole, "{}", text);
    }
}
