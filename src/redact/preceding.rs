//! What stands before a place in a text that passes: whether a token may begin there, and whether the text has just said
//! that the last digits of a number follow (`ending in`, `****`).

use crate::redact::left_context::LeftContext;

/// So much of a text is looked at for words that announce last digits, in bytes.
const REACH: usize = 128;

/// What says that a user's name follows, at the end of a word, and options of commands.
const USER_WORDS: [&str; 10] =
    ["user", "username", "usr", "login", "uid", "role", "rolname", "owner", " -u", " -U"];

/// So much of a text is looked at for these, in bytes.
const USER_REACH: usize = 24;

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

/// Words before the last digits of a number, in some languages. A word here may be followed by one of [`WITH`].
const ENDING: &[&str] = &[
    "ending",
    "ends",
    "ended",
    "end",
    "endet",
    "endend",
    "endende",
    "enden",
    "termina",
    "terminada",
    "terminado",
    "terminan",
    "termine",
    "terminant",
    "finissant",
    "finit",
    "finisce",
    "finale",
    "eindigt",
    "eindigend",
];
const WITH: &[&str] =
    &["in", "with", "on", "by", "mit", "auf", "en", "por", "com", "con", "par", "em", "op", "met"];
/// And words that say so together with one of [`FOUR`], in either order.
const LAST: &[&str] = &[
    "last",
    "final",
    "letzte",
    "letzten",
    "letzter",
    "ultimos",
    "últimos",
    "ultimas",
    "últimas",
    "ultimi",
    "ultime",
    "derniers",
    "dernieres",
    "dernières",
    "laatste",
];
/// Names of members that say both; the digits are the next word then.
const LAST_FOUR: &[&str] = &[
    "last4",
    "lastfour",
    "cardlast4",
    "cardlastfour",
    "ssnlast4",
    "ssnlastfour",
    "phonelast4",
    "last4digits",
];
const FOUR: &[&str] = &["four", "4", "vier", "cuatro", "quatro", "quattro", "quatre"];

/// Before how many words the digits may stand, behind `ending in`, behind `last four`, and behind such digits.
const AFTER_ENDING: u8 = 5;
const AFTER_LAST: u8 = 10;
const AFTER_DIGITS: u8 = 2;
/// Characters of a mask, and how many of them stand together.
const MASK: u8 = 4;
const RUN: u8 = 3;
/// Dots of an ellipsis.
const DOTS: u8 = 3;
/// Digits before a mask that are the beginning of the number that it hides.
const SHOWN: u8 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lead {
    #[default]
    Nothing,
    Ending,
    Last,
    Four,
    /// The words are complete; so many words may follow.
    Said(u8),
}

/// What has been said of last digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DigitCue {
    lead: Lead,
    word: OpenWord,
    mask: Mask,
    /// The bytes of a character so far, and how many are to come.
    cut: (u32, u8),
}

/// The word that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenWord {
    /// Its beginning, in lower case.
    bytes: [u8; Self::MOST],
    /// How long it is, or longer.
    length: u8,
    /// Whether it is digits only, or nothing but `x`.
    digits: bool,
    mask: bool,
}

impl Default for OpenWord {
    fn default() -> Self {
        Self { bytes: [0; Self::MOST], length: 0, digits: true, mask: true }
    }
}

impl OpenWord {
    const MOST: usize = 12;

    fn push(&mut self, c: char) {
        let mut bytes = [0; 4];
        for byte in c.to_ascii_lowercase().encode_utf8(&mut bytes).bytes() {
            if let Some(slot) = self.bytes.get_mut(usize::from(self.length)) {
                *slot = byte;
            }
            self.length = self.length.saturating_add(1);
            self.digits &= byte.is_ascii_digit();
            self.mask &= byte == b'x';
        }
    }

    fn is(&self, words: &[&str]) -> bool {
        let bytes = self.bytes.get(..usize::from(self.length));
        bytes.is_some_and(|bytes| words.iter().any(|word| word.as_bytes() == bytes))
    }

    /// Whether it ends like the beginning of a number.
    fn shows_number(&self) -> bool {
        let last = self.bytes.get(usize::from(self.length).wrapping_sub(1));
        self.length >= SHOWN && (self.digits || last.is_some_and(u8::is_ascii_digit))
    }
}

