"""Values in places of files that nobody sees at once: none is left in a redacted file. What is found by its context in one part
goes in all others, too."""

import io
import json
import re
import zipfile
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import docx
import openpyxl
import pikepdf
import pptx
import pypdf
import pytest
from gateway import run
from reportlab.pdfgen import canvas
from test_sanitize_pictures import packed, parts, saved

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
    with zipfile.ZipFile(io.BytesIO(clean)) as archive:
        assert not any(b"jane.roe" in archive.read(name) for name in archive.namelist())
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


CARD = "4012888888881881"
# Like one of GitHub's.
KEY = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"


def drawn(pdf, more=b""):
    """A page with a word on it."""
    page = pdf.add_blank_page(page_size=(300, 300))
    font = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica))
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.Contents = pdf.make_stream(b"% made by hand\nBT /F1 12 Tf 20 200 Td (hello) Tj ET\n" + more)
    return page


def remark(pdf, page):
    page.Contents = pdf.make_stream(page.Contents.read_bytes() + f"% note {VALUE}\nq Q % {CARD}".encode())


def metadata_of_a_page(pdf, page):
    page.obj.Metadata = pdf.make_stream(f"<x>{VALUE} {CARD}</x>".encode())


def metadata_without_a_type(pdf, page):
    pdf.Root.Metadata = pdf.make_stream(f"<x>{VALUE} {CARD}</x>".encode())


def data_of_no_use(pdf, page):
    pdf.Root["/XData"] = pdf.make_stream(f"{VALUE} {CARD}".encode())


def destination(pdf, page):
    pdf.Root.Dests = pikepdf.Dictionary({f"/{VALUE}": pikepdf.Array([page.obj, pikepdf.Name.Fit])})
    action = pikepdf.Dictionary(S=pikepdf.Name.GoTo, D=pikepdf.Name(f"/{VALUE}"))
    link = pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9], A=action)
    page.obj.Annots = pikepdf.Array([pdf.make_indirect(link)])


def colorant(pdf, page):
    tint = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], N=1, C0=[0], C1=[1])
    space = pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name(f"/mail {VALUE}"), pikepdf.Name.DeviceGray, tint])
    page.Resources.ColorSpace = pikepdf.Dictionary(CS0=space)


def name_of_a_font(pdf, page):
    page.Resources.Font[f"/{VALUE}"] = page.Resources.Font.F1
    more = f"BT /{VALUE} 12 Tf 20 100 Td (there) Tj ET"
    page.Contents = pdf.make_stream(page.Contents.read_bytes() + more.encode())


def mark(pdf, page):
    page.Contents = pdf.make_stream(f"/mail#20{VALUE} BMC ".encode() + page.Contents.read_bytes() + b" EMC")


def key_as_a_layer(pdf, page):
    page.Resources.Properties = pikepdf.Dictionary({f"/{KEY}": pikepdf.Dictionary(Type=pikepdf.Name.OCG)})


def all_of(pdf):
    """Whatever it says, in names, strings and streams."""
    said = []
    for thing in pdf.objects:
        said.append(repr(thing.unparse() if not isinstance(thing, pikepdf.Stream) else dict(thing.items())))
        if isinstance(thing, pikepdf.Stream):
            said.append(thing.read_bytes().decode("latin-1"))
    return re.sub("#([0-9a-fA-F]{2})", lambda code: chr(int(code[1], 16)), "\n".join(said))


