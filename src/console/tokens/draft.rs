//! [`TokenDraft`]: what a form says of a token.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::token::{NewToken, Service, Tenant, TokenBounds, TokenInfo, parse_expiry};
use crate::base::clock::Timestamp;
use crate::base::id::ConfigId;
use crate::base::rate::Rate;
use crate::console::form::Form;
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
    /// Reads it.
    ///
    /// # Errors
    /// All that is wrong with it, for the person who filled it in.
    pub(super) fn read(form: &Form, now: Timestamp) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        let mut each = Faults(&mut wrong);
        let services = each.all("Services", form.list("service"), |name| {
            Service::parse(name).ok_or_else(|| "there is no service of that name".to_owned())
        });
        let configs = each.all("Configs", form.list("config"), |id| match ConfigId::parse(id) {
            Some(_) => Ok(id.to_owned()),
            None => Err("a config's id is pci_ and 32 characters".to_owned()),
        });
        let models = each.all("Models", form.list("model"), |text| ModelPattern::parse(text).map_err(said));
        let budget = |mode| move |text: &str| SpendBudget::parse(text, mode).map(Arc::new).map_err(said);
        let mut budgets = each.all("Budgets", form.list("budget"), budget(BudgetMode::Hard));
        budgets.extend(each.all("Soft budgets", form.list("soft_budget"), budget(BudgetMode::Soft)));
        let labels = each.all("Labels", form.list("label"), |text| {
            let pair =
                text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
            pair.ok_or_else(|| "a label is a name and a value, such as team=research".to_owned())
        });
        let rate = each.all("Rate", form.list("rate"), |text| Rate::parse(text).map_err(said));
        let expires = each.all("Expires", form.list("expires"), |text| parse_expiry(text, now).map_err(said));
        let tenant = each.all("Tenant", form.list("tenant"), |name| Tenant::parse(name).map_err(said));
        let routes = form.list("route").into_iter().map(str::to_owned).collect();
        let covers = match form.text("covers") {
            EVERYTHING => TokenCoverage::Everything,
            _ => TokenCoverage::These { services, routes },
        };
        let draft = Self {
            name: form.text("name").to_owned(),
            tenant: tenant.into_iter().next().unwrap_or_default(),
            covers,
            configs,
            expires: expires.first().copied(),
            bounds: TokenBounds {
                models: (!models.is_empty()).then_some(models),
                budgets,
                rate: rate.first().copied(),
                labels: labels.into_iter().collect::<BTreeMap<_, _>>(),
            },
        };
        if wrong.is_empty() { Ok(draft) } else { Err(wrong) }
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

/// What was wrong, field by field.
struct Faults<'w>(&'w mut Vec<String>);

impl Faults<'_> {
    fn all<T>(&mut self, field: &str, texts: Vec<&str>, read: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let mut good = Vec::new();
        for text in texts {
            match read(text) {
                Ok(value) => good.push(value),
                Err(why) => self.0.push(format!("{field}: {why}.")),
            }
        }
        good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_what_a_command_line_can() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let form = Form::read(
            b"name=research&tenant=acme&service=redact&route=chat%0D%0Abatch&model=gpt-4o*&budget=25usd/month%0D%0A10requests/day\
              &soft_budget=5usd/day&rate=60/1m&label=team=research&expires=90d",
        );
        let new = TokenDraft::read(&form, now).map_err(|_| ()).unwrap().new_token().unwrap();
        assert_eq!((new.name.as_str(), new.services.len(), new.routes.len()), ("research", 1, 2));
        assert_eq!(new.tenant.name(), Some("acme"));
        assert_eq!((new.bounds.budgets.len(), new.bounds.labels.len()), (3, 1));
        assert_eq!(new.expires, Some(now.plus(std::time::Duration::from_secs(90 * 86_400))));
    }

    #[test]
    fn only_who_says_so_makes_a_token_for_everything() {
        let read = |form: &[u8]| {
            TokenDraft::read(&Form::read(form), Timestamp::from_millis(0)).map_err(|_| ()).unwrap()
        };
        assert!(read(b"name=a").new_token().is_err());
        assert!(read(b"name=a&covers=ticked").new_token().is_err());
        let all = read(b"name=a&covers=everything&service=redact").new_token().unwrap();
        assert!(all.services.is_empty() && all.routes.is_empty());
        let one = read(b"name=a&covers=ticked&service=redact").new_token().unwrap();
        assert_eq!((one.services.len(), one.routes.len()), (1, 0));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_and_without_what_was_written() {
        let form = Form::read(b"service=zzz&budget=zzz&rate=zzz&label=zzz&expires=zzz&config=zzz");
        let wrong = TokenDraft::read(&form, Timestamp::from_millis(0)).err().unwrap();
        assert_eq!(wrong.len(), 6, "{wrong:?}");
        assert!(!wrong.concat().contains("zzz"));
    }
}
