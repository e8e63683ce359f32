"""The console's first page in a real browser, while the real OpenAI client talks through the gateway."""

import gzip
import json
import os
import re
import signal

import openai
import pytest
from browser import browser, hosts  # noqa: F401
from gateway import Gateway, run
from test_console import Visitor

MAIL = "maria.lopez+rx@clinic-mail.com"
CONFIG = """
data = "data"

[[listen]]
address = "127.0.0.1:{port}"

[admin]
address = "127.0.0.1:{admin}"

[log]
addresses = "network"
access = false

[usage]
count = "all"

[[usage.prices]]
model = "*"
input = 2.5
output = 10.0

[upstreams.mock]
peers = ["{upstream}"]

[[routes]]
name = "chat"
path = "/v1/chat"
upstream = "mock"
auth = "none"
provider = "openai"
redact = {{}}

[[routes]]
name = "<b>bare</b>"
path = "/bare"
upstream = "mock"
auth = "none"
"""


@pytest.fixture(scope="module")
def gateway(upstream):
    with Gateway(upstream.url, config=CONFIG) as running:
        yield running


def talk(gateway, times=1, stream=False):
    client = openai.OpenAI(base_url=gateway.url + "/v1", api_key="sk-caller", max_retries=0, timeout=20)
    for _ in range(times):
        messages = [{"role": "user", "content": "Write it down. EMAIL: %s | and no more." % MAIL}]
        answer = client.chat.completions.create(model="plain", messages=messages, stream=stream)
        if stream:
            assert MAIL in "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)
        else:
            assert MAIL in answer.choices[0].message.content


def chart(browser, group):
    """The path of the chart's first line, and its legend."""
    figure = "figure[data-groups='%s']" % group
    return browser.find(figure + " path.line").get_attribute("d"), browser.find(figure + " .legend").text


def rows(browser):
    return [row.text for row in browser.all("#recent tbody tr")]


def test_chart_and_table_move_while_the_openai_client_talks(gateway, mock, browser):  # noqa: F811
    browser.sign_in(gateway)
    assert browser.find("h1").text == "Live" and browser.find("nav [aria-current]").text == "Live"
    talk(gateway, 5)
    talk(gateway, 5, stream=True)
    browser.wait(lambda: len(rows(browser)) == 10)
    browser.wait(lambda: "chat" in chart(browser, "route")[1])
    before, _ = chart(browser, "route")
    talk(gateway, 3)
    browser.wait(lambda: chart(browser, "route")[0] != before)
    browser.wait(lambda: len(rows(browser)) == 13)
    first = rows(browser)[0]
    assert "chat" in first and "openai_chat" in first and "plain" in first and "200" in first and "redacted" in first
    # What stands on the page is all that was counted.
    figures = json.loads(browser.get("/live/figures.json"))
    groups = {(group, name) for group, name, _ in figures["tracks"]}
    for wanted in [
        ("route", "chat"),
        ("status", "2xx"),
        ("protocol", "openai_chat"),
        ("rule", "EMAIL_ADDRESS"),
        ("latency", "p95"),
        ("first_byte", "p50"),
        ("tokens", "input"),
        ("cost", "chat"),
        ("attempts", "mock"),
        ("resident", ""),
    ]:
        assert wanted in groups, (wanted, groups)
    assert [one["name"] for one in figures["now"]["upstreams"]] == ["mock"]
    states = browser.find("#upstream-states").text
    assert "✓ answers" in states and "no breaker" in states and "not checked" in states
    assert browser.find("#health").text == "✓ Takes traffic"
    # Details of one: counts by rule, and what was asked of whom.
    browser.find("#recent tbody button").click()
    details = browser.find(".details").text
    assert "EMAIL_ADDRESS" in details and "prq_" in details and "mock, 1 attempt" in details and "Counted by place" in details
    # While one is open, nothing moves away under it.
    talk(gateway, 2)
    browser.wait(lambda: "2 newer" in browser.find("#newer").text)
    assert browser.find(".details").text == details
    browser.find("#recent tbody button").click()
    assert len(rows(browser)) == 15
    for said in [browser.source(), json.dumps(figures), browser.get("/live/figures.json"), browser.get("/live/requests.json")]:
        assert "maria" not in said and "clinic-mail" not in said and "Write it down" not in said
    assert browser.complaints() == []
    assert hosts(browser) == {"127.0.0.1:%d" % gateway.admin}


