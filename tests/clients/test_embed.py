"""The example of a server that embeds the chain: its upstream sees no value, its caller reads their own."""

import re
import subprocess
import time

import openai
import pytest
import requests
from gateway import BINARY, ROOT, environment, free_ports, text_line

EXAMPLE = BINARY.parent / "examples/embed"
MAIL = "maria.lopez+rx@clinic-mail.com"
ASK = [{"role": "user", "content": "Sum up. EMAIL: %s | done" % MAIL}]


@pytest.fixture(scope="module")
def server(upstream, tmp_path_factory):
    """The example, with the configuration that lies beside it."""
    assert EXAMPLE.is_file(), "%s is not there: cargo build --examples" % EXAMPLE
    home = tmp_path_factory.mktemp("embed")
    config = home / "embed.toml"
    config.write_text('data = "data"\n' + (ROOT / "examples/embed.toml").read_text())
    [port] = free_ports(1)
    command = [EXAMPLE, "127.0.0.1:%d" % port, "127.0.0.1:%d" % upstream.port, config]
    log = open(home / "log", "w+b")
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(), cwd=home)
    try:
        until_ready(process, port, home / "log")
        yield "http://127.0.0.1:%d/v1" % port
    finally:
        process.kill()
        process.wait()


def until_ready(process, port, log):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            client(port).models.list()
        except openai.APIConnectionError:
            time.sleep(0.1)
        except openai.APIStatusError:
            return
    pytest.fail("it never answered: " + log.read_text())


def client(port_or_url):
    url = port_or_url if isinstance(port_or_url, str) else "http://127.0.0.1:%d/v1" % port_or_url
    return openai.OpenAI(base_url=url, api_key="sk-caller", max_retries=0, timeout=20)


def seen(mock):
    """The one chat that the upstream got."""
    [came] = [one for one in mock.requests if one.path.endswith("/chat/completions")]
    assert MAIL not in came.everything() and "clinic-mail" not in came.everything()
    assert re.search(r"EMAIL: \S+@\S+ \|", came.json()["messages"][0]["content"])
    headers = {name.lower(): value for name, value in came.headers}
    assert headers["x-mine"] == "my own filter was here"
    assert headers["authorization"] == "Bearer sk-caller"
    return came


def test_a_chat_is_redacted_and_restored(server, mock):
    answer = client(server).chat.completions.create(model="plain", messages=ASK)
    assert MAIL in answer.choices[0].message.content
    seen(mock)


def test_a_streamed_chat_too(server, mock):
    stream = client(server).chat.completions.create(model="plain", messages=ASK, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert MAIL in text
    seen(mock)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/pictures/1"])
def test_whom_the_server_refuses_stays_outside(server, mock, path):
    """Both of what is collected and of what passes as it comes, in `proxy_upstream_filter`."""
    url = server.removesuffix("/v1") + path
    body, headers = {"model": "plain", "messages": ASK}, {"x-refused": "yes"}
    for method in "POST", "GET":
        answer = requests.request(method, url, json=body if method == "POST" else None, headers=headers, timeout=20)
        assert answer.status_code == 502, answer.text
    assert mock.requests == []
    requests.post(url, json=body, timeout=20)
    assert len(mock.requests) == 1, "others go on"


def test_what_no_route_takes_does_not_pass(server, mock):
    with pytest.raises(openai.NotFoundError):
        client(server.removesuffix("/v1") + "/other").chat.completions.create(model="plain", messages=ASK)
    assert mock.requests == []


def test_the_api_comes_with_it_and_can_be_left_out(upstream, tmp_path):
    example = (ROOT / "examples/embed.toml").read_text()
    for enabled, status in ("true", 401), ("false", 404):
        config = tmp_path / "embed.toml"
        config.write_text('data = "data"\n[api]\nenabled = %s\n%s' % (enabled, example))
        [port] = free_ports(1)
        command = [EXAMPLE, "127.0.0.1:%d" % port, "127.0.0.1:%d" % upstream.port, config]
        with open(tmp_path / "log", "w+b") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(), cwd=tmp_path)
        try:
            until_ready(process, port, tmp_path / "log")
            url = "http://127.0.0.1:%d" % port
            assert requests.post(url + "/v2/list", json={}, timeout=20).status_code == status
            for path in "/healthz", "/readyz":
                assert requests.get(url + path, timeout=20).status_code == 200, path
        finally:
            process.kill()
            process.wait()


def test_the_gateway_itself_has_no_such_end(tmp_path):
    config = tmp_path / "portcullis.toml"
    config.write_text('data = "data"\n[[listen]]\naddress = "127.0.0.1:0"\n' + (ROOT / "examples/embed.toml").read_text())
    done = subprocess.run([BINARY, "serve", "-c", config], capture_output=True, timeout=60, env=environment())
    assert done.returncode != 0 and "there is no server that embeds this one" in text_line(done.stderr)


def test_the_example_is_short():
    """Under forty lines of code, without imports, comments and blank lines."""
    lines = [line.strip() for line in (ROOT / "examples/embed.rs").read_text().splitlines()]
    code = [line for line in lines if line and not line.startswith(("//", "use "))]
    assert len(code) < 40, len(code)
