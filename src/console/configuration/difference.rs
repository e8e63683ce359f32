//! What changes from one configuration to another, by name: never a value, which may be secret.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::restart_only;
use crate::config::settings::{Route, Settings, Upstream};

/// Things with names, of which some came, went or are other now.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Names {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

/// What changes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// Routes.
    routes: Names,
    /// Upstreams.
    upstreams: Names,
    /// Other settings that a reload reaches.
    reloaded: Vec<&'static str>,
    /// Settings that take a restart.
    restart: Vec<&'static str>,
}

impl Names {
    fn between<T: PartialEq>(mut before: BTreeMap<&str, &T>, after: BTreeMap<&str, &T>) -> Self {
        let mut names = Self::default();
        for (name, value) in after {
            match before.remove(name) {
                None => names.added.push(name.to_owned()),
                Some(known) if known != value => names.changed.push(name.to_owned()),
                Some(_) => {}
            }
        }
        names.removed = before.into_keys().map(str::to_owned).collect();
        names
    }
}

fn routes(settings: &Settings) -> BTreeMap<&str, &Route> {
    settings.routes.iter().map(|route| (route.name.as_str(), &**route)).collect()
}

fn upstreams(settings: &Settings) -> BTreeMap<&str, &Upstream> {
    settings.upstreams.iter().map(|(name, upstream)| (name.as_str(), &**upstream)).collect()
}

impl Difference {
    /// What changes where `after` takes the place of `before`.
    pub(super) fn between(before: &Settings, after: &Settings) -> Self {
        let mut reloaded = vec![
            (before.detect != after.detect, "detect"),
            (before.api != after.api, "api"),
            (before.jwks != after.jwks, "jwks"),
            (before.sanitize != after.sanitize, "sanitize"),
            (before.share != after.share, "share"),
            (before.usage != after.usage, "usage"),
            (before.models != after.models, "models"),
            (before.reload != after.reload, "reload"),
            (before.limits != after.limits, "limits"),
            (before.blobs != after.blobs, "blobs"),
        ];
        let restart = restart_only(before, after);
        reloaded.retain(|(differs, name)| *differs && !restart.contains(name));
        Self {
            routes: Names::between(routes(before), routes(after)),
            upstreams: Names::between(upstreams(before), upstreams(after)),
            reloaded: reloaded.into_iter().map(|(_, name)| name).collect(),
            restart,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProcessEnv, parse};
    use crate::detect::Catalogue;

    #[test]
    fn what_changes_is_named() {
        let rules = Catalogue::builtin().unwrap();
        let settings = |text: &str| (*parse(text, "test.toml", &ProcessEnv, &rules).unwrap()).clone();
        let before = settings(
            "data = 'd'\n[upstreams.a]\npeers = ['http://127.0.0.1:1']\n[[routes]]\nname = 'one'\npath = '/one'\nauth = 'none'\nupstream = 'a'\n\
             [[routes]]\nname = 'two'\npath = '/two'\nauth = 'none'\nupstream = 'a'\n",
        );
        let after = settings(
            "data = 'e'\n[usage]\ncount = 'all'\n[upstreams.a]\npeers = ['http://127.0.0.1:2']\n[upstreams.b]\n\
             peers = ['http://127.0.0.1:3']\n[[routes]]\nname = 'two'\npath = '/zwei'\nauth = 'none'\nupstream = 'b'\n",
        );
        let told = serde_json::to_value(Difference::between(&before, &after)).unwrap();
        let expected = serde_json::json!({
            "routes": { "added": [], "removed": ["one"], "changed": ["two"] },
            "upstreams": { "added": ["b"], "removed": [], "changed": ["a"] },
            "reloaded": ["usage"],
            "restart": ["data"],
        });
        assert_eq!(told, expected);
    }
}
