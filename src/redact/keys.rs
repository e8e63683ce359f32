//! The key that encryption needs, and within what equal values look alike: handed in by whoever may await, never
//! fetched here.

use std::sync::Arc;

use crate::base::quota::Quota;
use crate::crypto::fpe::FpeKey;
use crate::redact::recall::Recall;

/// What encrypts, and for whom. Cheap to clone.
#[derive(Clone, Default)]
pub struct Keys {
    /// The key; without one, a plan that encrypts fails at the first finding.
    pub fpe: Option<Arc<FpeKey>>,
    /// Goes into every tweak: two tenants with one key get different surrogates for one value.
    pub tenant: Arc<str>,
    /// Within what equal values get equal surrogates.
    pub scope: SurrogateScope,
    /// How many different values may be encrypted or hashed.
    pub quota: Quota,
    /// What was issued before.
    pub recall: Recall,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys(fpe: {})", if self.fpe.is_some() { "yes" } else { "no" })
    }
}

/// Within what equal values get equal surrogates: under one key, one tenant and one rule they do if the scope is the
/// same, and who has surrogates of another scope learns nothing from its own. The default is all of the tenant.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SurrogateScope(Option<[u8; 32]>);

/// What the PRF's input begins with where it makes a scope; no tenant is called so.
const SCOPE: &[u8] = b"scope of surrogates";

impl SurrogateScope {
    /// The scope that `parts` name, of which some may be secret: it is their keyed digest, in which their borders count.
    pub fn of(key: &FpeKey, parts: &[&[u8]]) -> Self {
        let mut input = vec![SCOPE];
        input.extend_from_slice(parts);
        Self(Some(key.prf(&input)))
    }

    /// What goes into a tweak; nothing for all of the tenant, whose surrogates are those of before there were scopes.
    pub(super) fn as_part(&self) -> Option<&[u8]> {
        self.0.as_ref().map(<[u8; 32]>::as_slice)
    }
}

impl std::fmt::Debug for SurrogateScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SurrogateScope(..)")
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
