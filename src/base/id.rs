//! Ids as the wire shows them: a prefix that says what is meant, then 32 characters of `[a-z2-7]` (160 bits of
//! which the caller of [`Id::from_random`] supplies all). Source: the specification (`prq_`, `pos_`, `pvi_`) and
//! the vendor's OpenAPI patterns (`^pvi_[a-z2-7]{32}$`).

use std::fmt;
use std::marker::PhantomData;

use data_encoding::BASE32;

/// Random bytes behind one id.
pub const ID_BYTES: usize = 20;

/// What an id names; carries the prefix.
pub trait IdKind {
    /// Printed before the random part, underscore included.
    const PREFIX: &'static str;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $alias:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $kind;
        impl IdKind for $kind { const PREFIX: &'static str = $prefix; }
        $(#[$doc])*
        pub type $alias = Id<$kind>;
    )*};
}

kinds! {
    /// One request, proxied or native.
    Request RequestId "prq_";
    /// An API token's row (never the token itself).
    Token TokenId "pti_";
    /// A stored config of a service.
    Config ConfigId "pci_";
    /// A vault item.
    Item ItemId "pvi_";
    /// A file or folder of the share service.
    Share ShareId "pos_";
    /// A link to files and folders of the share service.
    ShareLink ShareLinkId "psl_";
    /// A file's bytes in the file store. Never shown to a caller except within a grant.
    File FileId "fil_";
}

/// An id of kind `K`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id<K>([u8; 32], PhantomData<K>);

impl<K: IdKind> Id<K> {
    /// Makes an id of [`ID_BYTES`] random bytes.
    pub fn from_random(bytes: [u8; ID_BYTES]) -> Self {
        let mut text = [0u8; 32];
        BASE32.encode_mut(&bytes, &mut text);
        text.make_ascii_lowercase();
        Self(text, PhantomData)
    }

    /// Reads the printed form. `None` unless prefix, length and alphabet are exact.
    pub fn parse(text: &str) -> Option<Self> {
        let rest: [u8; 32] = text.strip_prefix(K::PREFIX)?.as_bytes().try_into().ok()?;
        let ours = rest.iter().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
        ours.then_some(Self(rest, PhantomData))
    }

    /// The id of another kind with the same random part: two things that belong together and are never confused.
    pub fn twin<J: IdKind>(&self) -> Id<J> {
        Id(self.0, PhantomData)
    }

    fn random_part(&self) -> &str {
        // The bytes are checked or made ASCII by both constructors.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl<K: IdKind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::PREFIX)?;
        f.write_str(self.random_part())
    }
}

impl<K: IdKind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{ItemId, RequestId};

    #[test]
    fn prints_and_parses_back() {
        let id = RequestId::from_random([7; 20]);
        let text = id.to_string();
        assert_eq!(text.len(), 36);
        assert_eq!(RequestId::parse(&text), Some(id));
    }

    #[test]
    fn another_kind_or_shape_is_refused() {
        let text = RequestId::from_random([7; 20]).to_string();
        assert_eq!(ItemId::parse(&text), None);
        assert_eq!(RequestId::parse("prq_short"), None);
        assert_eq!(RequestId::parse(&text.to_uppercase()), None);
    }
}
