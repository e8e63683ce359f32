"""A real browser before the console: Chromium, with a profile of its own, that talks to nobody but the gateway."""

import json
import shutil
import tempfile
import urllib.parse

import pytest
from gateway import PATIENCE, run
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Browser:
    """One window; a context manager. `driver` is selenium's."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="portcullis-browser-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in [*FLAGS, "--user-data-dir=" + self.profile.name]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        return self

    def __exit__(self, *_):
        self.driver.quit()
        self.profile.cleanup()

    def sign_in(self, gateway, service="admin", path="/"):
        """Makes a token and signs in with it, as a person would; goes to `path`."""
        made = run("tokens", "create", "-c", gateway.file, "--name", "me", "--service", service)
        assert made.returncode == 0, made.err
        self.origin = "http://127.0.0.1:%d" % gateway.admin
        self.driver.get(self.origin + path)
        self.find("#token").send_keys(made.out.strip())
        self.find("form button").click()
        self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, ".side"))
        return self

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, condition, seconds=30):
        """Until something is true; its value."""
        return WebDriverWait(self.driver, seconds * PATIENCE, poll_frequency=0.1).until(lambda _: condition())

    def source(self):
        """What stands on the page now."""
        return self.driver.execute_script("return document.documentElement.outerHTML")

    def get(self, path):
        """What the gateway answers this page's script."""
        return self.driver.execute_async_script(
            "const [path, done] = arguments; fetch(path).then((answer) => answer.text()).then(done)", path
        )

    def complaints(self):
        """What the browser's console says: errors of scripts, and what the page's policy has stopped."""
        return [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def hosts(browser):
    """The hosts that were asked since the last look, without those of the browser's own pages."""
    asked = set()
    for entry in browser.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = urllib.parse.urlsplit(message["params"]["request"]["url"])
            asked |= {url.netloc} if url.scheme.startswith("http") else set()
    return asked


@pytest.fixture
def browser():
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("there is no chromium with its chromedriver")
    with Browser() as window:
        yield window
