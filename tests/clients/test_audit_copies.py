"""Lines of the audit log in the store and at a collector: all of them, once, in order, whatever is gone in between; and both
prove and export what the file says."""

import contextlib
import csv
import http.server
import io
import json
import os
import pathlib
import sqlite3
import threading
import time

import pytest
from database import config, database, server  # noqa: F401  (fixtures)
from gateway import MINIMAL, Gateway, run
from llm_upstream import PROMPT, Upstream

ROUTES = """
[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "open"
path = "/open"
strip_prefix = true
upstream = "mock"
auth = "none"
redact = {{}}
"""
AUDIT = """
[audit]
file = "{home}/audit.jsonl"
node = "%s"
%s
"""
CHAT = {"model": "m-1", "messages": [{"role": "user", "content": PROMPT}]}


def audited(node="one", more="store = true"):
    return ROUTES + AUDIT % (node, more)


def ask(gateway, times=1):
    for _ in range(times):
        assert gateway.call("POST", "/open/v1/chat/completions", CHAT).status == 200


def lines(gateway, name="audit.jsonl"):
    path = gateway.home / name
    return path.read_text().splitlines() if path.exists() else []


def audit(gateway, *args):
    return run("audit", args[0], "-c", gateway.file, *args[1:])


def exported(gateway, *args):
    done = audit(gateway, "export", "--store", *args)
    assert done.returncode == 0, done.err
    return done.out.splitlines()


def verified(gateway, *args):
    """What each log ends with."""
    done = audit(gateway, "verify", "--store", *args)
    assert done.returncode == 0, done.err
    return dict(line.split("\t") for line in done.out.splitlines())


def change(gateway, sql):
    with sqlite3.connect(gateway.home / "data/portcullis.sqlite") as store:
        store.execute(sql)
    store.close()


def test_the_store_has_every_line_and_any_change_there_is_found():
    with Upstream() as upstream, Gateway(upstream.url, MINIMAL + audited()) as gateway:
        ask(gateway, 3)
        gateway.wait_for(lambda: len(lines(gateway)) >= 3 and exported(gateway) == lines(gateway))
        [(log, link)] = verified(gateway).items()
        assert log.startswith("one/") and link == run("audit", "verify", gateway.home / "audit.jsonl").out.strip()
        # Over a restart, over a file that is moved away, and with a file that nobody knows the end of.
        gateway.restart()
        ask(gateway)
        gateway.wait_for(lambda: exported(gateway) == lines(gateway))
        (gateway.home / "audit.jsonl").rename(gateway.home / "audit.1.jsonl")
        gateway.wait_for(lambda: (ask(gateway), lines(gateway))[1], every=0.3)
        both = lambda: lines(gateway, "audit.1.jsonl") + lines(gateway)
        gateway.wait_for(lambda: exported(gateway) == both())
        ends = verified(gateway)
        assert list(ends) == [log], "one log goes over restarts and files"
        rows = list(csv.DictReader(io.StringIO("\n".join(exported(gateway, "--format", "csv", "--route", "open")))))
        assert {row["route"] for row in rows} == {"open"} and {row["node"] for row in rows} == {"one"}
        assert exported(gateway, "--until", "2020-01-01") == []
        assert verified(gateway, "--log", log) == ends
        assert audit(gateway, "verify", "--store", "--log", "other").returncode == 2
        gateway.stop()
        for sql in (
            "UPDATE audit SET line = replace(line, '\"status\":200', '\"status\":403') WHERE number = 2",
            "DELETE FROM audit WHERE number = 2",
            "UPDATE audit SET line = (SELECT line FROM audit WHERE number = 1) WHERE number = 2",
        ):
            change(gateway, "CREATE TABLE kept AS SELECT * FROM audit")
            change(gateway, sql)
            done = audit(gateway, "verify", "--store")
            assert done.returncode == 1 and log in done.err, done.err
            change(gateway, "DELETE FROM audit")
            change(gateway, "INSERT INTO audit SELECT * FROM kept")
            change(gateway, "DROP TABLE kept")
        assert verified(gateway) == ends


