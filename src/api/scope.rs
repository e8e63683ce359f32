//! What a token may do, decided here and nowhere else. Callers of these say where a request goes or what it names.
//!
//! | what | who may |
//! |---|---|
//! | an operation of a service | a token that covers the service |
//! | a route to somebody else that asks for a token | a token that covers the route |
//! | the answer of a call that is polled for | the token that made the call |
//! | a stored config, by its name or by default | a token for it, or for none in particular |
//! | the console | a token that names `admin` or, to look only, `viewer` |
//! | making, changing or removing configs | a token for none in particular, and of no tenant |
//! | a vault item that redaction uses | anybody who may use the config that names it; named by the call, or newly by a config that is written, it takes a token that covers the vault |
//! | a file of the share that is cleaned, a place there for what is clean | a token that covers the share: one for sanitizing alone has nothing there, and gets its files by URL |
//! | what undoes a redaction (`fpe_context`) | a token for the config it was made under; made with a vault's key that the call named, it takes the vault too |
//!
//! A token that was made without services and routes covers all of both; else those that it names and no others.
//! A token of a tenant never covers the vault, tokens or the console, which are of all tenants.
//! What lies behind a granted URL ([`grant`](crate::api::grant)), public keys, health and the description of the API
//! take no token.

use crate::api::error::ApiError;
use crate::api::token::{Principal, Service};
use crate::redact::{CallRights, KeyName};

/// Where a request goes, as far as tokens are narrowed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessTarget {
    /// To an operation of this service.
    Service(Service),
    /// Along the route of this name, to somebody else.
    Route(String),
    /// For the answer of an earlier call; who made that is known where the answer is.
    Answer,
}

/// What a token may do in the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleRole {
    /// Look, and change things.
    Admin,
    /// Look.
    Viewer,
}

impl Principal {
    /// What the token may do in the console; `None` where it does not cover that.
    pub fn console_role(&self) -> Option<ConsoleRole> {
        let covers = |service| self.services().contains(&service);
        match (covers(Service::Admin), covers(Service::Viewer)) {
            (true, _) => Some(ConsoleRole::Admin),
            (false, true) => Some(ConsoleRole::Viewer),
            (false, false) => None,
        }
    }

    /// Whether the token may go there.
    ///
    /// # Errors
    /// [`ApiError::ServiceNotEnabled`] or [`ApiError::OutOfScope`], which are 403.
    pub fn reach(&self, target: &AccessTarget) -> Result<(), ApiError> {
        match target {
            AccessTarget::Service(service) if self.services().contains(service) => Ok(()),
            AccessTarget::Service(_) => Err(ApiError::ServiceNotEnabled),
            AccessTarget::Route(route) if self.routes().is_none_or(|routes| routes.contains(route)) => Ok(()),
            AccessTarget::Route(_) => Err(ApiError::OutOfScope("The token does not cover this route")),
            AccessTarget::Answer => Ok(()),
        }
    }

    /// Whether the token may work with the config of this id; `None` for working without one.
    ///
    /// # Errors
    /// [`ApiError::MissingConfigIDScope`].
    pub(super) fn may_use(&self, config: Option<&str>) -> Result<(), ApiError> {
        let bound = self.configs();
        let fits = bound.is_empty() || config.is_some_and(|id| bound.iter().any(|own| own == id));
        if fits { Ok(()) } else { Err(ApiError::MissingConfigIDScope) }
    }

    /// Whether the token may make, change or remove configs: one for some configs would free itself of them.
    ///
    /// # Errors
    /// [`ApiError::OutOfScope`].
    pub(super) fn may_change_configs(&self) -> Result<(), ApiError> {
        const WHY: &str =
            "A token for some configs may use and read them, but not make, change or delete any";
        const TENANT: &str = "Configs are of all tenants; a tenant's token may use and read them only";
        match (self.configs().is_empty(), self.tenant().name()) {
            (true, None) => Ok(()),
            (true, Some(_)) => Err(ApiError::OutOfScope(TENANT)),
            (false, _) => Err(ApiError::OutOfScope(WHY)),
        }
    }

    /// Whether the caller may name these items of the vault, some of which are `granted`: by the config that the call
    /// works with, or by the config as it was before. Asked before any is looked up: whether one is there is not told.
    ///
    /// # Errors
    /// [`ApiError::OutOfScope`].
    pub(super) fn may_name_items(&self, named: &[&str], granted: &[&str]) -> Result<(), ApiError> {
        const WHY: &str =
            "A vault item that the config does not name takes a token that covers the vault service too";
        match named.iter().all(|item| granted.contains(item)) {
            true => Ok(()),
            false => self.covers(Service::Vault, WHY),
        }
    }

    /// Whether the token may undo what was made so with this key. Where it is not known how it was made, by a version
    /// before, only who may use all configs may, and a key of the vault's takes the vault.
    ///
    /// # Errors
    /// [`ApiError::MissingConfigIDScope`], [`ApiError::OutOfScope`].
    pub(super) fn may_undo(&self, made: Option<&CallRights>, key: &KeyName) -> Result<(), ApiError> {
        const WHY: &str = "The vault's key of this context takes a token that covers the vault service too";
        self.may_use(made.and_then(|made| made.config.as_deref()))?;
        let granted = made.is_some_and(|made| !made.names_key) || *key == KeyName::default();
        if granted { Ok(()) } else { self.covers(Service::Vault, WHY) }
    }

    /// Whether files may come from the share, and go there, for another service's call.
    ///
    /// # Errors
    /// [`ApiError::OutOfScope`].
    pub(super) fn may_use_share(&self) -> Result<(), ApiError> {
        const WHY: &str = "`share_id` and `share_output` take a token that covers the share service too";
        self.covers(Service::Share, WHY)
    }

    fn covers(&self, service: Service, why: &'static str) -> Result<(), ApiError> {
        if self.services().contains(&service) { Ok(()) } else { Err(ApiError::OutOfScope(why)) }
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
