"""A route puts another prefix in the place of its own: by whole segments, with all else as it was, and back again in URLs."""

import json

import openai
import pytest
from gateway import MINIMAL, Gateway
from test_paths import ask

MAIL = "jane.doe@harbour-post.com"

CONFIG = (
    MINIMAL
    + """
[[listen]]
address = "127.0.0.1:{h2c}"
h2c = true

[upstreams.mock]
peers = ["{upstream}"]
base = "/tenant"

[[routes]]
name = "one"
path = "/v1"
upstream = "mock"
auth = "none"
redact = {{ requests = "mask", answers = "mask" }}
public_url = "https://gate.test/portal"
replace_prefix = "/v2"

[[routes]]
name = "deep"
path = "/a/b/"
upstream = "mock"
auth = "none"
replace_prefix = "/x%2Fy/z"

[[routes]]
name = "llm"
path = "/llm"
upstream = "mock"
auth = "none"
redact = {{}}
replace_prefix = "/api/v1"

[[routes]]
name = "rest"
path = "/"
upstream = "mock"
auth = "none"
replace_prefix = "/rest"
"""
)


@pytest.fixture(scope="module")
def gate(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("/v1/models", "/v2/models"),
        ("/v1", "/v2"),
        ("/v1/", "/v2/"),
        ("/v1/v1/x", "/v2/v1/x"),
        ("/v1x", "/rest/v1x"),
        ("/%76%31/x", "/v2/x"),
        ("//v1//x/../y", "/v2/y"),
        ("/v1/a%2Fb%3Fc/%C3%A9;v=1?d=/v1/e&%2e=%zz", "/v2/a%2Fb%3Fc/%C3%A9;v=1?d=/v1/e&%2e=%zz"),
        ("/v1?/v1/x", "/v2?/v1/x"),
        ("http://gateway.test/v1/x?y", "/v2/x?y"),
        ("/a/b/c", "/x%2Fy/z/c"),
        ("/a/b", "/rest/a/b"),
        ("/", "/rest/"),
    ],
)
def test_a_prefix_is_replaced_by_whole_segments(gate, mock, target, sent):
    ask(gate, target)
    assert [came.path for came in mock.requests] == ["/tenant" + sent]


@pytest.mark.parametrize("target", ["/v1/../../x", "/v1/..%2fx", "/v1/%2e%2e/%2e%2e/x", "/v1%2Fx"])
def test_its_prefix_is_not_left(gate, mock, target):
    status = ask(gate, target)
    assert status == 400 and not mock.requests


def test_urls_of_the_upstream_lead_back(gate, mock):
    rows = [
        ("location", "/tenant/v2/x?y=/v2/z", "/portal/v1/x?y=/v2/z"),
        ("location", "{upstream}/tenant/v2/x", "https://gate.test/portal/v1/x"),
        ("location", "{upstream}/tenant/login", "https://gate.test/portal/login"),
        ("location", "https://elsewhere.test/v2/x", "https://elsewhere.test/v2/x"),
        ("operation-location", "https://provider.test/v2/jobs/1", "https://gate.test/portal/v1/jobs/1"),
        ("x-goog-upload-url", "https://provider.test/upload/v2/f?id=1", "https://gate.test/portal/upload/v2/f?id=1"),
    ]
    for name, told, want in rows:
        mock.fields.clear()
        mock.fields[name] = told.format(upstream=gate.upstream)
        assert gate.call("GET", "/v1/reflect").headers[name] == want, told


def test_a_body_is_read_and_what_the_batch_names_leads_back(gate, mock):
    mock.canned["b1"] = (200, "application/json", json.dumps({"results_url": "https://provider.test/v2/r/1"}).encode(), "", 0)
    answer = gate.call("GET", "/v1/messages/batches/b1")
    assert mock.requests[-1].path == "/tenant/v2/messages/batches/b1"
    assert answer.json() == {"results_url": "https://gate.test/portal/v1/r/1"}
    gate.call("POST", "/v1/reflect", {"a": MAIL})
    assert MAIL not in mock.requests[-1].everything()


def test_a_client_finds_its_api_there(gate, mock):
    client = openai.OpenAI(base_url=gate.url + "/llm", api_key="k", max_retries=0)
    said = [{"role": "user", "content": "EMAIL: %s | done" % MAIL}]
    stream = client.chat.completions.create(model="plain", messages=said, stream=True)
    text = "".join(event.choices[0].delta.content or "" for event in stream if event.choices)
    assert MAIL in text and mock.requests[-1].path == "/tenant/api/v1/chat/completions"
    assert MAIL not in mock.requests[-1].everything()
