"""Every page of the console in a real browser: nothing to complain about for axe, for the console of the browser, or for whoever
has only a keyboard. With PORTCULLIS_SCREENSHOTS=docs/images it makes the pictures of the documentation anew."""

import io
import json
import os
import re
import time
import urllib.request
from pathlib import Path

import pytest
from browser import browser, hosts  # noqa: F401 (a fixture)
from gateway import BINARY, Gateway, run
from openai import OpenAI
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

CONFIG = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"

[usage]
count = "all"

[[usage.prices]]
model = "gpt-*"
input = 2.5
output = 10

[[usage.budgets]]
name = "teams"
period = "month"
usd = 500
each = "label:team"

[upstreams.provider]
peers = ["{upstream}"]
headers = {{ authorization = "Bearer the-provider's" }}

[[routes]]
name = "chat"
path = "/v1"
upstream = "provider"
auth = "token"
redact = {{}}
"""
PAGES = {
    "live": "/live",
    "playground": "/playground",
    "routes": "/routes",
    "rules": "/rules",
    "rule": "/rules/CREDIT_CARD",
    "configuration": "/configuration",
    "tokens": "/tokens",
    "token": "/tokens/{token}",
    "usage": "/usage?by=label%3Ateam",
    "docs": "/docs/llm",
}
WIDTHS = [360, 768, 1440]
# The narrowest and the widest, and both schemes, are judged; `./tests/run --all` judges every pair of them.
LOOKS = [(360, False), (1440, True)]
AXE = Path(os.environ.get("CARGO_TARGET_DIR", BINARY.parents[1])) / "node/node_modules/axe-core/axe.min.js"
PICTURES = os.environ.get("PORTCULLIS_SCREENSHOTS")
EVERY_LOOK = bool(os.environ.get("PORTCULLIS_ALL") or PICTURES)


@pytest.fixture(scope="module")
def served(upstream):
    """A gateway that has something to show."""
    with Gateway(upstream.url, CONFIG) as gateway:
        args = ["--route", "chat", "--budget", "25usd/month", "--rate", "600/1m", "--label", "team=research", "--expires", "90d"]
        made = run("tokens", "create", "-c", gateway.file, "--name", "research", *args)
        client = OpenAI(base_url=gateway.url + "/v1", api_key=made.out.strip(), max_retries=0)
        said = "Write to jane.doe@harbour-post.com about card 4111 1111 1111 1111."
        # Charts of a picture need some minutes of traffic.
        gateway.requests = 90 if PICTURES else 6
        for _ in range(gateway.requests):
            client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": said}])
            time.sleep(2 if PICTURES else 0)
        listed = run("tokens", "list", "-c", gateway.file).out
        gateway.shown = re.search(r"(pti_\S+)\tresearch", listed).group(1)
        yield gateway


def paths(gateway):
    return {name: path.format(token=gateway.shown) for name, path in PAGES.items()}


def settle(browser):  # noqa: F811
    """Until what the page's scripts ask for has come."""
    browser.wait(lambda: browser.driver.execute_script("return document.readyState") == "complete")
    browser.driver.execute_async_script("const done = arguments[0]; setTimeout(done, 400)")


def look(browser, width, dark=False):  # noqa: F811
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})


def keep(browser, name):  # noqa: F811
    from PIL import Image

    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(64, dither=Image.Dither.NONE).save(Path(PICTURES) / (name + ".png"), optimize=True)


def test_axe_and_the_browser_complain_about_nothing(served, browser):  # noqa: F811
    if not AXE.is_file():
        pytest.skip("axe-core is not installed")
    axe, found = AXE.read_text(), {}

    def judge(name):
        browser.driver.execute_script(axe)
        script = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations))"
        for one in browser.driver.execute_async_script(script):
            found.setdefault(name, []).append((one["id"], [node["html"][:160] for node in one["nodes"]][:3]))

    browser.driver.get("http://127.0.0.1:%d/" % served.admin)
    for dark in [False, True]:
        look(browser, 1440, dark)
        judge("sign-in")
    if PICTURES:
        keep(browser, "console-sign-in-1440-dark")
    browser.sign_in(served)
    for name, path in paths(served).items():
        browser.driver.get(browser.origin + path)
        settle(browser)
        if PICTURES and name == "live":
            browser.find("#range option[value='60']").click()
            browser.wait(lambda: browser.find("#tile-requests").text not in ("–", "0"))
        for width in WIDTHS:
            for dark in [False, True]:
                look(browser, width, dark)
                if EVERY_LOOK or (width, dark) in LOOKS:
                    settle(browser)
                    judge("%s %d %s" % (name, width, dark))
                wide = browser.driver.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, "%s is %d wide at %d" % (name, wide, width)
                if PICTURES:
                    keep(browser, "console-%s-%d-%s" % (name, width, "dark" if dark else "light"))
    assert not found, json.dumps(found, indent=1)
    assert browser.complaints() == []
    assert hosts(browser) <= {"127.0.0.1:%d" % served.admin}


