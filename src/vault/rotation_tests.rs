//! A rotation that is stopped after any of its writes leaves a store that opens, and goes on from there.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::base::clock::{FixedClock, SharedClock, Timestamp};
use crate::base::secret::Secret;
use crate::crypto::jws::JwsAlgorithm;
use crate::store::faulty::{Fault, FaultyRecords, StoreWork};
use crate::store::{EmbeddedRecords, Records};
use crate::vault::items::{
    Algorithm, ItemKind, Items, KeyFacts, Label, Material, NewItem, Path, Purpose, Rotation,
};
use crate::vault::{Freshness, KeyOrigin};

/// How many writes take place, as before a process is killed; the next one has a new allowance.
struct WriteAllowance {
    left: AtomicI64,
    writes: AtomicI64,
}

impl WriteAllowance {
    fn fault(&self, work: StoreWork) -> Fault {
        if work == StoreWork::Read {
            return Fault::None;
        }
        self.writes.fetch_add(1, Ordering::Relaxed);
        if self.left.fetch_sub(1, Ordering::Relaxed) > 0 { Fault::None } else { Fault::Refused }
    }
}

struct TestStore {
    _folder: tempfile::TempDir,
    allowance: Arc<WriteAllowance>,
    records: Arc<dyn Records>,
}

const MANY: i64 = 1_000_000;

impl TestStore {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let records = EmbeddedRecords::open(&folder.path().join("db"), clock()).await.unwrap();
        let allowance = WriteAllowance { left: AtomicI64::new(MANY), writes: AtomicI64::new(0) };
        let allowance = Arc::new(allowance);
        let asked = Arc::clone(&allowance);
        let records = Arc::new(FaultyRecords::new(records, move |work| asked.fault(work)));
        Self { _folder: folder, allowance, records }
    }

    fn live(&self, writes: i64) {
        self.allowance.left.store(writes, Ordering::Relaxed);
    }

    async fn open(&self, master: &MasterKey) -> Result<Arc<Vault>, VaultError> {
        Vault::open(Arc::clone(&self.records), master, clock()).await.map(Arc::new)
    }
}

fn clock() -> SharedClock {
    Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)))
}

fn master(digit: char) -> MasterKey {
    MasterKey::from_text(&digit.to_string().repeat(64)).unwrap()
}

/// Fills a store with one row of each kind; what must come out of it again.
async fn fill(vault: &Arc<Vault>) -> Vec<u8> {
    let items = Items::new(Arc::clone(vault));
    let label = |name: &str| Label {
        name: name.to_owned(),
        folder: Path::root(),
        metadata: std::collections::BTreeMap::new(),
        tags: Vec::new(),
        off: false,
        disabled_at: None,
        rotation: Rotation::default(),
    };
    items.create_folder(label("folder")).await.unwrap();
    let algorithm = Algorithm::Jws(JwsAlgorithm::Es256);
    let material = Material::generate(algorithm).await.unwrap();
    let key = Some(KeyFacts { purpose: Purpose::Jwt, algorithm, exportable: false });
    let new = NewItem { kind: ItemKind::AsymmetricKey, label: label("key"), key, material };
    items.create(new).await.unwrap();
    for call in calls().into_iter().chain(REMEMBERED.map(|kind| Key::new(kind, "caller/1"))) {
        let sealed = vault.seal_row(&call, Precondition::Absent.next(), b"what was asked").unwrap();
        vault.records().put_if(&call, Precondition::Absent, NewRow::lasting(sealed)).await.unwrap();
    }
    vault.default_fpe_key().await.unwrap();
    vault.seal_context("default", b"what a caller keeps").unwrap()
}

fn calls() -> [Key; 2] {
    [PENDING, ENDED].map(|kind| Key::new(kind, "prq_1"))
}

/// Everything opens: items by their keys, folders by name, the default key, and what callers keep.
async fn all_opens(vault: &Arc<Vault>, context: &[u8]) {
    let items = Items::new(Arc::clone(vault));
    let mut ids = Vec::new();
    items.scan(ITEMS, |_, item| ids.push(item.id)).await.unwrap();
    assert_eq!(ids.len(), 1);
    let token = items.sign_jwt(&ids[0], "{}").await.unwrap();
    assert!(items.verify_jwt(&token).await.unwrap().is_some());
    let folder = items.folder_key(&Path::parse("/folder").unwrap());
    assert!(vault.records().get(&folder).await.unwrap().is_some());
    for call in calls() {
        let row = vault.records().get(&call).await.unwrap().unwrap();
        assert_eq!(vault.open_row(&row).unwrap().expose(), b"what was asked");
    }
    vault.default_fpe_key().await.unwrap();
    let opened = vault.open_context("default", context.to_vec()).unwrap();
    assert_eq!(opened.expose(), b"what a caller keeps");
}

