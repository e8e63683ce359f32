"""The command line: results on standard output, messages on standard error, exit codes, and nothing else."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading

import pytest
from gateway import CONFIG as WHOLE
from gateway import BINARY, ROOT, Gateway, environment, run

DONE, FAILED, USAGE, CONFIG = 0, 1, 2, 3

TEXT = "ts=1 mail=jane.doe@harbour-post.com\r\nts=2 card 4111 1111 1111 1111, ssn 536-22-8726\nGrüße, order 1001\n"
CLEAN = "ts=1 mail=<EMAIL_ADDRESS>\r\nts=2 card <CREDIT_CARD>, ssn <US_SSN>\nGrüße, order 1001\n"


def test_redact_from_standard_input():
    done = run("redact", stdin=TEXT)
    assert (done.returncode, done.out, done.err) == (DONE, CLEAN, "")
    assert run("redact", "-", stdin=TEXT).out == CLEAN


def test_redact_a_file(tmp_path):
    file = tmp_path / "log.txt"
    file.write_text(TEXT, newline="")
    assert run("redact", file).out == CLEAN
    assert run("redact", "--rule", "CREDIT_CARD", file).out == TEXT.replace("4111 1111 1111 1111", "<CREDIT_CARD>")
    masked = run("redact", "--method", "mask", file).out
    assert len(masked) == len(TEXT) and "jane" not in masked and "ts=2 card *" in masked


OWN = """
[[detect.rule]]
name = "ACME_PROJECT"
literals = ["Project Heron"]
[[detect.allow]]
values = ["jane.doe@harbour-post.com"]
"""


def test_redact_finds_what_the_configuration_says(tmp_path):
    own, text = tmp_path / "own.toml", "Project Heron, jane.doe@harbour-post.com, ann@harbour-post.com\n"
    own.write_text(OWN)
    clean = "<ACME_PROJECT>, jane.doe@harbour-post.com, <EMAIL_ADDRESS>\n"
    assert run("redact", "-c", own, stdin=text).out == clean
    document = run("redact", "-c", own, "--json", stdin=json.dumps({"a": text}))
    assert json.loads(document.out) == {"a": clean}
    assert run("redact", "-c", own, "--rule", "ACME_PROJECT", stdin=text).out == text.replace("Project Heron", "<ACME_PROJECT>")
    hidden = run("redact", "-c", own, "--context", tmp_path / "undo", stdin=text)
    assert "Heron" not in hidden.out and "jane.doe" in hidden.out, hidden.err
    assert run("unredact", "-c", own, "--context", tmp_path / "undo", stdin=hidden.out).out == text
    missing = run("redact", "-c", tmp_path / "none.toml", stdin=text)
    assert (missing.returncode, missing.out) == (CONFIG, "") and "none.toml" in missing.err
    unknown = run("redact", "--rule", "ACME_PROJECT", stdin=text)
    assert (unknown.returncode, unknown.out) == (USAGE, "") and "`ACME_PROJECT`" in unknown.err


THRESHOLD = OWN + '''
[[detect.allow]]
rules = ["CREDIT_CARD"]
values = ["4111 1111 1111 1111"]
'''


@pytest.mark.parametrize("option", [["-c"], ["--config"], ["--config-file"], ["PORTCULLIS_CONFIG"]])
def test_redact_and_detect_read_the_same_configuration(tmp_path, option):
    own, text = tmp_path / "own.toml", "Project Heron, 4111 1111 1111 1111, 4242 4242 4242 4242, ann@harbour-post.com\n"
    own.write_text(THRESHOLD)

    def tried(*args):
        env = environment() | ({option[0]: str(own)} if "_" in option[0] else {})
        args = [BINARY, *args] + ([] if "_" in option[0] else [*option, own])
        done = subprocess.run(args, input=text.encode(), capture_output=True, env=env, timeout=60)
        assert done.returncode == DONE, done.stderr
        return done.stdout.decode()

    for chosen in ([], ["--rules", "ACME_PROJECT,CREDIT_CARD"], ["--rule", "ACME_PROJECT", "--rule", "CREDIT_CARD"], ["--rulesets", "finance"]):
        found = [json.loads(line) for line in tried("detect", "--show", *chosen).splitlines()]
        expected = text
        for one in found:
            expected = expected.replace(one["value"], "<%s>" % one["rule"])
        assert tried("redact", *chosen) == expected
        assert ("ACME_PROJECT" in expected) == ("--rulesets" not in chosen) and "4111 1111 1111 1111" in expected


def test_redact_passes_what_is_not_text():
    data = b"\xff\x00 jane.doe@harbour-post.com \xfe"
    assert run("redact", stdin=data).stdout == b"\xff\x00 <EMAIL_ADDRESS> \xfe"


def test_detect_reports_places_and_not_values(tmp_path):
    file = tmp_path / "log.txt"
    file.write_text(TEXT, newline="")
    done = run("detect", file)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [(one["line"], one["column"], one["rule"]) for one in found] == [
        (1, 11, "EMAIL_ADDRESS"),
        (2, 11, "CREDIT_CARD"),
        (2, 36, "US_SSN"),
    ]
    assert done.returncode == DONE and "jane" not in done.out and "4111" not in done.out
    shown = run("detect", "--show", "--as", "family", "--rulesets", "finance", stdin=TEXT).out
    assert [json.loads(line)["value"] for line in shown.splitlines()] == ["4111 1111 1111 1111"]


def test_detect_rows_in_code_points():
    rows = '{"id": 7, "text": "é a@harbour-post.com"}\nnot a row: jane\n{"id": "x", "text": ""}\n'
    done = run("detect", "--jsonl", stdin=rows)
    span = {"start": 2, "end": 20, "entity": "EMAIL_ADDRESS", "score": 1.0}
    assert [json.loads(line) for line in done.out.splitlines()] == [{"id": 7, "spans": [span]}, {"id": "x", "spans": []}]
    assert done.returncode == FAILED and "-:2: " in done.err and "jane" not in done.err


def test_rules_are_listed_and_tested(tmp_path):
    rows = [json.loads(line) for line in run("rules", "list", "--rulesets", "all", "--json").out.splitlines()]
    assert {"US_SSN", "EMAIL_ADDRESS"} <= {row["name"] for row in rows}
    assert "POMS" in run("rules", "show", "US_SSN").out
    file = tmp_path / "mine.toml"
    rule = "# ours\n[[rule]]\nname = 'ACME_ID'\npatterns = [{ regex = 'ACME-\\d{6}' }]\nmatches = ['«ACME-12345%s»']\n"
    file.write_text(rule % "6")
    assert run("rules", "test", file).returncode == DONE
    file.write_text(rule % "")
    failed = run("rules", "test", file)
    assert failed.returncode == FAILED and f"{file}:2: example 1 of `matches`" in failed.err
    assert run("detect", "--rulesets", "narnia", stdin="").returncode == USAGE


def test_redact_and_back(tmp_path):
    place = ("--data", tmp_path / "data", "--context", tmp_path / "context")
    hidden = run("redact", *place, stdin=TEXT)
    assert hidden.returncode == DONE and "order 1001" in hidden.out
    assert not any(value in hidden.out for value in ("jane.doe", "4111 1111 1111 1111", "536-22-8726"))
    shown = run("unredact", *place, stdin="Re: " + hidden.out)
    assert (shown.returncode, shown.out) == (DONE, "Re: " + TEXT)
    assert b"jane.doe" not in (tmp_path / "context").read_bytes()
    assert run("unredact", "--data", tmp_path / "other", "--context", tmp_path / "context").returncode == FAILED


def test_redact_a_document_and_back(tmp_path):
    text = '{"users": [{"email": "jane.doe@harbour-post.com", "n": 1.50}], "note": "jane.doe@harbour-post.com"}\n'
    chosen = run("redact", "--json", "--jsonp", "$.users[*].email", stdin=text)
    assert chosen.out == text.replace("jane.doe@harbour-post.com", "<EMAIL_ADDRESS>", 1)
    way = ["--context", tmp_path / "way", "--data", tmp_path / "data"]
    hidden = run("redact", "--json", *way, stdin=text)
    assert hidden.returncode == 0 and "jane" not in hidden.out and '"n": 1.50' in hidden.out
    assert run("unredact", *way, stdin=hidden.out).out == text
    email = json.loads(hidden.out)["note"]
    assert run("unredact", *way, stdin=f"Write to {email}!").out == "Write to jane.doe@harbour-post.com!"
    for bad, why in [(["--jsonp", "$.["], "path 1 is not a JSONPath query"), ([], "not valid JSON at byte")]:
        refused = run("redact", "--json", *bad, stdin="{" if not bad else text)
        assert refused.returncode != 0 and why in refused.err and not refused.out


def test_redact_does_not_overwrite(tmp_path):
    (tmp_path / "context").write_text("mine")
    done = run("redact", "--data", tmp_path / "data", "--context", tmp_path / "context", stdin=TEXT)
    assert (done.returncode, done.out) == (FAILED, "") and done.err
    assert (tmp_path / "context").read_text() == "mine"


def test_redact_gives_nothing_whose_way_back_cannot_be_written(tmp_path):
    for more in [], ["--json"]:
        done = run("redact", *more, "--data", tmp_path / "data", "--context", tmp_path / "none/undo", stdin='"%s"' % TEXT)
        assert (done.returncode, done.out) == (FAILED, "")
        assert done.err == "portcullis: %s: there is no such file or folder\n" % (tmp_path / "none/undo")


def test_sanitize_replaces_neither_the_original_nor_what_is_no_file(tmp_path):
    letter, pipe = tmp_path / "letter.txt", tmp_path / "pipe"
    letter.write_text(TEXT, newline="")
    os.mkfifo(pipe)
    os.symlink(letter, tmp_path / "link")
    for to, why in [(letter, "the original"), (tmp_path / "link", "the original"), (pipe, "not a file"), ("-", "needs a name")]:
        done = run("sanitize", letter, to, "--data", tmp_path / "data", cwd=tmp_path)
        assert done.returncode == USAGE and why in done.err, (to, done.err)
    assert letter.read_bytes() == TEXT.encode() and stat.S_ISFIFO(pipe.stat().st_mode) and not (tmp_path / "-").exists()
    assert run("sanitize", letter, tmp_path / "clean.txt", "--data", tmp_path / "data").returncode == DONE


def test_a_store_that_is_not_there_is_not_made_by_looking(tmp_path):
    for command in [["tokens", "list"], ["tokens", "revoke", "pti_" + "a" * 32], ["keys", "list"], ["keys", "rotate-master"]]:
        done = run(*command, "--data", tmp_path / "typo")
        assert (done.returncode, done.out) == (FAILED, "") and "there is no store here" in done.err, command
        assert not (tmp_path / "typo").exists()
    file = tmp_path / "data"
    file.write_text("")
    done = run("tokens", "create", "--data", file)
    assert (done.returncode, done.err) == (FAILED, "portcullis: %s: not a folder\n" % file)


def test_what_does_not_go_together_is_said(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text("")
    both = run("tokens", "list", "-c", file, "--data", tmp_path)
    assert both.returncode == USAGE and "--data" in both.err and "--config-file" in both.err
    hidden = subprocess.run(
        [BINARY, "tokens", "list", "-c", file], env=environment() | {"PORTCULLIS_DATA": "x"}, capture_output=True, text=True
    )
    assert hidden.returncode == USAGE and "PORTCULLIS_DATA" in hidden.stderr
    config = run("tokens", "create", "--config", file, "--data", tmp_path)
    assert (config.returncode, config.out) == (USAGE, "") and "--config-file names a configuration file" in config.err
    admin = run("serve", "-c", file, "--admin", "127.0.0.1:0")
    assert admin.returncode == USAGE and "[admin]" in admin.err


def test_a_file_that_is_not_there(tmp_path):
    done = run("redact", tmp_path / "none")
    assert (done.returncode, done.out) == (FAILED, "") and "none" in done.err


def listed(*place):
    """The tokens as the command line lists them, each by the heads of its columns."""
    head, *rows = [line.split("\t") for line in run("tokens", "list", *place).out.splitlines()]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_tokens(tmp_path):
    place = ("--data", tmp_path)
    made = run("tokens", "create", "--name", "ci", "--service", "redact", "--expires", "30d", *place)
    assert made.returncode == DONE and re.fullmatch(r"pts_[a-z2-7]{32}\n", made.out)
    [row] = listed(*place)
    assert (row["NAME"], row["SERVICES"], row["CONFIGS"], row["REVOKED"]) == ("ci", "redact", "all", "-")
    assert made.out.strip() not in row.values()
    revoked = run("tokens", "revoke", row["ID"], *place)
    assert (revoked.returncode, revoked.out) == (DONE, "")
    [row] = listed(*place)
    assert row["REVOKED"] != "-"
    assert made.out.strip().encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_tokens_while_the_server_runs(gateway):
    place = ("--config-file", gateway.file)
    call = lambda token: gateway.call("POST", "/v1/redact", {"text": "-"}, {"authorization": "Bearer " + token}).status
    token = run("tokens", "create", "--name", "short-lived", *place).out.strip()
    assert call(token) == 200
    mine = lambda: next(row for row in listed(*place) if row["NAME"] == "short-lived")
    gateway.wait_for(lambda: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", mine()["LAST USED"]), 10)
    assert int(re.search(r"^portcullis_active_tokens (\d+)", gateway.metrics(), re.M)[1]) >= 1
    assert run("tokens", "revoke", mine()["ID"], *place).returncode == DONE
    gateway.wait_for(lambda: call(token) == 401)


def test_a_token_for_another_service(gateway):
    token = run("tokens", "create", "--service", "vault", "--config-file", gateway.file).out.strip()
    answer = gateway.call("POST", "/v1/redact", {"text": "-"}, {"authorization": "Bearer " + token})
    assert (answer.status, answer.json()["status"]) == (403, "ServiceNotEnabled")


def test_the_data_folder_is_private(gateway):
    data = gateway.home / "data"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE((data / "master.key").stat().st_mode) == 0o600


FIVE_MISTAKES = """\
[limits]
body = 128

