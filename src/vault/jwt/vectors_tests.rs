//! Published tokens and keys: `PORTCULLIS_VECTORS` names their folder.

#![expect(clippy::print_stderr, clippy::string_slice, reason = "names are ASCII; what was skipped is said")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde_json::Value;

use super::*;
use crate::base::secret::Secret;
use crate::crypto::jws::{JwsAlgorithm, KeyKind, Numbers, PublicKey, SigningKey};

/// The rows of a file; none, and a word about it, if there are no vectors.
fn rows(file: &str) -> Vec<Value> {
    let Some(folder) = std::env::var_os("PORTCULLIS_VECTORS").map(PathBuf::from) else {
        eprintln!("skipped: PORTCULLIS_VECTORS leads to no {file}");
        return Vec::new();
    };
    let text = fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The key of a JWK, for the algorithm it names, or `alg`.
fn key(jwk: &Value, alg: Option<&str>) -> Option<VerifyingKey> {
    if jwk["kty"] == "oct" {
        let algorithm = JwsAlgorithm::named(jwk["alg"].as_str().or(alg)?)?;
        let secret = BASE64URL_NOPAD.decode(jwk["k"].as_str()?.as_bytes()).ok()?;
        let key = SigningKey::from_secret(algorithm, Secret::new(secret)).ok()?;
        return VerifyingKey::of(&key).ok();
    }
    let jwk = Jwk::parse(jwk.to_string().as_bytes()).ok()?;
    let algorithm = jwk.algorithm().or(alg.and_then(JwsAlgorithm::named))?;
    jwk.public_key(algorithm).ok().map(|key| VerifyingKey::public(&key))
}

fn accepts(token: &str, keys: &Value, alg: Option<&str>) -> bool {
    let Ok(unverified) = Unverified::parse(token) else { return false };
    let found = match keys["keys"].as_array() {
        Some(keys) => keys.iter().find(|one| one["kid"].as_str() == unverified.kid()),
        None => Some(keys),
    };
    found.and_then(|jwk| key(jwk, alg)).is_some_and(|key| unverified.verify(&key).is_ok())
}

#[test]
fn rfc_examples() {
    for row in rows("rfc/rfc7515_7517_7638_8037.jsonl") {
        let id = row["id"].as_str().unwrap();
        let token = row["compact"].as_str().or(row["json"].as_str());
        if let Some(token) = token {
            let mut jwk = row["jwk"].clone();
            if let Some(members) = jwk.as_object_mut().filter(|members| !members.contains_key("k")) {
                members.retain(|name, _| !["d", "p", "q", "dp", "dq", "qi"].contains(&name.as_str()));
            }
            assert_eq!(accepts(token, &jwk, row["alg"].as_str()), row["valid"] == true, "{id}");
        }
        if let Some(thumbprint) = row["thumbprint"].as_str() {
            assert_eq!(
                Jwk::parse(row["jwk"].to_string().as_bytes()).unwrap().thumbprint(),
                thumbprint,
                "{id}"
            );
        }
        if let Some(keys) = row["jwks"]["keys"].as_array() {
            let read = JwkSet::parse(row["jwks"].to_string().as_bytes()).unwrap().keys.len();
            assert_eq!(read, if id.ends_with("public") { keys.len() } else { 0 }, "{id}");
        }
    }
}

/// Rows that are answered otherwise, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("json_web_signature/347", "the key's `alg` is ES521, which there isn't"),
    ("json_web_signature/350", "the token is by PS384, the key is for PS256"),
    ("json_web_signature/351", "the key's `alg` is ES521, which there isn't"),
    ("json_web_signature/367", "without padding, as it should be: the same token as in valid rows"),
    ("json_web_signature/370", "without padding, as it should be: the same token as in valid rows"),
    ("json_web_signature/372", "there is a question mark in the base64url"),
    ("json_web_crypto/47", "a good token; secrets never get into a set of public keys here"),
];

