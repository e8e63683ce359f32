"""Stored redact configs by plain HTTP: made, read, changed, listed and removed, with all faults at once."""

import pytest
from gateway import run
from test_native_api import envelope, faults

ROOT = "/v1beta/config"

FULL = {
    "enabled_rules": ["EMAIL_ADDRESS", "STAFF_ID", "SECRETS"],
    "enforce_enabled_rules": True,
    "redactions": {
        "EMAIL_ADDRESS": {"redaction_type": "fpe", "fpe_alphabet": "alphanumericlower", "fpe_tweak": "abc1234"},
        "STAFF_ID": {"redaction_type": "partial_masking", "partial_masking": {"masking_char": ["#"], "unmasked_from_right": 4}},
        "SECRETS": {"redaction_type": "replacement"},
    },
    "rules": {
        "STAFF_ID": {
            "entity_name": "STAFF_ID",
            "matchers": [{"match_type": "regex", "match_value": "HP-[0-9]{6}", "match_score": 0.9}],
            "context_values": ["staff"],
        }
    },
    "rulesets": {"STAFF": {"name": "Staff", "rules": ["STAFF_ID", "PERSON"]}},
    "allow_list": ["info@harbour-post.com", {"regex": "test-[0-9]+"}],
}


def ok(answer, word="success"):
    return envelope(answer, 200, word)


def create(gateway, name, **more):
    return ok(gateway.api(ROOT + "/create", {"name": name, **more}))


@pytest.fixture
def config(gateway):
    made = create(gateway, "for a test", **FULL)
    yield made
    gateway.api(ROOT + "/delete", {"id": made["id"]})


def test_one_is_made_and_read_again(gateway, config):
    assert len(config["id"]) == 36 and config["id"].startswith("pci_") and config["version"] == 1
    assert config["created_at"] == config["updated_at"] and config["supported_languages"] == ["en"]
    assert all(config[name] == FULL[name] for name in FULL if name != "redactions")
    assert config["redactions"]["STAFF_ID"]["partial_masking"]["masking_char"] == "#"
    assert config["redactions"]["SECRETS"] == {"redaction_type": "replacement"}
    assert ok(gateway.api(ROOT, {"id": config["id"]})) == config
    assert ok(gateway.api("/redact" + ROOT, {"id": config["id"]})) == config


def test_what_is_not_set_has_its_default(gateway):
    made = create(gateway, "bare", created_at="2020-01-01T00:00:00Z", version=None, rules=None)
    ok(gateway.api(ROOT + "/delete", {"id": made["id"]}))
    assert made["enabled_rules"] == ["DEFAULT"] and made["redactions"] == made["rules"] == made["rulesets"] == {}
    assert made["enforce_enabled_rules"] is False and made["created_at"] > "2020-01-02"


def test_an_update_replaces_what_was_read(gateway, config):
    body = {"id": config["id"], "name": "renamed", "updated_at": config["updated_at"]}
    second = ok(gateway.api(ROOT + "/update", body))
    assert (second["name"], second["version"], second["created_at"]) == ("renamed", 2, config["created_at"])
    assert second["rules"] == {} and second["updated_at"] > config["updated_at"]
    assert faults(gateway.api(ROOT + "/update", body)) == [("/updated_at", "BadState")]
    third = ok(gateway.api(ROOT + "/update", {**body, **FULL, "updated_at": second["updated_at"]}))
    assert third["version"] == 3 and third["rules"] == FULL["rules"]
    assert ok(gateway.api(ROOT, {"id": config["id"]})) == third


def test_a_deleted_one_is_gone(gateway, config):
    assert ok(gateway.api(ROOT + "/delete", {"id": config["id"]})) == config
    update = {"name": "x", "updated_at": config["updated_at"]}
    for path, more in [("", {}), ("/delete", {}), ("/update", update)]:
        assert faults(gateway.api(ROOT + path, {"id": config["id"], **more})) == [("/id", "ConfigNotExist")]


def test_lists(gateway):
    made = [create(gateway, "listed %d" % n) for n in range(5)]
    ids = [one["id"] for one in made]
    ask = {"filter": {"id__in": ids}, "size": 2, "order_by": "created_at", "order": "desc"}
    seen, last = [], None
    for pages in range(1, 10):
        page = ok(gateway.api(ROOT + "/list", {**ask, "last": last}))
        assert page["count"] == 5 and len(page["items"]) <= 2 and set(page) == {"count", "items", "last"}
        seen += page["items"]
        last = page["last"]
        if not last:
            break
    assert pages == 3 and sorted(one["id"] for one in seen) == sorted(ids)
    times = [one["created_at"] for one in seen]
    assert times == sorted(times, reverse=True)
    listed = lambda **filter: {one["id"] for one in ok(gateway.api(ROOT + "/list", {"filter": filter}))["items"]}
    assert listed(id=ids[0]) == {ids[0]}
    assert listed(id__contains=[ids[1][8:24]]) == {ids[1]}
    assert ids[2] in listed(created_at__gte=made[2]["created_at"], updated_at__lte=made[4]["updated_at"])
    assert listed(created_at__lt="2020-01-01T00:00:00Z") == set()
    for id in ids:
        ok(gateway.api(ROOT + "/delete", {"id": id}))


