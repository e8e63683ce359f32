//! Which places a pattern takes.

use std::sync::Arc;

use super::*;
use crate::stream::path_set::{PathSet, PatternError, PatternFault};

/// A trail to `path`, in which numbers are indices.
fn trail(path: &str) -> PathTracker {
    let mut trail = PathTracker::default();
    for segment in path.split('/').filter(|s| !s.is_empty()) {
        if let Ok(index) = segment.parse() {
            trail.open(Nesting::Array);
            (0..index).for_each(|_| trail.comma());
        } else {
            trail.open(Nesting::Object);
            trail.name();
            trail.named(segment);
            trail.end_name();
        }
    }
    trail
}

#[test]
fn patterns_fit_paths() {
    let cases: &[(&str, &str, bool)] = &[
        ("messages[*].content", "messages/3/content", true),
        ("messages[*].content", "messages/3/content/0/text", false),
        ("messages[*].content", "messages/x/content", false),
        ("messages[*].content", "content", false),
        ("**.arguments", "a/1/arguments", true),
        ("**.arguments", "arguments", true),
        ("**.arguments", "arguments/x", false),
        ("**", "", true),
        ("**", "a/b/0", true),
        ("$", "", true),
        ("$", "a", false),
        ("*", "a", true),
        ("*", "3", true),
        ("*", "", false),
        ("*", "a/b", false),
        ("$.input.**", "input", true),
        ("$.input.**", "input/a/1", true),
        ("a.**.b.**.c", "a/b/b/x/c", true),
        ("a.**.b.**.c", "a/x/c", false),
        ("**.b.c", "b/b/c", true),
        ("[*].parts[1]", "0/parts/1", true),
        ("[*].parts[1]", "0/parts/2", false),
        ("a[\"b.c[*]\"].d", "a/b.c[*]/d", true),
    ];
    for (pattern, path, fits) in cases {
        let set = PathSet::new(&[(*pattern, Treatment::Text)], Treatment::Skip).unwrap();
        let expected = if *fits { Treatment::Text } else { Treatment::Skip };
        assert_eq!(set.take(&trail(path).path()), expected, "{pattern} on {path}");
    }
}

#[test]
fn the_first_pattern_decides() {
    let set =
        PathSet::new(&[("a.id", Treatment::Skip), ("a.*", Treatment::Embedded)], Treatment::Text).unwrap();
    assert_eq!(set.take(&trail("a/id").path()), Treatment::Skip);
    assert_eq!(set.take(&trail("a/x").path()), Treatment::Embedded);
    assert_eq!(set.take(&trail("b").path()), Treatment::Text);
    assert_eq!(PathSet::everything().take(&trail("").path()), Treatment::Text);
}

#[test]
fn faulty_patterns_are_refused_with_their_place() {
    let long = "k".repeat(256);
    let cases: &[(&str, usize, PatternFault)] = &[
        ("", 0, PatternFault::Empty),
        ("a..b", 2, PatternFault::Empty),
        ("a.", 2, PatternFault::Empty),
        ("a[", 1, PatternFault::Bracket),
        ("a[x]", 1, PatternFault::Bracket),
        ("a[\"x]", 1, PatternFault::Bracket),
        ("a.b*", 2, PatternFault::Star),
        ("a[0]b", 4, PatternFault::Separator),
        (&long, 0, PatternFault::TooLong),
    ];
    for (text, offset, fault) in cases {
        let error =
            PathSet::new(&[("ok", Treatment::Text), (*text, Treatment::Text)], Treatment::Skip).unwrap_err();
        assert_eq!(error, PatternError { pattern: 1, offset: *offset, fault: *fault }, "{text}");
    }
}

#[test]
fn a_trail_follows_what_is_read() {
    let mut trail = trail("a/2/b~c");
    assert_eq!(trail.path().to_string(), "/a/2/b~0c");
    trail.name();
    assert_eq!(trail.path().to_string(), "/a/2");
    trail.named("lö");
    trail.named("ng");
    trail.end_name();
    assert_eq!(trail.path().segment(2), Some(Segment::Key("löng")));
    trail.close();
    trail.comma();
    assert_eq!(trail.path().to_string(), "/a/3");
    trail.close();
    trail.close();
    assert!(trail.path().is_empty() && trail.keys.is_empty());
}

