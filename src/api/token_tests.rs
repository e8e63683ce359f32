//! The rules of tokens, on a clock that stands still and, where two processes matter, two handles on one file.

use std::path::Path;

use super::*;
use crate::base::clock::{Clock, FixedClock};
use crate::base::id::ID_BYTES;
use crate::store::{EmbeddedRecords, NewRow};

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

struct Bench {
    tokens: Tokens,
    records: Arc<dyn Records>,
    clock: Arc<FixedClock>,
}

async fn bench(folder: &Path, clock: &Arc<FixedClock>) -> Bench {
    let shared: SharedClock = Arc::clone(clock) as SharedClock;
    let file = folder.join("portcullis.sqlite");
    let records: Arc<dyn Records> =
        Arc::new(EmbeddedRecords::open(&file, Arc::clone(&shared)).await.unwrap());
    let tokens = Tokens::new(Arc::clone(&records), shared);
    Bench { tokens, records, clock: Arc::clone(clock) }
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::at(START))
}

fn named(name: &str) -> NewToken {
    NewToken { name: name.to_owned(), ..NewToken::default() }
}

#[tokio::test]
async fn a_token_is_who_it_was_made_for_and_nothing_near_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    assert!(!bench.tokens.any().await.unwrap());
    let new = NewToken {
        services: vec![Service::Redact, Service::Vault],
        configs: vec!["pci_a".to_owned()],
        ..named("ci")
    };
    let (id, token) = bench.tokens.create(new).await.unwrap();
    assert!(bench.tokens.any().await.unwrap());
    let token = token.expose();
    let random = token.strip_prefix("pts_").unwrap();
    assert!(random.len() == 32 && random.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')));
    let who = bench.tokens.verify(token).await.unwrap();
    assert_eq!((who.id(), who.name(), who.configs()), (&id, "ci", &["pci_a".to_owned()][..]));
    assert_eq!((who.services(), who.routes()), (&[Service::Redact, Service::Vault][..], Some(&[][..])));
    let near = [
        String::new(),
        random.to_owned(),
        token.to_uppercase(),
        format!("{token} "),
        format!("Bearer {token}"),
        token.replace("pts_", "pti_"),
        id.to_string(),
        HEXLOWER.encode(&sha256(token.as_bytes())),
        "x".repeat(1 << 16),
    ];
    for text in near {
        assert!(matches!(bench.tokens.verify(&text).await, Err(TokenError::Unknown)));
    }
}

#[tokio::test]
async fn neither_services_nor_routes_means_all() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let (_, token) = bench.tokens.create(named("all")).await.unwrap();
    let who = bench.tokens.verify(token.expose()).await.unwrap();
    assert_eq!((who.services(), who.routes()), (&Service::ALL[..], None));
}

