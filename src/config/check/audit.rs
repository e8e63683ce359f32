//! The audit log, and where copies of its lines go.

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::Settings;

/// Longer names are cut in lines, and two could be one then.
const LONGEST: usize = 128;

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
    let Some(audit) = &settings.audit else { return };
    if let Some(node) = &audit.node {
        let named = !node.is_empty() && node.len() <= LONGEST && !node.contains(char::is_control);
        if !named {
            let why = format!("a `node` has 1 to {LONGEST} bytes and no control characters");
            diagnostics.say(node.span().start, why);
        }
    }
    if audit.keep.get().is_zero() {
        diagnostics.say(audit.keep.span().start, "`keep` must be longer than nothing");
    }
    let Some(otlp) = &audit.otlp else { return };
    if otlp.time.get().is_zero() {
        diagnostics.say(otlp.time.span().start, "a `time` must be longer than nothing");
    }
    for (name, value) in &otlp.headers {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            diagnostics.say(value.span().start, format!("`{name}` is not a header's name"));
        }
    }
}
