//! The groups that rules are scanned in, each by what its values must contain.

use crate::detect::rules::Anchor;

/// A group's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupId {
    Digits,
    Tokens,
    Emails,
    Ipv6,
    Prefixes,
    Custom,
    Assignments,
    Names,
    Introductions,
}

impl GroupId {
    /// How many there are.
    pub(crate) const COUNT: usize = 9;

    /// The groups that a rule of this anchor is in.
    pub(crate) const fn of(anchor: Anchor) -> &'static [Self] {
        match anchor {
            Anchor::Digit => &[Self::Digits],
            Anchor::Token => &[Self::Tokens],
            Anchor::At => &[Self::Emails],
            Anchor::Address => &[Self::Digits, Self::Ipv6],
            Anchor::Prefix => &[Self::Prefixes],
            Anchor::Free => &[Self::Custom],
            Anchor::Assign => &[Self::Assignments],
            Anchor::Name => &[Self::Names, Self::Introductions],
            Anchor::Reported => &[],
        }
    }

    /// Its bit in a set of groups.
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }
}
