"""Connections to upstreams where there are few file descriptors: what is too much is refused, and the rest goes on."""

import http.server
import shlex
import signal
import threading

import gateway
import http2
import pytest
from gateway import MINIMAL, Gateway

CONFIG = MINIMAL + """
[log]
format = "json"

[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[upstreams.slow]
peers = ["{upstream}"]

[[routes]]
name = "slow"
path = "/slow"
upstream = "slow"
auth = "none"

[[routes]]
name = "chat"
path = "/v1"
upstream = "slow"
auth = "none"
redact = {{}}
"""

DESCRIPTORS = 256

# More requests than there are descriptors, on three connections.
STREAMS, CONNECTIONS = 90, 3


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


class Gated:
    """An upstream that answers once it may."""

    def __enter__(self):
        self.gate, self.taken, lock = threading.Event(), 0, threading.Lock()
        gated = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                with lock:
                    gated.taken += 1
                gated.gate.wait(60)
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.do_GET()

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def upstream():
    with Gated() as running:
        yield running


@pytest.fixture
def few(upstream, tmp_path, monkeypatch):
    """A gateway that may open few files."""
    start = tmp_path / "few"
    start.write_text('#!/bin/sh\nulimit -n %d\nexec %s "$@"\n' % (DESCRIPTORS, shlex.quote(str(gateway.BINARY))))
    start.chmod(0o755)
    monkeypatch.setattr(gateway, "BINARY", start)
    with Gateway(upstream.url, CONFIG) as running:
        yield running


def count(running, kind):
    return running.metric('portcullis_upstream_errors_total{kind="%s",upstream="slow"}' % kind)


def statuses(connection):
    """Of all its streams, in the order of their answers."""
    heads = (connection.until(http2.HEADERS, http2.RST_STREAM, http2.GOAWAY) for _ in range(STREAMS))
    return [int(head.headers[":status"]) if head and head.kind == http2.HEADERS else None for head in heads]


def test_streams_that_are_too_many_for_the_descriptors_are_refused_and_nothing_else_fails(few, upstream):
    connections = [http2.Connection(few.h2c, timeout=60) for _ in range(CONNECTIONS)]
    try:
        for one in connections:
            for _ in range(STREAMS):
                one.request(path="/slow/x")
        # Those that are refused are answered at once, the others wait for the upstream.
        few.wait_for(lambda: count(few, "full") > 0 and count(few, "full") + upstream.taken >= CONNECTIONS * STREAMS)
        refused = count(few, "full")
        assert 0 < refused < CONNECTIONS * STREAMS
        assert few.is_ready()
        made = few.api("/v2/key/generate", {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256"})
        assert made.status < 300, made.body
        lines = len(few.log)
        few.process.send_signal(signal.SIGHUP)
        few.wait_for(lambda: any("reloaded" in line for line in few.log[lines:]))
        # A request whose body is collected is refused alike, and told when to come again.
        chat = {"model": "plain", "messages": [{"role": "user", "content": "hello"}]}
        answer = few.call("POST", "/v1/chat/completions", chat)
        assert answer.status == 503 and answer.headers.get("retry-after"), answer
        upstream.gate.set()
        got = [status for one in connections for status in statuses(one)]
        assert got.count(503) == refused and got.count(200) == len(got) - refused, got
        assert count(few, "broken") == count(few, "connect") == 0
        assert few.call("GET", "/slow/x").status == 200
    finally:
        for one in connections:
            one.sock.close()
