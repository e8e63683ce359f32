"""What asks for a WebSocket: it is passed on, refused, or answered by whoever does not agree."""

import pytest
from websocket_wire import (
    PING,
    TEXT,
    Client,
    frame,
    header,
)
from websocket_sessions import (
    MAIL,
    echo,
    fresh,
    scripts,
    server,
    through,
)

__all__ = ["fresh", "scripts", "server", "through"]


def test_without_redaction_bytes_pass_with_their_extensions(through, scripts, server):
    scripts.script, server.extra = echo, ("Sec-WebSocket-Extensions: permessage-deflate",)
    odd = frame(TEXT, MAIL, rsv=4) + frame(PING, b"\xff")
    with Client(through.port, "/plain/x", [("Sec-WebSocket-Extensions", "permessage-deflate")]) as client:
        assert client.status == 101 and header(client.head, "sec-websocket-extensions") == ["permessage-deflate"]
        client.send(odd)
        assert scripts.next().raw + scripts.next().raw == odd


def test_the_handshake_passes_and_offers_no_compression(through, server):
    offer = [("Sec-WebSocket-Extensions", "permessage-deflate"), ("Sec-WebSocket-Protocol", "realtime, x")]
    server.extra = ("Sec-WebSocket-Protocol: realtime",)
    with Client(through.port, "/v1/realtime?model=m", offer + [("Authorization", "Bearer sk-1")]) as client:
        assert client.status == 101 and client.agreed
        assert header(client.head, "sec-websocket-protocol") == ["realtime"]
    head = server.heads.get(timeout=10)
    assert head.startswith("GET /v1/realtime?model=m HTTP/1.1\r\n")
    assert header(head, "authorization") == ["Bearer sk-1"] and header(head, "x-added") == ["by the gateway"]
    assert not header(head, "sec-websocket-extensions") and header(head, "sec-websocket-version") == ["13"]
    server.extra = ("Sec-WebSocket-Extensions: permessage-deflate",)
    with Client(through.port, "/v1/realtime", offer) as client:
        assert client.status == 502, "what was not offered cannot be read"


def test_an_upstream_that_does_not_agree_answers_itself(through, server):
    body = b'{"error":{"message":"no key","type":"invalid_request_error","param":null,"code":null}}'
    server.refuse = b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with Client(through.port, "/v1/realtime") as client:
        assert client.status == 401
        assert client.take(len(body)) == body
    server.refuse = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    with Client(through.port, "/v1/realtime") as client:
        assert client.status == 502


def test_an_upgrade_that_is_not_taken_is_refused_and_goes_nowhere(through, server):
    with Client(through.port, "/v1/realtime", version="8") as client:
        assert client.status == 426
        assert (header(client.head, "sec-websocket-version"), header(client.head, "upgrade")) == (["13"], ["websocket"])
    for path, status in [("/fixed", 501), ("/v1/redact", 501), ("/readyz", 501), ("/private/v1/realtime", 401)]:
        with Client(through.port, path) as client:
            assert client.status == status or path == "/v1/redact" and client.status == 405, (path, client.head)
    token = [("Authorization", "Bearer " + through.token)]
    assert server.heads.empty()
    upgrade = {"connection": "upgrade", "upgrade": "websocket"}
    for method, headers, status in [("POST", upgrade, 400), ("GET", upgrade, 426), ("GET", upgrade | {"upgrade": "h2c, spdy/3"}, 501)]:
        assert through.call(method, "/v1/realtime", headers=headers).status == status
    assert server.heads.empty()
    with Client(through.port, "/private/v1/realtime", token) as client:
        assert client.status == 101
    assert through.token not in server.heads.get(timeout=10)


def test_an_answer_of_101_that_nobody_asked_for_is_a_fault(through, server):
    assert through.call("POST", "/v1/chat/completions", {"messages": []}).status == 502


@pytest.mark.parametrize(
    "path", ["/v1/realtime/client_secrets", "/v1/chatkit/sessions", "/v1/realtime/calls", "/openai/realtimeapi/sessions", "/v1alpha/auth_tokens"]
)
def test_what_leads_around_is_refused_unless_it_is_allowed(through, server, path):
    refused = through.call("POST", path, {"session": {}})
    assert refused.status == 403 and b"`direct`" in refused.body and server.heads.empty()
    server.refuse = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n" + b'{"value":"ek_abc1234"}'
    allowed = through.call("POST", "/lenient" + path, {"session": {}})
    assert (allowed.status, allowed.body) == (200, b'{"value":"ek_abc1234"}')
