//! Forged tokens: for every key some hundreds, made of good ones and of nothing. None may be believed.

#![expect(
    clippy::print_stderr,
    clippy::string_slice,
    reason = "tokens are ASCII; the counts are for whoever asks"
)]

use data_encoding::{BASE64, BASE64URL, BASE64URL_NOPAD};
use serde_json::{Value, json};

use super::*;
use crate::base::secret::Secret;
use crate::crypto::jws::{JwsAlgorithm, KeyKind, Numbers, PublicKey, RsaBits, SigningKey, public_pem};

const KID: &str = "pvi_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|1";
const CLAIMS: &str = r#"{"sub":"1","admin":false}"#;

fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

/// A token of any header, signed by any key.
fn signed(key: &SigningKey, header: impl AsRef<[u8]>, payload: &str) -> String {
    let message = format!("{}.{}", base64(header), base64(payload));
    format!("{message}.{}", base64(key.sign(message.as_bytes()).unwrap()))
}

fn header(alg: &str) -> String {
    json!({"alg": alg, "kid": KID, "typ": "JWT"}).to_string()
}

/// Other algorithms, `none` in many forms, and public keys taken for secrets.
fn confusions(key: &SigningKey, out: &mut Vec<String>) {
    let own = key.algorithm().name();
    let good = sign(key, KID, CLAIMS).unwrap();
    let [_, payload, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!() };
    let odd =
        ["none", "None", "NONE", "nOnE", "none ", "", "HS1", "ES256K", "Ed25519", "dir", "RSA1_5", "A128KW"];
    let spellings = [
        own.to_lowercase(),
        format!("{own} "),
        format!("{own}\0"),
        format!(" {own}"),
        own.replace('S', "\u{17f}"),
    ];
    let names = odd.map(str::to_owned).into_iter().chain(spellings);
    let names = names.chain(JwsAlgorithm::ALL.map(|one| one.name().to_owned())).filter(|name| name != own);
    for name in names {
        for end in ["", signature, "AA"] {
            out.push(format!("{}.{payload}.{end}", base64(header(&name))));
        }
        // What it would be, were the token's algorithm taken for the key's.
        out.push(signed(key, header(&name), CLAIMS));
    }
    for alg in [json!(null), json!(0), json!(true), json!([own]), json!({"alg": own})] {
        out.push(signed(key, json!({"alg": alg, "kid": KID}).to_string(), CLAIMS));
    }
    out.push(signed(key, json!({"kid": KID}).to_string(), CLAIMS));
    let Some(public) = key.public() else { return };
    let pem = public_pem(&public);
    let jwk = serde_json::to_string(&Jwk::of(&public, KID)).unwrap();
    let known = [public.to_spki(), pem.clone().into_bytes(), pem.trim_end().into(), jwk.into_bytes()];
    let numbers = match public.numbers().clone() {
        Numbers::Ec { x, y } => vec![[&[4], &x[..], &y].concat(), [&x[..], &y].concat()],
        Numbers::Rsa { n, .. } => vec![n],
        Numbers::Okp { x } => vec![x],
    };
    for secret in known.into_iter().chain(numbers) {
        for hmac in [JwsAlgorithm::Hs256, JwsAlgorithm::Hs384, JwsAlgorithm::Hs512] {
            let Ok(forger) = SigningKey::from_secret(hmac, Secret::new(secret.clone())) else { continue };
            out.push(signed(&forger, header(hmac.name()), CLAIMS));
            out.push(signed(&forger, header(own), CLAIMS));
        }
    }
}

