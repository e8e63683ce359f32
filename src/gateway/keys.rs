//! [`Keys`]: public keys of those who sign tokens: from a file, or from an upstream, kept, fetched again when they are
//! old or a token names one that is not known, and used on while the upstream is down.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use http::header::{ACCEPT, HeaderValue};
use pingora::connectors::http::Connector;
use pingora::http::RequestHeader;
use tokio::sync::Mutex;

use crate::base::clock::SharedClock;
use crate::crypto::jws::JwsAlgorithm;
use crate::gateway::upstream::{TriedPeers, Upstream};
use crate::telemetry::UpstreamFailure;
use crate::vault::jwt::{JwkSet, JwtError, Unverified, Verified, VerifyingKey};

/// The largest set, in bytes.
const MAX_SET: usize = 1 << 20;

/// The most keys of a set.
const MAX_KEYS: usize = 1000;

/// What is said of a larger one.
const TOO_LARGE: &str = "the JWK set is too large";

/// The most keys that are tried for a token.
const TRIED: usize = 16;

/// A whole fetch.
const PATIENCE: Duration = Duration::from_secs(10);

/// When keys are fetched again.
#[derive(Clone, Copy, Debug)]
pub struct Ages {
    /// After this time, at the next token.
    pub refresh: Duration,
    /// For this time they are used on while they cannot be fetched.
    pub stale: Duration,
    /// Between two fetches for names that are not known, and after a failed one.
    pub pause: Duration,
}

impl Default for Ages {
    fn default() -> Self {
        let (refresh, stale, pause) = (300, 24 * 3600, 10);
        Self {
            refresh: Duration::from_secs(refresh),
            stale: Duration::from_secs(stale),
            pause: Duration::from_secs(pause),
        }
    }
}

/// A set that was read.
pub struct KeySet {
    named: HashMap<String, Vec<VerifyingKey>>,
    nameless: Vec<VerifyingKey>,
}

impl KeySet {
    /// Reads a set (RFC 7517 section 5). Keys that are not for signatures, or of kinds that are not known, are passed
    /// over.
    ///
    /// # Errors
    /// What is no set, is larger than 1 MiB or 1000 keys, or has no key that can be used, in words for the operator.
    pub fn read(json: &[u8]) -> Result<Self, &'static str> {
        if json.len() > MAX_SET {
            return Err(TOO_LARGE);
        }
        let set = JwkSet::parse(json).map_err(|_| "this is no JWK set")?;
        if set.keys.len() > MAX_KEYS {
            return Err(TOO_LARGE);
        }
        let mut keys = Self { named: HashMap::new(), nameless: Vec::new() };
        for jwk in &set.keys {
            // An RSA key that does not say is nearly always this.
            let algorithm = jwk.algorithm().unwrap_or(JwsAlgorithm::Rs256);
            let Ok(key) = jwk.public_key(algorithm).map(|key| VerifyingKey::public(&key)) else { continue };
            match jwk.kid() {
                Some(kid) => keys.named.entry(kid.to_owned()).or_default().push(key),
                None => keys.nameless.push(key),
            }
        }
        if keys.named.is_empty() && keys.nameless.is_empty() {
            return Err("the JWK set has no key that can be used");
        }
        Ok(keys)
    }

    /// Reads the set in a file, and no more of it than a set may have.
    ///
    /// # Errors
    /// A file that cannot be read, and as [`KeySet::read`].
    pub fn file(path: &Path) -> Result<Self, &'static str> {
        let mut json = Vec::new();
        let file = File::open(path).map(|file| file.take(MAX_SET as u64 + 1));
        let read = file.and_then(|mut file| file.read_to_end(&mut json));
        read.map_err(|_| "the file of keys cannot be read")?;
        Self::read(&json)
    }

    /// Whether a token's name for its key is known here. A token without one may be of any key.
    fn knows(&self, kid: Option<&str>) -> bool {
        kid.is_none_or(|kid| self.named.contains_key(kid))
    }

    /// What the token says, if one of the keys that may have signed it has.
    fn verify(&self, token: &str, kid: Option<&str>) -> Option<Verified> {
        let named = kid.and_then(|kid| self.named.get(kid));
        let all = self.named.values().flatten().filter(|_| kid.is_none());
        let mut keys = named.into_iter().flatten().chain(all).chain(&self.nameless).take(TRIED);
        keys.find_map(|key| Unverified::parse(token).ok()?.verify(key).ok())
    }
}

/// Where keys come from.
pub struct Keys {
    fixed: Option<KeySet>,
    remote: Option<Remote>,
}

struct Remote {
    upstream: Arc<Upstream>,
    path: String,
    ages: Ages,
    clock: SharedClock,
    connector: Connector,
    held: ArcSwapOption<Held>,
    /// One fetch at a time; when the last one was tried.
    fetching: Mutex<Option<Instant>>,
}

struct Held {
    keys: KeySet,
    since: Instant,
}

/// Why nothing can be said of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// It is none, or nobody who may sign has signed it.
    Token,
    /// The keys cannot be had.
    NoKeys,
}

impl From<JwtError> for VerifyError {
    fn from(_: JwtError) -> Self {
        Self::Token
    }
}

impl Keys {
    /// These and no others.
    pub fn fixed(keys: KeySet) -> Self {
        Self { fixed: Some(keys), remote: None }
    }

    /// Those that `upstream` serves at `path`.
    pub fn remote(upstream: Arc<Upstream>, path: String, ages: Ages, clock: SharedClock) -> Self {
        let (held, fetching) = (ArcSwapOption::empty(), Mutex::new(None));
        let remote = Remote { upstream, path, ages, clock, connector: Connector::new(None), held, fetching };
        Self { fixed: None, remote: Some(remote) }
    }

