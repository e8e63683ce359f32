//! [`History`]: the last hour of what is counted, for browsers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::console::live::group::now;
use crate::console::live::reading::MetricsReader;
use crate::console::live::track::{KEPT, Tracks};
use crate::console::live::window::Windows;
use crate::telemetry::{Series, SeriesValue};

/// How often is looked.
pub(super) const EVERY: Duration = Duration::from_secs(5);

/// The last hour, in memory.
pub struct History {
    /// Tells one process from the one before.
    begun: Timestamp,
    kept: Mutex<Samples>,
}

struct Samples {
    reader: MetricsReader,
    /// The number of the next sample.
    next: u64,
    /// When samples were taken, as tracks have their values.
    times: Box<[u64]>,
    tracks: Tracks,
    windows: Windows,
    /// What is shown as it is now.
    now: Arc<Value>,
}

impl History {
    /// Nothing yet.
    pub fn new(begun: Timestamp) -> Self {
        let kept = Samples {
            reader: MetricsReader::default(),
            next: 0,
            times: vec![0; KEPT].into(),
            tracks: Tracks::default(),
            windows: Windows::default(),
            now: Arc::default(),
        };
        Self { begun, kept: Mutex::new(kept) }
    }

    /// Which process this is.
    pub(super) fn begun(&self) -> u64 {
        self.begun.as_millis()
    }

    /// Adds what is counted now.
    pub(super) fn add(&self, time: Timestamp, at: Instant, series: &[Series]) {
        let now = Arc::new(as_it_is(series));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let readings = kept.reader.read(at, series);
        let number = kept.next;
        kept.tracks.add(number, readings);
        kept.windows.add(series);
        let slot = usize::try_from(number % KEPT as u64).unwrap_or(0);
        if let Some(place) = kept.times.get_mut(slot) {
            *place = time.as_millis();
        }
        kept.next += 1;
        kept.now = now;
    }

    /// The samples from `since` on, as JSON, with what is known of the configuration; all there are, if there is none of that
    /// number yet.
    pub(super) fn figures(&self, since: u64, config: &Value) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = kept.next.saturating_sub(KEPT as u64);
        let from = if since > kept.next { oldest } else { since.max(oldest) };
        let numbers = from..kept.next;
        let mut json = format!(
            "{{\"begun\":{},\"every\":{},\"from\":{from},\"next\":{},\"times\":[",
            self.begun(),
            EVERY.as_millis(),
            kept.next
        );
        for n in numbers.clone() {
            let slot = usize::try_from(n % KEPT as u64).unwrap_or(0);
            comma(&mut json, '[');
            write_to(&mut json, kept.times.get(slot).copied().unwrap_or_default());
        }
        json.push_str("],\"tracks\":[");
        // Without a sample there is nothing to say of any.
        if !numbers.is_empty() {
            for (group, name, values) in kept.tracks.within(numbers) {
                comma(&mut json, '[');
                write_to(&mut json, format_args!("[\"{group}\",{},[", Value::from(name)));
                for value in values {
                    comma(&mut json, '[');
                    number(&mut json, value);
                }
                json.push_str("]]");
            }
        }
        let (now, over) = (Arc::clone(&kept.now), kept.windows.figures());
        drop(kept);
        write_to(&mut json, format_args!("],\"now\":{now},\"over\":{over},\"config\":{config}}}"));
        json
    }
}

/// A comma, unless a list has just begun.
fn comma(json: &mut String, open: char) {
    if !json.ends_with(open) {
        json.push(',');
    }
}

fn write_to(json: &mut String, value: impl std::fmt::Display) {
    // A string takes all that is written to it.
    let _written = write!(json, "{value}");
}

/// A number to four digits; `null` for none.
fn number(json: &mut String, value: f32) {
    let value = f64::from(value);
    match value {
        _ if !value.is_finite() => json.push_str("null"),
        _ if value.abs() < 1e-9 => json.push('0'),
        _ if value.abs() >= 1000.0 => write_to(json, format_args!("{value:.0}")),
        _ => {
            let digits = [100.0, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6];
            let decimals = digits.iter().position(|least| value.abs() >= *least).unwrap_or(digits.len()) + 1;
            let shown = format!("{value:.decimals$}");
            json.push_str(shown.trim_end_matches('0').trim_end_matches('.'));
        }
    }
}

