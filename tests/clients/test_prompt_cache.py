"""A provider's prompt cache hits as it does without the gateway: over ten turns as many cached tokens are told, whatever the
gateway replaces, restores and masks. So it is when conversations go on after an upgrade, or with other keys.

`stores/2026-11-23.json` has the store of an earlier build, with the first turns of conversations on both sides; with
PORTCULLIS_BIN set to such a build, `python tests/clients/test_prompt_cache.py` makes another.
"""

import base64
import gzip
import json
import os
import re
import threading
from pathlib import Path

import pytest
from gateway import MINIMAL, Gateway, run
from llm_upstream import Upstream
from test_llm_conversations import CONFIG, KINDS, Binding, Conversation

# What every build of then and now reads.
CONFIG_BEFORE = MINIMAL + """
[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "all"
path = "/"
upstream = "mock"
auth = "none"
redact = {{}}
"""
TURNS = 10
# With `PORTCULLIS_ALL`, every provider is asked across restarts, too; a key's rotation takes its time.
ALL = bool(os.environ.get("PORTCULLIS_ALL"))
STORES = Path(__file__).parent / "stores"
# Of builds before those in which a telephone number's surrogate is nobody's, and of the first of these.
OLDER, KEPT = STORES / "2026-11-23.json", STORES / "2026-11-24.json"
# What each protocol's usage calls the tokens that came out of the cache.
CACHED = {
    "openai": "cached_tokens",
    "responses": "cached_tokens",
    "anthropic": "cache_read_input_tokens",
    "gemini": "cachedContentTokenCount",
}


# ── the provider ────────────────────────────────────────────────────────────────────────────────────────────────────


class Caching(Binding):
    """Remembers prompts as providers do. A token is a word, so that a value has as many as its surrogate."""

    def counted(self, kind, ask):
        prompts = self.mock.prompts
        if kind == "anthropic":
            read, total = self.by_breakpoints(ask)
            fresh = {"input_tokens": total - read, "cache_creation_input_tokens": total - read}
            return {"usage": fresh | {"cache_read_input_tokens": read, "output_tokens": 1}}
        prompt = json.dumps([ask.get("messages"), ask.get("contents"), ask.get("input")])
        with self.mock.lock:
            cached = max((words(os.path.commonprefix([prompt, before])) for before in prompts), default=0)
            prompts.append(prompt)
        total = words(prompt)
        match kind:
            case "openai":
                return {"usage": {"prompt_tokens": total, "completion_tokens": 1, "total_tokens": total + 1, "prompt_tokens_details": {"cached_tokens": cached}}}
            case "gemini":
                return {"usageMetadata": {"promptTokenCount": total, "totalTokenCount": total, "cachedContentTokenCount": cached}}
        # Of Responses usage stands in the response.
        return {"usage": {"input_tokens": total, "output_tokens": 1, "total_tokens": total + 1, "input_tokens_details": {"cached_tokens": cached}}}

    def by_breakpoints(self, ask):
        """Up to where a cache was asked for, and only if all before that is the same to the byte."""
        prefix, read, marked = "", 0, []
        for turn in ask["messages"]:
            for block in turn["content"]:
                bare = {name: item for name, item in block.items() if name != "cache_control"}
                prefix += turn["role"] + json.dumps(bare)
                if "cache_control" in block:
                    marked.append(prefix)
                if prefix in self.mock.prompts:
                    read = words(prefix)
        with self.mock.lock:
            self.mock.prompts.extend(marked)
        return read, words(prefix)


def words(text):
    return len(text.split())


class Cached(Conversation):
    """One that asks Anthropic for a cache of all so far, in each turn anew."""

    def asked(self, streamed):
        path, ask = super().asked(streamed)
        if self.kind == "anthropic":
            *before, last = self.turns
            *blocks, block = last["content"]
            ask["messages"] = [*before, last | {"content": [*blocks, block | {"cache_control": {"type": "ephemeral"}}]}]
        return path, ask


def provider(invents=False):
    """An upstream with an empty cache."""
    upstream = Upstream(handler=Caching)
    upstream.known, upstream.lock, upstream.prompts = {}, threading.Lock(), []
    upstream.begin(**{} if invents else {"own": {}})
    return upstream


def cached(kind, body):
    return int(re.findall(r'"%s": ?(\d+)' % CACHED[kind], body)[-1])


