//! [`Blobs`] as objects: files in a folder of this machine (staged under another name, synced, renamed), or objects
//! in an S3 bucket.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::signer::{Method, SignedUrlOptions, Signer};
use object_store::{
    ClientOptions, Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
};

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::crypto::random;
use crate::store::blobs::{Area, Blob, BlobDigests, Blobs, ByteStream, FactsBuilder, NextChunk, OpenBlob};
use crate::store::{RecordsFuture, StoreError, private};

/// How much of a file is gathered before it is written to a folder.
const LOCAL_PART: usize = 256 << 10;

/// The same for S3, which takes no smaller part but the last (its manual, "Multipart upload limits").
const S3_PART: usize = 5 << 20;

/// Files removed in one go.
const SWEEP: usize = 500;

/// An S3 bucket.
#[derive(Clone, Debug)]
pub struct S3 {
    /// The bucket's name.
    pub bucket: String,
    /// Where the service is, `https://host:port`; `None` for AWS.
    pub endpoint: Option<String>,
    /// Its region.
    pub region: String,
    /// The access key and its secret; `None`: as AWS's own tools find them (environment, instance).
    pub keys: Option<(Secret<String>, Secret<String>)>,
    /// Whether downloads are granted by the bucket's own presigned URLs.
    pub presigned: bool,
}

/// Files as objects.
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    signer: Option<Arc<AmazonS3>>,
    folder: Option<PathBuf>,
    part: usize,
}

impl Objects {
    /// Files in this folder, which is made (mode 0700) if it is missing.
    ///
    /// # Errors
    /// A folder that cannot be made, or that others may look into.
    pub fn local(folder: &FilePath) -> Result<Self, StoreError> {
        private::closed_folder(folder)?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|error| StoreError::files(&error))?;
        Ok(Self {
            store: Arc::new(store.with_fsync(true)),
            signer: None,
            folder: Some(folder.to_owned()),
            part: LOCAL_PART,
        })
    }

    /// Files in this bucket. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Settings that cannot be used.
    pub fn s3(s3: &S3) -> Result<Self, StoreError> {
        const SILENCE: Duration = Duration::from_secs(30);
        // A whole file may take long; what counts is that it moves.
        let client = ClientOptions::new()
            .with_timeout_disabled()
            .with_connect_timeout(Duration::from_secs(5))
            .with_read_timeout(SILENCE)
            .with_allow_http(true);
        let retry = RetryConfig { max_retries: 3, retry_timeout: SILENCE, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&s3.bucket)
            .with_region(&s3.region)
            .with_client_options(client)
            .with_retry(retry);
        if let Some(endpoint) = &s3.endpoint {
            builder = builder.with_endpoint(endpoint.trim_end_matches('/'));
        }
        if let Some((access, secret)) = &s3.keys {
            builder = builder.with_access_key_id(access.expose()).with_secret_access_key(secret.expose());
        }
        let store = Arc::new(builder.build().map_err(|error| StoreError::files(&error))?);
        Ok(Self { signer: s3.presigned.then(|| Arc::clone(&store)), store, folder: None, part: S3_PART })
    }

    /// Makes sure that files can be written and read: for the start of a process.
    ///
    /// # Errors
    /// A store that cannot be reached, or refuses.
    pub async fn try_out(&self) -> Result<(), StoreError> {
        // Of its own: other nodes try theirs at the same time.
        let random: [u8; 16] = random::bytes().map_err(|_| StoreError::Interrupted)?;
        let probe = Path::from(format!("probe-{}", HEXLOWER.encode(&random)));
        self.store.put(&probe, PutPayload::from_static(b"portcullis")).await.map_err(failed)?;
        self.store.get(&probe).await.map_err(failed)?;
        self.store.delete(&probe).await.map_err(failed)
    }

    /// A file that is smaller than a part is written at once; a larger one part by part, published at its end.
    async fn write(
        &self,
        at: &Path,
        bytes: &mut dyn ByteStream,
        limit: u64,
    ) -> Result<BlobDigests, StoreError> {
        let mut learning = FactsBuilder::new();
        let mut begun: Option<OpenUpload> = None;
        loop {
            let (part, ended) = gather(bytes, self.part, limit, &mut learning).await?;
            let upload = match &mut begun {
                None if ended => {
                    self.store.put(at, part).await.map_err(failed)?;
                    return Ok(learning.facts());
                }
                None => {
                    let upload = self.store.put_multipart(at).await.map_err(failed)?;
                    begun.insert(OpenUpload(Some(upload))).0.as_mut()
                }
                Some(begun) => begun.0.as_mut(),
            };
            let upload = upload.ok_or(StoreError::Interrupted)?;
            if part.content_length() > 0 {
                upload.put_part(part).await.map_err(failed)?;
            }
            if ended {
                upload.complete().await.map_err(failed)?;
                begun.map(|mut begun| begun.0.take());
                return Ok(learning.facts());
            }
        }
    }
}

/// An upload of several parts that is taken back unless it was completed: also when whoever waits for it has left.
struct OpenUpload(Option<Box<dyn MultipartUpload>>);

impl Drop for OpenUpload {
    fn drop(&mut self) {
        if let (Some(mut upload), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { drop(upload.abort().await) });
        }
    }
}

/// Pieces of `size` bytes together, or all that are left; and whether those were the last.
async fn gather(
    bytes: &mut dyn ByteStream,
    size: usize,
    limit: u64,
    learning: &mut FactsBuilder,
) -> Result<(PutPayload, bool), StoreError> {
    let (mut parts, mut held): (Vec<Bytes>, usize) = (Vec::new(), 0);
    while held < size {
        let Some(piece) = bytes.next().await? else { return Ok((parts.into_iter().collect(), true)) };
        learning.take(&piece, limit)?;
        held = held.saturating_add(piece.len());
        parts.push(piece);
    }
    Ok((parts.into_iter().collect(), false))
}

