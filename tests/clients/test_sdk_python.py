"""The redaction API through the public Python SDK, as it is: what it sends is understood, what it gets it accepts."""

import asyncio
import json
import re
import subprocess

import pangea.exceptions
import pytest
from gateway import ROOT, environment, run
from pangea import PangeaConfig, PangeaResponseResult
from pangea.asyncio.services import RedactAsync
from pangea.services import Redact
from pangea.services.redact import (
    FPEAlphabet,
    MaskingType,
    PartialMasking,
    RedactionMethodOverrides,
    RedactResult,
    RedactType,
    StructuredResult,
    VaultParameters,
)

MAIL, CARD = "jane.doe@harbour-post.com", "4111 1111 1111 1111"
TEXT = f"Mail {MAIL} or card {CARD}"


@pytest.fixture(scope="module")
def config(gateway):
    return PangeaConfig(base_url_template=gateway.url, request_retries=0)


@pytest.fixture(scope="module")
def redact(gateway, config):
    return Redact(gateway.token, config=config)


def post(redact, path, body, kind=PangeaResponseResult):
    """What the SDK has no method for, on its own connection and through its own envelope."""
    response = redact.request.post(path, kind, data=body)
    assert response.status == "Success"
    return response.result if kind is not PangeaResponseResult else response.raw_result


def method(kind, **more):
    return RedactionMethodOverrides(redaction_type=kind, **more)


def text(redact, *, rules=("EMAIL_ADDRESS",), **more):
    response = redact.redact(TEXT, rules=list(rules), **more)
    assert response.status == "Success"
    return response.result


def test_defaults(redact):
    result = redact.redact(TEXT).result
    assert (result.redacted_text, result.count) == ("Mail <EMAIL_ADDRESS> or card <CREDIT_CARD>", 2)
    assert result.fpe_context is None and result.report is None


def test_report(redact):
    result = text(redact, debug=True)
    [found] = result.report.recognizer_results
    assert (found.field_type, found.text, found.start, found.end, found.redacted) == ("EMAIL_ADDRESS", MAIL, 5, 30, True)
    assert result.report.summary_counts == {"EMAIL_ADDRESS": 1}
    assert text(redact, return_result=False).redacted_text is None


@pytest.mark.parametrize(
    ("chosen", "becomes"),
    [
        (method(RedactType.MASK), re.escape("*" * len(MAIL))),
        (method(RedactType.REPLACEMENT, redaction_value="[mail]"), r"\[mail\]"),
        (method(RedactType.HASH, hash={"hash_type": "sha256"}), "[0-9a-f]{64}"),
        (method(RedactType.HASH, hash={"hash_type": "md5"}), "[0-9a-f]{32}"),
        (method(RedactType.DETECT_ONLY), re.escape(MAIL)),
        (
            method(
                RedactType.PARTIAL_MASKING,
                partial_masking=PartialMasking(
                    masking_type=MaskingType.UNMASK, unmasked_from_left=2, masking_char=["#"], chars_to_ignore=["@", "."]
                ),
            ),
            r"ja##\.###@#{12}\.###",
        ),
        (
            method(
                RedactType.PARTIAL_MASKING,
                partial_masking=PartialMasking(masking_type=MaskingType.MASK, masked_from_right=9),
            ),
            re.escape(MAIL[:-9] + "*" * 9),
        ),
    ],
    ids=lambda value: getattr(getattr(value, "redaction_type", ""), "value", ""),
)
def test_methods(redact, chosen, becomes):
    result = text(redact, redaction_method_overrides=chosen)
    assert re.fullmatch(f"Mail {becomes} or card {CARD}", result.redacted_text), result.redacted_text
    assert result.count == (0 if chosen.redaction_type == RedactType.DETECT_ONLY else 1)


def test_a_method_for_each_rule(redact):
    """The helper knows one method for all; the SDK's connection carries the other form as well."""
    masked = {"redaction_type": "mask"}
    body = {"text": TEXT, "redaction_method_overrides": {"CREDIT_CARD": masked}}
    result = post(redact, "v1/redact", body, RedactResult)
    assert (result.redacted_text, result.count) == (f"Mail <EMAIL_ADDRESS> or card {'*' * len(CARD)}", 2)


