"""What nodes.py runs: a PostgreSQL, a Valkey or Redis and an S3 service of its own, three gateways that share them, and nginx before
these. All of it lies in one folder and listens on free ports of the loopback; each can be stopped and started again."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from gateway import ROOT, environment, family, free_ports

NODES = 3
PASSWORD = "throw-away"

CONFIG = """
data = "{home}/{name}"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"

[log]
format = "json"
level = "warn"

[api]
public_url = "{balancer}"

[clients]
trusted_peers = ["127.0.0.1"]
forwarded = "x-forwarded-for"

[store]
url = "{database}"
tls = "disable"
timeout = "2s"

[vault]
master_key = {{ file = "{home}/master" }}

[blobs]
s3 = {{ bucket = "portcullis", endpoint = "{s3}", region = "us-east-1", access_key = {{ file = "{home}/access" }}, secret_key = {{ file = "{home}/secret" }} }}

[limits.shared]
url = "redis://:{password}@127.0.0.1:{engine}/0"
nodes = {nodes}

[audit]
file = "{home}/{name}.jsonl"
node = "{name}"
store = true

[usage]
count = "all"

[[usage.budgets]]
name = "minute"
routes = ["minute"]
period = "minute"
requests = {minute}

[upstreams.mock]
peers = ["{upstream}"]
"""
ROUTE = """
[[routes]]
name = "%s"
path = "/%s"
strip_prefix = true
upstream = "mock"
auth = "%s"
provider = "openai"
redact = {{}}
"""
CONFIG += ROUTE % ("chat", "chat", "token") + ROUTE % ("minute", "minute", "token") + ROUTE % ("open", "open", "none")

NGINX = """
daemon off; worker_processes 1; pid {home}/nginx.pid; error_log {home}/nginx.err warn; events {{ worker_connections 8192; }}
http {{ access_log off; keepalive_requests 100000000; client_max_body_size 64m;
client_body_temp_path {home}/t1; proxy_temp_path {home}/t2; fastcgi_temp_path {home}/t3; uwsgi_temp_path {home}/t4; scgi_temp_path {home}/t5;
upstream nodes {{ {servers} keepalive 256; keepalive_requests 100000000; keepalive_timeout 20s; }}
server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://nodes; proxy_http_version 1.1; proxy_set_header Connection "";
proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $http_x_caller; proxy_connect_timeout 1s; proxy_read_timeout 60s; proxy_buffering off; }} }} }}
"""


def waited(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited %d s for %s" % (seconds, what)
        time.sleep(0.05)


def answers(url, method="GET"):
    try:
        urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=2).close()
        return True
    except OSError:
        return False


class Service:
    """A process that is stopped for a while: killed, or only held still."""

    process = None

    def pids(self):
        return family(self.process.pid)

    def hang(self):
        self.held = self.pids()
        for pid in self.held:
            os.kill(pid, signal.SIGSTOP)

    def go_on(self):
        for pid in self.held:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def kill(self):
        pids = self.pids()
        # Its children first: what is held still is not ended by its parent.
        for pid in reversed(pids):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(20)
        waited(lambda: not any(Path("/proc", str(pid)).exists() for pid in pids), 20, "the end of a service")

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()


class Postgres(Service):
    """Durable as it is by default, but for the disk's own cache."""

    def __init__(self, home):
        [self.port], self.home = free_ports(1), home / "postgres"
        found = shutil.which("initdb") or sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))[-1]
        self.bin = Path(found).resolve().parent
        self.url = "postgres://portcullis:%s@127.0.0.1:%d/postgres" % (PASSWORD, self.port)
        self.home.mkdir()
        (self.home / "password").write_text(PASSWORD)
        # PostgreSQL does not run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            home.chmod(0o711)
            shutil.chown(self.home, "postgres")
        make = [self.bin / "initdb", "-D", self.home / "data", "-U", "portcullis", "-A", "scram-sha-256", "--no-sync"]
        make += ["--pwfile=%s/password" % self.home, "-E", "UTF8", "--locale=C"]
        subprocess.run(self.user + make, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        # What a server that was killed leaves.
        (self.home / "data/postmaster.pid").unlink(missing_ok=True)
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        command = [self.bin / "postgres", "-D", self.home / "data"]
        command += [part for name, value in options.items() for part in ("-c", "%s=%s" % (name, value))]
        with open(self.home.parent / "postgres.log", "ab") as log:
            self.process = subprocess.Popen(self.user + command, stdout=log, stderr=log, cwd="/")
        waited(self.is_ready, 20, "PostgreSQL")

    def is_ready(self):
        command = [self.bin / "psql", "-qtA", "-d", self.url, "-c", "SELECT 1"]
        return subprocess.run(command, capture_output=True, timeout=20).returncode == 0

    def rows(self, query):
        """The first column of what a query gives."""
        command = [self.bin / "psql", "-qtA", "-d", self.url, "-c", query]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.split("\n")[:-1]


class Engine(Service):
    """A Valkey or Redis that keeps nothing on a disk."""

    def __init__(self, home):
        [self.port], self.home = free_ports(1), home

    def start(self):
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command += ["--dir", self.home, "--requirepass", PASSWORD]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)


class Buckets(Service):
    """An S3 service in memory, of the environment that tests/run makes."""

    def __init__(self, home):
        [self.port], self.home = free_ports(1), home
        self.url = "http://127.0.0.1:%d" % self.port

    def start(self):
        target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
        program = os.environ.get("MOTO_SERVER") or shutil.which("moto_server") or target / "s3/bin/moto_server"
        with open(self.home / "s3.log", "wb") as log:
            command = [program, "-H", "127.0.0.1", "-p", str(self.port)]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        waited(lambda: answers(self.url + "/portcullis", "PUT"), 30, "the S3 service")


