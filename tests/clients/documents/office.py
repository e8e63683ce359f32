"""Word, Excel and PowerPoint files with values in their text, and wherever else these programs keep words."""

import io
import zipfile

import docx
import openpyxl
import pptx
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from pptx.util import Inches

from . import CARD, EMAIL, KEPT, PHONE, SSN, document, sentences

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def saved(file):
    out = io.BytesIO()
    file.save(out)
    return out.getvalue()


def repacked(data, change):
    """A package whose parts a function changed: it gets them by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    change(parts)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, part in parts.items():
            package.writestr(name, part)
    return out.getvalue()


def put(parts, name, find, new):
    assert find in parts[name], (name, find)
    parts[name] = parts[name].replace(find, new, 1)


def related(parts, of, part, kind, content_type, body):
    """Adds a part that another one refers to."""
    parts[part] = body.encode()
    folder, _, file = of.rpartition("/")
    rels = "%s/_rels/%s.rels" % (folder, file)
    target = '<Relationship Id="rAdded%s" Type="%s%s" Target="/%s"/>' % (kind, TYPE, kind, part)
    put(parts, rels, b"</Relationships>", target.encode() + b"</Relationships>")
    override = '<Override PartName="/%s" ContentType="%s"/></Types>' % (part, content_type)
    put(parts, "[Content_Types].xml", b"</Types>", override.encode())


def split(paragraph, text, size=3):
    for n in range(0, len(text), size):
        paragraph.add_run(text[n : n + size]).bold = n % 2 == 0


def word(*texts):
    file = docx.Document()
    file.add_paragraph(KEPT)
    for text in texts:
        file.add_paragraph(text)
    return file


@document("plain.docx")
def plain():
    return saved(word(*sentences()))


@document("split-runs.docx")
def split_runs():
    file = word()
    for text in sentences():
        split(file.add_paragraph(), text)
    table = file.add_table(1, 2)
    split(table.cell(0, 0).paragraphs[0], "SSN " + SSN, 1)
    return saved(file)


@document("comments-and-headers.docx")
def comments_and_headers():
    file = word()
    run = file.add_paragraph("A remark stands here.").runs[0]
    file.add_comment([run], text="write to " + EMAIL, author="SSN " + SSN, initials="SF")
    section = file.sections[0]
    section.header.paragraphs[0].text = "card " + CARD
    split(section.footer.paragraphs[0], "call %s today" % PHONE)
    return saved(file)


@document("properties.docx")
def properties():
    file = word()
    core = file.core_properties
    core.author, core.title, core.subject = "mail " + EMAIL, "SSN " + SSN, "card " + CARD
    core.keywords, core.comments, core.last_modified_by = "call " + PHONE, "for " + EMAIL, EMAIL

    def change(parts):
        body = (
            '<?xml version="1.0"?><Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" '
            'xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">'
            '<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="Card"><vt:lpwstr>card %s</vt:lpwstr>'
            "</property></Properties>" % CARD
        )
        parts["docProps/custom.xml"] = body.encode()
        rel = '<Relationship Id="rCustom" Type="%scustom-properties" Target="docProps/custom.xml"/>' % TYPE
        put(parts, "_rels/.rels", b"</Relationships>", rel.encode() + b"</Relationships>")
        kind = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
        override = '<Override PartName="/docProps/custom.xml" ContentType="%s"/></Types>' % kind
        put(parts, "[Content_Types].xml", b"</Types>", override.encode())

    return repacked(saved(file), change)


@document("notes-and-changes.docx")
def notes_and_changes():
    """Footnotes, deleted text, hidden text, codes of fields, a text box, alternative text."""

    def change(parts):
        ids = '<w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
        body = '<w:footnotes %s>%s<w:footnote w:id="2"><w:p><w:r><w:t>mail %s</w:t></w:r></w:p></w:footnote></w:footnotes>'
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
        related(parts, "word/document.xml", "word/footnotes.xml", "footnotes", kind, body % (W, ids, EMAIL))
        half = len(SSN) // 2
        extra = (
            '<w:p><w:r><w:t>see</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
            '<w:p><w:del w:id="1" w:author="{e}" w:date="2024-01-01T00:00:00Z"><w:r><w:delText>SSN {a}</w:delText></w:r>'
            "<w:r><w:delText>{b}</w:delText></w:r></w:del></w:p>"
            "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>card {c}</w:t></w:r></w:p>"
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> QUOTE "call {p}" </w:instrText></w:r>'
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>call {p}</w:t></w:r>'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        ).format(e=EMAIL, a=SSN[:half], b=SSN[half:], c=CARD, p=PHONE)
        put(parts, "word/document.xml", b"<w:sectPr", extra.encode() + b"<w:sectPr")

    return repacked(saved(word()), change)


def sheet_of(*rows):
    file = openpyxl.Workbook()
    sheet = file.active
    sheet.append([KEPT])
    for row in rows:
        sheet.append(row if isinstance(row, list) else [row])
    return file, sheet


def shared_book(*rows):
    """openpyxl writes texts into their cells; this library writes them once, and cells refer to them."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as file:
        sheet = file.add_worksheet()
        for n, row in enumerate([[KEPT], *rows]):
            sheet.write_row(n, 0, row)
    return out.getvalue()


