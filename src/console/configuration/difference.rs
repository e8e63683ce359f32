//! What changes from one configuration to another, by name: never a value, which may be secret.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::settings::{Route, Settings, Upstream};
use crate::config::{Config, restart_only};
use crate::console::routes::{RuledRoute, effects};

/// Things with names, of which some came, went or are other now.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct NameDifference {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

/// What changes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// Routes.
    routes: NameDifference,
    /// Upstreams.
    upstreams: NameDifference,
    /// Other settings that a reload reaches.
    reloaded: Vec<&'static str>,
    /// Settings that take a restart.
    restart: Vec<&'static str>,
    /// What it means: by the route, or the setting.
    effects: BTreeMap<String, Vec<String>>,
}

impl NameDifference {
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
    pub(super) fn between(before: &Config, after: &Config) -> Self {
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
            routes: NameDifference::between(routes(before), routes(after)),
            upstreams: NameDifference::between(upstreams(before), upstreams(after)),
            reloaded: reloaded.into_iter().map(|(_, name)| name).collect(),
            restart,
            effects: all_effects(before, after),
        }
    }
}

fn all_effects(before: &Config, after: &Config) -> BTreeMap<String, Vec<String>> {
    fn of<'c>(route: &'c Route, config: &'c Config) -> RuledRoute<'c> {
        RuledRoute { route, catalogue: &config.catalogue }
    }
    let were = routes(before);
    let changed = routes(after).into_iter().filter_map(|(name, route)| {
        // One that stays may mean another thing where rules are others.
        let was = were.get(name)?;
        Some((name.to_owned(), effects(of(was, before), of(route, after))))
    });
    let mut all: BTreeMap<String, Vec<String>> = changed.filter(|(_, effects)| !effects.is_empty()).collect();
    let (had, has) = (before.detect.allow.len(), after.detect.allow.len());
    if had != has {
        all.insert("detect.allow".to_owned(), vec![format!("entries of what may pass: {had}, then {has}")]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProcessEnv, parse};
    use crate::detect::Catalogue;

    #[test]
    fn what_changes_is_named() {
        let rules = Catalogue::builtin().unwrap();
        let settings = |text: &str| parse(text, "test.toml", &ProcessEnv, &rules).unwrap();
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
            "effects": { "two": ["it leads to another upstream"] },
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn what_a_change_means_is_said() {
        let rules = Catalogue::builtin().unwrap();
        let config = |redact: &str, more: &str| {
            let text = format!(
                "data = 'd'\n[upstreams.a]\npeers = ['http://127.0.0.1:1']\n[[routes]]\nname = 'one'\nauth = 'none'\nupstream = 'a'\n\
                 [routes.redact]\n{redact}\n{more}",
            );
            parse(&text, "test.toml", &ProcessEnv, &rules).unwrap()
        };
        let before = config("", "");
        let allow = "[[detect.allow]]\nvalues = ['Tom Baker']\nrules = ['PERSON']\n";
        let after = config("without = ['PERSON']\nwith = ['DATE_TIME']\nrequests = 'replace'", allow);
        let effects = Difference::between(&before, &after).effects;
        let expected = [
            ("detect.allow", vec!["entries of what may pass: 0, then 1"]),
            (
                "one",
                vec![
                    "no longer looked for: PERSON",
                    "looked for from then on: DATE_TIME",
                    "findings in requests: encrypt, then replace",
                    "findings in answers: restore, then replace",
                ],
            ),
        ];
        let expected =
            expected.map(|(name, said)| (name.to_owned(), said.into_iter().map(str::to_owned).collect()));
        assert_eq!(effects, BTreeMap::from(expected));
    }
}
