"""The command line in a pipe: a line goes on once nothing more comes."""

import subprocess
import threading
import time

from gateway import BINARY, PATIENCE, environment, run

DONE, FAILED, USAGE, CONFIG = 0, 1, 2, 3


class Live:
    """A redaction whose input goes on: lines in, and what has come out so far."""

    def __init__(self, *args):
        command = [BINARY, "redact", *args]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), bufsize=0)
        self.out = b""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while more := self.process.stdout.read(65536):
            self.out += more

    def says(self, text, expected, seconds=5):
        """What is written, and what has come out then, in all."""
        self.process.stdin.write(text.encode())
        end = time.monotonic() + seconds
        while self.out.decode() != expected and time.monotonic() < end:
            time.sleep(0.01)
        assert self.out.decode() == expected

    def close(self):
        self.process.stdin.close()
        self.reader.join(10)
        return self.process.wait(10)


def test_a_line_of_a_live_text_is_said_at_once():
    live, said = Live(), ""
    live.says("warm\n", "warm\n", seconds=30)
    said = "warm\n"
    for line, clean in [
        ("nothing in it\n", "nothing in it\n"),
        ("mail jane.doe@harbour-post.com\n", "mail <EMAIL_ADDRESS>\n"),
        ("pay 4242 4242 4242 4242\n", "pay <CREDIT_CARD>\n"),
        ("a long tail " + "ab12" * 400 + "\n", None),
        ("4111\n", None),
        # What could go on in the next line.
        ("export API_KEY=\n", None),
        ("Authorization: Bearer\n", None),
        ("John Smith\n", "<PERSON>\n"),
        ("12 Main Street\n", "<LOCATION>\n"),
        ("-----BEGIN CERTIFICATE-----\n", None),
        ("MIIEpAIBAAKCAQEA\n", None),
        ("her social security number:\n", "her social security number:\n"),
        ("536-90-4399\n", "<US_SSN>\n"),
        ("caf\u00e9 \u2615\n", "caf\u00e9 \u2615\n"),
    ]:
        begun, said = time.monotonic(), said + (line if clean is None else clean)
        live.says(line, said)
        assert time.monotonic() - begun < 1 * PATIENCE, line
    assert live.close() == DONE


def test_what_spans_lines_is_found_however_slowly_they_come():
    key = subprocess.run(["openssl", "genrsa", "-traditional", "2048"], capture_output=True, text=True)
    if key.returncode:
        key = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True, check=True)
    lines = key.stdout.strip().splitlines(keepends=True)
    live = Live()
    live.says("warm\n", "warm\n", seconds=30)
    for line in ["key:\n", *lines[:4]]:
        live.process.stdin.write(line.encode())
        time.sleep(0.5)
    live.process.stdin.write("".join(lines[4:]).encode() + b"\nafter it\n")
    time.sleep(1)
    assert live.close() == DONE
    out = live.out.decode()
    assert not any(line.strip() in out for line in lines[1:-1]) and out.endswith("after it\n") and "key:" in out


def test_a_line_that_only_mentions_a_key_holds_nothing_up():
    live = Live()
    live.says("warm\n", "warm\n", seconds=30)
    mention = "warn: expected -----BEGIN RSA PRIVATE KEY-----\n"
    live.process.stdin.write(mention.encode())
    live.says("2026-11-22 info: went on\n", "warm\n" + mention + "2026-11-22 info: went on\n")
    assert live.close() == DONE


def test_who_reads_no_more_is_not_waited_for():
    process = subprocess.Popen(
        [BINARY, "redact"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), bufsize=0
    )
    process.stdin.write(b"one\n")
    assert process.stdout.read(4) == b"one\n"
    process.stdout.close()
    process.stdin.write(b"two\n")
    # Standard input stays open.
    assert process.wait(10) == DONE
