"""What the process asks of the operating system for itself: core dumps are off."""

import os
import pwd
import subprocess
import sys
import time

import pytest
from gateway import BINARY, Gateway, environment, free_ports

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
