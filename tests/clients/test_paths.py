"""A path has one route, however it is spelled: what a route asks for is asked of every spelling that some server would
read as its path, and no upstream's base is left."""

import json
import posixpath
import re
import socket
import urllib.parse

import pytest
from gateway import MINIMAL, Gateway
from http2 import Connection

MAIL = "jane.doe@harbour-post.com"

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[upstreams.mock]
peers = ["{upstream}"]

[upstreams.tenant]
peers = ["{upstream}"]
base = "/tenant1"

[[routes]]
name = "host"
host = ["api.test"]
respond = {{ status = 418 }}

[[routes]]
name = "secret"
path = "/secret"
upstream = "mock"
auth = "token"

[[routes]]
name = "scrub"
path = "/scrub"
upstream = "mock"
auth = "none"
redact = {{ requests = "mask", answers = "mask" }}

[[routes]]
name = "model"
pattern = "/v1beta/models/[^/]+:generateContent"
upstream = "mock"
auth = "token"

[[routes]]
name = "tenant"
path = "/t"
upstream = "tenant"
auth = "none"

[[routes]]
name = "all"
path = "/"
upstream = "mock"
auth = "none"
"""
)

# NAME is a route's own segment, FIRST its first letter and EVERY all of them as escapes, REST what follows the first.
SPELLINGS = [
    "/NAME/f",
    "/NAME",
    "/NAME/",
    "/NAME?q=/../x",
    "//NAME/f",
    "////NAME//f",
    "/./NAME/f",
    "/././NAME/./f",
    "/x/../NAME/f",
    "/x/y/../../NAME/f",
    "/NAME/../NAME/f",
    "/x//../NAME/f",
    "/../NAME/f",
    "/x/../../NAME/f",
    "/%2e/NAME/f",
    "/%2E%2e/NAME/f",
    "/x/%2e%2e/NAME/f",
    "/x/.%2E/NAME/f",
    "/x/%2e./NAME/f",
    "/FIRSTREST/f",
    "/EVERY/f",
    "/EVERY/%66",
    "/NAME%2ff",
    "/NAME%2Ff",
    "/NAME%2f",
    "/%2FNAME/f",
    "/%2f%2fNAME/f",
    "/x%2f..%2fNAME/f",
    "/x/..%2fNAME/f",
    "/x/%2e%2e%2fNAME/f",
    "/NAME%5cf",
    "/NAME\\f",
    "/\\NAME/f",
    "/x\\..\\NAME/f",
    "/x/..%5cNAME/f",
    "/%5C..%5cNAME/f",
    "/NAME;v=1/f",
    "/NAME;/f",
    "/NAME;x%2ff",
    "/NAME%3bv/f",
    "/;v/NAME/f",
    "/x/..;/NAME/f",
    "/x/..;v=1/NAME/f",
    "/.;/NAME/f",
    "/x/..%3b/NAME/f",
    "/NAME%00/f",
    "/NAME%00",
    "/x/..%00/NAME/f",
    "/NAME%0d%0a/f",
    "/NAME%",
    "/%uFIRST/f",
    "/x/%c0%ae%c0%ae/NAME/f",
    "/x/%e0%80%ae%e0%80%ae/NAME/f",
    "/NAME%c0%aff",
    "/x/%252e%252e/NAME/f",
    "/%25FIRSTREST/f",
    "http://gateway.test/NAME/f",
    "http://gateway.test//NAME/f",
    "HTTP://gateway.test/x/../NAME/f",
    "http://gateway.test/EVERY/f",
    "http://gateway.test/x/..%2fNAME/f",
    "*/NAME/f",
    "NAME/f",
]


def spelled(spelling, name):
    escapes = ["%%%02x" % ord(letter) for letter in name]
    spelling = spelling.replace("%25FIRST", "%25" + escapes[0][1:]).replace("%uFIRST", "%u00" + escapes[0][1:])
    spelling = spelling.replace("FIRST", escapes[0]).replace("REST", name[1:]).replace("EVERY", "".join(escapes))
    return spelling.replace("NAME", name)


def readings(target):
    """What servers could take a target for: they decode once, leave out parameters, take a backslash for a slash, merge
    slashes and resolve dots, each of it or not."""
    path = target.split("?")[0]
    bare = lambda path: "/".join(part.split(";")[0] for part in path.split("/"))
    decoded = urllib.parse.unquote
    for read in (str, bare, decoded, lambda p: bare(decoded(p)), lambda p: decoded(bare(p))):
        for slashed in (str, lambda p: p.replace("\\", "/")):
            seen = re.sub("/+", "/", slashed(read(path)))
            yield seen
            yield posixpath.normpath(seen)


def is_under(target, name):
    return any(seen == "/" + name or seen.startswith("/%s/" % name) for seen in readings(target))


def ask(gate, target, *fields, body=None, method="GET", host="gateway.test"):
    """One request, byte by byte as it is written here; its status."""
    head = ["%s %s HTTP/1.1" % (method, target), "Host: " + host, "Connection: close", *fields]
    data = json.dumps(body).encode() if body else b""
    if body:
        head += ["Content-Type: application/json", "Content-Length: %d" % len(data)]
    with socket.create_connection(("127.0.0.1", gate.port), timeout=30) as sock:
        sock.sendall("\r\n".join([*head, "", ""]).encode() + data)
        answer = b""
        while more := sock.recv(65536):
            answer += more
    return int(answer.split(b" ", 2)[1])


@pytest.fixture(scope="module")
def gate(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running


def test_the_readings_of_this_test_see_what_is_meant():
    """The table could not fail otherwise."""
    for spelling in ("/NAME/f", "//NAME/f", "/x/../NAME/f", "/EVERY/f", "/NAME%2ff", "/NAME;v/f", "/x/..;/NAME/f", "/NAME\\f"):
        assert is_under(spelled(spelling, "secret"), "secret"), spelling
    assert not is_under("/secrets/f", "secret") and not is_under("/x/%2573ecret/f", "secret")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_token_is_asked_for_however_a_path_is_spelled(gate, mock, spelling):
    target = spelled(spelling, "secret")
    status = ask(gate, target)
    for came in mock.requests:
        assert not is_under(came.path, "secret"), (target, came.path)
    if not mock.requests:
        assert status in (400, 401, 404), (target, status)
    mock.forget()
    # With the token it goes where it was matched, or nowhere.
    ask(gate, target, "Authorization: Bearer " + gate.token)
    for came in mock.requests:
        assert came.path.split("?")[0] == posixpath.normpath(came.path.split("?")[0]) or came.path.endswith("/")
        assert gate.token not in came.everything()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_body_is_redacted_however_a_path_is_spelled(gate, mock, spelling):
    target = spelled(spelling, "scrub")
    status = ask(gate, target, method="POST", body={"a": MAIL})
    for came in mock.requests:
        assert MAIL not in came.everything() or not is_under(came.path, "scrub"), (target, came.path)
    assert mock.requests or status in (400, 404), (target, status)


@pytest.mark.parametrize("spelling", [one for one in SPELLINGS if one[0] == "/" and "\\" not in one])
def test_http2_is_read_in_the_same_way(gate, mock, spelling):
    target = spelled(spelling, "secret")
    with Connection(gate.h2c) as connection:
        status = connection.status(connection.request(path=target))
    for came in mock.requests:
        assert not is_under(came.path, "secret"), (target, came.path)
    assert mock.requests or status in (400, 401, 404, None), (target, status)


LEAVES = [
    "/t/../x",
    "/t/../../x",
    "/t/%2e%2e/x",
    "/t/..%2fx",
    "/t/..%2f..%2fx",
    "/t/a/..%5c..%5cx",
    "/t/..;/x",
    "/t/..;/..;/x",
    "/t/a/../../../x",
    "/t//../x",
    "/t/%2e%2e%2f%2e%2e%2fx",
    "/t/%c0%ae%c0%ae/x",
    "/t/..\\x",
    "http://gateway.test/t/../../x",
    "/../t/x",
]


@pytest.mark.parametrize("target", LEAVES)
def test_a_base_is_not_left(gate, mock, target):
    status = ask(gate, target)
    for came in mock.requests:
        # Either it is not the tenant's at all, and had another route, or it stays below the base.
        assert came.path == "/x" or all(seen.startswith("/tenant1/") for seen in readings(came.path)), came.path
    assert mock.requests or status == 400


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/t/a%2fb/c?d=../e&%2e", "/tenant1/t/a%2Fb/c?d=../e&%2e"),
        ("/t//a///b/", "/tenant1/t/a/b/"),
        ("/model/arn%3aaws%3abedrock%2Fx%2Fy/invoke", "/model/arn%3Aaws%3Abedrock%2Fx%2Fy/invoke"),
        ("/a:b@c!$&'()*+,;=/%20%C3%A9", "/a:b@c!$&'()*+,;=/%20%C3%A9"),
        ("/%7Euser/%41-%5f", "/~user/A-_"),
        ("http://gateway.test", "/"),
        ("http://gateway.test?a=b", "/?a=b"),
        ("/map;v=1/x.tar.gz", "/map;v=1/x.tar.gz"),
        ("/%252e%252e/x", "/%252e%252e/x"),
    ],
)
def test_what_was_matched_goes_on(gate, mock, target, sent):
    ask(gate, target)
    assert [came.path for came in mock.requests] == [sent]


def test_reserved_characters_are_the_same_encoded_and_not_where_paths_are_compared(gate, mock):
    for action in (":generateContent", "%3AgenerateContent", "%3agenerateContent"):
        assert ask(gate, "/v1beta/models/gemini%2Fx" + action, method="POST", body={"a": 1}) == 401
    assert not mock.requests


def test_own_endpoints_have_one_path_too(gate, mock):
    bearer = "Authorization: Bearer " + gate.token
    for target in ("/v1/redact", "//v1///redact/", "/v1/./x/../%72edact", "/redact//v1/redact", "http://gateway.test//v1/redact"):
        assert ask(gate, target, bearer, method="POST", body={"text": "x"}) == 200, target
    for target in ("/v1%2Fredact", "/v1/redact;x=y", "/v1/redact%00", "/v1/redact" + "/" * 5000, "/%2e%2e/v1/redact"):
        assert ask(gate, target, bearer, method="POST", body={"text": "x"}) == 400, target
    for target in ("/healthz", "//healthz", "/x/../healthz"):
        assert ask(gate, target) == 200, target
    assert not mock.requests


def test_a_host_has_one_name(gate, mock):
    for host in ("api.test", "API.Test", "api.test.", "api.test:80", "API.TEST.:80"):
        assert ask(gate, "/x", host=host) == 418, host
    assert ask(gate, "/x", host="api.test..") != 418 and len(mock.requests) == 1


def test_the_server_itself_has_no_path(gate, mock):
    assert ask(gate, "*", method="OPTIONS") == 404
    assert ask(gate, "*") == 400 and not mock.requests
