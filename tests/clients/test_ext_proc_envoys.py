"""What Envoy does beside carrying requests to the upstream: it answers by itself, is configured as the docs say, speaks TLS, is
killed."""

import http.client
import json
import re
import signal
import threading
import time

import envoy
import pytest
import yaml
from authority import SERVER, Authority, dns, pem
from envoy import PAIRS
from ext_proc import Stream
from gateway import ROOT, Gateway
from mock_upstream import Mock
from test_ext_proc import CONFIG, MAIL, forget, lines
from test_openai import PROMPT, assert_unseen


@pytest.fixture(scope="module")
def gateway():
    with Mock() as upstream, Gateway(upstream.url, CONFIG) as running:
        running.mock = upstream
        yield running
        forget(running)


@pytest.fixture(autouse=True)
def there():
    envoy.needed()


def test_an_upstream_that_is_gone_is_envoys_to_tell(gateway):
    with envoy.Envoy(gateway.h2c, gateway.nobody) as lonely:
        for name in PAIRS:
            forget(gateway)
            answer = gateway.call("POST", "/v1/chat/completions", {"model": "m", "messages": []}, port=lonely.ports[name])
            assert answer.status == 503
            line = gateway.wait_for(lambda: lines(gateway))[0]
            assert line["status"] == 503


def test_what_a_filter_before_ours_answers_is_its_own(gateway):
    """Envoy shows such answers too, though it has shown no request."""
    fault = {"@type": envoy.HTTP + "fault.v3.HTTPFault", "abort": {"http_status": 418, "percentage": {"numerator": 100}}}
    gateway.mock.forget()
    with envoy.Envoy(gateway.h2c, gateway.mock.port, before=[{"name": "fault", "typed_config": fault}]) as running:
        for name in PAIRS:
            answer = gateway.call("POST", "/v1/chat/completions", {"messages": []}, port=running.ports[name])
            assert (answer.status, answer.body) == (418, b"fault filter abort"), name
    assert not gateway.mock.requests


def test_the_configuration_of_the_docs_serves(gateway):
    page = (ROOT / "docs/teams.md").read_text()
    [said] = [yaml.safe_load(block) for block in re.findall("```yaml\n(.*?)```", page, re.S) if "ExternalProcessor" in block]
    [cluster] = said["clusters"]
    [endpoint] = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]
    endpoint["endpoint"]["address"]["socket_address"]["port_value"] = gateway.h2c
    filters = {"docs": said["http_filters"][0]["typed_config"]}
    gateway.mock.forget()
    with envoy.Envoy(gateway.h2c, gateway.mock.port, filters, processors=cluster) as running:
        ask = {"model": "plain", "messages": [{"role": "user", "content": PROMPT}]}
        answer = gateway.call("POST", "/v1/chat/completions", ask, port=running.ports["docs"])
    assert answer.status == 200 and MAIL in answer.body.decode()
    [came] = gateway.mock.requests
    assert_unseen(came.everything())


TLS = """
[listen.tls]
certificate = "server.pem"
key = "server.key"
client_ca = "ca.pem"
"""


class Secured(Gateway):
    """One that only an Envoy with a certificate reaches, in a folder with an audit log."""

    def start(self, every=0.02):
        root = Authority("mesh")
        root.issue(self.home / "server", "localhost", dns("localhost"), SERVER)
        root.issue(self.home / "envoy", "envoy", dns("envoy.test"))
        (self.home / "ca.pem").write_bytes(pem(root.certificate))
        super().start(every)


