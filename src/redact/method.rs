//! What to do with a finding: one [`Method`] for each rule, settled before the first byte by a [`Plan`].

use crate::detect::RuleId;

/// What becomes of a found value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One `*` for each character.
    Mask,
    /// The rule's name in angle brackets: `<EMAIL_ADDRESS>`.
    Replace,
    /// A surrogate of the same format; with an [`Undo`](crate::redact::Undo), the original comes back.
    Encrypt,
    /// Nothing: the finding is reported and the value stays.
    DetectOnly,
}

/// Which method each rule gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    otherwise: Method,
    /// By the rule's index.
    chosen: Vec<Option<Method>>,
}

impl Plan {
    /// The same method for every rule.
    pub fn all(method: Method) -> Self {
        Self { otherwise: method, chosen: Vec::new() }
    }

    /// Another method for one rule.
    pub fn set(&mut self, rule: RuleId, method: Method) {
        if self.chosen.len() <= rule.index() {
            self.chosen.resize(rule.index() + 1, None);
        }
        if let Some(slot) = self.chosen.get_mut(rule.index()) {
            *slot = Some(method);
        }
    }

    /// The rule's method.
    pub fn method(&self, rule: RuleId) -> Method {
        self.chosen.get(rule.index()).copied().flatten().unwrap_or(self.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_differs_from_the_rest() {
        let mut plan = Plan::all(Method::Encrypt);
        plan.set(RuleId::new(3), Method::Mask);
        let methods = [0, 3, 4].map(|n| plan.method(RuleId::new(n)));
        assert_eq!(methods, [Method::Encrypt, Method::Mask, Method::Encrypt]);
    }
}
