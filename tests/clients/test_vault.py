"""The vault by plain HTTP: keys, secrets and folders, their states and versions, tokens, and what redaction does with them."""

import base64
import json

import pytest
from test_native_api import envelope, faults

STATES = ["active", "deactivated", "suspended", "compromised", "destroyed"]
MAY_BECOME = {
    "active": {"deactivated", "suspended", "compromised", "destroyed"},
    "deactivated": {"active", "suspended", "compromised", "destroyed"},
    "suspended": {"active", "deactivated", "compromised", "destroyed"},
    "compromised": {"destroyed"},
    "destroyed": set(),
}
# State: sign, verify, jwk/get, export.
USES = {
    "active": (True, True, True, True),
    "deactivated": (False, True, True, True),
    "suspended": (False, True, True, False),
    "compromised": (False, False, False, False),
    "destroyed": (False, False, False, False),
}
MAIL = "jane.doe@harbour-post.com"
CARD = "4111 1111 1111 1111"


def ok(answer):
    return envelope(answer, 200, "success")


def missing(answer):
    assert envelope(answer, 404, "VaultItemNotFound") is None


def forbidden(answer):
    assert envelope(answer, 403, "ForbiddenVaultOperation") is None


def key(gateway, algorithm="ES256", **more):
    symmetric = algorithm.startswith(("HS", "AES"))
    ask = {
        "type": "symmetric_key" if symmetric else "asymmetric_key",
        "purpose": "fpe" if algorithm.startswith("AES") else "jwt",
        "algorithm": algorithm,
    }
    return ok(gateway.api("/v2/key/generate", {**ask, **more}))


def fpe_key(gateway, **more):
    return key(gateway, "AES-FF3-1-256-BETA", exportable=True, **more)["id"]


def secret(gateway, text):
    return ok(gateway.api("/v2/secret/store", {"secret": text}))["id"]


def sign(gateway, item, payload='{"sub":"x"}'):
    return gateway.api("/v2/jwt/sign", {"id": item, "payload": payload})


def signed(gateway, item):
    return ok(sign(gateway, item))["jws"]


def verifies(gateway, jws):
    return ok(gateway.api("/v2/jwt/verify", {"jws": jws}))["valid_signature"]


def change(gateway, item, state, **more):
    return gateway.api("/v2/state/change", {"id": item, "state": state, **more})


def rotate(gateway, item, **more):
    return gateway.api("/v2/key/rotate", {"id": item, **more})


def test_a_key_has_all_that_clients_ask_for(gateway):
    made = key(gateway, name="k", folder="a/b", metadata={"x": "y"}, tags=["t"], exportable=True)
    [version] = made.pop("item_versions")
    created = made.pop("created_at")
    assert made.pop("id").startswith("pvi_") and created == version["created_at"]
    assert made == {
        "type": "asymmetric_key", "name": "k", "folder": "/a/b/", "metadata": {"x": "y"}, "tags": ["t"],
        "enabled": True, "purpose": "jwt", "algorithm": "ES256", "exportable": True, "rotation_frequency": "never",
        "rotation_state": "deactivated", "next_rotation": "", "inherited_settings": {}, "num_versions": 1,
    }  # fmt: skip
    assert (version["version"], version["state"]) == (1, "active")
    assert version["public_key"].startswith("-----BEGIN PUBLIC KEY-----\n")


@pytest.mark.parametrize(
    "algorithm",
    "ES256 ES384 ES512 RS256 RS384 RS512 PS256 PS384 PS512 EdDSA HS256 HS384 HS512".split(),
)
def test_every_algorithm_signs_and_verifies(gateway, algorithm):
    made = key(gateway, algorithm, exportable=True)
    jws = signed(gateway, made["id"])
    header, payload, _ = jws.split(".")
    decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (header, payload)]
    assert json.loads(decoded[0]) == {"alg": algorithm, "kid": made["id"] + "|1", "typ": "JWT"}
    assert decoded[1] == b'{"sub":"x"}' and verifies(gateway, jws)
    keys = gateway.api("/v2/jwk/get", {"id": made["id"]})
    if algorithm.startswith("HS"):
        forbidden(keys)
    else:
        [jwk] = ok(keys)["keys"]
        assert (jwk["alg"], jwk["use"], jwk["kid"]) == (algorithm, "sig", made["id"] + "|1")
        assert not {"d", "p", "q", "k"} & set(jwk)
    # What was handed out and stored again is the same key.
    out = ok(gateway.api("/v2/export", {"id": made["id"]}))
    assert out["encryption_type"] == "none" and out["version"] == 1
    parts = {name: out[name] for name in ("public_key", "private_key", "key") if name in out}
    ask = {name: made[name] for name in ("type", "purpose", "algorithm")}
    again = ok(gateway.api("/v2/key/store", {**ask, **parts}))
    assert again["item_versions"][0].get("public_key") == made["item_versions"][0].get("public_key")
    other = base64.urlsafe_b64encode(b'{"sub":"y"}').decode().rstrip("=")
    assert not verifies(gateway, jws.replace(payload, other))


