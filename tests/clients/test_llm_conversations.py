"""Random conversations with a provider that binds them: what it once got and said must come back byte for byte, its
signatures too, or it refuses the turn. What points into a text or a document points at the same for caller and provider.
Meanwhile the gateway is started anew between turns.

A hundred conversations of up to ten turns; with `PORTCULLIS_ALL`, a thousand of ten.
"""

import hashlib
import hmac
import http.client
import json
import os
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from gateway import Gateway
from llm import CONFIG
from llm_upstream import Answers, Upstream, leaves
from mock_upstream import INVENTED, LABELLED
from test_openai import luhn

# Also on a machine that does much else.
CONFIG = CONFIG + '\n[limits]\nqueue = "30s"\n'
ALL = bool(os.environ.get("PORTCULLIS_ALL"))
CONVERSATIONS, TURNS = 1000 if ALL else 100, 10
NAMES = ["ana", "bo.li", "chidi_o", "dana+x", "e.novak", "farah", "gus", "hye-jin"]
HOSTS = ["clinic-mail.com", "harbour.org", "fjord-post.net", "mail.example.com"]


def pairs(text):
    """The labelled values of a text, each once, in order."""
    return list(dict.fromkeys(LABELLED.findall(text)))


def reply(known):
    return "I know of " + " ".join("%s: %s |" % pair for pair in known) + " and no more."


def signature(thinking):
    return "c2ln" + hmac.new(b"provider", thinking.encode(), hashlib.sha256).hexdigest()


# ── the provider ────────────────────────────────────────────────────────────────────────────────────────────────────


def bare(turns):
    """Turns without what asks for a cache, which moves on from turn to turn."""
    blocks = lambda turn: [{name: item for name, item in block.items() if name != "cache_control"} for block in turn["content"]]
    return [turn | {"content": blocks(turn)} if isinstance(turn.get("content"), list) else turn for turn in turns]


def spans(text, known):
    """Where each value stands in a text, and which; those that do."""
    at = 0
    for _, value in known:
        if (found := text.find(value, at)) >= 0:
            at = found + len(value)
            yield found, at, value


class Binding(Answers):
    """Remembers each conversation, and refuses a turn that does not begin as the one before ended."""

    def answer(self, came):
        ask = came.json()
        kind, turns = next((kind, bare(ask[name])) for kind, name in TURNS_OF.items() if name in ask)
        if "max_tokens" in ask:
            kind = "anthropic"
        opening = re.search(r"Conversation no\. \d+", json.dumps(turns[0]))[0]
        before = self.mock.known.get(opening, [])
        if turns[: len(before)] != before:
            return self.refuse("the prefix is another")
        for turn in turns:
            for block in turn.get("content") if isinstance(turn.get("content"), list) else []:
                if block.get("type") == "thinking" and block["signature"] != signature(block["thinking"]):
                    return self.refuse("the signature is wrong")
        known = pairs("\n".join(leaves(turns)))
        if wrong := set(pointed_at(kind, turns)) - {value for _, value in known}:
            return self.refuse("something points elsewhere: %s" % wrong)
        said = SPEAKERS[kind](Speech(known, len(turns) % 3 == 0, self.mock.style.own, turns))
        with self.mock.lock:
            self.mock.known[opening] = turns + (said if isinstance(said, list) else [said])
        usage = self.counted(kind, ask)
        if ask.get("stream") or ":stream" in self.path:
            return self.pieces(200, "text/event-stream", STREAMS[kind](said, usage))
        self.send(200, "application/json", json.dumps(WHOLES[kind](said) | usage).encode())

    def counted(self, kind, ask):
        """What a whole answer says of the tokens of a request, as members of its own."""
        return {}

    def refuse(self, why):
        self.send(400, "application/json", json.dumps({"error": {"message": why}}).encode())


TURNS_OF = {"gemini": "contents", "responses": "input", "openai": "messages"}


@dataclass
class Speech:
    """What an answer is made of."""

    known: list
    calls: bool
    own: dict
    turns: list

    @property
    def text(self):
        return reply(self.known)


def arguments(known):
    """With escapes in it."""
    return json.dumps({"note": "\u00dcber\n" + reply(known), "copies": 3})


