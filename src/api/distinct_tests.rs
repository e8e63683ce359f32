//! A bound that holds whatever comes in whatever order, in bounded room.

use std::net::IpAddr;

use super::*;
use crate::base::clock::{FixedClock, Timestamp};
use crate::telemetry::Metrics;

const HOUR: Duration = Duration::from_secs(3600);

fn counts() -> (Arc<FixedClock>, Arc<Distinct>) {
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
    let shared: SharedClock = Arc::clone(&clock) as SharedClock;
    (clock, Arc::new(Distinct::new(shared, Metrics::new().unwrap().front.clone())))
}

fn limit(counts: &Arc<Distinct>, values: u64) -> DistinctLimit {
    DistinctLimit { counts: Arc::clone(counts), bound: Some(Bound { values, per: HOUR }) }
}

fn caller(n: u32) -> Caller {
    Caller::Address(Some(IpAddr::from(n.to_be_bytes())))
}

/// How many of these are let through.
fn taken(quota: &Quota, values: std::ops::Range<u64>) -> u64 {
    values.map(|n| u64::from(quota.take(&n.to_string()).is_ok())).sum()
}

#[test]
fn a_value_counts_once_and_the_next_ones_wait() {
    let (clock, counts) = counts();
    let (one, other) = (limit(&counts, 3).of(caller(1)), limit(&counts, 3).of(caller(2)));
    for _ in 0..3 {
        assert_eq!(taken(&one, 0..3), 3);
    }
    clock.advance(Duration::from_secs(60));
    assert_eq!(one.take("another"), Err(QuotaExceeded { after: 3541 }));
    // From then on it is not told which values were counted. Others have their own.
    assert_eq!((taken(&one, 0..9), taken(&other, 0..9)), (0, 3));
    clock.advance(HOUR - Duration::from_secs(60));
    assert_eq!(taken(&one, 5..15), 3);
}

#[test]
fn a_bound_in_the_thousands_holds_to_some_percent() {
    for bound in [1_024, 5_000, 100_000] {
        let (_, counts) = counts();
        let quota = limit(&counts, bound).of(caller(1));
        // Each twice: what comes again is not counted again.
        let some = taken(&quota, 0..bound / 2) + taken(&quota, 0..bound / 2);
        assert_eq!(some, bound / 2 * 2, "{bound}");
        let got = bound / 2 + taken(&quota, bound / 2..bound * 2);
        // Five standard errors.
        assert!((bound as f64 / got as f64 - 1.0).abs() < 0.16, "{got} of {bound}");
        let window = counts.callers.get(&caller(1)).unwrap();
        assert!(window.values.0.len() <= KEPT && window.values.0.capacity() <= KEPT * 2);
    }
}

#[test]
fn without_a_bound_nothing_is_kept() {
    let (_, counts) = counts();
    let quota = DistinctLimit { counts: Arc::clone(&counts), bound: None }.of(caller(1));
    assert_eq!(taken(&quota, 0..10_000), 10_000);
    assert_eq!(counts.callers.len(), 0);
}

#[test]
fn another_bound_finds_the_counts_of_the_one_before() {
    let (_, counts) = counts();
    assert_eq!(taken(&limit(&counts, 2).of(caller(1)), 0..5), 2);
    assert_eq!(taken(&limit(&counts, 3).of(caller(1)), 0..5), 3);
}

#[test]
fn callers_without_number_take_a_bounded_room_and_the_worst_are_remembered() {
    let (_, counts) = counts();
    let worst = limit(&counts, 10).of(caller(u32::MAX));
    assert_eq!(taken(&worst, 0..20), 10);
    for n in 0..20_000 {
        assert_eq!(taken(&limit(&counts, 10).of(caller(n)), 0..u64::from(n % 3) + 1), u64::from(n % 3) + 1);
        assert!(counts.callers.len() <= MAX_CALLERS);
    }
    // One who was forgotten would have ten more.
    assert_eq!(taken(&worst, 20..40), 0);
}
