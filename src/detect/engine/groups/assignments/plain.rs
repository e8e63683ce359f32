//! Values that are one word and a number: `password: sunflower7`. Programs write types and variables in such places, so what
//! stands around the word decides. And names that lead a line, a setting or a command of a shell, where any word is a value.

use std::ops::Range;

use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::{fits_secret, has_digit, has_label, names_itself};
use super::text::{NeedMore, WindowText, is_quote};
use crate::detect::naming::{NameMeaning, is_secret_word};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;
use crate::detect::validate::value_words::{WordRole, is_of};

/// The shortest password of this kind, in bytes.
const SHORTEST: usize = 5;

/// What names begin with that are no variables of an environment: messages, labels, kinds.
const OTHERS: [&[u8]; 12] = [
    b"ERR", b"LBL", b"MSG", b"LOGIN", b"ACTION", b"TYPE", b"LABEL", b"TEXT", b"TXT", b"TITLE", b"FIELD",
    b"FORM",
];
/// Below these stand variables of an environment.
const HEADS: [&str; 7] = ["environment:", "env:", "variables:", "vars:", "data:", "stringData:", "args:"];

impl WindowText<'_> {
    /// What the name is given whose value is the plain word `word`, if it may be one and no part of a program.
    pub(super) fn plain_word(
        &self,
        name: LocatedName,
        word: Range<usize>,
        form: ValueForm,
    ) -> Result<Option<SecretKind>, NeedMore> {
        let ValueForm::Assigned { tight, colon, .. } = form else { return Ok(None) };
        let text = self.view.slice(word.start, word.end);
        if !text.iter().all(u8::is_ascii_alphanumeric) {
            return Ok(None);
        }
        if !name.meaning.strong {
            let fits =
                colon && self.is_short_label(name) && is_word_and_number(text) && !is_of_program(text, true);
            return Ok((fits && self.ends_setting(word.end)?).then_some(SecretKind::Password));
        }
        let kind = match name.meaning.named {
            NameMeaning::Password if is_password(text) => SecretKind::Password,
            NameMeaning::Password if colon && !tight && credential::password(text) => {
                let says = is_of(&[WordRole::State], &text.to_ascii_lowercase()) || is_secret_word(text);
                let variable = is_one_case(text) && !says && self.in_environment(name);
                let fits = variable && self.ends_setting(word.end)?;
                return Ok(fits.then_some(SecretKind::Password));
            }
            NameMeaning::Secret if fits_secret(text, form) && !has_label(text) => SecretKind::Secret,
            NameMeaning::Key if credential::word_key(text) => SecretKind::Key,
            _ => return Ok(None),
        };
        let given = match (tight, colon) {
            (true, false) => kind == SecretKind::Key,
            (false, false) => self.leads(name) && self.ends_setting(word.end)?,
            (_, true) => !self.is_declared(name) && self.is_followed_as_value(name, word.end)?,
        };
        // `"password": word1` is a variable, `"password: word1"` is said.
        let quoted = self.before(name.start - name.dashes).is_some_and(is_quote)
            && !tight
            && self.view.get(name.end).is_some_and(is_quote);
        let behind = self.byte(self.blanks(word.end)?)?;
        let closes = (tight, colon) == (false, false) || matches!(behind, Some(b',' | b')' | b'}'));
        Ok((given && !quoted && !is_of_program(text, closes)).then_some(kind))
    }

    /// Whether what stands behind a word at `end` follows values that people write: the end of a line, a sentence or a text in
    /// quotes, or other words; no sign of a program.
    fn is_followed_as_value(&self, name: LocatedName, end: usize) -> Result<bool, NeedMore> {
        let end = self.run(end, 2, |byte| byte == b'*')?;
        Ok(match self.byte(end)? {
            None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'&' | b']') => true,
            Some(b' ' | b'\t') => {
                let next = self.blanks(end)?;
                match self.byte(next)? {
                    Some(b'|') => self.ends_line(next + 1)?,
                    Some(b')' | b'}') => !self.in_call(name) && !self.in_object(name, false),
                    sign => !matches!(sign, Some(b'=' | b'?' | b'+' | b'*' | b'{' | b'&')),
                }
            }
            Some(b'<') => matches!(self.byte(end + 1)?, Some(b'/' | b'b')),
            // Quotes and words of other scripts.
            Some(byte) if !byte.is_ascii() => true,
            Some(b'.') => self.byte(end + 1)?.is_none_or(|byte| byte.is_ascii_whitespace() || is_quote(byte)),
            Some(b',') => {
                let blank = matches!(self.byte(end + 1)?, Some(b' ' | b'\t'));
                blank && !self.in_call(name) && !self.in_object(name, true)
            }
            Some(b')' | b'}') => !self.in_call(name) && !self.in_object(name, false),
            // Members of a type end so, too.
            Some(b';') => !self.ends_line(end + 1)? && !self.line_before(name).contains(&b'{'),
            _ => false,
        })
    }

    /// Whether the name stands among the arguments of a call or the parameters of a function.
    fn in_call(&self, name: LocatedName) -> bool {
        let line = self.line_before(name);
        let Some(open) = line.iter().rposition(|&byte| byte == b'(') else { return false };
        let (head, arguments) = line.split_at(open);
        let called = head
            .last()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'>' | b'!'));
        called && !arguments.contains(&b')')
    }

    /// Whether the name is one of several members of an object in a program, of which others stand before it or `more` behind it.
    fn in_object(&self, name: LocatedName, more: bool) -> bool {
        let line = self.line_before(name);
        let Some(open) = line.iter().rposition(|&byte| byte == b'{') else { return false };
        let members = line.get(open..).unwrap_or_default();
        (more || members.contains(&b','))
            && !members.iter().any(|&byte| is_quote(byte) || byte == b'}')
            // An item of YAML.
            && line.get(..open).unwrap_or_default().trim_ascii() != b"-"
            && !is_shouted(self.view.slice(name.start, name.end))
    }

    /// Whether nothing but words that declare a variable stand before the name in its line.
    fn is_declared(&self, name: LocatedName) -> bool {
        let words = self.line_before(name).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut words = words.peekable();
        words.peek().is_some() && words.all(|word| is_of(&[WordRole::Modifier], word))
    }

    /// Whether the name is a variable of the environment in a file of settings: in capitals and indented, below the head of those or
    /// another one with the same indent.
    fn in_environment(&self, name: LocatedName) -> bool {
        let spelled = self.view.slice(name.start, name.end);
        let mut lines = self.head(name).rsplit(|&byte| byte == b'\n');
        let line = lines.next().unwrap_or_default();
        // A diff has its sign before that.
        let indent = line.strip_prefix(b"+").unwrap_or(line);
        let leads = !indent.is_empty() && indent.iter().all(|byte| matches!(byte, b' ' | b'\t'));
        let named = |key: &[u8]| is_shouted(key) && !OTHERS.iter().any(|other| key.starts_with(other));
        if !leads || name.dashes > 0 || !named(spelled) {
            return false;
        }
        let mut above = lines.next().unwrap_or_default();
        // A remark, or a line that is left empty.
        if above.trim_ascii().is_empty() || above.trim_ascii_start().starts_with(b"#") {
            above = lines.next().unwrap_or_default();
        }
        let body = above.strip_prefix(line).unwrap_or_default();
        let key = body.split(|&byte| byte == b':').next().unwrap_or_default();
        let beside = named(key) && key.contains(&b'_') && spelled.contains(&b'_') && key.len() < body.len();
        let above = above.trim_ascii();
        let headed = HEADS.iter().any(|head| {
            let at = memchr::memmem::find(above, head.as_bytes());
            let anchor = |rest: &[u8]| rest.is_empty() || rest.starts_with(b" &");
            at.is_some_and(|at| anchor(above.get(at + head.len()..).unwrap_or_default()))
        });
        beside || headed
    }

    /// Whether a setting ends at `at`: its line, or what stands before a remark.
    fn ends_setting(&self, at: usize) -> Result<bool, NeedMore> {
        let behind = self.blanks(at)?;
        let remark = behind > at && matches!(self.byte(behind)?, Some(b'#' | b';'));
        Ok(self.ends_line(at)?
            || remark && self.byte(behind + 1)?.is_none_or(|byte| byte.is_ascii_whitespace()))
    }

    /// Whether the name is the short word for a password that a line begins with: `pw: …`, `pass: …`.
    fn is_short_label(&self, name: LocatedName) -> bool {
        let spelled = self.view.slice(name.start, name.end);
        let line = self.line_before(name);
        let leads = self.sees_line_start(name);
        [b"pw".as_slice(), b"pass"].iter().any(|word| spelled.eq_ignore_ascii_case(word))
            && leads
            && line.iter().all(u8::is_ascii_whitespace)
    }

    /// Whether the name stands first in its line, its setting or its query, or is set for a command of a shell.
    pub(super) fn leads(&self, name: LocatedName) -> bool {
        let start = name.start - name.dashes;
        let head = self.view.slice(start.saturating_sub(8), start);
        let shell = head.ends_with(b"export ")
            || head.ends_with(b"ENV ")
            || head.ends_with(b"ARG ")
            || head.ends_with(b"# ");
        // What shells, diffs, quotations and remarks have before a line.
        let before = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'$' | b'+' | b'>' | b'#' | b';');
        let indent = head.iter().rev().take_while(before).count();
        let line =
            head.get(..head.len() - indent).is_some_and(|rest| rest.last().is_none_or(|&byte| byte == b'\n'));
        // `docker run -e POSTGRES_PASSWORD=…`, `- POSTGRES_PASSWORD=…`, `cd app && PGPASSWORD=… psql`.
        let variable = || {
            is_shouted(self.view.slice(name.start, name.end))
                && (matches!(self.before(start), Some(b' ' | b'\t' | b'`'))
                    || head.ends_with(b"env=")
                    || head.ends_with(b"onment="))
        };
        // `config.ini:12:password=…`, as `grep` prints it.
        let listed = || {
            let rest = head.trim_ascii_end();
            let digits = rest.strip_suffix(b":").map(|rest| {
                let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
                (digits, rest.iter().rev().nth(digits))
            });
            digits.is_some_and(|(digits, before)| digits > 0 && matches!(before, Some(b':' | b'\n')))
        };
        // `username=mo,password=…`, and no arguments of a call.
        let field = || {
            let word = self.line_before(name).rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
            word.ends_with(b",") && word.contains(&b'=') && !word.contains(&b'(')
        };
        let option = || {
            head.ends_with(b"literal=")
                || head.ends_with(b"literal ")
                || head.ends_with(b"--set ")
                || self.view.slice(name.start, name.end).starts_with(b"ansible_")
        };
        shell
            || option()
            || field()
            || listed()
            || line
            || matches!(self.before(start), Some(b'?' | b'&' | b';' | b'"' | b'\'' | b'n'))
            || name.dashes >= 1
            || variable()
    }

    /// Whether the name is the end of a phrase, as in `Old password`: what programs declare has small letters before it.
    pub(super) fn is_phrase(&self, name: LocatedName) -> bool {
        let head = self.head(name);
        let Some(rest) = head.strip_suffix(b" ").filter(|_| name.dashes == 0) else { return false };
        let letters = rest.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = rest.get(rest.len() - letters..).unwrap_or_default();
        word.first().is_some_and(u8::is_ascii_uppercase) && word.len() > 1
    }
}

