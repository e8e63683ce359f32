"""What a token may do, and where it may be shown: each kind of token against each call, and each place in a request."""

import base64
import urllib.parse

import pytest
from gateway import CONFIG, Gateway, multipart, run
from openai import AzureOpenAI, OpenAI
from test_native_api import envelope, faults
from test_vault import fpe_key, key, ok, secret

DONE, USAGE = 0, 2
MAIL = "jane.doe@harbour-post.com"
CHALLENGE = 'Bearer realm="portcullis"'
FPE = {"redaction_method_overrides": {"EMAIL_ADDRESS": {"redaction_type": "fpe"}}}
ROUTES = (
    CONFIG
    + """
[[routes]]
name = "models"
path = "/models"
upstream = "mock"
auth = "token"
redact = {{}}

[[routes]]
name = "other"
path = "/other"
upstream = "mock"
auth = "token"

[[routes]]
name = "open"
path = "/open"
upstream = "mock"
auth = "none"
"""
)


@pytest.fixture(scope="module")
def gateway(upstream):
    with Gateway(upstream.url, config=ROUTES) as running:
        yield running


def made(gateway, *named):
    """A token; `named` in pairs, such as `"service", "redact"`."""
    args = ["--" + word if n % 2 == 0 else word for n, word in enumerate(named)]
    done = run("tokens", "create", "-c", gateway.file, *args)
    assert done.returncode == DONE, done.err
    return done.out.strip()


def bearer(token):
    return {"authorization": "Bearer " + token}


def ask(gateway, token, path, body=None):
    return gateway.call("POST", path, {} if body is None else body, bearer(token))


def refused(answer):
    """403, and says which right is missing."""
    assert envelope(answer, 403, "ServiceNotEnabled") is None
    return answer.json()["summary"]


def config(gateway, **settings):
    return ok(gateway.api("/v1beta/config/create", {"name": "c", "enabled_rules": ["EMAIL_ADDRESS"], **settings}))


# ── services and routes ─────────────────────────────────────────────────────────────────────────────────────────────

CALLS = {
    "redact": [
        ("/v1/redact", {"text": "-"}),
        ("/redact/v1/redact", {"text": "-"}),
        ("//redact//v1/redact/", {"text": "-"}),
        ("/v1/redact_structured", {"data": {}}),
        ("/v1/unredact_events", {"events": []}),
        ("/v1beta/config/list", {}),
    ],
    "sanitize": [("/sanitize/v1beta/config/list", {}), ("/v1/sanitize", {"transfer_method": "put-url", "uploaded_file_name": "a"})],
    "vault": [("/v2/list", {}), ("/vault/v2/list", {})],
    "share": [("/share/v1/list", {}), ("/share/v1/folder/create", {"folder": "/t/s"})],
    "models": [("/models/reflect", {"a": 1}), ("//models/reflect", {"a": 1})],
    "other": [("/other/reflect", {"a": 1})],
}
KINDS = [
    ([], set(CALLS)),
    (["service", "redact"], {"redact"}),
    (["service", "sanitize", "service", "share"], {"sanitize", "share"}),
    (["service", "vault", "route", "other"], {"vault", "other"}),
    (["route", "models"], {"models"}),
]


@pytest.mark.parametrize("named, covered", KINDS, ids=[" ".join(named) or "all" for named, _ in KINDS])
def test_a_token_reaches_what_it_names_and_nothing_else(gateway, named, covered):
    token = made(gateway, *named)
    for target, calls in CALLS.items():
        for path, body in calls:
            answer = ask(gateway, token, path, body)
            if path.startswith("//models") and answer.status == 404:
                continue  # Whether slashes are merged is the route's matter: it goes nowhere then.
            if target in covered:
                assert answer.status in (200, 202), (path, answer.body)
            else:
                assert "WWW-Authenticate" not in answer.headers
                assert refused(answer) == "The token does not cover this " + ("route" if target in ("models", "other") else "service")


