"""Gateways that ask about requests and answers: LiteLLM's proxy (generic guardrail) and agentgateway (webhook). Bodies have the shapes that LiteLLM 1.108 was seen to send. Those of agentgateway are after its source: the
program itself was not run. PORTCULLIS_LITELLM names the folder of LiteLLM's programs, which `tests/run --all` brings."""

import http.server
import base64
import json
import os
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import openai
import pytest
from gateway import MINIMAL, PATIENCE, Gateway, free_ports, run

LITELLM = os.environ.get("PORTCULLIS_LITELLM", "")

ROUTES = """
[[routes]]
name = "litellm"
path = "/litellm"
endpoint = "litellm"
auth = "token"
redact = {{ requests = "encrypt", methods = {{ US_SSN = {{ requests = "block" }} }} }}

[[routes]]
name = "strict"
path = "/strict"
endpoint = "litellm"
auth = "token"
redact = {{ requests = "mask", answers = "block", media = "refuse" }}

[[routes]]
name = "agent"
path = "/agent"
endpoint = "agentgateway"
auth = "token"
redact = {{ methods = {{ US_SSN = "block" }} }}
"""
MAIL, CARD, SSN = "jane.doe@harbour-post.com", "4111 1111 1111 1111", "457-55-5462"
OTHER = "5555 5555 5555 4444"
PROMPT = "Mail %s, card %s; 日本 🦀" % (MAIL, CARD)
PATH = "/litellm/beta/litellm_basic_guardrail_api"


@pytest.fixture(scope="module")
def gateway():
    with Gateway("", MINIMAL + ROUTES) as running:
        yield running


def token(gateway):
    routes = ["--route=litellm", "--route=strict", "--route=agent"]
    return run("tokens", "create", "-c", gateway.file, *routes).out.strip()


@pytest.fixture(scope="module")
def key(gateway):
    return token(gateway)


def ok(answer):
    assert answer.status == 200, answer.body
    return answer.json()


# ── LiteLLM ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def asked(direction, texts, call="c1", client="hash of a key", **more):
    """As the proxy writes it: all members, those that it has nothing for as null."""
    return {
        "input_type": direction,
        "litellm_call_id": call,
        "litellm_trace_id": "t",
        "structured_messages": None,
        "images": None,
        "tools": None,
        "texts": texts,
        "request_data": {"user_api_key_hash": client, "user_api_key_user_id": "default_user_id"},
        "request_headers": {"host": "127.0.0.1", "authorization": "[present]"},
        "litellm_version": "1.108.7",
        "additional_provider_specific_params": {},
        "tool_calls": None,
        "model": "m",
    } | more


def lite(gateway, key, body, path=PATH):
    return gateway.call("POST", path, body, {"x-api-key": key})


def sent(gateway, key, texts, call="c1", **more):
    done = ok(lite(gateway, key, asked("request", texts, call, **more)))
    assert done["action"] == "GUARDRAIL_INTERVENED" and len(done["texts"]) == len(texts)
    return done["texts"]


def answered(gateway, key, text, call="c1", **more):
    return ok(lite(gateway, key, asked("response", [text], call, **more)))


def test_what_was_issued_in_a_request_is_restored_in_its_answer(gateway, key):
    [text] = sent(gateway, key, [PROMPT])
    assert MAIL not in text and CARD not in text and "日本 🦀" in text and "@" in text
    done = answered(gateway, key, "You wrote: " + text)
    assert done["action"] == "GUARDRAIL_INTERVENED" and done["texts"] == ["You wrote: " + PROMPT]


def test_what_the_model_says_by_itself_is_masked(gateway, key):
    [text] = sent(gateway, key, [PROMPT], "c2")
    done = answered(gateway, key, "%s or %s" % (text, OTHER), "c2")
    assert done["texts"] == ["%s or %s" % (PROMPT, "*" * len(OTHER))]


