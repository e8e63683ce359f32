//! The place that work is done for, kept with the task: what is deep below a handler need not be handed it.

use std::future::Future;

use futures_util::future::BoxFuture;

use super::span::{SpanContext, SpanKind};

tokio::task_local! {
    static HERE: SpanContext;
}

// Futures are boxed on purpose: wrapped as they are, futures within futures take the compiler minutes to prove that they
// can be sent.

/// Does `work` for `place`. A task of its own is begun with `within(here(), …)`.
pub fn within<'a, T: 'a>(place: SpanContext, work: impl Future<Output = T> + Send + 'a) -> BoxFuture<'a, T> {
    let work: BoxFuture<'a, T> = Box::pin(work);
    Box::pin(HERE.scope(place, work))
}

/// The place that the running task works for; nowhere where nobody said.
pub fn here() -> SpanContext {
    HERE.try_with(Clone::clone).unwrap_or_default()
}

/// Does `work` as a step with a span of its own, in which further steps hang.
pub fn step<'a, T: Send + 'a>(
    name: &'static str,
    work: impl Future<Output = T> + Send + 'a,
) -> BoxFuture<'a, T> {
    let work: BoxFuture<'a, T> = Box::pin(work);
    Box::pin(async move {
        let span = here().begin(name, SpanKind::Internal);
        within(span.place(), work).await
    })
}
