"""One mock upstream and one gateway for all tests; each test begins with nothing recorded."""

import signal

import pytest
from gateway import BINARY, Gateway
from mock_upstream import Mock

pytest.register_assert_rewrite("llm")


def pytest_configure():
    # A shell has what it starts in the background ignore these, and so would all that is started here.
    for ended in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(ended) == signal.SIG_IGN:
            signal.signal(ended, signal.default_int_handler if ended == signal.SIGINT else signal.SIG_DFL)
    if not BINARY.is_file():
        pytest.exit("%s is not there: build it, or set PORTCULLIS_BIN" % BINARY, returncode=4)


# Files that take longest, most by waiting. They begin first, so that no worker is left with one of them at the end.
LONGEST = """
    console_pages console_live openapi audit_copies console_playground damage sanitize_scripts log_lines keys faults shared_budgets
    sanitize_markup conversations token_bounds nodes life mint tweak_scope oidc llm_conversations ext_proc_openai prompt_cache
    cli_terminal spellings disk_full llm_faults sanitize_pictures backup kills sdk_node
""".split()


def pytest_collection_modifyitems(items):
    order = {"test_" + name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(LONGEST)))


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


@pytest.fixture(scope="session")
def llm_ends():
    """An upstream of every LLM protocol and a gateway before it."""
    import llm  # Only what asks for it waits for its imports.
    from llm_upstream import Upstream

    with Upstream() as upstream, Gateway(upstream.url, llm.CONFIG) as running:
        yield llm.Road(running, upstream)


@pytest.fixture
def road_to_llm(llm_ends):
    llm_ends.upstream.begin()
    return llm_ends


@pytest.fixture(scope="session")
def processed_ends():
    """An upstream of every LLM protocol, an Envoy before it, and the gateway that is its external processor."""
    import envoy
    from llm_upstream import Upstream

    envoy.needed()
    with Upstream() as upstream, Gateway(upstream.url, envoy.CONFIG) as gateway:
        with envoy.Envoy(gateway.h2c, upstream.port) as running:
            yield upstream, running
