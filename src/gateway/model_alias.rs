//! [`ModelAlias`]: a name that callers ask for, and the models that stand for it; [`ModelPlan`]: which of them answers one
//! request, and which comes next where it does not.

use std::sync::Arc;

use crate::gateway::error::GatewayError;
use crate::gateway::upstream::Upstream;
use crate::telemetry::UpstreamFailure;

/// A model of a provider's.
pub struct ModelTarget {
    /// Where it is; `None`: where the route leads.
    pub upstream: Option<Arc<Upstream>>,
    /// What it is called there.
    pub model: String,
    /// Its share of first tries among all targets; 0: it is only tried after others.
    pub weight: u32,
}

/// When the next model is tried. What was not sent, or could not be, always goes on; what may have been acted upon only where
/// that is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fallbacks {
    /// On 429: the provider has refused it.
    pub rate_limited: bool,
    /// On 5xx, and where the connection broke before the answer.
    pub server_error: bool,
    /// Where no byte of an answer came in time.
    pub timeout: bool,
}

/// A name that callers ask for.
pub struct ModelAlias {
    /// The name.
    pub name: String,
    /// At least one.
    pub targets: Vec<ModelTarget>,
    /// When the next is tried.
    pub fallbacks: Fallbacks,
}

/// Which models answer a request, in order.
pub struct ModelPlan {
    alias: Arc<ModelAlias>,
    /// Positions of targets that are left, the current one first.
    left: Vec<usize>,
}

impl ModelPlan {
    /// The first by weight, as `chance` falls; then the others in their order.
    pub fn new(alias: Arc<ModelAlias>, chance: u32) -> Self {
        let total: u64 = alias.targets.iter().map(|target| u64::from(target.weight)).sum();
        // Of 2^32 equally likely chances, as many for each as its weight says.
        let mut at = (u64::from(chance) * total) >> 32;
        let first = alias.targets.iter().position(|target| {
            let weight = u64::from(target.weight);
            let falls = at < weight;
            at = at.saturating_sub(weight);
            falls
        });
        let first = first.unwrap_or(0);
        let others = (0..alias.targets.len()).filter(|position| *position != first);
        let left = std::iter::once(first).chain(others).collect();
        Self { alias, left }
    }

    /// The name that was asked for.
    pub fn alias(&self) -> &ModelAlias {
        &self.alias
    }

    /// The model whose turn it is.
    pub fn target(&self) -> Option<&ModelTarget> {
        self.left.first().and_then(|position| self.alias.targets.get(*position))
    }

    /// The models that may answer yet, in their order.
    pub fn left(&self) -> impl Iterator<Item = &ModelTarget> {
        self.left.iter().filter_map(|position| self.alias.targets.get(*position))
    }

    /// Goes on to the next, if there is one and the answer's status says so.
    pub fn goes_on_after(&mut self, status: u16) -> bool {
        let Fallbacks { rate_limited, server_error, .. } = self.alias.fallbacks;
        let goes_on = match status {
            429 => rate_limited,
            500.. => server_error,
            _ => false,
        };
        goes_on && self.next()
    }

    /// The same where there was no answer.
    pub fn goes_on_without(&mut self, error: &GatewayError) -> bool {
        let Fallbacks { server_error, timeout, .. } = self.alias.fallbacks;
        let goes_on = match error {
            GatewayError::Unavailable(_) => true,
            GatewayError::Upstream(failure) => match failure {
                UpstreamFailure::Connect
                | UpstreamFailure::Tls
                | UpstreamFailure::Down
                | UpstreamFailure::Open
                | UpstreamFailure::Full => true,
                UpstreamFailure::Timeout => timeout,
                UpstreamFailure::Broken => server_error,
            },
            _ => false,
        };
        goes_on && self.next()
    }

    fn next(&mut self) -> bool {
        if self.left.len() < 2 {
            return false;
        }
        self.left.remove(0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::error::Unavailable;

    fn alias(weights: &[u32], fallbacks: Fallbacks) -> Arc<ModelAlias> {
        let target = |(n, weight): (usize, &u32)| ModelTarget {
            upstream: None,
            model: n.to_string(),
            weight: *weight,
        };
        let targets = weights.iter().enumerate().map(target).collect();
        Arc::new(ModelAlias { name: "fast".to_owned(), targets, fallbacks })
    }

    #[test]
    fn first_tries_fall_as_weights_say_and_the_others_follow_in_order() {
        let alias = alias(&[1, 0, 3], Fallbacks::default());
        let mut first = [0; 3];
        for n in 0..4096_u32 {
            let plan = ModelPlan::new(Arc::clone(&alias), n << 20);
            first[plan.left[0]] += 1;
            assert_eq!(plan.left.len(), 3);
        }
        assert_eq!(first, [1024, 0, 3072]);
        assert_eq!(ModelPlan::new(Arc::clone(&alias), u32::MAX).left, [2, 0, 1]);
        assert_eq!(ModelPlan::new(alias, 0).left, [0, 1, 2]);
    }

    #[test]
    fn what_may_have_been_acted_upon_goes_on_only_where_that_is_said() {
        let never = Fallbacks::default();
        let always = Fallbacks { rate_limited: true, server_error: true, timeout: true };
        let plan = |fallbacks| ModelPlan::new(alias(&[1, 1], fallbacks), 0);
        for (status, goes_on) in
            [(200, false), (400, false), (401, false), (429, true), (500, true), (529, true)]
        {
            assert_eq!(plan(always).goes_on_after(status), goes_on, "{status}");
            assert!(!plan(never).goes_on_after(status));
        }
        use UpstreamFailure as F;
        for (failure, unsent) in
            [(F::Connect, true), (F::Tls, true), (F::Down, true), (F::Timeout, false), (F::Broken, false)]
        {
            let error = GatewayError::Upstream(failure);
            assert_eq!(plan(never).goes_on_without(&error), unsent, "{failure:?}");
            assert!(plan(always).goes_on_without(&error), "{failure:?}");
        }
        assert!(plan(never).goes_on_without(&GatewayError::Unavailable(Unavailable::Full)));
        assert!(!plan(always).goes_on_without(&GatewayError::Left));
        let mut one = ModelPlan::new(alias(&[1], always), 0);
        assert!(!one.goes_on_after(429), "there is no other");
    }
}
