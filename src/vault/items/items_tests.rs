use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::base::clock::{FixedClock, SharedClock, Timestamp};
use crate::base::id::ItemId;
use crate::base::listing::Order;
use crate::base::secret::Secret;
use crate::crypto::jws::JwsAlgorithm;
use crate::store::{Closing, KeepPart, Key, NewRow, Precondition, Records, RecordsFuture, Row, StoreError};
use crate::vault::{MasterKey, Vault, VaultError};

type Rows = BTreeMap<(&'static str, String), (u64, Vec<u8>)>;

/// A store whose rows a test can put back and move.
#[derive(Default)]
struct Loose(Mutex<Rows>);

impl Loose {
    fn row(&self, id: &ItemId) -> (u64, Vec<u8>) {
        self.0.lock().unwrap()[&("vault.item", id.to_string())].clone()
    }

    fn set(&self, id: &ItemId, row: (u64, Vec<u8>)) {
        self.0.lock().unwrap().insert(("vault.item", id.to_string()), row);
    }
}

impl Records for Loose {
    fn get<'a>(&'a self, key: &'a Key) -> RecordsFuture<'a, Option<Row>> {
        let found = self.0.lock().unwrap().get(&(key.kind(), key.id().to_owned())).cloned();
        let row =
            found.map(|(version, value)| Row { key: key.clone(), version, entry: NewRow::lasting(value) });
        Box::pin(async move { Ok(row) })
    }

    fn put_if<'a>(&'a self, key: &'a Key, expected: Precondition, entry: NewRow) -> RecordsFuture<'a, u64> {
        let mut rows = self.0.lock().unwrap();
        let at = (key.kind(), key.id().to_owned());
        let is = rows.get(&at).map_or(Precondition::Absent, |(version, _)| Precondition::Version(*version));
        let done = match is == expected {
            true => {
                rows.insert(at, (expected.next(), entry.value));
                Ok(expected.next())
            }
            false => Err(StoreError::Conflict),
        };
        Box::pin(async move { done })
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(async {})
    }

    fn move_if<'a>(
        &'a self,
        key: &'a Key,
        version: u64,
        to: &'static str,
        entry: NewRow,
    ) -> RecordsFuture<'a, u64> {
        let mut rows = self.0.lock().unwrap();
        let (at, there) = ((key.kind(), key.id().to_owned()), (to, key.id().to_owned()));
        let may = rows.get(&at).is_some_and(|row| row.0 == version) && !rows.contains_key(&there);
        if may {
            rows.remove(&at);
            rows.insert(there, (version + 1, entry.value));
        }
        Box::pin(async move { may.then_some(version + 1).ok_or(StoreError::Conflict) })
    }

    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> RecordsFuture<'a, ()> {
        let mut rows = self.0.lock().unwrap();
        let at = (key.kind(), key.id().to_owned());
        let there = rows.get(&at).is_some_and(|row| row.0 == version);
        let done = if there {
            rows.remove(&at).map(|_| ()).ok_or(StoreError::Conflict)
        } else {
            Err(StoreError::Conflict)
        };
        Box::pin(async move { done })
    }

    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> RecordsFuture<'a, Vec<Row>> {
        let rows = self.0.lock().unwrap();
        let of_kind = rows.iter().filter(|((of, id), _)| *of == kind && id.as_str() > after);
        let page = of_kind.take(limit as usize).map(|((_, id), (version, value))| Row {
            key: Key::new(kind, id.clone()),
            version: *version,
            entry: NewRow::lasting(value.clone()),
        });
        let page = page.collect();
        Box::pin(async move { Ok(page) })
    }

    fn sweep(&self) -> RecordsFuture<'_, u64> {
        Box::pin(async { Ok(0) })
    }

    fn trim<'a>(&'a self, _: &'static str, _: &'a str, _: KeepPart) -> RecordsFuture<'a, u64> {
        Box::pin(async { Ok(0) })
    }
}

struct TestItems {
    clock: Arc<FixedClock>,
    records: Arc<Loose>,
    items: Items,
}

