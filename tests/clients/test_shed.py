"""What a gateway with too much to do says: the same to all callers, on connections that go on, however they ask."""

import json
import socket
import threading

import pytest
from gateway import MINIMAL, Gateway
from test_peers import ROUTE, Peer, gauge

CONFIG = MINIMAL + """
[log]
format = "json"

[limits]
in_flight = 1

[upstreams.pool]
peers = ["{upstream}"]
""" + ROUTE

BODY = json.dumps({"model": "plain", "messages": [{"role": "user", "content": "x" * 12000}]}).encode()
POST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
GET = b"GET /plain/x HTTP/1.1\r\nhost: a\r\n"
WHOLE = POST + b"content-length: %d\r\n\r\n" % len(BODY) + BODY

# What is sent, in pieces that are sent a moment apart; how many answers come; whether the connection goes on.
ROWS = {
    "a body": ([WHOLE], 1, True),
    "a body in pieces": ([WHOLE[:40], WHOLE[40:200], WHOLE[200:9000], WHOLE[9000:]], 1, True),
    "no body": ([GET + b"\r\n"], 1, True),
    "kept alive by name": ([GET + b"Connection: Keep-Alive\r\n\r\n"], 1, True),
    "one after the other": ([WHOLE + GET + b"\r\n" + WHOLE], 3, True),
    "chunks": ([POST + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"], 1, False),
    "more than is read for nothing": ([POST + b"content-length: 1000000\r\n\r\n" + BODY], 1, False),
    "a body that does not come": ([POST + b"content-length: 100\r\n\r\n{"], 1, False),
    "the last of its connection": ([GET + b"connection: close\r\n\r\n"], 1, False),
    "a caller that waits for leave": ([POST + b"expect: 100-continue\r\ncontent-length: 9\r\n\r\n"], 1, False),
    "HTTP/1.0": ([b"GET /plain/x HTTP/1.0\r\nhost: a\r\n\r\n"], 1, False),
    "an absolute target": ([b"GET http://a/plain/x HTTP/1.1\r\nhost: a\r\n\r\n"], 1, True),
}


# Those that are answered without a session.
AT_THE_DOOR = {"a body", "a body in pieces", "no body", "kept alive by name", "one after the other"}


@pytest.fixture(scope="module")
def busy():
    """A gateway with one request under way, which is all that it may have, and what ends that."""
    peer = Peer()
    with Gateway("http://127.0.0.1:%d" % peer.port, CONFIG) as gate:
        peer.gate = threading.Event()
        first = threading.Thread(target=lambda: gate.call("GET", "/plain/x"), daemon=True)
        first.start()
        gate.wait_for(lambda: peer.hits == 1)
        yield gate, peer
        peer.gate.set()
        first.join(20)


def answered(reader):
    """Status, header fields and body."""
    status = int(reader.readline().split()[1])
    fields = {}
    while line := reader.readline().strip():
        name, _, value = line.decode().partition(":")
        fields[name.lower()] = value.strip()
    return status, fields, reader.read(int(fields["content-length"]))


def refused(gate):
    return gauge(gate, 'portcullis_refused_total{reason="in_flight"}') or 0


@pytest.mark.parametrize("row", ROWS)
def test_all_are_told_the_same(busy, row):
    gate, _ = busy
    pieces, answers, goes_on = ROWS[row]
    before = refused(gate)
    with socket.create_connection(("127.0.0.1", gate.port), timeout=20) as connection:
        reader = connection.makefile("rb")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            threading.Event().wait(0.05)
        for _ in range(answers):
            status, fields, body = answered(reader)
            assert status == 503 and fields["retry-after"] == "1" and fields["content-type"].startswith("application/json")
            said = json.loads(body)
            assert said["error"]["code"] == "overloaded" if "error" in said else said["status"] == "ServiceNotAvailable", said
            assert fields["x-request-id"]
        assert (fields.get("connection") != "close") == goes_on and fields["date"]
        # Of a session's answers it is always there.
        assert ("connection" not in fields) == (row in AT_THE_DOOR)
        if goes_on:
            # Its health is no request like others.
            connection.sendall(b"GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n")
            assert answered(reader)[0] == 200
        else:
            assert reader.read() == b""
    gate.wait_for(lambda: refused(gate) == before + answers)


def test_what_no_route_takes_is_not_there_and_heads_have_no_body(busy):
    gate, _ = busy
    assert gate.call("GET", "/nowhere").status == 404
    answer = gate.call("HEAD", "/plain/x")
    assert (answer.status, answer.body) == (503, b"")


def test_a_refused_request_is_logged_and_its_connection_serves_the_next(busy):
    gate, peer = busy
    with socket.create_connection(("127.0.0.1", gate.port), timeout=20) as connection:
        reader = connection.makefile("rb")
        connection.sendall(WHOLE)
        status, fields, body = answered(reader)
        line = gate.wait_for(lambda: next((line for line in gate.log if fields["x-request-id"] in line), None))
        told = json.loads(line)
        sizes = (told["bytes_in"], told["bytes_out"])
        assert (told["status"], told["fault"], told["route"], told["method"]) == (503, "overloaded", "chat", "POST")
        assert sizes == (len(BODY), len(body)) and told["client"] == "127.0.0.1"
        peer.gate.set()
        gate.wait_for(lambda: gauge(gate, "portcullis_in_flight_requests") == 0)
        connection.sendall(WHOLE + GET + b"\r\n")
        assert [answered(reader)[0] for _ in range(2)] == [200, 200]
