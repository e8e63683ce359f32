//! [`MetricsReader`]: figures out of two looks at what is counted.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::console::live::group::{Figure, GROUPS, MetricGroup};
use crate::console::live::quantile::BucketCounts;
use crate::telemetry::{Series, SeriesValue};

/// One figure: its group's place in [`GROUPS`], its name in it, and what it is; `None` where there is nothing to say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FigureReading {
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) value: Option<f64>,
}

/// What was counted of a figure in all.
#[derive(Clone, Debug)]
enum Total {
    Number(f64),
    Observed(BucketCounts),
}

/// What was there at a look.
struct MetricsSnapshot {
    at: Instant,
    counted: HashMap<(usize, String), Total>,
}

/// Remembers the last look.
#[derive(Default)]
pub(super) struct MetricsReader {
    before: Option<MetricsSnapshot>,
}

impl MetricsReader {
    /// The figures of the time since the last look; of the first one only what is as it is.
    pub(super) fn read(&mut self, at: Instant, series: &[Series]) -> Vec<FigureReading> {
        let mut by_name: HashMap<&str, Vec<&Series>> = HashMap::new();
        series.iter().for_each(|one| by_name.entry(&one.name).or_default().push(one));
        let before = self.before.take();
        let since = before.as_ref().map(|look| at.duration_since(look.at)).filter(|since| !since.is_zero());
        let (mut readings, mut counted) = (Vec::new(), HashMap::new());
        for (place, group) in GROUPS.iter().enumerate() {
            let found = by_name.get(group.metric).map(Vec::as_slice).unwrap_or_default();
            let bounds = bounds(found);
            for (name, now) in sums(group, found) {
                let key = (place, name);
                let last = before.as_ref().and_then(|look| look.counted.get(&key));
                let made = FigureChange { now: &now, last, since }.figures(group, &bounds);
                readings.extend(made.into_iter().map(|(part, value)| FigureReading {
                    group: place,
                    name: if part.is_empty() { key.1.clone() } else { part.to_owned() },
                    value,
                }));
                counted.insert(key, now);
            }
        }
        self.before = Some(MetricsSnapshot { at, counted });
        readings
    }
}

/// What was observed of a group in all, whatever its labels, and the upper bounds of its buckets.
pub(super) fn observed(group: &MetricGroup, series: &[Series]) -> (BucketCounts, Vec<f64>) {
    let found: Vec<&Series> = series.iter().filter(|one| one.name == group.metric).collect();
    let mut sum = BucketCounts::default();
    for counted in sums(group, &found).into_values() {
        if let Total::Observed(observed) = counted {
            sum.add(&observed);
        }
    }
    (sum, bounds(&found))
}

/// The upper bounds of these histograms, which are all the same.
fn bounds(series: &[&Series]) -> Vec<f64> {
    let first = series.iter().find_map(|one| match &one.value {
        SeriesValue::Histogram { buckets, .. } => Some(buckets),
        SeriesValue::Number(_) => None,
    });
    first.into_iter().flatten().map(|(bound, _)| *bound).collect()
}

/// What these series come to, by the values of the group's label.
fn sums(group: &MetricGroup, series: &[&Series]) -> BTreeMap<String, Total> {
    let mut sums: BTreeMap<String, Total> = BTreeMap::new();
    for one in series.iter().filter(|one| group.has(one)) {
        let name = group.by.map_or("", |label| one.label(label));
        let counted = match &one.value {
            SeriesValue::Number(number) => Total::Number(*number),
            SeriesValue::Histogram { buckets, count } => Total::Observed(BucketCounts::of(buckets, *count)),
        };
        match (sums.get_mut(name), counted) {
            (Some(Total::Number(sum)), Total::Number(more)) => *sum += more,
            (Some(Total::Observed(sum)), Total::Observed(more)) => sum.add(&more),
            (_, counted) => {
                sums.insert(name.to_owned(), counted);
            }
        }
    }
    sums
}

