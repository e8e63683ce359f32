"""What a token was granted ends with it: no URL that it asked for outlives it."""

from gateway import multipart, run
from test_blobs import DATA, path_of, stored
from test_tokens import bearer, made


def revoke(gateway, name):
    rows = [line.split("\t") for line in run("tokens", "list", "-c", gateway.file).out.splitlines()]
    (token,) = (row[0] for row in rows if row[1] == name)
    assert run("tokens", "revoke", token, "-c", gateway.file).returncode == 0


def granted(gateway, token, id):
    """A URL of each kind that a token can ask for: its method, its path, and what it answers while it is good."""
    kind, form = multipart({"content": {"url_intel": False, "domain_intel": False}}, "a.txt", b"Good morning.")
    ask = lambda path, body, **more: gateway.call("POST", path, body, bearer(token) | more).json()["result"]
    yield "GET", path_of(ask("/share/v1/get", {"id": id})["dest_url"])
    yield "HEAD", path_of(ask("/share/v1/get", {"id": id})["dest_url"])
    yield "GET", path_of(ask("/share/v1/get_archive", {"ids": [id]})["dest_url"])
    yield "GET", path_of(ask("/v1/sanitize", form, **{"content-type": kind})["dest_url"])
    upload = {"uploaded_file_name": "a.txt"}
    yield "PUT", path_of(ask("/share/v1/put", {"transfer_method": "put-url"})["put_url"])
    yield "POST", path_of(ask("/share/v1/put", {"transfer_method": "post-url"})["post_url"])
    yield "PUT", path_of(ask("/v1/sanitize", {"transfer_method": "put-url"} | upload)["put_url"])


def test_urls_end_with_the_token_that_asked_for_them(gateway):
    id = stored(gateway)["id"]
    token, other = made(gateway, "name", "guest"), made(gateway, "name", "host")
    body, kind = b"--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx\r\n--B--\r\n", "multipart/form-data; boundary=B"

    def status(method, path):
        if method in ("PUT", "POST"):
            return gateway.call(method, path, b"x" if method == "PUT" else body, {"content-type": kind}).status
        return gateway.call(method, path).status

    urls, others = list(granted(gateway, token, id)), list(granted(gateway, other, id))
    reads = [url for url in urls if url[0] in ("GET", "HEAD")]
    assert len(urls) == 7 and [status(*url) for url in reads] == [200] * 4
    assert all(token not in path for _, path in urls)
    revoke(gateway, "guest")
    assert [status(*url) for url in urls] == [404] * 7
    assert [status(*url) for url in others] == [200] * 7
    # Nobody takes another token's place in a URL.
    theirs, ours = (dict(one.split("=", 1) for one in path.split("?")[1].split("&"))["by"] for (_, path) in (urls[0], others[0]))
    for _, path in reads:
        assert gateway.call("GET", path.replace(theirs, ours)).status == 404
        assert gateway.call("GET", path.replace("&by=" + theirs, "")).status == 404
    assert gateway.call("GET", others[0][1]).body == DATA
