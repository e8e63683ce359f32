//! Logs and traces.

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::Telemetry;

pub(super) fn all(telemetry: &Telemetry, diagnostics: &mut Diagnostics) {
    let Some(otlp) = &telemetry.otlp else { return };
    if !(0.0..=1.0).contains(&*otlp.ratio) {
        diagnostics.say(otlp.ratio.span().start, "`ratio` must lie between 0 and 1");
    }
    if otlp.time.get().is_zero() {
        diagnostics.say(otlp.time.span().start, "a `time` must be longer than nothing");
    }
    for (name, value) in &otlp.headers {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            diagnostics.say(value.span().start, format!("`{name}` is not a header's name"));
        }
    }
}
