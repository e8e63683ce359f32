"""Keys of AWS for tokens: boto3 signs with a pair that stands for a token of the gateway's, is bound as that token is, and what goes to
Bedrock is signed anew with the gateway's own keys. Whatever does not fit the signature leaves nothing."""

import datetime
import hashlib
import http.client
import json
import time
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.exceptions
import pytest
from bedrock_upstream import Bedrock
from gateway import MINIMAL, run
from test_bedrock import MAIL, PROMPT, UPSTREAM, WithSecret, ask, claude, client, heard, route, surrogate

GUARDRAIL = """
[[routes]]
name = "door"
path = "/door"
endpoint = "presidio"
auth = "token"
"""
CONFIG = (
    MINIMAL
    + UPSTREAM.format(name="bedrock", more="")
    + """
[upstreams.unsigned]
peers = ["{upstream}"]
"""
    + route("bedrock", auth="token")
    + route("other", auth="token")
    + route("plain", "", auth="token")
    + route("unsigned", "", auth="token", upstream="unsigned")
    + route("open", "")
    + GUARDRAIL
)


@pytest.fixture(scope="module")
def service():
    with Bedrock() as running:
        yield running


@pytest.fixture(scope="module")
def gate(service):
    with WithSecret(service.url, CONFIG) as running:
        yield running
        log = "\n".join(running.log)
        assert "AWS_SECRET" not in log and not [secret for secret in SECRETS if secret in log]


SECRETS = []


@pytest.fixture(autouse=True)
def forget(service):
    service.came.clear()
    service.sent.clear()


def tokens(gate, *args):
    done = run("tokens", args[0], "-c", gate.file, *args[1:])
    assert done.returncode == 0, done.err
    return done.out.strip()


def named(gate, name):
    """The id of a token."""
    [row] = [row.split("\t") for row in tokens(gate, "list").splitlines() if row.split("\t")[1] == name]
    return row[0]


def pair(gate, token):
    """The keys of a token."""
    lines = dict(line.split("=", 1) for line in tokens(gate, "aws", token).splitlines())
    assert list(lines) == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] and lines["AWS_ACCESS_KEY_ID"] == token
    SECRETS.append(lines["AWS_SECRET_ACCESS_KEY"])
    assert len(SECRETS[-1]) == 40
    return {"aws_access_key_id": token, "aws_secret_access_key": SECRETS[-1]}


COUNT = iter(range(1000))


def made(gate, *bounds):
    """A token's id and its keys."""
    name = "aws-%d" % next(COUNT)
    tokens(gate, "create", "--name", name, "--route", "bedrock", *bounds)
    token = named(gate, name)
    return token, pair(gate, token)


@pytest.fixture(scope="module")
def keys(gate):
    return made(gate)[1]


def refused(call, *args, **named):
    """The status and name of the exception that boto3 raises."""
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(*args, **named)
    error = caught.value.response
    return error["ResponseMetadata"]["HTTPStatusCode"], error["Error"]["Code"]


WRONG = (403, "InvalidSignatureException")
UNKNOWN = (401, "UnrecognizedClientException")


def test_all_calls_of_the_client_are_let_in_and_signed_anew(gate, service, keys):
    bedrock = client(gate, "bedrock", **keys)
    answer = bedrock.converse(modelId="plain", messages=ask())
    assert "@" in surrogate(service) and answer["output"]["message"]["content"][0] == {"text": PROMPT}
    texts, _ = heard(bedrock.converse_stream(modelId="plain", messages=ask())["stream"])
    assert texts[1, "text"] == PROMPT
    answer = bedrock.invoke_model(modelId="plain", body=claude())
    assert json.loads(answer["body"].read())["content"] == [{"type": "text", "text": PROMPT}]
    events = bedrock.invoke_model_with_response_stream(modelId="plain", body=claude())["body"]
    deltas = [json.loads(event["chunk"]["bytes"]).get("delta", {}).get("text", "") for event in events]
    assert "".join(deltas) == PROMPT
    # A name with characters that its path must escape.
    arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3-5-sonnet-20241022-v2:0"
    assert bedrock.converse(modelId=arn, messages=ask())["output"]["message"]["content"][0] == {"text": PROMPT}
    for came in service.came:
        assert came.signed("AKIDGATEWAY", "hunter2") and MAIL not in came.body.decode()
        everything = came.path + str(came.headers)
        assert keys["aws_access_key_id"] not in everything and keys["aws_secret_access_key"] not in everything


