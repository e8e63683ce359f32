//! [`LinkAddresses`]: the URLs of links, and the sessions of those who have followed one and know its password.
//!
//! `/share/link/<id>/<proof>`: the id has 160 random bits, the proof is 160 bits of HMAC-SHA-256 of it under a key from
//! the vault. So the store has nothing from which a URL could be made, not even a hash to compare with, and yet whoever may
//! make links can be shown theirs again. There is one way to write a URL.
//!
//! A session is a cookie of the browser's: when it ends, and a proof of that. It is good for one link, at every gateway
//! that has the vault, and for no longer than the link.

use std::time::Duration;

use data_encoding::{BASE32, BASE64URL_NOPAD};

use crate::base::clock::Timestamp;
use crate::base::id::{ID_BYTES, ShareLinkId};
use crate::base::secret::Secret;
use crate::crypto::kdf::hmac_sha256;

/// Where links lie, below the share service's name.
pub const LINK_PATH: &str = "/link";

/// How long whoever came in may stay.
pub(super) const SESSION: Duration = Duration::from_secs(15 * 60);

/// The name of the cookie.
const COOKIE: &str = "share-link";

type LinkProof = Secret<[u8; ID_BYTES]>;

/// Makes and recognises URLs and sessions of links.
pub struct LinkAddresses {
    key: Secret<[u8; 32]>,
    public: String,
}

impl LinkAddresses {
    /// Under the address `public`, with keys from `root`.
    pub fn new(root: &Secret<[u8; 32]>, public: &str) -> Self {
        let key = Secret::new(hmac_sha256(root.expose(), &[b"portcullis/share-link/1"]));
        Self { key, public: public.trim_end_matches('/').to_owned() }
    }

    /// A link's URL.
    pub fn url(&self, id: &ShareLinkId) -> String {
        let proof = BASE32.encode(self.proof(b"link/", id, b"").expose()).to_ascii_lowercase();
        format!("{}/share{LINK_PATH}/{id}/{proof}", self.public)
    }

    /// The link that this path, as it is normalised, leads to.
    pub(super) fn recognise(&self, path: &str) -> Option<ShareLinkId> {
        let (rest, proof) = path.rsplit_once('/')?;
        let (rest, id) = rest.rsplit_once('/')?;
        let id = ShareLinkId::parse(id)?;
        let written =
            !proof.is_empty() && proof.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
        let proof = BASE32.decode(proof.to_ascii_uppercase().as_bytes()).ok().filter(|_| written)?;
        let proof = Secret::new(<[u8; ID_BYTES]>::try_from(proof).ok()?);
        let placed = rest.strip_prefix("/share").unwrap_or(rest) == LINK_PATH;
        (placed && proof == self.proof(b"link/", &id, b"")).then_some(id)
    }