def test_requests_are_filtered_and_names_are_no_markup(gateway, mock, browser):  # noqa: F811
    talk(gateway)
    assert gateway.call("GET", "/bare/canned/nothing?" + MAIL).status == 404
    browser.sign_in(gateway, service="viewer", path="/live")
    browser.wait(lambda: len(rows(browser)) >= 2)
    assert any("<b>bare</b>" in row for row in rows(browser)) and not browser.all("td b")
    by = lambda id, value: browser.find("#%s option[value='%s']" % (id, value)).click()
    by("by-status", "4")
    assert rows(browser) and all("404" in row for row in rows(browser))
    by("by-status", "")
    browser.find("#by-findings").click()
    assert rows(browser) and not any("bare" in row for row in rows(browser))
    browser.find("#by-findings").click()
    by("by-route", "chat")
    assert rows(browser) and all("chat" in row for row in rows(browser))
    by("by-route", "")
    browser.find("#by-errors").click()
    assert rows(browser) and all("404" in row for row in rows(browser))
    requests = json.loads(browser.get("/live/requests.json"))["requests"]
    assert {request["client"] for request in requests} == {"127.0.0.0"}
    last = requests[-1]["n"]
    assert json.loads(browser.get("/live/requests.json?after=%d" % last))["requests"] == []
    assert len(json.loads(browser.get("/live/requests.json?after=%d" % (last - 1)))["requests"]) == 1
    # Another process's number, and none at all.
    for strange in ("999999999", "18446744073709551616", "-1", "x", ""):
        assert len(json.loads(browser.get("/live/requests.json?after=" + strange))["requests"]) == len(requests)
        assert json.loads(browser.get("/live/figures.json?since=" + strange))["times"]
    assert "clinic-mail" not in browser.source() + json.dumps(requests)


def test_who_does_not_look_asks_nothing(gateway, mock, browser):  # noqa: F811
    browser.sign_in(gateway)
    asked = "return performance.getEntriesByType('resource').filter((one) => one.name.includes('figures.json')).length"
    browser.wait(lambda: browser.driver.execute_script(asked) >= 2)
    browser.find("#pause").click()
    assert browser.find("#pause").text == "Go on"
    paused = browser.driver.execute_script(asked)
    hidden = "Object.defineProperty(document, 'visibilityState', { value: arguments[0], configurable: true });"
    browser.driver.execute_script("document.getElementById('pause').click();")
    browser.wait(lambda: browser.driver.execute_script(asked) > paused)
    browser.driver.execute_script(hidden + "document.dispatchEvent(new Event('visibilitychange'))", "hidden")
    browser.wait(lambda: browser.driver.execute_script("return performance.now()") > 0)
    here = browser.driver.execute_script(asked)
    browser.driver.execute_async_script("setTimeout(arguments[0], 5000)")
    assert browser.driver.execute_script(asked) <= here + 1
    browser.driver.execute_script(hidden + "document.dispatchEvent(new Event('visibilitychange'))", "visible")
    browser.wait(lambda: browser.driver.execute_script(asked) > here + 1)


