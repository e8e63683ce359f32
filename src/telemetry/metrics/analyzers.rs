//! What analyzers are asked about texts, and what comes of it.

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec};

use super::error::MetricsError;
use super::family::{Families, LabelledMetric, LazyMetric, SECONDS};
use super::words::words;

words! {
    /// What an analyzer said of a text.
    pub enum AnalyzerAnswer {
        /// It answered.
        Answered => "answered",
        /// It had answered before.
        Remembered => "remembered",
        /// No answer that can be used.
        Failed => "failed",
        /// No answer in time.
        Timeout => "timeout",
    }
}

/// Analyzers by name.
pub(super) struct Analyzers {
    texts: IntCounterVec,
    seconds: HistogramVec,
}

impl Analyzers {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            texts: families.counters(
                "analyzer_texts_total",
                "Texts that an analyzer was to be asked about, by what came of it.",
                &["analyzer", "result"],
            )?,
            seconds: families.histograms(
                "analyzer_seconds",
                "How long an analyzer's answers about one text took.",
                &["analyzer"],
                SECONDS,
            )?,
        })
    }

    pub(super) fn of(&self, name: &str) -> AnalyzerMetrics {
        let (texts, of_texts) = (self.texts.clone(), name.to_owned());
        let (seconds, of_seconds) = (self.seconds.clone(), name.to_owned());
        AnalyzerMetrics {
            texts: LabelledMetric::new(move |result| texts.with_label_values(&[&of_texts, result])).shown(),
            seconds: LazyMetric::new(move || seconds.with_label_values(&[&of_seconds])),
        }
    }
}

/// One analyzer's metrics.
pub struct AnalyzerMetrics {
    /// Texts, by what came of asking.
    pub texts: LabelledMetric<AnalyzerAnswer, IntCounter>,
    seconds: LazyMetric<Histogram>,
}

impl AnalyzerMetrics {
    /// Records how long an answer took, in seconds.
    pub fn took(&self, seconds: f64) {
        self.seconds.get().observe(seconds);
    }
}
