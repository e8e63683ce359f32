"""Redaction with callers' keys, salts and tweaks from the vault; and what of the vault lies on disk."""

import base64
import hashlib
import hmac

from test_native_api import envelope, faults
from test_vault import CARD, MAIL, change, fpe_key, key, ok, rotate, secret, signed, verifies

FPE = {"EMAIL_ADDRESS": {"redaction_type": "fpe"}, "CREDIT_CARD": {"redaction_type": "fpe", "fpe_alphabet": "numeric"}}
TEXT = "Mail %s or card %s" % (MAIL, CARD)


def redact(gateway, methods=FPE, **vault):
    ask = {"text": TEXT, "redaction_method_overrides": methods, "vault_parameters": vault}
    return gateway.api("/v1/redact", ask)


def back(gateway, result):
    ask = {"redacted_data": result["redacted_text"], "fpe_context": result["fpe_context"]}
    return gateway.api("/v1/unredact", ask)


def test_a_callers_key_encrypts_and_its_version_decrypts(gateway):
    item = fpe_key(gateway)
    own = ok(redact(gateway))
    first = ok(redact(gateway, fpe_key_id=item))
    assert MAIL not in first["redacted_text"] and first["redacted_text"] != own["redacted_text"]
    assert ok(redact(gateway, fpe_key_id=item))["redacted_text"] == first["redacted_text"]
    ok(rotate(gateway, item))
    second = ok(redact(gateway, fpe_key_id=item))
    assert second["redacted_text"] != first["redacted_text"]
    for result in (own, first, second):
        assert ok(back(gateway, result)) == {"data": TEXT}
    # Each state as the table has it: compromised decrypts, destroyed does not.
    for state, decrypts in (("suspended", True), ("compromised", True), ("destroyed", False)):
        ok(change(gateway, item, state))
        assert faults(redact(gateway, fpe_key_id=item)) == [("/vault_parameters/fpe_key_id", "BadState")]
        answer = back(gateway, second)
        if decrypts:
            assert ok(answer) == {"data": TEXT}
        else:
            assert faults(answer) == [("/fpe_context", "BadState")]
    assert ok(back(gateway, first)) == {"data": TEXT}
    ok(gateway.api("/v2/delete", {"id": item}))
    assert faults(back(gateway, first)) == [("/fpe_context", "DoesNotExist")]


def test_what_is_no_such_item_is_told_by_its_place(gateway):
    at = "/vault_parameters/fpe_key_id"
    for unknown in ("pvi_" + "a" * 32, "thisisnotanid"):
        assert faults(redact(gateway, fpe_key_id=unknown)) == [(at, "DoesNotExist")]
        salt = redact(gateway, salt_secret_id=unknown)
        assert faults(salt) == [("/vault_parameters/salt_secret_id", "DoesNotExist")]
    kept = key(gateway, "AES-FF1-128")["id"]
    for wrong in (kept, key(gateway, "HS256", exportable=True)["id"], secret(gateway, "x")):
        assert faults(redact(gateway, fpe_key_id=wrong)) == [(at, "BadState")]
    tweaked = {"EMAIL_ADDRESS": {"redaction_type": "fpe", "fpe_tweak_vault_secret_id": secret(gateway, "no tweak")}}
    place = "/redaction_method_overrides/EMAIL_ADDRESS/fpe_tweak_vault_secret_id"
    assert faults(redact(gateway, tweaked)) == [(place, "BadState")]


def test_salts_and_tweaks_come_from_the_vault(gateway):
    salt = secret(gateway, "salty salt")
    hashed = {"EMAIL_ADDRESS": {"redaction_type": "hash", "hash": {"hash_type": "sha256"}}}
    result = ok(redact(gateway, hashed, salt_secret_id=salt))
    assert hmac.new(b"salty salt", MAIL.encode(), hashlib.sha256).hexdigest() in result["redacted_text"]

    def tweak(**how):
        card = {"redaction_type": "fpe", "fpe_alphabet": "numeric", **how}
        return ok(redact(gateway, {"CREDIT_CARD": card}))["redacted_text"]

    kept = secret(gateway, "abcdefg")
    assert tweak(fpe_tweak_vault_secret_id=kept) == tweak(fpe_tweak="abcdefg") != tweak()


def test_a_config_names_items_too(gateway):
    item, salt = fpe_key(gateway), secret(gateway, "salty salt")
    settings = {"name": "c", "enabled_rules": ["EMAIL_ADDRESS"], "fpe_vault_secret_id": item}
    settings.update(salt_vault_secret_id=salt, redactions={"EMAIL_ADDRESS": {"redaction_type": "fpe"}})
    config = ok(gateway.api("/v1beta/config/create", settings))["id"]
    ask = {"text": "Mail " + MAIL, "config_id": config}
    result = ok(gateway.api("/v1/redact", ask))
    assert MAIL not in result["redacted_text"] and ok(back(gateway, result)) == {"data": "Mail " + MAIL}
    ok(change(gateway, item, "deactivated"))
    assert faults(gateway.api("/v1/redact", ask)) == [("/config_id", "BadState")]
    assert ok(back(gateway, result)) == {"data": "Mail " + MAIL}
    ok(gateway.api("/v1beta/config/delete", {"id": config}))


def test_nothing_on_disk_tells_a_secret_and_a_restart_keeps_all(gateway):
    raw = bytes(range(200, 232))
    stored = {"type": "symmetric_key", "purpose": "fpe", "algorithm": "AES-FF1-256", "exportable": True}
    item = ok(gateway.api("/v2/key/store", {**stored, "key": base64.b64encode(raw).decode()}))["id"]
    kept = secret(gateway, "correct horse battery staple")
    jws_key = key(gateway, name="a name of its own")["id"]
    jws, result = signed(gateway, jws_key), ok(redact(gateway, fpe_key_id=item))
    forms = [raw, raw.hex().encode(), base64.b64encode(raw), base64.urlsafe_b64encode(raw)]
    forms += [b"correct horse battery staple", b"a name of its own"]
    files = [file for file in (gateway.home / "data").rglob("*") if file.is_file()]
    assert files and not [(file, form) for file in files for form in forms if form in file.read_bytes()]
    assert not [form for form in forms for line in gateway.log if form in line.encode()]
    gateway.restart()
    assert verifies(gateway, jws) and ok(back(gateway, result)) == {"data": TEXT}
    [version] = ok(gateway.api("/v2/get", {"id": kept}))["item_versions"]
    assert version["secret"] == "correct horse battery staple"
    envelope(gateway.api("/v2/get", {"id": kept, "version": 2}), 404, "VaultItemNotFound")
