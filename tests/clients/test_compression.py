"""Answers are compressed for callers that accept it, and read by their own decoders; an event never waits for the next."""

import gzip
import json
import socket
import threading
import zlib

import brotli
import httpx
import pytest
import requests
from gateway import MINIMAL, Gateway
from http2 import DATA, END_STREAM, HEADERS, Connection
from test_content_types import MAIL, Threads, Trailing

LONG = json.dumps({"words": ["compress", "me", "please"] * 400}).encode()
SHORT = b'{"short": true}'

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "compressed"
path = "/compressed"
upstream = "mock"
auth = "none"
compression = {{}}

[[routes]]
name = "redacted"
path = "/redacted"
upstream = "mock"
auth = "none"
redact = {{ protocol = "generic" }}
compression = {{}}
answer_headers = {{ set = {{ vary = "x-tenant" }} }}

[[routes]]
name = "chat"
path = "/v1"
upstream = "mock"
auth = "none"
redact = {{}}
compression = {{}}

[[routes]]
name = "gzipped"
path = "/gzipped"
upstream = "mock"
auth = "none"
compression = {{ codings = ["gzip"], min = "1B" }}

[[routes]]
name = "plain"
path = "/plain"
upstream = "mock"
auth = "none"

[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 200, body = "BODY" }}
compression = {{}}

[[routes]]
name = "api"
path = "/redact"
endpoint = "api"
compression = {{}}
""".replace("BODY", "here and there " * 200)
)


@pytest.fixture(scope="module")
def gate(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running


def unzipped(answer):
    """What the caller reads, by decoders that are not the gateway's."""
    coding = answer.headers.get("content-encoding")
    if coding == "gzip":
        return gzip.decompress(answer.body)
    if coding == "br":
        return brotli.decompress(answer.body)
    assert coding is None, coding
    return answer.body


def get(gate, path, accepts="gzip", method="GET", body=None, **more):
    headers = {"accept-encoding": accepts} if accepts is not None else {}
    return gate.call(method, path, body, headers | {name.replace("_", "-"): value for name, value in more.items()})


def varies(answer):
    return sorted(name.strip().lower() for line in answer.headers.get_all("vary", []) for name in line.split(","))


