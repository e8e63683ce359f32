"""Bombs, each made when it is asked for: a name that begins with the file's, and what makes it. No file is large; what it
unfolds to, how deep it is or how much it says there is, is."""

import gzip
import io
import struct
import sys
import zipfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))
import test_scan

MIB = 1 << 20


def deflated(mebibytes, unit=b"\0", wbits=-15):
    """A deflate stream of so many mebibytes of `unit`, made of one block over and over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    block = unit * (MIB // len(unit))
    first = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    # A zlib stream ends with a sum that nobody gets to.
    return first + again * (mebibytes - 1) + packer.flush()


def entry(name, packed, size, check=0):
    """A local record and its line in the directory, whose offset is still to be put in."""
    name = name.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, check, len(packed), min(size, 0xFFFFFFFE), len(name), 0)
    local = b"PK\3\4" + common + name + packed
    return local, lambda at: b"PK\1\2\x14\0" + common + struct.pack("<HHHII", 0, 0, 0, 0, at) + name


def ends(count, directory, at):
    return b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count & 0xFFFF, count & 0xFFFF, directory, at, 0)


def packed(*entries):
    out, lines = b"", b""
    for local, line in entries:
        lines += line(len(out))
        out += local
    return out + lines + ends(len(entries), len(lines), len(out))


def overlapping(count=20_000):
    """All lines of the directory name the same record (D. Fifield, 2019)."""
    local, line = entry("a.txt", deflated(16, b" "), 16 * MIB)
    lines = line(0) * count
    return local + lines + ends(count, len(lines), len(local))


def stored(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


def deep(data, levels, pack):
    for _ in range(levels):
        data = pack(data)
    return data


def wide(levels=5, width=12):
    """Each level holds the one below so many times."""
    data = packed(*[entry("%d.txt" % n, deflated(10, b" "), 10 * MIB) for n in range(width)])
    for level in range(levels):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for n in range(width):
                archive.writestr("%d-%d.zip" % (level, n), data)
        data = out.getvalue()
    return data


def many(count=200_000):
    pairs = [entry(str(n), b"\3\0", 0) for n in range(count)]
    out, lines = [], []
    at = 0
    for local, line in pairs:
        lines.append(line(at))
        out.append(local)
        at += len(local)
    lines = b"".join(lines)
    return b"".join(out) + lines + ends(count, len(lines), at)


def gz(body):
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + body + b"\0" * 8


def tar(kind, size, name=b"a", body=b"", repeat=1):
    head = bytearray(512)
    head[: len(name)] = name
    head[100:108], head[124:136], head[156:157] = b"0000644\0", size, kind
    head[257:265] = b"ustar\x0000"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return (bytes(head) + body) * repeat + b"\0" * 1024


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(side, pixels, *more):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def gif(side, frames):
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02\x02\x4c\x01\0"
    return b"GIF89a" + struct.pack("<HH", side, side) + b"\xf0\0\0" + b"\0\0\0\xff\xff\xff" + frame * frames + b";"


def jpeg(side, scans):
    frame = b"\xff\xc2\0\x0b\x08" + struct.pack(">HH", side, side) + b"\x01\x01\x11\0"
    quant = b"\xff\xdb\0\x43\0" + b"\1" * 64
    codes = b"\xff\xc4\0\x14\0" + b"\1" + b"\0" * 15 + b"\0"
    return b"\xff\xd8" + quant + frame + codes + b"\xff\xda\0\x08\x01\x01\0\0\0\0\0" * scans + b"\xff\xd9"


def bmp(side):
    return b"BM" + struct.pack("<IHHI", 1 << 20, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, side, side, 1, 24, 0, 0, 0, 0, 0, 0)


def pdf(*objects, root=b"/Root 1 0 R", prev=None):
    """Objects from 3 on; 1 is the catalogue and 2 the page tree, unless they are given."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    if not objects or not objects[0].startswith(b"<</Type /Catalog"):
        first = b"<</Type /Catalog /Pages 2 0 R>>", b"<</Type /Pages /Kids [3 0 R] /Count 1>>"
        objects = first + objects
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    more = b"/Prev %d" % start if prev else b""
    return bytes(out) + b"trailer <</Size %d %s %s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, root, more, start)


def stream(data, entries=b"/Filter /FlateDecode"):
    return b"<<%s /Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)


PAGE = b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R>>"
CATALOG = b"<</Type /Catalog /Pages 2 0 R>>"


