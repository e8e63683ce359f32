"""The console's playground in a real browser: what is found as somebody types, and what is copied from it run as it is."""

import json
import os
import subprocess
import sys

import pytest
from browser import Browser, browser, hosts  # noqa: F401
from gateway import Gateway, run
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

MAIL, CARD = "jane.doe@harbour-post.com", "4111 1111 1111 1111"
CONFIG = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "openai"
path = "/v1/chat"
upstream = "mock"
auth = "none"
provider = "openai"
redact = {{}}

[[routes]]
name = "masking"
path = "/masking"
upstream = "mock"
auth = "none"
[routes.redact]
requests = "mask"
without = ["PERSON"]
special_use = "redact"
thresholds = {{ PHONE_NUMBER = 1.0 }}
methods = {{ CREDIT_CARD = "block" }}

[[routes]]
name = "hearing"
path = "/hearing"
upstream = "mock"
auth = "none"
redact = {{ requests = "off", answers = "mask" }}

[[detect.allow]]
values = ["desk@harbour-post.com"]
"""
MARKS = """
return [...document.querySelectorAll("#editor-%s mark.%s")].map((mark) => mark.textContent)
"""


@pytest.fixture(scope="module")
def gateway(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running
        said = "\n".join(running.log + running.out)
        for secret in (MAIL, CARD, "Elena Ruiz", "elena.ruiz", "hunter2"):
            assert secret not in said


@pytest.fixture
def page(browser, gateway):  # noqa: F811
    yield Playground(browser.sign_in(gateway, path="/playground"))
    assert browser.complaints() == []
    assert hosts(browser) <= {"127.0.0.1:%d" % gateway.admin}
    assert browser.driver.current_url.endswith("/playground")


class Playground:
    def __init__(self, browser):  # noqa: F811
        self.browser = browser
        self.seen(0)

    def script(self, text, *args):
        return self.browser.driver.execute_script(text, *args)

    def times(self):
        return int(self.script("return document.getElementById('playground').dataset.seen ?? 0"))

    def seen(self, before):
        """Until the page has shown another outcome."""
        self.browser.wait(lambda: self.times() > before)

    def after(self, act):
        before = self.times()
        act()
        self.seen(before)

    def put(self, text, kind="text"):
        """Has a text there as if it were pasted."""
        paste = "const [area, text] = arguments; area.value = text; area.dispatchEvent(new Event('input', { bubbles: true }))"
        self.after(lambda: self.script(paste, self.browser.find("#in-" + kind), text))

    def tab(self, kind):
        self.browser.find("#tab-" + kind).click()
        self.browser.wait(lambda: self.browser.find("#panel-" + kind).is_displayed())

    def marks(self, kind="text", name="found"):
        return self.script(MARKS % (kind, name))

    def out(self, kind="text"):
        return self.script("return document.getElementById('out-%s').value" % kind)

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0]).textContent", selector)

    def copied(self, how):
        self.browser.find("#as-" + how).click()
        if how == "route":
            return self.browser.wait(lambda: (t := self.text("#copied")).startswith(("# A route", "# ")) and "[[routes]]" in t and t)
        return self.text("#copied")


def test_the_page_convinces_at_once(page):
    found = ["Elena Ruiz", "27 Maple Street", "+44 20 7946 0958", "elena.ruiz@harbour-post.com", CARD]
    found += ["GB82 WEST 1234 5698 7654 32", "AKIAQ3EGPTX7RW5MZK2H"]
    assert page.marks() == found
    assert not any(value in page.out() for value in found)
    rows = page.browser.all("#rows-text tr")
    assert len(rows) == len(found) and "CREDIT_CARD" in rows[4].text and "reaches" in rows[4].text
    assert page.marks(name="not") == ["483920175"]
    assert "does not reach" in page.browser.find("#misses-text").text


def test_marks_move_with_what_is_typed(page):
    page.put("")
    area = page.browser.find("#in-text")
    page.after(lambda: area.send_keys("Write to " + MAIL + " soon."))
    assert page.marks() == [MAIL]
    # Before anything is asked, the mark is where the value is now.
    moved = page.script(
        "const area = arguments[0]; area.setRangeText('\\u{1f642} first\\n', 0, 0);"
        "area.dispatchEvent(new Event('input')); return [...document.querySelectorAll('#editor-text mark')].map((m) => m.textContent)",
        area,
    )
    assert moved == [MAIL]
    page.seen(page.times())
    assert page.marks() == [MAIL]


@pytest.mark.parametrize(
    "before",
    [
        "</textarea><script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'> ",
        "<!-- & &amp; </pre></div>\n",
        "\u05d0\u05d1\u202e\u2066 ",
        "e\u0301\U0001f1e9\U0001f1ea\U0001f469\u200d\U0001f4bb ",
        "x" * 200_000 + " ",
        "line\n" * 20_000,
    ],
    ids=["script", "markup", "rtl", "emoji", "long line", "lines"],
)
def test_texts_are_texts(page, before):
    page.put(before + MAIL)
    assert page.marks() == [MAIL]
    assert page.out().startswith(before[:100]) and MAIL not in page.out()
    assert page.script("return window.stolen ?? null") is None
    assert page.script("return document.querySelectorAll('main script, main img').length") == 0
    behind = page.script("return [...document.querySelectorAll('#editor-text .lines > div')].map((d) => d.textContent).join('\\n')")
    assert behind == before + MAIL


def test_two_may_type_at_once(page, gateway):
    with Browser() as other:
        second = Playground(other.sign_in(gateway, "viewer", "/playground"))
        letters = {page: "Ask bob1@harbour-post.com.\n", second: "Ask eve1@harbour-post.com.\n"}
        before = {one: one.times() for one in letters}
        paste = "const a = document.getElementById('in-text'); a.value = arguments[0]; a.dispatchEvent(new Event('input'))"
        for turn in range(6):
            for one, text in letters.items():
                one.script(paste, text * 500 + "turn %d" % turn)
        for one, text in letters.items():
            one.browser.wait(lambda one=one: one.times() > before[one] and one.text("#count-text").startswith("500 "))
            assert set(one.marks()) == {text.split()[1].rstrip(".")}
            assert one.out().endswith("turn 5")
        assert other.complaints() == []


def test_what_is_no_character_is_sent_all_the_same(page):
    for text in ("\\ud800 ", "\\udc00\\ud800", "\\0\\u0001 "):
        paste = "area.value = '%s ' + '%s'; area.dispatchEvent(new Event('input'))" % (text, MAIL)
        page.after(lambda paste=paste: page.script("const area = document.getElementById('in-text');" + paste))
        assert page.marks() == [MAIL]


def test_a_mebibyte_is_looked_through_and_more_is_not(page):
    page.put("word " * 209_000 + MAIL)
    assert page.marks() == [MAIL]
    page.script("const a = document.getElementById('in-text'); a.value = 'x'.repeat(1048577); a.dispatchEvent(new Event('input'))")
    page.browser.wait(lambda: "1 MiB" in page.text("#problem-text"))
    page.browser.driver.get_log("browser")


def test_rows_and_marks_go_together_by_keyboard(page):
    page.browser.find("#rows-text button").send_keys(Keys.ARROW_DOWN)
    assert page.script("return document.activeElement.textContent") == "27 Maple Street"
    assert page.script("return [...document.querySelectorAll('mark.now')].map((m) => m.textContent)[0]") == "27 Maple Street"
    page.browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    chosen = "const a = document.activeElement; return a.value.slice(a.selectionStart, a.selectionEnd)"
    assert page.script(chosen) == "27 Maple Street"
    tab = page.browser.find("#tab-text")
    tab.send_keys(Keys.ARROW_RIGHT)
    assert page.browser.find("#panel-json").is_displayed() and not page.browser.find("#panel-text").is_displayed()
    page.browser.driver.switch_to.active_element.send_keys(Keys.END)
    assert page.browser.find("#panel-file").is_displayed()


def test_what_is_chosen_counts(page):
    method = Select(page.browser.find("#method"))
    page.after(lambda: method.select_by_value("replace"))
    assert "<EMAIL_ADDRESS>" in page.out() and "<CREDIT_CARD>" in page.out()
    page.after(lambda: method.select_by_value("mask"))
    assert "****" in page.out()
    page.after(lambda: method.select_by_value("report"))
    assert CARD in page.out()
    set_threshold = "const t = document.getElementById('threshold'); t.value = '0.95'; t.dispatchEvent(new Event('input'))"
    page.after(lambda: page.script(set_threshold))
    assert "Elena Ruiz" not in page.marks() and CARD in page.marks()
    assert "Elena Ruiz" in page.browser.find("#misses-text").text
    page.script("document.querySelectorAll('#choices details')[0].open = true")
    page.after(lambda: (page.browser.find("[name=set][value=SECRETS]").click(), page.browser.find("[name=set][value=DEFAULT]").click()))
    page.browser.wait(lambda: page.marks() == ["AKIAQ3EGPTX7RW5MZK2H"])


def test_a_text_is_redacted_as_a_route_that_runs_does_it(page):
    """By that route's method, rules, thresholds and list of what passes, as its upstream shows."""
    text = f"Elena Ruiz, {MAIL}, desk@harbour-post.com, 10.1.2.3, +44 20 7946 0958"
    page.put(text)
    assert page.marks() == ["Elena Ruiz", MAIL, "+44 20 7946 0958"]
    road = Select(page.browser.find("#road"))
    page.after(lambda: road.select_by_visible_text("masking"))
    assert page.marks() == [MAIL, "10.1.2.3"]
    assert page.out() == text.replace(MAIL, "*" * len(MAIL)).replace("10.1.2.3", "*" * 8)
    assert not page.browser.find("#method").is_enabled() and page.browser.find("#sets").get_property("disabled")
    # What the route says itself is not there to be read as what holds.
    for choice in ["#method", "#threshold", "#model", "#own", "#sets-say"]:
        assert not page.browser.find(choice).is_displayed(), choice
    assert page.browser.find("#along").is_displayed() and not page.browser.find("#surrogates").is_displayed()
    nots = page.browser.find("#misses-text").text
    assert "The configuration lets it pass" in nots and "does not reach" in nots
    # What somebody lets pass counts beside, and is all that is missing in the configuration.
    page.after(lambda: page.browser.find("#rows-text button.small").click())
    assert page.marks() == ["10.1.2.3"]
    page.browser.find("#as-route").click()
    page.browser.wait(lambda: "The route \"masking\"" in page.text("#copied"))
    assert MAIL in page.text("#copied") and "[[routes]]" not in page.text("#copied")
    page.browser.find("#as-curl").click()
    page.after(lambda: page.browser.find("#forget-text").click())
    page.put(f"{CARD} of {MAIL}")
    assert page.browser.find("#problem-text").text == "The route refuses a request with this: CREDIT_CARD." and page.out() == ""
    assert page.marks() == [CARD, MAIL] and "refused" in page.browser.find("#rows-text").text
    page.tab("json")
    page.put(json.dumps({"mail": MAIL}), "json")
    # The tab's own outcome may come before that of what was put there.
    page.browser.wait(lambda: page.out("json") and json.loads(page.out("json")) == {"mail": "*" * len(MAIL)})
    road.select_by_visible_text("hearing")
    page.browser.wait(lambda: page.browser.find("#problem-json").text == "This route leaves requests as they are.")
    assert len(page.browser.complaints()) == 1
    page.after(lambda: road.select_by_visible_text("masking"))
    # A chat goes along a route of its own, and what was chosen counts again.
    page.tab("chat")
    page.browser.wait(lambda: page.browser.find("#method").is_enabled() and page.browser.find("#method").is_displayed())
    assert not page.browser.find("#along").is_displayed()
    page.browser.wait(lambda: "Elena" in page.browser.find("#got-chat").text)
    page.tab("text")
    road.select_by_visible_text("new route: nobody's values pass")
    page.browser.wait(lambda: page.marks() == [CARD, MAIL])


