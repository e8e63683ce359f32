"""Anthropic's client with every kind of block; and what was signed goes back as it was."""

import anthropic
import pytest
from llm import PROMPT, STYLES, bare, joined, read
from llm_upstream import INVENTED, MINE, PROTOCOLS, filled, texts

ASK = [{"role": "user", "content": PROMPT}]
MORE = {"model": "m-1", "max_tokens": 64}


def client(url):
    return anthropic.Anthropic(base_url=url, api_key="sk-caller", max_retries=0, timeout=20)


def stream(url):
    """Texts by their blocks, all other events as they are, and the message that the client adds up."""
    pieces, facts = [], []
    with client(url).messages.create(messages=ASK, stream=True, **MORE) as events:
        for event in events:
            if event.type != "content_block_delta":
                facts.append(event.model_dump(mode="json"))
                continue
            delta = bare(event.delta, "type")
            for name, value in delta.items():
                if name in ("signature", "citation"):
                    facts.append((event.index, value))
                else:
                    pieces.append(("%s.%d" % (name, event.index), value))
    return read(joined(*pieces), "partial_json"), facts


def added_up(url):
    with client(url).messages.stream(messages=ASK, **MORE) as events:
        return events.get_final_message().model_dump(mode="json")


def whole(url):
    return client(url).messages.create(messages=ASK, **MORE).model_dump(mode="json")


def counted(url):
    """A path without a protocol of its own in the upstream: the request is what counts."""
    with pytest.raises(anthropic.NotFoundError):
        client(url).messages.count_tokens(model="m-1", messages=ASK)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_streams(road_to_llm, style):
    road_to_llm.check(stream, **style)


@pytest.mark.parametrize("call", [added_up, whole, counted])
def test_whole_answers(road_to_llm, call):
    road_to_llm.check(call)


@pytest.mark.parametrize("coding", ["gzip", "br"])
def test_whole_answers_in_codings(road_to_llm, coding):
    road_to_llm.check(whole, coding=coding)


@pytest.mark.parametrize("own", [INVENTED, dict.fromkeys(INVENTED, "nothing")], ids=["with masked values", "without"])
@pytest.mark.parametrize("call", [added_up, whole])
def test_what_was_signed_goes_back_as_it_was(road_to_llm, call, own):
    """The provider accepts its signatures only of its own bytes; and the values are the same in the next turn."""
    upstream = road_to_llm.upstream
    upstream.begin(own=own)
    said = call(road_to_llm.gateway.url)
    first = road_to_llm.unseen()
    [thinking] = [block for block in said["content"] if block["type"] == "thinking"]
    assert MINE["EMAIL"] in thinking["thinking"] and INVENTED["SSN"] not in thinking["thinking"]

    blocks = [block for block in said["content"] if block["type"] in ("thinking", "redacted_thinking")]
    turn = [{"role": "assistant", "content": blocks}, {"role": "user", "content": "Go on."}]
    client(road_to_llm.gateway.url).messages.create(messages=ASK + turn, **MORE)
    assert road_to_llm.unseen() == first

    want = filled(PROTOCOLS["anthropic"]["whole"], texts(first, own))["content"][:2]
    upstream.begin(own=own)
    client(road_to_llm.gateway.url).messages.create(messages=ASK + turn, **MORE)
    [request] = upstream.requests
    assert request.json()["messages"][1]["content"] == want
