//! Envoy's external processing: whether this program has it, and what has no place in what another proxy carries.

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, Route, Settings};
use crate::config::spanned::Spanned;

/// Checks it all; `built` says whether this program serves it.
pub(super) fn all(settings: &Settings, built: bool, diagnostics: &mut Diagnostics) {
    let listeners: Vec<_> = settings.listen.iter().filter(|listen| *listen.ext_proc).collect();
    let routes: Vec<_> = settings.routes.iter().filter(|route| route.is_processed()).collect();
    let listens = listeners.iter().map(|listen| listen.ext_proc.span().start);
    let ends = routes.iter().filter_map(|route| Some(route.endpoint.as_ref()?.span().start));
    if !built {
        for place in listens.chain(ends) {
            let message = "this program is built without Envoy's external processing";
            diagnostics.hint(place, message, "build it with `cargo build --release --features ext_proc`");
        }
        return;
    }
    if routes.is_empty() && !diagnostics.lost(0, "routes") && !diagnostics.lost_anywhere("endpoint") {
        for place in listens {
            let hint = "a route for them has endpoint = \"ext_proc\"";
            diagnostics.hint(place, "no route takes the requests that are processed here", hint);
        }
    } else if listeners.is_empty() && !diagnostics.lost(0, "listen") && !diagnostics.lost_anywhere("ext_proc")
    {
        for place in ends {
            let hint = "a listener for Envoy has ext_proc = true";
            diagnostics.hint(place, "never reached: no listener serves external processing", hint);
        }
    }
    for listen in listeners.into_iter().filter(|listen| *listen.h2c) {
        let hint = "`ext_proc` takes HTTP/2 with `tls` and without";
        diagnostics.hint(listen.h2c.span().start, "`h2c` does nothing here", hint);
    }
    routes.into_iter().for_each(|route| idle(route, diagnostics));
}

/// Settings of what the other proxy does itself, or does not show.
fn idle(route: &Spanned<Route>, diagnostics: &mut Diagnostics) {
    let carries = "Envoy carries the request: its own route says where it goes";
    let places = [
        (route.strip_prefix.then(|| route.strip_prefix.span().start), "strip_prefix"),
        (route.replace_prefix.as_ref().map(|put| put.span().start), "replace_prefix"),
        (route.models.first().map(|name| name.span().start), "models"),
    ];
    for (place, name) in places {
        if let Some(place) = place {
            diagnostics.hint(place, format!("`{name}` has no place on a route of Envoy's"), carries);
        }
    }
    let auth = route.auth.as_ref().filter(|auth| ***auth == Auth::Certificate).map(|auth| auth.span().start);
    let table = route.certificate.as_ref().map(|table| table.span().start);
    if let Some(place) = auth.or(table) {
        let hint = "`client_ca` of the listener's `tls` says which Envoys may connect";
        diagnostics.hint(place, "callers' certificates are not seen here: Envoy has their connections", hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::{Endpoint, Listen};

    fn said(settings: &Settings, built: bool) -> Vec<String> {
        let mut diagnostics = Diagnostics::default();
        all(settings, built, &mut diagnostics);
        let problems = diagnostics.settle("test.toml", "", Vec::new());
        problems.iter().flat_map(|problems| problems.iter()).map(ToString::to_string).collect()
    }

    #[test]
    fn a_program_without_it_says_how_to_get_it() {
        let listen = Listen { ext_proc: Spanned::new(true), ..Listen::default() };
        let route = Route { endpoint: Some(Spanned::new(Endpoint::ExtProc)), ..Route::default() };
        let settings = Settings {
            listen: vec![Spanned::new(listen)],
            routes: vec![Spanned::new(route)],
            ..Settings::default()
        };
        let told = said(&settings, false);
        assert!(!told.is_empty());
        for problem in told {
            assert!(problem.contains("cargo build --release --features ext_proc"), "{problem}");
        }
        assert!(said(&settings, true).is_empty());
        assert!(said(&Settings::default(), false).is_empty());
    }
}