def test_a_link_leads_to_a_text_along_its_route(browser, gateway):  # noqa: F811
    browser.sign_in(gateway, path="/routes")
    [link] = [one for one in browser.all("main section a") if (one.get_attribute("href") or "").endswith("/playground?route=masking")]
    link.click()
    browser.wait(lambda: browser.all("#road"))
    assert Select(browser.find("#road")).first_selected_option.text == "masking"
    browser.wait(lambda: browser.find("#problem-text").text.startswith("The route refuses"))
    browser.driver.get(browser.origin + "/playground?route=%3Cb%3Enone")
    assert Select(browser.find("#road")).first_selected_option.get_attribute("value") == "route"
    assert browser.complaints() == []


def test_examples_of_a_rule_are_tried_without_their_marks(browser, gateway):  # noqa: F811
    browser.sign_in(gateway, path="/rules/EMAIL_ADDRESS")
    values = [one.text for one in browser.all("main li mark")]
    shown = " ".join(one.text for one in browser.all("main li"))
    assert len(values) > 5 and "«" not in shown
    browser.driver.find_element("link text", "Try it").click()
    browser.wait(lambda: browser.all("#rows-text button.value"))
    text = browser.find("#in-text").get_attribute("value")
    assert "«" not in text and values[0] in text.split("\n")
    marks = browser.driver.execute_script(MARKS % ("text", "found"))
    assert marks == values[: len(marks)] and len(marks) == 5
    assert browser.complaints() == []


