"""Multipart bodies: every part by what it holds, one value and one surrogate over all of them, and back in the answer."""

import base64
import email.parser
import email.policy
import hashlib
import io
import json
import re

import openai
import pytest
from gateway import CONFIG, Gateway, multipart

MAIL = "jane.doe@harbour-post.com"
CARD = "4111 1111 1111 1111"
TEXT = "Write to %s, card %s." % (MAIL, CARD)
KEPT = "Ticket 4711, version 2.0.17."
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + hashlib.sha256(b"png").digest() * 9 + MAIL.encode()
WAV = b"RIFF\x24\x08\0\0WAVEfmt " + hashlib.sha256(b"wav").digest() * 60 + CARD.encode()
PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n" + hashlib.sha256(b"pdf").digest() * 9

CODED = base64.b64encode(TEXT.encode()).decode()

ROUTES = """
[[routes]]
name = "strict"
path = "/strict"
upstream = "mock"
auth = "none"
redact = {{ media = "refuse" }}

[[routes]]
name = "open"
path = "/open"
upstream = "mock"
auth = "none"
redact = {{ files = "pass" }}
"""


@pytest.fixture(scope="module")
def files(upstream):
    with Gateway(upstream.url, config=CONFIG + ROUTES) as gateway:
        yield gateway


def body(*parts, edge="edge"):
    """(head, content) of each part."""
    whole = b"".join(b"--%s\r\n%s\r\n\r\n%s\r\n" % (edge.encode(), head.encode(), content) for head, content in parts)
    return whole + b"--%s--\r\n" % edge.encode()


def field(name, content):
    return 'Content-Disposition: form-data; name="%s"' % name, content.encode()


def file(name, content, kind="text/plain", field="file"):
    head = 'Content-Disposition: form-data; name="%s"; filename="%s"' % (field, name)
    return head + ("\r\nContent-Type: " + kind if kind else ""), content.encode() if isinstance(content, str) else content


def send(gateway, path, whole, kind="multipart/form-data; boundary=edge"):
    return gateway.call("POST", path, whole, {"content-type": kind})


def parts(mock, edge="edge"):
    """What reached the upstream: (head, content) of each part; the length that was said is right."""
    request = mock.requests[-1]
    came = {name.lower(): value for name, value in request.headers}
    assert int(came["content-length"]) == len(request.raw)
    pieces = request.body.split(b"--" + edge.encode())
    assert pieces[0] == b"" and pieces[-1] == b"--\r\n"
    return [tuple(piece[2:-2].split(b"\r\n\r\n", 1)) for piece in pieces[1:-1]]


def test_every_part_by_what_it_holds(files, mock):
    whole = body(
        field("purpose", "assistants"),
        field("note", TEXT + " " + KEPT),
        field("meta", json.dumps({"owner": MAIL, "n": 1})),
        file("notes.txt", TEXT + "\r\n" + KEPT),
        file("people.csv", "name,mail\nJane,%s\n" % MAIL, "text/csv"),
        file("page.html", "<p>%s</p>" % MAIL, "text/html"),
        file("data.json", json.dumps({"a": MAIL.replace("@", "\u0040"), "n": 4711}), "application/json"),
        file("data", '{"a": "jane.doe\\u0040harbour-post.com"}', "application/octet-stream"),
        file("image.txt", "GIF89a of " + MAIL, "image/gif"),
        file("main.py", 'MAIL = "%s"\n' % MAIL, ""),
        file("a.png", PNG, "image/png"),
        file("call.wav", WAV, ""),
    )
    answer = send(files, "/restored/reflect", whole)
    assert answer.status == 200, answer.body
    came = parts(mock)
    seen = b"".join(content for head, content in came if b"png" not in head and b"wav" not in head)
    assert MAIL.encode() not in seen and CARD.encode() not in seen and b"jane.doe" not in seen
    heads = [head for head, _ in came]
    assert heads == [head for head, _ in parts_of(whole)]
    assert came[0][1] == b"assistants" and KEPT.encode() in came[1][1] and KEPT.encode() in came[3][1]
    surrogate = json.loads(came[2][1])["owner"].encode()
    assert json.loads(came[6][1])["n"] == 4711 and json.loads(came[7][1])["a"].encode() == surrogate
    assert all(surrogate in content for _, content in came[1:10]), "one value, two surrogates"
    assert came[10][1] == PNG and came[11][1] == WAV, "media pass byte for byte"
    told = json.loads(files.wait_for(lambda: [one for one in files.log if '"route":"restored"' in one])[-1])
    assert (told["request_scan"], told["request_unscanned"]) == ("scanned_in_part", 2)


