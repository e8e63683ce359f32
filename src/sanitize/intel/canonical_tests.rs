use super::Canonical;
use crate::sanitize::Link;

fn url(written: &str) -> String {
    Canonical::url(written).map(|url| url.as_str().to_owned()).unwrap_or_default()
}

#[test]
fn urls_have_one_spelling() {
    // The first block is Safe Browsing's own list, where the canonical host is one that browsers take.
    let cases = [
        ("http://host/%25%32%35", "http://host/%25"),
        ("http://host/%25%32%35%25%32%35", "http://host/%25%25"),
        ("http://host/%2525252525252525", "http://host/%25"),
        ("http://host/asdf%25%32%35asd", "http://host/asdf%25asd"),
        ("http://host/%%%25%32%35asd%%", "http://host/%25%25%25asd%25%25"),
        ("http://www.google.com/", "http://www.google.com/"),
        (
            "http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/%77%77%77%2E%65%62%61%79%2E%63%6F%6D/",
            "http://168.188.99.26/.secure/www.ebay.com/",
        ),
        (
            "http://195.127.0.11/uploads/%20%20%20%20/.verify/",
            "http://195.127.0.11/uploads/%20%20%20%20/.verify/",
        ),
        ("http://3279880203/blah", "http://195.127.0.11/blah"),
        ("http://www.google.com/blah/..", "http://www.google.com/"),
        ("www.google.com/", "http://www.google.com/"),
        ("www.google.com", "http://www.google.com/"),
        ("http://www.evil.com/blah#frag", "http://www.evil.com/blah"),
        ("http://www.GOOgle.com/", "http://www.google.com/"),
        ("http://www.google.com.../", "http://www.google.com/"),
        ("http://www.google.com/foo\tbar\rbaz\n2", "http://www.google.com/foobarbaz2"),
        ("http://www.google.com/q?", "http://www.google.com/q?"),
        ("http://www.google.com/q?r?", "http://www.google.com/q?r?"),
        ("http://www.google.com/q?r?s", "http://www.google.com/q?r?s"),
        ("http://evil.com/foo#bar#baz", "http://evil.com/foo"),
        ("http://evil.com/foo;", "http://evil.com/foo;"),
        ("http://evil.com/foo?bar;", "http://evil.com/foo?bar;"),
        ("http://notrailingslash.com", "http://notrailingslash.com/"),
        ("http://www.gotaport.com:1234/", "http://www.gotaport.com:1234/"),
        ("  http://www.google.com/  ", "http://www.google.com/"),
        ("https://www.securesite.com/", "https://www.securesite.com/"),
        ("http://host.com/ab%23cd", "http://host.com/ab%23cd"),
        ("http://host.com//twoslashes?more//slashes", "http://host.com/twoslashes?more//slashes"),
        // Ours.
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://0177.0.0.01./", "http://127.0.0.1/"),
        ("http://127.0.0.1../", "http://127.0.0.1/"),
        ("http://[0:0::1]/", "http://[::1]/"),
        ("http://user:password@evil.com:80/", "http://evil.com/"),
        ("https://evil.com:443", "https://evil.com/"),
        ("HTTP:\\\\evil.com\\a", "http://evil.com/a"),
        ("//evil.com/a", "http://evil.com/a"),
        ("evil.com:8080/a", "http://evil.com:8080/a"),
        ("ht\ntp://evil.com/a", "http://evil.com/a"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://ｅｖｉｌ。com/", "http://evil.com/"),
        ("http://a.com/x/%2e%2e/y/./z/", "http://a.com/y/z/"),
        ("http://a.com/x/%252e%252e/y", "http://a.com/y"),
        ("javascript:alert(1)", ""),
        ("mailto:a@b.example", ""),
        ("http://", ""),
        ("http://a b/", ""),
        ("http://.../", ""),
        ("", ""),
    ];
    for (written, want) in cases {
        assert_eq!(url(written), want, "{written}");
        if !want.is_empty() {
            assert_eq!(url(want), want, "not settled: {written}");
        }
    }
}

#[test]
fn domains_have_one_spelling() {
    let cases = [
        ("Evil.COM.", "evil.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("2130706433", "127.0.0.1"),
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
        ("evil.com:8080", "evil.com"),
        ("evil.com/a", ""),
        ("a@evil.com", ""),
        ("", ""),
    ];
    for (written, want) in cases {
        let domain = Canonical::domain(written);
        assert_eq!(domain.as_ref().map(Canonical::as_str).unwrap_or_default(), want, "{written}");
        assert!(domain.is_none_or(|domain| domain.is_domain() && domain.host() == want));
    }
    let of = Canonical::of(&Link::Domain("A.example".to_owned())).unwrap();
    assert_eq!(of, Canonical::url("https://a.example/x").unwrap().to_domain());
}

#[test]
fn hosts_end_at_the_registrable_domain() {
    let cases: [(&str, &[&str]); 6] = [
        ("http://a.b.evil.co.uk/", &["a.b.evil.co.uk", "b.evil.co.uk", "evil.co.uk"]),
        ("http://co.uk/", &["co.uk"]),
        ("http://x.someone.github.io/", &["x.someone.github.io", "someone.github.io"]),
        ("http://1.2.3.4/", &["1.2.3.4"]),
        ("http://[::1]/", &["[::1]"]),
        ("http://localhost/", &["localhost"]),
    ];
    for (written, want) in cases {
        let url = Canonical::url(written).unwrap();
        assert_eq!(url.hosts().collect::<Vec<_>>(), want);
    }
}

#[test]
fn places_go_from_the_whole_path_to_the_root() {
    let cases: [(&str, &[&str]); 5] = [
        ("http://a.com/1/2.html?q=1", &["/1/2.html?q=1", "/1/2.html", "/", "/1/"]),
        ("http://a.com/", &["/"]),
        ("http://a.com/1/2/3/4/5/", &["/1/2/3/4/5/", "/", "/1/", "/1/2/", "/1/2/3/"]),
        ("http://a.com?q", &["/?q", "/"]),
        ("http://a.com/x", &["/x", "/"]),
    ];
    for (written, want) in cases {
        let url = Canonical::url(written).unwrap();
        assert_eq!(url.places().collect::<Vec<_>>(), want, "{written}");
    }
    assert_eq!(Canonical::domain("a.com").unwrap().places().count(), 0);
}