def test_keys_go_through_a_chart_and_numbers_are_a_table(gateway, mock, browser):  # noqa: F811
    browser.sign_in(gateway)
    figure = "figure[data-groups='held resident']"
    browser.wait(lambda: "resident" in browser.find(figure + " .legend").text)
    svg = browser.find(figure + " svg[role=img]")
    assert re.search(r"^Memory\. Now: .*resident [\d.]+ MiB", svg.get_attribute("aria-label"))
    browser.driver.execute_script("arguments[0].focus()", svg)
    svg.send_keys("\ue012")
    assert re.search(r"resident [\d.]+ MiB", browser.find("#said").get_attribute("textContent"))
    browser.find(figure + " summary").click()
    table = browser.find(figure + " table").text
    assert "resident" in table and "MiB" in table and "mean" in table


def test_what_is_not_counted_is_said(upstream, browser):  # noqa: F811
    bounded = CONFIG.replace('count = "all"', "").replace('[[usage.prices]]\nmodel = "*"\ninput = 2.5\noutput = 10.0\n', "")
    with Gateway(upstream.url, config=bounded) as running:
        browser.sign_in(running)
        said = " ".join(note.text for note in browser.all(".note"))
        assert "counted only for requests that a budget bounds" in said and "No model has a price" in said


WITH_A_DEAD_ONE = (
    CONFIG
    + """
[upstreams.dead]
peers = ["http://127.0.0.1:{nobody}"]
breaker = {{}}

[[routes]]
name = "dead"
path = "/dead"
upstream = "dead"
auth = "none"
redact = {{}}

[[routes]]
name = "private"
path = "/private"
upstream = "mock"
auth = "token"
redact = {{ protocol = "generic" }}
"""
)


@pytest.fixture(scope="module")
def ailing(upstream):
    """A gateway of which one upstream is not there."""
    with Gateway(upstream.url, config=WITH_A_DEAD_ONE) as running:
        # What comes before the first sample has no figures.
        running.wait_for(lambda: "portcullis_upstream_attempts_total" in metrics(running))
        yield running


def metrics(gateway):
    return gateway.call("GET", "/metrics", port=gateway.admin).body.decode()


def counted(browser):
    """The rows of findings by rule: how often, by name."""
    cells = [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in browser.all("#rule-counts tbody tr")]
    return {rule: (int(count), share) for rule, count, share in cells}


def test_what_is_wrong_stands_on_top(ailing, mock, browser):  # noqa: F811
    browser.sign_in(ailing)
    browser.wait(lambda: browser.find("#health").text == "✓ Takes traffic")
    for _ in range(6):
        assert ailing.call("POST", "/dead/x", {"mail": MAIL}).status in (502, 503)
    assert ailing.call("GET", "/nowhere").status == 404
    assert ailing.call("GET", "/private/x").status == 401
    said = r"✕ 1 of 2 upstreams fails: dead, (\d+) of \1 attempts in the last 5 minutes"
    browser.wait(lambda: re.match(said, browser.find("#health").text))
    dead = next(row.text for row in browser.all("#upstream-states tbody tr") if row.text.startswith("dead"))
    assert "✕ fails" in dead and "no breaker" not in dead and "not checked" in dead
    # What was refused is drawn with its reason, whoever refused it.
    legend = chart(browser, "fault")[1]
    assert "no route" in legend and "unauthorized" in legend and "connect" in legend, legend
    assert re.fullmatch(r"[\d.]+ %", browser.find("#tile-errors").text)
    assert "no route" in chart(browser, "route")[1]
    failed = next(row for row in browser.all("#recent tbody tr") if "dead" in row.text)
    assert "✕ 50" in failed.text and "✓ redacted" not in failed.text
    # The whole row opens; what was not taken has no cost.
    failed.find_elements("css selector", "td")[3].click()
    details = browser.find(".details").text
    assert "no price is known" not in details and "attempt" in details and "Nothing was found" not in details
    # A configuration that cannot be used is told, too, with the way to the reason.
    whole = ailing.file.read_text()
    ailing.file.write_text(whole + "\n[limits]\nhed = '1KiB'\n")
    os.kill(ailing.process.pid, signal.SIGHUP)
    browser.wait(lambda: "! The changed configuration file is not in use" in browser.find("#health").text)
    assert browser.find("#health a").get_attribute("href").endswith("/configuration")
    ailing.file.write_text(whole)
    os.kill(ailing.process.pid, signal.SIGHUP)
    browser.wait(lambda: "configuration" not in browser.find("#health").text)
    assert browser.complaints() == []


