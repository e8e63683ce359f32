//! Blocks come in the order of the input, whoever works on them and however it is read.

use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use proptest::prelude::*;

use super::{Arrival, Block, BlockWork, Blocks, InputPart, InputParts, ahead_of};
use crate::app::error::AppError;
use crate::app::text_scans::TextScans;
use crate::detect::{Catalogue, Detector, Finding, RuleSelection};

/// Counts the bytes of a block, and fails at `!`.
struct Length;

impl BlockWork for Length {
    type Done = usize;

    const CONTEXT: usize = 0;
    const ALIGNMENT: usize = 1;

    fn whole(&self, bytes: &[u8], _: usize) -> usize {
        bytes.len()
    }

    fn work(&self, _: &[u8], block: &[u8]) -> usize {
        assert!(!block.contains(&b'!'), "told to");
        block.len()
    }
}

/// Blocks of two bytes of an input that has come before the first is taken.
fn of_parts(threads: usize, parts: Vec<Result<InputPart, AppError>>) -> Blocks<Length, AppError> {
    let (done, wait) = channel();
    let read = move |to: &InputParts<AppError>| {
        for part in parts {
            to.send(part);
        }
        done.send(()).unwrap();
    };
    let blocks = Blocks::sized(Length, threads, 2, read).unwrap();
    wait.recv().unwrap();
    blocks
}

fn bytes(text: &str) -> Result<InputPart, AppError> {
    Ok(InputPart::Bytes(text.as_bytes().to_vec()))
}

