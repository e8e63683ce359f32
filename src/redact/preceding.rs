//! What stands before a place in a text that passes: whether a token may begin there, and whether the text has just said
//! that the last digits of a number follow (`ending in`, `****`).

use crate::redact::digit_cue::DigitCue;
use crate::redact::left_context::LeftContext;

/// So much of a text is looked at for words that announce last digits, in bytes.
const REACH: usize = 128;

/// What says that a user's name follows, at the end of a word, and options of commands.
const USER_WORDS: [&str; 10] =
    ["user", "username", "usr", "login", "uid", "role", "rolname", "owner", " -u", " -U"];

/// So much of a text is looked at for these, in bytes.
const USER_REACH: usize = 24;

/// The longest mailbox of an address, in bytes (RFC 5321, section 4.5.3.1.1).
const LONGEST_MAILBOX: usize = 64;

/// The end of a text that has passed.
#[derive(Clone, Default)]
pub(super) struct PassedText(Vec<u8>);

impl PassedText {
    pub(super) fn push(&mut self, text: &[u8]) {
        let Self(passed) = self;
        let rest = text.get(text.len().saturating_sub(REACH)..).unwrap_or_default();
        if passed.len() + rest.len() > 4 * REACH {
            let kept = REACH.min(passed.len());
            passed.drain(..passed.len() - kept);
        }
        passed.extend_from_slice(rest);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What stands before the next byte.
#[derive(Clone, Copy)]
pub(super) struct PrecedingContext<'t> {
    /// The end of what has passed, and what follows it.
    pub(super) passed: &'t PassedText,
    pub(super) text: &'t [u8],
    pub(super) left: LeftContext,
}

impl PrecedingContext<'_> {
    /// Whether anything may begin with `byte` here.
    pub(super) fn may_begin(self, byte: u8) -> bool {
        self.admits(byte) || self.may_be_mask()
    }

    /// Whether a token may begin with `byte` here.
    pub(super) fn admits(self, byte: u8) -> bool {
        self.left.admits(byte)
    }

    /// Whether digits may follow that no token begins with: those of a mask of letters adjoin it.
    pub(super) fn may_be_mask(self) -> bool {
        matches!(self.back(1), Some(b'x' | b'X'))
    }

    /// Whether the last digits of a number follow.
    pub(super) fn announces_last_digits(self) -> bool {
        let PassedText(passed) = self.passed;
        let from = self.text.len().saturating_sub(REACH);
        let wanted = REACH - (self.text.len() - from);
        let earlier = passed.get(passed.len().saturating_sub(wanted)..).unwrap_or_default();
        let cut = from > 0 || earlier.len() == wanted;
        let bytes = earlier.iter().chain(self.text.get(from..).unwrap_or_default());
        // The first word may have lost its beginning.
        let begun = bytes.skip_while(|byte| cut && (byte.is_ascii_alphanumeric() || !byte.is_ascii()));
        begun.fold(DigitCue::default(), |cue, byte| cue.after(*byte)).is_live()
    }

