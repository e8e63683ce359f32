use proptest::prelude::*;

use super::*;

/// How `text` reads when it comes in these pieces, and where each byte of the view stands.
fn read(text: &str, cuts: &[usize]) -> (String, Vec<usize>) {
    let (mut normal, mut view, mut from) = (Normalizer::default(), Vec::new(), 0);
    for &cut in cuts {
        let Some(piece) = text.get(from..cut) else { continue };
        normal.push(piece, false, &mut view);
        from = cut;
    }
    normal.push(text.get(from..).unwrap_or_default(), true, &mut view);
    let places = (0..=view.len()).map(|at| normal.source(at)).collect();
    (String::from_utf8(view).unwrap(), places)
}

#[test]
fn a_text_is_read_as_people_read_it() {
    let cases = [
        ("plain text, 1 2\n3", "plain text, 1 2\n3"),
        ("4111\u{a0}1111\u{202f}1111\u{2009}1111", "4111 1111 1111 1111"),
        ("536\u{2011}22\u{2013}8726", "536-22-8726"),
        ("536\u{2212}22\u{2012}8726", "536-22-8726"),
        ("41\u{200b}11\u{200d}11\u{2060}11\u{feff}11\u{ad}11", "411111111111"),
        ("４１１１", "4111"),
        ("٤١١١ ४१११", "4111 4111"),
        ("ｂｏｂ＠ｅｘａｍｐｌｅ．ｃｏｍ", "bob@example.com"),
        ("London\u{2013}Paris \u{2014} a break", "London\u{2013}Paris \u{2014} a break"),
        ("1999\u{2013}2004", "1999-2004"),
        ("GB82\u{2013}WEST\u{2013}1234", "GB82-WEST-1234"),
        ("4111 1111\n1111 1111", "4111 1111 1111 1111"),
        ("4111 1111\r\n  1111 1111", "4111 1111 1111 1111"),
        ("> 4111 1111\n> 1111 1111", "> 4111 1111 1111 1111"),
        (">> +1 415\r\n>> 867 5309", ">> +1 415 867 5309"),
        ("# 536-22-\n# 8726", "# 536-22-8726"),
        ("// GB82 WEST\n // 1234 5698 7654 32", "// GB82 WEST 1234 5698 7654 32"),
        ("| 12 |\n| 13 |", "| 12 |\n| 13 |"),
        ("; 4111 1111\n;;;;;;;;;1111 1111", "; 4111 1111\n;;;;;;;;;1111 1111"),
        ("4111 1111\n\n1111 1111", "4111 1111\n\n1111 1111"),
        ("４１１１\u{a0}１１１１\n１１１１\u{a0}１１１１", "4111 1111 1111 1111"),
        ("12\n13\n14", "12\n13\n14"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text, &[]).0, expected, "{text}");
        assert_eq!(as_read(text), expected, "{text}");
        assert!(needs(text) || text == expected, "{text}");
    }
}

#[test]
fn what_is_left_out_is_bounded() {
    let text = format!("1{}2", "\u{200b}".repeat(100));
    let (view, _) = read(&text, &[]);
    assert_eq!(view.chars().filter(|&c| c == '\u{200b}').count(), 100 / (GONE + 1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn any_pieces_read_as_the_whole(
        parts in proptest::collection::vec(prop_oneof![
            Just("4111"), Just("1111"), Just("\n"), Just("\r\n"), Just("> "), Just(" "), Just("\u{a0}"), Just("-"), Just("\u{2013}"),
            Just("\u{200b}"), Just("４"), Just("٤"), Just("536"), Just("22"), Just("8726"), Just("GB82 WEST"),
            Just("1234 5698 7654 32"), Just("x"), Just("("), Just(")"), Just("+"), Just("é"), Just("\t"), Just("."),
        ], 0..24),
        mut cuts in proptest::collection::vec(0..120usize, 0..8),
    ) {
        let text = parts.concat();
        cuts.sort_unstable();
        let whole = read(&text, &[]);
        prop_assert_eq!(&read(&text, &cuts), &whole, "{:?} at {:?}", text, cuts);
        let each: Vec<usize> = (1..text.len()).collect();
        prop_assert_eq!(&read(&text, &each), &whole, "{:?}", text);
        // Places lead to characters, in order.
        prop_assert!(whole.1.is_sorted() && whole.1.iter().all(|&at| at <= text.len()));
        for (at, place) in whole.1.iter().enumerate() {
            if whole.0.is_char_boundary(at) {
                prop_assert!(text.is_char_boundary(*place));
            }
        }
    }
}