def test_what_was_moved_away_too_early_is_named_and_can_be_copied():
    with Upstream() as upstream, Gateway(upstream.url, MINIMAL + audited(more="")) as gateway:
        ask(gateway, 2)
        gateway.wait_for(lambda: len(lines(gateway)) >= 2)
        assert exported(gateway) == [], "nobody has asked for copies yet"
        first = lines(gateway)
        (gateway.home / "audit.jsonl").rename(gateway.home / "audit.1.jsonl")
        gateway.wait_for(lambda: (ask(gateway), lines(gateway))[1], every=0.3)
        gateway.config = MINIMAL + audited()
        gateway.restart()
        gateway.wait_for(lambda: exported(gateway) == lines(gateway))
        gateway.wait_for(lambda: any("are not copied" in line for line in gateway.log))
        [(log, _)] = verified(gateway).items()
        for _ in range(2):
            done = audit(gateway, "store", gateway.home / "audit.1.jsonl")
            assert done.returncode == 0, done.err
        assert len(verified(gateway)) == 2
        rest = [line for line in exported(gateway) if line not in exported(gateway, "--log", log)]
        assert rest[: len(first)] == first
        assert audit(gateway, "store", gateway.home / "mistyped.jsonl").returncode == 1


def test_lines_leave_the_store_after_their_time_and_the_rest_is_proved():
    with Upstream() as upstream, Gateway(upstream.url, MINIMAL + audited()) as gateway:
        ask(gateway, 3)
        gateway.wait_for(lambda: len(exported(gateway)) >= 3)
        gateway.stop()
        all = exported(gateway)
        change(gateway, "UPDATE audit SET at = 1000 WHERE number <= 2")
        gateway.start()
        gateway.wait_for(lambda: exported(gateway)[: len(all) - 2] == all[2:])
        done = audit(gateway, "verify", "--store")
        assert done.returncode == 0 and "goes on from 2:" in done.err


@server
def test_nodes_have_logs_of_their_own_in_one_database_and_lose_nothing_while_it_is_gone(config, database):  # noqa: F811
    with Upstream() as upstream:
        one = Gateway(upstream.url, config + audited("one"))
        with one, Gateway(upstream.url, config + audited("two"), token=one.token) as two:
            ask(one, 2)
            ask(two, 3)
            both = lambda: lines(one) + lines(two)
            one.wait_for(lambda: len(both()) >= 5 and exported(one) == both())
            assert [log.partition("/")[0] for log in verified(two)] == ["one", "two"]
            assert exported(two, "--log", "two") == lines(two)
            database.sql("ALTER TABLE portcullis_audit RENAME TO away")
            try:
                ask(one, 600)
                one.wait_for(lambda: 'portcullis_audit_lines_behind{to="store"} 0' not in one.metrics())
                assert any("the file holds them" in line for line in one.log)
            finally:
                database.sql("ALTER TABLE away RENAME TO portcullis_audit")
            one.wait_for(lambda: exported(one) == both())
            one.wait_for(lambda: 'portcullis_audit_lines_behind{to="store"} 0' in one.metrics())
            # One that ends leaves nothing behind.
            ask(one)
            assert one.stop() == 0
            assert exported(two) == both()
            verified(two)


def held(gateway):
    """The names of the files of the log that the process has open."""
    names = []
    for file in pathlib.Path("/proc/%d/fd" % gateway.process.pid).iterdir():
        with contextlib.suppress(OSError):
            names.append(os.readlink(file))
    return {name for name in names if "/audit" in name and "jsonl" in name}


@pytest.mark.skipif(not pathlib.Path("/proc/self/fd").exists(), reason="nobody says which files are open")
def test_a_file_that_was_removed_takes_no_room_though_nothing_follows_in_the_next():
    with Upstream() as upstream, Gateway(upstream.url, MINIMAL + audited()) as gateway:
        ask(gateway, 3)
        gateway.wait_for(lambda: len(lines(gateway)) >= 3 and exported(gateway) == lines(gateway))
        before = lines(gateway)
        (gateway.home / "audit.jsonl").unlink()
        # No request comes, as none gets in while a disk is full.
        gateway.wait_for(lambda: held(gateway) == {str(gateway.home / "audit.jsonl")})
        assert lines(gateway) == []
        ask(gateway, 2)
        gateway.wait_for(lambda: len(lines(gateway)) == 2 and exported(gateway) == before + lines(gateway))
        assert len(verified(gateway)) == 1


def test_a_file_that_was_cut_in_its_place_goes_on_being_copied():
    with Upstream() as upstream, Gateway(upstream.url, MINIMAL + audited()) as gateway:
        ask(gateway, 5)
        gateway.wait_for(lambda: len(lines(gateway)) >= 5 and exported(gateway) == lines(gateway))
        before = lines(gateway)
        os.truncate(gateway.home / "audit.jsonl", 0)
        ask(gateway, 3)
        gateway.wait_for(lambda: len(lines(gateway)) == 3 and exported(gateway) == before + lines(gateway))
        gateway.wait_for(lambda: any("was cut" in line for line in gateway.log))
        assert not any("are not copied" in line for line in gateway.log), "none is missing"
        assert len(verified(gateway)) == 1


