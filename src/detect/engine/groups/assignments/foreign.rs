//! Passwords given to words of other languages than English: `hasło: …`, `пароль: …`, `パスワード：…`.

use super::form::ValueForm;
use super::named::LocatedName;
use super::text::{NeedMore, WindowText, is_name};
use super::value::AssignedValue;
use crate::detect::naming::{Meaning, NameMeaning, is_secret_word};

/// The most of a word before and behind what was found of it, in bytes.
const WORD: usize = 32;

/// Signs that give a value, beside those of ASCII: the wide colon and the wide equals sign.
const WIDE: [&[u8]; 2] = ["：".as_bytes(), "＝".as_bytes()];

impl WindowText<'_> {
    /// What is given to the word that `start..end` is a part of.
    pub(super) fn foreign(&self, start: usize, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(WORD), start);
        let begin = start - head.iter().rev().take_while(|&&byte| is_letter(byte)).count();
        let stop = self.run(end, WORD, is_letter)?;
        // The wide signs are made of bytes of letters.
        let wide = |at: &usize| WIDE.iter().any(|sign| self.view.slice(*at, at + sign.len()) == *sign);
        let word = (end..stop).find(wide).unwrap_or(stop);
        if !is_secret_word(self.view.slice(begin, word)) {
            return Ok(None);
        }
        let at = match word < stop {
            true => word + WIDE.first().map_or(0, |sign| sign.len()),
            false => {
                let quote = self.quote(stop)?.map_or(stop, |quote| quote.end);
                let sign = self.blanks(quote)?;
                if !matches!(self.byte(sign)?, Some(b':' | b'=')) {
                    return Ok(None);
                }
                sign + 1
            }
        };
        let meaning = Meaning { named: NameMeaning::Password, strong: true };
        let name = LocatedName { start: begin, end: word, word: begin, dashes: 0, meaning };
        self.value_at_link(name, self.blanks(at)?, ValueForm::Prose)
    }
}

/// What words of any script are made of.
fn is_letter(byte: u8) -> bool {
    is_name(byte) || !byte.is_ascii()
}
