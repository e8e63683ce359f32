"""The main job, by the real OpenAI client: a model that never sees the caller's values, and a caller who does.

Every case runs on a route that restores and on one that masks. On the first the upstream answers with what it was given,
which must come back exact; on the second with values of its own, which must come back as asterisks, and nothing else
may differ.
"""

import gzip
import json
import re
import urllib.request

import mock_upstream
import openai
import pytest
from mock_upstream import INVENTED

MINE = {
    "EMAIL": "maria.lopez+rx@clinic-mail.com",
    "PHONE": "+1 650 253 0000",
    "SSN": "536-22-8726",
    "CARD": "4012 8888 8888 1881",
}
ORDINARY = "Order 1001, version 2.0.17."
PROMPT = (
    "Sum up the ticket. EMAIL: %(EMAIL)s | PHONE: %(PHONE)s | SSN: %(SSN)s | CARD: %(CARD)s | " % MINE
) + ORDINARY
ASK = [{"role": "user", "content": PROMPT}]
FIELDS = {"to": "string", "call": "string", "note": "string", "copies": "integer"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "write_note",
            "parameters": {"type": "object", "properties": {name: {"type": kind} for name, kind in FIELDS.items()}},
        },
    }
]


class Road:
    """One route, seen from both of its ends."""

    def __init__(self, mode, gateway, mock):
        self.mode, self.gateway, self.mock = mode, gateway, mock
        self.base = gateway.url + {"restore": "", "mask": "/mask"}[mode] + "/v1"
        self.client = openai.OpenAI(base_url=self.base, api_key="sk-caller", max_retries=0, timeout=20)

    @property
    def shown(self):
        """The values as the caller must see them in an answer."""
        return MINE if self.mode == "restore" else {kind: "*" * len(value) for kind, value in INVENTED.items()}

    def model(self, mode="plain", **options):
        if self.mode == "mask":
            options["leak"] = 1
        return mode + "?" + "&".join("%s=%s" % option for option in options.items())

    def ask(self, mode="plain", messages=ASK, style=None, **more):
        model = self.model(mode, **(style or {}))
        return self.client.chat.completions.create(model=model, messages=messages, **more)

    def stream(self, mode="plain", **more):
        """What a streamed answer came to: its text by choice, how each ended, the usage, the arguments."""
        texts, ends, usage, arguments = {}, {}, None, ""
        for chunk in self.ask(mode, stream=True, **more):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
                ends[choice.index] = choice.finish_reason or ends.get(choice.index)
                for call in choice.delta.tool_calls or []:
                    arguments += call.function.arguments or ""
        return texts, ends, usage, arguments

    def text(self):
        return mock_upstream.text(self.shown)

    def check_upstream(self):
        """The upstream got no value, in no spelling, and all the rest."""
        assert self.mock.requests, "nothing reached the upstream"
        for request in self.mock.requests:
            assert_unseen(request.everything())
        last = self.mock.requests[-1]
        assert ORDINARY in last.everything(), "ordinary numbers were changed"
        if self.mode == "restore":
            assert_shapes(dict(mock_upstream.LABELLED.findall(last.everything())))
        return last


def digits(text):
    return re.sub(r"\D", "", text)


def luhn(number):
    doubled = [int(d) * (1 + n % 2) for n, d in enumerate(reversed(number))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def assert_unseen(text, values=tuple(MINE.values())):
    """None of the values is in the text: as written, behind JSON's escapes, or without its separators."""
    plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text).replace("\\/", "/")
    bare = re.sub(r"[\s().+\-\\]", "", plain)
    for value in values:
        assert value not in text and value not in plain, "a raw value passed: " + value
        assert re.sub(r"[\s().+\-]", "", value) not in bare, "a raw value passed without its separators: " + value


def assert_shapes(surrogates):
    assert re.fullmatch(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}", surrogates["EMAIL"])
    assert len(digits(surrogates["CARD"])) == 16 and luhn(digits(surrogates["CARD"]))
    assert re.fullmatch(r"\d{4} \d{4} \d{4} \d{4}", surrogates["CARD"])
    assert re.fullmatch(r"\d{3}-\d{2}-\d{4}", surrogates["SSN"])
    assert re.fullmatch(r"\+1 \d{3} \d{3} \d{4}", surrogates["PHONE"])
    assert not set(surrogates.values()) & set(MINE.values())


