"""Pages call from browsers where a route names their origins, and read what they get, refusals among it; others do not."""

import base64
import json

import pytest
from gateway import MINIMAL, Gateway
from http2 import HEADERS, Connection
from test_heads import ask

APP, BELOW, EVIL = "https://app.test", "https://x.y.apps.test:8443", "https://evil.test"

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[upstreams.mock]
peers = ["{upstream}"]

[upstreams.nobody]
peers = ["http://127.0.0.1:{nobody}"]

[[routes]]
name = "keyed"
path = "/keyed"
method = ["POST", "PUT"]
upstream = "mock"
auth = "token"
[routes.cors]
origins = ["https://app.test", "https://*.apps.test:8443"]
expose = ["retry-after", "x-id"]
credentials = true
max_age = "1h"

[[routes]]
name = "anyones"
path = "/anyones"
upstream = "mock"
auth = "none"
rate = {{ requests = 1, per = "1h" }}
[routes.cors]
origins = ["*"]
methods = ["GET", "POST"]
headers = ["content-type"]

[[routes]]
name = "blocking"
path = "/blocking"
upstream = "mock"
auth = "none"
redact = {{ requests = "block", answers = "off" }}
[routes.cors]
origins = ["https://app.test"]

[[routes]]
name = "restored"
path = "/restored"
upstream = "mock"
auth = "none"
redact = {{}}
[routes.cors]
origins = ["https://app.test"]

[[routes]]
name = "lost"
path = "/lost"
upstream = "nobody"
auth = "none"
[routes.cors]
origins = ["https://app.test"]

[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 404, body = "no" }}
[routes.cors]
origins = ["null"]

[[routes]]
name = "own"
path = "/own"
upstream = "mock"
auth = "none"