@pytest.mark.parametrize(
    "hide",
    [
        remark,
        metadata_of_a_page,
        metadata_without_a_type,
        data_of_no_use,
        destination,
        colorant,
        name_of_a_font,
        mark,
        key_as_a_layer,
    ],
)
@pytest.mark.parametrize("shown", [False, True], ids=["alone", "shown"])
def test_what_no_page_shows(tmp_path, hide, shown):
    with pikepdf.new() as pdf:
        page = drawn(pdf, f"BT /F1 12 Tf 20 150 Td (mail {VALUE}) Tj ET\n".encode() if shown else b"")
        hide(pdf, page)
        out = io.BytesIO()
        pdf.save(out)
    with pikepdf.open(io.BytesIO(redacted(tmp_path, "a.pdf", out.getvalue()))) as pdf:
        said = all_of(pdf)
        assert VALUE not in said and CARD not in said and KEY not in said
        assert "% made by hand" in said and "(hello) Tj" in said
        assert pdf.check_pdf_syntax() == []
        if hide is name_of_a_font:
            used = re.findall(r"/(\w+) 12 Tf 20 100", said)
            assert used and f"/{used[0]}" in pdf.pages[0].Resources.Font
        if hide is destination:
            assert str(pdf.pages[0].Annots[0].A.D) in pdf.Root.Dests
        if hide is colorant:
            assert str(pdf.pages[0].Resources.ColorSpace.CS0[1]) == "/PcName1"


def test_what_a_page_makes_use_of_stays(tmp_path):
    with pikepdf.new() as pdf:
        page = drawn(pdf)
        profile = pikepdf.Array([pikepdf.Name.ICCBased, pdf.make_stream(b"profile", N=1, Alternate=pikepdf.Name.DeviceGray)])
        indexed = pikepdf.Array([pikepdf.Name.Indexed, pikepdf.Name.DeviceGray, 1, pdf.make_stream(b"\0\xff")])
        page.Resources.ColorSpace = pikepdf.Dictionary(CS0=profile, CS1=indexed)
        page.Resources.Font.F1.ToUnicode = pdf.make_stream(b"1 begincodespacerange <00> <ff> endcodespacerange")
        page.Resources.Properties = pikepdf.Dictionary({"/Layer 1": pikepdf.Dictionary(Type=pikepdf.Name.OCG)})
        out = io.BytesIO()
        pdf.save(out)
    with pikepdf.open(io.BytesIO(redacted(tmp_path, "a.pdf", out.getvalue()))) as pdf:
        resources = pdf.pages[0].Resources
        # What is called a profile and is none holds nothing.
        assert resources.ColorSpace.CS0[1].N == 1 and resources.ColorSpace.CS0[1].read_bytes() == b""
        assert resources.ColorSpace.CS1[3].read_bytes() == b"\0\xff"
        assert b"begincodespacerange" in resources.Font.F1.ToUnicode.read_bytes()
        assert "/Layer 1" in resources.Properties


def test_a_new_name_is_nobody_elses(tmp_path):
    with pikepdf.new() as pdf:
        page = drawn(pdf)
        name_of_a_font(pdf, page)
        page.Resources.Font["/PcName1"] = pdf.make_indirect(
            pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Courier)
        )
        out = io.BytesIO()
        pdf.save(out)
    with pikepdf.open(io.BytesIO(redacted(tmp_path, "a.pdf", out.getvalue()))) as pdf:
        fonts = {name: str(font.BaseFont) for name, font in pdf.pages[0].Resources.Font.items()}
        assert fonts == {"/F1": "/Helvetica", "/PcName1": "/Courier", "/PcName2": "/Helvetica"}


@pytest.mark.parametrize("says", [{}, {"Subtype": "/XML"}, {"N": 3}, {"Length1": 9}], ids=str)
@pytest.mark.parametrize("place", ["entry", "array", "nested"])
def test_data_of_no_use_whatever_they_say(tmp_path, says, place):
    with pikepdf.new() as pdf:
        page = drawn(pdf)
        entries = {f"/{key}": pikepdf.Name(value) if isinstance(value, str) else value for key, value in says.items()}
        data = pdf.make_stream(f"{VALUE} {CARD}".encode(), entries)
        nested = {"entry": data, "array": pikepdf.Array([data]), "nested": pikepdf.Dictionary(Metadata=data)}
        page.obj["/Private"] = nested[place]
        out = io.BytesIO()
        pdf.save(out)
    with pikepdf.open(io.BytesIO(redacted(tmp_path, "a.pdf", out.getvalue()))) as pdf:
        assert VALUE not in all_of(pdf) and CARD not in all_of(pdf)


