//! Character references of HTML and XML.

/// Named references (HTML section 13.5) of what values have, and of Latin letters; no two names of one character but the
/// first are written.
pub const REFERENCES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("numsp", ' '),
    ("commat", '@'),
    ("period", '.'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("ndash", '-'),
    ("plus", '+'),
    ("lowbar", '_'),
    ("colon", ':'),
    ("sol", '/'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("shy", '\u{ad}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("rsquo", '\u{2019}'),
    ("Agrave", 'À'),
    ("Aacute", 'Á'),
    ("Acirc", 'Â'),
    ("Atilde", 'Ã'),
    ("Auml", 'Ä'),
    ("Aring", 'Å'),
    ("AElig", 'Æ'),
    ("Ccedil", 'Ç'),
    ("Egrave", 'È'),
    ("Eacute", 'É'),
    ("Ecirc", 'Ê'),
    ("Euml", 'Ë'),
    ("Igrave", 'Ì'),
    ("Iacute", 'Í'),
    ("Icirc", 'Î'),
    ("Iuml", 'Ï'),
    ("ETH", 'Ð'),
    ("Ntilde", 'Ñ'),
    ("Ograve", 'Ò'),
    ("Oacute", 'Ó'),
    ("Ocirc", 'Ô'),
    ("Otilde", 'Õ'),
    ("Ouml", 'Ö'),
    ("Oslash", 'Ø'),
    ("Ugrave", 'Ù'),
    ("Uacute", 'Ú'),
    ("Ucirc", 'Û'),
    ("Uuml", 'Ü'),
    ("Yacute", 'Ý'),
    ("THORN", 'Þ'),
    ("szlig", 'ß'),
    ("agrave", 'à'),
    ("aacute", 'á'),
    ("acirc", 'â'),
    ("atilde", 'ã'),
    ("auml", 'ä'),
    ("aring", 'å'),
    ("aelig", 'æ'),
    ("ccedil", 'ç'),
    ("egrave", 'è'),
    ("eacute", 'é'),
    ("ecirc", 'ê'),
    ("euml", 'ë'),
    ("igrave", 'ì'),
    ("iacute", 'í'),
    ("icirc", 'î'),
    ("iuml", 'ï'),
    ("eth", 'ð'),
    ("ntilde", 'ñ'),
    ("ograve", 'ò'),
    ("oacute", 'ó'),
    ("ocirc", 'ô'),
    ("otilde", 'õ'),
    ("ouml", 'ö'),
    ("oslash", 'ø'),
    ("ugrave", 'ù'),
    ("uacute", 'ú'),
    ("ucirc", 'û'),
    ("uuml", 'ü'),
    ("yacute", 'ý'),
    ("thorn", 'þ'),
    ("yuml", 'ÿ'),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("Yuml", 'Ÿ'),
    ("Abreve", 'Ă'),
    ("abreve", 'ă'),
    ("Aogon", 'Ą'),
    ("aogon", 'ą'),
    ("Cacute", 'Ć'),
    ("cacute", 'ć'),
    ("Ccaron", 'Č'),
    ("ccaron", 'č'),
    ("Dcaron", 'Ď'),
    ("dcaron", 'ď'),
    ("Dstrok", 'Đ'),
    ("dstrok", 'đ'),
    ("Ecaron", 'Ě'),
    ("ecaron", 'ě'),
    ("Eogon", 'Ę'),
    ("eogon", 'ę'),
    ("Gbreve", 'Ğ'),
    ("gbreve", 'ğ'),
    ("Idot", 'İ'),
    ("imath", 'ı'),
    ("Lcaron", 'Ľ'),
    ("lcaron", 'ľ'),
    ("Lstrok", 'Ł'),
    ("lstrok", 'ł'),
    ("Nacute", 'Ń'),
    ("nacute", 'ń'),
    ("Ncaron", 'Ň'),
    ("ncaron", 'ň'),
    ("Odblac", 'Ő'),
    ("odblac", 'ő'),
    ("Rcaron", 'Ř'),
    ("rcaron", 'ř'),
    ("Sacute", 'Ś'),
    ("sacute", 'ś'),
    ("Scedil", 'Ş'),
    ("scedil", 'ş'),
    ("Tcaron", 'Ť'),
    ("tcaron", 'ť'),
    ("Tcedil", 'Ţ'),
    ("tcedil", 'ţ'),
    ("Udblac", 'Ű'),
    ("udblac", 'ű'),
    ("Uring", 'Ů'),
    ("uring", 'ů'),
    ("Zacute", 'Ź'),
    ("zacute", 'ź'),
    ("Zcaron", 'Ž'),
    ("zcaron", 'ž'),
    ("Zdot", 'Ż'),
    ("zdot", 'ż'),
];

/// The character of the reference at the beginning of `bytes` (`&#64;`, `&#x40;`, `&amp;`), and how many of them spell it.
/// Readers of HTML do without the semicolon behind a number.
pub fn reference(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'&', b'#', b'x' | b'X', digits @ ..] => number(digits, 16).map(|(c, length)| (c, 3 + length)),
        [b'&', b'#', digits @ ..] => number(digits, 10).map(|(c, length)| (c, 2 + length)),
        _ => {
            let end = memchr::memchr(b';', bytes)?;
            let name = bytes.get(1..end)?;
            let (_, c) = REFERENCES.iter().find(|(known, _)| known.as_bytes() == name)?;
            Some((*c, end + 1))
        }
    }
}

/// The character of the number at the beginning of `bytes`, and how long that is with its semicolon.
fn number(bytes: &[u8], radix: u32) -> Option<(char, usize)> {
    let count = bytes.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let digits = std::str::from_utf8(bytes.get(..count)?).ok()?;
    let c = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    Some((c, count + usize::from(bytes.get(count) == Some(&b';'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_by_their_names() {
        for (spelled, letter) in [
            ("&uuml;", '\u{fc}'),
            ("&szlig;", '\u{df}'),
            ("&eacute;", '\u{e9}'),
            ("&Ntilde;", '\u{d1}'),
            ("&THORN;", '\u{de}'),
            ("&lstrok;", '\u{142}'),
        ] {
            assert_eq!(
                reference(format!("{spelled}x").as_bytes()),
                Some((letter, spelled.len())),
                "{spelled}"
            );
        }
        for other in ["&uuml", "&uuml x", "&UUML;", "&uumlaut;", "&;", "&"] {
            assert_eq!(reference(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn each_letter_of_latin_1_has_a_name_and_each_name_is_there_once() {
        let letters = ('\u{c0}'..='\u{ff}').filter(|letter| letter.is_alphabetic());
        for letter in letters {
            assert_eq!(REFERENCES.iter().filter(|(_, known)| *known == letter).count(), 1, "{letter}");
        }
        for (name, _) in REFERENCES {
            assert_eq!(REFERENCES.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
    }
}
