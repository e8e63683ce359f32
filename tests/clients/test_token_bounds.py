"""Tokens as keys for models: which models they ask, how often, for how much; made and changed by the command line and by HTTP."""

import concurrent.futures
import gzip
import json
import re
import time

import pytest
from anthropic import Anthropic
from anthropic import RateLimitError as AnthropicRateLimit
from gateway import MINIMAL, Gateway, run
from llm_upstream import Answers, Upstream
from openai import APITimeoutError, AuthenticationError, OpenAI, PermissionDeniedError, RateLimitError
from test_usage import CHAT, CONFIG, LOG, PRICES, ROUTES, access, ident, line_of, token


@pytest.fixture(scope="module")
def ends():
    with Upstream() as upstream, Gateway(upstream.url, CONFIG) as running:
        yield running, upstream


@pytest.fixture
def road(ends):
    ends[1].begin()
    return ends


def refused(gateway):
    """How often a budget of tokens was used up."""
    found = re.search(r'portcullis_over_budget_total\{budget="tokens"\} (\d+)', gateway.metrics())
    return int(found[1]) if found else 0


# ── virtual keys ────────────────────────────────────────────────────────────────────────────────────────────────────

def test_a_key_for_some_models_asks_no_others(road):
    gateway, upstream = road
    key = token(gateway, "--route", "keys", "--model", "gpt-4o*", "--model", "claude-*")
    client = OpenAI(api_key=key, base_url=gateway.url + "/keys/v1", max_retries=0)
    assert client.chat.completions.create(model="gpt-4o-mini", **CHAT).choices
    with pytest.raises(PermissionDeniedError) as refused:
        client.chat.completions.create(model="o3", **CHAT)
    assert "model" in str(refused.value)
    claude = Anthropic(api_key=key, base_url=gateway.url + "/keys")
    assert claude.messages.create(model="claude-x", max_tokens=9, **CHAT).content
    came = len(upstream.requests)

    def ask(path, body, **headers):
        headers = {"authorization": "Bearer " + key, "content-type": "application/json"} | headers
        return gateway.call("POST", "/keys" + path, body, headers).status

    chat = "/v1/chat/completions"
    for path, body in [
        (chat, '{"model":"gpt-4o","model":"o3","messages":[]}'),
        (chat, '{"model":"o3","model":"gpt-4o","messages":[]}'),
        (chat, '{"model":"gpt-4o","MODEL":"o3","messages":[]}'),
        (chat, '{"model":"gpt-4o","mod\\u0065l":"o3","messages":[]}'),
        (chat, '{"model":"gpt-4o","models":["o3"],"messages":[]}'),
        (chat, '{"model":"gpt-4o","fallbacks":[{"model":"o3"}],"messages":[]}'),
        (chat, '{"messages":[]}'),
        (chat, '{"model":["o3"],"messages":[]}'),
        (chat, '[{"model":"gpt-4o"}]'),
        (chat, "model=gpt-4o"),
        (chat, ""),
        ("/v1/messages/batches", '{"requests":[{"params":{"model":"claude-x"}},{"params":{"model":"o3"}}]}'),
        ("/v1beta/models/gemini-3:generateContent", "{}"),
        ("/v1beta/models/gemini-3%3AgenerateContent", "{}"),
        ("/v1beta/models/gemini-3:generateContent", '{"model":"gpt-4o"}'),
        ("/openai/deployments/o3/chat/completions", '{"model":"gpt-4o","messages":[]}'),
        ("/model/o3/converse", "{}"),
        ("/v1/batches", '{"input_file_id":"file-1"}'),
        ("/v1/images/edits", '{"prompt":"a cat"}'),
        ("/v1/something/new", "{}"),
        ("/v1/chat/completions?x=1", '{"model":"o3"}'),
        ("//v1//chat/completions", '{"model":"o3"}'),
    ]:
        assert ask(path, body) in (400, 403), (path, body)
    parts = '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\no3\r\n--x--\r\n'
    assert ask("/v1/audio/transcriptions", parts, **{"content-type": "multipart/form-data; boundary=x"}) == 403
    packed = gzip.compress(b'{"model":"o3","messages":[]}')
    assert ask(chat, packed, **{"content-encoding": "gzip"}) == 403
    assert gateway.call("PUT", "/keys" + chat, '{"model":"o3"}', {"authorization": "Bearer " + key}).status == 403
    upgrade = {"authorization": "Bearer " + key, "connection": "upgrade", "upgrade": "websocket"}
    upgrade |= {"sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert gateway.call("GET", "/keys/v1/realtime?model=gpt-4o", headers=upgrade).status == 403
    assert len(upstream.requests) == came, "nothing of all that was sent"
    # What asks no model passes, though the upstream has none of it.
    assert gateway.call("GET", "/keys/v1/models", headers={"authorization": "Bearer " + key}).status == 404


def test_a_key_for_some_models_is_refused_whatever_cannot_be_told(road):
    gateway, upstream = road
    key = token(gateway, "--route", "keys", "--model", "gpt-4o*")
    headers = {"authorization": "Bearer " + key, "content-type": "application/json"}
    chat = "/v1/chat/completions"
    other = '{"model":"o3","messages":[]}'
    rows = [
        # Paths that servers read in their own ways.
        ("POST", "/openai/Deployments/o3/chat/completions", '{"model":"gpt-4o"}'),
        ("POST", "/openai/deployments/o3;x/chat/completions", '{"model":"gpt-4o"}'),
        ("POST", "/openai/deployments%2Fo3/chat/completions", '{"model":"gpt-4o"}'),
        ("POST", "/v1beta/Models/o3:generateContent", "{}"),
        ("POST", "/v1beta/models/o3:streamGenerateContent", '{"contents":[]}'),
        ("POST", "/v1beta/tunedModels/o3:generateContent", "{}"),
        ("POST", chat + "/", other),
        ("POST", "/V1/Chat/Completions", other),
        ("POST", "/x/files" + chat, other),
        ("POST", chat + "/v1/files", other),
        ("POST", chat + "?model=o3", '{"model":"gpt-4o"}'),
        ("POST", chat + "?mod%65l=o3", '{"model":"gpt-4o"}'),
        ("POST", "/mcp", other),
        ("POST", "/mcp/v1/chat/completions", other),
        # Members that servers read in their own ways.
        ("POST", chat, '{"model":"gpt-4o","models":"o3"}'),
        ("POST", chat, '{"model":"gpt-4o, o3"}'),
        ("POST", chat, '{"model":"gpt-4o","fallbacks":[{"gpt-4o":["o3"]}]}'),
        ("POST", chat, '{"model":"gpt-4o","fallbacks":[{"o3":["gpt-4o"]}]}'),
        ("POST", chat, '{"model":"gpt-4o","extra_body":{"models":["o3"]}}'),
        ("POST", "/v1/responses", '{"model":"gpt-4o","tools":[{"type":"image_generation","model":"o3"}]}'),
        ("POST", "/v1/messages", '{"model":"gpt-4o","tools":[{"type":"advisor","model":"o3"}]}'),
        ("POST", "/v1/realtime/client_secrets", '{"session":{"model":"o3"}}'),
        (
            "POST",
            "/v1/realtime/client_secrets",
            '{"session":{"model":"gpt-4o","audio":{"input":{"transcription":{"model":"o3"}}}}}',
        ),
        ("POST", "/v1/batches", '{"input_file_id":"file-1","model":"gpt-4o"}'),
        ("POST", "/v1/fine_tuning/jobs", '{"model":"o3","training_file":"f"}'),
        ("POST", "/v1/evals", "{}"),
        ("POST", chat, '{"model":"gpt-4o","tools":[{"type":"openrouter:advisor","parameters":{"model":"o3"}}]}'),
        ("POST", chat, '{"model":"gpt-4o","plugins":[{"id":"fusion","analysis_models":["o3"]}]}'),
        ("POST", chat, '{"model":"gpt-4o","data_sources":[{"deployment_name":"o3"}]}'),
        ("POST", "/v1/responses", '{"model":"gpt-4o","agent":{"type":"agent_reference","name":"a"}}'),
        ("POST", "/v1/agents/completions", '{"model":"gpt-4o","agent_id":"ag:1"}'),
        # Methods that servers read in their own ways.
        ("post", chat, other),
        ("PATCH", chat, other),
        ("QUERY", chat, other),
        ("GET", chat, other),
        ("DELETE", chat, other),
    ]
    for method, path, body in rows:
        answer = gateway.call(method, "/keys" + path, body, headers)
        assert answer.status in (400, 403, 405), (method, path, body, answer.status, answer.body)
    for header in ("x-portkey-config", "azureml-model-deployment"):
        assert gateway.call("POST", "/keys" + chat, '{"model":"gpt-4o"}', headers | {header: "o3"}).status == 403
    assert not upstream.requests, "nothing of all that was sent"
    # A property of a schema, and of what is noted, is no model.
    schema = {"type": "object", "properties": {"model": {"type": "string", "enum": ["o3"]}}}
    for path, more in [
        (chat, {"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}),
        (chat, {"format": schema, "guided_json": schema, "labels": {"model": "x"}}),
        ("/v1/responses", {"input": "-", "tools": [{"type": "function", "name": "f", "parameters": schema}]}),
        ("/v1/messages", {"max_tokens": 9, "output_config": {"format": {"schema": schema}}}),
    ]:
        body = json.dumps({"model": "gpt-4o", "messages": CHAT["messages"]} | more)
        assert gateway.call("POST", "/keys" + path, body, headers).status == 200, (path, more)


def test_what_nobody_counts_is_not_asked_with_a_budget_of_tokens(road):
    gateway, upstream = road
    headers = {"authorization": "Bearer " + token(gateway, "--route", "keys", "--budget", "9000tokens/day")}

    def ask(path, body, **more):
        return gateway.call("POST", "/keys" + path, body, headers | {"content-type": "application/json"} | more)

    for path, body, status in [
        ("/v1/batches", {"input_file_id": "file-1"}, 403),
        ("/v1/messages/batches", {"requests": [{"params": {"model": "m-1", "max_tokens": 9}}]}, 403),
        ("/v1/batch/jobs", {"model": "m-1", "input_files": ["f"]}, 403),
        ("/v1/Batch/Jobs", {"model": "m-1", "input_files": ["f"]}, 403),
        ("/v1beta/models/m:asyncBatchEmbedContent", {}, 403),
        ("/model-invocation-job", {"modelId": "m-1"}, 403),
        ("/v1/chat/completions", "model=m-1", 400),
        ("/v1/chat/completions", b"\xff\xfe{", 400),
    ]:
        assert line_of(gateway, lambda: ask(path, body))["status"] == status
    assert not upstream.requests
    # A bound as lenient servers read one is a bound: what is left may be exceeded by one request, and by no second.
    for n, most in enumerate((9001, 9001.0, "9001", 9.1e3)):
        body = {"model": "m-1", "max_tokens": most, **CHAT}
        answers = []
        line = line_of(gateway, lambda: answers.append(ask("/v1/chat/completions", body)))
        assert line["status"] == 200
        assert "tokens;tokens=%d;" % (9000 - n * 42) in answers[0].headers["portcullis-budget-remaining"]
    # Batches are counted by requests alone.
    counted = {"authorization": "Bearer " + token(gateway, "--route", "keys", "--budget", "2requests/day")}
    ask = lambda: gateway.call("POST", "/keys/v1/batches", {"input_file_id": "f"}, counted).status
    assert [ask() == 429 for _ in range(3)] == [False, False, True]


def test_a_bound_that_a_protocol_does_not_read_is_none(road):
    gateway, upstream = road
    upstream.begin(delay=0.1)
    key = token(gateway, "--route", "keys", "--budget", "1000tokens/day")
    headers = {"authorization": "Bearer " + key}
    # Each is taken for the most that it may take, as long as nobody has answered.
    body = {"model": "m-1", "max_tokens": 1, "stream": True, **CHAT}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: gateway.call("POST", "/keys/api/chat", body, headers).status, range(8)))
    assert found.count(200) == 1 and found.count(429) == 7, found


def test_changes_at_once_lose_none(road):
    gateway, _ = road
    admin = {"authorization": "Bearer " + token(gateway, "--service", "token")}
    call = lambda what, body: gateway.call("POST", "/v1beta/token/" + what, body, admin).json()["result"]
    for turn in range(10):
        id = {"id": call("create", {"name": "both", "routes": ["keys"]})["id"]}
        changes = [{"models": ["ok*"]}, {"name": "q"}, {"labels": {"team": "red"}}, {"rate": {"requests": 9, "per_seconds": 60}}]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda change: call("update", id | change), changes))
        now = next(row for row in call("list", {"size": 1000})["items"] if row["id"] == id["id"])
        assert (now["models"], now["name"], now["labels"]) == (["ok*"], "q", {"team": "red"}), turn
        assert now["rate"]["requests"] == 9


