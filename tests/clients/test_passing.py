"""What passes is read as what lies there: values under their labels, text in base64, numbers; in any pieces."""

import base64
import json
import socket
import threading
import urllib.parse

import pytest

from gateway import Gateway

MAIL, CARD = "jane.doe@harbour-post.com", "4111111111111111"
TEXT = "write to %s, card %s, and no other" % (MAIL, CARD)
IN_BASE64 = base64.b64encode(TEXT.encode()).decode()
FORM, EVENTS = {"content-type": "application/x-www-form-urlencoded"}, {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}

BODIES = [
    (FORM, "user=jane&password=Hq7vTz29xLpw&n=1", "Hq7vTz29xLpw"),
    (FORM, "a=b&ssn=536228726", "536228726"),
    (FORM, "p=%s&q=1" % urllib.parse.quote(IN_BASE64, safe=""), IN_BASE64[:24]),
    (FORM, "p=%s" % urllib.parse.quote("data:text/plain;base64," + IN_BASE64, safe=""), IN_BASE64[:24]),
    (FORM, "p=%s" % urllib.parse.quote(json.dumps({"password": "Hq7vTz29xLpw"}), safe=""), "Hq7vTz29xLpw"),
    (EVENTS, "data: %s\n\n" % IN_BASE64, IN_BASE64[:24]),
    (EVENTS, "data: to %s\n\n" % MAIL, MAIL),
    (JSON, '{"n": %se0, "m": [-%s.0E+0]}' % (CARD, CARD), CARD),
    (JSON, json.dumps({"n": "\n " + IN_BASE64}), IN_BASE64[:24]),
    (JSON, json.dumps({"n": " \n" + IN_BASE64 + "\n "}), IN_BASE64[:24]),
    (JSON, json.dumps({"n": "\n data:text/plain;base64," + IN_BASE64}), IN_BASE64[:24]),
    (JSON, json.dumps({"n": " \n\t DATA:;base64," + IN_BASE64}), IN_BASE64[:24]),
]


@pytest.mark.parametrize("route", ["generic", "restored"])
@pytest.mark.parametrize("step", [1, 3, 1 << 20])
def test_nothing_passes_in_any_pieces(gateway, mock, route, step):
    for headers, body, secret in BODIES:
        pieces = [body[at : at + step].encode() for at in range(0, len(body), step)]
        assert gateway.call("POST", "/%s/reflect" % route, iter(pieces), headers).status == 200, body
        came = mock.requests[-1].body.decode()
        assert secret not in came and secret not in urllib.parse.unquote(came), (body, came)


def raw_upstream(heard):
    """Answers one request after its last chunk, and writes down all bytes that come."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        peer, _ = server.accept()
        with peer, server:
            peer.settimeout(10)
            while not heard.endswith(b"0\r\n\r\n"):
                heard.extend(peer.recv(65536))
            peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok")
            peer.settimeout(1)
            try:
                heard.extend(peer.recv(65536))
            except TimeoutError:
                pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return "http://127.0.0.1:%d" % server.getsockname()[1], thread


@pytest.mark.parametrize("headers, body", [(FORM, b"a=b&ssn=536228726"), (EVENTS, b"data: x\n\n"), (JSON, b'{"a":1}')])
def test_a_streamed_body_ends_once(headers, body):
    """A second last chunk is the beginning of a request that nobody sent."""
    heard = bytearray()
    url, thread = raw_upstream(heard)
    with Gateway(url) as gateway:
        assert gateway.call("POST", "/generic/x", iter([body[:3], body[3:]]), headers).status == 200
        thread.join(15)
    assert heard.count(b"0\r\n\r\n") == 1, bytes(heard)


def test_numbers_of_a_protocol_are_masked_and_stay_numbers(gateway, mock):
    asked = {
        "model": "plain",
        "seed": 7,
        "messages": [{"role": "user", "content": json.dumps({"card": int(CARD)})}],
        "metadata": {"card": int(CARD), "ssn": 536228726, "negative": -int(CARD), "n": 1001, "with": [int(CARD)]},
    }
    assert gateway.call("POST", "/mask/v1/chat/completions", json.dumps(asked).encode(), JSON).status == 200
    came = mock.requests[-1].json()
    assert CARD not in json.dumps(came) and "536228726" not in json.dumps(came)
    assert came["metadata"] == {"card": 0, "ssn": 0, "negative": 0, "n": 1001, "with": [0]} and came["seed"] == 7
    assert json.loads(came["messages"][0]["content"]) == {"card": 0}


def test_what_is_encoded_too_often_is_the_callers_fault(gateway):
    text = TEXT
    for _ in range(10):
        text = base64.b64encode(text.encode()).decode()
    assert gateway.call("POST", "/generic/reflect", json.dumps({"n": text}).encode(), JSON).status == 400


def test_a_text_of_nothing_but_groups_of_digits_is_one_value(gateway, mock):
    """What overlaps was kept once for each link of the chain: 22 GB for half a megabyte."""
    asked = {"model": "plain", "messages": [{"role": "user", "content": "4111 " * 26_000}]}
    assert gateway.call("POST", "/v1/chat/completions", json.dumps(asked).encode(), JSON).status == 200
    assert len(mock.requests[-1].body) < 1 << 20
