"""The test file of anti-malware vendors, hidden in four ways, through both scanners; a clamd that comes and goes; and one that
cannot look at everything."""

import hashlib
import io
import os
import signal
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import zipfile
import zlib
from pathlib import Path

import pangea.exceptions as pe
import pytest
from gateway import CONFIG, Gateway
from pangea import PangeaConfig
from pangea.response import TransferMethod
from pangea.services.sanitize import Sanitize, SanitizeFile
from test_sanitize import EICAR, TEXT, Opened

CLAMD = next((p for p in ("/usr/sbin/clamd", "/usr/local/sbin/clamd") if Path(p).is_file()), None)

SCANNERS = """
[sanitize.scan]
providers = {{ crowdstrike = "embedded", reversinglabs = "clamd" }}
[sanitize.scan.clamd]
address = "unix:{home}/clamd.socket"
time = "10s"
"""

needs_clamd = pytest.mark.skipif(not CLAMD, reason="clamd is not installed (Debian: apt-get install clamav-daemon)")


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return out.getvalue()


def docx():
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="bin" ContentType="application/octet-stream"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    document = (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>'
        "<w:t>hello</w:t></w:r></w:p></w:body></w:document>"
    )
    files = {"[Content_Types].xml": types, "_rels/.rels": relations, "word/document.xml": document}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr("word/media/image1.bin", EICAR)
    return out.getvalue()


def rc4(key, data):
    box, j = list(range(256)), 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


def pdf(encrypted=False):
    """One page with an attachment in a Flate stream; if asked, under 40-bit RC4 with an empty user password (ISO
    32000-1, 7.6.3.3 and 7.6.3.4, revision 2)."""
    pad = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
    name, rights = hashlib.md5(b"portcullis").digest(), -4
    owner = rc4(hashlib.md5((b"owner" + pad)[:32]).digest()[:5], pad)
    key = hashlib.md5(pad + owner + rights.to_bytes(4, "little", signed=True) + name).digest()[:5]

    def seal(number, data):
        return rc4(hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], data) if encrypted else data

    def stream(number, entries, data):
        data = seal(number, zlib.compress(data))
        return b"<<%s /Filter /FlateDecode /Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)

    def text(number, data):
        return b"<" + seal(number, data).hex().encode() + b">"

    objects = [
        b"<</Type /Catalog /Pages 2 0 R /Names <</EmbeddedFiles <</Names [%s 4 0 R]>>>>>>" % text(1, b"a.bin"),
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 100 100]>>",
        b"<</Type /Filespec /F %s /EF <</F 5 0 R>>>>" % text(4, b"a.bin"),
        stream(5, b"/Type /EmbeddedFile", EICAR),
        b"<</Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P %d>>"
        % (owner.hex().encode(), rc4(key, pad).hex().encode(), rights),
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, ids = len(out), b"/ID [<%s> <%s>]" % ((name.hex().encode(),) * 2)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    locked = b"/Encrypt 6 0 R" if encrypted else b""
    out += b"trailer <</Size %d /Root 1 0 R %s %s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, ids, locked, start)
    return bytes(out)


HIDDEN = {
    "in a Flate attachment": ("a.pdf", lambda: pdf()),
    "behind an empty password": ("b.pdf", lambda: pdf(encrypted=True)),
    "in a zip within a zip": ("c.zip", lambda: zipped(note_txt=b"hi", in_zip=zipped(deep__e_com=EICAR))),
    "in a Word document": ("d.docx", docx),
}


class Clamd:
    """A real one on one signature, at the socket where `gateway` looks for it."""

    def __init__(self, home):
        self.home, self.process = Path(home), None
        (self.home / "signatures").mkdir()
        (self.home / "signatures/own.ndb").write_text("Own.Test:0:*:%s\n" % EICAR.hex())
        user = "User root\n" if os.geteuid() == 0 else ""
        (self.home / "clamd.conf").write_text(
            "DatabaseDirectory {0}/signatures\nLocalSocket {0}/clamd.socket\nForeground yes\n{1}".format(home, user)
        )

    def start(self):
        command = [CLAMD, "--config-file=%s" % (self.home / "clamd.conf")]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
        end = time.monotonic() + 30
        while not self.answers() and time.monotonic() < end:
            time.sleep(0.05)

    def answers(self):
        with socket.socket(socket.AF_UNIX) as asked:
            try:
                asked.connect(str(self.home / "clamd.socket"))
                asked.sendall(b"zPING\0")
                return asked.recv(9) == b"PONG\0"
            except OSError:
                return False

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def scanned(upstream):
    with Gateway(upstream.url, config=CONFIG + SCANNERS) as gateway:
        yield gateway


@pytest.fixture
def client(scanned):
    config = PangeaConfig(base_url_template=scanned.url + "/{SERVICE_NAME}", poll_result_timeout=30)
    return Sanitize(scanned.token, config=config)


