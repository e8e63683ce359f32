"""What was issued in an earlier request comes back in the answer to a later one, to its caller alone and for a time; and
nobody gets a surrogate of a surrogate."""

import http.client
import json
import re
import sqlite3
import threading
import time

import openai
import pytest
from database import config as postgres
from database import database, server  # noqa: F401  (fixtures)
from gateway import MINIMAL, Gateway, routes_to, run
from providers import Provider

ROUTES = [
    ("one", "none", ""),
    ("two", "none", ""),
    ("held", "token", ""),
    ("caller", "none", 'tweak = "caller"'),
    ("brief", "none", 'remember = "2s"'),
    ("off", "none", 'remember = "0s"'),
    ("raw", "none", 'answers = "off"'),
    ("passing", "none", 'answers = "off", protocol = "generic"'),
]
CONFIG = """
[upstreams.provider]
peers = ["{upstream}"]
""" + routes_to("provider", ROUTES)

MAIL, CARD, SSN, LATER = "jane.doe@harbour-post.com", "5425 2334 3010 9903", "536-22-8726", "omar.haddad@fjord-mail.org"
VALUES = (MAIL, CARD, SSN, LATER)
TEXT = "Mail %s, card %s, SSN %s." % (MAIL, CARD, SSN)
ME, ANOTHER = {"authorization": "Bearer sk-me"}, {"authorization": "Bearer sk-another"}


@pytest.fixture(scope="module")
def provider():
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def module_gateway(provider):
    with Gateway(provider.url, MINIMAL + CONFIG) as running:
        yield running


@pytest.fixture
def gateway(module_gateway, provider):
    yield module_gateway
    assert not any(value in raw for _, _, _, raw in provider.came for value in VALUES)
    provider.came.clear()


def call(gateway, method, path, body=None, who=ME):
    answer = gateway.call(method, path, body, who)
    assert answer.status in (200, 202), answer.body
    return answer


def post(gateway, path, body, who=ME):
    return call(gateway, "POST", path, body, who).json()


def deltas_of(answer):
    """The text that the pieces of a stream say, without what repeats it at the end."""
    events = [json.loads(line[6:]) for line in answer.body.decode().splitlines() if line.startswith("data: {")]
    pieces = [event["delta"] for event in events if "delta" in event]
    return "".join(piece if isinstance(piece, str) else piece["text"] for piece in pieces)


def text_of(answer):
    """All that an answer says, whole or in events or lines."""
    body = answer.body.decode()
    data = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith(("data: ", "{", "["))]
    deltas = []

    def said(value, key=""):
        if isinstance(value, dict):
            for name, one in value.items():
                said(one, name)
        elif isinstance(value, list):
            for one in value:
                said(one, key)
        elif isinstance(value, str) and key in ("text", "content", "delta"):
            deltas.append(value)

    for line in data:
        said(json.loads(line))
    return "".join(deltas)


def has_all(answer, *values):
    text = text_of(answer)
    assert all(value in text for value in values), text


def has_none(answer, *values):
    text = answer.body.decode()
    assert not any(value in text for value in values), text


def surrogates(text):
    found = re.findall(r"[\w.+-]+@[\w.-]+\w|\d{4} \d{4} \d{4} \d{4}|\d{3}-\d{2}-\d{4}", text)
    assert len(found) >= 3, text
    return found


# ── values of an earlier request ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["response", "interaction"])
def test_a_chain_of_turns_restores_what_every_turn_had(gateway, kind, stream):
    path = "/one/v1/%ss" % kind
    first = post(gateway, path, {"input": TEXT})
    second = call(gateway, "POST", path, {"input": "And " + LATER, "previous_%s_id" % kind: first["id"], "stream": stream})
    has_all(second, *VALUES)
    if stream:
        assert all(value in deltas_of(second) for value in VALUES), deltas_of(second)
    ids = re.findall(r'"id": ?"((?:resp|int)_\w+)"', second.body.decode())
    third = call(gateway, "POST", path, {"input": "Again?", "previous_%s_id" % kind: ids[0], "stream": stream})
    has_all(third, *VALUES)
    if stream:
        assert all(value in deltas_of(third) for value in VALUES), deltas_of(third)
    # What is kept is shown to its caller as it was; to nobody else.
    has_all(call(gateway, "GET", path + "/" + ids[0]), *VALUES)
    has_none(call(gateway, "GET", path + "/" + ids[0], who=ANOTHER), *VALUES)


