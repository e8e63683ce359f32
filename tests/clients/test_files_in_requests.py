"""Files inside JSON: text in base64 is redacted, documents are redacted by who knows them or refused by their place, media
pass; uploads of files, and URLs in answers that would lead around the gateway."""

import base64
import gzip
import io
import json
import zipfile

import pytest
from documents import ALL, judge, office, pdf, text
from gateway import CONFIG, Gateway, multipart
from test_multipart import MAIL, PDF, PNG, WAV, body, field, file, parts, send
from test_sanitize_pictures import page_with, png

ROUTES = "".join(
    """
[[routes]]
name = "%s"
path = "/%s"
upstream = "mock"
auth = "none"
%s
"""
    % row
    for row in [
        ("redacted", "redacted", 'redact = {{ files = "redact", protocol = "generic" }}'),
        ("redacted-once", "once", 'redact = {{ requests = "mask", answers = "off", files = "redact" }}'),
        ("open", "open", 'redact = {{ files = "pass" }}'),
        ("strict", "strict", 'redact = {{ media = "refuse" }}'),
        ("strict-once", "sternly", 'redact = {{ requests = "mask", answers = "off", media = "refuse" }}'),
        ("named", "named", 'public_url = "https://gateway.example/llm/"\nredact = {{}}'),
        ("llm", "/v1", "redact = {{}}"),
    ]
).replace('path = "//v1"', 'path = "/v1"')


@pytest.fixture(scope="module")
def files(upstream):
    with Gateway(upstream.url, config=CONFIG.replace('path = "/v1/chat"', 'path = "/old"') + ROUTES) as gateway:
        yield gateway


def b64(data):
    return base64.b64encode(data).decode()


# How each protocol carries a file of a kind.
HOLDERS = {
    "openai": lambda kind, data: {"messages": [{"role": "user", "content": [
        {"type": "file", "file": {"filename": "a", "file_data": "data:%s;base64,%s" % (kind, data)}}]}]},
    "responses": lambda kind, data: {"input": [{"role": "user", "content": [
        {"type": "input_file", "filename": "a", "file_data": "data:%s;base64,%s" % (kind, data)}]}]},
    "anthropic": lambda kind, data: {"messages": [{"role": "user", "content": [
        {"type": "document", "source": {"type": "base64", "media_type": kind, "data": data}}]}]},
    "gemini": lambda kind, data: {"contents": [{"parts": [{"inlineData": {"mimeType": kind, "data": data}}]}]},
    "bedrock": lambda kind, data: {"messages": [{"role": "user", "content": [
        {"document": {"format": kind.rsplit("/")[-1], "name": "a", "source": {"bytes": data}}}]}]},
}  # fmt: skip

PATHS = {
    "openai": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages",
    "gemini": "/v1/models/gemini:generateContent", "bedrock": "/model/claude/converse",
}  # fmt: skip


def strings(value):
    if isinstance(value, str):
        return [value]
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in inner for text in strings(one)]


def held(request):
    """The file that reached the upstream."""
    long = max(strings(json.loads(request.body)), key=len)
    return base64.b64decode(long.rsplit("base64,", 1)[-1])


@pytest.mark.parametrize("holder", HOLDERS)
def test_text_in_base64_is_redacted(files, mock, holder):
    for kind, text in (("text/plain", "mail %s"), ("text/csv", "name,mail\nJane,%s\n"), ("text/html", "<p>%s</p>"),
                       ("application/json", '{"mail": "%s"}'), ("text/markdown", "# A\n%s")):  # fmt: skip
        data = b64((text % MAIL).encode())
        assert files.call("POST", "/redacted/reflect", HOLDERS[holder](kind, data)).status == 200
        came = held(mock.requests[-1]).decode()
        assert MAIL not in came and len(came) >= len(text)


@pytest.mark.parametrize("holder", HOLDERS)
def test_documents_are_refused_by_their_place(files, mock, holder):
    ask = HOLDERS[holder]("application/pdf", b64(PDF))
    path = PATHS[holder]
    for where in (path if path.startswith("/v1") else "/restored" + path, "/generic" + path, "/restored" + path):
        answer = files.call("POST", where, ask)
        assert answer.status in (400, 415), (where, answer.body)
        assert b"files = " in answer.body
        # As it passes, nobody knows the place.
        assert b"/content/0/" in answer.body or b"/parts/0/" in answer.body or where.startswith("/generic")
    assert not mock.requests
    assert files.call("POST", "/open/reflect", ask).status == 200
    assert held(mock.requests[-1]) == PDF


