"""The API's description against the running server: every endpoint, with generated requests, good and bad."""

import json
import os
import subprocess
import sys

from gateway import BINARY, Gateway

# Requests for each endpoint and phase; more in a longer run.
EXAMPLES = os.environ.get("PORTCULLIS_EXAMPLES", "30" if os.environ.get("PORTCULLIS_ALL") else "5")

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "ignored_auth",
]


def test_the_document_is_served_without_a_token_and_printed(gateway):
    answer = gateway.call("GET", "/openapi.json")
    assert answer.status == 200 and answer.headers["content-type"] == "application/json"
    served = json.loads(answer.body)
    printed = json.loads(subprocess.run([BINARY, "openapi"], check=True, capture_output=True).stdout)
    # No [jwks] here.
    del printed["paths"]["/.well-known/jwks.json"]
    assert served == printed
    assert served["openapi"] == "3.1.0" and len(served["paths"]) > 40


def test_it_is_off_with_the_api(mock, upstream):
    config = """
data = "data"
[[listen]]
address = "127.0.0.1:{port}"
[admin]
address = "127.0.0.1:{admin}"
[api]
enabled = false
[[routes]]
name = "all"
path = "/only"
respond = {{ status = 204 }}
auth = "none"
"""
    with Gateway(upstream.url, config=config) as running:
        assert running.call("GET", "/openapi.json").status == 404


def local(document):
    """The same without the member that makes the gateway ask other machines."""
    call = document["paths"]["/v1/sanitize"]["post"]["requestBody"]["content"]["application/json"]
    del call["schema"]["properties"]["source_url"]
    call["schema"]["properties"]["transfer_method"]["enum"].remove("source-url")
    return document


def test_generated_requests_find_no_fault(upstream, tmp_path):
    with Gateway(upstream.url) as running:
        document = tmp_path / "openapi.json"
        document.write_text(json.dumps(local(json.loads(running.call("GET", "/openapi.json").body))))
        command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", document, "--url", running.url]
        command += ["--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing"]
        command += ["--max-examples", EXAMPLES, "--seed", "7", "--generation-deterministic"]
        command += ["--request-timeout", "30", "--no-color"]
        command += ["--header", "Authorization: Bearer " + running.token, "--suppress-health-check", "all"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1500)
        assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
        assert running.process.poll() is None
        assert not [line for line in running.log if '"portcullis::panic"' in line or "internal error" in line]
