"""What becomes of a WebSocket when its route is another after a reload, and when its process ends: both sides are told, once
no message is under way."""

import signal
import time

import pytest
from gateway import Gateway
from websocket_sessions import ROUTES, echo, fresh, say, scripts, server
from websocket_wire import CLOSE, TEXT, Client, frame

__all__ = ["fresh", "scripts", "server"]

PLAIN = '\n[[routes]]\nname = "plain"\npath = "/plain"\nupstream = "mock"\nauth = "none"\n'
MASKED = 'name = "masked"\npath = "/masked"\nupstream = "mock"\nauth = "none"\n'
MASKS = 'redact = {{ requests = "mask", answers = "mask" }}'
# What is said of a route after a reload, by the path of a session.
OTHER = {
    "another caller": ("/plain/x", PLAIN, PLAIN + 'deny_clients = ["127.0.0.0/8"]\n'),
    "a token": ("/plain/x", PLAIN, PLAIN.replace('"none"', '"token"')),
    "redaction": ("/plain/x", PLAIN, PLAIN + 'redact = {{ protocol = "generic" }}\n'),
    "no route": ("/plain/x", PLAIN, PLAIN.replace('"/plain"', '"/elsewhere"')),
    "another before it": ("/plain/x", PLAIN, PLAIN.replace("plain", "plain/x").replace("plain/x", "narrow", 1) + PLAIN),
    "what is blocked": ("/masked/x", MASKS, MASKS.replace("}}", ', methods = {{ EMAIL_ADDRESS = "block" }} }}')),
    "callers of what is redacted": ("/masked/x", MASKED, MASKED + 'deny_clients = ["127.0.0.0/8"]\n'),
}


@pytest.fixture
def gate(server):
    with Gateway(server.url, ROUTES) as running:
        yield running


def changed(gate, before, after):
    assert ROUTES.count(before) == 1
    gate.write(ROUTES.replace(before, after))
    gate.reload("reloaded routes")


def end_of(client):
    """The close frame with which a session ends, whatever is said before."""
    while (message := client.receive()).opcode != CLOSE:
        pass
    return message


@pytest.mark.parametrize("other", OTHER)
def test_a_session_ends_with_what_its_route_was(gate, scripts, other):
    scripts.script = echo
    path, before, after = OTHER[other]
    with Client(gate.port, path) as client:
        client.send(frame(TEXT, "hello"))
        assert scripts.next().text == client.receive().text == "hello"
        changed(gate, before, after)
        ended = end_of(client)
        assert ended.code == 1012 and len(ended.payload) > 2, "it says why"
        assert client.receive() is None
        assert scripts.next().code == 1001, "the upstream is told, too"


def test_a_reload_that_leaves_the_route_leaves_its_sessions(gate, scripts):
    scripts.script = echo
    last = '[[routes]]\nname = "redacted"'
    assert ROUTES.count(last) == 1
    more = '[[routes]]\nname = "more"\npath = "/more"\nupstream = "mock"\nauth = "none"\n\n'
    with Client(gate.port, "/plain/x") as plain, Client(gate.port, "/masked/x") as masked:
        gate.write("# A line more.\n" + ROUTES.replace("short and stout", "tall").replace(last, more + last))
        gate.reload("reloaded routes")
        time.sleep(7)
        for client in (plain, masked):
            client.send(frame(TEXT, "still here"))
            assert client.receive().text == "still here"


def test_a_message_under_way_is_brought_to_its_end_first(gate, scripts):
    scripts.script = echo
    whole = frame(TEXT, say("hello " * 100))
    with Client(gate.port, "/masked/x") as client:
        client.send(whole[:100])
        changed(gate, MASKS, MASKS.replace("}}", ', methods = {{ EMAIL_ADDRESS = "block" }} }}'))
        time.sleep(4)
        client.send(whole[100:])
        assert scripts.next().opcode == TEXT
        assert end_of(client).code == 1012


@pytest.mark.parametrize("path", ["/plain/x", "/v1/realtime"])
def test_an_idle_session_does_not_hold_the_end_of_the_process(gate, scripts, path):
    scripts.script = echo
    with Client(gate.port, path) as client:
        client.send(frame(TEXT, say("hello")))
        assert scripts.next().opcode == client.receive().opcode == TEXT
        began = time.monotonic()
        gate.process.send_signal(signal.SIGTERM)
        assert end_of(client).code == 1001
        assert scripts.next().code == 1001, "the upstream is told, too"
        assert client.receive() is None
        assert gate.process.wait(15) == 0
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("path", ["/plain/x", "/v1/realtime"])
def test_the_end_of_the_process_waits_for_a_message(gate, scripts, path):
    scripts.script = echo
    whole = frame(TEXT, say("hello " * 100))
    with Client(gate.port, path) as client:
        client.send(whole[:100])
        time.sleep(0.5)
        gate.process.send_signal(signal.SIGTERM)
        time.sleep(2)
        assert gate.process.poll() is None
        client.send(whole[100:])
        assert scripts.next().payload.startswith(b'{"type"')
        assert end_of(client).code == 1001
    assert gate.process.wait(15) == 0


def test_but_no_longer_than_the_drain(server, scripts):
    scripts.script = echo
    queue = 'queue = "30s"'
    assert ROUTES.count(queue) == 1
    with Gateway(server.url, ROUTES.replace(queue, queue + '\ndrain = "2s"')) as gate:
        with Client(gate.port, "/v1/realtime") as client:
            client.send(frame(TEXT, say("hello " * 100))[:100])
            time.sleep(0.5)
            gate.process.send_signal(signal.SIGTERM)
            assert end_of(client).code == 1001
        assert gate.process.wait(15) == 0
