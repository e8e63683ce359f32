//! [`weakened`]: what another configuration takes away of the protection that one gives, by the names of routes and rules:
//! never a value, which may be secret. What was cut off a file, or emptied, is a configuration too.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::load::Config;
use crate::config::settings::{
    Answers, Auth, Direct, Endpoint, Media, Method, Methods, Redact, Requests, Route, Terminal,
};
use crate::detect::Rule;
use crate::gateway::filters::FileTreatment;
use crate::gateway::layer::UnscannedPolicy;

/// Names that are said; of more it is said how many.
const NAMED: usize = 8;

/// A protection that is there, and would not be any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// The route that it is of; `None`: all of them.
    pub route: Option<String>,
    /// What changes.
    pub change: String,
}

/// The first of these names, and how many more there are; `None` of none.
pub fn listed_names(names: &[&str]) -> Option<String> {
    let first = names.get(..names.len().min(NAMED)).unwrap_or_default();
    let more = names.len().saturating_sub(first.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!first.is_empty()).then(|| first.join(", ") + &rest)
}

/// What `after` takes away in the place of `before`.
pub fn weakened(before: &Config, after: &Config) -> Vec<Weakening> {
    let gone: BTreeSet<&str> =
        before.catalogue.names().filter(|name| after.catalogue.find(name).is_none()).collect();
    let mut changes = of_rules(before, after, &gone);
    let routes: BTreeMap<&str, &Route> =
        after.routes.iter().map(|route| (route.name.as_str(), &**route)).collect();
    for was in &before.routes {
        let was = ConfiguredRoute { route: was, config: before };
        let changed = match routes.get(was.route.name.as_str()) {
            Some(route) => of_route(was, ConfiguredRoute { route, config: after }, &gone),
            None if was.is_redacted() => vec!["the route is gone, which redacted".to_owned()],
            None => Vec::new(),
        };
        let route = was.route.name.to_string();
        changes.extend(changed.into_iter().map(|change| Weakening { route: Some(route.clone()), change }));
    }
    changes
}

/// What is taken away of every route: rules that are `gone`, or need to be surer, and the names model.
fn of_rules(before: &Config, after: &Config, gone: &BTreeSet<&str>) -> Vec<Weakening> {
    let rose = |rule: &&Rule| {
        let now = after.catalogue.find(rule.name()).and_then(|id| after.catalogue.rule(id));
        now.is_some_and(|now| now.threshold() > rule.threshold())
    };
    let gone: Vec<&str> = gone.iter().copied().collect();
    let surer: Vec<&str> = before.catalogue.rules().filter(rose).map(Rule::name).collect();
    let model = before.catalogue.names_model().is_some() && after.catalogue.names_model().is_none();
    let changes = [
        listed_names(&gone).map(|names| format!("rules are gone: {names}")),
        listed_names(&surer).map(|names| format!("rules have a higher threshold: {names}")),
        model.then(|| "no names model looks for persons and places any more".to_owned()),
    ];
    changes.into_iter().flatten().map(|change| Weakening { route: None, change }).collect()
}

/// A route, and the configuration that it is of.
#[derive(Clone, Copy)]
struct ConfiguredRoute<'c> {
    route: &'c Route,
    config: &'c Config,
}

/// What happens to findings one way.
struct RestMethod {
    /// In a word.
    word: String,
    /// Whether nothing is looked for, whatever rules have of their own.
    off: bool,
    /// Whether values of rules that have no method of their own pass as they are.
    passes: bool,
}

/// The ways that bodies go.
#[derive(Clone, Copy)]
enum BodyWay {
    Requests,
    Answers,
}

impl BodyWay {
    fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Answers => "answers",
        }
    }

    /// What a rule has of its own.
    fn own(self) -> fn(&Methods) -> Option<Method> {
        match self {
            Self::Requests => |methods| methods.requests,
            Self::Answers => |methods| methods.answers,
        }
    }

    /// What the rest gets.
    fn rest(self, redact: &Redact) -> RestMethod {
        match self {
            Self::Requests => {
                let rest = *redact.requests;
                RestMethod {
                    word: format!("{rest:?}").to_lowercase(),
                    off: rest == Requests::Off,
                    passes: matches!(rest, Requests::Report | Requests::Allow),
                }
            }
            Self::Answers => {
                let rest = redact.answers();
                RestMethod {
                    word: format!("{rest:?}").to_lowercase(),
                    off: rest == Answers::Off,
                    passes: matches!(rest, Answers::Report | Answers::Allow),
                }
            }
        }
    }
}

