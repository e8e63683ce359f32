//! What to do with a finding: one [`Method`] for each rule, settled before the first byte by a [`MethodPlan`].

use std::sync::Arc;

use crate::base::secret::Secret;
use crate::crypto::hash;
use crate::detect::RuleId;
use crate::redact::alphabet::Alphabet;

/// What becomes of a found value. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// One `*` for each character.
    Mask,
    /// The rule's name in angle brackets: `<EMAIL_ADDRESS>`.
    Replace,
    /// A surrogate of the same format; with an [`SurrogateMap`](crate::redact::SurrogateMap), the original comes back.
    Encrypt,
    /// Nothing: the finding is reported and the value stays.
    DetectOnly,
    /// What holds it does not pass at all: see [`RedactError::Blocked`](crate::redact::RedactError::Blocked).
    Block,
    /// A digest of it under the key that encrypts, 64 hexadecimal digits: equal values of a rule get equal ones within a
    /// scope.
    Digest,
    /// This text, whatever the value.
    Text(Arc<str>),
    /// Some of its characters.
    Partial(Arc<PartialMask>),
    /// A digest of it under a salt: equal values get equal digests, and who has not the salt cannot try values.
    Hash(Arc<Salted>),
    /// FF1 over those of its characters that are in an alphabet; the others stay where they are. With a
    /// [`FpeContext`](crate::redact::FpeContext), the original comes back.
    Fpe(Arc<Fpe>),
}

impl Method {
    /// Whether the original can come back.
    pub fn is_reversible(&self) -> bool {
        matches!(self, Self::Encrypt | Self::Fpe(_))
    }

    /// Whether the value itself stays where it is.
    pub fn leaves(&self) -> bool {
        matches!(self, Self::DetectOnly | Self::Block)
    }

    /// What is done, in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Mask | Self::Partial(_) => "mask",
            Self::Replace | Self::Text(_) => "replace",
            Self::Encrypt | Self::Fpe(_) => "encrypt",
            Self::Hash(_) | Self::Digest => "hash",
            Self::DetectOnly => "report",
            Self::Block => "block",
        }
    }
}

/// Which characters of a value are masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialMask {
    /// Whether `left` and `right` count what is masked, or what stays.
    pub masks: bool,
    /// Characters from the left.
    pub left: usize,
    /// Characters from the right.
    pub right: usize,
    /// Characters that stay wherever they are, and are not counted.
    pub ignore: Vec<char>,
    /// What stands in place of a masked character.
    pub with: char,
}

impl PartialMask {
    /// Masks a value: all that counts of it where else nothing would be masked, and of one in which nothing counts every
    /// character. Whoever asks for a mask does not get the value.
    pub fn apply(&self, value: &str) -> String {
        let counted = value.chars().filter(|c| !self.ignore.contains(c)).count();
        let named = self.left.saturating_add(self.right);
        let whole = if self.masks { named == 0 } else { named >= counted };
        let mut place = 0_usize;
        let mask = |c: char| {
            if counted > 0 && self.ignore.contains(&c) {
                return c;
            }
            let outer = place < self.left || place.saturating_add(self.right) >= counted;
            place += 1;
            if whole || outer == self.masks { self.with } else { c }
        };
        value.chars().map(mask).collect()
    }
}

/// A kind of digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// HMAC-MD5, 32 hexadecimal digits.
    Md5,
    /// HMAC-SHA-256, 64 hexadecimal digits.
    Sha256,
    /// HMAC-SHA-512, 128 hexadecimal digits.
    Sha512,
}

/// A digest and its salt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salted {
    /// The kind.
    pub digest: Digest,
    /// The salt.
    pub salt: Secret<Vec<u8>>,
}

impl Salted {
    /// The value's digest, in lower-case hexadecimal.
    pub fn apply(&self, value: &str) -> String {
        let salt = self.salt.expose();
        let digest = match self.digest {
            Digest::Md5 => hash::hmac_md5(salt, value.as_bytes()),
            Digest::Sha256 => hash::hmac_sha256(salt, value.as_bytes()),
            Digest::Sha512 => hash::hmac_sha512(salt, value.as_bytes()),
        };
        data_encoding::HEXLOWER.encode(&digest)
    }
}

/// Format-preserving encryption as the caller wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fpe {
    /// What is encrypted.
    pub alphabet: Alphabet,
    /// The tweak, at most 32 bytes; without one it is derived from tenant, scope and rule, so that equal values of a rule
    /// get equal surrogates within a scope.
    pub tweak: Option<Vec<u8>>,
}

/// Which method each rule gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodPlan {
    otherwise: Method,
    /// By the rule's index.
    chosen: Vec<Option<Method>>,
}

impl MethodPlan {
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

    /// Whether some original can come back.
    pub fn is_reversible(&self) -> bool {
        self.otherwise.is_reversible() || self.chosen.iter().flatten().any(Method::is_reversible)
    }

    /// The rule's method.
    pub fn method(&self, rule: RuleId) -> &Method {
        self.chosen.get(rule.index()).and_then(Option::as_ref).unwrap_or(&self.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_differs_from_the_rest() {
        let mut plan = MethodPlan::all(Method::Encrypt);
        plan.set(RuleId::new(3), Method::Mask);
        let methods = [0, 3, 4].map(|n| plan.method(RuleId::new(n)));
        assert_eq!(methods, [&Method::Encrypt, &Method::Mask, &Method::Encrypt]);
    }

    #[test]
    fn parts_are_masked() {
        let cases = [
            (true, 4, 0, "", "jane.doe@x.y", "****.doe@x.y"),
            (false, 0, 4, "-", "234-56-7890", "***-**-7890"),
            (false, 1, 1, "", "abc", "a*c"),
            (false, 0, 0, "", "é🙂x", "***"),
            (true, 2, 2, "", "abc", "***"),
            // Nothing would be masked.
            (true, 0, 0, "", "abc", "***"),
            (false, 2, 2, "", "abc", "***"),
            (false, 2, 1, "", "abc", "***"),
            (false, 2, 0, "", "abc", "ab*"),
            (false, 0, 4, "", "1234", "****"),
            (false, 0, 4, "", "12345", "*2345"),
            (false, 0, 4, "-", "12-34", "**-**"),
            (false, usize::MAX, usize::MAX, "", "abc", "***"),
            (false, 1, 0, "123", "123", "***"),
            (true, 1, 0, "123", "123", "***"),
            (false, 0, 4, "", "", ""),
        ];
        for (masks, left, right, ignore, value, masked) in cases {
            let partial = PartialMask { masks, left, right, ignore: ignore.chars().collect(), with: '*' };
            assert_eq!(partial.apply(value), masked, "{value}");
        }
    }
}
