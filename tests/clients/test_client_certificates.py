"""Client certificates: who may connect, who may pass a route, what the upstream and the logs are told, and what a reload
changes. OpenSSL (Python's `ssl`) is the client, `cryptography` the authority."""

import http.client
import json
import re
import socket
import ssl

import http2
import pytest
from authority import DAY, SERVER, Authority, client, dns, email, pem, uri
from cryptography.hazmat.primitives import hashes
from gateway import MINIMAL, Gateway, free_ports, run

LISTENERS = """
[[listen]]
address = "127.0.0.1:{h2c}"
[listen.tls]
certificate = "server.pem"
key = "server.key"
client_ca = "clients.pem"
client_certificates = "optional"

[[listen]]
address = "127.0.0.1:{other}"
[listen.tls]
certificate = "server.pem"
key = "server.key"
client_ca = "clients.pem"
client_crl = "revoked.pem"

[[listen]]
address = "127.0.0.1:{proxied}"
proxy_protocol = true
[listen.tls]
certificate = "server.pem"
key = "server.key"
client_ca = "clients.pem"

[clients]
trusted_peers = ["127.0.0.1"]

[reload]
watch = false

[log]
access_file = "access.jsonl"

[audit]
file = "{home}/audit.jsonl"

[upstreams.mock]
peers = ["{upstream}"]
"""
ROUTE = """
[[routes]]
name = "%s"
path = "/%s"
upstream = "mock"
auth = "%s"
"""
HEADERS = 'certificate = {{ headers = {{ subject = "x-client-subject", fingerprint = "x-client-fingerprint" }} }}\n'
NAMED = 'certificate = {{ subjects = ["uri:spiffe://example.com/agent", "dns:agent.example.com", "CN=root"] }}\n'
ROUTES = "".join([
    ROUTE % ("open", "open", "none"),
    ROUTE % ("any", "any", "certificate") + HEADERS,
    ROUTE % ("named", "named", "certificate") + NAMED,
    ROUTE % ("both", "both", "token") + "certificate = {{}}\n",
    ROUTE % ("openai", "v1", "certificate") + 'provider = "openai"\n',
    ROUTE % ("rare", "rare", "certificate") + 'rate = {{ requests = 2, per = "1h", by = "certificate" }}\n',
    ROUTE % ("own", "own", "certificate") + 'provider = "openai"\nredact = {{ tweak = "caller" }}\n',
])
CONFIG = MINIMAL + LISTENERS + ROUTES
AGENT = uri("spiffe://example.com/agent")
FAILURES = (ssl.SSLError, ConnectionError)


class Guarded(Gateway):
    def start(self, every=0.02):
        [self.proxied] = free_ports(1)
        self.root = Authority("clients")
        self.between = Authority("between", self.root)
        self.root.issue(self.home / "server", "localhost", dns("localhost"), SERVER)
        self.root.issue(self.home / "agent", "agent", AGENT)
        self.root.issue(self.home / "jane", "Jane Döe 5%", email("jane@example.com"))
        self.root.issue(self.home / "plain", "José 5%")
        self.trust(self.root)
        super().start(every)

    def places(self):
        return super().places() | {"proxied": self.proxied}

    def trust(self, *authorities):
        """These may issue; their lists say what they have revoked."""
        (self.home / "clients.pem").write_bytes(b"".join(pem(one.certificate) for one in authorities))
        both = [*authorities, *([self.between] if self.root in authorities else [])]
        (self.home / "revoked.pem").write_bytes(b"".join(one.list() for one in both))

    def shows(self, name):
        return self.home / name if name else None

    def connect(self, port, name=None, **how):
        context = client(self.shows(name), **how)
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=context)

    def ask(self, path, name=None, headers=None, port=None, **how):
        connection = self.connect(port or self.h2c, name, **how)
        try:
            return on(connection, path, headers)
        finally:
            connection.close()

    def lines(self, file, count, **having):
        """The lines of a log that say this, once there are so many."""
        path = self.home / file

        def found():
            lines = map(json.loads, path.read_text().splitlines()) if path.exists() else []
            fitting = [line for line in lines if line | having == line]
            return fitting if len(fitting) >= count else None

        return self.wait_for(found)


