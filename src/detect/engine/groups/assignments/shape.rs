//! What values look like in their places: passwords of people, labels for them, code.

use super::form::ValueForm;
use super::text::{is_base64, is_dense, is_quote};
use super::unspaced::is_counted;
use crate::detect::validate::credential::{self, is_jumble};

/// What a value without quotes is made of.
pub(super) fn is_bare(byte: u8) -> bool {
    is_dense(byte) || byte == b'>'
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'#' | b'/')
}

/// Names of what it is instead of a value: `db-password`.
pub(super) fn names_itself(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    let secrets = [b"pass".as_slice(), b"pwd", b"secret", b"psk"];
    let parted = text.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.' | b':' | b'#' | b'/' | b' '));
    let plain = lower == text || text.to_ascii_uppercase() == text;
    let camel = text
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let setting = text.contains(&b'_')
        && text.iter().all(|&byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let words = setting || text.iter().all(|byte| is_word(byte) || *byte == b' ');
    words
        && (parted && plain || camel && !parted)
        && secrets.iter().any(|word| lower.windows(word.len()).any(|window| window == *word))
}

/// A sentence or a label for people.
pub(super) fn is_label(text: &[u8]) -> bool {
    let blanks = text.iter().filter(|&&byte| byte == b' ').count();
    let begins = text.first().is_some_and(u8::is_ascii_uppercase) || !text.is_ascii();
    let letters = text.iter().all(|byte| {
        byte.is_ascii_alphabetic()
            || matches!(byte, b' ' | b'.' | b'?' | b'!' | b':' | b',' | b'\'')
            || !byte.is_ascii()
    });
    blanks > 5 || blanks > 0 && begins && letters
}

fn has_sign(text: &[u8]) -> bool {
    text.iter()
        .any(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b','))
}

pub(super) fn has_digit(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
}

/// More than letters: no word of a language or a program.
pub(super) fn is_marked(text: &[u8]) -> bool {
    has_digit(text) || has_sign(text)
}

pub(super) fn fits_password(text: &[u8], strong: bool, form: ValueForm) -> bool {
    // What is quickly told comes first.
    let marked = || is_marked(text);
    let formed = match form {
        ValueForm::Argument(false) => marked() && credential::key(text, true),
        ValueForm::Beside | ValueForm::Argument(true) => strong && !text.contains(&b' ') && marked(),
        _ if !strong => text.len() >= 6 && !text.contains(&b' ') && marked(),
        _ => true,
    };
    formed && credential::password(text) && !names_itself(text) && !is_label(text) && !is_counted(text)
}

/// Whether it may be a user's name: none of a sentence's words, as in `log in with password`.
pub(super) fn names_user(word: &[u8]) -> bool {
    let words: [&[u8]; 10] =
        [b"with", b"using", b"via", b"by", b"and", b"or", b"page", b"form", b"the", b"a"];
    !words.contains(&word)
}

/// In a list of strings a name may stand before another.
pub(super) fn fits_list(text: &[u8], form: ValueForm) -> bool {
    form != ValueForm::Argument(false) || has_digit(text) && !text.contains(&b'_')
}

/// Long enough to be a key where only the word before says so, and no setting of its own.
pub(super) fn looks_like_key(text: &[u8]) -> bool {
    let value = text.iter().take_while(|&&byte| byte != b'=').count();
    text.len() >= 20 && has_digit(text) && text.iter().skip(value).all(|&byte| byte == b'=')
}

/// A word that nobody writes by chance: digits and letters with signs of passwords, or in both cases and in no order of words; and no
/// address, path or name of what it is.
pub(super) fn is_random(text: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| text.iter().any(is);
    let parted = any(|byte| matches!(byte, b'=' | b'/' | b'\\' | b',' | b'|' | b':' | b'(' | b'{' | b'['));
    let address = any(|byte| *byte == b'@') && any(|byte| *byte == b'.');
    let jumble = !has_digit(text) && is_jumble(text) && !has_label(text);
    if text.len() < 8 || !has_digit(text) && !jumble || !any(u8::is_ascii_alphabetic) || parted || address {
        return false;
    }
    let begins = text.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || is_password_sign(byte));
    let cases = || any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    begins
        && (jumble || any(is_password_sign) || cases() && credential::is_generated(text) && !has_label(text))
}

/// Signs of several kinds that programs and addresses do not have together, among many letters and digits.
pub(super) fn is_tangle(text: &[u8]) -> bool {
    let has = |sign: &&u8| text.contains(sign);
    text.len() >= 16
        && has_digit(text)
        && text.iter().any(u8::is_ascii_alphabetic)
        && !text.iter().any(|&byte| byte.is_ascii_whitespace() || is_quote(byte) || byte == b'\\')
        && b"!@#$%^*".iter().filter(has).count() >= 3
}