[upstreams.openai]
peers = ["ftp://api.example"]

[[routes]]
name = "a"
upstream = "opnai"
auth = "jwt"
redakt = {}
"""


def test_check_reports_everything_with_its_place(tmp_path):
    file = tmp_path / "five.toml"
    file.write_text(FIVE_MISTAKES)
    done = run("check", "-c", file)
    assert (done.returncode, done.out) == (CONFIG, "")
    places = re.findall(r"^%s:(\d+):(\d+): (.+)$" % re.escape(str(file)), done.err, re.M)
    assert [(int(line), int(column)) for line, column, _ in places] == [(2, 8), (5, 10), (9, 12), (10, 8), (11, 1)]
    assert "did you mean `openai`?" in done.err and "did you mean `redact`?" in done.err


@pytest.mark.parametrize("name", ["minimal.toml", "portcullis.toml", "providers.toml", "coding-agents.toml"])
def test_the_files_we_ship_are_right(name):
    done = run("check", "-c", ROOT / "conf" / name)
    assert (done.returncode, done.err) == (DONE, ""), done.err


def test_serve_refuses_what_check_refuses(tmp_path):
    file = tmp_path / "five.toml"
    file.write_text(FIVE_MISTAKES)
    done = run("serve", "-c", file)
    assert (done.returncode, done.out) == (CONFIG, "") and len(done.err.splitlines()) == 5


def test_check_reads_what_serve_reads(tmp_path):
    file, wrong = tmp_path / "tls.toml", tmp_path / "wrong.pem"
    wrong.write_text("no PEM")
    listen = '[[listen]]\naddress = "127.0.0.1:0"\ntls = { certificate = "wrong.pem", key = "wrong.pem" }\n'
    file.write_text(listen + '[upstreams.a]\npeers = ["https://127.0.0.1:1"]\ntls = { ca = "wrong.pem" }\n')
    done = run("check", "-c", file)
    assert (done.returncode, done.out) == (CONFIG, "")
    told = done.err.splitlines()
    assert len(told) == 2 and all(line.startswith("%s: %s: " % (file, wrong)) for line in told), told


def test_a_port_that_is_taken(gateway, tmp_path):
    done = run("serve", "--listen", "127.0.0.1:%d" % gateway.port, "--admin", "127.0.0.1:0", "--data", tmp_path)
    assert (done.returncode, done.out) == (FAILED, "") and str(gateway.port) in done.err
    # The first token is still to be shown.
    assert len(run("tokens", "list", "--data", tmp_path).out.splitlines()) == 1


def test_a_folder_that_somebody_serves_from(mock):
    places = ("--listen", "127.0.0.1:{port}", "--admin", "127.0.0.1:{admin}", "--data", "{home}", "--upstream", "{upstream}")
    with Gateway(mock.url, args=places) as first:
        second = run("serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", first.home)
        assert (second.returncode, second.out) == (FAILED, "") and "serves from here already" in second.err
        assert (first.home / "serve.pid").read_text() == "%d\n" % first.process.pid
        # A token of ours stays here, whatever path it is sent to; a key of the caller's travels on.
        for token, seen in [(first.token, None), ("pts_" + "a" * 32, "Bearer pts_" + "a" * 32), ("sk-1", "Bearer sk-1")]:
            mock.forget()
            first.call("POST", "/v1/redacted", {}, {"authorization": "Bearer " + token})
            (request,) = mock.requests
            heads = {name.lower(): value for name, value in request.headers}
            assert heads.get("authorization") == seen


@pytest.mark.parametrize("args", [[], ["serv"], ["serve", "--listen", "here"], ["tokens", "revoke", "x"]])
def test_a_wrong_command_line(args):
    done = run(*args)
    assert (done.returncode, done.out) == (USAGE, "") and done.err


def test_version_and_help():
    assert re.fullmatch(r"portcullis \d+\.\d+\.\d+\n", run("version").out)
    assert "Exit codes" in run("--help").out


def test_serve_without_a_file(mock):
    """The embedded default, with an upstream: what the quick start runs."""
    places = ("--listen", "127.0.0.1:{port}", "--admin", "127.0.0.1:{admin}", "--data", "{home}", "--upstream", "{upstream}")
    with Gateway(mock.url, args=places) as running:
        assert running.out == [running.token] and re.fullmatch(r"pts_[a-z2-7]{32}", running.token)
        ask = {"model": "plain", "messages": [{"role": "user", "content": "EMAIL: jane.doe@harbour-post.com |"}]}
        bearer = {"authorization": "Bearer sk-own"}
        answer = running.call("POST", "/v1/chat/completions", ask, bearer).json()
        assert "jane.doe@harbour-post.com" in answer["choices"][0]["message"]["content"]
        seen = mock.requests[-1].everything()
        assert "sk-own" in seen and "jane.doe" not in seen
        assert running.api("/v1/redact", {"text": "-"}).json()["status"] == "success"
        assert running.call("GET", "/readyz").status == 200 and len(mock.requests) == 1
        first = running.token
        running.restart()
        assert running.out == [first], "a second start must not make a second token"
        assert running.api("/v1/redact", {"text": "-"}).status == 200


def test_a_reload_changes_routes_and_survives_mistakes(mock):
    with Gateway(mock.url) as running:
        config = running.config
        assert running.call("GET", "/fixed").status == 418
        running.write(config.replace("status = 418", "status = 410"))
        running.process.send_signal(1)
        running.wait_for(lambda: running.call("GET", "/fixed").status == 410)
        running.write(config.replace("status = 418", 'status = "gone"'))
        running.process.send_signal(1)
        running.wait_for(lambda: [line for line in running.log if "not reloaded" in line])
        assert running.call("GET", "/fixed").status == 410


OWN_RULES = """
[detect]
rule_files = ["rules.d"]