class Collector(http.server.ThreadingHTTPServer):
    """A collector that takes log records over HTTP in JSON, read by OpenTelemetry's own definitions."""

    daemon_threads = True

    def __init__(self):
        self.bodies, self.heads, self.answer = [], [], 200
        self.answers = threading.Event()
        self.answers.set()
        super().__init__(("127.0.0.1", 0), Taker)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self):
        return "http://127.0.0.1:%d/v1/logs" % self.server_address[1]

    def records(self):
        logs = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
        from google.protobuf import json_format

        all = []
        for body in list(self.bodies):
            request = json_format.Parse(body, logs.ExportLogsServiceRequest())
            for resource in request.resource_logs:
                of = {one.key: one.value.string_value for one in resource.resource.attributes}
                assert (of["service.name"], of["service.instance.id"]) == ("gate", "one")
                all += [record for scope in resource.scope_logs for record in scope.log_records]
        return all

    def lines(self):
        return [record.body.string_value for record in self.records()]


class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.answers.wait(60)
        self.server.heads.append((self.path, self.headers.get("x-key")))
        if self.server.answer == 200:
            self.server.bodies.append(body)
        self.send_response(self.server.answer)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


OTLP = '[audit.otlp]\nendpoint = "%s"\nheaders = {{ x-key = {{ file = "key" }} }}\nservice = "gate"\n'


class WithKey(Gateway):
    def start(self, **how):
        (self.home / "key").write_text("of the collector\n")
        super().start(**how)


def test_a_collector_has_every_line_once_over_outages_and_restarts():
    collector = Collector()
    try:
        with Upstream() as upstream, WithKey(upstream.url, MINIMAL + audited(more=OTLP % collector.endpoint)) as gateway:
            ask(gateway, 2)
            assert gateway.call("GET", "/nowhere").status == 404
            gateway.wait_for(lambda: len(lines(gateway)) >= 3 and collector.lines() == lines(gateway))
            assert set(collector.heads) == {("/v1/logs", "of the collector")}
            record = collector.records()[0]
            line = json.loads(record.body.string_value)
            assert abs(record.time_unix_nano / 1e9 - time.time()) < 300
            assert (record.severity_text, record.severity_number, record.event_name) == ("INFO", 9, "portcullis.audit")
            assert (line["seq"], line["decision"]) == (1, "passed")
            assert collector.records()[2].severity_text == "WARN", "refused"
            collector.answer = 400
            ask(gateway, 3)
            gateway.wait_for(lambda: 'portcullis_audit_lines_behind{to="otlp"} 0' not in gateway.metrics())
            gateway.stop()
            count = len(collector.lines())
            collector.answer = 200
            gateway.start()
            ask(gateway)
            gateway.wait_for(lambda: len(lines(gateway)) == count + 4 and collector.lines() == lines(gateway))
            # What was written last is sent before the process ends.
            ask(gateway)
            assert gateway.stop() == 0
            assert collector.lines() == lines(gateway) and len(lines(gateway)) == count + 5
            assert not [value for value in ("maria", PROMPT) if value in "".join(collector.lines())]
    finally:
        collector.shutdown()
        collector.server_close()


def test_what_a_collector_that_does_not_answer_is_missing_is_counted_meanwhile():
    collector = Collector()
    more = '[audit.otlp]\nendpoint = "%s"\ntime = "60s"\n' % collector.endpoint
    try:
        with Upstream() as upstream, Gateway(upstream.url, MINIMAL + audited(more=more)) as gateway:
            behind = lambda count: 'portcullis_audit_lines_behind{to="otlp"} %d\n' % count in gateway.metrics()
            ask(gateway)
            gateway.wait_for(lambda: collector.bodies and behind(0))
            collector.answers.clear()
            ask(gateway, 2)
            gateway.wait_for(lambda: behind(2), seconds=5)
            ask(gateway, 5)
            gateway.wait_for(lambda: behind(7), seconds=5)
            collector.answers.set()
            gateway.wait_for(lambda: behind(0))
    finally:
        collector.answers.set()
        collector.shutdown()
        collector.server_close()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('node = ""', "`node`"),
        ('keep = "0s"', "`keep`"),
        ("stores = true", "stores"),
        ('[audit.otlp]\nendpoint = "ftp://x"', "URL"),
    ],
)
def test_settings_that_make_no_sense_are_told_with_their_place(tmp_path, said, why):
    file = tmp_path / "gate.toml"
    node = "" if "node" in said else 'node = "one"'
    file.write_text('[audit]\nfile = "a.jsonl"\n%s\n%s\n' % (node, said))
    done = run("check", "-c", file)
    assert done.returncode != 0 and why in done.err and "gate.toml:" in done.err, done.err
