#!/usr/bin/env python3
"""What requests and texts cost in instructions of the processor: `tests/bench/instructions.py [--quick] [--write] [BINARY]`, with
valgrind and nginx (Debian packages). `--quick` counts the redacted request alone.

Times differ from run to run and from machine to machine by more than most changes do; instructions by less than one in a hundred.
Counted by callgrind, with a simulated branch predictor:

- a chat request through the gateway, as road.py sends it, without redaction and with it: a hundred that follow others, so that
  the start is none of it;
- `portcullis detect` on log lines and on prose: what a second 256 KB costs, by the byte, on one thread: what others look at ahead of their turn depends on their time.

Beside them stand the figures of instructions.json, which were made by the same kind of build (debug or release) and the same
compiler. What takes over 3 % more in a release build fails, and over 10 % in a debug build; `--write` keeps the figures of this
run, and the commit says why. Figures of another compiler are shown, and nothing fails.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import gateway as gateways  # noqa: E402
import road  # noqa: E402

KEPT = Path(__file__).with_suffix(".json")
# Debug builds are cut up in other ways from machine to machine.
MORE = {"release": 1.03, "debug": 1.1}
WARM, REQUESTS = 30, 100
PIECE = 256 << 10
LOG = (
    '2026-11-28T09:14:07.{n:03}Z INFO api{n} request id={n:08x} path=/v1/orders/{n} status=200 took={n}ms user=maria.lopez{n}@corp-mail.example.com '
    'from=10.0.{a}.{b} agent="Mozilla/5.0 (X11; Linux x86_64)" msg="order {n} was accepted, card 4111 1111 1111 1111"\n'
)
PROSE = (
    "Dear Ms Lopez, thank you for your letter number {n}. We have looked into what you wrote about the delivery of last week and found that "
    "the parcel left our house in time; where it has been since, the carrier will tell us in a day or two. "
)


def callgrind(folder, binary):
    """A program that runs `binary` under callgrind; its figures go to the folder."""
    script = Path(folder, "counted")
    script.write_text(
        f"#!/bin/sh\nexec valgrind --quiet --tool=callgrind --branch-sim=yes --callgrind-out-file={folder}/figures "
        f'{Path(binary).resolve()} "$@"\n'
    )
    script.chmod(0o755)
    return str(script)


def told(path):
    """Instructions and branches that were mispredicted."""
    text = Path(path).read_text()
    events = re.search(r"^events: (.*)$", text, re.M).group(1).split()
    sums = [int(part) for part in re.search(r"^(?:totals|summary): (\d.*)$", text, re.M).group(1).split()]
    if not any(sums):
        sums = [int(part) for part in re.findall(r"^totals: (\d.*)$", text, re.M)[-1].split()]
    by = dict(zip(events, sums + [0] * len(events)))
    return by["Ir"], by.get("Bcm", 0) + by.get("Bim", 0)


def figures(folder, pid):
    """What a process has cost since it was asked last."""
    before = set(Path(folder).glob("figures.*"))
    subprocess.run(["callgrind_control", "-d", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    end = time.monotonic() + 20
    while not (new := [one for one in set(Path(folder).glob("figures.*")) - before if "totals:" in one.read_text()]):
        assert time.monotonic() < end, "callgrind says nothing"
        time.sleep(0.05)
    return told(new[0])


def request(folder, binary, config):
    """Instructions and mispredictions of a chat request."""
    up = gateways.free_ports(1)[0]
    upstream = road.upstream(folder, up)
    running = None
    try:
        road.wait_for(up)
        running = road.begin(callgrind(folder, binary), config, f"http://127.0.0.1:{up}")
        road.wait_for(running.port)
        calls = HTTPConnection("127.0.0.1", running.port)

        def send(count):
            for _ in range(count):
                calls.request("POST", road.PATH, road.chat_request(), {"Content-Type": "application/json"})
                answer = calls.getresponse()
                assert answer.read() and answer.status == 200, answer.status

        send(WARM)
        figures(folder, running.process.pid)
        send(REQUESTS)
        return [sum / REQUESTS for sum in figures(folder, running.process.pid)]
    finally:
        if running:
            running.__exit__()
        upstream.terminate()
        upstream.wait()


def by_byte(folder, binary, line):
    """Instructions and mispredictions of a byte of text that is looked through."""

    def cost(pieces):
        text = Path(folder, "text")
        lines, size, number = [], 0, 0
        while size < pieces * PIECE:
            lines.append(line.format(n=number, a=number % 250, b=number % 200))
            size, number = size + len(lines[-1]), number + 1
        text.write_text("".join(lines))
        subprocess.run([callgrind(folder, binary), "detect", "--threads", "1", str(text)], stdout=subprocess.DEVNULL, check=True)
        return size, told(Path(folder, "figures"))

    (one, first), (two, second) = cost(1), cost(2)
    return [(after - before) / (two - one) for before, after in zip(first, second)]


def measured(binary, quick):
    found = {}
    for name, config in [("request", road.PLAIN), ("request, redacted", road.REDACTED)]:
        if quick and config is not road.REDACTED:
            continue
        with tempfile.TemporaryDirectory(prefix="portcullis-instructions-") as folder:
            found[name] = request(folder, binary, config)
    for name, line in [] if quick else [("byte of logs", LOG), ("byte of prose", PROSE)]:
        with tempfile.TemporaryDirectory(prefix="portcullis-instructions-") as folder:
            found[name] = by_byte(folder, binary, line)
    return found


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    binary = words[0] if words else str(gateways.BINARY)
    missing = [tool for tool in ("valgrind", "nginx") if not shutil.which(tool)]
    if missing:
        print(f"SKIPPED: {' and '.join(missing)} cannot be had here, so that nothing is counted")
        return
    build = "debug" if "debug" in Path(binary).resolve().parts else "release"
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    before = kept.get(build, {})
    found = measured(binary, "--quick" in sys.argv)
    rise = []
    print("%-20s %14s %14s %12s" % (build, "instructions", "kept", "mispredicted"))
    for name, (instructions, missed) in found.items():
        known = before.get("figures", {}).get(name)
        print("%-20s %14.1f %14s %12.2f" % (name, instructions, known, missed))
        if known and instructions > known * MORE[build]:
            rise.append(f"{name}: {instructions:.1f} instructions, {known} before")
    if "--write" in sys.argv:
        same = before.get("figures", {}) if before.get("compiler") == compiler else {}
        kept[build] = {"compiler": compiler, "figures": same | {name: round(one, 1) for name, (one, _) in found.items()}}
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    elif before.get("compiler") != compiler:
        print(f"not judged: the figures are of {before.get('compiler', 'no build of this kind')}, this is {compiler}")
    elif rise:
        sys.exit("more than before, beyond what builds differ by:\n" + "\n".join(rise))


if __name__ == "__main__":
    main()
