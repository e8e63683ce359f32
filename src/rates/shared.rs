//! [`SharedRates`]: the generic cell rate algorithm in Valkey or Redis, as a script that takes from all shares of a request or
//! from none, in one round trip. It goes by the engine's clock, so those of the nodes may differ.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashSet;

use crate::base::rate::Rate;
use crate::valkey::{Valkey, ValkeyScript};

/// For each key: when its next turn is due. In microseconds, whole numbers of which a double holds those of 200 years.
///
/// Arguments, for each key: the time between two turns, how far ahead of it the account may be, and how far it is ahead as
/// the node takes it to be; then for how long the node had to count alone, which an account that is there lacks at the most. The answer: 0,
/// or how long until there is a turn.
const TAKE: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local due, wait, alone = {}, 0, tonumber(ARGV[#ARGV])
local function keep(key, at)
  redis.call('SET', key, string.format('%.0f', at), 'PX', math.ceil((at - now) / 1000) + 1)
end
for i = 1, #KEYS do
  local each, burst, told = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), now + tonumber(ARGV[3 * i])
  local at = tonumber(redis.call('GET', KEYS[i])) or now
  if at > now then told = math.min(told, at + alone) else at = now end
  if at < told then
    at = told
    keep(KEYS[i], at)
  end
  wait = math.max(wait, at - now - burst)
  due[i] = at + each
end
if wait > 0 then return wait end
for i = 1, #KEYS do keep(KEYS[i], due[i]) end
return 0
";

/// For how long an engine that is back is told what this node knows of shares: what it has counted alone, and what the engine may have
/// forgotten.
const TOLD: Duration = Duration::from_secs(10 * 60);

/// So many shares, at the most.
const MOST_TOLD: usize = 100_000;

/// One share that a request takes from.
#[derive(Clone, Copy, Debug)]
pub struct RateShare<'a> {
    /// What is counted: a route, or all of a token's routes.
    pub of: &'a str,
    /// For whom.
    pub caller: &'a [u8],
    /// How often.
    pub rate: Rate,
    /// How much of the rate's time is used up if other nodes are as busy as this one; zero unless
    /// [`SharedRates::is_to_be_told`].
    pub ahead: Duration,
}

/// Shares in an engine that nodes have in common.
pub struct SharedRates {
    valkey: Arc<Valkey>,
    script: ValkeyScript,
    /// Of which shares the engine was told since it is back: what is taken from then on it knows.
    told: DashSet<String>,
}

impl SharedRates {
    /// Those of this engine.
    pub fn new(valkey: Arc<Valkey>) -> Self {
        Self { valkey, script: ValkeyScript::new(TAKE), told: DashSet::new() }
    }

    /// What a node allows alone of a rate while the engine is gone.
    pub fn part(&self, rate: Rate) -> Rate {
        let times = (rate.times / self.valkey.nodes()).max(1);
        Rate { times, ..rate }
    }

    /// Whether the engine may not know all that was taken, since it is gone or was so lately.
    pub fn is_to_be_told(&self) -> bool {
        !self.valkey.is_there() || self.valkey.back_for().is_some_and(|back| back < TOLD)
    }

    /// Takes from all of these shares, or from none. `None`: the engine is gone, and nothing was counted as far as anybody
    /// knows.
    ///
    /// # Errors
    /// A share is used up: how long until there is a turn.
    pub async fn take(&self, turns: &[RateShare<'_>]) -> Option<Result<(), Duration>> {
        if turns.is_empty() {
            return Some(Ok(()));
        }
        let keys: Vec<String> = turns.iter().map(|turn| self.name(turn)).collect();
        let arguments = turns.iter().zip(&keys).flat_map(|(turn, key)| {
            let each = turn.rate.per / turn.rate.times.max(1);
            let burst = turn.rate.per.saturating_sub(each);
            let ahead = if self.tells(turn, key) { turn.ahead.min(turn.rate.per) } else { Duration::ZERO };
            [each, burst, ahead].map(|time| time.as_micros().to_string())
        });
        let alone = self.valkey.gone_for().as_micros().to_string();
        let arguments: Vec<String> = arguments.chain([alone]).collect();
        let Some(wait) = self.valkey.run::<u64>(&self.script, &keys, &arguments).await else {
            self.told.clear();
            return None;
        };
        Some(if wait == 0 { Ok(()) } else { Err(Duration::from_micros(wait)) })
    }

    /// Whether the engine is to be told of a share, which it is once after it was gone.
    fn tells(&self, turn: &RateShare<'_>, key: &str) -> bool {
        !turn.ahead.is_zero() && self.told.len() < MOST_TOLD && self.told.insert(key.to_owned())
    }

    /// Where a share is counted. All of one caller's are in one slot of a cluster.
    fn name(&self, turn: &RateShare<'_>) -> String {
        let caller = self.valkey.digest(&[b"rate", b"caller", turn.caller]);
        let of = self.valkey.digest(&[b"rate", b"of", turn.of.as_bytes()]);
        format!("portcullis:rate:{{{caller}}}:{of}")
    }
}