[[detect.allow]]
values = ["Heron-7"]

[[detect.allow]]
pattern = '.*@example[.]org'
rules = ["EMAIL_ADDRESS"]
"""

OWN_RULE = """
[[rule]]
name = "ACME_PROJECT"
patterns = [{ regex = 'Heron-[0-9]' }]
matches = ["call it «Heron-1»"]
misses = ["call it Heron"]
"""


def test_rules_of_ones_own_are_there_after_a_reload(mock):
    text = "Heron-1, Heron-7, ann@example.com, bob@example.org"

    def seen(gateway, answer):
        told = gateway.api("/v1/redact", {"text": text}).json()["result"]["redacted_text"]
        masked = re.sub("<[A-Z_]+>", lambda _: "*", answer)
        sent = gateway.call("POST", "/generic/reflect", {"text": text}).json()["text"]
        return told == answer and re.sub(r"\*+", "*", sent) == masked

    def kept(gateway):
        lines = [json.loads(line) for line in gateway.log if "reloaded routes" in line]
        return [line["rules_kept"] for line in lines]

    # By signal alone, so that reloads can be counted.
    with Gateway(mock.url, WHOLE + "\n[reload]\nwatch = false\n") as gateway:
        gateway.wait_for(lambda: seen(gateway, "Heron-1, Heron-7, <EMAIL_ADDRESS>, <EMAIL_ADDRESS>"))
        rules = gateway.home / "rules.d"
        rules.mkdir()
        (rules / "acme.toml").write_text(OWN_RULE)
        gateway.config = gateway.config.replace("[limits]", OWN_RULES + "\n[limits]")
        gateway.write(gateway.config)

        tested = run("rules", "test", "-c", gateway.file)
        assert tested.returncode == 0 and "all hold" in tested.out, tested.err
        found = run("detect", "-c", gateway.file, "--show", stdin=text)
        assert [json.loads(line)["value"] for line in found.out.splitlines()] == ["Heron-1", "ann@example.com"]

        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_for(lambda: seen(gateway, "<ACME_PROJECT>, Heron-7, <EMAIL_ADDRESS>, bob@example.org"))
        assert 'rule="ACME_PROJECT"' in gateway.metrics()
        gateway.wait_for(lambda: kept(gateway) == [False])

        gateway.write(gateway.config.replace("status = 418", "status = 410"))
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_for(lambda: gateway.call("GET", "/fixed").status == 410)
        gateway.wait_for(lambda: kept(gateway) == [False, True])
        assert seen(gateway, "<ACME_PROJECT>, Heron-7, <EMAIL_ADDRESS>, bob@example.org")

        (rules / "acme.toml").write_text(OWN_RULE.replace("Heron-1", "Heron-A"))
        gateway.process.send_signal(signal.SIGHUP)
        told = "acme.toml:2: example 1 of `matches` is not found"
        gateway.wait_for(lambda: any(told in line for line in gateway.log))
        assert seen(gateway, "<ACME_PROJECT>, Heron-7, <EMAIL_ADDRESS>, bob@example.org")

        (rules / "acme.toml").unlink()
        gateway.reload("rules.d: it holds no rules, and the running configuration has some of it")
        assert seen(gateway, "<ACME_PROJECT>, Heron-7, <EMAIL_ADDRESS>, bob@example.org")
        gateway.write(gateway.config.replace('rule_files = ["rules.d"]', ""))
        gateway.reload("rules are gone: ACME_PROJECT")
        gateway.wait_for(lambda: seen(gateway, "Heron-1, Heron-7, <EMAIL_ADDRESS>, bob@example.org"))


def test_who_is_ready_accepts(mock):
    """The admin listener may be there first; it says 503 until the others are."""
    with Gateway(mock.url) as running:
        for _ in range(4):
            for port in (running.port, running.h2c):
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
            assert running.stop() == 0
            # Without a wait between two looks, and the first connections at once.
            running.start(every=0)
        assert running.call("GET", "/readyz").json() == {"status": "ready", "names_model": False}
        assert not [line for line in running.log if '"ERROR"' in line or '"WARN"' in line]


def test_a_stopping_process_ends_what_it_began(mock):
    with Gateway(mock.url) as running:
        ask = {"model": "plain?gate=1", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
        answers = []
        caller = threading.Thread(target=lambda: answers.append(running.call("POST", "/v1/chat/completions", ask)))
        caller.start()
        running.wait_for(lambda: mock.requests)
        running.process.terminate()
        running.wait_for(lambda: [line for line in running.log if "draining" in line])
        mock.gate.set()
        caller.join(20)
        assert answers and answers[0].body.endswith(b"data: [DONE]\n\n")
        # Not asked again: a second signal would cut off what is left.
        assert running.process.wait(15) == 0 and running.stop() == 0
        access = [json.loads(line) for line in running.log if '"portcullis::access"' in line]
        assert [one["status"] for one in access] == [200]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_text_in_which_nothing_would_be_found_is_refused(tmp_path, encoding):
    file = tmp_path / "mail.txt"
    file.write_bytes("Write to jane.doe@harbour-post.com, please.".encode(encoding))
    for command in ("redact", "detect"):
        done = run(command, file)
        assert done.returncode != 0 and not done.out and "iconv" in done.err, (command, done)
