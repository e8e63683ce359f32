"""The line of conf/providers.toml that points each provider's client at the gateway, run as it stands there.

What else a client needs stands in its environment, as it would for its user.
"""

import asyncio
import re

import anthropic
import boto3
import cohere
import google.auth
import ollama
import openai
import pytest
from bedrock_upstream import Bedrock
from gateway import ROOT, Gateway
from google import genai
from google.oauth2.credentials import Credentials
from llm_upstream import MINE, PROMPT, Upstream
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mistralai.client import Mistral
from test_llm_mcp import Server
from test_providers_config import configured

LINES = dict(re.findall(r"\[upstreams\.(\w+)\]", block)[:1] + re.findall(r"#   (.+)", block)[:1]
             for block in (ROOT / "conf/providers.toml").read_text().split("\n\n\n")[1:])  # fmt: skip
CLIENTS = {
    "OpenAI": openai.OpenAI,
    "AzureOpenAI": openai.AzureOpenAI,
    "Anthropic": anthropic.Anthropic,
    "Mistral": Mistral,
    "boto3": boto3,
    "cohere": cohere,
    "genai": genai,
    "ollama": ollama,
    "streamable_http_client": streamable_http_client,
}
ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-caller",
    "AZURE_OPENAI_API_KEY": "sk-caller",
    "OPENAI_API_VERSION": "2024-10-21",
    "ANTHROPIC_API_KEY": "sk-caller",
    "GEMINI_API_KEY": "sk-caller",
    "GOOGLE_CLOUD_PROJECT": "p",
    "GOOGLE_CLOUD_LOCATION": "europe-west4",
    "AWS_ACCESS_KEY_ID": "AKIDCALLER",
    "AWS_SECRET_ACCESS_KEY": "the caller's",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "MISTRAL_API_KEY": "sk-caller",
    "CO_API_KEY": "sk-caller",
}
ASK = [{"role": "user", "content": PROMPT}]


def chat(client):
    return client.chat.completions.create(model="m-1", messages=ASK)


def generate(client):
    with client as google:
        return google.models.generate_content(model="m-1", contents=PROMPT)


def converse(client):
    return client.converse(modelId="m-1", messages=[{"role": "user", "content": [{"text": PROMPT}]}])


def tool(transport):
    async def run():
        async with McpClient(transport, mode="legacy") as client:
            return await client.call_tool("note", {"text": PROMPT})

    return asyncio.run(asyncio.wait_for(run(), 20))


# The shape in which the upstream answers, and a call.
CALLS = {
    "openai": ("openai_chat", chat),
    "azure": ("openai_chat", chat),
    "anthropic": ("anthropic", lambda client: client.messages.create(model="m-1", max_tokens=64, messages=ASK)),
    "gemini": ("gemini", generate),
    "vertex": ("gemini", generate),
    "bedrock": ("", converse),
    "ollama": ("ollama_chat", lambda client: client.chat(model="m-1", messages=ASK)),
    "mistral": ("mistral_chat", lambda client: client.chat.complete(model="m-1", messages=ASK)),
    "cohere": ("cohere", lambda client: client.chat(model="m-1", messages=ASK)),
    "mcp": ("", tool),
}


@pytest.fixture(scope="module")
def ends():
    """The gateway with every provider's route, and who stands for the providers."""
    config = configured((ROOT / "conf/providers.toml").read_text())
    with Upstream() as answers, Upstream(handler=Server) as mcp, Bedrock() as bedrock:
        for name, place in [("mcp", mcp), ("bedrock", bedrock)]:
            config = config.replace('[upstreams.%s]\npeers = ["{upstream}"]' % name, '[upstreams.%s]\npeers = ["%s"]' % (name, place.url))
        with Gateway(answers.url, config) as gateway:
            yield gateway, {"mcp": mcp, "bedrock": bedrock}, answers


def test_every_provider_has_a_line():
    assert LINES.keys() == CALLS.keys()
    page = (ROOT / "docs/llm.md").read_text()
    assert not [line for line in LINES.values() if "`%s`" % line not in page], "the page has them too"


@pytest.mark.parametrize("name", CALLS)
def test_a_line_leads_through_the_gateway(ends, monkeypatch, name):
    gateway, others, answers = ends
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(google.auth, "default", lambda **_: (Credentials(token="the caller's"), "p"))
    shape, call = CALLS[name]
    upstream = others.get(name, answers)
    came = upstream.came if name == "bedrock" else upstream.requests
    came.clear()
    if shape:
        upstream.begin(shape=shape)
    line = LINES[name].replace("127.0.0.1:8080", "127.0.0.1:%d" % gateway.port)
    answer = str(call(eval(line, dict(CLIENTS))))
    assert MINE["EMAIL"] in answer and MINE["CARD"] in answer, "restored"
    bodies = b"".join(one.body for one in came)
    assert b"Sum up the ticket" in bodies and b"order" in bodies.lower()
    assert not [value for value in MINE.values() if value.encode() in bodies], "the model saw a value"
