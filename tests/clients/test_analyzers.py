"""Routes that ask an analyzer beside the gateway's own rules, by the real OpenAI client: what only it finds never reaches the
model, and is there again in the answer; and where it does not say what a text holds, nothing passes that is not to."""

import http.client
import json
import re
import time

import openai
import pytest
from analyzer import HOSTILE, Analyzer
from gateway import MINIMAL, PATIENCE, Gateway
from mock_upstream import LABELLED

CONFIG = (
    MINIMAL
    + """
[log]
format = "json"
level = "trace"

[upstreams.mock]
peers = ["{upstream}"]

[api]
analyzers = ["strict"]

[analyzers.strict]
url = "ANALYZER/base/"
headers = {{ x-key = "kept-secret" }}
entities = ["PROJECT", "PERSON"]
rules = {{ PERSON = "PERSON" }}
timeout = "TIMEOUT"
max_text = "64KiB"

[analyzers.fresh]
url = "ANALYZER"
entities = ["PROJECT"]
timeout = "TIMEOUT"
concurrency = 3
cache_for = "0s"

[analyzers.lenient]
url = "ANALYZER"
entities = ["PROJECT"]
on_failure = "pass"
timeout = "TIMEOUT"
cache_for = "0s"
"""
)


def route(name, analyzers, more=""):
    row = '\n[[routes]]\nname = "%s"\npath = "/%s"\nupstream = "mock"\nauth = "none"\nredact = {{ analyzers = %s%s }}\n'
    return row % (name, name, json.dumps(analyzers), more)


CONFIG += route("restore", ["strict"])
CONFIG += route("fresh", ["fresh"])
CONFIG += route("lenient", ["lenient"])
CONFIG += route("blocked", ["strict"], ', methods = {{ STRICT_PROJECT = "block" }}')
CONFIG += route("allowed", ["strict"], ', methods = {{ STRICT_PROJECT = "allow" }}')
CONFIG += route("report", ["strict"], ', methods = {{ STRICT_PROJECT = "report" }}, findings_header = true')
CONFIG += route("without", ["strict"], ', without = ["STRICT_PROJECT"]')
CONFIG += route("sure", ["strict"], ", thresholds = {{ STRICT_PROJECT = 0.9 }}")
CONFIG += route("mask", ["strict"], ', requests = "mask", answers = "off"')
CONFIG += route("generic", ["strict"], ', requests = "mask", answers = "off", protocol = "generic"')

SECRET = "kestrel aurora 77"
PERSON = "joão pereira"
ASK = "Sum it up: EMAIL: %s | the 🦀 of %s, not notes. CARD: 4012 8888 8888 1881 | Order 1001." % (SECRET, PERSON)


@pytest.fixture(scope="module")
def analyzer():
    with Analyzer() as running:
        yield running


@pytest.fixture(scope="module")
def running(upstream, analyzer):
    config = CONFIG.replace("ANALYZER", analyzer.url).replace("TIMEOUT", "%dms" % (1500 * PATIENCE))
    with Gateway(upstream.url, config=config) as gate:
        yield gate
        everything = "\n".join(gate.log) + gate.metrics()
        for secret in ("kestrel", "aurora", "pereira", "kept-secret"):
            assert secret not in everything, "no text is in a log or a metric"


@pytest.fixture
def gate(running, analyzer, mock):
    analyzer.begin()
    yield running
    analyzer.go_on.set()


def client(gate, route):
    return openai.OpenAI(base_url="%s/%s/v1" % (gate.url, route), api_key="sk-caller", max_retries=0, timeout=30)


def ask(gate, route="restore", text=ASK, **more):
    messages = more.pop("messages", [{"role": "user", "content": text}])
    return client(gate, route).chat.completions.create(model="plain", messages=messages, **more)


def told(mock):
    """What the model was told, by label."""
    return dict(LABELLED.findall(mock.requests[-1].json()["messages"][-1]["content"]))


def unseen(mock):
    """Nothing that only the analyzer finds is upstream, and nothing that the rules find."""
    for request in mock.requests:
        everything = request.everything()
        assert not re.search("kestrel|aurora|pereira|4012", everything), everything