@pytest.mark.parametrize("state", STATES)
def test_every_state_allows_what_the_table_says(gateway, state):
    item = key(gateway, exportable=True)["id"]
    jws = signed(gateway, item)
    if state != "active":
        changed = ok(change(gateway, item, state))
        assert changed["item_versions"][0]["state"] == state
    signs, believed, shown, exported = USES[state]
    answers = [
        (sign(gateway, item), signs),
        (gateway.api("/v2/jwk/get", {"id": item}), shown),
        (gateway.api("/v2/export", {"id": item, "version": 1}), exported),
    ]
    for answer, allowed in answers:
        ok(answer) if allowed else forbidden(answer)
    assert verifies(gateway, jws) is believed
    assert len(ok(gateway.api("/v2/jwk/get", {"id": item, "version": "all"}))["keys"]) == shown
    for then in STATES:
        other = key(gateway, "HS256")["id"]
        if state != "active":
            ok(change(gateway, other, state))
        answer = change(gateway, other, then)
        ok(answer) if then in MAY_BECOME[state] else forbidden(answer)
    rotated = ok(rotate(gateway, item))
    assert [version["version"] for version in rotated["item_versions"]] == [2] and rotated["num_versions"] == 2
    assert verifies(gateway, signed(gateway, item))


def test_versions_are_selected(gateway):
    item = key(gateway)["id"]
    for _ in range(3):
        ok(rotate(gateway, item, rotation_state="suspended"))
    rows = {"1": [1], "all": [1, 2, 3, 4], "-1": [4], "-2:": [3, 4], "-9:": [1, 2, 3, 4], "": [4]}
    for selector, versions in [*rows.items(), (2, [2]), (-4, [1]), (None, [4])]:
        got = ok(gateway.api("/v2/jwk/get", {"id": item, "version": selector}))["keys"]
        assert [one["kid"] for one in got] == ["%s|%d" % (item, version) for version in versions], selector
        got = ok(gateway.api("/v2/get", {"id": item, "version": selector}))["item_versions"]
        assert [one["version"] for one in got] == versions, selector
    for selector in ("5", "-5", 5, -5, 2**63, "9" * 30):
        missing(gateway.api("/v2/jwk/get", {"id": item, "version": selector}))
    for selector in ("0", "01", "1:", "x", 0):
        answer = gateway.api("/v2/jwk/get", {"id": item, "version": selector})
        assert faults(answer) == [("/version", "DoesNotMatchPattern")], selector
    assert faults(gateway.api("/v2/jwk/get", {"id": item, "version": 1.5})) == [("/version", "InvalidInteger")]
    ok(change(gateway, item, "destroyed", version=2))
    got = ok(gateway.api("/v2/jwk/get", {"id": item, "version": "all"}))["keys"]
    assert [one["kid"][-1] for one in got] == ["1", "3", "4"]
    [gone] = ok(gateway.api("/v2/get", {"id": item, "version": 2}))["item_versions"]
    assert gone["state"] == "destroyed" and "public_key" not in gone and "destroyed_at" in gone


