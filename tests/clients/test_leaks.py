"""Known secrets are stored, used, rotated and removed; then their bytes are looked for wherever they could have stayed: the
data folder, the logs, and the memory of the process."""

import base64
import os

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from gateway import Gateway
from test_vault import ok, rotate, signed
from test_vault_redact import back, redact

PEM = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
DER = (serialization.Encoding.DER, *PEM[1:])
SPKI = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def forms(secret):
    """The bytes, and every way in which they are commonly written: an encoder may begin at any byte, so the digits that
    only they decide are looked for, whatever stands around them."""
    found = {"raw": secret, "reversed": secret[::-1], "hex": secret.hex().encode(), "HEX": secret.hex().upper().encode()}
    for before in range(3):
        text = base64.b64encode(bytes(before) + secret)
        # A digit is six bits.
        sure = text[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
        found["base64+%d" % before] = sure
        found["base64url+%d" % before] = sure.replace(b"+", b"-").replace(b"/", b"_")
    return found


class Memory:
    """What a process holds in memory that it can write to."""

    def __init__(self, pid):
        self.pid = pid

    def __iter__(self):
        with open("/proc/%d/maps" % self.pid) as maps, open("/proc/%d/mem" % self.pid, "rb", buffering=0) as memory:
            for line in maps:
                place, rights, _, _, _, *name = line.split()
                if not rights.startswith("rw") or name in (["[vvar]"], ["[vsyscall]"]):
                    continue
                start, end = (int(part, 16) for part in place.split("-"))
                yield from self.pieces(memory, start, end, "".join(name) or "heap")

    @staticmethod
    def pieces(memory, start, end, name, size=16 << 20, overlap=1 << 12):
        while start < end:
            try:
                memory.seek(start)
                piece = memory.read(min(size, end - start))
            except OSError:
                return
            if not piece:
                return
            yield "%s %#x" % (name, start), piece
            start += len(piece) - overlap if len(piece) == size else len(piece)


def hits(places, secrets):
    """Which form of which secret is where."""
    looked = [(name, how, form) for name, secret in secrets.items() for how, form in forms(secret).items()]
    return [
        (name, how, place, at, piece[max(at - 48, 0) : at + len(form) + 48])
        for place, piece in places
        for name, how, form in looked
        if (at := piece.find(form)) >= 0
    ]


def files(gateway):
    for file in (gateway.home / "data").rglob("*"):
        if file.is_file() and file.name != "master.key":
            yield file.name, file.read_bytes()
    yield "log", "\n".join(gateway.log).encode()
    yield "out", "\n".join(gateway.out[1:]).encode()


def test_every_form_is_found():
    secret = os.urandom(32)
    for before in range(6):
        for written in (base64.b64encode, base64.urlsafe_b64encode):
            text = written(os.urandom(before) + secret + os.urandom(5))
            assert hits([("text", text)], {"it": secret})
    for text in (secret, secret[::-1], secret.hex().encode(), secret.hex().upper().encode()):
        assert hits([("text", b"x" + text + b"y")], {"it": secret})
    assert not hits([("text", os.urandom(1 << 16))], {"it": secret})


def pairs():
    """Private keys as they are stored, and the numbers in them that nobody may know."""
    for algorithm, made in (
        ("ES256", ec.generate_private_key(ec.SECP256R1())),
        ("ES384", ec.generate_private_key(ec.SECP384R1())),
        ("EdDSA", ed25519.Ed25519PrivateKey.generate()),
        ("RS256", rsa.generate_private_key(65537, 2048)),
    ):
        if algorithm.startswith("ES"):
            value = made.private_numbers().private_value
            numbers = {"d": value.to_bytes(made.key_size // 8)}
        elif algorithm == "EdDSA":
            numbers = {"d": made.private_bytes_raw()}
        else:
            own = made.private_numbers()
            numbers = {"d": own.d.to_bytes(256), "p": own.p.to_bytes(128), "q": own.q.to_bytes(128)}
        keys = {"private_key": made.private_bytes(*PEM).decode(), "public_key": made.public_key().public_bytes(*SPKI).decode()}
        yield algorithm, keys, numbers


def store(gateway, secrets, algorithm):
    """Stores a key that the test knows; its id, and what brings another such key."""
    made = os.urandom(64 if algorithm == "HS256" else 32)
    secrets["%s %d" % (algorithm, len(secrets))] = made
    return {"key": base64.b64encode(made).decode()}


def use(gateway):
    """Items of every kind, made, used, handed out, rotated; their ids, and the secrets that were in them."""
    items, secrets = [], {}
    for algorithm, keys, numbers in pairs():
        secrets |= {"%s %s" % (algorithm, name): value for name, value in numbers.items()}
        ask = {"type": "asymmetric_key", "purpose": "jwt", "algorithm": algorithm, "exportable": True}
        item = ok(gateway.api("/v2/key/store", {**ask, **keys}))["id"]
        signed(gateway, item)
        assert ok(gateway.api("/v2/export", {"id": item}))["private_key"] == keys["private_key"]
        ok(rotate(gateway, item))
        ok(rotate(gateway, item, **keys))
        items.append(item)
    for algorithm, purpose in (("HS256", "jwt"), ("AES-FF1-256", "fpe")):
        ask = {"type": "symmetric_key", "purpose": purpose, "algorithm": algorithm, "exportable": True}
        item = ok(gateway.api("/v2/key/store", {**ask, **store(gateway, secrets, algorithm)}))["id"]
        ok(rotate(gateway, item, **store(gateway, secrets, algorithm)))
        if purpose == "jwt":
            signed(gateway, item)
        else:
            ok(back(gateway, ok(redact(gateway, fpe_key_id=item))))
        ok(gateway.api("/v2/export", {"id": item, "version": 1}))
        items.append(item)
    texts = [base64.b32encode(os.urandom(30)).decode() for _ in range(2)]
    secrets |= {"secret %d" % n: text.encode() for n, text in enumerate(texts)}
    item = ok(gateway.api("/v2/secret/store", {"secret": texts[0]}))["id"]
    hashed = {"EMAIL_ADDRESS": {"redaction_type": "hash", "hash": {"hash_type": "sha256"}}}
    ok(redact(gateway, hashed, salt_secret_id=item))
    ok(gateway.api("/v2/secret/rotate", {"id": item, "secret": texts[1]}))
    assert ok(gateway.api("/v2/get", {"id": item, "version": 1}))["item_versions"][0]["secret"] == texts[0]
    return [*items, item], secrets


@pytest.fixture
def wiping(monkeypatch):
    """A gateway whose allocator overwrites what is freed. Without it, what a client sent stays in the HTTP library's freed
    buffers until they are used again; everything that is ours is wiped either way."""
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "junk:free")
    with Gateway("http://127.0.0.1:9") as gateway:
        yield gateway


def test_no_secret_is_in_files_or_logs_nor_stays_in_memory(wiping):
    items, secrets = use(wiping)
    assert not hits(files(wiping), secrets)
    for item in items:
        ok(wiping.api("/v2/delete", {"id": item}))
    assert not hits(files(wiping), secrets)
    try:
        found = hits(Memory(wiping.process.pid), secrets)
    except PermissionError:
        pytest.skip("this user may not read the memory of its own processes")
    # Only where: a report should not repeat what it found.
    assert not [(name, how, place) for name, how, place, *_ in found]
