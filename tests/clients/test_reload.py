"""A changed file is read as on SIGHUP, in whatever way it was put there; one that is wrong leaves what runs."""

import json
import os
import signal
import time

import pytest
from gateway import MINIMAL, Gateway, run

CONFIG = MINIMAL + """[log]
format = "json"
[reload]
every = "100ms"
[detect]
rule_files = ["rules"]
[sanitize.intel]
feeds = ["feed.txt"]
[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 200, body = "BODY" }}
"""
RULE = "[[rule]]\nname = 'ACME_A'\npatterns = [{ regex = 'ACME-[0-9]{4}' }]\nmatches = ['%s']\n"


class Reloading(Gateway):
    """Has the files that CONFIG names."""

    def start(self, every=0.02):
        (self.home / "rules").mkdir(exist_ok=True)
        (self.home / "feed.txt").write_text("http://bad.test/x\n")
        super().start(every)

    def text(self, body="one"):
        return CONFIG.replace("BODY", body).format(**self.places())

    def body(self):
        return self.call("GET", "/fixed").body.decode()

    def found(self, text, rule="ACME_A"):
        answer = self.api("/v1/redact", {"text": text, "rules": [rule]})
        return answer.status == 200 and answer.json()["result"]["count"]


@pytest.fixture
def gateway():
    with Reloading("", CONFIG) as running:
        yield running


def put(file, text):
    """Whole at once: a gateway that looks in between finds half of it."""
    draft = file.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(file)


def in_place(gateway, text):
    put(gateway.file, text)


def renamed(gateway, text):
    """As editors and deployment tools do it."""
    other = gateway.home / "next.toml"
    other.write_text(text)
    os.rename(other, gateway.file)


def kubernetes(gateway, text):
    """As the kubelet does it: the file is a link into `..data`, which is a link to a folder that is swapped."""
    version = gateway.home / ("..v%d" % len(list(gateway.home.iterdir())))
    version.mkdir()
    (version / "portcullis.toml").write_text(text)
    link = gateway.home / "..data_tmp"
    link.symlink_to(version.name)
    os.rename(link, gateway.home / "..data")
    if not gateway.file.is_symlink():
        gateway.file.unlink()
        gateway.file.symlink_to("..data/portcullis.toml")


@pytest.mark.parametrize("put", [in_place, renamed, kubernetes])
def test_a_changed_file_is_read_however_it_was_put_there(gateway, put):
    for body in ["two", "three"]:
        put(gateway, gateway.text(body))
        gateway.wait_for(lambda: gateway.body() == body)
    # What runs is changed before the log says so.
    gateway.wait_for(lambda: len(gateway.said("reloaded")) == 2)


def test_what_the_file_names_is_watched_too(gateway):
    (gateway.home / "rules/a.toml").write_text(RULE % "ACME-1234")
    gateway.wait_for(lambda: gateway.found("ask about ACME-5678"))
    (gateway.home / "feed.txt").write_text("http://worse.test/y\n")
    gateway.wait_for(lambda: len(gateway.said("reloaded")) == 2)


def test_a_wrong_file_leaves_what_runs_and_is_named_by_line_and_column(gateway):
    text = gateway.text("two").replace("status = 200", "status = 99")
    put(gateway.file, text)
    line = text[: text.index("status = 99")].count("\n") + 1
    why = gateway.wait_for(lambda: gateway.said("not reloaded"))[0]
    assert "portcullis.toml:%d:22:" % line in why, why
    assert gateway.body() == "BODY"
    assert 'portcullis_reloads_total{result="failed"} 1' in gateway.metrics()
    (gateway.home / "rules/a.toml").write_text(RULE % "ACME-12")
    put(gateway.file, gateway.text("two"))
    why = gateway.wait_for(lambda: [line for line in gateway.said("not reloaded") if "a.toml" in line])[0]
    assert "is not found" in why and gateway.body() == "BODY"
    # Said once, not at every look.
    assert len(gateway.said("not reloaded")) <= 3
    (gateway.home / "rules/a.toml").write_text(RULE % "ACME-1234")
    gateway.wait_for(lambda: gateway.body() == "two")
    assert 'portcullis_reloads_total{result="ok"} 1' in gateway.metrics()


def test_what_takes_a_restart_is_said(gateway):
    put(gateway.file, gateway.text("two") + "[limits]\nhead = '1KiB'\n[log]\n".replace("[log]\n", ""))
    line = gateway.wait_for(lambda: gateway.said("change with a restart only"))[0]
    assert "limits" in line and gateway.body() == "two"


def test_nobody_looks_where_nobody_is_to(gateway):
    put(gateway.file, gateway.text().replace('every = "100ms"', "watch = false\nevery = '100ms'"))
    gateway.wait_for(lambda: gateway.said("reloaded"))
    put(gateway.file, gateway.text("two").replace('every = "100ms"', "watch = false\nevery = '100ms'"))
    with pytest.raises(TimeoutError):
        gateway.wait_for(lambda: gateway.body() == "two", seconds=1)
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for(lambda: gateway.body() == "two")


