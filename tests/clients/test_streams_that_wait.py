"""Streams whose server waits for their reader: what may be the beginning of a value leaves though nothing follows it."""

import gzip
import http.client
import json
import threading

import pytest
from gateway import EVERY_PATH, PATIENCE, Gateway
from mock_upstream import Mock, MockHandler, Recorded

NAME = "Maria Lopez"

# What the server asks, and how its stream goes on.
FORMS = {
    "/agent/run": ("text/event-stream", "data: %s\n\n"),
    "/agent/lines": ("application/x-ndjson", "%s\n"),
    "/agent/documents": ("application/json", "%s"),
    "/agent/sequence": ("application/json-seq", "\x1e%s\n"),
    "/agent/text": ("text/plain", "> %s"),
}


class Asking(MockHandler):
    """Asks who is meant, and goes on when that was read."""

    def do_POST(self):
        came = Recorded(self.command, self.path, list(self.headers.items()), self.take())
        self.mock.requests.append(came)
        kind, frame = FORMS[self.path]
        packed = "gzip" if came.json().get("packed") else ""
        self.pieces(200, kind, self.said(frame, came.json()["inputs"], packed), packed)

    def said(self, frame, name, packed):
        coder = gzip.zlib.compressobj(wbits=31) if packed else None
        for text in ("Is this for " + name, "As you like: " + name):
            piece = (frame % json.dumps({"message": text})).encode()
            yield coder.compress(piece) + coder.flush(gzip.zlib.Z_SYNC_FLUSH) if coder else piece
            self.mock.in_time &= self.mock.read.wait(20 * PATIENCE)
            self.mock.read.clear()
        if coder:
            yield coder.flush()


class AskingMock(Mock):
    handler = Asking
    in_time = True

    def __init__(self):
        super().__init__()
        self.read = threading.Event()


@pytest.fixture(scope="module")
def ends():
    with AskingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield mock, gateway


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("path", FORMS)
def test_what_a_server_asks_is_read_before_it_goes_on(ends, path, packed):
    mock, gateway = ends
    mock.in_time = True
    mock.read.clear()
    body = json.dumps({"inputs": NAME, "packed": packed})
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30 * PATIENCE)
    try:
        connection.request("POST", path, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200
        unpack = gzip.zlib.decompressobj(wbits=31) if packed else None
        came = b""
        for number in (1, 2):
            while came.count(b"}") < number:
                piece = answer.read1(1 << 16)
                assert piece
                came += unpack.decompress(piece) if unpack else piece
            mock.read.set()
        while piece := answer.read1(1 << 16):
            came += unpack.decompress(piece) if unpack else piece
    finally:
        connection.close()
    assert mock.in_time, "the server waits for what its reader does not have"
    assert NAME.encode() not in mock.requests[-1].body
    kind, frame = FORMS[path]
    want = (frame % json.dumps({"message": "Is this for " + NAME})) + frame % json.dumps({"message": "As you like: " + NAME})
    assert came.decode() == want
