"""An analyzer with the API of Presidio's (`POST /analyze`), which finds by patterns what no rule of the gateway finds; and
how it fails, which a test sets. Only the standard library."""

import json
import re
import threading
import time

from loopback import Handler, Served

# Names of projects that look like nothing, and names of employees in lower case, which nothing else takes for names.
PATTERNS = {
    "PROJECT": re.compile(r"\bkestrel \w+(?: \d+)?"),
    "PERSON": re.compile(r"\b(?:joão pereira|ana lima)\b"),
    "URL": re.compile(r"\bnotes\b"),
}


def found(text, entities):
    """As Presidio says it: with more than is needed, and with findings that overlap."""
    findings = []
    for entity, pattern in PATTERNS.items():
        if entities and entity not in entities:
            continue
        for match in pattern.finditer(text):
            place = {"start": match.start(), "end": match.end(), "score": 0.85}
            more = {"analysis_explanation": None, "recognition_metadata": {"recognizer_name": entity.title()}}
            findings.append({"entity_type": entity, **place, **more})
            if entity == "PROJECT":
                findings.append({"entity_type": entity, **place, "end": match.start() + 7, **more})
    return findings


class AnalyzerHandler(Handler):
    mock: "Analyzer"

    def do_POST(self):
        asked = json.loads(self.take())
        analyzer = self.mock
        with analyzer.lock:
            analyzer.asked.append((self.path, asked, dict(self.headers.items())))
            analyzer.now += 1
            analyzer.most = max(analyzer.most, analyzer.now)
        try:
            self.answer(asked, analyzer.mode)
        finally:
            with analyzer.lock:
                analyzer.now -= 1

    def do_GET(self):
        self.mock.gets += 1
        self.say(200, [])

    def answer(self, asked, mode):
        findings = found(asked["text"], asked.get("entities"))
        place = {"entity_type": "PROJECT", "score": 0.9}
        match mode:
            case "ok":
                time.sleep(self.mock.delay)
                self.say(200, findings)
            case "slow":
                self.mock.go_on.wait(20)
                self.say(200, findings)
            case "drip":
                self.send_response(200)
                self.send_header("content-length", "1000")
                self.end_headers()
                for _ in range(400):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.05)
            case "status":
                self.say(500, {"error": asked["text"]})
            case "garbage":
                self.say(200, b"<html>" + asked["text"].encode())
            case "object":
                self.say(200, {"findings": findings})
            case "beyond":
                self.say(200, [place | {"start": 0, "end": len(asked["text"]) + 1}])
            case "far":
                self.say(200, [place | {"start": 0, "end": 2**64 - 1}])
            case "backwards":
                self.say(200, [place | {"start": 2, "end": 1}])
            case "negative":
                self.say(200, [place | {"start": -1, "end": 1}])
            case "score":
                self.say(200, b'[{"entity_type":"PROJECT","start":0,"end":1,"score":NaN}]')
            case "many":
                self.say(200, [place | {"start": 0, "end": 1}] * 20_000)
            case "huge":
                self.say(200, b"[" + b" " * (6 << 20) + b"]")
            case "deep":
                self.say(200, b"[" * 100_000)
            case "cut":
                self.send_response(200)
                self.send_header("content-length", "1000")
                self.end_headers()
                self.wfile.write(b"[{")
                self.close_connection = True
            case "redirect":
                self.send_response(307)
                self.send_header("location", self.mock.url + "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()
            case "gzip":
                self.say(200, b"\x1f\x8b\x08\x00")

    def say(self, status, body):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


# Every way to give no answer that can be used.
HOSTILE = ["status", "garbage", "object", "beyond", "far", "backwards", "negative", "score", "many", "huge", "deep", "cut"]
HOSTILE += ["redirect", "gzip"]


class Analyzer(Served):
    """The server. `mode` is how it answers, `asked` what it was asked."""

    handler = AnalyzerHandler

    def __init__(self):
        self.lock, self.go_on = threading.Lock(), threading.Event()
        self.begin()

    def begin(self):
        self.mode, self.delay, self.asked, self.now, self.most, self.gets = "ok", 0, [], 0, 0, 0
        self.go_on.clear()

    def texts(self):
        return [asked["text"] for _, asked, _ in self.asked]
