"""The console by HTTP: who gets in, from where, and what they may do there. What it looks like is for a browser to say."""

import html
import json
import os
import re
import signal
import urllib.parse

import pytest
from gateway import EVERY_PATH, Gateway, run

CONFIG = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"
hosts = ["console.example.com"]

[audit]
file = "audit.jsonl"

[upstreams.keyed]
peers = ["{upstream}"]
headers = {{ authorization = "Bearer written-here" }}  # once it was Bearer written-here

[[routes]]
name = "keyed"
path = "/keyed"
upstream = "keyed"
auth = "token"
"""
XSS = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>"


@pytest.fixture(scope="module")
def served(upstream):
    with Gateway(upstream.url, CONFIG) as gateway:
        yield gateway


def made(gateway, *args):
    done = run("tokens", "create", "-c", gateway.file, *args)
    assert done.returncode == 0, done.err
    return done.out.strip()


class Visitor:
    """Asks as a browser does: with its cookie, and with the page's own address as `Origin`."""

    def __init__(self, gateway, service="admin"):
        self.gateway, self.cookie, self.csrf = gateway, None, None
        self.token = made(gateway, "--name", "visitor", "--service", service) if service else ""

    def headers(self, more):
        origin = "http://127.0.0.1:%d" % self.gateway.admin
        headers = {"host": "127.0.0.1:%d" % self.gateway.admin, "origin": origin}
        if self.cookie:
            headers["cookie"] = self.cookie
        return {name: value for name, value in (headers | more).items() if value is not None}

    def get(self, path, **more):
        return self.gateway.call("GET", path, headers=self.headers(more), port=self.gateway.admin)

    def unseen(self, path):
        """What the page's own form sends to this path along with what is filled in."""
        if not self.csrf or not path.startswith("/tokens/"):
            return {}
        page = self.get(re.sub("/(create|change|rotate|revoke)$", "", path)).body.decode()
        form = re.search(r'<form[^>]* action="%s".*?</form>' % re.escape(path), page, re.S)
        fields = re.findall(r'type="hidden" name="(form|was)" value="([^"]*)"', form[0] if form else "")
        return dict(fields) | {"csrf": self.csrf}

    def post(self, path, fields, **more):
        kind = {"content-type": "application/x-www-form-urlencoded"}
        fields = ({"csrf": self.csrf} if self.csrf else {}) | self.unseen(path) | fields
        body = urllib.parse.urlencode(fields, doseq=True)
        return self.gateway.call("POST", path, body, self.headers(kind | more), port=self.gateway.admin)

    def ask(self, path, body, **more):
        return self.gateway.call("POST", path, body, self.headers({"x-csrf-token": self.csrf} | more), port=self.gateway.admin)

    def sign_in(self, **more):
        answer = self.post("/sign-in", {"token": self.token}, **more)
        assert answer.status == 303, answer.body
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        self.csrf = re.search(r'name="csrf" content="([^"]+)"', self.get("/tokens").body.decode()).group(1)
        return self


@pytest.fixture(scope="module")
def admin(served):
    return Visitor(served).sign_in()


@pytest.fixture(scope="module")
def viewer(served):
    return Visitor(served, "viewer").sign_in()


PAGES = ["/", "/rules", "/rules/EMAIL_ADDRESS", "/configuration", "/tokens", "/usage", "/docs", "/docs/teams"]


def test_whoever_has_not_signed_in_sees_a_door_and_nothing_behind_it(served):
    stranger = Visitor(served, service=None)
    for path in [*PAGES, "/tokens/create", "/nothing", "/a/../tokens"]:
        answer = stranger.get(path)
        text = answer.body.decode()
        assert answer.status == 200 and "<h1>Sign in</h1>" in text, path
        assert "jane.doe" not in text and "Sign out" not in text
        assert "set-cookie" not in answer.headers
    for path in ["/tokens/create", "/configuration/check", "/sign-out"]:
        assert stranger.post(path, {}).status == 401


def test_every_answer_tells_the_browser_to_load_nothing_from_elsewhere(served, admin):
    for answer in [admin.get("/tokens"), admin.get("/nothing"), Visitor(served, None).get("/"), admin.get("/assets/console.css")]:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert (answer.headers["x-content-type-options"], answer.headers["x-frame-options"]) == ("nosniff", "DENY")
        assert answer.headers["referrer-policy"] == "same-origin"
    assert admin.get("/tokens").headers["cache-control"] == "no-store"
    for path in PAGES:
        text = admin.get(path).body.decode()
        assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son[a-z]+=|javascript:", text), path
        links = re.findall(r'(?:src|href|action)="(https?:[^"]*)"', text)
        assert path.startswith("/docs") or not links, (path, links)


