"""A data folder without room: what is there is used, what is new is refused with a reason, and all passes by itself."""

import json
import os
import subprocess

import pytest
from gateway import Gateway, run

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
        gateway.wait_for(lambda: any("room left" in line for line in gateway.log))


def test_files_that_find_no_room(small):
    """As every other call: 507, and nothing of the file is kept."""
    limits = '[limits]\nbody = "8MiB"\n'
    with Gateway("", CONFIG % small + limits) as gateway:
        from gateway import multipart

        def put(size):
            kind, body = multipart({"name": "a.bin", "folder": "/in", "transfer_method": "multipart"}, "a.bin", os.urandom(size))
            return gateway.api("/share/v1/put", body, **{"content-type": kind})

        ok(put(100))
        for size in (100_000, 8 << 10):
            fill(small)
            for _ in range(3):
                refused(put(size))
            for n in range(3):
                folders = [gateway.api("/share/v1/folder/create", {"name": "f-%d-%d" % (n, m)}) for m in range(60)]
                full = [answer for answer in folders if answer.status != 200]
                assert full
                for answer in full:
                    refused(answer)
            kind, body = multipart({"content": {"url_intel": False, "domain_intel": False}}, "a.txt", b"Mail jane\n" * 1000)
            refused(gateway.api("/v1/sanitize", body, **{"content-type": kind}))
            os.remove(small / "filler")
            gateway.wait_for(lambda: put(100).status == 200, 10)


def test_what_was_spent_and_finds_no_room_is_told_at_the_end(small):
    from llm_upstream import Upstream

    config = CONFIG % small + (
        '[log]\nformat = "json"\naccess_file = "%s/access.jsonl"\n[usage]\ncount = "all"\n'
        '[[usage.budgets]]\nname = "all"\nperiod = "day"\ntokens = 1000000\n'
        '[upstreams.mock]\npeers = ["{upstream}"]\n'
        '[[routes]]\nname = "all"\nupstream = "mock"\nauth = "none"\nredact = {{}}\n' % small
    )
    with Upstream() as upstream, Gateway(upstream.url, config) as gateway:
        chat = lambda: gateway.call("POST", "/v1/chat/completions", {"model": "m-1", "messages": [{"role": "user", "content": "hi"}]})
        fill(small)
        for _ in range(100):
            assert chat().status == 200
        gateway.wait_for(lambda: any("not written yet" in line for line in gateway.log))
        # The access log of the same disk says so too, seldom; and its next line stands by itself once there is room.
        gateway.wait_for(lambda: any("lines of the log are lost" in line for line in gateway.log))
        assert gateway.stop() == 0
        lost = [json.loads(line) for line in gateway.log if '"ERROR"' in line and "what was spent last is lost" in line]
        assert any(line.get("requests", 0) > 0 and "report" in line["message"] for line in lost), lost
        os.remove(small / "filler")
        gateway.start()
        assert chat().status == 200
        assert gateway.stop() == 0
        lines = (small / "access.jsonl").read_bytes().splitlines()
        assert json.loads(lines[-1])["status"] == 200


def test_a_disk_that_may_only_be_read_is_told_and_nobody_is_said_to_hold_it(small):
    config = small.parent / "portcullis.toml"
    config.write_text((CONFIG % small).format(port=0, admin=0))
    assert run("tokens", "create", "--name", "a", "-c", config).returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    done = run("tokens", "create", "--name", "b", "-c", config)
    assert done.returncode == 1 and done.out == "" and "read" in done.err, done.err
    assert "fuser" not in done.err and "process that holds it" not in done.err
