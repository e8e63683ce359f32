"""What went wrong on the command line, in words, and what can be done next."""

import os
import socket
import sqlite3
import subprocess
import threading

import pytest
from gateway import BINARY, MINIMAL, environment, run

FAILED, USAGE, CONFIG = 1, 2, 3
NO_TOKEN, NO_KEY = "pti_" + "a" * 32, "pvi_" + "a" * 32

# The command, the exit code, the error, the tip.
CASES = [
    (["serve", "-c", "none.toml"], CONFIG, "none.toml: there is no such file", "`portcullis serve` also runs without a file"),
    (["check"], CONFIG, "conf/portcullis.toml: there is no such file", "-c FILE"),
    (["check", "-c", "."], CONFIG, ".: this is a folder, not a file", None),
    (["serve", "none.toml"], USAGE, "unexpected argument", "`-c none.toml`"),
    (["serv"], USAGE, "unrecognized subcommand 'serv'", "'serve'"),
    (["start"], USAGE, "unrecognized subcommand 'start'", "`portcullis serve`"),
    (["anonymize", "file"], USAGE, "unrecognized subcommand 'anonymize'", "`portcullis redact`"),
    (["status"], USAGE, "unrecognized subcommand 'status'", "`portcullis health`"),
    (["token", "list"], USAGE, "unrecognized subcommand 'token'", "'tokens'"),
    (["serve", "--listen", "8080"], USAGE, "an IP address and a port, such as 127.0.0.1:8080", None),
    (["tokens", "list"], FAILED, "there is no store here", "--data"),
    (["tokens", "list", "--data", "none"], FAILED, "none: there is no store here", "`portcullis tokens create`"),
    (["tokens", "revoke", NO_TOKEN, "--data", "data"], FAILED, "no such token", "`portcullis tokens list`"),
    (["tokens", "update", NO_TOKEN, "--name", "x", "--data", "data"], FAILED, "no such token", "`portcullis tokens list`"),
    (["tokens", "revoke", "ci", "--data", "data"], USAGE, "not a token's id", None),
    (["tokens", "revoke", "ci"], USAGE, "not a token's id", None),
    (["tokens", "revoke", "pts_" + "b" * 32, "--data", "data"], USAGE, "this is a token", None),
    (["keys", "show", NO_KEY, "--data", "data"], FAILED, "no such item", "`portcullis keys list`"),
    (["keys", "rotate", "billing", "--data", "data"], USAGE, "not a key's id", None),
    (["memory", "erase", "--token", "ci", "--data", "data"], USAGE, "`portcullis tokens list`", None),
    (["redact", "none"], FAILED, "none: there is no such file or folder", None),
    (["redact", "."], FAILED, ".: this is a folder, not a file", None),
    (["detect", "none"], FAILED, "none: there is no such file or folder", None),
    (["audit", "verify", "none"], FAILED, "none: there is no such file or folder", None),
    (["rules", "test", "none"], FAILED, "none: there is no such file or folder", None),
    (["redact", "--context", "there", "--data", "data"], FAILED, "there: there is one already", "not there yet"),
    (["unredact", "--context", "none", "--data", "data"], FAILED, "none: there is no such file or folder", "`portcullis redact --context FILE`"),
    (["unredact", "--context", "there", "--data", "data"], FAILED, "there: not a context of this vault", "--data"),
    (["rules", "show", "US_SNN"], USAGE, "there is no rule `US_SNN`", None),
    (["completions", "tcsh"], USAGE, "invalid value 'tcsh'", "'zsh'"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    assert run("keys", "generate", "--algorithm", "ES256", "--data", folder / "data").returncode == 0
    (folder / "there").write_text("mine")
    return folder


def tried(place, args, **variables):
    env = environment() | {"HOME": str(place / "home")} | variables
    return subprocess.run([BINARY, *map(str, args)], cwd=place, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("args, code, error, tip", CASES, ids=[" ".join(case[0]) for case in CASES])
def test_an_error_says_what_can_be_done(place, args, code, error, tip):
    done = tried(place, args)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert error in done.stderr and "os error" not in done.stderr
    tips = [line for line in done.stderr.splitlines() if line.startswith("  tip: ")]
    assert len(tips) == (tip is not None) and all(tip in line for line in tips), done.stderr
    # Who says it is no gateway's token is not told it again.
    assert "pts_b" not in done.stderr


def test_what_nobody_typed_is_named(place):
    done = tried(place, ["health"], PORTCULLIS_ADMIN="9180")
    assert done.returncode == USAGE and "PORTCULLIS_ADMIN" in done.stderr


def test_health_says_who_does_not_answer(place):
    with socket.socket() as free, socket.socket() as silent:
        free.bind(("127.0.0.1", 0))
        refused = tried(place, ["health", "--admin", "127.0.0.1:%d" % free.getsockname()[1]])
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = tried(place, ["health", "--admin", "127.0.0.1:%d" % silent.getsockname()[1]])
    assert refused.returncode == FAILED and "nothing listens there\n  tip: `portcullis serve` starts a gateway" in refused.stderr
    assert mute.returncode == FAILED and "no answer within 3 s\n  tip: " in mute.stderr


@pytest.mark.parametrize(
    "answer, error, tip",
    [
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "not ready (404)", "[admin]"),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", "not ready (503)", "its log"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no answer in HTTP", "[admin]"),
        (b"", "no answer in HTTP", "[admin]"),
    ],
)
def test_health_says_what_else_answers(place, answer, error, tip):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def once():
            caller, _ = server.accept()
            with caller:
                caller.recv(65536)
                caller.sendall(answer)

        thread = threading.Thread(target=once)
        thread.start()
        done = tried(place, ["health", "--admin", "127.0.0.1:%d" % server.getsockname()[1]])
        thread.join(10)
    assert (done.returncode, done.stdout) == (FAILED, "")
    assert error in done.stderr and "  tip: " in done.stderr and tip in done.stderr


def test_a_port_that_is_taken(place, gateway):
    admin = ["--admin", "127.0.0.1:0", "--data", "other"]
    done = tried(place, ["serve", "--listen", "127.0.0.1:%d" % gateway.port, *admin])
    assert done.returncode == FAILED and "  tip: another program has port %d; " % gateway.port in done.stderr
    done = tried(place, ["serve", "--listen", "192.0.2.1:8080", *admin])
    assert done.returncode == FAILED and "this machine has no such address" in done.stderr


def test_a_tip_is_in_the_log_where_that_is_json(place, gateway):
    file = place / "log.toml"
    file.write_text(MINIMAL.format(port=gateway.port, admin=0) + '[log]\nformat = "json"\n')
    done = tried(place, ["serve", "-c", file])
    assert done.returncode == FAILED and "tip:" not in done.stderr
    assert any('"ERROR"' in line and "another program has port" in line for line in done.stderr.splitlines())


def test_a_store_that_somebody_holds(place):
    held = sqlite3.connect(place / "data/portcullis.sqlite", isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    done = tried(place, ["tokens", "list", "--data", "data"])
    held.close()
    assert (done.returncode, done.stdout) == (FAILED, "")
    assert "another process holds it" in done.stderr and "  tip: wait for the process that holds it" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_store_of_another_user_is_not_said_to_be_missing(place):
    os.chmod(place, 0o755)
    command = [BINARY, "tokens", "list", "--data", place / "data"]
    try:
        done = subprocess.run(
            command, env=environment(), cwd="/", capture_output=True, text=True, preexec_fn=lambda: os.setuid(65534)
        )
    except PermissionError:
        pytest.skip("the binary is not for other users")
    assert done.returncode == FAILED and "permission denied" in done.stderr and "sudo -u" in done.stderr, done.stderr


def test_lists_of_nothing_say_how_there_is_something(tmp_path):
    token = run("tokens", "create", "--data", tmp_path)
    assert token.returncode == 0
    assert "`portcullis keys generate" in run("keys", "list", "--data", tmp_path).err
    assert run("keys", "generate", "--algorithm", "ES256", "--data", tmp_path / "keys").returncode == 0
    none = run("tokens", "list", "--data", tmp_path / "keys")
    assert none.returncode == 0 and "`portcullis tokens create --name NAME`" in none.err and len(none.out.splitlines()) == 1
    assert run("tokens", "list", "--data", tmp_path / "keys", "--quiet").err == ""


def test_names_of_files_do_not_steer_the_terminal(tmp_path):
    name = tmp_path / "a\x1b[2J\nportcullis: all is well"
    for args in (["redact", name], ["detect", name], ["check", "-c", name], ["tokens", "list", "--data", name], ["audit", "verify", name]):
        done = run(*args)
        assert done.returncode in (FAILED, CONFIG) and "\\u{1b}[2J\\n" in done.err and "\x1b" not in done.err
        assert not [line for line in done.err.splitlines() if line.startswith("portcullis: all")]
    name.write_text("")
    done = run("check", "-c", name)
    assert done.returncode == 0 and "\x1b" not in done.out and len(done.out.splitlines()) == 1
    raw = os.fsencode(tmp_path) + b"/\xff\xfe.log"
    with open(raw, "w") as file:
        file.write("mail jane.doe@harbour-post.com\n")
    for command in ("redact", "detect"):
        done = subprocess.run([BINARY, command, raw], capture_output=True, env=environment())
        assert done.returncode == 0 and b"EMAIL_ADDRESS" in done.stdout and b"jane" not in done.stdout
