"""What requests to models take: tokens of every protocol, streams that are asked for a report, prices, the sums."""

import json
import re

import pytest
from gateway import MINIMAL, Gateway, run
from llm_upstream import PROMPT, PROTOCOLS, Upstream, documents, texts
from openai import OpenAI

CHAT = {"messages": [{"role": "user", "content": "hello"}]}
LOG = """
[log]
format = "json"
access_file = "{home}/access.jsonl"

[upstreams.mock]
peers = ["{upstream}"]
"""
ROUTES = """
[[routes]]
name = "plain"
path = "/plain"
strip_prefix = true
upstream = "mock"
auth = "none"

[[routes]]
name = "asked"
path = "/asked"
strip_prefix = true
upstream = "mock"
auth = "token"
provider = "openai"

[[routes]]
name = "redacted"
path = "/redacted"
strip_prefix = true
upstream = "mock"
auth = "token"
provider = "openai"
redact = {{}}

[[routes]]
name = "keys"
path = "/keys"
strip_prefix = true
upstream = "mock"
auth = "token"
redact = {{}}

[[routes]]
name = "all"
upstream = "mock"
auth = "none"
redact = {{}}
"""
PRICES = """
[[usage.prices]]
model = "cheap*"
input = 1.0
cached_input = "0.25"
output = 2

[[usage.prices]]
model = "m-*"
input = 10
output = 100
"""
CONFIG = MINIMAL + LOG + '[usage]\ncount = "all"\n' + PRICES + ROUTES


@pytest.fixture(scope="module")
def ends():
    with Upstream() as upstream, Gateway(upstream.url, CONFIG) as running:
        yield running, upstream


@pytest.fixture
def road(ends):
    ends[1].begin()
    return ends


def access(gateway, seen):
    """The access lines behind the first `seen`."""
    path = gateway.home / "access.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()[seen:]] if path.exists() else []


def line_of(gateway, call):
    """The access line of one call."""
    seen = len(access(gateway, 0))
    call()
    return gateway.wait_for(lambda: access(gateway, seen))[-1]


def token(gateway, *args):
    done = run("tokens", "create", "-c", gateway.file, *args)
    assert done.returncode == 0, done.err
    return done.out.strip()


def ident(gateway, name):
    """The id of the token of this name."""
    rows = [row.split("\t") for row in run("tokens", "list", "-c", gateway.file).out.splitlines()]
    return next(row[0] for row in rows if row[1] == name)


# ── tokens of every protocol ────────────────────────────────────────────────────────────────────────────────────────


def reported(found):
    """The numbers of a report, told apart by their names in this test's own words."""
    usage = {}
    for name, number in found.items():
        if name in ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "prompt_eval_count", "total_input_tokens"):
            usage["in"] = number
        elif name in ("completion_tokens", "output_tokens", "outputTokens", "eval_count"):
            usage["out"] = number
        elif name == "candidatesTokenCount":
            usage["out"] = number + found.get("thoughtsTokenCount", 0)
        elif name == "total_output_tokens":
            usage["out"] = number + found.get("total_thought_tokens", 0)
        elif name in ("cached_tokens", "cache_read_input_tokens", "cachedContentTokenCount", "total_cached_tokens"):
            usage["cached"] = number
    return usage


def numbers(value, named=""):
    """All reports in a document, from the outside in."""
    if isinstance(value, dict):
        own = {name: number for name, number in value.items() if isinstance(number, (int, float))}
        if named in ("usage", "usageMetadata", "billed_units") or "prompt_eval_count" in value:
            for inner in value.values():
                if isinstance(inner, dict) and named == "usage":
                    own |= {n: v for n, v in inner.items() if n == "cached_tokens"}
            yield reported(own)
        for name, inner in value.items():
            yield from numbers(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)


def told(shown, anthropic):
    """What all reports of an answer say together."""
    usage = {"in": 0, "cached": 0, "out": 0}
    for report in (one for document in shown for one in numbers(document)):
        usage |= report
    if anthropic:
        usage["in"] += usage["cached"]
    return usage


REPORTS = {
    name: protocol
    for name, protocol in PROTOCOLS.items()
    if re.search(r"prompt_tokens|input_tokens|TokenCount|eval_count", json.dumps(protocol)) and name != "mcp"
}


