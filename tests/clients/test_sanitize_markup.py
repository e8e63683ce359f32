"""Markup, tables and text through sanitizing, judged by parsers of others."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

import pytest
import xss


@pytest.fixture
def clean(gateway):
    """Cleans a file: what came out, and what was done."""

    def cleaned(data, name, **content):
        return gateway.sanitized(name, data, **content)

    return cleaned


def test_nothing_in_a_page_can_run(clean):
    pages = list(xss.pages())
    assert len(pages) > 300

    def judged(page):
        out, data = clean(page, "page.html")
        found = xss.findings(out.decode())
        return (page, out, found) if found else None

    with ThreadPoolExecutor(4) as pool:
        assert [wrong for wrong in pool.map(judged, pages) if wrong] == []


def test_the_judge_sees_what_could_run():
    seen = [page for page in xss.pages() if xss.findings(page.decode().replace("\0", ""))]
    assert len(seen) > 250


def test_a_clean_page_stays_clean(clean):
    for page in list(xss.pages())[::20]:
        once, _ = clean(page, "page.html")
        twice, data = clean(once, "page.html")
        assert twice == once and data["cdr"]["interactive_contents_removed"] == 0


def test_a_page_keeps_what_it_says(clean):
    page = (
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Hall &amp; Co</title><style>p{color:red}</style>"
        "<script>x()</script></head><body onload=x()><h1>Prices</h1><p class=a>1 &lt; 2, <b>see</b> "
        "<a href='https://bad.example.net/x'>https://bad.example.net/x</a></p><table><tr><td>1</table></body></html>"
    )
    out, data = clean(page.encode(), "page.html")
    assert data["cdr"]["interactive_contents_removed"] == 2 and data["defang"]["defanged_count"] == 2
    want = page.replace("<script>x()</script>", "").replace(" onload=x()", "")
    want = want.replace("'https://bad.example.net/x'", '"hxxps://bad[.]example[.]net/x"')
    assert out.decode() == want.replace("https://bad.example.net", "hxxps://bad[.]example[.]net")


def test_a_drawing_is_well_formed_and_still(clean):
    drawing = (
        '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "y">]><svg xmlns="http://www.w3.org/2000/svg" onload="a()">'
        '<script>a()</script><style><![CDATA[ a > b { fill: url(javascript:x) } ]]></style><path d="M0 0"/>'
        '<a href="javascript:x"><text>jane.doe@harbour-post.com</text></a></svg>'
    )
    out, data = clean(drawing.encode(), "drawing.svg", redact=True)
    root = ET.fromstring(out)
    tags = [element.tag.rsplit("}", 1)[-1] for element in root.iter()]
    assert tags == ["svg", "style", "path", "a", "text"] and "href" not in root[2].attrib
    assert b"jane.doe" not in out and b"javascript" not in out and b"DOCTYPE" not in out
    assert data["cdr"]["interactive_contents_removed"] == 5


def test_a_table_keeps_its_shape(clean):
    rows = [
        ["name", "note", "sum"],
        ["Miller, \"Bob\"", "=HYPERLINK(\"http://a.example\")", "-5"],
        ["+49 30 1234567", "mail jane.doe@harbour-post.com\nnow", "@SUM(A1)"],
    ]
    table = io.StringIO()
    csv.writer(table, delimiter=";").writerows(rows)
    out, data = clean(table.getvalue().encode(), "table.csv", redact=True)
    read = list(csv.reader(io.StringIO(out.decode(), newline=""), delimiter=";"))
    assert [len(row) for row in read] == [3, 3, 3]
    assert read[1][1].startswith("'=HYPERLINK") and read[1][2] == "-5" and read[2][2] == "'@SUM(A1)"
    assert "jane.doe" not in out.decode() and read[2][1].startswith("mail <") and read[2][1].endswith("\nnow")
    assert data["cdr"]["interactive_contents_removed"] == 2


def test_a_document_of_json_stays_one(clean):
    document = '{ "mail" : "jane\\u002edoe@harbour-post.com", "n":[1.50, "https:\\/\\/bad.example.net\\/x"] }\n'
    out, data = clean(document.encode(), "a.json", redact=True)
    read = json.loads(out)
    assert read["mail"].startswith("<") and read["n"][1] == "hxxps://bad[.]example[.]net/x"
    assert out.decode().startswith('{ "mail" : "') and '"n":[1.50, "' in out.decode()


def test_rich_text_loses_what_acts(clean):
    text = (
        rb"{\rtf1\ansi Hello jane.doe@{\b harbour}-post.com {\object\objemb{\*\objdata 4d5a}{\result shown}}"
        rb"{\field{\*\fldinst{ DDE}{\b AUTO c:\\x }}{\fldrslt value}}}"
    )
    out, data = clean(text, "letter.rtf", redact=True)
    assert b"objdata" not in out and b"DDE" not in out and b"shown" in out and b"value" in out
    assert b"jane.doe" not in out and out.count(b"{") == out.count(b"}")
    assert data["cdr"]["interactive_contents_removed"] == 2
