use crate::sanitize::bench::Bench;
use crate::sanitize::{FileKind, ObjectKind, Rejection};

fn clean(inside: &str) -> (String, u64) {
    let file = format!("{{\\rtf1\\ansi {inside}}}");
    let mut bench = Bench::redacting("Jané Doe");
    let stats = bench.clean(FileKind::Rtf, file.as_bytes()).expect("a clean file").1;
    let clean = bench.text(FileKind::Rtf, &file);
    let inside = clean.strip_prefix("{\\rtf1\\ansi ").and_then(|rest| rest.strip_suffix('}'));
    (inside.unwrap_or(&clean).to_owned(), stats.interactive + 100 * stats.attachments)
}

#[test]
fn a_file_with_nothing_to_remove_keeps_its_bytes() {
    for inside in [
        "{\\fonttbl{\\f0\\fnil\\fcharset0 Jané Doe;}}{\\*\\generator x;}\\f0\\b Hello\\b0\\par\r\nJane",
        "{\\field{\\*\\fldinst{ PAGE }}{\\fldrslt 1}}{\\pict\\pngblip 47494638396101000100800000000000ffffff21f90401000000002c0000\r\n00000100010000020144003b}{\\shp{\\*\\shpinst{\\sp{\\sn x}{\\sv 1}}}}",
        "{\\*\\bkmkstart a}x{\\footnote y}\\u8217?\\'92",
    ] {
        assert_eq!(clean(inside), (inside.to_owned(), 0));
    }
}

#[test]
fn what_acts_goes() {
    for (inside, want, count) in [
        (
            "a{\\object\\objemb\\objupdate{\\*\\objclass Word}{\\*\\objdata 0105 00}{\\result {\\pict x}}}b",
            "a{}{{}{\\pict x}}{}b",
            1,
        ),
        ("{\\object{\\*\\objclass Package}{\\*\\objdata 00}}", "{}", 100),
        ("{\\*\\objdata 4d5a}", "{}", 1),
        ("{\\ObJeCt\\objautlink x}", "{}", 1),
        ("{\\*\\template http://a.example/x.dotm}", "{}", 1),
        ("{\\field{\\*\\fldinst{ DDE}{\\b AUTO c:\\\\x }}{\\fldrslt text}}", "{{}{}{{}text}}", 1),
        ("{\\field{\\*\\fldinst INCLUDETEXT x}{\\fldrslt {y}}}", "{{}{}{{}{y}}}", 1),
        ("{\\field{\\*\\fldinst HYPERLINK \"file:///c:/x.exe\"}{\\fldrslt y}}", "{{}{}{{}y}}", 1),
        ("{\\field{\\*\\fldinst TOC {\\field{\\*\\fldinst DDE x}}}{\\fldrslt y}}", "{{}{}{{}y}}", 2),
        ("{\\sp{\\sn pFragments}{\\sv 1;4}}", "{}", 1),
        ("{\\*\\hl{\\hlsrc javascript:x}}", "{\\*\\hl{}}", 1),
        ("{\\*\\hl{\\hlsrc //host/x}}", "{\\*\\hl{}}", 1),
        ("{\\field{\\*\\fldinst HYPERLINK \"//host/x\"}{\\fldrslt y}}", "{{}{}{{}y}}", 1),
        ("{\\info{\\hlinkbase file://host/x}}", "{\\info{}}", 1),
        ("{\\info{\\hlinkbase \\\\\\\\host\\\\x}{\\author y}}", "{\\info{}{\\author y}}", 1),
        ("{\\info{\\hlinkbase x/}}", "{\\info{\\hlinkbase x/}}", 0),
        ("{\\*\\hlinksrc http://a.example}{\\hlinkfr x}{\\hlinkloc y}z", "{}{}{}z", 3),
        ("{\\*\\oleclsid \\'7b00020821\\'7d}", "{}", 1),
        ("x\\bin3 }}}y", "x{}y", 0),
    ] {
        assert_eq!(clean(inside), (want.to_owned(), count), "{inside}");
    }
}

