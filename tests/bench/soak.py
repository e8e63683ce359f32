#!/usr/bin/env python3
"""What a long run leaves behind: `tests/bench/soak.py [BINARY] [--minutes 60] [--share 0.7]`.

Finds the peak as overload.py does, then offers `--share` of it, open-loop, for so many minutes: chats that are redacted and
restored, one in ten on a new connection; and beside them, each ten times a second, texts, tokens signed and verified, and
files. Before that a minute brings all that may stay: caches are filled, and there are as many connections as there will ever
be, which the gateway keeps to its upstream, for otherwise memory goes up and down with them. Memory and open files are looked
at every ten seconds; the first tenth of the run does not count. Ends with 1 if memory rises by 1 MiB an hour or more (the slope
of a line through all points), if open files do so by one, or if an answer is not 200."""

import argparse
import asyncio
import collections
import json
import os
import statistics
import sys
import time

import overload
from gateway import Gateway, multipart

EVERY = 10
BESIDE = 10

# Before it is measured: how long, and calls a second.
WARM = 60
WARM_BESIDE = 100

# Of chats, at once.
CALLERS = 200

# Nothing is to be refused here, and no connection to the upstream to be closed for want of use.
CONFIG = overload.CONFIG.replace("in_flight = 8", "in_flight = 1024") + """
[upstreams.mock.timeouts]
idle = "1d"
"""

VAULT = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256", "name": "soak"}
TEXT = json.dumps({"text": "write to jane.doe@example.com or call +1 415 555 0132"}).encode()
PAGE = b"<html><body onload=alert(1)><p>jane.doe@example.com</p><a href='https://example.net/'>x</a></body></html>"


def post(path, token, kind, body):
    head = "POST %s HTTP/1.1\r\nhost: soak\r\nauthorization: Bearer %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
    return (head % (path, token, kind, len(body))).encode() + body


class Beside:
    """Calls to the gateway's own endpoints, one connection each."""

    def __init__(self, gate):
        made = gate.api("/v2/key/generate", VAULT).json()["result"]["id"]
        sign = json.dumps({"id": made, "payload": json.dumps({"sub": "soak"})}).encode()
        jws = gate.api("/v2/jwt/sign", sign, **{"content-type": "application/json"}).json()["result"]["jws"]
        kind, form = multipart({"content": {"url_intel": False, "domain_intel": False, "redact": True}}, "a.html", PAGE)
        calls = [
            ("/v1/redact", "application/json", TEXT),
            ("/v2/jwt/sign", "application/json", sign),
            ("/v2/jwt/verify", "application/json", json.dumps({"jws": jws}).encode()),
            ("/v1/sanitize", kind, form),
        ]
        self.port, self.requests = gate.port, [post(path, gate.token, kind, body) for path, kind, body in calls]

    async def run(self, end, statuses, pace=BESIDE):
        async def one(request):
            caller = overload.Caller(self.port)
            while time.monotonic() < end:
                began = time.monotonic()
                status = await caller.ask(request)
                statuses[status] = statuses.get(status, 0) + 1
                await asyncio.sleep(max(0, 1 / pace - (time.monotonic() - began)))
            caller.close()

        await asyncio.gather(*map(one, self.requests))


async def chats(port, rate, end, statuses):
    # In turn: the gateway closes what is idle for long.
    idle, tasks = collections.deque(overload.Caller(port) for _ in range(CALLERS)), set()
    sent, began, late = 0, time.monotonic(), 0

    async def one(caller, last):
        status = await caller.ask()
        statuses[status] = statuses.get(status, 0) + 1
        if last:
            caller.close()
        idle.append(caller)

    while (now := time.monotonic()) < end:
        while sent < (now - began) * rate:
            sent += 1
            if not idle:
                late += 1
                continue
            task = asyncio.ensure_future(one(idle.popleft(), sent % 10 == 0))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    return sent, late


async def watch(pid, end):
    points = []
    # None after the end, when the callers have gone.
    while time.monotonic() + EVERY < end:
        await asyncio.sleep(EVERY)
        points.append((time.monotonic(), overload.resident(pid), len(os.listdir("/proc/%d/fd" % pid))))
        if len(points) % 30 == 0:
            print("%3d min: %.1f MiB, %d files" % (len(points) * EVERY / 60, *points[-1][1:]), flush=True)
    return points


async def measured(gate, minutes, share):
    beside = Beside(gate)
    await overload.closed(gate.port, 8, 2)
    peak = max([await overload.closed(gate.port, clients, 5) for clients in (8, 16)])
    overload.thinks = 0.5
    await asyncio.gather(overload.closed(gate.port, CALLERS, WARM), beside.run(time.monotonic() + WARM, {}, WARM_BESIDE))
    overload.thinks = 0
    rate, end, statuses = share * peak, time.monotonic() + 60 * minutes, {}
    print("peak %.0f chats/s; offered %.0f/s for %g min" % (peak, rate, minutes), flush=True)
    (sent, late), _, points = await asyncio.gather(
        chats(gate.port, rate, end, statuses), beside.run(end, statuses), watch(gate.process.pid, end)
    )
    points = points[len(points) // 10 :]
    hours, memory, files = [[point[at] for point in points] for at in range(3)]
    line = statistics.linear_regression([at / 3600 for at in hours], memory)
    opened = statistics.linear_regression([at / 3600 for at in hours], files)
    third = max(1, len(memory) // 3)

    def thirds(points):
        return ["%.1f" % statistics.median(points[at : at + third]) for at in (0, third, 2 * third)]

    print("%d chats, %d found no connection; statuses %s" % (sent, late, statuses))
    print("memory %.1f to %.1f MiB, medians of thirds %s, slope %.2f MiB/h" % (
        min(memory), max(memory), thirds(memory), line.slope))
    print("open files %d to %d, medians of thirds %s, slope %.1f/h" % (min(files), max(files), thirds(files), opened.slope))
    return line.slope < 1 and opened.slope < 1 and set(statuses) == {200}


async def run(asked):
    server = await asyncio.start_server(overload.model, "127.0.0.1", 0, backlog=1024)
    url = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    with Gateway(url, CONFIG) as gate:
        overload.apart(gate)
        return await measured(gate, asked.minutes, asked.share)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--share", type=float, default=0.7)
    sys.exit(0 if asyncio.run(run(parser.parse_args())) else 1)
