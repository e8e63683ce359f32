"""Thousands of requests at once, over HTTP/1.1 and HTTP/2, and an upstream that answers them slowly. Nothing is tried
again: whatever is not answered whole is an error, with its reason.

As a program it is the upstream: `python load.py PORT`. `/slow/N` answers N lines, one every tick (half a second); `/late/N` sends
its answer after N ticks; `/now` at once; `/count` says how many are under way."""

import asyncio
import collections
import itertools
import os
import struct
import subprocess
import sys
import time

TICK = float(os.environ.get("PORTCULLIS_TICK", 0.5))
STREAMS = 100  # on one HTTP/2 connection


# ── The upstream ─────────────────────────────────────────────────────────────────────────────────────────────────


def asked(path):
    """`/any/slow/7` is ("slow", 7)."""
    *_, kind, count = ["", *path.strip("/").split("/"), *([] if path[-1].isdigit() else ["0"])]
    return kind, int(count)


class Upstream(asyncio.Protocol):
    under_way = 0

    def connection_made(self, transport):
        self.transport, self.read = transport, b""

    def data_received(self, data):
        self.read += data
        while b"\r\n\r\n" in self.read:
            head, self.read = self.read.split(b"\r\n\r\n", 1)
            path = head.split(b" ", 2)[1].decode()
            kind, count = asked(path)
            if kind == "slow":
                Upstream.under_way += 1
                self.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n")
                self.tick(count)
            elif kind == "late":
                Upstream.under_way += 1
                asyncio.get_running_loop().call_later(count * TICK, self.late)
            else:
                self.answer(b"%d\n" % Upstream.under_way if kind == "count" else b"now\n")

    def late(self):
        Upstream.under_way -= 1
        self.answer(b"late\n")

    def tick(self, left):
        if left:
            self.write(b"5\r\nline\n\r\n")
            asyncio.get_running_loop().call_later(TICK, self.tick, left - 1)
        else:
            Upstream.under_way -= 1
            self.write(b"0\r\n\r\n")

    def answer(self, body):
        self.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    def write(self, data):
        if not self.transport.is_closing():
            self.transport.write(data)


async def upstream(port):
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


class Slow:
    """The upstream in a process of its own; a context manager."""

    def __init__(self, port):
        self.port, self.url = port, "http://127.0.0.1:%d" % port

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, __file__, str(self.port)])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


# ── The callers ──────────────────────────────────────────────────────────────────────────────────────────────────


def expected(path):
    kind, count = asked(path)
    return {"slow": b"line\n" * count, "late": b"late\n"}.get(kind, b"now\n")


class Lost(Exception):
    pass


def unchunked(body):
    parts, at = [], 0
    while size := int(body[at : (end := body.index(b"\r\n", at))].split(b";")[0], 16):
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(parts)


class Http1(asyncio.Protocol):
    """One HTTP/1.1 request after the other on one connection: of each its status, head and body."""

    done, read, gone, stays = None, b"", None, True

    def connection_made(self, transport):
        self.transport = transport

    def send(self, request):
        self.done, self.read = asyncio.get_running_loop().create_future(), b""
        self.transport.write(request)
        return self.done

    def data_received(self, data):
        if self.done is None or self.done.done():
            return
        self.read += data
        head, found, body = self.read.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            if not body.endswith(b"0\r\n\r\n"):
                return
            body = unchunked(body)
        elif len(body) < int(lower.split(b"content-length:")[1].split(b"\r\n")[0]):
            return
        self.stays = b"connection: close" not in lower
        self.done.set_result((int(head[9:12]), head, body))

    def connection_lost(self, error):
        self.gone = error or EOFError()
        if self.done is not None and not self.done.done():
            self.done.set_exception(Lost(self.why(error)))

    def why(self, error):
        return "%s after %d bytes" % (repr(error) if error else "closed", len(self.read))


class One(Http1):
    """Asks for what the upstream here answers."""

    async def ask(self, path, close):
        last = b"connection: close\r\n" if close else b""
        _, head, body = await self.send(b"GET %s HTTP/1.1\r\nhost: load.test\r\n%s\r\n" % (path.encode(), last))
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Lost(head.split(b"\r\n")[0].decode())
        if body != expected(path):
            raise Lost("another body: %r" % body[:80])


async def h1(port, path):
    """One request on a connection of its own."""
    loop = asyncio.get_running_loop()
    transport, one = await loop.create_connection(One, "127.0.0.1", port)
    try:
        await one.ask(path, close=True)
    finally:
        transport.close()


