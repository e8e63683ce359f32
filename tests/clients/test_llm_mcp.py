"""MCP's own client: a call's arguments go out as surrogates, and results, progress and logs come back restored."""

import asyncio
import json

import pytest
from gateway import Gateway
from llm import CONFIG, PROMPT, Road
from llm_upstream import MINE, Answers, Upstream
from mcp import Client

TOOL = {"name": "note", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


class Server(Answers):
    """A server of one tool, in the version of 2025-11-25."""

    def answer(self, came):
        ask = came.json() if came.body else {}
        match ask.get("method"):
            case "tools/call":
                return super().answer(came)
            case "initialize":
                about = {"serverInfo": {"name": "notes", "version": "1"}, "capabilities": {"tools": {}, "logging": {}}}
                result = about | {"protocolVersion": ask["params"]["protocolVersion"]}
            case "tools/list":
                result = {"tools": [TOOL]}
            case method if method and "id" in ask:
                error = {"code": -32601, "message": "no such method"}
                return self.send(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": ask["id"], "error": error}).encode())
            case _:
                return self.send(405 if came.method == "GET" else 202, "application/json", b"")
        self.send(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}).encode())

    def protocol(self, style, ask):
        """The answer has the number of its request, and its progress the token."""
        protocol = super().protocol(style, ask)
        token = ask["params"].get("_meta", {}).get("progressToken", 0)
        text = json.dumps(protocol).replace('"id": 1', '"id": %s' % json.dumps(ask["id"]))
        return json.loads(text.replace('"4155552671"', json.dumps(token)))

    def streams(self, protocol, ask):
        return self.mock.style.step > 1


@pytest.fixture(scope="module")
def road():
    with Upstream(handler=Server) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        yield Road(gateway, upstream)


def called(url):
    """A tool's result, and what came before it."""
    seen = []

    async def run():
        async def progress(done, total, message):
            seen.append((done, total, message))

        async def log(params):
            seen.append((params.level, params.data))

        async with Client(url + "/mcp", mode="legacy", logging_callback=log) as client:
            result = await client.call_tool("note", {"text": PROMPT}, progress_callback=progress)
            return result.model_dump(mode="json")

    return asyncio.run(asyncio.wait_for(run(), 20)), sorted(seen, key=str)


@pytest.mark.parametrize("style", [{"step": 1}, {"step": 4}, {"step": 4, "write": 13}], ids=["whole", "events", "in bytes"])
def test_a_call(road, style):
    heard = road.check(called, **style)
    [call] = [one for one in road.upstream.requests if b"tools/call" in one.body]
    assert MINE["EMAIL"] not in call.everything() and heard["EMAIL"] in call.everything()