def test_a_route_refuses_in_its_own_protocol(gateway, mock):
    chat = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    for headers, status, kind in [
        (bearer(made(gateway, "route", "other")), 403, "permission_error"),
        ({}, 401, "authentication_error"),
        (bearer("pts_" + "a" * 32), 401, "authentication_error"),
    ]:
        answer = gateway.call("POST", "/models/v1/chat/completions", chat, headers)
        assert (answer.status, answer.json()["error"]["type"]) == (status, kind)
        assert answer.headers["WWW-Authenticate"] == (CHALLENGE if status == 401 else None)
    assert not mock.requests


def test_every_401_says_how_to_come_in(gateway):
    for method, path in [("POST", "/v1/redact"), ("POST", "/v2/list"), ("GET", "/request/prq_" + "a" * 32), ("GET", "/private/x")]:
        for headers in [{}, bearer("pts_" + "a" * 32), {"authorization": "Basic eDp5"}, {"cookie": "a=" + gateway.token}]:
            answer = gateway.call(method, path, headers=headers)
            envelope(answer, 401, "Unauthorized")
            assert answer.headers.get_all("WWW-Authenticate") == [CHALLENGE]


def test_an_expired_and_a_revoked_token_open_nothing(gateway, mock):
    token = made(gateway, "name", "soon gone")
    call = lambda: [ask(gateway, token, path, {"text": "-"}).status for path in ("/v1/redact", "/other/reflect")]
    assert call() == [200, 200]
    listed = run("tokens", "list", "-c", gateway.file).out.splitlines()
    [row] = [row for row in listed if "\tsoon gone\t" in row]
    assert run("tokens", "revoke", row.split("\t")[0], "-c", gateway.file).returncode == DONE
    gateway.wait_for(lambda: call() == [401, 401], 5)
    # It does not travel on either, where none is asked for.
    mock.forget()
    gateway.call("GET", "/open/reflect?key=" + token, headers=bearer(token))
    [request] = mock.requests
    assert token not in request.everything()


def test_the_command_line_says_what_a_token_covers(gateway, tmp_path):
    place = ("-c", gateway.file)
    whole = run("tokens", "create", "--name", "whole", *place)
    assert "covers every service and every route" in whole.err
    part = run("tokens", "create", "--name", "part", "--service", "vault", "--service", "redact", "--route", "models", *place)
    assert part.err == "" and part.out.startswith("pts_")
    only = run("tokens", "create", "--name", "only", "--route", "other", "--route", "other", *place)
    assert only.returncode == DONE
    head, *rows = [line.split("\t") for line in run("tokens", "list", *place).out.splitlines()]
    columns = [head.index(name) for name in ("NAME", "SERVICES", "CONFIGS", "ROUTES")]
    shown = [[row[column] for column in columns] for row in rows]
    assert ["whole", "all", "all", "all"] in shown
    assert ["part", "vault,redact", "all", "models"] in shown
    assert ["only", "none", "all", "other"] in shown
    for named, known in [
        (("--service", "Redact"), ["redact", "sanitize", "vault", "share"]),
        (("--service", "configs"), ["redact", "sanitize", "vault", "share"]),
        (("--service", ""), ["redact"]),
        (("--route", "Models"), ["models", "other", "open", "private"]),
        (("--route", ""), ["models"]),
    ]:
        done = run("tokens", "create", *named, *place)
        assert (done.returncode, done.out) == (USAGE, "") and all(name in done.err for name in known), done.err
    assert len(run("tokens", "list", *place).out.splitlines()) == len(rows) + 1
    unchecked = run("tokens", "create", "--route", "nobody knows", "--data", tmp_path)
    assert unchecked.returncode == DONE and "not checked" in unchecked.err
    for unknown in ("--owner", "--team"):
        assert run("tokens", "create", unknown, "x", "--data", tmp_path).returncode == USAGE


