//! [`Grants`]: URLs that let whoever holds one upload or download one file for a short while, without a token.
//!
//! `/blob/<area>/<file>/<name>?verb=…&expires=…&limit=…[&title=…]&by=…&signature=…`, where the signature is HMAC-SHA-256
//! over all that stands before it, and `by` is the id of the token that asked for it: what a token was granted ends when it
//! is revoked. There is one way to write a grant: what is not written in exactly this way is not one.
//! The key is made for the day on which the grant expires, from a root that the vault keeps; so keys change every day,
//! and every process that has the vault has them.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use futures_util::future::BoxFuture;

use crate::base::clock::SharedClock;
use crate::base::id::TokenId;
use crate::base::secret::Secret;
use crate::crypto::kdf::hmac_sha256;
use crate::store::{Blob, BlobDigests};

/// What a granted URL's path begins with.
pub const PREFIX: &str = "/blob/";

/// The paths that granted URLs lie below: an upstream may have others that begin alike.
pub const PATHS: [&str; 2] = ["/blob/passing", "/blob/kept"];

/// The longest file name, in characters.
pub const MAX_NAME: usize = 255;

/// A key is for grants that expire on one day.
const DAY: u64 = 24 * 3600;

/// What a grant is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `GET`: reads the file.
    Download,
    /// `PUT`: the body is the file.
    Put,
    /// `POST`: the file is the part `file` of a form (RFC 7578).
    Post,
}

impl Verb {
    const ALL: [Self; 3] = [Self::Download, Self::Put, Self::Post];

    /// Its name in the URL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Put => "put",
            Self::Post => "post",
        }
    }
}

/// One file, one verb, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What for.
    pub verb: Verb,
    /// The file.
    pub blob: Blob,
    /// The file's name, of at most [`MAX_NAME`] characters.
    pub name: String,
    /// When it ceases to be good, in seconds since the epoch.
    pub expires: u64,
    /// The most bytes of an upload; 0 for a download.
    pub limit: u64,
    /// The token that asked for it; unknown for one of a version before, which is good for an hour at most.
    pub by: Option<TokenId>,
}

impl Grant {
    /// All of the URL that is signed, without the address it begins with.
    fn signed_part(&self) -> String {
        let Self { verb, blob, name, expires, limit, by } = self;
        let safe = safe_name(name);
        let mut text =
            format!("{PREFIX}{blob}/{safe}?verb={}&expires={expires}&limit={limit}", verb.as_str());
        if safe != *name {
            text.push_str("&title=");
            text.push_str(&BASE64URL_NOPAD.encode(name.as_bytes()));
        }
        if let Some(by) = by {
            text.push_str(&format!("&by={by}"));
        }
        text
    }

    fn read(signed: &str) -> Option<Self> {
        let (path, query) = signed.strip_prefix(PREFIX)?.split_once('?')?;
        let (blob, name) = path.rsplit_once('/')?;
        let mut members =
            query.split('&').map(|member| member.split_once('=').unwrap_or_default()).peekable();
        let mut member = |name: &str| members.next_if(|(key, _)| *key == name).map(|(_, value)| value);
        let (verb, expires, limit) = (member("verb")?, member("expires")?, member("limit")?);
        let title = member("title").map(|title| BASE64URL_NOPAD.decode(title.as_bytes()));
        let name = match title {
            Some(title) => String::from_utf8(title.ok()?).ok()?,
            None => name.to_owned(),
        };
        let by = member("by").map(TokenId::parse);
        let grant = Self {
            verb: Verb::ALL.into_iter().find(|known| known.as_str() == verb)?,
            blob: Blob::parse(blob)?,
            name,
            expires: expires.parse().ok()?,
            limit: limit.parse().ok()?,
            by: by.map_or(Some(None), |by| by.map(Some))?,
        };
        (grant.signed_part() == signed).then_some(grant)
    }
}

/// A name without anything that a path, a header or a file system could take for something else: ASCII letters, digits,
/// `.`, `-` and `_`, no dot at the beginning, never empty.
pub fn safe_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut safe: String = name.chars().take(MAX_NAME).map(|c| if fits(c) { c } else { '_' }).collect();
    if safe.starts_with('.') {
        safe.replace_range(..1, "_");
    }
    if safe.is_empty() { "file".to_owned() } else { safe }
}

/// What a grant is for.
#[derive(Clone, Copy, Debug)]
pub struct GrantedFile<'f> {
    /// The file.
    pub blob: &'f Blob,
    /// The name under which it is read or written.
    pub name: &'f str,
    /// The most bytes that may be written.
    pub limit: u64,
}

/// Makes grants and recognises them.
pub struct Grants {
    root: Secret<[u8; 32]>,
    public: String,
    life: Duration,
    clock: SharedClock,
}

impl Grants {
    /// Grants under the address `public` that are good for `life`, signed with keys from `root`.
    pub fn new(root: Secret<[u8; 32]>, public: &str, life: Duration, clock: SharedClock) -> Self {
        Self { root, public: public.trim_end_matches('/').to_owned(), life, clock }
    }

    /// The address that callers know us by, without a slash at its end.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// How long grants are good.
    pub fn life(&self) -> Duration {
        self.life
    }

    /// A URL by which the file can be read under this name, for the token `by`.
    pub fn download(&self, blob: &Blob, name: &str, by: &TokenId) -> String {
        self.url(Verb::Download, GrantedFile { blob, name, limit: 0 }, by)
    }

