"""LiteLLM's proxy with its guardrail for Presidio pointed at us. PORTCULLIS_LITELLM names the folder of its programs, which
`tests/run --all` brings; without it these tests say that they are skipped."""

import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from gateway import MINIMAL, PATIENCE, Gateway, run

TOOLS = os.environ.get("PORTCULLIS_LITELLM", "")
pytestmark = pytest.mark.skipif(not TOOLS, reason="PORTCULLIS_LITELLM names no LiteLLM")

ROUTES = """
[[routes]]
name = "presidio"
path = "/presidio"
endpoint = "presidio"
auth = "token"
redact = {{ requests = "encrypt" }}
"""
KEY = "sk-litellm"
MAIL, CARD = "jane.doe@harbour-post.com", "4111 1111 1111 1111"
PROMPT = "Mail %s, card %s; 日本 🦀" % (MAIL, CARD)


class Echo(http.server.BaseHTTPRequestHandler):
    """A model that says what it was told."""

    protocol_version = "HTTP/1.1"
    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(json.dumps(body, ensure_ascii=False))
        said = "You wrote: " + body["messages"][-1]["content"]
        head = {"id": "c", "created": 1, "model": "m"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if body.get("stream"):
            piece = lambda delta, end=None: {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            pieces = [piece({"role": "assistant", "content": ""}), *(piece({"content": one}) for one in said), piece({}, "stop")]
            data, kind = "".join("data: %s\n\n" % json.dumps(one) for one in pieces) + "data: [DONE]\n\n", "text/event-stream"
        else:
            message = {"role": "assistant", "content": said}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            data, kind = json.dumps({**head, "object": "chat.completion", "choices": choices, "usage": usage}), "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data.encode())))
        self.end_headers()
        self.wfile.write(data.encode())

    def log_message(self, *_):
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def gateway():
    with Gateway("", MINIMAL + ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def litellm(gateway, tmp_path_factory):
    """Calls the proxy with a model, of which each has a guardrail of its own."""
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    token = run("tokens", "create", "-c", gateway.file, "--route", "presidio").out.strip()
    base = "%s/presidio/%s" % (gateway.url, token)
    guard = {"guardrail": "presidio", "mode": "pre_call", "presidio_analyzer_api_base": base, "presidio_anonymizer_api_base": base}
    wrong = {"presidio_analyzer_api_base": base[:-1], "presidio_anonymizer_api_base": base[:-1]}
    entities = dict.fromkeys(["EMAIL_ADDRESS", "CREDIT_CARD"], "MASK")
    guards = {
        "masked": guard,
        "chosen": guard | {"pii_entities_config": {"CREDIT_CARD": "MASK"}},
        "blocked": guard | {"pii_entities_config": {"CREDIT_CARD": "BLOCK"}},
        "restored": guard | {"output_parse_pii": True, "presidio_filter_scope": "input"},
        "refused": guard | wrong | {"pii_entities_config": entities},
        "unknown": guard | {"pii_entities_config": {"MARTIAN_ID": "MASK"}},
    }
    settings = {
        "model_list": [{"model_name": "m", "litellm_params": {"model": "openai/m", "api_base": "http://127.0.0.1:%d/v1" % model.server_port, "api_key": "k"}}],
        "guardrails": [{"guardrail_name": name, "litellm_params": params} for name, params in guards.items()],
    }
    folder = tmp_path_factory.mktemp("litellm")
    config, port = folder / "config.yaml", free_port()
    config.write_text(json.dumps(settings))
    command = [Path(TOOLS) / "litellm", "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "*"}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    url = "http://127.0.0.1:%d" % port

    def call(guardrail, **more):
        body = {"model": "m", "messages": [{"role": "user", "content": PROMPT}], "guardrails": [guardrail], **more}
        request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json", "authorization": "Bearer " + KEY})
        Echo.asked.clear()
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    try:
        end = time.monotonic() + 120 * PATIENCE
        while True:
            assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()[-3000:]
            try:
                urllib.request.urlopen(url + "/health/liveliness", timeout=5)
                break
            except OSError:
                time.sleep(0.2)
        yield call
    finally:
        process.terminate()
        process.wait(30)
        model.shutdown()


def said(body):
    return json.loads(body)["choices"][0]["message"]["content"]


def test_the_model_sees_surrogates(litellm):
    status, body = litellm("masked")
    [asked] = Echo.asked
    assert status == 200 and MAIL not in asked and CARD not in asked and "日本 🦀" in asked and "@" in asked
    # They are ours, of the same format, since no entity has an operator of LiteLLM's.
    assert "<EMAIL_ADDRESS>" not in asked and said(body).startswith("You wrote: Mail ")


def test_entities_are_those_of_its_configuration(litellm):
    status, _ = litellm("chosen")
    [asked] = Echo.asked
    assert status == 200 and CARD not in asked and MAIL in asked


def test_what_it_blocks_goes_nowhere(litellm):
    status, body = litellm("blocked")
    assert status == 400 and "CREDIT_CARD" in body and not Echo.asked


@pytest.mark.parametrize("stream", [False, True])
def test_what_it_restores_comes_back(litellm, stream):
    status, body = litellm("restored", stream=stream)
    [asked] = Echo.asked
    assert status == 200 and MAIL not in asked and CARD not in asked
    if stream:
        data = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]
        text = "".join(one["choices"][0]["delta"].get("content") or "" for one in data if one["choices"])
    else:
        text = said(body)
    assert text == "You wrote: " + PROMPT


@pytest.mark.parametrize("guardrail", ["refused", "unknown"])
def test_what_we_refuse_it_refuses(litellm, guardrail):
    status, body = litellm(guardrail)
    assert status >= 400 and not Echo.asked and MAIL not in body and CARD not in body