/// Whether it may be a password of a word and a number.
fn is_password(text: &[u8]) -> bool {
    text.len() >= SHORTEST
        && has_digit(text)
        && text.iter().any(u8::is_ascii_alphabetic)
        && credential::password(text)
        && !names_itself(text)
}

/// Whether it is a word of small letters and a number.
pub(super) fn is_word_and_number(text: &[u8]) -> bool {
    let letters = text.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let number = text.get(letters..).unwrap_or_default();
    letters >= SHORTEST
        && (1..=4).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && credential::password(text)
}

/// Whether a word is what programs call types or variables, or what is said of them; one that `closes` is followed by what ends a
/// member or an argument.
pub(super) fn is_of_program(text: &[u8], closes: bool) -> bool {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = text.split_at(letters);
    let numbered = number.iter().all(u8::is_ascii_digit);
    let lower = word.to_ascii_lowercase();
    let variable = numbered
        && (is_of(&[WordRole::Variable, WordRole::Remark], &lower)
            || closes && is_of(&[WordRole::Secret], word));
    // Where the last word begins of several: `OAuth2Token`.
    let change = |pair: &&[u8]| matches!(pair, [a, b] if !a.is_ascii_uppercase() && b.is_ascii_uppercase());
    let words = text.windows(2).filter(change).count();
    let last = text.windows(2).rposition(|pair| change(&pair)).and_then(|at| text.get(at + 1..));
    let last = last.unwrap_or_default();
    let letters = last.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let inner =
        has_digit(text) && !text.last().is_some_and(u8::is_ascii_digit) && !credential::is_generated(text);
    variable
        || is_length(text)
        || words >= 2 && inner
        || is_of(&[WordRole::Type], last.get(..letters).unwrap_or_default())
}

