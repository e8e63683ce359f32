"""An upstream of the LLM protocols that fails at random, on the event loop of its callers (llm_callers); each request's
number decides what happens to it.

A request's head tells the upstream its part: `x-play: NUMBER KIND FAULT`. What it answers are the events of
`tests/protocols`, in which it says the values that it was given beside values of its own."""

import asyncio
import json
import random
import re
import socket
import struct
import zlib
from dataclasses import dataclass, field

import bedrock_upstream
from llm_upstream import MASKED, PROTOCOLS, Style, filled, heard, rows, texts
from mock_upstream import INVENTED

LABELS = ("EMAIL", "PHONE", "SSN", "CARD")

# What is right, and must come through: at once, in small pieces, in a content coding.
RIGHT = ["none"] * 30 + ["pieces"] * 8 + ["gzip"] * 6
# What the upstream does wrong. `cut` and `reset` end the connection within the answer, `stall` is silent from there on;
# `nothing` and `refused` do so before it. `half` ends within an event, but as HTTP has it; `event` is an error of the
# provider's within a stream.
WRONG = ["status"] * 6 + ["cut"] * 5 + ["reset"] * 5 + ["nothing", "refused", "head", "page", "empty", "half", "junk", "flip", "event", "early"] * 2
SLOW = ["stall", "silence"]
# What the caller does: leaves in the middle, sends half of what it said it would, or what is no JSON.
CALLERS = ["leaves"] * 3 + ["unsent", "no JSON"]
FAULTS = RIGHT + WRONG + SLOW + CALLERS

STATUSES = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529]


# ── the protocols ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Kind:
    """One form of a request: the provider's route, what is asked, and what answers."""

    provider: str
    protocol: str
    path: str
    ask: object = field(compare=False)
    stream: bool = False

    @property
    def fails_within(self):
        """Whether a stream of it may say an error within a text."""
        protocol = PROTOCOLS.get(self.protocol, {"error": "", "stream": [{"pieces": []}]})
        return self.stream and "error" in protocol and any("pieces" in step for step in protocol["stream"])

    def body(self, text):
        return self.ask(text) | ({"stream": self.stream} if self.path.startswith(("/v1/", "/v2/", "/api/")) else {})


def chat(text):
    return {"model": "m-1", "max_tokens": 64, "messages": [{"role": "user", "content": text}]}


def contents(text):
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def call(text):
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": {"text": text}}}


def converse(text):
    return {"messages": [{"role": "user", "content": [{"text": text}]}]}


def both(*kind):
    return [Kind(*kind, stream) for stream in (False, True)]


KINDS = [
    *both("openai", "openai_chat", "/v1/chat/completions", chat),
    *both("openai", "openai_completions", "/v1/completions", lambda text: {"model": "m-1", "prompt": text}),
    *both("openai", "openai_responses", "/v1/responses", lambda text: {"model": "m-1", "input": text}),
    *both("anthropic", "anthropic", "/v1/messages", chat),
    Kind("gemini", "gemini", "/v1beta/models/m-1:generateContent", contents),
    Kind("gemini", "gemini_events", "/v1beta/models/m-1:streamGenerateContent?alt=sse", contents, True),
    Kind("gemini", "gemini_array", "/v1beta/models/m-1:streamGenerateContent", contents, True),
    *both("mistral", "mistral_chat", "/v1/chat/completions", chat),
    *both("mistral", "mistral_conversations", "/v1/conversations", lambda text: {"model": "m-1", "inputs": text}),
    *both("ollama", "ollama_chat", "/api/chat", chat),
    *both("ollama", "ollama_generate", "/api/generate", lambda text: {"model": "m-1", "prompt": text}),
    *both("cohere", "cohere", "/v2/chat", chat),
    *both("mcp", "mcp", "/mcp", call),
    Kind("bedrock", "bedrock", "/model/m-1/converse", converse),
    Kind("bedrock", "bedrock", "/model/m-1/converse-stream", converse, True),
]
PROVIDERS = list(dict.fromkeys(kind.provider for kind in KINDS))
MEDIA = {"lines": "application/x-ndjson", "array": "application/json", "none": "application/json"}
QUOTED = "Not now, %(EMAIL)s with card %(CARD)s. Ask %(own)s."


