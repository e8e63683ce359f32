//! The key and tenant that encryption needs: handed in by whoever may await, never fetched here.

use std::sync::Arc;

use crate::crypto::fpe::FpeKey;

/// What encrypts, and for whom. Cheap to clone.
#[derive(Clone, Default)]
pub struct Keys {
    /// The key; without one, a plan that encrypts fails at the first finding.
    pub fpe: Option<Arc<FpeKey>>,
    /// Goes into every tweak: two tenants with one key get different surrogates for one value.
    pub tenant: Arc<str>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys(fpe: {})", if self.fpe.is_some() { "yes" } else { "no" })
    }
}
