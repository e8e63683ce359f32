"""File sanitization, as its own client and plain HTTP use it."""

import hashlib
import http.server
import io
import json
import subprocess
import threading
import urllib.parse

import pangea.exceptions as pe
import pytest
from gateway import BINARY, CONFIG, Gateway
from pangea import PangeaConfig
from pangea.file_uploader import FileUploader
from pangea.response import TransferMethod
from pangea.services.sanitize import (
    Sanitize,
    SanitizeContent,
    SanitizeFile,
    SanitizeResult,
    SanitizeShareOutput,
)
from pangea.services.share.share import Share
from pangea.utils import get_file_upload_params

TEXT = b"hello jane.doe@harbour-post.com, see https://evil.example.net/a and 10 things\n"
CLEAN = SanitizeContent(url_intel=False, domain_intel=False, redact=True)
# The test file of anti-malware vendors, in two halves so that this file is none.
EICAR = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-" + b"ANTIVIRUS-TEST-FILE!$H+H*"


class Opened(io.BytesIO):
    """A file in memory; the client wants to know how it was opened."""

    mode = "rb"


@pytest.fixture
def client(gateway):
    config = PangeaConfig(base_url_template=gateway.url + "/{SERVICE_NAME}", poll_result_timeout=20)
    return Sanitize(gateway.token, config=config)


def send(client, data=TEXT, name="note.txt", method=TransferMethod.MULTIPART, **more):
    return client.sanitize(method, file=Opened(data), uploaded_file_name=name, **more)


def checked(client, response):
    assert response.status == "Success" and response.result.data.malicious_file is False
    assert response.result.data.redact.redaction_count >= 1
    assert response.result.data.defang.external_urls_count == 1
    assert response.raw_result["data"]["objects"] == [] and response.raw_result["data"]["notes"] == {}
    file = client.download_file(response.result.dest_url)
    assert b"jane.doe" not in file.file and b"hello" in file.file and b"10 things" in file.file
    assert b"https://evil" not in file.file and b"hxxps://evil[.]example[.]net/a" in file.file
    return file


@pytest.mark.parametrize("method", [TransferMethod.MULTIPART, TransferMethod.POST_URL])
def test_a_file_that_is_sent_comes_back_clean(client, method):
    response = send(client, method=method, content=CLEAN, file_scan=SanitizeFile(scan_provider="crowdstrike"))
    assert checked(client, response).filename == "note.txt"
    parameters = response.result.parameters
    assert parameters["transfer_method"] == method.value and parameters["content"]["defang_threshold"] == 30


def test_a_file_that_is_put_later(client):
    accepted = client.request_upload_url(TransferMethod.PUT_URL, content=CLEAN, uploaded_file_name="note.txt")
    with pytest.raises(pe.AcceptedRequestException):
        client.poll_result(response=accepted)
    url = accepted.accepted_result.put_url
    FileUploader().upload_file(url, Opened(TEXT), transfer_method=TransferMethod.PUT_URL)
    done = client.poll_result(response=accepted)
    assert done.request_id == accepted.request_id
    checked(client, done)
    checked(client, client.poll_result(response=accepted))


def test_a_file_that_is_fetched(client):
    class Files(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(TEXT)))
            self.end_headers()
            self.wfile.write(TEXT)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/note.txt" % server.server_port
        response = client.sanitize(TransferMethod.SOURCE_URL, source_url=url, content=CLEAN)
        server.shutdown()
    assert checked(client, response).filename == "note.txt"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/none", "http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/"]
)
def test_what_cannot_or_may_not_be_fetched_looks_the_same(client, url):
    with pytest.raises(pe.ValidationException) as refused:
        client.sanitize(TransferMethod.SOURCE_URL, source_url=url)
    (error,) = refused.value.errors
    assert (error.code, error.source) == ("InaccessibleURI", "/source_url")
    assert "GET" in error.detail and url not in error.detail


