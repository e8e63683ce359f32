"""Surrogates as an oracle: they are the same within what a route says, tell nothing about those of another, and nobody may
have any number of values encrypted. What was made before there were scopes still comes back."""

import base64
import gzip
import http.client
import json
import random
import re
import time
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from gateway import MINIMAL, Gateway, multipart, routes_to, run

SESSION = 'tweak = "conversation", conversation_header = "x-session-id"'
ROUTES = [
    ("one", "none", ""),
    ("two", "none", ""),
    ("caller", "none", 'tweak = "caller"'),
    ("token", "token", 'tweak = "caller"'),
    ("talk", "token", SESSION),
    ("open", "none", SESSION),
    ("passing", "none", 'answers = "off", protocol = "generic"'),
    ("talking", "none", 'answers = "off", protocol = "generic", ' + SESSION),
    ("echo", "none", 'requests = "off", answers = "mask", methods = {{ EMAIL_ADDRESS = "encrypt" }}'),
]
UPSTREAM = """
[upstreams.mock]
peers = ["{upstream}"]
"""
CONFIG = MINIMAL + UPSTREAM + routes_to("mock", ROUTES)

MAIL, CARD, SSN = "jane.doe@example.com", "4111 1111 1111 1111", "536-22-8726"
TEXT = "Mail %s, card %s, SSN %s." % (MAIL, CARD, SSN)


@pytest.fixture(scope="module")
def gateway(upstream):
    with Gateway(upstream.url, CONFIG) as running:
        yield running


def token(gateway, *named):
    done = run("tokens", "create", "-c", gateway.file, "--name", "t", *named)
    assert done.returncode == 0, done.err
    return done.out.strip().splitlines()[-1]


def bearer(text):
    return {"authorization": "Bearer " + text}


