//! Files are read in a child process: what it may not have, and what its end means.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use portcullis::sanitize::sandbox::{Court, Limits, Ruling, Sandbox, SandboxError};
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

fn sandbox(memory: u64, time: Duration) -> Sandbox {
    let limits = Limits { children: 2, memory, time, bounds: Bounds::default(), output: 64 << 20 };
    Sandbox::new(PathBuf::from(env!("CARGO_BIN_EXE_portcullis")), limits)
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
    let sandbox = sandbox(1 << 30, Duration::from_secs(30));
    let cleaned = sandbox.clean(PASS, ("name", UNKNOWN), &Nobody).await.unwrap();
    assert_eq!(cleaned.bytes, UNKNOWN);
    let refused = sandbox.clean(Options::default(), ("name", UNKNOWN), &Nobody).await;
    assert!(matches!(refused, Err(SandboxError::Rejected(_, Rejection::Unsupported))), "{refused:?}");
}

#[tokio::test]
async fn a_child_that_needs_more_memory_dies_alone() {
    let file = vec![0xff; 64 << 20];
    let died = sandbox(96 << 20, Duration::from_secs(30)).clean(PASS, ("name", &file), &Nobody).await;
    assert!(matches!(died, Err(SandboxError::Died)), "{died:?}");
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
    let sandbox = Sandbox::new(PathBuf::from("/nowhere/portcullis"), limits);
    let failed = sandbox.clean(PASS, ("name", UNKNOWN), &Nobody).await;
    assert!(matches!(failed, Err(SandboxError::Start(_))), "{failed:?}");
}