/// What is not drawn.
fn as_it_is(series: &[Series]) -> Value {
    let number = |one: &Series| match one.value {
        SeriesValue::Number(number) => number,
        SeriesValue::Histogram { .. } => 0.0,
    };
    let mut shown = json!({});
    let mut upstreams: BTreeMap<&str, Value> = BTreeMap::new();
    for one in series {
        let value = number(one);
        match one.name.as_str() {
            now::VERSION => set(&mut shown, "version", one.label("version")),
            now::STARTED => set(&mut shown, "started", value),
            now::HELD_LIMIT => set(&mut shown, "held_limit", value),
            now::TOKENS => set(&mut shown, "tokens", value),
            now::SHARED => set(&mut shown, "shared", value > 0.0),
            now::PEERS => set(upstream(&mut upstreams, one), one.label("state"), value),
            now::IN_FLIGHT => set(upstream(&mut upstreams, one), "in_flight", value),
            now::CIRCUIT if value > 0.0 => set(upstream(&mut upstreams, one), "circuit", one.label("state")),
            _ => {}
        }
    }
    set(&mut shown, "upstreams", upstreams.into_values().take(100).collect::<Vec<_>>());
    shown
}

fn upstream<'u, 's>(upstreams: &'u mut BTreeMap<&'s str, Value>, one: &'s Series) -> &'u mut Value {
    let name = one.label("upstream");
    upstreams.entry(name).or_insert_with(|| json!({ "name": name }))
}

fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, SystemClock};
    use crate::telemetry::{Levels, Metrics, Traffic};

    fn read(history: &History, since: u64) -> Value {
        serde_json::from_str(&history.figures(since, &json!({ "unused": true }))).unwrap()
    }

    #[test]
    fn numbers_have_four_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (f32::NAN, "null"),
            (f32::INFINITY, "null"),
            (1.0, "1"),
            (0.2, "0.2"),
            (12.345_678, "12.35"),
            (123_456_790.0, "123456792"),
            (0.001_234_56, "0.001235"),
            (1e-12, "0"),
            (-2.5, "-2.5"),
        ] {
            let mut json = String::new();
            number(&mut json, value);
            assert_eq!(json, expected, "{value}");
        }
    }

    #[test]
    fn a_browser_gets_what_it_does_not_have() {
        let (metrics, history) = (Metrics::new().unwrap(), History::new(Timestamp::from_millis(5)));
        let route = metrics.route("a \"route\"", &[]);
        metrics.upstream("mock").circuit(crate::telemetry::Circuit::HalfOpen);
        let begin = SystemClock.instant();
        assert_eq!(read(&history, 0)["times"], json!([]));
        for n in 0..3_u64 {
            let at = begin + EVERY * u32::try_from(n).unwrap();
            history.add(Timestamp::from_millis(n * 5000), at, &metrics.series(Levels::default()));
            (0..10).for_each(|_| route.request(Traffic { status: 200, ..Traffic::default() }));
        }
        let all = read(&history, 0);
        assert_eq!((&all["begun"], &all["next"], &all["every"]), (&json!(5), &json!(3), &json!(5000)));
        assert_eq!(all["times"], json!([0, 5000, 10000]));
        let tracks = all["tracks"].as_array().unwrap();
        assert!(tracks.contains(&json!(["route", "a \"route\"", [null, 2, 2]])), "{all}");
        assert_eq!(all["now"]["upstreams"][0]["circuit"], "half_open");
        assert_eq!(all["now"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(all["over"]["60"]["latency"].is_number() && all["config"]["unused"] == true, "{all}");
        let last = read(&history, 2);
        assert_eq!((&last["from"], &last["times"]), (&json!(2), &json!([10000])));
        assert!(last["tracks"].as_array().unwrap().contains(&json!(["route", "a \"route\"", [2]])), "{last}");
        let none = read(&history, 3);
        assert_eq!((&none["times"], &none["tracks"]), (&json!([]), &json!([])));
        // A number that was never given is from another process.
        assert_eq!(read(&history, 4)["times"], all["times"]);
        assert_eq!(read(&history, u64::MAX)["times"], all["times"]);
    }

    #[test]
    fn an_hour_and_no_more() {
        let (metrics, history) = (Metrics::new().unwrap(), History::new(Timestamp::from_millis(0)));
        let (begin, series) = (SystemClock.instant(), metrics.series(Levels::default()));
        for n in 0..2000_u64 {
            history.add(Timestamp::from_millis(n), begin + EVERY * u32::try_from(n).unwrap(), &series);
        }
        let all = read(&history, 0);
        assert_eq!((all["times"].as_array().unwrap().len(), &all["times"][0]), (KEPT, &json!(1280)));
        assert!(history.figures(0, &json!({})).len() < 200 << 10);
    }
}
