//! Whether a text that passes has just said that the last digits of a number follow (`ending in`, `****`), character by
//! character.

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
pub(super) struct DigitCue {
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
    pub(super) fn is_live(self) -> bool {
        match self.word.length {
            0 => matches!(self.lead, Lead::Ending | Lead::Said(1..)) || self.mask.is_complete(),
            // A mask of letters may adjoin the digits.
            _ => self.word.mask && self.with_word().mask.is_complete(),
        }
    }

    pub(super) fn after(self, byte: u8) -> Self {
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