impl<'c> ConfiguredRoute<'c> {
    /// The rules whose values do not pass as they are this way.
    fn redacted(self, way: BodyWay) -> BTreeSet<&'c str> {
        let Some(redact) = &self.route.redact else { return BTreeSet::new() };
        let RestMethod { off, passes, .. } = way.rest(redact);
        if off {
            return BTreeSet::new();
        }
        let catalogue = &self.config.catalogue;
        let changed = |rule: &&Rule| match redact.own_method(rule, way.own()) {
            Some(method) => !matches!(method, Method::Report | Method::Allow),
            None => !passes,
        };
        let selection = redact.selection(catalogue).unwrap_or_default();
        selection.iter().filter_map(|id| catalogue.rule(id)).filter(changed).map(Rule::name).collect()
    }

    fn is_redacted(self) -> bool {
        [BodyWay::Requests, BodyWay::Answers].into_iter().any(|way| !self.redacted(way).is_empty())
    }
}

/// What is taken away of one route, but for rules that are `gone` altogether.
fn of_route(was: ConfiguredRoute<'_>, will: ConfiguredRoute<'_>, gone: &BTreeSet<&str>) -> Vec<String> {
    let mut changes = callers(was.route, will.route);
    match (&was.route.redact, &will.route.redact) {
        (Some(_), None) if was.is_redacted() => changes.push("it redacts nothing any more".to_owned()),
        (Some(before), Some(after)) => {
            changes.extend(findings(was, will, gone));
            changes
                .extend(listed_names(&passing(before, after)).map(|what| format!("these pass now: {what}")));
            let unread = unread(before, after);
            let unread: Vec<&str> = unread.iter().map(String::as_str).collect();
            changes.extend(listed_names(&unread).map(|what| format!("no longer looked through: {what}")));
        }
        _ => {}
    }
    changes
}

/// Who may call, that could not.
fn callers(before: &Route, after: &Route) -> Vec<String> {
    let mut changes = Vec::new();
    let asks_itself = matches!(after.terminal(), Terminal::Endpoint(Endpoint::Api));
    if before.asks_callers() && !after.asks_callers() && !asks_itself {
        let asked = match before.auth() {
            Auth::None if before.jwt.is_some() => "a signed token".to_owned(),
            Auth::None => "a certificate".to_owned(),
            auth => format!("{auth:?}").to_lowercase(),
        };
        changes.push(format!("who may call: {asked}, then anybody"));
    }
    if before.allow_clients.is_some() && after.allow_clients.is_none()
        || before.deny_clients.is_some() && after.deny_clients.is_none()
    {
        changes.push("callers' addresses are asked about no longer".to_owned());
    }
    changes
}

/// Values that do not pass as they are, and would.
fn findings(was: ConfiguredRoute<'_>, will: ConfiguredRoute<'_>, gone: &BTreeSet<&str>) -> Vec<String> {
    let (Some(before), Some(after)) = (&was.route.redact, &will.route.redact) else { return Vec::new() };
    let mut changes = Vec::new();
    for way in [BodyWay::Requests, BodyWay::Answers] {
        let kept = will.redacted(way);
        let lost: Vec<&str> = was
            .redacted(way)
            .into_iter()
            .filter(|name| !kept.contains(name) && !gone.contains(name))
            .collect();
        let Some(lost) = listed_names(&lost) else { continue };
        let (rest, then) = (way.rest(before), way.rest(after));
        let weaker = (then.off || then.passes) && !(rest.off || rest.passes);
        changes.push(match weaker {
            true => format!("findings in {}: {}, then {}", way.name(), rest.word, then.word),
            false => format!("no longer redacted in {}: {lost}", way.name()),
        });
    }
    changes
}

/// What did not pass because nobody can look through it, and would.
fn passing(before: &Redact, after: &Redact) -> Vec<&'static str> {
    let (refuse, pass) = (UnscannedPolicy::Refuse, UnscannedPolicy::Pass);
    let weaker = [
        (before.unknown == refuse && after.unknown == pass, "unknown"),
        (before.exhausted == refuse && after.exhausted == pass, "exhausted"),
        (before.files() != FileTreatment::Pass && after.files() == FileTreatment::Pass, "files"),
        (before.media == Media::Refuse && after.media == Media::Pass, "media"),
        (before.direct == Direct::Refuse && after.direct == Direct::Pass, "direct"),
    ];
    weaker.into_iter().filter_map(|(weaker, name)| weaker.then_some(name)).collect()
}

