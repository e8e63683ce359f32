"""Names of models of one's own: which model answers, which comes next where it does not, and what is never sent twice."""

import json
import re
import socket
import threading

import pytest
from anthropic import Anthropic
from gateway import MINIMAL, Gateway, run
from llm_upstream import MINE, PROMPT, Answers, Upstream
from openai import APIStatusError, OpenAI
from test_openai import assert_unseen

CONFIG = (
    MINIMAL
    + """
[log]
format = "json"
access_file = "{home}/access.jsonl"

[usage]
count = "all"

[[usage.prices]]
model = "second"
input = 1000
output = 0

[upstreams.one]
peers = ["{upstream}"]
headers = {{ authorization = "Bearer key-of-one" }}
timeouts = {{ first_byte = "500ms" }}

[upstreams.other]
peers = ["OTHER"]
headers = {{ authorization = "Bearer key-of-other" }}

[upstreams.nobody]
peers = ["http://127.0.0.1:{nobody}"]

[models.fast]
targets = [{{ model = "first" }}, {{ upstream = "other", model = "second", weight = 0 }}]

[models.steady]
targets = [{{ model = "first" }}, {{ upstream = "other", model = "second", weight = 0 }}]
fallback = ["429", "5xx", "timeout"]

[models.shared]
targets = [{{ model = "first", weight = 3 }}, {{ upstream = "other", model = "second", weight = 1 }}]

[models.away]
targets = [{{ upstream = "nobody", model = "first" }}, {{ upstream = "other", model = "second", weight = 0 }}]

[models.gone]
targets = [{{ upstream = "nobody", model = "first" }}]

[[routes]]
name = "llm"
upstream = "one"
auth = "token"
models = ["fast", "steady", "shared", "away", "gone"]
redact = {{}}
"""
)


