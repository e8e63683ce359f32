//! The laws over Amazon event streams, which are whole messages: other rewriters take any bytes, these take sums that fit.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::gateway::llm::{AmazonDeltas, CompiledProtocol, EditorFactory};
use portcullis::stream::amazon::{AmazonEventStream, EventStreamMessage, write_header, write_message};
use portcullis::stream::{Editor, GenericMessages, Rewriter, StreamError};
use proptest::prelude::*;

use crate::censor::{Censor, Silent};
use crate::rewriters::{FIXTURES, cut};

/// The most that one message may be, in bytes.
const MESSAGE: usize = 1 << 16;

/// A message of an event with this payload.
fn message(name: &str, payload: &[u8]) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, text) in [(":event-type", name), (":message-type", "event"), ("note", "a secret")] {
        write_header(name, text, &mut headers);
    }
    let mut out = BytesMut::new();
    write_message(&headers, payload, &mut out).unwrap();
    out.to_vec()
}

/// The protocols whose streams are such.
fn bedrock() -> &'static [Arc<CompiledProtocol>] {
    static COMPILED: OnceLock<Vec<Arc<CompiledProtocol>>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let mut all = CompiledProtocol::all().unwrap();
        all.retain(|protocol| protocol.protocol.name.starts_with("bedrock"));
        assert_eq!(all.len(), 2);
        all
    })
}

/// Every kind of rewriter: of no protocol, and of each.
fn rewriters<E: Editor + Default + 'static>(budget: &MemoryBudget) -> Vec<Box<dyn Rewriter>> {
    let generic: Box<dyn Editor> = Box::<E>::default();
    let generic = AmazonEventStream::new(GenericMessages::new(generic), MESSAGE, budget);
    let mut all: Vec<Box<dyn Rewriter>> = vec![Box::new(generic)];
    for protocol in bedrock() {
        let editor: EditorFactory = Arc::new(|| Box::<E>::default());
        let deltas = AmazonDeltas::new(Arc::clone(protocol), editor, budget);
        all.push(Box::new(AmazonEventStream::new(deltas, MESSAGE, budget)));
    }
    all
}

/// What each of them makes of these pieces, up to what is wrong with them.
fn passed<E: Editor + Default + 'static>(pieces: &[&[u8]]) -> Vec<(Vec<u8>, Result<(), StreamError>)> {
    let budget = MemoryBudget::process(1 << 30);
    let mut results = Vec::new();
    for mut rewriter in rewriters::<E>(&budget) {
        let mut out = BytesMut::new();
        let mut run = || -> Result<(), StreamError> {
            for piece in pieces {
                rewriter.write(piece, &mut out)?;
                assert!(budget.used() >= rewriter.held(), "held without a charge");
                assert!(rewriter.held() < MESSAGE, "more is held than one message");
            }
            rewriter.finish(&mut out)
        };
        let result = run();
        if result.is_ok() {
            assert_eq!(rewriter.held(), 0, "nothing is held at the end");
        }
        drop(rewriter);
        results.push((out.to_vec(), result));
    }
    assert_eq!(budget.used(), 0, "the budget is not given back");
    results
}

/// The payloads of what all rewriters are tried on, as the events of streams.
fn streams() -> Vec<Vec<u8>> {
    let document = |text: &str| format!(r#"{{"contentBlockIndex":0,"delta":{{"text":"{text}"}},"p":"abc"}}"#);
    let encoded = |text: &str| {
        let document = format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"text":"{text}"}}}}"#);
        format!(r#"{{"bytes":"{}"}}"#, data_encoding::BASE64.encode(document.as_bytes()))
    };
    let spoken =
        ["a se", "cret and sec", "rets", " jane@x", ".org"].map(|text| (document(text), encoded(text)));
    let events = spoken.iter().map(|(document, _)| message("contentBlockDelta", document.as_bytes()));
    let chunks = spoken.iter().map(|(_, encoded)| message("chunk", encoded.as_bytes()));
    let spoken = [events.collect::<Vec<_>>().concat(), chunks.collect::<Vec<_>>().concat()];
    FIXTURES.iter().map(|payload| message("chunk", payload)).chain(spoken).collect()
}

#[test]
fn chunking_is_invisible() {
    for stream in streams() {
        let whole = passed::<Censor>(&[&stream]);
        assert!(whole.iter().all(|(out, result)| result.is_ok() && *out != stream));
        for at in 0..=stream.len() {
            let (head, tail) = stream.split_at(at);
            assert!(passed::<Censor>(&[head, tail]) == whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert!(passed::<Censor>(&bytes) == whole, "byte by byte");
    }
}

#[test]
fn silence_is_identity() {
    for stream in streams() {
        // Of a protocol's texts, what is undecided leaves in another message than it came in; a whole text does not.
        let (out, result) = passed::<Silent>(&[&stream]).remove(0);
        assert_eq!((out == stream, result), (true, Ok(())));
    }
}

#[test]
fn what_leaves_is_messages_again() {
    for stream in streams() {
        for (out, _) in passed::<Censor>(&[&stream]) {
            let mut rest = &out[..];
            while let Some(length) = rest.first_chunk::<4>() {
                let (one, more) = rest.split_at(u32::from_be_bytes(*length) as usize);
                let message = EventStreamMessage::parse(one).unwrap();
                assert_eq!(
                    (message.text(":message-type"), message.text("note")),
                    (Some("event"), Some("a <S>"))
                );
                rest = more;
            }
            assert!(rest.is_empty());
        }
    }
}

#[test]
fn a_stream_that_is_cut_ends_as_cut() {
    for stream in streams() {
        let whole = passed::<Silent>(&[&stream]);
        let mut ends = vec![0];
        while let Some(length) = stream[ends[ends.len() - 1]..].first_chunk::<4>() {
            ends.push(ends[ends.len() - 1] + u32::from_be_bytes(*length) as usize);
        }
        for at in 0..stream.len() {
            let broken = if ends.contains(&at) { Ok(()) } else { Err(StreamError::BrokenOff) };
            for ((out, result), (all, _)) in passed::<Silent>(&[&stream[..at]]).iter().zip(&whole) {
                assert_eq!(result, &broken, "cut at {at}");
                assert!(out.len() <= all.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn damage_is_the_same_however_it_comes(
        stream in prop::sample::select(streams()),
        hurt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut stream = stream;
        for (place, with) in hurt {
            let place = place.index(stream.len());
            stream[place] = with;
        }
        prop_assert!(passed::<Censor>(&cut(&stream, &at)) == passed::<Censor>(&[&stream]));
    }
}
