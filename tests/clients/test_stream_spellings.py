"""Streams as other servers spell them, and values behind escapes and colours: each goes as a surrogate and comes back, wherever it is cut."""

import json
import re

import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import ReplyingMock

VALUES = {
    "MAIL": "jane.doe@harbour-post.com",
    "CARD": "4111111111111111",
    "SSN": "536-22-8726",
    "KEY": "AKIAQX7RZ3JY5KDN4WPL",
    "IBAN": "DE89370400440532013000",
}
TEXT = "MAIL=%(MAIL)s; CARD=%(CARD)s; SSN=%(SSN)s; KEY=%(KEY)s; IBAN=%(IBAN)s." % VALUES


@pytest.fixture(scope="module")
def ends():
    """A gateway, and an upstream that answers with what `mock.events` makes of the text that `mock.text_of` finds in a request."""
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        mock.reply = lambda came: mock.events(mock.text_of(came))
        yield gateway, mock


def cut(text, size=6):
    return [text[at:at + size] for at in range(0, len(text), size)]


def leaves(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in ("type", "id", "item_id", "event_type", "finish_reason", "finishReason", "blockReason", "error", "object", "jsonPath"):
                yield from leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one)


def said(body):
    lines = (line.removeprefix("data: ") for line in body.decode().splitlines())
    return "".join(text for line in lines if line.startswith("{") for text in leaves(json.loads(line)))


def ask(ends, path, body, events, lines=False):
    """What the caller reads of an answer that says again what was asked."""
    gateway, mock = ends
    mock.events, mock.lines = events, lines
    mock.text_of = lambda came: re.search(r"MAIL=.*?IBAN=\w+\.", json.dumps(came))[0]
    answer = gateway.call("POST", path, body)
    assert answer.status == 200, answer.body
    came = mock.requests[-1].body.decode()
    assert not [value for value in VALUES.values() if value in came], came
    return said(answer.body)


CHAT = {"model": "m", "stream": True, "messages": [{"role": "user", "content": TEXT}]}


@pytest.mark.parametrize("reason", ["", None, False, "none", "null", {}, [], 0], ids=repr)
def test_a_reason_that_says_nothing_ends_no_text(ends, reason):
    def chat(text):
        return [{"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": reason}], "error": reason} for part in cut(text)]

    assert ask(ends, "/v1/chat/completions", CHAT, chat) == TEXT

    def completion(text):
        return [{"choices": [{"index": 0, "text": part, "finish_reason": reason}]} for part in cut(text)]

    assert ask(ends, "/v1/completions", {"model": "m", "stream": True, "prompt": TEXT}, completion) == TEXT

    def ollama(text):
        return [{"model": "", "message": {"content": part}, "done": False, "error": reason} for part in cut(text)]

    assert ask(ends, "/api/chat", CHAT, ollama, lines=True) == TEXT


@pytest.mark.parametrize("more", [{"finishReason": "FINISH_REASON_UNSPECIFIED"}, {"finishReason": ""}], ids=repr)
def test_what_is_unspecified_ends_no_text(ends, more):
    def gemini(text):
        feedback = {"blockReason": "BLOCK_REASON_UNSPECIFIED"}
        return [
            {"candidates": [{"index": 0, "content": {"parts": [{"text": part}]}} | more], "promptFeedback": feedback}
            for part in cut(text)
        ]

    body = {"contents": [{"parts": [{"text": TEXT}]}]}
    assert ask(ends, "/v1beta/models/g:streamGenerateContent?alt=sse", body, gemini) == TEXT


def test_items_whose_id_changes_in_every_event_are_one(ends):
    def events(text):
        for number, part in enumerate(cut(text)):
            event = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": part}
            yield event | {"item_id": "msg_%d" % number, "sequence_number": number}

    assert ask(ends, "/v1/responses", {"model": "m", "stream": True, "input": TEXT}, lambda text: list(events(text))) == TEXT


