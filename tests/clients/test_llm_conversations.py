"""Random conversations with a provider that binds them: what it once got and said must come back byte for byte, its
signatures too, or it refuses the turn. Meanwhile the gateway is started anew between turns.

A hundred conversations; with `PORTCULLIS_ALL`, a thousand.
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


class Binding(Answers):
    """Remembers each conversation, and refuses a turn that does not begin as the one before ended."""

    def answer(self, came):
        ask = came.json()
        kind = "gemini" if "contents" in ask else "anthropic" if "max_tokens" in ask else "openai"
        turns = ask["contents"] if kind == "gemini" else ask["messages"]
        opening = re.search(r"Conversation no\. \d+", json.dumps(turns[0]))[0]
        before = self.mock.known.get(opening, [])
        if turns[: len(before)] != before:
            return self.refuse("the prefix is another")
        for turn in turns:
            for block in turn.get("content") if isinstance(turn.get("content"), list) else []:
                if block.get("type") == "thinking" and block["signature"] != signature(block["thinking"]):
                    return self.refuse("the signature is wrong")
        known = pairs("\n".join(leaves(turns)))
        said = SPEAKERS[kind](known, len(turns) % 3 == 0, self.mock.style.own)
        with self.mock.lock:
            self.mock.known[opening] = turns + [said]
        if ask.get("stream") or ":stream" in self.path:
            return self.pieces(200, "text/event-stream", STREAMS[kind](said))
        self.send(200, "application/json", json.dumps(WHOLES[kind](said)).encode())

    def refuse(self, why):
        self.send(400, "application/json", json.dumps({"error": {"message": why}}).encode())


def arguments(known):
    """With escapes in it."""
    return json.dumps({"note": "\u00dcber\n" + reply(known), "copies": 3})


def openai_says(known, calls, _):
    said = {"role": "assistant", "content": reply(known)}
    call = {"id": "call_%d" % len(known), "type": "function", "function": {"name": "note", "arguments": arguments(known)}}
    return said | {"tool_calls": [call]} if calls else said


def anthropic_says(known, calls, own):
    """What it thinks has a value of its own."""
    thinking = "They are " + reply(known[:2]) + " Not " + own["EMAIL"] + "."
    blocks = [{"type": "thinking", "thinking": thinking, "signature": signature(thinking)}, {"type": "text", "text": reply(known)}]
    call = {"type": "tool_use", "id": "toolu_%d" % len(known), "name": "note", "input": json.loads(arguments(known))}
    return {"role": "assistant", "content": [*blocks, call] if calls else blocks}


def gemini_says(known, calls, _):
    call = {"functionCall": {"name": "note", "args": json.loads(arguments(known))}}
    return {"role": "model", "parts": [{"text": reply(known)}, call] if calls else [{"text": reply(known)}]}


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


def openai_stream(said):
    for piece in cut(said["content"]):
        yield event({"choices": [{"index": 0, "delta": {"content": piece}}]})
    for call in said.get("tool_calls", []):
        yield event({"choices": [{"index": 0, "delta": {"tool_calls": [call | {"index": 0, "function": {"name": "note", "arguments": ""}}]}}]})
        for piece in cut(call["function"]["arguments"]):
            yield event({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]})
    yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield b"data: [DONE]\n\n"


def anthropic_stream(said):
    def delta(n, kind, **what):
        return event({"type": "content_block_delta", "index": n, "delta": {"type": kind} | what}, "content_block_delta")

    for n, block in enumerate(said["content"]):
        empty = block | {name: "" for name in ("thinking", "signature", "text") if name in block}
        empty |= {"input": {}} if "input" in block else {}
        yield event({"type": "content_block_start", "index": n, "content_block": empty}, "content_block_start")
        for piece in cut(block.get("thinking", "")):
            yield delta(n, "thinking_delta", thinking=piece)
        if "signature" in block:
            yield delta(n, "signature_delta", signature=block["signature"])
        for piece in cut(block.get("text", "")):
            yield delta(n, "text_delta", text=piece)
        for piece in cut(json.dumps(block["input"])) if "input" in block else []:
            yield delta(n, "input_json_delta", partial_json=piece)
        yield event({"type": "content_block_stop", "index": n}, "content_block_stop")
    yield event({"type": "message_stop"}, "message_stop")


def gemini_stream(said):
    for part in said["parts"]:
        for piece in [{"text": text} for text in cut(part["text"])] if "text" in part else [part]:
            yield event({"candidates": [{"index": 0, "content": {"role": "model", "parts": [piece]}}]})
    yield event({"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]})


SPEAKERS = {"openai": openai_says, "anthropic": anthropic_says, "gemini": gemini_says}
STREAMS = {"openai": openai_stream, "anthropic": anthropic_stream, "gemini": gemini_stream}
WHOLES = {
    "openai": lambda said: {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]},
    "anthropic": lambda said: {"type": "message"} | said,
    "gemini": lambda said: {"candidates": [{"index": 0, "content": said, "finishReason": "STOP"}]},
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

    def __post_init__(self):
        self.dice = random.Random(self.number)
        self.kind = ["anthropic", "openai", "gemini"][self.number % 3]
        self.length = min(self.dice.randint(1, TURNS), self.dice.randint(2, TURNS))

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
        elif self.kind == "anthropic":
            used = [block for block in last.get("content", []) if block["type"] == "tool_use"]
            calls = [{"type": "tool_result", "tool_use_id": block["id"], "content": words} for block in used]
            self.turns.append({"role": "user", "content": [*calls, {"type": "text", "text": words}]})
        else:
            used = [part for part in last.get("parts", []) if "functionCall" in part]
            calls = [{"functionResponse": {"name": "note", "response": {"result": words}}} for _ in used]
            self.turns.append({"role": "user", "parts": [*calls, {"text": words}]})

    def take(self, gateway):
        """One turn: what comes back names all values so far, as this side knows them."""
        self.add()
        streamed = self.dice.random() < 0.5
        path = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}.get(self.kind)
        ask = {"model": "m-1", "messages": self.turns, "stream": streamed}
        if self.kind == "anthropic":
            ask["max_tokens"] = 64
        if self.kind == "gemini":
            path = "/v1beta/models/m-1:%s" % ("streamGenerateContent?alt=sse" if streamed else "generateContent")
            ask = {"contents": self.turns}
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
        self.turns.append(said)


def read_calls(said):
    """The arguments of the calls in a turn."""
    for call in said.get("tool_calls") or []:
        yield json.loads(call["function"]["arguments"])
    for block in [*said.get("parts", []), *(said.get("content") if isinstance(said.get("content"), list) else [])]:
        if "functionCall" in block or "input" in block:
            yield block.get("input") or block["functionCall"]["args"]


def whole_of(kind, body):
    if kind == "openai":
        return body["choices"][0]["message"]
    return {"role": "assistant", "content": body["content"]} if kind == "anthropic" else body["candidates"][0]["content"]


def rows(body):
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]


def openai_read(body):
    said = {"role": "assistant", "content": ""}
    for row in rows(body):
        delta = row["choices"][0]["delta"]
        said["content"] += delta.get("content") or ""
        for call in delta.get("tool_calls", []):
            if "id" in call:
                said["tool_calls"] = [{name: item for name, item in call.items() if name != "index"}]
            else:
                said["tool_calls"][0]["function"]["arguments"] += call["function"]["arguments"]
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


READERS = {"openai": openai_read, "anthropic": anthropic_read, "gemini": gemini_read}


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
