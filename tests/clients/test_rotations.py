"""A short run of tests/attack/rotations.py: what was signed is believed while the key is rotated under load."""

import subprocess
import sys

from gateway import BINARY, ROOT


def test_rotations_refuse_no_token_and_sign_with_no_hidden_key():
    script = ROOT / "tests/attack/rotations.py"
    command = [sys.executable, script, "--rotations", "60", "--clients", "2", "--algorithms", "ES256", "EdDSA"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={"PORTCULLIS_BIN": str(BINARY)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(" 0 bad")