/// What of a head was looked through, and who was asked about texts, and would not be.
fn unread(before: &Redact, after: &Redact) -> Vec<String> {
    let query = (before.query && !after.query).then(|| "the query".to_owned());
    let lists = [
        ("header", &before.headers, &after.headers),
        ("cookie", &before.cookies, &after.cookies),
        ("by analyzer", &before.analyzers, &after.analyzers),
    ];
    let named = lists.into_iter().flat_map(|(what, had, has)| {
        let lost = had.iter().filter(move |name| !has.iter().any(|kept| kept.as_str() == name.as_str()));
        lost.map(move |name| format!("{what} {}", name.as_str()))
    });
    query.into_iter().chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProcessEnv, parse};
    use crate::detect::Catalogue;

    fn config(text: &str) -> Config {
        let rules = Catalogue::builtin().unwrap();
        let head = "data = 'd'\n[upstreams.a]\npeers = ['http://127.0.0.1:1']\n";
        parse(&format!("{head}{text}"), "test.toml", &ProcessEnv, &rules).unwrap()
    }

    fn route(auth: &str, redact: &str) -> String {
        format!("[[routes]]\nname = 'one'\nupstream = 'a'\nauth = '{auth}'\n{redact}")
    }

    fn told(before: &str, after: &str) -> Vec<String> {
        let told = weakened(&config(before), &config(after)).into_iter();
        told.map(|Weakening { route, change }| format!("{}: {change}", route.unwrap_or_default())).collect()
    }

    #[test]
    fn what_no_longer_protects_is_named_and_nothing_else() {
        let plain = route("token", "redact = {}\n");
        let rows: &[(&str, &str, &[&str])] = &[
            ("redact = {}", "", &["one: it redacts nothing any more"]),
            ("", "redact = {}", &[]),
            ("redact = { requests = 'report' }", "", &[]),
            (
                "redact = {}",
                "redact = { requests = 'off', answers = 'mask' }",
                &["one: findings in requests: encrypt, then off"],
            ),
            (
                "redact = { requests = 'mask', answers = 'mask' }",
                "redact = { requests = 'mask', answers = 'allow' }",
                &["one: findings in answers: mask, then allow"],
            ),
            ("redact = { requests = 'report' }", "redact = { requests = 'off', answers = 'report' }", &[]),
            ("redact = { requests = 'report' }", "redact = { requests = 'block' }", &[]),
            ("redact = { requests = 'encrypt' }", "redact = { requests = 'mask' }", &[]),
            (
                "redact = { requests = 'mask' }",
                "redact = { requests = 'mask', without = ['PERSON'] }",
                &[
                    "one: no longer redacted in requests: PERSON",
                    "one: no longer redacted in answers: PERSON",
                ],
            ),
            (
                "redact = { requests = 'mask' }",
                "redact = { requests = 'mask', methods = { PERSON = { requests = 'report' } } }",
                &["one: no longer redacted in requests: PERSON"],
            ),
            (
                "redact = { query = true, headers = ['x-note'] }",
                "redact = { unknown = 'pass' }",
                &[
                    "one: these pass now: unknown, files",
                    "one: no longer looked through: the query, header x-note",
                ],
            ),
        ];
        for (before, after, expected) in rows {
            assert_eq!(told(&route("none", before), &route("none", after)), *expected, "{before} {after}");
        }
        assert_eq!(told(&plain, &route("none", "redact = {}")), ["one: who may call: token, then anybody"]);
        assert_eq!(told(&route("none", "redact = {}"), &plain), Vec::<String>::new());
        assert_eq!(told(&plain, &plain.replace("one", "two")), ["one: the route is gone, which redacted"]);
        assert_eq!(told(&route("none", ""), ""), Vec::<String>::new());
        let some = route("none", "allow_clients = ['192.0.2.0/24']");
        assert_eq!(told(&some, &route("none", "")), ["one: callers' addresses are asked about no longer"]);
    }

    #[test]
    fn a_rule_that_is_gone_is_named_once() {
        let route = route("none", "redact = {}\n");
        let own = "[[detect.rule]]\nname = 'ACME'\nliterals = ['Project Heron']\n";
        let with = format!("{own}{route}");
        assert_eq!(told(&with, &route), [": rules are gone: ACME"]);
        assert_eq!(told(&route, &with), Vec::<String>::new());
        let surer = format!("[detect.thresholds]\nACME = 0.99\n{own}{route}");
        assert_eq!(told(&with, &surer), [": rules have a higher threshold: ACME"]);
        let off = format!("{own}{}", route.replace("redact = {}", "redact = { without = ['ACME'] }"));
        assert_eq!(told(&with, &off).len(), 2, "{:?}", told(&with, &off));
    }

    #[test]
    fn of_many_names_some_are_said() {
        assert_eq!(listed_names(&[]), None);
        assert_eq!(listed_names(&["a", "b"]).unwrap(), "a, b");
        let many: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(listed_names(&many).unwrap(), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
        assert_eq!(listed_names(&many[..NAMED]).unwrap(), "0, 1, 2, 3, 4, 5, 6, 7");
    }
}