def test_the_clients_tell_schemas_apart_by_version(gateway, config):
    agent = {"user-agent": "pangea-python/6.1.0"}
    shown = ok(gateway.api(ROOT, {"id": config["id"]}, **agent), "Success")
    assert shown["version"] == "2.0.0"
    # They send back what they read.
    body = {key: shown[key] for key in ("id", "name", "version", "updated_at", "created_at", "rules")}
    assert ok(gateway.api(ROOT + "/update", body, **agent), "Success")["rules"] == config["rules"]


def test_a_token_for_one_config_sees_no_other(gateway, config):
    other = create(gateway, "other")
    made = run("tokens", "create", "--name", "for one", "--config", config["id"], "--config-file", gateway.file)
    token = {"authorization": "Bearer " + made.out.strip()}
    page = ok(gateway.api(ROOT + "/list", {}, **token))
    assert (page["count"], page["last"]) == (1, "") and [one["id"] for one in page["items"]] == [config["id"]]
    assert ok(gateway.api(ROOT, {"id": config["id"]}, **token)) == config
    update = {"name": "x", "updated_at": other["updated_at"]}
    for path, more in [("", {}), ("/delete", {}), ("/update", update)]:
        answer = gateway.api(ROOT + path, {"id": other["id"], **more}, **token)
        assert faults(answer) == [("/id", "ConfigNotExist")]
    envelope(gateway.api(ROOT + "/create", {"name": "third"}, **token), 403, "ServiceNotEnabled")
    assert ok(gateway.api(ROOT + "/delete", {"id": other["id"]})) == other


def test_other_services_tokens_are_refused(gateway):
    made = run("tokens", "create", "--name", "share", "--service", "share", "--config-file", gateway.file)
    for path in ["", "/create", "/update", "/delete", "/list"]:
        answer = gateway.api(ROOT + path, {}, authorization="Bearer " + made.out.strip())
        envelope(answer, 403, "ServiceNotEnabled")
        envelope(gateway.call("POST", ROOT + path, {}), 401, "Unauthorized")


ID = "pci_" + "a" * 32
FAULTY = [
    ("", {}, [("/id", "FieldRequired")]),
    ("", {"id": None}, [("/id", "InvalidNull")]),
    ("", {"id": "pci_short", "more": 1}, [("/id", "DoesNotMatchPattern"), ("/more", "UnexpectedProperty")]),
    ("", {"id": ID}, [("/id", "ConfigNotExist")]),
    ("/delete", {"id": 7}, [("/id", "InvalidString")]),
    ("/create", {"id": ID, "version": 2}, [("/id", "IsReadOnly"), ("/name", "FieldRequired"), ("/version", "IsReadOnly")]),
    (
        "/create",
        {
            "name": 5,
            "enabled_rules": ["EMAIL_ADDRESS", "NOBODYS_RULE"],
            "redactions": {"NOBODYS/RULE": {"redaction_type": "mask"}, "US_SSN": {"redaction_type": "erase"}},
            "rules": {"OWN_RULE": {"entity_name": "X", "matchers": [{"match_type": "regex", "match_value": "(", "match_score": 1}]}},
            "rulesets": {"OWN_SET": {"rules": ["OWN_RULE", "OTHER_RULE"]}},
            "allow_list": [{"regex": "["}],
        },
        [
            ("/allow_list/0/regex", "BadFormatRegex"),
            ("/enabled_rules/1", "DoesNotExist"),
            ("/name", "InvalidString"),
            ("/redactions/NOBODYS~1RULE", "DoesNotExist"),
            ("/redactions/US_SSN/redaction_type", "NotEnumMember"),
            ("/rules/OWN_RULE/matchers/0/match_value", "BadFormatRegex"),
            ("/rulesets/OWN_SET/rules/1", "DoesNotExist"),
        ],
    ),
    ("/update", {}, [("/id", "FieldRequired"), ("/name", "FieldRequired"), ("/updated_at", "FieldRequired")]),
    (
        "/update",
        {"id": "x", "name": "x", "updated_at": "yesterday", "rules": []},
        [("/id", "DoesNotMatchPattern"), ("/rules", "InvalidObject"), ("/updated_at", "BadFormatDateTime")],
    ),
    (
        "/list",
        {"filter": {"id__in": "x", "created_at__gt": "now", "color": 1}, "last": "x", "order": "up", "order_by": "name", "size": 0},
        [
            ("/filter/color", "UnexpectedProperty"),
            ("/filter/created_at__gt", "BadFormatDateTime"),
            ("/filter/id__in", "InvalidArray"),
            ("/last", "BadFormat"),
            ("/order", "NotEnumMember"),
            ("/order_by", "NotEnumMember"),
            ("/size", "IsTooSmall"),
        ],
    ),
    ("/list", {"filter": [], "size": 1.5}, [("/filter", "InvalidObject"), ("/size", "InvalidInteger")]),
]


