//! The place that work is done for, kept with the task: what is deep below a handler need not be handed it.

use std::future::Future;

use super::span::{Kind, Place, Span};

tokio::task_local! {
    static HERE: Place;
}

/// Does `work` for `place`. A task of its own is begun with `within(here(), …)`.
pub fn within<F: Future>(place: Place, work: F) -> impl Future<Output = F::Output> {
    HERE.scope(place, work)
}

/// The place that the running task works for; nowhere where nobody said.
pub fn here() -> Place {
    HERE.try_with(Clone::clone).unwrap_or_default()
}

/// Does `work` as a step with a span of its own, in which further steps hang.
pub async fn step<F: Future>(name: &'static str, work: F) -> F::Output {
    let span: Span = here().begin(name, Kind::Internal);
    within(span.place(), work).await
}
