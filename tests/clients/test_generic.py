"""Any other service behind the gateway: JSON, NDJSON, text and event streams, both ways, and the bytes nobody changed."""

import base64
import gzip
import hashlib
import json
import random
import shutil
import subprocess

import pytest
from mock_upstream import Coder

MAIL = "jane.doe@harbour-post.com"
CARD = "4111 1111 1111 1111"
HIDDEN = {MAIL: "*" * len(MAIL), CARD: "*" * len(CARD)}

BODIES = {
    "application/json": b'{ "a":"to jane.doe@harbour-post.com",\n  "b":[1.50,"4111 1111 1111 1111",null], "jane.doe@harbour-post.com": "\\u00e9" }',
    "application/x-ndjson": b'{"n":1,"t":"jane.doe@harbour-post.com"}\n{"n":2,"t":"-"}\r\n\n{"n":3,"t":"4111 1111 1111 1111"}\n',
    "application/problem+json": b'{"detail":"no jane.doe@harbour-post.com"}',
    "text/plain": "Grüße an jane.doe@harbour-post.com — 4111 1111 1111 1111.\r\n".encode(),
    "text/csv": b"mail,card\njane.doe@harbour-post.com,4111 1111 1111 1111\n",
    "text/event-stream": b": hi\n\nevent: note\nid: 7\ndata: for jane.doe@harbour-post.com\ndata: 4111 1111 1111 1111\n\ndata: {\"a\":\"jane.doe@harbour-post.com\"}\n\n",
}

INNOCENT = {
    "application/json": b'\t{"a" :\t[1e-7, 0.10, -0, true ,"\\u00E9\\/\\uD83D\\uDE42", "", {"":null}] }\r\n',
    "application/x-ndjson": b'{"version":"2.0.17"}\n\n  {"order":1001}\r\n[]',
    "text/plain": b"\xef\xbb\xbfOrder 1001, \xff\xfe not UTF-8 \xc3, version 2.0.17\r\n",
    "text/html; charset=utf-8": "<!doctype html><p class=x>Müller &amp; Söhne &nbsp;</p>".encode(),
    "text/event-stream": b":\r\n\r\nretry: 10\r\ndata\r\ndata:\r\ndata:  x\r\n\r\nid\n\n",
}


def masked(body):
    for value, hidden in HIDDEN.items():
        body = body.replace(value.encode(), hidden.encode())
    return body


def post(gateway, path, body, kind, **headers):
    return gateway.call("POST", path, body, {"content-type": kind} | headers)


def pieces(body, size):
    return (body[at : at + size] for at in range(0, len(body), size))


@pytest.mark.parametrize("kind", BODIES)
def test_requests_are_masked_as_they_pass(gateway, mock, kind):
    for body in (BODIES[kind], pieces(BODIES[kind], 5)):
        assert post(gateway, "/generic/reflect", body, kind).status == 200
        assert mock.requests[-1].body == masked(BODIES[kind])


@pytest.mark.parametrize("coding", ["", "gzip"])
@pytest.mark.parametrize("write", [0, 1, 9])
@pytest.mark.parametrize("kind", BODIES)
def test_answers_are_masked_as_they_pass(gateway, mock, kind, write, coding):
    coder = Coder(coding)
    mock.canned["it"] = (200, kind, coder.write(BODIES[kind]) + coder.finish(), coding, write)
    answer = gateway.call("GET", "/generic/canned/it")
    assert answer.headers["content-type"] == kind
    assert answer.headers.get("content-encoding", "") == coding
    assert (gzip.decompress(answer.body) if coding else answer.body) == masked(BODIES[kind])


def test_a_gzip_request_is_masked(gateway, mock):
    body = BODIES["application/json"]
    for sent in (gzip.compress(body), pieces(gzip.compress(body), 11)):
        answer = post(gateway, "/generic/reflect", sent, "application/json", **{"content-encoding": "gzip"})
        assert mock.requests[-1].body == masked(body)
        assert gzip.decompress(answer.body) == masked(body)


@pytest.mark.parametrize("kind", BODIES)
def test_what_was_encrypted_comes_back(gateway, mock, kind):
    answer = post(gateway, "/restored/reflect", BODIES[kind], kind)
    assert answer.body == BODIES[kind]
    seen = mock.requests[-1].body
    assert MAIL.encode() not in seen and CARD.encode() not in seen and b"*" not in seen


