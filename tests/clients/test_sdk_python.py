"""The redaction API through the public Python SDK, as it is: what it sends is understood, what it gets it accepts."""

import re

import pangea.exceptions
import pytest
from pangea import PangeaConfig
from pangea.services import Redact
from pangea.services.redact import (
    FPEAlphabet,
    MaskingType,
    PartialMasking,
    RedactionMethodOverrides,
    RedactType,
    VaultParameters,
)

MAIL, CARD = "jane.doe@harbour-post.com", "4111 1111 1111 1111"
TEXT = f"Mail {MAIL} or card {CARD}"


@pytest.fixture(scope="module")
def redact(gateway):
    return Redact(gateway.token, config=PangeaConfig(base_url_template=gateway.url, request_retries=0))


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
            r"ja##\.###@#######-####\.###".replace("-", "#"),
        ),
    ],
    ids=lambda value: getattr(getattr(value, "redaction_type", ""), "value", ""),
)
def test_methods(redact, chosen, becomes):
    result = text(redact, redaction_method_overrides=chosen)
    assert re.fullmatch(f"Mail {becomes} or card {CARD}", result.redacted_text), result.redacted_text
    assert result.count == (0 if chosen.redaction_type == RedactType.DETECT_ONLY else 1)


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
