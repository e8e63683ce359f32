//! Messages, in and out.

use crate::sanitize::bench::Bench;
use crate::sanitize::{FileKind, Note, Options, Rejection, Stats};

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// Cleaned, and what comes out once more: the same then.
fn cleaned(bench: &mut Bench, mail: &str) -> (String, Stats) {
    let (clean, stats) = bench.clean(FileKind::Mail, crlf(mail).as_bytes()).expect("a clean message");
    let (again, rest) = bench.clean(FileKind::Mail, &clean).expect("a clean message");
    let (clean, again) = (String::from_utf8_lossy(&clean), String::from_utf8_lossy(&again));
    assert_eq!(clean, again, "a clean message is a fixed point");
    assert!(rest.untouched(), "{rest:?}");
    (clean.replace("\r\n", "\n"), stats)
}

fn refused(mail: &str) -> Option<Rejection> {
    Bench::disarming().clean(FileKind::Mail, crlf(mail).as_bytes()).err()
}

const MIXED: &str = "From: Jane <jane@example.com>
Subject: hello
DKIM-Signature: v=1; b=abc
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=\"b1\"

This is a multi-part message in MIME format.
--b1
Content-Type: multipart/alternative; boundary=b2

--b2
Content-Type: text/plain; charset=iso-8859-1

Dear John
--b2
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Dear John<script>x</sc=
ript></p>
--b2--

--b1
Content-Type: application/zip; name=a.zip
Content-Disposition: attachment; filename=a.zip
Content-Transfer-Encoding: base64

UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==
--b1
Content-Type: text/calendar

BEGIN:VCALENDAR
--b1--
";

#[test]
fn what_does_not_change_stays() {
    let plain = MIXED.replace("<script>x</sc=\nript>", "");
    let plain =
        plain.split("--b1\nContent-Type: application/zip").next().expect("a part").to_owned() + "--b1--\n";
    for mail in
        [plain.as_str(), "From: a\nTo: b\n\nhello\n", "From: a\nTo: b\n", "From: =?utf-8?q?J=C3=A4?=\n\n\n"]
    {
        let (clean, stats) = cleaned(&mut Bench::redacting("Mary"), mail);
        assert_eq!(clean, mail);
        assert!(stats.untouched() && stats.notes.is_empty(), "{stats:?}");
    }
}

#[test]
fn attachments_go_and_pages_are_cleaned() {
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), MIXED);
    assert_eq!((stats.attachments, stats.interactive, stats.redacted.get("N")), (2, 1, Some(&1)));
    assert_eq!(stats.notes.get(&Note::Signatures), Some(&1));
    assert!(clean.starts_with("From: <N> <jane@example.com>\nSubject: hello\nMIME"), "{clean}");
    assert!(
        clean.contains("iso-8859-1\n\nDear John\n--b2\n") && clean.ends_with("--b2--\n\n--b1--\n"),
        "{clean}"
    );
    for gone in ["script", "zip", "CALENDAR", "DKIM"] {
        assert!(!clean.contains(gone), "{gone} in {clean}");
    }
}

#[test]
fn attachments_that_stay_are_cleaned() {
    let mut bench = Bench::redacting("Jane");
    bench.options = Options { attachments: false, ..bench.options };
    let page = data_encoding::BASE64.encode(b"<p>Jane<script>x</script>");
    let mail = format!(
        "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; name=\"Jane.html\"\n\
         Content-Disposition: attachment; filename*=utf-8''J%C3%A4ne%20Jane.html\nContent-Transfer-Encoding: base64\n\n\
         {page}\n--b\nContent-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\neJ8+IgAB//8=\n--b--\n"
    );
    let (clean, stats) = cleaned(&mut bench, &mail);
    assert!(
        clean.contains("name=\"<N>.html\"") && clean.contains("filename*=utf-8''J%C3%A4ne%20%3CN%3E.html")
    );
    assert!(
        clean.contains(&data_encoding::BASE64.encode(b"<p>&lt;N&gt;</p>")) || clean.contains("base64"),
        "{clean}"
    );
    assert_eq!((stats.interactive, stats.notes.get(&Note::Dropped)), (1, Some(&1)), "{clean}");
}

