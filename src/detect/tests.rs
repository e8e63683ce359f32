//! The laws of detection: any split of a text gives the findings of the whole; what is found and what is not.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let mut catalogue = Catalogue::builtin().unwrap();
        let own = "[[rule]]\nname = 'ACME_ID'\npatterns = [{ regex = '\\bACME-\\d{6}\\b' }]\n\
                   [[rule]]\nname = 'ACME_NOTE'\nreach = 64\npatterns = [{ regex = '<note>[^<]+</note>' }, { regex = 'open:[a-z ]+' }]";
        catalogue.extend(own, "own rules").unwrap();
        catalogue
    })
}

fn all() -> Detector {
    Detector::new(catalogue(), &RuleSelection::all(catalogue())).unwrap()
}

fn defaults() -> Detector {
    Detector::new(catalogue(), &RuleSelection::defaults(catalogue())).unwrap()
}

/// Feeds `text` in pieces that end at `cuts`, and holds the scanner to its promises.
fn scanned(detector: &Detector, scanner: &mut Scanner, text: &str, cuts: &[usize]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let (mut from, mut decided) = (0, 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        let Some(piece) = text.get(from..cut) else { continue };
        let known = findings.len();
        let now = scanner.feed(piece, &mut |finding| findings.push(finding));
        assert!(
            now >= decided && now <= cut && text.is_char_boundary(now),
            "decided {now} after {decided} of {cut}"
        );
        assert!(findings[known..].iter().all(|one| one.span.end <= now), "a finding lies beyond {now}");
        assert!(
            findings[known..].iter().all(|one| one.span.start >= decided),
            "a finding begins before {decided}"
        );
        assert_eq!(scanner.held(), cut - now);
        assert!(scanner.held() <= detector.reach(), "{} held", scanner.held());
        (from, decided) = (cut, now);
    }
    scanner.end(&mut |finding| findings.push(finding));
    findings
}

fn shown<'t>(detector: &Detector, text: &'t str) -> Vec<(String, &'t str)> {
    let findings = detector.find(text);
    let shown = |one: &Finding| (detector.rule(one.rule).name().to_owned(), value(text, one.span));
    findings.iter().map(shown).collect()
}

fn value(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).expect("a span lies on character boundaries")
}

/// Values, beginnings of values, words that matter and words that don't.
const PARTS: &[&str] = &[
    "maria.lopez+rx@corp-mail.example.com",
    "a@b.co",
    "a@b@c.example.org",
    "+1 650 253 0000",
    "+49 (0)30 901820",
    "(415) 555-1234",
    "415-867-5309",
    "030 901820",
    "536-22-8726",
    "536228726",
    "912-70-1234",
    "4012 8888 8888 1881",
    "12 4111 1111 1111 1111",
    "4111111111111111",
    "3782 822463 10005",
    "DE89 3704 0044 0532 0130 00",
    "GB29NWBK60161331926819",
    "127.0.0.1",
    "10.0.0.1.5",
    "2001:db8::8a2e:370:7334",
    "12:34:56",
    "https://pangea.cloud/a?b=c.",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp_0123456789abcdefABCDEF0123456789abcd",
    "sk-proj-Ab01Cd23Ef45Gh67Ij89Kl01Mn23Op45Qr67St89Uv01Wx23",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMDEyMzQ1",
    "-----BEGIN EC PRIVATE KEY-----\nMIIEowIBAAKCAQEA0123456789\nabcd==\n-----END EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
    "41111111-1111-4111-8111-111111111111",
    "account 12345678-a111-4111-8111-111111111111",
    "1767225600",
    "12345678",
    "ACME-123456",
    "<note>all of this</note>",
    "open:so it goes on and on",
    "account no. ",
    "account number",
    "aws_secret_access_key=",
    "ssn ",
    "phone ",
    "call",
    "order",
    "(312)555-0147x806",
    "001-825-741-0957 ext. 51",
    "gb29 nwbk 6016 1331 9268 19",
    "office",
    "Sure",
    "2026-11-21T10:20:30.123Z",
    "0.4111111111111111",
    "\\n",
    "\\u00e9",
    "\\",
    "\n",
    " ",
    " ",
    "-",
    ".",
    ",",
    "(",
    "+",
    "@",
    ":",
    "\"",
    "é",
    "電話",
    "x",
    "4",
    "00",
];

