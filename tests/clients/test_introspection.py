"""A route that asks an authorization server about opaque tokens (RFC 7662): what it says counts, is kept for a time, and without
an answer nobody passes."""

import concurrent.futures
import time

import pytest
from gateway import MINIMAL, Gateway
from identity import Provider

CONFIG = (
    MINIMAL
    + """
[log]
format = "json"
level = "trace"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "asked"
path = "/asked"
upstream = "mock"
auth = "introspection"
[routes.introspection]
endpoint = "ENDPOINT"
client = "gate way"
secret = {{ file = "secret" }}
issuers = ["https://id.example.com"]
audiences = ["chat"]
client_ids = ["console", "cli"]
required = ["sub"]
scopes = ["chat:write"]
headers = {{ sub = "x-user", groups = "x-groups" }}
timeout = "1s"

[[routes]]
name = "every"
path = "/every"
upstream = "mock"
auth = "introspection"
introspection = {{ endpoint = "ENDPOINT", client = "gate way", secret = {{ file = "secret" }}, cache_for = "0s", token = {{ query = "t" }} }}

[[routes]]
name = "stranger"
path = "/stranger"
upstream = "mock"
auth = "introspection"
introspection = {{ endpoint = "ENDPOINT", client = "gate way", secret = "wrong", forward = true }}

[[routes]]
name = "chat"
path = "/v1"
upstream = "mock"
auth = "introspection"
introspection = {{ endpoint = "ENDPOINT", client = "gate way", secret = {{ file = "secret" }} }}
redact = {{}}
"""
)

GOOD = {"active": True, "iss": "https://id.example.com", "aud": "chat", "sub": "jane", "client_id": "cli", "scope": "chat:read chat:write"}


class Keyed(Gateway):
    def start(self, every=0.02):
        (self.home / "secret").write_text("s:e+cret/%\n")
        super().start(every)


@pytest.fixture
def provider():
    with Provider() as running:
        yield running


@pytest.fixture
def gate(upstream, provider):
    with Keyed(upstream.url, config=CONFIG.replace("ENDPOINT", provider.url + "/introspect")) as running:
        yield running
        everything = "\n".join(running.log) + running.metrics()
        assert not [token for token in provider.tokens if token in everything], "no token is in a log or a metric"


def ask(gate, token, path="/asked/reflect", **headers):
    return gate.call("POST", path, b"x", {"authorization": "Bearer " + token} | headers)


def sent(mock):
    return {name.lower(): value for name, value in mock.requests[-1].headers}


def test_an_active_token_passes_and_is_asked_about_once(gate, provider, mock):
    provider.tokens["opaque-2YotnFZFEjr1"] = GOOD | {"groups": ["a", "b"], "exp": int(time.time()) + 60}
    for _ in range(5):
        answer = ask(gate, "opaque-2YotnFZFEjr1", **{"x-user": "root", "X-Groups": "admin"})
        assert (answer.status, answer.body) == (200, b"x")
    headers = sent(mock)
    assert (headers["x-user"], headers["x-groups"]) == ("jane", '["a","b"]') and "authorization" not in headers
    [(method, path, asked, body)] = provider.asked
    assert (method, path, asked["accept"]) == ("POST", "/introspect", "application/json")
    assert body == "token=opaque-2YotnFZFEjr1&token_type_hint=access_token"
    # Another token is another question.
    assert ask(gate, "opaque-2YotnFZFEjr2").status == 401 and len(provider.asked) == 2


DENIED = [
    (401, {"active": False}),
    (401, {"active": False, "sub": "jane"}),
    (401, {"exp": 1}),
    (401, {"exp": "soon"}),
    (401, {"nbf": 99999999999}),
    (401, {"iss": "https://id.example.org"}),
    (401, {"iss": None}),
    (401, {"aud": ["other", "chats"]}),
    (401, {"aud": None}),
    (403, {"client_id": "other"}),
    (403, {"client_id": None}),
    (403, {"sub": None}),
    (403, {"scope": "chat:read"}),
    (403, {"scope": "chat:writer"}),
    (200, {"aud": ["other", "chat"]}),
    (200, {"exp": None}),
    (503, {"active": "true"}),
    (503, {"active": None}),
]


