//! Keys as PEM (RFC 7468 sections 10 and 13): `PRIVATE KEY` and `PUBLIC KEY`.

use data_encoding::BASE64;
use zeroize::Zeroizing;

use super::algorithm::JwsAlgorithm;
use super::error::JwsError;
use super::public::PublicKey;
use super::signing::SigningKey;
use crate::base::secret::Secret;

/// The longest text that is read, in bytes.
const LONGEST: usize = 16 << 10;

const PRIVATE: &str = "PRIVATE KEY";
const PUBLIC: &str = "PUBLIC KEY";

/// Reads a private key in PKCS #8.
///
/// # Errors
/// [`JwsError::Key`] if the text is no such PEM or no key of the algorithm's.
pub fn private_key(algorithm: JwsAlgorithm, text: &str) -> Result<SigningKey, JwsError> {
    let der = Secret::new(
        content(text, PRIVATE).ok_or(JwsError::Key("this is no PEM of a private key (PKCS #8)"))?,
    );
    SigningKey::from_pkcs8(algorithm, der.expose())
}

/// Reads a public key.
///
/// # Errors
/// [`JwsError::Key`] if the text is no such PEM or no key of the algorithm's.
pub fn public_key(algorithm: JwsAlgorithm, text: &str) -> Result<PublicKey, JwsError> {
    let der = content(text, PUBLIC).ok_or(JwsError::Key("this is no PEM of a public key"))?;
    PublicKey::from_spki(algorithm, &der)
}

/// Writes a private key that is stored as PKCS #8.
pub fn private_pem(pkcs8: &Secret<Vec<u8>>) -> Secret<String> {
    Secret::new(written(pkcs8.expose(), PRIVATE))
}

/// Writes a public key.
pub fn public_pem(key: &PublicKey) -> String {
    written(&key.to_spki(), PUBLIC)
}

fn content(text: &str, label: &str) -> Option<Vec<u8>> {
    if text.len() > LONGEST {
        return None;
    }
    let body = text.trim_ascii().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let body = body.strip_suffix(&format!("-----END {label}-----"))?;
    // One allocation each, wiped, so that no part of a key stays behind.
    let mut base64 = Zeroizing::new(Vec::with_capacity(body.len()));
    base64.extend(body.bytes().filter(|byte| !byte.is_ascii_whitespace()));
    let mut der = Zeroizing::new(vec![0; BASE64.decode_len(base64.len()).ok()?]);
    let length = BASE64.decode_mut(&base64, &mut der).ok()?;
    der.truncate(length);
    Some(std::mem::take(&mut *der))
}

fn written(der: &[u8], label: &str) -> String {
    let mut base64 = Zeroizing::new(vec![0; BASE64.encode_len(der.len())]);
    BASE64.encode_mut(der, &mut base64);
    let mut text = String::with_capacity(2 * (label.len() + 20) + base64.len() + base64.len() / 64);
    for part in ["-----BEGIN ", label, "-----\n"] {
        text.push_str(part);
    }
    for line in base64.chunks(64).filter_map(|line| std::str::from_utf8(line).ok()) {
        text.push_str(line);
        text.push('\n');
    }
    for part in ["-----END ", label, "-----\n"] {
        text.push_str(part);
    }
    text
}
