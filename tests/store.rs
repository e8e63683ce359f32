//! What outlives a process: keys and tokens over restarts, two processes on one file, a wrong master key, rows moved
//! about by somebody who can write the file, and what can be read in it by somebody who cannot open it. And two
//! gateways on one PostgreSQL database, where `PORTCULLIS_POSTGRES` names one; the laws of rows are tested beside it.

#![expect(clippy::unwrap_used, reason = "clippy spares only functions marked as tests, not what they call")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::{BASE64, BASE64URL, HEXLOWER};
use portcullis::api::token::{NewToken, TokenError, Tokens};
use portcullis::base::clock::{FixedClock, SharedClock, SystemClock, Timestamp};
use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use portcullis::gateway::llm::resources::{ResourceReference, ResourceRole};
use portcullis::gateway::memory::{Memory, RequestMemory, RequestMemoryParts};
use portcullis::redact::SurrogateMap;
use portcullis::store::postgres::{Database, SslMode};
use portcullis::store::{
    Appended, EmbeddedRecords, Key, LogLine, LogLines, NewRow, PostgresRecords, Precondition, Records,
};
use portcullis::vault::{MasterKey, Vault, VaultError};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

struct TestStore {
    folder: tempfile::TempDir,
}

impl TestStore {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("portcullis.sqlite")
    }

    fn master(&self) -> PathBuf {
        self.folder.path().join("master.key")
    }

    async fn records(&self) -> Arc<EmbeddedRecords> {
        Arc::new(EmbeddedRecords::open(&self.file(), clock()).await.unwrap())
    }

    async fn vault(&self, records: &Arc<EmbeddedRecords>) -> Result<Vault, VaultError> {
        let records: Arc<dyn Records> = Arc::clone(records) as Arc<dyn Records>;
        Vault::open_with_file(records, &self.master(), clock()).await
    }
}

fn clock() -> SharedClock {
    Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)))
}

/// Equal for equal keys only.
fn mark(key: &FpeKey) -> [u8; 32] {
    key.prf(&[b"mark"])
}

fn named(name: &str) -> NewToken {
    NewToken { name: name.to_owned(), ..NewToken::default() }
}

