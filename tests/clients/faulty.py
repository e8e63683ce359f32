"""A proxy of bytes between the gateway and an upstream that does to them what networks do.

`mode` may be changed at any time; a connection keeps the one that it began with:

    pass                        latency:MS, jitter:MS, rate:BYTES_PER_S, slice:BYTES,MS    slow, but right
    reset_after:BYTES           RST within the answer        close_after:BYTES             FIN within the answer
    stall_after:BYTES           silence within the answer    blackhole                     the request goes nowhere
    half_close                  an end of the upstream's is not passed on
    refuse                      RST as soon as there is a connection
    flip:ONE_IN_N               bits of the answer turn over
    dribble:MS                  the head of an answer, then a byte of its body every so often, for ever
    early:STATUS                an answer at once; the request is never read
    hint:STATUS                 an informational answer at once, then FIN
    one_shot                    each connection is closed just when a second request comes
    random                      one of these for each connection, reset within half a second
"""

import asyncio
import random
import socket
import struct
import threading
import time

RANDOM = ["pass"] * 8 + [
    "reset_after:0",
    "reset_after:90",
    "reset_after:300",
    "close_after:0",
    "close_after:90",
    "close_after:300",
    "refuse",
    "one_shot",
    "slice:40,1",
    "jitter:5",
]


class Faulty:
    """The proxy, on a free port of the loopback; a context manager."""

    def __init__(self, target, mode="pass"):
        self.target, self.mode, self.connections, self.writers = target, mode, 0, set()

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        started = threading.Event()

        async def begin():
            listening = socket.create_server(("127.0.0.1", 0))
            # What is not read soon keeps its sender waiting.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 10)
            self.server = await asyncio.start_server(self.connection, sock=listening)
            self.port = listening.getsockname()[1]
            started.set()

        def run():
            asyncio.set_event_loop(self.loop)
            self.loop.create_task(begin())
            self.loop.run_forever()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_):
        def end():
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.call_soon(self.loop.stop)

        self.loop.call_soon_threadsafe(end)
        self.thread.join(5)

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def drop(self):
        """Ends all connections, and waits until the other side must have seen it."""

        def end():
            for writer in list(self.writers):
                writer.transport.abort()

        self.loop.call_soon_threadsafe(end)
        time.sleep(0.1)

    async def connection(self, reader, writer):
        self.connections += 1
        self.writers.add(writer)
        mode = self.mode
        if mode == "random":
            mode = random.choice(RANDOM)
            # One that stayed good would soon be the only one that is used.
            self.loop.call_later(random.uniform(0, 0.5), reset, writer)
        kind, _, value = mode.partition(":")
        try:
            if kind == "refuse":
                return reset(writer)
            if kind == "early":
                body = b'{"error":{"message":"no","type":"invalid_request_error"}}'
                head = "HTTP/1.1 %s No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (value, len(body))
                writer.write(head.encode() + body)
                await asyncio.sleep(3600)
            if kind == "hint":
                await reader.readuntil(b"\r\n\r\n")
                writer.write(("HTTP/1.1 %s So\r\nlink: </a>\r\n\r\n" % value).encode())
                return
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            try:
                await asyncio.gather(up(reader, back, kind), down(there, writer, kind, value))
            finally:
                back.close()
        except (OSError, RuntimeError, asyncio.CancelledError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()


def reset(writer):
    if writer.transport.is_closing():
        return
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def up(reader, writer, kind):
    requests = 0
    while data := await reader.read(65536):
        if kind == "blackhole":
            continue
        requests += data.startswith((b"GET ", b"POST "))
        if kind == "one_shot" and requests > 1:
            # What it got is never acted on, which nobody but it can know.
            raise ConnectionResetError
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def down(reader, writer, kind, value):
    total = 0
    while data := await reader.read(65536):
        if kind in ("latency", "jitter"):
            await asyncio.sleep(float(value) / 1e3 * (random.random() if kind == "jitter" else 1))
        if kind in ("reset_after", "close_after", "stall_after") and total + len(data) > int(value):
            writer.write(data[: max(0, int(value) - total)])
            await writer.drain()
            # Else the reset would overtake what was written.
            await asyncio.sleep(0.05 if kind == "reset_after" else 0)
            if kind == "reset_after":
                return reset(writer)
            if kind == "close_after":
                return writer.close()
            await asyncio.sleep(3600)
        total += len(data)
        if kind == "flip":
            data = bytes(b ^ (1 << random.randrange(8)) if random.randrange(int(value)) == 0 else b for b in data)
        if kind == "dribble":
            head, _, body = data.partition(b"\r\n\r\n")
            writer.write(head + b"\r\n\r\n")
            for at in range(3600_000):
                writer.write(body[at : at + 1])
                await writer.drain()
                await asyncio.sleep(float(value) / 1e3)
        if kind in ("slice", "rate"):
            size, pause = value.split(",") if kind == "slice" else (max(1, int(value) // 20), 50)
            for at in range(0, len(data), int(size)):
                writer.write(data[at : at + int(size)])
                await writer.drain()
                await asyncio.sleep(float(pause) / 1e3)
            continue
        writer.write(data)
        await writer.drain()
    if kind != "half_close" and writer.can_write_eof():
        writer.write_eof()