#[test]
fn properties_of_shapes_that_lead_out_go() {
    let shape =
        |inner: &str| format!("{{\\shp{{\\*\\shpinst{{\\sp{{\\sn shapeType}}{{\\sv 75}}}}{inner}}}}}x");
    let unc = "{\\sv \\\\\\\\host\\\\x}";
    for (inside, want, count) in [
        (format!("{{\\sp{{\\sn pibName}}{unc}}}{{\\sp{{\\sn pibFlags}}{{\\sv 14}}}}"), "{}{}".to_owned(), 2),
        (format!("{{\\sp{unc}{{\\sn fillBlipName}}}}"), "{}".to_owned(), 1),
        (format!("{{\\sp{{\\sn line\r\nFillBlipName}}{unc}}}"), "{}".to_owned(), 1),
        ("{\\sp{\\sn pihlShape}{\\sv {\\*\\hl{\\hlsrc http://a.example}}}}".to_owned(), "{}".to_owned(), 1),
        // Some readers find the name in these.
        (format!("{{\\sp{{\\sn {{pib}}Name}}{unc}}}"), format!("{{\\sp{{}}{unc}}}"), 1),
        (format!("{{\\sp{{\\sn \\'70ibName}}{unc}}}"), format!("{{\\sp{{}}{unc}}}"), 1),
        (format!("{{\\sp{{\\sn pib\\b Name}}{unc}}}"), format!("{{\\sp{{}}{unc}}}"), 1),
        ("{\\sp\\sn pibName\\sv x}".to_owned(), "{}".to_owned(), 1),
    ] {
        assert_eq!(clean(&shape(&inside)), (shape(&want), count), "{inside}");
    }
    assert_eq!(clean("a{\\sn pibName}b"), ("a{}b".to_owned(), 1));
    let stats = Bench::disarming()
        .clean(FileKind::Rtf, b"{\\rtf1{\\sp{\\sn pibName}{\\sv x}}}")
        .expect("a clean file")
        .1;
    assert_eq!(stats.objects.list.first().map(|object| object.what), Some(ObjectKind::Reference));
    let mut kept = Bench::disarming();
    kept.options.interactive = false;
    let file = format!("{{\\rtf1 {}}}", shape(&format!("{{\\sp{{\\sn pibName}}{unc}}}")));
    assert_eq!(kept.text(FileKind::Rtf, &file), file);
}

#[test]
fn groups_of_a_table_are_texts_of_their_own() {
    for (inside, want) in [
        ("{\\*\\docvar {n}{Jan\\'e9 Doe}}", "{\\*\\docvar {n}{{<N>}}}"),
        ("{\\*\\docvar {Jan\\'e9 Doe}{x}}", "{\\*\\docvar {{<N>}}{x}}"),
        ("{\\*\\docvar {Jan\\'e9}{ Doe}}", "{\\*\\docvar {Jan\\'e9}{ Doe}}"),
        ("{\\*\\docvar {n}{Jan{\\b \\'e9} Doe}}", "{\\*\\docvar {n}{{<N>}{\\b {}}{}}}"),
        ("{\\*\\revtbl{Jan\\'e9 Doe;}{Jan\\'e9}}", "{\\*\\revtbl{{<N>};}{Jan\\'e9}}"),
    ] {
        assert_eq!(clean(inside), (want.to_owned(), 0), "{inside}");
    }
}

#[test]
fn names_that_programs_give_lose_what_has_a_form() {
    for (inside, want) in [
        ("{\\stylesheet{\\s1 Jan\\'e9 Doe@a;}{\\s2 Normal;}}", "{\\stylesheet{\\s1 {<N>}@a;}{\\s2 Normal;}}"),
        ("{\\fonttbl{\\f0{\\*\\falt Jan\\'e9 Doe@a}x;}}", "{\\fonttbl{\\f0{\\*\\falt {<N>}@a}x;}}"),
        ("{\\*\\generator Jan\\'e9 Doe@a;}", "{\\*\\generator {<N>}@a;}"),
        ("{\\*\\xmlnstbl{\\xmlns1 http://a.example;}}", "{\\*\\xmlnstbl{\\xmlns1 http://a.example;}}"),
        ("{\\stylesheet{\\s1 Jan\\'e9 Doe;}}", "{\\stylesheet{\\s1 Jan\\'e9 Doe;}}"),
        // What is no number does not stay where there should be nothing else.
        ("{\\f0{\\*\\panose 02020603}{\\*\\panose Jane}}", "{\\f0{\\*\\panose 02020603}{}}"),
        ("{\\*\\passwordhash \\'4aan}{\\*\\blipuid \\u74?}", "{}{}"),
        ("{\\sp{\\sn Jane@a}{\\sv 1}}{\\sp{\\sn wzName}{\\sv 1}}", "{}{\\sp{\\sn wzName}{\\sv 1}}"),
    ] {
        assert_eq!(clean(inside), (want.to_owned(), 0), "{inside}");
    }
    let file = "{\\rtf1{\\*\\panose Jane}{\\sp{\\sn Jane@a}{\\sv 1}}}";
    assert_eq!(Bench::disarming().text(FileKind::Rtf, file), file);
}

#[test]
fn what_was_found_in_the_text_goes_from_names_of_styles_and_not_of_fonts() {
    let names = |style: &str| format!("{{\\stylesheet{{\\s1 {style};}}}}{{\\fonttbl{{\\f0 Jan\\'e9 Doe;}}}}");
    let file = format!("{{\\rtf1\\ansi{}Jan\\'e9 Doe}}", names("Jan\\'e9 Doe"));
    let clean =
        Bench::redacting("Jané Doe").work().whole(FileKind::Rtf, file.as_bytes()).expect("a clean file");
    assert_eq!(String::from_utf8_lossy(&clean), format!("{{\\rtf1\\ansi{}{{<N>}}}}", names("{<N>}")));
}

