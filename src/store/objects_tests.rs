//! The conformance suite of [`Blobs`], run on a folder, and on the S3 service that `PORTCULLIS_S3` names.

#![expect(clippy::print_stdout, reason = "a test that was skipped says so")]

use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::base::clock::{Clock, SystemClock, Timestamp};
use crate::base::secret::Secret;
use crate::store::blobs::{Area, Blob, BlobDigests, Blobs, ByteStream, NextChunk, WholeBlob};
use crate::store::{Objects, S3, StoreError};

/// Pieces as they are given; an error in place of what is not there.
struct Given(VecDeque<Option<Bytes>>);

impl ByteStream for Given {
    fn next(&mut self) -> NextChunk<'_> {
        let next = match self.0.pop_front() {
            Some(Some(piece)) => Ok(Some(piece)),
            Some(None) => Err(StoreError::Interrupted),
            None => Ok(None),
        };
        Box::pin(std::future::ready(next))
    }
}

fn pattern(size: usize) -> Bytes {
    (0..size).map(|at| u8::try_from((at * 31 + at / 251) % 256).unwrap()).collect()
}

fn in_pieces(bytes: &Bytes, size: usize) -> Given {
    Given(
        (0..bytes.len()).step_by(size).map(|at| Some(bytes.slice(at..bytes.len().min(at + size)))).collect(),
    )
}

async fn read(blobs: &dyn Blobs, blob: &Blob) -> Option<Vec<u8>> {
    let mut opened = blobs.get(blob).await.unwrap()?;
    let mut bytes = Vec::new();
    while let Some(piece) = opened.bytes.next().await.unwrap() {
        bytes.extend_from_slice(&piece);
    }
    assert_eq!(opened.size, bytes.len() as u64);
    Some(bytes)
}

fn fresh(area: Area) -> Blob {
    Blob::fresh(area).unwrap()
}

/// A moment after all that has been written.
fn later() -> Timestamp {
    SystemClock.now().plus(Duration::from_secs(60))
}

/// Runs every case.
async fn check(blobs: &dyn Blobs) {
    what_was_put_comes_back(blobs).await;
    what_failed_left_nothing(blobs).await;
    a_file_is_seen_once_it_is_whole(blobs).await;
    removal_and_keeping(blobs).await;
    sweeping_takes_what_is_old_and_passing(blobs).await;
}

async fn what_was_put_comes_back(blobs: &dyn Blobs) {
    for (size, piece) in [(0, 1), (1, 1), (100, 7), (300_000, 65_536), (12_000_000, 1 << 20)] {
        let (blob, bytes) = (fresh(Area::Passing), pattern(size));
        let facts = blobs.put(&blob, &mut in_pieces(&bytes, piece), size as u64).await.unwrap();
        let expected = BlobDigests {
            size: size as u64,
            crc32c: crate::crypto::hash::crc32c(0, &bytes),
            sha256: crate::crypto::hash::sha256(&bytes),
        };
        assert_eq!(facts, expected);
        assert!(read(blobs, &blob).await.unwrap() == bytes, "{size}");
        blobs.remove(&blob).await.unwrap();
    }
    assert!(read(blobs, &fresh(Area::Kept)).await.is_none());
}

async fn what_failed_left_nothing(blobs: &dyn Blobs) {
    for size in [10, 400_000, 11_000_000] {
        let (blob, bytes) = (fresh(Area::Passing), pattern(size));
        let large = blobs.put(&blob, &mut in_pieces(&bytes, 65_536), size as u64 - 1).await;
        assert!(matches!(large, Err(StoreError::TooLarge(_))), "{large:?}");
        let mut cut = in_pieces(&bytes, 65_536);
        cut.0.push_back(None);
        let cut = blobs.put(&blob, &mut cut, u64::MAX).await;
        assert!(matches!(cut, Err(StoreError::Interrupted)), "{cut:?}");
        assert!(read(blobs, &blob).await.is_none(), "{size}");
    }
}

/// Stops for ever after its pieces.
struct Endless(Given);

impl ByteStream for Endless {
    fn next(&mut self) -> NextChunk<'_> {
        match self.0.0.is_empty() {
            true => Box::pin(std::future::pending()),
            false => self.0.next(),
        }
    }
}

