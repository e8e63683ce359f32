"""Links to shared files: who has one and its password gets what it is for, and nobody else anything."""

import concurrent.futures
import email
import html
import io
import urllib.parse
import uuid
import zipfile
from datetime import datetime, timedelta, timezone
from email.policy import default

import pytest
from gateway import CONFIG, Gateway
from test_blobs import DATA, stored
from test_granted_tokens import revoke
from test_native_api import faults
from test_tokens import bearer, made

PASSWORD = "correct horse \u00fc"
GONE = b"Nothing is shared here"
ASKED = b'type="password"'


@pytest.fixture(scope="module")
def gateway(upstream):
    with Gateway(upstream.url, CONFIG + '\n[share.mail]\ncommand = ["sh", "-c", "cat >> {home}/mails"]\nfrom = "files@portcullis.example"\n') as running:
        yield running


def later(**more):
    return (datetime.now(timezone.utc) + timedelta(**more)).isoformat().replace("+00:00", "Z")


def created(gateway, *targets, token=None, **more):
    item = {"targets": list(targets), "link_type": "download", "authenticators": [{"auth_type": "password", "auth_context": PASSWORD}]}
    return gateway.call("POST", "/share/v1/share/link/create", {"links": [item | more]}, bearer(token or gateway.token))


def link(gateway, *targets, **more):
    answer = created(gateway, *targets, **more)
    assert answer.status == 200, answer.body
    (one,) = answer.json()["result"]["share_link_objects"]
    return one


def path_of(one):
    return urllib.parse.urlsplit(one["link"]).path


def form(*fields):
    """A form: names and values, in their order; a value of two is a file's name and its bytes."""
    edge, body = uuid.uuid4().hex, b""
    for name, value in fields:
        file = "" if isinstance(value, str) else '; filename="%s"' % value[0]
        value = value.encode() if isinstance(value, str) else value[1]
        body += ('--%s\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n' % (edge, name, file)).encode() + value + b"\r\n"
    return body + b"--%s--\r\n" % edge.encode(), {"content-type": "multipart/form-data; boundary=" + edge}


class Visitor:
    """A browser at a link."""

    def __init__(self, gateway, path):
        self.gateway, self.path, self.cookie = gateway, path, None

    def get(self, query="", method="GET"):
        return self.gateway.call(method, self.path + query, headers={"cookie": self.cookie} if self.cookie else {})

    def post(self, *fields):
        body, headers = form(*fields)
        answer = self.gateway.call("POST", self.path, body, headers | ({"cookie": self.cookie} if self.cookie else {}))
        if answer.headers["set-cookie"]:
            self.cookie = answer.headers["set-cookie"].split(";")[0]
        if answer.status == 303:
            assert urllib.parse.urljoin(self.path, answer.headers["location"]) == self.path
        return answer

    def enter(self, password=PASSWORD):
        return self.post(("password", password)).status


def visitor(gateway, *targets, **more):
    one = Visitor(gateway, path_of(link(gateway, *targets, **more)))
    assert one.enter() == 303
    return one


def folder(gateway, path):
    return gateway.api("/share/v1/folder/create", {"path": path}).json()["result"]["object"]["id"]


def names(gateway, path):
    listed = gateway.api("/share/v1/list", {"filter": {"folder": path}}).json()["result"]["objects"]
    return sorted(one["name"] for one in listed)