def test_other_names_lead_nowhere_and_metrics_are_where_they_were(served, admin):
    port = served.admin
    for host, status in [
        ("localhost:%d" % port, 200),
        ("console.example.com", 200),
        ("CONSOLE.example.com:443", 200),
        ("evil.test:%d" % port, 421),
        ("127.0.0.1.evil.test", 421),
        ("evil.test@127.0.0.1", 400),
    ]:
        assert admin.get("/tokens", host=host).status == status, host
        for path in ["/metrics", "/readyz"]:
            assert served.call("GET", path, headers={"host": host}, port=port).status == (400 if status == 400 else 200)
    assert served.call("GET", "/tokens").status == 404


def test_only_pages_of_the_console_change_something(served, admin):
    fields = {"name": "forged"}
    for origin in ["http://evil.test", "null", "http://127.0.0.1:%d" % served.port, None]:
        assert admin.post("/tokens/create", fields, origin=origin).status == 403, origin
        assert Visitor(served).post("/sign-in", {"token": admin.token}, origin=origin).status == 403
    assert admin.post("/tokens/create", fields | {"csrf": "x" * 43}).status == 403
    assert admin.post("/tokens/create", fields | {"csrf": ""}).status == 403
    other = Visitor(served).sign_in()
    assert admin.post("/tokens/create", fields | {"csrf": other.csrf}).status == 403
    assert admin.ask("/configuration/check", {"text": ""}, **{"x-csrf-token": "wrong"}).status == 403
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"]:
        assert served.call(method, "/tokens/create", headers=admin.headers({}), port=served.admin).status == 405
    assert "forged" not in run("tokens", "list", "-c", served.file).out


def test_the_cookie_is_for_this_console_alone(served):
    answer = Visitor(served).post("/sign-in", {"token": made(served, "--name", "one", "--service", "admin")})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("portcullis_%d=" % served.admin)
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"]:
        assert part in cookie
    assert answer.headers["location"] == "/"


def test_who_may_sign_in(served):
    plain = made(served, "--name", "plain")
    for token, why in [(plain, "does not cover"), ("pts_" + "a" * 32, "not accepted"), ("", "not accepted"), ("\x00<b>", "not accepted")]:
        visitor = Visitor(served, service=None)
        answer = visitor.post("/sign-in", {"token": token})
        assert (answer.status, why in answer.body.decode()) == (403, True), token
        assert "set-cookie" not in answer.headers and (not token or token not in answer.body.decode())


def test_tokens_that_are_tried_are_limited(upstream):
    with Gateway(upstream.url, EVERY_PATH) as gateway:
        visitor = Visitor(gateway, service=None)
        statuses = [visitor.post("/sign-in", {"token": "pts_" + "a" * 32}).status for _ in range(14)]
        assert statuses.count(429) >= 3 and statuses[0] == 403


def test_where_somebody_wanted_to_go_is_a_path_of_ours(served):
    for wanted, place in [
        ("/tokens", "/tokens"),
        ("/docs/teams", "/docs/teams"),
        ("//evil.test", "/"),
        ("/\\evil.test", "/"),
        ("https://evil.test", "/"),
        ("/tokens\r\nset-cookie: a=b", "/"),
        ("", "/"),
    ]:
        visitor = Visitor(served)
        answer = visitor.post("/sign-in", {"token": visitor.token, "next": wanted})
        assert (answer.status, answer.headers["location"]) == (303, place), wanted


def test_a_session_ends_with_its_token(served):
    info = Visitor(served)
    info.token = made(served, "--name", "short-lived", "--service", "admin")
    info.sign_in()
    row = next(line for line in run("tokens", "list", "-c", served.file).out.splitlines() if "short-lived" in line)
    assert run("tokens", "revoke", row.split("\t")[0], "-c", served.file).returncode == 0
    served.wait_for(lambda: "<h1>Sign in</h1>" in info.get("/tokens").body.decode(), seconds=5)
    assert info.ask("/configuration/check", {"text": ""}).status == 401


def test_signing_out_ends_the_session_everywhere(served):
    visitor = Visitor(served).sign_in()
    before = visitor.cookie
    answer = visitor.post("/sign-out", {})
    assert answer.status == 303 and "Max-Age=0" in answer.headers["set-cookie"]
    visitor.cookie = before
    assert "<h1>Sign in</h1>" in visitor.get("/tokens").body.decode()


