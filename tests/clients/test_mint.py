"""The gateway in the middle of trust: it verifies callers against their issuer's keys, signs a token of its own for the
upstream, and the upstream verifies that with PyJWT's client of key sets, against the keys that the gateway publishes."""

import base64
import http.server
import json
import signal
import threading
import time

import jwt
import pytest
from gateway import CONFIG, Gateway
from test_jwt import Issuer
from test_vault import change, key, ok, rotate

ISSUER = "https://gateway.example.com"
ALGORITHMS = "ES256 ES384 ES512 RS256 RS384 RS512 PS256 PS384 PS512 EdDSA".split()

# No route that redacts: rules are compiled at every reload.
# By signal alone, so that a reload is the one that was asked for.
BASE = CONFIG[: CONFIG.index("[upstreams.mock]")] + "\n[reload]\nwatch = false\n\n"

UPSTREAMS = """
[upstreams.issuer]
peers = ["http://127.0.0.1:{issuer}"]
[upstreams.service]
peers = ["http://127.0.0.1:{service}"]
"""

# The table of signing comes first: the order in the file means nothing.
ROUTES = """
[jwks]
items = {items}
max_age = "90s"

[[routes]]
name = "signed"
path = "/signed"
upstream = "service"
auth = "none"
[routes.sign]
key = "{key}"
issuer = "https://gateway.example.com"
audiences = ["service"]
lifetime = "60s"
publish_ahead = "{ahead}"
[routes.sign.claims]
sub = "$claims.sub"
via = "portcullis"
org = {{ id = "$claims.org.id?", roles = ["$claims[\\"https://x.test/role\\"]?", "caller"] }}
[routes.jwt]
keys = {{ upstream = "issuer", path = "/jwks.json" }}
issuers = ["https://id.example.com"]
audiences = ["chat"]
headers = {{ sub = "x-user" }}

[[routes]]
name = "own"
path = "/own"
upstream = "service"
auth = "none"
sign = {{ key = "{key}", issuer = "x", audiences = ["a", "b"], header = "X-Gateway-Token", reuse = false }}
"""

ONE = """
[[routes]]
name = "{alg}"
path = "/alg/{alg}"
upstream = "service"
auth = "none"
sign = {{ key = "{key}", issuer = "https://gateway.example.com", audiences = ["service"] }}
"""


class Service:
    """An upstream that lets nobody in but with a token of the gateway's, and says what it saw."""

    def __init__(self):
        service = self
        self.keys, self.seen = None, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, told = 200, {}
                scheme, _, token = self.headers.get("authorization", "").partition(" ")
                try:
                    assert scheme == "Bearer"
                    signer = service.keys.get_signing_key_from_jwt(token)
                    told = jwt.decode(token, signer, ALGORITHMS, audience="service", issuer=ISSUER)
                except (AssertionError, jwt.PyJWTError) as error:
                    status, told = 401, {"why": repr(error)}
                headers = [(name.lower(), value) for name, value in self.headers.items()]
                service.seen.append({"headers": headers, "claims": told, "token": token})
                body = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def trust(self, gate, **how):
        self.keys = jwt.PyJWKClient(gate.url + "/.well-known/jwks.json", timeout=10, **how)

    def last(self):
        return dict(self.seen[-1]["headers"]), self.seen[-1]["claims"], self.seen[-1]["token"]


@pytest.fixture
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.down()


@pytest.fixture
def service():
    service = Service()
    yield service
    service.server.shutdown()
    service.server.server_close()


@pytest.fixture(scope="module")
def process(upstream):
    with Gateway(upstream.url, config=BASE) as process:
        yield process


@pytest.fixture
def gate(process, issuer, service):
    """The one process, with a key of this test's own."""
    process.key = key(process)["id"]
    configure(process, issuer, service, ROUTES, items=[process.key])
    service.trust(process, cooldown_duration=0)
    yield process
    assert "eyJ" not in "\n".join(process.log), "no token in the log"


def configure(gate, issuer, service, more, **places):
    """Other routes, from the next request on; what the log says of it."""
    upstreams = UPSTREAMS.replace("{issuer}", str(issuer.port)).replace("{service}", str(service.port))
    for name, value in {"key": gate.key, "ahead": "0s", **places}.items():
        more = more.replace("{%s}" % name, value if isinstance(value, str) else json.dumps(value))
    gate.config = BASE + upstreams + more
    gate.write(gate.config)
    before = len(gate.log)
    gate.process.send_signal(signal.SIGHUP)
    reloaded = lambda: next((line for line in gate.log[before:] if "reloaded" in line), None)
    return gate.wait_for(reloaded)


def ask(gate, token, path="/signed", **headers):
    return gate.call("GET", path, None, {"authorization": "Bearer " + token} | headers)


def published(gate, **headers):
    return gate.call("GET", "/.well-known/jwks.json", None, headers)


def kid_of(token):
    return jwt.get_unverified_header(token)["kid"].partition("|")[2]


def kids(gate):
    return [jwk["kid"].partition("|")[2] for jwk in published(gate).json()["keys"]]