/// Characters in the place of digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mask {
    count: u8,
    /// Of the same, one behind another: now, and the most.
    run: u8,
    longest: u8,
    dots: u8,
    /// The beginning of the number is shown, so the end alone is not all of it.
    shown: bool,
}

impl Mask {
    fn put(&mut self) {
        self.count = self.count.saturating_add(1);
        self.run = self.run.saturating_add(1);
        self.longest = self.longest.max(self.run);
        self.dots = 0;
    }

    fn is_complete(&self) -> bool {
        !self.shown && (self.count >= MASK && self.longest >= RUN || self.dots >= DOTS)
    }
}

impl DigitCue {
    fn is_live(self) -> bool {
        match self.word.length {
            0 => matches!(self.lead, Lead::Ending | Lead::Said(1..)) || self.mask.is_complete(),
            // A mask of letters may adjoin the digits.
            _ => self.word.mask && self.with_word().mask.is_complete(),
        }
    }

    fn after(self, byte: u8) -> Self {
        match (byte, self.cut) {
            (0..=0x7f, _) => Self { cut: (0, 0), ..self }.after_char(char::from(byte)),
            (0x80..=0xbf, (bits, left @ 1..)) => {
                let bits = bits << 6 | u32::from(byte & 0x3f);
                let cue = Self { cut: (bits, left - 1), ..self };
                match char::from_u32(bits).filter(|_| left == 1) {
                    Some(c) => cue.after_char(c),
                    None => cue,
                }
            }
            (0xc0..=0xdf, _) => Self { cut: (u32::from(byte & 0x1f), 1), ..self },
            (0xe0..=0xef, _) => Self { cut: (u32::from(byte & 0x0f), 2), ..self },
            (0xf0.., _) => Self { cut: (u32::from(byte & 0x07), 3), ..self },
            _ => self,
        }
    }

    fn after_char(mut self, c: char) -> Self {
        if c.is_alphanumeric() {
            self.word.push(c);
            return self;
        }
        let mut cue = self.with_word();
        cue.word = OpenWord::default();
        match c {
            '*' | '#' | '•' | '●' | '∙' | '·' | '⋅' | '‧' | '○' | '◦' | '▪' | '■' | '█' => {
                cue.mask.put()
            }
            '…' => cue.mask.dots = DOTS,
            '.' => (cue.mask.dots, cue.mask.run) = (cue.mask.dots.saturating_add(1), 0),
            // Between the groups of a number, and what marks it in a text.
            ' '
            | '-'
            | '_'
            | '/'
            | '('
            | ')'
            | '`'
            | '"'
            | '\''
            | '\\'
            | '\u{a0}'
            | '\u{202f}'
            | '\u{2009}'
            | '\u{2010}'..='\u{2013}'
            | '\u{200b}'
            | '\u{2060}' => (cue.mask.dots, cue.mask.run) = (0, 0),
            _ => cue.mask = Mask::default(),
        }
        if matches!(c, '.' | '!' | '?' | ';') && cue.mask.dots < 2 {
            cue.lead = Lead::Nothing;
        }
        cue
    }

    /// With the word that has gone on as a whole one.
    fn with_word(mut self) -> Self {
        let word = self.word;
        if word.length == 0 {
            return self;
        }
        self.lead = match self.lead {
            Lead::Ending if word.is(WITH) => Lead::Said(AFTER_ENDING),
            Lead::Last if word.is(FOUR) => Lead::Said(AFTER_LAST),
            Lead::Four if word.is(LAST) => Lead::Said(AFTER_LAST),
            Lead::Said(_) if word.length == 4 && word.digits => Lead::Said(AFTER_DIGITS),
            _ if word.is(ENDING) => Lead::Ending,
            _ if word.is(LAST_FOUR) => Lead::Said(1),
            _ if word.is(LAST) => Lead::Last,
            Lead::Said(left) => Lead::Said(left.saturating_sub(1)),
            _ if word.is(FOUR) => Lead::Four,
            _ => Lead::Nothing,
        };
        if word.mask {
            for _ in 0..word.length {
                self.mask.put();
            }
        } else {
            self.mask = Mask { shown: word.shows_number(), ..Mask::default() };
        }
        self
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
