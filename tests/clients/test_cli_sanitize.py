"""Folders and several files on the command line: each clean file whole, in its place, and nothing else."""

import json
import os
import signal
import subprocess
import time

import pytest
from gateway import BINARY, environment, run
from terminal import Terminal, at_terminal

DONE, FAILED, USAGE = 0, 1, 2
LETTER = "mail jane.doe@harbour-post.com\n"
SCRIPT = "<job><script language='JScript'>new ActiveXObject('WScript.Shell')</script></job>"


@pytest.fixture
def inbox(tmp_path):
    box = tmp_path / "inbox"
    (box / "deep/er").mkdir(parents=True)
    (box / "letter.txt").write_text(LETTER)
    (box / "deep/er/note.md").write_text("# " + LETTER)
    (box / "photo.jpg").write_text("no picture\n")
    (box / "run.wsf").write_text(SCRIPT)
    (box / "link.txt").symlink_to(box / "letter.txt")
    return box


def sanitize(tmp_path, *args):
    return run("sanitize", "--data", tmp_path / "data", *args, cwd=tmp_path)


def files(folder):
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()}


def test_a_folder_is_cleaned_into_another(tmp_path, inbox):
    done = sanitize(tmp_path, "inbox", "clean", "--redact", "--report")
    assert done.returncode == FAILED and "1 of 4 files are not released" in done.err
    clean = tmp_path / "clean"
    # A text is called one, whatever it was called.
    assert files(clean) == {"letter.txt", "photo.jpg.txt", "deep/er/note.md"}
    assert (clean / "letter.txt").read_text() == "mail <EMAIL_ADDRESS>\n"
    assert "inbox/run.wsf: not released: " in done.err and "inbox/link.txt: a link; left out" in done.err
    lines = {line["file"]: line for line in map(json.loads, done.out.splitlines())}
    assert len(lines) == 4 and not lines["inbox/run.wsf"]["released"] and lines["inbox/run.wsf"]["why"]
    assert lines["inbox/photo.jpg"]["output"] == "clean/photo.jpg.txt"
    assert "jane" not in done.err
    (inbox / "run.wsf").unlink()
    again = sanitize(tmp_path, "inbox", "clean", "-q")
    assert (again.returncode, again.out, again.err) == (DONE, "", "")


def test_several_files_go_into_a_folder(tmp_path, inbox):
    done = sanitize(tmp_path, "inbox/letter.txt", "inbox/deep", "clean")
    assert done.returncode == DONE and files(tmp_path / "clean") == {"letter.txt", "deep/er/note.md"}, done.err
    (tmp_path / "there").mkdir()
    for output in ("there", "new/"):
        assert sanitize(tmp_path, "inbox/letter.txt", output).returncode == DONE
        assert files(tmp_path / output) == {"letter.txt"}


@pytest.mark.parametrize(
    "args, why",
    [
        (["inbox", "inbox"], "neither in the other one nor around it"),
        (["inbox", "inbox/clean"], "neither in the other one nor around it"),
        (["inbox", "."], "neither in the other one nor around it"),
        (["inbox/deep", "inbox/../inbox/deep/x/y"], "neither in the other one nor around it"),
        (["inbox", "inbox/letter.txt"], "not a folder"),
        (["inbox/letter.txt", "inbox"], "the original"),
        (["inbox/letter.txt", "inbox/photo.jpg", "inbox/run.wsf"], "not a folder"),
        (["inbox/letter.txt", "inbox/./letter.txt", "clean"], "two files would have this name"),
        (["inbox/letter.txt", "-"], "needs a name"),
        (["inbox/letter.txt"], "required"),
    ],
)
def test_what_is_clean_is_not_mixed_with_what_is_not(tmp_path, inbox, args, why):
    before = files(tmp_path)
    done = sanitize(tmp_path, *args)
    assert (done.returncode, done.out) == (USAGE, "") and why in done.err, done.err
    assert files(tmp_path) == before