def test_the_upstream_believes_the_gateway_and_not_the_caller(gate, issuer, service):
    token = issuer.token("ES256", exp=time.time() + 600, **{"https://x.test/role": "admin", "org": {"id": 7}})
    forged = {"x-user": "root", "X_User": "root", "connection": "close, x-user"}
    # What is for the upstream alone is not the connection's to name.
    assert ask(gate, token, **forged | {"connection": "close, authorization"}).status == 400
    answer = ask(gate, token, **forged)
    assert answer.status == 200, answer.body
    headers, claims, minted = service.last()
    assert minted != token and headers["x-user"] == "jane" and "x_user" not in headers
    assert [name for name, _ in service.seen[-1]["headers"]].count("authorization") == 1
    assert jwt.get_unverified_header(minted) == {"alg": "ES256", "kid": gate.key + "|1", "typ": "JWT"}
    times = {name: claims.pop(name) for name in ("iat", "nbf", "exp")}
    assert abs(times["iat"] - time.time()) < 10
    assert (times["nbf"], times["exp"]) == (times["iat"], times["iat"] + 60)
    assert len(claims.pop("jti")) == 22
    said = {"iss": ISSUER, "aud": "service", "sub": "jane", "via": "portcullis"}
    assert claims == said | {"org": {"id": 7, "roles": ["admin", "caller"]}}
    # What may be missing is left out, what must be there is asked for.
    assert ask(gate, issuer.token("EdDSA")).status == 200
    assert service.last()[1]["org"] == {"roles": ["caller"]}
    before = len(service.seen)
    assert ask(gate, issuer.token("ES256", sub=None)).status == 403
    assert ask(gate, issuer.token("ES256", sub={"deep": "x" * 20_000})).status == 431
    assert ask(gate, minted).status == 401, "our own token is none of the issuer's"
    assert gate.call("GET", "/signed", None, {"authorization": "Bearer " + minted[:-2]}).status == 401
    assert len(service.seen) == before


def test_a_token_is_used_again_only_for_the_same_claims(gate, issuer, service):
    tokens = set()
    for sub in ["jane", "joe", "jane", "joe"]:
        # Another token of the caller's, with the same claims that are handed on.
        assert ask(gate, issuer.token("ES256", sub=sub, jti=str(time.time()))).status == 200
        claims, minted = service.last()[1:]
        assert claims["sub"] == sub
        tokens.add(minted)
    assert len(tokens) == 2
    ids = set()
    for _ in range(3):
        gate.call("GET", "/own", None, {"X-Gateway-Token": "forged", "x_gateway_token": "forged"})
        headers = service.last()[0]
        minted = headers["x-gateway-token"]
        assert "x_gateway_token" not in headers and "authorization" not in headers
        signer = service.keys.get_signing_key_from_jwt(minted)
        claims = jwt.decode(minted, signer, ["ES256"], audience="b", issuer="x")
        assert claims["aud"] == ["a", "b"] and claims["exp"] - claims["iat"] == 300
        ids.add(claims["jti"])
    assert len(ids) == 3


def test_a_token_does_not_outlive_the_callers(gate, issuer, service):
    """Nor is one used again that would."""
    ends = []
    for left in 600, 20, 10, 600:
        end = time.time() + left
        assert ask(gate, issuer.token("ES256", exp=end)).status == 200
        ends.append(service.last()[1]["exp"])
        assert ends[-1] <= end
    assert ends[1] - ends[2] in (9, 10, 11) and ends[3] == ends[2], "the last one is used again"


def test_the_issuers_rotation_and_outage(gate, issuer, service):
    assert ask(gate, issuer.token("ES256")).status == 200
    issuer.make("next", "ES256")
    gate.wait_for(lambda: ask(gate, issuer.token("next")).status == 200)
    issuer.down()
    for kid in ("next", "ES256"):
        assert ask(gate, issuer.token(kid)).status == 200, "keys are used on"
    issuer.make("later", "EdDSA")
    assert ask(gate, issuer.token("later")).status == 401, "a key that nobody could fetch"
    issuer.up()
    gate.wait_for(lambda: ask(gate, issuer.token("later")).status == 200)


def test_our_rotation_under_way(gate, issuer, service):
    """While callers call, the key rotates, and the upstream, which keeps keys for a second and does not ask for one it does
    not know, believes every token: a version is published before it signs."""
    service.trust(gate, lifespan=1)
    configure(gate, issuer, service, ROUTES, items=[gate.key], ahead="2500ms")
    stop, statuses = threading.Event(), []

    def caller(n):
        count = 0
        while not stop.is_set():
            count += 1
            # Half of them with tokens that are used again.
            sub = f"{n}-{count if count % 2 else 0}"
            statuses.append(ask(gate, issuer.token("ES256", sub=sub)).status)

    callers = [threading.Thread(target=caller, args=(n,)) for n in range(4)]
    for one in callers:
        one.start()
    for version in (2, 3):
        ok(rotate(gate, gate.key))
        time.sleep(1)
        assert kid_of(service.seen[-1]["token"]) == str(version - 1) and kids(gate)[-1] == str(version)
        gate.wait_for(lambda: kid_of(service.seen[-1]["token"]) == str(version))
    stop.set()
    for one in callers:
        one.join()
    assert set(statuses) == {200}, [one["claims"] for one in service.seen if "why" in one["claims"]][:3]
    # In a hurry: what is suspended does not sign on.
    ok(rotate(gate, gate.key))
    ok(change(gate, gate.key, "suspended", version=3))
    service.trust(gate)
    assert ask(gate, issuer.token("ES256")).status == 200 and kid_of(service.last()[2]) == "4"


