"""The command line on several threads: what comes out is what one thread says, byte for byte."""

import json
import os
import random
import signal
import subprocess
import time

import pytest
from gateway import BINARY, environment, run

DONE, FAILED, USAGE = 0, 1, 2

THREADS = [2, 3, 7]

WORDS = "the order of a customer was late payment info error debug request for server node returned value user session".split()

KEY = "-----BEGIN EC PRIVATE KEY-----\n%s-----END EC PRIVATE KEY-----\n"


def line(chosen, n):
    """A line, or some that belong together."""
    words = " ".join(chosen.choice(WORDS) for _ in range(chosen.randint(2, 14)))
    return chosen.choice(
        [
            f"10.0.{n % 250}.7 GET /v1/{words.replace(' ', '/')} 200 {n}",
            f"{words} {n}",
            f"2026-11-21T10:20:30Z INFO {words} mail=jane.doe{n}@harbour-post.com",
            f"{words}, card 4111 1111 1111 1111, ssn 536-22-{8000 + n % 999}",
            "card 4111 1111\n1111 1111",
            f"passwords:\n  - sunflower{n}!\n  - An0ther-{n}",
            'tokens = ["hunter%dxx!", "hunter%dyy!"]' % (n, n),
            f"export API_KEY=sk-proj-Ab01Cd23Ef45Gh67Ij89Kl01Mn23Op45Qr67St89Uv01W{n:04x}",
            KEY % "".join("MIIEowIBAAKCAQEA0123456789abcdef%08d\n" % chosen.randrange(10**8) for _ in range(chosen.randint(1, 30))),
            f"Gr\u00fc\u00dfe \u2013 \u96fb\u8a71 090\u00a01234\u00a0{5000 + n % 999} \u201c{words}\u201d",
            f"Maria Lopez and John Smith, 12 Main Street, {words}",
            "her social security number:\n536-90-4399",
            "",
        ]
    )


def mixed(seed, size):
    """A text of that many bytes at least, which ends in the middle of a line."""
    chosen, out, n = random.Random(seed), bytearray(), 0
    while len(out) < size:
        out += (line(chosen, n) + chosen.choice(["\n", "\n", "\r\n"])).encode()
        n += 1
    return bytes(out) + b"and mail bob@harbour-post.com"


TEXT = mixed(5, 420_000)

INPUTS = {
    "mixed": TEXT,
    "nothing": b"",
    "one byte": b"x",
    "no line end": b"mail jane.doe@harbour-post.com",
    "one line": TEXT.replace(b"\r", b" ").replace(b"\n", b" ")[:500_000],
    "one word": b"Ab01Cd23Ef45" * 40_000 + b" jane.doe@harbour-post.com",
    "a long key": b"key:\n" + (KEY % ("MIIEowIBAAKCAQEA0123456789abcdefMIIEowIBAAKCAQEA\n" * 9000)).encode() + TEXT[:200_000],
    "a long list": b"passwords:\n" + b"".join(b"  - sunflower%d!\n" % n for n in range(18_000)) + b"\nmail jo@harbour-post.com\n",
    "latin-1": TEXT[:300_000].decode().encode("latin-1", "replace") + b"\xe2\x82",
    "broken": b"".join(TEXT[at : at + 9000] + b"\xff\xf0\x9f" for at in range(0, 400_000, 9000)),
}


def told(*args, data=b"", threads=1):
    done = run(*args, "--threads", threads, stdin=data, timeout=200)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("args", [("detect", "--show"), ("redact",), ("redact", "--method", "mask", "--rulesets", "all")], ids=" ".join)
def test_a_text_gives_the_same_with_any_number(name, args):
    one = told(*args, data=INPUTS[name])
    assert one[0] == DONE and not one[2]
    for threads in THREADS:
        assert told(*args, data=INPUTS[name], threads=threads) == one, threads
    if name == "mixed":
        assert len(one[1].splitlines()) > 1500 and run(*args, stdin=INPUTS[name]).stdout == one[1]
        # Nobody's own address is left.
        assert args[0] == "detect" or b"@harbour-post.com" not in one[1]


@pytest.mark.parametrize("more", [["--candidates"], ["--as", "family"], ["--min-score", "0.2"], ["--rules", "EMAIL_ADDRESS"]], ids=" ".join)
def test_every_way_to_report_gives_the_same(more):
    # All candidates are on one thread, and many.
    data = TEXT[: 60_000 if "--candidates" in more else 300_000]
    one = told("detect", *more, data=data)
    assert one[0] == DONE and one[1]
    for threads in THREADS:
        assert told("detect", *more, data=data, threads=threads) == one, threads