#[test]
fn fields_are_redacted_as_they_read() {
    let mail = "Received: from x by y for <Jané@example.com>\nSubject: =?utf-8?B?SmFuw6k=?= and\n =?iso-8859-1?Q?Jan=E9?= =?utf-8?Q?=C3=A9?= http://bad.example\nReply-To: notes.md <x@bad.example>\nX-Odd: a\rContent-Type: text/html\n\nhello\n";
    let (clean, stats) = cleaned(&mut Bench::redacting("Jané"), mail);
    assert_eq!((stats.redacted.get("N"), stats.defanged), (Some(&3), 1), "{clean}");
    assert!(clean.contains("for <<N>@example.com>"), "{clean}");
    assert!(
        clean.contains("Subject: <N> and =?utf-8?B?") && clean.contains("hxxp://bad[.]example"),
        "{clean}"
    );
    assert!(
        clean.contains("Reply-To: notes.md <x@bad.example>\nX-Odd: a Content-Type: text/html\n\nhello\n"),
        "{clean}"
    );
}

#[test]
fn texts_are_read_in_their_character_sets() {
    for (head, body) in [
        ("charset=utf-8\nContent-Transfer-Encoding: quoted-printable", "Jan=C3=\n=A9 is here"),
        ("charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable", "Jan=E9 is here"),
        ("charset=utf-16le\nContent-Transfer-Encoding: base64", "SgBhAG4A6QAgAGkAcwAgAGgAZQByAGUA"),
    ] {
        let mail = format!("From: a\nMIME-Version: 1.0\nContent-Type: text/plain; {head}\n\n{body}\n");
        let (clean, stats) = cleaned(&mut Bench::redacting("Jané"), &mail);
        assert!(clean.contains("charset=\"utf-8\"") && clean.contains("<N> is here"), "{clean}");
        assert_eq!(stats.redacted.get("N"), Some(&1));
    }
    let (clean, _) = cleaned(
        &mut Bench::disarming(),
        "From: a\nContent-Type: text/html; charset=utf-7\n\n+ADw-script+AD4-",
    );
    assert!(clean.contains("charset=\"utf-8\"") && clean.contains("MIME-Version: 1.0"), "{clean}");
}

/// A message with a part in Base64, whose attachments stay.
fn attached(head: &str, body: &[u8]) -> String {
    let body = data_encoding::BASE64.encode(body);
    format!(
        "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: {head}\n\
         Content-Transfer-Encoding: base64\n\n{body}\n--b--\n"
    )
}

fn keeping(mut bench: Bench) -> Bench {
    bench.options.attachments = false;
    bench
}

const IN_UTF8: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>&lt;N&gt;</a>";

#[test]
fn named_texts_are_read_in_their_character_sets() {
    let koi8 = |text: &str| encoding_rs::KOI8_R.encode(text).0.into_owned();
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    for (kind, charset, body, want, label) in [
        ("plain", "koi8-r", koi8("Джейн и Ян"), "\u{feff}<N> и Ян", "utf-8"),
        ("html", "koi8-r", koi8("<p>Джейн</p><script>1</script>да"), "\u{feff}<p>&lt;N&gt;</p>да", "utf-8"),
        ("csv", "utf-16le", utf16("a,Джейн"), "a,<N>", "utf-8"),
        ("html", "utf-7", b"+ADw-script+AD4-1+ADw-/script+AD4-a".to_vec(), "a", "utf-8"),
        ("plain", "utf-7", b"a+AEA-b +BBQENgQ1BDkEPQ-".to_vec(), "a@b <N>", "utf-8"),
        ("xml", "koi8-r", koi8("<?xml version='1.0' encoding='koi8-r'?><a>Джейн</a>"), IN_UTF8, "utf-8"),
        ("plain", "utf-8", "Джейн é".into(), "<N> é", "utf-8"),
        ("plain", "iso-8859-1", "Джейн".into(), "<N>", "iso-8859-1"),
    ] {
        let mail = attached(&format!("text/{kind}; charset=\"{charset}\"; name=\"n.{kind}\""), &body);
        let mail = mail.replace("n.plain", "n.txt");
        let (clean, _) = cleaned(&mut keeping(Bench::redacting("Джейн")), &mail);
        let want = data_encoding::BASE64.encode(want.as_bytes());
        assert!(clean.contains(&format!("\n\n{want}\n")), "{charset}: {clean}");
        assert!(clean.contains(&format!("charset=\"{label}\"; name=\"n.")), "{clean}");
    }
    for (charset, body) in [("koi8-r", koi8("да")), ("utf-16le", utf16("да")), ("iso-8859-1", vec![0xe9])]
    {
        let mail = attached(&format!("text/plain; charset={charset}; name=n.txt"), &body);
        assert_eq!(cleaned(&mut keeping(Bench::redacting("Джейн")), &mail).0, mail);
    }
}

