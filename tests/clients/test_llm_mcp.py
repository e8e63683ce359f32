"""MCP's own client: a call's arguments go out as surrogates, and results, progress and logs come back restored."""

import asyncio
import http.client
import json
import queue
import uuid

import mcp_types
import pytest
from gateway import MINIMAL, Gateway
from llm import CONFIG, PROMPT, Road
from llm_upstream import INVENTED, MINE, Answers, Upstream
from mcp import Client
from mcp.client.sse import sse_client

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


# ── the version of 2026-07-28: no sessions, and what a server asks of its client comes in a result ───────────────────

# What a form allows is the program's: as it is, also where it looks like somebody's.
FORM = {"type": "object", "properties": {"mail": {"type": "string", "enum": ["jo@harbour-post.com", "Jordan"]}}, "required": ["mail"]}
# Digits that would pass for a card.
STATE = "eyJzdGF0ZSI6NDExMTExMTExMTExMTExMX0.kJ8f0aVYpQ3x7mZt5sLw2bNcR1eHu9dGi4oTqXyE6rU"


class Asking(Server):
    """It asks its client once for what it needs, and says then what it knows."""

    def answer(self, came):
        ask = came.json()
        params = ask.get("params", {})
        if ask["method"] == "server/discover":
            result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "notes", "version": "1"}}
        elif ask["method"] == "tools/list":
            result = {"resultType": "complete", "tools": [TOOL], "ttlMs": 0, "cacheScope": "private"}
        elif "inputResponses" not in params:
            text = params["arguments"]["text"]
            said = {"role": "user", "content": {"type": "text", "text": "Sum up: " + text}}
            result = {"resultType": "input_required", "requestState": STATE, "inputRequests": {
                "form": {"method": "elicitation/create", "params": {"mode": "form", "message": "About " + text, "requestedSchema": FORM}},
                "model": {"method": "sampling/createMessage", "params": {"messages": [said], "maxTokens": 9}},
            }}
        else:
            text = "%s | %s | %s" % (params["arguments"]["text"], json.dumps(params["inputResponses"], sort_keys=True), INVENTED["EMAIL"])
            result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
        self.send(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}).encode())


@pytest.fixture(scope="module")
def asking():
    with Upstream(handler=Asking) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        yield Road(gateway, upstream)


def asked(url):
    """What the server asked of its client, and what it said in the end."""
    seen = {}

    async def run():
        async def form(context, params):
            seen["form"] = (params.message, params.requested_schema)
            return mcp_types.ElicitResult(action="accept", content={"mail": "jo@harbour-post.com", "of": MINE["PHONE"]})

        async def model(context, params):
            seen["model"] = params.messages[0].content.text
            said = mcp_types.TextContent(type="text", text="It is of " + MINE["EMAIL"])
            return mcp_types.CreateMessageResult(role="assistant", model="m-1", content=said)

        async with Client(url + "/mcp", mode="2026-07-28", elicitation_callback=form, sampling_callback=model) as client:
            result = await client.call_tool("note", {"text": PROMPT})
            return result.content[0].text

    return asyncio.run(asyncio.wait_for(run(), 20)), seen


def test_what_a_server_asks_of_its_client_is_restored_and_the_answer_redacted(asking):
    asking.upstream.begin()
    said, seen = asked(asking.gateway.url)
    assert seen == {"form": ("About " + PROMPT, FORM), "model": "Sum up: " + PROMPT}
    first, second = [one for one in asking.upstream.requests if b"tools/call" in one.body]
    for one in (first, second):
        assert not [value for value in MINE.values() if value in one.everything()], one.everything()
    params = second.json()["params"]
    assert params["requestState"] == STATE, "it is the server's own"
    assert params["arguments"] == first.json()["params"]["arguments"], "a value has one surrogate in both"
    heard, answers, invented = said.split(" | {")[0], json.loads("{" + said.split(" | {", 1)[1].rsplit("} | ", 1)[0] + "}"), said.rsplit(" | ", 1)[1]
    assert heard == PROMPT and invented == "*" * len(INVENTED["EMAIL"])
    assert answers["form"]["content"]["of"] == MINE["PHONE"] and answers["model"]["content"]["text"] == "It is of " + MINE["EMAIL"]
    # Another request's values are not restored for who never had them.
    head = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
    surrogate = first.json()["params"]["arguments"]["text"].split("EMAIL: ")[1].split(" |")[0]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": {"text": "nothing"}, "inputResponses": {}}}
    asking.upstream.begin()
    answer = asking.gateway.call("POST", "/mcp", call, head | {"authorization": "Bearer another"})
    assert MINE["EMAIL"] not in answer.body.decode() and surrogate not in answer.body.decode()


