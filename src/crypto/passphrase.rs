//! Keys from what people can remember: Argon2id (RFC 9106), which makes every guess cost memory and time.

use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroize;

use crate::base::secret::Secret;

/// Bytes of a salt (RFC 9106 section 3.1 recommends 16).
pub const SALT_BYTES: usize = 16;

/// What one guess costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB; RFC 9106 calls it `m`.
    pub memory: u32,
    /// Passes over the memory, `t`.
    pub passes: u32,
    /// Lanes, `p`.
    pub lanes: u32,
}

impl Cost {
    /// RFC 9106 section 4, the second recommended option: 64 MiB, three passes, four lanes.
    pub const RECOMMENDED: Self = Self { memory: 64 << 10, passes: 3, lanes: 4 };

    /// For passwords that a server compares while somebody waits: 19 MiB, two passes, one lane (OWASP Password Storage Cheat
    /// Sheet, the first of its options for Argon2id).
    pub const INTERACTIVE: Self = Self { memory: 19 << 10, passes: 2, lanes: 1 };

    /// The most that is done because a row asks for it: 4 GiB, a hundred passes. More would be a way to keep a
    /// process from starting.
    const MOST: Self = Self { memory: 4 << 20, passes: 100, lanes: 64 };
}

/// A cost beyond what is sensible or possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the parameters of Argon2id are out of range, or there is not enough memory")]
pub struct CostError;

/// The key that the passphrase, the salt and the cost make. Takes as long as the cost says; blocks.
///
/// # Errors
/// A cost out of range.
pub fn argon2id(passphrase: &[u8], salt: &[u8], cost: Cost) -> Result<Secret<[u8; 32]>, CostError> {
    let Cost { memory, passes, lanes } = cost;
    let most = Cost::MOST;
    if memory > most.memory || passes > most.passes || lanes > most.lanes {
        return Err(CostError);
    }
    let params = Params::new(memory, passes, lanes, Some(32)).map_err(|_| CostError)?;
    let mut key = [0; 32];
    let made = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let made = made.hash_password_into(passphrase, salt, &mut key);
    let held = Secret::new(key);
    key.zeroize();
    made.map(|()| held).map_err(|_| CostError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    #[test]
    fn rfc_9106_section_5_3() {
        let mut params = argon2::ParamsBuilder::new();
        params.m_cost(32).t_cost(3).p_cost(4).data(argon2::AssociatedData::new(&[4; 12]).unwrap());
        let hasher =
            Argon2::new_with_secret(&[3; 8], Algorithm::Argon2id, Version::V0x13, params.build().unwrap());
        let mut out = [0; 32];
        hasher.unwrap().hash_password_into(&[1; 32], &[2; 16], &mut out).unwrap();
        let expected = "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659";
        assert_eq!(HEXLOWER.encode(&out), expected);
    }

    /// The reference implementation's own test (`src/test.c`).
    #[test]
    fn the_reference_implementations_vector() {
        let cost = Cost { memory: 1 << 16, passes: 2, lanes: 1 };
        let key = argon2id(b"password", b"somesalt", cost).unwrap();
        let expected = "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7";
        assert_eq!(HEXLOWER.encode(key.expose()), expected);
    }

    #[test]
    fn what_nobody_can_pay_is_refused() {
        for cost in [
            Cost { memory: u32::MAX, ..Cost::RECOMMENDED },
            Cost { passes: u32::MAX, ..Cost::RECOMMENDED },
            Cost { lanes: 1 << 20, ..Cost::RECOMMENDED },
            Cost { memory: 0, ..Cost::RECOMMENDED },
            Cost { passes: 0, ..Cost::RECOMMENDED },
        ] {
            assert_eq!(argon2id(b"password", b"somesalt", cost), Err(CostError), "{cost:?}");
        }
    }
}
