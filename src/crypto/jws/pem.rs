//! Keys as PEM (RFC 7468 sections 10 and 13): `PRIVATE KEY` and `PUBLIC KEY`.

use data_encoding::BASE64;

use super::JwsError;
use super::algorithm::JwsAlgorithm;
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
    let body = text.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let body = body.strip_suffix(&format!("-----END {label}-----"))?;
    let base64: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    BASE64.decode(Secret::new(base64).expose().as_bytes()).ok()
}

fn written(der: &[u8], label: &str) -> String {
    let base64 = BASE64.encode(der);
    let lines = base64.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned());
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.collect::<Vec<_>>().join("\n"))
}
