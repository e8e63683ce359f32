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
