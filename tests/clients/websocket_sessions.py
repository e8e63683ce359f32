"""A gateway before an upstream of sessions, which says what a test wants of it; the values of the tests of WebSocket."""

import base64
import json
import queue

import pytest
from gateway import CONFIG, PATIENCE, Gateway
from websocket_wire import CLOSE, Server, frame

MAIL, CARD, PHONE = "ingrid.olsen@harbour-post.com", "5425 2334 3010 9903", "+1 212 736 5000"
SECRETS = (MAIL, CARD, PHONE)
INVENTED = "jane.doe@cargo-lines.org"
AUDIO = base64.b64encode(bytes(range(200))).decode() + "/4111111111111111+AA"
LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

ROUTES = (
    CONFIG.split("[[routes]]")[0]
    + """
[[routes]]
name = "masked"
path = "/masked"
upstream = "mock"
auth = "none"
redact = {{ requests = "mask", answers = "mask" }}

[[routes]]
name = "lenient"
path = "/lenient"
upstream = "mock"
auth = "none"
redact = {{ unknown = "pass", direct = "pass" }}

[[routes]]
name = "short"
path = "/short"
upstream = "mock"
auth = "none"
redact = {{}}
[routes.websocket]
message = "1KiB"
idle = "1s"

[[routes]]
name = "plain"
path = "/plain"
upstream = "mock"
auth = "none"

[[routes]]
name = "private"
path = "/private"
upstream = "mock"
auth = "token"
redact = {{}}

[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 418, body = "short and stout" }}

[[routes]]
name = "redacted"
upstream = "mock"
auth = "none"
redact = {{}}
"""
)


class Scripts:
    """What the upstream says in the session that is next."""

    def __init__(self):
        self.script, self.seen = None, queue.Queue()

    def __call__(self, peer, head):
        script, seen = self.script, self.seen
        if script:
            return script(peer, seen)
        while (message := peer.receive()) is not None:
            seen.put(message)
            if message.opcode == CLOSE:
                return peer.send(frame(CLOSE, message.payload, mask=False))

    def next(self):
        return self.seen.get(timeout=20 * PATIENCE)


@pytest.fixture(scope="module")
def scripts():
    return Scripts()


@pytest.fixture(scope="module")
def server(scripts):
    with Server(scripts) as running:
        yield running


@pytest.fixture(scope="module")
def through(server):
    with Gateway(server.url, ROUTES) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(scripts, server):
    scripts.script, scripts.seen = None, queue.Queue()
    server.refuse, server.extra, server.heads = None, (), queue.Queue()


def say(text, **more):
    return json.dumps({"type": "conversation.item.create", "item": {"content": [{"type": "input_text", "text": text}]}} | more)


def told(message):
    """The text of such an item."""
    return json.loads(message.payload)["item"]["content"][0]["text"]


def echo(peer, seen):
    """Says everything again."""
    while (message := peer.receive()) is not None:
        seen.put(message)
        peer.send(frame(message.opcode, message.payload, mask=False))
        if message.opcode == CLOSE:
            return