# ── what a call names ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_token_for_a_config_cannot_change_it(gateway):
    mine = config(gateway, enforce_enabled_rules=True)
    token = made(gateway, "config", mine["id"])
    assert ok(ask(gateway, token, "/v1beta/config", {"id": mine["id"]})) == mine
    free = {"id": mine["id"], "name": "free", "enabled_rules": [], "updated_at": mine["updated_at"]}
    refused(ask(gateway, token, "/v1beta/config/update", free))
    refused(ask(gateway, token, "/redact/v1beta/config/delete", {"id": mine["id"]}))
    refused(ask(gateway, token, "/v1beta/config/create", {"name": "x"}))
    refused(ask(gateway, token, "/sanitize/v1beta/config/create", {"name": "x"}))
    assert ok(gateway.api("/v1beta/config", {"id": mine["id"]})) == mine


def test_redaction_reads_no_vault_item_that_its_config_does_not_name(gateway):
    item, salt, tweak, other = fpe_key(gateway), secret(gateway, "salty"), secret(gateway, "abcdefg"), secret(gateway, "hijklmn")
    fpe = lambda tweak: {"redaction_type": "fpe", "fpe_tweak_vault_secret_id": tweak}
    hashed = {"redaction_type": "hash", "hash": {"hash_type": "sha256"}}
    names = config(gateway, fpe_vault_secret_id=item, salt_vault_secret_id=salt, redactions={"EMAIL_ADDRESS": fpe(tweak)})
    text = {"text": "Mail " + MAIL}
    calls = [
        ("/v1/redact", text | {"vault_parameters": {"fpe_key_id": item}} | FPE, True),
        ("/v1/redact", text | {"vault_parameters": {"salt_secret_id": salt}, "redaction_method_overrides": hashed}, True),
        ("/v1/redact", text | {"redaction_method_overrides": fpe(tweak)}, True),
        ("/v1/redact", text | {"redaction_method_overrides": {"EMAIL_ADDRESS": fpe(tweak)}}, True),
        ("/v1/redact_structured", {"data": {"a": MAIL}, "redaction_method_overrides": fpe(tweak)}, True),
        (
            "/v1/redact_structured",
            {"data": {"a": MAIL}, "jsonp": [{"path": "$.a", "rules": [{"rule": "EMAIL_ADDRESS", **fpe(tweak)}]}]},
            True,
        ),
        ("/v1/redact", text | {"vault_parameters": {"salt_secret_id": other}, "redaction_method_overrides": hashed}, False),
        ("/v1/redact", text | {"redaction_method_overrides": fpe(other)}, False),
        ("/v1/redact", text | {"redaction_method_overrides": fpe("pvi_" + "a" * 32)}, False),
        ("/v1/redact", text | {"vault_parameters": {"fpe_key_id": "thisisnotanid"}}, False),
    ]
    narrow, wide = made(gateway, "service", "redact"), made(gateway, "service", "redact", "service", "vault")
    bound = made(gateway, "service", "redact", "config", names["id"])
    for path, body, named in calls:
        # Without the config nothing is named; what is not there is not told apart.
        assert "vault" in refused(ask(gateway, narrow, path, body))
        with_config = body | {"config_id": names["id"]}
        for token, body in [(narrow, with_config), (bound, body)]:
            answer = ask(gateway, token, path, body)
            assert ok(answer) if named else refused(answer)
        assert ask(gateway, wide, path, body).status in (200, 400)
    # A config is no way around it.
    for path in ("/v1beta/config/create", "/v1beta/config/update"):
        again = {"id": names["id"], "updated_at": names["updated_at"]} if path.endswith("update") else {}
        for more in ({"fpe_vault_secret_id": other}, {"salt_vault_secret_id": other}, {"redactions": {"URL": fpe(other)}}):
            body = {"name": "c", "enabled_rules": ["EMAIL_ADDRESS"], **again, **more}
            assert "vault" in refused(ask(gateway, narrow, path, body)), more
    kept = {field: names[field] for field in ("id", "updated_at", "name", "fpe_vault_secret_id", "redactions")}
    kept["redactions"] = {"EMAIL_ADDRESS": fpe(tweak)}
    changed = ok(ask(gateway, narrow, "/v1beta/config/update", kept | {"name": "renamed", "enabled_rules": ["EMAIL_ADDRESS"]}))
    assert (changed["name"], changed["fpe_vault_secret_id"]) == ("renamed", item)


