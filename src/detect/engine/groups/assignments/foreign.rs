//! What is given to words of other languages than English: `hasło: …`, `API-Schlüssel: …`, `パスワード：…`.

use super::form::ValueForm;
use super::named::LocatedName;
use super::operator::Operator;
use super::text::{NeedMore, WindowText, is_name};
use super::value::AssignedValue;
use crate::detect::naming::{NameMeaning, secret_word};

/// The most of a word before and behind what was found of it, and of each word beside it, in bytes.
const WORD: usize = 30;
/// The longest that words for a secret are together, in bytes.
const LONGEST: usize = 48;

/// The first byte of what is written without spaces, and of some scripts besides.
const UNSPACED: u8 = 0xE0;

/// Signs that give a value, beside those of ASCII: the wide colon and the wide equals sign.
const WIDE: [&str; 2] = ["：", "＝"];

impl WindowText<'_> {
    /// What is given to the word that `start..end` is a part of.
    pub(super) fn foreign(&self, start: usize, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(name) = self.foreign_name(start, end)? else { return Ok(None) };
        let doubtful = is_doubtful(self.view.slice(name.start, name.end));
        let Some(sign) = self.sign_behind(name.end)? else {
            return if doubtful { Ok(None) } else { self.given(name) };
        };
        let at = self.behind_marks(sign)?;
        if matches!(self.byte(at)?, Some(b'\n' | b'\r')) {
            let Some((at, form)) = self.below(name, at, true)? else { return Ok(None) };
            return self.value_at_link(name, at, form);
        }
        let form = match name.meaning.named {
            NameMeaning::Password if doubtful => ValueForm::Said,
            NameMeaning::Password => ValueForm::Prose,
            _ => ValueForm::Assigned { tight: false, first: false, colon: true },
        };
        self.value_at_link(name, at, form)
    }

    /// The word, or the words, for a secret that `start..end` is a part of: `contraseña`, `mật khẩu`, `API ключ`.
    fn foreign_name(&self, start: usize, end: usize) -> Result<Option<LocatedName>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(WORD), start);
        let begin = start - head.iter().rev().take_while(|&&byte| is_letter(byte)).count();
        let first = self.word_end(end)?;
        let second = self.next_word_end(first)?;
        let third = if second > first { self.next_word_end(second)? } else { second };
        let whole = |from: usize, to: usize| {
            let text = Some(self.view.slice(from, to)).filter(|text| text.len() <= LONGEST)?;
            let meaning = secret_word(text)?;
            Some(LocatedName { start: from, end: to, word: start, dashes: 0, meaning })
        };
        let longer = [(third, second), (second, first)].into_iter().filter(|(long, short)| long > short);
        let found = longer.map(|(long, _)| long).find_map(|to| whole(begin, to));
        let found = found.or_else(|| whole(begin, first));
        let found = found.or_else(|| self.word_before(begin).and_then(|from| whole(from, first)));
        // In scripts without spaces other words may stand right before it.
        let unspaced = begin < start && self.view.get(start).is_some_and(|byte| byte >= UNSPACED);
        Ok(found.or_else(|| if unspaced { whole(start, first) } else { None }))
    }

    /// Where the word ends that goes on at `at`.
    fn word_end(&self, at: usize) -> Result<usize, NeedMore> {
        let stop = self.run(at, WORD, |byte| is_letter(byte) || byte == b'\'')?;
        // The wide signs are made of bytes of letters.
        let wide =
            |at: &usize| WIDE.iter().any(|sign| self.view.slice(*at, at + sign.len()) == sign.as_bytes());
        let stop = (at..stop).find(wide).unwrap_or(stop);
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
        for wide in WIDE {
            if self.follows(sign, wide)? {
                return Ok(Some(sign + wide.len()));
            }
        }
        let (operator, behind) = self.operator(sign, false)?;
        let gives = matches!(operator, Operator::Colon | Operator::Equals | Operator::Assigns);
        Ok(gives.then_some(behind))
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

/// Words that have another meaning in English, as `parole` and, in capitals, the name of a model of decisions.
fn is_doubtful(word: &[u8]) -> bool {
    word == b"MDP" || word.eq_ignore_ascii_case(b"parole")
}