def test_a_task_is_named_in_the_head_by_its_id(asking):
    """The header repeats a member of the body that is no name."""
    asking.upstream.begin()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tasks/update", "params": {
        "taskId": "task-4111111111111111a", "arguments": {"text": PROMPT}, "inputResponses": {"form": {"action": "accept", "content": {"of": PROMPT}}}}}
    head = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tasks/update", "mcp-name": "task-4111111111111111a"}
    answer = asking.gateway.call("POST", "/mcp", call, head)
    assert answer.status == 200, answer.body
    [came] = asking.upstream.requests
    headers = {name.lower(): value for name, value in came.headers}
    assert headers["mcp-name"] == came.json()["params"]["taskId"] == "task-4111111111111111a"
    assert not [value for value in MINE.values() if value in came.everything()]


# ── HTTP with SSE, as of 2024-11-05: a stream says where messages go, and brings their answers ───────────────────────

TOOLS = (
    MINIMAL
    + """
[upstreams.tools]
peers = ["{upstream}"]

[[routes]]
name = "tools"
upstream = "tools"
auth = "none"
provider = "mcp"
redact = {{}}
"""
)
PREFIXED = TOOLS + 'path = "/team/tools"\nstrip_prefix = true\n'


class Streaming(Server):
    """Its one stream brings what all messages of a session are answered with."""

    sessions = {}
    # Where messages go, as the stream says it.
    where = "/messages/?session_id=%s"

    def answer(self, came):
        if came.method == "GET":
            return self.pieces(200, "text/event-stream", self.stream())
        self.session = next(one for one in self.sessions if came.path == self.where % one)
        super().answer(came)

    def stream(self):
        session, said = uuid.uuid4().hex, queue.Queue()
        self.sessions[session] = said
        yield b"event: endpoint\r\ndata: %s\r\n\r\n" % (self.where % session).encode()
        while (document := said.get(timeout=20)) is not None:
            yield b"event: message\r\ndata: %s\r\n\r\n" % document

    def send(self, status, kind, body, *more):
        """The answer comes in the stream."""
        if body:
            self.sessions[self.session].put(body)
        super().send(202, kind, b"")

    def streams(self, protocol, ask):
        return False

    @classmethod
    def ends(cls):
        for said in cls.sessions.values():
            said.put(None)


# A session may be named where a key is, and in the path.
WHERE = ["/messages/?session_id=%s", "/message?token=%s", "/tools/messages/%s"]


@pytest.mark.parametrize("where", WHERE, ids=["query", "token", "path"])
@pytest.mark.parametrize("prefix, config", [("/team/tools", PREFIXED), ("", TOOLS)], ids=["prefix", "none"])
def test_a_stream_names_where_messages_go_and_brings_what_they_are_answered_with(prefix, config, where):
    handler = type("Named", (Streaming,), {"where": where, "sessions": {}})

    def called(url):
        async def run():
            at = url + ("" if url == upstream.url else prefix)
            async with Client(sse_client(at + "/sse"), mode="legacy") as client:
                result = await client.call_tool("note", {"text": PROMPT})
                handler.ends()
                return result.model_dump(mode="json")

        return asyncio.run(asyncio.wait_for(run(), 20))

    with Upstream(handler=handler) as upstream, Gateway(upstream.url, config) as gateway:
        Road(gateway, upstream).check(called, shape="mcp")


class Listener:
    """A stream that is open, and what came in it."""

    def __init__(self, gateway, who):
        self.gateway, self.who = gateway, who
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=20)
        self.connection.request("GET", "/sse", headers={"accept": "text/event-stream"} | who)
        self.stream = self.connection.getresponse()
        self.endpoint = self.event()

    def event(self):
        while not (line := self.stream.readline()).startswith(b"data: "):
            assert line
        return line[6:].decode().strip()

    def says(self, text, who=None):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": {"text": text}}}
        assert self.gateway.call("POST", self.endpoint, call, self.who if who is None else who).status == 202


