//! What other threads look at ahead is what the scanner finds, wherever a text is cut and however much of it stands before a piece.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::{NextScan, SpeculativeScan};
use crate::detect::{Catalogue, Detector, Finding, RuleSelection};

fn detector() -> &'static Detector {
    static DETECTOR: OnceLock<Detector> = OnceLock::new();
    DETECTOR.get_or_init(|| {
        let catalogue = Catalogue::builtin().unwrap();
        Detector::new(&catalogue, &RuleSelection::all(&catalogue)).unwrap()
    })
}

/// What a scanner finds that is fed the pieces between `cuts`, each looked at ahead with `context` bytes before it, and how many of
/// these looks were used.
fn looked_ahead(text: &str, cuts: &[usize], context: usize) -> (Vec<Finding>, usize) {
    let mut scanner = detector().scanner();
    let (mut found, mut used, mut from): (Vec<Finding>, usize, usize) = (Vec::new(), 0, 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        let Some(piece) = text.get(from..cut) else { continue };
        let begin = text.floor_char_boundary(from.saturating_sub(context));
        let before = text.get(begin..from).unwrap();
        let scan = SpeculativeScan::new(detector(), before, piece.to_owned());
        used += usize::from(scan.as_ref().is_some_and(|scan| scan.offset(&scanner, piece).is_some()));
        let known = found.len();
        let decided = scanner.feed_scanned(piece, scan, &mut |finding| found.push(finding));
        assert!(decided <= cut && text.is_char_boundary(decided), "decided {decided} of {cut}");
        assert!(found[known..].iter().all(|one| one.span.end <= decided), "found beyond {decided}");
        assert_eq!(scanner.held(), cut - decided);
        from = cut;
    }
    scanner.end(&mut |finding| found.push(finding));
    (found, used)
}

/// Lines of all sorts, some of which belong to the next.
const LINES: &[&str] = &[
    "2026-11-21T10:20:30Z INFO request 7 of /v1/orders took 12 ms",
    "mail maria.lopez@harbour-post.com, phone +1 650 253 0000",
    "card 4111 1111",
    "1111 1111, ssn 536-22-8726",
    "IBAN DE89 3704 0044 0532 0130 00",
    "account number",
    "12345678",
    "passwords:",
    "  - sunflower7!",
    "  - An0ther-one",
    "{\"tokens\": [\"hunter2xx!\", \"hunter3xx!\"], \"name\": \"Maria Lopez\"}",
    "export API_KEY=sk-proj-Ab01Cd23Ef45Gh67Ij89Kl01Mn23Op45Qr67St89Uv01Wx23",
    "Cookie: theme=dark; session=Ab01Cd23Ef45Gh67; lang=de",
    "-----BEGIN EC PRIVATE KEY-----",
    "MIIEowIBAAKCAQEA0123456789abcdefMIIEowIBAAKCAQEA0123456789abcdef",
    "-----END EC PRIVATE KEY-----",
    "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMDEyMzQ1",
    "Gr\u{fc}\u{df}e aus K\u{f6}ln \u{2013} \u{96fb}\u{8a71} 090\u{a0}1234\u{a0}5678 \u{201c}quoted\u{201d}",
    "soft\u{ad}ly \u{ff14}\u{ff11}\u{ff11}\u{ff11} 1111 1111 1111",
    "mysql -u root -p'hunter2xx!' prod",
    "John Smith, 12 Main Street",
    "",
];

/// What stands between lines.
const ENDS: &[&str] = &["\n", "\n", "\r\n", " "];

fn text(most: usize) -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => proptest::sample::select(LINES).prop_map(str::to_owned),
        1 => "[ -~]{0,40}",
        1 => "[a-zA-Z0-9+/_-]{30,300}",
    ];
    let end = proptest::sample::select(ENDS);
    let lines = proptest::collection::vec((line, end), 0..most);
    lines.prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end.to_owned()]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_cut_and_any_context_give_the_findings_of_the_whole(
        text in text(40),
        mut cuts in proptest::collection::vec(0..2500usize, 0..6),
        context in 0..900usize,
    ) {
        cuts.sort_unstable();
        cuts.retain(|&cut| cut <= text.len());
        prop_assert_eq!(looked_ahead(&text, &cuts, context).0, detector().find(&text));
    }
}

#[test]
fn what_is_looked_at_ahead_is_used_where_nothing_is_under_way() {
    let rows = LINES.iter().filter(|line| !line.starts_with("pass") && !line.contains("BEGIN"));
    let text: String = rows.cycle().take(2000).enumerate().map(|(n, line)| format!("{n} {line}\n")).collect();
    let cuts: Vec<usize> =
        (1..text.len()).filter(|cut| cut % 9000 == 0 && text.is_char_boundary(*cut)).collect();
    let (found, used) = looked_ahead(&text, &cuts, SpeculativeScan::CONTEXT);
    assert_eq!(found, detector().find(&text));
    assert!(cuts.len() > 5 && used * 10 >= (cuts.len() + 1) * 8, "{used} of {} used", cuts.len() + 1);
}

#[test]
fn what_goes_on_for_long_is_found_by_the_scanner_itself() {
    let line = "MIIEowIBAAKCAQEA0123456789abcdefMIIEowIBAAKCAQEA0123456789abcdef\n";
    let key = format!("-----BEGIN EC PRIVATE KEY-----\n{}-----END EC PRIVATE KEY-----\n", line.repeat(400));
    let list: String = (0..900).map(|n| format!("  - sunflower{n}!\n")).collect();
    for text in [format!("a key:\n{key}and jo@harbour-post.com\n"), format!("passwords:\n{list}\nnone\n")] {
        let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % 7000 == 0).collect();
        let (found, used) = looked_ahead(&text, &cuts, SpeculativeScan::CONTEXT);
        assert_eq!(found, detector().find(&text));
        assert!(used <= cuts.len(), "a piece in the middle of one thing was looked at without its beginning");
    }
}

#[test]
fn a_scan_is_taken_by_its_own_piece_only() {
    let (next, piece) = (NextScan::default(), "mail jo@harbour-post.com\n");
    next.put(SpeculativeScan::new(detector(), "", piece.to_owned()));
    assert!(next.take("mail al@harbour-post.com\n").is_none());
    assert!(next.clone().take(piece).is_some() && next.take(piece).is_none());
}
