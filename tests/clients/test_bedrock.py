"""Amazon Bedrock by its own client, which checks the sums of every message: what goes there is redacted and signed anew,
what comes back is restored, in each of the service's forms."""

import json

import bedrock_upstream
import boto3
import botocore.config
import botocore.exceptions
import pytest
from bedrock_upstream import INVENTED, Bedrock, Came
from gateway import MINIMAL, Gateway

MAIL = "maria.lopez+rx@clinic-mail.com"
PROMPT = "Write to %s, order 1001." % MAIL
ARN = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3-5-sonnet-20241022-v2:0"

UPSTREAM = """
[upstreams.{name}]
peers = ["{{upstream}}"]
aws = {{{{ region = "eu-west-1", access_key = "AKIDGATEWAY", secret_key = {{{{ file = "secret" }}}}{more} }}}}
"""
ROUTE = """
[[routes]]
name = "{name}"
path = "/{name}"
upstream = "{upstream}"
auth = "{auth}"
{redact}
"""
NOBODY = """
[upstreams.nobody]
peers = ["http://127.0.0.1:{nobody}"]
"""


def route(name, redact="redact = {{}}", upstream="bedrock", auth="none"):
    return ROUTE.format(name=name, upstream=upstream, auth=auth, redact=redact)


CONFIG = (
    MINIMAL
    + UPSTREAM.format(name="bedrock", more="")
    + UPSTREAM.format(name="session", more=', session_token = "session/token=="')
    + NOBODY
    + route("restore")
    + route("mask", 'redact = {{ requests = "mask", answers = "mask" }}')
    + route("generic", 'redact = {{ protocol = "generic" }}')
    + route("plain", "")
    + route("streamed", 'redact = {{ requests = "mask", answers = "off", protocol = "generic" }}')
    + route("token", auth="token", upstream="session")
    + route("nobody", upstream="nobody")
)


@pytest.fixture(scope="module")
def service():
    with Bedrock() as running:
        yield running


@pytest.fixture(scope="module")
def gateway(service, tmp_path_factory):
    with WithSecret(service.url, CONFIG) as running:
        yield running


class WithSecret(Gateway):
    """A gateway whose keys lie in a file beside its configuration."""

    def start(self, **how):
        (self.home / "secret").write_text("hunter2\n")
        super().start(**how)


@pytest.fixture(autouse=True)
def forget(service):
    service.came.clear()
    service.sent.clear()


def client(gateway, name="restore", **keys):
    keys = {"aws_access_key_id": "AKIDCALLER", "aws_secret_access_key": "the caller's"} | keys
    url = "%s/%s" % (gateway.url, name)
    config = botocore.config.Config(retries={"total_max_attempts": 1}, read_timeout=20)
    return boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config, **keys)


def ask(text=PROMPT):
    return [{"role": "user", "content": [{"text": text}]}]


def claude(text=PROMPT):
    body = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
    return json.dumps(body)


def surrogate(service):
    """What stood upstream for the address."""
    [came] = service.came
    text = bedrock_upstream.said(json.loads(came.body))
    assert MAIL not in came.body.decode() and text.startswith("Write to ") and text.endswith(", order 1001.")
    return text.removeprefix("Write to ").removesuffix(", order 1001.")


def heard(stream):
    """The texts of a stream by channel, and the events that are none."""
    texts, others = {}, []
    for event in stream:
        match event:
            case {"contentBlockDelta": {"contentBlockIndex": block, "delta": {"text": text}}}:
                texts[block, "text"] = texts.get((block, "text"), "") + text
            case {"contentBlockDelta": {"contentBlockIndex": block, "delta": {"reasoningContent": {"text": text}}}}:
                texts[block, "thought"] = texts.get((block, "thought"), "") + text
            case {"contentBlockDelta": {"contentBlockIndex": block, "delta": {"toolUse": {"input": text}}}}:
                texts[block, "tool"] = texts.get((block, "tool"), "") + text
            case other:
                others.append(other)
    return texts, others