#[test]
fn bases_go_and_locations_lead_to_no_computer() {
    let mail = "From: a\nContent-Base: file://evil/share/\nContent-Location: file:///C:/x/a.htm\n\
        Content-Type: multipart/related; boundary=b\n\n--b\nContent-Base: \\\\evil\\share\\\n\
        Content-Location: javascript:x\nContent-Type: text/html\n\n<p>hi</p>\n--b\nContent-Type: text/plain\n\
        Content-Location: cid:a@b\n\nx\n--b--\n";
    let (clean, stats) = cleaned(&mut Bench::disarming(), mail);
    assert!(!clean.contains("evil") && !clean.contains("javascript") && !clean.contains("Base"), "{clean}");
    assert!(clean.contains("\nContent-Location: x/a.htm\n") && clean.contains("cid:a@b"), "{clean}");
    assert_eq!(stats.interactive, 4);
    let mut armed = Bench::disarming();
    (armed.options.interactive, armed.options.links) = (false, false);
    assert_eq!(cleaned(&mut armed, mail).0, mail);
}

#[test]
fn parts_that_lie_elsewhere_go() {
    for kind in
        ["message/external-body; access-type=URL; URL=\"http://evil.example\"", "message/partial; id=a"]
    {
        let part = format!("Content-Type: {kind}\n\nContent-Type: image/png\n\n");
        let mail =
            format!("From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\n{part}\n--b--\n");
        let (clean, stats) = cleaned(&mut keeping(Bench::disarming()), &mail);
        assert!(clean.contains("hi\n--b--") && !clean.contains(kind), "{clean}");
        assert_eq!((stats.interactive, stats.attachments), (1, 0));
        let (_, stats) = cleaned(&mut Bench::disarming(), &mail);
        assert_eq!((stats.interactive, stats.attachments), (0, 1));
        let whole = format!("From: a\n{part}");
        assert!(!cleaned(&mut keeping(Bench::disarming()), &whole).0.contains(kind));
    }
}

#[test]
fn values_go_from_where_nobody_reads() {
    let mail = "From: a\nMIME-Version: 1.0 (by Jane)\nDate: Wed, 1 Jan 2020 10:00:00 +0000 (Jane)\n\
        Content-Language: en, Jane Doe\nMessage-ID: <Jane@a>\nIn-Reply-To: Jane's of <1@a>\n\
        Content-Type: multipart/mixed; x=\"Jane\"; boundary=\"b-Jane@a\"\n\n--b-Jane@a\n\
        Content-Type: text/html\nContent-Disposition: inline; x=Jane\n\n<img src=\"cid:Jane@a\">\n--b-Jane@a--\n";
    let (clean, _) = cleaned(&mut Bench::redacting("Jane"), mail);
    for want in [
        "MIME-Version: 1.0\nDate: Wed, 1 Jan 2020 10:00:00 +0000\nContent-Language: en, <N> Doe\n",
        "Message-ID: <N@a>\nIn-Reply-To: <N>'s of <1@a>\n",
        "multipart/mixed; x=\"<N>\"; boundary=\"=_part_0_\"\n\n--=_part_0_\n",
        "inline; x=\"<N>\"\n",
        "--=_part_0_--\n",
        "cid:N@a",
    ] {
        assert!(clean.contains(want), "{want} in {clean}");
    }
}

