use std::fs;
use std::path::Path;

use super::{FeedEntry, FeedError, Loaded, load};

/// What a file of this name and text lists, each as `score spelling`.
fn read(name: &str, text: &str) -> Result<(Vec<String>, Loaded), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let mut all = Vec::new();
    let loaded = load(&path, &mut |entry| {
        let (FeedEntry::Url(what, score) | FeedEntry::Host(what, score)) = entry;
        all.push(format!("{} {}", score.get(), what.as_str()));
    });
    let shown = |error: FeedError| error.to_string().replace(&folder.path().display().to_string(), "F");
    loaded.map(|loaded| (all, loaded)).map_err(shown)
}

const fn loaded(taken: u64, passed: u64, skipped: u64) -> Loaded {
    Loaded { taken, passed, skipped }
}

#[test]
fn urlhaus_csv() {
    let text = "################\n# abuse.ch URLhaus Database Dump (CSV - recent URLs only)\n#\n\
        # id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter\n\
        \"1\",\"2026-01-01 00:00:00\",\"http://1.2.3.4:80/Mozi.m\",\"online\",\"\",\"malware_download\",\"elf,Mozi\",\"https://x/1/\",\"a\"\n\
        \"2\",\"2026-01-01 00:00:00\",\"http://Bad.test/a,b\",\"offline\",\"\",\"malware_download\",\"None\",\"https://x/2/\",\"a\"\n\
        \"3\",\"2026\",\"http://\",\"offline\"\n";
    let (all, rows) = read("a.csv", text).unwrap();
    assert_eq!(all, ["100 http://1.2.3.4/Mozi.m", "100 http://bad.test/a,b"]);
    assert_eq!(rows, loaded(2, 0, 1));
}

#[test]
fn threatfox_csv_and_json() {
    let text = "# ThreatFox IOCs\n\
        # \"first_seen_utc\",\"ioc_id\",\"ioc_value\",\"ioc_type\",\"threat_type\",\"confidence_level\"\n\
        \"2026\", \"9\", \"evil.test\", \"domain\", \"botnet_cc\", \"75\"\n\
        \"2026\", \"8\", \"1.2.3.4:443\", \"ip:port\", \"botnet_cc\", \"100\"\n\
        \"2026\", \"7\", \"abcdef\", \"sha256_hash\", \"payload\", \"50\"\n";
    let want = ["75 evil.test", "100 1.2.3.4"];
    assert_eq!(read("a.csv", text).unwrap(), (want.map(str::to_owned).to_vec(), loaded(2, 1, 0)));
    let answer = r#"{"query_status":"ok","data":[
        {"id":"9","ioc":"evil.test","ioc_type":"domain","confidence_level":75},
        {"id":"7","ioc":"abcdef","ioc_type":"md5_hash","confidence_level":50}]}"#;
    assert_eq!(read("a.json", answer).unwrap(), (vec!["75 evil.test".to_owned()], loaded(1, 1, 0)));
    let dump = r#"{"9":[{"ioc_value":"http://evil.test/x","ioc_type":"url","confidence_level":49}]}"#;
    assert_eq!(read("b.json", dump).unwrap().0, ["49 http://evil.test/x"]);
}

#[test]
fn misp_json() {
    let text = r#"{"Event":{"info":"x","Attribute":[
        {"type":"url","category":"Network activity","to_ids":true,"value":"http://a.test/x"},
        {"type":"domain|ip","to_ids":true,"value":"b.test|1.2.3.4"},
        {"type":"hostname","to_ids":false,"value":"fine.test"},
        {"type":"md5","to_ids":true,"value":"00"}],
        "Object":[{"name":"url","Attribute":[{"type":"hostname","to_ids":true,"value":"c.test"}]}]}}"#;
    let (mut all, rows) = read("a.json", text).unwrap();
    all.sort();
    assert_eq!(all, ["100 http://a.test/x", "80 b.test", "80 c.test"]);
    assert_eq!(rows, loaded(3, 2, 0));
}

#[test]
fn plain_lists() {
    let text = "# hosts\n127.0.0.1\tbad.test\n0.0.0.0 worse.test\nhxxp://defanged[.]test/a\nevil.test # why\n*.all.test\n\n; x\n1.2.3.4\n";
    let (all, rows) = read("a.txt", text).unwrap();
    let want = [
        "80 bad.test",
        "80 worse.test",
        "100 http://defanged.test/a",
        "80 evil.test",
        "80 all.test",
        "80 1.2.3.4",
    ];
    assert_eq!((all, rows), (want.map(str::to_owned).to_vec(), loaded(6, 0, 0)));
}

#[test]
fn what_is_no_feed_is_refused_by_its_line() {
    let cases = [
        ("a.csv", "name,age\na,1\nb,2\n", "F/a.csv:1: not a row of a feed, and so are most others"),
        (
            "a.txt",
            "good.test\nthis is prose\nand more of it here\n",
            "F/a.txt:2: not a row of a feed, and so are most others",
        ),
        ("a.json", "{\n\"a\":\n}", "F/a.json:3: not JSON"),
    ];
    for (name, text, want) in cases {
        assert_eq!(read(name, text).unwrap_err(), want);
    }
    let gone = load(Path::new("/nowhere/at/all"), &mut |_| {}).unwrap_err();
    assert_eq!(gone.to_string(), "/nowhere/at/all: entity not found");
    assert_eq!(read("a.csv", "").unwrap().1, loaded(0, 0, 0));
}