def test_a_whole_answer_is_restored(gateway, service):
    answer = client(gateway).converse(modelId="plain", messages=ask())
    assert "@" in surrogate(service)
    text, tool = answer["output"]["message"]["content"]
    assert text == {"text": PROMPT} and tool["toolUse"]["input"] == {"to": PROMPT}
    assert (tool["toolUse"]["toolUseId"], answer["usage"]["totalTokens"]) == ("tooluse_7aB9c3Xy", 42)


def test_streamed_blocks_are_restored_each_for_itself(gateway, service):
    texts, others = heard(client(gateway).converse_stream(modelId="plain", messages=ask())["stream"])
    assert "@" in surrogate(service)
    assert texts == {(0, "thought"): PROMPT, (1, "text"): PROMPT, (2, "tool"): json.dumps({"to": PROMPT}).ljust(len(PROMPT))}
    kinds = [list(other)[0] for other in others]
    stop = "contentBlockStop"
    assert kinds == ["messageStart", "contentBlockDelta", stop, "contentBlockStart", stop, stop, "messageStop", "metadata"]
    assert others[1]["contentBlockDelta"]["delta"]["reasoningContent"]["signature"] == bedrock_upstream.SIGNATURE
    assert others[-1]["metadata"]["trace"]["guardrail"]["modelOutput"] == [PROMPT]


def test_messages_that_do_not_change_are_the_same_bytes(gateway, service):
    headers = {"content-type": "application/json", "authorization": "Bearer key"}
    answer = gateway.call("POST", "/restore/model/plain/converse-stream", json.dumps({"messages": ask()}), headers)
    assert answer.headers["content-type"] == "application/vnd.amazon.eventstream"
    # A text may be cut elsewhere.
    others = lambda body: [one for one in bedrock_upstream.messages(body) if b"contentBlockDelta" not in one[0]]
    value = json.loads(service.came[-1].body)["messages"][0]["content"][0]["text"].split()[2].rstrip(",")
    back = lambda row: (row[0], row[1].replace(value.encode(), MAIL.encode()))
    assert others(answer.body) == [back(row) for row in others(service.sent[0])]