async fn a_file_is_seen_once_it_is_whole(blobs: &dyn Blobs) {
    let (blob, bytes) = (fresh(Area::Passing), pattern(6_000_000));
    let mut endless = Endless(in_pieces(&bytes, 65_536));
    let put = blobs.put(&blob, &mut endless, u64::MAX);
    assert!(tokio::time::timeout(Duration::from_millis(500), put).await.is_err());
    assert!(read(blobs, &blob).await.is_none());
    // The second of two that write the same name has the last word; neither is seen by half.
    let other = Bytes::from_static(b"other");
    blobs.put(&blob, &mut in_pieces(&bytes, 65_536), u64::MAX).await.unwrap();
    blobs.put(&blob, &mut WholeBlob::new(other.clone()), 5).await.unwrap();
    assert!(read(blobs, &blob).await.unwrap() == other);
    blobs.remove(&blob).await.unwrap();
}

async fn removal_and_keeping(blobs: &dyn Blobs) {
    let blob = fresh(Area::Passing);
    blobs.remove(&blob).await.unwrap();
    assert_eq!(blobs.keep(&blob).await.unwrap(), None);
    blobs.put(&blob, &mut WholeBlob::new("text"), 4).await.unwrap();
    let kept = blobs.keep(&blob).await.unwrap().unwrap();
    assert_eq!((kept.area(), kept.id()), (Area::Kept, blob.id()));
    assert!(read(blobs, &blob).await.is_none());
    assert_eq!(blobs.keep(&kept).await.unwrap().as_ref(), Some(&kept));
    assert_eq!(read(blobs, &kept).await.unwrap(), b"text");
    blobs.remove(&kept).await.unwrap();
    assert!(read(blobs, &kept).await.is_none());
    assert_eq!(blobs.keep(&kept).await.unwrap(), None);
}

async fn sweeping_takes_what_is_old_and_passing(blobs: &dyn Blobs) {
    blobs.expire(later()).await.unwrap();
    let (one, other, kept) = (fresh(Area::Passing), fresh(Area::Passing), fresh(Area::Kept));
    for blob in [&one, &other, &kept] {
        blobs.put(blob, &mut WholeBlob::new("text"), 4).await.unwrap();
    }
    assert_eq!(blobs.expire(Timestamp::from_millis(1000)).await.unwrap(), 0);
    assert_eq!(blobs.older(Area::Passing, later(), 1).await.unwrap().len(), 1);
    assert!(blobs.older(Area::Kept, later(), 100).await.unwrap().contains(&kept));
    assert_eq!(blobs.expire(later()).await.unwrap(), 2);
    assert!(read(blobs, &one).await.is_none() && read(blobs, &other).await.is_none());
    assert_eq!(read(blobs, &kept).await.unwrap(), b"text");
    blobs.remove(&kept).await.unwrap();
}

#[tokio::test]
async fn a_folder_holds_the_laws() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("blobs");
    let blobs = Objects::local(&folder).unwrap();
    blobs.try_out().await.unwrap();
    check(&blobs).await;
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    // What a crash leaves of a write.
    let blob = fresh(Area::Kept);
    blobs.put(&blob, &mut WholeBlob::new("text"), 4).await.unwrap();
    let id = blob.id().to_string();
    let draft = folder.join("kept").join(id.get(4..6).unwrap()).join(format!("{id}#1"));
    std::fs::write(&draft, "half").unwrap();
    assert_eq!(blobs.expire(Timestamp::from_millis(1000)).await.unwrap(), 0);
    assert_eq!(blobs.expire(later()).await.unwrap(), 1);
    assert!(!draft.exists());
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    let said = Objects::local(&folder).err().unwrap().to_string();
    assert!(said.ends_with("mode 0755 lets others into it; set it with chmod 700"), "{said}");
}

#[tokio::test]
async fn a_bucket_holds_the_laws() {
    let Ok(endpoint) = std::env::var("PORTCULLIS_S3") else {
        println!("SKIPPED: PORTCULLIS_S3 names no S3 service; files in buckets were not tested");
        return;
    };
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let keys = || Some((Secret::new("testing".to_owned()), Secret::new("hunter2hunter2".to_owned())));
    let s3 = S3 {
        bucket: "portcullis".to_owned(),
        endpoint: Some(endpoint.clone()),
        region: "us-east-1".to_owned(),
        keys: keys(),
        presigned: true,
    };
    assert!(!format!("{s3:?}").contains("hunter"));
    let blobs = Arc::new(Objects::s3(&s3).unwrap());
    blobs.try_out().await.unwrap();
    check(blobs.as_ref()).await;
    let blob = fresh(Area::Kept);
    let link =
        blobs.link(&blob, "attachment; filename=\"a.pdf\"", Duration::from_secs(60)).await.unwrap().unwrap();
    assert!(link.starts_with(&endpoint) && link.contains("X-Amz-Signature="), "{link}");
    let nowhere = Objects::s3(&S3 { bucket: "no-such-bucket".to_owned(), ..s3 }).unwrap();
    assert!(matches!(nowhere.try_out().await, Err(StoreError::Unavailable(_))));
}