/// What a figure was and is.
struct FigureChange<'c> {
    now: &'c Total,
    last: Option<&'c Total>,
    /// The time between; `None` at the first look.
    since: Option<Duration>,
}

impl FigureChange<'_> {
    fn figures(&self, group: &MetricGroup, bounds: &[f64]) -> Vec<(&'static str, Option<f64>)> {
        match (group.figure, self.now) {
            (Figure::Level, Total::Number(now)) => vec![("", Some(*now))],
            (Figure::Rate, Total::Number(now)) => vec![("", self.rate(*now))],
            (Figure::P95, Total::Observed(now)) => vec![("", self.quantile(now, 0.95, bounds))],
            (Figure::Percentiles, Total::Observed(now)) => {
                let each = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];
                each.map(|(name, q)| (name, self.quantile(now, q, bounds))).into()
            }
            _ => Vec::new(),
        }
    }

    /// What was not there at the last look has begun since: series appear with their first event. One that is less than it was
    /// has begun anew.
    fn rate(&self, now: f64) -> Option<f64> {
        let last = match self.last {
            Some(Total::Number(last)) if *last <= now => *last,
            _ => 0.0,
        };
        self.since.map(|since| (now - last) / since.as_secs_f64())
    }

    fn quantile(&self, now: &BucketCounts, q: f64, bounds: &[f64]) -> Option<f64> {
        self.since?;
        match self.last {
            Some(Total::Observed(last)) => now.since(last).quantile(q, bounds),
            _ => now.quantile(q, bounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    fn number(name: &str, labels: &[(&str, &str)], value: f64) -> Series {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Series { name: name.to_owned(), labels, value: SeriesValue::Number(value) }
    }

    fn requests(route: &str, status: &str, count: f64) -> Series {
        number("portcullis_requests_total", &[("route", route), ("status", status)], count)
    }

    fn took(buckets: &[(f64, u64)], count: u64) -> Series {
        let value = SeriesValue::Histogram { buckets: buckets.to_vec(), count };
        Series {
            name: "portcullis_request_duration_seconds".to_owned(),
            labels: vec![("route".to_owned(), "chat".to_owned())],
            value,
        }
    }

    fn shown(readings: &[FigureReading], group: &str) -> Vec<(String, Option<f64>)> {
        let ours = readings.iter().filter(|reading| GROUPS[reading.group].name == group);
        ours.map(|reading| (reading.name.clone(), reading.value)).collect()
    }

    #[test]
    fn rates_are_differences_by_the_second() {
        let (mut reader, begin) = (MetricsReader::default(), SystemClock.instant());
        let after = |seconds| begin + Duration::from_secs(seconds);
        let first = [requests("chat", "2xx", 100.0), number("portcullis_held_bytes", &[], 7.0)];
        let read = reader.read(begin, &first);
        assert_eq!(shown(&read, "route"), [("chat".to_owned(), None)]);
        assert_eq!(shown(&read, "held"), [(String::new(), Some(7.0))]);
        // Ten seconds later: 40 more, and a route that was never asked before.
        let read = reader.read(
            after(10),
            &[requests("chat", "2xx", 130.0), requests("chat", "5xx", 10.0), requests("new", "2xx", 5.0)],
        );
        assert_eq!(shown(&read, "route"), [("chat".to_owned(), Some(4.0)), ("new".to_owned(), Some(0.5))]);
        assert_eq!(shown(&read, "status"), [("2xx".to_owned(), Some(3.5)), ("5xx".to_owned(), Some(1.0))]);
        // A counter that goes backwards has begun anew.
        let read = reader.read(after(15), &[requests("chat", "2xx", 20.0)]);
        assert_eq!(shown(&read, "route"), [("chat".to_owned(), Some(4.0))]);
        // Two looks at once tell nothing.
        let read = reader.read(after(15), &[requests("chat", "2xx", 30.0)]);
        assert_eq!(shown(&read, "route"), [("chat".to_owned(), None)]);
    }

    #[test]
    fn only_some_values_of_a_label_may_count() {
        let (mut reader, begin) = (MetricsReader::default(), SystemClock.instant());
        let failed = |kind, count| {
            number("portcullis_upstream_errors_total", &[("upstream", "dead"), ("kind", kind)], count)
        };
        reader.read(begin, &[]);
        let series = [failed("connect", 10.0), failed("broken", 5.0), failed("open", 20.0)];
        let read = reader.read(begin + Duration::from_secs(5), &series);
        assert_eq!(shown(&read, "failures"), [("dead".to_owned(), Some(3.0))]);
        assert_eq!(shown(&read, "unsent"), [("dead".to_owned(), Some(4.0))]);
        let kinds: Vec<&str> = GROUPS
            .iter()
            .filter_map(|group| group.only.filter(|(label, _)| *label == "kind"))
            .flat_map(|(_, kinds)| kinds.iter().copied())
            .collect();
        let known = <crate::telemetry::UpstreamFailure as crate::telemetry::LabelValue>::ALL;
        assert_eq!(kinds, known.iter().map(|kind| kind.word()).collect::<Vec<_>>());
    }

    #[test]
    fn percentiles_are_of_the_time_between() {
        let (mut reader, begin) = (MetricsReader::default(), SystemClock.instant());
        reader.read(begin, &[took(&[(0.1, 1000), (1.0, 1000)], 1000)]);
        let slow = [took(&[(0.1, 1000), (1.0, 1010)], 1010)];
        let read = reader.read(begin + Duration::from_secs(5), &slow);
        let names: Vec<String> = shown(&read, "latency").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["p50", "p95", "p99"]);
        assert!(shown(&read, "latency").iter().all(|(_, value)| value.is_some_and(|value| value > 0.5)));
        assert_eq!(shown(&read, "route_p95").first().map(|(name, _)| name.as_str()), Some("chat"));
        let quiet = reader.read(begin + Duration::from_secs(10), &slow);
        assert!(shown(&quiet, "latency").iter().all(|(_, value)| value.is_none()));
    }

    #[test]
    fn every_metric_that_is_read_is_registered_under_that_name() {
        use crate::console::live::group::now;
        use crate::telemetry::{LabelValue, Metrics};
        let sources = ["route", "upstream", "usage", "work", "front", "all", "process"];
        let all: String = sources
            .iter()
            .map(|name| {
                let path = format!("{}/src/telemetry/metrics/{name}.rs", env!("CARGO_MANIFEST_DIR"));
                std::fs::read_to_string(path).unwrap()
            })
            .collect();
        let shown = [
            now::VERSION,
            now::STARTED,
            now::HELD_LIMIT,
            now::TOKENS,
            now::SHARED,
            now::PEERS,
            now::CIRCUIT,
            now::IN_FLIGHT,
        ];
        for metric in GROUPS.iter().map(|group| group.metric).chain(shown) {
            let name = metric.strip_prefix("portcullis_").unwrap_or(metric);
            assert!(all.contains(&format!("\"{name}\"")), "{metric}");
        }
        for group in GROUPS {
            let label = group.by.or(group.only.map(|(label, _)| label)).unwrap_or("route");
            assert!(all.contains(&format!("\"{label}\"")), "{group:?}");
        }
        // Those that are shown from the beginning are read from the beginning.
        let metrics = Metrics::new().unwrap();
        metrics.upstream("mock");
        let read = MetricsReader::default()
            .read(SystemClock.instant(), &metrics.series(crate::telemetry::Levels::default()));
        assert_eq!(shown_names(&read, "refused").len(), crate::telemetry::Refusal::ALL.len());
        assert_eq!(shown_names(&read, "attempts"), ["mock"]);
        assert_eq!(shown_names(&read, "resident").len(), 1);
    }

    fn shown_names(readings: &[FigureReading], group: &str) -> Vec<String> {
        shown(readings, group).into_iter().map(|(name, _)| name).collect()
    }
}
