use super::*;
use crate::base::secret::Secret;

#[test]
fn what_a_key_signs_its_public_half_verifies_and_no_other() {
    for algorithm in JwsAlgorithm::ALL {
        let [key, other] = [0, 1].map(|_| SigningKey::generate(algorithm, RsaBits::Two).unwrap());
        let signature = key.sign(b"message").unwrap();
        assert!(key.verify(b"message", &signature), "{algorithm:?}");
        assert!(!key.verify(b"massage", &signature) && !other.verify(b"message", &signature));
        let again = SigningKey::from_stored(algorithm, &key.to_stored().unwrap()).unwrap();
        assert!(again.verify(b"message", &signature), "{algorithm:?}");
        let Some(public) = key.public() else { continue };
        assert!(public.verify(b"message", &signature) && !public.verify(b"message", b""));
        if let KeyKind::Ec(size) = algorithm.key() {
            assert_eq!(signature.len(), 2 * size);
            // A signature of nothing but zeros must not verify anything.
            assert!(!public.verify(b"message", &vec![0; 2 * size]));
        }
        let read = PublicKey::from_spki(algorithm, &public.to_spki()).unwrap();
        assert!(read.numbers() == public.numbers() && read.verify(b"message", &signature));
        let pem = public_pem(&public);
        assert_eq!(public_key(algorithm, &pem).unwrap().numbers(), public.numbers());
        let pem = private_pem(&key.to_stored().unwrap());
        assert!(private_key(algorithm, pem.expose()).unwrap().verify(b"message", &signature));
        assert_eq!(JwsAlgorithm::named(algorithm.name()), Some(algorithm));
        assert!(
            !format!("{key:?}{public:?}").contains(char::is_numeric)
                || algorithm.name().contains(char::is_numeric)
        );
    }
}

#[test]
fn keys_with_more_or_less_than_a_key_are_refused() {
    use JwsAlgorithm::{EdDsa, Es256, Es384, Es512, Ps256};
    for algorithm in [Es256, Es384, Es512, Ps256, EdDsa] {
        let [key, other] = [0, 1].map(|_| SigningKey::generate(algorithm, RsaBits::Two).unwrap());
        let (stored, public) = (key.to_stored().unwrap(), key.public().unwrap());
        let (stored, spki) = (stored.expose(), public.to_spki());
        assert!(key.is_pair(&public) && !other.is_pair(&public));
        assert!(SigningKey::from_pkcs8(algorithm, &[stored, &[0][..]].concat()).is_err(), "{algorithm:?}");
        assert!(SigningKey::from_pkcs8(algorithm, &stored[..stored.len() - 1]).is_err());
        assert!(PublicKey::from_spki(algorithm, &[&spki[..], &[0]].concat()).is_err());
        for at in 0..spki.len().min(60) {
            let mut changed = spki.clone();
            changed[at] ^= 1;
            let read = PublicKey::from_spki(algorithm, &changed);
            assert!(read.is_err() || !key.is_pair(&read.unwrap()), "{algorithm:?} {at}");
        }
    }
    let key = SigningKey::generate(Ps256, RsaBits::Three).unwrap().public().unwrap();
    let Numbers::Rsa { n, e } = key.numbers().clone() else { panic!() };
    assert_eq!((n.len(), &e[..]), (384, &[1, 0, 1][..]));
    let padded = Numbers::Rsa { n: [&[0], &n[..]].concat(), e };
    assert!(PublicKey::from_numbers(Ps256, padded).is_err());
}

#[test]
fn pem_is_one_block_of_its_kind() {
    let key = SigningKey::generate(JwsAlgorithm::EdDsa, RsaBits::Two).unwrap().public().unwrap();
    let pem = public_pem(&key);
    assert!(pem.lines().all(|line| line.len() <= 64) && pem.ends_with("-----END PUBLIC KEY-----\n"));
    let read = |text: &str| public_key(JwsAlgorithm::EdDsa, text).is_ok();
    assert!(read(&pem) && read(&pem.replace('\n', "\r\n")) && read(&format!(" \n{pem}\n")));
    let wrong = [pem.repeat(2), pem.replace("PUBLIC", "PRIVATE"), pem.replace('=', ""), format!("x{pem}")];
    let end = pem.trim_end().trim_end_matches('-').to_owned();
    for text in wrong.into_iter().chain([end, String::new(), pem.replace("\n", "\n#")]) {
        assert!(!read(&text), "{text}");
    }
}

#[test]
fn keys_of_another_kind_are_refused() {
    let ec = SigningKey::generate(JwsAlgorithm::Es256, RsaBits::Two).unwrap();
    let stored = ec.to_stored().unwrap();
    for algorithm in JwsAlgorithm::ALL.into_iter().filter(|one| *one != JwsAlgorithm::Es256) {
        let secret = matches!(algorithm.key(), KeyKind::Secret(length) if stored.expose().len() >= length);
        assert_eq!(SigningKey::from_stored(algorithm, &stored).is_ok(), secret, "{algorithm:?}");
        assert!(PublicKey::from_spki(algorithm, &ec.public().unwrap().to_spki()).is_err(), "{algorithm:?}");
    }
    assert!(SigningKey::from_secret(JwsAlgorithm::Hs256, Secret::new(vec![1; 31])).is_err());
    assert!(
        private_key(JwsAlgorithm::Es256, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")
            .is_err()
    );
    let off = Numbers::Ec { x: vec![1; 32], y: vec![1; 32] };
    assert!(PublicKey::from_numbers(JwsAlgorithm::Es256, off).is_err(), "not on the curve");
    let small = Numbers::Rsa { n: vec![0xC5; 128], e: vec![1, 0, 1] };
    assert!(PublicKey::from_numbers(JwsAlgorithm::Rs256, small).is_err(), "1024 bits");
}

/// RFC 8037 appendix A.4, and RFC 7515 appendix A.3.
#[test]
fn published_signatures_verify() {
    let base64 = |text: &str| data_encoding::BASE64URL_NOPAD.decode(text.as_bytes()).unwrap();
    let okp = Numbers::Okp { x: base64("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo") };
    let key = PublicKey::from_numbers(JwsAlgorithm::EdDsa, okp).unwrap();
    let signature =
        base64("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
    assert!(key.verify(b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc", &signature));

    let ec = Numbers::Ec {
        x: base64("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
        y: base64("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
    };
    let key = PublicKey::from_numbers(JwsAlgorithm::Es256, ec).unwrap();
    let message = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature =
        base64("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q");
    assert!(key.verify(message.as_bytes(), &signature));
}
