"""Values in documents of all kinds are gone after sanitizing with redaction: from the bytes, from all that can be
inflated, and from what other programs read. What stood around them is still there."""

import io
import json
import shutil

import docx
import openpyxl
import pikepdf
import pptx
import pytest
from documents import ALL, KEPT, judge, office, pdf, text
from gateway import run

MADE = {}
assert pdf and office and text, "what adds the documents"


def made(document):
    """Its bytes, made once."""
    return MADE.setdefault(document.name, document.make())


@pytest.fixture
def clean(gateway, tmp_path):
    """Cleans a document's bytes with redaction: what came out, and what was done."""

    def cleaned(document, data):
        if document.attachments:
            # Over HTTP, a stored configuration says that attachments stay; on the command line, an option.
            file, out = tmp_path / document.name, tmp_path / "out"
            file.write_bytes(data)
            done = run("sanitize", "--redact", "--keep-links", "--keep-attachments", "--report", file, out)
            assert done.returncode == 0, done.err
            return out.read_bytes(), json.loads(done.out)
        return gateway.sanitized(document.name, data, defang=False, redact=True)

    return cleaned


def test_there_are_enough():
    assert len(ALL) >= 50 and len({document.name for document in ALL}) == len(ALL)


@pytest.mark.parametrize("document", ALL, ids=str)
def test_values_are_gone_and_the_rest_is_there(clean, document):
    if document.name == "letters-backwards.pdf" and not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed, and no other judge puts letters back in their order")
    data = made(document)
    before = judge.leaks(data, document.values, document.spelled)
    assert {value for value, _ in before} >= set(document.spelled or document.values), "the judge sees what was put in"
    out, done = clean(document, data)
    assert judge.leaks(out, document.values, document.spelled) == set()
    assert document.dropped or done["redact"]["redaction_count"] >= len(document.values)
    assert judge.tight(KEPT) in judge.tight(judge.text(out))
    assert opened(document.name, out) == opened(document.name, data)
    # Glyphs without a map, and letters that stand for themselves, are no words to other programs.
    if not document.spelled and document.name != "letters-backwards.pdf":
        assert judge.lost(document.name, data, out, document.values) == {}
    if document.name.endswith(".pdf"):
        with pikepdf.open(io.BytesIO(out)) as pdf_file:
            assert not pdf_file.is_encrypted and pdf_file.check_pdf_syntax() == []
    again, more = clean(document, out)
    assert again == out and more["redact"]["redaction_count"] == 0


def opened(name, data):
    """How much of a file the program of others sees that reads its kind."""
    file = io.BytesIO(data)
    match name.rpartition(".")[2]:
        case "pdf":
            with pikepdf.open(file) as pdf_file:
                return len(pdf_file.pages)
        case "docx":
            return len(docx.Document(file).paragraphs)
        case "xlsx":
            return [sheet.dimensions for sheet in openpyxl.load_workbook(file)]
        case "pptx":
            return [len(slide.shapes) for slide in pptx.Presentation(file).slides]
    return None