def test_the_log_and_the_bounds_know_the_token(gate, service):
    token, keys = made(gate, "--model", "plain", "--budget", "2requests/day", "--label", "team=a")
    bedrock = client(gate, "bedrock", **keys)
    assert refused(bedrock.converse, modelId="other", messages=ask())[0] == 403 and not service.came
    bedrock.converse(modelId="plain", messages=ask())
    bedrock.converse(modelId="plain", messages=ask())
    assert refused(bedrock.converse, modelId="plain", messages=ask()) == (429, "ThrottlingException")
    assert len(service.came) == 2
    _, keys = made(gate, "--rate", "1/1h")
    bedrock = client(gate, "bedrock", **keys)
    # Whoever cannot sign uses up nothing.
    stranger = client(gate, "bedrock", **keys | {"aws_secret_access_key": "x" * 40})
    assert [refused(stranger.converse, modelId="plain", messages=ask()) for _ in range(3)] == [WRONG] * 3
    bedrock.converse(modelId="plain", messages=ask())
    assert refused(bedrock.converse, modelId="plain", messages=ask()) == (429, "ThrottlingException")


def test_another_route_is_not_covered(gate, service, keys):
    assert refused(client(gate, "other", **keys).converse, modelId="plain", messages=ask())[0] == 403
    # One whose upstream signs nothing, and one that asks for no token, have no use for them.
    tokens(gate, "create", "--name", "wide")
    wide = pair(gate, named(gate, "wide"))
    assert refused(client(gate, "unsigned", **wide).converse, modelId="plain", messages=ask())[0] == 403
    assert not service.came
    client(gate, "plain", **wide).converse(modelId="plain", messages=ask())
    assert MAIL in service.came[-1].body.decode() and service.came[-1].signed("AKIDGATEWAY", "hunter2")


def test_who_is_not_known_or_no_more_is_refused(gate, service):
    token, keys = made(gate)
    bedrock = client(gate, "bedrock", **keys)
    bedrock.converse(modelId="plain", messages=ask())
    tokens(gate, "revoke", token)
    gate.wait_for(lambda: status(bedrock) == UNKNOWN, 5)
    done = run("tokens", "aws", "-c", gate.file, token)
    assert done.returncode != 0 and "AWS_" not in done.out
    stranger = keys | {"aws_access_key_id": "pti_" + "a" * 32}
    assert status(client(gate, "bedrock", **stranger)) == UNKNOWN
    # An end that has come.
    token, keys = made(gate)
    bedrock = client(gate, "bedrock", **keys)
    soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    tokens(gate, "update", token, "--expires", soon)
    gate.wait_for(lambda: status(bedrock) == UNKNOWN, 10)
    assert refused(client(gate, "bedrock", aws_access_key_id="AKIDCALLER", aws_secret_access_key="x").converse, modelId="plain", messages=ask()) == UNKNOWN


def status(bedrock):
    try:
        bedrock.converse(modelId="plain", messages=ask())
    except botocore.exceptions.ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]


def test_a_rotated_token_has_other_keys_and_the_ones_before_for_their_grace(gate, service):
    token, before = made(gate)
    tokens(gate, "rotate", token, "--grace", "1h")
    after = pair(gate, token)
    assert after != before
    assert status(client(gate, "bedrock", **before)) is status(client(gate, "bedrock", **after)) is None
    tokens(gate, "rotate", token)
    last = pair(gate, token)
    assert status(client(gate, "bedrock", **last)) is None
    # The second had no grace, and the first keeps its hour.
    assert status(client(gate, "bedrock", **after)) == WRONG and status(client(gate, "bedrock", **before)) is None
    tokens(gate, "revoke", token)
    gate.wait_for(lambda: status(client(gate, "bedrock", **before)) == UNKNOWN, 5)
    assert status(client(gate, "bedrock", **last)) == UNKNOWN


def test_the_keys_are_the_same_after_a_restart(gate, service):
    token, keys = made(gate)
    gate.restart()
    assert pair(gate, token) == keys
    assert status(client(gate, "bedrock", **keys)) is None


# ── what does not fit the signature ─────────────────────────────────────────────────────────────────────────────────────


def signed(gate, keys, path="/bedrock/model/plain/converse", body=None, headers=(), at=None, service="bedrock", region="us-east-1"):
    """A request as botocore signs it."""
    body = json.dumps({"messages": ask()}).encode() if body is None else body
    headers = {"content-type": "application/json", **dict(headers)}
    request = botocore.awsrequest.AWSRequest("POST", gate.url + path, headers=headers, data=body)
    credentials = botocore.credentials.Credentials(keys["aws_access_key_id"], keys["aws_secret_access_key"])
    signer = botocore.auth.SigV4Auth(credentials, service, region)
    if at:
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=at)
        request.context["timestamp"] = at.strftime("%Y%m%dT%H%M%SZ")
        del request.headers["x-amz-date"]
        request.headers["X-Amz-Date"] = request.context["timestamp"]
        signer._modify_request_before_signing(request)
        request.headers.replace_header("X-Amz-Date", request.context["timestamp"])
        canonical = signer.canonical_request(request)
        signer._inject_signature_to_request(request, signer.signature(signer.string_to_sign(request, canonical), request))
    else:
        signer.add_auth(request)
    return path, dict(request.headers.items()), body


