"""Tokens in the console by HTTP: what a form that nobody has changed leaves as it was, what is sent twice, what cannot be written
down, and thousands of them."""

import html.parser
import json
import os
import re
import time

import pytest
from gateway import MINIMAL, Gateway, run
from llm_upstream import Upstream
from test_console import Visitor, made, said

ROUTES = ["team-%03d" % n for n in range(255)]
ROUTE = """
[[routes]]
name = "NAME"
path = "/NAME"
upstream = "mock"
provider = "openai"
auth = "token"
"""
CONFIG = (
    MINIMAL
    + """
[upstreams.mock]
peers = ["{upstream}"]

[audit]
file = "audit.jsonl"

[models.fast]
targets = [{{ model = "gpt-4o-mini" }}]

[usage]
count = "all"

[[usage.budgets]]
name = "each model"
each = "model"
period = "day"
tokens = 1000000

[[usage.budgets]]
name = "each team"
each = "label:team"
period = "month"
requests = 3

[[routes]]
name = "keys"
path = "/keys"
strip_prefix = true
upstream = "mock"
provider = "openai"
auth = "token"
models = ["fast"]
"""
    + "".join(ROUTE.replace("NAME", name) for name in ROUTES)
)
SECRET = re.compile(r"pts_[a-z2-7]{32}")


@pytest.fixture(scope="module")
def served():
    with Upstream() as upstream, Gateway(upstream.url, CONFIG) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def admin(served):
    return Visitor(served).sign_in()


class Filled(html.parser.HTMLParser):
    """What a browser sends of the form with this action, as its page fills it in."""

    def __init__(self, page, action):
        super().__init__()
        self.action, self.fields, self.inside, self.area, self.select = action, {}, False, None, None
        self.feed(page)

    def add(self, name, value):
        self.fields.setdefault(name, []).append(value)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "form":
            self.inside = attrs.get("action") == self.action
        if not self.inside:
            return
        if tag == "input" and (attrs.get("type") not in ("checkbox", "radio") or "checked" in attrs):
            self.add(attrs["name"], attrs.get("value") or "")
        elif tag == "textarea":
            self.area = attrs["name"]
            self.add(self.area, "")
        elif tag == "select":
            self.select = attrs["name"]
        elif tag == "option" and "selected" in attrs:
            self.add(self.select, attrs["value"])

    def handle_data(self, data):
        if self.area:
            self.fields[self.area][-1] += data.replace("\n", "\r\n")

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.area = None
        elif tag == "form":
            self.inside = False


def filled(visitor, page, action):
    return Filled(visitor.get(page).body.decode(), action).fields


def rows(gateway):
    """What the command line shows of each token, by its name."""
    lines = [line.split("\t") for line in run("tokens", "list", "-c", gateway.file).out.splitlines()]
    return {line[1]: line for line in lines}


def call(gateway, path, body):
    admin = made(gateway, "--name", "api", "--service", "token")
    return gateway.call("POST", "/v1beta/token/" + path, body, {"authorization": "Bearer " + admin})


def test_a_form_that_nobody_has_changed_changes_nothing(served, admin):
    routes = [argument for name in ROUTES for argument in ("--route", name)]
    made(served, "--name", "many", "--model", "gpt-4o*", "--budget", "5usd/month", "--label", "team=a", *routes)
    assert call(served, "create", {"name": "no models", "routes": ["keys"], "models": []}).status == 200
    for name in ("many", "no models"):
        before = rows(served)[name]
        page, path = "/tokens/" + before[0], "/tokens/%s/change" % before[0]
        assert admin.post(path, filled(admin, page, path)).status == 303
        assert rows(served)[name] == before
    assert "every model is refused" in said(admin.get(page)) and rows(served)["no models"][9] == "-"


def test_more_fields_than_are_read_are_refused_and_nothing_is_done(served, admin):
    before = rows(served)
    answer = admin.post("/tokens/create", {"name": "cut off", "route": ["x"] * 5000})
    assert answer.status == 413 and b"nothing was done" in answer.body
    assert admin.get("/tokens?" + "&".join(["q=a"] * 5000)).status in (413, 414, 431)
    assert rows(served).keys() == before.keys()