def test_what_only_an_analyzer_finds_never_reaches_the_model_and_comes_back(gate, analyzer, mock):
    answer = ask(gate).choices[0].message.content
    unseen(mock)
    assert SECRET in answer and "4012 8888 8888 1881" in answer
    surrogate = told(mock)["EMAIL"]
    assert re.fullmatch(r"\w+ \w+ \d\d", surrogate) and surrogate not in answer
    assert "not notes." in mock.requests[-1].everything(), "what it was not asked for stays"
    # It was asked what the configuration says, of the text and of nothing around it.
    [(path, asked, headers)] = analyzer.asked
    assert (path, headers["x-key"]) == ("/base/analyze", "kept-secret")
    assert asked == {"text": ASK, "language": "en", "entities": ["PERSON", "PROJECT"], "score_threshold": 0.4}
    assert gate.metrics().count('portcullis_findings_total{direction="request",rule="STRICT_PROJECT"}') == 1


def test_a_stream_is_restored_too_and_the_same_value_has_the_same_surrogate(gate, mock):
    before = ask(gate) and told(mock)["EMAIL"]
    texts = [chunk.choices[0].delta.content or "" for chunk in ask(gate, stream=True) if chunk.choices]
    assert SECRET in "".join(texts)
    assert told(mock)["EMAIL"] == before
    unseen(mock)


