"""Lines of the process's log: nobody waits for whoever reads them, and they say why an upstream fails."""

import contextlib
import datetime
import fcntl
import json
import os
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from gateway import BINARY, MINIMAL, PATIENCE, Gateway, environment

FIXED = """
[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 200, body = "one" }}
"""


class Stalled(Gateway):
    """One whose standard error nobody reads."""

    def start(self, every=0.02):
        self.write(self.config)
        self.reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        command = [str(BINARY), "serve", "-c", str(self.file)]
        out = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=writing, env=environment())
        os.close(writing)
        self.readers = []
        self.wait_for(self.is_ready, every=every)
        self.out.append(self.process.stdout.readline().decode().strip())

    def __exit__(self, *_):
        super().__exit__()
        os.close(self.reading)

    def lost(self):
        lines = [line for line in self.metrics().splitlines() if "_lines_lost_total" in line and line[0] != "#"]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_reader_that_stalls_stops_nobody(style):
    config = MINIMAL + FIXED + '[log]\nformat = "%s"\n' % style
    with Stalled("", config) as gateway:
        began = time.monotonic()
        # More than wait, and than the pipe takes.
        asked = 9000
        threads = [threading.Thread(target=lambda: [gateway.call("GET", "/fixed") for _ in range(asked // 8)]) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert gateway.call("GET", "/fixed").status == 200
        assert time.monotonic() - began < 120 * PATIENCE
        assert gateway.lost()["portcullis_access_lines_lost_total"] > 0
        # Once somebody reads again, whole lines come, and that some are missing.
        read = b""
        os.set_blocking(gateway.reading, False)
        end = time.monotonic() + 20 * PATIENCE
        while time.monotonic() < end and b"lines of the log are lost" not in read:
            with contextlib.suppress(BlockingIOError):
                read += os.read(gateway.reading, 65536)
        assert b"lines of the log are lost" in read
        if style == "json":
            assert all(map(json.loads, read.splitlines()[:-1]))
        assert gateway.stop() == 0


def test_a_process_whose_log_nobody_reads_can_be_ended():
    with Stalled("", MINIMAL + FIXED) as gateway:
        for _ in range(100):
            assert gateway.call("GET", "/fixed").status == 200
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(15 * PATIENCE) == 0


def test_a_second_signal_ends_the_process_at_once():
    config = MINIMAL + '[upstreams.deaf]\npeers = ["http://127.0.0.1:{other}"]\n' + (
        '[[routes]]\nname = "deaf"\npath = "/deaf"\nupstream = "deaf"\nauth = "none"\n'
    )
    with Gateway("", config) as gateway, socket.create_server(("127.0.0.1", gateway.other)) as server:
        caller = socket.create_connection(("127.0.0.1", gateway.port))
        caller.sendall(b"GET /deaf HTTP/1.1\r\nhost: x\r\n\r\n")
        deaf = server.accept()
        gateway.process.send_signal(signal.SIGTERM)
        gateway.wait_for(lambda: any("draining" in line for line in gateway.log))
        time.sleep(0.3)
        assert gateway.process.poll() is None
        began = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(5 * PATIENCE) == 0 and time.monotonic() - began < 2 * PATIENCE
        assert any("stopped" in line for line in gateway.log), "and its last lines are written"
        deaf[0].close()
        caller.close()


def test_the_last_lines_are_written_before_the_end():
    with Gateway("", MINIMAL + FIXED) as gateway:
        for _ in range(50):
            gateway.call("GET", "/fixed")
        assert gateway.stop() == 0
        assert sum("portcullis::access" in line and "fixed" in line for line in gateway.log) == 50
        assert "stopped" in gateway.log[-1]


@pytest.mark.parametrize("name", ["SIGHUP", "SIGUSR1", "SIGUSR2"])
def test_signals_do_not_kill_from_the_beginning(tmp_path, name):
    file = tmp_path / "portcullis.toml"
    with Gateway("", MINIMAL) as gateway:
        gateway.process.send_signal(getattr(signal, name))
        time.sleep(0.3)
        assert gateway.call("GET", "/readyz", port=gateway.admin).status == 200
        file.write_text(MINIMAL.format(port=0, admin=0).replace('"data"', '"%s/data"' % tmp_path))
    process = subprocess.Popen([BINARY, "serve", "-c", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    try:
        # As early as it catches any.
        end = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < end:
            caught = [line for line in open("/proc/%d/status" % process.pid) if line.startswith("SigCgt:")]
            if int(caught[0].split()[1], 16) & (1 << (getattr(signal, name) - 1)):
                break
        process.send_signal(getattr(signal, name))
        assert process.stdout.readline().startswith(b"pts_")
    finally:
        process.terminate()
        process.communicate(timeout=20)


def self_signed(folder, days):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - datetime.timedelta(90)).not_valid_after(now + datetime.timedelta(days))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "up.key").write_bytes(key.private_bytes(*form))
    (folder / "up.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


def test_why_an_upstream_fails_is_logged_and_seldom(tmp_path):
    self_signed(tmp_path, -1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "up.pem", tmp_path / "up.key")
    server = socket.create_server(("127.0.0.1", 0))
    cutter = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                with server.accept()[0] as one, contextlib.suppress(OSError):
                    context.wrap_socket(one, server_side=True)
            except OSError:
                return

    def cut():
        while True:
            try:
                with cutter.accept()[0] as one:
                    one.recv(65536)
                    one.sendall(b"SECRET-IN-NO-ANSWER\r\n\r\n")
            except OSError:
                return

    for each in (accept, cut):
        threading.Thread(target=each, daemon=True).start()
    upstreams = {
        "nobody": ('"http://127.0.0.1:{nobody}"', ""),
        "unknown": ('"http://nobody.invalid:80"', ""),
        "expired": ('"https://localhost:%d"' % server.getsockname()[1], 'tls = {{ ca = "%s/up.pem" }}\n' % tmp_path),
        "odd": ('"http://127.0.0.1:%d"' % cutter.getsockname()[1], ""),
    }
    config = MINIMAL + '[log]\nformat = "json"\n'
    for name, (peer, more) in upstreams.items():
        config += "[upstreams.%s]\npeers = [%s]\n%s" % (name, peer, more)
        for path, redact in ((name, ""), (name + "-redacted", "redact = {{}}\n")):
            config += '[[routes]]\nname = "%s"\npath = "/%s"\nupstream = "%s"\nauth = "none"\n%s' % (path, path, name, redact)
    with Gateway("", config) as gateway:

        def told(name):
            lines = [json.loads(line) for line in gateway.log if '"portcullis::upstream"' in line]
            return [line for line in lines if line["upstream"] == name and "why" in line]

        for name in upstreams:
            for path in (name, name + "-redacted"):
                for _ in range(3):
                    answer = gateway.call("POST", "/" + path, {"text": "SECRET-IN-A-BODY"}, {"authorization": "Bearer SECRET-IN-A-HEAD"})
                    assert answer.status == 502
        gateway.wait_for(lambda: all(map(told, upstreams)))
        kinds = {name: [line["kind"] for line in told(name)] for name in upstreams}
        assert kinds == {"nobody": ["connect"], "unknown": ["dns"], "expired": ["tls"], "odd": ["broken"]}, kinds
        assert "refused" in told("nobody")[0]["why"] and told("nobody")[0]["peer"].endswith(":%d" % gateway.nobody)
        assert "expired" in told("expired")[0]["why"].lower()
        assert told("unknown")[0]["peer"] == "nobody.invalid"
        assert not any("SECRET" in line for line in gateway.log)
    server.close()
    cutter.close()


def test_a_store_that_somebody_holds_is_told_and_waited_for():
    with Gateway("", MINIMAL + '[log]\nformat = "json"\n') as gateway:
        held = sqlite3.connect(gateway.home / "data/portcullis.sqlite", isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        answer = gateway.api("/v2/key/generate", {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256"})
        assert answer.status == 503 and answer.headers["retry-after"] == "1", answer.body
        assert answer.json()["status"] == "ServiceNotAvailable" and "store" in answer.json()["summary"]
        gateway.wait_for(lambda: any("another process holds it" in line for line in gateway.log))
        held.execute("ROLLBACK")
        held.close()
        asked = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256"}
        gateway.wait_for(lambda: gateway.api("/v2/key/generate", asked).status == 200)


def test_lines_of_a_file_that_is_gone_are_counted_and_told():
    class Logging(Gateway):
        def start(self, every=0.02):
            (self.home / "logs").mkdir(exist_ok=True)
            super().start(every)

    with Logging("", MINIMAL + FIXED + '[log]\naccess_file = "logs/access.jsonl"\n') as gateway:
        file = gateway.home / "logs/access.jsonl"
        lost = "portcullis_access_lines_lost_total"

        def is_lost():
            before = gateway.metric(lost)
            assert gateway.call("GET", "/fixed").status == 200
            gateway.wait_for(lambda: gateway.metric(lost) > before)

        def is_written():
            assert gateway.call("GET", "/fixed").status == 200
            gateway.wait_for(lambda: file.is_file() and '"fixed"' in file.read_text())

        is_written()
        shutil.rmtree(file.parent)
        is_lost()
        assert gateway.wait_for(lambda: gateway.said("lines of the log are lost"))
        file.parent.mkdir()
        is_written()
        for put in (os.mkdir, os.mkfifo):
            file.unlink()
            put(file)
            is_lost()
            file.rmdir() if file.is_dir() else file.unlink()
            is_written()
