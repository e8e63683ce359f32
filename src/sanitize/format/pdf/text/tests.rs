//! Text that is read and removed, in documents made here.

use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use proptest::prelude::*;

use crate::sanitize::bench::Bench;
use crate::sanitize::format::FORMATS;
use crate::sanitize::format::pdf::text::reading::GlyphText;
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::format::pdf::text::walk;
use crate::sanitize::{FileKind, Note, Options, RedactionMode, Stats, UnfoldBounds, Work};

/// A document of pages with these contents, which share resources; as a file.
pub(super) fn made(contents: &[&str], change: impl FnOnce(&mut Document, &mut Dictionary)) -> Vec<u8> {
    let mut doc = Document::with_version("1.7");
    let pages = doc.new_object_id();
    let simple = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" };
    let mut resources = dictionary! { "Font" => dictionary! { "F1" => doc.add_object(simple) } };
    change(&mut doc, &mut resources);
    let resources = doc.add_object(resources);
    let mut kids: Vec<Object> = Vec::new();
    for content in contents {
        let content = doc.add_object(Stream::new(dictionary! {}, content.as_bytes().to_vec()));
        let page = dictionary! {
            "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources,
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        };
        kids.push(doc.add_object(page).into());
    }
    let count = i64::try_from(kids.len()).unwrap();
    doc.objects.insert(pages, dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }.into());
    let catalog = doc.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    doc.trailer.set("Root", catalog);
    let mut out = Vec::new();
    doc.save_to(&mut out).unwrap();
    out
}

/// What all pages of a file read like, in both orders.
fn read(file: &[u8]) -> String {
    let mut bench = Bench::disarming();
    let mut work = bench.work();
    let doc = Document::load_mem(file).unwrap();
    let mut streams = ContentStreams::new(&doc);
    let mut out = String::new();
    for page in streams.pages() {
        let record = walk::read(&mut streams, page, None, &mut work).unwrap();
        out.push_str(&GlyphText::as_written(&record.glyphs).text);
        out.push('\n');
        out.push_str(&GlyphText::as_seen(&record.glyphs).text);
        out.push('\n');
    }
    out
}

/// All that stands in a file, unpacked.
fn raw(file: &[u8]) -> String {
    let mut doc = Document::load_mem(file).unwrap();
    doc.decompress();
    let mut out = String::new();
    for object in doc.objects.values() {
        out.push_str(&format!("{object:?}\n"));
        if let Object::Stream(stream) = object {
            out.push_str(&String::from_utf8_lossy(&stream.content));
        }
    }
    out
}

/// Redacts a word; it is gone, and stays so, and nothing more changes the second time.
fn redacted(file: &[u8], word: &'static str) -> (Vec<u8>, Stats) {
    let mut bench = Bench::redacting(word);
    let (clean, stats) = bench.clean(FileKind::Pdf, file).expect("a clean file");
    let text = read(&clean);
    let tight: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    assert!(!tight.contains(word), "{text}");
    assert!(!raw(&clean).contains(word));
    let hex: String = word.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(!raw(&clean).to_lowercase().contains(&hex));
    let (again, more) = bench.clean(FileKind::Pdf, &clean).expect("a clean file");
    assert!(again == clean && more.untouched(), "{more:?}\n{}", raw(&again));
    (clean, stats)
}

fn count(stats: &Stats) -> u64 {
    stats.redacted.values().sum()
}

#[test]
fn words_are_removed_however_they_are_written() {
    let ways = [
        "BT /F1 12 Tf 72 700 Td (Dear Marlowe, hello) Tj ET",
        "BT /F1 12 Tf 72 700 Td [(Dear M) -20 (ar) 30 (lowe, hello)] TJ ET",
        "BT /F1 12 Tf 72 700 Td <44656172204d61726c6f77652c2068656c6c6f> Tj ET",
        "BT /F1 12 Tf 14 TL 2 Tc 5 Tw 80 Tz 72 700 Td (before) Tj (Dear Marlowe, hello) ' ET",
        "BT /F1 12 Tf 72 700 Td (Dear Mar) Tj ET BT /F1 12 Tf 117.4 700 Td (lowe, hello) Tj ET",
        "q 0 1 -1 0 300 300 cm BT /F1 12 Tf (Dear Marlowe, hello) Tj ET Q",
        "BT 1 1 1 rg 3 Tr /F1 12 Tf 72 -700 Td (Dear Marlowe, hello) Tj ET",
        "BT /F1 1 Tf 12 0 0 12 72 700 Tm 3 1 (Dear M\\141rlowe, hello) \" ET",
    ];
    for way in ways {
        let (clean, stats) = redacted(&made(&[way], |_, _| {}), "Marlowe");
        let text = read(&clean);
        assert!(text.contains("Dear") && text.contains("hello"), "{way}\n{text}");
        assert_eq!(count(&stats), 1, "{way}");
    }
}

