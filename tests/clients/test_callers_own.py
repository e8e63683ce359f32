"""What is the program's and the provider's own stays as it is, both ways: values of schemas, names of tools and voices, signed URLs."""

import json
import re

import anthropic
import openai
import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import ReplyingMock

MAIL = "jane.doe@harbour-post.com"
OTHER = "maria.lopez@clinic-mail.com"


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield gateway, mock


def ask(ends, path, body, said):
    """What the upstream got, and what the caller gets."""
    gateway, mock = ends
    mock.reply = lambda _: said
    answer = gateway.call("POST", path, body)
    assert answer.status == 200, answer.body
    return mock.requests[-1].json(), answer.body.decode()


def tool(values):
    schema = {"type": "object", "properties": {"to": {"enum": values}, "kind": {"const": "4111111111111111"}}}
    return {"type": "function", "function": {"name": "send", "parameters": schema}}


@pytest.mark.parametrize("streams", [False, True])
def test_a_value_of_the_request_s_schemas_is_not_masked_in_its_answer(ends, streams):
    arguments = json.dumps({"to": MAIL, "kind": "4111111111111111", "cc": OTHER})
    body = {"model": "m", "stream": streams, "messages": [{"role": "user", "content": "send it"}], "tools": [tool([MAIL, "Jordan"])]}
    if streams:
        parts = [arguments[at:at + 7] for at in range(0, len(arguments), 7)]
        said = [
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}}]} for part in parts
        ]
    else:
        call = {"id": "call_1a2b3c4d", "function": {"name": "send", "arguments": arguments}}
        said = {"choices": [{"index": 0, "message": {"content": "To Jordan, and to Maria Lopez", "tool_calls": [call]}}]}
    sent, got = ask(ends, "/v1/chat/completions", body, said)
    assert sent["tools"] == body["tools"]
    if streams:
        events = [json.loads(line[6:]) for line in got.splitlines() if line.startswith("data: {")]
        got = "".join(e["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] for e in events if e["choices"])
    else:
        message = json.loads(got)["choices"][0]["message"]
        got = message["tool_calls"][0]["function"]["arguments"]
        assert message["content"] == "To Jordan, and to %s" % ("*" * len("Maria Lopez"))
    assert json.loads(got) == {"to": MAIL, "kind": "4111111111111111", "cc": "*" * len(OTHER)}


def test_it_is_not_masked_either_where_it_stands_in_a_text_and_is_replaced_there(ends):
    """The schema goes out as it is; a part of what it allows passes as well."""
    whole = "Dr. Maria Lopez (cardiology)"
    body = {"model": "m", "messages": [{"role": "user", "content": "Mail %s, or ask Maria Lopez" % MAIL}], "tools": [tool([MAIL, whole])]}
    call = {"id": "call_1a2b3c4d", "function": {"name": "send", "arguments": json.dumps({"to": MAIL, "who": whole})}}
    said = {"choices": [{"index": 0, "message": {"content": "to Nora Brandt", "tool_calls": [call]}}]}
    sent, got = ask(ends, "/v1/chat/completions", body, said)
    assert MAIL not in json.dumps(sent["messages"]) and sent["tools"] == body["tools"]
    message = json.loads(got)["choices"][0]["message"]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"to": MAIL, "who": whole}
    assert message["content"] == "to " + "*" * len("Nora Brandt")


def test_a_value_of_another_request_s_schema_is_masked(ends):
    ask(ends, "/v1/chat/completions", {"model": "m", "messages": [], "tools": [tool([MAIL])]}, {"choices": []})
    said = {"choices": [{"index": 0, "message": {"content": MAIL}}]}
    assert MAIL not in ask(ends, "/v1/chat/completions", {"model": "m", "messages": []}, said)[1]
    examples = {"model": "m", "messages": [], "tools": [{"function": {"name": "f", "parameters": {"examples": [{"enum": [MAIL]}]}}}]}
    sent, got = ask(ends, "/v1/chat/completions", examples, said)
    # Such a value is text in the request, so it comes back as one that was replaced.
    assert MAIL not in json.dumps(sent)


NAMES = [
    ("/v1/chat/completions", {"messages": [], "audio": {"voice": "Leo"}, "tools": [{"function": {"name": "Paris"}}], "tool_choice": {"function": {"name": "Paris"}}}),
    ("/v1/chat/completions", {"messages": [], "web_search_options": {"user_location": {"country": "CA"}}, "provider": {"order": ["Venice"]}}),
    ("/v1/responses", {"input": "hi", "tools": [{"type": "web_search", "user_location": {"country": "CH"}}, {"name": "London"}]}),
    ("/v1/messages", {"max_tokens": 1, "messages": [], "tools": [{"name": "Washington", "input_schema": {}}], "tool_choice": {"name": "Washington"}}),
    ("/v1/audio/speech", {"input": "hi", "voice": "Rachel"}),
    (
        "/v1beta/models/g:generateContent",
        {"contents": [], "generationConfig": {"speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Leda"}}}}},
    ),
]  # fmt: skip


