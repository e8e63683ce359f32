//! Names that are looked up slowly or not at all, that move, and that have addresses which cannot be reached.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::base::clock::{Clock, FixedClock, Timestamp};
use crate::base::units::Period;
use crate::gateway::testing::{NEVER_OUT, pool_parts};
use crate::gateway::upstream::attempt::Attempt;
use crate::gateway::upstream::health::{Ejection, PeerHealth};
use crate::gateway::upstream::pool::Upstream;
use crate::net::AddressFuture;
use crate::telemetry::PeerState;

const NAME: &str = "name.test";

/// A resolver that knows one name, and answers once it may.
struct Names {
    asked: AtomicUsize,
    answer: Mutex<Vec<IpAddr>>,
    may: watch::Sender<bool>,
}

impl Names {
    /// The name has these addresses, said by their last bytes; without any it does not exist.
    fn of(last: &[u8]) -> Arc<Self> {
        let names =
            Self { asked: AtomicUsize::new(0), answer: Mutex::default(), may: watch::channel(true).0 };
        names.set(last);
        Arc::new(names)
    }

    fn set(&self, last: &[u8]) {
        *self.answer.lock().unwrap() = last.iter().map(|last| IpAddr::from([192, 0, 2, *last])).collect();
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl DnsResolver for Names {
    fn lookup(&self, name: &str) -> AddressFuture {
        assert_eq!(name, NAME);
        self.asked.fetch_add(1, Ordering::SeqCst);
        let (mut may, answer) = (self.may.subscribe(), self.answer.lock().unwrap().clone());
        Box::pin(async move {
            drop(may.wait_for(|may| *may).await);
            if answer.is_empty() { Err(io::Error::other("no such name")) } else { Ok(answer) }
        })
    }
}

struct Pool {
    upstream: Arc<Upstream>,
    clock: Arc<FixedClock>,
    health: Arc<PeerHealth>,
}

/// A pool of one peer of that name, and of others.
fn pool(names: &Arc<Names>, others: &[SocketAddr], ejection: Ejection) -> Pool {
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
    let health = Arc::new(PeerHealth::default());
    let mut parts = pool_parts(others, ejection);
    parts.targets.insert(0, (Target { host: NAME.to_owned(), port: 80 }, Arc::clone(&health)));
    parts.dialing.times.connect = Period::millis(300);
    parts.resolver = Arc::clone(names) as Arc<dyn DnsResolver>;
    parts.clock = Arc::clone(&clock) as SharedClock;
    Pool { upstream: Arc::new(Upstream::new(parts).unwrap()), clock, health }
}

/// The same after a reload.
fn successor(pool: &Pool, names: &Arc<Names>, host: &str) -> Pool {
    let health = Arc::new(PeerHealth::default());
    let mut parts = pool_parts(&[], NEVER_OUT);
    parts.targets = vec![(Target { host: host.to_owned(), port: 81 }, Arc::clone(&health))];
    parts.dialing.times.connect = Period::millis(300);
    parts.resolver = Arc::clone(names) as Arc<dyn DnsResolver>;
    parts.clock = Arc::clone(&pool.clock) as SharedClock;
    parts.before = Some(Arc::clone(&pool.upstream));
    Pool { upstream: Arc::new(Upstream::new(parts).unwrap()), clock: Arc::clone(&pool.clock), health }
}

fn alone(names: &Arc<Names>) -> Pool {
    pool(names, &[], NEVER_OUT)
}

impl Pool {
    /// The last byte of the address that is next for a request that has been there.
    async fn next(&self, tried: &mut TriedPeers) -> Option<u8> {
        // So that lookups end that can.
        tokio::task::yield_now().await;
        let chosen = self.upstream.choose(tried).await.ok()?;
        last(chosen.dialed().address?)
    }

    /// The same for a new request.
    async fn first(&self) -> Option<u8> {
        self.next(&mut TriedPeers::default()).await
    }

    /// The next address cannot be reached; which that is.
    async fn fails(&self, tried: &mut TriedPeers) -> Option<u8> {
        let chosen = self.upstream.choose(tried).await.ok()?;
        self.upstream.unreachable(&chosen.dialed());
        last(chosen.dialed().address?)
    }

    /// This address is reached as soon as it is its turn.
    async fn reaches(&self, wanted: u8) {
        for _ in 0..100 {
            let chosen = self.upstream.choose(&mut TriedPeers::default()).await.unwrap();
            if chosen.dialed().address.and_then(last) == Some(wanted) {
                return self.upstream.reached(&chosen.dialed());
            }
        }
        panic!("it was never its turn");
    }

    fn later(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn last(address: SocketAddr) -> Option<u8> {
    match address.ip() {
        IpAddr::V4(ip) => Some(ip.octets()[3]),
        IpAddr::V6(_) => None,
    }
}

#[tokio::test]
async fn a_slow_name_is_looked_up_once_and_what_it_brings_is_kept() {
    let names = Names::of(&[1]);
    names.may.send_replace(false);
    let pool = alone(&names);
    let request = |_| {
        let upstream = Arc::clone(&pool.upstream);
        tokio::spawn(async move { upstream.choose(&mut TriedPeers::default()).await.is_err() })
    };
    let waiting: Vec<_> = (0..50).map(request).collect();
    for one in waiting {
        assert!(one.await.unwrap(), "none waits longer than a connection may take");
    }
    assert_eq!(names.asked(), 1);
    names.may.send_replace(true);
    assert_eq!(pool.first().await, Some(1));
    assert_eq!(names.asked(), 1, "nobody waited for it any more");
}

#[tokio::test]
async fn old_addresses_are_looked_up_again_and_nobody_waits_for_that() {
    let names = Names::of(&[1]);
    let pool = alone(&names);
    assert_eq!(pool.first().await, Some(1));
    names.set(&[2]);
    names.may.send_replace(false);
    pool.later(31);
    for _ in 0..5 {
        assert_eq!(pool.first().await, Some(1), "it goes where the name led before");
    }
    assert_eq!(names.asked(), 2);
    names.may.send_replace(true);
    for _ in 0..100 {
        if pool.first().await == Some(2) {
            break;
        }
    }
    assert_eq!((pool.first().await, names.asked()), (Some(2), 2));
    names.set(&[]);
    for (seconds, asked) in [(31, 3), (5, 3), (6, 4)] {
        pool.later(seconds);
        assert_eq!(pool.first().await, Some(2), "what was known stays");
        assert_eq!(names.asked(), asked, "{seconds}");
    }
}

#[tokio::test]
async fn a_name_that_is_not_found_is_not_asked_for_by_every_request() {
    let names = Names::of(&[]);
    let pool = alone(&names);
    for _ in 0..5 {
        assert_eq!(pool.first().await, None);
    }
    assert_eq!(names.asked(), 1);
    names.set(&[1]);
    pool.later(1);
    assert_eq!((pool.first().await, names.asked()), (Some(1), 2));
}

#[tokio::test]
async fn a_request_is_tried_at_each_address_and_those_that_fail_rest() {
    let names = Names::of(&[1, 2, 3, 4]);
    let pool = alone(&names);
    let (mut tried, mut seen) = (TriedPeers::default(), Vec::new());
    for _ in 0..4 {
        seen.extend(pool.fails(&mut tried).await);
    }
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3, 4]);
    assert_eq!((pool.upstream.attempts(false), pool.upstream.attempts(true)), (4, 2));
    let mut turns = Vec::new();
    for _ in 0..4 {
        turns.extend(pool.first().await);
    }
    turns.sort_unstable();
    assert_eq!(turns, [1, 2, 3, 4], "if all of them should rest, none does");
    pool.reaches(4).await;
    for _ in 0..10 {
        assert_eq!(pool.first().await, Some(4));
    }
    pool.later(6);
    let mut turns = Vec::new();
    for _ in 0..8 {
        turns.extend(pool.first().await);
    }
    turns.sort_unstable();
    assert_eq!(turns, [1, 2, 3, 4, 4, 4, 4, 4], "one request each tries those whose rest is over");
}

#[tokio::test]
async fn no_request_is_tried_at_more_than_six() {
    let names = Names::of(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let pool = alone(&names);
    assert_eq!(pool.upstream.attempts(false), 2, "nothing is known yet");
    assert!(pool.first().await.is_some());
    assert_eq!((pool.upstream.attempts(false), pool.upstream.attempts(true)), (6, 2));
}

#[tokio::test]
async fn a_name_whose_address_is_not_reached_is_looked_up_before_the_retry() {
    let names = Names::of(&[1]);
    let pool = alone(&names);
    assert_eq!(pool.first().await, Some(1));
    names.set(&[2]);
    pool.later(2);
    let mut tried = TriedPeers::default();
    assert_eq!(pool.fails(&mut tried).await, Some(1));
    assert_eq!(pool.next(&mut tried).await, Some(2));
    assert_eq!(names.asked(), 2);
}

#[tokio::test]
async fn a_reload_keeps_where_a_name_led_until_it_is_looked_up() {
    let names = Names::of(&[1]);
    let before = alone(&names);
    assert_eq!(before.first().await, Some(1));
    names.set(&[2]);
    names.may.send_replace(false);
    let after = successor(&before, &names, NAME);
    let chosen = after.upstream.choose(&mut TriedPeers::default()).await.unwrap();
    assert_eq!(chosen.dialed().address, Some(SocketAddr::from(([192, 0, 2, 1], 81))));
    assert_eq!(names.asked(), 2, "it is looked up, and nobody waits for that");
    assert_eq!(successor(&before, &names, "192.0.2.9").first().await, Some(9));
}

#[tokio::test]
async fn a_peer_without_an_address_is_passed_over() {
    let names = Names::of(&[]);
    let pool = pool(&names, &[SocketAddr::from(([192, 0, 2, 7], 80))], NEVER_OUT);
    for _ in 0..4 {
        assert_eq!(pool.first().await, Some(7));
    }
}

#[tokio::test]
async fn an_address_that_is_not_reached_is_the_peers_fault_only_if_it_has_no_other() {
    let names = Names::of(&[1, 2]);
    let ejection = Ejection { failures: 1, ..NEVER_OUT };
    let pool = pool(&names, &[], ejection);
    let mut tried = TriedPeers::default();
    for state in [PeerState::Healthy, PeerState::Ejected] {
        let chosen = pool.upstream.choose(&mut tried).await.unwrap();
        let mut attempt = Attempt::begin(&pool.upstream, &chosen, false);
        attempt.unreachable();
        drop(attempt);
        assert_eq!(pool.health.state(pool.clock.instant()), state);
    }
}