def parts_of(whole):
    return [tuple(piece[2:-2].split(b"\r\n\r\n", 1)) for piece in whole.split(b"--edge")[1:-1]]


@pytest.mark.parametrize("path", ["/generic", "/restored", "/lenient"])
def test_what_holds_no_value_leaves_as_it_came(files, mock, path):
    odd = 'Content-Disposition:form-data;name=a ;  filename*=utf-8\'\'%C3%A9.txt\r\nX-Other: \t b'
    whole = body((odd, b"\r\n--edg\r\n -- x \xff\n"), file("a.png", PNG, "image/png"), field("b", ""), field("c", '{"a": [1,2 ]}'))
    assert send(files, path + "/canned/none", whole).status == 404
    assert mock.requests[-1].raw == whole


def test_heads_have_values_too(files, mock):
    whole = body(
        file("notes for %s.txt" % MAIL, "nothing"),
        field("of %s" % MAIL, "nothing"),
        ("Content-Disposition: form-data; name=f; filename*=UTF-8''jane.doe%40harbour-post.com", b"nothing"),
        ("Content-Disposition: form-data; name=g\r\nX-Owner: " + MAIL, b"nothing"),
    )
    for path in ("/restored", "/mask"):
        assert send(files, path + "/canned/none", whole).status == 404
        assert MAIL.encode() not in mock.requests[-1].body and b"harbour" not in mock.requests[-1].body
        heads = [head.decode() for head, _ in parts(mock)]
        read = [email.parser.HeaderParser(policy=email.policy.default).parsestr(head) for head in heads]
        assert [one.get_param("name", header="content-disposition") is None for one in read] == [False] * 4
        assert read[0].get_filename().startswith("notes for ") and read[0].get_filename().endswith(".txt")


def test_lengths_that_parts_say_stay_right(files, mock):
    """OkHttp and Spring write them."""
    named = lambda name, content: ("%s\r\nContent-Length: %d\r\nX-Note: %s" % (field(name, "")[0], len(content), MAIL), content)
    whole = body(named("a", b"Ask %s." % MAIL.encode()), named("b", b"nothing"), named("c", PNG))
    for path in ("/restored", "/mask"):
        assert send(files, path + "/canned/none", whole).status == 404
        for head, content in parts(mock):
            assert MAIL.encode() not in head and (content == PNG or MAIL.encode() not in content)
            assert b"Content-Length: %d\r\n" % len(content) in head


def test_names_of_fields_are_context(files, mock):
    assert send(files, "/restored/reflect", body(field("password", "correct-Horse-7battery"))).status == 200
    assert b"correct-Horse" not in mock.requests[-1].body


def test_what_is_replaced_comes_back(files, mock):
    """The upstream says again what it got, as parts and as text."""
    answer = send(files, "/restored/canned/none", body(field("note", TEXT)))
    said = parts(mock)[0][1]
    assert MAIL.encode() not in said
    for kind in ("text/plain", "application/json"):
        mock.canned["it"] = (200, kind, json.dumps({"said": said.decode()}).encode(), "", 1)
        answer = send(files, "/restored/canned/it", body(field("note", TEXT)))
        assert answer.json() == {"said": TEXT}
    send(files, "/mask/canned/none", body(field("note", TEXT)))
    assert parts(mock)[0][1].decode() == TEXT.replace(MAIL, "*" * len(MAIL)).replace(CARD, "*" * len(CARD))


