use std::sync::Arc;

use proptest::prelude::*;
use zeroize::Zeroizing;

use super::*;
use crate::detect::Format;
use crate::redact::issued::SurrogateIdentity;
use crate::redact::{AnswerEditor, SurrogateMap};
use crate::stream::{Edit, Editor};

/// Surrogate, original and format.
const ISSUED: [(&str, &str, Format); 14] = [
    ("+1 650 253 0000", "+1 212 555 0100", Format::Phone),
    ("(725) 441-8260", "(415) 867-5309", Format::Phone),
    ("+44 20 7946 0958", "+44 31 4960 2217", Format::Phone),
    ("4012 8888 8888 1881", "4111 1111 1111 1111", Format::Card),
    ("536-22-8726", "078-05-1120", Format::Ssn),
    ("GB29NWBK60161331926819", "GB82WEST12345698765432", Format::Iban),
    ("xkqz_w9p+v@pq7-a.example.com", "Jane_doe+x@acm-e.example.com", Format::Email),
    ("ghp_abcDEF", "ghp_secReT", Format::Key),
    ("9.8.7.6", "203.0.113.77", Format::Ip),
    ("Elenz Rqiz", "Marie-Ann Lopez", Format::Text),
    ("27 Qwer Rd.", "12 Main St.", Format::Text),
    ("Cessw", "Alice", Format::Text),
    ("AB 12 34 56 C", "QQ 98 76 54 D", Format::Text),
    ("Ab \"c\"", "Éa \"&\"", Format::Text),
];

pub(super) fn undo_of(issued: &[(&str, &str, Format)]) -> Arc<SurrogateMap> {
    let issued = issued.iter().map(|(surrogate, original, format)| IssuedSurrogate {
        surrogate: (*surrogate).to_owned(),
        original: Zeroizing::new((*original).to_owned()),
        spelling: SurrogateIdentity::of(*format),
        parts: true,
    });
    Arc::new(SurrogateMap::of(issued.collect()))
}

/// What comes of a text in pieces that end at these places, and how much of it was held at most.
fn restored(mut answer: AnswerEditor, text: &str, cuts: &[usize]) -> (String, usize) {
    let (mut edits, mut fed, mut most): (Vec<Edit>, usize, usize) = (Vec::new(), 0, 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        let decided = answer.feed(text.get(fed..cut).unwrap(), &mut edits).unwrap();
        (fed, most) = (cut, most.max(cut - decided));
    }
    answer.end(&mut edits).unwrap();
    (crate::edit::spliced_text(text, &edits), most)
}

fn whole(undo: &Arc<SurrogateMap>, text: &str) -> String {
    restored(AnswerEditor::restore(Arc::clone(undo)), text, &[]).0
}

/// The same, and every cut in two and every character alone come to the same.
pub(super) fn at_any_cut(undo: &Arc<SurrogateMap>, text: &str) -> String {
    let out = whole(undo, text);
    let ends: Vec<usize> = (0..text.len()).filter(|end| text.is_char_boundary(*end)).collect();
    for end in &ends {
        let cut = restored(AnswerEditor::restore(Arc::clone(undo)), text, &[*end]).0;
        assert_eq!(cut, out, "{text} cut at {end}");
    }
    assert_eq!(restored(AnswerEditor::restore(Arc::clone(undo)), text, &ends).0, out, "{text} by characters");
    out
}

