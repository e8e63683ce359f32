"""Where the master key may come from: a file, the environment, a program, a passphrase; and what is said if it does not."""

import os
import subprocess

import pytest
from gateway import BINARY, MINIMAL, Gateway, environment, run

FAILED, WRONG_CONFIG = 1, 3
KEY = "2b" * 32


@pytest.fixture
def told(tmp_path):
    """Creates a context with this `[vault]`, which takes the master key; the command's exit code and complaints."""

    def told(vault, **variables):
        file = tmp_path / "portcullis.toml"
        file.write_text('data = "data"\n[vault]\n%s\n' % vault)
        out = tmp_path / "context"
        out.unlink(missing_ok=True)
        command = [BINARY, "redact", "--context", out, "-c", file]
        done = subprocess.run(command, input=b"jane@example.com", capture_output=True, timeout=60, env=environment() | variables)
        return done.returncode, done.stderr.decode()

    return told


def program(tmp_path, text):
    path = tmp_path / "unseal"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o700)
    return 'master_key_command = ["%s", "--key", "$(id)"]' % path


def test_every_source_of_one_key_opens_the_same_store(told, tmp_path):
    file = tmp_path / "key"
    file.write_text(KEY)
    file.chmod(0o600)
    assert told('master_key = { file = "%s" }' % file) == (0, "")
    assert told('master_key = { env = "KEY" }', KEY=KEY) == (0, "")
    command = program(tmp_path, '[ "$2" = \'$(id)\' ] && echo %s' % KEY)
    assert told(command) == (0, "")
    assert told(command.replace("$(id)", "else"))[0] == FAILED


@pytest.mark.parametrize(
    "script, why",
    [
        ("echo secret-in-out; echo 'KMS says no' >&2; exit 3", "it failed (exit status: 3)"),
        ("echo secret-in-out", "unseal wrote does not hold a master key"),
        ("head -c 9999 /dev/zero", "it wrote more than 4096 bytes"),
    ],
)
def test_a_program_that_gives_no_key_is_a_clear_error(told, tmp_path, script, why):
    code, said = told(program(tmp_path, script))
    assert code == FAILED and why in said and "secret-in-out" not in said
    assert not any((tmp_path / "data").glob("*.key"))


def test_what_the_program_complains_about_is_logged(tmp_path):
    file = tmp_path / "portcullis.toml"
    vault = program(tmp_path, "echo secret-in-out; echo 'KMS says no' >&2; exit 3")
    file.write_text('data = "data"\n[[listen]]\naddress = "127.0.0.1:0"\n[vault]\n%s\n' % vault)
    done = run("serve", "-c", file)
    assert done.returncode == FAILED and done.out == ""
    assert "KMS says no" in done.err and "secret-in-out" not in done.err


def test_a_wrong_passphrase_is_said_and_the_right_one_still_opens(told, tmp_path):
    source = 'passphrase = { env = "PASS" }'
    assert told(source, PASS="correct horse") == (0, "")
    code, said = told(source, PASS="battery staple")
    assert code == FAILED and "the passphrase makes is not the master key" in said
    assert "battery" not in said and "horse" not in said
    assert told(source, PASS="correct horse") == (0, "")
    assert not any((tmp_path / "data").glob("*.key"))
    code, said = told('master_key = { env = "KEY" }', KEY=KEY)
    assert code == FAILED and "is not the master key" in said


def test_a_store_sealed_otherwise_takes_no_passphrase(told, tmp_path):
    assert told("") == (0, "")
    code, said = told('passphrase = { env = "PASS" }', PASS="correct horse")
    assert code == FAILED and "the passphrase makes is not the master key" in said
    assert told("") == (0, "")
    assert os.stat(tmp_path / "data/master.key").st_mode & 0o777 == 0o600


def test_two_sources_at_once_are_a_wrong_configuration(told):
    code, said = told('passphrase = { env = "PASS" }\nmaster_key = { env = "PASS" }', PASS=KEY)
    assert code == WRONG_CONFIG and "already said to be elsewhere" in said


def test_a_key_that_opens_nothing_is_told_before_the_next_start():
    with Gateway("", MINIMAL) as gateway:
        file = gateway.home / "data/master.key"
        key = file.read_text()
        for wrong, why in ((KEY, "is not the master key"), ("nonsense", "does not hold a master key"), (None, "is missing")):
            file.unlink() if wrong is None else file.write_text(wrong)
            gateway.reload("the next start will fail")
            line = gateway.said("the next start will fail")[-1]
            assert "ERROR" in line and why in line and "master.key" in line
            assert not gateway.said(wrong or key.strip())
        # It goes on, and says no more of it once the key is back.
        asked = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256"}
        assert gateway.api("/v2/key/generate", asked).status == 200
        file.write_text(key)
        file.chmod(0o600)
        gateway.reload("reloaded routes")
        assert len(gateway.said("the next start will fail")) == 3
        gateway.restart()
