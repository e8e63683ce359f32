"""A text that came before is redacted as it was the first time, as the rules of now say, whoever sends it."""

import pytest
from gateway import MINIMAL, Gateway

CONFIG = MINIMAL + """
[log]
format = "json"

[reload]
every = "100ms"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "llm"
path = "/v1"
upstream = "mock"
auth = "none"
redact = {{ protocol = "openai" }}

[[routes]]
name = "masking"
path = "/masked"
strip_prefix = true
upstream = "mock"
auth = "none"
redact = {{ protocol = "openai", requests = "mask" }}
"""
MAIL, CARD = "desk@harbour-post.com", "4012-8888-8888-1881"
ALLOWED = "\n[[detect.allow]]\nvalues = ['%s']\n" % MAIL
# Long enough to be worth keeping what was found in it.
TEXT = "The order was shipped to the harbour on Monday. " * 40 + "Write to %s of card %s." % (MAIL, CARD)


@pytest.fixture
def gateway(upstream):
    with Gateway(upstream.url, CONFIG) as running:
        yield running


def went(gateway, mock, turns, path="/v1", key="one"):
    """What the upstream has of these turns."""
    messages = [{"role": "user", "content": turn} for turn in turns]
    body = {"model": "gpt-5", "messages": messages}
    answer = gateway.call("POST", path + "/chat/completions", body, {"authorization": "Bearer sk-test-5f0c9a7d2b-" + key})
    assert answer.status == 200, answer.body
    return [message["content"] for message in mock.requests[-1].json()["messages"]]


def test_a_history_is_redacted_the_same_on_every_turn_and_for_everybody(gateway, mock):
    turns = [TEXT]
    first = went(gateway, mock, turns)
    assert MAIL not in first[0] and CARD not in first[0]
    for n in range(4):
        turns.append("And the card of %d, %s?" % (n, TEXT if n == 2 else CARD))
        seen = went(gateway, mock, turns)
        assert seen[0] == first[0] and not any(MAIL in turn or CARD in turn for turn in seen)
    counted = {part: gateway.metric('portcullis_findings_looked_up_bytes_total{read="%s"}' % part) for part in ("new", "remembered")}
    assert counted["new"] >= len(TEXT) and counted["remembered"] >= 4 * len(TEXT), counted
    assert went(gateway, mock, [TEXT], key="another") == first
    assert went(gateway, mock, [TEXT], path="/masked") == [TEXT.replace(MAIL, "*" * len(MAIL)).replace(CARD, "*" * len(CARD))]
    assert went(gateway, mock, [TEXT]) == first


def test_it_is_the_rules_of_now_that_count(gateway, mock):
    assert MAIL not in went(gateway, mock, [TEXT])[0]
    plain = gateway.file.read_text()
    gateway.file.write_text(plain + ALLOWED)
    gateway.wait_for(lambda: MAIL in went(gateway, mock, [TEXT])[0])
    assert CARD not in went(gateway, mock, [TEXT])[0]
    gateway.file.write_text(plain)
    gateway.wait_for(lambda: MAIL not in went(gateway, mock, [TEXT])[0])


def test_nothing_need_be_kept(upstream, mock):
    with Gateway(upstream.url, CONFIG + "\n[limits]\nfindings_cache = '1B'\n") as running:
        first = went(running, mock, [TEXT])
        assert MAIL not in first[0] and went(running, mock, [TEXT]) == first
