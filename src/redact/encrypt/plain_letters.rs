//! Latin letters without what stands on them and without ligatures, for places that take ASCII alone.

use std::borrow::Cow;

/// `text` with its Latin letters in ASCII; what else is in it stays.
pub(in crate::redact) fn in_plain_letters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match plain(letter) {
            Some(plain) => out.push_str(plain),
            None => out.push(letter),
        }
    }
    Cow::Owned(out)
}

const fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'À'..='Å' | 'Ā' | 'Ă' | 'Ą' => "A",
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'Æ' => "Ae",
        'æ' => "ae",
        'Ç' | 'Ć' | 'Č' => "C",
        'ç' | 'ć' | 'č' => "c",
        'Ď' | 'Đ' | 'Ð' => "D",
        'ď' | 'đ' | 'ð' => "d",
        'È'..='Ë' | 'Ē' | 'Ė' | 'Ę' | 'Ě' => "E",
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'Ğ' | 'Ģ' => "G",
        'ğ' | 'ģ' => "g",
        'Ì'..='Ï' | 'Ī' | 'Į' | 'İ' => "I",
        'ì'..='ï' | 'ī' | 'į' | 'ı' => "i",
        'Ķ' => "K",
        'ķ' => "k",
        'Ł' | 'Ĺ' | 'Ľ' | 'Ļ' => "L",
        'ł' | 'ĺ' | 'ľ' | 'ļ' => "l",
        'Ñ' | 'Ń' | 'Ň' | 'Ņ' => "N",
        'ñ' | 'ń' | 'ň' | 'ņ' => "n",
        'Ò'..='Ö' | 'Ø' | 'Ō' | 'Ő' => "O",
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => "o",
        'Œ' => "Oe",
        'œ' => "oe",
        'Ř' | 'Ŕ' => "R",
        'ř' | 'ŕ' => "r",
        'Ś' | 'Š' | 'Ş' | 'Ș' => "S",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ß' => "ss",
        'ẞ' => "SS",
        'Ť' | 'Ţ' | 'Ț' => "T",
        'ť' | 'ţ' | 'ț' => "t",
        'Þ' => "Th",
        'þ' => "th",
        'Ù'..='Ü' | 'Ū' | 'Ů' | 'Ű' | 'Ų' => "U",
        'ù'..='ü' | 'ū' | 'ů' | 'ű' | 'ų' => "u",
        'Ý' | 'Ÿ' => "Y",
        'ý' | 'ÿ' => "y",
        'Ź' | 'Ż' | 'Ž' => "Z",
        'ź' | 'ż' | 'ž' => "z",
        // What stands on the letter before.
        '\u{300}'..='\u{36f}' => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::fixture::{document as redact, restored as restore};
    use crate::stream::json::{PathSet, Treatment, Type};

    #[test]
    fn latin_letters_are_written_in_ascii_and_others_stay() {
        for (text, want) in [
            ("Yesenia_Juárez", "Yesenia_Juarez"),
            ("Groß-Žižek", "Gross-Zizek"),
            ("Ægir Þórðarson", "Aegir Thordarson"),
            ("Ştefan Ło\u{301}dź", "Stefan Lodz"),
            ("Maria", "Maria"),
            ("Мария", "Мария"),
        ] {
            assert_eq!(in_plain_letters(text), want);
        }
    }

    /// Servers take names of those who speak in ASCII only. In prose a name stands for a name, with what stands on its letters.
    #[test]
    fn a_name_in_ascii_has_a_surrogate_in_ascii_where_nothing_else_is_taken() {
        let place = ("messages[*].name", Treatment::Typed(Type::PlainName));
        let which = PathSet::new(&[place], Treatment::Text).unwrap();
        let mut accents = 0;
        for first in ["Maria", "Elena", "Anna", "Carlos", "Thomas", "Jose", "Ingrid", "Petra"] {
            for last in ["Lopez", "Schmidt", "Novak", "Garcia", "Larsen"] {
                let text = format!("My name is {first} {last}. I am {first}_{last} here.");
                let doc = format!(r#"{{"messages":[{{"name":"{first}_{last}","content":"{text}"}}]}}"#);
                let (out, _, undo) = redact(&doc, &which);
                let name = out.split(r#""name":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
                assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)), "{name}");
                assert!(!name.contains(last), "{out}");
                accents += usize::from(!out.is_ascii());
                // As the model calls whoever speaks, and as the prose has it.
                assert_eq!(restore(&out, undo), doc, "{out}");
                let (again, _, undo) = redact(&doc, &which);
                assert_eq!(again, out, "the same in each turn");
                let said = restore(&format!("Dear {name},"), undo);
                assert_eq!(said, format!("Dear {first}_{last},"), "{out}");
            }
        }
        assert!(accents > 0, "in prose letters have them");
    }
}
