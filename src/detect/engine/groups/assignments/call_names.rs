//! Names of calls that set a secret or compare one: `setPassword("…")`, `password.equals("…")`.

use super::form::ValueForm;
use crate::detect::naming;

/// What calls have at their beginning that set a value, and at their end that compare one.
const SETS: [&[u8]; 2] = [b"set", b"with"];
const COMPARES: [&[u8]; 3] = [b".equals", b".equalsignorecase", b".contentequals"];

/// What a call of a name gives it: `setPassword("…")`, `password.equals("…")`, SQL's `PASSWORD('…')`.
pub(super) fn call_form(name: &[u8]) -> Option<ValueForm> {
    let lower = name.to_ascii_lowercase();
    if COMPARES.iter().any(|end| lower.ends_with(end)) {
        return Some(ValueForm::Compared);
    }
    let last = lower.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let sets = last == b"password" || SETS.iter().any(|head| last.starts_with(head));
    sets.then_some(ValueForm::Argument(true))
}

/// Whether the name of a call is that of a secret which the call sets or compares: `setPassword`, `password.equals`.
pub(super) fn is_called(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let compared = COMPARES.iter().find_map(|end| lower.strip_suffix(*end));
    let last = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let lower = last.to_ascii_lowercase();
    let head = SETS.iter().find(|head| lower.starts_with(head)).map(|head| head.len());
    let owned = compared.or_else(|| last.get(head?..));
    owned.and_then(naming::meaning).is_some_and(|meaning| meaning.strong)
}
