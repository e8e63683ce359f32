//! [`TokenDraft`]: what a form says of a token.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::token::{NewToken, Service, Tenant, TokenBounds, TokenInfo, parse_expiry, unknown_routes};
use crate::base::clock::Timestamp;
use crate::base::id::ConfigId;
use crate::base::rate::Rate;
use crate::console::form::Form;
use crate::console::tokens::texts::FieldTexts;
use crate::usage::{BudgetMode, ModelPattern, SpendBudget};

/// What a token is to cover.
#[derive(Clone)]
enum TokenCoverage {
    /// Every service and route that a token has without being given any.
    Everything,
    /// These.
    These { services: Vec<Service>, routes: Vec<String> },
}

/// The value of the field `covers` that says so.
pub(super) const EVERYTHING: &str = "everything";

/// The value of the field `models` that says that there are none.
pub(super) const NO_MODELS: &str = "none";

/// What a form is read beside.
pub(super) struct DraftContext<'c> {
    /// The token that it is to change, as the form was filled with it; `None`: a new one.
    pub(super) before: Option<&'c TokenInfo>,
    /// The routes that there are; `None`: nobody knows.
    pub(super) routes: Option<&'c [String]>,
    /// Now.
    pub(super) now: Timestamp,
}

/// What a form says of a token, checked.
#[derive(Clone)]
pub(super) struct TokenDraft {
    name: String,
    tenant: Tenant,
    covers: TokenCoverage,
    configs: Vec<String>,
    expires: Option<Timestamp>,
    bounds: TokenBounds,
}

impl TokenDraft {
    /// Reads it. A field that says what it was filled with leaves what the token has there, whatever can be written of it.
    ///
    /// # Errors
    /// All that is wrong with it, for the person who filled it in.
    pub(super) fn read(form: &Form, context: &DraftContext<'_>) -> Result<Self, Vec<String>> {
        let DraftContext { before, now, .. } = *context;
        let mut each = FieldReader { form, shown: before.map(FieldTexts::of), wrong: Vec::new() };
        let services = each.all("Services", form.list("service"), |name| {
            Service::parse(name).ok_or_else(|| "there is no service of that name".to_owned())
        });
        let routes = each.routes(context);
        let covers = match form.text("covers") {
            EVERYTHING => TokenCoverage::Everything,
            _ => TokenCoverage::These { services, routes },
        };
        let tenant = each.all("Tenant", form.list("tenant"), |name| Tenant::parse(name).map_err(said));
        let expires = match before.filter(|_| each.is_as_shown("expires", |shown| &shown.expires)) {
            Some(before) => before.expires,
            None => each.one("Expires", form.list("expires"), |text| parse_expiry(text, now).map_err(said)),
        };
        let configs = match before.filter(|_| each.is_as_shown("config", |shown| &shown.configs)) {
            Some(before) => before.configs.clone(),
            None => each.all("Configs", form.list("config"), |id| match ConfigId::parse(id) {
                Some(_) => Ok(id.to_owned()),
                None => Err("a config's id is pci_ and 32 characters".to_owned()),
            }),
        };
        let rate = match before.filter(|_| each.is_as_shown("rate", |shown| &shown.rate)) {
            Some(before) => before.bounds.rate,
            None => each.one("Rate", form.list("rate"), |text| Rate::parse(text).map_err(said)),
        };
        let bounds = TokenBounds {
            models: each.models(),
            budgets: each.budgets(before),
            rate,
            labels: each.labels(before),
        };
        let name = match before.filter(|before| before.name == form.exact("name")) {
            Some(before) => before.name.clone(),
            None => form.text("name").to_owned(),
        };
        let tenant = tenant.into_iter().next().unwrap_or_default();
        let draft = Self { name, tenant, covers, configs, expires, bounds };
        if each.wrong.is_empty() { Ok(draft) } else { Err(each.wrong) }
    }