def test_a_context_opens_for_whoever_may_use_its_config(gateway):
    item = fpe_key(gateway)
    a = config(gateway, fpe_vault_secret_id=item, redactions={"EMAIL_ADDRESS": {"redaction_type": "fpe"}})["id"]
    b = config(gateway, redactions={"EMAIL_ADDRESS": {"redaction_type": "fpe"}})["id"]
    text = "Mail " + MAIL
    own_key = {"vault_parameters": {"fpe_key_id": item}}
    contexts = {
        "none": ok(gateway.api("/v1/redact", {"text": text} | FPE)),
        "a": ok(gateway.api("/v1/redact", {"text": text, "config_id": a})),
        "b": ok(gateway.api("/v1/redact", {"text": text, "config_id": b})),
        "none, a key": ok(gateway.api("/v1/redact", {"text": text} | FPE | own_key)),
        "a, its key": ok(gateway.api("/v1/redact", {"text": text, "config_id": a} | own_key)),
        "b, a key": ok(gateway.api("/v1/redact", {"text": text, "config_id": b} | own_key)),
    }
    opens = {
        (): {"none", "a", "b", "none, a key", "a, its key", "b, a key"},
        ("service", "redact"): {"none", "a", "b", "a, its key"},
        ("config", a): {"a", "a, its key"},
        ("config", b): {"b", "b, a key"},
        ("config", a, "config", b): {"a", "b", "a, its key", "b, a key"},
        ("config", b, "service", "redact"): {"b"},
    }
    for named, mine in opens.items():
        token = made(gateway, *named)
        for made_so, result in contexts.items():
            body = {"redacted_data": result["redacted_text"], "fpe_context": result["fpe_context"]}
            event = {"envelope": {"m": result["redacted_text"]}, "fpe_context": result["fpe_context"]}
            one = ask(gateway, token, "/v1/unredact", body)
            two = ask(gateway, token, "/v1/unredact_events", {"events": [event]})
            if made_so in mine:
                assert ok(one) == {"data": text} and ok(two) == {"events": [{"envelope": {"m": text}}]}
            else:
                assert {one.status, two.status} == {403}, (named, made_so, one.body)
                assert one.json()["status"] in ("MissingConfigIDScope", "ServiceNotEnabled")
                assert MAIL.encode() not in one.body + two.body
    # Once the config is gone, what was made under it still opens.
    bound = made(gateway, "config", b)
    ok(gateway.api("/v1beta/config/delete", {"id": b}))
    body = {"redacted_data": contexts["b"]["redacted_text"], "fpe_context": contexts["b"]["fpe_context"]}
    assert ok(ask(gateway, bound, "/v1/unredact", body)) == {"data": text}
    flipped = bytearray(base64.b64decode(contexts["a"]["fpe_context"]))
    for at in range(0, len(flipped), 7):
        flipped[at] ^= 1
        body["fpe_context"] = base64.b64encode(flipped).decode()
        assert faults(gateway.api("/v1/unredact", body)) == [("/fpe_context", "BadFormat")]
        flipped[at] ^= 1


