//! [`Windows`]: percentiles over the ranges of time that the page offers. Those of single samples cannot be put together, so what
//! was observed until each look is kept.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::console::live::group::{Figure, GROUPS, MetricGroup};
use crate::console::live::quantile::BucketCounts;
use crate::console::live::reading::observed;
use crate::console::live::track::KEPT;
use crate::telemetry::Series;

/// How much the page can show: samples, and what that is called.
pub(super) const RANGES: [(usize, &str); 3] = [(60, "5 min"), (180, "15 min"), (720, "1 hour")];

/// What was observed in all until a look, for each group of percentiles.
#[derive(Debug, PartialEq)]
struct PercentileSnapshot(Vec<(BucketCounts, Vec<f64>)>);

/// What was observed in all until each look of the last hour, the oldest first. Looks between which nothing came are one.
#[derive(Default)]
pub(super) struct Windows(VecDeque<Arc<PercentileSnapshot>>);

fn groups() -> impl Iterator<Item = &'static MetricGroup> {
    GROUPS.iter().filter(|group| group.figure == Figure::Percentiles)
}

impl Windows {
    /// Adds a look.
    pub(super) fn add(&mut self, series: &[Series]) {
        let look = PercentileSnapshot(groups().map(|group| observed(group, series)).collect());
        let look = match self.0.back() {
            Some(last) if **last == look => Arc::clone(last),
            _ => Arc::new(look),
        };
        self.0.push_back(look);
        // One more than samples: what was before the first of them is taken off.
        if self.0.len() > KEPT + 1 {
            self.0.pop_front();
        }
    }

    /// The 95th percentile of each group over each range; the groups that have none are left out.
    pub(super) fn figures(&self) -> Value {
        let ranges = RANGES.iter().map(|(samples, _)| (samples.to_string(), self.over(*samples)));
        Value::Object(ranges.collect())
    }

    fn over(&self, samples: usize) -> Value {
        let Some(last) = self.0.back() else { return json!({}) };
        let before = self.0.len().checked_sub(samples + 1).and_then(|place| self.0.get(place));
        let nothing = BucketCounts::default();
        let mut found = Map::new();
        for (place, (group, (now, bounds))) in groups().zip(&last.0).enumerate() {
            let then = before.and_then(|look| look.0.get(place)).map_or(&nothing, |(observed, _)| observed);
            if let Some(value) = now.since(then).quantile(0.95, bounds) {
                found.insert(group.name.to_owned(), value.into());
            }
        }
        Value::Object(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::SeriesValue;

    fn took(fast: u64, slow: u64) -> Vec<Series> {
        let value =
            SeriesValue::Histogram { buckets: vec![(0.1, fast), (1.0, fast + slow)], count: fast + slow };
        let name = "portcullis_request_duration_seconds".to_owned();
        vec![Series { name, labels: vec![("route".to_owned(), "chat".to_owned())], value }]
    }

    #[test]
    fn a_percentile_is_of_all_that_came_within_its_range() {
        let mut windows = Windows::default();
        assert_eq!(windows.figures()["60"], json!({}));
        windows.add(&took(0, 0));
        assert_eq!(windows.figures()["60"], json!({}));
        // What was slow lies more than five minutes back, and what is fast does not.
        windows.add(&took(0, 10));
        for _ in 0..60 {
            windows.add(&took(10, 10));
        }
        let figures = windows.figures();
        assert!(figures["60"]["latency"].as_f64().unwrap() <= 0.1, "{figures}");
        assert!(figures["180"]["latency"].as_f64().unwrap() > 0.5, "{figures}");
        assert!(figures["720"].get("first_byte").is_none(), "{figures}");
        for _ in 0..2000 {
            windows.add(&took(10, 10));
        }
        assert_eq!((windows.0.len(), windows.figures()["720"].clone()), (KEPT + 1, json!({})));
    }
}
