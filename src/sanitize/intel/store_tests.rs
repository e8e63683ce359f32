use std::fs;

use super::{Store, StoreMaking};
use crate::sanitize::intel::{Canonical, Score};

fn lookup(store: &Store, url: &str) -> u8 {
    let link = Canonical::url(url).unwrap();
    store.lookup(&[link]).first().copied().map_or(255, Score::get)
}

fn store(urls: &[&str], hosts: &[&str]) -> Store {
    let mut making = StoreMaking::new();
    urls.iter().for_each(|url| making.url(&Canonical::url(url).unwrap(), Score::LISTED));
    hosts.iter().for_each(|host| making.host(&Canonical::domain(host).unwrap(), Score::new(75)));
    making.done()
}

#[test]
fn what_is_listed_is_found_however_it_is_spelt() {
    let urls =
        ["http://bad.test/a/b.exe?x=1", "http://5.6.7.8:1234/Mozi.m", "https://github.com/bad/tool.zip"];
    let store = store(&urls, &["evil.co.uk", "github.com"]);
    let cases = [
        ("http://bad.test/a/b.exe?x=1", 100),
        ("https://user@BAD.test:443/a/./%62.exe?x=1#f", 100),
        ("http://bad.test/a/b.exe", 80),
        ("http://bad.test/other", 80),
        ("http://www.bad.test/a", 80),
        ("http://notbad.test/a/b.exe?x=1", 0),
        ("http://0x5060708/Mozi.m", 100),
        ("http://5.6.7.8/", 80),
        ("http://5.6.7.9/", 0),
        ("http://evil.co.uk/", 75),
        ("http://a.b.c.d.e.f.g.h.evil.co.uk./x", 75),
        ("http://other.co.uk/", 0),
        ("http://github.com/bad/tool.zip", 100),
        ("http://github.com/bad/", 0),
        ("http://github.com/", 0),
    ];
    for (url, want) in cases {
        assert_eq!(lookup(&store, url), want, "{url}");
    }
    let domain = Canonical::domain("www.bad.test").unwrap();
    assert_eq!(store.lookup(&[domain.clone(), domain]).len(), 2);
    assert_eq!(lookup(&Store::default(), "http://bad.test/"), 0);
}

#[test]
fn a_listed_folder_speaks_for_what_is_in_it() {
    let store = store(&["http://half.blogspot.com/bad/"], &[]);
    assert_eq!(lookup(&store, "http://half.blogspot.com/bad/x"), 80);
    assert_eq!(lookup(&store, "http://other.blogspot.com/bad/x"), 0);
}

#[test]
fn of_two_scores_the_higher_holds() {
    let mut making = StoreMaking::new();
    for score in [20, 90, 50] {
        making.host(&Canonical::domain("bad.test").unwrap(), Score::new(score));
    }
    let store = making.done();
    assert_eq!((store.len(), lookup(&store, "http://bad.test/")), (1, 90));
}

#[test]
fn warnings_take_hosts_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    fs::write(&path, r#"{"list": ["bad.test", "*.shared.test", 5]}"#).unwrap();
    let mut making = StoreMaking::new();
    let loaded = making.warnings(&path).unwrap();
    assert_eq!((loaded.passed, loaded.skipped), (2, 1));
    for url in ["http://bad.test/x", "http://a.shared.test/y"] {
        making.url(&Canonical::url(url).unwrap(), Score::LISTED);
    }
    let store = making.done();
    let found: Vec<u8> =
        ["http://bad.test/x", "http://bad.test/", "http://a.shared.test/y", "http://a.shared.test/"]
            .iter()
            .map(|url| lookup(&store, url))
            .collect();
    assert_eq!(found, [100, 0, 100, 0]);
}

#[test]
#[ignore = "a measurement; run it with --release"]
#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a measurement is printed")]
fn a_million_entries() {
    let begun = std::time::Instant::now();
    let mut making = StoreMaking::new();
    for n in 0..1_000_000 {
        let url = format!("http://host{}.example/{n:x}/payload.exe", n % 300_000);
        making.url(&Canonical::url(&url).unwrap(), Score::LISTED);
    }
    let store = making.done();
    println!("{} entries, {} KiB, made in {:?}", store.len(), store.size() >> 10, begun.elapsed());
    let links: Vec<_> = (0..10_000)
        .map(|n| Canonical::url(&format!("http://a.b.other{n}.example/x/y?{n}")).unwrap())
        .collect();
    let begun = std::time::Instant::now();
    assert!(store.lookup(&links).iter().all(|score| *score == Score::UNKNOWN));
    println!("{:?} a link", begun.elapsed() / 10_000);
    assert!(store.size() <= 64 << 20);
}