/// What a model writes, and what comes of it.
const FORMS: &[(&str, &str)] = &[
    // Numbers: the groups that were written.
    ("+1 650 253 0000", "+1 212 555 0100"),
    ("+1-650-253-0000.", "+1-212-555-0100."),
    ("+1 (650) 253-0000", "+1 (212) 555-0100"),
    ("+1(650)253.0000", "+1(212)555.0100"),
    ("16502530000", "12125550100"),
    ("1\u{202f}650\u{2011}253\u{2011}0000", "1\u{202f}212\u{2011}555\u{2011}0100"),
    ("650/253/0000", "212/555/0100"),
    ("650 - 253 - 0000", "212 - 555 - 0100"),
    ("725 441 8260", "415 867 5309"),
    ("tel:+17254418260", "tel:+14158675309"),
    ("1-725-441-8260", "1-415-867-5309"),
    ("001 725 441 8260", "001 415 867 5309"),
    ("+44 (0)20 7946 0958", "+44 (0)31 4960 2217"),
    ("020 7946 0958", "031 4960 2217"),
    ("0044 2079460958", "0044 3149602217"),
    ("(020) 7946-0958", "(031) 4960-2217"),
    ("+44%2020%207946%200958", "+44%2031%204960%202217"),
    ("%2B442079460958", "%2B443149602217"),
    ("4012888888881881", "4111111111111111"),
    ("4012-8888-8888-1881)", "4111-1111-1111-1111)"),
    ("4012+8888+8888+1881", "4111+1111+1111+1111"),
    ("4012 **8888** 8888 `1881`", "4111 **1111** 1111 `1111`"),
    ("4012&nbsp;8888&#160;8888&#xA0;1881", "4111&nbsp;1111&#160;1111&#xA0;1111"),
    ("４０１２ ８８８８ ８８８８ １８８１", "４１１１ １１１１ １１１１ １１１１"),
    ("&#52;012 8888 8888 1881", "&#52;111 1111 1111 1111"),
    ("536\u{ad}-22-87\u{200b}26", "078\u{ad}-05-11\u{200b}20"),
    ("536228726", "078051120"),
    ("536 22 8726", "078 05 1120"),
    ("gb29 nwbk 6016 1331 9268 19", "gb82 west 1234 5698 7654 32"),
    ("AB123456C", "QQ987654D"),
    ("ab-12-34-56-c", "qq-98-76-54-d"),
    // Last digits.
    ("ending in 1881", "ending in 1111"),
    ("**** **** **** 1881, or •••• 8726", "**** **** **** 1111, or •••• 1120"),
    (
        "xxxx-xxxx-xxxx-1881; XXX-XX-8726; XXXXXXXXXXXX1881",
        "xxxx-xxxx-xxxx-1111; XXX-XX-1120; XXXXXXXXXXXX1111",
    ),
    ("…1881 and ...8726", "…1111 and ...1120"),
    ("the last four digits of it are **8260**.", "the last four digits of it are **5309**."),
    ("endet auf 6819", "endet auf 5432"),
    ("ending in 1881, 8726 and 8260", "ending in 1111, 1120 and 5309"),
    // Letter case.
    ("XKQZ_W9P+V@PQ7-A.EXAMPLE.COM", "JANE_DOE+X@ACM-E.EXAMPLE.COM"),
    ("Xkqz_W9P+V@Pq7-A.Example.Com", "Jane_Doe+X@Acm-E.Example.Com"),
    ("Xkqz_w9p+v@pq7-a.example.com", "Jane_doe+x@acm-e.example.com"),
    ("xKqz_w9p+v@pq7-a.eXample.com", "Jane_doe+x@acm-e.example.com"),
    ("GHP_ABCDEF and ghp_abcdef", "GHP_SECRET and ghp_secret"),
    ("CESSW", "ALICE"),
    ("ELENZ RQIZ, Elenz RQIZ, elenz rqiz", "MARIE-ANN LOPEZ, Marie-Ann LOPEZ, marie-ann lopez"),
    // Escapes.
    ("xkqz_w9p%2Bv%40pq7-a.example.com", "Jane_doe%2Bx%40acm-e.example.com"),
    ("?to=xkqz_w9p+v%40pq7-a.example.com&a", "?to=Jane_doe+x%40acm-e.example.com&a"),
    ("to%3Axkqz_w9p+v@pq7-a.example.com", "to%3AJane_doe+x@acm-e.example.com"),
    ("xkqz_w9p+v&#64;pq7-a&period;example&#x2e;com", "Jane_doe+x&#64;acm-e&period;example&#x2e;com"),
    (r"xkqz\_w9p\+v@pq7\-a.example.com", r"Jane\_doe\+x@acm\-e.example.com"),
    (r"xkqz_w9p+v\u0040pq7-a.example.com", r"Jane_doe+x\u0040acm-e.example.com"),
    (r"\nxkqz_w9p+v\x40pq7-a\u{2e}example.com", r"\nJane_doe+x\x40acm-e\u{2e}example.com"),
    ("&#120;&#107;&#113;z_w9p+v@pq7-a.example.com", "&#74;&#97;&#110;e_doe+x@acm-e.example.com"),
    ("xkqz_w9p+v@pq7\u{2011}a.exam\u{ad}ple.com", "Jane_doe+x@acm\u{2011}e.exam\u{ad}ple.com"),
    ("9%2E8%2E7%2E6", "203%2E0%2E113%2E77"),
    ("9.8\u{ad}.7.6", "203.0.113.77"),
    ("&#57;.&#56;.&#55;.&#54;", "&#50;&#48;&#51;.&#48;.&#49;&#49;&#51;.&#55;&#55;"),
    ("ab%20%22c%22", "%C3%A9a%20%22%26%22"),
    ("Ab &quot;c&quot;", "Éa &quot;&amp;&quot;"),
    // Around and behind.
    ("**xkqz_w9p+v@pq7-a.example.com**", "**Jane_doe+x@acm-e.example.com**"),
    ("[mail](mailto:xkqz_w9p+v@pq7-a.example.com)", "[mail](mailto:Jane_doe+x@acm-e.example.com)"),
    ("Elenz's, Rqiz\u{2019}s; _Cessw_.", "Marie-Ann's, Lopez\u{2019}s; _Alice_."),
    // Words.
    ("Ms Rqiz, ELENZ", "Ms Lopez, MARIE-ANN"),
    (
        "Elenz+Rqiz Elenz_Rqiz.pdf elenz-rqiz Elenz\nRqiz",
        "Marie-Ann+Lopez Marie-Ann_Lopez.pdf marie-ann-lopez Marie-Ann\nLopez",
    ),
    ("**Elenz** Rqiz", "**Marie-Ann** Lopez"),
    ("on Qwer, at 27 Qwer Rd.", "on Main, at 12 Main St."),
];

