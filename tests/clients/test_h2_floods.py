"""Floods over HTTP/2: each is told to calm down (RFC 9113 sections 10.5 and 6.8) and cut off, at little cost, while others
are served. `FLOOD_P99_MS` is what their slowest hundredth may take (100 on a machine that has nothing else to do)."""

import os
import struct
import threading
import time

import pytest
from gateway import cpu
from http2 import (
    CONTINUATION, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, Connection, block, frame,
)

# Seconds of processor time that a flood may cost.
CPU = 5
P99 = float(os.environ.get("FLOOD_P99_MS", "500")) / 1000
FRAMES = 10_000


def rapid_reset(c):
    head = block(c.pseudo("POST", "/generic"))
    for at in range(FRAMES):
        stream = 2 * at + 1
        yield frame(HEADERS, END_HEADERS, stream, head) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))


def made_you_reset(c):
    """CVE-2025-8671: each stream is ended by an error that the server answers with RST_STREAM."""
    head = block(c.pseudo("POST", "/generic") + [("content-type", "application/json")])
    for at in range(FRAMES):
        stream = 2 * at + 1
        yield frame(HEADERS, END_HEADERS, stream, head) + frame(WINDOW_UPDATE, 0, stream, b"\x7f\xff\xff\xff")


def continuations(c):
    yield frame(HEADERS, END_STREAM, 1, block(c.pseudo()))
    for at in range(FRAMES):
        yield frame(CONTINUATION, 0, 1, block([("x-%d" % at, "y")]))


def empty_continuations(c):
    yield frame(HEADERS, END_STREAM, 1, block(c.pseudo()))
    for _ in range(FRAMES):
        yield frame(CONTINUATION, 0, 1)


def many_settings(_):
    for _ in range(FRAMES):
        yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535))


def pings(_):
    for _ in range(FRAMES):
        yield frame(PING, 0, 0, bytes(8))


def window_updates(_):
    for _ in range(FRAMES):
        yield frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))


def empty_data(c):
    yield frame(HEADERS, END_HEADERS, 1, block(c.pseudo("POST", "/generic")))
    for _ in range(FRAMES):
        yield frame(0, 0, 1)


def hpack_bomb(c):
    """A field of 4 KB put into the table once, then named by one byte as often as fits: 16 KB become 64 MB."""
    name, value = b"x-bomb", b"y" * 3900
    big = b"\x40" + bytes([len(name)]) + name + b"\x7f" + bytes([(len(value) - 127) % 128 + 128, (len(value) - 127) // 128]) + value
    yield frame(HEADERS, END_HEADERS | END_STREAM, 1, block(c.pseudo()) + big)
    for at in range(1, 400):
        yield frame(HEADERS, END_HEADERS | END_STREAM, 2 * at + 1, block(c.pseudo()) + b"\xbe" * 15000)


FLOODS = [
    rapid_reset, made_you_reset, continuations, empty_continuations, many_settings, pings, window_updates, empty_data, hpack_bomb,
]


class Good:
    """Good requests on a connection of their own, until it is told to stop."""

    def __init__(self, gateway):
        self.gateway, self.took, self.failed, self.stop = gateway, [], [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(30)

    def run(self):
        with Connection(self.gateway.h2c) as c:
            while not self.stop.is_set():
                begun = time.monotonic()
                status = c.status(c.request())
                self.took.append(time.monotonic() - begun)
                if status != 418:
                    self.failed.append(status)
                time.sleep(0.005)

    def p99(self):
        return sorted(self.took)[int(len(self.took) * 0.99) - 1]


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.__name__)
def test_floods_are_cut_off(gateway, flood, record_property):
    before = cpu(gateway.process.pid)
    with Good(gateway) as good, Connection(gateway.h2c) as c:
        reader, seen = None, []

        def read():
            while got := c.receive():
                if got.kind == GOAWAY:
                    seen.append(got.code)
            seen.append(None)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            for data in flood(c):
                c.send(data)
        except OSError:
            pass
        reader.join(10)
        time.sleep(0.5)
    spent = cpu(gateway.process.pid) - before
    print("%s: codes %s, %.2f s of CPU, p99 %.1f ms of %d" % (flood.__name__, seen, spent, good.p99() * 1e3, len(good.took)))
    assert seen and seen[-1] is None, "the connection is still open"
    assert seen[0] == ENHANCE_YOUR_CALM, seen
    assert not good.failed and len(good.took) > 20
    assert spent < CPU and good.p99() < P99


def test_who_cancels_what_it_asked_is_no_flood(gateway):
    """A client that cancels as many requests as it lets end goes on for as long as it likes."""
    with Connection(gateway.h2c) as c:
        for _ in range(400):
            assert c.status(c.request()) == 418
            left = c.request(method="POST", path="/generic", end=False)
            c.send(frame(RST_STREAM, 0, left, struct.pack(">I", 8)))
        assert c.status(c.request()) == 418
