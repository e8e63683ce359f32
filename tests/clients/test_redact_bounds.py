"""What one call may cost: queries that would take for ever, and undoing that nobody waits for."""

import base64
import contextlib
import json
import socket
import time

import pytest
from gateway import MINIMAL, PATIENCE, Gateway, cpu


def post(gateway, path, body):
    return gateway.api(path, json.dumps(body), **{"content-type": "application/json"})


QUERIES = [
    "$[?" + "(" * 900 + "@.a" + ")" * 900 + "]",
    "$[?" + "!(" * 1000 + "@.a" + ")" * 1000 + "]",
    "$[?" + "(" * 4000,
    "$" + "[?@" * 22 + "]" * 22,
    "$" + "[?@" * 1300,
    "$[?value(" * 20 + "@" + ")]" * 20,
    "$[" + "*," * 1299 + "*]",
    "$" + "[*,*]" * 40,
    "$[*,0:][*,0:][?@==1||@==1]" + "[*,*]" * 18,
]


@pytest.mark.parametrize("query", QUERIES, ids=[query[:20] for query in QUERIES])
def test_a_query_that_would_take_for_ever_is_refused_at_once(gateway, query):
    began = time.monotonic()
    answer = post(gateway, "/v1/redact_structured", {"data": [[[list(range(1000))]]], "jsonp": [query]})
    assert answer.status == 400 and time.monotonic() - began < 2 * PATIENCE, answer.body
    assert gateway.call("GET", "/healthz").status == 200


def test_an_allow_list_of_large_patterns_is_refused_soon(gateway):
    patterns = [{"regex": r"(?i)\w{%d}[a-z]{0,90}x%d" % (1 + n % 9, n)} for n in range(1000)]
    began = time.monotonic()
    answer = post(gateway, "/v1/redact", {"text": "x", "allow_list": patterns})
    assert answer.status == 400 and "too large together" in answer.body.decode()
    assert time.monotonic() - began < 20 * PATIENCE
    assert post(gateway, "/v1/redact", {"text": "x", "allow_list": [{"regex": "ACME-%d" % n} for n in range(1000)]}).status == 200


def test_undoing_stops_when_its_caller_leaves(gateway):
    def rule(name, number):
        tweak = base64.b64encode(b"%07d" % number).decode()
        return {"rule": name, "redaction_type": "fpe", "fpe_alphabet": "alphanumeric", "fpe_tweak": tweak}

    # A context of two hundred groups, each of which is looked for behind every word.
    data = {"p%d" % n: "mail q%d@harbour-post.com from 10.1.2.%d" % (n, n) for n in range(100)}
    paths = [
        {"path": "$.p%d" % n, "rules": [rule("EMAIL_ADDRESS", 2 * n), rule("IP_ADDRESS", 2 * n + 1)]} for n in range(100)
    ]
    made = post(gateway, "/v1/redact_structured", {"data": data, "jsonp": paths}).json()["result"]
    assert made["count"] == 200
    undone = post(gateway, "/v1/unredact", {"redacted_data": made["redacted_data"], "fpe_context": made["fpe_context"]})
    assert undone.json()["result"]["data"] == data

    body = json.dumps({"redacted_data": "a " * 1_000_000, "fpe_context": made["fpe_context"]}).encode()
    head = "POST /v1/unredact HTTP/1.1\r\nhost: x\r\nauthorization: Bearer %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    with contextlib.ExitStack() as callers:
        for _ in range(2):
            caller = callers.enter_context(socket.create_connection(("127.0.0.1", gateway.port)))
            caller.sendall((head % (gateway.token, len(body))).encode() + body)
        gateway.wait_for(lambda: (before := cpu(gateway.process.pid), time.sleep(0.5), cpu(gateway.process.pid) - before > 0.3)[-1])
    # They have left: soon nothing is worked at any more.
    gateway.wait_for(lambda: (before := cpu(gateway.process.pid), time.sleep(0.5), cpu(gateway.process.pid) - before < 0.1)[-1])
    assert post(gateway, "/v1/redact", {"text": "x " * 20_000 + data["p1"]}).status == 200


def test_what_a_call_finds_counts_as_what_it_holds():
    """The same size with nothing in it passes; what was held is given back."""
    limits = '[limits]\nbody = "1MiB"\ncollected = "1MiB"\nper_request = "2MiB"\nheld = "4MiB"\n'
    with Gateway("", MINIMAL + limits) as gateway:
        dense, empty = "a@harbour.com " * 40_000, "nothing of it " * 40_000
        held = lambda: next(line for line in gateway.metrics().splitlines() if line.startswith("portcullis_held_bytes "))
        for debug in (False, True):
            refused = gateway.api("/v1/redact", {"text": dense, "debug": debug})
            assert refused.status == 413, refused.body[:300]
            error = refused.json()["result"]["errors"][0]
            assert error["code"] == "IsTooBig" and str(2 << 20) in error["detail"]
            rows = {"data": {"rows": [dense[:1400]] * 300}, "jsonp": ["$.rows[*]"], "debug": debug}
            assert gateway.api("/v1/redact_structured", rows).status == 413
        assert gateway.api("/v1/redact", {"text": empty}).status == 200
        few = gateway.api("/v1/redact", {"text": dense[:14_000]})
        assert few.status == 200 and few.json()["result"]["count"] == 1000
        gateway.wait_for(lambda: held().split()[1] == "0")