    /// A URL by which `file` can be written, for the token `by`.
    pub fn upload(&self, verb: Verb, file: GrantedFile<'_>, by: &TokenId) -> String {
        self.url(verb, file, by)
    }

    fn url(&self, verb: Verb, file: GrantedFile<'_>, by: &TokenId) -> String {
        let GrantedFile { blob, name, limit } = file;
        let expires = self.now().saturating_add(self.life.as_secs());
        let name = name.chars().take(MAX_NAME).collect();
        let grant = Grant { verb, blob: blob.clone(), name, expires, limit, by: Some(by.clone()) };
        self.signed(&grant)
    }

    fn signed(&self, grant: &Grant) -> String {
        let (signed, expires) = (grant.signed_part(), grant.expires);
        let signature = BASE64URL_NOPAD.encode(self.signature(expires, &signed).expose());
        format!("{}{signed}&signature={signature}", self.public)
    }

    /// The grant that this path and query (as they came) are, if they are one of ours that is still good.
    pub fn recognise(&self, path_and_query: &str) -> Option<Grant> {
        let (signed, signature) = path_and_query.rsplit_once("&signature=")?;
        let grant = Grant::read(signed)?;
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).ok()?;
        let signature = Secret::new(<[u8; 32]>::try_from(signature).ok()?);
        let genuine = signature == self.signature(grant.expires, signed);
        let now = self.now();
        // What expires later than one that is made now was made under another setting, or by a clock that is wrong.
        (genuine && now < grant.expires && grant.expires - now <= DAY).then_some(grant)
    }

    fn signature(&self, expires: u64, signed: &str) -> Secret<[u8; 32]> {
        let day = (expires / DAY).to_be_bytes();
        let key = Secret::new(hmac_sha256(self.root.expose(), &[b"portcullis/grant/1", &day]));
        Secret::new(hmac_sha256(key.expose(), &[signed.as_bytes()]))
    }

    fn now(&self) -> u64 {
        self.clock.now().as_millis() / 1000
    }
}

impl std::fmt::Debug for Grants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Grants(..)")
    }
}

/// Told when a granted upload is there.
pub trait ArrivalObserver: Send + Sync + 'static {
    /// Whether a file for it would change nothing any more: what waited for one has failed.
    fn is_over<'a>(&'a self, blob: &'a Blob) -> BoxFuture<'a, bool>;

    /// The file is there, whole.
    fn arrived<'a>(&'a self, blob: &'a Blob, facts: BlobDigests) -> BoxFuture<'a, ()>;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::{FixedClock, Timestamp};
    use crate::store::Area;

    fn grants(clock: &Arc<FixedClock>) -> Grants {
        let clock = Arc::clone(clock) as SharedClock;
        Grants::new(Secret::new([7; 32]), "https://h/base/", Duration::from_secs(900), clock)
    }

    #[test]
    fn a_grant_is_recognised_until_it_expires_and_in_no_other_writing() {
        // Shortly before midnight: the key is the next day's.
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(86_400_000 * 20_000 - 10_000)));
        let grants = grants(&clock);
        let blob = Blob::fresh(Area::Passing).unwrap();
        let by = TokenId::from_random([9; 20]);
        for (verb, name, limit) in
            [(Verb::Download, "a b/../報.pdf", 0), (Verb::Put, "a.txt", 5), (Verb::Post, "", 1 << 40)]
        {
            let url = grants.url(verb, GrantedFile { blob: &blob, name, limit }, &by);
            let text = url.strip_prefix("https://h/base").unwrap();
            let found = grants.recognise(text).unwrap();
            assert_eq!((found.verb, &found.blob, found.limit), (verb, &blob, limit));
            assert_eq!(found.by.as_ref(), Some(&by));
            // As a version before wrote it.
            let before = grants.signed(&Grant { by: None, ..found.clone() });
            let before = grants.recognise(before.strip_prefix("https://h/base").unwrap()).unwrap();
            assert_eq!(before, Grant { by: None, ..found });
            for at in 0..text.len() {
                for bit in [1, 2, 32] {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes[at] ^= bit;
                    let Ok(other) = String::from_utf8(bytes) else { continue };
                    assert_eq!(grants.recognise(&other), None, "{other}");
                }
                let (before, after) = text.split_at(at);
                assert_eq!(grants.recognise(before), None);
                assert_eq!(grants.recognise(&format!("{before}%2e{after}")), None);
            }
            for other in [format!("{text}="), format!("{text}&a=b"), format!("/{text}")] {
                assert_eq!(grants.recognise(&other), None, "{other}");
            }
        }
        let url = grants.download(&blob, "a", &by);
        let text = url.strip_prefix("https://h/base").unwrap();
        clock.advance(Duration::from_secs(899));
        assert!(grants.recognise(text).is_some());
        clock.advance(Duration::from_secs(1));
        assert_eq!(grants.recognise(text), None);
    }

    #[test]
    fn names_are_made_safe() {
        let rows = [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "_._.._etc_passwd"),
            (".htaccess", "_htaccess"),
            ("a\r\nb\"c", "a__b_c"),
            ("報告.pdf", "__.pdf"),
            ("", "file"),
        ];
        for (name, safe) in rows {
            assert_eq!(safe_name(name), safe);
        }
        assert_eq!(safe_name(&"x".repeat(1000)).len(), MAX_NAME);
    }
}