def test_usage_by_team_and_what_is_left_of_its_budget(served, browser):  # noqa: F811
    browser.sign_in(served)

    def table(heading):
        rows = browser.driver.find_elements(By.CSS_SELECTOR, "section[aria-labelledby=%s] tbody tr" % heading)
        return [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in rows]

    def known(by):
        browser.driver.get(browser.origin + "/usage?by=" + by)
        return [row[:2] for row in table("sums")]

    requests = str(served.requests)
    served.wait_for(lambda: ["research", requests] in known("label%3Ateam"))
    row = table("sums")[0]
    assert int(row[2].replace(",", "")) > 0 and float(row[6].removeprefix("$")) > 0, row
    [budget] = table("budgets")
    assert budget[:3] == ["teams", "team=research", "month"] and budget[4] == "refused"
    assert 499 < float(budget[3].removeprefix("$")) < 500
    for by, name in [("token", "research"), ("route", "chat"), ("model", "gpt-4o-mini"), ("", "research"), ("nothing", "research")]:
        assert [name, requests] in known(by), by
    assert known("label%3A%3Cb%3E") == [["without", requests]]
    links = browser.driver.find_elements(By.CSS_SELECTOR, "section[aria-labelledby=sums] nav a")
    assert [link.text for link in links] == ["Token", "team", "Route", "Model", "Day"]


@pytest.mark.parametrize("width", [360, 768, 861, 1000, 1440])
def test_what_stands_beside_another_is_in_line_with_it(served, browser, width):  # noqa: F811
    browser.sign_in(served)
    look(browser, width)

    def at(name):
        browser.driver.get(browser.origin + paths(served)[name])
        settle(browser)

    def script(text):
        return browser.driver.execute_script(text)

    # Labels of fields in one line stand at one height.
    labels = """
        const lines = {};
        for (const field of document.querySelectorAll("main .field")) {
            const [box, label] = [field.getBoundingClientRect(), field.querySelector("label").getBoundingClientRect()];
            if (box.height > 0) (lines[Math.round(box.bottom)] ??= []).push(Math.round(label.top));
        }
        return Object.values(lines).filter((tops) => new Set(tops).size > 1)"""
    for name in ["rules", "tokens"]:
        at(name)
        assert script(labels) == [], name
    at("token")
    tops = "return [...document.querySelectorAll('form .grid > .field')].map(f => f.getBoundingClientRect().top - f.querySelector('label').getBoundingClientRect().top)"
    assert {round(top) for top in script(tops)} == {0}
    # What a button says is one line of it, and so is what a section is called on a narrow screen.
    at("playground")
    for kind in ["text", "json"]:
        browser.find("#tab-" + kind).click()
        browser.wait(lambda kind=kind: browser.all("#rows-%s button.small" % kind))
        assert max(script("return [...document.querySelectorAll('td button.small')].map(b => b.offsetHeight)")) < 40
    at("configuration")
    if width < 400:
        assert script("return new Set([...document.querySelectorAll('.side nav a')].map(a => a.offsetTop)).size") == 2
    # Whose tag it is stands beside it.
    at("routes")
    gap = "const [h, t] = ['h2', '.tag'].map(s => document.querySelector('main section header > ' + s).getBoundingClientRect()); return t.left - h.right"
    assert 0 < script(gap) < 20


def test_times_in_lists_say_their_zone(served, browser):  # noqa: F811
    browser.sign_in(served)
    for name, heads in {"tokens": ["Last used, UTC", "Expires, UTC"], "configuration": ["When, UTC"]}.items():
        browser.driver.get(browser.origin + paths(served)[name])
        shown = [head.text for head in browser.all("thead th")]
        assert set(heads) <= set(shown), (name, shown)


def test_a_page_is_small_and_asks_for_little(served, browser):  # noqa: F811
    browser.sign_in(served)
    for name, path in paths(served).items():
        browser.driver.get(browser.origin + path)
        settle(browser)
        entries = browser.driver.execute_script(
            "return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
            ".map(e => [e.name, e.decodedBodySize])"
        )
        size = sum(size for _, size in entries)
        assert size < 200_000, (name, entries)
        assert len(entries) < 12, (name, entries)