def openai_says(speech):
    cited = [{"start_index": start, "end_index": end, "title": "a note", "url": "https://notes.example/1"} for start, end, _ in spans(speech.text, speech.known)]
    said = {"role": "assistant", "content": speech.text, "annotations": [{"type": "url_citation", "url_citation": one} for one in cited]}
    call = {"id": "call_%d" % len(speech.known), "type": "function", "function": {"name": "note", "arguments": arguments(speech.known)}}
    return said | {"tool_calls": [call]} if speech.calls else said


def responses_says(speech):
    """Items, which are turns of their own."""
    number = len(speech.turns)
    cited = [{"type": "url_citation", "start_index": start, "end_index": end, "title": "a note", "url": "https://notes.example/1"} for start, end, _ in spans(speech.text, speech.known)]
    content = [{"type": "output_text", "text": speech.text, "annotations": cited, "logprobs": []}]
    items = [{"type": "message", "id": "msg_%d" % number, "role": "assistant", "status": "completed", "content": content}]
    call = {"type": "function_call", "id": "fc_%d" % number, "call_id": "call_%d" % number, "name": "note", "status": "completed"}
    return items + [call | {"arguments": arguments(speech.known)}] if speech.calls else items


def anthropic_says(speech):
    """What it thinks has a value of its own; what it says cites the caller's document."""
    thinking = "They are " + reply(speech.known[:2]) + " Not " + speech.own["EMAIL"] + "." if speech.own else "They are " + reply(speech.known[:2])
    document = document_of(speech.turns)
    cited = [
        {"type": "char_location", "cited_text": value, "document_index": 0, "document_title": "notes", "start_char_index": start, "end_char_index": end}
        for start, end, value in spans(document, speech.known)
    ]
    text = {"type": "text", "text": speech.text, "citations": cited}
    blocks = [{"type": "thinking", "thinking": thinking, "signature": signature(thinking)}, text]
    call = {"type": "tool_use", "id": "toolu_%d" % len(speech.known), "name": "note", "input": json.loads(arguments(speech.known))}
    return {"role": "assistant", "content": [*blocks, call] if speech.calls else blocks}


def document_of(turns):
    return next(block["source"]["data"] for block in turns[0]["content"] if block["type"] == "document")


def gemini_says(speech):
    call = {"functionCall": {"name": "note", "args": json.loads(arguments(speech.known))}}
    return {"role": "model", "parts": [{"text": speech.text}, call] if speech.calls else [{"text": speech.text}]}


def gemini_grounding(said):
    """Which is no part of a turn: segments of the text, in bytes."""
    text = said["parts"][0]["text"]
    supports = [{"segment": {"startIndex": len(text[:start].encode()), "endIndex": len(text[:end].encode()), "text": value}} for start, end, value in spans(text, pairs(text))]
    return {"groundingMetadata": {"groundingSupports": supports}}


def pointed_at(kind, turns):
    """What citations in turns point at."""
    for turn in turns:
        if kind == "openai":
            for one in turn.get("annotations") or []:
                yield turn["content"][one["url_citation"]["start_index"] : one["url_citation"]["end_index"]]
        for block in turn.get("content") if isinstance(turn.get("content"), list) else []:
            for one in block.get("annotations") or []:
                yield block["text"][one["start_index"] : one["end_index"]]
            for one in block.get("citations") or [] if kind == "anthropic" and block["type"] == "text" else []:
                yield one["cited_text"]
                yield document_of(turns)[one["start_char_index"] : one["end_char_index"]]


