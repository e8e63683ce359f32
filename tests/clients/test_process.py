"""What the process asks of the operating system for itself: core dumps are off."""

import http.client
import os
import pwd
import stat
import subprocess
import sys
import time

import pytest
from gateway import BINARY, Gateway, environment, free_ports, multipart

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
CONFIG = 'data = "data"\n[[listen]]\naddress = "127.0.0.1:{port}"\n[admin]\naddress = "127.0.0.1:{admin}"\n'


@linux
def test_no_core_file_can_be_written():
    with Gateway("", CONFIG) as gateway:
        limits = open("/proc/%d/limits" % gateway.process.pid).read()
        line = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
        assert line.split()[4:6] == ["0", "0"]


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which takes root")
def test_not_even_the_same_user_may_read_the_processs_memory(tmp_path_factory):
    """A process that is not dumpable is owned by root in /proc, whoever runs it (proc(5))."""
    if not os.access(BINARY, os.X_OK) or subprocess.run([BINARY, "version"], user="nobody", capture_output=True).returncode:
        pytest.skip("another user may not run the binary where it is")
    home = tmp_path_factory.getbasetemp() / "nobody"
    home.mkdir()
    nobody = pwd.getpwnam("nobody").pw_uid
    os.chown(home, nobody, -1)
    for folder in home.parents:
        if folder.stat().st_mode & 0o001:
            break
        folder.chmod(folder.stat().st_mode | 0o711)
    port, admin = free_ports(2)
    command = [BINARY, "serve", "--listen", "127.0.0.1:%d" % port, "--admin", "127.0.0.1:%d" % admin, "--data", home / "data"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, user="nobody", env=environment(), stdout=subprocess.PIPE, stderr=quiet)
    try:
        assert process.stdout.readline().startswith(b"pts_")
        time.sleep(0.1)
        assert "\nUid:\t%d\t" % nobody in open("/proc/%d/status" % process.pid).read()
        assert os.stat("/proc/%d/environ" % process.pid).st_uid == 0
        reader = ["cat", "/proc/%d/environ" % process.pid]
        assert subprocess.run(reader, user="nobody", stdout=quiet, stderr=quiet).returncode != 0
    finally:
        process.terminate()
        process.wait(15)


@linux
def test_what_it_writes_is_its_owners_alone_whatever_the_umask(tmp_path):
    port, admin = free_ports(2)
    command = [BINARY, "serve", "--listen", "127.0.0.1:%d" % port, "--admin", "127.0.0.1:%d" % admin, "--data", tmp_path / "data"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, umask=0, env=environment(), stdout=pipe, stderr=subprocess.DEVNULL)
    try:
        token = process.stdout.readline().decode().strip()
        head = {"authorization": "Bearer " + token}
        kind, body = multipart({"name": "a.bin", "folder": "/in", "transfer_method": "multipart"}, "a.bin", b"x" * 400_000)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/share/v1/put", body, head | {"content-type": kind})
        assert connection.getresponse().status == 200
        end = time.monotonic() + 10
        while not (tmp_path / "data/serve.pid").exists() and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        process.terminate()
        process.wait(15)
    found = {path: stat.S_IMODE(path.lstat().st_mode) for path in (tmp_path / "data").rglob("*") if not path.is_socket()}
    assert any(path.is_file() and "blobs" in path.parts for path in found)
    for path, mode in found.items():
        most = 0o700 if path.is_dir() else 0o644 if path.name == "serve.pid" else 0o600
        assert mode & ~most == 0, "%s %o" % (path, mode)


def test_a_variable_that_is_empty_is_none(tmp_path):
    empty = {name: "" for name in ("PORTCULLIS_CONFIG", "PORTCULLIS_DATA", "PORTCULLIS_LISTEN", "PORTCULLIS_ADMIN", "PORTCULLIS_UPSTREAM")}
    created = subprocess.run(
        [BINARY, "tokens", "create", "--name", "a", "--data", tmp_path / "data"], env=environment() | empty, capture_output=True, text=True
    )
    assert created.returncode == 0 and created.stdout.startswith("pts_"), created.stderr
    file = tmp_path / "portcullis.toml"
    file.write_text('data = "data"\n[[listen]]\naddress = "127.0.0.1:0"\n')
    checked = subprocess.run([BINARY, "check", "-c", file], env=environment() | empty, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_a_token_that_nobody_could_read_is_revoked(tmp_path):
    command = [BINARY, "tokens", "create", "--name", "lost", "--data", tmp_path / "data"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "is revoked" in done.stderr and "no room" in done.stderr
    listed = subprocess.run([*command[:2], "list", *command[-2:]], env=environment(), capture_output=True, text=True)
    heads, lost = (line.split("\t") for line in listed.stdout.splitlines())
    assert lost[heads.index("REVOKED")] != "-", listed.stdout
