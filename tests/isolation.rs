//! Files are read in a child process: what it may not have, and what its end means.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use portcullis::sanitize::sandbox::{Sandbox, SandboxError, SandboxLimits};
use portcullis::sanitize::scan::{ScanItem, Scanner, Verdict};
use portcullis::sanitize::{
    Options, RedactionMode, RejectedFile, Rejection, ScanProviders, ScanSession, UnfoldBounds,
};

/// Calls every part malicious.
struct Alarm;

impl Scanner for Alarm {
    fn name(&self) -> &'static str {
        "alarm"
    }

    fn scan<'a>(&'a self, _: ScanItem<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::Malicious { rule: "alarm".to_owned() } })
    }
}

/// Without feeds and a detector.
fn session() -> ScanSession {
    ScanSession::new(ScanProviders {
        scanner: Arc::new(Alarm),
        block_unable: true,
        urls: None,
        domains: None,
        defang: true,
        threshold: 50,
        redactor: None,
        redaction: RedactionMode::Off,
        password: None,
    })
}

fn file(bytes: &'static [u8]) -> ScanItem<'static> {
    ScanItem { name: "name", bytes: Bytes::from_static(bytes) }
}

fn sandbox(memory: u64, time: Duration) -> Sandbox {
    let limits = SandboxLimits {
        children: 2,
        memory,
        time,
        bounds: UnfoldBounds::default(),
        output: 64 << 20,
        confined: false,
    };
    Sandbox::new(PathBuf::from(env!("CARGO_BIN_EXE_portcullis")), limits)
}

const PASS: Options = Options {
    attachments: true,
    interactive: true,
    links: false,
    redaction: RedactionMode::Off,
    policy: portcullis::sanitize::ReleasePolicy {
        pass_unknown: true,
        scripts: portcullis::sanitize::ScriptPolicy::Refuse,
        unread: portcullis::sanitize::UnreadPolicy::Note,
    },
    fit_names: true,
};

/// Of a kind that nothing is known of.
const UNKNOWN: &[u8] = b"\x00\xff\x01\xfe nothing that anybody knows";

#[tokio::test]
async fn a_file_passes_through_a_child() {
    let sandbox = sandbox(1 << 30, Duration::from_secs(30));
    let cleaned = sandbox.clean(PASS, &file(UNKNOWN), &session()).await.unwrap();
    assert_eq!(cleaned.bytes, UNKNOWN);
    let refused = sandbox.clean(Options::default(), &file(UNKNOWN), &session()).await;
    assert!(
        matches!(
            refused,
            Err(SandboxError::Rejected(RejectedFile { rejection: Rejection::Unsupported, .. }))
        ),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_child_that_needs_more_memory_dies_alone() {
    let large = ScanItem { name: "name", bytes: Bytes::from(vec![0xff; 64 << 20]) };
    let died = sandbox(96 << 20, Duration::from_secs(30)).clean(PASS, &large, &session()).await;
    assert!(matches!(died, Err(SandboxError::Died)), "{died:?}");
}

#[tokio::test]
async fn a_child_that_cannot_be_started_is_our_fault() {
    let limits = SandboxLimits {
        children: 1,
        memory: 1 << 30,
        time: Duration::from_secs(1),
        bounds: UnfoldBounds::default(),
        output: 1 << 20,
        confined: false,
    };
    let sandbox = Sandbox::new(PathBuf::from("/nowhere/portcullis"), limits);
    let failed = sandbox.clean(PASS, &file(UNKNOWN), &session()).await;
    assert!(matches!(failed, Err(SandboxError::Start(_))), "{failed:?}");
}

#[tokio::test]
async fn what_the_session_rejects_is_rejected_whatever_the_child_makes_of_it() {
    let sandbox = sandbox(1 << 30, Duration::from_secs(30));
    let mut packed = Vec::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(&mut packed));
    zip.start_file("a.txt", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, b"text").unwrap();
    zip.finish().unwrap();
    let packed = ScanItem { name: "a.zip", bytes: Bytes::from(packed) };
    let refused = sandbox.clean(PASS, &packed, &session()).await;
    assert!(
        matches!(refused, Err(SandboxError::Rejected(RejectedFile { rejection: Rejection::Malicious, .. }))),
        "{refused:?}"
    );
}
