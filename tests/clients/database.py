"""A PostgreSQL database of each test's own. `tests/run` starts a server; elsewhere PORTCULLIS_POSTGRES names one."""

import contextlib
import os
import shutil
import subprocess
import time
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

    def rows(self, query):
        """The first column of what a query gives, as texts."""
        command = ["psql", "-qtA", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", query]
        return subprocess.run(command, check=True, timeout=30, capture_output=True, text=True).stdout.split("\n")[:-1]

    @contextlib.contextmanager
    def locked(self):
        """Meanwhile rows can be read, and none written; whoever waits to write at the end never will."""
        lock = "BEGIN; LOCK TABLE portcullis_records IN EXCLUSIVE MODE; SELECT pg_sleep(60)"
        holder = subprocess.Popen(["psql", "-q", "-d", self.url, "-c", lock], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mine = "SELECT pid FROM pg_locks WHERE mode = 'ExclusiveLock' AND granted AND relation = 'portcullis_records'::regclass"
        end = time.monotonic() + 20
        while not self.rows(mine):
            assert time.monotonic() < end
            time.sleep(0.05)
        yield
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'portcullis_records'::regclass")
        self.sql("SELECT pg_terminate_backend(pid) FROM (%s) AS holder" % mine)
        holder.wait(20)

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
