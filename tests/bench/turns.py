#!/usr/bin/env python3
"""What one caller's long texts cost the others: `tests/bench/turns.py [BINARY] [SECONDS]`.

Four connections of one token send the dearest texts there are, 512 KiB each, again and again; meanwhile another token sends
short ones. Prints how long the short ones took and how many were refused. Then four long texts are sent and let go at once:
prints after how long the process has come to rest. Last, how long runs of one letter take, which become one value each. Ends
with 1 if a short text was refused, if their 99th percentile is 100 ms or more, or if work went on for 100 ms.
"""

import http.client
import json
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    os.environ["PORTCULLIS_BIN"] = sys.argv[1]

from gateway import MINIMAL, Gateway, run  # noqa: E402

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 20
CONFIG = MINIMAL + '\n[log]\nlevel = "error"\n'
LONG = 512 << 10
UNITS = ["SG.", "client_key = ", "y0_", "xoxb-", "GB82 WEST ", "https://", "eyJ-", "A"]


def post(port, token, text):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = json.dumps({"text": text, "llm_request": True})
    connection.request("POST", "/v1/redact", body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    return connection


def spent(pid):
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def flood(port, token, until, done):
    at = 0
    while time.monotonic() < until:
        unit = UNITS[at % len(UNITS)]
        at += 1
        try:
            connection = post(port, token, unit * (LONG // len(unit)))
            done.append(connection.getresponse().status)
            connection.close()
        except OSError:
            done.append(0)


def main():
    failed = False
    with Gateway(upstream="127.0.0.1:1", config=CONFIG) as gateway:
        other = run("tokens", "create", "-c", gateway.file).out.strip()
        until = time.monotonic() + SECONDS
        done, times, refused = [], [], 0
        floods = [threading.Thread(target=flood, args=(gateway.port, gateway.token, until, done)) for _ in range(4)]
        for one in floods:
            one.start()
        while time.monotonic() < until:
            start = time.monotonic()
            connection = post(gateway.port, other, "Mail jane.doe@harbour-post.com about card 4111 1111 1111 1111. " * 20)
            status = connection.getresponse().status
            connection.close()
            times.append(time.monotonic() - start)
            refused += status != 200
            time.sleep(0.02)
        for one in floods:
            one.join()
        times.sort()
        p99 = times[int(len(times) * 0.99)]
        print(f"{len(times)} short texts beside {len(done)} long ones: median {times[len(times) // 2] * 1e3:.1f} ms, "
              f"p99 {p99 * 1e3:.1f} ms, longest {times[-1] * 1e3:.1f} ms, {refused} refused")
        failed |= refused > 0 or p99 >= 0.1

        pid = gateway.process.pid
        for unit in UNITS:
            left = [post(gateway.port, gateway.token, unit * (8 * LONG // len(unit))) for _ in range(4)]
            time.sleep(0.3)
            for connection in left:
                connection.close()
            time.sleep(0.1)
            before = spent(pid)
            time.sleep(0.5)
            after = spent(pid) - before
            print(f"{unit!r}, 4 MiB four times, let go: {after * 1e3:.0f} ms of processor time in the half second that began 100 ms later")
            failed |= after > 0.05

        for size in (64 << 10, 256 << 10, 1 << 20):
            start = time.monotonic()
            connection = post(gateway.port, other, "A" * size)
            answer = json.load(connection.getresponse())
            print(f"a run of {size >> 10} KiB: {(time.monotonic() - start) * 1e3:.0f} ms, {answer['result']['count']} values")
    sys.exit(failed)


if __name__ == "__main__":
    main()