def bedrock_rows(said, step, error):
    delta = lambda block, body: bedrock_upstream.event("contentBlockDelta", {"contentBlockIndex": block, "delta": body, "p": "abc"})
    yield bedrock_upstream.event("messageStart", {"role": "assistant", "p": "ab"})
    for at in range(0, len(said["T"]), step):
        if error and at > 40:
            yield bedrock_upstream.exception("modelStreamErrorException", said["T"])
            return
        yield delta(0, {"text": said["T"][at : at + step]})
    yield bedrock_upstream.event("contentBlockStop", {"contentBlockIndex": 0})
    yield bedrock_upstream.event("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"name": "note", "toolUseId": "t_1"}}})
    for at in range(0, len(said["A"]), step):
        yield delta(1, {"toolUse": {"input": said["A"][at : at + step]}})
    yield bedrock_upstream.event("contentBlockStop", {"contentBlockIndex": 1})
    yield bedrock_upstream.event("messageStop", {"stopReason": "tool_use"})


def written(kind, number, said, error=False):
    """An answer's media type and its parts, as its protocol sends them."""
    step = random.Random(number).choice([3, 24, 24, 24 if error else 400])
    if kind.protocol == "bedrock":
        if kind.stream:
            return "application/vnd.amazon.eventstream", list(bedrock_rows(said, step, error))
        content = [{"text": said["T"]}, {"toolUse": {"toolUseId": "t_1", "name": "note", "input": json.loads(said["A"])}}]
        whole = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}
        return "application/json", [json.dumps(whole).encode()]
    protocol, id = PROTOCOLS[kind.protocol], b"%010d" % (number + 10**9)
    if kind.stream:
        # Where clients keep the order of what is said and thought, one ends where the other begins.
        turns = kind.provider != "gemini" and not kind.protocol.endswith("_chat") and number % 2 == 0
        style = Style(step=step, turns=turns, error="stream" if error else "")
        parts = [row.replace(b"4155552671", id) for row in rows(protocol, said, style)]
        return MEDIA.get(protocol["frame"], "text/event-stream"), parts
    body = json.dumps(filled(protocol["whole"], said), ensure_ascii=False).encode()
    return "application/json", [body.replace(b"4155552671", id)]


def quoting(kind, status, values, own=INVENTED["EMAIL"]):
    """An error of the provider's that says what it was sent."""
    text = QUOTED % (values | {"own": own})
    match kind.provider:
        case "anthropic":
            return {"type": "error", "error": {"type": "api_error", "message": text}, "request_id": "req_1"}
        case "gemini":
            return {"error": {"code": status, "message": text, "status": "UNAVAILABLE", "details": []}}
        case "ollama":
            return {"error": text}
        case "cohere" | "bedrock":
            return {"message": text}
        case "mistral":
            return {"object": "error", "message": text, "type": "invalid_request", "code": "1000"}
        case "mcp":
            return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": text}}
    return {"error": {"message": text, "type": "server_error", "param": None, "code": None}}


# ── the upstream ────────────────────────────────────────────────────────────────────────────────────────────────────