#[test]
fn letters_placed_one_by_one_are_one_word() {
    let mut content = "BT /F1 10 Tf ".to_owned();
    // Written from the last to the first.
    for (n, letter) in "doehand".chars().enumerate().collect::<Vec<_>>().into_iter().rev() {
        content.push_str(&format!("1 0 0 1 {} 700 Tm ({letter}) Tj ", 72.0 + n as f64 * 5.56));
    }
    content.push_str("1 0 0 1 72 600 Tm (kept) Tj ET");
    let mut bench = Bench::redacting("doehand");
    let (clean, stats) = bench.clean(FileKind::Pdf, &made(&[&content], |_, _| {})).unwrap();
    assert!(count(&stats) == 1 && read(&clean).starts_with("kept"), "{}", read(&clean));
}

/// Characters, each at its place in one line.
fn placed(characters: impl Iterator<Item = (char, f64)>) -> String {
    let one = |(c, x): (char, f64)| format!("1 0 0 1 {x:.2} 700 Tm ({c}) Tj ");
    format!("BT /F1 12 Tf {} ET", characters.map(one).collect::<String>())
}

#[test]
fn characters_in_the_boxes_of_a_form_are_one_word() {
    let label = "BT /F1 12 Tf 40 700 Td (No) Tj ET";
    let boxes = |word: &str, step: f64, gap: f64| {
        let at = move |(n, c): (usize, char)| (c, 72.0 + n as f64 * step + (n / 4) as f64 * gap);
        placed(word.chars().enumerate().map(at))
    };
    let card = "4111111111111111";
    let mut pages: Vec<(&'static str, String)> =
        [10.0, 14.0, 24.0].iter().map(|step| (card, boxes(card, *step, 0.0))).collect();
    pages.push(("4111 1111 1111 1111", boxes(card, 12.0, 8.0)));
    pages.push(("DE89370400440532013000", boxes("DE89370400440532013000", 10.0, 0.0)));
    let steps: String = card.chars().map(|c| format!("({c}) Tj 11 0 Td ")).collect();
    pages.push((card, format!("BT /F1 12 Tf 72 700 Td {steps} ET")));
    // Each in the middle of its box.
    let widths = "WIWIWI42".chars().map(|c| match c {
        'W' => (c, 11.33),
        'I' => (c, 3.34),
        _ => (c, 6.67),
    });
    let middles = widths.enumerate().map(|(n, (c, width))| (c, 72.0 + 14.0 * n as f64 - width / 2.0));
    pages.push(("WIWIWI42", placed(middles)));
    for (word, content) in pages {
        let (clean, stats) = redacted(&made(&[&format!("{label} {content}")], |_, _| {}), word);
        assert!(read(&clean).contains("No") && !read(&clean).contains('1'), "{word}: {}", read(&clean));
        assert_eq!(count(&stats), 1, "{content}");
    }
}

#[test]
fn only_what_stands_in_even_steps_is_a_comb() {
    let combed = |content: &str| {
        let doc = Document::load_mem(&made(&[content], |_, _| {})).unwrap();
        let mut streams = ContentStreams::new(&doc);
        let page = streams.pages()[0];
        let record = walk::read(&mut streams, page, None, &mut Bench::disarming().work()).unwrap();
        GlyphText::as_written(&record.glyphs).combed(&record.glyphs).map(|reading| reading.text)
    };
    let even = |word: &str, from: f64, step: f64| {
        let at = move |(n, c): (usize, char)| (c, from + n as f64 * step);
        placed(word.chars().enumerate().map(at))
    };
    let words = even("REPORT", 72.0, 14.0) + &even("2024", 170.0, 14.0);
    assert_eq!(combed(&words).as_deref(), Some("REPORT 2024"));
    let beside = format!("BT /F1 12 Tf 40 700 Td (Card) Tj ET {}", even("411111", 69.34, 10.0));
    assert_eq!(combed(&beside).as_deref(), Some("Card 411111"));
    let uneven = [72.0, 86.0, 102.0, 114.0, 132.0, 147.0, 163.0];
    assert_eq!(combed(&placed("1234567".chars().zip(uneven))), None);
    assert_eq!(combed(&even("12345", 72.0, 14.0)), None);
    assert_eq!(combed("BT /F1 12 Tf 72 700 Td (A B C 111111 2 3 4) Tj ET"), None);
}

#[test]
fn what_is_found_on_one_page_goes_from_all_and_from_strings() {
    let (clean, stats) = redacted(
        &made(
            &[
                "BT /F1 12 Tf 72 700 Td (by Marlowe) Tj ET",
                "BT /F1 12 Tf 72 700 Td (M a r l o w e kept) Tj ET",
            ],
            |_, _| {},
        ),
        "Marlowe",
    );
    assert!(read(&clean).contains("kept"));
    assert_eq!(count(&stats), 2);
}

#[test]
fn what_is_found_only_in_strings_goes_from_pages() {
    let file = made(&["BT /F1 12 Tf 72 700 Td (M a r l o w e kept) Tj ET"], |doc, _| {
        let title = dictionary! { "Title" => Object::string_literal("by Marlowe") };
        let info = doc.add_object(title);
        doc.trailer.set("Info", info);
    });
    let (clean, stats) = redacted(&file, "Marlowe");
    assert!(read(&clean).contains("kept") && raw(&clean).contains("by <N>"), "{}", raw(&clean));
    assert_eq!(count(&stats), 2);
}

/// A form, with a font of its own.
pub(super) fn form(doc: &mut Document, content: &str) -> Object {
    let dict = dictionary! {
        "Type" => "XObject", "Subtype" => "Form", "BBox" => vec![0.into(), 0.into(), 500.into(), 500.into()],
    };
    doc.add_object(Stream::new(dict, content.as_bytes().to_vec())).into()
}

#[test]
fn shared_forms_are_rewritten_once_for_all_pages() {
    let file = made(&["q /X Do Q", "q 1 0 0 1 9 9 cm /X Do Q", ""], |doc, resources| {
        let inner = form(doc, "BT /F1 9 Tf 9 9 Td (of Marlowe here) Tj ET");
        resources.set("XObject", dictionary! { "X" => inner });
    });
    let (clean, stats) = redacted(&file, "Marlowe");
    assert_eq!((count(&stats), read(&clean).matches("here").count()), (1, 4));
    // Both pages are covered.
    assert_eq!(raw(&clean).matches("h f").count(), 2);
}

#[test]
fn streams_that_no_page_draws_are_read_too() {
    let file = made(&["BT /F1 12 Tf (kept) Tj ET"], |doc, resources| {
        let unused = form(doc, "BT /F1 9 Tf 9 9 Td (of Marlowe) Tj ET");
        resources.set("XObject", dictionary! { "Unused" => unused });
        let mut pattern = Stream::new(dictionary! { "PatternType" => 1 }, b"BT (Marlowe) Tj ET".to_vec());
        pattern.compress().unwrap();
        resources.set("Pattern", dictionary! { "P" => doc.add_object(pattern) });
    });
    assert_eq!(count(&redacted(&file, "Marlowe").1), 2);
}

/// A composite font with a map to text for ASCII, one further on.
fn composite(doc: &mut Document, map: bool) -> Object {
    let descendant = dictionary! {
        "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => "Made", "DW" => 600,
        "CIDSystemInfo" => dictionary! { "Ordering" => Object::string_literal("Identity") },
    };
    let mut font = dictionary! {
        "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "Made", "Encoding" => "Identity-H",
        "DescendantFonts" => vec![doc.add_object(descendant).into()],
    };
    if map {
        let map = b"1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <0001> <007f> <0002> endbfrange";
        font.set("ToUnicode", doc.add_object(Stream::new(dictionary! {}, map.to_vec())));
    }
    doc.add_object(font).into()
}

fn coded(text: &str) -> String {
    text.bytes().map(|byte| format!("{:04x}", byte - 1)).collect()
}

#[test]
fn composite_fonts_are_read_by_their_maps() {
    for map in [true, false] {
        let content = format!("BT /F2 12 Tf 72 700 Td <{}> Tj ET", coded("Dear Marlowe, hello"));
        let file = made(&[&content], |doc, resources| {
            let font = composite(doc, map);
            resources.set("Font", dictionary! { "F2" => font });
        });
        let (clean, stats) = redacted(&file, "Marlowe");
        assert_eq!(count(&stats), u64::from(map));
        assert_eq!(stats.notes.get(&Note::Undecodable), (!map).then_some(&19));
        assert_eq!(read(&clean).contains("Dear"), map);
        assert_eq!(raw(&clean).contains(&coded("Marlowe")), !map);
    }
}

#[test]
fn text_that_is_read_instead_of_glyphs_goes_along() {
    let inline = "/P <</MCID 3 /ActualText (Marlowe)>> BDC BT /F1 12 Tf (Marl) Tj (owe) Tj ET EMC kept";
    let (clean, _) = redacted(&made(&[inline], |_, _| {}), "Marlowe");
    assert!(raw(&clean).contains("/P <</MCID 3>> BDC"), "{}", raw(&clean));
    let only = "/Span <</ActualText <feff004d00610072006c006f00770065>>> BDC BT /F1 12 Tf (x) Tj ET EMC";
    redacted(&made(&[only], |_, _| {}), "Marlowe");
}

#[test]
fn links_take_the_place_of_links() {
    let content = "BT /F1 12 Tf 72 700 Td (see http://bad.example/a/b now) Tj (next) Tj ET";
    let mut bench = Bench::disarming();
    let (clean, stats) = bench.clean(FileKind::Pdf, &made(&[content], |_, _| {})).unwrap();
    let text = read(&clean);
    assert!(text.starts_with("see hxxp://bad[.]example/a/b nownext\n"), "{text}");
    assert_eq!(stats.defanged, 1);
    let (again, more) = bench.clean(FileKind::Pdf, &clean).unwrap();
    assert!(again == clean && more.untouched(), "{more:?}");
}

#[test]
fn what_is_only_told_stays() {
    let content = "BT /F1 12 Tf (by Marlowe) Tj ET";
    let file = made(&[content, "q /Im Do Q"], |doc, resources| {
        let image = doc.add_object(Stream::new(dictionary! { "Subtype" => "Image" }, vec![0]));
        resources.set("XObject", dictionary! { "Im" => image });
    });
    let mut bench = Bench::redacting("");
    bench.options = Options { redaction: RedactionMode::Detect, ..Options::default() };
    let (clean, stats) = bench.clean(FileKind::Pdf, &file).unwrap();
    assert!(raw(&clean).contains(content));
    assert!(stats.untouched());
    assert_eq!((stats.notes.get(&Note::ImageOnly), stats.notes.get(&Note::Images)), (Some(&1), Some(&1)));
}

#[test]
fn forms_that_draw_themselves_end() {
    let file = made(&["/A Do"], |doc, resources| {
        let a = form(doc, &"/A Do /B Do (x) Tj ".repeat(50));
        let b = form(doc, &"/A Do /B Do ".repeat(50));
        resources.set("XObject", dictionary! { "A" => a, "B" => b });
    });
    redacted(&file, "Marlowe");
    let nested = made(&["/N0 Do"], |doc, resources| {
        let mut all = Dictionary::new();
        for n in 0..12 {
            let content = format!("/N{} Do ", n + 1).repeat(40);
            all.set(format!("N{n}"), form(doc, &content));
        }
        resources.set("XObject", all);
    });
    let mut bench = Bench::redacting("Marlowe");
    let bounds = UnfoldBounds { items: 30_000, ..UnfoldBounds::default() };
    let mut work = Work::new(&FORMATS, bench.options, bounds, &mut bench);
    assert!(work.clean(FileKind::Pdf, &nested).is_err());
}

#[test]
fn strings_that_nothing_shows_go_along() {
    for (content, left) in [
        ("(by Marlowe) MP", "() "),
        ("/T <</x (by Marlowe) /MCID 3>> DP", "/x  ()  /MCID 3>> DP"),
        ("/Artifact <</Contents (Mar\\154owe) /BBox [0 0 9 9]>> BDC (x) Tj EMC", "/BBox [0 0 9 9]>> BDC"),
        ("/Span <</Lang (de) /Alt (Marlowe) /x (Marlowe)>> BDC (x) Tj EMC", "/Span BMC"),
        ("/OC <</ActualText (Marlowe)>> BDC (x) Tj EMC", "/OC <</ActualText "),
        ("BX (Marlowe) [<4d61726c6f7765> 3] foo EX", "[ ()  3] foo EX"),
        ("(Marlowe) 0 0 1 rg", "0 0 1 rg"),
        ("(Marlowe) (x) Tj", "(x) Tj"),
        ("BI /W 1 /H 1 /x (Marlowe) ID \x01 EI", "/W 1 /H 1 /x "),
        ("(x) Tj (Marlowe)", "(x) Tj"),
    ] {
        let content = format!("BT /F1 12 Tf {content} (kept) Tj ET");
        let (clean, stats) = redacted(&made(&[&content, &content], |_, _| {}), "Marlowe");
        let text = raw(&clean);
        assert!(text.contains(left) && read(&clean).contains("kept"), "{content}\n{text}");
        assert!(count(&stats) >= 2, "{content} {stats:?}");
    }
    // What is found on a page goes from them, and the colours of a palette stay what they are.
    let palette = "BI /W 1 /H 1 /CS [/I /RGB 1 <4d61726c6f7700>] ID \x01 EI (M a r l o w e) MP";
    let pages = [palette, "BT /F1 9 Tf (Marlowe) Tj ET"];
    let text = raw(&redacted(&made(&pages, |_, _| {}), "Marlowe").0);
    assert!(text.contains("<4d61726c6f7700>") && text.contains("()  MP"), "{text}");
}

#[test]
fn images_in_the_content_are_noted() {
    let image = "q BI /W 30 /H 1 /BPC 8 /CS /G ID aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa EI Q";
    let noted = |contents: &[&str], change: &dyn Fn(&mut Document, &mut Dictionary)| {
        let (_, stats) =
            Bench::redacting("Marlowe").clean(FileKind::Pdf, &made(contents, change)).expect("a clean file");
        (stats.notes.get(&Note::Images).copied(), stats.notes.get(&Note::ImageOnly).copied())
    };
    let text = format!("{image} BT /F1 12 Tf (text) Tj ET");
    assert_eq!(noted(&[&text], &|_, _| {}), (Some(1), None));
    assert_eq!(noted(&[&text, image, "BT /F1 9 Tf (x) Tj ET"], &|_, _| {}), (Some(2), Some(1)));
    // Once, however often it is drawn.
    let drawn = |doc: &mut Document, resources: &mut Dictionary| {
        let form = form(doc, &format!("{image} {image}"));
        resources.set("XObject", dictionary! { "X" => form });
    };
    assert_eq!(noted(&["/X Do /X Do", "/X Do"], &drawn), (Some(2), Some(2)));
    let tiled = |doc: &mut Document, resources: &mut Dictionary| {
        let tile = doc.add_object(Stream::new(dictionary! { "PatternType" => 1 }, image.as_bytes().to_vec()));
        resources.set("Pattern", dictionary! { "P" => tile });
    };
    assert_eq!(noted(&["/Pattern cs /P scn 0 0 9 9 re f"], &tiled), (Some(1), None));
    // A letter that is drawn is read by its code; what is as large as a page is none.
    for (side, want) in [(300, None), (3000, Some(1))] {
        let lettered = |doc: &mut Document, resources: &mut Dictionary| {
            let glyph = format!("1 0 0 0 9 9 d1 BI /IM true /W {side} /H {side} ID x EI");
            let font = drawn_font(doc, &glyph);
            resources.set("Font", dictionary! { "F1" => font });
        };
        assert_eq!(noted(&["BT /F1 9 Tf (aaaa) Tj ET"], &lettered).0, want);
    }
}

/// A font of one glyph, for `a`.
pub(super) fn drawn_font(doc: &mut Document, glyph: &str) -> Object {
    let glyph = doc.add_object(Stream::new(dictionary! {}, glyph.as_bytes().to_vec()));
    let font = dictionary! {
        "Type" => "Font", "Subtype" => "Type3", "CharProcs" => dictionary! { "a" => glyph },
        "Encoding" => dictionary! { "Differences" => vec![97.into(), "a".into()] },
        "FirstChar" => 97, "Widths" => vec![1000.into()],
    };
    doc.add_object(font).into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Broken content is cleaned; what stays reads the same, and the word is gone.
    #[test]
    fn broken_content_never_stops_it(flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..12)) {
        let mut content = b"q 1 0 0 1 5 5 cm BT /F1 12 Tf 14 TL 72 700 Td [(Dear M) -20 (arlowe) 4] TJ (x) ' 1 2 (y) \" ET Q \
            /Span <</ActualText (Marlowe)>> BDC BT /F1 9 Tf <4d61726c6f7765> Tj ET EMC BI /W 1 ID \x01\x02 EI /X Do http".to_vec();
        let length = content.len();
        for (at, byte) in flips {
            content[at % length] = byte % 0x80;
        }
        let text = String::from_utf8(content).unwrap();
        let file = made(&[&text], |_, _| {});
        let mut bench = Bench::redacting("Marlowe");
        if let Ok((clean, _)) = bench.clean(FileKind::Pdf, &file) {
            prop_assert!(!read(&clean).contains("Marlowe"));
        }
    }
}
