"""One call by a provider's own client, through the gateway and without it.

A call gives what its client made of the answer: texts joined, documents read, and everything else that the client shows.
Through the gateway that must be what it is without one, where the upstream says the caller's own values, and asterisks
for its own.
"""

import json
import re
from dataclasses import dataclass

from gateway import EVERY_PATH, Gateway
from llm_upstream import MINE, PROMPT, PROTOCOLS, Upstream, heard
from test_openai import assert_unseen

CONFIG = EVERY_PATH

# How answers come: pieces that cut values anywhere, escapes too; bytes a few at a time; codings.
STYLES = {
    "two letters at a time": {"step": 2},
    "all at once": {"step": 1000},
    "bytes a few at a time": {"step": 7, "write": 97},
    "gzip": {"step": 9, "coding": "gzip"},
    "brotli": {"step": 9, "coding": "br", "write": 61},
}


@dataclass
class Road:
    """The gateway and the upstream behind it."""

    gateway: Gateway
    upstream: Upstream

    def check(self, call, **style):
        """Makes a call on both ways, compares, and returns what was heard upstream."""
        self.upstream.begin(said=MINE, **style)
        want = call(self.upstream.url)
        self.upstream.begin(**style)
        got = call(self.gateway.url)
        assert unsealed(got) == unsealed(want)
        return self.unseen()

    def unseen(self):
        """Nothing of the caller's came; the values that came instead."""
        assert self.upstream.requests, "nothing reached the upstream"
        for request in self.upstream.requests:
            assert_unseen(request.everything(), tuple(MINE.values()))
        asked = [heard(one.json()) for one in self.upstream.requests if one.body]
        values = next(one for one in reversed(asked) if one)
        assert set(values) == set(MINE) and not set(values.values()) & set(MINE.values())
        return values


def joined(*pieces):
    """Adds pieces of texts up by their names: `(name, piece), …`."""
    texts = {}
    for name, piece in pieces:
        if piece:
            texts[name] = texts.get(name, "") + piece
    return texts


def read(texts, *names):
    """The same with these texts read as JSON."""
    return {name: json.loads(text) if name.startswith(names) else text for name, text in texts.items()}


def bare(document, *without):
    """A client's object as plain data, without these members."""
    plain = document if isinstance(document, dict) else document.model_dump(mode="json")
    return {name: value for name, value in plain.items() if name not in without}


def unsealed(found):
    """The same with each signature as its provider gave it: where what it covers was masked, the caller gets one that is
    ours, and ends in the provider's."""
    if isinstance(found, (list, tuple)):
        return type(found)(map(unsealed, found))
    if isinstance(found, dict):
        return {name: unsealed(item) for name, item in found.items()}
    return next((own for own in SIGNATURES if isinstance(found, str) and found.endswith(own)), found)


SIGNATURES = sorted(set(re.findall('ignature": "([^"]+)"', json.dumps(PROTOCOLS))))

__all__ = ["CONFIG", "PROMPT", "STYLES", "Road", "bare", "joined", "read", "unsealed"]
