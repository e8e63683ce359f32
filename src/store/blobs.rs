//! [`Blobs`], the port behind which files live: bytes under a name of ours, written whole or not at all, never
//! changed afterwards. They come and go piece by piece, so no file is ever in memory as a whole.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;

use crate::base::clock::Timestamp;
use crate::base::id::FileId;
use crate::crypto::hash::{Digester, FileHash, crc32c};
use crate::crypto::random::{self, RandomError};
use crate::store::{RecordsFuture, StoreError};

/// Which files lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// Uploads and results: swept once they are old.
    Passing,
    /// Files that stay until they are removed.
    Kept,
}

impl Area {
    /// Its name in paths and grants.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passing => "passing",
            Self::Kept => "kept",
        }
    }

    /// The area of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Passing, Self::Kept].into_iter().find(|area| area.as_str() == name)
    }
}

/// Names one file's bytes. Prints as `passing/fil_…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blob {
    area: Area,
    id: FileId,
}

impl Blob {
    /// The file `id` of the area.
    pub fn new(area: Area, id: FileId) -> Self {
        Self { area, id }
    }

    /// A name that nobody has used.
    ///
    /// # Errors
    /// No randomness.
    pub fn fresh(area: Area) -> Result<Self, RandomError> {
        Ok(Self { area, id: FileId::from_random(random::bytes()?) })
    }

    /// Reads the printed form; `None` unless it is exactly that.
    pub fn parse(text: &str) -> Option<Self> {
        let (area, id) = text.split_once('/')?;
        Some(Self { area: Area::parse(area)?, id: FileId::parse(id)? })
    }

    /// Which files it lies with.
    pub fn area(&self) -> Area {
        self.area
    }

    /// Its name within the area.
    pub fn id(&self) -> &FileId {
        &self.id
    }
}

impl fmt::Display for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.area.as_str(), self.id)
    }
}

/// A next piece, awaited; `None` at the end.
pub type NextChunk<'a> = Pin<Box<dyn Future<Output = Result<Option<Bytes>, StoreError>> + Send + 'a>>;

/// Bytes that come piece by piece.
pub trait ByteStream: Send {
    /// The next piece; `None` at the end. Not to be called after an error or the end.
    fn next(&mut self) -> NextChunk<'_>;
}

/// Bytes that are in memory already, as one piece.
pub struct WholeBlob(Option<Bytes>);

impl WholeBlob {
    /// These bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Some(bytes.into()))
    }
}

impl ByteStream for WholeBlob {
    fn next(&mut self) -> NextChunk<'_> {
        let bytes = self.0.take().filter(|bytes| !bytes.is_empty());
        Box::pin(std::future::ready(Ok(bytes)))
    }
}

/// What was learned of a file's bytes as they passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobDigests {
    /// How many they are.
    pub size: u64,
    /// Their CRC-32C (RFC 3720 appendix B.4).
    pub crc32c: u32,
    /// Their SHA-256.
    pub sha256: [u8; 32],
}

/// Learns [`BlobDigests`] piece by piece.
pub(super) struct FactsBuilder {
    size: u64,
    crc32c: u32,
    sha256: Digester,
}

impl FactsBuilder {
    pub(super) fn new() -> Self {
        Self { size: 0, crc32c: 0, sha256: Digester::new(FileHash::Sha256) }
    }

    /// Takes the next piece, unless the file would then be larger than `limit`.
    pub(super) fn take(&mut self, piece: &[u8], limit: u64) -> Result<(), StoreError> {
        self.size = self.size.saturating_add(piece.len() as u64);
        if self.size > limit {
            return Err(StoreError::TooLarge(limit));
        }
        self.crc32c = crc32c(self.crc32c, piece);
        self.sha256.update(piece);
        Ok(())
    }

    pub(super) fn facts(self) -> BlobDigests {
        let mut sha256 = [0; 32];
        sha256.iter_mut().zip(self.sha256.finish()).for_each(|(to, from)| *to = from);
        BlobDigests { size: self.size, crc32c: self.crc32c, sha256 }
    }
}

/// Learns the facts of a file that is there already; `None` if it is not.
///
/// # Errors
/// The store's.
pub async fn facts(blobs: &dyn Blobs, blob: &Blob) -> Result<Option<BlobDigests>, StoreError> {
    let Some(mut opened) = blobs.get(blob).await? else { return Ok(None) };
    let mut learning = FactsBuilder::new();
    while let Some(piece) = opened.bytes.next().await? {
        learning.take(&piece, u64::MAX)?;
    }
    Ok(Some(learning.facts()))
}

/// A file being read.
pub struct OpenBlob {
    /// How many bytes it has.
    pub size: u64,
    /// The bytes.
    pub bytes: Box<dyn ByteStream>,
}

impl fmt::Debug for OpenBlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenBlob({} bytes)", self.size)
    }
}

/// Files that outlive the process. Several processes may share one store.
///
/// Laws, each a case of the conformance suite: a put that was answered is durable and whole; one that failed or was
/// dropped left nothing that a get finds; what a get began to read it can read to the end or fails.
pub trait Blobs: Send + Sync + 'static {
    /// Writes a file of at most `limit` bytes, which nobody sees before it is whole.
    ///
    /// Errors: [`StoreError::TooLarge`], [`StoreError::Full`], the pieces' own, a store that cannot be reached.
    fn put<'a>(
        &'a self,
        blob: &'a Blob,
        bytes: &'a mut dyn ByteStream,
        limit: u64,
    ) -> RecordsFuture<'a, BlobDigests>;

    /// Opens a file; `None` if there is none.
    fn get<'a>(&'a self, blob: &'a Blob) -> RecordsFuture<'a, Option<OpenBlob>>;

    /// Moves a file to [`Area::Kept`] and returns its new name; one that is kept already stays. `None` if there is
    /// none.
    fn keep<'a>(&'a self, blob: &'a Blob) -> RecordsFuture<'a, Option<Blob>>;

    /// Removes a file. One that is not there is removed already.
    fn remove<'a>(&'a self, blob: &'a Blob) -> RecordsFuture<'a, ()>;

    /// Up to `limit` files of the area that were written before this moment, in no order.
    fn older(&self, area: Area, before: Timestamp, limit: usize) -> RecordsFuture<'_, Vec<Blob>>;

    /// Removes the passing files that were written before this moment, and what unfinished writes have left; returns
    /// how many files that were.
    fn expire(&self, before: Timestamp) -> RecordsFuture<'_, u64>;

    /// A URL by which anyone may read the file from the store itself for so long, with this `Content-Disposition`. `None`:
    /// this store gives out none.
    fn link<'a>(
        &'a self,
        blob: &'a Blob,
        disposition: &'a str,
        life: Duration,
    ) -> RecordsFuture<'a, Option<String>>;

    /// The most bytes that one put or get holds at a time, so that callers can charge a budget for it.
    fn holds(&self) -> usize;
}
