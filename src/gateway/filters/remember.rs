//! What a route remembers of its requests, for the filter that redacts and restores: who calls, what the request goes on
//! with, and what its answer says of that.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use http::HeaderMap;
use pingora::http::ResponseHeader;

use crate::api::block_in_place;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::caller_identity::CallerIdentity;
use crate::gateway::filters::endpoint_events;
use crate::gateway::layer::{Factory, UnscannedPolicy};
use crate::gateway::llm::resources::IdScope;
use crate::gateway::llm::{is_mcp, resources};
use crate::gateway::media_type::{ContentFormat, DeclaredFormat, is_lines};
use crate::gateway::memory::{Memory, RequestMemory, RequestMemoryParts};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::redact::{AnswerEditor, SurrogateMap};
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// The header that names a session of MCP (specification 2025-06-18, "Session Management").
const SESSION: &str = "mcp-session-id";

/// Bodies longer than this are looked through while the thread's other tasks go on elsewhere, in bytes.
const LONG: usize = 64 << 10;

/// Fields of an answer that say where what it has begun is found.
const LOCATIONS: [&str; 2] = ["location", "operation-location"];

/// What a route remembers, and for how long.
#[derive(Clone)]
pub struct RememberPolicy {
    /// What is remembered.
    pub memory: Arc<Memory>,
    /// For how long.
    pub time: Duration,
}

fn session(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get(SESSION)?.to_str().ok()?.trim();
    (!id.is_empty() && id.len() <= 512).then_some(id)
}

/// What a message of MCP would be known by, were it sent to where an event of a stream says (specification of 2024-11-05).
fn endpoint(x: &Exchange) -> Option<String> {
    if !x.sends_body() || !x.protocol().is_some_and(is_mcp) {
        return None;
    }
    let target = match x.head().uri.query() {
        Some(query) => format!("{}?{query}", x.path().sent()),
        None => x.path().sent().to_owned(),
    };
    resources::of_endpoint(&target)
}

impl RememberPolicy {
    /// A request whose head no filter has changed yet. If its answer may be `restored`, what its head names is looked up;
    /// and then it is sent by ourselves, though it has no body, since what its answer says is to be kept before that ends.
    pub(super) async fn begin(&self, x: &mut Exchange, restored: bool, plan: &mut RequestPlan) {
        let mut names = resources::in_path(x.path(), scope(x));
        for asked in x.head().uri.query().map(resources::in_query).unwrap_or_default() {
            if names.named.iter().all(|named| named.id != asked.id) {
                names.named.push(asked);
            }
        }
        let session = session(&x.head().headers).map(str::to_owned).filter(|_| restored);
        let says_something = x.sends_body() || x.is_websocket();
        let awaits = restored && session.is_none() && endpoint_events::may_come(x);
        if !says_something && session.is_none() && names.named.is_empty() && !awaits {
            return;
        }
        let endpoint = endpoint(x).filter(|_| restored && session.is_none());
        let who = CallerIdentity::of(x).name();
        let parts = RequestMemoryParts {
            memory: Arc::clone(&self.memory),
            caller: self.memory.caller(who.iter().map(|part| part.as_slice())),
            route: x.route().name.clone(),
            remember: self.time,
        };
        let mut memory = RequestMemory::new(parts).await;
        if restored {
            match (&session, &endpoint) {
                (Some(id), _) => memory.of_session(id).await,
                (None, Some(id)) => memory.of_named_session(id).await,
                (None, None) => {}
            }
            if awaits {
                memory.awaits_session();
            }
            memory.find(&names.named).await;
            if let Some(named) = names.shared.as_ref().filter(|_| !x.is_websocket()) {
                memory.shares(named, x.sends_body());
            }
        }
        if !x.sends_body() {
            if names.kept.is_some_and(|kept| kept.applies(None)) || !names.named.is_empty() {
                memory.learn(scope(x));
            }
            if memory.is_of_session() || !memory.restored().load().is_empty() {
                plan.collect(x, 0);
            }
        }
        x.facts.memory = Some(Box::new(memory));
    }
}