def test_everything_is_reached_with_a_keyboard(served, browser):  # noqa: F811
    browser.sign_in(served)
    reach = """
        const shown = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length;
        const all = 'a[href], button:not([disabled]), input:not([type=hidden]):not([disabled]), select, textarea, summary, [tabindex="0"]';
        const tab = e => !(e.matches('[role=tab]') && e.tabIndex < 0) && !(e.type === 'radio' && !e.checked);
        return [...document.querySelectorAll(all)].filter(e => shown(e) && tab(e) && e.tabIndex >= 0).length"""
    for name in ["tokens", "configuration", "rules", "playground", "live"]:
        browser.driver.get(browser.origin + paths(served)[name])
        settle(browser)
        wanted = browser.driver.execute_script(reach)
        browser.driver.execute_script("document.activeElement.blur(); window.reached = new Set()")
        for _ in range(wanted + 10):
            browser.driver.switch_to.active_element.send_keys(Keys.TAB)
            seen = browser.driver.execute_script(
                "const e = document.activeElement; if (e !== document.body) { reached.add(e);"
                " const marked = x => getComputedStyle(x).outlineStyle !== 'none';"
                " return marked(e) || marked(e.parentElement) ? '' : e.outerHTML }"
            )
            assert not seen, "%s: no sign of where one is: %s" % (name, seen)
        reached = browser.driver.execute_script("return reached.size")
        assert reached >= wanted, "%s: %d of %d" % (name, reached, wanted)


def test_a_token_is_made_and_revoked_by_hand(served, browser):  # noqa: F811
    browser.sign_in(served, path="/tokens")
    browser.find("details summary").click()
    browser.find("#name").send_keys("<b>by hand</b>")
    browser.find("input[name=route][value=chat]").click()
    browser.find("form[action='/tokens/create'] button").click()
    secret = browser.wait(lambda: browser.find("#secret").text)
    assert re.fullmatch(r"pts_[a-z2-7]{32}", secret)
    browser.driver.find_element(By.LINK_TEXT, "I have it").click()
    assert "<b>by hand</b>" in browser.find("h1").text
    browser.driver.find_element(By.XPATH, "//button[text()='Revoke it for good']").click()
    browser.driver.switch_to.alert.accept()
    browser.wait(lambda: "revoked" in browser.find("h1").text)
    call = urllib.request.Request(served.url + "/v1/models", headers={"authorization": "Bearer " + secret})
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(call)
    assert browser.complaints() == []


def test_a_wrong_configuration_is_told_where_it_is_wrong(served, browser):  # noqa: F811
    browser.sign_in(served, path="/configuration")
    browser.find("#from-running").click()
    assert "the-provider's" not in browser.find("#draft").get_attribute("value")
    browser.find("#check").click()
    browser.wait(lambda: "✓ It can be used" in browser.find("#outcome").text)
    assert "make the same change in " in browser.find("#outcome").text and "portcullis.toml" in browser.find("#outcome").text
    assert "Nothing changes" in browser.find("#outcome").text or "upstreams" in browser.find("#outcome").text.lower()
    browser.find("#draft").send_keys("\nhed = '<img src=x onerror=alert(1)>'\n")
    browser.find("#check").click()
    browser.wait(lambda: "unknown key `hed`" in browser.find("#outcome").text)
    browser.find("#outcome button").click()
    chosen = browser.driver.execute_script(
        "const d = document.getElementById('draft'); return d.value.slice(d.selectionStart, d.selectionEnd)"
    )
    assert chosen.startswith("hed =")
    assert browser.complaints() == []


def test_signing_out(served, browser):  # noqa: F811
    browser.sign_in(served)
    browser.driver.find_element(By.XPATH, "//button[text()='Sign out']").click()
    browser.wait(lambda: browser.all("#token"))
    browser.driver.get(browser.origin + "/tokens")
    assert browser.all("#token") and not browser.all(".side")


def test_what_may_pass_is_carried_to_the_configuration_and_checked(served, browser):  # noqa: F811
    browser.sign_in(served, path="/playground")
    browser.wait(lambda: browser.find("#rows-text button.small"))
    browser.find("#rows-text button.small").send_keys(Keys.ENTER)
    browser.wait(lambda: "[[detect.allow]]" in browser.find("#allow-text").text)
    # The button went with its row; the keys' place is where the value stands now.
    assert browser.driver.switch_to.active_element.tag_name == "summary"
    browser.find("#pass-text a[data-carry]").click()
    browser.wait(lambda: "✓ It can be used" in browser.find("#outcome").text)
    assert "detect.allow" in browser.find("#outcome").text and "0, then 1" in browser.find("#outcome").text
    assert "# From the playground:" in browser.find("#draft").get_attribute("value")
    browser.driver.get(browser.driver.current_url)
    assert browser.find("#draft").get_attribute("value") == "", "it is carried once"
    browser.find("#check").click()
    browser.wait(lambda: "nothing to check yet" in browser.find("#outcome").text)
    assert browser.complaints() == []
