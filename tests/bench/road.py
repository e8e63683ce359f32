#!/usr/bin/env python3
"""What a chat request costs on its way through: `tests/bench/road.py [BINARY] [OTHER]`, with nginx and wrk (Debian packages).

An nginx of its own answers; 64 connections send a chat request of 1.1 KB with four values, and the answer of 0.7 KB has four
others. Prints the processor's time a request, requests a second and memory: of nginx as a plain proxy, of Envoy as one where
`envoy` is on the path (or $ENVOY), and of the gateway without redaction, with it, and with a caller's key besides that is bound
to models, a budget and a rate, where usage is counted and audited; of a second binary too, such as the tree before. The rounds alternate, and the median counts: machines are noisy, so compare within one run. Then how soon each binary
is ready, what it takes in memory then, and what one line costs on the command line.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

import gateway as gateways  # noqa: E402

ROUNDS, SECONDS, CONNECTIONS, STARTS = 3, 4, 64, 5
PLAIN = "threads = 1\n" + gateways.EVERY_PATH.replace("redact = {{}}\n", "") + '[log]\nlevel = "error"\n'
REDACTED = "threads = 1\n" + gateways.EVERY_PATH + '[log]\nlevel = "error"\n'
COUNTED = """[usage]
count = "all"

[[usage.prices]]
model = "bench"
input = 1
output = 2

[audit]
file = "{home}/audit.jsonl"
"""
TEAM = REDACTED.replace('auth = "none"', 'auth = "token"') + COUNTED
BOUNDS = ["--route", "all", "--model", "bench", "--budget", "1000000usd/month", "--rate", "4000000000/1h", "--label", "team=a"]
FOX = "The quick brown fox jumps over the lazy dog. "
ASKED = FOX * 16 + "EMAIL: maria.lopez@corp-mail.example.com | PHONE: +1 415 555 2671 | SSN: 536-90-4399 | CARD: 4111 1111 1111 1111."
SAID = "Write to jane.doe@example.com or call +1 415 555 2671. SSN 536-90-4399, card 4111 1111 1111 1111. " + FOX * 2
USED = {"prompt_tokens": 300, "completion_tokens": 60, "total_tokens": 360}
PATH = "/v1/chat/completions"


def chat_request():
    system = {"role": "system", "content": "You are a help desk."}
    return json.dumps({"model": "bench", "messages": [system, {"role": "user", "content": ASKED}]})


def chat_answer():
    choice = {"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}
    return json.dumps({"id": "chatcmpl-b", "object": "chat.completion", "created": 1767225600, "model": "bench", "choices": [choice], "usage": USED})


def nginx(folder, name, server):
    """An nginx with one worker, in the foreground."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temps = " ".join(f"{kind}_temp_path {folder}/{name}-{kind};" for kind in kinds)
    config = Path(folder, name + ".conf")
    config.write_text(
        f"worker_processes 1; daemon off; pid {folder}/{name}.pid; error_log {folder}/{name}.err;\n"
        f"events {{ worker_connections 4096; }}\nhttp {{ access_log off; keepalive_requests 100000000; {temps}\n{server}\n}}\n"
    )
    return subprocess.Popen(["nginx", "-c", str(config)], stderr=subprocess.DEVNULL)


def envoy(folder, binary, port, upstream, filters=()):
    """An Envoy with one thread, and no filter but these and its router."""
    address = lambda port: {"socket_address": {"address": "127.0.0.1", "port_value": port}}  # noqa: E731
    kind = "type.googleapis.com/envoy.extensions.filters."
    router = {"name": "router", "typed_config": {"@type": kind + "http.router.v3.Router"}}
    routes = [{"match": {"prefix": "/"}, "route": {"cluster": "up"}}]
    manager = {
        "@type": kind + "network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "http_filters": [*filters, router],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
    }
    chain = {"filters": [{"name": "http", "typed_config": manager}]}
    load = {"cluster_name": "up", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address(upstream)}}]}]}
    config = Path(folder, "envoy-%d.json" % port)
    listener = {"address": address(port), "filter_chains": [chain]}
    clusters = [{"name": "up", "type": "STATIC", "load_assignment": load}]
    config.write_text(json.dumps({"static_resources": {"listeners": [listener], "clusters": clusters}}))
    command = [binary, "-c", str(config), "--concurrency", "1", "--disable-hot-restart", "-l", "error"]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def processor_seconds(pid):
    """Of a process and those that it started."""
    return sum(map(gateways.cpu, gateways.family(pid)))


def resident_mib(pid, what="VmRSS:"):
    """Memory of a process and its children: what they have now, or `VmHWM:`, the most that each has had."""

    def kib(one):
        lines = Path("/proc", str(one), "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(what))

    return sum(map(kib, gateways.family(pid))) / 1024


@dataclass
class Load:
    """What wrk tells."""

    requests: int
    seconds: float
    p50: float  # milliseconds
    p99: float


def wrk(folder, port, body, key="", connections=CONNECTIONS, seconds=SECONDS):
    """Sends this over so many connections, as fast as answers come. Where the body says NUMBER each request has another."""
    script = Path(folder, "post.lua")
    parts = body.split("NUMBER")
    script.write_text(
        "wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\n"
        f"wrk.headers['Authorization'] = 'Bearer {key}'\nwrk.body = [==[{body}]==]\n"
        + (f"local n, a, z = 0, [==[{parts[0]}]==], [==[{parts[1]}]==]\n"
           "request = function() n = n + 1; return wrk.format(nil, nil, nil, a .. string.format('%09d', n) .. z) end\n" if parts[1:] else "")
        + "done = function(summary, latency) io.write('DONE ', summary.requests, ' ', summary.duration, ' ', latency:percentile(50), ' ', "
        "latency:percentile(99), ' ', summary.errors.status + summary.errors.read + summary.errors.timeout, '\\n') end\n"
    )
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "-s", str(script), f"http://127.0.0.1:{port}{PATH}"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 60).stdout
    requests, micros, p50, p99, bad = map(float, told.split("DONE ")[1].split()[:5])
    assert requests and not bad, told
    return Load(int(requests), micros / 1e6, p50 / 1e3, p99 / 1e3)


