"""Telephone numbers that stand for others are nobody's: judged by the plans of the countries."""

import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat, PhoneNumberType
from test_vault import ok

# By telephones, the largest first.
COUNTRIES = """CN IN US ID BR RU NG PK BD JP MX DE PH VN EG TR IR TH GB FR IT ZA KR ES CO AR UA PL DZ SA MA PE MY CA AU KE TW
NL RO CL BE SE PT GR CZ HU AT CH IL DK FI NO IE NZ SG HK AE""".split()


def numbers(country):
    for kind in (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE):
        example = phonenumbers.example_number_for_type(country, kind)
        for change in range(5):
            digits = str(example.national_number)
            yield phonenumbers.PhoneNumber(
                country_code=example.country_code,
                national_number=int(digits[:-1] + str(change)),
                italian_leading_zero=example.italian_leading_zero,
            )


@pytest.mark.parametrize("written", [PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.E164])
def test_no_surrogate_is_a_number_of_one_of_the_largest_countries(gateway, written):
    lines = [phonenumbers.format_number(one, written) for country in COUNTRIES for one in numbers(country)]
    lines = list(dict.fromkeys(line for line in lines))
    text = "\n".join(f"phone: {line}." for line in lines)
    result = ok(gateway.api("/v1/redact", {"text": text, "llm_request": True}))
    shown = [line.removeprefix("phone: ").removesuffix(".") for line in result["redacted_text"].split("\n")]
    changed = [(line, other) for line, other in zip(lines, shown, strict=True) if line != other]
    assert len(changed) > 0.9 * len(lines)
    assigned = [pair for pair in changed if phonenumbers.is_valid_number(phonenumbers.parse(pair[1]))]
    assert not assigned
    assert len({other for _, other in changed}) == len(changed)
    assert all(line.split(" ")[0] == other.split(" ")[0] for line, other in changed if " " in line)
    back = {"redacted_data": result["redacted_text"], "fpe_context": result["fpe_context"]}
    assert ok(gateway.api("/v1/unredact", back)) == {"data": text}
