"""The audit log: what it says, that it can be proved, and what happens where it cannot be written."""

import csv
import io
import json
import os

import pytest
from gateway import MINIMAL, Gateway, run
from llm_upstream import MINE, PROMPT, Upstream

CONFIG = (
    MINIMAL
    + """
[audit]
file = "{home}/audit.jsonl"
node = "one"

[upstreams.mock]
peers = ["{upstream}"]

[usage]
count = "all"

[[usage.prices]]
model = "m-*"
input = 10
output = 100

[[routes]]
name = "open"
path = "/open"
strip_prefix = true
upstream = "mock"
auth = "none"
redact = {{}}

[[routes]]
name = "keys"
upstream = "mock"
auth = "token"
redact = {{}}
"""
)
CHAT = {"model": "m-1", "messages": [{"role": "user", "content": PROMPT}]}


@pytest.fixture(scope="module")
def ends():
    with Upstream() as upstream, Gateway(upstream.url, CONFIG) as running:
        yield running, upstream


def lines(gateway, name="audit.jsonl"):
    path = gateway.home / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def said(gateway, call, count=1):
    """The lines of one call."""
    seen = len(lines(gateway))
    call()
    gateway.wait_for(lambda: len(lines(gateway)) >= seen + count)
    return lines(gateway)[seen:]


def token(gateway, *args):
    return run("tokens", "create", "-c", gateway.file, *args).out.strip()


def verify(gateway, *args):
    return run("audit", "verify", gateway.home / "audit.jsonl", *args)


def test_a_line_says_who_asked_what_for_how_much_and_nothing_of_it(ends):
    gateway, _ = ends
    key = token(gateway, "--name", "research", "--route", "keys", "--model", "m-*", "--label", "team=red")
    headers = {"authorization": "Bearer " + key}
    [line] = said(gateway, lambda: gateway.call("POST", "/v1/chat/completions", CHAT, headers))
    assert (line["kind"], line["node"], line["route"], line["method"]) == ("request", "one", "keys", "POST")
    assert (line["token_name"], line["labels"], line["token"][:4]) == ("research", {"team": "red"}, "pti_")
    assert (line["path_protocol"], line["model"], line["upstream"]) == ("openai_chat", "m-1", "mock")
    assert (line["status"], line["decision"]) == (200, "passed")
    assert line["findings"]["EMAIL_ADDRESS"] >= 1 and line["redacted"] >= 4 and line["restored"] > 0
    assert line["tokens"] == {"input": 12, "cached_input": 7, "output": 30, "reasoning": 0, "estimated": False}
    assert line["cost_usd"] == "0.003120000"
    # Refused: by the model, by the token, by the API.
    [line] = said(gateway, lambda: gateway.call("POST", "/v1/chat/completions", CHAT | {"model": "o3"}, headers))
    assert (line["status"], line["decision"], line["reason"]) == (403, "refused", "out_of_scope")
    [line] = said(gateway, lambda: gateway.call("POST", "/v1/chat/completions", CHAT))
    assert (line["status"], line["decision"], line["reason"]) == (401, "refused", "unauthorized")
    [line] = said(gateway, lambda: gateway.call("POST", "/v1/redact", {"text": PROMPT}, headers))
    assert (line["route"], line["status"], line["decision"]) == ("/v1/redact", 403, "refused")
    [line] = said(gateway, lambda: gateway.call("POST", "/open/v1/chat/completions?user=" + MINE["EMAIL"], CHAT))
    assert line["route"] == "open" and "token" not in line
    whole = (gateway.home / "audit.jsonl").read_text()
    assert not [value for value in MINE.values() if value in whole] and key not in whole
    assert os.stat(gateway.home / "audit.jsonl").st_mode & 0o077 == 0
    # Probes are no requests of anybody's.
    seen = len(lines(gateway))
    gateway.call("GET", "/healthz")
    gateway.metrics()
    assert len(lines(gateway)) == seen


def test_changes_of_tokens_are_written_down(ends):
    gateway, _ = ends
    admin = {"authorization": "Bearer " + token(gateway, "--name", "admin", "--service", "token")}
    made = []
    call = lambda path, body: made.append(gateway.call("POST", "/v1beta/token/" + path, body, admin).json()["result"])
    for act, body in (("create", {"name": "x"}), ("update", {}), ("rotate", {}), ("revoke", {})):
        body |= {} if act == "create" else {"id": made[0]["id"]}
        change, request = said(gateway, lambda: call(act, body), 2)
        assert (change["kind"], change["act"], change["token_name"]) == ("change", "token." + act, "admin")
        assert change["target"] == made[0]["id"] and request["route"].endswith("/token/" + act)
    secrets = [one["token"] for one in made if "token" in one]
    whole = (gateway.home / "audit.jsonl").read_text()
    assert len(secrets) == 2 and not [secret for secret in secrets if secret in whole]