# Found by the word before it, and by nothing else.
NUMBER = "48151623"
FOUND = f"Account number: {NUMBER} is closed"
BARE = f"see {NUMBER} there"
TWIN = f"x{NUMBER} and {NUMBER}9 stay"


def word():
    document = docx.Document()
    document.add_paragraph(FOUND)
    document.sections[0].header.paragraphs[0].text = BARE
    document.sections[0].footer.paragraphs[0].text = TWIN
    document.core_properties.title = BARE
    document.add_comment(document.paragraphs[0].runs, BARE, author=f"No. {NUMBER}", initials="n")
    return document


def slides():
    document = pptx.Presentation()
    for text in (BARE, FOUND, TWIN):
        box = document.slides.add_slide(document.slide_layouts[6]).shapes.add_textbox(0, 0, 99, 99)
        run = box.text_frame.paragraphs[0].add_run()
        run.text = text[:6]
        box.text_frame.paragraphs[0].add_run().text = text[6:]
    document.slides[0].notes_slide.notes_text_frame.text = BARE
    return document


def book():
    document = openpyxl.Workbook()
    for name, text in (("a", BARE), ("b", FOUND), ("c", TWIN)):
        document.create_sheet(name)["A1"] = text
    document.create_sheet("d")["B2"] = int(NUMBER)
    document.create_sheet("e")["B2"] = int(NUMBER + "9")
    document.properties.keywords = BARE
    return document


def text_of(data):
    """All that a zip file says, without its tags; files in it as well."""
    said = []
    for name, content in parts(data).items():
        said.append(name)
        said.append(text_of(content) if content.startswith(b"PK") else re.sub("<[^>]*>", "", content.decode("utf-8", "replace")))
        said += re.findall('="([^"]*)"', content.decode("utf-8", "replace"))
    return "\n".join(said)


def left(said):
    """Where the number stands by itself."""
    return re.findall(rf"(?<![0-9a-z]){NUMBER}(?![0-9])", said)


@pytest.mark.parametrize(("name", "make"), [("a.docx", word), ("a.pptx", slides), ("a.xlsx", book)])
def test_what_is_found_in_one_part_goes_in_all(tmp_path, name, make):
    before = saved(make())
    assert len(left(text_of(before))) >= 3
    clean = redacted(tmp_path, name, before)
    said = text_of(clean)
    assert not left(said), [name for name, data in parts(clean).items() if left(data.decode("utf-8", "replace"))]
    assert f"x{NUMBER}" in said and f"{NUMBER}9" in said
    {"a.docx": docx.Document, "a.pptx": pptx.Presentation, "a.xlsx": openpyxl.load_workbook}[name](io.BytesIO(clean))
    assert redacted(tmp_path, name, clean) == clean


def test_what_is_found_in_one_file_goes_in_all_that_come_with_it(tmp_path):
    page = io.BytesIO()
    paper = canvas.Canvas(page)
    paper.drawString(72, 700, BARE)
    paper.save()
    members = {
        f"of {NUMBER}.txt": BARE,
        "deep/a.docx": saved(word()),
        "b.json": json.dumps({"note": BARE}),
        "c.csv": f"a,b\n{BARE},{TWIN}\n",
        "d.html": f"<p>see <b>4815</b>1623 there</p><a href='http://a.example/{NUMBER}'>x</a>",
        "e.md": TWIN,
        "f.pdf": page.getvalue(),
        "g.txt": "nothing of interest",
    }
    before = packed(members)
    clean = redacted(tmp_path, "a.zip", before)
    after = parts(clean)
    assert not left(text_of(clean)) and after["g.txt"] == b"nothing of interest" and after["e.md"] == TWIN.encode()
    assert pypdf.PdfReader(io.BytesIO(after["f.pdf"])).pages[0].extract_text().split() == ["see", "there"]
    # A file whose parts say nothing of each other is what it was without this.
    alone = packed({"a.txt": FOUND, "b.txt": "see 48151624 there"})
    assert parts(redacted(tmp_path, "b.zip", alone))["b.txt"] == b"see 48151624 there"


