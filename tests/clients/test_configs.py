"""Stored redact configs by plain HTTP: made, read, changed, listed and removed, with all faults at once."""

import pytest
from gateway import multipart, run
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


def test_an_update_changes_what_it_says(gateway, config):
    body = {"id": config["id"], "name": "renamed", "updated_at": config["updated_at"]}
    second = ok(gateway.api(ROOT + "/update", body))
    assert (second["name"], second["version"], second["created_at"]) == ("renamed", 2, config["created_at"])
    assert second["updated_at"] > config["updated_at"]
    changed = {"name", "version", "updated_at"}
    assert {name for name in config if second[name] != config[name]} == changed and set(second) == set(config)
    assert faults(gateway.api(ROOT + "/update", body)) == [("/updated_at", "BadState")]
    body = {"id": config["id"], "updated_at": second["updated_at"], "rulesets": {}, "allow_list": [], "rules": None}
    third = ok(gateway.api(ROOT + "/update", body))
    assert third["version"] == 3 and third["rules"] == FULL["rules"] and third["rulesets"] == {}
    assert "allow_list" not in third and third["name"] == "renamed"
    assert ok(gateway.api(ROOT, {"id": config["id"]})) == third


@pytest.mark.parametrize("root, more", [(ROOT, FULL), ("/sanitize" + ROOT, {"redact": {"enabled": True}})])
@pytest.mark.parametrize("agent", ["curl/8", "pangea-python/6.1.0"])
def test_what_was_read_can_be_sent_back_with_a_change(gateway, root, more, agent):
    call = lambda path, body: gateway.api(root + path, body, **{"user-agent": agent})
    made = call("/create", {"name": "round trip", **more}).json()["result"]
    read = call("", {"id": made["id"]}).json()["result"]
    assert read == made and None not in read.values()
    answer = call("/update", {**read, "name": "changed"})
    assert answer.status == 200, answer.body
    after = answer.json()["result"]
    assert {name for name in read if after[name] != read[name]} - {"version"} == {"name", "updated_at"}
    call("/delete", {"id": made["id"]})


def test_ids_of_what_is_not_there_are_refused(gateway):
    id, item = "pci_" + "a" * 32, "pvi_" + "a" * 32
    body = {"name": "x", "vault_service_config_id": id, "salt_vault_secret_id": item, "fpe_vault_secret_id": item}
    assert faults(gateway.api(ROOT + "/create", body)) == [
        ("/fpe_vault_secret_id", "DoesNotExist"),
        ("/salt_vault_secret_id", "DoesNotExist"),
        ("/vault_service_config_id", "ConfigNotExist"),
    ]
    salt = ok(gateway.api("/v2/secret/store", {"secret": "salt", "name": "of a config"}))["id"]
    made = create(gateway, "salted", salt_vault_secret_id=salt)
    assert faults(gateway.api(ROOT + "/create", {"name": "x", "fpe_vault_secret_id": salt})) == [("/fpe_vault_secret_id", "BadState")]
    body = {"id": made["id"], "updated_at": made["updated_at"], "salt_vault_secret_id": None}
    assert "salt_vault_secret_id" not in ok(gateway.api(ROOT + "/update", body))
    body = {
        "name": "x",
        "scan": {"scan_service_config_id": id},
        "defang": {"url_intel_config_id": id, "domain_intel_config_id": id},
        "redact": {"redact_service_config_id": id},
        "sos": {"share_service_config_id": id},
    }
    assert faults(gateway.api("/sanitize" + ROOT + "/create", body)) == [
        ("/defang/domain_intel_config_id", "ConfigNotExist"),
        ("/defang/url_intel_config_id", "ConfigNotExist"),
        ("/redact/redact_service_config_id", "ConfigNotExist"),
        ("/scan/scan_service_config_id", "ConfigNotExist"),
        ("/sos/share_service_config_id", "ConfigNotExist"),
    ]
    other = ok(gateway.api("/sanitize" + ROOT + "/create", {"name": "other"}))["id"]
    body = {"name": "x", "redact": {"redact_service_config_id": other}}
    answer = gateway.api("/sanitize" + ROOT + "/create", body)
    assert faults(answer) == [("/redact/redact_service_config_id", "ConfigServiceMismatch")]