# ── who gets what ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "accepts, coding",
    [
        ("gzip", "gzip"),
        ("br", "br"),
        ("gzip, deflate, br", "br"),
        ("gzip;q=1.0, br;q=0.5, zstd;q=0", "gzip"),
        ("br;q=0, gzip;q=0.001", "gzip"),
        ("x-gzip", "gzip"),
        ("*;q=0.5, zstd;q=0, br;q=0", "gzip"),
        ("identity", None),
        ("identity, gzip;q=0.9", None),
        ("gzip;q=0", None),
        ("gzip;q=nought", None),
        ("deflate", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("path", ["/compressed", "/redacted"])
def test_a_caller_gets_the_coding_that_it_wants_most(gate, mock, path, accepts, coding):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    mock.fields |= {"etag": '"v1"', "accept-ranges": "bytes", "content-digest": "sha-256=:x:"}
    answer = get(gate, path + "/canned/long", accepts)
    assert (answer.status, answer.headers.get("content-encoding"), unzipped(answer)) == (200, coding, LONG)
    assert "accept-encoding" in varies(answer), "caches must know whatever this caller got"
    if coding:
        assert len(answer.body) < len(LONG) / 2 and answer.headers["etag"] in ('W/"v1"', None)
        assert not [name for name in ("accept-ranges", "content-digest") if name in answer.headers]
    elif path == "/compressed":
        assert answer.headers["etag"] == '"v1"' and answer.headers["content-length"] == str(len(LONG))


def test_zstandard_is_read_by_its_own_decoder(gate, mock):
    zstandard = pytest.importorskip("zstandard")
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    answer = get(gate, "/compressed/canned/long", "gzip, br, zstd")
    assert answer.headers["content-encoding"] == "zstd"
    assert zstandard.ZstdDecompressor().decompressobj().decompress(answer.body) == LONG


LEFT = {
    "short": (200, "application/json", SHORT, "", {}),
    "a picture": (200, "image/png", LONG, "", {}),
    "bytes": (200, "application/octet-stream", LONG, "", {}),
    "of no type": (200, None, LONG, "", {}),
    "compressed already": (200, "application/json", gzip.compress(LONG), "gzip", {}),
    "in another coding": (200, "application/json", LONG, "x-other", {}),
    "not to be changed": (200, "application/json", LONG, "", {"cache-control": "private, no-transform"}),
    "a part": (206, "text/plain", LONG, "", {"content-range": "bytes 0-9999/20000"}),
}


@pytest.mark.parametrize("what", LEFT)
def test_what_would_not_become_smaller_or_may_not_be_changed_stays(gate, mock, what):
    status, kind, body, coding, fields = LEFT[what]
    mock.canned["it"] = (status, kind, body, coding, 0)
    mock.fields |= fields | {"etag": '"v1"'}
    answer = get(gate, "/compressed/canned/it", "gzip, br")
    assert (answer.status, answer.body) == (status, body)
    assert answer.headers.get("content-encoding", "") == coding and answer.headers["etag"] == '"v1"'
    assert answer.headers["content-length"] == str(len(body)) and varies(answer) == []


def test_only_routes_that_say_so_compress(gate, mock):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    answer = get(gate, "/plain/canned/long")
    assert (answer.body, varies(answer)) == (LONG, [])


def test_head_and_304_say_what_a_whole_answer_would(gate, mock):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    mock.fields |= {"etag": '"v1"'}
    for accepts, coding, etag in (("gzip", "gzip", 'W/"v1"'), ("identity", None, '"v1"')):
        whole = get(gate, "/compressed/canned/long", accepts)
        head = get(gate, "/compressed/canned/long", accepts, method="HEAD")
        for answer in (whole, head):
            assert (answer.headers.get("content-encoding"), answer.headers["etag"]) == (coding, etag)
            assert varies(answer) == ["accept-encoding"]
        assert head.body == b"" and head.headers.get("content-length") == (None if coding else str(len(LONG)))
        mock.canned["same"] = (304, "application/json", b"", "", 0)
        same = get(gate, "/compressed/canned/same", accepts, if_none_match=etag)
        assert (same.status, same.headers["etag"], varies(same)) == (304, etag, ["accept-encoding"])
        assert "content-encoding" not in same.headers
    mock.canned["nothing"] = (204, "application/json", b"", "", 0)
    assert varies(get(gate, "/compressed/canned/nothing")) == []


def test_connections_live_on_behind_compressed_answers(gate, mock):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    with requests.Session() as session:
        for method in ("GET", "HEAD", "GET", "POST", "GET"):
            answer = session.request(method, gate.url + "/compressed/canned/long", headers={"accept-encoding": "gzip"})
            assert answer.headers["content-encoding"] == "gzip" and answer.headers.get("connection") != "close"
            assert answer.content == (b"" if method == "HEAD" else LONG)


@pytest.mark.parametrize("size", [1, 1023, 1024, 65536, 65537, 1 << 20])
@pytest.mark.parametrize("write", [0, 1000])
def test_bodies_of_all_sizes_arrive_whole(gate, mock, size, write):
    body = (b"all work and no play " * (size // 21 + 1))[:size]
    mock.canned["it"] = (200, "text/plain", body, "", write)
    for path in ("/compressed", "/redacted", "/gzipped"):
        for accepts in ("gzip", "br"):
            assert unzipped(get(gate, path + "/canned/it", accepts)) == body, (path, accepts)


def test_clients_of_their_own_decode(gate, mock):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    for client in (requests, httpx):
        answer = client.get(gate.url + "/compressed/canned/long")
        assert answer.headers["content-encoding"] in ("br", "zstd", "gzip") and answer.content == LONG
    answer = httpx.get(gate.url + "/compressed/canned/long", headers={"accept-encoding": "gzip;q=0.1, br;q=0"})
    assert answer.headers["content-encoding"] == "gzip" and answer.content == LONG


def test_http_1_0_gets_a_body_that_ends_with_the_connection(gate, mock):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    with socket.create_connection(("127.0.0.1", gate.port), 20) as tcp:
        tcp.sendall(b"GET /compressed/canned/long HTTP/1.0\r\nhost: a\r\naccept-encoding: gzip\r\n\r\n")
        answer = b"".join(iter(lambda: tcp.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower() and gzip.decompress(body) == LONG


# ── our own answers, and HTTP/2 ─────────────────────────────────────────────────────────────────────────────────────


def test_own_answers_are_compressed(gate):
    fixed = get(gate, "/fixed", "br")
    assert fixed.headers["content-encoding"] == "br" and unzipped(fixed) == b"here and there " * 200
    assert fixed.headers["content-length"] == str(len(fixed.body))
    text = "write to jane.doe@harbour-post.com, please; " * 100
    for path, coding in (("/redact/v1/redact", "gzip"), ("/v1/redact", None)):
        answer = gate.api(path, {"text": text}, **{"accept-encoding": "gzip"})
        assert answer.status == 200 and answer.headers.get("content-encoding") == coding
        assert json.loads(unzipped(answer))["result"]["count"] == 100
    refused = gate.call("POST", "/redact/v1/redact", {"text": text}, {"accept-encoding": "gzip"})
    assert refused.status == 401 and json.loads(unzipped(refused))["status"]


def test_http2_gets_the_same(gate, mock):
    mock.canned["long"] = (200, "application/json", LONG, "", 0)
    with Connection(gate.h2c) as connection:
        stream = connection.request(("accept-encoding", "br"), path="/compressed/canned/long")
        head = connection.until(HEADERS, stream=stream).headers
        assert (head[":status"], head["content-encoding"]) == ("200", "br") and "transfer-encoding" not in head
        body = b""
        while one := connection.until(DATA, stream=stream):
            body += one.payload
            if one.flags & END_STREAM:
                break
        assert brotli.decompress(body) == LONG


def test_a_body_with_trailers_behind_it_is_whole_and_they_do_not_go_on():
    """Digests that stand there are none of what was sent."""
    with Threads(("127.0.0.1", 0), Trailing) as server:
        server.kind = "text/plain"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = CONFIG.replace('peers = ["{upstream}"]', 'peers = ["{upstream}"]\nhttp = "2"', 1)
        with Gateway("http://127.0.0.1:%d" % server.server_address[1], config=config) as gate:
            for coding in ("gzip", "br"):
                answer = get(gate, "/compressed/x", coding)
                assert (answer.headers["content-encoding"], unzipped(answer)) == (coding, b"for " + MAIL.encode())
                with Connection(gate.h2c) as connection:
                    stream = connection.request(("accept-encoding", coding), path="/compressed/x")
                    heads, body = [], b""
                    while one := connection.until(HEADERS, DATA, stream=stream):
                        heads += [one.headers] if one.kind == HEADERS else []
                        body += one.payload if one.kind == DATA else b""
                        if one.flags & END_STREAM:
                            break
                    assert MAIL not in str(heads) and len(body) == len(answer.body)
        server.shutdown()


# ── streams ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Decoder:
    """Reads a coding piece by piece."""

    def __init__(self, coding):
        self.read = zlib.decompressobj(31).decompress if coding == "gzip" else brotli.Decompressor().process


@pytest.mark.parametrize("coding", ["gzip", "br"])
@pytest.mark.parametrize("redacted", [False, True])
def test_an_event_arrives_before_the_next_is_sent(gate, coding, redacted):
    """The upstream sends an event only when the one before has been read at the other end."""
    listener = socket.create_server(("127.0.0.1", 0))
    read, sent = threading.Semaphore(0), 12
    events = [b'data: {"n": %d, "text": "quite the same words"}\n\n' % n for n in range(sent)]

    def serve():
        tcp, _ = listener.accept()
        with tcp:
            while b"\r\n\r\n" not in (tcp.recv(65536) or b"\r\n\r\n"):
                pass
            tcp.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for one in events:
                if not read.acquire(timeout=20):
                    return
                tcp.sendall(b"%x\r\n%s\r\n" % (len(one), one))
            tcp.sendall(b"0\r\n\r\n")

    threading.Thread(target=serve, daemon=True).start()
    config = CONFIG.split("[[routes]]")[0] + '[[routes]]\nname = "x"\nupstream = "mock"\nauth = "none"\ncompression = {{}}\n'
    config += 'redact = {{ protocol = "generic" }}\n' if redacted else ""
    with listener, Gateway("http://127.0.0.1:%d" % listener.getsockname()[1], config=config) as gate:
        with requests.get(gate.url + "/x", headers={"accept-encoding": coding}, stream=True, timeout=30) as answer:
            # The head came before any event.
            assert (answer.status_code, answer.headers["content-encoding"]) == (200, coding)
            decoder, got, pieces = Decoder(coding), b"", answer.raw.stream(1 << 16, decode_content=False)
            for one in events:
                read.release()
                whole = got + one
                while len(got) < len(whole):
                    got += decoder.read(next(pieces))
                assert got == whole
            assert not b"".join(decoder.read(piece) for piece in pieces)


@pytest.mark.parametrize("coding", ["gzip", "br"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_answer_that_breaks_off_does_not_look_whole(coding, method):
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        tcp, _ = listener.accept()
        with tcp:
            tcp.recv(65536)
            tcp.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n")
            tcp.sendall(b"%x\r\n%s\r\n" % (len(LONG), LONG) + b"ffff\r\nthe beginning of a chunk")

    threading.Thread(target=serve, daemon=True).start()
    with listener, Gateway("http://127.0.0.1:%d" % listener.getsockname()[1], config=CONFIG) as gate:
        answer = requests.request(method, gate.url + "/compressed/x", headers={"accept-encoding": coding}, stream=True, timeout=30)
        assert answer.headers["content-encoding"] == coding
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            answer.content


def test_a_chat_is_restored_and_compressed_while_it_runs(gate, mock):
    openai = pytest.importorskip("openai")
    for accepts in ("gzip", "br"):
        client = openai.OpenAI(api_key="x", base_url=gate.url + "/v1", default_headers={"accept-encoding": accepts})
        messages = [{"role": "user", "content": "EMAIL: jane.doe@harbour-post.com |"}]
        mock.forget()
        with client.chat.completions.with_streaming_response.create(model="plain?gate=1", messages=messages, stream=True) as answer:
            assert answer.headers["content-encoding"] == accepts
            text = ""
            for one in answer.parse():
                text += one.choices[0].delta.content or ""
                if text:
                    mock.gate.set()
        assert "jane.doe@harbour-post.com" in text
        assert "jane.doe" not in mock.requests[-1].everything()


@pytest.mark.parametrize("coding", ["gzip", "br"])
def test_a_stream_that_breaks_off_ends_in_an_event_that_can_be_read(gate, mock, coding):
    ask_model = {"model": "cut", "stream": True, "messages": [{"role": "user", "content": "EMAIL: a.b@harbour-post.com |"}]}
    answer = gate.call("POST", "/v1/chat/completions", ask_model, {"accept-encoding": coding})
    assert answer.headers["content-encoding"] == coding
    last = unzipped(answer).rstrip().rsplit(b"\n\n", 1)[-1]
    assert b'"error"' in last, last


def test_what_is_compressed_by_the_upstream_is_restored_in_its_coding(gate, mock):
    ask_model = {"model": "plain?enc=gzip", "stream": True, "messages": [{"role": "user", "content": "EMAIL: a.b@harbour-post.com |"}]}
    answer = gate.call("POST", "/v1/chat/completions", ask_model, {"accept-encoding": "br, gzip;q=0.5"})
    assert answer.headers["content-encoding"] == "gzip" and b"[DONE]" in unzipped(answer)
