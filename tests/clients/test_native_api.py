"""The redaction API by plain HTTP: envelopes on every answer, all faults at once, and no value where it does not belong."""

import json
import re
import socket

import pytest

TEXT = "Mail jane.doe@harbour-post.com or card 4111 1111 1111 1111"
CLEAN = "Mail <EMAIL_ADDRESS> or card <CREDIT_CARD>"
ENVELOPE = {"request_id", "request_time", "response_time", "status", "summary", "result"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def envelope(answer, status, word):
    """Checks what every envelope has; its result."""
    body = answer.json()
    assert (answer.status, body["status"]) == (status, word), body
    assert set(body) == ENVELOPE
    assert re.fullmatch(r"prq_[a-z2-7]{32}", body["request_id"])
    assert answer.headers["x-request-id"] == body["request_id"]
    assert TIME.fullmatch(body["request_time"]) and TIME.fullmatch(body["response_time"])
    assert isinstance(body["summary"], str)
    assert answer.headers["content-type"].startswith("application/json")
    return body["result"]


def faults(answer, status=400, word="ValidationError"):
    errors = envelope(answer, status, word)["errors"]
    assert all(set(error) == {"code", "detail", "source"} and error["detail"] for error in errors)
    return sorted((error["source"], error["code"]) for error in errors)


def test_redacts(gateway):
    result = envelope(gateway.api("/v1/redact", {"text": TEXT}), 200, "success")
    assert result == {"redacted_text": CLEAN, "count": 2}


def test_reports_what_was_found(gateway):
    result = envelope(gateway.api("/v1/redact", {"text": "é " + TEXT, "debug": True}), 200, "success")
    found = result["report"]["recognizer_results"]
    spans = [(one["field_type"], one["text"], one["start"], one["end"], one["redacted"]) for one in found]
    assert spans == [
        ("EMAIL_ADDRESS", "jane.doe@harbour-post.com", 7, 32, True),
        ("CREDIT_CARD", "4111 1111 1111 1111", 41, 60, True),
    ]
    assert all(0 < one["score"] <= 1 for one in found)
    assert result["report"]["summary_counts"] == {"EMAIL_ADDRESS": 1, "CREDIT_CARD": 1}


def test_only_the_rules_asked_for(gateway):
    result = envelope(gateway.api("/v1/redact", {"text": TEXT, "rules": ["CREDIT_CARD"]}), 200, "success")
    assert result == {"redacted_text": TEXT.replace("4111 1111 1111 1111", "<CREDIT_CARD>"), "count": 1}


def test_the_text_can_stay_away(gateway):
    assert envelope(gateway.api("/v1/redact", {"text": TEXT, "return_result": False}), 200, "success") == {"count": 2}


def test_the_path_with_the_services_name(gateway):
    assert envelope(gateway.api("/redact/v1/redact", {"text": TEXT}), 200, "success")["count"] == 2


def test_a_clients_dialect(gateway):
    envelope(gateway.api("/v1/redact", {"text": "-"}, **{"user-agent": "pangea-python/6.1.0"}), 200, "Success")


@pytest.mark.parametrize("token", [None, "Bearer pts_" + "a" * 32, "Bearer ", "Basic eDp5"])
def test_who_you_are_comes_before_what_you_say(gateway, token):
    headers = {"authorization": token} if token else {}
    for body in [{"text": TEXT}, {"text": 7}, "{"]:
        answer = gateway.call("POST", "/v1/redact", body, headers)
        assert envelope(answer, 401, "Unauthorized") is None
        assert answer.json()["summary"] == "Not authorized to access this resource"


FAULTY = [
    ({}, [("/text", "FieldRequired")]),
    ({"text": 7}, [("/text", "InvalidString")]),
    ({"text": None}, [("/text", "InvalidNull")]),
    (
        {"debug": "yes", "rules": ["US_SSN", 3], "return_result": 1, "more": 0},
        [
            ("/debug", "InvalidBool"),
            ("/more", "UnexpectedProperty"),
            ("/return_result", "InvalidBool"),
            ("/rules/1", "InvalidString"),
            ("/text", "FieldRequired"),
        ],
    ),
    ([], [("", "InvalidObject")]),
    ('{"text":', [("", "BadFormat")]),
    ('{"text":"a","text":"b"}', [("/text", "BadFormat")]),
    (b'{"text":"\xff"}', [("", "BadFormat")]),
    ('{"text":"a\\ud800"}', [("/text", "BadFormat")]),
    ('{"text":"a","allow_list":["\\udfff"]}', [("/allow_list/0", "BadFormat")]),
    ('{"text":1e400}', [("/text", "NotWithinRange")]),
]


@pytest.mark.parametrize("body, want", FAULTY, ids=[str(body)[:30] for body, _ in FAULTY])
def test_all_faults_at_once(gateway, body, want):
    assert faults(gateway.api("/v1/redact", body)) == want


def test_nothing_there(gateway):
    assert envelope(gateway.call("GET", "/nowhere"), 404, "NotFound") is None


def test_another_method(gateway):
    answer = gateway.call("GET", "/v1/redact", headers={"authorization": "Bearer " + gateway.token})
    assert envelope(answer, 405, "MethodNotAllowed") is None
    assert "POST" in answer.headers["allow"]


def test_too_large_by_its_length(gateway):
    """The head is enough to know: nobody has to send the body first."""
    head = b"POST /v1/redact HTTP/1.1\r\nhost: a\r\nauthorization: Bearer %s\r\ncontent-type: application/json\r\n"
    answer = raw(gateway, head % gateway.token.encode() + b"content-length: 2097153\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ") and b"connection: close" in head.lower()
    assert json.loads(body)["result"]["errors"][0]["code"] == "IsTooBig"


def test_too_large_without_a_length(gateway):
    body = json.dumps({"text": "x" * (2 << 20)}).encode()
    try:
        answer = gateway.api("/v1/redact", (body[at : at + 65536] for at in range(0, len(body), 65536)))
    except ConnectionError:
        return  # It may hang up on a caller that goes on sending.
    assert faults(answer, 413) == [("", "IsTooBig")]


def test_another_media_type(gateway):
    answer = gateway.api("/v1/redact", "<text/>", **{"content-type": "application/xml"})
    envelope(answer, 415, "UnsupportedMediaType")
    answer = gateway.api("/v1/redact", json.dumps({"text": TEXT}), **{"content-type": "application/json; charset=utf-8"})
    assert envelope(answer, 200, "success")["count"] == 2
    answer = gateway.api("/v1/redact", json.dumps({"text": TEXT}))
    assert envelope(answer, 200, "success")["count"] == 2, "a body without a type is taken for JSON"


def test_large_head(gateway):
    answer = gateway.call("GET", "/healthz", headers={"x-padding": "x" * 20000})
    assert answer.status == 431


def raw(gateway, data):
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=10) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HELLO\r\n\r\n",
        b"POST /v1/redact HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}",
        b"POST /v1/redact HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n{}",
        b"GET /healthz HTTP/1.1\r\n\r\n",
    ],
    ids=["tls", "not_http", "two_lengths", "strange_coding", "no_host"],
)
def test_what_is_not_http_is_refused(gateway, data):
    answer = raw(gateway, data)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:80]
    assert gateway.call("GET", "/healthz").status == 200


