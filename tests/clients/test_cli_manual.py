"""What shells and `man` are told of the command line: they understand it, and it is all there."""

import os
import re
import shutil
import subprocess

import pytest
from gateway import BINARY, run

SHELLS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"], "powershell": None, "elvish": None}


def commands(*path):
    """The commands below one, as its help lists them, and theirs."""
    text = run(*path, "--help").out.split("\n\n")
    block = next((part for part in text if part.startswith("Commands:\n")), "")
    for name in re.findall(r"^  (\w[\w-]*)", block, re.M):
        if name != "help":
            yield (*path, name)
            yield from commands(*path, name)


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_understand_their_completions(tmp_path, shell):
    done = run("completions", shell)
    assert done.returncode == 0 and not done.err
    assert "rotate-master" in done.out and re.search("(--|-l )color", done.out)
    # What only the program itself starts.
    assert not re.search(r"\bparse\b", done.out.replace("argparse", ""))
    check = SHELLS[shell]
    if check and shutil.which(check[0]):
        file = tmp_path / "script"
        file.write_text(done.out)
        parsed = subprocess.run([*check, file], capture_output=True, text=True)
        assert (parsed.returncode, parsed.stderr) == (0, "")


def completed(line):
    """What bash offers behind a line."""
    words = line.split(" ")
    script = 'source <("$1" completions bash); COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); '
    script += '_portcullis portcullis "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", BINARY, *words], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return set(done.stdout.split())


def test_bash_completes():
    assert {"serve", "tokens", "completions"} <= completed("portcullis ") and completed("portcullis san") == {"sanitize"}
    assert {"create", "revoke"} <= completed("portcullis tokens ")
    assert completed("portcullis tokens create --sof") == {"--soft-budget"}
    assert completed("portcullis --color ") == {"auto", "always", "never"}


def test_there_is_a_page_of_every_command(tmp_path):
    done = run("man", "--dir", tmp_path / "man1")
    assert done.returncode == 0
    pages = {file.name: file.read_text() for file in (tmp_path / "man1").iterdir()}
    assert set(pages) == {"-".join(("portcullis", *path)) + ".1" for path in [(), *commands()]}
    # Options that come from further up are in it too.
    assert r"\-\-config\-file" in pages["portcullis-tokens-create.1"] and r"\-\-color" in pages["portcullis-serve.1"]
    for path in [(), ("check",), ("tokens", "create")]:
        assert run("man", *path).out == pages["-".join(("portcullis", *path)) + ".1"]


@pytest.mark.parametrize("tool", ["man", "mandoc"])
def test_pages_can_be_read(tmp_path, tool):
    if not shutil.which(tool):
        pytest.skip("%s is missing" % tool)
    run("man", "--dir", tmp_path)
    for file in tmp_path.iterdir():
        command = ["man", "--warnings", "-l", file] if tool == "man" else ["mandoc", "-Tlint", "-Werror", file]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
        assert (done.returncode, done.stderr) == (0, ""), file.name + done.stdout
        if tool == "man":
            assert re.search(r"^SYNOPSIS$", done.stdout, re.M)


def test_a_page_that_there_is_not(tmp_path):
    for page in (["parse"], ["tokens", "make"], ["help"]):
        done = run("man", *page)
        assert (done.returncode, done.out) == (2, "") and "portcullis --help" in done.err
    (tmp_path / "file").write_text("")
    done = run("man", "--dir", tmp_path / "file/man1")
    assert done.returncode == 1 and str(tmp_path) in done.err