def test_nobody_else_has_what_was_issued(gateway, key):
    [text] = sent(gateway, key, [MAIL], "c3", client="one")
    mine = lambda who, call, client: answered(gateway, who, text, call, client=client)["texts"] == [MAIL]
    assert mine(key, "c3", "one")
    # Another token, another call, another client of the same proxy.
    assert not mine(token(gateway), "c3", "one")
    assert not mine(key, "c4", "one") and not mine(key, None, "one")
    assert not mine(key, "c3", "two")


def test_several_requests_of_one_call_go_together(gateway, key):
    [one] = sent(gateway, key, [MAIL], "c5")
    [two] = sent(gateway, key, ["card " + CARD], "c5")
    # What was redacted already stays.
    again = ok(lite(gateway, key, asked("request", [one], "c5")))
    assert again == {"action": "NONE"}
    assert answered(gateway, key, one + " " + two, "c5")["texts"] == ["%s card %s" % (MAIL, CARD)]


SAID = "Sw0rdfish-and-chips is what I chose, not h4ddock. Card %s." % CARD
REPEATS = [("password: Sw0rdfish-and-chips", True), ("password: h4ddock-and-chips", False), ("card " + CARD, False)]


@pytest.mark.parametrize(("says", "passes"), REPEATS)
def test_what_the_caller_wrote_word_for_word_passes_in_its_answer(gateway, key, says, passes):
    sent(gateway, key, ["be kind", SAID], "w1")
    assert ok(lite(gateway, key, asked("request", ["and now to fish"], "w1"))) == {"action": "NONE"}
    heard = answered(gateway, key, says, "w1")["texts"][0]
    assert (heard == says) is passes and (passes or "***" in heard)
    # To whom nobody said it, it is the model's own.
    for who, call, client in [(key, "w2", "hash of a key"), (key, None, "hash of a key"), (key, "w1", "two"), (token(gateway), "w1", "hash of a key")]:
        assert answered(gateway, who, says, call, client=client)["texts"][0] != says


def test_a_request_without_values_is_remembered_by_its_words(gateway, key):
    assert ok(lite(gateway, key, asked("request", ["Sw0rdfish-and-chips is what I chose"], "w3"))) == {"action": "NONE"}
    assert answered(gateway, key, REPEATS[0][0], "w3")["texts"] == [REPEATS[0][0]]


def test_another_process_restores_what_one_has_issued():
    with Gateway("", MINIMAL + ROUTES) as gateway:
        key = token(gateway)
        [text] = sent(gateway, key, [PROMPT])
        gateway.restart()
        assert answered(gateway, key, text)["texts"] == [PROMPT]


def test_streams_are_asked_about_as_they_grow(gateway, key):
    [text] = sent(gateway, key, [PROMPT], "c6")
    whole = "You wrote: %s — and I think of %s. " % (text, OTHER) + "Then nothing but prose follows, for a while. " * 12
    wanted = "You wrote: %s — and I think of %s. " % (PROMPT, "*" * len(OTHER)) + "Then nothing but prose follows, for a while. " * 12
    emitted = ""
    for end in [*range(5, len(whole), 5), len(whole)]:
        done = answered(gateway, key, whole[:end], "c6")
        [now], [held] = done["texts"], done["stream_holdback_chars"]
        # As the proxy does it: what has been sent must be how the text begins.
        assert now.startswith(emitted), (emitted, now)
        emitted = now[: max(len(emitted), len(now) - held)]
    # All but the end has streamed, and the last call has all.
    assert len(emitted) > len(wanted) / 2 and now == wanted


