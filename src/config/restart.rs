//! Settings that change with a restart only: a reload leaves them as they are, and says so.

use crate::config::settings::{Admin, Limits, Listen, Settings};

/// The keys of settings that differ between what runs and what the file says now, and which a reload does not reach.
pub fn restart_only(running: &Settings, now: &Settings) -> Vec<&'static str> {
    let (a, b) = (running, now);
    let mut differ = vec![
        (listeners(a) != listeners(b), "listen"),
        (admin(a) != admin(b), "admin"),
        (a.data != b.data, "data"),
        (a.threads != b.threads, "threads"),
        (a.store != b.store, "store"),
        (a.upgrade != b.upgrade, "upgrade"),
        (a.blobs.s3 != b.blobs.s3, "blobs.s3"),
        (a.blobs.passing != b.blobs.passing, "blobs.passing"),
        (a.log != b.log, "log"),
        (a.audit != b.audit, "audit"),
        (a.clients != b.clients, "clients"),
        (a.telemetry != b.telemetry, "telemetry"),
        (limits(&a.limits) != limits(&b.limits), "limits"),
    ];
    differ.retain(|(differs, _)| *differs);
    differ.into_iter().map(|(_, key)| key).collect()
}

/// Where callers are listened to, and how: whether by TLS, but not what that shows and asks for.
fn listeners(settings: &Settings) -> Vec<(Listen, bool)> {
    let each = |listen: &Listen| (Listen { tls: None, ..listen.clone() }, listen.tls.is_some());
    settings.listen.iter().map(|listen| each(listen)).collect()
}

/// The same of the listener for metrics and health.
fn admin(settings: &Settings) -> Option<(Admin, bool)> {
    let admin = settings.admin.as_ref()?;
    Some((Admin { tls: None, ..admin.clone() }, admin.tls.is_some()))
}

/// Limits that a reload does not reach: all but those that routes are built with. A field that is new must be named here, on one
/// side or the other.
fn limits(limits: &Limits) -> impl PartialEq + '_ {
    let Limits {
        connections,
        connections_per_address,
        head_time,
        headers,
        idle,
        head,
        streams,
        body_rate,
        body_grace,
        write_stall,
        per_request,
        held,
        shared,
        // What a reload reaches.
        body: _,
        file: _,
        collected: _,
        in_flight: _,
        queue: _,
        distinct_values: _,
        distinct_per: _,
        findings_cache: _,
        drain: _,
    } = limits;
    let front = (connections, connections_per_address, head_time, headers, idle, head, streams);
    (front, body_rate, body_grace, write_stall, per_request, held, shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProcessEnv, parse};
    use crate::detect::Catalogue;

    fn settings(text: &str) -> Settings {
        let rules = Catalogue::builtin().unwrap();
        (*parse(text, "test.toml", &ProcessEnv, &rules).unwrap()).clone()
    }

    #[test]
    fn what_takes_a_restart_is_named_and_nothing_else() {
        let first = settings("data = 'a'\n[[listen]]\naddress = '127.0.0.1:8080'\n[log]\nlevel = 'warn'");
        assert!(restart_only(&first, &first).is_empty());
        // Elsewhere in the file, and what a reload does reach.
        let same = settings(
            "# longer\ndata = 'a'\n[limits]\nbody = '1MiB'\ndistinct_values = 5\nfindings_cache = '1MiB'\n[[listen]]\naddress = '127.0.0.1:8080'\n[log]\nlevel = 'warn'",
        );
        assert!(restart_only(&first, &same).is_empty());
        let other = settings(
            "data = 'b'\nthreads = 2\n[admin]\n[limits]\nhead = '1KiB'\n[[listen]]\naddress = '127.0.0.1:8081'\n\
             [clients]\ntrusted_peers = ['192.0.2.1']\n[telemetry.otlp]\nendpoint = 'http://127.0.0.1:4318/v1/traces'",
        );
        let differ = ["listen", "admin", "data", "threads", "log", "clients", "telemetry", "limits"];
        assert_eq!(restart_only(&first, &other), differ);
    }
}