async def kept(port, path, stop, tally):
    """Requests on one connection for as long as it stays; a new one after an answer that says it closes, or one that
    was closed while nothing was asked."""
    loop = asyncio.get_running_loop()
    one = None
    while not stop.is_set():
        if one is None or one.gone or not one.stays:
            if one is not None:
                one.transport.close()
            tally["connections"] += 1
            _, one = await loop.create_connection(One, "127.0.0.1", port)
        await one.ask(path, close=False)
        tally["kept"] += 1
    one.transport.close()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header field without indexing and without Huffman (RFC 7541 section 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8


class Two(asyncio.Protocol):
    """Many HTTP/2 requests on one connection (RFC 9113), by prior knowledge. Streams that a GOAWAY lets live on do."""

    def connection_made(self, transport):
        self.transport, self.read, self.streams, self.next, self.goaway = transport, b"", {}, 1, None
        transport.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        # INITIAL_WINDOW_SIZE, and the connection's window.
        transport.write(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0x7FFFFFFF)))
        transport.write(frame(WINDOW, 0, 0, struct.pack(">I", 0x7FFFFFFF - 65535)))

    def ask(self, path):
        stream, self.next = self.next, self.next + 2
        done = asyncio.get_running_loop().create_future()
        self.streams[stream] = [done, b"", b"", path]
        fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"load.test"), (b":path", path.encode())]
        block = b"".join(itertools.starmap(literal, fields))
        self.transport.write(frame(HEADERS, 0x5, stream, block))
        return done

    def data_received(self, data):
        self.read += data
        while len(self.read) >= 9:
            length = int.from_bytes(self.read[:3], "big")
            if len(self.read) < 9 + length:
                return
            kind, flags, stream = self.read[3], self.read[4], int.from_bytes(self.read[5:9], "big") & 0x7FFFFFFF
            payload, self.read = self.read[9 : 9 + length], self.read[9 + length :]
            self.frame(kind, flags, stream, payload)

    def frame(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & 1:
            self.transport.write(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            self.transport.write(frame(PING, 1, 0, payload))
        elif kind == GOAWAY:
            last, code = struct.unpack(">II", payload[:8])
            self.goaway = (last & 0x7FFFFFFF, code)
            for stream in [stream for stream in self.streams if stream > self.goaway[0]]:
                self.end(stream, "GOAWAY %d" % code)
        elif stream in self.streams:
            state = self.streams[stream]
            if kind == RESET:
                return self.end(stream, "RST_STREAM %d" % int.from_bytes(payload, "big"))
            if kind == HEADERS:
                state[2] = state[2] or payload
            if kind == DATA:
                state[1] += payload
            if flags & 1:
                right = b"\x88" in state[2][:4] and state[1] == expected(state[3])
                self.end(stream, None if right else "another answer: %r %r" % (state[2][:4], state[1][:80]))

    def end(self, stream, why):
        done = self.streams.pop(stream)[0]
        if not done.done():
            done.set_exception(Lost(why)) if why else done.set_result(None)
        if self.goaway and not self.streams:
            self.transport.close()

    def connection_lost(self, error):
        for stream in list(self.streams):
            self.end(stream, "%s in the middle" % (repr(error) if error else "closed"))


async def h2(port, paths):
    """Requests on one connection, all at once."""
    transport, two = await asyncio.get_running_loop().create_connection(Two, "127.0.0.1", port)
    try:
        return await asyncio.gather(*map(two.ask, paths), return_exceptions=True)
    finally:
        transport.close()


class Tally(collections.Counter):
    """What became of all requests: `ok`, or why not."""

    def note(self, outcome):
        self["ok" if outcome is None else "%s: %s" % (type(outcome).__name__, outcome)] += 1

    def lost(self):
        return {why: count for why, count in self.items() if why not in ("ok", "kept", "connections", "refused")}


async def noted(tally, work):
    try:
        await work
        tally.note(None)
    except Exception as error:
        tally.note(error)


async def noted_many(tally, work):
    try:
        for outcome in await work:
            tally.note(outcome)
    except Exception as error:
        tally.note(error)


def flight(gateway, count, tally, ticks):
    """`count` requests that take `ticks` half seconds: two fifths on connections of their own, half of those streams and
    half plain, the others over HTTP/2."""
    own = count * 2 // 5
    work = [noted(tally, h1(gateway.port, "/load/%s/%d" % (("slow", "late")[i % 2], ticks))) for i in range(own)]
    for begin in range(0, count - own, STREAMS):
        paths = ["/load/slow/%d" % ticks] * min(STREAMS, count - own - begin)
        work.append(noted_many(tally, h2(gateway.h2c, paths)))
    return [asyncio.create_task(one) for one in work]


async def steady(gateway, rate, stop, tally):
    """So many requests a second, each on a connection of its own. Who cannot connect is `refused`."""
    tasks = set()

    async def one():
        try:
            await h1(gateway.port, "/load/now")
            tally.note(None)
        except ConnectionRefusedError:
            tally["refused"] += 1
        except Exception as error:
            tally.note(error)

    began = time.monotonic()
    for number in itertools.count():
        if stop.is_set():
            break
        task = asyncio.create_task(one())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(max(0, began + number / rate - time.monotonic()))
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(upstream(int(sys.argv[1])))