@pytest.mark.parametrize("holder", HOLDERS)
def test_media_pass_and_are_counted(files, mock, holder):
    for kind, data in (("image/png", PNG), ("audio/wav", WAV), ("audio/pcm", b"\x01\x80\0\x7f\xfe\x90" * 60)):
        if holder == "bedrock" and kind == "audio/pcm":
            continue
        ask = HOLDERS[holder](kind, b64(data))
        before = len(files.log)
        assert files.call("POST", "/redacted/reflect", ask).status == 200
        assert json.loads(mock.requests[-1].body) == ask
        # The line of a request before may still be on its way.
        counted = '"request_unscanned":1,'
        assert files.wait_for(
            lambda: [one for one in files.log[before:] if '"route":"redacted"' in one and counted in one]
        )
        mock.forget()
        for path in ("/strict/reflect", "/sternly/reflect"):
            answer = files.call("POST", path, ask)
            assert answer.status in (400, 415) and b"media" in answer.body, path
        assert not mock.requests


def documents():
    assert pdf and office and text, "what adds the documents"
    chosen = [one for one in ALL if any(one.name.endswith(ending) for ending in (".pdf", ".docx", ".xlsx", ".eml"))]
    kinds = {}
    for one in chosen:
        if not one.attachments and not one.dropped and not one.spelled and one.name != "letters-backwards.pdf":
            kinds.setdefault(one.name.rsplit(".", 1)[1], one)
    return list(kinds.values())


@pytest.mark.parametrize("document", documents(), ids=str)
def test_documents_are_redacted(files, mock, document):
    data = document.make()
    assert {value for value, _ in judge.leaks(data, document.values)} >= set(document.values)
    for path in ("/redacted/reflect", "/once/reflect"):
        answer = send(files, path, body(field("note", MAIL), file(document.name, data, "")))
        assert answer.status == 200, answer.body
        came = parts(mock)[1][1]
        assert judge.leaks(came, document.values) == set() and MAIL.encode() not in mock.requests[-1].body
        assert parts(mock)[1][0].endswith(document.name.encode() + b'"')
    head, _ = file(document.name, data, "")
    answer = send(files, "/redacted/reflect", body((head + "\r\nContent-Length: %d" % len(data), data)))
    assert answer.status == 200, answer.body
    [(head, came)] = parts(mock)
    assert head.endswith(b"\r\nContent-Length: %d" % len(came)) and judge.leaks(came, document.values) == set()
    if document.name.endswith(".eml"):
        return
    for holder in HOLDERS:
        answer = files.call("POST", "/redacted/reflect", HOLDERS[holder]("application/pdf", b64(data)))
        assert answer.status == 200, answer.body
        assert judge.leaks(held(mock.requests[-1]), document.values) == set()


def test_values_of_documents_come_back_in_the_answer(files, mock):
    document = next(one for one in documents() if one.name.endswith(".docx"))
    mails = [value for value in document.values if "@" in value]
    whole = body(field("ask", "who?"), file(document.name, document.make(), ""))
    assert mails and send(files, "/redacted/reflect", whole).status == 200
    seen = judge.text(parts(mock)[1][1])
    surrogates = [word.strip(".,;:()<>") for word in seen.split() if "@" in word]
    assert surrogates and mails[0] not in surrogates
    mock.canned["it"] = (200, "text/plain", ("it is " + " or ".join(surrogates)).encode(), "", 1)
    answer = send(files, "/redacted/canned/it", whole)
    assert mails[0].encode() in answer.body, answer.body


