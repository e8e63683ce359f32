//! What draws more than any reader finishes, and what only looks like it.

use lopdf::{Dictionary, Document, Object, Stream, dictionary};

use crate::sanitize::bench::Bench;
use crate::sanitize::format::pdf::text::tests::{drawn_font, form, made};
use crate::sanitize::{FileKind, Rejection};

/// What forms, tiles and glyphs draw of which there are several, each by its number: `#` is that of the next.
#[derive(Clone, Copy, Default)]
struct Drawn<'d> {
    form: &'d str,
    tile: &'d str,
    glyph: &'d str,
    /// Whether forms have resources of their own, with nothing in them.
    bare: bool,
}

/// A page that draws this, as a file.
fn file(page: &str, levels: usize, drawn: Drawn<'_>) -> Vec<u8> {
    made(&[page], |doc, resources| {
        let (mut forms, mut tiles) = (Dictionary::new(), Dictionary::new());
        let (mut fonts, mut states) = (Dictionary::new(), Dictionary::new());
        for n in 0..levels {
            let next = |content: &str| content.replace('#', &(n + 1).to_string());
            let drawn_form = form(doc, &next(drawn.form));
            if drawn.bare {
                let id = drawn_form.as_reference().expect("a form");
                let stream = doc.get_object_mut(id).and_then(Object::as_stream_mut).expect("a form");
                stream.dict.set("Resources", Dictionary::new());
            }
            states.set(format!("G{n}"), dictionary! { "SMask" => dictionary! { "G" => drawn_form.clone() } });
            forms.set(format!("X{n}"), drawn_form);
            let tile = Stream::new(dictionary! { "PatternType" => 1 }, next(drawn.tile).into_bytes());
            tiles.set(format!("P{n}"), doc.add_object(tile));
            fonts.set(format!("T{n}"), drawn_font(doc, &next(drawn.glyph)));
        }
        resources.set("XObject", forms);
        resources.set("Pattern", tiles);
        resources.set("Font", fonts);
        resources.set("ExtGState", states);
    })
}

fn cleaned(file: &[u8]) -> Result<(), Rejection> {
    Bench::redacting("Marlowe").clean(FileKind::Pdf, file).map(drop)
}

fn drawing(page: &str, levels: usize, drawn: Drawn<'_>) -> Result<(), Rejection> {
    cleaned(&file(page, levels, drawn))
}

#[test]
fn what_draws_more_than_any_reader_finishes_is_refused() {
    let none = Drawn::default();
    for (page, drawn) in [
        ("/X0 Do", Drawn { form: "/X# Do /X# Do", ..none }),
        // By the resources of the page, as some readers do.
        ("/X0 Do", Drawn { form: "/X# Do /X# Do", bare: true, ..none }),
        ("/G0 gs", Drawn { form: "/G# gs q /X# Do Q", ..none }),
        (
            "/Pattern cs /P0 scn 0 0 9 9 re f",
            Drawn { tile: "/Pattern cs /P# scn 0 0 9 9 re f 0 0 9 9 re B", ..none },
        ),
        (
            "/Pattern CS /P0 SCN 0 0 9 9 re S",
            Drawn { tile: "/Pattern CS /P# SCN 0 0 9 9 re S 0 0 9 9 re s", ..none },
        ),
        // Filled with what was set outside of the form.
        (
            "/Pattern cs /P0 scn /X0 Do",
            Drawn { form: "0 0 9 9 re f 0 0 9 9 re f", tile: "/Pattern cs /P# scn /X# Do", ..none },
        ),
        ("BT /T0 1 Tf (aa) Tj ET", Drawn { glyph: "1 0 d0 BT /T# 1 Tf [(a) 3 (a)] TJ ET", ..none }),
        (
            "BT /T0 1 Tf (a) Tj ET",
            Drawn {
                tile: "/Pattern cs /P# scn BT /T# 1 Tf (aa) ' ET",
                glyph: "1 0 d0 /Pattern cs /P# scn 0 0 9 9 re b",
                ..none
            },
        ),
    ] {
        assert_eq!(drawing(page, 30, drawn), Err(Rejection::OverLimit), "{page}");
        assert_eq!(drawing(page, 8, drawn), Ok(()), "{page}");
    }
    // A glyph of much content, as often as there are letters.
    let letters = format!("BT /T0 1 Tf ({}) Tj ET", "a".repeat(4000));
    let blanks = " ".repeat(600_000);
    let much = Drawn { glyph: &blanks, ..none };
    assert_eq!(drawing(&letters, 1, much), Err(Rejection::OverLimit));
}

#[test]
fn circles_and_depths_are_bounded() {
    let one = Drawn { form: "/X# Do", ..Drawn::default() };
    assert_eq!(drawing("/X0 Do", 60, one), Ok(()));
    assert_eq!(drawing("/X0 Do", 150, one), Err(Rejection::OverLimit));
    // Each within all others: no count of the ways through them finishes.
    for (forms, want) in [(4, Ok(())), (16, Err(Rejection::OverLimit))] {
        let all: String = (0..forms).map(|n| format!("/X{n} Do ")).collect();
        assert_eq!(drawing("/X0 Do", forms, Drawn { form: &all, ..Drawn::default() }), want);
    }
}

#[test]
fn what_is_drawn_often_stays() {
    let none = Drawn::default();
    let letters = format!("BT /T0 1 Tf ({}) Tj ET", "a".repeat(40_000));
    let glyph = "1 0 0 0 9 9 d1 BI /IM true /W 8 /H 8 ID xxxxxxxx EI 0 0 9 9 re f";
    assert_eq!(drawing(&letters, 1, Drawn { glyph, ..none }), Ok(()));
    let tiles = format!("/Pattern cs /P0 scn {}", "0 0 9 9 re B ".repeat(40_000));
    assert_eq!(drawing(&tiles, 1, Drawn { tile: "0 0 m 9 9 l S", ..none }), Ok(()));
    // What holds nothing to be read is read once.
    let lines = Drawn { form: "0 0 m 9 9 l S", ..none };
    assert_eq!(drawing(&"/X0 Do ".repeat(130_000), 1, lines), Ok(()));
    let forms = format!("/G0 gs {}", "q /X0 Do Q ".repeat(4000));
    assert_eq!(drawing(&forms, 3, Drawn { form: "/X# Do", ..none }), Ok(()));
}

#[test]
fn appearances_of_annotations_are_counted() {
    for (levels, want) in [(8, Ok(())), (30, Err(Rejection::OverLimit))] {
        let drawn = Drawn { form: "/X# Do /X# Do", ..Drawn::default() };
        let mut doc = Document::load_mem(&file("", levels, drawn)).expect("a document");
        let look = doc.objects.iter().find_map(|(id, object)| {
            let stream = object.as_stream().ok()?;
            (stream.content == b"/X1 Do /X1 Do").then_some(*id)
        });
        let looks = dictionary! { "On" => look.expect("the first form") };
        let stamp = dictionary! {
            "Type" => "Annot", "Subtype" => "Stamp", "AP" => dictionary! { "N" => looks },
            "Rect" => vec![0.into(), 0.into(), 9.into(), 9.into()],
        };
        let page = doc.get_pages().into_values().next().expect("a page");
        let page = doc.get_object_mut(page).and_then(Object::as_dict_mut).expect("a page");
        page.set("Annots", vec![stamp.into()]);
        let mut out = Vec::new();
        doc.save_to(&mut out).expect("a file");
        assert_eq!(cleaned(&out), want);
    }
}