/// The request's body is there: what it names is looked up.
pub(super) async fn find_in_body(x: &mut Exchange, body: &[u8]) {
    let scope = scope(x);
    let path = resources::in_path(x.path(), scope);
    let tasks = x.protocol().is_some_and(is_mcp);
    let Some(memory) = &mut x.facts.memory else { return };
    let body = if body.len() > LONG {
        block_in_place(|| resources::in_body(body, scope))
    } else {
        resources::in_body(body, scope)
    };
    memory.find(&body.named).await;
    // Whether a server of MCP makes a task of a call it alone knows; of others nobody knows what they keep.
    let unsaid = tasks || scope == IdScope::Any;
    if path.kept.map_or(unsaid, |kept| kept.applies(body.store)) {
        memory.learn(scope);
    }
}

/// Which ids of a request and its answer count: nobody knows what servers that speak no known protocol call them.
fn scope(x: &Exchange) -> IdScope {
    if x.protocol().is_some() { IdScope::Known } else { IdScope::Any }
}

/// Whether a head says that its body comes event by event, or document by document.
fn is_stream(headers: &HeaderMap) -> bool {
    let events = [ContentFormat::Events, ContentFormat::AmazonEventStream].map(DeclaredFormat::As);
    events.contains(&DeclaredFormat::of(headers)) || is_lines(headers)
}

/// This was issued in the request with this body; what is restored in its answer is that and what was before. What another
/// request of its session may need is kept before this one goes on.
pub(super) async fn issued(x: &mut Exchange, own: Arc<SurrogateMap>, body: &[u8]) -> Arc<SurrogateMap> {
    let Some(memory) = &mut x.facts.memory else { return own };
    let all = match memory.goes_on() && body.len() > LONG {
        true => block_in_place(|| memory.issued(own, Some(body))),
        false => memory.issued(own, Some(body)),
    };
    if memory.is_of_session() {
        memory.written().await;
    }
    all
}

/// What is restored in the answer, now and later; `None` where there is nothing and will be nothing.
pub(super) fn restored(x: &Exchange) -> Option<Arc<ArcSwap<SurrogateMap>>> {
    match &x.facts.memory {
        Some(memory) if memory.is_of_session() || !memory.restored().load().is_empty() => {
            Some(Arc::clone(memory.restored()))
        }
        _ => {
            let undo = x.facts.undo.clone().filter(|undo| !undo.is_empty());
            undo.map(|undo| Arc::new(ArcSwap::new(undo)))
        }
    }
}

/// The answer has come: ids in it name what was issued.
pub(super) async fn watch(x: &mut Exchange, head: &ResponseHeader, plan: &mut AnswerPlan) {
    let Some(memory) = &mut x.facts.memory else { return };
    memory.answered(is_stream(&head.headers)).await;
    if let Some(id) = session(&head.headers) {
        memory.name(id);
        memory.note();
    }
    if !head.status.is_success() {
        return;
    }
    if memory.learns() {
        let urls = LOCATIONS.iter().filter_map(|name| head.headers.get(*name)?.to_str().ok());
        let ids: Vec<&str> = urls.filter_map(resources::in_location).collect();
        if !ids.is_empty() {
            ids.into_iter().for_each(|id| memory.name(id));
            memory.note();
            memory.written().await;
        }
    }
    if let Some(layer) = memory.watch() {
        // Nothing is taken out.
        plan.rewrite(layer, UnscannedPolicy::Pass);
    }
}

/// Makes editors that go on with what is restored, where other requests add to that while the answer passes.
pub(super) fn following(
    x: &Exchange,
    restored: Arc<ArcSwap<SurrogateMap>>,
    make: Factory<dyn Editor>,
) -> Factory<dyn Editor> {
    if !x.facts.memory.as_ref().is_some_and(|memory| memory.is_of_session()) {
        return make;
    }
    let makers = EditorMakers::of(&make);
    Arc::new(move || {
        let (restored, known) = (Arc::clone(&restored), restored.load_full());
        Box::new(FollowingEditor::new(restored, known, makers.clone(), make()))
    })
}

/// Makes an editor of what is restored by then; `None` where none is needed.
type EditorMaker = Arc<dyn Fn() -> Option<Box<dyn Editor>> + Send + Sync>;

/// What the editors of a text are made by.
#[derive(Clone)]
struct EditorMakers {
    /// Makes those that do all that is done.
    editor: EditorMaker,
    /// Makes those that put back what was issued, and do nothing else.
    restorer: EditorMaker,
}