/// A value that is no part of a program, whatever sign stands before it: random, without quotes, brackets or a sign that joins it
/// to what follows.
pub(super) fn is_unguessable(text: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| text.iter().any(is);
    let inner = |byte: &u8| {
        byte.is_ascii_whitespace()
            || is_quote(*byte)
            || matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
    };
    let joins =
        text.len() < 32 && matches!(text.last(), Some(b'+' | b',' | b'.' | b'&' | b'|' | b'?' | b':' | b';'));
    let mixed = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && has_digit(text);
    let random = || mixed && credential::is_generated(text) && !text.contains(&b'.');
    let plain = text.len() >= 8 && !any(inner) && !joins && !has_label(text);
    is_tangle(text) || plain && (random() || is_jumble(text) || credential::key(text, true))
}

/// A word that nobody writes by chance, or a shorter one with a digit and a sign in its middle: no code of a product, no share.
pub(super) fn is_certain(text: &[u8]) -> bool {
    let inner = |three: &[u8]| {
        matches!(three, [before, sign, behind]
            if is_password_sign(sign) && before.is_ascii_alphanumeric() && behind.is_ascii_alphanumeric())
    };
    let signed = has_digit(text) && text.iter().any(u8::is_ascii_alphabetic) && text.windows(3).any(inner);
    // `covid19!` is a word and a number with a sign behind.
    let core = text.iter().rev().skip_while(|byte| matches!(byte, b'!' | b'?')).count();
    let core = text.get(..core).unwrap_or_default();
    let digits = core.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let exclaimed = core.len() < text.len() && core.iter().rev().skip(digits).all(u8::is_ascii_lowercase);
    is_random(text) && !exclaimed || text.len() >= SHORTEST_CERTAIN && signed
}

/// The shortest of those, in bytes.
const SHORTEST_CERTAIN: usize = 6;

