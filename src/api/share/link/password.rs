//! [`Password`]: a link's password as its row keeps it, by Argon2id (RFC 9106). Comparing takes time and memory, so it is
//! done in the pool.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use crate::base::secret::Secret;
use crate::crypto::passphrase::{Cost, CostError, SALT_BYTES, argon2id};
use crate::crypto::random::{self, RandomError};

/// What one comparison holds, in bytes.
pub(super) const HELD: usize = (Cost::INTERACTIVE.memory as usize) << 10;

/// A password that cannot be recovered.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Password {
    memory: u32,
    passes: u32,
    lanes: u32,
    /// In hexadecimal.
    salt: String,
    /// In hexadecimal.
    hash: String,
}

/// Why a password cannot be kept or compared.
#[derive(Debug, thiserror::Error)]
pub(super) enum PasswordError {
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Cost(#[from] CostError),
}

impl Password {
    /// Of this text. Takes a moment; blocks.
    pub(super) fn of(text: &Secret<String>) -> Result<Self, PasswordError> {
        let salt = random::bytes::<SALT_BYTES>()?;
        let cost = Cost::INTERACTIVE;
        let hash = argon2id(text.expose().as_bytes(), &salt, cost)?;
        let Cost { memory, passes, lanes } = cost;
        Ok(Self { memory, passes, lanes, salt: HEXLOWER.encode(&salt), hash: HEXLOWER.encode(hash.expose()) })
    }

    /// Whether this is it. Takes a moment; blocks.
    pub(super) fn is(&self, guess: &Secret<String>) -> Result<bool, PasswordError> {
        let cost = Cost { memory: self.memory, passes: self.passes, lanes: self.lanes };
        let decoded = |text: &str| HEXLOWER.decode(text.as_bytes()).map_err(|_| CostError);
        let known = Secret::new(decoded(&self.hash)?);
        let made = argon2id(guess.expose().as_bytes(), &decoded(&self.salt)?, cost)?;
        Ok(known == Secret::new(made.expose().to_vec()))
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_text_is_the_password_and_the_row_has_nothing_of_it() {
        let text = |text: &str| Secret::new(text.to_owned());
        let [one, other] =
            [Password::of(&text("correct horse")), Password::of(&text("correct horse"))].map(Result::unwrap);
        for (guess, is) in
            [("correct horse", true), ("correct horse ", false), ("Correct horse", false), ("", false)]
        {
            assert_eq!(one.is(&text(guess)).unwrap(), is, "{guess}");
        }
        let [one, other] = [one, other].map(|password| serde_json::to_string(&password).unwrap());
        assert!(one != other && !one.contains("horse") && one.contains("19456"));
        let mut cut: Password = serde_json::from_str(&one).unwrap();
        cut.hash.clear();
        assert!(!cut.is(&text("")).unwrap());
        cut.hash.push('x');
        assert!(cut.is(&text("")).is_err());
        assert_eq!(format!("{cut:?}"), "Password(..)");
    }
}
