//! [`TokenPages`]: what can be done with tokens. Each change is in the audit log before it is shown, and none is made while that
//! cannot be written.

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
use crate::console::form::{Form, TooManyFields};
use crate::console::paging::Paging;
use crate::console::routes::is_open;
use crate::console::running::RunningConfig;
use crate::console::tokens::draft::{DraftContext, TokenDraft};
use crate::console::tokens::fields::{Choices, FORM, WAS};
use crate::console::tokens::form_ids::{FormIds, FormUse};
use crate::console::tokens::list::{self, TokenList, TokenSearch};
use crate::console::tokens::pages::{self, TokenRow, TokenState};
use crate::console::tokens::texts::digest;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::store::Records;
use crate::usage::{Account, Ledger, UsageReport, UsageTotals};

/// The longest that a secret before is accepted, in seconds.
const GRACE: u64 = 86_400;

/// What is said with a token whose form was sent again.
const AGAIN: &str = "That form was sent before: it was done then, and nothing was done again. A secret is shown once; whoever has \
                     not copied it makes another one here.";

/// What is said of a form that was sent before and has come to nothing yet.
const UNDER_WAY: &str = "That form was sent before, and may be under way yet: see all tokens.";

/// What is said of a form that is not taken any more.
const OLD: &str = "That form was shown too long ago: open the page anew and fill it in there.";

/// What is said with a token that is not what a form was filled with.
const STALE: &str = "The token was changed since you opened the form, so nothing of it was saved. This is what the token is now: go \
                     back to see what you filled in, or fill it in anew here.";

/// What the section is made from.
pub(in crate::console) struct TokenPagesParts {
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

/// The section of callers' tokens.
pub(in crate::console) struct TokenPages {
    parts: TokenPagesParts,
    forms: FormIds,
}

/// A secret that was made, of this token.
struct NewSecret {
    id: TokenId,
    secret: Secret<String>,
}

/// Why something was not done, or is not shown.
enum NotDone {
    /// Tokens cannot be read or changed so.
    Tokens(TokenError),
    /// It is said already.
    Said(PageReply),
}

impl From<TokenError> for NotDone {
    fn from(error: TokenError) -> Self {
        Self::Tokens(error)
    }
}

impl From<TooManyFields> for NotDone {
    fn from(error: TooManyFields) -> Self {
        Self::Said(PageReply::Wrong(StatusCode::PAYLOAD_TOO_LARGE, wrong(&[error.to_string()])))
    }
}

impl TokenPages {
    /// Made of these.
    pub(in crate::console) fn new(parts: TokenPagesParts) -> Self {
        let forms = FormIds::new(Arc::clone(&parts.clock));
        Self { parts, forms }
    }

    fn choices(&self) -> Result<Choices, TokenError> {
        let config = self.parts.running.config();
        let routes = config.iter().flat_map(|config| &config.routes);
        let open = routes.clone().filter(|route| is_open(route)).map(|route| route.name.to_string());
        Ok(Choices {
            open: open.collect(),
            routes: routes.map(|route| route.name.to_string()).collect(),
            priced: config.as_ref().is_some_and(|config| !config.usage.prices.is_empty()),
            form: self.forms.fresh()?,
            now: self.parts.clock.now(),
        })
    }

    async fn show(&self, visit: &Visit<'_>) -> Result<PageReply, NotDone> {
        if visit.rest.is_empty() {
            return self.list(visit).await;
        }
        match TokenId::parse(visit.rest) {
            Some(id) => Ok(PageReply::Page(self.page(visit, &id, None).await?)),
            None => Ok(PageReply::NotFound),
        }
    }

    /// The tokens that somebody looks for: those that are accepted first, the youngest of them first.
    async fn list(&self, visit: &Visit<'_>) -> Result<PageReply, NotDone> {
        let choices = self.choices()?;
        let search = TokenSearch::read(&visit.query);
        let mut all = self.parts.tokens.list().await?;
        let count = all.len();
        all.retain(|info| search.takes(info, choices.now));
        let is_over = |info: &TokenInfo| TokenState::of(info, choices.now) != TokenState::Active;
        all.sort_by(|a, b| (is_over(a), b.created, &a.id).cmp(&(is_over(b), a.created, &b.id)));
        let found = all.len();
        let paging = Paging::read(&visit.query, found);
        let rows = self.rows(paging.part(all)).await?;
        let list = TokenList { rows: &rows, search: &search, paging, found, count };
        let page = list::all(&list, &choices, visit.visitor, may_change(visit));
        Ok(PageReply::Page(PageContext::plain("Tokens", page)))
    }

