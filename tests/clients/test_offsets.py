"""Offsets into a text point at what they pointed at, though the caller's values are longer or shorter than what stood for them."""

import json

import cohere
import pytest
from gateway import EVERY_PATH, Gateway
from google import genai
from mock_upstream import ReplyingMock
from openai import OpenAI

NAMES = ["Zoë Castellanos", "Bartholomew Featherstonehaugh", "Ida Roy"]
OTHERS = ["81.2.69.142", "jane.doe@harbour-post.com"]
PROMPT = "Patients: " + "; ".join("[%s]" % value for value in (*NAMES, *OTHERS)) + "."
# The crab has four bytes, and a letter with two dots two.
SAID = "🦀 {0} is ill, {1} and {2} are not; naïve {3}, then {4} and {0}'s end."
POINTED = ["{0}", "is ill", "{1} and {2}", "naïve", "{3}", "{4}", "{0}'s end", "."]


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield gateway, mock


def heard(ask):
    """The values that came, and what they stand for has another length in some."""
    text = json.dumps(ask, ensure_ascii=False).split("Patients: ")[1]
    values = [part.split("]")[0] for part in text.split("[")[1:6]]
    came = (*NAMES, *OTHERS)
    assert not set(values) & set(came), values
    assert [len(value) for value in values] != [len(value) for value in came]
    return values


def places(values, size=len):
    """Where what is pointed at stands, and what that is."""
    text, at = SAID.format(*values), 0
    for pointed in POINTED:
        what = pointed.format(*values)
        at = text.index(what, at)
        yield size(text[:at]), size(text[: at + len(what)])
        at += 1


WANTED = [pointed.format(*NAMES, *OTHERS) for pointed in POINTED]
WHOLE = SAID.format(*NAMES, *OTHERS)


def chat(gateway, mock):
    def reply(ask):
        values = heard(ask)
        citations = [{"type": "url_citation", "url_citation": {"start_index": a, "end_index": b, "url": "https://a.example/", "title": "t"}} for a, b in places(values)]
        message = {"role": "assistant", "content": SAID.format(*values), "annotations": citations}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    mock.reply = reply
    client = OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0)
    message = client.chat.completions.create(model="m", messages=[{"role": "user", "content": PROMPT}]).choices[0].message
    return message.content, [(one.url_citation.start_index, one.url_citation.end_index) for one in message.annotations]


def response(values):
    annotations = [{"type": "url_citation", "start_index": a, "end_index": b, "url": "https://a.example/", "title": "t"} for a, b in places(values)]
    content = {"type": "output_text", "text": SAID.format(*values), "annotations": annotations}
    item = {"type": "message", "id": "msg_1a2b3c4d", "status": "completed", "role": "assistant", "content": [content]}
    return {"id": "resp_1a2b3c4d", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": [item],
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def responses(gateway, mock):
    mock.reply = lambda ask: response(heard(ask))
    client = OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0)
    [content] = client.responses.create(model="m", input=PROMPT).output[0].content
    return content.text, [(one.start_index, one.end_index) for one in content.annotations]


def responses_streamed(gateway, mock):
    """What the stream says again at its end."""

    def reply(ask):
        values = heard(ask)
        whole, at = response(values), {"output_index": 0, "item_id": "msg_1a2b3c4d", "content_index": 0}
        [item] = whole["output"]
        [part] = item["content"]
        text, number = part["text"], 0
        events = [{"type": "response.output_text.delta", "delta": text[n : n + 5]} | at for n in range(0, len(text), 5)]
        events += [{"type": "response.output_text.done", "text": text} | at, {"type": "response.content_part.done", "part": part} | at]
        events += [{"type": "response.output_item.done", "output_index": 0, "item": item}, {"type": "response.completed", "response": whole}]
        for event in events:
            yield event | {"sequence_number": number}
            number += 1

    mock.reply = reply
    client = OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0)
    seen = []
    for event in client.responses.create(model="m", input=PROMPT, stream=True):
        match event.type:
            case "response.content_part.done":
                seen.append(event.part)
            case "response.output_item.done":
                seen += event.item.content
            case "response.completed":
                seen += event.response.output[0].content
    told = [(one.text, [(a.start_index, a.end_index) for a in one.annotations]) for one in seen]
    assert len(told) == 3 and all(one == told[0] for one in told)
    return told[0]


def cohere_chat(gateway, mock):
    def reply(ask):
        values = heard(ask)
        text = SAID.format(*values)
        citations = [{"start": a, "end": b, "text": text[a:b], "sources": [], "content_index": 1, "type": "TEXT_CONTENT"} for a, b in places(values)]
        content = [{"type": "thinking", "thinking": "Hm, %s." % values[0]}, {"type": "text", "text": text}]
        # A plan is another text.
        citations.append({"start": 40, "end": 41, "text": ".", "sources": [], "content_index": 1, "type": "PLAN"})
        message = {"role": "assistant", "content": content, "citations": citations}
        return {"id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "finish_reason": "COMPLETE", "message": message}

    mock.reply = reply
    client = cohere.ClientV2(api_key="k", base_url=gateway.url, timeout=20, max_retries=0)
    message = client.chat(model="m", messages=[{"role": "user", "content": PROMPT}]).message
    *citations, plan = message.citations
    assert (plan.start, plan.end) == (40, 41)
    assert [one.text for one in citations] == WANTED
    return message.content[1].text, [(one.start, one.end) for one in citations]


@pytest.mark.parametrize("call", [chat, responses, responses_streamed, cohere_chat])
def test_characters(ends, call):
    text, pointed = call(*ends)
    assert text == WHOLE and [text[a:b] for a, b in pointed] == WANTED


def test_bytes_of_a_part(ends):
    gateway, mock = ends

    def reply(ask):
        values = heard(ask)
        size = lambda text: len(text.encode())
        supports = [{"segment": {"partIndex": 1, "startIndex": a, "endIndex": b}, "groundingChunkIndices": [0]} for a, b in places(values, size)]
        supports.append({"segment": {"endIndex": 2}, "groundingChunkIndices": [0]})
        parts = [{"text": "Hm, %s." % values[1], "thought": True}, {"text": SAID.format(*values)}]
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "groundingMetadata": {"groundingSupports": supports}}]}

    mock.reply = reply
    client = genai.Client(api_key="k", http_options={"base_url": gateway.url})
    candidate = client.models.generate_content(model="m", contents=PROMPT).candidates[0]
    text = candidate.content.parts[1].text.encode()
    *supports, first = [one.segment for one in candidate.grounding_metadata.grounding_supports]
    assert text.decode() == WHOLE and [text[one.start_index or 0 : one.end_index].decode() for one in supports] == WANTED
    assert first.end_index == 2


def test_what_is_masked_keeps_its_place(ends):
    """Asterisks are as many as the characters were."""
    gateway, mock = ends
    text = "Mine is tom.baker@harbour-post.com, see there."
    citation = {"type": "url_citation", "url_citation": {"start_index": 36, "end_index": 45, "url": "https://a.example/", "title": "t"}}
    message = {"role": "assistant", "content": text, "annotations": [citation]}
    mock.reply = lambda _: {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    client = OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0)
    told = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]).choices[0].message
    one = told.annotations[0].url_citation
    assert "tom" not in told.content and told.content[one.start_index : one.end_index] == "see there"