fn text(most: usize) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => proptest::sample::select(PARTS).prop_map(str::to_owned),
        // A beginning of a value.
        2 => (proptest::sample::select(PARTS), 1..40usize).prop_map(|(part, n)| part.chars().take(n).collect()),
        1 => "[ -~]{0,12}",
        1 => "[0-9 .-]{0,24}",
        1 => "[a-zA-Z0-9+/_-]{30,90}",
    ];
    let gap = prop_oneof![3 => Just(" "), 1 => Just("")];
    let parts = proptest::collection::vec((part, gap), 0..most);
    parts.prop_map(|parts| parts.into_iter().flat_map(|(part, gap)| [part, gap.to_owned()]).collect())
}

#[test]
fn a_word_that_goes_on_behind_what_may_support_a_value_is_waited_for() {
    // `YO` says that 0 is an age, and `YOA` does not; `yo` that is `yon` does not either.
    let detector = all();
    for behind in ["YOAa ", "YOA ", "YO ", "yon ", "YO", "YOAa", "YOéa "] {
        for gap in 26..36 {
            let text = format!("0{}{behind}", "-".repeat(gap));
            let whole = detector.find(&text);
            let mut scanner = detector.scanner();
            let cuts: Vec<usize> = (1..text.len()).filter(|&cut| text.is_char_boundary(cut)).collect();
            assert_eq!(scanned(&detector, &mut scanner, &text, &cuts), whole, "{text}");
        }
    }
    let text = "0__AAaA+a-/aa-/aAa+aaA_/+-A0Aa+YOAa ";
    let cuts: Vec<usize> = (1..text.len()).collect();
    let whole = detector.find(text);
    assert_eq!(scanned(&detector, &mut detector.scanner(), text, &cuts), whole);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_split_gives_the_findings_of_the_whole(
        text in text(14),
        mut cuts in proptest::collection::vec(0..600usize, 0..12),
    ) {
        let detector = all();
        let whole = detector.find(&text);
        prop_assert!(whole.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        for one in &whole {
            prop_assert!(text.get(one.span.start..one.span.end).is_some_and(|value| !value.is_empty()));
            prop_assert!(one.score.value() >= detector.rule(one.rule).threshold());
        }
        cuts.sort_unstable();
        cuts.retain(|&cut| cut <= text.len());
        let mut scanner = detector.scanner();
        prop_assert_eq!(&scanned(&detector, &mut scanner, &text, &cuts), &whole);
        // The same scanner again, a byte at a time.
        let bytes: Vec<usize> = (1..text.len()).collect();
        prop_assert_eq!(&scanned(&detector, &mut scanner, &text, &bytes), &whole);
    }

    #[test]
    fn a_window_that_moves_on_keeps_the_law(text in text(150), step in 1..300usize) {
        let detector = all();
        let whole = detector.find(&text);
        let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % step == 0).collect();
        prop_assert_eq!(scanned(&detector, &mut detector.scanner(), &text, &cuts), whole);
    }

    #[test]
    fn a_choice_of_rules_keeps_the_law(text in text(14), chosen in any::<u32>(), cut in 0..300usize) {
        let chosen = catalogue().ids().filter(|id| chosen >> (id.index() % 32) & 1 == 1).collect::<RuleSelection>();
        let detector = all().with(chosen.clone()).unwrap();
        let whole = detector.find(&text);
        prop_assert!(whole.iter().all(|one| chosen.has(one.rule)));
        prop_assert_eq!(scanned(&detector, &mut detector.scanner(), &text, &[cut, cut + 7]), whole);
    }
}

