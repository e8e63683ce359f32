"""Starts the built gateway on free ports with a folder of its own, and ends it; nothing else is touched."""

import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("PORTCULLIS_BIN") or ROOT / "target/debug/portcullis").resolve()
# How often as long as usual things may take: more, on a machine that does much else.
PATIENCE = float(os.environ.get("PORTCULLIS_PATIENCE", 1))

# The least that a test needs; more may follow.
MINIMAL = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"
"""

PATIENT = """
[limits]
queue = "30s"
"""

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[log]
format = "json"

[limits]
body = "2MiB"
head = "16KiB"
queue = "30s"

[sanitize]
fetch_allow = ["127.0.0.1"]

[upstreams.mock]
peers = ["{upstream}"]
headers = {{ x-added = "by the gateway" }}

[upstreams.nobody]
peers = ["http://127.0.0.1:{nobody}"]

[upstreams.half]
peers = ["http://127.0.0.1:{nobody}", "{upstream}"]

[[routes]]
name = "nobody"
path = "/nobody"
upstream = "nobody"
auth = "none"
redact = {{}}

[[routes]]
name = "half"
path = "/half"
upstream = "half"
auth = "none"
redact = {{}}

[[routes]]
name = "generic"
path = "/generic"
upstream = "mock"
auth = "none"
redact = {{ requests = "mask", answers = "mask", protocol = "generic" }}

[[routes]]
name = "restored"
path = "/restored"
upstream = "mock"
auth = "none"
redact = {{ protocol = "generic" }}

[[routes]]
name = "lenient"
path = "/lenient"
upstream = "mock"
auth = "none"
redact = {{ requests = "mask", answers = "mask", unknown = "pass" }}

[[routes]]
name = "private"
path = "/private"
upstream = "mock"
auth = "token"

[[routes]]
name = "rare"
path = "/rare"
upstream = "mock"
auth = "none"
rate = {{ requests = 2, per = "1h", by = "address" }}

[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 418, body = "short and stout" }}

[[routes]]
name = "mask"
path = "/mask"
upstream = "mock"
auth = "none"
redact = {{ requests = "mask", answers = "mask" }}

[[routes]]
name = "restore"
path = "/v1/chat"
upstream = "mock"
auth = "none"
redact = {{}}
"""
)


# Every path to one upstream; redacted, restored, and what the model says by itself masked.
EVERY_PATH = (
    MINIMAL
    + """
[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "all"
upstream = "mock"
auth = "none"
redact = {{}}
"""
)


def routes_to(upstream, rows):
    """A route of each row: its name, which is its path; who may come in; how it redacts."""
    route = '\n[[routes]]\nname = "%s"\npath = "/%s"\nupstream = "%s"\nauth = "%s"\nredact = {{ %s }}\n'
    return "".join(route % (name, name, upstream, auth, redact) for name, auth, redact in rows)


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def multipart(request, name, data):
    """A form of what is asked and a file: its media type and its bytes."""
    edge = uuid.uuid4().hex
    parts = [('name="request"', json.dumps(request).encode()), ('name="upload"; filename="%s"' % name, data)]
    head = "--%s\r\nContent-Disposition: form-data; %s\r\n\r\n"
    body = b"".join((head % (edge, what)).encode() + part + b"\r\n" for what, part in parts)
    return "multipart/form-data; boundary=" + edge, body + b"--%s--\r\n" % edge.encode()


def cpu(pid, ended=False):
    """Seconds of processor time that a process has had, and with `ended` what children of it had that have ended."""
    fields = Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11 : 15 if ended else 13])) / os.sysconf("SC_CLK_TCK")


def family(pid):
    """A process and those that it started."""

    def children(task):
        try:
            return (task / "children").read_text().split()
        except OSError:
            return []  # that thread has just ended

    try:
        tasks = list(Path("/proc/%d/task" % pid).iterdir())
    except OSError:
        return []
    return [pid] + [one for task in tasks for child in children(task) for one in family(int(child))]


