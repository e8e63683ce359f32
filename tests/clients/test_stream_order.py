"""Streams in which a model thinks, then speaks, then calls: each text is whole before the next one begins, as its server had it."""

import json

import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import Mock, MockHandler, Recorded

MAIL = "petra.vogel@kestrel-labs.org"
KEY = "AKIAQ3EGRI7XJ2M4TZVP"
ASKED = "mail %s or key %s" % (MAIL, KEY)

def cut(text):
    """In pieces of five, the last of which ends within what may be a value."""
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def choice(delta, end=None):
    return {"id": "chatcmpl-AbC123", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}


def call(number, said):
    function = {"name": "note", "arguments": ""}
    yield choice({"tool_calls": [{"index": number, "id": "call_%dabcdefg" % number, "type": "function", "function": function}]})
    for piece in cut(json.dumps({"text": said})):
        yield choice({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})


def chat(said, *thoughts):
    for piece in cut(said):
        yield choice({thought: piece for thought in thoughts})
    for piece in cut("I say " + said):
        yield choice({"content": piece, **{thought: None for thought in thoughts}})
    yield from call(0, said)
    yield from call(1, said)
    yield choice({}, "tool_calls")


def lists(said):
    for piece in cut(said):
        yield choice({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]})
    for piece in cut("I say " + said):
        yield choice({"content": piece})
    yield choice({}, "stop")


