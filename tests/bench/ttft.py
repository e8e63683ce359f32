#!/usr/bin/env python3
"""How much later the first text comes through the gateway, and how long texts pause: `tests/bench/ttft.py [BINARY] [TIMES]`.

Each protocol's stream is asked for in turn with and without the gateway, which restores the caller's values and masks the
model's own; the upstream waits 5 ms before each event. Prints a table: the median and the worst of the first text's delay
against the median of those that come directly, and the longest pause between two pieces of the body, in milliseconds. Ends
with 1 if the median delay of a protocol is 1 ms or more.
"""

import http.client
import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    os.environ["PORTCULLIS_BIN"] = sys.argv[1]

from gateway import EVERY_PATH, Gateway  # noqa: E402
from llm_upstream import PROMPT, PROTOCOLS, Upstream  # noqa: E402

TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 30
DELAY = 0.005
CONFIG = EVERY_PATH + """
[log]
level = "error"
"""


def asked(port, path):
    """Milliseconds until the first text, and of the longest pause behind it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    ask = {"model": "m-1", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    start = time.perf_counter()
    connection.request("POST", path, json.dumps(ask), {"content-type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    body, first, last, pause = b"", None, None, 0
    while piece := answer.read1(65536):
        now = time.perf_counter()
        body += piece
        if first is not None:
            pause = max(pause, now - last)
        elif b"Of" in body or b"They" in body:
            first = now - start
        last = now
    connection.close()
    return first * 1e3, pause * 1e3


def main():
    failed = False
    with Upstream() as upstream, Gateway(upstream.url, CONFIG) as gateway:
        print("%-24s %12s %12s %12s %14s %14s" % ("", "direct", "added", "worst added", "pause direct", "pause"))
        for name, protocol in PROTOCOLS.items():
            if "stream" not in protocol or name in ("openai_audio", "mcp"):
                continue
            direct, through = [], []
            for _ in range(TIMES + 1):
                for port, times in [(upstream.port, direct), (gateway.port, through)]:
                    upstream.begin(step=12, turns=False, delay=DELAY, shape=name)
                    times.append(asked(port, protocol["path"]))
            # The first of each opens connections.
            direct, through = direct[1:], through[1:]
            usual = statistics.median(first for first, _ in direct)
            added = statistics.median(first for first, _ in through) - usual
            worst = max(first for first, _ in through) - usual
            pauses = [max(pause for _, pause in times) for times in (direct, through)]
            print("%-24s %9.2f ms %9.2f ms %9.2f ms %11.1f ms %11.1f ms" % (name, usual, added, worst, *pauses), flush=True)
            failed |= added >= 1
    sys.exit(failed)


if __name__ == "__main__":
    main()
