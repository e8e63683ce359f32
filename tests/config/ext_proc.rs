//! Envoy's external processing in the configuration.

use super::{lines, read};

const LISTEN: &str = "[[listen]]\naddress = '127.0.0.1:8081'\next_proc = true\n";
const ROUTE: &str = "[[routes]]\nname = 'a'\nendpoint = 'ext_proc'\nauth = 'none'\n";

#[test]
#[cfg(feature = "ext_proc")]
fn what_has_no_place_on_a_route_of_envoys_is_told() {
    let upstream =
        "[upstreams.u]\npeers = ['https://u.test']\n[[routes]]\nname = 'b'\nupstream = 'u'\nauth = 'none'\n";
    let rows = [
        (format!("{LISTEN}{ROUTE}"), vec![]),
        // Each kind of routes is found in a table of its own.
        (format!("{LISTEN}{ROUTE}{upstream}"), vec![]),
        (LISTEN.to_owned(), vec!["no route takes the requests that are processed here"]),
        (ROUTE.to_owned(), vec!["never reached: no listener serves external processing"]),
        (
            format!("{LISTEN}h2c = true\n{ROUTE}path = '/a'\nstrip_prefix = true\n"),
            vec!["`h2c` does nothing here", "`strip_prefix` has no place on a route of Envoy's"],
        ),
        (
            format!("{LISTEN}{ROUTE}path = '/a'\nreplace_prefix = '/b'\n"),
            vec!["`replace_prefix` has no place on a route of Envoy's"],
        ),
        (
            format!("{LISTEN}{}", ROUTE.replace("none", "certificate")),
            vec!["callers' certificates are not seen here"],
        ),
        (format!("{LISTEN}{}", ROUTE.replace("auth = 'none'", "")), vec!["`auth` is missing"]),
        (format!("{LISTEN}{ROUTE}{}", ROUTE.replace("'a'", "'b'")), vec!["never reached: the route `a`"]),
    ];
    for (text, wanted) in rows {
        let told = lines(read(&text));
        let told: Vec<&String> =
            told.iter().filter(|line| !line.contains("no listener asks for one")).collect();
        assert_eq!(told.len(), wanted.len(), "{text}\n{told:?}");
        for want in wanted {
            assert!(told.iter().any(|line| line.contains(want)), "{text}\n{told:?}");
        }
    }
}

#[test]
#[cfg(not(feature = "ext_proc"))]
fn a_program_without_it_refuses_it() {
    let told = lines(read(&format!("{LISTEN}{ROUTE}")));
    assert_eq!(told.len(), 2, "{told:?}");
    for (line, place) in told.iter().zip(["test.toml:3:", "test.toml:6:"]) {
        assert!(line.starts_with(place) && line.contains("--features ext_proc"), "{line}");
    }
}