def test_a_viewer_looks_and_changes_nothing(served, viewer):
    for path in PAGES:
        assert viewer.get(path).status == 200, path
    text = viewer.get("/tokens").body.decode()
    assert "Make a token" not in text
    assert viewer.post("/tokens/create", {"name": "mine"}).status == 403
    assert viewer.ask("/configuration/check", {"text": ""}).status == 403
    assert "Try a change" not in viewer.get("/configuration").body.decode()
    assert "mine" not in run("tokens", "list", "-c", served.file).out


def test_a_token_is_made_narrowed_rotated_and_revoked(served, admin):
    fields = {
        "name": "research", "service": ["redact"], "route": ["keyed"], "model": "gpt-4o*\r\nclaude-*",
        "budget": "25usd/month", "soft_budget": "5usd/day", "rate": "60/1m", "label": "team=research", "expires": "90d",
    }
    answer = admin.post("/tokens/create", fields)
    secret = re.search(r"pts_[a-z2-7]{32}", answer.body.decode()).group()
    assert served.call("GET", "/keyed", headers={"authorization": "Bearer " + secret}).status != 401
    page = admin.get("/tokens").body.decode()
    assert secret not in page and "team=research" in page and "25usd/month" in page
    identity = re.search(r'/tokens/(pti_[a-z2-7]{32})">research', page).group(1)
    one = admin.get("/tokens/" + identity).body.decode()
    assert 'value="research"' in one and "gpt-4o*\nclaude-*" in one and 'value="60/1m"' in one

    assert admin.post("/tokens/%s/change" % identity, {"name": "research", "service": ["redact"]}).status == 303
    changed = admin.get("/tokens/" + identity).body.decode()
    assert "claude-" not in changed and ">team=research<" not in changed
    served.wait_for(lambda: served.call("GET", "/keyed", headers={"authorization": "Bearer " + secret}).status == 403)

    rotated = admin.post("/tokens/%s/rotate" % identity, {"grace": "0"})
    fresh = re.search(r"pts_[a-z2-7]{32}", rotated.body.decode()).group()
    assert fresh != secret
    served.wait_for(lambda: served.call("GET", "/keyed", headers={"authorization": "Bearer " + secret}).status == 401)
    assert admin.post("/tokens/%s/revoke" % identity, {}).status == 303
    served.wait_for(lambda: served.call("GET", "/keyed", headers={"authorization": "Bearer " + fresh}).status == 401)

    def acts(target=None):
        lines = [json.loads(line) for line in (served.home / "audit.jsonl").read_text().splitlines()]
        return [line.get("act") for line in lines if target is None or line.get("target") == target]

    # Lines are on their way to the disk when the caller is told.
    wanted = ["token.create", "token.update", "token.rotate", "token.revoke"]
    served.wait_for(lambda: acts(identity) == wanted)
    assert "console.sign_in" in acts()
    assert secret not in (served.home / "audit.jsonl").read_text()


def test_a_pipe_in_a_configuration_that_is_checked_holds_nothing_up(served, admin):
    os.mkfifo(served.home / "pipe")
    for kind in ["headers = { x = { file = 'pipe' } }", "tls = { ca = 'pipe' }"]:
        text = served.file.read_text() + "[upstreams.other]\npeers = ['https://127.0.0.1:1']\n" + kind + "\n"
        outcome = admin.ask("/configuration/check", {"text": text}).json()
        told = outcome["problems"] + outcome["warnings"]
        assert any("not a file" in one["message"] for one in told), told


def test_a_cookie_of_somebody_elses_in_front_ends_nothing(served, admin):
    name = admin.cookie.split("=")[0]
    for cookie in [name + "=" + "x" * 43 + "; " + admin.cookie, name + "=; " + admin.cookie, "a=b; " + admin.cookie]:
        assert "<h1>Tokens</h1>" in admin.get("/tokens", cookie=cookie).body.decode(), cookie