    /// The page of one token, with what is to be said first.
    async fn page(
        &self,
        visit: &Visit<'_>,
        id: &TokenId,
        note: Option<&str>,
    ) -> Result<PageContext, TokenError> {
        let mut rows = self.rows(vec![self.parts.tokens.get(id).await?]).await?;
        let token = rows.pop().ok_or(TokenError::Unknown)?;
        let content = pages::one(&token, &self.choices()?, visit.visitor, may_change(visit), note);
        Ok(PageContext::plain(token.info.name.clone(), content))
    }

    /// With what is known of their use.
    async fn rows(&self, tokens: Vec<TokenInfo>) -> Result<Vec<TokenRow>, TokenError> {
        let TokenPagesParts { ledger, records, clock, .. } = &self.parts;
        let now = clock.now();
        let used = self.parts.tokens.last_used().await?;
        let mut months: HashMap<String, UsageTotals> = HashMap::new();
        let since = CalendarPeriod::Month.around(now).start;
        for row in UsageReport::read(records.as_ref(), since).await? {
            *months.entry(row.key.token).or_default() += row.totals;
        }
        let mut rows = Vec::with_capacity(tokens.len());
        for info in tokens {
            let id = info.id.to_string();
            let accounts = info.bounds.budgets.iter().map(|budget| Account::of_token(budget, &id, now));
            let left = ledger.remaining(accounts.collect()).await;
            let (used, month) = (used.get(&info.id).copied(), months.get(&id).copied().unwrap_or_default());
            rows.push(TokenRow { info, used, month, left });
        }
        Ok(rows)
    }

    async fn act(&self, visit: &Visit<'_>) -> Result<PageReply, NotDone> {
        if let Some(fault) = self.parts.changes.fault() {
            return Ok(unwritten(&fault));
        }
        if visit.rest == "create" {
            let form = visit.form()?;
            return self.once(visit, &form, "token.create", Box::pin(self.create(&form))).await;
        }
        let parts = visit.rest.split_once('/').and_then(|(id, act)| Some((TokenId::parse(id)?, act)));
        match parts {
            Some((id, "change")) => self.change(visit, &id).await,
            Some((id, "rotate")) => {
                let form = visit.form()?;
                self.once(visit, &form, "token.rotate", Box::pin(self.rotate(&form, id))).await
            }
            Some((id, "revoke")) => {
                self.parts.tokens.revoke(&id).await?;
                self.note(visit, "token.revoke", &id)?;
                Ok(PageReply::See(format!("/tokens/{id}")))
            }
            _ => Ok(PageReply::NotFound),
        }
    }

    /// Does what a form says and shows the secret that it makes. A form that was sent before, as by a page that is loaded anew,
    /// does nothing again.
    async fn once(
        &self,
        visit: &Visit<'_>,
        form: &Form,
        act: &str,
        done: impl Future<Output = Result<NewSecret, NotDone>> + Send,
    ) -> Result<PageReply, NotDone> {
        let sent = form.text(FORM);
        match self.forms.take(sent) {
            FormUse::First => {}
            FormUse::Again(Some(id)) => {
                return Ok(PageReply::Page(self.page(visit, &id, Some(AGAIN)).await?));
            }
            FormUse::Again(None) => return Ok(conflict(UNDER_WAY)),
            FormUse::Old => return Ok(conflict(OLD)),
        }
        let NewSecret { id, secret } = done.await.inspect_err(|error| {
            // Of what the store did not answer, nobody knows whether it was done.
            if !matches!(error, NotDone::Tokens(TokenError::Store(_))) {
                self.forms.release(sent);
            }
        })?;
        self.forms.settle(sent, &id);
        self.note(visit, act, &id)?;
        let info = self.parts.tokens.get(&id).await?;
        let page = pages::secret(&info, &secret);
        Ok(PageReply::Page(PageContext::plain("A token's secret", page)))
    }

