"""Sessions over WebSocket: what a client says is redacted, what the server says is restored or masked, frames stay
frames, and whatever cannot be scanned ends the session."""

import json
import queue
import threading

import pytest
from gateway import PATIENCE
from websocket_wire import (
    BINARY,
    CLOSE,
    PING,
    PONG,
    TEXT,
    Client,
    close,
    fragments,
    frame,
)
from websocket_sessions import (
    AUDIO,
    CARD,
    INVENTED,
    LIVE,
    MAIL,
    PHONE,
    SECRETS,
    echo,
    fresh,
    say,
    scripts,
    server,
    through,
    told,
)

__all__ = ["fresh", "scripts", "server", "through"]


def test_a_value_has_one_surrogate_in_a_session_and_its_echo_is_restored(through, scripts):
    scripts.script = echo
    with Client(through.port, "/v1/realtime?model=m") as client:
        assert client.status == 101 and client.agreed, client.head
        seen = []
        for text in ("Mail %s, card %s" % (MAIL, CARD), "call %s or %s" % (PHONE, MAIL), "account no. 12345678", "12345678?"):
            client.send(frame(TEXT, say(text)))
            seen.append(scripts.next())
            assert told(client.receive()) == text
        surrogate = told(seen[0]).split(" ")[1].rstrip(",")
        assert "@" in surrogate and told(seen[1]).endswith(surrogate)
        assert all(value not in one.text for one in seen for value in SECRETS + ("12345678",))
        assert told(seen[2])[-8:] == told(seen[3])[:8], "what was found by its context is known later"
        client.send(close(1000, "bye"))
        assert client.receive().payload == b"\x03\xe8bye"
        assert client.receive() is None


def deltas(peer, seen, pieces=lambda text: list(text)):
    """Repeats what it was told in deltas, with audio between them, and then in whole."""
    text = told(seen_of(peer, seen)) + " and " + INVENTED
    at = {"response_id": "resp_1", "item_id": "item_1", "content_index": 0, "output_index": 0}
    for piece in pieces(text):
        peer.send(frame(TEXT, json.dumps({"type": "response.output_text.delta", "delta": piece} | at), mask=False))
        audio = json.dumps({"type": "response.output_audio.delta", "delta": AUDIO} | at).encode()
        peer.send(b"".join(fragments(TEXT, audio, 50, mask=False)))
    peer.send(frame(TEXT, json.dumps({"type": "response.output_text.done", "text": text} | at), mask=False))
    peer.receive()


REALTIME = {"response_id": "resp_1", "item_id": "item_1", "output_index": 0, "content_index": 0}
HEARD = {"item_id": "item_9", "content_index": 0}
CALL = {"response_id": "resp_1", "item_id": "item_1", "output_index": 0, "call_id": "call_1"}
# Where texts go on: the path, an event with a piece, and one that ends the text.
CHANNELS = [
    ("/v1/realtime", lambda text: {"type": "response.output_audio_transcript.delta", "delta": text} | REALTIME,
     {"type": "response.output_audio_transcript.done"} | REALTIME),
    ("/v1/realtime", lambda text: {"type": "response.audio_transcript.delta", "delta": text} | REALTIME,
     {"type": "response.output_item.done", "response_id": "resp_1", "output_index": 0, "item": {"id": "item_1"}}),
    ("/v1/realtime", lambda text: {"type": "response.function_call_arguments.delta", "delta": text} | CALL,
     {"type": "response.output_item.done", "response_id": "resp_1", "output_index": 0, "item": {"id": "item_1"}}),
    ("/v1/realtime", lambda text: {"type": "response.mcp_call_arguments.delta", "delta": text} | CALL,
     {"type": "response.mcp_call.completed", "response_id": "resp_1", "item_id": "item_1", "output_index": 0}),
    ("/v1/realtime", lambda text: {"type": "conversation.item.input_audio_transcription.delta", "delta": text} | HEARD,
     {"type": "conversation.item.input_audio_transcription.completed"} | HEARD),
    (LIVE, lambda text: {"serverContent": {"outputTranscription": {"text": text}}}, {"serverContent": {"turnComplete": True}}),
    (LIVE, lambda text: {"serverContent": {"inputTranscription": {"text": text}}}, {"serverContent": {"turnComplete": True}}),
    (LIVE, lambda text: {"serverContent": {"modelTurn": {"parts": [{"text": text, "thought": True}]}}}, {"serverContent": {"generationComplete": True}}),
]  # fmt: skip