def test_two_budgets_of_a_token_over_one_period_are_spent_from_together(road):
    gateway, _ = road
    key = token(gateway, "--route", "keys", "--budget", "84tokens/day", "--budget", "3requests/day", "--soft-budget", "42tokens/day")
    headers = {"authorization": "Bearer " + key}
    ask = lambda: gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers)
    found = [line_of(gateway, ask)["status"] for _ in range(3)]
    assert found == [200, 200, 429], "once each, and not once for each budget"


class Slow(Answers):
    """Answers late who says so."""

    def answer(self, came):
        if b"slowly" in came.body:
            time.sleep(1)
        super().answer(came)


def test_a_caller_who_leaves_before_the_answer_pays_for_it():
    with Upstream(handler=Slow) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        key = token(gateway, "--route", "keys", "--budget", "200tokens/day")
        client = OpenAI(api_key=key, base_url=gateway.url + "/keys/v1", max_retries=0, timeout=0.4)
        slowly = [{"role": "user", "content": "slowly"}]
        with pytest.raises(APITimeoutError):
            client.chat.completions.create(model="m-1", max_tokens=150, n=3, messages=slowly)
        line = gateway.wait_for(lambda: access(gateway, 0))[-1]
        assert line["output_tokens"] == 150 and line["estimated_tokens"], line
        headers = {"authorization": "Bearer " + key}
        answer = gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers)
        left = re.search(r"tokens=(\d+);", answer.headers["portcullis-budget-remaining"])[1]
        assert int(left) == 200 - line["input_tokens"] - 150


