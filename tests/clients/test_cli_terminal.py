"""The command line at a terminal: progress, colours, tables; and none of them elsewhere."""

import os
import re
import subprocess

import pytest
from gateway import BINARY, environment, run
from terminal import Terminal, at_terminal

DONE, FAILED, USAGE, CONFIG = 0, 1, 2, 3
LINE = "ts=1 mail=jane.doe@harbour-post.com said hello to the world and nothing else\n"


def sgr(text):
    """Whether text has colours (ECMA-48 SGR)."""
    return re.search("\x1b\\[[0-9;]*m", text) is not None


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """More than is read in a second, whatever the build."""
    file = tmp_path_factory.mktemp("large") / "large.log"
    with open(file, "w") as out:
        for _ in range(64):
            out.write(LINE * (1 << 14))
    return file


@pytest.mark.parametrize("command", ["redact", "detect"])
def test_long_work_shows_how_far_it_is(large, command):
    with open(os.devnull, "w") as out:
        terminal = Terminal(command, large, stdout=out)
        terminal.until("left")
        terminal.process.terminate()
        seen = terminal.end()
    line = re.findall(r"(\d+)% ([\d.]+ [KM]iB) of ([\d.]+ MiB) ([\d.]+ [KM]iB)/s (\S+) left", seen.text)
    assert line and line[0][2] == "%.2f MiB" % (large.stat().st_size / (1 << 20))
    assert "jane" not in seen.text and "mail" not in seen.text


def test_of_a_pipe_nobody_knows_the_length(large):
    with open(os.devnull, "w") as out, open(large) as text, subprocess.Popen(["cat"], stdin=text, stdout=subprocess.PIPE) as cat:
        terminal = Terminal("redact", stdin=cat.stdout, stdout=out)
        terminal.until("iB/s")
        assert "left" not in terminal.text and "%" not in terminal.text
        terminal.process.terminate()
        terminal.end()
        cat.kill()