def test_through_the_share_and_back(client, gateway):
    output = SanitizeShareOutput(enabled=True, output_folder="/clean/today")
    done = send(client, content=CLEAN, share_output=output).result
    assert done.dest_url is None and done.dest_share_id.startswith("pos_")
    config = PangeaConfig(base_url_template=gateway.url + "/{SERVICE_NAME}")
    stored = Share(gateway.token, config=config).get(done.dest_share_id).result.object
    assert stored.folder == "/clean/today"
    body = {"transfer_method": "share-id", "share_id": done.dest_share_id}
    again = client.request.post("v1/sanitize", SanitizeResult, data=body)
    file = client.download_file(again.result.dest_url)
    assert hashlib.sha256(file.file).hexdigest() == stored.sha256, "what is clean stays as it is"
    body["share_id"] = "pos_" + "a" * 32
    with pytest.raises(pe.ValidationException) as unknown:
        client.request.post("v1/sanitize", SanitizeResult, data=body)
    assert [(e.code, e.source) for e in unknown.value.errors] == [("DoesNotExist", "/share_id")]


def test_a_malicious_file_goes_nowhere(client):
    result = send(client, data=EICAR).raw_result
    assert result["data"]["malicious_file"] is True and set(result["data"]) == {"malicious_file", "reason", "threat"}
    assert result["data"]["threat"]["rule"]
    assert "dest_url" not in result and "dest_share_id" not in result


def test_finding_alone_changes_no_value(client):
    content = SanitizeContent(redact=True, redact_detect_only=True, defang=False)
    response = send(client, content=content)
    data = response.result.data
    assert data.redact.redaction_count == 0
    # What is not defanged is still looked up, unless that is not wanted either.
    assert data.defang.external_urls_count == 1 and data.defang.defanged_count == 0
    assert [x.field_type for x in data.redact.recognizer_results if not x.redacted] == ["EMAIL_ADDRESS"]
    assert client.download_file(response.result.dest_url).file == TEXT


def test_what_cannot_be_rewritten_is_not_released(client):
    with pytest.raises(pe.ValidationException) as refused:
        send(client, data=b"\x00\xff\xfe nothing that anybody knows \x01" * 9, name="x.bin")
    assert [(e.code, e.source) for e in refused.value.errors] == [("BadState", "/upload")]


@pytest.mark.parametrize(
    "change, source",
    [({"size": 1}, "/size"), ({"size": 1 << 20}, "/size"), ({"sha256_hex": "0" * 64}, "/sha256"), ({"crc_hex": "00000000"}, "/crc32c")],
)
def test_another_file_than_was_promised(client, change, source):
    params = get_file_upload_params(Opened(TEXT))
    for name, value in change.items():
        setattr(params, name, value)
    accepted = client.request_upload_url(TransferMethod.POST_URL, params=params, uploaded_file_name="note.txt")
    FileUploader().upload_file(
        accepted.accepted_result.post_url,
        Opened(TEXT),
        transfer_method=TransferMethod.POST_URL,
        file_details=accepted.accepted_result.post_form_data,
    )
    with pytest.raises(pe.ValidationException) as refused:
        client.poll_result(response=accepted)
    assert [(e.code, e.source) for e in refused.value.errors] == [("BadState", source)]


def test_providers_that_are_not_there(client):
    content = SanitizeContent(url_intel_provider="nobody", domain_intel_provider="nobody")
    with pytest.raises(pe.ValidationException) as refused:
        send(client, content=content, file_scan=SanitizeFile(scan_provider="nobody"))
    assert {(e.code, e.source) for e in refused.value.errors} == {
        ("ProviderDisabled", "/file/scan_provider"),
        ("ProviderDisabled", "/content/url_intel_provider"),
        ("ProviderDisabled", "/content/domain_intel_provider"),
    }


def test_a_stored_config(client, gateway):
    def call(path, body):
        answer = gateway.api("/sanitize/v1beta/config" + path, body)
        return answer.status, answer.json()["result"]

    status, config = call("/create", {"name": "strict", "redact": {"enabled": True}, "sos": {"enabled": False}})
    assert status == 200 and config["cdr"] == {"remove_attachments": True, "remove_interactive": True}
    body = {"transfer_method": "put-url", "uploaded_file_name": "a.txt", "config_id": config["id"]}
    body["share_output"] = {"enabled": True}
    answer = gateway.api("/v1/sanitize", body)
    assert (answer.status, answer.json()["result"]["errors"][0]["code"]) == (400, "ProviderDisabled")
    answer = gateway.api("/v1/redact", {"text": "a", "config_id": config["id"]})
    assert (answer.status, answer.json()["result"]["errors"][0]["code"]) == (400, "ConfigServiceMismatch")
    assert call("", {"id": config["id"]})[1]["redact"] == {"enabled": True}
    status, wrong = call("/create", {"name": "", "defang": {"risk_threshold": 101}, "more": 1})
    assert {e["source"] for e in wrong["errors"]} == {"/name", "/defang/risk_threshold", "/more"}
    assert call("/delete", {"id": config["id"]})[0] == 200
    assert call("", {"id": config["id"]})[1]["errors"][0]["code"] == "ConfigNotExist"