@pytest.mark.parametrize("text", ["", "# nothing left\n", MINIMAL])
def test_a_file_without_routes_does_not_take_those_away_that_there_are(gateway, text):
    renamed(gateway, text.format(**gateway.places()))
    gateway.wait_for(lambda: gateway.said("it has no routes, and the running configuration has some"))
    assert gateway.body() == "BODY" and gateway.metrics().count('reloads_total{result="failed"} 1') == 1
    renamed(gateway, gateway.text("two"))
    gateway.wait_for(lambda: gateway.body() == "two")
    checked = run("check", "-c", gateway.file)
    assert checked.returncode == 0 and "no routes" not in checked.err
    in_place(gateway, text.format(**gateway.places()))
    checked = run("check", "-c", gateway.file)
    assert checked.returncode == 0
    assert ("warning" in checked.err and "no routes and no listeners of its own" in checked.err) == (text != MINIMAL)


def test_routes_may_come_and_go_one_by_one():
    """Where there were none, there may be none."""
    with Reloading("", MINIMAL + '[reload]\nevery = "100ms"\n[log]\nformat = "json"\n') as gateway:
        renamed(gateway, gateway.file.read_text() + "# changed\n")
        gateway.wait_for(lambda: gateway.said("reloaded routes and rules"))
        renamed(gateway, gateway.text())
        gateway.wait_for(lambda: gateway.call("GET", "/fixed").status == 200)


def test_emptied_rules_are_not_taken_away(gateway):
    """A folder that is empty may be a volume that is not there."""
    one, other = gateway.home / "rules/a.toml", gateway.home / "rules/b.toml"
    put(one, RULE % "ACME-1234")
    gateway.wait_for(lambda: gateway.found("ask about ACME-5678"))
    for empty in (lambda: put(one, ""), lambda: put(one, "# nothing left\n"), one.unlink):
        empty()
        gateway.reload("holds no rules, and the running configuration has some of it")
        assert gateway.found("ask about ACME-5678") and gateway.body() == "BODY"
    # In time it is whole again, with one more.
    put(one, RULE % "ACME-1234")
    put(other, RULE.replace("ACME_A", "ACME_B").replace("ACME-", "BETA-") % "BETA-1234")
    gateway.wait_for(lambda: gateway.found("ask about BETA-5678", "ACME_B"))
    put(other, "")
    gateway.reload("b.toml: it holds no rules")
    assert gateway.found("ask about ACME-5678")
    # One of several that is removed is gone, and that is said.
    other.unlink()
    gateway.reload("rules are gone: ACME_B")
    assert gateway.metric("portcullis_reload_weakened_total") == 1 and gateway.found("ask about ACME-5678")


def test_protection_that_is_taken_away_is_said(mock):
    config = MINIMAL + """[log]
format = "json"
[limits]
queue = "30s"
[upstreams.mock]
peers = ["{upstream}"]
[[routes]]
name = "chat"
path = "/chat"
upstream = "mock"
auth = "none"
[routes.redact]
protocol = "generic"
"""
    mail = {"text": "jane.doe@harbour-post.com"}
    with Gateway(mock.url, config + 'requests = "mask"\n') as gateway:
        whole = gateway.file.read_text()

        def told(text, what):
            put(gateway.file, text)
            gateway.reload(what)
            line = json.loads(gateway.said(what)[-1])
            return line["level"], line.get("route")

        assert gateway.call("POST", "/chat/reflect", mail).json() != mail
        # As a file that is not written to its end.
        assert told(whole[: whole.rindex("[routes.redact]")], "it redacts nothing any more") == ("WARN", "chat")
        assert gateway.call("POST", "/chat/reflect", mail).json() == mail
        assert gateway.metric("portcullis_reload_weakened_total") == 1
        asking = whole.replace('auth = "none"', 'auth = "token"')
        assert told(asking, "reloaded routes")[0] == "INFO"
        assert gateway.metric("portcullis_reload_weakened_total") == 1
        assert told(whole, "who may call: token, then anybody") == ("WARN", "chat")
        weaker = whole.replace('requests = "mask"', 'requests = "report"')
        assert told(weaker, "findings in requests: mask, then report") == ("WARN", "chat")
        gateway.wait_for(lambda: gateway.said("findings in answers: mask, then report"))
        assert gateway.metric("portcullis_reload_weakened_total") == 4


@pytest.mark.parametrize("place", ["portcullis.toml", "rules/a.toml", "feed.txt"])
def test_what_is_no_file_is_not_waited_for(gateway, place):
    file = gateway.home / place
    before = file.read_text() if file.exists() else RULE % "ACME-1234"
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for(lambda: gateway.said("not reloaded"), seconds=20)
    assert gateway.body() == "BODY"
    # And once it is one, it is read.
    put(file, before)
    gateway.reload("reloaded routes")
    file.unlink()
    os.mkfifo(file)
    gateway.process.send_signal(signal.SIGHUP)
    began = time.monotonic()
    assert gateway.stop() == 0 and time.monotonic() - began < 8
