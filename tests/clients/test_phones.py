"""What stands for a phone number is nobody's: a model with a telephone calls nobody by it. Judged by the metadata of
libphonenumber, for numbers of every country that it has."""

import json

import phonenumbers
import pytest
from gateway import CONFIG as WHOLE
from gateway import Gateway
from phonenumbers import PhoneNumberFormat as Form
from phonenumbers import PhoneNumberType as Kind

KINDS = [Kind.FIXED_LINE, Kind.MOBILE, Kind.TOLL_FREE, Kind.VOIP]
REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)
# The countries with the most telephones, and some more of Europe.
LARGEST = (
    "CN IN US ID PK NG BR BD RU MX JP ET PH EG VN CD TR IR DE TH GB FR IT TZ ZA MM KE KR CO ES UG AR DZ SD IQ UA PL CA MA SA"
    " UZ PE AU NL BE SE CH AT"
).split()
# Found without what is dialled before them: they read as other numbers from there on.
IN_PART = {"+502 1800 111 2222", "+502-1800-111-2222", "01 234567890"}
# Shorter numbers keep the layout of any other.
FEWEST = 6


def numbers(regions=REGIONS, kinds=KINDS):
    for region in regions:
        for kind in kinds:
            number = phonenumbers.example_number_for_type(region, kind)
            if number and len(str(number.national_number)) >= FEWEST:
                yield region, number


def sent(gateway, mock, told):
    """What leaves for these numbers, each after words that say what it is; and that all of them come back."""
    text = json.dumps([f"phone number: {number}" for number in told])
    answer = gateway.call("POST", "/restored/reflect", text.encode(), {"content-type": "application/json"})
    assert answer.status == 200 and json.loads(answer.body) == json.loads(text)
    return [line.removeprefix("phone number: ") for line in json.loads(mock.requests[-1].body)]


def digits(text):
    return "".join(filter(str.isdigit, text))


def layout(text):
    return "".join("0" if c.isdigit() else c for c in text)


def valid(text, region=None):
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(text, region))
    except phonenumbers.NumberParseException:
        return False


@pytest.mark.parametrize("form", [Form.E164, Form.INTERNATIONAL, Form.RFC3966])
def test_no_international_number_is_anybodys(gateway, mock, form):
    told = {phonenumbers.format_number(number, form).removeprefix("tel:") for _, number in numbers()}
    told = sorted(told - IN_PART)
    assert len(told) > 600
    bad, others = [], []
    for number, surrogate in zip(told, sent(gateway, mock, told), strict=True):
        assert layout(surrogate) == layout(number), (number, surrogate)
        # Some examples are of no length that a rule takes for a phone number; then it is any other number, or none.
        if number == surrogate or not digits(surrogate).startswith(str(phonenumbers.parse(number).country_code)):
            others.append(number)
        elif valid(surrogate):
            bad.append((number, surrogate))
    assert not bad, "\n".join(map(str, bad))
    assert len(others) < len(told) / 20, others


def test_a_number_of_the_largest_countries_is_nobodys_at_home(gateway, mock):
    """As dialled within the country: one that begins with a zero is nobody's anywhere, North America's is nobody's there."""
    told = sorted({(r, phonenumbers.format_number(n, Form.NATIONAL)) for r, n in numbers(LARGEST, [Kind.FIXED_LINE, Kind.MOBILE])})
    told = [(region, number) for region, number in told if number not in IN_PART]
    bad, tried = [], 0
    for (region, number), surrogate in zip(told, sent(gateway, mock, [n for _, n in told]), strict=True):
        if number == surrogate:
            continue
        tried += 1
        where = LARGEST if digits(number).startswith("0") and len(digits(number)) > 7 else [region]
        bad += [(number, surrogate, other) for other in where if valid(surrogate, other)]
    assert not bad, "\n".join(map(str, bad))
    assert tried > 60, tried


def test_one_number_is_one_number_however_it_is_dialled(gateway, mock):
    told = ["020 7946 0958", "+44 20 7946 0958", "0044 20 7946 0958", "+44 (0)20 7946 0958", "(415) 867-5309", "+1 415-867-5309"]
    left = [digits(text) for text in sent(gateway, mock, told)]
    assert len({text[-10:] for text in left[:4]}) == 1, left
    assert left[4] == left[5][1:], left
    assert len({text[-4:] for text in left}) == 2


def test_it_is_the_same_after_a_restart_and_comes_back(mock):
    told = ["+49 30 901820", "(212) 736-5000", "06 12 34 56 78"]
    with Gateway(mock.url, config=WHOLE) as gateway:
        before = sent(gateway, mock, told)
        gateway.restart()
        assert sent(gateway, mock, told) == before