/// Whether a text has a word in it that names of secrets have.
pub(super) fn has_label(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    credential::NAME_PARTS.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Whether letters, digits and such a sign are in it.
pub(super) fn is_signed(text: &[u8]) -> bool {
    has_digit(text) && text.iter().any(u8::is_ascii_alphabetic) && text.iter().any(is_password_sign)
}

/// Signs that words of languages and programs do not have in their middle.
fn is_password_sign(byte: &u8) -> bool {
    matches!(byte, b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'+' | b'@')
}

/// The shortest number of a private key, in characters of base64: 256 bits.
const SHORTEST: usize = 42;

/// Whether this may be a number of a private key in base64, and no digest in hexadecimal.
pub(super) fn is_key_number(text: &[u8]) -> bool {
    text.len() >= SHORTEST
        && text.iter().all(|&byte| is_base64(byte))
        && !text.iter().all(u8::is_ascii_hexdigit)
        && credential::key(text, true)
}

/// A secret that a person chose.
pub(super) fn fits_secret(text: &[u8], form: ValueForm) -> bool {
    let chosen = has_sign(text) || has_digit(text) && text.len() >= 8 && !text.contains(&b'-');
    let plain = credential::password(text) && !names_itself(text) && !text.contains(&b' ');
    plain && (form == ValueForm::Compared || chosen && !matches!(form, ValueForm::Argument(_)))
}

pub(super) fn bare_password(text: &[u8], strong: bool, form: ValueForm, setting: bool) -> bool {
    let marked = is_marked(text);
    let varied = marked || text.iter().any(u8::is_ascii_uppercase) && text.iter().any(u8::is_ascii_lowercase);
    let jumble = is_jumble(text) && !has_label(text);
    let variable = text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && text.iter().filter(|byte| byte.is_ascii_digit()).count() <= 1
        && !jumble;
    // `pw = pulse_width9`: another variable.
    let assigned = matches!(form, ValueForm::Assigned { tight: false, colon: false, .. });
    let other = assigned && variable && text.contains(&b'_');
    let formed = match form {
        _ if !strong => {
            has_digit(text) && text.iter().any(u8::is_ascii_alphabetic) && text.len() >= 8 && !other
        }
        ValueForm::Assigned { tight, first, .. } => {
            let whole = text.iter().all(u8::is_ascii_alphanumeric) && tight && (first || setting);
            whole || (marked || jumble) && (tight || !variable)
        }
        ValueForm::Flag => varied,
        ValueForm::Login | ValueForm::Element => true,
        ValueForm::Prose => (marked || jumble) && text.len() >= 5,
        ValueForm::Said => is_random(text),
        // Not what manuals and schemas have: alternatives, a type that may be absent, lengths, names of the setting.
        ValueForm::Line => {
            let written = text.contains(&b'|') || text.ends_with(b"?") || text.ends_with(b"PSK");
            (marked || jumble) && text.len() >= 5 && !written && text.iter().any(u8::is_ascii_alphabetic)
        }
        ValueForm::Compared | ValueForm::Argument(_) | ValueForm::Beside | ValueForm::Or => false,
    };
    // What forms mark as required.
    let starred = text.ends_with(b"*") && !has_digit(text) && form != ValueForm::Element;
    formed && !starred && credential::password(text) && !names_itself(text)
}

/// Whether the letters and digits of a text with signs between are mixed as no program's names are, whatever the signs: no call, field
/// or path.
pub(super) fn is_random_among_signs(text: &[u8]) -> bool {
    let count = |sign: u8| text.iter().filter(|&&byte| byte == sign).count();
    let pairs = [(b'(', b')'), (b'[', b']'), (b'{', b'}')];
    let bracketed = pairs.iter().any(|&(open, close)| count(open) + count(close) > 0);
    // Those of a program close what they open.
    let torn = pairs.iter().any(|&(open, close)| count(open) != count(close));
    let longest = text.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or_default();
    let joins = text.windows(2).any(|pair| matches!(pair, b"()" | b")." | b")," | b"=>" | b"&&" | b"||"));
    let (least, part) = if bracketed { (8, 4) } else { (10, 5) };
    let letters: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let upper = letters.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let lower = letters.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    let mixed = upper >= 2 && lower >= 2 && has_digit(text) && credential::is_generated(&letters);
    // Signs that stand between no names.
    let signed = text.iter().any(|byte| matches!(byte, b'#' | b'^' | b'~' | b'@' | b'%'));
    let jumbled = torn && is_jumble(&letters) && (has_digit(text) || signed);
    bracketed == torn
        && !joins
        && letters.len() >= least
        && longest >= part
        && (mixed || jumbled)
        && !has_label(text)
        && !OWNERS.iter().any(|owner| text.starts_with(owner))
}

/// The same of a text in quotes, which may have any sign, and no digit where its letters make up no words.
pub(super) fn is_random_in_quotes(text: &[u8]) -> bool {
    let letters: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let generated = || has_digit(&letters) && credential::is_generated(&letters);
    letters.len() >= 8
        && !text.iter().any(u8::is_ascii_whitespace)
        && !has_label(text)
        && (is_jumble(&letters) || generated())
}

/// Whether what looks like a field, a call or a path is a value where no program stands: in both cases, with a digit, and no call from
/// end to end.
pub(super) fn is_random_setting(text: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| text.iter().any(is);
    let head = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let owned = text.get(..head).is_some_and(|head| OWNERS.contains(&head));
    let called = text.ends_with(b")") || text.ends_with(b"]");
    let mixed = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && has_digit(text);
    mixed && head > 0 && !owned && !called && !text.starts_with(b"0x") && !has_label(text)
}

/// Where programs keep their settings.
const OWNERS: &[&[u8]] = &[
    b"self",
    b"this",
    b"os",
    b"sys",
    b"process",
    b"env",
    b"config",
    b"settings",
    b"args",
    b"options",
    b"req",
    b"ctx",
];

/// A variable that another is set to.
pub(super) fn is_variable(text: &[u8], form: ValueForm) -> bool {
    matches!(form, ValueForm::Assigned { tight: false, .. }) && !has_digit(text) && !has_sign(text)
}

/// A call, a field of something, a place in memory: programs, not values.
pub(super) fn is_code(text: &[u8]) -> bool {
    if is_tangle(text) {
        return false;
    }
    let name = text
        .iter()
        .take_while(|&&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'>' | b'-'))
        .count();
    let called = name > 0 && matches!(text.get(name), Some(b'(' | b'['))
        || text.ends_with(b")") && text.contains(&b'(');
    let number = text
        .strip_prefix(b"0x")
        .is_some_and(|rest| rest.len() <= 16 && rest.iter().all(u8::is_ascii_hexdigit));
    let part = |part: &[u8]| {
        part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii() || *byte == b'_')
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii() || *byte == b'_')
    };
    // `field.text!`, which Swift unwraps.
    let unwrapped = text.strip_suffix(b"!").filter(|rest| {
        let last = rest.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        rest.first().is_some_and(u8::is_ascii_lowercase) && last.iter().all(u8::is_ascii_lowercase)
    });
    let mut parts = unwrapped.unwrap_or(text).split(|&byte| byte == b'.');
    let owned = parts.clone().next().is_some_and(|head| OWNERS.contains(&head));
    let last = parts.clone().next_back().unwrap_or_default();
    let field = text.contains(&b'.') && parts.all(part) && (owned || !credential::key(last, true));
    let begins = text.split_first().is_some_and(|(sign, rest)| {
        matches!(
            sign,
            b'(' | b'[' | b'{' | b'&' | b'*' | b'!' | b'<' | b'=' | b'|' | b'+' | b'>' | b'-' | b';'
        ) && !is_unguessable(rest)
    });
    // `format!("…")`.
    let small = text.iter().take_while(|&&byte| byte.is_ascii_lowercase() || byte == b'_').count();
    let expanded = small >= 3 && matches!(text.get(small..), Some([b'!', b'(' | b'[', ..]));
    let path = text.windows(2).any(|pair| pair == b"::" || pair == b"->" || pair == b"=>" || pair == b"()");
    called
        || expanded
        || field
        || path
        || number
        || text.starts_with(b"__")
        || begins && !text.ends_with(b"=")
}
