"""Budgets that nodes spend from together, in a real Valkey or Redis: exact over all nodes, and after any of it has died."""

import concurrent.futures
import json
import time

from database import config, database, server  # noqa: F401  (fixtures)
from gateway import Gateway, run
from llm_upstream import Upstream
from test_nodes import CHAT, ROUTE, TAKEN, ask
from valkey import SHARED, engine, installed  # noqa: F401  (fixtures)

pytestmark = installed


def key_of(node, budget):
    return run("tokens", "create", "-c", node.file, "--route", "keys", "--budget", budget).out.strip()


def passed(nodes, key, count):
    """How many of so many requests to each of the nodes at once were answered."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda at: ask(nodes[at % len(nodes)], key), range(count * len(nodes))))
    assert set(answers) <= {200, 429}
    return answers.count(200)


def spent(database):  # noqa: F811
    """What the database has for the one account there is."""
    rows = database.rows("SELECT convert_from(value, 'UTF8') FROM portcullis_records WHERE kind = 'usage.spent'")
    return json.loads(rows[0]) if rows else {"requests": 0}


@server
def test_a_budget_is_exact_over_nodes(config, engine):  # noqa: F811
    config += SHARED % engine.url + ROUTE
    with Upstream() as upstream:
        one = Gateway(upstream.url, config)
        with one, Gateway(upstream.url, config, token=one.token) as other:
            # A new engine counts each node for both at first.
            time.sleep(3)
            key = key_of(one, "10requests/day")
            assert passed([one, other], key, 15) == 10
            # Tokens: one after the other, at once, without waiting for what is written once a second.
            key = key_of(one, "%dtokens/day" % (10 * TAKEN))
            answers = [ask(node, key) for _ in range(6) for node in (one, other)]
            assert answers == [200] * 10 + [429] * 2
            assert "portcullis:budget:" in engine.keys() and "pti_" not in engine.keys()
            left = one.call("POST", "/v1/chat/completions", CHAT, {"authorization": "Bearer " + key_of(one, "3requests/day")})
            assert "requests=3" in left.headers["portcullis-budget-remaining"]


@server
def test_what_a_killed_node_has_spent_stays_spent_and_is_written_by_another(config, database, engine):  # noqa: F811
    config += SHARED % engine.url + ROUTE
    with Upstream() as upstream:
        one = Gateway(upstream.url, config)
        with one, Gateway(upstream.url, config, token=one.token) as other:
            # Who was not long in touch with the engine itself takes nobody for dead.
            time.sleep(6)
            key = key_of(one, "9requests/day")
            # Nothing gets to the database any more; the engine has it all.
            with database.locked():
                assert passed([one], key, 5) == 5
                one.process.kill()
                one.process.wait(20)
            assert spent(database)["requests"] == 0
            assert passed([other], key, 2) == 2
            one.start()
            assert ask(one, key) == 200
            # A few seconds later it is somebody else's to write.
            other.wait_for(lambda: spent(database)["requests"] == 8)
            assert passed([one, other], key, 5) == 1


@server
def test_without_the_engine_a_budget_holds_by_parts(config, engine):  # noqa: F811
    config += SHARED % engine.url + ROUTE
    with Upstream() as upstream:
        one = Gateway(upstream.url, config)
        with one, Gateway(upstream.url, config, token=one.token) as other:
            time.sleep(3)
            key = key_of(one, "20requests/day")
            assert passed([one, other], key, 2) == 4
            engine.stop()
            # Each takes the other for as busy as itself, until it knows better.
            total = 4 + passed([one, other], key, 10)
            assert 12 <= total <= 20
            one.wait_for(lambda: "portcullis_shared_limits_available 0" in one.metrics(), 10)
            engine.start()
            # It has forgotten everything, and is told again.
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and total < 20:
                total += passed([one, other], key, 1)
            assert total == 20
            one.wait_for(lambda: "portcullis_shared_limits_available 1" in one.metrics(), 10)
            time.sleep(3)
            assert passed([one, other], key, 3) == 0
