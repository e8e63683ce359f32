//! What surrogates look like.

use crate::detect::{Family, Format, Rule};
use crate::redact::method::Method;

/// What a surrogate looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The real thing: a name for a name.
    Lifelike,
    /// The value's own layout: a letter for a letter, a digit for a digit.
    Layout,
}

impl Style {
    /// That of a method that encrypts.
    pub(super) fn of(method: &Method) -> Self {
        if matches!(method, Method::Encrypt) { Self::Lifelike } else { Self::Layout }
    }

    /// Whether a rule's values are names, and get names.
    pub(super) fn names(self, rule: &Rule) -> bool {
        self == Self::Lifelike && rule.format() == Format::Text && NameKind::of(rule.family()).is_some()
    }
}

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    Person,
    Place,
    Organization,
}

impl NameKind {
    /// What the names of a rule of this family are of; `None` for a rule of anything else.
    pub(super) fn of(family: Family) -> Option<Self> {
        match family {
            Family::Person => Some(Self::Person),
            Family::Location => Some(Self::Place),
            Family::Organization => Some(Self::Organization),
            _ => None,
        }
    }
}
