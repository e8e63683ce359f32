"""What parsers of others, and none at all, find in a file: its bytes, all that can be inflated in it, and its text."""

import email
import email.policy
import html
import io
import re
import shutil
import subprocess
import urllib.parse
import zipfile
import zlib
from collections import Counter

import docx
import openpyxl
import pikepdf
import pptx
import pypdf

MAX_DEPTH = 6


def leaves(data, depth=MAX_DEPTH):
    """Pairs: where in the file, and its bytes there, unpacked in every way that its format has."""
    yield "raw", data
    if depth == 0:
        return
    inner = []
    if data[:1024].find(b"%PDF-") >= 0:
        inner += pdf_leaves(data)
    elif data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            inner += [(name, package.read(name)) for name in package.namelist()]
            inner.append(("names", "\n".join(package.namelist()).encode()))
    elif re.match(rb"[A-Za-z-]+: ", data):
        inner += mail_leaves(data)
    for name, part in inner:
        for below, bytes_ in leaves(part, depth - 1):
            yield name + "/" + below, bytes_


def inflated(data):
    for window in (15, -15):
        try:
            return zlib.decompressobj(window).decompress(data, 64 << 20)
        except zlib.error:
            continue
    return b""


def pdf_leaves(data):
    """Every stream by its words `stream` and `endstream`, and the whole file as another program writes it."""
    found = []
    for match in re.finditer(rb"stream\r?\n(.*?)endstream", data, re.S):
        unpacked = inflated(match.group(1))
        for content in filter(None, (match.group(1), unpacked)):
            found += [("stream", content), ("strings", strings(content))]
    out = io.BytesIO()
    try:
        opened = pikepdf.open(io.BytesIO(data))
    except pikepdf.PdfError:
        # A part of one.
        return found
    with opened as pdf:
        for name, item in pdf.attachments.items():
            found += [("attachment " + name, item.get_file().read_bytes()), ("name", name.encode())]
        for one in pdf.objects:
            found += [("text string", text.encode()) for text in text_strings(one)]
        how = {"object_stream_mode": pikepdf.ObjectStreamMode.disable, "compress_streams": False}
        pdf.save(out, stream_decode_level=pikepdf.StreamDecodeLevel.all, encryption=False, **how)
    # A header in the middle would be read as another file.
    return found + [("plain", out.getvalue()[8:]), ("plain strings", strings(out.getvalue()))]


def text_strings(one, depth=20):
    if isinstance(one, pikepdf.String):
        yield str(one)
    elif depth and isinstance(one, pikepdf.Array):
        for item in one:
            if not item_is_indirect(item):
                yield from text_strings(item, depth - 1)
    elif depth and isinstance(one, (pikepdf.Dictionary, pikepdf.Stream)):
        for key in one.keys():
            if not item_is_indirect(one[key]):
                yield from text_strings(one[key], depth - 1)


def item_is_indirect(item):
    return getattr(item, "is_indirect", False)


def strings(content):
    """The strings of a content stream, one after the other."""
    out = bytearray()
    for match in re.finditer(rb"\((?:[^()\\]|\\.)*\)|<[0-9A-Fa-f\s]+>", content, re.S):
        one = match.group(0)
        if one[:1] == b"(":
            one = re.sub(rb"\\([0-7]{1,3})", lambda code: bytes([int(code.group(1), 8) & 255]), one[1:-1])
            out += re.sub(rb"\\(.)", rb"\1", one, flags=re.S)
        else:
            digits = re.sub(rb"\s", b"", one[1:-1])
            out += bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
    return bytes(out)


def mail_leaves(data):
    found = []
    for part in email.message_from_bytes(data, policy=email.policy.default).walk():
        heads = "\n".join("%s: %s" % pair for pair in part.items()) + "\n" + str(part.get_filename() or "")
        found.append(("heads", heads.encode("utf-8", "replace")))
        if not part.is_multipart():
            found.append(("part", part.get_payload(decode=True) or b""))
    return [leaf for leaf in found if leaf[1] != data]