def send(gate, path, headers, body, method="POST"):
    """Exactly this; the status, the exception and what is said."""
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
    connection.putrequest(method, path, skip_host="host" in {name.lower() for name in headers}, skip_accept_encoding=True)
    for name, value in headers.items():
        for one in [value] if isinstance(value, str) else value:
            connection.putheader(name, one)
    if "content-length" not in {name.lower() for name in headers}:
        connection.putheader("content-length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    told = answer.read().decode()
    connection.close()
    return answer.status, answer.headers.get("x-amzn-errortype"), told


def test_what_is_signed_passes_as_it_was_signed(gate, service, keys):
    for more in [{}, {"at": -290}, {"at": 290}, {"region": "ap-southeast-2"}, {"body": b'{"messages":[{"role":"user","content":[{"text":"x"}]}]}'}]:
        assert send(gate, *signed(gate, keys, **more))[0] == 200, more
    digest = hashlib.sha256(json.dumps({"messages": ask()}).encode()).hexdigest()
    assert send(gate, *signed(gate, keys, headers={"x-amz-content-sha256": digest}))[0] == 200
    assert send(gate, *signed(gate, keys, headers={"x-amzn-bedrock-trace": "ENABLED", "x-note": "a   b"}))[0] == 200
    assert send(gate, *signed(gate, keys, path="/bedrock/model/plain/converse?b=2&a=1%20x"))[0] == 200
    big = json.dumps({"messages": [{"role": "user", "content": [{"text": "order 1001 " * 100_000}]}]}).encode()
    assert send(gate, *signed(gate, keys, body=big))[0] == 200
    assert all(came.signed("AKIDGATEWAY", "hunter2") for came in service.came)


def change(headers, **changes):
    """Headers changed by name; None takes one away."""
    changes = {name.replace("_", "-"): value for name, value in changes.items()}
    kept = {name: value for name, value in headers.items() if name.lower() not in changes}
    return kept | {name: value for name, value in changes.items() if value is not None}


def authorization(headers):
    return next(value for name, value in headers.items() if name.lower() == "authorization")


def flipped(headers):
    value = authorization(headers)
    return value[:-1] + ("0" if value[-1] != "0" else "1")


TAMPERED = {
    "body": lambda p, h, b: (p, h, b.replace(b"1001", b"1002")),
    "no body": lambda p, h, b: (p, h, b""),
    "longer body": lambda p, h, b: (p, h, b + b" "),
    "path": lambda p, h, b: (p.replace("plain", "other"), h, b),
    "call": lambda p, h, b: (p + "-stream", h, b),
    "query": lambda p, h, b: (p + "?a=1", h, b),
    "content type": lambda p, h, b: (p, change(h, content_type="application/json; charset=utf-8"), b),
    "host": lambda p, h, b: (p, change(h, host="bedrock-runtime.us-east-1.amazonaws.com"), b),
    "date": lambda p, h, b: (p, change(h, x_amz_date=h["X-Amz-Date"][:-2] + ("0Z" if h["X-Amz-Date"][-2] != "0" else "1Z")), b),
    "two dates": lambda p, h, b: (p, change(h, x_amz_date=[h["X-Amz-Date"]] * 2), b),
    "no date": lambda p, h, b: (p, change(h, x_amz_date=None), b),
    "another day": lambda p, h, b: (p, change(h, x_amz_date="20150830T123600Z"), b),
    "signature": lambda p, h, b: (p, change(h, authorization=flipped(h)), b),
    "no signature": lambda p, h, b: (p, change(h, authorization=authorization(h).split(", Signature")[0]), b),
    "two signatures": lambda p, h, b: (p, change(h, authorization=[authorization(h)] * 2), b),
    "another region": lambda p, h, b: (p, change(h, authorization=authorization(h).replace("us-east-1", "us-east-2")), b),
    "a header more": lambda p, h, b: (p, h | {"x-amz-target": "x"}, b),
    "a guardrail more": lambda p, h, b: (p, h | {"x-amzn-bedrock-guardrailidentifier": "x"}, b),
    "a session": lambda p, h, b: (p, h | {"x-amz-security-token": "x"}, b),
    "fewer signed": lambda p, h, b: (p, change(h, authorization=authorization(h).replace("host;", "")), b),
    "none signed": lambda p, h, b: (p, change(h, authorization=authorization(h).replace("content-type;host;x-amz-date", "content-type")), b),
    "unsigned payload": lambda p, h, b: (p, h | {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}, b),
    "coded": lambda p, h, b: (p, h | {"content-encoding": "gzip"}, b),
    "another method": lambda p, h, b: (p, change(h, authorization=authorization(h).replace("HMAC-SHA256", "ECDSA-P256-SHA256")), b),
    "capitals": lambda p, h, b: (p, change(h, authorization=authorization(h).replace("AWS4-HMAC", "aws4-hmac")), b),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_what_was_changed_on_its_way_goes_nowhere(gate, service, keys, how):
    got = send(gate, *TAMPERED[how](*signed(gate, keys)))
    assert got[:2] == WRONG, got
    assert json.loads(got[2])["message"] and keys["aws_secret_access_key"] not in got[2] and not service.came


@pytest.mark.parametrize("at", [-320, 320, -86_400, 86_400])
def test_what_is_not_of_now_goes_nowhere(gate, service, keys, at):
    got = send(gate, *signed(gate, keys, at=at))
    assert got[:2] == WRONG and "5 minutes" in got[2] and not service.came


def test_what_is_signed_for_something_else_goes_nowhere(gate, service, keys):
    path, headers, body = signed(gate, keys, service="sts")
    assert send(gate, path, headers, body)[:2] == WRONG
    for digest in ["UNSIGNED-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "0" * 64, ""]:
        got = send(gate, *signed(gate, keys, headers={"x-amz-content-sha256": digest}))
        assert got[:2] == WRONG, (digest, got)
    assert send(gate, *signed(gate, keys, headers={"x-amz-security-token": "x"}))[:2] == WRONG
    # A presigned URL is the caller's for whoever has it.
    request = botocore.awsrequest.AWSRequest("POST", gate.url + "/bedrock/model/plain/converse", data=b"{}")
    credentials = botocore.credentials.Credentials(keys["aws_access_key_id"], keys["aws_secret_access_key"])
    botocore.auth.SigV4QueryAuth(credentials, "bedrock", "us-east-1").add_auth(request)
    got = send(gate, urllib.parse.urlsplit(request.url)._replace(scheme="", netloc="").geturl(), {"content-type": "application/json"}, b"{}")
    assert got[:2] == WRONG and "presigned" in got[2]
    assert not service.came


def test_two_ways_to_say_who_one_is_are_one_too_many(gate, service, keys):
    path, headers, body = signed(gate, keys)
    got = send(gate, path, headers | {"x-api-key": gate.token}, body)
    assert got[0] == 400 and not service.came
    # A route of no upstream takes none.
    path, headers, body = signed(gate, keys, path="/door/analyze", body=b'{"text":"x","language":"en"}')
    assert send(gate, path, headers, body)[0] in (401, 403)
    # Our own endpoints take tokens as they are.
    path, headers, body = signed(gate, keys, path="/v1/redact", body=b'{"text":"x"}')
    assert send(gate, path, headers, body)[0] == 401


def test_the_same_path_in_another_spelling_is_not_what_was_signed_unless_it_is_its_normal_form(gate, service, keys):
    path, headers, body = signed(gate, keys)
    assert send(gate, path.replace("plain", "pl%61in"), headers, body)[0] == 200, "it goes on as it was signed"
    assert service.came[-1].path == "/bedrock/model/plain/converse"
    path, headers, body = signed(gate, keys, path="/bedrock/model/pl%61in/converse")
    assert send(gate, path, headers, body)[:2] == WRONG


def test_a_slow_body_is_awaited_and_a_broken_one_goes_nowhere(gate, service, keys):
    path, headers, body = signed(gate, keys)
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
    connection.putrequest("POST", path, skip_host="host" in {name.lower() for name in headers})
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.putheader("content-length", str(len(body)))
    connection.endheaders(body[:10])
    time.sleep(0.3)
    connection.send(body[10:])
    assert connection.getresponse().status == 200
    connection.close()
    service.came.clear()
    # Chunked, as clients send what they stream.
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
    pieces = iter([body[:7], body[7:]])
    connection.request("POST", path, pieces, headers | {"transfer-encoding": "chunked"}, encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
    connection.putrequest("POST", path)
    for name, value in (headers | {"content-length": str(len(body))}).items():
        connection.putheader(name, value)
    connection.endheaders(body[:10])
    time.sleep(0.1)
    connection.close()
    time.sleep(0.3)
    assert len(service.came) == 1


def test_a_body_over_the_limit_is_refused_before_it_is_read(gate, service, keys):
    path, headers, body = signed(gate, keys)
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
    connection.putrequest("POST", path)
    for name, value in (headers | {"content-length": str(1 << 40)}).items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413 and not service.came
