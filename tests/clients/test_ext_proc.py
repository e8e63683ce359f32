"""The gateway as the external processor of an Envoy: what reaches the upstream, what callers read, and what the log says."""

import concurrent.futures
import gzip
import http.client
import json

import envoy
import pytest
from envoy import PAIRS
from gateway import Gateway
from mock_upstream import Mock
from test_openai import MINE, PROMPT, assert_unseen

MAIL = MINE["EMAIL"]

CONFIG = (
    envoy.LISTEN
    + """
[limits]
head = "16KiB"
collected = "4MiB"
queue = "30s"

[clients]
trusted_peers = ["127.0.0.1"]
forwarded = "x-forwarded-for"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "ours"
path = "/mask"
upstream = "mock"
auth = "none"

[[routes]]
name = "private"
path = "/private"
endpoint = "ext_proc"
auth = "token"

[[routes]]
name = "rare"
path = "/rare"
endpoint = "ext_proc"
auth = "none"
rate = {{ requests = 2, per = "1h", by = "address" }}

[[routes]]
name = "small"
path = "/small"
endpoint = "ext_proc"
auth = "none"
max_body = "1KiB"
redact = {{ requests = "mask", answers = "mask" }}

[[routes]]
name = "mask"
path = "/mask"
endpoint = "ext_proc"
auth = "none"
redact = {{ requests = "mask", answers = "mask" }}

[[routes]]
name = "restored"
path = "/restored"
endpoint = "ext_proc"
auth = "none"
redact = {{ protocol = "generic" }}

[[routes]]
name = "heads"
path = "/heads"
endpoint = "ext_proc"
auth = "none"
redact = {{ requests = "mask", answers = "off", query = true, headers = ["x-who"] }}

[routes.request_headers]
remove = ["x-secret"]
set = {{ x-set = "by the gateway" }}
add = {{ x-added = "too" }}

[routes.answer_headers]
remove = ["server"]
set = {{ x-answered = "by the gateway" }}

[[routes]]
name = "packed"
path = "/packed"
endpoint = "ext_proc"
auth = "none"
compression = {{ min = "1B" }}

[[routes]]
name = "plain"
path = "/plain"
endpoint = "ext_proc"
auth = "none"

[[routes]]
name = "chat"
path = "/v1"
endpoint = "ext_proc"
auth = "none"
redact = {{}}
"""
)


@pytest.fixture(scope="module")
def gateway():
    with Mock() as upstream, Gateway(upstream.url, CONFIG) as running:
        running.mock = upstream
        yield running


@pytest.fixture(scope="module")
def proxy(gateway):
    envoy.needed()
    more = {
        "none": envoy.processor(("NONE", "NONE")),
        "partial": envoy.processor(("BUFFERED_PARTIAL", "STREAMED")),
        "override": envoy.processor(("BUFFERED", "BUFFERED"), allow_mode_override=True),
        "ahead": envoy.processor(("STREAMED", "STREAMED"), send_body_without_waiting_for_header_response=True),
        "open": envoy.processor(("NONE", "NONE"), failure_mode_allow=True),
    }
    filters = {name: envoy.processor(modes) for name, modes in PAIRS.items()} | more
    with envoy.Envoy(gateway.h2c, gateway.mock.port, filters) as running:
        yield running


class Road:
    """One listener of Envoy's."""

    def __init__(self, proxy, gateway, name):
        self.port, self.gateway, self.mock = proxy.ports[name], gateway, gateway.mock
        self.mock.forget()
        forget(gateway)

    def call(self, method, path, body=None, headers=None):
        return self.gateway.call(method, path, body, headers, port=self.port)

    def came(self):
        """The one request that reached the upstream."""
        [came] = self.mock.requests
        return came

    def line(self):
        """The access log's line of the one request."""
        return self.gateway.wait_for(lambda: lines(self.gateway))[0]


def forget(gateway):
    """Begins a log anew, in which nothing was of what passed."""
    for line in list(gateway.log):
        assert_unseen(line)
    gateway.log.clear()


def lines(gateway):
    read = [json.loads(line) for line in list(gateway.log) if line.startswith("{")]
    return [line.get("fields", line) for line in read if "bytes_out" in line.get("fields", line)]


@pytest.fixture(params=PAIRS)
def road(request, proxy, gateway):
    return Road(proxy, gateway, request.param)


@pytest.fixture
def door(proxy, gateway):
    return lambda name: Road(proxy, gateway, name)


def test_a_request_is_redacted_and_its_answer_restored(road, request):
    text = "Write to %s, or call %s." % (MAIL, MINE["PHONE"])
    answer = road.call("POST", "/restored/reflect", text, {"content-type": "text/plain"})
    assert (answer.status, answer.body.decode()) == (200, text)
    came = road.came()
    assert_unseen(came.everything())
    if request.node.callspec.params["road"].startswith("buffered"):
        length = {name.lower(): value for name, value in came.headers}.get("content-length")
        assert length == str(len(came.raw)), "what is held as a whole says how long it is"
    line = road.line()
    assert (line["route"], line["status"], line["redacted"], line["restored"]) == ("restored", 200, 2, 2)
    assert (line["bytes_in"], line["fault"]) == (len(text), "-"), line