def test_an_archive_keeps_its_scripts_and_its_names(files, mock):
    """A model reads them, and nobody opens them: only values go."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in [("run.py", "import os\nos.system('mail %s')\n"), ("photo.jpg", "no picture, %s"), ("a.sh", "#!/bin/sh\necho %s\n")]:
            archive.writestr(name, text % MAIL)
    answer = send(files, "/redacted/reflect", body(field("note", MAIL), file("a.zip", packed.getvalue(), "")))
    assert answer.status == 200, answer.body
    with zipfile.ZipFile(io.BytesIO(parts(mock)[1][1])) as archive:
        left = {name: archive.read(name).decode() for name in archive.namelist()}
    assert sorted(left) == ["a.sh", "photo.jpg", "run.py"]
    assert MAIL not in "".join(left.values()) and left["run.py"].startswith("import os\nos.system('mail ")


def test_what_cannot_be_redacted_does_not_pass(files, mock):
    for name, data in (("a.pdf", b"%PDF-1.7\nbroken"), ("a.bin", bytes(range(256))), ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(50))):
        answer = send(files, "/redacted/reflect", body(field("a", "b"), file(name, data, "")))
        assert answer.status == 415 and b"part 2" in answer.body and name.encode() not in answer.body
    assert not mock.requests


# ── URLs that lead around the gateway ───────────────────────────────────────────────────────────────────────────────


def test_results_of_batches_are_fetched_here(files, mock):
    body = {"id": "b", "results_url": "https://api.anthropic.com/v1/messages/batches/b/results", "url": "https://api.anthropic.com/x"}
    mock.canned["batches"] = (200, "application/json", gzip.compress(json.dumps(body).encode()), "gzip", 1)
    for path, base in (("/restored", "http://127.0.0.1:%d" % files.port), ("/named", "https://gateway.example/llm")):
        answer = files.call("GET", path + "/canned/messages/batches")
        assert answer.status == 200
        assert json.loads(gzip.decompress(answer.body)) == body | {"results_url": base + "/v1/messages/batches/b/results"}


@pytest.mark.parametrize("header", ["X-Goog-Upload-File-Name", "Content-Disposition", "slug"])
@pytest.mark.parametrize("value", ["%s.txt", 'attachment; filename="cv of %s.txt"', "%s"])
def test_the_name_of_a_file_in_a_header_is_redacted(files, mock, header, value):
    mock.canned["start"] = (200, "application/json", b"{}", "", 0)
    for body in ({"file": {"displayName": "notes"}}, None):
        answer = files.call("POST", "/restored/canned/start", body, {header: value % MAIL})
        assert answer.status == 200
        came = dict((name.lower(), text) for name, text in mock.requests[-1].headers)[header.lower()]
        assert MAIL not in came and len(came) == len(value % MAIL), came
    escaped = "UTF-8''" + MAIL.replace("@", "%40")
    files.call("POST", "/restored/canned/start", {}, {header: "attachment; filename*=%s.txt" % escaped})
    came = dict((name.lower(), text) for name, text in mock.requests[-1].headers)[header.lower()]
    assert "jane" not in came and came.startswith("attachment; filename*=UTF-8''"), came
    files.call("POST", "/restored/canned/start", {}, {header: value % "notes"})
    assert (header.lower(), value % "notes") in [(name.lower(), text) for name, text in mock.requests[-1].headers]


def test_an_upload_comes_here_and_is_redacted(files, mock):
    """As the Gemini API's clients do it: a start that says how long the file is, then the file."""
    start = {"x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start", "x-goog-upload-header-content-length": "99"}
    url = "https://generativelanguage.googleapis.com/upload/v1beta/files?upload_id=abc&upload_protocol=resumable"
    mock.fields.update({"x-goog-upload-url": url, "X-Goog-Upload-Status": "active"})
    mock.canned["start"] = (200, "application/json", b"{}", "", 0)
    answer = files.call("POST", "/restored/canned/start", {"file": {"displayName": "of " + MAIL}}, start)
    mock.fields.clear()
    assert answer.headers["x-goog-upload-url"] == url.replace("https://generativelanguage.googleapis.com", "http://127.0.0.1:%d" % files.port)
    came = {name.lower() for name, _ in mock.requests[-1].headers}
    assert "x-goog-upload-header-content-length" not in came and MAIL.encode() not in mock.requests[-1].body

    def upload(data, command="upload, finalize", offset="0", path="/restored", kind=None):
        headers = {"x-goog-upload-command": command, "x-goog-upload-offset": offset}
        return files.call("POST", path + "/canned/start", data, headers | ({"content-type": kind} if kind else {}))

    for data in (b"Mail " + MAIL.encode(), json.dumps({"a": MAIL}).encode(), b'{"a":"jane.doe\\u0040harbour-post.com"}'):
        for kind in (None, "text/plain", "application/octet-stream"):
            assert upload(data, kind=kind).status == 200
            assert MAIL.encode() not in mock.requests[-1].body and b"jane" not in mock.requests[-1].body
    assert upload(PNG).status == 200 and mock.requests[-1].raw == PNG
    mock.forget()
    assert upload(PDF).status == 415
    assert upload(b"text " * 9, command="upload").status == 400
    assert upload(b"text " * 9, offset="9").status == 400
    assert not mock.requests
    assert upload(PDF, path="/open").status == 404 and mock.requests[-1].raw == PDF


def test_what_cannot_be_read_whole_is_refused_where_that_is_wanted(upstream):
    config = (CONFIG.replace('path = "/v1/chat"', 'path = "/old"') + ROUTES).replace(
        "[sanitize]\n", '[sanitize]\non_unread = "refuse"\n'
    )
    pictured = page_with(png())
    with Gateway(upstream.url, config=config) as gateway:
        for data, status in ((page_with(b""), 200), (pictured, 415)):
            ask = HOLDERS["openai"]("application/pdf", b64(data))
            answer = gateway.call("POST", "/redacted/reflect", ask)
            assert answer.status == status, answer.body
            assert (b"could not be read" in answer.body) == (status == 415)
        kind, form = multipart({"content": {"redact": True}}, "a.pdf", pictured)
        answer = gateway.api("/v1/sanitize", form, **{"content-type": kind})
        assert answer.status == 400 and b"could not be read" in answer.body, answer.body
        out, _ = gateway.sanitized("a.pdf", pictured, redact=False)
        assert out.startswith(b"%PDF")
