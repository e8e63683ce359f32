use super::*;
use crate::base::secret::Secret;
use crate::crypto::jws::{JwsAlgorithm, SigningKey};

fn verified(payload: &str) -> Verified {
    let key = SigningKey::from_secret(JwsAlgorithm::Hs256, Secret::new(vec![7; 32])).unwrap();
    let token = sign(&key, "a|1", payload).unwrap();
    Unverified::parse(&token).unwrap().verify(&VerifyingKey::of(&key).unwrap()).unwrap()
}

fn denied(payload: &str, policy: &Policy, now: u64) -> Option<ClaimsError> {
    verified(payload).check(policy, now).err()
}

#[test]
fn times_have_leeway_and_must_be_numbers() {
    let policy = Policy { leeway: 5, ..Policy::default() };
    let rows = [
        (r#"{"exp":100}"#, 104, None),
        (r#"{"exp":100}"#, 105, Some(ClaimsError::Expired)),
        (r#"{"exp":100.5}"#, 105, None),
        (r#"{"exp":-1}"#, 5, Some(ClaimsError::Expired)),
        (r#"{"exp":1e300}"#, 5, None),
        (r#"{"exp":"100"}"#, 5, Some(ClaimsError::Time)),
        (r#"{"exp":null}"#, 5, Some(ClaimsError::Time)),
        (r#"{}"#, 5, Some(ClaimsError::Time)),
        (r#"{"exp":100,"nbf":50}"#, 45, None),
        (r#"{"exp":100,"nbf":50}"#, 44, Some(ClaimsError::Early)),
        (r#"{"exp":100,"nbf":true}"#, 60, Some(ClaimsError::Time)),
    ];
    for (payload, now, want) in rows {
        assert_eq!(denied(payload, &policy, now), want, "{payload} at {now}");
    }
    let endless = Policy { expires: false, leeway: u64::MAX, ..Policy::default() };
    assert_eq!(denied("{}", &endless, 5), None);
    assert_eq!(denied(r#"{"exp":0}"#, &endless, 600), Some(ClaimsError::Expired));
}

#[test]
fn issuer_audience_claims_and_scopes() {
    let policy = Policy {
        issuers: vec!["i".to_owned(), "j".to_owned()],
        audience: Audience::OneOf(vec!["a".to_owned()]),
        expires: false,
        required: vec!["sub".to_owned()],
        scopes: vec!["read".to_owned(), "write".to_owned()],
        ..Policy::default()
    };
    let rows = [
        (r#"{"iss":"i","aud":"a","sub":"s","scope":"read write more"}"#, None),
        (r#"{"iss":"j","aud":["b","a"],"sub":"s","scp":["read","write"]}"#, None),
        (r#"{"aud":"a","sub":"s","scope":"read write"}"#, Some(ClaimsError::Issuer)),
        (r#"{"iss":"k","aud":"a","sub":"s","scope":"read write"}"#, Some(ClaimsError::Issuer)),
        (r#"{"iss":["i"],"aud":"a","sub":"s","scope":"read write"}"#, Some(ClaimsError::Issuer)),
        (r#"{"iss":"i","sub":"s","scope":"read write"}"#, Some(ClaimsError::Audience)),
        (r#"{"iss":"i","aud":"ab","sub":"s","scope":"read write"}"#, Some(ClaimsError::Audience)),
        (r#"{"iss":"i","aud":["a",1],"sub":"s","scope":"read write"}"#, Some(ClaimsError::Audience)),
        (r#"{"iss":"i","aud":"a","sub":null,"scope":"read write"}"#, Some(ClaimsError::Required)),
        (r#"{"iss":"i","aud":"a","sub":"s","scope":"readwrite"}"#, Some(ClaimsError::Scope)),
        (r#"{"iss":"i","aud":"a","sub":"s"}"#, Some(ClaimsError::Scope)),
    ];
    for (payload, want) in rows {
        assert_eq!(denied(payload, &policy, 0), want, "{payload}");
    }
    let claims = verified(rows[0].0).check(&policy, 0).unwrap();
    assert_eq!((claims.subject(), claims.get("none")), (Some("s"), None));
    let plain = Policy { expires: false, ..Policy::default() };
    assert_eq!(denied(r#"{"aud":"a"}"#, &plain, 0), Some(ClaimsError::Audience));
    assert_eq!(denied(r#"{"aud":"a"}"#, &Policy { audience: Audience::Any, ..plain }, 0), None);
}

#[test]
fn the_text_is_signed_as_it_is() {
    let payload = " {\"b\" : 1.0,\r\n\"a\":\"\\u00e4\"} ";
    assert_eq!(verified(payload).payload(), payload.as_bytes());
    assert_eq!(verified(payload).kid(), Some("a|1"));
    let key = SigningKey::from_secret(JwsAlgorithm::Hs256, Secret::new(vec![7; 32])).unwrap();
    for (payload, want) in [
        ("", JwtError::Payload),
        ("{", JwtError::Payload),
        (r#"{"a":1,"a":2}"#, JwtError::Payload),
        ("[]", JwtError::NotObject),
        ("\"x\"", JwtError::NotObject),
    ] {
        assert_eq!(sign(&key, "a|1", payload), Err(want), "{payload}");
    }
    let deep = |levels| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    assert_eq!(sign(&key, "a|1", &deep(65)), Err(JwtError::Payload));
    assert!(sign(&key, "a|1", &deep(64)).is_ok());
}