def test_what_others_may_spend_yet_is_waited_for_and_not_used_up():
    with Upstream(handler=Slow) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        key = token(gateway, "--route", "keys", "--budget", "1000tokens/month")
        client = OpenAI(api_key=key, base_url=gateway.url + "/keys/v1", max_retries=0)
        slowly = [{"role": "user", "content": "slowly"}]
        ask = lambda: client.chat.completions.create(model="m-1", max_tokens=5000, n=2, messages=slowly)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(ask)
            gateway.wait_for(lambda: upstream.requests)
            with pytest.raises(RateLimitError) as waits:
                client.chat.completions.create(model="m-1", **CHAT)
            assert waits.value.code == "rate_limit_exceeded" and waits.value.response.headers["retry-after"] == "1"
            assert first.result().choices
        assert gateway.wait_for(lambda: client.chat.completions.create(model="m-1", **CHAT).choices)


def test_a_price_is_of_the_dearest_model_that_is_named():
    with Upstream() as upstream, Gateway(upstream.url, MINIMAL + LOG + PRICES + ROUTES) as gateway:
        key = token(gateway, "--route", "keys", "--budget", "1usd/day")
        headers = {"authorization": "Bearer " + key, "content-type": "application/json"}
        chat = "/keys/v1/chat/completions"
        for body in (
            '{"model":"m-1","model":"cheap-1","messages":[]}',
            '{"model":"cheap-1","model":"m-1","messages":[]}',
            '{"model":"cheap-1","MODEL":"m-1","messages":[]}',
            '{"model":"nobody-knows","models":["m-1"],"messages":[]}',
        ):
            line = line_of(gateway, lambda: gateway.call("POST", chat, body, headers))
            assert line["cost_usd"] == "0.00312", (body, line)


