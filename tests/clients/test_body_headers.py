"""What heads say of bodies that were changed or not seen; ways past the gateway; files in pieces; what agents keep; and requests
that the end of the process cuts off."""

import http.client
import json
import signal
import socket
import time

import pytest
from gateway import MINIMAL, Gateway, run
from loopback import Handler, Served
from test_certificates import issue

MAIL = "jane.doe@harbour-post.com"
CONFIG = MINIMAL + """
[audit]
file = "{home}/audit.jsonl"
[limits]
drain = "1s"
[upstreams.service]
peers = ["{upstream}"]
[[routes]]
name = "masked"
path = "/masked"
strip_prefix = true
upstream = "service"
auth = "none"
redact = {{ requests = "mask", answers = "mask" }}
[[routes]]
name = "llm"
upstream = "service"
auth = "none"
redact = {{}}
"""


class Echo(Handler):
    """Keeps what came; answers with it, with a head that says much of the body."""

    def do_POST(self):
        body = self.take()
        self.mock.came.append((self.path, self.headers, body))
        if self.path.endswith("/slow"):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b'data: {"a": 1}\n\n')
            self.wfile.flush()
            time.sleep(20)
            return
        answer = json.dumps({"id": "sesn_1", "said": body.decode("latin1")}) if "/sessions" in self.path else body.decode("latin1")
        self.answer(answer.encode("latin1"), self.headers.get("content-type", "text/plain"))

    def do_GET(self):
        if self.path.startswith("/v1/sessions/"):
            return self.answer(json.dumps({"id": "sesn_1", "title": self.mock.title()}).encode(), "application/json")
        body = json.dumps({"mail": MAIL}).encode()
        if self.path == "/chunked":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            return self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        self.answer(body, "application/json")

    do_HEAD = do_GET

    def answer(self, body, media_type):
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        for name, value in [("etag", '"a"'), ("repr-digest", "sha-256=:abc=:"), ("content-md5", "B3VC")]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Service(Served):
    handler = Echo

    def __init__(self):
        self.came = []

    def title(self):
        return json.loads(next(body for path, _, body in self.came if path == "/v1/sessions"))["title"]


@pytest.fixture(scope="module")
def service():
    with Service() as running:
        yield running


@pytest.fixture
def gateway(service):
    service.came.clear()
    with Gateway(service.url, CONFIG) as running:
        yield running


def test_a_head_says_nothing_of_a_body_that_was_changed_or_not_seen(gateway, service):
    digests = {"content-md5": "B3VC", "content-digest": "sha-256=:abc=:", "x-amz-checksum-sha256": "abc"}
    kept = gateway.call("POST", "/masked/x", json.dumps({"a": "b"}), {"content-type": "application/json", **digests})
    assert kept.status == 200
    body = json.dumps({"mail": MAIL})
    assert gateway.call("POST", "/masked/x", body, {"content-type": "application/json", **digests}).status == 200
    assert gateway.call("POST", "/x", body, {"content-type": "application/json", **digests}).status == 200
    for _, headers, came in service.came[1:]:
        assert MAIL.encode() not in came
        assert not any(name in headers for name in digests), dict(headers)
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=20)
    connection.request("HEAD", "/masked/x")
    head = connection.getresponse()
    assert head.status == 200
    said = {name.lower() for name, _ in head.getheaders()}
    assert not said & {"content-length", "etag", "repr-digest", "content-md5"}, said


def test_a_caller_of_http_1_0_gets_no_chunks(gateway):
    with socket.create_connection(("127.0.0.1", gateway.port), 20) as caller:
        caller.sendall(b"GET /masked/chunked HTTP/1.0\r\nHost: a\r\n\r\n")
        answer = b""
        while more := caller.recv(65536):
            answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower(), head
    assert "mail" in json.loads(body) and MAIL.encode() not in body