def test_a_password_opens_a_link_and_nothing_else_does(gateway):
    file = stored(gateway, name="a <b>&.txt")
    one = link(gateway, file["id"], title="For <you>", message="Have a look & tell", max_access_count=7, tags=["t"])
    assert one["id"].startswith("psl_") and one["access_count"] == 0 and one["max_access_count"] == 7
    assert one["authenticators"] == [{"auth_type": "password", "auth_context": ""}] and one["targets"] == [file["id"]]
    assert (one["title"], one["message"], one["tags"], one["link_type"]) == ("For <you>", "Have a look & tell", ["t"], "download")
    assert "last_accessed_at" not in one and one["bucket_id"] and one["link"].startswith(gateway.url + "/share/link/psl_")
    guest = Visitor(gateway, path_of(one))
    for query, status in (("", 200), ("?file=" + file["id"], 403), ("?archive=zip", 403), ("?x", 403)):
        answer = guest.get(query)
        assert answer.status == status and ASKED in answer.body, query
        # Who has not said the password learns nothing.
        assert not [word for word in (b"a &lt;", b"For", b"look", DATA[:20]) if word in answer.body]
    for wrong in ("wrong horse", PASSWORD + " ", PASSWORD.upper(), ""):
        answer = guest.post(("password", wrong))
        assert answer.status == 403 and ASKED in answer.body and guest.cookie is None
    for fields in ([("do", "delete"), ("object", file["id"])], [("file", ("x", b"x"))], []):
        answer = guest.post(*fields)
        assert answer.status == 403 and ASKED in answer.body
    entered = guest.post(("password", PASSWORD))
    cookie = entered.headers["set-cookie"]
    assert entered.status == 303 and "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path" not in cookie
    page = guest.get()
    assert page.status == 200 and html.escape("a <b>&.txt").encode() in page.body and b"For &lt;you&gt;" in page.body
    assert b"<script" not in page.body and b"<form" not in page.body and b"look &amp; tell" in page.body
    assert guest.get("?file=" + file["id"]).body == DATA
    head = guest.get("?file=" + file["id"], "HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(DATA)))
    packed = zipfile.ZipFile(io.BytesIO(guest.get("?archive=zip").body))
    assert [packed.read(one) for one in packed.infolist()] == [DATA]
    assert guest.get("?archive=tar").status == 200
    seen = gateway.api("/share/v1/share/link/get", {"id": one["id"]}).json()["result"]["share_link_object"]
    assert seen["link"] == one["link"] and seen["access_count"] == 1 and seen["last_accessed_at"]


def test_every_answer_of_a_link_is_kept_to_itself(gateway):
    file = stored(gateway, name="page.html")
    guest = Visitor(gateway, path_of(link(gateway, file["id"])))
    answers = [guest.get(), guest.get("?x"), guest.post(("password", "wrong horse")), guest.post(("password", PASSWORD))]
    answers += [guest.get(), guest.get("?file=" + file["id"]), guest.get("?file=pos_" + "a" * 32), guest.get("?archive=zip")]
    answers += [gateway.call("GET", guest.path[:-1] + "/"), gateway.call("POST", guest.path, b"x")]
    for answer in answers:
        assert answer.headers["cache-control"] == "no-store" and answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["x-request-id"].startswith("prq_")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answers[5].headers["content-disposition"].startswith("attachment") and "sandbox" in answers[5].headers["content-security-policy"]
    assert answers[0].headers["content-security-policy"].split("; ")[1:] == ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"]


def test_a_link_ends_when_it_is_over_used_up_or_deleted_and_with_its_token(gateway):
    file = stored(gateway)["id"]
    token = made(gateway, "name", "linker")
    links = {
        "over": link(gateway, file, expires_at=later(seconds=12)),
        "used": link(gateway, file, max_access_count=1),
        "deleted": link(gateway, file),
        "revoked": link(gateway, file, token=token),
    }
    guests = {why: Visitor(gateway, path_of(one)) for why, one in links.items()}
    assert [guest.enter() for guest in guests.values()] == [303] * 4
    assert [guest.get("?file=" + file).body == DATA for guest in guests.values()] == [True] * 4
    gone = gateway.api("/share/v1/share/link/delete", {"ids": [links["deleted"]["id"]]})
    assert [one["id"] for one in gone.json()["result"]["share_link_objects"]] == [links["deleted"]["id"]]
    revoke(gateway, "linker")
    gateway.wait_for(lambda: guests["over"].get().status == 404)
    others = {why: Visitor(gateway, guest.path) for why, guest in guests.items()}
    unknown = Visitor(gateway, guests["used"].path[:-4] + "aaaa").get()
    assert unknown.status == 404 and GONE in unknown.body
    for why, guest in others.items():
        for answer in (guest.get(), guest.get("?file=" + file), guest.post(("password", PASSWORD))):
            # All the same: which of the reasons it is is nobody's business.
            assert (answer.status, answer.body) == (404, unknown.body), why
    # Whoever came in before the last one was let in stays; the rest are out.
    assert {why: guest.get("?file=" + file).status for why, guest in guests.items()} == {
        "over": 404, "used": 200, "deleted": 404, "revoked": 404,
    }
    for why in ("over", "deleted"):
        assert gateway.api("/share/v1/share/link/get", {"id": links[why]["id"]}).status == 404
    both = {"ids": [links["used"]["id"], links["deleted"]["id"]]}
    assert gateway.api("/share/v1/share/link/delete", both).status == 404
    assert gateway.api("/share/v1/share/link/get", {"id": links["used"]["id"]}).status == 200, "all or none"


def test_of_many_who_come_at_once_only_as_many_get_in_as_may(gateway):
    file = stored(gateway)["id"]
    one = link(gateway, file, max_access_count=3)
    guests = [Visitor(gateway, path_of(one)) for _ in range(9)]
    with concurrent.futures.ThreadPoolExecutor(9) as pool:
        done = list(pool.map(Visitor.enter, guests))
    assert sorted(done) == [303] * 3 + [404] * 6
    assert sum(guest.get("?file=" + file).status == 200 for guest in guests) == 3
    seen = gateway.api("/share/v1/share/link/get", {"id": one["id"]}).json()["result"]["share_link_object"]
    assert seen["access_count"] == 3


def test_guesses_are_few_also_at_once_and_the_right_one_does_not_count(gateway):
    file = stored(gateway)["id"]
    path, other = path_of(link(gateway, file)), path_of(link(gateway, file))
    for _ in range(12):
        assert Visitor(gateway, other).enter() == 303
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: Visitor(gateway, path).enter("wrong horse %d" % n), range(16)))
    assert sorted(done) == [403] * 10 + [429] * 6
    late = Visitor(gateway, path).post(("password", PASSWORD))
    assert late.status == 429 and 0 < int(late.headers["retry-after"]) <= 61 and "set-cookie" not in late.headers
    assert Visitor(gateway, other).enter() == 303, "another link's share is its own"