impl EditorMakers {
    /// Those of a layer whose editors are made so.
    fn of(make: &Factory<dyn Editor>) -> Self {
        let (whole, part) = (Arc::clone(make), Arc::clone(make));
        Self { editor: Arc::new(move || Some(whole())), restorer: Arc::new(move || part().restorer()) }
    }
}

/// An editor that is replaced, between two texts, by one that knows more.
struct FollowingEditor {
    restored: Arc<ArcSwap<SurrogateMap>>,
    known: Arc<SurrogateMap>,
    makers: EditorMakers,
    editor: Box<dyn Editor>,
    /// Whether it is within a text.
    begun: bool,
    used_as: TextUse,
}

impl FollowingEditor {
    /// Goes on from `editor`, to which so much is `known`.
    fn new(
        restored: Arc<ArcSwap<SurrogateMap>>,
        known: Arc<SurrogateMap>,
        makers: EditorMakers,
        editor: Box<dyn Editor>,
    ) -> Self {
        Self { restored, known, makers, editor, begun: false, used_as: TextUse::Text }
    }

    fn begin(&mut self) {
        let now = self.restored.load_full();
        if !self.begun
            && !Arc::ptr_eq(&now, &self.known)
            && let Some(editor) = (self.makers.editor)()
        {
            (self.known, self.editor) = (now, editor);
            self.editor.used_as(self.used_as);
        }
        self.begun = true;
    }
}

impl Editor for FollowingEditor {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.begin();
        self.editor.under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.used_as = text;
        self.editor.used_as(text);
    }

    fn unread(&mut self) {
        self.editor.unread();
    }

    fn comes_back_as(&self, given: &str, signed: &str) -> bool {
        self.editor.comes_back_as(given, signed)
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        self.editor.seal(text, signature)
    }

    fn restorer(&self) -> Option<Box<dyn Editor>> {
        let (restored, known) = (Arc::clone(&self.restored), self.restored.load_full());
        let make = &self.makers.restorer;
        // The editor at work knows all of it, unless more was issued meanwhile.
        let restorer = if Arc::ptr_eq(&known, &self.known) { self.editor.restorer() } else { make() };
        // Where nothing was issued yet, something may be.
        let restorer = restorer.unwrap_or_else(|| Box::new(AnswerEditor::restore(Arc::clone(&known))));
        let makers = EditorMakers { editor: Arc::clone(make), restorer: Arc::clone(make) };
        Some(Box::new(Self::new(restored, known, makers, restorer)))
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.begin();
        self.editor.feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.begun = false;
        self.editor.end(edits)
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.begin();
        self.begun = false;
        self.editor.last(piece, edits)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::edit::spliced_text;

    /// One surrogate and its original, as a file of them has it.
    fn issued_as(surrogate: &str, original: &str) -> Arc<SurrogateMap> {
        let mut bytes = vec![1, 0];
        for text in [surrogate, original] {
            bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Arc::new(SurrogateMap::from_bytes(&bytes).unwrap())
    }

    #[test]
    fn texts_have_what_was_issued_before_they_begin_and_no_editor_is_made_to_put_back() {
        for before in [Arc::new(SurrogateMap::nothing()), issued_as("604-23-1177", "536-22-8727")] {
            let restored = Arc::new(ArcSwap::new(before));
            let made = Arc::new(AtomicUsize::new(0));
            let (count, known) = (Arc::clone(&made), Arc::clone(&restored));
            let make: Factory<dyn Editor> = Arc::new(move || {
                count.fetch_add(1, Ordering::Relaxed);
                Box::new(AnswerEditor::restore(known.load_full()))
            });
            let (known, makers) = (restored.load_full(), EditorMakers::of(&make));
            let editor = FollowingEditor::new(Arc::clone(&restored), known, makers, make());
            let mut restorers: Vec<_> = (0..4).map(|_| editor.restorer().unwrap()).collect();
            assert_eq!(made.load(Ordering::Relaxed), 1);
            restored.store(issued_as("815-60-8228", "536-22-8726"));
            restorers.push(editor.restorer().unwrap());
            let text = "It is 815-60-8228, she said";
            for restorer in &mut restorers {
                let mut edits = Vec::new();
                restorer.last(text, &mut edits).unwrap();
                assert_eq!(spliced_text(text, &edits), "It is 536-22-8726, she said");
            }
        }
    }
}
