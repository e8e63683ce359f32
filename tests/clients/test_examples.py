"""Every example that talks to the API runs, and finds what it expects."""

import os
import subprocess
import sys

import pytest
from gateway import ROOT
from test_sdk_node import needs_node, node

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*/*") if path.suffix in (".sh", ".py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(gateway, path):
    runner = {".sh": ["bash"], ".py": [sys.executable]}[path.suffix]
    environment = os.environ | {"PORTCULLIS_URL": gateway.url, "PORTCULLIS_TOKEN": gateway.token}
    done = subprocess.run([*runner, path], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_node
@pytest.mark.parametrize("path", sorted((ROOT / "examples/node").glob("*.mjs")), ids=lambda path: path.name)
def test_node_example(gateway, path):
    done = node(path, gateway)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_is_in_the_pages():
    pages = "".join(page.read_text() for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    for path in (ROOT / "examples").rglob("*"):
        file = path.relative_to(ROOT)
        # What a folder holds together is told of together.
        named = [str(file)] + (["[`examples/compose`]"] if file.parts[1] == "compose" else [])
        assert path.is_dir() or any(name in pages for name in named), path
