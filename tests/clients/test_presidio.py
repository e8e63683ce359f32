"""The API of Presidio at the end of a route: what its clients ask, and what they read of the answers."""

import base64
import hashlib

import pytest
from gateway import MINIMAL, Gateway, run

ROUTES = """
[vault]

[[routes]]
name = "open"
path = "/open"
endpoint = "presidio"
auth = "none"

[[routes]]
name = "keyed"
path = "/some/door"
endpoint = "presidio"
auth = "token"
redact = {{ requests = "encrypt", methods = {{ US_SSN = "block", IP_ADDRESS = "report" }} }}

[[routes]]
name = "each"
path = "/each"
endpoint = "presidio"
auth = "token"
redact = {{ requests = "encrypt", tweak = "caller" }}
"""

MAIL = "jane.doe@harbour-post.com"
TEXT = "Zoë 🦀 mails jane.doe@harbour-post.com, card 4111 1111 1111 1111"


@pytest.fixture(scope="module")
def door():
    with Gateway("", MINIMAL + ROUTES) as running:
        yield running


def post(door, path, body, token=None):
    headers = {"authorization": "Bearer " + token} if token else {}
    return door.call("POST", path, body, headers)


def ok(answer):
    assert answer.status == 200, answer.body
    return answer.json()


def analyze(door, text, **more):
    return ok(post(door, "/open/analyze", {"text": text, "language": "en", **more}))


def anonymize(door, text, results, path="/open", token=None, **more):
    return ok(post(door, path + "/anonymize", {"text": text, "analyzer_results": results, **more}, token))


def places(text, results):
    return [(one["entity_type"], text[one["start"] : one["end"]]) for one in results]


# ── analyze ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_places_are_code_points():
    text = "🦀" * 3 + TEXT
    with Gateway("", MINIMAL + ROUTES) as door:
        found = places(text, analyze(door, text))
    assert ("EMAIL_ADDRESS", MAIL) in found and ("CREDIT_CARD", "4111 1111 1111 1111") in found


def test_several_texts_are_told_apart(door):
    each = analyze(door, [TEXT, "nothing here", MAIL])
    assert [len(one) for one in each] == [len(analyze(door, TEXT)), 0, 1]
    assert analyze(door, []) == [] and analyze(door, "") == []


def test_entities_and_scores_narrow_what_is_found(door):
    assert {kind for kind, _ in places(TEXT, analyze(door, TEXT, entities=["CREDIT_CARD"]))} == {"CREDIT_CARD"}
    # What is off by default is on for whoever asks for it.
    assert analyze(door, "on 3 May 2024") == []
    assert places("on 3 May 2024", analyze(door, "on 3 May 2024", entities=["DATE_TIME"]))
    # A list without names asks for what is on.
    assert analyze(door, TEXT, entities=[]) == analyze(door, TEXT)
    assert analyze(door, TEXT, score_threshold=1.0) != analyze(door, TEXT)
    scores = [one["score"] for one in analyze(door, TEXT)]
    assert all(0 < score <= 1 for score in scores)


def test_an_entity_that_nobody_looks_for_is_refused(door):
    answer = post(door, "/open/analyze", {"text": TEXT, "entities": ["CREDIT_CARD", "MARTIAN_ID"]})
    assert answer.status == 400 and "/entities/1" in answer.json()["error"]
    assert "MARTIAN" not in answer.body.decode() and "4111" not in answer.body.decode()


def test_words_near_a_value_may_be_told(door):
    number = "078-05-1120 and 457-55-5462"
    alone = analyze(door, number, entities=["US_SSN"])
    told = analyze(door, number, entities=["US_SSN"], context=["social", "security", "number"])
    assert max([one["score"] for one in told], default=0) >= max([one["score"] for one in alone], default=0)
    assert len(told) >= len(alone)


def test_what_is_allowed_is_left_out(door):
    assert analyze(door, MAIL, allow_list=[MAIL]) == []
    assert len(analyze(door, MAIL, allow_list=[MAIL.upper()])) == 1
    assert analyze(door, MAIL, allow_list=[MAIL], allow_list_match="exact") == []


def test_a_decision_is_explained_when_asked(door):
    [plain] = analyze(door, MAIL)
    assert plain["analysis_explanation"] is None
    assert plain["recognition_metadata"]["recognizer_name"] == "Portcullis"
    [told] = analyze(door, MAIL, return_decision_process=True)
    assert told["analysis_explanation"]["score"] == told["score"]


