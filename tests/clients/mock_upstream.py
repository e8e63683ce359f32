"""An upstream that writes down what it receives and gives it back in the nastiest pieces that are still correct.

It speaks OpenAI's chat completions, plain and streamed, whatever the path's prefix. From the last user message it takes
labelled values (`EMAIL: … | PHONE: … | SSN: … | CARD: … |`), which are surrogates when a redacting gateway is in front,
and writes its answer around them. How it answers is said by the model's name, since that survives every gateway:

    plain?step=1&write=7&enc=gzip

    plain   the answer, in pieces chosen to hurt         broken  two pieces, then an error event
    refuse  429, and the error quotes the prompt          cut     the connection ends inside an event

    leak=1   values of its own instead of the labelled ones      think=1  reasoning comes first
    step=N   N characters an event (0: pieces chosen to hurt)     crlf=1   lines end in CRLF, comments between events
    write=N  N bytes a write on the socket                        lines=1  `data` over several lines
    enc=gzip a content coding                                     gate=1   waits inside the stream for Mock.gate
    kind=T   a content type of its own (none: no such header)     note=1   comments, names and ids quote the values

Other paths: `/canned/NAME` answers what was put there, `/reflect` what was sent. `GET` and `DELETE /__recorded` show and
forget what came. Only the standard library; run alone: `mock_upstream.py 9100`.
"""

import base64
import json
import re
import sys
import threading
import urllib.parse
import zlib
from dataclasses import dataclass, field

from loopback import Handler, Served

# What the model makes up by itself: valid in every respect, and never the caller's.
INVENTED = {
    "EMAIL": "tom.baker@harbour-post.com",
    "PHONE": "+1 415 555 2671",
    "SSN": "536-90-4399",
    "CARD": "4111 1111 1111 1111",
}

LABELLED = re.compile(r"\b(EMAIL|PHONE|SSN|CARD): (.{3,120}?) \|")


# ── what is said ────────────────────────────────────────────────────────────────────────────────────────────────────


