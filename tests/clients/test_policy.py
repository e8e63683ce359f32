"""What a route does with what is found: by rule, by set of rules, each way its own; what is nobody's; schemas."""

import json
import re

import pytest
from gateway import MINIMAL, Gateway

MAIL, CARD, SSN = "ingrid.olsen@fjord-mail.com", "5425 2334 3010 9903", "401-53-2219"
KEY = "sk-" + "proj-" + "Zk3vQ8rT1nXw5LbY7mPc2HsD9fGj4KqA6tRe0uVi"
TEXT = "EMAIL: %s | SSN: %s | CARD: %s | from 10.1.2.3" % (MAIL, SSN, CARD)

POLICIES = {
    "block": 'requests = "block", answers = "off"',
    "secrets": 'methods = {{ SECRETS = "block" }}',
    "split": 'methods = {{ EMAIL_ADDRESS = {{ requests = "block" }}, CREDIT_CARD = "report", US_SSN = "allow" }}',
    "outward": 'requests = "allow", answers = "allow", methods = {{ EMAIL_ADDRESS = {{ answers = "block" }} }}',
    "hash": 'requests = "hash", answers = "off"',
    "report": 'requests = "report", answers = "report"',
    "one": 'requests = "allow", answers = "off", methods = {{ CREDIT_CARD = "mask" }}',
    "order": 'requests = "mask", answers = "off", methods = {{ PII = "replace", FINANCE = "report", CREDIT_CARD = "hash" }}',
    "header": 'requests = "mask", answers = "off", findings_header = true, methods = {{ US_SSN = "report" }}',
    "special": 'requests = "mask", answers = "off"',
    "strict": 'requests = "mask", answers = "off", special_use = "redact"',
    "named": 'requests = "mask", answers = "off", methods = {{ IP_ADDRESS = "replace" }}',
    "heads": 'requests = "mask", answers = "off", query = true, headers = ["x-user", "referer"], cookies = ["who"]',
    "shut": 'requests = "block", answers = "off", query = true, headers = ["x-user"]',
    "default": "",
    "public": 'requests = "mask", answers = "off", public_names = "pass"',
    "private": 'public_names = "redact"',
    "places": 'methods = {{ LOCATION = "mask" }}',
    "sure": 'requests = "mask", answers = "off", thresholds = {{ IP_ADDRESS = 0.95 }}',
}

ROUTE = """
[[routes]]
name = "%s"
path = "/%s"
upstream = "mock"
auth = "none"
redact = { %s }
"""


@pytest.fixture(scope="module")
def gateway(upstream):
    routes = "".join(ROUTE.replace("{", "{{").replace("}", "}}") % (n, n, said) for n, said in POLICIES.items())
    with Gateway(upstream.url, MINIMAL + '\n[upstreams.mock]\npeers = ["{upstream}"]\n' + routes) as running:
        yield running


def chat(gateway, policy, text=TEXT, model="plain", **more):
    body = {"model": model, "messages": [{"role": "user", "content": text}], **more}
    headers = {"content-type": "application/json"}
    return gateway.call("POST", "/%s/v1/chat/completions" % policy, json.dumps(body).encode(), headers)


def sent(mock):
    [came] = mock.requests
    return came.json()["messages"][0]["content"]


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_blocked_is_refused_by_rule_and_without_values(gateway, mock):
    answer = chat(gateway, "block")
    assert answer.status == 400 and not mock.requests
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "blocked_request")
    assert "CREDIT_CARD, EMAIL_ADDRESS, US_SSN" in error["message"]
    said = answer.body.decode() + "\n".join(gateway.log)
    assert not any(value in said for value in (MAIL, SSN, CARD, "10.1.2.3"))


@pytest.mark.parametrize(
    "path, place",
    [
        ("/v1/messages", "error"),
        ("/v1beta/models/m:generateContent", "error"),
        ("/api/chat", None),
        ("/v2/chat", None),
        ("/anything", None),
    ],
)
def test_it_is_refused_in_the_shape_of_its_protocol(gateway, mock, path, place):
    headers = {"content-type": "application/json"}
    answer = gateway.call("POST", "/block" + path, json.dumps({"messages": [{"content": TEXT}]}).encode(), headers)
    body = answer.json()
    assert answer.status == 400 and not mock.requests
    said = body[place]["message"] if place else body.get("error") or body.get("message") or body["summary"]
    assert "EMAIL_ADDRESS" in said and MAIL not in answer.body.decode()