def strings(value):
    """The pieces of text in an event: what is no name."""
    if isinstance(value, dict):
        return "".join(strings(one) for name, one in value.items() if name not in ("type", "response_id", "item_id", "call_id", "item"))
    return "".join(map(strings, value)) if isinstance(value, list) else value if isinstance(value, str) else ""


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("path, event, end", CHANNELS, ids=[str(at) for at in range(len(CHANNELS))])
def test_texts_go_on_over_messages_until_their_own_end(through, scripts, path, event, end, size):
    def script(peer, seen):
        text = seen_of(peer, seen).text
        surrogate = json.loads(text)["item"]["content"][0]["text"] if path != LIVE else json.loads(text)["clientContent"]["turns"][0]["parts"][0]["text"]
        # What ends it comes right behind a text that may go on.
        text = "%s and %s, %s" % (surrogate, INVENTED, surrogate)
        for at in range(0, len(text), size):
            peer.send(frame(TEXT, json.dumps(event(text[at : at + size])), mask=False))
        peer.send(frame(TEXT, json.dumps(end), mask=False))
        peer.receive()

    scripts.script = script
    said = "Mail " + MAIL
    asked = say(said) if path != LIVE else json.dumps({"clientContent": {"turns": [{"parts": [{"text": said}]}]}})
    with Client(through.port, path) as client:
        client.send(frame(TEXT, asked))
        came = []
        while not came or came[-1] != end:
            message = client.receive()
            assert message is not None, "the session ended early"
            came.append(json.loads(message.payload))
        # All of it has come before its end.
        assert "".join(map(strings, came[:-1])) == "%s and %s, %s" % (said, "*" * len(INVENTED), said)


def seen_of(peer, seen):
    message = peer.receive()
    seen.put(message)
    return message


def collected(client, until):
    all_of = []
    while not all_of or until not in all_of[-1].payload:
        all_of.append(client.receive())
        assert all_of[-1] is not None, "the session ended early"
    return all_of


@pytest.mark.parametrize("path", ["/v1/realtime", "/openai/realtime", "/masked/v1/realtime"])
def test_deltas_are_restored_over_messages_and_what_is_invented_is_masked(through, scripts, path):
    scripts.script = deltas
    text = "Mail %s, card %s" % (MAIL, CARD)
    with Client(through.port, path) as client:
        client.send(frame(TEXT, say(text)))
        messages = [message for message in collected(client, b"output_text.done") if message.opcode == TEXT]
    events = [json.loads(message.payload) for message in messages]
    said = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert said == events[-1]["text"]
    stars = "*" * len(INVENTED)
    if path.startswith("/masked"):
        assert said == "Mail %s, card %s and %s" % ("*" * len(MAIL), "*" * len(CARD), stars)
    else:
        assert said == "%s and %s" % (text, stars)
    audio = [message for message, event in zip(messages, events) if event["type"] == "response.output_audio.delta"]
    whole = b"".join(fragments(TEXT, audio[0].payload, 50, mask=False))
    assert audio and all(message.raw == whole for message in audio), "audio passes byte for byte, fragments and all"


def test_held_text_leaves_when_the_upstream_breaks_off(through, scripts):
    def script(peer, seen):
        surrogate = told(seen_of(peer, seen)).split(" ")[1]
        at = {"response_id": "r", "item_id": "i", "content_index": 0}
        for piece in ("It is ", surrogate):
            peer.send(frame(TEXT, json.dumps({"type": "response.output_text.delta", "delta": piece} | at), mask=False))

    scripts.script = script
    with Client(through.port, "/v1/realtime") as client:
        client.send(frame(TEXT, say("Mail " + MAIL)))
        said = ""
        while (message := client.receive()) is not None:
            assert message.opcode == TEXT, "a session that is cut ends as cut"
            said += json.loads(message.payload)["delta"]
    assert said == "It is " + MAIL