#[test]
fn what_must_be_found() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "EMAIL: maria.lopez+rx@corp-mail.example.com | PHONE: +1 650 253 0000 | SSN: 536-22-8726 | \
             CARD: 4012 8888 8888 1881 | Order 1001, version 2.0.17.",
            &[
                ("EMAIL_ADDRESS", "maria.lopez+rx@corp-mail.example.com"),
                ("PHONE_NUMBER", "+1 650 253 0000"),
                ("US_SSN", "536-22-8726"),
                ("CREDIT_CARD", "4012 8888 8888 1881"),
            ],
        ),
        ("“Maria Lopez” wrote", &[("PERSON", "Maria Lopez")]),
        ("von «Luca Drescher» und 👋Jennifer", &[("PERSON", "Luca Drescher"), ("PERSON", "Jennifer")]),
        ("•Tom Baker → Tom Baker…", &[("PERSON", "Tom Baker"), ("PERSON", "Tom Baker")]),
        ("12 4111 1111 1111 1111", &[("CREDIT_CARD", "4111 1111 1111 1111")]),
        ("card 4012 8888 8888 1881 123 12/27", &[("CREDIT_CARD", "4012 8888 8888 1881")]),
        ("call 536-22-8726", &[("US_SSN", "536-22-8726")]),
        ("phone 10.20.30.40", &[("IP_ADDRESS", "10.20.30.40")]),
        ("account 4111111111111111", &[("CREDIT_CARD", "4111111111111111")]),
        (
            "account no. 12345678, phone 030 901820",
            &[("US_BANK_NUMBER", "12345678"), ("PHONE_NUMBER", "030 901820")],
        ),
        ("a@b@c.example.org", &[("EMAIL_ADDRESS", "b@c.example.org")]),
        (
            r#"{\"to\":\"x@example.com\",\"n\":\"\n415-867-5309\"}"#,
            &[("EMAIL_ADDRESS", "x@example.com"), ("PHONE_NUMBER", "415-867-5309")],
        ),
        (r"Write to\nmaria@example.com\u00e9", &[("EMAIL_ADDRESS", "maria@example.com")]),
        (r"\u00e9bob@example.com", &[("EMAIL_ADDRESS", "bob@example.com")]),
        ("電話415-867-5309です", &[("PHONE_NUMBER", "415-867-5309")]),
        (
            "sk-ant-api03-AbCdEf0123456789AbCdEf0123456789",
            &[("ANTHROPIC_API_KEY", "sk-ant-api03-AbCdEf0123456789AbCdEf0123456789")],
        ),
        ("AKIAIOSFODNN7EXAMPLE and more", &[("AMAZON_AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")]),
        ("::ffff:192.0.2.128", &[("IP_ADDRESS", "::ffff:192.0.2.128")]),
    ];
    let detector = defaults();
    for (text, expected) in cases {
        let found = shown(&detector, text);
        let found: Vec<(&str, &str)> = found.iter().map(|(rule, value)| (rule.as_str(), *value)).collect();
        assert_eq!(&found, expected, "{text}");
    }
}