/// A forger's own key of the same algorithm, in the header or at an address in it, and ids that lead elsewhere.
fn strangers(key: &SigningKey, forger: &SigningKey, out: &mut Vec<String>) {
    let alg = key.algorithm().name();
    let jwk = forger.public().map(|public| serde_json::to_value(Jwk::of(&public, KID)).unwrap());
    let jwk = jwk.unwrap_or_else(|| json!({"kty": "oct", "k": base64([7; 64]), "kid": KID}));
    let address = "http://127.0.0.1:9/keys";
    let certificate = BASE64.encode(&[0x30; 64]);
    let extra = [
        json!({}),
        json!({"jwk": jwk}),
        json!({"jwk": {"keys": [jwk]}}),
        json!({"jku": address}),
        json!({"x5u": address}),
        json!({"x5c": [certificate]}),
        json!({"x5t": base64([7; 20]), "x5t#S256": base64([7; 32])}),
        json!({"jwk": jwk, "jku": address, "x5u": address, "x5c": [certificate]}),
    ];
    let ids = [
        "../../dev/null",
        "' OR 1=1--",
        "",
        "*",
        "pvi_b|1",
        "pvi_a|0",
        "pvi_a|01",
        "pvi_a|-1",
        "http://127.0.0.1:9/k",
        "|",
        "\0",
        "$(id)",
    ];
    let ids = ids.map(Value::from).into_iter().chain([json!(1), json!([KID]), json!(null), KID.into()]);
    for kid in ids {
        for extra in &extra {
            let mut header = json!({"alg": alg, "kid": kid, "typ": "JWT"});
            header.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            out.push(signed(forger, header.to_string(), CLAIMS));
        }
    }
}