def test_what_passes_piece_by_piece_is_masked_both_ways(road):
    """Without a document to read whole, pieces are rewritten as they come."""
    words = ("lorem ipsum %s dolor. " % MAIL) * 4000
    pieces = (words.encode()[at : at + 999] for at in range(0, len(words), 999))
    answer = road.call("POST", "/mask/reflect", pieces, {"content-type": "text/plain"})
    assert answer.status == 200 and MAIL.encode() not in answer.body
    assert answer.body.count(b"lorem") == 4000
    assert_unseen(road.came().everything(), (MAIL,))
    assert road.line()["redacted"] == 4000


@pytest.mark.parametrize("size", [0, 1, 300_000])
def test_what_no_filter_minds_passes_as_it_is(road, size):
    body = b"\xff" * size
    answer = road.call("POST", "/plain/reflect", body, {"content-type": "application/x-what", "x-mine": "1"})
    assert (answer.status, answer.body) == (200, body)
    came = road.came()
    assert came.raw == body and dict(came.headers)["x-mine"] == "1"
    line = road.line()
    assert (line["bytes_in"], line["bytes_out"], line["fault"]) == (size, size, "-")


def test_a_body_in_a_coding_is_read_out_of_it(road):
    packed = gzip.compress(json.dumps({"messages": [{"role": "user", "content": PROMPT}], "model": "plain?enc=gzip"}).encode())
    answer = road.call("POST", "/v1/chat/completions", packed,
                       {"content-type": "application/json", "content-encoding": "gzip", "accept-encoding": "gzip"})
    assert answer.status == 200 and MAIL in gzip.decompress(answer.body).decode()
    assert_unseen(road.came().everything())


def test_answers_are_compressed_as_on_every_route(road):
    road.mock.canned["page"] = (200, "text/plain", b"word " * 400, "", 0)
    answer = road.call("GET", "/packed/canned/page", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip" and gzip.decompress(answer.body) == b"word " * 400
    assert "accept-encoding" in answer.headers["vary"].lower()


def test_heads_change_as_filters_say(road):
    sent = {"x-secret": "s", "x-set": "old", "x-added": "one", "x-who": MAIL, "x-kept": "k", "content-type": "text/plain"}
    road.mock.fields["x-answered"] = "by the upstream"
    answer = road.call("POST", "/heads/reflect?who=%s&b=1" % MAIL.replace("+", "%2B"), "hello", sent)
    assert (answer.status, answer.body, answer.headers.get_all("x-answered")) == (200, b"hello", ["by the gateway"])
    came = road.came()
    assert_unseen(came.everything(), (MAIL,))
    fields = [(name.lower(), value) for name, value in came.headers]
    assert ("x-set", "by the gateway") in fields and ("x-kept", "k") in fields
    assert [value for name, value in fields if name == "x-added"] == ["one", "too"] or ("x-added", "one,too") in fields
    assert not any(name == "x-secret" for name, _ in fields) and "b=1" in came.path


def test_a_token_stays_here_and_one_is_needed(road):
    token = road.gateway.token
    body = {"model": "plain", "messages": []}
    for key in [None, "Bearer pts_nonsense"]:
        answer = road.call("POST", "/private/reflect", body, {"authorization": key} if key else {})
        assert answer.status == 401 and answer.headers["www-authenticate"].startswith("Bearer"), answer.body
    assert not road.mock.requests
    assert road.call("POST", "/private/reflect", body, {"authorization": "Bearer " + token, "x-api-key": "sk-mine"}).status == 200
    came = road.came()
    assert token not in came.everything() and "sk-mine" in came.everything()


def test_errors_look_as_their_protocol_spells_them(road):
    big = {"model": "m", "messages": [{"role": "user", "content": "x" * 5_000_000}]}
    rows = [
        ("/v1/chat/completions", "{", 400, "error/message"),
        ("/v1/messages", "{", 400, "error/message"),
        ("/nowhere", "{}", 404, "status"),
    ]
    for path, body, status, place in rows:
        answer = road.call("POST", path, body, {"content-type": "application/json"})
        found = answer.json()
        for step in place.split("/"):
            found = found[step]
        assert (answer.status, answer.headers["content-type"]) == (status, "application/json"), (path, answer.body)
        assert isinstance(found, str) and found
    assert road.call("POST", "/v1/chat/completions", big).status == 413
    assert not any(came.body for came in road.mock.requests), "nothing of what was refused"


def test_a_rate_is_by_the_caller_that_envoy_names(road, request):
    mine = {"x-forwarded-for": "198.51.100.%d" % (list(PAIRS).index(request.node.callspec.params["road"]) + 1)}
    statuses = [road.call("GET", "/rare/canned/x", headers=mine).status for _ in range(3)]
    assert statuses == [404, 404, 429]
    assert road.call("GET", "/rare/canned/x", headers={"x-forwarded-for": "203.0.113.9"}).status in (404, 429)


def test_a_body_beyond_its_bound_goes_nowhere(road):
    answer = road.call("POST", "/small/reflect", "a " * 2000, {"content-type": "text/plain"})
    assert answer.status == 413, answer.body
    assert not any("a a" in came.everything() for came in road.mock.requests[:1] if len(came.body) > 1024)


def test_head_and_answers_without_a_body(road):
    road.mock.canned["x"] = (200, "text/plain", b"12345", "", 0)
    answer = road.call("HEAD", "/mask/canned/x")
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"", "text/plain")
    road.mock.canned["none"] = (204, "text/plain", b"", "", 0)
    assert road.call("DELETE", "/mask/canned/none").status == 204
    road.mock.canned["empty"] = (200, "text/plain", b"", "", 0)
    assert road.call("GET", "/restored/canned/empty").body == b""