def test_an_answer_is_for_its_asker_alone(client, gateway):
    accepted = client.request_upload_url(TransferMethod.PUT_URL, uploaded_file_name="a.txt")
    made = [str(BINARY), "tokens", "create", "--config-file", str(gateway.file)]
    token = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
    path, headers = "/request/" + accepted.request_id, {"Authorization": "Bearer " + token}
    answer = gateway.call("GET", path, headers=headers)
    assert (answer.status, answer.json()["status"]) == (401, "Unauthorized")


def test_a_job_outlives_the_process(upstream):
    with Gateway(upstream.url) as gateway:
        config = PangeaConfig(base_url_template=gateway.url + "/{SERVICE_NAME}", poll_result_timeout=30)
        client = Sanitize(gateway.token, config=config)
        accepted = client.request_upload_url(TransferMethod.PUT_URL, content=CLEAN, uploaded_file_name="note.txt")
        gateway.process.kill()
        gateway.stop()
        gateway.start()
        url = accepted.accepted_result.put_url
        FileUploader().upload_file(url, Opened(TEXT), transfer_method=TransferMethod.PUT_URL)
        gateway.process.kill()
        gateway.stop()
        gateway.start()
        checked(client, client.poll_result(response=accepted))


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(gateway):
    digests = {"sha256": "0" * 64, "crc32c": "00000000"}
    for size in (1 << 40, 10**17):
        body = {"transfer_method": "post-url", "uploaded_file_name": "a", "size": size, **digests}
        errors = gateway.api("/v1/sanitize", body).json()["result"]["errors"]
        assert [(e["code"], e["source"]) for e in errors] == [("IsTooBig", "/size")]


def test_a_json_body_says_how_the_file_comes(gateway):
    errors = gateway.api("/v1/sanitize", {"source_url": "http://127.0.0.1:9/"}).json()["result"]["errors"]
    assert [(e["code"], e["source"]) for e in errors] == [("FieldRequired", "/transfer_method")]


def test_polls_are_counted(gateway):
    body = {"transfer_method": "put-url", "uploaded_file_name": "a.txt"}
    accepted = gateway.api("/v1/sanitize", body).json()
    assert accepted["result"]["retry_counter"] == 0
    for path in ("/request/", "/sanitize/request/"):
        assert path + "{request_id}" in gateway.call("GET", "/openapi.json").json()["paths"]
    poll = lambda n: gateway.call("GET", ("/request/", "/sanitize/request/")[n % 2] + accepted["request_id"],
                                  headers={"authorization": "Bearer " + gateway.token})
    answers = [poll(n) for n in range(4)]
    assert [(one.status, one.json()["result"]["retry_counter"]) for one in answers] == [(202, n) for n in (1, 2, 3, 4)]


SURPLUS = [
    (["upload;f", "upload;f"], ("AboveMaxItems", "/upload"), "send one file"),
    (["note", "upload;f"], ("AboveMaxItems", "/upload"), "two parts beside `request`, and one of them is no file"),
    (["upload;f", "note"], ("AboveMaxItems", "/upload"), "two parts beside `request`, and one of them is no file"),
    (["request", "upload;f"], ("AboveMaxItems", "/request"), "send one part `request`"),
    ([], ("FieldRequired", "/upload"), "a part `upload` with the file"),
]


