//! What may have been meant by a command line that is wrong.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What the environment may say in place of the command line.
const VARIABLES: &[&str] =
    &["PORTCULLIS_CONFIG", "PORTCULLIS_LISTEN", "PORTCULLIS_ADMIN", "PORTCULLIS_UPSTREAM", "PORTCULLIS_DATA"];

/// What other programs call a command.
const OTHERS: &[(&str, &str)] = &[
    ("anonymize", "redact"),
    ("clean", "sanitize"),
    ("completion", "completions"),
    ("daemon", "serve"),
    ("deanonymize", "unredact"),
    ("find", "detect"),
    ("generate", "keys generate"),
    ("lint", "check"),
    ("log", "audit export"),
    ("logs", "audit export"),
    ("manual", "man"),
    ("mask", "redact"),
    ("ready", "health"),
    ("restore", "unredact"),
    ("run", "serve"),
    ("scan", "detect"),
    ("server", "serve"),
    ("start", "serve"),
    ("status", "health"),
    ("up", "serve"),
    ("validate", "check"),
    ("verify", "check"),
];

/// The same error, with what may have been meant.
pub(super) fn advised(mut error: Error) -> Error {
    let tip = match error.kind() {
        ErrorKind::ArgumentConflict => environment(),
        ErrorKind::InvalidSubcommand => text(&error, ContextKind::InvalidSubcommand).and_then(|name| {
            let (_, ours) = OTHERS.iter().find(|(other, _)| *other == name)?;
            // What is only spelled alike is further off.
            error.remove(ContextKind::SuggestedSubcommand);
            Some(format!("that is `portcullis {ours}` here"))
        }),
        ErrorKind::UnknownArgument => text(&error, ContextKind::InvalidArg)
            .filter(|name| name.ends_with(".toml"))
            .map(|name| format!("a configuration file is named with -c: `-c {}`", name.escape_debug())),
        // A value that nobody typed.
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => text(&error, ContextKind::InvalidValue)
            .and_then(|value| VARIABLES.iter().find(|name| std::env::var(name).is_ok_and(|set| set == value)))
            .map(|name| format!("set in the environment: {name}")),
        _ => None,
    };
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// What does not go together may have come from the environment, so its part is named.
fn environment() -> Option<String> {
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let set: Vec<&str> = VARIABLES.iter().filter(is_set).copied().collect();
    (!set.is_empty()).then(|| format!("set in the environment: {}", set.join(", ")))
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}