def test_fragments_are_joined_and_pings_pass_between_them(through, scripts):
    with Client(through.port, "/v1/realtime") as client:
        first, *rest = fragments(TEXT, say("Mail " + MAIL), 3)
        client.send(first + frame(PING, b"\x01\x02") + b"".join(rest) + frame(PONG, b""))
        ping, message, pong = scripts.next(), scripts.next(), scripts.next()
        assert (ping.opcode, ping.payload, pong.opcode) == (PING, b"\x01\x02", PONG)
        assert MAIL not in message.text and "@" in told(message)


def test_what_is_not_changed_leaves_as_it_came_and_what_is_has_fresh_masks(through, scripts):
    plain = b"".join(fragments(TEXT, say("Nothing to see, ä ☕"), 4))
    with Client(through.port, "/v1/realtime") as client:
        client.send(plain)
        assert scripts.next().raw == plain
        for _ in range(3):
            client.send(frame(TEXT, say("Mail " + MAIL)))
        raws = [scripts.next().raw for _ in range(3)]
        assert len({raw[4:8] for raw in raws}) == 3, "a mask is used once"


def test_a_call_in_little_pieces_is_read_all_the_same(through, scripts):
    whole = frame(TEXT, say("Mail " + MAIL)) + frame(PING, b"p")
    with Client(through.port, "/v1/realtime", early=whole[:7]) as client:
        for at in range(7, len(whole)):
            client.send(whole[at : at + 1])
        assert MAIL not in scripts.next().text
        assert scripts.next().payload == b"p"


VIOLATIONS = [
    ("a reserved bit", frame(TEXT, "a", rsv=4), 1002),
    ("an unknown operation", frame(3, "a"), 1002),
    ("no mask", frame(TEXT, "a", mask=False), 1002),
    ("a fragment of nothing", frame(0, "a"), 1002),
    ("a message in a message", frame(TEXT, "a", last=False) + frame(TEXT, "b"), 1002),
    ("a ping in fragments", frame(PING, "a", last=False), 1002),
    ("a long ping", frame(PING, "a" * 126), 1002),
    ("half a close code", frame(CLOSE, b"\x03"), 1002),
    ("a close code that is none", close(1005), 1002),
    ("a text that is none", frame(TEXT, b"\xff\xfe"), 1007),
    ("a reason that is no text", frame(CLOSE, b"\x03\xe8\xff"), 1007),
    ("a document that is none", frame(TEXT, "{nothing " + MAIL), 1008),
    ("one nested too deep", frame(TEXT, "[" * 200 + json.dumps(MAIL) + "]" * 200), 1008),
    ("bytes", frame(BINARY, b"\x00\x01" + MAIL.encode()), 1003),
]


@pytest.mark.parametrize("sent, code", [row[1:] for row in VIOLATIONS], ids=[row[0] for row in VIOLATIONS])
def test_what_cannot_be_scanned_ends_the_session_and_is_said(through, scripts, sent, code):
    with Client(through.port, "/v1/realtime") as client:
        client.send(sent)
        error = client.receive()
        assert error.opcode == TEXT and json.loads(error.payload)["type"] == "error", error
        assert json.loads(error.payload)["error"]["message"] and MAIL not in error.text
        ended = client.receive()
        assert (ended.opcode, ended.code) == (CLOSE, code), ended
        assert client.receive() is None
    upstream = scripts.next()
    assert (upstream.opcode, upstream.code) == (CLOSE, 1001), "nothing of it goes on"


def test_bounds_hold(through, scripts):
    with Client(through.port, "/short/v1/realtime") as client:
        client.send(frame(TEXT, say("a" * 2000)))
        assert json.loads(client.receive().payload)["error"]["code"] == "request_too_large"
        assert client.receive().code == 1009
    scripts.next()
    with Client(through.port, "/short/v1/realtime") as client:
        for piece in fragments(TEXT, say("a" * 2000), 100)[:-1]:
            client.send(piece)
        assert client.receive().opcode == TEXT
        assert client.receive().code == 1009
    scripts.next()
    with Client(through.port, "/short/v1/realtime") as client:
        assert client.receive().code == 1001, "nobody says anything"


