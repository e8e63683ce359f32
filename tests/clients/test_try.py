"""`portcullis try`: one command, and a console that one is signed in to; nothing stays behind."""

import http.client
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest
from gateway import BINARY, PATIENCE, environment, free_ports


class Trial:
    def __init__(self, tmp_path, *args):
        self.folder = tmp_path
        env = environment() | {"TMPDIR": str(tmp_path), "NO_COLOR": "1"}
        command = [str(BINARY), "try", "--no-open", *map(str, args)]
        pipe = subprocess.PIPE
        # A group of its own, so that a signal can be sent as a terminal sends it.
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=env, start_new_session=True, text=True
        )
        self.said = []
        self.readers = [
            threading.Thread(target=lambda: self.said.extend(self.process.stdout), daemon=True),
            threading.Thread(target=self.process.stderr.read, daemon=True),
        ]
        for reader in self.readers:
            reader.start()

    def link(self):
        end = time.monotonic() + 30 * PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(r"http://127\.0\.0\.1:\d+/playground#pts_[a-z2-7]{32}", "".join(self.said)):
                return found.group()
            time.sleep(0.05)
        raise TimeoutError("".join(self.said))

    def end(self, number, group=False):
        (os.killpg if group else os.kill)(self.process.pid, number)
        return self.process.wait(30 * PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.mark.parametrize(
    "number, group", [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, True), (signal.SIGHUP, False)]
)
def test_it_serves_and_leaves_nothing_behind(tmp_path, upstream, number, group):
    listen, admin = ("127.0.0.1:%d" % port for port in free_ports(2))
    with Trial(tmp_path, "--listen", listen, "--admin", admin, "--upstream", upstream.url) as trial:
        link = urllib.parse.urlsplit(trial.link())
        assert link.netloc == admin
        assert [path.name.startswith("portcullis-try-") for path in tmp_path.iterdir()] == [True]
        assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o700]
        body = urllib.parse.urlencode({"token": link.fragment, "next": link.path})
        connection = http.client.HTTPConnection(admin, timeout=10)
        kind = {"origin": "http://" + admin, "content-type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/sign-in", body, kind)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["location"]) == (303, "/playground")
        assert trial.end(number, group) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("after", [0.02, 0.1, 0.3, 0.6])
def test_whenever_it_is_stopped_nothing_is_left(tmp_path, after):
    with Trial(tmp_path) as trial:
        time.sleep(after)
        trial.end(signal.SIGINT, group=True)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_one_left_is_swept_by_the_next(tmp_path, upstream):
    with Trial(tmp_path) as trial:
        trial.link()
        os.killpg(trial.process.pid, signal.SIGKILL)
        trial.process.wait()
    assert len(list(tmp_path.iterdir())) == 1
    with Trial(tmp_path) as trial:
        trial.link()
        assert len(list(tmp_path.iterdir())) == 1
        trial.end(signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_somebody_has_is_told_before_there_is_a_link(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as held:
        taken = "127.0.0.1:%d" % held.getsockname()[1]
        for place in ["--admin", "--listen"]:
            with Trial(tmp_path, place, taken) as trial:
                assert trial.process.wait(30 * PATIENCE) == 1
                assert trial.said == []
    with Trial(tmp_path, "--admin", "0.0.0.0:0") as trial:
        assert trial.process.wait(30 * PATIENCE) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_keeps_it_from_serving_is_told_and_cleaned_up(tmp_path):
    with Trial(tmp_path, "--upstream", "ftp://nowhere") as trial:
        assert trial.process.wait(30 * PATIENCE) != 0
    assert list(tmp_path.iterdir()) == []
