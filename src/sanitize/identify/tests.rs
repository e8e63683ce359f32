//! Kinds of made files, and of a corpus.

use std::path::Path;
use std::{env, fs};

use super::*;

fn zip(names: &[&str]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in names {
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(*name, options).expect("an entry");
        zip.write_all(b"%PDF-1.7 endobj").expect("an entry");
    }
    zip.finish().expect("an archive").into_inner()
}

#[test]
fn bytes_decide() {
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_old();
    header.set_size(4);
    tar.append_data(&mut header, "a.pdf", &b"%PDF"[..]).expect("an entry");
    let tar = tar.into_inner().expect("an archive");
    let mail = b"From: a@example.com\r\nSubject: x\r\n\r\nhello";
    let pdf = b"GIF89a %PDF-1.4 1 0 obj endobj";
    let bmp = [&b"BM\x40\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"[..], &[0; 40]].concat();
    for (file, want) in [
        (&b"%PDF-1.4"[..], FileKind::Pdf),
        (pdf, FileKind::Pdf),
        (b"It begins with %PDF-1.4.", FileKind::Text),
        (&zip(&["a.pdf"]), FileKind::Zip),
        (&zip(&["a", "[content_types].xml"]), FileKind::Ooxml),
        (&zip(&["META-INF/manifest.xml", "content.xml"]), FileKind::Odf),
        (b"PK\x05\x06", FileKind::Zip),
        (b"\x1f\x8b\x08", FileKind::Gzip),
        (&tar, FileKind::Tar),
        (b"\x89PNG\r\n\x1a\n", FileKind::Image),
        (b"II*\0\x08\0\0\0\x01\0", FileKind::Image),
        (b"II*\0\x10\0\0\0CR\x02\0", FileKind::Unknown),
        (b"GIF is said as in gift", FileKind::Text),
        (b"\xff\xd8\xff\xe0", FileKind::Image),
        (b"GIF89a", FileKind::Image),
        (&bmp, FileKind::Image),
        (b"BMW is a maker of cars", FileKind::Text),
        (mail, FileKind::Mail),
        (b"From: here\nTo\n\nhello", FileKind::Text),
        (b"MZ\x90\0\x03\0\0\0", FileKind::Unknown),
    ] {
        assert_eq!(
            identify(file, "x"),
            want,
            "{:?}",
            String::from_utf8_lossy(file.get(..12).unwrap_or(file))
        );
    }
}

#[test]
fn mail_is_known_by_its_fields_and_no_other_text_by_a_name() {
    let mail = "Subject: x\nContent-Type: text/html\n\n<p>hello\n";
    let from = "From a@b.example Mon Jan  1 00:00:00 2020\n";
    for (file, name, want) in [
        (mail.to_owned(), "x", FileKind::Mail),
        (mail.replace('\n', "\r\n"), "x.png", FileKind::Mail),
        (mail.replace('\n', "\r"), "x", FileKind::Mail),
        (format!("\u{feff}{mail}"), "x", FileKind::Mail),
        (format!("\n \n{mail}"), "x.txt", FileKind::Mail),
        (format!(" {mail}"), "x.eml", FileKind::Mail),
        (format!(">From a\n{mail}"), "x", FileKind::Mail),
        (format!("X-Long: {}\n{mail}", "y".repeat(100_000)), "x", FileKind::Mail),
        (format!("{from}{mail}"), "x", FileKind::Mailbox),
        (format!("{from}{mail}"), "x.mbox", FileKind::Mailbox),
        (format!("{from}{mail}"), "x.eml", FileKind::Mail),
        (format!("{from}{mail}\n{from}{mail}"), "x.EML", FileKind::Mailbox),
        (format!("{mail}\n{from}{mail}"), "x.EML", FileKind::Mail),
        (format!("{mail}\n{from}{mail}"), "x", FileKind::Mailbox),
        (mail.to_owned(), "x.mbox", FileKind::Mailbox),
        ("Content-Type: multipart/mixed; boundary=b\n\n--b--\n".to_owned(), "x", FileKind::Mail),
        ("Subject: x\n\nhello".to_owned(), "a.EML", FileKind::Mail),
        ("Subject: x\n\nhello".to_owned(), "a.txt", FileKind::Text),
        // None that can be read, which is what its format says.
        (format!("junk\n{mail}"), "x.eml", FileKind::Mail),
        (format!("junk\n{mail}"), "x.mht", FileKind::Mail),
        (format!("junk\n{mail}"), "x.txt", FileKind::Text),
        ("Dear Jane,\n\nFrom: John\n".to_owned(), "x.eml", FileKind::Text),
        ("From here\nto there\n".to_owned(), "x.mbox", FileKind::Text),
        ("{\"a\": 1}".to_owned(), "x.eml", FileKind::Json),
    ] {
        assert_eq!(identify(file.as_bytes(), name), want, "{file} {name}");
    }
    let wide: Vec<u8> =
        "\u{feff}junk\nContent-Type: text/html\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(identify(&wide, "x.eml"), FileKind::Mail);
    assert_eq!(identify(&wide, "x.txt"), FileKind::Text);
}

#[test]
#[expect(clippy::print_stdout, reason = "says that it skips")]
fn kinds_of_the_corpus() {
    let Ok(folder) = env::var("PORTCULLIS_SANITIZE") else {
        println!("skipped: PORTCULLIS_SANITIZE names no corpus");
        return;
    };
    let manifest = fs::read_to_string(Path::new(&folder).join("manifest.jsonl")).expect("a manifest");
    let (mut right, mut wrong) = (0, Vec::new());
    for line in manifest.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("an entry");
        let (path, kind) = (entry["path"].as_str().expect("a path"), entry["type"].as_str().expect("a type"));
        let found = identify(&fs::read(Path::new(&folder).join(path)).expect("a file"), path);
        let fits = match kind {
            // One has lost its header, and is not rewritten.
            "pdf" => found == FileKind::Pdf || path == "qpdf__issue-1503.pdf",
            "zip" => [FileKind::Ooxml, FileKind::Odf, FileKind::Zip].contains(&found),
            "html" => found == FileKind::Html,
            "ole2" => found == FileKind::Ole2,
            // A page that holds a drawing.
            "svg" => [FileKind::Svg, FileKind::Html].contains(&found),
            _ => [FileKind::Text, FileKind::Image, FileKind::Html].contains(&found),
        };
        if fits { right += 1 } else { wrong.push(format!("{path}: {kind}, found {found:?}")) }
    }
    println!("{right} kinds as the manifest has them");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