#[test]
fn originals_come_back_in_the_form_that_was_written() {
    let undo = undo_of(&ISSUED);
    for (text, expected) in FORMS {
        assert_eq!(at_any_cut(&undo, text), *expected, "{text}");
    }
}

#[test]
fn what_is_no_form_stays() {
    let cases = [
        "+1 650 253 0001",
        "+1 650 253 00001",
        "4012, 8888 8888 1881",
        "4012\n8888 8888 1881",
        "4012    8888 8888 1881",
        "401288888888188",
        "xkqz_w9p+v@pq7-a.example.come",
        "cessw, cEssw; elenz",
        // No words or mask in front, or digits that are no last ones.
        "1881",
        "in 1881",
        "**1881**",
        "ending in 18811",
        "ending in 1881.50 or 1,881",
        "last four years. In 1881",
        "4012 **** **** 1881",
        "27 of them",
        "ending in 2680",
    ];
    let undo = undo_of(&ISSUED);
    for text in cases {
        assert_eq!(at_any_cut(&undo, text), text);
    }
}

#[test]
fn what_two_may_be_meant_by_stays() {
    let undo = undo_of(&[
        ("4012 8888 8888 1881", "4111 1111 1111 1111", Format::Card),
        ("536-22-1881", "078-05-1120", Format::Ssn),
        ("Elenz Rqiz", "Maria Lopez", Format::Text),
        ("Oskar Rqiz", "Peter Smith", Format::Text),
        ("ghp_aa", "ghp_bb", Format::Key),
        ("ghp_AA", "ghp_cc", Format::Key),
    ]);
    let text = "ending in 1881, Rqiz, GHP_AA, Ghp_Aa";
    let expected = "ending in 1881, Rqiz, GHP_AA, Ghp_Aa";
    assert_eq!(at_any_cut(&undo, text), expected);
    let text = "4012-8888-8888-1881, Elenz, OSKAR RQIZ, ghp_aa, ghp_AA";
    assert_eq!(at_any_cut(&undo, text), "4111-1111-1111-1111, Maria, PETER SMITH, ghp_bb, ghp_cc");
    // Two spellings of one value are one.
    let undo = undo_of(&[
        ("4012 8888 8888 1881", "4111 1111 1111 1111", Format::Card),
        ("4012-8888-8888-1881", "4111-1111-1111-1111", Format::Card),
        ("(725) 441-8260", "(415) 867-5309", Format::Phone),
        ("+1 725 441 8260", "+1 415 867 5309", Format::Phone),
    ]);
    let text = "4012.8888.8888.1881 ending in 1881, 725.441.8260 or +17254418260";
    let expected = "4111.1111.1111.1111 ending in 1111, 415.867.5309 or +14158675309";
    assert_eq!(at_any_cut(&undo, text), expected);
}

