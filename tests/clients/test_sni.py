"""One listener, several certificates: callers are shown the one for the name that they ask for."""

import socket
import ssl

import pytest
from authority import SERVER, Authority, client, dns
from cryptography import x509
from gateway import MINIMAL, Gateway, run

CONFIG = MINIMAL + """
[[listen]]
address = "127.0.0.1:{h2c}"
[listen.tls]
certificate = "first.pem"
key = "first.key"
"""
SNI = '[[listen.tls.sni]]\ncertificate = "%s.pem"\nkey = "%s.key"\n'
ROUTES = '\n[reload]\nwatch = false\n\n[[routes]]\nname = "fixed"\npath = "/fixed"\nrespond = {{ status = 200 }}\n'

NAMES = {
    "chat": dns("chat.example.com", "talk.example.com"),
    "wild": dns("*.wild.example.com"),
    "deep": dns("deep.wild.example.com"),
    "late": dns("late.example.com"),
}


def config(*names):
    return CONFIG + "".join(SNI % (name, name) for name in names) + ROUTES


class Named(Gateway):
    def start(self, every=0.02):
        self.authority = Authority("authority")
        self.authority.issue(self.home / "first", "first", dns("first.example.com"), SERVER)
        for name, names in NAMES.items():
            self.authority.issue(self.home / name, name, names, SERVER)
        self.authority.issue(self.home / "ec", "ec", dns("both.example.com"), SERVER)
        self.authority.issue(self.home / "rsa", "rsa", dns("both.example.com"), SERVER, kind="rsa")
        super().start(every)

    def shown(self, name, context=None):
        """The common name of what a caller is shown that asks for this name."""
        with socket.create_connection(("127.0.0.1", self.h2c), timeout=20) as plain:
            with (context or client()).wrap_socket(plain, server_hostname=name) as secure:
                certificate = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True))
        return certificate.subject.rfc4514_string().removeprefix("CN=")


@pytest.fixture
def gateway():
    with Named("", config("chat", "wild", "deep", "ec", "rsa")) as running:
        yield running


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_name_that_is_asked_for_says_which_certificate_is_shown(gateway, version):
    for name, shown in [
        ("chat.example.com", "chat"),
        ("talk.example.com", "chat"),
        ("CHAT.Example.com", "chat"),
        ("chat.example.com.", "chat"),
        ("a.wild.example.com", "wild"),
        # The whole name comes before one with a star, in whatever order they stand.
        ("deep.wild.example.com", "deep"),
        ("a.b.wild.example.com", "first"),
        ("wild.example.com", "first"),
        ("first.example.com", "first"),
        ("nobody.example.com", "first"),
        # A common name is no name to ask for; nor is an address, which is not sent.
        ("chat", "first"),
        ("127.0.0.1", "first"),
        (None, "first"),
    ]:
        assert gateway.shown(name, client(version=version)) == shown, name


def test_a_caller_is_shown_the_certificate_that_it_can_verify(gateway):
    rsa = client(version=ssl.TLSVersion.TLSv1_2)
    rsa.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    assert (gateway.shown("both.example.com"), gateway.shown("both.example.com", rsa)) == ("ec", "rsa")


def test_a_certificate_comes_and_goes_with_a_reload_and_all_change_or_none(gateway):
    assert gateway.shown("late.example.com") == "first"
    gateway.write(config("late", "wild"))
    gateway.authority.issue(gateway.home / "wild", "wild-two", NAMES["wild"], SERVER)
    gateway.reload("reloaded routes")
    assert not gateway.said("change with a restart only")
    shown = ["late.example.com", "a.wild.example.com", "chat.example.com"]
    assert [gateway.shown(name) for name in shown] == ["late", "wild-two", "first"]
    gateway.authority.issue(gateway.home / "late", "late-two", NAMES["late"], SERVER)
    gateway.authority.issue(gateway.home / "first", "first-two", (), SERVER)
    (gateway.home / "wild.key").write_text("no key\n")
    gateway.reload("not reloaded")
    assert "wild.key: no private key" in gateway.said("not reloaded")[-1]
    assert [gateway.shown(name) for name in shown] == ["late", "wild-two", "first"]


def test_one_name_on_two_certificates_is_told_and_a_certificate_for_no_name_refused(gateway):
    gateway.authority.issue(gateway.home / "late", "late", NAMES["late"] + NAMES["chat"], SERVER)
    gateway.write(config("chat", "late"))
    checked = run("check", "-c", gateway.file)
    assert checked.returncode == 0 and "chat.pem` is a certificate for `chat.example.com` too" in checked.err
    gateway.reload("reloaded routes")
    assert gateway.shown("talk.example.com") == "chat"
    gateway.authority.issue(gateway.home / "late", "late.example.com", (), SERVER)
    gateway.reload("not reloaded")
    gateway.wait_for(lambda: any("nobody is shown this certificate" in line for line in gateway.log))
    assert gateway.shown("late.example.com") == "late"
