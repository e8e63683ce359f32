//! Values that are one word and a number: `password: sunflower7`. Programs write types and variables in such places, so what
//! stands around the word decides. And names that lead a line, a setting or a command of a shell, where any word is a value.

use std::ops::Range;

use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::{fits_secret, has_digit, has_label, names_itself};
use super::text::{NeedMore, WindowText, is_quote};
use crate::detect::naming::NameMeaning;
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The shortest password of this kind, in bytes.
const SHORTEST: usize = 5;

/// What programs call their variables, with a number behind.
const VARIABLES: &str = "\
    arg args param params value val var field col column input option opt item row line text str string name \
    data obj object result res ref type id uid num number tmp temp foo bar baz key level version module section \
    page chapter table figure group class func callback";
/// Words for secrets, which with a number are variables too, and passwords as often.
const SECRETS: &str = "password passwd pass pwd pw secret token cred creds credential apikey";
/// The last words of what types are called: `OAuth2Token`, `Base64String`.
const TYPES: &str = "\
    Type Token Auth String Str Field Input Path Hash Key Id Data Model View Value Text Bytes Info Spec Schema \
    Config Options Provider Service Client Error Ref Box Vec Map List Set Password Secret Credential Credentials";
/// What lines of programs begin with that declare a variable.
const MODIFIERS: &str = "\
    let mut var val const pub public private protected internal readonly static final override lateinit fn def func";

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
        if !name.meaning.strong || !text.iter().all(u8::is_ascii_alphanumeric) {
            return Ok(None);
        }
        let kind = match name.meaning.named {
            NameMeaning::Password if is_password(text) => SecretKind::Password,
            NameMeaning::Password if colon && !tight && credential::password(text) => {
                let fits = is_one_case(text) && self.in_environment(name) && self.ends_line(word.end)?;
                return Ok(fits.then_some(SecretKind::Password));
            }
            NameMeaning::Secret if fits_secret(text, form) && !has_label(text) => SecretKind::Secret,
            NameMeaning::Key if credential::word_key(text) => SecretKind::Key,
            _ => return Ok(None),
        };
        let given = match (tight, colon) {
            (true, false) => kind == SecretKind::Key,
            (false, false) => self.leads(name) && self.ends_line(word.end)?,
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
        Ok(match self.byte(end)? {
            None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'&' | b']') => true,
            Some(b' ' | b'\t') => {
                let next = self.blanks(end)?;
                match self.byte(next)? {
                    Some(b'|') => self.ends_line(next + 1)?,
                    Some(b')' | b'}') => !self.in_call(name),
                    sign => !matches!(sign, Some(b'=' | b'?' | b'+' | b'*' | b'{' | b'&')),
                }
            }
            Some(b'<') => matches!(self.byte(end + 1)?, Some(b'/' | b'b')),
            Some(b'.') => self.byte(end + 1)?.is_none_or(|byte| byte.is_ascii_whitespace() || is_quote(byte)),
            Some(b',') => matches!(self.byte(end + 1)?, Some(b' ' | b'\t')) && !self.in_call(name),
            Some(b')' | b'}') => !self.in_call(name),
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

    /// Whether nothing but words that declare a variable stand before the name in its line.
    fn is_declared(&self, name: LocatedName) -> bool {
        let words = self.line_before(name).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut words = words.peekable();
        words.peek().is_some() && words.all(|word| is_of(MODIFIERS, word))
    }

    /// Whether the name is a variable of the environment in a file of settings: in capitals, below another such or the head of
    /// those.
    fn in_environment(&self, name: LocatedName) -> bool {
        let mut lines = self.head(name).rsplit(|&byte| byte == b'\n');
        let leads = lines.next().is_some_and(|line| line.trim_ascii().is_empty());
        let above = lines.next().unwrap_or_default().trim_ascii();
        let key = above.split(|&byte| byte == b':').next().unwrap_or_default();
        let headed = ["environment:", "env:", "variables:", "stringData:"];
        let begins = is_shouted(key) || headed.iter().any(|head| above.ends_with(head.as_bytes()));
        leads && begins && name.dashes == 0 && is_shouted(self.view.slice(name.start, name.end))
    }

    /// Whether the name stands first in its line, its setting or its query, or is set for a command of a shell.
    pub(super) fn leads(&self, name: LocatedName) -> bool {
        let start = name.start - name.dashes;
        let head = self.view.slice(start.saturating_sub(8), start);
        let shell = head.ends_with(b"export ")
            || head.ends_with(b"ENV ")
            || head.ends_with(b"ARG ")
            || head.ends_with(b"# ");
        let indent = head.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'$')).count();
        let line =
            head.get(..head.len() - indent).is_some_and(|rest| rest.last().is_none_or(|&byte| byte == b'\n'));
        // `docker run -e POSTGRES_PASSWORD=…`, `- POSTGRES_PASSWORD=…`, `cd app && PGPASSWORD=… psql`.
        let variable = || {
            is_shouted(self.view.slice(name.start, name.end))
                && (matches!(self.before(start), Some(b' ' | b'\t' | b'`')) || head.ends_with(b"env="))
        };
        shell
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

/// Whether a word is what programs call types or variables; one that `closes` is followed by what ends a member or an argument.
fn is_of_program(text: &[u8], closes: bool) -> bool {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = text.split_at(letters);
    let numbered = number.iter().all(u8::is_ascii_digit);
    let variable =
        numbered && (is_of(VARIABLES, &word.to_ascii_lowercase()) || closes && is_of(SECRETS, word));
    // Where the last word begins of several: `OAuth2Token`.
    let change = |pair: &[u8]| matches!(pair, [a, b] if !a.is_ascii_uppercase() && b.is_ascii_uppercase());
    let last = text.windows(2).rposition(change).and_then(|at| text.get(at + 1..)).unwrap_or_default();
    let letters = last.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    variable || is_of(TYPES, last.get(..letters).unwrap_or_default())
}

/// Whether a list of words has this one.
fn is_of(list: &str, word: &[u8]) -> bool {
    list.split(' ').any(|known| known.as_bytes() == word)
}

/// Whether a name is written as variables of the environment are.
fn is_shouted(name: &[u8]) -> bool {
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
        for word in ["arg1", "Value2", "OAuth2Token", "Base64String", "newPassword2", "column3"] {
            assert!(is_of_program(word.as_bytes(), false), "{word}");
        }
        for word in ["sunflower7", "SunFlower7", "P4ssword", "SUNFLOWER7", "hunter2", "secret1"] {
            assert!(!is_of_program(word.as_bytes(), false), "{word}");
        }
        assert!(is_of_program(b"password2", true) && !is_of_program(b"hunter2", true));
    }
}
