"""The share service, as its own client uses it."""

import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile

import pangea.exceptions as pe
import pytest
from pangea import PangeaConfig
from pangea.response import TransferMethod
from pangea.services.share.share import ArchiveFormat, ItemOrder, ItemOrderBy, PutResult, Share
from pangea.utils import get_file_upload_params

DATA = b"The quick brown fox. " * 5000


@pytest.fixture
def share(gateway):
    config = PangeaConfig(base_url_template=gateway.url + "/{SERVICE_NAME}", poll_result_timeout=20)
    return Share(gateway.token, config=config)


class Opened(io.BytesIO):
    """A file in memory; the client wants to know how it was opened."""

    mode = "rb"


def store(share, name="fox.txt", method=TransferMethod.MULTIPART, data=DATA, **more):
    response = share.put(Opened(data), name=name, transfer_method=method, **more)
    return response.result.object


@pytest.mark.parametrize("method", [TransferMethod.MULTIPART, TransferMethod.POST_URL])
def test_a_file_comes_back_by_url_and_as_a_part(share, method):
    done = store(share, folder="/fox/" + method.value, method=method, metadata={"by": "me"}, tags=["a", "b"])
    assert (done.name, done.folder, done.type, done.size) == ("fox.txt", "/fox/" + method.value, "file", len(DATA))
    assert done.id.startswith("pos_") and len(done.id) == 36
    assert done.sha256 == hashlib.sha256(DATA).hexdigest()
    assert done.metadata.root == {"by": "me"} and done.tags.root == ["a", "b"]
    by_url = share.get(done.id, transfer_method=TransferMethod.DEST_URL)
    assert not by_url.attached_files
    file = share.download_file(by_url.result.dest_url)
    assert file.file == DATA and file.filename == "fox.txt"
    as_part = share.get(done.id, transfer_method=TransferMethod.MULTIPART)
    assert as_part.result.dest_url is None and as_part.result.object.id == done.id
    assert [(file.filename, file.file) for file in as_part.attached_files] == [("fox.txt", DATA)]


def test_an_upload_url_is_asked_for_and_polled(share):
    response = share.request_upload_url(name="later.txt", transfer_method=TransferMethod.PUT_URL)
    assert response.http_status == 202 and response.accepted_result.put_url
    with pytest.raises(pe.AcceptedRequestException):
        share.request.poll_result_by_id(response.request_id, PutResult)
    share.request.put_presigned_url(response.accepted_result.put_url, [("upload", ("x", DATA, "text/plain"))])
    done = share.poll_result(response=response)
    assert done.result.object.name == "later.txt" and done.result.object.size == len(DATA)
    again = share.poll_result(response=response)
    assert again.result.object.id == done.result.object.id


