"""Certificates are replaced while they are in use: all of a reload or nothing of it, and no connection is cut."""

import datetime
import http.client
import os
import socket
import ssl
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from gateway import MINIMAL, Gateway, run

CONFIG = MINIMAL + """
[[listen]]
address = "127.0.0.1:{h2c}"
tls = {{ certificate = "a.pem", key = "a.key" }}

[[listen]]
address = "127.0.0.1:{other}"
tls = {{ certificate = "b.pem", key = "b.key" }}

[reload]
watch = false

[[routes]]
name = "fixed"
path = "/fixed"
respond = {{ status = 200, body = "BODY" }}
"""


def issue(home, file, name, days=365, begins=-90):
    """A certificate of its own for this name, whose files are there at once; it is good for so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now + datetime.timedelta(begins)).not_valid_after(now + datetime.timedelta(days, 60))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (home / (file + ".key")).write_bytes(key.private_bytes(*form))
    os.chmod(home / (file + ".key"), 0o600)
    (home / (file + ".pem")).write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


class Secured(Gateway):
    def start(self, every=0.02):
        for name in "ab":
            issue(self.home, name, name + "-one")
        super().start(every)

    def body(self):
        return self.call("GET", "/fixed").body


def trusting():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def shown(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        with trusting().wrap_socket(plain) as secure:
            certificate = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True))
    return certificate.subject.rfc4514_string()


@pytest.fixture
def gateway():
    with Secured("", CONFIG) as running:
        yield running


def test_the_next_handshake_shows_the_new_certificate_and_no_connection_is_cut(gateway):
    kept = http.client.HTTPSConnection("127.0.0.1", gateway.h2c, timeout=20, context=trusting())
    kept.request("GET", "/fixed")
    assert kept.getresponse().read() == b"BODY"
    wire = kept.sock
    issue(gateway.home, "a", "a-two")
    gateway.reload("reloaded routes")
    assert (shown(gateway.h2c), shown(gateway.other)) == ("CN=a-two", "CN=b-one")
    kept.request("GET", "/fixed")
    assert kept.getresponse().read() == b"BODY" and kept.sock is wire
    kept.close()


def test_with_one_certificate_that_cannot_be_used_nothing_changes(gateway):
    issue(gateway.home, "a", "a-two")
    issue(gateway.home, "b", "b-two")
    (gateway.home / "b.key").write_text("no key\n")
    gateway.write(CONFIG.replace("BODY", "NEXT"))
    gateway.reload("not reloaded")
    assert "b.key: no private key" in gateway.said("not reloaded")[-1]
    assert (shown(gateway.h2c), shown(gateway.other)) == ("CN=a-one", "CN=b-one")
    assert gateway.body() == b"BODY"
    issue(gateway.home, "b", "b-two")
    gateway.reload("reloaded routes")
    assert (shown(gateway.h2c), shown(gateway.other)) == ("CN=a-two", "CN=b-two")
    assert gateway.body() == b"NEXT"


def test_another_file_is_shown_too_and_whether_there_is_tls_takes_a_restart(gateway):
    issue(gateway.home, "c", "c-one")
    (gateway.home / "a.pem").unlink()
    (gateway.home / "a.key").unlink()
    gateway.write(CONFIG.replace('"a.', '"c.').replace("BODY", "NEXT"))
    gateway.reload("reloaded routes")
    assert not gateway.said("change with a restart only")
    assert (shown(gateway.h2c), gateway.body()) == ("CN=c-one", b"NEXT")
    gateway.write(CONFIG.replace('tls = {{ certificate = "a.pem", key = "a.key" }}\n', ""))
    gateway.reload("reloaded routes")
    assert "listen" in gateway.said("change with a restart only")[-1]
    assert (shown(gateway.h2c), gateway.body()) == ("CN=c-one", b"BODY")


def test_certificates_that_end_are_told():
    with Secured("", CONFIG) as gateway:
        assert not gateway.said("expire")
        assert "warning" not in run("check", "-c", gateway.file).err
        issue(gateway.home, "a", "a-one", days=-2)
        issue(gateway.home, "b", "b-one", days=7)
        gateway.reload("reloaded routes")
        expired, soon = gateway.said("a.pem"), gateway.said("b.pem")
        assert len(expired) == len(soon) == 1 and "has expired" in expired[0] and "expires in 7 days" in soon[0]
        assert all("WARN" in line for line in expired + soon)
        checked = run("check", "-c", gateway.file)
        assert checked.returncode == 0 and "has expired" in checked.err and "expires in 7 days" in checked.err
        name = "portcullis_certificate_expiry_timestamp_seconds{"
        ends = {line.split('file="')[1].split('"')[0][-5:]: float(line.rsplit(" ", 1)[1]) for line in gateway.metrics().splitlines() if line.startswith(name)}
        assert abs(ends["a.pem"] - time.time() + 2 * 86400) < 300 and abs(ends["b.pem"] - time.time() - 7 * 86400) < 300


def test_certificates_that_have_ended_are_told_at_the_start():
    class Expired(Secured):
        def start(self, every=0.02):
            for name in "ab":
                issue(self.home, name, name + "-one", days=-1)
            Gateway.start(self, every)

    with Expired("", CONFIG) as gateway:
        assert len(gateway.said("has expired")) == 2


def test_a_certificate_that_is_not_good_does_not_take_the_place_of_one_that_is(gateway):
    for begins, days, what in [(-90, -2, "has expired"), (3, 90, "is not valid yet")]:
        issue(gateway.home, "a", "a-two", days, begins)
        issue(gateway.home, "b", "b%d" % days)
        gateway.reload("reloaded routes")
        # The others are not kept back.
        assert (shown(gateway.h2c), shown(gateway.other)) == ("CN=a-one", "CN=b%d" % days)
        (line,) = [line for line in gateway.said("a.pem") if what in line]
        assert "WARN" in line and "the one before it stays in use" in line
        checked = run("check", "-c", gateway.file)
        assert checked.returncode == 0 and what in checked.err
    issue(gateway.home, "a", "a-three")
    gateway.reload("reloaded routes")
    assert shown(gateway.h2c) == "CN=a-three"