def environment():
    """Ours without the variables that the command line reads."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PORTCULLIS_")}


def run(*args, stdin="", timeout=60, cwd=None):
    """Runs one command to its end."""
    command = [str(BINARY), *map(str, args)]
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    done = subprocess.run(command, input=data, capture_output=True, timeout=timeout, env=environment(), cwd=cwd)
    done.out, done.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return done


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass
class Gateway:
    """One process; a context manager. `config` has the places that CONFIG has; without one, `args` say it all. `token` is
    one that is known already; else the process makes its first one."""

    upstream: str
    config: str = field(default=CONFIG, repr=False)
    args: tuple = ()
    token: str = ""
    log: list = field(default_factory=list, repr=False)
    out: list = field(default_factory=list, repr=False)

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="portcullis-test-")
        self.home = Path(self.folder.name)
        # Held, so that nobody else listens there either.
        self.held = socket.socket()
        self.held.bind(("127.0.0.1", 0))
        self.nobody = self.held.getsockname()[1]
        try:
            self.begin()
            self.token = self.token or self.wait_for(lambda: self.out)[0]
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self, tries=3):
        """Starts the process on ports that are free; another program may be faster to one of them."""
        self.port, self.h2c, self.admin, self.other = free_ports(4)
        try:
            self.start()
        except TimeoutError:
            if tries == 1 or not any("Address already in use" in line for line in self.log):
                raise
            self.stop()
            self.log.clear()
            self.begin(tries - 1)

    def start(self, every=0.02):
        """Starts the process and waits until it serves; looks `every` so many seconds."""
        command = [str(BINARY), "serve"]
        if self.args:
            command += [arg.format(**self.places()) for arg in self.args]
        else:
            self.write(self.config)
            command += ["-c", str(self.file)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment())
        self.readers = [
            threading.Thread(target=lambda: self.out.extend(map(text_line, self.process.stdout)), daemon=True),
            threading.Thread(target=lambda: self.log.extend(map(text_line, self.process.stderr)), daemon=True),
        ]
        for reader in self.readers:
            reader.start()
        self.wait_for(self.is_ready, every=every)

    def restart(self):
        """Another process with the same folder and the same ports."""
        assert self.stop() == 0
        self.start()

    def __exit__(self, *_):
        self.stop()
        self.held.close()
        self.folder.cleanup()

    def stop(self):
        """Asks it to end, as an operator would; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join(5)
        return self.process.returncode

    @property
    def file(self):
        return self.home / "portcullis.toml"

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def places(self):
        ports = {"port": self.port, "h2c": self.h2c, "admin": self.admin, "other": self.other, "nobody": self.nobody}
        return ports | {"upstream": self.upstream, "home": str(self.home)}

    def write(self, config):
        """Whole at once: what reads an empty file has another data folder. Where it says nothing of limits, work may wait
        longer for a thread: a debug build on a busy machine refuses what a test wants answered."""
        draft = self.home / "draft.toml"
        draft.write_text(config.format(**self.places()) + ("" if "[limits" in config else PATIENT))
        os.replace(draft, self.file)

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError("the gateway ended: " + "\n".join(self.log[-20:]))
        try:
            return self.call("GET", "/readyz", port=self.admin).status == 200
        except OSError:
            return False

    def said(self, what):
        """The lines of its log that have this in them."""
        return [line for line in self.log if what in line]

    def reload(self, said):
        """Has it read its configuration again, until one more line of its log says this."""
        before = len(self.said(said))
        self.process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: len(self.said(said)) > before)

    def wait_for(self, condition, seconds=30, every=0.02):
        """Until something is true of this process; its value."""
        seconds *= PATIENCE
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(every)
        raise TimeoutError("waited %d s in vain; the log ends with\n%s" % (seconds, "\n".join(self.log[-20:])))

    def call(self, method, path, body=None, headers=None, port=None):
        """One plain request; what is no string or bytes goes as JSON. An iterator of bytes goes chunked."""
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("content-type", "application/json")
        body = body.encode() if isinstance(body, str) else body
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30 * PATIENCE)
        try:
            chunked = body is not None and not isinstance(body, bytes)
            connection.request(method, path, body, headers, encode_chunked=chunked)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def api(self, path, body, **headers):
        """A call to one of our own endpoints, with the first token."""
        return self.call("POST", path, body, {"authorization": "Bearer " + self.token} | headers)

    def sanitized(self, name, data, **content):
        """A file that is cleaned: what came out, and what was done."""
        kind, body = multipart({"content": {"url_intel": False, "domain_intel": False} | content}, name, data)
        answer = self.api("/v1/sanitize", body, **{"content-type": kind})
        assert answer.status == 200, answer.body
        result = answer.json()["result"]
        to = urllib.parse.urlsplit(result["dest_url"])
        return self.call("GET", to.path + "?" + to.query).body, result["data"]

    def metrics(self):
        return self.call("GET", "/metrics", port=self.admin).body.decode()

    def metric(self, series):
        """What this series says, 0 where it is not shown."""
        lines = (line.rsplit(" ", 1) for line in self.metrics().splitlines())
        return next((float(value) for name, value in lines if name == series), 0)


def text_line(line):
    return line.decode("utf-8", "replace").rstrip("\n")
