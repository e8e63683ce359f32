use crate::api::configs::{RedactConfig, Settings};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::api::configs::list::{Cursor, OrderBy};
use crate::base::clock::{Clock, FixedClock};
use crate::base::listing::{Order, TimeBounds};
use crate::store::EmbeddedRecords;

struct TestConfigs {
    _folder: tempfile::TempDir,
    clock: Arc<FixedClock>,
    records: Arc<dyn Records>,
    configs: Configs<Settings>,
}

async fn place() -> TestConfigs {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let shared: SharedClock = Arc::clone(&clock) as SharedClock;
    let file = folder.path().join("portcullis.sqlite");
    let records: Arc<dyn Records> =
        Arc::new(EmbeddedRecords::open(&file, Arc::clone(&shared)).await.unwrap());
    let configs = Configs::new(Arc::clone(&records), shared);
    TestConfigs { _folder: folder, clock, records, configs }
}

fn settings(name: &str) -> Settings {
    serde_json::from_value(json!({"name": name, "enabled_rules": ["DEFAULT"]})).unwrap()
}

#[tokio::test]
async fn a_config_lives() {
    let place = place().await;
    let TestConfigs { clock, configs, .. } = &place;
    let made = configs.create(settings("one")).await.unwrap();
    assert_eq!((made.version, made.created_at, made.updated_at), (1, clock.now(), clock.now()));
    assert_eq!(configs.get(&made.id).await.unwrap(), made);
    clock.advance(Duration::from_secs(1));
    let second = configs.update(&made.id, made.updated_at, settings("two")).await.unwrap();
    assert_eq!((second.version, second.created_at, second.updated_at), (2, made.created_at, clock.now()));
    assert_eq!(configs.get(&made.id).await.unwrap(), second);
    // Two versions have two times, though the clock stands still.
    let third = configs.update(&made.id, second.updated_at, settings("three")).await.unwrap();
    assert!(third.updated_at > second.updated_at);
    let stale = configs.update(&made.id, second.updated_at, settings("four")).await;
    assert!(matches!(stale, Err(ConfigError::Stale)), "{stale:?}");
    assert_eq!(configs.delete(&made.id).await.unwrap(), third);
    assert!(matches!(configs.get(&made.id).await, Err(ConfigError::Unknown)));
    assert!(matches!(configs.delete(&made.id).await, Err(ConfigError::Unknown)));
    let gone = configs.update(&made.id, third.updated_at, settings("five")).await;
    assert!(matches!(gone, Err(ConfigError::Unknown)), "{gone:?}");
}

#[tokio::test]
async fn of_two_writers_one_wins() {
    let place = place().await;
    let TestConfigs { configs, .. } = &place;
    let made = configs.create(settings("one")).await.unwrap();
    let write = |name| configs.update(&made.id, made.updated_at, settings(name));
    let (a, b) = tokio::join!(write("a"), write("b"));
    assert!(a.is_ok() != b.is_ok());
    assert_eq!(configs.get(&made.id).await.unwrap().version, 2);
}

#[tokio::test]
async fn size_and_damage_are_noticed() {
    let place = place().await;
    let TestConfigs { configs, records, .. } = &place;
    let mut large = settings("large");
    large.enabled_rules = vec!["x".repeat(MAX_BYTES)];
    assert!(matches!(configs.create(large).await, Err(ConfigError::Large)));
    let made = configs.create(settings("one")).await.unwrap();
    let strange =
        json!({"created_at": 1, "updated_at": 1, "settings": {"name": "", "enabled_rules": []}, "more": 1});
    let entry = NewRow::lasting(serde_json::to_vec(&strange).unwrap());
    records.put_if(&key::<Settings>(&made.id), Precondition::Version(1), entry).await.unwrap();
    assert!(matches!(configs.get(&made.id).await, Err(ConfigError::Row)));
}

#[tokio::test]
async fn there_is_an_end_to_them() {
    let place = place().await;
    let TestConfigs { configs, .. } = &place;
    for _ in 0..3 {
        configs.create(settings("one")).await.unwrap();
    }
    assert_eq!(
        configs.create_below(3, settings("more")).await.unwrap_err().to_string(),
        ConfigError::Many.to_string()
    );
}

#[tokio::test]
async fn lists_are_filtered_ordered_and_paged() {
    let place = place().await;
    let TestConfigs { clock, configs, .. } = &place;
    let mut made = Vec::new();
    for n in 0..40 {
        made.push(configs.create(settings(&n.to_string())).await.unwrap());
        clock.advance(Duration::from_secs(1));
    }
    let first = configs.update(&made[0].id, made[0].updated_at, settings("changed")).await.unwrap();
    let mut request = ListConfigsRequest { size: Some(7), ..ListConfigsRequest::default() };
    for (order, order_by) in [
        (Order::Ascending, OrderBy::Created),
        (Order::Descending, OrderBy::Updated),
        (Order::Descending, OrderBy::Id),
    ] {
        (request.order, request.order_by, request.last) = (order, order_by, None);
        let mut seen = Vec::new();
        loop {
            let page = configs.list(&request).await.unwrap();
            assert_eq!(page.count, 40);
            seen.extend(page.items);
            if page.last.is_empty() {
                break;
            }
            request.last = Some(Cursor::parse(&page.last).unwrap());
        }
        let by_time = |time: fn(&RedactConfig) -> Timestamp| seen.is_sorted_by_key(time);
        let ordered = match order_by {
            OrderBy::Created => by_time(|config| config.created_at),
            OrderBy::Updated => seen[0] == first && seen.is_sorted_by(|a, b| a.updated_at >= b.updated_at),
            OrderBy::Id => seen.is_sorted_by(|a, b| a.id >= b.id),
        };
        assert!(ordered && seen.len() == 40, "{order_by:?}");
    }
    let count = async |filter| {
        let request = ListConfigsRequest { filter, ..ListConfigsRequest::default() };
        configs.list(&request).await.unwrap().count
    };
    let (third, id) = (made[2].created_at, made[2].id.to_string());
    let any = ConfigFilter::default;
    let created = |created_at| ConfigFilter { created_at, ..any() };
    let updated = |updated_at| ConfigFilter { updated_at, ..any() };
    let always = TimeBounds::default;
    let part = id.get(4..20).unwrap().to_owned();
    let rows = [
        (ConfigFilter { id: Some(id.clone()), ..any() }, 1),
        (ConfigFilter { id_contains: vec![part, "pci_".to_owned()], ..any() }, 1),
        (ConfigFilter { id_contains: vec!["nothing".to_owned()], ..any() }, 0),
        (ConfigFilter { id_in: Some(vec![id.clone(), first.id.to_string()]), ..any() }, 2),
        (ConfigFilter { id_in: Some(Vec::new()), ..any() }, 0),
        (ConfigFilter { usable: vec![id.clone()], ..any() }, 1),
        (created(TimeBounds { equal: Some(third), ..always() }), 1),
        (created(TimeBounds { before: Some(third), ..always() }), 2),
        (created(TimeBounds { to: Some(third), ..always() }), 3),
        (updated(TimeBounds { after: Some(third), ..always() }), 38),
        (updated(TimeBounds { from: Some(third), ..always() }), 39),
    ];
    for (filter, want) in rows {
        assert_eq!(count(filter.clone()).await, want, "{filter:?}");
    }
}