@pytest.mark.parametrize("path, body", NAMES, ids=[path for path, _ in NAMES])
def test_names_of_tools_voices_and_countries_stay(ends, path, body):
    sent, _ = ask(ends, path, {"model": "m"} | body, {})
    assert sent == {"model": "m"} | body


OF_TOOLS = [
    ("/model/m/converse", {"messages": [{"role": "assistant", "content": [{"toolUse": {"toolUseId": "tooluse_abc", "name": "Jenkins", "input": {}}}]}]}),
    ("/v1beta/models/g:generateContent", {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["Julia"]}}}),
    ("/v1/responses", {"input": "x", "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "Slack"}]}}),
    ("/v1/responses", {"input": "x", "tools": [{"type": "mcp", "server_label": "Claude", "allowed_tools": ["Julia"]}]}),
    ("/v1/chat/completions", {"messages": [], "tools": [{"type": "custom", "custom": {"name": "Jenkins"}}], "tool_choice": {"custom": {"name": "Jenkins"}}}),
    ("/v1/messages", {"messages": [], "mcp_servers": [{"name": "Julia"}], "tools": [{"mcp_server_name": "Julia", "configs": {"Claude": {"enabled": True}}}]}),
    ("/api/chat", {"messages": [{"role": "tool", "tool_name": "Jenkins", "content": "x"}]}),
    (
        "/v1beta/interactions",
        {
            "input": [{"type": "function_call", "id": "call_1a", "name": "Jenkins", "arguments": {}}],
            "tools": [
                {"type": "function", "name": "Jordan", "parameters": {"type": "object", "properties": {"to": {"enum": ["Julia", MAIL]}}}},
                {"type": "mcp_server", "name": "Claude", "allowed_tools": [{"mode": "auto", "tools": ["Julia"]}],
                 "headers": {"Authorization": "Bearer ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"}},
                {"type": "retrieval", "exa_ai_search_config": {"api_key": "ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"}},
            ],
            "generation_config": {"speech_config": [{"voice": "Leda"}], "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["Jordan"]}}},
            "response_format": {"type": "text", "mime_type": "application/json", "schema": {"enum": [MAIL]}},
        },
    ),
    # What a provider needs to get into somebody's server of tools.
    ("/v1/messages", {"messages": [], "mcp_servers": [{"name": "x", "authorization_token": "ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"}]}),
    ("/v1/responses", {"input": "x", "tools": [{"type": "mcp", "authorization": "ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"}]}),
    ("/v1/responses", {"input": "x", "tools": [{"type": "mcp", "headers": {"Authorization": "Bearer ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"}}]}),
    # Ids of nineteen digits, of which one in twenty passes for a card.
    ("/v1/projects/p/locations/l/endpoints/openapi/chat/completions", {"messages": [], "model": "projects/1/locations/eu/endpoints/6905949917125714272"}),
    ("/v1beta/models/g:generateContent", {"contents": [], "cachedContent": "projects/1/locations/eu/cachedContents/6779851534465110352"}),
]  # fmt: skip


@pytest.mark.parametrize("path, body", OF_TOOLS, ids=range(len(OF_TOOLS)))
def test_what_tools_are_known_by_and_reached_with_stays(ends, path, body):
    sent, _ = ask(ends, path, {"model": "m"} | body, {})
    assert sent == {"model": "m"} | body


KEY = "ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"
OPENAI_TOOLS = {
    "tools": [
        {"type": "function", "function": {"name": "Jordan", "parameters": {
            "type": "object", "properties": {"to": {"enum": [MAIL, "Jordan"]}, OTHER: {"const": "4111111111111111"}}, "required": ["to"]}}},
        {"type": "mcp", "server_label": "Claude", "authorization": KEY, "headers": {"Authorization": "Bearer " + KEY}},
    ],
    "tool_choice": {"type": "function", "function": {"name": "Jordan"}},
}  # fmt: skip
CLAUDE_TOOLS = {
    "tools": [{"name": "Jordan", "input_schema": {"type": "object", "properties": {"to": {"enum": [MAIL]}, OTHER: {"type": "string"}}}}],
    "tool_choice": {"type": "tool", "name": "Jordan"},
    "mcp_servers": [{"type": "url", "name": "Julia", "url": "https://tools.example", "authorization_token": KEY}],
}
GEMINI_TOOLS = {
    "tools": [{"functionDeclarations": [{"name": "Jordan", "parameters": {"type": "OBJECT", "properties": {"to": {"type": "STRING", "enum": [MAIL]}}}}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["Jordan"]}},
    "generationConfig": {"responseSchema": {"enum": [MAIL]}},
}
BEDROCK_TOOLS = {
    "toolConfig": {"tools": [{"toolSpec": {"name": "Jordan", "inputSchema": {"json": {"properties": {"to": {"enum": [MAIL]}}}}}}],
                   "toolChoice": {"tool": {"name": "Jordan"}}},
}  # fmt: skip
SAYS = "Mail %s about Jordan" % MAIL
CHAT = {"model": "m", "messages": [{"role": "user", "content": SAYS}]} | OPENAI_TOOLS
CLAUDE = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": SAYS}]} | CLAUDE_TOOLS
GEMINI = {"contents": [{"role": "user", "parts": [{"text": SAYS}]}]} | GEMINI_TOOLS
WITHIN = [
    ("anthropic", "/v1/messages/batches", {"requests": [{"custom_id": "a", "params": CLAUDE}, {"custom_id": "b", "params": CLAUDE}]}, ["requests", 1, "params"]),
    ("gemini count", "/v1beta/models/g:countTokens", {"generateContentRequest": {"model": "models/g"} | GEMINI}, ["generateContentRequest"]),
    (
        "gemini batch", "/v1beta/models/g:batchGenerateContent",
        {"batch": {"displayName": "x", "inputConfig": {"requests": {"requests": [{"request": GEMINI, "metadata": {"key": "a"}}]}}}},
        ["batch", "inputConfig", "requests", "requests", 0, "request"],
    ),
    (
        "gemini batch in snakes", "/v1beta/models/g:batchGenerateContent",
        {"batch": {"display_name": "x", "input_config": {"requests": {"requests": [{"request": GEMINI}]}}}},
        ["batch", "input_config", "requests", "requests", 0, "request"],
    ),
    (
        "bedrock count", "/model/m/count-tokens",
        {"input": {"converse": {"messages": [{"role": "user", "content": [{"text": SAYS}]}]} | BEDROCK_TOOLS}},
        ["input", "converse"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("path, body, place", [row[1:] for row in WITHIN], ids=[row[0] for row in WITHIN])
def test_a_request_within_a_request_keeps_what_one_alone_keeps(ends, path, body, place):
    sent, _ = ask(ends, path, body, {})
    came, asked = sent, body
    for step in place:
        came, asked = came[step], asked[step]
    own = ("tools", "tool_choice", "mcp_servers", "toolConfig", "generationConfig", "model")
    assert {name: came[name] for name in own if name in asked} == {name: asked[name] for name in own if name in asked}
    said = json.dumps({name: value for name, value in came.items() if name not in own})
    assert MAIL not in said and "about Jordan" not in said, "texts are texts"
    # In a place where no request stands it is text.
    sent, _ = ask(ends, path, {"elsewhere": body}, {})
    assert MAIL not in json.dumps(sent) and KEY not in json.dumps(sent)


def test_tools_of_batches_stay_by_the_providers_clients(ends):
    gateway, mock = ends
    mock.reply = lambda _: {"id": "x"}
    requests = [{"custom_id": name, "params": CLAUDE} for name in ("a", "b")]
    with anthropic.Anthropic(api_key="sk-x", base_url=gateway.url, max_retries=0) as client:
        client.messages.batches.create(requests=requests)
    for came in mock.requests[-1].json()["requests"]:
        assert {name: came["params"][name] for name in CLAUDE_TOOLS} == CLAUDE_TOOLS
        assert MAIL not in json.dumps(came["params"]["messages"])


UPLOADS = [
    ("chat", lambda n: {"custom_id": "job-%d" % n, "method": "POST", "url": "/v1/chat/completions", "body": CHAT}, "body"),
    ("responses", lambda n: {"body": {"input": SAYS} | OPENAI_TOOLS, "url": "/v1/responses", "method": "POST", "custom_id": "job-%d" % n}, "body"),
    # As Mistral and Gemini have them.
    ("mistral", lambda n: {"custom_id": "%d" % n, "body": CHAT}, "body"),
    ("gemini", lambda n: {"key": "request-%d" % n, "request": GEMINI}, "request"),
]  # fmt: skip


@pytest.mark.parametrize("line, within", [row[1:] for row in UPLOADS], ids=[row[0] for row in UPLOADS])
def test_tools_in_lines_of_a_batch_stay(ends, line, within):
    gateway, mock = ends
    mock.reply = lambda _: {"id": "file-1"}
    lines = [line(n) for n in range(3)]
    upload = "".join(json.dumps(one) + "\n" for one in lines).encode()
    with openai.OpenAI(api_key="sk-x", base_url=gateway.url + "/v1", max_retries=0) as client:
        client.files.create(file=("requests.jsonl", upload), purpose="batch")
    came = [json.loads(one) for one in re.findall(rb"(?m)^\{.*\}\r?$", mock.requests[-1].body)]
    assert len(came) == len(lines)
    for sent, asked in zip(came, lines):
        own = set(OPENAI_TOOLS) | set(GEMINI_TOOLS)
        assert {name: value for name, value in sent[within].items() if name in own} == {
            name: value for name, value in asked[within].items() if name in own
        }
        said = json.dumps({name: value for name, value in sent[within].items() if name not in own})
        assert MAIL not in said and "about Jordan" not in said
    # Lines of anything else are text throughout.
    upload = "".join(json.dumps({"n": n, "data": CHAT}) + "\n" for n in range(3)).encode()
    with openai.OpenAI(api_key="sk-x", base_url=gateway.url + "/v1", max_retries=0) as client:
        client.files.create(file=("data.jsonl", upload), purpose="batch")
    assert MAIL.encode() not in mock.requests[-1].body and KEY.encode() not in mock.requests[-1].body


def test_other_headers_for_a_server_of_tools_are_text_but_for_credentials(ends):
    tool = {"type": "mcp", "headers": {"Authorization": "Bearer x", "X-User": MAIL, "X-Key": "ghp_x7Kq9ZpL2mNvB4tRwY8sD1fGhJ3kC5eA6uIo"}}
    sent, _ = ask(ends, "/v1/responses", {"model": "m", "input": "x", "tools": [tool]}, {})
    headers = sent["tools"][0]["headers"]
    assert headers["Authorization"] == "Bearer x" and MAIL != headers["X-User"] and tool["headers"]["X-Key"] == headers["X-Key"]


TAVILY = "https://mcp.tavily.com/mcp/?tavilyApiKey=tvly-dev-AbCdEfGhIjKlMnOpQrStUvWxYz012345"


def test_urls_that_somebody_else_calls_keep_their_credentials(ends):
    """What else is in them is text; so it is where no protocol is known."""
    token = "https://c.harbour-post.com/hook?token=AbCdEf123456GhIjKl"
    for path, body, keeps in (
        ("/v1/responses", {"model": "m", "input": "x", "tools": [{"type": "mcp", "server_url": TAVILY + "&mail=" + MAIL}]}, TAVILY),
        ("/v1/messages", {"model": "m", "messages": [], "mcp_servers": [{"type": "url", "url": TAVILY + "&mail=" + MAIL}]}, TAVILY),
        ("/v1/predictions", {"input": {"prompt": MAIL}, "webhook": token}, token),
    ):
        sent, _ = ask(ends, path, body, {})
        sent = json.dumps(sent)
        assert keeps in sent and MAIL not in sent, path
    data = {"type": "api_key", "key": "Zk3Jx91LmQpV8sTn2Rw7Yb4KZk3Jx91LmQpV8sTn2Rw7Yb4KAzSeAbCd"}
    body = {"messages": [], "data_sources": [{"type": "azure_search", "parameters": {"authentication": data, "role_information": MAIL}}]}
    sent, _ = ask(ends, "/openai/deployments/d/chat/completions", body, {})
    assert sent["data_sources"][0]["parameters"]["authentication"] == data and MAIL not in json.dumps(sent)


NAMED_IN_ANSWERS = [
    ("/model/m/converse", {"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "tooluse_abc", "name": "Jenkins", "input": {}}}]}}}),
    ("/api/chat", {"message": {"role": "assistant", "tool_calls": [{"function": {"name": "Julia", "arguments": {}}}]}, "done": True}),
    ("/v2/chat", {"message": {"tool_calls": [{"id": "call_1a2b3c", "type": "function", "function": {"name": "Slack", "arguments": "{}"}}]}}),
    ("/v1/messages/batches/b/results", {"custom_id": "a", "result": {"message": {"content": [{"type": "tool_use", "id": "toolu_1a2b3c", "name": "Jordan", "input": {}}]}}}),
    ("/v1beta/interactions", {"id": "v1_1a", "steps": [{"type": "function_call", "id": "call_1a", "name": "Jenkins", "arguments": {}}]}),
    ("/v1internal:generateContent", {"response": {"candidates": [{"content": {"parts": [{"functionCall": {"id": "fc_1a", "name": "Julia", "args": {}}}]}}]}}),
    ("/v1/responses", {"output": [{"type": "mcp_list_tools", "server_label": "Claude", "tools": [{"name": "Jenkins", "input_schema": {"enum": ["Julia"]}}]}]}),
]  # fmt: skip


@pytest.mark.parametrize("path, said", NAMED_IN_ANSWERS, ids=[path for path, _ in NAMED_IN_ANSWERS])
def test_tools_that_an_answer_names_are_not_masked(ends, path, said):
    _, got = ask(ends, path, {"model": "m", "messages": [], "input": "x"}, said)
    assert json.loads(got) == said


SIGNATURE = "kJ8f0aVYpQ3x7mZt5sLw2bNcR1eHu9dGi4oTqXyE6rUzMvPjSkCnBhWlAgFfDd+K/3=="


@pytest.mark.parametrize("streams", [False, True])
def test_a_step_that_is_signed_goes_back_as_it_was_signed(ends, streams):
    call = {"type": "code_execution_call", "arguments": {"language": "python", "code": "mail('%s')" % OTHER}, "signature": SIGNATURE}
    body = {"model": "m", "stream": streams, "input": "run it"}
    if streams:
        _, got = ask(ends, "/v1beta/interactions", body, [{"event_type": "step.delta", "index": 0, "delta": call}])
        shown = json.loads(got.split("data: ", 1)[1])["delta"]
    else:
        _, got = ask(ends, "/v1beta/interactions", body, {"id": "v1_1a", "steps": [call]})
        shown = json.loads(got)["steps"][0]
    assert OTHER not in json.dumps(shown) and shown["signature"] != SIGNATURE and shown["signature"].endswith(SIGNATURE)
    sent, _ = ask(ends, "/v1beta/interactions", {"model": "m", "input": [shown]}, {})
    assert sent["input"] == [call]
    # One that covers nothing that was changed stays.
    plain = call | {"arguments": {"language": "python", "code": "mail('nobody')"}}
    _, got = ask(ends, "/v1beta/interactions", body, {"id": "v1_1a", "steps": [plain, {"type": "thought", "signature": SIGNATURE}]})
    assert json.loads(got)["steps"] == [plain, {"type": "thought", "signature": SIGNATURE}]


SIGNED = [
    "https://b.s3.amazonaws.com/i.png?X-Amz-Credential=AKIAQX7RZ3JY5KDN4WPL%2F20260101%2Fus-east-1%2Fs3&X-Amz-Signature=" + "0a1b" * 16,
    "https://acct.blob.core.windows.net/c/i.png?sv=2024-11-04&se=2027-01-01&sig=hVv6Jx91LmQpV8sTn2Rw7Yb4K0000000000000000000%3D",
    "https://storage.googleapis.com/b/i.png?X-Goog-Credential=x%2F20260101&X-Goog-Signature=" + "9f8e" * 20,
]


@pytest.mark.parametrize("url", SIGNED, ids=["s3", "azure", "google"])
def test_a_signed_url_is_fetched_as_it_was_signed(ends, url):
    for path, body in [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}),
        ("/v1/responses", {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": url}]}]}),
        ("/v1/messages", {"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": url}}]}]}),
        ("/v1beta/models/g:generateContent", {"contents": [{"parts": [{"fileData": {"fileUri": url}}]}]}),
    ]:  # fmt: skip
        sent, _ = ask(ends, path, {"model": "m"} | body, {})
        assert sent == {"model": "m"} | body, path
    _, got = ask(ends, "/v1/images/generations", {"model": "m", "prompt": "a cat"}, {"created": 1, "data": [{"url": url}]})
    assert json.loads(got)["data"][0]["url"] == url
    # With somebody's address in it, or as a part of a text, it is looked at as any.
    named = url.replace("i.png?", "i.png?mail=%s&" % MAIL)
    sent, _ = ask(ends, "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": named}}]}]}, {})
    assert MAIL not in json.dumps(sent)