#[test]
fn pictures_are_cleaned_as_if_they_came_alone() {
    const GIF: &str = "47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b";
    let spelled = |digits: &str| {
        [
            format!("{{\\pict\\picw1\\pngblip {digits}}}"),
            format!("{{\\*\\shppict{{\\pict{{\\*\\picprop x}}\\picw1\\pngblip\n{digits}}}}}"),
            format!("{{\\pict{{\\pngblip {digits}}}}}"),
            format!("{{\\pict\\pngblip\\bliptag5 {digits}}}"),
        ]
    };
    for (same, trailed) in spelled(GIF).into_iter().zip(spelled(&format!("{GIF}4d5a"))) {
        assert_eq!(clean(&same), (same.clone(), 0));
        let (after, _) = clean(&trailed);
        assert!(after.contains(&format!("{GIF}}}")) && !after.contains("4d5a"), "{after}");
    }
    for bad in spelled("4d5a9000").into_iter().chain([
        "{\\pict\\bin4 MZ}{}".to_owned(),
        "{\\pict\\dibitmap0 4d5a9000}".to_owned(),
        "{\\pict\\wmetafile8 4d{\\b 5a}9000}".to_owned(),
    ]) {
        let (after, count) = clean(&format!("a{bad}b"));
        assert!(["a{}b", "a{\\*\\shppict{}}b"].contains(&after.as_str()) && count == 0, "{after}");
    }
    let bitmap = "{\\pict\\dibitmap0 28000000}";
    assert_eq!(clean(bitmap), (bitmap.to_owned(), 0));
    let binary = [
        &b"{\\rtf1{\\pict\\pngblip\\bin44 "[..],
        &data_encoding::HEXLOWER.decode(GIF.as_bytes()).unwrap(),
        b"MZ}}",
    ]
    .concat();
    let (after, _) = Bench::disarming().clean(FileKind::Rtf, &binary).unwrap();
    assert_eq!(String::from_utf8_lossy(&after), format!("{{\\rtf1{{\\pict\\pngblip {GIF}}}}}"));
}

#[test]
fn text_is_read_across_runs_and_spellings() {
    for (inside, want) in [
        ("Jan\\'e9 Doe!", "{<N>}!"),
        ("Ja{\\b n}\\u233\\'e9 \\i Doe", "{<N>}{\\b {}}{}\\i {}"),
        ("\\uc0\\u-10179\\'e9 Jan\\'e9 Doe", "\\uc0\\u-10179\\'e9 {<N>}"),
        ("{\\info{\\author Jan\\'e9 Doe}}{\\field{\\*\\fldinst PAGE}{\\fldrslt Jan\\'e9}} Doe", ""),
        ("http://a.ex{\\b ample}/x www.b.example", "{hxxp://a[.]example}{\\b {}}/x {www[.]b[.]example}"),
        (
            "{\\field{\\*\\fldinst HYPERLINK \"http://a.example\"}{\\fldrslt x}}",
            "{\\field{\\*\\fldinst HYPERLINK \"{hxxp://a[.]example}\"}{\\fldrslt x}}",
        ),
        ("{\\fonttbl{\\f1\\fcharset204 x;}}\\f1 \\'c0", "{\\fonttbl{\\f1\\fcharset204 x;}}\\f1 \\'c0"),
    ] {
        let (clean, _) = clean(inside);
        if want.is_empty() {
            assert!(!clean.contains("Doe"), "{clean}");
        } else {
            assert_eq!(clean, want, "{inside}");
        }
    }
}

#[test]
fn broken_files_hold() {
    let mut bench = Bench::disarming();
    assert_eq!(bench.clean(FileKind::Rtf, b"no group").err(), Some(Rejection::Malformed));
    let deep = "{".repeat(5000);
    assert_eq!(bench.clean(FileKind::Rtf, deep.as_bytes()).err(), Some(Rejection::OverLimit));
    let tail = bench.text(FileKind::Rtf, "{\\rtf1 x}\r\nMZ");
    assert_eq!(tail, "{\\rtf1 x}\r\n");
    assert_eq!(bench.text(FileKind::Rtf, "{\\rtf1 x{\\*\\template y"), "{\\rtf1 x{}");
}

proptest::proptest! {
    #[test]
    fn any_file_is_clean_after_one_cleaning(
        inside in "([{}{}]|\\\\\\\\(object|objdata|result|field|fldinst|fldrslt|template|u233|u-10179|u-8704|uc2|bin2|par|b|'e9|\\*|sn|sv|sp|docvar|oleclsid|f1|fonttbl) ?|DDE|PAGE|Jan|é| Doe|4d5a|http://a[.]bc|pFragments|pibName){0,24}"
    ) {
        let file = format!("{{\\rtf1 {inside}}}");
        let mut bench = Bench::redacting("Jané Doe");
        let (clean, _) = bench.clean(FileKind::Rtf, file.as_bytes()).expect("a clean file");
        let (again, stats) = bench.clean(FileKind::Rtf, &clean).expect("a clean file");
        proptest::prop_assert!(again == clean && stats.untouched(), "{} {:?}", String::from_utf8_lossy(&clean), stats);
    }
}