def text(data, name=""):
    """What a reader sees or hears: text without markup, of all that stands in the file."""
    out = []
    for place, part in leaves(data):
        if part[:1024].find(b"%PDF-") >= 0:
            out.append(pdf_text(part))
        elif part.lstrip()[:1] == b"<" or place.rstrip("/raw").endswith((".xml", ".rels")):
            decoded = part.decode("utf-8", "replace")
            # A paragraph's runs are one text, and paragraphs are not.
            parted = re.sub(r"</(w:p|a:p|si|is|row|c|p|li|td|tr|text|title|div)>|<br/?>", "\n", decoded)
            out.append(html.unescape(re.sub(r"<[^>]*>", "", parted)))
            out.append(html.unescape(decoded))
        elif part[:5] == b"{\\rtf":
            out.append(re.sub(r"\\[a-z]+-?\d* ?|[{}]", "", part.decode("latin-1")))
        elif place.endswith(("heads/raw", "part/raw", "text string/raw")) or place == "raw" and part[:2] != b"PK":
            out.append(part.decode("utf-8", "replace"))
    return "\n".join(out)


def pdf_text(data):
    try:
        out = [page.extract_text() or "" for page in pypdf.PdfReader(io.BytesIO(data)).pages]
    except pypdf.errors.PyPdfError:
        # A part of one.
        return ""
    if shutil.which("pdftotext"):
        for flags in ([], ["-raw"]):
            run = ["pdftotext", "-q", "-enc", "UTF-8", *flags, "-", "-"]
            out.append(subprocess.run(run, input=data, capture_output=True, timeout=60).stdout.decode("utf-8", "replace"))
    return "\n".join(out)


def tight(text):
    return re.sub(r"\s+", "", text)


def ways(value):
    """A value's bytes in the ways in which files write text."""
    digits = re.sub(r"\D", "", value)
    plain = [value, value.replace(" ", ""), urllib.parse.quote(value)]
    if "@" not in value:
        plain += [digits, digits[:3] + " " + digits[3:]]
    for one in plain:
        for encoding in ("latin-1", "utf-16-be", "utf-16-le"):
            coded = one.encode(encoding)
            yield from (coded, coded.hex().encode(), coded.hex().upper().encode())


def leaks(data, values, spelled=()):
    """Which values are there, and where."""
    found = set()
    parts = list(leaves(data))
    for value in values:
        for place, part in parts:
            if any(way in part for way in ways(value)):
                found.add((value, place))
        if tight(value) in tight(text(data)):
            found.add((value, "text"))
    for codes in spelled:
        # The codes of glyphs, parted or not.
        for place, part in parts:
            if bytes.fromhex(codes) in part or codes in part.decode("latin-1").lower():
                found.add((codes, place))
    return found


def shown(name, data):
    """What a reader of the file sees, without what is hidden or dropped on purpose."""
    file = io.BytesIO(data)
    match name.rpartition(".")[2]:
        case "pdf":
            return "\n".join(page.extract_text() or "" for page in pypdf.PdfReader(file).pages)
        case "docx":
            return "\n".join(element.text or "" for element in docx.Document(file).element.body.iter())
        case "xlsx":
            sheets = openpyxl.load_workbook(file, data_only=True)
            return "\n".join(str(cell.value) for sheet in sheets for row in sheet.iter_rows() for cell in row)
        case "pptx":
            slides = pptx.Presentation(file).slides
            frames = [shape.text_frame for slide in slides for shape in slide.shapes if shape.has_text_frame]
            return "\n".join(frame.text for frame in frames)
        case "html" | "svg":
            visible = re.sub(rb"(?s)<(script|template)>.*?</\1>", b"", data).decode()
            return html.unescape(re.sub(r"(?s)<!--.*?-->|<[^>]*>", " ", visible))
        case "eml":
            parts = email.message_from_bytes(data, policy=email.policy.default).walk()
            texts = [part.get_content() for part in parts if part.get_content_maintype() == "text"]
            return "\n".join(re.sub(r"<[^>]*>", " ", text) for text in texts)
    return re.sub(r"\\[a-z]+-?\d* ?|[{}]", " ", data.decode("latin-1"))


def lost(name, before, after, values):
    """Words that nobody sees any more, besides those that hold a value or a part of one."""
    words = [Counter(re.findall(r"\w+", shown(name, data))) for data in (before, after)]
    held = tight(" ".join(values))
    return {word: n for word, n in (words[0] - words[1]).items() if word not in held}