def test_messages_tools_and_arguments(gateway, key):
    arguments = json.dumps({"to": MAIL, "n": 3})
    call = {"id": "call_1a", "type": "function", "function": {"name": "send", "arguments": arguments}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Write to " + MAIL}, {"type": "image_url", "image_url": {"url": "https://cats.example/1.png"}}]},
        {"role": "assistant", "content": None, "tool_calls": [call], "of_later": {"x": [1.50, None]}},
        {"role": "tool", "content": "sent", "tool_call_id": "call_1a"},
    ]
    tools = [{"type": "function", "function": {"name": "send", "description": "As %s does" % MAIL, "parameters": {"type": "object"}}}]
    body = asked("request", ["Write to " + MAIL, "sent"], "c7", structured_messages=messages, tools=tools, tool_calls=[call], images=["https://cats.example/1.png"])
    done = ok(lite(gateway, key, body))
    assert MAIL not in json.dumps(done) and "images" not in done and "tool_calls" not in done
    [text, said], rows = done["texts"], done["structured_messages"]
    mail = text.removeprefix("Write to ")
    assert said == "sent" and rows[0]["content"][0]["text"] == text and rows[2] == messages[2]
    # One value has one surrogate, wherever it stands; all else is as it was.
    assert json.loads(rows[1]["tool_calls"][0]["function"]["arguments"]) == {"to": mail, "n": 3}
    assert rows[1]["of_later"] == messages[1]["of_later"] and rows[1]["tool_calls"][0]["id"] == "call_1a"
    assert rows[0]["content"][1] == messages[0]["content"][1]
    assert done["tools"][0]["function"]["description"] == "As %s does" % mail
    # Where texts tell all, messages stay with the proxy, which has members of them that it does not show.
    body = asked("request", ["Write to " + MAIL], "c7", structured_messages=[{"role": "user", "content": "Write to " + MAIL}])
    assert set(ok(lite(gateway, key, body))) == {"action", "texts"}
    # Arguments without messages cannot be changed.
    done = ok(lite(gateway, key, asked("request", [], "c7", tool_calls=[call])))
    assert done["action"] == "BLOCKED" and MAIL not in json.dumps(done)


def test_what_is_blocked_is_so(gateway, key):
    done = ok(lite(gateway, key, asked("request", ["hello", "SSN " + SSN])))
    assert done["action"] == "BLOCKED" and "US_SSN" in done["blocked_reason"] and SSN not in json.dumps(done)
    strict = "/strict/beta/litellm_basic_guardrail_api"
    done = ok(lite(gateway, key, asked("response", ["card " + CARD]), strict))
    assert done["action"] == "BLOCKED" and CARD not in json.dumps(done)
    done = ok(lite(gateway, key, asked("request", ["see"], images=["https://cats.example/1.png"]), strict))
    assert done["action"] == "BLOCKED"
    done = ok(lite(gateway, key, asked("request", [CARD], images=[]), strict))
    assert done == {"action": "GUARDRAIL_INTERVENED", "texts": ["*" * len(CARD)]}


def test_images_are_looked_at_as_far_as_they_are_text(gateway, key):
    def answered(image, **more):
        return ok(lite(gateway, key, asked("request", ["see"], images=[image], **more)))["action"]

    held = base64.b64encode(("Write to " + MAIL).encode()).decode()
    for image in ["https://cats.example/?owner=" + MAIL, "data:text/plain;base64," + held, "data:application/pdf;base64,JVBERi0xLjQK"]:
        assert answered(image) == "BLOCKED", image
    for image in ["https://cats.example/1.png", "data:image/png;base64,iVBORw0KGgo="]:
        assert answered(image) == "NONE", image


@pytest.mark.parametrize("texts", [[], None, [""], ["nothing here", "nor here"]])
def test_what_holds_nothing_passes(gateway, key, texts):
    assert ok(lite(gateway, key, asked("request", texts))) == {"action": "NONE"}
    done = ok(lite(gateway, key, asked("response", texts)))
    assert (done["action"], done["texts"]) == ("NONE", texts or [])


def test_many_texts_and_a_long_one(gateway, key):
    many = ["text %d, mail %s" % (n, MAIL) if n % 1000 == 0 else "text %d" % n for n in range(10_000)]
    texts = sent(gateway, key, many, "c8")
    assert [text.split(",")[0] for text in texts] == [text.split(",")[0] for text in many] and MAIL not in "".join(texts)
    long = "Prose without values goes on. " * 35_000 + MAIL
    [text] = sent(gateway, key, [long], "c9")
    assert text[:-200] == long[:-200] and MAIL not in text
    assert answered(gateway, key, text, "c9")["texts"] == [long]