/// Rows as they were written before tokens had routes, and as later versions may write them.
#[tokio::test]
async fn rows_of_every_form_are_read() {
    type Row<'a> = (&'a str, &'a [Service], Option<&'a [String]>);
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let (all, none): (&[Service], Option<&[String]>) = (&Service::ALL, Some(&[]));
    let chat = ["chat".to_owned()];
    let rows: [Row<'_>; 14] = [
        (r#""services":null"#, all, None),
        // A token that was narrowed to services is no key to routes.
        (r#""services":["redact"]"#, &[Service::Redact], none),
        (r#""form":2,"services":null,"routes":null"#, all, None),
        (r#""form":2,"services":[],"routes":["chat"]"#, &[], Some(&chat)),
        (r#""form":2,"services":null,"labels":{"team":"a"},"more":1"#, all, None),
        (r#""form":2,"services":null,"models":["gpt-*"]"#, all, None),
        (r#""form":3,"services":null,"rate":{"times":1,"per_ms":1000}"#, all, None),
        (r#""form":2,"services":null,"tenant":"acme""#, &Service::OF_TENANTS, None),
        // Whatever else narrows it nobody holds it to yet: it may do nothing.
        (r#""form":4,"services":null"#, &[], none),
        (r#""form":2,"services":null,"tenant":"Acme Corp""#, &[], none),
        (r#""form":2,"services":null,"tenant":["acme"]"#, &[], none),
        (r#""form":2,"services":null,"models":{"any":["gpt-*"]}"#, &[], none),
        (r#""form":2,"services":["redact"],"routes":["chat"],"budget":{"tokens":1}"#, &[], none),
        (r#""form":2,"services":null,"tenant":null,"models":null,"budget":null"#, all, None),
    ];
    for (n, (row, services, routes)) in rows.into_iter().enumerate() {
        let id = TokenId::from_random([u8::try_from(n).unwrap(); ID_BYTES]);
        let row = format!(
            r#"{{"id":"{id}","name":"n","configs":[],"created":1,"expires":null,"revoked":null,{row}}}"#
        );
        let text = format!("pts_{n}");
        let key = key(&sha256(text.as_bytes()));
        let entry = NewRow::lasting(row.clone().into());
        bench.records.put_if(&key, Precondition::Absent, entry).await.unwrap();
        let who = bench.tokens.verify(&text).await.unwrap();
        assert_eq!((who.services(), who.routes()), (services, routes), "{row}");
        // What it says, and in which form, stays through a change.
        bench.tokens.revoke(&id).await.unwrap();
        let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        let (before, after) = (read(row.as_bytes()), bench.records.get(&key).await.unwrap().unwrap());
        let after = read(&after.entry.value);
        for (name, value) in before.as_object().unwrap().iter().filter(|(name, _)| *name != "revoked") {
            let kept = after.get(name).cloned().unwrap_or_default();
            assert_eq!(kept, *value, "{row}: {name}");
        }
        assert_eq!(after["form"], before.get("form").cloned().unwrap_or(1.into()), "{row}");
    }
}

#[test]
fn tokens_are_seen_in_any_text() {
    let token = format!("pts_{}", "a2".repeat(16));
    let upper = token.to_uppercase();
    let rows = [
        (token.clone(), 1),
        (format!("x{token}y"), 1),
        (format!("pts_{token}"), 1),
        (upper, 1),
        (format!("{token},{token}"), 1),
        (format!("{token} pts_{}", "b".repeat(32)), 2),
        (token.replace('a', "1"), 0),
        (token.get(..35).unwrap().to_owned(), 0),
        ("_".repeat(1000), 0),
        (String::new(), 0),
    ];
    for (text, count) in rows {
        let found = tokens_in(text.as_bytes());
        assert_eq!(found.len(), count, "{text}");
        assert!(found.first().is_none_or(|one| *one.expose() == token));
    }
}

#[tokio::test]
async fn expiry_holds_to_the_millisecond_even_while_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let expires = START.plus(Duration::from_millis(100));
    let (_, token) =
        bench.tokens.create(NewToken { expires: Some(expires), ..named("brief") }).await.unwrap();
    bench.clock.advance(Duration::from_millis(99));
    assert!(bench.tokens.verify(token.expose()).await.is_ok());
    bench.clock.advance(Duration::from_millis(1));
    assert!(matches!(bench.tokens.verify(token.expose()).await, Err(TokenError::Expired)));
    bench.clock.advance(Duration::from_secs(5));
    assert!(matches!(bench.tokens.verify(token.expose()).await, Err(TokenError::Expired)));
    assert_eq!(bench.tokens.list().await.unwrap().len(), 1, "the operator still sees it");
}

#[tokio::test]
async fn revocation_holds_at_once_here_and_within_a_second_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let clock = clock();
    let (server, cli) = (bench(folder.path(), &clock).await, bench(folder.path(), &clock).await);
    let (kept, kept_token) = cli.tokens.create(named("kept")).await.unwrap();
    let (here, here_token) = cli.tokens.create(named("here")).await.unwrap();
    let (there, there_token) = cli.tokens.create(named("there")).await.unwrap();
    for token in [&kept_token, &here_token, &there_token] {
        server.tokens.verify(token.expose()).await.unwrap();
    }
    server.tokens.revoke(&here).await.unwrap();
    assert!(matches!(server.tokens.verify(here_token.expose()).await, Err(TokenError::Revoked)));
    server.tokens.verify(there_token.expose()).await.unwrap();

    cli.tokens.revoke(&there).await.unwrap();
    clock.advance(Duration::from_millis(899));
    assert!(server.tokens.verify(there_token.expose()).await.is_ok(), "remembered");
    clock.advance(Duration::from_millis(100));
    assert!(matches!(server.tokens.verify(there_token.expose()).await, Err(TokenError::Revoked)));
    assert!(server.tokens.verify(kept_token.expose()).await.is_ok());

    let first = cli.tokens.list().await.unwrap();
    cli.tokens.revoke(&there).await.unwrap();
    assert_eq!(cli.tokens.list().await.unwrap(), first, "a second revocation changes nothing");
    let usable: Vec<_> = first.iter().filter(|info| info.revoked.is_none()).map(|info| &info.id).collect();
    assert_eq!(usable, [&kept]);
    let nobody = TokenId::from_random([0; ID_BYTES]);
    assert!(matches!(cli.tokens.revoke(&nobody).await, Err(TokenError::Unknown)));
}

#[tokio::test]
async fn a_token_made_by_another_process_is_known_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let clock = clock();
    let (server, cli) = (bench(folder.path(), &clock).await, bench(folder.path(), &clock).await);
    assert!(!server.tokens.any().await.unwrap());
    let (_, token) = cli.tokens.create(named("new")).await.unwrap();
    assert!(server.tokens.verify(token.expose()).await.is_ok());
}

#[tokio::test]
async fn what_a_later_version_wrote_grants_nothing_more_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let id = TokenId::from_random([9; ID_BYTES]);
    let row = format!(
        r#"{{"id":"{id}","name":"n","services":["audit"],"configs":[],"created":1,"expires":null,
            "revoked":null,"last_used":77}}"#
    );
    let key = key(&sha256(b"pts_later"));
    bench.records.put_if(&key, Precondition::Absent, NewRow::lasting(row.into())).await.unwrap();
    let who = bench.tokens.verify("pts_later").await.unwrap();
    assert_eq!(who.services(), []);
    bench.tokens.revoke(&id).await.unwrap();
    let row = bench.records.get(&key).await.unwrap().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&row.entry.value).unwrap();
    assert_eq!((&json["last_used"], &json["services"][0]), (&77.into(), &"audit".into()));
    assert_eq!(json["revoked"], START.as_millis());
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_no_principal() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let key = key(&sha256(b"pts_odd"));
    bench.records.put_if(&key, Precondition::Absent, NewRow::lasting(b"{}".to_vec())).await.unwrap();
    assert!(matches!(bench.tokens.verify("pts_odd").await, Err(TokenError::Row)));
}

#[tokio::test]
async fn lists_and_revocations_go_beyond_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let mut ids = Vec::new();
    for _ in 0..=Pages::ROWS {
        ids.push(bench.tokens.create(named("many")).await.unwrap().0);
    }
    let mut listed: Vec<_> = bench.tokens.list().await.unwrap().into_iter().map(|info| info.id).collect();
    let last = listed.last().cloned().unwrap();
    listed.sort();
    ids.sort();
    assert_eq!(listed, ids);
    bench.tokens.revoke(&last).await.unwrap();
}

#[tokio::test]
async fn memory_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let (_, token) = bench.tokens.create(named("one")).await.unwrap();
    let info = bench.tokens.verify(token.expose()).await.unwrap().0;
    let seen = || CachedToken { info: Arc::clone(&info), at: bench.clock.instant(), revocations: 0 };
    let hash = |n: usize| sha256(&n.to_be_bytes());
    for n in 0..REMEMBERED + 100 {
        bench.tokens.remember(hash(n), seen());
    }
    assert_eq!(bench.tokens.seen.len(), REMEMBERED);
    bench.clock.advance(Duration::from_secs(1));
    bench.tokens.remember(hash(0), seen());
    assert_eq!(bench.tokens.seen.len(), 1, "what is old makes room");
    for text in ["pts_a", "pts_b"] {
        bench.tokens.verify(text).await.unwrap_err();
    }
    assert_eq!(bench.tokens.seen.len(), 1, "what is unknown takes none");
}

#[tokio::test]
async fn bad_names_and_past_expiries_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let longer = "x".repeat(MAX_NAME + 1);
    for text in
        ["", "two\nlines", "bell\u{7}", "safe\u{202e}txt.exe", "a\u{2028}b", " a", "a\u{a0}", " ", &longer]
    {
        assert!(matches!(bench.tokens.create(named(text)).await, Err(TokenError::Name)), "{text:?}");
        let labels = [("team".to_owned(), text.to_owned())].into();
        let bounds = TokenBounds { labels, ..TokenBounds::default() };
        let labelled = NewToken { bounds, ..named("labelled") };
        assert!(matches!(bench.tokens.create(labelled).await, Err(TokenError::Label)), "{text:?}");
    }
    for route in ["", "two\nlines", &"x".repeat(MAX_NAME + 1)] {
        let new = NewToken { routes: vec![route.to_owned()], ..named("routes") };
        assert!(matches!(bench.tokens.create(new).await, Err(TokenError::Route)));
    }
    let past = NewToken { expires: Some(START), ..named("past") };
    assert!(matches!(bench.tokens.create(past).await, Err(TokenError::Past)));
    assert!(!bench.tokens.any().await.unwrap());
}

#[tokio::test]
async fn what_a_token_is_called_already_stays_and_nothing_like_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let id = TokenId::from_random([9; ID_BYTES]);
    let row = format!(
        r#"{{"form":2,"id":"{id}","name":" lead ","services":null,"routes":null,"configs":[],"created":1,"expires":null,
            "revoked":null,"labels":{{"team":" a","site":"x\u202e"}}}}"#
    );
    let key = key(&sha256(b"pts_before"));
    bench.records.put_if(&key, Precondition::Absent, NewRow::lasting(row.into())).await.unwrap();
    let update = async |change: fn(&mut TokenInfo)| {
        let change = |info: &mut TokenInfo| {
            change(info);
            Ok(())
        };
        bench.tokens.update(&id, change).await
    };
    let info = update(|info| info.expires = Some(START.plus(Duration::from_secs(60)))).await.unwrap();
    assert_eq!((info.name.as_str(), info.bounds.labels["team"].as_str()), (" lead ", " a"));
    assert!(matches!(update(|info| info.name.push(' ')).await, Err(TokenError::Name)));
    let other = |info: &mut TokenInfo| drop(info.bounds.labels.insert("team".to_owned(), " b".to_owned()));
    assert!(matches!(update(other).await, Err(TokenError::Label)));
    let refused = bench.tokens.update(&id, |_| Err(TokenError::Changed)).await;
    assert!(matches!(refused, Err(TokenError::Changed)));
    assert_eq!(bench.tokens.get(&id).await.unwrap(), info, "nothing of that was written");
}

