//! How metrics are registered, and [`LabelledMetric`]: one metric for each word of a label.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use prometheus::core::Collector;
use prometheus::{
    Counter, CounterVec, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry,
};

use super::error::MetricsError;
use super::words::LabelValue;

/// Buckets of durations, in seconds: half a millisecond to two minutes.
pub(super) const SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

type MetricResult<T> = Result<T, MetricsError>;

/// Registers metrics; `name` without the prefix that all of ours have.
pub(super) struct Families<'a>(pub(super) &'a Registry);

impl Families<'_> {
    fn keep<C: Collector + Clone + 'static>(&self, made: C) -> MetricResult<C> {
        self.0.register(Box::new(made.clone()))?;
        Ok(made)
    }

    pub(super) fn counter(&self, name: &str, help: &str) -> MetricResult<IntCounter> {
        self.keep(IntCounter::new(ours(name), help)?)
    }

    pub(super) fn counters(&self, name: &str, help: &str, labels: &[&str]) -> MetricResult<IntCounterVec> {
        self.keep(IntCounterVec::new(Opts::new(ours(name), help), labels)?)
    }

    /// Sums that are no whole numbers.
    pub(super) fn amounts(&self, name: &str, help: &str, labels: &[&str]) -> MetricResult<CounterVec> {
        self.keep(CounterVec::new(Opts::new(ours(name), help), labels)?)
    }

    pub(super) fn gauge(&self, name: &str, help: &str) -> MetricResult<IntGauge> {
        self.keep(IntGauge::new(ours(name), help)?)
    }

    pub(super) fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> MetricResult<IntGaugeVec> {
        self.keep(IntGaugeVec::new(Opts::new(ours(name), help), labels)?)
    }

    pub(super) fn histogram(&self, name: &str, help: &str, buckets: &[f64]) -> MetricResult<Histogram> {
        self.keep(Histogram::with_opts(HistogramOpts::new(ours(name), help).buckets(buckets.to_vec()))?)
    }

    pub(super) fn histograms(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        buckets: &[f64],
    ) -> MetricResult<HistogramVec> {
        let options = HistogramOpts::new(ours(name), help).buckets(buckets.to_vec());
        self.keep(HistogramVec::new(options, labels)?)
    }

    /// A counter under a name that is not of our own choice.
    pub(super) fn foreign_counter(&self, name: &str, help: &str) -> MetricResult<Counter> {
        self.keep(Counter::new(name, help)?)
    }

    /// A gauge under a name that is not of our own choice.
    pub(super) fn foreign(&self, name: &str, help: &str) -> MetricResult<Gauge> {
        self.keep(Gauge::new(name, help)?)
    }
}

fn ours(name: &str) -> String {
    format!("portcullis_{name}")
}

/// A metric that is shown from its first event on: there are thousands of places where something could be counted, and
/// few where it ever is.
pub(super) struct LazyMetric<M> {
    made: OnceLock<M>,
    make: Box<dyn Fn() -> M + Send + Sync>,
}

impl<M> LazyMetric<M> {
    pub(super) fn new(make: impl Fn() -> M + Send + Sync + 'static) -> Self {
        Self { made: OnceLock::new(), make: Box::new(make) }
    }

    /// The metric, which is shown from now on.
    pub(super) fn get(&self) -> &M {
        self.made.get_or_init(&self.make)
    }
}

/// One metric for each word of a label.
pub struct LabelledMetric<W, M> {
    metrics: Arc<[LazyMetric<M>]>,
    words: PhantomData<fn(W)>,
}

impl<W, M> Clone for LabelledMetric<W, M> {
    fn clone(&self) -> Self {
        Self { metrics: Arc::clone(&self.metrics), words: PhantomData }
    }
}

impl<W: LabelValue, M> LabelledMetric<W, M> {
    /// Each is shown from its first event on.
    pub(super) fn new(make: impl Fn(&'static str) -> M + Clone + Send + Sync + 'static) -> Self {
        let late = |word: &W| {
            let (make, word) = (make.clone(), word.word());
            LazyMetric::new(move || make(word))
        };
        Self { metrics: W::ALL.iter().map(late).collect(), words: PhantomData }
    }

    /// All are shown from the beginning: a counter that appears with its first event hides that event from rates, so
    /// this is for what alerts look at.
    #[must_use]
    pub(super) fn shown(self) -> Self {
        W::ALL.iter().for_each(|word| self.show(*word));
        self
    }

    /// This one is shown from now on.
    pub(super) fn show(&self, word: W) {
        self.with(word, |_| ());
    }

    pub(super) fn with(&self, word: W, act: impl FnOnce(&M)) {
        if let Some(metric) = self.metrics.get(word.index()) {
            act(metric.get());
        }
    }
}

impl<W: LabelValue> LabelledMetric<W, IntCounter> {
    /// Counts one.
    pub fn inc(&self, word: W) {
        self.add(word, 1);
    }

    /// Counts `n`.
    pub fn add(&self, word: W, n: u64) {
        self.with(word, |counter| counter.inc_by(n));
    }
}

impl<W: LabelValue> LabelledMetric<W, IntGauge> {
    /// Is so many now.
    pub fn set(&self, word: W, value: usize) {
        self.with(word, |gauge| gauge.set(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    /// One more, until what comes back is dropped.
    pub fn during(&self, word: W) -> GaugeGuard {
        let gauge = self.metrics.get(word.index()).map(|gauge| gauge.get().clone());
        if let Some(gauge) = &gauge {
            gauge.inc();
        }
        GaugeGuard(gauge)
    }
}

/// Something under way that a gauge counts.
#[must_use]
pub struct GaugeGuard(Option<IntGauge>);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        if let Some(gauge) = &self.0 {
            gauge.dec();
        }
    }
}

impl<W: LabelValue> LabelledMetric<W, Histogram> {
    /// Records a value.
    pub fn observe(&self, word: W, value: f64) {
        self.with(word, |histogram| histogram.observe(value));
    }
}
