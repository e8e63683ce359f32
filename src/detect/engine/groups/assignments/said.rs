//! Values that stand near a name with no sign between: below it, `Password⏎value`, and in sentences, `set the password to
//! value`, `password (value)`, `password - value`. There only what nobody writes by chance is a value.

use super::beside::GIVEN;
use super::form::ValueForm;
use super::named::LocatedName;
use super::operator::Operator;
use super::plain::{is_of_program, is_word_and_number};
use super::shape::{is_random, looks_like_key};
use super::text::{NeedMore, WindowText, is_base64, is_dense, is_name};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{Meaning, NAME, NameMeaning};
use crate::detect::rules::SecretKind;

/// How much of a word is looked at, and how far before a value its indent, in bytes.
const VALUE: usize = 128;
/// The longest line that may be a label for the next one, in bytes.
const LABEL: usize = 44;
/// The longest remark in brackets behind a name, in bytes.
const REMARK: usize = 40;
/// Characters of the id of a key of AWS behind its first four, of the key, and the most between the two.
const AWS_ID: usize = 16;
const AWS_KEY: usize = 40;
const AWS_PARTS: usize = 12;
/// The most words between a name and the sign that gives its value, and the longest of them, in bytes.
const WORDS: usize = 3;
const WORD: usize = 24;
/// How far before a name its sentence is looked at, in bytes.
const SENTENCE: usize = 44;

/// What gives a value at the end of a clause: "the password was changed to …".
const DEEDS: [&str; 5] = ["changed to ", "changed from ", "set to ", "reset to ", "updated to "];
/// Verbs of sentences in which `to` gives a value.
const VERBS: [&[u8]; 4] = [b"set ", b"chang", b"reset ", b"update "];
/// What lines of programs begin with that name something.
const DECLARATIONS: [&[u8]; 12] = [
    b"typedef ",
    b"#define ",
    b"class ",
    b"struct ",
    b"type ",
    b"interface ",
    b"enum ",
    b"extern ",
    b"import ",
    b"using ",
    b"func ",
    b"def ",
];
/// Signs that part a label from its value.
const SIGNS: [&str; 13] = [
    "- ",
    "-> ",
    "\u{2013} ",
    "\u{2014} ",
    "\u{2192} ",
    "\u{21d2} ",
    "\u{2794} ",
    "\u{279c} ",
    "\u{27a1} ",
    "\u{27a1}\u{fe0f} ",
    "\u{25b6} ",
    "\u{25b6}\u{fe0f} ",
    "\u{bb} ",
];

