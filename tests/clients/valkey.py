"""A real Valkey or Redis, of each test's own."""

import shutil
import socket
import subprocess
import time

import pytest

ENGINE = shutil.which("valkey-server") or shutil.which("redis-server")
installed = pytest.mark.skipif(not ENGINE, reason="there is neither valkey-server nor redis-server")

SHARED = """
[limits.shared]
url = "%s"
nodes = 2
timeout = "2s"
"""
PASSWORD = "hunter2-of-the-engine"


class Engine:
    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = "redis://:%s@127.0.0.1:%d/0" % (PASSWORD, self.port)
        self.process = None

    def start(self):
        command = [ENGINE, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command += ["--dir", str(self.folder), "--requirepass", PASSWORD]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait(20)

    def keys(self):
        with socket.create_connection(("127.0.0.1", self.port), 5) as talk:
            talk.sendall(("AUTH %s\r\nKEYS *\r\nQUIT\r\n" % PASSWORD).encode())
            return b"".join(iter(lambda: talk.recv(65536), b"")).decode()


@pytest.fixture
def engine(tmp_path):
    made = Engine(tmp_path)
    made.start()
    yield made
    made.stop()
