"""A command at a terminal: standard error is one, and the other streams too unless they are given."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

from gateway import BINARY, environment

# What the surroundings may have set: colours are wanted in the log of a CI, whatever terminal it says it is.
DECIDE_COLOURS = {"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COLUMNS"}


@dataclass
class Seen:
    returncode: int
    text: str  # As the terminal gets it, with line feeds for line breaks.


class Terminal:
    """One command with a terminal of so many columns, of its own session: Ctrl-C reaches it alone."""

    def __init__(self, *args, columns=80, stdin=None, stdout=None, **variables):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {name: text for name, text in environment().items() if name not in DECIDE_COLOURS}
        self.process = subprocess.Popen(
            [BINARY, *map(str, args)],
            stdin=theirs if stdin is None else stdin,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            env=env | {"TERM": "xterm"} | variables,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)),
        )
        os.close(theirs)
        self.text = ""

    def read(self, seconds=0.1):
        """What comes within a time; `False` once nothing will."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.ours], [], [], left)[0]:
                break
            try:
                data = os.read(self.ours, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.text += data.decode(errors="replace").replace("\r\n", "\n")
        return True

    def until(self, words, seconds=60):
        end = time.monotonic() + seconds
        while words not in self.text:
            assert self.read() and time.monotonic() < end, self.text

    def type(self, data):
        os.write(self.ours, data)

    def end(self, seconds=120):
        end = time.monotonic() + seconds
        while self.read() and time.monotonic() < end and self.process.poll() is None:
            pass
        self.read(0.05)
        code = self.process.wait(10)
        os.close(self.ours)
        return Seen(code, self.text)


def at_terminal(*args, **more):
    """Runs a command at a terminal to its end."""
    return Terminal(*args, **more).end()