async fn place() -> TestItems {
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let records = Arc::new(Loose::default());
    let items = items(&records, &clock).await;
    TestItems { clock, records, items }
}

/// The same store as another process has it.
async fn items(records: &Arc<Loose>, clock: &Arc<FixedClock>) -> Items {
    let master = MasterKey::from_text(&"1".repeat(64)).unwrap();
    let clock: SharedClock = Arc::clone(clock) as SharedClock;
    let vault = Vault::open(Arc::clone(records) as Arc<dyn Records>, &master, clock).await.unwrap();
    Items::new(Arc::new(vault))
}

fn label(name: &str, folder: &str) -> Label {
    Label {
        name: name.to_owned(),
        folder: Path::parse(folder).unwrap(),
        metadata: BTreeMap::new(),
        tags: Vec::new(),
        off: false,
        disabled_at: None,
        rotation: Rotation::default(),
    }
}

fn fpe() -> Algorithm {
    Algorithm::Fpe(FpeAlgorithm::Aes256)
}

fn new_key(label: Label) -> NewItem {
    let key = KeyFacts { purpose: Purpose::Fpe, algorithm: fpe(), exportable: true };
    let material = Material::opaque(Secret::new(b"0123456789abcdef0123456789abcdef".to_vec()));
    NewItem { kind: ItemKind::SymmetricKey, label, key: Some(key), material }
}

async fn key(items: &Items) -> ItemId {
    items.create(new_key(label("", "/"))).await.unwrap().item.id.clone()
}

async fn rotate(items: &Items, id: &ItemId, then: Option<VersionState>) -> Result<Arc<OpenItem>, VaultError> {
    items.rotate(id, &Material::generate(fpe()).await.unwrap(), then).await
}

fn states(opened: &OpenItem) -> Vec<VersionState> {
    opened.item.versions.iter().map(|version| version.state).collect()
}

#[tokio::test]
async fn what_is_destroyed_is_gone_from_the_row() {
    let TestItems { items, .. } = place().await;
    let id = key(&items).await;
    let opened = items.get(&id).await.unwrap();
    let text = row::write(&opened.item).unwrap();
    let held = |text: &Secret<Vec<u8>>| text.expose().windows(16).any(|part| part == b"0123456789abcdef");
    assert!(held(&text));
    assert!(opened.item.label.name.starts_with("symmetric_key_"));
    let opened = rotate(&items, &id, Some(VersionState::Destroyed)).await.unwrap();
    assert_eq!(states(&opened), [VersionState::Destroyed, VersionState::Active]);
    assert!(!held(&row::write(&opened.item).unwrap()));
    assert!(matches!(items.fpe_key(&id, Some(1)).await, Err(VaultError::Forbidden(_))));
    assert_eq!(items.fpe_key(&id, None).await.unwrap().1, 2);
    assert!(matches!(items.fpe_key(&id, Some(3)).await, Err(VaultError::Unknown)));
    assert!(!format!("{opened:?}").contains("48, 49, 50"));
}

#[tokio::test]
async fn every_state_allows_what_the_table_says() {
    for state in VersionState::ALL {
        let TestItems { items, .. } = place().await;
        let id = key(&items).await;
        if state != VersionState::Active {
            items.change_state(&id, Selector::Current, state, None).await.unwrap();
        }
        let opened = items.get(&id).await.unwrap();
        let current = opened.item.current().unwrap();
        assert_eq!(items.fpe_key(&id, None).await.is_ok(), state.allows(VersionUse::Encrypt), "{state:?}");
        assert_eq!(items.fpe_key(&id, Some(1)).await.is_ok(), state.allows(VersionUse::Decrypt), "{state:?}");
        assert_eq!(items.exported(&opened, current).is_ok(), state.allows(VersionUse::Export), "{state:?}");
        for then in VersionState::ALL {
            let TestItems { items, .. } = place().await;
            let id = key(&items).await;
            if state != VersionState::Active {
                items.change_state(&id, Selector::Number(1), state, None).await.unwrap();
            }
            let changed = items.change_state(&id, Selector::FromEnd(1), then, None).await;
            assert_eq!(changed.is_ok(), state.may_become(then), "{state:?} {then:?}");
        }
        let rotated = rotate(&items, &id, None).await.unwrap();
        assert_eq!(states(&rotated), [state.max(VersionState::Deactivated), VersionState::Active]);
    }
}

