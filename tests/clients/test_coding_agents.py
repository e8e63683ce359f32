"""conf/coding-agents.toml with what coding agents send and get: files with the numbers of their lines, patches, and code that a
model writes by itself."""

import base64
import io
import json
import re
import subprocess
import urllib.request

import anthropic
import openai
import pytest
from gateway import ROOT, Gateway
from mock_upstream import ReplyingMock
from reportlab.pdfgen import canvas
from test_providers_config import configured


@pytest.fixture(scope="module")
def key():
    made = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True)
    return made.stdout.strip()


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock:
        with Gateway(mock.url, configured((ROOT / "conf/coding-agents.toml").read_text())) as gateway:
            yield gateway, mock


def pieces(text):
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def named(event):
    """An event of a stream with its name."""
    return json.dumps(event) + "\nevent: " + event["type"]


def claude(ends, shown, writes):
    """Claude Code's `Read` gave `shown`; the model calls `Write` with what `writes` makes of what it saw. What it saw, and what
    the program gets."""
    gateway, mock = ends
    seen = []

    def events(body):
        seen.append(body["messages"][-1]["content"][0]["content"])
        said = json.dumps({"file_path": "/w/a", "content": writes(seen[0])})
        yield {"type": "message_start", "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}  # fmt: skip
        block = {"type": "tool_use", "id": "t2", "name": "Write", "input": {}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for piece in pieces(said):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}

    mock.reply = lambda body: [named(event) for event in events(body)]
    client = anthropic.Anthropic(api_key="-", base_url=gateway.url + "/anthropic", max_retries=0)
    messages = [
        {"role": "user", "content": "copy it"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/k"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": shown}]},
    ]
    with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
        return seen[0], stream.get_final_message().content[0].input["content"]