def load(folder, port, pid, key=""):
    """Microseconds of the processor a request, and requests a second."""
    before = processor_seconds(pid)
    told = wrk(folder, port, chat_request(), key)
    return (processor_seconds(pid) - before) * 1e6 / told.requests, told.requests / told.seconds


def answers(port, path=PATH):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1).close()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def wait_for(port):
    end = time.monotonic() + 20
    while not answers(port):
        assert time.monotonic() < end, f"nobody serves at {port}"
        time.sleep(0.01)


def begin(binary, config, upstream):
    gateways.BINARY = binary
    return gateways.Gateway(upstream, config).__enter__()


def bound(running, config):
    """A key that is bound in every way, where one is asked for."""
    if config is not TEAM:
        return ""
    made = gateways.run("tokens", "create", "-c", running.file, *BOUNDS)
    assert made.returncode == 0, made.err
    return made.out.strip()


def upstream(folder, port):
    """An nginx that answers every request with one chat."""
    answer = chat_answer().replace("'", "\\'")
    serve = f"server {{ listen 127.0.0.1:{port}; default_type application/json; location / {{ return 200 '{answer}'; }} }}"
    return nginx(folder, "up", serve)


def plain_proxy(folder, port, up):
    """An nginx that passes every request on."""
    forward = (
        f"upstream u {{ server 127.0.0.1:{up}; keepalive 256; keepalive_requests 100000000; }} client_body_buffer_size 1m;\n"
        f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://u; proxy_http_version 1.1; "
        'proxy_set_header Connection ""; } }'
    )
    return nginx(folder, "plain", forward)


def road(folder, binaries):
    up, plain, other = gateways.free_ports(3)
    processes = [upstream(folder, up), plain_proxy(folder, plain, up)]
    systems = {"nginx": (plain, processes[1].pid, "")}
    found = os.environ.get("ENVOY") or shutil.which("envoy")
    if found:
        processes.append(envoy(folder, found, other, up))
        systems["Envoy"] = (other, processes[2].pid, "")
    running = []
    try:
        for name, binary in binaries.items():
            for what, config in [("", PLAIN), (", redacting", REDACTED), (", redacting, counted", TEAM)]:
                try:
                    running.append(begin(binary, config, f"http://127.0.0.1:{up}"))
                except RuntimeError:
                    continue  # a tree before has no [usage]
                systems[name + what] = (running[-1].port, running[-1].process.pid, bound(running[-1], config))
        for port in [up, *(port for port, _, _ in systems.values())]:
            wait_for(port)
        rounds = {name: [] for name in systems}
        for _ in range(ROUNDS):
            for name, (port, pid, key) in systems.items():
                rounds[name].append(load(folder, port, pid, key))
        print("%-36s %10s %12s %10s" % ("", "us/request", "requests/s", "MiB"))
        for name, (_, pid, _) in systems.items():
            cost, rate = map(statistics.median, zip(*rounds[name]))
            print("%-36s %10.1f %12.0f %10.1f" % (name, cost, rate, resident_mib(pid)), flush=True)
    finally:
        for one in running:
            one.__exit__()
        for process in processes:
            process.terminate()
            process.wait()


def ready(binary):
    """Milliseconds until it serves, and MiB it takes then."""
    gateways.BINARY = binary
    one = gateways.Gateway("http://127.0.0.1:9", REDACTED)
    with tempfile.TemporaryDirectory() as folder:
        one.folder, one.home = tempfile.TemporaryDirectory(), Path(folder)
        one.port, one.h2c, one.admin, one.other, one.nobody = gateways.free_ports(5)
        one.held = socket.socket()
        began = time.monotonic()
        one.start(every=0.001)
        took, memory = time.monotonic() - began, resident_mib(one.process.pid)
        one.__exit__()
    return took * 1e3, memory


def line(binary):
    """Milliseconds of the command line for one line."""
    began = time.monotonic()
    subprocess.run([binary, "redact"], input=b"my card is 4111 1111 1111 1111\n", stdout=subprocess.DEVNULL, check=True)
    return (time.monotonic() - began) * 1e3


def main():
    named = dict(zip(("gateway", "other"), sys.argv[1:3]))
    binaries = named or {"gateway": str(gateways.BINARY)}
    with tempfile.TemporaryDirectory(prefix="portcullis-road-") as folder:
        road(folder, binaries)
    print("\n%-36s %10s %12s %10s" % ("", "ready, ms", "MiB then", "line, ms"))
    for name, binary in binaries.items():
        starts = [ready(binary) for _ in range(STARTS)]
        took, memory = map(statistics.median, zip(*starts))
        print("%-36s %10.0f %12.1f %10.0f" % (name, took, memory, statistics.median(line(binary) for _ in range(STARTS))))


if __name__ == "__main__":
    main()
