"""PDFs with values where readers show them, and where they do not."""

import io

import pikepdf
import pypdf
from pikepdf import Array, Dictionary, Name, Stream, String
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics, ttfonts
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from . import CARD, EMAIL, KEPT, PHONE, SSN, VALUES, document, sentences

PLAIN = "BT /F1 11 Tf 60 %d Td (%s) Tj ET\n"


def escaped(text):
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def saved(pdf, **how):
    out = io.BytesIO()
    pdf.save(out, **how)
    return out.getvalue()


def kept_line():
    return PLAIN % (760, KEPT)


def pages(*contents, change=None, **how):
    """A file of pages with these contents, in Helvetica; `change` sees the file, its resources and its pages."""
    pdf = pikepdf.new()
    helvetica = pdf.make_indirect(
        Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding)
    )
    resources = pdf.make_indirect(Dictionary(Font=Dictionary(F1=helvetica)))
    made = []
    for content in contents:
        page = pdf.add_blank_page(page_size=(595, 842))
        page.Resources = resources
        page.Contents = pdf.make_stream(content.encode("latin-1"))
        made.append(page)
    if change:
        change(pdf, resources, made)
    return saved(pdf, **how)


def lines(show, top=700):
    """Each sentence on a line of its own, shown in some way."""
    return kept_line() + "".join(
        "BT /F1 11 Tf 60 %d Td %s ET\n" % (top - 20 * n, show(text)) for n, text in enumerate(sentences())
    )


def tj(text):
    return "(%s) Tj" % escaped(text)


@document("plain.pdf")
def plain():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for n, text in enumerate(sentences()):
        canvas.drawString(60, 700 - 20 * n, text)
    canvas.save()
    return out.getvalue()


@document("kerned.pdf")
def kerned():
    return pages(lines(lambda text: "[" + " ".join("(%s) %d" % (escaped(c), -12) for c in text) + "] TJ"))


@document("split-operators.pdf")
def split_operators():
    def show(text):
        parts = [text[n : n + 3] for n in range(0, len(text), 3)]
        return " ".join("(%s) Tj 0 Tc" % escaped(part) for part in parts)

    return pages(lines(show))


@document("letters-backwards.pdf")
def letters_backwards():
    content = kept_line()
    for n, text in enumerate(sentences()):
        letters = [(60 + 6.6 * at, c) for at, c in enumerate(text) if c != " "]
        for x, c in reversed(letters):
            content += "BT /F2 11 Tf 1 0 0 1 %.2f %d Tm (%s) Tj ET\n" % (x, 700 - 20 * n, escaped(c))

    def change(pdf, resources, _):
        resources.Font.F2 = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier)

    return pages(content, change=change)


@document("hexadecimal.pdf")
def hexadecimal():
    return pages(lines(lambda text: "<%s> Tj" % text.encode().hex()))


@document("rotated-text.pdf")
def rotated_text():
    content = kept_line()
    turns = ["0 1 -1 0 %d 100", "-1 0 0 -1 500 %d", "0 -1 1 0 %d 700", "0.7071 0.7071 -0.7071 0.7071 %d 200"]
    for n, text in enumerate(sentences()):
        matrix = turns[n % 4] % (120 + 40 * n)
        content += "q %s cm BT /F1 11 Tf (%s) Tj ET Q\n" % (matrix, escaped(text))
    return pages(content)


@document("rotated-page.pdf")
def rotated_page():
    def change(_, __, made):
        made[0].Rotate = 90

    return pages(lines(tj), change=change)


@document("cid-identity.pdf")
def cid_identity():
    """Two-byte codes of glyphs, with a map to text and the program of the font."""
    font = ttfonts.TTFontFace("Vera.ttf")
    codes = {c: font.charToGlyph[ord(c)] for c in set("".join(sentences()) + KEPT)}

    def show(text):
        return "<%s> Tj" % "".join("%04x" % codes[c] for c in text)

    def change(pdf, resources, _):
        resources.Font.F1 = composite(pdf, font, codes, to_unicode=True)

    content = "".join(
        "BT /F1 11 Tf 60 %d Td %s ET\n" % (700 - 20 * n, show(text)) for n, text in enumerate([KEPT, *sentences()])
    )
    return pages(content, change=change)


def glyph_codes(text):
    font = ttfonts.TTFontFace("Vera.ttf")
    return "".join("%04x" % font.charToGlyph[ord(c)] for c in text)


