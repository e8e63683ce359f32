//! Each kind of token against each thing that a call may ask: one table.

use std::sync::Arc;

use super::*;
use crate::api::token::{NewToken, Tokens};
use crate::base::clock::SystemClock;
use crate::store::{EmbeddedRecords, Records};

const A: &str = "pci_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "pci_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

async fn tokens(folder: &std::path::Path) -> Tokens {
    let clock = Arc::new(SystemClock);
    let records = EmbeddedRecords::open(&folder.join("a.sqlite"), clock.clone()).await.unwrap();
    Tokens::new(Arc::new(records) as Arc<dyn Records>, clock)
}

async fn who(tokens: &Tokens, services: &[Service], routes: &[&str], configs: &[&str]) -> Principal {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let new = NewToken {
        name: "t".to_owned(),
        services: services.to_vec(),
        routes: owned(routes),
        configs: owned(configs),
        expires: None,
        ..NewToken::default()
    };
    let (_, token) = tokens.create(new).await.unwrap();
    tokens.verify(token.expose()).await.unwrap()
}

/// `yes`, or the status that refuses it.
fn said(outcome: Result<(), ApiError>) -> &'static str {
    match outcome {
        Ok(()) => "yes",
        Err(error) => error.told().1,
    }
}

#[tokio::test]
async fn a_token_reaches_what_it_was_made_for() {
    use Service::{Redact, Sanitize, Share, Vault};
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokens(folder.path()).await;
    let targets = [
        AccessTarget::Service(Redact),
        AccessTarget::Service(Sanitize),
        AccessTarget::Service(Vault),
        AccessTarget::Service(Share),
        AccessTarget::Route("chat".to_owned()),
        AccessTarget::Route("Chat".to_owned()),
        AccessTarget::Answer,
    ];
    let rows: [(&[Service], &[&str], [bool; 7]); 5] = [
        (&[], &[], [true; 7]),
        (&[Redact], &[], [true, false, false, false, false, false, true]),
        (&[], &["chat"], [false, false, false, false, true, false, true]),
        (&[Vault, Share], &["Chat", "x"], [false, false, true, true, false, true, true]),
        (&[Redact, Redact], &["chat", "chat"], [true, false, false, false, true, false, true]),
    ];
    for (services, routes, reached) in rows {
        let who = who(&tokens, services, routes, &[]).await;
        let found = targets.each_ref().map(|target| who.reach(target).is_ok());
        assert_eq!(found, reached, "{services:?} {routes:?}");
        let refused = targets.iter().filter_map(|target| who.reach(target).err());
        assert!(refused.into_iter().all(|error| said(Err(error)) == "ServiceNotEnabled"));
    }
}

#[tokio::test]
async fn what_a_call_names_takes_the_right_to_it() {
    const NO: &str = "ServiceNotEnabled";
    const OTHER: &str = "MissingConfigIDScope";
    use Service::{Redact, Sanitize, Share, Vault};
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokens(folder.path()).await;
    let key = KeyName { id: "pvi_k".to_owned(), version: 1 };
    let own = KeyName::default();
    let made =
        |config: Option<&str>, names_key| Some(CallRights { config: config.map(str::to_owned), names_key });
    let request = |who: &Principal| {
        [
            who.may_use(None),
            who.may_use(Some(A)),
            who.may_use(Some(B)),
            who.may_change_configs(),
            who.may_name_items(&[], &[]),
            who.may_name_items(&["pvi_k"], &["pvi_k"]),
            who.may_name_items(&["pvi_k", "pvi_s"], &["pvi_k"]),
            who.may_use_share(),
            who.may_undo(made(None, false).as_ref(), &own),
            who.may_undo(made(Some(A), false).as_ref(), &key),
            who.may_undo(made(Some(B), false).as_ref(), &own),
            who.may_undo(made(Some(A), true).as_ref(), &key),
            who.may_undo(None, &own),
            who.may_undo(None, &key),
        ]
        .map(said)
    };
    let y = "yes";
    let rows: [(&[Service], &[&str], [&str; 14]); 5] = [
        (&[], &[], [y; 14]),
        (&[Redact], &[], [y, y, y, y, y, y, NO, NO, y, y, y, NO, y, NO]),
        (&[Redact, Vault], &[A], [OTHER, y, OTHER, NO, y, y, y, NO, OTHER, y, OTHER, y, OTHER, OTHER]),
        (&[Redact], &[A], [OTHER, y, OTHER, NO, y, y, NO, NO, OTHER, y, OTHER, NO, OTHER, OTHER]),
        (&[Sanitize, Share], &[A, B], [OTHER, y, y, NO, y, y, NO, y, OTHER, y, y, NO, OTHER, OTHER]),
    ];
    for (services, configs, expected) in rows {
        let who = who(&tokens, services, &[], configs).await;
        assert_eq!(request(&who), expected, "{services:?} {configs:?}");
    }
}