def conversed(kind, to, streamed):
    """The cached tokens that ten turns tell."""
    one = Cached(1, kind=kind)
    return [cached(kind, one.take(to, streamed)) for _ in range(TURNS)]


# ── as without a gateway ────────────────────────────────────────────────────────────────────────────────────────────


class Direct:
    """In a gateway's place."""

    def __init__(self, upstream):
        self.port = upstream.port


# What the model invents is some words more of its thoughts, and without a gateway the caller would see them.
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
def test_as_many_tokens_are_cached_as_without_the_gateway(kind, streamed):
    with provider() as upstream:
        want = conversed(kind, Direct(upstream), streamed)
    with provider() as upstream, Gateway(upstream.url, CONFIG) as gateway:
        got = conversed(kind, gateway, streamed)
    assert got == want and grows(got), (got, want)


@pytest.mark.parametrize("kind", KINDS)
def test_all_so_far_is_cached_though_the_model_invents(kind):
    with provider(invents=True) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        got = conversed(kind, gateway, streamed=False)
    assert grows(got), got


def grows(told):
    """More in every turn; at first there is nothing but what a prompt begins with."""
    return told[0] <= 4 and told[1] > 4 and len(set(told)) == TURNS and sorted(told) == told


# ── conversations that go on ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", list(KINDS) if ALL else list(KINDS)[:1])
def test_other_keys_and_another_process_are_not_seen_in_a_cache(kind):
    with provider() as upstream, Gateway(upstream.url, CONFIG) as gateway:
        one, told = Cached(5, kind=kind), []
        for turn in range(TURNS):
            told.append(cached(kind, one.take(gateway)))
            if turn in (1, 6):
                done = run("keys", "rotate-master", "-c", gateway.file)
                assert done.returncode == 0, done.err
            if turn in (3, 6):
                gateway.restart()
    assert grows(told), told


class Earlier(Gateway):
    """On the store of an earlier build."""

    data = {}

    def start(self, every=0.02):
        for name, content in self.data.items():
            file = self.home / "data" / name
            file.parent.mkdir(exist_ok=True, mode=0o700)
            if not file.exists():
                file.touch(0o600)
                file.write_bytes(gzip.decompress(base64.b64decode(content)))
        super().start(every)


def conversations():
    """All that an earlier build began; of the older ones those without telephone numbers, which look different since."""
    older = json.loads(OLDER.read_text())["conversations"]
    kinds = [kind for kind in KINDS if not any(name == "PHONE" for name, _ in older[kind]["values"])]
    assert kinds
    return [(KEPT, kind) for kind in KINDS] + [(OLDER, kind) for kind in kinds]


@pytest.mark.parametrize(("file", "kind"), conversations(), ids=lambda value: getattr(value, "stem", value))
def test_conversations_that_an_earlier_build_began_go_on(file, kind):
    before = json.loads(file.read_text())
    kept = before["conversations"][kind]
    one = Cached(6, turns=kept["turns"], values=set(map(tuple, kept["values"])), kind=kind)
    with provider() as upstream:
        upstream.known, upstream.prompts = before["known"], before["prompts"]
        gateway = Earlier(upstream.url, before["config"], token="-")
        gateway.data = before["data"]
        with gateway:
            told = [cached(kind, one.take(gateway)) for _ in range(3)]
    assert told[0] > kept["cached"] and sorted(told) == told, (told, kept["cached"])


def made():
    """The store, with the turns of conversations on both sides."""
    conversations = {}
    with provider() as upstream, Gateway(upstream.url, CONFIG_BEFORE) as gateway:
        for number, kind in enumerate(KINDS):
            one = Cached(100 + number, kind=kind)
            told = [cached(kind, one.take(gateway, streamed=False)) for _ in range(3)]
            conversations[kind] = {"turns": one.turns, "values": sorted(one.values), "cached": told[-1]}
        assert gateway.stop() == 0
        packed = lambda file: base64.b64encode(gzip.compress(file.read_bytes(), mtime=0)).decode()
        data = {name: packed(gateway.home / "data" / name) for name in ("master.key", "portcullis.sqlite")}
        kept = {"config": CONFIG_BEFORE, "data": data, "conversations": conversations}
        KEPT.write_text(json.dumps(kept | {"known": upstream.known, "prompts": upstream.prompts}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    made()
