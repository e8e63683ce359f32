"""Upstreams that break: what the caller gets is an answer in its own protocol within the time-outs, or a connection that
is seen to be broken; what may have been acted on is never sent twice; and nobody gets another's answer."""

import http.client
import json
import os
import random
import socket
import threading
import time

import pytest
from faulty import Faulty
from gateway import MINIMAL, Gateway

CONFIG = MINIMAL + """
[log]
format = "json"

[upstreams.faulty]
peers = ["{upstream}"]
timeouts = {{ connect = "1s", first_byte = "1500ms", read = "1500ms", write = "2s", total = "5s" }}
# Faults are what this is about: they should reach the caller.
outliers = {{ failures = 0, rate = 0.0 }}

[upstreams.careful]
peers = ["{upstream}"]
repeat = "unsent"
timeouts = {{ connect = "1s", read = "1500ms" }}

[[routes]]
name = "careful"
path = "/careful"
upstream = "careful"
auth = "none"

[[routes]]
name = "untouched"
path = "/untouched"
upstream = "faulty"
auth = "none"

[[routes]]
name = "masked"
path = "/masked"
upstream = "faulty"
auth = "none"
redact = {{ requests = "mask", answers = "mask", protocol = "generic" }}

[[routes]]
name = "restored"
path = "/restored"
upstream = "faulty"
auth = "none"
redact = {{ protocol = "generic" }}

[[routes]]
name = "chat"
path = "/v1/chat"
upstream = "faulty"
auth = "none"
redact = {{}}
"""

# The most that any of these may take, by the time-outs above and the patience of a loaded machine.
LONGEST = 9.0

MAIL = "jane.doe@example.com"
CHAT = {"model": "plain", "messages": [{"role": "user", "content": "EMAIL: %s | done" % MAIL}]}
JSON = {"mail": MAIL, "words": ["and more than a hundred bytes of what is no value"] * 8}

# How a request is sent: path, body, and whether the answer is a stream of events.
KINDS = {
    "untouched": ("/untouched/reflect", JSON),
    "streamed": ("/masked/reflect", JSON),
    "collected": ("/restored/reflect", JSON),
    "chat": ("/v1/chat/completions", CHAT),
    "events": ("/v1/chat/completions", CHAT | {"stream": True}),
}

# What comes of it, for the kinds in their order: "ok"; a status, with an error in the caller's protocol; "event", a last
# event that says so; "cut", a connection that ends before the answer does.
TABLE = {
    "pass": ["ok"] * 5,
    "latency:60": ["ok"] * 5,
    "jitter:60": ["ok"] * 5,
    "rate:6000": ["ok"] * 5,
    "slice:64,1": ["ok"] * 5,
    "half_close": ["ok"] * 5,
    "refuse": [502] * 5,
    "blackhole": [504] * 5,
    "reset_after:0": [502] * 5,
    "reset_after:60": [502] * 5,
    "reset_after:330": ["cut", "cut", 502, 502, "event"],
    "close_after:0": [502] * 5,
    "close_after:60": [502] * 5,
    "close_after:330": ["cut", "cut", 502, 502, "event"],
    "stall_after:0": [504] * 5,
    "stall_after:60": [504] * 5,
    "stall_after:330": ["cut", "cut", 504, 504, "event"],
    "dribble:200": ["cut", "cut", 504, 504, "event"],
}


@pytest.fixture(scope="module")
def faulty(upstream):
    with Faulty(upstream.port) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def gate(faulty):
    with Gateway(faulty.url, CONFIG) as running:
        yield running


def asked(gate, path, body):
    """The status, the body, and whether it ended as its framing says."""
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=30)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        try:
            return answer.status, answer.read(), True
        except http.client.IncompleteRead as error:
            return answer.status, error.partial, False
        except (ConnectionError, http.client.HTTPException):
            return answer.status, b"", False
    finally:
        connection.close()


