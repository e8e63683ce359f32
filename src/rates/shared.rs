//! [`SharedRates`]: the generic cell rate algorithm in Valkey or Redis, as a script that takes from all shares of a request or
//! from none, in one round trip. It goes by the engine's clock, so those of the nodes may differ.

use std::sync::Arc;
use std::time::Duration;

use crate::base::rate::Rate;
use crate::valkey::{Valkey, ValkeyScript};

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

/// One share that a request takes from.
#[derive(Clone, Copy, Debug)]
pub struct RateShare<'a> {
    /// What is counted: a route, or all of a token's routes.
    pub of: &'a str,
    /// For whom.
    pub caller: &'a [u8],
    /// How often.
    pub rate: Rate,
}

/// Shares in an engine that nodes have in common.
pub struct SharedRates {
    valkey: Arc<Valkey>,
    script: ValkeyScript,
}

impl SharedRates {
    /// Those of this engine.
    pub fn new(valkey: Arc<Valkey>) -> Self {
        Self { valkey, script: ValkeyScript::new(TAKE) }
    }

    /// What a node allows alone of a rate while the engine is gone.
    pub fn part(&self, rate: Rate) -> Rate {
        let times = (rate.times / self.valkey.nodes()).max(1);
        Rate { times, ..rate }
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
        let arguments = turns.iter().flat_map(|turn| {
            let each = turn.rate.per / turn.rate.times.max(1);
            let burst = turn.rate.per.saturating_sub(each);
            [each, burst].map(|time| time.as_micros().to_string())
        });
        let arguments: Vec<String> = arguments.collect();
        let wait = self.valkey.run::<u64>(&self.script, &keys, &arguments).await?;
        Some(if wait == 0 { Ok(()) } else { Err(Duration::from_micros(wait)) })
    }

    /// Where a share is counted. All of one caller's are in one slot of a cluster.
    fn name(&self, turn: &RateShare<'_>) -> String {
        let caller = self.valkey.digest(&[b"rate", b"caller", turn.caller]);
        let of = self.valkey.digest(&[b"rate", b"of", turn.of.as_bytes()]);
        format!("portcullis:rate:{{{caller}}}:{of}")
    }
}
