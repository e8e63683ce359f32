"""Ids that servers of no known protocol give lead back to what was issued: in bodies, paths, queries and heads."""

import json

import pytest
from gateway import MINIMAL, Gateway
from mock_upstream import Mock, MockHandler, ReplyingMock
from test_conversations import ANOTHER, CARD, CONFIG, MAIL, SSN, TEXT, VALUES, call, has_all, has_none, post

SAYS = {"kind": "message", "parts": [{"kind": "text", "text": TEXT}]}
ANYBODYS = [
    ("replicate", "/v1/predictions", {"input": {"prompt": TEXT}}, {"id": "gm3qorzdhgbf"}, "/v1/predictions/gm3qorzdhgbf", None),
    ("fal", "/fal-ai/llm", {"prompt": TEXT}, {"request_id": "80e732af-660e"}, "/fal-ai/llm/requests/80e732af-660e", None),
    ("dify", "/v1/chat-messages", {"query": TEXT}, {"conversation_id": "45701982-8118"}, "/v1/chat-messages", {"conversation_id": "45701982-8118"}),
    ("flowise", "/api/v1/prediction/f", {"question": TEXT}, {"sessionId": "s-1a2b3c4d"}, "/api/v1/prediction/f", {"overrideConfig": {"sessionId": "s-1a2b3c4d"}}),
    ("a2a", "/a2a", {"method": "message/send", "params": {"message": SAYS}}, {"result": {"id": "363422be-b0f9"}}, "/a2a", {"method": "tasks/get", "params": {"id": "363422be-b0f9"}}),
    ("dify's messages", "/v1/chat-messages", {"query": TEXT}, {"conversation_id": "45701982-8118"}, "/v1/messages?conversation_id=45701982-8118", None),
    ("a query", "/ask", {"q": TEXT}, {"execution": {"id": "80e732af-660e"}}, "/answer?limit=10&id=80e732af-660e", None),
    ("a thread", "/api/workspace/w/thread/t-1a2b3c/chat", {"message": TEXT}, {"ok": 1}, "/api/workspace/w/thread/t-1a2b3c/chat", {"message": "what?"}),
]  # fmt: skip


@pytest.mark.parametrize("path, body, said, later, asks", [row[1:] for row in ANYBODYS], ids=[row[0] for row in ANYBODYS])
def test_ids_of_any_server_lead_back_to_what_was_said(path, body, said, later, asks):
    with ReplyingMock() as mock, Gateway(mock.url, MINIMAL + CONFIG) as gateway:
        mock.reply = lambda _: said
        post(gateway, "/one" + path, body)
        seen = mock.requests[-1].body.decode()
        mock.reply = lambda _: {"text": seen}
        method = "GET" if asks is None else "POST"
        has_all(call(gateway, method, "/one" + later, asks), MAIL, CARD, SSN)
        has_none(call(gateway, method, "/one" + later, asks, ANOTHER), *VALUES)
        has_none(call(gateway, method, "/two" + later, asks), *VALUES)


def test_urls_that_lead_to_the_server_lead_here():
    """Where its answer will be: fal and Replicate say it in their first answer, many say where the next page is."""
    with ReplyingMock() as mock, Gateway(mock.url, MINIMAL + CONFIG) as gateway:
        there = mock.url + "/one"
        told = {
            "request_id": "80e732af-660e",
            "status_url": there + "/fal-ai/llm/requests/80e732af-660e/status",
            "responseUrl": there + "/fal-ai/llm/requests/80e732af-660e?logs=1",
            "urls": {"get": there + "/v1/predictions/gm3qorzdhgbf", "web": "https://other.example/p/1"},
            "links": [{"rel": "next", "href": there + "/v1/x?page=2"}],
            "next": "/v1/x?page=2",
            "text": "see " + there + "/a, or " + there + "/b",
            "output": there + "/c",
        }
        mock.reply = lambda _: told
        answer = post(gateway, "/one/fal-ai/llm", {"prompt": TEXT})
        here = "http://127.0.0.1:%d/one" % gateway.port
        led = json.loads(json.dumps(told).replace(there, here)) | {name: told[name] for name in ("text", "output")}
        assert answer == led
        seen = mock.requests[-1].body.decode()
        mock.reply = lambda _: {"text": seen}
        for url in (led["status_url"], led["responseUrl"]):
            has_all(call(gateway, "GET", url.removeprefix(here.removesuffix("/one"))), MAIL, CARD, SSN)
        # A protocol that is known says where it names any.
        mock.reply = lambda _: {"choices": [{"message": {"role": "assistant", "content": "x", "url": mock.url + "/a"}}]}
        assert mock.url + "/a" in post(gateway, "/one/v1/chat/completions", {"model": "m", "messages": []})["choices"][0]["message"]["url"]


@pytest.mark.parametrize("field", ["location", "operation-location"])
def test_what_an_answers_head_leads_to_is_restored(field):
    class Begins(MockHandler):
        def do_POST(self):
            self.mock.asked = self.take().decode()
            self.send_response(202)
            self.send_header(field, "https://there.example/operations/80e732af-660e?api-version=1")
            self.send_header("content-length", "0")
            self.end_headers()

        def do_GET(self):
            self.send(200, "application/json", json.dumps({"text": self.mock.asked}).encode())

    class BeginsMock(Mock):
        handler = Begins

    with BeginsMock() as mock, Gateway(mock.url, MINIMAL + CONFIG) as gateway:
        assert call(gateway, "POST", "/one/analyze", {"q": TEXT}).status == 202
        has_all(call(gateway, "GET", "/one/operations/80e732af-660e?api-version=1"), MAIL, CARD, SSN)
        has_none(call(gateway, "GET", "/one/operations/80e732af-660e?api-version=1", who=ANOTHER), *VALUES)