async fn rotate(vault: &Vault, to: &MasterKey) -> Result<Rotated, VaultError> {
    vault.rotate_master(to, Pace::AT_ONCE, true, || Ok(())).await
}

#[tokio::test]
async fn a_stop_after_any_write_leaves_a_store_that_opens_and_the_next_try_ends_it() {
    let (old, new) = (master('1'), master('2'));
    let place = TestStore::new().await;
    let vault = place.open(&old).await.unwrap();
    fill(&vault).await;
    place.allowance.writes.store(0, Ordering::Relaxed);
    rotate(&vault, &new).await.unwrap();
    let writes = place.allowance.writes.load(Ordering::Relaxed);
    assert!(writes >= 9, "{writes}");
    for stop in 0..writes {
        let place = TestStore::new().await;
        let running = place.open(&old).await.unwrap();
        let context = fill(&running).await;
        let vault = place.open(&old).await.unwrap();
        place.live(stop);
        assert!(rotate(&vault, &new).await.is_err(), "{stop}");
        place.live(MANY);
        // The last two writes only tidy up after the old key is gone.
        let by_old = place.open(&old).await;
        match &by_old {
            Ok(vault) => all_opens(vault, &context).await,
            Err(error) => {
                assert!(matches!(error, VaultError::WrongKey(_)) && stop >= writes - 1, "{stop}: {error}")
            }
        }
        // From the second write on the new one opens it too.
        if stop >= 2 {
            all_opens(&place.open(&new).await.unwrap(), &context).await;
        }
        // It slept through all of it.
        if running.refresh().await.unwrap() == Freshness::Gone {
            running.take_over(&new).await.unwrap();
        }
        all_opens(&running, &context).await;
        match by_old {
            Ok(vault) => drop(rotate(&vault, &new).await.unwrap()),
            Err(_) => drop(place.open(&new).await.unwrap().finish_rotation(Pace::AT_ONCE).await.unwrap()),
        }
        let by_new = place.open(&new).await.unwrap();
        assert!(!by_new.has_predecessor());
        all_opens(&by_new, &context).await;
        assert!(matches!(place.open(&old).await, Err(VaultError::WrongKey(KeyOrigin::Given))), "{stop}");
    }
}

#[tokio::test]
async fn one_that_runs_notices_and_takes_the_new_key_over() {
    let place = TestStore::new().await;
    let (first, second, third) = (master('1'), master('2'), master('3'));
    let running = place.open(&first).await.unwrap();
    let context = fill(&running).await;
    assert_eq!(running.refresh().await.unwrap(), Freshness::Same);
    assert!(matches!(running.take_over(&second).await, Err(VaultError::WrongKey(_))));
    running.ensure_opened_by(&first).await.unwrap();
    assert!(matches!(running.ensure_opened_by(&second).await, Err(VaultError::WrongKey(_))));

    let vault = place.open(&first).await.unwrap();
    vault.rotate_master(&second, Pace::AT_ONCE, false, || Ok(())).await.unwrap();
    // Both open it until all is done.
    running.ensure_opened_by(&first).await.unwrap();
    running.ensure_opened_by(&second).await.unwrap();
    assert_eq!(running.refresh().await.unwrap(), Freshness::Changed);
    all_opens(&running, &context).await;
    rotate(&vault, &second).await.unwrap();
    assert_eq!(running.refresh().await.unwrap(), Freshness::Gone);
    all_opens(&running, &context).await;
    running.take_over(&second).await.unwrap();
    assert_eq!(running.refresh().await.unwrap(), Freshness::Same);

    // And again, back to the first.
    for (from, to) in [(&second, &third), (&third, &first)] {
        let vault = place.open(from).await.unwrap();
        vault.rotate_master(to, Pace::AT_ONCE, false, || Ok(())).await.unwrap();
        running.refresh().await.unwrap();
        rotate(&vault, to).await.unwrap();
        running.take_over(to).await.unwrap();
        all_opens(&running, &context).await;
        assert!(matches!(place.open(from).await, Err(VaultError::WrongKey(_))));
    }
    all_opens(&place.open(&first).await.unwrap(), &context).await;
}