@pytest.mark.parametrize("path, body, want", FAULTY, ids=[path + str(body)[:30] for path, body, _ in FAULTY])
def test_all_faults_at_once(gateway, path, body, want):
    answer = gateway.api(ROOT + path, body)
    assert faults(answer) == want
    assert "NOBODYS" not in "".join(error["detail"] for error in answer.json()["result"]["errors"])


def test_too_large(gateway):
    assert faults(gateway.api(ROOT + "/create", {"name": "x" * (1 << 20)}), 413) == [("", "IsTooBig")]


OWN = {
    "name": "own",
    "enabled_rules": ["EMAIL_ADDRESS", "ACME_ID"],
    "redactions": {"EMAIL_ADDRESS": {"redaction_type": "fpe"}, "ACME_ID": {"redaction_type": "mask"}},
    "rules": {
        "ACME_ID": {
            "entity_name": "ACME",
            "matchers": [
                {"match_type": "regex", "match_value": "AC-[0-9]+", "match_score": 0.9},
                {"match_type": "starts_with", "match_value": "ACME-", "match_score": 0.9},
            ],
        },
        "SOCIAL": {"entity_name": "SOC", "matchers": "US_SSN"},
    },
    "rulesets": {"OWN": {"name": "Own", "rules": ["ACME_ID", "SOCIAL"]}},
    "allow_list": ["info@harbour-post.com", {"regex": "AC-0+"}],
}


def redacted(gateway, **body):
    answer = gateway.api("/v1/redact", {"debug": True} | body)
    assert answer.status == 200, answer.body
    result = answer.json()["result"]
    return result["redacted_text"], [one["field_type"] for one in result["report"]["recognizer_results"]], result


def test_a_call_works_with_a_config(gateway):
    config = gateway.api("/v1beta/config/create", OWN).json()["result"]["id"]
    text = "info@harbour-post.com jane@harbour-post.com AC-77 AC-000 ACME-x9 4111 1111 1111 1111"
    got, entities, result = redacted(gateway, config_id=config, text=text)
    assert got.startswith("info@harbour-post.com ") and got.endswith(" ***** AC-000 ******* 4111 1111 1111 1111")
    assert "jane" not in got and entities == ["EMAIL_ADDRESS", "ACME", "ACME"]
    back = gateway.api("/v1/unredact", {"redacted_data": got, "fpe_context": result["fpe_context"]}).json()["result"]
    assert back["data"] == text.replace("AC-77", "*****").replace("ACME-x9", "*******")

    ssn = "ssn 536-90-4399, jane@harbour-post.com"
    got, entities, _ = redacted(gateway, config_id=config, text=ssn, rulesets=["OWN"])
    assert (got, entities) == (ssn.replace("536-90-4399", "<SOCIAL>"), ["SOC"])
    unknown = gateway.api("/v1/redact", {"config_id": config, "text": "", "rules": ["NONE"], "rulesets": ["NO"]})
    assert [(one["source"], one["code"]) for one in unknown.json()["result"]["errors"]] == [
        ("/rules/0", "DoesNotExist"),
        ("/rulesets/0", "DoesNotExist"),
    ]
    gone = gateway.api("/v1/redact", {"config_id": "pci_" + "a" * 32, "text": ""})
    assert gone.json()["result"]["errors"][0]["code"] == "ConfigNotExist"


def test_enforced_rules_are_on_in_every_call(gateway):
    config = gateway.api("/v1beta/config/create", OWN | {"enforce_enabled_rules": True}).json()["result"]["id"]
    got, _, _ = redacted(gateway, config_id=config, text="AC-77 and 4111 1111 1111 1111", rules=["CREDIT_CARD"])
    assert got == "***** and <CREDIT_CARD>"


def test_a_token_has_the_config_it_is_for(gateway):
    ids = [gateway.api("/v1beta/config/create", OWN | {"name": name}).json()["result"]["id"] for name in ("a", "b")]

    def call(configs, **body):
        named = [part for one in configs for part in ("--config", one)]
        token = run("tokens", "create", "--config-file", gateway.file, *named).out.strip()
        return gateway.call("POST", "/v1/redact", {"text": "AC-77"} | body, {"authorization": "Bearer " + token})

    assert call(ids[:1]).json()["result"]["redacted_text"] == "*****"
    assert call(ids, config_id=ids[1]).json()["result"]["redacted_text"] == "*****"
    for answer, status, word in [
        (call(ids), 400, "AmbiguousConfigID"),
        (call(ids[:1], config_id=ids[1]), 403, "MissingConfigIDScope"),
        (call(["pci_" + "a" * 32]), 400, "MissingConfigID"),
    ]:
        assert (answer.status, answer.json()["status"]) == (status, word), answer.body