@pytest.mark.parametrize(
    "body, at",
    [
        ({"input_type": "both", "texts": [MAIL]}, "/input_type"),
        (asked("request", MAIL), "/texts"),
        (asked("request", [MAIL, None]), "/texts/1"),
        (asked("request", [{"text": MAIL}]), "/texts/0"),
        (asked("request", [MAIL], structured_messages=[MAIL]), "/structured_messages/0"),
        (asked("request", [MAIL], tools={"a": MAIL}), "/tools"),
        (asked("request", [MAIL], litellm_call_id=5), "/litellm_call_id"),
        ('{"input_type":"request","texts":["%s"],"texts":[]}' % MAIL, "/texts"),
        ('{"input_type":"request","texts":["%s"],"tools":%s}' % (MAIL, "[" * 200 + "]" * 200), "/tools"),
        ('{"input_type":"request","texts":["%s"' % MAIL, "JSON"),
        ("[]", "object"),
    ],
)
def test_what_is_wrong_has_a_place_and_no_value(gateway, key, body, at):
    answer = gateway.call("POST", PATH, body, {"x-api-key": key, "content-type": "application/json"})
    # Of these three the proxy can be told that they mean no guardrail, and then it lets texts pass.
    assert 400 <= answer.status < 600 and answer.status not in (502, 503, 504)
    assert at in answer.json()["error"] and MAIL not in answer.body.decode()


def test_who_may_ask_the_guardrail_of_litellm(gateway, key):
    ask = lambda path=PATH, **headers: gateway.call("POST", path, asked("request", ["a"]), headers).status
    assert ask(**{"x-api-key": key}) == 200 and ask(authorization="Bearer " + key) == 200
    assert ask() == 401 and ask(**{"x-api-key": "pts_" + "a" * 32}) == 401
    # The proxy tells its clients the URL where a call fails: no token may stand there.
    assert ask("/litellm/%s/beta/litellm_basic_guardrail_api" % key) >= 400
    assert ask("/litellm/beta/other", **{"x-api-key": key}) == 404
    assert gateway.call("GET", PATH, None, {"x-api-key": key}).status == 405
    assert not any(key in line for line in gateway.log)


# ── LiteLLM's proxy itself ──────────────────────────────────────────────────────────────────────────────────────────


