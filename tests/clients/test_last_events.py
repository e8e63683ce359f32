"""Streams that break off end in their protocol's own error; one whose client leaves at the last event is a success."""

import itertools
import json
import socket
import threading
import time

import pytest
from gateway import MINIMAL, Gateway
from loopback import Handler, Served
from test_error_shapes import SAID

CONFIG = (
    MINIMAL
    + """
[upstreams.cut]
peers = ["{upstream}"]

[[routes]]
name = "plain"
host = ["plain.test"]
upstream = "cut"
auth = "none"

[[routes]]
name = "all"
upstream = "cut"
auth = "none"
redact = {{ answers = "mask" }}
"""
)

CHAT = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
RESPONSE = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "in_progress"}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}
BLOCK = {"type": "text", "text": ""}


def sse(*events):
    named = lambda e: "event: %s\n" % e["type"] if "type" in e else ""
    return "".join(named(e) + "data: %s\n\n" % json.dumps(e) for e in events).encode()


# What each protocol's stream has first, and how it ends.
STREAMS = {
    "/chat/completions": (
        "text/event-stream",
        sse(CHAT | {"choices": [{"index": 0, "delta": {"content": "so far "}}]}),
        sse(CHAT | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n",
    ),
    "/responses": (
        "text/event-stream",
        sse(
            {"type": "response.created", "sequence_number": 0, "response": RESPONSE},
            {"type": "response.output_text.delta", "sequence_number": 1, "item_id": "i", "output_index": 0, "content_index": 0, "delta": "so far ", "logprobs": []},
        ),
        sse({"type": "response.completed", "sequence_number": 2, "response": RESPONSE | {"status": "completed", "metadata": {"x": "y" * 3000}}}),
    ),
    "/v1/messages": (
        "text/event-stream",
        sse(
            {"type": "message_start", "message": MESSAGE},
            {"type": "content_block_start", "index": 0, "content_block": BLOCK},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "so far "}},
        ),
        sse({"type": "content_block_stop", "index": 0}, {"type": "message_stop"}),
    ),
    ":streamGenerateContent": (
        "text/event-stream",
        sse({"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "so far "}]}}]}).replace(b"\n", b"\r\n"),
        sse({"candidates": [{"index": 0, "content": {"parts": [{"text": "."}]}, "finishReason": "STOP"}]}).replace(b"\n", b"\r\n"),
    ),
    "/api/chat": (
        "application/x-ndjson",
        b'{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"so far "},"done":false}\n',
        b'{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"total_duration":7}\n',
    ),
    "/v2/chat": (
        "text/event-stream",
        sse(
            {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
            {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "so far "}}}},
        ),
        sse({"type": "content-end", "index": 0}, {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}),
    ),
    ":streamGenerateContent?array": (
        "application/json",
        b'[{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"so far "}]}}]}\n',
        b',{"candidates":[{"index":0,"content":{"parts":[{"text":"."}]},"finishReason":"STOP"}]}\n',
    ),
}


class Cutting(Handler):
    """Sends the beginning of a stream and closes; of a path with `whole` all of it. With that or `early` it stays a while."""

    def do_POST(self):
        self.take()
        path, _, query = self.path.partition("?")
        at = next(end for end in STREAMS if path.endswith(end.partition("?")[0]))
        if at.startswith(":") and "alt=sse" not in query:
            at += "?array"
        kind, begin, end = STREAMS[at]
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in [begin, end] if "/whole" in self.path else [begin]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            time.sleep(0.05)
        if "/whole" in self.path or "/early" in self.path:
            self.mock.held.wait(2)
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class Origin(Served):
    handler = Cutting

    def __init__(self):
        self.held = threading.Event()


@pytest.fixture(scope="module")
def gateway():
    with Origin() as origin:
        with Gateway(origin.url, CONFIG) as running:
            yield running
        origin.held.set()


# ── streams that break off ──────────────────────────────────────────────────────────────────────────────────────────


