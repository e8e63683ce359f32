//! Where files live, and how long.

use serde::Deserialize;

use crate::config::{Period, Spanned, Supplied};

/// `[blobs]`. Without `s3`: the folder `blobs` in the data folder.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Blobs {
    /// A bucket for files.
    pub s3: Option<Spanned<S3>>,
    /// How long an upload or download URL is good. Default 15 min, at most 1 h.
    pub grant: Spanned<Period>,
    /// How long an upload that nobody took, or a result that nobody kept, stays. Default 1 h; at least `grant`.
    pub passing: Spanned<Period>,
}

impl Default for Blobs {
    fn default() -> Self {
        Self {
            s3: None,
            grant: Spanned::new(Period::secs(15 * 60)),
            passing: Spanned::new(Period::secs(60 * 60)),
        }
    }
}

/// A bucket of an S3 service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3 {
    /// The bucket's name. It must be there.
    pub bucket: String,
    /// `https://host:port` of the service; AWS if there is none.
    pub endpoint: Option<Spanned<String>>,
    /// Its region. Default `us-east-1`.
    #[serde(default = "region")]
    pub region: String,
    /// The access key's id. Without keys: as AWS's own tools find them.
    pub access_key: Option<Spanned<Supplied>>,
    /// The access key's secret.
    pub secret_key: Option<Spanned<Supplied>>,
    /// Whether downloads are granted by the bucket's own presigned URLs, so that the bytes do not pass through here.
    /// Default off: callers need not reach the bucket then.
    #[serde(default)]
    pub presigned: bool,
}

fn region() -> String {
    "us-east-1".to_owned()
}