class Upstream:
    """Plays its part; `heard` has the surrogates by requests, `leaks` what should never have come."""

    def __init__(self, callers):
        self.callers, self.heard, self.leaks = callers, {}, []

    async def serve(self):
        self.server = await asyncio.start_server(self.connection, "127.0.0.1", 0, backlog=1024)
        self.url = "http://127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]
        return self

    async def connection(self, reader, writer):
        try:
            while (request := await taken(reader)) and await self.play(request, reader, writer):
                pass
        except (OSError, EOFError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def note(self, head, body, number):
        """Looks for what is the caller's own."""
        values = heard(json.loads(body))
        self.heard[number] = values
        everything = plain(head + body)
        for label, value in self.callers.mine[number].items():
            if label in ("EMAIL", "CARD") and value in everything or values.get(label) == value:
                self.leaks.append((number, label))
        return values

    async def play(self, request, reader, writer):
        """Answers; whether the connection is good for more."""
        head, body = request
        number, kind, fault = re.search(rb"\r\nx-play: (\d+) (\d+) ([^\r]+)", head).groups()
        number, kind, fault = int(number), KINDS[int(kind)], fault.decode()
        dice = random.Random("upstream %d" % number)
        if fault == "early":
            body = json.dumps(quoting(kind, 413, {"EMAIL": "nobody", "CARD": "none"}, "us")).encode()
            writer.write(head_of(413, "application/json", body, close=True) + body)
            return False
        body = body if body is not None else await rest(head, reader)
        values = INVENTED | self.note(head, body, number)
        said = texts(values, INVENTED)
        media, parts = written(kind, number, said, error=fault == "event")
        match fault:
            case "nothing":
                return False
            case "refused":
                return reset(writer)
            case "silence":
                return await silent(reader)
            case "head":
                writer.write(dice.choice([b"HTTP/1.1 banana\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"]))
                return False
            case "status":
                status = dice.choice(STATUSES)
                body = json.dumps(quoting(kind, status, values)).encode()
                writer.write(head_of(status, "application/json", body) + body)
                return True
            case "page":
                body = ("<html><h1>Bad Gateway</h1><p>%s</p></html>" % QUOTED % (values | {"own": "us"})).encode()
                writer.write(head_of(502, "text/html", body) + body)
                return True
            case "empty":
                writer.write(head_of(dice.choice([500, 503]), "text/plain", b""))
                return True
            case "junk":
                body = bytes(dice.randrange(256) for _ in range(300))
                writer.write(head_of(200, media, body) + body)
                return True
            case "half":
                whole = b"".join(parts)
                parts = [whole[: dice.randrange(1, len(whole) - 8)]]
            case "flip":
                whole = bytearray(b"".join(parts))
                whole[dice.randrange(len(whole))] ^= 1 << dice.randrange(7)
                parts = [bytes(whole)]
        return await self.send(Sending(media, parts, fault, dice, kind.stream), reader, writer)

    async def send(self, sending, reader, writer):
        """An answer, up to where it fails."""
        data, fault, dice = sending.framed(), sending.fault, sending.dice
        if fault in ("cut", "reset", "stall"):
            # Behind the head, and before the last byte.
            data = data[: dice.randrange(data.index(b"\r\n\r\n") + 4, len(data) - 6)]
        if fault == "pieces":
            at = 0
            while at < len(data) and not writer.is_closing():
                width = dice.choice([1, 9, 90, 900])
                writer.write(data[at : at + width])
                await asyncio.sleep(0)
                at += width
        else:
            writer.write(data)
        await writer.drain()
        if fault == "stall":
            return await silent(reader)
        if fault == "reset":
            # Else it would overtake what was written.
            await asyncio.sleep(0.02)
            return reset(writer)
        return fault != "cut"


@dataclass
class Sending:
    """An answer and how it is sent."""

    media: str
    parts: list
    fault: str
    dice: random.Random
    stream: bool

    def framed(self):
        """Head and body."""
        parts, coding = self.parts, ""
        if self.fault == "gzip":
            coder, coding = zlib.compressobj(1, zlib.DEFLATED, 31), "content-encoding: gzip\r\n"
            parts = [coder.compress(part) + coder.flush(zlib.Z_SYNC_FLUSH) for part in parts] + [coder.flush()]
        head = "HTTP/1.1 200 OK\r\ncontent-type: %s\r\n%s" % (self.media, coding)
        if self.stream or self.dice.random() < 0.3:
            chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part)
            return (head + "transfer-encoding: chunked\r\n\r\n").encode() + chunks + b"0\r\n\r\n"
        body = b"".join(parts)
        return (head + "content-length: %d\r\n\r\n" % len(body)).encode() + body