    /// A token that is to be.
    ///
    /// # Errors
    /// What is missing: one that covers nothing is of no use, and nobody is to make one for everything by ticking nothing.
    pub(super) fn new_token(self) -> Result<NewToken, Vec<String>> {
        let Self { name, tenant, covers, configs, expires, bounds } = self;
        let (services, routes) = match covers {
            TokenCoverage::Everything => (Vec::new(), Vec::new()),
            TokenCoverage::These { services, routes } if services.is_empty() && routes.is_empty() => {
                return Err(vec!["Covers: tick services or routes, or choose everything.".to_owned()]);
            }
            TokenCoverage::These { services, routes } => (services, routes),
        };
        Ok(NewToken { name, tenant, services, routes, configs, expires, bounds })
    }

    /// Makes a token what the form says; it may cover nothing. Its tenant stays.
    pub(super) fn apply(self, info: &mut TokenInfo) {
        let Self { name, covers, configs, expires, bounds, .. } = self;
        info.name = name;
        (info.services, info.routes) = match covers {
            TokenCoverage::Everything => (None, None),
            TokenCoverage::These { services, routes } => (Some(services), Some(routes)),
        };
        info.configs = configs;
        info.expires = expires;
        info.bounds = bounds;
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Reads the fields of a form, and gathers what is wrong with them.
struct FieldReader<'f> {
    form: &'f Form,
    /// What the form was filled with.
    shown: Option<FieldTexts>,
    wrong: Vec<String>,
}

impl<'f> FieldReader<'f> {
    /// Whether a field says what it was filled with. Browsers write ends of lines in their own way.
    fn is_as_shown(&self, field: &str, of: impl Fn(&FieldTexts) -> &str) -> bool {
        let written = self.form.exact(field).replace("\r\n", "\n");
        self.shown.as_ref().is_some_and(|shown| of(shown) == written)
    }