def test_an_official_client_goes_on_with_its_response(gateway):
    with openai.OpenAI(api_key="sk-me", base_url=gateway.url + "/one/v1", max_retries=0) as client:
        first = client.responses.create(model="m", input=TEXT)
        second = client.responses.create(model="m", input="And " + LATER, previous_response_id=first.id)
        assert all(value in second.output_text for value in VALUES)
        assert all(value in client.responses.retrieve(second.id).output_text for value in VALUES)


@pytest.mark.parametrize("named", [lambda name: name, lambda name: {"id": name}])
def test_a_conversation_that_was_made_before_its_first_turn(gateway, named):
    name = post(gateway, "/one/v1/conversations", {"items": [{"content": TEXT}]})["id"]
    has_all(call(gateway, "POST", "/one/v1/responses", {"input": "And " + LATER, "conversation": named(name)}), *VALUES)
    has_all(call(gateway, "POST", "/one/v1/responses", {"input": "And?", "conversation": named(name)}), *VALUES)
    has_all(call(gateway, "GET", "/one/v1/conversations/%s/items" % name), *VALUES)


def test_a_conversation_that_had_no_values_when_it_was_made(gateway):
    for made, added in (("conversations", "items"), ("threads", "messages")):
        name = post(gateway, "/one/v1/" + made, {})["id"]
        path = "/one/v1/%s/%s/%s" % (made, name, added)
        post(gateway, path, {"content": TEXT})
        has_all(call(gateway, "POST", path, {"content": "And " + LATER}), *VALUES)
        has_all(call(gateway, "GET", path), *VALUES)


def test_a_completion_that_is_kept(gateway):
    messages = [{"role": "user", "content": TEXT}]
    for store in (True, False):
        name = post(gateway, "/one/v1/chat/completions", {"messages": messages, "store": store})["id"]
        answer = call(gateway, "GET", "/one/v1/chat/completions/%s/messages" % name)
        (has_all if store else has_none)(answer, MAIL, CARD, SSN)


@pytest.mark.parametrize("made, body", [
    ("assistants", {"instructions": TEXT}),
    ("videos", {"prompt": TEXT}),
    ("agents", {"instructions": TEXT}),
    ("chat/completions", {"deferred": True, "messages": [{"role": "user", "content": TEXT}]}),
])  # fmt: skip
def test_what_is_read_later_is_restored_for_who_made_it(gateway, made, body):
    said = post(gateway, "/one/v1/" + made, body)
    path = "/one/v1/" + (made + "/" + said["id"] if "id" in said else "chat/deferred-completion/" + said["request_id"])
    has_all(call(gateway, "GET", path), MAIL, CARD, SSN)
    has_none(call(gateway, "GET", path, who=ANOTHER), *VALUES)


def test_a_response_that_is_not_kept_is_not_remembered(gateway):
    name = post(gateway, "/one/v1/responses", {"input": TEXT, "store": False})["id"]
    has_none(call(gateway, "GET", "/one/v1/responses/" + name), *VALUES)


def test_results_of_batches(gateway):
    requests = [{"custom_id": "a", "params": {"messages": [{"role": "user", "content": TEXT}]}}]
    name = post(gateway, "/one/v1/messages/batches", {"requests": requests})["id"]
    has_all(call(gateway, "GET", "/one/v1/messages/batches/%s/results" % name), MAIL, CARD, SSN)
    has_none(call(gateway, "GET", "/one/v1/messages/batches/%s/results" % name, who=ANOTHER), *VALUES)


def test_results_of_a_file_of_requests(gateway):
    """The file that they come in has an id that nobody knows before the batch is asked for."""
    line = json.dumps({"custom_id": "a", "body": {"messages": [{"role": "user", "content": TEXT}]}}) + "\n"
    file = json.loads(call(gateway, "POST", "/one/v1/files", line * 2, ME | {"content-type": "application/jsonl"}).body)["id"]
    batch = post(gateway, "/one/v1/batches", {"input_file_id": file, "endpoint": "/v1/chat/completions"})
    assert batch["output_file_id"] is None
    result = call(gateway, "GET", "/one/v1/batches/" + batch["id"]).json()["output_file_id"]
    has_all(call(gateway, "GET", "/one/v1/files/%s/content" % result), MAIL, CARD, SSN)
    has_none(call(gateway, "GET", "/one/v1/files/%s/content" % result, who=ANOTHER), *VALUES)
    # The file itself, and what another request says of it.
    assert TEXT in call(gateway, "GET", "/one/v1/files/%s/content" % file).body.decode()
    asked = {"input": [{"content": [{"type": "input_file", "file_id": file}, {"type": "input_text", "text": LATER}]}]}
    has_all(call(gateway, "POST", "/one/v1/responses", asked), *VALUES)


