#!/usr/bin/env python3
"""Rotations under load: one process rotates a key again and again while others sign with it and verify, by the gateway and
by themselves with the JWKS. Nothing that was signed may ever be refused, and no token may name a key that is not shown.

    PORTCULLIS_BIN=… rotations.py [--rotations 2000] [--clients 4] [--algorithms ES256] [--seed N]

It starts the gateway on free ports of the loopback with a folder of its own. Wants PyJWT with cryptography. Exit 0: no bad
case. The last line says how many were tried and how many were bad."""

import argparse
import http.client
import json
import multiprocessing
import random
import sys
import time
from pathlib import Path

import jwt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
from gateway import MINIMAL, Gateway

# Tokens that a client keeps, to verify again long after their key was replaced.
KEPT = 200


class Client:
    """Calls over one connection that is kept."""

    def __init__(self, port, token):
        self.port, self.token, self.connection = port, token, None

    def call(self, path, **ask):
        for attempt in range(2):
            try:
                self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                headers = {"authorization": "Bearer " + self.token, "content-type": "application/json"}
                self.connection.request("POST", path, json.dumps(ask), headers)
                answer = self.connection.getresponse()
                body = json.loads(answer.read())
                if answer.status != 200:
                    raise ValueError("%s: %d %s" % (path, answer.status, body["summary"]))
                return body["result"]
            except (http.client.RemoteDisconnected, ConnectionResetError):
                # An idle connection may be closed just as it is used.
                self.connection = None
                if attempt:
                    raise
        return None


def verify(number, client, item, algorithm, seed, stop, told):
    """One client: signs with the newest version, then asks everybody who may know whether that was so."""
    chance, kept, keys, counts, bad = random.Random(seed + number), [], {}, {"signed": 0, "verified": 0, "local": 0}, []

    def fetch():
        for one in client.call("/v2/jwk/get", id=item, version="all")["keys"]:
            if one["kid"] not in keys:
                keys[one["kid"]] = jwt.PyJWK(one)

    while not stop.is_set():
        try:
            claims = {"n": counts["signed"], "by": number}
            token = client.call("/v2/jwt/sign", id=item, payload=json.dumps(claims))["jws"]
            counts["signed"] += 1
            kid = jwt.get_unverified_header(token)["kid"]
            if kid not in keys:
                # Whoever gets a token may fetch the keys from then on, and finds this one among them.
                fetch()
            if kid not in keys:
                bad.append("%s is not shown" % kid)
                continue
            for other in [token, *chance.sample(kept, min(3, len(kept)))]:
                counts["verified"] += 1
                if not client.call("/v2/jwt/verify", jws=other)["valid_signature"]:
                    bad.append("refused: " + other)
                read = jwt.decode(other, keys[jwt.get_unverified_header(other)["kid"]].key, [algorithm])
                counts["local"] += 1
                if read["by"] != number:
                    bad.append("says something else: " + other)
            at = chance.randrange(KEPT)
            kept[at : at + 1] = [token]
        except Exception as error:
            bad.append("%s: %s" % (type(error).__name__, error))
            if len(bad) > 20:
                break
    told.put((counts, bad))


def rotations(gateway, algorithm, count, clients, seed):
    """The counts of all clients in sum, and what was bad."""
    owner = Client(gateway.port, gateway.token)
    ask = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": algorithm}
    item = owner.call("/v2/key/generate", **ask)["id"]
    stop, told = multiprocessing.Event(), multiprocessing.Queue()
    others = [
        multiprocessing.Process(target=verify, args=(n, Client(gateway.port, gateway.token), item, algorithm, seed, stop, told))
        for n in range(clients)
    ]
    for other in others:
        other.start()
    chance, bad, began = random.Random(seed), [], time.monotonic()
    for version in range(2, count + 2):
        # What became of the version before is drawn: each of these still proves what it signed.
        made = owner.call("/v2/key/rotate", id=item, rotation_state=chance.choice(["deactivated", "suspended", "inherited"]))
        if made["num_versions"] != version:
            bad.append("version %d is called %d" % (version, made["num_versions"]))
    seconds = time.monotonic() - began
    stop.set()
    answers = [told.get(timeout=120) for _ in others]
    for other in others:
        other.join()
    counts = {name: sum(answer[0][name] for answer in answers) for name in answers[0][0]}
    return counts, bad + [each for answer in answers for each in answer[1]], seconds


def main():
    parser = argparse.ArgumentParser(description="Rotations while others sign and verify.")
    parser.add_argument("--rotations", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--algorithms", nargs="+", default=["ES256"], help="a key for each, rotated so often")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    ask = parser.parse_args()
    print("seed %d" % ask.seed)
    tried, wrong = 0, 0
    with Gateway("", MINIMAL) as gateway:
        for algorithm in ask.algorithms:
            counts, bad, seconds = rotations(gateway, algorithm, ask.rotations, ask.clients, ask.seed)
            for each in bad[:20]:
                print("BAD  " + each)
            said = ", ".join("%d %s" % (count, name) for name, count in counts.items())
            print("%s: %d rotations in %.1f s beside %d clients: %s" % (algorithm, ask.rotations, seconds, ask.clients, said))
            tried, wrong = tried + ask.rotations + sum(counts.values()), wrong + len(bad)
    print("rotations: %d tried, %d bad" % (tried, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