def test_over_tls_with_a_certificate_of_envoys_own():
    audit = '[audit]\nfile = "{home}/audit.jsonl"\n[usage]\ncount = "all"\n'
    config = envoy.CONFIG.replace("ext_proc = true\n", "ext_proc = true\n" + TLS + audit)
    with Mock() as mock, Secured(mock.url, config) as gateway:
        cluster = envoy.cluster("portcullis", gateway.h2c, True, gateway.home)
        with envoy.Envoy(gateway.h2c, mock.port, processors=cluster) as running:
            for n, name in enumerate(PAIRS):
                ask = {"model": "plain", "stream": n % 2 == 0, "messages": [{"role": "user", "content": PROMPT}]}
                answer = gateway.call("POST", "/v1/chat/completions", ask, port=running.ports[name])
                assert answer.status == 200, name
        for came in mock.requests:
            assert_unseen(came.everything())
        done = gateway.wait_for(lambda: len(lines(gateway)) >= len(PAIRS) and lines(gateway))
        # Usage is counted as on every route, and Envoy's certificate is none of a caller's.
        assert {(line["model"], line["certificate"], line["fault"]) for line in done} == {("plain", None, "-")}
        assert all(line["input_tokens"] for line in done)

        def audited():
            return (gateway.home / "audit.jsonl").read_text().count('"route":"all"') == len(PAIRS)

        gateway.wait_for(audited)
        with pytest.raises((OSError, AssertionError)):
            with Stream(gateway.h2c) as stream:
                stream.begin()
                assert stream.told()[0] != "ended"


def test_an_envoy_that_is_killed_leaves_nothing_behind(gateway):
    forget(gateway)
    gateway.mock.forget()
    with envoy.Envoy(gateway.h2c, gateway.mock.port) as doomed:
        ask = {"model": "plain?gate=1", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}

        def call():
            try:
                gateway.call("POST", "/v1/chat/completions", ask, port=doomed.ports["streamed"])
            except (http.client.HTTPException, OSError):
                pass

        callers = [threading.Thread(target=call) for _ in range(5)]
        [caller.start() for caller in callers]
        gateway.wait_for(lambda: len(gateway.mock.requests) == 5)
        time.sleep(0.3)
        doomed.process.kill()
        [caller.join(20) for caller in callers]
    gateway.mock.gate.set()
    done = gateway.wait_for(lambda: len(lines(gateway)) >= 5 and lines(gateway))
    assert {line["fault"] for line in done} == {"caller_gone"}
    for came in gateway.mock.requests:
        assert_unseen(came.everything())


def asked(port, **more):
    """A chat on its way, and its connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    ask = {"model": "plain?gate=1", "stream": True, "messages": [{"role": "user", "content": PROMPT}]} | more
    connection.request("POST", "/v1/chat/completions", json.dumps(ask), {"content-type": "application/json"})
    return connection


def test_a_gateway_that_stops_ends_what_it_has_begun():
    """And nothing passes while it is gone."""
    with Mock() as mock, Gateway(mock.url, envoy.CONFIG) as gateway, envoy.Envoy(gateway.h2c, mock.port) as running:
        for name in ["streamed", "full duplex"]:
            connection = asked(running.ports[name])
            answer = connection.getresponse()
            first = answer.read1(100)
            gateway.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert gateway.process.poll() is None
            mock.gate.set()
            assert (first + answer.read()).rstrip().endswith(b"[DONE]"), name
            connection.close()
            assert gateway.process.wait(20) == 0
            came = len(mock.requests)
            gone = asked(running.ports[name]).getresponse()
            assert (gone.status, len(mock.requests)) == (500, came)
            mock.gate.clear()
            gateway.start()
            again = gateway.wait_for(lambda: asked(running.ports[name], stream=False).getresponse().status == 200)
            assert again, name


def test_an_envoy_that_does_not_wait_sends_nothing_on(gateway):
    """The time of an answer is Envoy's to bound, but in full duplex, where it waits."""
    filters = {name: envoy.processor(PAIRS[name], message_timeout="0.001s") for name in ["buffered", "full duplex"]}
    body = [{"role": "user", "content": PROMPT * 2000}]
    with envoy.Envoy(gateway.h2c, gateway.mock.port, filters) as hasty:
        for name, status in [("buffered", 504), ("full duplex", 200)]:
            gateway.mock.forget()
            forget(gateway)
            answer = asked(hasty.ports[name], model="plain", stream=False, messages=body).getresponse()
            assert answer.status == status, name
            line = gateway.wait_for(lambda: lines(gateway))[0]
            assert (line["fault"], line["status"]) == (("caller_gone", 0) if status == 504 else ("-", 200))
            assert len(gateway.mock.requests) == (status == 200)
