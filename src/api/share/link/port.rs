//! [`LinkPort`]: the receiving end of links. What leads to no link that is good is not found, whatever the reason; who has
//! not said the password is asked for it, and told nothing else.

use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::{COOKIE, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, Method, StatusCode};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::cpu::{Caller, CpuTask};
use crate::api::envelope::{REQUEST_ID, Stamp};
use crate::api::error::ApiError;
use crate::api::incoming::IncomingForm;
use crate::api::share::link::object::Link;
use crate::api::share::link::page;
use crate::api::share::link::parts::LinkParts;
use crate::api::share::link::password::HELD;
use crate::api::share::link::visit::{UploadFields, Visit};
use crate::api::share::request;
use crate::api::share::rows::ShareError;
use crate::api::token_fault::unread;
use crate::base::budget::MemoryBudget;
use crate::base::rate::Rate;
use crate::base::secret::Secret;

/// How many wrong passwords may be tried for one link.
const GUESSES: Rate = Rate { times: 10, per: Duration::from_secs(600) };

/// The longest field of a form beside its file, in bytes.
const FIELD: usize = 2 << 10;

/// Serves links.
pub struct LinkPort(pub LinkParts);

/// What a form wants.
enum PostedAction {
    Password(Secret<String>),
    Change(UploadFields),
    /// It is done, or it is not.
    Answered(ApiAnswer),
}

impl LinkPort {
    async fn serve(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let LinkParts { addresses, clock, .. } = &self.0;
        let Some(link) = self.found(call.head.uri.path()).await? else { return Ok(page::nothing()) };
        let mut cookies = call.head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
        let inside = cookies.any(|field| addresses.is_inside(&link.id, field, clock.now()));
        if !inside && link.is_used_up() {
            return Ok(page::nothing());
        }
        let visit = inside.then_some(Visit { parts: &self.0, link: &link });
        if call.head.method != Method::POST {
            return match (visit, call.head.uri.query()) {
                (Some(visit), query) => {
                    let query = query.map(str::to_owned);
                    visit.get(call, query.as_deref()).await
                }
                (None, None) => Ok(page::password(StatusCode::OK, None)),
                (None, Some(_)) => Ok(page::password(StatusCode::FORBIDDEN, None)),
            };
        }
        match self.posted(call, visit.as_ref()).await? {
            PostedAction::Password(guess) => self.enter(call, &link, guess).await,
            PostedAction::Change(said) => match visit {
                Some(visit) => Ok(visit.change(said).await?.unwrap_or_else(|| to_itself(call))),
                None => Ok(page::password(StatusCode::FORBIDDEN, None)),
            },
            PostedAction::Answered(answer) => Ok(answer),
        }
    }

    /// The link behind this path. One whose token was revoked is none any more.
    async fn found(&self, path: &str) -> Result<Option<Link>, ApiError> {
        let Some(id) = self.0.addresses.recognise(path) else { return Ok(None) };
        let link = match self.0.links.open(&id).await {
            Ok(link) => link,
            Err(ShareError::Unknown) => return Ok(None),
            Err(error) => return Err(request::failed(error)),
        };
        let Some(by) = link.by() else { return Ok(None) };
        let revoked = self.0.tokens.is_revoked(&by).await.map_err(|error| unread(&error))?;
        Ok((!revoked).then_some(link))
    }

    /// Reads a form, up to what says what it wants; a file goes where it is to be.
    async fn posted(
        &self,
        call: &mut ApiCall<'_>,
        visit: Option<&Visit<'_>>,
    ) -> Result<PostedAction, ApiError> {
        let done = to_itself(call);
        let mut charge = call.budget.charge();
        charge.set(self.0.shares.blobs().holds())?;
        let mut form = IncomingForm::read(&call.head.headers, call.body)?;
        let mut said = UploadFields::default();
        while let Some(part) = form.part().await? {
            let name = part.name().to_owned();
            if name == "file" {
                let Some(visit) = visit else { break };
                let refused = visit.upload(&said, part).await?;
                return Ok(PostedAction::Answered(refused.unwrap_or(done)));
            }
            let text = part.whole(FIELD).await?;
            let text = String::from_utf8(text).map_err(|_| ApiError::BadRequest("a field is not text"))?;
            match name.as_str() {
                "password" => return Ok(PostedAction::Password(Secret::new(text))),
                "do" => said.action = text,
                "object" => said.object = text,
                "name" => said.name = text,
                "folder" => said.folder = text,
                _ => {}
            }
        }
        Ok(PostedAction::Change(said))
    }

    /// Lets somebody in who knows the password.
    async fn enter(
        &self,
        call: &mut ApiCall<'_>,
        link: &Link,
        guess: Secret<String>,
    ) -> Result<ApiAnswer, ApiError> {
        let LinkParts { links, addresses, rates, clock, .. } = &self.0;
        // Counted before it is looked at, so that those that come at once are no more than others.
        if let Err(wait) = rates.guesses.take(link.id.clone(), GUESSES, clock.instant()) {
            let why = "Too many passwords were tried. Wait a little, then try again.";
            let mut answer = page::password(StatusCode::TOO_MANY_REQUESTS, Some(why));
            answer.headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
            return Ok(answer);
        }
        if !self.is_password(link, guess, call.budget).await? {
            return Ok(page::password(StatusCode::FORBIDDEN, Some("That is not the password.")));
        }
        rates.guesses.give_back(&link.id, GUESSES);
        match links.enter(&link.id).await {
            Ok(Some(link)) => {
                let cookie = HeaderValue::from_str(&addresses.cookie(&link.id, clock.now()));
                let mut answer = to_itself(call);
                answer.headers.insert(SET_COOKIE, cookie.map_err(|_| ApiError::Internal("cookie"))?);
                Ok(answer)
            }
            Ok(None) | Err(ShareError::Unknown) => Ok(page::nothing()),
            Err(error) => Err(request::failed(error)),
        }
    }

    async fn is_password(
        &self,
        link: &Link,
        guess: Secret<String>,
        budget: &MemoryBudget,
    ) -> Result<bool, ApiError> {
        let mut charge = budget.charge();
        charge.set(HELD)?;
        let password = link.stored.password.clone();
        // All who come by links stand in one line: they have no tokens to tell them apart.
        let job = CpuTask { caller: Caller::Address(None), bytes: HELD };
        let is = self.0.cpu.run(job, move |_| password.is(&guess)).await?;
        is.map_err(|_| ApiError::Internal("password"))
    }
}

/// Back to the link, by a relative reference: whoever is in front of us may have taken a path of its own off.
fn to_itself(call: &ApiCall<'_>) -> ApiAnswer {
    let mut answer = ApiAnswer::new(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let last = call.head.uri.path().rsplit('/').next().unwrap_or_default();
    if let Ok(location) = HeaderValue::from_str(&format!("./{last}")) {
        answer.headers.insert(LOCATION, location);
    }
    answer
}

impl Handler for LinkPort {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.serve(&mut call).await;
            let mut answer = outcome.unwrap_or_else(|error| match error {
                ApiError::NotFound => page::nothing(),
                error => error.answer(&Stamp::of(&call)),
            });
            page::protect(&mut answer.headers);
            if let Ok(id) = HeaderValue::from_str(&call.id.to_string()) {
                answer.headers.insert(&REQUEST_ID, id);
            }
            answer
        })
    }
}