def test_a_session_is_for_its_link_and_a_link_has_one_spelling(gateway):
    file, other = stored(gateway)["id"], stored(gateway, data=b"other")["id"]
    guest, stranger = visitor(gateway, file), visitor(gateway, other)
    assert guest.get("?file=" + other).status == 404
    guest.cookie, own = stranger.cookie, guest.cookie
    assert guest.get("?file=" + file).status == 403
    name, value = own.split("=")
    for cookie in ("", name, name + "=", own[:-1], own + "A", own.lower(), name + "=" + "A" * len(value), "x" + own):
        guest.cookie = cookie
        assert guest.get("?file=" + file).status == 403, cookie
    guest.cookie = "a=b; " + own
    assert guest.get("?file=" + file).body == DATA
    head, id, key = guest.path.rsplit("/", 2)
    wrong = [head + "/" + id, head + "/" + id + "/", guest.path + "/", guest.path + "/x", guest.path.upper(), head + "/" + key + "/" + id]
    wrong += [head + "/" + id + "/" + "a" * 32, head + "/" + id + "/" + key[:-1], head + "/" + id + "/" + key + "a", guest.path + ";x"]
    wrong += ["/link/" + id + "/" + key, "/redact/link/" + id + "/" + key, head + "/" + id + "%2F" + key, stranger.path[:-32] + key]
    for path in wrong:
        answer = gateway.call("GET", path, headers={"cookie": own})
        assert answer.status in (400, 404) and DATA[:20] not in answer.body, path
    # The same path in another spelling is the same path (RFC 3986 section 6.2.2), here and everywhere.
    assert gateway.call("GET", guest.path.replace("/", "//").replace("psl", "%70sl") + "?file=" + file, headers={"cookie": own}).body == DATA
    for method in ("PUT", "DELETE", "PATCH"):
        assert gateway.call(method, guest.path, b"").status == 405


