//! Files are read in a child process: what it may not have, and what its end means.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use portcullis::sanitize::child::{Court, Limits, Nursery, Ruling, Stillborn};
use portcullis::sanitize::{Bounds, Edit, Link, Named, Options, Rejection};

struct Nobody;

impl Court for Nobody {
    fn part(&self, _: String, _: Bytes) -> Ruling<'_, ()> {
        Box::pin(async { Err(Rejection::Malicious) })
    }

    fn links(&self, links: Vec<Link>) -> Ruling<'_, Vec<bool>> {
        Box::pin(async move { Ok(vec![true; links.len()]) })
    }

    fn texts(&self, texts: Vec<Named>) -> Ruling<'_, Vec<Vec<Edit>>> {
        Box::pin(async move { Ok(vec![Vec::new(); texts.len()]) })
    }
}

fn nursery(memory: u64, time: Duration) -> Nursery {
    let limits = Limits { children: 2, memory, time, bounds: Bounds::default(), output: 64 << 20 };
    Nursery::new(PathBuf::from(env!("CARGO_BIN_EXE_portcullis")), limits)
}

const PASS: Options = Options {
    attachments: true,
    interactive: true,
    links: false,
    redaction: portcullis::sanitize::Redaction::Off,
    pass_unknown: true,
};

/// Of a kind that nothing is known of.
const UNKNOWN: &[u8] = b"\x00\xff\x01\xfe nothing that anybody knows";

#[tokio::test]
async fn a_file_passes_through_a_child() {
    let nursery = nursery(1 << 30, Duration::from_secs(30));
    let cleaned = nursery.clean(PASS, ("name", UNKNOWN), &Nobody).await.unwrap();
    assert_eq!(cleaned.bytes, UNKNOWN);
    let refused = nursery.clean(Options::default(), ("name", UNKNOWN), &Nobody).await;
    assert!(matches!(refused, Err(Stillborn::Rejected(_, Rejection::Unsupported))), "{refused:?}");
}

#[tokio::test]
async fn a_child_that_needs_more_memory_dies_alone() {
    let file = vec![0xff; 64 << 20];
    let died = nursery(96 << 20, Duration::from_secs(30)).clean(PASS, ("name", &file), &Nobody).await;
    assert!(matches!(died, Err(Stillborn::Died)), "{died:?}");
}

#[tokio::test]
async fn a_child_that_cannot_be_started_is_our_fault() {
    let limits = Limits {
        children: 1,
        memory: 1 << 30,
        time: Duration::from_secs(1),
        bounds: Bounds::default(),
        output: 1 << 20,
    };
    let nursery = Nursery::new(PathBuf::from("/nowhere/portcullis"), limits);
    let failed = nursery.clean(PASS, ("name", UNKNOWN), &Nobody).await;
    assert!(matches!(failed, Err(Stillborn::Start(_))), "{failed:?}");
}
