"""conf/providers.toml: every provider behind one listener, each under its prefix, which the upstream is not asked for."""

import json
import re
import subprocess

import pytest
from gateway import BINARY, ROOT, Gateway

PROVIDERS = ["openai", "azure", "anthropic", "gemini", "vertex", "bedrock", "ollama", "mistral", "cohere", "mcp"]


def configured(text):
    """The file with our own ports and upstream in place of what it has, and a place for its data."""
    text = re.sub(r'peers = \["[^"]*"\]', 'peers = ["UPSTREAM"]', text)
    text = text.replace('address = "127.0.0.1:8080"', 'address = "127.0.0.1:PORT"')
    text = 'data = "data"\n[admin]\naddress = "127.0.0.1:ADMIN"\n' + text
    text = text.replace("{", "{{").replace("}", "}}")
    return text.replace("UPSTREAM", "{upstream}").replace("PORT", "{port}").replace("ADMIN", "{admin}")


@pytest.fixture(scope="module")
def gateway(upstream):
    with Gateway(upstream.url, configured((ROOT / "conf/providers.toml").read_text())) as running:
        yield running


@pytest.mark.parametrize(
    "path, sent",
    [
        ("/openai/v1/chat/completions", "/v1/chat/completions"),
        ("/azure/openai/deployments/d/chat/completions?api-version=1", "/openai/deployments/d/chat/completions?api-version=1"),
        ("/anthropic/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("/gemini/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("/vertex/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
         "/v1/projects/p/locations/l/publishers/google/models/m:generateContent"),
        ("/bedrock/model/arn%3Aaws%3Abedrock%2Fx/converse", "/model/arn%3Aaws%3Abedrock%2Fx/converse"),
        ("/ollama/api/chat", "/api/chat"),
        ("/mistral/v1/chat/completions", "/v1/chat/completions"),
        ("/cohere/v2/chat", "/v2/chat"),
        ("/mcp", "/mcp"),
        ("/openai", "/"),
        ("/openai/", "/"),
        ("/%6Fpenai//v1/../v1/models", "/v1/models"),
        ("/openai/openai/v1/models", "/openai/v1/models"),
    ],
)  # fmt: skip
def test_the_upstream_is_asked_without_the_prefix(gateway, mock, path, sent):
    body = {"model": "plain", "messages": [{"role": "user", "content": "EMAIL: ingrid.olsen@fjord-mail.com |"}]}
    headers = {"content-type": "application/json", "authorization": "Bearer sk-theirs"}
    gateway.call("POST", path, json.dumps(body).encode(), headers)
    [came] = mock.requests
    assert came.path == sent
    assert dict(came.headers)["authorization"] == "Bearer sk-theirs"
    assert b"ingrid.olsen" not in came.body and b"EMAIL: " in came.body


REDIRECTS = [
    ("/v1/files/1", "/openai/v1/files/1"),
    ("%s/v1/files/1?a=b", "%s/openai/v1/files/1?a=b"),
    ("//%s/v1/files/1", "%s/openai/v1/files/1"),
    ("%s", "%s/openai/"),
    ("2", "2"),
    ("?after=2", "?after=2"),
    ("https://files.example/v1/files/1", "https://files.example/v1/files/1"),
    ("http://files.example:80/%s", "http://files.example:80/%s"),
]


@pytest.mark.parametrize("status", [201, 307])
@pytest.mark.parametrize("sent, seen", REDIRECTS)
def test_who_follows_the_upstream_comes_back_to_the_route(gateway, mock, status, sent, seen):
    at = mock.url.removeprefix("http://") if sent.startswith("//") else mock.url
    fill = lambda text, with_: text % with_ if "%s" in text else text
    mock.canned["made"] = (status, "application/json", b"{}", "", 0)
    for name in ("location", "content-location"):
        mock.fields = {name: fill(sent, at)}
        answer = gateway.call("POST", "/openai/v1/made", b"{}", {"content-type": "application/json"})
        assert answer.headers[name] == fill(seen, gateway.url if "openai" in seen else at)


def test_a_model_is_not_taken_for_somebody(gateway, mock):
    """Some providers look at how a system prompt begins."""
    system = "You are Claude Code, Anthropic's official CLI for Claude."
    body = {"model": "m", "system": system, "messages": [{"role": "user", "content": "Is Claude Opus 4.1 there?"}]}
    gateway.call("POST", "/anthropic/v1/messages?beta=true", body)
    assert mock.requests[-1].json() == body


def test_a_prefix_is_whole_segments(gateway, mock):
    for path in ("/openaix/v1/models", "/openai%2Fv1/models", "/v1/chat/completions"):
        assert gateway.call("POST", path, b"{}").status in (400, 404), path
    assert not mock.requests


def test_the_log_says_once_what_a_path_was_taken_for(upstream, mock):
    config = (ROOT / "conf/providers.toml").read_text().replace('provider = "openai"', 'provider = "auto"')
    with Gateway(upstream.url, configured(config)) as running:
        body = json.dumps({"model": "plain", "messages": [{"role": "user", "content": "hello"}]}).encode()
        headers = {"content-type": "application/json"}
        for path in ("/v1/chat/completions", "/v1/chat/completions", "/v1/anything", "/v1/anything"):
            running.call("POST", "/openai" + path, body, headers)
        running.wait_for(lambda: len([line for line in running.log if "/v1/anything" in line]) >= 0)
        assert running.stop() == 0
        lines = [line for line in running.log if "protocol chosen by path" in line]
        assert len(lines) == 2 and all("openai" in line for line in lines), lines
        assert ["openai_chat" in line for line in lines] == [True, False]
        assert "generic" in lines[1]


def test_check_warns_of_a_known_provider_that_is_read_as_anyones(tmp_path):
    text = (ROOT / "conf/providers.toml").read_text()
    file = tmp_path / "providers.toml"
    file.write_text(text.replace('provider = "anthropic"', 'provider = "generic"'))
    done = subprocess.run([BINARY, "check", "-c", file], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "no problems" in done.stdout
    [line] = done.stderr.strip().splitlines()
    place = text[: text.index('provider = "anthropic"')].count("\n") + 1
    assert line.startswith("warning: %s:%d:12: " % (file, place)) and 'provider = "anthropic"' in line
    file.write_text(text)
    done = subprocess.run([BINARY, "check", "-c", file], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
