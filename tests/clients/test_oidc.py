"""A route that knows an issuer by its name only: the issuer says where its keys are, and nobody else does."""

import datetime
import ssl

import pytest
from authority import SERVER, Authority, pem
from cryptography import x509
from gateway import MINIMAL, Gateway, environment
from identity import Provider

CONFIG = (
    MINIMAL
    + """
[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "signed"
path = "/signed"
upstream = "mock"
auth = "none"
jwt = {{ keys = {{ issuer = "ISSUER" }}, headers = {{ sub = "x-user" }} }}
"""
)


def gate_of(upstream, issuer):
    return Gateway(upstream.url, config=CONFIG.replace("ISSUER", issuer))


def ask(gate, token):
    return gate.call("POST", "/signed/reflect", b"x", {"authorization": "Bearer " + token})


def sent(mock):
    return {name.lower(): value for name, value in mock.requests[-1].headers}


@pytest.mark.parametrize("path", ["", "/", "/realms/one", "/realms/one/"])
def test_an_issuer_says_where_its_keys_are(upstream, mock, path):
    with Provider(path) as provider:
        del provider.pages[path + "/.well-known/openid-configuration"]
        provider.publish(at=path.rstrip("/") + "/.well-known/openid-configuration")
        with gate_of(upstream, provider.issuer) as gate:
            for _ in range(5):
                assert ask(gate, provider.signed()).status == 200
            assert sent(mock)["x-user"] == "jane" and "authorization" not in sent(mock)
            assert provider.times("/keys") == 1 and len(provider.asked) == 2, "both are kept"
            mock.forget()
            # It is the only one whose tokens are good.
            assert ask(gate, provider.signed(iss="https://id.example.com")).status == 401
            assert ask(gate, provider.signed(iss=provider.issuer + "x")).status == 401
            assert ask(gate, "x.y.z").status == 401 and not mock.requests


def test_an_authorization_server_that_speaks_no_openid_says_it_elsewhere(upstream, mock):
    with Provider("/tenant") as provider:
        provider.pages.clear()
        provider.publish(at="/.well-known/oauth-authorization-server/tenant")
        with gate_of(upstream, provider.issuer) as gate:
            assert ask(gate, provider.signed()).status == 200


def forbidden(provider):
    """What an issuer might say for keys to be fetched where they are none of its own, or where nobody may fetch from."""
    yield "another issuer", {"issuer": "https://id.example.com"}
    yield "a slash more", {"issuer": provider.issuer + "/"}
    yield "no keys", {"jwks_uri": None}
    yield "a file", {"jwks_uri": "file:///etc/passwd"}
    yield "no URL", {"jwks_uri": "/keys"}
    # The same machine under another name, other ports of it, and what clouds tell their own machines.
    port = provider.port
    for n, host in enumerate(["localhost:%d" % port, "[::1]:%d" % port, "127.0.0.1:1", "169.254.169.254", "10.0.0.1:8080"]):
        yield "place %d" % n, {"jwks_uri": "http://%s/keys" % host}


def test_it_is_believed_of_itself_only_and_leads_to_no_place_within(upstream, mock):
    with Provider() as provider:
        for what, document in forbidden(provider):
            provider.publish(**document)
            # A gateway of its own each time: after a failure none is tried for some seconds.
            with gate_of(upstream, provider.issuer) as gate:
                assert ask(gate, provider.signed()).status == 503, what
                gate.wait_for(lambda: any("keys of tokens are not fetched" in line for line in gate.log))
        assert provider.times("/keys") == 0 and not mock.requests


def test_while_nothing_is_known_nobody_passes_and_later_the_keys_are_used_on(upstream, mock):
    provider = Provider()
    with provider:
        port = provider.port
    with gate_of(upstream, provider.issuer) as gate:
        token = provider.signed()
        answer = ask(gate, token)
        assert answer.status == 503 and answer.headers["retry-after"] == "1" and not mock.requests
        assert token not in "\n".join(gate.log)
    with Provider(port=port) as back, gate_of(upstream, back.issuer) as gate:
        assert ask(gate, back.signed()).status == 200
        back.pages.clear()
        assert ask(gate, back.signed()).status == 200, "keys are used on"


def test_over_tls_the_issuer_must_prove_its_name(upstream, mock, tmp_path, monkeypatch):
    import ipaddress

    authority = Authority("identity")
    address = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    authority.issue(tmp_path / "server", "id", address, use=SERVER, valid=(-datetime.timedelta(1), datetime.timedelta(1)))
    (tmp_path / "ca.pem").write_bytes(pem(authority.certificate))
    provider = Provider()
    with provider:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
        provider.server.socket = context.wrap_socket(provider.server.socket, server_side=True)
        plain, secure = provider.url, provider.url.replace("http:", "https:")
        for page, (status, told) in list(provider.pages.items()):
            if "issuer" in told:
                provider.pages[page] = (status, {"issuer": secure, "jwks_uri": secure + "/keys"})
        token = provider.signed(iss=secure)
        with gate_of(upstream, secure) as gate:
            assert ask(gate, token).status == 503, "nobody knows this authority"
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        assert environment()["SSL_CERT_FILE"]
        with gate_of(upstream, secure) as gate:
            assert ask(gate, token).status == 200
        # What came over TLS leads to nothing without.
        provider.pages["/.well-known/openid-configuration"] = (200, {"issuer": secure, "jwks_uri": plain + "/keys"})
        with gate_of(upstream, secure) as gate:
            assert ask(gate, token).status == 503