/// What is held is what may become a form, and nothing else.
#[test]
fn no_more_is_held_than_a_candidate() {
    let undo = undo_of(&ISSUED);
    let held = |text: &str| {
        let mut answer = AnswerEditor::restore(Arc::clone(&undo));
        text.len() - answer.feed(text, &mut Vec::new()).unwrap()
    };
    let cases = [
        ("ending in ", 0),
        ("ending in 18", 2),
        ("ending in 1881", 4),
        ("ending in 1881,", 5),
        ("ending in 1881, ", 0),
        ("in 18", 0),
        ("in 13", 0),
        ("+", 1),
        ("+1", 2),
        ("+3", 0),
        ("4012 ", 5),
        ("4012 8888-", 10),
        ("4012    ", 0),
        ("4013", 0),
        ("(", 1),
        ("(z", 0),
        ("xk", 2),
        ("xa", 0),
        ("xkq&", 4),
        ("xkq&a", 5),
        ("xkq& ", 0),
        ("Elenz", 5),
        ("Elenz is", 0),
        ("100%", 1),
        ("100% ", 0),
        ("a & ", 0),
        ("ghp_abcDEF", 10),
        ("ghp_abcDEF.", 0),
    ];
    for (text, expected) in cases {
        assert_eq!(held(text), expected, "{text}");
    }
    let longest = ISSUED.iter().map(|(surrogate, ..)| surrogate.len()).max().unwrap();
    for unit in UNITS {
        let text = unit.repeat(2000);
        let ends: Vec<usize> = (0..text.len()).filter(|end| text.is_char_boundary(*end)).collect();
        let (_, most) = restored(AnswerEditor::restore(Arc::clone(&undo)), &text, &ends);
        assert!(most <= longest * 2 * (LONGEST_UNIT + 4), "{unit}: {most}");
    }
}

/// Bytes of the longest escape.
const LONGEST_UNIT: usize = 24;

/// What forms are made of.
const UNITS: [&str; 38] = [
    "'",
    "''",
    "$$",
    "[.",
    "\\\\.",
    "\\ ",
    "4012 ",
    "4",
    "(4",
    "4012 8888 8888 188",
    "+1",
    "+",
    "(",
    ")",
    "%",
    "%34",
    "%40",
    "%2B1",
    "&",
    "&#52;",
    "&#0052",
    "&commat;",
    "\\u0034",
    "\\",
    "\\x34",
    "\u{ad}",
    "4\u{ad}",
    "4-\u{200b}",
    "*",
    "4*",
    "x",
    "xxxx-",
    "ending in ",
    "ending in 1",
    "Elenz ",
    "Elenz**",
    "xkq_w9",
    "１",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any text of what forms are made of, in any pieces.
    #[test]
    fn chunks_do_not_show(parts in prop::collection::vec(0..UNITS.len() + 2 * ISSUED.len(), 0..12), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let undo = undo_of(&ISSUED);
        let piece = |part: &usize| match part.checked_sub(UNITS.len()) {
            None => UNITS[*part].to_owned(),
            Some(value) if value % 2 == 0 => format!("{} ", ISSUED[value / 2].0),
            Some(value) => ISSUED[value / 2].0.to_uppercase().replace(' ', ""),
        };
        let text: String = parts.iter().map(piece).collect();
        let ends: Vec<usize> = (0..=text.len()).filter(|end| text.is_char_boundary(*end)).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&ends)).collect();
        cuts.sort_unstable();
        let cut = restored(AnswerEditor::restore(Arc::clone(&undo)), &text, &cuts).0;
        prop_assert_eq!(cut, whole(&undo, &text));
    }
}

const KEY: [(&str, &str, Format); 1] = [(
    "-----BEGIN EC PRIVATE KEY-----\nAbC+dEf/0123\nxyzW9876==\n-----END EC PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\nZyX+wVu/9876\nabcD0123==\n-----END EC PRIVATE KEY-----",
    Format::Pem,
)];

