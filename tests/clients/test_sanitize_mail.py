"""Mail, however a program for mail may find it in a file: none is released with what it hides, and none as a text that is
called mail. Rich text with what leads out of it."""

import base64
import io
import json
import mailbox
import zipfile
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from gateway import run
from test_sanitize import EICAR

FROM = "From - Mon Jan  1 00:00:00 2020\n"
VALUE, CARD = "jane.roe@corp-mail.com", "4012888888881881"
PAGE = f"Subject: b\nContent-Type: text/html\n\n<p>{VALUE}<script>evil()</script></p>\n"


def based(data):
    return base64.b64encode(data).decode()


def message(file=b"MZ\x90\0", first="From: a@b.example\nSubject: a\n"):
    """A mail with a text in base64, a page and a file."""
    return (
        f"{first}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        f"--b\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n{based(f'mail {VALUE} now'.encode())}\n"
        "--b\nContent-Type: text/html\n\n<p>hi<script>evil()</script></p>\n"
        "--b\nContent-Type: application/octet-stream; name=evil.exe\nContent-Transfer-Encoding: base64\n\n"
        f"{based(file)}\n--b--\n"
    )


# What stands before a message, or in place of its first fields, and what the file is called.
FOUND = [
    ("plain.eml", ""),
    ("from.eml", FROM),
    ("quoted.eml", ">From x\n"),
    ("mark.eml", "\ufeff"),
    ("empty.eml", "\n\r\n\n"),
    ("blank.eml", " "),
    ("all.eml", "\ufeff\n" + FROM + ">From x\n\n"),
    ("long.eml", "X-Long: " + "y" * 100_000 + "\n"),
    ("page.mht", FROM),
    ("a.mbox", FROM),
    ("a.mbox", ""),
    ("noending", FROM),
    ("noending", "\ufeff\n"),
    ("a.txt", FROM),
    ("a.jpg", ""),
]


def sanitized(tmp_path, name, data, *args):
    source, target = tmp_path / name, tmp_path / "out"
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    target.unlink(missing_ok=True)
    done = run("sanitize", "--report", *args, source, target)
    report = json.loads(done.out)
    assert report["released"] == target.exists(), done.err
    return report, target.read_bytes() if report["released"] else b""


def hidden(clean):
    """What should not be in a clean file."""
    words = [VALUE, "evil", base64.b64encode(f"mail {VALUE}".encode()).decode()[:24], based(b"MZ\x90\0")]
    return [word for word in words if word.encode() in clean]


@pytest.mark.parametrize("name, before", FOUND)
def test_a_mail_is_found_as_programs_for_mail_find_it(tmp_path, name, before):
    report, clean = sanitized(tmp_path, name, before + message(), "--redact")
    assert report["kind"] in ("mail", "mailbox") and hidden(clean) == [], clean
    assert report["cdr"] == {"file_attachments_removed": 1, "interactive_contents_removed": 1}
    again, twice = sanitized(tmp_path, report["name"], clean, "--redact")
    assert twice == clean and again["name"] == report["name"] and again["kind"] == report["kind"]
    malicious, _ = sanitized(tmp_path, name, before + message(EICAR))
    assert (malicious["released"], malicious["reason"]) == (False, "malicious")


@pytest.mark.parametrize("first", ["MIME-Version: 1.0\n", "X-A: b\nX-B: c\n", "From : a@b.example\n", "X-A: b\nfrom: a\n", "Subject: a\0\n"])
def test_a_mail_is_known_by_any_of_its_fields(tmp_path, first):
    text = message(first=first)
    for name in ("a.eml", "noending", "a.dat"):
        report, clean = sanitized(tmp_path, name, text, "--redact")
        assert report["kind"] == "mail" and hidden(clean) == [], name


