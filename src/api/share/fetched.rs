//! Files at a URL that a call names.

use crate::api::error::{ApiError, Code};
use crate::api::fields::invalid;
use crate::base::path::percent_decoded;
use crate::net::{Client, FetchLimits, Fetched, NetError};
use crate::store::StoreError;
use crate::store::blobs::{ByteStream, NextChunk};

/// Fetches what is at URLs.
#[derive(Clone)]
pub struct Fetcher {
    /// Checks where they lead.
    pub client: Client,
    /// How long and how much.
    pub limits: FetchLimits,
}

/// A file as it comes, and why no more of it does.
pub(super) struct FetchedPieces {
    fetched: Fetched,
    why: Option<NetError>,
}

impl Fetcher {
    /// Begins to fetch.
    ///
    /// # Errors
    /// A URL at which nothing is to be had, by this service.
    pub(super) async fn fetch(&self, url: &str) -> Result<FetchedPieces, ApiError> {
        let fetched = self.client.fetch(url, self.limits).await.map_err(|why| self.fault(&why))?;
        Ok(FetchedPieces { fetched, why: None })
    }

    /// What a failure is to the caller.
    pub(super) fn fault(&self, why: &NetError) -> ApiError {
        match why {
            NetError::TooLarge => {
                let detail = format!("the file there must have at most {} bytes", self.limits.size);
                invalid(Code::IsTooBig, "source_url", &detail)
            }
            _ => {
                let detail = format!(
                    "no file can be had from this URL: it must answer a GET with 200 within {} seconds, from an address \
                     that this service may reach",
                    self.limits.time.as_secs()
                );
                invalid(Code::InaccessibleURI, "source_url", &detail)
            }
        }
    }
}

impl FetchedPieces {
    /// The last segment of the URL's path, without its escapes.
    pub(super) fn name(&self) -> String {
        String::from_utf8(percent_decoded(self.fetched.name().as_bytes())).unwrap_or_default()
    }

    /// Why it broke off, if the net did that.
    pub(super) fn why(self) -> Option<NetError> {
        self.why
    }
}

impl ByteStream for FetchedPieces {
    fn next(&mut self) -> NextChunk<'_> {
        Box::pin(async move {
            self.fetched.chunk().await.map_err(|why| {
                self.why = Some(why);
                StoreError::Interrupted
            })
        })
    }
}
