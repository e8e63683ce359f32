//! [`Sessions`]: who has signed in, in memory. A session is as good as the token it was begun with: each request proves that
//! token again, so that one that expires, is revoked, rotated or narrowed ends its sessions within a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use http::HeaderMap;
use http::header::COOKIE;

use crate::api::scope::ConsoleRole;
use crate::api::token::{Principal, TokenError, Tokens};
use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::crypto::hash::sha256;
use crate::crypto::random::{self, RandomError};

/// A session ends so long after its last request.
const IDLE: Duration = Duration::from_secs(3600);

/// And so long after it began, whatever it does: a page that moves asks every second.
const LONGEST: Duration = Duration::from_secs(12 * 3600);

/// Sessions at one time; with one more the one ends that was quiet for the longest.
const MOST: usize = 256;

/// Cookies of our name that are looked at.
const MOST_COOKIES: usize = 8;

/// Somebody who has signed in.
#[derive(Clone)]
pub(super) struct Visitor {
    /// Whose token it is.
    pub(super) who: Principal,
    /// What it may do here.
    pub(super) role: ConsoleRole,
    /// What forms of this session carry.
    pub(super) csrf: Secret<String>,
}

/// Somebody whose token was proved, and is good for the console.
pub(super) struct Admitted {
    token: Secret<String>,
    who: Principal,
    role: ConsoleRole,
}

impl Admitted {
    /// Whose token it is.
    pub(super) fn who(&self) -> &Principal {
        &self.who
    }
}

struct Session {
    token: Secret<String>,
    csrf: Secret<String>,
    began: Instant,
    seen: Instant,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.seen) >= IDLE || now.duration_since(self.began) >= LONGEST
    }
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub(super) enum SignInError {
    /// The token is good, but not for the console.
    #[error("The token does not cover the console.")]
    Scope,
    /// The token is not accepted.
    #[error("The token is not accepted: it is not one of this gateway's, has expired, or was revoked.")]
    Token,
    /// It could not be written down.
    #[error("Nobody is signed in while the audit log cannot be written.")]
    Audit,
    /// It could not be looked up.
    #[error("Tokens cannot be looked up now: {0}.")]
    Lookup(#[source] TokenError),
    /// There are no random bits.
    #[error("No session can be made now: {0}.")]
    Random(#[from] RandomError),
}

/// Who has signed in. Ids of sessions are kept as digests only.
pub(super) struct Sessions {
    tokens: Arc<Tokens>,
    clock: SharedClock,
    cookie: String,
    secure: bool,
    live: Mutex<HashMap<[u8; 32], Session>>,
}

impl Sessions {
    /// Nobody yet. Browsers share cookies among the ports of a host, so `port` is in the name of ours; `secure` says that it is
    /// reached by TLS alone.
    pub(super) fn new(tokens: Arc<Tokens>, clock: SharedClock, port: u16, secure: bool) -> Self {
        let cookie = format!("{}portcullis_{port}", if secure { "__Host-" } else { "" });
        Self { tokens, clock, cookie, secure, live: Mutex::default() }
    }

    /// Proves a token, of which a session can be begun.
    ///
    /// # Errors
    /// A token that is not good, or not for this.
    pub(super) async fn prove(&self, token: Secret<String>) -> Result<Admitted, SignInError> {
        let who = self.tokens.verify(token.expose()).await.map_err(|error| match error {
            TokenError::Unknown | TokenError::Expired | TokenError::Revoked => SignInError::Token,
            error => SignInError::Lookup(error),
        })?;
        let role = who.console_role().ok_or(SignInError::Scope)?;
        Ok(Admitted { token, who, role })
    }

    /// Begins a session of whoever has proved a token; what the browser is to keep.
    ///
    /// # Errors
    /// There are no random bits.
    pub(super) fn begin(&self, admitted: Admitted) -> Result<String, SignInError> {
        let (id, csrf) = (secret()?, secret()?);
        let now = self.clock.instant();
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|_, session| !session.is_over(now));
        if live.len() >= MOST {
            let quiet = live.iter().min_by_key(|(_, session)| session.seen).map(|(id, _)| *id);
            quiet.and_then(|id| live.remove(&id));
        }
        let session = Session { token: admitted.token, csrf, began: now, seen: now };
        live.insert(sha256(id.expose().as_bytes()), session);
        drop(live);
        Ok(self.set_cookie(id.expose(), LONGEST))
    }

    /// Whose session a request belongs to.
    ///
    /// # Errors
    /// The token cannot be looked up.
    pub(super) async fn of(&self, headers: &HeaderMap) -> Result<Option<Visitor>, TokenError> {
        let Some(id) = self.id(headers) else { return Ok(None) };
        let Some((token, csrf)) = self.seen(&id) else { return Ok(None) };
        match self.prove(token).await {
            Ok(Admitted { who, role, .. }) => Ok(Some(Visitor { who, role, csrf })),
            Err(SignInError::Lookup(error)) => Err(error),
            Err(_) => {
                self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                Ok(None)
            }
        }
    }

    /// Ends a session; what makes the browser forget it.
    pub(super) fn end(&self, headers: &HeaderMap) -> String {
        if let Some(id) = self.id(headers) {
            self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        }
        self.set_cookie("", Duration::ZERO)
    }

    fn seen(&self, id: &[u8; 32]) -> Option<(Secret<String>, Secret<String>)> {
        let now = self.clock.instant();
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let session = live.get_mut(id)?;
        if session.is_over(now) {
            live.remove(id);
            return None;
        }
        session.seen = now;
        Some((session.token.clone(), session.csrf.clone()))
    }

    fn set_cookie(&self, id: &str, life: Duration) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        let life = life.as_secs();
        format!("{}={id}; Path=/; Max-Age={life}; HttpOnly; SameSite=Strict{secure}", self.cookie)
    }

    fn id(&self, headers: &HeaderMap) -> Option<[u8; 32]> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        // Browsers share cookies among the ports of a host: others may have set one of this name.
        let ids = pairs.filter(|(name, id)| *name == self.cookie && id.len() == 43);
        let mut ids = ids.map(|(_, id)| sha256(id.as_bytes())).take(MOST_COOKIES);
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        ids.find(|id| live.contains_key(id))
    }
}

/// 256 random bits, as text.
fn secret() -> Result<Secret<String>, RandomError> {
    Ok(Secret::new(BASE64URL_NOPAD.encode(&random::bytes::<32>()?)))
}