def test_nobody_else_and_no_other_route_gets_them(gateway):
    name = post(gateway, "/one/v1/responses", {"input": TEXT})["id"]
    asked = {"input": "What did I say?", "previous_response_id": name}
    has_none(call(gateway, "POST", "/one/v1/responses", asked, ANOTHER), *VALUES)
    has_none(call(gateway, "POST", "/two/v1/responses", asked), *VALUES)
    has_all(call(gateway, "POST", "/one/v1/responses", asked), MAIL, CARD, SSN)


def test_a_get_without_a_body_goes_on_without_one(gateway, provider):
    name = post(gateway, "/one/v1/responses", {"input": TEXT})["id"]
    call(gateway, "GET", "/one/v1/responses/" + name)
    _, _, headers, raw = provider.came[-1]
    assert raw == "" and not {"content-length", "transfer-encoding"} & {header.lower() for header in headers}


# ── sessions of MCP ─────────────────────────────────────────────────────────────────────────────────────────────────


def sampled(gateway, other, who=ME):
    """A tool call in whose stream the server asks back; the answer goes by `other`. What the stream said, event by event."""
    rpc = {"jsonrpc": "2.0", "id": 1}
    begun = gateway.call("POST", "/one/mcp", rpc | {"method": "initialize", "params": {}}, who)
    who = who | {"mcp-session-id": begun.headers["mcp-session-id"], "content-type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
    ask = rpc | {"method": "tools/call", "params": {"name": "ask", "arguments": "about " + MAIL}}
    connection.request("POST", "/one/mcp", json.dumps(ask), who)
    stream, events = connection.getresponse(), []
    while line := stream.readline():
        if not line.startswith(b"data: "):
            continue
        events.append(json.loads(line[6:]))
        if "method" in events[-1]:
            content = {"type": "text", "text": "I am %s with %s" % (LATER, CARD)}
            answer = {"jsonrpc": "2.0", "id": 77, "result": {"role": "assistant", "model": "m", "content": content}}
            assert other.call("POST", "/one/mcp", answer, who).status == 202
    connection.close()
    return [json.dumps(event) for event in events]


def test_what_another_request_of_the_session_had_comes_back_in_the_open_stream(gateway):
    asked, result = sampled(gateway, gateway)
    assert MAIL in asked and LATER in result and CARD in result, (asked, result)


@server
def test_the_other_request_may_go_by_another_gateway(postgres, provider):  # noqa: F811
    with Gateway(provider.url, postgres + CONFIG) as one, Gateway(provider.url, postgres + CONFIG, token=one.token) as other:
        asked, result = sampled(one, other)
        assert MAIL in asked and LATER in result and CARD in result, (asked, result)
        name = post(one, "/one/v1/responses", {"input": TEXT})["id"]
        asked = {"input": "And " + LATER, "previous_response_id": name}
        has_all(call(other, "POST", "/one/v1/responses", asked), *VALUES)
        # What one has issued the other knows within a second, though it has looked before.
        path, value = "/one/v1/chat/completions", "ingrid.olsen@kestrel-mail.com"
        call(one, "POST", path, chat("Mail " + value))
        surrogate = re.search(r"[\w.]+@[\w.-]+\w", provider.came[-1][3])[0]
        assert value not in provider.came[-1][3]
        time.sleep(1.2)
        call(other, "POST", path, chat("See " + surrogate))
        assert surrogate in provider.came[-1][3]
    provider.came.clear()


# ── how long, and who forgets ───────────────────────────────────────────────────────────────────────────────────────


def test_a_time_that_is_over_and_a_route_that_remembers_nothing(gateway):
    for route, wait in (("brief", 2.2), ("off", 0)):
        name = post(gateway, "/%s/v1/responses" % route, {"input": TEXT})["id"]
        asked = {"input": "What?", "previous_response_id": name}
        if route == "brief":
            has_all(call(gateway, "POST", "/brief/v1/responses", asked), MAIL, CARD, SSN)
        time.sleep(wait)
        has_none(call(gateway, "POST", "/%s/v1/responses" % route, asked), *VALUES)


def test_whoever_goes_on_is_remembered_on(gateway):
    name = post(gateway, "/brief/v1/responses", {"input": TEXT})["id"]
    for _ in range(4):
        time.sleep(1.1)
        answer = call(gateway, "POST", "/brief/v1/responses", {"input": "And?", "previous_response_id": name})
        has_all(answer, MAIL, CARD, SSN)
        name = answer.json()["id"]


def erase(gateway, *who, stdin=""):
    done = run("memory", "erase", "-c", gateway.file, *who, stdin=stdin)
    assert done.returncode == 0, done.err
    return done.err


def test_what_is_remembered_of_one_caller_is_erased(provider):
    with Gateway(provider.url, MINIMAL + CONFIG) as gateway:
        listed = run("tokens", "list", "-c", gateway.file).out.splitlines()[1].split("\t")[0]
        held = {"authorization": "Bearer " + gateway.token}
        cases = [
            ("one", ME, ("--key-stdin",), "sk-me\n"),
            ("held", held, ("--token", listed), ""),
            ("one", {}, ("--address", "127.0.0.1"), ""),
            ("one", ME, ("--all",), ""),
        ]
        for route, who, by, stdin in cases:
            path = "/%s/v1/responses" % route
            mine, theirs = (post(gateway, path, {"input": TEXT}, one)["id"] for one in (who, ANOTHER | held if route == "held" else ANOTHER))
            seen = surrogates(provider.came[-1][3])
            assert "erased" in erase(gateway, *by, stdin=stdin)
            has_none(call(gateway, "GET", path + "/" + mine, who=who), *VALUES)
            if by != ("--all",) and route != "held":
                has_all(call(gateway, "GET", path + "/" + theirs, who=ANOTHER), MAIL, CARD, SSN)
            # A second later nothing of it is in the gateway's memory either.
            time.sleep(1.1)
            call(gateway, "POST", "/%s/v1/chat/completions" % route, chat("See " + seen[0]), who)
            assert seen[0] not in provider.came[-1][3], by
    provider.came.clear()


@pytest.mark.parametrize("wrong", [(), ("--token", "pti_x"), ("--all", "--address", "::1"), ("--issuer", "x")])
def test_whom_to_forget_must_be_said(gateway, wrong):
    name = post(gateway, "/one/v1/responses", {"input": TEXT})["id"]
    assert run("memory", "erase", "-c", gateway.file, *wrong).returncode == 2
    assert run("memory", "erase", "-c", gateway.file, "--subject", "nobody", "--issuer", "x").returncode == 0
    has_all(call(gateway, "GET", "/one/v1/responses/" + name), MAIL, CARD, SSN)


# ── what does not forget ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_restart_and_another_master_key_in_the_middle(provider):
    with Gateway(provider.url, MINIMAL + CONFIG) as gateway:
        ids, seen = [None], []
        for turn in range(6):
            said = {"input": "Turn %d: %s" % (turn, TEXT), "previous_response_id": ids[-1]}
            answer = call(gateway, "POST", "/one/v1/responses", said)
            has_all(answer, MAIL, CARD, SSN)
            ids.append(answer.json()["id"])
            seen.append(surrogates(provider.came[-1][3]))
            if turn in (1, 3):
                gateway.restart()
            if turn in (2, 3):
                done = run("keys", "rotate-master", "-c", gateway.file)
                assert done.returncode == 0, done.err
        assert all(one == seen[0] for one in seen)
        asked = {"input": "What did I say?", "previous_response_id": ids[1]}
        has_all(call(gateway, "POST", "/one/v1/responses", asked), MAIL, CARD, SSN)
        stored = b"".join(file.read_bytes() for file in (gateway.home / "data").rglob("*") if file.is_file())
        for readable in (*VALUES, *ids[1:], *seen[0], "sk-me"):
            assert readable.encode() not in stored, readable
    provider.came.clear()


def test_a_store_that_takes_nothing_breaks_no_request(provider):
    with Gateway(provider.url, MINIMAL + CONFIG) as gateway:
        before = post(gateway, "/one/v1/responses", {"input": TEXT})["id"]
        lock = sqlite3.connect(gateway.home / "data/portcullis.sqlite", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        try:
            asked = {"input": "And " + LATER, "previous_response_id": before, "stream": True}
            connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
            began = time.monotonic()
            connection.request("POST", "/one/v1/responses", json.dumps(asked), ME | {"content-type": "application/json"})
            answer = connection.getresponse()
            first = answer.read(1)
            assert first and time.monotonic() - began < 1
            whole = first + answer.read()
            assert b"response.completed" in whole and time.monotonic() - began < 8
        finally:
            lock.execute("ROLLBACK")
            lock.close()
        gateway.wait_for(lambda: any("is not kept" in line for line in gateway.log))
        assert not any(value in line for line in gateway.log for value in VALUES)
    assert not any(value in raw for _, _, _, raw in provider.came for value in VALUES)
    provider.came.clear()


# ── no surrogate of a surrogate ─────────────────────────────────────────────────────────────────────────────────────


def chat(*turns):
    return {"model": "m", "messages": [{"role": "user" if n % 2 == 0 else "assistant", "content": turn} for n, turn in enumerate(turns)]}


@pytest.mark.parametrize("route", ["one", "raw", "caller", "passing"])
def test_a_surrogate_in_the_callers_text_stays(gateway, provider, route):
    path = "/%s/v1/chat/completions" % route
    call(gateway, "POST", path, chat(TEXT))
    seen = surrogates(provider.came[-1][3])
    said = " and ".join(seen)
    # Alone: nobody knows here what it stands for.
    answer = call(gateway, "POST", path, chat("My log says " + said))
    assert surrogates(provider.came[-1][3]) == seen
    has_none(answer, *VALUES)
    # Beside the values that it stands for: the same in every turn, and the conversation has issued it.
    answer = call(gateway, "POST", path, chat(TEXT, "You wrote " + said, "Yes, " + TEXT))
    assert surrogates(provider.came[-1][3]) == seen * 3
    if route in ("one", "caller"):
        has_all(answer, "You wrote %s and %s and %s" % (MAIL, CARD, SSN))
    # Written otherwise it is the same.
    call(gateway, "POST", path, chat("See %s or %s" % (seen[0].upper(), seen[1].replace(" ", "-"))))
    assert seen[0].upper() in provider.came[-1][3] and seen[1].replace(" ", "-") in provider.came[-1][3]


def test_what_another_caller_has_had_is_a_value_of_ones_own(gateway, provider):
    path = "/one/v1/chat/completions"
    call(gateway, "POST", path, chat(TEXT), ME)
    seen = surrogates(provider.came[-1][3])
    answer = call(gateway, "POST", path, chat("Mail %s, card %s, SSN %s." % tuple(seen)), {"x-api-key": "sk-somebody"})
    assert not any(one in provider.came[-1][3] for one in seen)
    has_all(answer, *seen)


def test_it_is_known_after_a_restart_too(provider):
    with Gateway(provider.url, MINIMAL + CONFIG) as gateway:
        path = "/one/v1/chat/completions"
        call(gateway, "POST", path, chat(TEXT))
        seen = surrogates(provider.came[-1][3])
        # Nobody waits until it is written.
        time.sleep(0.5)
        gateway.restart()
        call(gateway, "POST", path, chat(TEXT, "You wrote " + " and ".join(seen), "Yes"))
        assert surrogates(provider.came[-1][3]) == seen * 2
    provider.came.clear()


@pytest.mark.parametrize("route", ["one", "raw"])
def test_what_went_up_for_earlier_turns_goes_up_again_byte_for_byte(gateway, provider, route):
    """The bytes of a prompt up to the new turn are those of the turn before: providers' caches go by them."""
    turns, before = [], ""
    for n in range(8):
        turns.append("Turn %d: %s Also %s." % (n, TEXT, "user%d.last@harbour-post.com" % n))
        answer = call(gateway, "POST", "/%s/v1/chat/completions" % route, chat(*turns))
        prompt = json.dumps(json.loads(provider.came[-1][3])["messages"])[1:-1]
        assert prompt.startswith(before), n
        before = prompt
        turns.append(text_of(answer))


def test_many_at_once_are_not_mixed_up(gateway):
    def converse(n, failed):
        mail, who = "person%d.number@harbour-post.com" % n, {"authorization": "Bearer sk-%d" % n}
        try:
            name = post(gateway, "/one/v1/responses", {"input": "I am " + mail}, who)["id"]
            for _ in range(4):
                answer = call(gateway, "POST", "/one/v1/responses", {"input": "Who?", "previous_response_id": name}, who)
                found = set(re.findall(r"person\d+\.number@harbour-post\.com", answer.body.decode()))
                assert found == {mail}, found
                name = answer.json()["id"]
        except AssertionError as error:
            failed.append(error)

    failed = []
    threads = [threading.Thread(target=converse, args=(n, failed)) for n in range(12)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed, failed
