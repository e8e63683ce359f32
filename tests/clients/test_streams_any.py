"""Streams on paths that no protocol has: what an event cuts comes back all the same."""

import json

import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import Mock, MockHandler, Recorded, cut

MAIL = "jane.doe@harbour-post.com"
PHONE = "+1 650 253 0000"
SAID = "Dear Maria Lopez: we mail %s, or call %s. Yours, Maria Lopez" % (MAIL, PHONE)


class Streams(MockHandler):
    """Says what it was told, in pieces, in the form that the path names."""

    def do_any(self):
        came = Recorded(self.command, self.path, list(self.headers.items()), self.take())
        self.mock.requests.append(came)
        kind, event = FORMS[self.path]
        told = came.json()["inputs"]
        pieces = cut(told, self.mock.step)
        so_far = ""
        self.mock.sent = []
        for n, piece in enumerate(pieces):
            so_far += piece
            self.mock.sent.append(event(piece, so_far, n).encode())
        self.pieces(200, kind, self.mock.sent)

    do_GET = do_POST = do_any


class StreamingMock(Mock):
    handler = Streams
    step = 5
    sent = ()


def data(event, name=""):
    return ("event: %s\n" % name if name else "") + "data: %s\n\n" % json.dumps(event, ensure_ascii=False)


EVENTS = "text/event-stream"
FORMS = {
    "/": (EVENTS, lambda piece, _, n: data({"index": n + 1, "token": {"id": 100 + n % 7, "text": piece, "special": False}, "generated_text": None})),
    "/ml/v1/text/generation_stream": (EVENTS, lambda piece, _, n: "id: %d\n" % n + data({"results": [{"generated_text": piece, "stop_reason": "not_finished"}]}, "message")),
    "/api/chat/ui": ("text/plain; charset=utf-8", lambda piece, _, n: "0:%s\n" % json.dumps(piece)),
    "/srt/generate": (EVENTS, lambda _, so_far, n: data({"text": so_far, "meta_info": {"completion_tokens": n}})),
    "/chain/stream": (EVENTS, lambda piece, _, n: data({"content": piece, "type": "AIMessageChunk"}, "data")),
    "/v1/predictions/x/stream": (EVENTS, lambda piece, _, n: "event: output\nid: 1:%d\ndata: %s\n\n" % (n, piece)),
    "/webhook/chat": ("application/json; charset=utf-8", lambda piece, _, n: json.dumps({"type": "item", "content": piece}) + "\n"),
    "/agent/events": ("application/x-ndjson", lambda piece, _, n: json.dumps({"update": {"kind": "chunk", "content": {"text": piece}}}) + "\n"),
}
READ = {
    "/": lambda event: event["token"]["text"],
    "/ml/v1/text/generation_stream": lambda event: event["results"][0]["generated_text"],
    "/srt/generate": lambda event: event["text"],
    "/chain/stream": lambda event: event["content"],
    "/webhook/chat": lambda event: event["content"],
    "/agent/events": lambda event: event["update"]["content"]["text"],
}


@pytest.fixture(scope="module")
def ends():
    with StreamingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield mock, gateway


def ask(ends, path, step, said=SAID):
    mock, gateway = ends
    mock.step = step
    body = json.dumps({"inputs": said, "stream": True})
    answer = gateway.call("POST", path, body, {"content-type": "application/json"})
    assert answer.status == 200
    return mock, answer


def texts(path, body):
    kind, _ = FORMS[path]
    lines = body.decode().splitlines()
    if path == "/api/chat/ui":
        return [json.loads(line[2:]) for line in lines]
    if kind == EVENTS:
        lines = [line[6:] for line in lines if line.startswith("data: ")]
    read = READ.get(path)
    return [read(json.loads(line)) if read else line for line in lines if line or not read]


@pytest.mark.parametrize("step", [3, 5, 11])
@pytest.mark.parametrize("path", FORMS)
def test_what_a_stream_cuts_comes_back(ends, path, step):
    mock, answer = ask(ends, path, step)
    assert MAIL.encode() not in mock.requests[-1].body and b"Lopez" not in mock.requests[-1].body
    came = texts(path, answer.body)
    assert len(came) == len(mock.sent)
    if path == "/srt/generate":
        assert came[-1] == SAID
        # Its path is that of a protocol, which masks what is half a name while it comes; its first text may be whole.
        wrong = [one for one in came[1:] if not (SAID.startswith(one) or "*" in one)]
        assert not wrong, wrong
    else:
        assert "".join(came) == SAID


@pytest.mark.parametrize("path", FORMS)
def test_a_stream_without_values_is_the_same(ends, path):
    said = "Nothing of anybody stands here, in so many words."
    # Where each event repeats the text so far, what cannot be decided yet comes with the next.
    for extra in ("", " Write to %s." % MAIL)[: 1 if path == "/srt/generate" else 2]:
        mock, gateway = ends
        mock.step = 4
        body = json.dumps({"inputs": said, "note": extra, "stream": True})
        answer = gateway.call("POST", path, body, {"content-type": "application/json"})
        assert answer.body == b"".join(mock.sent)


CHAT = {
    "executed tools": lambda piece: {"choices": [{"index": 0, "delta": {"executed_tools": [{"index": 0, "output": piece}]}}]},
    "text beside": lambda piece: {"choices": [{"index": 0, "delta": {}, "text": piece}]},
    "message": lambda piece: {"choices": [{"index": 0, "delta": {}, "message": {"note": piece}}]},
}


@pytest.mark.parametrize("form", CHAT)
def test_members_that_a_protocol_does_not_name_go_on_too(ends, form):
    path = "/v1/chat/completions"

    def event(piece, _, n):
        return data({"id": "c1", "object": "chat.completion.chunk", "model": "m"} | CHAT[form](piece))

    FORMS[path] = (EVENTS, event)
    try:
        mock, gateway = ends
        mock.step = 5
        body = json.dumps({"model": "m", "stream": True, "inputs": SAID, "messages": [{"role": "user", "content": SAID}]})
        answer = gateway.call("POST", path, body, {"content-type": "application/json"})
        lines = [json.loads(line[6:]) for line in answer.body.decode().splitlines() if line.startswith("data: ")]
        found = {"executed tools": lambda c: c["delta"]["executed_tools"][0]["output"], "text beside": lambda c: c["text"], "message": lambda c: c["message"]["note"]}
        assert "".join(found[form](line["choices"][0]) for line in lines) == SAID
    finally:
        del FORMS[path]
