//! What types, encodings and algorithms are called: `int32`, `utf8`, `argon2id`. Programs and manuals have these words where
//! a value would stand.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::value_words::{WordRole, is_of};

/// The words in lower case, without the hyphens that some write in them.
const TERMS: &str = "\
    int8 int16 int32 int64 int128 int256 uint8 uint16 uint32 uint64 uint128 uint256 i128 u128 \
    float16 float32 float64 double64 decimal64 decimal128 bytes4 bytes8 bytes16 bytes20 bytes32 bytes64 \
    char8 char16 char32 char64 varchar2 varchar16 varchar32 varchar50 varchar64 varchar100 varchar128 \
    varchar255 varchar256 nvarchar2 nvarchar255 string8 string16 string32 string64 string255 \
    utf8 utf16 utf16le utf16be utf32 utf8mb3 utf8mb4 ucs2 ucs4 latin1 iso88591 cp437 cp1252 win1252 \
    base16 base32 base36 base58 base62 base64 base64url base85 ascii85 uuid1 uuid4 uuid7 uuidv4 uuidv7 \
    md5sum md5crypt hmacmd5 crammd5 digestmd5 sha1 sha2 sha3 sha224 sha256 sha384 sha512 sha512224 sha512256 \
    sha3224 sha3256 sha3384 sha3512 sha1sum sha256sum sha512sum sha256crypt sha512crypt ssha256 ssha512 \
    shake128 shake256 keccak256 ripemd160 blake2 blake2b blake2s blake3 blake2b256 blake2b512 blake2s256 \
    hmacsha1 hmacsha256 hmacsha384 hmacsha512 scramsha1 scramsha256 scramsha512 pbkdf2 pbkdf2sha1 pbkdf2sha256 \
    pbkdf2sha512 pbkdf2hmacsha256 pbkdf2hmacsha512 argon2 argon2i argon2d argon2id yescrypt \
    crc32 crc32c crc64 aes128 aes192 aes256 aes128gcm aes256gcm aes128cbc aes256cbc aes128ctr aes256ctr des3 \
    3des chacha20 chacha20poly1305 xchacha20poly1305 poly1305 salsa20 rsa1024 rsa2048 rsa3072 rsa4096 \
    ed25519 ed448 x25519 x448 curve25519 secp256k1 secp256r1 secp384r1 secp521r1 prime256v1 nistp256 nistp384 \
    nistp521 p256 p384 p521 hs256 hs384 hs512 rs256 rs384 rs512 es256 es256k es384 es512 ps256 ps384 ps512 \
    oauth1 oauth2 ntlmv1 ntlmv2 mschapv2 x509 pkcs1 pkcs5 pkcs7 pkcs8 pkcs11 pkcs12 fido2 http2 http3 tls12 \
    tls13 sslv3 wpa2 wpa3 wpa2psk";

/// The longest of them, in bytes.
const LONGEST: usize = 17;

/// Who numbers what they publish, as in `ISO27001`.
const PUBLISHERS: [&[u8]; 4] = [b"iso", b"rfc", b"gdpr", b"fips"];

/// Keys that are held down with others.
const HELD_KEYS: [&str; 8] = ["ctrl+", "strg+", "alt+", "shift+", "cmd+", "ctrl-", "alt-", "cmd-"];

/// What forms and translations of them say of a field that must be filled in, or need not be. Those of other alphabets begin in
/// both cases.
const ASKED: &str = "\
    compulsory obligatory obligatoire requis requise facultatif erforderlich pflichtfeld benötigt \
    verplicht vereist obligatorio obligatoria requerido requerida opcional obrigatório obrigatória obbligatorio \
    obbligatoria richiesto richiesta facoltativo wymagane wymagany opcjonalne povinné povinný vyžadováno \
    kötelező obligatoriu påkrævet påkrevd obligatorisk obligatoriskt krävs pakollinen nõutav obvezno zorunlu \
    gerekli wajib diperlukan kinakailangan lazima obvezna обязательно Обязательно обязательный Обязательный \
    обязательное Обязательное обов'язково задължително υποχρεωτικό Υποχρεωτικό 必填 必须 必須 必需 任意 필수 \
    선택 חובה مطلوب إلزامي अनिवार्य";