def test_no_line_is_wider_than_the_terminal(large):
    with open(os.devnull, "w") as out:
        terminal = Terminal("redact", large, stdout=out, columns=30)
        terminal.until("%")
        terminal.read(2)
        terminal.process.terminate()
        seen = terminal.end()
    lines = re.split("[\r\n]", re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", seen.text))
    assert max(len(line.rstrip()) for line in lines) < 30, lines


def test_no_progress_where_it_would_be_in_the_way(tmp_path):
    file = tmp_path / "some.log"
    file.write_text(LINE * 20000)
    for more, variables, given in [(["-q"], {}, True), ([], {"TERM": "dumb"}, True), ([], {}, False)]:
        with open(os.devnull, "w") as out:
            seen = at_terminal("redact", file, *more, stdout=out if given else None, **variables)
        assert seen.returncode == DONE and "MiB" not in seen.text and "% " not in seen.text
        assert ("redacted 20000" in seen.text) == (not more)
    done = run("redact", file)
    assert done.err == "" and done.out.count("<EMAIL_ADDRESS>") == 20000


def test_what_reads_a_pipe_may_be_at_the_terminal(tmp_path):
    file = tmp_path / "some.log"
    file.write_text(LINE * 40000)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as pager:
        seen = at_terminal("redact", file, stdout=pager.stdin)
        pager.stdin.close()
    assert seen.returncode == DONE and "MiB" not in seen.text


def test_a_line_of_progress_is_gone_at_the_end(tmp_path):
    box = tmp_path / "inbox"
    box.mkdir()
    for number in range(150):
        (box / str(number)).write_text(LINE * 500)
    seen = at_terminal("sanitize", "--data", tmp_path / "data", box, tmp_path / "clean")
    assert seen.returncode == DONE and "/150" in seen.text
    last = re.split("\x1b\\[2K", seen.text)[-1]
    assert last.strip().endswith("150 files, all clean") and "/150" not in last


COLOURED = [
    (["--help"], DONE),
    (["serv"], USAGE),
    (["tokens", "list", "--data", "none"], FAILED),
    (["check", "-c", "bad.toml"], CONFIG),
    (["check", "-c", "good.toml"], DONE),
    (["rules", "show", "NONE"], USAGE),
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "bad.toml").write_text("[limits]\nbody = 128\n")
    (tmp_path / "good.toml").write_text("")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("args, code", COLOURED, ids=[" ".join(args) for args, _ in COLOURED])
def test_colours_are_where_a_terminal_is_and_say_nothing_by_themselves(place, args, code):
    plain = run(*args)
    assert plain.returncode == code and not sgr(plain.out + plain.err)
    at = {
        "auto": at_terminal(*args, columns=100),
        "never": at_terminal(*args, "--color", "never", columns=100),
        "NO_COLOR": at_terminal(*args, columns=100, NO_COLOR="1"),
        "NO_COLOR=": at_terminal(*args, columns=100, NO_COLOR=""),
        "dumb": at_terminal(*args, columns=100, TERM="dumb"),
    }
    assert {name: sgr(seen.text) for name, seen in at.items()} == {
        "auto": True, "never": False, "NO_COLOR": False, "NO_COLOR=": True, "dumb": False,
    }
    # The same words.
    assert re.sub("\x1b\\[[0-9;]*m", "", at["auto"].text) == at["NO_COLOR"].text
    forced = run(*args, "--color=always")
    assert forced.returncode == code and sgr(forced.out + forced.err)
    env = environment() | {"CLICOLOR_FORCE": "1"}
    done = subprocess.run([BINARY, *args], capture_output=True, text=True, env=env)
    assert sgr(done.stdout + done.stderr)
    done = subprocess.run([BINARY, *args, "--color", "never"], capture_output=True, text=True, env=env)
    assert not sgr(done.stdout + done.stderr)


def test_what_programs_read_has_no_colours(tmp_path):
    place = ("--data", tmp_path)
    assert run("tokens", "create", *place).returncode == DONE
    for args, text in [(["tokens", "list", *place], ""), (["detect"], LINE), (["detect", "--show"], LINE), (["redact"], LINE)]:
        plain, forced = run(*args, stdin=text), run(*args, "--color=always", stdin=text)
        assert plain.out == forced.out and plain.out and not sgr(forced.out)


def test_tables_fit_the_terminal(tmp_path):
    place = ("--data", tmp_path)
    run("tokens", "create", "--name", "first", *place)
    run("tokens", "create", "--name", "second", "--expires", "30d", *place)
    piped = [line.split("\t") for line in run("tokens", "list", *place).out.splitlines()]
    heads, rows = piped[0], piped[1:]
    wide = at_terminal("tokens", "list", *place, columns=300, NO_COLOR="1").text.splitlines()
    assert [re.split("  +", line) for line in wide] == piped
    narrow = at_terminal("tokens", "list", *place, columns=40, NO_COLOR="1").text.strip()
    blocks = [[re.split("  +", line, maxsplit=1) for line in block.splitlines()] for block in narrow.split("\n\n")]
    assert [[cell for _, cell in block] for block in blocks] == rows
    assert all([head for head, _ in block] == heads for block in blocks)
    by_variable = at_terminal("tokens", "list", *place, columns=300, NO_COLOR="1", COLUMNS="40").text.strip()
    assert by_variable == narrow
    # A token that is over looks different, and says when it ended as well.
    run("tokens", "revoke", rows[0][0], *place)
    assert "\x1b[2m" in at_terminal("tokens", "list", *place, columns=300).text


def test_detect_shows_text_with_and_without_colours(tmp_path):
    file = tmp_path / "log"
    file.write_text(LINE + "\x1b[2J")
    for variables in ({}, {"NO_COLOR": "1"}):
        seen = at_terminal("detect", file, **variables)
        assert sgr(seen.text) == (not variables) and "\x1b[2J" not in seen.text
        plain = re.sub("\x1b\\[[0-9;]*m", "", seen.text)
        assert "jane.doe@harbour-post.com[EMAIL_ADDRESS]" in plain and re.search(r"1 +EMAIL_ADDRESS", plain)


@pytest.mark.parametrize("args", [["--help"], ["rules", "list"], ["rules", "page"], ["completions", "zsh"], ["man"], ["openapi"]])
def test_who_reads_no_more_ends_it_quietly(args):
    process = subprocess.Popen([BINARY, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(20) == DONE and b"panic" not in err and b"pipe" not in err, err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("args", [["rules", "list"], ["version"], ["completions", "bash"], ["man"]])
def test_a_full_disk_is_said(args):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, *args], stdout=full, stderr=subprocess.PIPE, text=True, env=environment())
    assert done.returncode == FAILED and done.stderr == "portcullis: standard output: there is no room left on the disk\n"


def test_rotating_the_master_key_shows_rows(tmp_path):
    place = ("--data", tmp_path)
    for _ in range(3):
        run("keys", "generate", "--algorithm", "HS256", *place)
    seen = at_terminal("keys", "rotate-master", *place)
    assert seen.returncode == DONE and "waiting for gateways to notice" in seen.text
    assert re.search(r"\d+ rows sealed anew; the old master key is dropped", seen.text)
    quiet = at_terminal("keys", "rotate-master", "--quiet", *place)
    assert (quiet.returncode, quiet.text) == (DONE, "")
