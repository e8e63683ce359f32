"""What is bytes stays as it is and is counted; what is text in an encoding, or typed otherwise than it must be, is read."""

import base64
import json
import random
import re
import string
import time
import urllib.parse
import uuid

import pytest
from gateway import EVERY_PATH, Gateway

MAIL = "jane.doe@harbour-post.com"
CARD = "4111 1111 1111 1111"
LETTERS = string.ascii_letters + string.digits
DICE = random.Random(20261122)


def b64(data, url=False):
    data = data.encode() if isinstance(data, str) else data
    return (base64.urlsafe_b64encode(data).rstrip(b"=") if url else base64.b64encode(data)).decode()


def jpeg():
    return b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0" + DICE.randbytes(DICE.randint(60, 700)) + b"\xff\xd9"


def png():
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + DICE.randbytes(DICE.randint(60, 700)) + b"IEND\xaeB`\x82"


def pdf():
    pages = DICE.randbytes(DICE.randint(60, 700))
    head = b"%%PDF-1.7\n%%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Length %d/Filter/FlateDecode>>stream\n" % len(pages)
    return head + pages + b"\nendstream\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


def word(length, letters=LETTERS):
    return "".join(DICE.choices(letters, k=length))


def seal():
    return b64(DICE.randbytes(DICE.randint(64, 700)), url=DICE.random() < 0.5)


# Members that hold files, as each API has them.
FILES = [
    lambda kind, data: {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}},
    lambda kind, data: {"inlineData": {"mimeType": kind, "data": data}},
    lambda kind, data: {"inline_data": {"mime_type": kind, "data": data}},
    lambda kind, data: {"type": "image_url", "image_url": {"url": "data:%s;base64,%s" % (kind, data)}},
    lambda kind, data: {"type": "input_image", "image_url": "data:%s;base64,%s" % (kind, data)},
    lambda kind, data: {"type": "file", "file": {"file_data": "data:%s;base64,%s" % (kind, data), "filename": "a"}},
    lambda kind, data: {"image": {"format": kind[-3:], "source": {"bytes": data}}},
    lambda kind, data: {"role": "user", "content": "hi", "images": [data]},
    lambda kind, data: {"type": "image", "data": data, "mimeType": kind},
    lambda kind, data: {"uri": "file:///a", "mimeType": kind, "blob": data},
    lambda kind, data: {"type": "image_generation_call", "result": data},
    lambda kind, data: {"b64_json": data},
]

# Members that hold seals.
SEALS = [
    lambda data: {"type": "thinking", "thinking": "hm", "signature": data},
    lambda data: {"thought": True, "thoughtSignature": data},
    lambda data: {"type": "function_call", "thought_signature": data},
    lambda data: {"type": "reasoning", "encrypted_content": data},
    lambda data: {"reasoningContent": {"reasoningText": {"text": "hm", "signature": data}}},
    lambda data: {"type": "web_search_result", "encrypted_index": data},
]

# Ids.
IDS = [
    lambda: "chatcmpl-" + word(29),
    lambda: "msg_" + word(24),
    lambda: "toolu_" + word(24),
    lambda: "call_" + word(24),
    lambda: "resp_" + word(48, "0123456789abcdef"),
    lambda: "fc_" + word(50, "0123456789abcdef"),
    lambda: str(uuid.UUID(int=DICE.getrandbits(128), version=4)),
    lambda: word(32, "0123456789abcdef"),
    lambda: word(40, "0123456789abcdef"),
    lambda: "sha256:" + word(64, "0123456789abcdef"),
]


def shows(count):
    """(what, value): `count` images of each kind, as many seals and ids."""
    for make, kind in ((jpeg, "image/jpeg"), (png, "image/png")):
        for n in range(count):
            yield "file", FILES[n % len(FILES)](kind, b64(make()))
    for n in range(count):
        yield "seal", SEALS[n % len(SEALS)](seal())
        yield "id", {"id": IDS[n % len(IDS)](), "tool_call_id": IDS[(n + 3) % len(IDS)]()}


def called(gateway, method, path, body=None):
    """An answer, and what the access log says of it."""
    before = len(gateway.log)
    answer = gateway.call(method, path, body)
    assert answer.status == 200, answer.body
    said = lambda: [one for one in gateway.log[before:] if '"message":"request"' in one and '"status":200' in one]
    return answer, json.loads(gateway.wait_for(said)[-1])