def test_names_that_are_no_text_and_names_that_steer(tmp_path):
    box = os.fsencode(tmp_path / "inbox")
    os.mkdir(box)
    for name in (b"\xff\xfe.txt", b"a\x1b[2Jb\n.txt", b" ", b"-q"):
        with open(os.path.join(box, name), "w") as file:
            file.write(LETTER)
    (tmp_path / "inbox/gone.txt").symlink_to("a\x1b[31m")
    done = sanitize(tmp_path, "inbox", "clean")
    assert done.returncode == DONE and "\x1b" not in done.err, done.err
    assert sorted(os.listdir(os.fsencode(tmp_path / "clean"))) == sorted([b"\xff\xfe.txt", b"a\x1b[2Jb\n.txt", b" ", b"-q"])
    seen = at_terminal("sanitize", "--data", tmp_path / "data", os.path.join(box, b"a\x1b[2Jb\n.txt").decode(), tmp_path / "clean/x.txt")
    assert seen.returncode == DONE and "[2J" not in seen.text.replace("\\u{1b}[2J", "")


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('data = "data"\n[sanitize.limits]\nfile = "1MiB"\n')
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox/small.txt").write_text(LETTER)
    # Sparse: there is no such memory.
    os.truncate(os.open(tmp_path / "inbox/large.txt", os.O_CREAT | os.O_WRONLY), 1 << 40)
    done = run("sanitize", "-c", file, tmp_path / "inbox", tmp_path / "clean")
    assert done.returncode == FAILED and "large.txt: " in done.err and "larger than sanitize.limits.file" in done.err
    assert files(tmp_path / "clean") == {"small.txt"}


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_leaves_whole_files_only(tmp_path, sign):
    inbox, clean = tmp_path / "inbox", tmp_path / "clean"
    inbox.mkdir()
    text = LETTER * 2000
    for number in range(400):
        (inbox / ("%03d.txt" % number)).write_text(text)
    command = [BINARY, "sanitize", "--data", tmp_path / "data", inbox, clean]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    end = time.monotonic() + 30
    while not clean.exists() or len(list(clean.iterdir())) < 3:
        assert process.poll() is None and time.monotonic() < end
    process.send_signal(sign)
    assert process.wait(20) == 128 + sign
    assert process.stdout.read() == b"" and b"panic" not in process.stderr.read()
    left = list(clean.iterdir())
    assert 3 <= len(left) < 400
    assert all(file.suffix == ".txt" and file.read_text() == text for file in left)


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    (tmp_path / "inbox").mkdir()
    for number in range(30):
        (tmp_path / "inbox" / str(number)).write_text(LETTER)
    command = [BINARY, "sanitize", "--data", tmp_path / "data", tmp_path / "inbox", tmp_path / "clean"]
    process = subprocess.Popen(
        command, env=environment(), stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.02)
    assert process.returncode == DONE and len(files(tmp_path / "clean")) == 30


def test_ctrl_c_at_a_terminal(tmp_path):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for number in range(400):
        (inbox / ("%03d.txt" % number)).write_text(LETTER * 2000)
    terminal = Terminal("sanitize", "--data", tmp_path / "data", inbox, tmp_path / "clean")
    terminal.until("/400")
    terminal.type(b"\x03")
    seen = terminal.end()
    assert seen.returncode == 130 and "jane" not in seen.text
    assert not [file for file in (tmp_path / "clean").iterdir() if file.suffix != ".txt"]


@pytest.mark.parametrize("said", ["refuse", "pass"])
@pytest.mark.parametrize("args", [(), ("--pass-unknown",)], ids=["", "flag"])
def test_what_nobody_rewrites_passes_where_the_settings_or_the_call_say_so(tmp_path, said, args):
    (tmp_path / "c.toml").write_text(f'[sanitize]\nunknown = "{said}"\n')
    data = b"\x00\xff\xfe nothing that anybody knows \x01" * 9
    (tmp_path / "x.dat").write_bytes(data)
    done = run("sanitize", "-c", "c.toml", *args, "x.dat", "clean.dat", cwd=tmp_path)
    assert done.returncode == (DONE if said == "pass" or args else FAILED), done.err
    clean = tmp_path / "clean.dat"
    assert clean.exists() == (done.returncode == DONE)
    assert not clean.exists() or clean.read_bytes() == data
