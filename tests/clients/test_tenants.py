"""Tenants: what is made for one is another's in nothing, and their tokens reach nothing that is of all."""

import json
import re

import pytest
from gateway import MINIMAL, Gateway, multipart, run
from llm_upstream import Upstream
from test_usage import ident, token

MAIL = "jane.doe@harbour-post.com"
CHAT = {"model": "m-1", "messages": [{"role": "user", "content": "EMAIL: %s | please." % MAIL}]}
CONFIG = MINIMAL + """
[usage]
count = "all"

[[usage.budgets]]
name = "each"
each = "label:tenant"
period = "day"
requests = 100

[audit]
file = "{home}/audit.jsonl"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "chat"
path = "/chat"
strip_prefix = true
upstream = "mock"
auth = "token"
provider = "openai"
redact = {{}}

[[routes]]
name = "guard"
path = "/guard"
auth = "token"
endpoint = "presidio"
redact = {{}}
"""


@pytest.fixture(scope="module")
def served():
    with Upstream() as upstream, Gateway(upstream.url, CONFIG) as running:
        running.mock = upstream
        yield running


@pytest.fixture(scope="module")
def keys(served):
    """Tokens: two of one tenant, one of another, one of none."""
    made = {name: token(served, "--name", name, "--tenant", name.split("-")[0]) for name in ["acme-1", "acme-2", "beta-1"]}
    return made | {"none": token(served, "--name", "none")}


def post(gateway, key, path, body):
    return gateway.call("POST", path, body, {"authorization": "Bearer " + key})


def sent(gateway, key):
    """What stands for the address upstream; and its caller has it back."""
    answer = post(gateway, key, "/chat/v1/chat/completions", CHAT)
    assert answer.status == 200 and MAIL in json.dumps(answer.json()), answer.body
    said = gateway.mock.requests[-1].json()["messages"][0]["content"]
    return re.fullmatch(r"EMAIL: (\S+) \| please\.", said)[1]


def test_a_value_has_another_surrogate_for_each_tenant_and_comes_back_to_each(served, keys):
    surrogates = {name: sent(served, key) for name, key in keys.items()}
    assert surrogates["acme-1"] == surrogates["acme-2"]
    assert len({MAIL, *surrogates.values()}) == 4, surrogates
    # It is the tenant's, not the token's: another of its tokens goes on with it, after a restart and a rotation too.
    served.restart()
    rotated = run("tokens", "rotate", "-c", served.file, ident(served, "acme-2")).out.strip()
    later = token(served, "--name", "acme-3", "--tenant", "acme")
    assert sent(served, rotated) == sent(served, later) == surrogates["acme-1"]
    keys["acme-2"] = rotated


def test_what_undoes_a_redaction_opens_for_its_own_tenant_alone(served, keys):
    ask = {"text": "Write to " + MAIL, "redaction_method_overrides": {"EMAIL_ADDRESS": {"redaction_type": "fpe"}}}
    made = {name: post(served, key, "/v1/redact", ask).json()["result"] for name, key in keys.items()}
    texts = {name: result["redacted_text"] for name, result in made.items()}
    assert texts["acme-1"] == texts["acme-2"] and len(set(texts.values())) == 3
    for maker, result in made.items():
        back = {"redacted_data": result["redacted_text"], "fpe_context": result["fpe_context"]}
        for name, key in keys.items():
            answer = post(served, key, "/v1/unredact", back)
            if name.split("-")[0] == maker.split("-")[0]:
                assert answer.json()["result"]["data"] == "Write to " + MAIL
            else:
                assert answer.status == 400 and MAIL not in answer.body.decode(), (maker, name)


def test_digests_and_guardrails_are_each_tenant_s_own(served, keys):
    hashed = {"text": "Write to " + MAIL, "redaction_method_overrides": {"EMAIL_ADDRESS": {"redaction_type": "hash"}}}
    values = [{"start": 9, "end": 9 + len(MAIL), "entity_type": "EMAIL_ADDRESS", "score": 1.0}]
    guarded = {"text": "Write to " + MAIL, "analyzer_results": values}
    for path, ask, result in [
        ("/v1/redact", hashed, lambda body: body["result"]["redacted_text"]),
        ("/guard/anonymize", guarded, lambda body: body["text"]),
        ("/guard/anonymize", guarded | {"anonymizers": {"DEFAULT": {"type": "hash"}}}, lambda body: body["text"]),
    ]:
        texts = {name: result(post(served, key, path, ask).json()) for name, key in keys.items()}
        assert texts["acme-1"] == texts["acme-2"] and len(set(texts.values())) == 3, (path, texts)