@pytest.mark.parametrize(
    "sent, code",
    [
        (frame(TEXT, "a", mask=False, rsv=4), 1002),
        (frame(TEXT, "a"), 1002),
        (frame(TEXT, b"\xff", mask=False), 1007),
        (frame(TEXT, "a" * 2000, mask=False), 1009),
    ],
    ids=["reserved bit", "masked", "not UTF-8", "too large"],
)
def test_an_upstream_that_breaks_the_rules_is_told_so(through, scripts, sent, code):
    def script(peer, seen):
        peer.send(sent)
        seen.put(peer.receive())

    scripts.script = script
    with Client(through.port, "/short/v1/realtime") as client:
        assert client.receive().opcode == TEXT
        assert client.receive().code == 1014
    assert scripts.next().code == code


def test_bytes_pass_where_the_route_says_so_and_are_counted(through, scripts):
    scripts.script = echo
    data = frame(BINARY, b"\x00\x01" + MAIL.encode())
    with Client(through.port, "/lenient/v1/realtime") as client:
        client.send(data)
        assert scripts.next().raw == data
        assert client.receive().payload == b"\x00\x01" + MAIL.encode()
        client.send(close(1000))
        client.receive()
    through.wait_for(lambda: any('"request_unscanned":1' in line and '"route":"lenient"' in line for line in through.log))


def test_notes_in_control_frames_are_redacted_and_restored(through, scripts):
    scripts.script = echo
    with Client(through.port, "/v1/realtime") as client:
        client.send(frame(PING, "for " + MAIL))
        ping = scripts.next()
        assert ping.opcode == PING and MAIL.encode() not in ping.payload
        assert client.receive().payload == b"for " + MAIL.encode()
        hidden = [MAIL.encode() + b" \xff", b'{"a":"jane\\u0040harbour-post.com"}', CARD.encode() + b"\xff\xfe"]
        for opcode, note in zip((PING, PONG, PING), hidden):
            client.send(frame(opcode, note))
            came = scripts.next()
            assert came.opcode == opcode and came.payload != note
            assert all(part not in came.payload for part in (MAIL.encode(), b"jane", CARD.encode()))
            client.receive()
        client.send(close(4000, "by " + MAIL))
        assert MAIL.encode() not in scripts.next().payload
        assert client.receive().payload == b"\x0f\xa0by " + MAIL.encode()


def test_gemini_live_speaks_json_in_bytes(through, scripts):
    def script(peer, seen):
        sent = json.loads(seen_of(peer, seen).payload)
        text = sent["client_content"]["turns"][0]["parts"][0]["text"] + " " + INVENTED
        for piece in [text[at : at + 3] for at in range(0, len(text), 3)]:
            event = {"serverContent": {"modelTurn": {"parts": [{"text": piece}, {"inlineData": {"data": AUDIO}}]}}}
            peer.send(frame(BINARY, json.dumps(event), mask=False))
        handle = {"sessionResumptionUpdate": {"newHandle": AUDIO, "resumable": True}}
        peer.send(frame(BINARY, json.dumps(handle), mask=False))
        peer.send(frame(BINARY, json.dumps({"serverContent": {"turnComplete": True}}), mask=False))
        peer.receive()

    scripts.script = script
    turns = {"client_content": {"turns": [{"parts": [{"text": "Mail " + MAIL}]}], "turn_complete": True}}
    for path in (LIVE, LIVE + "Constrained", "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent"):
        with Client(through.port, path + "?key=k") as client:
            client.send(frame(TEXT, json.dumps(turns)))
            messages = collected(client, b"turnComplete")
        assert MAIL not in scripts.next().text
        assert all(message.opcode == BINARY for message in messages)
        events = [json.loads(message.payload) for message in messages]
        parts = [part for event in events for part in event.get("serverContent", {}).get("modelTurn", {}).get("parts", [])]
        assert "".join(part.get("text", "") for part in parts) == "Mail %s %s" % (MAIL, "*" * len(INVENTED))
        assert {part["inlineData"]["data"] for part in parts if "inlineData" in part} == {AUDIO}
        assert [event for event in events if "sessionResumptionUpdate" in event][0]["sessionResumptionUpdate"]["newHandle"] == AUDIO


