//! [`TokenPages`]: what can be done with tokens. Each change is in the audit log before it is shown.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::StatusCode;
use maud::html;

use crate::api::changes::ChangeLog;
use crate::api::scope::ConsoleRole;
use crate::api::token::{TokenError, TokenInfo, Tokens};
use crate::base::calendar::CalendarPeriod;
use crate::base::clock::SharedClock;
use crate::base::id::TokenId;
use crate::base::secret::Secret;
use crate::console::routes::is_open;
use crate::console::running::RunningConfig;
use crate::console::tokens::draft::TokenDraft;
use crate::console::tokens::pages::{self, Choices, TokenRow};
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::store::Records;
use crate::usage::{Account, Ledger, UsageReport, UsageTotals};

/// The longest that a secret before is accepted, in seconds.
const GRACE: u64 = 86_400;

/// The section of callers' tokens.
pub(in crate::console) struct TokenPages {
    /// The tokens.
    pub(in crate::console) tokens: Arc<Tokens>,
    /// Where changes are written down.
    pub(in crate::console) changes: ChangeLog,
    /// What was spent.
    pub(in crate::console) ledger: Arc<Ledger>,
    /// Where sums of it are.
    pub(in crate::console) records: Arc<dyn Records>,
    /// What runs: its routes have names.
    pub(in crate::console) running: Arc<RunningConfig>,
    /// Reads time.
    pub(in crate::console) clock: SharedClock,
}

impl TokenPages {
    fn choices(&self) -> Choices {
        let config = self.running.config();
        let routes = config.iter().flat_map(|config| &config.routes);
        let open = routes.clone().filter(|route| is_open(route)).map(|route| route.name.to_string());
        Choices {
            open: open.collect(),
            routes: routes.map(|route| route.name.to_string()).collect(),
            priced: config.as_ref().is_some_and(|config| !config.usage.prices.is_empty()),
            now: self.clock.now(),
        }
    }

    async fn show(&self, visit: &Visit<'_>) -> Result<PageReply, TokenError> {
        let may_change = visit.visitor.role == ConsoleRole::Admin;
        let tokens = match visit.rest {
            "" => self.tokens.list().await?,
            id => match TokenId::parse(id) {
                Some(id) => vec![self.tokens.get(&id).await?],
                None => return Ok(PageReply::NotFound),
            },
        };
        let mut shown = self.shown(tokens).await?;
        let choices = self.choices();
        if visit.rest.is_empty() {
            shown.sort_by_key(|token| (token.info.revoked.is_some(), std::cmp::Reverse(token.info.created)));
            return Ok(PageReply::Page(PageContext::plain(
                "Tokens",
                pages::all(&shown, &choices, visit.visitor, may_change),
            )));
        }
        Ok(match shown.pop() {
            Some(token) => {
                let content = pages::one(&token, &choices, visit.visitor, may_change);
                PageReply::Page(PageContext::plain(token.info.name.clone(), content))
            }
            None => PageReply::NotFound,
        })
    }

    /// With what is known of their use.
    async fn shown(&self, tokens: Vec<TokenInfo>) -> Result<Vec<TokenRow>, TokenError> {
        let now = self.clock.now();
        let used = self.tokens.last_used().await?;
        let mut months: HashMap<String, UsageTotals> = HashMap::new();
        let since = CalendarPeriod::Month.around(now).start;
        for row in UsageReport::read(self.records.as_ref(), since).await? {
            *months.entry(row.key.token).or_default() += row.totals;
        }
        let mut shown = Vec::with_capacity(tokens.len());
        for info in tokens {
            let id = info.id.to_string();
            let budgets = info.bounds.budgets.iter();
            let left = self
                .ledger
                .remaining(budgets.map(|budget| Account::of_token(budget, &id, now)).collect())
                .await;
            let (used, month) = (used.get(&info.id).copied(), months.get(&id).copied().unwrap_or_default());
            shown.push(TokenRow { info, used, month, left });
        }
        Ok(shown)
    }

