"""Pictures within documents are cleaned as if they came alone: no metadata, nothing behind the picture, and what is no picture
does not stay; no pixel changes."""

import base64
import io
import re
import zipfile

import docx
import pptx
import pypdf
import pytest
from gateway import run
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

MARK = b"KilroyWasHere"


def jpeg(mode="RGB"):
    image = Image.radial_gradient("L").resize((64, 48)).convert(mode)
    exif = Image.Exif()
    exif[0x010F] = MARK.decode()
    out = io.BytesIO()
    image.save(out, "JPEG", exif=exif, comment=MARK)
    return out.getvalue() + b"PK\x03\x04" + MARK


def png():
    out = io.BytesIO()
    Image.linear_gradient("L").save(out, "PNG")
    return out.getvalue() + b"MZ" + MARK


def pixels(data):
    with Image.open(io.BytesIO(data)) as image:
        return image.mode, image.size, image.tobytes()


def sanitized(tmp_path, name, data, *more):
    source, target = tmp_path / name, tmp_path / "out"
    source.write_bytes(data)
    done = run("sanitize", *more, source, target)
    assert done.returncode == 0, done.err
    return target.read_bytes(), done.err


def saved(document):
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def parts(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_pictures_in_office_documents(tmp_path, kind):
    if kind == "docx":
        document = docx.Document()
        for picture in (jpeg(), png()):
            document.add_picture(io.BytesIO(picture))
    else:
        document = pptx.Presentation()
        slide = document.slides.add_slide(document.slide_layouts[6])
        for picture in (jpeg(), png()):
            slide.shapes.add_picture(io.BytesIO(picture), 0, 0)
    before = parts(saved(document))
    media = [name for name in before if "/media/" in name]
    assert len(media) == 2
    clean, _ = sanitized(tmp_path, f"a.{kind}", packed(before))
    after = parts(clean)
    for name in media:
        assert MARK in before[name] and MARK not in after[name]
        assert pixels(before[name]) == pixels(after[name])
    assert (docx.Document if kind == "docx" else pptx.Presentation)(io.BytesIO(clean))


def test_what_is_no_picture_does_not_stay(tmp_path):
    document = docx.Document()
    document.add_picture(io.BytesIO(png()))
    members = parts(saved(document))
    media = next(name for name in members if "/media/" in name)
    for bad in (b"MZ\x90\x00\x03" + MARK, b"#!/bin/sh\n" + MARK, zipfile.ZipFile and b"PK\x03\x04" + MARK):
        clean, told = sanitized(tmp_path, "a.docx", packed({**members, media: bad}))
        assert MARK not in parts(clean)[media] and pixels(parts(clean)[media])[1] == (1, 1)
        assert "left out" in told


def opendocument(picture, kind="image/jpeg", place="Pictures/a.jpg", mimetype="text"):
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.{mimetype}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        f'<manifest:file-entry manifest:full-path="{place}" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    content = '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"/>'
    return packed(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{mimetype}",
            "content.xml": content,
            place: picture,
            "META-INF/manifest.xml": manifest,
        }
    )


