#!/usr/bin/env python3
"""Files made to overwhelm or to break their reader, sent to `POST /v1/sanitize` of a gateway that this starts on free ports of
the loopback, in a folder of its own.

    PORTCULLIS_BIN=… files.py bombs   [--seconds 5] [--mebibytes 512] [--only WORD]
    PORTCULLIS_BIN=… files.py mutants [--count 2000] [--seed N] [--clients 4] [--folder FILES]

A bomb is bad when its answer takes longer than `--seconds`, when the gateway and its parsers together hold more than
`--mebibytes`, or when the answer is neither a clean file nor a refusal. A mutant is bad when the gateway dies, gives no
answer within 20 s, or one that is neither. Exit 0: no bad case. The last line says how many were tried."""

import argparse
import concurrent.futures
import http.client
import json
import random
import sys
import threading
import time
from pathlib import Path

from bombs import BOMBS, SMALL

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
from gateway import MINIMAL, Gateway, multipart

PATIENCE = 20


class Memory:
    """What a process and its children hold, looked at every 5 ms: the most of any one moment."""

    def __init__(self, pid):
        self.pid, self.most, self.over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.over.wait(0.005):
            self.most = max(self.most, sum(map(held, [self.pid, *children(self.pid)])))

    def end(self):
        self.over.set()
        self.thread.join()
        return self.most >> 20


def children(pid):
    """Those of all its threads."""
    found = []
    try:
        for task in Path("/proc/%d/task" % pid).glob("*/children"):
            found += map(int, task.read_text().split())
    except OSError:  # it has ended, or one of its threads has
        pass
    return found + [one for child in found for one in children(child)]


def held(pid):
    try:
        return int(Path("/proc/%d/statm" % pid).read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def ask(method, name):
    """All that can be done to a file."""
    content = {"defang": True, "redact": True}
    return {"transfer_method": method, "uploaded_file_name": name, "content": content}


def call(gateway, method, path, body=None, kind=None):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
    headers = {"authorization": "Bearer " + gateway.token}
    if kind:
        headers["content-type"] = kind
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def sanitize(gateway, name, data):
    """The last answer: status and envelope."""
    kind, body = multipart(ask("multipart", name), name, data)
    status, answer = call(gateway, "POST", "/v1/sanitize", body, kind)
    end = time.monotonic() + PATIENCE
    while status == 202 and time.monotonic() < end:
        time.sleep(0.05)
        status, answer = call(gateway, "GET", "/request/" + answer["request_id"])
    return status, answer


def verdict(status, answer):
    """In a word, and whether it is one of those that a caller can act upon."""
    result = answer.get("result") or {}
    if status == 200:
        bad = (result.get("data") or {}).get("malicious_file")
        return "malicious" if bad else "clean", bad or "dest_url" in result
    errors = result.get("errors") or []
    return ", ".join(error["code"] for error in errors) or answer.get("status"), status == 400 and bool(errors)


def bombs(gateway, asked):
    tried = bad = 0
    for name, make in BOMBS.items():
        if asked.only and asked.only not in name:
            continue
        data = make()
        tried += 1
        memory, begun = Memory(gateway.process.pid), time.monotonic()
        try:
            word, fine = verdict(*sanitize(gateway, name.split(":")[0], data))
        except (OSError, http.client.HTTPException) as error:
            word, fine = type(error).__name__, False
        took, most = time.monotonic() - begun, memory.end()
        fine = fine and took <= asked.seconds and most <= asked.mebibytes and gateway.process.poll() is None
        bad += not fine
        print("%-4s %-34s %9d bytes  %5.2f s  %4d MiB  %s" % ("ok" if fine else "BAD", name, len(data), took, most, word))
        time.sleep(0.2)
    return tried, bad


def mutant(chance, seeds):
    name, data = chance.choice(seeds)
    data = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(max(len(data), 1))
        end = min(at + chance.choice([1, 2, 4, 16, 256, 4096]), len(data))
        how = chance.randrange(6)
        if how == 0 and data:
            data[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
        elif how == 1:
            del data[at:end]
        elif how == 2:
            data[at:at] = data[at:end] * chance.randint(1, 4)
        elif how == 3:
            other = chance.choice(seeds)[1]
            begin = chance.randrange(max(len(other), 1))
            data[at:end] = other[begin : begin + chance.choice([4, 64, 1024])]
        elif how == 4 and data:
            data[at] = chance.choice([0, 0xFF, 0x7F, 0x80, data[at] ^ (1 << chance.randrange(8))])
        else:
            data[at:end] = chance.choice([b"\0" * 8, b"\xff" * 8, b"99999999999", b"-1", b"<<", b">>", b"PK\x05\x06"])
    return name, bytes(data)


def mutants(gateway, asked):
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1 << 32)
    print("seed %d" % seed)
    chance, words = random.Random(seed), {}
    seeds = [(name.split(":")[0], make()) for name, make in SMALL.items()]
    if asked.folder:
        files = sorted(path for path in Path(asked.folder).rglob("*") if path.is_file() and path.stat().st_size < 1 << 20)
        seeds += [(path.name, path.read_bytes()) for path in files]
    print("%d files to begin with, of the kinds %s" % (len(seeds), sorted({n.rsplit(".", 1)[-1] for n, _ in seeds})))
    made = [mutant(chance, seeds) for _ in range(asked.count)]
    memory, slowest, bad = Memory(gateway.process.pid), 0, 0

    def one(number):
        begun = time.monotonic()
        try:
            word, fine = verdict(*sanitize(gateway, *made[number]))
        except (OSError, http.client.HTTPException) as error:
            word, fine = type(error).__name__, False
        return number, word, fine, time.monotonic() - begun

    with concurrent.futures.ThreadPoolExecutor(asked.clients) as pool:
        for number, word, fine, took in pool.map(one, range(len(made))):
            words[word] = words.get(word, 0) + 1
            slowest = max(slowest, took)
            if not fine:
                bad += 1
                print("BAD mutant %d, %s: %s" % (number, made[number][0], word))
    if gateway.process.poll() is not None:
        bad += 1
        print("BAD: the gateway ended")
    print("answers %s; slowest %.2f s; at most %d MiB" % (words, slowest, memory.end()))
    return len(made), bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["bombs", "mutants"])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--mebibytes", type=int, default=512)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--folder")
    asked = parser.parse_args()
    with Gateway("", config=MINIMAL) as gateway:
        tried, bad = (bombs if asked.what == "bombs" else mutants)(gateway, asked)
        killed = [line for line in gateway.log if "panicked" in line]
    for line in killed[:5]:
        print("panic: " + line[:300])
    print("%s: %d tried, %d bad, %d panics" % (asked.what, tried, bad, len(killed)))
    return 1 if bad or killed else 0


if __name__ == "__main__":
    sys.exit(main())
