"""Granted URLs: what they serve, and what they do not."""

import hashlib
import http.client
import os
import re
import time
from urllib.parse import urlsplit

import pytest
from gateway import CONFIG, Gateway

DATA = os.urandom(200_000)


def path_of(url):
    parts = urlsplit(url)
    return parts.path + "?" + parts.query


def upload_url(gateway, **more):
    form = more.get("transfer_method", "put-url") == "post-url"
    answer = gateway.api("/share/v1/put", {"transfer_method": "put-url", "name": "a b.txt"} | more)
    assert answer.status == 202, answer.body
    result = answer.json()["result"]
    return path_of(result["post_url" if form else "put_url"]), path_of(result["location"] + "?")


def finished(gateway, location):
    return gateway.call("GET", location.rstrip("?"), headers={"authorization": "Bearer " + gateway.token})


def stored(gateway, data=DATA, **more):
    put, location = upload_url(gateway, **more)
    assert gateway.call("PUT", put, data).status == 200
    done = finished(gateway, location)
    assert done.status == 200, done.body
    return done.json()["result"]["object"]


def download_url(gateway, **more):
    found = gateway.api("/share/v1/get", {"id": stored(gateway, **more)["id"]})
    return path_of(found.json()["result"]["dest_url"])


def test_a_download_cannot_be_taken_for_a_page(gateway):
    url = download_url(gateway, name="日本 <script>.html")
    assert re.search(r"/[\w.-]+\.html\?", url)
    headers = {"authorization": "Bearer nonsense", "content-type": "application/json"}
    answer = gateway.call("GET", url, headers=headers)
    assert answer.status == 200 and answer.body == DATA
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith('attachment; filename="_')
    assert "filename*=UTF-8''%E6%97%A5" in answer.headers["content-disposition"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"].startswith("prq_")
    head = gateway.call("HEAD", url)
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(DATA)))


def tampered(url):
    """Every part of it changed, left out, doubled, or written in another way."""
    path, query = url.split("?")
    members = query.split("&")
    for n, member in enumerate(members):
        name, value = member.split("=")
        others = [value[:-1] + ("A" if value[-1] != "A" else "B"), value + "0", "", value.upper() + "x", "%30" + value]
        for other in others:
            yield path + "?" + "&".join(members[:n] + [name + "=" + other] + members[n + 1:])
        yield path + "?" + "&".join(members[:n] + members[n + 1:])
        yield path + "?" + "&".join(members + [member])
    yield path + "?" + "&".join(reversed(members))
    names = path.split("/")
    for n in range(2, len(names)):
        for other in (names[n][:-1] + "z", names[n] + "2", "..", "%2e%2e", "", names[n].upper()):
            yield "/".join(names[:n] + [other] + names[n + 1:]) + "?" + query
    for other in ("/../" + path, path + "/", path.replace("_", "%255F"), path + "/../../x", path.replace("kept", "passing")):
        yield other + "?" + query
    yield path
    yield url.replace("verb=download", "verb=put")


def test_nothing_is_served_for_a_url_that_was_touched(gateway):
    url = download_url(gateway)
    assert gateway.call("GET", url).status == 200
    rows = [other for other in tampered(url) if other != url]
    assert len(rows) > 46
    for other in rows:
        answer = gateway.call("GET", other)
        # A path that climbs is none (400).
        assert answer.status in (400, 403, 404), other
        assert (answer.status == 400 or answer.json()["result"] is None) and DATA[:16] not in answer.body, other
    # Another spelling of the same path is the same path (RFC 3986 section 6.2.2).
    path, query = url.split("?")
    assert gateway.call("GET", path.replace("_", "%5F").replace("/", "//") + "?" + query).body == DATA


def test_a_grant_is_for_one_verb(gateway):
    download, (put, location) = download_url(gateway), upload_url(gateway)
    for method in ("PUT", "POST", "DELETE"):
        assert gateway.call(method, download, b"x").status in (404, 405), method
    for method in ("GET", "POST", "DELETE"):
        assert gateway.call(method, put, b"x").status in (404, 405), method
    assert gateway.call("GET", download).status == 200
    assert finished(gateway, location).status == 202


def test_a_form_brings_its_fields_first(gateway):
    post, location = upload_url(gateway, transfer_method="post-url")
    parts = [b'name="key"\r\nContent-Type: application/json\r\n\r\n"x"', b'name="file"; filename="f"\r\n\r\n' + DATA]
    body = b"".join(b"--B\r\nContent-Disposition: form-data; " + part + b"\r\n" for part in parts) + b"--B--\r\n"
    kind = {"content-type": "multipart/form-data; boundary=B"}
    broken = [(body[:-100_000], 400), (body.replace(b"--B", b"--C"), 400), (b"", 400), (parts[0], 400)]
    for other, status in broken:
        answer = gateway.call("POST", post, other, kind)
        assert answer.status == status and answer.json()["status"] != "success"
    assert gateway.call("POST", post, b"\r\n" * 200_000, kind).status == 400
    assert gateway.call("POST", post, body, kind).status == 200
    assert finished(gateway, location).json()["result"]["object"]["sha256"] == hashlib.sha256(DATA).hexdigest()


def test_an_upload_that_breaks_off_leaves_nothing(gateway):
    put, location = upload_url(gateway)
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
    connection.putrequest("PUT", put)
    connection.putheader("content-length", str(len(DATA)))
    connection.endheaders()
    connection.send(DATA[:100_000])
    connection.close()
    assert finished(gateway, location).status == 202
    assert gateway.call("PUT", put, DATA).status == 200
    assert finished(gateway, location).status == 200
    blobs = gateway.home / "data/blobs"
    gateway.wait_for(lambda: not [name for _, _, names in os.walk(blobs) for name in names if "#" in name])
    assert blobs.stat().st_mode & 0o777 == 0o700



@pytest.fixture(scope="module")
def small(upstream):
    config = CONFIG.replace("[limits]\n", '[blobs]\ngrant = "1s"\npassing = "1h"\n\n[limits]\nfile = "64KiB"\n')
    with Gateway(upstream.url, config) as running:
        yield running


def test_a_grant_expires_and_a_large_file_is_refused(small):
    put, location = upload_url(small)
    assert small.call("PUT", put, b"x" * 65_537).status == 413
    time.sleep(2)
    assert small.call("PUT", put, b"x").status == 404
    assert finished(small, location).status == 202


def memory(process):
    status = open("/proc/%d/status" % process.pid).read()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024


def test_a_large_file_is_never_in_memory(upstream):
    size = int(os.environ.get("PORTCULLIS_LARGE_MIB") or 192) << 20
    piece = os.urandom(1 << 20)
    with Gateway(upstream.url, CONFIG) as gateway:
        stored(gateway)
        before = memory(gateway.process)
        put, location = upload_url(gateway)
        assert gateway.call("PUT", put, (piece for _ in range(size >> 20))).status == 200
        after_upload = memory(gateway.process)
        done = finished(gateway, location).json()["result"]["object"]
        assert done["size"] == size
        url = path_of(gateway.api("/share/v1/get", {"id": done["id"]}).json()["result"]["dest_url"])
        connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=60)
        connection.request("GET", url)
        answer, digest = connection.getresponse(), hashlib.sha256()
        while chunk := answer.read(1 << 20):
            digest.update(chunk)
        assert digest.hexdigest() == done["sha256"]
        after = memory(gateway.process)
        print("peak before %d, upload %d, download %d MiB" % tuple(n >> 20 for n in (before, after_upload, after)))
        assert after - before < 64 << 20