@pytest.fixture
def clamd(scanned, tmp_path_factory):
    with tempfile.TemporaryDirectory(prefix="portcullis-clamd-", ignore_cleanup_errors=True) as home:
        running = Clamd(home)
        place = scanned.home / "clamd.socket"
        place.unlink(missing_ok=True)
        place.symlink_to(running.home / "clamd.socket")
        yield running
        running.kill()


def send(client, data, name, provider):
    scan = SanitizeFile(scan_provider=provider)
    return client.sanitize(TransferMethod.MULTIPART, file=Opened(data), uploaded_file_name=name, file_scan=scan)


@needs_clamd
@pytest.mark.parametrize("provider", ["crowdstrike", "reversinglabs"])
@pytest.mark.parametrize("where", HIDDEN)
def test_what_is_hidden_is_found(client, clamd, where, provider):
    clamd.start()
    name, make = HIDDEN[where]
    result = send(client, make(), name, provider).raw_result
    assert result["data"]["malicious_file"] is True and result["data"]["threat"]["rule"]
    assert "dest_url" not in result and "dest_share_id" not in result


@needs_clamd
def test_the_same_files_without_it_are_released(client, clamd, monkeypatch):
    monkeypatch.setitem(globals(), "EICAR", b"nothing of interest")
    clamd.start()
    for name, make in HIDDEN.values():
        result = send(client, make(), name, "reversinglabs").result
        assert result.data.malicious_file is False and result.dest_url, name


@needs_clamd
def test_a_clamd_that_is_absent_then_there_then_killed_while_it_scans(client, clamd):
    def fails():
        with pytest.raises(pe.PangeaAPIException) as failed:
            send(client, TEXT, "note.txt", "reversinglabs")
        assert failed.value.response.status == "ProviderError"
        assert "dest_url" not in (failed.value.response.raw_result or {})

    fails()
    clamd.start()
    assert send(client, TEXT, "note.txt", "reversinglabs").result.data.malicious_file is False
    # It takes the file and answers nothing; then it is gone.
    clamd.process.send_signal(signal.SIGSTOP)
    killer = threading.Timer(1, clamd.kill)
    killer.start()
    begun = time.monotonic()
    fails()
    killer.join()
    assert time.monotonic() - begun < 10, "a dead scanner is noticed before the time-out"
    fails()
    assert send(client, TEXT, "note.txt", "crowdstrike").result.data.malicious_file is False
    clamd.start()
    assert send(client, TEXT, "note.txt", "reversinglabs").result.data.malicious_file is False


LOCKED = b"nobody can look into this"


class Picky(socketserver.StreamRequestHandler):
    """Speaks as clamd does, and cannot look at one text."""

    def handle(self):
        command = self.until_zero()
        if command == b"zPING":
            return self.wfile.write(b"PONG\0")
        data = b""
        while size := int.from_bytes(self.rfile.read(4), "big"):
            data += self.rfile.read(size)
        said = b"Heuristics.Encrypted.Zip FOUND" if LOCKED in data else b"OK"
        self.wfile.write(b"stream: " + said + b"\0")

    def until_zero(self):
        read = b""
        while (byte := self.rfile.read(1)) not in (b"", b"\0"):
            read += byte
        return read


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@pytest.fixture
def picky(scanned):
    with tempfile.TemporaryDirectory(prefix="portcullis-picky-") as home:
        place, real = scanned.home / "clamd.socket", Path(home) / "picky.socket"
        place.unlink(missing_ok=True)
        place.symlink_to(real)
        with UnixServer(str(real), Picky) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield
            server.shutdown()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("note.txt", lambda text: text),
        ("a.zip", lambda text: zipped(note_txt=b"hi", in_txt=text)),
        ("b.zip", lambda text: zipped(in_zip=zipped(note_txt=text))),
    ],
)
def test_what_could_not_be_scanned_is_not_called_clean(client, scanned, picky, name, make):
    told = send(client, make(LOCKED), name, "reversinglabs")
    assert told.result.data.malicious_file is None and "malicious_file" not in told.raw_result["data"]
    assert told.result.dest_url and "parts could not be scanned" in told.summary
    told = send(client, make(b"anybody can look into this"), name, "reversinglabs")
    assert told.result.data.malicious_file is False and "scanned" not in told.summary


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("note.txt", lambda text: text),
        ("a.zip", lambda text: zipped(note_txt=b"hi", in_txt=text)),
    ],
)
def test_what_could_not_be_scanned_is_blocked_where_a_config_says_so(client, scanned, picky, name, make):
    scan = {"scan_provider": "reversinglabs", "block_unable_to_scan": True}
    body = {"name": f"blocks {name}", "scan": scan}
    config = scanned.api("/sanitize/v1beta/config/create", body).json()["result"]["id"]
    blocking = Sanitize(scanned.token, config=client.config, config_id=config)

    def ask(data):
        return blocking.sanitize(TransferMethod.MULTIPART, file=Opened(data), uploaded_file_name=name)

    with pytest.raises(pe.ValidationException) as refused:
        ask(make(LOCKED))
    assert [(e.code, e.source) for e in refused.value.errors] == [("BadState", "/upload")]
    assert ask(make(b"anybody can look into this")).result.data.malicious_file is False
