"""An upstream that keeps what it is sent, as providers do: responses, conversations, interactions, threads, files and their
batches, and sessions of MCP. What it says repeats all that it has of a conversation, so that a value of an earlier request
comes in an answer to a later one. Only the standard library."""

import itertools
import json
import re
import threading
import urllib.parse

from loopback import Handler, Served


class Provider(Served):
    """The server."""

    def __enter__(self):
        self.forget()
        return super().__enter__()

    def forget(self):
        self.number = itertools.count(1)
        # What is kept, by id; what came, in order; answers of MCP clients, by session.
        self.kept, self.came, self.sessions = {}, [], {}

    def keep(self, kind, text):
        name = "%s_%dq7Zk" % (kind, next(self.number))
        self.kept[name] = text
        return name

    def said(self, *names):
        return " ".join(self.kept[name] for name in names if name in self.kept)


def texts(value):
    """All that is said in a value, in order, but for ids."""
    if isinstance(value, dict):
        told = ("input", "content", "contents", "parts", "text", "items", "messages", "requests", "params", "arguments")
        return " ".join(texts(value[name]) for name in told if name in value)
    if isinstance(value, list):
        return " ".join(map(texts, value))
    return value if isinstance(value, str) else ""


class Answers(Handler):
    mock: Provider

    def send(self, body, kind="application/json", status=200, headers=()):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in [("content-type", kind), ("content-length", str(len(body))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def begin_events(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def event(self, data):
        piece = b"data: %s\n\n" % json.dumps(data).encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.flush()

    def end_events(self):
        self.wfile.write(b"0\r\n\r\n")

    def do_any(self):
        raw = self.take()
        path = urllib.parse.urlsplit(self.path).path
        self.mock.came.append((self.command, path, dict(self.headers.items()), raw.decode("utf-8", "replace")))
        tail = path.split("/v1", 1)[-1].split("/mcp")[0]
        if path.endswith("/mcp"):
            return self.mcp(json.loads(raw) if raw else None)
        segments = [part for part in tail.split("/") if part]
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {}
        return self.api(segments, body, raw.decode("utf-8", "replace"))

    do_GET = do_POST = do_DELETE = do_any

    def api(self, segments, body, raw):
        p = self.mock
        match segments:
            case ["responses"]:
                return self.response(body, p.keep("resp", ""), "response")
            case ["responses", name]:
                return self.replied("response", name)
            case ["interactions"]:
                return self.response(body, p.keep("int", ""), "interaction")
            case ["interactions", name]:
                return self.replied("interaction", name)
            case ["conversations"]:
                return self.send({"id": p.keep("conv", texts(body)), "object": "conversation"})
            case ["conversations", name, "items"] | ["threads", name, "messages"]:
                if self.command == "POST":
                    p.kept[name] += " " + texts(body)
                return self.send({"object": "list", "data": [{"content": [{"type": "text", "text": p.said(name)}]}]})
            case ["threads"]:
                return self.send({"id": p.keep("thread", texts(body))})
            case ["files"]:
                return self.send({"id": p.keep("file", raw), "object": "file"})
            case ["files", name, "content"]:
                return self.send(p.kept[name].encode(), "application/octet-stream")
            case ["batches"]:
                lines = [json.loads(line) for line in p.kept[body["input_file_id"]].splitlines()]
                out = "".join(json.dumps({"response": {"body": {"choices": [{"message": {"content": "re " + texts(line["body"])}}]}}}) + "\n" for line in lines)
                names = {"id": p.keep("batch", ""), "output_file_id": p.keep("file", out)}
                p.kept[names["id"]] = json.dumps(names | {"object": "batch", "status": "completed"})
                return self.send(json.loads(p.kept[names["id"]]) | {"output_file_id": None, "status": "in_progress"})
            case ["batches", name]:
                return self.send(json.loads(p.kept[name]))
            case ["messages", "batches"]:
                name = p.keep("msgbatch", json.dumps([texts(one) for one in body["requests"]]))
                return self.send({"id": name, "type": "message_batch", "processing_status": "in_progress"})
            case ["messages", "batches", name, "results"]:
                lines = [{"result": {"message": {"content": [{"type": "text", "text": "re " + text}]}}} for text in json.loads(p.kept[name])]
                return self.send("".join(json.dumps(line) + "\n" for line in lines).encode(), "application/x-jsonl")
            case ["chat", "completions"] if body.get("deferred"):
                return self.send({"request_id": p.keep("deferred", texts(body))})
            case ["chat", "deferred-completion", name]:
                return self.send({"choices": [{"index": 0, "message": {"content": p.said(name)}}]})
            case ["assistants" | "videos" | "agents" as kind]:
                return self.send({"id": p.keep(kind, body.get("instructions", body.get("prompt"))), "object": kind})
            case ["assistants" | "videos" | "agents", name]:
                return self.send({"id": name, "content": p.said(name)})
            case ["chat", "completions"]:
                answer = {"role": "assistant", "content": "re " + texts(body)}
                return self.send({"id": p.keep("chatcmpl", texts(body)), "choices": [{"index": 0, "message": answer}]})
            case ["chat", "completions", name, "messages"]:
                return self.send({"object": "list", "data": [{"content": p.said(name)}]})
        return self.send({"error": "no such path"}, status=404)

    def response(self, body, name, kind):
        p = self.mock
        conversation = body.get("conversation")
        before = [body.get("previous_%s_id" % kind), conversation["id"] if isinstance(conversation, dict) else conversation]
        files = re.findall(r'"file_id": ?"([^"]+)"', json.dumps(body))
        p.kept[name] = (p.said(*filter(None, before), *files) + " " + texts(body)).strip()
        if before[1]:
            p.kept[before[1]] = p.kept[name]
        if not body.get("stream"):
            return self.replied(kind, name)
        self.begin_events()
        said = "type" if kind == "response" else "event_type"
        self.event({said: kind + ".created", kind: {"id": name, "status": "in_progress"}})
        text = "re " + p.kept[name]
        for at in range(0, len(text), 3):
            delta = {"type": "response.output_text.delta", "item_id": "msg_1", "content_index": 0, "delta": text[at : at + 3]}
            self.event(delta if kind == "response" else {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": text[at : at + 3]}})
        self.event({said: kind + ".completed", kind: self.reply(kind, name)})
        return self.end_events()

    def reply(self, kind, name):
        text = "re " + self.mock.kept[name]
        if kind == "interaction":
            return {"id": name, "steps": [{"type": "model_output", "content": [{"type": "text", "text": text}]}]}
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {"id": name, "object": "response", "created_at": 1, "model": "m", "status": "completed", "parallel_tool_calls": True,
                "tool_choice": "auto", "tools": [], "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}]}

    def replied(self, kind, name):
        return self.send(self.reply(kind, name))

    def mcp(self, message):
        p = self.mock
        session = self.headers.get("mcp-session-id")
        if message is None or "method" not in message:
            if message is not None:
                p.sessions[session][1] = texts(message["result"])
                p.sessions[session][0].set()
            return self.send(b"", status=202)
        result = {"jsonrpc": "2.0", "id": message.get("id")}
        if message["method"] == "initialize":
            name = p.keep("session", "")
            p.sessions[name] = [threading.Event(), ""]
            return self.send(result | {"result": {}}, headers=[("mcp-session-id", name)])
        # The tool asks the client's model, and goes on with what that says.
        self.begin_events()
        ask = {"messages": [{"role": "user", "content": {"type": "text", "text": "Who? " + texts(message["params"])}}]}
        self.event({"jsonrpc": "2.0", "id": 77, "method": "sampling/createMessage", "params": ask})
        p.sessions[session][0].wait(20)
        said = "The client said: " + p.sessions[session][1]
        self.event(result | {"result": {"content": [{"type": "text", "text": said}]}})
        return self.end_events()


Provider.handler = Answers
