"""WebSocket frame by frame (RFC 6455), so that a test can send what no library would, and sees every byte that comes."""

import base64
import hashlib
import os
import queue
import socket
import struct
import threading
from dataclasses import dataclass

from gateway import PATIENCE

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Message:
    opcode: int
    payload: bytes
    raw: bytes

    @property
    def text(self):
        return self.payload.decode()

    @property
    def code(self):
        return struct.unpack_from(">H", self.payload)[0] if self.payload else 1005


def masked(key, payload):
    return bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))


def frame(opcode, payload=b"", mask=True, last=True, rsv=0):
    payload = payload.encode() if isinstance(payload, str) else payload
    first = bytes([(0x80 if last else 0) | rsv << 4 | opcode])
    size, bit = len(payload), 0x80 if mask else 0
    if size < 126:
        size = bytes([bit | size])
    elif size < 1 << 16:
        size = bytes([bit | 126]) + struct.pack(">H", size)
    else:
        size = bytes([bit | 127]) + struct.pack(">Q", size)
    key = os.urandom(4) if mask else b""
    return first + size + key + (masked(key, payload) if mask else payload)


def fragments(opcode, payload, size, mask=True):
    """The frames of one message."""
    payload = payload.encode() if isinstance(payload, str) else payload
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)] or [b""]
    return [frame(opcode if at == 0 else 0, one, mask, at == len(pieces) - 1) for at, one in enumerate(pieces)]


def close(code, reason="", mask=True):
    return frame(CLOSE, struct.pack(">H", code) + reason.encode(), mask)


class Peer:
    """One side of a connection, its handshake done."""

    def __init__(self, stream, rest=b""):
        self.stream, self.rest, self.begun = stream, rest, None
        self.masks = []

    def send(self, data):
        self.stream.sendall(data)

    def take(self, size):
        while len(self.rest) < size:
            more = self.stream.recv(65536)
            if not more:
                raise EOFError
            self.rest += more
        out, self.rest = self.rest[:size], self.rest[size:]
        return out

    def receive(self):
        """The next message, or a control frame; a close frame and the end of the connection, too."""
        while True:
            try:
                head = self.take(2)
                raw, size = head, head[1] & 0x7F
                if size > 125:
                    more = self.take(2 if size == 126 else 8)
                    raw, size = raw + more, int.from_bytes(more, "big")
                key = self.take(4) if head[1] & 0x80 else b""
                body = self.take(size)
            except (EOFError, ConnectionError):
                return None
            self.masks.append(key)
            raw += key + body
            payload = masked(key, body) if key else body
            opcode = head[0] & 0x0F
            if opcode >= 8:
                return Message(opcode, payload, raw)
            if opcode:
                self.begun = Message(opcode, b"", b"")
            self.begun.payload += payload
            self.begun.raw += raw
            if head[0] & 0x80:
                return self.begun


def read_head(stream):
    data = b""
    while b"\r\n\r\n" not in data:
        more = stream.recv(65536)
        if not more:
            break
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return head.decode("latin1"), rest


def header(head, name):
    lines = [line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line]
    return [value for key, value in lines if key.lower() == name]


class Server:
    """A server of sessions on loopback: `serve(peer, head)` speaks in each; a context manager. `refuse` is the whole
    answer to who asks, instead of agreeing."""

    def __init__(self, serve, refuse=None, extra=()):
        self.serve, self.refuse, self.extra = serve, refuse, extra
        self.heads, self.faults = queue.Queue(), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(stream,), daemon=True).start()

    def one(self, stream):
        with stream:
            stream.settimeout(30 * PATIENCE)
            head, rest = read_head(stream)
            self.heads.put(head)
            if self.refuse:
                return stream.sendall(self.refuse)
            key = header(head, "sec-websocket-key")
            accept = base64.b64encode(hashlib.sha1(key[0].encode() + MAGIC).digest()).decode() if key else "?"
            lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
            lines += ["Sec-WebSocket-Accept: " + accept, *self.extra]
            stream.sendall("\r\n".join(lines + ["", ""]).encode())
            try:
                self.serve(Peer(stream, rest), head)
            except (EOFError, OSError) as fault:
                self.faults.append(fault)


class Client(Peer):
    """Asks for a session; `status` and `head` are what was answered. A context manager."""

    def __init__(self, port, path, headers=(), version="13", early=b""):
        stream = socket.create_connection(("127.0.0.1", port), timeout=30 * PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET %s HTTP/1.1" % path, "Host: gateway", "Connection: keep-alive, Upgrade", "Upgrade: websocket"]
        lines += ["Sec-WebSocket-Version: " + version, "Sec-WebSocket-Key: " + key]
        lines += ["%s: %s" % pair for pair in headers]
        stream.sendall("\r\n".join(lines + ["", ""]).encode() + early)
        self.head, rest = read_head(stream)
        self.status = int(self.head.split(" ")[1])
        wanted = base64.b64encode(hashlib.sha1(key.encode() + MAGIC).digest()).decode()
        self.agreed = header(self.head, "sec-websocket-accept") == [wanted]
        super().__init__(stream, rest)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