def test_a_keys_budget_ends_in_the_shape_of_each_protocol_and_is_not_exceeded(road):
    gateway, upstream = road
    key = token(gateway, "--name", "spender", "--route", "keys", "--budget", "150tokens/day")
    headers = {"authorization": "Bearer " + key}
    left = []

    def ask():
        answer = gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers)
        return answer.headers["portcullis-budget-remaining"]

    for _ in range(4):
        # Until it is counted, an answer has taken what it may take at most.
        line = line_of(gateway, lambda: left.append(ask()))
        assert line["status"] == 200
    # 42 tokens each.
    assert [re.search(r"tokens;tokens=(\d+);reset=\d+", one)[1] for one in left] == ["150", "108", "66", "24"]
    came, before = len(upstream.requests), refused(gateway)
    client = OpenAI(api_key=key, base_url=gateway.url + "/keys/v1", max_retries=0)
    with pytest.raises(RateLimitError) as spent:
        client.chat.completions.create(model="m-1", **CHAT)
    assert spent.value.code == "insufficient_quota" and int(spent.value.response.headers["retry-after"]) > 0
    with pytest.raises(AnthropicRateLimit):
        Anthropic(api_key=key, base_url=gateway.url + "/keys", max_retries=0).messages.create(
            model="m-1", max_tokens=9, **CHAT
        )
    assert len(upstream.requests) == came
    assert refused(gateway) == before + 2
    # It stays spent over a restart, and for another secret of the same token.
    gateway.restart()
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers).status == 429
    secret = run("tokens", "rotate", "-c", gateway.file, ident(gateway, "spender")).out.strip()
    again = {"authorization": "Bearer " + secret}
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, again).status == 429
    # More of it, and it goes on.
    run("tokens", "update", "-c", gateway.file, ident(gateway, "spender"), "--budget", "400tokens/day")
    time.sleep(1.2)
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, again).status == 200