[[routes]]
name = "api"
path = "/redact"
endpoint = "api"
[routes.cors]
origins = ["https://app.test"]
"""
)


@pytest.fixture(scope="module")
def gate(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running


def preflight(gate, path, origin, method="POST", **more):
    fields = {"origin": origin, "access-control-request-method": method} | more
    return gate.call("OPTIONS", path, headers=fields)


def shared(answer):
    """What it says of sharing, without the common beginning of the names."""
    begin = "access-control-"
    said = [(name.lower(), value) for name, value in answer.headers.items()]
    return {name.removeprefix(begin): value for name, value in said if name.startswith(begin)}


def varies(answer):
    return sorted(name.strip().lower() for line in answer.headers.get_all("vary", []) for name in line.split(","))


# ── before the request ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("origin", [APP, BELOW, "https://app.test:443", "HTTPS://APP.TEST"])
def test_a_preflight_is_answered_without_a_token_and_without_the_upstream(gate, mock, origin):
    asked = {"access-control-request-headers": "authorization,x-stainless-os"}
    answer = preflight(gate, "/keyed/reflect", origin, "PUT", **asked)
    assert answer.status == 204 and answer.body == b"" and "content-length" not in answer.headers
    assert shared(answer) == {
        "allow-origin": origin,
        "allow-methods": "PUT",
        "allow-headers": "authorization, x-stainless-os",
        "allow-credentials": "true",
        "max-age": "3600",
    }
    assert varies(answer) == ["access-control-request-headers", "access-control-request-method", "origin"]
    assert not mock.requests


@pytest.mark.parametrize(
    "origin",
    [EVIL, "null", "http://app.test", "https://app.test.", "https://app.test:444", "https://apps.test:8443", "https://x.apps.test"],
)
def test_a_page_that_may_not_call_is_told_nothing(gate, mock, origin):
    answer = preflight(gate, "/keyed/reflect", origin)
    assert answer.status == 204 and shared(answer) == {} and "origin" in varies(answer)
    assert not mock.requests


def test_two_origins_are_none(gate, mock):
    fields = ["Origin: " + APP, "Origin: " + APP, "Access-Control-Request-Method: POST", "Connection: close"]
    status, answer = ask(gate.port, *fields, method="OPTIONS", target="/keyed/reflect")
    assert status == 204 and b"access-control-allow" not in answer.lower()
    fields = ["Origin: " + APP, "Origin: " + EVIL, "Authorization: Bearer " + gate.token, "Content-Length: 0", "Connection: close"]
    status, answer = ask(gate.port, *fields, method="POST", target="/keyed/reflect")
    assert status == 200 and b"access-control-" not in answer.lower()


def test_methods_and_headers_are_those_of_the_list(gate):
    answer = preflight(gate, "/anyones/x", EVIL, **{"access-control-request-headers": "x-other"})
    assert answer.status == 204 and shared(answer) == {
        "allow-origin": "*",
        "allow-methods": "GET, POST",
        "allow-headers": "content-type",
        "max-age": "600",
    }
    assert shared(preflight(gate, "/anyones/x", EVIL, "DELETE")) == {}


def test_a_method_that_no_route_takes_has_no_preflight(gate, mock):
    assert preflight(gate, "/keyed/x", APP, "DELETE").status == 405
    assert preflight(gate, "/nowhere", APP).status == 404
    # OPTIONS by itself is none either.
    assert gate.call("OPTIONS", "/keyed/x", headers={"origin": APP}).status == 405
    assert not mock.requests


def test_a_route_without_it_leaves_preflights_to_its_upstream(gate, mock):
    # This one knows no OPTIONS.
    answer = preflight(gate, "/own/x", APP)
    assert answer.status == 501 and shared(answer) == {}


# ── the request itself ──────────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_upstream_says_of_sharing_is_replaced(gate, mock):
    mock.fields |= {
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "false",
        "access-control-expose-headers": "x-theirs",
        "vary": "accept-encoding, origin",
        "x-id": "7",
    }
    bearer = {"authorization": "Bearer " + gate.token}
    answer = gate.call("POST", "/keyed/reflect", b"hello", bearer | {"origin": APP})
    assert (answer.status, answer.body, answer.headers["x-id"]) == (200, b"hello", "7")
    assert shared(answer) == {"allow-origin": APP, "allow-credentials": "true", "expose-headers": "retry-after, x-id"}
    assert varies(answer) == ["accept-encoding", "origin"]
    assert ("origin", APP) in [(name.lower(), value) for name, value in mock.requests[-1].headers]
    for headers in (bearer | {"origin": EVIL}, bearer):
        answer = gate.call("POST", "/keyed/reflect", b"hello", headers)
        assert answer.status == 200 and shared(answer) == {} and varies(answer) == ["accept-encoding", "origin"]


def test_a_stream_and_its_head_are_shared(gate, mock):
    ask_model = {"model": "plain", "stream": True, "messages": [{"role": "user", "content": "EMAIL: a.b@harbour-post.com |"}]}
    answer = gate.call("POST", "/restored/v1/chat/completions", ask_model, {"origin": APP})
    assert answer.status == 200 and answer.body.endswith(b"data: [DONE]\n\n")
    assert shared(answer) == {"allow-origin": APP} and varies(answer) == ["origin"]


REFUSED = [
    ("POST", "/keyed/reflect", b"x", 401),
    ("POST", "/blocking/v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": "a.b@harbour-post.com"}]}), 400),
    ("POST", "/lost/x", b"x", 502),
]


@pytest.mark.parametrize("method, path, body, status", REFUSED)
def test_a_page_reads_why_it_was_refused(gate, mock, method, path, body, status):
    kind = {"content-type": "application/json"}
    answer = gate.call(method, path, body, kind | {"origin": APP})
    assert answer.status == status and answer.body
    assert shared(answer)["allow-origin"] == APP and varies(answer) == ["origin"]
    answer = gate.call(method, path, body, kind | {"origin": EVIL})
    assert answer.status == status and shared(answer) == {} and varies(answer) == ["origin"]


def test_a_page_reads_that_it_comes_too_often_and_preflights_do_not_count(gate, mock):
    for _ in range(3):
        assert preflight(gate, "/anyones/x", APP).status == 204
    statuses = [gate.call("GET", "/anyones/reflect", headers={"origin": EVIL}) for _ in range(2)]
    assert [answer.status for answer in statuses] == [200, 429]
    # It is the same for all, and so no cache need tell them apart.
    assert all(shared(answer) == {"allow-origin": "*"} and varies(answer) == [] for answer in statuses)


def test_a_fixed_answer_is_shared_with_pages_that_have_no_origin(gate):
    answer = gate.call("GET", "/fixed", headers={"origin": "null"})
    assert (answer.status, answer.body, shared(answer)) == (404, b"no", {"allow-origin": "null"})
    assert shared(gate.call("GET", "/fixed", headers={"origin": "https://null"})) == {}


# ── our own endpoints, HTTP/2, WebSocket ────────────────────────────────────────────────────────────────────────────


def test_the_api_is_called_from_a_page(gate):
    assert shared(preflight(gate, "/redact/v1/redact", APP))["allow-methods"] == "POST"
    body = {"text": "a.b@harbour-post.com"}
    answer = gate.api("/redact/v1/redact", body, origin=APP)
    assert answer.status == 200 and answer.json()["result"]["count"] == 1 and shared(answer) == {"allow-origin": APP}
    answer = gate.call("POST", "/redact/v1/redact", body, {"origin": APP})
    assert answer.status == 401 and shared(answer) == {"allow-origin": APP}
    assert shared(gate.api("/redact/v1/redact", body, origin=EVIL)) == {}
    # Only along the route that says so.
    assert preflight(gate, "/v1/redact", APP).status == 405
    assert shared(gate.api("/v1/redact", body, origin=APP)) == {}


def test_http2_is_answered_in_the_same_way(gate, mock):
    with Connection(gate.h2c) as connection:
        asks = ("access-control-request-method", "PUT")
        for origin, allowed in ((APP, APP), (EVIL, None)):
            stream = connection.request(("origin", origin), asks, method="OPTIONS", path="/keyed/x")
            head = connection.until(HEADERS, stream=stream).headers
            assert head[":status"] == "204" and head.get("access-control-allow-origin") == allowed
        stream = connection.request(("origin", APP), method="PUT", path="/keyed/x")
        head = connection.until(HEADERS, stream=stream).headers
        assert (head[":status"], head["access-control-allow-origin"]) == ("401", APP)
    assert not mock.requests


def test_no_other_page_opens_a_websocket(gate, mock):
    key = "Sec-WebSocket-Key: " + base64.b64encode(b"0123456789abcdef").decode()
    upgrade = ["Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", key]
    rows = [([], 101), (["Origin: " + APP], 101), (["Origin: http://gateway.test"], 101), (["Origin: null"], 403)]
    rows += [(["Origin: " + EVIL], 403), (["Origin: " + APP, "Origin: " + APP], 403), (["Origin: https://gateway.test:1"], 403)]
    for origin, wanted in rows:
        mock.forget()
        status, answer = ask(gate.port, *upgrade, *origin, target="/restored/x")
        assert status == wanted, (origin, answer)
        assert len(mock.requests) == (wanted == 101)
