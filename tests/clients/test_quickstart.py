"""The quick start, with the binary under test: what it prints works when pasted, and it can be run again."""

import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest
from gateway import BINARY, ROOT, free_ports


@pytest.fixture
def quickstart(tmp_path, mock):
    port, admin = free_ports(2)
    places = {"LISTEN": "127.0.0.1:%d" % port, "ADMIN": "127.0.0.1:%d" % admin, "UPSTREAM": mock.url}
    places |= {"PORTCULLIS_BIN": str(BINARY), "PORTCULLIS_DATA": str(tmp_path / "data")}

    def call(*args, **more):
        command = [str(ROOT / "examples/quickstart"), *args]
        environment = {**os.environ, **places, **more}
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)

    yield call
    call("stop")


def paste(printed):
    """Runs the line that the script tells to try."""
    [line] = re.findall(r"^  (curl .*)$", printed, re.M)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=30).stdout


def test_it_runs_and_runs_again_and_stops(quickstart, tmp_path):
    first = quickstart()
    assert first.returncode == 0, first.stderr
    assert '"redacted_text":"Mail <EMAIL_ADDRESS> or call <PHONE_NUMBER>"' in paste(first.stdout)
    again = quickstart()
    assert again.returncode == 0 and "runs already" in again.stdout
    console, make = re.search(r"finds: (\S+), with a token of: (.+)", first.stdout).groups()
    made = subprocess.run(["bash", "-c", make], capture_output=True, text=True, timeout=30, cwd=ROOT).stdout.strip()
    origin = {"Origin": console.rstrip("/")}
    request = urllib.request.Request(console + "sign-in", urllib.parse.urlencode({"token": made}).encode(), origin)
    page = urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(request, timeout=10).read()
    assert b"Sign out" in page
    assert '"status":"success"' in paste(again.stdout)
    assert "Stopped" in quickstart("stop").stdout and "not running" in quickstart("stop").stdout
    anew = quickstart()
    assert '"status":"success"' in paste(anew.stdout), "the token outlives the process"


def test_it_says_when_the_port_is_taken(quickstart, gateway):
    done = quickstart(LISTEN="127.0.0.1:%d" % gateway.port)
    assert done.returncode == 1 and "LISTEN=" in done.stderr and str(gateway.port) in done.stderr


def test_it_says_why_it_did_not_start(quickstart):
    done = quickstart(UPSTREAM="ftp://nowhere")
    assert done.returncode == 1 and "must begin with http" in done.stderr
