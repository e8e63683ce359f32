"""Arguments of tools: what a member is called says what words before a value do, and ids are the server's."""

import json
import re

import openai
import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import ReplyingMock

USER, PASSWORD, CARD = "billing_app", "Tr0ub4dor9xQ", "4532015112830366"
ASKED = "Connect to postgres://%s:%s@db1.northwind-labs.eu:5432/billing, note the card %s." % (USER, PASSWORD, CARD)
ARGUMENTS = {"user": USER, "db": {"password": PASSWORD}, "card_last4": CARD[-4:], "note": "card " + CARD}


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield gateway, mock


def arguments(body):
    """Those that a model writes that knows what it was shown alone."""
    text = json.dumps(body)
    user, password = re.search(r"postgres://([^:]+):([^@]+)@", text).groups()
    card = re.search(r"the card (\d{16})", text)[1]
    assert not {user, password, card} & {USER, PASSWORD, CARD}
    return {"user": user, "db": {"password": password}, "card_last4": card[-4:], "note": "card " + card}


def pieces(text, size=3):
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(body, call_id):
    """Events of chat: it thinks, says something and calls a tool."""
    made = arguments(body)

    def event(**delta):
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta}]}

    yield from (event(reasoning_content=piece) for piece in pieces("It is " + made["note"]))
    yield from (event(content=piece) for piece in pieces("I look up " + made["note"]))
    call = {"index": 0, "id": call_id, "type": "function", "function": {"name": "connect", "arguments": ""}}
    yield event(tool_calls=[call])
    for piece in pieces(json.dumps(made)):
        yield event(tool_calls=[{"index": 0, "function": {"arguments": piece}}])
    last = event()
    last["choices"][0]["finish_reason"] = "tool_calls"
    yield last


@pytest.mark.parametrize("call_id", ["call_8d", "365174485", "call_-4532015112830366"])
def test_arguments_of_a_stream(ends, call_id):
    gateway, mock = ends
    mock.reply = lambda body: list(streamed(body, call_id))
    texts, ids = {}, []
    with openai.OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0) as client:
        asked = [{"role": "user", "content": ASKED}]
        for chunk in client.chat.completions.create(model="m", stream=True, messages=asked):
            delta = chunk.choices[0].delta.model_dump(exclude_none=True)
            calls = delta.pop("tool_calls", [])
            ids += [call["id"] for call in calls if call.get("id")]
            said = {"arguments": "".join(call["function"]["arguments"] for call in calls), **delta}
            for kind, text in said.items():
                if text and kind != "role":
                    texts[kind] = texts.get(kind, "") + text
    assert texts["reasoning_content"] == "It is card " + CARD and texts["content"] == "I look up card " + CARD
    assert json.loads(texts["arguments"]) == ARGUMENTS
    assert ids == [call_id]


@pytest.mark.parametrize("call_id", ["call_8d", "365174485", "call_-4532015112830366"])
def test_arguments_of_a_whole_response(ends, call_id):
    gateway, mock = ends

    def reply(body):
        call = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "connect", "status": "completed"}
        output = [call | {"arguments": json.dumps(arguments(body))}]
        return {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": output}

    mock.reply = reply
    with openai.OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0) as client:
        call = client.responses.create(model="m", input=ASKED).output[0]
    assert json.loads(call.arguments) == ARGUMENTS and call.call_id == call_id
