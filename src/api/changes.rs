//! [`ChangeLog`]: administrative acts, written down before whoever asked for one is told.

use std::sync::Arc;

use crate::api::cpu::apart;
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
            .or_else(|_| apart(|| audit.write(&event)))
            .map_err(|_| ApiError::Internal("audit"))
    }
}
