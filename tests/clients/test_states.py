"""Every cell of state x operation, by plain HTTP: for each kind of item, each state of its version, and the item on, off
or past its time, what each call answers. The tables are the wire contract's (section 0, "Vault")."""

import hashlib
import hmac

import pytest
from test_native_api import envelope, faults
from test_vault import change, fpe_key, key, missing, ok, rotate, secret, sign, signed, verifies
from test_vault_redact import TEXT, back, redact

STATES = ["active", "deactivated", "suspended", "compromised", "destroyed"]


def row(text):
    return dict(zip(STATES, text.split(), strict=True))


# Columns: the states. Then whether an item that is off, or past its `disabled_at`, still may.
USES = {
    "sign": (row("yes no no no no"), False),
    "encrypt": (row("yes no no no no"), False),
    "verify": (row("yes yes yes no no"), True),
    "decrypt": (row("yes yes yes yes no"), True),
    "publish": (row("yes yes yes no no"), True),
    "export": (row("yes yes no no no"), False),
}
# Rows: the state that is; columns: the one that is asked for.
MAY_BECOME = {
    "active": row("no yes yes yes yes"),
    "deactivated": row("yes no yes yes yes"),
    "suspended": row("yes yes no yes yes"),
    "compromised": row("no no no no yes"),
    "destroyed": row("no no no no no"),
}
# What a rotation leaves of a version: what was asked for, never anything freer than it was.
AFTER = {
    None: row("deactivated deactivated suspended compromised destroyed"),
    "inherited": row("deactivated deactivated suspended compromised destroyed"),
    "deactivated": row("deactivated deactivated suspended compromised destroyed"),
    "suspended": row("suspended suspended suspended compromised destroyed"),
    "destroyed": row("destroyed destroyed destroyed destroyed destroyed"),
}
# Of an item with one version: those that name one, those that name several, those it has not, those that are none.
SINGLE = [None, "", "1", 1, "-1", -1]
SEVERAL = ["all", "-1:", "-9:"]
ABSENT = ["2", 2, "-2", -2]
WRONG = ["0", 0, "01", "1:", "x", "-0"]

SWITCHES = {"on": {}, "off": {"enabled": False}, "expired": {"disabled_at": "2020-01-01T00:00:00Z"}}

cells = pytest.mark.parametrize("state", STATES)
switched = pytest.mark.parametrize("switch", SWITCHES)


def may(use, state, switch):
    states, though_off = USES[use]
    return states[state] == "yes" and (switch == "on" or though_off)


def put(gateway, item, state, switch="on"):
    """The item's version in this state, and the item switched so."""
    if state != "active":
        ok(change(gateway, item, state))
    if SWITCHES[switch]:
        changed = ok(gateway.api("/v2/update", {"id": item, **SWITCHES[switch]}))
        assert changed["enabled"] is False
    return item


def forbidden(answer):
    assert envelope(answer, 403, "ForbiddenVaultOperation") is None


def allowed(answer, yes):
    return ok(answer) if yes else forbidden(answer)


def shown(gateway, item, state, public):
    """`/v2/get` tells of a version in every state; of a destroyed one there is no key left."""
    for selector in SINGLE + SEVERAL:
        [version] = ok(gateway.api("/v2/get", {"id": item, "version": selector}))["item_versions"]
        assert (version["version"], version["state"]) == (1, state)
        assert ("public_key" in version) is (public and state != "destroyed"), selector
        assert ("destroyed_at" in version) is (state == "destroyed")
    for selector in ABSENT:
        missing(gateway.api("/v2/get", {"id": item, "version": selector}))
    for selector in WRONG:
        assert faults(gateway.api("/v2/get", {"id": item, "version": selector})) == [("/version", "DoesNotMatchPattern")]


def published(gateway, item, yes, public=True):
    """`/v2/jwk/get` by each selector; of several versions, those that may not be shown are left out."""
    for selector in SINGLE + SEVERAL:
        answer = gateway.api("/v2/jwk/get", {"id": item, "version": selector})
        if not public or (selector in SINGLE and not yes):
            forbidden(answer)
        else:
            assert [one["kid"] for one in ok(answer)["keys"]] == [item + "|1"] * yes, selector
    for selector in ABSENT:
        answer = gateway.api("/v2/jwk/get", {"id": item, "version": selector})
        missing(answer) if public else forbidden(answer)
    for selector in WRONG:
        answer = gateway.api("/v2/jwk/get", {"id": item, "version": selector})
        assert faults(answer) == [("/version", "DoesNotMatchPattern")]


def exported(gateway, item, yes, members):
    for selector in SINGLE:
        out = allowed(gateway.api("/v2/export", {"id": item, "version": selector}), yes)
        assert not yes or {"public_key", "private_key", "key"} & set(out) == members
    for selector in SEVERAL + WRONG:
        answer = gateway.api("/v2/export", {"id": item, "version": selector})
        assert faults(answer) == [("/version", "DoesNotMatchPattern")]


def encrypts(gateway, item, yes):
    answer = redact(gateway, fpe_key_id=item)
    if yes:
        return ok(answer)
    assert faults(answer) == [("/vault_parameters/fpe_key_id", "BadState")]
    return None


def hashes(gateway, item, yes, salt=""):
    methods = {"EMAIL_ADDRESS": {"redaction_type": "hash", "hash": {"hash_type": "sha256"}}}
    answer = redact(gateway, methods, salt_secret_id=item)
    if yes:
        mail = b"jane.doe@harbour-post.com"
        assert hmac.new(salt.encode(), mail, hashlib.sha256).hexdigest() in ok(answer)["redacted_text"]
    else:
        assert faults(answer) == [("/vault_parameters/salt_secret_id", "BadState")]


