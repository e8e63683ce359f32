"""Our refusals reach each provider's own client as its own exception, with our words, whatever refuses and whenever."""

import asyncio
import json

import pytest
from gateway import MINIMAL, Gateway
from test_providers_config import PROVIDERS

ROUTE = """
[[routes]]
name = "NAME"
path = "/NAME"
strip_prefix = true
upstream = "UPSTREAM"
provider = "NAME"
auth = "AUTH"
method = ["POST"]
MORE
"""


def config(upstream, auth="none", more="redact = {{}}"):
    """A route for each provider, all to one upstream."""
    pools = '\n[upstreams.nobody]\npeers = ["http://127.0.0.1:{nobody}"]\n\n[upstreams.mock]\npeers = ["{upstream}"]\n'
    route = ROUTE.replace("UPSTREAM", upstream).replace("AUTH", auth).replace("MORE", more)
    return MINIMAL + pools + "".join(route.replace("NAME", name) for name in PROVIDERS)


@pytest.fixture(scope="module")
def lost(upstream):
    """Nobody is there behind any route."""
    with Gateway(upstream.url, config("nobody")) as running:
        yield running


@pytest.fixture(scope="module")
def closed(upstream):
    """Nobody passes without a token of ours."""
    with Gateway(upstream.url, config("mock", auth="token")) as running:
        yield running


@pytest.fixture(scope="module")
def limited(upstream):
    with Gateway(upstream.url, config("nobody", more="rate = {{ requests = 1, per = '1h' }}")) as running:
        for name in PROVIDERS:
            running.call("POST", "/%s/any" % name, b"{}")
        yield running


# ── the clients ─────────────────────────────────────────────────────────────────────────────────────────────────────

SAID = [{"role": "user", "content": "hello"}]


def openai_chat(url, key):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=url + "/openai/v1", api_key=key, max_retries=0)
    with pytest.raises(openai.APIStatusError) as raised:
        client.chat.completions.create(model="m", messages=SAID)
    return raised.value.status_code, raised.value.body["message"]


def openai_responses(url, key):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=url + "/openai/v1", api_key=key, max_retries=0)
    with pytest.raises(openai.APIStatusError) as raised:
        client.responses.create(model="m", input="hello", stream=True)
    return raised.value.status_code, raised.value.body["message"]


def azure_chat(url, key):
    openai = pytest.importorskip("openai")
    client = openai.AzureOpenAI(azure_endpoint=url + "/azure", api_key=key, api_version="2024-10-21", max_retries=0)
    with pytest.raises(openai.APIStatusError) as raised:
        client.chat.completions.create(model="m", messages=SAID)
    return raised.value.status_code, raised.value.body["message"]


def anthropic_messages(url, key):
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=url + "/anthropic", api_key=key, max_retries=0)
    with pytest.raises(anthropic.APIStatusError) as raised:
        client.messages.create(model="m", max_tokens=9, messages=SAID)
    body = raised.value.body
    assert body["type"] == "error" and body["request_id"] == raised.value.request_id
    assert body["error"]["type"].endswith(("_error", "_large"))
    return raised.value.status_code, body["error"]["message"]


def gemini_generate(url, key):
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key=key, http_options={"base_url": url + "/gemini"})
    with pytest.raises(genai.errors.APIError) as raised:
        client.models.generate_content(model="m", contents="hello")
    assert raised.value.status.isupper() and raised.value.details["error"]["details"][0]["domain"] == "portcullis"
    return raised.value.code, raised.value.message


def ollama_chat(url, key):
    ollama = pytest.importorskip("ollama")
    client = ollama.Client(host=url + "/ollama", headers={"authorization": "Bearer " + key})
    with pytest.raises(ollama.ResponseError) as raised:
        client.chat(model="m", messages=SAID)
    return raised.value.status_code, raised.value.error


def cohere_chat(url, key):
    cohere = pytest.importorskip("cohere")
    from cohere.core.api_error import ApiError

    client = cohere.ClientV2(api_key=key, base_url=url + "/cohere")
    with pytest.raises(ApiError) as raised:
        client.chat(model="m", messages=SAID, request_options={"max_retries": 0})
    body = raised.value.body
    return raised.value.status_code, body["message"] if isinstance(body, dict) else json.loads(body)["message"]


def mistral_chat(url, key):
    client = pytest.importorskip("mistralai.client")
    with pytest.raises(client.errors.MistralError) as raised:
        with client.Mistral(api_key=key, server_url=url + "/mistral") as mistral:
            mistral.chat.complete(model="m", messages=SAID)
    return raised.value.status_code, json.loads(raised.value.body)["message"]


