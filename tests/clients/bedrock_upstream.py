"""A small Amazon Bedrock: it says what it was given, in event streams of its own making, and writes down what came.

The answer's text is the last text of the request, written in pieces of one character, so that a value is never whole in an
event. `modelId` says how: `plain`, `invents` (a value of its own behind that), `results` (what tools of the service wrote), `error` (429, quoting the request), `exception` (in the stream, in the middle of a
value) and `cut` (the connection ends within a message); anything may follow a `-`.
"""

import base64
import hashlib
import json
import struct
import urllib.parse
import zlib
from dataclasses import dataclass, field

import botocore.auth
import botocore.awsrequest
import botocore.credentials
from loopback import Handler, Served


# What the model says by itself.
INVENTED = "tom.baker@harbour-post.com"
# Its seal on what it thinks.
SIGNATURE = "kJ8f0aVYpQ3x7mZt5sLw2bNcR1eHu9dGi4oTqXyE6rUzMvPjSkCnBhWlAgFfDd+K/3=="


def message(headers, payload):
    """One message of an Amazon event stream, with headers that are strings."""
    block = b""
    for name, value in headers.items():
        block += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    head = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return head + struct.pack(">I", zlib.crc32(head))


def messages(body):
    """The messages of a stream: headers as bytes, and payloads."""
    found = []
    while body:
        total, headers = struct.unpack(">II", body[:8])
        found.append((body[12 : 12 + headers], body[12 + headers : total - 4]))
        body = body[total:]
    return found


def event(name, body):
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return message(headers, json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())


def exception(name, text):
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return message(headers, json.dumps({"message": text, "originalStatusCode": 500}).encode())


def chunk(body):
    return event("chunk", {"bytes": base64.b64encode(json.dumps(body).encode()).decode(), "p": "abcdABCD0123"})


def said(ask):
    """The last text of a request, in either form."""
    content = ask["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


def converse_events(text, mode):
    padding = {"p": "abcdefghij"}
    delta = lambda block, body: event("contentBlockDelta", {"contentBlockIndex": block, "delta": body} | padding)
    stop = lambda block: event("contentBlockStop", {"contentBlockIndex": block} | padding)
    yield event("messageStart", {"role": "assistant"} | padding)
    if mode == "exception":
        yield from (delta(0, {"text": one}) for one in text[: text.index("@") + 3])
        yield exception("modelStreamErrorException", "lost at " + text)
        return
    if mode == "results":
        yield event("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolResult": {"toolUseId": "tooluse_7aB9c3Xy"}}})
        yield from (delta(0, {"toolResult": [{"text": one}]}) for one in text)
        yield delta(0, {"toolResult": [{"json": {"to": text}}]})
        yield stop(0)
        yield event("messageStop", {"stopReason": "end_turn"})
        return
    for one in text:
        yield delta(0, {"reasoningContent": {"text": one}})
    yield delta(0, {"reasoningContent": {"signature": SIGNATURE}})
    yield stop(0)
    # Two blocks by turns.
    yield event("contentBlockStart", {"contentBlockIndex": 2, "start": {"toolUse": {"name": "send", "toolUseId": "tooluse_7aB9c3Xy"}}})
    for one, two in zip(text, json.dumps({"to": text}).ljust(len(text))):
        yield delta(1, {"text": one})
        yield delta(2, {"toolUse": {"input": two}})
    yield delta(2, {"toolUse": {"input": json.dumps({"to": text})[len(text) :]}})
    yield stop(1)
    yield stop(2)
    yield event("messageStop", {"stopReason": "end_turn"})
    trace = {"guardrail": {"modelOutput": [text]}}
    usage = {"inputTokens": 12, "outputTokens": 30, "totalTokens": 42}
    yield event("metadata", {"usage": usage, "metrics": {"latencyMs": 7}, "trace": trace})


def claude_events(text):
    yield chunk({"type": "message_start", "message": {"id": "msg_bdrk_7aB9c3Xy", "role": "assistant", "content": []}})
    yield chunk({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for one in text:
        yield chunk({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}})
    yield chunk({"type": "content_block_stop", "index": 0})
    yield chunk({"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 12}})


def converse(text):
    content = [{"text": text}, {"toolUse": {"toolUseId": "tooluse_7aB9c3Xy", "name": "send", "input": {"to": text}}}]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn",
            "usage": {"inputTokens": 12, "outputTokens": 30, "totalTokens": 42}, "metrics": {"latencyMs": 7}}  # fmt: skip


@dataclass
class Came:
    """One request as it came."""

    path: str
    headers: dict
    body: bytes

    def signed(self, key, secret):
        """Whether its signature is what botocore makes of it with these keys."""
        authorization = self.headers.get("authorization", "")
        if not authorization.startswith("AWS4-HMAC-SHA256 "):
            return False
        parts = dict(part.strip().split("=", 1) for part in authorization.split(" ", 1)[1].split(","))
        _, _, region, service, _ = parts["Credential"].split("/")
        headers = {name: self.headers[name] for name in parts["SignedHeaders"].split(";")}
        digest = hashlib.sha256(self.body).hexdigest()
        if self.headers.get("x-amz-content-sha256", digest) != digest:
            return False
        url = "http://%s%s" % (self.headers["host"], self.path)
        request = botocore.awsrequest.AWSRequest(method="POST", url=url, headers=headers, data=self.body)
        request.context["timestamp"] = self.headers["x-amz-date"]
        signer = botocore.auth.SigV4Auth(botocore.credentials.Credentials(key, secret), service, region)
        canonical = signer.canonical_request(request)
        signature = signer.signature(signer.string_to_sign(request, canonical), request)
        return parts["Credential"].startswith(key + "/") and parts["Signature"] == signature


@dataclass
class Bedrock(Served):
    """The server."""

    came: list = field(default_factory=list, repr=False)
    sent: list = field(default_factory=list, repr=False)


class Runtime(Handler):
    mock: Bedrock

    def do_POST(self):
        body = self.take()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.mock.came.append(Came(self.path, headers, body))
        model, call = self.path.split("?")[0].split("/model/", 1)[1].rsplit("/", 1)
        ask, mode = json.loads(body), urllib.parse.unquote(model).split("-")[0]
        if mode == "error":
            return self.whole(429, {"message": "Too busy for " + said(ask)}, {"x-amzn-ErrorType": "ThrottlingException"})
        text = said(ask) + (" And to %s." % INVENTED if mode in ("invents", "results") else "")
        match call:
            case "converse":
                return self.whole(200, converse(text))
            case "invoke":
                return self.whole(200, {"type": "message", "content": [{"type": "text", "text": text}]})
            case "converse-stream":
                return self.stream(converse_events(text, mode), mode)
            case "invoke-with-response-stream":
                return self.stream(claude_events(text), mode)

    def whole(self, status, body, headers=()):
        body = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events, mode):
        self.send_response(200)
        self.send_header("content-type", "application/vnd.amazon.eventstream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        whole = b"".join(events)
        self.mock.sent.append(whole)
        if mode == "cut":
            whole = whole[: len(whole) // 3]
        for at in range(0, len(whole), 1000):
            piece = whole[at : at + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if mode == "cut":
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")


Bedrock.handler = Runtime
