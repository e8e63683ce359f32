"""A value in another form than it was found in goes as the same surrogate, and what was signed with such a form goes back as it was signed."""

import base64
import json
import random
import re

import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import ReplyingMock

MAIL = "jane.doe@harbour-post.com"
SEAL = base64.b64encode(random.Random(1).randbytes(200)).decode()


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield gateway, mock


def ask(ends, path, body, reply):
    """What the upstream had, and what the caller got."""
    gateway, mock = ends
    mock.reply = reply if callable(reply) else lambda _: reply
    answer = gateway.call("POST", path, body)
    assert answer.status == 200, answer.body
    return mock.requests[-1].json(), answer


def has_word(text, word):
    """Whether a word is there by itself: one name's surrogate may begin with another name, as Mariana does with Maria."""
    return re.search(r"(?<![^\W_])%s(?![^\W_])" % re.escape(word), text) is not None


FORMS = ["{1}, {0}", "{0}\t{1}", "{0}\n{1}", "{0}.{1}", "{0}-{1}", "{0}_{1}", "{0}+{1}", "**{0}** **{1}**", "`{0}` `{1}`", '"{1}, {0}" <x>', "{1};{0}", "{0}  {1}", "{0}\n  {1}", "/home/{0}\\ {1}/x"]


@pytest.mark.parametrize("name", ["Elena Ruiz", "Maria Lopez", "Klaus Schneider", "Priya Sharma", "Thomas Baker"])
@pytest.mark.parametrize("form", FORMS)
def test_both_words_of_a_name_are_replaced_in_every_form(ends, name, form):
    given, surname = name.split()
    other = form.format(given, surname)
    text = "Notes on %s. List: %s end" % (name, other)
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    came, answer = ask(ends, "/v1/chat/completions", body, lambda b: {"choices": [{"index": 0, "message": b["messages"][0]}]})
    sent = came["messages"][0]["content"]
    assert not has_word(sent, given) and not has_word(sent, surname), sent
    assert answer.json()["choices"][0]["message"]["content"] == text
    # Over two messages, in a table of a tool's.
    body["messages"] = [{"role": "user", "content": "Find %s." % name}, {"role": "user", "content": "1\t%s\t7\n" % other}]
    came, _ = ask(ends, "/v1/chat/completions", body, {"choices": []})
    sent = " | ".join(message["content"] for message in came["messages"])
    assert not has_word(sent, given) and not has_word(sent, surname), sent


def events_of(thought):
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}
    for at in range(0, len(thought), 5):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": thought[at:at + 5]}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": SEAL}}
    yield from ({"type": "content_block_stop", "index": 0}, {"type": "message_stop"})


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("form", ["mail {mail_lower}", "{mail_upper} it is", "{surname}, {given} wrote", "{given}\n{surname}", "{mail} and {given} {surname}"])
def test_a_signed_thought_goes_back_as_it_was_signed(ends, form, streams):
    asked = {"role": "user", "content": "Write to %s for Maria Lopez." % MAIL}
    signed = {}

    def think(body):
        mail, given, surname = re.match(r"Write to (\S+) for (\S+) (\S+)\.$", body["messages"][0]["content"]).groups()
        thought = form.format(mail=mail, mail_lower=mail.lower(), mail_upper=mail.upper(), given=given, surname=surname)
        signed.update(type="thinking", thinking=thought, signature=SEAL)
        return list(events_of(thought)) if streams else {"type": "message", "content": [dict(signed)]}

    body = {"model": "m", "max_tokens": 9, "stream": streams, "messages": [asked]}
    _, answer = ask(ends, "/v1/messages", body, think)
    if streams:
        deltas = [json.loads(line[6:]).get("delta", {}) for line in answer.body.decode().splitlines() if line.startswith("data: {")]
        block = {"type": "thinking"} | {part: "".join(one.get(part, "") for one in deltas) for part in ("thinking", "signature")}
    else:
        [block] = answer.json()["content"]
    assert "Maria" in block["thinking"] or "jane.doe" in block["thinking"].lower(), block
    back = {"role": "assistant", "content": [block, {"type": "text", "text": "ok"}]}
    body = {"model": "m", "max_tokens": 9, "messages": [asked, back, {"role": "user", "content": "go on"}]}
    came, _ = ask(ends, "/v1/messages", body, {"content": []})
    assert came["messages"][1]["content"][0] == signed


THINKING = [
    lambda part: {"thinking_blocks": [{"type": "thinking", "thinking": part}]},
    lambda part: {"provider_specific_fields": {"thinking_blocks": [{"type": "thinking", "thinking": part}]}},
    lambda part: {"provider_specific_fields": {"reasoning_content": part}},
    lambda part: {"reasoning": {"content": part}},
    lambda part: {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": part}]}]},
]


@pytest.mark.parametrize("delta", THINKING, ids=range(len(THINKING)))
def test_thoughts_of_proxies_are_followed_over_events(ends, delta):
    def said(answer):
        lines = [line for line in answer.body.decode().splitlines() if line.startswith("data: {")]
        return "".join(re.findall(r'"(?:thinking|reasoning_content|content|text)": ?"(.*?)"', "".join(lines)))

    def events(text):
        return [{"choices": [{"index": 0, "delta": delta(text[at:at + 6])}]} for at in range(0, len(text), 6)]

    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "mail %s now" % MAIL}]}
    _, answer = ask(ends, "/v1/chat/completions", body, lambda b: events(b["messages"][0]["content"]))
    assert said(answer) == "mail %s now" % MAIL
    _, answer = ask(ends, "/v1/chat/completions", body, lambda _: events("ask kurt.lang@elsewhere-mail.net now"))
    assert "kurt" not in said(answer) and "*****" in said(answer)
