//! [`ChangeLog`]: administrative acts, written down before whoever asked for one is told.

use std::sync::Arc;

use crate::api::cpu::block_in_place;
use crate::api::error::ApiError;
use crate::api::token::Principal;
use crate::audit::{AuditEvent, AuditKind, AuditLog};
use crate::base::clock::SharedClock;

/// Where administrative acts are written down. Cheap to clone.
#[derive(Clone)]
pub struct ChangeLog {
    /// The audit log, if there is one.
    pub audit: Option<Arc<AuditLog>>,
    /// Reads time.
    pub clock: SharedClock,
}

impl ChangeLog {
    /// That acts can be written down now: asked before one that cannot be taken back, such as a secret that is shown once.
    ///
    /// # Errors
    /// They cannot.
    pub fn ready(&self) -> Result<(), ApiError> {
        let ready = self.audit.as_ref().is_none_or(|audit| audit.healthy());
        ready.then_some(()).ok_or(ApiError::Internal("audit"))
    }

    /// Writes down what somebody did, such as `token.create`, and the id of what it was done with.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note(&self, who: &Principal, act: &str, target: Option<&str>) -> Result<(), ApiError> {
        let Some(audit) = &self.audit else { return Ok(()) };
        let mut event = AuditEvent::of(AuditKind::Change, self.clock.now());
        event.token = Some(who.id());
        event.token_name = Some(who.name());
        event.act = Some(act);
        event.target = target;
        audit
            .try_write(&event)
            .or_else(|_| block_in_place(|| audit.write(&event)))
            .map_err(|_| ApiError::Internal("audit"))
    }
}