#[test]
fn identifiers_that_programs_make_up_stay_but_for_what_was_found_elsewhere() {
    const VALUE: &str = "5551234567";
    const ID: &str = "5551234567.20200101@a";
    let mail = |id: &str| {
        format!(
            "From: {VALUE}\nMessage-ID: <{id}>\nReferences: <2@a> <{id}>\n\
             Content-Type: multipart/related; start=\"<{id}>\"; boundary=\"x {id}\"\n\n--x {id}\nContent-ID: <{id}>\n\
             Content-Type: text/html\n\n<p>a</p><img src=\"cid:{id}\">\n--x {id}--\n"
        )
    };
    let mut bench = Bench::redacting(VALUE);
    let first = bench.clean(FileKind::Mail, mail(ID).as_bytes()).expect("a clean message").0;
    assert_eq!(String::from_utf8_lossy(&first).matches(ID).count(), 5);
    let clean = bench.work().whole(FileKind::Mail, mail(ID).as_bytes()).expect("a clean message");
    let clean = String::from_utf8_lossy(&clean).into_owned();
    assert!(!clean.contains(VALUE) && clean.matches("N.20200101@a").count() == 5, "{clean}");
    let plain = bench.work().whole(FileKind::Mail, mail("1.X@a").as_bytes()).expect("a clean message");
    assert_eq!(String::from_utf8_lossy(&plain), mail("1.X@a").replace(VALUE, "<N>"));
}

#[test]
fn identifiers_with_words_in_them_are_read() {
    let mail = "From: a\nMessage-ID: <20200101100000.12345-1-Jane.roe1@a>\nIn-Reply-To: <Jane.roe1@a>\n\
        References: <Jane1@a> <5E0C8A1F.3080401@a>\n\nhello\n";
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), mail);
    assert_eq!(clean, mail.replace("Jane", "N"));
    assert_eq!(stats.redacted.get("N"), Some(&3));
}

#[test]
fn a_date_has_a_zone_and_nothing_else() {
    let mail = |date: &str| format!("From: a\nDate: Wed, 1 Jan 2020 10:00:00{date}\n\nhello\n");
    for (date, want) in [(" Roe", ""), (" Roe (x)", ""), (" +0000 Roe", " +0000"), (" J", "")] {
        assert_eq!(cleaned(&mut Bench::redacting("Jane"), &mail(date)).0, mail(want), "{date}");
        assert_eq!(cleaned(&mut Bench::disarming(), &mail(date)).0, mail(date));
    }
    for date in ["", " +0100 (CET)", " PDT", " Z", " -0000 (Pacific Standard Time)"] {
        assert_eq!(cleaned(&mut Bench::redacting("Jane"), &mail(date)).0, mail(date));
    }
}

#[test]
fn addresses_are_read_however_they_are_written() {
    let address = "jane.roe@corp.example";
    for written in ["jane.roe(work)@corp.example", "jane . roe @ corp . example", "\"jane.roe\"@corp.example"]
    {
        let mail = format!("From: a\nTo: Anna <{written}>\n\nhello\n");
        let (clean, stats) = cleaned(&mut Bench::redacting(address), &mail);
        assert_eq!(clean, "From: a\nTo: Anna <<N>>\n\nhello\n");
        assert_eq!(stats.redacted.get("N"), Some(&1));
        assert_eq!(cleaned(&mut Bench::redacting("Mary"), &mail).0, mail);
    }
    let named = format!("From: a\nX-For-{address}: 1\nX-A@b.example: 2\n\nhello\n");
    let (clean, _) = cleaned(&mut Bench::redacting(address), &named);
    assert_eq!(clean, "From: a\nX-A@b.example: 2\n\nhello\n");
}

