"""HTTP/1 at the byte: what could be read in two ways is refused, and an origin behind us sees one well-formed request or
none. `H1_FRAMING` names a file of more cases (JSON lines with `id` and `raw_b64`)."""

import base64
import json
import os
import re
import socket
import threading
import time

import pytest
from gateway import Gateway

CONFIG = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[[listen]]
address = "127.0.0.1:{h2c}"
proxy_protocol = true

[admin]
address = "127.0.0.1:{admin}"

[clients]
trusted_peers = ["127.0.0.1"]
forwarded = "x-forwarded-for"

[limits]
head = "16KiB"
headers = 100
head_time = "1s"
idle = "2s"
body_grace = "1s"
connections_per_address = 20
queue = "30s"

[log]
format = "json"

[upstreams.origin]
peers = ["{upstream}"]

[[routes]]
name = "rare"
path = "/rare"
upstream = "origin"
auth = "none"
rate = {{ requests = 1, per = "1h", by = "address" }}

[[routes]]
name = "collected"
path = "/v1/chat"
upstream = "origin"
auth = "none"
redact = {{}}

[[routes]]
name = "all"
upstream = "origin"
auth = "none"
"""


class Origin:
    """Keeps every byte that comes, and answers what it takes for a request."""

    ANSWER = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
        b"Proxy-Authenticate: Basic\r\nX-Kept: 1\r\n\r\nok"
    )

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.seen, self.lock = [], threading.Lock()
        threading.Thread(target=self.run, daemon=True).start()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server.getsockname()[1]

    def run(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        got = b""
        with connection:
            connection.settimeout(30)
            while True:
                try:
                    more = connection.recv(65536)
                except OSError:
                    more = b""
                if not more:
                    break
                got += more
                while (length := whole(got)) is not None:
                    with self.lock:
                        self.seen.append(got[:length])
                    got = got[length:]
                    connection.sendall(self.ANSWER)
        if got:
            with self.lock:
                self.seen.append(b"PARTIAL " + got)

    def take(self):
        time.sleep(0.05)
        with self.lock:
            seen, self.seen = self.seen, []
        return seen


def whole(data):
    """Where the request ends that `data` begins with, read strictly; None while it has not ended."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = data[:end].split(b"\r\n")
    assert re.fullmatch(rb"[A-Z]+ /[!-~]* HTTP/1\.1", head[0]), head[0]
    fields = [re.fullmatch(rb"([!#$%&'*+.^`|~0-9A-Za-z-]+): ?([ -~\x80-\xff]*)", line) for line in head[1:]]
    assert all(fields), head
    names = [field[1].lower() for field in fields]
    values = dict(zip(names, [field[2] for field in fields], strict=True))
    assert names.count(b"host") == 1
    assert names.count(b"content-length") + names.count(b"transfer-encoding") <= 1
    end += 4
    if b"content-length" in names:
        end += int(values[b"content-length"])
        return end if len(data) >= end else None
    if b"transfer-encoding" in names:
        assert values[b"transfer-encoding"] == b"chunked"
        while True:
            line = data.find(b"\r\n", end)
            if line < 0:
                return None
            assert re.fullmatch(rb"[0-9a-fA-F]{1,15}", data[end:line]), data[end:line]
            size = int(data[end:line], 16)
            end = line + 2 + size + 2
            if len(data) < end:
                return None
            assert data[end - 2 : end] == b"\r\n"
            if size == 0:
                return end
    return end


@pytest.fixture(scope="module")
def origin():
    return Origin()


@pytest.fixture(scope="module")
def front(origin):
    with Gateway(origin.url, CONFIG) as running:
        yield running


def ask(port, data, seconds=8, half=False):
    """What comes back until the other side closes, and whether it did."""
    out = b""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as c:
        try:
            c.sendall(data)
            if half:
                c.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            while more := c.recv(65536):
                out += more
        except TimeoutError:
            return out, False
        except OSError:
            pass
    return out, True


def statuses(out):
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", out) if status != b"100"]


POST = b"POST /x HTTP/1.1\r\nHost: a\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