def both_in_one(said):
    yield choice({"content": said, "tool_calls": [{"index": 0, "id": "call_0abcdefg", "type": "function", "function": {"name": "note", "arguments": '{"te'}}]})
    for piece in cut('xt": "%s"}' % said):
        yield choice({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield choice({}, "tool_calls")


def ollama(said):
    line = lambda message, done=False: {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "", **message}, "done": done}  # noqa: E731
    yield from (line({"thinking": piece}) for piece in cut(said))
    yield from (line({"content": piece}) for piece in cut("I say " + said))
    yield line({"tool_calls": [{"function": {"name": "note", "arguments": {"text": said}}}]})
    yield line({}, True)


def gemini(said):
    part = lambda **part: {"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}]}  # noqa: E731
    yield from (part(text=piece, thought=True) for piece in cut(said))
    yield from (part(text=piece) for piece in cut("I say " + said))
    yield part(functionCall={"name": "note", "args": {"text": said}})


KINDS = {
    "/v1/chat/completions?deepseek": lambda said: chat(said, "reasoning_content"),
    "/v1/chat/completions?openrouter": lambda said: chat(said, "reasoning"),
    "/v1/chat/completions?twice": lambda said: chat(said, "reasoning", "reasoning_content"),
    "/v1/chat/completions?lists": lists,
    "/v1/chat/completions?both": both_in_one,
    "/api/chat": ollama,
    "/v1beta/models/g:streamGenerateContent?alt=sse": gemini,
}


class Thinking(MockHandler):
    def do_POST(self):
        came = Recorded(self.command, self.path, list(self.headers.items()), self.take())
        self.mock.requests.append(came)
        ask = came.json()
        said = ask["contents"][0]["parts"][0]["text"] if "contents" in ask else ask["messages"][0]["content"]
        said += self.mock.invents
        frame, kind = ("%s\n", "application/x-ndjson") if self.path == "/api/chat" else ("data: %s\n\n", "text/event-stream")
        self.pieces(200, kind, [(frame % json.dumps(event)).encode() for event in KINDS[self.path](said)])


class ThinkingMock(Mock):
    handler = Thinking
    invents = ""


@pytest.fixture(scope="module")
def ends():
    with ThinkingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield mock, gateway


# Strings that are text, by the member or the kind of part; all else is a frame.
TEXTS = ("reasoning_content", "reasoning", "content", "text", "thinking", "arguments")


def runs(events):
    """The texts in the order in which they come, and whose each is; pieces of one that follow each other are one."""
    found = []

    def walk(value, whose):
        if isinstance(value, dict):
            mark = (value.get("index"),) if isinstance(value.get("index"), int) else ()
            for name, inner in value.items():
                walk(inner, whose + mark + (name,) + (("thought",) if value.get("thought") else ()))
        elif isinstance(value, list):
            for inner in value:
                walk(inner, whose)
        elif isinstance(value, str) and value and whose[-1] in TEXTS + ("thought",):
            if found and found[-1][0] == whose:
                found[-1][1] += value
            else:
                found.append([whose, value])

    for event in events:
        walk(event, ())
    return found


def by_text(found):
    """Of texts that come side by side, each whole, in the order of their beginnings."""
    whole = {}
    for whose, text in found:
        whole.setdefault(whose, []).append(text)
    return [(whose, "".join(texts)) for whose, texts in whole.items()]


@pytest.mark.parametrize("path", list(KINDS))
def test_texts_come_one_after_another_as_their_server_had_them(ends, path):
    mock, gateway = ends
    mock.requests.clear()
    ask = {"contents": [{"parts": [{"text": ASKED}]}]} if "v1beta" in path else {"model": "m", "stream": True, "messages": [{"role": "user", "content": ASKED}]}
    answer = gateway.call("POST", path, json.dumps(ask), {"content-type": "application/json"})
    assert answer.status == 200
    sent = mock.requests[-1].everything()
    assert MAIL not in sent and KEY not in sent
    lines = [line.removeprefix("data: ") for line in answer.body.decode().splitlines()]
    came, own = runs(json.loads(line) for line in lines if line.startswith("{")), runs(KINDS[path](ASKED))
    if "twice" in path:
        came, own = by_text(came), by_text(own)
    assert came == own


def said(found):
    """All texts of each kind, whatever came between."""
    return dict(by_text(found))


INVENTED = " also tom.baker@harbour-post.com and 4111 1111 1111 1111"


def beside(text, **more):
    yield from (choice({"content": piece, **more}) for piece in cut(text))


def before_thought(text):
    yield choice({"content": text[:9], "reasoning_content": "so "})
    yield from (choice({"content": piece}) for piece in cut(text[9:]))


def in_turns(text):
    for piece in cut(text):
        yield choice({"reasoning": piece, "content": piece})


def blank_beside(text):
    yield from (choice({"reasoning_content": piece, "content": " "}) for piece in cut(text))


def blank_between(text):
    yield choice({"tool_calls": [{"index": 0, "id": "call_0abcdefg", "type": "function", "function": {"name": "note", "arguments": ""}}]})
    for piece in cut(json.dumps({"text": text})):
        yield choice({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        yield choice({"content": "\n"})


# What some servers send beside or between the pieces of a text; none of it ends that.
ODD = {
    "/v1/chat/completions?empty_call": lambda text: beside(text, function_call={"name": "", "arguments": ""}),
    "/v1/chat/completions?empty_calls": lambda text: beside(text, tool_calls=[{"index": 0, "function": {"arguments": ""}}]),
    "/v1/chat/completions?no_thought": lambda text: beside(text, reasoning_content=""),
    "/v1/chat/completions?before": before_thought,
    "/v1/chat/completions?blank": blank_beside,
    "/v1/chat/completions?lines": blank_between,
    "/v1/chat/completions?turns": lambda text: [choice({"reasoning": "I ", "content": "I "}), *in_turns("think. " + text)],
}
KINDS |= ODD


@pytest.mark.parametrize("path", ODD)
def test_what_stands_beside_a_text_does_not_end_it(ends, path):
    mock, gateway = ends
    ask = {"model": "m", "stream": True, "messages": [{"role": "user", "content": ASKED}]}
    mock.requests.clear()
    mock.invents = INVENTED
    try:
        answer = gateway.call("POST", path, json.dumps(ask), {"content-type": "application/json"})
    finally:
        mock.invents = ""
    lines = [line.removeprefix("data: ") for line in answer.body.decode().splitlines()]
    texts = [text for text in said(runs(json.loads(line) for line in lines if line.startswith("{"))).values() if "mail" in text]
    assert texts
    for text in texts:
        assert ASKED in text and "tom.baker" not in text and "4111" not in text, text
