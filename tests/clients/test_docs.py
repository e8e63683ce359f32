"""The README and `docs`, as somebody would follow them: what stands in a block of commands runs as it stands.

Blocks of `sh`, `python` and `console` run here, with the gateway's address in place of the documented one, unless a
comment behind the block says `<!-- not run: … -->` and why. What a `console` block shows of an answer is compared, and `…`
stands for anything.
"""

import os
import re
import subprocess
import sys

import pytest
from gateway import BINARY, CONFIG, ROOT, Gateway, environment, run
from mock_upstream import Mock

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(sh|python|console)\n(.*?)^```\n(<!-- not run: .+? -->\n)?", re.M | re.S)

# What the pages have beside the routes of all tests: the whole of /v1 to one upstream, and a route that asks for a token.
ROUTES = """
[[routes]]
name = "chat"
path = "/chat"
upstream = "mock"
auth = "token"

[[routes]]
name = "openai"
path = "/v1"
upstream = "mock"
auth = "none"
redact = {{}}
"""

# Files that commands name.
FILES = {
    "in.txt": "Mail jane.doe@example.com\n",
    "users.json": '{"users": [{"email": "jane.doe@example.com"}]}\n',
}

VALUES = ("jane.doe@example.com", "4111 1111 1111 1111")


def blocks():
    """Every block that is to run, by page and line."""
    for page in PAGES:
        text = page.read_text()
        for found in BLOCK.finditer(text):
            if not found[3]:
                line = text[: found.start()].count("\n") + 1
                yield pytest.param(found[1], found[2], id="%s:%d" % (page.name, line))


@pytest.fixture(scope="module")
def upstream():
    with Mock() as mock:
        yield mock


@pytest.fixture(scope="module")
def documented(upstream):
    with Gateway(upstream.url, CONFIG + ROUTES) as running:
        yield running


@pytest.fixture
def place(documented, tmp_path):
    """A folder with what commands name, and an environment in which they find the binary, the store and the token."""
    from reportlab.pdfgen.canvas import Canvas

    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    letter = Canvas(str(tmp_path / "letter.pdf"))
    letter.drawString(72, 720, "Mail jane.doe@example.com")
    letter.save()
    for name in ("conf", "examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "portcullis").symlink_to(BINARY)
    log = tools / "kubectl"
    log.write_text("#!/bin/sh\necho Mail jane.doe@example.com\n")
    log.chmod(0o755)
    # The stored config that pages name, and the key.
    config = documented.api("/v1beta/config/create", {"name": tmp_path.name}).json()["result"]["id"]
    key = run("keys", "generate", "--algorithm", "ES256", "--config-file", documented.file).out.strip()
    more = {"PATH": "%s:%s" % (tools, os.environ["PATH"]), "TOKEN": documented.token, "OPENAI_API_KEY": "sk-caller"}
    more |= {"PORTCULLIS_CONFIG": str(documented.file)}

    def call(command, text):
        text = text.replace("http://127.0.0.1:8080", documented.url).replace("127.0.0.1:9180", "127.0.0.1:%d" % documented.admin)
        text = re.sub(r"\bpci_[a-z2-7]{32}\b", config, text)
        text = re.sub(r"(?<=portcullis keys )(\w+) ID\b", r"\1 " + key, text)
        return subprocess.run([*command, text], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment() | more)

    return call


def expected(shown):
    """A pattern of what a block shows: `…` is anything, and each gateway has an address of its own."""
    shown = re.sub(r"(?<=http://127\.0\.0\.1:)8080", "…", shown.strip())
    return re.compile(".*".join(map(re.escape, shown.split("…"))), re.S)


def test_every_curl_that_sends_json_says_so():
    """Also of blocks that do not run here."""
    files = [*PAGES, *(ROOT / "examples").rglob("*.sh"), *(ROOT / "examples").rglob("*.md")]
    for file in files:
        text = file.read_text().replace("\\\n", " ")
        for command in re.findall(r"^.*\bcurl\b.*$", text, re.M):
            if re.search(r" (-d|--data|--data-raw|--data-binary)\b", command):
                assert re.search(r"content-type:", command, re.I), "%s: %s" % (file.name, command)


@pytest.mark.parametrize(("language", "text"), list(blocks()))
def test_it_runs_as_it_stands(place, upstream, language, text):
    upstream.forget()
    if language == "console":
        for command, shown in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
            done = place(["bash", "-euo", "pipefail", "-c"], command)
            assert done.returncode == 0, done.stdout + done.stderr
            assert expected(shown).fullmatch(done.stdout.strip()), done.stdout
    else:
        # Of a pipeline, every part.
        done = place(["bash", "-euo", "pipefail", "-c"] if language == "sh" else [sys.executable, "-c"], text)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout or done.stderr, "it says nothing"
        assert '"status":"' not in done.stdout or '"status":"success"' in done.stdout, done.stdout
    for request in upstream.requests:
        assert not any(value in request.everything() for value in VALUES), request


def test_the_command_line_is_described():
    """Every command that there is, and none that there is not."""
    there = set(re.findall(r"^  (\w+) ", run("--help").out.split("Commands:")[1].split("Options:")[0], re.M))
    for page in PAGES:
        text = page.read_text()
        named = set(re.findall(r"^(?:\$ )?portcullis (\w+)|[`|&] ?portcullis (\w+)", text, re.M))
        named = {one or other for one, other in named}
        assert named <= there, page
        if page.name == "operations.md":
            assert named == there
    assert len(there) > 10
