//! What a route's settings mean, as sentences.

use crate::config::Config;
use crate::config::settings::{
    Answers, Auth, Host, Invented, Method, Methods, PathMatch, Redact, Requests, Route,
};
use crate::console::address::address;
use crate::detect::{Catalogue, RuleId, RuleSelection};

/// Where clients of the route call it: a base URL, or the expression that paths must match.
pub(super) fn called_at(config: &Config, route: &Route) -> String {
    let path = match route.path() {
        PathMatch::Prefix(prefix) => prefix.trim_end_matches('/').to_owned(),
        PathMatch::Pattern(pattern) => return format!("paths that match {}", pattern.as_str()),
    };
    let base = route.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned());
    if let Some(base) = base {
        return base;
    }
    let all = address(config);
    let here = route.host.first().and_then(|host| {
        let scheme = all.split_once("://").map_or("http", |(scheme, _)| scheme);
        let Host::Exact(name) = &**host else { return None };
        Some(format!("{scheme}://{name}"))
    });
    format!("{}{path}", here.unwrap_or(all))
}

/// Where it leads to.
pub(super) fn leads_to(config: &Config, route: &Route) -> String {
    if let Some(name) = &route.upstream {
        let upstream = config.upstreams.iter().find(|(known, _)| known.as_str() == name.as_str());
        let peers = upstream.iter().flat_map(|(_, upstream)| &upstream.peers);
        let peers: Vec<String> = peers.map(|peer| (**peer).to_string()).collect();
        return format!("{}: {}", name.as_str(), peers.join(", "));
    }
    match &route.endpoint {
        Some(_) => "this gateway itself".to_owned(),
        None => "a fixed answer".to_owned(),
    }
}

/// Who may call it.
pub(super) fn callers(route: &Route) -> &'static str {
    match route.auth() {
        Auth::None if route.needs_certificate() => "Whoever has a client certificate that is trusted.",
        Auth::Token => "Whoever has a token of this gateway that covers the route. It does not travel on.",
        Auth::Certificate => "Whoever has a client certificate that is trusted.",
        Auth::Introspection => "Whoever has a token that the authorization server calls active.",
        Auth::None if route.jwt.is_some() => "Whoever has a signed token that is good.",
        Auth::None if route.endpoint.is_some() => {
            "Whoever has a token of this gateway that covers what is called."
        }
        Auth::None => {
            "Anybody who reaches it. A caller's own key travels on; tokens of this gateway limit nothing here (auth = \"none\")."
        }
    }
}

/// Whether anybody may call it, so that no token bounds what is called along it.
pub(in crate::console) fn is_open(route: &Route) -> bool {
    route.upstream.is_some() && !route.asks_callers()
}

/// What an upstream sees in the place of what is found.
pub(super) fn goes_out(redact: &Redact) -> &'static str {
    match *redact.requests {
        Requests::Encrypt => {
            "Look-alikes in place of what is found: another name, a card number that is nobody's."
        }
        Requests::Replace => {
            "The name of the rule in place of what is found, such as <PERSON>. Nothing brings the value back."
        }
        Requests::Mask => "Asterisks in place of what is found.",
        Requests::Hash => "A digest in place of what is found, the same for equal values.",
        Requests::Block => "Nothing: a request in which something is found is refused.",
        Requests::Report => "Everything: what is found is counted, and passes as it is.",
        Requests::Allow => "Everything, but for rules that have a method of their own.",
        Requests::Off => "Everything: requests are not looked through.",
    }
}

/// What a caller gets in the place of what is found in an answer.
pub(super) fn comes_back(redact: &Redact) -> String {
    match redact.answers() {
        Answers::Restore => {
            let invented = match redact.invented.as_deref() {
                Some(Invented::Keep) => "What a model makes up stays.",
                Some(Invented::Replace) => "What a model makes up is replaced by its rule's name.",
                Some(Invented::Mask) => "What a model makes up is masked.",
                None => "What a model makes up is masked where the API is known.",
            };
            format!(
                "The caller's own values again in place of look-alikes, but for URLs that lead elsewhere. {invented}"
            )
        }
        Answers::Mask => "Asterisks in place of what is found.".to_owned(),
        Answers::Replace => "The name of the rule in place of what is found.".to_owned(),
        Answers::Hash => "A digest in place of what is found.".to_owned(),
        Answers::Block => "An answer in which something is found is refused.".to_owned(),
        Answers::Report => "Everything: what is found is counted, and passes as it is.".to_owned(),
        Answers::Allow => "Everything, but for rules that have a method of their own.".to_owned(),
        Answers::Off => "Everything: answers are not looked through.".to_owned(),
    }
}

/// The rules that the route looks for; `None` where it looks through nothing.
pub(in crate::console) fn looks_for(route: &Route, catalogue: &Catalogue) -> Option<RuleSelection> {
    let redact = route.redact.as_ref()?;
    let requests = !matches!(*redact.requests, Requests::Off | Requests::Allow);
    let answers = !matches!(redact.answers(), Answers::Off | Answers::Allow);
    let is_looked_for = |id: &RuleId| {
        let Some(rule) = catalogue.rule(*id) else { return false };
        let one = |way: fn(&Methods) -> Option<Method>, otherwise: bool| {
            redact.own_method(rule, way).map_or(otherwise, |method| method != Method::Allow)
        };
        one(|methods| methods.requests, requests) || one(|methods| methods.answers, answers)
    };
    Some(redact.selection(catalogue).ok()?.iter().filter(is_looked_for).collect())
}

/// Which rules those are, in words.
pub(super) fn rules(redact: &Redact, count: usize) -> String {
    let names = |what: &str, all: &[crate::config::Spanned<String>]| match all {
        [] => String::new(),
        all => format!(", {what} {}", all.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    let of = if redact.rules.is_some() { "only these" } else { "the default set" };
    format!("{count} rules: {of}{}{}", names("without", &redact.without), names("with", &redact.with))
}

/// What rules get that have methods of their own.
pub(super) fn own_methods(redact: &Redact) -> Vec<String> {
    let said = |way: &str, method: Option<Method>| method.map(|method| format!("{way}: {}", name(method)));
    let own = redact.methods.iter().map(|(rule, methods)| {
        let ways = [said("requests", methods.requests), said("answers", methods.answers)];
        format!("{} ({})", rule.as_str(), ways.into_iter().flatten().collect::<Vec<_>>().join(", "))
    });
    own.collect()
}

/// As the file spells it.
const fn name(method: Method) -> &'static str {
    match method {
        Method::Encrypt => "encrypt",
        Method::Replace => "replace",
        Method::Mask => "mask",
        Method::Hash => "hash",
        Method::Block => "block",
        Method::Report => "report",
        Method::Allow => "allow",
    }
}
