//! [`RequestMemory`]: what one request has to do with what is remembered. Found before its body is rewritten; added to
//! beside its answer, and there before that ends.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinHandle;

use crate::gateway::layer::Layer;
use crate::gateway::llm::resources::{IdScope, ResourceReference, ResourceRole};
use crate::gateway::memory::caller::{CallerId, TARGET};
use crate::gateway::memory::issued::{Conversation, Owner};
use crate::gateway::memory::seen_ids::SeenIds;
use crate::gateway::memory::service::Memory;
use crate::redact::{Recall, SurrogateMap};
use crate::vault::VaultError;

/// How long the end of an answer waits for what it has taught us to be kept; it goes on being written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// How often the store is asked at the most what other processes have issued in a session while an answer passes.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How much of what is remembered one request reads, in bytes of values: about as much as one may issue.
const MOST_LOADED: usize = 16 << 20;

/// What it is made from.
pub struct RequestMemoryParts {
    /// What is remembered.
    pub memory: Arc<Memory>,
    /// Who sends the request.
    pub caller: CallerId,
    /// The name of its route.
    pub route: String,
    /// For how long.
    pub remember: Duration,
}

/// How a request is part of a session that its path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SharedPart {
    /// It only reads: what it is answered with is of other requests.
    Reads,
    /// It says something itself.
    Says,
}

/// When it was asked last what was issued in a session.
struct AskedAt {
    /// The time.
    at: Instant,
    /// Of that time: how often something was issued there, or it got another name, in this process.
    changes: u64,
}

/// What one request has to do with what is remembered.
pub struct RequestMemory {
    memory: Arc<Memory>,
    owner: Owner,
    recall: Recall,
    /// The ids that go on naming its conversation.
    continues: Vec<String>,
    /// The session that it is part of, whose other requests add to it while its answer passes; nothing is in it while only
    /// that answer can say which.
    session: Option<Arc<OnceLock<String>>>,
    /// Whether that session has the name that the answer has for it.
    joined: bool,
    /// Whether its path names that session: then only a stream goes on to learn, and without a body none need have issued
    /// anything yet.
    shared: Option<SharedPart>,
    /// Which ids in its answer name its conversation.
    learned: IdScope,
    seen: SeenIds,
    /// What was found, by the ids that have named it, as it was then.
    found: HashMap<String, Conversation>,
    asked: Option<AskedAt>,
    /// What is restored in its answer.
    restored: Arc<ArcSwap<SurrogateMap>>,
    /// What was issued in the request itself.
    own: Arc<SurrogateMap>,
    conversation: Arc<AsyncMutex<Option<Conversation>>>,
    /// Bytes of values that were read, all together.
    loaded: usize,
    /// What it only reads.
    reads: Vec<Conversation>,
    /// Under way since before the answer came.
    writes: Vec<JoinHandle<()>>,
    /// Under way for what a piece of the answer has taught.
    noted: Vec<JoinHandle<()>>,
}