#[tokio::test]
async fn no_row_is_left_under_an_older_key() {
    let place = TestStore::new().await;
    let vault = place.open(&master('1')).await.unwrap();
    fill(&vault).await;
    assert_eq!(rotate(&vault, &master('2')).await.unwrap().rows, 9);
    let vault = place.open(&master('2')).await.unwrap();
    for (kind, _) in SEALED {
        let rows = vault.records().scan(kind, "", 10).await.unwrap();
        assert_eq!(rows.len(), 1, "{kind}");
        assert!(rows.iter().all(|row| vault.seal().is_current(row).unwrap()), "{kind}");
    }
}

#[tokio::test]
async fn of_two_rotations_the_later_one_holds_and_the_other_says_so() {
    let place = TestStore::new().await;
    let (old, lost, wanted) = (master('1'), master('2'), master('3'));
    let vault = place.open(&old).await.unwrap();
    let context = fill(&vault).await;
    vault.rotate_master(&lost, Pace::AT_ONCE, false, || Ok(())).await.unwrap();
    let other = place.open(&old).await.unwrap();
    other.rotate_master(&wanted, Pace::AT_ONCE, false, || Ok(())).await.unwrap();
    assert!(matches!(place.open(&lost).await, Err(VaultError::WrongKey(_))));
    let overtaken = vault.end(&Kek::new(&old).unwrap(), &Kek::new(&lost).unwrap()).await;
    assert!(matches!(overtaken, Err(VaultError::Forbidden(_))), "{overtaken:?}");
    rotate(&other, &wanted).await.unwrap();
    all_opens(&place.open(&wanted).await.unwrap(), &context).await;
    assert!(matches!(
        rotate(&place.open(&wanted).await.unwrap(), &wanted).await,
        Err(VaultError::Forbidden(_))
    ));
}

#[tokio::test]
async fn a_new_passphrase_has_a_salt_of_its_own_and_the_old_one_goes() {
    let place = TestStore::new().await;
    let open = async |text: &str| {
        let passphrase = Secret::new(text.to_owned());
        let keys = MasterKey::of_passphrase(place.records.as_ref(), &passphrase).await?;
        Vault::open_with_any(Arc::clone(&place.records), &keys, clock()).await
    };
    let vault = Arc::new(open("old").await.unwrap());
    let context = fill(&vault).await;
    let new = Secret::new("new".to_owned());
    let key = MasterKey::of_new_passphrase(&vault, &new).await.unwrap();
    vault.rotate_master(&key, Pace::AT_ONCE, false, || Ok(())).await.unwrap();
    // Stopped here, both open it; the next try uses the same salt.
    all_opens(&Arc::new(open("old").await.unwrap()), &context).await;
    all_opens(&Arc::new(open("new").await.unwrap()), &context).await;
    let again = MasterKey::of_new_passphrase(&vault, &new).await.unwrap();
    assert_eq!(again.salt(), key.salt());
    rotate(&vault, &again).await.unwrap();
    all_opens(&Arc::new(open("new").await.unwrap()), &context).await;
    assert!(matches!(open("old").await, Err(VaultError::WrongKey(KeyOrigin::Passphrase))));
    assert_eq!(vault.records().scan(SALTS, "", 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn salts_of_replacements_that_never_began_are_all_read_and_all_go() {
    const LEFT: usize = 17;
    let place = TestStore::new().await;
    let open = async |text: &str| {
        let passphrase = Secret::new(text.to_owned());
        let keys = MasterKey::of_passphrase(place.records.as_ref(), &passphrase).await?;
        Vault::open_with_any(Arc::clone(&place.records), &keys, clock()).await
    };
    let vault = Arc::new(open("old").await.unwrap());
    let context = fill(&vault).await;
    let first = vault.records().scan(SALTS, "", 9).await.unwrap().remove(0);
    for n in 0..LEFT {
        // Before the one in use, in the order of ids.
        let key = Key::new(SALTS, format!("0{n:02}"));
        let mut value = first.entry.value.clone();
        *value.last_mut().unwrap() ^= 1 + u8::try_from(n).unwrap();
        vault.records().put_if(&key, Precondition::Absent, NewRow::lasting(value)).await.unwrap();
    }
    all_opens(&Arc::new(open("old").await.unwrap()), &context).await;
    let key = MasterKey::of_new_passphrase(&vault, &Secret::new("new".to_owned())).await.unwrap();
    rotate(&vault, &key).await.unwrap();
    all_opens(&Arc::new(open("new").await.unwrap()), &context).await;
    assert_eq!(vault.records().scan(SALTS, "", 9).await.unwrap().len(), 1);
}
