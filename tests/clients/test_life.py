"""A process's life under load: reloads, the hand-over to a successor, the end. Thousands of requests are under way
meanwhile, over HTTP/1.1 and HTTP/2, streams and plain ones; none may be lost.

PORTCULLIS_IN_FLIGHT says how many (default 300; the figures in the notes are of 10000), PORTCULLIS_TICKS how long each takes,
in half seconds."""

import asyncio
import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from gateway import BINARY, MINIMAL, ROOT, Gateway, free_ports, run
from load import Slow, Tally, flight, kept, steady

COUNT = int(os.environ.get("PORTCULLIS_IN_FLIGHT", 300))
TICKS = int(os.environ.get("PORTCULLIS_TICKS", 10))

CONFIG = """
data = "data"
[[listen]]
address = "127.0.0.1:{port}"
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true
[admin]
address = "127.0.0.1:{admin}"
[log]
format = "json"
level = "warn"
[limits]
connections = 20000
connections_per_address = 20000
drain = "60s"
queue = "30s"
[upstreams.slow]
peers = ["{upstream}"]
[[routes]]
name = "load"
path = "/load"
upstream = "slow"
auth = "none"
rate = {{ requests = 1000000, per = "1s", by = "address" }}
[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 200, body = "one" }}
"""


def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 40_000), max(hard, 40_000)))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Living(Gateway):
    """One whose process can be succeeded by another."""

    def serving(self):
        return int((self.home / "data/serve.pid").read_text())

    def succeeded(self, pid):
        return self.wait_for(lambda: self.serving() != pid and self.serving(), seconds=60)

    def stop(self):
        """The process that serves may be a grandchild."""
        with contextlib.suppress(OSError, ValueError):
            if (pid := self.serving()) != self.process.pid:
                os.kill(pid, signal.SIGTERM)
                self.wait_for(lambda: not alive(pid), seconds=60)
        return super().stop()