def event(data, name=""):
    return ("event: %s\n" % name if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"


def cut(text):
    """In pieces of 1 to 9 letters."""
    dice = random.Random(len(text))
    at = 0
    while at < len(text):
        width = dice.randint(1, 9)
        yield text[at : at + width]
        at += width


def openai_stream(said, usage):
    chunk = lambda **delta: event({"choices": [{"index": 0, "delta": delta}]})
    for piece in cut(said["content"]):
        yield chunk(content=piece)
    yield chunk(annotations=said["annotations"])
    for call in said.get("tool_calls", []):
        yield chunk(tool_calls=[call | {"index": 0, "function": {"name": "note", "arguments": ""}}])
        for piece in cut(call["function"]["arguments"]):
            yield chunk(tool_calls=[{"index": 0, "function": {"arguments": piece}}])
    yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield event({"choices": []} | usage)
    yield b"data: [DONE]\n\n"


def responses_stream(said, usage):
    numbers = iter(range(1 << 20))
    named = lambda kind, **what: event({"type": "response." + kind, "sequence_number": next(numbers)} | what, "response." + kind)
    yield named("created", response=RESPONSE | {"status": "in_progress"})
    for n, item in enumerate(said):
        at = {"item_id": item["id"], "output_index": n}
        if item["type"] == "message":
            part = item["content"][0]
            yield named("output_item.added", output_index=n, item=item | {"content": []})
            yield named("content_part.added", **at, content_index=0, part=part | {"text": "", "annotations": []})
            for piece in cut(part["text"]):
                yield named("output_text.delta", **at, content_index=0, delta=piece)
            for m, one in enumerate(part["annotations"]):
                yield named("output_text.annotation.added", **at, content_index=0, annotation_index=m, annotation=one)
            yield named("output_text.done", **at, content_index=0, text=part["text"])
            yield named("content_part.done", **at, content_index=0, part=part)
        else:
            yield named("output_item.added", output_index=n, item=item | {"arguments": ""})
            for piece in cut(item["arguments"]):
                yield named("function_call_arguments.delta", **at, delta=piece)
            yield named("function_call_arguments.done", **at, arguments=item["arguments"])
        yield named("output_item.done", output_index=n, item=item)
    yield named("completed", response=RESPONSE | {"status": "completed", "output": said} | usage)


def anthropic_stream(said, usage):
    def delta(n, kind, **what):
        return event({"type": "content_block_delta", "index": n, "delta": {"type": kind} | what}, "content_block_delta")

    yield event({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []} | usage}, "message_start")
    for n, block in enumerate(said["content"]):
        empty = block | {name: "" for name in ("thinking", "signature", "text") if name in block}
        empty |= {"input": {}} if "input" in block else {}
        empty |= {"citations": []} if "citations" in block else {}
        yield event({"type": "content_block_start", "index": n, "content_block": empty}, "content_block_start")
        for piece in cut(block.get("thinking", "")):
            yield delta(n, "thinking_delta", thinking=piece)
        if "signature" in block:
            yield delta(n, "signature_delta", signature=block["signature"])
        for piece in cut(block.get("text", "")):
            yield delta(n, "text_delta", text=piece)
        for one in block.get("citations", []):
            yield delta(n, "citations_delta", citation=one)
        for piece in cut(json.dumps(block["input"])) if "input" in block else []:
            yield delta(n, "input_json_delta", partial_json=piece)
        yield event({"type": "content_block_stop", "index": n}, "content_block_stop")
    yield event({"type": "message_stop"}, "message_stop")


def gemini_stream(said, usage):
    for part in said["parts"]:
        for piece in [{"text": text} for text in cut(part["text"])] if "text" in part else [part]:
            yield event({"candidates": [{"index": 0, "content": {"role": "model", "parts": [piece]}}]})
    last = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
    yield event({"candidates": [last | gemini_grounding(said)]} | usage)


RESPONSE = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m-1", "output": []}
SPEAKERS = {"openai": openai_says, "responses": responses_says, "anthropic": anthropic_says, "gemini": gemini_says}
STREAMS = {"openai": openai_stream, "responses": responses_stream, "anthropic": anthropic_stream, "gemini": gemini_stream}
WHOLES = {
    "openai": lambda said: {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]},
    "responses": lambda said: RESPONSE | {"status": "completed", "output": said},
    "anthropic": lambda said: {"type": "message"} | said,
    "gemini": lambda said: {"candidates": [{"index": 0, "content": said, "finishReason": "STOP"} | gemini_grounding(said)]},
}


# ── the caller ──────────────────────────────────────────────────────────────────────────────────────────────────────


def value(dice):
    digits = lambda n: "".join(dice.choice("0123456789") for _ in range(n))
    match dice.choice(["EMAIL", "EMAIL", "PHONE", "SSN", "CARD"]):
        case "EMAIL":
            return "EMAIL", "%s%s@%s" % (dice.choice(NAMES), digits(3), dice.choice(HOSTS))
        case "PHONE":
            return "PHONE", "+1 %d%s 555 %s" % (dice.randint(2, 9), digits(2), digits(4))
        case "SSN":
            return "SSN", "%d-%02d-%04d" % (dice.randint(100, 665), dice.randint(1, 99), dice.randint(1, 9999))
    head = "4" + digits(14)
    whole = next(head + check for check in "0123456789" if luhn(head + check))
    return "CARD", " ".join(whole[at : at + 4] for at in range(0, 16, 4))


