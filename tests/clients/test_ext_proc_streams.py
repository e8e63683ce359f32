"""Streams of external processing that no Envoy would send: heads that could be read in two ways, parts out of turn, garbage, giants,
and callers that leave."""

import json

import ext_proc
import http2
import pytest
from ext_proc import BUFFERED, FULL_DUPLEX, NONE, PARTIAL, STREAMED, Stream, head, post, within
from gateway import Gateway
from mock_upstream import Mock
from test_ext_proc import CONFIG, MAIL, forget, lines
from test_openai import PROMPT

CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": PROMPT}]}).encode()


@pytest.fixture(scope="module")
def gateway():
    with Mock() as upstream, Gateway(upstream.url, CONFIG) as running:
        running.mock = upstream
        yield running
        forget(running)


@pytest.fixture
def raw(gateway):
    return lambda **how: Stream(gateway.h2c, **how)




def test_nothing_else_is_served_there(gateway, raw):
    for how in [{"path": "/v1/chat/completions"}, {"kind": "application/json"}, {"path": "/grpc.health.v1.Health/Check"}]:
        with raw(**how) as stream:
            assert stream.told() == ("ended", "12")
    answer = gateway.call("GET", "/healthz", port=gateway.h2c)
    assert answer.status == 505


def test_ordinary_listeners_know_no_such_route(gateway):
    assert gateway.call("POST", "/v1/chat/completions", {"model": "m", "messages": []}).status == 404
    assert gateway.call("POST", "/mask/reflect", "x").status == 200, "its own route there"


@pytest.mark.parametrize(
    "pairs, status",
    [
        ([(":method", "POST"), (":path", "/v1/x"), (":path", "/plain/x"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "/v1/x"), (":authority", "a"), (":authority", "b"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "/v1/x"), (":authority", "a"), ("host", "b"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "/v1/x"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":path", "/v1/x"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":method", "PO ST"), (":path", "/v1/x"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "v1/x"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "http://b/v1/x"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "/v1/\r\nx: y"), (":authority", "a"), (":scheme", "http")], 400),
        ([(":method", "POST"), (":path", "/v1/x"), (":authority", "a"), (":scheme", "file")], 400),
        ([(":method", "POST"), (":path", "/v1/x"), (":authority", "a"), (":status", "200"), (":scheme", "http")], 400),
        ([(":method", "CONNECT"), (":authority", "a:1")], 405),
        ([(":method", "GET"), (":protocol", "websocket"), (":path", "/v1/x"), (":authority", "a"), (":scheme", "http")], 501),
        ([*post(), ("x-\nbad", "1")], 400),
        ([*post(), ("x-bad", "1\r\nx: y")], 400),
        ([*post(), ("connection", "authorization")], 400),
        ([*post(), ("x-http-method-override", "DELETE")], 400),
        ([*post(), ("x-long", "x" * 20_000)], 431),
        ([(":method", "POST"), (":path", "/mask%2Fx"), (":authority", "a"), (":scheme", "http")], 404),
        ([], 400),
    ],
)
def test_heads_that_could_be_read_in_two_ways_are_refused(raw, pairs, status):
    with raw() as stream:
        stream.begin(pairs)
        assert stream.status() == status
        assert stream.told() == ("ended", "0")


def test_what_comes_out_of_turn_ends_it(raw):
    rows = [
        [(ext_proc.REQUEST_BODY, ext_proc.body(CHAT))],
        [(ext_proc.REQUEST_TRAILERS, [])],
        [],
    ]
    for row in rows:
        with raw() as stream:
            stream.send(*row, ext_proc.config())
            assert stream.status() == 500, row
    for second in [
        (ext_proc.REQUEST_HEADERS, head(post())),
        (ext_proc.RESPONSE_BODY, ext_proc.body(b"x")),
        (ext_proc.RESPONSE_TRAILERS, []),
    ]:
        with raw() as stream:
            stream.begin(end=True)
            assert stream.told()[0] == "request_headers"
            stream.send(second)
            assert stream.status() == 500, second
            assert stream.told()[0] == "ended"


def test_an_answer_without_a_request_passes_if_it_is_the_proxys_own(raw):
    own = [(":status", "401"), ("content-type", "text/plain")]
    with raw() as stream:
        stream.send((ext_proc.RESPONSE_HEADERS, head(own)), ext_proc.config())
        assert stream.told() == ("response_headers", ext_proc.encoded([(1, [])]))
        stream.send((ext_proc.RESPONSE_BODY, ext_proc.body(b"no")))
        assert stream.told() == ("response_body", ext_proc.encoded([(1, [])]))
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT)))
        assert stream.told() == ("ended", None)
    with raw() as stream:
        stream.send((ext_proc.RESPONSE_HEADERS, head([*own, ("x-envoy-upstream-service-time", "3")])), ext_proc.config())
        assert stream.status() == 500


