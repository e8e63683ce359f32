//! What is given to words of other languages than English: `hasło: …`, `API-Schlüssel: …`, `パスワード：…`.

use super::form::ValueForm;
use super::named::LocatedName;
use super::operator::Operator;
use super::shape::{has_digit, is_certain};
use super::text::{NeedMore, WindowText, is_dense, is_name};
use super::value::AssignedValue;
use crate::detect::naming::{FoldedText, Meaning, NameMeaning, is_secret_word};

/// The most of a word before and behind what was found of it, and of each word beside it, in bytes.
const WORD: usize = 30;
/// The longest that words for a secret are together, in bytes.
const LONGEST: usize = 48;
/// The shortest password of a doubtful word beside a user's name, in bytes.
const SHORTEST: usize = 6;

/// The first byte of what is written without spaces, and of some scripts besides.
const UNSPACED: u8 = 0xE0;

/// What says that a value is given, right behind a word of a script without blanks.
const PARTICLES: [&str; 6] = ["是", "为", "為", "は", "는", "은"];
/// The same between blanks.
const VERBS: [&str; 21] = [
    "es",
    "é",
    "è",
    "e'",
    "est",
    "to jest",
    "to",
    "je",
    "on",
    "är",
    "er",
    "este",
    "là",
    "هي",
    "هو",
    "adalah",
    "это",
    "είναι",
    "היא",
    "הוא",
    "is",
];
/// The most words between a word for a secret and its value: whose it is, and what for.
const WORDS: usize = 3;
/// Words of other languages among the names that programs have.
const NAMES: [&[u8]; 5] = [b"senha", b"passwort", b"kennwort", b"contrasena", b"kontrasenyas"];

/// What users are called in the languages whose words for passwords mean something else as well.
const USERS: [&str; 20] = [
    "user",
    "usuario",
    "usuário",
    "utente",
    "utilisateur",
    "utilizador",
    "identifiant",
    "benutzer",
    "login",
    "mail",
    "użytkownik",
    "uživatel",
    "uporabni",
    "lietotāj",
    "χρήστη",
    "Χρήστη",
    "utilizator",
    "pengguna",
    "korisni",
    "konto",
];