@pytest.mark.parametrize("alphabet", list(FPEAlphabet))
def test_encrypted_and_back(redact, alphabet):
    chosen = method(RedactType.FPE, fpe_alphabet=alphabet)
    result = text(redact, rules=["CREDIT_CARD", "EMAIL_ADDRESS"], redaction_method_overrides=chosen)
    assert MAIL not in result.redacted_text and CARD not in result.redacted_text
    answer = result.redacted_text.replace("Mail", "I wrote to")
    assert redact.unredact(answer, result.fpe_context).result.data == TEXT.replace("Mail", "I wrote to")


def test_for_an_llm(redact):
    result = redact.redact(TEXT, llm_request=True).result
    assert re.fullmatch(r"Mail \S+@\S+\.com or card (\d{4} ){3}\d{4}", result.redacted_text)
    assert redact.unredact({"a": [result.redacted_text, 5]}, result.fpe_context).result.data == {"a": [TEXT, 5]}


def test_structured(redact):
    data = {"one": {"mail": MAIL}, "two": {"mail": MAIL, "n": 5}}
    result = redact.redact_structured(data, jsonp=["$.two.mail"], debug=True).result
    assert result.redacted_data == {"one": {"mail": MAIL}, "two": {"mail": "<EMAIL_ADDRESS>", "n": 5}}
    assert [one.data_key for one in result.report.recognizer_results] == ["two.mail"]
    chosen = method(RedactType.FPE, fpe_alphabet=FPEAlphabet.ALPHANUMERIC)
    result = redact.redact_structured(data, redaction_method_overrides=chosen).result
    assert result.count == 2 and redact.unredact(result.redacted_data, result.fpe_context).result.data == data


def test_structured_by_path_and_rule(redact):
    """Paths with rules of their own: by name, and with a method."""
    data = {"a": TEXT, "b": TEXT, "c": TEXT, "n": 1.50}
    shown = {"rule": "CREDIT_CARD", "redaction_type": "replacement", "redaction_value": "[card]"}
    body = {"data": data, "jsonp": ["$.a", {"path": "$.b", "rules": ["EMAIL_ADDRESS", shown]}]}
    result = post(redact, "v1/redact_structured", body, StructuredResult)
    want = {"a": "Mail <EMAIL_ADDRESS> or card <CREDIT_CARD>", "b": "Mail <EMAIL_ADDRESS> or card [card]"}
    assert (result.redacted_data, result.count) == (data | want, 4)


def test_structured_as_text(redact):
    """A document may come as a string; its answer is one too, and what was not touched is as it was written."""
    result = redact.redact_structured('{"n": 1.50, "mail": "%s"}' % MAIL).result
    assert result.redacted_data == '{"n": 1.50, "mail": "<EMAIL_ADDRESS>"}'
    result = redact.redact_structured({"mail": MAIL}, return_result=False).result
    assert (result.redacted_data, result.count) == (None, 1)


def test_events(redact):
    told = {"message": f"Sent to {MAIL}", "card": {"number": CARD}, "old": 5}
    hidden = redact.redact_structured(told, llm_request=True).result
    assert MAIL not in str(hidden.redacted_data) and CARD not in str(hidden.redacted_data)
    plain = {"envelope": {"event": {"message": "nothing to undo"}}}
    record = {"hash": "ab12", "envelope": {"event": hidden.redacted_data, "received_at": "-"}}
    sent = [plain, record | {"fpe_context": hidden.fpe_context}]
    events = post(redact, "v1/unredact_events", {"events": sent})["events"]
    assert events == [plain, {"hash": "ab12", "envelope": {"event": told, "received_at": "-"}}]


def test_async(gateway, config):
    async def ask():
        redact = RedactAsync(gateway.token, config=config)
        try:
            hidden = (await redact.redact(TEXT, llm_request=True, debug=True)).result
            assert len(hidden.report.recognizer_results) == 2
            return (await redact.unredact(hidden.redacted_text, hidden.fpe_context)).result.data
        finally:
            await redact.close()

    assert asyncio.run(ask()) == TEXT