    /// What a form says of a token, checked.
    fn draft(&self, form: &Form, before: Option<&TokenInfo>) -> Result<TokenDraft, NotDone> {
        let config = self.parts.running.config();
        let names = config.as_ref().map(|config| config.routes.iter().map(|route| route.name.to_string()));
        let routes: Option<Vec<String>> = names.map(Iterator::collect);
        let context = DraftContext { before, routes: routes.as_deref(), now: self.parts.clock.now() };
        TokenDraft::read(form, &context).map_err(|wrong| NotDone::Said(not_so(&wrong)))
    }

    async fn create(&self, form: &Form) -> Result<NewSecret, NotDone> {
        let new = self.draft(form, None)?.new_token();
        let new = new.map_err(|missing| NotDone::Said(not_so(&missing)))?;
        let (id, secret) = self.parts.tokens.create(new).await?;
        Ok(NewSecret { id, secret })
    }

    async fn rotate(&self, form: &Form, id: TokenId) -> Result<NewSecret, NotDone> {
        let grace = form.text("grace").parse().unwrap_or(0).min(GRACE);
        let secret = self.parts.tokens.rotate(&id, Duration::from_secs(grace)).await?;
        Ok(NewSecret { id, secret })
    }

    /// Makes a token what a form says, if it is yet what the form was filled with: what was narrowed since stays so.
    async fn change(&self, visit: &Visit<'_>, id: &TokenId) -> Result<PageReply, NotDone> {
        let form = visit.form()?;
        let (was, before) = (form.text(WAS), self.parts.tokens.get(id).await?);
        if digest(&before) != was {
            return self.stale(visit, id).await;
        }
        let draft = self.draft(&form, Some(&before))?;
        let change = |info: &mut TokenInfo| match digest(info) == was {
            true => {
                draft.clone().apply(info);
                Ok(())
            }
            false => Err(TokenError::Changed),
        };
        match self.parts.tokens.update(id, change).await {
            Ok(_) => {}
            Err(TokenError::Changed) => return self.stale(visit, id).await,
            Err(error) => return Err(error.into()),
        }
        self.note(visit, "token.update", id)?;
        Ok(PageReply::See(format!("/tokens/{id}")))
    }

    async fn stale(&self, visit: &Visit<'_>, id: &TokenId) -> Result<PageReply, NotDone> {
        Ok(PageReply::Wrong(StatusCode::CONFLICT, self.page(visit, id, Some(STALE)).await?))
    }

    /// Writes down what was done. Nothing of it is shown before the disk has that.
    fn note(&self, visit: &Visit<'_>, act: &str, id: &TokenId) -> Result<(), NotDone> {
        let changes = &self.parts.changes;
        let noted = changes.note(&visit.visitor.who, act, Some(&id.to_string()));
        noted.and_then(|()| changes.written()).map_err(|_| {
            let why = "It was done, and is not in the audit log yet. What it made is not shown.";
            NotDone::Said(PageReply::Wrong(StatusCode::SERVICE_UNAVAILABLE, wrong(&[why.to_owned()])))
        })
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
            done.unwrap_or_else(|why| match why {
                NotDone::Said(reply) => reply,
                NotDone::Tokens(error) => failed(&error),
            })
        })
    }
}

/// Whether whoever asks may change anything.
fn may_change(visit: &Visit<'_>) -> bool {
    visit.visitor.role == ConsoleRole::Admin
}

/// How it is told that tokens cannot be read or changed so.
fn failed(error: &TokenError) -> PageReply {
    match error {
        TokenError::Unknown => PageReply::NotFound,
        TokenError::Store(_) | TokenError::Row | TokenError::Random(_) => {
            tracing::error!(target: "portcullis::console", "tokens: {error}");
            let why = "Tokens cannot be read or written now.".to_owned();
            PageReply::Wrong(StatusCode::SERVICE_UNAVAILABLE, wrong(&[why]))
        }
        error => not_so(&[format!("{error}.")]),
    }
}

/// Nothing was done, since it could not be written down.
fn unwritten(fault: &str) -> PageReply {
    let why = format!("The audit log cannot be written, so nothing was changed: {fault}.");
    let how = "Where the gateway runs, `portcullis tokens revoke` ends a token all the same.".to_owned();
    PageReply::Wrong(StatusCode::SERVICE_UNAVAILABLE, wrong(&[why, how]))
}

fn conflict(why: &str) -> PageReply {
    PageReply::Wrong(StatusCode::CONFLICT, wrong(&[why.to_owned()]))
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

#[cfg(test)]
#[path = "section_tests.rs"]
mod tests;