/// Good signatures over headers that must not be accepted.
fn headers(key: &SigningKey, out: &mut Vec<String>) {
    let alg = key.algorithm().name();
    for extra in [
        json!({"crit": ["exp"], "exp": 1}),
        json!({"crit": []}),
        json!({"crit": null}),
        json!({"crit": ["b64"], "b64": false}),
        json!({"b64": false}),
        json!({"b64": true}),
        json!({"a": [[[[[[[[[1]]]]]]]]]}),
        json!({"kid": 1}),
        json!({"kid": null}),
        json!({"kid": [KID]}),
        json!({"a": "x".repeat(LONGEST_HEADER)}),
    ] {
        let mut header = json!({"alg": alg, "kid": KID});
        header.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        out.push(signed(key, header.to_string(), CLAIMS));
    }
    let texts = [
        format!(r#"{{"alg":"none","alg":"{alg}"}}"#),
        format!(r#"{{"alg":"{alg}","alg":"{alg}"}}"#),
        format!(r#"{{"alg":"{alg}","\u0061lg":"none"}}"#),
        format!(r#"{{"alg":"{alg}","kid":"a","kid":"b"}}"#),
        format!(r#"{{"alg":"{alg}","jwk":{{"a":1,"a":2}}}}"#),
        format!(r#"{{"alg":"{alg}",}}"#),
        format!(r#"{{"alg":"{alg}"}}x"#),
        format!(r#"{{"alg":"{alg}"}}{{}}"#),
        format!("\u{feff}{{\"alg\":\"{alg}\"}}"),
        format!(r#"[{{"alg":"{alg}"}}]"#),
        format!(r#"{{'alg':'{alg}'}}"#),
        format!(r#"{{"alg":"{alg}"/**/}}"#),
        format!(r#""{alg}""#),
        format!(r#"{{"alg":"{alg}","a":"\ud800"}}"#),
        String::new(),
        "{}".to_owned(),
        "null".to_owned(),
    ];
    out.extend(texts.iter().map(|text| signed(key, text, CLAIMS)));
    let bytes = [&br#"{"alg":""#[..], alg.as_bytes(), b"\",\"a\":\"\xff\"}"].concat();
    out.push(signed(key, bytes, CLAIMS));
    out.push(signed(key, header(alg), &"x".repeat(LONGEST_TOKEN)));
}

/// Forms of a good token that are not it.
fn forms(good: &str, out: &mut Vec<String>) {
    let parts: Vec<&str> = good.split('.').collect();
    let with = |at: usize, part: String| {
        let mut parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        parts[at] = part;
        parts.join(".")
    };
    for (at, part) in parts.iter().enumerate() {
        let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).unwrap();
        let standard = BASE64.encode(&bytes);
        for other in [standard.clone(), standard.trim_end_matches('=').to_owned(), BASE64URL.encode(&bytes)] {
            if other != *part {
                out.push(with(at, other));
            }
        }
        for stray in ["=", "==", " ", "\n", "\r\n", "\t", "\0", "A", "*", "\u{e9}", "%3D", "."] {
            out.push(with(at, format!("{part}{stray}")));
            out.push(with(at, format!("{stray}{part}")));
            out.push(with(at, format!("{}{stray}{}", &part[..4], &part[4..])));
        }
        out.push(with(at, String::new()));
        out.push(with(at, part[..part.len() - 1].to_owned()));
        // The bits of the last character that count for nothing.
        let unused = match part.len() % 4 {
            2 => 15,
            3 => 3,
            _ => 0,
        };
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let last = alphabet.iter().position(|c| *c == part.as_bytes()[part.len() - 1]).unwrap();
        out.extend((1..=unused).map(|bits| {
            with(at, format!("{}{}", &part[..part.len() - 1], char::from(alphabet[last | bits])))
        }));
        for place in (0..part.len()).step_by(7) {
            let mut changed = part.as_bytes().to_vec();
            changed[place] = if changed[place] == b'Q' { b'R' } else { b'Q' };
            out.push(with(at, String::from_utf8(changed).unwrap()));
        }
    }
    let [header, payload, signature] = parts[..] else { panic!() };
    out.extend([
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        format!("{header}.{payload}"),
        format!("{header}.{signature}.{payload}"),
        format!("{payload}.{header}.{signature}"),
        format!("{good}."),
        format!(".{good}"),
        format!("{good}.{signature}"),
        format!("Bearer {good}"),
        json!({"payload": payload, "protected": header, "signature": signature}).to_string(),
        json!({"payload": payload, "signatures": [{"protected": header, "signature": signature}]})
            .to_string(),
        format!("{header}.{}.{signature}", base64(r#"{"sub":"1","admin":true}"#)),
    ]);
}

/// Signatures of a form that fits, or nearly.
fn signatures(key: &SigningKey, good: &str, out: &mut Vec<String>) {
    let (message, signature) = good.rsplit_once('.').unwrap();
    let real = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
    let size = real.len();
    let mut wrong: Vec<Vec<u8>> =
        vec![Vec::new(), vec![0; size], vec![0xff; size], vec![0; 8], vec![0x30; size + 8]];
    wrong.extend([&real[1..], &real[..size - 1]].map(<[u8]>::to_vec));
    wrong.push([&real[..], &[0]].concat());
    wrong.push([&[0], &real[..]].concat());
    wrong.push(real.repeat(2));
    wrong.push(real.iter().rev().copied().collect());
    wrong.extend((0..size).step_by(5).map(|at| {
        let mut changed = real.clone();
        changed[at] ^= 0x40;
        changed
    }));
    if let KeyKind::Ec(half) = key.algorithm().key() {
        let (r, s) = real.split_at(half);
        let (zero, one, most) = (vec![0; half], [vec![0; half - 1], vec![1]].concat(), vec![0xff; half]);
        let order = order(half);
        let pairs = [
            (&zero[..], s),
            (r, &zero[..]),
            (&zero, &zero),
            (&one, &one),
            (&order, &order),
            (&order, s),
            (r, &order),
            (&most, &most),
            (&zero, &one),
            (&one, &zero),
            (s, r),
            (r, r),
            (&order, &one),
            (&one, &order),
        ];
        wrong.extend(pairs.map(|(r, s)| [r, s].concat()));
        // The form that TLS has (X9.62), and wider numbers.
        let integer = |n: &[u8]| [&[2, half as u8 + 1, 0][..], n].concat();
        let both = [integer(r), integer(s)].concat();
        wrong.push([&[0x30, both.len() as u8][..], &both].concat());
        wrong.push([&[0][..], r, &[0], s].concat());
    }
    if key.algorithm() == JwsAlgorithm::EdDsa {
        // The same signature plus the group's order, and points of small order.
        let group = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut carry = 0;
        let high = real[32..].iter().zip(group).map(|(a, b)| {
            carry += u16::from(*a) + b;
            let low = carry as u8;
            carry >>= 8;
            low
        });
        wrong.push(real[..32].iter().copied().chain(high.collect::<Vec<u8>>()).collect());
        let mut identity = vec![0; 64];
        identity[0] = 1;
        wrong.push(identity);
    }
    out.extend(wrong.into_iter().map(|bytes| format!("{message}.{}", base64(bytes))));
}

/// The order of the curve whose coordinates have this width.
fn order(width: usize) -> Vec<u8> {
    let text = match width {
        32 => "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551",
        48 => {
            "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973"
        }
        _ => {
            "01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409"
        }
    };
    data_encoding::HEXUPPER.decode(text.as_bytes()).unwrap()
}

#[test]
fn no_forgery_is_believed() {
    let mut lines = Vec::new();
    for algorithm in JwsAlgorithm::ALL {
        let [key, forger] = [0, 1].map(|_| SigningKey::generate(algorithm, RsaBits::Two).unwrap());
        let verifying = VerifyingKey::of(&key).unwrap();
        let good = sign(&key, KID, CLAIMS).unwrap();
        assert_eq!(Unverified::parse(&good).unwrap().kid(), Some(KID));
        assert!(Unverified::parse(&good).unwrap().verify(&verifying).is_ok(), "{algorithm:?}");
        let mut all = Vec::new();
        confusions(&key, &mut all);
        strangers(&key, &forger, &mut all);
        headers(&key, &mut all);
        forms(&good, &mut all);
        signatures(&key, &good, &mut all);
        let believed: Vec<&String> = all
            .iter()
            .filter(|token| Unverified::parse(token).and_then(|read| read.verify(&verifying)).is_ok())
            .collect();
        assert!(believed.is_empty(), "{algorithm:?}: {believed:#?}");
        lines.push(format!("{} {}", algorithm.name(), all.len()));
    }
    eprintln!("{}", lines.join(", "));
}

/// Only what is no token at all is malformed: whatever becomes of the third part, it is a signature that does not verify
/// (specification, "Errors" 3).
#[test]
fn a_damaged_signature_is_a_false_one() {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for algorithm in JwsAlgorithm::ALL {
        let key = SigningKey::generate(algorithm, RsaBits::Two).unwrap();
        let verifying = VerifyingKey::of(&key).unwrap();
        let good = sign(&key, KID, CLAIMS).unwrap();
        let (message, signature) = good.rsplit_once('.').unwrap();
        let (rest, last) = signature.split_at(signature.len() - 1);
        let mut damaged: Vec<String> = alphabet.chars().map(|c| format!("{rest}{c}")).collect();
        damaged.retain(|other| !other.ends_with(last));
        assert_eq!(damaged.len(), 63);
        let cuts = [0, 1, 2, 3, signature.len() / 2, signature.len() - 2, signature.len() - 1];
        damaged.extend(cuts.map(|to| signature[..to].to_owned()));
        for stray in ["=", "==", " ", "\n", "\0", "A", "AA", "*", "+", "/", "\u{e9}", "%3D"] {
            damaged.extend([format!("{signature}{stray}"), format!("{stray}{signature}")]);
        }
        damaged.extend([BASE64.encode(&[0xff; 64]), "*".to_owned(), signature.repeat(2 << 20 >> 6)]);
        for other in damaged {
            let token = format!("{message}.{other}");
            let shown = &other[..other.len().min(40)];
            let read =
                Unverified::parse(&token).unwrap_or_else(|error| panic!("{algorithm:?} {shown}: {error}"));
            assert_eq!(read.verify(&verifying).err(), Some(JwtError::Signature), "{algorithm:?} {shown}");
        }
        let (header, payload) = message.split_once('.').unwrap();
        for none in [
            String::new(),
            message.to_owned(),
            format!("{good}.{signature}"),
            format!(".{payload}.{signature}"),
            format!("{header}*.{payload}.{signature}"),
            format!("{header}.{payload}*.{signature}"),
            format!("{payload}x.{payload}.{signature}"),
        ] {
            assert_eq!(Unverified::parse(&none).err(), Some(JwtError::Malformed), "{algorithm:?} {none}");
        }
    }
}

#[test]
fn headers_may_say_what_does_nothing() {
    let key = SigningKey::generate(JwsAlgorithm::Es256, RsaBits::Two).unwrap();
    let verifying = VerifyingKey::of(&key).unwrap();
    for header in [
        r#" {"alg" : "ES256"} "#.to_owned(),
        json!({"alg": "ES256", "jku": "http://127.0.0.1:9/", "jwk": {}, "x5c": [], "cty": "x"}).to_string(),
    ] {
        let token = signed(&key, header, "not JSON");
        let verified = Unverified::parse(&token).unwrap().verify(&verifying).unwrap();
        assert_eq!(verified.payload(), b"not JSON");
        assert_eq!(verified.check(&Policy::default(), 0), Err(ClaimsError::Claims));
    }
}

#[test]
fn keys_under_which_anything_verifies_are_refused() {
    for byte in [0, 1] {
        for sign in [0, 0x80] {
            let mut x = vec![0; 32];
            (x[0], x[31]) = (byte, sign);
            assert!(PublicKey::from_numbers(JwsAlgorithm::EdDsa, Numbers::Okp { x }).is_err());
        }
    }
}