impl WindowText<'_> {
    /// What is given to the word that `start..end` is a part of.
    pub(super) fn foreign(&self, start: usize, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(name) = self.foreign_name(start, end)? else { return Ok(None) };
        let trusted = LocatedName { meaning: Meaning { doubtful: false, ..name.meaning }, ..name };
        let value = self.without_doubt(name, self.given_foreign(trusted)?);
        // `heslo = heslo2`: the same variable again.
        let own = |value: &AssignedValue| {
            let text = self.view.slice(value.start, value.end);
            let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let word = text.get(..text.len() - digits).unwrap_or_default();
            digits <= 2 && word.eq_ignore_ascii_case(self.view.slice(name.start, name.end))
        };
        value.filter(|value| !own(value)).map(|value| self.with_list(name.meaning, value)).transpose()
    }

    /// The value of the name, if that is no doubtful word, or the value leaves no doubt.
    pub(super) fn without_doubt(
        &self,
        name: LocatedName,
        value: Option<AssignedValue>,
    ) -> Option<AssignedValue> {
        value.filter(|value| {
            let text = self.view.slice(value.start, value.end);
            let marked =
                || text.len() >= SHORTEST && has_digit(text) && text.iter().any(u8::is_ascii_alphabetic);
            let trusted = !name.meaning.doubtful || is_certain(text) || marked() && self.is_beside_user(name);
            // A translation of the word is no value.
            trusted && !is_secret_word(text)
        })
    }

    /// What is given to a word, which is taken for a secret's.
    fn given_foreign(&self, name: LocatedName) -> Result<Option<AssignedValue>, NeedMore> {
        let closed = self.behind_closing(name.end)?;
        let Some(sign) = self.sign_behind(closed)? else {
            return self.said_foreign(name, closed);
        };
        let at = self.behind_marks(sign)?;
        if matches!(self.byte(at)?, Some(b'\n' | b'\r')) {
            let Some((at, form)) = self.below(name, at, true)? else { return Ok(None) };
            return self.value_at_link(name, at, form);
        }
        let form = match name.meaning.named {
            NameMeaning::Password => ValueForm::Prose,
            _ => ValueForm::Assigned { tight: false, first: false, colon: true },
        };
        self.value_at_link(name, at, form)
    }

    /// What a sentence gives the word, or a layout; brackets around it end at `closed`.
    fn said_foreign(&self, name: LocatedName, closed: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if let Some(at) = self.behind_verb(name.end)? {
            return self.value_at_link(name, at, ValueForm::Prose);
        }
        if let Some(at) = self.behind_words(name.end)? {
            let word = self.random_word(name, at)?;
            return word.map_or(Ok(None), |(at, form)| self.value_at_link(name, at, form));
        }
        if let Some((at, form)) = self.behind_phrase(name, false)? {
            return self.value_at_link(name, at, form);
        }
        let next = self.byte(self.blanks(closed)?)?;
        // `密码Gx7!kkpw`, `【密码】 Gx7!kkpw`, `hasło Gx7!kkpw`.
        if next.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            let word = self.random_word(name, self.blanks(closed)?)?;
            return word.map_or(Ok(None), |(at, form)| self.value_at_link(name, at, form));
        }
        // Other words follow: what begins with another letter is no layout, but a bar or a dash may be one.
        if next.is_some_and(|byte| byte >= 0xC3 && byte != 0xE2) {
            return Ok(None);
        }
        self.given(name)
    }

    /// The word, or the words, for a secret that `start..end` is a part of: `contraseña`, `mật khẩu`, `API ключ`.
    fn foreign_name(&self, start: usize, end: usize) -> Result<Option<LocatedName>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(WORD), start);
        let begin = start - head.iter().rev().take_while(|&&byte| is_letter(byte)).count();
        let first = self.word_end(end)?;
        let second = self.next_word_end(first)?;
        let third = if second > first { self.next_word_end(second)? } else { second };
        let before = self.word_before(begin).unwrap_or(begin);
        // All is folded once; each of the places has its own in what that gives.
        let mut folded = FoldedText::default();
        let mut place = |from: usize, to: usize| {
            folded.push(self.view.slice(from, to))?;
            Some(folded.len())
        };
        // A word that is longer than what is read of it may be cut within a letter.
        let head = place(before, begin);
        let before = if head.is_some() { before } else { begin };
        let at_begin = head.unwrap_or(0);
        let whole = place(begin, start);
        let at_start = whole.unwrap_or(at_begin);
        let at_begin = whole.map(|_| at_begin);
        let at_end = place(start, end);
        let at_first = at_end.and_then(|_| place(end, first));
        let at_second = at_first.and_then(|_| place(first, second));
        let at_third = at_second.and_then(|_| place(second, third));
        // What goes on behind as much as is read of a word is none of these.
        let ends = !self.byte(first)?.is_some_and(is_inner);
        let at_first = at_first.filter(|_| ends);
        // In scripts without spaces other words may stand right before it and behind it.
        let unspaced = self.view.get(start).is_some_and(|byte| byte >= UNSPACED);
        let inner = Some(at_start).filter(|_| unspaced);
        let candidates = [
            (begin, at_begin, third, at_third.filter(|_| third > second)),
            (begin, at_begin, second, at_second.filter(|_| second > first)),
            (before, at_begin.and(Some(0)).filter(|_| before < begin), first, at_first),
            (begin, at_begin, first, at_first),
            (start, inner.filter(|_| begin < start), first, at_first),
            (start, inner, end, at_end.filter(|_| end < first)),
        ];
        let located =
            |from, to, meaning| LocatedName { start: from, end: to, word: start, dashes: 0, meaning };
        let found: Option<LocatedName> = candidates.into_iter().find_map(|(from, at_from, to, at_to)| {
            let whole = to - from <= LONGEST;
            let meaning = if whole { folded.meaning(at_from?, at_to?)? } else { return None };
            Some(located(from, to, meaning))
        });
        Ok(found.or_else(|| {
            let (from, meaning) = if ends { self.last_word(begin, start, end, first)? } else { return None };
            Some(located(from, first, meaning))
        }))
    }

    /// The last word of a name as programs write it, `db_haslo` or `mdp2`, of which `start..end` was found and which is
    /// `begin..first`: where it begins, and what it says.
    fn last_word(&self, begin: usize, start: usize, end: usize, first: usize) -> Option<(usize, Meaning)> {
        let head = self.view.slice(begin, start);
        let from = head.iter().rposition(|&byte| byte == b'_').map_or(begin, |at| begin + at + 1);
        let digits =
            self.view.slice(end, first).iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        if from == begin && digits == 0 {
            return None;
        }
        let mut folded = FoldedText::default();
        folded.push(self.view.slice(from, first - digits))?;
        Some((from, folded.meaning(0, folded.len())?))
    }

    /// Where the word ends that goes on at `at`.
    fn word_end(&self, at: usize) -> Result<usize, NeedMore> {
        let stop = self.run(at, WORD, |byte| is_letter(byte) || byte == b'\'')?;
        let signs = self.view.slice(at, stop).iter().rev().take_while(|&&byte| !is_inner(byte)).count();
        Ok(stop - signs)
    }

    /// Where the next word ends behind the blank at `at`; `at` where none stands there.
    fn next_word_end(&self, at: usize) -> Result<usize, NeedMore> {
        if !self.is(at, b' ')? {
            return Ok(at);
        }
        let end = self.word_end(at + 1)?;
        Ok(if end > at + 1 { end } else { at })
    }

    /// Where the word begins that ends before the blank before `start`.
    fn word_before(&self, start: usize) -> Option<usize> {
        let blank = start.checked_sub(1).filter(|&at| self.view.get(at) == Some(b' '))?;
        let head = self.view.slice(blank.saturating_sub(WORD), blank);
        let letters = head.iter().rev().take_while(|&&byte| is_letter(byte)).count();
        (letters > 0).then_some(blank - letters)
    }

    /// Behind the sign that gives a value to the name that ends at `at`.
    fn sign_behind(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let quote = self.quote(at)?.map_or(at, |quote| quote.end);
        let sign = self.blanks(self.marks(quote)?)?;
        let (operator, behind) = self.operator(sign, false)?;
        let gives = matches!(operator, Operator::Colon | Operator::Equals | Operator::Assigns);
        Ok(gives.then_some(behind))
    }

    /// Where a value begins behind what says at `at` that one is given: `密码是…`, `contraseña es …`.
    fn behind_verb(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let blank = self.blanks(at)?;
        let words: &[&str] = if blank > at { &VERBS } else { &PARTICLES };
        for word in words {
            let behind = blank + word.len();
            if !self.follows(blank, word)? {
                continue;
            }
            let sign = self.blanks(behind)?;
            let colon = self.run(sign, 1, |byte| byte == b':')?;
            if blank == at || colon > behind {
                return Ok(Some(self.blanks(colon)?));
            }
        }
        Ok(None)
    }

    /// The value that a sentence gives to a name that is a word of another language: `a senha do wifi é …`.
    pub(super) fn said_abroad(&self, name: LocatedName) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let word = self.view.slice(name.start, name.end).to_ascii_lowercase();
        if NAMES.contains(&word.as_slice()) { self.behind_phrase(name, true) } else { Ok(None) }
    }

    /// The value behind a few words, and behind what says that one is given, which may be missing if it is not `said`: `parola mea
    /// este …`, `kata sandi saya …`.
    fn behind_phrase(&self, name: LocatedName, said: bool) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let mut at = name.end;
        for _ in 0..WORDS {
            let start = self.blanks(at)?;
            let stop = self.word_end(start)?;
            if start == at || stop == start {
                break;
            }
            let next = self.blanks(stop)?;
            if next == stop {
                break;
            }
            // A value has a digit, and no verb has one.
            let digit = has_digit(self.view.slice(next, self.run(next, WORD, is_dense)?));
            let value = match digit {
                true => Some(next).filter(|_| !said),
                false => self.behind_verb(stop)?,
            };
            if let Some(value) = value
                && let Some(word) = self.random_word(name, value)?
            {
                return Ok(Some(word));
            }
            at = stop;
        }
        Ok(None)
    }

    /// Whether a user's name stands before the name, in its line or the one above.
    fn is_beside_user(&self, name: LocatedName) -> bool {
        let head = self.head(name).to_ascii_lowercase();
        USERS.iter().any(|user| memchr::memmem::find(&head, user.as_bytes()).is_some())
    }
}

/// What words of any script are made of.
fn is_letter(byte: u8) -> bool {
    is_name(byte) || !byte.is_ascii()
}

/// Whether words end with it: not with a full stop, a hyphen or a quote.
fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}