BAD = [
    ("text before", b"note\r\n" + body(field("a", TEXT))),
    ("text behind", body(field("a", TEXT)) + TEXT.encode()),
    ("no end", body(field("a", TEXT))[:-8]),
    ("line feeds", body(field("a", TEXT)).replace(b"\r\n", b"\n")),
    ("a hidden part", body(field("a", "x\n--edge\nContent-Disposition: form-data; name=b\n\n" + TEXT))),
    ("nested", body(("Content-Type: multipart/mixed; boundary=in", b"--in\r\n\r\n" + TEXT.encode() + b"\r\n--in--"))),
    ("encoded", body(("Content-Transfer-Encoding: base64", base64.b64encode(TEXT.encode())))),
    ("nested behind a comment", body(("Content-Type: (a) multipart/mixed; boundary=in", b"--in\r\n\r\n" + TEXT.encode() + b"\r\n--in--"))),
    ("an encoded word", body(('Content-Disposition: form-data; name=f; filename="=?utf-8?B?%s?="' % CODED, b"x"))),
    ("an encoded word in a line", body(("Content-Disposition: form-data; name=f\r\nSubject: =?utf-8?Q?jane=40x?=", b"x"))),
    ("a long head", body(("X: " + "x" * 20000, TEXT.encode()))),
    ("another length", body(("Content-Disposition: form-data; name=f\r\nContent-Length: 3", TEXT.encode()))),
    ("no length", body(("Content-Disposition: form-data; name=f\r\nContent-Length: +63", TEXT.encode()))),
    ("many lines", body(("\r\n".join("X%c%c: a" % (97 + at // 26, 97 + at % 26) for at in range(65)), TEXT.encode()))),
    ("many parameters", body(("Content-Disposition: form-data" + "".join("; %c%c=a" % (97 + at // 26, 97 + at % 26) for at in range(33)), TEXT.encode()))),
    ("many parts", body(*[field("a", "b")] * 1100)),
    ("two names", body(('Content-Disposition: form-data; name="a"; name="b"', TEXT.encode()))),
]


@pytest.mark.parametrize("whole", [whole for _, whole in BAD], ids=[name for name, _ in BAD])
@pytest.mark.parametrize("path", ["/generic/reflect", "/restored/reflect", "/v1/audio/transcriptions"])
def test_what_servers_may_read_differently_is_refused(files, mock, path, whole):
    path = path if path.startswith(("/generic", "/restored")) else "/open" + path
    assert send(files, path, whole).status in (400, 413, 415)
    assert not mock.requests


def test_a_boundary_is_one(files, mock):
    for kind in ("multipart/form-data", "multipart/form-data; boundary=a; boundary=edge", "multipart/form-data; boundary=other"):
        assert send(files, "/restored/reflect", body(field("a", TEXT)), kind).status in (400, 415)
    assert not mock.requests


UNREAD = [("a.pdf", PDF, "application/pdf"), ("a.txt", PDF, "text/plain"), ("a.zip", b"PK\x03\x04" + bytes(40), "application/zip"),
          ("a.mbox", "From a Sat Jan  3\nMIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n" + CODED, ""),
          ("a.mime", "--in\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n--in--" % CODED, ""),
          ("b.txt", "jane.doe+AEA-harbour-post.com", "text/plain; charset=utf-7"),
          ("a.bin", bytes(range(256)), ""), ("a.eml", "From: a@b.org\r\nMIME-Version: 1.0\r\n\r\n=4A", "message/rfc822")]  # fmt: skip


@pytest.mark.parametrize("name, data, kind", UNREAD, ids=[name for name, _, _ in UNREAD])
def test_what_cannot_be_read_is_refused_by_its_place(files, mock, name, data, kind):
    whole = body(field("purpose", "x"), file(name, data, kind))
    for path in ("/restored/reflect", "/generic/reflect", "/strict/reflect"):
        answer = send(files, path, whole)
        assert answer.status == 415 and not mock.requests
        assert b"part 2" in answer.body and b"files = " in answer.body and name.encode() not in answer.body
    for path in ("/open/reflect", "/lenient/reflect"):
        assert send(files, path, whole).status == 200
        assert mock.requests[-1].raw == whole


def test_media_may_be_refused(files, mock):
    for part in (file("a.png", PNG, "image/png"), file("a.wav", WAV, "audio/wav")):
        answer = send(files, "/strict/reflect", body(part))
        assert answer.status == 415 and b"part 1" in answer.body and b"media" in answer.body
    assert not mock.requests


def test_images_and_sound_pass_as_whole_bodies(files, mock):
    """Where both their type and their first bytes say so; at any size, since they are not collected."""
    large, coded = PNG + bytes(3 << 20), TEXT.encode() + b"\x80\0"
    media = ((large, "image/png"), (WAV, "audio/wav; codecs=audio/pcm"), (WAV, "application/octet-stream"))
    for path in ("/generic/canned/none", "/restored/canned/none"):
        for content, kind in media:
            assert files.call("POST", path, content, {"content-type": kind}).status == 404
            assert mock.requests[-1].raw == content
        mock.forget()
        for content, kind in ((coded, "image/png"), (PDF, "audio/wav"), (PNG, "application/pdf")):
            assert files.call("POST", path, content, {"content-type": kind}).status in (400, 415)
            assert not mock.requests
    for content, kind in media:
        answer = files.call("POST", "/strict/canned/none", content, {"content-type": kind})
        assert answer.status == 415 and b"media" in answer.body and not mock.requests


def test_an_error_is_in_the_shape_of_the_protocol(files, mock):
    answer = send(files, "/open/v1/audio/transcriptions", body(field("a", TEXT))[:-8])
    assert answer.status == 400 and answer.json()["error"]["type"] == "invalid_request_error"


def lines(*contents):
    one = lambda n, content: {"custom_id": "job-%d" % n, "method": "POST", "url": "/v1/chat/completions", "body": {
        "model": "gpt-9", "seed": 4111111111111111, "messages": [{"role": "user", "content": content}]}}  # fmt: skip
    return "".join(json.dumps(one(n, content), ensure_ascii=False) + "\n" for n, content in enumerate(contents))


def test_a_batch_is_redacted_by_the_protocol_of_each_line(files, mock):
    """3 MB by the client of the provider, with values at both ends."""
    client = openai.OpenAI(api_key="sk-x", base_url="http://127.0.0.1:%d/restored/v1" % files.port, max_retries=0)
    data = lines(TEXT, "caf\u00e9 " + TEXT) + lines(*["lorem ipsum " * 800] * 300) + lines(TEXT)
    with pytest.raises(openai.APIStatusError):
        client.files.create(file=("requests.jsonl", data.encode() * 0 + b"%PDF-1.7"), purpose="batch")
    for name, kind in (("requests.jsonl", None), ("requests", "application/jsonl"), ("one.jsonl", None)):
        text = lines(TEXT) if name == "one.jsonl" else data
        upload = (name, io.BytesIO(text.encode())) if kind is None else (name, io.BytesIO(text.encode()), kind)
        try:
            client.files.create(file=upload, purpose="batch")
        except openai.APIError:
            pass  # The mock knows no files.
        came = mock.requests[-1].body
        assert MAIL.encode() not in came and CARD.encode() not in came
        jobs = [json.loads(line) for line in re.findall(rb'\{"custom_id".*', came)]
        assert len(jobs) == len(text.splitlines())
        assert jobs[0]["custom_id"] == "job-0" and jobs[0]["body"]["seed"] == 4111111111111111
        said = {json.dumps(job["body"]["messages"]) for job in jobs if "lorem" not in json.dumps(job)}
        assert len({re.search(r"to (\S+@\S+),", one).group(1) for one in said}) == 1


def test_transcripts_come_back_in_every_form(files, mock):
    forms = [
        ("application/json", '{"text":"%s","duration":4.25}'),
        ("text/plain; charset=utf-8", "%s\n"),
        ("text/plain", "1\n00:00:00,000 --> 00:00:03,000\n%s\n"),
        ("application/x-subrip", "1\n00:00:00,000 --> 00:00:03,000\n%s\n"),
        ("text/vtt", "WEBVTT\n\n00:00.000 --> 00:03.000\n%s\n"),
    ]
    for kind, form in forms:
        mock.canned["none"] = (200, "text/plain", b"", "", 0)
        send(files, "/restored/canned/none", body(file("call.wav", WAV, "audio/wav"), field("prompt", TEXT)))
        prompt = parts(mock)[1][1].decode()
        mock.canned["it"] = (200, kind, (form % prompt).encode(), "", 1)
        answer = send(files, "/restored/canned/it", body(file("call.wav", WAV, "audio/wav"), field("prompt", TEXT)))
        assert answer.body.decode() == form % TEXT, kind
        assert parts(mock)[0][1] == WAV


def test_spoken_answers_pass_byte_for_byte(files, mock):
    mock.canned["it"] = (200, "audio/mpeg", b"\xff\xfb\x90" + WAV, "", 3)
    answer = files.call("POST", "/restored/canned/it", {"input": TEXT, "voice": "alloy"})
    assert answer.status == 200 and answer.body == b"\xff\xfb\x90" + WAV
    assert MAIL.encode() not in mock.requests[-1].body
    # Where answers are redacted, only what is said to be speech is believed to be sound.
    for path, status in (("/mask/canned/audio/speech", 200), ("/mask/canned/it", 502)):
        mock.canned["speech"] = mock.canned["it"]
        assert files.call("POST", path, {"input": TEXT}).status == status


def test_the_libraries_own_form_passes(files, mock):
    kind, whole = multipart({"note": TEXT}, "a.txt", TEXT.encode())
    assert send(files, "/restored/reflect", whole, kind).status == 200
    assert MAIL.encode() not in mock.requests[-1].body
