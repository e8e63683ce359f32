"""The command line: the secrets that a command needs, and what a log of JSON holds."""

import json
import re
import signal

from gateway import Gateway, run

DONE, FAILED, USAGE, CONFIG = 0, 1, 2, 3


SECRETS = '''
data = "data"
[vault]
master_key = {{ env = "MASTER_KEY" }}
[upstreams.openai]
peers = ["https://127.0.0.1:1"]
headers = {{ authorization = {{ env = "OPENAI_KEY" }}, x-other = {{ file = "none.key" }} }}
[sanitize.intel.remote.vendor]
url = "https://127.0.0.1:1/"
headers = {{ x-key = {{ env = "VENDOR_KEY" }} }}
[blobs.s3]
bucket = "b"
region = "r"
access_key = {{ env = "S3_ACCESS" }}
secret_key = {{ env = "S3_SECRET" }}
[[routes]]
name = "all"
upstream = "openai"
auth = "none"
'''.replace("{{", "{").replace("}}", "}")


def test_a_command_needs_only_the_secrets_it_uses(tmp_path):
    file = tmp_path / "gateway.toml"
    file.write_text(SECRETS)
    names = ["MASTER_KEY", "OPENAI_KEY", "VENDOR_KEY", "S3_ACCESS", "S3_SECRET"]
    checked = run("check", "-c", file)
    assert (checked.returncode, checked.out) == (DONE, "%s: no problems\n" % file), checked.err
    told = checked.err.splitlines()
    assert len(told) == 6 and all(re.match(r"%s:\d+:\d+: .*\(`serve` needs it\)$" % re.escape(str(file)), line) for line in told)
    assert all("`%s` is not set" % name in checked.err for name in names)
    for strict in (run("check", "--secrets", "-c", file), run("serve", "-c", file)):
        assert (strict.returncode, strict.out) == (CONFIG, "") and len(strict.err.splitlines()) == 6
    assert not (tmp_path / "data").exists()
    made = run("tokens", "create", "-c", file)
    assert made.returncode == DONE and re.fullmatch(r"pts_[a-z2-7]{32}\n", made.out), made.err
    assert run("tokens", "list", "-c", file).returncode == DONE
    assert run("redact", "-c", file, stdin="a@harbour-post.com\n").out == "<EMAIL_ADDRESS>\n"
    assert '"EMAIL_ADDRESS"' in run("detect", "-c", file, stdin="a@harbour-post.com\n").out
    # The vault's key is needed where the vault is used.
    for command in (["keys", "list"], ["redact", "--context", tmp_path / "undo"]):
        done = run(*command, "-c", file, stdin="x\n")
        assert done.returncode == CONFIG and "`MASTER_KEY`" in done.err and len(done.err.splitlines()) == 1, done.err
    # What is wrong is wrong, whoever reads it.
    file.write_text(SECRETS + "surprise = 1\n")
    assert run("tokens", "create", "-c", file).returncode == CONFIG and run("check", "-c", file).returncode == CONFIG


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_log_of_json_has_nothing_else(mock, tmp_path):
    with Gateway(mock.url) as running:
        assert running.call("POST", "/v1/chat/completions", {"model": "plain", "messages": []}).status in (200, 400)
        assert running.call("GET", "/nowhere").status == 404
        running.write(running.config + "surprise = 1\n")
        running.process.send_signal(signal.SIGHUP)
        running.wait_for(lambda: any("surprise" in line for line in running.log))
        running.stop()
        lines = json_lines("\n".join(running.log))
        assert all({"timestamp", "level", "target", "message"} <= set(line) for line in lines)
        said = " ".join(line["message"] for line in lines)
        assert "listening on 127.0.0.1:%d" % running.port in said and "first API token" in said
        assert running.out == [running.token] and running.token not in "\n".join(running.log)
    logs = '[log]\nformat = "json"\n'
    for config, code in [
        (logs + "surprise = 1\n", CONFIG),
        (logs + "[[routes]]\nname = 1\n[[routes\n", CONFIG),
        (logs + '[vault]\nmaster_key = { env = "NOT_SET_ANYWHERE" }\n', CONFIG),
        (logs + 'data = "file"\n', FAILED),
    ]:
        file = tmp_path / "wrong.toml"
        file.write_text(config if "data =" not in config else 'data = "file"\n' + logs)
        (tmp_path / "file").write_text("")
        done = run("serve", "-c", file)
        assert (done.returncode, done.out) == (code, ""), done.err
        lines = json_lines(done.err)
        assert lines and all(line["level"] == "ERROR" for line in lines)
