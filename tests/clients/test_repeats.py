"""What the caller wrote and no rule found there passes when the model says it again, also where a rule takes it for a value there;
what the model comes up with does not."""

import json

import pytest
from anthropic import Anthropic
from gateway import EVERY_PATH, Gateway
from mock_upstream import ReplyingMock
from openai import OpenAI
from websocket_sessions import fresh, say, scripts, server, through
from websocket_wire import TEXT, Client, frame

__all__ = ["fresh", "scripts", "server", "through"]

# Nothing says what it is, as something does in the answer.
SAID = "Sw0rdfish-and-chips is what I chose, not h4ddock, nor chips and h4ddock."
CARD = "4111 1111 1111 1111"
ROWS = [
    ("password: Sw0rdfish-and-chips", "password: Sw0rdfish-and-chips"),
    ("password: Sw0rdFish-And-Chips", "password: Sw0rdFish-And-Chips"),
    ("password: h4ddock-and-chips", "password: *****************"),
    ("password: Sw0rdfish_and-chips", "password: *******************"),
]
STARS = "*" * len(CARD)


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield gateway, mock


def cut(text, size=5):
    return [text[at : at + size] for at in range(0, len(text), size)]


def chunks(text):
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    for piece in cut(text):
        yield head | {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield "[DONE]"


def completion(text):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def chat(gateway, messages, stream):
    client = OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0)
    answer = client.chat.completions.create(model="m", stream=stream, messages=messages)
    if not stream:
        return answer.choices[0].message.content
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)


def user(text):
    return {"role": "user", "content": text}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("says", "heard"), ROWS)
def test_the_openai_client_reads_what_its_caller_wrote(ends, says, heard, stream):
    gateway, mock = ends
    mock.reply = lambda _: chunks(says) if stream else completion(says)
    assert chat(gateway, [user(SAID)], stream) == heard


@pytest.mark.parametrize(("says", "heard"), ROWS)
def test_the_anthropic_client_does(ends, says, heard):
    gateway, mock = ends
    block = {"type": "text", "text": says}
    usage = {"input_tokens": 1, "output_tokens": 1}
    mock.reply = lambda _: {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block], "stop_reason": "end_turn", "usage": usage,
    }
    client = Anthropic(api_key="-", base_url=gateway.url, max_retries=0)
    assert client.messages.create(model="m", max_tokens=9, messages=[user(SAID)]).content[0].text == heard


def test_what_another_request_said_is_not_this_ones(ends):
    gateway, mock = ends
    says, heard = ROWS[0]
    mock.reply = lambda _: completion(says)
    assert chat(gateway, [user(SAID)], False) == heard
    assert chat(gateway, [user("hello")], False) == "password: *******************"


@pytest.mark.parametrize("message", [
    {"role": "system", "content": SAID},
    {"role": "tool", "tool_call_id": "t", "content": json.dumps({"it": SAID})},
    {"role": "user", "content": [{"type": "text", "text": SAID}]},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "t", "type": "function", "function": {"name": "f", "arguments": json.dumps({"x": SAID})}},
    ]},
])
def test_it_may_stand_anywhere_in_the_request(ends, message):
    gateway, mock = ends
    says, heard = ROWS[0]
    mock.reply = lambda _: completion(says)
    assert chat(gateway, [message, user("go on")], False) == heard


def test_what_was_replaced_was_not_said(ends):
    """The model never had it: whatever it says that looks so is its own."""
    gateway, mock = ends
    mock.reply = lambda _: completion("card " + CARD)
    assert chat(gateway, [user("My card is %s." % CARD)], False) == "card " + STARS
    assert CARD not in mock.requests[-1].body.decode()


def test_over_a_websocket_what_was_said_before_counts(through, scripts):
    says = [said for said, _ in ROWS]

    def script(peer, seen):
        seen.put(peer.receive())
        at = {"response_id": "r", "item_id": "i", "content_index": 0, "output_index": 0}
        for number, text in enumerate(says):
            for piece in cut(text + "\n"):
                event = {"type": "response.output_text.delta", "delta": piece} | at | {"response_id": "r%d" % number}
                peer.send(frame(TEXT, json.dumps(event), mask=False))
            peer.send(frame(TEXT, json.dumps({"type": "response.output_text.done", "text": text} | at), mask=False))
        peer.receive()

    scripts.script = script
    with Client(through.port, "/v1/realtime") as client:
        client.send(frame(TEXT, say(SAID)))
        heard = []
        while len(heard) < len(says):
            event = json.loads(client.receive().payload)
            if event["type"].endswith(".done"):
                heard.append(event["text"])
    assert heard == [heard for _, heard in ROWS]


def test_over_a_websocket_a_tool_is_called_with_what_its_schema_allows(through, scripts):
    """It goes out as it is, and so it comes back; also where the same stands in a text, and is replaced there."""
    mail, other = "jo@harbour-post.com", "max.rabe@harbour-post.com"

    def script(peer, seen):
        for _ in range(2):
            seen.put(peer.receive())
        arguments = json.dumps({"to": mail, "cc": other})
        at = {"response_id": "r", "item_id": "i", "output_index": 0, "call_id": "call_1a2b3c4d"}
        peer.send(frame(TEXT, json.dumps({"type": "response.function_call_arguments.done", "arguments": arguments} | at), mask=False))
        peer.receive()

    scripts.script = script
    schema = {"type": "object", "properties": {"to": {"type": "string", "enum": [mail, "Jordan"]}}}
    update = {"type": "session.update", "session": {"type": "realtime", "tools": [{"type": "function", "name": "send", "parameters": schema}]}}
    with Client(through.port, "/v1/realtime") as client:
        client.send(frame(TEXT, json.dumps(update)))
        client.send(frame(TEXT, say("Not to %s." % mail)))
        heard = json.loads(client.receive().payload)
    assert json.loads(heard["arguments"]) == {"to": mail, "cc": "*" * len(other)}
