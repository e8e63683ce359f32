//! PDFs made here.

use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use portcullis::sanitize::format::FORMATS;
use portcullis::sanitize::{FileKind, Options, Rejection, UnfoldBounds, Work};
use proptest::prelude::*;

use crate::host::clean;

const EICAR: &str = concat!("X5O!P%@AP[4\\PZX54(P^)7CC)7}$", "EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*");

/// A document of one page, with something done to it, as a file.
fn made(change: impl FnOnce(&mut Document, &mut Dictionary, &mut Dictionary)) -> Vec<u8> {
    let mut doc = Document::with_version("1.7");
    let pages = doc.new_object_id();
    let font =
        doc.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let content = Stream::new(dictionary! {}, b"BT /F1 12 Tf 72 700 Td (Plain words) Tj ET".to_vec());
    let content = doc.add_object(content);
    let mut page = dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content, "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
    };
    let mut catalog = dictionary! { "Type" => "Catalog", "Pages" => pages };
    change(&mut doc, &mut catalog, &mut page);
    let page = doc.add_object(page);
    let tree = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    doc.objects.insert(pages, Object::Dictionary(tree));
    let catalog = doc.add_object(catalog);
    doc.trailer.set("Root", catalog);
    let mut out = Vec::new();
    doc.save_to(&mut out).unwrap();
    out
}

fn script() -> Dictionary {
    dictionary! { "S" => "JavaScript", "JS" => Object::string_literal("app.alert(1)") }
}

fn widget(value: &str) -> Dictionary {
    dictionary! {
        "Type" => "Annot", "Subtype" => "Widget", "FT" => "Tx", "T" => Object::string_literal("name"),
        "V" => Object::string_literal(value), "DA" => Object::string_literal("/Helv 10 Tf 0 0 1 rg"),
        "Rect" => vec![72.into(), 500.into(), 300.into(), 520.into()],
    }
}

/// Everything at once.
fn busy() -> Vec<u8> {
    made(|doc, catalog, page| {
        let file =
            doc.add_object(Stream::new(dictionary! { "Type" => "EmbeddedFile" }, b"attached".to_vec()));
        let spec = doc.add_object(dictionary! {
            "Type" => "Filespec", "F" => Object::string_literal("a.txt"), "EF" => dictionary! { "F" => file },
        });
        let field = doc.add_object(widget("Kept value"));
        let shared = doc.add_object(script());
        let sound = dictionary! { "Type" => "Annot", "Subtype" => "Sound", "Rect" => vec![0.into(); 4] };
        let clip = dictionary! {
            "Type" => "Annot", "Subtype" => "FileAttachment", "FS" => spec, "Rect" => vec![0.into(); 4],
        };
        let link = |action: Dictionary| {
            Object::Dictionary(dictionary! {
                "Type" => "Annot", "Subtype" => "Link", "Rect" => vec![0.into(); 4], "A" => action,
            })
        };
        let uri = |to: &str| dictionary! { "S" => "URI", "URI" => Object::string_literal(to) };
        let annots = vec![
            field.into(),
            sound.into(),
            clip.into(),
            link(uri("https://example.com/")),
            link(uri(" JaVaScript:alert(1)")),
            link(uri("\\\\host\\share")),
            link(
                dictionary! { "S" => "Named", "N" => "NextPage", "Next" => vec![shared.into(), script().into()] },
            ),
        ];
        page.set("Annots", annots);
        page.set(
            "AA",
            dictionary! { "O" => shared, "C" => dictionary! { "S" => "GoTo", "D" => vec![0.into()] } },
        );
        page.set("PieceInfo", dictionary! { "X" => dictionary! { "Private" => 1 } });
        catalog.set("OpenAction", shared);
        catalog.set(
            "AcroForm",
            dictionary! { "Fields" => vec![field.into()], "XFA" => Object::string_literal("<x/>") },
        );
        let names = |leaf: Object| dictionary! { "Names" => vec![Object::string_literal("n"), leaf] };
        catalog.set(
            "Names",
            dictionary! { "JavaScript" => names(script().into()), "EmbeddedFiles" => names(spec.into()), "AP" => names(1.into()) },
        );
        catalog.set("AF", vec![spec.into()]);
    })
}

