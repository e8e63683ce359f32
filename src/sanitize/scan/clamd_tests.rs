//! Against a real clamd on a signature of our own, where one is installed, and against a socket that behaves badly.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use super::{Clamd, ClamdAddress, ClamdSetup, read};
use crate::sanitize::scan::{ScanFailure, ScanItem, Scanner, Verdict};

const MIB: usize = 1 << 20;

fn over(address: ClamdAddress, time: Duration) -> Clamd {
    Clamd::new(ClamdSetup { address, most: 8 * MIB, time, scans: 2 })
}

async fn scan(clamd: &Clamd, bytes: Vec<u8>) -> Verdict {
    clamd.scan(ScanItem { name: "", bytes: Bytes::from(bytes) }).await
}

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A clamd on one signature: a hexadecimal body signature for `portcullis-bad`.
fn start(folder: &Path) -> Option<Running> {
    let database = folder.join("db");
    fs::create_dir(&database).unwrap();
    let bad = data_encoding::HEXLOWER.encode(b"portcullis-bad");
    fs::write(database.join("own.ndb"), format!("Own.Bad:0:*:{bad}\n")).unwrap();
    let shown = folder.display();
    let conf = format!(
        "DatabaseDirectory {shown}/db\nLocalSocket {shown}/socket\nForeground yes\nStreamMaxLength 2M\n\
         MaxThreads 2\nLogFile {shown}/log\nUser root\nAlertExceedsMax yes\n"
    );
    // Whoever is not root need not say so.
    let conf = if fs::metadata("/root/.").is_ok() { conf } else { conf.replace("User root\n", "") };
    fs::write(folder.join("clamd.conf"), conf).unwrap();
    let program =
        ["/usr/sbin/clamd", "/usr/local/sbin/clamd"].into_iter().find(|path| Path::new(path).exists());
    let Some(program) = program else {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("SKIPPED: clamd is not installed (Debian: apt-get install clamav-daemon)");
        }
        return None;
    };
    let config = format!("--config-file={}", folder.join("clamd.conf").display());
    let child = Command::new(program).arg(config).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Some(Running(child.unwrap()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_clamd_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut running) = start(folder.path()) else { return };
    let clamd = over(ClamdAddress::Unix(folder.path().join("socket")), Duration::from_secs(30));
    for _ in 0..300 {
        if clamd.ping().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(clamd.ping().await, "{}", fs::read_to_string(folder.path().join("log")).unwrap_or_default());
    assert_eq!(scan(&clamd, b"nothing".to_vec()).await, Verdict::Clean);
    assert_eq!(scan(&clamd, Vec::new()).await, Verdict::Clean);
    let found = scan(&clamd, b"some portcullis-bad here".to_vec()).await;
    assert_eq!(found, Verdict::Malicious { rule: "Own.Bad.UNOFFICIAL".to_owned() });
    // Over its limit it answers and hangs up; over ours it is not asked.
    let large = scan(&clamd, vec![b'x'; 4 * MIB]).await;
    assert!(matches!(large, Verdict::Unable(ScanFailure::TooLarge | ScanFailure::Refused)), "{large:?}");
    assert_eq!(scan(&clamd, vec![b'x'; 9 * MIB]).await, Verdict::Unable(ScanFailure::TooLarge));
    let many = (0..20).map(|_| scan(&clamd, vec![b'y'; MIB]));
    let many: Vec<_> = many.collect();
    for one in many {
        assert_eq!(one.await, Verdict::Clean);
    }
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    assert!(matches!(scan(&clamd, b"nothing".to_vec()).await, Verdict::Down(_)));
    assert!(!clamd.ping().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_killed_while_it_scans_is_down() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut running) = start(folder.path()) else { return };
    let clamd = over(ClamdAddress::Unix(folder.path().join("socket")), Duration::from_secs(30));
    for _ in 0..300 {
        if clamd.ping().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Half a stream, so that it waits for the rest when it dies.
    let mut stream = clamd.connect().await.unwrap();
    stream.write_all(b"zINSTREAM\0\0\0\x10\0half").await.unwrap();
    let dying = tokio::spawn(async move { super::answer(&mut stream).await.unwrap_or_default() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    assert_eq!(dying.await.unwrap(), "");
    assert!(matches!(scan(&clamd, vec![b'x'; MIB]).await, Verdict::Down(_)));
}

/// A socket whose every connection is handled so.
fn bad<F, R>(path: &Path, handle: F)
where
    F: Fn(tokio::net::UnixStream, usize) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        for n in 0.. {
            let Ok((stream, _)) = listener.accept().await else { break };
            tokio::spawn(handle(stream, n));
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_manners_have_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let short = Duration::from_millis(300);
    let at = |name: &str| folder.path().join(name);
    let gone = over(ClamdAddress::Unix(at("gone")), short);
    assert_eq!(scan(&gone, Vec::new()).await, Verdict::Down(ScanFailure::Unreachable));
    let closed = over(ClamdAddress::Tcp("127.0.0.1:1".parse().unwrap()), short);
    assert_eq!(scan(&closed, Vec::new()).await, Verdict::Down(ScanFailure::Unreachable));
    // Hangs up in the middle of a part, and answers whoever asks whether it is there.
    bad(&at("picky"), |mut stream, _| async move {
        let mut head = [0; 10];
        if stream.read_exact(&mut head[..6]).await.is_ok() && head.starts_with(b"zPING") {
            drop(stream.write_all(b"PONG\0").await);
        }
    });
    let picky = over(ClamdAddress::Unix(at("picky")), Duration::from_secs(5));
    assert_eq!(scan(&picky, vec![0; 4 * MIB]).await, Verdict::Unable(ScanFailure::Refused));
    bad(&at("dead"), |stream, _| async move { drop(stream) });
    let dead = over(ClamdAddress::Unix(at("dead")), Duration::from_secs(5));
    assert_eq!(scan(&dead, vec![0; 4 * MIB]).await, Verdict::Down(ScanFailure::BrokenOff));
    // Takes everything and answers nothing but pings.
    bad(&at("slow"), |mut stream, n| async move {
        if n > 0 {
            let mut asked = [0; 6];
            drop(stream.read_exact(&mut asked).await);
            drop(stream.write_all(b"PONG\0").await);
        } else {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
    });
    let slow = over(ClamdAddress::Unix(at("slow")), short);
    assert_eq!(scan(&slow, vec![0; 100]).await, Verdict::Unable(ScanFailure::TooLong));
    // Never stops answering.
    bad(&at("chatty"), |mut stream, _| async move { while stream.write_all(&[b'x'; 4096]).await.is_ok() {} });
    let chatty = over(ClamdAddress::Unix(at("chatty")), Duration::from_secs(5));
    assert_eq!(scan(&chatty, vec![0; 100]).await, Verdict::Unable(ScanFailure::Refused));
}

#[test]
fn answers_are_read() {
    let malicious = |rule: &str| Verdict::Malicious { rule: rule.to_owned() };
    let cases = [
        ("stream: OK", Verdict::Clean),
        ("stream: Win.Test.EICAR_HDB-1 FOUND", malicious("Win.Test.EICAR_HDB-1")),
        ("stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND", Verdict::Unable(ScanFailure::TooLarge)),
        ("stream: Heuristics.Encrypted.PDF FOUND", Verdict::Unable(ScanFailure::Encrypted)),
        ("INSTREAM size limit exceeded. ERROR", Verdict::Unable(ScanFailure::TooLarge)),
        ("stream: Can't allocate memory ERROR", Verdict::Down(ScanFailure::Refused)),
        ("UNKNOWN COMMAND", Verdict::Unable(ScanFailure::Refused)),
    ];
    for (said, want) in cases {
        assert_eq!(read(said), want, "{said}");
    }
}
