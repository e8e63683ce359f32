"""One table of spellings, on every way that text takes through the gateway: none of its values passes, and what only
looks like them is left alone."""

import csv
import io
import json
from xml.sax.saxutils import escape, quoteattr

import pytest
from gateway import run
from pangea import PangeaConfig
from pangea.services.sanitize import Sanitize, SanitizeContent
from spellings import GROUPED, INNOCENT, INNOCENT_MEMBERS, NAMED, NESTED, read, separated
from test_sanitize import Opened

SECRETS = {value for *_, value in NAMED}
ROWS = [{name: value} for _, _, name, value in NAMED]
FEW = [row for at, row in enumerate(NAMED) if at % 9 == 0]
DEEP = [nest(name, value) for _, _, name, value in FEW for nest in NESTED]
NUMBERS = [{name: int(value)} for kind, _, name, value in NAMED if kind in ("card", "phone", "ssn", "account")]
CONTENT = SanitizeContent(url_intel=False, domain_intel=False, redact=True, defang=False)


def chat(gateway, mock, message):
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}, message]}
    answer = gateway.call("POST", "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    assert answer.status == 200, answer.body
    return json.loads(mock.requests[-1].body)["messages"][-1]


def content(gateway, mock, text):
    return chat(gateway, mock, {"role": "user", "content": text})["content"]


def arguments(gateway, mock, text):
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": text}}
    message = chat(gateway, mock, {"role": "assistant", "tool_calls": [call]})
    return message["tool_calls"][0]["function"]["arguments"]


def result(gateway, mock, text):
    return chat(gateway, mock, {"role": "tool", "tool_call_id": "call_1", "content": text})["content"]


def generic(gateway, mock, text):
    answer = gateway.call("POST", "/generic/reflect", text.encode(), {"content-type": "application/json"})
    assert answer.status == 200, answer.body
    return mock.requests[-1].body.decode()


def restored(gateway, mock, text):
    answer = gateway.call("POST", "/restored/reflect", text.encode(), {"content-type": "application/json"})
    # An escape may come back as the character.
    assert answer.status == 200 and json.loads(answer.body) == json.loads(text)
    return mock.requests[-1].body.decode()


def api(gateway, mock, text):
    answer = gateway.api("/v1/redact", {"text": text})
    assert answer.status == 200, answer.body
    return answer.json()["result"]["redacted_text"]


def structured(gateway, mock, text):
    answer = gateway.api("/v1/redact_structured", {"data": json.loads(text)})
    assert answer.status == 200, answer.body
    return json.dumps(answer.json()["result"]["redacted_data"], ensure_ascii=False)


def command(gateway, mock, text):
    done = run("redact", "--json", stdin=text)
    assert done.returncode == 0, done.err
    return done.out


def sanitized(gateway, data, name):
    config = PangeaConfig(base_url_template=gateway.url + "/{SERVICE_NAME}", poll_result_timeout=60)
    client = Sanitize(gateway.token, config=config)
    response = client.sanitize(file=Opened(data.encode()), uploaded_file_name=name, content=CONTENT)
    return client.download_file(response.result.dest_url).file.decode("utf-8-sig")


def json_file(gateway, mock, text):
    return sanitized(gateway, text, "a.json")


def text_file(gateway, mock, text):
    return sanitized(gateway, text, "a.txt")


WAYS = [content, arguments, result, generic, restored, api, structured, command, json_file, text_file]


def passed(text):
    return sorted(name for _, _, name, value in NAMED if value in text)


def ways(which):
    return pytest.mark.parametrize("way", which, ids=lambda way: way.__name__)


@ways(WAYS)
def test_what_a_member_is_called_tells_what_it_holds(gateway, mock, way):
    # A debug build takes its time, and a gateway sheds what would wait too long.
    for rows in (ROWS, DEEP):
        for some in (rows[at : at + 150] for at in range(0, len(rows), 150)):
            assert passed(way(gateway, mock, json.dumps(some, ensure_ascii=False))) == []


@ways([content, generic, structured, command, json_file])
def test_names_may_be_escaped(gateway, mock, way):
    assert passed(way(gateway, mock, json.dumps(ROWS))) == []


@ways(WAYS)
def test_numbers_are_values(gateway, mock, way):
    assert passed(way(gateway, mock, json.dumps(NUMBERS))) == []


@ways([content, arguments, result, restored])
def test_numbers_stay_numbers_on_their_way_to_a_model(gateway, mock, way):
    rows = json.loads(way(gateway, mock, json.dumps(NUMBERS)))
    assert all(type(value) is int for row in rows for value in row.values())


@ways(WAYS)
def test_innocent_members_are_left_alone(gateway, mock, way):
    rows = INNOCENT if way is api else INNOCENT + INNOCENT_MEMBERS
    assert json.loads(way(gateway, mock, json.dumps(rows))) == rows


def test_heads_of_columns_tell_what_is_below(gateway):
    names = [(name, value) for _, _, name, value in NAMED if name.replace(" ", "").isalpha()]
    for delimiter in ",;\t":
        table = io.StringIO()
        csv.writer(table, delimiter=delimiter).writerows(zip(*names))
        clean = sanitized(gateway, table.getvalue(), "a.csv")
        assert [name for name, value in names if value in clean] == []


def test_elements_and_attributes_tell_what_they_hold(gateway):
    names = [(name, value) for _, _, name, value in NAMED if name.replace("_", "").replace("-", "").isalnum()]
    elements = "".join("<%s>%s</%s>\n" % (name, escape(value), name) for name, value in names)
    values = "".join("<row %s=%s/>\n" % (name, quoteattr(value)) for name, value in names)
    pairs = "".join("<add key=%s value=%s/>\n" % (quoteattr(name), quoteattr(value)) for name, value in names)
    inner = "".join("<entry key=%s>%s</entry>\n" % (quoteattr(name), escape(value)) for name, value in names)
    for part in (elements, values, pairs, inner):
        clean = sanitized(gateway, '<?xml version="1.0" encoding="UTF-8"?>\n<data>\n%s</data>\n' % part, "a.xml")
        assert [name for name, value in names if escape(value) in clean] == []


def parted(found):
    """What is left of the values in texts that came back, by what was sent."""
    value = {kind: "".join(groups) for kind, (_, groups) in GROUPED.items()}
    return [(kind, name) for kind, name, text in found if value[kind] in read(text)]


@ways([content, restored, api, structured, command, json_file])
def test_separators_and_digits_are_read_as_people_read_them(gateway, mock, way):
    rows = list(separated())
    texts = json.loads(way(gateway, mock, json.dumps({"items": ["so %s." % text for *_, text in rows]})))["items"]
    assert parted((kind, name, text) for (kind, name, _), text in zip(rows, texts, strict=True)) == []


@pytest.mark.parametrize("way", ["text", "file", "api"])
def test_text_is_read_as_people_read_it(gateway, mock, way):
    rows = list(separated())
    for kind, name, text in rows if way == "api" else [("all", "", None)]:
        if way == "api":
            assert parted([(kind, name, api(gateway, mock, "so %s." % text))]) == []
            continue
        text = "\n\n".join("so %s." % text for *_, text in rows)
        clean = run("redact", stdin=text).out if way == "text" else sanitized(gateway, text, "a.txt")
        parts = clean.replace("\r\n", "\n").split("\n\n")
        assert parted((kind, name, part) for (kind, name, _), part in zip(rows, parts, strict=True)) == []


INNOCENT_TEXT = [
    "Order 1001, version 2.0.17, built 2026\u201311\u201322, pages 10\u201312 and 1999\u20132004.",
    "41\n42\n43\n4111\n1111\n",
    "columns:\n1234 5678\n9012 3456\n7890 1234\n",
    "north\u2013south \u2014 a line, caf\u00e9\u2011bar, soft\u00adware, caf\u00e9\u00a0noir.",
    "１２３ ４５６ and ٠١٢٣ are numbers",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b\u200b and 6f1c2a0e-9b1d-4c55-8a3e-2f9f0c7f3b11",
]


@pytest.mark.parametrize("text", INNOCENT_TEXT)
def test_innocent_text_is_left_alone(gateway, mock, text):
    for way in (content, api):
        assert way(gateway, mock, text) == text
    assert run("redact", stdin=text).out == text
