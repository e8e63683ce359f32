"""The vault through the public Python SDK, as it is: its models take every answer, its errors are the right ones."""

import json

import pangea.exceptions
import pytest
from pangea import PangeaConfig
from pangea.services import Redact
from pangea.services.redact import RedactionMethodOverrides, RedactType, VaultParameters
from pangea.services.vault.models.asymmetric import AsymmetricKeyJwtAlgorithm, AsymmetricKeyPurpose
from pangea.services.vault.models.common import ItemType, ItemVersionState, RequestManualRotationState
from pangea.services.vault.models.symmetric import SymmetricKeyFpeAlgorithm, SymmetricKeyPurpose
from pangea.services.vault.vault import Vault

PAYLOAD = json.dumps({"message": "message to sign"})


@pytest.fixture(scope="module")
def vault(gateway):
    return Vault(gateway.token, config=PangeaConfig(base_url_template=gateway.url, request_retries=0))


def generate(vault, **more):
    made = vault.generate_key(
        key_type=ItemType.ASYMMETRIC_KEY,
        purpose=AsymmetricKeyPurpose.JWT,
        algorithm=AsymmetricKeyJwtAlgorithm.ES256,
        **more,
    )
    return made.result


def test_a_keys_life(vault):
    item = generate(vault, name="sdk", folder="/sdk/", rotation_frequency="30d").id
    jws = vault.jwt_sign(item, PAYLOAD).result.jws
    vault.rotate_key(item, key_type=ItemType.ASYMMETRIC_KEY, rotation_state=RequestManualRotationState.SUSPENDED)
    assert [one.state.value for one in vault.get(item, version="all").result.item_versions] == ["suspended", "active"]
    assert vault.jwt_verify(jws).result.valid_signature is True
    assert [one.kid for one in vault.jwk_get(item, version="-2:").result.keys] == [item + "|1", item + "|2"]
    vault.state_change(item, ItemVersionState.COMPROMISED, version=1)
    assert vault.jwt_verify(jws).result.valid_signature is False
    vault.update(item, name="other", tags=["t"])
    assert vault.get(item).result.name == "other"
    with pytest.raises(pangea.exceptions.ForbiddenVaultOperation):
        vault.export(item)
    vault.state_change(item, ItemVersionState.DESTROYED)
    with pytest.raises(pangea.exceptions.ForbiddenVaultOperation):
        vault.jwt_sign(item, PAYLOAD)
    assert vault.delete(item).result.id == item
    with pytest.raises(pangea.exceptions.VaultItemNotFound):
        vault.get(item)


def test_what_is_exported_can_be_stored(vault):
    made = generate(vault, exportable=True)
    out = vault.export(made.id).result
    again = vault.store_key(
        key_type=ItemType.ASYMMETRIC_KEY,
        purpose=AsymmetricKeyPurpose.JWT,
        algorithm=AsymmetricKeyJwtAlgorithm.ES256,
        public_key=out.public_key,
        private_key=out.private_key,
    ).result
    assert again.item_versions[0].public_key == made.item_versions[0].public_key


def test_folders_and_lists(vault):
    folder = vault.folder_create("sdk folder", "/").result
    inside = [generate(vault, folder="/sdk folder/", name="n%d" % n).id for n in range(3)]
    assert vault.get(folder.id).result.type == ItemType.FOLDER
    found, last = [], None
    while True:
        page = vault.list(filter={"folder": "/sdk folder/"}, size=2, last=last).result
        if not page.items:
            break
        found, last = found + [one.id for one in page.items], page.last
    assert found == inside
    vault.delete(folder.id, recursive=True)


def test_secrets_rotate(vault):
    item = vault.store_secret("first").result.id
    assert vault.rotate_secret(item, "second").result.item_versions[0].secret == "second"
    assert [one.secret for one in vault.get(item, version="all").result.item_versions] == ["first", "second"]


def test_a_key_for_redaction(vault, gateway):
    item = vault.generate_key(
        key_type=ItemType.SYMMETRIC_KEY,
        purpose=SymmetricKeyPurpose.FPE,
        algorithm=SymmetricKeyFpeAlgorithm.AES_FF3_1_256_BETA,
        exportable=True,
    ).result.id
    redact = Redact(gateway.token, config=PangeaConfig(base_url_template=gateway.url, request_retries=0))
    text = "Card 4111 1111 1111 1111"
    result = redact.redact(
        text,
        rules=["CREDIT_CARD"],
        redaction_method_overrides=RedactionMethodOverrides(redaction_type=RedactType.FPE),
        vault_parameters=VaultParameters(fpe_key_id=item),
    ).result
    assert result.redacted_text != text
    vault.rotate_key(item, key_type=ItemType.SYMMETRIC_KEY)
    assert redact.unredact(result.redacted_text, result.fpe_context).result.data == text