#[tokio::test]
async fn keys_and_tokens_survive_a_restart() {
    let place = TestStore::new();
    let records = place.records().await;
    let vault = place.vault(&records).await.unwrap();
    let before = mark(&vault.default_fpe_key().await.unwrap());
    assert_eq!(mark(&vault.default_fpe_key().await.unwrap()), before);
    let (id, token) = Tokens::new(Arc::clone(&records) as _, clock()).create(named("ci")).await.unwrap();
    records.close().await;
    drop(vault);

    let records = place.records().await;
    let vault = place.vault(&records).await.unwrap();
    assert_eq!(mark(&vault.default_fpe_key().await.unwrap()), before);
    let tokens = Tokens::new(Arc::clone(&records) as _, clock());
    assert_eq!(tokens.verify(token.expose()).await.unwrap().id(), &id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_start_together_share_one_key() {
    for _ in 0..5 {
        let place = Arc::new(TestStore::new());
        let starts = (0..4).map(|_| {
            let place = Arc::clone(&place);
            tokio::spawn(async move {
                let records = place.records().await;
                let vault = place.vault(&records).await.unwrap();
                mark(&vault.default_fpe_key().await.unwrap())
            })
        });
        let mut marks = Vec::new();
        for start in starts.collect::<Vec<_>>() {
            marks.push(start.await.unwrap());
        }
        assert!(marks.iter().all(|mark| *mark == marks[0]));
    }
}

#[tokio::test]
async fn a_wrong_master_key_is_named_and_nothing_is_written() {
    let place = TestStore::new();
    let records = place.records().await;
    let right = std::fs::read_to_string({
        place.vault(&records).await.unwrap().default_fpe_key().await.unwrap();
        place.master()
    });
    let before = everything(records.as_ref()).await;

    std::fs::write(place.master(), BASE64.encode(&[7; 32])).unwrap();
    let refused = place.vault(&records).await.unwrap_err();
    assert!(matches!(refused, VaultError::WrongKey(_)), "{refused}");
    assert!(refused.to_string().contains("master.key is not the master key"), "{refused}");

    std::fs::remove_file(place.master()).unwrap();
    let refused = place.vault(&records).await.unwrap_err();
    assert!(matches!(refused, VaultError::KeyMissing(_)), "{refused}");
    assert!(!place.master().exists(), "a new key would hide that the right one is lost");

    let given = MasterKey::from_text(&HEXLOWER.encode(&[7; 32])).unwrap();
    let refused = Vault::open(Arc::clone(&records) as _, &given, clock()).await.unwrap_err();
    assert!(matches!(refused, VaultError::WrongKey(_)), "{refused}");
    assert_eq!(everything(records.as_ref()).await, before);

    let given = MasterKey::from_text(&right.unwrap()).unwrap();
    let vault = Vault::open(Arc::clone(&records) as _, &given, clock()).await.unwrap();
    assert!(vault.default_fpe_key().await.is_ok());
}

async fn everything(records: &dyn Records) -> Vec<(String, u64, Vec<u8>)> {
    let mut all = Vec::new();
    for kind in [CANARY, KEYS] {
        let rows = records.scan(kind, "", 100).await.unwrap();
        all.extend(rows.into_iter().map(|row| (row.key.id().to_owned(), row.version, row.entry.value)));
    }
    assert_eq!(all.len(), 2);
    all
}

const CANARY: &str = "vault.canary";
const KEYS: &str = "vault.key";

/// The port computes the digest of whatever it is given, so these rows are sound to the store: only the seal can
/// tell that they are not where they belong.
#[tokio::test]
async fn a_row_moved_to_another_place_does_not_open() {
    for (from, to) in [(CANARY, KEYS), (KEYS, CANARY), (KEYS, KEYS)] {
        let place = TestStore::new();
        let records = place.records().await;
        place.vault(&records).await.unwrap().default_fpe_key().await.unwrap();
        let row = |kind| {
            let records = Arc::clone(&records);
            async move { records.scan(kind, "", 1).await.unwrap().remove(0) }
        };
        let (source, target) = (row(from).await, row(to).await);
        let moved = NewRow::lasting(source.entry.value.clone());
        // From a row onto itself: the same bytes under the next version, which is how a rollback would look.
        records.put_if(&target.key, Precondition::Version(target.version), moved).await.unwrap();
        let opened = match place.vault(&records).await {
            Ok(vault) => vault.default_fpe_key().await.map(drop),
            Err(error) => Err(error),
        };
        assert!(matches!(opened, Err(VaultError::Damaged)), "{from} over {to}: {opened:?}");
    }
}

#[tokio::test]
async fn the_files_show_neither_tokens_nor_keys() {
    let place = TestStore::new();
    let records = place.records().await;
    let vault = place.vault(&records).await.unwrap();
    vault.default_fpe_key().await.unwrap();
    let tokens = Tokens::new(Arc::clone(&records) as _, clock());
    let (id, token) = tokens.create(named("marked name")).await.unwrap();
    let master = std::fs::read_to_string(place.master()).unwrap();
    let master = BASE64.decode(master.trim().as_bytes()).unwrap();
    let files = || {
        let folder = std::fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        folder.filter(|path| *path != place.master()).collect::<Vec<_>>()
    };
    let text = token.expose().as_bytes();
    let mut secrets: Vec<Vec<u8>> = vec![text.to_vec(), text[4..].to_vec()];
    // The key itself is opaque here, so its plaintext is had by opening the row as the vault does.
    let row = records.scan(KEYS, "", 1).await.unwrap().remove(0);
    let given = MasterKey::from_text(&HEXLOWER.encode(&master)).unwrap();
    let opened = portcullis::vault::Seal::new(&given).unwrap().open(&row).unwrap();
    let fpe = &opened.expose()[9..];
    assert_eq!(mark(&FpeKey::new(portcullis::base::secret::Secret::new(fpe.to_vec())).unwrap()), {
        mark(&vault.default_fpe_key().await.unwrap())
    });
    for secret in [&master, fpe] {
        secrets.push(secret.to_vec());
        secrets.push(HEXLOWER.encode(secret).into());
        secrets.push(BASE64.encode(secret).into());
        secrets.push(BASE64URL.encode(secret).into());
    }
    let holds = |bytes: &[u8], wanted: &[u8]| memchr::memmem::find(bytes, wanted).is_some();
    let search = |when: &str| {
        let contents: Vec<Vec<u8>> = files().iter().map(|path| std::fs::read(path).unwrap()).collect();
        assert!(contents.iter().any(|bytes| holds(bytes, id.to_string().as_bytes())), "{when}: search works");
        for secret in &secrets {
            assert!(!contents.iter().any(|bytes| holds(bytes, secret)), "{when}");
        }
    };
    search("with the log beside it");
    records.close().await;
    search("after a checkpoint");
}

#[tokio::test]
#[ignore = "run by the test below, in processes of its own"]
async fn child_works_on_the_file_it_is_given() {
    let folder = std::env::var("PORTCULLIS_TEST_CHILD").unwrap();
    let folder = Path::new(&folder);
    let clock: SharedClock = Arc::new(SystemClock);
    let records: Arc<dyn Records> =
        Arc::new(EmbeddedRecords::open(&folder.join("portcullis.sqlite"), Arc::clone(&clock)).await.unwrap());
    let master = folder.join("master.key");
    let vault = Vault::open_with_file(Arc::clone(&records), &master, Arc::clone(&clock)).await.unwrap();
    let fpe = vault.default_fpe_key().await.unwrap();
    let tokens = Tokens::new(Arc::clone(&records), clock);
    for n in 0..20 {
        let (id, token) = tokens.create(named(&format!("{}-{n}", std::process::id()))).await.unwrap();
        if n % 2 == 0 {
            tokens.revoke(&id).await.unwrap();
            assert!(matches!(tokens.verify(token.expose()).await, Err(TokenError::Revoked)));
        }
    }
    let key = Key::new("test.mark", std::process::id().to_string());
    records.put_if(&key, Precondition::Absent, NewRow::lasting(mark(&fpe).to_vec())).await.unwrap();
}

#[tokio::test]
async fn processes_that_start_together_share_one_file() {
    const CHILDREN: usize = 3;
    let place = TestStore::new();
    let program = std::env::current_exe().unwrap();
    let children: Vec<_> = (0..CHILDREN)
        .map(|_| {
            Command::new(&program)
                .args(["--ignored", "--exact", "child_works_on_the_file_it_is_given"])
                .env("PORTCULLIS_TEST_CHILD", place.folder.path())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let records = place.records().await;
    let marks = records.scan("test.mark", "", 10).await.unwrap();
    assert_eq!(marks.len(), CHILDREN);
    assert!(marks.iter().all(|row| row.entry.value == marks[0].entry.value), "one key for all");
    let listed = Tokens::new(Arc::clone(&records) as _, clock()).list().await.unwrap();
    assert_eq!(listed.len(), CHILDREN * 20);
    assert_eq!(listed.iter().filter(|info| info.revoked.is_some()).count(), CHILDREN * 10);
}

/// A schema of its own on the server that `PORTCULLIS_POSTGRES` names; `None`, and says so, where it names none.
async fn schema(name: &str) -> Option<Database> {
    let Ok(url) = std::env::var("PORTCULLIS_POSTGRES") else {
        println!("SKIPPED: PORTCULLIS_POSTGRES names no server; nothing of PostgreSQL was tested");
        return None;
    };
    let mut beside = PgConnection::connect(&url).await.unwrap();
    for sql in [format!("DROP SCHEMA IF EXISTS {name} CASCADE"), format!("CREATE SCHEMA {name}")] {
        beside.execute(AssertSqlSafe(sql)).await.unwrap();
    }
    Some(Database {
        url: Secret::new(format!("{url}?options=-csearch_path%3D{name}")),
        tls: SslMode::Disable,
        ca: None,
        connections: 2,
        timeout: Duration::from_secs(5),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_on_one_database_are_as_one() {
    let Some(database) = schema("two_gateways").await else { return };
    let master = || MasterKey::from_text(&HEXLOWER.encode(&[7; 32])).unwrap();
    let start = async || {
        let records: Arc<dyn Records> = Arc::new(PostgresRecords::open(&database, clock()).await.unwrap());
        let vault = Vault::open(Arc::clone(&records), &master(), clock()).await.unwrap();
        (mark(&vault.default_fpe_key().await.unwrap()), Tokens::new(Arc::clone(&records), clock()), records)
    };
    let ((first, one, records), (second, other, _)) = tokio::join!(start(), start());
    assert_eq!(first, second, "one key for both");
    let (id, token) = one.create(named("ci")).await.unwrap();
    assert_eq!(other.verify(token.expose()).await.unwrap().id(), &id);
    other.revoke(&id).await.unwrap();
    assert_eq!(one.list().await.unwrap().len(), 1);
    let wrong = MasterKey::from_text(&HEXLOWER.encode(&[8; 32])).unwrap();
    let refused = Vault::open(Arc::clone(&records), &wrong, clock()).await.unwrap_err();
    assert!(matches!(refused, VaultError::WrongKey(_)), "{refused}");

    records.close().await;
    let (third, again, _) = start().await;
    assert_eq!(third, first);
    assert!(matches!(again.verify(token.expose()).await, Err(TokenError::Revoked)));
}

fn log_line(number: u64) -> LogLine {
    LogLine { number, at: Timestamp::from_millis(number), text: format!("{{\"seq\":{number}}}") }
}

#[tokio::test]
async fn lines_of_logs_survive_a_restart() {
    let place = TestStore::new();
    let records = place.records().await;
    assert_eq!(records.append("one/1", &[log_line(1), log_line(2)]).await.unwrap(), Appended::Whole);
    records.close().await;
    assert!(records.append("one/1", &[log_line(3)]).await.is_err());
    let records = place.records().await;
    assert_eq!(records.read("one/1", 1, 10).await.unwrap(), [log_line(2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateways_on_one_database_have_logs_of_their_own_there() {
    let Some(database) = schema("log_lines").await else { return };
    let open = async || PostgresRecords::open(&database, clock()).await.unwrap();
    let (one, two) = (open().await, open().await);
    let (both, first, second) = ([log_line(1), log_line(2)], [log_line(1)], [log_line(2)]);
    let written = tokio::join!(
        one.append("one/1", &both),
        two.append("two/1", &first),
        // Given again by one who does not know whether it came.
        two.append("one/1", &second),
    );
    assert!(written.0.is_ok() && written.1.is_ok() && written.2.is_ok());
    let ends: Vec<(String, u64)> =
        two.ends().await.unwrap().into_iter().map(|end| (end.log, end.last.number)).collect();
    assert_eq!(ends, [("one/1".to_owned(), 2), ("two/1".to_owned(), 1)]);
    assert_eq!(two.read("one/1", 0, 10).await.unwrap(), [log_line(1), log_line(2)]);
}

/// Callers come from runtimes of their own, and these end before the store does.
#[test]
fn calls_from_another_runtime_outlive_it() {
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let own = runtime();
    let Some(database) = own.block_on(schema("other_runtime")) else { return };
    let records = own.block_on(PostgresRecords::open(&database, clock())).unwrap();
    let key = Key::new("case", "a");
    let caller = runtime();
    caller.block_on(records.put_if(&key, Precondition::Absent, NewRow::lasting(vec![1]))).unwrap();
    drop(caller);
    assert_eq!(own.block_on(records.get(&key)).unwrap().unwrap().version, 1);
    own.block_on(records.close());
}

/// One process that remembers, on a store that others may have open.
struct Process {
    memory: Arc<Memory>,
    records: Arc<EmbeddedRecords>,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Process {
    async fn start(place: &TestStore, clock: &Arc<FixedClock>) -> Self {
        let shared: SharedClock = Arc::clone(clock) as SharedClock;
        let records = Arc::new(EmbeddedRecords::open(&place.file(), Arc::clone(&shared)).await.unwrap());
        let stored: Arc<dyn Records> = Arc::clone(&records) as Arc<dyn Records>;
        let vault =
            Vault::open_with_file(Arc::clone(&stored), &place.master(), Arc::clone(&shared)).await.unwrap();
        Self { memory: Arc::new(Memory::new(stored, Arc::new(vault), shared)), records }
    }

    async fn request(&self, caller: &str, route: &str) -> RequestMemory {
        let caller = self.memory.caller([caller.as_bytes()]);
        let (memory, route) = (Arc::clone(&self.memory), route.to_owned());
        RequestMemory::new(RequestMemoryParts { memory, caller, route, remember: DAY }).await
    }

    /// How many values are found by an id.
    async fn found(&self, caller: &str, route: &str, id: &str) -> usize {
        let mut request = self.request(caller, route).await;
        request.find(&[ResourceReference { id: id.to_owned(), role: ResourceRole::Reads }]).await;
        request.restored().load().len()
    }

    async fn knows(&self, caller: &str, surrogate: &str) -> bool {
        self.request(caller, "any").await.recall().caller.unwrap().has(surrogate.as_bytes())
    }
}

/// What a request has issued: one surrogate and its original, as a file of them has it.
fn issued(surrogate: &str, original: &str) -> Arc<SurrogateMap> {
    let mut bytes = vec![1, 0];
    for text in [surrogate, original] {
        bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    Arc::new(SurrogateMap::from_bytes(&bytes).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_issued_is_known_to_every_process_for_its_time_and_to_its_caller() {
    let (place, clock) =
        (TestStore::new(), Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000))));
    let one = Process::start(&place, &clock).await;
    let mut request = one.request("me", "chat").await;
    request.recall().caller.unwrap().add(b"8872738932821070");
    request.issued(issued("8872 7389 3282 1070", "5425 2334 3010 9903"), Some(b""));
    request.name("resp_1");
    request.note();
    request.written().await;
    // A second one, which goes on with the first, adds to the same.
    let mut request = one.request("me", "chat").await;
    request.find(&[ResourceReference { id: "resp_1".to_owned(), role: ResourceRole::Continues }]).await;
    request.issued(issued("815-60-8228", "536-22-8726"), Some(b""));
    request.name("resp_2");
    request.note();
    request.written().await;

    let other = Process::start(&place, &clock).await;
    for _ in 0..100 {
        if other.knows("me", "8872738932821070").await {
            break;
        }
        // Nobody waits for digests to be written, or looks for new ones more often.
        clock.advance(Duration::from_secs(2));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(other.knows("me", "8872738932821070").await && !other.knows("you", "8872738932821070").await);
    for (caller, route, id, count) in [
        ("me", "chat", "resp_1", 2),
        ("me", "chat", "resp_2", 2),
        ("me", "chat", "resp_3", 0),
        ("you", "chat", "resp_1", 0),
        ("me", "talk", "resp_1", 0),
    ] {
        assert_eq!(other.found(caller, route, id).await, count, "{caller} {route} {id}");
    }
    for kind in ["llm.issued", "llm.name", "llm.digests"] {
        let rows = one.records.scan(kind, "", 100).await.unwrap();
        assert!(!rows.is_empty(), "{kind}");
        for row in rows {
            let text = format!("{} {}", row.key.id(), String::from_utf8_lossy(&row.entry.value));
            for readable in ["8872 7389", "5425 2334", "815-60", "536-22", "resp_"] {
                assert!(!text.contains(readable), "{kind}: {readable}");
            }
            assert!(row.entry.expires.is_some(), "{kind}");
        }
    }
    clock.advance(DAY);
    assert!(!other.knows("me", "8872738932821070").await);
    assert_eq!(other.found("me", "chat", "resp_1").await, 0);
    one.records.sweep().await.unwrap();
    assert_eq!(one.records.scan("llm.issued", "", 1).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_erased_is_forgotten_by_every_process() {
    let (place, clock) =
        (TestStore::new(), Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000))));
    let (one, other) = (Process::start(&place, &clock).await, Process::start(&place, &clock).await);
    for whose in [Some("me"), None] {
        for caller in ["me", "you"] {
            let mut request = one.request(caller, "chat").await;
            request.recall().caller.unwrap().add(b"8872738932821070");
            request.issued(issued("8872 7389 3282 1070", "5425 2334 3010 9903"), Some(b""));
            request.name("resp_1");
            request.note();
            request.written().await;
        }
        let caller = whose.map(|caller| other.memory.caller([caller.as_bytes()]));
        // The digests of both are in rows, or what is erased could be written afterwards.
        for _ in 0..100 {
            if one.records.scan("llm.digests", "", 10).await.unwrap().len() >= 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(other.memory.erase(caller.as_ref()).await.unwrap() >= 3);
        clock.advance(Duration::from_secs(2));
        for process in [&one, &other] {
            for caller in ["me", "you"] {
                let there = whose == Some("me") && caller == "you";
                assert_eq!(process.knows(caller, "8872738932821070").await, there, "{whose:?} {caller}");
                assert_eq!(
                    process.found(caller, "chat", "resp_1").await,
                    usize::from(there),
                    "{whose:?} {caller}"
                );
            }
        }
    }
}