def test_the_log_goes_on_over_restarts_and_moves_and_any_change_is_found(ends, tmp_path):
    gateway, _ = ends
    ask = lambda: gateway.call("POST", "/open/v1/chat/completions", CHAT)
    said(gateway, ask)
    done = verify(gateway)
    assert done.returncode == 0, done.err
    link = done.out.strip()
    gateway.restart()
    said(gateway, ask)
    assert verify(gateway).returncode == 0
    # Moved away, as a rotation does it.
    count = len(lines(gateway))
    (gateway.home / "audit.jsonl").rename(gateway.home / "audit.1.jsonl")
    gateway.wait_for(lambda: (ask(), len(lines(gateway)) >= 2)[1], every=0.3)
    both = run("audit", "verify", gateway.home / "audit.1.jsonl", gateway.home / "audit.jsonl")
    assert both.returncode == 0, both.err
    total = len(lines(gateway, "audit.1.jsonl")) + len(lines(gateway))
    assert len(lines(gateway, "audit.1.jsonl")) >= count and "%d lines" % total in both.err
    # Cut off at its end: only whoever kept the link knows.
    copy = tmp_path / "copy.jsonl"
    rows = (gateway.home / "audit.1.jsonl").read_bytes().splitlines(keepends=True)
    copy.write_bytes(b"".join(rows[:2]))
    assert run("audit", "verify", copy).returncode == 0
    assert run("audit", "verify", copy, "--after", link).returncode == 1
    for change in (
        lambda rows: rows[:1] + rows[2:],
        lambda rows: [rows[1], rows[0], *rows[2:]],
        lambda rows: [rows[0], rows[0], *rows[1:]],
        lambda rows: [rows[0].replace(b'"status":200', b'"status":403').replace(b"passed", b"failed"), *rows[1:]],
        lambda rows: [*rows[:2], b'{"seq":3}\n', *rows[2:]],
        lambda rows: [rows[0].replace(b"pti_", b"pti-").replace(b'"redacted":', b'"redacted":1'), *rows[1:]],
    ):
        copy.write_bytes(b"".join(change(rows)))
        done = run("audit", "verify", copy)
        assert done.returncode == 1 and "line" in done.err, done.err


def test_it_is_exported_for_a_spreadsheet_that_runs_nothing(ends):
    gateway, _ = ends
    key = token(gateway, "--name", "=cmd()", "--route", "keys")
    headers = {"authorization": "Bearer " + key}
    said(gateway, lambda: gateway.call("POST", "/v1/chat/completions", CHAT, headers))
    file = gateway.home / "audit.jsonl"
    done = run("audit", "export", file, "--format", "csv", "--route", "keys")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert rows[-1]["token_name"] == "'=cmd()" and rows[-1]["cost_usd"] == "0.003120000"
    assert {row["route"] for row in rows} == {"keys"}
    done = run("audit", "export", file, "--until", "2020-01-01")
    assert done.returncode == 0 and done.out == ""


def test_a_file_that_is_no_log_stops_the_start_and_two_processes_never_share_one(ends):
    gateway, upstream = ends
    said(gateway, lambda: gateway.call("POST", "/open/v1/chat/completions", CHAT))
    beside = CONFIG.replace("{home}/audit.jsonl", str(gateway.home / "audit.jsonl"))
    with Gateway(upstream.url, beside) as other:
        other.call("POST", "/open/v1/chat/completions", CHAT)
        gateway.wait_for(lambda: lines(gateway, "audit.2.jsonl"))
        assert run("audit", "verify", gateway.home / "audit.2.jsonl").returncode == 0
    broken = gateway.home / "broken.jsonl"
    broken.write_text("not a log\n")
    with pytest.raises((RuntimeError, TimeoutError), match="audit.file"):
        Gateway(upstream.url, CONFIG.replace("{home}/audit.jsonl", str(broken))).__enter__()


@pytest.mark.parametrize(("on_failure", "status"), [("refuse", 503), ("pass", 200)])
def test_where_it_cannot_be_written_requests_are_refused_or_pass(on_failure, status):
    config = CONFIG.replace('node = "one"', 'on_failure = "%s"' % on_failure)
    with Upstream() as upstream:
        gateway = Gateway(upstream.url, config.replace("{home}/audit.jsonl", "/dev/full"))
        # What is no regular file is refused at the start.
        with pytest.raises((RuntimeError, TimeoutError), match="audit.file"):
            gateway.__enter__()
        with Gateway(upstream.url, config) as gateway:
            ask = lambda: gateway.call("POST", "/open/v1/chat/completions", CHAT).status
            assert ask() == 200
            gateway.wait_for(lambda: lines(gateway))
            # Another file in its place, which is not its own to write.
            os.rename(gateway.home / "audit.jsonl", gateway.home / "kept.jsonl")
            (gateway.home / "audit.jsonl").write_text("somebody else's\n")
            gateway.wait_for(lambda: ask() == status, 10, every=0.3)
            for _ in range(20):
                ask()
            told = [line for line in gateway.log if "portcullis::audit" in line and "audit.jsonl" in line]
            assert 1 <= len(told) <= 2 and "ERROR" in told[0] and "move the file away" in told[0], told
            if status == 503:
                answer = gateway.call("POST", "/open/v1/chat/completions", CHAT)
                assert b"audit log" in answer.body and answer.headers["retry-after"]
                assert 'faults_total{fault="audit_unwritten"}' in gateway.metrics()
            (gateway.home / "audit.jsonl").unlink()
            gateway.wait_for(lambda: ask() == 200, 10, every=0.3)
            gateway.wait_for(lambda: lines(gateway))
            files = [gateway.home / "kept.jsonl", gateway.home / "audit.jsonl"]
            assert run("audit", "verify", *files).returncode == 0, "what waited was written"