def test_files_are_each_tenant_s_own(served, keys):
    kind, body = multipart({"name": "plan.txt", "folder": "/plans", "transfer_method": "multipart"}, "plan.txt", b"of acme")
    headers = {"authorization": "Bearer " + keys["acme-1"], "content-type": kind}
    stored = served.call("POST", "/share/v1/put", body, headers)
    assert stored.status == 200, stored.body
    file = stored.json()["result"]["object"]["id"]
    for name, key in keys.items():
        listed = post(served, key, "/share/v1/list", {"filter": {"folder": "/plans"}}).json()["result"]["objects"]
        got = post(served, key, "/share/v1/get", {"id": file, "transfer_method": "dest-url"}).status
        ours = name.startswith("acme")
        assert ([one["id"] for one in listed] == [file], got == 200) == (ours, ours), name


def test_a_tenant_s_token_reaches_nothing_that_is_of_all(served, keys):
    for path, body in [
        ("/v2/key/generate", {"type": "symmetric_key", "purpose": "encryption", "algorithm": "AES-GCM-256"}),
        ("/vault/v2/list", {}),
        ("/v2/jwt/sign", {"id": "pvi_" + "a" * 32, "payload": "{}"}),
        ("/v1beta/token/list", {}),
        ("/v1beta/token/create", {"name": "mine"}),
        ("/v1beta/config/create", {"name": "mine"}),
    ]:
        answer = post(served, keys["acme-1"], path, body)
        assert answer.status == 403, (path, answer.status, answer.body)
    assert post(served, keys["none"], "/vault/v2/list", {}).status == 200


@pytest.mark.parametrize("name", ["", "default", "Acme", "acme corp", "ä", "../x", "a" * 65])
def test_names_of_tenants_are_plain(served, name):
    done = run("tokens", "create", "-c", served.file, "--tenant", name)
    assert done.returncode == 2 and "small letters" in done.err and not done.out


def test_a_tenant_stays_and_covers_no_more(served, keys):
    identity = ident(served, "beta-1")
    for args in [["create", "--name", "x", "--tenant", "acme"], ["update", identity]]:
        for service in ["vault", "token", "admin", "viewer"]:
            done = run("tokens", args[0], "-c", served.file, *args[1:], "--service", service)
            assert done.returncode != 0 and "redact, sanitize and share" in done.err, (args, service)
    # Whatever else is changed.
    before = sent(served, keys["beta-1"])
    assert run("tokens", "update", "-c", served.file, identity, "--name", "beta-1", "--label", "tenant=acme").returncode == 0
    assert run("tokens", "update", "-c", served.file, identity, "--clear", "labels").returncode == 0
    row = next(line.split("\t") for line in run("tokens", "list", "-c", served.file).out.splitlines() if identity in line)
    assert (row[-1], row[-2]) == ("beta", "tenant=beta")
    assert sent(served, keys["beta-1"]) == before


def test_a_label_makes_no_tenant(served, keys):
    done = run("tokens", "create", "-c", served.file, "--label", "tenant=acme")
    assert done.returncode != 0 and "--tenant" in done.err
    done = run("tokens", "update", "-c", served.file, ident(served, "none"), "--label", "tenant=acme")
    assert done.returncode != 0 and "--tenant" in done.err


def test_tokens_of_tenants_are_made_by_http_too(served, keys):
    chief = token(served, "--name", "chief", "--service", "token")
    made = post(served, chief, "/v1beta/token/create", {"name": "acme-4", "tenant": "acme"}).json()["result"]
    assert made["tenant"] == "acme" and made["labels"] == {"tenant": "acme"}
    assert sent(served, made["token"]) == sent(served, keys["acme-1"])
    changed = post(served, chief, "/v1beta/token/update", {"id": made["id"], "labels": None}).json()["result"]
    assert changed["tenant"] == "acme" and changed["labels"] == {"tenant": "acme"}
    for body in [{"name": "x", "tenant": "Acme"}, {"name": "x", "tenant": "acme", "services": ["vault"]}, {"name": "x", "tenant": 1}]:
        assert post(served, chief, "/v1beta/token/create", body).status == 400, body
    assert post(served, chief, "/v1beta/token/update", {"id": made["id"], "tenant": "beta"}).status == 400


def test_the_audit_log_and_budgets_know_tenants(served, keys):
    sent(served, keys["beta-1"])

    def named():
        lines = (served.home / "audit.jsonl").read_text().splitlines()
        return {json.loads(line).get("labels", {}).get("tenant") for line in lines}

    assert served.wait_for(lambda: named() >= {"acme", "beta"})
    spent = 0
    while post(served, keys["beta-1"], "/chat/v1/chat/completions", CHAT).status == 200:
        spent += 1
        assert spent <= 100
    assert post(served, keys["beta-1"], "/chat/v1/chat/completions", CHAT).status == 429
    assert sent(served, keys["acme-1"]), "the other tenant has its own"