@pytest.fixture(scope="module")
def files():
    class Files(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(404 if "none" in self.path else 200)
            if "cut" not in self.path:
                self.send_header("Content-Length", str(len(DATA)))
            else:
                self.send_header("Content-Length", str(len(DATA) + 1))
            self.end_headers()
            self.wfile.write(DATA)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d" % server.server_port
        server.shutdown()


@pytest.mark.parametrize("path, more, name, folder", [
    ("/robots.txt", {}, "robots.txt", "/"),
    ("/a/r%C3%A9sum%C3%A9.pdf?x=1#y", {}, "r\u00e9sum\u00e9.pdf", "/"),
    ("/robots.txt", {"name": "mine.txt", "folder": "/fetched"}, "mine.txt", "/fetched"),
    ("/robots.txt", {"folder": "/fetched/"}, "robots.txt", "/fetched"),
    ("/", {"folder": "/fetched/whole.txt"}, "whole.txt", "/fetched"),
    ("/robots.txt", {"sha256": hashlib.sha256(DATA).hexdigest(), "size": len(DATA), "tags": ["t"]}, "robots.txt", "/"),
])  # fmt: skip
def test_a_file_is_fetched_from_a_url(gateway, share, files, path, more, name, folder):
    body = {"transfer_method": "source-url", "source_url": files + path} | more
    answer = gateway.call("POST", "/share/v1/put", body, {"authorization": "Bearer " + gateway.token})
    assert answer.status == 200, answer.body
    done = answer.json()["result"]["object"]
    assert (done["name"], done.get("folder", "/"), done["size"]) == (name, folder, len(DATA))
    as_part = share.get(done["id"], transfer_method=TransferMethod.MULTIPART)
    assert [file.file for file in as_part.attached_files] == [DATA]


@pytest.mark.parametrize("body, code, source", [
    ({}, "FieldRequired", "/source_url"),
    ({"source_url": "{files}/none"}, "InaccessibleURI", "/source_url"),
    ({"source_url": "{files}/cut"}, "InaccessibleURI", "/source_url"),
    ({"source_url": "http://127.0.0.1:9/x"}, "InaccessibleURI", "/source_url"),
    ({"source_url": "http://169.254.169.254/latest/"}, "InaccessibleURI", "/source_url"),
    ({"source_url": "file:///etc/passwd"}, "InaccessibleURI", "/source_url"),
    ({"source_url": "{files}/a", "sha256": "0" * 64}, "BadState", "/sha256"),
    ({"source_url": "{files}/a", "transfer_method": "put-url"}, "MutuallyExclusive", "/source_url"),
    ({"source_url": "{files}/a", "bucket_id": "psb_" + "b" * 32}, "DoesNotExist", "/bucket_id"),
])  # fmt: skip
def test_what_cannot_be_fetched_is_told(gateway, files, body, code, source):
    body = {name: value.replace("{files}", files) if isinstance(value, str) else value for name, value in body.items()}
    answer = gateway.call("POST", "/share/v1/put", {"transfer_method": "source-url"} | body, {"authorization": "Bearer " + gateway.token})
    [error] = answer.json()["result"]["errors"]
    assert (answer.status, error["code"], error["source"]) == (400, code, source)


def test_there_is_one_bucket(gateway, share):
    [bucket] = share.buckets().result.buckets
    assert bucket.default and {method.value for method in bucket.transfer_methods} >= {"multipart", "source-url"}
    assert store(share, name="b.txt", bucket_id=bucket.id).name == "b.txt"


def test_what_is_promised_is_judged(share):
    params = get_file_upload_params(Opened(DATA))
    response = share.request_upload_url(
        name="wrong", transfer_method=TransferMethod.POST_URL, size=params.size + 1, crc32c="00000000",
        sha256="0" * 64, md5="0" * 32, sha1="0" * 40, sha512="0" * 128,
    )
    accepted = response.accepted_result
    share.request.post_presigned_url(accepted.post_url, accepted.post_form_data, [("upload", ("x", DATA, "text/plain"))])
    with pytest.raises(pe.ValidationException) as caught:
        share.poll_result(response=response)
    wrong = {(error.code, error.source) for error in caught.value.errors}
    assert wrong == {("BadState", "/" + name) for name in ("size", "crc32c", "sha256", "md5", "sha1", "sha512")}
    right = dict(md5=hashlib.md5(DATA).hexdigest(), sha1=hashlib.sha1(DATA).hexdigest())
    assert store(share, sha512=hashlib.sha512(DATA).hexdigest(), **right).size == len(DATA)


def test_an_empty_file(share):
    for method in (TransferMethod.MULTIPART, TransferMethod.POST_URL):
        assert store(share, name="empty", method=method, data=b"").size == 0


def test_folders_are_made_listed_and_deleted(share):
    made = share.folder_create(folder="/tree/inner").result.object
    assert (made.type, made.name, made.folder) == ("folder", "inner", "/tree")
    assert made.metadata is None and made.tags is None
    assert share.list(filter={"type": "folder", "folder": "/tree"}).result.count == 1
    assert share.folder_create(name="inner", folder="/tree").result.object.id == made.id
    files = [store(share, name="f%d" % n, parent_id=made.id, data=b"x" * n) for n in (1, 2, 3)]
    assert {file.folder for file in files} == {"/tree/inner"} and {file.parent_id for file in files} == {made.id}
    seen, last = [], None
    while True:
        page = share.list(filter={"folder": "/tree/inner"}, size=2, last=last,
                          order=ItemOrder.DESC, order_by=ItemOrderBy.NAME).result
        assert page.count == 3
        seen += [item.name for item in page.objects]
        if not (last := page.last):
            break
    assert seen == ["f3", "f2", "f1"]
    with pytest.raises(pe.ValidationException):
        share.delete(made.id)
    assert share.delete(made.parent_id, force=True).result.count == 5
    with pytest.raises(pe.NotFound):
        share.get(files[0].id)


def test_objects_are_updated_by_whoever_knows_them(share):
    file = store(share, metadata={"a": "1"}, tags=["x"])
    new = share.update(file.id, folder="/moved", add_metadata={"b": "2"}, remove_tags=["x"], add_tags=["y"],
                       updated_at=file.updated_at).result.object
    assert new.folder == "/moved" and new.metadata.root == {"a": "1", "b": "2"} and new.tags.root == ["y"]
    with pytest.raises(pe.ValidationException) as caught:
        share.update(file.id, tags=["stale"], updated_at=file.updated_at)
    assert [error.source for error in caught.value.errors] == ["/updated_at"]


def test_retention_is_inherited_and_kept(share, gateway):
    share.folder_create(folder="/short", file_ttl="1s")
    file = store(share, folder="/short")
    gateway.wait_for(lambda: gateway.api("/share/v1/get", {"id": file.id}).status == 404, 10)
    assert not share.list(filter={"folder": "/short"}).result.objects


def test_bare_paths_are_not_ours_but_a_host_is(gateway):
    assert gateway.call("POST", "/v1/list", {}, {"authorization": "Bearer " + gateway.token}).status == 404
    assert gateway.api("/share/v1/list", {}).status == 200
    assert gateway.api("/v1/list", {}, host="share.example").status == 200


@pytest.mark.parametrize("path, body, code, source", [
    ("put", {"transfer_method": "multipart"}, "NotEnumMember", "/transfer_method"),
    ("put", {}, "FieldRequired", "/transfer_method"),
    ("put", {"transfer_method": "put-url", "name": "a/b"}, "DoesNotMatchPattern", "/name"),
    ("put", {"transfer_method": "put-url", "password": "x"}, "ProviderDisabled", "/password"),
    ("put", {"transfer_method": "put-url", "folder": "a/../b"}, "DoesNotMatchPattern", "/folder"),
    ("put", {"transfer_method": "put-url", "crc32c": "xyz"}, "DoesNotMatchPattern", "/crc32c"),
    ("get", {}, "FieldRequired", "/id"),
    ("list", {"strange": 1}, "UnexpectedProperty", "/strange"),
    ("folder/create", {}, "MustProvideOne", "/name"),
    ("folder/create", {"name": "x", "parent_id": "pos_" + "a" * 32}, "DoesNotExist", "/parent_id"),
])
def test_faults_say_where(gateway, path, body, code, source):
    answer = gateway.api("/share/v1/" + path, body)
    assert answer.status == 400
    assert [(error["code"], error["source"]) for error in answer.json()["result"]["errors"]] == [(code, source)]


def test_who_may_not_is_told_so(gateway):
    for path in ("put", "get", "list"):
        assert gateway.call("POST", "/share/v1/" + path, {}).status == 401
    assert gateway.call("GET", "/request/prq_" + "a" * 32).status == 401
    assert gateway.call("GET", "/request/prq_" + "a" * 32, headers={"authorization": "Bearer " + gateway.token}).status == 404


def test_a_folder_is_made_by_its_path(gateway, share):
    ask = lambda **body: gateway.api("/share/v1/folder/create", body)
    by_path = ask(path="/by/path/").json()["result"]["object"]
    assert (by_path["name"], by_path["folder"], by_path["type"]) == ("path", "/by", "folder")
    assert ask(folder="by/path/").json()["result"]["object"]["id"] == by_path["id"]
    assert ask(name="path", folder="/by/").json()["result"]["object"]["id"] == by_path["id"]
    wrong = ask(path="/a", name="b").json()["result"]["errors"]
    assert [(one["source"], one["code"]) for one in wrong] == [("/path", "MutuallyExclusive")]


def test_an_empty_folder_is_renamed_and_moved(gateway, share):
    made = share.folder_create(folder="/renamed/before").result.object
    for change, want in (
        ({"name": "after"}, ("after", "/renamed")),
        ({"folder": "/elsewhere/"}, ("after", "/elsewhere")),
        ({"name": "last", "folder": "/renamed"}, ("last", "/renamed")),
        ({"name": "last", "tags": ["t"]}, ("last", "/renamed")),
    ):
        answer = gateway.api("/share/v1/update", {"id": made.id, **change})
        assert answer.status == 200, (change, answer.body)
        now = answer.json()["result"]["object"]
        assert (now["id"], now["name"], now["folder"], now["type"]) == (made.id, *want, "folder"), change
    assert share.folder_create(folder="/renamed/last").result.object.id == made.id
    assert share.folder_create(folder="/renamed/before").result.object.id != made.id
    assert share.delete(made.id).result.count == 1


@pytest.mark.parametrize("method", [TransferMethod.MULTIPART, TransferMethod.POST_URL])
def test_a_path_alone_names_the_file(share, method):
    folder = "/paths/" + method.value
    put = lambda **more: share.put(Opened(DATA), transfer_method=method, **more).result.object
    file = put(folder=folder + "/fox")
    assert (file.name, file.folder, file.metadata, file.tags) == ("fox", folder, None, None)
    assert put(folder=folder, name="named").folder == folder
    assert put(folder=folder).folder == folder, "it is there, so it is a folder"
    assert put(folder=folder + "/new/").folder == folder + "/new"


def test_a_name_is_kept_on_the_way(share):
    file = store(share, name="\u00fc b.txt")
    assert file.name == "\u00fc b.txt"
    as_part = share.get(file.id, transfer_method=TransferMethod.MULTIPART)
    assert [one.filename for one in as_part.attached_files] == ["\u00fc b.txt"]


def test_an_archive_has_a_folder_with_all_in_it(gateway, share):
    folder = share.folder_create(folder="/packed/outer").result.object
    want = {}
    for path, data in (("a.txt", b"a" * 700), ("inner/\u00fc " + "b" * 120 + ".bin", DATA), ("inner/empty", b"")):
        way, _, name = path.rpartition("/")
        store(share, name=name, folder="/packed/outer/" + way, data=data)
        want["outer/" + path] = data
    store(share, name="a.txt", folder="/packed/outer", data=b"again")
    want["outer/a.txt (2)"] = b"again"
    store(share, name="beside", folder="/packed/outerwear")

    def read(form, data):
        if form == ArchiveFormat.ZIP:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                assert packed.testzip() is None
                return {one.filename: packed.read(one) for one in packed.infolist() if not one.is_dir()}
        with tarfile.open(fileobj=io.BytesIO(data)) as packed:
            return {one.name: packed.extractfile(one).read() for one in packed if one.isfile()}

    for form in (ArchiveFormat.ZIP, ArchiveFormat.TAR):
        by_part = share.get_archive([folder.id], format=form, transfer_method=TransferMethod.MULTIPART)
        assert by_part.result.count == 6 and len(by_part.result.objects) == 6 and by_part.result.dest_url is None
        (file,) = by_part.attached_files
        assert file.filename == "archive." + form.value and set(read(form, file.file)) == set(want)
        assert sorted(read(form, file.file).values()) == sorted(want.values())
        by_url = share.get_archive([folder.id], format=form, transfer_method=TransferMethod.DEST_URL)
        assert share.download_file(by_url.result.dest_url).file == file.file
    with pytest.raises(pe.NotFound):
        share.get_archive([folder.id, "pos_" + "a" * 32])


def test_what_lies_in_a_folder_called_like_a_file_stays_in_it(share, tmp_path):
    # Which of the two is called otherwise in the archive depends on their ids.
    for n in range(4):
        folder = share.folder_create(name="clash%d" % n, folder="/").result.object
        store(share, name="d.txt", folder="/clash%d" % n)
        store(share, name="inner", folder="/clash%d/d.txt" % n)
        for form in (ArchiveFormat.ZIP, ArchiveFormat.TAR):
            (file,) = share.get_archive([folder.id], format=form, transfer_method=TransferMethod.MULTIPART).attached_files
            into = tmp_path / ("%d%s" % (n, form.value))
            if form == ArchiveFormat.ZIP:
                zipfile.ZipFile(io.BytesIO(file.file)).extractall(into)
            else:
                tarfile.open(fileobj=io.BytesIO(file.file)).extractall(into, filter="data")
            found = [one for one in into.rglob("*") if one.is_file()]
            assert len(found) == 2 and {one.name.split(" ")[0] for one in found} == {"d.txt", "inner"}


def test_a_folder_does_not_lie_in_itself(share, gateway):
    made = share.folder_create(name="round", folder="/").result.object
    inner = share.folder_create(name="inner", folder="/round").result.object
    for to in [{"folder": "/round"}, {"parent_id": made.id}, {"folder": "/round/inner/deeper"}, {"parent_id": inner.id}]:
        answer = gateway.api("/share/v1/update", json.dumps({"id": made.id} | to), **{"content-type": "application/json"})
        assert answer.status == 400 and "into itself" in answer.body.decode(), (to, answer.body)
    assert share.get(made.id).result.object.folder == "/"
    names = [one.name for one in share.list(filter={"folder": "/round"}).result.objects]
    assert names == ["inner"] and not share.list(filter={"folder": "/round/inner"}).result.objects