class Moody(Answers):
    """Answers as its server says: a status, silence, an end in the middle of nothing."""

    def answer(self, came):
        mood = self.mock.mood
        if mood == "silent":
            self.mock.woken.wait(5)
        if mood in ("silent", "broken"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return None
        if mood:
            return self.send(mood, "application/json", b'{"error":{"message":"no","type":"x","code":null}}')
        return super().answer(came)


class Server(Upstream):
    mood = 0
    woken = threading.Event()


@pytest.fixture(scope="module")
def ends():
    with Server(handler=Moody) as one, Server(handler=Moody) as other:
        with Gateway(one.url, CONFIG.replace("OTHER", other.url)) as gateway:
            yield gateway, one, other


@pytest.fixture
def road(ends):
    gateway, one, other = ends
    for each in (one, other):
        each.begin(shape="openai_chat")
        each.mood = 0
    return ends


def client(gateway, *args):
    made = run("tokens", "create", "-c", gateway.file, "--route", "llm", *args)
    return OpenAI(api_key=made.out.strip(), base_url=gateway.url + "/v1", max_retries=0)


def chat(client, model, **more):
    messages = [{"role": "user", "content": PROMPT}]
    return client.chat.completions.create(model=model, messages=messages, **more)


def said(chunks):
    """The text of a stream's first choices."""
    pieces = [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.index < 2]
    return "".join(piece for piece in pieces if isinstance(piece, str))


def asked(server):
    return [one.json()["model"] for one in server.requests]


def keys(server):
    return {value for one in server.requests for name, value in one.headers if name.lower() == "authorization"}


def test_the_provider_is_asked_for_its_own_model_and_the_caller_sees_its_values(road):
    gateway, one, other = road
    answer = chat(client(gateway), "fast")
    assert MINE["EMAIL"] in answer.choices[0].message.content
    assert asked(one) == ["first"] and asked(other) == []
    assert_unseen(one.requests[0].everything(), tuple(MINE.values()))
    assert MINE["CARD"] in said(chat(client(gateway), "fast", stream=True)) and asked(one) == ["first", "first"]
    # What is no name of ours goes as it is.
    chat(client(gateway), "first")
    chat(client(gateway), "FAST")
    assert asked(one)[2:] == ["first", "FAST"]


@pytest.mark.parametrize("stream", [False, True])
def test_where_one_refuses_another_answers_with_a_key_of_its_own(road, stream):
    gateway, one, other = road
    one.mood = 429
    answer = chat(client(gateway), "fast", stream=stream)
    text = said(answer) if stream else answer.choices[0].message.content
    assert MINE["EMAIL"] in text
    assert (asked(one), asked(other)) == (["first"], ["second"])
    assert (keys(one), keys(other)) == ({"Bearer key-of-one"}, {"Bearer key-of-other"})
    bodies = [server.requests[0].json() for server in (one, other)]
    assert [body.pop("model") for body in bodies] == ["first", "second"] and bodies[0] == bodies[1]
    assert_unseen(other.requests[0].everything(), tuple(MINE.values()))
    log = gateway.home / "access.jsonl"
    lines = lambda: [json.loads(row) for row in log.read_text().splitlines()]
    line = gateway.wait_for(lambda: [line for line in lines() if line["model"] == "second"][-1:])[0]
    assert (line["upstream"], line["attempts"]) == ("other", 2)
    assert line["cost_usd"] == "0.012"
    assert re.search(r'portcullis_model_fallbacks_total\{route="llm"\} [1-9]', gateway.metrics())


@pytest.mark.parametrize("mood", [500, 529, "broken", "silent"])
def test_what_may_have_been_acted_upon_is_sent_again_only_where_that_is_said(road, mood):
    gateway, one, other = road
    one.mood = mood
    with pytest.raises(APIStatusError) as failed:
        chat(client(gateway), "fast")
    assert failed.value.status_code >= 500 and asked(other) == []
    assert chat(client(gateway), "steady").choices
    one.woken.set()
    assert asked(other) == ["second"]


def test_what_could_not_be_sent_always_goes_on(road):
    gateway, one, other = road
    assert chat(client(gateway), "away").choices
    assert (asked(one), asked(other)) == ([], ["second"])
    with pytest.raises(APIStatusError) as failed:
        chat(client(gateway), "gone")
    assert failed.value.status_code == 502


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_the_caller_did_wrong_stays_wrong(road, status):
    gateway, one, other = road
    one.mood = status
    with pytest.raises(APIStatusError) as failed:
        chat(client(gateway), "steady")
    assert failed.value.status_code == status and asked(other) == []


def test_where_all_refuse_the_last_refusal_is_the_answer(road):
    gateway, one, other = road
    one.mood = other.mood = 429
    with pytest.raises(APIStatusError) as failed:
        chat(client(gateway), "fast")
    assert failed.value.status_code == 429 and (asked(one), asked(other)) == (["first"], ["second"])


def test_first_tries_are_shared_by_weight(road):
    gateway, one, other = road
    one_client = client(gateway)
    for _ in range(60):
        chat(one_client, "shared")
    # 3 to 1: the odds of either are less than one in a million.
    assert 24 <= len(asked(one)) <= 58 and len(asked(one)) + len(asked(other)) == 60


def test_a_token_covers_the_name_that_callers_ask_for(road):
    gateway, one, other = road
    assert chat(client(gateway, "--model", "fast"), "fast").choices
    with pytest.raises(APIStatusError) as refused:
        chat(client(gateway, "--model", "fast"), "first")
    assert refused.value.status_code == 403
    with pytest.raises(APIStatusError) as refused:
        chat(client(gateway, "--model", "first"), "fast")
    assert refused.value.status_code == 403 and asked(one) == ["first"]


def test_other_protocols_and_keys_of_the_callers_provider(road):
    gateway, one, other = road
    for each in (one, other):
        each.begin(shape="anthropic")
    one.mood = 429
    made = run("tokens", "create", "-c", gateway.file, "--route", "llm").out.strip()
    claude = Anthropic(api_key=made, base_url=gateway.url, max_retries=0, default_headers={"api-key": "mine"})
    answer = claude.messages.create(model="fast", max_tokens=9, messages=[{"role": "user", "content": PROMPT}])
    assert MINE["EMAIL"] in json.dumps(answer.to_dict(), ensure_ascii=False)
    assert (asked(one), asked(other)) == (["first"], ["second"])
    seen = [value for server in (one, other) for request in server.requests for _, value in request.headers]
    assert "mine" not in seen and made not in " ".join(seen)


def test_a_budget_counts_one_request_however_often_it_is_given_on(road):
    gateway, one, other = road
    one.mood = 429
    chatter = client(gateway, "--budget", "2requests/day")
    assert chat(chatter, "fast").choices and chat(chatter, "fast").choices
    with pytest.raises(APIStatusError) as spent:
        chat(chatter, "fast")
    assert spent.value.code == "insufficient_quota" and len(asked(other)) == 2


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace('"fast", "steady"', '"fats", "steady"'), "there is no [models.fats]"),
        (lambda text: text.replace('"nobody", model', '"nobdy", model'), "there is no [upstreams.nobdy]"),
        (lambda text: text.replace('auth = "token"', 'auth = "none"'), "`models` needs a route to an upstream"),
        (lambda text: text.replace('"5xx", "timeout"', '"4xx"'), "429"),
        (lambda text: text.replace("weight = 3", "weight = 0").replace("weight = 1", "weight = 0"), "must have a `weight`"),
        (lambda text: text.replace('[{{ upstream = "nobody", model = "first" }}]', "[]"), "at least one of `targets`"),
    ],
)
def test_names_that_lead_nowhere_are_told_with_their_place(tmp_path, change, complaint):
    file = tmp_path / "portcullis.toml"
    text = change(CONFIG.replace("OTHER", "http://127.0.0.1:9")).format(
        port=1, admin=2, nobody=3, upstream="http://127.0.0.1:4", home=tmp_path
    )
    file.write_text(text)
    done = run("check", "-c", file)
    assert done.returncode == 3 and complaint in done.err and "portcullis.toml:" in done.err, done.err
