#!/usr/bin/env python3
"""What the console costs while it is looked at: `tests/bench/console.py [BINARY] [--minutes 60] [--rate 100]`, with nginx and Chromium.

Chats that are redacted come at a steady rate. After six minutes the page of live figures is opened in a window and stays
open; a second one is opened and closed by turns of two minutes. Prints, every ten minutes, the memory of the gateway and of the page
that stays (its heap and nodes after a collection), and at the end the processor's time of the gateway in turns with no window, with one
and with two. Ends with 1 if an open window takes more than 1 % of a core, or if the gateway's memory or the page's nodes rise by
more than a tenth between the first and the last quarter, or the page's heap by more than 1 MiB: it fills until it has an hour of
figures."""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

import gateway as gateways  # noqa: E402
import overload  # noqa: E402
from browser import Browser  # noqa: E402
from shared import ANSWER, NGINX  # noqa: E402

TURN, UNSEEN = 120, 3
CONFIG = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"

[log]
level = "error"

[usage]
count = "all"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "chat"
path = "/v1/chat"
upstream = "mock"
auth = "none"
provider = "openai"
redact = {{}}
"""
BODY = b'{"model":"bench","messages":[{"role":"user","content":"Write to jane.doe@harbour-post.com, please."}]}'
REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
    % (len(BODY), BODY)
)


class Load:
    """Requests at a steady rate, on a thread of its own."""

    def __init__(self, port, rate):
        self.port, self.rate, self.statuses, self.over = port, rate, {}, False
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()), daemon=True)
        self.thread.start()

    async def run(self):
        callers = [overload.Caller(self.port) for _ in range(8)]
        await asyncio.gather(*map(self.one, callers))

    async def one(self, caller):
        due = time.monotonic()
        while not self.over:
            due += 8 / self.rate
            status = await caller.ask(REQUEST)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            await asyncio.sleep(max(0, due - time.monotonic()))
        caller.close()

    def end(self):
        self.over = True
        self.thread.join(30)
        return self.statuses


def page(window):
    """The heap of a page in KiB and its nodes, after a collection."""
    window.driver.execute_cdp_cmd("Performance.enable", {})
    window.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    metrics = window.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    found = {metric["name"]: metric["value"] for metric in metrics}
    return found["JSHeapUsedSize"] / 1024, found["Nodes"]


def measured(gate, minutes, rate):
    load = Load(gate.port, rate)
    taken, points, end = {0: [], 1: [], 2: []}, [], time.monotonic() + 60 * minutes
    with Browser() as stays, Browser() as comes:
        stays.sign_in(gate)
        comes.sign_in(gate)
        for window in (stays, comes):
            window.driver.get("about:blank")
        time.sleep(20)
        turn = 0
        while time.monotonic() < end:
            # Nobody looks in the first turns; then one window does all the time, and another every second turn.
            count = 0 if turn < UNSEEN else 1 + turn % 2
            for window, shows in ((stays, count > 0), (comes, count > 1)):
                if shows != window.driver.current_url.startswith("http"):
                    window.driver.get("http://127.0.0.1:%d/" % gate.admin if shows else "about:blank")
            time.sleep(5)
            before, began = gateways.cpu(gate.process.pid), time.monotonic()
            time.sleep(TURN - 5)
            taken[count].append((gateways.cpu(gate.process.pid) - before) / (time.monotonic() - began) * 100)
            turn += 1
            if count:
                points.append((overload.resident(gate.process.pid), *page(stays)))
                if turn % 5 == 0:
                    told = (turn * TURN / 60, *points[-1])
                    print("%3d min: gateway %.1f MiB, page %.0f KiB, %d nodes" % told, flush=True)
        assert not stays.complaints(), stays.complaints()
    return taken, points, load.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=100)
    told = parser.parse_args()
    if told.binary:
        gateways.BINARY = Path(told.binary).resolve()
    (port,) = gateways.free_ports(1)
    with tempfile.TemporaryDirectory(prefix="portcullis-bench-") as folder:
        home = Path(folder)
        (home / "nginx.conf").write_text(NGINX.format(home=home, port=port, answer=ANSWER))
        upstream = subprocess.Popen(["nginx", "-c", home / "nginx.conf", "-p", home], stderr=subprocess.DEVNULL)
        try:
            with gateways.Gateway("http://127.0.0.1:%d" % port, config=CONFIG) as gate:
                taken, points, statuses = measured(gate, told.minutes, told.rate)
        finally:
            upstream.terminate()
            upstream.wait()
    print("answers:", statuses)
    means = {count: statistics.median(all) for count, all in taken.items() if all}
    for count, mean in means.items():
        print("%d windows: %.2f %% of a core (%s)" % (count, mean, ", ".join("%.2f" % one for one in taken[count])))
    one = means[2] - means[1]
    quarter = max(1, len(points) // 4)
    rises = []
    for name, at in (("gateway, MiB", 0), ("page, KiB", 1), ("nodes", 2)):
        first = statistics.median(point[at] for point in points[:quarter])
        last = statistics.median(point[at] for point in points[-quarter:])
        rises.append(last > first + (1024 if name.startswith("page") else first / 10))
        print("%s: %.1f at first, %.1f at last" % (name, first, last))
    print("one window: %.2f %% of a core" % one)
    return 1 if one > 1 or any(rises) or set(statuses) != {200} else 0


if __name__ == "__main__":
    sys.exit(main())
