#!/usr/bin/env python3
"""What is left of the gateway at three times its peak: `tests/bench/overload.py [BINARY] [SECONDS] [TURNS]`.

Finds how many closed-loop clients, which wait for each answer, get most out of it. Then, in turns (24), takes the peak with
so many for five seconds, and offers three times that open-loop for so many seconds (5), whatever comes back. In short turns,
because a processor that others share is not as fast from one second to the next, and peak and goodput are to be had at the
same speed. The request is a chat with 12 KB of history, redacted and restored. The upstream answers at once, so `in_flight`
is what one thread does best with: see docs/operations.md#overload. On Linux with two processors the gateway has
the first and everything else the second. Prints goodput, what the rest got, and memory; ends with 1 if the turns' goodput is
under 90 % of their peaks, if anything but 200 and a clean 503 came, or if memory grew by over a tenth.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    os.environ["PORTCULLIS_BIN"] = sys.argv[1]

from gateway import MINIMAL, Gateway  # noqa: E402

CONFIG = "threads = 1\n" + MINIMAL + """
[log]
level = "error"

[limits]
in_flight = 8

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "chat"
path = "/v1"
upstream = "mock"
auth = "none"
redact = {{}}
"""

HISTORY = " ".join(
    "On day %d the customer wrote from jane.doe%d@example.com that nothing had arrived, and asked to be called." % (n, n)
    for n in range(120)
)
BODY = json.dumps({"model": "plain", "messages": [{"role": "user", "content": HISTORY}]}).encode()
REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: overload\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    % len(BODY)
) + BODY
ANSWER = json.dumps({"id": "x", "object": "chat.completion", "choices": [
    {"index": 0, "message": {"role": "assistant", "content": "I see. " * 60}, "finish_reason": "stop"}]}).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ANSWER) + ANSWER

# Callers that may wait at once, open-loop.
CONNECTIONS = 1500


# How long the upstream thinks, in seconds.
thinks = 0


async def model(reader, writer):
    """An upstream that answers at once, unless it is told to think."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            if thinks:
                await asyncio.sleep(thinks)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
        writer.close()


class Caller:
    """One connection at a time."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, request=REQUEST):
        """The status; 0 where there was no answer, -1 for a 503 that is not clean."""
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            self.writer.write(request)
            head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
            status = int(head[9:12])
            if b"content-length:" in head:
                body = await self.reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
            else:
                body = await chunks(self.reader)
            if b"connection: close" in head:
                self.close()
            if status == 503 and not (b"retry-after:" in head and json.loads(body)["error"]["type"] == "server_error"):
                return -1
            return status
        except (OSError, asyncio.IncompleteReadError, ValueError, KeyError):
            self.close()
            return 0

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None


async def chunks(reader):
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


async def closed(port, clients, seconds):
    """Answers a second to so many clients, each of which waits for the one before."""
    end, done = time.monotonic() + seconds, 0

    async def client():
        nonlocal done
        caller = Caller(port)
        while time.monotonic() < end:
            # Not in one expression: others count while this one waits.
            good = await caller.ask() == 200
            done += good
        caller.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return done / seconds


async def opened(port, rate, seconds):
    """What became of `rate` requests a second, answers or not."""
    idle, tasks, statuses, waits, unsent = [Caller(port) for _ in range(CONNECTIONS)], set(), {}, [], 0
    began = time.monotonic()

    async def one(caller):
        start = time.monotonic()
        status = await caller.ask()
        statuses[status] = statuses.get(status, 0) + 1
        if status == 200:
            waits.append(time.monotonic() - start)
        idle.append(caller)

    sent = 0
    while (now := time.monotonic() - began) < seconds:
        while sent < now * rate:
            sent += 1
            if not idle:
                unsent += 1
                continue
            task = asyncio.ensure_future(one(idle.pop()))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.002)
    good = statuses.get(200, 0) / seconds
    await asyncio.gather(*tasks)
    return good, statuses, sorted(waits), (sent, unsent)


def resident(pid):
    """In MiB."""
    for line in Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


async def measured(gate, seconds, turns):
    await closed(gate.port, 8, 2)
    peaks = {}
    for clients in (4, 8, 16, 32):
        peaks[clients] = await closed(gate.port, clients, 5)
        print("closed loop, %2d clients: %6.0f answers/s" % (clients, peaks[clients]))
    best = max(peaks, key=peaks.get)
    # Its connections and buffers are there before memory is compared.
    await opened(gate.port, 3 * peaks[best], 5)
    memory = [resident(gate.process.pid)]

    async def watch():
        while True:
            await asyncio.sleep(0.5)
            memory.append(resident(gate.process.pid))

    watching = asyncio.ensure_future(watch())
    before, under, seen = [], [], {}
    for turn in range(turns):
        before.append(await closed(gate.port, best, 5))
        good, statuses, waits, (sent, unsent) = await opened(gate.port, 3 * before[-1], seconds)
        under.append(good)
        for status, count in statuses.items():
            seen[status] = seen.get(status, 0) + count
        p99 = waits[len(waits) * 99 // 100] if waits else 0
        print("turn %d: peak %.0f/s; offered %.0f/s, %d sent, %d found no connection; goodput %.0f/s = %.0f %%, p99 %.0f ms; %s"
              % (turn + 1, before[-1], 3 * before[-1], sent - unsent, unsent, good, 100 * good / before[-1], 1e3 * p99, statuses))
    watching.cancel()
    print("in all: goodput %.0f/s = %.1f %% of the peak, statuses %s" % (sum(under) / turns, 100 * sum(under) / sum(before), seen))
    print("memory %.0f MiB at first, %.0f at most, %.0f at last" % (memory[0], max(memory), memory[-1]))
    bad = set(seen) - {200, 503}
    return sum(under) >= 0.9 * sum(before) and not bad and memory[-1] < 1.1 * memory[0] and 503 in seen


def apart(gate):
    """The gateway on one processor, this on another, where there are two."""
    if hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1:
        first, second, *_ = sorted(os.sched_getaffinity(0))
        for thread in os.listdir("/proc/%d/task" % gate.process.pid):
            os.sched_setaffinity(int(thread), {first})
        os.sched_setaffinity(0, {second})


async def run(seconds, turns):
    server = await asyncio.start_server(model, "127.0.0.1", 0, backlog=1024)
    url = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    with Gateway(url, CONFIG) as gate:
        apart(gate)
        return await measured(gate, seconds, turns)


if __name__ == "__main__":
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    sys.exit(0 if asyncio.run(run(seconds, int(sys.argv[3]) if len(sys.argv) > 3 else 24)) else 1)
