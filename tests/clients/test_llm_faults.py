"""Requests of all LLM protocols at random, with faults at random, of many callers at once: nobody gets what is another's,
nothing of anybody's reaches the upstream, errors have their protocol's shape, nothing hangs, and nothing is left behind.

Some hundreds; with `PORTCULLIS_ALL`, a hundred thousand (`PORTCULLIS_REQUESTS` says how many, `PORTCULLIS_SEED` which).
"""

import asyncio
import collections
import json
import os
import re

import pytest
from gateway import MINIMAL, Gateway
from llm_callers import Callers, flood, resident
from llm_faults import (
    KINDS,
    PROVIDERS,
    QUOTED,
    RIGHT,
    Upstream,
    channels,
    documents,
    expected,
    found_in,
    plain,
)
from mock_upstream import INVENTED
from test_error_shapes import shown

MANY = int(os.environ.get("PORTCULLIS_REQUESTS", 100_000 if os.environ.get("PORTCULLIS_ALL") else 300))
SEED = int(os.environ.get("PORTCULLIS_SEED", 1))
AT_ONCE = 32

ROUTE = """
[[routes]]
name = "NAME"
path = "/NAME"
strip_prefix = true
upstream = "faulty"
provider = "NAME"
auth = "none"
redact = {{}}
"""
CONFIG = MINIMAL + """
[log]
format = "json"

[limits]
distinct_values = 10000000
in_flight = 1024
queue = "30s"

[upstreams.faulty]
peers = ["{upstream}"]
timeouts = {{ connect = "2s", first_byte = "5s", read = "5s", write = "5s", total = "20s" }}
# Faults are what this is about: they should reach the caller.
outliers = {{ failures = 0, rate = 0.0 }}
""" + "".join(ROUTE.replace("NAME", name) for name in PROVIDERS)

# What comes of a request with a fault.
BROKEN = {"cut", "reset", "stall", "half", "junk", "flip"}
UNANSWERED = {"nothing": 502, "refused": 502, "head": 502, "silence": 504}


class Judge:
    """Looks at every answer; keeps what is wrong."""

    def __init__(self, callers):
        self.callers, self.wrong, self.counts = callers, [], collections.Counter()

    def __call__(self, number, kind, fault, got):
        if fault == "hang":
            return self.wrong.append((number, "", fault, "no answer"))
        try:
            outcome = self.outcome(number, kind, fault, got)
        except (AssertionError, ValueError, LookupError, TypeError) as error:
            what = "%s: %s" % (type(error).__name__, str(error)[:600])
            self.wrong.append((number, "%s%s" % (kind.protocol, " streamed" * kind.stream), fault, what))
            outcome = "wrong"
        self.counts[outcome] += 1

    def outcome(self, number, kind, fault, got):
        if fault in ("leaves", "unsent"):
            return "left"
        assert got.status, "no answer"
        mine, surrogates = self.callers.mine[number], self.callers.upstream.heard.get(number, {})
        told = channels(documents(kind, got.body, strict=False))
        text = plain(got.body) + "\n" + "\n".join(map(plain_text, told.values()))
        self.nobodys(number, text, surrogates)
        if fault in RIGHT:
            assert got.status == 200 and got.whole, got
            assert_restored(kind, number, mine, got)
            return "right"
        if fault not in ("flip", "page"):
            # A part of one may stand at the end of what broke off.
            left = [value for label, value in surrogates.items() if label in ("EMAIL", "CARD") and value in text and value not in mine.values()]
            assert not left, "surrogates are left: %s" % left
        if fault != "flip":
            assert INVENTED["EMAIL"] not in text, "what the model invented is there"
        if got.status != 200:
            return self.refused(kind, fault, got, mine)
        if fault == "flip":
            return "flipped"
        return ended(kind, fault, got)

    def nobodys(self, number, text, surrogates):
        """All that is there is one's own, or nobody's."""
        others = [value for value in found_in(text) if self.callers.owner.get(value, number) != number]
        others = [value for value in others if value not in surrogates.values() and value not in self.callers.mine[number].values()]
        assert not others, "another's: %s" % others

    def refused(self, kind, fault, got, mine):
        assert got.whole, "an error breaks off"
        if fault == "empty":
            return "empty"
        if fault == "page" and got.status == 502 and b"text/html" in got.head.lower():
            return "page"
        said = shown(kind.provider, json.loads(got.body))
        assert said and isinstance(said, str), got.body
        assert kind.provider != "bedrock" or fault in ("status", "early") or b"x-amzn-errortype" in got.head.lower(), got.head
        if fault == "status":
            assert said == QUOTED % (mine | {"own": "*" * len(INVENTED["EMAIL"])}), said
            return "its error"
        if fault == "no JSON":
            assert got.status == (422 if kind.provider == "mistral" else 400), got
            return "refused"
        if fault == "early" and got.status == 413:
            return "its error"
        assert got.status in (UNANSWERED.get(fault, 502), 504 if fault in ("stall", "silence") else 502), got
        return str(got.status)