/// A key stands in YAML, in JSON, in a program: what lays it out there is the model's, and its lines are the caller's.
#[test]
fn a_key_comes_back_however_it_is_laid_out() {
    let undo = undo_of(&KEY);
    let [(surrogate, original, _)] = KEY;
    let layouts: [fn(&str) -> String; 15] = [
        str::to_owned,
        |key| {
            format!(
                "key: |\n{}\nnext: 1",
                key.lines().map(|line| format!("        {line}\n")).collect::<String>()
            )
        },
        |key| format!(r#"{{"private_key": "{}\n"}}"#, key.replace('\n', r"\n")),
        |key| key.replace('\n', "\r\n"),
        |key| key.replace('\n', " "),
        |key| key.replace('\n', ""),
        |key| key.lines().map(|line| format!("  \"{line}\\n\",\n")).collect(),
        |key| key.lines().map(|line| format!("'{line}\\n' \\\n")).collect(),
        |key| key.lines().map(|line| format!("+{line}\n")).collect(),
        |key| key.lines().map(|line| format!("-{line}\n")).collect(),
        |key| key.lines().map(|line| format!("> {line}\n")).collect(),
        |key| key.lines().map(|line| format!("# {line}\n")).collect(),
        |key| key.lines().zip(8..).map(|(line, n)| format!("{n:6}\t{line}\n")).collect(),
        |key| key.lines().zip(98..).map(|(line, n)| format!("keys/id.pem:{n}:{line}\n")).collect(),
        |key| key.lines().map(|line| format!("    + \"{line}\\n\"\n")).collect(),
    ];
    for layout in layouts {
        let text = format!("Here: {} Done.", layout(surrogate));
        assert_eq!(at_any_cut(&undo, &text), format!("Here: {} Done.", layout(original)));
    }
    let others = [
        surrogate.to_lowercase(),
        surrogate.replace("xyz", "xyy"),
        surrogate.replace("9876", "98765"),
        surrogate.replace("==", ""),
        surrogate.replace('\n', &" ".repeat(LAYOUT as usize + 1)),
    ];
    for text in others {
        assert_eq!(at_any_cut(&undo, &text), text);
    }
}

/// What a caller pasted as a string of JSON, a model writes to a file, and the other way.
#[test]
fn a_key_that_was_issued_with_escapes_comes_back_without_them() {
    let [(surrogate, original, format)] = KEY;
    let escaped = |key: &str| key.replace('\n', r"\n");
    let undo = undo_of(&[(&escaped(surrogate), &escaped(original), format)]);
    assert_eq!(at_any_cut(&undo, surrogate), original);
    assert_eq!(at_any_cut(&undo, &escaped(surrogate)), escaped(original));
    let undo = undo_of(&KEY);
    assert_eq!(at_any_cut(&undo, &escaped(surrogate)), escaped(original));
}

/// What programs quote has a mark more than it is; what has escapes of its own keeps them.
const QUOTED: [(&str, &str, Format); 9] = [
    ("Cordelia O'Kritos", "Siobhan O'Malley", Format::Text),
    ("Jq5$hS!g7#hLw0", "Qz7$kW!m2#pLx9", Format::Key),
    ("10.128.78.70", "81.169.145.70", Format::Ip),
    ("+49 49 82024817", "+49 30 90182734", Format::Phone),
    ("JRuZ7Hh6do.zMDWHoW@omq1460t.fm", "marguerite.okonkwo@fastmail.fm", Format::Email),
    (r"e\.Vzt4@omq\.fm", r"t\.pemb@fas\.fm", Format::Email),
    (r"Mq5$hS!g7#hL\'w0", r"Nz7$kW!m2#pL\'x9", Format::Key),
    (r"Bente Clairai\u006c", r"Ingrid S\u00f8rlie", Format::Text),
    (r"p\d4x%41", r"q\d7y%42", Format::Key),
];

#[test]
fn what_programs_quote_comes_back_quoted() {
    let cases = [
        (r"echo 'Cordelia O'\''Kritos'", r"echo 'Siobhan O'\''Malley'"),
        (r#"'Cordelia O'"'"'Kritos'"#, r#"'Siobhan O'"'"'Malley'"#),
        ("VALUES ('Cordelia O''Kritos')", "VALUES ('Siobhan O''Malley')"),
        (r"'Cordelia O\'Kritos'", r"'Siobhan O\'Malley'"),
        (r"Cordelia\ O\'Kritos", r"Siobhan\ O\'Malley"),
        ("PW: Jq5$$hS!g7#hLw0", "PW: Qz7$$kW!m2#pLx9"),
        (r"Jq5\$hS\!g7\#hLw0", r"Qz7\$kW\!m2\#pLx9"),
        ("10[.]128[.]78[.]70", "81[.]169[.]145[.]70"),
        (r"10\.128\.78\.70", r"81\.169\.145\.70"),
        (r"10\\.128\\.78\\.70", r"81\\.169\\.145\\.70"),
        (r"10\\\\.128\\\\.78\\\\.70", r"81\\\\.169\\\\.145\\\\.70"),
        (r"x=+49\ 49\ 82024817", r"x=+49\ 30\ 90182734"),
        ("JRuZ7Hh6do[.]zMDWHoW@omq1460t[.]fm", "marguerite[.]okonkwo@fastmail[.]fm"),
        // With the escapes that they were shown with, with others, and with none.
        (r"e\.Vzt4@omq\.fm", r"t\.pemb@fas\.fm"),
        (r"e\\.Vzt4@omq\\.fm", r"t\\.pemb@fas\\.fm"),
        ("e.Vzt4@omq.fm", "t.pemb@fas.fm"),
        (r"Mq5$hS!g7#hL\'w0", r"Nz7$kW!m2#pL\'x9"),
        (r"Mq5$hS!g7#hL\\'w0", r"Nz7$kW!m2#pL\\'x9"),
        ("Mq5$hS!g7#hL'w0", "Nz7$kW!m2#pL'x9"),
        (r"Bente Clairai\u006c", r"Ingrid S\u00f8rlie"),
        (r"Bente Clairai\\u006c", r"Ingrid S\\u00f8rlie"),
        ("Bente Clairail", "Ingrid Sørlie"),
        // Of what is no escape to who made the surrogate, nothing else is one.
        (r"p\d4x%41", r"q\d7y%42"),
        ("pd4xA", "pd4xA"),
    ];
    let undo = undo_of(&QUOTED);
    for (text, expected) in cases {
        assert_eq!(at_any_cut(&undo, text), expected, "{text}");
    }
    for text in ["Cordelia O'", "10[.]128[.]78", "Jq5$$$hS!g7#hLw0", "10[.128].78.70", "[ ] $$ '' \\\\."] {
        let expected = text.replace("Cordelia", "Siobhan");
        assert_eq!(at_any_cut(&undo, text), expected);
    }
}

/// A piece of a secret stands for the piece of the original, and the halves of one for all of it.
#[test]
fn pieces_of_secrets_come_back() {
    let undo = undo_of(&[
        ("AKIA02XYHQ7MN3PLT5ZQ", "AKIA64CFSUOSG2WPIZZX", Format::Key),
        ("sk-proj-rEwZr7ZorlYeft4xctEmloBsXr9Soh", "sk-proj-fPrYs5ClnrIehe6bhqHxzfPrYs5Cln", Format::Key),
    ]);
    let cases = [
        ("grep -rn 'AKIA02XYHQ' .", "grep -rn 'AKIA64CFSU' ."),
        ("it begins with `sk-proj-rEwZ`…", "it begins with `sk-proj-fPrY`…"),
        (
            "k = \"sk-proj-rEwZr7ZorlYe\" \\\n    \"ft4xctEmloBsXr9Soh\"",
            "k = \"sk-proj-fPrYs5ClnrIe\" \\\n    \"he6bhqHxzfPrYs5Cln\"",
        ),
        ("\"AKIA02XYHQ\" + \"7MN3PLT5ZQ\"", "\"AKIA64CFSU\" + \"OSG2WPIZZX\""),
        ("AKIA02XYHQ7MN3PLT5ZQ, AKIA02XYHQ-x", "AKIA64CFSUOSG2WPIZZX, AKIA02XYHQ-x"),
    ];
    for (text, expected) in cases {
        assert_eq!(at_any_cut(&undo, text), expected, "{text}");
    }
}

/// A key in a string of JSON that stands in one itself: its ends of lines are escaped once more.
#[test]
fn a_key_comes_back_through_strings_within_strings() {
    let undo = undo_of(&KEY);
    let [(surrogate, original, _)] = KEY;
    for escape in [r"\\n", r"\\\\n", r"\\r\\n"] {
        let nested = |key: &str| key.replace('\n', escape);
        assert_eq!(at_any_cut(&undo, &nested(surrogate)), nested(original), "{escape}");
    }
}
