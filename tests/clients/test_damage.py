"""Rows of the vault that are damaged, cut, swapped or put back: each is noticed, no answer is ever made with another key,
and the rows beside it go on."""

import hashlib
import random
import sqlite3
import time

import pytest
from gateway import Gateway
from test_native_api import envelope
from test_vault import key, ok, rotate, sign, signed, verifies

KINDS = ["ES256", "HS256", "EdDSA", "AES-FF1-256"]
ROWS = 120
NEVER = (-(2**63)).to_bytes(8, "big", signed=True)
# What was read is remembered for less than this.
MEMORY = 1.0


@pytest.fixture(scope="module")
def own():
    """A gateway whose store is spoilt."""
    with Gateway("http://127.0.0.1:9") as gateway:
        yield gateway


class Item:
    """A key, and what tells it from any other."""

    def __init__(self, gateway, number):
        self.algorithm = KINDS[number % len(KINDS)]
        self.signs = not self.algorithm.startswith("AES")
        self.id = key(gateway, self.algorithm, exportable=True)["id"]
        self.out = self.export(gateway).json()["result"]
        self.jws = signed(gateway, self.id) if self.signs else None

    def export(self, gateway):
        return gateway.api("/v2/export", {"id": self.id})

    def answers(self, gateway):
        """All that takes the item's key."""
        yield self.export(gateway)
        yield gateway.api("/v2/get", {"id": self.id})
        yield gateway.api("/v2/key/rotate", {"id": self.id})
        if self.signs:
            yield sign(gateway, self.id)
            yield gateway.api("/v2/jwt/verify", {"jws": self.jws})
            yield gateway.api("/v2/jwk/get", {"id": self.id, "version": "all"})

    def is_whole(self, gateway):
        assert ok(self.export(gateway)) == self.out
        assert not self.signs or verifies(gateway, self.jws)


class Rows:
    """The store's table, as somebody sees it who can write to the file."""

    def __init__(self, gateway):
        [file] = (gateway.home / "data").glob("*.sqlite")
        self.base = sqlite3.connect(file, timeout=10, isolation_level=None)

    def read(self, item):
        return self.base.execute("SELECT version, value, digest FROM records WHERE id = ?", [item.id]).fetchone()

    def write(self, item, version, value, digest=None):
        """With a digest of its own, or with the one that fits: who can write can reckon it too."""
        if digest is None:
            parts = [b"vault.item", item.id.encode()]
            whole = b"".join(hashlib.sha256(part).digest() for part in parts) + version.to_bytes(8, "big") + NEVER
            digest = hashlib.sha256(whole + hashlib.sha256(value).digest()).digest()
        self.base.execute("UPDATE records SET version = ?, value = ?, digest = ? WHERE id = ?", [version, value, digest, item.id])


def refused(gateway, item):
    """A clean error for every use, and nothing of why to whoever asks."""
    for answer in item.answers(gateway):
        assert envelope(answer, 500, "InternalError") is None


def flipped(value, chance):
    at = chance.randrange(len(value))
    return value[:at] + bytes([value[at] ^ 1 << chance.randrange(8)]) + value[at + 1 :]


def cut(value, chance):
    return value[: chance.randrange(len(value))]


def torn(value, chance):
    """The end never got to the disk."""
    at = chance.randrange(1, min(len(value), 64) + 1)
    return value[:-at] + bytes(at)


@pytest.fixture(scope="module")
def items(own):
    return [Item(own, number) for number in range(ROWS)]


def spoilt(own, items, spoil, fitting):
    """Every row spoilt at once, then put back."""
    rows, whole = Rows(own), []
    for item in items:
        version, value, digest = rows.read(item)
        whole.append((version, value, digest))
        other = spoil(item, version, value)
        rows.write(item, *other, *([] if fitting else [digest]))
    time.sleep(MEMORY)
    for item in items:
        refused(own, item)
    for item, row in zip(items, whole, strict=True):
        rows.write(item, *row)
    time.sleep(MEMORY)
    for item in items:
        item.is_whole(own)


@pytest.mark.parametrize("fitting", [False, True], ids=["digest as it was", "digest that fits"])
@pytest.mark.parametrize("damage", [flipped, cut, torn])
def test_a_damaged_row_is_noticed(own, items, damage, fitting):
    seed = random.SystemRandom().randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)

    def spoil(_, version, value):
        other = damage(value, chance)
        # Zeros may have stood there before.
        return version, other if other != value else flipped(value, chance)

    spoilt(own, items, spoil, fitting)


def test_a_row_in_anothers_place_is_noticed(own, items):
    rows = Rows(own)
    values = {item.id: rows.read(item)[1] for item in items}
    # The next of the same algorithm: its key would fit.
    next_one = {item.id: items[(at + len(KINDS)) % ROWS].id for at, item in enumerate(items)}
    spoilt(own, items, lambda item, version, _: (version, values[next_one[item.id]]), fitting=True)


def test_a_data_key_of_another_row_opens_nothing(own, items):
    rows = Rows(own)
    values = {item.id: rows.read(item)[1] for item in items}
    next_one = {item.id: items[(at + len(KINDS)) % ROWS].id for at, item in enumerate(items)}
    # Format, key id, nonce, data key and tag come before what it seals.
    head = 1 + 8 + 12 + 32 + 16
    mixed = {item.id: values[next_one[item.id]][:head] + values[item.id][head:] for item in items}
    spoilt(own, items, lambda item, version, _: (version, mixed[item.id]), fitting=True)


def test_a_row_under_another_version_is_noticed(own, items):
    spoilt(own, items, lambda _, version, value: (version + 1, value), fitting=True)


def test_a_row_put_back_is_noticed(own):
    items = [Item(own, number) for number in range(12)]
    rows = Rows(own)
    before = {item.id: rows.read(item) for item in items}
    for item in items:
        ok(rotate(own, item.id))
        item.out = item.export(own).json()["result"]
    spoilt(own, items, lambda item, *_: before[item.id][:2], fitting=True)
    spoilt(own, items, lambda item, version, _: (version, before[item.id][1]), fitting=True)