def test_uploads_go_where_the_link_leads_and_show_nothing_of_it(gateway):
    top, inner, beside = (folder(gateway, "/drop" + path) for path in ("", "/inner", "beside"))
    secret = stored(gateway, folder="/drop", name="secret.txt")["id"]
    guest = visitor(gateway, top, link_type="upload", title="Drop")
    page = guest.get()
    assert page.status == 200 and b"secret" not in page.body and b"inner" not in page.body and b'type="file"' in page.body
    assert [guest.get(query).status for query in ("?file=" + secret, "?archive=zip", "?archive=tar")] == [404] * 3
    assert guest.post(("file", ("new.txt", DATA))).status == 303
    assert guest.post(("folder", top), ("file", ("n\u00fc.txt", b"x"))).status == 303
    refused = [(inner, "a.txt"), (beside, "a.txt"), (secret, "a.txt"), ("pos_" + "a" * 32, "a.txt"), ("/", "a.txt")]
    assert [guest.post(("folder", where), ("file", (name, b"x"))).status for where, name in refused] == [404] * 5
    assert [guest.post(("file", (name, b"x"))).status for name in ("", "..", "a/b")] == [400] * 3
    assert guest.post(("do", "delete"), ("object", top)).status == 404
    assert names(gateway, "/drop") == ["inner", "new.txt", "n\u00fc.txt", "secret.txt"]
    assert names(gateway, "/dropbeside") == names(gateway, "/drop/inner") == []


def test_an_editor_changes_what_is_below_the_link_and_nothing_beside(gateway):
    top, inner = folder(gateway, "/desk"), folder(gateway, "/desk/inner")
    file, other = stored(gateway, folder="/desk/inner", name="old.txt")["id"], stored(gateway, folder="/deskbeside", name="x.txt")["id"]
    guest = visitor(gateway, top, link_type="editor")
    assert b"old.txt" in guest.get().body and guest.get("?file=" + file).body == DATA
    assert guest.post(("object", file), ("name", "new.txt"), ("do", "rename")).status == 303
    assert guest.post(("folder", inner), ("file", ("more.txt", b"more"))).status == 303
    assert names(gateway, "/desk/inner") == ["more.txt", "new.txt"]
    for fields, status in (
        ([("object", other), ("do", "delete")], 404),
        ([("object", other), ("name", "y"), ("do", "rename")], 404),
        ([("object", file), ("name", "../y"), ("do", "rename")], 400),
        ([("object", inner), ("name", "y"), ("do", "rename")], 409),
        ([("object", file), ("do", "burn")], 404),
        ([("do", "delete")], 404),
    ):
        assert guest.post(*fields).status == status, fields
    assert names(gateway, "/deskbeside") == ["x.txt"]
    reader = visitor(gateway, top)
    assert [reader.post(("object", file), ("do", "delete")).status, reader.post(("file", ("x", b"x"))).status] == [404] * 2
    assert guest.post(("object", inner), ("do", "delete")).status == 303
    assert names(gateway, "/desk") == [] and b"There are no files" not in guest.get().body
    assert gateway.api("/share/v1/delete", {"id": top}).status == 200
    assert guest.get().status == 200 and guest.get("?file=" + file).status == 404


def test_what_a_link_cannot_be_is_said_and_nothing_is_made(gateway):
    file, top = stored(gateway)["id"], folder(gateway, "/whole")
    before = gateway.api("/share/v1/share/link/list", {}).json()["result"]["count"]
    password = lambda text="long enough": [{"auth_type": "password", "auth_context": text}]
    rows = [
        ({"targets": []}, "BelowMinItems", "/links/0/targets"),
        ({"targets": ["pos_" + "a" * 32]}, "DoesNotExist", "/links/0/targets/0"),
        ({"targets": ["/"]}, "DoesNotExist", "/links/0/targets/0"),
        ({"targets": [top, file], "link_type": "upload"}, "BadState", "/links/0/targets/1"),
        ({"link_type": "owner"}, "NotEnumMember", "/links/0/link_type"),
        ({"link_type": None}, "InvalidNull", "/links/0/link_type"),
        ({"authenticators": []}, "BelowMinItems", "/links/0/authenticators"),
        ({"authenticators": None}, "InvalidNull", "/links/0/authenticators"),
        ({"authenticators": password("short")}, "BelowMinLength", "/links/0/authenticators/0/auth_context"),
        ({"authenticators": password("x" * 257)}, "AboveMaxLength", "/links/0/authenticators/0/auth_context"),
        ({"authenticators": password() * 11}, "AboveMaxItems", "/links/0/authenticators"),
        ({"expires_at": later(seconds=-1)}, "NotWithinRange", "/links/0/expires_at"),
        ({"expires_at": later(days=400)}, "NotWithinRange", "/links/0/expires_at"),
        ({"max_access_count": 0}, "IsTooSmall", "/links/0/max_access_count"),
        ({"notify_email": "a@b.c"}, "ProviderDisabled", "/links/0/notify_email"),
        ({"tenant_id": "t"}, "ProviderDisabled", "/links/0/tenant_id"),
        ({"send_params": {}}, "ProviderDisabled", "/links/0/send_params"),
        ({"colour": "red"}, "UnexpectedProperty", "/links/0/colour"),
    ]
    for proof in ("email_otp", "sms_otp", "social"):
        rows.append(({"authenticators": [{"auth_type": proof, "auth_context": "a@b.c"}]}, "ProviderDisabled", "/links/0/authenticators/0/auth_type"))
    for more, code, source in rows:
        answer = created(gateway, file, **more)
        assert (source, code) in faults(answer), (more, answer.body)
        assert b"short" not in answer.body and b"long enough" not in answer.body
    assert gateway.api("/share/v1/share/link/create", {"links": []}).status == 400
    many = {"links": [{"targets": [file], "link_type": "download", "authenticators": password() * 10}] * 11}
    assert gateway.api("/share/v1/share/link/create", many).status == 400
    assert gateway.api("/share/v1/share/link/list", {}).json()["result"]["count"] == before
    # Each password has a link of its own.
    two = created(gateway, file, authenticators=password("first one") + password("second one")).json()["result"]["share_link_objects"]
    assert len(two) == 2
    done = [[Visitor(gateway, path_of(one)).enter(text) for text in ("first one", "second one")] for one in two]
    assert done == [[303, 403], [403, 303]]