class Mock(Service):
    """The upstream, in a process of its own."""

    def __init__(self, home):
        [self.port] = free_ports(1)
        self.url = "http://127.0.0.1:%d" % self.port

    def start(self):
        here = Path(__file__).resolve().parent
        self.process = subprocess.Popen([sys.executable, here / "nodes_mock.py", str(self.port)])
        waited(lambda: answers(self.url + "/told"), 20, "the upstream")

    def told(self):
        with urllib.request.urlopen(self.url + "/told", timeout=20) as answer:
            return json.load(answer)


class Node(Service):
    """A gateway, which is started again whenever it ends, as a supervisor would."""

    def __init__(self, binary, home, name, places):
        self.binary, self.home, self.name = binary, home, name
        self.port, self.admin = free_ports(2)
        self.file = home / (name + ".toml")
        self.places = places
        self.starts = self.failed = 0

    def write(self):
        own = {"home": self.home, "name": self.name, "port": self.port, "admin": self.admin}
        self.file.write_text(CONFIG.format(**self.places, **own))

    def begin(self):
        self.starts += 1
        with open(self.home / (self.name + ".log"), "ab") as log:
            command = [self.binary, "serve", "-c", self.file]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment())

    def start(self, seconds=60):
        """Started again as often as it takes, for as long as there is no store."""
        self.begin()
        end = time.monotonic() + seconds
        while not answers("http://127.0.0.1:%d/readyz" % self.admin):
            assert time.monotonic() < end, "%s does not serve" % self.name
            if self.process.poll() is not None:
                self.failed += 1
                time.sleep(0.5)
                self.begin()
            time.sleep(0.02)

    def kill(self):
        """It alone: the processes in which it reads files end with it."""
        pids = self.pids()
        self.process.kill()
        self.process.wait(20)
        waited(lambda: not any(Path("/proc", str(pid)).exists() for pid in pids), 20, "the end of a node's processes")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)
        return self.process.returncode

    def metrics(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % self.admin, timeout=5) as answer:
            lines = (line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))
            return {name: float(value) for name, value in lines}


class Company:
    """All of it; a context manager."""

    def __init__(self, binary, home, minute):
        self.binary, self.home, self.minute = binary, home, minute

    def __enter__(self):
        home = self.home
        [self.port] = free_ports(1)
        self.url = "http://127.0.0.1:%d" % self.port
        (home / "master").write_text("2b" * 32)
        (home / "access").write_text("testing")
        (home / "secret").write_text("testing-secret")
        for name in ("master", "access", "secret"):
            (home / name).chmod(0o600)
        self.nodes, self.balancer = [], None
        self.store, self.engine, self.buckets, self.mock = Postgres(home), Engine(home), Buckets(home), Mock(home)
        self.services = [self.store, self.engine, self.buckets, self.mock]
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        for service in self.services:
            service.start()
        places = {"balancer": self.url, "database": self.store.url, "s3": self.buckets.url, "engine": self.engine.port}
        places |= {"password": PASSWORD, "nodes": NODES, "upstream": self.mock.url, "minute": self.minute}
        self.nodes = [Node(self.binary, self.home, "node%d" % (n + 1), places) for n in range(NODES)]
        for node in self.nodes:
            node.write()
            node.start()
        servers = " ".join("server 127.0.0.1:%d max_fails=1 fail_timeout=1s;" % node.port for node in self.nodes)
        (self.home / "nginx.conf").write_text(NGINX.format(home=self.home, servers=servers, port=self.port))
        self.balancer = subprocess.Popen(["nginx", "-c", self.home / "nginx.conf", "-p", self.home], stderr=subprocess.DEVNULL)
        waited(lambda: answers(self.url + "/healthz"), 20, "the balancer")

    def tool(self, *args, node=0):
        command = [self.binary, *map(str, args), "-c", self.nodes[node].file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment())
        assert done.returncode == 0, (args, done.stderr)
        return done.stdout

    def token(self, name, *args):
        return self.tool("tokens", "create", "--name", name, *args).strip()

    def __exit__(self, *_):
        for process in [self.balancer] if self.balancer else []:
            process.terminate()
            process.wait(20)
        for service in [*self.nodes, *reversed(self.services)]:
            with contextlib.suppress(Exception):
                service.end()


class Trouble(threading.Thread):
    """Kills the nodes in turn, and stops the engine and the store, at the times of a plan; what happened when, in `events`."""

    def __init__(self, company, plan, began):
        super().__init__(daemon=True)
        self.company, self.plan, self.began, self.events, self.faults = company, sorted(plan), began, [], []

    def run(self):
        for at, what in self.plan:
            time.sleep(max(0, self.began + at - time.monotonic()))
            threading.Thread(target=self.one, args=(what,), daemon=True).start()

    def one(self, what):
        event = {"what": what, "from": time.monotonic() - self.began, "to": float("inf")}
        self.events.append(event)
        kind, _, which = what.partition(" ")
        try:
            if kind == "kill":
                node = self.company.nodes[int(which)]
                node.kill()
                # As soon as a supervisor looks.
                time.sleep(1)
                node.start()
            else:
                service = {"Valkey": self.company.engine, "PostgreSQL": self.company.store}[kind]
                service.hang() if which == "hangs" else service.kill()
                time.sleep(20)
                service.go_on() if which == "hangs" else service.start()
        except BaseException as fault:
            self.faults.append("%s: %r" % (what, fault))
        event["to"] = time.monotonic() - self.began

    def during(self, at, before=0.2, after=3.0):
        """What was wrong at that time, shortly before or after."""
        kinds = {event["what"].split()[0] for event in self.events if event["from"] - before <= at <= event["to"] + after}
        return "+".join(sorted(kinds)) or "nothing"
