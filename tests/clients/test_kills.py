"""Kills at random moments while tokens are made and revoked, keys rotated and files cleaned. Whatever was acknowledged
holds, and every start succeeds soon.

PORTCULLIS_KILLS says how many (default 6; the figures in the notes are of 50), PORTCULLIS_SEED which moments."""

import contextlib
import http.client
import json
import os
import random
import subprocess
import threading
import time
import urllib.error
import urllib.request

from gateway import BINARY, MINIMAL, Gateway, cpu, environment, run

KILLS = int(os.environ.get("PORTCULLIS_KILLS", 6))
SEED = int(os.environ.get("PORTCULLIS_SEED", 1))
# Seconds of processor time until a start is ready. Two, as built for users; a debug build takes ten to read its rules.
START = float(os.environ.get("PORTCULLIS_START", 30))
CONFIG = MINIMAL + """[log]
format = "json"
level = "warn"
"""
TEXT = b"hello jane.doe@harbour-post.com\n"


class Worker(threading.Thread):
    """Does one thing again and again, and remembers what was acknowledged."""

    def __init__(self, gateway, over):
        super().__init__(daemon=True)
        self.gateway, self.over, self.random = gateway, over, random.Random(SEED)
        self.faults = []

    def run(self):
        while not self.over.is_set():
            try:
                self.once()
            except (OSError, http.client.HTTPException):
                # The process is gone, and nothing was acknowledged.
                time.sleep(0.02)
            except Exception as fault:
                self.faults.append(repr(fault))
                time.sleep(0.1)

    def tool(self, *args):
        """The command line, which is killed now and then too; its output once it has succeeded."""
        command = [str(BINARY), *args, "--config-file", str(self.gateway.file)]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment(), text=True)
        patience = self.random.uniform(0.01, 1) if self.random.random() < 0.25 else 60
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None
        if process.returncode:
            raise AssertionError("%s: %s" % (args, err))
        return out


class Tokens(Worker):
    def __init__(self, *args):
        super().__init__(*args)
        self.made, self.revoked, self.number = {}, {}, 0

    def once(self):
        self.number += 1
        name = "t%d" % self.number
        if not (out := self.tool("tokens", "create", "--name", name)):
            return
        token = out.strip()
        self.made[name] = token
        if self.number % 2:
            return
        listed = self.tool("tokens", "list") or ""
        ids = {row.split("\t")[1]: row.split("\t")[0] for row in listed.splitlines()}
        # Whether an unacknowledged one is revoked nobody knows.
        del self.made[name]
        if name in ids and self.tool("tokens", "revoke", ids[name]) is not None:
            self.revoked[name] = token

    def check(self):
        def status(token):
            return self.gateway.call("POST", "/v2/list", {}, {"authorization": "Bearer " + token}).status

        wrong = {name: status(token) for name, token in dict(self.made).items() if status(token) != 200}
        wrong |= {name: status(token) for name, token in dict(self.revoked).items() if status(token) != 401}
        assert not wrong, wrong


class Keys(Worker):
    def __init__(self, *args):
        super().__init__(*args)
        ask = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256"}
        self.id = self.gateway.api("/v2/key/generate", ask).json()["result"]["id"]
        self.version, self.tokens = 1, []

    def once(self):
        answer = self.gateway.api("/v2/key/rotate", {"id": self.id, "rotation_state": "deactivated"})
        if answer.status == 200:
            versions = answer.json()["result"]["item_versions"]
            self.version = max(self.version, *[version["version"] for version in versions])
            signed = self.gateway.api("/v2/jwt/sign", {"id": self.id, "payload": '{"sub":"x"}'})
            if signed.status == 200:
                self.tokens.append(signed.json()["result"]["jws"])
        time.sleep(0.02)

    def check(self):
        # Taken first: it goes on rotating.
        known, tokens = self.version, self.tokens[-20:]
        answer = self.gateway.api("/v2/get", {"id": self.id}).json()["result"]
        newest = max(version["version"] for version in answer["item_versions"])
        assert newest >= known, (newest, known)
        for jws in tokens:
            valid = self.gateway.api("/v2/jwt/verify", {"jws": jws}).json()["result"]["valid_signature"]
            assert valid, jws


class Files(Worker):
    """Files that were uploaded are cleaned, whoever does it in the end."""

    def __init__(self, *args):
        super().__init__(*args)
        self.waiting, self.clean = [], 0

    def once(self):
        body = {"transfer_method": "put-url", "content": {"redact": True}, "uploaded_file_name": "a.txt"}
        answer = self.gateway.api("/v1/sanitize", body)
        if answer.status != 202:
            return
        result = answer.json()
        request = urllib.request.Request(result["result"]["put_url"], TEXT, method="PUT")
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=30).read()
            self.waiting.append(result["request_id"])
        time.sleep(0.05)

    def check(self):
        """Leases of a process that was killed run out after 15 s."""
        deadline = time.monotonic() + 120
        while self.waiting and time.monotonic() < deadline:
            answer = self.gateway.call("GET", "/request/" + self.waiting[0], headers=self.token())
            if answer.status == 202:
                time.sleep(0.2)
                continue
            assert answer.status == 200, answer.body
            self.waiting.pop(0)
            self.clean += 1
        assert not self.waiting, "%d files were forgotten" % len(self.waiting)

    def token(self):
        return {"authorization": "Bearer " + self.gateway.token}


def test_what_was_acknowledged_outlives_kills_at_any_moment():
    chance = random.Random(SEED)
    starts = []
    with Gateway("", CONFIG) as gateway:
        over = threading.Event()
        workers = [Tokens(gateway, over), Keys(gateway, over), Files(gateway, over)]
        for worker in workers:
            worker.start()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0, 3))
            gateway.process.kill()
            gateway.stop()
            began = time.monotonic()
            gateway.start(every=0.005)
            starts.append((time.monotonic() - began, cpu(gateway.process.pid)))
            workers[1].check()
        over.set()
        for worker in workers:
            worker.join(90)
        for worker in workers:
            worker.check()
            # A store that says it is busy would be a fault.
            assert not worker.faults, worker.faults[:3]
        tokens, keys, files = workers
        assert tokens.made and tokens.revoked and keys.version > KILLS and files.clean
        assert run("check", "-c", gateway.file).returncode == 0
    slowest, processor = max(wall for wall, _ in starts), max(own for _, own in starts)
    print(json.dumps({
        "kills": KILLS, "tokens made": len(tokens.made), "revoked": len(tokens.revoked), "versions of the key": keys.version,
        "files": files.clean, "slowest start, s": round(slowest, 2), "its processor time, s": round(processor, 2),
    }))
    assert processor < START, starts