def test_a_token_that_does_not_cover_the_share_has_nothing_of_links(gateway):
    file = stored(gateway)["id"]
    one = link(gateway, file)
    other, ours = made(gateway, "name", "elsewhere", "service", "redact"), made(gateway, "name", "here", "service", "share")
    send = {"links": [{"id": one["id"], "email": "a@b.c"}], "sender_email": "d@e.f"}
    calls = [("create", {"links": []}), ("get", {"id": one["id"]}), ("list", {}), ("send", send), ("delete", {"ids": [one["id"]]})]
    for name, body in calls:
        path = "/share/v1/share/link/" + name
        for other_path in (path, "/" + path, path + "/"):
            answer = gateway.call("POST", other_path, body, bearer(other))
            assert answer.status == 403 and one["link"].encode() not in answer.body
        assert gateway.call("POST", path, body).status == 401
    # All tokens of the share have all that is in it, as they have its files.
    assert gateway.call("POST", "/share/v1/share/link/get", {"id": one["id"]}, bearer(ours)).status == 200
    assert gateway.call("POST", "/share/v1/share/link/delete", {"ids": [one["id"]]}, bearer(ours)).status == 200


def test_lists_are_filtered_ordered_and_paged(gateway):
    file, mark = stored(gateway)["id"], uuid.uuid4().hex
    made_links = [link(gateway, file, title="%s %d" % (mark, n), max_access_count=n + 1, tags=[mark]) for n in range(5)]
    ids = [one["id"] for one in made_links]

    def listed(filter=None, **more):
        answer = gateway.api("/share/v1/share/link/list", {"filter": {"tags": [mark]} | (filter or {})} | more)
        assert answer.status == 200, answer.body
        return [one["id"] for one in answer.json()["result"]["share_link_objects"]]

    assert Visitor(gateway, path_of(made_links[2])).enter() == 303
    rows = [
        ({}, ids), ({"title__contains": [mark, " 3"]}, ids[3:4]), ({"id__in": ids[1:3]}, ids[1:3]), ({"link": made_links[4]["link"]}, ids[4:]),
        ({"max_access_count__gte": 4}, ids[3:]), ({"access_count": 1}, ids[2:3]), ({"last_accessed_at__gt": "2020-01-01T00:00:00Z"}, ids[2:3]),
        ({"target": file}, ids), ({"target_id__in": ["x"]}, []), ({"message__contains": [""]}, []), ({"link_type__in": ["upload", "editor"]}, []),
        ({"expires_at__lt": later(days=1)}, []), ({"created_at__lte": later(days=1), "tags": [mark, "x"]}, []),
    ]
    for filter, expected in rows:
        assert sorted(listed(filter)) == sorted(expected), filter
    assert listed(order_by="title") == ids and listed(order_by="max_access_count", order="desc") == ids[::-1]
    assert listed(order_by="access_count", order="desc")[0] == ids[2]
    pages, last = [], ""
    for _ in range(3):
        body = {"filter": {"tags": [mark]}, "order_by": "title", "size": 2, "last": last}
        page = gateway.api("/share/v1/share/link/list", body).json()["result"]
        assert page["count"] == 5
        pages += [one["id"] for one in page["share_link_objects"]]
        last = page.get("last")
    assert pages == ids and last is None