#[test]
fn a_fingerprint_is_that_of_the_way_however_it_was_come_to() {
    let ways = ["a", "a/2", "a/3", "a/2/b", "a/3/b", "a/2/c", "b", "2", "3/a", "ab", "a/b"];
    let alone = ways.map(|way| trail(way).path().fingerprint(9));
    for (at, one) in alone.iter().enumerate() {
        assert!(!alone[..at].contains(one) && *one != 0, "{}", ways[at]);
    }
    // Whatever was asked for before, and whatever has been left since.
    let mut walked = trail("a/2");
    assert_eq!(walked.path().fingerprint(2), alone[1]);
    walked.open(Nesting::Object);
    assert_eq!(walked.path().fingerprint(3), alone[1], "a key that is not read is no segment");
    walked.named("b");
    walked.end_name();
    assert_eq!([1, 2, 3].map(|length| walked.path().fingerprint(length)), [alone[0], alone[1], alone[3]]);
    walked.name();
    walked.named("c");
    walked.end_name();
    assert_eq!(walked.path().fingerprint(3), alone[5]);
    assert_eq!(walked.path().below(1).fingerprint(1), alone[1]);
    walked.close();
    walked.comma();
    assert_eq!(walked.path().fingerprint(2), alone[2]);
    walked.close();
    walked.close();
    assert_eq!((walked.path().fingerprint(0), walked.path().fingerprint(3)), (0, 0));
    walked.clear();
    assert_eq!(walked.path().fingerprint(1), 0);
}

#[test]
fn a_step_is_hashed_once_for_all_values_in_it() {
    let mut trail = trail(&"k".repeat(MAX_KEY));
    trail.open(Nesting::Array);
    let above = trail.path().fingerprint(1);
    for _ in 0..9 {
        trail.comma();
        assert_eq!(trail.fingerprints.get_mut().as_slice(), [above], "what has not changed stays");
        trail.path().fingerprint(2);
    }
}

#[test]
fn deeper_levels_are_counted_not_kept() {
    let mut trail = PathTracker::default();
    (0..200).for_each(|_| trail.open(Nesting::Array));
    assert_eq!((trail.path().len(), trail.path().is_cut()), (MAX_DEPTH, true));
    trail.comma();
    (0..72).for_each(|_| trail.close());
    assert!(!trail.path().is_cut());
    assert!(trail.path().segments().all(|s| s == Segment::Index(0)));
    trail.comma();
    assert_eq!(trail.path().segment(MAX_DEPTH - 1), Some(Segment::Index(1)));
}

#[test]
fn a_document_within_a_document_is_read_as_it_is_alone() {
    let alone = Arc::new(
        PathSet::new(&[("a.*", Treatment::Skip), ("**.b", Treatment::Embedded)], Treatment::Text).unwrap(),
    );
    let around =
        PathSet::new(&[("x[*].y.a", Treatment::Embedded), ("z", Treatment::Skip)], Treatment::Text).unwrap();
    let set = around.nested("x[*].y", Arc::clone(&alone)).unwrap();
    let rows = [
        ("x/0/y/a/c", Treatment::Skip),
        ("x/17/y/d/b", Treatment::Embedded),
        ("x/0/y/a", Treatment::Text),
        ("x/0/y", Treatment::Text),
        ("x/y/a/c", Treatment::Text),
        ("x/0/a/c", Treatment::Text),
        ("a/c", Treatment::Text),
        ("z", Treatment::Skip),
    ];
    for (place, want) in rows {
        assert_eq!(set.take(&trail(place).path()), want, "{place}");
        assert_eq!(set.then(&[]).unwrap().take(&trail(place).path()), want, "{place}");
    }
    assert!(!PathSet::everything().nested("x", alone).unwrap().is_everything());
    let below = trail("a/2/b~c");
    assert_eq!(below.path().below(1).to_string(), "/2/b~0c");
    assert!(below.path().below(4).is_empty() && below.path().below(4).segment(0).is_none());
    assert!(PathSet::everything().nested("a[", Arc::new(PathSet::everything())).is_err());
}