def test_what_does_not_fit_is_told_by_its_place(gateway):
    generate = "/v2/key/generate"
    assert faults(gateway.api(generate, {})) == [
        ("/algorithm", "FieldRequired"),
        ("/purpose", "FieldRequired"),
        ("/type", "FieldRequired"),
    ]
    ask = {"type": "symmetric_key", "purpose": "jwt", "algorithm": "ES256", "folder": "/ä", "x": 1}
    ask.update(rotation_frequency="soon", metadata={"a": 1}, tags=["t", "t"], rotation_state="gone")
    assert faults(gateway.api(generate, ask)) == [
        ("/algorithm", "NotEnumMember"),
        ("/folder", "DoesNotMatchPattern"),
        ("/metadata/a", "InvalidString"),
        ("/rotation_frequency", "BadFormatPangeaDuration"),
        ("/rotation_state", "NotEnumMember"),
        ("/tags/1", "ItemNotUnique"),
        ("/x", "UnexpectedProperty"),
    ]
    store = {"type": "symmetric_key", "purpose": "fpe", "algorithm": "AES-FF1-128"}
    assert faults(gateway.api("/v2/key/store", store)) == [("/key", "FieldRequired")]
    assert faults(gateway.api("/v2/key/store", {**store, "key": "%"})) == [("/key", "BadFormatBase64")]
    assert faults(gateway.api("/v2/key/store", {**store, "key": "AAAA"})) == [("/key", "BadFormat")]
    assert faults(gateway.api("/v2/secret/store", {"secret": ""})) == [("/secret", "BelowMinLength")]
    assert faults(gateway.api("/v2/secret/store", {"secret": "x" * 10241})) == [("/secret", "AboveMaxLength")]
    item = key(gateway)["id"]
    for payload, code in (("no", "BadFormat"), ("[]", "InvalidObject"), ('{"a":1,"a":2}', "BadFormat")):
        assert faults(sign(gateway, item, payload)) == [("/payload", code)]
    for none in ("", "a.b.c", "a.b", "e30.e30", "e30.e30.e30.e30", "e30.*.e30", "W10.e30.e30"):
        assert faults(gateway.api("/v2/jwt/verify", {"jws": none})) == [("/jws", "BadFormat")], none
    for unknown in ("pvi_" + "a" * 32, "thisisnotanid", ""):
        for path in ("/v2/get", "/v2/delete", "/v2/jwk/get", "/v2/export", "/v2/key/rotate", "/v2/update"):
            missing(gateway.api(path, {"id": unknown}))
    forbidden(sign(gateway, fpe_key(gateway)))
    forbidden(gateway.api("/v2/export", {"id": item}))


def test_items_are_listed_changed_and_removed(gateway):
    folder = ok(gateway.api("/v2/folder/create", {"name": "listed", "folder": "/", "rotation_frequency": "30d"}))
    assert (folder["type"], folder["folder"], folder["tags"]) == ("folder", "/", [])
    twice = gateway.api("/v2/folder/create", {"name": "listed", "folder": "/"})
    assert faults(twice) == [("/name", "BadState")]
    made = [key(gateway, "HS256", folder="/listed", name="n%d" % n, tags=["even"[n % 2 :]]) for n in range(5)]
    assert all(one["inherited_settings"] == {"rotation_frequency": "/listed/"} for one in made)
    assert all(one["rotation_frequency"] == "30d" and one["next_rotation"] > one["created_at"] for one in made)
    ask = {"filter": {"folder": "listed", "name__contains": "n"}, "size": 2, "order_by": "name", "order": "desc"}
    names = []
    while True:
        page = ok(gateway.api("/v2/list", ask))
        if not page["items"]:
            break
        assert all("item_versions" not in one for one in page["items"])
        names += [one["name"] for one in page["items"]]
        ask["last"] = page["last"]
    assert names == ["n4", "n3", "n2", "n1", "n0"]
    found = ok(gateway.api("/v2/list", {"filter": {"folder": "/listed/", "tags": "even"}}))["items"]
    assert sorted(one["name"] for one in found) == ["n0", "n2", "n4"]
    assert faults(gateway.api("/v2/list", {"filter": {"x": "y"}})) == [("/filter/x", "UnexpectedProperty")]
    change = {"id": made[0]["id"], "name": "other", "enabled": False, "rotation_frequency": "never"}
    other = ok(gateway.api("/v2/update", change))
    assert (other["name"], other["enabled"], other["next_rotation"], other["tags"]) == ("other", False, "", ["even"])
    forbidden(sign(gateway, made[0]["id"]))
    forbidden(gateway.api("/v2/delete", {"id": folder["id"]}))
    assert ok(gateway.api("/v2/delete", {"id": folder["id"], "recursive": True})) == {"id": folder["id"]}
    for one in [folder, *made]:
        missing(gateway.api("/v2/get", {"id": one["id"]}))


def test_a_damaged_signature_is_not_valid(gateway):
    """Whatever becomes of the last part, it is a token whose signature does not verify."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    jws = signed(gateway, key(gateway)["id"])
    message, _, signature = jws.rpartition(".")
    damaged = [signature[:-1] + char for char in alphabet if char != signature[-1]]
    damaged += [signature[:-1], signature[:-2], "", signature + "=", signature + "A", "*", "%", " ", "\u00e9"]
    assert verifies(gateway, jws)
    assert not any(verifies(gateway, message + "." + other) for other in damaged)
