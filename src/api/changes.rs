//! [`ChangeLog`]: administrative acts, written down before whoever asked for one is told.

use std::sync::Arc;
use std::time::Duration;

use crate::api::cpu::block_in_place;
use crate::api::error::ApiError;
use crate::api::token::Principal;
use crate::audit::{AuditEvent, AuditKind, AuditLog};
use crate::base::clock::SharedClock;

/// How long whoever did something waits until the disk has it.
const PATIENCE: Duration = Duration::from_secs(2);

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
        self.fault().map_or(Ok(()), |_| Err(ApiError::Unaudited))
    }

    /// Why acts cannot be written down now, for the operator.
    pub fn fault(&self) -> Option<String> {
        self.audit.as_ref().and_then(|audit| audit.fault())
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
            .map_err(|_| ApiError::Unaudited)
    }

    /// Returns once the disk has what was written down before.
    ///
    /// # Errors
    /// It has not, and it is not known whether it will.
    pub fn written(&self) -> Result<(), ApiError> {
        self.ready()?;
        let Some(audit) = &self.audit else { return Ok(()) };
        block_in_place(|| audit.flush(PATIENCE)).then_some(()).ok_or(ApiError::Unaudited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::token::{NewToken, Tokens};
    use crate::base::clock::{FixedClock, Timestamp};
    use crate::store::{EmbeddedRecords, Records};

    /// Waits until something is so.
    async fn until(is: impl Fn() -> bool) {
        for _ in 0..3000 {
            if is() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it has not become so");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_waits_for_the_disk_is_told_whether_it_has_an_act() {
        let folder = tempfile::tempdir().unwrap();
        let clock: SharedClock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let file = folder.path().join("portcullis.sqlite");
        let records = EmbeddedRecords::open(&file, Arc::clone(&clock)).await.unwrap();
        let tokens = Tokens::new(Arc::new(records) as Arc<dyn Records>, Arc::clone(&clock));
        let (_, token) =
            tokens.create(NewToken { name: "ci".to_owned(), ..NewToken::default() }).await.unwrap();
        let who = tokens.verify(token.expose()).await.unwrap();
        let path = folder.path().join("audit.jsonl");
        let audit = Arc::new(AuditLog::open(&path, "node").unwrap());
        let changes = ChangeLog { audit: Some(Arc::clone(&audit)), clock };
        changes.note(&who, "token.create", Some("pti_x")).unwrap();
        changes.written().unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("token.create"), "it is there already");

        // As long as a folder has the name no file can follow.
        std::fs::rename(&path, folder.path().join("moved")).unwrap();
        std::fs::create_dir(&path).unwrap();
        until(|| !audit.healthy()).await;
        assert!(matches!(changes.ready(), Err(ApiError::Unaudited)) && changes.fault().is_some());
        changes.note(&who, "token.rotate", None).unwrap();
        assert!(matches!(changes.written(), Err(ApiError::Unaudited)));
        std::fs::remove_dir(&path).unwrap();
        until(|| audit.healthy()).await;
        changes.written().unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("token.rotate"), "it has waited");
    }
}