@pytest.mark.parametrize(
    "kind, body",
    [
        ("text/plain", TEXT.encode()),
        ("application/x-www-form-urlencoded", b"mail=ingrid.olsen%40fjord-mail.com"),
        ("application/x-ndjson", json.dumps({"a": MAIL}).encode() + b"\n{}\n"),
        ("application/json", json.dumps({"a": json.dumps({"b": MAIL})}).encode()),
        ("application/json", json.dumps({MAIL: 1}).encode()),
    ],
)
def test_what_is_blocked_passes_in_no_kind_of_body(gateway, mock, kind, body):
    answer = gateway.call("POST", "/block/reflect", body, {"content-type": kind})
    assert answer.status == 400 and "EMAIL_ADDRESS" in answer.body.decode()
    assert not any(MAIL in came.everything() or b"%40fjord" in came.raw for came in mock.requests)


def test_a_set_is_blocked_and_the_rest_is_restored(gateway, mock):
    answer = chat(gateway, "secrets")
    assert answer.status == 200 and MAIL in answer.body.decode() and MAIL not in sent(mock)
    mock.forget()
    answer = chat(gateway, "secrets", "my key is " + KEY)
    assert answer.status == 400 and not mock.requests and KEY not in answer.body.decode()


def test_each_rule_has_its_own_method(gateway, mock):
    assert chat(gateway, "split").status == 400
    text = "SSN: %s | CARD: %s |" % (SSN, CARD)
    assert chat(gateway, "split", text).status == 200
    assert sent(mock) == text


def test_a_digest_is_the_same_for_the_same_value(gateway, mock):
    for text in (MAIL, "again " + MAIL, "other@fjord-mail.com"):
        assert chat(gateway, "hash", text).status == 200
    one, two, other = [came.json()["messages"][0]["content"] for came in mock.requests]
    assert re.fullmatch("[0-9a-f]{64}", one) and two == "again " + one
    assert re.fullmatch("[0-9a-f]{64}", other) and other != one


def test_only_what_has_a_method_is_looked_for(gateway, mock):
    assert chat(gateway, "one").status == 200
    assert sent(mock) == TEXT.replace(CARD, "*" * len(CARD))


def test_a_rule_counts_for_more_than_its_sets_and_the_last_set_for_more_than_others(gateway, mock):
    assert chat(gateway, "order", "%s and %s and IBAN DE89 3704 0044 0532 0130 00" % (MAIL, CARD)).status == 200
    assert re.fullmatch("<EMAIL_ADDRESS> and [0-9a-f]{64} and IBAN DE89 3704 0044 0532 0130 00", sent(mock))


def test_a_threshold_is_the_routes_own(gateway, mock):
    assert chat(gateway, "sure", "8.8.4.9").status == chat(gateway, "special", "8.8.4.9").status == 200
    sure, usual = [came.json()["messages"][0]["content"] for came in mock.requests]
    assert (sure, usual) == ("8.8.4.9", "*******")


# ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_that_is_blocked_is_refused_whole(gateway, mock):
    answer = chat(gateway, "outward", model="plain?leak=1")
    assert answer.status == 502
    assert "EMAIL_ADDRESS" in answer.json()["error"]["message"] and "harbour-post" not in answer.body.decode()


def test_a_long_answer_that_is_blocked_is_refused_whole(gateway, mock):
    body = {"choices": [{"index": 0, "message": {"content": "word " * 40_000 + "tom.baker@harbour-post.com"}}]}
    mock.canned["completions"] = (200, "application/json", json.dumps(body).encode(), "", 0)
    answer = gateway.call("POST", "/outward/v1/completions", b'{"model":"m","prompt":"x"}', {"content-type": "application/json"})
    assert answer.status == 502 and "EMAIL_ADDRESS" in answer.json()["error"]["message"]


@pytest.mark.parametrize("style", ["plain?leak=1", "plain?leak=1&enc=gzip", "plain?leak=1&step=1", "plain?leak=1&crlf=1"])
def test_a_stream_that_is_blocked_ends_before_the_value(gateway, mock, style):
    import openai

    client = openai.OpenAI(base_url=gateway.url + "/outward/v1", api_key="k", max_retries=0)
    said = ""
    with pytest.raises(openai.APIError) as raised:
        for chunk in client.chat.completions.create(
            model=style, stream=True, messages=[{"role": "user", "content": "hello"}]
        ):
            said += chunk.choices[0].delta.content or "" if chunk.choices else ""
    assert "EMAIL_ADDRESS" in str(raised.value)
    assert said.startswith("Of course") and "tom" not in said and "harbour" not in said


