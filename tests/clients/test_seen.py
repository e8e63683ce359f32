"""What can be seen from outside: the access log, metrics and the dashboard that uses them, traces."""

import base64
import http.client
import http.server
import json
import re
import socket
import socketserver
import struct
import threading
import time

import pytest
from gateway import CONFIG, ROOT, Gateway

MAIL, CARD = "jane.doe@harbour-post.com", "4111 1111 1111 1111"
CHAT = {"model": "plain", "messages": [{"role": "user", "content": "Write to %s | card %s" % (MAIL, CARD)}]}
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


# ── the access log ──────────────────────────────────────────────────────────────────────────────────────────────────


def logged(config, upstream, act):
    """The lines of the access log after `act`."""
    with Gateway(upstream.url, config=config) as running:
        act(running)
        running.stop()
        file = running.home / "access.jsonl"
        text = file.read_text() if file.exists() else ""
        return text, "\n".join(running.log)


def test_a_line_says_all_that_is_known_of_a_request_and_nothing_of_its_body(mock, upstream):
    config = CONFIG.replace('format = "json"', 'format = "text"\naccess_file = "{home}/access.jsonl"\naddresses = "network"')

    def act(running):
        assert running.call("POST", "/generic/reflect?secret=" + MAIL, {"text": "Write to " + MAIL}).status == 200
        assert running.api("/v1/redact", {"text": MAIL, "rules": ["EMAIL_ADDRESS"]}).status == 200
        assert running.call("POST", "/nobody", {"text": "x"}).status == 502

    text, log = logged(config, upstream, act)
    lines = {line["route"]: line for line in map(json.loads, text.splitlines())}
    generic = lines["generic"]
    assert generic["upstream"] == "mock" and generic["attempts"] == 1 and generic["protocol"] == "http/1.1"
    assert generic["findings"]["EMAIL_ADDRESS"] >= 1 and generic["method"] == "POST" and generic["status"] == 200
    assert generic["bytes_in"] > 0 and generic["bytes_out"] > 0 and generic["took_us"] > 0
    assert generic["client"] == "127.0.0.0"
    assert re.fullmatch(r"prq_[a-z2-7]{32}", generic["request_id"])
    assert lines["/v1/redact"]["upstream"] is None and lines["/v1/redact"]["token"].startswith("pti_")
    assert lines["nobody"]["status"] == 502 and lines["nobody"]["fault"] != "-" and lines["nobody"]["attempts"] >= 1
    assert MAIL not in text + log and "secret=" not in text + log
    assert "portcullis::access" not in log


def test_it_can_be_off(mock, upstream):
    config = CONFIG.replace('format = "json"', 'format = "json"\naccess = false')
    text, log = logged(config, upstream, lambda running: running.call("GET", "/canned/x"))
    assert text == "" and "portcullis::access" not in log


def left_after(running, path, ask, last):
    """Asks, reads to the end of the event that says `last`, and leaves."""
    body = json.dumps(ask).encode()
    head = "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (path, len(body))
    with socket.create_connection(("127.0.0.1", running.port), timeout=30) as sock:
        sock.sendall(head.encode() + body)
        seen = b""
        while last not in seen:
            more = sock.recv(65536)
            assert more, seen
            seen += more
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/restored/v1/chat/completions", "/plain/v1/chat/completions"])
def test_who_leaves_after_the_last_event_has_had_all(upstream, path):
    """An OpenAI client closes at [DONE], before the body has ended; Anthropic's at message_stop."""
    plain = '\n[[routes]]\nname = "plain"\npath = "/plain"\nupstream = "mock"\nauth = "none"\n'
    config = CONFIG.replace('format = "json"', 'format = "json"\naccess_file = "{home}/access.jsonl"') + plain
    last = b"data: [DONE]\n\n"
    with Gateway(upstream.url, config=config) as running:
        for _ in range(20):
            left_after(running, path, CHAT | {"stream": True}, last)
        # One who leaves before that has had nothing that it could use.
        left_after(running, path, CHAT | {"stream": True, "model": "plain?step=1&write=7&gate=1"}, b"data: {")
        # A connection that is kept, and then closed.
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
        for _ in range(2):
            connection.request("POST", path, json.dumps(CHAT), {"content-type": "application/json"})
            assert connection.getresponse().read()
        connection.close()
        upstream.gate.set()
        count = lambda: (running.home / "access.jsonl").read_text().count('"request"')
        running.wait_for(lambda: count() >= 23)
        running.stop()
        lines = [json.loads(line) for line in (running.home / "access.jsonl").read_text().splitlines()]
        assert [line["fault"] for line in lines if line["fault"] != "caller_gone"] == ["-"] * 22, lines
        assert {line["status"] for line in lines if line["fault"] == "-"} == {200}
        errors = [line for line in running.log if json.loads(line)["level"] == "ERROR"]
        assert not errors, errors


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def families(text):
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))


