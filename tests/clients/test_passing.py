"""What passes is read as what lies there: values under their labels, text in base64, numbers; in any pieces."""

import base64
import json
import urllib.parse

import pytest

MAIL, CARD = "jane.doe@harbour-post.com", "4111111111111111"
TEXT = "write to %s, card %s, and no other" % (MAIL, CARD)
IN_BASE64 = base64.b64encode(TEXT.encode()).decode()
FORM, EVENTS = {"content-type": "application/x-www-form-urlencoded"}, {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}

BODIES = [
    (FORM, "user=jane&password=Hq7vTz29xLpw&n=1", "Hq7vTz29xLpw"),
    (FORM, "a=b&ssn=536228726", "536228726"),
    (FORM, "p=%s&q=1" % urllib.parse.quote(IN_BASE64, safe=""), IN_BASE64[:24]),
    (FORM, "p=%s" % urllib.parse.quote("data:text/plain;base64," + IN_BASE64, safe=""), IN_BASE64[:24]),
    (FORM, "p=%s" % urllib.parse.quote(json.dumps({"password": "Hq7vTz29xLpw"}), safe=""), "Hq7vTz29xLpw"),
    (EVENTS, "data: %s\n\n" % IN_BASE64, IN_BASE64[:24]),
    (EVENTS, "data: to %s\n\n" % MAIL, MAIL),
    (JSON, '{"n": %se0, "m": [-%s.0E+0]}' % (CARD, CARD), CARD),
    (JSON, json.dumps({"n": "\n " + IN_BASE64}), IN_BASE64[:24]),
    (JSON, json.dumps({"n": " \n" + IN_BASE64 + "\n "}), IN_BASE64[:24]),
    (JSON, json.dumps({"n": "\n data:text/plain;base64," + IN_BASE64}), IN_BASE64[:24]),
    (JSON, json.dumps({"n": " \n\t DATA:;base64," + IN_BASE64}), IN_BASE64[:24]),
]


@pytest.mark.parametrize("route", ["generic", "restored"])
@pytest.mark.parametrize("step", [1, 3, 1 << 20])
def test_nothing_passes_in_any_pieces(gateway, mock, route, step):
    for headers, body, secret in BODIES:
        pieces = [body[at : at + step].encode() for at in range(0, len(body), step)]
        assert gateway.call("POST", "/%s/reflect" % route, iter(pieces), headers).status == 200, body
        came = mock.requests[-1].body.decode()
        assert secret not in came and secret not in urllib.parse.unquote(came), (body, came)


def test_numbers_of_a_protocol_are_masked_and_stay_numbers(gateway, mock):
    asked = {
        "model": "plain",
        "seed": 7,
        "messages": [{"role": "user", "content": json.dumps({"card": int(CARD)})}],
        "metadata": {"card": int(CARD), "ssn": 536228726, "negative": -int(CARD), "n": 1001, "with": [int(CARD)]},
    }
    assert gateway.call("POST", "/mask/v1/chat/completions", json.dumps(asked).encode(), JSON).status == 200
    came = mock.requests[-1].json()
    assert CARD not in json.dumps(came) and "536228726" not in json.dumps(came)
    assert came["metadata"] == {"card": 0, "ssn": 0, "negative": 0, "n": 1001, "with": [0]} and came["seed"] == 7
    assert json.loads(came["messages"][0]["content"]) == {"card": 0}


def test_what_is_encoded_too_often_is_the_callers_fault(gateway):
    text = TEXT
    for _ in range(10):
        text = base64.b64encode(text.encode()).decode()
    assert gateway.call("POST", "/generic/reflect", json.dumps({"n": text}).encode(), JSON).status == 400


def test_a_text_of_nothing_but_groups_of_digits_is_one_value(gateway, mock):
    """What overlaps was kept once for each link of the chain: 22 GB for half a megabyte."""
    asked = {"model": "plain", "messages": [{"role": "user", "content": "4111 " * 26_000}]}
    assert gateway.call("POST", "/v1/chat/completions", json.dumps(asked).encode(), JSON).status == 200
    assert len(mock.requests[-1].body) < 1 << 20
