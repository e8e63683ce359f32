#!/usr/bin/env python3
"""Kills the gateway while a file is in each state of its way, and looks for what it had promised.

    PORTCULLIS_BIN=… jobs.py [--kills 100] [--seed N]

Each round takes one file to a state drawn in turn, kills the process (SIGKILL) within it, starts it again and follows the
file to its end: whatever was acknowledged must be there, the clean file must be the one that an undisturbed run makes, and
answers of earlier rounds must stand. The state is read from the version of the job's row, which counts its steps. Exit 0:
no bad case."""

import argparse
import hashlib
import http.client
import json
import random
import sqlite3
import sys
import threading
import time
from collections import Counter
from urllib.parse import urlsplit

from files import MINIMAL, Gateway, ask, call, multipart

# Enough text that cleaning takes a while.
LINE = b"number %07d: jane.doe@harbour-post.com paid 4111 1111 1111 1111, see https://evil.example.net/a\n"
SMALL = b"".join(LINE % n for n in range(20))
LARGE = b"".join(LINE % n for n in range(120_000))
# The version of a job's row at the first try, and what it is then.
STEPS = {1: "upload", 2: "running", 3: "ended"}
STATES = ["granted", "half sent", "sent", "running", "direct", "ended"]


class Job:
    """One file on its way."""

    def __init__(self, gateway, data):
        self.gateway, self.data, self.id, self.url = gateway, data, None, None

    def ask(self):
        status, answer = call(self.gateway, "POST", "/v1/sanitize", json.dumps(ask("put-url", "a.txt")), "application/json")
        assert status == 202, answer
        self.id = answer["request_id"]
        end = time.monotonic() + 20
        while "put_url" not in answer["result"] and time.monotonic() < end:
            time.sleep(0.02)
            answer = call(self.gateway, "GET", "/request/" + self.id)[1]
        self.url = answer["result"]["put_url"]

    def put(self, part=1.0):
        """Sends the file, or a part of it; the status, if there is one."""
        to = urlsplit(self.url)
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=20)
        connection.putrequest("PUT", to.path + "?" + to.query)
        connection.putheader("Content-Length", str(len(self.data)))
        connection.endheaders()
        if part < 1:
            connection.send(self.data[: int(len(self.data) * part)])
            return connection
        connection.send(self.data)
        status = connection.getresponse().status
        connection.close()
        return status

    def version(self):
        """Of the row, as the store has it."""
        place = "file:%s/data/portcullis.sqlite?mode=ro" % self.gateway.home
        with sqlite3.connect(place, uri=True, timeout=5) as store:
            row = store.execute("SELECT version FROM records WHERE kind = 'api.job' AND id = ?", (self.id,)).fetchone()
        return row[0] if row else 0

    def until(self, version, seconds=20):
        end = time.monotonic() + seconds
        while self.version() < version and time.monotonic() < end:
            time.sleep(0.001)

    def answer(self, seconds=90):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status, answer = call(self.gateway, "GET", "/request/" + self.id)
            if status != 202:
                return status, answer
            time.sleep(0.1)
        return 202, {}

    def clean(self):
        """The digest of the clean file."""
        status, answer = self.answer()
        if status != 200:
            return "%s %s" % (status, answer.get("status"))
        from_ = urlsplit(answer["result"]["dest_url"])
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=30)
        connection.request("GET", from_.path + "?" + from_.query)
        got = connection.getresponse()
        data = got.read()
        connection.close()
        return hashlib.sha256(data).hexdigest() if got.status == 200 else "download: %d" % got.status


def kill(gateway):
    gateway.process.kill()
    gateway.process.wait()


def direct(gateway, job):
    """A multipart call under way: nothing is promised before it is answered."""
    kind, body = multipart(ask("multipart", "a.txt"), "a.txt", LARGE)

    def send():
        try:
            call(gateway, "POST", "/v1/sanitize", body, kind)
        except (OSError, http.client.HTTPException, ValueError):
            pass

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.3)
    kill(gateway)
    sender.join()


def to_state(state, gateway, chance):
    """Takes a new file to a state and kills the process there."""
    job = Job(gateway, LARGE if state == "running" else SMALL)
    job.ask()
    if state == "half sent":
        connection = job.put(chance.random() * 0.9)
        time.sleep(chance.random() * 0.05)
        kill(gateway)
        connection.close()
    elif state == "direct":
        direct(gateway, job)
    elif state != "granted":
        assert job.put() in (200, 201, 204)
        if state == "running":
            job.until(2)
            time.sleep(chance.random() * 0.3)
        elif state == "ended":
            job.until(3)
        else:
            time.sleep(chance.random() * 0.01)
    kill(gateway)
    return job


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked = parser.parse_args()
    print("seed %d" % asked.seed)
    chance, seen, starts, bad, done = random.Random(asked.seed), Counter(), [], 0, []
    with Gateway("", config=MINIMAL) as gateway:
        wanted = {}
        for data in SMALL, LARGE:
            job = Job(gateway, data)
            job.ask()
            job.put()
            wanted[data] = job.clean()
        for number in range(asked.kills):
            state = STATES[number % len(STATES)]
            job = to_state(state, gateway, chance)
            step = STEPS.get(job.version(), "version %d" % job.version())
            seen[state + ", row: " + step] += 1
            begun = time.monotonic()
            gateway.stop()
            gateway.start()
            starts.append(time.monotonic() - begun)
            if state in ("granted", "half sent", "direct"):
                job.put()
            got = job.clean()
            old = chance.sample(done, min(3, len(done)))
            lost = [one.id for one in old if one.clean() != wanted[one.data]]
            if got != wanted[job.data] or lost:
                bad += 1
                print("BAD round %d, %s, %s: %s; earlier ones lost: %s" % (number, state, step, got, lost))
            done.append(job)
    for name, count in sorted(seen.items()):
        print("%4d  %s" % (count, name))
    starts.sort()
    print("starts: median %.2f s, most %.2f s" % (starts[len(starts) // 2], starts[-1]))
    print("jobs: %d kills, %d bad" % (asked.kills, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
