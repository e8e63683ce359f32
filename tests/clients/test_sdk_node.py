"""Runs the Node suite in `node/` against the gateway. `tests/run` installs the SDK below the target folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from gateway import ROOT

SUITE = Path(__file__).with_name("node")
MODULES = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "node"

needs_node = pytest.mark.skipif(
    not (shutil.which("node") and (MODULES / "node_modules/pangea-node-sdk").is_dir()),
    reason="SKIPPED: node or its packages are missing; `./tests/run --only clients` installs them where npm is",
)


def node(script, gateway, *flags):
    """Runs a script where it finds the packages: they are looked for in the folders above it."""
    copy = MODULES / script.name
    copy.write_bytes(script.read_bytes())
    environment = os.environ | {"PORTCULLIS_URL": gateway.url, "PORTCULLIS_TOKEN": gateway.token}
    return subprocess.run(["node", *flags, copy], capture_output=True, text=True, timeout=120, env=environment)


@needs_node
def test_the_node_suite(gateway):
    done = node(SUITE / "redact.test.mjs", gateway, "--test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 13\n" in done.stdout, done.stdout
