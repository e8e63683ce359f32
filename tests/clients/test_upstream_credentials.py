"""What an upstream is shown that callers do not have, kept in the vault: the newest version goes out on every node within a
second of its rotation, a secret that was switched off to nobody, and none of it into a log."""

import pytest
from bedrock_upstream import Bedrock
from database import config, database, server  # noqa: F401  (fixtures)
from gateway import MINIMAL, Gateway
from test_vault import key, ok, secret

GONE = "pvi_p6g5i3gtbvqvc3u6zugab6qs6r63tqf5"
SECRETS = ["sk-canary-one", "sk-canary-two", "sk-canary-three"]
SHOWN = """
[upstreams.mock]
peers = ["{upstream}"]
headers = {{ authorization = {{ vault = "ITEM", prefix = "Bearer " }}, x-kept = "fixed" }}

[[routes]]
name = "chat"
path = "/chat"
upstream = "mock"
auth = "none"
"""


def started_with(gateway, more, item):
    """The same process's place with other routes."""
    gateway.config += more.replace("ITEM", item)
    gateway.restart()


def shown(gateway, mock):
    """What the upstream has seen, or the status of the answer that came in its place."""
    answer = gateway.call("POST", "/chat/reflect", {"text": "x"}, {"authorization": "Bearer the caller's"})
    if answer.status != 200:
        return answer.status
    sent = {name.lower(): value for name, value in mock.requests[-1].headers}
    assert sent["x-kept"] == "fixed"
    return sent["authorization"]


def unlogged(*gateways):
    for gateway in gateways:
        whole = "\n".join(gateway.log + gateway.out)
        assert not [text for text in SECRETS if text in whole]


def tells(gateway, item):
    """Whether the log says that there is no credential of this item."""
    return any(item in line and "no credential for the upstream" in line for line in gateway.log)


def test_a_rotation_holds_at_once_and_a_secret_that_is_off_goes_to_nobody(upstream, mock):
    with Gateway(upstream.url, MINIMAL) as gateway:
        item = secret(gateway, SECRETS[0])
        started_with(gateway, SHOWN, item)
        assert shown(gateway, mock) == "Bearer " + SECRETS[0]
        ok(gateway.api("/v2/secret/rotate", {"id": item, "secret": SECRETS[1]}))
        assert shown(gateway, mock) == "Bearer " + SECRETS[1]
        for path, off, on in (
            ("/v2/update", {"enabled": False}, {"enabled": True}),
            ("/v2/state/change", {"state": "suspended"}, {"state": "active"}),
        ):
            ok(gateway.api(path, {"id": item} | off))
            seen = len(mock.requests)
            assert shown(gateway, mock) == 500 and len(mock.requests) == seen
            # Lines are gathered for a moment before they are written.
            gateway.wait_for(lambda: tells(gateway, item), 5)
            ok(gateway.api(path, {"id": item} | on))
            assert shown(gateway, mock) == "Bearer " + SECRETS[1]
        ok(gateway.api("/v2/secret/rotate", {"id": item, "secret": "two\nlines"}))
        assert shown(gateway, mock) == 500
        ok(gateway.api("/v2/secret/rotate", {"id": item, "secret": SECRETS[2] + "\n"}))
        assert shown(gateway, mock) == "Bearer " + SECRETS[2]
        ok(gateway.api("/v2/delete", {"id": item}))
        assert shown(gateway, mock) == 500
        unlogged(gateway)


@server
def test_other_nodes_follow_within_a_second(config, upstream, mock):  # noqa: F811
    with Gateway(upstream.url, config) as one:
        item = secret(one, SECRETS[0])
        started_with(one, SHOWN, item)
        with Gateway(upstream.url, config + SHOWN.replace("ITEM", item), token=one.token) as two:
            assert [shown(node, mock) for node in (one, two)] == ["Bearer " + SECRETS[0]] * 2
            ok(one.api("/v2/secret/rotate", {"id": item, "secret": SECRETS[1]}))
            assert shown(one, mock) == "Bearer " + SECRETS[1]
            two.wait_for(lambda: shown(two, mock) == "Bearer " + SECRETS[1], 5)
            ok(two.api("/v2/update", {"id": item, "enabled": False}))
            one.wait_for(lambda: shown(one, mock) == 500, 5)
            unlogged(one, two)


def test_what_is_not_there_or_no_secret_stops_the_start(upstream):
    with Gateway(upstream.url, MINIMAL) as gateway:
        wrong = [(GONE, "is not in the vault"), (key(gateway)["id"], "is not a secret")]
        plain = gateway.config
        for item, why in wrong:
            gateway.stop()
            gateway.config = plain + SHOWN.replace("ITEM", item)
            with pytest.raises(RuntimeError, match="to upstream mock: %s %s" % (item, why)):
                gateway.start()


AWS = """
[upstreams.bedrock]
peers = ["{upstream}"]
aws = {{ region = "eu-west-1", access_key = "AKIDGATEWAY", secret_key = {{ vault = "ITEM" }} }}

[[routes]]
name = "bedrock"
path = "/model"
upstream = "bedrock"
auth = "none"
redact = {{}}
"""


def test_requests_are_signed_with_a_key_of_the_vaults():
    with Bedrock() as service, Gateway(service.url, MINIMAL) as gateway:
        item = secret(gateway, SECRETS[0])
        started_with(gateway, AWS, item)
        ask = lambda: gateway.call("POST", "/model/plain/converse", {"messages": [{"role": "user", "content": [{"text": "hello"}]}]})
        assert ask().status == 200 and service.came[-1].signed("AKIDGATEWAY", SECRETS[0])
        ok(gateway.api("/v2/secret/rotate", {"id": item, "secret": SECRETS[1]}))
        assert ask().status == 200 and service.came[-1].signed("AKIDGATEWAY", SECRETS[1])
        assert not service.came[-1].signed("AKIDGATEWAY", SECRETS[0])
        ok(gateway.api("/v2/update", {"id": item, "enabled": False}))
        seen = len(service.came)
        answer = ask()
        assert (answer.status, answer.headers["x-amzn-errortype"]) == (500, "InternalServerException")
        assert len(service.came) == seen
        unlogged(gateway)
