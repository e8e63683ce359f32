//! One suite that every backend runs. It is given an open store and a clock that the store reads; each case uses
//! kinds of its own, so one store serves all.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::base::clock::{Clock, FixedClock};
use crate::store::{KeepPart, Key, NewRow, Precondition, Records, Row, StoreError};

/// Runs every case.
pub(crate) async fn check(records: Arc<dyn Records>, clock: &FixedClock) {
    let store = records.as_ref();
    writes_replace_what_they_expect(store).await;
    removal_expects_a_version_too(store).await;
    a_row_moves_whole_or_not_at_all(store, clock).await;
    bytes_and_ids_come_back_as_they_were(store).await;
    kinds_are_apart(store).await;
    pages_are_in_the_order_of_bytes(store).await;
    what_has_expired_is_absent(store, clock).await;
    what_lives_longest_stays(store, clock).await;
    any_sequence_is_as_in_the_model(store, clock).await;
    one_of_many_writers_wins(&records).await;
}

fn entry(text: &str) -> NewRow {
    NewRow::lasting(text.into())
}

fn conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Conflict)), "{result:?}");
}

async fn writes_replace_what_they_expect(store: &dyn Records) {
    let key = Key::new("case.write", "a");
    assert_eq!(store.get(&key).await.unwrap(), None);
    conflict(store.put_if(&key, Precondition::Version(1), entry("x")).await);
    assert_eq!(store.put_if(&key, Precondition::Absent, entry("one")).await.unwrap(), 1);
    conflict(store.put_if(&key, Precondition::Absent, entry("x")).await);
    assert_eq!(store.put_if(&key, Precondition::Version(1), entry("two")).await.unwrap(), 2);
    conflict(store.put_if(&key, Precondition::Version(1), entry("x")).await);
    conflict(store.put_if(&key, Precondition::Version(3), entry("x")).await);
    let found = store.get(&key).await.unwrap();
    assert_eq!(found, Some(Row { key, version: 2, entry: entry("two") }));
}

async fn removal_expects_a_version_too(store: &dyn Records) {
    let key = Key::new("case.remove", "a");
    conflict(store.remove_if(&key, 1).await);
    store.put_if(&key, Precondition::Absent, entry("one")).await.unwrap();
    conflict(store.remove_if(&key, 2).await);
    store.remove_if(&key, 1).await.unwrap();
    conflict(store.remove_if(&key, 1).await);
    assert_eq!(store.get(&key).await.unwrap(), None);
    assert_eq!(store.put_if(&key, Precondition::Absent, entry("anew")).await.unwrap(), 1);
}

async fn a_row_moves_whole_or_not_at_all(store: &dyn Records, clock: &FixedClock) {
    let [from, to] = ["case.move", "case.moved"].map(|kind| Key::new(kind, "a"));
    let there = |row: Option<Row>| row.map(|row| (row.version, row.entry));
    conflict(store.move_if(&from, 1, to.kind(), entry("x")).await);
    store.put_if(&from, Precondition::Absent, entry("one")).await.unwrap();
    conflict(store.move_if(&from, 2, to.kind(), entry("x")).await);
    assert_eq!(store.move_if(&from, 1, to.kind(), entry("two")).await.unwrap(), 2);
    assert_eq!(there(store.get(&from).await.unwrap()), None);
    assert_eq!(there(store.get(&to).await.unwrap()), Some((2, entry("two"))));
    // Where another row is, it stays; what has expired is none.
    store.put_if(&from, Precondition::Absent, entry("three")).await.unwrap();
    conflict(store.move_if(&from, 1, to.kind(), entry("x")).await);
    assert_eq!(there(store.get(&from).await.unwrap()), Some((1, entry("three"))));
    let brief = NewRow { expires: Some(clock.now().plus(Duration::from_secs(1))), ..entry("brief") };
    store.put_if(&to, Precondition::Version(2), brief).await.unwrap();
    clock.advance(Duration::from_secs(1));
    assert_eq!(store.move_if(&from, 1, to.kind(), entry("four")).await.unwrap(), 2);
    assert_eq!(there(store.get(&to).await.unwrap()), Some((2, entry("four"))));
    assert_eq!(store.scan(from.kind(), "", 10).await.unwrap(), []);
    assert_eq!(store.sweep().await.unwrap(), 0);
}

async fn bytes_and_ids_come_back_as_they_were(store: &dyn Records) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let values = [Vec::new(), every_byte.clone(), every_byte.repeat(4096)];
    for (id, value) in ["quote ' and % and _", "nul \0 within", "Ünïcode \u{1f511}"].iter().zip(values) {
        let (key, entry) = (Key::new("case.bytes", *id), NewRow::lasting(value));
        store.put_if(&key, Precondition::Absent, entry.clone()).await.unwrap();
        assert_eq!(store.get(&key).await.unwrap().map(|row| row.entry), Some(entry));
    }
}

