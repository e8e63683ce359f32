//! What a surrogate may be known by: its characters, its letters and digits, its last digits, its words, each with what
//! it would stand for.

use zeroize::Zeroizing;

use crate::redact::case::lowered;
use crate::redact::dialled::DialledNumber;
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::name_form::NameForm;
use crate::redact::pem;
use crate::redact::unescaped::read;
use crate::redact::units::read_alike;

/// The longest surrogate that is known in other forms than its own bytes, in bytes.
const LONGEST: usize = 256;

/// The longest one of several lines.
const LONGEST_LINES: usize = 16 << 10;

/// The shortest text of which other letter case is known, in characters, and the shortest word of several.
const SHORTEST: usize = 3;

/// The shortest password that is known by itself, in characters.
const PASSWORD: usize = 6;

/// The shortest mailbox that is, in characters.
const MAILBOX: usize = 5;

/// Digits of a number that may stand alone, at its end.
pub(super) const LAST: usize = 4;

/// The fewest digits of a number of which the last ones are some of many.
const FEWEST: usize = 8;

/// What of a surrogate a form is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SurrogatePart {
    /// All characters. What is `strict` is a word by itself, which in small letters may be any word.
    Whole { strict: bool },
    /// This word, of those that blanks part.
    Word(usize),
    /// This half of a word, of those that hyphens part.
    Half { word: usize, half: usize },
    /// What stands before the first such sign of it, or what stands behind: the user's name and the password of what opens a
    /// service, the mailbox and the domain of an address.
    Side { sign: char, behind: bool },
    /// A person's name in another form; `signed` is whether a sign stands where it might have a blank.
    Named { form: NameForm, signed: bool },
    /// Letters and digits from one on, behind so many others that belong to the form; with a `+` in front or without.
    Number { from: usize, behind: usize, plus: bool },
    /// The last digits.
    End,
    /// All characters but those that lay it out.
    Lines,
}

impl SurrogatePart {
    /// Whether it is little enough to stand in a text by chance.
    fn stands_alone(self) -> bool {
        match self {
            Self::Whole { strict } => strict,
            Self::Side { behind, .. } => !behind,
            // All others have a word beside them that is looked for.
            Self::Named { form, .. } => form.is_joined(),
            part => matches!(part, Self::Word(_) | Self::Half { .. } | Self::End),
        }
    }

    /// Whether it may not be written with a blank that others have.
    pub(super) const fn is_signed(self) -> bool {
        matches!(self, Self::Named { signed: true, .. })
    }

    /// What may be written as either.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number { from, behind, plus }, Self::Number { plus: other, .. }) => {
                Self::Number { from, behind, plus: plus || other }
            }
            (Self::Whole { strict }, Self::Whole { strict: other }) => {
                Self::Whole { strict: strict && other }
            }
            _ => self,
        }
    }
}

/// How a text is looked at for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartSpelling {
    /// Character by character.
    Word,
    /// Letters and digits alone.
    Number,
    /// Digits behind words or a mask.
    End,
    /// Character by character, but for those that lay out lines.
    Lines,
    /// Byte by byte.
    Joined,
}

/// One thing that a surrogate may be known by.
pub(super) struct PartKey {
    pub(super) view: PartSpelling,
    /// As it is read there, in lower case but for lines.
    pub(super) text: String,
    pub(super) part: SurrogatePart,
    /// What it stands for, in the same case.
    pub(super) meaning: Zeroizing<String>,
}

/// What is read of an issued surrogate and of its original.
struct SurrogatePair<'i> {
    issued: &'i IssuedSurrogate,
    surrogate: Zeroizing<String>,
    original: Zeroizing<String>,
    keys: Vec<PartKey>,
}

/// All that a surrogate may be known by beside its own bytes.
pub(super) fn keys_of(issued: &IssuedSurrogate) -> Vec<PartKey> {
    keys(issued, |_| true)
}

/// The same with these forms of a person's name only.
fn keys(issued: &IssuedSurrogate, forms: fn(NameForm) -> bool) -> Vec<PartKey> {
    let surrogate = issued.surrogate.as_str();
    if issued.spelling == SurrogateIdentity::Lines {
        return lines_of(issued).into_iter().collect();
    }
    if surrogate.len() > LONGEST {
        return Vec::new();
    }
    let Some([surrogate, original]) = read_alike(surrogate, &issued.original) else { return Vec::new() };
    let number = issued.spelling.is_number()
        || issued.spelling == SurrogateIdentity::Words && is_identifier(&surrogate);
    let mut pair = SurrogatePair { issued, surrogate, original, keys: Vec::new() };
    if !(number && pair.number()) || issued.spelling == SurrogateIdentity::Words {
        pair.words();
    }
    if issued.spelling == SurrogateIdentity::Person {
        pair.forms_of_name(forms);
    }
    pair.keys
}