/// Whether it says how long or how many: `min8chars`, `max64`, `8characters`.
pub(super) fn is_length(text: &[u8]) -> bool {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = text.split_at(letters);
    let bound = word.eq_ignore_ascii_case(b"min") || word.eq_ignore_ascii_case(b"max");
    bound && number.first().is_some_and(u8::is_ascii_digit) || is_measure(text)
}

/// Whether it is a number and what it counts: `8chars`, `12ms/iter`, `12bit`, `0.85`.
pub(super) fn is_measure(text: &[u8]) -> bool {
    let number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b',');
    let digits = text.iter().take_while(number).count();
    let unit = text.get(digits..).unwrap_or_default();
    let letters = unit.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'%').count();
    digits > 0
        && (unit.is_empty() && text.contains(&b'.')
            || is_of(&[WordRole::Unit], &unit.get(..letters).unwrap_or_default().to_ascii_lowercase()))
        && unit.get(letters..).unwrap_or_default().first().is_none_or(|&byte| byte == b'/')
}

/// Whether a name is written as variables of the environment are.
pub(super) fn is_shouted(name: &[u8]) -> bool {
    name.len() >= 4
        && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && name.iter().any(u8::is_ascii_uppercase)
}

/// Small letters, or capitals, or a capital before small letters.
fn is_one_case(word: &[u8]) -> bool {
    word.iter().skip(1).all(|byte| !byte.is_ascii_uppercase())
        || word.iter().all(|byte| !byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_programs_are_known() {
        for word in [
            "arg1",
            "Value2",
            "OAuth2Token",
            "Base64String",
            "newPassword2",
            "column3",
            "OAuth2PasswordRequestForm",
            "AuthProviderV2Factory",
            "minlength8",
            "min8chars",
            "8chars",
            "optional2",
            "Hashed2",
        ] {
            assert!(is_of_program(word.as_bytes(), false), "{word}");
        }
        for word in ["sunflower7", "SunFlower7", "P4ssword", "SUNFLOWER7", "hunter2", "secret1"] {
            assert!(!is_of_program(word.as_bytes(), false), "{word}");
        }
        assert!(is_of_program(b"password2", true) && !is_of_program(b"hunter2", true));
    }
}
