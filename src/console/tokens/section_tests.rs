//! What can be done with tokens in the console, on a store of its own.

use std::path::Path;

use bytes::Bytes;

use super::*;
use crate::api::token::{NewToken, Service};
use crate::base::clock::{FixedClock, Timestamp};
use crate::console::session::Visitor;
use crate::store::EmbeddedRecords;
use crate::usage::ModelPattern;

struct Bench {
    pages: TokenPages,
    visitor: Visitor,
}

async fn bench(folder: &Path) -> Bench {
    let clock: SharedClock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let records = EmbeddedRecords::open(&folder.join("portcullis.sqlite"), Arc::clone(&clock)).await.unwrap();
    let records: Arc<dyn Records> = Arc::new(records);
    let tokens = Arc::new(Tokens::new(Arc::clone(&records), Arc::clone(&clock)));
    let new = NewToken { name: "me".to_owned(), services: vec![Service::Admin], ..NewToken::default() };
    let (_, secret) = tokens.create(new).await.unwrap();
    let who = tokens.verify(secret.expose()).await.unwrap();
    let visitor = Visitor { who, role: ConsoleRole::Admin, csrf: Secret::new("c".to_owned()) };
    let pages = TokenPages::new(TokenPagesParts {
        changes: ChangeLog { audit: None, clock: Arc::clone(&clock) },
        ledger: Arc::new(Ledger::new(Arc::clone(&records), Arc::clone(&clock), "one")),
        running: Arc::default(),
        tokens,
        records,
        clock,
    });
    Bench { pages, visitor }
}

impl Bench {
    /// The status of what comes, and what it says.
    async fn ask(&self, asked: PageRequest, rest: &str, body: &str) -> (u16, String) {
        let (visitor, body) = (&self.visitor, Bytes::from(body.to_owned()));
        let caller = visitor.who.caller();
        let visit = Visit { asked, rest, query: Form::default(), body, visitor, caller };
        match self.pages.call(visit).await {
            PageReply::Page(page) => (200, page.content.into_string()),
            PageReply::Wrong(status, page) => (status.as_u16(), page.content.into_string()),
            PageReply::See(path) => (303, path),
            _ => (404, String::new()),
        }
    }

    async fn get(&self, rest: &str) -> String {
        let (status, page) = self.ask(PageRequest::Show, rest, "").await;
        assert_eq!(status, 200);
        page
    }

    async fn post(&self, rest: &str, body: &str) -> (u16, String) {
        self.ask(PageRequest::Do, rest, body).await
    }

    async fn ids(&self, name: &str) -> Vec<TokenId> {
        let all = self.pages.parts.tokens.list().await.unwrap();
        all.into_iter().filter(|info| info.name == name).map(|info| info.id).collect()
    }
}

/// What a page has in a field that nobody sees.
fn unseen(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// The secret that a page shows.
fn secret(page: &str) -> Option<String> {
    let at = page.find("pts_")?;
    Some(page.get(at..at + 36).unwrap().to_owned())
}

#[tokio::test]
async fn a_form_that_is_sent_again_does_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    let form = format!("name=once&service=redact&form={}", unseen(&bench.get("").await, "form"));
    assert_eq!(bench.post("create", &format!("{form}&rate=often")).await.0, 422, "nothing came of that");
    let (first, again) = (bench.post("create", &form).await, bench.post("create", &form).await);
    assert!(first.0 == 200 && secret(&first.1).is_some());
    assert!(again.0 == 200 && secret(&again.1).is_none() && again.1.contains("was sent before"));
    let ids = bench.ids("once").await;
    assert_eq!(ids.len(), 1);

    let rotate = format!("{}/rotate", ids[0]);
    let form = format!("grace=0&form={}", unseen(&bench.get(&ids[0].to_string()).await, "form"));
    let (first, again) = (bench.post(&rotate, &form).await, bench.post(&rotate, &form).await);
    let made = secret(&first.1).unwrap();
    assert!(again.0 == 200 && secret(&again.1).is_none() && again.1.contains("was sent before"));
    assert!(bench.pages.parts.tokens.verify(&made).await.is_ok(), "it is the token's yet");
    for none in ["", "&form=1.x"] {
        let (status, page) = bench.post(&rotate, &format!("grace=0{none}")).await;
        assert_eq!((status, secret(&page)), (409, None), "{none}");
    }
}

#[tokio::test]
async fn a_form_of_a_token_that_was_changed_since_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    let tokens = &bench.pages.parts.tokens;
    let (id, _) = tokens.create(NewToken { name: "app".to_owned(), ..NewToken::default() }).await.unwrap();
    let (page, change) = (id.to_string(), format!("{id}/change"));
    let form = |was: &str| format!("name=renamed&covers=everything&was={was}");
    let was = unseen(&bench.get(&page).await, "was");
    let narrow = |info: &mut TokenInfo| {
        info.bounds.models = Some(vec![ModelPattern::parse("gpt-4o*").unwrap()]);
        Ok(())
    };
    let narrowed = tokens.update(&id, narrow).await.unwrap();
    for was in [was.as_str(), "", "x"] {
        let (status, said) = bench.post(&change, &form(was)).await;
        assert!(status == 409 && said.contains("was changed since you opened the form"), "{said}");
        assert!(said.contains("gpt-4o*") && said.contains("What it is"), "it shows what the token is now");
    }
    assert_eq!(tokens.get(&id).await.unwrap(), narrowed);
    let was = unseen(&bench.get(&page).await, "was");
    let saved = bench.post(&change, &format!("{}&model=gpt-4o*", form(&was))).await;
    assert_eq!(saved, (303, format!("/tokens/{id}")));
    let info = tokens.get(&id).await.unwrap();
    assert_eq!((info.name.as_str(), info.bounds), ("renamed", narrowed.bounds));
    // A secret before, and another one, change nothing of that.
    let was = unseen(&bench.get(&page).await, "was");
    tokens.rotate(&id, Duration::ZERO).await.unwrap();
    assert_eq!(bench.post(&change, &form(&was)).await.0, 303);
}

#[tokio::test]
async fn more_fields_than_are_read_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    let form = unseen(&bench.get("").await, "form");
    let body = format!("name=many&service=redact&form={form}{}", "&route=r".repeat(5000));
    assert_eq!(bench.post("create", &body).await.0, 413);
    assert!(bench.ids("many").await.is_empty());
}
