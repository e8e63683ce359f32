"""Callers of the upstream in llm_faults, many thousand requests on one event loop, each of which looks closely at what
reaches it."""

import asyncio
import json
import random
import re
import time
import zlib
from dataclasses import dataclass

from llm_faults import FAULTS, KINDS, reset
from test_openai import luhn


@dataclass
class Got:
    """What a caller got. Without a status, nothing."""

    status: int = 0
    head: bytes = b""
    body: bytes = b""
    whole: bool = False


class Callers:
    """Who asks, one after the other on connections of their own: `mine` has each request's values, `owner` whose they are."""

    def __init__(self, port=0, seed=0):
        self.port, self.seed, self.mine, self.owner = port, seed, {}, {}
        self.upstream = None

    def values(self, number, dice):
        """Values that nobody else has; now and then one is what another's value was replaced by."""
        digits = lambda n: "".join(dice.choice("0123456789") for _ in range(n))
        card = "4%07d%s" % (number, digits(7))
        card = next(card + check for check in "0123456789" if luhn(card + check))
        mine = {
            "EMAIL": "%s.%s%d@%s" % (dice.choice(["ana", "bo", "chidi", "eva"]), dice.choice("bcdfgh") * 2, number, dice.choice(["clinic-mail.com", "harbour-post.com"])),
            "PHONE": "+1 %d%s 555 %s" % (dice.randint(2, 9), digits(2), digits(4)),
            "SSN": "%d-%02d-%04d" % (dice.randint(100, 665), dice.randint(1, 99), dice.randint(1, 9999)),
            "CARD": " ".join(card[at : at + 4] for at in range(0, 16, 4)),
        }
        another = self.upstream.heard.get(number - dice.randrange(33, 60))
        if another and another.get("CARD") and dice.random() < 0.1:
            mine["CARD"] = another["CARD"]
        return mine

    async def ask(self, number, connection):
        """One request: kind, fault, what came, and the connection if it is good for more."""
        dice = random.Random("%d caller %d" % (self.seed, number))
        at = dice.randrange(len(KINDS))
        kind, fault = KINDS[at], dice.choice(FAULTS)
        if fault == "event" and not kind.fails_within:
            fault = "status"
        mine = self.mine[number] = self.values(number, dice)
        for label in ("EMAIL", "CARD"):
            self.owner.setdefault(mine[label], number)
        prompt = "Sum up. EMAIL: %(EMAIL)s | PHONE: %(PHONE)s | SSN: %(SSN)s | CARD: %(CARD)s | Order 1001." % mine
        body = json.dumps(kind.body(prompt)).encode()
        if fault == "no JSON":
            body = body[: len(body) // 2] + b'"\x01}' + body[len(body) // 2 :]
        lines = [
            "POST /%s%s HTTP/1.1" % (kind.provider, kind.path),
            "host: gateway.test",
            "content-type: application/json",
            "authorization: Bearer sk-caller-%d" % (number % 32),
            "x-play: %d %d %s" % (number, at, fault),
            "content-length: %d" % len(body),
        ]
        if fault == "unsent":
            body = body[: len(body) // 2]
        request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        if connection is None:
            connection = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = connection
        writer.write(request)
        if fault in ("unsent", "leaves"):
            if fault == "leaves":
                try:
                    await asyncio.wait_for(reader.readexactly(dice.choice([1, 100, 400, 1000])), dice.random() / 5)
                except (TimeoutError, asyncio.IncompleteReadError, OSError):
                    pass
            reset(writer) if dice.random() < 0.5 else writer.close()
            return kind, fault, Got(), None
        got = await answered(reader)
        stays = got.whole and b"connection: close" not in got.head.lower()
        if not stays:
            writer.close()
        return kind, fault, got, connection if stays else None


async def answered(reader):
    got = Got()
    try:
        got.head = await reader.readuntil(b"\r\n\r\n")
        got.status = int(got.head.split(b" ", 2)[1])
        lower = got.head.lower()
        if b"transfer-encoding: chunked" in lower:
            while size := int(await reader.readuntil(b"\r\n"), 16):
                got.body += (await reader.readexactly(size + 2))[:-2]
            await reader.readuntil(b"\r\n")
        elif length := re.search(rb"\r\ncontent-length: *(\d+)", lower):
            got.body = await reader.readexactly(int(length[1]))
        got.whole = True
    except asyncio.IncompleteReadError as error:
        got.body += error.partial
    except OSError:
        pass
    if got.body and b"content-encoding: gzip" in got.head.lower():
        got.body = zlib.decompressobj(31).decompress(got.body)
    return got


def resident(pid):
    """Bytes in memory."""
    with open("/proc/%d/statm" % pid) as file:
        return int(file.read().split()[1]) * 4096


async def flood(callers, many, at_once, judge):
    """So many requests by so many callers; the numbers of requests by what came of them, and a second's."""
    numbers, began = iter(range(many)), time.monotonic()

    async def one():
        connection = None
        for number in numbers:
            try:
                kind, fault, got, connection = await asyncio.wait_for(callers.ask(number, connection), 40)
            except TimeoutError:
                judge(number, None, "hang", Got())
                connection = None
            except OSError:
                # It was closed just as it was used; of that nothing came.
                connection = None
            else:
                judge(number, kind, fault, got)
        if connection:
            connection[1].close()

    await asyncio.gather(*(one() for _ in range(at_once)))
    return many / (time.monotonic() - began)