impl WindowText<'_> {
    /// The value below a name that its line ends with at `at`. Without a sign that gives it, the line must be short.
    pub(super) fn below(
        &self,
        name: LocatedName,
        at: usize,
        given: bool,
    ) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        if !given && self.line_before(name).len() > LABEL {
            return Ok(None);
        }
        let mut value = self.unquoted_line(self.behind_same_signs(name, self.space(at)?)?)?;
        if given && self.follows(value, "- ")? {
            value = self.blanks(value + 1)?;
        }
        // A label that is the end of an identifier is one of a list of such.
        let identifier =
            self.before(name.start).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !given && (identifier || self.declares(name) || has_camel(self.view.slice(name.start, name.end))) {
            return Ok(None);
        }
        let open = self.quote(value)?.map_or(value, |quote| quote.end);
        let end = self.run(open, LONGEST, is_dense)?;
        let behind = self.blanks(self.quote(end)?.map_or(end, |quote| quote.end))?;
        let alone = end == open + LONGEST || matches!(self.byte(behind)?, None | Some(b'\n' | b'\r'));
        if alone && given && open == value && self.is_member_below(name, value, end) {
            return Ok(Some((open, GIVEN)));
        }
        Ok((alone && self.is_telling(name, open, end)).then_some((open, ValueForm::Said)))
    }

    /// Whether `start..end` is a word and a number that is indented more than the name, which its line begins with, as YAML allows.
    fn is_member_below(&self, name: LocatedName, start: usize, end: usize) -> bool {
        let line = self.line_before(name);
        let leads = line.iter().all(u8::is_ascii_whitespace) && name.meaning.strong;
        let before = self.view.slice(start.saturating_sub(VALUE), start);
        let indent = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let text = self.view.slice(start, end);
        let password = name.meaning.named == NameMeaning::Password && is_word_and_number(text);
        leads && password && indent > line.len() && !is_of_program(text, false)
    }

    /// Behind the signs at `at` with which the name's line begins too: those of quotations, remarks and diffs.
    fn behind_same_signs(&self, name: LocatedName, at: usize) -> Result<usize, NeedMore> {
        let line = self.line_before(name);
        let marks = |byte: &&u8| matches!(byte, b'>' | b'#' | b'/' | b'+' | b';' | b'|' | b' ');
        let signs = line.iter().take_while(marks).count();
        let signs = line.get(..signs).unwrap_or_default().trim_ascii();
        let whole = self.sees_line_start(name);
        if !whole || signs.is_empty() {
            return Ok(at);
        }
        for (n, &byte) in signs.iter().enumerate() {
            if !self.is(at + n, byte)? {
                return Ok(at);
            }
        }
        self.blanks(at + signs.len())
    }

    /// Behind what a line has before its text, a line that underlines the one before, and the fence of a block of code.
    fn unquoted_line(&self, at: usize) -> Result<usize, NeedMore> {
        let rule = self.run(at, LABEL, |byte| matches!(byte, b'-' | b'='))?;
        let ruled = rule > at + 2 && matches!(self.byte(rule)?, Some(b'\n' | b'\r'));
        let at = if ruled { self.space(rule)? } else { at };
        if self.follows(at, "```")? {
            let end = self.run(at, LABEL, |byte| !matches!(byte, b'\n' | b'\r'))?;
            return self.space(end);
        }
        if self.follows(at, "> ")? { self.blanks(at + 1) } else { Ok(at) }
    }

    /// The value that a sentence gives the name, whose next word begins at `at`.
    pub(super) fn said(&self, name: LocatedName, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        if self.declares(name) {
            return Ok(None);
        }
        if matches!(self.byte(at)?, Some(b'(' | b'[')) {
            return self.bracketed(name, at + 1);
        }
        for sign in SIGNS {
            if self.follows(at, sign)? {
                return self.random_word(name, self.blanks(at + sign.len())?);
            }
        }
        let been = if self.follows(at, "has been ")? { at + 9 } else { at };
        let done = self.behind_deed(been)?;
        if done > been {
            return self.random_word(name, done);
        }
        if self.follows(at, "to ")? {
            let head = self.head(name);
            let head =
                head.get(head.len().saturating_sub(SENTENCE)..).unwrap_or_default().to_ascii_lowercase();
            let set = VERBS.iter().any(|verb| memchr::memmem::find(&head, verb).is_some());
            return if set { self.random_word(name, self.blanks(at + 3)?) } else { Ok(None) };
        }
        self.random_word(name, at)
    }

    /// The key at `at` that a sentence gives, `the token is …`, which may be short if nobody writes it by chance.
    pub(super) fn said_key(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(at.saturating_sub(5), at);
        let said = [b"is ".as_slice(), b"is: ", b"was "].iter().any(|word| head.ends_with(word));
        if form != ValueForm::Prose || !said || !name.meaning.strong {
            return Ok(None);
        }
        let meaning = Meaning { named: NameMeaning::Secret, ..name.meaning };
        let secret = LocatedName { meaning, ..name };
        let word = self.random_word(secret, at)?;
        word.map_or(Ok(None), |(at, form)| self.value_at_link(secret, at, form))
    }

    /// The password at `at` that a sentence gives to a word which says little: nobody writes it by chance.
    pub(super) fn said_word(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let value = self.blanks(at)?;
        let start = self.quote(value)?.map_or(value, |quote| quote.end);
        let stop = self.run(start, LONGEST, is_dense)?;
        let end = self.trimmed(start, stop, NameMeaning::Password);
        Ok(is_random(self.value_at(start, end)).then(|| piece(SecretKind::Password, start, end, 0.1)))
    }

    /// What is given behind a purpose: `API key for the backend: value`.
    pub(super) fn purpose(
        &self,
        name: LocatedName,
        at: usize,
    ) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let mut at = at;
        for _ in 0..6 {
            at = self.run(at, 24, |byte| is_name(byte) || byte == b'@')?;
            let blank = self.blanks(at)?;
            let (operator, behind) = self.operator(blank, blank > at)?;
            if matches!(operator, Operator::Colon | Operator::Equals | Operator::Is) {
                return Ok(Some((self.blanks(behind)?, ValueForm::Prose)));
            }
            if self.follows(blank, "to ")? {
                return self.said(name, blank);
            }
            at = blank;
        }
        Ok(None)
    }

    /// Behind the colon at the end of up to three short words that stand behind a name at `at`: `password wifi:`, `mot de passe du
    /// wifi :`.
    pub(super) fn behind_words(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let mut at = at;
        for _ in 0..WORDS {
            let start = self.blanks(at)?;
            let stop = self.run(start, WORD, |byte| is_name(byte) || !byte.is_ascii() || byte == b'#')?;
            if start == at || stop == start {
                return Ok(None);
            }
            let sign = self.blanks(stop)?;
            if self.is(sign, b':')? {
                return Ok(Some(self.behind_marks(sign + 1)?));
            }
            at = stop;
        }
        Ok(None)
    }

    /// Whether the name's line declares something of a program.
    fn declares(&self, name: LocatedName) -> bool {
        let line = self.line_before(name).trim_ascii_start();
        DECLARATIONS.iter().any(|word| line.starts_with(word))
    }

    /// Where a value stands behind what was done to one: `changed to value` at `at`.
    pub(super) fn behind_deed(&self, at: usize) -> Result<usize, NeedMore> {
        for deed in DEEDS {
            if self.follows(at, deed)? {
                return self.blanks(at + deed.len());
            }
        }
        Ok(at)
    }

    /// `(value)`, or what follows a remark: `(for staging): value`.
    fn bracketed(&self, name: LocatedName, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let end = self.run(at, REMARK, |byte| !matches!(byte, b'(' | b')' | b'[' | b']' | b'\n'))?;
        if !matches!(self.byte(end)?, Some(b')' | b']')) {
            return Ok(None);
        }
        if self.is_telling(name, at, end) {
            return Ok(Some((at, ValueForm::Said)));
        }
        let sign = self.blanks(end + 1)?;
        if !matches!(self.byte(sign)?, Some(b':' | b'=')) {
            return Ok(None);
        }
        self.random_word(name, self.behind_marks(sign + 1)?)
    }

    /// The password of `user / password` or `user:password` at `at`.
    pub(super) fn pair(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let start = self.blanks(at)?;
        let user = self.run(start, NAME, |byte| is_name(byte) || byte == b'@')?;
        let sign = self.blanks(user)?;
        if user == start || !matches!(self.byte(sign)?, Some(b'/' | b':')) {
            return Ok(None);
        }
        let value = self.blanks(sign + 1)?;
        let end = self.run(value, LONGEST, is_dense)?;
        let end = self.trimmed(value, end, NameMeaning::Password);
        Ok(is_random(self.value_at(value, end)).then(|| piece(SecretKind::Password, value, end, 0.1)))
    }

    /// The key of AWS that stands behind its id, of which the beginning ends at `end`: in the next argument, field or line.
    pub(super) fn aws_key(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let id = self.run(end, AWS_ID + 1, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())?;
        if id - end != AWS_ID {
            return Ok(None);
        }
        let start = self.run(id, AWS_PARTS, |byte| {
            matches!(
                byte,
                b' ' | b'\t'
                    | b'\r'
                    | b'\n'
                    | b'"'
                    | b'\''
                    | b'`'
                    | b','
                    | b':'
                    | b';'
                    | b'|'
                    | b'/'
                    | b'='
                    | b'-'
                    | b'>'
            )
        })?;
        let stop = self.run(start, AWS_KEY + 1, is_base64)?;
        let key = self.view.slice(start, stop);
        let fits = start > id && key.len() == AWS_KEY && is_random_base64(key);
        Ok(fits.then(|| piece(SecretKind::Key, start, stop, 0.0)))
    }

    /// The word at `at`, if it is a value.
    pub(super) fn random_word(
        &self,
        name: LocatedName,
        at: usize,
    ) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let open = self.quote(at)?.map_or(at, |quote| quote.end);
        let end = self.bare_end(open, VALUE, is_dense)?;
        Ok(self.is_telling(name, open, end).then_some((open, ValueForm::Said)))
    }

    /// Whether the text looks like what a name of this meaning is given, whatever stands between.
    fn is_telling(&self, name: LocatedName, start: usize, end: usize) -> bool {
        let text = self.view.slice(start, self.trimmed(start, end, name.meaning.named));
        match name.meaning.named {
            NameMeaning::Password | NameMeaning::Secret => is_random(text),
            NameMeaning::Key => looks_like_key(text),
            NameMeaning::Basic | NameMeaning::KeyNumber | NameMeaning::Seed => false,
        }
    }
}

/// Whether a name is written as programs do: `changePassword`.
fn has_camel(name: &[u8]) -> bool {
    name.windows(2).any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

/// Whether a text is as mixed as what was drawn at random.
fn is_random_base64(text: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| text.iter().any(is);
    any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}
