//! [`Tracer`], [`TraceSpan`] and [`SpanContext`]. A span ends when it is dropped. One that is not sampled, or of no tracer, costs
//! next to nothing.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::context::{SpanId, TraceContext, TraceId};
use crate::base::clock::SharedClock;

/// Spans that wait to be sent, at the most; those beyond it are dropped and counted.
const WAITING: usize = 8192;

/// What a span is to whoever looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work of ours.
    Internal,
    /// A request that came.
    Server,
    /// A request that went.
    Client,
}

/// What a span says beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanWord {
    /// Of a closed list.
    Known(&'static str),
    /// A name that the configuration gives.
    Named(Arc<str>),
    /// A number.
    Number(u64),
}

/// A span that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Where it is in its trace.
    pub context: TraceContext,
    /// The span it is a child of.
    pub parent: Option<SpanId>,
    /// What was done.
    pub name: &'static str,
    /// What it is.
    pub kind: SpanKind,
    /// When it began, in nanoseconds since 1970.
    pub began: u64,
    /// How long it took.
    pub took: Duration,
    /// What else it says.
    pub words: Vec<(&'static str, SpanWord)>,
    /// Whether it failed.
    pub failed: bool,
}

/// The other end: spans that have ended.
pub struct Spans {
    ended: Receiver<Finished>,
    /// Those that are not done with.
    waiting: Arc<AtomicUsize>,
    given: usize,
}

impl Spans {
    /// The next batch: at most `most` spans, of which the first waits for `gather`. Whoever asks is done with the batch
    /// before. `None`: there will be no more.
    pub async fn batch(&mut self, most: usize, gather: Duration) -> Option<Vec<Finished>> {
        self.waiting.fetch_sub(std::mem::take(&mut self.given), Ordering::Release);
        let mut batch = vec![self.ended.recv().await?];
        let more = async {
            while batch.len() < most {
                let Some(span) = self.ended.recv().await else { break };
                batch.push(span);
            }
        };
        drop(tokio::time::timeout(gather, more).await);
        self.given = batch.len();
        Some(batch)
    }
}

struct Inner {
    clock: SharedClock,
    ends: Sender<Finished>,
    /// Traces whose id's last 64 bits are below it are recorded.
    below: u64,
    lost: Box<dyn Fn() + Send + Sync>,
    ids: Ids,
    waiting: Arc<AtomicUsize>,
}

/// Ids that differ from each other, and from those of other processes.
struct Ids {
    random: RandomState,
    count: AtomicU64,
}

impl Ids {
    fn next(&self) -> u64 {
        // Never zero, but for one in 2^64.
        self.random.hash_one(self.count.fetch_add(1, Ordering::Relaxed)).max(1)
    }
}

/// Makes the spans of requests.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Inner>>);

impl Tracer {
    /// One that records this share of the traces that begin here, 0 to 1; `lost` is called for each span that nobody took.
    pub fn new(share: f64, clock: SharedClock, lost: impl Fn() + Send + Sync + 'static) -> (Self, Spans) {
        let (ends, ended) = channel(WAITING);
        let waiting = Arc::new(AtomicUsize::new(0));
        let spans = Spans { ended, waiting: Arc::clone(&waiting), given: 0 };
        // As far as a float can say it.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let below = (share.clamp(0.0, 1.0) * u64::MAX as f64) as u64;
        let ids = Ids { random: RandomState::new(), count: AtomicU64::new(0) };
        (Self(Some(Arc::new(Inner { clock, ends, below, lost: Box::new(lost), ids, waiting }))), spans)
    }

    /// Whether spans are made.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Waits until all that have ended are done with.
    pub async fn sent(&self) {
        let Some(inner) = &self.0 else { return };
        while inner.waiting.load(Ordering::Acquire) > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The span of a request. In somebody's trace it is recorded if that is; else this tracer decides.
    pub fn request(&self, parent: Option<TraceContext>) -> TraceSpan {
        let Some(inner) = &self.0 else { return TraceSpan::default() };
        let trace = parent.map_or_else(
            || TraceId((u128::from(inner.ids.next()) << 64) | u128::from(inner.ids.next())),
            |parent| parent.trace,
        );
        #[expect(clippy::cast_possible_truncation, reason = "the last 64 bits are meant")]
        let sampled = parent.map_or_else(|| (trace.0 as u64) < inner.below, |parent| parent.sampled);
        // What is not recorded has no span of ours: the next one is a child of the caller's.
        let span = match parent {
            Some(parent) if !sampled => parent.span,
            _ => SpanId(inner.ids.next()),
        };
        let context = TraceContext { trace, span, sampled };
        TraceSpan::begin(
            Arc::clone(inner),
            context,
            parent.map(|parent| parent.span),
            "request",
            SpanKind::Server,
        )
    }
}

/// Where in a trace further spans hang; the default is nowhere.
#[derive(Clone, Default)]
pub struct SpanContext(Option<(Arc<Inner>, TraceContext)>);

impl SpanContext {
    /// Begins a span here.
    pub fn begin(&self, name: &'static str, kind: SpanKind) -> TraceSpan {
        let Some((inner, at)) = &self.0 else { return TraceSpan::default() };
        if !at.sampled {
            return TraceSpan { place: self.clone(), open: None };
        }
        let context = TraceContext { span: SpanId(inner.ids.next()), ..*at };
        TraceSpan::begin(Arc::clone(inner), context, Some(at.span), name, kind)
    }

