//! How many connections there may be: in all, and from one address; beyond both, a few for probes. Whoever holds a
//! [`ConnectionSlot`] is counted until it is dropped.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::base::address::customer;
use crate::telemetry::Refusal;

/// Connections to the listener for metrics and health from one address, and those of probes beside all: whoever asks whether
/// the process is well is told, however many hold on to it.
const ADMIN_EACH: usize = 32;
const ADMIN_PROBES: usize = 16;

/// How long a connection lasts in a place for probes.
const PROBE_TIME: Duration = Duration::from_secs(3);

/// Counts connections. Clones share the count.
#[derive(Clone, Debug)]
pub struct ConnectionLimit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    all: usize,
    each: usize,
    probes: usize,
    taken: Mutex<SlotCounts>,
    /// Whether all of them are to end.
    over: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct SlotCounts {
    all: usize,
    /// The oldest first.
    probes: VecDeque<Arc<Notify>>,
    by: HashMap<IpAddr, usize>,
}

/// Whether a connection is to end.
pub(super) struct CutOff(Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>);

impl CutOff {
    /// That the process goes on waiting for it. Whoever asks is woken when it does not.
    ///
    /// # Errors
    /// It has waited long enough.
    pub(super) fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.0.as_mut().is_some_and(|over| over.as_mut().poll(context).is_ready()) {
            self.0 = None;
        }
        let waits = self.0.is_some();
        waits.then_some(()).ok_or_else(|| io::ErrorKind::ConnectionAborted.into())
    }
}

/// There is no place left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// For anyone.
    All,
    /// For this address.
    Address,
}

impl LimitReached {
    /// How it is counted.
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Self::All => Refusal::Connections,
            Self::Address => Refusal::Address,
        }
    }
}

/// One connection's place.
#[derive(Debug)]
pub struct ConnectionSlot {
    places: Arc<Inner>,
    whose: Option<IpAddr>,
    probe: Option<ProbePlace>,
}

/// A place for a probe, beyond a limit. Probes ask as soon as they are connected: whoever does not makes room for newer ones.
#[derive(Clone, Debug)]
pub(super) struct ProbePlace {
    /// Which limit was reached.
    pub(super) beyond: LimitReached,
    newer: Arc<Notify>,
}

impl ProbePlace {
    /// Returns once the connection is to end.
    pub(super) async fn ended(&self) {
        drop(timeout(PROBE_TIME, self.newer.notified()).await);
    }
}

impl ConnectionLimit {
    /// At most `all` connections, and `each` from one address (of IPv6 its /64, which is what one customer gets).
    pub fn new(all: usize, each: usize) -> Self {
        Self::with_probes(all, each, 0)
    }

    /// Those to a listener for metrics and health, as many as there may be.
    pub fn of_admin(all: usize) -> Self {
        Self::with_probes(all, ADMIN_EACH.min(all), ADMIN_PROBES)
    }

    fn with_probes(all: usize, each: usize, probes: usize) -> Self {
        let (over, _) = watch::channel(false);
        Self(Arc::new(Inner { all, each, probes, taken: Mutex::default(), over }))
    }

    /// Whether probes have places of their own.
    pub(super) fn has_probes(&self) -> bool {
        self.0.probes > 0
    }

    /// Ends all of them, as if their callers had left: requests on them are counted and written down as such are.
    pub fn cut_off(&self) {
        self.0.over.send_replace(true);
    }

    /// Connections there are now.
    pub fn taken(&self) -> usize {
        let taken = self.0.lock();
        taken.all + taken.probes.len()
    }

    /// Takes a place for a connection from `address`; `None` stands for many callers and counts in all only. Beyond a limit it
    /// is one for probes, where those have any.
    ///
    /// # Errors
    /// Which limit is reached.
    pub fn take(&self, address: Option<IpAddr>) -> Result<ConnectionSlot, LimitReached> {
        let mut taken = self.0.lock();
        let whose = address.map(customer);
        let probe = match taken.enter(whose, &self.0) {
            Ok(()) => None,
            Err(beyond) if self.has_probes() => Some(ProbePlace { beyond, newer: Arc::default() }),
            Err(full) => return Err(full),
        };
        if let Some(probe) = &probe {
            taken.probes.push_back(Arc::clone(&probe.newer));
            let oldest = (taken.probes.len() > self.0.probes).then(|| taken.probes.pop_front()).flatten();
            oldest.iter().for_each(|oldest| oldest.notify_one());
        }
        drop(taken);
        let whose = whose.filter(|_| probe.is_none());
        Ok(ConnectionSlot { places: Arc::clone(&self.0), whose, probe })
    }
}

impl ConnectionSlot {
    /// The place for a probe that it is: nobody else is answered in it.
    pub(super) fn probe(&self) -> Option<&ProbePlace> {
        self.probe.as_ref()
    }

