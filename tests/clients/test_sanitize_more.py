"""What documents draw, what they say without showing it, and what of a picture stays: PDFs that draw without end, images and strings in
their content, hosts without a scheme in pages, pages of a TIFF and how a picture is turned."""

import io
import json

import pypdf
import pytest
from gateway import run
from PIL import Image, ImageSequence

WHO = "jane.doe@harbour-post.com"


def sanitized(tmp_path, name, data, *options):
    """The clean file, if there is one, and what is told of it."""
    source, target = tmp_path / name, tmp_path / f"clean-{name}"
    source.write_bytes(data)
    target.unlink(missing_ok=True)
    done = run("sanitize", "--report", *options, source, target)
    report = json.loads(done.out)
    assert target.exists() == (done.returncode == 0) == report["released"], done.err
    return target.read_bytes() if target.exists() else None, report


def pdf(*objects):
    """A PDF of these objects, from the third on; the first two are the catalog and the tree of its one page, 3."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", *objects]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def stream(content, entries=b""):
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


def page(content, resources=b""):
    head = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>%s>>>>" % resources
    return head, stream(content), b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


TEXT = b" BT /F1 12 Tf 72 700 Td (hello there) Tj ET"
IMAGE = b"q 600 0 0 800 0 0 cm BI /W 30 /H 1 /BPC 8 /CS /G ID aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa EI Q"


def forms(levels, draws):
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>"
    last = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
    nested = [stream(b"/X Do " * draws, form % (number + 7)) for number in range(levels)]
    return pdf(*page(b"/X Do" + TEXT, b"/XObject<</X 6 0 R>>"), *nested, stream(b"0 0 9 9 re f", last))


@pytest.mark.parametrize("options", [(), ("--redact",), ("--keep-links",)], ids=["links", "redact", "neither"])
def test_a_pdf_that_draws_without_end_is_refused(tmp_path, options):
    clean, report = sanitized(tmp_path, "a.pdf", forms(24, 2), *options)
    assert clean is None and report["reason"] == "too_large"
    # As deep, and as often, but not both.
    for levels, draws in ((24, 1), (2, 100)):
        clean, _ = sanitized(tmp_path, "b.pdf", forms(levels, draws), *options)
        assert clean


@pytest.mark.parametrize(
    ("content", "resources", "more"),
    [
        (IMAGE + TEXT, b"", []),
        (b"/Pattern cs /P scn 0 0 600 800 re f" + TEXT, b"/Pattern<</P 6 0 R>>", [stream(IMAGE, b"/PatternType 1")]),
        (b"/X Do" + TEXT, b"/XObject<</X 6 0 R>>", [stream(IMAGE, b"/Subtype/Form/BBox[0 0 600 800]")]),
    ],
    ids=["page", "pattern", "form"],
)
def test_images_in_the_content_are_not_read(tmp_path, content, resources, more):
    file = pdf(*page(content, resources), *more)
    _, report = sanitized(tmp_path, "a.pdf", file, "--redact")
    assert report["notes"]["images"] == 1
    clean, report = sanitized(tmp_path, "a.pdf", file, "--redact", "--on-unread", "refuse")
    assert clean is None and report["reason"] == "unread"
    clean, _ = sanitized(tmp_path, "a.pdf", pdf(*page(TEXT)), "--redact", "--on-unread", "refuse")
    assert clean


@pytest.mark.parametrize(
    "content",
    [
        f"({WHO}) MP",
        f"/T<</x({WHO})>>DP",
        f"/Artifact<</Contents({WHO})>>BDC EMC",
        f"/Span<</Lang(en)/x[<{WHO.encode().hex()}>]>>BDC EMC",
        f"BX ({WHO}) foo EX",
        f"({WHO}) 0 g",
        f"BI /W 1 /H 1 /BPC 8 /CS /G /x({WHO}) ID a EI",
    ],
)
def test_strings_that_nothing_shows_are_redacted(tmp_path, content):
    clean, report = sanitized(tmp_path, "a.pdf", pdf(*page(content.encode() + TEXT)), "--redact")
    assert report["redact"]["summary_counts"] == {"EMAIL_ADDRESS": 1}
    shown = b"".join(stream.get_contents().get_data() for stream in pypdf.PdfReader(io.BytesIO(clean)).pages)
    assert b"hello there" in shown and b"()" in shown and b"harbour" not in shown and WHO.encode().hex().encode() not in shown
    again, more = sanitized(tmp_path, "b.pdf", clean, "--redact")
    assert again == clean and more["redact"]["redaction_count"] == 0


HOSTS = r"""<img src="//a.example/1.png"><img src="/\a.example/2.png"><img src="\/a.example/3.png">
<img src="/&#9;/a.example/4.png" srcset="//a.example/5.png 1x, b.png 2x"><a href="//a.example/6">x</a>
<p style="background:url(//a.example/7.png)"><video poster="//a.example/8.png"></video>
<style>@font-face{font-family:a;src:url(//a.example/9)} b{background:url("/\\a.example/10")}</style>"""


DRAWING = r"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
<image href="//a.example/1.png"/><image xlink:href="/\a.example/2.png"/><a href="\/a.example/3"><text>x</text></a>
<rect fill="url(//a.example/4#a)" style="fill:url('//a.example/5#a')"/><style>a{fill:url(//a.example/6#a)}</style></svg>"""


@pytest.mark.parametrize(("name", "page", "count"), [("a.html", HOSTS, 10), ("a.svg", DRAWING, 6)])
def test_hosts_without_a_scheme_are_those_of_the_web(tmp_path, name, page, count):
    clean, _ = sanitized(tmp_path, name, page.encode(), "--keep-links")
    text = clean.decode()
    for number in range(1, count + 1):
        assert f"https://a.example/{number}" in text, (number, text)
    assert text.count("a.example") == count and "\\" not in text
    again, _ = sanitized(tmp_path, name, clean, "--keep-links")
    assert again == clean
    kept, _ = sanitized(tmp_path, name, page.encode(), "--keep-links", "--keep-interactive")
    assert kept == page.encode()


def frames(data):
    with Image.open(io.BytesIO(data)) as image:
        return [(frame.mode, frame.size, frame.tobytes()) for frame in ImageSequence.Iterator(image)]


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate", "packbits"])
def test_pages_of_a_tiff_stay(tmp_path, compression):
    grey = Image.linear_gradient("L").resize((300, 401))
    pages = [grey, grey.convert("RGB").rotate(90), grey.convert("RGBA"), grey.point(lambda dot: 255 * (dot > 99)).convert("1")]
    out = io.BytesIO()
    pages[0].save(out, "TIFF", save_all=True, append_images=pages[1:], compression=compression, description="KilroyWasHere")
    assert len(frames(out.getvalue())) == 4 and b"KilroyWasHere" in out.getvalue()
    clean, report = sanitized(tmp_path, "a.tiff", out.getvalue())
    assert frames(clean) == frames(out.getvalue()) and b"KilroyWasHere" not in clean
    assert "dropped" not in report["notes"]
    again, _ = sanitized(tmp_path, "b.tiff", clean)
    assert again == clean and len(clean) < sum(len(data) for _, _, data in frames(clean))


def test_a_fax_of_many_pages_stays(tmp_path):
    fax = Image.new("1", (1728, 2200), 1)
    fax.paste(0, (100, 100, 1500, 140))
    out = io.BytesIO()
    fax.save(out, "TIFF", save_all=True, append_images=[fax] * 19, compression="group4")
    clean, report = sanitized(tmp_path, "a.tiff", out.getvalue())
    assert frames(clean) == frames(out.getvalue()) and not report["notes"]


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "JPEG"])
def test_a_picture_keeps_how_it_is_turned(tmp_path, kind):
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "KilroyWasHere", 6
    out = io.BytesIO()
    Image.linear_gradient("L").convert("RGB").save(out, kind, exif=exif)
    name = f"a.{kind.lower()}"
    clean, _ = sanitized(tmp_path, name, out.getvalue())
    with Image.open(io.BytesIO(clean)) as image:
        assert dict(image.getexif()) == {0x0112: 6}
    assert b"KilroyWasHere" not in clean and frames(clean) == frames(out.getvalue())
    again, _ = sanitized(tmp_path, name, clean)
    assert again == clean
