"""HTTP/2 as RFC 9113 has it where callers break it: a row a case, with the clause and what must come of it."""

import struct

import pytest
from http2 import (
    ACK, COMPRESSION_ERROR, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR,
    FRAME_SIZE_ERROR, GOAWAY, HEADERS, PADDED, PING, PREFACE, PRIORITISED, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE,
    RST_STREAM, SETTINGS, STREAM_CLOSED, WINDOW_UPDATE, Connection, block, frame, settings,
)

OPEN = END_HEADERS
# Where the RFC names another code, but the h2 crate that reads header blocks and settings ends the connection with this.
GENERIC = PROTOCOL_ERROR
WHOLE = END_HEADERS | END_STREAM


def window(stream, by):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", by))


def head(c, stream=1, flags=WHOLE, more=(), drop=(), first=None):
    pairs = [pair for pair in c.pseudo() if pair[0] not in drop] + list(more)
    return frame(HEADERS, flags, stream, block(list(first or []) + pairs))


def posted(c, stream=1, *more):
    return frame(HEADERS, OPEN, stream, block(c.pseudo("POST", "/generic") + list(more)))


def raw(c, pairs, stream=1):
    return frame(HEADERS, WHOLE, stream, block(pairs))


# clause, what is wrong, the bytes, error codes of which one must come, where: the connection ("goaway"), a stream
# ("stream": RST_STREAM, or a 400, which section 8.1.1 allows a server to send first), or either ("either": the clause
# lets a stream error be treated as one of the connection, section 5.4.2)
CASES = [
    ("4.1", "a frame of unknown type is ignored", lambda c: frame(0xFA, 0, 0, b"x") + head(c), None, "served"),
    ("4.1", "undefined flags are ignored", lambda c: frame(PING, 0xFE & ~ACK, 0, b"12345678") + head(c), None, "served"),
    ("4.1", "the reserved bit is ignored", lambda c: frame(HEADERS, WHOLE, 0x80000001, block(c.pseudo())), None, "served"),
    ("4.2", "DATA beyond SETTINGS_MAX_FRAME_SIZE", lambda c: posted(c) + frame(DATA, END_STREAM, 1, bytes(16385)), [FRAME_SIZE_ERROR], "either"),
    ("4.2", "HEADERS beyond SETTINGS_MAX_FRAME_SIZE", lambda c: frame(HEADERS, WHOLE, 1, bytes(16385)), [FRAME_SIZE_ERROR], "goaway"),
    ("4.3", "a header block that cannot be decompressed", lambda c: frame(HEADERS, WHOLE, 1, b"\xff\xff\xff\xff\xff\xff\xff"), [COMPRESSION_ERROR, GENERIC], "goaway"),
    ("4.3", "an index that is not in the table", lambda c: frame(HEADERS, WHOLE, 1, b"\xfe"), [COMPRESSION_ERROR, GENERIC], "goaway"),
    ("4.3", "index 0", lambda c: frame(HEADERS, WHOLE, 1, b"\x80"), [COMPRESSION_ERROR, GENERIC], "goaway"),
    ("4.3", "a table larger than was offered (RFC 7541 6.3)", lambda c: frame(HEADERS, WHOLE, 1, b"\x3f\xe2\xff\x7f" + block(c.pseudo())), [COMPRESSION_ERROR, GENERIC], "goaway"),
    ("4.3", "PRIORITY within a header block", lambda c: head(c, flags=END_STREAM) + frame(PRIORITY, 0, 1, b"\0\0\0\0\1"), [PROTOCOL_ERROR], "goaway"),
    ("4.3", "another stream's HEADERS within a header block", lambda c: head(c, flags=END_STREAM) + head(c, stream=3), [PROTOCOL_ERROR], "goaway"),
    ("5.1", "DATA on an idle stream", lambda c: frame(DATA, END_STREAM, 1, b"x"), [PROTOCOL_ERROR], "goaway"),
    ("5.1", "RST_STREAM on an idle stream", lambda c: frame(RST_STREAM, 0, 1, bytes(4)), [PROTOCOL_ERROR], "goaway"),
    ("5.1", "WINDOW_UPDATE on an idle stream", lambda c: window(1, 1), [PROTOCOL_ERROR], "goaway"),
    ("5.1", "CONTINUATION on an idle stream", lambda c: frame(CONTINUATION, END_HEADERS, 1, b""), [PROTOCOL_ERROR], "goaway"),
    ("5.1", "DATA after END_STREAM", lambda c: head(c) + frame(DATA, END_STREAM, 1, b"x"), [STREAM_CLOSED, PROTOCOL_ERROR], "either"),
    ("5.1", "HEADERS after END_STREAM", lambda c: head(c) + head(c), [STREAM_CLOSED, PROTOCOL_ERROR], "either"),
    ("5.1", "CONTINUATION after END_STREAM and END_HEADERS", lambda c: head(c) + frame(CONTINUATION, END_HEADERS, 1, b""), [STREAM_CLOSED, PROTOCOL_ERROR], "goaway"),
    ("5.1", "DATA after RST_STREAM", lambda c: posted(c) + frame(RST_STREAM, 0, 1, struct.pack(">I", 8)) + frame(DATA, END_STREAM, 1, b"x"), [STREAM_CLOSED], "quiet"),
    ("5.1.1", "an even stream", lambda c: head(c, stream=2), [PROTOCOL_ERROR], "goaway"),
    ("5.1.1", "a stream lower than one before", lambda c: head(c, stream=5) + head(c, stream=3), [PROTOCOL_ERROR, STREAM_CLOSED], "either"),
    ("5.3.1", "a stream that depends on itself is no longer an error", lambda c: frame(PRIORITY, 0, 1, b"\0\0\0\1\1") + head(c), [PROTOCOL_ERROR], "any"),
    ("6.1", "DATA on stream 0", lambda c: frame(DATA, END_STREAM, 0, b"x"), [PROTOCOL_ERROR], "goaway"),
    ("6.1", "DATA padded beyond its end", lambda c: posted(c) + frame(DATA, PADDED | END_STREAM, 1, b"\x05x"), [PROTOCOL_ERROR], "goaway"),
    ("6.2", "HEADERS on stream 0", lambda c: frame(HEADERS, WHOLE, 0, block(c.pseudo())), [PROTOCOL_ERROR], "goaway"),
    ("6.2", "HEADERS padded beyond their end", lambda c: frame(HEADERS, WHOLE | PADDED, 1, b"\xffx"), [PROTOCOL_ERROR], "goaway"),
    ("6.2", "HEADERS without a header block in between", lambda c: head(c, flags=END_STREAM) + frame(DATA, 0, 1, b"x"), [PROTOCOL_ERROR], "goaway"),
    ("6.3", "PRIORITY on stream 0", lambda c: frame(PRIORITY, 0, 0, bytes(5)), [PROTOCOL_ERROR], "goaway"),
    ("6.3", "PRIORITY of four bytes", lambda c: frame(PRIORITY, 0, 1, bytes(4)), [FRAME_SIZE_ERROR], "either"),
    ("6.4", "RST_STREAM on stream 0", lambda c: frame(RST_STREAM, 0, 0, bytes(4)), [PROTOCOL_ERROR], "goaway"),
    ("6.4", "RST_STREAM of three bytes", lambda c: posted(c) + frame(RST_STREAM, 0, 1, bytes(3)), [FRAME_SIZE_ERROR], "goaway"),
    ("6.5", "SETTINGS with ACK and a payload", lambda c: frame(SETTINGS, ACK, 0, bytes(6)), [FRAME_SIZE_ERROR], "goaway"),
    ("6.5", "SETTINGS on a stream", lambda c: frame(SETTINGS, 0, 1, b""), [PROTOCOL_ERROR], "goaway"),
    ("6.5", "SETTINGS of five bytes", lambda c: frame(SETTINGS, 0, 0, bytes(5)), [FRAME_SIZE_ERROR], "goaway"),
    ("6.5.2", "SETTINGS_ENABLE_PUSH of 2", lambda c: settings((2, 2)), [PROTOCOL_ERROR], "goaway"),
    ("6.5.2", "SETTINGS_INITIAL_WINDOW_SIZE over 2^31-1", lambda c: settings((4, 2**31)), [FLOW_CONTROL_ERROR, GENERIC], "goaway"),
    ("6.5.2", "SETTINGS_MAX_FRAME_SIZE under 2^14", lambda c: settings((5, 2**14 - 1)), [PROTOCOL_ERROR], "goaway"),
    ("6.5.2", "SETTINGS_MAX_FRAME_SIZE over 2^24-1", lambda c: settings((5, 2**24)), [PROTOCOL_ERROR], "goaway"),
    ("6.5.2", "an unknown setting is ignored", lambda c: settings((0xF0, 1)) + head(c), None, "served"),
    ("6.6", "PUSH_PROMISE from a client", lambda c: posted(c) + frame(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\2" + block(c.pseudo())), [PROTOCOL_ERROR], "goaway"),
    ("6.7", "PING on a stream", lambda c: frame(PING, 0, 1, bytes(8)), [PROTOCOL_ERROR], "goaway"),
    ("6.7", "PING of six bytes", lambda c: frame(PING, 0, 0, bytes(6)), [FRAME_SIZE_ERROR], "goaway"),
    ("6.8", "GOAWAY on a stream", lambda c: frame(GOAWAY, 0, 1, bytes(8)), [PROTOCOL_ERROR], "goaway"),
    ("6.9", "WINDOW_UPDATE by nothing on the connection", lambda c: window(0, 0), [PROTOCOL_ERROR], "goaway"),
    ("6.9", "WINDOW_UPDATE by nothing on a stream", lambda c: posted(c) + window(1, 0), [PROTOCOL_ERROR], "either"),
    ("6.9", "WINDOW_UPDATE of three bytes", lambda c: frame(WINDOW_UPDATE, 0, 0, bytes(3)), [FRAME_SIZE_ERROR], "goaway"),
    ("6.9.1", "the connection's window over 2^31-1", lambda c: window(0, 2**31 - 1) + window(0, 2**31 - 1), [FLOW_CONTROL_ERROR], "goaway"),
    ("6.9.1", "a stream's window over 2^31-1", lambda c: posted(c) + window(1, 2**31 - 1) + window(1, 2**31 - 1), [FLOW_CONTROL_ERROR], "either"),
    ("6.9.2", "windows raised over 2^31-1 by SETTINGS", lambda c: posted(c) + window(1, 2**31 - 65536) + settings((4, 2**31 - 1)), [FLOW_CONTROL_ERROR], "either"),
    ("6.10", "CONTINUATION without HEADERS before it", lambda c: posted(c) + frame(CONTINUATION, END_HEADERS, 1, block([("a", "b")])), [PROTOCOL_ERROR], "goaway"),
    ("6.10", "CONTINUATION on stream 0", lambda c: head(c, flags=END_STREAM) + frame(CONTINUATION, END_HEADERS, 0, b""), [PROTOCOL_ERROR], "goaway"),
    ("6.10", "a header block in three pieces", lambda c: frame(HEADERS, END_STREAM, 1, block(c.pseudo()[:2])) + frame(CONTINUATION, 0, 1, block(c.pseudo()[2:])) + frame(CONTINUATION, END_HEADERS, 1, block([("a", "b")])), None, "served"),
    ("8.1", "a second HEADERS without END_STREAM", lambda c: posted(c) + frame(HEADERS, END_HEADERS, 1, block([("a", "b")])), [PROTOCOL_ERROR], "stream"),
    ("8.1", "pseudo-headers in trailers", lambda c: posted(c) + frame(DATA, 0, 1, b"x") + frame(HEADERS, WHOLE, 1, block([(":path", "/")])), [PROTOCOL_ERROR], "stream"),
    ("8.2", "an upper-case field name", lambda c: head(c, more=[("X-Upper", "1")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.1", "a space in a field name", lambda c: head(c, more=[("x y", "1")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.1", "a line break in a field value", lambda c: head(c, more=[("x-a", "1\r\nx-b: 2")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.1", "a zero byte in a field value", lambda c: head(c, more=[("x-a", "1\0")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.2", "a Connection field", lambda c: head(c, more=[("connection", "keep-alive")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.2", "a Transfer-Encoding field", lambda c: head(c, more=[("transfer-encoding", "chunked")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.2", "a Keep-Alive field", lambda c: head(c, more=[("keep-alive", "5")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.2", "an Upgrade field", lambda c: head(c, more=[("upgrade", "h2c")]), [PROTOCOL_ERROR], "stream"),
    ("8.2.2", "TE other than trailers", lambda c: head(c, more=[("te", "gzip")]), [PROTOCOL_ERROR], "stream"),
    ("8.3", "an unknown pseudo-header", lambda c: head(c, first=[(":unknown", "1")]), [PROTOCOL_ERROR], "stream"),
    ("8.3", "a pseudo-header of responses", lambda c: head(c, first=[(":status", "200")]), [PROTOCOL_ERROR], "stream"),
    ("8.3", "a pseudo-header after a field", lambda c: raw(c, [("a", "b")] + c.pseudo()), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "no :method", lambda c: head(c, drop=[":method"]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "no :scheme", lambda c: head(c, drop=[":scheme"]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "no :path", lambda c: head(c, drop=[":path"]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "an empty :path", lambda c: head(c, drop=[":path"], more=(), first=[(":path", "")]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "two :method", lambda c: head(c, first=[(":method", "GET")]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "two :path", lambda c: head(c, first=[(":path", "/")]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "two :scheme", lambda c: head(c, first=[(":scheme", "http")]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "Host that is not :authority", lambda c: head(c, more=[("host", "other.example")]), [PROTOCOL_ERROR], "stream"),
    ("8.3.1", "user and password in :authority", lambda c: head(c, drop=[":authority"], first=[(":authority", "a:b@127.0.0.1")]), [PROTOCOL_ERROR], "stream"),
    ("8.1.1", "less DATA than Content-Length", lambda c: posted(c, 1, ("content-length", "5")) + frame(DATA, END_STREAM, 1, b"x"), [PROTOCOL_ERROR], "stream"),
    ("8.1.1", "more DATA than Content-Length", lambda c: posted(c, 1, ("content-length", "1")) + frame(DATA, END_STREAM, 1, b"xyz"), [PROTOCOL_ERROR], "stream"),
    ("8.1.1", "Content-Length that is no number", lambda c: posted(c, 1, ("content-length", "x")) + frame(DATA, END_STREAM, 1, b"x"), [PROTOCOL_ERROR], "stream"),
    ("8.1.1", "two Content-Length that differ", lambda c: posted(c, 1, ("content-length", "1"), ("content-length", "2")) + frame(DATA, END_STREAM, 1, b"x"), [PROTOCOL_ERROR], "stream"),
    ("8.5", "CONNECT is not for this server", lambda c: raw(c, [(":method", "CONNECT"), (":authority", "127.0.0.1:22")]), [PROTOCOL_ERROR], "stream"),
]


def judge(c, codes, where):
    if where == "served":
        assert c.status(1) == 418
        return
    if where == "quiet":
        # An endpoint that sent nothing may ignore it for a while; the connection lives or ends with this code.
        c.send(frame(PING, 0, 0, b"87654321"))
        got = c.until(PING, GOAWAY)
        assert got.kind == PING or got.code in codes
        return
    got = c.until(GOAWAY, RST_STREAM, *([HEADERS] if where in ("stream", "any") else []))
    assert got is not None, "closed without a word"
    if got.kind == HEADERS:
        status = int(got.headers[":status"])
        assert status == 418 if where == "any" else 400 <= status < 500, status
        return
    assert got.code in codes, "code %d" % got.code
    if where == "goaway":
        if got.kind == RST_STREAM:
            got = c.until(GOAWAY)
        assert got is not None and got.kind == GOAWAY and got.code in codes, "the connection goes on"
        assert c.ended()


@pytest.mark.parametrize("clause, what, data, codes, where", CASES, ids=["%s %s" % case[:2] for case in CASES])
def test_errors_end_as_the_rfc_says(gateway, clause, what, data, codes, where):
    with Connection(gateway.h2c) as c:
        c.send(data(c))
        judge(c, codes, where)
    # Whatever it was, others are served.
    with Connection(gateway.h2c) as c:
        assert c.status(c.request()) == 418


def test_a_preface_that_is_none_is_not_served(gateway):
    with Connection(gateway.h2c, greet=False) as c:
        c.send(PREFACE[:18] + b"XX\r\n\r\n")
        assert c.ended()


def test_settings_come_first(gateway):
    """3.4: the preface is followed by SETTINGS."""
    with Connection(gateway.h2c, greet=False) as c:
        c.send(PREFACE + frame(PING, 0, 0, bytes(8)))
        got = c.until(GOAWAY)
        assert got is None or got.code == PROTOCOL_ERROR


def test_settings_and_pings_are_acknowledged(gateway):
    """6.5.3 and 6.7."""
    with Connection(gateway.h2c) as c:
        c.send(frame(PING, 0, 0, b"12345678"))
        assert c.until(PING).payload == b"12345678"
        c.send(settings((3, 10)))
        while not (got := c.until(SETTINGS)).flags & ACK:
            pass
        assert got.payload == b""


def test_no_more_streams_than_were_offered(gateway):
    """5.1.2: those beyond are refused, or the connection ends."""
    with Connection(gateway.h2c) as c:
        offered = None
        got = c.until(SETTINGS)
        for at in range(0, len(got.payload), 6):
            name, value = struct.unpack_from(">HI", got.payload, at)
            offered = value if name == 3 else offered
        assert offered == 100
        for _ in range(offered + 1):
            c.request(("content-type", "application/json"), method="POST", path="/generic", end=False)
        got = c.until(RST_STREAM, GOAWAY)
        assert got.code in (PROTOCOL_ERROR, 7)


def test_priority_in_headers_is_ignored(gateway):
    """5.3.2: what RFC 7540 called priority changes nothing."""
    with Connection(gateway.h2c) as c:
        c.send(frame(HEADERS, WHOLE | PRIORITISED, 1, b"\0\0\0\3\1" + block(c.pseudo())))
        assert c.status(1) == 418


def test_a_head_that_is_too_large_is_told_so(gateway):
    with Connection(gateway.h2c) as c:
        stream = c.stream()
        whole = block(c.pseudo() + [("x-%d" % n, "y" * 1000) for n in range(40)])
        c.send(frame(HEADERS, END_STREAM, stream, whole[:16000]))
        for at in range(16000, len(whole), 16000):
            last = at + 16000 >= len(whole)
            c.send(frame(CONTINUATION, END_HEADERS if last else 0, stream, whole[at : at + 16000]))
        got = c.until(HEADERS, RST_STREAM, GOAWAY)
        assert got.kind != HEADERS or got.headers[":status"] == "431"
        assert got.kind == HEADERS or got.code in (PROTOCOL_ERROR, ENHANCE_YOUR_CALM, 7)


def test_split_cookies_go_on_as_one(gateway, mock):
    """Section 8.2.3: in HTTP/1.1 there is one field."""
    with Connection(gateway.h2c) as c:
        pairs = c.pseudo("GET", "/generic/reflect") + [("cookie", one) for one in ("a=1", "b=2; c=3", "d=4")]
        c.send(frame(HEADERS, WHOLE, 1, block(pairs)))
        c.until(HEADERS, stream=1)
    assert [value for name, value in mock.requests[-1].headers if name.lower() == "cookie"] == ["a=1; b=2; c=3; d=4"]
