"""What a head may not say, and what of it does not go on."""

import base64
import socket

import pytest
from gateway import CONFIG, Gateway
from http2 import END_HEADERS, HEADERS, RST_STREAM, Connection, block, frame

FALLS = [
    "X-Original-URL",
    "X-Original-URI",
    "X-Original-Host",
    "X-Rewrite-URL",
    "X-Envoy-Original-Path",
    "X-Host",
    "X-HTTP-Host-Override",
    "True-Client-IP",
    "X-Client-IP",
    "Client-IP",
    "X-Cluster-Client-IP",
    "X-Real-IP",
    "X-Remote-Addr",
    "X-Originating-IP",
    "CF-Connecting-IP",
    "Fastly-Client-IP",
    "Fly-Client-IP",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Prefix",
    "X-Forwarded-Uri",
    "X-Forwarded-Client-Cert",
    "X-Original-Forwarded-For",
    "Forwarded",
    "WL-Proxy-Client-IP",
    "X-Envoy-External-Address",
]


def ask(port, *fields, method="GET", target="/generic/reflect", version="HTTP/1.1", body=b""):
    """One request as it is written here: its status and the head of the answer, with what came along."""
    lines = ["%s %s %s" % (method, target, version), "Host: gateway.test", *fields]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        sock.sendall("\r\n".join([*lines, "", ""]).encode("latin1") + body)
        answer = b""
        while b"\r\n\r\n" not in answer and (more := sock.recv(65536)):
            answer += more
    return int(answer.split(b" ", 2)[1]), answer


UPGRADES = [
    (("Connection: keep-alive, upgrade", "Upgrade: WebSocket"), 426),
    (("Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 8"), 426),
    (("Upgrade: websocket", "Sec-WebSocket-Version: 13"), 400),
    (("Connection: upgrade", "Upgrade: h2c, websocket"), 501),
    (("Connection: upgrade", "Upgrade: connect-udp"), 501),
]


@pytest.mark.parametrize("fields, refused", UPGRADES)
@pytest.mark.parametrize("target", ["/generic/reflect", "/lenient/x", "/private/x", "/v1/redact", "/v1/chat/completions"])
def test_another_protocol_is_refused_and_not_forgotten(gateway, mock, target, fields, refused):
    bearer = "Authorization: Bearer " + gateway.token
    key = "Sec-WebSocket-Key: " + base64.b64encode(b"0123456789abcdef").decode()
    status, answer = ask(gateway.port, *fields, key, bearer, "Connection: close", target=target)
    assert status == refused, answer
    assert not mock.requests


LAST = [("keep-alive", "close"), ("close", "keep-alive"), ("te", "Close"), ("x-a, close",), ("keep-alive, close",)]


@pytest.mark.parametrize("target", ["/generic/reflect", "/mask/reflect", "/readyz"])
@pytest.mark.parametrize("fields", LAST)
def test_the_fields_of_a_connection_are_one_list(gateway, mock, fields, target):
    lines = ["GET %s HTTP/1.1" % target, "Host: gateway.test", *("Connection: " + field for field in fields)]
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=10) as sock:
        sock.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while more := sock.recv(65536):
            answer += more
    assert answer.startswith(b"HTTP/1.1 200 ") and b"\r\nconnection: close\r\n" in answer.lower(), answer


@pytest.mark.parametrize("offer", ["h2c", "TLS/1.2", "HTTP/2.0, h2c"])
def test_an_offer_is_passed_over(gateway, mock, offer):
    fields = ("Connection: close, Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABk", "Upgrade: " + offer)
    assert ask(gateway.port, *fields)[0] == 200
    assert not {"upgrade", "http2-settings"} & {name.lower() for name, _ in mock.requests[-1].headers}


def test_websockets_over_http2_are_refused(gateway, mock):
    with Connection(gateway.h2c) as connection:
        stream = connection.stream()
        head = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/generic/reflect")]
        connection.send(frame(HEADERS, END_HEADERS, stream, block(head + [(":authority", connection.authority)])))
        got = connection.until(HEADERS, RST_STREAM, stream=stream)
        # Who was not told that this is served may not ask (RFC 8441 section 3).
        assert got.kind == RST_STREAM or got.headers[":status"] == "501"
    assert not mock.requests


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "trace", "CONNECT"])
def test_neither_echoes_nor_tunnels(gateway, mock, method):
    for target in ("/generic/reflect", "/v1/redact", "/nowhere"):
        status, answer = ask(gateway.port, "Connection: close", method=method, target=target)
        assert status == 405 and b"\r\nallow: get, head, post" in answer.lower(), answer
    with Connection(gateway.h2c) as connection:
        assert connection.status(connection.request(method=method, path="/generic/reflect")) in (405, None)
    assert not mock.requests


@pytest.mark.parametrize("route", ["generic", "mask", "restored"])
def test_nobody_names_another_target_or_caller(gateway, mock, route):
    fields = ["%s: /private" % name for name in FALLS] + ["X-Kept: 1", "Connection: close"]
    assert ask(gateway.port, *fields, target="/%s/reflect" % route)[0] == 200
    names = {name.lower() for name, _ in mock.requests[-1].headers}
    assert "x-kept" in names and not names & {name.lower() for name in FALLS}


def test_nor_with_underscores_where_those_pass(mock, upstream):
    with Gateway(upstream.url, config=CONFIG + '\n[clients]\nunderscores = "pass"\n') as running:
        fields = ["%s: /private" % name.replace("-", "_") for name in FALLS] + ["X_Kept: 1", "Connection: close"]
        assert ask(running.port, *fields)[0] == 200
    names = {name.lower() for name, _ in mock.requests[-1].headers}
    assert "x_kept" in names and not names & {name.lower().replace("-", "_") for name in FALLS}


@pytest.mark.parametrize(
    "option",
    ["Host", "close, host", "Authorization", "Cookie", "Content-Type", "Content-Length", "Accept", "x-api-key", "Cache-Control"],
)
def test_connection_names_only_what_is_of_the_connection(gateway, mock, option):
    assert ask(gateway.port, "Connection: " + option)[0] == 400
    assert ask(gateway.port, "Connection: close", "Connection: " + option)[0] == 400
    assert not mock.requests


def test_the_method_is_the_one_that_was_matched(gateway, mock):
    body = ("Content-Length: 2", "Content-Type: text/plain", "Connection: close")
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        assert ask(gateway.port, *body, name + ": DELETE", method="POST", body=b"hi")[0] == 400
    assert not mock.requests
    assert ask(gateway.port, *body, "X-HTTP-Method-Override: POST", method="POST", body=b"hi")[0] == 200