def test_what_a_model_takes_and_says_itself_is_known_too(gateway, service):
    # The client sends no content type unless it is told to.
    answer = client(gateway).invoke_model(modelId="plain", body=claude())
    assert "@" in surrogate(service)
    assert json.loads(answer["body"].read())["content"] == [{"type": "text", "text": PROMPT}]
    stream = client(gateway).invoke_model_with_response_stream(modelId="plain", body=claude())["body"]
    events = [json.loads(event["chunk"]["bytes"]) for event in stream]
    deltas = [event["delta"]["text"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(deltas) == PROMPT
    # What is held leaves before its block ends.
    assert [event["type"] for event in events][-2:] == ["content_block_stop", "message_stop"]


def test_an_answer_is_masked_where_the_route_says_so(gateway, service):
    bedrock = client(gateway, "mask")
    hidden = "*" * len(MAIL)
    texts, _ = heard(bedrock.converse_stream(modelId="plain", messages=ask())["stream"])
    assert MAIL not in service.came[0].body.decode() and texts[1, "text"] == PROMPT.replace(MAIL, hidden)


def test_what_a_model_invents_is_masked_beside_what_is_restored(gateway, service):
    wanted = PROMPT + " And to %s." % ("*" * len(INVENTED))
    texts, _ = heard(client(gateway).converse_stream(modelId="invents", messages=ask())["stream"])
    assert texts[0, "thought"] == texts[1, "text"] == wanted and json.loads(texts[2, "tool"]) == {"to": wanted}
    stream = client(gateway).invoke_model_with_response_stream(modelId="invents", body=claude())["body"]
    events = [json.loads(event["chunk"]["bytes"]) for event in stream]
    assert "".join(event["delta"]["text"] for event in events if "delta" in event) == wanted


def test_what_tools_of_the_service_wrote_is_restored_and_masked(gateway, service):
    said, documents, ended = "", [], False
    for event in client(gateway).converse_stream(modelId="results", messages=ask())["stream"]:
        ended |= "contentBlockStop" in event
        for one in event.get("contentBlockDelta", {}).get("delta", {}).get("toolResult", []):
            assert not ended, "nothing comes behind its end"
            said += one.get("text", "")
            documents += [one["json"]] if "json" in one else []
    want = PROMPT + " And to %s." % ("*" * len(INVENTED))
    assert "@" in surrogate(service) and said == want and documents == [{"to": want}]


def test_a_signed_thought_goes_back_as_it_was_signed(gateway, service):
    """Though the caller does not see what the model has invented in it."""
    bedrock, text, signature = client(gateway), "", ""
    for event in bedrock.converse_stream(modelId="invents", messages=ask())["stream"]:
        thought = event.get("contentBlockDelta", {}).get("delta", {}).get("reasoningContent", {})
        text, signature = text + thought.get("text", ""), signature + thought.get("signature", "")
    assert INVENTED not in text
    thought = {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}
    turns = [*ask(), {"role": "assistant", "content": [thought]}, *ask("And now?")]
    bedrock.converse(modelId="plain", messages=turns)
    first, second = (json.loads(came.body)["messages"] for came in service.came)
    [sent] = second[1]["content"]
    signed = {"text": first[0]["content"][0]["text"] + " And to %s." % INVENTED, "signature": bedrock_upstream.SIGNATURE}
    assert sent == {"reasoningContent": {"reasoningText": signed}} and first[0] == second[0]


@pytest.mark.parametrize("call", ["converse", "converse_stream"])
def test_errors_quote_the_caller_and_keep_their_names(gateway, service, call):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        getattr(client(gateway), call)(modelId="error", messages=ask())
    error = caught.value.response
    assert (error["Error"]["Code"], error["ResponseMetadata"]["HTTPStatusCode"]) == ("ThrottlingException", 429)
    assert error["Error"]["Message"] == "Too busy for " + PROMPT


def until_error(stream):
    """The text before a stream fails, and how it does."""
    text = ""
    try:
        for event in stream:
            text += event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
    except Exception as error:  # Which it is, is what is looked at.
        return text, error
    return text, None


def test_an_exception_in_a_stream_comes_behind_what_was_held(gateway, service):
    stream = client(gateway).converse_stream(modelId="exception", messages=ask())["stream"]
    text, error = until_error(stream)
    value = surrogate(service)
    # A part of a value is not restored, and not withheld.
    assert text == "Write to " + value[: value.index("@") + 3]
    assert isinstance(error, botocore.exceptions.EventStreamError)
    assert error.response["Error"] == {"Code": "modelStreamErrorException", "Message": "lost at " + PROMPT}


def test_a_stream_that_breaks_off_is_an_error(gateway, service):
    _, error = until_error(client(gateway).converse_stream(modelId="cut", messages=ask())["stream"])
    assert isinstance(error, botocore.exceptions.EventStreamError)
    assert error.response["Error"]["Code"] == "modelStreamErrorException"


def test_our_own_refusals_are_exceptions_of_the_service(gateway, service):
    def refused(name):
        with pytest.raises(botocore.exceptions.ClientError) as caught:
            client(gateway, name).converse(modelId="plain", messages=ask())
        error = caught.value.response
        return error["ResponseMetadata"]["HTTPStatusCode"], error["Error"]["Code"], error["ResponseMetadata"]["RequestId"]

    status, code, id = refused("token")
    assert (status, code) == (401, "UnrecognizedClientException") and id.startswith("prq_")
    assert refused("nobody")[:2] == (502, "ModelErrorException")
    assert not service.came


# A model's id, and its path as the client encodes it.
@pytest.mark.parametrize("model", ["plain", ARN, "plain-v1:0", "plain-é%2F+"])
def test_requests_are_signed_with_the_gateways_keys(gateway, service, model):
    client(gateway, aws_session_token="the caller's own").converse(modelId=model, messages=ask())
    [came] = service.came
    assert came.signed("AKIDGATEWAY", "hunter2"), came.headers
    for other in [Came(came.path, came.headers, came.body + b" "), Came(came.path + "x", came.headers, came.body)]:
        assert not other.signed("AKIDGATEWAY", "hunter2"), "a signature that fits anything"
    assert "/eu-west-1/bedrock/" in came.headers["authorization"]
    assert "AKIDCALLER" not in str(came.headers) and "x-amz-security-token" not in came.headers
    assert came.path.count("/") == 4, "an encoded slash separates nothing"


def test_who_may_use_the_route_needs_no_keys(gateway, service):
    headers = {"content-type": "application/json", "authorization": "Bearer " + gateway.token}
    answer = gateway.call("POST", "/token/model/plain/converse", {"messages": ask()}, headers)
    [came] = service.came
    assert answer.status == 200 and came.signed("AKIDGATEWAY", "hunter2")
    assert came.headers["x-amz-security-token"] == "session/token==" and gateway.token not in str(came.headers)


def test_the_client_comes_in_with_our_token_beside_its_signature(gateway, service):
    bedrock = client(gateway, "token")
    show = lambda request, **_: request.headers.add_header("x-api-key", gateway.token)
    bedrock.meta.events.register("before-sign.bedrock-runtime", show)
    answer = bedrock.converse(modelId="plain", messages=ask())
    [came] = service.came
    assert answer["output"]["message"]["content"][0]["text"] == PROMPT
    assert came.signed("AKIDGATEWAY", "hunter2") and gateway.token not in str(came.headers)


@pytest.mark.parametrize("name", ["plain", "streamed", "generic"])
def test_bodies_that_would_pass_as_they_come_are_signed_whole(gateway, service, name):
    """Also chunked ones, whose length nobody knows before their end."""
    body = json.dumps({"messages": ask()}).encode()
    headers = {"content-type": "application/json"}
    answer = gateway.call("POST", "/%s/model/plain/converse" % name, iter([body[:20], body[20:]]), headers)
    [came] = service.came
    assert answer.status == 200 and came.signed("AKIDGATEWAY", "hunter2")
    assert (MAIL in came.body.decode()) == (name == "plain")


def test_a_bearer_token_is_not_replaced(gateway, service):
    headers = {"content-type": "application/json", "authorization": "Bearer bedrock-api-key-x"}
    assert gateway.call("POST", "/restore/model/plain/converse", {"messages": ask()}, headers).status == 200
    [came] = service.came
    assert came.headers["authorization"] == "Bearer bedrock-api-key-x" and "x-amz-date" not in came.headers


# Variables of the gateway's process; who has signed; and by whom the upstream sees it signed.
@pytest.mark.parametrize(
    ("keys", "signs", "by"),
    [(True, True, "AKIDENV"), (True, False, None), (False, True, "AKIDCALLER")],
    ids=["with keys", "not signed", "without keys"],
)
def test_keys_of_the_environment_sign_what_callers_have_signed(service, monkeypatch, keys, signs, by):
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]:
        monkeypatch.delenv(name, raising=False)
    if keys:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-environment")
    plain = MINIMAL + '\n[upstreams.bedrock]\npeers = ["{upstream}"]\n' + route("restore")
    with Gateway(service.url, plain) as running:
        if signs:
            client(running).converse(modelId="plain", messages=ask())
        else:
            running.call("POST", "/restore/model/plain/converse", {"messages": ask()})
    [came] = service.came
    authorization = came.headers.get("authorization")
    assert by in authorization if by else authorization is None
    assert came.signed("AKIDENV", "secret-of-the-environment") == (by == "AKIDENV")
    assert "/us-east-1/bedrock/" in (authorization or "/us-east-1/bedrock/"), "the region that the caller has signed for"