def codex(ends, shown, patches):
    """Codex's shell gave `shown`; the model calls `apply_patch` with what `patches` makes of what it saw."""
    gateway, mock = ends
    seen = []

    def events(body):
        seen.append(body["input"][-1]["output"])
        call = {"type": "custom_tool_call", "id": "i", "call_id": "c2", "name": "apply_patch", "input": "", "status": "in_progress"}
        said = patches(seen[0])
        place = {"item_id": "i", "output_index": 0}
        yield {"type": "response.output_item.added", "output_index": 0, "item": call}
        for piece in pieces(said):
            yield {"type": "response.custom_tool_call_input.delta", **place, "delta": piece}
        yield {"type": "response.custom_tool_call_input.done", **place, "input": said}
        yield {"type": "response.output_item.done", "output_index": 0, "item": call | {"input": said, "status": "completed"}}

    mock.reply = lambda body: [named(event) for event in events(body)]
    client = openai.OpenAI(api_key="-", base_url=gateway.url + "/openai/v1", max_retries=0)
    asked = [
        {"role": "user", "content": "copy it"},
        {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": shown},
    ]
    stream = client.responses.create(model="m", stream=True, store=False, input=asked)
    got = [event for event in stream if event.type.startswith("response.custom_tool_call_input")]
    deltas = "".join(event.delta for event in got if event.type.endswith("delta"))
    assert deltas == got[-1].input
    return seen[0], deltas


def thinks(ends, asked, writes):
    """The model thinks what `writes` makes of what it saw, signs it and calls a tool; the program goes on with all of that. What
    the model wrote with its signature, what the program got, and what the model gets back."""
    gateway, mock = ends
    bodies, wrote = [], {}

    def events(body):
        bodies.append(body)
        wrote.update(thinking=writes(body["messages"][0]["content"]), signature="c2lnbmVk" * 8)
        yield {"type": "message_start", "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}  # fmt: skip
        block = {"type": "thinking", "thinking": "", "signature": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for piece in pieces(wrote["thinking"]):
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": piece}}
        delta = {"type": "signature_delta", "signature": wrote["signature"]}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
        yield {"type": "content_block_start", "index": 1, "content_block": block}
        yield {"type": "content_block_stop", "index": 1}
        yield {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}

    mock.reply = lambda body: [named(event) for event in events(body)]
    client = anthropic.Anthropic(api_key="-", base_url=gateway.url + "/anthropic", max_retries=0)
    messages = [{"role": "user", "content": asked}]
    with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
        got = stream.get_final_message().content
    was = dict(wrote)
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in got]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
    with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
        stream.get_final_message()
    back = bodies[-1]["messages"][1]["content"][0]
    return was, blocks[0], {name: back[name] for name in was}


PERSON = "Magdalena Wojciechowska"
DSN = "postgresql://billing_app:Zk7vQ2m-Lw9xT4pr@db-prod-3.nordbank-pay.com:5432/billing"


@pytest.mark.parametrize(
    "thought",
    [
        "I could ask Bob Miller, mail sales@acme-tools.io or call 415 555 2671.",
        "I'll set password: Sup3rS3cret!9x",
        "So {person} owns it.",
        "Ms {last} and {first} Smith.",
        "DB_USER={user} DB_PASSWORD={password}",
        "Nothing of anybody's.",
    ],
)
def test_what_a_model_thought_goes_back_as_it_was_signed(ends, thought):
    def wrote(seen):
        person = seen.split("\n")[0].removeprefix("Maintainer: ")
        user, password = re.search("//(.*?):(.*?)@", seen).groups()
        assert person != PERSON and user != "billing_app"
        words = person.split()
        return thought.format(person=person, first=words[0], last=words[-1], user=user, password=password)

    wrote, got, back = thinks(ends, f"Maintainer: {PERSON}\nDATABASE_URL={DSN}\n", wrote)
    assert back == wrote
    first, last = PERSON.split()
    known = {"person": PERSON, "first": first, "last": last, "user": "billing_app", "password": "Zk7vQ2m-Lw9xT4pr"}
    assert got["thinking"] == thought.format(**known)
    # Where nothing could change on the way back, nothing has.
    assert (got["signature"] == wrote["signature"]) == thought.startswith("Nothing")


@pytest.mark.parametrize("path", ["/anthropic/v1/models", "/openai/v1/models", "/gemini/v1beta/models"])
def test_what_has_no_body_is_answered(ends, path):
    gateway, mock = ends
    mock.reply = lambda body: {"data": [{"id": "m-1"}]}
    with urllib.request.urlopen(gateway.url + path, timeout=20) as answer:
        assert json.load(answer) == {"data": [{"id": "m-1"}]}


# How programs show the lines of a file.
SHOWN = {
    "cat -n": lambda lines: "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines, 1)),
    "arrows": lambda lines: "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1)),
    "bars": lambda lines: "\n".join(f"{n:05}| {line}" for n, line in enumerate(lines, 1)),
    "colons": lambda lines: "\n".join(f"{n}: {line}" for n, line in enumerate(lines, 1)),
    "removed": lambda lines: "\n".join(f"-{line}" for line in lines),
    "added": lambda lines: "\n".join(f"+{line}" for line in lines),
    "quoted": lambda lines: "\n".join(f"> {line}" for line in lines),
    "comment": lambda lines: "\n".join(f"# {line}" for line in lines),
    "strings": lambda lines: "\n".join(f'    + "{line}\\n"' for line in lines),
}
PREFIX = re.compile(r"(?m)^(?: *\d+(?:\t|→|\| |: )|[-+]|> |# |    \+ \")|\\n\"$")


@pytest.mark.parametrize("shown", SHOWN)
def test_a_key_does_not_leave_and_is_written_as_it_was(ends, key, shown):
    text = SHOWN[shown](key.splitlines())
    seen, written = claude(ends, text, lambda seen: PREFIX.sub("", seen))
    inner = key.splitlines()[1:-1]
    assert not [line for line in inner if line[1:] in seen]
    assert written == key
    seen, written = claude(ends, text, lambda seen: seen)
    assert written == text


def test_a_key_in_a_patch_is_the_callers(ends, key):
    def added(seen):
        return "*** Begin Patch\n*** Add File: b.pem\n" + "".join(f"+{line}\n" for line in seen.splitlines()) + "*** End Patch"

    seen, patch = codex(ends, key, added)
    assert patch == added(key) and seen != key

    def removed(seen):
        return "@@\n" + "".join(f"-{line}\n" for line in seen.splitlines()) + "+none\n"

    text = "key: |\n" + "".join(f"  {line}\n" for line in key.splitlines())
    assert codex(ends, text, removed)[1] == removed(text)


def test_code_that_a_model_writes_is_written_as_it_is(ends):
    code = 'User(name="John Doe", card="4242 4242 4242 4242")\nAWS = "AKIAIOSFODNN7EXAMPLE"  # Mark the node\n'
    assert claude(ends, "nothing", lambda _: code)[1] == code


def test_a_document_in_a_pdf_ends_no_session(ends):
    gateway, mock = ends
    mock.reply = lambda _: {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    client = anthropic.Anthropic(api_key="-", base_url=gateway.url + "/anthropic", max_retries=0)
    pdf = base64.b64encode(document()).decode()
    source = {"type": "base64", "media_type": "application/pdf", "data": pdf}
    content = [{"type": "document", "source": source}, {"type": "text", "text": "sum it up"}]
    answer = client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": content}])
    assert answer.content[0].text == "ok"


def document():
    """A PDF with a line of text."""
    out = io.BytesIO()
    page = canvas.Canvas(out)
    page.drawString(72, 720, "Minutes of the meeting")
    page.save()
    return out.getvalue()