def test_unredact_honours_the_config_that_is_named(gateway):
    a, b = (config(gateway, redactions={"EMAIL_ADDRESS": {"redaction_type": "fpe"}})["id"] for _ in range(2))
    foreign = ok(gateway.api("/sanitize/v1beta/config/create", {"name": "s"}))["id"]
    done = ok(gateway.api("/v1/redact", {"text": MAIL, "config_id": a}))
    one = {"redacted_data": done["redacted_text"], "fpe_context": done["fpe_context"]}
    event = {"events": [{"envelope": {"m": done["redacted_text"]}, "fpe_context": done["fpe_context"]}]}
    bound = made(gateway, "config", a)
    for path, body in (("/v1/unredact", one), ("/v1/unredact_events", event)):
        for token in (gateway.token, bound):
            ok(ask(gateway, token, path, body | {"config_id": a}))
        assert faults(gateway.api(path, body | {"config_id": "pci_" + "a" * 32})) == [("/config_id", "ConfigNotExist")]
        assert faults(gateway.api(path, body | {"config_id": "x"})) == [("/config_id", "ConfigNotExist")]
        assert faults(gateway.api(path, body | {"config_id": foreign})) == [("/config_id", "ConfigServiceMismatch")]
        for named in (b, "pci_" + "a" * 32):
            envelope(ask(gateway, bound, path, body | {"config_id": named}), 403, "MissingConfigIDScope")


def test_sanitizing_alone_has_nothing_of_the_share(gateway):
    kind, body = multipart({"name": "a.txt", "folder": "/private"}, "a.txt", b"hello")
    object = ok(gateway.api("/share/v1/put", body, **{"content-type": kind}))["object"]["id"]
    content = {"url_intel": False, "domain_intel": False}
    from_share = {"transfer_method": "share-id", "share_id": object, "content": content}
    alone, both = made(gateway, "service", "sanitize"), made(gateway, "service", "sanitize", "service", "share")
    unknown = from_share | {"share_id": "pos_" + "a" * 32}
    settings = {"name": "stores", "sos": {"enabled": True}}
    stores = ok(gateway.api("/sanitize/v1beta/config/create", settings))["id"]
    for body in (from_share, unknown, from_share | {"config_id": stores}):
        assert "share" in refused(ask(gateway, alone, "/v1/sanitize", body))
    assert ok(ask(gateway, both, "/v1/sanitize", from_share))["data"]["malicious_file"] is False
    for folder in ("/private", ""):
        to_share = {"share_output": {"enabled": True, "output_folder": folder}, "content": content}
        kind, body = multipart(to_share, "b.txt", b"hello")
        send = lambda token: gateway.call("POST", "/v1/sanitize", body, bearer(token) | {"content-type": kind})
        refused(send(alone))
        assert ok(send(both))["dest_share_id"].startswith("pos_")
    # Without the share it gets its file by URL, which takes no token and opens nothing else.
    kind, body = multipart({"content": content}, "c.txt", b"hello")
    result = ok(gateway.call("POST", "/v1/sanitize", body, bearer(alone) | {"content-type": kind}))
    to = urllib.parse.urlsplit(result["dest_url"])
    assert gateway.call("GET", to.path + "?" + to.query).body == b"hello"
    assert gateway.call("GET", to.path + "?" + to.query, headers=bearer("x")).status == 200
    assert gateway.call("PUT", to.path + "?" + to.query, b"other").status != 200
    assert gateway.call("GET", to.path.replace("/passing/", "/kept/") + "?" + to.query).status in (400, 403, 404)


def test_an_answer_is_for_the_token_that_asked(gateway):
    asking = made(gateway, "service", "sanitize")
    put = {"transfer_method": "put-url", "uploaded_file_name": "a.txt", "content": {"url_intel": False, "domain_intel": False}}
    accepted = ask(gateway, asking, "/v1/sanitize", put).json()
    path = "/request/" + accepted["request_id"]
    poll = lambda token, path=path: gateway.call("GET", path, headers=bearer(token))
    assert poll(asking).status == 202
    others = [gateway.token, made(gateway), made(gateway, "service", "sanitize"), made(gateway, "route", "models")]
    for prefix in ("", "/sanitize", "/share", "/vault"):
        assert [poll(token, prefix + path).status for token in others] == [401] * 4
    to = urllib.parse.urlsplit(accepted["result"]["put_url"])
    assert gateway.call("PUT", to.path + "?" + to.query, b"hello").status == 200
    gateway.wait_for(lambda: poll(asking).status == 200, 10)
    assert [poll(token).status for token in others] == [401] * 4
    # A share's upload is polled for at the same place.
    sharing = made(gateway, "service", "share")
    accepted = ask(gateway, sharing, "/share/v1/put", {"transfer_method": "put-url", "name": "x"}).json()
    assert poll(sharing, "/request/" + accepted["request_id"]).status == 202


