"""Several gateways that share a database: budgets, sums and changes of tokens hold on all of them."""

import json
import time

import pytest
from database import config, database, server  # noqa: F401  (fixtures)
from gateway import Gateway, run
from llm_upstream import Upstream

ROUTE = """
[upstreams.mock]
peers = ["{upstream}"]

[usage]
count = "all"

[[routes]]
name = "keys"
upstream = "mock"
auth = "token"
redact = {{}}
"""
CHAT = {"model": "m-1", "max_tokens": 30, "messages": [{"role": "user", "content": "hello"}]}
TAKEN = 42


def ask(node, key):
    answer = node.call("POST", "/v1/chat/completions", CHAT, {"authorization": "Bearer " + key})
    return answer.status


def sums(node):
    rows = run("usage", "-c", node.file, "--json", "--by", "route").out.splitlines()
    return json.loads(rows[0]) if rows else {}


@server
def test_a_budget_holds_over_nodes_and_outlives_them(config):  # noqa: F811
    with Upstream() as upstream:
        one = Gateway(upstream.url, config + ROUTE)
        with one, Gateway(upstream.url, config + ROUTE, token=one.token) as other:
            made = run("tokens", "create", "-c", one.file, "--route", "keys", "--budget", "%dtokens/day" % (10 * TAKEN))
            key = made.out.strip()
            passed = 0
            for turn in range(5):
                statuses = [ask(node, key) for node in (one, other)]
                assert statuses == [200, 200], turn
                passed += 2
                # Each writes what was spent once a second.
                one.wait_for(lambda: sums(one).get("requests") == passed)
            # Who has not been asked for two seconds looks before it lets anybody in.
            time.sleep(2.5)
            assert [ask(one, key), ask(other, key)] == [429, 429]
            assert sums(one)["input_tokens"] == passed * 12
            with Gateway(upstream.url, config + ROUTE, token=one.token) as third:
                assert ask(third, key) == 429, "it has only the database"


OPEN = """
[[usage.budgets]]
name = "all"
period = "day"
tokens = 1000000

[[routes]]
name = "open"
path = "/open"
strip_prefix = true
upstream = "mock"
auth = "none"
redact = {{}}
"""


@server
def test_without_the_database_nothing_is_refused_and_nothing_lost(config, database):  # noqa: F811
    routes = ROUTE.replace("[[routes]]", OPEN + "\n[[routes]]")
    with Upstream() as upstream, Gateway(upstream.url, config + routes) as node:

        def left():
            answer = node.call("POST", "/open/v1/chat/completions", CHAT)
            return answer.status, answer.headers["portcullis-budget-remaining"].partition(";reset")[0]

        assert left() == (200, "all;tokens=1000000")
        node.wait_for(lambda: sums(node).get("requests") == 1)
        database.sql("ALTER TABLE portcullis_records RENAME TO away")
        try:
            for n in range(1, 4):
                assert left() == (200, "all;tokens=%d" % (1_000_000 - n * TAKEN))
            node.wait_for(lambda: "portcullis_usage_write_failures_total 0" not in node.metrics(), 10)
        finally:
            database.sql("ALTER TABLE away RENAME TO portcullis_records")
        node.wait_for(lambda: sums(node).get("requests") == 4, 10)


@server
@pytest.mark.parametrize("signal", ["TERM", "KILL"])
def test_a_node_that_ends_leaves_what_it_has_written(config, signal):  # noqa: F811
    with Upstream() as upstream:
        one = Gateway(upstream.url, config + ROUTE)
        with one, Gateway(upstream.url, config + ROUTE, token=one.token) as other:
            key = run("tokens", "create", "-c", one.file, "--route", "keys").out.strip()
            for _ in range(20):
                assert ask(one, key) == 200
            if signal == "KILL":
                one.wait_for(lambda: sums(one).get("requests") == 20)
                one.process.kill()
                one.process.wait(10)
            else:
                assert one.stop() == 0
            assert ask(other, key) == 200
            other.wait_for(lambda: sums(other).get("requests") == 21)