def alive(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def gateway():
    many_descriptors()
    with Slow(free_ports(1)[0]) as slow, Living(slow.url, CONFIG) as running:
        running.wait_for(lambda: running.call("GET", "/load/now").status == 200)
        yield running


async def under_way(gateway, count):
    port = int(gateway.upstream.rsplit(":", 1)[1])
    for _ in range(1200):
        answer = await asyncio.to_thread(gateway.call, "GET", "/count", port=port)
        if int(answer.body) >= count:
            return
        await asyncio.sleep(0.05)
    raise TimeoutError("only %s of %d are under way" % (answer.body, count))


async def through(gateway, event, ticks=TICKS):
    """`event` happens while requests are under way and others keep coming. What became of them."""
    tally, stop = Tally(), asyncio.Event()
    flying = flight(gateway, COUNT, tally, ticks)
    more = [asyncio.create_task(steady(gateway, 50, stop, tally))]
    more += [asyncio.create_task(kept(gateway.port, "/load/now", stop, tally)) for _ in range(4)]
    await under_way(gateway, COUNT)
    await event()
    await asyncio.gather(*flying)
    stop.set()
    for outcome in await asyncio.gather(*more, return_exceptions=True):
        if outcome is not None:
            tally.note(outcome)
    print(dict(tally))
    return tally


def test_reloads_lose_nothing(gateway):
    async def event():
        for number in range(3):
            gateway.write(CONFIG.replace('"one"', '"%d"' % number))
            gateway.process.send_signal(signal.SIGHUP)
            for _ in range(600):
                if (await asyncio.to_thread(gateway.call, "GET", "/fixed")).body == b"%d" % number:
                    break
                await asyncio.sleep(0.05)
            else:
                raise TimeoutError("not reloaded")

    tally = asyncio.run(through(gateway, event))
    assert tally["ok"] > COUNT and not tally.lost() and not tally["refused"], tally


def test_a_successor_takes_over_and_nothing_is_lost(gateway):
    first = gateway.process.pid
    token = gateway.token

    async def event():
        gateway.process.send_signal(signal.SIGQUIT)
        await asyncio.to_thread(gateway.succeeded, first)
        await asyncio.sleep(1)

    tally = asyncio.run(through(gateway, event))
    assert tally["ok"] > COUNT and not tally.lost() and not tally["refused"], tally
    assert gateway.process.wait(70) == 0
    second = gateway.serving()
    assert alive(second)
    # The store and its tokens are the same.
    answer = gateway.call("POST", "/v1/redact", {"text": "x"}, {"authorization": "Bearer " + token})
    assert answer.status == 200, answer.body
    # And once more, by the script, under a little load.
    done = subprocess.run([ROOT / "conf/upgrade", gateway.home / "data"], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    third = gateway.serving()
    assert third not in (first, second) and "process %d took over" % third in done.stdout
    gateway.wait_for(lambda: not alive(second), seconds=70)
    assert gateway.call("GET", "/fixed").body == b"one"


def test_a_successor_that_cannot_start_changes_nothing(gateway):
    pid = gateway.process.pid
    for wrong in ["nonsense", CONFIG.replace('format = "json"', 'format = "json"\nlevel = "loud"')]:
        gateway.write(wrong.replace("{", "{{").replace("}", "}}") if wrong == "nonsense" else wrong)
        before = len(gateway.log)
        gateway.process.send_signal(signal.SIGQUIT)
        gateway.wait_for(lambda: [line for line in gateway.log[before:] if "did not take over" in line])
        assert gateway.serving() == pid and gateway.call("GET", "/fixed").body == b"one"
    # An address that is somebody else's: it fails after it has got the sockets.
    port = free_ports(1)[0]
    with socket.create_server(("127.0.0.1", port)):
        gateway.write(CONFIG + '[[listen]]\naddress = "127.0.0.1:%d"\n' % port)
        done = subprocess.run([ROOT / "conf/upgrade", gateway.home / "data"], capture_output=True, text=True, env={**os.environ, "WAIT": "3"})
        assert done.returncode == 1 and "goes on" in done.stderr
        # The script may have lost patience before the successor came to it.
        gateway.wait_for(lambda: [line for line in gateway.log if "left before it was ready" in line])
        gateway.wait_for(lambda: len([line for line in gateway.log if "did not take over" in line]) == 3)
    assert gateway.call("GET", "/fixed").body == b"one" and gateway.is_ready()
    # And with that mended it does take over, with one more address.
    gateway.process.send_signal(signal.SIGQUIT)
    gateway.succeeded(pid)
    assert gateway.call("GET", "/fixed", port=port).body == b"one"
    assert gateway.process.wait(70) == 0


def test_without_a_process_before_there_is_nothing_to_take_over(tmp_path):
    done = run("serve", "--upgrade", "--data", tmp_path / "data", "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "start without `--upgrade`" in done.err


@pytest.mark.parametrize("longer, more", [(1, '[upgrade]\nsocket = "other.sock"\n'), (22, "")])
def test_one_process_serves_from_a_folder_whatever_its_socket_is(tmp_path, longer, more):
    """Two would not find each other: their sockets have different names, or a path that is too long for one."""
    data = tmp_path / ("long-" * longer)
    config = MINIMAL.replace('"data"', '"%s"' % data)
    file = tmp_path / "second.toml"
    file.write_text(config.format(port=0, admin=0) + more)
    with Gateway("", config) as first:
        done = run("serve", "-c", file)
        assert (done.returncode, done.out) == (1, "") and "a process serves from here already" in done.err, done.err
        # Who looks into the store beside it may.
        assert "first" in run("tokens", "list", "-c", file).out
        first.process.kill()
        first.process.wait()
        first.start()
        assert "a process serves from here already" in run("serve", "-c", file).err


def test_a_successor_has_the_folder_to_itself(tmp_path):
    config = MINIMAL.replace('"data"', '"%s/data"' % tmp_path)
    file = tmp_path / "second.toml"
    file.write_text(config.format(port=0, admin=0) + '[upgrade]\nsocket = "other.sock"\n')

    class Upgraded(Living):
        def serving(self):
            return int((tmp_path / "data/serve.pid").read_text())

    with Upgraded("", config) as gateway:
        first = gateway.process.pid
        gateway.process.send_signal(signal.SIGQUIT)
        gateway.succeeded(first)
        assert gateway.process.wait(70) == 0
        assert "a process serves from here already" in run("serve", "-c", file).err


def test_the_end_loses_nothing_that_was_accepted(gateway):
    async def event():
        gateway.process.send_signal(signal.SIGTERM)

    tally = asyncio.run(through(gateway, event))
    refused = {why: count for why, count in tally.lost().items() if why.startswith("ConnectionRefused")}
    lost = {why: count for why, count in tally.lost().items() if why not in refused}
    assert tally["ok"] >= COUNT and not lost, tally
    assert tally["refused"] > 0
    assert gateway.process.wait(70) == 0


def test_an_idle_process_ends_quickly_and_a_second_signal_ends_any(gateway):
    began = time.monotonic()
    assert gateway.stop() == 0
    assert time.monotonic() - began < 3
    gateway.start()

    async def twice():
        tally = Tally()
        flying = flight(gateway, 20, tally, 60)
        await under_way(gateway, 20)
        gateway.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.5)
        assert gateway.process.poll() is None
        gateway.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(gateway.process.wait, 10)
        await asyncio.gather(*flying)

    asyncio.run(twice())


def test_a_longer_drain_holds_after_a_reload(gateway):
    """What is under way at the end takes longer than the process was first told to wait."""
    gateway.stop()
    gateway.config = CONFIG.replace('"60s"', '"1s"')
    gateway.start()
    gateway.write(CONFIG)
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for(lambda: 'portcullis_reloads_total{result="ok"} 1' in gateway.metrics())

    async def ended():
        tally = Tally()
        flying = flight(gateway, 20, tally, 8)
        await under_way(gateway, 20)
        gateway.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*flying)
        return tally

    tally = asyncio.run(ended())
    assert tally["ok"] == 20 and not tally.lost(), tally
    assert gateway.process.wait(10) == 0


def test_answers_at_the_end_say_that_they_are_the_last(gateway):
    """Streamed, collected, and of our own: what was under way when the process was told."""
    collected = '[[routes]]\nname = "read"\npath = "/read"\nupstream = "slow"\nauth = "none"\nredact = {{ protocol = "generic" }}\n'
    gateway.write(CONFIG + collected)
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for(lambda: gateway.call("GET", "/read/now").status == 200)
    head = "POST %s HTTP/1.1\r\nhost: a\r\nauthorization: Bearer %s\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n"
    paths = ["/load/late/4", "/read/late/4", "/v1/redact"]
    with contextlib.ExitStack() as stack:
        callers = [stack.enter_context(socket.create_connection(("127.0.0.1", gateway.port), 20)) for _ in paths]
        for caller, path in zip(callers, paths):
            caller.sendall((head % (path, gateway.token)).encode() + b'{"text": ')
        time.sleep(0.5)
        gateway.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        for caller in callers:
            caller.sendall(b'"b"}')
        for caller, path in zip(callers, paths):
            answer = b""
            while more := caller.recv(65536):
                answer += more
            assert answer.startswith(b"HTTP/1.1 200 "), (path, answer)
            assert b"\r\nconnection: close\r\n" in answer.lower(), (path, answer)
    assert gateway.process.wait(20) == 0


def test_idle_connections_keep_no_probe_from_its_answer(gateway):
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(socket.create_connection(("127.0.0.1", gateway.admin), 20))
        assert gateway.is_ready() and run("health", "--admin", "127.0.0.1:%d" % gateway.admin).returncode == 0
        with socket.create_connection(("127.0.0.1", gateway.admin), 20) as other:
            other.sendall(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert other.recv(100) == b"", "only probes have a place"
    gateway.wait_for(lambda: "portcullis_connections" in gateway.metrics())


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="holds the process")
def test_all_that_wait_at_the_end_are_answered(gateway):
    """More connections than a task of the runtime accepts at once."""
    gateway.process.send_signal(signal.SIGSTOP)
    with contextlib.ExitStack() as stack:
        callers = [stack.enter_context(socket.create_connection(("127.0.0.1", gateway.port), 20)) for _ in range(700)]
        for caller in callers:
            caller.sendall(b"GET /fixed HTTP/1.1\r\nhost: a\r\n\r\n")
        gateway.process.send_signal(signal.SIGTERM)
        gateway.process.send_signal(signal.SIGCONT)
        assert [caller.recv(12) for caller in callers] == [b"HTTP/1.1 200"] * len(callers)
    assert gateway.process.wait(20) == 0


def test_health_says_what_readyz_says(gateway):
    done = run("health", "--admin", "127.0.0.1:%d" % gateway.admin)
    assert done.returncode == 0 and done.out == "ready\n", done.err
    gateway.stop()
    done = run("health", "--admin", "127.0.0.1:%d" % gateway.admin)
    assert done.returncode == 1 and "127.0.0.1:%d" % gateway.admin in done.err


def test_a_supervisor_is_told_who_serves(tmp_path):
    place = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(place)
        told.settimeout(30)
        os.environ["NOTIFY_SOCKET"] = place
        try:
            with Living("http://127.0.0.1:1", CONFIG) as running:
                first = running.process.pid
                assert told.recv(999).decode().splitlines() == ["READY=1", "MAINPID=%d" % first]
                running.process.send_signal(signal.SIGQUIT)
                second = running.succeeded(first)
                assert told.recv(999).decode().splitlines() == ["READY=1", "MAINPID=%d" % second]
            assert told.recv(999) == b"STOPPING=1"
        finally:
            del os.environ["NOTIFY_SOCKET"]


def test_the_unit_is_sound(tmp_path):
    if not (systemd := shutil.which("systemd-analyze")):
        pytest.skip("systemd-analyze is missing: conf/portcullis.service is not checked")
    unit = tmp_path / "portcullis.service"
    text = Path(ROOT / "conf/portcullis.service").read_text()
    unit.write_text(text.replace("/usr/local/bin/portcullis", str(BINARY)))
    done = subprocess.run([systemd, "verify", unit], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    done = subprocess.run([systemd, "security", "--offline=true", "--threshold=25", unit], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_example_of_a_chat_is_right():
    """As far as it can be told without an engine that runs it."""
    text = (ROOT / "examples/compose/portcullis.toml").read_text()
    done = run("check", "-c", ROOT / "examples/compose/portcullis.toml")
    assert done.returncode == 0, done.err + text
    for line in (ROOT / "conf/Dockerfile").read_text().splitlines():
        if line.startswith("CMD "):
            import json

            command = json.loads(line[4:])
            # Options that there are; `--version` ends before anything is done.
            done = run(*command, "--help")
            assert done.returncode == 0, done.err