def test_what_is_found_in_a_mail_goes_in_all_of_it(tmp_path):
    message = EmailMessage()
    message["Subject"] = f"about {NUMBER}"
    message["From"] = "a@example.com"
    message.set_content(BARE)
    message.add_alternative(f"<p>{FOUND}</p>", subtype="html")
    clean = message_from_bytes(redacted(tmp_path, "a.eml", message.as_bytes()), policy=default)
    texts = [part.get_content() for part in clean.walk() if not part.is_multipart()]
    assert not left("\n".join([clean["Subject"], *texts])) and "is closed" in texts[1]


def test_a_surname_is_found_in_other_parts(tmp_path):
    members = {"a.txt": "Dear Rosalyn Abernathy, thanks", "b.txt": "abernathy: the Abernathy file, not Abernathyan"}
    assert parts(redacted(tmp_path, "b.zip", packed({"b.txt": members["b.txt"]})))["b.txt"] == members["b.txt"].encode()
    clean = parts(redacted(tmp_path, "a.zip", packed(members)))
    assert clean["a.txt"] == b"Dear <PERSON>, thanks"
    assert clean["b.txt"] == b"abernathy: the <PERSON> file, not Abernathyan"


def test_finding_alone_changes_no_part(tmp_path):
    source, target = tmp_path / "a.zip", tmp_path / "out"
    source.write_bytes(packed({"a.txt": FOUND, "b.txt": BARE}))
    assert run("sanitize", "--redact", "--detect-only", source, target).returncode == 0
    assert parts(target.read_bytes())["b.txt"] == BARE.encode()


def test_a_value_is_found_in_another_case_where_that_means_nothing(tmp_path):
    said = "Dear Ms. Jane Abernathy,\npassword: aB3xY9kQ7z\nIBAN DE89370400440532013000\n"
    other = "JANE ABERNATHY and jane abernathy, de89370400440532013000; ab3xy9kq7z stays, and aB3xY9kQ7z goes\n"
    clean = redacted(tmp_path, "a.zip", packed({"a.txt": said.encode(), "b.txt": other.encode()}))
    with zipfile.ZipFile(io.BytesIO(clean)) as archive:
        text = archive.read("b.txt").decode()
    assert not re.search("(?i)abernathy|de89", text) and "ab3xy9kq7z stays" in text and "aB3xY9kQ7z" not in text, text
    page = io.BytesIO()
    drawing = canvas.Canvas(page)
    drawing.drawString(72, 700, "Dear Ms. Jane Abernathy,")
    drawing.drawString(72, 600, "Signed: JANE ABERNATHY")
    drawing.save()
    clean = redacted(tmp_path, "a.pdf", page.getvalue())
    shown = pypdf.PdfReader(io.BytesIO(clean)).pages[0].extract_text()
    assert "Signed:" in shown and not re.search("(?i)abernathy", shown), shown


def test_values_that_lie_in_one_another_cost_what_the_text_does(tmp_path):
    values = ["-".join(["Kd9x"] * count) for count in range(3, 503)]
    said = "".join(f"password: {value}\n" for value in values)
    other = ("-".join(["Kd9x"] * 400) + " ") * 500
    clean = redacted(tmp_path, "a.zip", packed({"a.txt": said.encode(), "b.txt": other.encode()}))
    with zipfile.ZipFile(io.BytesIO(clean)) as archive:
        assert b"Kd9x" not in archive.read("b.txt")
