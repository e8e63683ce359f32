//! [`Tenant`]: whose data a caller works on.

use std::ops::Deref;
use std::sync::Arc;

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// Whose data a caller works on. Surrogates, digests, what undoes them, files of the share and what is remembered are each tenant's
/// own: the same value gets another surrogate for another tenant, and what was made for one is opened for no other. The default is
/// the store's own, for callers without a token and for tokens that name no tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The label that a token of a tenant has, with its name: what budgets and the audit log know it by.
    pub const LABEL: &'static str = "tenant";

    /// The tenant of this name.
    ///
    /// # Errors
    /// [`TenantError`].
    pub fn parse(name: &str) -> Result<Self, TenantError> {
        let named = is_plain(name) && *name != *Self::default();
        if named { Ok(Self(Arc::from(name))) } else { Err(TenantError) }
    }

    /// Its name, where it is not the store's own.
    pub fn name(&self) -> Option<&str> {
        (*self != Self::default()).then_some(&*self.0)
    }

    /// What keys and tweaks are derived with.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

/// What no tenant is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tenant's name has 1 to {LONGEST} small letters, digits, dots, hyphens and underscores, and is not `default`"
)]
pub struct TenantError;

/// Whether a tenant, or a label, may be called so: 1 to 64 small letters, digits, dots, hyphens and underscores.
pub(super) fn is_plain(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(fits)
}

impl Default for Tenant {
    fn default() -> Self {
        Self(Arc::from("default"))
    }
}

impl Deref for Tenant {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_none_is_the_store_s_own() {
        for name in ["acme", "a", "acme.eu-1_x", &"a".repeat(64)] {
            assert_eq!(Tenant::parse(name).unwrap().name(), Some(name));
        }
        for name in ["", "default", "Acme", "acme corp", "\u{e4}", "a/b", &"a".repeat(65)] {
            assert_eq!(Tenant::parse(name), Err(TenantError));
        }
        assert_eq!(Tenant::default().name(), None);
    }
}