def test_own_rules_are_used_and_their_faults_have_places(page):
    page.script("document.getElementById('own').open = true")
    page.after(lambda: page.browser.find("#rules-example").click())
    assert "483920175" in page.marks()
    put = "const r = document.getElementById('rules'); r.value = arguments[0]; r.dispatchEvent(new Event('input'))"
    for rules, said in [
        ("[[rule]\n", "your rules:1:"),
        ('[[rule]]\nname = "SLOW"\npatterns = [{ regex = \'(x{0,500}){0,100}y\' }]\n', "your rules:1: pattern 1 would cost too much"),
        ("x" * 70_000, ""),
    ]:
        page.script(put, rules)
        page.browser.wait(lambda said=said: said in page.text("#faults") and page.text("#problem-text"))
    page.browser.driver.get_log("browser")  # A refusal is an error to the browser.
    page.after(lambda: page.script(put, ""))
    assert "483920175" not in page.marks()


def test_documents_have_pointers(page):
    page.tab("json")
    page.browser.wait(lambda: page.marks("json"))
    rows = page.text("#rows-json")
    assert "/customer/email" in rows and "/notes/1" in rows and "/smtp/password" in rows
    assert json.loads(page.out("json"))["ticket"] == 41877
    page.put('{"a": [1,\n 2', "json")
    assert page.text("#problem-json").startswith("Not JSON at line 2")
    page.put('{"a": "%s", "b": "%s"}' % (MAIL, MAIL), "json")
    assert page.text("#problem-json") == "" and page.marks("json") == [MAIL, MAIL]


