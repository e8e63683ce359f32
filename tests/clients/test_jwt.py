"""A route that asks for a signed token: PyJWT signs, the gateway verifies against keys that it fetches, and hands claims on."""

import base64
import hmac
import http.server
import json
import threading
import time
import urllib.parse

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from gateway import CONFIG, Gateway, free_ports

ROUTES = """
[upstreams.issuer]
peers = ["http://127.0.0.1:{issuer}"]

[[routes]]
name = "signed"
path = "/signed"
upstream = "mock"
auth = "none"

[routes.jwt]
keys = {{ upstream = "issuer", path = "/jwks.json" }}
issuers = ["https://id.example.com"]
audiences = ["chat"]
scopes = ["chat:write"]
headers = {{ sub = "x-user", groups = "x-groups" }}

[[routes]]
name = "cookie"
path = "/cookie"
upstream = "mock"
auth = "none"
jwt = {{ keys = {{ upstream = "issuer", path = "/jwks.json" }}, token = {{ cookie = "session" }}, expires = false }}
"""

MAKERS = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ES512": lambda: ec.generate_private_key(ec.SECP521R1()),
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "PS512": lambda: rsa.generate_private_key(65537, 2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


class Issuer:
    """Serves the public halves of its keys; can be rotated, and go away."""

    def __init__(self):
        [self.port] = free_ports(1)
        self.keys, self.asked = {}, 0
        for alg in MAKERS:
            self.make(alg, alg)
        self.up()

    def make(self, kid, alg):
        self.keys[kid] = (alg, MAKERS[alg]())

    def sets(self):
        for kid, (alg, key) in self.keys.items():
            jwk = json.loads(jwt.get_algorithm_by_name(alg).to_jwk(key.public_key()))
            yield {"kid": kid, "alg": alg, "use": "sig", **{name: jwk[name] for name in jwk if name != "key_ops"}}

    def up(self):
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked += 1
                body = json.dumps({"keys": list(issuer.sets())}).encode()
                self.send_response(200 if self.path == "/jwks.json" else 404)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def down(self):
        self.server.shutdown()
        self.server.server_close()

    def token(self, kid, signer=None, **claims):
        alg, key = self.keys[kid]
        good = {"iss": "https://id.example.com", "aud": "chat", "exp": time.time() + 60, "sub": "jane", "scope": "chat:write"}
        payload = {name: value for name, value in (good | claims).items() if value is not None}
        return jwt.encode(payload, signer or key, alg, headers={"kid": kid})


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.down()


@pytest.fixture(scope="module")
def gate(upstream, issuer):
    with Gateway(upstream.url, config=CONFIG + ROUTES.replace("{issuer}", str(issuer.port))) as running:
        yield running


def confused(public):
    """Signed with the public key as if it were a secret: PyJWT itself does not do that."""
    parts = ({"alg": "HS256", "kid": "ES256"}, {"sub": "root", "exp": time.time() + 60})
    signed = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    signature = base64.urlsafe_b64encode(hmac.digest(public, signed, "sha256")).rstrip(b"=")
    return (signed + b"." + signature).decode()


def ask(gate, token, path="/signed/reflect", **headers):
    return gate.call("POST", path, {"a": 1}, {"authorization": "Bearer " + token} | headers)


def sent(mock):
    return {name.lower(): value for name, value in mock.requests[-1].headers}


@pytest.mark.parametrize("alg", MAKERS)
def test_every_algorithm(gate, issuer, mock, alg):
    answer = ask(gate, issuer.token(alg, groups=["a", "b"]), **{"x-user": "root", "x-groups": "admin"})
    assert answer.status == 200, answer.body
    headers = sent(mock)
    assert (headers["x-user"], headers["x-groups"]) == ("jane", '["a","b"]')
    assert "authorization" not in headers


def test_what_does_not_pass(gate, issuer, mock):
    stranger = MAKERS["ES256"]()
    public = issuer.keys["ES256"][1].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    none = jwt.encode({"sub": "root"}, None, "none", headers={"kid": "ES256"})
    for token, status in [
        ("", 401),
        ("x.y.z", 401),
        (none, 401),
        (confused(public), 401),
        (issuer.token("ES256", signer=stranger), 401),
        (issuer.token("ES256", exp=time.time() - 31), 401),
        (issuer.token("ES256", exp=None), 401),
        (issuer.token("ES256", nbf=time.time() + 60), 401),
        (issuer.token("ES256", iss="https://id.example.org"), 401),
        (issuer.token("ES256", aud=["other"]), 401),
        (issuer.token("ES256", scope="chat:read"), 403),
        (issuer.token("ES256") + "A", 401),
    ]:
        assert ask(gate, token).status == status, token
    assert gate.call("POST", "/signed/reflect", {"a": 1}, {"x-user": "root"}).status == 401
    assert not mock.requests, "nothing of it reached the upstream"


def test_a_caller_is_told_what_is_wrong_with_its_token(gate, issuer):
    """RFC 6750 section 3.1: nothing where there is none, else which kind of fault."""
    told = lambda answer: (answer.status, answer.headers["www-authenticate"])
    realm = 'Bearer realm="portcullis"'
    assert told(gate.call("POST", "/signed/reflect", {"a": 1})) == (401, realm)
    for token in ["x.y.z", issuer.token("ES256", exp=time.time() - 31), issuer.token("ES256", aud=["other"])]:
        assert told(ask(gate, token)) == (401, realm + ', error="invalid_token"')
    poor = ask(gate, issuer.token("ES256", scope="chat:read"))
    assert told(poor) == (403, realm + ', error="insufficient_scope", scope="chat:write"')
    assert poor.json()["summary"] == "The token lacks a scope that this needs: chat:write"


@pytest.mark.parametrize("user", ["jane\r\nx-admin: 1", "jane\n", "ja\rne", "jane\0", " jane", "jane ", "jane\t", "\x7f"])
def test_a_claim_that_cannot_be_handed_on_refuses_the_request(gate, issuer, mock, user):
    assert ask(gate, issuer.token("ES256", sub=user)).status == 400 and not mock.requests
    # As JSON, control characters are escapes, but for the last one.
    within = ask(gate, issuer.token("ES256", sub="jane", groups=[user]))
    assert within.status == (400 if "\x7f" in user else 200)


def test_a_claim_beyond_ascii_arrives(gate, issuer, mock):
    assert ask(gate, issuer.token("ES256", sub="J\u00fcrgen 100%", groups=["\u00fc"])).status == 200
    headers = sent(mock)
    assert urllib.parse.unquote(headers["x-user"]) == "J\u00fcrgen 100%" and headers["x-user"].isascii()
    assert headers["x-groups"].isascii() and json.loads(headers["x-groups"]) == ["\u00fc"]


def test_two_numbers_are_not_one(gate, issuer, mock):
    """Beyond 64 bits many numbers are read as the same."""
    for number in 2**64, 2**64 + 1, -(2**63) - 1:
        assert ask(gate, issuer.token("ES256", groups=[number])).status == 400, number
    assert not mock.requests
    assert ask(gate, issuer.token("ES256", groups=2**64 - 1, other=2**64)).status == 200
    assert sent(mock)["x-groups"] == "18446744073709551615"


def test_a_cookie_is_taken_out_of_the_others(gate, issuer, mock):
    cookie = f"a=1; session={issuer.token('EdDSA', exp=None)}; b=2"
    assert gate.call("POST", "/cookie/reflect", {"a": 1}, {"cookie": cookie}).status == 200
    assert sent(mock)["cookie"] == "a=1; b=2"


def test_rotation_and_outage(upstream):
    issuer = Issuer()
    with Gateway(upstream.url, config=CONFIG + ROUTES.replace("{issuer}", str(issuer.port))) as gate:
        assert ask(gate, issuer.token("ES256")).status == 200
        asked = issuer.asked
        for _ in range(20):
            assert ask(gate, issuer.token("EdDSA")).status == 200
        assert issuer.asked == asked, "keys are kept"
        issuer.make("next", "ES256")
        gate.wait_for(lambda: ask(gate, issuer.token("next")).status == 200)
        assert issuer.asked == asked + 1, "one fetch for a name that was not known"
        # Names that nobody has are asked for once in a while, not once a token.
        alg, key = issuer.keys["ES256"]
        for n in range(20):
            strange = jwt.encode({"sub": "x"}, key, alg, headers={"kid": f"none-{n}"})
            assert ask(gate, strange).status == 401
        assert issuer.asked <= asked + 2
        issuer.down()
        assert ask(gate, issuer.token("next")).status == 200, "keys are used on"