def test_callers_at_once_exceed_a_budget_by_one_request_at_the_most(road):
    gateway, upstream = road
    upstream.begin(delay=0.001)
    key = token(gateway, "--route", "keys", "--budget", "420tokens/day")
    headers = {"authorization": "Bearer " + key}
    body = {"model": "m-1", "stream": True, "max_tokens": 30, **CHAT}

    def ask(_):
        return gateway.call("POST", "/keys/v1/chat/completions", body, headers).status

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(ask, range(40)))
    # 42 tokens each: ten are the budget. What is reserved is somewhat more, so fewer may pass at once.
    assert set(found) <= {200, 429} and 1 <= found.count(200) <= 11, found


def test_a_key_has_a_rate_of_its_own_on_all_routes(road):
    gateway, _ = road
    key = token(gateway, "--route", "keys", "--service", "redact", "--rate", "3/1h")
    headers = {"authorization": "Bearer " + key}
    ask = lambda: gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers).status
    redact = lambda: gateway.call("POST", "/v1/redact", {"text": "-"}, headers).status
    assert [ask(), redact(), ask(), ask(), redact()] == [200, 200, 200, 429, 429]


# ── tokens by the command line and by HTTP ──────────────────────────────────────────────────────────────────────────

def test_a_rotated_secret_ends_and_a_revoked_token_ends_with_all_its_secrets(road):
    gateway, _ = road
    first = token(gateway, "--name", "turned", "--route", "keys")
    id = ident(gateway, "turned")

    def status(secret):
        headers = {"authorization": "Bearer " + secret}
        return gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers).status

    second = run("tokens", "rotate", "-c", gateway.file, id, "--grace", "1h").out.strip()
    third = run("tokens", "rotate", "-c", gateway.file, id).out.strip()
    time.sleep(1.2)
    assert [status(first), status(second), status(third)] == [200, 401, 200]
    run("tokens", "update", "-c", gateway.file, id, "--model", "other")
    time.sleep(1.2)
    assert [status(first), status(third)] == [403, 403], "what narrows it narrows all its secrets"
    assert run("tokens", "list", "-c", gateway.file).out.count(id) == 1
    run("tokens", "revoke", "-c", gateway.file, id)
    time.sleep(1.2)
    assert [status(secret) for secret in (first, second, third)] == [401] * 3
    assert run("tokens", "rotate", "-c", gateway.file, id).returncode == 1