def posted(gateway, path, body):
    return called(gateway, "POST", path, body)


# A route that restores, one that masks as it passes, one of a known protocol (where the upstream answers itself).
ROADS = ["/restored/reflect", "/generic/reflect", "/mask/v1/chat/completions"]


@pytest.mark.parametrize("path", ROADS)
def test_bytes_seals_and_ids_stay(gateway, mock, path):
    begun = time.monotonic()
    values = list(shows(1000))
    for at in range(0, len(values), 250):
        some = values[at : at + 250]
        body = {"model": "plain", "messages": [{"role": "user", "content": [value for _, value in some]}]}
        answer, told = posted(gateway, path, body)
        came = json.loads(mock.requests[-1].body)["messages"][0]["content"]
        assert [pair for pair in zip([value for _, value in some], came) if pair[0] != pair[1]] == []
        unread = sum(what != "id" for what, _ in some)
        assert (told["request_unscanned"], told["request_scan"]) == (unread, "scanned_in_part")
        if path.endswith("/reflect"):
            assert answer.json() == body
        if path.startswith("/generic"):
            assert (told["answer_unscanned"], told["answer_scan"]) == (unread, "scanned_in_part")
    assert time.monotonic() - begun < 60


def test_documents_stay_where_they_may_pass(mock):
    """By default they are refused or redacted; `files = "pass"` sends on what came, and says so in the log."""
    config = EVERY_PATH.replace("redact = {{", 'redact = {{ files = "pass",') + "\n[log]\nformat = \"json\"\n"
    files = [FILES[n % len(FILES)]("application/pdf", b64(pdf())) for n in range(1000)]
    with Gateway(mock.url, config) as gateway:
        for at in range(0, len(files), 250):
            some = files[at : at + 250]
            body = {"model": "plain", "messages": [{"role": "user", "content": some}]}
            _, told = posted(gateway, "/v1/chat/completions", body)
            assert json.loads(mock.requests[-1].body)["messages"][0]["content"] == some
            assert (told["request_unscanned"], told["request_scan"]) == (len(some), "scanned_in_part")


def test_bytes_stay_beside_found_values(gateway, mock):
    """A found value is looked for everywhere else, but not in bytes; and the answer is restored around them."""
    values = [value for _, value in shows(40)]
    # The same short value, between characters that end a word, in the middle of a picture.
    hidden = b64(b"\xff\xd8\xff\xe0" + DICE.randbytes(20) + base64.b64decode("/12345678/ab") + DICE.randbytes(300))
    assert "/12345678/" in hidden
    body = {"a": "account no. 12345678, %s" % MAIL, "b": values, "c": hidden, "d": "data:image/jpeg;base64," + hidden}
    answer, told = posted(gateway, "/restored/reflect", body)
    assert told["answer_unscanned"] > 100 and told["restored"] == 2
    came = json.loads(mock.requests[-1].body)
    assert came["b"] == values and came["c"] == hidden and came["d"] == body["d"]
    assert "12345678" not in came["a"] and MAIL not in came["a"]
    assert answer.json() == body


def test_bytes_in_events_stay(gateway, mock):
    values = [value for _, value in shows(60)]
    events = ["data: %s\n\n" % json.dumps({"type": "content_block_start", "content_block": value}) for value in values]
    body = "".join(events).encode()
    for write in (0, 37):
        mock.canned["it"] = (200, "text/event-stream", body, "", write)
        answer, told = called(gateway, "GET", "/generic/canned/it")
        assert answer.body == body
        assert told["answer_unscanned"] > 150 and told["answer_scan"] == "scanned_in_part"
    mock.canned["it"] = (200, "application/json", json.dumps(values).encode(), "", 0)
    assert gateway.call("GET", "/generic/canned/it").json() == values
    assert 'portcullis_unscanned_strings_total{direction="answer",route="generic"}' in gateway.metrics()


def test_tokens_stay_and_are_counted(gateway, mock):
    body = {"model": "e", "input": [[1212, 318, 257], [50256]], "context": [1, 2, 3], "logit_bias": {"50256": -100}}
    _, told = posted(gateway, "/restored/reflect", body)
    assert json.loads(mock.requests[-1].body) == body and told["request_unscanned"] == 3
    body = {"model": "plain", "seed": 4111111111111111, "max_tokens": 12345678, "logit_bias": {"50256": -100},
            "messages": [{"role": "user", "content": "code 50256, account no. 50256"}]}  # fmt: skip
    posted(gateway, "/mask/v1/chat/completions", body)
    came = json.loads(mock.requests[-1].body)
    assert [came[name] for name in ("seed", "max_tokens", "logit_bias")] == [4111111111111111, 12345678, {"50256": -100}]


