//! [`SharedBudgets`]: what nodes have spent and reserved, together in an engine that they share, so that a budget is exceeded by
//! one request at the most over all of them.
//!
//! The engine has for each account what the store had when a node last read it, and for each node what it has spent since and
//! reserved. Nodes tell all of their own whenever they ask, numbered, so nothing is lost with a message or counted twice, and
//! an engine that lost its memory has it again a second later; until then each node takes others for as busy as itself.
//! What a node that died had not written is taken over by one that lives, and so is what it had reserved: it may have been spent.

use std::sync::Arc;
use std::time::Duration;

use crate::usage::cost::Cost;
use crate::usage::line::{AccountUsage, SharedUsage};
use crate::usage::spend::{Spend, SpendLimit};
use crate::valkey::{Valkey, ValkeyScript};

/// Takes from all accounts or from none.
///
/// Keys: since when the engine remembers, then one for each account, a hash. Its field `w` is what the store has; each other
/// one is a node's: a number that grows, when it was told (ms), what it has spent since, what it has reserved. Spending is three
/// numbers: requests, tokens, nanodollars. They are doubles here: beyond nine million dollars the last digits are lost.
///
/// Arguments: the node; how many there are; after how many milliseconds a silent node's spending is taken over, 0: never; then
/// for each account, with blanks between them, the number, what the store has, the node's own two, what this request reserves
/// (it is in the node's own already), the limits (-1: none), when all of it may be forgotten (ms).
///
/// The answer: which account is used up, or 0; then for each account what the store has, what other nodes have spent since,
/// what was taken over, and all that was spent or reserved before.
const TAKE: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local node, others, silence = ARGV[1], tonumber(ARGV[2]) - 1, tonumber(ARGV[3])
local function numbers(text)
  local all = {}
  for number in string.gmatch(text, '%S+') do all[#all + 1] = tonumber(number) end
  return all
end
local function written(all, first, last)
  local texts = {}
  for at = first, last do texts[#texts + 1] = string.format('%.0f', all[at]) end
  return table.concat(texts, ' ')
end
local since = tonumber(redis.call('GET', KEYS[1]))
if not since then
  since = now
  redis.call('SET', KEYS[1], string.format('%.0f', now))
end
local forgetful = now - since < 2000
local answer, changes = {0}, {}
for i = 2, #KEYS do
  local asked = numbers(ARGV[i + 2])
  local store = {asked[2], asked[3], asked[4]}
  local own = {asked[1], now, asked[5], asked[6], asked[7], asked[8], asked[9], asked[10]}
  local spent, reserved, over, taken, silent = {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {}, {}
  local fields = redis.call('HGETALL', KEYS[i])
  for f = 1, #fields, 2 do
    local name, known = fields[f], numbers(fields[f + 1])
    if name == 'w' then
      if known[1] > store[1] then store = known end
    elseif name == node then
      if known[1] > own[1] then own = known end
    elseif silence > 0 and now - known[2] > silence then
      silent[#silent + 1] = name
      for u = 1, 3 do over[u] = over[u] + known[2 + u] + known[5 + u] end
    else
      for u = 1, 3 do
        spent[u] = spent[u] + known[2 + u]
        reserved[u] = reserved[u] + known[5 + u]
      end
    end
  end
  for u = 1, 3 do
    own[2 + u] = own[2 + u] + over[u]
    local before = own[2 + u] + own[5 + u] - asked[10 + u]
    taken[u] = store[u] + spent[u] + reserved[u] + before
    if forgetful then taken[u] = taken[u] + others * before end
    local limit = asked[13 + u]
    if limit >= 0 and taken[u] >= limit and answer[1] == 0 then answer[1] = i - 1 end
  end
  changes[i] = {store, own, silent, asked[17]}
  for _, three in ipairs({store, spent, over, taken}) do
    for u = 1, 3 do answer[#answer + 1] = three[u] end
  end
end
if answer[1] > 0 then return answer end
for i = 2, #KEYS do
  local store, own, silent, ends = unpack(changes[i])
  for _, name in ipairs(silent) do redis.call('HDEL', KEYS[i], name) end
  redis.call('HSET', KEYS[i], 'w', written(store, 1, 3))
  local idle = true
  for at = 3, 8 do idle = idle and own[at] == 0 end
  if idle then redis.call('HDEL', KEYS[i], node) else redis.call('HSET', KEYS[i], node, written(own, 1, 8)) end
  redis.call('PEXPIREAT', KEYS[i], string.format('%.0f', ends))
end
return answer
";

/// After how long a silent node's spending is taken over: nodes tell once a second what is under way. Until it is in the store, an
/// engine that loses its memory takes it along.
const SILENCE: Duration = Duration::from_secs(5);

/// How long the engine keeps an account after its window: clocks differ.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// How many accounts are told of at once.
pub(super) const AT_ONCE: usize = 64;

/// Names of what the engine has for budgets.
const PREFIX: &str = "portcullis:budget";

/// What nodes have spent and reserved, in an engine that they share.
pub struct SharedBudgets {
    valkey: Arc<Valkey>,
    script: ValkeyScript,
}

/// What is asked about one account.
pub(super) struct AccountClaim<'a> {
    /// Its row.
    pub(super) row: &'a str,
    /// What is known of it, with what is reserved in it already.
    pub(super) line: AccountUsage,
    /// What is reserved.
    pub(super) most: Spend,
    /// The bounds of those budgets that do not let pass.
    pub(super) limit: SpendLimit,
}

/// What came of asking.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EngineAnswer {
    /// All was reserved.
    Taken(Vec<SharedUsage>),
    /// Nothing was: the account at this place is used up.
    UsedUp {
        /// Which.
        row: usize,
        /// What was spent from it and reserved before this.
        taken: Spend,
    },
}

impl SharedBudgets {
    /// Those of this engine.
    pub fn new(valkey: Arc<Valkey>) -> Self {
        Self { valkey, script: ValkeyScript::new(TAKE) }
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> u32 {
        self.valkey.nodes()
    }

    /// Whether the engine answers.
    pub(super) fn is_there(&self) -> bool {
        self.valkey.is_there()
    }

    /// Takes from all of these accounts, or from none. `None`: the engine is gone.
    pub(super) async fn take(&self, claims: &[AccountClaim<'_>]) -> Option<EngineAnswer> {
        // One that was out of reach itself cannot tell who is silent.
        let silence = if self.valkey.there_for() > SILENCE { SILENCE } else { Duration::ZERO };
        let since = format!("{PREFIX}:since");
        let name = |claim: &AccountClaim<'_>| {
            format!("{PREFIX}:{}", self.valkey.digest(&[b"budget", claim.row.as_bytes()]))
        };
        let keys: Vec<String> = std::iter::once(since).chain(claims.iter().map(name)).collect();
        let node = [self.valkey.node().to_owned(), self.nodes().to_string(), silence.as_millis().to_string()];
        let arguments: Vec<String> = node.into_iter().chain(claims.iter().map(AccountClaim::shown)).collect();
        let answer = self.valkey.run::<Vec<u64>>(&self.script, &keys, &arguments).await?;
        told(&answer, claims.len())
    }
}

/// Reads an answer about so many accounts. `None`: it is none.
fn told(answer: &[u64], accounts: usize) -> Option<EngineAnswer> {
    let (used_up, figures) = answer.split_first()?;
    let (rows, rest) = figures.as_chunks::<12>();
    if rows.len() != accounts || !rest.is_empty() {
        return None;
    }
    let Some(place) = used_up.checked_sub(1) else {
        return Some(EngineAnswer::Taken(rows.iter().map(|row| shared(row).0).collect()));
    };
    let row = usize::try_from(place).ok()?;
    Some(EngineAnswer::UsedUp { row, taken: shared(rows.get(row)?).1 })
}

/// What the engine has of one account, and what was taken of it.
fn shared(&[a, b, c, d, e, f, g, h, i, j, k, l]: &[u64; 12]) -> (SharedUsage, Spend) {
    let spend = |requests, tokens, cost| Spend { requests, tokens, cost: Cost::from_nanodollars(cost) };
    (
        SharedUsage { written: spend(a, b, c), elsewhere: spend(d, e, f), taken_over: spend(g, h, i) },
        spend(j, k, l),
    )
}

impl AccountClaim<'_> {
    /// As the script reads it.
    fn shown(&self) -> String {
        let AccountUsage { written, unwritten, reserved, tellings, ends, .. } = &self.line;
        let mut text = tellings.to_string();
        for Spend { requests, tokens, cost } in [written, unwritten, reserved, &self.most] {
            text += &format!(" {requests} {tokens} {}", cost.nanodollars());
        }
        let SpendLimit { requests, tokens, cost } = self.limit;
        for bound in [requests, tokens, cost.map(Cost::nanodollars)] {
            text += &bound.map_or(" -1".to_owned(), |most| format!(" {most}"));
        }
        text + &format!(" {}", ends.plus(KEPT).as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;

    #[test]
    fn a_claim_is_seventeen_numbers_and_an_answer_twelve_for_each_account() {
        let mut line = AccountUsage::until(Timestamp::from_millis(1_000));
        line.written = Spend { requests: 7, tokens: 70, cost: Cost::from_nanodollars(700) };
        line.reserve(Spend { requests: 1, tokens: 10, cost: Cost::from_nanodollars(100) });
        line.tellings = 3;
        let most = line.reserved;
        let limit = SpendLimit { tokens: Some(100), ..SpendLimit::default() };
        let claim = AccountClaim { row: "r", line, most, limit };
        assert_eq!(claim.shown(), "3 7 70 700 0 0 0 1 10 100 1 10 100 -1 100 -1 3601000");

        let figures = [7, 70, 700, 1, 2, 3, 4, 5, 6, 8, 72, 703];
        let answer = |used_up: u64| -> Vec<u64> { std::iter::once(used_up).chain(figures).collect() };
        let Some(EngineAnswer::Taken(rows)) = told(&answer(0), 1) else { panic!("nothing taken") };
        assert_eq!((rows[0].written, rows[0].elsewhere.tokens), (line.written, 2));
        assert_eq!(rows[0].taken_over.cost, Cost::from_nanodollars(6));
        let taken = Spend { requests: 8, tokens: 72, cost: Cost::from_nanodollars(703) };
        assert_eq!(told(&answer(1), 1), Some(EngineAnswer::UsedUp { row: 0, taken }));
        for answer in [&[][..], &[0], &answer(0)[..12], &[0, 1], &answer(2)] {
            assert_eq!(told(answer, 1), None, "{answer:?}");
        }
    }
}