REFUSED = {
    "both lengths (RFC 9112 6.3)": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "both lengths, the other way": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!" + SMUGGLED,
    "the same length twice": POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "a list of lengths": POST + b"Content-Length: 5, 5\r\n\r\nhello",
    "a signed length": POST + b"Content-Length: +5\r\n\r\nhello",
    "a length of no digits": POST + b"Content-Length: \r\n\r\n",
    "a length that overflows": POST + b"Content-Length: 18446744073709551621\r\n\r\nhello",
    "an unknown coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two codings": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "two coding headers": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a coding with a vertical tab": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a coding in HTTP/1.0": b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": POST + b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "a folded line (5.2)": POST + b"X: a\r\n b\r\n\r\n",
    "a first line that is folded": b"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    "a bare LF in the head (2.2)": b"GET / HTTP/1.1\nHost: a\n\n",
    "a bare LF after a field": POST + b"X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare CR": POST + b"X: y\rTransfer-Encoding: chunked\r\n\r\n",
    "a zero byte": POST + b"X: \0\r\n\r\n",
    "a field name with a zero byte": POST + b"Transfer-Encoding\0: chunked\r\n\r\n",
    "no Host (3.2)": b"GET / HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "an empty Host": b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "a Host with a path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "a Host with a user": b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
    "a list of Hosts": b"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",
    "a target that is not Host": b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target of another scheme": b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a space": b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a fragment": b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target that is not ASCII": b"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "tabs": b"GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
    "another version": b"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
    "a lower-case version": b"GET / http/1.1\r\nHost: a\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "HTTP/2 where it is not spoken": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no colon": POST + b"nothing\r\n\r\n",
    "no name": POST + b": x\r\n\r\n",
    "a chunk size with 0x (7.1)": CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
    "a signed chunk size": CHUNKED + b"+5\r\nhello\r\n0\r\n\r\n",
    "a chunk size that overflows": CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "a chunk that is longer than it says": CHUNKED + b"5\r\nhello!!0\r\n\r\n" + SMUGGLED,
    "chunk lines that end with LF": CHUNKED + b"5\nhello\n0\n\n" + SMUGGLED,
    "a chunk line that ends with CR": CHUNKED + b"5\rhello\r\n0\r\n\r\n",
    "a LF in a chunk's extension": CHUNKED + b'5;a="\n"\r\nhello\r\n0\r\n\r\n',
    "an extension without an end": CHUNKED + b"5;" + b"a" * 70000 + b"\r\nhello\r\n0\r\n\r\n",
    "a trailer that is none": CHUNKED + b"5\r\nhello\r\n0\r\nno trailer\r\n\r\n",
}


@pytest.mark.parametrize("path", [b"/x", b"/v1/chat/completions"], ids=["streamed", "collected"])
@pytest.mark.parametrize("what", REFUSED)
def test_what_can_be_read_in_two_ways_goes_nowhere(front, origin, what, path):
    data = REFUSED[what].replace(b"POST /x ", b"POST %s " % path)
    out, closed = ask(front.port, data)
    assert statuses(out) == [400] and closed, out
    head, body = out.split(b"\r\n\r\n", 1)
    assert b"connection: close" in head.lower()
    assert b"BadRequest" in body or b'"error"' in body, body
    # A body that turns out to be bad in the middle may have begun to leave; it is never whole.
    assert all(seen.startswith(b"PARTIAL ") for seen in origin.take())
    assert b"smuggled" not in out