    /// The cookie of a session of this link that begins now. Without a path it is sent to nothing but this link.
    pub(super) fn cookie(&self, id: &ShareLinkId, now: Timestamp) -> String {
        let until = now.plus(SESSION).as_millis().to_be_bytes();
        let mut value = until.to_vec();
        value.extend_from_slice(self.proof(b"session/", id, &until).expose());
        let secure = if self.public.starts_with("https:") { "; Secure" } else { "" };
        let (value, seconds) = (BASE64URL_NOPAD.encode(&value), SESSION.as_secs());
        format!("{COOKIE}={value}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
    }

    /// Whether one of the cookies in this field is a session of this link that has not ended.
    pub(super) fn is_inside(&self, id: &ShareLinkId, cookies: &str, now: Timestamp) -> bool {
        let named =
            cookies.split(';').filter_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='));
        named.into_iter().any(|value| self.session(id, value, now).is_some())
    }

    fn session(&self, id: &ShareLinkId, value: &str, now: Timestamp) -> Option<()> {
        let value = BASE64URL_NOPAD.decode(value.as_bytes()).ok()?;
        let (until, proof) = value.split_first_chunk::<8>()?;
        let proof = Secret::new(<[u8; ID_BYTES]>::try_from(proof).ok()?);
        let ends = Timestamp::from_millis(u64::from_be_bytes(*until));
        let genuine = proof == self.proof(b"session/", id, until);
        // One that ends later than one that begins now was made by a clock that is wrong.
        (genuine && now < ends && ends <= now.plus(SESSION)).then_some(())
    }

    /// `what` and the id are of known length, so what follows is not taken for them.
    fn proof(&self, what: &[u8], id: &ShareLinkId, more: &[u8]) -> LinkProof {
        let whole = hmac_sha256(self.key.expose(), &[what, id.to_string().as_bytes(), more]);
        let mut proof = [0; ID_BYTES];
        proof.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        Secret::new(proof)
    }
}

impl std::fmt::Debug for LinkAddresses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkAddresses(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(key: u8) -> LinkAddresses {
        LinkAddresses::new(&Secret::new([key; 32]), "https://h/base/")
    }

    #[test]
    fn a_url_is_recognised_in_no_other_writing() {
        let (ours, id) = (addresses(1), ShareLinkId::from_random([5; 20]));
        let url = ours.url(&id);
        let path = url.strip_prefix("https://h/base").unwrap();
        assert_eq!(path.len(), "/share/link/".len() + 36 + 1 + 32);
        assert_eq!(ours.recognise(path).as_ref(), Some(&id));
        assert_eq!(ours.recognise(path.strip_prefix("/share").unwrap()).as_ref(), Some(&id));
        assert_eq!(addresses(2).recognise(path), None);
        for at in 0..path.len() {
            for bit in [1, 2, 32] {
                let mut bytes = path.as_bytes().to_vec();
                bytes[at] ^= bit;
                let Ok(other) = String::from_utf8(bytes) else { continue };
                assert_eq!(ours.recognise(&other), None, "{other}");
            }
            assert_eq!(ours.recognise(path.split_at(at).0), None);
        }
        let others = [
            format!("{path}/"),
            format!("{path}a"),
            format!("{path}="),
            format!("/x{path}"),
            format!("/share{path}"),
        ];
        for other in others.iter().chain([&path.to_uppercase(), &path.replace("/psl", "//psl")]) {
            assert_eq!(ours.recognise(other), None, "{other}");
        }
    }

    #[test]
    fn a_session_is_for_one_link_and_for_a_while() {
        let (ours, now) = (addresses(1), Timestamp::from_millis(1_800_000_000_000));
        let [id, other] = [[5; 20], [6; 20]].map(ShareLinkId::from_random);
        let cookie = ours.cookie(&id, now);
        assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Secure") && !cookie.contains("Path"), "{cookie}");
        let pair = cookie.split(';').next().unwrap();
        let sent = format!("a=b; {COOKIE}=x; {pair}; c=d");
        assert!(ours.is_inside(&id, &sent, now) && ours.is_inside(&id, pair, now));
        let last = now.plus(SESSION - Duration::from_millis(1));
        assert!(ours.is_inside(&id, pair, last) && !ours.is_inside(&id, pair, now.plus(SESSION)));
        assert!(!ours.is_inside(&other, pair, now) && !addresses(2).is_inside(&id, pair, now));
        assert!(!ours.is_inside(&id, pair, Timestamp::from_millis(now.as_millis() - 1)));
        for at in pair.len() - 38..pair.len() {
            let mut bytes = pair.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert!(!ours.is_inside(&id, std::str::from_utf8(&bytes).unwrap(), now), "{at}");
        }
        for none in ["", COOKIE, "share-link=", "share-link=AAAA", &format!("x{pair}")] {
            assert!(!ours.is_inside(&id, none, now), "{none}");
        }
        assert!(!LinkAddresses::new(&Secret::new([1; 32]), "http://h").cookie(&id, now).contains("Secure"));
    }
}
