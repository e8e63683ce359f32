//! UTF-7 (RFC 2152): text in ASCII in which letters stand for any character, `<` as well. No list of today has it, and some
//! programs still read it.

/// What it is called (RFC 2152, RFC 1642, IANA).
const LABELS: &[&str] =
    &["utf-7", "utf7", "unicode-1-1-utf-7", "unicode-2-0-utf-7", "csunicode11utf7", "csutf7"];

/// Whether it is called so.
pub(super) fn is_label(label: &str) -> bool {
    LABELS.iter().any(|known| label.trim().eq_ignore_ascii_case(known))
}

/// What a text reads.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'+' {
            out.push(char::from(*first));
            continue;
        }
        let length = behind.iter().take_while(|byte| digit(**byte).is_some()).count();
        let (digits, after) = behind.split_at_checked(length).unwrap_or((behind, &[]));
        let ends = after.strip_prefix(b"-");
        if digits.is_empty() {
            out.push('+');
        } else {
            out.push_str(&characters(digits));
        }
        rest = ends.unwrap_or(after);
    }
    out
}

/// Characters of sixteen bits each, in digits of six.
fn characters(digits: &[u8]) -> String {
    let (mut bits, mut count, mut units) = (0_u32, 0_u32, Vec::new());
    for value in digits.iter().filter_map(|byte| digit(*byte)) {
        bits = (bits << 6) | value;
        count = count.saturating_add(6);
        if let Some(left) = count.checked_sub(16) {
            units.push(u16::try_from((bits >> left) & 0xffff).unwrap_or_default());
            (bits, count) = (bits & 0x3f, left);
        }
    }
    String::from_utf16_lossy(&units)
}

/// The value of a digit of Base64.
fn digit(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte.saturating_sub(b'A'),
        b'a'..=b'z' => byte.saturating_sub(b'a').saturating_add(26),
        b'0'..=b'9' => byte.saturating_sub(b'0').saturating_add(52),
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_as_their_writers_meant_them() {
        for (bytes, want) in [
            ("Hi Mom -+Jjo--!", "Hi Mom -☺-!"),
            ("+ZeVnLIqe-", "日本語"),
            ("Item 3 is +AKM-1.", "Item 3 is £1."),
            ("1 +- 2 + 3", "1 + 2 + 3"),
            ("+ADw-script+AD4", "<script>"),
            ("jane+AEA-a.example +2D3cqQ-", "jane@a.example 💩"),
            ("a+AGE b", "aa b"),
            ("+", "+"),
            ("", ""),
        ] {
            assert_eq!(decoded(bytes.as_bytes()), want, "{bytes}");
        }
        assert!(is_label(" UTF-7 ") && !is_label("utf-8"));
    }
}