def test_responses_over_websocket_keep_their_numbers(through, scripts):
    def script(peer, seen):
        sent = json.loads(seen_of(peer, seen).payload)
        for number, piece in enumerate(list(sent["input"])):
            event = {"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": piece}
            peer.send(frame(TEXT, json.dumps(event | {"sequence_number": number}), mask=False))
        done = {"type": "response.output_text.done", "item_id": "m", "content_index": 0, "text": sent["input"]}
        peer.send(frame(TEXT, json.dumps(done | {"sequence_number": number + 1}), mask=False))
        peer.receive()

    scripts.script = script
    with Client(through.port, "/v1/responses") as client:
        client.send(frame(TEXT, json.dumps({"type": "response.create", "model": "m", "input": "Mail " + MAIL})))
        events = [json.loads(message.payload) for message in collected(client, b"output_text.done")]
    assert MAIL not in scripts.next().text
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert "".join(event.get("delta", "") for event in events) == events[-1]["text"] == "Mail " + MAIL


def test_messages_of_no_known_protocol_are_documents_or_text(through, scripts):
    scripts.script = echo
    card = CARD.replace(" ", "")
    rows = [
        (TEXT, "mail %s now" % MAIL),
        (TEXT, json.dumps({"to": MAIL, "n": int(card)})),
        (TEXT, '"%s"' % MAIL),
        (BINARY, "mail %s now" % MAIL),
        (TEXT, "SEND\nto:%s\n\nhello\0" % MAIL),
        (TEXT, ""),
    ]
    for path in ("/chat/socket", "/masked/chat"):
        with Client(through.port, path) as client:
            for opcode, sent in rows:
                client.send(frame(opcode, sent))
                seen, back = scripts.next(), client.receive()
                assert (seen.opcode, back.opcode) == (opcode, opcode)
                assert MAIL not in seen.text and card not in seen.text, seen
                assert path.startswith("/masked") or back.text == sent, back
        scripts.seen = queue.Queue()


def test_two_sessions_know_nothing_of_each_other(through, scripts):
    scripts.script = echo
    with Client(through.port, "/v1/realtime") as one, Client(through.port, "/v1/realtime") as other:
        one.send(frame(TEXT, say("Mail " + MAIL)))
        surrogate = told(scripts.next())
        one.receive()
        other.send(frame(TEXT, say("Card " + CARD)))
        scripts.next(), other.receive()
        # The other one has never had this surrogate.
        other.send(frame(TEXT, json.dumps({"type": "x", "y": surrogate[5:]})))
        assert MAIL not in other.receive().text


def test_many_sessions_at_once_mix_nothing_up(through, scripts):
    scripts.script = deltas
    faults = []

    def session(number):
        mail = "person%d.%s@harbour-post.com" % (number, "abcdefghij"[number % 10] * 3)
        try:
            with Client(through.port, "/v1/realtime") as client:
                client.send(frame(TEXT, say("Mail " + mail)))
                events = [json.loads(one.payload) for one in collected(client, b"output_text.done") if one.opcode == TEXT]
            said = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
            assert said == "Mail %s and %s" % (mail, "*" * len(INVENTED)), said
        except Exception as fault:  # noqa: BLE001
            faults.append(fault)

    threads = [threading.Thread(target=session, args=(number,)) for number in range(24)]
    [thread.start() for thread in threads]
    [thread.join(60 * PATIENCE) for thread in threads]
    assert not faults, faults[0]


def test_the_openai_client_has_its_session(through, scripts):
    pytest.importorskip("websockets")
    import openai

    def script(peer, seen):
        text = told(seen_of(peer, seen))
        at = {"event_id": "e", "response_id": "r", "item_id": "i", "content_index": 0, "output_index": 0}
        for piece in text:
            peer.send(frame(TEXT, json.dumps({"type": "response.output_text.delta", "delta": piece} | at), mask=False))
        peer.send(frame(TEXT, json.dumps({"type": "response.output_text.done", "text": text} | at), mask=False))
        echo(peer, seen)

    scripts.script = script
    client = openai.OpenAI(
        base_url=through.url + "/v1", websocket_base_url="ws://127.0.0.1:%d/v1" % through.port, api_key="sk-test", max_retries=0
    )
    with client.realtime.connect(model="m") as connection:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mail " + MAIL}]}
        connection.conversation.item.create(item=item)
        said, done = "", None
        for event in connection:
            if event.type == "response.output_text.delta":
                said += event.delta
            else:
                done = event.text
                break
    assert said == done == "Mail " + MAIL
    assert MAIL not in scripts.next().text