@pytest.mark.parametrize("parts, fault, told", SURPLUS)
def test_a_form_has_a_request_and_a_file(gateway, parts, fault, told):
    """Whatever the file's part is called: public clients do not agree on that."""
    answer = gateway.api("/v1/sanitize", form(["request", *parts]), **{"content-type": "multipart/form-data; boundary=x"})
    [error] = answer.json()["result"]["errors"]
    assert (error["code"], error["source"]) == fault and told in error["detail"]
    for name in "upload;f", "upload", "file;f", "anything;f", "anything":
        answer = gateway.api("/v1/sanitize", form([name, "request"]), **{"content-type": "multipart/form-data; boundary=x"})
        assert answer.status == 200, (name, answer.body)


def form(names):
    """A form with these parts; behind `;` the name of a file."""
    body = b""
    for name, _, file in (one.partition(";") for one in names):
        named = '; filename="%s"' % file if file else ""
        content = b"{}" if name == "request" else TEXT
        body += ('--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n' % (name, named)).encode() + content + b"\r\n"
    return body + b"--x--\r\n"


def test_a_wrong_upload_ends_the_call(gateway):
    """Neither is another awaited nor is one taken for nothing; a good one may come twice."""
    for promised, status, again in ("0" * 64, 400, 400), (hashlib.sha256(TEXT).hexdigest(), 200, 200):
        body = {"transfer_method": "put-url", "uploaded_file_name": "a.txt", "sha256": promised}
        accepted = gateway.api("/v1/sanitize", body).json()
        to = urllib.parse.urlsplit(accepted["result"]["put_url"])
        put = lambda: gateway.call("PUT", to.path + "?" + to.query, TEXT)
        poll = lambda: gateway.call("GET", "/request/" + accepted["request_id"], headers={"authorization": "Bearer " + gateway.token})
        assert put().status == 200
        gateway.wait_for(lambda: poll().status != 202)
        assert poll().status == status
        if status == 400:
            assert "make the call anew" in poll().json()["result"]["errors"][0]["detail"]
        assert put().status == again
        assert poll().status == status


NAMES = [
    (b'filename="\xc3\xbc b.txt"', {}),
    (b"filename=\"_ b.txt\"; filename*=UTF-8''%C3%BC%20b.txt", {}),
    (b'filename="x"', {"uploaded_file_name": "\u00fc b.txt"}),
]


@pytest.mark.parametrize("written, more", NAMES, ids=["raw", "extended", "field"])
def test_a_file_keeps_its_name(gateway, written, more):
    part = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    body = part % (b"request", b"", json.dumps(more).encode()) + part % (b"upload", b"; " + written, TEXT) + b"--x--\r\n"
    answer = gateway.api("/v1/sanitize", body, **{"content-type": "multipart/form-data; boundary=x"})
    assert answer.status == 200, answer.body
    to = urllib.parse.urlsplit(answer.json()["result"]["dest_url"])
    got = gateway.call("GET", to.path + "?" + to.query)
    assert got.headers["content-disposition"].endswith("filename*=UTF-8''%C3%BC%20b.txt")


def test_lookups_without_feeds_say_that_nothing_was_asked(client):
    content = SanitizeContent(url_intel=True, domain_intel=True, defang=True, defang_threshold=20, redact=True)
    response = send(client, content=content)
    defang = response.result.data.defang
    assert (defang.external_urls_count, defang.defanged_count) == (1, 0)
    for summary in (defang.url_intel_summary, defang.domain_intel_summary):
        assert "Processed 1 " in summary and "1 are unknown" in summary and "Nothing was asked" in summary
    assert "nothing was asked" in response.summary


def test_what_is_not_defanged_is_looked_up(upstream, tmp_path):
    feed = tmp_path / "feed.txt"
    feed.write_text("https://evil.example.net/a\n")
    more = '\n[sanitize.intel]\nfeeds = ["%s"]\n' % feed
    with Gateway(upstream.url, config=CONFIG + more) as gateway:
        for asked, found in (({"url_intel": True}, "1 are malicious"), ({"url_intel": True, "defang": True}, "1 are malicious")):
            clean, data = gateway.sanitized("a.txt", TEXT, **{"defang": False, **asked})
            assert found in data["defang"]["url_intel_summary"] and "Nothing was asked" not in data["defang"]["url_intel_summary"]
            assert (b"https://evil" in clean, data["defang"]["defanged_count"]) == ((False, 1) if asked.get("defang") else (True, 0))
        assert "defang" not in gateway.sanitized("a.txt", TEXT, defang=False)[1]
