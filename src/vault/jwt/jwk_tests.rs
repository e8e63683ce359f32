use serde_json::{Value, json};

use super::*;
use crate::crypto::jws::{JwsAlgorithm, RsaBits, SigningKey};

/// RFC 7638 section 3.1 and RFC 8037 appendix A.3.
#[test]
fn published_thumbprints() {
    let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4\
             n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zg\
             dAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-\
             kEgU8awapJzKnqDKgw";
    let rows = [
        (
            json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}),
            "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
        ),
        (
            json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}),
            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
        ),
    ];
    for (jwk, thumbprint) in rows {
        assert_eq!(Jwk::parse(jwk.to_string().as_bytes()).unwrap().thumbprint(), thumbprint);
    }
}

#[test]
fn what_is_written_is_read_and_holds_nothing_private() {
    for algorithm in JwsAlgorithm::ALL {
        let Some(public) = SigningKey::generate(algorithm, RsaBits::Two).unwrap().public() else { continue };
        let jwk = Jwk::of(&public, "pvi_a|1");
        let text = serde_json::to_string(&jwk).unwrap();
        let members: Value = serde_json::from_str(&text).unwrap();
        let mut names: Vec<&str> = members.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        let wanted: &[&str] = match members["kty"].as_str().unwrap() {
            "EC" => &["alg", "crv", "kid", "kty", "use", "x", "y"],
            "RSA" => &["alg", "e", "kid", "kty", "n", "use"],
            _ => &["alg", "crv", "kid", "kty", "use", "x"],
        };
        assert_eq!(names, wanted);
        assert_eq!(Jwk::parse(text.as_bytes()).unwrap(), jwk);
        assert_eq!(jwk.algorithm(), Some(algorithm));
        assert_eq!(jwk.public_key(algorithm).unwrap().numbers(), public.numbers());
        let others = JwsAlgorithm::ALL.into_iter().filter(|other| *other != algorithm);
        assert!(others.into_iter().all(|other| jwk.public_key(other).is_err()));
    }
}

#[test]
fn keys_that_are_not_for_signatures_or_not_public_are_refused() {
    let public = SigningKey::generate(JwsAlgorithm::Es256, RsaBits::Two).unwrap().public().unwrap();
    let good = serde_json::to_value(Jwk::of(&public, "a")).unwrap();
    let with = |name: &str, value: Value| {
        let mut jwk = good.clone();
        jwk[name] = value;
        jwk.to_string()
    };
    for private in ["d", "k", "p", "q", "dp", "dq", "qi"] {
        assert_eq!(Jwk::parse(with(private, "AQ".into()).as_bytes()), Err(JwtError::Jwk), "{private}");
    }
    assert_eq!(Jwk::parse(with("kty", "oct".into()).as_bytes()), Err(JwtError::Jwk));
    assert!(
        Jwk::parse(with("key_ops", json!(["verify"])).as_bytes())
            .unwrap()
            .public_key(JwsAlgorithm::Es256)
            .is_ok()
    );
    let x = good["x"].as_str().unwrap();
    for (name, value) in [
        ("use", "enc".into()),
        ("key_ops", json!(["sign"])),
        ("alg", "ES384".into()),
        ("crv", "P-384".into()),
        ("kty", "RSA".into()),
        ("x", format!("{x}=").into()),
        ("x", format!("AA{x}").into()),
        ("x", "".into()),
        ("y", Value::Null),
    ] {
        let read = Jwk::parse(with(name, value.clone()).as_bytes()).unwrap();
        assert!(read.public_key(JwsAlgorithm::Es256).is_err(), "{name} {value}");
    }
    let twice = good.to_string().replace("\"kid\":", "\"alg\":\"ES256\",\"kid\":");
    assert_eq!(Jwk::parse(twice.as_bytes()), Err(JwtError::Jwk));
    let set = json!({"keys": [good, {"kty": "oct", "k": "AQ"}, 7, {"kty": "EC", "kid": "b"}, {"kty": "EC", "kid": "b"}]});
    let set = JwkSet::parse(set.to_string().as_bytes()).unwrap();
    assert_eq!((set.keys.len(), set.find("a").is_some(), set.find("b")), (3, true, None));
    assert!(JwkSet::parse(b"[]").is_err());
}
