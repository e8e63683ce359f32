//! [`Tracks`]: the last hour of a bounded number of figures.

use std::collections::BTreeMap;

use crate::console::live::group::{Figure, GROUPS};
use crate::console::live::reading::FigureReading;

/// Samples that are kept: an hour of them.
pub(super) const KEPT: usize = 720;

/// Figures of a group that have tracks of their own; those beyond it are added up.
pub(super) const NAMED: usize = 16;

/// What the figures of a group without tracks of their own are called together.
pub(super) const OTHERS: &str = "others";

/// One figure over the last hour: the value of sample `n` is at `n % KEPT`, and not a number where there is none.
struct Track {
    values: Box<[f32]>,
    /// The last sample in which it was something.
    last: u64,
}

/// Tracks by group and name.
#[derive(Default)]
pub(super) struct Tracks(BTreeMap<(usize, String), Track>);

impl Tracks {
    /// Adds a sample, whose number is one more than that of the last.
    pub(super) fn add(&mut self, number: u64, readings: Vec<FigureReading>) {
        let slot = slot(number);
        let oldest = number.saturating_sub(KEPT as u64 - 1);
        self.0.retain(|_, track| track.last >= oldest);
        for track in self.0.values_mut() {
            set(&mut track.values, slot, f64::NAN);
        }
        let mut groups: BTreeMap<usize, Vec<FigureReading>> = BTreeMap::new();
        readings.into_iter().for_each(|reading| groups.entry(reading.group).or_default().push(reading));
        for (group, mut readings) in groups {
            // The largest are named first, where not all can be.
            readings.sort_by(|a, b| b.value.unwrap_or(0.0).total_cmp(&a.value.unwrap_or(0.0)));
            let mut named = self.0.keys().filter(|(known, name)| *known == group && name != OTHERS).count();
            let mut others: Option<f64> = None;
            for FigureReading { name, value, .. } in readings {
                let key = (group, name);
                let is_rate = GROUPS.get(group).is_some_and(|group| group.figure == Figure::Rate);
                let says = value.is_some_and(|value| value != 0.0 || !is_rate);
                if !self.0.contains_key(&key) {
                    match says {
                        false => continue,
                        true if named >= NAMED => {
                            others = Some(joined(group, others, value.unwrap_or(0.0)));
                            continue;
                        }
                        true => named += 1,
                    }
                }
                self.note(key, number, value, says);
            }
            if let Some(others) = others {
                self.note((group, OTHERS.to_owned()), number, Some(others), true);
            }
        }
    }

    fn note(&mut self, key: (usize, String), number: u64, value: Option<f64>, says: bool) {
        let track = self.0.entry(key).or_insert_with(|| {
            // Until a figure is something, it was nothing.
            Track { values: vec![f32::NAN; KEPT].into(), last: number }
        });
        set(&mut track.values, slot(number), value.unwrap_or(f64::NAN));
        if says {
            track.last = number;
        }
    }

    /// Each track's group and name, and its values in these samples.
    pub(super) fn within(
        &self,
        numbers: std::ops::Range<u64>,
    ) -> impl Iterator<Item = (&'static str, &str, impl Iterator<Item = f32>)> {
        self.0.iter().filter_map(move |((group, name), track)| {
            let group = GROUPS.get(*group)?.name;
            let values = numbers.clone().map(|n| track.values.get(slot(n)).copied().unwrap_or(f32::NAN));
            Some((group, name.as_str(), values))
        })
    }
}

/// Rates and levels add up; of percentiles the worst one counts.
fn joined(group: usize, others: Option<f64>, value: f64) -> f64 {
    let others = others.unwrap_or(0.0);
    match GROUPS.get(group).map(|group| group.figure) {
        Some(Figure::P95 | Figure::Percentiles) => others.max(value),
        _ => others + value,
    }
}