@pytest.fixture(params=["restore", "mask"])
def road(request, gateway, mock):
    return Road(request.param, gateway, mock)


@pytest.fixture
def restoring(gateway, mock):
    return Road("restore", gateway, mock)


def test_plain(road):
    answer = road.ask()
    assert answer.choices[0].message.content == road.text()
    assert answer.choices[0].finish_reason == "stop" and answer.usage.total_tokens == 42
    assert road.check_upstream().everything().count("sk-caller") == 1, "the caller's own key travels on"


STREAMS = {
    "as it comes": {},
    "charwise": {"step": 1},
    "tiny_writes": {"step": 2, "write": 7},
    "gzip": {"enc": "gzip"},
    "gzip_tiny_writes": {"enc": "gzip", "write": 3},
    "crlf_comments": {"crlf": 1},
    "multiline_data": {"lines": 1},
}


@pytest.mark.parametrize("style", STREAMS.values(), ids=STREAMS.keys())
def test_stream(road, style):
    texts, ends, usage, _ = road.stream(style=style, stream_options={"include_usage": True})
    assert texts == {0: road.text()} and ends == {0: "stop"}
    assert usage is not None and usage.total_tokens == 42
    road.check_upstream()


def test_plain_gzip(road):
    assert road.ask(style={"enc": "gzip"}).choices[0].message.content == road.text()
    road.check_upstream()


def test_stream_of_two_interleaved_choices(road):
    texts, ends, _, _ = road.stream(n=2)
    assert texts == {0: road.text(), 1: road.text()} and ends == {0: "stop", 1: "stop"}
    road.check_upstream()


def test_stream_is_not_held_back(road):
    """The upstream goes on only once its first words have arrived: a gateway that collects would wait for ever."""
    text = ""
    for chunk in road.ask(style={"gate": 1}, stream=True):
        text += chunk.choices[0].delta.content or ""
        if text and not road.mock.gate.is_set():
            assert road.text().startswith(text) and len(text) < 20
            road.mock.gate.set()
    assert text == road.text()


def test_reasoning(road):
    thoughts = ""
    for chunk in road.ask(style={"think": 1}, stream=True):
        thoughts += getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
    assert thoughts == mock_upstream.thought(road.shown)
    message = road.ask(style={"think": 1}).choices[0].message
    assert message.reasoning_content == mock_upstream.thought(road.shown)


def test_tool_call(road):
    choice = road.ask(tools=TOOLS).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert json.loads(choice.message.tool_calls[0].function.arguments) == json.loads(mock_upstream.arguments(road.shown))
    road.check_upstream()


@pytest.mark.parametrize("step", [0, 1])
def test_tool_call_streamed(road, step):
    _, ends, _, arguments = road.stream(tools=TOOLS, style={"step": step})
    assert ends == {0: "tool_calls"}
    assert json.loads(arguments) == json.loads(mock_upstream.arguments(road.shown))
    road.check_upstream()


def test_tool_history(road):
    """Values in JSON inside a string, in tool results, in content parts, in names and metadata."""
    call = {"name": "write_note", "arguments": json.dumps({"to": MINE["EMAIL"], "note": "ring\n" + MINE["PHONE"]})}
    history = [
        {"role": "system", "content": "The owner is " + MINE["EMAIL"]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"sent": MINE["EMAIL"], "ssn": MINE["SSN"]})},
        {"role": "user", "name": "x", "content": [{"type": "text", "text": "card " + MINE["CARD"]}]},
    ]
    road.ask(messages=history + ASK, user=MINE["EMAIL"], metadata={"owner": MINE["EMAIL"]})
    body = road.check_upstream().json()
    arguments = json.loads(body["messages"][1]["tool_calls"][0]["function"]["arguments"])
    assert arguments["note"].startswith("ring\n")
    if road.mode == "restore":
        one = {arguments["to"], body["user"], body["metadata"]["owner"], json.loads(body["messages"][2]["content"])["sent"]}
        assert len(one) == 1 and body["messages"][0]["content"] == "The owner is " + one.pop()