def test_a_link_is_sent_from_the_operators_address(gateway):
    file = stored(gateway)["id"]
    one = link(gateway, file, title="N\u00fcws\r\nBcc: x@y.z", message="Hello.\r\n.\r\nBye")
    body = {"links": [{"id": one["id"], "email": "jo@example.com"}], "sender_email": "me@example.com", "sender_name": "M\u00e9\r\nCc: e@f.g"}
    answer = gateway.api("/share/v1/share/link/send", body)
    (sent,) = answer.json()["result"]["share_link_objects"]
    assert sent["recipient_email"] == "jo@example.com" and sent["link"] == one["link"]
    mail = email.message_from_bytes((gateway.home / "mails").read_bytes(), policy=default)
    assert (mail["to"], mail["reply-to"]) == ("jo@example.com", "me@example.com") and "<files@portcullis.example>" in mail["from"]
    said = [" ".join(mail[name].split()) for name in ("from", "subject")]
    assert said == ['"M\u00e9 Cc: e@f.g" <files@portcullis.example>', "N\u00fcws Bcc: x@y.z"]
    assert mail["bcc"] is None and mail["cc"] is None and one["link"] in mail.get_content() and PASSWORD not in mail.get_content()
    for wrong in ({"sender_email": "me"}, {"sender_email": "-t@b"}, {"links": [{"id": one["id"], "email": "a@b\nBcc: c@d"}]}, {"links": [{"id": "psl_" + "a" * 32, "email": "a@b"}]}):
        assert gateway.api("/share/v1/share/link/send", body | wrong).status == 400
    assert (gateway.home / "mails").read_bytes().count(b"To: <jo") == 1


def test_without_somebody_who_takes_mails_none_is_pretended(upstream):
    for mail in ("", '\n[share.mail]\ncommand = ["false"]\nfrom = "a@b"\n'):
        with Gateway(upstream.url, CONFIG + mail) as running:
            one = link(running, stored(running)["id"])
            body = {"links": [{"id": one["id"], "email": "jo@example.com"}], "sender_email": "me@example.com"}
            answer = running.api("/share/v1/share/link/send", body)
            assert answer.status == 400 and answer.json()["status"] == ("ProviderError" if mail else "ValidationError")
            assert mail or [code for _, code in faults(answer)] == ["ProviderDisabled"]
            seen = running.api("/share/v1/share/link/get", {"id": one["id"]}).json()["result"]["share_link_object"]
            assert "recipient_email" not in seen


@pytest.mark.parametrize("level", ["info", "trace"])
def test_links_outlive_the_process_and_no_log_has_one(upstream, level):
    config = CONFIG.replace('format = "json"', 'format = "json"\nlevel = "%s"' % level)
    with Gateway(upstream.url, config) as running:
        file = stored(running)["id"]
        one = link(running, file)
        guest = Visitor(running, path_of(one))
        assert guest.enter("wrong horse") == 403 and guest.enter() == 303
        running.restart()
        assert guest.get("?file=" + file).body == DATA, "a session outlives it too"
        assert Visitor(running, guest.path).enter() == 303
        gateway_log = "\n".join(running.log + running.out)
        metrics = running.metrics()
        data = b"".join(path.read_bytes() for path in (running.home / "data").glob("portcullis.sqlite*"))
    key = guest.path.rsplit("/", 1)[1]
    assert '"/link"' in gateway_log or "/link" in gateway_log, "requests are logged"
    for secret in (key, guest.cookie.split("=")[1], PASSWORD, "correct horse", "wrong horse"):
        assert secret not in gateway_log and secret not in metrics, level
        assert secret.encode() not in data
    assert one["id"].encode() in data