def test_what_is_only_reported_passes(gateway, mock):
    answer = chat(gateway, "report", model="plain?leak=1")
    assert answer.status == 200 and sent(mock) == TEXT
    assert "tom.baker@harbour-post.com" in answer.body.decode()


# ── what is told ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_caller_is_told_counts_where_it_is_asked_for(gateway, mock):
    assert chat(gateway, "header").headers["portcullis-findings"] == "CREDIT_CARD=1, EMAIL_ADDRESS=1, US_SSN=1"
    assert "portcullis-findings" not in chat(gateway, "header", "hello").headers
    assert "portcullis-findings" not in chat(gateway, "special").headers
    assert not any("portcullis-findings" in came.everything() for came in mock.requests)


def test_what_was_done_is_counted_by_rule_and_action(gateway, mock):
    def counted():
        page = gateway.call("GET", "/metrics", port=gateway.admin).body.decode()
        return {n: float(v) for n, v in re.findall(r"^portcullis_finding_actions_total(\{.*\}) (\S+)$", page, re.M)}

    before = counted()
    chat(gateway, "header")
    chat(gateway, "block")
    after = counted()
    grown = {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}
    assert grown == {
        '{action="%s",direction="request",rule="%s"}' % row: 1
        for row in [("mask", "EMAIL_ADDRESS"), ("mask", "CREDIT_CARD"), ("report", "US_SSN")]
        + [("block", "EMAIL_ADDRESS"), ("block", "CREDIT_CARD"), ("block", "US_SSN")]
    }


# ── what does no harm ───────────────────────────────────────────────────────────────────────────────────────────────

NOBODYS = (
    "ssh 10.1.2.3 or 192.168.0.7, ping 127.0.0.1 and ::1, see 203.0.113.9, 2001:db8::1, fe80::1, 169.254.169.254; "
    "git clone git@github.com:acme/tool.git"
)


def test_what_is_nobodys_passes_unless_a_rule_says_otherwise(gateway, mock):
    text = NOBODYS + " as jane@example.com from 8.8.4.9"
    assert chat(gateway, "special", text).status == 200
    assert sent(mock) == NOBODYS + " as **************** from *******"
    mock.forget()
    chat(gateway, "strict", text)
    assert not re.search(r"10\.1|192\.168|203\.0|git@|db8", sent(mock))
    mock.forget()
    chat(gateway, "named", text)
    assert "<IP_ADDRESS>" in sent(mock) and "10.1.2.3" not in sent(mock) and "git@github.com" in sent(mock)


PUBLIC = "She moved from Berlin to Tokyo, Japan, and reads Marie Curie."


def test_what_names_nobody_passes_unless_the_route_says_otherwise(gateway, mock):
    for policy, passes in [("default", True), ("public", True), ("special", False), ("private", False), ("places", False)]:
        mock.forget()
        answer = chat(gateway, policy, "Maria Lopez of Gisborne. %s EMAIL: %s |" % (PUBLIC, MAIL))
        came = sent(mock)
        assert "Maria Lopez" not in came and "Gisborne" not in came and MAIL not in came
        assert (PUBLIC in came) == passes, policy
        assert ("Marie Curie" in came) == (passes or policy == "places"), "another rule's findings"
        assert MAIL not in came and answer.status == 200


SCHEMA = {
    "type": "object",
    "description": "for " + MAIL,
    "properties": {
        MAIL: {"type": "string", "enum": [MAIL, CARD], "description": "like " + MAIL},
        "pattern": {"type": "string", "const": CARD, "default": MAIL, "pattern": "^" + re.escape(MAIL) + "$"},
    },
    "required": [MAIL],
}


def clean(schema):
    """The schema as it must arrive: only what people read is masked."""
    mask = lambda text: text.replace(MAIL, "*" * len(MAIL))
    copy = json.loads(json.dumps(schema))
    copy["description"] = mask(copy["description"])
    copy["properties"][MAIL]["description"] = mask(copy["properties"][MAIL]["description"])
    copy["properties"]["pattern"]["default"] = mask(MAIL)
    return copy