@pytest.mark.parametrize("coding", ["", "gzip"])
@pytest.mark.parametrize("route", ["", "/plain"])
@pytest.mark.parametrize("name", REPORTS)
def test_tokens_are_counted_of_every_protocol(road, name, route, coding):
    gateway, upstream = road
    protocol = PROTOCOLS[name]
    said = texts({"EMAIL": "a@b.example", "PHONE": "1", "SSN": "2", "CARD": "3"}, {"EMAIL": "x", "PHONE": "y", "SSN": "z", "CARD": "w"})
    shapes = [("whole", False)] if "whole" in protocol else []
    shapes += [("stream", True)] if "stream" in protocol else []
    for shape, streams in shapes:
        upstream.begin(shape=name, coding=coding)
        shown = [protocol["whole"]] if shape == "whole" else list(documents(protocol, said, upstream.style))
        want = told(shown, name == "anthropic")
        body = {"model": "m-1", "stream": streams, "messages": [{"role": "user", "content": "hello"}]}
        headers = {"accept-encoding": coding} if coding else {}
        line = line_of(gateway, lambda: gateway.call("POST", route + protocol["path"], body, headers))
        assert line["status"] == 200
        if want["in"] == 0:
            assert line["estimated_tokens"], "nobody said how many there were"
            continue
        got = {"in": line["input_tokens"], "cached": line["cached_input_tokens"], "out": line["output_tokens"]}
        assert (got, line["estimated_tokens"]) == (want, False), (shape, line)


def test_what_nobody_reports_is_estimated_and_an_error_took_nothing(road):
    gateway, upstream = road
    upstream.begin(shape="openai_chat", error="whole")
    body = {"model": "m-1", "messages": [{"role": "user", "content": "hello"}]}
    line = line_of(gateway, lambda: gateway.call("POST", "/v1/chat/completions", body))
    assert (line["status"], line["input_tokens"], line["output_tokens"]) == (429, 0, 0)
    assert line["model"] is None, "nobody has answered for it"
    # A stream that breaks off before its report.
    upstream.begin(shape="openai_chat", cut=True)
    line = line_of(gateway, lambda: gateway.call("POST", "/v1/chat/completions", body | {"stream": True}))
    assert line["estimated_tokens"] and line["output_tokens"] > 10 and line["input_tokens"] > 5


def test_money_is_exact_and_the_report_adds_it_up(road):
    gateway, upstream = road
    body = {"model": "cheap-1", "messages": [{"role": "user", "content": "hello"}]}
    cost = []
    for _ in range(3):
        line = line_of(gateway, lambda: gateway.call("POST", "/v1/chat/completions", body))
        assert (line["input_tokens"], line["cached_input_tokens"], line["output_tokens"]) == (12, 7, 30)
        cost.append(line["cost_usd"])
    # 5 at 1, 7 at 0.25 and 30 at 2 dollars a million.
    assert cost == ["0.00006675"] * 3

    def rows():
        done = run("usage", "-c", gateway.file, "--json", "--by", "model,route")
        rows = [json.loads(row) for row in done.out.splitlines()]
        return [row for row in rows if row["model"] == "cheap-1" and row["requests"] == 3]

    [row] = gateway.wait_for(rows)
    assert (row["route"], row["input_tokens"], row["output_tokens"]) == ("all", 36, 90)
    assert row["cost_usd"] == "0.00020025"
    metrics = gateway.metrics()
    assert re.search(r'portcullis_model_cost_usd_total\{route="all"\} 0\.\d+', metrics)
    assert 'portcullis_model_tokens_total{kind="cached_input",route="all"}' in metrics


def test_a_models_name_is_logged_only_if_it_is_one(road):
    gateway, _ = road
    for name in ("jane.doe@harbour-post.com", "4111 1111 1111 1111", "4111-1111-1111-1111", "sk-" + "a1B2" * 12):
        body = {"model": name, "messages": [{"role": "user", "content": "hello"}]}
        line = line_of(gateway, lambda: gateway.call("POST", "/v1/chat/completions", body))
        assert line["status"] == 200 and line["model"] is None
    done = run("usage", "-c", gateway.file, "--by", "model")
    assert "harbour-post" not in done.out and "4111" not in done.out


# ── a stream that is asked for a report ─────────────────────────────────────────────────────────────────────────────


class Quiet(Upstream):
    """Reports at the end of a stream only if asked to, and says in every other chunk that there is none."""

    def documents(self, asked):
        chunk = lambda **more: {"id": "c", "object": "chat.completion.chunk", "model": "m-1"} | more
        none = {"usage": None} if asked else {}
        for piece in ("Hello ", "there"):
            yield chunk(choices=[{"index": 0, "delta": {"content": piece}, "finish_reason": None}], **none)
        yield chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}], **none)
        if asked:
            yield chunk(choices=[], usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11})


