"""A data folder without room: what is there is used, what is new is refused with a reason, and all passes by itself."""

import os
import subprocess

import pytest
from gateway import Gateway

CONFIG = 'data = "%s"\n[[listen]]\naddress = "127.0.0.1:{port}"\n[admin]\naddress = "127.0.0.1:{admin}"\n'
KEY = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256"}
FULL = 507


@pytest.fixture
def small(tmp_path):
    """A folder of 3 MiB on a file system of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("NOT TESTED: a full disk takes a small file system, and this user may not mount one")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(folder):
    """Takes what room there is."""
    with open(folder / "filler", "wb", buffering=0) as filler:
        for size in (4096, 512, 1):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                continue


def ok(answer):
    assert answer.status == 200, answer.body
    return answer.json()["result"]


def refused(answer):
    assert answer.status == FULL, answer.body
    told = answer.json()
    assert told["status"] == "InsufficientStorage" and told["result"] is None and "Free space" in told["summary"]
    assert "retry-after" not in answer.headers


def test_a_full_disk(small):
    with Gateway("", CONFIG % small) as gateway:
        call = gateway.api
        key = ok(call("/v2/key/generate", KEY))["id"]
        token = ok(call("/v2/jwt/sign", {"id": key, "payload": '{"n": 1}'}))["jws"]
        for _ in range(3):
            fill(small)
            # The log's pages that are there already may take some more.
            made = 1
            for _ in range(1000):
                answer = call("/v2/key/rotate", {"id": key, "rotation_state": "deactivated"})
                if answer.status != 200:
                    break
                made += 1
            refused(answer)
            for _ in range(20):
                refused(call("/v2/key/rotate", {"id": key, "rotation_state": "deactivated"}))
                refused(call("/v2/key/generate", KEY))
                refused(call("/v1beta/config/create", {"name": "large", "rules": {}}))
                fresh = ok(call("/v2/jwt/sign", {"id": key, "payload": '{"n": 1}'}))["jws"]
                for each in (token, fresh):
                    assert ok(call("/v2/jwt/verify", {"jws": each}))["valid_signature"]
                assert ok(call("/v2/get", {"id": key}))["id"] == key
                assert len(ok(call("/v2/jwk/get", {"id": key, "version": "all"}))["keys"]) >= made
                assert ok(call("/v1/redact", {"text": "Mail jane@harbour-post.com", "llm_request": True}))["count"] == 1
            assert gateway.call("GET", "/readyz", port=gateway.admin).status == 200
            before = len(ok(call("/v2/jwk/get", {"id": key, "version": "all"}))["keys"])

            os.remove(small / "filler")
            rotated = gateway.wait_for(lambda: (a := call("/v2/key/rotate", {"id": key})).status == 200 and a, 10)
            assert ok(rotated)["num_versions"] == before + 1, "nothing that was refused took place"
            ok(call("/v2/key/generate", KEY))
        gateway.restart()
        assert ok(call("/v2/jwt/verify", {"jws": token}))["valid_signature"]
        assert len(ok(call("/v2/jwk/get", {"id": key, "version": "all"}))["keys"]) == before + 1
        assert "room left" in "\n".join(gateway.log)