/// What is taken next, in words.
fn next(blocks: &mut Blocks<Length, AppError>) -> String {
    match blocks.take(None) {
        Ok(Arrival::Block(Block { bytes, done })) => {
            assert!(done.is_none_or(|done| done == bytes.len()));
            String::from_utf8(bytes.to_vec()).unwrap()
        }
        Ok(Arrival::End) => "end".to_owned(),
        Ok(Arrival::Pause) => "pause".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn blocks_of_several_texts_come_in_order() {
    for threads in [1, 2, 7] {
        let parts = vec![
            bytes("aaa"),
            bytes("bb"),
            Ok(InputPart::End),
            Ok(InputPart::End),
            bytes("c"),
            Ok(InputPart::End),
        ];
        let mut blocks = of_parts(threads, parts);
        let taken: Vec<String> = (0..6).map(|_| next(&mut blocks)).collect();
        assert_eq!(taken, ["aaa", "bb", "end", "end", "c", "end"], "{threads} threads");
        assert!(next(&mut blocks).contains("a thread has failed"), "nobody said that another text ends");
    }
}

#[test]
fn an_error_comes_behind_what_was_read_before_it() {
    for threads in [1, 3] {
        let failed = Err(AppError::Io("the disk".to_owned()));
        let mut blocks = of_parts(threads, vec![bytes("aa"), bytes("bb"), bytes("c"), failed]);
        let taken: Vec<String> = (0..4).map(|_| next(&mut blocks)).collect();
        assert_eq!(taken, ["aa", "bb", "c", "the disk"], "{threads} threads");
    }
}

#[test]
fn a_thread_that_fails_is_an_error_where_its_block_stands() {
    let mut blocks =
        of_parts(2, vec![bytes("aa"), bytes("bb"), bytes("c!"), bytes("dd"), Ok(InputPart::End)]);
    assert_eq!([next(&mut blocks), next(&mut blocks)], ["aa", "bb"]);
    assert!(next(&mut blocks).contains("a thread has failed"));
}

#[test]
fn no_more_is_taken_ahead_than_there_may_be() {
    let read = |to: &InputParts<AppError>| while to.send(bytes("aa")) {};
    let mut blocks = Blocks::sized(Length, 3, 2, read).unwrap();
    for _ in 0..200 {
        assert_eq!(next(&mut blocks), "aa");
        assert!(blocks.waiting.len() < ahead_of(3), "{} wait", blocks.waiting.len());
    }
}

#[test]
fn who_waits_for_more_learns_that_nothing_comes() {
    let (go_on, wait) = channel::<()>();
    let read = move |to: &InputParts<AppError>| {
        to.send(bytes("a"));
        let _ = wait.recv();
        to.send(Ok(InputPart::End));
    };
    let mut blocks = Blocks::sized(Length, 2, 2, read).unwrap();
    assert_eq!(next(&mut blocks), "a");
    assert!(blocks.is_idle());
    assert!(matches!(blocks.take(Some(Duration::from_millis(5))), Ok(Arrival::Pause)));
    drop(go_on);
    assert_eq!(next(&mut blocks), "end");
}

#[test]
fn half_a_character_is_waited_for_however_long_it_takes() {
    let (come, wait) = channel();
    let read = move |to: &InputParts<AppError>| {
        to.send(Ok(InputPart::Bytes(vec![0xE2])));
        come.send(()).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        to.send(Ok(InputPart::Bytes(vec![0x82, 0xAC])));
    };
    let mut blocks = Blocks::new(TextScans::none(), 1, read).unwrap();
    wait.recv().unwrap();
    let taken = blocks.take(Some(Duration::from_millis(5)));
    let is_whole =
        matches!(&taken, Ok(Arrival::Block(block)) if block.bytes.as_slice() == "\u{20ac}".as_bytes());
    assert!(is_whole, "{taken:?}");
}

fn detector() -> &'static Detector {
    static DETECTOR: OnceLock<Detector> = OnceLock::new();
    DETECTOR.get_or_init(|| {
        let catalogue = Catalogue::builtin().unwrap();
        Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap()
    })
}

/// What a scanner finds in a text that comes in pieces of this length, looked through in blocks.
fn scanned(text: &[u8], piece: usize, size: usize, threads: usize) -> Vec<Finding> {
    let text = text.to_vec();
    let read = move |to: &InputParts<AppError>| {
        for piece in text.chunks(piece) {
            to.send(Ok(InputPart::Bytes(piece.to_vec())));
        }
        to.send(Ok(InputPart::End));
    };
    let scans = TextScans::lossy(detector().clone());
    let mut blocks = Blocks::<_, AppError>::sized(scans, threads, size, read).unwrap();
    let (mut scanner, mut found) = (detector().scanner(), Vec::new());
    while let Arrival::Block(Block { bytes, done }) = blocks.take(None).unwrap() {
        let piece = String::from_utf8_lossy(&bytes);
        scanner.feed_scanned(&piece, done.flatten(), &mut |finding| found.push(finding));
    }
    scanner.end(&mut |finding| found.push(finding));
    found
}

/// Lines of all sorts, some of which belong to the next.
const LINES: &[&[u8]] = &[
    b"INFO request 7 of /v1/orders took 12 ms\n",
    b"mail maria.lopez@harbour-post.com\r\n",
    b"card 4111 1111\n1111 1111, ssn 536-22-8726\n",
    b"passwords:\n  - sunflower7!\n  - An0ther-one\n",
    b"-----BEGIN EC PRIVATE KEY-----\nMIIEowIBAAKCAQEA0123456789abcdefMIIEowIBAAKCAQEA\n-----END EC PRIVATE KEY-----\n",
    "Gr\u{fc}\u{df}e \u{2013} \u{96fb}\u{8a71} 090\u{a0}1234\u{a0}5678 ".as_bytes(),
    b"\xff\xfe broken \xe2\x82 bytes \xf0\x9f\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn any_blocks_and_any_number_of_threads_find_the_same(
        lines in proptest::collection::vec(proptest::sample::select(LINES), 0..60),
        piece in 1..700usize,
        size in 1..900usize,
    ) {
        let text = lines.concat();
        let whole = detector().find(&String::from_utf8_lossy(&text));
        for threads in [1, 2, 5] {
            prop_assert_eq!(&scanned(&text, piece, size, threads), &whole);
        }
    }
}
