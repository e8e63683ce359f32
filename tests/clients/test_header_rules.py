"""Headers that a route sets, adds and removes: nothing of the caller's is left where one is set, and errors have them too."""

import base64
import json
import os

import pytest
from gateway import MINIMAL, Gateway
from http2 import HEADERS, Connection
from test_heads import ask

MAIL = "jane.doe@harbour-post.com"

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[upstreams.mock]
peers = ["{upstream}"]
headers = {{ x-both = "upstream" }}

[upstreams.nobody]
peers = ["http://127.0.0.1:{nobody}"]

[[routes]]
name = "changed"
path = "/changed"
upstream = "mock"
auth = "token"
redact = {{ requests = "mask", answers = "mask", protocol = "generic", findings_header = true }}
[routes.request_headers]
remove = ["X-Gone", "origin"]
set = {{ x-set = "ours", X-Both = "route", authorization = {{ file = "key" }}, x-mail = "jane.doe@harbour-post.com" }}
add = {{ x-more = "ours" }}
[routes.answer_headers]
remove = ["server", "Portcullis-Findings"]
set = {{ x-frame-options = "DENY", Cache-Control = "no-store" }}
add = {{ vary = "x-tenant", set-cookie = "a=b" }}

[[routes]]
name = "streamed"
path = "/streamed"
upstream = "mock"
auth = "none"
request_headers = {{ set = {{ x-set = "ours" }}, remove = ["x-gone"] }}
answer_headers = {{ set = {{ x-frame-options = "DENY" }}, remove = ["x-theirs"] }}

[[routes]]
name = "lost"
path = "/lost"
upstream = "nobody"
auth = "none"
answer_headers = {{ set = {{ x-frame-options = "DENY" }} }}

[[routes]]
name = "shared"
path = "/shared"
upstream = "mock"
auth = "none"
request_headers = {{ set = {{ origin = "https://app.test" }} }}
answer_headers = {{ set = {{ vary = "accept" }} }}
cors = {{ origins = ["https://app.test"] }}

[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 200, body = "here" }}
answer_headers = {{ set = {{ x-frame-options = "DENY" }} }}

[[routes]]
name = "api"
endpoint = "api"
answer_headers = {{ set = {{ x-frame-options = "DENY" }} }}
"""
)

# What a caller sends to have its own word stand.
SPOOFED = ["X-Set: theirs", "x-SET: theirs", "X-Gone: 1", "X-GONE: 2", "x-gone: 3", "X-More: theirs", "X-Both: theirs"]


@pytest.fixture(scope="module")
def gate(upstream):
    class Keyed(Gateway):
        def start(self, every=0.02):
            (self.home / "key").write_text("Bearer provider-key\n")
            super().start(every)

    with Keyed(upstream.url, config=CONFIG) as running:
        yield running


def came(mock):
    """The headers of the last request that the upstream got, by name in small letters."""
    fields = {}
    for name, value in mock.requests[-1].headers:
        fields.setdefault(name.lower(), []).append(value)
    return fields


@pytest.mark.parametrize("more", [[], ["Connection: close, X-Set, x-more, x-mail"]])
def test_nothing_of_the_callers_is_left_of_what_is_set_or_removed(gate, mock, more):
    fields = [*SPOOFED, "Authorization: Bearer " + gate.token, "Origin: https://a.test", *(more or ["Connection: close"])]
    status, answer = ask(gate.port, *fields, target="/changed/reflect")
    assert status == 200, answer
    fields = came(mock)
    assert (fields["x-set"], fields["x-both"], fields["authorization"]) == (["ours"], ["upstream"], ["Bearer provider-key"])
    assert fields["x-more"] == (["ours"] if more else ["theirs", "ours"])
    assert fields["x-mail"] == [MAIL], "what the operator sets is not looked through"
    assert "x-gone" not in fields and "origin" not in fields
    assert gate.token not in mock.requests[-1].everything()


def test_a_stream_and_http2_are_changed_alike(gate, mock):
    mock.fields |= {"X-Theirs": "1"}
    answer = gate.call("POST", "/streamed/reflect", iter([b"some ", b"pieces"]), {"X-Set": "theirs", "x-gone": "1"})
    assert (answer.status, answer.body, answer.headers["x-frame-options"]) == (200, b"some pieces", "DENY")
    assert "x-theirs" not in answer.headers and came(mock)["x-set"] == ["ours"] and "x-gone" not in came(mock)
    with Connection(gate.h2c) as connection:
        more = [("x-set", "theirs"), ("x-set", "again"), ("x-gone", "1")]
        stream = connection.request(*more, path="/streamed/reflect")
        head = connection.until(HEADERS, stream=stream).headers
    assert head[":status"] == "200" and head["x-frame-options"] == "DENY" and "x-theirs" not in head
    assert came(mock)["x-set"] == ["ours"] and "x-gone" not in came(mock)


def test_answers_are_changed_after_everything_else(gate, mock):
    mock.fields |= {"Server": "theirs", "Cache-Control": "public", "Vary": "accept", "Set-Cookie": "c=d"}
    body = json.dumps({"text": MAIL})
    bearer = {"authorization": "Bearer " + gate.token, "content-type": "application/json"}
    answer = gate.call("POST", "/changed/reflect", body, bearer)
    assert answer.status == 200 and MAIL.encode() not in answer.body
    assert answer.headers.get_all("cache-control") == ["no-store"] and answer.headers["x-frame-options"] == "DENY"
    assert "server" not in answer.headers and "portcullis-findings" not in answer.headers
    assert sorted(answer.headers.get_all("set-cookie")) == ["a=b", "c=d"]
    assert sorted(answer.headers.get_all("vary")) == ["accept", "x-tenant"]


@pytest.mark.parametrize(
    "method, path, status", [("POST", "/changed/reflect", 401), ("GET", "/lost/x", 502), ("GET", "/fixed", 200), ("POST", "/v1/redact", 401)]
)
def test_what_is_answered_here_has_them_too(gate, mock, method, path, status):
    answer = gate.call(method, path, b"{}" if method == "POST" else None, {"content-type": "application/json"})
    assert answer.status == status and answer.headers.get_all("x-frame-options") == ["DENY"]
    assert not mock.requests


def test_it_is_the_page_itself_that_is_told_and_what_is_set_adds_to_what_it_varies_by(gate, mock):
    answer = gate.call("GET", "/shared/reflect", headers={"origin": "https://evil.test"})
    assert answer.status == 200 and "access-control-allow-origin" not in answer.headers
    assert came(mock)["origin"] == ["https://app.test"]
    assert sorted(answer.headers.get_all("vary")) == ["Origin", "accept"]
    answer = gate.call("GET", "/shared/reflect", headers={"origin": "https://app.test"})
    assert answer.headers["access-control-allow-origin"] == "https://app.test"


def test_a_websocket_is_asked_for_with_them(gate, mock):
    key = "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()
    upgrade = ["Connection: upgrade, x-set", "Upgrade: websocket", "Sec-WebSocket-Version: 13", key, "X-Set: theirs", "X-Gone: 1"]
    status, answer = ask(gate.port, *upgrade, target="/streamed/x")
    assert status == 101 and b"\r\nx-frame-options: deny\r\n" in answer.lower(), answer
    assert came(mock)["x-set"] == ["ours"] and "x-gone" not in came(mock)
