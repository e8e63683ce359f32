"""`portcullis keys`, beside a running gateway: what one does the other sees; and another master key under load."""

import json
import os
import signal
import subprocess
import threading

import jwt
import pytest
from gateway import BINARY, Gateway, environment, run

FAILED, USAGE = 1, 2
CONFIG = 'data = "data"\n[[listen]]\naddress = "127.0.0.1:{port}"\n[admin]\naddress = "127.0.0.1:{admin}"\n'


@pytest.fixture(scope="module")
def gateway():
    with Gateway("", CONFIG) as running:
        yield running


def keys(gateway, *args, code=0):
    done = run("keys", *args, "-c", gateway.file)
    assert done.returncode == code, done.err
    return done.out.strip() if code == 0 else done.err


def ok(answer):
    assert answer.status == 200, answer.body
    return answer.json()["result"]


def sign(gateway, key):
    return ok(gateway.api("/v2/jwt/sign", {"id": key, "payload": "{}"}))["jws"]


def valid(gateway, token):
    return ok(gateway.api("/v2/jwt/verify", {"jws": token}))["valid_signature"]


def test_a_keys_life(gateway):
    key = keys(gateway, "generate", "--algorithm", "es256", "--name", "made here", "--rotate-every", "90d")
    token = sign(gateway, key)
    listed = [line.split("\t") for line in keys(gateway, "list").splitlines()]
    assert listed[0] == ["ID", "NAME", "TYPE", "ALGORITHM", "STATE", "VERSIONS", "NEXT ROTATION"]
    mine = next(row for row in listed if row[0] == key)
    assert mine[1:6] == ["made here", "asymmetric_key", "ES256", "active", "1"] and mine[6].endswith("Z")

    assert keys(gateway, "rotate", key, "--previous-state", "suspended") == "2"
    gateway.wait_for(lambda: jwt.get_unverified_header(sign(gateway, key))["kid"] == key + "|2", 5)
    assert valid(gateway, token)
    keys(gateway, "state", key, "compromised", "--version", "1")
    gateway.wait_for(lambda: not valid(gateway, token), 5)

    shown = json.loads(keys(gateway, "show", key, "--json"))
    assert [version["state"] for version in shown["versions"]] == ["compromised", "active"]
    assert shown["rotation_frequency"] == "90d" and shown["exportable"] is False
    assert "2\tactive" in keys(gateway, "show", key)
    lines = [json.loads(line) for line in keys(gateway, "list", "--json").splitlines()]
    assert next(line for line in lines if line["id"] == key)["num_versions"] == 2

    public = json.loads(keys(gateway, "public", key, "--jwk", "--version", "all"))["keys"]
    assert [one["kid"] for one in public] == [key + "|2"]
    pem = keys(gateway, "public", key)
    assert pem.startswith("-----BEGIN PUBLIC KEY-----") and pem == keys(gateway, "export", key)
    assert jwt.decode(sign(gateway, key), pem, algorithms=["ES256"]) == {}

    keys(gateway, "delete", key)
    gateway.wait_for(lambda: gateway.api("/v2/jwt/sign", {"id": key, "payload": "{}"}).status == 404, 5)
    assert "no such item" in keys(gateway, "show", key, code=FAILED)


def test_what_is_secret_is_printed_only_when_asked_twice(gateway):
    key = keys(gateway, "generate", "--algorithm", "HS256", "--exportable")
    locked = keys(gateway, "generate", "--algorithm", "EdDSA")
    keys(gateway, "export", key, "--secret", code=USAGE)
    secret = keys(gateway, "export", key, "--secret", "--confirm")
    everything = "".join(keys(gateway, *words) for words in (["list"], ["list", "--json"], ["show", key], ["show", key, "--json"]))
    assert secret not in everything
    assert "not exportable" in keys(gateway, "export", locked, "--secret", "--confirm", code=FAILED)
    assert "no public key" in keys(gateway, "export", key, code=FAILED)


@pytest.mark.parametrize(
    "args, why",
    [
        (["show", "pvi_short"], "that is pvi_ and 32 characters"),
        (["generate", "--algorithm", "none"], "an algorithm is one of"),
        (["generate", "--algorithm", "ES256", "--rotate-every", "soon"], "say never"),
        (["state", "pvi_" + "a" * 32, "gone"], "a state is one of active"),
        (["rotate", "pvi_" + "a" * 32, "--previous-state", "active"], "a state is one of deactivated"),
        (["export", "pvi_" + "a" * 32, "--version", "all"], "name one version"),
    ],
)
def test_a_wrong_command_line_says_what_would_be_right(gateway, args, why):
    assert why in keys(gateway, *args, code=USAGE)


