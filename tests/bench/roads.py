"""Gateways beside each other: each in front of the same upstream, which is an nginx, with the same requests."""

import http.client
import http.server
import json
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import SimpleNamespace

import corpus
import peers
import road
from road import gateways
from scanners import FAILURES

CONNECTIONS = 32
# What answers fewer requests a second is asked a certain number of them instead of for some seconds, so that none of them is cut off.
SLOW = 200
RULES = ["EMAIL_ADDRESS", "PHONE_NUMBER", "US_SSN", "CREDIT_CARD"]
FOUR_RULES = road.REDACTED.replace("redact = {{}}", "redact = {{ rules = %s }}" % json.dumps(RULES))

# Four patterns, both ways; what was replaced is not put back.
LUA = r"""
local function masked(text)
  text = text:gsub("[%w%.%+%-_]+@[%w%.%-]+%.%a%a+", "<EMAIL>")
  text = text:gsub("%d%d%d%d[ %-]?%d%d%d%d[ %-]?%d%d%d%d[ %-]?%d%d%d%d", "<CARD>")
  text = text:gsub("%f[%d]%d%d%d%-%d%d%-%d%d%d%d%f[%D]", "<SSN>")
  return (text:gsub("%+1 %d%d%d %d%d%d %d%d%d%d", "<PHONE>"))
end
local function pass(handle)
  local body = handle:body()
  if body then
    local length = body:setBytes(masked(body:getBytes(0, body:length())))
    handle:headers():replace("content-length", length)
  end
end
function envoy_on_request(handle) pass(handle) end
function envoy_on_response(handle) pass(handle) end
"""


@dataclass
class System:
    """One that runs: `ask` is a call of its own where it is no proxy."""

    name: str
    version: str
    port: int
    processes: list
    redacts: bool = True
    key: str = ""
    ask: object = None
    hidden: str = ""
    answers: str = "–"
    rounds: dict = field(default_factory=dict)
    # Requests a second, of what is slow.
    slow: dict = field(default_factory=dict)
    mib: float = 0

    def spent(self):
        return sum(road.processor_seconds(process.pid) for process in self.processes)


@dataclass
class Round:
    """What one took: microseconds of the processor a request, milliseconds, requests a second."""

    cost: float
    p50: float
    p99: float
    rate: float


# ── what is sent ────────────────────────────────────────────────────────────────────────────────────────────────────


def values(lines):
    kinds = {"EMAIL": "e-mail", "PHONE": "telephone", "SSN": "social security", "CARD": "card"}
    return {name: lines.value(kind) for name, kind in kinds.items()}


def requests():
    """A short one and one of 16 KB, each with its values; another number in each request that is sent."""
    lines = corpus.Lines(3)
    made = {}
    for name, size in [("1 KB", 0), ("16 KB", 16 << 10)]:
        text, known = "Request NUMBER. " + (road.FOX * 16 if not size else ""), []
        while True:
            known.append(values(lines))
            text += " | ".join("%s: %s" % pair for pair in known[-1].items()) + ".\n"
            if len(text) >= size:
                break
            text += corpus.text(lines, "log", 900) + corpus.text(lines, "prose", 900)
        asked = [{"role": "system", "content": "You are a help desk."}, {"role": "user", "content": text}]
        made[name] = json.dumps({"model": "bench", "messages": asked}), text, [value for some in known for value in some.values()]
    return made