    /// Tells when the connection is to end.
    pub(super) fn cut_off(&self) -> CutOff {
        let mut over = self.places.over.subscribe();
        // Whoever says so is there as long as the place is.
        CutOff(Some(Box::pin(async move { drop(over.wait_for(|&over| over).await) })))
    }

    /// The connection turns out to be made for `address` by a proxy that was counted in all only.
    ///
    /// # Errors
    /// That address has all the connections it may have; the place stays as it was.
    pub fn give_to(&mut self, address: IpAddr) -> Result<(), LimitReached> {
        if self.probe.is_some() {
            return Ok(());
        }
        let whose = customer(address);
        let mut taken = self.places.lock();
        taken.count(whose, self.places.each)?;
        if let Some(before) = self.whose.replace(whose) {
            taken.discount(before);
        }
        Ok(())
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        match &self.probe {
            Some(probe) => taken.probes.retain(|newer| !Arc::ptr_eq(newer, &probe.newer)),
            None => taken.all = taken.all.saturating_sub(1),
        }
        if let Some(whose) = self.whose {
            taken.discount(whose);
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, SlotCounts> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlotCounts {
    fn enter(&mut self, whose: Option<IpAddr>, limits: &Inner) -> Result<(), LimitReached> {
        if self.all >= limits.all {
            return Err(LimitReached::All);
        }
        if let Some(whose) = whose {
            self.count(whose, limits.each)?;
        }
        self.all += 1;
        Ok(())
    }

    fn count(&mut self, whose: IpAddr, most: usize) -> Result<(), LimitReached> {
        let held = self.by.entry(whose).or_default();
        if *held >= most {
            return Err(LimitReached::Address);
        }
        *held += 1;
        Ok(())
    }

    fn discount(&mut self, whose: IpAddr) {
        if let Some(held) = self.by.get_mut(&whose) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                self.by.remove(&whose);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn places_come_back_when_they_are_dropped() {
        let places = ConnectionLimit::new(3, 2);
        let first = places.take(at("192.0.2.1")).unwrap();
        let _second = places.take(at("::ffff:192.0.2.1")).unwrap();
        assert_eq!(places.take(at("192.0.2.1")).unwrap_err(), LimitReached::Address);
        let _third = places.take(at("192.0.2.2")).unwrap();
        assert_eq!(places.take(at("192.0.2.3")).unwrap_err(), LimitReached::All);
        drop(first);
        assert_eq!(places.taken(), 2);
        let _fourth = places.take(at("192.0.2.1")).unwrap();
        assert_eq!(places.0.lock().by.len(), 2);
    }

    #[tokio::test]
    async fn probes_have_places_beyond_both_limits_and_the_newest_keep_theirs() {
        let beyond = |slot: &ConnectionSlot| slot.probe().map(|probe| probe.beyond);
        let places = ConnectionLimit::with_probes(2, 1, 1);
        assert!(places.has_probes() && !ConnectionLimit::new(2, 1).has_probes());
        let first = places.take(at("192.0.2.1")).unwrap();
        let mut probe = places.take(at("192.0.2.1")).unwrap();
        assert_eq!((beyond(&first), beyond(&probe)), (None, Some(LimitReached::Address)));
        probe.give_to("192.0.2.9".parse().unwrap()).unwrap();
        let _second = places.take(at("192.0.2.2")).unwrap();
        assert_eq!(places.taken(), 3);
        let newer = places.take(at("192.0.2.3")).unwrap();
        assert_eq!((beyond(&newer), places.taken()), (Some(LimitReached::All), 3));
        let long = Duration::from_millis(50);
        assert!(timeout(long, probe.probe().unwrap().ended()).await.is_ok(), "it makes room");
        assert!(timeout(long, newer.probe().unwrap().ended()).await.is_err());
        drop(probe);
        assert_eq!(places.taken(), 3);
        drop((first, newer));
        assert_eq!((places.taken(), places.0.lock().by.len()), (1, 1));
    }

    #[test]
    fn a_network_of_one_customer_is_one_address() {
        let places = ConnectionLimit::new(9, 1);
        let _one = places.take(at("2001:db8:0:1::1")).unwrap();
        assert_eq!(places.take(at("2001:db8:0:1:ffff::2")).unwrap_err(), LimitReached::Address);
        assert!(places.take(at("2001:db8:0:2::1")).is_ok());
    }

    #[test]
    fn whom_a_proxy_speaks_for_is_counted_in_its_stead() {
        let places = ConnectionLimit::new(9, 1);
        let mut one = places.take(None).unwrap();
        let mut other = places.take(None).unwrap();
        one.give_to("192.0.2.7".parse().unwrap()).unwrap();
        assert_eq!(other.give_to("192.0.2.7".parse().unwrap()), Err(LimitReached::Address));
        drop(one);
        other.give_to("192.0.2.7".parse().unwrap()).unwrap();
        drop(other);
        assert!(places.0.lock().by.is_empty() && places.taken() == 0);
    }
}
