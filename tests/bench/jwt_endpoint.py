#!/usr/bin/env python3
"""What a token costs the server: CPU time of the process for each `/v2/jwt/sign`, over kept connections, beside what the
bare signature costs OpenSSL at the same time.

    PORTCULLIS_BIN=… jwt_endpoint.py [--seconds 5] [--connections 4] [--algorithm ES256]

Wants `wrk` and `openssl`. Build for release: a debug build tells nothing."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
from gateway import MINIMAL, Gateway, cpu

CONFIG = MINIMAL + """
[log]
level = "warn"
"""
CLAIMS = (
    '{"iss":"https://issuer.example.com/","sub":"user-0123456789","aud":"https://api.example.com/","iat":1766000000,'
    '"exp":1766003600,"scope":"read:orders write:orders","jti":"0192f0c1-5b1e-7c3a-9d43-3f1f0c3f9a11"}'
)
PEERS = {"ES256": "ecdsap256", "ES384": "ecdsap384", "EdDSA": "ed25519", "RS256": "rsa2048", "PS256": "rsa2048"}
SCRIPT = """
wrk.method = "POST"
wrk.headers["authorization"] = "Bearer %s"
wrk.headers["content-type"] = "application/json"
wrk.body = [==[{"id":"%s","payload":%s}]==]
"""


def bare(algorithm):
    """Seconds that OpenSSL takes for a signature."""
    said = subprocess.run(["openssl", "speed", "-seconds", "2", "-mr", PEERS[algorithm]], capture_output=True, text=True)
    [line] = [line for line in said.stdout.splitlines() if re.match(r"\+F\d", line)]
    return 1 / float(line.split(":")[-2])


def main():
    parser = argparse.ArgumentParser(description="CPU time of a token.")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--algorithm", default="ES256", choices=PEERS)
    ask = parser.parse_args()
    with Gateway("", CONFIG) as gateway, tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        key = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": ask.algorithm}
        item = gateway.api("/v2/key/generate", key).json()["result"]["id"]
        escaped = '"%s"' % CLAIMS.replace('"', '\\"')
        script.write(SCRIPT % (gateway.token, item, escaped))
        script.flush()
        assert gateway.api("/v2/jwt/sign", {"id": item, "payload": CLAIMS}).status == 200
        command = ["wrk", "-t1", "-c%d" % ask.connections, "-d%ds" % ask.seconds, "-s", script.name]
        command.append(gateway.url + "/v2/jwt/sign")
        subprocess.run([*command[:3], "-d1s", *command[4:]], capture_output=True, check=True)
        for _ in range(3):
            before, started = bare(ask.algorithm), cpu(gateway.process.pid)
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            cost = cpu(gateway.process.pid) - started
            signature = min(before, bare(ask.algorithm))
            count = int(re.search(r"(\d+) requests in", said).group(1))
            assert "Non-2xx" not in said, said
            each = cost / count
            allowed = 2 * signature + 15e-6
            print(
                "%s: %d requests, %.1f us CPU each; bare signature (OpenSSL) %.1f us; at most 2 x + 15 us = %.1f us: %s"
                % (ask.algorithm, count, each * 1e6, signature * 1e6, allowed * 1e6, "held" if each <= allowed else "missed")
            )


if __name__ == "__main__":
    sys.exit(main())
