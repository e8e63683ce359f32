"""Starts Envoy before an upstream, with the gateway as its external processor: one process, and a listener for each pair of
modes in which bodies are shown.

The binary is the one that PORTCULLIS_ENVOY names, as `tests/run` has it installed.
"""

import json
import os
import subprocess
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from gateway import MINIMAL, PATIENCE, free_ports

BINARY = os.environ.get("PORTCULLIS_ENVOY", "")

# Requests, answers.
PAIRS = {
    "buffered": ("BUFFERED", "BUFFERED"),
    "buffered streamed": ("BUFFERED", "STREAMED"),
    "streamed": ("STREAMED", "STREAMED"),
    "full duplex": ("FULL_DUPLEX_STREAMED", "FULL_DUPLEX_STREAMED"),
}

# With `PORTCULLIS_ALL`, the others that serve.
if os.environ.get("PORTCULLIS_ALL"):
    PAIRS |= {
        "streamed buffered": ("STREAMED", "BUFFERED"),
        "buffered full duplex": ("BUFFERED", "FULL_DUPLEX_STREAMED"),
        "streamed full duplex": ("STREAMED", "FULL_DUPLEX_STREAMED"),
        "full duplex streamed": ("FULL_DUPLEX_STREAMED", "STREAMED"),
        "full duplex buffered": ("FULL_DUPLEX_STREAMED", "BUFFERED"),
    }

# The gateway's listener for Envoy is at the port that others have for HTTP/2.
LISTEN = (
    MINIMAL
    + """
[log]
format = "json"

[[listen]]
address = "127.0.0.1:{h2c}"
ext_proc = true
"""
)

# Every path, redacted and restored.
CONFIG = (
    LISTEN
    + """
[[routes]]
name = "all"
endpoint = "ext_proc"
auth = "none"
redact = {{}}
"""
)

TYPE = "type.googleapis.com/envoy."
HTTP = TYPE + "extensions.filters.http."


def needed():
    """Skips the test where there is no Envoy."""
    if not BINARY:
        pytest.skip("Envoy is not here: `tests/run` installs it, or PORTCULLIS_ENVOY names its binary")


def cluster(name, port, http2=False, tls=None):
    """A cluster of one address; over TLS, the folder with our certificate and the authority's."""
    address = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    endpoints = [{"lb_endpoints": [{"endpoint": {"address": address}}]}]
    protocol = "http2_protocol_options" if http2 else "http_protocol_options"
    options = {"@type": TYPE + "extensions.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {protocol: {}}}
    secured = {}
    if tls:
        files = {"certificate_chain": {"filename": str(tls / "envoy.pem")}, "private_key": {"filename": str(tls / "envoy.key")}}
        trusted = {"trusted_ca": {"filename": str(tls / "ca.pem")}}
        common = {"tls_certificates": [files], "validation_context": trusted, "alpn_protocols": ["h2"]}
        context = {"@type": TYPE + "extensions.transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": common}
        secured = {"transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": context}}
    return secured | {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "2s",
        "load_assignment": {"cluster_name": name, "endpoints": endpoints},
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options},
    }


def processor(modes, **more):
    """The filter."""
    request, answer = modes
    mode = {
        "request_header_mode": "SEND",
        "response_header_mode": "SEND",
        "request_body_mode": request,
        "response_body_mode": answer,
        "request_trailer_mode": "SEND",
        "response_trailer_mode": "SEND",
    }
    return {
        "@type": HTTP + "ext_proc.v3.ExternalProcessor",
        "grpc_service": {"envoy_grpc": {"cluster_name": "portcullis"}},
        "processing_mode": mode,
        "message_timeout": "20s",
    } | more


def listener(name, port, filter, before):
    """A listener whose requests all go to the upstream, past these filters."""
    routes = [{"match": {"prefix": "/"}, "route": {"cluster": "upstream", "timeout": "60s"}}]
    manager = {
        "@type": TYPE + "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "front",
        "codec_type": "AUTO",
        "http_protocol_options": {"enable_trailers": True},
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        "http_filters": [
            *before,
            {"name": "processor", "typed_config": filter},
            {"name": "router", "typed_config": {"@type": HTTP + "router.v3.Router"}},
        ],
        "access_log": [
            {
                "name": "log",
                "typed_config": {
                    "@type": TYPE + "extensions.access_loggers.stream.v3.StdoutAccessLog",
                    "log_format": {"text_format_source": {"inline_string": "%RESPONSE_CODE% %RESPONSE_CODE_DETAILS%\n"}},
                },
            }
        ],
    }
    address = {"socket_address": {"address": "127.0.0.1", "port_value": port}}
    filters = [{"name": "http", "typed_config": manager}]
    return {"name": name, "address": address, "filter_chains": [{"filters": filters}]}


@dataclass
class Envoy:
    """One process; a context manager. `filters` are the filters of its listeners, by their names."""

    gateway: int
    upstream: int
    filters: dict = field(default_factory=lambda: {name: processor(modes) for name, modes in PAIRS.items()})
    before: list = field(default_factory=list)
    processors: dict | None = None  # the cluster, if another than the usual

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="portcullis-envoy-")
        home = Path(self.folder.name)
        self.admin, *ports = free_ports(len(self.filters) + 1)
        self.ports = dict(zip(self.filters, ports, strict=True))
        listeners = [listener(name, self.ports[name], filter, self.before) for name, filter in self.filters.items()]
        processors = self.processors or cluster("portcullis", self.gateway, http2=True)
        clusters = [processors, cluster("upstream", self.upstream)]
        address = {"socket_address": {"address": "127.0.0.1", "port_value": self.admin}}
        bootstrap = {"admin": {"address": address}, "static_resources": {"listeners": listeners, "clusters": clusters}}
        (home / "envoy.json").write_text(json.dumps(bootstrap))
        self.log = home / "log"
        command = [BINARY, "-c", str(home / "envoy.json"), "--disable-hot-restart", "--concurrency", "1"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, "--log-level", "warning"], stdout=log, stderr=log)
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait(self):
        end = time.monotonic() + 30 * PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen("http://127.0.0.1:%d/ready" % self.admin, timeout=5) as ready:
                    if ready.status == 200:
                        return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("Envoy does not serve; its log ends with\n" + self.log.read_text()[-2000:])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def url(self, name):
        """Where a listener is."""
        return "http://127.0.0.1:%d" % self.ports[name]

    def stats(self, name):
        """A counter."""
        with urllib.request.urlopen("http://127.0.0.1:%d/stats?filter=%s" % (self.admin, name), timeout=5) as stats:
            return stats.read().decode()


@dataclass
class Front:
    """A listener, as what callers call."""

    url: str
