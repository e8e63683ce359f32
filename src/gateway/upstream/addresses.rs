//! Where a peer's name leads. It is looked up from time to time, by one task at a time, which outlives the request that it
//! began for; others go where it led before. An address that cannot be reached rests for a while, as long as there are
//! others.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use pingora::upstreams::peer::HttpPeer;
use tokio::sync::watch;

use crate::base::clock::SharedClock;
use crate::gateway::upstream::connect_options::{ConnectOptions, Target};
use crate::gateway::upstream::failure_times::FailureTimes;
use crate::gateway::upstream::tried::TriedPeers;
use crate::net::DnsResolver;

/// How long a name's addresses are used before they are looked up again.
const RESOLVE_EVERY: Duration = Duration::from_secs(30);

/// How long after a lookup of old addresses began the next one does, whatever came of it.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// The same where there is no address, or one could not be reached.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// How long an address that could not be reached rests the first time; each next time twice as long.
const REST: Duration = Duration::from_secs(5);

/// The longest it rests.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What the addresses of a peer are made from.
pub(super) struct AddressParts {
    /// What is looked up.
    pub(super) target: Target,
    /// How it is spoken to.
    pub(super) dialing: ConnectOptions,
    /// Looks it up.
    pub(super) resolver: Arc<dyn DnsResolver>,
    /// For the age of addresses.
    pub(super) clock: SharedClock,
    /// What the log calls the upstream.
    pub(super) upstream: String,
    /// What the log calls the peer.
    pub(super) peer: String,
    /// Tells the log of lookups that fail.
    pub(super) told: Arc<FailureTimes>,
}

/// A peer's addresses, as ready-made descriptions for the connector; of a name, none at first.
pub(super) struct PeerAddresses {
    parts: AddressParts,
    /// Whether the host is an address itself.
    is_literal: bool,
    known: ArcSwapOption<ResolvedAddresses>,
    record: Mutex<AddressRecord>,
}

/// Where a name led once.
pub(super) struct ResolvedAddresses {
    since: Instant,
    /// At least one, each with its description.
    pub(super) dials: Vec<(SocketAddr, HttpPeer)>,
}

#[derive(Default)]
struct AddressRecord {
    lookup: Option<LastLookup>,
    /// Whether an address could not be reached since that began.
    is_doubtful: bool,
    rests: HashMap<SocketAddr, AddressRest>,
}

struct LastLookup {
    begun: Instant,
    /// Whether it is; of one that was given up, there is nobody to say so.
    over: watch::Receiver<bool>,
}

struct AddressRest {
    until: Instant,
    /// How often it has rested without having been reached.
    times: u32,
}

impl PeerAddresses {
    /// Nothing is looked up yet.
    pub(super) fn new(parts: AddressParts) -> Self {
        let literal: Option<IpAddr> = parts.target.host.parse().ok();
        let (known, record) = (ArcSwapOption::default(), Mutex::default());
        let addresses = Self { parts, is_literal: literal.is_some(), known, record };
        if let Some(address) = literal {
            addresses.keep(vec![address]);
        }
        addresses
    }

    /// Goes where another's name led, if it is the same, until it is looked up.
    pub(super) fn inherit(&self, before: &Self) {
        if let Some(known) =
            before.known.load_full().filter(|_| self.parts.target.host == before.parts.target.host)
        {
            self.keep(known.dials.iter().map(|(address, _)| address.ip()).collect());
        }
    }

    /// Those that are known, if there are any; they are looked up again where that is due. Whoever cannot do with them waits
    /// for a lookup that is under way, as long as a connection may take.
    pub(super) async fn find(self: &Arc<Self>, tried: &TriedPeers) -> Option<Arc<ResolvedAddresses>> {
        let Some(mut over) = self.lookup().filter(is_under_way) else { return self.known.load_full() };
        let known = self.known.load_full().filter(|known| self.is_promising(known, tried));
        if known.is_some() {
            return known;
        }
        let longest = self.parts.dialing.times.connect.get();
        if tokio::time::timeout(longest, over.wait_for(|over| *over)).await.is_err() {
            self.tell("the resolver does not answer in time");
        }
        self.known.load_full()
    }

    /// The next of them in turn: one that was not tried and does not rest, if there is one; else one that was not tried.
    /// One whose rest is over is tried by one request, and rests on for others.
    pub(super) fn pick(&self, known: &ResolvedAddresses, tried: &TriedPeers, turn: usize) -> usize {
        let now = self.parts.clock.instant();
        let mut record = self.lock();
        let count = known.dials.len();
        let places = || (0..count).map(|step| turn.wrapping_add(step) % count.max(1));
        let address = |place: &usize| known.dials.get(*place).map(|(address, _)| *address);
        let fresh = |place: &usize| address(place).is_some_and(|address| !tried.has_address(address));
        let takes = |place: &usize| address(place).is_some_and(|address| !record.rests(address, now));
        let picked = places().filter(fresh).find(takes).or_else(|| places().find(fresh));
        let picked = picked.or_else(|| places().find(takes)).or_else(|| places().next()).unwrap_or(0);
        if let Some(address) = address(&picked)
            && let Some(rest) = record.rests.get_mut(&address)
            && rest.until <= now
        {
            rest.begin(now);
        }
        picked
    }