async fn kinds_are_apart(store: &dyn Records) {
    let (one, other) = (Key::new("case.kind", "a"), Key::new("case.kind2", "a"));
    store.put_if(&one, Precondition::Absent, entry("one")).await.unwrap();
    assert_eq!(store.get(&other).await.unwrap(), None);
    assert_eq!(store.scan("case.kind2", "", 10).await.unwrap(), []);
    assert_eq!(store.scan("case.kind", "", 10).await.unwrap().len(), 1);
}

async fn pages_are_in_the_order_of_bytes(store: &dyn Records) {
    let mut ids = ["b", "a", "B", "a/1", "é", "_", "%", "aa"];
    for id in ids {
        store.put_if(&Key::new("case.page", id), Precondition::Absent, entry(id)).await.unwrap();
    }
    ids.sort_unstable();
    for limit in [1, 3, 8, 100] {
        let (mut after, mut seen) = (String::new(), Vec::new());
        loop {
            let page = store.scan("case.page", &after, limit).await.unwrap();
            seen.extend(page.iter().map(|row| row.key.id().to_owned()));
            if page.len() < limit as usize {
                break;
            }
            after = page.last().map(|row| row.key.id().to_owned()).unwrap();
        }
        assert_eq!(seen, ids, "pages of {limit}");
    }
}

async fn what_has_expired_is_absent(store: &dyn Records, clock: &FixedClock) {
    let brief =
        |text: &str| NewRow { expires: Some(clock.now().plus(Duration::from_secs(1))), ..entry(text) };
    let [a, b, c] = ["a", "b", "c"].map(|id| Key::new("case.expiry", id));
    for key in [&a, &b] {
        store.put_if(key, Precondition::Absent, brief("soon gone")).await.unwrap();
    }
    store.put_if(&c, Precondition::Absent, entry("stays")).await.unwrap();
    clock.advance(Duration::from_millis(999));
    assert_eq!(store.sweep().await.unwrap(), 0);
    assert_eq!(store.scan("case.expiry", "", 10).await.unwrap().len(), 3);
    clock.advance(Duration::from_millis(1));
    assert_eq!(store.get(&a).await.unwrap(), None);
    assert_eq!(store.scan("case.expiry", "", 10).await.unwrap().len(), 1);
    conflict(store.put_if(&a, Precondition::Version(1), entry("x")).await);
    conflict(store.remove_if(&a, 1).await);
    assert_eq!(store.put_if(&a, Precondition::Absent, brief("again")).await.unwrap(), 1);
    assert_eq!(store.get(&a).await.unwrap().map(|row| row.entry), Some(brief("again")));
    assert_eq!(store.sweep().await.unwrap(), 1, "only what nobody replaced");
    assert_eq!(store.put_if(&a, Precondition::Version(1), entry("kept")).await.unwrap(), 2);
    clock.advance(Duration::from_secs(10));
    assert_eq!(store.sweep().await.unwrap(), 0, "a write without expiry takes the old one away");
}

async fn what_lives_longest_stays(store: &dyn Records, clock: &FixedClock) {
    const KIND: &str = "case.trim";
    let rows = [
        ("a/1", Some(3)),
        ("a/2", Some(9)),
        ("a/3", None),
        ("a/4", Some(6)),
        ("a", Some(1)),
        ("b/1", Some(1)),
    ];
    for (id, seconds) in rows {
        let expires = seconds.map(|seconds| clock.now().plus(Duration::from_secs(seconds)));
        let entry = NewRow { value: vec![7; 10], expires };
        store.put_if(&Key::new(KIND, id), Precondition::Absent, entry).await.unwrap();
    }
    store.put_if(&Key::new("case.trim2", "a/1"), Precondition::Absent, entry("apart")).await.unwrap();
    let left = async || -> Vec<String> {
        store.scan(KIND, "", 10).await.unwrap().iter().map(|row| row.key.id().to_owned()).collect()
    };
    let cases: [(&str, KeepPart, u64, &[&str]); 6] = [
        ("a/", KeepPart { rows: 4, bytes: 40 }, 0, &["a", "a/1", "a/2", "a/3", "a/4", "b/1"]),
        ("a/", KeepPart { rows: 3, bytes: 40 }, 1, &["a", "a/2", "a/3", "a/4", "b/1"]),
        ("a/", KeepPart { rows: 3, bytes: 29 }, 1, &["a", "a/2", "a/3", "b/1"]),
        ("", KeepPart { rows: 3, bytes: 100 }, 1, &["a", "a/2", "a/3"]),
        ("c", KeepPart::NOTHING, 0, &["a", "a/2", "a/3"]),
        ("a/", KeepPart::NOTHING, 2, &["a"]),
    ];
    for (prefix, keep, removed, wanted) in cases {
        assert_eq!(store.trim(KIND, prefix, keep).await.unwrap(), removed, "{prefix} {keep:?}");
        assert_eq!(left().await, wanted, "{prefix} {keep:?}");
    }
    assert_eq!(store.trim(KIND, "", KeepPart::NOTHING).await.unwrap(), 1);
    assert_eq!(store.trim("case.trim2", "", KeepPart::NOTHING).await.unwrap(), 1, "other kinds are apart");
}

