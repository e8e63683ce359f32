//! Values among letters and signs of other scripts: brackets and quotes around one, full stops behind it, and scripts that
//! are written without blanks, whose words follow a value at once.

use super::text::{LookCost, NeedMore, WindowText};

/// Signs that open a value, and what closes it.
const OPENINGS: [(&str, &str); 10] = [
    ("「", "」"),
    ("『", "』"),
    ("【", "】"),
    ("《", "》"),
    ("〈", "〉"),
    ("‘", "’"),
    ("‚", "‘"),
    ("‹", "›"),
    ("«", "»"),
    ("»", "«"),
];

/// What numbers count: characters, times, units of time, parts of books.
const COUNTED: [&str; 32] = [
    "位", "个", "個", "字", "桁", "文", "자", "글", "회", "次", "元", "円", "원", "年", "月", "日", "天",
    "分", "秒", "時", "时", "章", "节", "節", "页", "頁", "条", "级", "号", "种", "개", "년",
];

impl WindowText<'_> {
    /// Behind the sign of another script that opens a value at `at`.
    pub(super) fn behind_opening(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        if self.byte(at)?.is_none_or(|byte| byte.is_ascii()) {
            return Ok(None);
        }
        for (open, _) in OPENINGS {
            if self.follows(at, open)? {
                return Ok(Some(at + open.len()));
            }
        }
        Ok(None)
    }

    /// Behind such a bracket that closes at `at`, around a name: `【密码】`.
    pub(super) fn behind_closing(&self, at: usize) -> Result<usize, NeedMore> {
        if self.is(at, 0xE3)? {
            for (_, close) in OPENINGS.iter().take(5) {
                if self.follows(at, close)? {
                    return Ok(at + close.len());
                }
            }
        }
        Ok(at)
    }

    /// Where the value without quotes ends that begins at `at` and is made of `class`: at what closes the sign before it, at a
    /// full stop or a bracket of scripts without blanks, and where such a script begins behind ASCII.
    pub(super) fn bare_end(&self, at: usize, most: usize, class: fn(u8) -> bool) -> Result<usize, NeedMore> {
        let text = self.view.slice(at, at + most);
        let head = self.view.slice(at.saturating_sub(3), at);
        let opened = if head.last().is_some_and(|byte| !byte.is_ascii()) { Some(head) } else { None };
        let close = opened.and_then(|head| OPENINGS.iter().find(|(open, _)| head.ends_with(open.as_bytes())));
        let mut ascii = true;
        let mut length = 0;
        while let Some(&byte) = text.get(length).filter(|byte| class(**byte)) {
            if !byte.is_ascii() {
                let rest = text.get(length..).unwrap_or_default();
                let closes = close.is_some_and(|(_, close)| rest.starts_with(close.as_bytes()));
                if closes || is_stop(rest) || ascii && length > 0 && is_unspaced(rest) {
                    break;
                }
                ascii = false;
            }
            length += 1;
        }
        let looked = self.looked.get();
        self.looked.set(LookCost { steps: looked.steps + length / 4, ..looked });
        if length < most {
            self.byte(at + length)?;
        }
        // A bracket around words that follow.
        let behind = text.get(length..).unwrap_or_default();
        let open = |byte: &&u8| ascii && is_unspaced(behind) && matches!(byte, b'(' | b'[' | b'{' | b'<');
        let opened = text.get(..length).unwrap_or_default().iter().rev().take_while(open).count();
        Ok(at + length - opened)
    }

    /// Whether what numbers count in scripts without blanks stands at `at`.
    pub(super) fn counts_at(&self, at: usize) -> bool {
        let text = self.view.slice(at, at + 3);
        !text.is_empty() && COUNTED.iter().any(|counted| counted.as_bytes() == text)
    }
}

/// Whether a text begins with a full stop, a comma or a bracket of scripts without blanks.
const fn is_stop(text: &[u8]) -> bool {
    matches!(text, [0xE3, 0x80, 0x81 | 0x82 | 0x88..=0x91 | 0x94..=0x9B, ..])
}

/// Whether a text begins with a letter of such a script: kana, hanzi, hangul.
const fn is_unspaced(text: &[u8]) -> bool {
    matches!(text, [0xE3, 0x81..=0xBF, ..] | [0xE4..=0xED, ..])
}

/// Whether a value is words of such a script, which say what it should be: `身份证后6位`, `数字4桁`.
pub(super) fn is_prose(text: &[u8]) -> bool {
    if text.is_ascii() {
        return false;
    }
    let words = (0..text.len()).filter(|&at| is_unspaced(text.get(at..).unwrap_or_default())).count();
    words > 0 && words >= text.iter().filter(|byte| byte.is_ascii_alphabetic()).count()
}

/// Whether a value is a number of something in such a script: `6-16位`.
pub(super) fn is_counted(text: &[u8]) -> bool {
    let counted = |at: &usize| {
        let digit = at.checked_sub(1).and_then(|at| text.get(at)).is_some_and(u8::is_ascii_digit);
        digit && is_unspaced(text.get(*at..).unwrap_or_default())
    };
    !text.is_ascii() && !text.iter().any(u8::is_ascii_alphabetic) && (0..text.len()).any(|at| counted(&at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_without_blanks_are_told_from_values() {
        for text in ["身份证后6位", "数字4桁", "详见3.2节", "생년월일6자리"] {
            assert!(is_prose(text.as_bytes()), "{text}");
        }
        for text in ["Gx7!kkpw", "пароль12", "sünflower7", "密Gx7!kkpw"] {
            assert!(!is_prose(text.as_bytes()), "{text}");
        }
        assert!(is_counted("6-16位".as_bytes()) && is_counted("8～16文字".replace('～', "~").as_bytes()));
        assert!(!is_counted("密码123".as_bytes()) && !is_counted("a6位".as_bytes()) && !is_counted(b"6-16"));
    }
}