PLACES = [
    ("/v1/agents/completions", lambda part: {"choices": [{"index": 0, "delta": {"content": part}}]}),
    ("/v1/chat/completions", lambda part: {"choices": [{"index": 0, "delta": {"thinking": part}}]}),
    ("/v1/chat/completions", lambda part: {"choices": [{"index": 0, "delta": {"reasoning_text": part}}]}),
    ("/v1/complete", lambda part: {"type": "completion", "completion": part}),
    (
        "/v1/projects/p/locations/l/publishers/mistralai/models/m:streamRawPredict",
        lambda part: {"choices": [{"index": 0, "delta": {"content": part}}]},
    ),
    (
        "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict",
        lambda part: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}},
    ),
    (
        "/v1/conversations",
        lambda part: {
            "type": "message.output.delta", "output_index": 0, "content_index": 0,
            "content": {"type": "thinking", "thinking": [{"type": "text", "text": part}]},
        },
    ),
    ("/v1/conversations", lambda part: {"type": "tool.execution.delta", "output_index": 1, "id": "te_1", "arguments": part}),
    ("/v1/responses", lambda part: {"type": "response.shell_call_command.delta", "output_index": 0, "command_index": 1, "delta": part}),
    (
        "/v1/responses",
        lambda part: {"type": "response.shell_call_output_content.delta", "item_id": "i", "output_index": 0, "command_index": 1, "delta": {"stdout": part}},
    ),
    (
        "/v1/responses",
        lambda part: {"delta": {"stderr": part}, "command_index": 1, "item_id": "i", "type": "response.shell_call_output_content.delta"},
    ),
    ("/v1/responses", lambda part: {"type": "response.apply_patch_call_operation_diff.delta", "item_id": "i", "output_index": 0, "delta": part}),
    ("/v1/responses", lambda part: {"type": "response.mcp_call.arguments.delta", "item_id": "i", "output_index": 0, "delta": part}),
    ("/v1/responses", lambda part: {"type": "response.audio.transcript.delta", "delta": part}),
    (
        "/v1beta/models/g:streamGenerateContent",
        lambda part: {"candidates": [{"index": 0, "content": {"parts": [{"functionCall": {"partialArgs": [
            {"jsonPath": "$.to", "stringValue": part, "willContinue": True}]}}]}}]},
    ),
    ("/v1beta/interactions", lambda part: {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": part}}),
    ("/v1beta/interactions", lambda part: {"index": 0, "delta": {"arguments": part, "type": "arguments_delta"}, "event_type": "step.delta"}),
    ("/v1beta/interactions", lambda part: {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": part}}),
    (
        "/v1beta/interactions",
        lambda part: {"event_type": "step.delta", "index": 3, "delta": {"type": "thought_summary", "content": {"type": "text", "text": part}}},
    ),
    ("/v1/chat", lambda part: {"event_type": "tool-calls-chunk", "text": part}),
    ("/v1/chat", lambda part: {"event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "parameters": part}}),
    ("/v1/audio/transcriptions", lambda part: {"type": "transcription.text.delta", "text": part}),
    ("/completion", lambda part: {"index": 0, "content": part, "tokens": [], "stop": False}),
    ("/infill", lambda part: {"content": part, "stop": False}),
    ("/generate_stream", lambda part: {"index": 1, "token": {"id": 7, "text": part, "logprob": -0.1, "special": False}, "generated_text": None, "details": None}),
]


PLACE_IDS = [path for path, _ in PLACES]
EVERY_PROMPT = {"model": "m", "stream": True, "prompt": TEXT, "message": TEXT, "inputs": TEXT, "messages": [{"role": "user", "content": TEXT}]}


@pytest.mark.parametrize("size", [1, 6, 1000])
@pytest.mark.parametrize("path, event", PLACES, ids=PLACE_IDS)
def test_texts_go_on_where_other_providers_have_them(ends, path, event, size):
    assert ask(ends, path, EVERY_PROMPT, lambda text: [event(part) for part in cut(text, size)]) == TEXT


@pytest.mark.parametrize("path, event", PLACES, ids=PLACE_IDS)
def test_what_a_model_invents_is_masked_where_other_providers_have_it(ends, path, event):
    gateway, mock = ends
    invented = "Ask kurt.lang@elsewhere-mail.net, card 4012888888881881, now."
    mock.lines, mock.text_of = False, lambda came: ""
    mock.events = lambda _: [event(part) for part in cut(invented)]
    answer = gateway.call("POST", path, EVERY_PROMPT)
    want = invented.replace("kurt.lang@elsewhere-mail.net", "*" * 28).replace("4012888888881881", "*" * 16)
    assert said(answer.body) == want


def test_documents_that_are_ranked_come_back(ends):
    gateway, mock = ends
    body = {"model": "m", "query": "Who has " + VALUES["MAIL"], "documents": [TEXT, {"text": TEXT}], "return_documents": True}
    for path in ("/v1/rerank", "/v2/rerank", "/rerank"):
        mock.reply = lambda came: {"id": "r", "results": [{"index": 0, "relevance_score": 0.5, "document": {"text": came["documents"][0]}}]}
        answer = gateway.call("POST", path, body)
        came = mock.requests[-1].body.decode()
        assert answer.status == 200 and not [value for value in VALUES.values() if value in came], came
        assert answer.json()["results"][0] == {"index": 0, "relevance_score": 0.5, "document": {"text": TEXT}}
    mock.reply = lambda came: mock.events(mock.text_of(came))


def test_the_last_event_of_a_text_generation_server_has_all_of_it(ends):
    def events(text):
        parts = cut(text)
        last = {"token": {"text": parts[-1]}, "generated_text": text, "details": {"generated_tokens": 9}}
        return [{"token": {"text": part}, "generated_text": None, "details": None} for part in parts[:-1]] + [last]

    assert ask(ends, "/generate_stream", {"inputs": TEXT}, events) == TEXT + TEXT


@pytest.mark.parametrize("before", ["hi ", "n 4111", "to jane.doe", "\\\\", ""])
@pytest.mark.parametrize("ends_there", [False, True])
def test_a_character_whose_halves_come_in_two_events_is_one(ends, before, ends_there):
    """As servers send it that cut texts by UTF-16 units."""
    gateway, mock = ends
    events = ['{"choices":[{"index":0,"delta":{"content":"%s\\ud83d"}}]}' % before]
    # Some say nothing in between.
    events += ['{"choices":[{"index":0,"delta":{"content":""}}]}']
    events += ['{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'] if ends_there else ['{"choices":[{"index":0,"delta":{"content":"\\ude00 there"}}]}']
    mock.lines, mock.text_of, mock.events = False, lambda came: "", lambda _: events
    answer = gateway.call("POST", "/v1/chat/completions", CHAT | {"messages": [{"role": "user", "content": "hello"}]})
    lines = [json.loads(line[6:]) for line in answer.body.decode().splitlines() if line.startswith("data: {")]
    text = "".join(line["choices"][0]["delta"].get("content", "") for line in lines)
    written = json.loads('"%s"' % before)
    assert text == written + ("\ufffd" if ends_there else "\U0001f600 there")


# What repeats a text token by token beside it: nothing of a surrogate, or of what was masked, may stand there.
def tokens(text):
    return [{"token": part, "logprob": -0.1, "bytes": list(part.encode()), "top_logprobs": [{"token": part}]} for part in cut(text, 3)]


ECHOES = [
    ("/v1beta/models/g:generateContent", lambda text: {"candidates": [{"index": 0, "content": {"parts": [{"text": text}]}, "logprobsResult": {"chosenCandidates": tokens(text), "topCandidates": [{"candidates": tokens(text)}]}}]}),
    ("/api/chat", lambda text: {"message": {"content": text}, "done": True, "logprobs": tokens(text)}),
    ("/api/generate", lambda text: {"response": text, "done": True, "logprobs": tokens(text)}),
    ("/v1/chat/completions", lambda text: {"choices": [{"index": 0, "message": {"content": text}, "token_ids": [1, 2], "logprobs": {"content": tokens(text)}}]}),
    ("/v1/completions", lambda text: {"choices": [{"index": 0, "text": text, "logprobs": {"tokens": cut(text, 3)}}]}),
    ("/completion", lambda text: {"content": text, "stop": True, "tokens": [1], "completion_probabilities": tokens(text)}),
    ("/generate", lambda text: {"generated_text": text, "details": {"tokens": [{"id": 1, "text": part} for part in cut(text, 3)]}}),
    ("/model/cohere.command/invoke", lambda text: {"generations": [{"id": "1", "text": text, "token_likelihoods": tokens(text)}]}),
]  # fmt: skip


@pytest.mark.parametrize("invented", [False, True], ids=["restored", "masked"])
@pytest.mark.parametrize("path, answer", ECHOES, ids=[path for path, _ in ECHOES])
def test_lists_of_tokens_repeat_nothing_that_was_changed(ends, path, answer, invented):
    gateway, mock = ends
    mock.lines, mock.text_of = False, lambda came: "" if invented else re.search(r"MAIL=.*?IBAN=\w+\.", json.dumps(came))[0]
    mock.events = lambda text: answer("Ask kurt.lang@elsewhere-mail.net now" if invented else text)
    asked = "hello" if invented else TEXT
    body = {"model": "m", "prompt": asked, "inputs": asked, "messages": [{"role": "user", "content": asked}]}
    got = gateway.call("POST", path, body | {"contents": [{"parts": [{"text": asked}]}]}).body.decode()
    kept = json.loads(got)
    text = json.dumps(kept)
    assert ("kurt" not in text and "*****" in text) if invented else TEXT in text, text
    assert '"token"' not in text and '"bytes"' not in text and '"tokens": [{' not in text and '"tokens": ["' not in text, text
    assert '"token_ids": [1' not in text and '"tokens": [1' not in text, text
    # A text that was not changed keeps its tokens.
    mock.events = lambda text: answer("nobody is named here")
    plain = gateway.call("POST", path, body | {"contents": [{"parts": [{"text": asked}]}]})
    assert json.loads(plain.body) == answer("nobody is named here")


# What may stand right before a value: colours of terminals and how logs spell them, escapes of languages and of URLs.
BEFORE = [
    "\x1b[33m", "\x1b[01;31m\x1b[K", "\x1b[38;2;255;255;255m", "\x1b(B", "\\u001b[31m", "\\x1b[0m", "\\033[1;33m", "^[[31m", "[31m",
    "\\n", "\\t", "\\r\\n", "\\x22", "\\x20", "\\u0022", "\\u003c", "\\u0020", "\\040", "%20", "%22", "%3D", "%2520", "%u0020",
    "\\v", "\\f", "\\a", "[1;", "[<", "[0:", "[=",
]  # fmt: skip


@pytest.mark.parametrize("before", BEFORE, ids=[repr(one) for one in BEFORE])
def test_a_value_right_behind_an_escape_is_one_and_comes_back(ends, before):
    gateway, mock = ends
    mock.lines, mock.text_of = True, lambda came: came["messages"][0]["content"]
    mock.events = lambda text: [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in cut(text)]
    text = " ".join("x=%s%s," % (before, value) for value in VALUES.values()) + " " + TEXT
    answer = gateway.call("POST", "/v1/chat/completions", CHAT | {"messages": [{"role": "user", "content": text}]})
    sent = mock.requests[-1].json()["messages"][0]["content"]
    assert not [value for value in VALUES.values() if value in sent], sent
    assert sent.count("x=" + before) == len(VALUES), "the escape stays: %s" % sent
    assert said(answer.body) == text
    # One value has one surrogate, wherever it stands.
    assert all(sent.count(one) == 2 for one in re.findall(r"=([^=;]+)[;.]", sent[sent.index("MAIL="):])), sent


def test_a_colour_behind_a_value_is_no_part_of_it(ends):
    gateway, mock = ends
    mock.lines, mock.text_of = True, lambda came: came["messages"][0]["content"]
    mock.events = lambda text: [{"choices": [{"index": 0, "delta": {"content": text}}]}]
    text = "password: \x1b[1mhunter2!x9\x1b[0m; card\x1b[0m4111111111111111\x1b[0m 4111\x1b[31m1111\x1b[m11111111"
    answer = gateway.call("POST", "/v1/chat/completions", CHAT | {"messages": [{"role": "user", "content": text}]})
    sent = mock.requests[-1].json()["messages"][0]["content"]
    assert "hunter2" not in sent and VALUES["CARD"] not in sent and "4111\x1b" not in sent and sent.count("\x1b[0m") == 3, sent
    assert said(answer.body) == text


MARKED = ("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K")


@pytest.mark.parametrize("text", [
    "4111%s1111%s11111111", "SSN 536-%s22%s-8726", "DE893704%s0044%s0532013000", "jane.%sdoe%s@harbour-post.com", "ja%sne%s.doe@harbour-post.com",
    "jane.doe@%sharbour%s-post.com",
])  # fmt: skip
def test_what_a_search_has_marked_is_one_value(ends, text):
    gateway, mock = ends
    mock.lines, mock.text_of = True, lambda came: came["messages"][0]["content"]
    mock.events = lambda text: [{"choices": [{"index": 0, "delta": {"content": text}}]}]
    answer = gateway.call("POST", "/v1/chat/completions", CHAT | {"messages": [{"role": "user", "content": text % MARKED}]})
    sent = mock.requests[-1].json()["messages"][0]["content"]
    # Two digits may stand in any number.
    parts = [part for part in re.split(r"%s|SSN |[-.@]|com$|post", text) if len(part) > 2]
    assert not [part for part in parts if part in sent], sent
    assert said(answer.body) == text % MARKED


def test_what_stands_beside_the_schema_of_a_tool_is_text(ends):
    gateway, mock = ends
    mock.lines, mock.text_of, mock.events = True, lambda came: "", lambda text: []
    examples = {"pattern": VALUES["MAIL"], "type": VALUES["CARD"], "format": VALUES["IBAN"], "const": VALUES["KEY"], "enum": [VALUES["SSN"]]}
    tool = {"name": "t", "input_schema": {"type": "object", "properties": {"a": {"enum": ["x"]}}}, "input_examples": [examples]}
    gateway.call("POST", "/v1/messages", {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], "tools": [tool]})
    sent = mock.requests[-1].body.decode()
    assert not [value for value in VALUES.values() if value in sent], sent
    assert mock.requests[-1].json()["tools"][0]["input_schema"] == tool["input_schema"]


NAMES = ["Anna Kowalczyk", "Marguerite Okonkwo", "Tereza Novak", "Lukas Weber", "Elena Ruiz", "Sofia Andersen", "Pedro Alvarez"]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 5, 4000])
def test_names_come_back_from_json_within_strings_of_json(depth, size):
    """A name in ASCII may go as one with accents, which programs spell as `\\u011b`, with a backslash more for each string around it."""
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:

        def nested(text):
            for _ in range(depth):
                text = json.dumps({"note": text})
            return text

        def reply(came):
            text = nested(came["contents"][0]["parts"][0]["text"])
            return [{"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": part}]}}]} for part in cut(text, size)]

        mock.reply = reply
        text = "Write to " + " and to ".join(NAMES) + "."
        body = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
        answer = gateway.call("POST", "/v1beta/models/m:streamGenerateContent?alt=sse", body)
        came = mock.requests[-1].body.decode()
        assert answer.status == 200 and not [name for name in NAMES if name in came]
        lines = [json.loads(line.removeprefix("data: ")) for line in answer.body.decode().splitlines() if line.startswith("data: ")]
        got = "".join(part["text"] for one in lines for part in one["candidates"][0]["content"]["parts"])
        assert got == nested(text)


def test_a_value_behind_an_escape_comes_back(ends):
    """`Contact:` and a line end that JSON within JSON spells `\\\\n` are no URL."""

    def chat(text):
        return [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in cut(spelled(text))]

    def spelled(text):
        return json.dumps({"files": json.dumps({"README.md": "Contact:\n" + text, "a.c": "printf(\"Mail:\\n" + text})})

    assert ask(ends, "/v1/chat/completions", CHAT, chat) == spelled(TEXT)


def test_what_names_nobody_is_left_in_what_a_model_writes(ends):
    """Masks of networks, public resolvers, mail of examples and of mailboxes that nobody reads: a file would not work without them."""
    plain = (
        "nameserver 8.8.8.8\nnetmask 255.255.255.0\nping 1.1.1.1 || ping 2606:4700:4700::1111\n"
        "user@example.com noreply@example.org\nCo-Authored-By: A <noreply@anthropic.com>\n"
    )
    hidden = "from 93.184.216.34 to tom.baker@harbour-mail.com"

    def chat(text):
        return [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in cut(plain + hidden)]

    got = ask(ends, "/v1/chat/completions", CHAT, chat)
    assert got.startswith(plain)
    assert "93.184" not in got and "tom.baker" not in got