@document("shared-strings.xlsx")
def shared_strings():
    return shared_book(*([text] for text in sentences()), ["mail", EMAIL, "SSN", SSN])


@document("inline-strings.xlsx")
def inline_strings():
    file, _ = sheet_of("first", "second")

    def change(parts):
        rows = "".join(
            '<row r="%d"><c r="A%d" t="inlineStr"><is><r><t>%s</t></r><r><t>%s</t></r></is></c></row>'
            % (n, n, text[:9], text[9:])
            for n, text in enumerate(sentences(), 10)
        )
        put(parts, "xl/worksheets/sheet1.xml", b"</sheetData>", rows.encode() + b"</sheetData>")

    return repacked(saved(file), change)


@document("comments-and-hidden.xlsx")
def comments_and_hidden():
    file, sheet = sheet_of("visible")
    sheet["A2"].comment = Comment("mail " + EMAIL, "SSN " + SSN)
    hidden = file.create_sheet("Held back")
    hidden.sheet_state = "veryHidden"
    hidden["A1"] = "card " + CARD
    sheet.row_dimensions[4].hidden = True
    sheet["A4"] = "call " + PHONE
    sheet.oddHeader.left.text = "SSN " + SSN
    file.defined_names["contact"] = DefinedName("contact", attr_text='"mail %s"' % EMAIL)
    file.properties.creator = EMAIL
    return saved(file)


@document("cached-formulas.xlsx")
def cached_formulas():
    file, sheet = sheet_of("a", "b")

    def change(parts):
        rows = "".join(
            '<row r="%d"><c r="A%d" t="str"><f>CONCATENATE("%s","%s")</f><v>%s</v></c></row>'
            % (n, n, text[:4], text[4:], text)
            for n, text in enumerate(sentences(), 10)
        )
        put(parts, "xl/worksheets/sheet1.xml", b"</sheetData>", rows.encode() + b"</sheetData>")

    return repacked(saved(file), change)


NUMBERS = ("536228726", "4111111111111111", "2126647665")


@document("shared-numbers.xlsx", values=NUMBERS)
def shared_numbers():
    heads = ["SSN", "Credit card", "Phone", "Lanterns"]
    return shared_book(["people"], heads, [*NUMBERS, "536228999"])


@document("bare-numbers.xlsx", values=NUMBERS)
def bare_numbers():
    """What only the head of its column tells."""
    file, sheet = sheet_of("people", ["SSN", "Credit card", "Phone", "Lanterns"])
    sheet.append([int(NUMBERS[0]), NUMBERS[1], int(NUMBERS[2]), 536228999])
    return saved(file)


def slides():
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "About lanterns"
    box = slide.shapes.add_textbox(Inches(1), Inches(1.5), Inches(8), Inches(4)).text_frame
    box.text = KEPT
    return show, slide, box


def split_text(frame, text):
    paragraph = frame.add_paragraph()
    for n in range(0, len(text), 4):
        paragraph.add_run().text = text[n : n + 4]


@document("slides.pptx")
def plain_slides():
    show, _, box = slides()
    for text in sentences():
        box.add_paragraph().text = text
    return saved(show)


@document("split-runs.pptx")
def split_slides():
    show, slide, box = slides()
    for text in sentences():
        split_text(box, text)
    table = slide.shapes.add_table(1, 2, Inches(1), Inches(6), Inches(6), Inches(1)).table
    split_text(table.cell(0, 0).text_frame, "SSN " + SSN)
    return saved(show)


@document("notes-and-comments.pptx")
def notes_and_comments():
    show, slide, _ = slides()
    slide.notes_slide.notes_text_frame.text = "write to " + EMAIL
    slide.shapes[0]._element.nvSpPr.cNvPr.set("descr", "card " + CARD)
    show.core_properties.author = "SSN " + SSN

    def change(parts):
        ns = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        body = (
            '<p:cmLst %s><p:cm authorId="0" dt="2024-01-01T00:00:00" idx="1"><p:pos x="1" y="1"/><p:text>call %s</p:text>'
            "</p:cm></p:cmLst>" % (ns, PHONE)
        )
        kind = "application/vnd.openxmlformats-officedocument.presentationml.comments+xml"
        related(parts, "ppt/slides/slide1.xml", "ppt/comments/comment1.xml", "comments", kind, body)
        authors = '<p:cmAuthorLst %s><p:cmAuthor id="0" name="%s" initials="M" lastIdx="1" clrIdx="0"/></p:cmAuthorLst>'
        kind = "application/vnd.openxmlformats-officedocument.presentationml.commentAuthors+xml"
        related(parts, "ppt/presentation.xml", "ppt/commentAuthors.xml", "commentAuthors", kind, authors % (ns, EMAIL))

    return repacked(saved(show), change)
