"""The names model as a user gets it and uses it: brought by its script, on the command line, in the API and on a route.

Where the package with the weights cannot be had the tests with it are skipped, and say so.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys

import pytest
from gateway import CONFIG as WHOLE
from gateway import ROOT, Gateway, run

CONFIG_ERROR = 3
USAGE = 2

TEXT = "hi, i'm maria lopez from coimbra, mail maria@harbour-post.com"


@pytest.fixture(scope="session")
def weights():
    folder = ROOT / "target" / "names-model"
    if not (folder / "SHA256SUMS").exists():
        done = subprocess.run(
            [ROOT / "examples/names-model", folder, sys.executable], capture_output=True, text=True, timeout=600
        )
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"the names model could not be had: {done.stderr.strip()[-200:]}")
    return folder


def names(stdout):
    rows = [json.loads(line) for line in stdout.splitlines()]
    return {(row["rule"], row["value"]) for row in rows}


def test_a_folder_has_the_licence_and_says_what_was_changed(weights):
    assert "Creative Commons" in (weights / "LICENSE").read_text()
    assert "Changed: names.onnx" in (weights / "NOTICE").read_text()


def test_detect_finds_names_in_lower_case(weights):
    rules = ["--rules", "PERSON,LOCATION,EMAIL_ADDRESS", "--show"]
    done = run("detect", "--names-model", weights, *rules, stdin=TEXT)
    assert (done.returncode, done.err) == (0, "")
    assert names(done.out) == {
        ("PERSON", "maria lopez"),
        ("LOCATION", "coimbra"),
        ("EMAIL_ADDRESS", "maria@harbour-post.com"),
    }
    # The file itself is as good as its folder.
    assert run("detect", "--names-model", weights / "names.onnx", *rules, stdin=TEXT).out == done.out


def test_redact_reads_its_input_to_the_end(weights, tmp_path):
    done = run("redact", "--names-model", weights, stdin=TEXT)
    assert (done.returncode, done.out) == (0, "hi, i'm <PERSON> from <LOCATION>, mail <EMAIL_ADDRESS>")
    context = tmp_path / "context"
    kept = run("redact", "--names-model", weights, "--data", tmp_path / "data", "--context", context, stdin=TEXT)
    assert kept.returncode == 0 and "lopez" not in kept.out
    back = run("unredact", "--data", tmp_path / "data", "--context", context, stdin=kept.out)
    assert back.out == TEXT


def test_the_list_of_rules_says_by_what_names_are_found(weights):
    digest = hashlib.sha256((weights / "SHA256SUMS").read_bytes()).hexdigest()
    with_model = run("rules", "list", "--names-model", weights, "--rules", "PERSON")
    assert f"by the lexicon and the names model whose SHA256SUMS has the digest {digest}" in with_model.err
    without = run("rules", "list", "--rules", "PERSON")
    assert "by the lexicon alone, without a names model" in without.err
    assert without.out == with_model.out


@pytest.mark.parametrize("broken", ["names.onnx", "vocab.txt", "SHA256SUMS"])
def test_a_damaged_or_missing_file_is_an_error(weights, tmp_path, broken):
    folder = tmp_path / "names"
    shutil.copytree(weights, folder)
    with (folder / broken).open("r+b") as file:
        file.write(b"xx")
    done = run("detect", "--names-model", folder, stdin=TEXT)
    assert done.returncode == USAGE and "examples/names-model" in done.err
    (folder / broken).unlink()
    done = run("detect", "--names-model", folder, stdin=TEXT)
    assert done.returncode == USAGE and f"{broken}: there is no such file" in done.err


def test_a_configuration_says_where_its_model_is_missing(tmp_path):
    file = tmp_path / "portcullis.toml"
    file.write_text('[detect.names]\nmodel = "nowhere"\nthreshold = 2.0\n')
    done = run("check", "-c", file)
    assert done.returncode == CONFIG_ERROR
    assert ":2:9: there is no such file or folder; examples/names-model brings the model into one" in done.err
    assert ":3:13: a threshold is a score from 0 to 1" in done.err


def test_the_api_and_routes_use_it(weights, mock):
    config = f'{WHOLE}\n[detect.names]\nmodel = "{weights}"\n'
    with Gateway(mock.url, config=config) as gateway:
        told = gateway.api("/v1/redact", {"text": TEXT}).json()["result"]["redacted_text"]
        assert told == "hi, i'm <PERSON> from <LOCATION>, mail <EMAIL_ADDRESS>"
        ask = {"model": "m", "messages": [{"role": "user", "content": TEXT}]}
        assert gateway.call("POST", "/v1/chat/completions", ask).status == 200
        sent = mock.requests[-1].everything()
        assert "lopez" not in sent and "coimbra" not in sent


def test_a_request_with_more_new_text_than_is_read_is_refused(weights, mock):
    """A name that was replaced one turn ago must not pass now; what was read is remembered, so the next try goes further."""
    config = f'{WHOLE}\n[detect.names]\nmodel = "{weights}"\nmax_tokens = 200\n'
    told = " ".join(f"On day {n} Maria Lopez wrote to me from Madrid." for n in range(40))
    ask = {"model": "m", "messages": [{"role": "user", "content": told}]}
    with Gateway(mock.url, config=config) as gateway:
        before = len(mock.requests)
        refused = gateway.call("POST", "/v1/chat/completions", ask)
        assert refused.status == 413, refused.body
        error = refused.json()["error"]
        assert error["type"] and "detect.names.max_tokens" in error["message"] and "Lopez" not in error["message"]
        assert len(mock.requests) == before
        statuses = [gateway.call("POST", "/v1/chat/completions", ask).status for _ in range(8)]
        assert statuses[-1] == 200 and statuses.index(200) >= 1
        assert "Lopez" not in mock.requests[-1].everything()
        # Our own API has the lexicon for the rest, and the metrics say so.
        fresh = " ".join(f"at {n} o'clock juan perez called." for n in range(80))
        assert gateway.api("/v1/redact", {"text": fresh}).json()["status"] == "success"
        seen = gateway.metrics()
        assert 'portcullis_names_model_info{digest="' in seen
        assert 'portcullis_names_tokens_total{read="remembered"}' in seen
        beyond = re.search(r"^portcullis_names_beyond_total (\d+)", seen, re.M)
        assert int(beyond[1]) >= 2
        assert gateway.call("GET", "/readyz").json() == {"status": "ready", "names_model": True}
    lenient = config + 'beyond = "lexicon"\n'
    with Gateway(mock.url, config=lenient) as gateway:
        assert gateway.call("POST", "/v1/chat/completions", ask).status == 200