#[tokio::test]
async fn rows_that_were_put_back_moved_or_changed_are_refused() {
    let TestItems { items, records, clock } = place().await;
    let (a, b) = (key(&items).await, key(&items).await);
    let old = records.row(&a);
    items.change_state(&a, Selector::Current, VersionState::Compromised, None).await.unwrap();
    let new = records.row(&a);
    let damaged = |result: Result<Arc<OpenItem>, VaultError>| matches!(result, Err(VaultError::Damaged));
    // The row as it was, with its old version and with the new one.
    for row in [old.clone(), (new.0, old.1.clone()), (new.0 + 1, old.1.clone())] {
        records.set(&a, row);
        assert!(damaged(items.get(&a).await));
    }
    records.set(&a, records.row(&b));
    assert!(damaged(items.get(&a).await));
    let mut changed = new.clone();
    *changed.1.last_mut().unwrap() ^= 1;
    records.set(&a, changed);
    assert!(damaged(items.get(&a).await));
    records.set(&a, new.clone());
    assert_eq!(states(&items.get(&a).await.unwrap()), [VersionState::Compromised]);
    // Removed, and put back.
    items.delete(&a, false).await.unwrap();
    assert!(matches!(items.get(&a).await, Err(VaultError::Unknown)));
    records.set(&a, new);
    assert!(damaged(items.get(&a).await));
    clock.advance(Duration::from_secs(1));
    assert!(damaged(items.usable(&a).await));
}

