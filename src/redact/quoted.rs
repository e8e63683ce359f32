//! Characters as programs quote them, which is no escape to those who read: the apostrophe within quotes of a shell (`'\''`) or of
//! SQL (`''`), the dollar of a compose file or a Makefile (`$$`), a mark alone in a class of a regular expression (`[.]`), and a mark
//! behind backslashes that a string has doubled (`\\.`).

/// The most backslashes before a mark: each string within a string doubles them.
const NESTED: usize = 16;

/// The character at the beginning of `bytes` that is quoted there, and how many bytes spell it.
pub(super) fn quoted(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'$', b'$', ..] => Some(('$', 2)),
        [b'[', mark, b']', ..] if is_mark(*mark) => Some((char::from(*mark), 3)),
        [b'\'', b'\'', ..] => Some(('\'', 2)),
        [b'\'', b'"', b'\'', b'"', b'\'', ..] => Some(('\'', 5)),
        [b'\'', behind @ ..] => {
            let count = backslashes(behind);
            let closes = count > 0 && behind.get(count..)?.starts_with(b"''");
            closes.then_some(('\'', count + 3))
        }
        [b'\\', ..] => {
            let count = backslashes(bytes);
            let mark = bytes.get(count).filter(|mark| is_mark(**mark))?;
            Some((char::from(*mark), count + 1))
        }
        _ => None,
    }
}

/// Whether what follows `bytes` may make them the beginning of such a one, or of a longer one.
pub(super) fn may_be_quoted(bytes: &[u8]) -> bool {
    match bytes {
        [b'$'] | [b'['] => true,
        [b'[', mark] => is_mark(*mark),
        [b'\'', behind @ ..] => {
            let count = backslashes(behind);
            let rest = behind.get(count..).unwrap_or_default();
            behind.is_empty() || b"\"'\"'".starts_with(behind) || count > 0 && b"''".starts_with(rest)
        }
        [b'\\', ..] => backslashes(bytes) == bytes.len(),
        _ => false,
    }
}

/// `c` as the mark that `like` spells is quoted there; `None` where nobody quotes it so.
pub(super) fn quoted_like(like: &str, c: char) -> Option<String> {
    let (of, length) = quoted(like.as_bytes()).filter(|(_, length)| *length == like.len())?;
    match like.as_bytes().first()? {
        _ if of == c => Some(like.to_owned()),
        b'[' if u8::try_from(c).is_ok_and(is_mark) => Some(format!("[{c}]")),
        b'\\' if u8::try_from(c).is_ok_and(is_mark) => Some(format!("{}{c}", like.get(..length - 1)?)),
        _ => None,
    }
}

/// How many backslashes a text begins with.
fn backslashes(bytes: &[u8]) -> usize {
    bytes.iter().take(NESTED).take_while(|byte| **byte == b'\\').count()
}

/// Whether it is a mark, or a blank, that a backslash before it leaves what it is.
fn is_mark(byte: u8) -> bool {
    byte == b' ' || byte.is_ascii_punctuation() && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_where_programs_quote_them() {
        let cases: [(&str, Option<(char, usize)>); 17] = [
            ("$$x", Some(('$', 2))),
            ("$x", None),
            ("[.]", Some(('.', 3))),
            ("[1]", None),
            ("[.@]", None),
            ("''M", Some(('\'', 2))),
            (r"'\''M", Some(('\'', 4))),
            (r"'\\''M", Some(('\'', 5))),
            (r#"'"'"'M"#, Some(('\'', 5))),
            ("'M", None),
            (r"'\n'", None),
            (r"\ x", Some((' ', 2))),
            (r"\$", Some(('$', 2))),
            (r"\\.", Some(('.', 3))),
            (r"\\\\.", Some(('.', 5))),
            (r"\\d", None),
            (r"\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_may_become_one_is_waited_for() {
        for text in ["$$", "[.]", "''", r"'\''", r"'\\''", r#"'"'"'"#, r"\ ", r"\\."] {
            for end in 1..text.len() - 1 {
                let begun = text.get(..end).unwrap();
                let decided = quoted(begun.as_bytes()).is_some();
                assert!(decided || may_be_quoted(begun.as_bytes()), "{begun} of {text}");
            }
        }
        for text in ["$x", "[1", "'x", r"'\x", "'\"x", r"\x", r"\\x", "x"] {
            assert!(!may_be_quoted(text.as_bytes()), "{text}");
        }
    }
}
