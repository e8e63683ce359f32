"""Two gateways on one PostgreSQL database."""

import socket

import pytest
from database import URL, config, database, server  # noqa: F401  (fixtures)
from gateway import Gateway, run
from test_configs import ROOT, create, ok

MAIL = "jane.doe@harbour-post.com"
FPE = {"redactions": {"EMAIL_ADDRESS": {"redaction_type": "fpe"}}}
FAILED = 1


@server
def test_two_gateways_share_tokens_configs_and_keys(config):  # noqa: F811
    with Gateway("", config) as one, Gateway("", config, token=one.token) as other:
        # Nothing that another host would need.
        assert sorted(file.name for file in (one.home / "data").iterdir()) == ["blobs", "serve.lock", "serve.pid", "upgrade.sock"]
        made = create(one, "shared", **FPE)
        assert ok(other.api(ROOT, {"id": made["id"]})) == made
        texts = [ok(each.api("/v1/redact", {"text": MAIL, "config_id": made["id"]}))["redacted_text"] for each in (one, other)]
        assert texts[0] == texts[1] != MAIL

        listed = run("tokens", "list", "-c", one.file).out
        assert len(listed.splitlines()) == 2
        identity = listed.splitlines()[1].split("\t")[0]
        assert run("tokens", "revoke", identity, "-c", other.file).returncode == 0
        # A process remembers a token for a moment, so another's revocation takes that long.
        for each in (one, other):
            each.wait_for(lambda: each.api("/v1/redact", {"text": MAIL}).status == 401, 10)
        password = URL.rpartition("@")[0].rpartition(":")[2]
        assert password not in "\n".join(one.log + other.log)


@server
def test_what_is_stored_outlives_the_process_and_the_servers_cuts(config, database):  # noqa: F811
    with Gateway("", config) as gateway:
        made = create(gateway, "kept")
        gateway.restart()
        assert ok(gateway.api(ROOT, {"id": made["id"]})) == made
        database.end_sessions()
        gateway.wait_for(lambda: gateway.api(ROOT, {"id": made["id"]}).status == 200, 10)


@pytest.mark.parametrize("command", [["serve"], ["tokens", "list"]])
def test_a_database_that_cannot_be_reached_is_said_without_its_url(tmp_path, command):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = tmp_path / "portcullis.toml"
    file.write_text('data = "data"\n[store]\nurl = "postgres://me:hunter2@127.0.0.1:%d/hunter3"\n' % port)
    done = run(*command, "-c", file)
    assert done.returncode == FAILED and done.out == ""
    assert "store.url: the store is unavailable (it cannot be reached)" in done.err and "hunter" not in done.err