@document("cid-without-map.pdf", spelled=[glyph_codes(value) for value in VALUES])
def cid_without_map():
    """Codes of glyphs that only the font's program tells."""
    font = ttfonts.TTFontFace("Vera.ttf")
    codes = {c: font.charToGlyph[ord(c)] for c in set("".join(sentences()))}

    def change(pdf, resources, _):
        resources.Font.F2 = composite(pdf, font, codes, to_unicode=False)

    content = kept_line()
    for n, text in enumerate(sentences()):
        content += "BT /F2 11 Tf 60 %d Td <%s> Tj ET\n" % (700 - 20 * n, glyph_codes(text))
    return pages(content, change=change)


def composite(pdf, font, codes, to_unicode):
    program = pdf.make_stream(font._ttf_data)
    widths = Array()
    for c, glyph in sorted(codes.items(), key=lambda pair: pair[1]):
        widths.append(glyph)
        widths.append(Array([font.charWidths[ord(c)]]))
    descriptor = Dictionary(
        Type=Name.FontDescriptor, FontName=Name("/AAAAAA+Vera"), Flags=4, FontBBox=Array([-200, -300, 1300, 1000]),
        ItalicAngle=0, Ascent=900, Descent=-200, CapHeight=700, StemV=80, FontFile2=program,
    )
    below = Dictionary(
        Type=Name.Font, Subtype=Name.CIDFontType2, BaseFont=Name("/AAAAAA+Vera"), W=widths, CIDToGIDMap=Name.Identity,
        CIDSystemInfo=Dictionary(Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0),
        FontDescriptor=pdf.make_indirect(descriptor),
    )
    made = Dictionary(
        Type=Name.Font, Subtype=Name.Type0, BaseFont=Name("/AAAAAA+Vera"), Encoding=Name("/Identity-H"),
        DescendantFonts=Array([pdf.make_indirect(below)]),
    )
    if to_unicode:
        rows = "".join("<%04x> <%04x>\n" % (glyph, ord(c)) for c, glyph in codes.items())
        made.ToUnicode = pdf.make_stream(cmap(rows, len(codes), "<0000> <ffff>"))
    return pdf.make_indirect(made)


def cmap(rows, count, space):
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Made def /CMapType 2 def\n"
        "1 begincodespacerange\n%s\nendcodespacerange\n%d beginbfchar\n%sendbfchar\nendcmap end end" % (space, count, rows)
    ).encode()


@document("cid-shift-jis.pdf")
def cid_shift_jis():
    """A predefined map of a Japanese font."""
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("HeiseiMin-W3", 11)
    for n, text in enumerate(sentences()):
        canvas.drawString(60, 700 - 20 * n, text)
    canvas.drawString(60, 500, "港の事務所")
    canvas.save()
    return out.getvalue()


@document("subset-font.pdf")
def subset_font():
    """Codes that a program gave out in the order in which letters came."""
    pdfmetrics.registerFont(ttfonts.TTFont("Vera", "Vera.ttf"))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Vera", 11)
    for n, text in enumerate(["Ж" + text for text in sentences()]):
        canvas.drawString(60, 700 - 20 * n, text[1:])
    canvas.save()
    return out.getvalue()


def shuffled(text):
    """Codes of the font below: each letter two further."""
    return bytes(ord(c) + 2 for c in text)


@document("own-encoding.pdf", spelled=[shuffled(value).hex() for value in VALUES])
def own_encoding():
    """A simple font whose differences give other letters to the codes."""
    names = {" ": "space", "@": "at", ".": "period", "-": "hyphen", "(": "parenleft", ")": "parenright"}
    names |= dict(zip("0123456789", "zero one two three four five six seven eight nine".split()))
    differences = Array()
    for c in sorted(set("".join(sentences()))):
        differences.append(ord(c) + 2)
        differences.append(Name("/" + names.get(c, c)))

    def change(pdf, resources, _):
        encoding = Dictionary(Type=Name.Encoding, Differences=differences)
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=encoding)
        resources.Font.F2 = pdf.make_indirect(font)

    content = kept_line()
    for n, text in enumerate(sentences()):
        content += "BT /F2 11 Tf 60 %d Td <%s> Tj ET\n" % (700 - 20 * n, shuffled(text).hex())
    return pages(content, change=change)


@document("unseen-rendering.pdf")
def unseen_rendering():
    return pages(lines(lambda text: "3 Tr " + tj(text) + " 0 Tr"))


@document("white-and-tiny.pdf")
def white_and_tiny():
    return pages(lines(lambda text: "1 g /F1 0.5 Tf " + tj(text)))


