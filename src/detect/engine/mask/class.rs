//! The classes of bytes that the engine asks about.

/// A class of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// `0` to `9`.
    Digit,
    /// ASCII letters and digits.
    Word,
    /// ASCII letters and every byte of a character that is not ASCII. In [`Masks`](super::Masks) those of quotes, dashes
    /// and other signs are not of it.
    Letter,
    /// `A` to `Z`.
    Upper,
    /// The alphabets of base64 and base64url (RFC 4648 sections 4 and 5): letters, digits and `+ - / _`.
    Base64,
    /// What tokens and addresses are made of: letters, digits and ``# $ % & + - . / : = ? @ _ |``.
    Link,
    /// `:`
    Colon,
    /// `\\`
    Backslash,
}

impl Class {
    /// How many there are.
    pub(crate) const COUNT: usize = 8;

    /// All of them, each at its place.
    #[cfg(test)]
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Digit,
        Self::Word,
        Self::Letter,
        Self::Upper,
        Self::Base64,
        Self::Link,
        Self::Colon,
        Self::Backslash,
    ];

    /// Whether `byte` belongs to it.
    pub(crate) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric(),
            Self::Letter => byte.is_ascii_alphabetic() || byte >= 0x80,
            Self::Upper => byte.is_ascii_uppercase(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'/' | b'_'),
            Self::Link => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'#'..=b'&' | b'+' | b'-'..=b'/' | b':' | b'=' | b'?' | b'@' | b'_' | b'|')
            }
            Self::Colon => byte == b':',
            Self::Backslash => byte == b'\\',
        }
    }
}
