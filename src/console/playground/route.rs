//! The configuration of a route that does what somebody chose, and where chats go.

use crate::config::Config;
use crate::config::settings::{Auth, Route};
use crate::console::address::address;
use crate::console::playground::engines::PlaygroundEngine;
use crate::console::playground::request::{AllowedValue, PlaygroundChoice};
use crate::detect::RuleSelection;

/// Where chats go to, and whose key they carry.
pub(super) struct ChatsRoute {
    /// The base URL of clients.
    pub(super) url: String,
    /// Whether the route asks for a token of the gateway's.
    pub(super) takes_token: bool,
    /// What the route is called.
    pub(super) name: String,
}

/// Where chats go to: the first route that redacts on its way to an upstream, that of OpenAI before others.
pub(super) fn chats(config: &Config) -> ChatsRoute {
    let redacting = || {
        let leads = |route: &Route| route.upstream.is_some() && route.redact.is_some();
        config.routes.iter().filter(move |route| leads(route))
    };
    let named = redacting().find(|route| route.name.as_str() == "openai");
    let route = named.or_else(|| redacting().next());
    // A route without a path takes them all.
    let path = route.map_or("/openai", |route| route.path.as_ref().map_or("", |path| path.as_str()));
    // What clients add stands behind the version.
    let base: Vec<&str> = path.split('/').take_while(|segment| *segment != "v1").collect();
    let base = base.join("/");
    let base = base.trim_end_matches('/');
    ChatsRoute {
        url: format!("{}{base}/v1", address(config)),
        takes_token: route.is_some_and(|route| route.auth.as_deref() == Some(&Auth::Token)),
        name: route.map_or("openai", |route| route.name.as_str()).to_owned(),
    }
}

/// The configuration of a route that does what was chosen. With a threshold it names the rules that the page's text met, since
/// thresholds are each rule's own.
pub(super) fn configured(engine: &PlaygroundEngine, choice: &PlaygroundChoice, met: &[&str]) -> String {
    if let Some(name) = &choice.route {
        return format!("# The route {name:?} of the configuration does this.\n{}", passing(choice));
    }
    let mut out =
        format!("# A route that does the same. Its clients' base URL is {}/openai/v1\n", engine.address);
    out.push_str(
        "[upstreams.openai]\n\
         peers = [\"https://api.openai.com\"]\n\n\
         [[routes]]\n\
         name = \"openai\"\n\
         path = \"/openai\"\n\
         strip_prefix = true\n\
         upstream = \"openai\"\n\
         provider = \"openai\"\n\
         auth = \"none\"\n\n\
         [routes.redact]\n",
    );
    out.push_str(&format!("requests = \"{}\"\n", choice.method.name()));
    if *engine.detector.selection() != RuleSelection::defaults(&engine.catalogue) {
        let names = engine.detector.selection().iter().filter_map(|rule| engine.catalogue.rule(rule));
        let names: Vec<String> = names.map(|rule| format!("    \"{}\",\n", rule.name())).collect();
        out.push_str(&format!("rules = [\n{}]\n", names.concat()));
    }
    if let Some(threshold) = choice.threshold {
        out.push_str("\n# Thresholds are each rule's own: here are those that your text met.\n[routes.redact.thresholds]\n");
        for rule in met {
            out.push_str(&format!("\"{rule}\" = {threshold:?}\n"));
        }
    }
    out.push_str(&passing(choice));
    if !choice.rules.trim().is_empty() {
        out.push_str(
            "\n# In this file, beside the configuration, is what you wrote under “Rules of your own”.\n\
             [detect]\nrule_files = [\"own-rules.toml\"]\n",
        );
    }
    out
}

/// What lets the chosen values pass.
fn passing(choice: &PlaygroundChoice) -> String {
    let one = |AllowedValue { value, rule }: &AllowedValue| {
        format!("\n[[detect.allow]]\nvalues = [{}]\nrules = [\"{rule}\"]\n", quoted(value))
    };
    choice.pass.iter().map(one).collect()
}

/// A text of TOML. What JSON writes is one, but for the one control character that JSON leaves as it is.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProcessEnv, parse};
    use crate::console::playground::request::{MethodChoice, RedactedAs};
    use crate::detect::{Allow, Catalogue, Detector};

    #[test]
    fn what_is_written_is_a_configuration_that_does_the_same() {
        let catalogue = Catalogue::builtin().unwrap();
        let methods = [
            MethodChoice::Encrypt,
            MethodChoice::Replace,
            MethodChoice::Mask,
            MethodChoice::Hash,
            MethodChoice::Report,
        ];
        for method in methods {
            for (sets, threshold) in [(vec!["DEFAULT"], None), (vec!["US", "SECRETS"], Some(0.7))] {
                let selection = RuleSelection::sets(&catalogue, sets.iter().copied()).unwrap();
                let detector = Detector::new(&catalogue, &selection).unwrap();
                let engine = PlaygroundEngine {
                    detector,
                    route: None,
                    catalogue: catalogue.clone(),
                    allow: Allow::default(),
                    address: "http://127.0.0.1:8080".to_owned(),
                };
                let sets = sets.into_iter().map(str::to_owned).collect();
                let pass = vec![AllowedValue {
                    value: "a \"b\"\\\u{e4}\u{7f}\n".to_owned(),
                    rule: "PERSON".to_owned(),
                }];
                let choice = PlaygroundChoice {
                    road: RedactedAs::Route,
                    route: None,
                    method,
                    only: None,
                    pass,
                    sets,
                    threshold,
                    rules: String::new(),
                    model: true,
                };
                let toml = configured(&engine, &choice, &["US_SSN", "FIN/NRIC"]);
                let config = parse(&toml, "playground.toml", &ProcessEnv, &catalogue);
                let config = config.unwrap_or_else(|problems| panic!("{problems}\n{toml}"));
                let chats = chats(&config);
                assert_eq!(
                    (chats.url.as_str(), chats.takes_token),
                    ("http://127.0.0.1:8080/openai/v1", false)
                );
                let person = catalogue.find("PERSON").unwrap();
                assert!(config.allow.has(person, "a \"b\"\\\u{e4}\u{7f}\n".as_bytes()));
                let redact = config.routes.first().unwrap().redact.as_ref().unwrap();
                assert_eq!(format!("{:?}", *redact.requests).to_lowercase(), method.name());
                let rules = redact.rules.as_ref().map(|rules| rules.len());
                assert_eq!(rules, threshold.map(|_| selection.iter().count()));
                assert_eq!(redact.thresholds.len(), if threshold.is_some() { 2 } else { 0 });
            }
        }
    }
}