    /// Whether the text has just said that a user's name follows: `DB_USER=`, `"user": "`, `-u `, `ssh://`.
    pub(super) fn names_user(self) -> bool {
        let mut text: Vec<u8> = (1..=USER_REACH).map_while(|count| self.back(count)).collect();
        text.reverse();
        let apart = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\' | b'*' | b'=' | b':' | b'>');
        let end = text.iter().rposition(|byte| !apart(*byte)).map_or(0, |last| last + 1);
        let (said, signs) = text.split_at(end);
        let ends = |word: &str| {
            let from = said.len().checked_sub(word.len());
            from.and_then(|from| said.get(from..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(word.as_bytes()))
        };
        signs.is_empty() && text.ends_with(b"//") || USER_WORDS.iter().any(|word| ends(word))
    }

    /// The mailbox before the `@` that stands here, if there is one.
    pub(super) fn mailbox(self) -> Option<String> {
        let within = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-_".contains(byte);
        if self.back(1) != Some(b'@') {
            return None;
        }
        let local = (2..=LONGEST_MAILBOX + 1).map_while(|count| self.back(count).filter(within));
        let mut local: Vec<u8> = local.collect();
        local.reverse();
        String::from_utf8(local).ok().filter(|local| !local.is_empty())
    }

    /// Whether what begins here goes on with an identifier.
    pub(super) fn in_identifier(self) -> bool {
        matches!(self.back(1), Some(b'_' | b'-'))
    }

    /// The byte so many before the next.
    fn back(self, count: usize) -> Option<u8> {
        match self.text.len().checked_sub(count) {
            Some(at) => self.text.get(at).copied(),
            None => {
                let PassedText(passed) = self.passed;
                passed.get(passed.len().checked_sub(count - self.text.len())?).copied()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked of a text that has come in any two pieces.
    fn asked(text: &str, ask: fn(PrecedingContext<'_>) -> bool) -> bool {
        let answers = (0..=text.len()).map(|cut| {
            let (head, text) = text.as_bytes().split_at(cut);
            let mut passed = PassedText::default();
            head.chunks(3).for_each(|piece| passed.push(piece));
            let left = head.iter().chain(text).fold(LeftContext::Open, |left, byte| left.after(*byte));
            ask(PrecedingContext { passed: &passed, text, left })
        });
        let answers: Vec<bool> = answers.collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{text}");
        answers[0]
    }

    #[test]
    fn last_digits_follow_what_says_so() {
        let live = [
            "ending in ",
            "ends with ",
            "Visa ending ",
            "(Ending in **",
            "ends in \"",
            "ending in the digits: ",
            "last four digits of the card you gave us are ",
            "last 4: ",
            "last4: ",
            "\"card_last4\": \"",
            "cardLast4=",
            "ssnLastFour: ",
            "the last four are `",
            "letzten vier Ziffern: ",
            "Karte endet auf ",
            "terminada en ",
            "últimos cuatro dígitos: ",
            "les quatre derniers chiffres sont ",
            "ending in 1234 and ",
            "****",
            "**** **** **** ",
            "xxxx-xxxx-xxxx-",
            "XXX-XX-",
            "XXXXXXXXXXXX",
            "•••• ",
            "●●●●",
            "***-**-",
            "(***) ***-",
            "…",
            "...",
            "#### #### #### ",
            "ending in …",
            "card ending in\u{a0}",
            "x x last four: ",
            "in 20 24 ****",
        ];
        for text in live {
            assert!(asked(text, |before| before.announces_last_digits()), "{text}");
            let long = format!("{} {text}", "word ".repeat(40));
            assert!(asked(&long, |before| before.announces_last_digits()), "{long}");
        }
    }

    #[test]
    fn and_nothing_else() {
        let not = [
            "",
            "in ",
            "the last ",
            "four ",
            "ending in it. ",
            "last four years were good. In ",
            "**",
            "***",
            "**Total:** **",
            "max ",
            "xx ",
            "boxxxx",
            "4012 **** **** ",
            "(725) ***-",
            "..",
            "a - - - ",
            "---- ",
            "weekend in ",
            "the last of them, and of four: ",
            "ending in one of all the many towns of this land ",
            "**** is the word for ",
            "xxxx\n",
            "last4: null, year: ",
            "SELECT last4, year FROM c WHERE year = ",
            "blast4 ",
        ];
        for text in not {
            assert!(!asked(text, |before| before.announces_last_digits()), "{text}");
        }
    }

    #[test]
    fn an_escape_that_ends_is_a_boundary() {
        let cases =
            [("%3A", true), ("%3a", true), ("%41", false), ("3A", false), ("%3", false), ("%20%20", true)];
        for (text, admits) in cases {
            assert_eq!(asked(text, |before| before.admits(b'j')), admits, "{text}");
        }
        assert!(!asked("%20a", |before| before.admits(b'j')));
    }
}