@pytest.mark.parametrize("route", ["generic", "restored", "lenient"])
@pytest.mark.parametrize("kind", INNOCENT)
def test_bytes_that_nobody_changed_leave_as_they_came(gateway, mock, kind, route):
    body = INNOCENT[kind]
    for sent in (body, pieces(body, 3)):
        answer = post(gateway, "/%s/reflect" % route, sent, kind)
        assert (mock.requests[-1].body, answer.body) == (body, body)


def test_a_large_body_without_findings_is_the_same(gateway, mock):
    """Four megabytes, chunked, without an end in sight for whoever would collect them."""
    random.seed(7)
    words = ["plain", "word", "über", "order 1001", "v2.0.17", '\\"', "\\n", "日本"]
    rows = ('{"n":%d,"t":"%s"}\n' % (n, " ".join(random.choices(words, k=40))) for n in range(20000))
    body = "".join(rows).encode()
    answer = post(gateway, "/generic/reflect", pieces(body, 40000), "application/x-ndjson")
    assert hashlib.sha256(mock.requests[-1].body).digest() == hashlib.sha256(body).digest()
    assert hashlib.sha256(answer.body).digest() == hashlib.sha256(body).digest()


def test_findings_everywhere_in_a_large_body(gateway, mock):
    row = "x" * 997 + " " + MAIL + "\n"
    post(gateway, "/generic/reflect", pieces((row * 2000).encode(), 65536), "text/plain")
    assert mock.requests[-1].body == masked((row * 2000).encode())


STRANGE = [("application/octet-stream", ""), ("image/png", ""), ("text/plain; charset=utf-16", ""), ("text/plain", "compress")]


@pytest.mark.parametrize("kind, coding", STRANGE)
def test_what_cannot_be_scanned_is_refused(gateway, mock, kind, coding):
    headers = {"content-encoding": coding} if coding else {}
    answer = post(gateway, "/generic/reflect", MAIL, kind, **headers)
    assert answer.status == 415 and answer.json()["status"] == "UnsupportedMediaType"
    assert not mock.requests, "a refused body was sent on"
    mock.canned["it"] = (200, kind, MAIL.encode(), coding, 0)
    answer = gateway.call("GET", "/generic/canned/it")
    assert answer.status == 502 and MAIL.encode() not in answer.body


@pytest.mark.parametrize("kind, coding", STRANGE)
def test_what_cannot_be_scanned_passes_where_that_is_wanted(gateway, mock, kind, coding):
    headers = {"content-encoding": coding} if coding else {}
    answer = post(gateway, "/lenient/reflect", MAIL, kind, **headers)
    assert (answer.status, answer.body, mock.requests[-1].raw) == (200, MAIL.encode(), MAIL.encode())
    why = "not_scanned_content_coding" if coding else "not_scanned_content_type"
    told = ['"request_scan":"%s"' % why, '"answer_scan":"%s"' % why, '"route":"lenient"']
    gateway.wait_for(lambda: [line for line in gateway.log if all(part in line for part in told)])


def test_a_body_that_is_not_in_its_coding(gateway, mock):
    answer = post(gateway, "/generic/reflect", b"not gzip", "text/plain", **{"content-encoding": "gzip"})
    assert answer.status in (400, 502) and b"not gzip" not in b"".join(one.raw for one in mock.requests)


@pytest.mark.parametrize("status", [204, 301, 404, 500, 503])
def test_the_upstreams_status_passes(gateway, mock, status):
    mock.canned["it"] = (status, "text/plain", b"" if status == 204 else b"said by " + MAIL.encode(), "", 0)
    answer = gateway.call("GET", "/generic/canned/it")
    assert (answer.status, answer.body) == (status, b"" if status == 204 else masked(b"said by " + MAIL.encode()))


def test_head_and_empty_bodies(gateway, mock):
    mock.canned["it"] = (200, "text/plain", b"hello", "", 0)
    answer = gateway.call("HEAD", "/generic/canned/it")
    assert (answer.status, answer.body) == (200, b"")
    assert gateway.call("DELETE", "/generic/canned/it").body == b"hello"
    assert gateway.call("POST", "/generic/reflect", b"", {"content-type": "text/plain"}).body == b""