def on(connection, path, headers=None):
    connection.request("POST", path + "/reflect", b'{"a":1}', {"content-type": "application/json"} | (headers or {}))
    answer = connection.getresponse()
    answer.body = answer.read()
    return answer


def sent(mock):
    return {name.lower(): value for name, value in mock.requests[-1].headers}


@pytest.fixture(scope="module")
def guarded(upstream):
    with Guarded(upstream.url, CONFIG) as running:
        yield running


@pytest.fixture
def gateway(upstream):
    """One of its own, for what changes it."""
    with Guarded(upstream.url, CONFIG) as running:
        yield running


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_only_a_good_certificate_connects(guarded, version):
    home, root, between = guarded.home, guarded.root, guarded.between
    stranger, unlisted = Authority("stranger"), Authority("unlisted", root)
    between.issue(home / "chained", "chained", AGENT)
    stranger.issue(home / "stranger", "agent", AGENT)
    Authority("clients").issue(home / "namesake", "agent", AGENT)
    unlisted.issue(home / "unlisted", "agent", AGENT)
    root.issue(home / "old", "agent", AGENT, valid=(-2 * DAY, -DAY / 24))
    root.issue(home / "early", "agent", AGENT, valid=(DAY / 24, DAY))
    root.issue(home / "server-use", "agent", AGENT, use=SERVER)
    root.issue(home / "spaced", "agent", uri("spiffe://example.com/a b"))
    # Without its authority's own certificate there is no way to one that is known.
    chain = (home / "chained.pem").read_text().split("-----END CERTIFICATE-----\n")
    (home / "unchained.pem").write_text(chain[0] + "-----END CERTIFICATE-----\n")
    (home / "unchained.key").write_bytes((home / "chained.key").read_bytes())
    for name, optional, required in [
        ("agent", True, True),
        ("plain", True, True),
        ("chained", True, True),
        (None, True, False),
        # The authority's list is asked for where there are lists.
        ("unlisted", True, False),
        ("unchained", False, False),
        ("stranger", False, False),
        ("namesake", False, False),
        ("old", False, False),
        ("early", False, False),
        ("server-use", False, False),
        ("spaced", False, False),
    ]:
        for port, good in [(guarded.h2c, optional), (guarded.other, required)]:
            if good:
                assert guarded.ask("/open", name, port=port, version=version).status == 200, name
            else:
                with pytest.raises(FAILURES):
                    guarded.ask("/open", name, port=port, version=version)


def test_a_route_asks_for_a_certificate_and_for_whom_it_names(guarded, mock):
    guarded.root.issue(guarded.home / "host", "other", dns("Agent.Example.com"))
    guarded.root.issue(guarded.home / "root", "root")
    guarded.root.issue(guarded.home / "nobody", None, dns("other.example.com"))
    for path, name, status in [
        ("/open", None, 200),
        ("/any", None, 401),
        ("/any", "agent", 200),
        ("/any", "plain", 200),
        ("/named", None, 401),
        ("/named", "agent", 200),
        ("/named", "host", 200),
        ("/named", "root", 200),
        ("/named", "plain", 403),
        ("/named", "nobody", 403),
        ("/both", "agent", 401),
    ]:
        assert guarded.ask(path, name).status == status, (path, name)
    token = {"authorization": "Bearer " + guarded.token}
    assert guarded.ask("/both", "agent", token).status == 200
    assert guarded.ask("/both", None, token).status == 401
    mock.forget()
    # The same routes on a listener that asks nobody for a certificate.
    forged = {"x-client-subject": "uri:spiffe://example.com/agent", "x-forwarded-client-cert": "By=x"}
    for path in ["/any", "/named", "/v1"]:
        assert guarded.call("POST", path + "/reflect", {"a": 1}, forged).status == 401
    assert not mock.requests, "nothing of it reached the upstream"


