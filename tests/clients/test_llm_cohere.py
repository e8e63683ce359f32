"""Cohere's own client, version 2: documents, results of tools and citations of both, whole and streamed; datasets and batches."""

import json
import re

import cohere
import pytest
from gateway import EVERY_PATH, MINIMAL, Gateway
from llm_upstream import INVENTED, Answers, Upstream

MAIL, CARD, NAME, PHONE = "maria.lopez+rx@clinic-mail.com", "4012 8888 8888 1881", "Castellanos", "+1 650 253 0000"
VALUES = (MAIL, CARD, PHONE)
TICKET = 'Ticket of %s, card %s, "quoted".' % (MAIL, CARD)
DOCUMENTS = ["Plain: call %s" % PHONE, {"id": "doc-1", "data": {"title": "Ticket", "snippet": TICKET, "number": 4012888888881881}}]
TOOL = {"type": "function", "function": {"name": "Jordan", "description": "Looks up " + MAIL, "parameters": {"type": "object", "properties": {
    "mail": {"type": "string", "enum": ["desk@harbour-post.com", "Jordan"]}}, "required": ["mail"]}}}
CALL = {"id": "Jordan_k3v9qw2z7x", "type": "function", "function": {"name": "Jordan", "arguments": json.dumps({"mail": MAIL})}}
RESULT = [{"type": "document", "document": {"id": "res-1", "data": json.dumps({"owner": MAIL, "card": CARD})}}]
MESSAGES = [
    {"role": "system", "content": "Be kind to " + MAIL},
    {"role": "user", "content": [{"type": "text", "text": "Who is %s?" % MAIL}]},
    {"role": "assistant", "tool_plan": "I look up " + MAIL, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": CALL["id"], "content": RESULT},
]


def sources(ask):
    """What is cited, as it came: a document of the request and a tool's result."""
    told = ask["documents"][1]["data"] | {"id": "doc-1"}
    output = json.loads(ask["messages"][3]["content"][0]["document"]["data"])
    return [{"type": "document", "id": "doc-1", "document": told}, {"type": "tool", "id": "Jordan_k3v9qw2z7x:0", "tool_output": output}]


def cut(text, size=3):
    return [text[at : at + size] for at in range(0, len(text), size)]


class Scripted(Answers):
    """Says what it was told, in every channel."""

    def answer(self, came):
        ask = came.json()
        mail = ask["messages"][1]["content"][0]["text"][7:-1]
        text = "It is %s, and %s of mine." % (mail, INVENTED["EMAIL"])
        plan, thinking = "I ask for " + mail, "Hm, " + mail
        arguments = json.dumps({"mail": mail, "to": "desk@harbour-post.com"})
        cited = {"start": 6, "end": 6 + len(mail), "text": mail, "sources": sources(ask), "type": "TEXT_CONTENT", "content_index": 1}
        call = {"id": "Jordan_8fj2mdk3nq", "type": "function", "function": {"name": "Jordan", "arguments": arguments}}
        usage = {"billed_units": {"input_tokens": 12, "output_tokens": 30}, "tokens": {"input_tokens": 12, "output_tokens": 30}}
        if not ask.get("stream"):
            content = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": text}]
            message = {"role": "assistant", "tool_plan": plan, "tool_calls": [call], "content": content, "citations": [cited]}
            whole = {"id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "finish_reason": "TOOL_CALL", "message": message, "usage": usage}
            return self.send(200, "application/json", json.dumps(whole).encode())
        events = [{"type": "message-start", "id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}}}]
        say = lambda kind, index=None, **message: events.append({"type": kind} | ({} if index is None else {"index": index}) | {"delta": {"message": message}})
        for piece in cut(plan):
            say("tool-plan-delta", tool_plan=piece)
        say("tool-call-start", 0, tool_calls=call | {"function": {"name": "Jordan", "arguments": ""}})
        for piece in cut(arguments):
            say("tool-call-delta", 0, tool_calls={"function": {"arguments": piece}})
        events.append({"type": "tool-call-end", "index": 0})
        for index, (kind, said) in enumerate([("thinking", thinking), ("text", text)]):
            say("content-start", index, content={"type": kind, kind: ""})
            for piece in cut(said):
                say("content-delta", index, content={kind: piece})
            if kind == "text":
                # As it comes while the text goes on.
                say("citation-start", 0, citations=cited)
                events.append({"type": "citation-end", "index": 0})
            events.append({"type": "content-end", "index": index})
        events.append({"type": "message-end", "id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}})
        rows = [b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode()) for event in events]
        self.pieces(200, "text/event-stream", [*rows, b"data: [DONE]\n\n"])


@pytest.fixture(scope="module")
def ends():
    with Upstream(handler=Scripted) as upstream, Gateway(upstream.url, EVERY_PATH) as gateway:
        yield gateway, upstream


def client(gateway, prefix=""):
    return cohere.ClientV2(api_key="sk-caller", base_url=gateway.url + prefix, timeout=20, max_retries=0)


def ask(gateway, streams):
    """What the client made of an answer, by its channels."""
    asked = {"model": "command-a-03-2025", "messages": MESSAGES, "documents": DOCUMENTS, "tools": [TOOL]}
    if not streams:
        message = client(gateway).chat(**asked).model_dump(mode="json")["message"]
        by = {one["type"]: one for one in message["content"]}
        call, [citation] = message["tool_calls"][0], message["citations"]
        return by["text"]["text"], by["thinking"]["thinking"], message["tool_plan"], call["function"], citation
    said, call, citation = dict.fromkeys(("text", "thinking", "tool_plan", "arguments"), ""), {}, None
    for event in client(gateway).chat_stream(**asked):
        event = event.model_dump(mode="json")
        message = (event.get("delta") or {}).get("message") or {}
        match event["type"]:
            case "tool-plan-delta":
                said["tool_plan"] += message["tool_plan"]
            case "tool-call-start":
                call = message["tool_calls"]["function"]
            case "tool-call-delta":
                said["arguments"] += message["tool_calls"]["function"]["arguments"]
            case "content-delta":
                for kind in ("text", "thinking"):
                    said[kind] += message["content"].get(kind) or ""
            case "citation-start":
                citation = message["citations"]
    return said["text"], said["thinking"], said["tool_plan"], call | {"arguments": said["arguments"]}, citation


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_every_channel_says_the_callers_values_and_none_of_the_models(ends, streams):
    gateway, upstream = ends
    upstream.begin()
    text, thinking, plan, call, citation = ask(gateway, streams)
    [came] = upstream.requests
    for value in (*VALUES, "4012888888881881"):
        assert value not in came.everything(), value
    # What the program has named stays as it is.
    sent = came.json()
    assert sent["tools"][0]["function"]["parameters"] == TOOL["function"]["parameters"] and sent["model"] == "command-a-03-2025"
    assert sent["messages"][2]["tool_calls"][0]["id"] == sent["messages"][3]["tool_call_id"] == CALL["id"]
    assert json.loads(sent["messages"][2]["tool_calls"][0]["function"]["arguments"]).keys() == {"mail"}
    assert text == "It is %s, and %s of mine." % (MAIL, "*" * len(INVENTED["EMAIL"]))
    assert (thinking, plan) == ("Hm, " + MAIL, "I ask for " + MAIL)
    assert call["name"] == "Jordan" and json.loads(call["arguments"]) == {"mail": MAIL, "to": "desk@harbour-post.com"}
    assert citation["text"] == MAIL == text[citation["start"] : citation["end"]]
    document, tool = citation["sources"]
    assert document["document"] == DOCUMENTS[1]["data"] | {"id": "doc-1"} and tool["tool_output"] == {"owner": MAIL, "card": CARD}
    assert document["id"] == "doc-1"


# ── version 1 ───────────────────────────────────────────────────────────────────────────────────────────────────────

OLD = [{"id": "doc-1", "title": "Ticket", "snippet": TICKET}]


class First(Answers):
    """Says what it was told, as version 1 has it."""

    def answer(self, came):
        ask = came.json()
        mail = ask["message"][7:-1]
        text = "It is %s, and %s of mine." % (mail, INVENTED["EMAIL"])
        cited = {"start": 6, "end": 6 + len(mail), "text": mail, "document_ids": ["doc-1"]}
        query = {"text": "who is " + mail, "generation_id": "g-77aa88bb"}
        turns = [{"role": "USER", "message": ask["message"]}, {"role": "CHATBOT", "message": text}]
        whole = {"response_id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "generation_id": "g-11aa22bb", "text": text, "finish_reason": "COMPLETE", "chat_history": turns,
                 "citations": [cited], "documents": ask["documents"], "search_queries": [query], "meta": {"billed_units": {"input_tokens": 3, "output_tokens": 4}}}
        if not ask.get("stream"):
            return self.say(200, whole)
        events = [{"event_type": "stream-start", "generation_id": "g-11aa22bb"}, {"event_type": "search-queries-generation", "search_queries": [query]}]
        events += [{"event_type": "search-results", "search_results": [{"search_query": query, "connector": {"id": ""}, "document_ids": ["doc-1"]}], "documents": ask["documents"]}]
        events += [{"event_type": "text-generation", "text": piece} for piece in cut(text)]
        events += [{"event_type": "citation-generation", "citations": [cited]}, {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": whole}]
        self.pieces(200, "application/stream+json", [(json.dumps({"is_finished": event is events[-1]} | event) + "\n").encode() for event in events])


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_the_first_version_too(streams):
    with Upstream(handler=First) as upstream, Gateway(upstream.url, EVERY_PATH) as gateway:
        old = cohere.Client(api_key="sk-caller", base_url=gateway.url, timeout=20, max_retries=0)
        asked = {"model": "command-r-08-2024", "message": "Who is %s?" % MAIL, "documents": OLD}
        said, documents, citations, queries = "", [], [], []
        if streams:
            for event in old.chat_stream(**asked):
                said += event.text if event.event_type == "text-generation" else ""
                documents += event.documents if event.event_type == "search-results" else []
                citations += event.citations if event.event_type == "citation-generation" else []
                queries += event.search_queries if event.event_type == "search-queries-generation" else []
                answer = event.response if event.event_type == "stream-end" else None
        else:
            answer = old.chat(**asked)
        wanted = "It is %s, and %s of mine." % (MAIL, "*" * len(INVENTED["EMAIL"]))
        assert answer.text == wanted == answer.chat_history[1].message and said in ("", wanted)
        for one in [*answer.citations, *citations]:
            assert one.text == MAIL == answer.text[one.start : one.end] and one.document_ids == ["doc-1"]
        assert [*answer.documents, *documents] == OLD * (2 if streams else 1)
        assert {one.text for one in [*answer.search_queries, *queries]} == {"who is " + MAIL}
        assert answer.chat_history[0].message == asked["message"]
        assert not [value for value in VALUES for came in upstream.requests if value in came.everything()]


# ── datasets, and batches of them ───────────────────────────────────────────────────────────────────────────────────


class Storing(Answers):
    """Keeps one dataset, and makes another of it."""

    rows = b""

    def answer(self, came):
        path = self.path.partition("?")[0]
        match came.method, re.sub("ds-[0-9a-z]+|batch-[0-9a-z]+", "*", path):
            case "POST", "/v1/datasets":
                self.mock.rows = re.search(rb'\r\n\r\n(\{.*?)\r\n--', came.body, re.S)[1]
                return self.say(200, {"id": "ds-1k4q9z7x"})
            case "GET", "/v1/datasets/*":
                said = [row.replace("ask", "re") for row in self.mock.rows.decode().splitlines()]
                part = {"id": "part-1", "name": "p", "url": SIGNED, "index": 0, "samples": said}
                return self.say(200, {"dataset": {"id": path.rsplit("/", 1)[1], "name": "Jordan", "created_at": "2026-11-26T10:00:00Z", "updated_at": "2026-11-26T10:00:00Z", "dataset_type": "batch-chat-v2-input", "validation_status": "validated", "dataset_parts": [part]}})
            case ("POST", "/v2/batches") | ("GET", "/v2/batches/*"):
                batch = {"id": "batch-8d3k2m1n", "name": "nightly", "input_dataset_id": "ds-1k4q9z7x", "model": "command-a-03-2025", "status": "BATCH_STATUS_COMPLETED"}
                return self.say(200, {"batch": batch | ({"output_dataset_id": "ds-7x2p0w5v"} if came.method == "GET" else {})})
        self.send(404, "application/json", b'{"message":"no such path"}')


# Of the storage, to which the client goes by itself.
SIGNED = "https://storage.googleapis.com/cohere-user/part-000.avro?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=900&X-Goog-Signature=" + "3f9a8b7c" * 16

ROUTES = MINIMAL + """
[upstreams.cohere]
peers = ["{upstream}"]
""" + "".join("""
[[routes]]
name = "%s"
path = "/%s"
strip_prefix = true
upstream = "cohere"
auth = "none"
redact = {{}}
%s
""" % (name, name, more) for name, more in (("named", 'provider = "cohere"'), ("auto", "")))


@pytest.fixture(scope="module")
def storing():
    with Upstream(handler=Storing) as upstream, Gateway(upstream.url, ROUTES) as gateway:
        yield gateway, upstream


@pytest.mark.parametrize("route", ["named", "auto"])
def test_what_a_dataset_had_comes_back_in_what_is_said_of_it_and_of_its_batch(storing, route, tmp_path):
    gateway, upstream = storing
    upstream.begin()
    rows = tmp_path / "rows.jsonl"
    body = {"model": "command-a-03-2025", "messages": [{"role": "user", "content": "ask " + TICKET}], "tools": [TOOL]}
    rows.write_text(json.dumps({"custom_id": "row-1", "body": body}) + "\n")
    of = client(gateway, "/" + route)
    with rows.open("rb") as data:
        made = of.datasets.create(name="tickets", type="batch-chat-v2-input", data=data)
    assert made.id == "ds-1k4q9z7x"
    sent = json.loads(upstream.rows)
    assert not [value for value in VALUES if value in json.dumps(sent)] and sent["custom_id"] == "row-1"
    assert sent["body"]["tools"][0]["function"]["parameters"] == TOOL["function"]["parameters"]
    batch = of.batches.create(request={"name": "nightly", "input_dataset_id": made.id, "model": "command-a-03-2025"}).batch
    assert (batch.id, batch.model) == ("batch-8d3k2m1n", "command-a-03-2025")
    done = of.batches.retrieve(batch.id).batch
    assert (done.output_dataset_id, done.status) == ("ds-7x2p0w5v", "BATCH_STATUS_COMPLETED")
    for dataset in (made.id, done.output_dataset_id):
        [part] = of.datasets.get(dataset).dataset.dataset_parts
        assert part.url == SIGNED
        [sample] = part.samples
        assert json.loads(sample)["body"]["messages"][0]["content"] == "re " + TICKET
    assert not [value for value in VALUES for came in upstream.requests if value in came.everything()]