def test_what_is_open_stays_open(gateway):
    for headers in ({}, bearer(made(gateway, "route", "models")), bearer("pts_" + "a" * 32)):
        assert gateway.call("GET", "/openapi.json", headers=headers).status == 200
        assert gateway.call("GET", "/healthz", headers=headers).status == 200
    item = key(gateway)["id"]
    keys = """
[jwks]
items = ["%s"]
""" % item
    gateway.write(ROUTES + keys)
    gateway.process.send_signal(1)
    jwks = lambda **headers: gateway.call("GET", "/.well-known/jwks.json", headers=headers)
    gateway.wait_for(lambda: jwks().status == 200, 10)
    assert jwks(**bearer(made(gateway, "route", "models"))).json()["keys"][0]["kid"].startswith(item)
    refused(ask(gateway, made(gateway, "service", "redact"), "/v2/jwk/get", {"id": item}))


# ── where a token stands ────────────────────────────────────────────────────────────────────────────────────────────

THEIRS = "sk-genuine-key-of-the-provider"
basic = lambda text: "Basic " + base64.b64encode(text.encode()).decode()
escaped = lambda text: "".join("%%%02X" % byte for byte in text.encode())

# What is sent, with T for a token of ours and K for somebody else's key; whether that proves who calls; what goes on.
PLACES = [
    ([("Authorization", "Bearer {T}")], "", True, [], ""),
    ([("AUTHORIZATION", "bEARER    {T}  ")], "", True, [], ""),
    ([("authorization", "Bearer {T}"), ("authorization", "Bearer {T}")], "", True, [], ""),
    ([("authorization", "Bearer {T}"), ("Authorization", "Bearer {K}")], "", True, [("authorization", "Bearer {K}")], ""),
    ([("authorization", "Bearer {T},Bearer {K}")], "", False, [], ""),
    ([("authorization", "{T}")], "", False, [], ""),
    ([("authorization", "Basic {B}")], "", False, [], ""),
    ([("authorization", "BASIC {N}")], "", False, [], ""),
    ([("x-api-key", "{T}")], "", True, [], ""),
    ([("X-Api-Key", "{T}"), ("authorization", "Bearer {K}")], "", True, [("authorization", "Bearer {K}")], ""),
    ([("x-api-key", "{K}"), ("authorization", "Bearer {T}")], "", True, [("x-api-key", "{K}")], ""),
    ([("api-key", "{T}")], "", True, [], ""),
    ([("x-goog-api-key", "{T}")], "", True, [], ""),
    ([("x-goog-api-key", "{K}")], "?key={T}", True, [("x-goog-api-key", "{K}")], ""),
    ([], "?key={T}", True, [], ""),
    ([], "?alt=sse&key={T}&b=%20c", True, [], "?alt=sse&b=%20c"),
    ([], "?key={E}", True, [], ""),
    ([("authorization", "Bearer {T}")], "?key={K}", True, [], "?key={K}"),
    ([], "?api_key={T}&a=1", False, [], "?a=1"),
    ([], "?access_token={E}", False, [], ""),
    ([("cookie", "a=1; session={T}; b=2")], "", False, [("cookie", "a=1; b=2")], ""),
    ([("cookie", "session={E}")], "", False, [], ""),
    ([("x-auth-token", "{T}")], "", False, [], ""),
    ([("x-api-key", "{T}"), ("api-key", "{T}"), ("authorization", "Bearer {T}"), ("cookie", "k={T}")], "?key={T}", True, [], ""),
    ([("x-api-key", "{U}")], "", False, [], ""),
]


