"""The callers of nodes.py: each has values of its own in every request, and looks whether it gets them back and nobody else's."""

import asyncio
import collections
import json
import re
import time
import urllib.parse

from load import Http1, Lost
from nodes_mock import ACCOUNT, address, card

# Nobody waits longer.
PATIENCE = 40
FOX = "The quick brown fox jumps over the lazy dog. "
ANYBODY = re.compile(r"mara\.q(\d+)@harbour-post\.com")


# It takes a second to clean.
LARGE = b"".join(b"On day %d mara.q%d@harbour-post.com wrote that %s\n" % (n, n, FOX.encode()) for n in range(60_000))


class Connection(Http1):
    """One to the balancer."""

    def why(self, error):
        return "cut off within the answer" if self.read else "closed without an answer"


def request(method, path, token, body=b"", kind="application/json", caller="127.1.1.1"):
    head = "%s %s HTTP/1.1\r\nhost: nodes\r\nx-caller: %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n"
    key = "authorization: Bearer %s\r\n" % token if token else ""
    return (head % (method, path, caller, kind, len(body)) + key + "\r\n").encode() + body


def fault_of(status, body):
    """What an error says of itself, in a few words."""
    if b"<center>nginx" in body:
        return "%d of the balancer" % status
    try:
        said = json.loads(body)
        error = said.get("error") or said
        word = error.get("code") or error.get("type") or error.get("status")
    except (ValueError, AttributeError):
        word = repr(body[:40])
    return "%d %s" % (status, word)