@pytest.fixture(scope="module")
def quiet():
    from llm_upstream import Answers

    class Streams(Answers):
        def answer(self, came):
            ask = came.json()
            asked = ask.get("stream_options", {}).get("include_usage", False)
            rows = [b"data: " + json.dumps(row).encode() + b"\n\n" for row in self.mock.documents(asked)]
            self.pieces(200, "text/event-stream", [*rows, b"data: [DONE]\n\n"])

    with Quiet(handler=Streams) as upstream, Gateway(upstream.url, CONFIG) as running:
        yield running, upstream


@pytest.mark.parametrize("route", ["asked", "redacted"])
@pytest.mark.parametrize("wants", [False, True])
def test_a_stream_is_asked_for_its_report_and_its_client_sees_what_it_asked_for(quiet, wants, route):
    gateway, upstream = quiet
    options = {"stream_options": {"include_usage": True}} if wants else {}
    body = {"model": "m-1", "stream": True, "messages": [{"role": "user", "content": "hello"}], **options}
    got = []
    headers = {"authorization": "Bearer " + token(gateway, "--route", route)}
    path = "/%s/v1/chat/completions" % route
    line = line_of(gateway, lambda: got.append(gateway.call("POST", path, body, headers)))
    assert (line["input_tokens"], line["output_tokens"], line["estimated_tokens"]) == (9, 2, False)
    sent = list(upstream.documents(wants))
    seen = [json.loads(row[6:]) for row in got[0].body.split(b"\n\n") if row.startswith(b"data: {")]
    if route == "asked":
        assert seen == sent and got[0].body.endswith(b"data: [DONE]\n\n")
    told = lambda rows: "".join(c["delta"].get("content", "") for row in rows for c in row["choices"])
    assert told(seen) == told(sent) == "Hello there"
    assert wants or not any("usage" in row for row in seen)
    # With the client: nothing that it did not ask for.
    client = OpenAI(api_key=headers["authorization"][7:], base_url=gateway.url + "/%s/v1" % route)
    chunks = list(client.chat.completions.create(**body))
    assert [bool(chunk.usage) for chunk in chunks].count(True) == (1 if wants else 0)
    assert all(chunk.choices for chunk in chunks) is not wants


@pytest.mark.parametrize("said", [
    {"stream_options": {}},
    {"stream_options": None},
    {"stream_options": {"include_usage": False}},
    {"stream_options": {"include_obfuscation": False}},
    {"stream": 1},
    {"stream": "true", "stream_options": []},
])
def test_a_stream_is_counted_whatever_its_client_says_of_the_report(quiet, said):
    gateway, _ = quiet
    body = {"model": "m-1", "stream": True, **CHAT, **said}
    got = []
    headers = {"authorization": "Bearer " + token(gateway, "--route", "asked")}
    line = line_of(gateway, lambda: got.append(gateway.call("POST", "/asked/v1/chat/completions", body, headers)))
    assert (line["output_tokens"], line["estimated_tokens"]) == (2, False)
    assert b"usage" not in got[0].body and b"Hello" in got[0].body


def test_a_stream_of_an_unknown_server_is_not_asked(quiet):
    gateway, upstream = quiet
    upstream.begin()
    body = {"model": "m-1", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    line = line_of(gateway, lambda: gateway.call("POST", "/plain/v1/chat/completions", body))
    assert upstream.requests[-1].json() == body and line["estimated_tokens"]


def test_values_stay_out_of_what_is_counted(road):
    gateway, _ = road
    body = {"model": "m-1", "messages": [{"role": "user", "content": PROMPT}]}
    line = line_of(gateway, lambda: gateway.call("POST", "/v1/chat/completions", body))
    assert line["redacted"] > 0 and line["input_tokens"] == 12


def test_what_else_stands_in_a_report_is_the_callers_to_see(quiet):
    gateway, upstream = quiet
    documents, cited = upstream.documents, {"citations": ["https://harbour-post.example/a"]}
    last = lambda rows: [*rows[:-1], rows[-1] | cited]
    upstream.documents = lambda asked: iter(last(list(documents(asked))))
    try:
        key = {"authorization": "Bearer " + token(gateway, "--route", "asked")}
        body = {"model": "m-1", "stream": True, **CHAT}
        got = gateway.call("POST", "/asked/v1/chat/completions", body, key).body
    finally:
        upstream.documents = documents
    seen = [json.loads(row[6:]) for row in got.split(b"\n\n") if row.startswith(b"data: {")]
    assert seen[-1]["citations"] == cited["citations"] and not any("usage" in row for row in seen)