def test_a_form_from_before_a_change_undoes_nothing(served, admin):
    made(served, "--name", "app", "--route", "keys")
    identity = rows(served)["app"][0]
    page, path = "/tokens/" + identity, "/tokens/%s/change" % identity
    form = filled(admin, page, path) | {"name": "app renamed"}
    assert run("tokens", "update", "-c", served.file, identity, "--model", "gpt-4o*", "--budget", "1usd/day").returncode == 0
    narrowed = rows(served)["app"]
    stale = admin.post(path, form)
    assert stale.status == 409 and "was changed since you opened the form" in said(stale)
    assert "gpt-4o*" in Filled(stale.body.decode(), path).fields["model"][0], "it shows what the token is now"
    assert rows(served)["app"] == narrowed
    assert admin.post(path, form | {"was": ""}).status == 409
    assert admin.post(path, filled(admin, page, path) | {"name": "app renamed"}).status == 303
    assert rows(served)["app renamed"][9:11] == narrowed[9:11]


def test_a_page_that_is_loaded_anew_makes_nothing_again(served, admin):
    form = filled(admin, "/tokens", "/tokens/create") | {"name": "once", "route": "keys"}
    wrong = admin.post("/tokens/create", form | {"rate": "often"})
    assert wrong.status == 422, "a form that failed may be sent again"
    first, again = admin.post("/tokens/create", form), admin.post("/tokens/create", form)
    assert (first.status, again.status) == (200, 200)
    assert SECRET.search(first.body.decode()) and not SECRET.search(again.body.decode()) and "was sent before" in said(again) and "<h1>once" in again.body.decode()
    assert [name for name in run("tokens", "list", "-c", served.file).out.split("\t") if name == "once"] == ["once"]

    identity = rows(served)["once"][0]
    page, path = "/tokens/" + identity, "/tokens/%s/rotate" % identity
    form = filled(admin, page, path) | {"grace": "0"}
    rotated, again = admin.post(path, form), admin.post(path, form)
    secret = SECRET.search(rotated.body.decode())[0]
    assert not SECRET.search(again.body.decode()) and "was sent before" in said(again)
    assert served.call("GET", "/keys/v1/models", headers={"authorization": "Bearer " + secret}).status != 401
    for none in ("", "1.x", "9" + form["form"][0]):
        assert admin.post(path, form | {"form": none}).status == 409


def test_what_no_token_may_be_called_is_refused_on_every_way(served, admin):
    for text in ("safe\u202etxt.exe", "a\u2028b", "\u2066x"):
        for body in ({"name": text}, {"name": "a", "labels": {"team": text}}):
            answer = call(served, "create", body | {"routes": ["keys"]})
            assert answer.status == 400 and "DoesNotMatchPattern" in answer.body.decode(), body
        assert admin.post("/tokens/create", {"name": text, "route": "keys"}).status == 422
        assert admin.post("/tokens/create", {"name": "a", "route": "keys", "label": "team=" + text}).status == 422
        assert run("tokens", "create", "-c", served.file, "--name", text).returncode == 2
        assert run("tokens", "create", "-c", served.file, "--label", "team=" + text).returncode == 2
    assert call(served, "create", {"name": "a", "labels": {"team": " a"}}).status == 400
    for expires in ("99999999d", "99999999999999999999999d"):
        far = run("tokens", "create", "-c", served.file, "--expires", expires)
        assert far.returncode == 2 and "9999" in far.err, far.err
        assert "9999" in call(served, "create", {"name": "a", "expires": expires}).body.decode()


def test_routes_that_are_none_are_refused_by_their_places(served, admin):
    answer = call(served, "create", {"name": "a", "routes": ["keys", "nope"]})
    [fault] = answer.json()["result"]["errors"]
    assert (answer.status, fault["code"], fault["source"]) == (400, "DoesNotExist", "/routes/1")
    identity = call(served, "create", {"name": "routed", "routes": ["keys"]}).json()["result"]["id"]
    [fault] = call(served, "update", {"id": identity, "routes": ["nope"]}).json()["result"]["errors"]
    assert (fault["code"], fault["source"]) == ("DoesNotExist", "/routes/0")
    assert admin.post("/tokens/create", {"name": "a", "route": ["keys", "nope"]}).status == 422