FAULTY = [
    ("redact", {}, ("/text", "FieldRequired")),
    ("redact", {"text": "x", "rules": ["URL", "URL"]}, ("/rules/1", "ItemNotUnique")),
    (
        "redact",
        {"text": "x", "redaction_method_overrides": {"redaction_type": "replacement"}},
        ("/redaction_method_overrides/redaction_value", "FieldRequired"),
    ),
    (
        "redact",
        {"text": "x", "redaction_method_overrides": {"NONE": {"redaction_type": "mask"}}},
        ("/redaction_method_overrides/NONE", "DoesNotExist"),
    ),
    ("redact", {"text": "x", "config_id": "pci_" + "a" * 32}, ("/config_id", "ConfigNotExist")),
    ("redact_structured", {"data": {}, "format": "xml"}, ("/format", "NotEnumMember")),
    ("redact_structured", {"data": {}, "jsonp": ["$["]}, ("/jsonp/0", "BadFormatJSONPath")),
    ("redact_structured", {"data": "no JSON", "jsonp": ["$.a"]}, ("/data", "BadFormat")),
    ("unredact", {"redacted_data": "x"}, ("/fpe_context", "FieldRequired")),
    ("unredact", {"redacted_data": "x", "fpe_context": "not base64!"}, ("/fpe_context", "BadFormatBase64")),
    ("unredact", {"redacted_data": "x", "fpe_context": "AAAA"}, ("/fpe_context", "BadFormat")),
    ("unredact_events", {"events": [{}]}, ("/events/0/envelope", "FieldRequired")),
]


@pytest.mark.parametrize(("path", "body", "fault"), FAULTY, ids=[path + fault[0] for path, _, fault in FAULTY])
def test_every_fault_has_its_place(redact, path, body, fault):
    with pytest.raises(pangea.exceptions.ValidationException) as told:
        post(redact, "v1/" + path, body)
    assert [(one.source, one.code) for one in told.value.errors] == [fault]
    assert told.value.response.http_status == 400


def test_what_is_not_there(redact):
    with pytest.raises(pangea.exceptions.NotFound):
        post(redact, "v1/nothing", {})
    with pytest.raises(pangea.exceptions.NotFound):
        redact.poll_result(request_id="prq_" + "a" * 32)


def test_faults_are_the_sdks_own(gateway, redact):
    with pytest.raises(pangea.exceptions.ValidationException) as told:
        redact.redact(TEXT, rules=["NONE"], vault_parameters=VaultParameters(fpe_key_id="pvi_" + "a" * 32))
    faults = {fault.source: fault.code for fault in told.value.errors}
    assert faults == {"/rules/0": "DoesNotExist", "/vault_parameters/fpe_key_id": "DoesNotExist"}
    with pytest.raises(pangea.exceptions.ValidationException):
        redact.unredact("x", "AAAA")
    stranger = Redact("pts_" + "z" * 32, config=PangeaConfig(base_url_template=gateway.url))
    with pytest.raises(pangea.exceptions.UnauthorizedException):
        stranger.redact("x")


def test_the_vendors_samples_have_a_config_that_is_shipped(gateway, config):
    """The two commands of docs/api.md: a config from a file, and a token for it."""
    page = (ROOT / "docs/api.md").read_text()
    block = next(block for block in re.findall(r"^```sh\n(.*?)^```", page, re.M | re.S) if "conf/redact-samples.json" in block)
    create, bind = re.fullmatch(r"(curl .*)\n(portcullis .*)\n", block, re.S).groups()
    variables = environment() | {"TOKEN": gateway.token}
    shown = subprocess.run(["bash", "-c", create.replace("http://127.0.0.1:8080", gateway.url)], cwd=ROOT, env=variables, capture_output=True)
    made = json.loads(shown.stdout)["result"]["id"]
    bind = re.sub(r"pci_\w+", made, bind.split("#")[0]).split()
    token = run(*bind[1:], "--config-file", gateway.file).out.strip()
    redact = Redact(token, config=config)
    text = "Visit our web is https://pangea.cloud"
    key = gateway.api("/v2/key/generate", {"type": "symmetric_key", "purpose": "fpe", "algorithm": "AES-FF3-1-256-BETA",
                                           "exportable": True, "name": "of the samples"}).json()["result"]["id"]
    for asked in ({"llm_request": True}, {"vault_parameters": VaultParameters(fpe_key_id=key)}):
        done = redact.redact(text=text, **asked).result
        assert done.count == 1 and done.fpe_context and done.redacted_text != text
        assert redact.unredact(done.redacted_text, done.fpe_context).result.data == text
    done = redact.redact(text="Jenny Jenny... 415-867-5309").result
    assert (done.redacted_text, done.count) == ("<PERSON>... <PHONE_NUMBER>", 2)
