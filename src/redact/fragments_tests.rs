use super::*;

fn issued(pairs: &[(&str, &str)]) -> Vec<IssuedSurrogate> {
    let issued = |(surrogate, original): &(&str, &str)| IssuedSurrogate {
        surrogate: (*surrogate).to_owned(),
        original: Zeroizing::new((*original).to_owned()),
        spelling: SurrogateIdentity::Exact,
        parts: false,
    };
    pairs.iter().map(issued).collect()
}

/// The example values of issuers, and what stands for them.
const KEYS: &[(&str, &str)] = &[
    ("AKIA02XYHQ7MN3PLT5ZQ", "AKIA64CFSUOSG2WPIZZX"),
    ("sk-proj-rEwZr7ZorlYeft4xctEmloBsXr9Soh", "sk-proj-fPrYs5ClnrIehe6bhqHxzfPrYs5Cln"),
    ("ZK/kDzNGSUVs3Ikb9DnoeFB2SE76v3j/nhlx8U/e", "VA/jEnTYGUHe1Ldw6RxrrBR7RZ53l3a/rfzk1J/o"),
    ("forest-meadow-29-lantern", "summer-garden-17-fountain"),
    ("https://a.example/k3y-of-mine-7", "https://b.example/k8x-of-yours-"),
    ("eyJhbGciOiJIUzI1NiJ9.abcdefgh12", "eyJhbGciOiJIUzI1NiJ9.bcdefghi34"),
];

fn found(text: &str) -> Option<String> {
    match Fragments::of(&issued(KEYS)).seek(text.as_bytes(), More::No) {
        FragmentMatch::Found { len, with, .. } => Some(format!("{with}{}", text.get(len..).unwrap())),
        FragmentMatch::No => None,
        FragmentMatch::Wait => panic!("{text} is all there is"),
    }
}

#[test]
fn a_piece_stands_for_the_same_piece_of_the_original() {
    let cases = [
        ("AKIA02XYHQ", "AKIA64CFSU"),
        ("AKIA02XY", "AKIA64CF"),
        ("AKIA02XYHQ' .", "AKIA64CFSU' ."),
        ("AKIA02XYHQ_ and", "AKIA64CFSU_ and"),
        ("AKIA02XYHQ…", "AKIA64CFSU…"),
        ("AKIA02XYHQ...", "AKIA64CFSU..."),
        ("sk-proj-rEwZ", "sk-proj-fPrY"),
        ("sk-proj-rEwZ\"", "sk-proj-fPrY\""),
        ("7MN3PLT5ZQ", "OSG2WPIZZX"),
        ("Yeft4xctEmloBsXr9Soh\n", "Iehe6bhqHxzfPrYs5Cln\n"),
        ("ZK/kDzNGSUVs3Ikb9Dno\neF", "VA/jEnTYGUHe1Ldw6Rxr\neF"),
        ("eFB2SE76v3j/nhlx8U/e", "rBR7RZ53l3a/rfzk1J/o"),
        ("NGSUVs3Ikb9DnoeFB2SE", "TYGUHe1Ldw6RxrrBR7RZ"),
    ];
    for (text, expected) in cases {
        assert_eq!(found(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn what_is_no_piece_stays() {
    let cases = [
        // Too little, or the same in all keys of a kind.
        "AKIA02X",
        "AKIA",
        "sk-proj-",
        "sk-proj-rEw",
        "PLT5ZQ",
        // A part of a word, or of another one that hyphens join.
        "AKIA02XYHQa",
        "AKIA02XYHQ8",
        "AKIA02XYHQ-west",
        "AKIA02XYHQ_1",
        // Words that anybody writes.
        "lantern",
        "meadow-29",
        "forest-meadow",
        "forest-meadow-29",
        "forest",
        "eyJhbGciOiJIUzI1NiJ9",
        "https://a.example",
        // The middle, where it is short.
        "DzNGSUVs3Ikb9Dn",
        "akia02xyhq",
    ];
    for text in cases {
        assert_eq!(found(text), None, "{text}");
    }
}

#[test]
fn a_piece_of_two_is_none() {
    let two =
        [("AKIA02XYHQ7MN3PLT5ZQ", "AKIA64CFSUOSG2WPIZZX"), ("AKIA02XYHQ7MN3PLT6AA", "AKIA77CFSUOSG2WPI3ZY")];
    let fragments = Fragments::of(&issued(&two));
    assert_eq!(fragments.seek(b"AKIA02XYHQ", More::No), FragmentMatch::No);
    let FragmentMatch::Found { with, .. } = fragments.seek(b"AKIA02XYHQ7MN3PLT5", More::No) else { panic!() };
    assert_eq!(with, "AKIA64CFSUOSG2WPIZ");
    // Whichever it is of, it leaves hidden.
    let FragmentMatch::Found { with, entry, .. } =
        Fragments::hiding(&issued(&two)).seek(b"AKIA02XYHQ", More::No)
    else {
        panic!()
    };
    assert_eq!((with.as_str(), entry), ("AKIA64CFSU", 0));
}

/// What repeats itself has a piece at many places: a beginning goes before an end.
#[test]
fn a_secret_may_repeat_itself() {
    let original = "BK42tOE0FCfRQ7QvYugk3".repeat(3);
    let surrogate = "qW3eR5tY7uI9oP1aS2dF4gH6jK8lZ0xC5vB7nM3qA1wS4eD6rF8tG9yH2uJ5iK7";
    let back = Fragments::of(&issued(&[(&original, surrogate)]));
    for (from, to) in [(13, 63), (0, 42), (0, 25), (40, 63)] {
        let piece = original.get(from..to).unwrap();
        let FragmentMatch::Found { with, .. } = back.seek(piece.as_bytes(), More::No) else { panic!() };
        let there = Fragments::of(&issued(&[(surrogate, &original)]));
        let FragmentMatch::Found { with, .. } = there.seek(with.as_bytes(), More::No) else { panic!() };
        assert_eq!(with, piece);
    }
}

#[test]
fn no_more_is_held_than_a_piece() {
    let fragments = Fragments::of(&issued(KEYS));
    let wait = |text: &str| fragments.seek(text.as_bytes(), More::Yes) == FragmentMatch::Wait;
    assert!(wait("AKIA02") && wait("AKIA02XYHQ") && wait("AKIA02XYHQ-"));
    assert!(!wait("AKIA02XYHQ ") && !wait("AKIB") && !wait("sk-x-") && !wait("hello "));
    assert!(!wait("AKI-"), "too short already");
}

#[test]
fn there_are_not_more_places_than_are_bounded() {
    let many: Vec<(String, String)> = (0..2000)
        .map(|n| (format!("{n:08}{}", "aB3dE5".repeat(40)), format!("{n:08}{}", "xY7zW9".repeat(40))))
        .collect();
    let pairs: Vec<(&str, &str)> = many.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect();
    assert!(Fragments::of(&issued(&pairs)).places.len() <= MOST);
}
