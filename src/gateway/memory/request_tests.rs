use super::*;
use crate::base::clock::{FixedClock, SharedClock, Timestamp};
use crate::store::Records;
use crate::store::embedded::EmbeddedRecords;
use crate::store::faulty::{Fault, FaultyRecords};
use crate::vault::{MasterKey, Vault};

/// Two processes on one store, at a time that stands.
async fn processes(folder: &tempfile::TempDir) -> [Arc<Memory>; 2] {
    at_a_clock(folder, Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)))).await
}

async fn at_a_clock(folder: &tempfile::TempDir, clock: SharedClock) -> [Arc<Memory>; 2] {
    let (records, vault) = opened(folder, &clock).await;
    [0, 1]
        .map(|_| Arc::new(Memory::new(Arc::clone(&records), Arc::clone(&vault), SharedClock::clone(&clock))))
}

async fn opened(folder: &tempfile::TempDir, clock: &SharedClock) -> (Arc<dyn Records>, Arc<Vault>) {
    let file = folder.path().join("db");
    let records: Arc<dyn Records> =
        Arc::new(EmbeddedRecords::open(&file, SharedClock::clone(clock)).await.unwrap());
    let master = MasterKey::from_text(&"1".repeat(64)).unwrap();
    let vault = Vault::open(Arc::clone(&records), &master, SharedClock::clone(clock)).await.unwrap();
    (records, Arc::new(vault))
}

async fn request(memory: &Arc<Memory>, caller: &str) -> RequestMemory {
    let caller = memory.caller([caller.as_bytes()]);
    let (memory, route) = (Arc::clone(memory), "agents".to_owned());
    let remember = Duration::from_secs(86_400);
    RequestMemory::new(RequestMemoryParts { memory, caller, route, remember }).await
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

/// A client opens the stream of a session, and then says something in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_stream_learns_what_is_said_in_what_its_path_names() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let [one, other] = at_a_clock(&folder, Arc::clone(&clock) as SharedClock).await;
    let session = [ResourceReference { id: "sesn_1".to_owned(), role: ResourceRole::Continues }];
    let mut stream = request(&one, "me").await;
    stream.find(&session).await;
    stream.shares(&session[0], false);
    assert!(stream.is_of_session());
    stream.answered(true).await;
    let mut strange = request(&one, "you").await;
    strange.shares(&session[0], false);
    let mut long = request(&one, "me").await;
    long.shares(&session[0], false);
    let mut message = request(&other, "me").await;
    message.find(&session).await;
    message.shares(&session[0], true);
    assert!(!message.is_of_session(), "it has said nothing yet that could come back");
    message.issued(issued("815-60-8228", "536-22-8726"), Some(b""));
    assert!(message.is_of_session());
    message.written().await;
    // The store has just been asked.
    stream.before_piece().await;
    assert_eq!(stream.restored().load().len(), 0);
    clock.advance(ASK_EVERY);
    for (request, count) in [(&mut stream, 1), (&mut strange, 0)] {
        request.before_piece().await;
        assert_eq!(request.restored().load().len(), count);
    }
    // What its own process has written is known at once.
    let mut message = request(&one, "me").await;
    message.find(&session).await;
    message.shares(&session[0], true);
    message.issued(issued("+1 415 555 0132", "+1 650 253 0000"), Some(b""));
    message.written().await;
    stream.before_piece().await;
    assert_eq!(stream.restored().load().len(), 2);
    // An answer that was awaited meanwhile, and is no stream, has it and learns nothing more.
    long.answered(false).await;
    assert_eq!((long.restored().load().len(), long.is_of_session()), (2, false));
}

/// A server of no known protocol begins something, and is asked for it later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_any_server_gives_leads_back_to_what_was_issued() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = processes(&folder).await;
    let mut first = request(&one, "me").await;
    assert!(first.watch().is_none(), "nothing is noted where nothing was issued");
    first.learn(IdScope::Any);
    assert!(first.watch().is_none());
    first.issued(issued("815-60-8228", "536-22-8726"), Some(b""));
    assert!(first.watch().is_some());
    first.name("gm3qorzdhgbf");
    first.note();
    first.written().await;
    let poll = [ResourceReference { id: "gm3qorzdhgbf".to_owned(), role: ResourceRole::Reads }];
    for (caller, count) in [("me", 1), ("you", 0)] {
        let mut later = request(&other, caller).await;
        later.find(&poll).await;
        assert_eq!(later.restored().load().len(), count, "{caller}");
    }
}

/// Not one after the other, and those that come a moment later not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_one_caller_wait_together_for_a_store_that_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let clock: SharedClock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let (_, vault) = opened(&folder, &clock).await;
    let records =
        EmbeddedRecords::open(&folder.path().join("other"), SharedClock::clone(&clock)).await.unwrap();
    let silent = FaultyRecords::new(records, |_| Fault::Silent);
    let memory = Arc::new(Memory::new(Arc::new(silent), vault, clock));
    let all = futures_util::future::join_all((0..20).map(|_| request(&memory, "me")));
    assert!(tokio::time::timeout(Duration::from_secs(15), all).await.is_ok());
    let next = request(&memory, "me");
    assert!(tokio::time::timeout(Duration::from_secs(1), next).await.is_ok());
}