def openai_chat(url):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0)
    text = ""
    with pytest.raises(openai.APIError) as raised:
        for chunk in client.chat.completions.create(model="m", messages=SAID, stream=True):
            text += chunk.choices[0].delta.content or ""
    return text, str(raised.value)


def openai_responses(url):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0)
    text = ""
    with pytest.raises(openai.APIError) as raised:
        for event in client.responses.create(model="m", input="hello", stream=True):
            text += getattr(event, "delta", "")
    return text, str(raised.value)


def anthropic_messages(url):
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    text = ""
    with pytest.raises(anthropic.APIStatusError) as raised:
        with client.messages.stream(model="m", max_tokens=9, messages=SAID) as stream:
            for piece in stream.text_stream:
                text += piece
    return text, raised.value.body["error"]["message"]


def gemini_generate(url):
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="k", http_options={"base_url": url})
    text = ""
    with pytest.raises(genai.errors.APIError) as raised:
        for chunk in client.models.generate_content_stream(model="m", contents="hello"):
            text += chunk.text or ""
    return text, raised.value.message


def ollama_chat(url):
    ollama = pytest.importorskip("ollama")
    text = ""
    with pytest.raises(ollama.ResponseError) as raised:
        for part in ollama.Client(host=url).chat(model="m", messages=SAID, stream=True):
            text += part.message.content or ""
    return text, raised.value.error


def cohere_chat(url):
    cohere = pytest.importorskip("cohere")
    text, error = "", ""
    for event in cohere.ClientV2(api_key="k", base_url=url).chat_stream(model="m", messages=SAID):
        if event.type == "content-delta":
            text += event.delta.message.content.text
        if event.type == "message-end":
            assert event.delta.finish_reason == "ERROR"
            error = event.delta.error
    return text, error


@pytest.mark.parametrize(
    "ask", [openai_chat, openai_responses, anthropic_messages, gemini_generate, ollama_chat, cohere_chat]
)
def test_a_stream_that_breaks_off_ends_in_its_clients_own_error(gateway, ask):
    text, error = ask(gateway.url)
    assert text == "so far " and error == "the upstream failed (broken)"


def test_an_array_that_breaks_off_is_closed_behind_an_error(gateway):
    answer = gateway.call("POST", "/v1beta/models/m:streamGenerateContent", b"{}", {"content-type": "application/json"})
    said, error = json.loads(answer.body)
    assert said["candidates"][0]["content"]["parts"][0]["text"] == "so far "
    assert (error["error"]["code"], error["error"]["status"]) == (502, "UNAVAILABLE")


# ── clients that have had all ───────────────────────────────────────────────────────────────────────────────────────


LENGTHS = itertools.count(1000)


@pytest.mark.parametrize("host", ["127.0.0.1", "plain.test"])
@pytest.mark.parametrize("path", STREAMS)
def test_who_leaves_behind_the_last_event_has_had_all(gateway, path, host):
    path, _, array = path.partition("?")
    _, begin, end = STREAMS[path + "?array" if array else path]
    query = "" if array or not path.startswith(":") else "?alt=sse"
    place = "%s%s" % (path if path.startswith("/") else "/v1beta/models/m" + path, query)

    for first, outcome in (("/whole", True), ("/early", False)):
        # Of a length of its own, by which its line of the log is known: that of an earlier request may come late.
        body = "{}" + " " * next(LENGTHS)
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=5) as caller:
            head = "POST %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
            caller.sendall((head % (first + place, host, len(body), body)).encode())
            came = b""
            last = (end if outcome else begin).strip().rsplit(b"\n", 1)[-1].strip()[-12:]
            while last not in came:
                piece = caller.recv(65536)
                assert piece, came
                came += piece
        found = gateway.wait_for(lambda: [line for line in gateway.log if "bytes_in=%d " % len(body) in line], 5)
        assert ('fault="-"' in found[0]) == outcome, found[0]