def test_headers_on_the_way(gateway, mock):
    headers = {
        "connection": "close, x-hop",
        "x-hop": "1",
        "te": "trailers",
        "proxy-authorization": "Basic eDp5",
        "x-kept": "2",
        "authorization": "Bearer own",
        "x-added": "by the caller",
    }
    gateway.call("GET", "/restored/reflect?q=a%20b&c", headers=headers)
    came = mock.requests[-1]
    got = {name.lower(): value for name, value in came.headers}
    assert came.path == "/restored/reflect?q=a%20b&c"
    assert got["x-kept"] == "2" and got["authorization"] == "Bearer own" and got["x-added"] == "by the gateway"
    assert got["host"] == "127.0.0.1:%d" % mock.port
    assert not {"x-hop", "te", "proxy-authorization"} & set(got)


def test_a_token_does_not_travel_on(gateway, mock):
    assert gateway.call("GET", "/private/reflect").status == 401 and not mock.requests
    bearer = {"authorization": "Bearer " + gateway.token}
    assert gateway.call("GET", "/private/reflect", headers=bearer).status == 200
    assert gateway.token not in mock.requests[-1].everything()


def test_an_upstream_that_is_not_there(gateway):
    answer = post(gateway, "/nobody/x", {"a": MAIL}, "application/json")
    assert (answer.status, answer.json()["status"]) == (502, "ProviderError")
    ask = {"model": "plain", "messages": [{"role": "user", "content": MAIL}]}
    answer = gateway.call("POST", "/nobody/v1/chat/completions", ask)
    assert answer.status == 502 and answer.json()["error"]["type"] == "server_error"
    assert MAIL.encode() not in answer.body and answer.headers["x-request-id"].startswith("prq_")
    count = 'portcullis_upstream_errors_total{kind="connect",upstream="nobody"} '
    gateway.wait_for(lambda: [line for line in gateway.metrics().splitlines() if line.startswith(count)][0] >= count + "2")


def test_one_of_two_peers_is_not_there(gateway, mock):
    for _ in range(4):
        assert post(gateway, "/half/reflect", {"a": MAIL}, "application/json").json() == {"a": MAIL}
        assert gateway.call("GET", "/half/reflect").status == 200


def test_a_rate(gateway, mock):
    answers = [gateway.call("GET", "/rare/reflect") for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429] and len(mock.requests) == 2
    assert 0 < int(answers[2].headers["retry-after"]) <= 3600


def test_a_fixed_answer(gateway):
    answer = gateway.call("GET", "/fixed/anything")
    assert (answer.status, answer.body) == (418, b"short and stout")


def has_http2():
    curl = shutil.which("curl")
    return curl and "HTTP2" in subprocess.run([curl, "-V"], capture_output=True, text=True).stdout


def http2(gateway, path, body, *options):
    """A request by prior knowledge; its status and body."""
    url = "http://127.0.0.1:%d%s" % (gateway.h2c, path)
    command = ["curl", "-sS", "--http2-prior-knowledge", "-w", "\n%{http_version} %{http_code}", *options, url]
    done = subprocess.run(command, input=body, capture_output=True, timeout=30)
    answer, _, end = done.stdout.rpartition(b"\n")
    version, status = end.split()
    assert version == b"2", done.stderr
    return int(status), answer


needs_http2 = pytest.mark.skipif(not has_http2(), reason="needs a curl that speaks HTTP/2")


@needs_http2
@pytest.mark.parametrize("way", [["--data-binary", "@-"], ["-T", "-", "-X", "POST"]], ids=["length", "no_length"])
@pytest.mark.parametrize("route", ["generic", "restored", "v1/chat/completions?"])
def test_http2_without_tls(gateway, mock, route, way):
    """A body is redacted however it comes; HTTP/2 needs neither a length nor a coding to have one."""
    if route.startswith("v1"):
        body = json.dumps({"model": "plain", "messages": [{"role": "user", "content": MAIL + " " * 90000}]}).encode()
        status, answer = http2(gateway, "/v1/chat/completions", body, "-H", "content-type: application/json", *way)
        assert json.loads(answer)["usage"]
    else:
        body = ("%s and more\n" % MAIL * 3000).encode()
        status, answer = http2(gateway, "/%s/reflect" % route, body, "-H", "content-type: text/plain", *way)
        assert answer == (masked(body) if route == "generic" else body)
    assert status == 200 and MAIL.encode() not in mock.requests[-1].body


@needs_http2
@pytest.mark.parametrize("way", [["--data-binary", "@-"], ["-T", "-", "-X", "POST"]], ids=["length", "no_length"])
def test_http2_body_that_does_not_say_what_it_is(gateway, mock, way):
    status, _ = http2(gateway, "/generic/reflect", MAIL.encode(), "-H", "content-type:", *way)
    assert status == 415 and not mock.requests
