//! [`SharedRates`]: the generic cell rate algorithm in Valkey or Redis, as a script that takes from all shares of a request or
//! from none, in one round trip. It goes by the engine's clock, so those of the nodes may differ.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Script};

use crate::base::clock::SharedClock;
use crate::base::rate::Rate;
use crate::crypto::kdf::MacKey;
use crate::telemetry::SharedRateMetrics;

/// For each key: when its next turn is due. In microseconds, whole numbers of which a double holds those of 200 years.
///
/// Arguments, for each key: the time between two turns, and how far ahead of it the account may be. The answer: 0, or how long
/// until there is a turn.
const TAKE: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local due, wait = {}, 0
for i = 1, #KEYS do
  local each, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local at = tonumber(redis.call('GET', KEYS[i])) or now
  if at < now then at = now end
  wait = math.max(wait, at - now - burst)
  due[i] = at + each
end
if wait > 0 then return wait end
for i = 1, #KEYS do
  redis.call('SET', KEYS[i], string.format('%.0f', due[i]), 'PX', math.ceil((due[i] - now) / 1000) + 1)
end
return 0
";

/// How long the engine is left alone after it failed.
const REST: Duration = Duration::from_secs(1);

/// One share that a request takes from.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// What is counted: a route, or all of a token's routes.
    pub of: &'a str,
    /// For whom.
    pub caller: &'a [u8],
    /// How often.
    pub rate: Rate,
}

/// A URL that names no engine. It shows nothing of it: a password may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the URL of a Valkey or Redis, write one such as \"redis://user:password@host:6379/0\"")]
pub struct BadEngine;

/// What [`SharedRates`] is made from.
pub struct SharedRatesParts {
    /// How long an answer of the engine may take.
    pub timeout: Duration,
    /// How many nodes share a rate.
    pub nodes: u32,
    /// Names callers in the engine, which then tells nothing about them.
    pub key: MacKey,
    /// Says whether the engine is there.
    pub metrics: SharedRateMetrics,
    /// Tells when it is tried again.
    pub clock: SharedClock,
}

/// Shares in an engine that nodes have in common.
pub struct SharedRates {
    connection: ConnectionManager,
    script: Script,
    parts: SharedRatesParts,
    begun: Instant,
    /// Until when the engine is left alone, in milliseconds from `begun`; 0 while it is there.
    gone_until: AtomicU64,
}

impl SharedRates {
    /// Whether this is the URL of an engine.
    ///
    /// # Errors
    /// It is not.
    pub fn judge(url: &str) -> Result<(), BadEngine> {
        Client::open(url).map(drop).map_err(|_| BadEngine)
    }

    /// With the engine at `url`, which is asked for the first time when somebody takes a turn. Within a runtime.
    ///
    /// # Errors
    /// A URL that is none.
    pub fn new(url: &str, parts: SharedRatesParts) -> Result<Self, BadEngine> {
        let client = Client::open(url).map_err(|_| BadEngine)?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(REST))
            .set_response_timeout(Some(parts.timeout));
        let connection = ConnectionManager::new_lazy_with_config(client, config).map_err(|_| BadEngine)?;
        parts.metrics.available.set(1);
        let begun = parts.clock.instant();
        Ok(Self { connection, script: Script::new(TAKE), parts, begun, gone_until: AtomicU64::new(0) })
    }

    /// What a node allows alone of a rate while the engine is gone.
    pub fn part(&self, rate: Rate) -> Rate {
        let times = (rate.times / self.parts.nodes.max(1)).max(1);
        Rate { times, ..rate }
    }

    /// Takes from all of these shares, or from none. `None`: the engine is gone, and nothing was counted as far as anybody
    /// knows.
    ///
    /// # Errors
    /// A share is used up: how long until there is a turn.
    pub async fn take(&self, turns: &[Turn<'_>]) -> Option<Result<(), Duration>> {
        if turns.is_empty() {
            return Some(Ok(()));
        }
        let since = self.parts.clock.instant().duration_since(self.begun).as_millis() as u64;
        // Once the rest is over one request asks again, and the others need not wait for what it finds.
        let until = self.gone_until.load(Ordering::Relaxed);
        let next = since + REST.as_millis() as u64;
        let asks = since >= until
            && (until == 0
                || self
                    .gone_until
                    .compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok());
        if !asks {
            return None;
        }
        let mut call = self.script.prepare_invoke();
        for turn in turns {
            let each = turn.rate.per / turn.rate.times.max(1);
            let burst = turn.rate.per.saturating_sub(each);
            call.key(self.name(turn)).arg(each.as_micros() as u64).arg(burst.as_micros() as u64);
        }
        let mut connection = self.connection.clone();
        let asked = call.invoke_async::<u64>(&mut connection);
        match tokio::time::timeout(self.parts.timeout, asked).await {
            Ok(Ok(wait)) => {
                if self.gone_until.swap(0, Ordering::Relaxed) > 0 {
                    self.parts.metrics.available.set(1);
                    tracing::info!(target: "portcullis::limits", "rates are shared with other nodes again");
                }
                Some(if wait == 0 { Ok(()) } else { Err(Duration::from_micros(wait)) })
            }
            Ok(Err(error)) => self.gone(since, error.category()),
            Err(_) => self.gone(since, "no answer in time"),
        }
    }

    fn gone<T>(&self, since: u64, why: &str) -> Option<T> {
        self.parts.metrics.failures.inc();
        self.parts.metrics.available.set(0);
        let until = since + REST.as_millis() as u64;
        if self.gone_until.swap(until, Ordering::Relaxed) == 0 {
            tracing::warn!(
                target: "portcullis::limits", why,
                "the engine of [limits.shared] is gone: until it is back this node allows its part of each rate"
            );
        }
        None
    }

    /// Where a share is counted. All of one caller's are in one slot of a cluster.
    fn name(&self, turn: &Turn<'_>) -> String {
        let short = |parts: &[&[u8]]| {
            let digest = self.parts.key.digest(parts);
            data_encoding::BASE64URL_NOPAD.encode(digest.get(..18).unwrap_or_default())
        };
        let caller = short(&[b"rate", b"caller", turn.caller]);
        let of = short(&[b"rate", b"of", turn.of.as_bytes()]);
        format!("portcullis:rate:{{{caller}}}:{of}")
    }
}
