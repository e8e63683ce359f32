"""OpenAI's client with every channel of chat, completions and Responses; and Azure's paths."""

import json

import openai
import pytest
from llm import PROMPT, STYLES, bare, joined, read
from llm_upstream import MINE

ASK = [{"role": "user", "content": PROMPT}]


def client(url, path="/v1"):
    return openai.OpenAI(base_url=url + path, api_key="sk-caller", max_retries=0, timeout=20)


def deltas(chunk):
    """The pieces of one event of chat."""
    for choice in chunk.choices:
        delta = choice.delta.model_dump(exclude_none=True, warnings=False)
        at = "%d." % choice.index
        for name in ["refusal", "reasoning_content", "reasoning"]:
            yield at + name, delta.get(name)
        for part in delta.get("reasoning_details") or []:
            yield at + "details.%d" % part["index"], part.get("text") or part.get("summary")
        content = delta.get("content")
        for part in content if isinstance(content, list) else [{"type": "plain", "text": content}]:
            text = part["thinking"][0]["text"] if part["type"] == "thinking" else part["text"]
            yield at + part["type"], text
        yield at + "transcript", (delta.get("audio") or {}).get("transcript")
        yield "call." + at, (delta.get("function_call") or {}).get("arguments")
        for call in delta.get("tool_calls") or []:
            yield "call.%s%d" % (at, call["index"]), (call.get("function") or {}).get("arguments")
            yield at + "custom.%d" % call["index"], (call.get("custom") or {}).get("input")


def chat_stream(url):
    pieces, facts = [], []
    with client(url).chat.completions.create(model="m-1", messages=ASK, stream=True) as stream:
        for chunk in stream:
            pieces += deltas(chunk)
            calls = [call.id for choice in chunk.choices for call in choice.delta.tool_calls or [] if call.id]
            ends = [(choice.index, choice.finish_reason) for choice in chunk.choices if choice.finish_reason]
            facts += [*calls, *ends, *([chunk.usage.model_dump()] if chunk.usage else [])]
    assert facts, "ends, ids and usage are seen"
    return read(joined(*pieces), "call"), facts, chunk.id, chunk.system_fingerprint


def chat(url):
    answer = client(url).chat.completions.create(model="m-1", messages=ASK).model_dump(warnings=False)
    for call in answer["choices"][0]["message"]["tool_calls"]:
        if call["type"] == "function":
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    call = answer["choices"][0]["message"]["function_call"]
    call["arguments"] = json.loads(call["arguments"])
    # Tokens repeat the text.
    tokens = answer["choices"][0].pop("logprobs")
    assert tokens is None or MINE["EMAIL"] in str(tokens)
    return answer


def completions(url):
    return client(url).completions.create(model="m-1", prompt=PROMPT).model_dump()


def completions_stream(url):
    chunks = list(client(url).completions.create(model="m-1", prompt=PROMPT, stream=True))
    texts = joined(*((choice.index, choice.text) for chunk in chunks for choice in chunk.choices))
    return texts, [c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason], chunks[-1].usage


def arguments_read(items):
    for item in items:
        if item.get("arguments"):
            item["arguments"] = json.loads(item["arguments"])
    return items


def responses(url):
    answer = client(url).responses.create(model="m-1", input=PROMPT).model_dump()
    arguments_read(answer["output"])
    return answer


def responses_stream(url):
    """All copies of a text, each where the client shows it; events by their kinds, and numbers without gaps."""
    pieces, copies, numbers = [], [], []
    for event in client(url).responses.create(model="m-1", input=ASK, stream=True):
        numbers.append(event.sequence_number)
        if event.type.endswith(".delta"):
            pieces.append((("call." if "arguments" in event.type else "") + event.type + event.item_id, event.delta))
            continue
        data = bare(event, "sequence_number", "logprobs")
        for items in [[data], [data.get("item") or {}], (data.get("response") or {}).get("output") or []]:
            arguments_read(items)
        copies.append(data)
    assert numbers == list(range(len(numbers)))
    return read(joined(*pieces), "call"), copies


STREAMS = [chat_stream, completions_stream, responses_stream]


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@pytest.mark.parametrize("call", STREAMS)
def test_streams(road_to_llm, call, style):
    road_to_llm.check(call, **style)


@pytest.mark.parametrize("coding", ["", "gzip", "br"])
@pytest.mark.parametrize("call", [chat, completions, responses])
def test_whole_answers(road_to_llm, call, coding):
    road_to_llm.check(call, coding=coding)


@pytest.mark.parametrize("path", ["/openai/v1", "/openai/deployments/d-1"])
def test_other_prefixes(road_to_llm, path):
    def call(url):
        stream = client(url, path).chat.completions.create(model="m-1", messages=ASK, stream=True)
        return joined(*(piece for chunk in stream for piece in deltas(chunk)))["0.plain"]

    road_to_llm.check(call, shape="openai_chat")


def test_the_same_surrogates_in_every_protocol_and_turn(road_to_llm):
    heard = [road_to_llm.check(call) for call in [chat, chat_stream, responses, responses_stream, completions, chat]]
    assert all(one == heard[0] for one in heard)