/// What several lines are known by however they are laid out.
fn lines_of(issued: &IssuedSurrogate) -> Option<PartKey> {
    if issued.surrogate.len() > LONGEST_LINES {
        return None;
    }
    let text = pem::without_layout(&read(&issued.surrogate));
    let meaning = Zeroizing::new(pem::without_layout(&read(&issued.original)));
    let alike = text.chars().count() == meaning.chars().count();
    alike.then_some(PartKey { view: PartSpelling::Lines, text, part: SurrogatePart::Lines, meaning })
}

/// What of it must not stand in the caller's text, in lower case, so that a part of it is no part of that.
pub(super) fn parts_of(issued: &IssuedSurrogate) -> impl Iterator<Item = String> {
    let alone = keys(issued, NameForm::is_joined).into_iter().filter(|key| key.part.stands_alone());
    alone.map(|key| key.text)
}

impl SurrogatePair<'_> {
    fn add(&mut self, view: PartSpelling, text: &str, part: SurrogatePart, meaning: &str) {
        let (text, meaning) = (lowered(text), Zeroizing::new(lowered(meaning)));
        self.keys.push(PartKey { view, text, part, meaning });
    }

    /// Adds what a number is known by; false where the original has another number of letters and digits.
    fn number(&mut self) -> bool {
        let surrogate = alphanumeric(&self.surrogate);
        let original = Zeroizing::new(alphanumeric(&self.original));
        if surrogate.len() != original.len() || surrogate.is_empty() {
            return false;
        }
        let plus = self.surrogate.starts_with('+');
        self.add(
            PartSpelling::Number,
            &surrogate,
            SurrogatePart::Number { from: 0, behind: 0, plus },
            &original,
        );
        let digits = surrogate.bytes().chain(original.bytes()).all(|byte| byte.is_ascii_digit());
        if self.issued.spelling == SurrogateIdentity::Dialled && digits {
            self.dialled(&surrogate, &original);
        }
        let ends = [&surrogate, &*original]
            .map(|text| text.get(text.len().saturating_sub(LAST)..).unwrap_or_default());
        let [end, meaning] = ends;
        let many = surrogate.bytes().filter(u8::is_ascii_digit).count() >= FEWEST;
        if self.issued.parts
            && self.issued.spelling.is_number()
            && many
            && is_digits(end)
            && is_digits(meaning)
        {
            self.add(PartSpelling::End, end, SurrogatePart::End, meaning);
        }
        true
    }

    /// Adds what else is dialled before a number within its country.
    fn dialled(&mut self, surrogate: &str, original: &str) {
        let plus = self.surrogate.starts_with('+');
        let DialledNumber { country, national: from, .. } = DialledNumber::of(plus, surrogate);
        let (Some(national), Some(meaning)) = (surrogate.get(from..), original.get(from..)) else { return };
        if national.len() < FEWEST || surrogate.get(..from) != original.get(..from) {
            return;
        }
        let trunk = if country == "1" { "" } else { "0" };
        let abroad = |exit: &str, trunk: &str| [exit, country, trunk].concat();
        let mut prefixes = vec![(String::new(), false), (trunk.to_owned(), false)];
        if !country.is_empty() {
            for (exit, plus) in [("", true), ("00", false), ("011", false)] {
                prefixes.extend([(abroad(exit, ""), plus), (abroad(exit, trunk), plus)]);
            }
        }
        prefixes.dedup();
        for (prefix, plus) in prefixes {
            let part = SurrogatePart::Number { from, behind: prefix.len(), plus };
            self.add(
                PartSpelling::Number,
                &[prefix.as_str(), national].concat(),
                part,
                &Zeroizing::new([prefix.as_str(), meaning].concat()),
            );
        }
    }

    /// Adds what a text is known by.
    fn words(&mut self) {
        let surrogate = self.surrogate.clone();
        let surrogate = surrogate.as_str();
        let original = self.original.clone();
        let words = self.issued.spelling.is_words();
        let strict = words && !surrogate.contains([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
        if surrogate.chars().count() >= SHORTEST && (self.issued.parts || !strict) {
            self.add(PartSpelling::Word, surrogate, SurrogatePart::Whole { strict }, &original);
        }
        match self.issued.spelling {
            SurrogateIdentity::Words => self.credentials(surrogate, &original),
            SurrogateIdentity::Folded => self.mailbox(surrogate, &original),
            _ => {}
        }
        let (of_surrogate, of_original): (Vec<_>, Vec<_>) =
            (surrogate.split(' ').collect(), original.split(' ').collect());
        if !(words && self.issued.parts) || of_surrogate.len() != of_original.len() {
            return;
        }
        let several = of_surrogate.len() > 1;
        for (at, (word, meaning)) in of_surrogate.into_iter().zip(of_original).enumerate() {
            let (word, meaning) = (bare(word), bare(meaning));
            // A name stands for one of any length.
            let fits = is_word(meaning) || self.issued.spelling.is_name() && !meaning.is_empty();
            if several && is_word(word) && fits {
                self.add(PartSpelling::Word, word, SurrogatePart::Word(at), meaning);
            }
            self.halves(at, word, meaning);
        }
    }

    /// Adds the user's name and the password of `user:password`, which settings and commands have apart.
    fn credentials(&mut self, surrogate: &str, original: &str) {
        let Some([(user, password), (their_user, their_password)]) = sides(':', [surrogate, original]) else {
            return;
        };
        let all = |is: fn(char) -> bool| password.chars().all(is);
        let marked = password.chars().count() >= PASSWORD
            && !(all(char::is_alphabetic) || all(|c| c.is_ascii_digit()));
        if marked {
            self.add(
                PartSpelling::Word,
                password,
                SurrogatePart::Side { sign: ':', behind: true },
                their_password,
            );
        }
        if self.issued.parts && is_user(user) {
            self.add(PartSpelling::Word, user, SurrogatePart::Side { sign: ':', behind: false }, their_user);
        }
    }

    /// Adds the mailbox and the domain of an address.
    fn mailbox(&mut self, surrogate: &str, original: &str) {
        let Some([(mailbox, domain), (their_mailbox, their_domain)]) = sides('@', [surrogate, original])
        else {
            return;
        };
        if !self.issued.parts {
            return;
        }
        if domain != their_domain && domain.contains('.') {
            self.add(
                PartSpelling::Word,
                domain,
                SurrogatePart::Side { sign: '@', behind: true },
                their_domain,
            );
        }
        if mailbox.chars().count() >= MAILBOX {
            self.add(
                PartSpelling::Word,
                mailbox,
                SurrogatePart::Side { sign: '@', behind: false },
                their_mailbox,
            );
        }
    }

    /// Adds what a double name is known by, of which people say but a half.
    fn halves(&mut self, word: usize, surrogate: &str, original: &str) {
        let [halves, meanings] = [surrogate, original].map(|text| text.split('-').collect::<Vec<_>>());
        if !self.issued.spelling.is_name() || halves.len() < 2 || halves.len() != meanings.len() {
            return;
        }
        for (half, (text, meaning)) in halves.into_iter().zip(meanings).enumerate() {
            if is_word(text) && is_word(meaning) {
                self.add(PartSpelling::Word, text, SurrogatePart::Half { word, half }, meaning);
            }
        }
    }
}

impl SurrogatePair<'_> {
    /// Adds the other forms of a person's name. What holds for one of both names holds for both: what leaves in a form is
    /// known in it when it comes back.
    fn forms_of_name(&mut self, wanted: fn(NameForm) -> bool) {
        let joined = self.issued.parts;
        let wanted = |form: &NameForm| wanted(*form) && (joined || !form.is_joined());
        for form in NameForm::ALL.into_iter().filter(wanted) {
            let (Some(surrogate), Some(original)) = (form.of(&self.surrogate), form.of(&self.original))
            else {
                continue;
            };
            let (surrogate, original) = (surrogate.as_str(), Zeroizing::new(original));
            if form.is_ambiguous(surrogate) || form.is_ambiguous(&original) {
                continue;
            }
            let signed = form.needs_sign(surrogate) || form.needs_sign(&original);
            let part = SurrogatePart::Named { form, signed };
            match form.is_joined() {
                true => {
                    let [surrogate, original] =
                        [surrogate, original.as_str()].map(|text| Zeroizing::new(text.replace(' ', "")));
                    self.add(PartSpelling::Joined, &surrogate, part, &original);
                }
                false => self.add(PartSpelling::Word, surrogate, part, &original),
            }
        }
    }
}

