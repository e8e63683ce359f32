"""Errors and broken connections in every protocol, on the wire: clients have their own words for both."""

import http.client
import json
import re

import pytest
from llm import PROMPT
from llm_upstream import INVENTED, MASKED, MINE, PROTOCOLS, filled, leaves, texts
from test_openai import assert_unseen

STREAMED = [name for name, protocol in PROTOCOLS.items() if "stream" in protocol and name != "openai_audio"]
WITH_ERRORS = [name for name in STREAMED if "error" in PROTOCOLS[name]]
# What the caller is to see.
WANT = texts(MINE, MASKED)


def asked(url, protocol):
    """The status, the body as far as it came, and whether it came to its end."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
    body = {"model": "m-1", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    if protocol["frame"] in ("events", "array") and "models" in protocol["path"]:
        body = {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]}
    if "v1internal" in protocol["path"]:
        body = {"model": "m-1", "request": {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]}}
    if protocol["path"] == "/mcp":
        arguments = {"text": PROMPT}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": arguments}}
    connection.request("POST", protocol["path"], json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    try:
        return answer.status, answer.read().decode(), True
    except http.client.IncompleteRead as cut:
        return answer.status, cut.partial.decode(errors="ignore"), False
    finally:
        connection.close()


def documents(text, protocol):
    """The complete documents of a body; an array may have no end."""
    if protocol["frame"] == "array":
        reader, found, at = json.JSONDecoder(), [], text.find("{")
        while at >= 0:
            try:
                document, at = reader.raw_decode(text, at)
            except ValueError:
                return found
            found.append(document)
            at = text.find("{", at)
        return found
    label = "" if protocol["frame"] == "lines" else "data: "
    rows = [line.removeprefix(label) for line in text.splitlines() if line.startswith(label)]
    found = []
    for row in rows:
        try:
            found.append(json.loads(row))
        except ValueError:
            pass
    return found


# Of these an event of which all text is held does not leave.
LEFT_OUT = {"gemini_events"}


@pytest.mark.parametrize("name", WITH_ERRORS)
def test_an_error_instead_of_an_answer_is_restored(road_to_llm, name):
    road_to_llm.upstream.begin(error="whole", shape=name)
    status, body, _ = asked(road_to_llm.gateway.url, PROTOCOLS[name])
    assert status == 429 and json.loads(body) == filled(PROTOCOLS[name]["error"], WANT)
    road_to_llm.unseen()


@pytest.mark.parametrize("step", [1, 9])
@pytest.mark.parametrize("name", [name for name in WITH_ERRORS if name != "mcp"])
def test_an_error_inside_a_stream_comes_behind_what_was_held(road_to_llm, name, step):
    protocol = PROTOCOLS[name]

    def call(url, **style):
        road_to_llm.upstream.begin(error="stream", shape=name, step=step, **style)
        found = documents(asked(url, protocol)[1], protocol)
        *before, error = found
        return "".join(sorted("".join(leaves(before)))), error, len(before)

    want, error, number = call(road_to_llm.upstream.url, said=MINE)
    _, got, more = call(road_to_llm.gateway.url)
    road_to_llm.unseen()
    assert {**got, "sequence_number": 0} == {**error, "sequence_number": 0}
    assert more >= number or name in LEFT_OUT


@pytest.mark.parametrize("name", [name for name in STREAMED if name != "mcp"])
def test_a_stream_that_breaks_off_looks_broken(road_to_llm, name):
    """What came before has left; nothing says that this was all."""
    protocol = PROTOCOLS[name]
    road_to_llm.upstream.begin(cut=True, shape=name, step=3)
    _, text, complete = asked(road_to_llm.gateway.url, protocol)
    road_to_llm.unseen()
    found = documents(text, protocol)
    assert not complete or "error" in json.dumps(found[-1]).lower(), "it looks complete"
    if protocol.get("end"):
        assert protocol["end"] not in text
    assert_unseen(text, tuple(INVENTED.values()))
    assert len(found) >= (5 if name in LEFT_OUT else 20), "what came before is there"


@pytest.mark.parametrize("step", [1, 3, 9])
def test_no_event_of_gemini_is_left_without_its_text(road_to_llm, step):
    """Google's agent kit takes an empty text for the end of one, and breaks the answer there."""
    protocol = PROTOCOLS["gemini_events"]

    def call(url, **style):
        road_to_llm.upstream.begin(shape="gemini_events", step=step, **style)
        found = documents(asked(url, protocol)[1], protocol)
        parts = [part for one in found for each in one["candidates"] for part in each["content"]["parts"]]
        return [part["text"] for part in parts if "text" in part]

    direct, through = call(road_to_llm.upstream.url, said=MINE), call(road_to_llm.gateway.url)
    road_to_llm.unseen()
    assert MINE["EMAIL"] in "".join(through) and len(through) > 10
    assert through.count("") <= direct.count(""), through
