//! [`Cleaner`]: files, cleaned by whoever has a sandbox.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Config;

/// The largest file, in bytes.
pub(super) const FILE: usize = 16 << 20;

/// The longest name of a file that is looked at, in bytes.
const NAME: usize = 255;

/// A file to clean.
pub struct FileToClean {
    /// What it is called.
    pub name: String,
    /// All of it.
    pub bytes: Bytes,
    /// Whether values in it are redacted.
    pub redacts: bool,
}

/// A file that is clean.
pub struct CleanFile {
    /// What it is to be called.
    pub name: String,
    /// What kind of file it is, in a word.
    pub kind: String,
    /// All of it.
    pub bytes: Bytes,
    /// What was done, in a sentence.
    pub summary: String,
    /// What was done, as the API tells it.
    pub data: Value,
}

/// Why there is no clean file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCleaned {
    /// It is not released; why, in words for its owner.
    #[error("{0}")]
    Refused(String),
    /// It cannot be looked at now.
    #[error("files cannot be cleaned now")]
    Unavailable,
}

/// Cleans files.
pub trait Cleaner: Send + Sync + 'static {
    /// Cleans one, by the settings of a configuration.
    ///
    /// # Errors
    /// [`NotCleaned`].
    fn clean<'c>(
        &'c self,
        config: &'c std::sync::Arc<Config>,
        file: FileToClean,
    ) -> BoxFuture<'c, Result<CleanFile, NotCleaned>>;
}

/// What stands before a file that is sent: a line of JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentHead {
    name: String,
    redact: bool,
}

/// Reads what a script sends: a line of JSON, and the file behind it.
pub(super) fn sent(body: &Bytes) -> Option<FileToClean> {
    let end = body.iter().take(4096).position(|&byte| byte == b'\n')?;
    let head: SentHead = serde_json::from_slice(body.get(..end)?).ok()?;
    if head.name.len() > NAME {
        return None;
    }
    Some(FileToClean { name: head.name, bytes: body.slice(end + 1..), redacts: head.redact })
}

/// What stands before a clean file that is sent back.
#[derive(Serialize)]
struct GivenHead<'a> {
    name: &'a str,
    kind: &'a str,
    summary: &'a str,
    data: &'a Value,
    bytes: usize,
}

/// What a script is sent: a line of JSON, and the clean file behind it.
pub(super) fn given(file: &CleanFile) -> Bytes {
    let CleanFile { name, kind, bytes, summary, data } = file;
    let head = GivenHead { name, kind, summary, data, bytes: bytes.len() };
    let mut out = serde_json::to_vec(&head).unwrap_or_default();
    out.push(b'\n');
    out.extend_from_slice(bytes);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_behind_its_head() {
        let body = Bytes::from_static(b"{\"name\": \"a b.txt\", \"redact\": true}\nline\n\0\xff");
        let file = sent(&body).unwrap();
        assert_eq!((file.name.as_str(), file.redacts), ("a b.txt", true));
        assert_eq!(file.bytes, &b"line\n\0\xff"[..]);
        for wrong in [
            &b""[..],
            b"{}\n",
            b"{\"name\": \"a\", \"redact\": true}",
            b"{\"name\": \"a\", \"redact\": true, \"more\": 1}\nx",
        ] {
            assert!(sent(&Bytes::copy_from_slice(wrong)).is_none());
        }
        let long = format!("{{\"name\": \"{}\", \"redact\": true}}\nx", "n".repeat(NAME + 1));
        assert!(sent(&Bytes::from(long)).is_none());
    }
}