def test_what_is_wrong_with_a_form_is_told_at_once(served, admin):
    wrong = {"name": "", "budget": "much", "rate": "often", "label": "team", "expires": "soon", "config": "x"}
    answer = admin.post("/tokens/create", wrong)
    text = answer.body.decode()
    assert answer.status == 422
    for field in ["Budgets", "Rate", "Labels", "Expires", "Configs"]:
        assert field in text
    assert admin.post("/tokens/create", {"name": "a\x00b"}).status == 422
    assert admin.get("/tokens/pti_" + "a" * 32).status == 404
    assert admin.post("/tokens/pti_%s/revoke" % ("a" * 32), {}).status == 404
    assert admin.post("/tokens/create", {"name": "x" * 70_000}).status == 413


def test_nobody_makes_a_token_for_everything_by_ticking_nothing(served, admin):
    covers = lambda page: re.search(r"<dt>Covers</dt><dd>(.*?)</dd>", page)[1]  # noqa: E731
    for fields in ({}, {"covers": "ticked"}, {"covers": "all"}):
        refused = admin.post("/tokens/create", {"name": "careless"} | fields)
        assert refused.status == 422 and "choose everything" in refused.body.decode()
    assert "careless" not in run("tokens", "list", "-c", served.file).out
    admin.post("/tokens/create", {"name": "careful", "covers": "ticked", "service": ["redact"], "route": []})
    identity = re.search(r'/tokens/(pti_[a-z2-7]{32})">careful', admin.get("/tokens").body.decode())[1]
    assert covers(admin.get("/tokens/" + identity).body.decode()) == "services redact"
    # Whoever unticks the last one has a token for nothing, also when it is given another name afterwards.
    for name in ("emptied", "renamed"):
        assert admin.post("/tokens/%s/change" % identity, {"name": name, "covers": "ticked"}).status == 303
        page = admin.get("/tokens/" + identity).body.decode()
        assert covers(page) == "nothing" and 'value="ticked" checked' in page
    assert admin.post("/tokens/%s/change" % identity, {"name": "all", "covers": "everything"}).status == 303
    page = admin.get("/tokens/" + identity).body.decode()
    assert covers(page) == "every service and route" and 'value="everything" checked' in page


def test_names_full_of_markup_are_shown_as_text(served, admin):
    name = XSS[:120]
    assert admin.post("/tokens/create", {"name": name, "covers": "everything", "label": "team=" + XSS}).status == 200
    for path in ["/tokens", "/rules?q=" + urllib.parse.quote(XSS), "/rules?set=" + urllib.parse.quote(XSS)]:
        text = admin.get(path).body.decode()
        assert "<img" not in text and "<script>" not in text, path
    assert "&lt;img src=x" in admin.get("/tokens").body.decode()


def test_what_runs_is_shown_without_secrets_and_a_change_is_tried(served, admin):
    page = admin.get("/configuration").body.decode()
    assert "upstreams.keyed" not in Visitor(served, "viewer").sign_in().get("/configuration").body.decode()
    assert "written-here" not in page and "(hidden)" in page and "✓ in use" in page
    text = served.file.read_text()
    good = text.replace('name = "keyed"', 'name = "other"').replace('data = "data"', 'data = "elsewhere"')
    outcome = admin.ask("/configuration/check", {"text": good}).json()
    assert outcome["problems"] == []
    assert outcome["difference"]["routes"] == {"added": ["other"], "removed": ["keyed"], "changed": []}
    assert outcome["difference"]["restart"] == ["data"]
    # Its last table is that of limits.
    bad = admin.ask("/configuration/check", {"text": text + "\n\nhed = '1KiB'\nbody = 3\n"}).json()
    assert len(bad["problems"]) == 2 and bad["difference"] is None
    lines = text.count("\n")
    assert [problem["line"] for problem in bad["problems"]] == [lines + 3, lines + 4]
    for wrong in [{"text": 1}, {}, {"text": "", "more": 1}, []]:
        assert admin.ask("/configuration/check", wrong).status == 422
    assert (served.home / "elsewhere").exists() is False


ROUTES = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"

[upstreams.a]
peers = ["{upstream}"]

[[routes]]
name = "chats"
path = "/chats"
upstream = "a"
auth = "none"
redact = {{ without = ["PERSON"], methods = {{ US_SSN = "block" }} }}

[[routes]]
name = "crm"
path = "/crm"
upstream = "a"
auth = "token"
redact = {{ requests = "replace", answers = "off" }}