fn readable(file: &[u8]) -> String {
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

/// A document whose page tree is a chain of so many nodes, each with a page besides the next node.
fn deep(depth: usize) -> Vec<u8> {
    made(|doc, catalog, page| {
        let Ok(Object::Reference(root)) = catalog.get(b"Pages").cloned() else { return };
        let mut above = root;
        let mut nodes = vec![];
        for _ in 0..depth {
            let (node, leaf) = (doc.new_object_id(), doc.new_object_id());
            let leaf_page = dictionary! {
                "Type" => "Page", "Parent" => node, "MediaBox" => vec![0.into(), 0.into(), 100.into(), 100.into()],
            };
            doc.objects.insert(leaf, Object::Dictionary(leaf_page));
            nodes.push((node, above, leaf));
            above = node;
        }
        for (n, (node, parent, leaf)) in nodes.iter().enumerate() {
            let next = nodes.get(n + 1).map(|(next, ..)| Object::Reference(*next));
            let kids: Vec<Object> = [Object::Reference(*leaf)].into_iter().chain(next).collect();
            let count = i64::try_from(depth - n).unwrap();
            let tree =
                dictionary! { "Type" => "Pages", "Parent" => *parent, "Kids" => kids, "Count" => count };
            doc.objects.insert(*node, Object::Dictionary(tree));
        }
        let (first, ..) = nodes[0];
        catalog.set("Pages", first);
        doc.objects.get_mut(&first).and_then(|node| node.as_dict_mut().ok()).unwrap().remove(b"Parent");
        page.set("Parent", first);
    })
}

#[test]
fn a_deep_page_tree_keeps_its_pages_or_is_refused() {
    let pages = |file: &[u8]| Document::load_mem(file).unwrap().get_pages().len();
    for depth in [1, 59, 62, 150, 400] {
        let (clean, _) = clean("a.pdf", &deep(depth), Options::default());
        assert_eq!(pages(&clean.unwrap()), depth, "{depth}");
    }
    assert_eq!(clean("a.pdf", &deep(700), Options::default()).0, Err(Rejection::OverLimit));
}

#[test]
fn each_thing_that_acts_goes_and_is_counted_once() {
    let (result, stats) = clean("busy.pdf", &busy(), Options::default());
    let text = readable(&result.unwrap());
    for word in [
        "JavaScript",
        "/JS",
        "EmbeddedFile",
        "/EF",
        "/AA",
        "AcroForm",
        "XFA",
        "Widget",
        "Sound",
        "PieceInfo",
        "/AF",
    ] {
        assert!(!text.contains(word), "{word}\n{text}");
    }
    assert!(!text.to_lowercase().contains("javascript") && !text.contains("share"), "{text}");
    assert!(text.contains("https://example.com/") && text.contains("NextPage"), "{text}");
    // "Kept value", as the page writes it.
    assert!(text.contains("4b6570742076616c7565"), "{text}");
    assert_eq!(stats.attachments, 1);
    // Actions: the shared one, two links, one in a chain, one among the names; an entry of AA; a field; XFA; a sound.
    assert_eq!(stats.interactive, 5 + 1 + 1 + 1 + 1);
}

#[test]
fn clean_files_stay_as_they_are() {
    for file in [busy(), made(|_, _, _| {})] {
        let (once, _) = clean("a.pdf", &file, Options::default());
        let once = once.unwrap();
        let (twice, stats) = clean("a.pdf", &once, Options::default());
        assert!(twice.unwrap() == once);
        assert!(stats.untouched(), "{stats:?}");
        assert!(once.ends_with(b"%%EOF") && once.windows(5).filter(|w| w == b"%%EOF").count() == 1);
    }
}

#[test]
fn each_order_stands_for_itself() {
    let only = |attachments, interactive| Options {
        attachments,
        interactive,
        policy: portcullis::sanitize::ReleasePolicy {
            pass_unknown: true,
            ..portcullis::sanitize::ReleasePolicy::default()
        },
        fit_names: true,
        ..Options::default()
    };
    let (files, stats) = clean("a.pdf", &busy(), only(true, false));
    assert_eq!((stats.attachments, stats.interactive), (1, 0));
    let text = readable(&files.unwrap());
    assert!(text.contains("JavaScript") && text.contains("Widget") && !text.contains("/EF"), "{text}");
    let (acts, stats) = clean("a.pdf", &busy(), only(false, true));
    assert_eq!((stats.attachments, stats.interactive), (0, 9));
    let text = readable(&acts.unwrap());
    assert!(!text.contains("JavaScript") && text.contains("/EF") && text.contains("attached"), "{text}");
}

#[test]
fn malicious_parts_are_seen_wherever_they_lie() {
    let attached = made(|doc, catalog, _| {
        let mut stream = Stream::new(dictionary! { "Type" => "EmbeddedFile" }, EICAR.repeat(20).into_bytes());
        stream.compress().unwrap();
        let file = doc.add_object(stream);
        let spec = dictionary! { "Type" => "Filespec", "EF" => dictionary! { "F" => file } };
        catalog.set("AF", vec![spec.into()]);
    });
    assert!(!crate::host::malicious(&attached));
    for attachments in [true, false] {
        let options = Options { attachments, ..Options::default() };
        assert_eq!(clean("a.pdf", &attached, options).0, Err(Rejection::Malicious));
    }
}

#[test]
fn pages_outside_of_the_tree_and_old_revisions_are_not_carried_along() {
    let file = made(|doc, catalog, _| {
        let content = doc.add_object(Stream::new(dictionary! {}, b"BT (stray) Tj ET".to_vec()));
        let page = doc.add_object(dictionary! { "Type" => "Page", "Contents" => content });
        catalog.set("StructTreeRoot", dictionary! { "Type" => "StructTreeRoot", "Pg" => page });
        doc.add_object(Object::string_literal("unreachable"));
    });
    let text = readable(&clean("a.pdf", &file, Options::default()).0.unwrap());
    assert!(!text.contains("stray") && !text.contains("unreachable"), "{text}");
}

#[test]
fn a_broken_page_tree_is_made_anew() {
    let file = made(|doc, catalog, page| {
        let root = page.get(b"Parent").unwrap().as_reference().unwrap();
        let first = doc.add_object(page.clone());
        let inner = doc.new_object_id();
        let kids = vec![first.into(), first.into(), inner.into(), Object::Null];
        doc.objects.insert(inner, dictionary! { "Kids" => kids, "Count" => 9, "Parent" => root }.into());
        catalog.set("Pages", inner);
    });
    let out = clean("a.pdf", &file, Options::default()).0.unwrap();
    assert_eq!(Document::load_mem(&out).unwrap().get_pages().len(), 2);
}

/// The file of a document that is encrypted with the empty password, with or without its identity.
fn encrypted(user: &str, identity: bool) -> Vec<u8> {
    let mut doc = Document::load_mem(&made(|_, catalog, _| catalog.set("OpenAction", script()))).unwrap();
    let id = Object::string_literal(if identity { "0123456789abcdef" } else { "" });
    doc.trailer.set("ID", vec![id.clone(), id]);
    doc.reference_table.cross_reference_type = lopdf::xref::XrefType::CrossReferenceTable;
    let version = lopdf::EncryptionVersion::V2 {
        document: &doc,
        owner_password: "owner",
        user_password: user,
        key_length: 128,
        permissions: lopdf::Permissions::all(),
    };
    let state = lopdf::EncryptionState::try_from(version).unwrap();
    doc.encrypt(&state).unwrap();
    if !identity {
        doc.trailer.remove(b"ID");
    }
    let mut out = Vec::new();
    doc.save_to(&mut out).unwrap();
    out
}

#[test]
fn files_that_need_no_password_are_decrypted() {
    for identity in [true, false] {
        let (result, stats) = clean("a.pdf", &encrypted("", identity), Options::default());
        let text = readable(&result.unwrap());
        assert!(text.contains("Plain words") && !text.contains("app.alert"), "{text}");
        assert_eq!(stats.interactive, 1);
    }
    assert_eq!(clean("a.pdf", &encrypted("secret", true), Options::default()).0, Err(Rejection::Encrypted));
}

#[test]
fn what_unfolds_to_too_much_is_refused() {
    let bomb = made(|doc, catalog, _| {
        let mut stream = Stream::new(dictionary! {}, vec![0; 3 << 20]);
        stream.compress().unwrap();
        catalog.set("Metadata", doc.add_object(stream));
    });
    let mut host = crate::host::Lenient::default();
    let bounds = UnfoldBounds { bytes: 1 << 20, ..UnfoldBounds::default() };
    let mut work = Work::new(&FORMATS, Options::default(), bounds, &mut host);
    assert_eq!(work.clean(FileKind::Pdf, &bomb), Err(Rejection::OverLimit));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Broken files are cleaned or refused; what comes out is clean, whatever went in.
    #[test]
    fn flipped_and_cut_files_never_stop_it(flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..8), cut in any::<usize>()) {
        let mut file = busy();
        let length = file.len();
        for (at, byte) in flips {
            file[at % length] = byte;
        }
        if cut % 3 == 0 {
            file.truncate(cut / 3 % length);
        }
        if let (Ok(out), _) = clean("a.pdf", &file, Options::default()) {
            let (again, stats) = clean("a.pdf", &out, Options::default());
            prop_assert!(again == Ok(out));
            prop_assert!(stats.untouched(), "{stats:?}");
        }
    }
}