def test_budgets_show_what_was_charged_and_to_whom(served, admin):
    key = made(served, "--name", "alias", "--route", "keys", "--label", "team=red")
    body = {"model": "fast", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}
    assert served.call("POST", "/keys/v1/chat/completions", body, {"authorization": "Bearer " + key}).status == 200
    # Requests that take no tokens use a budget of requests up all the same.
    key = made(served, "--name", "reads", "--route", "team-001", "--label", "team=zz")
    for _ in range(4):
        last = served.call("GET", "/team-001/v1/models", headers={"authorization": "Bearer " + key}).status
    assert last == 429

    def shown():
        page = admin.get("/usage").body.decode()
        found = re.findall(r'<tr><th class="named" scope="row">(each \w+)</th><td class="named">(.*?)</td>.*?</tr>', page, re.S)
        return [(name, re.sub("<[^>]+>", "", whose)) for name, whose in found]

    served.wait_for(lambda: ("each team", "team=zz") in shown() and ("each model", "fast") in shown())
    assert "gpt-4o-mini" not in [whose for _, whose in shown()], "nobody was charged by that name"
    teams = [whose for name, whose in shown() if name == "each team"]
    assert teams.index("team=zz") < teams.index("team=red"), "the nearest to the limit first"


def test_thousands_of_tokens_are_looked_through_a_hundred_at_a_time(upstream):
    config = CONFIG.split("\n[audit]")[0] + ROUTE.replace("NAME", "keys")
    with Gateway(upstream.url, config) as gateway:
        visitor = Visitor(gateway).sign_in()
        admin = {"authorization": "Bearer " + made(gateway, "--name", "api", "--service", "token")}
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5))
        for n in range(230):
            body = {"name": "app-%03d" % n, "routes": ["keys"], "labels": {"team": "t%d" % (n % 2)}}
            body |= {"expires": soon} if n == 0 else {}
            assert gateway.call("POST", "/v1beta/token/create", body, admin).status == 200
        names = lambda page: re.findall(r'<a href="/tokens/pti_\w+">([^<]+)</a>', page)  # noqa: E731
        seen, path = [], "/tokens"
        while path:
            page = visitor.get(path).body.decode()
            assert len(names(page)) <= 100 and len(page) < 200_000
            seen += names(page)
            following = re.search(r'rel="next" href="([^"]+)"', page)
            path = following and following[1].replace("&amp;", "&")
        assert len(seen) == len(rows(gateway)) - 1 and len(set(seen)) == len(seen)
        assert names(visitor.get("/tokens?q=APP-22+team%3Dt1").body.decode()) == ["app-%d" % n for n in range(229, 220, -2)]
        gateway.wait_for(lambda: names(visitor.get("/tokens?state=expired").body.decode()) == ["app-000"])
        assert "✕ expired" in visitor.get("/tokens?state=expired&q=app").body.decode()
        assert names(visitor.get("/tokens?state=revoked").body.decode()) == []


def test_nothing_is_changed_that_cannot_be_written_down(upstream):
    config = CONFIG.split("\n[models.fast]")[0] + ROUTE.replace("NAME", "keys")
    with Gateway(upstream.url, config) as gateway:
        visitor, late = Visitor(gateway).sign_in(), Visitor(gateway)
        made(gateway, "--name", "app", "--route", "keys")
        identity, log = rows(gateway)["app"][0], gateway.home / "audit.jsonl"
        page = "/tokens/" + identity
        forms = {"/tokens/create": filled(visitor, "/tokens", "/tokens/create") | {"name": "ghost", "route": "keys"}}
        forms |= {path: filled(visitor, page, path) for path in (page + "/change", page + "/rotate", page + "/revoke")}
        before = rows(gateway)
        log.rename(gateway.home / "moved")
        log.mkdir()
        refused = lambda: visitor.post("/tokens/create", forms["/tokens/create"])  # noqa: E731
        # Whatever comes until the log is known to be broken is not shown at least.
        gateway.wait_for(lambda: "nothing was changed" in said(refused()), every=0.3)
        for path, form in forms.items():
            answer = visitor.post(path, form)
            assert answer.status == 503 and not SECRET.search(answer.body.decode()), path
            assert "audit log cannot be written" in said(answer) and "not a regular file" in said(answer)
        answer = late.post("/sign-in", {"token": late.token})
        assert answer.status == 503 and "set-cookie" not in answer.headers
        assert {name: row[:8] for name, row in rows(gateway).items() if name != "ghost"} == {name: row[:8] for name, row in before.items()}
        os.rmdir(log)
        gateway.wait_for(lambda: late.post("/sign-in", {"token": late.token}).status == 303, every=0.5)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["act"] for line in lines if "act" in line][-1] == "console.sign_in", "it is written before the answer"
