//! [`Valkey`]: a connection to an engine that may go at any time. Who asks while it is gone learns so at once, and goes on alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, Script};

use crate::base::clock::SharedClock;
use crate::crypto::kdf::MacKey;
use crate::telemetry::SharedLimitMetrics;

/// How long the engine is left alone after it failed.
const COOLDOWN: Duration = Duration::from_secs(1);

/// A URL that names no engine. It shows nothing of it: a password may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the URL of a Valkey or Redis, write one such as \"redis://user:password@host:6379/0\"")]
pub struct EngineUrlError;

/// What [`Valkey`] is made from.
pub struct ValkeyParts {
    /// How long an answer may take.
    pub timeout: Duration,
    /// This node, which no other process is called.
    pub node: String,
    /// How many nodes ask it.
    pub nodes: u32,
    /// Names what is counted there, which then tells nothing about whose it is.
    pub key: MacKey,
    /// Says whether the engine is there.
    pub metrics: SharedLimitMetrics,
    /// Tells when it is tried again.
    pub clock: SharedClock,
}

/// A script of the engine, in Lua. It runs as one step among those of all nodes.
pub struct ValkeyScript(Script);

impl ValkeyScript {
    /// One of this text.
    pub fn new(lua: &str) -> Self {
        Self(Script::new(lua))
    }
}

/// A Valkey or Redis that several nodes ask.
pub struct Valkey {
    connection: ConnectionManager,
    parts: ValkeyParts,
    begun: Instant,
    /// Until when the engine is left alone, in milliseconds from `begun`; 0 while it is there.
    gone_until: AtomicU64,
    /// Since when the engine has answered, in milliseconds from `begun`.
    there_since: AtomicU64,
    /// Since when it was gone the last time, in the same.
    gone_since: AtomicU64,
}

impl Valkey {
    /// Whether this is the URL of an engine.
    ///
    /// # Errors
    /// It is not.
    pub fn judge(url: &str) -> Result<(), EngineUrlError> {
        Client::open(url).map(drop).map_err(|_| EngineUrlError)
    }

    /// The engine at `url`, which is asked for the first time when somebody runs a script. Within a runtime.
    ///
    /// # Errors
    /// A URL that is none.
    pub fn new(url: &str, parts: ValkeyParts) -> Result<Self, EngineUrlError> {
        let client = Client::open(url).map_err(|_| EngineUrlError)?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(COOLDOWN))
            .set_response_timeout(Some(parts.timeout));
        let connection =
            ConnectionManager::new_lazy_with_config(client, config).map_err(|_| EngineUrlError)?;
        parts.metrics.available.set(1);
        let begun = parts.clock.instant();
        let [gone_until, there_since, gone_since] = [0; 3].map(AtomicU64::new);
        Ok(Self { connection, parts, begun, gone_until, there_since, gone_since })
    }

    /// This node, as its figures are named there.
    pub fn node(&self) -> &str {
        &self.parts.node
    }

    /// How many nodes ask it, at least 1.
    pub fn nodes(&self) -> u32 {
        self.parts.nodes.max(1)
    }

    /// A name for these parts that does not tell them.
    pub fn digest(&self, parts: &[&[u8]]) -> String {
        let digest = self.parts.key.digest(parts);
        data_encoding::BASE64URL_NOPAD.encode(digest.get(..18).unwrap_or_default())
    }

    /// Whether the engine answers, as far as this node has asked.
    pub fn is_there(&self) -> bool {
        self.gone_until.load(Ordering::Relaxed) == 0
    }

    /// For how long the engine has answered whatever this node asked.
    pub fn there_for(&self) -> Duration {
        Duration::from_millis(self.since().saturating_sub(self.there_since.load(Ordering::Relaxed)))
    }

    /// For how long it has answered since it was gone; `None` while it is gone, and if it never was.
    pub fn back_for(&self) -> Option<Duration> {
        let was_gone = self.there_since.load(Ordering::Relaxed) > 0;
        (was_gone && self.is_there()).then(|| self.there_for())
    }

    /// For how long it was gone the last time, or is by now.
    pub fn gone_for(&self) -> Duration {
        let end = if self.is_there() { self.there_since.load(Ordering::Relaxed) } else { self.since() };
        Duration::from_millis(end.saturating_sub(self.gone_since.load(Ordering::Relaxed)))
    }

    fn since(&self) -> u64 {
        self.parts.clock.instant().duration_since(self.begun).as_millis() as u64
    }

    /// Runs a script. `None`: the engine is gone; whether the script ran nobody knows.
    pub async fn run<T: FromRedisValue>(
        &self,
        script: &ValkeyScript,
        keys: &[String],
        arguments: &[String],
    ) -> Option<T> {
        let since = self.since();
        // Once the rest is over one request asks again, and the others need not wait for what it finds.
        let until = self.gone_until.load(Ordering::Relaxed);
        let next = since + COOLDOWN.as_millis() as u64;
        let asks = since >= until
            && (until == 0
                || self
                    .gone_until
                    .compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok());
        if !asks {
            return None;
        }
        let mut call = script.0.prepare_invoke();
        for key in keys {
            call.key(key);
        }
        for argument in arguments {
            call.arg(argument);
        }
        let mut connection = self.connection.clone();
        let asked = call.invoke_async::<T>(&mut connection);
        match tokio::time::timeout(self.parts.timeout, asked).await {
            Ok(Ok(answer)) => {
                if self.gone_until.swap(0, Ordering::Relaxed) > 0 {
                    self.there_since.store(since, Ordering::Relaxed);
                    self.parts.metrics.available.set(1);
                    tracing::info!(target: "portcullis::limits", "limits are shared with other nodes again");
                }
                Some(answer)
            }
            Ok(Err(error)) => self.gone(since, error.category()),
            Err(_) => self.gone(since, "no answer in time"),
        }
    }

    fn gone<T>(&self, since: u64, why: &str) -> Option<T> {
        self.parts.metrics.failures.inc();
        self.parts.metrics.available.set(0);
        let until = since + COOLDOWN.as_millis() as u64;
        if self.gone_until.swap(until, Ordering::Relaxed) == 0 {
            self.gone_since.store(since, Ordering::Relaxed);
            tracing::warn!(
                target: "portcullis::limits", why,
                "the engine of [limits.shared] is gone: until it is back this node allows its part of each rate and budget"
            );
        }
        None
    }
}