def test_a_chat_goes_there_and_comes_back(page):
    page.tab("chat")
    page.browser.wait(lambda: page.browser.all("#got-chat mark.back"))
    seen = page.text("#seen-chat")
    assert "Elena" not in seen and CARD not in seen
    answer, got = page.text("#answer-chat"), page.text("#got-chat")
    assert "Elena" not in answer and "ELENA RUIZ" in got and "elena.ruiz@harbour-post.com" in got
    assert "north-ferry" in answer and "north-ferry" not in got
    assert set(page.text("#got-chat mark.gone")) == {"*"}
    page.script("const a = document.getElementById('in-chat'); a.value = '{}'; a.dispatchEvent(new Event('input'))")
    page.browser.wait(lambda: "messages" in page.text("#problem-chat"))


def test_a_file_is_cleaned(page, tmp_path):
    page.tab("file")
    letter = tmp_path / "letter & <b>.html"
    letter.write_text("<p onclick='x()'>Write to %s<script>alert(1)</script></p>" % MAIL)
    page.browser.find("#upload").send_keys(str(letter))
    page.browser.find("#clean").click()
    page.browser.wait(lambda: page.browser.find("#cleaned").is_displayed())
    facts = page.text("#facts-file")
    assert "EMAIL_ADDRESS 1" in facts
    link = "const a = document.getElementById('download'); return [a.href.startsWith('blob:'), a.download]"
    is_blob, name = page.script(link)
    assert is_blob and name.endswith(".html")
    page.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path / "got")})
    page.browser.find("#download").click()
    got = page.browser.wait(lambda: [one for one in (tmp_path / "got").glob("*.html")] if (tmp_path / "got").is_dir() else [])
    text = got[0].read_text()
    assert MAIL not in text and "script" not in text and "onclick" not in text
    # What is no file that can be cleaned is refused with a reason.
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnot really")
    page.browser.find("#upload").send_keys(str(broken))
    page.browser.find("#clean").click()
    page.browser.wait(lambda: "not released" in page.text("#problem-file"))
    page.browser.driver.get_log("browser")