/// Where the values of a sample are.
fn slot(number: u64) -> usize {
    usize::try_from(number % KEPT as u64).unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, reason = "a chart needs no more digits than these")]
fn set(values: &mut [f32], slot: usize, value: f64) {
    if let Some(place) = values.get_mut(slot) {
        *place = value as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> usize {
        GROUPS.iter().position(|group| group.name == name).unwrap()
    }

    fn reading(group: &str, name: &str, value: f64) -> FigureReading {
        FigureReading { group: place(group), name: name.to_owned(), value: Some(value) }
    }

    fn names(tracks: &Tracks) -> Vec<&str> {
        tracks.within(0..0).map(|(_, name, _)| name).collect()
    }

    fn values(tracks: &Tracks, name: &str, numbers: std::ops::Range<u64>) -> Vec<f32> {
        let mut found = tracks.within(numbers).filter(|(_, known, _)| *known == name);
        found.next().map(|(_, _, values)| values.collect()).unwrap_or_default()
    }

    #[test]
    fn an_hour_is_kept_and_what_was_nothing_for_one_is_forgotten() {
        let mut tracks = Tracks::default();
        tracks.add(0, vec![reading("route", "once", 3.0), reading("route", "always", 1.0)]);
        for n in 1..1000 {
            tracks.add(n, vec![reading("route", "once", 0.0), reading("route", "always", n as f64)]);
            let expected: &[&str] = if n < KEPT as u64 { &["always", "once"] } else { &["always"] };
            assert_eq!(names(&tracks), expected, "{n}");
        }
        assert_eq!(values(&tracks, "always", 990..992), [990.0, 991.0]);
        assert_eq!(values(&tracks, "always", 280..281), [280.0]);
    }

    #[test]
    fn names_without_number_take_a_bounded_room() {
        let mut tracks = Tracks::default();
        for n in 0..50 {
            let many = (0..1000).map(|name| reading("rule", &format!("R{}", name + n * 7), 1.0)).collect();
            tracks.add(n, many);
            assert!(names(&tracks).len() <= NAMED + 1, "{n}");
        }
        let all: f32 = tracks
            .within(49..50)
            .map(|(_, _, mut values)| values.next().unwrap())
            .filter(|v| !v.is_nan())
            .sum();
        assert!((all - 1000.0).abs() < 0.01, "{all}");
    }

    #[test]
    fn the_largest_have_names() {
        let mut tracks = Tracks::default();
        let many = (0..100).map(|n| reading("route_p95", &format!("r{n:02}"), f64::from(n))).collect();
        tracks.add(0, many);
        assert!(names(&tracks).contains(&"r99") && !names(&tracks).contains(&"r10"));
        // Of percentiles the others' is the worst of theirs.
        assert_eq!(values(&tracks, OTHERS, 0..1), [83.0]);
    }

    #[test]
    fn a_gap_is_a_gap() {
        let mut tracks = Tracks::default();
        tracks.add(0, vec![reading("latency", "p50", 1.0)]);
        tracks.add(1, vec![FigureReading { value: None, ..reading("latency", "p50", 0.0) }]);
        tracks.add(2, vec![]);
        tracks.add(3, vec![reading("latency", "p50", 2.0)]);
        let shown = values(&tracks, "p50", 0..4);
        assert_eq!((shown[0], shown[3]), (1.0, 2.0));
        assert!(shown[1].is_nan() && shown[2].is_nan());
    }

    #[test]
    fn a_level_and_a_percentile_of_zero_are_something() {
        let mut tracks = Tracks::default();
        let levels = [reading("in_flight", "", 0.0), reading("held_back", "p50", 0.0)];
        tracks.add(0, [&levels[..], &[reading("route", "idle", 0.0)]].concat());
        let mut groups: Vec<&str> = tracks.within(0..1).map(|(group, ..)| group).collect();
        groups.sort_unstable();
        assert_eq!(groups, ["held_back", "in_flight"]);
    }
}
