//! [`Series`]: what is counted, as plain data for code that does not know the exposition.

use prometheus::proto::{Metric, MetricFamily, MetricType};

/// One metric with one set of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The metric's name, with its prefix.
    pub name: String,
    /// Labels, by their names.
    pub labels: Vec<(String, String)>,
    /// What it is now.
    pub value: SeriesValue,
}

/// What a metric is now.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesValue {
    /// Of a counter or a gauge.
    Number(f64),
    /// Of a histogram: each bucket's upper bound, and how many observations were at most that, the bounds in ascending
    /// order; and how many there were at all.
    Histogram {
        /// The buckets.
        buckets: Vec<(f64, u64)>,
        /// All observations.
        count: u64,
    },
}

impl Series {
    /// The value of a label; empty without it.
    pub fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The series of these families.
    pub(super) fn of(families: &[MetricFamily]) -> Vec<Self> {
        let each = |family: &MetricFamily| {
            let (name, kind) = (family.name().to_owned(), family.get_field_type());
            let metrics = family.get_metric().iter();
            metrics
                .map(|metric| Self { name: name.clone(), labels: labels(metric), value: value(metric, kind) })
                .collect::<Vec<_>>()
        };
        families.iter().flat_map(each).collect()
    }
}

fn labels(metric: &Metric) -> Vec<(String, String)> {
    metric.get_label().iter().map(|pair| (pair.name().to_owned(), pair.value().to_owned())).collect()
}

fn value(metric: &Metric, kind: MetricType) -> SeriesValue {
    match kind {
        MetricType::COUNTER => SeriesValue::Number(metric.get_counter().get_value()),
        MetricType::HISTOGRAM => {
            let histogram = metric.get_histogram();
            let buckets = histogram.get_bucket().iter();
            SeriesValue::Histogram {
                buckets: buckets.map(|bucket| (bucket.upper_bound(), bucket.cumulative_count())).collect(),
                count: histogram.get_sample_count(),
            }
        }
        // There are no summaries and nothing untyped.
        MetricType::GAUGE | MetricType::SUMMARY | MetricType::UNTYPED => {
            SeriesValue::Number(metric.get_gauge().get_value())
        }
    }
}