def test_a_refusal_has_the_shape_of_the_protocol(guarded):
    answer = guarded.call("POST", "/v1/chat/completions", {"model": "m", "messages": []})
    assert answer.status == 401 and answer.json()["error"]["type"] == "authentication_error"
    assert json.loads(guarded.ask("/named", "plain").body)["status"] == "ServiceNotEnabled"


def test_the_upstream_is_told_who_calls_and_never_by_the_caller(guarded, mock):
    forged = {"x-client-subject": "CN=root", "X-Client-Fingerprint": "00", "connection": "close, x-client-subject"}
    for name, subject in [
        ("agent", "uri:spiffe://example.com/agent"),
        ("jane", "email:jane@example.com"),
        ("plain", "CN=Jos%C3%A9%205%25"),
    ]:
        assert guarded.ask("/any", name, forged).status == 200
        headers = sent(mock)
        assert headers["x-client-subject"] == subject
        assert re.fullmatch("[0-9a-f]{64}", headers["x-client-fingerprint"])
    # Nor along a route that tells nothing, which may lead to the same upstream.
    for path, name in [("/open", None), ("/open", "agent"), ("/named", "agent")]:
        assert guarded.ask(path, name, forged).status == 200
        assert not {"x-client-subject", "x-client-fingerprint"} & set(sent(mock))


def test_a_rate_is_counted_for_whom_the_certificate_names(guarded):
    issue = lambda file, path: guarded.root.issue(guarded.home / file, file, uri("spiffe://example.com/" + path))
    issue("rare-a", "rare"), issue("rare-b", "rare"), issue("rare-c", "other")
    names = ["rare-a", "rare-b", "rare-a", "rare-b", "rare-c", "rare-c", "rare-c"]
    statuses = [guarded.ask("/rare", name).status for name in names]
    assert statuses == [200, 200, 429, 429, 200, 200, 429]


