"""Pools of peers of which some fail: checks, ejection, breakers, shedding, and what the metrics say of them."""

import http.server
import json
import signal
import socket
import threading
import time

import pytest
from gateway import MINIMAL, Gateway

HEAD = MINIMAL + """
[log]
format = "json"
"""

ROUTE = """
[[routes]]
name = "plain"
path = "/plain"
upstream = "pool"
auth = "none"

[[routes]]
name = "chat"
path = "/v1"
upstream = "pool"
auth = "none"
redact = {{}}
"""

CHAT = {"model": "plain", "messages": [{"role": "user", "content": "hello"}]}


class Peer:
    """An upstream whose health and answers can be changed."""

    def __init__(self):
        self.status, self.health, self.hits, self.checks, self.gate = 200, 200, 0, 0, None
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.rfile.read(int(self.headers.get("content-length") or 0))
                checked = self.path == "/healthy"
                if checked:
                    peer.checks += 1
                else:
                    peer.hits += 1
                    if peer.gate:
                        peer.gate.wait(20)
                body = json.dumps({"port": peer.port}).encode()
                self.send_response(peer.health if checked else peer.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port


@pytest.fixture
def peers():
    both = [Peer(), Peer()]
    yield both
    for peer in both:
        if peer.gate:
            peer.gate.set()
        peer.close()


def gate(peers, pool, limits=""):
    urls = ", ".join('"%s"' % peer.url for peer in peers)
    config = HEAD + limits + "\n[upstreams.pool]\npeers = [%s]\n" % urls + pool + ROUTE
    return Gateway("", config)


def statuses(running, count, path="/plain/x"):
    return [running.call("GET", path).status for _ in range(count)]


def gauge(running, line):
    found = [row for row in running.metrics().splitlines() if row.startswith(line + " ")]
    return float(found[0].split()[-1]) if found else None


def test_a_peer_that_checks_call_down_gets_nothing_until_it_is_back(peers):
    health = 'health = {{ path = "/healthy", interval = "100ms", timeout = "2s", healthy = 2, unhealthy = 2 }}\n'
    down = 'portcullis_upstream_peers{state="unhealthy",upstream="pool"}'
    with gate(peers, health) as running:
        assert statuses(running, 4) == [200] * 4
        assert all(peer.hits == 2 for peer in peers)
        peers[0].health = 500
        running.wait_for(lambda: gauge(running, down) == 1)
        before = peers[0].hits
        assert statuses(running, 6) == [200] * 6
        assert peers[0].hits == before, "it got requests while it was down"
        peers[1].health = 500
        running.wait_for(lambda: gauge(running, down) == 2)
        answer = running.call("GET", "/plain/x")
        assert answer.status == 503 and answer.headers["retry-after"] == "1"
        assert answer.json()["status"] == "ServiceNotAvailable"
        answer = running.call("POST", "/v1/chat/completions", CHAT)
        assert answer.status == 503 and answer.headers["retry-after"] == "1"
        assert answer.json()["error"]["type"] == "server_error"
        peers[0].health = peers[1].health = 204
        running.wait_for(lambda: gauge(running, down) == 0)
        assert statuses(running, 4) == [200] * 4


def test_checks_end_with_the_configuration_that_asks_for_them(peers):
    """Though a request of before still has the pool that they were for."""
    health = 'health = {{ path = "/healthy", interval = "100ms", timeout = "2s", healthy = 2, unhealthy = 2 }}\n'
    peer = peers[0]
    with gate([peer], health) as running:
        peer.gate = threading.Event()
        waiting = threading.Thread(target=statuses, args=(running, 1))
        waiting.start()
        running.wait_for(lambda: peer.hits == 1 and peer.checks > 2)
        running.write(running.config.replace(health, ""))
        running.process.send_signal(signal.SIGHUP)
        running.wait_for(lambda: 'portcullis_reloads_total{result="ok"} 1' in running.metrics())
        peer.health, before = 500, peer.checks
        time.sleep(1)
        assert peer.checks <= before + 1
        peer.gate.set()
        waiting.join(20)
        assert statuses(running, 3) == [200] * 3


@pytest.mark.parametrize("path", ["/plain/x", "/v1/models"])
def test_a_peer_that_fails_is_put_out_and_comes_back(peers, path):
    outliers = 'outliers = {{ failures = 3, rate = 0.0, eject = "2s" }}\n'
    out = 'portcullis_upstream_peers{state="ejected",upstream="pool"}'
    with gate(peers, outliers) as running:
        peers[0].status = 503
        seen = statuses(running, 6, path)
        assert sorted(seen) == [200] * 3 + [503] * 3
        assert gauge(running, out) == 1
        assert statuses(running, 6, path) == [200] * 6, "it got requests while it was out"
        assert peers[0].hits == 3
        # The other one fails as well: half of them may be out, not all.
        peers[1].status = 503
        assert statuses(running, 5, path) == [503] * 5
        assert gauge(running, out) == 1
        peers[0].status = peers[1].status = 200
        running.wait_for(lambda: gauge(running, out) == 0)
        assert statuses(running, 4, path) == [200] * 4
        assert peers[0].hits > 3


def test_what_is_known_of_a_peer_outlives_a_reload(peers):
    with gate(peers, 'outliers = {{ failures = 1, eject = "1m" }}\n') as running:
        peers[0].status = 502
        assert sorted(statuses(running, 2)) == [200, 502]
        running.process.send_signal(1)
        running.wait_for(lambda: any("reloaded" in line for line in running.log))
        assert statuses(running, 6) == [200] * 6


@pytest.mark.parametrize("path", ["/plain/x", "/v1/models"])
def test_a_breaker_opens_after_failures_and_one_request_tries(peers, path):
    breaker = 'outliers = {{ failures = 0, rate = 0.0 }}\nbreaker = {{ failures = 3, open = "1s", longest = "2s" }}\n'
    opened = 'portcullis_upstream_circuit{state="open",upstream="pool"}'
    with gate(peers[:1], breaker) as running:
        peers[0].status = 502
        assert statuses(running, 3, path) == [502] * 3
        assert gauge(running, opened) == 1
        answer = running.call("GET", path)
        assert answer.status == 503 and int(answer.headers["retry-after"]) >= 1
        assert peers[0].hits == 3, "it got a request while the breaker was open"
        time.sleep(1.1)
        assert statuses(running, 2, path) == [502, 503]
        assert peers[0].hits == 4, "one request tries"
        peers[0].status = 200
        time.sleep(2.1)
        assert statuses(running, 3, path) == [200] * 3
        assert gauge(running, opened) == 0


@pytest.mark.parametrize("path", ["/plain/x", "/v1/models"])
def test_so_many_at_once_so_many_wait_and_the_rest_is_told(peers, path):
    breaker = 'breaker = {{ requests = 2, pending = 1, wait = "20s", failures = 0 }}\n'
    with gate(peers[:1], breaker) as running:
        peers[0].gate = threading.Event()
        got = []
        threads = [
            threading.Thread(target=lambda: got.append(running.call("GET", path).status), daemon=True) for _ in range(3)
        ]
        for thread in threads[:2]:
            thread.start()
        running.wait_for(lambda: peers[0].hits == 2)
        threads[2].start()
        # It waits by now; nothing tells so from outside.
        time.sleep(0.5)
        assert running.call("GET", path).status == 503 and peers[0].hits == 2
        assert gauge(running, 'portcullis_upstream_in_flight{upstream="pool"}') == 2
        peers[0].gate.set()
        for thread in threads:
            thread.join(20)
        assert got == [200] * 3
        running.wait_for(lambda: gauge(running, 'portcullis_upstream_in_flight{upstream="pool"}') == 0)


def test_more_requests_than_may_be_under_way_are_shed(peers):
    with gate(peers[:1], "", "[limits]\nin_flight = 2\n") as running:
        peers[0].gate = threading.Event()
        got = []
        threads = [
            threading.Thread(target=lambda: got.append(running.call("GET", "/plain/x").status), daemon=True) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        running.wait_for(lambda: peers[0].hits == 2)
        answer = running.call("POST", "/v1/chat/completions", CHAT)
        assert answer.status == 503 and answer.headers["retry-after"] == "1"
        assert answer.json()["error"]["code"] == "overloaded"
        assert running.call("GET", "/readyz", port=running.admin).status == 200
        assert gauge(running, 'portcullis_refused_total{reason="in_flight"}') == 1
        peers[0].gate.set()
        for thread in threads:
            thread.join(20)
        assert got == [200] * 2
        assert running.call("GET", "/plain/x").status == 200


def test_a_peer_that_nobody_listens_at_costs_nobody_a_request(peers):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    config = HEAD + '\n[upstreams.pool]\npeers = ["http://127.0.0.1:%d", "%s"]\n' % (port, peers[0].url) + ROUTE
    with Gateway("", config) as running:
        assert statuses(running, 12) == [200] * 12
        assert gauge(running, 'portcullis_upstream_peers{state="ejected",upstream="pool"}') == 1
