//! The few shapes of DER (X.690) that public keys come in: RFC 5480 and RFC 8410 keys begin with fixed bytes, RSA keys
//! are two numbers (RFC 8017 appendix A.1.1).

use super::algorithm::JwsAlgorithm;

/// What stands before an uncompressed point in `SubjectPublicKeyInfo`, for each curve.
const P256: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
    0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const P384: &[u8] = &[
    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81,
    0x04, 0x00, 0x22, 0x03, 0x62, 0x00,
];
const P521: &[u8] = &[
    0x30, 0x81, 0x9B, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B,
    0x81, 0x04, 0x00, 0x23, 0x03, 0x81, 0x86, 0x00,
];
/// Before an Ed25519 key.
const ED25519: &[u8] = &[0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The `AlgorithmIdentifier` of RSA keys.
const RSA: &[u8] =
    &[0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00];

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// What stands before the key itself; `None` for RSA and secrets.
pub(super) fn spki_head(algorithm: JwsAlgorithm) -> Option<&'static [u8]> {
    match algorithm {
        JwsAlgorithm::Es256 => Some(P256),
        JwsAlgorithm::Es384 => Some(P384),
        JwsAlgorithm::Es512 => Some(P521),
        JwsAlgorithm::EdDsa => Some(ED25519),
        _ => None,
    }
}

/// One value: tag, length, content.
fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len().to_be_bytes();
    let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
    match content.len() {
        short @ 0..128 => out.push(short as u8),
        _ => {
            out.push(0x80 | length.len() as u8);
            out.extend_from_slice(&length);
        }
    }
    out.extend_from_slice(content);
    out
}

/// A number that is not negative.
fn number(bytes: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    if content.first().is_none_or(|first| first & 0x80 != 0) {
        content.insert(0, 0);
    }
    value(INTEGER, &content)
}

/// `RSAPublicKey`.
pub(super) fn rsa_public_key(n: &[u8], e: &[u8]) -> Vec<u8> {
    value(SEQUENCE, &[number(n), number(e)].concat())
}

/// `SubjectPublicKeyInfo` of an RSA key.
pub(super) fn rsa_spki(n: &[u8], e: &[u8]) -> Vec<u8> {
    let mut bits = vec![0];
    bits.extend(rsa_public_key(n, e));
    value(SEQUENCE, &[RSA.to_vec(), value(BIT_STRING, &bits)].concat())
}

/// Modulus and exponent of an `RSAPublicKey`, without leading zeros.
pub(super) fn rsa_numbers(der: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (body, []) = read(der, SEQUENCE)? else { return None };
    let (n, rest) = read(body, INTEGER)?;
    let (e, []) = read(rest, INTEGER)? else { return None };
    let bare = |number: &[u8]| number.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<u8>>();
    let (n, e) = (bare(n), bare(e));
    (!n.is_empty() && !e.is_empty()).then_some((n, e))
}

/// The `RSAPublicKey` in a `SubjectPublicKeyInfo`.
pub(super) fn rsa_of_spki(der: &[u8]) -> Option<&[u8]> {
    let (body, []) = read(der, SEQUENCE)? else { return None };
    let rest = body.strip_prefix(RSA)?;
    let (bits, []) = read(rest, BIT_STRING)? else { return None };
    bits.strip_prefix(&[0])
}

/// Whether this is one `SEQUENCE`, with nothing after it.
pub(super) fn is_sequence(der: &[u8]) -> bool {
    read(der, SEQUENCE).is_some_and(|(_, rest)| rest.is_empty())
}

/// The content of the first value, which has this tag, and what follows it.
fn read(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..128 => (usize::from(short), rest),
        _ => {
            let (bytes, rest) =
                rest.split_at_checked(usize::from(short & 0x7F)).filter(|(b, _)| b.len() <= 4)?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}
