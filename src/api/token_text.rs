//! What a token looks like: `pts_` and 32 characters of `[a-z2-7]`.

use data_encoding::BASE32;

use crate::base::id::ID_BYTES;
use crate::base::secret::Secret;

const PREFIX: &str = "pts_";
/// Characters behind the prefix.
const RANDOM: usize = 32;

/// The text of a token with these random bits.
pub(super) fn text(random: &Secret<[u8; ID_BYTES]>) -> Secret<String> {
    let mut text = String::with_capacity(PREFIX.len() + RANDOM);
    text.push_str(PREFIX);
    BASE32.encode_append(random.expose(), &mut text);
    text.make_ascii_lowercase();
    Secret::new(text)
}

/// The texts within `bytes` that have a token's form, once each, in the small letters that tokens are made of: written
/// in others one is no token, but whoever reads it has one.
pub fn tokens_in(bytes: &[u8]) -> Vec<Secret<String>> {
    let (prefix, bar) = (PREFIX.len(), PREFIX.len() - 1);
    let candidates = memchr::memchr_iter(b'_', bytes).filter_map(|at| {
        let text = bytes.get(at.checked_sub(bar)?..)?.get(..prefix + RANDOM)?;
        let (head, random) = text.split_at_checked(prefix)?;
        let fits = head.eq_ignore_ascii_case(PREFIX.as_bytes())
            && random.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'2'..=b'7'));
        let text = std::str::from_utf8(text).ok().filter(|_| fits)?;
        Some(Secret::new(text.to_ascii_lowercase()))
    });
    distinct(candidates)
}

/// Each once, in the order of their first appearance. Of a few.
pub(super) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}