#[test]
fn addresses_are_read_in_all_fields_but_texts() {
    let address = "jane.roe@corp.example";
    for (field, want) in [
        ("Received: from x by y for <jane.roe(x)@corp.example>; 1", "Received: from x by y for <<N>>; 1"),
        ("X-Results: y; smtp.mailfrom=jane.roe(x)@corp.example", "X-Results: y; smtp.mailfrom=<N>"),
        ("X-Forwarded-To: jane . roe @ corp . example", "X-Forwarded-To: <N>"),
        ("Cc: \"jane\\.roe\"@corp.example, b", "Cc: <N>, b"),
        ("Orcpt: rfc822;jane.roe+40corp.example", "Orcpt: rfc822;<N>"),
        ("X-A: x(jane.roe@corp.example)@y", "X-A: x(<N>)@y"),
    ] {
        let mail = format!("From: a\n{field}\n\nhello\n");
        let (clean, stats) = cleaned(&mut Bench::redacting(address), &mail);
        assert_eq!(clean, format!("From: a\n{want}\n\nhello\n"));
        assert_eq!(stats.redacted.get("N"), Some(&1), "{field}");
        assert_eq!(cleaned(&mut Bench::redacting("Mary"), &mail).0, mail);
    }
}

#[test]
fn addresses_go_with_all_that_stands_in_them() {
    for (field, want) in [
        ("Return-Path: <bounces+jane.roe=corp.example@a.example>", "Return-Path: <<N>>"),
        ("Sender: SRS0=HHH=TT=jane.roe=corp.example@a.example", "Sender: <N>"),
        ("X-Spf: mailfrom=b+jane.roe=corp.example@a.example", "X-Spf: mailfrom=<N>"),
        ("X-Url: <https://a.example/?m=corp.example@a.example>", "X-Url: <https://a.example/?m=<N>>"),
    ] {
        let mail = format!("{field}\nFrom: a\nTo: b\n\nhello\n");
        let (clean, _) = cleaned(&mut Bench::redacting("corp.example@a.example"), &mail);
        assert_eq!(clean, format!("{want}\nFrom: a\nTo: b\n\nhello\n"));
    }
}

/// One that redacts only.
fn redacting(word: &'static str) -> Bench {
    let mut bench = Bench::redacting(word);
    bench.options.links = false;
    bench
}

#[test]
fn reports_are_read_field_by_field() {
    let report = |fields: &str| {
        format!(
            "From: a\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n\
             Reporting-MTA: dns; x\n\n{fields}\n\nAction: failed\n--b--\n"
        )
    };
    for (field, want) in [
        ("Final-Recipient: rfc822; jane.roe(x)@corp.example", "Final-Recipient: rfc822; <N>"),
        ("Original-Recipient: rfc822;jane.roe+40corp.example", "Original-Recipient: rfc822;<N>"),
        ("Final-Recipient: utf-8; jane.roe\\x{40}corp.example", "Final-Recipient: utf-8; <N>"),
        ("X-Foo: =?utf-8?q?jane=2Eroe=40corp=2Eexample?=", "X-Foo: <N>"),
    ] {
        let (clean, _) = cleaned(&mut redacting("jane.roe@corp.example"), &report(field));
        assert!(clean.contains(&format!("dns; x\n\n{want}\n\nAction: failed\n--b--")), "{clean}");
        assert_eq!(cleaned(&mut redacting("Mary"), &report(field)).0, report(field));
    }
}

#[test]
fn lines_that_flow_are_read_as_they_are_shown() {
    let mail = |body: &str, kind: &str| format!("From: a\nContent-Type: text/plain; {kind}\n\n{body}\n");
    let flowed = mail("> jane.roe \n> @corp.example\n-- \nx", "format=flowed; delsp=yes");
    let (clean, _) = cleaned(&mut redacting("jane.roe@corp.example"), &flowed);
    assert!(clean.contains("\n> <N>\n=2D-=20\nx") && !clean.contains("flowed"), "{clean}");
    assert_eq!(cleaned(&mut redacting("Mary"), &flowed).0, flowed);
    for kind in ["format=flowed", "delsp=yes", "charset=utf-8"] {
        let other = mail("jane.roe \n@corp.example", kind);
        assert_eq!(cleaned(&mut redacting("jane.roe@corp.example"), &other).0, other);
    }
}

