use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

use super::*;
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::crypto::jws::{JwsAlgorithm, RsaBits, SigningKey};
use std::sync::Arc;

fn keys() -> Vec<Arc<SigningKey>> {
    JwsAlgorithm::ALL
        .map(|algorithm| Arc::new(SigningKey::generate(algorithm, RsaBits::Two).unwrap()))
        .to_vec()
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

/// Whether some key accepts a token.
fn accepted(key: &VerifyingKey, token: &str) -> bool {
    Compact::parse(token).ok().and_then(|compact| key.verify(&compact)).is_some()
}

#[test]
fn what_is_signed_verifies_with_its_own_key_alone() {
    let keys = keys();
    for (n, key) in keys.iter().enumerate() {
        let token = sign(key, "pvi_x|1", "{ \"sub\" : \"é\" }".as_bytes()).unwrap();
        let compact = Compact::parse(&token).unwrap();
        assert_eq!((compact.alg(), compact.kid()), (key.algorithm().name(), Some("pvi_x|1")));
        for (m, other) in keys.iter().enumerate() {
            let verified = VerifyingKey::of(other).unwrap().verify(&compact);
            assert_eq!(verified.is_some(), n == m, "{:?} by {:?}", key, other);
            assert!(verified.is_none_or(|verified| verified.payload() == r#"{ "sub" : "é" }"#.as_bytes()));
        }
        if let Some(public) = key.public() {
            let jwk: Jwk = serde_json::from_value(json!(Jwk::new(&public, "k"))).unwrap();
            let read = VerifyingKey::public(jwk.key().unwrap()).unwrap();
            assert!(read.verify(&compact).is_some());
            assert_eq!(jwk.thumbprint().len(), 43);
        }
    }
}

/// Tokens that nobody with the key has signed.
fn forged(key: &SigningKey) -> Vec<String> {
    let algorithm = key.algorithm().name();
    let payload = text(br#"{"sub":"root"}"#);
    let good = sign(key, "k", br#"{"sub":"root"}"#).unwrap();
    let (_, signature) = good.rsplit_once('.').unwrap();
    let mut all = Vec::new();
    // No algorithm, in all spellings, with and without the signature.
    for none in ["none", "None", "NONE", "nOnE", "", "HS256 ", "hs256", "es256", "RS1"] {
        let header = text(json!({ "alg": none }).to_string());
        all.extend(["", signature, "AA"].map(|signature| format!("{header}.{payload}.{signature}")));
    }
    // The algorithm of another kind, signed with the public key as its secret.
    let public = key.public().map(|public| public.to_spki()).unwrap_or_else(|| vec![7; 64]);
    let pem = key.public().map(|public| crate::crypto::jws::public_pem(&public)).unwrap_or_default();
    for hmac in [JwsAlgorithm::Hs256, JwsAlgorithm::Hs384, JwsAlgorithm::Hs512] {
        for secret in [public.clone(), pem.clone().into_bytes(), vec![0; 64]] {
            if let Ok(confused) = SigningKey::from_secret(hmac, Secret::new(secret)) {
                all.push(sign(&confused, "k", br#"{"sub":"root"}"#).unwrap());
            }
        }
    }
    // Keys and places of keys in the header, signed by a key of one's own.
    let own = SigningKey::generate(key.algorithm(), RsaBits::Two).unwrap();
    let jwk = own.public().map(|public| json!(Jwk::new(&public, "k")));
    for extra in [
        json!({ "jwk": jwk }),
        json!({ "jku": "https://attacker.example/jwks.json" }),
        json!({ "x5u": "https://attacker.example/cert.pem" }),
        json!({ "x5c": ["AAAA"] }),
        json!({ "kid": "../../dev/null" }),
        json!({ "kid": "' OR '1'='1" }),
        json!({ "kid": "k\u{0}" }),
    ] {
        let mut header = json!({ "alg": algorithm, "typ": "JWT" });
        header.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let signed = format!("{}.{payload}", text(header.to_string()));
        all.push(format!("{signed}.{}", text(own.sign(signed.as_bytes()).unwrap())));
        all.push(format!("{signed}.{signature}"));
    }
    all.extend(misheaded(key, &payload));
    all.extend(misspelled(&good));
    all
}

/// Headers that are none, or ask for what is not known, signed with the right key.
fn misheaded(key: &SigningKey, payload: &str) -> Vec<String> {
    let algorithm = key.algorithm().name();
    let mut all = Vec::new();
    // What must be understood and is not, signed with the right key.
    for header in [
        json!({ "alg": algorithm, "crit": ["b64"], "b64": false }),
        json!({ "alg": algorithm, "b64": false }),
        json!({ "alg": algorithm, "crit": [] }),
        json!({ "alg": algorithm, "crit": ["exp"] }),
    ] {
        let signed = format!("{}.{payload}", text(header.to_string()));
        all.push(format!("{signed}.{}", text(key.sign(signed.as_bytes()).unwrap())));
    }
    // Members said twice, and headers that are none, signed with the right key.
    for header in [
        format!("{{\"alg\":\"none\",\"alg\":\"{algorithm}\"}}"),
        format!("{{\"alg\":\"{algorithm}\",\"\\u0061lg\":\"{algorithm}\"}}"),
        format!("{{\"alg\":[\"{algorithm}\"]}}"),
        format!("[\"{algorithm}\"]"),
        "{}".to_owned(),
        String::new(),
        format!("{{\"alg\":\"{algorithm}\"}} x"),
    ] {
        let signed = format!("{}.{payload}", text(header));
        all.push(format!("{signed}.{}", text(key.sign(signed.as_bytes()).unwrap())));
    }
    all
}

/// A good token's signature and spelling changed.
fn misspelled(good: &str) -> Vec<String> {
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (_, payload) = signed.split_once('.').unwrap();
    let mut all = Vec::new();
    // Signatures of nothing, of zeros and ones, cut, longer, in another form; every bit once.
    let raw = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
    let mut signatures = vec![
        vec![],
        vec![0; raw.len()],
        vec![1; raw.len()],
        vec![0xFF; raw.len()],
        raw[..raw.len() - 1].to_vec(),
        raw[..raw.len() / 2].to_vec(),
        [raw.as_slice(), &[0]].concat(),
        [&[0], raw.as_slice()].concat(),
        [raw.as_slice(), raw.as_slice()].concat(),
        vec![0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01],
    ];
    signatures.extend((0..raw.len() * 8).step_by(raw.len().div_ceil(16)).map(|bit| {
        let mut other = raw.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        other
    }));
    all.extend(signatures.into_iter().map(|signature| format!("{signed}.{}", text(signature))));
    // Base64 that says the same in another way, and other parts.
    all.extend([
        format!("{good}="),
        format!("{good} "),
        format!(" {good}"),
        format!("{good}\n"),
        format!("{signed}.{signature}.{signature}"),
        format!("{signed}.."),
        signed.to_owned(),
        format!(".{payload}.{signature}"),
        good.replacen('.', "..", 1),
        format!("{signed}={signature}"),
        format!("{}{good}", "A".repeat(MAX_TOKEN)),
    ]);
    let last = signature.chars().last().unwrap();
    let place = |c: char| "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".find(c).unwrap();
    if !raw.len().is_multiple_of(3) {
        // Bits that the last character has and nobody reads.
        let other =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".chars().nth(place(last) | 1);
        all.extend(other.map(|c| format!("{signed}.{}{c}", signature.strip_suffix(last).unwrap())));
    }
    // Another payload under the same signature.
    let (header, _) = signed.split_once('.').unwrap();
    all.extend(
        ["", r#"{"sub":"me"}"#, r#"{"sub":"root"} "#]
            .map(|payload| format!("{header}.{}.{signature}", text(payload))),
    );
    all
}

#[test]
fn no_forgery_is_accepted() {
    for key in keys() {
        let verifying = VerifyingKey::of(&key).unwrap();
        assert!(accepted(&verifying, &sign(&key, "k", b"{}").unwrap()));
        let forged = forged(&key);
        assert!(forged.len() > 80, "{}", forged.len());
        for token in forged {
            assert!(!accepted(&verifying, &token), "{:?} accepts {token}", key.algorithm());
        }
    }
}

#[test]
fn policies_admit_whom_they_should() {
    let key = Arc::new(SigningKey::generate(JwsAlgorithm::Es256, RsaBits::Two).unwrap());
    let verifying = VerifyingKey::of(&key).unwrap();
    let policy = Policy {
        issuers: vec!["https://id.example.com".to_owned()],
        audiences: vec!["gate".to_owned()],
        claims: [("tier".to_owned(), vec!["gold".to_owned(), "5".to_owned()])].into(),
        scopes: vec!["read".to_owned()],
        ..Policy::default()
    };
    let good = json!({
        "iss": "https://id.example.com", "aud": ["other", "gate"], "exp": 1030, "nbf": 1020,
        "tier": "gold", "scope": "write read",
    });
    let ask = |change: (&str, Option<serde_json::Value>), now: u64| {
        let mut claims = good.as_object().unwrap().clone();
        match change {
            (name, Some(value)) => claims.insert(name.to_owned(), value),
            (name, None) => claims.remove(name),
        };
        let token = sign(&key, "k", json!(claims).to_string().as_bytes()).unwrap();
        let verified = verifying.verify(&Compact::parse(&token).unwrap()).unwrap();
        policy.admit(&verified, Timestamp::from_millis(now * 1000)).map(drop)
    };
    let rows = [
        (("x", None), 1000, Ok(())),
        (("x", None), 1059, Ok(())),
        (("x", None), 1060, Err(Denied::Expired)),
        (("exp", None), 1000, Err(Denied::Expired)),
        (("exp", Some(json!("1030"))), 1000, Err(Denied::Claims)),
        (("x", None), 989, Err(Denied::Early)),
        (("iss", Some(json!("https://id.example.com/"))), 1000, Err(Denied::Issuer)),
        (("iss", None), 1000, Err(Denied::Issuer)),
        (("aud", Some(json!("gate"))), 1000, Ok(())),
        (("aud", Some(json!("gates"))), 1000, Err(Denied::Audience)),
        (("tier", Some(json!(5))), 1000, Err(Denied::Claim)),
        (("tier", Some(json!(["silver", "5"]))), 1000, Ok(())),
        (("scope", Some(json!("reader"))), 1000, Err(Denied::Scope)),
        (("scp", Some(json!(["read"]))), 1000, Ok(())),
    ];
    for (change, now, expected) in rows {
        assert_eq!(ask(change.clone(), now), expected, "{change:?} at {now}");
    }
}

/// RFC 7638 section 3.1.
#[test]
fn thumbprints_are_those_of_the_rfc() {
    let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
    let jwk: Jwk = serde_json::from_value(json!({
        "kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"
    }))
    .unwrap();
    assert_eq!(jwk.thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    assert!(jwk.key().is_ok());
}