    async fn act(&self, visit: &Visit<'_>) -> Result<PageReply, TokenError> {
        if visit.rest == "create" {
            return self.create(visit).await;
        }
        let parts = visit.rest.split_once('/').and_then(|(id, act)| Some((TokenId::parse(id)?, act)));
        match parts {
            Some((id, "change")) => self.change(visit, &id).await,
            Some((id, "rotate")) => self.rotate(visit, &id).await,
            Some((id, "revoke")) => {
                self.tokens.revoke(&id).await?;
                Ok(self.noted(visit, "token.revoke", &id, |_| PageReply::See(format!("/tokens/{id}"))))
            }
            _ => Ok(PageReply::NotFound),
        }
    }

    async fn create(&self, visit: &Visit<'_>) -> Result<PageReply, TokenError> {
        let draft = match TokenDraft::read(&visit.form(), self.clock.now()) {
            Ok(draft) => draft,
            Err(wrong) => return Ok(not_so(&wrong)),
        };
        let new = match draft.new_token() {
            Ok(new) => new,
            Err(missing) => return Ok(not_so(&missing)),
        };
        let (id, secret) = self.tokens.create(new).await?;
        let info = self.tokens.get(&id).await?;
        Ok(self.noted(visit, "token.create", &id, |_| shown_once(&info, &secret)))
    }

    async fn change(&self, visit: &Visit<'_>, id: &TokenId) -> Result<PageReply, TokenError> {
        let draft = match TokenDraft::read(&visit.form(), self.clock.now()) {
            Ok(draft) => draft,
            Err(wrong) => return Ok(not_so(&wrong)),
        };
        self.tokens.update(id, |info| draft.clone().apply(info)).await?;
        Ok(self.noted(visit, "token.update", id, |_| PageReply::See(format!("/tokens/{id}"))))
    }

    async fn rotate(&self, visit: &Visit<'_>, id: &TokenId) -> Result<PageReply, TokenError> {
        let grace = visit.form().text("grace").parse().unwrap_or(0).min(GRACE);
        let secret = self.tokens.rotate(id, Duration::from_secs(grace)).await?;
        let info = self.tokens.get(id).await?;
        Ok(self.noted(visit, "token.rotate", id, |_| shown_once(&info, &secret)))
    }

    /// Says what was done once it is written down.
    fn noted(
        &self,
        visit: &Visit<'_>,
        act: &str,
        id: &TokenId,
        said: impl FnOnce(()) -> PageReply,
    ) -> PageReply {
        match self.changes.note(&visit.visitor.who, act, Some(&id.to_string())) {
            Ok(()) => said(()),
            Err(_) => {
                let why =
                    "It was done, and could not be written into the audit log. What it made is not shown.";
                PageReply::Wrong(StatusCode::SERVICE_UNAVAILABLE, wrong(&[why.to_owned()]))
            }
        }
    }
}

impl Section for TokenPages {
    fn path(&self) -> &'static str {
        "/tokens"
    }

    fn name(&self) -> &'static str {
        "Tokens"
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        Box::pin(async move {
            let done = match visit.asked {
                PageRequest::Show => self.show(&visit).await,
                PageRequest::Do => self.act(&visit).await,
            };
            done.unwrap_or_else(|error| match error {
                TokenError::Unknown => PageReply::NotFound,
                TokenError::Store(_) | TokenError::Row | TokenError::Random(_) => {
                    tracing::error!(target: "portcullis::console", "tokens: {error}");
                    PageReply::Wrong(
                        StatusCode::SERVICE_UNAVAILABLE,
                        wrong(&["Tokens cannot be read or written now.".to_owned()]),
                    )
                }
                error => not_so(&[format!("{error}.")]),
            })
        })
    }
}

fn shown_once(info: &TokenInfo, secret: &Secret<String>) -> PageReply {
    PageReply::Page(PageContext::plain("A token's secret", pages::secret(info, secret)))
}

fn not_so(why: &[String]) -> PageReply {
    PageReply::Wrong(StatusCode::UNPROCESSABLE_ENTITY, wrong(why))
}

fn wrong(why: &[String]) -> PageContext {
    let content = html! {
        header { h1 { "That did not work" } }
        div.note.look role="alert" { ul { @for why in why { li { (why) } } } }
        p.quiet { "Go back to what you filled in: your browser still has it." }
    };
    PageContext::plain("That did not work", content)
}