#[tokio::test]
async fn a_change_holds_at_once_here_and_within_a_second_elsewhere() {
    let TestItems { items: here, records, clock } = place().await;
    let there = items(&records, &clock).await;
    let id = key(&here).await;
    assert!(there.fpe_key(&id, None).await.is_ok());
    here.change_state(&id, Selector::Current, VersionState::Suspended, None).await.unwrap();
    assert!(here.fpe_key(&id, None).await.is_err());
    clock.advance(Duration::from_secs(1));
    assert!(there.fpe_key(&id, None).await.is_err());
    here.delete(&id, false).await.unwrap();
    assert!(matches!(here.fpe_key(&id, Some(1)).await, Err(VaultError::Unknown)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_rotation_is_lost() {
    let TestItems { items, .. } = place().await;
    let id = key(&items).await;
    let rotating = (0..8).map(|_| {
        let (items, id) = (items.clone(), id.clone());
        tokio::spawn(async move {
            for _ in 0..10 {
                rotate(&items, &id, None).await.unwrap();
            }
        })
    });
    for task in rotating.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let opened = items.get(&id).await.unwrap();
    assert_eq!(opened.item.versions.len(), 81);
    assert_eq!(states(&opened).iter().filter(|state| **state == VersionState::Active).count(), 1);
}

#[tokio::test]
async fn keys_are_rotated_when_due_as_their_folders_say() {
    let TestItems { items, clock, .. } = place().await;
    let mut folder = label("keys", "/");
    folder.rotation = Rotation { frequency: Frequency::parse("10d"), state: Some(VersionState::Destroyed) };
    items.create_folder(folder.clone()).await.unwrap();
    assert!(matches!(items.create_folder(folder).await, Err(VaultError::Taken)));
    let made = items.create(new_key(label("k", "/keys/inner"))).await.unwrap();
    let id = made.item.id.clone();
    assert_eq!(made.settled.frequency_from, Path::parse("/keys"));
    let day = Duration::from_secs(24 * 3600);
    assert_eq!(made.next_rotation(), Some(made.item.created_at.plus(10 * day)));
    clock.advance(9 * day);
    assert_eq!(items.fpe_key(&id, None).await.unwrap().1, 1);
    clock.advance(day);
    assert_eq!(items.fpe_key(&id, None).await.unwrap().1, 2);
    assert_eq!(states(&items.get(&id).await.unwrap()), [VersionState::Destroyed, VersionState::Active]);
    // What was taken out of use is not brought back by a rotation.
    items.change_state(&id, Selector::Current, VersionState::Suspended, None).await.unwrap();
    clock.advance(30 * day);
    assert_eq!(states(&items.get(&id).await.unwrap()), [VersionState::Destroyed, VersionState::Suspended]);
    // The item's own word goes before the folder's.
    let never: ItemChanges = Box::new(|label| label.rotation.frequency = Some(Frequency::never()));
    let changed = items.update(&id, &never).await.unwrap();
    assert_eq!((changed.next_rotation(), changed.settled.frequency_from.clone()), (None, None));
}

#[tokio::test]
async fn a_compromised_version_is_destroyed_in_its_time() {
    let TestItems { items, clock, .. } = place().await;
    let id = key(&items).await;
    let after = Some(Duration::from_secs(60));
    items.change_state(&id, Selector::Current, VersionState::Compromised, after).await.unwrap();
    assert!(items.fpe_key(&id, Some(1)).await.is_ok());
    clock.advance(Duration::from_secs(60));
    assert!(items.fpe_key(&id, Some(1)).await.is_err());
    assert_eq!(states(&items.get(&id).await.unwrap()), [VersionState::Destroyed]);
}

#[tokio::test]
async fn an_item_that_is_off_makes_nothing_new() {
    let TestItems { items, clock, .. } = place().await;
    let mut soon = label("k", "/");
    soon.disabled_at = Some(items.now().plus(Duration::from_secs(60)));
    let id = items.create(new_key(soon)).await.unwrap().item.id.clone();
    assert!(items.fpe_key(&id, None).await.is_ok());
    clock.advance(Duration::from_secs(60));
    assert!(items.fpe_key(&id, None).await.is_err());
    assert!(items.fpe_key(&id, Some(1)).await.is_ok());
}

#[tokio::test]
async fn folders_are_removed_with_what_is_in_them_only_when_told() {
    let TestItems { items, .. } = place().await;
    let outer = items.create_folder(label("a", "/")).await.unwrap().item.id.clone();
    let inner = items.create_folder(label("b", "/a")).await.unwrap().item.id.clone();
    let inside = items.create(new_key(label("k", "/a/b"))).await.unwrap().item.id.clone();
    let beside = items.create(new_key(label("k", "/ab"))).await.unwrap().item.id.clone();
    assert!(matches!(items.delete(&outer, false).await, Err(VaultError::Forbidden(_))));
    assert_eq!(items.get(&inner).await.unwrap().item.kind, ItemKind::Folder);
    items.delete(&outer, true).await.unwrap();
    for id in [&outer, &inner, &inside] {
        assert!(matches!(items.get(id).await, Err(VaultError::Unknown)));
    }
    assert!(items.get(&beside).await.is_ok());
    items.create_folder(label("a", "/")).await.unwrap();
}

#[tokio::test]
async fn a_list_has_every_item_once_in_order() {
    let TestItems { items, clock, .. } = place().await;
    for n in 0..25 {
        let mut made = label(&format!("n{:02}", n % 5), "/x");
        made.tags = vec![if n % 2 == 0 { "even" } else { "odd" }.to_owned()];
        items.create(new_key(made)).await.unwrap();
        clock.advance(Duration::from_secs(u64::from(n % 3 == 0)));
    }
    items.create_folder(label("x", "/")).await.unwrap();
    for order in [Order::Ascending, Order::Descending] {
        for order_by in [OrderBy::CreatedAt, OrderBy::Name, OrderBy::Id, OrderBy::Kind, OrderBy::DisabledAt] {
            let mut ask =
                ListItemsRequest { filter: ItemFilter::default(), after: None, order, order_by, size: 4 };
            let mut seen = Vec::new();
            loop {
                let page = items.list(&ask).await.unwrap();
                assert!(page.items.len() <= 4);
                ask.after = match page.last {
                    Some(last) => Some(last),
                    None => break,
                };
                seen.extend(page.items.into_iter().map(|item| (item.label.name, item.id)));
            }
            assert_eq!(seen.len(), 26, "{order_by:?}");
            if order_by == OrderBy::Name {
                let sorted = |pair: &[(String, ItemId)]| (pair[0] <= pair[1]) == (order == Order::Ascending);
                assert!(seen.windows(2).all(sorted));
            }
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), 26, "{order_by:?}");
        }
    }
    let name =
        TextFilter { contains: vec!["n0".to_owned()], within: Some(vec!["n01".to_owned()]), equal: None };
    let filter =
        ItemFilter { texts: vec![("name", name)], tags: vec!["odd".to_owned()], ..ItemFilter::default() };
    let ask = ListItemsRequest {
        filter,
        after: None,
        order: Order::default(),
        order_by: OrderBy::default(),
        size: 50,
    };
    assert_eq!(items.list(&ask).await.unwrap().items.len(), 3);
}

#[tokio::test]
async fn pairs_must_be_pairs() {
    use crate::crypto::jws::{RsaBits, SigningKey, private_pem, public_pem};
    let made = || SigningKey::generate(JwsAlgorithm::Es256, RsaBits::default()).unwrap();
    let (a, b) = (made(), made());
    let es256 = Algorithm::Jws(JwsAlgorithm::Es256);
    let private = private_pem(&a.to_stored().unwrap());
    let (own, other) = (public_pem(&a.public().unwrap()), public_pem(&b.public().unwrap()));
    assert!(Material::pair(es256, private.expose(), &own).is_ok());
    assert!(matches!(Material::pair(es256, private.expose(), &other), Err(VaultError::Unfit(_))));
    assert!(matches!(Material::pair(fpe(), private.expose(), &own), Err(VaultError::Unfit(_))));
    for (algorithm, bytes, fits) in [
        (fpe(), 32, true),
        (fpe(), 16, false),
        (Algorithm::Jws(JwsAlgorithm::Hs384), 48, true),
        (Algorithm::Jws(JwsAlgorithm::Hs384), 47, false),
    ] {
        let key = Secret::new(vec![7; bytes]);
        assert_eq!(Material::symmetric(algorithm, key).is_ok(), fits, "{} {bytes}", algorithm.name());
    }
}

#[tokio::test]
async fn a_new_version_is_shown_before_it_signs() {
    let TestItems { items, clock, .. } = place().await;
    let algorithm = Algorithm::Jws(JwsAlgorithm::Es256);
    let key = KeyFacts { purpose: Purpose::Jwt, algorithm, exportable: false };
    let material = Material::generate(algorithm).await.unwrap();
    let new = NewItem { kind: ItemKind::AsymmetricKey, label: label("", "/"), key: Some(key), material };
    let id = items.create(new).await.unwrap().item.id.clone();
    let ahead = Duration::from_secs(60);
    let signs = async |ahead| {
        let signer = items.signer(&id, ahead).await;
        signer.map(|signer| signer.kid().rsplit('|').next().map(str::to_owned).unwrap_or_default())
    };
    let rotate = async || {
        let material = Material::generate(algorithm).await.unwrap();
        items.rotate(&id, &material, None).await.unwrap();
    };
    assert_eq!(signs(ahead).await.unwrap(), "1", "there is no other");
    rotate().await;
    assert_eq!((signs(ahead).await.unwrap(), signs(Duration::ZERO).await.unwrap()), ("1".into(), "2".into()));
    clock.advance(ahead / 2);
    rotate().await;
    clock.advance(ahead / 2);
    assert_eq!(signs(ahead).await.unwrap(), "2", "shown for long enough, though 3 is there");
    clock.advance(ahead / 2);
    assert_eq!(signs(ahead).await.unwrap(), "3");
    rotate().await;
    // Taken out of use by somebody: the next one signs, old ones do not come back.
    items.change_state(&id, Selector::Number(3), VersionState::Suspended, None).await.unwrap();
    assert_eq!(signs(ahead).await.unwrap(), "4");
    items.change_state(&id, Selector::Current, VersionState::Deactivated, None).await.unwrap();
    assert!(matches!(signs(ahead).await, Err(VaultError::Forbidden(_))), "what is stopped is stopped");
}
