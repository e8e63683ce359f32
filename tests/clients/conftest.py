"""One mock upstream and one gateway for all tests; each test begins with nothing recorded."""

import pytest
from gateway import BINARY, Gateway
from mock_upstream import Mock


def pytest_configure():
    if not BINARY.is_file():
        pytest.exit("%s is not there: build it, or set PORTCULLIS_BIN" % BINARY, returncode=4)


@pytest.fixture(scope="session")
def upstream():
    with Mock() as mock:
        yield mock


@pytest.fixture(scope="session")
def gateway(upstream):
    with Gateway(upstream.url) as running:
        yield running


@pytest.fixture
def mock(upstream):
    upstream.forget()
    return upstream