SAID = ["image/jpeg", "", "application/binary", "application/x-openoffice-wmf"]
PLACES = ["Pictures/a.jpg", "ObjectReplacements/Object 1", "media/a.jpg", "fonts/a.ttf"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", SAID)
def test_pictures_in_opendocument(tmp_path, kind, place):
    picture = jpeg()
    clean, _ = sanitized(tmp_path, "a.odt", opendocument(picture, kind, place))
    left = parts(clean)[place]
    assert MARK not in left and pixels(left) == pixels(picture)


@pytest.mark.parametrize("place", [*PLACES, "Thumbnails/thumbnail.png", "META-INF/a.bin"])
@pytest.mark.parametrize("kind", [*SAID, "image/svg+xml", "font/ttf", "audio/wav"])
def test_no_program_stays_in_opendocument(tmp_path, kind, place):
    for program in (b"MZ\x90\x00\x03" + MARK, b"\x7fELF" + MARK, b"#!/bin/sh\n" + MARK, b"PK\x03\x04" + MARK):
        clean, _ = sanitized(tmp_path, "a.ods", opendocument(program, kind, place, "spreadsheet"))
        assert not any(MARK in data for data in parts(clean).values())


def held(text):
    """The pictures that a text holds in base64."""
    found = re.findall(r"data:([a-z/+]+);base64,([A-Za-z0-9+/=]*)", text)
    return [(kind, base64.b64decode(data)) for kind, data in found]


PAGES = {
    "page.html": '<!DOCTYPE html><p><img src="{0}" alt="x"><img srcset="{0} 2x"></p>',
    "style.html": "<style>p{{background:url('{0}')}}</style><p style=\"background:url({0})\">x</p>",
    "drawing.html": '<svg><image href="{0}"/><image xlink:href="{0}"/></svg>',
    "a.svg": '<svg xmlns="http://www.w3.org/2000/svg"><image href="{0}"/><style>a{{fill:url("{0}")}}</style></svg>',
    "a.md": "# x\n\n![x]({0})\n",
}


@pytest.mark.parametrize("more", [(), ("--keep-interactive",)], ids=["strict", "kept"])
@pytest.mark.parametrize("name", PAGES)
def test_pictures_in_addresses(tmp_path, name, more):
    for picture, kind in ((jpeg(), "image/jpeg"), (png(), "image/png")):
        coded = base64.b64encode(picture).decode()
        page = PAGES[name].format(f"data:{kind};base64,{coded}")
        clean, _ = sanitized(tmp_path, name, page.encode(), *more)
        left = held(clean.decode())
        assert len(left) == page.count("data:")
        for said, data in left:
            assert MARK not in data and said == kind and pixels(data) == pixels(picture)
        again, _ = sanitized(tmp_path, name, clean, *more)
        assert again == clean
    # Spelled as browsers read it.
    spelled = coded.replace("+", "%2B").replace("A", "%41")
    clean, _ = sanitized(tmp_path, name, PAGES[name].format(f"data:{kind};base64,{spelled}").encode(), *more)
    assert all(MARK not in data and pixels(data) == pixels(picture) for _, data in held(clean.decode()))
    assert spelled not in clean.decode()


@pytest.mark.parametrize("name", ["page.html", "style.html", "drawing.html", "a.svg"])
def test_no_program_stays_in_an_address(tmp_path, name):
    coded = base64.b64encode(b"MZ\x90\x00\x03" + MARK).decode()
    clean, told = sanitized(tmp_path, name, PAGES[name].format(f"data:image/png;base64,{coded}").encode())
    assert all(pixels(data)[1] == (1, 1) for _, data in held(clean.decode()))
    assert coded not in clean.decode() and "left out" in told


def test_pictures_in_rich_text(tmp_path):
    for picture, word in ((jpeg(), b"jpegblip"), (png(), b"pngblip")):
        data = b" " + picture.hex().encode()
        file = b"{\\rtf1 a {\\*\\shppict{\\pict{\\*\\picprop x}\\picw9\\%s%s}} b}" % (word, data)
        clean, _ = sanitized(tmp_path, "a.rtf", file)
        left = bytes.fromhex(re.search(rb"blip ([0-9a-f\r\n]+)", clean)[1].decode())
        assert MARK not in clean and MARK not in left and pixels(left) == pixels(picture)
        assert sanitized(tmp_path, "a.rtf", clean)[0] == clean
    program = b"{\\rtf1 a {\\pict\\pngblip %s} b}" % (b"MZ\x90" + MARK).hex().encode()
    clean, told = sanitized(tmp_path, "a.rtf", program)
    assert clean == b"{\\rtf1 a {} b}" and "left out" in told


def decoded(stream):
    """The JPEG, without what lies around it."""
    filters = stream["/Filter"]
    data = stream._data
    if "/ASCII85Decode" in filters:
        data = base64.a85decode(data.strip().removesuffix(b"~>"))
    return data


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_pictures_in_pdf(tmp_path, mode):
    photo = tmp_path / f"{mode}.jpg"
    photo.write_bytes(jpeg(mode))
    file = io.BytesIO()
    page = canvas.Canvas(file, pageCompression=0)
    page.drawImage(str(photo), 10, 10)
    page.save()

    def pictures(data):
        return [image.image.tobytes() for page in pypdf.PdfReader(io.BytesIO(data)).pages for image in page.images]

    def jpegs(data):
        objects = [page["/Resources"]["/XObject"].values() for page in pypdf.PdfReader(io.BytesIO(data)).pages]
        streams = [item.get_object() for items in objects for item in items]
        return [decoded(stream) for stream in streams]

    assert all(MARK in data for data in jpegs(file.getvalue()))
    clean, _ = sanitized(tmp_path, "a.pdf", file.getvalue())
    left = jpegs(clean)
    assert left and not any(MARK in data for data in left)
    assert pictures(file.getvalue()) == pictures(clean)


def page_with(data):
    """A page with a word and a picture on it."""
    out = io.BytesIO()
    page = canvas.Canvas(out)
    page.drawString(72, 700, "hello there")
    if data:
        page.drawImage(ImageReader(io.BytesIO(data)), 72, 500)
    page.save()
    return out.getvalue()


def page_of(data):
    image = f'<img src="data:image/png;base64,{base64.b64encode(data).decode()}">' if data else ""
    return f"<p>hello there{image}</p>".encode()


def letter_with(data):
    document = docx.Document()
    document.add_paragraph("hello there")
    if data:
        document.add_picture(io.BytesIO(data))
    return saved(document)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.pdf", page_with),
        ("a.docx", letter_with),
        ("a.odt", lambda data: opendocument(data, "application/binary", "ObjectReplacements/Object 1")),
        ("a.zip", lambda data: packed({"a.txt": b"hello there", **({"b.png": data} if data else {})})),
        ("a.html", lambda data: page_of(data)),
        ("a.rtf", lambda data: b"{\\rtf1 hello {\\pict\\pngblip %s}}" % data.hex().encode()),
        ("a.png", lambda data: data),
    ],
)
def test_what_was_not_read_is_not_released(tmp_path, name, make):
    def released(data, *options):
        source, target = tmp_path / name, tmp_path / "out"
        source.write_bytes(data)
        target.unlink(missing_ok=True)
        done = run("sanitize", *options, source, target)
        assert target.exists() == (done.returncode == 0)
        assert done.returncode == 0 or "could not be read; sanitize.on_unread can let it pass" in done.err
        return done.returncode == 0

    config = tmp_path / "c.toml"
    config.write_text('[sanitize]\non_unread = "refuse"\n')
    read, unread = make(b""), make(png())
    assert released(unread, "--redact") and released(unread, "--on-unread", "refuse")
    assert not released(unread, "--redact", "--on-unread", "refuse")
    assert not released(unread, "--redact", "-c", config)
    assert released(unread, "--redact", "--on-unread", "note", "-c", config)
    if read:
        assert released(read, "--redact", "--on-unread", "refuse") and released(read, "--redact", "-c", config)