def test_a_tunnel_is_refused(front):
    out, closed = ask(front.port, b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n")
    assert statuses(out) == [405] and closed and b"allow:" in out.lower()


def test_heads_have_a_size_and_a_number_of_fields(front):
    for field in (b"X: " + b"y" * 17000 + b"\r\n", b"".join(b"X-%d: y\r\n" % n for n in range(101))):
        out, closed = ask(front.port, b"GET / HTTP/1.1\r\nHost: a\r\n" + field + b"\r\n")
        assert statuses(out) == [431] and closed, out
    out, _ = ask(front.port, b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + b"X: y\r\n" * 97 + b"\r\n")
    assert statuses(out) == [200]


@pytest.mark.parametrize("data, body", [
    (CHUNKED + b"5;a=1\r\nhello\r\n00\r\nX-Trailer: 1\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
    (CHUNKED + b"3\r\nhel\r\n2\r\nlo\r\n0\r\nContent-Length: 9\r\n\r\n", None),
    (POST + b"Content-Length: 005\r\n\r\nhello", b"hello"),
    (b"\r\n" + POST + b"Content-Length:\t5 \r\n\r\nhello", b"hello"),
    (b"POST http://a/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
], ids=["extension and trailer", "two chunks", "leading zeros", "white space", "absolute target"])
def test_what_can_be_read_in_one_way_arrives_once(front, origin, data, body):
    origin.take()
    last = b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    out, closed = ask(front.port, data + last)
    assert statuses(out) == [200, 200] and closed
    first, second = origin.take()
    assert first.startswith(b"POST /x HTTP/1.1\r\n") and second.startswith(b"GET /last HTTP/1.1\r\n")
    assert b"railer" not in first
    if body:
        assert first.endswith(b"\r\n\r\n" + body), first


def test_byte_by_byte_is_the_same_request(front, origin):
    origin.take()
    data = CHUNKED.replace(b"Host", b"Connection: close\r\nHost") + b"5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", front.port), timeout=8) as c:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in data:
            c.sendall(bytes([byte]))
        assert statuses(c.recv(65536)) == [200]
    (seen,) = origin.take()
    chunks = seen.split(b"\r\n\r\n", 1)[1]
    assert b"".join(re.split(rb"[0-9a-f]+\r\n|\r\n", chunks)) != b"" and b"hello" in seen


def test_pipelined_requests_are_answered_in_order_up_to_the_bad_one(front, origin):
    origin.take()
    good = b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n"
    out, closed = ask(front.port, good % 1 + good % 2 + b"GET /bad HTTP/1.1\r\n\r\n" + good % 3)
    assert statuses(out) == [200, 200, 400] and closed
    assert [seen.split()[1] for seen in origin.take()] == [b"/1", b"/2"]


def test_hop_by_hop_headers_end_here(front, origin):
    origin.take()
    out, _ = ask(
        front.port,
        b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close, X-Named\r\nX-Named: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n"
        b"Trailer: x\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nProxy-Connection: close\r\nX_Under: 1\r\n"
        b"Proxy-Authorization: Basic eA==\r\nX-Forwarded-For: 1.2.3.4\r\nX-Real-IP: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\n"
        b"X-Kept: 1\r\n\r\n",
    )
    (seen,) = origin.take()
    names = {line.split(b":")[0].lower() for line in seen.split(b"\r\n")[1:] if line}
    assert names <= {b"host", b"x-kept", b"accept-encoding", b"connection"} and b"x-kept" in names, names
    back = {line.split(b":")[0].lower() for line in out.split(b"\r\n\r\n")[0].split(b"\r\n")[1:]}
    assert not back & {b"x-hop", b"keep-alive", b"proxy-authenticate"} and b"x-kept" in back, back


def test_slow_heads_and_bodies_are_told_and_cut(front):
    begun = time.monotonic()
    out, closed = ask(front.port, b"GET / HTTP/1.1\r\nHost:")
    assert statuses(out) == [408] and closed and 0.9 < time.monotonic() - begun < 4
    begun = time.monotonic()
    out, closed = ask(front.port, b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{{")
    assert statuses(out) == [408] and closed and 0.9 < time.monotonic() - begun < 5
    # Nothing at all, and nothing more: no word is due.
    begun = time.monotonic()
    assert ask(front.port, b"") == (b"", True) and 0.9 < time.monotonic() - begun < 4
    begun = time.monotonic()
    out, closed = ask(front.port, b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
    assert statuses(out) == [200] and closed and 1.9 < time.monotonic() - begun < 5


def test_a_body_that_drips_is_cut_and_one_that_flows_is_not(front):
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    with socket.create_connection(("127.0.0.1", front.port), timeout=8) as c:
        c.sendall(head % 100)
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < 6:
                c.sendall(b"x")
                time.sleep(0.2)
        except OSError:
            pass
        assert time.monotonic() - begun < 5
    with socket.create_connection(("127.0.0.1", front.port), timeout=8) as c:
        c.sendall(head % 10_000)
        for _ in range(10):
            c.sendall(b"x" * 1000)
            time.sleep(0.3)
        assert statuses(c.recv(65536)) == [200]


def rate_of(front, client, port=None, first=b""):
    more = b"X-Forwarded-For: %s\r\n" % client if not first else b""
    request = b"GET /rare HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + more + b"\r\n"
    out, _ = ask(port or front.port, first + request)
    return statuses(out)


def test_a_trusted_peer_says_who_the_caller_is(front):
    assert rate_of(front, b"192.0.2.1") == [200]
    assert rate_of(front, b"9.9.9.9, 192.0.2.1") == [429]
    assert rate_of(front, b"192.0.2.1, 192.0.2.2") == [200]
    # The same by the PROXY protocol, in both versions.
    assert rate_of(front, b"", front.h2c, b"PROXY TCP4 192.0.2.3 127.0.0.1 50000 80\r\n") == [200]
    two = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes([192, 0, 2, 3, 127, 0, 0, 1]) + b"\xc3\x50\0\x50"
    assert rate_of(front, b"", front.h2c, two) == [429]


def test_without_its_head_the_proxy_protocol_is_refused(front):
    assert ask(front.h2c, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") == (b"", True)


def test_connections_are_counted_by_address(front):
    head = b"PROXY TCP4 192.0.2.77 127.0.0.1 50000 80\r\n"
    opened = []
    try:
        for _ in range(20):
            opened.append(socket.create_connection(("127.0.0.1", front.h2c), timeout=8))
            opened[-1].sendall(head)
        time.sleep(0.3)
        assert ask(front.h2c, head + b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n") == (b"", True)
        other = b"PROXY TCP4 192.0.2.78 127.0.0.1 50000 80\r\nGET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        assert statuses(ask(front.h2c, other)[0]) == [200]
    finally:
        for one in opened:
            one.close()
    time.sleep(0.3)
    again = head + b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    assert statuses(ask(front.h2c, again)[0]) == [200]


def rows():
    path = os.environ.get("H1_FRAMING")
    if not path:
        return []
    with open(path) as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.skipif(not rows(), reason="H1_FRAMING names no file")
def test_the_origin_sees_one_request_or_none(front, origin):
    bad = []
    for row in rows():
        origin.take()
        data = base64.b64decode(row["raw_b64"]).replace(b"{TOKEN}", b"t")
        out, closed = ask(front.port, data, half=True)
        seen = [one for one in origin.take() if not one.startswith(b"PARTIAL ")]
        honest = 2 if row["id"] == "http1/req-29" else 1
        got = statuses(out)
        if len(seen) > honest or len(got) > honest or not closed or any(500 <= one for one in got):
            bad.append((row["id"], got, seen, closed))
    assert not bad, bad
