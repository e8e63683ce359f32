"""Files in a bucket: the tests of files in a folder, and downloads that the bucket grants. `tests/run` starts an S3
service; elsewhere PORTCULLIS_S3 names one that has the bucket `portcullis`."""

import os
import urllib.parse
import urllib.request

import pytest
from gateway import MINIMAL, Gateway, multipart, run
from test_sanitize import (  # noqa: F401
    client,
    test_a_file_that_is_put_later,
    test_a_file_that_is_sent_comes_back_clean,
)
from test_share import (  # noqa: F401
    share,
    test_a_file_comes_back_by_url_and_as_a_part,
    test_an_upload_url_is_asked_for_and_polled,
)

ENDPOINT = os.environ.get("PORTCULLIS_S3", "")
FAILED = 1
SECRET = "hunter2hunter2"

CONFIG = (
    MINIMAL
    + """
[blobs]
s3 = {{ bucket = "%s", endpoint = "%s", region = "us-east-1", access_key = {{ file = "%s" }}, secret_key = {{ file = "%s" }}, presigned = %s }}
"""
)

pytestmark = pytest.mark.skipif(not ENDPOINT, reason="PORTCULLIS_S3 names no S3 service")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    for name, text in (("access", "testing"), ("secret", SECRET)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    return folder / "access", folder / "secret"


def started(keys, presigned):
    return Gateway("", CONFIG % ("portcullis", ENDPOINT, *keys, presigned))


@pytest.fixture(scope="module")
def gateway(keys):
    with started(keys, "false") as gateway:
        yield gateway
        assert SECRET not in "\n".join(gateway.log)
        assert not any(file.is_file() for file in (gateway.home / "data").glob("blobs/**/*")), "a file lies here too"


@pytest.mark.parametrize("presigned", ["false", "true"])
def test_downloads_are_granted_by_whom_it_says(keys, presigned):
    kind, body = multipart({}, "note.txt", b"hello")
    with started(keys, presigned) as gateway:
        url = gateway.api("/v1/sanitize", body, **{"content-type": kind}).json()["result"]["dest_url"]
        with urllib.request.urlopen(url) as answer:
            assert answer.read() == b"hello"
        if presigned == "false":
            assert url.startswith(gateway.url)
            return
    given = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    assert url.startswith(ENDPOINT) and given["X-Amz-Signature"] and int(given["X-Amz-Expires"][0]) <= 900
    # Who opens it in a browser saves a file, and sees no page.
    assert given["response-content-disposition"] == ['attachment; filename="note.txt"']
    assert given["response-content-type"] == ["application/octet-stream"]


@pytest.mark.parametrize("bucket, endpoint", [("no-such-bucket", ENDPOINT), ("portcullis", "http://127.0.0.1:9")])
def test_a_bucket_that_is_not_there_is_said_at_the_start(tmp_path, keys, bucket, endpoint):
    file = tmp_path / "portcullis.toml"
    file.write_text(CONFIG.format(port=0, admin=0) % (bucket, endpoint, *keys, "false"))
    done = run("serve", "-c", file)
    assert done.returncode == FAILED and not done.out
    assert bucket in done.err and SECRET not in done.err, done.err