def test_what_the_server_says_is_judged(gate, provider, mock):
    for n, (status, said) in enumerate(DENIED):
        provider.tokens["opaque-judged-%d" % n] = GOOD | said
        mock.forget()
        assert ask(gate, "opaque-judged-%d" % n).status == status, said
        assert len(mock.requests) == (status == 200), said


def test_what_is_no_token_is_asked_of_nobody(gate, provider, mock):
    assert gate.call("POST", "/asked/reflect", b"x").status == 401
    for header in ["Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "Bearer " + "x" * 8193]:
        answer = gate.call("POST", "/asked/reflect", b"x", {"authorization": header})
        assert answer.status == 401 and answer.headers["www-authenticate"].startswith("Bearer"), header
    # A token of the gateway's own is shown to nobody.
    assert ask(gate, gate.token).status == 401
    assert not provider.asked and not mock.requests


def test_a_token_that_was_taken_back_passes_no_longer_than_it_is_kept(gate, provider, mock):
    """Where nothing is kept each request asks; a token ends when it says so, whatever is kept."""
    provider.tokens["opaque-a+b/c="] = GOOD
    path = "/every/reflect?x=1&t=opaque-a%2Bb/c%3D"
    assert gate.call("POST", path, b"x").status == 200
    assert mock.requests[-1].path == "/every/reflect?x=1"
    provider.tokens["opaque-a+b/c="] = {"active": False}
    assert gate.call("POST", path, b"x").status == 401 and len(provider.asked) == 2
    provider.tokens["opaque-brief"] = GOOD | {"exp": int(time.time()) + 2}
    assert ask(gate, "opaque-brief").status == 200
    provider.tokens["opaque-brief"] = {"active": False}
    gate.wait_for(lambda: ask(gate, "opaque-brief").status == 401, seconds=20)


def test_requests_that_come_at_once_ask_once(gate, provider, mock):
    provider.tokens["opaque-shared"] = GOOD
    provider.holding.set()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = [pool.submit(ask, gate, "opaque-shared") for _ in range(16)]
        gate.wait_for(lambda: provider.asked)
        provider.go_on.set()
        assert {answer.result().status for answer in answers} == {200}
    assert len(provider.asked) == 1


@pytest.mark.parametrize("how", ["gone", "slow", "broken", "refuses"])
def test_without_an_answer_nobody_passes(gate, provider, mock, how):
    provider.tokens["opaque-lost"] = GOOD
    path = "/stranger/reflect" if how == "refuses" else "/asked/reflect"
    if how == "gone":
        provider.server.shutdown()
        provider.server.server_close()
    elif how == "slow":
        provider.holding.set()
    elif how == "broken":
        provider.status = 500
    answer = ask(gate, "opaque-lost", path)
    assert (answer.status, answer.headers["retry-after"], mock.requests) == (503, "1", [])
    gate.wait_for(lambda: any("tokens are not verified" in line for line in gate.log))
    gate.wait_for(lambda: any("unverifiable_token" in line for line in gate.log))
    if how == "gone":
        provider.__enter__()
    else:
        provider.status = 200
        provider.holding.clear()
        provider.go_on.set()
    if how != "refuses":
        gate.wait_for(lambda: ask(gate, "opaque-lost").status == 200)


def test_answers_of_any_size_are_bounded(gate, provider, mock):
    provider.tokens["opaque-large"] = GOOD | {"more": "x" * (64 << 10)}
    assert ask(gate, "opaque-large").status == 503 and not mock.requests


def test_a_client_of_openai_brings_one_and_reads_why_it_does_not_pass(gate, provider, mock):
    openai = pytest.importorskip("openai")
    provider.tokens["opaque-sdk"] = GOOD
    client = lambda key: openai.OpenAI(api_key=key, base_url=gate.url + "/v1", max_retries=0)
    messages = [{"role": "user", "content": "EMAIL: jane.doe@harbour-post.com |"}]
    answer = client("opaque-sdk").chat.completions.create(model="plain", messages=messages)
    assert "jane.doe@harbour-post.com" in answer.choices[0].message.content
    assert "jane.doe" not in mock.requests[-1].everything() and "opaque-sdk" not in mock.requests[-1].everything()
    with pytest.raises(openai.AuthenticationError):
        client("opaque-none").chat.completions.create(model="plain", messages=messages)
    provider.status = 500
    with pytest.raises(openai.InternalServerError) as told:
        client("opaque-other").chat.completions.create(model="plain", messages=messages)
    assert told.value.status_code == 503
