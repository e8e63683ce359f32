//! What was issued in a request to a model is remembered until its answer comes, which another node may be asked about. Whoever
//! keeps it is handed in: nothing here knows a store.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::api::cpu::Caller;
use crate::redact::{Recall, RequestWords, SurrogateMap};

/// Remembers what was issued in calls of models.
pub trait IssuedMemory: Send + Sync + 'static {
    /// What is remembered of a caller, and of the call of this name; without a name nothing of one call.
    fn open<'a>(
        &'a self,
        caller: &'a Caller,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Box<dyn RememberedCall>>;
}

/// What is remembered of one call of a model.
pub trait RememberedCall: Send {
    /// What was issued before.
    fn recall(&self) -> Recall;

    /// What was issued in this call.
    fn issued(&self) -> Arc<SurrogateMap>;

    /// What its requests said, which its answer may repeat; takes what more they say.
    fn words(&self) -> RequestWords;

    /// This was issued, too, and its words are complete. When it returns, every node knows what was issued, and this one the words;
    /// what cannot be kept is logged, and not restored.
    fn keep(&mut self, issued: Arc<SurrogateMap>) -> BoxFuture<'_, ()>;
}
