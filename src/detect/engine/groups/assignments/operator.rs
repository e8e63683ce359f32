//! Signs and words that stand between a name and its value: `=`, `=>`, `is`.

use super::text::{NeedMore, WindowText};

const OPERATORS: &[(&str, Operator)] = &[
    ("===", Operator::Compares),
    ("!==", Operator::Compares),
    (":::=", Operator::Assigns),
    ("::=", Operator::Assigns),
    (":=", Operator::Assigns),
    ("?=", Operator::Assigns),
    ("=>", Operator::Assigns),
    (".=", Operator::Assigns),
    ("+=", Operator::Assigns),
    ("||=", Operator::Assigns),
    ("==", Operator::Compares),
    ("!=", Operator::Compares),
    ("||", Operator::Or),
    ("??", Operator::Or),
    ("or ", Operator::Or),
    ("::", Operator::None),
    ("=", Operator::Equals),
    (":", Operator::Colon),
    (",", Operator::Comma),
    ("is: ", Operator::Is),
    ("is now ", Operator::Is),
    ("is ", Operator::Is),
    ("are ", Operator::Is),
    ("will be ", Operator::Is),
    ("was: ", Operator::Is),
    ("was ", Operator::Is),
    ("ist: ", Operator::Is),
    ("ist ", Operator::Is),
    ("lautet: ", Operator::Is),
    ("lautet ", Operator::Is),
    ("est : ", Operator::Is),
    ("est: ", Operator::Is),
    ("est ", Operator::Is),
    ("es: ", Operator::Is),
    ("es ", Operator::Is),
    ("è: ", Operator::Is),
    ("è ", Operator::Is),
    ("é: ", Operator::Is),
    ("é ", Operator::Is),
];

/// What a sign or word between a name and a value does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    None,
    Assigns,
    Equals,
    Colon,
    Compares,
    Or,
    Comma,
    Is,
}

impl WindowText<'_> {
    /// What stands at `at`, before which blanks stand if it is `spaced`, and where that ends.
    pub(super) fn operator(&self, at: usize, spaced: bool) -> Result<(Operator, usize), NeedMore> {
        // Most names are followed by what begins no operator.
        if !matches!(
            self.byte(at)?,
            Some(
                b'=' | b'!'
                    | b':'
                    | b'?'
                    | b'.'
                    | b'+'
                    | b'|'
                    | b','
                    | b'o'
                    | b'i'
                    | b'w'
                    | b'l'
                    | b'a'
                    | b'e'
                    | 0xC3
            )
        ) {
            return Ok((Operator::None, at));
        }
        for &(text, operator) in OPERATORS {
            let worded = text.ends_with(' ');
            if (spaced || !worded) && self.follows(at, text)? {
                return Ok((operator, at + text.len()));
            }
        }
        Ok((Operator::None, at))
    }
}