#[tokio::test]
async fn the_last_use_is_written_once_a_minute_and_beside_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let (id, token) = bench.tokens.create(named("ci")).await.unwrap();
    let key = Key::new("api.token.used", id.to_string());
    // A process that does not serve notes nothing.
    bench.tokens.verify(token.expose()).await.unwrap();
    assert_eq!(bench.tokens.active(), 0);
    let writer = tokio::spawn(bench.tokens.record_uses().unwrap());
    assert!(bench.tokens.record_uses().is_none());
    let used = async |minutes: u64| {
        for _ in 0..200 {
            let used = bench.tokens.last_used().await.unwrap().get(&id).copied();
            if used == Some(START.plus(Duration::from_secs(60 * minutes))) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not noted");
    };
    for minutes in 0..3 {
        for _ in 0..5 {
            bench.tokens.verify(token.expose()).await.unwrap();
        }
        used(minutes).await;
        bench.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(bench.records.get(&key).await.unwrap().unwrap().version, 3);
    // Whoever waits for it finds it written.
    bench.tokens.verify(token.expose()).await.unwrap();
    bench.tokens.uses_written().await;
    assert_eq!(bench.records.get(&key).await.unwrap().unwrap().version, 4);
    assert_eq!(bench.tokens.active(), 1);
    bench.clock.advance(Duration::from_secs(300));
    assert_eq!(bench.tokens.active(), 0);
    // What is not accepted is not used.
    bench.tokens.revoke(&id).await.unwrap();
    assert!(bench.tokens.verify(token.expose()).await.is_err());
    assert_eq!(bench.tokens.active(), 0);
    writer.abort();
}

#[tokio::test]
async fn what_a_token_was_granted_ends_when_it_is_revoked_also_one_of_a_version_before() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let Bench { tokens, records, clock } = &bench;
    let expires = Some(clock.now().plus(Duration::from_secs(1)));
    let (noted, _) = tokens.create(NewToken { expires, ..named("noted") }).await.unwrap();
    let (before, _) = tokens.create(named("of a version before")).await.unwrap();
    let key = Key::new("api.token.id", before.to_string());
    let row = records.get(&key).await.unwrap().unwrap();
    records.remove_if(&key, row.version).await.unwrap();
    clock.advance(Duration::from_secs(2));
    for id in [&noted, &before] {
        assert!(!tokens.is_revoked(id).await.unwrap());
        assert!(records.get(&Key::new("api.token.id", id.to_string())).await.unwrap().is_some());
        tokens.revoke(id).await.unwrap();
        assert!(tokens.is_revoked(id).await.unwrap());
    }
    assert!(tokens.is_revoked(&TokenId::from_random([0; 20])).await.unwrap());
}