def series(text):
    return {line.rsplit(" ", 1)[0] for line in text.splitlines() if line and not line.startswith("#")}


def used(dashboard):
    """Each metric that the dashboard names, and whether it is read as a counter, a histogram or a gauge."""
    expressions = []

    def walk(value):
        if isinstance(value, dict):
            expressions.extend(value[key] for key in ("expr",) if key in value)
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(dashboard)
    for expression in expressions:
        for found in re.finditer(r"((?:rate|increase)\()?\b((?:portcullis|process)_[a-z0-9_]+)", expression):
            name = found[2]
            if name.endswith("_bucket"):
                yield name.removesuffix("_bucket"), "histogram"
            elif found[1] and re.search(r"_(sum|count)$", name):
                yield re.sub(r"_(sum|count)$", "", name), "histogram"
            else:
                yield name, "counter" if found[1] else "gauge"


def test_the_dashboard_names_metrics_that_are_there(mock, upstream):
    dashboard = json.loads((ROOT / "conf/grafana.json").read_text())
    wanted = set(used(dashboard))
    assert len(wanted) > 25
    feed = '[sanitize]\nfetch_allow = ["127.0.0.1"]\nintel = {{ feeds = ["{home}/feed.txt"] }}\n'
    running = Gateway(upstream.url, config=CONFIG.replace('[sanitize]\nfetch_allow = ["127.0.0.1"]\n', feed))
    original = running.write

    def write(config):
        (running.home / "feed.txt").write_text("http://bad.test/x\n")
        original(config)

    running.write = write
    with running:
        running.call("POST", "/generic/reflect", {"text": MAIL})
        running.call("POST", "/nobody", {"text": MAIL})
        running.api("/v1/redact", {"text": MAIL})
        form = b'--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n{"content":{"redact":true}}\r\n'
        form += b'--b\r\nContent-Disposition: form-data; name="upload"; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n'
        headers = {"authorization": "Bearer " + running.token, "content-type": "multipart/form-data; boundary=b"}
        assert running.call("POST", "/v1/sanitize", form, headers).status in (200, 202)
        there = lambda: families(running.metrics())
        running.wait_for(lambda: "portcullis_scan_results_total" in there())
        known = there()
    # The process's CPU time is a gauge to the library, and a counter by its name.
    known["process_cpu_seconds_total"] = "counter"
    assert {name: kind for name, kind in wanted if known.get(name) != kind} == {}


def test_strangers_make_no_series(gateway, mock):
    gateway.call("GET", "/nowhere/at/all")
    gateway.call("BREW", "/generic")
    for n in range(51):
        # What the first of each shows, the others show, too.
        if n == 1:
            before = series(gateway.metrics())
        gateway.call("GET", "/stranger-%d" % n, headers={"host": "host-%d.test" % n})
        gateway.call("M%d" % n, "/x%d?y=%d" % (n, n))
        gateway.call("POST", "/v1/redact", {"text": "x"}, {"authorization": "Bearer stranger-%d" % n, "user-agent": "s-%d" % n})
        gateway.call("POST", "/generic/p%d" % n, {"model": "m-%d" % n, "text": "x"}, {"traceparent": "t%d" % n})
    after = series(gateway.metrics())
    new = {one for one in after - before if "_bucket" not in one}
    assert not new


def test_nothing_is_shown_that_never_happened_but_what_alerts_look_at(mock, upstream):
    with Gateway(upstream.url) as running:
        text = running.metrics()
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert len(lines) < 300, len(lines)
        value = dict(line.rsplit(" ", 1) for line in lines)
        for name in [
            'portcullis_requests_total{route="generic",status="5xx"}',
            'portcullis_requests_total{route="generic",status="2xx"}',
            'portcullis_unscanned_bodies_total{direction="request",route="lenient"}',
            'portcullis_upstream_errors_total{kind="timeout",upstream="mock"}',
            'portcullis_refused_total{reason="in_flight"}',
            'portcullis_child_deaths_total{reason="timeout"}',
            'portcullis_reloads_total{result="failed"}',
            "portcullis_store_errors_total",
            "portcullis_access_lines_lost_total",
        ]:
            assert value[name] == "0", name
        assert running.api("/v1/redact", {"text": MAIL}).status == 200
        assert running.call("POST", "/generic/reflect", {"text": MAIL}).status == 200
        after = lambda: dict(line.rsplit(" ", 1) for line in running.metrics().splitlines() if not line.startswith("#"))
        one = 'portcullis_requests_total{route="/v1/redact",status="2xx"}'
        running.wait_for(lambda: after().get(one) == "1")
        found = [name for name in after() if name.startswith("portcullis_findings_total")]
        assert all('rule="EMAIL_ADDRESS"' in name for name in found) and found


