"""The upstream of nodes.py, `nodes_mock.py PORT`: it repeats what it hears, in OpenAI's chat completions (whole and streamed) and
responses, and counts by account. `/told` says what it has counted. A request's number stands in its `seed`: by it the values are
known that nobody may see here."""

import asyncio
import collections
import json
import sys
import time

# Requests of one account have the numbers from this many times its own on.
ACCOUNT = 10_000_000
# Accounts whose rate is looked at.
RATED = range(20, 30)


def address(number):
    """The e-mail address that only the caller of this request has."""
    return "mara.q%d@harbour-post.com" % number


def card(number):
    """The card that only the caller of this request has. Of so many that none is by chance what another one was replaced by."""
    digits = "4%014d" % (number * 7_919 % 10**14)
    doubled = [int(digit) * 2 if at % 2 == 0 else int(digit) for at, digit in enumerate(digits)]
    digits += str(-sum(one - 9 if one > 9 else one for one in doubled) % 10)
    return " ".join(digits[at : at + 4] for at in range(0, 16, 4))


def tokens_of(number):
    """The tokens of a request and of its answer."""
    return 20 + number % 13, 5 + number % 7


class Counted:
    """What was heard, by account."""

    def __init__(self):
        self.requests, self.answered, self.input, self.output = (collections.Counter() for _ in range(4))
        self.raw, self.samples, self.minutes, self.twice = 0, [], collections.Counter(), 0
        self.kept = collections.OrderedDict()
        # When the requests came of those accounts whose rate is looked at.
        self.times = collections.defaultdict(list)
        self.seen = set()

    def told(self):
        names = ("requests", "answered", "input", "output", "minutes")
        return {name: dict(getattr(self, name)) for name in names} | {
            "raw": self.raw, "samples": self.samples, "twice": self.twice, "times": self.times
        }


counted = Counted()


class Upstream(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.read = transport, b""

    def data_received(self, data):
        self.read += data
        while True:
            head, found, rest = self.read.partition(b"\r\n\r\n")
            if not found:
                return
            lower = head.lower()
            length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in lower else 0
            if b"transfer-encoding" in lower:
                raise ValueError("a body without its length")
            if len(rest) < length:
                return
            self.read = rest[length:]
            self.answer(head.split(b" ", 2)[1].decode(), rest[:length])

    def answer(self, path, body):
        if path == "/told":
            return self.send(json.dumps(counted.told()).encode())
        ask = json.loads(body)
        number = ask["seed"]
        account = number // ACCOUNT
        counted.requests[account] += 1
        counted.minutes["%d:%d" % (account, time.time() // 60)] += 1
        if account in RATED:
            counted.times[account].append(time.time())
        counted.twice += number in counted.seen
        counted.seen.add(number)
        if address(number).encode() in body or card(number).encode() in body:
            counted.raw += 1
            counted.samples = (counted.samples + [body.decode()])[-3:]
        tokens = tokens_of(number)
        if path.endswith("/responses"):
            answer = self.response(ask, number, tokens)
        elif ask.get("stream"):
            answer = self.stream(ask["messages"][-1]["content"], number, tokens, ask.get("stream_options") or {})
        else:
            answer = self.chat(ask["messages"][-1]["content"], number, tokens)
        counted.answered[account] += 1
        counted.input[account] += tokens[0]
        counted.output[account] += tokens[1]
        self.send(answer, b"text/event-stream" if ask.get("stream") else b"application/json")

    def send(self, body, kind=b"application/json"):
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind, len(body), body))

    def chat(self, heard, number, tokens):
        choice = {"index": 0, "message": {"role": "assistant", "content": heard}, "finish_reason": "stop"}
        return json.dumps(self.named("chat.completion", number) | {"choices": [choice], "usage": self.usage(tokens)}).encode()

    def stream(self, heard, number, tokens, options):
        chunk = self.named("chat.completion.chunk", number)
        pieces = [heard[at : at + 16] for at in range(0, len(heard), 16)]
        rows = [chunk | {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
        rows.append(chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if options.get("include_usage"):
            rows.append(chunk | {"choices": [], "usage": self.usage(tokens)})
        return b"".join(b"data: " + json.dumps(row).encode() + b"\n\n" for row in rows) + b"data: [DONE]\n\n"

    def response(self, ask, number, tokens):
        """It keeps what it heard, and says that again to who goes on with it."""
        kept, name = counted.kept, "resp_%024x" % number
        kept[name] = ask["input"]
        while len(kept) > 10_000:
            kept.popitem(last=False)
        heard = kept.get(ask.get("previous_response_id"), ask["input"])
        text = {"type": "output_text", "text": heard, "annotations": []}
        said = {"type": "message", "id": "msg_%024x" % number, "role": "assistant", "status": "completed", "content": [text]}
        used = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}
        more = {"object": "response", "created_at": 1, "status": "completed", "model": "bench", "output": [said], "usage": used}
        return json.dumps({"id": name} | more).encode()

    def named(self, kind, number):
        return {"id": "chatcmpl-%024x" % number, "object": kind, "created": 1, "model": "bench", "system_fingerprint": "fp_%d" % number}

    def usage(self, tokens):
        return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}


async def serve(port):
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
