"""An identity provider: says where its keys are, serves them, signs tokens, and answers about opaque ones; can go away."""

import base64
import json
import threading
import time
import urllib.parse

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from loopback import Handler, Served


class ProviderHandler(Handler):
    mock: "Provider"

    def do_any(self):
        body, provider = self.take(), self.mock
        asked = (self.command, urllib.parse.urlsplit(self.path).path)
        provider.asked.append((*asked, dict(self.headers.items()), body.decode()))
        if provider.holding.is_set():
            provider.go_on.wait(30)
        if asked == ("POST", "/introspect"):
            return self.introspect(body.decode())
        status, told = provider.pages.get(asked[1], (404, {"error": "nothing is here"}))
        self.say(status, told if isinstance(told, bytes) else json.dumps(told).encode())

    do_GET = do_POST = do_any

    def introspect(self, body):
        if self.headers.get("authorization") != self.mock.basic:
            return self.say(401, b'{"error":"invalid_client"}')
        [token] = urllib.parse.parse_qs(body, strict_parsing=True)["token"]
        self.say(self.mock.status, json.dumps(self.mock.tokens.get(token, {"active": False})).encode())

    def say(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Provider(Served):
    """The server. `pages` is what it answers by path, `tokens` what it says of each."""

    handler = ProviderHandler

    def __init__(self, path="", port=0):
        self.port, self.path, self.status = port, path, 200
        self.pages, self.tokens, self.asked = {}, {}, []
        self.holding, self.go_on = threading.Event(), threading.Event()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.client, self.secret = "gate way", "s:e+cret/%"

    def __enter__(self):
        super().__enter__()
        self.publish()
        return self

    @property
    def issuer(self):
        return self.url + self.path

    @property
    def basic(self):
        """As RFC 6749 section 2.3.1 has it."""
        pair = ":".join(urllib.parse.quote_plus(part) for part in (self.client, self.secret))
        return "Basic " + base64.b64encode(pair.encode()).decode()

    def publish(self, at=None, **document):
        """Says what it is, and shows its key."""
        jwk = json.loads(jwt.get_algorithm_by_name("ES256").to_jwk(self.key.public_key()))
        self.pages["/keys"] = (200, {"keys": [jwk | {"kid": "k1", "alg": "ES256", "use": "sig"}]})
        at = self.path + "/.well-known/openid-configuration" if at is None else at
        self.pages[at] = (200, {"issuer": self.issuer, "jwks_uri": self.url + "/keys"} | document)

    def signed(self, **claims):
        good = {"iss": self.issuer, "sub": "jane", "exp": time.time() + 60}
        return jwt.encode(good | claims, self.key, "ES256", headers={"kid": "k1"})

    def times(self, path):
        """How often something was asked for."""
        return sum(asked[1] == path for asked in self.asked)