#[derive(Clone, Debug)]
enum Step {
    Put { id: u8, expected: u64, value: u8, life: Option<u8> },
    Remove { id: u8, version: u64 },
    Wait(u8),
    Sweep,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let put = (0..3u8, 0..4u64, any::<u8>(), proptest::option::of(0..6u8))
        .prop_map(|(id, expected, value, life)| Step::Put { id, expected, value, life });
    let remove = (0..3u8, 1..4u64).prop_map(|(id, version)| Step::Remove { id, version });
    let step = prop_oneof![8 => put, 3 => remove, 2 => (0..4u8).prop_map(Step::Wait), 1 => Just(Step::Sweep)];
    proptest::collection::vec(step, 1..40)
}

/// Random steps against three slots in memory.
async fn any_sequence_is_as_in_the_model(store: &dyn Records, clock: &FixedClock) {
    let mut runner = TestRunner::deterministic();
    let mut model: [Option<Row>; 3] = [None, None, None];
    for _ in 0..12 {
        for step in steps().new_tree(&mut runner).unwrap().current() {
            let now = clock.now();
            let live = |row: &&Row| row.entry.expires.is_none_or(|at| at > now);
            let key = |id: u8| Key::new("case.model", id.to_string());
            match &step {
                Step::Wait(millis) => clock.advance(Duration::from_millis(u64::from(*millis))),
                Step::Sweep => {
                    store.sweep().await.unwrap();
                }
                Step::Remove { id, version } => {
                    let slot = &mut model[usize::from(*id)];
                    let there = slot.as_ref().filter(live).is_some_and(|row| row.version == *version);
                    assert_eq!(store.remove_if(&key(*id), *version).await.is_ok(), there, "{step:?}");
                    if there {
                        *slot = None;
                    }
                }
                Step::Put { id, expected, value, life } => {
                    let slot = &mut model[usize::from(*id)];
                    let version = slot.as_ref().filter(live).map_or(0, |row| row.version);
                    let expires = life.map(|millis| now.plus(Duration::from_millis(u64::from(millis))));
                    let entry = NewRow { value: vec![*value], expires };
                    let wanted =
                        if *expected == 0 { Precondition::Absent } else { Precondition::Version(*expected) };
                    let put = store.put_if(&key(*id), wanted, entry.clone()).await.ok();
                    assert_eq!(put, (version == *expected).then_some(expected + 1), "{step:?}");
                    if let Some(version) = put {
                        *slot = Some(Row { key: key(*id), version, entry });
                    }
                }
            }
            let now = clock.now();
            let live = |row: &&Row| row.entry.expires.is_none_or(|at| at > now);
            let left: Vec<Row> = model.iter().flatten().filter(live).cloned().collect();
            assert_eq!(store.scan("case.model", "", 10).await.unwrap(), left, "{step:?}");
        }
    }
}

async fn one_of_many_writers_wins(records: &Arc<dyn Records>) {
    const WRITERS: u64 = 8;
    const ROUNDS: u64 = 5;
    let key = Key::new("case.race", "counter");
    records.put_if(&key, Precondition::Absent, NewRow::lasting(vec![0])).await.unwrap();
    let tasks: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (records, key) = (Arc::clone(records), key.clone());
            tokio::spawn(async move {
                let mut won = 0;
                while won < ROUNDS {
                    let row = records.get(&key).await.unwrap().unwrap();
                    let more = NewRow::lasting(vec![row.entry.value[0] + 1]);
                    match records.put_if(&key, Precondition::Version(row.version), more).await {
                        Ok(_) => won += 1,
                        Err(error) => assert!(matches!(error, StoreError::Conflict), "{error}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let last = records.get(&key).await.unwrap().unwrap();
    assert_eq!((last.version, u64::from(last.entry.value[0])), (1 + WRITERS * ROUNDS, WRITERS * ROUNDS));
}
