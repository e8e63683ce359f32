//! [`Fetched`]: a file as it comes from someone's URL.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Response, StatusCode, Url};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::net::NetError;
use crate::net::client::Client;

/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// Failures take a multiple of this, so that their time tells little of what they failed at.
const STEP: Duration = Duration::from_millis(250);

/// Bounds on a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// For all of it, from the first name looked up to the last byte.
    pub time: Duration,
    /// The largest file, in bytes.
    pub size: u64,
}

/// A file as it comes. What is dropped before its end is not read further.
#[derive(Debug)]
pub struct Fetched {
    response: Response,
    deadline: Instant,
    left: u64,
}

impl Client {
    /// Begins to fetch what is at someone's URL, with `GET` and no credentials. Each redirect's target is checked as
    /// the URL itself is.
    ///
    /// # Errors
    /// [`NetError::Url`], [`NetError::TooLarge`] by its announced size, else [`NetError::Inaccessible`].
    pub async fn fetch(&self, url: &str, limits: FetchLimits) -> Result<Fetched, NetError> {
        let url = Url::parse(url).ok().filter(fetchable).ok_or(NetError::Url)?;
        let begun = Instant::now();
        let deadline = begun + limits.time;
        let found = timeout_at(deadline, self.follow(url)).await.unwrap_or(Err(NetError::Inaccessible));
        match found {
            Ok(response) if response.content_length().is_some_and(|length| length > limits.size) => {
                Err(NetError::TooLarge)
            }
            Ok(response) => Ok(Fetched { response, deadline, left: limits.size }),
            Err(error) => {
                sleep_until(stepped(begun, deadline)).await;
                Err(error)
            }
        }
    }

    async fn follow(&self, mut url: Url) -> Result<Response, NetError> {
        for _ in 0..=REDIRECTS {
            let client = self.client_for(&url)?;
            let response = client.get(url.clone()).send().await.map_err(|_| NetError::Inaccessible)?;
            if response.status() == StatusCode::OK {
                // Whatever is in there besides was not asked for.
                let coded =
                    response.headers().get("content-encoding").is_some_and(|coding| coding != "identity");
                return if coded { Err(NetError::Inaccessible) } else { Ok(response) };
            }
            url = target(&url, &response).ok_or(NetError::Inaccessible)?;
        }
        Err(NetError::Inaccessible)
    }

    /// The client for a URL: an address in it is checked here, those of a name when it is looked up.
    fn client_for(&self, url: &Url) -> Result<&reqwest::Client, NetError> {
        let port = url.port_or_known_default().ok_or(NetError::Inaccessible)?;
        let host = url.host_str().ok_or(NetError::Inaccessible)?;
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        match literal {
            Ok(address) if self.allow.socket(address, port) => Ok(&self.checked),
            Ok(_) => Err(NetError::Inaccessible),
            Err(_) if self.allow.host(host.trim_end_matches('.'), port) => Ok(&self.named),
            Err(_) if self.allow.port(port) => Ok(&self.checked),
            Err(_) => Err(NetError::Inaccessible),
        }
    }
}

impl Fetched {
    /// The size that was announced, in bytes.
    pub fn size(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The last segment of the path that it was found at, as it stands there; empty if there is none.
    pub fn name(&self) -> &str {
        self.response.url().path().rsplit('/').next().unwrap_or_default()
    }

    /// The next piece; `None` at its end.
    ///
    /// # Errors
    /// [`NetError::TooLarge`]; [`NetError::Inaccessible`] if it breaks off or takes too long.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        let chunk = timeout_at(self.deadline, self.response.chunk()).await;
        let chunk = chunk.map_err(|_| NetError::Inaccessible)?.map_err(|_| NetError::Inaccessible)?;
        let size = chunk.as_ref().map_or(0, Bytes::len) as u64;
        self.left = self.left.checked_sub(size).ok_or(NetError::TooLarge)?;
        Ok(chunk)
    }
}

/// Whether a URL may be fetched as far as it alone can tell. Credentials in it would be sent.
fn fetchable(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
}

/// Where a redirect leads; never from TLS to plaintext.
fn target(from: &Url, response: &Response) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get("location")?.to_str().ok()?;
    let to = from.join(location).ok().filter(fetchable)?;
    (to.scheme() == from.scheme() || to.scheme() == "https").then_some(to)
}

/// When a failure is told: at the end of the step in which it happened.
fn stepped(begun: Instant, deadline: Instant) -> Instant {
    let steps = begun.elapsed().as_millis() / STEP.as_millis() + 1;
    (begun + STEP * u32::try_from(steps).unwrap_or(u32::MAX)).min(deadline.max(begun + STEP))
}