def test_rows_give_the_same():
    rows = [json.dumps({"id": n, "text": text}) for n, text in enumerate(TEXT.decode().splitlines())]
    for n in range(7, len(rows), 500):
        rows[n] = ["not a row", "", '{"id": 1}', json.dumps({"id": n, "text": TEXT[: 40 * n].decode(errors="ignore")})][n // 500 % 4]
    for end, data in [("\n", rows), ("\r\n", rows[:900]), ("\n", rows[:1]), ("\n", [])]:
        data = end.join(data).encode()
        one = told("detect", "--jsonl", data=data)
        assert one[0] == (FAILED if len(data) > 1000 else DONE), one[2]
        for threads in THREADS:
            assert told("detect", "--jsonl", data=data, threads=threads) == one, threads


def test_files_give_the_same_and_an_error_stands_where_its_file_does(tmp_path):
    names = []
    for n in range(60):
        names.append(tmp_path / f"{n}.log")
        names[-1].write_bytes(TEXT[n * 900 : n * 900 + (200_000 if n % 20 == 3 else 900 * (n % 3))])
    one = told("detect", *names)
    assert one[0] == DONE and len({json.loads(row)["file"] for row in one[1].splitlines()}) > 30
    for threads in THREADS:
        assert told("detect", *names, threads=threads) == one, threads
    for wrong in (tmp_path / "none.log", tmp_path):
        cut = [*names[:30], wrong, *names[30:]]
        one = told("detect", *cut)
        assert one[0] == FAILED and one[1] and str(wrong).encode() in one[2]
        for threads in THREADS:
            assert told("detect", *cut, threads=threads) == one, threads


def test_a_value_has_one_surrogate_and_the_way_back_leads_to_all(tmp_path):
    data, outs = ("--data", tmp_path / "data"), []
    for threads in [1, *THREADS]:
        undo = tmp_path / f"undo{threads}"
        code, out, _ = told("redact", *data, "--context", undo, data=TEXT, threads=threads)
        assert code == DONE and b"jane.doe" not in out
        assert run("unredact", *data, "--context", undo, stdin=out).stdout == TEXT, threads
        outs.append(out)
    assert outs[1:] == outs[:1] * len(THREADS)


def test_a_document_gives_the_same():
    document = json.dumps([{"name": "Jane Doe", "text": text} for text in TEXT[:60_000].decode(errors="ignore").splitlines()]).encode()
    one = told("redact", "--json", data=document)
    assert one[0] == DONE and one[1] != document
    assert told("redact", "--json", data=document, threads=7) == one


@pytest.mark.parametrize("command", ["detect", "redact"])
def test_a_number_that_is_none_is_refused(command):
    for wrong in ("0", "257", "-1", "many", ""):
        done = run(command, "--threads=" + wrong, stdin="jane.doe@harbour-post.com")
        assert (done.returncode, done.out) == (USAGE, "") and "--threads" in done.err, wrong
        assert "jane" not in done.err
    assert run(command, "--threads", "256", stdin="").returncode == DONE
    assert "1 to 256" in " ".join(run(command, "--help").out.split())


def endless(command, threads):
    """A command whose input does not end."""
    args = [BINARY, command, "--threads", str(threads)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(args, env=environment(), **pipes)


def fed(process, seconds):
    """Writes to it until it ends or the time is over; what it took."""
    os.set_blocking(process.stdin.fileno(), False)
    end, took = time.monotonic() + seconds, 0
    while process.poll() is None and time.monotonic() < end:
        try:
            took += os.write(process.stdin.fileno(), TEXT[:60_000])
        except BlockingIOError:
            time.sleep(0.002)
        except BrokenPipeError:
            break
    return took


@pytest.mark.parametrize("command", ["detect", "redact"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_closed_output_and_a_signal_end_it(command, threads):
    process = endless(command, threads)
    process.stdout.close()
    fed(process, 30)
    assert process.wait(20) == DONE and not process.stderr.read()
    process = endless(command, threads)
    fed(process, 0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == -signal.SIGINT
    process.stdout.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
@pytest.mark.parametrize("command", ["detect", "redact"])
def test_a_long_input_takes_no_more_memory_than_its_blocks(command):
    def most(process):
        status = open(f"/proc/{process.pid}/status").read()
        return int(next(row.split()[1] for row in status.splitlines() if row.startswith("VmHWM"))) << 10

    peaks = []
    for size in (0.2, 6):
        process = endless(command, 4)
        drain = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        fed(process, size)
        peaks.append(most(process))
        process.kill()
        process.wait(20)
        drain.wait(20)
    assert peaks[1] - peaks[0] < 100 << 20, peaks