    fn all<T>(
        &mut self,
        field: &str,
        texts: Vec<&'f str>,
        read: impl Fn(&'f str) -> Result<T, String>,
    ) -> Vec<T> {
        let mut good = Vec::new();
        for text in texts {
            match read(text) {
                Ok(value) => good.push(value),
                Err(why) => self.wrong.push(format!("{field}: {why}.")),
            }
        }
        good
    }

    fn one<T>(
        &mut self,
        field: &str,
        texts: Vec<&'f str>,
        read: impl Fn(&'f str) -> Result<T, String>,
    ) -> Option<T> {
        self.all(field, texts, read).into_iter().next()
    }

    /// The routes that are ticked: such that there are, or that the token has already.
    fn routes(&mut self, context: &DraftContext<'_>) -> Vec<String> {
        let ticked: Vec<String> = self.form.lines("route").map(str::to_owned).collect();
        let known = context.routes;
        let is_known = |route: &str| known.is_none_or(|known| known.iter().any(|known| known == route));
        if !unknown_routes(&ticked, is_known, context.before).is_empty() {
            self.wrong.push("Routes: the configuration has no route of that name.".to_owned());
        }
        ticked
    }

    /// The models: all, where none is named, unless it is said that there are none.
    fn models(&mut self) -> Option<Vec<ModelPattern>> {
        let named =
            self.all("Models", self.form.list("model"), |text| ModelPattern::parse(text).map_err(said));
        match (self.form.text("models") == NO_MODELS, named.is_empty()) {
            (true, true) => Some(Vec::new()),
            (true, false) => {
                self.wrong.push("Models: name some, or tick that there are none.".to_owned());
                None
            }
            (false, true) => None,
            (false, false) => Some(named),
        }
    }

    fn budgets(&mut self, before: Option<&TokenInfo>) -> Vec<Arc<SpendBudget>> {
        let same = self.is_as_shown("budget", |shown| &shown.budgets)
            && self.is_as_shown("soft_budget", |shown| &shown.soft_budgets);
        if let Some(before) = before.filter(|_| same) {
            return before.bounds.budgets.clone();
        }
        let budget = |mode| move |text: &str| SpendBudget::parse(text, mode).map(Arc::new).map_err(said);
        let mut budgets = self.all("Budgets", self.form.list("budget"), budget(BudgetMode::Hard));
        let soft = self.all("Soft budgets", self.form.list("soft_budget"), budget(BudgetMode::Soft));
        budgets.extend(soft);
        budgets
    }

    /// The labels. One that the token has already stays as it is, with blanks at its ends, since budgets know it by them.
    fn labels(&mut self, before: Option<&TokenInfo>) -> BTreeMap<String, String> {
        let had = |name: &str, value: &str| {
            before.and_then(|before| before.bounds.labels.get(name)).is_some_and(|had| had == value)
        };
        let lines = self.form.lines("label").filter(|line| !line.trim().is_empty()).collect();
        let labels = self.all("Labels", lines, |line| match line.split_once('=') {
            Some((name, value)) if had(name, value) => Ok((name.to_owned(), value.to_owned())),
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => Err("a label is a name and a value, such as team=research".to_owned()),
        });
        labels.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::id::TokenId;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn read(form: &[u8], before: Option<&TokenInfo>) -> Result<TokenDraft, Vec<String>> {
        let routes = ["chat", "batch"].map(str::to_owned);
        let context = DraftContext { before, routes: Some(&routes), now: NOW };
        TokenDraft::read(&Form::read(form).unwrap(), &context)
    }

    fn info() -> TokenInfo {
        TokenInfo {
            id: TokenId::from_random([1; 20]),
            name: "a".to_owned(),
            tenant: Tenant::default(),
            services: Some(Vec::new()),
            routes: Some(vec!["chat".to_owned()]),
            configs: Vec::new(),
            created: NOW,
            expires: None,
            revoked: None,
            bounds: TokenBounds::default(),
        }
    }

    /// The form that a token is shown with, as a browser sends it.
    fn filled(info: &TokenInfo) -> Vec<u8> {
        let texts = FieldTexts::of(info);
        let mut form = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("name", &texts.name),
            ("expires", &texts.expires),
            ("rate", &texts.rate),
            ("budget", &texts.budgets),
            ("soft_budget", &texts.soft_budgets),
            ("model", &texts.models),
            ("label", &texts.labels),
            ("config", &texts.configs),
        ] {
            form.append_pair(name, &value.replace('\n', "\r\n"));
        }
        if info.services.is_none() && info.routes.is_none() {
            form.append_pair("covers", EVERYTHING);
        }
        if info.bounds.models.as_ref().is_some_and(Vec::is_empty) {
            form.append_pair("models", NO_MODELS);
        }
        for route in info.routes.iter().flatten() {
            form.append_pair("route", route);
        }
        for service in info.services.iter().flatten() {
            form.append_pair("service", service.as_str());
        }
        form.finish().into_bytes()
    }

    #[test]
    fn a_form_that_nobody_has_changed_changes_nothing() {
        let labels = [("site", "x y"), ("team", " a\u{2028}b =c ")];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let budget = |text, mode| Arc::new(SpendBudget::parse(text, mode).unwrap());
        let bounds = TokenBounds {
            models: Some(Vec::new()),
            budgets: vec![budget("5usd/day", BudgetMode::Soft), budget("3requests/hour", BudgetMode::Hard)],
            rate: Some(Rate { times: 7, per: Duration::from_millis(1500) }),
            labels: labels.into(),
        };
        let gone = Some(vec!["gone".to_owned(), " chat ".to_owned()]);
        let whole = TokenInfo {
            name: " lead ".to_owned(),
            routes: gone,
            services: Some(vec![Service::Redact]),
            configs: vec!["of a version before".to_owned()],
            expires: Some(Timestamp::from_millis(NOW.as_millis() - 1)),
            bounds,
            ..info()
        };
        let models = Some(vec![ModelPattern::parse("gpt-4o*").unwrap(), ModelPattern::parse("<b>").unwrap()]);
        let named = TokenInfo { bounds: TokenBounds { models, ..whole.bounds.clone() }, ..whole.clone() };
        let all = TokenInfo { services: None, routes: None, ..info() };
        let many = (0..255).map(|n| format!("team-{n}")).collect();
        let many = TokenInfo { routes: Some(many), bounds: named.bounds.clone(), ..info() };
        for info in [whole, named, all, many] {
            let mut saved = info.clone();
            read(&filled(&info), Some(&info)).map_err(|wrong| wrong.concat()).unwrap().apply(&mut saved);
            assert_eq!(saved, info);
        }
    }

    #[test]
    fn no_model_and_every_model_are_told_apart() {
        let models = |form: &[u8]| read(form, None).map(|draft| draft.bounds.models.map(|all| all.len()));
        assert_eq!(models(b"name=a"), Ok(None));
        assert_eq!(models(b"name=a&models=none"), Ok(Some(0)));
        assert_eq!(models(b"name=a&model=x%0D%0Ay"), Ok(Some(2)));
        assert_eq!(models(b"name=a&model=x&models=none").map_err(|wrong| wrong.len()), Err(1));
    }

    #[test]
    fn what_is_written_anew_has_no_blanks_around_it_and_what_was_there_keeps_them() {
        let mut before = info();
        before.bounds.labels.insert("team".to_owned(), " a".to_owned());
        let labels = |form: &[u8]| {
            let draft = read(form, Some(&before)).map_err(|_| ()).unwrap();
            draft.bounds.labels.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(labels(b"label=team%3D+a%0D%0A+site+%3D+x+%0D%0A++"), ["site=x", "team= a"]);
        assert_eq!(labels(b"label=team%3D+b"), ["team=b"]);
    }

    #[test]
    fn a_route_that_is_none_is_not_taken() {
        let wrong =
            |form: &[u8], before: Option<&TokenInfo>| read(form, before).err().map(|wrong| wrong.len());
        assert_eq!(wrong(b"route=chat&route=batch", None), None);
        assert_eq!(wrong(b"route=chat&route=nope", None), Some(1));
        let before = TokenInfo { routes: Some(vec!["gone".to_owned()]), ..info() };
        assert_eq!(wrong(b"route=gone&route=chat", Some(&before)), None);
        assert_eq!(wrong(b"route=nope", Some(&before)), Some(1));
    }

    #[test]
    fn a_form_says_what_a_command_line_can() {
        let new = read(
            b"name=research&tenant=acme&service=redact&route=chat%0D%0Abatch&model=gpt-4o*&budget=25usd/month%0D%0A10requests/day\
              &soft_budget=5usd/day&rate=60/1m&label=team=research&expires=90d",
            None,
        );
        let new = new.map_err(|_| ()).unwrap().new_token().unwrap();
        assert_eq!((new.name.as_str(), new.services.len(), new.routes.len()), ("research", 1, 2));
        assert_eq!(new.tenant.name(), Some("acme"));
        assert_eq!((new.bounds.budgets.len(), new.bounds.labels.len()), (3, 1));
        assert_eq!(new.expires, Some(NOW.plus(Duration::from_secs(90 * 86_400))));
    }

    #[test]
    fn only_who_says_so_makes_a_token_for_everything() {
        let read = |form: &[u8]| read(form, None).map_err(|_| ()).unwrap();
        assert!(read(b"name=a").new_token().is_err());
        assert!(read(b"name=a&covers=ticked").new_token().is_err());
        let all = read(b"name=a&covers=everything&service=redact").new_token().unwrap();
        assert!(all.services.is_empty() && all.routes.is_empty());
        let one = read(b"name=a&covers=ticked&service=redact").new_token().unwrap();
        assert_eq!((one.services.len(), one.routes.len()), (1, 0));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_and_without_what_was_written() {
        let form = b"service=zzz&budget=zzz&rate=zzz&label=zzz&expires=zzz&config=zzz&route=zzz&models=none&model=zzz";
        let wrong = read(form, None).err().unwrap();
        assert_eq!(wrong.len(), 8, "{wrong:?}");
        assert!(!wrong.concat().contains("zzz"));
    }
}
