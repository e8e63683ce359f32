"""What a body is called and what it is: labels that are wrong, missing or doubled, containers that carry more than a body,
and lines of event streams that are no data. Whatever it is called, no value passes; and what can be read comes back."""

import gzip
import http.client
import json
import socketserver
import struct
import threading
import urllib.parse
import zlib

import hpack
import pytest
from gateway import CONFIG, PATIENCE, Answer, Gateway
from http2 import ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, block, frame, settings

MAIL = "jane.doe@harbour-post.com"
CARD = "4111 1111 1111 1111"
TEXT = "write to %s, card %s" % (MAIL, CARD)
HIDDEN = TEXT.replace(MAIL, "*" * len(MAIL)).replace(CARD, "*" * len(CARD))


def escaped(text):
    return "".join("\\u%04x" % ord(c) if c in "@1" else c for c in text)


def percent(text):
    return "".join("%%%02x" % ord(c) if c in "@1" else urllib.parse.quote_plus(c) for c in text)


def send(gateway, path, body, kinds=(), method="POST", **headers):
    """As `Gateway.call`, with any number of content types."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30 * PATIENCE)
    try:
        connection.putrequest(method, path)
        for kind in kinds:
            connection.putheader("content-type", kind)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


# How a body can be called. No header, and two of them, say nothing.
KINDS = [
    ["application/json"],
    ["Application/JSON ; Charset=\"UTF-8\" ; odd"],
    ["application/json; charset=utf8"],
    ["application/json;charset=latin1"],
    ["application/json; charset="],
    ["application/vnd.api+json"],
    ["application/json-patch+json"],
    ["text/json"],
    ["text/plain"],
    ["TEXT/Plain; charset=us-ascii"],
    ["text/html"],
    ["text/event-stream"],
    ["application/xml"],
    ["application/atom+xml"],
    ["application/x-www-form-urlencoded"],
    ["application/octet-stream"],
    ["multipart/form-data; boundary=x"],
    ["image/png"],
    ["application/pdf"],
    ["nonsense"],
    [""],
    [],
    ["application/json", "text/plain"],
    ["text/plain", "application/json"],
    ["text/plain", "image/png"],
    ["application/json, text/plain"],
]

# Charsets in which an @ is written otherwise than in ASCII, or that nobody knows.
FOREIGN = ["utf-16", "UTF-16LE", "utf-32", "utf-7", "cp037", "iso-2022-jp", "klingon"]

# What a body can be, by how it spells its text, with a way to read it.
DOCUMENT = '{"note":"%s"}' % escaped(TEXT)
BODIES = {
    "json": (DOCUMENT, lambda body: json.loads(body)["note"]),
    "json, indented": ("\r\n\t" + DOCUMENT.replace(":", " :\n ", 1), lambda body: json.loads(body)["note"]),
    "json, bom": ("\ufeff" + DOCUMENT, lambda body: json.loads(body.decode("utf-8-sig"))["note"]),
    "json, array": ("[%s]" % DOCUMENT, lambda body: json.loads(body)[0]["note"]),
    "ndjson": ('{"n":1}\n%s\n' % DOCUMENT, lambda body: json.loads(body.splitlines()[1])["note"]),
    "events": ("event: a\ndata: %s\n\n" % DOCUMENT, lambda body: json.loads(body.split(b"data: ")[1])["note"]),
    "events, crlf": (
        ": hi\r\n\r\nid: 7\r\ndata: %s\r\n\r\n" % DOCUMENT,
        lambda body: json.loads(body.split(b"data: ")[1])["note"],
    ),
    "form": ("a=1&note=" + percent(TEXT), lambda body: urllib.parse.parse_qs(body.decode())["note"][0]),
}


def sent(mock):
    return mock.requests[-1].body


def passed(mock):
    """What of the values reached the upstream, in any spelling that matters here."""
    seen = b"".join(one.body for one in mock.requests)
    return [value for value in (MAIL, escaped(MAIL), percent(MAIL), CARD, escaped(CARD), percent(CARD)) if value.encode() in seen]


def name(kinds):
    return " + ".join(kinds) or "none"


# ── a known protocol ────────────────────────────────────────────────────────────────────────────────────────────────


def prompt(model="plain", **more):
    ask = {"model": model, "messages": [{"role": "user", "content": "-"}]} | more
    return json.dumps(ask).replace('"-"', '"EMAIL: %s | CARD: %s |"' % (escaped(MAIL), escaped(CARD)))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/mask/v1/chat/completions", "/lenient/v1/chat/completions"])
@pytest.mark.parametrize("kinds", KINDS, ids=name)
def test_a_known_protocol_speaks_json_whatever_it_says(gateway, mock, path, kinds):
    for body in (prompt(), "\ufeff\n" + prompt()):
        answer = send(gateway, path, body.encode(), kinds)
        assert answer.status == 200, answer.body
        said = json.loads(sent(mock).decode("utf-8-sig"))["messages"][0]["content"]
        assert MAIL not in said and CARD not in said and passed(mock) == []
        if path.startswith("/v1"):
            assert MAIL in answer.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/lenient/v1/chat/completions"])
@pytest.mark.parametrize("charset", FOREIGN)
def test_a_known_protocol_in_another_charset_is_refused(gateway, mock, path, charset):
    for kinds in (["application/json; charset=" + charset], ["text/plain;Charset='%s'" % charset, "application/json"]):
        answer = send(gateway, path, prompt().encode(), kinds)
        assert answer.status == 415 and not mock.requests
        error = answer.json()["error"]
        assert error["type"] == "invalid_request_error" and "UTF-8" in error["message"]


WIDE = ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le", "utf-32-be", "utf-32"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/lenient/v1/chat/completions"])
@pytest.mark.parametrize("charset", WIDE)
@pytest.mark.parametrize("kinds", [["application/json"], ["text/plain"], []], ids=name)
def test_a_known_protocol_is_utf8(gateway, mock, path, charset, kinds):
    answer = send(gateway, path, prompt().encode(charset), kinds)
    assert answer.status == 400 and not mock.requests
    assert "UTF-8" in answer.json()["error"]["message"]
    for body in (prompt() + "\0", prompt().replace("EMAIL", "EM\0AIL")):
        assert send(gateway, path, body.encode(), kinds).status == 400 and not mock.requests


@pytest.mark.parametrize("body", ["", "to " + MAIL, "a=" + MAIL, "--x\r\ncontent-type: text/plain\r\n\r\n" + MAIL, "{}{}"])
@pytest.mark.parametrize("kinds", [["application/json"], ["text/plain"], ["multipart/form-data; boundary=x"]], ids=name)
def test_a_known_protocol_takes_nothing_else(gateway, mock, body, kinds):
    for path in ("/v1/chat/completions", "/lenient/v1/chat/completions"):
        answer = send(gateway, path, body.encode(), kinds)
        assert (answer.status == 400 or not body) and passed(mock) == []


ANSWERS = ["none", "text/plain", "text/html", "application/xml", "application/octet-stream", "image/png", "text/event-stream"]


@pytest.mark.parametrize("kind", [*ANSWERS, "application/json", "application/json; charset=utf-16"])
@pytest.mark.parametrize("streamed", [False, True])
def test_answers_of_a_known_protocol_are_what_they_are(gateway, mock, kind, streamed):
    def said(path, model, **more):
        body = prompt(model + "&kind=" + urllib.parse.quote_plus(kind), stream=streamed, **more)
        answer = send(gateway, path, body.encode(), ["application/json"])
        assert answer.status == 200, answer.body
        whole = answer.body.decode()
        if not streamed:
            return whole, json.loads(whole)["choices"][0]["message"]["content"]
        events = [line[6:] for line in whole.splitlines() if line.startswith("data: {")]
        choices = [choice for event in events for choice in json.loads(event)["choices"]]
        return whole, "".join(choice["delta"].get("content") or "" for choice in choices)

    assert MAIL in said("/v1/chat/completions", "plain?step=3")[1]
    whole, text = said("/mask/v1/chat/completions", "plain?leak=1&step=3")
    assert "harbour-post" not in whole + text and "* today" not in text and "****" in text


def test_lines_of_a_stream_that_are_no_data(gateway, mock):
    """They are redacted like data, and not restored: an id that was would come back in a header."""
    body = prompt("plain?note=1&leak=1", stream=True).encode()
    whole = send(gateway, "/mask/v1/chat/completions", body, ["application/json"]).body.decode()
    assert "harbour-post" not in whole and "4111" not in whole and "536-90" not in whole
    assert ": note for ***" in whole and "\n: OPENROUTER PROCESSING\n\n" in whole and "\nid: ***" in whole
    restored = send(gateway, "/v1/chat/completions", prompt("plain?note=1", stream=True).encode(), ["application/json"])
    notes = [line for line in restored.body.decode().splitlines() if not line.startswith("data:")]
    assert ": OPENROUTER PROCESSING" in notes and MAIL not in "\n".join(notes) and MAIL.encode() in restored.body


# ── any other service ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("kinds", KINDS, ids=name)
def test_a_request_is_what_it_is(gateway, mock, kinds, what):
    body, read = BODIES[what]
    mock.canned["it"] = (200, "text/plain", b"ok", "", 0)
    packed = {"content_encoding": "gzip"}
    for path, coded, coding in (
        ("/generic/canned/it", body.encode(), {}),
        ("/restored/canned/it", gzip.compress(body.encode()), packed),
        ("/lenient/canned/it", gzip.compress(body.encode()), packed),
    ):
        answer = send(gateway, path, coded, kinds, **coding)
        assert answer.status == 200, answer.body
        said = read(sent(mock))
        assert passed(mock) == [] and MAIL not in said and CARD not in said
        assert path.startswith("/restored") or said == HIDDEN


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("kinds", KINDS, ids=name)
def test_an_answer_is_what_it_is(gateway, mock, kinds, what):
    body, read = BODIES[what]
    # A form that does not say that it is one is text.
    if what == "form" and kinds != ["application/x-www-form-urlencoded"]:
        return
    mock.canned["it"] = (200, kinds, body.encode(), "", 1)
    # What is called a picture is believed where nothing is known of a service.
    opaque = any(kind.startswith(("image/", "multipart/", "application/pdf")) for kind in kinds) and len(kinds) == 1
    for path in ("/generic/canned/it", "/lenient/canned/it"):
        answer = send(gateway, path, b"", method="GET")
        if opaque:
            assert answer.status == (502 if path.startswith("/generic") else 200)
        elif kinds == ["application/octet-stream"] and path.startswith("/generic"):
            assert answer.status == 502
        else:
            assert answer.status == 200 and read(answer.body) == HIDDEN


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("kinds", KINDS, ids=name)
def test_what_was_encrypted_comes_back(gateway, mock, kinds, what):
    body, read = BODIES[what]
    if len(kinds) == 1 and kinds[0].startswith(("image/", "multipart/", "application/pdf")):
        return
    if what == "form" and kinds != ["application/x-www-form-urlencoded"]:
        return
    send(gateway, "/restored/canned/none", body.encode(), ["application/x-www-form-urlencoded"] if what == "form" else [])
    surrogates = sent(mock)
    # The upstream says again what it got, and calls it something.
    mock.canned["it"] = (200, kinds, surrogates, "", 1)
    answer = send(gateway, "/restored/canned/it", body.encode(), ["application/x-www-form-urlencoded"] if what == "form" else [])
    assert read(answer.body) == TEXT


@pytest.mark.parametrize("charset", FOREIGN)
def test_other_charsets_are_refused_or_pass_unscanned(gateway, mock, charset):
    kinds = ["text/plain; charset=" + charset]
    assert send(gateway, "/generic/reflect", b"to nobody", kinds).status == 415 and not mock.requests
    answer = send(gateway, "/lenient/reflect", b"to nobody", kinds)
    assert (answer.status, answer.body) == (200, b"to nobody")


@pytest.mark.parametrize("charset", WIDE)
@pytest.mark.parametrize("kinds", [["application/json"], ["text/plain"], ["text/event-stream"], ["text/xml"]], ids=name)
@pytest.mark.parametrize("path", ["/generic/reflect", "/restored/reflect", "/lenient/reflect"])
def test_wide_characters_are_refused(gateway, mock, path, kinds, charset):
    answer = send(gateway, path, DOCUMENT.encode(charset), kinds)
    assert answer.status == 400 and answer.json()["status"] == "BadRequest"
    assert MAIL.encode(charset) not in b"".join(one.raw for one in mock.requests)


def test_nul_is_refused_wherever_it_comes(gateway, mock):
    long = b"x" * 5000
    for path in ("/generic/reflect", "/restored/reflect", "/lenient/reflect"):
        for body in (b"a\0b", long + b"\0", b'{"a":"\0"}'):
            assert send(gateway, path, body, ["text/plain"]).status == 400
    mock.canned["it"] = (200, "text/plain", MAIL.encode("utf-16-le"), "", 0)
    assert b"j\0a\0n" not in broken(lambda: send(gateway, "/generic/canned/it", b"", method="GET"))


def broken(call):
    """What came of an answer that may break off."""
    try:
        return call().body
    except http.client.HTTPException as error:
        return getattr(error, "partial", b"")


PACKED = {"gzip": gzip.compress(TEXT.encode()), "skipped": b"\x5a\x2a\x4d\x18\x04\0\0\0jane"}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("path", ["/generic/reflect", "/restored/reflect", "/lenient/reflect", "/v1/chat/completions"])
def test_what_is_compressed_must_say_so(gateway, mock, path, packed):
    body = PACKED[packed]
    for kinds in (["application/json"], ["text/plain"]):
        assert send(gateway, path, body, kinds).status == 400
        assert send(gateway, path, gzip.compress(body), kinds, content_encoding="gzip").status == 400
    assert body not in b"".join(one.raw for one in mock.requests)


@pytest.mark.parametrize("path", ["/generic/canned/none", "/restored/canned/none"])
def test_multipart_must_say_so(gateway, mock, path):
    part = '--x\r\ncontent-disposition: form-data; name="a"\r\ncontent-type: application/json\r\n\r\n%s\r\n--x--' % DOCUMENT
    for kinds, status in ((["text/plain"], 400), (["multipart/form-data; boundary=x"], 404), ([], 415)):
        assert send(gateway, path, part.encode(), kinds).status == status
        assert passed(mock) == []


def test_codings_that_are_odd(gateway, mock):
    twice = gzip.compress(zlib.compress(TEXT.encode()))
    raw = zlib.compressobj(9, zlib.DEFLATED, -15)
    raw = raw.compress(TEXT.encode()) + raw.flush()
    rows = [
        ("identity", TEXT.encode(), 200), ("", TEXT.encode(), 200), ("X-GZIP", gzip.compress(TEXT.encode()), 200),
        ("deflate, gzip", twice, 200), ("deflate,identity , gzip", twice, 200), ("deflate", raw, 200),
        ("deflate", zlib.compress(TEXT.encode()), 200), ("gzip, gzip, gzip", twice, 415), ("compress", twice, 415),
        ("aes128gcm", TEXT.encode(), 415), ("dcb", TEXT.encode(), 415), ("gzip;q=1", twice, 415), ("\u00e9", twice, 415),
        ("gzip", gzip.compress(TEXT.encode()) + b"\n" + MAIL.encode(), 400), ("gzip", TEXT.encode(), 400),
    ]  # fmt: skip
    for path in ("/generic/canned/it", "/restored/canned/it"):
        for coding, body, status in rows:
            mock.forget()
            mock.canned["it"] = (200, "text/plain", b"ok", "", 0)
            answer = send(gateway, path, body, ["text/plain"], content_encoding=coding.encode("latin1"))
            assert answer.status in ((200,) if status == 200 else (status, 502)), (path, coding, answer.body)
            if status == 200:
                data = mock.requests[-1].raw
                for one in reversed([one.strip().lower() for one in coding.split(",")]):
                    data = zlib.decompress(data, 47) if one in ("x-gzip", "gzip", "deflate") else data
                assert MAIL.encode() not in data and (path.startswith("/restored") or data == HIDDEN.encode())
            assert MAIL.encode() not in b"".join(one.raw for one in mock.requests)


def named_gzip(body):
    """A gzip member with an extra field, a name and a comment (RFC 1952 section 2.3)."""
    extra = b"pc" + struct.pack("<H", len(MAIL)) + MAIL.encode()
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = b"\x1f\x8b\x08\x1c\0\0\0\0\0\xff" + struct.pack("<H", len(extra)) + extra
    head += MAIL.encode() + b"\0" + b"by " + MAIL.encode() + b"\0"
    return head + packed.compress(body) + packed.flush() + struct.pack("<II", zlib.crc32(body), len(body))


def skipped_zstd(body):
    """A frame of one raw block between frames that are skipped (RFC 8878 sections 3.1.1 and 3.1.2)."""
    skipped = b"\x5b\x2a\x4d\x18" + struct.pack("<I", len(MAIL)) + MAIL.encode()
    block = struct.pack("<I", 1 | len(body) << 3)[:3] + body
    return skipped + b"\x28\xb5\x2f\xfd\x20" + bytes([len(body)]) + block + skipped


def noted_brotli(body):
    """An uncompressed meta-block behind one that is metadata (RFC 7932 section 9.2)."""
    note = MAIL.encode()
    head = 0 | 0 << 1 | 3 << 2 | 0 << 4 | 1 << 5 | (len(note) - 1) << 7
    block = 0 | 0 << 1 | (len(body) - 1) << 3 | 1 << 19
    return head.to_bytes(2, "little") + note + block.to_bytes(3, "little") + body + b"\x03"


CONTAINERS = {"gzip": named_gzip, "zstd": skipped_zstd, "br": noted_brotli}


@pytest.mark.parametrize("coding", CONTAINERS)
def test_what_a_container_says_besides_its_body_stays_behind(gateway, mock, coding):
    """Also where nothing in the body itself was found."""
    for text, path in (("to nobody", "/generic"), ("to nobody", "/restored"), (TEXT, "/generic"), (TEXT, "/restored")):
        body = CONTAINERS[coding](text.encode())
        mock.canned["it"] = (200, "text/plain", b"ok", "", 0)
        answer = send(gateway, path + "/canned/it", body, ["text/plain"], content_encoding=coding)
        assert answer.status == 200 and MAIL.encode() not in mock.requests[-1].raw
        mock.canned["it"] = (200, "text/plain", body, coding, 0)
        answer = send(gateway, "/generic/canned/it", b"", method="GET", accept_encoding=coding)
        assert answer.status == 200 and MAIL.encode() not in answer.body
    body = CONTAINERS[coding](prompt().replace(escaped(CARD), "").replace(escaped(MAIL), "-").encode())
    answer = send(gateway, "/v1/chat/completions", body, ["application/json"], content_encoding=coding)
    assert MAIL.encode() not in mock.requests[-1].raw if mock.requests else answer.status == 400


def test_lines_of_any_stream_that_are_no_data(gateway, mock):
    lines = ": for {0}\n\nid: {0}\nevent: {0}\nretry: 10\nx-{0}: {0}\n{0}\n: {1}\ndata: x\n\nid: {0}\n\n:{0}".format(
        MAIL, '{"password":"hunter2!","a":"%s"}' % escaped(MAIL)
    )
    quiet = ":\n\n: ping\r\n\r\n: OPENROUTER PROCESSING\n\nevent: content_block_delta\nid: 42\nretry: 100\ndata: {}\n\n"
    for text in (lines, lines.replace("\n", "\r\n"), lines.replace("\n", "\r")):
        for path in ("/generic/reflect", "/restored/reflect"):
            answer = send(gateway, path, text.encode(), ["text/event-stream"])
            assert passed(mock) == [] and b"hunter2" not in sent(mock), sent(mock)
            assert sent(mock).count(b"data: x") == 1 and b"retry: 10" in sent(mock)
            mock.canned["it"] = (200, "text/event-stream", text.encode(), "", 3)
            answer = send(gateway, "/generic/canned/it", b"", method="GET")
            assert MAIL.encode() not in answer.body and escaped(MAIL).encode() not in answer.body
    for path in ("/generic/reflect", "/restored/reflect", "/lenient/reflect"):
        assert send(gateway, path, quiet.encode(), ["text/event-stream"]).body == quiet.encode()
        assert sent(mock) == quiet.encode()


# What only looks like something else, and passes as it came; labels as they are.
INNOCENT = [
    (["text/plain"], "[section]\nname = a\n"),
    (["text/plain"], '"Yes," she said. {name} {"a" = 1}'),
    (["text/plain"], "id: 5\nname: x\n\ndata: y\n"),
    (["text/plain"], "data:\n  key: value\n"),
    (["text/plain"], "a=b&c=d e%20f"),
    (["text/plain"], "--\nRegards"),
    (["text/plain"], "---\ntitle: x\n---\n"),
    (["text/markdown"], "{#anchor}\n# Title"),
    (["text/plain"], "x"),
    (["text/plain"], ""),
    (["application/json"], '\ufeff{ "a" :\t[1e-7, "\\u00E9\\/"] }\r\n'),
    (["application/json"], '{"a":1}\n{"b":2}\n\n'),
    (["application/x-www-form-urlencoded"], "a=%e9&b=+c%20d&&e&=f"),
    (["application/octet-stream"], '{"a":"\\u00e9"}'),
    ([], "[1, 2]"),
]


@pytest.mark.parametrize("kinds, body", INNOCENT)
def test_what_only_looks_like_something_else_passes(gateway, mock, kinds, body):
    for path in ("/generic/canned/it", "/restored/canned/it", "/lenient/canned/it"):
        mock.canned["it"] = (200, "text/plain", b"ok", "", 0)
        assert send(gateway, path, body.encode(), kinds).status == 200
        assert sent(mock) == body.encode()


def test_bytes_pass_as_they_are_where_that_is_wanted(gateway, mock):
    """With their length, at any size; refused elsewhere before anybody is asked."""
    for body in (bytes(range(256)) * 20, b"\x89PNG\r\n\x1a\n" + bytes(3 << 20), b"MZ\x90\0"):
        for kinds in (["image/png"], ["application/octet-stream"], ["multipart/mixed; boundary=x"], []):
            assert send(gateway, "/lenient/canned/none", body, kinds).status == 404
            came = {field.lower(): value for field, value in mock.requests[-1].headers}
            assert mock.requests[-1].raw == body and came.get("content-length") == str(len(body))
    told = ['"request_scan":"not_scanned_content_type"', '"route":"lenient"']
    gateway.wait_for(lambda: [line for line in gateway.log if all(part in line for part in told)])
    mock.forget()
    for kinds in (["image/png"], ["application/octet-stream"], []):
        assert send(gateway, "/generic/reflect", b"MZ\x90\0", kinds).status == 415
        assert send(gateway, "/restored/reflect", b"MZ\x90\0", kinds).status == 415
    assert not mock.requests
    # Leave to send is given before the body is asked what it is.
    waits = {"expect": "100-continue"}
    assert send(gateway, "/generic/canned/none", DOCUMENT.encode(), [], **waits).status == 404
    assert passed(mock) == []


# ── behind the body ─────────────────────────────────────────────────────────────────────────────────────────────────


class Trailing(socketserver.StreamRequestHandler):
    """An HTTP/2 upstream: whatever is asked, a body and a field behind it."""

    def handle(self):
        self.rfile.read(len(PREFACE))
        self.wfile.write(settings())
        encoder = hpack.Encoder()
        while head := self.rfile.read(9):
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            self.rfile.read(int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                self.wfile.write(frame(SETTINGS, ACK))
            if kind in (HEADERS, DATA) and flags & END_STREAM:
                fields = [(":status", "200"), ("content-type", self.server.kind)]
                self.wfile.write(frame(HEADERS, END_HEADERS, stream, encoder.encode(fields)))
                self.wfile.write(frame(DATA, 0, stream, b"for " + MAIL.encode()))
                self.wfile.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, block([("x-note", MAIL)])))


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True


def test_trailers_of_what_is_looked_at_do_not_go_on():
    from http2 import Connection

    with Threads(("127.0.0.1", 0), Trailing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = CONFIG.replace('peers = ["{upstream}"]\nheaders', 'peers = ["{upstream}"]\nhttp = "2"\nheaders', 1)
        with Gateway("http://127.0.0.1:%d" % server.server_address[1], config=config) as gateway:
            for kind, path, seen in (("text/plain", "/generic/x", False), ("image/png", "/lenient/x", True)):
                server.kind = kind
                with Connection(gateway.h2c) as connection:
                    stream = connection.request(path=path)
                    got = data = b""
                    while one := connection.until(HEADERS, DATA, stream=stream):
                        data += one.payload if one.kind == DATA else b""
                        got += one.payload if one.kind == DATA else str(one.headers).encode()
                        if one.flags & END_STREAM:
                            break
                    assert got.count(MAIL.encode()) == (2 if seen else 0), got
                    # What was held back until the end of the body has come, too.
                    assert seen or data == b"for " + b"*" * len(MAIL), data
        server.shutdown()