#[test]
fn pictures_of_a_saved_page_stay() {
    const PICTURE: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    for (head, stays) in [
        ("Content-Location: https://x.example/a.gif\n", true),
        ("Content-Location: a.gif\n", true),
        ("Content-Location: a.gif\nContent-Disposition: attachment\n", false),
        ("", false),
    ] {
        let mail = format!(
            "From: a\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>hi</p>\n--b\n\
             Content-Type: image/gif\nContent-Transfer-Encoding: base64\n{head}\n{PICTURE}\n--b--\n"
        );
        let (clean, stats) = cleaned(&mut redacting("Mary"), &mail);
        assert_eq!((clean.contains("image/gif"), stats.attachments), (stays, u64::from(!stays)), "{clean}");
    }
}

#[test]
fn fields_are_read_in_eight_bits_and_in_reports() {
    let mail = b"From: a\nTo: Jan\xe9 <x@a>\n\nhello\n";
    let (clean, _) = Bench::redacting("Jané").clean(FileKind::Mail, mail).expect("a clean message");
    assert_eq!(String::from_utf8_lossy(&clean), "From: a\nTo: <N> <x@a>\n\nhello\n");
    let report = "From: a\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: text/rfc822-headers\n\n\
        Subject: =?utf-8?B?SmFuZQ==?=\nTo: b\n--b--\n";
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), report);
    assert!(clean.contains("Subject: <N>\nTo: b\n--b--") && !clean.contains("SmFu"), "{clean}");
    assert_eq!(stats.redacted.get("N"), Some(&1));
    assert_eq!(cleaned(&mut Bench::redacting("Mary"), report).0, report);
}

#[test]
fn messages_within_messages() {
    let mail = "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nFrom: Jane\nSubject: x\nContent-Type: text/html\n\n<p onclick=x>hi</p>\n--b--\n";
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), mail);
    assert!(clean.contains("\nFrom: <N>\nSubject: x\n") && clean.contains("<p>hi</p>"), "{clean}");
    assert_eq!(stats.interactive, 1);
    let attached = mail.replace("message/rfc822", "message/rfc822\nContent-Disposition: attachment");
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), &attached);
    assert!(clean.contains("text/plain") && !clean.contains("Subject"), "{clean}");
    assert_eq!(stats.attachments, 1);
    let deep = "Content-Type: message/rfc822\n\n".repeat(100_000);
    assert_eq!(refused(&deep), Some(Rejection::OverLimit));
}

#[test]
fn what_stands_before_a_message_goes() {
    let mail = "From: a\nContent-Type: text/html\n\n<p onclick=x>hi</p>\n";
    for before in ["\u{feff}", "\n\n", " ", ">From x\n", "From x@y.example Mon Jan  1 00:00:00 2020\n"] {
        let (clean, stats) = cleaned(&mut Bench::disarming(), &format!("{before}{mail}"));
        assert!(clean.starts_with("From: a\n") && clean.contains("<p>hi</p>"), "{clean}");
        assert_eq!(stats.interactive, 1);
        let around = format!("From: b\nContent-Type: message/rfc822\n\n{before}{mail}");
        let (clean, stats) = cleaned(&mut Bench::disarming(), &around);
        assert!(clean.contains("\n\nFrom: a\n") && clean.contains("<p>hi</p>"), "{clean}");
        assert_eq!(stats.interactive, 1);
    }
    for junk in ["junk\n", "\u{200b}", "X Y: z\n"] {
        assert_eq!(refused(&format!("{junk}{mail}")), Some(Rejection::Malformed), "{junk}");
        let around = format!("From: b\nContent-Type: message/rfc822\n\n{junk}{mail}");
        assert_eq!(refused(&around), Some(Rejection::Malformed), "{junk}");
    }
    assert_eq!(refused("hello"), Some(Rejection::Malformed));
    assert_eq!(refused(&format!("Subject: x\njunk\n{mail}")), Some(Rejection::Malformed));
}

