//! Whether there is someone behind every provider's name.

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{ProviderEngine, Sanitize};
use crate::config::similar;

pub(super) fn all(sanitize: &Sanitize, diagnostics: &mut Diagnostics) {
    let Sanitize { scan, intel, .. } = sanitize;
    for engine in scan.providers.values() {
        if **engine == ProviderEngine::Clamd && scan.clamd.is_none() {
            diagnostics.hint(
                engine.span().start,
                "there is no clamd",
                "say where it is in [sanitize.scan.clamd]",
            );
        }
    }
    let times = scan.clamd.iter().map(|clamd| &clamd.time).chain([&scan.time]);
    for time in times.chain(intel.remote.values().map(|remote| &remote.time)) {
        if time.get().is_zero() {
            diagnostics.say(time.span().start, "a `time` must be longer than nothing");
        }
    }
    for name in intel.url_providers.values().chain(intel.domain_providers.values()) {
        if **name != "embedded" && !intel.remote.contains_key(name.as_str()) {
            let message = format!("there is no [sanitize.intel.remote.{}]", **name);
            let names = intel.remote.keys().map(String::as_str).chain(["embedded"]);
            match similar::did_you_mean(name, names) {
                Some(hint) => diagnostics.hint(name.span().start, message, hint),
                None => diagnostics.say(name.span().start, message),
            }
        }
    }
    for remote in intel.remote.values() {
        for (name, value) in &remote.headers {
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                diagnostics.say(value.span().start, format!("`{name}` is not a header's name"));
            }
        }
    }
}
