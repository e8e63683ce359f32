//! What a version's state allows, and what it may become. The table is the wire contract's (section 0, "Vault").

/// The state of one version of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VersionState {
    /// In full use.
    Active,
    /// Makes nothing new; undoes and proves what was made.
    Deactivated,
    /// As deactivated, and is not handed out.
    Suspended,
    /// Somebody else may have it: nothing it signed is believed.
    Compromised,
    /// Its material is gone.
    Destroyed,
}

/// What somebody wants of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionUse {
    /// To sign.
    Sign,
    /// To encrypt, or to salt a hash.
    Encrypt,
    /// To verify a signature.
    Verify,
    /// To decrypt.
    Decrypt,
    /// To show the public key.
    Publish,
    /// To hand out the material.
    Export,
}

impl VersionUse {
    /// Every use.
    pub const ALL: [Self; 6] =
        [Self::Sign, Self::Encrypt, Self::Verify, Self::Decrypt, Self::Publish, Self::Export];
}

impl VersionState {
    /// Every state, the freest first.
    pub const ALL: [Self; 5] =
        [Self::Active, Self::Deactivated, Self::Suspended, Self::Compromised, Self::Destroyed];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deactivated => "deactivated",
            Self::Suspended => "suspended",
            Self::Compromised => "compromised",
            Self::Destroyed => "destroyed",
        }
    }

    /// Whether a version in this state may be used so.
    pub const fn allows(self, wanted: VersionUse) -> bool {
        match (self, wanted) {
            (Self::Active, _) => true,
            (Self::Deactivated, VersionUse::Sign | VersionUse::Encrypt) => false,
            (Self::Deactivated, _) => true,
            (Self::Suspended, VersionUse::Verify | VersionUse::Decrypt | VersionUse::Publish) => true,
            (Self::Compromised, VersionUse::Decrypt) => true,
            (Self::Suspended | Self::Compromised | Self::Destroyed, _) => false,
        }
    }

    /// Whether somebody may change this state to that one.
    pub fn may_become(self, then: Self) -> bool {
        match self {
            Self::Active | Self::Deactivated | Self::Suspended => self != then,
            Self::Compromised => then == Self::Destroyed,
            Self::Destroyed => false,
        }
    }

    /// What a rotation leaves of the version before: what was asked for, but never anything freer than it was.
    pub fn after_rotation(self, asked: Self) -> Self {
        self.max(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_contracts() {
        // Columns: sign, encrypt, verify, decrypt, publish, export; then what it may become.
        let rows = [
            (VersionState::Active, "yyyyyy", "dsc-"),
            (VersionState::Deactivated, "nnyyyy", "asc-"),
            (VersionState::Suspended, "nnyyyn", "adc-"),
            (VersionState::Compromised, "nnnynn", "-"),
            (VersionState::Destroyed, "nnnnnn", ""),
        ];
        for (state, uses, next) in rows {
            let allowed: String =
                VersionUse::ALL.iter().map(|wanted| if state.allows(*wanted) { 'y' } else { 'n' }).collect();
            assert_eq!(allowed, uses, "{state:?}");
            let letters = VersionState::ALL.into_iter().zip("adsc-".chars());
            let becomes: String =
                letters.filter(|(then, _)| state.may_become(*then)).map(|(_, letter)| letter).collect();
            assert_eq!(becomes, next, "{state:?}");
        }
    }

    #[test]
    fn a_rotation_frees_nothing() {
        for state in VersionState::ALL {
            for asked in [VersionState::Deactivated, VersionState::Suspended, VersionState::Destroyed] {
                let after = state.after_rotation(asked);
                assert!(after >= state && after >= asked, "{state:?} {asked:?}");
                assert!(after == state || state.may_become(after), "{state:?} {asked:?}");
            }
        }
    }
}