/// Files of an area are spread over folders, since folders of a million files are slow.
fn place(blob: &Blob) -> Path {
    let id = blob.id().to_string();
    let shard = id.get(4..6).unwrap_or_default();
    Path::from(format!("{}/{shard}/{id}", blob.area().as_str()))
}

fn failed(error: Error) -> StoreError {
    StoreError::files(&error)
}

/// `None` for what is not there.
fn absent<T>(outcome: Result<T, Error>) -> Result<Option<T>, StoreError> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

struct Stream(BoxStream<'static, Result<Bytes, Error>>);

impl ByteStream for Stream {
    fn next(&mut self) -> NextChunk<'_> {
        Box::pin(async move { self.0.next().await.transpose().map_err(failed) })
    }
}

impl Blobs for Objects {
    fn put<'a>(
        &'a self,
        blob: &'a Blob,
        bytes: &'a mut dyn ByteStream,
        limit: u64,
    ) -> RecordsFuture<'a, BlobDigests> {
        Box::pin(async move { self.write(&place(blob), bytes, limit).await })
    }

    fn get<'a>(&'a self, blob: &'a Blob) -> RecordsFuture<'a, Option<OpenBlob>> {
        Box::pin(async move {
            let found = absent(self.store.get(&place(blob)).await)?;
            Ok(found.map(|found| OpenBlob {
                size: found.meta.size,
                bytes: Box::new(Stream(found.into_stream())),
            }))
        })
    }

    fn keep<'a>(&'a self, blob: &'a Blob) -> RecordsFuture<'a, Option<Blob>> {
        Box::pin(async move {
            let kept = Blob::new(Area::Kept, blob.id().clone());
            let moved = match blob.area() {
                Area::Kept => absent(self.store.head(&place(blob)).await)?.map(drop),
                Area::Passing => absent(self.store.rename(&place(blob), &place(&kept)).await)?,
            };
            Ok(moved.map(|()| kept))
        })
    }

    fn remove<'a>(&'a self, blob: &'a Blob) -> RecordsFuture<'a, ()> {
        Box::pin(async move { absent(self.store.delete(&place(blob)).await).map(drop) })
    }

    fn older(&self, area: Area, before: Timestamp, limit: usize) -> RecordsFuture<'_, Vec<Blob>> {
        Box::pin(async move {
            let mut found = Vec::new();
            let mut listed = self.store.list(Some(&Path::from(area.as_str())));
            while let Some(meta) = listed.next().await {
                // One that was removed meanwhile.
                let Some(meta) = absent(meta)? else { continue };
                let written = u64::try_from(meta.last_modified.timestamp_millis()).unwrap_or(0);
                let id = meta.location.filename().and_then(crate::base::id::FileId::parse);
                if let Some(id) = id.filter(|_| written < before.as_millis()) {
                    found.push(Blob::new(area, id));
                }
                if found.len() >= limit {
                    break;
                }
            }
            Ok(found)
        })
    }

    fn expire(&self, before: Timestamp) -> RecordsFuture<'_, u64> {
        Box::pin(async move {
            let mut removed = 0;
            loop {
                let old = self.older(Area::Passing, before, SWEEP).await?;
                for blob in &old {
                    self.remove(blob).await?;
                    removed += 1;
                }
                if old.len() < SWEEP {
                    break;
                }
            }
            if let Some(folder) = self.folder.clone() {
                let swept = tokio::task::spawn_blocking(move || drafts(&folder, before)).await;
                removed += swept.unwrap_or_default();
            }
            Ok(removed)
        })
    }

    fn link<'a>(
        &'a self,
        blob: &'a Blob,
        disposition: &'a str,
        life: Duration,
    ) -> RecordsFuture<'a, Option<String>> {
        Box::pin(async move {
            let Some(signer) = &self.signer else { return Ok(None) };
            let query = [
                ("response-content-disposition", disposition.to_owned()),
                ("response-content-type", "application/octet-stream".to_owned()),
                ("response-cache-control", "no-store".to_owned()),
            ];
            let options = SignedUrlOptions::new().with_query(query);
            let url = signer.signed_url_opts(Method::GET, &place(blob), life, &options).await;
            url.map(|url| Some(url.into())).map_err(failed)
        })
    }

    fn holds(&self) -> usize {
        // A part, and the piece that made it full.
        self.part.saturating_add(LOCAL_PART)
    }
}

/// Removes what writes have left that a crash cut off: the store's staged files, which it does not list.
fn drafts(folder: &FilePath, before: Timestamp) -> u64 {
    let entries = |path: &FilePath| std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut removed = 0;
    for area in [Area::Passing, Area::Kept] {
        for shard in entries(&folder.join(area.as_str())) {
            for entry in entries(&shard.path()) {
                let draft = entry.file_name().to_string_lossy().contains('#');
                let written =
                    entry.metadata().and_then(|found| found.modified()).unwrap_or_else(|_| now_or_later());
                let written = written.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                if draft
                    && written < u128::from(before.as_millis())
                    && std::fs::remove_file(entry.path()).is_ok()
                {
                    removed += 1;
                }
            }
        }
    }
    removed
}

/// A time that is after every other that is asked about: what cannot be dated is not removed.
fn now_or_later() -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::from(u32::MAX) * 4)).unwrap_or(UNIX_EPOCH)
}