def can_be_changed_and_removed(gateway, make, state, switch):
    """Every state lets its owner rename, rotate and remove, whether the item is on or not."""
    item = put(gateway, make(), state, switch)
    assert ok(gateway.api("/v2/update", {"id": item, "name": "other"}))["name"] == "other"
    for then in STATES:
        answer = change(gateway, put(gateway, make(), state, switch), then)
        changed = allowed(answer, MAY_BECOME[state][then] == "yes")
        assert changed is None or changed["item_versions"][0]["state"] == then
    assert faults(change(gateway, item, "gone")) == [("/state", "NotEnumMember")]
    missing(change(gateway, item, "suspended", version=2))
    assert ok(gateway.api("/v2/delete", {"id": item})) == {"id": item}
    for path in ("/v2/get", "/v2/jwk/get", "/v2/export", "/v2/update", "/v2/delete"):
        missing(gateway.api(path, {"id": item}))
    missing(change(gateway, item, "active"))


def rotates(gateway, make, state, switch, turn):
    """A rotation in every state: the new version is active, and the one before is as the table says."""
    for asked, after in AFTER.items():
        item = put(gateway, make(), state, switch)
        rotated = ok(turn(item) if asked is None else turn(item, rotation_state=asked))
        [version] = rotated["item_versions"]
        assert (version["version"], version["state"], rotated["num_versions"]) == (2, "active", 2)
        both = ok(gateway.api("/v2/get", {"id": item, "version": "all"}))["item_versions"]
        assert [one["state"] for one in both] == [after[state], "active"], asked
    return item


@cells
@switched
def test_a_pair_of_keys(gateway, state, switch):
    def make(**how):
        return key(gateway, exportable=True, **how)["id"]

    item, kept = make(), key(gateway)["id"]
    jws = signed(gateway, item)
    for each in (item, kept):
        put(gateway, each, state, switch)
    allowed(sign(gateway, item), may("sign", state, switch))
    assert verifies(gateway, jws) is may("verify", state, switch)
    shown(gateway, item, state, public=True)
    published(gateway, item, may("publish", state, switch))
    exported(gateway, item, may("export", state, switch), {"public_key", "private_key"})
    exported(gateway, kept, False, set())
    encrypts(gateway, item, False)
    hashes(gateway, item, False)
    forbidden(gateway.api("/v2/secret/rotate", {"id": item, "secret": "x"}))
    turned = rotates(gateway, make, state, switch, lambda item, **how: rotate(gateway, item, **how))
    allowed(sign(gateway, turned), switch == "on")
    can_be_changed_and_removed(gateway, make, state, switch)


@cells
@switched
def test_a_symmetric_key_that_signs(gateway, state, switch):
    def make(**how):
        return key(gateway, "HS256", exportable=True, **how)["id"]

    item = make()
    jws = signed(gateway, item)
    put(gateway, item, state, switch)
    allowed(sign(gateway, item), may("sign", state, switch))
    assert verifies(gateway, jws) is may("verify", state, switch)
    shown(gateway, item, state, public=False)
    published(gateway, item, False, public=False)
    exported(gateway, item, may("export", state, switch), {"key"})
    encrypts(gateway, item, False)
    hashes(gateway, item, False)
    turned = rotates(gateway, make, state, switch, lambda item, **how: rotate(gateway, item, **how))
    allowed(sign(gateway, turned), switch == "on")
    assert verifies(gateway, jws) is may("verify", state, switch)
    can_be_changed_and_removed(gateway, make, state, switch)


@cells
@switched
def test_a_symmetric_key_that_encrypts(gateway, state, switch):
    def make():
        return fpe_key(gateway)

    item = make()
    result = encrypts(gateway, item, True)
    put(gateway, item, state, switch)
    encrypts(gateway, item, may("encrypt", state, switch))
    answer = back(gateway, result)
    if may("decrypt", state, switch):
        assert ok(answer) == {"data": TEXT}
    else:
        assert faults(answer) == [("/fpe_context", "BadState")]
    forbidden(sign(gateway, item))
    shown(gateway, item, state, public=False)
    published(gateway, item, False, public=False)
    exported(gateway, item, may("export", state, switch), {"key"})
    turned = rotates(gateway, make, state, switch, lambda item, **how: rotate(gateway, item, **how))
    encrypts(gateway, turned, switch == "on")
    can_be_changed_and_removed(gateway, make, state, switch)
    encrypts(gateway, item, may("encrypt", state, switch))
    ok(gateway.api("/v2/delete", {"id": item}))
    assert faults(back(gateway, result)) == [("/fpe_context", "DoesNotExist")]


@cells
@switched
def test_a_secret(gateway, state, switch):
    def make():
        return secret(gateway, "salty salt")

    def turn(item, **how):
        return gateway.api("/v2/secret/rotate", {"id": item, "secret": "another", **how})

    item = put(gateway, make(), state, switch)
    shown(gateway, item, state, public=False)
    [version] = ok(gateway.api("/v2/get", {"id": item}))["item_versions"]
    assert version.get("secret") == ("salty salt" if may("export", state, switch) else None)
    hashes(gateway, item, may("encrypt", state, switch), "salty salt")
    encrypts(gateway, item, False)
    forbidden(sign(gateway, item))
    published(gateway, item, False, public=False)
    exported(gateway, item, False, set())
    forbidden(rotate(gateway, item))
    turned = rotates(gateway, make, state, switch, turn)
    hashes(gateway, turned, switch == "on", "another")
    can_be_changed_and_removed(gateway, make, state, switch)
