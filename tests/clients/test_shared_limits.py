"""Rates that nodes count together, in a real Valkey or Redis: on all of them, and while it is gone."""

import concurrent.futures
import signal
import socket
import time

import pytest
from database import config, database, server  # noqa: F401  (fixtures)
from gateway import MINIMAL, Gateway, run
from valkey import PASSWORD, SHARED, Engine, engine, installed  # noqa: F401  (fixtures)

pytestmark = installed

ROUTES = """
[[routes]]
name = "slow"
path = "/slow"
respond = {{ status = 200 }}
rate = {{ requests = 10, per = "1h", by = "address" }}

[[routes]]
name = "keyed"
path = "/keyed"
respond = {{ status = 200 }}
auth = "token"
rate = {{ requests = 1000, per = "1h", by = "token" }}
"""


def ask(node, path="/slow", token=None):
    return node.call("GET", path, headers={"authorization": "Bearer " + token} if token else {})


def passed(nodes, path, count, token=None):
    """How many of so many requests to each of the nodes at once were answered."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda at: ask(nodes[at % len(nodes)], path, token).status, range(count * len(nodes))))
    assert set(answers) <= {200, 429}
    return answers.count(200)


@server
def test_a_rate_holds_over_nodes(config, engine):  # noqa: F811
    config += SHARED % engine.url + ROUTES
    with Gateway("", config) as one, Gateway("", config, token=one.token) as other:
        assert passed([one, other], "/slow", 15) == 10
        refused = [ask(node) for node in (one, other)]
        assert [answer.status for answer in refused] == [429, 429]
        # A turn comes every six minutes.
        assert all(0 < int(answer.headers["retry-after"]) <= 361 for answer in refused)
        # A token's own rate, and the route's: what one of them refuses the other does not count.
        made = run("tokens", "create", "-c", one.file, "--route", "keyed", "--rate", "6/1h")
        token = made.out.strip()
        assert passed([one, other], "/keyed", 10, token) == 6
        # Nothing in the engine tells who it was, and nothing in a log how it is reached.
        assert token not in engine.keys() and "127.0.0.1" not in engine.keys() and "portcullis:rate:" in engine.keys()
        for node in (one, other):
            assert "portcullis_shared_limits_available 1" in node.metrics()
            assert PASSWORD not in "\n".join(node.log)


@server
def test_a_node_that_starts_anew_gives_no_new_share(config, engine):  # noqa: F811
    config += SHARED % engine.url + ROUTES
    with Gateway("", config) as node:
        assert passed([node], "/slow", 12) == 10
        node.restart()
        assert ask(node).status == 429


@server
def test_without_the_engine_each_node_allows_its_part(config, engine):  # noqa: F811
    config += SHARED % engine.url + ROUTES
    with Gateway("", config) as one, Gateway("", config, token=one.token) as other:
        assert ask(one).status == 200
        engine.stop()
        # A tenth of the share is gone already, on the node that had it.
        assert passed([one], "/slow", 10) == 4 and passed([other], "/slow", 10) == 5
        for node in (one, other):
            metrics = node.metrics()
            assert "portcullis_shared_limits_available 0" in metrics and "portcullis_shared_limits_failures_total 0" not in metrics
            assert sum("is gone" in line for line in node.log) == 1 and PASSWORD not in "\n".join(node.log)
        engine.start()
        # It has forgotten everything, and is told by the nodes, which have let all ten pass.
        more = 0
        for node in (one, other):
            deadline = time.monotonic() + 10
            while "portcullis_shared_limits_available 0" in node.metrics() and time.monotonic() < deadline:
                more += ask(node).status == 200
                time.sleep(0.1)
        assert more + passed([one, other], "/slow", 10) == 0


@server
@pytest.mark.parametrize("forgets", [True, False])
def test_an_engine_that_is_back_gives_no_new_share(config, engine, forgets):  # noqa: F811
    """What the nodes took together before, and alone since, counts there."""
    config += SHARED % engine.url + ROUTES.replace('per = "1h", by = "address"', 'per = "20s", by = "address"')
    with Gateway("", config) as one, Gateway("", config, token=one.token) as other:
        nodes = [one, other]
        # A share of ten, and one more each two seconds.
        begun, total = time.monotonic(), passed(nodes, "/slow", 10)
        if forgets:
            engine.stop()
        else:
            engine.process.send_signal(signal.SIGSTOP)
        while time.monotonic() < begun + 12:
            total += passed(nodes, "/slow", 1)
            time.sleep(0.1)
        if forgets:
            engine.start()
        else:
            engine.process.send_signal(signal.SIGCONT)
        while time.monotonic() < begun + 18:
            total += passed(nodes, "/slow", 1)
            time.sleep(0.1)
        assert all("portcullis_shared_limits_available 1" in node.metrics() for node in nodes)
        assert total <= 11 + (time.monotonic() - begun) / 2, total


def test_an_engine_that_was_never_there_is_no_outage(tmp_path):
    engine = Engine(tmp_path)
    with Gateway("", MINIMAL + SHARED % engine.url + ROUTES) as node:
        assert passed([node], "/slow", 10) == 5
        assert "portcullis_shared_limits_available 0" in node.metrics()


def test_an_engine_that_hangs_costs_a_wait_a_second(tmp_path):
    """What listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = "redis://127.0.0.1:%d" % silent.getsockname()[1]
        shared = (SHARED % url).replace('"2s"', '"200ms"')
        with Gateway("", MINIMAL + shared + ROUTES) as node:
            assert passed([node], "/slow", 10) == 5


@pytest.mark.parametrize("url", ["postgres://a", "redis://a:b", "hunter2", "redis://user:hunter2@[::1"])
def test_a_url_that_is_none_is_said_without_it(tmp_path, url):
    file = tmp_path / "portcullis.toml"
    file.write_text('data = "data"\n[[routes]]\nname = "a"\nrespond = { status = 200 }\n[limits.shared]\nurl = "%s"\n' % url)
    done = run("check", "-c", file)
    assert done.returncode != 0 and "6:7" in done.err and "hunter2" not in done.err, done.err