[[routes]]
name = "plain"
path = "/plain"
upstream = "a"
auth = "token"
"""


@pytest.fixture(scope="module")
def routed(upstream):
    with Gateway(upstream.url, ROUTES) as gateway:
        yield Visitor(gateway).sign_in()


def said(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.body.decode())))


def test_routes_say_in_words_what_becomes_of_what_passes(routed):
    page = said(routed.get("/routes"))
    chats, crm = page[page.index("chats ✓"):].split("crm ✓", 1)
    assert f"http://127.0.0.1:{routed.gateway.port}/chats" in chats and "Anybody who reaches it" in chats
    assert "Look-alikes" in chats and "The caller's own values again" in chats
    assert "the default set, without PERSON" in chats and "US_SSN (requests: block, answers: block)" in chats
    crm, plain = crm.split("plain !", 1)
    assert "such as <PERSON>" in crm and "answers are not looked through" in crm and "Whoever has a token" in crm
    assert "They pass as they are" in plain


def test_rules_say_on_which_routes_they_are_on(routed):
    assert "On here crm, " in said(routed.get("/rules/PERSON"))
    assert "On here on every route, " in said(routed.get("/rules/CREDIT_CARD"))
    assert "On here off , " in said(routed.get("/rules/USERNAME"))
    assert "/rules/PERSON" not in routed.get("/rules?q=name&route=chats").body.decode()
    assert "/rules/PERSON" in routed.get("/rules?q=name&route=crm").body.decode()


def test_where_a_token_bounds_nothing_is_said(routed):
    assert "chats: anybody may call there without a token" in said(routed.get("/tokens"))
    form = {"name": "team", "covers": "ticked", "route": "chats", "budget": "25usd/month"}
    secret = routed.post("/tokens/create", form).body.decode()
    page = said(routed.get(re.search(r"/tokens/pti_\w+", secret)[0]))
    assert "anybody may call there without a token" in page and "no model has a price" in page
    made = routed.post("/tokens/create", {**form, "route": "crm", "budget": ""}).body.decode()
    facts = said(routed.get(re.search(r"/tokens/pti_\w+", made)[0])).split("Change it")[0]
    assert "anybody may call" not in facts and "no model has a price" not in facts


def test_what_a_change_means_is_told(routed):
    text = routed.gateway.file.read_text()
    changed = text.replace('requests = "replace"', 'requests = "encrypt", without = ["US_SSN"]').replace('path = "/plain"\nupstream = "a"\nauth = "token"', 'path = "/plain"\nupstream = "a"\nauth = "none"')
    outcome = routed.ask("/configuration/check", {"text": changed}).json()
    assert outcome["difference"]["effects"] == {
        "crm": ["no longer looked for: US_SSN", "findings in requests: replace, then encrypt"],
        "plain": ["who may call: token, then none"],
    }


def test_the_documentation_has_this_gateways_address(routed):
    page = said(routed.get("/docs/llm"))
    assert f"http://127.0.0.1:{routed.gateway.port}/" in page and "127.0.0.1:8080" not in page


def test_reloads_and_what_came_of_them_are_told(upstream):
    with Gateway(upstream.url, EVERY_PATH) as gateway:
        visitor = Visitor(gateway).sign_in()
        gateway.file.write_text(gateway.file.read_text() + "\n[limits]\nhed = '1KiB'\n")
        os.kill(gateway.process.pid, signal.SIGHUP)
        gateway.wait_for(lambda: "✕ not used" in visitor.get("/configuration").body.decode())
        assert "unknown key `hed`" in visitor.get("/configuration").body.decode()


def test_beyond_this_machine_it_is_off_unless_it_is_asked_for(upstream):
    with Gateway(upstream.url, EVERY_PATH.replace('"127.0.0.1:{admin}"', '"0.0.0.0:{admin}"')) as gateway:
        assert gateway.call("GET", "/", port=gateway.admin).status == 404
        assert gateway.call("GET", "/metrics", port=gateway.admin).status == 200
    on = EVERY_PATH.replace('"127.0.0.1:{admin}"', '"0.0.0.0:{admin}"\nconsole = true')
    with Gateway(upstream.url, on) as gateway:
        assert gateway.call("GET", "/", port=gateway.admin).status == 200
    off = EVERY_PATH.replace('"127.0.0.1:{admin}"', '"127.0.0.1:{admin}"\nconsole = false')
    with Gateway(upstream.url, off) as gateway:
        assert gateway.call("GET", "/", port=gateway.admin).status == 404


def test_the_documentation_is_that_of_this_version(admin):
    page = admin.get("/docs/teams").body.decode()
    assert 'id="a-key-for-each-caller"' in page and "<!--" not in page
    assert 'href="/docs/llm#whose-key"' in page
    assert admin.get("/docs/none").status == 404