def test_an_opened_request_leads_on(ailing, mock, browser):  # noqa: F811
    made = run("tokens", "create", "-c", ailing.file, "--name", "the <i>caller</i>").out.strip()
    browser.sign_in(ailing, service="viewer")
    body = {"mail": MAIL, "card": "4111 1111 1111 1111"}
    ailing.call("POST", "/private/x", body, {"authorization": "Bearer " + made})
    mine = browser.wait(lambda: [row for row in browser.all("#recent tbody tr") if "private" in row.text and "401" not in row.text])[0]
    assert re.search(r"\d+: \w+, \w+", mine.text) and "EMAIL_ADDRESS" in mine.text
    mine.click()
    links = {link.text: link.get_attribute("href") for link in browser.all(".details a")}
    assert links["EMAIL_ADDRESS"] == browser.origin + "/rules/EMAIL_ADDRESS"
    assert links["the playground"] == browser.origin + "/playground?route=private"
    named = browser.wait(lambda: [link for link in browser.all(".details dd a") if link.text == "the <i>caller</i>"])
    assert "/tokens/pti_" in named[0].get_attribute("href") and "Texts are not kept" in browser.find(".details").text
    assert "replaced, in the request and its answer together; " in browser.find(".details").text
    # Rules stand before the facts.
    order = browser.driver.execute_script("return [...document.querySelectorAll('.details .counts, .details dl')].map((e) => e.className)")
    assert order == ["counts", "facts"]
    browser.wait(lambda: "EMAIL_ADDRESS" in counted(browser))
    assert all(count > 0 and share.endswith(" %") for count, share in counted(browser).values())
    browser.driver.get(links["EMAIL_ADDRESS"])
    assert browser.find("h1").text == "EMAIL_ADDRESS"
    size = browser.driver.execute_script("return getComputedStyle(document.querySelector('h1')).fontSize")
    assert float(size.removesuffix("px")) > 20


def test_what_comes_is_counted_over_the_chosen_range(upstream, mock, browser):  # noqa: F811
    with Gateway(upstream.url, config=CONFIG) as running:
        browser.sign_in(running)
        browser.wait(lambda: browser.find("#tile-requests").text == "0")
        talk(running, 7)
        browser.wait(lambda: browser.find("#tile-requests").text == "7")
        assert browser.find("#tile-errors").text == "0.0 %" and browser.find("#more-errors").text == "0 of 7"
        assert re.fullmatch(r"[\d.]+ m?s", browser.find("#tile-latency").text)
        assert re.fullmatch(r"\$\d+\.\d{4}", browser.find("#tile-cost").text)
        assert float(browser.find("#tile-cost").get_attribute("title")[1:]) > 0
        browser.find("#range option[value='720']").click()
        assert browser.find("#tile-requests").text == "7"
        assert sum(count for count, _ in counted(browser).values()) == int(browser.find("#tile-findings").text)


