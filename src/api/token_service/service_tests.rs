//! What the token service takes and in which order it lists, on a store of its own.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::base::clock::{FixedClock, Timestamp};
use crate::store::{EmbeddedRecords, Records};

async fn service(folder: &Path) -> TokenService {
    let clock: SharedClock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let records = EmbeddedRecords::open(&folder.join("portcullis.sqlite"), Arc::clone(&clock)).await.unwrap();
    TokenService {
        tokens: Arc::new(Tokens::new(Arc::new(records) as Arc<dyn Records>, Arc::clone(&clock))),
        changes: ChangeLog { audit: None, clock: Arc::clone(&clock) },
        routes: Arc::new(BTreeSet::from(["chat".to_owned(), "files".to_owned()])),
        clock,
    }
}

/// The code and the place of each fault.
fn faults<T>(outcome: Result<T, ApiError>) -> Vec<(Code, String)> {
    match outcome {
        Ok(_) => Vec::new(),
        Err(ApiError::Validation(list)) => {
            list.into_iter().map(|fault| (fault.code, fault.source.as_str().to_owned())).collect()
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_route_that_is_none_is_named_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path()).await;
    let create = |routes: serde_json::Value| {
        let body = json!({"name": "a", "routes": routes});
        faults(ObjectFields::of(&body).and_then(|fields| {
            CreateRequest::read(fields, service.clock.now(), &service.routes).map(|CreateRequest(new)| new)
        }))
    };
    assert_eq!(create(json!(["chat", "files"])), []);
    let (first, third) = ("/routes/0".to_owned(), "/routes/2".to_owned());
    let wanted = [(Code::DoesNotExist, first), (Code::DoesNotExist, third.clone())];
    assert_eq!(create(json!(["nope", "chat", "Chat"])), wanted);

    // One that the token has already, of a configuration before, may stay and may not come.
    let new = NewToken { name: "a".to_owned(), routes: vec!["gone".to_owned()], ..NewToken::default() };
    let (id, _) = service.tokens.create(new).await.unwrap();
    let routes = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert!(service.check_routes(&id, &routes(&["chat", "gone"])).await.is_ok());
    let told = faults(service.check_routes(&id, &routes(&["gone", "chat", "nope"])).await);
    assert_eq!(told, [(Code::DoesNotExist, third)]);
}

#[tokio::test]
async fn pages_have_every_token_once_in_the_order_of_ids() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path()).await;
    for n in 0..7 {
        let new = NewToken { name: format!("t{n}"), ..NewToken::default() };
        service.tokens.create(new).await.unwrap();
    }
    let all = service.tokens.list().await.unwrap();
    let mut ids: Vec<TokenId> = all.iter().map(|token| token.id.clone()).collect();
    ids.sort();
    for size in [1, 2, 6, 7, 8] {
        let (mut seen, mut last) = (Vec::new(), None);
        loop {
            let (tokens, more) = page(all.clone(), last.as_ref(), size);
            assert!(tokens.len() <= size);
            seen.extend(tokens.into_iter().map(|token| token.id));
            last = seen.last().cloned();
            if !more {
                break;
            }
        }
        assert_eq!(seen, ids, "{size}");
    }
}
