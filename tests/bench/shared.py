#!/usr/bin/env python3
"""What rates and budgets cost, alone and over nodes: `tests/bench/shared.py [BINARY]`, with nginx, wrk and redis-server (Debian).

32 connections send a short chat request with a token, which is not redacted; usage is counted. Prints the processor's time of the
gateway and of the engine for a request: without limits, with a rate and a budget, and with both shared by nodes."""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

import gateway as gateways  # noqa: E402

ROUNDS, SECONDS = 2, 6
CONFIG = """
data = "{home}/{name}"
threads = 1

[[listen]]
address = "127.0.0.1:{port}"

[log]
level = "error"

[usage]
count = "all"
{shared}
[upstreams.a]
peers = ["http://127.0.0.1:{upstream}"]

[[routes]]
name = "all"
upstream = "a"
auth = "token"
"""
NGINX = """
daemon off; worker_processes 1; pid {home}/pid; error_log /dev/null; events {{ worker_connections 1024; }}
http {{ access_log off; client_body_temp_path {home}; proxy_temp_path {home}; fastcgi_temp_path {home}; uwsgi_temp_path {home}; scgi_temp_path {home};
server {{ listen 127.0.0.1:{port}; location / {{ default_type application/json; return 200 '{answer}'; }} }} }}
"""
ANSWER = (
    '{"id":"x","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":{"role":"assistant",'
    '"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":6,"total_tokens":36}}'
)
SCRIPT = """wrk.method="POST"
wrk.body=[[{"model":"bench","messages":[{"role":"user","content":"hi there"}],"max_tokens":50}]]
wrk.headers["Content-Type"]="application/json"
wrk.headers["Authorization"]="Bearer %s"
"""
LIMITS = ["--budget", "1000000000requests/month", "--rate", "4000000000/1h"]


def load(home, port, token, seconds):
    script = home / "post.lua"
    script.write_text(SCRIPT % token)
    command = ["wrk", "-t1", "-c32", "-d%d" % seconds, "-s", script, "http://127.0.0.1:%d/v1/chat/completions" % port]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in said, said
    return int(re.search(r"(\d+) requests in", said).group(1))


def measure(binary, home, ports, name, engine, limits):
    shared = '[limits.shared]\nurl = "redis://127.0.0.1:%d"\nnodes = 1\n' % ports["engine"] if engine else ""
    file = home / (name + ".toml")
    file.write_text(CONFIG.format(home=home, name=name, port=ports["gateway"], upstream=ports["upstream"], shared=shared))
    create = [binary, "tokens", "create", "-c", file, "--name", "t", "--route", "all", *limits]
    token = subprocess.run(create, capture_output=True, text=True, check=True).stdout.strip()
    process = subprocess.Popen([binary, "serve", "-c", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1.5)
        load(home, ports["gateway"], token, 2)
        watched = [process.pid] + ([engine.pid] if engine else [])
        before = [gateways.cpu(pid) for pid in watched]
        count = load(home, ports["gateway"], token, SECONDS)
        took = [(gateways.cpu(pid) - was) / count * 1e6 for pid, was in zip(watched, before)]
    finally:
        process.terminate()
        process.wait()
    print("%-7s %6.0f/s  %s" % (name, count / SECONDS, "  ".join("%5.1f us" % each for each in took)), flush=True)


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else str(gateways.ROOT / "target/release/portcullis")
    ports = dict(zip(["gateway", "upstream", "engine"], gateways.free_ports(3)))
    with tempfile.TemporaryDirectory(prefix="portcullis-bench-") as folder:
        home = Path(folder)
        (home / "nginx.conf").write_text(NGINX.format(home=home, port=ports["upstream"], answer=ANSWER))
        redis = ["redis-server", "--port", str(ports["engine"]), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        upstream = subprocess.Popen(["nginx", "-c", home / "nginx.conf", "-p", home], stderr=subprocess.DEVNULL)
        engine = subprocess.Popen(redis, stdout=subprocess.DEVNULL)
        try:
            for _ in range(ROUNDS):
                measure(binary, home, ports, "plain", None, [])
                measure(binary, home, ports, "limits", None, LIMITS)
                measure(binary, home, ports, "shared", engine, LIMITS)
        finally:
            for process in (upstream, engine):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