def sent(gateway, mock, path, body, **headers):
    """What the upstream has of a body; the caller has its own back."""
    answer = gateway.call("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    assert answer.status == 200, answer.body
    assert MAIL in answer.body.decode() or "passing" in path or "talking" in path
    came = mock.requests[-1].body.decode()
    assert not any(value in came for value in (MAIL, CARD, SSN, MAIL.split("@")[1]))
    return came


def said(gateway, mock, route, **headers):
    return sent(gateway, mock, "/%s/reflect" % route, {"text": TEXT}, **headers)


def no_two_alike(*texts):
    """No surrogate of one stands in another, nor does a part of an address."""
    parts = [set(re.findall(r"[\w.]+(?=@)|(?<=@)\w+|\d{4} \d{4} \d{4} \d{4}|\d{3}-\d{2}-\d{4}", text)) for text in texts]
    assert all(len(part) == 4 for part in parts), parts
    assert len(set().union(*parts)) == 4 * len(texts), parts


# ── scopes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_routes_have_surrogates_of_their_own(gateway, mock):
    one, two = said(gateway, mock, "one"), said(gateway, mock, "two")
    no_two_alike(one, two)
    # Whoever calls, and however it comes.
    assert said(gateway, mock, "one", authorization="Bearer sk-1") == one
    assert sent(gateway, mock, "/one/reflect", TEXT, content_type="text/plain") in one
    no_two_alike(one, two, gateway.api("/v1/redact", {"text": TEXT, "llm_request": True}).json()["result"]["redacted_text"])


def test_whole_and_passing_bodies_get_the_same(gateway, mock):
    """As a document and as a stream of pieces, on one route."""
    whole = sent(gateway, mock, "/talking/responses/reflect", {"text": TEXT})
    assert sent(gateway, mock, "/talking/reflect", {"text": TEXT}) == whole
    pieces = [json.dumps({"text": TEXT})[at : at + 7].encode() for at in range(0, 120, 7)]
    path = "/talking/reflect"
    assert sent(gateway, mock, path, iter(pieces), content_type="application/json") == whole


CALLERS = [
    {"authorization": "Bearer sk-1"},
    {"authorization": "Bearer sk-2"},
    {"x_api_key": "sk-3"},
    {"api_key": "sk-4"},
    {},
    {"authorization": "AWS4-HMAC-SHA256 Credential=AKIA1/20261122/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=0a"},
]


def test_callers_have_surrogates_of_their_own(gateway, mock):
    first = [said(gateway, mock, "caller", **headers) for headers in CALLERS]
    no_two_alike(*first)
    assert [said(gateway, mock, "caller", **headers) for headers in CALLERS] == first
    # The same key in another place, another signature by the same key, another header.
    assert said(gateway, mock, "caller", x_goog_api_key="sk-1", user_agent="x") == first[0]
    assert sent(gateway, mock, "/caller/reflect?key=sk%2D2", {"text": TEXT}) == first[1]
    later = CALLERS[-1]["authorization"].replace("20261122", "20261123").replace("0a", "0b")
    assert said(gateway, mock, "caller", authorization=later) == first[-1]


def test_tokens_have_surrogates_of_their_own_whatever_else_they_send(gateway, mock):
    tokens = [token(gateway, "--route", "token") for _ in range(2)]
    first = [said(gateway, mock, "token", **bearer(text)) for text in tokens]
    no_two_alike(*first)
    assert [said(gateway, mock, "token", x_api_key=text, authorization="Bearer sk-1") for text in tokens] == first


class Signed(Gateway):
    """Knows who signs tokens."""

    def start(self, every=0.02):
        self.key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        (self.home / "jwks.json").write_text(json.dumps({"keys": [public | {"kid": "1", "alg": "ES256"}]}))
        super().start(every)

    def signed(self, age, **claims):
        times = {"iat": int(time.time()) - age, "exp": int(time.time()) + 3600 - age}
        return bearer(jwt.encode(claims | times, self.key, "ES256", {"kid": "1"}))


def test_a_token_that_the_gateway_signs_is_not_its_callers(upstream, mock):
    """Signing puts a token of the gateway's own where the caller had its key: surrogates go by what the caller sent."""
    answers = 'answers = "mask", methods = {{ EMAIL_ADDRESS = "encrypt" }}, tweak = "caller"'
    sign = '[routes.sign]\nkey = "%s"\nissuer = "https://gateway.test"\naudiences = ["service"]\n'
    with Gateway(upstream.url, MINIMAL + UPSTREAM) as gateway:
        made = run("keys", "generate", "--algorithm", "ES256", "--name", "signer", "-c", gateway.file)
        key = made.out.split()[0]
        gateway.config = MINIMAL + UPSTREAM
        for name, requests in [("off", 'requests = "off", '), ("passing", 'protocol = "generic", '), ("collected", "")]:
            gateway.config += routes_to("mock", [(name, "none", requests + answers)]) + sign % key
        gateway.stop()
        gateway.start()
        mock.canned["mail"] = (200, "application/json", json.dumps({"mail": MAIL}).encode(), "", 0)
        for route in ["off", "passing", "collected"]:
            got = [
                gateway.call("POST", "/%s/mail" % route, {"m": MAIL}, bearer(key)).body for key in ("sk-a", "sk-b", "sk-a")
            ]
            assert got[0] == got[2] != got[1] and MAIL.encode() not in got[0], (route, got)


def test_who_has_a_signed_token_is_known_by_its_subject(upstream, mock):
    route = routes_to("mock", [("signed", "none", 'tweak = "caller"')])
    route += 'jwt = {{ keys = {{ file = "jwks.json" }}, forward = true }}\n'
    with Signed(upstream.url, CONFIG + route) as gateway:
        came = lambda age=0, **claims: said(gateway, mock, "signed", **gateway.signed(age, **claims))
        one = came(iss="a", sub="jane")
        no_two_alike(one, came(iss="a", sub="joe"), came(iss="b", sub="jane"))
        # Renewed, it is another token of the same subject.
        assert came(60, iss="a", sub="jane", nonce=1) == one


def test_a_conversation_keeps_its_surrogates_over_all_turns_whoever_calls(gateway, mock):
    tokens = [bearer(token(gateway, "--route", "talk")) for _ in range(2)]
    for path in ("/talk/chat/reflect", "/talk/v1/responses/reflect"):
        talk = lambda who, session, **body: sent(gateway, mock, path, {"text": TEXT} | body, **tokens[who], x_session_id=session)
        text = lambda came: json.loads(came)["text"]
        one, other = text(talk(0, "s-1")), text(talk(0, "s-2"))
        no_two_alike(one, other)
        for turn in range(3):
            assert text(talk(turn % 2, " s-1", previous_response_id="resp_%d" % turn, more=[MAIL])) == one
    # Where none is named it is the caller's.
    mine = [said(gateway, mock, "talk", **who) for who in tokens]
    no_two_alike(*mine, said(gateway, mock, "talk", **tokens[0], x_session_id="s-1"))
    assert said(gateway, mock, "talk", **tokens[1], x_session_id="") == mine[1]


def test_the_providers_id_goes_before_a_header(gateway, mock):
    mock.canned["responses"] = mock.canned["items"] = (200, "application/json", b"{}", "", 0)

    def came(body, path="/open/v1/responses", **headers):
        answer = gateway.call("POST", path, body, headers | {"content-type": "application/json"})
        assert answer.status == 200, answer.body
        return json.loads(mock.requests[-1].body)["input"]

    body = lambda **more: json.dumps({"input": TEXT} | more)
    one = came(body(conversation="conv_1"))
    for turn in range(3):
        same = body(previous_response_id="resp_%d" % turn, conversation={"id": "conv_1"})
        assert came(same, **{"x-session-id": "s-%d" % turn, "authorization": "Bearer sk-%d" % turn}) == one
    assert came(body(), "/open/v1/conversations/conv_1/items") == one
    by_turns = [came(body(previous_response_id="resp_%d" % turn)) for turn in range(2)]
    assert by_turns[0] == by_turns[1] == came(body())
    no_two_alike(one, came(body(conversation="conv_2")), by_turns[0], came(body(), **{"x-session-id": "conv_1"}))
    # Where a body passes as it comes, this one is read first.
    assert came(body(conversation="conv_1"), "/talking/v1/responses") == came(body(conversation="conv_1"), "/talking/v1/responses")
    no_two_alike(came(body(conversation="conv_1"), "/talking/v1/responses"), came(body(), "/talking/v1/responses"))


def test_the_same_after_a_restart(upstream, mock):
    with Gateway(upstream.url, CONFIG) as gateway:
        ask = lambda: [
            said(gateway, mock, "one"),
            said(gateway, mock, "caller", authorization="Bearer sk-1"),
            said(gateway, mock, "open", x_session_id="s-1"),
            gateway.api("/v1/redact", {"text": TEXT, "llm_request": True}).json()["result"]["redacted_text"],
        ]
        before = ask()
        gateway.restart()
        assert ask() == before


def test_configs_have_surrogates_of_their_own_but_for_a_tweak_of_the_callers(gateway):
    fpe = {"redaction_type": "fpe", "fpe_alphabet": "alphanumeric"}
    rules = ["EMAIL_ADDRESS", "CREDIT_CARD"]

    def config(**card):
        settings = {"name": "c", "enabled_rules": rules, "redactions": {"EMAIL_ADDRESS": fpe, "CREDIT_CARD": fpe | card}}
        return gateway.api("/v1beta/config/create", settings).json()["result"]["id"]

    def redacted(**named):
        result = gateway.api("/v1/redact", {"text": TEXT, **named}).json()["result"]
        back = gateway.api("/v1/unredact", {"redacted_data": result["redacted_text"], "fpe_context": result["fpe_context"]})
        assert back.json()["result"]["data"] == TEXT
        return re.findall(r"Mail (\S+), card (.*), ", result["redacted_text"])[0]

    ids = [config(fpe_tweak="abcd123") for _ in range(2)]
    texts = [redacted(config_id=id) for id in ids] + [redacted(rules=rules, redaction_method_overrides=fpe)]
    assert len({mail for mail, _ in texts}) == 3 and len({card for _, card in texts[:2]}) == 1
    # Encrypted for a model, by the config or by a call's own method, it is the config's all the same.
    assert redacted(config_id=ids[0]) == texts[0]
    llm = [redacted(config_id=id, llm_request=True) for id in ids]
    assert llm[0][0] != llm[1][0] and llm[0][1] != llm[1][1]


# ── what was made before ────────────────────────────────────────────────────────────────────────────────────────────

BEFORE = json.loads((Path(__file__).parent / "stores/2026-11-22.json").read_text())


class Before(Gateway):
    """On the store that a program made which knew of no scopes."""

    def start(self, every=0.02):
        data = self.home / "data"
        data.mkdir(exist_ok=True, mode=0o700)
        for name, content in BEFORE["data"].items():
            if not (data / name).exists():
                (data / name).touch(0o600)
                (data / name).write_bytes(gzip.decompress(base64.b64decode(content)))
        super().start(every)

    def said(self, what):
        return [line for line in self.log if what in line]


@pytest.fixture(scope="module")
def before(upstream):
    with Before(upstream.url, CONFIG, token="-") as running:
        running.token = token(running)
        yield running


@pytest.mark.parametrize("name", BEFORE["contexts"])
def test_contexts_made_before_still_open(before, name):
    kept = BEFORE["contexts"][name]
    back = before.api("/v1/unredact", {"redacted_data": kept["redacted"], "fpe_context": kept["context"]})
    assert back.status == 200 and back.json()["result"]["data"] == kept["call"]["text"]
    again = before.api("/v1/redact", kept["call"]).json()["result"]["redacted_text"]
    # Without a config, and with a tweak of the caller's own, what is made now is what was made then; but that a phone
    # number is encrypted as nobody's now.
    alike = [re.sub(r"\+1 \d{3} \d{3} \d{4}", "PHONE", text) if name == "llm" else text for text in (again, kept["redacted"])]
    assert (alike[0] == alike[1]) == ("config" not in name)
    if name == "config":
        assert again.split()[1] == kept["redacted"].split()[1]


def test_documents_and_files_made_before_come_back(before, tmp_path):
    kept = BEFORE["structured"]
    back = before.api("/v1/unredact", {"redacted_data": kept["redacted"], "fpe_context": kept["context"]})
    assert back.json()["result"]["data"] == {"user": {"mail": MAIL, "card": CARD}}
    for name in ("stream", "document"):
        file = tmp_path / name
        file.write_bytes(base64.b64decode(BEFORE[name]["context"]))
        done = run("unredact", "--context", file, "-c", before.file, stdin=BEFORE[name]["redacted"])
        assert (done.returncode, done.out) == (0, BEFORE[name]["text"]), done.err


# ── how many ────────────────────────────────────────────────────────────────────────────────────────────────────────

LIMITED = CONFIG.replace("[upstreams.mock]", '[reload]\nevery = "100ms"\n[log]\nformat = "json"\n[limits]\ndistinct_values = 50\ndistinct_per = "%s"\n[upstreams.mock]')
numbers = random.Random(4)
ssn = lambda: "%03d-%02d-%04d" % (numbers.randint(100, 665), numbers.randint(1, 99), numbers.randint(1, 9999))
line = lambda: "SSN " + ssn()
encrypted = {"redaction_method_overrides": {"redaction_type": "fpe", "fpe_alphabet": "numeric"}}
hashed = {"redaction_method_overrides": {"redaction_type": "hash", "hash": {"hash_type": "sha256"}}}


def limited(answer, window=3600):
    """429 in the caller's own form, which says when to come again and nothing of any value."""
    assert answer.status == 429, answer.body
    assert 0 < int(answer.headers["Retry-After"]) <= window
    assert b"SSN" not in answer.body
    return answer.json()


def test_who_tries_all_values_is_stopped(upstream, mock):
    with Gateway(upstream.url, LIMITED % "1h") as gateway:
        redact = lambda text, **how: gateway.api("/v1/redact", {"text": text, **how})
        # One call that wants too many at once is refused whole.
        told = limited(redact("; ".join(line() for _ in range(60)), **encrypted))
        assert told["status"] == "TooManyRequests" and "result" not in told or told["result"] is None
        other = bearer(token(gateway))
        mine = [line() for _ in range(50)]
        call = lambda text, path="/v1/redact", who=other, **how: gateway.call("POST", path, {"text": text, **how}, who)
        for text in mine:
            assert call(text, **encrypted).status == 200
            assert call(mine[0], **encrypted).status == 200
        # One more is one too many, however it is asked for; from then on it is not told which were had before.
        for how in (encrypted, hashed, {"llm_request": True}):
            limited(call(line(), **how))
        structured = {"data": {"text": line()}, **encrypted}
        limited(gateway.call("POST", "/v1/redact_structured", structured, other))
        limited(call(mine[0], **encrypted))
        # What tells nothing goes on.
        assert call(line()).status == 200
        assert call(line(), redaction_method_overrides={"redaction_type": "mask"}).status == 200
        limited(gateway.call("POST", "/token/reflect", {"text": line()}, other))
        # Another caller has its own.
        assert call(line(), who=bearer(token(gateway)), **encrypted).status == 200
        logged = [row for row in gateway.log if "distinct_values" in row]
        assert len(logged) == 2 and all(json.loads(row)["level"].lower() == "warn" for row in logged)
        whole = "\n".join(gateway.log)
        assert not any(text.split()[1] in whole for text in mine)
        assert int(re.search(r'refused_total\{reason="values"\} (\d+)', gateway.metrics()).group(1)) == 7


def test_routes_count_by_caller_all_together(upstream, mock):
    with Gateway(upstream.url, LIMITED % "1h") as gateway:
        for number in range(50):
            # Which key a caller sends its provider is for it to choose.
            headers = {"authorization": "Bearer sk-%d" % number}
            assert gateway.call("POST", "/%s/reflect" % ("one", "caller")[number % 2], {"text": line()}, headers).status == 200
        sent = len(mock.requests)
        limited(gateway.call("POST", "/two/reflect", {"text": line()}))
        limited(gateway.call("POST", "/open/reflect", {"text": line()}, {"x-session-id": "s"}))
        chat = {"model": "plain", "messages": [{"role": "user", "content": line()}]}
        assert limited(gateway.call("POST", "/one/chat/completions", chat))["error"]["type"] == "rate_limit_error"
        # Also a body that passes as it comes.
        limited(gateway.call("POST", "/passing/reflect", {"text": line()}))
        assert len(mock.requests) == sent
        assert gateway.call("POST", "/one/reflect", {"text": "nothing to encrypt"}).status == 200
        assert gateway.api("/v1/redact", {"text": line(), **encrypted}).status == 200


def test_values_of_files_count(upstream):
    with Gateway(upstream.url, LIMITED % "1h") as gateway:
        config = gateway.api("/v1beta/config/create", {"name": "c", "enabled_rules": ["US_SSN"], "redactions": {"US_SSN": {"redaction_type": "hash", "hash": {"hash_type": "sha256"}}}})
        settings = {"name": "s", "redact": {"redact_service_config_id": config.json()["result"]["id"]}}
        made = gateway.api("/sanitize/v1beta/config/create", settings)
        assert made.status == 200, made.body
        def clean(count):
            ask = {"config_id": made.json()["result"]["id"], "content": {"redact": True, "url_intel": False, "domain_intel": False}}
            kind, body = multipart(ask, "a.txt", "\n".join(line() for _ in range(count)).encode())
            return gateway.api("/v1/sanitize", body, **{"content-type": kind})

        assert clean(40).status == 200
        assert limited(clean(40))["status"] == "TooManyRequests"


def test_an_answer_that_would_tell_more_is_refused_or_breaks_off(upstream, mock):
    """An upstream may say what a caller asks it to. Where its head has left, there is no room for words: the connection ends."""
    with Gateway(upstream.url, LIMITED % "1h") as gateway:
        ask = lambda n: gateway.call("POST", "/echo/reflect", {"mail": ["u%d@example.com" % at for at in range(n)]})
        assert ask(50).status == ask(50).status == 200
        try:
            limited(ask(51))
        except (http.client.HTTPException, ConnectionError):
            pass
        assert 'refused_total{reason="values"} 1' in gateway.metrics()


def test_time_gives_back_and_a_reload_forgives_nobody(upstream, mock):
    with Gateway(upstream.url, LIMITED % "3s") as gateway:
        mine = lambda: gateway.api("/v1/redact", {"text": line(), **encrypted})
        while mine().status == 200:
            pass
        answer = mine()
        limited(answer, 4)
        time.sleep(int(answer.headers["Retry-After"]))
        assert mine().status == 200
        for put in ((LIMITED % "1h"), (LIMITED % "1h") + routes_to("mock", [("more", "none", "")])):
            while (answer := mine()).status == 200:
                pass
            limited(answer)
            gateway.write(put)
            reloads = lambda: gateway.metrics().count('reloads_total{result="ok"} 0') == 0
            gateway.wait_for(reloads)
        gateway.wait_for(lambda: gateway.call("POST", "/more/reflect", {"text": "-"}).status == 200)
        limited(mine())
        # Another bound counts from the next call on.
        gateway.write((LIMITED % "1h").replace("distinct_values = 50", "distinct_values = 52"))
        gateway.wait_for(lambda: mine().status == 200)
        gateway.write((LIMITED % "1h").replace("distinct_values = 50", "distinct_values = 0"))
        gateway.wait_for(lambda: all(mine().status == 200 for _ in range(20)))