def test_one_answer_has_a_hundred_requests_and_more_are_a_button(upstream, mock, browser):  # noqa: F811
    with Gateway(upstream.url, config=CONFIG) as running:
        for _ in range(130):
            assert running.call("GET", "/nowhere").status == 404
        browser.sign_in(running)
        browser.wait(lambda: browser.find("#count").text == "100 of 130")
        first = browser.get("/live/requests.json")
        assert len(first) < 50_000 and "null" not in first
        listed = json.loads(first)
        assert (listed["kept"], len(listed["requests"])) == (130, 100)
        numbers = [one["n"] for one in listed["requests"]]
        assert numbers == list(range(numbers[0], numbers[0] + 100))
        older = json.loads(browser.get("/live/requests.json?before=%d" % numbers[0]))
        assert [one["n"] for one in older["requests"]] == list(range(1, numbers[0]))
        browser.find("#more").click()
        browser.wait(lambda: browser.find("#count").text == "130 of 130")
        assert len(rows(browser)) == 130 and not browser.find("#more").is_displayed()
        # More than one answer holds, while the page looks away: no hole is shown.
        browser.find("#pause").click()
        for _ in range(120):
            running.call("GET", "/nowhere")
        browser.find("#pause").click()
        browser.wait(lambda: re.fullmatch(r"\d+ of 250", browser.find("#count").text))
        times = [row.text.split()[0] for row in browser.all("#recent tbody tr")]
        assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("width", [360, 768, 1000, 1440])
def test_an_opened_request_is_seen_where_it_is(gateway, mock, browser, width):  # noqa: F811
    """The last row opens within the list, with the way to the playground, and no wider than the list is."""
    talk(gateway, 16)
    browser.sign_in(gateway)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.wait(lambda: len(rows(browser)) >= 16)
    browser.all("#recent tbody button")[-1].click()
    edges = """
        const edges = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom].map(Math.round) };
        const details = document.querySelector(".details");
        const link = [...details.querySelectorAll("a")].find((one) => one.textContent === "the playground");
        const head = document.querySelector("#recent thead th").getBoundingClientRect();
        return [".scroll.tall", ".details .pair"].map((one) => edges(document.querySelector(one))).concat([edges(link), head.bottom])"""
    box, pair, link, head = browser.driver.execute_script(edges)
    assert pair[0] >= box[0] and pair[2] <= box[2], (box, pair)
    assert link[1] >= head and link[3] <= box[3] and link[3] <= 900, (box, link)


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_jumps_while_it_loads(ailing, mock, browser, width):  # noqa: F811
    browser.sign_in(ailing, path="/docs")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    talk(ailing, 3)
    browser.driver.get(browser.origin + "/live")
    browser.wait(lambda: len(rows(browser)) >= 3 and "…" not in browser.find("#health").text)
    browser.wait(lambda: "chat" in chart(browser, "route")[1])
    shifts = browser.driver.execute_async_script(
        "const done = arguments[0]; let sum = 0; const observer = new PerformanceObserver((list) => {"
        " for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value });"
        " observer.observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 1000)"
    )
    assert shifts < 0.1


def test_without_a_session_there_are_no_figures(gateway):
    for path in ("/live/figures.json", "/live/requests.json"):
        answer = gateway.call("GET", path, port=gateway.admin)
        assert answer.status == 401 and answer.json() == {"error": "Sign in first."}
    assert "Sign in" in gateway.call("GET", "/live", port=gateway.admin).body.decode()


def test_long_figures_are_compressed_for_whoever_can_read_that(gateway):
    talk(gateway, 40)
    visitor = Visitor(gateway).sign_in()
    plain = visitor.get("/live/requests.json")
    assert len(plain.body) > 4096 and "content-encoding" not in plain.headers
    for accepted, packed in [("gzip, deflate, br, zstd", True), ("gzip;q=0", False), ("br", False)]:
        answer = visitor.get("/live/requests.json", **{"accept-encoding": accepted})
        assert answer.headers["vary"] == "Accept-Encoding" and int(answer.headers["content-length"]) == len(answer.body)
        assert (answer.headers.get("content-encoding") == "gzip") is packed
        body = gzip.decompress(answer.body) if packed else answer.body
        assert json.loads(body)["requests"][-1] == json.loads(plain.body)["requests"][-1]
        assert not packed or len(answer.body) * 4 < len(body)
    # A page has what guards its forms, which its compressed size would tell of.
    assert "content-encoding" not in visitor.get("/tokens", **{"accept-encoding": "gzip"}).headers