def test_a_redact_config_that_went_away_is_told_to_who_sanitizes(gateway):
    named = create(gateway, "named")
    body = {"name": "x", "redact": {"enabled": True, "redact_service_config_id": named["id"]}}
    config = ok(gateway.api("/sanitize" + ROOT + "/create", body))
    ask = {"transfer_method": "put-url", "uploaded_file_name": "a.txt", "config_id": config["id"]}
    assert gateway.api("/v1/sanitize", ask).status == 202
    ok(gateway.api(ROOT + "/delete", {"id": named["id"]}))
    assert faults(gateway.api("/v1/sanitize", ask)) == [("/config_id", "ConfigNotExist")]


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
    ("/update", {}, [("/id", "FieldRequired"), ("/updated_at", "FieldRequired")]),
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


LEFT = [
    {"rules": ["CREDIT_CARD"], "redaction_method_overrides": {"redaction_type": "detect_only"}},
    {"redaction_method_overrides": {"ACME_ID": {"redaction_type": "detect_only"}}},
    {"redaction_method_overrides": {"ACME_ID": {"redaction_type": "partial_masking", "partial_masking": {"unmasked_from_left": 99}}}},
    {"allow_list": ["AC-77", {"regex": ".*"}]},
    {"rules": [], "rulesets": [], "allow_list": ["AC-77"]},
]


@pytest.mark.parametrize("more", LEFT, ids=[str(one)[:40] for one in LEFT])
def test_no_call_leaves_what_is_enforced(gateway, more):
    config = create(gateway, **OWN | {"enforce_enabled_rules": True, "allow_list": []})["id"]
    got, _, _ = redacted(gateway, config_id=config, text="AC-77", **more)
    assert got == "*****"
    for place in ({}, {"jsonp": ["$.b"]}, {"jsonp": [{"path": "$.a", "rules": ["CREDIT_CARD"]}]},
                  {"jsonp": [{"path": "$.*", "rules": [{"rule": "ACME_ID", "redaction_type": "detect_only"}]}]}):
        body = {"config_id": config, "data": {"a": "AC-77", "b": "x"}} | more | place
        assert ok(gateway.api("/v1/redact_structured", body))["redacted_data"] == {"a": "*****", "b": "x"}, place


def test_what_is_not_enforced_is_the_calls_own(gateway):
    config = create(gateway, **OWN | {"enforce_enabled_rules": True, "allow_list": []})["id"]
    text = "AC-77 and 4111 1111 1111 1111"
    got, _, _ = redacted(gateway, config_id=config, text=text, rules=["CREDIT_CARD"], allow_list=["4111 1111 1111 1111"])
    assert got == text.replace("AC-77", "*****")
    free = create(gateway, **OWN | {"allow_list": []})["id"]
    method = {"ACME_ID": {"redaction_type": "detect_only"}}
    assert redacted(gateway, config_id=free, text="AC-77", redaction_method_overrides=method)[0] == "AC-77"


@pytest.mark.parametrize("empty", [{"rules": []}, {"rulesets": []}, {"rules": [], "rulesets": []}])
def test_an_empty_list_of_rules_is_none(gateway, empty):
    text = "card 4111 1111 1111 1111"
    result = ok(gateway.api("/v1/redact", {"text": text, **empty}))
    assert result == {"redacted_text": "card <CREDIT_CARD>", "count": 1}
    body = {"data": {"a": text}, "jsonp": [{"path": "$.a", "rules": []}], **empty}
    assert ok(gateway.api("/v1/redact_structured", body))["count"] == 1


def test_personal_data_is_what_people_call_so(gateway):
    text = "My SSN is 536-90-4399, card 4111 1111 1111 1111, mail jane@harbour-post.com, key AKIAIOSFODNN7EXAMPLE"
    got = ok(gateway.api("/v1/redact", {"text": text, "rulesets": ["PII"]}))["redacted_text"]
    assert got == "My SSN is <US_SSN>, card <CREDIT_CARD>, mail <EMAIL_ADDRESS>, key AKIAIOSFODNN7EXAMPLE"