class Load:
    """Signs, verifies, makes and rotates keys, encrypts and restores until told to stop; every fault is kept."""

    def __init__(self, gateway):
        self.gateway, self.faults, self.calls = gateway, [], 0
        self.key = keys(gateway, "generate", "--algorithm", "ES256")
        self.first, self.context = sign(gateway, self.key), self.encrypt()
        self.over = threading.Event()
        self.worker = threading.Thread(target=self.work)

    def encrypt(self):
        done = ok(self.gateway.api("/v1/redact", {"text": "Mail jane@harbour-post.com", "llm_request": True}))
        return {"redacted_data": done["redacted_text"], "fpe_context": done["fpe_context"]}

    def once(self):
        self.calls += 1
        assert valid(self.gateway, sign(self.gateway, self.key)) and valid(self.gateway, self.first)
        for context in (self.context, self.encrypt()):
            assert "jane@" in ok(self.gateway.api("/v1/unredact", context))["data"]
        ok(self.gateway.api("/v2/key/rotate", {"id": self.key, "rotation_state": "deactivated"}))
        ok(self.gateway.api("/v2/folder/create", {"name": "f%d" % self.calls, "folder": "/"}))
        ok(self.gateway.api("/v2/key/generate", {"type": "symmetric_key", "purpose": "fpe", "algorithm": "AES-FF1-256"}))

    def work(self):
        while not self.over.is_set():
            try:
                self.once()
            except Exception as fault:
                self.faults.append(repr(fault))

    def __enter__(self):
        self.worker.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.worker.join(30)


def test_the_master_key_is_replaced_under_load_kills_and_a_restart():
    with Gateway("", CONFIG) as gateway:
        before = (gateway.home / "data/master.key").read_text()
        with Load(gateway) as load:
            command = [BINARY, "keys", "rotate-master", "-c", gateway.file]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment()}
            for seconds in (0.3, 2, 3.5, 5, 6.3):
                process = subprocess.Popen(command, **quiet)
                try:
                    process.wait(seconds)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            done = run("keys", "rotate-master", "-c", gateway.file)
            assert done.returncode == 0, done.err
            gateway.wait_for(lambda: "read the keyring again" in "\n".join(gateway.log), 5)
        assert load.faults == [] and load.calls > 5
        after = gateway.home / "data/master.key"
        assert after.read_text() != before and not (gateway.home / "data/master.key.next").exists()
        assert os.stat(after).st_mode & 0o777 == 0o600
        load.once()
        gateway.restart()
        load.once()
        # And once more, while the same process goes on.
        assert run("keys", "rotate-master", "-c", gateway.file).returncode == 0
        load.once()
        gateway.stop()
        after.write_text(before)
        assert "is not the master key" in run("keys", "list", "-c", gateway.file).err


def test_a_configured_master_key_is_followed_on_sighup(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for path, digit in ((old, "1"), (new, "2")):
        path.write_text(digit * 64)
        path.chmod(0o600)
    config = CONFIG + '[vault]\nmaster_key = {{ file = "%s" }}\n'
    with Gateway("", config % old) as gateway:
        load = Load(gateway)
        wrong = run("keys", "rotate-master", "-c", gateway.file)
        assert wrong.returncode == USAGE and "say where the new one is" in wrong.err
        same = run("keys", "rotate-master", "--new-file", old, "-c", gateway.file)
        assert same.returncode == FAILED and "is the one in use" in same.err
        assert run("keys", "rotate-master", "--new-file", new, "--keep-old", "-c", gateway.file).returncode == 0
        load.once()
        gateway.config = config % new
        gateway.write(gateway.config)
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_for(lambda: "reloaded routes" in "\n".join(gateway.log), 5)
        assert run("keys", "rotate-master", "--new-file", new, "-c", gateway.file).returncode == 0
        load.once()
        gateway.restart()
        load.once()
        gateway.write(config % old)
        assert "is not the master key" in run("keys", "list", "-c", gateway.file).err
