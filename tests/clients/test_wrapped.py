"""Values that a document's lines and paragraphs break are gone after sanitizing with redaction, wherever the break is, and
cells and items that stand beside each other stay what they are."""

import io
import re
import subprocess
import zipfile

import docx
import pptx
import pytest
from gateway import run
from reportlab.pdfgen import canvas

CARD = "4012 8888 8888 1881".split()
PHONE = "+1 415 867 5309".split()
ACCOUNT = "GB82 WEST 1234 5698 7654 32".split()
# What is named, its groups, and what stands between them.
VALUES = [("Card", CARD, " "), ("Phone", PHONE, " "), ("IBAN", ACCOUNT, " "), ("SSN", ["536", "22", "8726"], "-")]
BEFORE, BEHIND = "Thank you for your letter.", "is what we have."


def zipped(make, data):
    file = io.BytesIO()
    make(data, file)
    return file.getvalue()


def word(lines, file):
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    document.save(file)


def word_breaks(lines, file):
    document = docx.Document()
    run_of = document.add_paragraph().add_run()
    for line in lines:
        run_of.add_text(line)
        run_of.add_break()
    document.save(file)


def slides(lines, file, between="\n"):
    deck = pptx.Presentation()
    box = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(0, 0, 999999, 999999)
    box.text_frame.text = between.join(lines)
    deck.save(file)


def writer(lines, file):
    """A text of OpenDocument, as little of it as is one."""
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text"))
    text = "".join(f"<text:p>{line}</text:p>" for line in lines)
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text", zipfile.ZIP_STORED)
        package.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>',
        )
        body = f"<office:body><office:text>{text}</office:text></office:body>"
        package.writestr(
            "content.xml", f'<office:document-content {spaces} office:version="1.3">{body}</office:document-content>'
        )


def page(lines, file):
    drawn = canvas.Canvas(file)
    for at, line in enumerate(lines):
        drawn.drawString(72, 700 - 14 * at, line)
    drawn.save()


def joined(pattern, begin="", end=""):
    return lambda lines: (begin + "".join(pattern.format(line) for line in lines) + end).encode()


HTML = "<!DOCTYPE html><html><body>", "</body></html>"
SVG = '<svg xmlns="http://www.w3.org/2000/svg">', "</svg>"
FORMATS = {
    "lines.txt": joined("{}\n"),
    "indented.txt": joined("    {}\n"),
    "quoted.txt": joined("> {}\n"),
    "quoted-twice.txt": joined(">> {}\r\n"),
    "remarks.txt": joined("# {}\n"),
    "breaks.html": joined("{}<br>", *HTML),
    "paragraphs.html": joined("\n  <p>{}</p>\n", *HTML),
    "divisions.html": joined("<div><span>{}</span></div>\n\n", *HTML),
    "source.html": joined("{}\n\n          ", *HTML),
    "texts.svg": joined('<text x="1" y="1">{}</text>\n', *SVG),
    "breaks.rtf": joined("{}\\line ", "{\\rtf1\\ansi ", "}"),
    "paragraphs.rtf": joined("{}\\par\n", "{\\rtf1\\ansi ", "}"),
    "page.pdf": lambda lines: zipped(page, lines),
    "paragraphs.docx": lambda lines: zipped(word, lines),
    "breaks.docx": lambda lines: zipped(word_breaks, lines),
    "paragraphs.pptx": lambda lines: zipped(slides, lines),
    "breaks.pptx": lambda lines: zipped(lambda lines, file: slides(lines, file, "\v"), lines),
    "paragraphs.odt": lambda lines: zipped(writer, lines),
}


def words(name, data):
    """What a file says, one piece a line."""
    if name.endswith(".pdf"):
        return subprocess.run(["pdftotext", "-", "-"], input=data, capture_output=True, check=True).stdout.decode()
    if zipfile.is_zipfile(io.BytesIO(data)):
        package = zipfile.ZipFile(io.BytesIO(data))
        parts = [part for part in package.namelist() if re.search(r"document\.xml|slide1\.xml|content\.xml", part)]
        data = b"\n".join(package.read(part) for part in parts)
    return re.sub("<[^>]*>", "\n", data.decode())


def cleaned(tmp_path, name, data):
    file, out = tmp_path / name, tmp_path / f"out-{name}"
    file.write_bytes(data)
    done = run("sanitize", "--redact", file, out)
    assert done.returncode == 0, done.err
    return out.read_bytes()


def left(text, groups):
    return [group for group in groups if len(group) >= 3 and re.search(rf"(?<!\w){re.escape(group)}(?!\w)", text)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_value_that_lines_break(tmp_path, name):
    wrapped = [
        [f"{title}: {apart.join(groups[:cut])}{apart.strip()}", f"{apart.join(groups[cut:])} {BEHIND}"]
        for title, groups, apart in VALUES
        for cut in range(1, len(groups))
    ]
    lines = [line for pair in wrapped for line in (BEFORE, *pair)]
    made = FORMATS[name](lines)
    said = words(name, made)
    assert all(left(said, groups) for _, groups, _ in VALUES), "the values were there"
    text = words(name, cleaned(tmp_path, name, made))
    assert [left(text, groups) for _, groups, _ in VALUES] == [[], [], [], []]
    assert text.count(BEFORE) == len(wrapped) and text.count(BEHIND) == len(wrapped)


CELLS = {
    "cells.html": joined("<td>{}</td>", "<!DOCTYPE html><html><body><table><tr>", "</tr></table></body></html>"),
    "items.html": joined("<li>{}</li>", "<!DOCTYPE html><html><body><ul>", "</ul></body></html>"),
    "cells.rtf": joined("{}\\cell ", "{\\rtf1\\ansi\\trowd\\cellx99\\cellx199 ", "\\row}"),
}


@pytest.mark.parametrize("name", CELLS)
def test_what_stands_in_cells_is_no_number_together(tmp_path, name):
    made = CELLS[name](["4012 8888", "8888 1881", "212", "555 0147"])
    text = words(name, cleaned(tmp_path, name, made))
    assert "4012 8888" in text and "8888 1881" in text and "555 0147" in text


def test_columns_of_figures_stay(tmp_path):
    lines = [f"{year} {year * 7 % 9000 + 1000}" for year in range(1990, 2026)]
    for name, make in FORMATS.items():
        made = make(lines)
        assert words(name, cleaned(tmp_path, name, made)).split() == words(name, made).split(), name