#[test]
fn a_secret_by_its_label_is_covered_whole() {
    let detector = defaults();
    let rows = [
        (r#"password = "Kx9!Lm_bob@example.com#77Lm""#, "PASSWORD", "Kx9!Lm_bob@example.com#77Lm"),
        ("DB_PASSWORD=Kx9!Lm#203.0.113.17#77Lm", "PASSWORD", "Kx9!Lm#203.0.113.17#77Lm"),
        (r#"password = "Rx7 Maria Lopez 99!k""#, "PASSWORD", "Rx7 Maria Lopez 99!k"),
        (r#"{"password":"Kx9!Lm#bob@example.com#77Lm"}"#, "PASSWORD", "Kx9!Lm#bob@example.com#77Lm"),
        (
            "client_secret=K8qAMmJxRvfKNNnj0JPwB8wqh/4e6F93NePi8pE4SS9NoLbKlo+3qOkbbexGTty9",
            "GENERIC_SECRET",
            "K8qAMmJxRvfKNNnj0JPwB8wqh/4e6F93NePi8pE4SS9NoLbKlo+3qOkbbexGTty9",
        ),
        (
            r#"twitter_secret = "Zc/4e6F93NePi8pE4SS9NoLbKlo4Qp7Rt2Vx5Wy8Ab1Cd+3qOkbbexGTty9""#,
            "GENERIC_SECRET",
            "Zc/4e6F93NePi8pE4SS9NoLbKlo4Qp7Rt2Vx5Wy8Ab1Cd+3qOkbbexGTty9",
        ),
        // What the value is as a whole, and a vendor's secret with what belongs to it.
        ("password: bob@example.com", "EMAIL_ADDRESS", "bob@example.com"),
        (
            "https://x-access-token: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@github.com/a/b",
            "GITHUB_ACCESS_TOKEN",
            "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",
        ),
    ];
    for (text, rule, secret) in rows {
        assert_eq!(shown(&detector, text), [(rule.to_owned(), secret)], "{text}");
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, &mut detector.scanner(), text, &bytes), detector.find(text), "{text}");
    }
}

#[test]
fn a_secret_that_is_only_reported_hides_nothing() {
    let detector = defaults();
    let text = r#"password = "Kx9!Lm_bob@example.com#77Lm""#;
    let password = detector.find(text).iter().map(|found| found.rule).collect();
    let rules: Vec<String> =
        shown(&detector.reporting(password), text).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(rules, ["EMAIL_ADDRESS"]);
}

#[test]
fn what_must_not_be_found() {
    let texts = [
        "Order 1001, version 2.0.17.",
        "2026-11-21T10:20:30.123Z and 2026-11-21 10:20:30, 21.11.2026",
        "41111111-1111-4111-8111-111111111111 and 550e8400-e29b-41d4-a716-446655440000",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
        r#"{"created":1767225600,"expires":1767225600123,"id":"chatcmpl-9x8y7z123456789"}"#,
        "$1,234,567.89 or 1 234 567 EUR",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ4111111111111111AAAADUlEQVR42mNk",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
        "3.141592653589793 2.718281828459045",
        "std::vec::Vec, a::b, 12:34:56 and 10:20:30:40:50:60",
        "https://example.org/path/12345678",
        "icon@2x.png @app.route left-pad@1.3.0",
        "sk-learn and sk-estimator-html-representation-link-for-all",
        "ISBN 978-3-16-148410-0",
        "account 12345678-a111-4111-8111-111111111111",
        "commit 356a192b7913b04c54574d18c28d46e6395428ab",
    ];
    let detector = defaults();
    for text in texts {
        assert_eq!(shown(&detector, text), [], "{text}");
    }
}

#[test]
fn what_is_off_by_default_is_listed_in_the_configuration() {
    let listed = include_str!("../../conf/portcullis.toml");
    let listed = listed.split_once("# Off by default").unwrap().1.split_once("# Added to them").unwrap().0;
    let word = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '/');
    let is_twin = |name: &&str| !matches!(*name, "PHONE_NUMBER" | "NIF" | "FIN/NRIC");
    let mut listed: Vec<&str> = listed.split(word).filter(|name| catalogue().find(name).is_some()).collect();
    listed.retain(is_twin);
    let builtin = Catalogue::builtin().unwrap();
    let mut off: Vec<&str> = builtin.rules().filter(|rule| !rule.default_on()).map(Rule::name).collect();
    off.sort_unstable();
    listed.sort_unstable();
    assert_eq!(off, listed);
    // A mark of files that have one is the only one among the secrets that is none.
    let mut secrets = builtin.rules().filter(|rule| rule.category() == Category::Secrets);
    assert!(secrets.all(|rule| rule.default_on() || rule.name() == "GOOGLE_CLOUD_PLATFORM_SERVICE_ACCOUNT"));
}

#[test]
fn the_default_rules_find_values_and_leave_ordinary_text() {
    let detector = defaults();
    for (text, names) in [
        ("Jenny Jenny... 415-867-5309", &["PERSON", "PHONE_NUMBER"][..]),
        ("My Phone number is 415-867-5309", &["PHONE_NUMBER"]),
        ("Passport number X12345678", &["US_PASSPORT"]),
        ("DNI 54362315K", &["NIF"]),
        ("cpf 111.444.777-35", &["BR_CPF"]),
        ("Order 1001, version 2.0.17", &[]),
        ("born on 1980-05-12, paid $5 at https://example.com/a", &[]),
        ("{\"id\": 123456789, \"ref\": 48291234567, \"at\": 1701024868285, \"sku\": \"4006381333931\"}", &[]),
        ("backup 20210114-0255 of 231115-1042 took 64 KiB, invoice 12345678 a", &[]),
        ("if len > MAX { return Err(Handler::new(SERVER_MAX)) } // An RSA key, see RFC 7518", &[]),
        ("127.. - - [12/Jan/2024:10:00:00 +0000] \"GET /items/61096714?page=66 HTTP/1.1\" 404 NotFound", &[]),
        ("the code 123456789 and 837 274 034, lot 382-17-55021, 767042-6696", &[]),
    ] {
        let found: Vec<String> = shown(&detector, text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, names, "{text}");
    }
}

