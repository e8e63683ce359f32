"""Pictures within documents are cleaned as if they came alone: no metadata, nothing behind the picture, and what is no picture
does not stay; no pixel changes."""

import base64
import io
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


def sanitized(tmp_path, name, data):
    source, target = tmp_path / name, tmp_path / "out"
    source.write_bytes(data)
    done = run("sanitize", source, target)
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


def test_pictures_in_opendocument(tmp_path):
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        '<manifest:file-entry manifest:full-path="Pictures/a.jpg" manifest:media-type="image/jpeg"/></manifest:manifest>'
    )
    content = '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"/>'
    picture = jpeg()
    members = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": content,
        "Pictures/a.jpg": picture,
        "META-INF/manifest.xml": manifest,
    }
    clean, _ = sanitized(tmp_path, "a.odt", packed(members))
    left = parts(clean)["Pictures/a.jpg"]
    assert MARK not in left and pixels(left) == pixels(picture)


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
        ("a.zip", lambda data: packed({"a.txt": b"hello there", **({"b.png": data} if data else {})})),
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
