"""Values that Office documents hold in attributes, in data of somebody's own and in headers of sheets; and what fetches something
under the name of a link. Other programs still open what comes out."""

import io
import re

import docx
import openpyxl
import pytest
from test_sanitize_pictures import packed, parts, sanitized, saved
from test_sanitize_places import redacted

CARD = "4111111111111111"
KEY = "AKIAIOSFODNN7EXAMPLE"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def all_of(data):
    return b"\n".join(parts(data).values()).decode("utf-8", "replace")


def changed(data, **edits):
    """A package with something else in its parts, each by the end of its name."""
    members = parts(data)
    for ending, (old, new) in edits.items():
        (name,) = [name for name in members if name.endswith(ending.replace("__", "."))]
        assert old.encode() in members[name], name
        members[name] = members[name].replace(old.encode(), new.encode(), 1)
    return packed(members)


def test_a_filter_of_a_sheet(tmp_path):
    book = openpyxl.Workbook()
    for row in (["card", "key"], [CARD, KEY], ["5500005555555559", "x"]):
        book.active.append(row)
    book.active.auto_filter.ref = "A1:B3"
    book.active.auto_filter.add_filter_column(0, [CARD])
    book.active.auto_filter.add_filter_column(1, [KEY, "x"])
    clean = redacted(tmp_path, "a.xlsx", saved(book))
    assert CARD not in all_of(clean) and KEY not in all_of(clean)
    columns = openpyxl.load_workbook(io.BytesIO(clean)).active.auto_filter.filterColumn
    assert [column.filters.filter for column in columns] == [["<CREDIT_CARD>"], ["<AMAZON_AWS_ACCESS_KEY_ID>", "x"]]


@pytest.mark.parametrize(
    "written",
    [
        '<protectedRanges><protectedRange name="{}" sqref="A1"/></protectedRanges>',
        '<scenarios><scenario name="s"><inputCells r="A1" val="{}"/></scenario></scenarios>',
        '<conditionalFormatting sqref="A1"><cfRule type="containsText" text="{}" priority="2"><formula>1</formula></cfRule>'
        "</conditionalFormatting>",
    ],
)
@pytest.mark.parametrize("value", [CARD, KEY, "DE89370400440532013000"])
def test_an_attribute_of_a_sheet(tmp_path, written, value):
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    data = changed(saved(book), sheet1__xml=("</sheetData>", "</sheetData>" + written.format(value)))
    clean = redacted(tmp_path, "a.xlsx", data)
    assert value not in all_of(clean)
    assert openpyxl.load_workbook(io.BytesIO(clean)).active["A1"].value == "x"


def test_a_value_that_is_known_from_elsewhere(tmp_path):
    document = docx.Document()
    document.add_paragraph("Account number: 48151623 is closed")
    item = '<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="A" w:value="48151623"/></w:dropDownList></w:sdtPr></w:sdt>'
    clean = redacted(tmp_path, "a.docx", changed(saved(document), document__xml=("<w:sectPr", item + "<w:sectPr")))
    assert "48151623" not in all_of(clean)
    assert "is closed" in docx.Document(io.BytesIO(clean)).paragraphs[0].text


def test_data_of_somebody(tmp_path):
    secrets = {"card": CARD, "iban": "DE89370400440532013000", "key": KEY, "ssn": "536-22-8726", "password": "hunter2XyZ!"}
    item = "<p %s><note>as agreed</note></p>" % " ".join(f'{name}="{value}"' for name, value in secrets.items())
    relation = f'<Relationship Id="rX1" Type="{REL}/customXml" Target="../customXml/item7.xml"/></Relationships>'
    data = changed(saved(docx.Document()), document__xml__rels=("</Relationships>", relation))
    clean = redacted(tmp_path, "a.docx", packed({**parts(data), "customXml/item7.xml": item}))
    assert [value for value in secrets.values() if value in all_of(clean)] == []
    assert b"<note>as agreed</note>" in parts(clean)["customXml/item7.xml"]
    assert docx.Document(io.BytesIO(clean))


def test_headers_of_a_sheet(tmp_path):
    book = openpyxl.Workbook()
    header = book.active.oddHeader
    header.left.text, header.center.text = "R&&D, page &P", "4111 1111 1111 1111"
    header.right.text, header.right.font, header.right.size = "jane.roe@corp-mail.com", "Arial,Bold", 14
    clean = redacted(tmp_path, "a.xlsx", saved(book))
    header = openpyxl.load_workbook(io.BytesIO(clean)).active.oddHeader
    assert (header.left.text, header.center.text) == ("R&&D, page &P", "<CREDIT_CARD>")
    assert (header.right.text, header.right.font, header.right.size) == ("<EMAIL_ADDRESS>", "Arial,Bold", 14)


PICTURE = (
    '<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">'
    '<v:imagedata %s/></v:shape></w:pict></w:r></w:p><w:sectPr'
)


@pytest.mark.parametrize("used", ['r:id="rX1"', 'o:href="http://bad.example/x.png"', 'src="\\\\bad.example\\x.png"'])
def test_what_is_called_a_link_fetches_nothing(tmp_path, used):
    relation = f'<Relationship Id="rX1" Type="{REL}/hyperlink" Target="http://bad.example/x.png" TargetMode="External"/></Relationships>'
    edits = {"document__xml": ("<w:sectPr", PICTURE % used)}
    if "rX1" in used:
        edits["document__xml__rels"] = ("</Relationships>", relation)
    clean, _ = sanitized(tmp_path, "a.docx", changed(saved(docx.Document()), **edits), "--keep-links")
    assert "bad.example" not in all_of(clean) and re.search("<v:imagedata ?/>", all_of(clean))
    assert docx.Document(io.BytesIO(clean))


@pytest.mark.parametrize(
    "formula",
    [
        "'\\\\h\\share\\[a.xlsx]S'!A1",
        "[a.xlsx]S!A1",
        "a.xlam!Foo()",
        "_xlfn.MAP(A2,_xlfn._xleta.WEBSERVICE)",
        "_xlfn._xlws.PY(0,1)",
        "'cmd|/c calc'!A0",
    ],
)
def test_a_formula_that_reaches_out_leaves_its_value(tmp_path, formula):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B1"] = "=" + formula, "=SUM(A2:A3)"
    clean, _ = sanitized(tmp_path, "a.xlsx", saved(book))
    sheet = openpyxl.load_workbook(io.BytesIO(clean)).active
    assert sheet["A1"].value is None and sheet["B1"].value == "=SUM(A2:A3)"