def test_own_rules_have_names_and_entities_as_their_owner_writes_them(gateway):
    matcher = {"match_type": "regex", "match_value": "AC-[0-9]+", "match_score": 0.9}
    rule = {"entity_name": "Acme number", "matchers": [matcher]}
    config = create(gateway, "own", enabled_rules=["my-rule"], rules={"my-rule": rule}, rulesets={"my-set": {"rules": ["my-rule"]}})["id"]
    for more in ({}, {"rules": ["my-rule"]}, {"rulesets": ["my-set"]}):
        got, entities, result = redacted(gateway, config_id=config, text="see AC-77", **more)
        assert (got, entities) == ("see <my-rule>", ["Acme number"])
        assert result["report"]["summary_counts"] == {"Acme number": 1}
    body = {"name": "x", "redact": {"enabled": True, "redact_service_config_id": config}}
    cleaner = ok(gateway.api("/sanitize" + ROOT + "/create", body))["id"]
    kind, form = multipart({"config_id": cleaner}, "a.txt", b"see AC-77")
    data = ok(gateway.api("/v1/sanitize", form, **{"content-type": kind}))["data"]["redact"]
    assert data["summary_counts"] == {"Acme number": 1}
    assert [one["field_type"] for one in data["recognizer_results"]] == ["Acme number"]


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
    ]:
        assert (answer.status, answer.json()["status"]) == (status, word), answer.body
    none = run("tokens", "create", "--config-file", gateway.file, "--config", ids[0], "--config", "pci_" + "a" * 32)
    assert none.returncode == 2 and none.out == "" and "--config 2" in none.err
    token = run("tokens", "create", "--config-file", gateway.file, "--config", ids[0]).out.strip()
    ok(gateway.api(ROOT + "/delete", {"id": ids[0]}))
    answer = gateway.call("POST", "/v1/redact", {"text": "AC-77"}, {"authorization": "Bearer " + token})
    assert (answer.status, answer.json()["status"]) == (400, "MissingConfigID")


def test_the_report_tells_what_was_rejected_and_why(gateway):
    matcher = {"match_type": "regex", "match_value": "AC-[0-9]+", "match_score": 0.6}
    weak = {"match_type": "regex", "match_value": "WK-[0-9]+", "match_score": 0.3}
    rules = {
        "ACME_ID": {"entity_name": "Acme", "matchers": [matcher], "match_threshold": 0.5, "negative_context_values": ["invoice"]},
        "WEAK_ID": {"entity_name": "Weak", "matchers": [weak], "match_threshold": 0.5, "context_values": ["badge"]},
    }
    config = create(gateway, "rejects", enabled_rules=list(rules), rules=rules)["id"]
    text = "staff AC-11, é invoice AC-22; see WK-33 or the badge WK-44"

    def told(result):
        found = result["report"]["recognizer_results"]
        return [(one["text"], one["field_type"], one["redacted"], one.get("reason")) for one in found], found

    want = [
        ("AC-11", "Acme", True, None),
        ("WK-44", "Weak", True, None),
        ("AC-22", "Acme", False, "negative_context"),
        ("WK-33", "Weak", False, "threshold"),
    ]
    result = ok(gateway.api("/v1/redact", {"config_id": config, "text": text, "debug": True}))
    seen, found = told(result)
    assert seen == want and result["count"] == 2 and result["report"]["summary_counts"] == {"Acme": 1, "Weak": 1}
    assert all(text[one["start"] : one["end"]] == one["text"] for one in found)
    against = found[2]["negative_context_results"]
    assert against["word"] == "invoice" and against["score_augment"] < 0 and found[2]["score"] < 0.5
    result = ok(gateway.api("/v1/redact_structured", {"config_id": config, "data": {"a": [text]}, "debug": True}))
    assert told(result)[0] == want and {one["data_key"] for one in told(result)[1]} == {"a.0"}
    agent = {"user-agent": "pangea-python/6.1.0"}
    result = ok(gateway.api("/v1/redact", {"config_id": config, "text": text, "debug": True}, **agent), "Success")
    assert [one["score"] for one in told(result)[1]] == [1, 1, 0, 0]
    quiet = ok(gateway.api("/v1/redact", {"config_id": config, "text": text}))
    assert "report" not in quiet