def test_what_was_found_in_one_message_is_replaced_in_all_and_arguments_are_shown(gate, analyzer, mock):
    arguments = json.dumps({"about": "the code is kestrel aurora 77", "by": "ana lima"})
    call = {"id": "call_1", "type": "function", "function": {"name": "note", "arguments": arguments}}
    messages = [
        {"role": "system", "content": "You know ana lima."},
        {"role": "user", "content": [{"type": "text", "text": "Ask %s" % SECRET}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Ana Lima or ana lima"},
        {"role": "user", "content": ASK},
    ]
    ask(gate, messages=messages)
    everything = mock.requests[-1].everything()
    assert "ana lima" not in everything and "pereira" not in everything and SECRET not in everything
    texts = analyzer.texts()
    assert {"You know ana lima.", "Ask " + SECRET, "ana lima", "Ana Lima or ana lima"} <= set(texts)
    assert not {"user", "system", "role", "function"} & set(texts)


def test_answers_are_remembered_and_later_turns_ask_about_new_texts_only(gate, analyzer, mock):
    text = "A first turn about kestrel boreal %d" % time.time_ns()
    ask(gate, text=text)
    assert analyzer.texts() == [text]
    later = [{"role": "user", "content": text}, {"role": "assistant", "content": "Right."}, {"role": "user", "content": ASK + text}]
    ask(gate, messages=later)
    assert sorted(analyzer.texts()[1:]) == sorted(["Right.", ASK + text])
    # What is remembered counts, also while nobody answers.
    analyzer.mode = "status"
    ask(gate, messages=later)
    assert len(analyzer.asked) == 3
    assert not any("kestrel" in request.everything() for request in mock.requests)
    metrics = gate.metrics()
    for result in ("answered", "remembered"):
        assert re.search(r'portcullis_analyzer_texts_total{analyzer="strict",result="%s"} [1-9]' % result, metrics)


def test_methods_by_rule_hold_for_what_analyzers_find(gate, analyzer, mock):
    with pytest.raises(openai.BadRequestError) as blocked:
        ask(gate, "blocked")
    assert "STRICT_PROJECT" in str(blocked.value) and "kestrel" not in str(blocked.value) and not mock.requests
    for name in ("allowed", "without", "sure"):
        ask(gate, name)
        everything = mock.requests[-1].everything()
        assert SECRET in everything and "pereira" not in everything and "4012" not in everything, name
    answer = client(gate, "report").chat.completions.with_raw_response.create(
        model="plain", messages=[{"role": "user", "content": ASK}]
    )
    assert SECRET in mock.requests[-1].everything() and "pereira" not in mock.requests[-1].everything()
    assert "STRICT_PROJECT=1" in answer.headers["portcullis-findings"]
    ask(gate, "mask")
    assert "*" * len(SECRET) in mock.requests[-1].everything()


@pytest.mark.parametrize("mode", HOSTILE)
def test_an_answer_that_cannot_be_used_refuses_the_request_or_passes_what_the_rules_leave(gate, analyzer, mock, mode):
    analyzer.mode = mode
    with pytest.raises(openai.InternalServerError) as refused:
        ask(gate, "fresh")
    assert refused.value.status_code == 503 and "kestrel" not in str(refused.value) and not mock.requests
    assert refused.value.response.headers["retry-after"]
    ask(gate, "lenient")
    everything = mock.requests[-1].everything()
    assert SECRET in everything and "4012" not in everything
    assert analyzer.gets == 0 and all(path == "/analyze" for path, _, _ in analyzer.asked), "redirects are not followed"
    assert re.search(r'portcullis_analyzer_texts_total{analyzer="fresh",result="failed"} [1-9]', gate.metrics())


@pytest.mark.parametrize("mode", ["slow", "drip"])
def test_all_texts_of_a_request_have_one_time_together(gate, analyzer, mock, mode):
    analyzer.mode = mode
    messages = [{"role": "user", "content": "text %d" % n} for n in range(20)]
    begun = time.monotonic()
    with pytest.raises(openai.InternalServerError):
        ask(gate, "fresh", messages=messages)
    assert not mock.requests
    ask(gate, "lenient", messages=messages)
    assert time.monotonic() - begun < 2 * 1.5 * PATIENCE + 5, "one wait for each analyzer"
    assert re.search(r'portcullis_analyzer_texts_total{analyzer="fresh",result="timeout"} [1-9]', gate.metrics())


def test_an_analyzer_that_is_gone_refuses(running, mock, upstream):
    config = CONFIG.replace("ANALYZER", "http://127.0.0.1:{nobody}").replace("TIMEOUT", "2s")
    with Gateway(upstream.url, config=config) as gate:
        with pytest.raises(openai.InternalServerError):
            ask(gate)
        assert not mock.requests
        ask(gate, "lenient")
        assert SECRET in mock.requests[-1].everything() and "4012" not in mock.requests[-1].everything()
        refused = gate.api("/v1/redact", {"text": ASK})
        assert (refused.status, refused.json()["status"]) == (400, "ProviderError") and "kestrel" not in str(refused.body)


def test_questions_are_asked_a_few_at_a_time(gate, analyzer):
    analyzer.delay = 0.05
    ask(gate, "fresh", messages=[{"role": "user", "content": "text %d" % n} for n in range(20)])
    assert len(analyzer.asked) == 20 and 1 < analyzer.most <= 3


def test_each_text_is_asked_about_once_however_often_it_stands_there(gate, analyzer):
    ask(gate, "fresh", messages=[{"role": "user", "content": "the same"}] * 5 + [{"role": "user", "content": "!?"}])
    assert analyzer.texts() == ["the same"]


def test_a_text_that_is_too_long_is_one_without_an_answer(gate, analyzer, mock):
    with pytest.raises(openai.InternalServerError):
        ask(gate, text="long " * 20_000)
    assert not mock.requests and not analyzer.asked


def test_nobody_is_asked_for_a_caller_that_left(gate, analyzer, mock):
    analyzer.mode = "slow"
    connection = http.client.HTTPConnection("127.0.0.1", gate.port)
    messages = [{"role": "user", "content": "text %d" % n} for n in range(50)]
    body = json.dumps({"model": "plain", "messages": messages})
    connection.request("POST", "/fresh/v1/chat/completions", body, {"content-type": "application/json"})
    gate.wait_for(lambda: analyzer.asked)
    connection.close()
    gate.wait_for(lambda: "portcullis_in_flight_requests 0" in gate.metrics(), 5)
    analyzer.go_on.set()
    analyzer.mode = "ok"
    time.sleep(0.5)
    assert len(analyzer.asked) <= 3 and not mock.requests


def test_bodies_of_no_model_are_collected_and_shown_too(gate, analyzer, mock):
    def sent(kind, body):
        assert gate.call("POST", "/generic/reflect", body, {"content-type": kind}).status == 200
        return mock.requests[-1].body.decode()

    stars = "*" * len(SECRET)
    assert sent("text/plain", "so %s it is" % SECRET) == "so %s it is" % stars
    assert json.loads(sent("application/json", '{"a": ["kestrel\\u0020Aurora 77"], "n": 1}')) == {"a": [stars], "n": 1}
    assert stars in sent("application/x-ndjson", '{"a": "%s"}\n{"b": 2}\n' % SECRET)
    assert sent("application/x-www-form-urlencoded", "a=kestrel+aurora%2077&b=1").startswith("a=")
    assert "kestrel" not in mock.requests[-1].body.decode()
    assert sent("application/json", b"\xef\xbb\xbf{}".decode()) is not None
    analyzer.mode = "status"
    assert gate.call("POST", "/generic/reflect", "another text", {"content-type": "text/plain"}).status == 503


def test_the_api_asks_about_texts_and_documents(gate, analyzer):
    answer = gate.api("/v1/redact", {"text": ASK, "debug": True}).json()["result"]
    assert answer["redacted_text"].startswith("Sum it up: EMAIL: <STRICT_PROJECT> | the 🦀 of <PERSON>, not notes.")
    [project] = [one for one in answer["report"]["recognizer_results"] if one["field_type"] == "STRICT_PROJECT"]
    assert project["text"] == SECRET and ASK[project["start"] : project["end"]] == SECRET, project
    data = {"list": [SECRET, "x"], "other": {"note": "by " + PERSON}}
    whole = gate.api("/v1/redact_structured", {"data": data}).json()["result"]["redacted_data"]
    assert whole == {"list": ["<STRICT_PROJECT>", "x"], "other": {"note": "by <PERSON>"}}
    asked = len(analyzer.asked)
    chosen = gate.api("/v1/redact_structured", {"data": {"list": [SECRET + "!"], "o": SECRET + "?"}, "jsonp": ["$.list"]})
    assert chosen.json()["result"]["redacted_data"] == {"list": ["<STRICT_PROJECT>!"], "o": SECRET + "?"}
    assert analyzer.texts()[asked:] == [SECRET + "!"], "nothing is shown that was not chosen"
    # A call that names its rules has those.
    only = gate.api("/v1/redact", {"text": ASK, "rules": ["STRICT_PROJECT"]}).json()["result"]
    assert "<STRICT_PROJECT>" in only["redacted_text"] and PERSON in only["redacted_text"]
    asked = len(analyzer.asked)
    none = gate.api("/v1/redact", {"text": ASK + " again", "rules": ["CREDIT_CARD"]}).json()["result"]
    assert SECRET in none["redacted_text"] and len(analyzer.asked) == asked
    back = gate.api("/v1/redact", {"text": ASK, "llm_request": True}).json()["result"]
    assert SECRET not in back["redacted_text"]
    again = gate.api("/v1/unredact", {"redacted_data": back["redacted_text"], "fpe_context": back["fpe_context"]})
    assert again.json()["result"]["data"] == ASK
    analyzer.mode = "status"
    refused = gate.api("/v1/redact", {"text": "a text that was not there before"})
    assert (refused.status, refused.json()["status"]) == (400, "ProviderError")


def test_a_websocket_is_refused_where_an_analyzer_must_answer(gate, mock):
    upgrade = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    answer = gate.call("GET", "/restore/v1/realtime?model=gpt-realtime", None, upgrade)
    assert answer.status == 501 and b"analyzers" in answer.body and not mock.requests


OTHER = (
    MINIMAL
    + """
[[detect.rule]]
name = "ACME_PROJECT"
patterns = [{{ regex = "kestrel [a-z]+ [0-9]+" }}]

[[routes]]
name = "door"
path = "/door"
endpoint = "presidio"
auth = "token"
"""
)


def test_another_gateway_is_an_analyzer(upstream, mock):
    with Gateway("", OTHER) as other:
        setting = """
[analyzers.other]
url = "%s/door"
headers = {{ authorization = "Bearer %s" }}
entities = ["ACME_PROJECT", "EMAIL_ADDRESS"]
rules = {{ EMAIL_ADDRESS = "EMAIL_ADDRESS" }}
"""
        config = MINIMAL + '\n[upstreams.mock]\npeers = ["{upstream}"]\n' + setting % (other.url, other.token)
        with Gateway(upstream.url, config + route("restore", ["other"])) as gate:
            text = "é🦀 EMAIL: %s | and CARD: 4012 8888 8888 1881 | Order 1001." % SECRET
            answer = ask(gate, text=text).choices[0].message.content
            unseen(mock)
            assert SECRET in answer
            streamed = [chunk.choices[0].delta.content or "" for chunk in ask(gate, text=text, stream=True)]
            assert SECRET in "".join(streamed)