def shell(command, gateway):
    env = {**os.environ, "TOKEN": gateway.token, "OPENAI_API_KEY": "sk-caller"}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(text, gateway):
    env = {**os.environ, "TOKEN": gateway.token, "OPENAI_API_KEY": "sk-caller"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_copied_works(page, gateway, upstream):
    text = "It's \"%s\", \\n $HOME `id` \U0001f642\nCard %s" % (MAIL, CARD)
    page.put(text)
    for method, stands in [("replace", "<EMAIL_ADDRESS>"), ("mask", "*" * len(MAIL)), ("encrypt", "@")]:
        page.after(lambda method=method: Select(page.browser.find("#method")).select_by_value(method))
        answer = json.loads(shell(page.copied("curl"), gateway))["result"]["redacted_text"]
        assert stands in answer and MAIL not in answer and "$HOME `id` \U0001f642" in answer
        assert stands in (printed := program(page.copied("python"), gateway)) and MAIL not in printed
    toml = page.copied("route")
    config = gateway.home / "copied.toml"
    config.write_text(toml)
    assert run("check", "-c", config).returncode == 0
    page.tab("json")
    page.after(lambda: Select(page.browser.find("#method")).select_by_value("replace"))
    assert "<CREDIT_CARD>" in shell(page.copied("curl"), gateway)
    assert "<CREDIT_CARD>" in program(page.copied("python"), gateway)
    page.tab("chat")
    page.browser.wait(lambda: page.browser.all("#got-chat pre"))
    upstream.forget()
    for how, act in (("curl", shell), ("python", program)):
        command = page.browser.wait(lambda how=how: "chat/completions" in (t := page.copied(how)) and t or "OpenAI(" in t and t)
        act(command, gateway)


def test_whoever_may_look_may_use_it(browser, gateway):  # noqa: F811
    page = Playground(browser.sign_in(gateway, "viewer", "/playground"))
    page.put("Write to " + MAIL)
    assert page.marks() == [MAIL]
    assert browser.complaints() == []


def test_nothing_is_answered_to_others(gateway):
    answer = gateway.call("POST", "/playground/look", {"text": MAIL}, port=gateway.admin)
    assert answer.status == 403 and MAIL.encode() not in answer.body
    origin = {"origin": "http://127.0.0.1:%d" % gateway.admin}
    answer = gateway.call("POST", "/playground/look", {"text": MAIL}, origin, port=gateway.admin)
    assert answer.status == 401 and MAIL.encode() not in answer.body
