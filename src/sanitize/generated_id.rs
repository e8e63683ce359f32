//! [`is_generated`]: whether a program made an identifier of a message or a part up (RFC 5322, 3.6.4): of digits, in hexadecimal,
//! or of letters and digits that are mixed as in Base64. Words in one may be a person's.

/// Words that programs write into identifiers.
const PROGRAMS: &[&str] =
    &["alpine", "css", "frame", "fsf", "gif", "image", "javamail", "jpg", "mail", "part", "png", "root"];

/// From how many digits on an identifier tells one from all others by them, whatever single letters stand between.
const DIGITS: usize = 10;

/// From how many letters and digits on they are mixed by no person.
const MIXED: usize = 8;

/// From how many characters on, signs of Base64 among them, no person writes letters of both cases and digits.
const LONG: usize = 24;

/// How many capitals a long identifier may begin with before a sign: `CAJ+…`.
const CAPITALS: usize = 3;

/// From how many letters of one case on, but for the first, they are a word by themselves, and a word among mixed ones.
const WORD: usize = 3;
const WORD_IN_MIXED: usize = 4;

/// What an identifier says between two signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdPiece {
    /// Digits, beside which a program's word may stand.
    Number,
    /// Hexadecimal.
    Random,
    /// Some letters, and digits perhaps, that are no word.
    Letters,
    /// Letters that may be a word.
    Word,
}

impl IdPiece {
    /// Reads one, which is in ASCII.
    fn of(piece: &str) -> Self {
        let mut runs = runs(piece);
        let first = runs.next().unwrap_or_default();
        let is_program = |run: &str| PROGRAMS.iter().any(|word| run.eq_ignore_ascii_case(word));
        if first.is_empty() || (runs.next().is_none() && is_program(first)) {
            return Self::Number;
        }
        if piece.len() >= MIXED && piece.bytes().all(|b| b.is_ascii_hexdigit()) {
            if turns(piece, |b| b.is_ascii_digit()) > 1 {
                return Self::Random;
            }
            if piece.starts_with(|c: char| c.is_ascii_digit()) {
                return Self::Letters;
            }
        }
        let is_word = if first.len() == piece.len() {
            is_word(piece)
        } else {
            self::runs(piece).any(|run| run.len() >= WORD)
        };
        if is_word { Self::Word } else { Self::Letters }
    }
}

/// Whether a program made an identifier up: what stands before its host tells it from all others, and has no words in it.
pub(super) fn is_generated(id: &str) -> bool {
    let local = id.rsplit_once('@').map_or(id, |(local, _)| local);
    let digits = local.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 || !local.is_ascii() {
        return false;
    }
    let (mut random, mut letters) = (false, false);
    for token in local.split(|c: char| !(c.is_ascii_alphanumeric() || "+/=_-".contains(c))) {
        if is_uuid(token) || is_mixed(token) || is_long_mixed(token) {
            random = true;
            continue;
        }
        for piece in pieces(token) {
            match IdPiece::of(piece) {
                IdPiece::Word => return false,
                IdPiece::Letters => letters = true,
                IdPiece::Random => random = true,
                IdPiece::Number => {}
            }
        }
    }
    random || !letters || digits >= DIGITS
}

/// Whether this is a UUID (RFC 9562, 4).
fn is_uuid(token: &str) -> bool {
    let lengths = token.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && token.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// Whether letters of both cases, or of one, and digits take turns as chance has it.
fn is_mixed(token: &str) -> bool {
    let letters = |piece: &&str| piece.bytes().all(|b| b.is_ascii_alphabetic());
    if pieces(token).filter(letters).any(|piece| piece.len() >= WORD && is_word(piece)) {
        return false;
    }
    takes_turns(token)
}

/// The same for what is long and has signs of Base64 in it: letters between these are no words there but by themselves.
fn is_long_mixed(token: &str) -> bool {
    let signs = token.contains(['+', '/', '=', '_']);
    let has = |case: fn(&u8) -> bool| token.bytes().any(|b| case(&b));
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let mut names = pieces(token).enumerate().map(|(at, piece)| {
        let begins = at == 0 && piece.len() <= CAPITALS && piece.bytes().all(|b| b.is_ascii_uppercase());
        !begins && is_name(piece)
    });
    token.len() >= LONG && signs && cases && !names.any(|is_name| is_name) && takes_turns(token)
}

/// Whether this is a word, or several that capitals part: `jane`, `ROE`, `JaneRoe`.
fn is_name(piece: &str) -> bool {
    let letters = piece.len() >= WORD && piece.bytes().all(|b| b.is_ascii_alphabetic());
    let one_case = piece.bytes().all(|b| b.is_ascii_uppercase()) || !piece.contains(char::is_uppercase);
    letters && (one_case || words(piece).all(|word| word.bytes().skip(1).any(|b| b.is_ascii_lowercase())))
}

/// Whether letters of both cases and digits change as often as chance has it, and few of them may be words.
fn takes_turns(token: &str) -> bool {
    let all: String = token.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_long = |word: &&str| word.len() >= WORD_IN_MIXED && has_vowel(word);
    let in_words: usize = runs(&all).flat_map(words).filter(is_long).map(str::len).sum();
    let changes = turns(&all, |b| (b.is_ascii_digit(), b.is_ascii_uppercase()));
    all.len() >= MIXED
        && turns(&all, |b| b.is_ascii_digit()) > 1
        && changes.saturating_mul(3) > all.len()
        && in_words.saturating_mul(3) <= all.len()
}

/// What signs part.
fn pieces(token: &str) -> impl Iterator<Item = &str> {
    token.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty())
}

