"""Runs the Node suites in `node/` against the gateway. `tests/run` installs what they need below the target folder."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from gateway import ROOT

SUITE = Path(__file__).with_name("node")
MODULES = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "node"
PACKAGES = json.loads((SUITE / "package.json").read_text())["dependencies"]

needs_node = pytest.mark.skipif(
    not (shutil.which("node") and all((MODULES / "node_modules" / name).is_dir() for name in PACKAGES)),
    reason="SKIPPED: node or its packages are missing; `./tests/run --only clients` installs them where npm is",
)


def node(script, gateway, *flags):
    """Runs a script where it finds the packages: they are looked for in the folders above it."""
    copy = MODULES / script.name
    copy.write_bytes(script.read_bytes())
    environment = os.environ | {"PORTCULLIS_URL": gateway.url, "PORTCULLIS_TOKEN": gateway.token}
    return subprocess.run(["node", *flags, copy], capture_output=True, text=True, timeout=120, env=environment)


@needs_node
@pytest.mark.parametrize("suite, tests", [("redact", 13), ("jose", 39), ("sanitize", 4)])
def test_the_node_suite(gateway, suite, tests):
    done = node(SUITE / f"{suite}.test.mjs", gateway, "--test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"pass {tests}\n" in done.stdout, done.stdout