def document(text, name="word/document.xml", kind=None):
    """A Word document whose text part is the deflate stream given."""
    base = io.BytesIO(test_scan.docx())
    out, entries = zipfile.ZipFile(base), []
    for one in out.namelist():
        if one == name:
            entries.append(entry(one, text, 0xFFFFFFF0))
        else:
            data = out.read(one)
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            entries.append(entry(one, packer.compress(data) + packer.flush(), len(data), zlib.crc32(data)))
    return packed(*entries)


def raw(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def nest(opening, closing, depth):
    return opening * depth + closing * depth


def laughs():
    entities = "".join('<!ENTITY e%d "%s">' % (n, ("&e%d;" % (n - 1)) * 10) for n in range(1, 12))
    return ('<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e0 "x">%s]><svg>&e11;</svg>' % entities).encode()


def mime(depth):
    parts = "".join("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth))
    return ("From: a\nSubject: b\n" + parts).encode()


WORD = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'

BOMBS = {
    "flat.zip: 4 GiB of blanks": lambda: packed(entry("a.txt", deflated(4096, b" "), 0xFFFFFFFE)),
    "lies.zip: says 10 bytes, has 4 GiB": lambda: packed(entry("a.txt", deflated(4096, b" "), 10)),
    "wide.zip: 12 to the power of 6": wide,
    "deep.zip: 300 levels": lambda: deep(b"x", 300, lambda data: stored("a.zip", data)),
    "overlapping.zip: 20,000 times one": overlapping,
    "many.zip: 200,000 entries": many,
    "directory.zip: of nothing": lambda: b"PK\3\4" + b"PK\1\2" * 4_000_000 + b"PK\5\6",
    "flat.gz: 10 GiB": lambda: gz(deflated(10240)),
    "deep.gz: 300 levels": lambda: deep(b"x", 300, gzip.compress),
    "members.gz: 500,000 of nothing": lambda: gzip.compress(b"", mtime=0) * 500_000,
    "flat.tgz: a tar of 4 GiB": lambda: gz(deflated(4096, tar(b"0", b"00000000000\0")[:512])),
    "huge.tar: 8 GiB announced": lambda: tar(b"0", b"77777777777\0"),
    "sparse.tar": lambda: tar(b"S", b"77777777777\0"),
    "many.tar: 100,000 entries": lambda: tar(b"0", b"00000000000\0", repeat=100_000),
    "sides.png: 65,000 by 65,000": lambda: png(65_000, zlib.compress(b"x")),
    "pixels.png: 4 GiB for 16 pixels": lambda: png(4, deflated(4096, wbits=15)),
    "text.png: 2 GiB of text": lambda: png(4, zlib.compress(b"\0" * 52), chunk(b"zTXt", b"a\0\0" + deflated(2048, b"a", 15))),
    "sides.gif: 65,535 by 65,535": lambda: gif(65_535, 1),
    "frames.gif: 20,000 of 4,000 by 4,000": lambda: gif(4000, 20_000),
    "scans.jpg: 60,000 of 65,000 by 65,000": lambda: jpeg(65_000, 60_000),
    "scans.jpg: 100,000 of 5,000 by 5,000": lambda: jpeg(5_000, 100_000),
    "sides.bmp: 100,000 by 100,000": lambda: bmp(100_000),
    "loop.tiff: a directory that follows itself": lambda: b"II*\0\x08\0\0\0\0\0\x08\0\0\0" + b"\0" * 64,
    "laughs.svg: a thousand million": laughs,
    "deep.svg: a million levels": lambda: b"<svg xmlns='http://www.w3.org/2000/svg'>" + nest(b"<g>", b"</g>", 1_000_000),
    "deep.html: a million levels": lambda: nest(b"<div>", b"</div>", 1_000_000),
    "open.html: a million tags without end": lambda: b"<!DOCTYPE html><html>" + b"<div <" * 1_000_000,
    "deep.xml: a million levels": lambda: b"<?xml version='1.0'?>" + nest(b"<a>", b"</a>", 1_000_000),
    "deep.json: five million levels": lambda: nest(b"[", b"]", 5_000_000),
    "deep.rtf: a million levels": lambda: b"{\\rtf1" + nest(b"{\\b ", b"}", 1_000_000) + b"}",
    "wide.csv: a line of 20 million cells": lambda: b"a" + b",1" * 20_000_000 + b"\n",
    "deep.eml: 20,000 levels": lambda: mime(20_000),
    "parts.eml: 300,000 parts": lambda: b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 300_000,
    "fields.eml: a million fields": lambda: b"From: a\n" + b"To: b\n" * 1_000_000 + b"\nx",
    "part.docx: 4 GiB of text": lambda: document(deflated(4096, b" ")),
    "deep.docx: a million levels": lambda: document(raw(WORD + nest(b"<w:p>", b"</w:p>", 1_000_000))),
    "runs.docx: two million runs": lambda: document(raw(WORD + b"<w:p>" + b"<w:r><w:t>a</w:t></w:r>" * 2_000_000 + b"</w:p></w:body></w:document>")),
    "stream.pdf: 4 GiB in a page": lambda: pdf(PAGE, stream(deflated(4096, b" ", 15))),
    "chain.pdf: a stream packed 60 times": lambda: pdf(
        PAGE, stream(deep(b" " * MIB, 60, zlib.compress), b"/Filter [%s]" % (b"/FlateDecode " * 60))
    ),
    "loop.pdf: pages in pages": lambda: pdf(CATALOG, b"<</Type /Pages /Kids [2 0 R 2 0 R] /Count 2>>"),
    "wide.pdf: pages that double 40 times": lambda: pdf(
        CATALOG, *[b"<</Type /Pages /Kids [%d 0 R %d 0 R] /Count 2>>" % (n, n) for n in range(3, 43)], b"<</Type /Page>>"
    ),
    "prev.pdf: a revision that follows itself": lambda: pdf(PAGE, stream(zlib.compress(b" ")), prev=True),
    "objects.pdf: a million": lambda: pdf(PAGE, stream(zlib.compress(b" ")), *[b"[]"] * 1_000_000),
    "arrays.pdf: a million levels": lambda: pdf(PAGE, nest(b"[", b"]", 1_000_000)),
    "text.pdf: two million letters": lambda: pdf(
        PAGE, stream(zlib.compress(b"BT /F 9 Tf " + b"(a) Tj " * 2_000_000 + b"ET"))
    ),
}

# What mutants are made of: good files of each kind, small.
SMALL = {
    "a.txt": lambda: b"Jane Doe, jane.doe@harbour-post.com, https://evil.example.net/a, 4111 1111 1111 1111\n" * 4,
    "a.csv": lambda: b"name,mail,formula\nJane,jane@harbour-post.com,=1+2\n\"a \"\"b\",c@d.example.org,@SUM(1)\n",
    "a.json": lambda: b'{"mail": "jane@harbour-post.com", "list": [1, 2.5e3, null, {"u": "https://evil.example.net/"}]}',
    "a.xml": lambda: b"<?xml version='1.0'?><a b='https://evil.example.net/'><![CDATA[jane@harbour-post.com]]><!-- x --></a>",
    "a.html": lambda: b"<!DOCTYPE html><p onclick=x>jane@harbour-post.com <a href='https://evil.example.net/'>a</a><script>1</script>",
    "a.svg": lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script><text>a@example.org</text><use href='#a'/></svg>",
    "a.md": lambda: b"# A\n[a](https://evil.example.net/) <b onclick=x>jane@harbour-post.com</b>\n",
    "a.rtf": lambda: b"{\\rtf1\\ansi{\\fonttbl{\\f0 A;}}\\f0 jane@harbour-post.com {\\object\\objdata 0102}\\par}",
    "a.eml": lambda: b"From: Jane <a@example.com>\nSubject: =?utf-8?q?a?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
    b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<p>a=3D</p>\n--b\nContent-Type: "
    b"application/zip\nContent-Transfer-Encoding: base64\n\nUEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==\n--b--\n",
    "a.pdf": lambda: test_scan.pdf(),
    "b.pdf": lambda: test_scan.pdf(encrypted=True),
    "c.pdf": lambda: pdf(PAGE, stream(zlib.compress(b"BT /F 9 Tf (jane@harbour-post.com) Tj ET"))),
    "a.docx": test_scan.docx,
    "a.zip": lambda: stored("a.txt", b"jane@harbour-post.com"),
    "b.zip": lambda: stored("b.zip", stored("a.txt", b"jane@harbour-post.com")),
    "a.gz": lambda: gzip.compress(b"jane@harbour-post.com"),
    "a.tar": lambda: tar(b"0", b"00000000005\0", body=b"hello".ljust(512, b"\0")),
    "a.png": lambda: png(4, zlib.compress(b"\0" * 52)),
    "a.gif": lambda: gif(2, 2),
    "a.bmp": lambda: bmp(2) + b"\0" * 16,
    "a.jpg": lambda: jpeg(8, 1),
    "a.tiff": lambda: b"II*\0\x08\0\0\0\x01\0\0\x01\x03\0\x01\0\0\0\x04\0\0\0\0\0\0\0",
    "a.doc": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + b"\x3e\0\x03\0\xfe\xff\x09\0\x06\0" + b"\0" * 478 + b"\xff" * 512,
}
