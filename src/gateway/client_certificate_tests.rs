use super::*;
use crate::gateway::testing_certificates::{ADDRESS, AGENT, EMPTY, EXPIRED, PERSON, SPACE, TWO_COMMON, der};

#[test]
fn a_certificate_is_known_by_the_first_of_its_names() {
    let rows: [(&str, &[&str], &str); 4] = [
        (
            AGENT,
            &[
                "uri:spiffe://example.com/Agent",
                "uri:urn:other",
                "dns:agent.example.com",
                "email:Jane@example.com",
                "CN=agent",
            ],
            "uri:spiffe://example.com/Agent",
        ),
        (PERSON, &["CN=Jane Döe 5%\r\nx: y"], "CN=Jane%20D%C3%B6e%205%25%0D%0Ax:%20y"),
        (TWO_COMMON, &[], "sha256:66c85dc0e8763ccc26b110eacef2c71a655004631cc41f38176b0d31977e925c"),
        (ADDRESS, &[], "sha256:8fe148f3d32f1f581cd4d61db4e950b288cb2b016797de9a7c95bd0f43cfb6ed"),
    ];
    for (written, names, in_header) in rows {
        let certificate = ClientCertificate::read(&der(written)).unwrap();
        let found: Vec<String> = certificate.names().iter().map(ToString::to_string).collect();
        assert_eq!(found, names);
        assert_eq!(certificate.identity_in_header(), in_header);
        assert!(names.first().is_none_or(|first| certificate.identity() == *first));
    }
}

#[test]
fn the_log_has_the_beginning_of_the_fingerprint_and_no_name() {
    let certificate = ClientCertificate::read(&der(AGENT)).unwrap();
    let whole = "9f0915d3aabb7118da76cbc28dfc5514efbbb94f4b84abe453ef205bd0375f76";
    assert_eq!(certificate.fingerprint(), whole);
    assert_eq!(certificate.short_fingerprint(), "9f0915d3aabb7118");
    assert_eq!(format!("{certificate:?}"), "ClientCertificate(9f0915d3aabb7118)");
}

#[test]
fn what_is_not_one_certificate_with_names_is_none() {
    let whole = der(AGENT);
    let longer = [whole.as_slice(), b"\0"].concat();
    let shorter = whole.get(..whole.len() - 1).unwrap();
    for (bytes, why) in [
        (&b""[..], "nothing"),
        (b"-----BEGIN CERTIFICATE-----", "text"),
        (shorter, "a part"),
        (&longer, "more than one"),
        // Left out, they would make the certificate known by its next name.
        (&der(SPACE), "a space in a name"),
        (&der(EMPTY), "a name that is empty"),
    ] {
        assert!(ClientCertificate::read(bytes).is_none(), "{why}");
    }
}

#[test]
fn a_certificate_is_good_to_its_last_second() {
    let certificate = ClientCertificate::read(&der(EXPIRED)).unwrap();
    for (millis, expired) in
        [(0, false), (1_609_459_199_999, false), (1_609_459_200_000, true), (u64::MAX, true)]
    {
        assert_eq!(certificate.is_expired(Timestamp::from_millis(millis)), expired, "{millis}");
    }
}

#[test]
fn subjects_are_written_with_their_kind() {
    let long = format!("uri:urn:{}", "a".repeat(LONGEST_NAME));
    let rows = [
        ("uri:spiffe://Example.com/Agent", Some("uri:spiffe://Example.com/Agent")),
        ("dns:Agent.Example.COM.", Some("dns:agent.example.com")),
        ("email:Jane@Example.COM", Some("email:Jane@example.com")),
        ("CN=Jane Doe", Some("CN=Jane Doe")),
        ("CN= José, 100%", Some("CN= José, 100%")),
        ("CN=dns:a", Some("CN=dns:a")),
        ("agent.example.com", None),
        ("cn=agent", None),
        ("DNS:agent.example.com", None),
        ("CN=", None),
        ("uri:", None),
        ("uri:agent", None),
        ("uri:urn:a b", None),
        ("dns:", None),
        ("dns:.", None),
        ("dns:*.example.com", None),
        ("dns:agent.example.com:443", None),
        ("dns:bücher.example", None),
        ("email:jane", None),
        ("email:@example.com", None),
        ("email:jane@", None),
        ("email:a@b@c", None),
        ("O=Example,CN=agent", None),
        ("", None),
        (&long, None),
    ];
    for (written, read) in rows {
        let found = SubjectName::parse(written).ok().map(|name| name.to_string());
        assert_eq!(found.as_deref(), read, "{written}");
    }
}
