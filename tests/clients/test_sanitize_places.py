"""Values in places of files that nobody sees at once: none is left in a redacted file."""

import io
import re
import zipfile

import openpyxl
import pikepdf
import pytest
from gateway import run

VALUE = "jane.roe@corp-mail.com"
TEXT = f"mail {VALUE}"


def redacted(tmp_path, name, data):
    source, target = tmp_path / name, tmp_path / "out"
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    target.unlink(missing_ok=True)
    done = run("sanitize", "--redact", source, target)
    assert done.returncode == 0, done.err
    return target.read_bytes()


def sheet():
    book = openpyxl.Workbook()
    cell = book.active["A1"]
    cell.value, cell.number_format = 3, f'0" {TEXT}"'
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_number_format_of_a_sheet(tmp_path):
    clean = redacted(tmp_path, "a.xlsx", sheet())
    with zipfile.ZipFile(io.BytesIO(clean)) as parts:
        assert not any(b"jane.roe" in parts.read(name) for name in parts.namelist())
    assert openpyxl.load_workbook(io.BytesIO(clean)).active["A1"].number_format == '0" mail <EMAIL_ADDRESS>"'


@pytest.mark.parametrize("word", ["bkmkstart", "bkmkend", "listname", "xe", "docvar", "protusertbl"])
def test_a_group_of_rich_text(tmp_path, word):
    clean = redacted(tmp_path, "a.rtf", "{\\rtf1 a {\\*\\%s %s} b}" % (word, VALUE))
    assert b"jane" not in clean and word.encode() in clean


@pytest.mark.parametrize(
    "line",
    [
        "NOTE;ENCODING=QUOTED-PRINTABLE:mail jane.roe=40corp-mail.com",
        "NOTE;CHARSET=UTF-8;QUOTED-PRINTABLE:mail jane.roe=40corp=\r\n-mail.com",
        "NOTE;ENCODING=B:bWFpbCBqYW5lLnJvZUBjb3JwLW1haWwuY29t",
    ],
)
def test_a_value_of_a_card_in_a_coding_of_its_own(tmp_path, line):
    card = f"BEGIN:VCARD\r\nVERSION:2.1\r\n{line}\r\nTEL;QUOTED-PRINTABLE:=31\r\nEND:VCARD\r\n"
    clean = redacted(tmp_path, "a.vcf", card)
    assert not re.search(rb"jane|bWFpbCBqYW5l", clean)
    assert b"TEL;QUOTED-PRINTABLE:=31\r\n" in clean


def test_an_instruction_of_a_document(tmp_path):
    clean = redacted(tmp_path, "a.xml", f'<?xml version="1.0"?><?by {TEXT}?><a>jane.<?x y?>roe@corp-mail.com</a>')
    assert b"jane" not in clean and b"<?by mail <EMAIL_ADDRESS>?>" in clean and b"<?x y?>" in clean


def test_the_identifier_of_a_structure(tmp_path):
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        element = pikepdf.Dictionary(Type=pikepdf.Name.StructElem, S=pikepdf.Name.P, ID=pikepdf.String(VALUE), Alt=pikepdf.String(TEXT))
        root = pikepdf.Dictionary(Type=pikepdf.Name.StructTreeRoot, K=pdf.make_indirect(element))
        pdf.Root.StructTreeRoot = pdf.make_indirect(root)
        out = io.BytesIO()
        pdf.save(out)
    with pikepdf.open(io.BytesIO(redacted(tmp_path, "a.pdf", out.getvalue()))) as clean:
        element = clean.Root.StructTreeRoot.K
        assert (str(element.ID), str(element.Alt)) == ("<EMAIL_ADDRESS>", "mail <EMAIL_ADDRESS>")