#[test]
fn wycheproof_tokens() {
    let (mut counts, mut wrong) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for file in ["jws", "jwk", "json_web_crypto"] {
        for row in rows(&format!("wycheproof/{file}.jsonl")) {
            let Some(token) = row["jws"].as_str() else {
                *counts.entry("left out: JWE").or_default() += 1;
                continue;
            };
            let group = &row["group"];
            let keys = if group["public"].is_null() { &group["private"] } else { &group["public"] };
            let id = row["id"].as_str().unwrap();
            let otherwise = OTHERWISE.iter().any(|(other, _)| id.strip_prefix("wycheproof/") == Some(other));
            let wanted = (row["result"] == "valid") != otherwise;
            *counts.entry(file).or_default() += 1;
            if accepts(token, keys, None) != wanted {
                wrong.push(format!("{id} {} {} {} {keys}", row["comment"], group["comment"], row["result"]));
            }
        }
    }
    eprintln!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn hex(value: &Value) -> Vec<u8> {
    HEXLOWER.decode(value.as_str().unwrap().as_bytes()).unwrap()
}

/// A number without its leading zeros.
fn number(value: &Value) -> Vec<u8> {
    hex(value).into_iter().skip_while(|byte| *byte == 0).collect()
}

/// Whether the signature of a row verifies.
fn verifies(algorithm: JwsAlgorithm, row: &Value) -> bool {
    let public = &row["group"]["publicKey"];
    if algorithm.name().starts_with("HS") {
        let key = SigningKey::from_secret(algorithm, Secret::new(hex(&row["key"]))).unwrap();
        return key.verify(&hex(&row["msg"]), &hex(&row["tag"]));
    }
    let numbers = match &algorithm.name()[..2] {
        "ES" => {
            let point = hex(&public["uncompressed"]);
            let (x, y) = point[1..].split_at(point.len() / 2);
            Numbers::Ec { x: x.to_vec(), y: y.to_vec() }
        }
        "Ed" => Numbers::Okp { x: hex(&public["pk"]) },
        _ => Numbers::Rsa { n: number(&public["modulus"]), e: number(&public["publicExponent"]) },
    };
    let key = PublicKey::from_numbers(algorithm, numbers).unwrap();
    key.verify(&hex(&row["msg"]), &hex(&row["sig"]))
}

/// Whether a row has a tag that was cut or a key shorter than the hash: both are refused, whatever the row says, since
/// they are no HMAC of RFC 7518 section 3.2.
fn cut_or_short(algorithm: JwsAlgorithm, row: &Value) -> bool {
    let KeyKind::Secret(length) = algorithm.key() else { return false };
    let (tag, key) = (hex(&row["tag"]), hex(&row["key"]));
    if tag.len() == length && key.len() >= length {
        return false;
    }
    let read = SigningKey::from_secret(algorithm, Secret::new(key.clone()));
    assert_eq!(read.is_ok(), key.len() >= length, "{}", row["id"]);
    assert!(!read.is_ok_and(|key| key.verify(&hex(&row["msg"]), &tag)), "{}", row["id"]);
    true
}

#[test]
fn wycheproof_signatures() {
    let files = [
        ("sig_ecdsa_secp256r1_sha256_p1363", "ES256"),
        ("sig_ecdsa_secp384r1_sha384_p1363", "ES384"),
        ("sig_ecdsa_secp521r1_sha512_p1363", "ES512"),
        ("sig_ed25519", "EdDSA"),
        ("sig_rsa_signature_2048_sha256", "RS256"),
        ("sig_rsa_signature_3072_sha384", "RS384"),
        ("sig_rsa_signature_4096_sha512", "RS512"),
        ("sig_rsa_pss_2048_sha256_mgf1_32", "PS256"),
        ("sig_rsa_pss_4096_sha512_mgf1_64", "PS512"),
        ("sig_hmac_sha256", "HS256"),
        ("sig_hmac_sha384", "HS384"),
        ("sig_hmac_sha512", "HS512"),
        ("sig_ecdsa_secp256k1_sha256_p1363", "ES256K"),
        ("sig_ed448", "Ed448"),
    ];
    let (mut counts, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (file, name) in files {
        for row in rows(&format!("wycheproof/{file}.jsonl")) {
            let Some(algorithm) = JwsAlgorithm::named(name) else {
                *counts.entry(format!("left out: {name}")).or_default() += 1;
                continue;
            };
            if row["tag"].is_string() && cut_or_short(algorithm, &row) {
                *counts.entry(format!("{name}, cut or short: refused")).or_default() += 1;
                continue;
            }
            *counts.entry(name.to_owned()).or_default() += 1;
            if verifies(algorithm, &row) != (row["result"] == "valid") {
                wrong.push(format!("{} {} {} {}", row["id"], row["comment"], row["result"], row["flags"]));
            }
        }
    }
    eprintln!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
