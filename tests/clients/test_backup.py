"""A store that is not the one that was there is not begun anew without a word; and what the pages say of copies is so."""

import re
import shutil
import sqlite3
import subprocess

import pytest
from database import CONFIG as DATABASE_CONFIG
from database import Database, server
from gateway import MINIMAL, ROOT, Gateway, run

SAID = "is a master key that was in use, but there is nothing in the store"
SECRET = {"type": "secret", "secret": "a-secret-of-this-test", "name": "one"}


def stored(gateway):
    answer = gateway.api("/v2/secret/store", SECRET)
    assert answer.status == 200, answer.body
    return answer.json()["result"]["id"]


def refused(gateway):
    done = run("serve", "-c", gateway.file)
    assert done.returncode == 1 and SAID in done.err and done.out == "", done.err
    return done.err


def missing(data):
    for file in data.glob("portcullis.sqlite*"):
        file.unlink()


def empty(data):
    missing(data)
    (data / "portcullis.sqlite").touch(mode=0o600)


def without_rows(data):
    """As a file is that was copied without the log beside it, soon after the first start."""
    with sqlite3.connect(data / "portcullis.sqlite") as store:
        store.execute("DELETE FROM records")
    store.close()


@pytest.mark.parametrize("lose", [missing, empty, without_rows])
def test_a_store_that_was_lost_is_told(lose):
    with Gateway("", MINIMAL) as gateway:
        secret = stored(gateway)
        assert gateway.stop() == 0
        data = gateway.home / "data"
        kept = gateway.home / "kept"
        shutil.copytree(data, kept, copy_function=shutil.copy2, ignore=shutil.ignore_patterns("*.sock"))
        lose(data)
        refused(gateway)
        refused(gateway)
        assert run("keys", "list", "-c", gateway.file).returncode == 1
        # Nothing is left of it that the right one would be mixed with.
        assert not list(data.glob("*-wal"))
        shutil.copy2(kept / "portcullis.sqlite", data / "portcullis.sqlite")
        gateway.start()
        assert gateway.api("/v2/get", {"id": secret}).status == 200
        assert gateway.stop() == 0
        # Begun anew, since somebody wants that.
        missing(data)
        (data / "master.key").unlink()
        gateway.out.clear()
        gateway.start()
        gateway.token = gateway.wait_for(lambda: gateway.out)[0]
        assert gateway.api("/v2/get", {"id": secret}).status == 404


def test_a_key_from_elsewhere_begins_a_store_with_a_warning(tmp_path):
    key = tmp_path / "key"
    key.write_text("2b" * 32)
    key.chmod(0o600)
    with Gateway("", MINIMAL + '[vault]\nmaster_key = {{ file = "%s" }}\n' % key) as gateway:
        assert any("the store was empty and begins anew" in line for line in gateway.log)
        gateway.log.clear()
        gateway.restart()
        assert not any("begins anew" in line for line in gateway.log)


def blocks():
    section = (ROOT / "docs/operations.md").read_text().split("## Backup and restore\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.S)


def shell(text, places):
    for documented, here in places.items():
        text = text.replace(documented, str(here))
    text = re.sub(r"^(systemctl|chown) .*\n", "", text, flags=re.M)
    done = subprocess.run(["bash", "-euxc", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="there is no sqlite3")
def test_the_pages_commands_make_a_copy_that_can_be_restored():
    copy, restore, _ = blocks()
    with Gateway("", MINIMAL) as gateway:
        secret = stored(gateway)
        data = gateway.home / "data"
        places = {"/var/lib/portcullis": data, "/backup": gateway.home / "backup"}
        shell(copy, places)
        assert gateway.stop() == 0
        shutil.rmtree(data)
        shell(restore, places)
        gateway.start()
        assert gateway.api("/v2/get", {"id": secret}).status == 200


@server
@pytest.mark.skipif(not shutil.which("pg_dump"), reason="there is no pg_dump")
def test_the_pages_commands_copy_a_database(tmp_path):
    key = tmp_path / "key"
    key.write_text("2b" * 32)
    key.chmod(0o600)
    dump, restore = blocks()[2].strip().split("\n")
    database = Database()
    places = {"$URL": database.url, "/backup": tmp_path}
    with Gateway("", DATABASE_CONFIG % (database.url, key)) as gateway:
        secret = stored(gateway)
        shell(dump, places)
        assert gateway.stop() == 0
        database.sql("DELETE FROM portcullis_records")
        shell(restore, places)
        gateway.start()
        assert gateway.api("/v2/get", {"id": secret}).status == 200