def test_an_answer_to_be_is_never_taken_for_one(raw):
    for pairs in [[], [(":status", "20")], [(":status", "abc")], [(":status", "200"), (":status", "500")], [(":path", "/")]]:
        with raw() as stream:
            stream.begin(end=True)
            stream.told()
            stream.send((ext_proc.RESPONSE_HEADERS, head(pairs)))
            assert stream.status() == 502, pairs


def test_garbage_ends_it(raw):
    """The caller has an answer before the stream fails: an Envoy may be told to go on where one does."""
    rows = [
        (b"\x01\0\0\0\x01x", 500, "12"),  # compressed
        (b"\0\xff\xff\xff\xff" + b"x" * 100, 413, "8"),
        (b"\0\0\0\0\x05\xff\xff\xff\xff\xff", 500, "3"),
        (b"GET / HTTP/1.1\r\n\r\n", 500, "12"),
        (ext_proc.framed(b"\x12\xff\xff\xff\xff\x0f"), 500, "3"),
    ]
    for data, status, code in rows:
        for begun in [False, True]:
            with raw() as stream:
                if begun:
                    stream.begin()
                    assert stream.told()[0] == "request_headers"
                stream.bytes(data)
                assert stream.status() == status, data
                assert stream.told() == ("ended", code), data


def test_a_nested_bomb_is_garbage(raw):
    data = b""
    for _ in range(5000):
        data = b"\x12" + ext_proc.varint(len(data)) + data
    with raw() as stream:
        stream.bytes(ext_proc.framed(data))
        assert stream.told()[0] in ("ended", "immediate")


def test_modes_by_hand(raw):
    """What no mode says, and those in which the body is not seen."""
    with raw() as stream:
        stream.send((ext_proc.REQUEST_HEADERS, head(post())))
        assert stream.status() == 500
    for modes in [(NONE, BUFFERED), (BUFFERED, NONE), (PARTIAL, STREAMED), (STREAMED, PARTIAL), (9, 9), (5, 5)]:
        with raw() as stream:
            stream.begin(modes=modes)
            assert stream.status() == 500, modes
    with raw() as stream:
        stream.send((ext_proc.REQUEST_HEADERS, head(post())), (10, 1), ext_proc.config())
        assert stream.told() == ("ended", "9")


def test_one_byte_at_a_time(raw):
    with raw() as stream:
        message = ext_proc.framed([(ext_proc.REQUEST_HEADERS, head(post())), ext_proc.config()])
        for byte in message:
            stream.frame(bytes([byte]))
        assert stream.told()[0] == "request_headers"
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT)))
        name, data = stream.told()
        assert name == "request_body" and MAIL.encode() not in data


def test_many_short_pieces(raw):
    """More than are read before the next come."""
    for data, mode in [(b" ", FULL_DUPLEX), (b"", FULL_DUPLEX), (b" ", STREAMED)]:
        with raw() as stream:
            stream.begin(modes=(mode, mode))
            piece = ext_proc.framed([(ext_proc.REQUEST_BODY, ext_proc.body(data, end=False))])
            for _ in range(5000):
                stream.bytes(piece)
            stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT)))
            assert stream.told()[0] == "request_headers"
            if mode == STREAMED:
                assert all(within(stream.told()[1], 1, 3, 2) == 1 for _ in range(5000))
            whole = within(stream.told()[1], 1, 3, 1 if mode == STREAMED else 3)
            whole = whole if mode == STREAMED else within(whole, 1)
            assert json.loads(whole)["model"] == "m"


def test_a_stream_that_is_not_read_keeps_no_other_waiting(gateway):
    """Of one whose answers are not taken nothing more is read; the others of its connection go on."""
    with Stream(gateway.h2c) as slow:
        slow.begin(post(path="/plain/x"), modes=(FULL_DUPLEX, FULL_DUPLEX))
        assert slow.told()[0] == "request_headers"
        slow.grants = False
        piece = ext_proc.framed([(ext_proc.REQUEST_BODY, ext_proc.body(b"x" * 16000, end=False))])
        slow.connection.sock.settimeout(1)
        try:
            for _ in range(1000):
                while len(piece) > slow.room:
                    slow.take()
                slow.frame(piece)
            pytest.fail("all of it is read")
        except TimeoutError:
            pass
        slow.connection.sock.settimeout(10)
        for _ in range(20):
            other = Stream(connection=slow.connection)
            other.begin(post(path="/v1/chat/completions"))
            assert other.told()[0] == "request_headers"
            other.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT)))
            assert other.told()[0] == "request_body"