/// What digits part.
fn runs(piece: &str) -> impl Iterator<Item = &str> {
    piece.split(|c: char| c.is_ascii_digit()).filter(|run| !run.is_empty())
}

/// How often a byte is of another class than the one before.
fn turns<C: PartialEq>(text: &str, class: impl Fn(u8) -> C) -> usize {
    let pairs = text.bytes().zip(text.bytes().skip(1));
    pairs.filter(|(before, here)| class(*before) != class(*here)).count()
}

/// Whether letters may be a word, initials included: they are in one case, or a word begins among them with a capital.
fn is_word(letters: &str) -> bool {
    let one_case = letters.bytes().all(|b| b.is_ascii_uppercase()) || !letters.contains(char::is_uppercase);
    letters.len() > 1 && (one_case || words(letters).any(|word| word.len() >= WORD))
}

/// What capitals part: `JavaMail`.
fn words(letters: &str) -> impl Iterator<Item = &str> {
    let mut rest = letters;
    std::iter::from_fn(move || {
        let upper = rest.bytes().take_while(u8::is_ascii_uppercase).count();
        let lower = rest.bytes().skip(upper).take_while(u8::is_ascii_lowercase).count();
        let length =
            if upper > 1 && lower > 0 { upper.saturating_sub(1) } else { upper.saturating_add(lower) };
        let (word, behind) = rest.split_at_checked(length).filter(|(word, _)| !word.is_empty())?;
        rest = behind;
        Some(word)
    })
}

fn has_vowel(word: &str) -> bool {
    word.contains(['a', 'e', 'i', 'o', 'u', 'y', 'A', 'E', 'I', 'O', 'U', 'Y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_programs_are_known() {
        for id in [
            "2@a.example",
            "20200101120000.GA1234@a.example",
            "5E0C8A1F.3080401@a.example",
            "F3A8B2C1-1234-4F3A-9B2C-0123456789AB@a.example",
            "AM6PR04MB4567F7B2C81E4A9D0D6E8A1C0@a.example",
            "000001d5c0a1$b2c3d4e0$1234abcd$@a.example",
            "part1.A1b2C3d4.E5f6G7h8@a.example",
            "image001.png@01D5C0A1.B2C3D4E0",
            "CAHk-=wgT3aNJ5xY2bQ7=VwRkV+jVqTcZ9Jd8KpW6mXyRaB4uQ@mail.example",
            "E1iVbCd-0001Xy-3F@a.example",
            "1577836800.1234.JavaMail.root@a.example",
            "frame-5E0C8A1F3080401B2C3@mhtml.blink",
            "css-ddba16e0-2b1d-4a5b-8ee3-0d9a2c6f0e7c@mhtml.blink",
            "ii_k4x9z2qw0",
            "CAJ+s8nQ3kR7xYzPq2mW_b1Lc0vTfGhJk9d@mail.example",
            "CA+55aFxYzPq2mWb1Lc0vTfGhJk9d+xyzABCDEF@mail.example",
            "CAJ+s8nQ=3kR7xYzPq2mW_b1Lc0vTfGhJk9d@mail.example",
            "CAPuBk+Fh6vGq2mWb1Lc0vTfGhJk9dXyZ=7Q@mail.example",
        ] {
            assert!(is_generated(id), "{id}");
        }
    }

    #[test]
    fn words_are_no_program_s() {
        for id in [
            "",
            "a@b.example",
            "jane.roe1@corp.example",
            "jane1@corp.example",
            "1.Jane@a.example",
            "jr1984@corp.example",
            "jane20200101120000123@corp.example",
            "20200101100000.12345-1-jane.roe@corp.example",
            "20200101100000.12345-1-jr@corp.example",
            "CAHk4T9xQz2bW8-jane@corp.example",
            "1577836800.1@jane.roe@corp.example",
            "CAJ+s8nQ3kR7xYzPq2mW_b1Lc0vTfGhJk9d-jane@corp.example",
            "CAJ+s8nQ3kR7xYzPq2mW_JaneRoe_b1Lc0vT@corp.example",
            "ROE+s8nQ3kR7xYzPq2mW_jane@corp.example",
            "bounces+jane_roe=Corp24mail@corp.example",
            "JaneRoe1984_accounting+2024invoices@corp.example",
            "JaneRoe1984@corp.example",
            "MRoe2020@corp.example",
            "zoë.8f3a2b7c9d41@corp.example",
            "ab12345@corp.example",
        ] {
            assert!(!is_generated(id), "{id}");
        }
    }

    #[test]
    fn an_identifier_takes_time_by_its_length() {
        for piece in ["1", "a1", "aB", "a.", "-", "@", "1-", "aB1+"] {
            is_generated(&piece.repeat(100_000));
        }
    }
}
