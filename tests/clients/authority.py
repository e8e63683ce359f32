"""Certificates for tests: authorities that issue for servers and clients, and revoke."""

import datetime
import os
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(1)
KINDS = {"ec": lambda: ec.generate_private_key(ec.SECP256R1()), "rsa": lambda: rsa.generate_private_key(65537, 2048)}
SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH


def dns(*names):
    return [x509.DNSName(name) for name in names]


def uri(*names):
    return [x509.UniformResourceIdentifier(name) for name in names]


def email(*names):
    return [x509.RFC822Name(name) for name in names]


def named(common):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)] if common else [])


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


class Authority:
    """One that signs; by another authority, if there is one, else by itself."""

    def __init__(self, name, above=None):
        self.name, self.key, self.above, self.revoked = named(name), KINDS["ec"](), above, []
        limits = x509.BasicConstraints(ca=True, path_length=None)
        signs = x509.KeyUsage(**{use: use in ("key_cert_sign", "crl_sign") for use in USES})
        made = self._begun(self.name, self.key, (-DAY, DAY)).add_extension(limits, critical=True)
        self.certificate = (above or self)._sign(made.add_extension(signs, critical=True), (above or self).name)

    def _begun(self, subject, key, valid):
        now = datetime.datetime.now(datetime.UTC)
        made = x509.CertificateBuilder().subject_name(subject).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number())
        return made.not_valid_before(now + valid[0]).not_valid_after(now + valid[1])

    def _sign(self, made, issuer):
        return made.issuer_name(issuer).sign(self.key, hashes.SHA256())

    def issue(self, file, common=None, names=(), use=CLIENT, valid=(-DAY, DAY), kind="ec"):
        """A certificate with its chain in `file`.pem and its key in `file`.key, whole at once; the certificate."""
        key = KINDS[kind]()
        made = self._begun(named(common), key, valid)
        if names:
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=not common)
        made = self._sign(made.add_extension(x509.ExtendedKeyUsage([use]), critical=False), self.name)
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file.with_suffix(".key").write_bytes(key.private_bytes(*form))
        os.chmod(file.with_suffix(".key"), 0o600)
        chain = pem(made) + (pem(self.certificate) if self.above else b"")
        file.with_suffix(".pem").write_bytes(chain)
        return made

    def revoke(self, certificate):
        self.revoked.append(certificate.serial_number)

    def list(self, until=DAY):
        """What it has revoked, as PEM, good until then."""
        now = datetime.datetime.now(datetime.UTC)
        made = x509.CertificateRevocationListBuilder().issuer_name(self.name)
        made = made.last_update(now - 2 * DAY).next_update(now + until)
        for serial in self.revoked:
            one = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now - DAY)
            made = made.add_revoked_certificate(one.build())
        made = made.add_extension(x509.CRLNumber(1), critical=False)
        made = made.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        return made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


USES = (
    "digital_signature content_commitment key_encipherment data_encipherment key_agreement "
    "key_cert_sign crl_sign encipher_only decipher_only"
).split()


def client(file=None, alpn=(), version=None):
    """A client's side, which shows this certificate and takes any."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if file:
        context.load_cert_chain(file.with_suffix(".pem"), file.with_suffix(".key"))
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if version:
        context.minimum_version = context.maximum_version = version
    return context
