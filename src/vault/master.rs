//! [`MasterKey`]: 32 bytes that open everything else, from a file that only we may read, from text that the operator
//! hands in (environment, secret file), from a program of the operator's, or from a passphrase. It is never written into the store and encrypts no data itself:
//! [`Seal`](crate::vault::Seal) derives keys from it.

use std::io::ErrorKind;
use std::path::Path;

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};

use crate::base::secret::Secret;
use crate::crypto::random;
use crate::store::StoreError;
use crate::store::private;
use crate::vault::error::VaultError;
use crate::vault::hook;
use crate::vault::origin::KeyOrigin;

/// Bytes of a master key.
pub const MASTER_BYTES: usize = 32;

/// The key that opens everything else.
#[derive(Debug)]
pub struct MasterKey {
    bytes: Secret<[u8; MASTER_BYTES]>,
    origin: KeyOrigin,
    /// The row of the salt that it was made with, if it was made from a passphrase.
    salt: Option<String>,
}

impl MasterKey {
    /// Reads the file, which must be for its owner alone (0600 or less); `None` if it is missing.
    pub fn load(path: &Path) -> Result<Option<Self>, VaultError> {
        let Some(text) = private::read(path)? else { return Ok(None) };
        let text = std::str::from_utf8(text.expose()).unwrap_or_default();
        Self::parse(text, KeyOrigin::File(path.to_owned())).map(Some)
    }

    /// Reads the file, or makes it (mode 0600, base64) with a new random key if it is missing. Of several
    /// processes that start together one makes it and the others read that.
    pub fn load_or_create(path: &Path) -> Result<Self, VaultError> {
        if let Some(key) = Self::load(path)? {
            return Ok(key);
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            private::folder(parent)?;
        }
        let bytes = Secret::new(random::bytes::<MASTER_BYTES>()?);
        let text = Secret::new(BASE64.encode(bytes.expose()) + "\n");
        match private::publish(path, text.expose().as_bytes()) {
            Err(StoreError::File { fault, .. }) if fault.is(ErrorKind::AlreadyExists) => {
                Self::load(path)?.ok_or_else(|| VaultError::KeyMissing(path.to_owned()))
            }
            published => {
                published?;
                Ok(Self { bytes, origin: KeyOrigin::File(path.to_owned()), salt: None })
            }
        }
    }

    /// Reads 64 hexadecimal digits or base64 (either alphabet, padded or not), white space around it allowed.
    pub fn from_text(text: &str) -> Result<Self, VaultError> {
        Self::parse(text, KeyOrigin::Given)
    }

    /// Runs a program without a shell and reads its output as [`MasterKey::from_text`] does. It has
    /// [`hook::TIMEOUT`]; blocks.
    ///
    /// # Errors
    /// [`VaultError::Command`], or [`VaultError::KeyFormat`] for output that is no key.
    pub fn from_command(command: &[String]) -> Result<Self, VaultError> {
        let program = command.first().cloned().unwrap_or_default();
        let text = hook::output(command, hook::TIMEOUT)
            .map_err(|error| VaultError::Command { program: program.clone(), error })?;
        Self::parse(text.expose(), KeyOrigin::Command(program))
    }

    /// A key that was made from a passphrase.
    pub(super) fn from_passphrase(bytes: Secret<[u8; MASTER_BYTES]>, salt: String) -> Self {
        Self { bytes, origin: KeyOrigin::Passphrase, salt: Some(salt) }
    }

    pub(super) fn salt(&self) -> Option<&str> {
        self.salt.as_deref()
    }

    fn parse(text: &str, origin: KeyOrigin) -> Result<Self, VaultError> {
        let text = text.trim_start_matches('\u{feff}').trim();
        let bare = text.strip_suffix('=').unwrap_or(text);
        // The lengths differ, so no text can be read in two ways.
        let encoding = match bare.len() {
            64 => &HEXLOWER_PERMISSIVE,
            _ if bare.contains(['-', '_']) => &BASE64URL_NOPAD,
            _ => &BASE64_NOPAD,
        };
        let decoded = encoding.decode(bare.as_bytes()).map(Secret::new).ok();
        let bytes = decoded.and_then(|decoded| decoded.expose().as_slice().try_into().ok());
        match bytes {
            Some(bytes) => Ok(Self { bytes: Secret::new(bytes), origin, salt: None }),
            None => Err(VaultError::KeyFormat(origin)),
        }
    }

    pub(super) fn bytes(&self) -> &Secret<[u8; MASTER_BYTES]> {
        &self.bytes
    }

    /// Where it was taken from.
    pub fn origin(&self) -> &KeyOrigin {
        &self.origin
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use data_encoding::{BASE64URL, HEXLOWER, HEXUPPER};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_way_of_writing_a_key_is_read(bytes in any::<[u8; 32]>()) {
            let base64 = BASE64.encode(&bytes);
            let forms = [
                HEXLOWER.encode(&bytes),
                HEXUPPER.encode(&bytes),
                base64.clone(),
                format!(" {base64}\n"),
                BASE64_NOPAD.encode(&bytes),
                BASE64URL.encode(&bytes),
                BASE64URL_NOPAD.encode(&bytes),
            ];
            for form in forms {
                let key = MasterKey::from_text(&form).unwrap();
                prop_assert_eq!(key.bytes.expose(), &bytes);
            }
        }

        #[test]
        fn anything_else_is_refused_and_never_repeated(text in "[0-9a-zA-Z+/=_-]{1,100}") {
            let decoded_length = [43, 44, 64].contains(&text.len());
            prop_assume!(!decoded_length);
            let said = MasterKey::from_text(&text).unwrap_err().to_string();
            prop_assert!(text.len() < 12 || !said.contains(&text));
        }
    }

    #[test]
    fn keys_of_other_lengths_are_refused() {
        for length in [0, 16, 31, 33, 48] {
            let text = BASE64.encode(&vec![0xa5; length]);
            assert!(MasterKey::from_text(&text).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_file_is_made_once_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/master.key");
        assert!(MasterKey::load(&path).unwrap().is_none());
        let made = MasterKey::load_or_create(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(MasterKey::load_or_create(&path).unwrap().bytes, made.bytes);
        assert_eq!(MasterKey::load(&path).unwrap().unwrap().bytes, made.bytes);
    }

    #[test]
    fn of_many_starters_one_makes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let keys: Vec<MasterKey> = std::thread::scope(|scope| {
            let starters: Vec<_> =
                (0..8).map(|_| scope.spawn(|| MasterKey::load_or_create(&path).unwrap())).collect();
            starters.into_iter().map(|starter| starter.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| key.bytes == keys[0].bytes));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_file_that_others_may_read_or_that_holds_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        MasterKey::load_or_create(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let said = MasterKey::load_or_create(&path).unwrap_err().to_string();
        assert!(said.contains("master.key: mode 0640"), "{said}");
        let other = folder.path().join("other.key");
        private::publish(&other, b"\xff\xfe no key").unwrap();
        let said = MasterKey::load_or_create(&other).unwrap_err().to_string();
        assert!(said.contains("other.key does not hold a master key"), "{said}");
    }
}