/// What stands before the first such sign and behind it, of both; `None` where one has none, or blanks.
fn sides(sign: char, texts: [&str; 2]) -> Option<[(&str, &str); 2]> {
    let [one, other] =
        texts.map(|text| text.split_once(sign).filter(|_| !text.contains(char::is_whitespace)));
    let all = [one?, other?];
    all.iter().all(|(before, behind)| !before.is_empty() && !behind.is_empty()).then_some(all)
}

/// Whether a character lays out lines, and is none of a key's own: an indentation in YAML, the quotes of a program around each
/// line, the backslash behind one.
pub(super) fn is_layout(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '\\')
}

/// Letters and digits of ASCII.
pub(super) fn alphanumeric(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    kept.extend(text.chars().filter(char::is_ascii_alphanumeric));
    kept
}

/// A word without what stands around it.
pub(super) fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Whether a text is letters and digits in groups, such as the number of a passport or a date.
fn is_identifier(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= LAST && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -./".contains(&byte))
}

/// Whether a text is a number of so few digits that another may be spelled like it: a PIN, a card's verification code.
pub(super) fn is_few_digits(text: &str) -> bool {
    text.len() <= LAST && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a mailbox, but for its tag, is a piece of that of an address.
pub(super) fn is_of_mailbox(piece: &str, address: &str) -> bool {
    let own = address.split('@').next().unwrap_or_default().to_lowercase();
    own.contains(piece.to_lowercase().split('+').next().unwrap_or_default())
}

fn is_digits(text: &str) -> bool {
    text.len() == LAST && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is the name of an account, such as `billing_app` or `jane.doe2`.
fn is_user(text: &str) -> bool {
    let all = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    text.chars().count() >= SHORTEST && text.starts_with(char::is_alphabetic) && all
}

fn is_word(text: &str) -> bool {
    text.chars().count() >= SHORTEST && text.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '-'))
}
