"""A WebSocket ends with the token that opened it: revoked, narrowed, or at its end, also where nobody reads its messages."""

import datetime

import pytest
from gateway import Gateway, run
from websocket_sessions import ROUTES, echo, fresh, say, scripts, server
from websocket_wire import CLOSE, TEXT, Client, fragments, frame

__all__ = ["fresh", "scripts", "server"]

KEYED = """
[[routes]]
name = "keyed"
path = "/keyed"
upstream = "mock"
auth = "token"
"""


@pytest.fixture(scope="module")
def gate(server):
    # Before the one that takes all.
    first = '[[routes]]\nname = "redacted"'
    assert first in ROUTES
    with Gateway(server.url, ROUTES.replace(first, KEYED + "\n" + first)) as running:
        yield running


def token(gate, name, *args):
    """A token and its id."""
    made = run("tokens", "create", "-c", gate.file, "--name", name, "--route", "private", "--route", "keyed", *args)
    assert made.returncode == 0, made.err
    lines = [line.split("\t") for line in run("tokens", "list", "-c", gate.file).out.splitlines()]
    return made.out.strip(), next(line[0] for line in lines if line[1] == name)


def end_of(client):
    """The close frame with which a session ends."""
    while (message := client.receive()).opcode != CLOSE:
        assert b"error" in message.payload, message
    return message


ENDS = {
    "revoked": ["revoke"],
    "without the route": ["update", "--route", "plain"],
    "for some models": ["update", "--model", "m*"],
    "with a budget": ["update", "--budget", "1usd/day"],
    "with another label": ["update", "--label", "team=a"],
    "rotated": ["rotate"],
}


@pytest.mark.parametrize("path", ["/private/v1/realtime", "/keyed/v1/realtime"])
@pytest.mark.parametrize("end", ENDS)
def test_a_session_ends_with_its_token(gate, scripts, path, end):
    scripts.script = echo
    secret, identity = token(gate, "%s %s" % (end, path))
    with Client(gate.port, path, [("Authorization", "Bearer " + secret)]) as client:
        assert client.status == 101
        client.send(frame(TEXT, say("hello")))
        assert scripts.next().text and client.receive().opcode == TEXT
        command, *args = ENDS[end]
        assert run("tokens", command, "-c", gate.file, identity, *args).returncode == 0
        ended = end_of(client)
        assert ended.code == 1008 and len(ended.payload) > 2, "it says why"
        assert client.receive() is None
        assert scripts.next().code == 1001, "the upstream is told, too"


@pytest.mark.parametrize("path", ["/private/v1/realtime", "/keyed/v1/realtime"])
def test_a_session_ends_at_the_end_of_its_token(gate, scripts, path):
    scripts.script = echo
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
    secret, _ = token(gate, "brief " + path, "--expires", at.isoformat(timespec="milliseconds"))
    with Client(gate.port, path, [("Authorization", "Bearer " + secret)]) as client:
        assert client.status == 101
        assert end_of(client).code == 1008
    late = datetime.datetime.now(datetime.timezone.utc) - at
    assert 0 <= late.total_seconds() < 2


def test_a_session_of_a_token_that_holds_goes_on(gate, scripts):
    scripts.script = echo
    secret, identity = token(gate, "kept")
    with Client(gate.port, "/keyed/x", [("Authorization", "Bearer " + secret)]) as client:
        assert run("tokens", "update", "-c", gate.file, identity, "--rate", "60/1m").returncode == 0
        assert run("tokens", "rotate", "-c", gate.file, identity, "--grace", "1h").returncode == 0
        client.stream.settimeout(7)
        with pytest.raises(TimeoutError):
            client.receive()
        client.stream.settimeout(30)
        client.send(frame(TEXT, "still here"))
        assert client.receive().text == "still here"


def test_nothing_is_said_in_the_middle_of_a_frame(gate, scripts):
    half = fragments(TEXT, "x" * 1000, 1000, mask=False)[0][:500]

    def script(peer, seen):
        peer.send(half)
        while (message := peer.receive()) is not None:
            seen.put(message)

    scripts.script = script
    secret, identity = token(gate, "half a frame")
    with Client(gate.port, "/keyed/x", [("Authorization", "Bearer " + secret)]) as client:
        assert client.take(len(half)) == half
        assert run("tokens", "revoke", "-c", gate.file, identity).returncode == 0
        assert client.stream.recv(100) == b"", "it is cut off"
        assert scripts.next().code == 1001