@dataclass
class Conversation:
    """A caller's side of one, which keeps all turns as clients do."""

    number: int
    turns: list = field(default_factory=list)
    values: set = field(default_factory=set)
    kind: str = ""

    def __post_init__(self):
        self.dice = random.Random(self.number)
        self.kind = self.kind or KINDS[self.number % len(KINDS)]
        self.length = TURNS if ALL else min(self.dice.randint(1, TURNS), self.dice.randint(2, TURNS))

    def words(self):
        """Values of before and new ones."""
        old = self.dice.sample(sorted(self.values), min(len(self.values), self.dice.randint(0, 2)))
        new = [value(self.dice) for _ in range(self.dice.randint(0 if old else 1, 2))]
        self.values |= set(new)
        told = "".join("%s: %s | " % pair for pair in old + new)
        return "Conversation no. %d says: %sthat is all." % (self.number, told)

    def add(self):
        """The results of what was called, and what the user says next."""
        words = self.words()
        calls, last = [], self.turns[-1] if self.turns else {}
        if self.kind == "openai":
            results = [{"role": "tool", "tool_call_id": call["id"], "content": words} for call in last.get("tool_calls") or []]
            self.turns += [*results, {"role": "user", "content": words}]
        elif self.kind == "responses":
            used = [last["call_id"]] if last.get("type") == "function_call" else []
            self.turns += [{"type": "function_call_output", "call_id": call, "output": words} for call in used]
            self.turns.append({"role": "user", "content": [{"type": "input_text", "text": words}]})
        elif self.kind == "anthropic":
            used = [block for block in last.get("content", []) if block["type"] == "tool_use"]
            calls = [{"type": "tool_result", "tool_use_id": block["id"], "content": words} for block in used]
            source = {"type": "text", "media_type": "text/plain", "data": "Notes. " + words}
            notes = [] if self.turns else [{"type": "document", "source": source, "title": "notes", "citations": {"enabled": True}}]
            self.turns.append({"role": "user", "content": [*calls, *notes, {"type": "text", "text": words}]})
        else:
            used = [part for part in last.get("parts", []) if "functionCall" in part]
            calls = [{"functionResponse": {"name": "note", "response": {"result": words}}} for _ in used]
            self.turns.append({"role": "user", "parts": [*calls, {"text": words}]})

    def asked(self, streamed):
        """The path and the body of the next request."""
        ask = {"model": "m-1", "stream": streamed}
        match self.kind:
            case "openai":
                return "/v1/chat/completions", ask | {"messages": self.turns}
            case "responses":
                return "/v1/responses", ask | {"input": self.turns, "store": False}
            case "anthropic":
                return "/v1/messages", ask | {"messages": self.turns, "max_tokens": 64}
        way = "streamGenerateContent?alt=sse" if streamed else "generateContent"
        return "/v1beta/models/m-1:" + way, {"contents": self.turns}

    def take(self, gateway, streamed=None):
        """One turn: what comes back names all values so far, as this side knows them. The body of what came."""
        self.add()
        streamed = self.dice.random() < 0.5 if streamed is None else streamed
        path, ask = self.asked(streamed)
        want = pairs("\n".join(leaves(self.turns)))
        connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
        connection.request("POST", path, json.dumps(ask), {"content-type": "application/json"})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        assert answer.status == 200, (self.number, len(self.turns), body)
        said = READERS[self.kind](body) if streamed else whole_of(self.kind, json.loads(body))
        assert reply(want) in list(leaves(said)), (self.number, len(self.turns), said, want)
        for call in read_calls(said):
            assert call == json.loads(arguments(want)), (self.number, len(self.turns), body)
        assert INVENTED["EMAIL"] not in body
        self.turns += said if isinstance(said, list) else [said]
        values = {value for _, value in want}
        told = set(pointed_at(self.kind, self.turns)) | set(segments(body, reply(want)) if self.kind == "gemini" else [])
        assert told == values if self.kind != "anthropic" else told and told <= values, (self.number, told, values)
        return body


