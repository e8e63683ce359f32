"""Encrypted files: opened by the password that the caller gives, and told from those that it does not open."""

import io
import json
import os
import struct
import zipfile

import pikepdf
import pypdf
import pytest
from gateway import run
from reportlab.pdfgen import canvas
from test_sanitize_pictures import packed, parts

DONE, FAILED, USAGE = 0, 1, 2
SECRET = "corréct horse"
TEXT = "mail jane.roe@corp-mail.com\n"


def locked_pdf(revision, password=SECRET):
    page = io.BytesIO()
    paper = canvas.Canvas(page)
    paper.drawString(72, 700, "hello jane.roe@corp-mail.com")
    paper.save()
    with pikepdf.open(page) as pdf:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=pikepdf.String("app.alert(1)"))
        out = io.BytesIO()
        kind = pikepdf.Encryption(user=password, owner=password + "!", R=revision, aes=revision > 3, metadata=revision > 3)
        pdf.save(out, encryption=kind)
    return out.getvalue()


def locked_zip(members, password=SECRET):
    """As APPNOTE 6.1 says, which Python only reads."""
    plain = packed(members)
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        table.append(value)

    def crc(value, byte):
        return (value >> 8) ^ table[(value ^ byte) & 0xFF]

    def locked(data, check):
        keys = [0x12345678, 0x23456789, 0x34567890]

        def update(byte):
            keys[0] = crc(keys[0], byte)
            keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
            keys[2] = crc(keys[2], keys[1] >> 24)

        for byte in password.encode():
            update(byte)
        out = bytearray()
        for byte in os.urandom(11) + bytes([check]) + data:
            key = (keys[2] | 2) & 0xFFFF
            out.append(byte ^ ((key * (key ^ 1)) >> 8 & 0xFF))
            update(byte)
        return bytes(out)

    out, directory, count = bytearray(), bytearray(), 0
    with zipfile.ZipFile(io.BytesIO(plain)) as archive:
        for entry in archive.infolist():
            data = archive.read(entry)
            body = locked(data, entry.CRC >> 24)
            name = entry.filename.encode()
            head = struct.pack("<HHHHHIII", 20, 1, 0, 0, 33, entry.CRC, len(body), len(data))
            at = len(out)
            out += b"PK\x03\x04" + head + struct.pack("<HH", len(name), 0) + name + body
            directory += b"PK\x01\x02" + struct.pack("<H", 20) + head + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, at) + name
            count += 1
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(out), 0)
    return bytes(out + directory + b"PK\x05\x06" + end)


def sanitized(tmp_path, name, data, password=None, *args):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "out").unlink(missing_ok=True)
    if password is not None:
        (tmp_path / "password").write_text(password)
        args = (*args, "--password-file", tmp_path / "password")
    done = run("sanitize", "--report", "--redact", *args, tmp_path / name, tmp_path / "out")
    assert "horse" not in done.out + done.err
    return done, json.loads(done.out) if done.out else None


def made(name):
    kind = name.split(".")[0]
    return locked_zip({"a.txt": TEXT}) if kind == "zip" else locked_pdf(int(kind[1:]))


@pytest.mark.parametrize("name", ["r3.pdf", "r4.pdf", "r6.pdf", "zip.zip"])
@pytest.mark.parametrize(("password", "reason"), [(None, "encrypted"), ("battery staple", "wrong_password")], ids=["none", "wrong"])
def test_a_missing_password_is_told_from_a_wrong_one(tmp_path, name, password, reason):
    done, report = sanitized(tmp_path, name, made(name), password)
    assert done.returncode == FAILED and report["reason"] == reason
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["r3.pdf", "r4.pdf", "r6.pdf"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["", "n", "rn"])
def test_a_pdf_is_opened_cleaned_and_not_encrypted_any_more(tmp_path, name, end):
    secret = "horse battery" if name == "r3.pdf" else SECRET
    done, report = sanitized(tmp_path, name, locked_pdf(int(name[1]), secret), secret + end)
    assert done.returncode == DONE, done.err
    assert report["cdr"]["interactive_contents_removed"] == 1
    clean = pypdf.PdfReader(tmp_path / "out")
    assert not clean.is_encrypted and clean.pages[0].extract_text().split() == ["hello"]


def test_an_archive_is_opened_with_all_that_is_in_it(tmp_path):
    inner = {"a.txt": TEXT, "b.pdf": locked_pdf(6), "run.sh": "#!/bin/sh\nls\n"}
    done, report = sanitized(tmp_path, "a.zip", locked_zip(inner), SECRET)
    assert done.returncode == DONE, done.err
    after = parts((tmp_path / "out").read_bytes())
    assert after["a.txt"] == b"mail <EMAIL_ADDRESS>\n" and "run.sh" not in after
    assert not pypdf.PdfReader(io.BytesIO(after["b.pdf"])).is_encrypted
    # A file in it that another password opens is at fault.
    done, report = sanitized(tmp_path, "b.zip", locked_zip({"a.txt": TEXT, "b.pdf": locked_pdf(6, "other")}), SECRET)
    assert (report["reason"], report["where"]) == ("wrong_password", {"path": ["b.pdf"]})


def test_what_is_malicious_is_found_behind_a_password(tmp_path):
    from test_sanitize import EICAR

    done, report = sanitized(tmp_path, "a.zip", locked_zip({"a.txt": EICAR}), SECRET)
    assert report["reason"] == "malicious" and report["threat"]["rule"]


@pytest.mark.parametrize("text", ["", "\n", "a\nb\n"])
def test_a_password_is_one_line(tmp_path, text):
    done, report = sanitized(tmp_path, "a.txt", TEXT.encode(), text)
    assert done.returncode == USAGE and "not a password on one line" in done.err and report is None


def test_what_is_not_encrypted_needs_none(tmp_path):
    done, report = sanitized(tmp_path, "a.txt", TEXT.encode(), SECRET)
    assert done.returncode == DONE and report["released"]