def head_of(status, media, body, close=False):
    end = "connection: close\r\n" if close else ""
    return ("HTTP/1.1 %d So\r\ncontent-type: %s\r\n%scontent-length: %d\r\n\r\n" % (status, media, end, len(body))).encode()


async def taken(reader):
    """A request's head, and its body unless it is to be answered before that."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    return head, None if b" early\r\n" in head else await rest(head, reader)


async def rest(head, reader):
    lower = head.lower()
    if length := re.search(rb"\r\ncontent-length: *(\d+)", lower):
        return await reader.readexactly(int(length[1]))
    return await chunked(reader) if b"transfer-encoding: chunked" in lower else b""


async def chunked(reader):
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


async def silent(reader):
    """Until the other side goes."""
    try:
        await asyncio.wait_for(reader.read(), 30)
    except TimeoutError:
        pass
    return False


def reset(writer):
    if (connection := writer.get_extra_info("socket")) and not writer.transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    return False


def plain(data):
    """Bytes as a text in which a value stands as it is."""
    text = data.decode("utf-8", "replace")
    return re.sub(r"\\+u0040", "@", text) if "u0040" in text else text


# ── what an answer says ─────────────────────────────────────────────────────────────────────────────────────────────


def documents(kind, body, strict=True):
    """An answer's documents. What cannot be read ends them, or fails where that is strict."""
    found = []
    try:
        if kind.protocol == "bedrock" and kind.stream:
            return [json.loads(payload) | {"index": head.hex()[:60]} for head, payload in bedrock_upstream.messages(body)]
        text = body.decode()
        frame = PROTOCOLS.get(kind.protocol, {}).get("frame")
        if not kind.stream:
            return [json.loads(text)]
        if frame == "array":
            return json.loads(text)
        if frame == "lines":
            for line in text.splitlines():
                found.append(json.loads(line))
            return found
        # A carriage return ends a line by itself, as the standard has it.
        for event in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
            data = "".join(line[5:].lstrip(" ") for line in event.splitlines() if line.startswith("data:"))
            if data and data != "[DONE]":
                found.append(json.loads(data))
    except (ValueError, struct.error):
        if strict:
            raise
    return found


# Members that tell apart what goes on in turns, and such as go on over events.
TELL = ("index", "output_index", "content_index", "summary_index", "contentBlockIndex", "item_id", "id", "thought", "type")


def channels(found):
    """The texts of documents, each joined over all of them."""
    joined = {}

    def walk(value, key):
        if isinstance(value, dict):
            told = tuple(str(value[name])[:60] for name in TELL if isinstance(value.get(name), (str, int)))
            for name, item in value.items():
                walk(item, (*key, told, name))
        elif isinstance(value, list):
            for item in value:
                walk(item, key)
        elif isinstance(value, str):
            joined.setdefault(key, []).append(value)

    for document in found:
        walk(document, ())
    return {key: "".join(pieces) for key, pieces in joined.items()}


def expected(kind, number, mine):
    """The texts with the caller's values in them, and those of the model's own masked."""
    media, parts = written(kind, number, texts(mine, MASKED))
    told = channels(documents(kind, b"".join(parts)))
    values = [mine["EMAIL"], mine["CARD"], mine["SSN"]]
    return {key: text for key, text in told.items() if "logprobs" not in key and any(value in text for value in values)}


def found_in(text):
    """What may be somebody's."""
    return set(re.findall(r"(?<![\w.+-])[\w.+-]+@[\w.-]+\w|\b\d{4} \d{4} \d{4} \d{4}", text))