def test_what_is_no_form_stays_and_bytes_beside_a_value_too(gateway, service):
    form = {"content-type": "application/x-www-form-urlencoded"}
    gateway.call("POST", "/x", b"n=Caf%e9+jane.doe%40harbour-post.com&x=a/b!", form)
    gateway.call("POST", "/x", b"https://x.com/u/jane.doe%40harbour-post.com?a=b", {"content-type": "text/plain"})
    (_, _, first), (_, _, second) = service.came
    assert first.startswith(b"n=Caf%e9+") and first.endswith(b"&x=a/b!") and b"jane" not in first, first
    assert second.startswith(b"https://x.com/u/") and second.endswith(b"?a=b") and b"jane" not in second, second


def test_calls_past_the_gateway_are_refused(gateway, service):
    for path in ("/v1/live", "/v1/live/sessions", "/v1/live/sessions/ls_1/refer", "/v1/live/sessions/ls_1/accept"):
        assert gateway.call("POST", path, "{}", {"content-type": "application/json"}).status == 403, path
    assert gateway.call("POST", "/v1/live/sessions/ls_1/content", "{}", {"content-type": "application/json"}).status == 200
    assert [path for path, _, _ in service.came] == ["/v1/live/sessions/ls_1/content"]


def test_text_in_the_parts_of_an_upload_is_refused(gateway, service):
    def part(data, media_type):
        head = 'content-disposition: form-data; name="data"; filename="a.bin"\r\ncontent-type: %s\r\n' % media_type
        body = b"--b\r\n" + head.encode() + b"\r\n" + data + b"\r\n--b--\r\n"
        return gateway.call("POST", "/v1/uploads/up_1/parts", body, {"content-type": "multipart/form-data; boundary=b"})

    refused = part(b"mail jane.doe@harbour-", "text/plain")
    assert refused.status == 400 and b"in one request" in refused.body, refused.body
    assert service.came == []


def test_what_an_agents_session_was_told_comes_back(gateway, service):
    asked = {"title": "Write to " + MAIL}
    made = gateway.call("POST", "/v1/sessions", json.dumps(asked), {"content-type": "application/json", "authorization": "Bearer me"})
    assert made.status == 200
    assert MAIL not in json.loads(service.came[0][2])["title"]
    read = gateway.call("GET", "/v1/sessions/sesn_1", None, {"authorization": "Bearer me"})
    assert json.loads(read.body)["title"] == asked["title"]
    other = gateway.call("GET", "/v1/sessions/sesn_1", None, {"authorization": "Bearer other"})
    assert MAIL.encode() not in other.body


def test_a_request_that_the_end_cuts_off_is_written_down(gateway):
    with socket.create_connection(("127.0.0.1", gateway.port), 20) as caller:
        body = json.dumps({"mail": MAIL}).encode()
        head = b"POST /slow HTTP/1.1\r\nHost: a\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        caller.sendall(head % len(body) + body)
        answer = b""
        while b'"a": 1' not in answer:
            answer += caller.recv(65536)
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(20) == 0
    lines = [json.loads(line) for line in (gateway.home / "audit.jsonl").read_text().splitlines()]
    cut = [line for line in lines if line.get("route") == "llm"]
    assert len(cut) == 1 and cut[0]["decision"] == "failed", lines


def test_health_asks_over_tls_too(service):
    class Secured(Gateway):
        def start(self, every=0.02):
            issue(self.home, "admin", "gateway.test")
            super().start(every)

        def is_ready(self):
            return run("health", "--admin", "127.0.0.1:%d" % self.admin).returncode == 0

    config = MINIMAL.replace(
        'address = "127.0.0.1:{admin}"', 'address = "127.0.0.1:{admin}"\ntls = {{ certificate = "admin.pem", key = "admin.key" }}'
    )
    with Secured(service.url, config) as running:
        done = run("health", "--admin", "127.0.0.1:%d" % running.admin)
        assert done.returncode == 0 and done.out == "ready\n", done.err