/// Whatever happens to a token at once, no secret of it is left that nobody can end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_secret_outlives_its_tokens_end() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Arc::new(bench(folder.path(), &clock()).await);
    for turn in 0..30 {
        let (id, first) = bench.tokens.create(named("turned")).await.unwrap();
        let turns = (0..6).map(|n| {
            let (bench, id) = (Arc::clone(&bench), id.clone());
            tokio::spawn(async move {
                match n {
                    5 if turn % 2 == 0 => bench.tokens.revoke(&id).await.map(|()| None),
                    4 => {
                        let mut info = bench.tokens.get(&id).await?;
                        info.bounds.models = Some(vec![crate::usage::ModelPattern::parse("only").unwrap()]);
                        let change = |to: &mut TokenInfo| {
                            to.bounds = info.bounds.clone();
                            Ok(())
                        };
                        bench.tokens.update(&id, change).await.map(|_| None)
                    }
                    _ => bench.tokens.rotate(&id, Duration::from_secs(60)).await.map(Some),
                }
            })
        });
        let turns: Vec<_> = turns.collect();
        let mut secrets = vec![first];
        let mut done = [true; 6];
        for (n, turn) in turns.into_iter().enumerate() {
            match turn.await.unwrap() {
                Ok(secret) => secrets.extend(secret),
                Err(_) => done[n] = false,
            }
        }
        assert!(done.contains(&true));
        let (updated, revoked) = (done[4], done[5] && turn % 2 == 0);
        for secret in &secrets {
            if let (true, Ok(who)) = (updated, bench.tokens.verify(secret.expose()).await) {
                assert!(who.bounds().models.is_some(), "{turn}: what narrows it narrows all its secrets");
            }
        }
        assert_eq!(bench.tokens.list().await.unwrap().iter().filter(|one| one.id == id).count(), 1, "{turn}");
        if !revoked {
            assert!(
                bench.tokens.get(&id).await.unwrap().expires.is_none(),
                "{turn}: only secrets before end soon"
            );
            bench.tokens.revoke(&id).await.unwrap();
        }
        for secret in &secrets {
            let verified = bench.tokens.verify(secret.expose()).await;
            assert!(matches!(verified, Err(TokenError::Revoked | TokenError::Expired)), "{turn}");
        }
    }
}

#[tokio::test]
async fn a_rotation_that_ended_half_way_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), &clock()).await;
    let (tokens, records) = (&bench.tokens, bench.records.as_ref());
    for made in [false, true] {
        let (id, _) = tokens.create(named("ci")).await.unwrap();
        let ClaimedRow { row, stored } = tokens.claim(&id, Duration::ZERO).await.unwrap();
        if made {
            let (_, key) = fresh().unwrap();
            let entry = stored.after(row.id()).entry().unwrap();
            records.put_if(&key, Precondition::Absent, entry).await.unwrap();
        }
        bench.clock.advance(Duration::from_secs(120));
        let secret = tokens.rotate(&id, Duration::ZERO).await.unwrap();
        assert_eq!(tokens.verify(secret.expose()).await.unwrap().id(), &id);
        assert_eq!(tokens.list().await.unwrap().iter().filter(|info| info.id == id).count(), 1);
    }
}
