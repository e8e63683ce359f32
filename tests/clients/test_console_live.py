"""The console's first page in a real browser, while the real OpenAI client talks through the gateway."""

import json
import re

import openai
import pytest
from browser import browser, hosts  # noqa: F401
from gateway import Gateway

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
    assert "closed" in browser.find("#upstream-states").text
    # Details of one: counts by rule, and what was asked of whom.
    browser.find("#recent tbody button").click()
    details = browser.find(".details").text
    assert "EMAIL_ADDRESS" in details and "prq_" in details and "mock, 1 attempt" in details and "Each place counts" in details
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


def test_without_a_session_there_are_no_figures(gateway):
    for path in ("/live/figures.json", "/live/requests.json"):
        answer = gateway.call("GET", path, port=gateway.admin)
        assert answer.status == 401 and answer.json() == {"error": "Sign in first."}
    assert "Sign in" in gateway.call("GET", "/live", port=gateway.admin).body.decode()