class Model(http.server.BaseHTTPRequestHandler):
    """Says what it was told, and a card of its own."""

    protocol_version = "HTTP/1.1"
    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(json.dumps(body, ensure_ascii=False))
        said = "You wrote: %s And mine is %s, which I say in the middle of what I say." % (body["messages"][-1]["content"], OTHER)
        head = {"id": "c", "created": 1, "model": "m"}
        if body.get("stream"):
            piece = lambda delta, end=None: {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            pieces = [piece({"role": "assistant", "content": ""}), *(piece({"content": one}) for one in said), piece({}, "stop")]
            data, kind = "".join("data: %s\n\n" % json.dumps(one) for one in pieces) + "data: [DONE]\n\n", "text/event-stream"
        else:
            choices = [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            data, kind = json.dumps({**head, "object": "chat.completion", "choices": choices, "usage": usage}), "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data.encode())))
        self.end_headers()
        self.wfile.write(data.encode())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def proxy(gateway, key, tmp_path_factory):
    """Clients of the proxy's, by the guardrail that they ask for."""
    if not LITELLM:
        pytest.skip("PORTCULLIS_LITELLM names no LiteLLM")
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    both = {"guardrail": "generic_guardrail_api", "mode": ["pre_call", "post_call"], "api_base": gateway.url + "/litellm", "api_key": key, "streaming_transform_mode": "incremental_diff"}
    guards = {"both": both, "refused": both | {"api_key": key[:-1]}, "open": both | {"api_key": key[:-1], "unreachable_fallback": "fail_open"}}
    settings = {
        "model_list": [{"model_name": "m", "litellm_params": {"model": "openai/m", "api_base": "http://127.0.0.1:%d/v1" % model.server_port, "api_key": "k"}}],
        "guardrails": [{"guardrail_name": name, "litellm_params": params} for name, params in guards.items()],
    }
    folder = tmp_path_factory.mktemp("litellm")
    [port] = free_ports(1)
    (folder / "config.yaml").write_text(json.dumps(settings))
    master = "sk-master-key-of-this-test-alone"
    command = [Path(LITELLM) / "litellm", "--config", folder / "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"LITELLM_MASTER_KEY": master, "LITELLM_SALT_KEY": master, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "*"}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    url = "http://127.0.0.1:%d" % port
    client = openai.OpenAI(base_url=url + "/v1", api_key=master, max_retries=0, timeout=60 * PATIENCE)

    def ask(guardrail, messages=PROMPT, **more):
        Model.asked.clear()
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        return client.chat.completions.create(model="m", messages=messages, extra_body={"guardrails": [guardrail]}, **more)

    try:
        end = time.monotonic() + 120 * PATIENCE
        while True:
            assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()[-3000:]
            try:
                urllib.request.urlopen(url + "/health/liveliness", timeout=5)
                break
            except OSError:
                time.sleep(0.2)
        yield ask
    finally:
        process.terminate()
        process.wait(30)
        model.shutdown()


RESTORED = "You wrote: %s And mine is %s, which I say in the middle of what I say." % (PROMPT, "*" * len(OTHER))


def test_the_proxy_restores_answers_and_streams(proxy):
    answer = proxy("both")
    [told] = Model.asked
    assert MAIL not in told and CARD not in told and "日本 🦀" in told
    assert answer.choices[0].message.content == RESTORED
    pieces = [one.choices[0].delta.content or "" for one in proxy("both", stream=True) if one.choices]
    [told] = Model.asked
    assert MAIL not in told and CARD not in told
    assert "".join(pieces) == RESTORED


def test_the_proxy_sends_arguments_redacted(proxy):
    call = {"id": "call_1a", "type": "function", "function": {"name": "send", "arguments": json.dumps({"to": MAIL})}}
    tools = [{"type": "function", "function": {"name": "send", "description": "As %s does" % MAIL, "parameters": {"type": "object", "properties": {}}}}]
    messages = [
        {"role": "user", "content": "Write to " + MAIL},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": MAIL + " has it", "tool_call_id": "call_1a"},
    ]
    answer = proxy("both", messages, tools=tools)
    [told] = Model.asked
    assert MAIL not in told and "call_1a" in told and told.count("@") == 4
    assert answer.choices[0].message.content.startswith("You wrote: %s has it" % MAIL)


def test_the_proxy_refuses_what_is_blocked_and_whatever_fails(proxy, key):
    with pytest.raises(openai.BadRequestError, match="US_SSN"):
        proxy("both", "SSN " + SSN)
    assert not Model.asked
    for guardrail in ("refused", "open"):
        with pytest.raises(openai.APIStatusError) as refused:
            proxy(guardrail)
        assert not Model.asked and MAIL not in str(refused.value) and key[:-1] not in str(refused.value)


# ── agentgateway ────────────────────────────────────────────────────────────────────────────────────────────────────


def agent(gateway, key, what, body, call=None):
    headers = {"authorization": "Bearer " + key} | ({"x-request-id": call} if call else {})
    return gateway.call("POST", "/agent/" + what, body, headers)


def prompt(*texts):
    return {"body": {"messages": [{"role": "user", "content": text} for text in texts]}}


def choices(*texts):
    return {"body": {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}}


def action(answer):
    """As agentgateway reads it: by which members there are, the first that fits."""
    told = ok(answer)
    assert set(told) == {"action"}
    body = told["action"].get("body")
    messages = lambda body: body.get("messages") or [one["message"] for one in body["choices"]]
    if isinstance(body, dict) and all(set(one) == {"role", "content"} for one in messages(body)):
        return "mask", [one["content"] for one in messages(body)]
    if isinstance(body, str) and isinstance(told["action"]["status_code"], int):
        return "reject", body
    assert told == {"action": {}}
    return "pass", None


def test_the_webhook_masks_a_request_and_restores_its_answer(gateway, key):
    kind, [system, text] = action(agent(gateway, key, "request", prompt("be kind", PROMPT), "r1"))
    assert kind == "mask" and system == "be kind" and MAIL not in text and CARD not in text
    said = action(agent(gateway, key, "response", choices("You wrote: " + text, "mine: " + OTHER), "r1"))
    assert said == ("mask", ["You wrote: " + PROMPT, "mine: " + "*" * len(OTHER)])
    # Of another request nothing is known, nor by another token.
    for who, call in [(key, "r2"), (key, None), (token(gateway), "r1")]:
        assert MAIL not in json.dumps(ok(agent(gateway, who, "response", choices(text), call)))


@pytest.mark.parametrize(("says", "passes"), REPEATS)
def test_the_webhook_lets_pass_what_the_caller_wrote(gateway, key, says, passes):
    assert action(agent(gateway, key, "request", prompt(SAID), "r5"))[0] == "mask"
    heard = action(agent(gateway, key, "response", choices(says, "ok"), "r5"))
    assert heard == ("pass", None) if passes else heard[0] == "mask" and "***" in heard[1][0]
    for who, call in [(key, "r6"), (key, None), (token(gateway), "r5")]:
        assert action(agent(gateway, who, "response", choices(says), call))[0] == "mask"


def test_the_webhook_passes_and_rejects(gateway, key):
    assert action(agent(gateway, key, "request", prompt("hello"))) == ("pass", None)
    assert action(agent(gateway, key, "request", prompt())) == ("pass", None)
    assert action(agent(gateway, key, "response", choices("hello", ""))) == ("pass", None)
    for what, body in [("request", prompt("SSN " + SSN)), ("response", choices("SSN " + SSN))]:
        kind, told = action(agent(gateway, key, what, body))
        assert kind == "reject" and "US_SSN" in json.loads(told)["error"]["message"] and SSN not in told


def test_messages_as_providers_have_them(gateway, key):
    call = {"id": "call_1a", "type": "function", "function": {"name": "send", "arguments": json.dumps({"to": MAIL})}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Write to " + MAIL, "of_later": None}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1a", "name": "send", "input": {"to": MAIL}}]},
        {"type": "function_call", "call_id": "call_2b", "name": "send", "arguments": json.dumps({"to": MAIL})},
    ]
    told = ok(agent(gateway, key, "request", {"messages": messages, "model": "m"}))
    [mail] = {word for word in json.dumps(told).replace('"', " ").replace("\\", " ").split() if "@" in word}
    assert told == {"action": {"body": {"messages": json.loads(json.dumps(messages).replace(MAIL, mail))}}} and mail != MAIL
    assert ok(agent(gateway, key, "request", {"messages": [{"role": "user", "content": "hello"}]})) == {"action": {}}