def test_turns_agree(road):
    """The same value gets the same surrogate in every turn: prompt caches and the model's own memory depend on it."""
    road.ask()
    before = [{"role": "user", "content": "first bob.other@harbour.org"}, {"role": "assistant", "content": "ok"}]
    road.ask(messages=before + ASK)
    first, second = (mock_upstream.LABELLED.findall(request.everything()) for request in road.mock.requests)
    assert len(first) == 4 and first == second
    road.check_upstream()


def test_refusal_that_quotes(road):
    with pytest.raises(openai.RateLimitError) as caught:
        road.ask("refuse")
    if road.mode == "restore":
        assert PROMPT in str(caught.value) and road.text() in str(caught.value)
    else:
        assert_unseen(str(caught.value), [*MINE.values(), *INVENTED.values()])
    road.check_upstream()


def test_error_inside_a_stream(road):
    text = ""
    with pytest.raises(openai.APIError) as caught:
        for chunk in road.ask("broken", stream=True):
            text += chunk.choices[0].delta.content or ""
    assert text.startswith("so far "), "what was held back must come before the error"
    assert str(caught.value).startswith("lost the thread at " + road.shown["EMAIL"])
    road.check_upstream()


def test_stream_cut_off(road):
    """Inside an event, inside a value: an error or an end, never silence, and no value that was to be masked."""
    text = ""
    try:
        for chunk in road.ask("cut", stream=True):
            text += chunk.choices[0].delta.content or ""
    except openai.APITimeoutError:
        raise
    except Exception as error:  # Each client has its own word for a broken connection.
        assert_unseen(str(error), INVENTED.values())
    assert text.startswith("Of course – the résumé ☕: mail")
    assert_unseen(text, INVENTED.values() if road.mode == "mask" else [])
    road.check_upstream()


def test_gzip_request(road):
    body = gzip.compress(json.dumps({"model": road.model(), "messages": ASK}).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip", "authorization": "Bearer sk-caller"}
    request = urllib.request.Request(road.base + "/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert json.load(answer)["choices"][0]["message"]["content"] == road.text()
    road.check_upstream()


def test_large_prompt(road):
    """A megabyte, with values at both ends and where buffers end."""
    filler = "the quick brown fox jumps over the lazy dog " * 1480
    prompt = PROMPT + filler + MINE["EMAIL"] + " " + filler * 16 + PROMPT
    answer = road.ask(messages=[{"role": "user", "content": prompt}])
    assert answer.choices[0].message.content == road.text()
    body = road.check_upstream().json()
    assert body["messages"][0]["content"].count(filler.strip()) == 17


def test_value_known_only_by_its_context(road):
    """Found where its context names it, and so known where nothing does."""
    history = [
        {"role": "user", "content": "My bank account no. is 12345678, please keep it."},
        {"role": "assistant", "content": "Noted: 12345678."},
        {"role": "user", "content": "Is 12345678 still right? " + PROMPT},
    ]
    road.ask(messages=history)
    assert_unseen(road.mock.requests[-1].everything(), ["12345678"])
    road.check_upstream()


def test_what_the_model_makes_up_is_masked(restoring):
    """Only what was issued in this request is anybody's original; what a model knows of others does not pass."""
    model = "plain?leak=1"
    answer = restoring.client.chat.completions.create(model=model, messages=ASK)
    masked = {name: "*" * len(value) for name, value in INVENTED.items()}
    assert answer.choices[0].message.content == mock_upstream.text(masked)


def test_surrogates_of_another_request_are_not_restored(restoring):
    restoring.ask()
    surrogate = dict(mock_upstream.LABELLED.findall(restoring.mock.requests[-1].everything()))["CARD"]
    answer = restoring.ask(messages=[{"role": "user", "content": "CARD: %s |" % surrogate}])
    content = answer.choices[0].message.content
    assert surrogate in content and MINE["CARD"] not in content


def test_a_restart_gives_the_same_surrogates(upstream, mock, gateway):
    """Same key, same tweak: also in another process."""
    road = Road("restore", gateway, mock)
    road.ask()
    gateway.restart()
    road.ask()
    first, second = (mock_upstream.LABELLED.findall(request.everything()) for request in mock.requests)
    assert len(first) == 4 and first == second
