"""Google's client: parts of every kind, streamed as events and as one array."""

import http.client
import json

import pytest
from google import genai
from llm import PROMPT, STYLES, joined, read
from llm_upstream import PROTOCOLS


def client(url):
    return genai.Client(api_key="sk-caller", http_options={"base_url": url, "api_version": "v1beta", "timeout": 20_000})


def parts(answer):
    """The texts of one answer, and what else its parts hold."""
    texts, facts = [], []
    for candidate in answer.candidates or []:
        for part in (candidate.content and candidate.content.parts) or []:
            other = part.model_dump(mode="json", exclude_none=True)
            text = other.pop("text", None)
            texts.append(((candidate.index, bool(other.pop("thought", False))), text))
            facts += [other] if other else []
        facts += [candidate.finish_reason] if candidate.finish_reason else []
    return texts, facts


def stream(url):
    texts, facts = [], []
    with client(url) as google:
        chunks = list(google.models.generate_content_stream(model="m-1", contents=PROMPT))
    for chunk in chunks:
        more, others = parts(chunk)
        texts += more
        facts += others
    return joined(*texts), facts, chunk.usage_metadata, chunk.response_id


def whole(url):
    with client(url) as google:
        answer = google.models.generate_content(model="m-1", contents=PROMPT)
    texts, facts = parts(answer)
    return texts, facts, answer.usage_metadata, answer.response_id


def array(url):
    """Without `alt=sse`, as curl would."""
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=20)
    body = json.dumps({"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]})
    connection.request("POST", PROTOCOLS["gemini_array"]["path"], body, {"content-type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200
    rows = json.loads(answer.read())
    connection.close()
    texts, facts = [], []
    for row in rows:
        for candidate in row["candidates"]:
            for part in candidate["content"]["parts"]:
                text, thought = part.pop("text", None), part.pop("thought", False)
                texts.append(((candidate["index"], thought), text))
                facts += [part] if part else []
            facts += [candidate.get("finishReason")] if candidate.get("finishReason") else []
    return joined(*texts), facts, rows[-1]["usageMetadata"]


def interaction(url):
    """What its steps say, and everything else that the client shows of them."""
    texts, facts = [], []
    with client(url) as google:
        for event in google.interactions.create(model="m-1", input=PROMPT, stream=True):
            shown = event.model_dump(mode="json", exclude_none=True)
            delta = shown.get("delta", {})
            for name in ("text", "arguments", "result"):
                if isinstance(delta.get(name), str):
                    texts.append(((shown["index"], name), delta[name]))
                    break
            else:
                if delta.get("type") == "thought_summary":
                    texts.append(((shown["index"], "thought"), delta["content"]["text"]))
                else:
                    facts.append(shown)
    return read({"%s %d" % (name, index): text for (index, name), text in joined(*texts).items()}, "arguments"), facts


def whole_interaction(url):
    with client(url) as google:
        return google.interactions.create(model="m-1", input=PROMPT).model_dump(mode="json", exclude_none=True)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@pytest.mark.parametrize("call", [stream, array, interaction])
def test_streams(road_to_llm, call, style):
    if call is array and style.get("coding"):
        pytest.skip("http.client takes no codings")
    road_to_llm.check(call, **style)


@pytest.mark.parametrize("coding", ["", "gzip"])
@pytest.mark.parametrize("call", [whole, whole_interaction])
def test_whole_answers(road_to_llm, call, coding):
    road_to_llm.check(call, coding=coding)