@pytest.mark.parametrize(
    "what, body, at",
    [
        ("request", {}, "/body"),
        ("request", prompt(MAIL) | {"extra": 1}, "/extra"),
        ("request", {"body": {"messages": [{"role": "user", "content": [{"text": MAIL}]}]}}, "/body/messages/0/content"),
        ("request", {"body": {"messages": [{"role": "user", "content": None}]}}, "/body/messages/0/content"),
        ("request", {"messages": [MAIL]}, "/messages/0"),
        ("request", choices(MAIL), "/body/messages"),
        ("response", prompt(MAIL), "/body/choices"),
        ("response", {"messages": []}, "/body"),
        ("request", '{"body":{"messages":[]},"body":{}}', "/body"),
        ("other", prompt(MAIL), "path"),
    ],
)
def test_an_error_is_no_answer_that_passes(gateway, key, what, body, at):
    body = body if isinstance(body, str) else json.dumps(body)
    headers = {"authorization": "Bearer " + key, "content-type": "application/json"}
    answer = gateway.call("POST", "/agent/" + what, body, headers)
    text = answer.body.decode()
    # Its status may not be looked at: it must be nothing that can be read.
    assert answer.status >= 400 and at in text and MAIL not in text
    with pytest.raises(ValueError):
        json.loads(text)


def test_who_may_ask_the_webhook(gateway, key):
    ask = lambda path, **headers: gateway.call("POST", path, prompt(MAIL), headers)
    assert ask("/agent/%s/request" % key).status == 200
    refused = ask("/agent/request")
    # What a filter says is JSON, and has no action.
    assert refused.status == 401 and "action" not in refused.json()