class Recorder(http.server.BaseHTTPRequestHandler):
    """An upstream that keeps what came last, and says it again behind what it says by itself."""

    last = ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({})

    def do_POST(self):
        Recorder.last = self.rfile.read(int(self.headers["content-length"])).decode()
        said = json.loads(Recorder.last)["messages"][-1]["content"]
        whole = json.loads(road.chat_answer())
        whole["choices"][0]["message"]["content"] = road.SAID + said
        self.answer(whole)

    def answer(self, body):
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def recording(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# ── the systems ─────────────────────────────────────────────────────────────────────────────────────────────────────


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def proxies(stack, folder, up):
    """nginx, Envoy and Envoy with a script; the name of what is not to be had, and why."""
    ports = gateways.free_ports(3)

    def kept(process):
        stack.callback(process.wait)
        stack.callback(process.terminate)
        return [process]

    version = said("nginx", "-v").strip().rsplit("/", 1)[-1]
    yield System("nginx", version, ports[0], kept(road.plain_proxy(folder, ports[0], up)), redacts=False)
    try:
        binary = peers.envoy()
        version = said(binary, "--version").split("version:")[1].split("/")[1]
    except FAILURES as why:
        print("Envoy: %s" % why, file=sys.stderr)
        yield "Envoy", peers.MISSING
        return
    yield System("Envoy", version, ports[1], kept(road.envoy(folder, binary, ports[1], up)), redacts=False)
    script = {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "default_source_code": {"inline_string": LUA}}
    filters = [{"name": "lua", "typed_config": script}]
    yield System("Envoy, Lua, four patterns", version, ports[2], kept(road.envoy(folder, binary, ports[2], up, filters)))


def ours(stack, binary, up):
    version = said(binary, "--version").split()[-1]
    for name, config in [("without redaction", road.PLAIN), ("redacting, four rules", FOUR_RULES), ("redacting", road.REDACTED)]:
        gateways.BINARY = binary
        running = stack.enter_context(gateways.Gateway("http://127.0.0.1:%d" % up, config))
        yield System("Portcullis, " + name, version, running.port, [running.process], redacts=config != road.PLAIN)


def products(stack, up):
    for kind in (peers.LlmRedact, peers.LlmShield, peers.Presidio):
        try:
            one = stack.enter_context(kind(SimpleNamespace(url="http://127.0.0.1:%d" % up)))
        except FAILURES as why:
            print("%s: %s" % (kind.name, why), file=sys.stderr)
            yield kind.name, peers.why_not(why)
            continue
        system = System(one.name, one.version(), one.port, one.processes, key=peers.KEY)
        if kind is peers.Presidio:
            system.name, system.ask = "Presidio, no proxy", presidio
        yield system


# ── asking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def post(connection, path, body, key=""):
    headers = {"content-type": "application/json", "authorization": "Bearer " + key}
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    told = answer.read().decode()
    assert answer.status == 200, "%d %s" % (answer.status, told[:200])
    return told


def chat(system, connection, body, text):
    return post(connection, road.PATH, body, system.key)


def presidio(system, connection, body, text):
    """Of the text alone: where its values are, and then the text without them."""
    found = post(connection, "/analyze", json.dumps({"text": text, "language": "en", "entities": RULES}))
    return post(connection, "/anonymize", json.dumps({"text": text, "analyzer_results": json.loads(found)}))


def asked(system, body, text, count):
    """So many requests over all connections: milliseconds of each, and the seconds of all."""
    ask, kept = system.ask or chat, threading.local()

    def one(number):
        connection = getattr(kept, "connection", None)
        kept.connection = connection = connection or http.client.HTTPConnection("127.0.0.1", system.port, timeout=120)
        began = time.monotonic()
        ask(system, connection, body.replace("NUMBER", "%09d" % number), text.replace("NUMBER", "%09d" % number))
        return (time.monotonic() - began) * 1e3

    began = time.monotonic()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        took = sorted(pool.map(one, range(count)))
    return took, time.monotonic() - began


def check(system, request):
    """Has one request recorded: how many of its values do not reach the upstream, and what becomes of the answer."""
    body, text, known = request
    road.wait_for(system.port)
    Recorder.last = ""
    connection = http.client.HTTPConnection("127.0.0.1", system.port, timeout=60)
    answer = (system.ask or chat)(system, connection, body, text)
    connection.close()
    sent = answer if system.ask else Recorder.last
    system.hidden = "%d of %d" % (sum(value not in sent for value in known), len(known))
    if system.ask:
        return
    content = json.loads(answer)["choices"][0]["message"]["content"]
    restored = all(value in content for value in known)
    masked = not any(value in content for value in ("536-90-4399", "4111 1111 1111 1111"))
    if not system.redacts:
        system.answers = "as it came"
    elif restored:
        system.answers = "restored, the model's own masked" if masked else "restored"
    else:
        system.answers = "masked" if masked else "not restored"


def warm(system, folder, name, request):
    body, text, _ = request
    system.rounds[name] = []
    took, seconds = asked(system, body, text, CONNECTIONS)
    if system.ask or len(took) / seconds < SLOW:
        system.slow[name] = len(took) / seconds
    else:
        road.wrk(folder, system.port, body, system.key, CONNECTIONS, 1)


def measure(system, folder, name, request, seconds):
    body, text, _ = request
    before = system.spent()
    if name in system.slow:
        count = max(CONNECTIONS, int(system.slow[name] * seconds))
        took, all_of_it = asked(system, body, text, count)
        p50, p99, rate = took[count // 2], took[count * 99 // 100], count / all_of_it
    else:
        told = road.wrk(folder, system.port, body, system.key, CONNECTIONS, seconds)
        count, p50, p99, rate = told.requests, told.p50, told.p99, told.requests / told.seconds
    system.rounds[name].append(Round((system.spent() - before) * 1e6 / count, p50, p99, rate))
    print("%-32s %-6s %s" % (system.name, name, system.rounds[name][-1]), file=sys.stderr, flush=True)


def tried(systems, work):
    """Does this with each, and goes on without those that fail."""
    for system in list(systems):
        try:
            work(system)
        except FAILURES as why:
            print("%s: %s" % (system.name, why), file=sys.stderr)
            systems.remove(system)


def run(folder, binary, rounds, seconds):
    """All systems, measured; those that could not be, and why; how long requests are."""
    sent = requests()
    with ExitStack() as stack:
        [up] = gateways.free_ports(1)
        recorder = recording(up)
        found = [*proxies(stack, folder, up), *ours(stack, binary, up), *products(stack, up)]
        systems = [one for one in found if isinstance(one, System)]
        tried(systems, lambda system: check(system, sent["16 KB"]))
        recorder.shutdown()
        recorder.server_close()
        upstream = road.upstream(folder, up)
        stack.callback(upstream.wait)
        stack.callback(upstream.terminate)
        road.wait_for(up)
        for name, request in sent.items():
            tried(systems, lambda system: warm(system, folder, name, request))
        for _ in range(rounds):
            tried(systems, lambda system: [measure(system, folder, name, request, seconds) for name, request in sent.items()])
        for system in systems:
            system.mib = sum(road.resident_mib(process.pid) for process in system.processes)
    missing = [(one.name, peers.FAILED) if isinstance(one, System) else one for one in found if one not in systems]
    return systems, missing, {name: len(request[0]) for name, request in sent.items()}


# ── the table ───────────────────────────────────────────────────────────────────────────────────────────────────────


def middle(system, name, what):
    return statistics.median(getattr(one, what) for one in system.rounds[name])


def number(value):
    return "%.1f" % value if value < 10 else format(round(value), ",")


def table(systems, missing):
    sizes = list(systems[0].rounds)
    heads = ["%s, %s" % (size, what) for size in sizes for what in ("µs", "p50 / p99, ms", "a second")]
    lines = ["| | %s | MiB | values hidden | answer |" % " | ".join(heads), "|---" + "|---:" * (len(heads) + 2) + "|---|"]
    for system in systems:
        cells = []
        for size in sizes:
            p50, p99 = (number(middle(system, size, what)) for what in ("p50", "p99"))
            cells += [number(middle(system, size, "cost")), "%s / %s" % (p50, p99), number(middle(system, size, "rate"))]
        name = peers.titled(system.name, system.version)
        lines.append("| %s | %s | %s | %s | %s |" % (name, " | ".join(cells), number(system.mib), system.hidden, system.answers))
    lines += ["| %s | %s |" % (name, why + " |" * (len(heads) + 2)) for name, why in missing]
    return "\n".join(lines)


def verdict(systems):
    """How we stand beside others, in words; also where we are slower."""
    costs = {system.name: [middle(system, size, "cost") for size in system.rounds] for system in systems}
    said = []

    def compare(one, other):
        if one in costs and other in costs:
            dearer, cheaper = (one, other) if costs[one] > costs[other] else (other, one)
            times = [number(a / b) for a, b in zip(costs[dearer], costs[cheaper])]
            words = "- %s: %s times as much of the processor as %s for the short request, %s times for the long one."
            said.append(words % (dearer, times[0], cheaper, times[1]))

    compare("Portcullis, without redaction", "nginx")
    compare("Portcullis, without redaction", "Envoy")
    for name in ("Envoy", "Envoy, Lua, four patterns", "llm-redact-proxy", "llm-shield-proxy"):
        compare("Portcullis, redacting", name)
    for name in ("Envoy, Lua, four patterns", "Presidio, no proxy"):
        compare("Portcullis, redacting, four rules", name)
    for nth, request in enumerate(("short", "long")):
        less = [name for name in costs if costs[name][nth] < costs["Portcullis, redacting"][nth]]
        said.append("- Less than Portcullis, redacting, for the %s request: %s." % (request, "; ".join(less)))
    return "\n".join(said)