def secrets():
    """Keys that are base64 themselves, or nearly."""
    return {
        "aws": ("k", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEX", "wJalrXUtnFEMI/K7MDENG"),
        "aws by name": ("aws_secret_access_key", b64(DICE.randbytes(30)), None),
        "jwt": ("k", ".".join([b64('{"alg":"HS256","typ":"JWT"}', True), b64('{"sub":"1234567890"}', True), b64(DICE.randbytes(32), True)]), None),
        "pem": ("k", "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----" % b64(DICE.randbytes(138)), None),
        "openai": ("k", "sk-proj-%sT3BlbkFJ%s" % (word(74), word(74)), None),
        "basic": ("k", "Authorization: Basic " + b64("jane:correct-horse-battery"), b64("jane:correct-horse-battery")),
        "password": ("password", b64("correct-horse-battery"), None),
        "api_key": ("api_key", b64(DICE.randbytes(120)), None),
        "private_key": ("private_key", b64(DICE.randbytes(300)), None),
        "token": ("token", b64(DICE.randbytes(48)), None),
        "grafana": ("k", "eyJrIjoi" + word(80), None),
        "1password": ("k", "ops_eyJ" + word(300), None),
    }  # fmt: skip


@pytest.mark.parametrize("path", ["/restored/reflect", "/generic/reflect"])
def test_a_key_that_is_base64_goes(gateway, mock, path):
    for what, (name, value, secret) in secrets().items():
        posted(gateway, path, {name: value})
        assert (secret or value) not in json.loads(mock.requests[-1].body)[name], what


def leaks():
    """(where, what is sent there): all of it says whose it is, in one way or another."""
    text = "write to %s, please; her card is %s" % (MAIL, CARD)
    latin = ("Grüße an Jürgen Müller, " + text).encode("latin-1")
    yield "plain", text
    for name in ("text/plain", "", "text/plain;charset=utf-8", "application/octet-stream", "image/png", "audio/wav"):
        yield "url " + name, "data:%s;base64,%s" % (name, b64(text))
    yield "url in capitals", "DATA:TEXT/PLAIN;BASE64," + b64(text)
    yield "url unpadded", "data:;base64," + b64(text).rstrip("=")
    yield "url for urls", "data:;base64," + b64(text, url=True)
    yield "url escaped", "data:;base64," + urllib.parse.quote(b64(text), safe="")
    yield "url that does not decode", "data:;base64," + text
    yield "url with blanks", " data:;base64," + re.sub("(.{20})", r"\1 ", b64(text))
    yield "url percent-encoded", "data:text/plain," + urllib.parse.quote(text)
    yield "url percent-encoded without type", "data:," + urllib.parse.quote(text, safe="")
    yield "url with a name", "data:image/png;name=%s;base64,%s" % (MAIL, b64(png()))
    yield "base64", b64(text)
    yield "base64 for urls", b64(text, url=True)
    yield "base64 twice", b64(b64(text))
    yield "base64 of json", b64(json.dumps({"to": text}).replace("@", "\\u0040"))
    yield "base64 in lines", base64.encodebytes(text.encode()).decode()
    yield "base64 of latin-1", b64(latin)
    yield "base64 of utf-16", b64(text.encode("utf-16"))
    yield "json in strings", json.dumps(json.dumps(json.dumps({"to": text}).replace("@", "\\u0040")))


def read(text, deep=6):
    """All that can be made of a text."""
    yield text
    if deep == 0:
        return
    for part in {text.strip(), text.partition(",")[2], urllib.parse.unquote(text), text.partition(";base64,")[2]} - {text, ""}:
        yield from read(part, deep - 1)
    try:
        held = json.loads(text)
        yield from (one for value in (held.values() if isinstance(held, dict) else [held]) for one in read(str(value), deep - 1))
    except ValueError:
        pass
    plain = re.sub(r"\s", "", text).translate(str.maketrans("-_", "+/"))
    if len(plain) > 15 and re.fullmatch(r"[A-Za-z0-9+/]+=*", plain):
        data = base64.b64decode(plain.rstrip("=") + "=" * (-len(plain.rstrip("=")) % 4))
        for charset in ("utf-8", "latin-1", "utf-16"):
            yield data.decode(charset, "replace")
        yield from read(data.decode("utf-8", "replace"), deep - 1)


# Places of a chat request that no text belongs into, and others.
PLACES = [
    lambda value: {"messages": [{"role": "user", "content": value}]},
    lambda value: {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": value}}]}]},
    lambda value: {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": value}}]}]},
    lambda value: {"messages": [{"role": "tool", "tool_call_id": value, "content": "x"}]},
    lambda value: {"messages": [{"role": "user", "content": [{"type": "thinking", "signature": value}]}]},
    lambda value: {"seed": value},
    lambda value: {"max_tokens": value},
    lambda value: {"logit_bias": {"1": value}},
    lambda value: {"logit_bias": {value: 1}},
    lambda value: {"source": {"type": "text", "data": value}},
    lambda value: {"inlineData": {"data": value}},
    lambda value: {"data": value},
]  # fmt: skip


def digits(text):
    return re.sub(r"\D", "", text)


@pytest.mark.parametrize("path", ["/mask/v1/chat/completions", "/restored/reflect", "/generic/reflect"])
@pytest.mark.parametrize("what,value", list(leaks()), ids=[what for what, _ in leaks()])
def test_text_does_not_pass_as_something_else(gateway, mock, path, what, value):
    for place in PLACES:
        body = {"model": "plain", "messages": [{"role": "user", "content": "hi"}]} | place(value)
        # A member's name is not decoded, and a body that passes is not opened again and again.
        if place is PLACES[8] and what != "plain" or what == "json in strings" and path == "/generic/reflect":
            continue
        assert gateway.call("POST", path, body).status == 200
        came = mock.requests[-1].body.decode()
        texts = list(leaves(json.loads(came)))
        shown = "\n".join(one for text in texts for one in read(text))
        assert MAIL not in shown and digits(CARD) not in digits(shown), (what, body, came)


def leaves(value):
    """Strings of a document, and its members' names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value


def test_too_many_encodings_are_refused(gateway, mock):
    deep, encoded = '{"a":"jane.doe\\u0040harbour-post.com"}', MAIL
    for _ in range(10):
        deep, encoded = json.dumps({"a": deep}), b64(encoded)
    before = len(mock.requests)
    for value in (deep, encoded, '{"a":' * 200 + '"jane\\u0040ab.de"' + "}" * 200):
        answer = gateway.call("POST", "/restored/reflect", {"a": value})
        assert answer.status == 400 and b"levels" in answer.body
    assert len(mock.requests) == before


# As frameworks for agents hand on what a tool said: LlamaIndex, smolagents, DSPy, ReAct prompts.
AROUND = [
    lambda data: str({"id": 7, "blob": data}),
    lambda data: "Observation: " + json.dumps({"id": 7, "blob": data}),
    lambda data: "```json\n%s\n```" % json.dumps({"blob": data}),
    lambda data: json.dumps({"blob": data}) + "\nplease check",
    lambda data: "\n".join([json.dumps({"blob": data})] * 2),
    lambda data: json.dumps({"said": "as %s has it" % json.dumps({"blob": data})}),
    lambda data: "id: 7\nblob: %s\nend: 1" % data,
    lambda data: str({"out": "blob:\n%s\n" % data}),
    lambda data: "Please decode %s." % data,
    lambda data: "内容：%s。" % data,
]


@pytest.mark.parametrize("url", [False, True])
@pytest.mark.parametrize("around", AROUND)
def test_base64_in_the_middle_of_a_text_is_read_and_restored(gateway, mock, around, url):
    said = "From: %s\nSubject: the card %s is late ÿ?" % (MAIL, CARD)
    text = around(b64(said, url))
    answer, _ = called(gateway, "POST", "/restored/reflect", {"messages": [{"role": "tool", "content": text}]})
    came = json.loads(mock.requests[-1].body)["messages"][0]["content"]
    shown = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode() for part in re.findall(r"[\w+/-]{40,}", came.replace("\\n", " ").translate(str.maketrans("+/", "-_")))]
    assert shown and all("From: " in one and "the card " in one for one in shown), came
    assert not any(MAIL in one or digits(CARD) in digits(one) for one in shown), shown
    assert answer.json()["messages"][0]["content"] == text