def text_pieces(v, step=0):
    """The answer's text: an address in three pieces, a phone number by the character, text beyond ASCII around them."""
    mail = v["EMAIL"]
    third = max(1, len(mail) // 3)
    pieces = ["Of course", " – the résumé ☕:", " mail "]
    pieces += [mail[:third], mail[third : 2 * third], mail[2 * third :], ", phone "]
    pieces += list(v["PHONE"])
    pieces += ["; ssn ", v["SSN"][:-2], v["SSN"][-2:] + ", card "]
    pieces += re.findall(r".{1,5}", v["CARD"])
    pieces += [".", " Ticket 47", "11 of 20", "24 closed 🙂", "!"]
    return cut("".join(pieces), step) if step else pieces


def text(v):
    return "".join(text_pieces(v))


def thought(v):
    return "They write from " + v["EMAIL"] + " today"


def arguments(v):
    """A tool call's arguments: JSON text in which the @ is an escape, beside a line break and an accent as escapes."""
    inside = lambda s: json.dumps(s)[1:-1]
    mail = inside(v["EMAIL"])
    return '{"to":"%s","call":"%s","note":"First\\nthen \\u00fcber %s \\"soon\\"","copies":3}' % (
        mail.replace("@", "\\u0040"),
        inside(v["PHONE"]),
        mail,
    )


def argument_pieces(v, step=0):
    """Cut inside escapes: after the backslash, in the hex digits, between a backslash and its letter."""
    whole = arguments(v)
    if step:
        return cut(whole, step)
    at, accent = whole.find("\\u0040"), whole.find("\\u00fc")
    phone = whole.find('"call":"') + 8
    marks = {3, 8, at + 1, at + 4, whole.find("\\n") + 1, accent + 2, accent + 5, whole.find('\\"soon') + 1}
    marks |= set(range(phone, phone + len(v["PHONE"]) + 1))
    marks = [0, *sorted(mark for mark in marks if 0 < mark < len(whole)), len(whole)]
    return [whole[a:b] for a, b in zip(marks, marks[1:])]


def cut(whole, step):
    return [whole[at : at + step] for at in range(0, len(whole), step)]


# ── how it is written ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Style:
    """A model's name, taken apart."""

    mode: str = "plain"
    leak: int = 0
    step: int = 0
    write: int = 0
    enc: str = ""
    crlf: int = 0
    lines: int = 0
    think: int = 0
    gate: int = 0
    kind: str = ""
    note: int = 0

    @staticmethod
    def of(model):
        mode, _, options = model.partition("?")
        style = Style(mode)
        for name, value in urllib.parse.parse_qsl(options):
            setattr(style, name, type(getattr(style, name))(value))
        return style


def event(data, style):
    if isinstance(data, str):
        rows = [data]
    elif style.lines:
        rows = json.dumps(data, ensure_ascii=False, indent=1).split("\n")
    else:
        rows = [json.dumps(data, ensure_ascii=False, separators=(",", ":"))]
    comment = ": still here\n\n" if style.crlf else ""
    whole = comment + "".join("data: %s\n" % row for row in rows) + "\n"
    return whole.replace("\n", "\r\n" if style.crlf else "\n").encode()


class Coder:
    """A content coding that lets every event out at once."""

    def __init__(self, name):
        self.zip = zlib.compressobj(6, zlib.DEFLATED, 31) if name == "gzip" else None

    def write(self, data):
        return self.zip.compress(data) + self.zip.flush(zlib.Z_SYNC_FLUSH) if self.zip else data

    def finish(self):
        return self.zip.flush() if self.zip else b""


USAGE = {"prompt_tokens": 12, "completion_tokens": 30, "total_tokens": 42}


def whole_answer(ask, v, style):
    choices = []
    for index in range(ask.get("n") or 1):
        message = {"role": "assistant", "content": text(v), "refusal": None}
        if style.think:
            message["reasoning_content"] = thought(v)
        if ask.get("tools"):
            call = {"name": "write_note", "arguments": arguments(v)}
            message |= {"content": None, "tool_calls": [{"id": "call_%d" % index, "type": "function", "function": call}]}
        end = "tool_calls" if ask.get("tools") else "stop"
        choices.append({"index": index, "message": message, "logprobs": None, "finish_reason": end})
    return head("chat.completion", ask) | {"choices": choices, "usage": USAGE}


def head(kind, ask):
    return {"id": "chatcmpl-7Qx", "object": kind, "created": 1767225600, "model": ask.get("model")}


def stream(ask, v, style):
    """The events of a streamed answer; the choices take turns."""
    choices = range(ask.get("n") or 1)

    def delta(index, what, end=None):
        choice = {"index": index, "delta": what, "logprobs": None, "finish_reason": end}
        return event(head("chat.completion.chunk", ask) | {"choices": [choice]}, style)

    for index in choices:
        yield delta(index, {"role": "assistant", "content": None if ask.get("tools") else ""})
    if style.mode == "broken":
        yield delta(0, {"content": "so far " + v["EMAIL"][:6]})
        yield delta(0, {"content": v["EMAIL"][6:9]})
        yield event({"error": {"message": "lost the thread at " + v["EMAIL"], "type": "server_error"}}, style)
        return
    for piece in cut(thought(v), 4) if style.think else []:
        yield delta(0, {"reasoning_content": piece})
    if ask.get("tools"):
        for index in choices:
            call = {"index": 0, "id": "call_%d" % index, "type": "function"}
            yield delta(index, {"tool_calls": [call | {"function": {"name": "write_note", "arguments": ""}}]})
        for piece in argument_pieces(v, style.step):
            for index in choices:
                yield delta(index, {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    else:
        for piece in text_pieces(v, style.step):
            for index in choices:
                yield delta(index, {"content": piece})
    for index in choices:
        yield delta(index, {}, "tool_calls" if ask.get("tools") else "stop")
    if (ask.get("stream_options") or {}).get("include_usage"):
        yield event(head("chat.completion.chunk", ask) | {"choices": [], "usage": USAGE}, style)
    if style.note:
        yield ": note for {EMAIL}\n\n: OPENROUTER PROCESSING\n\nevent: {CARD}\nid: {SSN}\nx-{EMAIL}\n\n".format(**v).encode()
    yield event("[DONE]", style)


# ── what is heard ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Recorded:
    """One request as it came."""

    method: str
    path: str
    headers: list
    raw: bytes

    @property
    def body(self):
        coding = dict((name.lower(), value) for name, value in self.headers).get("content-encoding", "")
        return zlib.decompress(self.raw, 31) if coding == "gzip" else self.raw

    def json(self):
        return json.loads(self.body)

    def everything(self):
        """All of it as one text."""
        heads = "\n".join("%s: %s" % pair for pair in self.headers)
        return "%s\n%s\n%s" % (self.path, heads, self.body.decode("utf-8", "replace"))


def words(message):
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def values(ask):
    said = [words(message) for message in ask["messages"] if message["role"] == "user"]
    return INVENTED | dict(LABELLED.findall(said[-1] if said else ""))


# ── the server ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Mock(Served):
    """The server."""

    port: int = 0
    requests: list = field(default_factory=list, repr=False)
    canned: dict = field(default_factory=dict, repr=False)
    gate: threading.Event = field(default_factory=threading.Event, repr=False)
    # Header fields that answers have besides.
    fields: dict = field(default_factory=dict)

    def forget(self):
        self.requests.clear()
        self.canned.clear()
        self.fields.clear()
        self.gate.clear()


class MockHandler(Handler):
    mock: Mock

    def do_any(self):
        body = self.take()
        if self.path == "/__recorded":
            return self.recorded()
        came = Recorded(self.command, self.path, list(self.headers.items()), body)
        self.mock.requests.append(came)
        if self.headers.get("upgrade"):
            self.close_connection = True
            self.send_response(101)
            self.send_header("connection", "upgrade")
            self.send_header("upgrade", self.headers["upgrade"])
            return self.end_headers()
        path = urllib.parse.urlsplit(self.path).path
        if path.endswith("/chat/completions"):
            return self.chat(came.json())
        if path.endswith("/reflect"):
            kind, coding = self.headers.get("content-type"), self.headers.get("content-encoding", "")
            return self.send(200, kind or "text/plain", body, coding)
        status, kind, body, coding, write = self.mock.canned.get(path.rsplit("/", 1)[-1], (404, "text/plain", b"?", "", 0))
        return self.pieces(status, kind, cut(body, write), coding) if write else self.send(status, kind, body, coding)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_any

    def recorded(self):
        if self.command == "DELETE":
            self.mock.forget()
        rows = [
            {"path": r.path, "headers": r.headers, "body": r.body.decode("utf-8", "replace"), "raw": b64(r.raw)}
            for r in self.mock.requests
        ]
        self.send(200, "application/json", json.dumps(rows).encode())

    def send_kinds(self, kinds):
        """One content type, several, or none."""
        for kind in [kinds] if isinstance(kinds, str) else kinds or []:
            self.send_header("content-type", kind)
        for name, value in self.mock.fields.items():
            self.send_header(name, value)

    def send(self, status, kind, body, coding=""):
        self.send_response(status)
        self.send_kinds(kind)
        self.send_header("content-length", str(len(body)))
        if coding:
            self.send_header("content-encoding", coding)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def pieces(self, status, kind, pieces, coding=""):
        """Each piece a chunk of its own (RFC 9112, section 7.1)."""
        self.send_response(status)
        self.send_kinds(kind)
        self.send_header("transfer-encoding", "chunked")
        if coding:
            self.send_header("content-encoding", coding)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def chat(self, ask):
        style = Style.of(ask.get("model", ""))
        v = INVENTED if style.leak else values(ask)
        if style.mode == "refuse":
            told = {"message": "Too busy for: " + " ".join(map(words, ask["messages"])) + text(v), "type": "tokens"}
            return self.send(429, "application/json", json.dumps({"error": told}).encode())
        if not ask.get("stream"):
            coder = Coder(style.enc)
            answer = json.dumps(whole_answer(ask, v, style), ensure_ascii=False).encode()
            kind = style.kind or "application/json"
            return self.send(200, kind != "none" and kind, coder.write(answer) + coder.finish(), style.enc)
        kind = style.kind or "text/event-stream; charset=utf-8"
        return self.pieces(200, kind != "none" and kind, self.written(ask, v, style), style.enc)

    def written(self, ask, v, style):
        coder = Coder(style.enc)
        for n, one in enumerate(stream(ask, v, style)):
            if style.mode == "cut" and n == 6:
                self.wfile.write(b"fff\r\n" + one[: len(one) // 2])
                self.wfile.flush()
                self.close_connection = True
                raise ConnectionAbortedError
            # The first words are out by now: go on only when somebody says that they arrived.
            if style.gate and n == 3:
                self.mock.gate.wait(20)
            coded = coder.write(one)
            yield from cut(coded, style.write) if style.write else [coded]
        if tail := coder.finish():
            yield tail


def b64(raw):
    return base64.b64encode(raw).decode()


Mock.handler = MockHandler


class Replies(MockHandler):
    """Answers with what `mock.reply` makes of a request: a document, or a list of events."""

    def do_any(self):
        came = Recorded(self.command, self.path, list(self.headers.items()), self.take())
        self.mock.requests.append(came)
        # Files have no document.
        said = self.mock.reply(came.json() if came.body[:1] in (b"{", b"[") else {})
        if isinstance(said, dict):
            return self.send(200, "application/json", json.dumps(said).encode())
        kind = "application/x-ndjson" if self.mock.lines else "text/event-stream"
        return self.pieces(200, kind, [self.spelled(one) for one in said])

    do_GET = do_POST = do_any

    def spelled(self, event):
        line = event if isinstance(event, str) else json.dumps(event)
        return (line + "\n" if self.mock.lines else "data: %s\n\n" % line).encode()


class ReplyingMock(Mock):
    handler = Replies
    # Whether events are lines of a stream of JSON.
    lines = False
    reply = None


if __name__ == "__main__":
    with Mock(port=int(sys.argv[1]) if len(sys.argv) > 1 else 9100) as mock:
        print("mock upstream on", mock.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