def test_a_body_is_withheld_until_all_of_it_is_there(raw):
    with raw() as stream:
        stream.begin(modes=(STREAMED, STREAMED))
        assert stream.told()[0] == "request_headers"
        half = len(CHAT) // 2
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT[:half], end=False)))
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT[half:], end=True)))
        first, second = stream.told(), stream.told()
        assert within(first[1], 1, 3, 2) == 1, "cleared"
        whole = within(second[1], 1, 3, 1)
        assert json.loads(whole)["model"] == "m" and MAIL.encode() not in whole
        # The upstream answers, and all is over.
        stream.send((ext_proc.RESPONSE_HEADERS, head([(":status", "204")], end=True)))
        assert stream.told()[0] == "response_headers"
        stream.end()
        assert stream.told() == ("ended", "0")


def test_an_upstream_may_answer_before_it_has_the_body(raw):
    with raw() as stream:
        stream.begin(modes=(STREAMED, STREAMED))
        stream.told()
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT[:50], end=False)))
        stream.send((ext_proc.RESPONSE_HEADERS, head([(":status", "401"), ("content-type", "text/plain")])))
        assert within(stream.told()[1], 1, 3, 2) == 1
        assert stream.told()[0] == "response_headers"
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT[50:], end=True)))
        name, data = stream.told()
        assert name == "request_body" and within(data, 1, 3, 2) == 1, "nothing of it goes on"
        stream.send((ext_proc.RESPONSE_BODY, ext_proc.body(b"no", end=True)))
        assert stream.told()[0] == "response_body"


def test_trailers_that_follow_a_body_go_with_it(raw):
    trailers = (ext_proc.REQUEST_TRAILERS, [(1, [(1, [(1, "x-sum"), (3, MAIL)])])])
    with raw() as stream:
        stream.begin(modes=(FULL_DUPLEX, FULL_DUPLEX))
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT, end=False)))
        stream.send(trailers)
        assert stream.told()[0] == "request_headers"
        whole = b""
        while True:
            message = ext_proc.decoded(stream.receive())
            if 5 in message:
                break
            streamed = ext_proc.decoded(within(message[3][0], 1, 3, 3))
            whole += streamed.get(1, [b""])[0]
            assert 2 not in streamed, "trailers end it"
        assert json.loads(whole)["model"] == "m" and MAIL.encode() not in whole
        assert within(message[5][0], 1, 2) == b"x-sum", "taken away"
    with raw() as stream:
        stream.begin(modes=(STREAMED, STREAMED))
        stream.told()
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT, end=False)))
        stream.send(trailers)
        assert stream.told()[0] == "request_body"
        assert stream.status() == 501


def test_an_answer_ends_with_its_trailers(raw):
    """What is held back of it until then has a place only where pieces are not answered one by one."""
    trailers = (ext_proc.RESPONSE_TRAILERS, [(1, [(1, [(1, "x-sum"), (3, "1")])])])
    answer = (ext_proc.RESPONSE_HEADERS, head([(":status", "200"), ("content-type", "text/plain")]))
    for mode in [FULL_DUPLEX, STREAMED]:
        with raw() as stream:
            stream.begin(post(path="/mask/x"), end=True, modes=(mode, mode))
            assert stream.told()[0] == "request_headers"
            stream.send(answer)
            stream.send((ext_proc.RESPONSE_BODY, ext_proc.body(("Write to %s" % MAIL).encode(), end=False)))
            stream.send(trailers)
            assert stream.told()[0] == "response_headers"
            if mode == STREAMED:
                assert MAIL.encode() not in stream.told()[1]
                assert stream.status() == 502, "the end is held back, and the connection breaks off"
                continue
            text = b""
            while 6 not in (message := ext_proc.decoded(stream.receive())):
                text += within(message[4][0], 1, 3, 3, 1) or b""
            assert text.startswith(b"Write to *") and len(text) == len("Write to ") + len(MAIL)
            assert within(message[6][0], 1, 2) == b"x-sum"


def test_an_answer_may_begin_while_the_request_goes_on(raw):
    """The head of a document is held until what follows it can be looked through; the request's pieces take no part in that."""
    pairs = [pair for pair in post(path="/mask/x") if pair[0] != "content-type"] + [("content-type", "text/plain")]
    with raw() as stream:
        stream.begin(pairs, modes=(FULL_DUPLEX, FULL_DUPLEX))
        assert stream.told()[0] == "request_headers"
        stream.send((ext_proc.RESPONSE_HEADERS, head([(":status", "200"), ("content-type", "application/json")])))
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(b"more words, " * 20, end=True)))
        assert stream.told()[0] == "request_body"
        stream.send((ext_proc.RESPONSE_BODY, ext_proc.body(json.dumps({"mail": MAIL}).encode())))
        names = [stream.told()[0]]
        while names[-1] != "response_headers":
            names.append(stream.told()[0])
        assert set(names[:-1]) <= {"request_body"}
        name, data = stream.told()
        assert name == "response_body" and MAIL.encode() not in data