    /// What the token says, if one of the keys has signed it.
    ///
    /// # Errors
    /// None has, or no keys could be had, or they are too old.
    pub async fn verify(&self, token: &str) -> Result<Verified, VerifyError> {
        let read = Unverified::parse(token)?;
        let kid = read.kid();
        if let Some(keys) = &self.fixed {
            return keys.verify(token, kid).ok_or(VerifyError::Token);
        }
        let remote = self.remote.as_ref().ok_or(VerifyError::NoKeys)?;
        let held = remote.held(kid).await.ok_or(VerifyError::NoKeys)?;
        held.keys.verify(token, kid).ok_or(VerifyError::Token)
    }
}

impl Remote {
    /// The keys for a token, fetched if that may help.
    async fn held(&self, kid: Option<&str>) -> Option<Arc<Held>> {
        let fresh = |held: &Arc<Held>| self.age(held.since) < self.ages.refresh && held.keys.knows(kid);
        let held = self.held.load_full();
        if held.as_ref().is_some_and(fresh) {
            return held;
        }
        // While one request fetches, those that can do without go on.
        let mut tried = match (self.fetching.try_lock(), &held) {
            (Ok(tried), _) => tried,
            (Err(_), Some(known)) if self.usable(known) && known.keys.knows(kid) => return held,
            (Err(_), _) => self.fetching.lock().await,
        };
        // Somebody else may have fetched them meanwhile.
        let held = self.held.load_full();
        let paused = tried.is_some_and(|tried| self.age(tried) < self.ages.pause);
        if !held.as_ref().is_some_and(fresh) && !paused {
            *tried = Some(self.clock.instant());
            match tokio::time::timeout(PATIENCE, self.fetch()).await {
                Ok(Ok(keys)) => {
                    self.held.store(Some(Arc::new(Held { keys, since: self.clock.instant() })));
                }
                Ok(Err(why)) => self.complain(why),
                Err(_) => self.complain("the upstream of keys is too slow"),
            }
        }
        self.held.load_full().filter(|held| self.usable(held))
    }

    fn usable(&self, held: &Held) -> bool {
        self.age(held.since) < self.ages.refresh + self.ages.stale
    }

    fn age(&self, since: Instant) -> Duration {
        self.clock.instant().duration_since(since)
    }

    fn complain(&self, why: &str) {
        let upstream = self.upstream.name();
        tracing::warn!(target: "portcullis::jwt", upstream, "keys of tokens are not fetched: {why}");
    }

    async fn fetch(&self) -> Result<KeySet, &'static str> {
        let failed = |kind| {
            self.upstream.failed(kind);
            "the upstream of keys does not answer"
        };
        let chosen = self
            .upstream
            .choose(&mut TriedPeers::default())
            .await
            .map_err(|_| "the upstream of keys has no address")?;
        let peer = chosen.dial().ok_or("the upstream of keys has no address")?;
        let got = self.connector.get_http_session(peer).await;
        let (mut session, _) = got.map_err(|_| failed(UpstreamFailure::Connect))?;
        let head = RequestHeader::build("GET", self.path.as_bytes(), None);
        let mut head = head.map_err(|_| "the path of keys cannot be asked for")?;
        let credentials = self.upstream.credentials().await;
        let credentials = credentials.map_err(|_| "the vault has no credential for the upstream of keys")?;
        let applied = self.upstream.apply_headers(&mut head, &chosen.authority, &credentials);
        applied.map_err(|_| "the path of keys cannot be asked for")?;
        let asked = head.insert_header(ACCEPT, HeaderValue::from_static("application/json"));
        asked.map_err(|_| "the path of keys cannot be asked for")?;
        let gone = |_| failed(UpstreamFailure::Broken);
        session.write_request_header(Box::new(head)).await.map_err(gone)?;
        session.finish_request_body().await.map_err(gone)?;
        session.read_response_header().await.map_err(gone)?;
        if session.response_header().is_none_or(|head| head.status != 200) {
            return Err("the upstream of keys does not answer 200");
        }
        let mut body = Vec::new();
        while let Some(piece) = session.read_response_body().await.map_err(gone)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_SET {
                return Err(TOO_LARGE);
            }
        }
        KeySet::read(&body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An Ed25519 key (RFC 8037 appendix A.2).
    const KEY: &str =
        r#"{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn set(keys: usize, spaces: usize) -> String {
        format!(r#"{{"keys":[{}]}}{}"#, vec![KEY; keys].join(","), " ".repeat(spaces))
    }

    #[test]
    fn a_set_has_its_limits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let spare = MAX_SET - set(1, 0).len();
        let rows = [
            (set(1, 0), None),
            (set(MAX_KEYS, 0), None),
            (set(MAX_KEYS + 1, 0), Some(TOO_LARGE)),
            (set(1, spare), None),
            (set(1, spare + 1), Some(TOO_LARGE)),
            (set(0, 0), Some("the JWK set has no key that can be used")),
            ("[]".to_owned(), Some("this is no JWK set")),
        ];
        for (json, why) in rows {
            assert_eq!(KeySet::read(json.as_bytes()).err(), why, "{} bytes", json.len());
            std::fs::write(&path, &json).unwrap();
            assert_eq!(KeySet::file(&path).err(), why, "{} bytes", json.len());
        }
        assert_eq!(KeySet::file(folder.path()).err(), Some("the file of keys cannot be read"));
    }
}
