"""A PostgreSQL database of each test's own. `tests/run` starts a server; elsewhere PORTCULLIS_POSTGRES names one."""

import os
import shutil
import subprocess
import uuid

import pytest
from gateway import MINIMAL

URL = os.environ.get("PORTCULLIS_POSTGRES", "")
server = pytest.mark.skipif(
    not URL or not shutil.which("psql"), reason="PORTCULLIS_POSTGRES names no server, or there is no psql"
)

CONFIG = MINIMAL + """
[store]
url = "%s"
tls = "disable"
timeout = "2s"

[vault]
master_key = {{ file = "%s" }}
"""


class Database:
    def __init__(self):
        self.name = "clients_" + uuid.uuid4().hex
        self.url = URL.rpartition("/")[0] + "/" + self.name
        run_sql(URL, "CREATE DATABASE " + self.name)

    def sql(self, text):
        run_sql(self.url, text)

    def end_sessions(self):
        """As a server that is restarted would: of this database only."""
        self.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    def drop(self):
        run_sql(URL, "DROP DATABASE %s WITH (FORCE)" % self.name)


def run_sql(url, text):
    command = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", "SET client_min_messages = warning", "-c", text]
    subprocess.run(command, check=True, timeout=30, stdout=subprocess.DEVNULL)


@pytest.fixture
def database():
    made = Database()
    yield made
    made.drop()


@pytest.fixture
def config(database, tmp_path):
    """The configuration of gateways that share the test's database."""
    key = tmp_path / "key"
    key.write_text("2b" * 32)
    return CONFIG % (database.url, key)
