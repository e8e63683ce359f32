"""A client of external processing that sends what no proxy would: messages by hand, over frames by hand.

Messages are lists of `(field, value)`, a value being bytes, text, a number or such a list again.
"""

import struct

import http2

PATH = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
NONE, STREAMED, BUFFERED, PARTIAL, FULL_DUPLEX = range(5)

# Fields of ProcessingRequest, and of ProcessingResponse.
REQUEST_HEADERS, RESPONSE_HEADERS, REQUEST_BODY, RESPONSE_BODY, REQUEST_TRAILERS, RESPONSE_TRAILERS = range(2, 8)
TOLD = {1: "request_headers", 2: "response_headers", 3: "request_body", 4: "response_body", 7: "immediate"}
IMMEDIATE = 7


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def encoded(fields):
    """A message as protocol buffers have it."""
    out = b""
    for field, value in fields:
        if isinstance(value, int):
            out += varint(field << 3) + varint(value)
            continue
        value = encoded(value) if isinstance(value, list) else value.encode() if isinstance(value, str) else value
        out += varint(field << 3 | 2) + varint(len(value)) + value
    return out


def decoded(data):
    """The fields of a message, by their numbers."""
    fields, at = {}, 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte, at = data[at], at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        value = number()
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def within(data, *path):
    """What stands at a path of fields, each the first of its number; None where nothing does."""
    for field in path:
        found = decoded(data).get(field)
        if found is None:
            return None
        data = found[0]
    return data


def head(pairs, end=False):
    """HttpHeaders."""
    fields = [(1, [(1, name), (3, value)]) for name, value in pairs]
    return [(1, fields), *([(3, 1)] if end else [])]


def body(data, end=True):
    """HttpBody."""
    return [(1, data), *([(2, 1)] if end else [])]


def config(request=BUFFERED, answer=BUFFERED):
    """`protocol_config`."""
    return (11, [(1, request), (2, answer)])


def post(*more, path="/v1/chat/completions", authority="api.test"):
    """The head of a request."""
    pseudo = [(":method", "POST"), (":path", path), (":authority", authority), (":scheme", "http")]
    return [*pseudo, ("content-type", "application/json"), *more]


def framed(fields):
    """A message of a gRPC stream."""
    data = encoded(fields) if isinstance(fields, list) else fields
    return struct.pack(">BI", 0, len(data)) + data


class Stream:
    """One stream of a connection."""

    def __init__(self, port=0, path=PATH, kind="application/grpc", connection=None):
        self.connection = connection or http2.Connection(port)
        self.id = self.connection.request(("content-type", kind), ("te", "trailers"), method="POST", path=path, end=False)
        self.data = b""
        self.trailers = None
        # Whether leave is given for more, and how much was taken without.
        self.grants, self.taken = True, 0
        # What may be sent: here, and on the connection.
        self.room = 65535
        if connection is None:
            self.connection.room = 65535

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.__exit__()

    def send(self, *fields, end=False):
        """A message."""
        self.bytes(framed(list(fields)), end)

    def bytes(self, data, end=False):
        """Bytes in frames of a size that all take, as far as there is room for them."""
        pieces = [data[at : at + 16384] for at in range(0, len(data), 16384)] or [b""]
        for n, piece in enumerate(pieces):
            while len(piece) > min(self.room, self.connection.room) and self.trailers is None:
                self.take()
            self.frame(piece, end and n == len(pieces) - 1)

    def frame(self, piece, end=False):
        """One frame of them."""
        self.room -= len(piece)
        self.connection.room -= len(piece)
        self.connection.send(http2.frame(http2.DATA, http2.END_STREAM if end else 0, self.id, piece))

    def begin(self, pairs=None, end=False, modes=(BUFFERED, BUFFERED)):
        """Shows the head of a request."""
        self.send((REQUEST_HEADERS, head(post() if pairs is None else pairs, end)), config(*modes))

    def end(self):
        """Nothing more is sent."""
        self.bytes(b"", end=True)

    def take(self):
        """The next frame that says anything."""
        kinds = (http2.DATA, http2.HEADERS, http2.RST_STREAM, http2.GOAWAY, http2.WINDOW_UPDATE)
        got = self.connection.until(*kinds)
        if got is None or got.kind == http2.GOAWAY:
            self.trailers = {}
        elif got.kind == http2.WINDOW_UPDATE and not got.stream:
            self.connection.room += int.from_bytes(got.payload, "big")
        elif got.stream != self.id:
            return
        elif got.kind == http2.RST_STREAM:
            self.trailers = {}
        elif got.kind == http2.WINDOW_UPDATE:
            self.room += int.from_bytes(got.payload, "big")
        elif got.kind == http2.HEADERS and got.flags & http2.END_STREAM:
            self.trailers = got.headers
        elif got.kind == http2.DATA and got.payload:
            self.data += got.payload
            self.taken += len(got.payload)
            if self.taken < 16384:
                return
            grant, self.taken = struct.pack(">I", self.taken), 0
            for stream in (0, self.id) if self.grants else (0,):
                self.connection.send(http2.frame(http2.WINDOW_UPDATE, 0, stream, grant))

    def receive(self):
        """The next message; None at the end, when `trailers` has what was said with it, or `{}` for a reset."""
        while True:
            if len(self.data) >= 5 and len(self.data) >= 5 + (size := int.from_bytes(self.data[1:5], "big")):
                message, self.data = self.data[5 : 5 + size], self.data[5 + size :]
                return message
            if self.trailers is not None:
                return None
            self.take()

    def told(self):
        """What the next message tells: its name and what is in it; or the code with which the stream ends."""
        message = self.receive()
        if message is None:
            return "ended", self.trailers.get("grpc-status")
        fields = decoded(message)
        name = next(name for field, name in TOLD.items() if field in fields)
        field = next(field for field, known in TOLD.items() if known == name)
        return name, fields[field][0]

    def status(self):
        """That of the immediate answer that comes next."""
        name, data = self.told()
        assert name == "immediate", name
        return within(data, 1, 1)