def test_what_the_upstream_says_by_itself_is_masked(road):
    road.mock.canned["leak"] = (200, "application/json", json.dumps({"mail": "tom.baker@harbour-post.com"}).encode(), "", 7)
    answer = road.call("GET", "/mask/canned/leak")
    assert answer.status == 200 and b"harbour" not in answer.body and set(answer.json()) == {"mail"}


def test_an_answer_that_cannot_be_looked_through_does_not_pass(road):
    """As far as its head was not on its way yet it is an error; else the connection breaks off."""
    road.mock.canned["image"] = (200, "image/png", b"\x89PNG secret", "", 0)
    assert road.call("GET", "/mask/canned/image").status == 502
    road.mock.canned["lies"] = (200, "application/json", b"\x89PNG\0\0" + b"secret" * 50, "", 0)
    try:
        answer = road.call("GET", "/mask/canned/lies")
        assert answer.status == 502 and b"secret" not in answer.body
    except (http.client.HTTPException, ConnectionError) as broken:
        assert b"secret" not in getattr(broken, "partial", b"")


def test_an_event_comes_before_the_answer_ends(door):
    for name in ["buffered streamed", "streamed", "full duplex", "override"]:
        road = door(name)
        connection = http.client.HTTPConnection("127.0.0.1", road.port, timeout=20)
        ask = {"model": "plain?gate=1", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(ask), {"content-type": "application/json"})
        answer = connection.getresponse()
        first = answer.read1(65536)
        assert first.startswith(b"data:"), name
        assert not road.mock.gate.is_set()
        road.mock.gate.set()
        rest = first + answer.read()
        connection.close()
        assert rest.rstrip().endswith(b"[DONE]"), name
        assert_unseen(road.came().everything())


def test_a_stream_that_breaks_off_ends_in_an_error(road):
    ask = {"model": "cut", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    try:
        answer = road.call("POST", "/v1/chat/completions", ask)
        assert answer.status != 200 or b"[DONE]" not in answer.body
    except (http.client.HTTPException, ConnectionError):
        pass
    assert_unseen(road.came().everything())


def test_a_caller_that_leaves_is_logged_as_one(door):
    for name in ["streamed", "full duplex"]:
        road = door(name)
        connection = http.client.HTTPConnection("127.0.0.1", road.port, timeout=20)
        ask = {"model": "plain?gate=1", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(ask), {"content-type": "application/json"})
        answer = connection.getresponse()
        answer.read1(100)
        connection.sock.close()
        answer.close()
        road.mock.gate.set()
        assert road.line()["fault"] == "caller_gone", name


def test_modes_in_which_a_body_is_not_seen_are_refused(door):
    for name in ["none", "partial", "open"]:
        road = door(name)
        answer = road.call("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": PROMPT}]})
        assert answer.status == 500, name
        assert not road.mock.requests, name
        log = road.gateway.log
        road.gateway.wait_for(lambda log=log: any("request_body_mode" in line for line in log))
    road = door("none")
    assert road.call("POST", "/plain/reflect", "x").body == b"x"
    assert road.call("GET", "/mask/canned/x").status == 500, "what the upstream says would not be seen"


def test_a_body_may_come_before_the_head_is_answered(door):
    road = door("ahead")
    text = ("Write to %s. " % MAIL) * 3000
    answer = road.call("POST", "/restored/reflect", text, {"content-type": "text/plain"})
    assert (answer.status, answer.body.decode()) == (200, text)
    assert_unseen(road.came().everything(), (MAIL,))


def test_websockets_are_refused(road):
    headers = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    key = {"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert road.call("GET", "/v1/realtime", headers=headers | key).status == 501
    assert not road.mock.requests


def test_many_at_once(door):
    road = door("full duplex")
    texts = ["%d: %s, %s" % (n, MAIL, "x" * (n * 500 % 90_000)) for n in range(120)]

    def ask(text):
        return road.call("POST", "/restored/reflect", text, {"content-type": "text/plain"}).body.decode()

    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        assert list(pool.map(ask, texts)) == texts
    for came in road.mock.requests:
        assert_unseen(came.everything(), (MAIL,))