#[test]
fn what_has_no_fields_is_text_to_every_reader() {
    let text = "From: b\nContent-Type: message/rfc822\n\nhello\n\nContent-Type: text/html\n";
    let (clean, _) = cleaned(&mut Bench::disarming(), text);
    assert!(
        clean.ends_with("MIME-Version: 1.0\nContent-Type: text/plain\n\nhello\n\nContent-Type: text/html\n")
    );
    let part = "From: b\nContent-Type: multipart/mixed; boundary=b\n\n--b\njunk\nContent-Type: text/html\n\nx\n--b--\n";
    let (clean, _) = cleaned(&mut Bench::disarming(), part);
    assert!(clean.contains("--b\nContent-Type: text/plain\n\njunk\n"), "{clean}");
}

#[test]
fn parts_of_a_digest_are_messages() {
    let mail = "From: a\nContent-Type: multipart/digest; boundary=b\n\n--b\n\nFrom: Jane\nContent-Type: text/html\n\n<p onclick=x>hi</p>\n--b\nContent-Type: text/plain\n\nhello\n--b--\n";
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), mail);
    assert!(clean.contains("--b\n\nFrom: <N>\n") && clean.contains("<p>hi</p>"), "{clean}");
    assert_eq!(stats.interactive, 1);
}

#[test]
fn a_message_is_not_called_like_what_acts() {
    let mail = "From: a\nContent-Type: message/rfc822; name=\"x.hta\"\nContent-Disposition: inline; filename=\"x.eml\"\n\nFrom: b\nTo: c\n\n<script>x</script>\n";
    let (clean, stats) = cleaned(&mut Bench::disarming(), mail);
    assert!(clean.contains("name=\"x.hta.eml\"") && clean.contains("filename=\"x.eml\""), "{clean}");
    assert_eq!(stats.notes.get(&Note::Renamed), Some(&1));
}

#[test]
fn what_readers_differ_over_is_refused_or_written_anew() {
    let twice = "From: a\nContent-Type: text/plain\nContent-Type: text/html\n\n<script>x</script>\n";
    let (clean, _) = cleaned(&mut Bench::disarming(), twice);
    assert_eq!(clean.matches("Content-Type").count(), 1, "{clean}");
    for mail in [
        "From: a\nContent-Type: multipart/mixed\n\n--b\n\nhello\n--b--\n",
        "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--bc\n\nhello\n--b--\n",
        "From: a\nContent-Type: multipart/mixed; boundary=b\n\nhello\n",
    ] {
        assert_eq!(refused(mail), Some(Rejection::Malformed), "{mail}");
    }
    for kind in ["multipart/encrypted; boundary=b", "application/pkcs7-mime"] {
        assert_eq!(refused(&format!("From: a\nContent-Type: {kind}\n\nx\n")), Some(Rejection::Encrypted));
    }
    let around =
        "From: a\nContent-Type: multipart/mixed; boundary=b\n\nhidden\n--b\n\nhello\n--b--\nhidden\n";
    assert!(!cleaned(&mut Bench::disarming(), around).0.contains("hidden"));
    let uu = "From: a\nTo: b\n\nsee\nbegin 644 x.exe\n#0V%T\n`\nend\nbye\n";
    let (clean, stats) = cleaned(&mut Bench::disarming(), uu);
    assert!(clean.contains("see\nbye") && !clean.contains("x.exe"), "{clean}");
    assert_eq!(stats.attachments, 1);
}

#[test]
fn a_signature_goes_with_what_it_signs() {
    let mail = "From: a\nContent-Type: multipart/signed; micalg=x; boundary=b\n\n--b\n\nJane\n--b\nContent-Type: application/pgp-signature; name=s.asc\n\nsigned\n--b--\n";
    let (clean, stats) = cleaned(&mut Bench::redacting("Mary"), mail);
    assert_eq!((clean.as_str(), stats.attachments), (mail, 0));
    let (clean, stats) = cleaned(&mut Bench::redacting("Jane"), mail);
    assert!(
        clean.contains("multipart/mixed") && clean.contains("<N>") && !clean.contains("signed"),
        "{clean}"
    );
    assert_eq!(stats.notes.get(&Note::Signatures), Some(&1));
}