def plain_text(text):
    return re.sub(r"\\+u0040", "@", text)


def assert_restored(kind, number, mine, got):
    """Every text that has a value in it is what it is without a gateway, and the model's own are masked."""
    there = channels(documents(kind, got.body))
    for key, want in expected(kind, number, mine).items():
        # An escape of JSON's within what was restored may be the letter.
        assert plain_text(there.get(key, "")) == plain_text(want), "%s: %r is not %r" % (key, there.get(key), want)


def ended(kind, fault, got):
    """How an answer ends that failed on its way."""
    if fault == "event":
        last = documents(kind, got.body)[-1]
        assert is_error(kind, last), last
        return "its event"
    if not got.whole:
        return "cut"
    if fault in ("half", "junk"):
        return "whole"
    assert kind.stream, "a part of it passes as all: %r" % got.body[-200:]
    last = documents(kind, got.body)[-1]
    assert is_error(kind, last), last
    return "event"


def is_error(kind, document):
    """An error as the protocol's streams have it."""
    match kind.protocol:
        case "anthropic":
            return document["type"] == "error" and document["error"]["message"]
        case "openai_responses":
            return document["type"] == "error" and document["message"]
        case "cohere":
            return document["type"] == "message-end" and document["delta"]["finish_reason"] == "ERROR"
        case "bedrock":
            return document["message"]
        case "mistral_conversations" if document.get("type") == "conversation.response.error":
            return document["message"]
    return shown(kind.provider, document)


def level(gateway, name):
    [found] = re.findall(r"^portcullis_%s(?:\{[^}]*\})? (\S+)$" % name, gateway.metrics(), re.MULTILINE) or ["0"]
    return float(found)


def levels(gateway):
    """What is held and under way; this asking is."""
    return level(gateway, "held_bytes"), level(gateway, "in_flight_requests")


async def run():
    callers = Callers(seed=SEED)
    callers.upstream = await Upstream(callers).serve()
    judge = Judge(callers)
    gateway = await asyncio.to_thread(Gateway(callers.upstream.url, CONFIG).__enter__)
    try:
        callers.port = gateway.port
        before = await asyncio.to_thread(levels, gateway)
        rate = await flood(callers, MANY, AT_ONCE, judge)
        await asyncio.to_thread(gateway.wait_for, lambda: levels(gateway) == before, 10)
        assert gateway.process.poll() is None
        memory = resident(gateway.process.pid)
        log = "\n".join(gateway.log)
    finally:
        await asyncio.to_thread(gateway.__exit__)
    return callers, judge, rate, memory, log


def test_requests_of_all_protocols_with_faults_at_random():
    callers, judge, rate, memory, log = asyncio.run(run())
    counts = judge.counts
    print("%d requests, %.0f a second, %d MiB: %s" % (MANY, rate, memory >> 20, dict(counts.most_common())))
    if judge.wrong:
        kinds = collections.Counter((kind, fault) for _, kind, fault, _ in judge.wrong)
        pytest.fail("%d of %d are wrong: %s\n%s" % (len(judge.wrong), MANY, kinds, "\n".join(map(str, judge.wrong[:12]))))
    assert not callers.upstream.leaks, callers.upstream.leaks[:5]
    assert not [value for value in found_in(log) if value in callers.owner], "the log has values"
    assert "panic" not in log
    assert counts["right"] > MANY // 3 and len(counts) > 6, counts
    assert memory < 1 << 30


def test_every_kind_is_there():
    assert {kind.protocol for kind in KINDS} >= {"openai_chat", "openai_responses", "anthropic", "gemini", "mcp", "cohere", "bedrock"}