@document("behind-image.pdf")
def behind_image():
    def change(pdf, resources, _):
        image = Stream(pdf, bytes(range(0, 48)) * 1, Type=Name.XObject, Subtype=Name.Image, Width=4, Height=4)
        image.ColorSpace, image.BitsPerComponent = Name.DeviceRGB, 8
        resources.XObject = Dictionary(Im=pdf.make_indirect(image))

    return pages(lines(tj) + "q 500 0 0 140 50 590 cm /Im Do Q\n", change=change)


@document("off-page.pdf")
def off_page():
    return pages(lines(tj, top=-200) + "q 0 0 1 1 re W n BT /F1 11 Tf 60 300 Td (%s) Tj ET Q\n" % EMAIL)


@document("hidden-layer.pdf")
def hidden_layer():
    def change(pdf, resources, _):
        layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String("Draft for " + EMAIL)))
        resources.Properties = Dictionary(L=layer)
        pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer]), Order=Array([layer])))

    return pages(kept_line() + "/OC /L BDC\n" + lines(tj) + "EMC\n", change=change)


@document("old-revision.pdf", dropped=True)
def old_revision():
    """The values stand only in what an update replaced."""
    writer = pypdf.PdfWriter(io.BytesIO(pages(lines(tj))), incremental=True)
    (page,) = writer.pages
    stream = pypdf.generic.DecodedStreamObject()
    stream.set_data((PLAIN % (760, KEPT)).encode())
    page[pypdf.generic.NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@document("updated-value.pdf")
def updated_value():
    """The values came with an update, in a second stream of the page."""
    writer = pypdf.PdfWriter(io.BytesIO(pages(kept_line())), incremental=True)
    (page,) = writer.pages
    stream = pypdf.generic.DecodedStreamObject()
    stream.set_data(lines(tj).encode())
    both = pypdf.generic.ArrayObject([page.raw_get("/Contents"), writer._add_object(stream)])
    page[pypdf.generic.NameObject("/Contents")] = both
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@document("form-fields.pdf")
def form_fields():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawString(60, 760, KEPT)
    for n, value in enumerate(["Write to " + EMAIL, "SSN " + SSN, "Card " + CARD]):
        canvas.acroForm.textfield(
            name="field%d" % n, value=value, x=60, y=600 - 40 * n, width=300, height=24, tooltip="call " + PHONE
        )
    canvas.acroForm.choice(
        name="choice", value="call " + PHONE, options=["call " + PHONE, "nobody"], x=60, y=400, width=200, height=24
    )
    canvas.save()
    return out.getvalue()


@document("annotations.pdf")
def annotations():
    def change(pdf, resources, made):
        look = pdf.make_stream(("BT /F1 10 Tf 2 4 Td (mail %s) Tj ET" % EMAIL).encode())
        look.Type, look.Subtype, look.BBox, look.Resources = Name.XObject, Name.Form, Array([0, 0, 300, 20]), resources
        rect = Array([60, 600, 360, 620])
        kinds = [
            Dictionary(Subtype=Name.Text, Contents=String("SSN " + SSN), T=String(EMAIL), Subj=String("call " + PHONE)),
            Dictionary(Subtype=Name.FreeText, Contents=String("mail " + EMAIL), DA=String("/F1 10 Tf 0 g"),
                       AP=Dictionary(N=look), RC=String("<body><p>card %s</p></body>" % CARD)),
            Dictionary(Subtype=Name.Highlight, Contents=String("card " + CARD), QuadPoints=Array([60, 620, 360, 620, 60, 600, 360, 600])),
            Dictionary(Subtype=Name.Link, A=Dictionary(S=Name.URI, URI=String("mailto:" + EMAIL))),
        ]
        made[0].Annots = Array()
        for kind in kinds:
            kind.Type, kind.Rect = Name.Annot, rect
            made[0].Annots.append(pdf.make_indirect(kind))

    return pages(kept_line(), change=change)


@document("bookmarks-and-names.pdf")
def bookmarks_and_names():
    def change(pdf, _, made):
        with pdf.open_outline() as outline:
            for text in sentences()[:4]:
                outline.root.append(pikepdf.OutlineItem(text, 0))
        target = Array([made[0].obj, Name.Fit])
        pdf.Root.Names = Dictionary(Dests=Dictionary(Names=Array([String("mail " + EMAIL), target])))
        labels = Dictionary(S=Name.D, P=String("SSN %s, page " % SSN))
        pdf.Root.PageLabels = Dictionary(Nums=Array([0, labels]))

    return pages(kept_line(), change=change)


@document("only-in-bookmarks.pdf")
def only_in_bookmarks():
    """What is found in a bookmark is spaced on the page, where nothing finds it."""
    spaced = "".join(" ".join(value) + "   " for value in (EMAIL, SSN))

    def change(pdf, _, __):
        with pdf.open_outline() as outline:
            outline.root.append(pikepdf.OutlineItem("Write to %s, SSN %s, card %s, call %s" % VALUES, 0))

    return pages(kept_line() + PLAIN % (600, spaced), change=change)


@document("metadata.pdf")
def metadata():
    def change(pdf, _, __):
        with pdf.open_metadata() as meta:
            meta["dc:title"], meta["dc:creator"] = "Letter to " + EMAIL, ["SSN " + SSN]
            meta["pdf:Keywords"] = "card %s, call %s" % (CARD, PHONE)
        pdf.docinfo[Name("/Custom")] = String("card %s, call %s" % (CARD, PHONE))
        pdf.docinfo[Name.Author] = String("SSN %s, %s" % (SSN, EMAIL))

    return pages(kept_line(), change=change)


def attached(pdf, _, __):
    text = ("\n".join(sentences())).encode()
    pdf.attachments["note.txt"] = pikepdf.AttachedFileSpec(pdf, text, description="from " + EMAIL)
    pdf.attachments["inner.pdf"] = pikepdf.AttachedFileSpec(pdf, pages(lines(tj)))


@document("attachments-gone.pdf", dropped=True)
def attachments_gone():
    return pages(kept_line(), change=attached)


@document("attachments-kept.pdf", attachments=True)
def attachments_kept():
    return pages(kept_line(), change=attached)


@document("replacement-text.pdf")
def replacement_text():
    """What is read aloud instead of the glyphs."""
    content = kept_line()
    for n, text in enumerate(sentences()[:4]):
        utf16 = (b"\xfe\xff" + text.encode("utf-16-be")).hex()
        shown = "BT /F1 11 Tf 60 %d Td (%s) Tj ET" % (600 - 20 * n, escaped(text))
        content += "/Span <</ActualText <%s>>> BDC %s EMC\n" % (utf16, shown)

    def change(pdf, _, __):
        element = Dictionary(Type=Name.StructElem, S=Name.Figure, Alt=String("card %s, call %s" % (CARD, PHONE)))
        tree = Dictionary(Type=Name.StructTreeRoot, K=pdf.make_indirect(element))
        pdf.Root.StructTreeRoot = pdf.make_indirect(tree)

    return pages(content, change=change)


@document("forms-within-forms.pdf")
def forms_within_forms():
    def change(pdf, resources, _):
        def form(content, own):
            stream = pdf.make_stream(content.encode())
            stream.Type, stream.Subtype, stream.BBox = Name.XObject, Name.Form, Array([0, 0, 595, 842])
            if own is not None:
                stream.Resources = own
            return stream

        inner = form(lines(tj), Dictionary(Font=resources.Font))
        outer = form("q 1 0 0 1 0 -20 cm /In Do Q", Dictionary(XObject=Dictionary(In=inner)))
        resources.XObject = Dictionary(Out=outer)

    return pages(kept_line() + "/Out Do\n", "q 0.5 0 0 0.5 0 0 cm /Out Do Q\n", change=change)


@document("pattern-and-glyphs.pdf", values=(EMAIL, SSN))
def pattern_and_glyphs():
    """Text in a tiling pattern."""

    def change(pdf, resources, _):
        text = "BT /F1 8 Tf 4 30 Td (%s) Tj 0 -14 Td (SSN %s) Tj ET" % (EMAIL, SSN)
        tile = pdf.make_stream(text.encode())
        tile.Type, tile.PatternType, tile.PaintType, tile.TilingType = Name.Pattern, 1, 1, 1
        tile.BBox, tile.XStep, tile.YStep, tile.Resources = Array([0, 0, 200, 50]), 200, 50, resources
        resources.Pattern = Dictionary(P=tile)

    return pages(kept_line() + "/Pattern cs /P scn 60 300 400 200 re f\n", change=change)


@document("packed-objects.pdf")
def packed_objects():
    def change(pdf, _, __):
        pdf.docinfo[Name.Title] = String("Letter to " + EMAIL)

    mode = pikepdf.ObjectStreamMode.generate
    return pages(lines(tj), change=change, object_stream_mode=mode, compress_streams=True)


@document("empty-password.pdf")
def empty_password():
    return pages(lines(tj), encryption=pikepdf.Encryption(owner="owner", user="", R=6))


@document("linearized.pdf")
def linearized():
    return pages(lines(tj), lines(tj), linearize=True)
