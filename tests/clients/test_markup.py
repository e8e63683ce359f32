"""Tables, markup and YAML as they pass: what a column, an element, an attribute or a key is called says what its value is,
as a member's name does in JSON. What is written there is spelled as its format wants it, and everything else stays."""

import csv
import html
import io
import json
import xml.etree.ElementTree as ET

import pytest
from http2 import DATA, END_STREAM, Connection, frame

# Values that nobody would take for one without their name, and the name.
NAMED = {
    "ssn": "536228726",
    "password": "hunter2!",
    "account_number": "40912873",
    "iban_code": "GB33BUKB20201555555555",
}
# Names that say nothing, or that the value is something else.
TWINS = {"order": "536228726", "status": "shipped!", "quantity": "40912873", "sku": "GX33BUKB20201555555555"}


def table(delimiter, quote="", far=0):
    """A head, rows that say nothing, and the values."""

    def make(values):
        head = delimiter.join(["id", *values])
        filler = "".join("%d%s\r\n" % (n, (delimiter + "-") * len(values)) for n in range(far))
        row = delimiter.join(["1", *(quote + value + quote for value in values.values())])
        return "%s\r\n%s%s\r\n" % (head, filler, row)

    return make


def element(values):
    rows = "".join("  <%s>%s</%s>\n" % (name, html.escape(value), name) for name, value in values.items())
    return '<?xml version="1.0"?>\n<order id="7">\n%s</order>\n' % rows


def attributes(values):
    return "<order %s/>" % " ".join('%s="%s"' % (name, html.escape(value)) for name, value in values.items())


def fields(values):
    rows = "".join('<field name="%s"><![CDATA[%s]]></field>' % (name, value) for name, value in values.items())
    return "<x:Envelope xmlns:x='urn:x'><x:Body>%s</x:Body></x:Envelope>" % rows


def pairs(values):
    rows = "".join("<key>%s</key>\n<string>%s</string>\n" % (name, html.escape(value)) for name, value in values.items())
    return "<plist><dict>\n%s</dict></plist>" % rows


def heads(values):
    head = "".join("<th>%s" % name.replace("_", " ") for name in values)
    row = "".join("<td>%s" % html.escape(value) for value in values.values())
    return "<!doctype html><table class=x><tr>%s<tr>%s</table>" % (head, row)


def rows(values):
    lines = ("<tr><th>%s</th><td>%s</td></tr>" % (name.replace("_", " "), html.escape(value)) for name, value in values.items())
    return "<!doctype html>\n<table>%s</table>" % "\n".join(lines)


def inputs(values):
    lines = ("<p><input type=text name=%s value='%s'><br>" % (name, html.escape(value)) for name, value in values.items())
    return "<!doctype html>\n<form>%s</form>" % "\n".join(lines)


def terms(values):
    lines = ("<dt>%s:</dt><dd><b>%s</b></dd>" % (name.replace("_", " "), html.escape(value)) for name, value in values.items())
    return "<!DOCTYPE html><dl>%s</dl>" % "".join(lines)


def lines(quote=""):
    def make(values):
        return "order:\n" + "".join("  %s: %s%s%s\n" % (name, quote, value, quote) for name, value in values.items())

    return make


FORMATS = {
    "csv": ("text/csv", table(",")),
    "csv, quoted": ("text/csv; charset=utf-8; header=present", table(",", '"')),
    "csv, far from the head": ("text/csv", table(",", far=50)),
    "csv, semicolons": ("text/csv", table(";")),
    "tsv": ("text/tab-separated-values", table("\t")),
    "xml, elements": ("application/xml", element),
    "xml, attributes": ("text/xml", attributes),
    "xml, soap": ("application/soap+xml", fields),
    "xml, plist": ("application/x-plist+xml", pairs),
    "html, heads": ("text/html", heads),
    "html, rows": ("text/html; charset=utf-8", rows),
    "html, inputs": ("text/html", inputs),
    "html, terms": ("application/xhtml+xml", terms),
    "yaml": ("application/yaml", lines()),
    "yaml, quoted": ("text/x-yaml", lines('"')),
    "yaml, single quotes": ("text/yaml", lines("'")),
}


def post(gateway, path, body, kind):
    return gateway.call("POST", path, body, {"content-type": kind})


def pieces(body, size):
    return (body[at : at + size] for at in range(0, len(body), size))


