//! [`CallMemory`]: what a route remembers of calls about which other gateways ask it: by their names, from a request to its answer.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::api::Caller;
use crate::api::guardrail::{IssuedMemory, RememberedCall};
use crate::gateway::llm::resources::{ResourceReference, ResourceRole};
use crate::gateway::memory::caller::{CallerId, name_of};
use crate::gateway::memory::request::{RequestMemory, RequestMemoryParts};
use crate::gateway::memory::service::Memory;
use crate::redact::{Recall, RequestWords, SurrogateMap};

/// What a route remembers of calls.
pub struct CallMemory {
    /// What is remembered.
    pub memory: Arc<Memory>,
    /// The route's name.
    pub route: String,
    /// For how long.
    pub remember: Duration,
}

impl Memory {
    /// Whoever calls an endpoint of ours: with a token or from an address it is who it is on every other route.
    pub fn caller_of_ours(&self, caller: &Caller) -> CallerId {
        match caller {
            Caller::Token(id) => self.caller([b"token".as_slice(), id.to_string().as_bytes()]),
            Caller::Address(Some(address)) => {
                self.caller([b"address".as_slice(), address.to_string().as_bytes()])
            }
            Caller::Address(None) => self.caller([b"address".as_slice()]),
            Caller::Certificate(subject) => self.caller([b"certificate by digest".as_slice(), subject]),
            Caller::Own => self.caller([b"own".as_slice()]),
        }
    }
}

impl IssuedMemory for CallMemory {
    fn open<'a>(
        &'a self,
        caller: &'a Caller,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Box<dyn RememberedCall>> {
        let open = async move {
            let caller = self.memory.caller_of_ours(caller);
            // Its digest is as long whatever a caller names.
            let parts = [caller.as_str(), self.route.as_str()].into_iter().chain(name);
            let named = name.map(|_| name_of(b"words", parts.map(str::as_bytes)));
            let parts = RequestMemoryParts {
                memory: Arc::clone(&self.memory),
                caller,
                route: self.route.clone(),
                remember: self.remember,
            };
            let mut memory = RequestMemory::new(parts).await;
            if let Some(name) = name {
                memory
                    .find(&[ResourceReference { id: name.to_owned(), role: ResourceRole::Continues }])
                    .await;
            }
            let words = named.as_ref().and_then(|named| self.memory.words.find(named)).unwrap_or_default();
            let all = Arc::clone(&self.memory);
            Box::new(NamedCall { memory, words, named, all, remember: self.remember })
                as Box<dyn RememberedCall>
        };
        open.boxed()
    }
}

/// One call.
struct NamedCall {
    memory: RequestMemory,
    words: RequestWords,
    /// What its words are known by, where it has a name.
    named: Option<String>,
    all: Arc<Memory>,
    remember: Duration,
}

impl RememberedCall for NamedCall {
    fn recall(&self) -> Recall {
        self.memory.recall()
    }

    fn issued(&self) -> Arc<SurrogateMap> {
        self.memory.restored().load_full()
    }

    fn words(&self) -> RequestWords {
        self.words.clone()
    }

    fn keep(&mut self, issued: Arc<SurrogateMap>) -> BoxFuture<'_, ()> {
        if let Some(named) = &self.named {
            self.all.words.keep(named, self.words.clone(), self.remember);
        }
        let keep = async move {
            if !issued.is_empty() {
                drop(self.memory.issued(issued, None));
                self.memory.written().await;
            }
        };
        keep.boxed()
    }
}