def test_a_stream_has_what_its_own_caller_said_and_nobody_elses():
    handler = type("Alone", (Repeating,), {"sessions": {}})
    mine, other = {"authorization": "Bearer sk-me"}, {"authorization": "Bearer sk-another"}
    with Upstream(handler=handler) as upstream, Gateway(upstream.url, TOOLS) as gateway:
        one, two = Listener(gateway, mine), Listener(gateway, mine)
        one.says("Mail " + MINE["EMAIL"])
        assert MINE["EMAIL"] in one.event()
        # It is the same caller, in a session in which it has not said that.
        two.says("nothing")
        assert MINE["EMAIL"] not in two.event()
        # Who knows where another's messages go learns and teaches nothing.
        one.says("Mail " + MINE["PHONE"], other)
        said = one.event()
        assert MINE["PHONE"] not in said and "Mail " in said
        # What is said later comes back as well.
        one.says("Card " + MINE["CARD"])
        assert MINE["CARD"] in one.event()
        handler.ends()
        assert not [value for value in MINE.values() for came in upstream.requests if value in came.everything()]


class Repeating(Streaming):
    """Its tool says what it was told."""

    def answer(self, came):
        if came.method == "GET":
            return super().answer(came)
        self.session = next(one for one in self.sessions if came.path == self.where % one)
        ask = came.json()
        text = ask["params"]["arguments"]["text"]
        result = {"content": [{"type": "text", "text": text}]}
        self.send(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}).encode())


# ── tasks: what a call leads to is asked for later, by an id ─────────────────────────────────────────────────────────


class Working(Answers):
    """Makes a task of each call, as of 2025-11-25 or as the extension of 2026-07-28 has it; keeps no session."""

    tasks = {}

    def answer(self, came):
        ask = came.json()
        params = ask["params"]
        task = params.get("taskId")
        content = [{"type": "text", "text": " ".join(self.tasks.get(task, []))}]
        match ask["method"]:
            case "tools/call":
                task = str(uuid.uuid4())
                self.tasks[task] = [params["arguments"]["text"]]
                about = {"taskId": task, "status": "working", "statusMessage": "Noting " + self.tasks[task][0]}
                result = {"task": about} if "task" in params else {"resultType": "task"} | about
            case "tasks/result":
                result = {"content": content, "_meta": {"io.modelcontextprotocol/related-task": {"taskId": task}}}
            case "tasks/get":
                result = {"resultType": "complete", "taskId": task, "status": "completed", "result": {"content": content}}
            case "tasks/update":
                self.tasks[task].append(params["inputResponses"]["form"]["content"]["of"])
                result = {"resultType": "complete"}
        self.send(200, "application/json", json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}).encode())


@pytest.fixture(scope="module")
def working():
    with Upstream(handler=Working) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        yield Road(gateway, upstream)


def rpc(road, method, who="me", **params):
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = road.gateway.call("POST", "/mcp", call, {"authorization": "Bearer sk-" + who})
    assert answer.status == 200, answer.body
    return answer.json()["result"]


@pytest.mark.parametrize("form", ["2025-11-25", "2026-07-28"])
def test_what_a_task_leads_to_is_restored_for_who_began_it(working, form):
    working.upstream.begin()
    augmented = {"task": {"ttl": 60000}} if form == "2025-11-25" else {}
    begun = rpc(working, "tools/call", name="note", arguments={"text": PROMPT}, **augmented)
    begun = begun["task"] if augmented else begun
    assert begun["statusMessage"] == "Noting " + PROMPT
    task, fetch = begun["taskId"], "tasks/result" if augmented else "tasks/get"
    assert task in Working.tasks, "it is the server's own"
    said = json.dumps(rpc(working, fetch, taskId=task))
    assert all(value in said for value in MINE.values()) and task in said
    # To others it says surrogates at most.
    said = json.dumps(rpc(working, fetch, "another", taskId=task))
    assert not [value for value in MINE.values() if value in said]
    # What the client adds is there later.
    rpc(working, "tasks/update", taskId=task, inputResponses={"form": {"action": "accept", "content": {"of": "omar.haddad@fjord-mail.org"}}})
    said = json.dumps(rpc(working, fetch, taskId=task))
    assert "omar.haddad@fjord-mail.org" in said and MINE["EMAIL"] in said
    for came in working.upstream.requests:
        assert not [value for value in [*MINE.values(), "omar.haddad"] if value in came.everything()]