@pytest.mark.parametrize(
    "path, place",
    [
        ("/v1/chat/completions", ["tools", 0, "function", "parameters"]),
        ("/v1/chat/completions", ["response_format", "json_schema", "schema"]),
        ("/v1/responses", ["tools", 0, "parameters"]),
        ("/v1/responses", ["text", "format", "schema"]),
        ("/v1/messages", ["tools", 0, "input_schema"]),
        ("/v1beta/models/m:generateContent", ["tools", 0, "functionDeclarations", 0, "parametersJsonSchema"]),
        ("/v1beta/models/m:generateContent", ["generationConfig", "responseJsonSchema"]),
        ("/api/chat", ["tools", 0, "function", "parameters"]),
        ("/api/chat", ["format"]),
        ("/v2/chat", ["tools", 0, "function", "parameters"]),
    ],
)
def test_names_and_values_of_schemas_stay_and_descriptions_do_not(gateway, mock, path, place):
    body = SCHEMA
    for step in reversed(place):
        body = {step: body} if isinstance(step, str) else [body]
    body = {"model": "m", "messages": [{"role": "user", "content": MAIL}], **body}
    gateway.call("POST", "/special" + path, json.dumps(body).encode(), {"content-type": "application/json"})
    arrived = mock.requests[0].json()
    assert arrived["messages"][0]["content"] == "*" * len(MAIL)
    for step in place:
        arrived = arrived[step]
    assert arrived == clean(SCHEMA)


# ── heads ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def headers_of(came):
    return {name.lower(): value for name, value in came.headers}


def test_values_of_the_query_of_chosen_headers_and_cookies_get_the_same_methods(gateway, mock):
    query = "q=ingrid.olsen%40fjord-mail.com&key=sk-their-own&api-version=1&&mail=" + MAIL
    heads = {
        "x-user": "desk <%s>" % MAIL,
        "x-other": MAIL,
        "referer": "https://app.fjord-mail.com/a?from=ingrid.olsen%40fjord-mail.com&page=2",
        "cookie": "theme=dark; who=%s;  other=%s" % (MAIL, MAIL),
    }
    assert gateway.call("GET", "/heads/reflect?" + query, None, heads).status == 200
    [came] = mock.requests
    masked = "*" * len(MAIL)
    path = came.path.replace("%2A", "*")
    assert path == "/heads/reflect?q=%s&key=sk-their-own&api-version=1&&mail=%s" % (masked, masked)
    sent = headers_of(came)
    assert sent["x-user"] == "desk <%s>" % masked and sent["x-other"] == MAIL
    assert sent["referer"].replace("%2A", "*") == "https://app.fjord-mail.com/a?from=%s&page=2" % masked
    assert sent["cookie"].replace("%2A", "*") == "theme=dark; who=%s;  other=%s" % (masked, MAIL)
    mock.forget()
    assert gateway.call("GET", "/special/reflect?q=" + MAIL, None, heads).status == 200
    assert MAIL in mock.requests[0].path


def test_what_is_blocked_in_a_head_is_refused(gateway, mock):
    for path, heads in [("/shut/reflect?a=1&q=ingrid.olsen%40fjord-mail.com", {}), ("/shut/reflect", {"x-user": MAIL})]:
        answer = gateway.call("GET", path, None, heads)
        assert answer.status == 400 and "EMAIL_ADDRESS" in answer.body.decode() and not mock.requests


def test_a_head_without_values_stays_as_it_is_written(gateway, mock):
    query = "a=%7e&b=c+d&&=e&f"
    heads = {"x-user": "caf\u00e9".encode("utf-8").decode("latin-1"), "cookie": "who=me;b=%20; c"}
    gateway.call("GET", "/heads/reflect?" + query, None, heads)
    [came] = mock.requests
    assert came.path == "/heads/reflect?" + query and headers_of(came)["cookie"] == heads["cookie"]


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_budget_that_is_used_up_refuses_or_passes_as_the_route_says(upstream, mock):
    routes = "".join(
        ROUTE.replace("{", "{{").replace("}", "}}") % (name, name, said)
        for name, said in {"refuse": "", "pass": 'exhausted = "pass"'}.items()
    )
    limits = "\n[limits]\ndistinct_values = 1\n"
    config = MINIMAL + limits + '\n[upstreams.mock]\npeers = ["{upstream}"]\n' + routes
    with Gateway(upstream.url, config) as running:
        assert chat(running, "refuse", MAIL).status == 200
        refused = chat(running, "refuse", "%s and %s" % (SSN, CARD))
        assert refused.status == 429 and refused.json()["error"]["type"] == "rate_limit_error"
        mock.forget()
        text = "%s and %s" % (CARD, SSN)
        assert chat(running, "pass", text).status == 200 and sent(mock) == text
        assert running.stop() == 0
        [line] = [line for line in running.log if "a request passes unscanned" in line]
        assert "values_limited" in line and CARD not in line
        running.wait_for(lambda: any("not_scanned_budget" in line for line in running.log))
