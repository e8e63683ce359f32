"""An upstream of every LLM protocol: it answers on a protocol's path with the events of `tests/protocols`, in which it says
the values that it was given (`EMAIL: … |`, as in mock_upstream) beside values of its own.

What it does beyond that is its style, which a test sets: how long the pieces are, the coding, an error, an end in the
middle. `said` makes it say these values whatever it hears: asked so without a gateway, it shows what a caller is to see.
"""

import json
import re
import time
import urllib.parse
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import brotli
from loopback import Served
from mock_upstream import INVENTED, LABELLED, MockHandler, Recorded

FOLDER = Path(__file__).resolve().parents[1] / "protocols"
MINE = {
    "EMAIL": "maria.lopez+rx@clinic-mail.com",
    "PHONE": "+1 650 253 0000",
    "SSN": "536-22-8726",
    "CARD": "4012 8888 8888 1881",
}
PROMPT = "Sum up the ticket. EMAIL: %(EMAIL)s | PHONE: %(PHONE)s | SSN: %(SSN)s | CARD: %(CARD)s | Order 1001." % MINE
MASKED = {kind: "*" * len(value) for kind, value in INVENTED.items()}
TEXTS = json.loads((FOLDER / "texts.json").read_text())
PROTOCOLS = {file.stem: json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json")) if file.stem != "texts"}


@dataclass
class Style:
    """How it answers."""

    step: int = 4
    turns: bool = True  # channels of a step take turns
    write: int = 0
    coding: str = ""
    error: str = ""  # "whole": instead of the answer; "stream": in the middle of it
    cut: bool = False
    delay: float = 0
    shape: str = ""
    said: dict | None = None
    own: dict = field(default_factory=lambda: dict(INVENTED))


# ── what is said ────────────────────────────────────────────────────────────────────────────────────────────────────


def texts(heard, own):
    """The texts by their letters: what was heard, beside values of the model's own."""
    letters = {kind[0]: value for kind, value in heard.items()} | {kind[0].lower(): value for kind, value in own.items()}
    letters["X"] = letters["E"].replace("@", "\\u0040")
    return {name: re.sub("%([A-Za-z])", lambda match: letters[match[1]], text) for name, text in TEXTS.items()}


def filled(template, said, piece=None, number=0):
    """A template with its texts in it; see tests/laws/shapes.rs."""
    match template:
        case "#":
            return number
        case "{O}":
            return json.loads(said["A"])
        case "{T}" | "{A}" | "{H}":
            return said[template[1]]
        case "<T>" | "<A>" | "<H>":
            return piece
        case list():
            return [filled(item, said, piece, number) for item in template]
        case {"?": within, **more} if not more:
            return filled(within, said, piece, number)
        case dict():
            return {key: filled(item, said, piece, number) for key, item in template.items()}
    return template


def kind_of(template):
    """The letter of the text of which a template takes pieces."""
    return re.search("<([TAH])>", json.dumps(template))[1]


def documents(protocol, said, style):
    """A streamed answer's documents, in order."""
    number = 0
    for step in protocol["stream"]:
        [(what, body)] = step.items()
        if what == "pieces":
            text = lambda template: said[kind_of(template)]
            queues = [(one, iter(range(0, len(text(one)), style.step))) for one in body]
            while queues:
                for queue in list(queues) if style.turns else queues[:1]:
                    template, places = queue
                    if (at := next(places, None)) is None:
                        queues.remove(queue)
                        continue
                    yield filled(template, said, text(template)[at : at + style.step], number)
                    number += 1
                    if style.error == "stream" and at > 60:
                        yield filled(protocol["error"], said, None, number)
                        return
        else:
            yield filled(body, said, None, number)
            number += 1


def rows(protocol, said, style):
    """The same as bytes, each what its protocol sends at once."""
    line = "\r\n" if protocol.get("crlf") else "\n"
    first = True
    for document in documents(protocol, said, style):
        row = json.dumps(document, ensure_ascii=False)
        match protocol["frame"]:
            case "lines":
                yield (row + "\n").encode()
            case "array":
                yield ((",\r\n" if not first else "[") + row).encode()
            case _:
                name = protocol.get("named")
                name = document.get("type", document.get("event_type", "error")) if name is True else name
                head = "event: %s%s" % (name, line) if name else ""
                yield (head + "data: " + row + line * 2).encode()
        first = False
    if protocol["frame"] == "array":
        yield b"]\n"
    elif protocol.get("end") and style.error != "stream":
        yield ("data: " + protocol["end"] + line * 2).encode()


def leaves(value):
    """All strings of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)


def heard(ask):
    """The labelled values of a request: those that stand last."""
    return dict(LABELLED.findall("\n".join(leaves(ask))))


# ── the server ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Upstream(Served):
    """The server."""

    style: Style = field(default_factory=Style)
    requests: list = field(default_factory=list, repr=False)
    fields: dict = field(default_factory=dict)
    handler: type | None = None

    def __enter__(self):
        self.handler = self.handler or Answers
        return super().__enter__()

    def begin(self, **style):
        """Forgets what came, and answers in this style."""
        self.requests.clear()
        self.style = Style(**style)


class Answers(MockHandler):
    """Answers on the paths of all protocols."""

    mock: Upstream

    def do_any(self):
        came = Recorded(self.command, self.path, list(self.headers.items()), self.take())
        self.mock.requests.append(came)
        self.answer(came)

    do_GET = do_POST = do_DELETE = do_any

    def answer(self, came):
        style = self.mock.style
        ask = came.json() if came.body else {}
        protocol = self.protocol(style, ask)
        if protocol is None:
            return self.send(404, "application/json", b'{"error":{"message":"no such path"}}')
        values = style.said or INVENTED | heard(ask)
        said = texts(values, MASKED if style.said else style.own)
        if style.error == "whole":
            return self.say(429, filled(protocol.get("error", {"message": "{T}"}), said))
        if not self.streams(protocol, ask):
            return self.say(200, filled(protocol["whole"], said))
        kinds = {"lines": "application/x-ndjson", "array": "application/json"}
        kind = kinds.get(protocol["frame"], "text/event-stream")
        return self.pieces(200, kind, self.written(rows(protocol, said, style)), style.coding)

    def protocol(self, style, ask):
        """That of the request's path."""
        path, _, query = self.path.partition("?")
        path = urllib.parse.unquote(path)
        if style.shape:
            return PROTOCOLS[style.shape]
        known = [one for one in PROTOCOLS.values() if one.get("default", True)]
        same = [one for one in known if one["path"].partition("?")[0] == path]
        exact = [one for one in same if one["path"].partition("?")[2] in query]
        return max(exact, key=lambda one: len(one["path"]), default=None)

    def streams(self, protocol, ask):
        if "stream" not in protocol:
            return False
        if protocol["frame"] == "lines" and self.path.startswith("/api/"):
            return ask.get("stream", True)
        return ask.get("stream", False) or "whole" not in protocol

    def say(self, status, document):
        body = Coder(self.mock.style.coding).all(json.dumps(document, ensure_ascii=False).encode())
        self.send(status, "application/json", body, self.mock.style.coding)

    def written(self, all_rows):
        """In the pieces and the coding of the style; the end of the connection where it is to be cut."""
        style = self.mock.style
        coder = Coder(style.coding)
        for n, row in enumerate(all_rows):
            if style.delay:
                time.sleep(style.delay)
            if style.cut and n == 24:
                self.wfile.write(b"fff\r\n" + coder.write(row[: len(row) // 2]))
                self.wfile.flush()
                self.close_connection = True
                raise ConnectionAbortedError
            coded = coder.write(row)
            width = style.write or len(coded) or 1
            yield from (coded[at : at + width] for at in range(0, len(coded), width))
        if tail := coder.finish():
            yield tail


class Coder:
    """A content coding that lets every event out at once."""

    def __init__(self, name):
        self.zip = zlib.compressobj(6, zlib.DEFLATED, 31) if name == "gzip" else None
        self.br = brotli.Compressor() if name == "br" else None

    def write(self, data):
        if self.zip:
            return self.zip.compress(data) + self.zip.flush(zlib.Z_SYNC_FLUSH)
        return self.br.process(data) + self.br.flush() if self.br else data

    def finish(self):
        return self.zip.flush() if self.zip else self.br.finish() if self.br else b""

    def all(self, data):
        return self.write(data) + self.finish()
