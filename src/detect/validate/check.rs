//! What a check is: a function of a value's bytes and nothing else; and how such functions read digits.

/// What a check says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckResult {
    /// It is not such a value.
    No,
    /// It may be; the rule's score stands.
    Yes,
    /// It proves itself; it scores 1.
    Sure,
}

impl From<bool> for CheckResult {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Checks one value.
pub(crate) type Check = fn(&[u8]) -> CheckResult;

/// Checks by name.
pub(super) type ChecksByName = &'static [(&'static str, Check)];

/// The value's ASCII digits as numbers, into `buffer`; `None` if there are more than fit.
pub(super) fn digits_of<'b, const N: usize>(value: &[u8], buffer: &'b mut [u8; N]) -> Option<&'b [u8]> {
    let mut len = 0;
    for byte in value.iter().filter(|byte| byte.is_ascii_digit()) {
        *buffer.get_mut(len)? = byte - b'0';
        len += 1;
    }
    buffer.get(..len)
}

/// The number that `digits` (0 to 9 each) write.
pub(super) fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, &digit| sum * 10 + u64::from(digit))
}