#[test]
fn text_that_cannot_go_on_is_decided_at_once() {
    let cases = [
        ("Sure, ", 6),
        ("Sure! ", 6),
        ("Yes. ", 5),
        ("**Plan** ", 9),
        ("Sure", 0),
        ("and then. ", 10),
        ("mail bob@example.com ", 21),
        ("mail bob@example.com", 5),
        ("see 536-22-8726, ", 17),
        ("é ", 3),
        ("It costs 5; ", 12),
        // No particle of a name begins so.
        ("Of cours", 3),
    ];
    let detector = defaults();
    for (text, decided) in cases {
        assert_eq!(detector.scanner().feed(text, &mut |_| {}), decided, "{text:?}");
    }
}

#[test]
fn a_prefix_that_is_arriving_is_not_lost_to_one_within_it() {
    let detector = defaults();
    // `api-` begins a secret too, and arrives first.
    let text = format!("key = \"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{}\"", "Qm3x");
    let whole = detector.find(&text);
    let every: Vec<usize> = (1..text.len()).collect();
    assert_eq!(scanned(&detector, &mut detector.scanner(), &text, &every), whole);
    assert_eq!(detector.rule(whole[0].rule).name(), "AMAZON_AWS_BEDROCK_API_KEY");
}

#[test]
fn a_secret_that_outgrows_its_reach_is_covered_to_its_end() {
    let detector = defaults();
    let key = format!("sk-proj-{}", "Ab01Cd23".repeat(400));
    let pem = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL\n".repeat(600)
    );
    for secret in [key, pem] {
        let text = format!("before {secret} after, bob@example.com");
        let whole = detector.find(&text);
        let cuts: Vec<usize> = (1..text.len() / 97).map(|n| n * 97).collect();
        assert_eq!(scanned(&detector, &mut detector.scanner(), &text, &cuts), whole);
        let (mail, pieces) = whole.split_last().unwrap();
        assert_eq!(detector.rule(mail.rule).name(), "EMAIL_ADDRESS");
        assert!(pieces.len() > 1 && pieces.windows(2).all(|pair| pair[0].span.end == pair[1].span.start));
        assert_eq!((pieces[0].span.start, pieces.last().unwrap().span.end), (7, 7 + secret.len()));
    }
}

#[test]
fn the_nearest_word_is_told() {
    let detector = defaults();
    let text = "Bank account number: 12345678";
    let found = detector.find(text);
    let near = found[0].near.unwrap();
    assert_eq!(value(text, near.span), "account number");
    assert!(near.augment > 0.5 && found[0].score.value() >= 0.5);
}

#[test]
fn the_default_rules_hold_back_little() {
    let secrets = |id: &RuleId| catalogue().rule(*id).is_some_and(|rule| rule.family() == Family::Secret);
    let mut selection = RuleSelection::defaults(catalogue());
    for id in catalogue().ids().filter(secrets) {
        selection = selection.without(id);
    }
    assert!(all().with(selection).unwrap().reach() <= 704);
}

#[test]
fn a_prefix_that_has_not_arrived_is_not_lost_to_one_within_it() {
    let detector = all();
    let key = "pdl_live_apikey_2cio22li6n7te2regu1mt21uzg_1x5O84NMlOTcXShs1zBzkf_96U";
    let text = format!("key = {key:?} live_key");
    let whole = detector.find(&text);
    assert!(whole.iter().any(|one| value(&text, one.span) == key));
    for cut in 1..text.len() {
        assert_eq!(scanned(&detector, &mut detector.scanner(), &text, &[cut]), whole, "cut at {cut}");
    }
}
