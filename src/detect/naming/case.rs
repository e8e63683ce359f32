//! Lower case and capitals, as `str::to_lowercase` and `char::is_uppercase` have them. In the scripts of most European languages
//! both letters stand at a fixed distance from each other, which takes no table to tell.

/// A text in lower case.
pub(crate) fn lower(text: &str) -> String {
    let mut lower = String::with_capacity(text.len());
    lower_into(text, &mut lower);
    lower
}

/// Writes a text in lower case behind what is in `out`.
pub(crate) fn lower_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let from = out.len();
        out.push_str(text);
        out.get_mut(from..).unwrap_or_default().make_ascii_lowercase();
        return;
    }
    // Which of its two small letters a sigma becomes depends on what stands around it.
    if text.contains('Σ') {
        out.push_str(&text.to_lowercase());
        return;
    }
    for c in text.chars() {
        match distance(c) {
            Some(distance) => out.push(char::from_u32(u32::from(c) + distance).unwrap_or(c)),
            None => out.extend(c.to_lowercase()),
        }
    }
}

/// Whether a letter is a capital.
pub(crate) fn is_upper(c: char) -> bool {
    distance(c).map_or_else(|| c.is_uppercase(), |distance| distance > 0)
}

/// How far behind a capital its small letter stands, in Unicode; nothing for what is no capital, `None` where a table tells.
pub(super) const fn distance(c: char) -> Option<u32> {
    match c {
        'A'..='Z' | 'А'..='Я' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{de}' => Some(32),
        'Α'..='Ρ' | 'Σ'..='Ω' => Some(32),
        'ά'..='ώ' => Some(0),
        // Capitals and small letters in turn.
        '\u{100}'..='\u{12f}' | '\u{132}'..='\u{137}' | '\u{14a}'..='\u{177}' => Some((c as u32 & 1) ^ 1),
        '\u{139}'..='\u{148}' | '\u{179}'..='\u{17e}' => Some(c as u32 & 1),
        '\u{400}'..='\u{40f}' => Some(80),
        '\u{0}'..='\u{ff}' | '\u{430}'..='\u{45f}' | '\u{590}'..='\u{109f}' => Some(0),
        '\u{2000}'..='\u{206f}' | '\u{2e80}'..='\u{a63f}' | '\u{ac00}'..='\u{d7ff}' => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_letters_are_as_the_tables_have_them() {
        for c in '\u{0}'..=char::MAX {
            let text = format!("{c}a");
            assert_eq!(lower(&text), text.to_lowercase(), "U+{:04X}", u32::from(c));
            assert_eq!(is_upper(c), c.is_uppercase(), "U+{:04X}", u32::from(c));
        }
        assert_eq!(lower("ΟΔΟΣ Éa Ж"), "ΟΔΟΣ Éa Ж".to_lowercase());
    }
}