def segments(body, text):
    """What the segments of a Gemini answer's text point at."""
    found = rows(body) if body.startswith("data:") else [json.loads(body)]
    for row in found:
        for support in row["candidates"][0].get("groundingMetadata", {}).get("groundingSupports", []):
            segment = support["segment"]
            yield segment["text"]
            yield text.encode()[segment["startIndex"] : segment["endIndex"]].decode()


def read_calls(said):
    """The arguments of the calls in a turn."""
    if isinstance(said, list):
        yield from (json.loads(item["arguments"]) for item in said if "arguments" in item)
        return
    for call in said.get("tool_calls") or []:
        yield json.loads(call["function"]["arguments"])
    for block in [*said.get("parts", []), *(said.get("content") if isinstance(said.get("content"), list) else [])]:
        if "functionCall" in block or "input" in block:
            yield block.get("input") or block["functionCall"]["args"]


def whole_of(kind, body):
    match kind:
        case "openai":
            return body["choices"][0]["message"]
        case "responses":
            return body["output"]
        case "anthropic":
            return {"role": "assistant", "content": body["content"]}
    return body["candidates"][0]["content"]


def rows(body):
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]


def openai_read(body):
    said = {"role": "assistant", "content": ""}
    for row in rows(body):
        delta = row["choices"][0]["delta"] if row["choices"] else {}
        said |= {"annotations": delta["annotations"]} if "annotations" in delta else {}
        said["content"] += delta.get("content") or ""
        for call in delta.get("tool_calls", []):
            if "id" in call:
                said["tool_calls"] = [{name: item for name, item in call.items() if name != "index"}]
            else:
                said["tool_calls"][0]["function"]["arguments"] += call["function"]["arguments"]
    return said


def responses_read(body):
    """The items of the last event, which say what the events before have said."""
    texts = {}
    for row in rows(body):
        if row["type"].endswith(".delta"):
            texts[row["item_id"]] = texts.get(row["item_id"], "") + row["delta"]
    said = row["response"]["output"]
    assert texts == {item["id"]: item["content"][0]["text"] if "content" in item else item["arguments"] for item in said}
    return said


def anthropic_read(body):
    blocks = []
    for row in rows(body):
        if row["type"] == "content_block_start":
            blocks.append(row["content_block"])
        elif row["type"] == "content_block_delta":
            for name, piece in row["delta"].items():
                if name == "partial_json":
                    blocks[row["index"]]["input"] = (blocks[row["index"]]["input"] or "") + piece
                elif name == "citation":
                    blocks[row["index"]]["citations"].append(piece)
                elif name != "type":
                    blocks[row["index"]][name] += piece
    for block in blocks:
        if "input" in block:
            block["input"] = json.loads(block["input"])
    return {"role": "assistant", "content": blocks}


def gemini_read(body):
    parts = []
    for row in rows(body):
        for part in row["candidates"][0]["content"]["parts"]:
            if "text" in part and parts and "text" in parts[-1]:
                parts[-1]["text"] += part["text"]
            elif part.get("text") != "":
                parts.append(part)
    return {"role": "model", "parts": parts}


READERS = {"openai": openai_read, "responses": responses_read, "anthropic": anthropic_read, "gemini": gemini_read}
KINDS = ["anthropic", "openai", "gemini", "responses"]


@pytest.fixture(scope="module")
def provider():
    with Upstream(handler=Binding) as upstream:
        upstream.known, upstream.lock = {}, threading.Lock()
        yield upstream


def test_random_conversations(provider):
    """In rounds: everybody's first turn, a restart, everybody's second turn and so on."""
    conversations = [Conversation(number) for number in range(CONVERSATIONS)]
    with Gateway(provider.url, CONFIG) as gateway, ThreadPoolExecutor(4) as pool:
        for turn in range(TURNS):
            going = [one for one in conversations if turn < one.length]
            list(pool.map(lambda one: one.take(gateway), going))
            values = [value for one in conversations for _, value in one.values]
            everything = "\n".join(request.everything() for request in provider.requests)
            assert not [value for value in values if value in everything]
            provider.requests.clear()
            if ALL or turn in (0, 4):
                gateway.restart()
    assert all(len(one.turns) >= 2 * one.length for one in conversations)
