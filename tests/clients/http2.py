"""HTTP/2 frame by frame (RFC 9113 section 4), so that a test can send what no library would."""

import socket
import struct
import time
from dataclasses import dataclass

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = 0, 1, 2, 3, 4
PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 5, 6, 7, 8, 9

END_STREAM, ACK, END_HEADERS, PADDED, PRIORITISED = 1, 1, 4, 8, 32

NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT = 0, 1, 2, 3, 4
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR = 5, 6, 7, 8, 9
ENHANCE_YOUR_CALM = 11


@dataclass
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes

    @property
    def code(self):
        """The error code of a GOAWAY or RST_STREAM."""
        at = 4 if self.kind == GOAWAY else 0
        return struct.unpack_from(">I", self.payload, at)[0]


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(*pairs):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", name, value) for name, value in pairs))


def block(pairs):
    """A header block, nothing indexed and nothing compressed: the bytes that are meant."""
    out = b""
    for name, value in pairs:
        for text in (b"\0" + _text(name), _text(value)):
            out += text
    return out


def _text(text):
    raw = text.encode("latin1")
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    rest, length = len(raw) - 127, b"\x7f"
    while rest >= 128:
        length, rest = length + bytes([rest % 128 + 128]), rest // 128
    return length + bytes([rest]) + raw


class Connection:
    """One connection; its own settings are sent at once unless `greet` is false."""

    def __init__(self, port, greet=True, timeout=10):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.decoder = hpack.Decoder()
        self.authority = "127.0.0.1:%d" % port
        self.next = 1
        if greet:
            self.send(PREFACE + settings())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def pseudo(self, method="GET", path="/fixed"):
        return [(":method", method), (":scheme", "http"), (":authority", self.authority), (":path", path)]

    def request(self, *more, method="GET", path="/fixed", end=True, stream=None):
        """A whole request head; its stream."""
        stream = self.stream() if stream is None else stream
        flags = END_HEADERS | (END_STREAM if end else 0)
        self.send(frame(HEADERS, flags, stream, block(self.pseudo(method, path) + list(more))))
        return stream

    def stream(self):
        stream, self.next = self.next, self.next + 2
        return stream

    def receive(self):
        """The next frame; None at the end."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            try:
                more = self.sock.recv(65536)
            except ConnectionResetError:
                return None
            if not more:
                return None
            self.buffer += more
        length = int.from_bytes(self.buffer[:3], "big")
        kind, flags, stream = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big") & 0x7FFFFFFF
        payload, self.buffer = self.buffer[9 : 9 + length], self.buffer[9 + length :]
        return Frame(kind, flags, stream, payload)

    def until(self, *kinds, stream=None):
        """The next frame of one of these kinds, on this stream if one is named; None at the end. Settings are
        acknowledged."""
        while got := self.receive():
            if got.kind == SETTINGS and not got.flags & ACK:
                try:
                    self.send(frame(SETTINGS, ACK))
                except OSError:
                    pass
            if got.kind == HEADERS:
                got.headers = dict(self.decoder.decode(got.payload))
            if got.kind in kinds and (stream is None or got.stream == stream or got.kind == GOAWAY):
                return got
        return None

    def status(self, stream):
        got = self.until(HEADERS, RST_STREAM, GOAWAY, stream=stream)
        return int(got.headers[":status"]) if got and got.kind == HEADERS else None

    def ended(self, seconds=5):
        """Whether the other side closes."""
        end = time.monotonic() + seconds
        self.sock.settimeout(seconds)
        try:
            while time.monotonic() < end:
                if self.receive() is None:
                    return True
        except TimeoutError:
            pass
        return False