@pytest.mark.parametrize("junk", ["hello\n", "\u200b", "X Y: z\n", "Subject: a\nhello\n"])
def test_what_is_only_called_mail_is_refused_if_there_may_be_parts_in_it(tmp_path, junk):
    for name in ("a.eml", "a.EML", "a.mht", "a.mhtml", "a.mbox"):
        report, _ = sanitized(tmp_path, name, junk + message())
        assert (report["released"], report.get("reason")) == (False, "broken"), (name, report)
    wide = ("\ufeff" + message()).encode("utf-16-le")
    assert sanitized(tmp_path, "a.eml", wide)[0]["reason"] == "broken"
    report, clean = sanitized(tmp_path, "a.txt", "hello\n" + message())
    assert (report["kind"], report["name"]) == ("text", "a.txt")


def test_text_that_is_called_mail_is_called_text(tmp_path):
    for name in ("a.eml", "a.mbox", "a.mht"):
        report, clean = sanitized(tmp_path, name, "Dear Jane,\n\nFrom now on we meet at ten.\n")
        assert (report["kind"], report["name"], report["notes"]) == ("text", name + ".txt", {"renamed": 1})
        assert clean == b"Dear Jane,\n\nFrom now on we meet at ten.\n"


def read(tmp_path, data):
    """The messages of a mailbox, as another program reads it."""
    (tmp_path / "read").write_bytes(data)
    box = mailbox.mbox(tmp_path / "read", create=False)
    return [(one.get_from(), message_from_bytes(one.as_bytes(), policy=default)) for one in box]


def test_a_mailbox_is_cleaned_message_by_message(tmp_path):
    sender = f"From {VALUE} Mon Jan  1 00:00:00 2020\n"
    plain = "Subject: c\n\nhello\n>From here on it rains.\n"
    report, clean = sanitized(tmp_path, "a.mbox", FROM + message() + "\n" + sender + PAGE + FROM + plain, "--redact")
    assert (report["kind"], report["name"]) == ("mailbox", "a.mbox") and hidden(clean) == [], clean
    assert clean.endswith(("\n\n" + FROM + plain).encode())
    messages = read(tmp_path, clean)
    assert [one["Subject"] for _, one in messages] == ["a", "b", "c"]
    assert messages[1][0] == "<EMAIL_ADDRESS> Mon Jan  1 00:00:00 2020"
    assert [part.get_content_type() for part in messages[0][1].iter_parts()] == ["text/plain", "text/html"]
    assert "<EMAIL_ADDRESS>" in messages[0][1].get_body(("plain",)).get_content()
    again, twice = sanitized(tmp_path, "b.mbox", clean, "--redact")
    assert twice == clean and again["objects"] == []


def test_several_messages_are_not_called_one(tmp_path):
    report, clean = sanitized(tmp_path, "a.eml", FROM + message() + "\n" + FROM + PAGE)
    assert (report["kind"], report["name"]) == ("mailbox", "a.eml.mbox") and len(read(tmp_path, clean)) == 2


@pytest.mark.parametrize("before", ["\n", "", "hello\n"])
def test_no_program_finds_another_message_in_a_mailbox(tmp_path, before):
    hiding = f"Subject: a\nContent-Length: 3\n\nhi\n{before}From here\nX-A: b\nContent-Type: text/html\n\n<script>x</script>\n"
    _, clean = sanitized(tmp_path, "a.mbox", FROM + hiding)
    for _, one in read(tmp_path, clean):
        assert one.get_content_type() == "text/plain" or "<script>" not in one.get_content()
    assert b"Content-Length" not in clean


def test_a_message_that_cannot_be_read_is_left_out_of_its_mailbox(tmp_path):
    torn = "Subject: a\nhello\n" + message()
    report, clean = sanitized(tmp_path, "a.mbox", FROM + torn + "\n" + FROM + PAGE)
    assert report["notes"]["dropped"] == 1 and [one["Subject"] for _, one in read(tmp_path, clean)] == ["b"]
    (left,) = [it for it in report["objects"] if it["action"] == "left_out"]
    assert left["reason"] == "broken" and left["where"]["part"] == "message 1"