def left(body):
    """Those of the values that are still there."""
    return [name for name, value in NAMED.items() if value.encode() in body]


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_context_of_values_that_pass(gateway, mock, form):
    kind, make = FORMATS[form]
    body = make(NAMED).encode()
    for sent in (body, pieces(body, 7)):
        assert post(gateway, "/generic/reflect", sent, kind).status == 200
        assert left(mock.requests[-1].body) == []


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_context_and_values_come_back(gateway, mock, form):
    kind, make = FORMATS[form]
    body = make(NAMED).encode()
    answer = post(gateway, "/restored/reflect", body, kind)
    assert left(mock.requests[-1].body) == []
    assert answer.body == body


@pytest.mark.parametrize("form", FORMATS)
def test_names_are_context_in_answers(gateway, mock, form):
    kind, make = FORMATS[form]
    mock.canned["it"] = (200, kind, make(NAMED).encode(), "", 5)
    assert left(gateway.call("GET", "/generic/canned/it").body) == []


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_called_otherwise_is_left(gateway, mock, form):
    kind, make = FORMATS[form]
    body = make(TWINS).encode()
    for route in ("generic", "restored"):
        for sent in (body, pieces(body, 5)):
            answer = post(gateway, "/%s/reflect" % route, sent, kind)
            assert (mock.requests[-1].body, answer.body) == (body, body)


def in_quotes(text):
    return '"%s"' % text.replace('"', '""')


# Bodies with room for a value, how it is written there without a need to be, and how their readers read it.
READERS = {
    "text/csv": ("id,who\n1,%s\n", in_quotes, lambda body: list(csv.reader(io.StringIO(body.decode())))[1][1]),
    "application/xml": ("<a><b>%s</b></a>", html.escape, lambda body: ET.fromstring(body).findtext("b")),
    "application/atom+xml": ("<a b='%s'/>", html.escape, lambda body: ET.fromstring(body).get("b")),
    "text/html": ('<p title="%s">', html.escape, lambda body: html.unescape(body.decode().split('"')[1])),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_restored_value_is_spelled_as_its_format_wants_it(gateway, mock, kind):
    """A value of a JSON request stands in an answer of another format."""
    body, write, read = READERS[kind]
    secret = "Tr0ub4dor<&>\",';3"
    ask = json.dumps({"password": secret})
    post(gateway, "/restored/reflect", ask, "application/json")
    surrogate = json.loads(mock.requests[-1].body)["password"]
    assert surrogate != secret
    mock.canned["it"] = (200, kind, (body % write(surrogate)).encode(), "", 3)
    answer = post(gateway, "/restored/canned/it", ask, "application/json")
    assert read(answer.body) == secret


EDGE = "0123456789abcdef"


def upload(name, kind, body):
    head = 'content-disposition: form-data; name="file"; filename="%s"\r\ncontent-type: %s' % (name, kind)
    return ("--%s\r\n%s\r\n\r\n%s\r\n--%s--\r\n" % (EDGE, head, body, EDGE)).encode()


@pytest.mark.parametrize("form", [form for form in FORMATS if "yaml" not in form])
def test_names_are_context_in_parts(gateway, mock, form):
    kind, make = FORMATS[form]
    endings = {"csv": "csv", "tsv": "tsv", "xml": "xml", "htm": "html"}
    for name, said in (("x", kind), ("x." + endings[form[:3]], "application/octet-stream")):
        body = upload(name, said, make(NAMED))
        answer = post(gateway, "/restored/reflect", body, "multipart/form-data; boundary=" + EDGE)
        assert left(mock.requests[-1].body) == [], name
        assert answer.status == 200


def grpc(field, text):
    """One message with one field of type string."""
    message = bytes([field << 3 | 2, len(text)]) + text
    return b"\0" + len(message).to_bytes(4, "big") + message


@pytest.mark.parametrize("kind", ["application/grpc", "application/grpc+proto", "application/grpc-web+proto"])
def test_messages_that_nobody_describes_are_refused_or_pass_by_setting(gateway, mock, kind):
    body = grpc(1, b"jane.doe@harbour-post.com")
    for route, expected in (("generic", 415), ("restored", 415), ("lenient", 200)):
        mock.requests.clear()
        with Connection(gateway.h2c) as connection:
            path = "/%s/reflect" % route
            stream = connection.request(("content-type", kind), ("te", "trailers"), method="POST", path=path, end=False)
            connection.send(frame(DATA, END_STREAM, stream, body))
            assert connection.status(stream) == expected
        assert [one.raw for one in mock.requests] == ([body] if expected == 200 else [])
