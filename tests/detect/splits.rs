//! Any split of a text gives the findings of the whole, with all rules on, at their thresholds and at none.

use portcullis::detect::{Detector, Finding, Scanner, Score, WIDEST, as_read};

use crate::corpora::{Dice, Sample, detector, samples, thorough};

/// Texts up to this long are cut at each of their places.
const SHORT: usize = 96;

/// Feeds `text` in pieces that end at `cuts`, and holds the scanner to its promises. Behind an odd number of cuts the last
/// piece comes with the end.
fn scanned(detector: &Detector, scanner: &mut Scanner, text: &str, cuts: &[usize]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let (mut from, mut decided) = (0, 0);
    let most = detector.reach() * if as_read(text) == text { 1 } else { WIDEST };
    for &cut in cuts.iter().chain([&text.len()]) {
        let Some(piece) = text.get(from..cut) else { continue };
        if cut == text.len() && cuts.len() % 2 == 1 {
            scanner.last(piece, &mut |finding| findings.push(finding));
            return findings;
        }
        let known = findings.len();
        let now = scanner.feed(piece, &mut |finding| findings.push(finding));
        assert!(
            decided <= now && now <= cut && text.is_char_boundary(now),
            "decided {now} after {decided} of {cut}"
        );
        assert!(findings[known..].iter().all(|one| one.span.end <= now), "a finding lies beyond {now}");
        assert!(
            findings[known..].iter().all(|one| one.span.start >= decided),
            "a finding begins before {decided}"
        );
        assert_eq!(scanner.held(), cut - now);
        assert!(scanner.held() <= most, "{} held", scanner.held());
        (from, decided) = (cut, now);
    }
    scanner.end(&mut |finding| findings.push(finding));
    findings
}

/// Where the two differ, by rule and place; values of the corpora are not printed.
fn differ(detector: &Detector, found: &[Finding], whole: &[Finding]) -> Vec<String> {
    let missing = whole.iter().filter(|one| !found.contains(one)).map(|one| ("not found", one));
    let added = found.iter().filter(|one| !whole.contains(one)).map(|one| ("only found", one));
    let show = |(what, one): (&str, &Finding)| {
        let near = one.near.map(|near| near.span);
        format!("{what}: {} {:?} {:?} near {near:?}", detector.rule(one.rule).name(), one.span, one.score)
    };
    missing.chain(added).map(show).collect()
}

/// The ways to cut a text that are tried.
fn cuts(text: &str) -> Vec<Vec<usize>> {
    let mut dice = Dice::of(text);
    let mut all: Vec<Vec<usize>> = vec![(1..text.len()).collect()];
    if text.len() <= if thorough() { 3 * SHORT } else { SHORT } {
        all.extend((1..text.len()).map(|cut| vec![cut]));
    } else {
        all.extend((0..16).map(|_| vec![dice.below(text.len())]));
    }
    for pieces in [3, 7, 20] {
        let mut cuts: Vec<usize> = (1..pieces).map(|_| dice.below(text.len())).collect();
        cuts.sort_unstable();
        all.push(cuts);
    }
    all
}

#[test]
fn any_split_gives_the_findings_of_the_whole() {
    let mut wrong = Vec::new();
    for detector in [detector(), detector().at_least(Score::new(0.0))] {
        let (mut cache, mut scanner) = (detector.cache(), detector.scanner());
        for Sample { id, text } in samples(1200) {
            let whole = detector.find_with(&mut cache, &text);
            assert!(whole.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
            let valued =
                |one: &Finding| text.get(one.span.start..one.span.end).is_some_and(|v| !v.is_empty());
            assert!(whole.iter().all(valued));
            let bad = cuts(&text).into_iter().find_map(|cuts| {
                let found = scanned(&detector, &mut scanner, &text, &cuts);
                (found != whole).then(|| (cuts, differ(&detector, &found, &whole)))
            });
            if let Some((cuts, differ)) = bad {
                let at = if cuts.len() > 20 { "byte by byte".to_owned() } else { format!("at {cuts:?}") };
                wrong.push(format!("{id} cut {at}: {differ:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_was_found_is_found_again_in_a_longer_stream() {
    // The same scanner, text after text: its window moves on, and nothing of one text is left for the next.
    let detector = detector();
    let (mut cache, mut scanner) = (detector.cache(), detector.scanner());
    for samples in samples(2000).chunks(40) {
        let joined: String = samples.iter().flat_map(|sample| [sample.text.as_str(), "\n\n"]).collect();
        let whole = detector.find_with(&mut cache, &joined);
        for size in [997, 64] {
            let cuts: Vec<usize> = (1..joined.len()).filter(|cut| cut % size == 0).collect();
            let found = scanned(&detector, &mut scanner, &joined, &cuts);
            assert!(
                found == whole,
                "{} and on, by {size}: {:?}",
                samples[0].id,
                differ(&detector, &found, &whole)
            );
        }
    }
}