def test_counters_count(gateway, mock):
    value = lambda name: sum(float(line.rsplit(" ", 1)[1]) for line in gateway.metrics().splitlines() if line.startswith(name))
    names = [
        'portcullis_requests_total{route="generic",status="2xx"}',
        'portcullis_body_bytes_total{direction="request",route="generic"}',
        'portcullis_findings_total{direction="request",rule="EMAIL_ADDRESS"}',
        'portcullis_upstream_attempts_total{upstream="mock"}',
        'portcullis_upstream_first_byte_seconds_count{upstream="mock"}',
        'portcullis_filtered_total{filter="redact",outcome="passed"}',
    ]
    before = [value(name) for name in names]
    assert gateway.call("POST", "/generic/reflect", {"text": "Write to " + MAIL}).status == 200
    gateway.wait_for(lambda: value(names[0]) > before[0])
    grown = [value(name) - old for name, old in zip(names, before)]
    assert grown[0] == 1 and grown[1] > 30 and grown[2] >= 1 and grown[3:] == [1, 1, 1], grown
    refused = value('portcullis_filtered_total{filter="auth",outcome="refused"}')
    assert gateway.call("POST", "/v1/redact", {"text": "x"}).status == 401
    assert value('portcullis_filtered_total{filter="auth",outcome="refused"}') == refused + 1
    text = gateway.metrics()
    assert "portcullis_held_limit_bytes " in text and 'portcullis_build_info{version="' in text
    assert value("process_resident_memory_bytes") > 1 << 20 and value("process_open_fds") > 3
    assert value('portcullis_store_seconds_count{operation="read"}') > 0


# ── traces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Collector(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A collector that takes OTLP over HTTP in JSON, read by OpenTelemetry's own definitions."""

    daemon_threads = True

    def __init__(self):
        self.bodies, self.heads, self.answer = [], [], 200
        super().__init__(("127.0.0.1", 0), Taker)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self):
        return "http://127.0.0.1:%d/v1/traces" % self.server_address[1]

    def spans(self):
        trace = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
        from google.protobuf import json_format

        all = []
        for body in list(self.bodies):
            request = json_format.Parse(json.dumps(ids(json.loads(body))), trace.ExportTraceServiceRequest())
            for resource in request.resource_spans:
                service = {one.key: one.value.string_value for one in resource.resource.attributes}
                assert service["service.name"] == "portcullis"
                all += [span for scope in resource.scope_spans for span in scope.spans]
        return all