def mcp_tools(url, key):
    """The error of a call, whatever the status; a client of the protocol does not show that."""
    pytest.importorskip("mcp")
    from mcp import ClientSession, MCPError
    from mcp.client.streamable_http import streamable_http_client

    async def ask():
        async with streamable_http_client(url + "/mcp/mcp") as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()

    def errors(error):
        parts = error.exceptions if isinstance(error, BaseExceptionGroup) else [error]
        return [e for part in parts for e in (errors(part) if part is not error else [part])]

    with pytest.raises(BaseException) as raised:
        asyncio.run(ask())
    found = [error.error for error in errors(raised.value) if isinstance(error, MCPError)]
    return found[0].data["status"], found[0].message


CLIENTS = [
    openai_chat,
    openai_responses,
    azure_chat,
    anthropic_messages,
    gemini_generate,
    ollama_chat,
    cohere_chat,
    mistral_chat,
    mcp_tools,
]


# ── whole ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ask", CLIENTS)
def test_an_upstream_that_is_not_there_is_told_in_our_words(lost, ask):
    status, message = ask(lost.url, "sk-test")
    assert (status, message) == (502, "the upstream failed (connect)")


@pytest.mark.parametrize("ask", CLIENTS)
def test_whoever_has_no_token_is_told_so(closed, ask):
    status, message = ask(closed.url, "sk-wrong")
    assert (status, message) == (401, "not authorized")


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_limit_is_told_before_the_body_is_read(limited, ask):
    status, message = ask(limited.url, "sk-test")
    assert status == 429 and message


def shown(name, body):
    """Where each provider's error has its message."""
    match name:
        case "anthropic":
            assert body["type"] == "error"
            return body["error"]["message"]
        case "gemini" | "vertex":
            return body["error"]["status"] and body["error"]["message"]
        case "ollama":
            return body["error"]
        case "cohere" | "bedrock":
            return body["message"]
        case "mistral":
            return body["detail"][0]["msg"] if "detail" in body else body["message"]
        case "mcp":
            assert body["jsonrpc"] == "2.0"
            return body["error"]["message"]
        case _:
            return body["error"]["message"]


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_path_that_nobody_knows_has_its_providers_errors(lost, name):
    answer = lost.call("POST", "/%s/never/heard/of" % name, b"{}", {"content-type": "application/json"})
    assert answer.status == 502 and shown(name, answer.json())


@pytest.mark.parametrize("name", PROVIDERS)
def test_another_method_is_refused_in_the_providers_shape(lost, name):
    answer = lost.call("PUT", "/%s/v1/models" % name, b"{}")
    assert answer.status == 405 and shown(name, answer.json())


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_body_that_cannot_be_read_is_refused_in_the_providers_shape(lost, name):
    body = b'{"jsonrpc":"2.0","id":"c-7","x":"a\x00b"}'
    answer = lost.call("POST", "/%s/v1/any" % name, body, {"content-type": "application/json"})
    assert answer.status == (422 if name == "mistral" else 400)
    assert "UTF-8" in shown(name, answer.json())


def test_whoever_must_say_who_it_is_is_told_how(closed):
    for name in PROVIDERS:
        answer = closed.call("POST", "/%s/v1/any" % name, b"{}")
        assert answer.status == 401 and answer.headers["www-authenticate"].startswith("Bearer"), name


def test_a_call_is_answered_by_its_own_id(lost):
    for id in ('"c-7"', "7"):
        body = '{"jsonrpc":"2.0","id":%s,"method":"tools/list"}' % id
        answer = lost.call("POST", "/mcp/mcp", body.encode(), {"content-type": "application/json"})
        assert answer.json()["id"] == json.loads(id)


def test_what_no_route_takes_has_the_shape_of_its_path(upstream):
    with Gateway(upstream.url, MINIMAL) as running:
        for path, name in [
            ("/v1/chat/completions", "openai"),
            ("/v1/messages", "anthropic"),
            ("/v1beta/models/m:generateContent", "gemini"),
            ("/api/chat", "ollama"),
            ("/v2/chat", "cohere"),
        ]:
            answer = running.call("POST", path, b"{}")
            assert answer.status == 404 and shown(name, answer.json()), path
        assert running.call("POST", "/nowhere", b"{}").json()["status"] == "NotFound"