@pytest.mark.parametrize(
    "body, at",
    [
        ({}, "/text"),
        ({"text": 5}, "/text"),
        ({"text": ["a", 5]}, "/text/1"),
        ({"text": "a", "score_threshold": 2}, "/score_threshold"),
        ({"text": "a", "ad_hoc_recognizers": [{"name": "mine"}]}, "/ad_hoc_recognizers"),
        ({"text": "a", "allow_list": ["a"], "allow_list_match": "regex"}, "/allow_list_match"),
        ({"text": "a", "entites": ["PERSON"]}, "/entites"),
        ([], "object"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_with_its_place(door, body, at):
    answer = post(door, "/open/analyze", body)
    assert answer.status == 400 and at in answer.json()["error"], answer.body.decode()


def test_what_clients_send_besides_is_taken(door):
    more = {"correlation_id": "a", "regex_flags": 26, "entities": None, "ad_hoc_recognizers": [], "allow_list": None}
    assert analyze(door, MAIL, **more) == analyze(door, MAIL)


# ── anonymize ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_values_are_replaced_by_their_kinds(door):
    done = anonymize(door, TEXT, analyze(door, TEXT))
    assert "<EMAIL_ADDRESS>" in done["text"] and "<CREDIT_CARD>" in done["text"] and MAIL not in done["text"]
    starts = [item["start"] for item in done["items"]]
    assert starts == sorted(starts, reverse=True)
    for item in done["items"]:
        assert done["text"][item["start"] : item["end"]] == item["text"] and item["operator"] == "replace"


@pytest.mark.parametrize(
    "operator, want",
    [
        ({"type": "replace", "new_value": "someone"}, "someone"),
        ({"type": "redact"}, ""),
        ({"type": "keep"}, MAIL),
        ({"type": "mask", "masking_char": "#", "chars_to_mask": 8, "from_end": False}, "########" + MAIL[8:]),
        ({"type": "mask", "masking_char": "*", "chars_to_mask": 100, "from_end": True}, "*" * len(MAIL)),
    ],
)
def test_operators(door, operator, want):
    text = "to %s today" % MAIL
    at = [{"start": 3, "end": 3 + len(MAIL), "score": 0.9, "entity_type": "EMAIL_ADDRESS"}]
    for anonymizers in ({"EMAIL_ADDRESS": operator}, {"DEFAULT": operator}):
        done = anonymize(door, text, at, anonymizers=anonymizers)
        assert done["text"] == "to %s today" % want
        [item] = done["items"]
        assert (item["text"], item["operator"]) == (want, operator["type"])


def test_a_digest_is_no_plain_one(door):
    at = [{"start": 0, "end": len(MAIL), "score": 0.9, "entity_type": "EMAIL_ADDRESS"}]
    digests = [
        anonymize(door, MAIL, at, anonymizers={"DEFAULT": {"type": "hash", **more}})["text"]
        for more in ({}, {"salt": "0123456789abcdef"}, {"hash_type": "sha512"})
    ]
    assert len(set(digests)) == 3 and hashlib.sha256(MAIL.encode()).hexdigest() not in digests
    assert digests[0] == anonymize(door, MAIL, at, anonymizers={"DEFAULT": {"type": "hash"}})["text"]


@pytest.mark.parametrize("key", ["WmZq4t7w!z%C&F)J", "WmZq4t7w!z%C&F)JWmZq4t7w", "WmZq4t7w!z%C&F)JWmZq4t7w!z%C&F)J"])
def test_what_is_encrypted_comes_back_with_its_key(door, key):
    text = "é %s" % MAIL
    at = [{"start": 2, "end": 2 + len(MAIL), "score": 0.9, "entity_type": "EMAIL_ADDRESS"}]
    done = anonymize(door, text, at, anonymizers={"EMAIL_ADDRESS": {"type": "encrypt", "key": key}})
    [item] = done["items"]
    # As Presidio writes it: a vector and blocks, in the letters of URLs.
    assert len(base64.urlsafe_b64decode(item["text"])) % 16 == 0 and item["operator"] == "encrypt"
    body = {"text": done["text"], "anonymizer_results": done["items"]}
    back = ok(post(door, "/open/deanonymize", {**body, "deanonymizers": {"DEFAULT": {"type": "decrypt", "key": key}}}))
    assert back["text"] == text and back["items"][0]["operator"] == "decrypt"
    # Nothing is given back without its key, nor with another's.
    assert ok(post(door, "/open/deanonymize", body))["text"] == done["text"]
    other = {"DEFAULT": {"type": "decrypt", "key": key[::-1]}}
    answer = post(door, "/open/deanonymize", {**body, "deanonymizers": other})
    assert answer.status == 400 and key not in answer.body.decode()


def test_presidios_own_decryption_reads_what_is_encrypted(door):
    from cryptography.hazmat.primitives import padding
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = "WmZq4t7w!z%C&F)J"
    at = [{"start": 0, "end": len(MAIL), "score": 0.9, "entity_type": "EMAIL_ADDRESS"}]
    done = anonymize(door, MAIL, at, anonymizers={"DEFAULT": {"type": "encrypt", "key": key}})
    written = base64.urlsafe_b64decode(done["text"])
    cipher = Cipher(algorithms.AES(key.encode()), modes.CBC(written[:16])).decryptor()
    padded = cipher.update(written[16:]) + cipher.finalize()
    unpadder = padding.PKCS7(128).unpadder()
    assert (unpadder.update(padded) + unpadder.finalize()).decode() == MAIL


def test_values_that_overlap_leave_nothing(door):
    text = "card 4111 1111 1111 1111 here"
    at = [
        {"start": 5, "end": 24, "score": 0.5, "entity_type": "CREDIT_CARD"},
        {"start": 15, "end": 29, "score": 0.9, "entity_type": "OTHER"},
        {"start": 5, "end": 9, "score": 0.4, "entity_type": "SHORT"},
    ]
    done = anonymize(door, text, at, anonymizers={"DEFAULT": {"type": "replace", "new_value": "X"}})
    assert done["text"] == "card X" and len(done["items"]) == 1


@pytest.mark.parametrize("start, end", [(0, 0), (3, 2), (0, 99), (98, 99), (-1, 3), (0.5, 3), ("0", 3), (None, 3)])
def test_places_outside_of_the_text_are_refused(door, start, end):
    at = [{"start": start, "end": end, "score": 0.5, "entity_type": "PERSON"}]
    answer = post(door, "/open/anonymize", {"text": "Zoë here", "analyzer_results": at})
    assert answer.status == 400 and "/analyzer_results/0" in answer.json()["error"], answer.body.decode()


def named(text, *values):
    """Values of a text as an analyzer of somebody else's names them."""
    return [
        {"start": text.index(value), "end": text.index(value) + len(value), "entity_type": kind, "score": score}
        for kind, value, score in values
    ]


KEEP = {"type": "keep"}
SSN = "457-55-5462"


@pytest.mark.parametrize(
    "text, values, anonymizers, gone",
    [
        # Of what overlaps, no part is left by what another one of them becomes.
        ("ring Jane Doe on 555-0100 now", [("PERSON", "Jane Doe", 0.85), ("PHONE_NUMBER", "Jane Doe on 555-0100", 0.9)], {}, "Jane Doe 555"),
        ("see http://x.janedoe/x", [("URL", "http://x.janedoe/x", 0.9), ("PERSON", "janedoe", 0.5)], {}, "janedoe"),
        ("see http://x.org/%s end" % SSN, [("URL", "http://x.org/457", 0.9), ("MY", SSN, 0.5)], {"URL": KEEP}, SSN),
        ("see http://x.org/%s end" % SSN, [("IP_ADDRESS", "http://x.org/457", 0.9), ("MY", SSN, 0.5)], {}, SSN),
        ("a %s b" % SSN, [("A", SSN, 0.9), ("B", SSN, 0.5)], {"A": {"type": "mask", "chars_to_mask": 4}}, "55-5462"),
        # A rule gets a value that is none of its own.
        ("ask jane@harbour.com", [("CREDIT_CARD", "jane@harbour.com", 0.9)], {}, "jane harbour"),
        ("Jane Doe 4111 1111 1111 1111", [("CREDIT_CARD", "Jane Doe 4111 1111 1111 1111", 0.9)], {}, "Jane Doe"),
        # Words that run into each other.
        ("mail jane@harbour.com457556789", [("EMAIL_ADDRESS", "jane@harbour.com", 0.9), ("CVV", "457556789", 0.9)], {}, "457556789 jane"),
        ("mail jane@harbour.com457556789", [("EMAIL_ADDRESS", "jane@harbour.com", 0.9), ("CVV", "457556789", 0.9)], {"CVV": {"type": "redact"}}, "457556789"),
        ("4111 1111 1111 1111secretname", [("CREDIT_CARD", "4111 1111 1111 1111", 0.9), ("PERSON", "secretname", 0.9)], {"PERSON": {"type": "redact"}}, "secretname"),
    ],
)
def test_nothing_of_what_was_named_is_left(door, key, text, values, anonymizers, gone):
    done = anonymize(door, text, named(text, *values), "/some/door", key, anonymizers=anonymizers)
    assert not any(word in done["text"] for word in gone.split()), done
    for item in done["items"]:
        assert done["text"][item["start"] : item["end"]] == item["text"]


def test_what_is_blocked_is_so_whatever_else_stands_there(door, key):
    text = "see http://x.org/%s end" % SSN
    results = named(text, ("IP_ADDRESS", "http://x.org/457", 0.9), ("US_SSN", SSN, 0.1))
    answer = post(door, "/some/door/anonymize", {"text": text, "analyzer_results": results}, key)
    assert answer.status == 400 and SSN not in answer.body.decode()


def test_words_near_a_value_take_nothing_away(door):
    for text in ('{"mail":"jane\\u0040harbour-post.com"}', '{"ssn":"457\\u002d55\\u002d5462"}'):
        assert len(analyze(door, text)) == len(analyze(door, text, context=["note"])) == 1


def test_a_digest_tells_nothing_on_another_route(door, key):
    at = named(MAIL, ("EMAIL_ADDRESS", MAIL, 0.9))
    other = run("tokens", "create", "-c", door.file, "--route", "each").out.strip()
    digest = lambda path, token=None: anonymize(door, MAIL, at, path, token, anonymizers={"DEFAULT": {"type": "hash"}})["text"]
    assert digest("/open") == digest("/open") and digest("/each", key) == digest("/each", key)
    assert len({digest("/open"), digest("/some/door", key), digest("/each", key), digest("/each", other)}) == 4


def test_errors_say_what_is_wrong_and_no_more(door):
    at = {"start": "0", "end": 2, "entity_type": "A"}
    answer = post(door, "/open/anonymize", {"text": "abc", "analyzer_results": [at]})
    assert "/start: must be a whole number" in answer.json()["error"] and "no such" not in answer.json()["error"]
    answer = post(door, "/open/analyze", {"text": "abc", **{"x" * 1000 + str(n): 1 for n in range(100)}})
    assert answer.status == 400 and len(answer.json()["error"]) <= 4096
    answer = post(door, "/open/deanonymize", {"text": "abcd", "anonymizer_results": [{"start": 0, "end": 4, "entity_type": "A"}], "deanonymizers": {"DEFAULT": {"type": "decrypt", "key": "0123456789abcdef"}}})
    assert answer.status == 400 and answer.json()["error"].count("written with its key") == 1


def test_many_values_cost_what_their_text_does(door):
    """Neither values that all begin in one place nor a long text in the place of each multiply."""
    text = "a" * 100_000
    whole = [{"start": 0, "end": len(text), "entity_type": "OTHER"}] * 20_000
    assert anonymize(door, text, whole)["text"] == "<OTHER>"
    each = [{"start": at, "end": at + 1, "entity_type": "OTHER"} for at in range(0, 20_000, 2)]
    short = {"DEFAULT": {"type": "replace", "new_value": "x" * 100}}
    assert len(anonymize(door, text, each, anonymizers=short)["text"]) == len(text) + 10_000 * 99
    long = {"DEFAULT": {"type": "replace", "new_value": "x" * 4096}}
    answer = post(door, "/open/anonymize", {"text": text, "analyzer_results": each, "anonymizers": long})
    assert answer.status == 413, answer.body[:200]


# ── by the route's own methods ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def key(door):
    return run("tokens", "create", "-c", door.file, "--route", "keyed", "--route", "each").out.strip()


def test_a_route_encrypts_where_a_call_says_nothing(door, key):
    results = ok(post(door, "/some/door/analyze", {"text": TEXT}, key))
    one, two = (anonymize(door, TEXT, results, "/some/door", key) for _ in range(2))
    assert one == two and MAIL not in one["text"] and "4111 1111" not in one["text"]
    mail = next(item["text"] for item in one["items"] if item["entity_type"] == "EMAIL_ADDRESS")
    assert "@" in mail and "<" not in one["text"]
    # What a call says counts for more.
    said = anonymize(door, TEXT, results, "/some/door", key, anonymizers={"EMAIL_ADDRESS": {"type": "redact"}})
    assert "@" not in said["text"]
    # Kinds that nobody here knows have no surrogates.
    own = [{"start": 0, "end": 3, "score": 1, "entity_type": "OUR_CUSTOMER"}]
    assert anonymize(door, TEXT, own, "/some/door", key)["text"].startswith("<OUR_CUSTOMER>")


def test_what_the_route_reports_stays_and_what_it_blocks_is_refused(door, key):
    at = lambda kind, text: [{"start": 0, "end": len(text), "score": 1, "entity_type": kind}]
    assert anonymize(door, "8.8.8.8", at("IP_ADDRESS", "8.8.8.8"), "/some/door", key) == {"text": "8.8.8.8", "items": []}
    ssn = "457-55-5462"
    answer = post(door, "/some/door/anonymize", {"text": ssn, "analyzer_results": at("US_SSN", ssn)}, key)
    assert answer.status == 400 and ssn not in answer.body.decode()


def test_callers_have_surrogates_of_their_own_where_the_route_says_so(door, key):
    at = [{"start": 0, "end": len(MAIL), "score": 0.9, "entity_type": "EMAIL_ADDRESS"}]
    other = run("tokens", "create", "-c", door.file, "--route", "keyed", "--route", "each").out.strip()
    texts = [
        anonymize(door, MAIL, at, path, token)["text"] for path in ("/some/door", "/each") for token in (key, other, key)
    ]
    assert texts[0] == texts[1] == texts[2] and texts[3] == texts[5] != texts[4]
    assert texts[0] not in texts[3:]


# ── who may ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_token_may_stand_in_the_path(door, key):
    ask = lambda path, token=None: post(door, path, {"text": MAIL}, token)
    for path in ("/some/door/%s/analyze", "/some/door/%s/analyze/", "//some/door//%s//analyze"):
        assert len(ok(ask(path % key))) == 1
    assert ok(ask("/some/door/analyze", key))
    other = run("tokens", "create", "-c", door.file, "--route", "each").out.strip()
    cases = [
        ("/some/door/analyze", None, 401),
        ("/some/door/%s/analyze" % ("pts_" + "a" * 32), None, 401),
        ("/some/door/%s/analyze" % other, None, 403),
        ("/some/door/%s/analyze" % key, other, 400),
        ("/some/door/analyze/%s" % key, None, 400),
        ("/%s/some/door/analyze" % key, None, 404),
        # Where none is asked for, none is taken; it is no operation, and may not stand in a path.
        ("/open/%s/analyze" % key, None, 400),
    ]
    for path, token, status in cases:
        assert ask(path, token).status == status, path
    assert not any(token in line for token in (key, other) for line in door.log)


def test_a_token_in_the_path_ends_as_any_other(door):
    made = run("tokens", "create", "-c", door.file, "--route", "keyed", "--name", "soon gone").out.strip()
    ask = lambda: post(door, "/some/door/%s/analyze" % made, {"text": MAIL}).status
    assert ask() == 200
    rows = run("tokens", "list", "-c", door.file).out.splitlines()
    row = next(row for row in rows if "soon gone" in row)
    run("tokens", "revoke", row.split("\t")[0], "-c", door.file)
    door.wait_for(lambda: ask() == 401, 10)


def test_what_there_is(door):
    get = lambda path: door.call("GET", "/open/" + path)
    assert get("health").status == 200
    assert {"EMAIL_ADDRESS", "US_SSN", "DATE_TIME"} <= set(get("supportedentities?language=en").json())
    assert "mask" in get("anonymizers").json() and get("deanonymizers").json() == ["decrypt"]
    assert get("recognizers?language=en").json() == ["Portcullis"]
    assert get("nothing").status == 404
    wrong = get("analyze")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert door.call("POST", "/open/health", {}).status == 405


def test_findings_are_counted(door):
    line = 'portcullis_route_findings_total{family="EMAIL_ADDRESS",route="open"} '
    count = lambda: next((int(one[len(line) :]) for one in door.metrics().splitlines() if one.startswith(line)), 0)
    before = count()
    analyze(door, MAIL)
    door.wait_for(lambda: count() == before + 1, 10)