    /// Whether one of those that are known was not tried, and, if `awake`, does not rest.
    pub(super) fn has_untried(&self, tried: &TriedPeers, awake: bool) -> bool {
        let Some(known) = self.known.load_full() else { return false };
        let now = self.parts.clock.instant();
        let record = self.lock();
        let mut fresh = known.dials.iter().filter(|(address, _)| !tried.has_address(*address));
        fresh.any(|(address, _)| !awake || !record.rests(*address, now))
    }

    /// How many are known; at least one.
    pub(super) fn count(&self) -> usize {
        self.known.load_full().map_or(1, |known| known.dials.len())
    }

    /// It could not be reached: it rests, and the name is to be looked up. Returns whether all rest now.
    pub(super) fn unreachable(&self, address: SocketAddr) -> bool {
        let now = self.parts.clock.instant();
        let mut record = self.lock();
        record.is_doubtful = true;
        let rest = record.rests.entry(address).or_insert(AddressRest { until: now, times: 0 });
        // Requests that had begun before it rested say nothing new.
        if rest.until <= now {
            rest.begin(now);
        }
        let known = self.known.load_full();
        known.is_none_or(|known| known.dials.iter().all(|(address, _)| record.rests(*address, now)))
    }

    /// It could be reached.
    pub(super) fn reached(&self, address: SocketAddr) {
        self.lock().rests.remove(&address);
    }

    /// The last lookup, or a new one if that is due; `None` for an address, which needs none.
    fn lookup(self: &Arc<Self>) -> Option<watch::Receiver<bool>> {
        if self.is_literal {
            return None;
        }
        let now = self.parts.clock.instant();
        let mut record = self.lock();
        let is_enough = |last: &&LastLookup| is_under_way(&last.over) || !self.is_due(&record, last, now);
        if let Some(last) = record.lookup.as_ref().filter(is_enough) {
            return Some(last.over.clone());
        }
        let (end, over) = watch::channel(false);
        let (addresses, found) = (Arc::clone(self), self.parts.resolver.lookup(&self.parts.target.host));
        tokio::spawn(async move {
            addresses.found(found.await);
            end.send_replace(true);
        });
        record.lookup = Some(LastLookup { begun: now, over: over.clone() });
        record.is_doubtful = false;
        Some(over)
    }

    /// Whether another lookup should follow `last`, which is over.
    fn is_due(&self, record: &AddressRecord, last: &LastLookup, now: Instant) -> bool {
        let since = now.saturating_duration_since(last.begun);
        match self.known.load_full() {
            Some(known) if !record.is_doubtful => {
                now.saturating_duration_since(known.since) >= RESOLVE_EVERY && since >= ASK_EVERY
            }
            _ => since >= ASK_AGAIN,
        }
    }

    /// It was looked up. Without any address what was known stays: a resolver that is down for a moment should not take a
    /// working upstream with it.
    fn found(&self, found: io::Result<Vec<IpAddr>>) {
        match found {
            Ok(found) if found.is_empty() => self.tell("the name has no address"),
            Ok(found) => self.keep(found),
            Err(error) => self.tell(&error.to_string()),
        }
    }

    fn tell(&self, why: &str) {
        let AddressParts { upstream, peer, told, .. } = &self.parts;
        told.lookup(upstream, peer, why);
    }

    fn keep(&self, found: Vec<IpAddr>) {
        let AddressParts { target, dialing, clock, .. } = &self.parts;
        let mut dials: Vec<(SocketAddr, HttpPeer)> = Vec::with_capacity(found.len());
        for ip in found {
            let address = SocketAddr::new(ip, target.port);
            if dials.iter().all(|(known, _)| *known != address) {
                dials.push((address, dialing.peer(address, &target.host)));
            }
        }
        self.lock().rests.retain(|address, _| dials.iter().any(|(known, _)| known == address));
        self.known.store(Some(Arc::new(ResolvedAddresses { since: clock.instant(), dials })));
    }

    /// Whether there is one that was not tried, or was and could be reached.
    fn is_promising(&self, known: &ResolvedAddresses, tried: &TriedPeers) -> bool {
        let now = self.parts.clock.instant();
        let record = self.lock();
        known.dials.iter().any(|(address, _)| !tried.has_address(*address) || !record.rests(*address, now))
    }

    fn lock(&self) -> MutexGuard<'_, AddressRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AddressRecord {
    fn rests(&self, address: SocketAddr, now: Instant) -> bool {
        self.rests.get(&address).is_some_and(|rest| now < rest.until)
    }
}

impl AddressRest {
    fn begin(&mut self, now: Instant) {
        self.until = now + REST.saturating_mul(1 << self.times.min(20)).min(LONGEST_REST);
        self.times = self.times.saturating_add(1);
    }
}

fn is_under_way(over: &watch::Receiver<bool>) -> bool {
    !*over.borrow() && over.has_changed().is_ok()
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;