/// The longest of those, in bytes.
const LONGEST_ASKED: usize = 24;

/// Whether this says that a field must be filled in: `wajib`, `obligatoire*`.
pub(super) fn is_asked(value: &[u8]) -> bool {
    let signs = value.iter().rev().take_while(|byte| matches!(byte, b'*' | b'!' | b'.')).count();
    let word = value.get(..value.len() - signs).unwrap_or_default();
    static KNOWN: LazyLock<HashSet<&'static [u8]>> =
        LazyLock::new(|| ASKED.split(' ').map(str::as_bytes).collect());
    let mut buffer = [0; LONGEST_ASKED];
    let Some(lower) = buffer.get_mut(..word.len()).filter(|_| !word.is_empty()) else { return false };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    KNOWN.contains(&*lower) || is_of(&[WordRole::Asked], lower)
}

/// Whether this is a combination of keys, such as `Ctrl+P`.
pub(super) fn is_shortcut(value: &[u8]) -> bool {
    HELD_KEYS.iter().any(|held| {
        value.len() <= 2 * LONGEST
            && value.get(..held.len()).is_some_and(|head| head.eq_ignore_ascii_case(held.as_bytes()))
            && value.get(held.len()..).is_some_and(|rest| rest.len() <= 3 || rest.contains(&b'+'))
    })
}

/// Whether this is the number of a standard: `ISO27001`.
fn is_standard(word: &[u8]) -> bool {
    PUBLISHERS.iter().any(|publisher| {
        word.strip_prefix(*publisher)
            .is_some_and(|number| number.len() >= 2 && number.iter().all(u8::is_ascii_digit))
    })
}

/// Whether this is what a type, an encoding, an algorithm or a standard is called.
pub(super) fn is_term(value: &[u8]) -> bool {
    static KNOWN: LazyLock<HashSet<&'static [u8]>> =
        LazyLock::new(|| TERMS.split(' ').map(str::as_bytes).collect());
    let mut buffer = [0; LONGEST];
    let mut length = 0;
    for byte in value.iter().filter(|byte| !matches!(byte, b'-' | b'_')) {
        let Some(place) = buffer.get_mut(length) else { return false };
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    buffer
        .get(..length)
        .is_some_and(|word| KNOWN.contains(word) || is_of(&[WordRole::Term], word) || is_standard(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_known_however_they_are_written() {
        assert_eq!(TERMS.split(' ').map(str::len).max(), Some(LONGEST));
        assert_eq!(ASKED.split(' ').map(str::len).max(), Some(LONGEST_ASKED));
        for value in ["utf8", "UTF-8", "SHA-256", "sha3_512", "Argon2id", "HMAC-SHA256", "bcrypt", "x509"] {
            assert!(is_term(value.as_bytes()), "{value}");
        }
        for value in ["ISO27001", "iso-9001", "GDPR2016"] {
            assert!(is_term(value.as_bytes()), "{value}");
        }
        for value in ["Ctrl+P", "ALT+F4", "Ctrl+Shift+P"] {
            assert!(is_shortcut(value.as_bytes()), "{value}");
        }
        for value in ["wajib", "Obligatoire*", "povinné*", "Обязательно", "必須"] {
            assert!(is_asked(value.as_bytes()), "{value}");
        }
        assert!(!is_shortcut(b"Alt+9xQ!m") && !is_asked(b"obligatoire7") && !is_asked(b""));
        for value in ["", "sunflower7", "football1", "p2561234", "argon2idargon2idargon2id", "utf8!"] {
            assert!(!is_term(value.as_bytes()), "{value}");
        }
    }
}