def test_states_of_our_key(gate, issuer, service):
    assert ask(gate, issuer.token("ES256")).status == 200
    first = service.last()[2]
    ok(rotate(gate, gate.key))
    assert ask(gate, issuer.token("ES256")).status == 200
    second = service.last()[2]
    assert [kid_of(one) for one in (first, second)] == ["1", "2"]
    # Whoever has signed may be believed after it may not sign any more; whoever is compromised is not.
    ok(change(gate, gate.key, "suspended", version=1))
    assert kids(gate) == ["1", "2"]
    ok(change(gate, gate.key, "compromised", version=1))
    assert kids(gate) == ["2"]
    ok(change(gate, gate.key, "suspended"))
    before = len(service.seen)
    assert ask(gate, issuer.token("ES256")).status == 500, "a token that was kept is not used on"
    assert len(service.seen) == before and kids(gate) == ["2"]
    ok(change(gate, gate.key, "active"))
    assert ask(gate, issuer.token("ES256")).status == 200
    assert service.last()[2] not in (first, second)
    ok(gate.api("/v2/delete", {"id": gate.key}))
    assert ask(gate, issuer.token("ES256")).status == 500
    assert published(gate).json() == {"keys": []}


def test_public_keys_for_whoever_asks(gate):
    answer = published(gate)
    assert answer.status == 200 and answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "public, max-age=90" and answer.headers["x-request-id"]
    tag = answer.headers["etag"]
    [jwk] = answer.json()["keys"]
    assert set(jwk) == {"kty", "crv", "x", "y", "alg", "use", "kid"}
    for known in (tag, "W/" + tag, '"x", ' + tag, "*"):
        again = published(gate, **{"if-none-match": known})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag), known
        assert again.headers["cache-control"] == "public, max-age=90"
    head = gate.call("HEAD", "/.well-known/jwks.json")
    assert (head.status, head.body, int(head.headers["content-length"])) == (200, b"", len(answer.body))
    assert gate.call("POST", "/.well-known/jwks.json", {}).status == 405
    ok(rotate(gate, gate.key))
    changed = published(gate, **{"if-none-match": tag})
    assert changed.status == 200 and changed.headers["etag"] != tag and len(changed.json()["keys"]) == 2
    # As many as like at once, each sees at least what was there when they asked.
    seen = []
    crowd = [threading.Thread(target=lambda: seen.append(len(kids(gate)))) for _ in range(20)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert seen == [2] * 20


def test_what_a_key_must_be(gate, issuer, service):
    secret = key(gate, "HS256", exportable=True)
    text = ok(gate.api("/v2/secret/store", {"secret": "s"}))["id"]
    for items, signer, complaint in [
        ([secret["id"]], gate.key, "it has no public key"),
        ([gate.key, text], gate.key, "is not a key to sign tokens"),
        ([gate.key], text, "is not a key to sign tokens"),
        ([gate.key], key(gate, "AES-FF1-256")["id"], "is not a key to sign tokens"),
        (["pvi_" + "a" * 32], gate.key, "is not in the vault"),
        ([gate.key], "pvi_" + "a" * 32, "is not in the vault"),
    ]:
        said = configure(gate, issuer, service, ROUTES, items=items, key=signer)
        assert "not reloaded" in said and complaint in said, (complaint, said)
        assert ask(gate, issuer.token("ES256")).status == 200, "what was served is served on"
    # A secret that both sides have signs as well; it is nowhere published.
    configure(gate, issuer, service, ROUTES, items=[gate.key], key=secret["id"])
    assert ask(gate, issuer.token("ES256")).status == 401
    shared = base64.b64decode(ok(gate.api("/v2/export", {"id": secret["id"]}))["key"])
    assert jwt.decode(service.last()[2], shared, ["HS256"], audience="service", issuer=ISSUER)["sub"] == "jane"
    assert len(kids(gate)) == 1
    # The table may be left out: then nothing is published.
    configure(gate, issuer, service, ROUTES[ROUTES.index("[[routes]]") :])
    assert published(gate).status == 404


def test_every_algorithm(gate, issuer, service):
    signers = {alg: key(gate, alg)["id"] for alg in ALGORITHMS}
    routes = "".join(ONE.replace("{alg}", alg).replace("{key}", signers[alg]) for alg in ALGORITHMS)
    configure(gate, issuer, service, ROUTES + routes, items=list(signers.values()))
    for alg in ALGORITHMS:
        assert gate.call("GET", "/alg/" + alg).status == 200, service.last()[1]
        assert jwt.get_unverified_header(service.last()[2])["alg"] == alg