@pytest.mark.parametrize("name, before", [(name, before) for name, before in FOUND if name != "a.jpg"])
def test_mail_within_mail_and_archives(tmp_path, name, before):
    inner = (before + message()).encode()
    outer = EmailMessage()
    outer["Subject"] = "x"
    outer.set_content("see the file")
    outer.add_attachment(inner, maintype="application", subtype="octet-stream", filename=name)
    report, clean = sanitized(tmp_path, "o.eml", outer.as_bytes(), "--keep-attachments", "--keep-links", "--redact")
    for file in message_from_bytes(clean, policy=default).iter_attachments():
        content = file.get_content()
        assert hidden(content) == [], content
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, inner)
        archive.writestr("junk.eml", "hello\n" + message())
    _, clean = sanitized(tmp_path, "o.zip", packed.getvalue(), "--redact")
    with zipfile.ZipFile(io.BytesIO(clean)) as archive:
        (kept,) = archive.namelist()
        assert kept.startswith(name) and hidden(archive.read(kept)) == []


@pytest.mark.parametrize("before", ["", "\n", "\ufeff", FROM, ">From x\n"])
@pytest.mark.parametrize("kind", ["mixed", "digest"])
def test_messages_within_messages_are_found_the_same_way(tmp_path, before, kind):
    # Of a digest, that is what a part is.
    head = "Content-Type: message/rfc822\n" if kind == "mixed" else ""
    outer = f"From: a\nSubject: x\nContent-Type: multipart/{kind}; boundary=o\n\n--o\n{head}\n{before}{message()}\n--o--\n"
    report, clean = sanitized(tmp_path, "o.eml", outer, "--redact")
    assert hidden(clean) == [] and report["cdr"]["file_attachments_removed"] == 1, clean
    refused, _ = sanitized(tmp_path, "o.eml", outer.replace("From: a@b.example\n", "hello\n"))
    assert refused["reason"] == "broken"


def shape(*properties):
    inner = "".join("{\\sp{\\sn %s}{\\sv %s}}" % it for it in properties)
    return "{\\rtf1 x{\\shp{\\*\\shpinst{\\sp{\\sn shapeType}{\\sv 75}}%s}}}" % inner


UNC = "\\\\\\\\evil.example\\\\s\\\\x.png"


@pytest.mark.parametrize("named, flags", [("pibName", "pibFlags"), ("fillBlipName", "fillBlipFlags"), ("lineFillBlipName", "lineFillBlipFlags")])
@pytest.mark.parametrize("target", [UNC, "http://evil.example/x.png"])
def test_a_picture_that_a_shape_loads_goes(tmp_path, named, flags, target):
    report, clean = sanitized(tmp_path, "a.rtf", shape((named, target), (flags, 14), ("wzName", "Box")))
    assert b"evil" not in clean and named.encode() not in clean and b"wzName" in clean and b"shapeType" in clean
    assert report["cdr"]["interactive_contents_removed"] == 2 and report["objects"][0]["what"] == "reference"
    _, kept = sanitized(tmp_path, "a.rtf", shape((named, UNC), (flags, 14)), "--keep-interactive", "--keep-links")
    assert b"evil" in kept


@pytest.mark.parametrize(
    "group",
    [
        "{\\sp{\\sn pihlShape}{\\sv {\\*\\hl{\\hlfr x}{\\hlsrc http://evil.example}}}}",
        "{\\*\\hlinksrc http://evil.example}{\\hlinkfr evil}{\\hlinkloc evil}",
        "{\\*\\oleclsid evil}",
    ],
)
def test_links_of_shapes_and_classes_of_objects_go(tmp_path, group):
    report, clean = sanitized(tmp_path, "a.rtf", "{\\rtf1 a%sb}" % group)
    assert b"evil" not in clean and report["cdr"]["interactive_contents_removed"] >= 1


def test_a_variable_of_rich_text_and_its_name_are_two_texts(tmp_path):
    names = "{\\*\\docvar {name}{%s}}{\\*\\docvar {mail}{%s}}{\\*\\docvar {%s}{x}}" % (CARD, VALUE, VALUE)
    _, clean = sanitized(tmp_path, "a.rtf", "{\\rtf1%s{\\*\\revtbl{%s;}{Unknown;}}x}" % (names, VALUE), "--redact")
    assert CARD.encode() not in clean and b"jane" not in clean
    assert all(kept in clean for kept in (b"{name}{", b"{mail}{", b"{x}", b"Unknown;")), clean