def answered(stream, kind, *pieces):
    """The pieces of an answer as they go on, where each is answered by itself."""
    stream.send((ext_proc.RESPONSE_HEADERS, head([(":status", "200"), ("content-type", kind)])))
    assert stream.told()[0] == "response_headers"
    for at, piece in enumerate(pieces):
        stream.send((ext_proc.RESPONSE_BODY, ext_proc.body(piece, end=at + 1 == len(pieces))))
        name, data = stream.told()
        assert name == "response_body"
        yield within(data, 1, 3, 1) or b""


@pytest.mark.parametrize("mode", [STREAMED, BUFFERED])
def test_what_the_caller_wrote_word_for_word_passes_in_its_answer(raw, mode):
    """Request and answer are of one stream."""
    says = "password: Sw0rdfish-and-chips"
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": says}]}
    for said, passes in [("Sw0rdfish-and-chips is what I chose", True), ("hello", False)]:
        ask = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": said}]}
        with raw() as stream:
            stream.begin(post(path="/v1/messages"), modes=(mode, mode))
            assert stream.told()[0] == "request_headers"
            stream.send((ext_proc.REQUEST_BODY, ext_proc.body(json.dumps(ask).encode())))
            assert stream.told()[0] == "request_body"
            got = b"".join(answered(stream, "application/json", json.dumps(answer).encode()))
            assert (not got or says.encode() in got) is passes


def test_what_a_message_of_mcp_had_comes_back_in_the_stream_that_answers_it(raw):
    """The old transport: one stream of the proxy's says where messages go, and brings what another's is answered with."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": {"text": "Mail " + MAIL}}}
    get = [pair if pair[0] != ":method" else (":method", "GET") for pair in post(path="/v1/mcp/sse")]

    def events():
        yield b"event: endpoint\ndata: /v1/mcp/messages?session=a1\n\n"
        with raw() as other:
            other.begin(post(path="/v1/mcp/messages?session=a1"), modes=(STREAMED, STREAMED))
            assert other.told()[0] == "request_headers"
            other.send((ext_proc.REQUEST_BODY, ext_proc.body(json.dumps(call).encode())))
            sent = json.loads(within(other.told()[1], 1, 3, 1))["params"]["arguments"]["text"]
        assert MAIL not in sent
        result = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "Noted: " + sent}]}}
        yield b"event: message\ndata: %s\n\n" % json.dumps(result).encode()

    with raw() as stream:
        stream.begin(get, end=True, modes=(STREAMED, STREAMED))
        assert stream.told()[0] == "request_headers"
        stream.send((ext_proc.RESPONSE_HEADERS, head([(":status", "200"), ("content-type", "text/event-stream")])))
        assert stream.told()[0] == "response_headers"
        for event in events():
            stream.send((ext_proc.RESPONSE_BODY, ext_proc.body(event, end=False)))
            name, data = stream.told()
            assert name == "response_body"
            heard = within(data, 1, 3, 1)
        assert MAIL.encode() in heard


def test_headers_that_repeat_the_body_wait_for_it(raw):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": MAIL, "arguments": {}}}
    pairs = post(("mcp-name", MAIL), path="/v1/mcp")
    with raw() as stream:
        stream.begin(pairs, modes=(STREAMED, STREAMED))
        assert stream.status() == 501


def test_a_giant_body_is_refused_and_its_room_given_back(gateway, raw):
    pairs = post(path="/v1/chat/completions")
    for _ in range(3):
        with raw() as stream:
            stream.begin(pairs)
            stream.told()
            try:
                stream.send((ext_proc.REQUEST_BODY, ext_proc.body(b'{"messages":[{"role":"user","content":"' + b"x" * 6_000_000)))
            except OSError:
                pass
            assert stream.status() == 413
    with raw() as stream:
        stream.begin(pairs)
        stream.told()
        stream.send((ext_proc.REQUEST_BODY, ext_proc.body(CHAT)))
        assert stream.told()[0] == "request_body"


def test_streams_that_are_left_open_end_with_their_connection(gateway, raw):
    forget(gateway)
    streams = [raw() for _ in range(20)]
    for stream in streams:
        stream.begin()
        assert stream.told()[0] == "request_headers"
    for stream in streams:
        stream.connection.sock.close()
    done = gateway.wait_for(lambda: len(lines(gateway)) >= 20 and lines(gateway))
    assert {line["fault"] for line in done} == {"caller_gone"}