@pytest.mark.parametrize("listener", ["port", "admin"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes(gateway, path, listener):
    assert gateway.call("GET", path, port=getattr(gateway, listener)).status == 200


def test_metrics_are_not_for_everybody(gateway):
    assert gateway.call("GET", "/metrics").status == 404


def number(metrics, name):
    """The sum of a metric's samples whose line begins so."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in metrics.splitlines() if line.startswith(name))


def test_metrics_count_and_do_not_tell(gateway):
    before = gateway.metrics()
    gateway.api("/v1/redact", {"text": TEXT})
    gateway.call("POST", "/generic/reflect", {"text": TEXT})
    grown = lambda name: number(gateway.metrics(), name) - number(before, name)
    # A request is counted when it is over, which its caller may learn first.
    gateway.wait_for(lambda: grown('portcullis_requests_total{route="/v1/redact",status="2xx"}') == 1)
    gateway.wait_for(lambda: grown('portcullis_requests_total{route="generic",status="2xx"}') == 1)
    assert grown('portcullis_request_duration_seconds_count{route="generic"}') == 1
    assert grown('portcullis_findings_total{direction="request",rule="EMAIL_ADDRESS"}') == 2
    assert grown("portcullis_scanned_bytes_total") > len(TEXT)
    after = gateway.metrics()
    assert "portcullis_held_back_bytes_bucket" in after and "portcullis_upstream_errors_total" in after
    # Four digits of a card may be a number's.
    assert not [told for told in ("jane.doe", "4111 1111", "41111111", gateway.token) if told in after]


def test_the_log_names_the_request_and_tells_nothing(gateway):
    secret = "anna.quiet@harbour-post.com"
    ids = [
        gateway.api("/v1/redact", {"text": secret}).headers["x-request-id"],
        gateway.api("/v1/redact", {"text": {"a": secret}, secret: 1}).headers["x-request-id"],
    ]
    gateway.call("POST", "/generic/reflect?to=" + secret, {"text": secret}, {"x-secret": secret})
    gateway.call(secret.upper(), "/" + secret)
    tells = lambda id: [json.loads(line) for line in gateway.log if id in line]
    gateway.wait_for(lambda: all(map(tells, ids)))
    access = [one for id in ids for one in tells(id)]
    assert [(one["method"], one["status"], one["route"]) for one in access] == [("POST", n, "/v1/redact") for n in (200, 400)]
    assert not [line for line in gateway.log if "quiet" in line.lower() or gateway.token in line]


@pytest.mark.parametrize("body, says", [('{"text":"\\ud800"}', "surrogate"), ('{"data":[1e400]}', "1.8e308")])
def test_what_is_json_and_cannot_be_read_is_not_called_no_json(gateway, body, says):
    path = "/v1/redact" if "text" in body else "/v1/redact_structured"
    (error,) = gateway.api(path, body).json()["result"]["errors"]
    assert says in error["detail"] and "not JSON" not in error["detail"]