class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.heads.append(dict(self.headers))
        if self.server.answer == 200:
            self.server.bodies.append(body)
        self.send_response(self.server.answer)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def ids(value):
    """OTLP writes ids in hexadecimal digits where JSON of protobuf has base64."""
    if isinstance(value, dict):
        hexadecimal = ("traceId", "spanId", "parentSpanId")
        code = lambda text: base64.b64encode(bytes.fromhex(text)).decode()
        return {key: code(inner) if key in hexadecimal else ids(inner) for key, inner in value.items()}
    return [ids(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def traced(upstream):
    collector = Collector()
    otlp = '\n[telemetry.otlp]\nendpoint = "%s"\nheaders = {{ x-key = "of the collector" }}\n' % collector.endpoint
    with Gateway(upstream.url, config=CONFIG + otlp) as running:
        yield running, collector
    collector.shutdown()


def words(span):
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def test_spans_hang_together_and_the_trace_goes_on(traced, mock):
    running, collector = traced
    headers = {"traceparent": TRACEPARENT, "tracestate": "a=b"}
    assert running.call("POST", "/restored/reflect?canary-query=1", {"text": "canary-body to " + MAIL}, headers).status == 200
    trace = bytes.fromhex(TRACEPARENT.split("-")[1])
    mine = lambda: [span for span in collector.spans() if span.trace_id == trace]
    running.wait_for(lambda: any(span.name == "request" for span in mine()))
    by_name = {}
    for span in mine():
        by_name.setdefault(span.name, []).append(span)
    (request,), (attempt,), (redact,) = by_name["request"], by_name["upstream"], by_name["redact"]
    assert request.kind == 2 and request.parent_span_id.hex() == TRACEPARENT.split("-")[2]
    assert words(request)["portcullis.route"] == "restored" and words(request)["http.request.method"] == "POST"
    assert words(request)["http.response.status_code"] == 200
    assert attempt.kind == 3 and words(attempt)["portcullis.upstream"] == "mock"
    for child in [attempt, redact, *by_name["filter"]]:
        assert child.parent_span_id == request.span_id
        assert request.start_time_unix_nano <= child.start_time_unix_nano <= child.end_time_unix_nano
    assert {words(span)["portcullis.filter"] for span in by_name["filter"]} == {"keep", "log", "own_urls", "redact", "shed"}
    sent = {name.lower(): value for name, value in mock.requests[-1].headers}
    assert sent["traceparent"] == "00-%s-%s-01" % (trace.hex(), attempt.span_id.hex())
    assert sent["tracestate"] == "a=b"
    assert collector.heads[0]["x-key"] == "of the collector"


def test_files_have_their_steps(traced):
    running, collector = traced
    form = b'--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n{"content":{"redact":true}}\r\n'
    form += b'--b\r\nContent-Disposition: form-data; name="upload"; filename="canary-name.txt"\r\n\r\ncanary-body\r\n--b--\r\n'
    headers = {"authorization": "Bearer " + running.token, "content-type": "multipart/form-data; boundary=b"}
    assert running.call("POST", "/v1/sanitize", form, headers).status in (200, 202)
    named = lambda: {span.name: span for span in collector.spans()}
    running.wait_for(lambda: "sanitize.deliver" in named())
    spans = named()
    steps = [spans["sanitize." + step] for step in ("load", "scan", "clean", "deliver")]
    assert len({span.trace_id for span in steps}) == 1
    running.wait_for(lambda: [span for span in collector.spans() if span.span_id == steps[0].parent_span_id])
    (request,) = [span for span in collector.spans() if span.span_id == steps[0].parent_span_id]
    assert request.name == "request" and words(request)["portcullis.route"] == "/v1/sanitize"


def test_a_failure_is_told_and_an_unsampled_trace_is_not(traced, mock):
    running, collector = traced
    failed, unseen = "1" * 32, "2" * 32
    running.call("POST", "/nobody", {"text": "x"}, {"traceparent": "00-%s-b7ad6b7169203331-01" % failed})
    unsampled = "00-%s-b7ad6b7169203331-00" % unseen
    assert running.call("POST", "/generic/reflect", {"text": "x"}, {"traceparent": unsampled}).status == 200
    of = lambda trace: [span for span in collector.spans() if span.trace_id.hex() == trace]
    running.wait_for(lambda: any(span.name == "request" for span in of(failed)))
    spans = {span.name: span for span in of(failed)}
    assert spans["request"].status.code == 2 and words(spans["request"])["http.response.status_code"] == 502
    assert spans["upstream"].status.code == 2
    time.sleep(1.5)
    assert not of(unseen)
    sent = {name.lower(): value for name, value in mock.requests[-1].headers}
    assert sent["traceparent"] == unsampled


def test_no_span_has_anything_of_a_callers(traced, mock):
    running, collector = traced
    headers = {"x-canary": "canary-header", "authorization": "Bearer canary-token", "user-agent": "canary-agent"}
    running.call("POST", "/generic/canary-path?q=canary-query", {"text": "canary-body " + MAIL}, headers)
    running.call("CANARYMETHOD", "/canary-path", None, {"host": "canary-host.test"})
    count = len(collector.bodies)
    running.wait_for(lambda: len(collector.bodies) > count)
    time.sleep(1.2)
    everything = b"".join(collector.bodies).decode().lower()
    assert "canary" not in everything and MAIL not in everything


def test_a_collector_that_is_down_costs_nothing_but_spans(traced, mock):
    running, collector = traced
    collector.answer = 400
    try:
        began = time.monotonic()
        assert running.call("POST", "/generic/reflect", {"text": "x"}).status == 200
        assert time.monotonic() - began < 5
        lost = lambda: float(re.search(r"^portcullis_spans_lost_total (\d+)", running.metrics(), re.M)[1])
        running.wait_for(lambda: lost() > 0)
    finally:
        collector.answer = 200


def test_the_last_spans_are_sent_before_the_process_ends(upstream, mock):
    collector = Collector()
    otlp = '\n[telemetry.otlp]\nendpoint = "%s"\n' % collector.endpoint
    with Gateway(upstream.url, config=CONFIG + otlp) as running:
        assert running.call("POST", "/generic/reflect", {"text": "x"}).status == 200
        assert running.stop() == 0
    assert any(span.name == "request" for span in collector.spans())
    collector.shutdown()
