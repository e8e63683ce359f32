use super::*;
use crate::edit::{Edit, spliced};

const HEAD: &[u8] = b"Content-Disposition: form-data; name=\"a\"\r\n";

fn body(parts: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, content) in parts {
        body.extend([b"--edge\r\n", *head, b"\r\n", *content, b"\r\n"].concat());
    }
    [&body, b"--edge--\r\n".as_slice()].concat()
}

fn boundary() -> Boundary {
    Boundary::of("multipart/form-data; boundary=edge").unwrap()
}

/// Writes what it sees in capitals.
#[derive(Default)]
struct Capitals;

impl PartVisitor for Capitals {
    fn begin(&mut self, _: &PartHead<'_>) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(None)
    }

    fn piece(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        out.extend_from_slice(&piece.to_ascii_uppercase());
        Ok(())
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        out.extend_from_slice(b"!");
        Ok(())
    }
}

#[test]
fn every_cut_gives_the_same_parts() {
    let content: &[u8] = b"x\r\n--edg \r\n -- edge x--edge--edge\r\n-\r";
    let whole = body(&[(HEAD, content), (HEAD, b""), (b"", b"\r\n"), (HEAD, b"-")]);
    let want = body(&[
        (HEAD, &[&content.to_ascii_uppercase(), b"!".as_slice()].concat()),
        (HEAD, b"!"),
        (b"", b"\r\n!"),
        (HEAD, b"-!"),
    ]);
    // `--edge` within a line is no boundary, and is in the first part.
    for step in 1..whole.len() {
        let mut out = BytesMut::new();
        let mut multipart = Multipart::new(Capitals, &boundary(), &MemoryBudget::unlimited());
        for piece in whole.chunks(step) {
            multipart.write(piece, &mut out).unwrap();
            assert!(multipart.held() <= HEAD.len().max(b"--edge".len() + 2) + step);
        }
        multipart.finish(&mut out).unwrap();
        assert_eq!(out.escape_ascii().to_string(), want.escape_ascii().to_string(), "{step}");
    }
    let spans = split(&whole, &boundary()).unwrap();
    let parts: Vec<_> =
        spans.iter().map(|span| (&whole[span.head.clone()], &whole[span.body.clone()])).collect();
    assert_eq!(parts, [(HEAD, content), (HEAD, b""), (b"", b"\r\n"), (HEAD, b"-")]);
}

#[test]
fn what_servers_may_read_differently_is_refused() {
    let part = "--edge\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n";
    let end = "--edge--\r\n";
    let head = |head: &str| format!("--edge\r\n{head}\r\n\r\nx\r\n{end}");
    let rows = [
        (String::new(), false),
        (format!("{part}{end}"), true),
        (format!("\r\n{part}{end}"), true),
        (format!("{part}--edge--"), true),
        (format!("{part}--edge--\r\n\r\n"), true),
        (format!("{part}--edge \t\r\n\r\ny\r\n{end}"), true),
        (format!("note\r\n{part}{end}"), false),
        (format!("{part}{end}note"), false),
        (part.to_owned(), false),
        (format!("{part}--edge"), false),
        (format!("{part}--edgeling\r\n\r\ny\r\n{end}"), false),
        (format!("{part}--edge-\r\n{end}"), false),
        (part.replace("\r\n", "\n") + end, false),
        (format!("--edge\r\n\r\nx\n--edge\r\n\r\ny\r\n{end}"), false),
        (format!("--edge\r\n\r\nx\r--edge\r\n\r\ny\r\n{end}"), false),
        (format!("--edge\r\n\r\n{end}"), false),
        (head("Content-Type: multipart/mixed; boundary=b"), false),
        (head("Content-Transfer-Encoding: base64"), false),
        (head("Content-Transfer-Encoding: binary"), true),
        (head("Content-Encoding: gzip"), false),
        (head("Content-Type: text/plain\r\nContent-Type: text/html"), false),
        (head("Content-Type: text/plain\r\n folded"), false),
        (head("Content-Type: text/plain\nX: y"), false),
        (head("X-4111111111111111: y"), false),
        (head("no name"), false),
        (head("Content-Disposition: form-data; name=\"a\"; name=\"b\""), false),
        (head("Content-Disposition: form-data; name=\"a"), false),
        (head("Content-Disposition: form-data; 4111111111111111=a"), false),
        (head("Content-Disposition: jane@x.org; name=a"), false),
        (head("Content-Disposition: form-data; name=a; filename=b.txt; filename*=UTF-8''c.txt"), true),
        (head(&format!("X: {}", "y".repeat(MAX_HEAD))), false),
        (format!("{}{end}", "--edge\r\n\r\nx\r\n".repeat(MAX_PARTS)), true),
        (format!("{}{end}", "--edge\r\n\r\nx\r\n".repeat(MAX_PARTS + 1)), false),
    ];
    for (body, fine) in rows {
        let shown = body.get(..body.floor_char_boundary(120)).unwrap().escape_debug().to_string();
        assert_eq!(split(body.as_bytes(), &boundary()).is_ok(), fine, "{shown}");
    }
}

#[test]
fn a_type_names_one_boundary() {
    for (media_type, want) in [
        ("multipart/form-data; boundary=edge", Some("--edge")),
        ("multipart/form-data; charset=utf-8; Boundary=\"a b?\"", Some("--a b?")),
        ("multipart/form-data", None),
        ("multipart/form-data; boundary=", None),
        ("multipart/form-data; boundary=a; boundary=b", None),
        ("multipart/form-data; boundary=\"a\"; BOUNDARY=a", None),
        ("multipart/form-data; boundary=\"a", None),
        ("multipart/form-data; boundary=\"a \"", None),
        ("multipart/form-data; boundary=a<b", None),
    ] {
        let got = Boundary::of(media_type).ok().map(|boundary| String::from_utf8(boundary.0).unwrap());
        assert_eq!(got.as_deref(), want, "{media_type}");
    }
    assert!(Boundary::of(&format!("multipart/mixed; boundary={}", "x".repeat(71))).is_err());
}

#[test]
fn texts_of_a_head_are_edited_where_they_stand() {
    let rows = [
        (r#"form-data; name="f"; filename="a jane.txt""#, r#"form-data; name="f"; filename="a %22*\\.txt""#),
        (r#"form-data; name=jane"#, r#"form-data; name="%22*\\""#),
        (r#"form-data; name=x-jane"#, r#"form-data; name=x-_*_"#),
        (r#"form-data; name="a\"jane\\"; x=y"#, r#"form-data; name="a\"%22*\\\\"; x=y"#),
        (
            r#"form-data; name=a; filename*=utf-8''%C3%A9jan%65.txt"#,
            r#"form-data; name=a; filename*=utf-8''%C3%A9%22%2A%5C.txt"#,
        ),
    ];
    for (value, want) in rows {
        let lines = format!("Content-Disposition: {value}\r\nContent-Type: text/plain\r\n");
        let head = PartHead::parse(lines.as_bytes()).unwrap();
        assert_eq!(head.media_type.as_deref(), Some("text/plain"));
        let mut edits = Vec::new();
        for text in &head.texts {
            if let Some(at) = text.text.find("jane") {
                edits.push(text.in_source(Edit { range: at..at + 4, with: "\"*\\".to_owned() }));
            }
        }
        let edited = String::from_utf8(spliced(lines.as_bytes(), &edits)).unwrap();
        assert_eq!(edited, format!("Content-Disposition: {want}\r\nContent-Type: text/plain\r\n"));
        assert!(PartHead::parse(edited.as_bytes()).is_ok(), "{edited}");
    }
}