def test_tokens_are_made_by_http_only_with_a_token_that_names_that(road):
    gateway, _ = road
    call = lambda path, body, key: gateway.call(
        "POST", "/v1beta/token/" + path, body, {"authorization": "Bearer " + key}
    )
    # The first token covers all services; this one must be named.
    assert call("list", {}, gateway.token).status == 403
    admin = token(gateway, "--service", "token", "--name", "admin")
    wanted = {
        "name": "made",
        "routes": ["keys"],
        "models": ["m-*"],
        "budgets": [{"amount": "1usd/day"}, {"amount": "10requests/hour", "mode": "soft"}],
        "rate": {"requests": 100, "per_seconds": 60},
        "labels": {"team": "red"},
        "expires": "30d",
    }
    made = call("create", wanted, admin).json()["result"]
    secret, id = made.pop("token"), made["id"]
    assert secret.startswith("pts_") and made["models"] == ["m-*"] and made["services"] == []
    assert made["budgets"] == [{"amount": "1.00usd/day", "mode": "hard"}, {"amount": "10requests/hour", "mode": "soft"}]
    headers = {"authorization": "Bearer " + secret}
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers).status == 200
    listed = call("list", {}, admin).json()["result"]
    assert next(row for row in listed["items"] if row["id"] == id)["labels"] == {"team": "red"}
    assert secret not in json.dumps(listed)
    changed = call("update", {"id": id, "models": None, "labels": {"team": "blue"}}, admin).json()["result"]
    assert (changed["models"], changed["labels"], changed["routes"]) == (None, {"team": "blue"}, ["keys"])
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "o3", **CHAT}, headers).status == 200
    other = call("rotate", {"id": id}, admin).json()["result"]["token"]
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "o3", **CHAT}, headers).status == 401
    assert call("revoke", {"id": id}, admin).json()["result"]["revoked_at"]
    headers = {"authorization": "Bearer " + other}
    assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "o3", **CHAT}, headers).status == 401
    for body, code in [
        ({"name": ""}, "DoesNotMatchPattern"),
        ({"name": "a", "services": ["everything"]}, "NotEnumMember"),
        ({"name": "a", "budgets": [{"amount": "25"}]}, "DoesNotMatchPattern"),
        ({"name": "a", "labels": {"Team": "x"}}, "DoesNotMatchPattern"),
        ({"name": "a", "routes": []}, "BelowMinItems"),
        ({"name": "a", "services": [], "routes": ["keys"]}, "BelowMinItems"),
        ({"name": "a", "model": ["x"]}, "UnexpectedProperty"),
        ({"name": "a", "expires": "yesterday"}, "BadFormatDateTime"),
    ]:
        answer = call("create", body, admin)
        assert answer.status == 400 and code in answer.body.decode(), (body, answer.body)
    unknown = "pti_" + "a" * 32
    assert "DoesNotExist" in call("revoke", {"id": unknown}, admin).body.decode()


def test_a_token_that_is_rotated_and_revoked_at_once_has_no_secret_that_lives(road):
    gateway, _ = road
    admin = {"authorization": "Bearer " + token(gateway, "--service", "token")}
    call = lambda what, body: gateway.call("POST", "/v1beta/token/" + what, body, admin).json()["result"]
    for _ in range(6):
        made = call("create", {"name": "raced", "routes": ["keys"]})
        secrets, id = [made["token"]], {"id": made["id"]}

        def rotate(_):
            return (call("rotate", id | {"grace_seconds": 3600}) or {}).get("token")

        with concurrent.futures.ThreadPoolExecutor(9) as pool:
            rotated = pool.map(rotate, range(8))
            call("revoke", id)
            secrets += [secret for secret in rotated if secret]
        time.sleep(1.2)
        for secret in secrets:
            headers = {"authorization": "Bearer " + secret}
            assert gateway.call("POST", "/keys/v1/chat/completions", {"model": "m-1", **CHAT}, headers).status == 401


def test_a_wrong_key_is_told_as_the_provider_tells_it(road):
    gateway, _ = road
    with pytest.raises(AuthenticationError):
        OpenAI(api_key="pts_" + "a" * 32, base_url=gateway.url + "/keys/v1").chat.completions.create(model="m-1", **CHAT)