def test_over_http2_and_behind_a_proxy_it_is_the_callers_certificate(guarded):
    with http2.Connection(guarded.h2c, greet=False) as connection:
        context = client(guarded.shows("agent"), alpn=["h2"])
        connection.sock = context.wrap_socket(connection.sock, server_hostname="localhost")
        assert connection.sock.selected_alpn_protocol() == "h2"
        connection.send(http2.PREFACE + http2.settings())
        for path, status in [("/named", 200), ("/open", 200), ("/any", 200)]:
            stream = connection.request(method="GET", path=path + "/reflect")
            assert connection.status(stream) == status, path
    with socket.create_connection(("127.0.0.1", guarded.proxied), timeout=20) as plain:
        plain.sendall(b"PROXY TCP4 192.0.2.3 127.0.0.1 50000 443\r\n")
        with client(guarded.shows("agent")).wrap_socket(plain) as secure:
            secure.sendall(b"GET /named/reflect HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            assert secure.recv(12) == b"HTTP/1.1 200"
    [line] = guarded.lines("access.jsonl", 1, client="192.0.2.3")
    assert line["route"] == "named" and re.fullmatch("[0-9a-f]{16}", line["certificate"])


def test_logs_have_a_fingerprint_and_no_name(gateway):
    made = gateway.root.issue(gateway.home / "jane", "Jane Doe", email("jane@example.com"))
    print_of = made.fingerprint(hashes.SHA256()).hex()[:16]
    assert gateway.ask("/any", "jane").status == 200
    assert gateway.ask("/named", "jane").status == 403
    assert gateway.ask("/open", "jane").status == 200
    assert gateway.ask("/any").status == 401
    for file in ["access.jsonl", "audit.jsonl"]:
        found = [(line["route"], line["status"], line.get("certificate")) for line in gateway.lines(file, 4)]
        assert found == [("any", 200, print_of), ("named", 403, print_of), ("open", 200, None), ("any", 401, None)]
        assert "ane" not in (gateway.home / file).read_text()
    assert not any("jane" in line.lower() for line in gateway.log)
    assert run("audit", "verify", gateway.home / "audit.jsonl").returncode == 0


def test_equal_values_are_equal_for_one_holder_and_forgotten_by_its_name(gateway, mock):
    gateway.root.issue(gateway.home / "renewed", "renewed", AGENT)
    asked = {"model": "m", "messages": [{"role": "user", "content": "Write to jane.roe@harbour-post.com today"}]}
    surrogates = []
    for name in ["agent", "renewed", "plain"]:
        connection = gateway.connect(gateway.h2c, name)
        connection.request("POST", "/own/chat/completions", json.dumps(asked), {"content-type": "application/json"})
        assert connection.getresponse().status == 200
        connection.close()
        surrogates.append(re.search(rb"[\w.]+@[\w.-]+", mock.requests[-1].raw)[0])
    assert surrogates[0] == surrogates[1] != surrogates[2]

    def erased(name):
        done = run("memory", "erase", "-c", gateway.file, "--certificate", name)
        assert done.returncode == 0, done.err
        return int(re.search("erased: ([0-9]+) rows", done.err)[1])

    gateway.wait_for(lambda: erased("uri:spiffe://example.com/agent"))
    assert erased("uri:spiffe://example.com/nobody") == 0


def test_a_reload_changes_who_may_connect_and_leaves_connections_that_stand(gateway):
    kept = gateway.connect(gateway.h2c, "agent")
    assert on(kept, "/any").status == 200
    wire = kept.sock
    other = Authority("other clients")
    other.issue(gateway.home / "other", "agent", AGENT)
    gateway.trust(other)
    gateway.reload("reloaded routes")
    assert gateway.ask("/any", "other").status == 200
    for port in (gateway.h2c, gateway.other):
        with pytest.raises(FAILURES):
            gateway.ask("/any", "agent", port=port)
    assert on(kept, "/any").status == 200 and kept.sock is wire
    kept.close()
    # What cannot be used changes nothing.
    (gateway.home / "clients.pem").write_text("no authority\n")
    gateway.reload("not reloaded")
    assert "clients.pem: it holds no authority" in gateway.said("not reloaded")[-1]
    checked = run("check", "-c", gateway.file)
    assert checked.returncode == 3 and "clients.pem: it holds no authority" in checked.err
    assert gateway.ask("/any", "other").status == 200
    # Without a client_ca on any listener nobody could pass.
    gateway.write(re.sub("client_.*\n", "", CONFIG))
    gateway.reload("not reloaded")
    gateway.wait_for(lambda: any("no listener asks for one" in line for line in gateway.log))


def test_what_was_revoked_does_not_connect_again_and_a_list_out_of_date_lets_nobody(gateway):
    gone = gateway.root.issue(gateway.home / "gone", "gone", AGENT)
    assert gateway.ask("/any", "gone", port=gateway.other).status == 200
    gateway.root.revoke(gone)
    gateway.trust(gateway.root)
    gateway.reload("reloaded routes")
    with pytest.raises(FAILURES):
        gateway.ask("/any", "gone", port=gateway.other)
    assert gateway.ask("/any", "agent", port=gateway.other).status == 200
    (gateway.home / "revoked.pem").write_bytes(gateway.root.list(until=-DAY))
    gateway.reload("reloaded routes")
    with pytest.raises(FAILURES):
        gateway.ask("/any", "agent", port=gateway.other)
    (gateway.home / "revoked.pem").write_text("")
    gateway.reload("not reloaded")
    assert "revoked.pem: it holds no list" in gateway.said("not reloaded")[-1]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_no_session_is_resumed_where_certificates_are_asked_for(guarded, version):
    context = client(guarded.shows("agent"), version=version)
    session = None
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", guarded.h2c), timeout=20) as plain:
            with context.wrap_socket(plain, server_hostname="localhost", session=session) as secure:
                secure.sendall(b"GET /open/reflect HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
                while secure.recv(4096):
                    pass
                assert not secure.session_reused
                session = secure.session