impl RequestMemory {
    /// Of a request of which nothing is known yet.
    pub async fn new(parts: RequestMemoryParts) -> Self {
        let RequestMemoryParts { memory, caller, route, remember } = parts;
        memory.refresh(&caller).await;
        let owner = Owner { caller, route, remember };
        let recall = Recall { caller: Some(Arc::new(memory.digests(&owner))), conversation: None };
        let nothing = Arc::new(SurrogateMap::nothing());
        Self {
            memory,
            owner,
            recall,
            continues: Vec::new(),
            session: None,
            joined: false,
            shared: None,
            learned: IdScope::None,
            seen: SeenIds::default(),
            found: HashMap::new(),
            asked: None,
            restored: Arc::new(ArcSwap::new(Arc::clone(&nothing))),
            own: nothing,
            conversation: Arc::default(),
            loaded: 0,
            reads: Vec::new(),
            writes: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// What was issued before.
    pub fn recall(&self) -> Recall {
        self.recall.clone()
    }

    /// It is part of this session.
    pub async fn of_session(&mut self, id: &str) {
        self.session = Some(Arc::new(OnceLock::from(id.to_owned())));
        self.joined = true;
        self.find(&[ResourceReference { id: id.to_owned(), role: ResourceRole::Continues }]).await;
    }

    /// It is part of this session, if the answer to another request has named one so.
    pub async fn of_named_session(&mut self, id: &str) {
        self.of_session(id).await;
        if self.conversation.lock().await.is_none() {
            self.session = None;
            self.continues.retain(|known| known != id);
        }
    }

    /// Its path names something that other requests are at work in while its answer passes; `says` is whether it has a body.
    pub fn shares(&mut self, named: &ResourceReference, says: bool) {
        let ResourceReference { id, role } = named;
        let known = *role != ResourceRole::ContinuesIfKnown || self.found.contains_key(id);
        if self.session.is_none() && known {
            self.session = Some(Arc::new(OnceLock::from(id.clone())));
            self.joined = true;
            self.shared = Some(if says { SharedPart::Says } else { SharedPart::Reads });
        }
    }

    /// Its answer begins, which may have been awaited for long: what other requests have issued meanwhile is restored in it, and
    /// what they are about to only where it is a stream.
    pub async fn answered(&mut self, is_stream: bool) {
        self.before_piece().await;
        if self.shared.is_some() && !is_stream {
            (self.session, self.shared) = (None, None);
        }
    }

    /// Its answer may say which session it is part of: there.
    pub fn awaits_session(&mut self) {
        self.session = Some(Arc::default());
    }

    /// Where its answer says which session it is part of, if it may.
    pub fn awaited_session(&self) -> Option<Arc<OnceLock<String>>> {
        self.session.clone().filter(|_| !self.joined)
    }

    /// Whether it is part of a session, of which something may be restored in its answer.
    pub fn is_of_session(&self) -> bool {
        let silent = self.shared == Some(SharedPart::Says) && self.restored.load().is_empty();
        self.session.is_some() && !silent
    }

    /// It names these: what was issued there may be restored in its answer.
    pub async fn find(&mut self, named: &[ResourceReference]) {
        let mut earlier: Option<Arc<SurrogateMap>> = self.recall.conversation.take();
        let mut conversation = self.conversation.lock().await;
        for ResourceReference { id, role } in named {
            if *role == ResourceRole::Continues && !self.continues.contains(id) {
                self.continues.push(id.clone());
            }
            if self.loaded > MOST_LOADED {
                // What is left out is not restored.
                continue;
            }
            let found = match self.memory.issued.find(&self.owner, id).await {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(error) => {
                    tracing::warn!(target: TARGET, "what was issued in a conversation cannot be read: {error}");
                    continue;
                }
            };
            self.loaded += found.issued.size();
            self.found.insert(id.clone(), found.clone());
            if *role == ResourceRole::ContinuesIfKnown && !self.continues.contains(id) {
                self.continues.push(id.clone());
            }
            earlier = Some(match earlier {
                None => Arc::clone(&found.issued),
                Some(earlier) if earlier.covers(&found.issued) => earlier,
                Some(earlier) => Arc::new(earlier.with_earlier(&found.issued)),
            });
            // What it goes on with is the one that grows; what it only reads stays as it is.
            match role {
                ResourceRole::Reads => self.reads.push(found),
                _ if conversation.is_none() => *conversation = Some(found),
                _ => {}
            }
        }
        drop(conversation);
        if let Some(earlier) = &earlier {
            self.restored.store(Arc::clone(earlier));
        }
        self.recall.conversation = earlier;
    }

    /// These ids in its answer name its conversation.
    pub fn learn(&mut self, which: IdScope) {
        self.learned = which;
    }

    /// Whether ids in its answer name its conversation.
    pub fn learns(&self) -> bool {
        self.learned != IdScope::None
    }

    /// Whether something was issued before in what it goes on with.
    pub fn goes_on(&self) -> bool {
        self.recall.conversation.is_some()
    }

    /// This was issued in the request with this body, if it is known. Returns all that is to be restored in its answer.
    pub fn issued(&mut self, own: Arc<SurrogateMap>, body: Option<&[u8]>) -> Arc<SurrogateMap> {
        let all = match &self.recall.conversation {
            None => Arc::clone(&own),
            Some(earlier) => {
                let earlier = body.map_or_else(|| earlier.without_parts(), |body| earlier.beside(body));
                Arc::new(own.with_earlier(&earlier))
            }
        };
        self.own = own;
        self.restored.store(Arc::clone(&all));
        self.flush();
        let write = self.write(self.continues.clone());
        self.writes.extend(write);
        all
    }

    /// What is restored in its answer; it may become more while that passes.
    pub fn restored(&self) -> &Arc<ArcSwap<SurrogateMap>> {
        &self.restored
    }

    /// The layer that notes ids in its answer; `None` where they name nothing, or nothing is to be found by them.
    pub fn watch(&self) -> Option<Layer> {
        let names = self.learned != IdScope::None || !self.continues.is_empty();
        let some = !self.restored.load().is_empty();
        (names && some).then(|| self.seen.layer(self.learned))
    }

    /// This id names its conversation from now on.
    pub fn name(&self, id: &str) {
        self.seen.add(id);
    }

    /// A piece of its answer is about to leave: what that teaches is written meanwhile, and before the last one leaves. Which
    /// session it is part of is written before the caller knows it, and goes on with it.
    pub async fn after_piece(&mut self, last: bool) {
        self.note();
        if self.join().await || last {
            self.written().await;
        }
    }

    /// Begins to write what its answer has said of its session; whether it has just done so.
    async fn join(&mut self) -> bool {
        let named = self.session.as_ref().and_then(|session| session.get().cloned());
        let Some(id) = named.filter(|_| !self.joined) else { return false };
        self.joined = true;
        self.find(&[ResourceReference { id: id.clone(), role: ResourceRole::Continues }]).await;
        let write = self.begin_write(vec![id]);
        self.noted.push(write);
        true
    }

    /// Begins to write what the answer has taught us so far.
    pub fn note(&mut self) {
        let ids = self.seen.take();
        if !ids.is_empty() {
            let write = self.write(ids);
            self.noted.extend(write);
        }
    }

    /// Begins to write the conversation, which has these ids.
    fn write(&self, ids: Vec<String>) -> Option<JoinHandle<()>> {
        let some = !ids.is_empty() && !self.restored.load().is_empty();
        some.then(|| self.begin_write(ids))
    }

    fn begin_write(&self, ids: Vec<String>) -> JoinHandle<()> {
        let restored = self.restored.load_full();
        let (memory, owner) = (Arc::clone(&self.memory), self.owner.clone());
        let conversation = Arc::clone(&self.conversation);
        let whole = self.reads.iter().find(|read| read.issued.covers(&restored)).cloned();
        tokio::spawn(async move {
            let mut conversation = conversation.lock().await;
            if conversation.is_none() {
                // Nothing was added to what it reads: that goes on under more names.
                *conversation = whole;
            }
            match kept(&memory, &owner, &mut conversation, &restored, &ids).await {
                Ok(rows) => memory.written(&owner.caller, rows).await,
                Err(error) => {
                    tracing::warn!(target: TARGET, "what was issued in a conversation is not kept: {error}");
                }
            }
        })
    }

    /// Begins to write which surrogates the caller has had, where that is in no row yet. Nobody waits for it: this process
    /// knows them already.
    pub fn flush(&self) {
        if self.memory.is_unwritten(&self.owner.caller) {
            let (memory, caller) = (Arc::clone(&self.memory), self.owner.caller.clone());
            drop(tokio::spawn(async move { memory.write(&caller).await }));
        }
    }

    /// Waits until what was begun is written, for a moment at the most.
    pub async fn written(&mut self) {
        self.noted.append(&mut self.writes);
        await_all(&mut self.noted).await;
    }

    /// Before a piece of its answer passes: what the piece before has taught is kept, and what other requests of its
    /// session have added meanwhile is restored in this one.
    pub async fn before_piece(&mut self) {
        await_all(&mut self.noted).await;
        if !self.is_of_session() {
            return;
        }
        let Some(session) = self.session.as_ref().and_then(|session| session.get()) else { return };
        // A write that takes longer has it still: what it adds this process knows already.
        let Ok(mut conversation) = self.conversation.try_lock() else { return };
        let named = self.found.get(session);
        // What it goes on with may be another one than its session.
        let own = conversation.as_ref().filter(|own| named.is_some_and(|named| named.is_same(own)));
        let known = own.or(named);
        let now = self.memory.issued.now();
        let changes = self.memory.issued.changes(&self.owner, session, known);
        let just = |asked: &AskedAt| asked.changes == changes && now < asked.at + ASK_EVERY;
        if self.asked.as_ref().is_some_and(just) {
            return;
        }
        self.asked = Some(AskedAt { at: now, changes });
        let found = match self.memory.issued.find_newer(&self.owner, session, known).await {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(target: TARGET, "what was issued in a session cannot be read: {error}");
                return;
            }
        };
        let is_own = conversation.as_ref().is_none_or(|own| own.is_same(&found));
        if conversation.as_ref().is_none_or(|own| !own.is_as_new(&found)) {
            let all = match &self.recall.conversation {
                Some(earlier) if !found.issued.covers(earlier) => {
                    Arc::new(found.issued.with_earlier(earlier))
                }
                _ => Arc::clone(&found.issued),
            };
            // What else the texts have that it was issued for is not known.
            self.restored.store(Arc::new(self.own.with_earlier(&all.without_parts())));
        }
        if is_own {
            *conversation = Some(found.clone());
        }
        self.found.insert(session.clone(), found);
    }
}

async fn await_all(writes: &mut Vec<JoinHandle<()>>) {
    let all = async {
        for write in std::mem::take(writes) {
            // One that has failed has said so.
            drop(write.await);
        }
    };
    if tokio::time::timeout(WRITE_TIMEOUT, all).await.is_err() {
        tracing::warn!(target: TARGET, "what was issued is not kept yet: the store takes long");
    }
}

/// Keeps what was issued under these ids; returns how many rows were written.
async fn kept(
    memory: &Memory,
    owner: &Owner,
    conversation: &mut Option<Conversation>,
    issued: &SurrogateMap,
    ids: &[String],
) -> Result<u32, VaultError> {
    let mut rows = 0;
    let conversation = match conversation {
        Some(known) => known,
        none => none.insert(Conversation::new()?),
    };
    rows += u32::from(memory.issued.add(owner, conversation, issued).await?);
    for id in ids {
        rows += u32::from(memory.issued.call(owner, id, conversation).await?);
    }
    Ok(rows)
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