    /// What to tell the next hop.
    pub fn context(&self) -> Option<TraceContext> {
        self.0.as_ref().map(|(_, context)| *context)
    }
}

/// Work under way.
#[derive(Default)]
pub struct TraceSpan {
    place: SpanContext,
    open: Option<Open>,
}

struct Open {
    started: Instant,
    span: Finished,
}

impl TraceSpan {
    fn begin(
        inner: Arc<Inner>,
        context: TraceContext,
        parent: Option<SpanId>,
        name: &'static str,
        kind: SpanKind,
    ) -> Self {
        let open = context.sampled.then(|| {
            let began = inner.clock.now().as_millis().saturating_mul(1_000_000);
            let took = Duration::ZERO;
            let span =
                Finished { context, parent, name, kind, began, took, words: Vec::new(), failed: false };
            Open { started: inner.clock.instant(), span }
        });
        Self { place: SpanContext(Some((inner, context))), open }
    }

    /// Where its children hang.
    pub fn place(&self) -> SpanContext {
        self.place.clone()
    }

    /// Whether it is recorded: words that cost something need not be said otherwise.
    pub fn is_recorded(&self) -> bool {
        self.open.is_some()
    }

    /// Says something.
    pub fn say(&mut self, name: &'static str, word: SpanWord) {
        if let Some(open) = &mut self.open {
            open.span.words.push((name, word));
        }
    }

    /// It failed, in a word of a closed list.
    pub fn fail(&mut self, why: &'static str) {
        self.say("error.type", SpanWord::Known(why));
        if let Some(open) = &mut self.open {
            open.span.failed = true;
        }
    }
}

impl Drop for TraceSpan {
    fn drop(&mut self) {
        let (Some(Open { started, mut span }), SpanContext(Some((inner, _)))) =
            (self.open.take(), &self.place)
        else {
            return;
        };
        span.took = inner.clock.instant().duration_since(started);
        inner.waiting.fetch_add(1, Ordering::Relaxed);
        if inner.ends.try_send(span).is_err() {
            inner.waiting.fetch_sub(1, Ordering::Release);
            (inner.lost)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{FixedClock, Timestamp};

    fn tracer(share: f64) -> (Tracer, Spans, Arc<AtomicUsize>) {
        let lost = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&lost);
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1000)));
        let (tracer, spans) = Tracer::new(share, clock, move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        (tracer, spans, lost)
    }

    #[test]
    fn children_hang_where_they_were_begun() {
        let (tracer, mut spans, _) = tracer(1.0);
        let mut request = tracer.request(None);
        request.fail("timeout");
        let step = request.place().begin("step", SpanKind::Internal);
        let inner = step.place().begin("inner", SpanKind::Client);
        let ids = [&request, &step, &inner].map(|span| span.place().context().unwrap());
        drop((inner, step, request));
        let ended: Vec<Finished> = std::iter::from_fn(|| spans.ended.try_recv().ok()).collect();
        let names: Vec<_> = ended.iter().map(|span| (span.name, span.parent, span.failed)).collect();
        assert_eq!(
            names,
            [
                ("inner", Some(ids[1].span), false),
                ("step", Some(ids[0].span), false),
                ("request", None, true)
            ]
        );
        assert!(ended.iter().all(|span| span.context.trace == ids[0].trace && span.began == 1_000_000_000));
    }

    #[test]
    fn a_callers_decision_holds_and_else_the_share() {
        let parent = |sampled| TraceContext { trace: TraceId(7), span: SpanId(9), sampled };
        let (none, mut spans, _) = tracer(0.0);
        assert!(!none.request(None).is_recorded());
        assert!(none.request(Some(parent(true))).is_recorded());
        let ended = spans.ended.try_recv().unwrap();
        assert_eq!((ended.context.trace, ended.parent), (TraceId(7), Some(SpanId(9))));
        let (all, mut spans, _) = tracer(1.0);
        let unseen = all.request(Some(parent(false)));
        assert_eq!(unseen.place().begin("x", SpanKind::Client).place().context(), Some(parent(false)));
        drop(unseen);
        assert!(spans.ended.try_recv().is_err());
        let (some, _spans, _) = tracer(0.25);
        let taken = (0..4000).filter(|_| some.request(None).is_recorded()).count();
        assert!((800..1200).contains(&taken), "{taken}");
    }

    #[test]
    fn what_nobody_takes_is_counted_and_held_back_nowhere() {
        let (tracer, spans, lost) = tracer(1.0);
        (0..WAITING + 5).for_each(|_| drop(tracer.request(None)));
        assert_eq!(lost.load(Ordering::Relaxed), 5);
        drop(spans);
        drop(Tracer::default().request(None).place().begin("x", SpanKind::Internal));
    }
}
