//! [`FormIds`]: forms that may be sent once. A page that is loaded anew is sent again by the browser, and would make a second
//! token.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;

use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::TokenId;
use crate::crypto::random::{self, RandomError};

/// How long a form may be sent after it was shown: no session lasts longer.
const LIFE: Duration = Duration::from_secs(12 * 3600);

/// Forms that were sent and are remembered; with one more, none may be sent that was shown before the oldest of them.
const MOST: usize = 4096;

/// Bytes of a form's id that are random.
const RANDOM: usize = 16;

/// What a form that comes is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormUse {
    /// It was not sent before.
    First,
    /// It was, and this is what came of it, where that is known.
    Again(Option<TokenId>),
    /// It was shown too long ago, or is none of ours.
    Old,
}

/// When a form was shown, and what tells it from others.
type FormKey = (Timestamp, [u8; RANDOM]);

/// The forms that were sent.
#[derive(Default)]
struct SentForms {
    /// With the token that came of each, once it is known.
    sent: BTreeMap<FormKey, Option<TokenId>>,
    /// When the youngest form was shown that was sent and is forgotten.
    forgotten: Option<Timestamp>,
}

/// Makes ids of forms, and knows those that were sent.
pub(super) struct FormIds {
    clock: SharedClock,
    forms: Mutex<SentForms>,
}

impl FormIds {
    /// Of a process that has shown none yet.
    pub(super) fn new(clock: SharedClock) -> Self {
        Self { clock, forms: Mutex::default() }
    }

    /// The id of a form that is shown now.
    ///
    /// # Errors
    /// There are no random bits.
    pub(super) fn fresh(&self) -> Result<String, RandomError> {
        let random = BASE64URL_NOPAD.encode(&random::bytes::<RANDOM>()?);
        Ok(format!("{}.{random}", self.clock.now().as_millis()))
    }

    /// Takes the form of this id.
    pub(super) fn take(&self, id: &str) -> FormUse {
        let Some(key) = key(id) else { return FormUse::Old };
        let (now, mut forms) = (self.clock.now(), self.forms());
        if let Some(made) = forms.sent.get(&key) {
            return FormUse::Again(made.clone());
        }
        let (shown, _) = key;
        let is_old = now >= shown.plus(LIFE) || forms.forgotten.is_some_and(|forgotten| shown <= forgotten);
        if shown > now || is_old {
            return FormUse::Old;
        }
        forms.sent.insert(key, None);
        if forms.sent.len() > MOST
            && let Some(((oldest, _), _)) = forms.sent.pop_first()
        {
            forms.forgotten = Some(oldest);
        }
        FormUse::First
    }

    /// What came of a form that was taken.
    pub(super) fn settle(&self, id: &str, made: &TokenId) {
        let Some(key) = key(id) else { return };
        if let Some(known) = self.forms().sent.get_mut(&key) {
            *known = Some(made.clone());
        }
    }

    /// Nothing came of a form that was taken: it may be sent again.
    pub(super) fn release(&self, id: &str) {
        if let Some(key) = key(id) {
            self.forms().sent.remove(&key);
        }
    }

    fn forms(&self) -> MutexGuard<'_, SentForms> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an id says; `None`: it is none.
fn key(id: &str) -> Option<FormKey> {
    let (shown, random) = id.split_once('.')?;
    let random = BASE64URL_NOPAD.decode(random.as_bytes()).ok()?.try_into().ok()?;
    Some((Timestamp::from_millis(shown.parse().ok()?), random))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::FixedClock;

    fn process() -> (FormIds, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        (FormIds::new(Arc::clone(&clock) as SharedClock), clock)
    }

    #[test]
    fn a_form_is_taken_once_and_what_came_of_it_is_known() {
        let (ids, clock) = process();
        let (one, other) = (ids.fresh().unwrap(), ids.fresh().unwrap());
        assert_eq!(ids.take(&one), FormUse::First);
        assert_eq!(ids.take(&one), FormUse::Again(None), "it is under way");
        let made = TokenId::from_random([1; 20]);
        ids.settle(&one, &made);
        assert_eq!(ids.take(&one), FormUse::Again(Some(made.clone())));
        // Of one that failed, nothing came.
        assert_eq!(ids.take(&other), FormUse::First);
        ids.release(&other);
        assert_eq!(ids.take(&other), FormUse::First);
        let later = [format!("9{one}"), format!("1{other}")];
        for none in ["", "1", "x.y", "1800000000000.", "1800000000000.AAAA", &later[0], &later[1]] {
            assert_eq!(ids.take(none), FormUse::Old, "{none}");
            ids.settle(none, &made);
            ids.release(none);
        }
        clock.advance(LIFE);
        assert_eq!(ids.take(&ids.fresh().unwrap()), FormUse::First);
        let (late, clock) = process();
        let form = late.fresh().unwrap();
        clock.advance(LIFE);
        assert_eq!(late.take(&form), FormUse::Old);
    }

    #[test]
    fn forms_without_number_take_a_bounded_room_and_none_is_taken_twice() {
        let (ids, clock) = process();
        let shown_first = ids.fresh().unwrap();
        let mut sent = Vec::new();
        for _ in 0..MOST + 50 {
            clock.advance(Duration::from_millis(1));
            let form = ids.fresh().unwrap();
            assert_eq!(ids.take(&form), FormUse::First);
            sent.push(form);
        }
        assert_eq!(ids.forms().sent.len(), MOST);
        for form in &sent {
            assert_ne!(ids.take(form), FormUse::First);
        }
        assert_eq!(ids.take(&shown_first), FormUse::Old, "it may have been sent and forgotten");
    }
}