def outcome(kind, status, body, whole):
    """What a caller makes of an answer; fails where nobody could make anything of it."""
    if status >= 500:
        assert whole
        told = json.loads(body)
        if kind in ("chat", "events"):
            assert set(told) == {"error"} and told["error"]["type"] == "server_error" and told["error"]["message"], told
        else:
            assert told["status"] == "ProviderError" and told["summary"] and told["request_id"], told
        return status
    assert status == 200
    if not whole:
        return "cut"
    if kind == "events":
        assert body.endswith(b"\n\n")
        events = [one.removeprefix("data: ") for one in body.decode().split("\n\n") if one]
        last = events[-1]
        if last == "[DONE]":
            assert MAIL in "".join(content(one) for one in events[:-1])
            return "ok"
        assert json.loads(last)["error"]["type"] == "server_error", last
        return "event"
    assert MAIL in body.decode() or kind == "streamed"
    json.loads(body)
    return "ok"


def content(event):
    return "".join(choice["delta"].get("content") or "" for choice in json.loads(event)["choices"])


@pytest.mark.parametrize("mode", TABLE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_becomes_an_answer(gate, faulty, mock, kind, mode):
    expected = TABLE[mode][list(KINDS).index(kind)]
    faulty.drop()
    faulty.mode = mode
    began = time.monotonic()
    got = outcome(kind, *asked(gate, *KINDS[kind]))
    took = time.monotonic() - began
    assert got == expected
    assert took < LONGEST
    assert len([one for one in mock.requests if one.method == "POST"]) <= 1, "it was sent twice"


@pytest.mark.parametrize("kind", KINDS)
def test_bits_that_turn_over_never_hang(gate, faulty, kind):
    faulty.drop()
    faulty.mode = "flip:60"
    for _ in range(8):
        began = time.monotonic()
        try:
            status, _, _ = asked(gate, *KINDS[kind])
            assert 200 <= status < 600
        except http.client.HTTPException as error:
            pytest.fail("not HTTP: %r" % error)
        assert time.monotonic() - began < LONGEST
        faulty.drop()


@pytest.mark.parametrize("mode", ["hint:100", "hint:103", "refuse"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_before_an_answer_is_none(gate, faulty, kind, mode):
    """Leave to send the body, and early hints: what fails after them is told as ever."""
    faulty.drop()
    faulty.mode = mode
    path, body = KINDS[kind]
    body = json.dumps(body).encode()
    head = "POST %s HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n" % path
    with socket.create_connection(("127.0.0.1", gate.port), timeout=LONGEST) as caller:
        caller.sendall(head.encode() + b"content-length: %d\r\n\r\n" % len(body))
        answers, statuses = caller.makefile("rb"), []
        while not statuses or statuses[-1] < 200:
            statuses.append(int(answers.readline().split()[1]))
            while answers.readline() not in (b"\r\n", b""):
                pass
            if statuses == [100]:
                caller.sendall(body)
    assert statuses[-1] == 502, statuses
    lines = [json.loads(line) for line in gate.log if '"route"' in line]
    assert not [line for line in lines if line.get("status") in (100, 103)]


@pytest.mark.parametrize("asks", [CHAT, CHAT | {"stream": True}])
def test_who_leaves_leaves_nothing_behind(asks):
    """The upstream is still thinking: it is told."""
    with socket.create_server(("127.0.0.1", 0)) as upstream:
        upstream.settimeout(LONGEST)
        route = '[upstreams.up]\npeers = ["{upstream}"]\n[[routes]]\nname = "chat"\npath = "/"\nupstream = "up"\nauth = "none"\n'
        with Gateway("http://127.0.0.1:%d" % upstream.getsockname()[1], MINIMAL + route + "redact = {{}}\n") as gate:
            for heard in [b"", b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{"]:
                with socket.create_connection(("127.0.0.1", gate.port), timeout=LONGEST) as caller:
                    body = json.dumps(asks).encode()
                    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
                    caller.sendall(head + b"content-length: %d\r\n\r\n" % len(body) + body)
                    model, _ = upstream.accept()
                    model.settimeout(LONGEST)
                    assert model.recv(1 << 16)
                    model.sendall(heard)
                    time.sleep(0.2)
                with model:
                    while model.recv(1 << 16):
                        pass


@pytest.mark.parametrize("kind", ["untouched", "streamed", "collected"])
def test_an_answer_before_the_end_of_the_request_arrives(gate, faulty, kind):
    """The upstream answers at once and reads nothing, with more on its way than any buffer holds."""
    faulty.drop()
    faulty.mode = "early:413"
    path, _ = KINDS[kind]
    began = time.monotonic()
    status, body, _ = asked(gate, path, {"words": ["." * 6_000] * 1_000})
    assert status in (413, 504), (status, body[:200])
    assert time.monotonic() - began < LONGEST + 6


def test_a_request_that_may_have_been_read_is_not_sent_again(gate, faulty, mock):
    """A kept connection that ends as the second request comes: GET goes again, POST does not, and nothing does where the
    upstream says so."""
    for path, method, good in [
        ("/untouched/canned", "GET", True),
        ("/untouched/reflect", "POST", False),
        ("/restored/reflect", "POST", False),
        ("/careful/reflect", "GET", False),
    ]:
        faulty.drop()
        faulty.mode = "one_shot"
        body = json.dumps(JSON) if method == "POST" else None
        mock.canned["canned"] = (200, "text/plain", b"here", "", 0)
        statuses = [
            gate.call(method, path, body, {"content-type": "application/json"} if body else {}).status for _ in range(2)
        ]
        assert statuses == [200, 200 if good else 502], (path, method)


def test_an_upstream_that_is_not_there_is_told_at_once(gate, faulty):
    faulty.drop()
    faulty.mode = "refuse"
    began = time.monotonic()
    assert gate.call("GET", "/untouched/reflect").status == 502
    assert time.monotonic() - began < 2


def test_nobody_gets_what_is_anothers(faulty, upstream):
    """Random faults under load: every whole answer is the caller's own."""
    many = int(os.environ.get("PORTCULLIS_FAULTY_REQUESTS", 2000))
    faulty.drop()
    faulty.mode = "random"
    wrong, counts, lock = [], {}, threading.Lock()
    with Gateway(faulty.url, CONFIG) as gate:
        workers = [
            threading.Thread(target=worker, args=(gate, number, many // 16, (wrong, counts, lock))) for number in range(16)
        ]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
    print(counts)
    assert not wrong, wrong[:3]
    assert sum(counts.values()) == many // 16 * 16
    assert counts.get("ok", 0) > many // 3 and len(counts) > 2, counts
    upstream.forget()


def worker(gate, number, many, shared):
    wrong, counts, lock = shared
    choice = random.Random(number)
    for n in range(many):
        nonce = "n%02dx%06dz" % (number, n)
        mail = "%s@example.com" % nonce
        kind = choice.choice(["streamed", "collected", "chat", "events"])
        path, body = KINDS[kind]
        if kind in ("chat", "events"):
            body = body | {"messages": [{"role": "user", "content": "EMAIL: %s | %s" % (mail, nonce)}]}
        else:
            body = {"nonce": nonce, "mail": mail}
        try:
            status, got, whole = asked(gate, path, body)
        except (OSError, http.client.HTTPException) as error:
            result, problem = "no answer", repr(error)
        else:
            result, problem = judged(kind, nonce, (status, got, whole))
        with lock:
            counts[result] = counts.get(result, 0) + 1
            if problem:
                wrong.append((kind, nonce, problem))


def judged(kind, nonce, answer):
    status, got, whole = answer
    text = got.decode("utf-8", "replace")
    if kind == "events":
        told = [one.removeprefix("data: ") for one in text.split("\n\n") if one.startswith("data: {") and one.endswith("}")]
        text = "".join(content(one) for one in told if '"choices"' in one)
    others = [word for word in text.replace("@", " ").replace('"', " ").split() if is_nonce(word) and word != nonce]
    if others:
        return "another's", others[0]
    if status >= 500:
        return str(status), None
    if not whole:
        return "cut", None
    if kind == "events" and b'"error"' in got:
        return "event", None
    return ("ok", None) if nonce in text else ("ok", "its nonce is missing: %r" % text[:200])


def is_nonce(word):
    return len(word) == 11 and word[0] == "n" and word[3] == "x" and word[-1] == "z" and word[1:3].isdigit()
