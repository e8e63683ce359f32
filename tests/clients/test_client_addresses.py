"""Who may call a route by address: by that of the caller, whatever it came through, and before anything of it is tried."""

import pytest
from gateway import MINIMAL, Gateway
from http2 import Connection

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[log]
format = "json"

[clients]
trusted_peers = ["127.0.0.1"]
forwarded = "x-forwarded-for"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "inside"
path = "/inside"
upstream = "mock"
auth = "token"
allow_clients = ["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"]
deny_clients = ["10.6.0.0/16"]
[routes.cors]
origins = ["https://app.test"]

[[routes]]
name = "outside"
path = "/outside"
upstream = "mock"
auth = "none"
deny_clients = ["10.0.0.0/8"]

[[routes]]
name = "api"
endpoint = "api"
allow_clients = ["::ffff:10.0.0.0/104"]
"""
)

INSIDE = ["10.0.0.1", "::ffff:10.0.0.1", "192.0.2.7", "2001:db8::9", "203.0.113.1, 10.1.1.1"]
STRANGERS = ["203.0.113.1", "10.6.0.1", "192.0.2.8", "::1", "2001:db9::1", "::ffff:203.0.113.1", "10.0.0.1, 203.0.113.1"]


@pytest.fixture(scope="module")
def gate(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running


def ask(gate, path, client, method="POST", **more):
    return gate.call(method, path, b"{}", {"x-forwarded-for": client, "content-type": "application/json"} | more)


@pytest.mark.parametrize("client", INSIDE)
def test_callers_from_inside_come_in(gate, mock, client):
    answer = ask(gate, "/inside/reflect", client, authorization="Bearer " + gate.token)
    assert answer.status == 200 and len(mock.requests) == 1
    # As anybody is asked who they are.
    assert ask(gate, "/inside/reflect", client).status == 401


@pytest.mark.parametrize("client", STRANGERS)
def test_strangers_do_not_whoever_they_say_they_are(gate, mock, client):
    for bearer in (gate.token, "no-token"):
        answer = ask(gate, "/inside/reflect", client, authorization="Bearer " + bearer)
        assert answer.status == 403 and not mock.requests
    asked = {"origin": "https://app.test", "access-control-request-method": "POST"}
    assert ask(gate, "/inside/reflect", client, method="OPTIONS", **asked).status == 403


def test_what_is_refused_is_logged_with_its_address(gate):
    gate.log.clear()
    ask(gate, "/inside/reflect", "203.0.113.77", authorization="Bearer " + gate.token)
    line = gate.wait_for(lambda: [line for line in gate.log if "203.0.113.77" in line])[0]
    assert '"forbidden_address"' in line and '"inside"' in line


def test_it_is_said_in_the_shape_of_each_protocol(gate):
    answer = ask(gate, "/inside/v1/chat/completions", "203.0.113.1")
    assert answer.status == 403 and answer.json()["error"]["type"] == "permission_error"
    answer = ask(gate, "/inside/v1/messages", "203.0.113.1")
    assert answer.status == 403 and answer.json()["error"]["type"] == "permission_error" and answer.json()["type"] == "error"
    answer = ask(gate, "/inside/v1beta/models/g:generateContent", "203.0.113.1")
    assert answer.status == 403 and answer.json()["error"]["status"] == "PERMISSION_DENIED"


def test_all_come_in_but_those_who_may_not(gate, mock):
    for client, status in (("203.0.113.1", 200), ("::1", 200), ("10.1.1.1", 403), ("::ffff:10.1.1.1", 403)):
        assert ask(gate, "/outside/reflect", client).status == status, client


def test_our_own_endpoints_are_kept_at_every_host_and_path(gate):
    bearer = "Bearer " + gate.token
    for path in ("/v1/redact", "/redact/v1/redact"):
        for more in ({}, {"host": "redact.other.test"}):
            assert ask(gate, path, "203.0.113.1", authorization=bearer, **more).status == 403, (path, more)
            assert ask(gate, path, "10.1.1.1", authorization=bearer, **more).status == 400, "no text, but let in"


def test_http2_is_asked_in_the_same_way(gate, mock):
    with Connection(gate.h2c) as connection:
        for client, status in (("203.0.113.1", 403), ("10.0.0.1", 401)):
            stream = connection.request(("x-forwarded-for", client), path="/inside/x")
            assert connection.status(stream) == status, client
    assert not mock.requests