def spelled(text, token):
    marks = {"{T}": token, "{K}": THEIRS, "{B}": basic("user:" + token)[6:], "{N}": basic(token + ":")[6:]}
    marks |= {"{E}": escaped(token), "{U}": token.upper()}
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text


def send(gateway, path, headers):
    """By hand: a client would join or drop what is doubled."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
    try:
        connection.putrequest("GET", path)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("row", PLACES, ids=[str(n) for n in range(len(PLACES))])
def test_our_token_never_travels_on(gateway, mock, row):
    headers, query, proves, left, query_left = row
    token = made(gateway, "route", "other")
    sent = [(name, spelled(value, token)) for name, value in headers]
    for route, passes in (("/other", proves), ("/open", True)):
        mock.forget()
        status, body = send(gateway, route + "/reflect" + spelled(query, token), sent)
        if not passes:
            assert (status, mock.requests) == (401, []), body
            continue
        assert status == 200, body
        [request] = mock.requests
        seen = request.everything().lower()
        assert token not in seen and escaped(token).lower() not in seen and basic("user:" + token).lower() not in seen
        assert request.path == route + "/reflect" + spelled(query_left, token)
        ours = {"host", "x-added", "accept-encoding", "x-request-id", "traceparent", "via", "forwarded"}
        kept = [(name.lower(), value) for name, value in request.headers if name.lower() not in ours]
        kept = [pair for pair in kept if not pair[0].startswith("x-forwarded")]
        assert kept == [(name, spelled(value, token)) for name, value in left]


def test_two_tokens_in_one_request_are_one_too_many(gateway, mock):
    one, two = made(gateway), made(gateway)
    for sent in ([("authorization", "Bearer " + one), ("x-api-key", two)], [("x-api-key", one), ("cookie", "a=" + two)]):
        status, body = send(gateway, "/other/reflect", sent)
        assert (status, mock.requests) == (400, []) and b"two tokens" in body
        # Where none is asked for there is nothing to choose.
        assert send(gateway, "/open/reflect", sent)[0] == 200
        [request] = mock.requests
        assert one not in request.everything() and two not in request.everything()
        mock.forget()


def test_one_in_the_path_goes_nowhere(gateway, mock):
    for path in ("/open/bot%s/reflect" % gateway.token, "/open/%s/reflect" % escaped(gateway.token)):
        status, body = send(gateway, path, [])
        assert (status, mock.requests) == (400, []) and gateway.token.encode() not in body
    # Another gateway's is none of ours.
    assert send(gateway, "/open/pts_%s/reflect" % ("a" * 32), [])[0] == 200


def test_many_that_look_alike_are_refused(gateway, mock):
    many = "; ".join("c%d=pts_%s" % (n, chr(97 + n) * 32) for n in range(20))
    assert (send(gateway, "/open/reflect", [("cookie", many)])[0], mock.requests) == (400, [])


def test_providers_own_clients_come_in_with_our_token(gateway, mock):
    token = made(gateway, "route", "models")
    ask = {"model": "plain", "messages": [{"role": "user", "content": "EMAIL: %s |" % MAIL}]}
    plain = OpenAI(base_url=gateway.url + "/models/v1", api_key=token, max_retries=0)
    azure = AzureOpenAI(azure_endpoint=gateway.url + "/models", api_key=token, api_version="2024-10-21", max_retries=0)
    for client in (plain, azure):
        mock.forget()
        said = client.chat.completions.create(**ask).choices[0].message.content
        [request] = mock.requests
        assert MAIL in said and MAIL not in request.everything() and token not in request.everything()
