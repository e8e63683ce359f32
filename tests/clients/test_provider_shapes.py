"""Requests and answers in the shapes of providers, as JSON and event streams, without any client: what does not change
stays byte for byte, and a value that comes over two events is restored in them.
"""

import json

import pytest
from gateway import CONFIG, Gateway

MAIL = "jane.doe@example.com"
SAID = "Write to %s today."

# Every path to one upstream, redacted and restored.
ROUTES = """
[[routes]]
name = "all"
upstream = "mock"
auth = "none"
redact = {{}}
"""

# A name, the path, a request that says TEXT, a whole answer that says TEXT, and the data of an event that brings TEXT.
SHAPES = [
    ("OpenAI Responses", "/v1/responses",
     {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "TEXT"}]}]},
     {"id": "resp_1", "output": [{"type": "message", "content": [{"type": "output_text", "text": "TEXT"}]}]},
     {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "TEXT"}),
    ("OpenAI completions", "/v1/completions",
     {"model": "m", "prompt": "TEXT"},
     {"id": "cmpl-1", "choices": [{"index": 0, "text": "TEXT"}]},
     {"id": "cmpl-1", "choices": [{"index": 0, "text": "TEXT"}]}),
    ("OpenAI embeddings", "/v1/embeddings", {"model": "m", "input": ["TEXT"]}, {"data": [{"embedding": [0.25]}]}, None),
    ("Anthropic Messages", "/v1/messages",
     {"model": "m", "max_tokens": 64, "system": "TEXT", "messages": [{"role": "user", "content": "TEXT"}]},
     {"id": "msg_1", "type": "message", "content": [{"type": "text", "text": "TEXT"}]},
     {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "TEXT"}}),
    ("Google Gemini", "/v1beta/models/gemini-pro:generateContent",
     {"contents": [{"role": "user", "parts": [{"text": "TEXT"}]}]},
     {"candidates": [{"content": {"role": "model", "parts": [{"text": "TEXT"}]}}]},
     {"candidates": [{"content": {"role": "model", "parts": [{"text": "TEXT"}]}}]}),
]  # fmt: skip


def saying(shape, text):
    return json.dumps(shape).replace("TEXT", text)


@pytest.fixture(scope="module")
def open_gateway(upstream):
    with Gateway(upstream.url, CONFIG + ROUTES) as running:
        yield running


@pytest.mark.parametrize(("path", "ask", "reply", "event"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_strings_are_restored_whole_and_over_events(open_gateway, mock, path, ask, reply, event):
    name = path.rsplit("/", 1)[-1]

    def answered(kind, body):
        mock.canned[name] = (200, kind, body.encode(), "", 0)
        answer = open_gateway.call("POST", path, saying(ask, SAID % MAIL), {"content-type": "application/json"})
        assert answer.status == 200, answer.body
        return mock.requests[-1].body.decode(), answer.body.decode()

    seen, _ = answered("application/json", "{}")
    [before, after] = saying(ask, SAID).split("%s")[:2]
    surrogate = seen.removeprefix(before).split(after[: len(" today.")])[0]
    assert MAIL not in seen and "@" in surrogate and seen == saying(ask, SAID % surrogate)

    _, whole = answered("application/json", saying(reply, SAID % surrogate))
    assert whole == saying(reply, SAID % MAIL)
    if event:
        before, after = saying(event, "%s").split("%s")

        def streamed(*texts):
            """What the events say together that come of these."""
            came = answered("text/event-stream", "".join("data: %s\n\n" % saying(event, text) for text in texts))[1]
            said = [line.removeprefix("data: ") for line in came.splitlines() if line]
            assert all(data.startswith(before) and data.endswith(after) for data in said), came
            return "".join(data[len(before) : len(data) - len(after)] for data in said)

        assert streamed(SAID % surrogate, ".") == SAID % MAIL + "."
        assert all(streamed(surrogate[:at], surrogate[at:]) == MAIL for at in (1, 4, len(surrogate) - 1))
