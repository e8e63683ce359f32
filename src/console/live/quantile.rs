//! Quantiles of what a histogram has observed between two looks.

/// How often values fell into each bucket, the last one for those above all bounds; not cumulative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BucketCounts(pub(super) Vec<u64>);

impl BucketCounts {
    /// Of cumulative buckets, and the number of all observations.
    pub(super) fn of(buckets: &[(f64, u64)], count: u64) -> Self {
        let mut before = 0;
        let cumulative = buckets.iter().map(|(_, count)| *count).chain([count]);
        Self(cumulative.map(|count| count.saturating_sub(std::mem::replace(&mut before, count))).collect())
    }

    /// Adds those of another histogram with the same bounds.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(one, more)| *one = one.saturating_add(*more));
    }

    /// What came since `before`. A histogram that has fewer than before has begun anew.
    pub(super) fn since(&self, before: &Self) -> Self {
        let differences = self.0.iter().zip(before.0.iter().chain(std::iter::repeat(&0)));
        let all: Option<Vec<u64>> = differences.map(|(now, before)| now.checked_sub(*before)).collect();
        all.map_or_else(|| self.clone(), Self)
    }

    /// The value that the part `q` of the observations is at most, as far as these buckets tell: between a bucket's bounds values
    /// are taken to lie evenly, and what is above all bounds counts as the last one. `None` without observations.
    pub(super) fn quantile(&self, q: f64, bounds: &[f64]) -> Option<f64> {
        let all: u64 = self.0.iter().sum();
        if all == 0 {
            return None;
        }
        // Counts of five seconds are far below 2^52.
        let (mut below, rank) = (0.0, q * all as f64);
        let mut lower = 0.0;
        for (count, upper) in self.0.iter().zip(bounds) {
            let count = *count as f64;
            if count > 0.0 && below + count >= rank {
                return Some(lower + (upper - lower) * ((rank - below) / count).clamp(0.0, 1.0));
            }
            below += count;
            lower = *upper;
        }
        bounds.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: &[f64] = &[1.0, 2.0, 4.0];

    #[test]
    fn quantiles_lie_where_the_observations_do() {
        let rows: [(&[u64], f64, Option<f64>); 9] = [
            (&[0, 0, 0, 0], 0.5, None),
            (&[10, 0, 0, 0], 0.5, Some(0.5)),
            (&[10, 0, 0, 0], 1.0, Some(1.0)),
            (&[0, 10, 0, 0], 0.5, Some(1.5)),
            (&[5, 5, 0, 0], 0.5, Some(1.0)),
            (&[90, 0, 10, 0], 0.95, Some(3.0)),
            (&[1, 0, 0, 0], 0.99, Some(0.99)),
            (&[0, 0, 0, 7], 0.5, Some(4.0)),
            (&[], 0.5, None),
        ];
        for (observed, q, expected) in rows {
            assert_eq!(BucketCounts(observed.to_vec()).quantile(q, BOUNDS), expected, "{observed:?} {q}");
        }
    }

    #[test]
    fn quantiles_of_any_counts_are_in_order_and_within_the_bounds() {
        let mut seed = 7_u64;
        for _ in 0..2000 {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % 50
            };
            let observed = BucketCounts(vec![next(), next(), next(), next()]);
            let of = |q| observed.quantile(q, BOUNDS).unwrap_or_default();
            assert!(of(0.5) <= of(0.95) && of(0.95) <= of(0.99) && of(0.99) <= 4.0, "{observed:?}");
        }
    }

    #[test]
    fn differences_are_those_of_the_time_between_and_a_new_beginning_counts_whole() {
        let before = BucketCounts::of(&[(1.0, 3), (2.0, 5)], 6);
        assert_eq!(before, BucketCounts(vec![3, 2, 1]));
        let after = BucketCounts::of(&[(1.0, 4), (2.0, 9)], 12);
        assert_eq!(after.since(&before), BucketCounts(vec![1, 3, 2]));
        assert_eq!(before.since(&after), before);
        assert_eq!(before.since(&BucketCounts::default()), before);
        let mut sum = BucketCounts::default();
        sum.add(&before);
        sum.add(&after);
        assert_eq!(sum, BucketCounts(vec![7, 7, 4]));
    }
}