class Callers:
    """Asks through the balancer, and notes what came of it."""

    def __init__(self, port):
        self.port, self.idle, self.serials = port, collections.deque(), collections.Counter()
        self.began = time.monotonic()
        # By what was asked: how often which outcome came; and each that was no answer, with its time.
        self.outcomes, self.wrong, self.took, self.mixed = collections.defaultdict(collections.Counter), [], [], []
        self.lost_values, self.slowest = [], collections.Counter()

    def now(self):
        return time.monotonic() - self.began

    def next(self, account):
        self.serials[account] += 1
        return account * ACCOUNT + self.serials[account]

    async def send(self, data):
        """One request; its status, head and body."""
        while self.idle and self.idle[-1].gone:
            self.idle.pop()
        try:
            if self.idle:
                one = self.idle.pop()
            else:
                loop = asyncio.get_running_loop()
                _, one = await loop.create_connection(Connection, "127.0.0.1", self.port)
            answer = await asyncio.wait_for(one.send(data), PATIENCE)
        except asyncio.TimeoutError:
            one.transport.abort()
            raise Lost("no answer in time") from None
        except OSError as error:
            raise Lost("no connection: %s" % error.strerror) from None
        if one.gone or not one.stays:
            one.transport.close()
        else:
            self.idle.append(one)
        return answer

    def note(self, kind, outcome, since):
        self.outcomes[kind][outcome] += 1
        self.slowest[kind, outcome] = max(self.slowest[kind, outcome], self.now() - since)
        if outcome != "200":
            # From when to when it was under way.
            self.wrong.append((since, self.now(), kind, outcome))
        else:
            self.took.append(self.now() - since)

    async def ask(self, kind, data):
        """One request: its status and body, or neither."""
        since = self.now()
        try:
            status, head, body = await self.send(data)
        except Lost as lost:
            self.note(kind, str(lost), since)
            return None, b""
        outcome = "200" if status in (200, 202) else fault_of(status, body)
        if status in (429, 503) and b"retry-after:" not in head.lower():
            outcome += " without Retry-After"
        self.note(kind, outcome, since)
        return status, body

    async def chat(self, account, route, token, streams=False, most=None):
        """A chat whose answer repeats it."""
        number = self.next(account)
        text = FOX + "EMAIL: %s | CARD: %s | %s" % (address(number), card(number), FOX)
        body = {"model": "bench", "seed": number, "messages": [{"role": "user", "content": text}]}
        body |= {"stream": True} if streams else {}
        body |= {"max_tokens": most} if most else {}
        caller = "127.2.%d.%d" % (account // 250, account % 250 + 1)
        data = request("POST", "/%s/v1/chat/completions" % route, token, json.dumps(body).encode(), caller=caller)
        status, body = await self.ask(route, data)
        if status == 200:
            self.judge(number, told(body, streams), text)
        return status, body

    def judge(self, number, said, text):
        """What came back is what was sent, and nobody else's."""
        others = {int(found) for found in ANYBODY.findall(said)} - {number}
        if others or said != text:
            self.mixed.append((self.now(), number, sorted(others), said))

    async def conversation(self, account, token):
        """A response, and one that goes on with it: the model says again what it keeps of the first."""
        first, caller = self.next(account), "127.2.0.9"
        text = "EMAIL: %s | CARD: %s |" % (address(first), card(first))
        body = {"model": "bench", "seed": first, "input": text}
        status, answer = await self.ask("responses", request("POST", "/chat/v1/responses", token, json.dumps(body).encode(), caller=caller))
        if status != 200:
            return
        self.judge(first, response_text(answer), text)
        since = self.now()
        await asyncio.sleep(0.3)
        second = self.next(account)
        body = {"model": "bench", "seed": second, "input": "go on", "previous_response_id": json.loads(answer)["id"]}
        status, answer = await self.ask("responses", request("POST", "/chat/v1/responses", token, json.dumps(body).encode(), caller=caller))
        if status == 200 and response_text(answer) != text:
            found = {int(found) for found in ANYBODY.findall(response_text(answer))} - {first}
            (self.mixed if found else self.lost_values).append((since, first, sorted(found), response_text(answer)))


def response_text(body):
    return json.loads(body)["output"][0]["content"][0]["text"]


def told(body, streams):
    """The text of an answer."""
    if not streams:
        return json.loads(body)["choices"][0]["message"]["content"]
    rows = [json.loads(row[6:]) for row in body.split(b"\n\n") if row.startswith(b"data: {")]
    return "".join(choice["delta"].get("content", "") for row in rows for choice in row.get("choices", []))


class Files:
    """Files whose upload was acknowledged: each must be done in the end, whoever does it."""

    def __init__(self, callers, token):
        self.callers, self.token, self.waiting, self.done, self.wrong, self.serial = callers, token, [], 0, [], 0
        self.slowest = 0

    def call(self, path):
        self.serial += 1
        name = "f%d.txt" % self.serial
        if path == "/v1/sanitize":
            content = {"redact": True, "url_intel": False, "domain_intel": False}
            return name, {"transfer_method": "put-url", "uploaded_file_name": name, "content": content}
        return name, {"transfer_method": "put-url", "name": name}

    async def one(self, path, large=False):
        name, body = self.call(path)
        status, answer = await self.callers.ask("files", request("POST", path, self.token, json.dumps(body).encode()))
        if status != 202:
            return
        said = json.loads(answer)
        to = urllib.parse.urlsplit(said["result"]["put_url"])
        text = ("%s of mara.q%d@harbour-post.com\n" % (name, self.serial * ACCOUNT)).encode() + LARGE * large
        data = request("PUT", to.path + "?" + to.query, "", text, "text/plain")
        if (await self.callers.ask("uploads", data))[0] == 200:
            self.waiting.append((said["request_id"], path, name, self.callers.now()))

    async def all_done(self, seconds):
        """Asks for each until it is there, or time is over."""
        end = time.monotonic() + seconds
        while self.waiting and time.monotonic() < end:
            await self.look()
            await asyncio.sleep(0.5)

    async def look(self):
        for job in list(self.waiting):
            ident, path, name, since = job
            status, body = await self.callers.ask("polls", request("GET", "/request/" + ident, self.token))
            # Not yet, or nobody can say.
            if status not in (200, 400, 404, 410, 500):
                continue
            said = json.loads(body)
            fault = said.get("status") if status != 200 else await self.fault(said, path, name)
            if fault is None:
                continue
            self.waiting.remove(job)
            self.slowest = max(self.slowest, self.callers.now() - since)
            if fault:
                self.wrong.append((name, path, fault, since))
            else:
                self.done += 1

    async def fault(self, said, path, name):
        """What is wrong with a file that is done: nothing, or `None` if it cannot be fetched now."""
        if path != "/v1/sanitize":
            return "" if said["result"]["object"]["name"] == name else "another file"
        to = urllib.parse.urlsplit(said["result"]["dest_url"])
        status, body = await self.callers.ask("downloads", request("GET", to.path + "?" + to.query, ""))
        if status in (None, 502, 503):
            return None
        right = status == 200 and body.startswith(name.encode() + b" of ") and b"mara.q" not in body
        return "" if right else "%s: another content, %r" % (status, body[:60])
